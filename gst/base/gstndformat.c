/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndformat.h"

#include "core/error.h"
#include "core/memory.h"
#include "engine/strided.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstndmemory.h"
#include <string.h>

static gboolean
video_from_caps (GstNdFormat *format, const GstCaps *caps, GError **error)
{
  GstVideoInfo *info = &format->video;

  if (!gst_video_info_from_caps (info, caps) || info->size == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The caps of the video are incomplete: they must have format, and "
        "width and height of 1 and more");
    return FALSE;
  }
  if (!gst_nd_video_layout_init (&format->layout, info, error))
    return FALSE;
  format->is_video = TRUE;
  format->type = format->computed = format->layout.type;
  format->n_planes = format->layout.n_planes;
  format->responses = 1;
  format->rate_n = GST_VIDEO_INFO_FPS_N (info);
  format->rate_d = GST_VIDEO_INFO_FPS_D (info);
  format->is_variable =
      GST_VIDEO_INFO_FLAG_IS_SET (info, GST_VIDEO_FLAG_VARIABLE_FPS);
  format->size = GST_VIDEO_INFO_SIZE (info);
  for (guint p = 0; p < format->n_planes; p++)
    format->planes[p] = format->layout.planes[p].shape;
  return TRUE;
}

gboolean
gst_nd_format_from_caps (GstNdFormat *format, const GstCaps *caps,
    GError **error)
{
  memset (format, 0, sizeof (*format));
  format->device = gst_nd_cuda_caps (caps, 0);
  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return video_from_caps (format, caps, error);
  if (!gst_nd_volume_info_from_caps (&format->tensors, caps, error))
    return FALSE;
  format->type = format->tensors.type;
  format->computed = nd_sample_computed (format->type, format->precision);
  format->n_planes = 1;
  format->planes[0] = format->tensors.shape;
  format->responses = format->tensors.responses;
  format->rate_n = format->tensors.rate_n;
  format->rate_d = format->tensors.rate_d;
  format->size = gst_nd_volume_info_size (&format->tensors);
  return TRUE;
}

void
gst_nd_format_set_precision (GstNdFormat *format, NdPrecision precision)
{
  format->precision = precision;
  if (!format->is_video)
    format->computed = nd_sample_computed (format->type, precision);
}

gboolean
gst_nd_format_set_strides (GstNdFormat *format, const gchar *strides,
    GError **error)
{
  const NdShape *shape = &format->planes[0];
  const gsize bytes = nd_sample_size (format->type);
  const gsize dense = shape->components * shape->size[0] * bytes;
  gsize given[2], slice;
  guint n;

  if (format->is_video || !strides || !*strides) {
    format->row = format->slice = 0;
    return TRUE;
  }
  n = nd_parse_sizes (strides, given, 2);
  slice = n > 0 ? nd_size_mul (given[0], shape->size[1], 1) : 0;
  if (n == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property strides is \"%s\": it must be one or two whole numbers, the "
        "bytes from row to row and from slice to slice, for example 512:65536",
        strides);
  else if (given[0] < dense || given[0] % bytes != 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property strides is \"%s\", but a row of these caps has "
        "%" G_GSIZE_FORMAT
        " bytes: the first number must be at least that, and a multiple of the "
        "%" G_GSIZE_FORMAT " bytes of a sample",
        strides, dense, bytes);
  else if (slice == G_MAXSIZE
      || (n == 2 && (given[1] < slice || given[1] % bytes != 0)))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property strides is \"%s\", but %" G_GSIZE_FORMAT
        " rows of %" G_GSIZE_FORMAT " bytes have %" G_GSIZE_FORMAT
        " bytes: the second number must be at least that, and a multiple of "
        "the %" G_GSIZE_FORMAT " bytes of a sample",
        strides, shape->size[1], given[0], slice, bytes);
  else {
    format->row = given[0];
    format->slice = n == 2 ? given[1] : slice;
    return TRUE;
  }
  return FALSE;
}

/* Strides with which a buffer of @size bytes would be a volume, or NULL. */
static gchar *
guess_strides (const GstNdFormat *format, gsize size)
{
  const gsize *n = format->planes[0].size;
  const gsize rows = format->is_video ? 0 : n[1] * n[2];

  if (rows == 0 || size <= format->size || size % rows != 0
      || size / rows % nd_sample_size (format->type) != 0)
    return NULL;
  return g_strdup_printf ("; if its rows are padded to %" G_GSIZE_FORMAT
                          " bytes, set strides=%" G_GSIZE_FORMAT,
      size / rows, size / rows);
}

gchar *
gst_nd_format_wrong_size (const GstNdFormat *format, GstBuffer *buffer)
{
  const gsize size = gst_buffer_get_size (buffer);
  g_autofree gchar *strides = guess_strides (format, size);

  if (size == format->size)
    return g_strdup ("A buffer with a volume cannot be mapped for reading: "
                     "upstream must send memory that the host can read, and "
                     "there must be memory for a copy");
  return g_strdup_printf ("A buffer has %" G_GSIZE_FORMAT
                          " bytes, but a volume of these caps has "
                          "%" G_GSIZE_FORMAT
                          " bytes: upstream must send one whole volume in each "
                          "buffer%s",
      size, format->size, strides ? strides : "");
}

gboolean
gst_nd_format_is_equal (const GstNdFormat *a, const GstNdFormat *b)
{
  return a->is_video == b->is_video && a->type == b->type
      && a->n_planes == b->n_planes && a->responses == b->responses
      && (!a->is_video
          || GST_VIDEO_INFO_FORMAT (&a->video)
              == GST_VIDEO_INFO_FORMAT (&b->video))
      && memcmp (a->planes, b->planes, a->n_planes * sizeof (NdShape)) == 0;
}

gdouble
gst_nd_format_zero (const GstNdFormat *format, guint plane)
{
  return plane > 0 && GST_VIDEO_INFO_IS_YUV (&format->video)
      ? 1 << (format->layout.depth - 1)
      : 0;
}

guint64
gst_nd_format_kept (const GstNdFormat *format, guint plane)
{
  return format->is_video ? format->layout.planes[plane].kept : 0;
}

gboolean
gst_nd_format_is_alpha (const GstNdFormat *format, guint plane)
{
  return format->is_video && format->layout.planes[plane].is_alpha;
}

gboolean
gst_nd_format_has_fields (const GstNdFormat *format)
{
  return format->is_video && format->planes[0].size[2] > 1;
}

GstClockTime
gst_nd_format_duration (const GstNdFormat *format)
{
  if (format->rate_n <= 0)
    return GST_CLOCK_TIME_NONE;
  return gst_util_uint64_scale_round (GST_SECOND, format->rate_d,
      format->rate_n);
}

/* Checks the memory, because a buffer of caps with memory:CUDAMemory may still
 * have host memory. */
static gboolean
is_on_device (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    if (!gst_nd_cuda_is_memory (memory) && !gst_nd_memory_is_device (memory))
      return FALSE;
  }
  return gst_buffer_n_memory (buffer) > 0;
}

/* Call after the map, which enqueues an upload of data that was written on the
 * host, and does not wait for it. */
static void
sync_memory (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);

    if (gst_nd_cuda_is_memory (memory))
      gst_nd_cuda_sync (memory);
  }
}

NdFence *
gst_nd_map_fence (const GstNdMap *map)
{
  GstMemory *memory = gst_buffer_peek_memory (map->buffer, 0);

  return gst_nd_memory_is_device (memory) ? gst_nd_memory_get_fence (memory)
                                          : NULL;
}

/* Dense planes in memory of our own, of the type that filters compute with. */
static gboolean
make_staging (GstNdMap *map)
{
  const GstNdFormat *format = map->format;
  gsize bytes = 0;

  for (guint p = 0; p < format->n_planes; p++) {
    map->frame_planes[p] = map->planes[p];
    map->planes[p] =
        nd_samples_dense (NULL, &format->planes[p], format->computed);
    bytes += map->planes[p].response * format->responses;
  }
  map->staging = g_try_malloc (bytes);
  if (!map->staging)
    return FALSE;
  bytes = 0;
  for (guint p = 0; p < format->n_planes; p++) {
    map->planes[p].data = map->staging + bytes;
    bytes += map->planes[p].response * format->responses;
  }
  return TRUE;
}

/* Converts all rows of all responses to the staging memory, or from there. */
static void
convert_rows (GstNdMap *map, gboolean to_computed)
{
  const GstNdFormat *format = map->format;
  const NdStrided stream = nd_strided (&map->frame_planes[0], format->type);

  if (to_computed)
    nd_samples_gather (&stream, &format->planes[0], format->responses,
        format->type, format->precision, &map->planes[0]);
  else
    nd_samples_scatter (&map->planes[0], &format->planes[0], format->responses,
        format->type, format->precision, &stream);
}

/* The last row and the last slice may have no padding. */
static gboolean
has_padded_size (const GstNdFormat *format, gsize size)
{
  const NdShape *shape = &format->planes[0];
  const gsize row =
      shape->components * shape->size[0] * nd_sample_size (format->type);
  const gsize all = nd_size_mul (format->slice, shape->size[2], 1);

  return format->row > 0 && all < G_MAXSIZE && size <= all
      && size >= all - format->slice + (shape->size[1] - 1) * format->row + row;
}

/* Samples that a program wrapped may begin anywhere, which not every machine
 * reads. */
static gboolean
format_align (GstNdMap *map)
{
  if ((gsize) map->map.data % nd_sample_size (map->format->type) == 0)
    return TRUE;
  if (map->map.flags & (GST_MAP_WRITE | GST_ND_MAP_CUDA))
    return FALSE;
  map->copy = g_try_malloc (map->map.size);
  if (!map->copy)
    return FALSE;
  memcpy (map->copy, map->map.data, map->map.size);
  return TRUE;
}

static gboolean
map_tensor (GstNdMap *map, GstMapFlags flags)
{
  const GstNdFormat *format = map->format;
  const gsize size = gst_buffer_get_size (map->buffer);
  const gboolean padded = size != format->size;
  NdSamples *volume = &map->planes[0];

  if ((padded && !has_padded_size (format, size))
      || !gst_buffer_map (map->buffer, &map->map, flags))
    return FALSE;
  if (!format_align (map)) {
    gst_buffer_unmap (map->buffer, &map->map);
    return FALSE;
  }
  *volume = nd_samples_dense (map->copy ? map->copy : map->map.data,
      &format->planes[0], format->type);
  if (padded) {
    volume->row = format->row;
    volume->slice = format->slice;
  }
  if (format->computed == format->type)
    return TRUE;
  if (!make_staging (map)) {
    gst_buffer_unmap (map->buffer, &map->map);
    g_clear_pointer (&map->copy, g_free);
    return FALSE;
  }
  if (!map->writes)
    convert_rows (map, TRUE);
  return TRUE;
}

static gboolean
find_planes (GstNdMap *map)
{
  for (guint p = 0; p < map->format->n_planes; p++) {
    if (!gst_nd_video_layout_find (&map->format->layout, p, &map->frame,
            &map->planes[p]))
      return FALSE;
  }
  return TRUE;
}

static gboolean
map_video (GstNdMap *map, GstMapFlags flags, gboolean device)
{
  const GstNdVideoLayout *layout = &map->format->layout;
  const gboolean is_plain = gst_nd_video_layout_is_plain (layout, !device);

  if (!gst_video_frame_map (&map->frame, &map->format->video, map->buffer,
          flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return FALSE;
  if (!find_planes (map) || (!is_plain && !make_staging (map))) {
    gst_video_frame_unmap (&map->frame);
    return FALSE;
  }
  if (map->writes)
    gst_nd_video_layout_clear (layout, &map->frame);
  else if (map->staging)
    for (guint p = 0; p < layout->n_planes; p++)
      gst_nd_video_layout_unpack (layout, p, &map->frame_planes[p],
          &map->planes[p]);
  return TRUE;
}

/* Whether a device can read and write the samples in place. */
static gboolean
suits_device (const GstNdFormat *format)
{
  if (!format->is_video)
    return format->computed == format->type;
  return gst_nd_video_layout_is_plain (&format->layout, FALSE)
      && format->layout.depth == 8 * nd_sample_size (format->type);
}

gboolean
gst_nd_map (GstNdMap *map, const GstNdFormat *format, GstBuffer *buffer,
    GstMapFlags flags, gboolean device)
{
  map->format = format;
  map->buffer = buffer;
  map->copy = NULL;
  map->staging = NULL;
  map->on_device = device && suits_device (format) && is_on_device (buffer);
  map->writes = flags & GST_MAP_WRITE && !map->on_device;
  if (map->on_device)
    flags |= GST_ND_MAP_CUDA;
  if (!(format->is_video ? map_video (map, flags, device)
                         : map_tensor (map, flags)))
    return FALSE;
  if (map->on_device)
    sync_memory (buffer);
  return TRUE;
}

/* Converts the written samples to the form of the frame. */
static void
finish_frame (GstNdMap *map)
{
  const GstNdVideoLayout *layout = &map->format->layout;

  for (guint p = 0; p < layout->n_planes; p++) {
    if (map->staging)
      gst_nd_video_layout_pack (layout, p, &map->planes[p],
          &map->frame_planes[p]);
    else
      gst_nd_video_layout_limit (layout, p, &map->planes[p]);
  }
}

void
gst_nd_unmap (GstNdMap *map)
{
  if (map->format->is_video) {
    if (map->writes)
      finish_frame (map);
    gst_video_frame_unmap (&map->frame);
  } else {
    if (map->writes && map->staging)
      convert_rows (map, FALSE);
    gst_buffer_unmap (map->buffer, &map->map);
    g_clear_pointer (&map->copy, g_free);
  }
  g_clear_pointer (&map->staging, g_free);
}
