/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/frames.h"

#include <math.h>

void
video_info (GstVideoInfo *info, GstVideoFormat format, guint width,
    guint height)
{
  gst_video_info_set_format (info, format, width, height);
  GST_VIDEO_INFO_FPS_N (info) = 10;
  GST_VIDEO_INFO_FPS_D (info) = 1;
}

Stream *
video_start (const gchar *factory, const GstVideoInfo *info, const Model *model,
    const gchar *property, const gchar *value)
{
  Stream *s = stream_new (factory, model, property, value, NULL);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);

  s->h = gst_harness_new_with_element (s->element, "sink", "src");
  gst_harness_set_src_caps (s->h, g_steal_pointer (&caps));
  return s;
}

static gboolean
is_deep (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8;
}

static gboolean
is_swapped (const GstVideoInfo *info)
{
  return g_str_has_suffix (GST_VIDEO_INFO_NAME (info), "BE")
      != (G_BYTE_ORDER == G_BIG_ENDIAN)
      && is_deep (info);
}

/* Bytes from the start of a row. GStreamer 1.22 has the offset of the second
 * chroma of P010 and its like in samples. */
static gsize
offset_in_row (const GstVideoInfo *info, guint c)
{
  const gsize offset = GST_VIDEO_INFO_COMP_POFFSET (info, c);

  return is_deep (info) && offset % 2 == 1 ? offset * 2 : offset;
}

static guint8 *
sample_at (GstVideoFrame *frame, guint c, guint x, guint y)
{
  const guint plane = GST_VIDEO_INFO_COMP_PLANE (&frame->info, c);

  return (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane)
      + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane)
      + offset_in_row (&frame->info, c)
      + x * GST_VIDEO_INFO_COMP_PSTRIDE (&frame->info, c);
}

static guint
get_sample (const GstVideoInfo *info, const guint8 *p)
{
  guint16 value;

  if (!is_deep (info))
    return *p;
  memcpy (&value, p, 2);
  return is_swapped (info) ? GUINT16_SWAP_LE_BE (value) : value;
}

static void
set_sample (const GstVideoInfo *info, guint8 *p, guint value)
{
  guint16 deep = value;

  if (!is_deep (info)) {
    *p = value;
    return;
  }
  if (is_swapped (info))
    deep = GUINT16_SWAP_LE_BE (deep);
  memcpy (p, &deep, 2);
}

GstBuffer *
video_buffer (const GstVideoInfo *info, guint padding, GRand *r)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 }, size = padding;
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  const guint depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  const guint shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, 0);
  GstVideoFrame frame;
  GstMapInfo map;
  GstBuffer *buffer;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    offsets[p] = size;
    strides[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + padding;
    size += (gsize) strides[p] * (GST_VIDEO_INFO_HEIGHT (info) + 1);
  }
  if (padding == 0)
    size = GST_VIDEO_INFO_SIZE (info);
  buffer = gst_buffer_new_and_alloc (size);
  if (padding > 0)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offsets,
        strides);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = g_rand_int (r);
  gst_buffer_unmap (buffer, &map);
  if (depth % 8 == 0)
    return buffer;
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++)
        set_sample (info, sample_at (&frame, c, x, y),
            g_rand_int_range (r, 0, 1 << depth) << shift);
  gst_video_frame_unmap (&frame);
  return buffer;
}

gdouble *
video_component (GstBuffer *buffer, const GstVideoInfo *info, guint c)
{
  const guint width = GST_VIDEO_INFO_COMP_WIDTH (info, c);
  const guint height = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
  const guint shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c);
  gdouble *samples = g_new (gdouble, width * height);
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      const guint value = get_sample (info, sample_at (&frame, c, x, y));

      fail_unless_equals_int (value & ((1 << shift) - 1), 0);
      samples[y * width + x] = value >> shift;
    }
  }
  gst_video_frame_unmap (&frame);
  return samples;
}

gboolean
video_is_chroma (const GstVideoInfo *info, guint c)
{
  return GST_VIDEO_INFO_IS_YUV (info) && (c == 1 || c == 2);
}

gboolean
video_is_alpha (guint c)
{
  return c == 3;
}

/* The bytes of padding. The fill of RGBx may be anything. */
static void
check_padding (const GstVideoInfo *info, GstBuffer *output)
{
  const guint bytes = is_deep (info) ? 2 : 1;
  g_autofree guint8 *covered = NULL;
  GstVideoFrame frame;
  GstMapInfo map;

  if (strchr (GST_VIDEO_INFO_NAME (info), 'x'))
    return;
  fail_unless (gst_buffer_map (output, &map, GST_MAP_READ));
  covered = g_new0 (guint8, map.size);
  fail_unless (gst_video_frame_map (&frame, info, output, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++)
        memset (covered + (sample_at (&frame, c, x, y) - map.data), 1, bytes);
  gst_video_frame_unmap (&frame);
  for (gsize i = 0; i < map.size; i++)
    fail_unless (covered[i] || map.data[i] == 0,
        "%s: byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
        " is no sample, and is %u",
        GST_VIDEO_INFO_NAME (info), i, map.size, map.data[i]);
  gst_buffer_unmap (output, &map);
}

/* Field @field of a component, every second line, minus @zero. */
static gdouble *
take_field (const gdouble *samples, guint width, guint height, guint field,
    guint fields, gdouble zero)
{
  gdouble *taken = g_new (gdouble, width * height / fields);

  for (guint y = 0; y < height / fields; y++)
    for (guint x = 0; x < width; x++)
      taken[y * width + x] = samples[(y * fields + field) * width + x] - zero;
  return taken;
}

static void
check_component (const Model *model, const GstVideoInfo *info, guint c,
    gdouble *const *volumes, guint n, guint i, const gdouble *got)
{
  const guint fields = GST_VIDEO_INFO_IS_INTERLACED (info) ? 2 : 1;
  const guint width = GST_VIDEO_INFO_COMP_WIDTH (info, c);
  const guint height = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
  const guint depth = GST_VIDEO_INFO_COMP_DEPTH (info, c);
  const gdouble zero = video_is_chroma (info, c) ? 1 << (depth - 1) : 0;
  const guint dims[4] = { 1, width, height / fields, 1 };
  g_autofree gdouble *want = g_new (gdouble, width * height);
  Model local = *model;

  if (zero != 0)
    local.offset = local.border_value = 0;
  for (guint f = 0; f < fields; f++) {
    g_autofree gdouble **taken = g_new (gdouble *, n);

    for (guint v = 0; v < n; v++)
      taken[v] = take_field (volumes[v], width, height, f, fields, zero);
    model_respond (&local, (const gdouble *const *) taken, n, i, dims, want);
    for (guint k = 0; k < dims[1] * dims[2]; k++) {
      const gdouble value = got[(k / width * fields + f) * width + k % width];
      const gdouble rounded =
          CLAMP (rint (want[k] + zero), 0, (1 << depth) - 1);

      fail_unless (value == rounded,
          "%s, component %u, field %u, sample %u: %g, not %g",
          GST_VIDEO_INFO_NAME (info), c, f, k, value, want[k] + zero);
    }
    for (guint v = 0; v < n; v++)
      g_free (taken[v]);
  }
}

void
video_check (const Model *model, const GstVideoInfo *info, GstBuffer **inputs,
    guint n, guint i, GstBuffer *output)
{
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    g_autofree gdouble *got = video_component (output, info, c);
    g_autofree gdouble **volumes = g_new (gdouble *, n);

    for (guint v = 0; v < n; v++)
      volumes[v] = video_component (inputs[v], info, c);
    if (!video_is_alpha (c))
      check_component (model, info, c, volumes, n, i, got);
    else
      fail_unless (memcmp (got, volumes[i],
                       GST_VIDEO_INFO_COMP_WIDTH (info, c)
                           * GST_VIDEO_INFO_COMP_HEIGHT (info, c)
                           * sizeof (gdouble))
              == 0,
          "%s: alpha of frame %u changed", GST_VIDEO_INFO_NAME (info), i);
    for (guint v = 0; v < n; v++)
      g_free (volumes[v]);
  }
  check_padding (info, output);
}

guint
video_formats (const gchar *factory, GstVideoFormat formats[MAX_FORMATS])
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps (pad);
  guint n = 0;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);
    const GValue *list = gst_structure_get_value (s, "format");

    if (!gst_structure_has_name (s, "video/x-raw")
        || gst_caps_features_contains (gst_caps_get_features (caps, i),
            "memory:CUDAMemory"))
      continue;
    for (guint k = 0; k < gst_value_list_get_size (list); k++) {
      const gchar *name =
          g_value_get_string (gst_value_list_get_value (list, k));

      fail_unless (n < MAX_FORMATS);
      formats[n] = gst_video_format_from_string (name);
      fail_unless (formats[n] != GST_VIDEO_FORMAT_UNKNOWN, "%s", name);
      n++;
    }
  }
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (element);
  return n;
}
