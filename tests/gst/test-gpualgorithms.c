/* nddenoise and ndstructure on a device: the output equals that of the CPU, in
 * host memory and over links on the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <string.h>

#define SINK " ! appsink name=sink sync=false"
/* Rounded equally everywhere. */
#define BLUR                                                            \
  "ndconv3d method=direct gain=0.125 filter=\"coefficients,size=2:2:2," \
  "values=<1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0>\" backend=BACKEND "
#define TENSOR                                                  \
  "ndconv4dtemporal filter=\"monomial-bank,size=3,order=2.0\" " \
  "response=tensor backend=cpu "

/* A slow tool sees the same accesses with smaller volumes, and with a third of
 * the settings of the tests that try most of them. */
static gboolean
is_slow (void)
{
  return g_getenv ("ND_JOBS_DIVISOR") != NULL;
}

static guint
next (guint setting)
{
  return setting + (is_slow () ? 3 : 1);
}

static gchar *
source_new (guint n, const gchar *type)
{
  return g_strdup_printf ("ndtestsrc num-buffers=%u seed=3 noise=12 "
                          "volume-size=%s type=%s",
      n, is_slow () ? "13:10:9" : "21:16:11", type);
}

static void
compare_denoise (guint n, const gchar *type, const gchar *settings)
{
  g_autofree gchar *source = source_new (n, type);
  g_autofree gchar *text =
      g_strdup_printf ("%s ! nddenoise %s backend=BACKEND" SINK, source,
          settings);

  gpu_compare (text, type[0] == 'f' ? .01 : 1);
}

GST_START_TEST (test_denoise)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32" };
  static const gchar *const settings[] = { "sigma=12", "latency=0", "latency=2",
    "latency=5", "border=constant border-value=40", "border=wrap",
    "border=reflect time-border=nearest", "time-border=constant", "strength=0",
    "strength=1.5", "quality=best", "quality=best latency=0",
    "quality=best latency=5 time-border=reflect", "motion=true",
    "motion=true latency=1 border=constant" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    compare_denoise (9, types[i], "");
  for (guint i = 0; i < G_N_ELEMENTS (settings); i = next (i))
    compare_denoise (7, "uint8", settings[i]);
  /* Shorter than the latency. */
  for (guint n = 1; n < 6; n++)
    compare_denoise (n, "uint8", n % 2 ? "" : "motion=true");
  /* Blocks of 8 volumes. */
  compare_denoise (14, "uint8", "quality=best latency=5");
  /* Frames, and volumes smaller than a block. */
  gpu_compare ("ndtestsrc num-buffers=6 noise=9 volume-size=40:30:1 ! "
               "nddenoise backend=BACKEND" SINK,
      1);
  gpu_compare ("ndtestsrc num-buffers=6 noise=9 volume-size=40:30:1 ! "
               "nddenoise motion=true backend=BACKEND" SINK,
      1);
  gpu_compare ("ndtestsrc num-buffers=6 noise=9 volume-size=3:5:2 ! "
               "nddenoise backend=BACKEND" SINK,
      1);
  gpu_compare ("videotestsrc num-buffers=6 pattern=ball ! "
               "video/x-raw,format=RGBA,width=40,height=30 ! "
               "nddenoise sigma=5 backend=BACKEND" SINK,
      1);
  gpu_compare ("videotestsrc num-buffers=6 pattern=ball ! "
               "video/x-raw,format=I420,width=42,height=30 ! "
               "nddenoise sigma=5 backend=BACKEND" SINK,
      1);
}
GST_END_TEST;

/* backend=auto uses the device. */
static void
expect_on_device (const gchar *settings)
{
  g_autofree gchar *text = g_strdup_printf (
      "ndtestsrc num-buffers=60 volume-size=16:16:16 noise=9 ! "
      "nddenoise name=a %s backend=auto" SINK,
      settings);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) a = NULL;
  g_autoptr (GstStructure) stats = NULL;

  gst_object_ref_sink (pipeline);
  gpu_pause (pipeline);
  a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  g_object_get (a, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      "cuda");
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

GST_START_TEST (test_adaptive)
{
  static const gchar *const settings[] = { "", "sigma=12", "sigma=12 latency=0",
    "sigma=12 axes=space", "sigma=12 border=constant border-value=40",
    "sigma=12 border=nearest time-border=constant", "strength=0",
    "sigma=12 strength=1.5 m-alpha=0.2 m-j=2.0 mu-j=1.5" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i = next (i)) {
    g_autofree gchar *with =
        g_strdup_printf ("method=adaptive %s", settings[i]);

    compare_denoise (7, i % 2 ? "uint8" : "float32", with);
  }
  gpu_compare ("videotestsrc num-buffers=6 pattern=ball ! "
               "video/x-raw,format=RGBA,width=40,height=30 ! "
               "nddenoise method=adaptive sigma=5 backend=BACKEND" SINK,
      1);
  expect_on_device ("method=adaptive");
}
GST_END_TEST;

/* A coefficient next to the threshold can change float32 by a part of the
 * noise. */
GST_START_TEST (test_speckle)
{
  static const gchar *const settings[] = { "", "latency=0", "latency=3",
    "border=constant border-value=40 time-border=constant", "border=wrap",
    "border=reflect time-border=nearest", "strength=0", "strength=1.5" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i = next (i)) {
    g_autofree gchar *source = source_new (5, i % 2 ? "uint8" : "float32");
    g_autofree gchar *text =
        g_strdup_printf ("%s ! nddenoise noise=speckle %s backend=BACKEND" SINK,
            source, settings[i]);

    gpu_compare (text, 1);
  }
  /* Shorter than the latency, a heart with its sector, frames of colours. */
  compare_denoise (1, "uint8", "noise=speckle");
  gpu_compare ("ndtestsrc pattern=heart num-buffers=4 noise=6 "
               "volume-size=24:20:28 ! "
               "nddenoise noise=speckle backend=BACKEND" SINK,
      1);
  gpu_compare ("videotestsrc num-buffers=6 pattern=ball ! "
               "video/x-raw,format=RGBA,width=40,height=30 ! "
               "nddenoise noise=speckle backend=BACKEND" SINK,
      1);
  expect_on_device ("noise=speckle");
}
GST_END_TEST;

/* With smaller windows some velocities change by 1e-2 if the input changes by a
 * rounding of float. */
GST_START_TEST (test_structure)
{
  static const gchar *const settings[] = { "", "model=affine sigma=1.5",
    "output=eigenvalues;certainty;anisotropy sigma=0",
    "output=tensor;orientation;velocity sigma=1.5" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *source = source_new (8, "float32");
    g_autofree gchar *text =
        g_strdup_printf ("%s ! " TENSOR "! ndstructure %s backend=BACKEND" SINK,
            source, settings[i]);

    gpu_compare (text, 1e-2);
  }
}
GST_END_TEST;

/* A bank's responses become a tensor, or a number with a threshold. The gain
 * makes the largest component about 1. */
GST_START_TEST (test_responses)
{
  static const gchar *const filters[] = {
    "ndconv2d filter=\"monomial-bank,size=5\" response=tensor gain=1e-8",
    "ndconv3d filter=\"monomial-bank,size=3\" response=tensor gain=1e-8",
    "ndconv4dtemporal filter=\"monomial-bank,size=3,order=2.0\" "
    "response=tensor gain=1e-8",
    "ndconv2d filter=\"quadrature-bank,size=7\" response=tensor gain=1e-4",
    "ndconv3d filter=\"quadrature-bank,size=5\" response=tensor gain=1e-4",
    "ndconv3d filter=\"monomial-bank,size=3\" response=argmax threshold=4",
  };
  /* The double compares with no threshold. */
  const guint n = G_N_ELEMENTS (filters) - (gpu_is_double () ? 1 : 0);

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *source = source_new (5, "int16");
    g_autofree gchar *text =
        g_strdup_printf ("%s ! %s method=direct backend=BACKEND" SINK, source,
            filters[i]);

    gpu_compare (text, 1e-5);
  }
}
GST_END_TEST;

/* Volumes cross the bus once in and once out. */
GST_START_TEST (test_links_on_the_device)
{
  g_autofree gchar *source = source_new (12, "uint8");
  g_autofree gchar *text = g_strdup_printf (
      "%s ! " BLUR "name=a ! nddenoise sigma=10 backend=BACKEND name=b ! queue "
      "! " BLUR "name=c" SINK,
      source);
  g_autofree gchar *gpu = gpu_text (text, "cuda");
  g_autoptr (GstElement) pipeline = gst_parse_launch (gpu, NULL);
  g_autoptr (GstElement) b = NULL;
  g_autoptr (GstStructure) stats = NULL;

  gpu_compare (text, 1);
  gst_object_ref_sink (pipeline);
  gpu_pause (pipeline);
  gpu_expect_device (pipeline, "a", "src");
  gpu_expect_device (pipeline, "b", "sink");
  gpu_expect_device (pipeline, "b", "src");
  gpu_expect_device (pipeline, "c", "sink");
  b = gst_bin_get_by_name (GST_BIN (pipeline), "b");
  g_object_get (b, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      "cuda");
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
GST_END_TEST;

/* Memory of the device goes to an algorithm of the CPU, and the other way
 * round. */
GST_START_TEST (test_mixed_back_ends)
{
  g_autofree gchar *source = source_new (9, "uint8");
  g_autofree gchar *first =
      g_strdup_printf ("%s ! " BLUR
                       "! nddenoise sigma=10 backend=cpu ! " BLUR SINK,
          source);
  g_autofree gchar *second =
      g_strdup_printf ("%s ! " BLUR "! nddenoise sigma=10 ! " BLUR SINK,
          source);
  g_autofree gchar *third =
      g_strdup_printf ("%s ! nddenoise sigma=10 backend=BACKEND ! ndview" SINK,
          source);

  gpu_compare (first, 1);
  gpu_compare (second, 1);
  gpu_compare (third, 1);
}
GST_END_TEST;

/* Changes while playing, and seeks. */
GST_START_TEST (test_changes)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "ndtestsrc num-buffers=60 volume-size=16:16:16 noise=9 ! nddenoise "
      "name=a backend=cuda" SINK,
      NULL);
  g_autoptr (GstElement) a = NULL;
  g_autoptr (GPtrArray) samples = NULL;

  gst_object_ref_sink (pipeline);
  a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  gpu_pause (pipeline);
  g_object_set (a, "strength", 1.5, NULL);
  fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 0));
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              300 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  g_object_set (a, "latency", 1, "sigma", 9.0, NULL);
  samples = gpu_collect (pipeline);
  fail_unless (samples->len > 0);
}
GST_END_TEST;

/* No memory of the device remains. */
GST_START_TEST (test_memory)
{
  gsize before;

  compare_denoise (5, "uint8", "sigma=10");
  before = gpu_free_bytes ();
  for (guint i = 0; i < 3; i++)
    compare_denoise (5, "uint8", "sigma=10");
  fail_unless (gpu_wait_for_bytes (before - (8 << 20)) + (8 << 20) >= before);
}
GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu algorithms");
  TCase *tc = tcase_create ("algorithms");

  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_denoise);
  tcase_add_test (tc, test_adaptive);
  tcase_add_test (tc, test_speckle);
  tcase_add_test (tc, test_structure);
  tcase_add_test (tc, test_responses);
  tcase_add_test (tc, test_links_on_the_device);
  tcase_add_test (tc, test_mixed_back_ends);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_memory);
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main (argc, argv, gpu_suite);
}
