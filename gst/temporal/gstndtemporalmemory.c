/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndpool.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* NULL for memory of the host that no device reads. */
static GstAllocator *
make_allocator (GstNdTemporal *self, const GstNdFormat *format)
{
  GstNdTemporalPrivate *priv = self->priv;
  const NdBackend *backend = gst_nd_processor_device (priv->processor);

  /* The processor may compute on the CPU all the same. */
  if (!backend && format->device)
    backend = gst_nd_device_backend (&priv->device, NULL);
  return backend ? gst_nd_device_allocator_new (&priv->device, backend,
                       gst_nd_temporal_settings_device (priv->active), format)
                 : NULL;
}

static gboolean
fits_in_pool (GstNdTemporal *self)
{
  g_autoptr (GError) error = NULL;

  if (self->priv->out.size <= G_MAXUINT)
    return TRUE;
  g_set_error (&error, ND_ERROR, ND_ERROR_MEMORY,
      "An output volume has %" G_GSIZE_FORMAT
      " bytes, but a buffer of a pool holds less than 4 GiB: use smaller "
      "volumes",
      self->priv->out.size);
  gst_nd_temporal_fail (self, error);
  return FALSE;
}

/* Always ends with a pool, because the base class would size outputs by the
 * anchors, which have no memory (docs/checklist.md, 22). */
gboolean
gst_nd_temporal_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = make_allocator (self, &priv->out);
  guint size = 0, min = 0, max = 0;
  gboolean update = gst_query_get_n_allocation_pools (query) > 0;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (update)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (!fits_in_pool (self))
    return FALSE;
  /* On a device several outputs are in flight, for which a pool with a maximum
   * may have too few buffers, and outputs must be in the context of this
   * element. */
  if (allocator && (priv->out.device || max > 0)) {
    GST_DEBUG_OBJECT (self, "replacing the pool from downstream: %s",
        max > 0 ? "it has a maximum" : "outputs need memory in our context");
    gst_clear_object (&pool);
    min = max = size = 0;
  }
  size = MAX (size, priv->out.size);
  if (!pool) {
    pool = gst_nd_device_pool_new (&priv->device, &priv->out, caps, &allocator,
        min, max, &size);
    /* The base class configures the pool again, with these parameters. */
    while (gst_nd_processor_device (priv->processor)
        && gst_query_get_n_allocation_params (query) > 0)
      gst_query_remove_nth_allocation_param (query, 0);
    if (allocator)
      gst_query_add_allocation_param (query, allocator, NULL);
  }
  GST_INFO_OBJECT (self,
      "output pool %" GST_PTR_FORMAT ": buffers of %u bytes, %u to %u, %s",
      pool, size, min, max,
      priv->out.device ? "memory of the device"
          : allocator  ? "pinned memory"
                       : "host memory");
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  return gst_nd_temporal_parent ()->decide_allocation (trans, query);
}

/* Upstream may use any memory with any strides, because the window copies each
 * volume. For a device this proposes memory that it reads by itself. */
gboolean
gst_nd_temporal_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstNdFormat format;
  GstCaps *caps;
  guint size;

  if (!gst_nd_temporal_parent ()->propose_allocation (trans, decide_query,
          query))
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
  pool = gst_nd_device_pool_new (&self->priv->device, &format, caps, &allocator,
      0, 0, &size);
  if (allocator)
    gst_query_add_allocation_param (query, allocator, NULL);
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  GST_DEBUG_OBJECT (self, "proposing pool %" GST_PTR_FORMAT, pool);
  return TRUE;
}
