/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndanchor.h"

/* Copies metas, but for those that describe memory or keep other buffers. */
static gboolean
copy_meta (GstBuffer *from, GstMeta **meta, gpointer to)
{
  const GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };
  const GType api = (*meta)->info->api;

  if ((*meta)->info->transform_func && api != GST_PARENT_BUFFER_META_API_TYPE
      && !gst_meta_api_type_has_tag (api, _gst_meta_tag_memory))
    (*meta)->info->transform_func (to, *meta, from, _gst_meta_transform_copy,
        (gpointer) &copy);
  return TRUE;
}

static gboolean
copy_volume_meta (GstBuffer *from, GstMeta **meta, gpointer to)
{
  return gst_nd_is_tensor_meta (*meta) || copy_meta (from, meta, to);
}

GstBuffer *
gst_nd_anchor_new (GstBuffer *buffer, const GstNdFormat *format)
{
  GstBuffer *anchor = gst_buffer_new ();

  gst_buffer_copy_into (anchor, buffer,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_foreach_meta (buffer,
      format->is_video ? copy_meta : copy_volume_meta, anchor);
  if (!GST_BUFFER_DURATION_IS_VALID (anchor) && !format->is_variable)
    GST_BUFFER_DURATION (anchor) = gst_nd_format_duration (format);
  return anchor;
}

gboolean
gst_nd_anchor_keeps_meta (const GstMeta *meta, gboolean is_video)
{
  static const gchar *const kept[] = { GST_META_TAG_VIDEO_STR,
    GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_VIDEO_SIZE_STR, NULL };
  const gchar *const *tags = gst_meta_api_type_get_tags (meta->info->api);

  if (tags && !is_video)
    return FALSE;
  for (; tags && *tags; tags++) {
    if (!g_strv_contains (kept, *tags))
      return FALSE;
  }
  return TRUE;
}

/* GstTensorMeta, by which GStreamer 1.26 and later describe tensors. Elements
 * that know it need no caps of NNStreamer.
 */

/* By its name, so that a plugin that was built without it knows it too. */
gboolean
gst_nd_is_tensor_meta (const GstMeta *meta)
{
  return g_str_equal (g_type_name (meta->info->api), "GstTensorMetaAPI");
}

#ifdef ND_HAVE_TENSOR_META

#include <gst/analytics/gsttensormeta.h>

/* C, X, Y, Z and the responses of a bank. */
#define RANK 5

static GstTensorDataType
data_type (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return GST_TENSOR_DATA_TYPE_UINT8;
    case ND_INT8:
      return GST_TENSOR_DATA_TYPE_INT8;
    case ND_UINT16:
      return GST_TENSOR_DATA_TYPE_UINT16;
    case ND_INT16:
      return GST_TENSOR_DATA_TYPE_INT16;
    case ND_UINT32:
      return GST_TENSOR_DATA_TYPE_UINT32;
    case ND_INT32:
      return GST_TENSOR_DATA_TYPE_INT32;
    case ND_FLOAT16:
      return GST_TENSOR_DATA_TYPE_FLOAT16;
    case ND_FLOAT64:
      return GST_TENSOR_DATA_TYPE_FLOAT64;
    case ND_FLOAT32:
    case ND_SAMPLE_SAME:
      break;
  }
  return GST_TENSOR_DATA_TYPE_FLOAT32;
}

/* A buffer with the memory of @buffer. */
static GstBuffer *
share_memory (GstBuffer *buffer)
{
  GstBuffer *data = gst_buffer_new ();

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    gst_buffer_append_memory (data, gst_buffer_get_memory (buffer, i));
  return data;
}

void
gst_nd_tensor_meta_attach (GstBuffer *buffer, const GstNdFormat *format)
{
  const NdShape *shape = &format->planes[0];
  gsize dims[RANK] = { format->responses, shape->size[2], shape->size[1],
    shape->size[0], shape->components };
  const gsize first = format->responses > 1 ? 0 : 1;
  GstTensor **tensors;

  if (format->is_video)
    return;
  tensors = g_new (GstTensor *, 1);
  tensors[0] =
      gst_tensor_new_simple (g_quark_from_static_string ("ndconv-volume"),
          data_type (format->type), share_memory (buffer),
          GST_TENSOR_DIM_ORDER_ROW_MAJOR, RANK - first, dims + first);
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), 1, tensors);
}

#else

void
gst_nd_tensor_meta_attach (GstBuffer *buffer, const GstNdFormat *format)
{
}

#endif
