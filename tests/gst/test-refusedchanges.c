/* Properties that are set while the stream plays and that downstream or the
 * input does not allow: a warning, the old value with a notification, and no
 * output is missing.
 * test-settings.c tests the filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#define DURATION (40 * GST_MSECOND)
#define CAPS                                                                \
  "other/tensors,format=static,num_tensors=1,types=float32,framerate=25/1," \
  "dimensions=(string)"

static const struct
{
  const gchar *element, *settings, *caps, *name, *value;
  gsize bytes;
  guint outputs; /* of 12 volumes */
} changes[] = {
  { "ndstructure", "sigma=0.0", CAPS "6:8:8:1", "output", "tensor",
      6 * 8 * 8 * 4, 12 },
  { "ndstructure", "sigma=1.0", CAPS "6:8:8:1", "output", "velocity; certainty",
      6 * 8 * 8 * 4, 12 },
  { "ndstack", "slices=2", CAPS "1:8:8:1", "slices", "3", 8 * 8 * 4, 6 },
  { "ndstack", "slices=1", CAPS "1:8:8:1", "slices", "4", 8 * 8 * 4, 12 },
  { "ndconv3d", "filter=box,size=1", CAPS "1:8:8:4", "output-type", "uint8",
      8 * 8 * 4 * 4, 12 },
  { "ndview", "mode=slice", CAPS "1:8:8:4", "mode", "orthogonal", 8 * 8 * 4 * 4,
      12 },
  { "ndview", "mode=slice", CAPS "1:8:8:4", "axis", "x", 8 * 8 * 4 * 4, 12 },
  { "ndview", "response=1", CAPS "1:8:8:4:2", "response", "2",
      8 * 8 * 4 * 2 * 4, 12 },
};

static void
push (GstHarness *h, gsize bytes, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, bytes, NULL);

    gst_buffer_memset (buffer, 0, 0, bytes);
    GST_BUFFER_PTS (buffer) = i * DURATION;
    GST_BUFFER_DURATION (buffer) = DURATION;
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
}

static gchar *
value_of (GstElement *element, const gchar *name)
{
  g_auto (GValue) value = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (element), name, &value);
  return g_strdup_value_contents (&value);
}

/* Counts the notifications of a property. The handler reads it, as those of
 * applications do. */
static void
count (GObject *object, GParamSpec *pspec, gpointer n)
{
  g_autofree gchar *value = value_of (GST_ELEMENT (object), pspec->name);

  GST_INFO ("%s is %s", pspec->name, value);
  g_atomic_int_inc ((gint *) n);
}

static void
count_notifications (GstElement *element, const gchar *name, gint *n)
{
  g_autofree gchar *signal = g_strconcat ("notify::", name, NULL);

  g_signal_connect (element, signal, G_CALLBACK (count), n);
}

GST_START_TEST (test_refused)
{
  g_autofree gchar *launch = g_strdup_printf ("%s %s", changes[__i__].element,
      changes[__i__].settings);
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstElement) element =
      gst_harness_find_element (h, changes[__i__].element);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) warning = NULL;
  g_autoptr (GstCaps) caps = NULL;
  g_autofree gchar *before = NULL, *after = NULL;
  gint notified = 0;

  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (h, changes[__i__].caps);
  push (h, changes[__i__].bytes, 0, 4);
  caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_set_sink_caps (h, gst_caps_ref (caps));
  before = value_of (element, changes[__i__].name);
  count_notifications (element, changes[__i__].name, &notified);
  gst_util_set_object_arg (G_OBJECT (element), changes[__i__].name,
      changes[__i__].value);
  push (h, changes[__i__].bytes, 4, 12);
  gst_harness_push_event (h, gst_event_new_eos ());

  after = value_of (element, changes[__i__].name);
  fail_unless_equals_string (after, before);
  /* Of the new value, and of the old one. */
  fail_unless_equals_int (g_atomic_int_get (&notified), 2);
  warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (warning != NULL);
  fail_unless (gst_bus_pop_filtered (bus,
                   GST_MESSAGE_WARNING | GST_MESSAGE_ERROR)
      == NULL);
  fail_unless_equals_int (gst_harness_buffers_received (h),
      changes[__i__].outputs);
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Properties that do not work, set just before new caps. */
GST_START_TEST (test_refused_with_new_caps)
{
  static const struct
  {
    const gchar *element, *settings, *caps[2], *name, *value;
    gsize bytes[2];
  } with_caps[] = {
    { "nddenoise", "sigma=4", { CAPS "1:8:8:1", CAPS "1:6:8:1" }, "time-border",
        "wrap", { 8 * 8 * 4, 6 * 8 * 4 } },
    { "ndregister", "reference=0", { CAPS "1:8:8:1", CAPS "1:6:8:1" },
        "reference", "last", { 8 * 8 * 4, 6 * 8 * 4 } },
    { "ndstructure", "sigma=1.0", { CAPS "6:8:8:1", CAPS "6:6:8:1" }, "output",
        "nonsense", { 6 * 8 * 8 * 4, 6 * 6 * 8 * 4 } },
    /* Tensors without time have no velocity. */
    { "ndstructure", "sigma=1.0 output=eigenvalues",
        { CAPS "6:8:8:1", CAPS "3:6:8:1" }, "output", "velocity",
        { 6 * 8 * 8 * 4, 3 * 6 * 8 * 4 } },
  };
  g_autofree gchar *launch = g_strdup_printf ("%s %s", with_caps[__i__].element,
      with_caps[__i__].settings);
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstElement) element =
      gst_harness_find_element (h, with_caps[__i__].element);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) warning = NULL;
  g_autofree gchar *before = NULL, *after = NULL;
  gint notified = 0;

  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (h, with_caps[__i__].caps[0]);
  push (h, with_caps[__i__].bytes[0], 0, 4);
  before = value_of (element, with_caps[__i__].name);
  count_notifications (element, with_caps[__i__].name, &notified);
  gst_util_set_object_arg (G_OBJECT (element), with_caps[__i__].name,
      with_caps[__i__].value);
  gst_harness_set_src_caps_str (h, with_caps[__i__].caps[1]);
  push (h, with_caps[__i__].bytes[1], 4, 12);
  gst_harness_push_event (h, gst_event_new_eos ());

  after = value_of (element, with_caps[__i__].name);
  fail_unless_equals_string (after, before);
  /* Of the new value, and of the old one. */
  fail_unless_equals_int (g_atomic_int_get (&notified), 2);
  warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (warning != NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  fail_unless_equals_int (gst_harness_buffers_received (h), 12);
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
refused_changes_suite (void)
{
  Suite *suite = suite_create ("refused-changes");
  TCase *tc = tcase_create ("refused-changes");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_refused, 0, G_N_ELEMENTS (changes));
  tcase_add_loop_test (tc, test_refused_with_new_caps, 0, 4);
  return suite;
}

GST_CHECK_MAIN (refused_changes);
