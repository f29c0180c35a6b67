/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/gstndalgorithmprivate.h"

#include "cpu/threads.h"
#include "gst/gstndcuda.h"
#include "gst/gstnderror.h"

GST_DEBUG_CATEGORY (gst_nd_algorithm_debug);
#define GST_CAT_DEFAULT gst_nd_algorithm_debug

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNdAlgorithm, gst_nd_algorithm,
    GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstNdAlgorithm)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL));

GstNdAlgorithmPrivate *
gst_nd_algorithm_private (GstNdAlgorithm *self)
{
  return gst_nd_algorithm_get_instance_private (self);
}

GstBaseTransformClass *
gst_nd_algorithm_parent (void)
{
  return GST_BASE_TRANSFORM_CLASS (gst_nd_algorithm_parent_class);
}

void
gst_nd_algorithm_settings_changed (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  priv->settings_changed = TRUE;
  if (!priv->negotiated)
    GST_ND_ALGORITHM_GET_CLASS (self)->activate (self);
}

GstStructure *
gst_nd_algorithm_stats (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstStructure *s = gst_structure_new_empty ("ndconv-stats");

  GST_OBJECT_LOCK (self);
  gst_structure_set (s, "backend", G_TYPE_STRING, "cpu", "volumes-in",
      G_TYPE_UINT64, priv->in, "volumes-out", G_TYPE_UINT64, priv->out_count,
      "volumes-late", G_TYPE_UINT64, priv->late, "volumes-clipped",
      G_TYPE_UINT64, priv->clipped, "seconds-min", G_TYPE_DOUBLE,
      priv->seconds_min, "seconds-mean", G_TYPE_DOUBLE,
      priv->out_count ? priv->seconds_sum / priv->out_count : 0, "seconds-max",
      G_TYPE_DOUBLE, priv->seconds_max, NULL);
  GST_ND_ALGORITHM_GET_CLASS (self)->add_stats (self, s);
  GST_OBJECT_UNLOCK (self);
  return s;
}

/* The algorithms in use */

void
gst_nd_algorithm_clear (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  for (guint i = 0; i < priv->n_algorithms; i++)
    nd_algorithm_free (priv->algorithms[i]);
  priv->n_algorithms = 0;
  if (priv->pool)
    gst_buffer_pool_set_active (priv->pool, FALSE);
  gst_clear_object (&priv->pool);
}

/* For accurate seeks. Borders may mirror time at both ends. */
static void
set_reach (GstNdAlgorithm *self, GstClockTime interval)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  const guint reach = MAX (priv->before, priv->after);
  const guint memory = klass->get_memory ? klass->get_memory (self) : 0;

  gst_nd_seek_set_reach (&priv->seek, GST_ELEMENT (self),
      reach + (priv->reverse ? 0 : memory),
      reach + (priv->reverse ? memory : 0), interval);
}

void
gst_nd_algorithm_update_latency (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstClockTime nominal = gst_nd_format_duration (&priv->input);
  const GstClockTime measured = gst_nd_timing_interval (&priv->timing);
  GstClockTime interval = nominal, latency = 0;
  gboolean changed;

  GST_ND_ALGORITHM_GET_CLASS (self)->get_window (self, &priv->before,
      &priv->after);
  if (!GST_CLOCK_TIME_IS_VALID (nominal)
      || (GST_CLOCK_TIME_IS_VALID (measured)
          && measured > nominal + nominal / 10))
    interval = measured;
  if (GST_CLOCK_TIME_IS_VALID (interval))
    latency = priv->after * interval;
  set_reach (self, interval);
  GST_OBJECT_LOCK (self);
  changed = !GST_CLOCK_TIME_IS_VALID (priv->latency)
      || (GstClockTime) ABS (GST_CLOCK_DIFF (priv->latency, latency))
          > MIN (priv->latency, latency) / 10;
  if (changed)
    priv->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  GST_INFO_OBJECT (self, "latency %" GST_TIME_FORMAT " (%u volumes)",
      GST_TIME_ARGS (latency), priv->after);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

static gboolean
build_algorithms (GstNdAlgorithm *self, GError **error)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  GstStructure *config;
  guint before;

  gst_nd_algorithm_clear (self);
  priv->n_threads = nd_threads_start (klass->get_threads (self));
  for (guint p = 0; p < priv->input.n_planes; p++) {
    before = nd_threads_enter (priv->n_threads);
    priv->algorithms[p] =
        klass->build (self, &priv->input, &priv->output, p, error);
    nd_threads_leave (before);
    if (!priv->algorithms[p]) {
      gst_nd_algorithm_clear (self);
      return FALSE;
    }
    priv->n_algorithms++;
  }
  priv->pool = gst_buffer_pool_new ();
  config = gst_buffer_pool_get_config (priv->pool);
  gst_buffer_pool_config_set_params (config, NULL, priv->output.size, 0, 0);
  if (!gst_buffer_pool_set_config (priv->pool, config)
      || !gst_buffer_pool_set_active (priv->pool, TRUE)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for outputs of %" G_GSIZE_FORMAT
        " bytes: use smaller volumes",
        priv->output.size);
    gst_nd_algorithm_clear (self);
    return FALSE;
  }
  gst_nd_algorithm_update_latency (self);
  return TRUE;
}

/* Takes the properties that were set since the last volume
 * (docs/checklist.md, 30). */
static GstFlowReturn
apply_settings (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  g_autoptr (GError) error = NULL;
  GstNdChange change = GST_ND_CHANGE_NONE;
  GstFlowReturn ret;

  GST_OBJECT_LOCK (self);
  if (priv->settings_changed && priv->n_algorithms > 0) {
    priv->settings_changed = FALSE;
    change = klass->change (self, priv->algorithms, priv->n_algorithms);
  }
  GST_OBJECT_UNLOCK (self);
  if (change == GST_ND_CHANGE_NONE)
    return GST_FLOW_OK;
  if (!klass->check_settings (self, &error)) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
        ("The old settings stay in use"));
    GST_OBJECT_LOCK (self);
    if (!priv->settings_changed)
      klass->revert (self);
    GST_OBJECT_UNLOCK (self);
    return GST_FLOW_OK;
  }
  ret = gst_nd_algorithm_end_stretch (self, "new settings");
  GST_OBJECT_LOCK (self);
  klass->activate (self);
  GST_OBJECT_UNLOCK (self);
  if (change == GST_ND_CHANGE_CAPS) {
    gst_nd_algorithm_clear (self);
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  } else if (!build_algorithms (self, &error)) {
    ret = gst_nd_algorithm_fail (self, error);
  }
  return ret;
}

/* Volumes */

static GstFlowReturn
gst_nd_algorithm_submit_input_buffer (GstBaseTransform *trans,
    gboolean is_discont, GstBuffer *input)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GstBuffer) buffer = NULL;
  GstFlowReturn ret = apply_settings (self);

  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return ret;
  }
  ret = GST_BASE_TRANSFORM_CLASS (gst_nd_algorithm_parent_class)
            ->submit_input_buffer (trans, is_discont, input);
  buffer = g_steal_pointer (&trans->queued_buf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (g_atomic_int_get (&priv->failed))
    return GST_FLOW_ERROR;
  if (priv->n_algorithms == 0)
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_nd_algorithm_take_volume (self, buffer);
}

/* submit_input_buffer() has pushed all outputs. */
static GstFlowReturn
gst_nd_algorithm_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  *out = NULL;
  return GST_FLOW_OK;
}

/* Without a transform() the base class would take itself for passthrough. */
static GstFlowReturn
gst_nd_algorithm_transform (GstBaseTransform *trans, GstBuffer *in,
    GstBuffer *out)
{
  g_return_val_if_reached (GST_FLOW_ERROR);
}

/* Caps */

static GstCaps *
gst_nd_algorithm_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  g_autoptr (GstCaps) template =
      gst_pad_get_pad_template_caps (direction == GST_PAD_SINK
              ? trans->srcpad
              : trans->sinkpad);
  g_autoptr (GstCaps) all = gst_caps_new_empty ();
  GstCaps *other, *filtered;

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    if (gst_nd_cuda_caps (caps, i))
      continue;
    GST_ND_ALGORITHM_GET_CLASS (self)->transform_structure (self, direction,
        gst_caps_get_structure (caps, i), all);
  }
  other = gst_caps_intersect_full (all, template, GST_CAPS_INTERSECT_FIRST);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
}

static gboolean
gst_nd_algorithm_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GError) error = NULL;
  GstNdFormat input, output;
  gboolean same;

  if (!gst_nd_format_from_caps (&input, in, &error)
      || !gst_nd_format_from_caps (&output, out, &error)) {
    gst_nd_algorithm_fail (self, error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "output caps %" GST_PTR_FORMAT, out);
  same = priv->n_algorithms > 0 && gst_nd_format_is_equal (&input, &priv->input)
      && gst_nd_format_is_equal (&output, &priv->output);
  priv->input = input;
  priv->output = output;
  /* Another spelling or another rate: the history stays. */
  if (same) {
    gst_nd_algorithm_update_latency (self);
    return TRUE;
  }
  gst_nd_algorithm_reset (self);
  if (build_algorithms (self, &error))
    return TRUE;
  gst_nd_algorithm_fail (self, error);
  return FALSE;
}

static gboolean
gst_nd_algorithm_get_unit_size (GstBaseTransform *trans, GstCaps *caps,
    gsize *size)
{
  GstNdFormat format;

  if (!gst_nd_format_from_caps (&format, caps, NULL))
    return FALSE;
  *size = format.size;
  return TRUE;
}

/* Outputs come from a pool of this element. */
static gboolean
gst_nd_algorithm_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

static gboolean
gst_nd_algorithm_propose_allocation (GstBaseTransform *trans,
    GstQuery *decide_query, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_algorithm_parent_class)
      ->propose_allocation (trans, decide_query, query);
}

/* States */

static gboolean
gst_nd_algorithm_start (GstBaseTransform *trans)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  priv->in = priv->out_count = priv->late = priv->clipped = 0;
  priv->seconds_min = priv->seconds_sum = priv->seconds_max = 0;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  g_atomic_int_set (&priv->failed, FALSE);
  gst_nd_element_start (GST_ELEMENT (self));
  priv->reverse = FALSE;
  priv->discont = TRUE;
  gst_nd_algorithm_reset (self);
  if (GST_ND_ALGORITHM_GET_CLASS (self)->check_settings (self, &error))
    return TRUE;
  gst_nd_algorithm_fail (self, error);
  return FALSE;
}

static gboolean
gst_nd_algorithm_stop (GstBaseTransform *trans)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  gst_nd_algorithm_reset (self);
  gst_nd_algorithm_clear (self);
  gst_nd_seek_reset (&priv->seek, GST_ELEMENT (self));
  GST_OBJECT_LOCK (self);
  GST_ND_ALGORITHM_GET_CLASS (self)->activate (self);
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_nd_algorithm_init (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  priv->latency = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  g_queue_init (&priv->anchors);
  gst_nd_seek_init (&priv->seek);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nd_algorithm_class_init (GstNdAlgorithmClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nd_algorithm_debug, "ndalgorithm", 0,
      "base class of nddenoise and ndstructure");
  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_algorithm_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_algorithm_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_nd_algorithm_set_caps);
  trans_class->get_unit_size =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_get_unit_size);
  trans_class->decide_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_decide_allocation);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_propose_allocation);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nd_algorithm_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_nd_algorithm_src_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_nd_algorithm_query);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_submit_input_buffer);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_generate_output);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_nd_algorithm_transform);
  gst_type_mark_as_plugin_api (GST_TYPE_ND_ALGORITHM, 0);
}
