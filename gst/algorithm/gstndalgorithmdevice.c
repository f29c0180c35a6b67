/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/algorithm/gstndalgorithmprivate.h"

#include "core/threads.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstnddevicepool.h"
#include "gst/base/gstnderror.h"

#define GST_CAT_DEFAULT gst_nd_algorithm_debug

/* Properties for READY take effect at the next start(). */
static GstNdResources
get_resources (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdResources resources =
      GST_ND_ALGORITHM_GET_CLASS (self)->get_resources (self);

  GST_OBJECT_LOCK (self);
  if (priv->started)
    resources = priv->resources;
  GST_OBJECT_UNLOCK (self);
  return resources;
}

/* The device, and the context that elements share */

gboolean
gst_nd_algorithm_start_device (GstNdAlgorithm *self, GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstNdResources wanted =
      GST_ND_ALGORITHM_GET_CLASS (self)->get_resources (self);
  gboolean ok;

  if (wanted.backend != GST_ND_BACKEND_CPU)
    gst_nd_device_start (&priv->device, GST_ELEMENT (self), wanted.device_id);
  ok = wanted.backend != GST_ND_BACKEND_CUDA
      || gst_nd_device_backend (&priv->device, error);
  GST_OBJECT_LOCK (self);
  priv->resources = wanted;
  priv->started = ok;
  GST_OBJECT_UNLOCK (self);
  return ok;
}

gboolean
gst_nd_algorithm_may_use_device (GstNdAlgorithm *self)
{
  return get_resources (self).backend != GST_ND_BACKEND_CPU
      && gst_nd_device_is_possible (&gst_nd_algorithm_private (self)->device);
}

const NdBackend *
gst_nd_algorithm_device_in_use (GstNdAlgorithm *self)
{
  const NdBackend *backend = gst_nd_algorithm_private (self)->backend;

  return backend && backend->memory ? backend : NULL;
}

void
gst_nd_algorithm_set_context (GstElement *element, GstContext *context)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (element);

  gst_nd_device_set_context (&gst_nd_algorithm_private (self)->device, element,
      context, get_resources (self).device_id);
  GST_ELEMENT_CLASS (gst_nd_algorithm_parent ())
      ->set_context (element, context);
}

/* start() reports a missing device. */
GstStateChangeReturn
gst_nd_algorithm_change_state (GstElement *element, GstStateChange transition)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    gst_nd_algorithm_start_device (self, NULL);
  ret = GST_ELEMENT_CLASS (gst_nd_algorithm_parent ())
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nd_device_stop (&gst_nd_algorithm_private (self)->device);
  return ret;
}

/* The back end */

static gboolean
make_on (GstNdAlgorithm *self, const NdBackend *backend, gint device_id,
    GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);

  if (!backend->algorithms) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The back end '%s' has filters only: use backend=cpu or auto",
        backend->name);
    return FALSE;
  }
  for (guint p = 0; p < priv->input.n_planes; p++) {
    priv->algorithms[p] = klass->build (self, backend->algorithms, device_id,
        &priv->input, &priv->output, p, error);
    if (!priv->algorithms[p]) {
      gst_nd_algorithm_clear (self);
      return FALSE;
    }
    priv->n_algorithms++;
  }
  priv->backend = backend;
  GST_OBJECT_LOCK (self);
  priv->backend_name = backend->name;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
make_on_device (GstNdAlgorithm *self, gint device_id, GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const NdBackend *backend = gst_nd_device_backend (&priv->device, error);
  g_autoptr (GstObject) context = NULL;
  gboolean ok;

  if (!backend)
    return FALSE;
  context = gst_nd_context_get (&priv->device.context);
  gst_nd_cuda_enter (context);
  ok = make_on (self, backend, device_id, error);
  gst_nd_cuda_leave (context);
  return ok;
}

static gboolean
make_on_cpu (GstNdAlgorithm *self, GError **error)
{
  const NdBackend *backend = nd_backend_find ("cpu", -1, error);
  guint before;
  gboolean ok;

  if (!backend)
    return FALSE;
  GST_INFO_OBJECT (self, "computing on the CPU with %u threads",
      gst_nd_algorithm_private (self)->n_threads);
  before = nd_threads_enter (gst_nd_algorithm_private (self)->n_threads);
  ok = make_on (self, backend, -1, error);
  nd_threads_leave (before);
  return ok;
}

/* Outputs in host memory are pinned, so that the device writes them
 * directly. */
gboolean
gst_nd_algorithm_make_pool (GstNdAlgorithm *self, GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstNdFormat *format = &priv->output;
  const NdBackend *backend = gst_nd_algorithm_device_in_use (self);
  g_autoptr (GstAllocator) allocator = NULL;
  GstStructure *config;
  guint size = format->size;

  gst_nd_algorithm_clear_pool (self);
  if (format->size > G_MAXUINT) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "An output volume has %" G_GSIZE_FORMAT
        " bytes, but a buffer of a pool has less than 4 GiB: use smaller "
        "volumes",
        format->size);
    return FALSE;
  }
  if (!backend && format->device)
    backend = gst_nd_device_backend (&priv->device, NULL);
  if (backend) {
    allocator = gst_nd_device_allocator_new (&priv->device, backend,
        get_resources (self).device_id, format);
    priv->pool = gst_nd_device_pool_new (&priv->device, format,
        priv->output_caps, &allocator, 0, 0, &size);
  } else {
    priv->pool = gst_buffer_pool_new ();
    config = gst_buffer_pool_get_config (priv->pool);
    gst_buffer_pool_config_set_params (config, NULL, format->size, 0, 0);
    gst_buffer_pool_set_config (priv->pool, config);
  }
  GST_INFO_OBJECT (self,
      "output pool %" GST_PTR_FORMAT ": buffers of %u bytes, 0 to 0, %s",
      priv->pool, size,
      format->device ? "memory of the device"
          : backend  ? "pinned memory"
                     : "host memory");
  if (gst_buffer_pool_set_active (priv->pool, TRUE))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "No memory for outputs of %" G_GSIZE_FORMAT " bytes: use smaller volumes",
      format->size);
  return FALSE;
}

void
gst_nd_algorithm_log_settings (GstNdAlgorithm *self, const gchar *text)
{
  g_autofree GParamSpec **specs = NULL;
  g_autoptr (GString) settings = NULL;
  guint n;

  if (gst_debug_category_get_threshold (GST_CAT_DEFAULT) < GST_LEVEL_INFO)
    return;
  settings = g_string_new (NULL);
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);
  for (guint i = 0; i < n; i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    g_autofree gchar *written = NULL;

    if (specs[i]->owner_type != G_OBJECT_TYPE (self)
        || !(specs[i]->flags & G_PARAM_WRITABLE))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (G_OBJECT (self), specs[i]->name, &value);
    written = G_VALUE_HOLDS_DOUBLE (&value)
        ? g_strdup_printf ("%g", g_value_get_double (&value))
        : gst_value_serialize (&value);
    g_string_append_printf (settings, "%s%s=%s", settings->len ? ", " : "",
        specs[i]->name, written ? written : "");
  }
  GST_INFO_OBJECT (self, "%s: %s", text, settings->str);
}

static void
log_algorithms (GstNdAlgorithm *self, gint64 begin)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  guint before, after;
  gsize bytes = 0;

  GST_ND_ALGORITHM_GET_CLASS (self)->get_window (self, &before, &after);
  for (guint i = 0; i < priv->n_algorithms; i++)
    bytes += nd_algorithm_bytes (priv->algorithms[i]);
  GST_INFO_OBJECT (self,
      "algorithm built in %.3f ms on %s: window of %u volumes (%u before the "
      "anchor, %u after it), %" G_GSIZE_FORMAT " bytes",
      (g_get_monotonic_time () - begin) * 1e-3, priv->backend->name,
      before + 1 + after, before, after, bytes);
}

gboolean
gst_nd_algorithm_make (GstNdAlgorithm *self, GError **error)
{
  const gint64 begin = g_get_monotonic_time ();
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstNdResources wanted = get_resources (self);
  g_autoptr (GError) why = NULL;

  gst_nd_algorithm_clear (self);
  gst_nd_algorithm_log_settings (self, "settings");
  priv->n_threads = nd_threads_start (wanted.n_threads);
  if (wanted.backend != GST_ND_BACKEND_CPU
      && !make_on_device (self, wanted.device_id, &why)) {
    if (wanted.backend == GST_ND_BACKEND_CUDA) {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
    GST_INFO_OBJECT (self, "computing on the CPU: %s", why->message);
  }
  if (priv->n_algorithms == 0 && !make_on_cpu (self, error))
    return FALSE;
  log_algorithms (self, begin);
  if (gst_nd_algorithm_make_pool (self, error))
    return TRUE;
  gst_nd_algorithm_clear (self);
  return FALSE;
}

/* Memory of buffers */

/* Outputs come from a pool of this element. */
gboolean
gst_nd_algorithm_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* For a device this proposes memory that it reads by itself. */
gboolean
gst_nd_algorithm_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const NdBackend *backend = gst_nd_algorithm_device_in_use (self);
  g_autoptr (GstAllocator) allocator = NULL;
  g_autoptr (GstBufferPool) pool = NULL;
  GstNdFormat format;
  GstCaps *caps;
  guint size;

  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!gst_nd_algorithm_parent ()->propose_allocation (trans, decide_query,
          query))
    return FALSE;
  gst_query_parse_allocation (query, &caps, NULL);
  if (!backend || !caps || !gst_nd_format_from_caps (&format, caps, NULL)
      || format.size > G_MAXUINT)
    return TRUE;
  allocator = gst_nd_device_allocator_new (&priv->device, backend,
      get_resources (self).device_id, &format);
  size = format.size;
  pool = gst_nd_device_pool_new (&priv->device, &format, caps, &allocator, 0, 0,
      &size);
  if (allocator)
    gst_query_add_allocation_param (query, allocator, NULL);
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  return TRUE;
}
