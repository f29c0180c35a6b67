/* Memory for volumes and outputs: what is offered upstream, and what is taken
 * from downstream. Numbers in parentheses are those of the checklist.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvprivate.h"

#include "gstndcuda.h"
#include "gstnderror.h"
#include "gstndmemory.h"

/* What makes memory that the device in use works on; NULL where there is none.
 */
static GstAllocator *
make_allocator (GstNdConv * self, const GstNdFormat * format)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  const NdBackend *device = gst_nd_conv_device_in_use (self);

  if (!device)
    return NULL;
  return gst_nd_allocator_new (device, priv->context, priv->active.device_id,
      format->device ? GST_ND_MEMORY_DEVICE : GST_ND_MEMORY_PINNED);
}

/* A pool for volumes of @format: of GStreamer's CUDA memory, which has an
 * allocator of its own, or of @allocator's. */
static GstBufferPool *
make_pool (GstNdConv * self, const GstNdFormat * format, GstCaps * caps,
    GstAllocator ** allocator, guint min, guint max, guint * size)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstBufferPool *pool = NULL;
  GstStructure *config;

  if (format->device)
    pool = gst_nd_cuda_pool_new (priv->context, caps, min, max, size);
  if (pool) {
    gst_clear_object (allocator);
    return pool;
  }
  pool = format->is_video ? gst_video_buffer_pool_new ()
      : gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, *size, min, max);
  if (*allocator)
    gst_buffer_pool_config_set_allocator (config, *allocator, NULL);
  gst_buffer_pool_set_config (pool, config);
  return pool;
}

/* Always ends with a pool: the base class would size outputs by the anchors,
 * which have no memory (22). */
gboolean
gst_nd_conv_decide_allocation (GstBaseTransform * trans, GstQuery * query)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = make_allocator (self, &priv->out);
  guint size = 0, min = 0, max = 0;
  gboolean update = gst_query_get_n_allocation_pools (query) > 0;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (update)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (priv->out.size > G_MAXUINT) {
    g_autoptr (GError) error = g_error_new (ND_ERROR, ND_ERROR_NO_SPACE,
        "An output volume of %" G_GSIZE_FORMAT " bytes is more than a buffer "
        "pool holds, 4 GiB", priv->out.size);

    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  /* Several are in flight here, and a pool of few would stop them. On a device
   * only memory in our context will do. */
  if (allocator && (priv->out.device || max > 0)) {
    gst_clear_object (&pool);
    min = max = size = 0;
  }
  size = MAX (size, priv->out.size);
  if (!pool) {
    pool = make_pool (self, &priv->out, caps, &allocator, min, max, &size);
    /* The parent class configures the pool again, with these. */
    while (gst_nd_conv_device_in_use (self)
        && gst_query_get_n_allocation_params (query) > 0)
      gst_query_remove_nth_allocation_param (query, 0);
    if (allocator)
      gst_query_add_allocation_param (query, allocator, NULL);
  }
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  return gst_nd_conv_parent ()->decide_allocation (trans, query);
}

/* Inputs are copied at once: upstream may use any memory, with any strides.
 * Offered is what a device reads without a copy on the host. */
gboolean
gst_nd_conv_propose_allocation (GstBaseTransform * trans,
    GstQuery * decide_query, GstQuery * query)
{
  GstNdConv *self = GST_ND_CONV (trans);
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstNdFormat format;
  GstCaps *caps;
  guint size;

  if (!gst_nd_conv_parent ()->propose_allocation (trans, decide_query, query))
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_nd_format_from_caps (&format, caps, NULL)
      || format.size > G_MAXUINT)
    return TRUE;
  allocator = make_allocator (self, &format);
  if (!allocator)
    return TRUE;
  size = format.size;
  pool = make_pool (self, &format, caps, &allocator, 0, 0, &size);
  if (allocator)
    gst_query_add_allocation_param (query, allocator, NULL);
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  return TRUE;
}
