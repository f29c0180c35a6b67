/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndvideolayout.h"

#include "core/error.h"

#include <string.h>

/* Planes */

static gboolean
has_alpha (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_N_COMPONENTS (info) == 4;
}

/* Component @c alone. */
static GstNdVideoPlane
single_plane (const GstVideoInfo *info, guint c)
{
  GstNdVideoPlane plane = { .plane = GST_VIDEO_INFO_COMP_PLANE (info, c) };

  plane.offset = GST_VIDEO_INFO_COMP_POFFSET (info, c);
  plane.sample = GST_VIDEO_INFO_COMP_PSTRIDE (info, c);
  plane.shape.components = 1;
  plane.shape.size[0] = GST_VIDEO_INFO_COMP_WIDTH (info, c);
  plane.shape.size[1] = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
  plane.shape.size[2] = 1;
  return plane;
}

static void
add_plane (GstNdVideoLayout *layout, const GstNdVideoPlane *plane)
{
  const gsize bytes = nd_sample_size (layout->type);

  layout->has_gaps |= plane->sample != plane->shape.components * bytes;
  layout->planes[layout->n_planes++] = *plane;
}

/* Red, green and blue, which are side by side, and the padding of a pixel that
 * has four components without alpha. */
static void
add_packed_rgb (GstNdVideoLayout *layout, const GstVideoInfo *info)
{
  const gsize bytes = nd_sample_size (layout->type);
  GstNdVideoPlane plane = single_plane (info, 0);
  guint64 colours = 0;

  for (guint c = 1; c < 3; c++)
    plane.offset = MIN (plane.offset, GST_VIDEO_INFO_COMP_POFFSET (info, c));
  plane.shape.components = 3;
  if (!has_alpha (info) && plane.sample == 4 * bytes) {
    plane.offset = 0;
    plane.shape.components = 4;
  }
  for (guint c = 0; c < 3; c++)
    colours |=
        (guint64) 1 << (GST_VIDEO_INFO_COMP_POFFSET (info, c) - plane.offset)
            / bytes;
  plane.kept = (((guint64) 1 << plane.shape.components) - 1) & ~colours;
  add_plane (layout, &plane);
}

/* The components of a format with a plane for each, or for both of chroma. The
 * latter are side by side; GStreamer 1.22 has wrong offsets for some
 * formats. */
static void
add_planar (GstNdVideoLayout *layout, const GstVideoInfo *info)
{
  const gsize bytes = nd_sample_size (layout->type);
  guint64 seen = 0;

  for (guint c = 0; c < MIN (GST_VIDEO_INFO_N_COMPONENTS (info), 3); c++) {
    GstNdVideoPlane plane = single_plane (info, c);

    if (seen >> plane.plane & 1)
      continue;
    seen |= (guint64) 1 << plane.plane;
    plane.offset = 0;
    plane.shape.components = plane.sample / bytes;
    add_plane (layout, &plane);
  }
}

static void
add_packed_yuv (GstNdVideoLayout *layout, const GstVideoInfo *info)
{
  for (guint c = 0; c < 3; c++) {
    const GstNdVideoPlane plane = single_plane (info, c);

    add_plane (layout, &plane);
  }
}

static void
add_alpha (GstNdVideoLayout *layout, const GstVideoInfo *info)
{
  GstNdVideoPlane plane = single_plane (info, 3);

  plane.kept = 1;
  plane.is_alpha = TRUE;
  add_plane (layout, &plane);
}

/* Lines of a field are two rows apart, so that the fields are slices. */
static gboolean
split_fields (GstNdVideoLayout *layout, const GstVideoInfo *info,
    GError **error)
{
  const GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE (info);

  if (mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE)
    return TRUE;
  if (mode != GST_VIDEO_INTERLACE_MODE_INTERLEAVED) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The video is interlaced with interlace-mode=%s, and only interleaved "
        "fields can be told apart: put 'deinterlace' before this element",
        gst_video_interlace_mode_to_string (mode));
    return FALSE;
  }
  for (guint p = 0; p < layout->n_planes; p++) {
    gsize *size = layout->planes[p].shape.size;

    if (size[1] % 2 != 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "The video is interlaced and a plane of it has %" G_GSIZE_FORMAT
          " lines, so that its two fields differ in height: put 'deinterlace' "
          "before this element",
          size[1]);
      return FALSE;
    }
    size[1] /= 2;
    size[2] = 2;
  }
  return TRUE;
}

gboolean
gst_nd_video_layout_init (GstNdVideoLayout *layout, const GstVideoInfo *info,
    GError **error)
{
  const GstVideoFormatInfo *format = info->finfo;
  const gboolean is_le = GST_VIDEO_FORMAT_INFO_IS_LE (format);

  memset (layout, 0, sizeof (*layout));
  layout->depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  layout->type = layout->depth > 8 ? ND_UINT16 : ND_UINT8;
  layout->shift = GST_VIDEO_FORMAT_INFO_SHIFT (format, 0);
  layout->is_swapped =
      layout->type == ND_UINT16 && is_le != (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  if (GST_VIDEO_INFO_N_PLANES (info) > 1
      || GST_VIDEO_INFO_N_COMPONENTS (info) == 1)
    add_planar (layout, info);
  else if (GST_VIDEO_INFO_IS_RGB (info))
    add_packed_rgb (layout, info);
  else
    add_packed_yuv (layout, info);
  if (has_alpha (info))
    add_alpha (layout, info);
  return split_fields (layout, info, error);
}

gboolean
gst_nd_video_layout_is_plain (const GstNdVideoLayout *layout, gboolean gaps)
{
  return !layout->is_swapped && layout->shift == 0
      && (gaps || !layout->has_gaps);
}

/* Bytes from the first to the end of the last sample of a row. */
static gsize
videolayout_row_bytes (const GstNdVideoLayout *layout,
    const GstNdVideoPlane *plane)
{
  return (plane->shape.size[0] - 1) * plane->sample
      + plane->shape.components * nd_sample_size (layout->type);
}

gboolean
gst_nd_video_layout_find (const GstNdVideoLayout *layout, guint p,
    const GstVideoFrame *frame, NdSamples *samples)
{
  const GstNdVideoPlane *plane = &layout->planes[p];
  const GstMapInfo *memory = &frame->map[frame->meta ? plane->plane : 0];
  const gsize fields = plane->shape.size[2];
  const gsize lines = plane->shape.size[1] * fields;
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane->plane);
  guint8 *start = GST_VIDEO_FRAME_PLANE_DATA (frame, plane->plane);
  const gsize row = plane->offset + videolayout_row_bytes (layout, plane);

  samples->data = start + plane->offset;
  samples->sample = plane->sample;
  samples->row = stride * fields;
  samples->slice = fields > 1 ? (gsize) stride : stride * lines;
  samples->response = stride * lines;
  return stride >= (gint64) row
      && (lines - 1) * stride + row
      <= memory->size - (gsize) (start - memory->data);
}

/* Rows */

void
gst_nd_video_layout_clear (const GstNdVideoLayout *layout, GstVideoFrame *frame)
{
  const GstVideoMeta *meta = frame->meta;
  gsize covered = 0;

  for (guint p = 0; p < layout->n_planes; p++) {
    const NdShape *shape = &layout->planes[p].shape;

    covered += shape->components * shape->size[0] * shape->size[1]
        * shape->size[2] * nd_sample_size (layout->type);
  }
  if (covered == gst_buffer_get_size (frame->buffer))
    return;
  for (guint p = 0; p < (meta ? GST_VIDEO_FRAME_N_PLANES (frame) : 1); p++) {
    const GstMapInfo *memory = &frame->map[p];
    guint8 *start = GST_VIDEO_FRAME_PLANE_DATA (frame, p);

    memset (start, 0, memory->size - (gsize) (start - memory->data));
  }
}

static void
unpack16 (const guint8 *from, gsize step, gsize n, gsize components,
    guint shift, gboolean is_swapped, guint16 *to)
{
  for (gsize i = 0; i < n; i++, from += step) {
    for (gsize c = 0; c < components; c++) {
      const guint16 value = ((const guint16 *) from)[c];

      *to++ = (is_swapped ? GUINT16_SWAP_LE_BE (value) : value) >> shift;
    }
  }
}

static void
videolayout_pack16 (const guint16 *from, gsize n, gsize components, guint shift,
    guint16 limit, gboolean is_swapped, guint8 *to, gsize step)
{
  for (gsize i = 0; i < n; i++, to += step) {
    for (gsize c = 0; c < components; c++) {
      const guint16 value = MIN (*from, limit) << shift;

      ((guint16 *) to)[c] = is_swapped ? GUINT16_SWAP_LE_BE (value) : value;
      from++;
    }
  }
}

/* Samples of one byte that are @from_step and @to_step apart. */
static void
videolayout_move8 (const guint8 *from, gsize from_step, gsize n,
    gsize components, guint8 *to, gsize to_step)
{
  for (gsize i = 0; i < n; i++, from += from_step, to += to_step) {
    for (gsize c = 0; c < components; c++)
      to[c] = from[c];
  }
}

static guint8 *
row_start (const NdSamples *samples, gsize y, gsize z)
{
  return samples->data + y * samples->row + z * samples->slice;
}

void
gst_nd_video_layout_unpack (const GstNdVideoLayout *layout, guint p,
    const NdSamples *frame, const NdSamples *dense)
{
  const NdShape *shape = &layout->planes[p].shape;
  const gsize n = shape->size[0], components = shape->components;

  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize y = 0; y < shape->size[1]; y++) {
      const guint8 *from = row_start (frame, y, z);
      guint8 *to = row_start (dense, y, z);

      if (layout->type == ND_UINT8)
        videolayout_move8 (from, frame->sample, n, components, to,
            dense->sample);
      else
        unpack16 (from, frame->sample, n, components, layout->shift,
            layout->is_swapped, (guint16 *) to);
    }
  }
}

/* The largest sample value of plane @p. Alpha may have bits above the depth. */
static guint16
videolayout_highest (const GstNdVideoLayout *layout, guint p)
{
  return layout->planes[p].is_alpha ? G_MAXUINT16 >> layout->shift
                                    : (1 << layout->depth) - 1;
}

void
gst_nd_video_layout_pack (const GstNdVideoLayout *layout, guint p,
    const NdSamples *dense, const NdSamples *frame)
{
  const NdShape *shape = &layout->planes[p].shape;
  const gsize n = shape->size[0], components = shape->components;

  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize y = 0; y < shape->size[1]; y++) {
      const guint8 *from = row_start (dense, y, z);
      guint8 *to = row_start (frame, y, z);

      if (layout->type == ND_UINT8)
        videolayout_move8 (from, dense->sample, n, components, to,
            frame->sample);
      else
        videolayout_pack16 ((const guint16 *) from, n, components,
            layout->shift, videolayout_highest (layout, p), layout->is_swapped,
            to, frame->sample);
    }
  }
}

void
gst_nd_video_layout_limit (const GstNdVideoLayout *layout, guint p,
    const NdSamples *frame)
{
  const NdShape *shape = &layout->planes[p].shape;
  const guint16 limit = videolayout_highest (layout, p);

  if (layout->type == ND_UINT8 || limit == G_MAXUINT16)
    return;
  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize y = 0; y < shape->size[1]; y++) {
      guint8 *row = row_start (frame, y, z);

      for (gsize x = 0; x < shape->size[0]; x++) {
        guint16 *sample = (guint16 *) (row + x * frame->sample);

        for (gsize c = 0; c < shape->components; c++)
          sample[c] = MIN (sample[c], limit);
      }
    }
  }
}

/* Frames of packed video (gray, RGB, RGBA) as volumes of one slice.
 */

void
gst_nd_frame_get_info (const GstVideoInfo *video, GstNdVolumeInfo *info)
{
  *info = (GstNdVolumeInfo){
    .type = GST_VIDEO_INFO_COMP_DEPTH (video, 0) > 8 ? ND_UINT16 : ND_UINT8,
    .shape = { GST_VIDEO_INFO_N_COMPONENTS (video),
        { GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video), 1 } },
    .rate_n = GST_VIDEO_INFO_FPS_N (video),
    .rate_d = GST_VIDEO_INFO_FPS_D (video),
    .responses = 1,
  };
}

gsize
gst_nd_frame_row (const GstVideoInfo *video)
{
  return GST_VIDEO_INFO_WIDTH (video)
      * (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (video, 0);
}

void
gst_nd_frame_copy (const GstVideoFrame *frame, guint8 *data)
{
  const guint8 *from = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  const gsize row = gst_nd_frame_row (&frame->info);

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++) {
    memcpy (data, from, row);
    data += row;
    from += GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  }
}
