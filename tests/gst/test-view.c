/* ndview: each pixel of each kind of picture compared with an independent
 * formula.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

/* Sizes without a common factor; rows of 5 and 7 pixels need padding. */
#define X 5
#define Y 4
#define Z 7

static const gchar *type_names[] = { "uint8", "int16", "uint16", "float32" };

static const gsize type_sizes[] = { 1, 2, 2, 4 };

typedef struct
{
  guint type;
  gsize components, responses;
  gdouble *values;
} Volume;

static gsize
volume_samples (const Volume *volume)
{
  return volume->components * X * Y * Z * volume->responses;
}

/* Random samples of each type; signed and float types include negative
 * values. */
static Volume
random_volume (GRand *rand, guint type, gsize components, gsize responses)
{
  Volume volume = { type, components, responses, NULL };

  volume.values = g_new (gdouble, volume_samples (&volume));
  for (gsize i = 0; i < volume_samples (&volume); i++)
    volume.values[i] = type == 0 ? g_rand_int_range (rand, 0, 256)
        : type == 1              ? g_rand_int_range (rand, -32768, 32768)
        : type == 2              ? g_rand_int_range (rand, 0, 65536)
                    : (gfloat) g_rand_double_range (rand, -1000, 1000);
  return volume;
}

static GstBuffer *
volume_buffer (const Volume *volume)
{
  gsize n = volume_samples (volume);
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, n * type_sizes[volume->type], NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < n; i++) {
    gdouble v = volume->values[i];

    switch (volume->type) {
      case 0:
        map.data[i] = v;
        break;
      case 1:
        ((gint16 *) map.data)[i] = v;
        break;
      case 2:
        ((guint16 *) map.data)[i] = v;
        break;
      default:
        ((gfloat *) map.data)[i] = v;
        break;
    }
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 3 * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = 7;
  return buffer;
}

static gdouble
sample_at (const Volume *v, gsize k, gsize x, gsize y, gsize z, gsize channel)
{
  const gdouble *at =
      v->values + (((k * Z + z) * Y + y) * X + x) * v->components;

  return v->components == 2 ? hypot (at[0], at[1]) : at[channel];
}

static void
set_volume_caps (GstHarness *h, const Volume *volume, const gchar *more)
{
  gchar *text =
      g_strdup_printf ("other/tensors,format=static,num_tensors=1,"
                       "types=%s,dimensions=%u:%u:%u:%u:%u,framerate=25/1%s",
          type_names[volume->type], (guint) volume->components, X, Y, Z,
          (guint) volume->responses, more);

  gst_harness_set_src_caps_str (h, text);
  g_free (text);
}

/* The picture of @volume without padding. */
static guint8 *
show (GstHarness *h, const Volume *volume, gint *width, gint *height,
    gint *channels)
{
  GstBuffer *buffer;
  GstCaps *caps;
  GstVideoInfo info;
  GstVideoFrame frame;
  guint8 *pixels;
  gsize row;

  fail_unless_equals_int (gst_harness_push (h, volume_buffer (volume)),
      GST_FLOW_OK);
  buffer = gst_harness_try_pull (h);
  fail_unless (buffer != NULL);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 3 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 7);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 25);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  *width = GST_VIDEO_INFO_WIDTH (&info);
  *height = GST_VIDEO_INFO_HEIGHT (&info);
  *channels = GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_FORMAT_RGB ? 3 : 1;
  row = *width * *channels;
  pixels = g_malloc (row * *height);
  for (gint y = 0; y < *height; y++)
    memcpy (pixels + y * row,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        row);
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);
  return pixels;
}

/* The formula in the documentation. */
static gint
grey_of (gdouble v, gdouble window, gdouble level)
{
  gdouble grey = (v - (level - window / 2)) / window * 255;

  return isnan (grey) ? 0 : (gint) CLAMP (nearbyint (grey), 0, 255);
}

static gdouble
maximum (const Volume *v, gsize k, gint axis, gsize x, gsize y, gsize z,
    gsize channel)
{
  const gsize sizes[] = { X, Y, Z };
  gdouble most = -INFINITY;

  for (gsize i = 0; i < sizes[axis]; i++)
    most = MAX (most,
        sample_at (v, k, axis == 0 ? i : x, axis == 1 ? i : y,
            axis == 2 ? i : z, channel));
  return most;
}

/* The value at column @i, row @j of a picture; NaN if the picture has none
 * there. */
static gdouble
pixel (const Volume *v, gsize k, const gchar *mode, gint axis,
    const gsize at[3], gsize i, gsize j, gsize channel)
{
  gsize x, y, z;

  if (g_str_equal (mode, "orthogonal")) {
    if (i < X && j < Y)
      return sample_at (v, k, i, j, at[2], channel);
    if (i >= X && j < Y)
      return sample_at (v, k, at[0], j, i - X, channel);
    if (i < X)
      return sample_at (v, k, i, at[1], j - Y, channel);
    return NAN;
  }
  x = axis == 0 ? at[0] : i;
  y = axis == 1 ? at[1] : j;
  z = axis == 0 ? i : axis == 1 ? j : at[2];
  return g_str_equal (mode, "slice") ? sample_at (v, k, x, y, z, channel)
                                     : maximum (v, k, axis, x, y, z, channel);
}

static void
check_picture (GstHarness *h, const Volume *volume, gsize k, const gchar *mode,
    gint axis, gdouble position, gdouble window, gdouble level)
{
  const gint widths[] = { Z, X, X }, heights[] = { Y, Z, Y };
  gboolean three = g_str_equal (mode, "orthogonal");
  gsize at[] = { MIN (position * X, X - 1), MIN (position * Y, Y - 1),
    MIN (position * Z, Z - 1) };
  gint width, height, channels;
  guint8 *pixels = show (h, volume, &width, &height, &channels);

  fail_unless_equals_int (width, three ? X + Z : widths[axis]);
  fail_unless_equals_int (height, three ? Y + Z : heights[axis]);
  fail_unless_equals_int (channels, volume->components == 3 ? 3 : 1);
  for (gint j = 0; j < height; j++) {
    for (gint i = 0; i < width; i++) {
      for (gint c = 0; c < channels; c++) {
        gdouble v = pixel (volume, k, mode, axis, at, i, j, c);
        gint have = pixels[(j * width + i) * channels + c];
        gint want = grey_of (v, window, level);

        /* The magnitude is rounded to float32 before it is drawn. */
        fail_unless (ABS (have - want) <= (volume->components == 2),
            "%s axis %d at %g: pixel %d,%d is %d, not %d (%g)", mode, axis,
            position, i, j, have, want, v);
      }
    }
  }
  g_free (pixels);
}

static const gchar *modes[] = { "slice", "orthogonal", "projection" };
static const gchar *axes[] = { "x", "y", "z" };

GST_START_TEST (test_pixels)
{
  static const gdouble positions[] = { 0, 0.5, 0.7, 1 };
  guint32 seed = g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);

  g_print ("seed %u\n", seed);
  for (guint type = 0; type < 4; type++) {
    for (guint components = 1; components <= 4; components++) {
      Volume volume = random_volume (rand, type, components, 1);
      GstHarness *h = gst_harness_new ("ndview");
      gdouble range = type == 0 ? 256 : type == 3 ? 2000 : 65536;

      set_volume_caps (h, &volume, "");
      for (guint m = 0; m < 3; m++) {
        for (guint axis = 0; axis < 3; axis++) {
          for (guint p = 0; p < G_N_ELEMENTS (positions); p++) {
            /* Off centre, and narrow enough that both ends saturate. */
            gdouble window = range * (0.2 + 0.2 * p), level = range * 0.3;

            gst_util_set_object_arg (G_OBJECT (h->element), "mode", modes[m]);
            gst_util_set_object_arg (G_OBJECT (h->element), "axis", axes[axis]);
            g_object_set (h->element, "position", positions[p], "window",
                window, "level", level, NULL);
            check_picture (h, &volume, 0, modes[m], axis, positions[p], window,
                level);
          }
        }
      }
      gst_harness_teardown (h);
      g_free (volume.values);
    }
  }
  g_rand_free (rand);
}

GST_END_TEST;

/* Half way between two greys rounds to the even one. */
GST_START_TEST (test_rounding)
{
  static const struct
  {
    gdouble value;
    guint8 grey;
  } cases[] = { { 0.5, 0 }, { 1.5, 2 }, { 2.5, 2 }, { 253.5, 254 },
    { 254.5, 254 }, { -1, 0 }, { 300, 255 }, { -INFINITY, 0 },
    { INFINITY, 255 }, { NAN, 0 } };
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };
  gint width, height, channels;
  guint8 *pixels;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    volume.values[i] = cases[i].value;
  set_volume_caps (h, &volume, "");
  g_object_set (h->element, "window", 255.0, "level", 127.5, "position", 0.0,
      NULL);
  pixels = show (h, &volume, &width, &height, &channels);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fail_unless (pixels[i] == cases[i].grey, "%g is %u, not %u", cases[i].value,
        pixels[i], cases[i].grey);
  g_free (pixels);
  g_free (volume.values);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The maximum ignores NaN unless all samples are NaN. */
GST_START_TEST (test_nan_projection)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };
  gint width, height, channels;
  guint8 *pixels;

  for (gsize z = 0; z < Z; z++) {
    volume.values[z * X * Y] = NAN;
    volume.values[z * X * Y + 1] = z == 3 ? 200 : NAN;
    volume.values[z * X * Y + 2] = z == 3 ? NAN : 100;
  }
  set_volume_caps (h, &volume, "");
  g_object_set (h->element, "window", 255.0, "level", 127.5, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "mode", "projection");
  pixels = show (h, &volume, &width, &height, &channels);
  fail_unless_equals_int (pixels[0], 0);
  fail_unless_equals_int (pixels[1], 200);
  fail_unless_equals_int (pixels[2], 100);
  g_free (pixels);
  g_free (volume.values);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_responses)
{
  GRand *rand = g_rand_new_with_seed (5);
  Volume volume = random_volume (rand, 3, 2, 3);
  GstHarness *h = gst_harness_new ("ndview");

  set_volume_caps (h, &volume, "");
  for (guint k = 0; k < 3; k++) {
    g_object_set (h->element, "response", k, "window", 1500.0, "level", 700.0,
        NULL);
    check_picture (h, &volume, k, "slice", 2, 0.5, 1500, 700);
  }
  gst_harness_teardown (h);
  g_free (volume.values);
  g_rand_free (rand);
}

GST_END_TEST;

/* The automatic window covers the 0.5 to the 99.5 percentile. */
GST_START_TEST (test_auto)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };
  gint width, height, channels;
  guint8 *pixels;

  /* 140 values from -50 to 89 in mixed order, and one outlier. */
  for (gsize i = 0; i < X * Y * Z; i++)
    volume.values[i] = -50 + (gdouble) (i * 37 % (X * Y * Z));
  volume.values[11] = NAN;
  volume.values[12] = INFINITY;
  g_object_set (h->element, "position", 0.0, NULL);
  set_volume_caps (h, &volume, "");
  pixels = show (h, &volume, &width, &height, &channels);
  for (gint i = 0; i < width * height; i++)
    fail_unless (ABS (pixels[i] - grey_of (volume.values[i], 138, 19)) <= 3,
        "pixel %d of %g is %u", i, volume.values[i], pixels[i]);
  g_free (pixels);
  g_free (volume.values);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The window follows a change slowly to avoid flicker. */
GST_START_TEST (test_auto_smooth)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };
  gint width, height, channels, previous = 0;
  guint8 *pixels;

  set_volume_caps (h, &volume, "");
  g_object_set (h->element, "position", 0.0, NULL);
  for (guint n = 0; n < 40; n++) {
    /* 0 to 100, then 0 to 1000: a sample of 50 gets darker slowly. */
    for (gsize i = 0; i < X * Y * Z; i++)
      volume.values[i] = i % 2 ? n < 2 ? 100 : 1000 : 0;
    volume.values[0] = 50;
    pixels = show (h, &volume, &width, &height, &channels);
    if (n < 2)
      fail_unless (ABS (pixels[0] - 128) <= 1);
    else if (n == 2)
      fail_unless (pixels[0] < 60 && pixels[0] > 30);
    else
      fail_unless (pixels[0] <= previous);
    previous = pixels[0];
    g_free (pixels);
  }
  fail_unless (previous <= 14 && previous >= 12);
  gst_harness_teardown (h);
  g_free (volume.values);
}

GST_END_TEST;

/* A volume that a late filter left out (DISCONT) does not restart the automatic
 * window; a flush does. */
GST_START_TEST (test_auto_restarts)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };

  set_volume_caps (h, &volume, "");
  g_object_set (h->element, "position", 0.0, NULL);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *in, *out;
    guint8 pixel;

    for (gsize i = 0; i < X * Y * Z; i++)
      volume.values[i] = i % 2 ? n == 0 ? 100 : 1000 : 0;
    volume.values[0] = 50;
    if (n == 2) {
      GstSegment segment;

      gst_harness_push_event (h, gst_event_new_flush_start ());
      gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
      gst_segment_init (&segment, GST_FORMAT_TIME);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
    }
    in = volume_buffer (&volume);
    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
    out = gst_harness_push_and_pull (h, in);
    gst_buffer_extract (out, 0, &pixel, 1);
    /* Windows of 100, 280 and 1000. */
    fail_unless (ABS (pixel
                     - (n == 0        ? 128
                             : n == 1 ? 46
                                      : 13))
            <= 1,
        "volume %u: %u", n, pixel);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  g_free (volume.values);
}

GST_END_TEST;

/* Position and window follow control sources at the time of each volume. */
GST_START_TEST (test_controlled)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 3, 1, 1, g_new0 (gdouble, X * Y * Z) };
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *timed = GST_TIMED_VALUE_CONTROL_SOURCE (source);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (timed, 0, 0);
  gst_timed_value_control_source_set (timed, 10 * GST_SECOND, 1);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new (GST_OBJECT (h->element), "position",
          source)));
  for (gsize i = 0; i < X * Y * Z; i++)
    volume.values[i] = 10 * (i / (X * Y));
  g_object_set (h->element, "window", 255.0, "level", 127.5, NULL);
  set_volume_caps (h, &volume, "");
  for (guint time_s = 0; time_s <= 10; time_s++) {
    GstBuffer *in = volume_buffer (&volume), *out;
    guint8 pixel;

    GST_BUFFER_PTS (in) = time_s * GST_SECOND;
    out = gst_harness_push_and_pull (h, in);
    gst_buffer_extract (out, 0, &pixel, 1);
    fail_unless_equals_int (pixel, 10 * MIN (time_s * Z / 10, Z - 1));
    gst_buffer_unref (out);
  }
  gst_object_unref (source);
  gst_harness_teardown (h);
  g_free (volume.values);
}

GST_END_TEST;

/* backend=cpu offers no memory of a GPU; backend=cuda needs one. */
GST_START_TEST (test_backends)
{
  GstElement *view = gst_element_factory_make ("ndview", NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GstCaps *caps;
  GstPad *pad = gst_element_get_static_pad (view, "sink");

  gst_element_set_bus (view, bus);
  g_object_set (view, "backend", 1, NULL);
  fail_unless_equals_int (gst_element_set_state (view, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_query_caps (pad, NULL);
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    fail_if (gst_caps_features_contains (gst_caps_get_features (caps, i),
        "memory:CUDAMemory"));
  gst_caps_unref (caps);
  gst_element_set_state (view, GST_STATE_NULL);
  g_object_set (view, "backend", 2, "device-id", 0, NULL);
  fail_unless_equals_int (gst_element_set_state (view, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);
  gst_element_set_state (view, GST_STATE_NULL);
  gst_element_set_bus (view, NULL);
  gst_object_unref (pad);
  gst_object_unref (bus);
  gst_object_unref (view);
}

GST_END_TEST;

/* Nothing to divide by: a constant volume is black; a single outlier is
 * visible; a volume of NaN is black. */
GST_START_TEST (test_auto_constant)
{
  static const gdouble constants[] = { 0, 7, -3, 1e30, NAN, INFINITY };

  for (guint c = 0; c < G_N_ELEMENTS (constants); c++) {
    for (guint spike = 0; spike < 2; spike++) {
      GstHarness *h = gst_harness_new ("ndview");
      Volume volume = { 3, 1, 1, g_new (gdouble, X * Y * Z) };
      gint width, height, channels;
      guint8 *pixels;

      for (gsize i = 0; i < X * Y * Z; i++)
        volume.values[i] = constants[c];
      if (spike)
        volume.values[3] = 2e30;
      g_object_set (h->element, "position", 0.0, NULL);
      set_volume_caps (h, &volume, "");
      pixels = show (h, &volume, &width, &height, &channels);
      for (gint i = 0; i < width * height; i++) {
        gint want = isinf (constants[c]) ? 255 : 0;

        if (spike && i == 3)
          want = isfinite (constants[c]) ? 255 : 0;
        fail_unless (pixels[i] == want, "%g: pixel %d is %u, not %d",
            constants[c], i, pixels[i], want);
      }
      g_free (pixels);
      g_free (volume.values);
      gst_harness_teardown (h);
    }
  }
}

GST_END_TEST;

static void
check_aspect (GstHarness *h, gint n, gint d)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_VIDEO_INFO_PAR_N (&info), n);
  fail_unless_equals_int (GST_VIDEO_INFO_PAR_D (&info), d);
  gst_caps_unref (caps);
}

#define PLACE(spacing)                                 \
  ",spacing=(string)" spacing ",origin=(string)0:0:0," \
  "directions=(string)1:0:0:0:1:0:0:0:1"

/* Pixels are as wide and high as the spacing says, unless downstream requests
 * square ones. */
GST_START_TEST (test_aspect)
{
  static const gint ratios[3][2] = { { 3, 2 }, { 1, 3 }, { 1, 2 } };
  Volume volume = { 0, 1, 1, g_new0 (gdouble, X * Y * Z) };

  for (guint axis = 0; axis < 3; axis++) {
    for (guint square = 0; square < 2; square++) {
      GstHarness *h = gst_harness_new ("ndview");
      gint width, height, channels;

      gst_util_set_object_arg (G_OBJECT (h->element), "axis", axes[axis]);
      if (square)
        gst_harness_set_sink_caps_str (h, "video/x-raw,pixel-aspect-ratio=1/1");
      set_volume_caps (h, &volume, PLACE ("1:2:3"));
      g_free (show (h, &volume, &width, &height, &channels));
      check_aspect (h, square ? 1 : ratios[axis][0],
          square ? 1 : ratios[axis][1]);
      gst_harness_teardown (h);
    }
  }
  g_free (volume.values);
}

GST_END_TEST;

/* A frame, with the dimensions in both spellings. */
GST_START_TEST (test_frame)
{
  static const gchar *spellings[] = { "1:5:4", "1:5:4:1" };

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++) {
    GstHarness *h = gst_harness_new ("ndview");
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 20, NULL);
    GstMapInfo map;
    gchar *caps = g_strdup_printf ("other/tensors,format=static,num_tensors=1,"
                                   "types=uint8,dimensions=%s,framerate=0/1",
        spellings[i]);

    gst_buffer_memset (buffer, 0, 77, 20);
    g_object_set (h->element, "window", 255.0, "level", 127.5, NULL);
    gst_harness_set_src_caps_str (h, caps);
    buffer = gst_harness_push_and_pull (h, buffer);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (map.size >= 3 * 8 + 5);
    for (guint y = 0; y < 4; y++)
      for (guint x = 0; x < 5; x++)
        fail_unless_equals_int (map.data[y * 8 + x], 77);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    g_free (caps);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Another volume size, type and rank in mid-stream. */
GST_START_TEST (test_caps_change)
{
  GRand *rand = g_rand_new_with_seed (6);
  GstHarness *h = gst_harness_new ("ndview");

  g_object_set (h->element, "window", 2000.0, "level", 500.0, NULL);
  for (guint type = 0; type < 4; type++) {
    for (guint k = 1; k <= 3; k++) {
      Volume volume = random_volume (rand, type, k, 4 - k);

      set_volume_caps (h, &volume, "");
      check_picture (h, &volume, 0, "slice", 2, 0.5, 2000, 500);
      g_free (volume.values);
    }
  }
  gst_harness_teardown (h);
  g_rand_free (rand);
}

GST_END_TEST;

static void
check_error (GstHarness *h, GstBuffer *buffer, const gchar *word)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (h->element, bus);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, word), "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
}

GST_START_TEST (test_errors)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 0, 1, 2, g_new0 (gdouble, X * Y * Z * 2) };

  set_volume_caps (h, &volume, "");
  g_object_set (h->element, "response", 2, NULL);
  check_error (h, volume_buffer (&volume), "'response'");
  g_object_set (h->element, "response", 1, NULL);
  check_error (h, gst_buffer_new_allocate (NULL, X * Y * Z, NULL), "bytes");
  gst_harness_teardown (h);
  g_free (volume.values);
}

GST_END_TEST;

/* Downstream's picture of fixed size accepts only volumes of that size. */
GST_START_TEST (test_refused)
{
  GstHarness *h = gst_harness_new ("ndview");
  Volume volume = { 0, 1, 1, g_new0 (gdouble, X * Y * Z) };

  gst_harness_set_sink_caps_str (h, "video/x-raw,width=100");
  set_volume_caps (h, &volume, "");
  fail_unless_equals_int (gst_harness_push (h, volume_buffer (&volume)),
      GST_FLOW_NOT_NEGOTIATED);
  gst_harness_teardown (h);
  g_free (volume.values);
}

GST_END_TEST;

static Suite *
view_suite (void)
{
  Suite *suite = suite_create ("ndview");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_pixels);
  tcase_add_test (tc, test_rounding);
  tcase_add_test (tc, test_nan_projection);
  tcase_add_test (tc, test_responses);
  tcase_add_test (tc, test_auto);
  tcase_add_test (tc, test_auto_smooth);
  tcase_add_test (tc, test_auto_restarts);
  tcase_add_test (tc, test_auto_constant);
  tcase_add_test (tc, test_controlled);
  tcase_add_test (tc, test_backends);
  tcase_add_test (tc, test_aspect);
  tcase_add_test (tc, test_frame);
  tcase_add_test (tc, test_caps_change);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_refused);
  return suite;
}

GST_CHECK_MAIN (view);
