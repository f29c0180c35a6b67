/* Live streams, in which the filters begin outputs ahead, and the same streams
 * that are not live: all bytes must be equal.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

typedef struct
{
  const gchar *factory, *settings, *caps;
  gsize size;       /* of a volume */
  gboolean ahead;   /* sums are begun in the live stream */
  const gchar *set; /* a property and its value, in mid-stream */
} Way;

static const Way ways[] = {
  { "ndconv4dtemporal",
      "backend=cpu method=direct causal=true "
      "filter=gaussian,sigma=0.8,size=3",
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:35:18:7,framerate=25/1",
      35 * 18 * 7, TRUE, "gain=3" },
  { "ndconv4dtemporal",
      "backend=cpu method=direct precision=double "
      "time-border=mirror border=constant border-value=5 "
      "filter=gaussian,sigma=1.1,size=5:3:3:4",
      "other/tensors,format=static,num_tensors=1,types=int16,"
      "dimensions=2:19:11:6,framerate=25/1",
      2 * 2 * 19 * 11 * 6, TRUE, "filter=gaussian,sigma=2,size=3:3:3:5" },
  { "ndconv3d",
      "backend=cpu method=direct axes=xyt "
      "filter=gaussian,sigma=0.8,size=5",
      "video/x-raw,format=NV12,width=68,height=30,framerate=25/1", 68 * 45,
      TRUE, "border=reflect" },
  { "ndconv4dtemporal",
      "backend=cpu method=fft filter=gaussian,sigma=0.8,size=3",
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:35:18:7,framerate=25/1",
      35 * 18 * 7, FALSE, "offset=2" },
};

#define N 24

static gdouble
most_ahead (GstElement *element)
{
  GstStructure *stats;
  gdouble seconds;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "ahead-seconds-max", &seconds));
  gst_structure_free (stats);
  return seconds;
}

static void
set_text (GstElement *element, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit (text, "=", 2);

  gst_util_set_object_arg (G_OBJECT (element), words[0], words[1]);
}

/* The bytes of all outputs of a stream with a flush, a change of settings, and
 * a pause. */
static GByteArray *
run (const Way *way, gboolean live, guint32 seed)
{
  g_autoptr (GRand) r = g_rand_new_with_seed (seed);
  g_auto (GStrv) settings = g_strsplit (way->settings, " ", 0);
  GstElement *element = gst_element_factory_make (way->factory, NULL);
  GstHarness *h;
  GByteArray *bytes = g_byte_array_new ();
  GstSegment segment;
  GstBuffer *out;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint i = 0; settings[i]; i++)
    set_text (element, settings[i]);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  gst_harness_set_live (h, live);
  gst_harness_set_src_caps_str (h, way->caps);
  for (guint i = 0; i < N; i++) {
    GstBuffer *in = gst_buffer_new_allocate (NULL, way->size, NULL);
    GstMapInfo map;

    if (i == N / 4) {
      gst_harness_push_event (h, gst_event_new_flush_start ());
      gst_harness_push_event (h, gst_event_new_flush_stop (FALSE));
      gst_harness_push_event (h, gst_event_new_segment (&segment));
    }
    if (i == N / 2)
      set_text (h->element, way->set);
    gst_buffer_map (in, &map, GST_MAP_WRITE);
    for (gsize b = 0; b < map.size; b++)
      map.data[b] = g_rand_int_range (r, 0, 256);
    gst_buffer_unmap (in, &map);
    GST_BUFFER_PTS (in) = (i + (i > 3 * N / 4 ? 100 : 0)) * 40 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((out = gst_harness_try_pull (h))) {
    GstMapInfo map;

    gst_buffer_map (out, &map, GST_MAP_READ);
    g_byte_array_append (bytes, map.data, map.size);
    gst_buffer_unmap (out, &map);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (most_ahead (h->element) > 0, live && way->ahead);
  gst_harness_teardown (h);
  return bytes;
}

GST_START_TEST (test_bits)
{
  const Way *way = &ways[__i__];
  const guint32 seed = g_random_int ();
  g_autoptr (GByteArray) live = run (way, TRUE, seed);
  g_autoptr (GByteArray) file = run (way, FALSE, seed);

  fail_unless (live->len > way->size * N / 2);
  fail_unless_equals_int (live->len, file->len);
  fail_unless (memcmp (live->data, file->data, live->len) == 0, "seed %u",
      seed);
}

GST_END_TEST

static Suite *
ahead_suite (void)
{
  Suite *suite = suite_create ("ahead");
  TCase *tcase = tcase_create ("live");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_bits, 0, G_N_ELEMENTS (ways));
  return suite;
}

GST_CHECK_MAIN (ahead)
