/* ndrank in streams: every type and layout of volumes and frames, the window in
 * time, gaps and the end of a stream, changes while playing, and what is
 * refused. tests/analysis/test-rank.c compares the sorting with its definition.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#define DURATION (100 * GST_MSECOND)
#define CAPS(type, size)                                                      \
  "other/tensors,format=static,num_tensors=1,types=" type ",dimensions=" size \
  ",framerate=10/1"
#define FRAMES CAPS ("uint8", "1:5:3:1")
#define SAMPLES (5 * 3)

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
buffer_new (guint number, gconstpointer data, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_memdup (data, size);

  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

/* A frame of @value, with @impulse in its middle. */
static GstBuffer *
frame_new (guint number, guint8 value, guint8 impulse)
{
  guint8 data[SAMPLES];

  memset (data, value, SAMPLES);
  data[SAMPLES / 2] = impulse;
  return buffer_new (number, data, SAMPLES);
}

static void
push (GstHarness *h, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

/* The next output has @value everywhere and @middle in the middle. */
static void
expect (GstHarness *h, guint number, guint8 value, guint8 middle)
{
  GstBuffer *out = gst_harness_pull (h);
  GstMapInfo map;

  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), number * DURATION);
  gst_buffer_map (out, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, SAMPLES);
  for (gsize i = 0; i < SAMPLES; i++)
    fail_unless_equals_int (map.data[i], i == SAMPLES / 2 ? middle : value);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
}

/* What an impulse of 90 in a frame of 10 becomes. */
GST_START_TEST (test_operations)
{
  static const struct
  {
    const gchar *properties;
    guint8 value, middle;
  } cases[] = {
    { "", 10, 10 },
    { "operation=median footprint=1", 10, 90 },
    { "operation=percentile percentile=100 footprint=1:1", 10, 90 },
    { "operation=minimum", 10, 10 },
    { "operation=erode footprint=ball,radius=1", 10, 10 },
    { "operation=open", 10, 10 },
    { "operation=close footprint=3:1", 10, 90 },
    { "operation=tophat", 0, 80 },
    { "operation=blackhat footprint=3:1", 0, 0 },
    { "operation=maximum footprint=9:9", 90, 90 },
    { "operation=dilate footprint=\"cross,size=9:9\" border=constant "
      "border-value=100",
        100, 100 },
    { "operation=gradient footprint=9:9", 80, 80 },
  };
  g_autofree gchar *launch =
      g_strconcat ("ndrank ", cases[__i__].properties, NULL);
  GstHarness *h = harness_new (launch, FRAMES);

  push (h, frame_new (0, 10, 90));
  expect (h, 0, cases[__i__].value, cases[__i__].middle);
  harness_free (h);
}

GST_END_TEST;

/* A median over 3 volumes waits for one, a closing for two. */
GST_START_TEST (test_time)
{
  static const guint8 impulses[] = { 10, 90, 10, 90, 5 };
  static const struct
  {
    const gchar *launch;
    guint delay;
    guint8 wanted[5];
  } cases[] = {
    { "ndrank footprint=1:1:1:3", 1, { 10, 10, 90, 10, 5 } },
    { "ndrank footprint=1:1:1:3 causal=true", 0, { 10, 10, 10, 90, 10 } },
    { "ndrank footprint=1:1:1:3 operation=close", 2, { 90, 90, 90, 90, 90 } },
    { "ndrank footprint=1:1:1:3 operation=tophat", 2, { 0, 80, 0, 80, 0 } },
    { "ndrank footprint=1:1:1:2 operation=gradient", 1, { 80, 80, 80, 80, 0 } },
  };
  const guint delay = cases[__i__].delay;
  GstHarness *h = harness_new (cases[__i__].launch, FRAMES);
  guint8 value;

  for (guint i = 0; i < 5 + delay; i++) {
    GstBuffer *out;

    if (i < 5)
      push (h, frame_new (i, 0, impulses[i]));
    else if (i == 5)
      fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    if (i < 5)
      fail_unless_equals_int (gst_harness_buffers_in_queue (h), i >= delay);
    if (i < delay)
      continue;
    out = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), (i - delay) * DURATION);
    gst_buffer_extract (out, SAMPLES / 2, &value, 1);
    fail_unless_equals_int (value, cases[__i__].wanted[i - delay]);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  harness_free (h);
}

GST_END_TEST;

/* Volumes on both sides of a gap do not meet. */
GST_START_TEST (test_gap)
{
  GstHarness *h =
      harness_new ("ndrank operation=maximum footprint=1:1:1:3", FRAMES);

  push (h, frame_new (0, 10, 90));
  push (h, frame_new (1, 10, 10));
  expect (h, 0, 10, 90);
  push (h, frame_new (30, 10, 20));
  expect (h, 1, 10, 90);
  push (h, frame_new (31, 10, 10));
  expect (h, 30, 10, 20);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  expect (h, 31, 10, 20);
  harness_free (h);
}

GST_END_TEST;

/* Settings change between two volumes. */
GST_START_TEST (test_change)
{
  GstHarness *h =
      harness_new ("ndrank operation=maximum footprint=9:9", FRAMES);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "ndrank");

  push (h, frame_new (0, 10, 90));
  expect (h, 0, 90, 90);
  g_object_set (element, "operation", 2, NULL);
  for (guint i = 1; i < 200; i++) {
    GstBuffer *out;
    guint8 first;

    push (h, frame_new (i, 10, 90));
    out = gst_harness_pull (h);
    gst_buffer_extract (out, 0, &first, 1);
    gst_buffer_unref (out);
    if (first == 10)
      break;
    fail_unless_equals_int (first, 90);
    fail_unless (i < 199, "the new setting never counts");
    g_usleep (20000);
  }
  harness_free (h);
}

GST_END_TEST;

/* The least and the greatest number of each type stay what they are. */
GST_START_TEST (test_types)
{
  static const struct
  {
    const gchar *name;
    gsize size;
    guint8 low[8], high[8]; /* little endian */
  } types[] = {
    { "int8", 1, { 0x80 }, { 0x7f } },
    { "uint16", 2, { 0 }, { 0xff, 0xff } },
    { "int16", 2, { 0, 0x80 }, { 0xff, 0x7f } },
    { "uint32", 4, { 1 }, { 0xff, 0xff, 0xff, 0xff } },
    { "int32", 4, { 1, 0, 0, 0x80 }, { 0xff, 0xff, 0xff, 0x7f } },
    { "float16", 2, { 1, 0x80 }, { 0xff, 0x7b } },
    { "float32", 4, { 1, 0, 0, 0x80 }, { 0xff, 0xff, 0x7f, 0x7f } },
    { "float64", 8, { 1, 0, 0, 0, 0, 0, 0, 0x80 },
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f } },
  };
  const guint i = __i__ / 2;
  const gsize size = types[i].size;
  const gboolean greatest = __i__ % 2;
  g_autofree gchar *caps =
      g_strdup_printf (CAPS ("%s", "1:2:1:1"), types[i].name);
  GstHarness *h =
      harness_new (greatest ? "ndrank operation=maximum footprint=3:1:1"
                            : "ndrank operation=minimum footprint=3:1:1",
          caps);
  const guint8 *wanted = greatest ? types[i].high : types[i].low;
  guint8 data[16], found[16];
  GstBuffer *out;

  memcpy (data, types[i].high, size);
  memcpy (data + size, types[i].low, size);
  push (h, buffer_new (0, data, 2 * size));
  out = gst_harness_pull (h);
  fail_unless_equals_int (gst_buffer_extract (out, 0, found, 16), 2 * size);
  for (guint k = 0; k < 2; k++)
    fail_unless (memcmp (found + k * size, wanted, size) == 0, "%s",
        types[i].name);
  gst_buffer_unref (out);
  harness_free (h);
}

GST_END_TEST;

/* Alpha stays, and each colour is sorted by itself. */
GST_START_TEST (test_video)
{
  static const guint8 in[] = { 1, 2, 3, 50, 7, 8, 0, 60, 5, 9, 1, 70 };
  static const guint8 wanted[] = { 1, 2, 3, 50, 5, 8, 1, 60, 5, 9, 1, 70 };
  GstHarness *h = harness_new ("ndrank footprint=3:1",
      "video/x-raw,format=RGBA,width=3,height=1,framerate=10/1");
  guint8 found[12];
  GstBuffer *out;

  push (h, buffer_new (0, in, sizeof (in)));
  out = gst_harness_pull (h);
  gst_buffer_extract (out, 0, found, sizeof (found));
  fail_unless (memcmp (found, wanted, sizeof (wanted)) == 0);
  gst_buffer_unref (out);
  harness_free (h);
}

GST_END_TEST;

static const struct
{
  const gchar *launch, *caps, *says;
} refusals[] = {
  { "ndrank footprint=3:x", FRAMES, "footprint" },
  { "ndrank footprint=nonsense", FRAMES, "footprint" },
  { "ndrank footprint=2000:2000", FRAMES, "The footprint has" },
  { "ndrank footprint=\"file,location=/nowhere/f.npy\"", FRAMES, "nowhere" },
  { "ndrank footprint=3 origin=2", FRAMES, "origin" },
  { "ndrank footprint=1:1:1:1000000", CAPS ("uint8", "1:512:512:512"),
      "memory" },
  { "ndrank time-border=wrap", FRAMES, "time-border=wrap" },
  { "ndrank backend=cuda", FRAMES, "use backend=cpu" },
  { "ndrank operation=tophat",
      "video/x-raw,format=I420,width=16,height=8,framerate=10/1", "chroma" },
  { "ndrank", CAPS ("uint8", "1:5:3:1:2"), "before the bank" },
};

/* One sentence says what is wrong. */
GST_START_TEST (test_refusals)
{
  g_autofree gchar *text =
      g_strdup_printf ("appsrc caps=\"%s\" format=time name=src "
                       "! %s ! fakesink",
          refusals[__i__].caps, refusals[__i__].launch);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) source = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBuffer) buffer = frame_new (0, 1, 1);
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
  fail_unless (strstr (error->message, refusals[__i__].says) != NULL, "%s",
      error->message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* Memory of a GPU is not taken. */
GST_START_TEST (test_device_memory)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("ndrank", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAMES);
  g_autoptr (GstCaps) device = gst_caps_copy (caps);

  gst_object_ref_sink (element);
  gst_caps_set_features (device, 0,
      gst_caps_features_new ("memory:CUDAMemory", NULL));
  fail_unless (gst_pad_query_accept_caps (pad, caps));
  fail_if (gst_pad_query_accept_caps (pad, device));
}

GST_END_TEST;

/* GObject itself refuses numbers beyond the range. */
GST_START_TEST (test_range)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("ndrank", NULL);
  const GParamSpecDouble *pspec =
      G_PARAM_SPEC_DOUBLE (g_object_class_find_property (
          G_OBJECT_GET_CLASS (element), "percentile"));

  gst_object_ref_sink (element);
  fail_unless (pspec->minimum == 0 && pspec->maximum == 100);
}

GST_END_TEST;

static Suite *
rank_suite (void)
{
  Suite *suite = suite_create ("ndrank");
  TCase *tcase = tcase_create ("ndrank");

  tcase_set_timeout (tcase, 60);
  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_operations, 0, 12);
  tcase_add_loop_test (tcase, test_time, 0, 5);
  tcase_add_test (tcase, test_gap);
  tcase_add_test (tcase, test_change);
  tcase_add_loop_test (tcase, test_types, 0, 16);
  tcase_add_test (tcase, test_video);
  tcase_add_loop_test (tcase, test_refusals, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, test_device_memory);
  tcase_add_test (tcase, test_range);
  return suite;
}

GST_CHECK_MAIN (rank);
