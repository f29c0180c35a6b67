/* Streams of several tensors, flexible ones, and those that are refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/harness.h"

#define THREE                                  \
  "other/tensors,format=static,num_tensors=3," \
  "types=(string)\"uint8,float32,int16\","     \
  "dimensions=(string)\"1:2:2:1,1:3:2:2,2:4:1:1\",framerate=(fraction)10/1"

/* Bytes of the tensors above. */
static const gsize three_sizes[] = { 4, 48, 16 };

static Stream *
start (gint index, const gchar *caps)
{
  Stream *s = stream_new ("ndconv2d", NULL, "filter",
      "coefficients,size=1,values=<1.0>", NULL);

  g_object_set (s->element, "tensor-index", index, NULL);
  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps_str (s->h, caps);
  return s;
}

static GstMemory *
random_memory (GRand *r, gsize size)
{
  GstMemory *memory = gst_allocator_alloc (NULL, size, NULL);
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < size; i++)
    map.data[i] = g_rand_int_range (r, 0, 60);
  gst_memory_unmap (memory, &map);
  return memory;
}

static GstBuffer *
three_tensors (GRand *r)
{
  GstBuffer *buffer = gst_buffer_new ();

  for (guint i = 0; i < 3; i++)
    gst_buffer_append_memory (buffer, random_memory (r, three_sizes[i]));
  return buffer;
}

/* Expects the samples of memory @index of @input, after @offset bytes. */
static void
expect_same (GstBuffer *output, GstBuffer *input, guint index, gsize offset)
{
  GstMemory *memory = gst_buffer_peek_memory (input, index);
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (gst_buffer_get_size (output), map.size - offset);
  fail_unless (gst_buffer_memcmp (output, 0, map.data + offset,
                   map.size - offset)
      == 0);
  gst_memory_unmap (memory, &map);
}

static void
expect_caps (Stream *s, const gchar *fields)
{
  g_autoptr (GstCaps) got = gst_pad_get_current_caps (s->h->sinkpad);
  g_autofree gchar *text = g_strconcat ("other/tensors,format=static,",
      "num_tensors=1,", fields, NULL);
  g_autoptr (GstCaps) want = gst_caps_from_string (text);
  g_autofree gchar *found = gst_caps_to_string (got);

  fail_unless (gst_caps_is_subset (got, want), "%s", found);
}

GST_START_TEST (test_one_of_several)
{
  static const gchar *const caps[] = { "types=uint8,dimensions={1:2:2,1:2:2:1}",
    "types=float32,dimensions=1:3:2:2",
    "types=int16,dimensions={(string)2:4,(string)2:4:1:1}" };
  g_autoptr (GRand) r = test_rand ();

  for (gint index = 0; index < 3; index++) {
    Stream *s = start (index, THREE);

    for (guint n = 0; n < 3; n++) {
      g_autoptr (GstBuffer) input = three_tensors (r), output = NULL;

      GST_BUFFER_PTS (input) = n * GST_SECOND / 10;
      fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (input)),
          GST_FLOW_OK);
      output = stream_pull (s);
      fail_unless_equals_uint64 (GST_BUFFER_PTS (output), n * GST_SECOND / 10);
      expect_same (output, input, index, 0);
    }
    expect_caps (s, caps[index]);
    stream_free (s);
  }
}

GST_END_TEST;

/* An index that is set while playing takes effect at the next start. */
GST_START_TEST (test_set_while_playing)
{
  g_autoptr (GRand) r = test_rand ();
  Stream *s = start (1, THREE);

  for (guint n = 0; n < 4; n++) {
    g_autoptr (GstBuffer) input = three_tensors (r), output = NULL;

    if (n == 2)
      g_object_set (s->element, "tensor-index", 0, NULL);
    GST_BUFFER_PTS (input) = n * GST_SECOND / 10;
    fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (input)),
        GST_FLOW_OK);
    output = stream_pull (s);
    expect_same (output, input, 1, 0);
  }
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_WARNING, NULL), 1);
  stream_free (s);
}

GST_END_TEST;

static void
expect_error (Stream *s, GstBuffer *buffer, const gchar *words)
{
  g_autoptr (GError) error = NULL;
  GstMessage *message = NULL;

  gst_harness_push (s->h, buffer);
  fail_unless_equals_int (stream_messages (s, GST_MESSAGE_ERROR, &message), 1);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  gst_message_unref (message);
  stream_free (s);
}

GST_START_TEST (test_refused)
{
  g_autoptr (GRand) r = test_rand ();

  expect_error (start (-1, THREE), three_tensors (r), "'tensor-index'");
  expect_error (start (3, THREE), three_tensors (r), "has 3 tensors");
  expect_error (start (0, THREE), gst_buffer_new_and_alloc (68),
      "a memory of its own");
  expect_error (start (-1,
                    "other/tensor,type=uint8,dimension=(string)1:2:2:1,"
                    "framerate=(fraction)10/1"),
      gst_buffer_new_and_alloc (4), "other/tensors");
  expect_error (start (-1, "other/tensors,format=flexible"),
      gst_buffer_new_and_alloc (64), "header of 128 bytes");
  expect_error (start (-1, "other/tensors,format=flexible"),
      gst_buffer_new_wrapped (g_malloc0 (200), 200), "NNStreamer's header");
}

GST_END_TEST;

/* A header of NNStreamer, and random samples. */
static GstMemory *
flexible (GRand *r, guint32 type, gsize sample, const guint32 dims[4])
{
  const gsize size = 128 + sample * dims[0] * dims[1] * dims[2] * dims[3];
  GstMemory *memory = random_memory (r, size);
  GstMapInfo map;
  guint32 header[32] = { 0xfeedcced, 0xde001000, type };

  memcpy (header + 3, dims, 16);
  header[19] = 1;
  header[20] = 4;
  fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
  memcpy (map.data, header, sizeof (header));
  gst_memory_unmap (memory, &map);
  return memory;
}

/* Each buffer has a header with its type and sizes; caps follow if these
 * change. */
GST_START_TEST (test_flexible)
{
  static const guint32 sizes[][4] = { { 1, 4, 3, 2 }, { 1, 4, 3, 2 },
    { 3, 5, 2, 1 } };
  static const gchar *const caps[] = { "types=uint8,dimensions=1:4:3:2",
    "types=uint8,dimensions=1:4:3:2",
    "types=int16,dimensions={3:5:2,3:5:2:1}" };
  g_autoptr (GRand) r = test_rand ();
  Stream *s = start (1, "other/tensors,format=flexible,framerate=10/1");

  for (guint n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) input = gst_buffer_new (), output = NULL;

    gst_buffer_append_memory (input, random_memory (r, 5));
    gst_buffer_append_memory (input,
        n < 2 ? flexible (r, 5, 1, sizes[n]) : flexible (r, 2, 2, sizes[n]));
    GST_BUFFER_PTS (input) = n * GST_SECOND / 10;
    fail_unless_equals_int (gst_harness_push (s->h, gst_buffer_ref (input)),
        GST_FLOW_OK);
    output = stream_pull (s);
    expect_same (output, input, 1, 128);
    expect_caps (s, caps[n]);
  }
  stream_free (s);
}

GST_END_TEST;

/* Several buffers at once. */
GST_START_TEST (test_lists)
{
  g_autoptr (GRand) r = test_rand ();
  Stream *s = start (1, THREE);
  GstBuffer *inputs[3];
  GstBufferList *list = gst_buffer_list_new ();

  for (guint n = 0; n < 3; n++) {
    inputs[n] = three_tensors (r);
    GST_BUFFER_PTS (inputs[n]) = n * GST_SECOND / 10;
    gst_buffer_list_add (list, gst_buffer_ref (inputs[n]));
  }
  fail_unless_equals_int (gst_pad_push_list (s->h->srcpad, list), GST_FLOW_OK);
  for (guint n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) output = stream_pull (s);

    expect_same (output, inputs[n], 1, 0);
    gst_buffer_unref (inputs[n]);
  }
  stream_free (s);
}

GST_END_TEST;

/* Filters are linked behind elements that say what their streams are, as
 * capsfilter and tensor_crop do. */
GST_START_TEST (test_links)
{
  static const gchar *const streams[] = {
    "other/tensors,format=flexible",
    "other/tensors,format=flexible,framerate=10/1",
    "other/tensors,format=static,num_tensors=3",
  };
  static const gchar *const outputs[] = { "other/tensors",
    "other/tensors,format=static,num_tensors=1,types=(string)uint8" };

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    for (gint index = -1; index < 2; index++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (GstElement) pipeline = NULL;
      g_autofree gchar *text = g_strdup_printf (
          "appsrc ! capsfilter caps=\"%s\" ! queue ! ndconv2d "
          "tensor-index=%d ! capsfilter caps=\"%s\" ! fakesink",
          streams[i], index, outputs[index > 0]);

      pipeline = gst_parse_launch (text, &error);
      fail_unless (error == NULL, "%s: %s", text, error ? error->message : "");
    }
  }
}

GST_END_TEST;

/* Integers of 32 bits keep all bits, also in single precision. */
GST_START_TEST (test_integers)
{
  static const gint32 samples[4] = { 123456789, -16777217, G_MAXINT32,
    G_MININT32 };
  Stream *s = start (0,
      "other/tensors,format=static,num_tensors=1,"
      "types=(string)int32,dimensions=(string)1:2:2:1,"
      "framerate=(fraction)10/1");
  GstBuffer *out;

  gst_harness_push (s->h, gst_buffer_new_memdup (samples, sizeof (samples)));
  out = gst_harness_pull (s->h);
  fail_unless (gst_buffer_memcmp (out, 0, samples, sizeof (samples)) == 0);
  gst_buffer_unref (out);
  stream_free (s);
}

GST_END_TEST;

static Suite *
tensors_suite (void)
{
  Suite *suite = suite_create ("tensors");
  TCase *tc = tcase_create ("streams");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_one_of_several);
  tcase_add_test (tc, test_set_while_playing);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_flexible);
  tcase_add_test (tc, test_lists);
  tcase_add_test (tc, test_links);
  tcase_add_test (tc, test_integers);
  return suite;
}

GST_CHECK_MAIN (tensors);
