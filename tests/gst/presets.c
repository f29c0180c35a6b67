/* The presets: the elements know those of presets/, each with a comment, and
 * gst-launch's @preset= sets them up to run.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gst/check/gstcheck.h>

static const gchar *const factories[] = { "ndconv2d", "ndconv3d",
  "ndconv4dtemporal"
};

static const gchar *const tasks[] = { "deblurring", "edge-and-line",
  "speckle-smoothing", "vessel"
};

static void
run (const gchar * factory, const gchar * preset)
{
  g_autofree gchar *line = g_strdup_printf ("ndtestsrc num-buffers=2 "
      "volume-size=12:10:8 ! %s name=conv @preset=%s ! fakesink", factory,
      preset);
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *conv;
  g_autofree gchar *filter = NULL;
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstBus) bus = NULL;

  fail_unless (pipeline != NULL && error == NULL, "%s", line);
  conv = gst_bin_get_by_name (GST_BIN (pipeline), "conv");
  g_object_get (conv, "filter", &filter, NULL);
  fail_unless (filter != NULL, "%s", line);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s: %"
      GST_PTR_FORMAT, line, message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (conv);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_presets)
{
  GstElement *element = gst_element_factory_make (factories[__i__], NULL);
  g_auto (GStrv) names = gst_preset_get_preset_names (GST_PRESET (element));

  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    fail_unless (g_strv_contains ((const gchar * const *) names, tasks[i]));
  if (__i__ > 0) {
    fail_unless (g_strv_contains ((const gchar * const *) names,
            "wall-motion"));
    fail_unless (g_strv_contains ((const gchar * const *) names,
            "wall-motion-direction"));
  }
  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *comment = NULL;

    fail_unless (gst_preset_get_meta (GST_PRESET (element), names[i],
            "comment", &comment));
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
