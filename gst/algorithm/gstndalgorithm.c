/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/algorithm/gstndalgorithmprivate.h"

#include "gst/base/gstndanchor.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnddownstream.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflow.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndlatency.h"
#include "gst/base/gstndproperties.h"

GST_DEBUG_CATEGORY (gst_nd_algorithm_debug);
#define GST_CAT_DEFAULT gst_nd_algorithm_debug

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNdAlgorithm, gst_nd_algorithm,
    GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstNdAlgorithm)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL));

static const GstNdProperty rows[] = {
  /* Since: 0.9 */
  { "strides", "Strides",
      "Bytes from row to row, and from slice to slice, of input volumes whose "
      "rows or slices are padded: \"row\" or \"row:slice\". Volumes without "
      "padding are accepted too. Frames have a GstVideoMeta instead",
      GST_ND_STRING (GstNdAlgorithmPrivate, strides, ""), GST_ND_READY },
  { "compute-latency", "Compute latency",
      "Whether the answer to LATENCY queries includes the measured computing "
      "time",
      GST_ND_ENUM (GstNdAlgorithmPrivate, compute_latency, GstNdComputeLatency,
          gst_nd_compute_latency_get_type, GST_ND_COMPUTE_LATENCY_AUTO),
      GST_ND_PLAYING },
};

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
  gst_structure_set (s, "backend", G_TYPE_STRING, priv->backend_name,
      "volumes-in", G_TYPE_UINT64, priv->in, "volumes-out", G_TYPE_UINT64,
      priv->out_count, "volumes-late", G_TYPE_UINT64, priv->late, "stretches",
      G_TYPE_UINT64, priv->stretches, "gaps", G_TYPE_UINT64, priv->gaps,
      "volumes-missing", G_TYPE_UINT64, priv->missing,
      "volumes-outside-segment", G_TYPE_UINT64, priv->clipped, "volumes-lost",
      G_TYPE_UINT64, priv->lost, "volumes-flushed", G_TYPE_UINT64,
      priv->flushed, "seconds-min", G_TYPE_DOUBLE, priv->seconds_min,
      "seconds-mean", G_TYPE_DOUBLE,
      priv->out_count ? priv->seconds_sum / priv->out_count : 0, "seconds-max",
      G_TYPE_DOUBLE, priv->seconds_max, NULL);
  GST_ND_ALGORITHM_GET_CLASS (self)->add_stats (self, s);
  GST_OBJECT_UNLOCK (self);
  return s;
}

/* The algorithms in use */

void
gst_nd_algorithm_clear_pool (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  if (priv->pool)
    gst_buffer_pool_set_active (priv->pool, FALSE);
  gst_clear_object (&priv->pool);
}

void
gst_nd_algorithm_clear (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  for (guint i = 0; i < priv->n_algorithms; i++)
    nd_algorithm_free (priv->algorithms[i]);
  priv->n_algorithms = 0;
  gst_nd_algorithm_clear_pool (self);
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
gst_nd_algorithm_update_latency (GstNdAlgorithm *self, gboolean exactly)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  const GstClockTime interval = gst_nd_timing_expected (&priv->timing,
      gst_nd_format_duration (&priv->input));
  GstClockTime computing, latency;
  gboolean changed;

  GST_ND_ALGORITHM_GET_CLASS (self)->get_window (self, &priv->before,
      &priv->after);
  set_reach (self, interval > 0 ? interval : GST_CLOCK_TIME_NONE);
  GST_OBJECT_LOCK (self);
  computing = gst_nd_latency_compute_time (priv->compute_latency, priv->live,
      interval, priv->compute_peak * GST_SECOND, &priv->counts_compute);
  latency = priv->after * interval + computing;
  if (!exactly)
    latency = gst_nd_latency_step (priv->latency, latency, interval);
  changed = latency != priv->latency;
  priv->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  GST_INFO_OBJECT (self,
      "latency %" GST_TIME_FORMAT ": %u volumes of %" GST_TIME_FORMAT
      ", computing %" GST_TIME_FORMAT,
      GST_TIME_ARGS (latency), priv->after, GST_TIME_ARGS (interval),
      GST_TIME_ARGS (computing));
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

static gboolean
make_algorithms (GstNdAlgorithm *self, GError **error)
{
  if (!gst_nd_algorithm_make (self, error))
    return FALSE;
  gst_nd_algorithm_update_latency (self, TRUE);
  return TRUE;
}

/* Whether downstream accepts the output caps of the new properties. */
static gboolean
downstream_accepts (GstNdAlgorithm *self, GError **error)
{
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) possible = NULL;

  GST_OBJECT_LOCK (self);
  klass->preview (self, TRUE);
  GST_OBJECT_UNLOCK (self);
  possible = GST_BASE_TRANSFORM_GET_CLASS (trans)->transform_caps (trans,
      GST_PAD_SINK, in, NULL);
  GST_OBJECT_LOCK (self);
  klass->preview (self, FALSE);
  GST_OBJECT_UNLOCK (self);
  return gst_nd_downstream_accepts (trans, possible, error);
}

/* Checks the properties, of which @change remains to be made. If they do not
 * work, goes back to those in use. */
static gboolean
check_change (GstNdAlgorithm *self, GstNdChange change)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  g_autoptr (GError) error = NULL;

  if (klass->check_settings (self, &error)
      && klass->check_input (self, &priv->input, &error)
      && (change != GST_ND_CHANGE_CAPS || downstream_accepts (self, &error)))
    return TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old settings stay in use"));
  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed)
    klass->revert (self);
  GST_OBJECT_UNLOCK (self);
  return FALSE;
}

/* Puts the properties in use, unless one was set since they were checked. */
static gboolean
activate (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  gboolean same;

  GST_OBJECT_LOCK (self);
  same = !priv->settings_changed;
  if (same)
    GST_ND_ALGORITHM_GET_CLASS (self)->activate (self);
  GST_OBJECT_UNLOCK (self);
  return same;
}

/* Takes the properties that were set since the last volume
 * (docs/checklist.md, 30). Those that are set meanwhile wait for the next
 * one. */
static GstFlowReturn
apply_settings (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  GstNdAlgorithmClass *klass = GST_ND_ALGORITHM_GET_CLASS (self);
  g_autoptr (GError) error = NULL;
  GstNdChange change = GST_ND_CHANGE_NONE;
  gboolean changed;
  GstFlowReturn ret;

  GST_OBJECT_LOCK (self);
  changed = priv->settings_changed && priv->n_algorithms > 0;
  if (changed) {
    priv->settings_changed = FALSE;
    change = klass->change (self, priv->algorithms, priv->n_algorithms);
  }
  GST_OBJECT_UNLOCK (self);
  if (change == GST_ND_CHANGE_NONE) {
    if (changed)
      gst_nd_algorithm_log_settings (self,
          "new settings: the window keeps its volumes");
    return GST_FLOW_OK;
  }
  if (!check_change (self, change))
    return GST_FLOW_OK;
  ret = gst_nd_downstream_result (GST_BASE_TRANSFORM (self),
      gst_nd_algorithm_end_stretch (self, "new settings"));
  if (!activate (self))
    return ret;
  if (change == GST_ND_CHANGE_CAPS) {
    gst_nd_algorithm_clear (self);
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  } else if (!make_algorithms (self, &error)) {
    ret = gst_nd_algorithm_fail (self, error);
  }
  return ret;
}

/* Volumes */

/* The base class does not call set_caps() if new properties lead to the same
 * caps, for example because eigenvalues and velocities have as many
 * components. */
static gboolean
set_same_caps (GstBaseTransform *trans)
{
  g_autoptr (GstCaps) in = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) out = gst_pad_get_current_caps (trans->srcpad);

  return in && out
      && GST_BASE_TRANSFORM_GET_CLASS (trans)->set_caps (trans, in, out);
}

static GstFlowReturn
gst_nd_algorithm_submit_input_buffer (GstBaseTransform *trans,
    gboolean is_discont, GstBuffer *input)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GstBuffer) buffer = NULL;
  const GstFlowReturn applied = apply_settings (self);
  GstFlowReturn ret;

  if (gst_nd_flow_is_final (applied)) {
    gst_buffer_unref (input);
    return applied;
  }
  ret = gst_nd_flush_submit (trans, is_discont, input);
  buffer = g_steal_pointer (&trans->queued_buf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (gst_nd_was_posted (&priv->failed))
    return GST_FLOW_ERROR;
  if (priv->n_algorithms == 0 && !set_same_caps (trans))
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_nd_flow_join (applied,
      gst_nd_algorithm_take_volume (self, buffer));
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

static gboolean
gst_nd_algorithm_transform_meta (GstBaseTransform *trans, GstBuffer *out,
    GstMeta *meta, GstBuffer *in)
{
  const GstNdAlgorithmPrivate *priv =
      gst_nd_algorithm_private (GST_ND_ALGORITHM (trans));

  return gst_nd_anchor_keeps_meta (meta,
      priv->input.is_video && priv->output.is_video);
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
    guint k = gst_caps_get_size (all);

    GST_ND_ALGORITHM_GET_CLASS (self)->transform_structure (self, direction,
        gst_caps_get_structure (caps, i), all);
    for (; k < gst_caps_get_size (all); k++)
      gst_caps_set_features (all, k,
          gst_caps_features_copy (gst_caps_get_features (caps, i)));
  }
  if (gst_nd_algorithm_may_use_device (self))
    gst_nd_cuda_add_caps (all);
  else
    gst_nd_cuda_remove_caps (all);
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
  g_autofree gchar *strides = NULL;
  g_autoptr (GError) error = NULL;
  GstNdFormat input, output;
  gboolean same, same_memory;

  g_object_get (self, "strides", &strides, NULL);
  if (!gst_nd_format_from_caps (&input, in, &error)
      || !gst_nd_format_set_strides (&input, strides, &error)
      || !gst_nd_format_from_caps (&output, out, &error)) {
    gst_nd_algorithm_fail (self, error);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "output caps %" GST_PTR_FORMAT, out);
  priv->live = gst_nd_latency_is_live (trans);
  same = priv->n_algorithms > 0 && gst_nd_format_is_equal (&input, &priv->input)
      && gst_nd_format_is_equal (&output, &priv->output);
  same_memory = output.device == priv->output.device;
  /* Downstream still expects the old caps. */
  if (!same)
    gst_nd_algorithm_end_stretch (self, "the output caps change");
  priv->input = input;
  priv->output = output;
  gst_caps_replace (&priv->output_caps, out);
  /* Another spelling, rate or memory: the history stays. */
  if (same) {
    if (same_memory || gst_nd_algorithm_make_pool (self, &error)) {
      gst_nd_algorithm_update_latency (self, TRUE);
      return TRUE;
    }
  } else if (make_algorithms (self, &error)) {
    return TRUE;
  }
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

/* States */

static gboolean
gst_nd_algorithm_start (GstBaseTransform *trans)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  priv->in = priv->out_count = priv->late = priv->clipped = 0;
  priv->stretches = priv->gaps = priv->missing = 0;
  priv->lost = priv->flushed = 0;
  priv->seconds_min = priv->seconds_sum = priv->seconds_max = 0;
  priv->compute_peak = 0;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  priv->restarts = (GstNdRestarts){ 0 };
  g_atomic_int_set (&priv->failed, FALSE);
  gst_nd_element_start (GST_ELEMENT (self));
  priv->reverse = FALSE;
  priv->discont = TRUE;
  priv->timing = (GstNdTiming){ 0 };
  gst_nd_algorithm_reset (self, GST_FLOW_FLUSHING);
  /* Again, if its properties were set in READY. */
  if (GST_ND_ALGORITHM_GET_CLASS (self)->check_settings (self, &error)
      && gst_nd_algorithm_start_device (self, &error)) {
    GST_INFO_OBJECT (self, "device: %s",
        gst_nd_algorithm_may_use_device (self)
            ? "cuda"
            : "none, volumes stay in host memory");
    return TRUE;
  }
  gst_nd_algorithm_fail (self, error);
  return FALSE;
}

static void
log_stop (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);
  gchar mean[64] = "";

  GST_OBJECT_LOCK (self);
  if (priv->out_count > 0)
    g_snprintf (mean, sizeof (mean), "; %.3f ms per volume",
        priv->seconds_sum * 1e3 / priv->out_count);
  GST_INFO_OBJECT (self,
      "stopping after %" G_GUINT64_FORMAT " volumes in, %" G_GUINT64_FORMAT
      " out, %" G_GUINT64_FORMAT " late, %" G_GUINT64_FORMAT
      " outside the segment, %" G_GUINT64_FORMAT " lost, %" G_GUINT64_FORMAT
      " flushed%s",
      priv->in, priv->out_count, priv->late, priv->clipped, priv->lost,
      priv->flushed, mean);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_nd_algorithm_stop (GstBaseTransform *trans)
{
  GstNdAlgorithm *self = GST_ND_ALGORITHM (trans);
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  gst_nd_algorithm_reset (self, GST_FLOW_FLUSHING);
  log_stop (self);
  gst_nd_algorithm_clear (self);
  gst_clear_caps (&priv->output_caps);
  gst_nd_seek_reset (&priv->seek, GST_ELEMENT (self));
  GST_OBJECT_LOCK (self);
  GST_ND_ALGORITHM_GET_CLASS (self)->activate (self);
  priv->started = FALSE;
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_nd_algorithm_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  if (!gst_nd_properties_set (rows, G_N_ELEMENTS (rows),
          gst_nd_algorithm_private (GST_ND_ALGORITHM (object)), id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_nd_algorithm_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  if (!gst_nd_properties_get (rows, G_N_ELEMENTS (rows),
          gst_nd_algorithm_private (GST_ND_ALGORITHM (object)), id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_nd_algorithm_finalize (GObject *object)
{
  GstNdAlgorithmPrivate *priv =
      gst_nd_algorithm_private (GST_ND_ALGORITHM (object));

  gst_nd_properties_clear (rows, G_N_ELEMENTS (rows), priv);
  gst_nd_device_clear (&priv->device);
  G_OBJECT_CLASS (gst_nd_algorithm_parent_class)->finalize (object);
}

static void
gst_nd_algorithm_init (GstNdAlgorithm *self)
{
  GstNdAlgorithmPrivate *priv = gst_nd_algorithm_private (self);

  priv->latency = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->backend_name = "cpu";
  gst_nd_properties_init (rows, G_N_ELEMENTS (rows), priv);
  g_queue_init (&priv->anchors);
  gst_nd_device_init (&priv->device);
  gst_nd_seek_init (&priv->seek);
  gst_nd_flush_install (GST_BASE_TRANSFORM_SINK_PAD (self));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nd_algorithm_class_init (GstNdAlgorithmClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nd_algorithm_debug, "ndalgorithm", 0,
      "base class of nddenoise and ndstructure");
  gst_nd_backends_open ();
  G_OBJECT_CLASS (klass)->set_property = gst_nd_algorithm_set_property;
  G_OBJECT_CLASS (klass)->get_property = gst_nd_algorithm_get_property;
  G_OBJECT_CLASS (klass)->finalize = gst_nd_algorithm_finalize;
  gst_nd_properties_install (G_OBJECT_CLASS (klass), rows, G_N_ELEMENTS (rows));
  GST_ELEMENT_CLASS (klass)->set_context =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_set_context);
  GST_ELEMENT_CLASS (klass)->post_message = gst_nd_flush_post_message;
  GST_ELEMENT_CLASS (klass)->change_state =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_change_state);
  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_algorithm_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_algorithm_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_nd_downstream_fixate);
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
  trans_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_nd_algorithm_transform_meta);
  gst_type_mark_as_plugin_api (GST_TYPE_ND_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (gst_nd_compute_latency_get_type (), 0);
}
