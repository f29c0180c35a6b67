/* ndfilesink: formats, .part files and renaming, frames with padding, errors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <nifti/nifti1.h>

#define VOLUME_CAPS                               \
  "other/tensors, format=static, num_tensors=1, " \
  "types=uint8, dimensions=1:4:3:2, framerate=20/1"
#define SIZE (4 * 3 * 2)

static GstHarness *
new_harness (const gchar *path)
{
  g_autofree gchar *text = g_strdup_printf ("ndfilesink name=sink "
                                            "location=%s",
      path);
  GstHarness *harness = gst_harness_new_parse (text);

  gst_harness_play (harness);
  return harness;
}

static GstBus *
watch (GstHarness *harness)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (harness->element, bus);
  return bus;
}

static GstBuffer *
new_volume (guint8 value, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, value, size);
  return buffer;
}

static void
push (GstHarness *harness, guint8 value, gsize size, GstFlowReturn expected)
{
  fail_unless_equals_int (gst_harness_push (harness, new_volume (value, size)),
      expected);
}

/* Expects one error of this kind on the bus and no other message. */
static void
expect_error (GstBus *bus, GQuark domain, gint code, const gchar *words)
{
  g_auto (Outcome) outcome = { 0 };
  GstMessage *message;

  while ((message = gst_bus_pop (bus))) {
    outcome_take (&outcome, message);
    gst_message_unref (message);
  }
  fail_unless_equals_int (outcome.n_errors, 1);
  fail_unless_equals_int (outcome.n_eos, 0);
  fail_unless (g_error_matches (outcome.error, domain, code), "%s",
      outcome.error->message);
  fail_unless (strstr (outcome.error->message, words) != NULL, "%s",
      outcome.error->message);
}

static void
end_harness (GstHarness *harness, GstBus *bus)
{
  gst_bus_set_flushing (bus, TRUE);
  gst_element_set_bus (harness->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (harness);
}

/* The values of the volumes in a raw file. */
static void
assert_raw (const gchar *path, const gchar *values)
{
  g_autofree gchar *bytes = NULL;
  gsize n;

  fail_unless (g_file_get_contents (path, &bytes, &n, NULL));
  fail_unless_equals_int (n, strlen (values) * SIZE);
  for (gsize i = 0; i < n; i++)
    fail_unless_equals_int (bytes[i], values[i / SIZE]);
}

/* Raw samples written to every format and read back are equal bit by bit. */
GST_START_TEST (test_round_trips)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32" };
  static const gchar *const endings[] = { "nii", "nii.gz", "NII.GZ", "raw" };
  g_autofree gchar *in = file_path ("in.raw");
  g_autofree gchar *back = file_path ("back.raw");
  guint32 samples[1500];

  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    samples[i] = i * 2654435761u;
  put_file (in, samples, sizeof (samples));
  for (guint t = 0; t < G_N_ELEMENTS (types); t++) {
    for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
      g_autofree gchar *name = g_strdup_printf ("out.%s", endings[e]);
      g_autofree gchar *out = file_path (name);
      g_autofree gchar *part = g_strconcat (out, ".part", NULL);
      g_autofree gchar *bytes = NULL;
      gsize n;

      run_whole (launch ("ndfilesrc location=%s volume-size=10:5:3 type=%s ! "
                         "ndfilesink location=%s",
          in, types[t], out));
      fail_if (file_exists (part));
      run_whole (launch ("ndfilesrc location=%s volume-size=10:5:3 type=%s ! "
                         "ndfilesink location=%s",
          out, types[t], back));
      fail_unless (g_file_get_contents (back, &bytes, &n, NULL));
      fail_unless_equals_int (n, sizeof (samples));
      fail_unless (memcmp (bytes, samples, n) == 0);
    }
  }
}

GST_END_TEST;

/* Rate, spacing and transform are copied to the next file bit by bit. */
GST_START_TEST (test_header)
{
  struct nifti_1_header header = { .sizeof_hdr = 348,
    .dim = { 4, 4, 3, 2, 1, 1, 1, 1 },
    .datatype = DT_UINT8,
    .bitpix = 8,
    .pixdim = { -1, 0.3f, 0.7f, 1.1f, 1.13f },
    .vox_offset = 352,
    .xyzt_units = NIFTI_UNITS_MM | NIFTI_UNITS_SEC,
    .sform_code = 2,
    .srow_x = { -0.21f, 0.33f, 0.12f, 17.3f },
    .srow_y = { 0.07f, 0.61f, -0.9f, -3.3f },
    .srow_z = { 0.2f, -0.11f, 0.6f, 0.1f },
    .magic = "n+1" };
  g_autofree gchar *in = file_path ("in.nii");
  g_autofree gchar *out = file_path ("out.nii");
  guint8 bytes[352 + 2 * SIZE] = { 0 };
  struct nifti_1_header written;

  for (gint16 volumes = 1; volumes <= 2; volumes++) {
    g_autofree gchar *read = NULL;
    gsize n;

    header.dim[4] = volumes;
    memcpy (bytes, &header, sizeof (header));
    put_file (in, bytes, 352 + volumes * SIZE);
    run_whole (launch ("ndfilesrc location=%s ! ndfilesink location=%s", in,
        out));
    fail_unless (g_file_get_contents (out, &read, &n, NULL));
    memcpy (&written, read, sizeof (written));
    fail_unless_equals_int (written.sizeof_hdr, 348);
    fail_unless_equals_int (written.dim[0], volumes == 1 ? 3 : 4);
    fail_unless_equals_int (written.dim[4], volumes);
    fail_unless (memcmp (written.srow_x, header.srow_x, 48) == 0);
    fail_unless (memcmp (written.pixdim + 1, header.pixdim + 1, 16) == 0);
    fail_unless_equals_int (written.sform_code, header.sform_code);
    /* A sheared transform, which no quaternion can express. */
    fail_unless_equals_int (written.qform_code, 0);
    fail_unless_equals_int (n, written.vox_offset + volumes * SIZE);
  }
}

GST_END_TEST;

/* The file has its final name before the EOS message. */
GST_START_TEST (test_eos)
{
  g_autofree gchar *path = file_path ("out.raw");
  g_autofree gchar *part = g_strconcat (path, ".part", NULL);
  GstHarness *harness = new_harness (path);
  GstBus *bus = watch (harness);
  GstMessage *message;

  put_file (path, "old", 3);
  gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
  push (harness, 'a', SIZE, GST_FLOW_OK);
  push (harness, 'b', SIZE, GST_FLOW_OK);
  fail_unless (file_exists (part));
  fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
  message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND, GST_MESSAGE_EOS);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_if (file_exists (part));
  assert_raw (path, "ab");
  end_harness (harness, bus);
  assert_raw (path, "ab");
}

GST_END_TEST;

/* Stopped without EOS: a warning, a .part file, and the old file is
 * unchanged. */
GST_START_TEST (test_stopped)
{
  g_autofree gchar *path = file_path ("out.raw");
  g_autofree gchar *part = g_strconcat (path, ".part", NULL);
  g_auto (Outcome) outcome = { 0 };
  GstHarness *harness = new_harness (path);
  GstBus *bus = watch (harness);
  GstMessage *message;

  put_file (path, "old", 3);
  gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
  push (harness, 'a', SIZE, GST_FLOW_OK);
  gst_element_set_state (harness->element, GST_STATE_READY);
  while ((message = gst_bus_pop (bus))) {
    outcome_take (&outcome, message);
    gst_message_unref (message);
  }
  fail_unless_equals_int (outcome.n_errors, 0);
  fail_unless_equals_int (outcome.n_warnings, 1);
  fail_unless (strstr (outcome.warning->message, part) != NULL);
  fail_unless (strstr (outcome.warning->message, "incomplete") != NULL);
  end_harness (harness, bus);
  assert_raw (part, "a");
  fail_unless (file_exists (path));
}

GST_END_TEST;

GST_START_TEST (test_no_volume)
{
  g_autofree gchar *path = file_path ("out.nii");
  g_autofree gchar *part = g_strconcat (path, ".part", NULL);

  for (guint caps = 0; caps < 2; caps++) {
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);

    if (caps)
      gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
    fail_if (gst_harness_push_event (harness, gst_event_new_eos ()));
    expect_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "no volume");
    end_harness (harness, bus);
    fail_if (file_exists (path));
    fail_if (file_exists (part));
  }
}

GST_END_TEST;

/* One error while the pipeline starts. */
GST_START_TEST (test_location)
{
  run_refused (launch ("fakesrc num-buffers=1 ! ndfilesink"), 1,
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "'location'");
  run_refused (
      launch ("fakesrc num-buffers=1 ! ndfilesink location=%s/no/x.nii",
          folder),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "/no/x.nii");
  run_refused (launch ("fakesrc num-buffers=1 ! ndfilesink location=%s",
                   folder),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "folder");
  run_refused (launch ("fakesrc num-buffers=1 ! ndfilesink location=/dev/null"),
      1, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_WRITE, "device");
  run_refused (launch ("fakesrc num-buffers=1 ! ndfilesink location=%s/x.dcm",
                   folder),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, ".dcm");
  run_refused (launch ("fakesrc num-buffers=1 ! ndfilesink compress=true "
                       "location=%s/x.nii",
                   folder),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, ".nii.gz");
}

GST_END_TEST;

/* After an error nothing is written, and EOS does not rename the file. */
static void
check_failed (GstHarness *harness, GstBus *bus, const gchar *path)
{
  push (harness, 'x', SIZE, GST_FLOW_ERROR);
  fail_if (gst_harness_push_event (harness, gst_event_new_eos ()));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_EOS)
      == NULL);
  end_harness (harness, bus);
  fail_if (file_exists (path));
}

GST_START_TEST (test_wrong_size)
{
  static const gsize sizes[] = { SIZE - 1, SIZE + 1, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree gchar *path = file_path ("out.nii.gz");
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);

    gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
    push (harness, 'a', SIZE, GST_FLOW_OK);
    push (harness, 'a', sizes[i], GST_FLOW_ERROR);
    expect_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "24 bytes");
    check_failed (harness, bus, path);
  }
}

GST_END_TEST;

GST_START_TEST (test_caps_change)
{
  g_autofree gchar *path = file_path ("out.raw");
  GstHarness *harness = new_harness (path);
  GstBus *bus = watch (harness);
  GstCaps *other = gst_caps_from_string (
      "other/tensors, format=static, "
      "num_tensors=1, types=int16, dimensions=1:4:3, framerate=20/1");

  /* Caps may change before the first volume, and later in fields that do not
   * affect the samples. */
  gst_harness_push_event (harness, gst_event_new_caps (other));
  gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
  push (harness, 'a', SIZE, GST_FLOW_OK);
  gst_harness_set_src_caps_str (harness,
      "other/tensors, format=static, "
      "num_tensors=1, types=uint8, dimensions=1:4:3:2:1, framerate=30/1");
  push (harness, 'b', SIZE, GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_caps (other));
  expect_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "changed");
  gst_caps_unref (other);
  end_harness (harness, bus);
  fail_if (file_exists (path));
}

GST_END_TEST;

GST_START_TEST (test_unsupported)
{
  static const struct
  {
    const gchar *dimensions, *words;
  } cases[] = {
    { "1:4:3:2:6", "6 responses" },
    { "2:4:3:2", "2 components of uint8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path = file_path ("out.nii");
    g_autofree gchar *text = g_strdup_printf (
        "other/tensors, format=static, "
        "num_tensors=1, types=uint8, dimensions=%s, framerate=20/1",
        cases[i].dimensions);
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);
    GstCaps *caps = gst_caps_from_string (text);

    gst_harness_push_event (harness, gst_event_new_stream_start ("x"));
    gst_harness_push_event (harness, gst_event_new_caps (caps));
    expect_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        cases[i].words);
    gst_caps_unref (caps);
    end_harness (harness, bus);
    fail_if (file_exists (path));
  }
}

GST_END_TEST;

/* The recording contains the volumes after the last flush, also if the flush
 * follows EOS. */
GST_START_TEST (test_flush)
{
  g_autofree gchar *path = file_path ("out.raw");
  GstHarness *harness = new_harness (path);
  GstBus *bus = watch (harness);

  gst_harness_set_src_caps_str (harness, VOLUME_CAPS);
  for (guint i = 0; i < 2; i++) {
    GstSegment segment;

    push (harness, 'a', SIZE, GST_FLOW_OK);
    push (harness, 'b', SIZE, GST_FLOW_OK);
    if (i == 1)
      fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (harness, gst_event_new_segment (&segment));
    if (i == 1)
      assert_raw (path, "ab");
    push (harness, 'c', SIZE, GST_FLOW_OK);
    if (i == 0) {
      gst_harness_push_event (harness, gst_event_new_flush_start ());
      gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
      gst_harness_push_event (harness, gst_event_new_segment (&segment));
    }
  }
  push (harness, 'd', SIZE, GST_FLOW_OK);
  fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  end_harness (harness, bus);
  assert_raw (path, "cd");
}

GST_END_TEST;

/* The padding of rows is not written. */
GST_START_TEST (test_video)
{
  static const struct
  {
    const gchar *format;
    GstVideoFormat video;
    gsize pixel;
  } cases[] = { { "GRAY8", GST_VIDEO_FORMAT_GRAY8, 1 },
    { GST_VIDEO_NE (GRAY16),
        G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_GRAY16_LE
                                        : GST_VIDEO_FORMAT_GRAY16_BE,
        2 },
    { "RGB", GST_VIDEO_FORMAT_RGB, 3 }, { "RGBA", GST_VIDEO_FORMAT_RGBA, 4 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autofree gchar *path = file_path ("out.raw");
    g_autofree gchar *text = g_strdup_printf ("video/x-raw, format=%s, width=5,"
                                              " height=3, framerate=25/1",
        cases[c].format);
    g_autofree gchar *bytes = NULL;
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);
    const gsize row = 5 * cases[c].pixel;
    gsize offset[4] = { 7 }, n;
    gint stride[4] = { 64 };

    gst_harness_set_src_caps_str (harness, text);
    for (guint padded = 0; padded < 2; padded++) {
      const gsize step = padded ? (gsize) stride[0] : GST_ROUND_UP_4 (row);
      const gsize begin = padded ? offset[0] : 0;
      GstBuffer *buffer = new_volume (255, begin + 3 * step);

      for (guint y = 0; y < 3; y++)
        for (guint x = 0; x < row; x++)
          gst_buffer_memset (buffer, begin + y * step + x,
              100 * padded + 30 * y + x, 1);
      if (padded)
        gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
            cases[c].video, 5, 3, 1, offset, stride);
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    }
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    end_harness (harness, bus);
    fail_unless (g_file_get_contents (path, &bytes, &n, NULL));
    fail_unless_equals_int (n, 2 * 3 * row);
    for (gsize i = 0; i < n; i++)
      fail_unless_equals_int ((guint8) bytes[i],
          100 * (i / (3 * row)) + 30 * (i / row % 3) + i % row);
  }
}

GST_END_TEST;

/* Reads back @n volumes of value @from, @from + 1 ... */
static void
expect_file (const gchar *name, guint n, guint8 from)
{
  g_autofree gchar *path = file_path (name);
  g_autofree gchar *part = g_strconcat (path, ".part", NULL), *bytes = NULL;
  gsize size;

  fail_if (file_exists (part));
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL), "no %s", name);
  fail_unless_equals_int (size, n * 24);
  for (gsize i = 0; i < size; i++)
    fail_unless_equals_int ((guint8) bytes[i], from + i / 24);
}

static void
split (GstHarness *harness, guint n)
{
  gst_harness_set_src_caps_str (harness,
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:4:3:2,framerate=10/1");
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = new_volume (i, 24);

    GST_BUFFER_PTS (buffer) = 5 * GST_SECOND + i * GST_SECOND / 10;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
}

static guint
count_files (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    fail_unless (gst_message_has_name (message, "ndfilesink-file"));
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* Each file is complete as soon as it is full, and no file is empty. */
GST_START_TEST (test_split_by_volumes)
{
  for (guint n = 7; n <= 9; n++) {
    g_autofree gchar *path = file_path ("v-%03d.raw");
    g_autofree gchar *fourth = file_path ("v-003.raw");
    g_autofree gchar *text = g_strconcat (path, " max-volumes=3", NULL);
    GstHarness *harness = new_harness (text);
    GstBus *bus = watch (harness);

    split (harness, n);
    expect_file ("v-000.raw", 3, 0);
    expect_file ("v-001.raw", 3, 3);
    fail_unless_equals_int (count_files (bus), n / 3);
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    expect_file ("v-002.raw", n - 6, 6);
    fail_if (file_exists (fourth));
    end_harness (harness, bus);
  }
}

GST_END_TEST;

GST_START_TEST (test_split_by_time)
{
  g_autofree gchar *path = file_path ("t%d.raw");
  g_autofree gchar *text = g_strconcat (path, " max-time=250000000", NULL);
  GstHarness *harness = new_harness (text);
  GstBus *bus = watch (harness);

  split (harness, 8);
  fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
  expect_file ("t0.raw", 3, 0);
  expect_file ("t1.raw", 3, 3);
  expect_file ("t2.raw", 2, 6);
  end_harness (harness, bus);
}

GST_END_TEST;

/* A pattern has one place for the number. Without limits it is a name. */
GST_START_TEST (test_patterns)
{
  static const gchar *const wrong[] = { "a.raw", "a%.raw", "a%s.raw",
    "a%d%d.raw", "a%n.raw", "a%99999d.raw", "a%" };
  g_autofree gchar *plain = file_path ("50%d.raw");

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    run_refused (launch ("ndtestsrc num-buffers=2 ! ndfilesink max-volumes=1 "
                         "location=%s/%s",
                     folder, wrong[i]),
        1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "%05d");
  run_whole (launch ("ndtestsrc num-buffers=2 volume-size=4:3:2 ! "
                     "ndfilesink location=%s",
      plain));
  fail_unless (file_exists (plain));
  run_whole (launch ("ndtestsrc num-buffers=2 volume-size=4:3:2 ! "
                     "ndfilesink max-volumes=1 location=%s/10%%%%-%%4d.raw",
      folder));
  g_free (plain);
  plain = file_path ("10%-   1.raw");
  fail_unless (file_exists (plain));
}

GST_END_TEST;

GST_START_TEST (test_video_too_small)
{
  g_autofree gchar *path = file_path ("out.nii");
  GstHarness *harness = new_harness (path);
  GstBus *bus = watch (harness);

  gst_harness_set_src_caps_str (harness,
      "video/x-raw, format=GRAY8, width=8, "
      "height=4, framerate=25/1");
  push (harness, 'a', 31, GST_FLOW_ERROR);
  expect_error (bus, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "32 bytes");
  check_failed (harness, bus, path);
}

GST_END_TEST;

/* Truncates the third buffer. */
static GstPadProbeReturn
cut_third (GstPad *pad, GstPadProbeInfo *info, gpointer n)
{
  GstBuffer *buffer = gst_buffer_copy (GST_PAD_PROBE_INFO_BUFFER (info));

  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  if (++*(gint *) n == 3)
    gst_buffer_resize (buffer, 0, gst_buffer_get_size (buffer) / 2);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* An upstream error ends the stream, and its EOS does not rename the file. */
GST_START_TEST (test_error_upstream)
{
  static const gchar *const filters[] = {
    "ndconv4dtemporal filter=\"box,size=3\" backend=cpu", "ndstack slices=2"
  };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autofree gchar *path = file_path (i ? "stack.nii" : "filter.nii");
    g_autoptr (GstElement) pipeline =
        launch ("ndtestsrc name=source "
                "num-buffers=9 volume-size=8:8:1 ! %s ! ndfilesink location=%s",
            filters[i], path);
    g_autoptr (GstElement) source =
        gst_bin_get_by_name (GST_BIN (pipeline), "source");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");
    g_auto (Outcome) outcome = { 0 };
    gint n = 0;

    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, cut_third, &n, NULL);
    run_pipeline (pipeline, &outcome);
    fail_unless (outcome.n_errors > 0);
    fail_unless (outcome.n_eos == 0);
    fail_if (file_exists (path), "%s looks whole", path);
  }
}

GST_END_TEST;

GST_START_TEST (test_disk_full)
{
  static const gchar *const names[] = { "out.nii", "out.nii.gz", "out.raw" };

  for (guint f = 0; f < G_N_ELEMENTS (names); f++) {
    g_autofree gchar *path = file_path (names[f]);
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);
    GstFlowReturn ret = GST_FLOW_OK;
    g_autoptr (GRand) random = g_rand_new_with_seed (f);

    gst_harness_set_src_caps_str (harness,
        "other/tensors, format=static, "
        "num_tensors=1, types=uint8, dimensions=1:512:512, framerate=20/1");
    limit_files (1000000);
    for (guint i = 0; i < 8 && ret == GST_FLOW_OK; i++) {
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, 512 * 512, NULL);
      GstMapInfo map;

      fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
      for (gsize k = 0; k < map.size; k++)
        map.data[k] = g_rand_int (random);
      gst_buffer_unmap (buffer, &map);
      ret = gst_harness_push (harness, buffer);
    }
    limit_files (0);
    fail_unless_equals_int (ret, GST_FLOW_ERROR);
    expect_error (bus, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "262144 bytes");
    check_failed (harness, bus, path);
  }
}

GST_END_TEST;

/* 2000 volumes of 64x64x64 need bounded memory, also if compressed. */
GST_START_TEST (test_memory)
{
  static const gchar *const endings[] = { "nii.gz", "nii" };

  for (guint e = 0; e < G_N_ELEMENTS (endings); e++) {
    g_autofree gchar *name = g_strdup_printf ("long.%s", endings[e]);
    g_autofree gchar *path = file_path (name);
    const guint many = g_str_has_suffix (name, "gz") ? 2000 : 500;
    const guint n = process_kib ("VmRSS:") > 0 ? many : 30;
    GstHarness *harness = new_harness (path);
    GstBus *bus = watch (harness);
    gsize before = 0, after;

    gst_harness_set_src_caps_str (harness,
        "other/tensors, format=static, "
        "num_tensors=1, types=uint8, dimensions=1:64:64:64, framerate=20/1");
    for (guint i = 0; i < n; i++) {
      push (harness, 7, 64 * 64 * 64, GST_FLOW_OK);
      if (i == 20)
        before = process_kib ("VmRSS:");
    }
    after = process_kib ("VmRSS:");
    fail_unless (after <= before + 4096, "%" G_GSIZE_FORMAT " KiB more",
        after - before);
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    end_harness (harness, bus);
    g_remove (path);
  }
}

GST_END_TEST;

static Suite *
ndfilesink_suite (void)
{
  Suite *s = suite_create ("ndfilesink");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_test (tc, test_round_trips);
  tcase_add_test (tc, test_header);
  tcase_add_test (tc, test_eos);
  tcase_add_test (tc, test_stopped);
  tcase_add_test (tc, test_no_volume);
  tcase_add_test (tc, test_location);
  tcase_add_test (tc, test_wrong_size);
  tcase_add_test (tc, test_caps_change);
  tcase_add_test (tc, test_unsupported);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_video);
  tcase_add_test (tc, test_video_too_small);
  tcase_add_test (tc, test_error_upstream);
  tcase_add_test (tc, test_disk_full);
  tcase_add_test (tc, test_memory);
  tcase_add_test (tc, test_split_by_volumes);
  tcase_add_test (tc, test_split_by_time);
  tcase_add_test (tc, test_patterns);
  return s;
}

GST_CHECK_MAIN (ndfilesink);
