/* Caps of volumes: spellings of dimensions, fields that pass unchanged, and the
 * offers of the pads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndtensors.h"
#include "tests/gst/harness.h"

static Stream *
identity (const gchar *factory)
{
  return stream_new (factory, NULL, "filter",
      "coefficients,size=1,values=<1.0>", NULL);
}

static GstCaps *
output_caps (Stream *s)
{
  return gst_pad_get_current_caps (s->h->sinkpad);
}

/* Both spellings on both sides describe the same volume. */
GST_START_TEST (test_spellings_of_dimensions)
{
  static const gchar *const spellings[] = { "1:3:4", "1:3:4:1" };

  for (guint in = 0; in < 2; in++) {
    for (guint out = 0; out < 2; out++) {
      Stream *s = identity ("ndconv2d");
      g_autofree gchar *sink = g_strdup_printf ("other/tensors,dimensions="
                                                "(string)%s",
          spellings[out]);
      g_autofree gchar *source = g_strdup_printf (
          "other/tensors,"
          "format=static,num_tensors=1,types=float32,dimensions=(string)%s,"
          "framerate=10/1",
          spellings[in]);
      g_autoptr (GstCaps) caps = NULL;

      stream_set_size (s, 3, 4, 1);
      s->h = gst_harness_new_with_element (s->element, "sink", "src");
      gst_harness_set_caps_str (s->h, source, sink);
      caps = output_caps (s);
      fail_unless_equals_string (
          gst_structure_get_string (gst_caps_get_structure (caps, 0),
              "dimensions"),
          spellings[out]);
      s->model = model_new (NULL, 1, 1, 1, 1);
      stream_push_range (s, 0, 2);
      stream_expect_all (s, 0, 3);
      stream_free (s);
    }
  }
}

GST_END_TEST;

/* NNStreamer's spellings of the same caps. */
GST_START_TEST (test_caps_as_nnstreamer_writes_them)
{
  static const gchar *const spellings[] = {
    "other/tensors,num_tensors=1,types=FLOAT32,dimensions=1:3:2:2,"
    "framerate=10/1",
    "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=1:3:2:2:1:1:1:1,framerate=10/1",
    "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=\"1 : 3 : 2 : 2\",framerate=10/1",
    "other/tensors,format=static,num_tensors=1,types=float32,"
    "dimensions=1:3:2:2:0:0,framerate=10/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++) {
    Stream *s = identity ("ndconv4dtemporal");

    s->model = model_new (NULL, 1, 1, 1, 1);
    s->h = gst_harness_new_with_element (s->element, "sink", "src");
    gst_harness_set_src_caps_str (s->h, spellings[i]);
    stream_push_range (s, 0, 2);
    stream_expect_all (s, 0, 3);
    stream_free (s);
  }
}

GST_END_TEST;

/* Geometry and other fields of the caps are kept. */
GST_START_TEST (test_extra_fields_go_along)
{
  Stream *s = identity ("ndconv3d");
  g_autoptr (GstCaps) in = stream_caps (s), out = NULL;
  const GstStructure *fields;

  gst_caps_set_simple (in, "spacing", G_TYPE_STRING, "0.5:0.5:2", "origin",
      G_TYPE_STRING, "-1:2:3", "directions", G_TYPE_STRING, "1:0:0:0:1:0:0:0:1",
      "anything", G_TYPE_STRING, "kept", NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps (s->h, gst_caps_ref (in));
  out = output_caps (s);
  fields = gst_caps_get_structure (out, 0);
  fail_unless_equals_string (gst_structure_get_string (fields, "spacing"),
      "0.5:0.5:2");
  fail_unless_equals_string (gst_structure_get_string (fields, "origin"),
      "-1:2:3");
  fail_unless_equals_string (gst_structure_get_string (fields, "directions"),
      "1:0:0:0:1:0:0:0:1");
  fail_unless_equals_string (gst_structure_get_string (fields, "anything"),
      "kept");
  fail_unless (gst_caps_is_equal (in, out));
  stream_free (s);
}

GST_END_TEST;

static GstCaps *
offered (Stream *s, const gchar *pad_name, const gchar *filter)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (s->element, pad_name);
  g_autoptr (GstCaps) caps = filter ? gst_caps_from_string (filter) : NULL;

  return gst_pad_query_caps (pad, caps);
}

/* The caps before those of streams of several tensors, whose types and
 * dimensions are not known. */
static GstCaps *
offered_for_one (Stream *s)
{
  g_autoptr (GstCaps) several =
      gst_caps_from_string (GST_ND_SEVERAL_TENSORS_CAPS);
  g_autoptr (GstCaps) caps = offered (s, "sink", NULL);
  GstCaps *one = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    g_autoptr (GstCaps) nth = gst_caps_copy_nth (caps, i);

    if (!gst_caps_is_subset (nth, several))
      gst_caps_append (one, g_steal_pointer (&nth));
  }
  return one;
}

/* Requests of the sink are passed to the source. */
GST_START_TEST (test_caps_of_downstream_reach_upstream)
{
  Stream *s = identity ("ndconv4dtemporal");
  g_autoptr (GstCaps) caps = NULL;
  const GstStructure *fields;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_sink_caps_str (s->h,
      "other/tensors,types=int16,"
      "dimensions=(string)1:8:8:4,framerate=25/1");
  caps = offered_for_one (s);
  fail_unless_equals_int (gst_caps_get_size (caps), 1);
  fields = gst_caps_get_structure (caps, 0);
  fail_unless_equals_string (gst_structure_get_string (fields, "types"),
      "int16");
  fail_unless_equals_string (gst_structure_get_string (fields, "dimensions"),
      "1:8:8:4");
  stream_free (s);
}

GST_END_TEST;

/* If the type is set and the bank has its own dimensions, inputs of any type
 * are accepted, with the volume size of the output. */
GST_START_TEST (test_output_type_and_bank_backwards)
{
  Stream *s = stream_new ("ndconv4dtemporal", NULL, "filter",
      "box,size=3;"
      "box,size=2",
      "output-type", "float32", NULL);
  g_autoptr (GstCaps) caps = NULL, none = NULL;
  const GstStructure *fields;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_sink_caps_str (s->h,
      "other/tensors,types=float32,"
      "dimensions=(string)1:8:8:4:2");
  caps = offered_for_one (s);
  fail_unless_equals_int (gst_caps_get_size (caps), 1);
  fields = gst_caps_get_structure (caps, 0);
  fail_unless_equals_int (
      gst_value_list_get_size (gst_structure_get_value (fields, "types")), 9);
  fail_unless_equals_string (gst_structure_get_string (fields, "dimensions"),
      "1:8:8:4");
  gst_harness_set_sink_caps_str (s->h, "other/tensors,types=uint8");
  none = offered (s, "sink", NULL);
  fail_unless (gst_caps_is_empty (none));
  stream_free (s);
}

GST_END_TEST;

/* Properties set before the caps apply to the caps, in any state. */
GST_START_TEST (test_properties_before_caps)
{
  Stream *s = identity ("ndconv2d");
  g_autoptr (GstCaps) caps = NULL;

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  g_object_set (s->element, "filter", "box,size=3;box,size=5", NULL);
  gst_util_set_object_arg (G_OBJECT (s->element), "output-type", "int16");
  gst_harness_set_src_caps (s->h, stream_caps (s));
  caps = output_caps (s);
  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "dimensions"),
      "1:3:2:2:2");
  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "types"),
      "int16");
  stream_push_range (s, 0, 0);
  gst_buffer_unref (stream_pull (s));
  stream_free (s);
}

GST_END_TEST;

/* Frames and volumes, or volumes only. */
GST_START_TEST (test_kinds_of_stream)
{
  static const gchar *const factories[] = { "ndconv2d", "ndconv3d",
    "ndconv4dtemporal" };

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++) {
    Stream *s = identity (factories[i]);
    g_autoptr (GstCaps) video = offered (s, "sink", "video/x-raw,format=I420");
    g_autoptr (GstCaps) wide =
        offered (s, "sink", "video/x-raw,format=P010_10LE");
    g_autoptr (GstCaps) in_words =
        offered (s, "sink", "video/x-raw,format=v210");
    g_autoptr (GstCaps) volumes = offered (s, "src", "other/tensors");

    fail_unless_equals_int (gst_caps_is_empty (video), i == 2);
    fail_unless_equals_int (gst_caps_is_empty (wide), i == 2);
    fail_unless (gst_caps_is_empty (in_words));
    fail_if (gst_caps_is_empty (volumes));
    stream_free (s);
  }
}

GST_END_TEST;

static Suite *
conv_caps_suite (void)
{
  Suite *suite = suite_create ("convcaps");
  TCase *tc = tcase_create ("caps");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_spellings_of_dimensions);
  tcase_add_test (tc, test_caps_as_nnstreamer_writes_them);
  tcase_add_test (tc, test_extra_fields_go_along);
  tcase_add_test (tc, test_caps_of_downstream_reach_upstream);
  tcase_add_test (tc, test_output_type_and_bank_backwards);
  tcase_add_test (tc, test_properties_before_caps);
  tcase_add_test (tc, test_kinds_of_stream);
  return suite;
}

GST_CHECK_MAIN (conv_caps);
