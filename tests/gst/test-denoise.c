/* nddenoise: which volumes come out, when, and as the reference has them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "engine/border.h"
#include "tests/gst/run.h"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <stdlib.h>

#define SIZE 9
#define SAMPLES (SIZE * SIZE * SIZE)
#define DURATION (100 * GST_MSECOND)
#define CAPS                                                               \
  "other/tensors,format=static,num_tensors=1,types=%s,dimensions=1:9:9:9," \
  "framerate=10/1"
#define SIGMA 10

static GstHarness *
harness_new (const gchar *launch, const gchar *type)
{
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddenoise");
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autofree gchar *caps = g_strdup_printf (CAPS, type);

  gst_element_set_bus (h->element, bus);
  /* The latency is then the same on each machine. */
  gst_util_set_object_arg (G_OBJECT (element), "compute-latency", "never");
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* The messages on the bus hold the element, which holds the bus. */
static void
harness_free (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

/* Volume @number: an edge that moves, and noise. */
static gdouble
sample (guint number, gsize i)
{
  guint32 hash = (number * SAMPLES + i) * 2654435761u;

  hash = (hash ^ hash >> 15) * 2246822519u;
  hash = (hash ^ hash >> 13) * 3266489917u;
  return (i % SIZE > 3 + number % 3 ? 150 : 90)
      + SIGMA * sqrt (12) * ((hash >> 8) / (gdouble) (1 << 24) - .5);
}

static GstBuffer *
buffer_new (guint number, gboolean is_float)
{
  const gsize bytes = SAMPLES * (is_float ? sizeof (gfloat) : 1);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, bytes, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < SAMPLES; i++) {
    if (is_float)
      ((gfloat *) map.data)[i] = sample (number, i);
    else
      map.data[i] = rint (sample (number, i));
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * DURATION;
  GST_BUFFER_DURATION (buffer) = DURATION;
  return buffer;
}

static void
push (GstHarness *h, guint number)
{
  fail_unless_equals_int (gst_harness_push (h, buffer_new (number, TRUE)),
      GST_FLOW_OK);
}

static gint64
extend (gint64 i, gint64 n, gpointer border)
{
  return nd_border_index (*(const NdBorder *) border, i, n);
}

/* The expected outputs of a stretch of @n volumes from @first on. */
static gdouble *
expected_new (guint first, guint n, guint latency, gdouble sigma,
    gboolean motion)
{
  const NdDenoiseSettings settings = { .latency = latency, .motion = motion };
  const NdDenoiseSchedule schedule = nd_denoise_schedule (&settings);
  NdBorder mirror = ND_BORDER_MIRROR;
  const NdReferenceBorders borders = { extend, extend, &mirror, &mirror, 0 };
  const gsize size[3] = { SIZE, SIZE, SIZE };
  g_autofree gdouble *in = g_new (gdouble, n * SAMPLES);
  g_autofree gdouble *sigmas = g_new (gdouble, n);
  gdouble *out = g_new (gdouble, n * SAMPLES);

  for (guint t = 0; t < n; t++) {
    sigmas[t] = sigma;
    for (gsize i = 0; i < SAMPLES; i++)
      in[t * SAMPLES + i] = sample (first + t, i);
  }
  nd_denoise_reference (&schedule, &borders, size, n, in, sigmas, out);
  return out;
}

/* The next output is that of volume @number, with these samples, but for a few
 * whose coefficients are close to the threshold. */
static void
check_output (GstHarness *h, guint number, const gdouble *expected,
    gboolean is_float)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  GstMapInfo map;
  guint off = 0;

  fail_unless (buffer != NULL, "no output %u", number);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), number * DURATION);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), DURATION);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize i = 0; i < SAMPLES; i++) {
    const gdouble value = is_float ? ((gfloat *) map.data)[i] : map.data[i];

    off += fabs (value - expected[i]) > (is_float ? .02 : 1);
  }
  fail_unless (off <= SAMPLES / 50, "%u samples of output %u differ", off,
      number);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}

static void
check_stretch (GstHarness *h, guint first, guint n, guint latency,
    gboolean motion)
{
  g_autofree gdouble *expected =
      expected_new (first, n, latency, SIGMA, motion);

  for (guint t = 0; t < n; t++)
    check_output (h, first + t, expected + t * SAMPLES, TRUE);
}

static guint64
get_stat (GstHarness *h, const gchar *name)
{
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddenoise");
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "%s", name);
  return value;
}

static void
set (GstHarness *h, const gchar *name, const gchar *value)
{
  g_autoptr (GstElement) element = gst_harness_find_element (h, "nddenoise");

  gst_util_set_object_arg (G_OBJECT (element), name, value);
}

/* N volumes in, N out, each after so many more, and that is the latency. */
GST_START_TEST (test_latency)
{
  for (guint latency = 0; latency <= 5; latency++) {
    g_autofree gchar *launch =
        g_strdup_printf ("nddenoise sigma=10 latency=%u", latency);
    GstHarness *h = harness_new (launch, "float32");
    const guint n = 8;

    for (guint t = 0; t < n; t++) {
      push (h, t);
      fail_unless_equals_int (gst_harness_buffers_received (h),
          t < latency ? 0 : t + 1 - latency);
    }
    fail_unless_equals_uint64 (gst_harness_query_latency (h),
        latency * DURATION);
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_received (h), n);
    check_stretch (h, 0, n, latency, FALSE);
    fail_unless_equals_uint64 (get_stat (h, "volumes-in"), n);
    fail_unless_equals_uint64 (get_stat (h, "volumes-out"), n);
    harness_free (h);
  }
}
GST_END_TEST;

GST_START_TEST (test_integers)
{
  GstHarness *h = harness_new ("nddenoise sigma=10", "uint8");
  g_autofree gdouble *expected = expected_new (0, 6, 3, SIGMA, FALSE);

  for (guint t = 0; t < 6; t++)
    gst_harness_push (h, buffer_new (t, FALSE));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 0; t < 6; t++) {
    for (gsize i = 0; i < SAMPLES; i++)
      expected[t * SAMPLES + i] = CLAMP (expected[t * SAMPLES + i], 0, 255);
    /* The input was rounded too. */
    check_output (h, t, expected + t * SAMPLES, FALSE);
  }
  harness_free (h);
}
GST_END_TEST;

/* Each end of a stretch is as the ends of a stream. */
GST_START_TEST (test_stretches)
{
  GstHarness *h = harness_new ("nddenoise sigma=10", "float32");
  GstBuffer *buffer;
  guint n = 0;

  for (guint t = 0; t < 5; t++)
    push (h, n++);
  /* The flag DISCONT. */
  buffer = buffer_new (n++, TRUE);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (h, buffer);
  check_stretch (h, 0, 5, 3, FALSE);
  push (h, n++);
  /* A timestamp that jumps. */
  push (h, n + 30);
  check_stretch (h, 5, 2, 3, FALSE);
  /* A GAP event. */
  gst_harness_push_event (h, gst_event_new_gap ((n + 31) * DURATION, DURATION));
  check_stretch (h, n + 30, 1, 3, FALSE);
  /* A flush discards. */
  for (guint t = 0; t < 3; t++)
    push (h, 50 + t);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  fail_unless (gst_harness_try_pull (h) == NULL);
  {
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
  for (guint t = 0; t < 4; t++)
    push (h, 60 + t);
  /* Other caps. */
  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:9:9:9,framerate=10/1");
  check_stretch (h, 60, 4, 3, FALSE);
  gst_harness_push (h, buffer_new (70, FALSE));
  gst_harness_push_event (h, gst_event_new_eos ());
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), SAMPLES);
  gst_buffer_unref (buffer);
  harness_free (h);
}
GST_END_TEST;

/* Strength and sigma change from one output to the next, latency between two
 * stretches. */
GST_START_TEST (test_changes)
{
  GstHarness *h = harness_new ("nddenoise sigma=10 strength=0", "float32");
  g_autofree gdouble *in = g_new (gdouble, SAMPLES);

  for (guint t = 0; t < 6; t++)
    push (h, t);
  for (guint t = 0; t < 3; t++) {
    for (gsize i = 0; i < SAMPLES; i++)
      in[i] = sample (t, i);
    check_output (h, t, in, TRUE);
  }
  set (h, "strength", "1");
  for (guint t = 6; t < 20; t++)
    push (h, t);
  for (guint t = 3; t < 17; t++) {
    GstBuffer *buffer = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), t * DURATION);
    gst_buffer_unref (buffer);
  }
  set (h, "latency", "1");
  push (h, 20);
  push (h, 21);
  for (guint t = 17; t < 20; t++)
    gst_buffer_unref (gst_harness_pull (h));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), DURATION);
  push (h, 22);
  gst_harness_push_event (h, gst_event_new_eos ());
  check_stretch (h, 20, 3, 1, FALSE);
  harness_free (h);
}
GST_END_TEST;

/* An impossible change is refused with a warning, and the old settings stay in
 * use. */
GST_START_TEST (test_refused_change)
{
  GstHarness *h = harness_new ("nddenoise sigma=10", "float32");
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;

  push (h, 0);
  set (h, "time-border", "wrap");
  for (guint t = 1; t < 5; t++)
    push (h, t);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  gst_harness_push_event (h, gst_event_new_eos ());
  check_stretch (h, 0, 5, 3, FALSE);
  gst_object_unref (bus);
  harness_free (h);
}
GST_END_TEST;

/* The number of threads does not matter to the bits of the output. */
GST_START_TEST (test_threads)
{
  static const guint numbers[] = { 1, 2, 7, 0 };
  g_autoptr (GByteArray) one = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_autofree gchar *launch =
        g_strdup_printf ("nddenoise n-threads=%u", numbers[i]);
    GstHarness *h = harness_new (launch, "float32");
    g_autoptr (GByteArray) all = g_byte_array_new ();
    GstBuffer *buffer;
    GstMapInfo map;

    for (guint t = 0; t < 9; t++) {
      buffer = buffer_new (t, TRUE);
      GST_BUFFER_PTS (buffer) = t * DURATION;
      gst_harness_push (h, buffer);
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    while ((buffer = gst_harness_try_pull (h))) {
      gst_buffer_map (buffer, &map, GST_MAP_READ);
      g_byte_array_append (all, map.data, map.size);
      gst_buffer_unmap (buffer, &map);
      gst_buffer_unref (buffer);
    }
    harness_free (h);
    fail_unless_equals_int (all->len, 9 * SAMPLES * sizeof (gfloat));
    if (!one)
      one = g_steal_pointer (&all);
    else
      fail_unless (memcmp (one->data, all->data, one->len) == 0,
          "n-threads=%u differs", numbers[i]);
  }
}
GST_END_TEST;

/* With motion N volumes come in and N out, with the same latency. It begins
 * with the next stretch if it is set while playing. */
GST_START_TEST (test_motion)
{
  GstHarness *h = harness_new ("nddenoise sigma=10 latency=2", "float32");

  for (guint t = 0; t < 4; t++)
    push (h, t);
  set (h, "motion", "true");
  for (guint t = 4; t < 9; t++)
    push (h, t);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 2 * DURATION);
  fail_unless_equals_int (gst_harness_buffers_received (h), 4 + 5 - 2);
  gst_harness_push_event (h, gst_event_new_eos ());
  check_stretch (h, 0, 4, 2, FALSE);
  check_stretch (h, 4, 5, 2, TRUE);
  fail_unless_equals_uint64 (get_stat (h, "volumes-out"), 9);
  harness_free (h);
}
GST_END_TEST;

/* The bits of the first output are those of the last. Slow tools run a shorter
 * stream. */
GST_START_TEST (test_equal)
{
  static const gchar *const launches[] = { "nddenoise",
    "nddenoise motion=true" };
  GstHarness *h = harness_new (launches[__i__], "float32");
  GstBuffer *first = NULL;
  GstMapInfo a, b;
  guint received = 0;
  const gchar *divisor = g_getenv ("ND_JOBS_DIVISOR");
  const guint n = 1000 / (divisor ? MAX (1, atoi (divisor)) : 1);

  for (guint t = 0; t <= n; t++) {
    GstBuffer *buffer;

    if (t == n) {
      gst_harness_push_event (h, gst_event_new_eos ());
    } else {
      buffer = buffer_new (0, TRUE);
      GST_BUFFER_PTS (buffer) = t * DURATION;
      gst_harness_push (h, buffer);
    }
    while ((buffer = gst_harness_try_pull (h))) {
      received++;
      if (!first) {
        first = buffer;
        continue;
      }
      gst_buffer_map (first, &a, GST_MAP_READ);
      gst_buffer_map (buffer, &b, GST_MAP_READ);
      fail_unless (memcmp (a.data, b.data, a.size) == 0, "output %u differs",
          received);
      gst_buffer_unmap (first, &a);
      gst_buffer_unmap (buffer, &b);
      gst_buffer_unref (buffer);
    }
  }
  fail_unless_equals_int (received, n);
  gst_buffer_unref (first);
  harness_free (h);
}
GST_END_TEST;

/* Alpha comes out as it went in, with its own frame. */
GST_START_TEST (test_alpha)
{
  GstHarness *h = gst_harness_new_parse ("nddenoise sigma=30");

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=RGBA,width=16,height=12,framerate=10/1");
  for (guint t = 0; t < 8; t++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16 * 12 * 4, NULL);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (guint i = 0; i < 16 * 12 * 4; i++)
      map.data[i] = sample (t, i % SAMPLES);
    gst_buffer_unmap (buffer, &map);
    GST_BUFFER_PTS (buffer) = t * DURATION;
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 0; t < 8; t++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstMapInfo map;
    guint changed = 0;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless_equals_uint64 (map.size, 16 * 12 * 4);
    for (guint i = 0; i < 16 * 12 * 4; i++) {
      const guint8 before = sample (t, i % SAMPLES);

      if (i % 4 == 3) {
        fail_unless_equals_int (map.data[i], before);
        continue;
      }
      changed += map.data[i] != before;
    }
    fail_unless (changed > 16 * 12);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  harness_free (h);
}
GST_END_TEST;

/* The output of method=adaptive for volumes 0 to @n - 1. */
static gdouble *
adaptive_new (guint n, guint latency, gboolean has_time)
{
  const NdAdaptiveRemap remap = ND_ADAPTIVE_REMAP;
  NdBorder mirror = ND_BORDER_MIRROR;
  const NdReferenceBorders borders = { extend, extend, &mirror, &mirror, 0 };
  const gsize size[3] = { SIZE, SIZE, SIZE };
  g_autofree gdouble *in = g_new (gdouble, n * SAMPLES);
  g_autofree gdouble *sigmas = g_new (gdouble, n);
  gdouble *out = g_new (gdouble, n * SAMPLES);
  NdAdaptiveDesign design;

  for (guint t = 0; t < n; t++) {
    sigmas[t] = SIGMA;
    for (gsize i = 0; i < SAMPLES; i++)
      in[t * SAMPLES + i] = sample (t, i);
  }
  nd_adaptive_design_init (&design, 3, has_time);
  nd_adaptive_reference (&design, &remap, FALSE, latency, &borders, size, n, in,
      sigmas, out);
  return out;
}

GST_START_TEST (test_adaptive)
{
  GstHarness *h = harness_new ("nddenoise method=adaptive sigma=10", "float32");
  g_autofree gdouble *expected = adaptive_new (6, 3, TRUE);
  g_autofree gdouble *space = adaptive_new (6, 0, FALSE);

  for (guint t = 0; t < 6; t++)
    push (h, t);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 3 * DURATION);
  for (guint t = 0; t < 3; t++)
    check_output (h, t, expected + t * SAMPLES, TRUE);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 3; t < 6; t++)
    check_output (h, t, expected + t * SAMPLES, TRUE);
  harness_free (h);

  h = harness_new ("nddenoise method=adaptive axes=space sigma=10", "uint8");
  for (guint t = 0; t < 6; t++) {
    gst_harness_push (h, buffer_new (t, FALSE));
    /* The input was rounded, too. */
    check_output (h, t, space + t * SAMPLES, FALSE);
  }
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 0);
  /* Properties of the control tensor change between two stretches. */
  set (h, "axes", "space-time");
  set (h, "m-sigma", "1000");
  for (guint t = 6; t < 10; t++)
    gst_harness_push (h, buffer_new (t, FALSE));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 4);
  harness_free (h);
}
GST_END_TEST;

/* One volume of latency, and the noise is less, although the edge jumps back
 * and forth: a change that only one volume shows is taken for noise. */
GST_START_TEST (test_speckle)
{
  GstHarness *h = harness_new ("nddenoise noise=speckle", "float32");
  gdouble before = 0, after = 0;

  for (guint t = 0; t < 6; t++)
    push (h, t);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), DURATION);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 5);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 6);
  for (guint t = 0; t < 6; t++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    for (gsize i = 0; i < SAMPLES; i++) {
      const gdouble truth = i % SIZE > 3 + t % 3 ? 150 : 90;

      before += pow (sample (t, i) - truth, 2);
      after += pow (((gfloat *) map.data)[i] - truth, 2);
    }
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  fail_unless (after < .8 * before, "%g is not less than %g", after, before);
  harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  run_refused (launch ("ndtestsrc num-buffers=2 volume-size=8:8:8 ! nddenoise "
                       "time-border=wrap ! fakesink"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "time-border=wrap");
  run_refused (launch ("ndtestsrc num-buffers=2 volume-size=8:8:8 ! nddenoise "
                       "backend=cuda ! fakesink"),
      1, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT, "'cuda' is not available");
  /* The source complains, too, that it cannot go on. */
  run_refused (
      launch ("ndtestsrc num-buffers=2 volume-size=8:8:8 ! ndconv3d filter="
              "\"gaussian,sigma=1.0;gaussian,sigma=2.0\" ! nddenoise ! "
              "fakesink"),
      2, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "2 responses");
}
GST_END_TEST;

/* A frame keeps the metas that tell of its content. */
GST_START_TEST (test_metas_of_frames)
{
  GstHarness *h = gst_harness_new_parse ("nddenoise sigma=10 latency=1");

  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=GRAY8,width=16,height=12,framerate=10/1");
  for (guint t = 0; t < 5; t++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16 * 12, NULL);

    gst_buffer_memset (buffer, 0, 100 + t, -1);
    GST_BUFFER_PTS (buffer) = t * DURATION;
    gst_buffer_add_video_region_of_interest_meta (buffer, "heart", t, 2, 3, 4);
    gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_FORMAT_GRAY8, 16, 12);
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint t = 0; t < 5; t++) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (h);
    const GstVideoRegionOfInterestMeta *meta =
        (gpointer) gst_buffer_get_meta (buffer,
            GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

    fail_unless (meta != NULL);
    fail_unless_equals_int (meta->x, t);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
denoise_suite (void)
{
  Suite *suite = suite_create ("nddenoise");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_latency);
  tcase_add_test (tests, test_integers);
  tcase_add_test (tests, test_stretches);
  tcase_add_test (tests, test_changes);
  tcase_add_test (tests, test_refused_change);
  tcase_add_test (tests, test_threads);
  tcase_add_test (tests, test_motion);
  tcase_add_loop_test (tests, test_equal, 0, 2);
  tcase_add_test (tests, test_alpha);
  tcase_add_test (tests, test_metas_of_frames);
  tcase_add_test (tests, test_adaptive);
  tcase_add_test (tests, test_speckle);
  tcase_add_test (tests, test_errors);
  return suite;
}

GST_CHECK_MAIN (denoise);
