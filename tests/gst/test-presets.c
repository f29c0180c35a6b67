/* Presets: the elements list those of presets/, each with a comment, and
 * @preset= of gst-launch-1.0 sets up an element that does its task.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <math.h>

static const gchar *const factories[] = { "ndconv2d", "ndconv3d",
  "ndconv4dtemporal" };

static const gchar *const tasks[] = { "deblurring", "edge-and-line",
  "speckle-smoothing", "vessel" };

/* Checks that all samples are finite. */
typedef struct
{
  guint volumes;
  gsize samples;
  gdouble sum, squares, least, most;
  gboolean whole; /* integers */
} Seen;

static void
look (GstElement *element, GstBuffer *buffer, gpointer pad, gpointer data)
{
  Seen *seen = data;
  GstMapInfo map;
  const gfloat *sample;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 20 * 20 * 20 * sizeof (gfloat));
  sample = (const gfloat *) map.data;
  for (gsize i = 0; i < map.size / sizeof (gfloat); i++) {
    gdouble value = sample[i];

    fail_unless (isfinite (value));
    seen->least = seen->samples ? MIN (seen->least, value) : value;
    seen->most = seen->samples ? MAX (seen->most, value) : value;
    seen->whole = (!seen->samples || seen->whole) && value == floor (value);
    seen->sum += value;
    seen->squares += value * value;
    seen->samples++;
  }
  seen->volumes++;
  gst_buffer_unmap (buffer, &map);
}

/* identity passes buffers on without the pad. */
static void
look_before (GstElement *element, GstBuffer *buffer, gpointer data)
{
  look (element, buffer, NULL, data);
}

static gdouble
variance (const Seen *seen)
{
  gdouble mean = seen->sum / seen->samples;

  return seen->squares / seen->samples - mean * mean;
}

static void
check_caps (GstElement *sink)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  const GstStructure *s;

  fail_unless (caps != NULL);
  s = gst_caps_get_structure (caps, 0);
  fail_unless_equals_string (gst_structure_get_string (s, "types"), "float32");
  fail_unless (g_str_has_prefix (gst_structure_get_string (s, "dimensions"),
      "1:20:20:20"));
}

/* The expected result of the task. */
static void
check_task (const gchar *preset, const Seen *before, const Seen *after)
{
  gdouble mean = before->sum / before->samples;

  fail_unless_equals_int (after->volumes, before->volumes);
  fail_unless (after->most > after->least, "%s has a constant output", preset);
  if (strcmp (preset, "speckle-smoothing") == 0) {
    fail_unless (variance (after) < 0.9 * variance (before));
    fail_unless (ABS (after->sum / after->samples - mean) < 0.1 * mean);
  } else if (strcmp (preset, "deblurring") == 0) {
    fail_unless (variance (after) > 1.1 * variance (before));
    fail_unless (ABS (after->sum / after->samples - mean) < 0.1 * mean);
  } else if (strcmp (preset, "wall-motion-direction") == 0) {
    fail_unless (after->whole && after->least == 0 && after->most > 1
        && after->most < 6);
  } else {
    fail_unless (after->least >= 0 && !after->whole);
    fail_unless (after->most > 0.05 * before->most
            && after->most < 10 * before->most,
        "%s: %g of %g", preset, after->most, before->most);
  }
}

static void
run (const gchar *factory, const gchar *preset)
{
  g_autofree gchar *line = g_strdup_printf (
      "ndtestsrc num-buffers=4 "
      "pattern=heart volume-size=20:20:20 ! other/tensors,types=float32 ! "
      "identity name=before signal-handoffs=true ! %s name=conv @preset=%s ! "
      "fakesink name=after signal-handoffs=true",
      factory, preset);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *conv, *at;
  g_autofree gchar *filter = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBus) bus = NULL;
  Seen before = { 0 }, after = { 0 };

  fail_unless (pipeline != NULL && error == NULL, "%s", line);
  conv = gst_bin_get_by_name (GST_BIN (pipeline), "conv");
  g_object_get (conv, "filter", &filter, NULL);
  fail_unless (filter != NULL, "%s", line);
  at = gst_bin_get_by_name (GST_BIN (pipeline), "before");
  g_signal_connect (at, "handoff", G_CALLBACK (look_before), &before);
  gst_object_unref (at);
  at = gst_bin_get_by_name (GST_BIN (pipeline), "after");
  g_signal_connect (at, "handoff", G_CALLBACK (look), &after);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS,
      "%s: %" GST_PTR_FORMAT, line, message);
  check_caps (at);
  check_task (preset, &before, &after);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (at);
  gst_object_unref (conv);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_presets)
{
  GstElement *element = gst_element_factory_make (factories[__i__], NULL);
  g_auto (GStrv) names = gst_preset_get_preset_names (GST_PRESET (element));

  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    fail_unless (g_strv_contains ((const gchar *const *) names, tasks[i]));
  if (__i__ > 0) {
    fail_unless (g_strv_contains ((const gchar *const *) names, "wall-motion"));
    fail_unless (g_strv_contains ((const gchar *const *) names,
        "wall-motion-direction"));
  }
  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *comment = NULL;

    fail_unless (gst_preset_get_meta (GST_PRESET (element), names[i], "comment",
        &comment));
    fail_unless (strlen (comment) > 30);
    run (factories[__i__], names[i]);
  }
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
presets_suite (void)
{
  Suite *suite = suite_create ("presets");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_presets, 0, G_N_ELEMENTS (factories));
  return suite;
}

GST_CHECK_MAIN (presets);
