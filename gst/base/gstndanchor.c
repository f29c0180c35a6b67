/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndanchor.h"

#include "gst/base/gstndtensormeta.h"

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
