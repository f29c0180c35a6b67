/* The base class of the filters: caps and states.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconv.h"

#include "filters/text.h"
#include "gst/base/gstndanchor.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcuda.h"
#include "gst/base/gstnddownstream.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/conv/gstndconvbuilder.h"
#include "gst/conv/gstndconvcaps.h"
#include "gst/conv/gstndconvchange.h"
#include "gst/conv/gstndconvevents.h"
#include "gst/conv/gstndconvlatency.h"
#include "gst/conv/gstndconvmemory.h"
#include "gst/conv/gstndconvpending.h"
#include "gst/conv/gstndconvplan.h"
#include "gst/conv/gstndconvproperties.h"
#include "gst/conv/gstndconvstream.h"
#include "gst/conv/gstndunits.h"
#include <string.h>

GST_DEBUG_CATEGORY (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNdConv, gst_nd_conv,
    GST_TYPE_BASE_TRANSFORM,
    G_ADD_PRIVATE (GstNdConv)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_nd_conv_preset_init));

static GstFlowReturn
gst_nd_conv_submit_input_buffer (GstBaseTransform *trans, gboolean unused,
    GstBuffer *input)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = self->priv;
  g_autoptr (GstBuffer) buffer = NULL;
  const GstFlowReturn applied = gst_nd_conv_apply_settings (self);
  GstFlowReturn ret;

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
  if (!priv->convolver)
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_nd_flow_join (applied, gst_nd_conv_take_volume (self, buffer));
}

/* submit_input_buffer() has pushed all outputs (docs/checklist.md, 3) and
 * released the input. */
static GstFlowReturn
gst_nd_conv_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  gst_nd_conv_begin_next (GST_ND_CONV (trans));
  *out = NULL;
  return GST_FLOW_OK;
}

/* Never called. Without it the base class switches to passthrough
 * (docs/checklist.md, 4). */
static GstFlowReturn
gst_nd_conv_transform (GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  g_return_val_if_reached (GST_FLOW_ERROR);
}

static gboolean
gst_nd_conv_transform_meta (GstBaseTransform *trans, GstBuffer *out,
    GstMeta *meta, GstBuffer *in)
{
  const GstNdConvPrivate *priv = GST_ND_CONV (trans)->priv;

  return gst_nd_anchor_keeps_meta (meta,
      priv->in.is_video && priv->out.is_video);
}

/* Caps */

/* The responses of a bank design depend on the axes that have more than one
 * sample, and so on the caps. */
static void
find_bank_info (GstNdConv *self, const GstNdConvSettings *settings,
    const GstCaps *caps, NdBankInfo *bank)
{
  NdBankInfo info;
  NdShape shape;
  guint i = 0;

  if (!settings->filter || !strstr (settings->filter, "-bank"))
    return;
  while (i < gst_caps_get_size (caps)
      && !gst_nd_conv_get_shape (gst_caps_get_structure (caps, i), &shape))
    i++;
  if (i < gst_caps_get_size (caps)) {
    const NdAxes axes = gst_nd_conv_axes_of_shape (self, settings, &shape);

    if (nd_bank_info_from_text (settings->filter, &axes, &info, NULL))
      *bank = info;
  }
}

static GstCaps *
gst_nd_conv_transform_caps_vfunc (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GstCaps) template =
      gst_pad_get_pad_template_caps (direction == GST_PAD_SINK
              ? trans->srcpad
              : trans->sinkpad);
  GstCaps *other, *filtered;
  NdBankInfo bank;

  /* The base class is about to negotiate. Its ALLOCATION query makes the source
   * pad repeat its events, which must not happen during a push. */
  if (g_atomic_pointer_get (&priv->submitting) == g_thread_self ())
    gst_nd_conv_pending_complete_all (self);

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->active);
  bank = priv->bank;
  GST_OBJECT_UNLOCK (self);
  find_bank_info (self, &settings, caps, &bank);
  other = gst_nd_conv_transform_caps (direction, caps, &settings, &bank,
      gst_nd_conv_may_use_device (self, &settings), template);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
}

static gboolean
gst_nd_conv_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = self->priv;
  g_autoptr (GError) error = NULL;
  GstNdFormat in_format, out_format;

  if (!gst_nd_format_from_caps (&in_format, in, &error)
      || !gst_nd_format_from_caps (&out_format, out, &error)
      || !gst_nd_format_set_strides (&in_format, priv->active.strides,
          &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  gst_nd_format_set_precision (&in_format, priv->active.precision);
  gst_nd_format_set_precision (&out_format, priv->active.precision);
  GST_INFO_OBJECT (self, "output caps %" GST_PTR_FORMAT, out);
  gst_nd_conv_pending_complete_all (self);
  priv->live = gst_nd_latency_is_live (trans);
  /* Another spelling, rate or memory: the window stays. */
  if (priv->convolver && gst_nd_format_is_equal (&in_format, &priv->in)
      && gst_nd_format_is_equal (&out_format, &priv->out)
      && gst_nd_units_same_filter (priv->active.filter, &in_format,
          &priv->in)) {
    priv->in = in_format;
    priv->out = out_format;
    gst_nd_conv_set_latency (self);
    return TRUE;
  }
  /* Downstream still expects the old caps. */
  gst_nd_conv_drain (self, "the output caps change");
  gst_nd_conv_dispose_convolver (self);
  priv->in = in_format;
  priv->out = out_format;
  /* If the wait is interrupted, the caps are set nevertheless: upstream takes
   * FALSE for an error, and learns of the flush from the next volume. */
  return gst_nd_conv_make_convolver (self) != GST_FLOW_ERROR;
}

static gboolean
gst_nd_conv_get_unit_size (GstBaseTransform *trans, GstCaps *caps, gsize *size)
{
  GstNdFormat format;

  if (!gst_nd_format_from_caps (&format, caps, NULL))
    return FALSE;
  *size = format.size;
  return TRUE;
}

/* States */

/* Whether the first structure of the upstream caps is video. */
static gboolean
expects_video (GstNdConv *self)
{
  g_autoptr (GstCaps) caps =
      gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SINK_PAD (self), NULL);

  return caps && !gst_caps_is_any (caps) && !gst_caps_is_empty (caps)
      && gst_structure_has_name (gst_caps_get_structure (caps, 0),
          "video/x-raw");
}

static gboolean
check_devices (const GstNdConvSettings *settings, GError **error)
{
  const NdBackend *backend;
  NdDevices devices;

  if (!nd_devices_check (settings->devices, error))
    return FALSE;
  if (!settings->devices || *settings->devices == '\0'
      || settings->backend == GST_ND_BACKEND_CPU)
    return TRUE;
  backend = nd_backend_find ("cuda", -1, NULL);
  return !backend
      || nd_devices_find (settings->devices, settings->device_id, backend,
          &devices, error);
}

/* Makes the checks that take no time and need no caps. */
static gboolean
check_settings (GstNdConv *self, const GstNdConvSettings *settings,
    GError **error)
{
  gboolean expected = expects_video (self);

  /* Frames and volumes have different axes, and the filter must fit one of
   * them. If it fits neither, the error is about the expected one, which comes
   * last. */
  for (guint i = 0; i < 2; i++) {
    NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings,
        i == 0 ? !expected : expected);
    NdBankInfo info;

    g_clear_error (error);
    if (nd_bank_info_from_text (settings->filter, &axes, &info, error))
      return nd_convolver_check_time_border (settings->time_border, error)
          && check_devices (settings, error)
          && (settings->backend != GST_ND_BACKEND_CUDA
              || gst_nd_device_backend (&self->priv->device, error));
  }
  g_prefix_error (error, "Property filter: ");
  return FALSE;
}

static void
gst_nd_conv_set_context (GstElement *element, GstContext *context)
{
  GstNdConvPrivate *priv = GST_ND_CONV (element)->priv;
  gint device_id;

  GST_OBJECT_LOCK (element);
  device_id = gst_nd_conv_settings_device (&priv->active);
  GST_OBJECT_UNLOCK (element);
  gst_nd_device_set_context (&priv->device, element, context, device_id);
  GST_ELEMENT_CLASS (gst_nd_conv_parent_class)->set_context (element, context);
}

/* The device stays until NULL, because starting it takes longer than filtering
 * a thousand volumes. */
static void
start_device (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  GstNdBackendKind backend;
  gint device_id;

  GST_OBJECT_LOCK (self);
  backend = priv->active.backend;
  device_id = gst_nd_conv_settings_device (&priv->active);
  GST_OBJECT_UNLOCK (self);
  if (backend != GST_ND_BACKEND_CPU)
    gst_nd_device_start (&priv->device, GST_ELEMENT (self), device_id);
}

static GstStateChangeReturn
gst_nd_conv_change_state (GstElement *element, GstStateChange transition)
{
  GstNdConv *self = GST_ND_CONV (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    start_device (self);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_nd_conv_builder_set_flushing (self, TRUE);
  ret = GST_ELEMENT_CLASS (gst_nd_conv_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nd_device_stop (&self->priv->device);
  return ret;
}

static gboolean
gst_nd_conv_start (GstBaseTransform *trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = self->priv;
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) no_device = NULL;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  priv->stats = (GstNdConvStats){ 0 };
  priv->saturated = 0;
  priv->warned_saturation = priv->warned_rate = FALSE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->compute_peak = 0;
  GST_OBJECT_UNLOCK (self);
  gst_nd_conv_builder_set_flushing (self, FALSE);
  priv->restarts = (GstNdRestarts){ 0 };
  g_atomic_int_set (&priv->failed, FALSE);
  gst_nd_element_start (GST_ELEMENT (self));
  priv->reverse = FALSE;
  priv->discont = TRUE;
  priv->timing = (GstNdTiming){ 0 };
  gst_nd_conv_reset (self, GST_FLOW_FLUSHING);
  /* Starts it again if its properties were set in READY. */
  start_device (self);
  if (!check_settings (self, &settings, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  priv->started = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (settings.backend == GST_ND_BACKEND_AUTO
      && !gst_nd_device_backend (&priv->device, &no_device))
    gst_nd_backends_explain_auto (GST_ELEMENT (self), no_device);
  GST_INFO_OBJECT (self, "filter \"%s\"; device: %s", settings.filter,
      gst_nd_conv_may_use_device (self, &settings)
          ? "cuda"
          : "none, volumes stay in host memory");
  return TRUE;
}

static gboolean
gst_nd_conv_stop (GstBaseTransform *trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = self->priv;
  gchar mean[64] = "";

  gst_nd_conv_reset (self, GST_FLOW_FLUSHING);
  gst_nd_conv_pending_stop (self);
  GST_OBJECT_LOCK (self);
  if (priv->stats.all.n > 0)
    g_snprintf (mean, sizeof (mean), "; %.3f ms per volume",
        priv->stats.all.sum * 1e3 / priv->stats.all.n);
  GST_INFO_OBJECT (self,
      "stopping after %" G_GUINT64_FORMAT " volumes in, %" G_GUINT64_FORMAT
      " out, %" G_GUINT64_FORMAT " late, %" G_GUINT64_FORMAT
      " outside the segment, %" G_GUINT64_FORMAT " lost, %" G_GUINT64_FORMAT
      " flushed%s",
      priv->stats.in, priv->stats.out, priv->stats.late, priv->stats.outside,
      priv->stats.lost, priv->stats.flushed, mean);
  GST_OBJECT_UNLOCK (self);
  gst_nd_conv_builder_stop (self, FALSE);
  gst_nd_seek_reset (&priv->seek, GST_ELEMENT (self));
  g_clear_pointer (&priv->next, gst_nd_conv_build_free);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  priv->interrupted = FALSE;
  GST_OBJECT_LOCK (self);
  priv->started = FALSE;
  gst_nd_conv_activate (self, &priv->settings);
  priv->has_proven = FALSE;
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_nd_conv_dispose (GObject *object)
{
  gst_nd_conv_builder_stop (GST_ND_CONV (object), TRUE);
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->dispose (object);
}

static void
gst_nd_conv_finalize (GObject *object)
{
  GstNdConvPrivate *priv = GST_ND_CONV (object)->priv;

  gst_nd_conv_settings_clear (&priv->settings);
  gst_nd_conv_settings_clear (&priv->active);
  gst_nd_conv_settings_clear (&priv->proven);
  g_clear_pointer (&priv->plan_stats, gst_structure_free);
  gst_nd_device_clear (&priv->device);
  gst_nd_tensors_clear (&priv->tensors);
  gst_nd_conv_pending_clear (GST_ND_CONV (object));
  gst_nd_conv_builder_clear (GST_ND_CONV (object));
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->finalize (object);
}

static gint
get_tensor_index (GstElement *element)
{
  GstNdConvPrivate *priv = GST_ND_CONV (element)->priv;
  gint index;

  GST_OBJECT_LOCK (element);
  index = priv->settings.tensor_index;
  GST_OBJECT_UNLOCK (element);
  return index;
}

static void
fail_with_tensor (GstElement *element, const GError *error)
{
  gst_nd_conv_fail (GST_ND_CONV (element), error);
}

static void
gst_nd_conv_init (GstNdConv *self)
{
  GstNdConvPrivate *priv = gst_nd_conv_get_instance_private (self);

  self->priv = priv;
  gst_nd_conv_settings_init (&priv->settings);
  /* Not by gst_nd_conv_activate(): the subclass, which knows the axes, is not
   * initialized yet. */
  gst_nd_conv_settings_copy (&priv->active, &priv->settings);
  priv->bank.n_responses = 1;
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  g_queue_init (&priv->anchors);
  g_queue_init (&priv->inputs);
  gst_nd_device_init (&priv->device);
  gst_nd_seek_init (&priv->seek);
  priv->tensors.get_index = get_tensor_index;
  priv->tensors.fail = fail_with_tensor;
  g_queue_init (&priv->tensors.held);
  gst_nd_flush_install (GST_BASE_TRANSFORM_SINK_PAD (self));
  gst_nd_tensors_install (&priv->tensors, GST_BASE_TRANSFORM_SINK_PAD (self));
  gst_nd_conv_pending_init (self);
  gst_nd_conv_builder_init (self);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nd_conv_class_init (GstNdConvClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nd_conv_debug, "ndconv", 0,
      "filters of ndconv2d, ndconv3d and ndconv4dtemporal");
  gst_nd_backends_open ();

  object_class->dispose = gst_nd_conv_dispose;
  object_class->finalize = gst_nd_conv_finalize;
  gst_nd_conv_install_properties (object_class);

  GST_ELEMENT_CLASS (klass)->set_context =
      GST_DEBUG_FUNCPTR (gst_nd_conv_set_context);
  GST_ELEMENT_CLASS (klass)->post_message = gst_nd_flush_post_message;
  GST_ELEMENT_CLASS (klass)->change_state =
      GST_DEBUG_FUNCPTR (gst_nd_conv_change_state);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_conv_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_conv_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_conv_transform_caps_vfunc);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_nd_downstream_fixate);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_nd_conv_set_caps);
  trans_class->get_unit_size = GST_DEBUG_FUNCPTR (gst_nd_conv_get_unit_size);
  trans_class->decide_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_conv_decide_allocation);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_nd_conv_propose_allocation);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_nd_conv_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_nd_conv_src_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_nd_conv_query);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_nd_conv_submit_input_buffer);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_nd_conv_generate_output);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_nd_conv_transform);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_nd_conv_transform_meta);
  gst_type_mark_as_plugin_api (GST_TYPE_ND_CONV, 0);
}

void
gst_nd_conv_class_set_caps (GstNdConvClass *klass, gboolean video)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (video ? GST_ND_TENSORS_CAPS
          "; " GST_ND_VIDEO_CAPS "; " GST_ND_TENSORS_CUDA_DOUBLE_CAPS
          "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA,
              GST_ND_CUDA_VIDEO_FORMATS)
                                                         : GST_ND_TENSORS_CAPS
          "; " GST_ND_TENSORS_CUDA_DOUBLE_CAPS);
  g_autoptr (GstCaps) inputs = gst_caps_copy (caps);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_caps_append (inputs, gst_caps_from_string (GST_ND_SEVERAL_TENSORS_CAPS));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, inputs));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}
