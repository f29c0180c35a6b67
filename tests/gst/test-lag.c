/* The time and content of the outputs of causal filters: an impulse comes out
 * later by the lag in stats, and with stamp=content with the time that it had.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <math.h>

#define CAPS                                                                \
  "other/tensors,format=static,num_tensors=1,framerate=10/1,types=float32," \
  "dimensions=(string)1:2:1:1"
#define INTERVAL (GST_SECOND / 10)
#define VOLUMES 30
#define IMPULSE 10

typedef struct
{
  const gchar *properties;
  gdouble lag;  /* volumes, of stats */
  gdouble peak; /* the output with the largest sample, from IMPULSE on */
  guint delay;  /* volumes that the first output waits for */
} Case;

static const Case cases[] = {
  { "filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", 0, 0, 4 },
  { "causal=true filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", 4, 4, 0 },
  { "causal=true filter=box,size=1:1:1:4", 1.5, NAN, 0 },
  { "origin=0:0:0:1 filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", -1, -1, 5 },
  { "filter=exponential,tau=2,size=200", 1.541494, 0, 0 },
  { "filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9,lag=2", 2, 2, 0 },
  { "filter=\"box,size=1; gaussian,sigma=0:0:0:1,size=1:1:1:5\" causal=true "
    "response=max",
      2, 0, 0 },
};

static GstHarness *
start (const gchar *properties)
{
  g_autofree gchar *text = g_strdup_printf ("ndconv4dtemporal %s", properties);
  GstHarness *h = gst_harness_new_parse (text);

  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static GstElement *
element_of (GstHarness *h)
{
  return gst_harness_find_element (h, "ndconv4dtemporal");
}

static void
push (GstHarness *h, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2 * sizeof (gfloat), NULL);
  const gfloat samples[2] = { n == IMPULSE, n == IMPULSE };

  gst_buffer_fill (buffer, 0, samples, sizeof (samples));
  GST_BUFFER_PTS (buffer) = n * INTERVAL;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static gdouble
stat_lag (GstHarness *h)
{
  g_autoptr (GstElement) element = element_of (h);
  g_autoptr (GstStructure) stats = NULL;
  gdouble lag = NAN;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "lag", &lag));
  return lag;
}

static GstClockTime
latency (GstHarness *h)
{
  return gst_harness_query_latency (h);
}

/* Sends all volumes and returns the number of the output with the largest
 * sample; its timestamp goes to @pts. */
static guint
find_peak (GstHarness *h, GstClockTime *pts)
{
  gfloat largest = -1;
  guint peak = 0;

  for (guint n = 0; n < VOLUMES; n++)
    push (h, n);
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < VOLUMES; n++) {
    g_autoptr (GstBuffer) output = gst_harness_try_pull (h);
    gfloat sample;

    fail_unless (output != NULL, "output %u", n);
    gst_buffer_extract (output, 0, &sample, sizeof (sample));
    if (sample > largest) {
      largest = sample;
      peak = n;
      *pts = GST_BUFFER_PTS (output);
    }
  }
  fail_unless (gst_harness_try_pull (h) == NULL);
  return peak;
}

GST_START_TEST (test_lag)
{
  const Case *c = &cases[__i__];
  GstHarness *h = start (c->properties);
  GstClockTime pts = 0;
  guint peak;

  push (h, 0);
  fail_unless (fabs (stat_lag (h) - c->lag) < 0.05, "lag %g", stat_lag (h));
  fail_unless_equals_uint64 (latency (h) / INTERVAL, c->delay);
  gst_harness_teardown (h);

  h = start (c->properties);
  peak = find_peak (h, &pts);
  fail_unless_equals_uint64 (pts, peak * INTERVAL);
  if (!isnan (c->peak))
    fail_unless_equals_int (peak, IMPULSE + (gint) c->peak);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The impulse has its own time again, and a sink waits for it accordingly. */
GST_START_TEST (test_content)
{
  static const struct
  {
    const gchar *properties;
    gdouble lag;
  } whole[] = {
    { "causal=true filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", 4 },
    { "filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", 0 },
    { "origin=0:0:0:1 filter=gaussian,sigma=0:0:0:1.0,size=1:1:1:9", -1 },
  };
  g_autofree gchar *properties =
      g_strdup_printf ("%s stamp=content", whole[__i__].properties);
  GstHarness *h = start (properties);
  GstClockTime pts = 0;

  find_peak (h, &pts);
  fail_unless_equals_uint64 (pts, IMPULSE * INTERVAL);
  gst_harness_teardown (h);

  h = start (properties);
  push (h, 0);
  fail_unless_equals_uint64 (latency (h) / INTERVAL, 4);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Each output keeps its place, none is before the segment, and all come. */
GST_START_TEST (test_begin)
{
  GstHarness *h = start (
      "causal=true filter=box,size=1:1:1:7 stamp=content time-border=nearest");

  for (guint n = 0; n < 8; n++)
    push (h, n);
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 8; n++) {
    g_autoptr (GstBuffer) output = gst_harness_try_pull (h);

    fail_unless (output != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (output),
        n > 3 ? (n - 3) * INTERVAL : 0);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* While playing, the other stamp holds from the next output on. */
GST_START_TEST (test_change)
{
  GstHarness *h = start ("causal=true filter=box,size=1:1:1:5");
  g_autoptr (GstElement) element = element_of (h);

  for (guint n = 0; n < 10; n++) {
    g_autoptr (GstBuffer) output = NULL;

    if (n == 6)
      gst_util_set_object_arg (G_OBJECT (element), "stamp", "content");
    push (h, n);
    output = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (output),
        n < 6 ? n * INTERVAL : (n - 2) * INTERVAL);
  }
  fail_unless_equals_uint64 (latency (h) / INTERVAL, 2);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
lag_suite (void)
{
  Suite *s = suite_create ("lag");
  TCase *tc = tcase_create ("lag");

  tcase_add_loop_test (tc, test_lag, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_content, 0, 3);
  tcase_add_test (tc, test_begin);
  tcase_add_test (tc, test_change);
  suite_add_tcase (s, tc);
  return s;
}

GST_CHECK_MAIN (lag);
