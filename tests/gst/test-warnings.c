/* Warnings that are posted once, because the stream goes on and looks right:
 * samples that do not fit in their type, a live stream whose delay nobody
 * knows. And labels of samples at which no filter of a bank responds.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#include <math.h>

#define CAPS                                                              \
  "other/tensors,format=static,num_tensors=1,framerate=%s,types=float32," \
  "dimensions=(string)1:%u:1:1"
#define SAMPLES 5000

typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstHarness *h;
} Filter;

static Filter
start (const gchar *properties, const gchar *rate, guint samples)
{
  g_autofree gchar *text =
      g_strdup_printf ("ndconv4dtemporal name=filter %s", properties);
  g_autofree gchar *caps = g_strdup_printf (CAPS, rate, samples);
  GstElement *bin = gst_parse_bin_from_description (text, TRUE, NULL);
  Filter f = { .bus = gst_bus_new () };

  f.element = gst_bin_get_by_name (GST_BIN (bin), "filter");
  gst_element_set_bus (bin, f.bus);
  f.h = gst_harness_new_with_element (bin, "sink", "src");
  gst_harness_set_src_caps_str (f.h, caps);
  gst_object_unref (bin);
  return f;
}

static void
stop (Filter *f)
{
  gst_bus_set_flushing (f->bus, TRUE); /* messages refer to elements */
  gst_object_unref (f->element);
  gst_harness_teardown (f->h);
  gst_object_unref (f->bus);
}

static void
push (Filter *f, const gfloat *samples, guint n)
{
  GstBuffer *buffer = gst_buffer_new_memdup (samples, n * sizeof (gfloat));

  fail_unless_equals_int (gst_harness_push (f->h, buffer), GST_FLOW_OK);
}

/* The warnings so far, and the text of the last one. */
static guint
warnings (Filter *f, gchar **text)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (f->bus, GST_MESSAGE_WARNING))) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    g_free (*text);
    *text = g_strdup (error->message);
    n++;
    gst_message_unref (message);
  }
  return n;
}

/* -1 if stats does not count. */
static gint64
saturated (Filter *f)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 n;

  g_object_get (f->element, "stats", &stats, NULL);
  return gst_structure_get_uint64 (stats, "samples-saturated", &n) ? (gint64) n
                                                                   : -1;
}

static const struct
{
  const gchar *type;
  gdouble low, high;
} types[] = {
  { "uint8", 0, 255 },
  { "int16", -32768, 32767 },
  { "uint16", 0, 65535 },
};

static const gchar *const filters[] = {
  "filter=box,size=1 backend=cpu method=direct",
  "filter=box,size=1 backend=cpu method=separable",
  "filter=box,size=1 backend=cpu method=fft",
  "filter=box,size=1 backend=cpu method=reference",
  "filter=\"box,size=1;box,size=1\" backend=cpu response=max",
};

/* Samples well below, at and above both ends. */
GST_START_TEST (test_saturated)
{
  g_autoptr (GRand) r = test_rand ();
  g_autofree gfloat *samples = g_new (gfloat, SAMPLES);

  for (guint t = 0; t < G_N_ELEMENTS (types); t++) {
    g_autofree gchar *properties =
        g_strdup_printf ("%s output-type=%s", filters[__i__], types[t].type);
    const gboolean magnitudes = strstr (properties, "max") != NULL;
    Filter f = start (properties, "10/1", SAMPLES);
    g_autofree gchar *text = NULL;
    gint64 want = 0;

    for (guint i = 0; i < SAMPLES; i++) {
      const gdouble ends[] = { types[t].low - 2, types[t].low, types[t].high,
        types[t].high + 2 };
      gdouble value = ends[g_rand_int_range (r, 0, 4)];

      samples[i] = value;
      value = magnitudes ? fabs (value) : value;
      want += value < types[t].low || value > types[t].high;
    }
    push (&f, samples, SAMPLES);
    push (&f, samples, SAMPLES);
    fail_unless_equals_int64 (saturated (&f), 2 * want);
    fail_unless_equals_int (warnings (&f, &text), 1);
    fail_unless (strstr (text, types[t].type) != NULL, "%s", text);
    stop (&f);
  }
}

GST_END_TEST;

/* 0.1 % are still silent; a float holds all; NaN becomes 0 without notice. */
GST_START_TEST (test_few)
{
  g_autofree gfloat *samples = g_new0 (gfloat, SAMPLES);
  g_autofree gchar *text = NULL;
  Filter f = start ("filter=box,size=1 output-type=uint8 backend=cpu "
                    "method=direct",
      "10/1", SAMPLES);

  for (guint i = 0; i < SAMPLES / 1000; i++)
    samples[7 * i] = 300;
  samples[3] = NAN;
  push (&f, samples, SAMPLES);
  fail_unless_equals_int64 (saturated (&f), SAMPLES / 1000);
  fail_unless_equals_int (warnings (&f, &text), 0);
  samples[6] = -1;
  push (&f, samples, SAMPLES);
  fail_unless_equals_int (warnings (&f, &text), 1);
  push (&f, samples, SAMPLES);
  fail_unless_equals_int (warnings (&f, &text), 0);
  stop (&f);

  f = start ("filter=box,size=1 output-type=float32", "10/1", SAMPLES);
  push (&f, samples, SAMPLES);
  fail_unless_equals_int64 (saturated (&f), -1);
  fail_unless_equals_int (warnings (&f, &text), 0);
  stop (&f);
}

GST_END_TEST;

static const struct
{
  const gchar *type;
  gdouble none;
} labels[] = {
  { "uint8", 255 },
  { "int16", -1 },
  { "uint16", 255 },
  { "float32", -1 },
};

/* The second filter doubles; a magnitude of exactly the threshold counts. */
GST_START_TEST (test_threshold)
{
  const gfloat samples[6] = { 0, 1, -1, 0.9, 1.25, -3 };
  const gdouble want[6] = { -1, 21, 21, -1, 21, 21 };

  for (guint t = 0; t < G_N_ELEMENTS (labels); t++) {
    g_autofree gchar *properties = g_strdup_printf (
        "filter=\"coefficients,size=1,values=<1.0>; "
        "coefficients,size=1,values=<2.0>\" response=argmax threshold=2 "
        "gain=20 offset=1 output-type=%s",
        labels[t].type);
    Filter f = start (properties, "10/1", 6);
    g_autoptr (GstBuffer) output = NULL;
    GstMapInfo map;

    push (&f, samples, 6);
    output = gst_harness_pull (f.h);
    fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
    for (guint i = 0; i < 6; i++) {
      const gdouble label = want[i] < 0 ? labels[t].none : want[i];

      fail_unless (type_get (labels[t].type, map.data, i) == label, "%s %u: %g",
          labels[t].type, i, type_get (labels[t].type, map.data, i));
    }
    gst_buffer_unmap (output, &map);
    stop (&f);
  }
}

GST_END_TEST;

/* Without a threshold each sample has a number, even if all responses are 0. */
GST_START_TEST (test_no_threshold)
{
  const gfloat samples[2] = { 0, 1 };
  Filter f = start ("filter=\"coefficients,size=1,values=<1.0>; "
                    "coefficients,size=1,values=<2.0>\" response=argmax",
      "10/1", 2);
  g_autoptr (GstBuffer) output = NULL;
  gfloat got[2];

  push (&f, samples, 2);
  output = gst_harness_pull (f.h);
  gst_buffer_extract (output, 0, got, sizeof (got));
  fail_unless (got[0] == 0 && got[1] == 1);
  stop (&f);
}

GST_END_TEST;

/* accuracy=fast of earlier versions has no effect: a warning when the element
 * starts, and when it is set later. */
GST_START_TEST (test_accuracy)
{
  Filter f = start ("filter=box,size=1 accuracy=fast", "10/1", 3);
  g_autofree gchar *text = NULL;
  const gfloat samples[3] = { 1, -2, 3 };

  push (&f, samples, 3);
  fail_unless_equals_int (warnings (&f, &text), 1);
  fail_unless (strstr (text, "Property accuracy has no effect"), "%s", text);
  gst_util_set_object_arg (G_OBJECT (f.element), "accuracy", "single");
  push (&f, samples, 3);
  fail_unless_equals_int (warnings (&f, &text), 0);
  gst_util_set_object_arg (G_OBJECT (f.element), "accuracy", "fast");
  fail_unless_equals_int (warnings (&f, &text), 1);
  stop (&f);
}

GST_END_TEST;

/* Neither the caps nor the volumes of a live stream have times. */
GST_START_TEST (test_live_without_rate)
{
  static const struct
  {
    const gchar *rate;
    const gchar *properties;
    gboolean live, stamped;
    guint warnings;
  } cases[] = {
    { "0/1", "filter=box,size=1:1:1:5", TRUE, FALSE, 1 },
    { "10/1", "filter=box,size=1:1:1:5", TRUE, FALSE, 0 },
    { "0/1", "filter=box,size=1:1:1:5", FALSE, FALSE, 0 },
    { "0/1", "filter=box,size=1:1:1:5", TRUE, TRUE, 0 },
    { "0/1", "filter=box,size=1:1:1:5 causal=true", TRUE, FALSE, 0 },
    { "0/1", "filter=box,size=3:3:3:1", TRUE, FALSE, 0 },
  };
  const gfloat samples[2] = { 1, 2 };
  g_autofree gchar *text = NULL;
  Filter f = start (cases[__i__].properties, cases[__i__].rate, 2);

  gst_harness_set_live (f.h, cases[__i__].live);
  /* The element asks when caps are set. */
  gst_harness_set_src_caps_str (f.h,
      "other/tensors,format=static,num_tensors=1,framerate=0/1,types=float32,"
      "dimensions=(string)1:3:1:1");
  {
    g_autofree gchar *caps = g_strdup_printf (CAPS, cases[__i__].rate, 2);

    gst_harness_set_src_caps_str (f.h, caps);
  }
  for (guint n = 0; n < 8; n++) {
    GstBuffer *buffer = gst_buffer_new_memdup (samples, sizeof (samples));

    if (cases[__i__].stamped)
      GST_BUFFER_PTS (buffer) = n * GST_SECOND / 10;
    fail_unless_equals_int (gst_harness_push (f.h, buffer), GST_FLOW_OK);
  }
  fail_unless_equals_int (warnings (&f, &text), cases[__i__].warnings);
  fail_if (text && !strstr (text, "framerate"), "%s", text);
  stop (&f);
}

GST_END_TEST;

static Suite *
warnings_suite (void)
{
  Suite *s = suite_create ("warnings");
  TCase *tc = tcase_create ("warnings");

  tcase_add_loop_test (tc, test_saturated, 0, G_N_ELEMENTS (filters));
  tcase_add_test (tc, test_few);
  tcase_add_test (tc, test_threshold);
  tcase_add_test (tc, test_no_threshold);
  tcase_add_test (tc, test_accuracy);
  tcase_add_loop_test (tc, test_live_without_rate, 0, 6);
  suite_add_tcase (s, tc);
  return s;
}

GST_CHECK_MAIN (warnings);
