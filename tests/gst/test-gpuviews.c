/* ndview on a device: the pictures of volumes there equal those of the CPU, and
 * the device draws them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/gpu.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE \
  "ndtestsrc num-buffers=3 seed=3 noise=2 volume-size=26:24:21 type=%s ! "
/* Rounded equally everywhere. */
#define BLUR                                                            \
  "ndconv3d method=direct gain=0.125 filter=\"coefficients,size=2:2:2," \
  "values=<1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0>\" "
#define BANK                                                     \
  "ndconv3d method=direct backend=cuda output-type=float32 "     \
  "filter=\"coefficients,size=1:1:1,values=<1.0>; coefficients," \
  "size=1:1:1,values=<2.0>; coefficients,size=1:1:1,values=<0.5>\" ! "
#define VIEW "ndview name=view size=72:64 window=200 level=100 "
#define SINK " ! appsink name=sink sync=false"

/* Numbers of a picture by rays that may differ, because a rounding decides at
 * edges. */
#define EDGES 9

/* What views say in the log. */
static GMutex lock;
static GString *said;

static void
listen (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer data)
{
  if (strcmp (gst_debug_category_get_name (category), "ndview") != 0)
    return;
  g_mutex_lock (&lock);
  g_string_append (said, gst_debug_message_get (message));
  g_string_append_c (said, '\n');
  g_mutex_unlock (&lock);
}

static GPtrArray *
run (const gchar *pipeline)
{
  g_mutex_lock (&lock);
  g_string_truncate (said, 0);
  g_mutex_unlock (&lock);
  return gpu_run (pipeline);
}

static gboolean
has_said (const gchar *text)
{
  gboolean has;

  g_mutex_lock (&lock);
  has = strstr (said->str, text) != NULL;
  g_mutex_unlock (&lock);
  return has;
}

/* At most @most numbers of a picture may differ by more than 1. */
static void
expect_pictures (const gchar *what, GPtrArray *a, GPtrArray *b, gsize most)
{
  fail_unless_equals_int (a->len, b->len);
  fail_unless (a->len > 0);
  for (guint i = 0; i < a->len; i++) {
    GstBuffer *x = gst_sample_get_buffer (a->pdata[i]);
    GstBuffer *y = gst_sample_get_buffer (b->pdata[i]);
    GstMapInfo p, q;
    gsize bad = 0;

    fail_unless_equals_uint64 (GST_BUFFER_PTS (x), GST_BUFFER_PTS (y));
    fail_unless (gst_buffer_map (x, &p, GST_MAP_READ));
    fail_unless (gst_buffer_map (y, &q, GST_MAP_READ));
    fail_unless_equals_uint64 (p.size, q.size);
    for (gsize k = 0; k < p.size; k++)
      bad += abs (p.data[k] - q.data[k]) > 1;
    fail_unless (bad <= most,
        "%s: %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
        " numbers of picture %u differ",
        what, bad, p.size, i);
    gst_buffer_unmap (x, &p);
    gst_buffer_unmap (y, &q);
  }
}

static const struct
{
  const gchar *properties;
  gsize most;
} views[] = {
  { "mode=slice colormap=hot position=0.4", 0 },
  { "mode=slice pointer-x=30 pointer-y=30 show-number=true", 0 },
  { "mode=orthogonal cross-hair=true labels=true pointer-x=12 pointer-y=9", 0 },
  { "mode=mosaic slices=6 axis=y", 0 },
  { "mode=projection azimuth=30 elevation=20 zoom=1.3", EDGES },
  { "mode=projection projection=mean axis=x scale-bar=true", EDGES },
  { "mode=projection projection=min perspective=40 colormap=viridis", EDGES },
  { "mode=volume azimuth=25 elevation=-15 zoom=1.4 perspective=30", EDGES },
  { "mode=volume opacity=\"0.2:0,1:0.3\" colormap=bone background=0x405060",
      EDGES },
  { "mode=surface azimuth=-40 isovalue-auto=false isovalue=90", EDGES },
  { "mode=mmode axis=x history=9", 0 },
  { "mode=mmode axis=z history=5 colormap=hot", 0 },
};

static const struct
{
  const gchar *properties;
  gsize most;
} pairs[] = {
  { "mode=compare", 0 },
  { "mode=compare split=-1 content=projection azimuth=20", EDGES },
  { "mode=compare split=-1 content=orthogonal labels=true cross-hair=true "
    "scale-bar=true",
      0 },
  { "mode=overlay overlay-colormap=signed pointer-x=20 pointer-y=20", 0 },
  { "mode=overlay content=projection azimuth=30 overlay-window=100", EDGES },
};

/* Volumes in device memory, which the CPU draws after a download. */
GST_START_TEST (test_views)
{
  static const gchar *const types[] = { "uint8", "int16", "uint16", "float32" };

  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    g_autofree gchar *format = g_strdup_printf (SOURCE BLUR
        "backend=cuda ! " VIEW "%s backend=BACKEND" SINK,
        types[i % 4], views[i].properties);
    g_autofree gchar *device = gpu_text (format, "auto");
    g_autofree gchar *host = gpu_text (format, "cpu");
    g_autoptr (GPtrArray) a = run (device), b = NULL;

    fail_unless (has_said ("draws on cuda"), "%s", device);
    b = run (host);
    fail_unless (has_said ("draws on the CPU"), "%s", host);
    expect_pictures (views[i].properties, a, b, views[i].most);
    fail_unless (gpu_is_left ());
  }
}
GST_END_TEST;

/* @features: of the caps of the second input. */
static gchar *
pair_text (guint pair, const gchar *features, const gchar *backend)
{
  return g_strdup_printf (SOURCE BLUR
      "backend=cuda ! tee name=t ! queue ! " VIEW "%s backend=%s" SINK
      " t. ! queue ! ndconv3d method=direct "
      "filter=box,size=3 backend=cuda ! other/tensors%s ! view.second",
      "uint8", pairs[pair].properties, backend, features);
}

/* The second volume is in memory of the device too, or in host memory. */
GST_START_TEST (test_two_volumes)
{
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autofree gchar *device = pair_text (i, "(memory:CUDAMemory)", "auto");
    g_autofree gchar *mixed = pair_text (i, "", "auto");
    g_autofree gchar *host = pair_text (i, "", "cpu");
    g_autoptr (GPtrArray) a = NULL, b = NULL, c = run (host);

    fail_unless (has_said ("draws on the CPU"), "%s", host);
    a = run (device);
    fail_unless (has_said ("draws on cuda"), "%s", device);
    b = run (mixed);
    fail_unless (has_said ("draws on cuda"), "%s", mixed);
    expect_pictures (pairs[i].properties, a, c, pairs[i].most);
    expect_pictures (pairs[i].properties, b, c, pairs[i].most);
  }
}
GST_END_TEST;

/* backend=cuda draws scenes of volumes in host memory; plain pictures are left
 * to the CPU. */
GST_START_TEST (test_host_volumes)
{
  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    g_autofree gchar *format =
        g_strdup_printf (SOURCE VIEW "%s backend=BACKEND" SINK, "uint16",
            views[i].properties);
    g_autofree gchar *device = gpu_text (format, "cuda");
    g_autofree gchar *host = gpu_text (format, "auto");
    g_autoptr (GPtrArray) a = run (device), b = NULL;

    fail_unless (has_said ("draws on cuda"), "%s", device);
    b = run (host);
    fail_unless (has_said ("draws on the CPU"), "%s", host);
    expect_pictures (views[i].properties, a, b, views[i].most);
  }
  {
    g_autofree gchar *plain =
        g_strdup_printf (SOURCE "ndview backend=cuda" SINK, "uint8");
    g_autoptr (GPtrArray) a = run (plain);

    fail_unless (has_said ("draws on the CPU"));
  }
}
GST_END_TEST;

/* Each response of a bank begins somewhere in the memory. */
GST_START_TEST (test_responses)
{
  for (guint response = 0; response < 3; response++) {
    g_autofree gchar *format = g_strdup_printf (SOURCE BANK VIEW
        "mode=volume azimuth=20 response=%u pointer-x=3 backend=BACKEND" SINK,
        "uint8", response);
    g_autofree gchar *device = gpu_text (format, "auto");
    g_autofree gchar *host = gpu_text (format, "cpu");
    g_autoptr (GPtrArray) a = run (device), b = run (host);

    expect_pictures (format, a, b, EDGES);
  }
}
GST_END_TEST;

/* If the device has too little memory, the CPU draws, and the log says why. */
GST_START_TEST (test_no_memory)
{
  g_autofree gchar *format = g_strdup_printf (SOURCE BLUR
      "backend=cuda ! " VIEW "mode=volume backend=BACKEND" SINK,
      "uint8");
  g_autofree gchar *device = gpu_text (format, "auto");
  g_autofree gchar *host = gpu_text (format, "cpu");
  g_autofree gchar *forced = gpu_text (format, "cuda");
  g_autoptr (GPtrArray) a = NULL, b = run (host);
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  if (!gpu_is_double ())
    return;
  gpu_refuse_scenes (TRUE);
  a = run (device);
  fail_unless (has_said ("the CPU draws, because cuda cannot: No memory"));
  fail_unless (has_said ("draws on the CPU"));
  expect_pictures (device, a, b, 0);

  /* With backend=cuda it is an error. */
  pipeline = gst_object_ref_sink (gst_parse_launch (forced, NULL));
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gpu_refuse_scenes (FALSE);
}
GST_END_TEST;

/* No memory of the device remains. */
GST_START_TEST (test_memory)
{
  g_autofree gchar *text =
      g_strdup_printf (SOURCE BLUR "backend=cuda ! " VIEW "mode=volume" SINK,
          "uint8");
  g_autoptr (GPtrArray) first = run (text);
  const gsize before = gpu_free_bytes ();

  for (guint i = 0; i < 3; i++) {
    g_autoptr (GPtrArray) again = run (text);

    expect_pictures (text, again, first, 0);
  }
  fail_unless (gpu_free_bytes () + (8 << 20) >= before);
}
GST_END_TEST;

static Suite *
gpu_suite (void)
{
  Suite *s = suite_create ("gpu views");
  TCase *tc = tcase_create ("views");

  said = g_string_new (NULL);
  gst_debug_set_threshold_from_string ("ndview:INFO", FALSE);
  gst_debug_add_log_function (listen, NULL, NULL);
  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_views);
  tcase_add_test (tc, test_two_volumes);
  tcase_add_test (tc, test_host_volumes);
  tcase_add_test (tc, test_responses);
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_memory);
  suite_add_tcase (s, tc);
  return s;
}

int
main (int argc, char **argv)
{
  return gpu_main (argc, argv, gpu_suite);
}
