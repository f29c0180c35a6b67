/* Units in filter text: converted by spacing and rate of the caps, again when
 * these change, and refused without them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#define SIZE 12
#define SAMPLES (SIZE * SIZE * SIZE)
#define VOLUMES 6

static GstCaps *
make_caps (const gchar *spacing)
{
  g_autofree gchar *text = g_strdup_printf (
      "other/tensors, format=static, num_tensors=1, types=float32, "
      "dimensions=1:%d:%d:%d, framerate=20/1%s%s",
      SIZE, SIZE, SIZE, spacing ? ", spacing=(string)" : "",
      spacing ? spacing : "");

  return gst_caps_from_string (text);
}

static void
push_volumes (GstHarness *h, guint first)
{
  for (guint n = first; n < first + VOLUMES; n++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (n);
    g_autofree gfloat *samples = g_new (gfloat, SAMPLES);
    GstBuffer *buffer;

    for (guint i = 0; i < SAMPLES; i++)
      samples[i] = g_rand_int_range (rand, 0, 256);
    buffer = gst_buffer_new_memdup (samples, SAMPLES * sizeof (gfloat));
    GST_BUFFER_PTS (buffer) = n * GST_SECOND / 20;
    GST_BUFFER_DURATION (buffer) = GST_SECOND / 20;
    assert_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
}

/* All samples of the filter's output for the two spacings, one after the
 * other. */
static GByteArray *
filter (const gchar *factory, const gchar *text, const gchar *spacing,
    const gchar *next_spacing)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GByteArray *output = g_byte_array_new ();
  GstHarness *h;
  GstBuffer *buffer;

  g_object_set (element, "filter", text, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps (h, make_caps (spacing));
  push_volumes (h, 0);
  if (next_spacing) {
    gst_harness_set_src_caps (h, make_caps (next_spacing));
    push_volumes (h, VOLUMES);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    GstMapInfo map;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_byte_array_append (output, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  gst_object_unref (element);
  return output;
}

static gboolean
are_equal (const GByteArray *a, const GByteArray *b)
{
  return a->len == b->len && memcmp (a->data, b->data, a->len) == 0;
}

static const struct
{
  const gchar *factory, *spacing, *with_units, *in_samples;
} equal[] = {
  { "ndconv3d", "0.5:0.5:1", "gaussian,sigma=1mm", "gaussian,sigma=2:2:1" },
  { "ndconv3d", "0.5:0.5:1", "box,size=2.5mm", "box,size=5:5:3" },
  { "ndconv3d", "500um:0.5mm:0.1cm", "box,size=2.5mm", "box,size=5:5:3" },
  { "ndconv4dtemporal", "0.5:0.5:1", "gaussian,sigma=0.5mm:0.5mm:1mm:50ms",
      "gaussian,sigma=1" },
  { "ndconv4dtemporal", "1:1:1", "exponential,tau=100ms", "exponential,tau=2" },
  { "ndconv4dtemporal", "1:1:1", "box,size=1mm;box,size=150ms",
      "box,size=1;box,size=1:1:1:3" },
};

GST_START_TEST (test_equal)
{
  g_autoptr (GByteArray) with_units = filter (equal[__i__].factory,
      equal[__i__].with_units, equal[__i__].spacing, NULL);
  g_autoptr (GByteArray) in_samples = filter (equal[__i__].factory,
      equal[__i__].in_samples, equal[__i__].spacing, NULL);

  fail_unless (with_units->len >= VOLUMES * SAMPLES * sizeof (gfloat));
  fail_unless (are_equal (with_units, in_samples), "%s",
      equal[__i__].with_units);
}

GST_END_TEST;

/* A new spacing ends the stretch and designs the filter again. Without units it
 * changes nothing. */
GST_START_TEST (test_new_spacing)
{
  const gsize half = VOLUMES * SAMPLES * sizeof (gfloat);
  g_autoptr (GByteArray) changed =
      filter ("ndconv3d", "box,size=1.5mm", "0.5:0.5:0.5", "0.3:0.3:0.3");
  g_autoptr (GByteArray) narrow =
      filter ("ndconv3d", "box,size=3", "0.5:0.5:0.5", "0.3:0.3:0.3");
  g_autoptr (GByteArray) wide =
      filter ("ndconv3d", "box,size=5", "0.5:0.5:0.5", "0.3:0.3:0.3");

  assert_equals_uint64 (changed->len, 2 * half);
  fail_unless (memcmp (changed->data, narrow->data, half) == 0);
  fail_unless (memcmp (changed->data + half, wide->data + half, half) == 0);
}

GST_END_TEST;

static void
refuse (const gchar *factory, const gchar *text, const gchar *caps,
    const gchar *word)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstHarness *h;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

  g_object_set (element, "filter", text, NULL);
  gst_element_set_bus (element, bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (h, caps);
  gst_harness_push (h, gst_harness_create_buffer (h, 64 * 64));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s passes", text);
  gst_message_parse_error (message, &error, NULL);
  GST_INFO ("%s", error->message);
  fail_unless (strstr (error->message, "roperty filter") != NULL);
  fail_unless (strstr (error->message, word) != NULL, "%s", error->message);
  /* Its messages hold the element, which holds the bus. */
  gst_bus_set_flushing (bus, TRUE);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

GST_START_TEST (test_refused)
{
  refuse ("ndconv2d", "gaussian,sigma=0.6mm",
      "video/x-raw, format=GRAY8, width=64, height=64, framerate=20/1",
      "spacing");
  refuse ("ndconv3d", "gaussian,sigma=80ms",
      "video/x-raw, format=GRAY8, width=64, height=64, framerate=0/1", "rate");
}

GST_END_TEST;

/* Derivatives in samples on spacing that differs: a warning, once. */
GST_START_TEST (test_warned)
{
  GstElement *element = gst_element_factory_make ("ndconv3d", NULL);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstCaps) caps = make_caps ("0.5:0.5:1");
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  GstHarness *h;

  g_object_set (element, "filter", "sobel", NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  push_volumes (h, 0);
  gst_harness_set_src_caps (h, make_caps ("0.5:0.5:1.5"));
  push_volumes (h, VOLUMES);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "sizes are in samples") != NULL, "%s",
      error->message);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
units_suite (void)
{
  Suite *suite = suite_create ("units");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_equal, 0, G_N_ELEMENTS (equal));
  tcase_add_test (tests, test_new_spacing);
  tcase_add_test (tests, test_refused);
  tcase_add_test (tests, test_warned);
  return suite;
}

GST_CHECK_MAIN (units);
