/* ndbmode and ndscanconvert in streams: caps, values of all properties, all
 * types, and what is refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>

#define CAPS(type, size)                                                      \
  "other/tensors,format=static,num_tensors=1,types=" type ",dimensions=" size \
  ",framerate=10/1"
#define BEAMS ",beams=(string)\"geometry=phased,depth=60,angle=60\""

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

/* Pushes a volume of @size bytes that are @byte. */
static GstBuffer *
run (GstHarness *h, gsize size, guint8 byte)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, byte, size);
  GST_BUFFER_PTS (buffer) = 0;
  GST_BUFFER_DURATION (buffer) = 100 * GST_MSECOND;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  return gst_harness_pull (h);
}

static gchar *
field_of (GstHarness *h, const gchar *name)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (h->sinkpad);

  return g_strdup (gst_structure_get_string (gst_caps_get_structure (caps, 0),
      name));
}

static const struct
{
  const gchar *launch, *caps, *dimensions, *spacing, *beams, *types;
  gsize in, out;
} shapes[] = {
  { "ndscanconvert spacing=1", CAPS ("uint8", "1:64:32:1") BEAMS, "1:61:61",
      "1:1:1", NULL, "uint8", 64 * 32, 61 * 61 },
  { "ndscanconvert spacing=2:1 size=10:20", CAPS ("int16", "2:64:32:1") BEAMS,
      "2:10:20", "2:1:1", NULL, "int16", 64 * 32 * 4, 200 * 4 },
  { "ndscanconvert geometry=linear depth=30 width=20 elevation-width=10 "
    "spacing=1",
      CAPS ("float32", "1:64:32:8"), "1:21:31:11", "1:1:1", NULL, "float32",
      64 * 32 * 8 * 4, 21 * 31 * 11 * 4 },
  { "ndscanconvert geometry=linear depth=30 width=20 depth-axis=z "
    "elevation-width=10 spacing=1",
      CAPS ("float64", "1:32:8:64"), "1:21:31:11", "1:1:1", NULL, "float64",
      64 * 32 * 8 * 8, 21 * 31 * 11 * 8 },
  { "ndscanconvert inverse=true geometry=phased depth=60 angle=60 size=20:9",
      CAPS ("uint16", "1:61:61:1") ",spacing=(string)1:1:1,"
                                   "origin=(string)-30:0:0",
      "1:20:9", NULL, "geometry=phased,depth=60,angle=60", "uint16",
      61 * 61 * 2, 20 * 9 * 2 },
  { "ndbmode", CAPS ("float32", "1:64:32:1") BEAMS, "1:64:32", NULL,
      "geometry=phased,depth=60,angle=60", "uint8", 64 * 32 * 4, 64 * 32 },
  { "ndbmode output=iq center-frequency=5e6 sampling-frequency=40e6 "
    "decimation=2",
      CAPS ("int16", "1:61:32:1") BEAMS ",spacing=(string)1:1:1", "2:31:32",
      "2:1:1", "geometry=phased,depth=60,angle=60", "float32", 61 * 32 * 2,
      31 * 32 * 8 },
  { "ndbmode output=envelope decimation=4", CAPS ("float32", "2:63:3:2") BEAMS,
      "1:16:3:2", NULL, "geometry=phased,depth=58.064516129032256,angle=60",
      "float32", 63 * 6 * 8, 16 * 6 * 4 },
  { "ndbmode output-type=uint16", CAPS ("uint8", "1:8:3:2"), "1:8:3:2", NULL,
      NULL, "uint16", 48, 96 },
};

GST_START_TEST (test_shapes)
{
  GstHarness *h = harness_new (shapes[__i__].launch, shapes[__i__].caps);
  g_autoptr (GstBuffer) out = run (h, shapes[__i__].in, 0);
  g_autofree gchar *dimensions = field_of (h, "dimensions");
  g_autofree gchar *spacing = field_of (h, "spacing");
  g_autofree gchar *beams = field_of (h, "beams");
  g_autofree gchar *types = field_of (h, "types");

  fail_unless_equals_string (dimensions, shapes[__i__].dimensions);
  if (shapes[__i__].spacing)
    fail_unless_equals_string (spacing, shapes[__i__].spacing);
  fail_unless (g_strcmp0 (beams, shapes[__i__].beams) == 0, "%s", beams);
  fail_unless_equals_string (types, shapes[__i__].types);
  fail_unless_equals_uint64 (gst_buffer_get_size (out), shapes[__i__].out);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 0);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), 100 * GST_MSECOND);
  harness_free (h);
}

GST_END_TEST;

/* Nothing is outside of parallel beams, and everything is beyond a grid that
 * is elsewhere. */
GST_START_TEST (test_border_value)
{
  GstHarness *h = harness_new ("ndscanconvert geometry=phased angle=90 "
                               "border-value=77 spacing=10",
      CAPS ("uint8", "1:8:8:1"));
  g_autoptr (GstBuffer) out = run (h, 64, 200);
  g_autoptr (GstElement) element =
      gst_harness_find_element (h, "ndscanconvert");
  g_autofree gchar *spacing = NULL;
  g_autoptr (GstBuffer) other = NULL;
  GstMapInfo map;
  guint inside = 0, outside = 0;

  gst_buffer_map (out, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++) {
    inside += map.data[i] == 200;
    outside += map.data[i] == 77;
  }
  fail_unless_equals_uint64 (inside + outside, map.size);
  fail_unless (inside > map.size / 3 && outside > map.size / 6);
  gst_buffer_unmap (out, &map);

  /* Another geometry while playing changes the caps. */
  g_object_set (element, "geometry", 1, "depth", 70., "width", 30., "spacing",
      "5", NULL);
  other = run (h, 64, 200);
  fail_unless_equals_uint64 (gst_buffer_get_size (other), 7 * 15);
  spacing = field_of (h, "spacing");
  fail_unless_equals_string (spacing, "5:5:5");
  gst_buffer_map (other, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++)
    fail_unless_equals_int (map.data[i], 200);
  gst_buffer_unmap (other, &map);
  harness_free (h);
}

GST_END_TEST;

/* Other beams in the caps with equal dimensions are another geometry. */
GST_START_TEST (test_caps_beams)
{
  GstHarness *h =
      harness_new ("ndscanconvert size=9:9", CAPS ("uint8", "1:8:8:1") BEAMS);
  g_autoptr (GstBuffer) a = run (h, 64, 9);
  g_autoptr (GstBuffer) b = NULL;
  g_autofree gchar *before = field_of (h, "spacing");
  g_autofree gchar *after = NULL;

  gst_harness_set_src_caps_str (h,
      CAPS ("uint8",
          "1:8:8:1") ",beams=(string)\"geometry=linear,depth=80,width=40\"");
  b = run (h, 64, 9);
  after = field_of (h, "spacing");
  fail_if (g_str_equal (before, after));
  fail_unless (g_str_has_prefix (after, "5:10:"), "%s", after);
  harness_free (h);
}

GST_END_TEST;

/* From RF without speckle to greys of a Cartesian frame: those of the
 * phantom. */
GST_START_TEST (test_truth)
{
  static const struct
  {
    gdouble place[2], grey;
  } known[] = { { { 0, 60 }, 10 }, { { -15, 40 }, 210 }, { { 15, 40 }, 210 },
    { { 0, 100 }, 220 }, { { 0, 80 }, 92.4 } };
  static const gchar *const sources[] = { "pattern=rf noise=0 ! ndbmode",
    "pattern=rf noise=0 ! ndbmode center-frequency=1 sampling-frequency=4",
    "pattern=rf noise=0 ! other/tensors,types=int16 ! ndbmode",
    "pattern=iq noise=0 ! ndbmode", "pattern=beams" };
  g_autoptr (GstElement) pipeline =
      launch ("ndtestsrc num-buffers=1 volume-size=1024:256:1 %s ! "
              "ndscanconvert interpolation=cubic spacing=1 size=141:121 ! "
              "appsink name=out",
          sources[__i__]);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstSample) sample = NULL;
  GstMapInfo map;

  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL);
  gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++) {
    const guint x = 70 + known[i].place[0], y = known[i].place[1];
    const gint grey = map.data[y * 141 + x];

    fail_unless (fabs (grey - known[i].grey) <= 2, "%d instead of %g", grey,
        known[i].grey);
  }
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

#define SOURCE "ndtestsrc num-buffers=2 volume-size=24:12:1 "
#define CUBE "ndtestsrc num-buffers=2 volume-size=12:8:6 "
static const gchar *const launches[] = {
  SOURCE "type=uint8 ! ndscanconvert geometry=phased",
  SOURCE "type=int8 ! ndscanconvert geometry=phased",
  SOURCE "type=int16 ! ndscanconvert geometry=phased",
  SOURCE "type=uint16 ! ndscanconvert geometry=phased",
  SOURCE "type=int32 ! ndscanconvert geometry=phased interpolation=cubic",
  SOURCE "type=uint32 ! ndscanconvert geometry=phased",
  SOURCE "type=float16 ! ndscanconvert geometry=phased",
  SOURCE "type=float32 ! ndscanconvert geometry=phased interpolation=linear",
  SOURCE "type=float64 components=3 ! ndscanconvert geometry=phased",
  SOURCE "! ndscanconvert geometry=linear width=30 depth-axis=y",
  SOURCE "! ndscanconvert geometry=curvilinear radius=40 angle=60 "
         "start-depth=5",
  CUBE "! ndscanconvert geometry=matrix elevation-angle=40 depth-axis=z",
  CUBE "! ndscanconvert geometry=wobbler elevation-radius=20",
  CUBE "! ndscanconvert geometry=wobbler plane-angles=-9:-5:-2:1:2:8",
  CUBE "! ndscanconvert geometry=phased elevation-width=20 n-threads=1",
  CUBE "! ndscanconvert geometry=matrix inverse=true size=6:7:8",
  CUBE "pattern=beams ! ndscanconvert ! ndscanconvert geometry=matrix "
       "depth=120 angle=72 elevation-angle=72 inverse=true size=12:8:6 ! "
       "ndscanconvert",
  SOURCE "type=uint8 ! ndbmode",
  SOURCE "type=int8 ! ndbmode output-type=int8",
  SOURCE "type=uint16 ! ndbmode output-type=uint16",
  SOURCE "type=int16 ! ndbmode output-type=int16",
  SOURCE "type=int32 ! ndbmode output-type=int32",
  SOURCE "type=uint32 ! ndbmode output-type=uint32",
  SOURCE "type=float16 ! ndbmode output-type=float16",
  SOURCE "type=float32 ! ndbmode output-type=float32",
  SOURCE "type=float64 components=2 ! ndbmode output-type=float64",
  SOURCE "components=2 ! ndbmode decimation=3 gain=20 tgc=0:3 output=iq "
         "! ndbmode dynamic-range=40 backend=auto",
  CUBE "pattern=rf ! ndbmode output=envelope n-threads=2 ! ndscanconvert ! "
       "ndview size=64:64",
};

GST_START_TEST (test_pipelines)
{
  run_whole (launch ("%s ! fakesink", launches[__i__]));
}

GST_END_TEST;

#define TEN(text) text text text text text text text text text text
#define LONG TEN (TEN (TEN ("0123456")))
#define LONG_CAPS GEOMETRY ("geometry=phased,angle=" LONG)
#define GEOMETRY(text) CAPS ("uint8", "1:8:8:1") ",beams=(string)\"" text "\""
static const struct
{
  const gchar *launch, *caps, *sentence;
} refusals[] = {
  { "ndscanconvert", CAPS ("uint8", "1:8:8:1"), "no field 'beams'" },
  { "ndscanconvert", GEOMETRY ("geometry=round"), "Caps field 'beams'" },
  { "ndscanconvert", GEOMETRY ("geometry=phased,angle=0"), "angle" },
  { "ndscanconvert geometry=matrix", CAPS ("uint8", "1:8:8:1"), "along each" },
  { "ndscanconvert geometry=phased depth=3 start-depth=3",
      CAPS ("uint8", "1:8:8:1"), "must be larger" },
  { "ndscanconvert geometry=matrix spacing=0.01", CAPS ("uint8", "1:8:8:8"),
      "larger spacing" },
  { "ndscanconvert",
      CAPS ("uint8", "1:8:8:1") ",beams=(string)\"geometry=linear,"
                                "depth=100000,width=1e-6\"",
      "so narrow" },
  { "ndscanconvert geometry=phased size=x", CAPS ("uint8", "1:8:8:1"),
      "must be X:Y" },
  { "ndscanconvert geometry=phased inverse=true size=8:8",
      CAPS ("uint8", "1:8:8:1"), "needs the spacing" },
  { "ndscanconvert inverse=true size=8:8",
      CAPS ("uint8", "1:8:8:1") ",spacing=(string)1:1:1",
      "geometry of the beams to make" },
  { "ndscanconvert", LONG_CAPS, "it must have less than 4096" },
  { "ndscanconvert geometry=phased", CAPS ("uint8", "1:8:8:1:3"),
      "before the bank" },
  { "ndscanconvert geometry=phased backend=cuda", CAPS ("uint8", "1:8:8:1"),
      "" },
  { "ndbmode", CAPS ("uint8", "3:8:8:1"), "IQ of two" },
  { "ndbmode decimation=2", CAPS ("uint8", "1:8:8:1"), "center-frequency" },
  { "ndbmode center-frequency=5", CAPS ("uint8", "1:8:8:1"),
      "sampling-frequency" },
  { "ndbmode tgc=a:b", CAPS ("uint8", "1:8:8:1"), "gains in dB" },
  { "ndbmode", CAPS ("uint8", "1:8:8:1:3"), "before the bank" },
};

/* One error each. */
GST_START_TEST (test_refusals)
{
  g_autofree gchar *caps = g_strescape (refusals[__i__].caps, NULL);
  g_autofree gchar *text = g_strdup_printf (
      "appsrc caps=\"%s\" format=time name=src ! %s ! fakesink", caps,
      refusals[__i__].launch);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, &error);
  g_autoptr (GstElement) source = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBuffer) buffer = gst_buffer_new_allocate (NULL, 512, NULL);
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
  fail_unless (strstr (error->message, refusals[__i__].sentence) != NULL, "%s",
      error->message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_END_TEST;

/* Memory of a GPU is not taken. */
GST_START_TEST (test_device_memory)
{
  static const gchar *const names[] = { "ndbmode", "ndscanconvert" };
  g_autoptr (GstElement) element =
      gst_element_factory_make (names[__i__], NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS ("uint8", "1:8:8:1"));
  g_autoptr (GstCaps) device = gst_caps_copy (caps);

  gst_caps_set_features (device, 0,
      gst_caps_features_new ("memory:CUDAMemory", NULL));
  fail_unless (gst_pad_query_accept_caps (pad, caps));
  fail_if (gst_pad_query_accept_caps (pad, device));
}

GST_END_TEST;

static Suite *
scan_suite (void)
{
  Suite *suite = suite_create ("scan");
  TCase *tests = tcase_create ("streams");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_shapes, 0, G_N_ELEMENTS (shapes));
  tcase_add_test (tests, test_border_value);
  tcase_add_test (tests, test_caps_beams);
  tcase_add_loop_test (tests, test_truth, 0, 5);
  tcase_add_loop_test (tests, test_pipelines, 0, G_N_ELEMENTS (launches));
  tcase_add_loop_test (tests, test_refusals, 0, G_N_ELEMENTS (refusals));
  tcase_add_loop_test (tests, test_device_memory, 0, 2);
  return suite;
}

GST_CHECK_MAIN (scan);
