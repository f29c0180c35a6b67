/* ndtestsrc: every pattern compared with independent formulas, times, seeks,
 * caps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/run.h"

#include <gst/app/gstappsink.h>
#include <gst/check/gstharness.h>
#include <math.h>

static const gchar *type_names[] = { "uint8", "int16", "uint16", "float32" };

static GstSample *
pull (GstElement *pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample =
      gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 300 * GST_SECOND);

  gst_object_unref (sink);
  return sample;
}

static void
stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* The first @count volumes with @settings, in sequence. */
static guint8 *
volumes (const gchar *settings, guint count, gsize *size)
{
  GstElement *pipeline = launch ("ndtestsrc num-buffers=%u %s ! "
                                 "appsink name=sink sync=false",
      count, settings);
  GByteArray *all = g_byte_array_new ();

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < count; n++) {
    GstSample *sample = pull (pipeline);
    GstMapInfo map;

    fail_unless (sample != NULL, "%s: no volume %u", settings, n);
    gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ);
    g_byte_array_append (all, map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
    gst_sample_unref (sample);
  }
  fail_unless (pull (pipeline) == NULL, "more than num-buffers volumes");
  stop (pipeline);
  *size = all->len;
  return g_byte_array_free (all, FALSE);
}

static gdouble
value_at (const guint8 *data, guint type, gsize i)
{
  switch (type) {
    case 0:
      return data[i];
    case 1:
      return ((const gint16 *) data)[i];
    case 2:
      return ((const guint16 *) data)[i];
    default:
      return ((const gfloat *) data)[i];
  }
}

static const gsize type_sizes[] = { 1, 2, 2, 4 };

/* SplitMix64 as its authors publish it, with a running state. */
static guint64
splitmix (guint64 *state)
{
  guint64 z = (*state += 0x9e3779b97f4a7c15u);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static guint64
first_of (guint64 state)
{
  return splitmix (&state);
}

/* The formula of each plain pattern, as documented. */
static gdouble
expected (const gchar *pattern, guint type, guint n, gsize X, gsize Y, gsize Z,
    gsize C, gsize x, gsize y, gsize z, gsize c)
{
  static const guint64 ramp[] = { 256, 32768, 65536, 16777216 };
  gsize i = ((z * Y + y) * X + x) * C + c;

  if (g_str_equal (pattern, "ramp"))
    return (c + x + y + z + n) % ramp[type];
  if (g_str_equal (pattern, "constant"))
    return 100;
  if (g_str_equal (pattern, "impulse"))
    return n % 3 == 1 && x == X / 2 && y == Y / 2 && z == Z / 2 ? 100 : 0;
  if (g_str_equal (pattern, "noise")) {
    const guint64 golden = 0x9e3779b97f4a7c15u;
    guint64 key = first_of ((first_of (7 * golden) + n) * golden);
    guint64 h = first_of ((key + i) * golden);

    return type == 0 ? h >> 56
        : type == 1  ? (gdouble) (h >> 48) - 32768
        : type == 2  ? h >> 48
                     : ldexp (h >> 40, -24);
  }
  g_assert_not_reached ();
}

GST_START_TEST (test_patterns)
{
  static const gchar *patterns[] = { "ramp", "constant", "impulse", "noise" };
  static const gsize shapes[][4] = { /* X, Y, Z, C */
    { 7, 5, 3, 1 }, { 4, 6, 1, 2 }, { 300, 2, 2, 1 }, { 3, 1, 2, 4 }
  };

  for (guint p = 0; p < G_N_ELEMENTS (patterns); p++) {
    for (guint type = 0; type < 4; type++) {
      for (guint k = 0; k < G_N_ELEMENTS (shapes); k++) {
        const gsize *s = shapes[k];
        gchar *settings = g_strdup_printf (
            "pattern=%s type=%s seed=7 "
            "value=100 impulse-period=3 components=%u volume-size=%u:%u:%u",
            patterns[p], type_names[type], (guint) s[3], (guint) s[0],
            (guint) s[1], (guint) s[2]);
        gsize size, i = 0;
        guint8 *data = volumes (settings, 5, &size);

        fail_unless_equals_uint64 (size,
            5 * s[0] * s[1] * s[2] * s[3] * type_sizes[type]);
        for (guint n = 0; n < 5; n++)
          for (gsize z = 0; z < s[2]; z++)
            for (gsize y = 0; y < s[1]; y++)
              for (gsize x = 0; x < s[0]; x++)
                for (gsize c = 0; c < s[3]; c++, i++) {
                  gdouble want = expected (patterns[p], type, n, s[0], s[1],
                      s[2], s[3], x, y, z, c);
                  gdouble have = value_at (data, type, i);

                  fail_unless (have == want,
                      "%s: volume %u, %u:%u:%u "
                      "component %u is %g, not %g",
                      settings, n, (guint) x, (guint) y, (guint) z, (guint) c,
                      have, want);
                }
        g_free (data);
        g_free (settings);
      }
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_values)
{
  static const struct
  {
    const gchar *settings;
    guint type;
    gdouble value;
  } cases[] = {
    { "type=uint8 value=2.5", 0, 2 },
    { "type=uint8 value=3.5", 0, 4 },
    { "type=uint8 value=255", 0, 255 },
    { "type=int16 value=-32768", 1, -32768 },
    { "type=uint16 value=65535", 2, 65535 },
    { "type=float32 value=-2.5", 3, -2.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *settings = g_strdup_printf ("pattern=constant volume-size=2:2 %s",
        cases[i].settings);
    gsize size;
    guint8 *data = volumes (settings, 1, &size);

    fail_unless (value_at (data, cases[i].type, 3) == cases[i].value);
    g_free (data);
    g_free (settings);
  }
}

GST_END_TEST;

GST_START_TEST (test_repeatable)
{
  static const gchar *patterns[] = { "heart", "noise" };

  for (guint p = 0; p < G_N_ELEMENTS (patterns); p++) {
    gchar *text =
        g_strdup_printf ("volume-size=24:20:16 pattern=%s seed=", patterns[p]);
    gchar *one = g_strconcat (text, "1", NULL);
    gchar *two = g_strconcat (text, "2", NULL);
    gsize size, again, other;
    guint8 *a = volumes (one, 6, &size);
    guint8 *b = volumes (one, 6, &again);
    guint8 *c = volumes (two, 6, &other);

    fail_unless_equals_uint64 (size, again);
    fail_unless (memcmp (a, b, size) == 0,
        "equal seeds give different volumes");
    fail_unless (memcmp (a, c, size) != 0,
        "different seeds give equal volumes");
    fail_unless (memcmp (a, a + size / 6, size / 6) != 0, "nothing moves");
    g_free (a);
    g_free (b);
    g_free (c);
    g_free (one);
    g_free (two);
    g_free (text);
  }
}

GST_END_TEST;

/* Uses samples x - 1 to x + 1 of some rows in the middle of 32:32:9. */
static gdouble
mean (const guint8 *volume, gsize x)
{
  gdouble sum = 0;

  for (gsize z = 3; z <= 5; z++)
    for (gsize y = 13; y <= 15; y++)
      for (gsize i = x - 1; i <= x + 1; i++)
        sum += volume[(z * 32 + y) * 32 + i];
  return sum / 27;
}

/* The features of the heart: black outside, dark blood, and a bright wall that
 * moves inwards in the contraction and is back one beat later. */
GST_START_TEST (test_heart)
{
  const gsize volume = 32 * 32 * 9;
  gsize size, still_size;
  /* At 60 beats per minute and 25 volumes, end systole is volume 9. */
  guint8 *beats = volumes ("volume-size=32:32:9 heart-rate=60", 26, &size);
  guint8 *still =
      volumes ("volume-size=32:32:9 heart-rate=0 noise=0", 2, &still_size);
  gdouble diastole, systole;

  fail_unless_equals_uint64 (size, 26 * volume);
  /* y = 0 and 1 are above the probe. */
  for (gsize z = 0; z < 9; z++)
    for (gsize i = 0; i < 2 * 32; i++)
      fail_unless (beats[z * 32 * 32 + i] == 0, "the outside is not black");
  /* The middle of the ventricle, and its side wall. */
  diastole = mean (beats, 18);
  fail_unless (diastole < 110, "blood is %g", diastole);
  fail_unless (mean (beats, 22) > diastole + 30);
  /* Just inside the wall: muscle only at end systole. */
  diastole = mean (beats, 20);
  systole = mean (beats + 9 * volume, 20);
  fail_unless (systole > diastole + 15, "%g to %g", diastole, systole);
  fail_unless (fabs (mean (beats + 25 * volume, 20) - diastole) < 5,
      "not back after one beat");
  /* Without beat and noise nothing changes. */
  fail_unless (memcmp (still, still + volume, volume) == 0);
  g_free (beats);
  g_free (still);
}

GST_END_TEST;

/* Black and white of each type; all components are equal. */
GST_START_TEST (test_heart_types)
{
  static const gdouble white[] = { 255, 32767, 65535, 255 };
  gsize size;
  guint8 *grey = volumes ("volume-size=20:24:8 noise=0", 1, &size);
  gsize n = size;

  for (guint type = 0; type < 4; type++) {
    for (guint components = 1; components <= 4; components++) {
      gchar *settings = g_strdup_printf ("volume-size=20:24:8 noise=0 type=%s "
                                         "components=%u",
          type_names[type], components);
      guint8 *data = volumes (settings, 1, &size);

      fail_unless_equals_uint64 (size, n * type_sizes[type] * components);
      for (gsize i = 0; i < n * components; i++) {
        gdouble v = value_at (data, type, i) / white[type] * 255;

        fail_unless (fabs (v - grey[i / components]) <= 0.51,
            "%s: sample %u is %g, not %u", settings, (guint) i, v,
            grey[i / components]);
      }
      g_free (data);
      g_free (settings);
    }
  }
  g_free (grey);
}

GST_END_TEST;

static void
check_sample (GstElement *pipeline, guint64 n, guint8 first)
{
  GstSample *sample = pull (pipeline);
  GstBuffer *buffer;
  guint8 value;

  fail_unless (sample != NULL, "no volume %u", (guint) n);
  buffer = gst_sample_get_buffer (sample);
  gst_buffer_extract (buffer, 0, &value, 1);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
      gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer)
          + GST_BUFFER_DURATION (buffer),
      gst_util_uint64_scale (n + 1, 1001 * GST_SECOND, 30000));
  fail_unless_equals_int (value, first);
  gst_sample_unref (sample);
}

/* 30000/1001 volumes per second, for which times are not whole nanoseconds. */
/* The place at end diastole, in mm along s, l and z, of the tissue that is at p
 * (x, y, z from the middle of the ventricle) in @phase of the beat, as
 * phantom/phantom.h says. */
static void
place_at_rest (const gdouble p[3], gdouble phase, gdouble rest[3])
{
  /* The part of a beat in which the ventricle contracts. */
  const gdouble f = (phase - .04) / .3, c = .6 * f * f * (3 - 2 * f);
  const gdouble at[3] = { .99 * p[0] - .139 * p[1], .139 * p[0] + .99 * p[1],
    p[2] };
  const gdouble rho = sqrt ((at[0] * at[0] + at[2] * at[2]) / (21. * 21)
      + at[1] * at[1] / (42. * 42));
  const gdouble scale =
      rho < cbrt (1 - c) ? 1 / cbrt (1 - c) : cbrt (1 + c / pow (rho, 3));

  for (guint a = 0; a < 3; a++)
    rest[a] = at[a] * scale;
  rest[1] += 5.5 * c / .6 / (1 + pow (rho, 4) / 16);
}

/* A step along the velocity stays at the same tissue. */
GST_START_TEST (test_heart_velocity)
{
  gsize size;
  gfloat *data = (gfloat *) volumes ("pattern=heart-velocity framerate=50/1 "
                                     "volume-size=20:24:16",
      12, &size);
  const gdouble spacing[3] = { 8, 160 / 24., 10 }, phase = 11 * 72 / 60. / 50;
  const gdouble step = 1e-4;
  guint moving = 0;

  fail_unless_equals_uint64 (size, 12 * 20 * 24 * 16 * 4 * sizeof (gfloat));
  for (gsize i = 0; i < 20 * 24 * 16; i++) {
    const gfloat *v = data + (11 * 20 * 24 * 16 + i) * 4;
    const gdouble p[3] = { (i % 20 + .5) * spacing[0] - 92,
      (i / 20 % 24 + .5) * spacing[1] - 72, (i / 480 + .5) * spacing[2] - 80 };
    gdouble later[3], here[3], there[3], speed = 0, error = 0;

    fail_unless (v[3] == 0 || v[3] == 1);
    if (v[3] == 0) {
      fail_unless (v[0] == 0 && v[1] == 0 && v[2] == 0);
      continue;
    }
    for (guint a = 0; a < 3; a++) {
      later[a] = p[a] + step * v[a] * spacing[a];
      speed += v[a] * v[a];
    }
    place_at_rest (p, phase, here);
    place_at_rest (later, phase + step * 72 / 60. / 50, there);
    for (guint a = 0; a < 3; a++)
      error = MAX (error, fabs (there[a] - here[a]));
    fail_unless (error < 5e-3 * step, "%g mm at sample %zu, speed %g",
        error / step, i, sqrt (speed));
    moving += speed > 1e-3;
  }
  fail_unless (moving > 500, "only %u samples move", moving);
  g_free (data);
}
GST_END_TEST;

GST_START_TEST (test_seek)
{
  static const guint targets[] = { 7, 3, 0, 11, 5 };
  GstElement *pipeline = launch (
      "ndtestsrc pattern=ramp num-buffers=12 "
      "volume-size=2:2:2 framerate=30000/1001 ! appsink name=sink sync=false");
  gint64 value;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 5; n++)
    check_sample (pipeline, n, n);
  fail_unless (gst_element_query_duration (pipeline, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value,
      gst_util_uint64_scale (12, 1001 * GST_SECOND, 30000));
  fail_unless (gst_element_query_duration (pipeline, GST_FORMAT_DEFAULT,
      &value));
  fail_unless_equals_int64 (value, 12);
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++) {
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH,
        gst_util_uint64_scale (targets[i], 1001 * GST_SECOND, 30000)));
    for (guint n = targets[i]; n < 12; n++)
      check_sample (pipeline, n, n);
    fail_unless (pull (pipeline) == NULL, "more volumes than num-buffers");
  }
  /* A position within a volume gives that volume. */
  fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 50 * GST_MSECOND));
  check_sample (pipeline, 1, 1);
  stop (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_seek_backwards)
{
  GstElement *pipeline = launch (
      "ndtestsrc pattern=ramp num-buffers=12 "
      "volume-size=2:2:2 framerate=30000/1001 ! appsink name=sink sync=false");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  check_sample (pipeline, 0, 0);
  fail_unless (gst_element_seek (pipeline, -1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
      gst_util_uint64_scale (5, 1001 * GST_SECOND, 30000)));
  for (guint n = 5; n-- > 0;)
    check_sample (pipeline, n, n);
  fail_unless (pull (pipeline) == NULL, "volumes before the first");
  stop (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_convert)
{
  GstElement *pipeline =
      launch ("ndtestsrc name=src num-buffers=50 "
              "volume-size=2:2 framerate=25/1 ! appsink name=sink sync=false");
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  gint64 value;

  fail_if (gst_element_query_convert (src, GST_FORMAT_DEFAULT, 3,
               GST_FORMAT_TIME, &value),
      "a rate before caps");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_sample_unref (pull (pipeline));
  fail_unless (gst_element_query_convert (src, GST_FORMAT_DEFAULT, 3,
      GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, 120 * GST_MSECOND);
  fail_unless (gst_element_query_convert (src, GST_FORMAT_TIME, 2 * GST_SECOND,
      GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, 50);
  fail_unless (gst_element_query_position (src, GST_FORMAT_DEFAULT, &value));
  fail_unless (value >= 1 && value <= 50);
  gst_object_unref (src);
  stop (pipeline);
}

GST_END_TEST;

/* Live: each volume at its time and not before, no seeking, one volume of
 * latency. */
GST_START_TEST (test_live)
{
  GstHarness *h = gst_harness_new_parse ("ndtestsrc is-live=true pattern=ramp "
                                         "volume-size=2:2 framerate=10/1");
  GstQuery *query;
  gboolean live;
  GstClockTime min, max;

  gst_harness_use_testclock (h);
  gst_harness_play (h);
  for (guint n = 0; n < 4; n++) {
    GstBuffer *buffer;

    fail_unless (gst_harness_wait_for_clock_id_waits (h, 1, 10));
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
    fail_unless (gst_harness_crank_single_clock_wait (h));
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 100 * GST_MSECOND);
    gst_buffer_unref (buffer);
  }
  query = gst_query_new_latency ();
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, 100 * GST_MSECOND);
  fail_unless (max == GST_CLOCK_TIME_NONE);
  gst_query_unref (query);
  query = gst_query_new_seeking (GST_FORMAT_TIME);
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_seeking (query, NULL, &live, NULL, NULL);
  fail_if (live, "a live source says it can seek");
  gst_query_unref (query);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The effect of each caps filter on properties set to uint8, 4:3:2, 25/1. */
GST_START_TEST (test_caps)
{
  static const struct
  {
    const gchar *filter; /* "" : none */
    const gchar *type, *dimensions;
    gint n, d;
  } cases[] = {
    { "", "uint8", "1:4:3:2", 25, 1 },
    { "other/tensors", "uint8", "1:4:3:2", 25, 1 },
    { "other/tensors,types=float32", "float32", "1:4:3:2", 25, 1 },
    { "other/tensors,types={int16,uint8}", "uint8", "1:4:3:2", 25, 1 },
    { "other/tensors,types={int16,uint16}", "int16", "1:4:3:2", 25, 1 },
    { "other/tensors,dimensions=1:8:9", "uint8", "1:8:9", 25, 1 },
    { "other/tensors,dimensions=1:8:9:1", "uint8", "1:8:9:1", 25, 1 },
    { "other/tensors,dimensions=2:8:9:3,types=uint16", "uint16", "2:8:9:3", 25,
        1 },
    { "other/tensors,framerate=30000/1001", "uint8", "1:4:3:2", 30000, 1001 },
    { "other/tensors,framerate=[1/1,10/1]", "uint8", "1:4:3:2", 10, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *pipeline =
        launch ("ndtestsrc num-buffers=1 pattern=ramp "
                "volume-size=4:3:2 %s %s ! appsink name=sink sync=false",
            *cases[i].filter ? "!" : "", cases[i].filter);
    const GstStructure *s;
    GstSample *sample;
    gint n, d;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    sample = pull (pipeline);
    fail_unless (sample != NULL, "%s", cases[i].filter);
    s = gst_caps_get_structure (gst_sample_get_caps (sample), 0);
    fail_unless_equals_string (gst_structure_get_string (s, "types"),
        cases[i].type);
    fail_unless_equals_string (gst_structure_get_string (s, "dimensions"),
        cases[i].dimensions);
    fail_unless (gst_structure_get_fraction (s, "framerate", &n, &d));
    fail_unless_equals_int (n, cases[i].n);
    fail_unless_equals_int (d, cases[i].d);
    fail_unless_equals_string (gst_structure_get_string (s, "spacing"),
        "1:1:1");
    gst_sample_unref (sample);
    stop (pipeline);
  }
}

GST_END_TEST;

/* A frame: both spellings match the filter; the exact spelling is the
 * default. */
GST_START_TEST (test_frame_caps)
{
  static const gchar *spellings[] = { "1:4:3", "1:4:3:1" };

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++) {
    GstElement *pipeline =
        launch ("ndtestsrc num-buffers=1 volume-size=4:3 ! "
                "other/tensors,dimensions=%s ! appsink name=sink",
            spellings[i]);
    GstSample *sample;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    sample = pull (pipeline);
    fail_unless (sample != NULL);
    fail_unless_equals_uint64 (
        gst_buffer_get_size (gst_sample_get_buffer (sample)), 12);
    gst_sample_unref (sample);
    stop (pipeline);
  }
}

GST_END_TEST;

/* The heart fills a cube of 160 mm, whatever the number of samples. */
GST_START_TEST (test_geometry)
{
  GstElement *pipeline = launch ("ndtestsrc num-buffers=1 "
                                 "volume-size=80:40:160 ! appsink name=sink");
  const GstStructure *s;
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = pull (pipeline);
  s = gst_caps_get_structure (gst_sample_get_caps (sample), 0);
  fail_unless_equals_string (gst_structure_get_string (s, "spacing"), "2:4:1");
  fail_unless_equals_string (gst_structure_get_string (s, "origin"),
      "-79:-8:-79.5");
  fail_unless_equals_string (gst_structure_get_string (s, "directions"),
      "1:0:0:0:1:0:0:0:1");
  gst_sample_unref (sample);
  stop (pipeline);
}

GST_END_TEST;

/* Failed allocations return NULL under AddressSanitizer too. */
const char *__asan_default_options (void)
    __attribute__ ((visibility ("default")));

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

/* One error, with a sentence that names the problem. */
GST_START_TEST (test_errors)
{
  static const struct
  {
    const gchar *settings, *word;
  } cases[] = {
    { "volume-size=abc", "'volume-size'" },
    { "volume-size=4", "'volume-size'" },
    { "volume-size=4:4:4:4", "'volume-size'" },
    { "volume-size=0:4:4", "'volume-size'" },
    { "volume-size=4:-4:4", "'volume-size'" },
    { "volume-size=\"\"", "'volume-size'" },
    { "volume-size=4000000000:4000000000:4000000000", "'volume-size'" },
    { "pattern=constant value=256", "'value'" },
    { "pattern=constant value=-1", "'value'" },
    { "pattern=impulse type=int16 value=32768", "'value'" },
    { "pattern=constant type=float32 value=1e300", "'value'" },
    { "pattern=heart-velocity ! other/tensors,dimensions=2:4:4:4",
        "4 components" },
    { "pattern=heart-velocity ! other/tensors,types=uint8", "float32" },
    { "pattern=iq ! other/tensors,dimensions=1:4:4", "2 components" },
    { "pattern=rf ! other/tensors,dimensions=2:4:4", "1 components" },
    { "pattern=beams volume-size=4:1", "depth" },
    { "! other/tensors,dimensions=1:4:4:4:2", "responses" },
    { "! other/tensors,dimensions=1:x:4", "'dimensions'" },
    { "pattern=ramp type=float32 volume-size=2000000:2000000:1000", "memory" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *pipeline =
        launch ("ndtestsrc num-buffers=1 %s ! fakesink", cases[i].settings);
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message;
    GError *error = NULL;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    fail_unless (message != NULL, "%s hangs", cases[i].settings);
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s works",
        cases[i].settings);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (strstr (error->message, cases[i].word), "%s: %s",
        cases[i].settings, error->message);
    g_error_free (error);
    gst_message_unref (message);
    gst_object_unref (bus);
    stop (pipeline);
  }
}

GST_END_TEST;

GST_START_TEST (test_properties)
{
  GstElement *src = gst_element_factory_make ("ndtestsrc", NULL);
  gchar *text;
  gint value, n, d;
  guint number;
  gdouble real;

  for (guint i = 0; i < 4; i++) {
    gst_util_set_object_arg (G_OBJECT (src), "type", type_names[i]);
    g_object_get (src, "type", &value, NULL);
    fail_unless_equals_int (value, i);
  }
  g_object_set (src, "volume-size", "5:6:7", "components", 3, "seed", 99,
      "noise", 2.5, "heart-rate", 61.5, "value", -4.0, "impulse-period", 8,
      "framerate", 50, 3, NULL);
  g_object_get (src, "volume-size", &text, "components", &number, NULL);
  fail_unless_equals_string (text, "5:6:7");
  fail_unless_equals_int (number, 3);
  g_free (text);
  g_object_get (src, "seed", &number, "noise", &real, NULL);
  fail_unless_equals_int (number, 99);
  fail_unless_equals_float (real, 2.5);
  g_object_get (src, "heart-rate", &real, "impulse-period", &number, NULL);
  fail_unless_equals_float (real, 61.5);
  fail_unless_equals_int (number, 8);
  g_object_get (src, "value", &real, "framerate", &n, &d, NULL);
  fail_unless_equals_float (real, -4);
  fail_unless_equals_int (n, 50);
  fail_unless_equals_int (d, 3);
  gst_object_unref (src);
}

GST_END_TEST;

/* READY and back restarts the stream with the current properties. */
GST_START_TEST (test_restart)
{
  GstElement *pipeline = launch ("ndtestsrc pattern=ramp volume-size=2:2 "
                                 "num-buffers=3 ! fakesink name=sink");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);

  for (guint i = 0; i < 3; i++) {
    GstMessage *message;
    GstSample *sample = NULL;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    g_object_get (sink, "last-sample", &sample, NULL);
    fail_unless (sample != NULL);
    fail_unless_equals_uint64 (
        GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), 2);
    gst_sample_unref (sample);
    gst_element_set_state (pipeline, GST_STATE_READY);
  }
  gst_object_unref (bus);
  gst_object_unref (sink);
  stop (pipeline);
}

GST_END_TEST;

static Suite *
testsrc_suite (void)
{
  Suite *suite = suite_create ("ndtestsrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_patterns);
  tcase_add_test (tc, test_values);
  tcase_add_test (tc, test_repeatable);
  tcase_add_test (tc, test_heart);
  tcase_add_test (tc, test_heart_types);
  tcase_add_test (tc, test_heart_velocity);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_seek_backwards);
  tcase_add_test (tc, test_convert);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_frame_caps);
  tcase_add_test (tc, test_geometry);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_restart);
  return suite;
}

GST_CHECK_MAIN (testsrc);
