/* nddeconvolve in streams: against the reference in double precision, types,
 * planes of video, units, settings that change, and what is refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/deconvolve.h"
#include "engine/border.h"
#include "filters/text.h"
#include "tests/gst/random.h"
#include "tests/gst/run.h"

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>

#define X 10
#define Y 8
#define Z 6
#define SAMPLES (X * Y * Z)
#define DURATION (100 * GST_MSECOND)
#define CAPS(type, size)                                                      \
  "other/tensors,format=static,num_tensors=1,types=" type ",dimensions=" size \
  ",framerate=10/1"
#define CUBE CAPS ("float32", "1:10:8:6")
#define SPACED                                                    \
  CUBE ",spacing=(string)\"0.5:0.5:1\",origin=(string)\"0:0:0\"," \
       "directions=(string)\"1:0:0:0:1:0:0:0:1\""

static gint64
border_index (gint border, gint64 i, gint64 n)
{
  return nd_border_index (border, i, n);
}

static GstBuffer *
buffer_new (guint number, const gfloat *in)
{
  GstBuffer *buffer = gst_buffer_new_memdup (in, SAMPLES * sizeof (gfloat));

  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static GstHarness *
harness_new (const gchar *launch, const gchar *caps)
{
  GstHarness *h = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* The output differs from the reference by little. */
static void
check_output (GstHarness *h, guint number, const gfloat *in, const gchar *psf,
    const NdDeconvolveSettings *settings, NdBorder border)
{
  static const gsize size[3] = { X, Y, Z };
  const NdAxes axes = { .n = 3, .axis = { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z } };
  g_autoptr (NdBank) bank =
      nd_bank_from_text (psf, &axes, NULL, FALSE, FALSE, NULL, NULL);
  g_autoptr (NdFilter) filter = nd_deconvolve_psf (bank, NULL);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddeconvolve");
  g_autoptr (GstStructure) stats = NULL;
  g_autoptr (GstBuffer) out = NULL;
  gdouble d[SAMPLES], e[SAMPLES], largest = 0, worst = 0, residue = -1;
  NdDeconvolution expected;
  guint iterations = 0;
  GstMapInfo map;

  fail_unless (filter != NULL);
  for (guint i = 0; i < SAMPLES; i++)
    d[i] = in[i];
  nd_deconvolve_reference (settings, filter, border_index, border, 0, size, d,
      e, &expected);
  fail_unless_equals_int (gst_harness_push (h, buffer_new (number, in)),
      GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), number * DURATION);
  gst_buffer_map (out, &map, GST_MAP_READ);
  fail_unless_equals_int (map.size, SAMPLES * sizeof (gfloat));
  for (guint i = 0; i < SAMPLES; i++) {
    largest = MAX (largest, e[i]);
    worst = MAX (worst, fabs (((gfloat *) map.data)[i] - e[i]));
  }
  gst_buffer_unmap (out, &map);
  fail_unless (worst < 1e-4 * largest, "%g of %g", worst, largest);
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint (stats, "iterations", &iterations));
  fail_unless (gst_structure_get_double (stats, "residue", &residue));
  fail_unless_equals_int (iterations, expected.iterations);
  fail_unless (fabs (residue - expected.residue) < 1e-4);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      "cpu");
}

/* Settings change from volume to volume. */
GST_START_TEST (test_volumes)
{
  GRand *rand = new_rand ();
  GstHarness *h =
      harness_new ("nddeconvolve psf=gaussian,sigma=1,size=5", CUBE);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddeconvolve");
  NdDeconvolveSettings settings = { 10, 0, 0 };
  gfloat in[SAMPLES];

  for (guint i = 0; i < SAMPLES; i++)
    in[i] = 100 * g_rand_double (rand) + (i % 29 == 0 ? 900 : 0);
  check_output (h, 0, in, "gaussian,sigma=1,size=5", &settings,
      ND_BORDER_NEAREST);
  settings = (NdDeconvolveSettings){ 40, .01, .02 };
  g_object_set (element, "iterations", 40, "tv", .01, "tolerance", .02, NULL);
  check_output (h, 1, in, "gaussian,sigma=1,size=5", &settings,
      ND_BORDER_NEAREST);
  g_setenv ("NDCONV_SETTINGS_WAIT", "10000", TRUE);
  settings.tolerance = 0;
  settings.iterations = 4;
  gst_util_set_object_arg (G_OBJECT (element), "settings",
      "settings,psf=(string)\"box,size=3\",border=mirror,tolerance=0.0,"
      "iterations=4");
  check_output (h, 2, in, "box,size=3", &settings, ND_BORDER_MIRROR);
  /* What is wrong is refused, and the settings stay. */
  g_object_set (element, "psf", "laplace", NULL);
  check_output (h, 3, in, "box,size=3", &settings, ND_BORDER_MIRROR);
  g_object_set (element, "psf", "box,size=3;box,size=3", NULL);
  check_output (h, 4, in, "box,size=3", &settings, ND_BORDER_MIRROR);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_teardown (h);
  g_rand_free (rand);
}

GST_END_TEST;

/* Lengths in mm become samples by the spacing, also of new caps. */
GST_START_TEST (test_units)
{
  static const NdDeconvolveSettings settings = { 10, 0, 0 };
  GRand *rand = new_rand ();
  GstHarness *h =
      harness_new ("nddeconvolve psf=\"gaussian,sigma=0.5mm,size=5:5:3\"",
          SPACED);
  gfloat in[SAMPLES];

  for (guint i = 0; i < SAMPLES; i++)
    in[i] = 100 * g_rand_double (rand);
  check_output (h, 0, in, "gaussian,sigma=1:1:0.5,size=5:5:3", &settings,
      ND_BORDER_NEAREST);
  gst_harness_set_src_caps_str (h,
      CUBE ",spacing=(string)\"1:0.5:0.5\",origin=(string)\"0:0:0\",directions="
           "(string)\"1:0:0:0:1:0:0:0:1\"");
  check_output (h, 1, in, "gaussian,sigma=0.5:1:1,size=5:5:3", &settings,
      ND_BORDER_NEAREST);
  gst_harness_teardown (h);
  g_rand_free (rand);
}

GST_END_TEST;

/* Chroma and alpha pass; Y and colours change. */
GST_START_TEST (test_planes)
{
  static const struct
  {
    const gchar *format;
    gsize size, changed; /* bytes, of which the first may change */
    guint pixel, alpha;  /* bytes of a pixel, and the one that stays */
  } formats[] = { { "I420", 16 * 16 * 3 / 2, 16 * 16, 1, 1 },
    { "NV12", 16 * 16 * 3 / 2, 16 * 16, 1, 1 },
    { "RGBA", 16 * 16 * 4, 16 * 16 * 4, 4, 3 },
    { "RGB", 16 * 16 * 3, 16 * 16 * 3, 3, 3 } };
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=16,height=16,framerate=10/1",
      formats[__i__].format);
  GstHarness *h = harness_new ("nddeconvolve psf=box,size=3", caps);
  const gsize n = formats[__i__].size;
  GstBuffer *in = gst_buffer_new_allocate (NULL, n, NULL), *out;
  GRand *rand = new_rand ();
  gsize changed = 0;
  GstMapInfo a, b;

  gst_buffer_map (in, &a, GST_MAP_WRITE);
  for (gsize i = 0; i < n; i++)
    a.data[i] = g_rand_int_range (rand, 0, 256);
  gst_buffer_unmap (in, &a);
  GST_BUFFER_PTS (in) = 0;
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_ref (in)),
      GST_FLOW_OK);
  out = gst_harness_pull (h);
  gst_buffer_map (in, &a, GST_MAP_READ);
  gst_buffer_map (out, &b, GST_MAP_READ);
  fail_unless_equals_int (b.size, n);
  for (gsize i = 0; i < n; i++) {
    const gboolean stays = i >= formats[__i__].changed
        || i % formats[__i__].pixel == formats[__i__].alpha;

    fail_if (stays && a.data[i] != b.data[i]);
    changed += a.data[i] != b.data[i];
  }
  fail_unless (changed > formats[__i__].changed / 2);
  gst_buffer_unmap (in, &a);
  gst_buffer_unmap (out, &b);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_rand_free (rand);
}

GST_END_TEST;

static const gchar *const types[] = { "uint8", "int8", "int16", "uint16",
  "int32", "uint32", "float16", "float32", "float64" };

GST_START_TEST (test_types)
{
  run_whole (launch ("ndtestsrc num-buffers=2 type=%s volume-size=9:8:7 ! "
                     "nddeconvolve psf=gaussian,sigma=1 iterations=3 tv=0.01 ! "
                     "fakesink",
      types[__i__]));
}

GST_END_TEST;

/* Without a psf, with one that is wrong, and input of a bank. */
GST_START_TEST (test_refused)
{
  static const struct
  {
    const gchar *launch, *words;
  } refused[] = {
    { "nddeconvolve", "Property psf: The filter is missing" },
    { "nddeconvolve psf=laplace", "The psf has the coefficient -" },
    { "nddeconvolve psf=\"box,size=3;box,size=5\"", "a bank of several" },
    { "nddeconvolve psf=\"quadrature,direction=x\"", "complex" },
    { "nddeconvolve psf=\"coefficients,size=2:1:1,values=<0,0>\"",
        "zeros only" },
    { "nddeconvolve psf=\"psf,location=/none/there.npy\"", "there.npy" },
    { "nddeconvolve psf=\"gaussian,sigma=wide\"", "sigma" },
    { "nddeconvolve psf=box,size=3 backend=cuda", "use backend=cpu" },
    { "ndconv3d filter=\"box,size=3;box,size=5\" ! nddeconvolve psf=box,size=3",
        "responses of a bank" },
  };
  g_auto (Outcome) outcome = { 0 };
  GstElement *pipeline =
      launch ("ndtestsrc num-buffers=2 volume-size=9:8:7 ! %s ! fakesink",
          refused[__i__].launch);

  run_pipeline (pipeline, &outcome);
  fail_unless (outcome.n_errors > 0);
  fail_unless (strstr (outcome.error->message, refused[__i__].words) != NULL,
      "%s", outcome.error->message);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
deconvolve_suite (void)
{
  Suite *suite = suite_create ("nddeconvolve");
  TCase *tc = tcase_create ("all");

  tcase_set_timeout (tc, 120);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_volumes);
  tcase_add_test (tc, test_units);
  tcase_add_loop_test (tc, test_planes, 0, 4);
  tcase_add_loop_test (tc, test_types, 0, G_N_ELEMENTS (types));
  tcase_add_loop_test (tc, test_refused, 0, 9);
  return suite;
}

GST_CHECK_MAIN (deconvolve);
