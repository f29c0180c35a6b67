/* The base class of temporal elements: caps and states.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporal.h"
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndanchor.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/temporal/gstndtemporalbuilder.h"
#include "gst/temporal/gstndtemporalchange.h"
#include "gst/temporal/gstndtemporallatency.h"
#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalstream.h"

GST_DEBUG_CATEGORY (gst_nd_temporal_debug);
#define GST_CAT_DEFAULT gst_nd_temporal_debug

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNdTemporal, gst_nd_temporal,
    GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstNdTemporal)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_nd_temporal_preset_init));

GstFlowReturn
gst_nd_temporal_fail_full (GstNdTemporal *self, const GError *error,
    const gchar *file, const gchar *function, gint line)
{
  if (gst_nd_posting_begin (&self->priv->failed)) {
    gst_nd_element_error_once_full (GST_ELEMENT (self), error, file, function,
        line);
    gst_nd_posting_end (&self->priv->failed);
  }
  return GST_FLOW_ERROR;
}

GstNdDevice *
gst_nd_temporal_device (GstNdTemporal *self)
{
  return &self->priv->device;
}

const GstNdFormat *
gst_nd_temporal_input (GstNdTemporal *self)
{
  return &self->priv->in;
}

static GstFlowReturn
gst_nd_temporal_submit_input_buffer (GstBaseTransform *trans, gboolean unused,
    GstBuffer *input)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstBuffer) buffer = NULL;
  GstFlowReturn applied, ret;

  priv->spent.begun = g_get_monotonic_time ();
  applied = gst_nd_temporal_apply_settings (self);
  if (gst_nd_flow_is_final (applied)) {
    gst_buffer_unref (input);
    return applied;
  }
  g_atomic_pointer_set (&priv->submitting, g_thread_self ());
  ret = gst_nd_flush_submit (trans, unused, input);
  g_atomic_pointer_set (&priv->submitting, NULL);
  buffer = g_steal_pointer (&trans->queued_buf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (gst_nd_was_posted (&priv->failed))
    return GST_FLOW_ERROR;
  /* At a change of state the wait for it ends before the pads flush. */
  if (!priv->processor)
    return priv->interrupted ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
  return gst_nd_flow_join (applied, gst_nd_temporal_take_volume (self, buffer));
}

/* submit_input_buffer() has pushed all outputs (docs/checklist.md, 3) and
 * released the input. */
static GstFlowReturn
gst_nd_temporal_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);

  gst_nd_temporal_finish_volume (self, self->priv->spent.begun);
  *out = NULL;
  return GST_FLOW_OK;
}

/* Never called. Without it the base class switches to passthrough
 * (docs/checklist.md, 4). */
static GstFlowReturn
gst_nd_temporal_transform (GstBaseTransform *trans, GstBuffer *in,
    GstBuffer *out)
{
  g_return_val_if_reached (GST_FLOW_ERROR);
}

static gboolean
gst_nd_temporal_transform_meta (GstBaseTransform *trans, GstBuffer *out,
    GstMeta *meta, GstBuffer *in)
{
  const GstNdTemporalPrivate *priv = GST_ND_TEMPORAL (trans)->priv;

  return gst_nd_anchor_keeps_meta (meta,
      priv->in.is_video && priv->out.is_video);
}

/* Caps */

static GstCaps *
gst_nd_temporal_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  g_autoptr (GstNdTemporalSettings) settings =
      gst_nd_temporal_copy_active (self);
  g_autoptr (GstCaps) template =
      gst_pad_get_pad_template_caps (direction == GST_PAD_SINK
              ? trans->srcpad
              : trans->sinkpad);
  GstCaps *other, *filtered;

  /* The base class is about to negotiate. Its ALLOCATION query makes the source
   * pad repeat its events, which must not happen during a push. */
  if (g_atomic_pointer_get (&priv->submitting) == g_thread_self ())
    gst_nd_temporal_pending_complete_all (self);

  other = settings->klass->transform_caps (self, settings, direction, caps,
      gst_nd_temporal_may_use_device (self, settings), template);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
}

static gboolean
gst_nd_temporal_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  const GstNdTemporalClass *klass = priv->active->klass;
  g_autoptr (GError) error = NULL;
  GstNdFormat in_format, out_format;

  if (!gst_nd_format_from_caps (&in_format, in, &error)
      || !gst_nd_format_from_caps (&out_format, out, &error)
      || !gst_nd_format_set_strides (&in_format, priv->active->strides,
          &error)) {
    gst_nd_temporal_fail (self, error);
    return FALSE;
  }
  if (klass->find_precision) {
    const NdPrecision precision =
        klass->find_precision (priv->active, in_format.type);

    gst_nd_format_set_precision (&in_format, precision);
    gst_nd_format_set_precision (&out_format, precision);
  }
  GST_INFO_OBJECT (self, "output caps %" GST_PTR_FORMAT, out);
  gst_nd_temporal_pending_complete_all (self);
  priv->live = gst_nd_latency_is_live (trans);
  /* Another spelling, rate or memory: the window stays. */
  if (priv->processor && gst_nd_format_is_equal (&in_format, &priv->in)
      && gst_nd_format_is_equal (&out_format, &priv->out)
      && gst_nd_temporal_same_units (priv->active, &in_format, &priv->in)) {
    priv->in = in_format;
    priv->out = out_format;
    gst_nd_temporal_set_latency (self);
    return TRUE;
  }
  /* Downstream still expects the old caps. */
  gst_nd_temporal_drain (self, "the output caps change");
  gst_nd_temporal_dispose_processor (self);
  priv->in = in_format;
  priv->out = out_format;
  /* If the wait is interrupted, the caps are set nevertheless: upstream takes
   * FALSE for an error, and learns of the flush from the next volume. */
  return gst_nd_temporal_make_processor (self) != GST_FLOW_ERROR;
}

static gboolean
gst_nd_temporal_get_unit_size (GstBaseTransform *trans, GstCaps *caps,
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
check_start (GstNdTemporal *self, GstNdTemporalSettings *settings,
    GError **error)
{
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);

  if (klass->check_start
          ? !klass->check_start (self, settings, error)
          : !settings->klass->derive (self, settings, NULL, error))
    return FALSE;
  return settings->device.backend != ND_BACKEND_GPU
      || gst_nd_device_backend (&self->priv->device, error);
}

static void
gst_nd_temporal_set_context (GstElement *element, GstContext *context)
{
  GstNdTemporalPrivate *priv = GST_ND_TEMPORAL (element)->priv;
  gint device_id;

  GST_OBJECT_LOCK (element);
  device_id = gst_nd_temporal_settings_device (priv->active);
  GST_OBJECT_UNLOCK (element);
  gst_nd_device_set_context (&priv->device, element, context, device_id);
  GST_ELEMENT_CLASS (gst_nd_temporal_parent_class)
      ->set_context (element, context);
}

/* The device stays until NULL, because starting it takes longer than filtering
 * a thousand volumes. */
static void
start_device (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  NdBackendKind backend;
  gint device_id;

  GST_OBJECT_LOCK (self);
  backend = priv->active->device.backend;
  device_id = gst_nd_temporal_settings_device (priv->active);
  GST_OBJECT_UNLOCK (self);
  if (backend != ND_BACKEND_CPU)
    gst_nd_device_start (&priv->device, GST_ELEMENT (self), device_id);
}

static GstStateChangeReturn
gst_nd_temporal_change_state (GstElement *element, GstStateChange transition)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    start_device (self);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_nd_temporal_builder_set_flushing (self, TRUE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING
      || transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_nd_temporal_release_set_playing (self,
        transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING);
  ret = GST_ELEMENT_CLASS (gst_nd_temporal_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nd_device_stop (&self->priv->device);
  return ret;
}

static gboolean
gst_nd_temporal_start (GstBaseTransform *trans)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);
  g_autoptr (GstNdTemporalSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) no_device = NULL;

  GST_OBJECT_LOCK (self);
  settings = gst_nd_temporal_settings_dup (priv->settings);
  if (klass->clear_stats)
    klass->clear_stats (self);
  priv->stats = (GstNdTemporalStats){ 0 };
  priv->latency.warned_rate = FALSE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency.answer = priv->latency.told = GST_CLOCK_TIME_NONE;
  priv->latency.needed = 0;
  priv->latency.compute_peak = 0;
  priv->thin = (NdThin){ 0 };
  GST_OBJECT_UNLOCK (self);
  priv->spent.busy = 0;
  priv->latency.missed = FALSE;
  gst_nd_temporal_builder_set_flushing (self, FALSE);
  priv->restarts = (GstNdRestarts){ 0 };
  g_atomic_int_set (&priv->failed, FALSE);
  gst_nd_element_start (GST_ELEMENT (self));
  priv->reverse = FALSE;
  priv->order.discont = TRUE;
  priv->timing = (GstNdTiming){ 0 };
  gst_nd_temporal_reset (self, GST_FLOW_FLUSHING);
  /* Starts it again if its properties were set in READY. */
  start_device (self);
  if (!check_start (self, settings, &error)) {
    gst_nd_temporal_fail (self, error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  priv->started = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (klass->warn_without_effect)
    klass->warn_without_effect (self, settings, NULL);
  if (settings->device.backend == ND_BACKEND_AUTO
      && !gst_nd_device_backend (&priv->device, &no_device))
    gst_nd_backends_explain_auto (GST_ELEMENT (self), no_device);
  GST_INFO_OBJECT (self, "device: %s",
      gst_nd_temporal_may_use_device (self, settings)
          ? nd_backend_kind_name (ND_BACKEND_GPU)
          : "none, volumes stay in host memory");
  return TRUE;
}

static gboolean
gst_nd_temporal_stop (GstBaseTransform *trans)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (trans);
  GstNdTemporalPrivate *priv = self->priv;
  gchar mean[64] = "";

  gst_nd_temporal_release_stop (self);
  gst_nd_temporal_reset (self, GST_FLOW_FLUSHING);
  gst_nd_temporal_pending_stop (self);
  GST_OBJECT_LOCK (self);
  if (priv->stats.all.n > 0)
    g_snprintf (mean, sizeof (mean), "; %.3f ms per volume",
        priv->stats.all.sum * 1e3 / priv->stats.all.n);
  GST_INFO_OBJECT (self,
      "stopping after %" G_GUINT64_FORMAT " volumes in, %" G_GUINT64_FORMAT
      " out, %" G_GUINT64_FORMAT " late, %" G_GUINT64_FORMAT
      " skipped, %" G_GUINT64_FORMAT " outside the segment, %" G_GUINT64_FORMAT
      " lost, %" G_GUINT64_FORMAT " flushed%s",
      priv->stats.in, priv->stats.out, priv->stats.late, priv->stats.skipped,
      priv->stats.outside, priv->stats.lost, priv->stats.flushed, mean);
  GST_OBJECT_UNLOCK (self);
  gst_nd_temporal_builder_stop (self, FALSE);
  gst_nd_seek_reset (&priv->seek, GST_ELEMENT (self));
  g_clear_pointer (&priv->next, gst_nd_temporal_build_free);
  g_clear_pointer (&priv->processor, gst_nd_processor_free);
  priv->interrupted = FALSE;
  GST_OBJECT_LOCK (self);
  priv->started = FALSE;
  gst_nd_temporal_settings_copy (priv->active, priv->settings);
  priv->active->klass->derive (self, priv->active, NULL, NULL);
  g_clear_pointer (&priv->proven, gst_nd_temporal_settings_free);
  priv->negotiated = FALSE;
  priv->latency.answer = priv->latency.told = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_nd_temporal_dispose (GObject *object)
{
  gst_nd_temporal_builder_stop (GST_ND_TEMPORAL (object), TRUE);
  G_OBJECT_CLASS (gst_nd_temporal_parent_class)->dispose (object);
}

static void
gst_nd_temporal_finalize (GObject *object)
{
  GstNdTemporalPrivate *priv = GST_ND_TEMPORAL (object)->priv;

  gst_nd_temporal_settings_free (priv->settings);
  gst_nd_temporal_settings_free (priv->active);
  g_clear_pointer (&priv->proven, gst_nd_temporal_settings_free);
  g_clear_pointer (&priv->described, gst_structure_free);
  gst_nd_device_clear (&priv->device);
  gst_nd_temporal_pending_clear (GST_ND_TEMPORAL (object));
  gst_nd_temporal_release_clear (GST_ND_TEMPORAL (object));
  gst_nd_temporal_builder_clear (GST_ND_TEMPORAL (object));
  G_OBJECT_CLASS (gst_nd_temporal_parent_class)->finalize (object);
}

static void
gst_nd_temporal_constructed (GObject *object)
{
  GstNdTemporal *self = GST_ND_TEMPORAL (object);
  GstNdTemporalPrivate *priv = self->priv;

  G_OBJECT_CLASS (gst_nd_temporal_parent_class)->constructed (object);
  priv->settings =
      gst_nd_temporal_settings_new (GST_ND_TEMPORAL_GET_CLASS (self));
  priv->active = gst_nd_temporal_settings_dup (priv->settings);
  priv->active->klass->derive (self, priv->active, NULL, NULL);
}

static void
gst_nd_temporal_init (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = gst_nd_temporal_get_instance_private (self);

  self->priv = priv;
  priv->latency.answer = priv->latency.told = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  nd_order_init (&priv->order, &gst_nd_temporal_clock, self);
  g_queue_init (&priv->inputs);
  gst_nd_device_init (&priv->device);
  gst_nd_seek_init (&priv->seek);
  gst_nd_flush_install (GST_BASE_TRANSFORM_SINK_PAD (self));
  gst_nd_temporal_pending_init (self);
  gst_nd_temporal_release_init (self);
  gst_nd_temporal_builder_init (self);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nd_temporal_class_init (GstNdTemporalClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nd_temporal_debug, "ndconv", 0,
      "ndconv2d, ndconv3d, ndconv4dtemporal and algorithms");
  gst_nd_backends_open ();

  object_class->constructed = gst_nd_temporal_constructed;
  object_class->dispose = gst_nd_temporal_dispose;
  object_class->finalize = gst_nd_temporal_finalize;

  GST_ELEMENT_CLASS (klass)->set_context =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_set_context);
  GST_ELEMENT_CLASS (klass)->post_message = gst_nd_flush_post_message;
  GST_ELEMENT_CLASS (klass)->change_state =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_change_state);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_temporal_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_temporal_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_nd_downstream_fixate);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_nd_temporal_set_caps);
  trans_class->get_unit_size =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_get_unit_size);
  trans_class->decide_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_decide_allocation);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_propose_allocation);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nd_temporal_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_nd_temporal_src_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_nd_temporal_query);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_submit_input_buffer);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_generate_output);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_nd_temporal_transform);
  trans_class->transform_meta =
      GST_DEBUG_FUNCPTR (gst_nd_temporal_transform_meta);
  gst_type_mark_as_plugin_api (GST_TYPE_ND_TEMPORAL, 0);
}
