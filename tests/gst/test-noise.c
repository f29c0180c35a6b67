/* nddenoise with noise=poisson, rician and correlated and sigma-map: the
 * outputs, what stats tell, and what is refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/check/gstharness.h>
#include <math.h>
#include <stdio.h>

#define SIZE 16
#define SAMPLES (SIZE * SIZE * SIZE)
#define VOLUMES 6
#define DURATION (100 * GST_MSECOND)

static gdouble
truth (gsize i)
{
  return 40 + 9. * (i % SIZE) + (i / SIZE % SIZE > 7 ? 60 : 0);
}

/* Noise with a variance of 4 times the value. */
static GstBuffer *
new_volume (GRand *rand, guint number)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, SAMPLES * sizeof (guint16), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < SAMPLES; i++) {
    gdouble noise = -6;

    for (guint k = 0; k < 12; k++)
      noise += g_rand_double (rand);
    ((guint16 *) map.data)[i] =
        rint (MAX (truth (i) + sqrt (4 * truth (i)) * noise, 0));
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static gdouble
get_stat (GstHarness *h, const gchar *name)
{
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddenoise");
  g_autoptr (GstStructure) stats = NULL;
  gdouble value = -1;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, name, &value), "%s", name);
  return value;
}

/* The root mean square error of the output. */
static gdouble
pull_error (GstHarness *h)
{
  g_autoptr (GstBuffer) buffer = gst_harness_pull (h);
  GstMapInfo map;
  gdouble sum = 0;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < SAMPLES; i++)
    sum += pow (((guint16 *) map.data)[i] - truth (i), 2);
  gst_buffer_unmap (buffer, &map);
  return sqrt (sum / SAMPLES);
}

/* Where nothing but one sigma is found, stats has no certainty. */
GST_START_TEST (test_no_certainty)
{
  static const gchar *const launches[] = { "nddenoise latency=0",
    "nddenoise sigma=9 latency=0", "nddenoise noise=speckle latency=0",
    "nddenoise method=adaptive latency=0" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  GstHarness *h = gst_harness_new_parse (launches[__i__]);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddenoise");
  g_autoptr (GstStructure) stats = NULL;

  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=uint16,"
      "dimensions=1:16:16:16,framerate=10/1");
  fail_unless_equals_int (gst_harness_push (h, new_volume (rand, 0)),
      GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_buffer_unref (gst_harness_pull (h));
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (get_stat (h, "sigma") > 0);
  fail_if (gst_structure_has_field (stats, "certainty"));
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_kinds)
{
  static const gchar *const launches[] = { "nddenoise noise=poisson",
    "nddenoise noise=poisson gain=4 latency=1", "nddenoise noise=rician",
    "nddenoise noise=rician sigma=22 latency=1", "nddenoise sigma-map=auto",
    "nddenoise noise=correlated" };
  const gchar *launch = launches[__i__];
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  GstHarness *h = gst_harness_new_parse (launch);
  const gboolean is_poisson = strstr (launch, "poisson") != NULL;
  const gboolean is_given = strstr (launch, "latency=1") != NULL;

  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=uint16,"
      "dimensions=1:16:16:16,framerate=10/1");
  for (guint t = 0; t < VOLUMES; t++)
    fail_unless_equals_int (gst_harness_push (h, new_volume (rand, t)),
        GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h),
      VOLUMES - (is_given ? 1 : 3));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 0; t < VOLUMES; t++) {
    /* It was about 22. */
    const gdouble error = pull_error (h);

    fail_unless (error < 10, "%g", error);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_unless (get_stat (h, "certainty") > .6);
  fail_unless (get_stat (h, "certainty") <= 1);
  if (is_poisson) {
    const gdouble gain = get_stat (h, "gain");

    fail_unless (fabs (gain - 4) < (is_given ? 1e-9 : .8), "%g", gain);
    fail_unless (fabs (get_stat (h, "variance-of-zero")) < 150);
  } else if (is_given) {
    fail_unless_equals_float (get_stat (h, "sigma"), 22);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A .npy file of @n x 16 x 16 float64. */
static gchar *
write_map (const gchar *folder, guint n, gdouble value)
{
  gchar *path = g_build_filename (folder, "a \"map\".npy", NULL);
  g_autofree gchar *header = g_strdup_printf (
      "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, 16, 16), }", n);
  FILE *file = fopen (path, "wb");
  const guint8 start[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0 };

  fail_unless (file != NULL);
  fwrite (start, 1, sizeof (start), file);
  fprintf (file, "%-117s\n", header);
  for (guint i = 0; i < n * 256; i++)
    fwrite (&value, 8, 1, file);
  fclose (file);
  return path;
}

/* Refused with @words if they are not NULL; otherwise sigma is 22. */
static void
check_map (guint n, gdouble value, const gchar *words)
{
  g_autofree gchar *folder = g_dir_make_tmp (NULL, NULL);
  g_autofree gchar *path = write_map (folder, n, value);
  GstElement *pipeline =
      launch ("ndtestsrc pattern=noise num-buffers=4 volume-size=16:16:16 ! "
              "nddenoise name=denoise ! fakesink");
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), "denoise");

  g_object_set (element, "sigma-map", path, NULL);
  if (words) {
    /* The source complains, too, that it cannot go on. */
    run_refused (pipeline, 2, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        words);
  } else {
    g_auto (Outcome) outcome = { 0 };
    g_autoptr (GstStructure) stats = NULL;
    gdouble sigma, certainty;

    run_pipeline (pipeline, &outcome);
    fail_unless_equals_int (outcome.n_errors, 0);
    g_object_get (element, "stats", &stats, NULL);
    gst_structure_get (stats, "sigma", G_TYPE_DOUBLE, &sigma, "certainty",
        G_TYPE_DOUBLE, &certainty, NULL);
    fail_unless (fabs (sigma - 22) < 1e-9, "%g", sigma);
    fail_unless_equals_float (certainty, 1);
    gst_object_unref (pipeline);
  }
  fail_unless (remove (path) == 0 && remove (folder) == 0);
}

GST_START_TEST (test_map)
{
  check_map (16, 22, NULL);
  check_map (12, 22, "has 16:16:12 samples");
  check_map (16, 0, "use values above 0");
  check_map (16, 1e-40, "use values above 0");
  check_map (16, 1e30, "use values above 0");
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const gchar *const settings[] = { "border=constant",
    "time-border=constant" };

  run_refused (launch ("ndtestsrc num-buffers=2 volume-size=8:8:8 ! nddenoise "
                       "noise=poisson sigma-map=auto ! fakesink"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "sigma-map is for noise=additive");
  run_refused (launch ("ndtestsrc num-buffers=2 volume-size=8:8:8 ! nddenoise "
                       "noise=correlated method=adaptive ! fakesink"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "noise=correlated needs");

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *text = g_strdup_printf (
        "ndtestsrc num-buffers=2 volume-size=8:8:8 ! nddenoise noise=%s %s ! "
        "fakesink",
        i ? "rician" : "poisson", settings[i]);

    run_refused (launch (text), 1, GST_LIBRARY_ERROR,
        GST_LIBRARY_ERROR_SETTINGS, "constant border");
  }
}
GST_END_TEST;

static Suite *
noise_suite (void)
{
  Suite *suite = suite_create ("nddenoise noise");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_kinds, 0, 6);
  tcase_add_loop_test (tests, test_no_certainty, 0, 4);
  tcase_add_test (tests, test_map);
  tcase_add_test (tests, test_errors);
  return suite;
}

GST_CHECK_MAIN (noise);
