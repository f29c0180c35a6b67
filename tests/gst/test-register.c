/* ndregister in streams: what comes out, with which metadata, and what is
 * refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>

#define SIZE 24
#define SAMPLES (SIZE * SIZE * SIZE)
#define DURATION (100 * GST_MSECOND)
#define CAPS(type, size)                                                      \
  "other/tensors,format=static,num_tensors=1,types=" type ",dimensions=" size \
  ",framerate=10/1"
#define CUBE CAPS ("float32", "1:24:24:24")

/* Some Gaussians, moved along x and y. */
static gdouble
sample (gsize i, gsize size, gdouble dx, gdouble dy)
{
  static const gdouble blobs[][4] = { { 9, 11, 12, 200 }, { 15, 8, 7, 150 },
    { 13, 16, 15, 120 }, { 7, 15, 8, 90 }, { 16, 14, 16, 180 } };
  const gdouble x = i % size - dx, y = i / size % size - dy;
  const gdouble z = i / size / size;
  gdouble sum = 10;

  for (guint b = 0; b < G_N_ELEMENTS (blobs); b++) {
    const gdouble *at = blobs[b];

    sum += at[3]
        * exp (-((x - at[0]) * (x - at[0]) + (y - at[1]) * (y - at[1])
                   + (z - at[2]) * (z - at[2]))
            / (b % 2 ? 8 : 14));
  }
  return sum;
}

static GstBuffer *
buffer_new (guint number, gsize size, gdouble dx, gdouble dy)
{
  const gsize n = size * size * size;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, n * sizeof (gfloat), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < n; i++)
    ((gfloat *) map.data)[i] = sample (i, size, dx, dy);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static GstHarness *
harness_new (const gchar *launch, const gchar *caps)
{
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
harness_free (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static GstBuffer *
run (GstHarness *h, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  return gst_harness_pull (h);
}

/* The meta of @buffer. */
static const GstStructure *
meta_of (GstBuffer *buffer)
{
  GstCustomMeta *meta =
      gst_buffer_get_custom_meta (buffer, "GstNdRegistrationMeta");

  fail_unless (meta != NULL);
  return gst_custom_meta_get_structure (meta);
}

static gdouble
element_of (const GstStructure *s, guint i)
{
  const GValue *matrix = gst_structure_get_value (s, "matrix");

  fail_unless_equals_int (gst_value_array_get_size (matrix), 12);
  return g_value_get_double (gst_value_array_get_value (matrix, i));
}

static gboolean
flag_of (const GstStructure *s, const gchar *name)
{
  gboolean value = FALSE;

  fail_unless (gst_structure_get_boolean (s, name, &value));
  return value;
}

static gdouble
number_of (const GstStructure *s, const gchar *name)
{
  gdouble value = NAN;

  fail_unless (gst_structure_get_double (s, name, &value));
  return value;
}

/* The largest difference from the volume that does not move, without the
 * edges. */
static gdouble
difference (GstBuffer *buffer)
{
  GstMapInfo map;
  gdouble largest = 0;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < SAMPLES; i++) {
    const gsize x = i % SIZE, y = i / SIZE % SIZE;

    if (x < 5 || y < 5 || x >= SIZE - 5 || y >= SIZE - 5)
      continue;
    largest =
        MAX (largest, fabs (((gfloat *) map.data)[i] - sample (i, SIZE, 0, 0)));
  }
  gst_buffer_unmap (buffer, &map);
  return largest;
}

GST_START_TEST (test_volumes)
{
  static const gchar *const geometry =
      ",spacing=(string)\"2:2:3\",origin=(string)\"10:20:30\",directions="
      "(string)\"1:0:0:0:1:0:0:0:1\"";
  g_autofree gchar *caps = g_strconcat (CUBE, geometry, NULL);
  GstHarness *h = harness_new ("ndregister", __i__ ? caps : CUBE);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "ndregister");
  g_autoptr (GstStructure) stats = NULL;

  for (guint i = 0; i < 4; i++) {
    const gdouble dx = i * .6, dy = i * -.3;
    GstBuffer *out = run (h, buffer_new (i, SIZE, dx, dy));
    const GstStructure *meta = meta_of (out);
    const gdouble spacing = element_of (meta, 3) / MAX (dx, .1);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), i * DURATION);
    fail_unless (flag_of (meta, "measured"));
    fail_unless (difference (out) < (i ? 12 : 1e-3), "%g", difference (out));
    fail_unless (number_of (meta, "overlap") > .8);
    fail_unless (number_of (meta, "unexplained") < .01);
    if (i > 0) {
      fail_unless (fabs (spacing - (__i__ ? 2 : 1)) < .1, "%g", spacing);
      fail_unless (fabs (element_of (meta, 0) - 1) < .02);
    }
    gst_buffer_unref (out);
  }
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (fabs (element_of (stats, 3) - (__i__ ? 3.6 : 1.8)) < .2);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      "cpu");
  harness_free (h);
}

GST_END_TEST;

/* output=none passes volumes as they are. */
GST_START_TEST (test_output)
{
  GstHarness *h = harness_new ("ndregister output=none", CUBE);

  gst_buffer_unref (run (h, buffer_new (0, SIZE, 0, 0)));
  for (guint i = 1; i < 3; i++) {
    GstBuffer *in = buffer_new (i, SIZE, 1, .5), *out;
    GstMapInfo a, b;

    out = run (h, gst_buffer_ref (in));
    gst_buffer_map (in, &a, GST_MAP_READ);
    gst_buffer_map (out, &b, GST_MAP_READ);
    fail_unless (memcmp (a.data, b.data, a.size) == 0);
    fail_unless (fabs (element_of (meta_of (out), 3) - 1) < .1);
    gst_buffer_unmap (in, &a);
    gst_buffer_unmap (out, &b);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  harness_free (h);
}

GST_END_TEST;

/* A gap, a flush and EOS leave the reference; another size begins anew. */
GST_START_TEST (test_stream)
{
  GstHarness *h = harness_new ("ndregister", CUBE);
  GstSegment segment;
  GstBuffer *out;

  gst_buffer_unref (run (h, buffer_new (0, SIZE, 0, 0)));
  out = buffer_new (500, SIZE, 1, 0);
  GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  out = run (h, out);
  fail_unless (fabs (element_of (meta_of (out), 3) - 1) < .1);
  gst_buffer_unref (out);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  out = run (h, buffer_new (1, SIZE, 2, 0));
  fail_unless (fabs (element_of (meta_of (out), 3) - 2) < .1);
  gst_buffer_unref (out);
  gst_harness_set_src_caps_str (h, CAPS ("float32", "1:20:20:20"));
  out = run (h, buffer_new (2, 20, 1, 0));
  fail_unless (fabs (element_of (meta_of (out), 3)) < 1e-9);
  gst_buffer_unref (out);
  out = run (h, buffer_new (3, 20, 0, 0));
  fail_unless (fabs (element_of (meta_of (out), 3) + 1) < .1);
  gst_buffer_unref (out);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  harness_free (h);
}

GST_END_TEST;

/* All settings change while playing; another reference begins anew. */
GST_START_TEST (test_settings)
{
  GstHarness *h = harness_new ("ndregister", CUBE);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "ndregister");
  static const gchar *const changes[][2] = { { "model", "translation" },
    { "levels", "1" }, { "iterations", "30" }, { "interpolation", "linear" },
    { "border", "nearest" }, { "border-value", "3" }, { "mask", "nonzero" },
    { "output", "none" }, { "output", "volume" }, { "model", "affine" } };
  GstBuffer *out;

  gst_buffer_unref (run (h, buffer_new (0, SIZE, 0, 0)));
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    gst_util_set_object_arg (G_OBJECT (element), changes[i][0], changes[i][1]);
    out = run (h, buffer_new (i + 1, SIZE, 1, .5));
    fail_unless (fabs (element_of (meta_of (out), 3) - 1) < .15, "%s=%s: %g",
        changes[i][0], changes[i][1], element_of (meta_of (out), 3));
    gst_buffer_unref (out);
  }
  g_setenv ("NDCONV_SETTINGS_WAIT", "10000", TRUE);
  g_object_set (element, "reference", "1", NULL);
  out = run (h, buffer_new (20, SIZE, 1, .5));
  fail_if (flag_of (meta_of (out), "measured"));
  gst_buffer_unref (out);
  out = run (h, buffer_new (21, SIZE, 1, .5));
  fail_unless (flag_of (meta_of (out), "measured"));
  fail_unless (fabs (element_of (meta_of (out), 3)) < 1e-9);
  gst_buffer_unref (out);
  /* Another method begins anew, too. */
  g_object_set (element, "reference", "first", NULL);
  gst_buffer_unref (run (h, buffer_new (22, SIZE, 0, 0)));
  gst_util_set_object_arg (G_OBJECT (element), "method", "phase");
  for (guint i = 0; i < 2; i++) {
    out = run (h, buffer_new (23 + i, SIZE, 1 + i, .5));
    fail_unless (fabs (element_of (meta_of (out), 3) - i) < .1);
    gst_buffer_unref (out);
  }
  /* What is wrong is refused with a warning, and the reference stays. */
  g_object_set (element, "reference", "last", NULL);
  out = run (h, buffer_new (25, SIZE, 2, .5));
  fail_unless (fabs (element_of (meta_of (out), 3) - 1) < .15);
  gst_buffer_unref (out);
  harness_free (h);
}

GST_END_TEST;

/* Volumes without structure pass, with a meta that says so. */
GST_START_TEST (test_empty)
{
  GstHarness *h = harness_new ("ndregister", CUBE);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = gst_buffer_new_allocate (NULL, SAMPLES * 4, NULL), *out;
    GstMapInfo map;

    gst_buffer_map (in, &map, GST_MAP_WRITE);
    for (gsize k = 0; k < SAMPLES; k++)
      ((gfloat *) map.data)[k] = i == 0 ? 0 : i == 1 ? 5 : NAN;
    gst_buffer_unmap (in, &map);
    GST_BUFFER_PTS (in) = i * DURATION;
    out = run (h, in);
    fail_if (flag_of (meta_of (out), "measured"));
    gst_buffer_unref (out);
  }
  harness_free (h);
}

GST_END_TEST;

/* Pipelines of all types, one volume, frames of several planes, and a second
 * ndregister, which replaces the meta of the first. */
static const gchar *const launches[] = {
  "ndtestsrc num-buffers=3 type=uint8 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=int8 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=int16 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=uint16 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=int32 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=uint32 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=float16 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=3 type=float32 volume-size=24:24:24 ! ndregister",
  "ndtestsrc num-buffers=1 volume-size=24:24:24 ! ndregister reference=mean",
  "ndtestsrc num-buffers=4 volume-size=24:24:1 ! ndregister reference=running",
  "ndtestsrc num-buffers=4 volume-size=3:2:1 ! ndregister model=affine",
  "ndtestsrc num-buffers=3 volume-size=24:24:24 ! ndregister method=phase",
  "ndtestsrc num-buffers=3 volume-size=24:24:24 ! ndregister method=intensity",
  "ndtestsrc num-buffers=4 volume-size=16:16:16 ! ndregister ! ndregister "
  "reference=previous",
  "ndtestsrc num-buffers=2 volume-size=320:240:1 ! ndregister",
  "ndtestsrc num-buffers=2 volume-size=260:9:9 ! ndregister levels=5",
  "videotestsrc num-buffers=4 ! video/x-raw,format=GRAY8,width=64,height=48 ! "
  "ndregister",
  "videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=640,height=480 "
  "! ndregister",
  "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=62,height=46 ! "
  "ndregister border=nearest",
  "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=64,height=48 ! "
  "ndregister channel=1 model=translation",
  "videotestsrc num-buffers=4 ! video/x-raw,format=GRAY16_LE,width=64,height="
  "48 ! ndregister border=mirror",
};

GST_START_TEST (test_pipelines)
{
  g_autofree gchar *text = g_strconcat (launches[__i__], " ! fakesink", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  g_assert_no_error (error);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail ("%s: %s", text, error->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* A stream that ends before its reference, or with it. */
GST_START_TEST (test_no_reference)
{
  GstHarness *h = harness_new ("ndregister reference=3", CUBE);
  g_autoptr (GstBus) bus = gst_element_get_bus (h->element);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  for (gint i = 0; i < 3 + __i__; i++)
    gst_buffer_unref (run (h, buffer_new (i, SIZE, 0, 0)));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless ((message != NULL) == (__i__ == 0));
  if (message) {
    gst_message_parse_warning (message, &error, NULL);
    fail_unless (strstr (error->message, "before volume 3,") != NULL, "%s",
        error->message);
  }
  harness_free (h);
}

GST_END_TEST;

typedef struct
{
  const gchar *launch, *caps, *sentence;
} Refusal;

static const Refusal refusals[] = {
  { "ndregister reference=last", CUBE, "must be first" },
  { "ndregister channel=1", CUBE, "0 to 0" },
  { "ndregister backend=cuda", CUBE, "use backend=cpu" },
  { "ndregister", CAPS ("float32", "1:9:9:9:3"), "before the bank" },
};

GST_START_TEST (test_refusals)
{
  const Refusal *refusal = &refusals[__i__];
  g_autofree gchar *text =
      g_strdup_printf ("appsrc caps=\"%s\" format=time name=src "
                       "! %s ! fakesink",
          refusal->caps, refusal->launch);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) source = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBuffer) buffer =
      gst_buffer_new_allocate (NULL, SAMPLES * 4, NULL);
  GstFlowReturn ret;

  g_assert_no_error (error);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (source, "push-buffer", buffer, &ret);
  message =
      gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, refusal->sentence) != NULL, "%s",
      error->message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* Memory of a GPU is not taken. */
GST_START_TEST (test_device_memory)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make ("ndregister", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = gst_caps_from_string (CUBE);
  g_autoptr (GstCaps) device = gst_caps_copy (caps);

  gst_caps_set_features (device, 0,
      gst_caps_features_new ("memory:CUDAMemory", NULL));
  fail_unless (gst_pad_query_accept_caps (pad, caps));
  fail_if (gst_pad_query_accept_caps (pad, device));
}

GST_END_TEST;

static Suite *
register_suite (void)
{
  Suite *suite = suite_create ("register");
  TCase *tests = tcase_create ("streams");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_volumes, 0, 2);
  tcase_add_test (tests, test_output);
  tcase_add_test (tests, test_stream);
  tcase_add_test (tests, test_settings);
  tcase_add_test (tests, test_empty);
  tcase_add_loop_test (tests, test_pipelines, 0, G_N_ELEMENTS (launches));
  tcase_add_loop_test (tests, test_refusals, 0, G_N_ELEMENTS (refusals));
  tcase_add_loop_test (tests, test_no_reference, 0, 2);
  tcase_add_test (tests, test_device_memory);
  return suite;
}

GST_CHECK_MAIN (register);
