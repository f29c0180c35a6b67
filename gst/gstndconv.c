/* The element side of the base class: caps, states and properties. Numbers in
 * parentheses are those of the checklist for elements that keep history, which
 * tests/gst/checklist*.c and changes.c go through.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvflight.h"

#include "gstndbackends.h"
#include "gstndconvcaps.h"
#include "gstndcuda.h"
#include "gstnderror.h"
#include "gstndfilterspec.h"

GST_DEBUG_CATEGORY (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

/* Presets are files in presets/. */
G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstNdConv, gst_nd_conv,
    GST_TYPE_BASE_TRANSFORM, G_ADD_PRIVATE (GstNdConv)
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL));

GstNdConvPrivate *
gst_nd_conv_private (GstNdConv * self)
{
  return gst_nd_conv_get_instance_private (self);
}

GstBaseTransformClass *
gst_nd_conv_parent (void)
{
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class);
}

static GstFlowReturn
gst_nd_conv_submit_input_buffer (GstBaseTransform * trans, gboolean unused,
    GstBuffer * input)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstBuffer) buffer = NULL;
  GstFlowReturn ret = gst_nd_conv_apply_settings (self);

  if (ret != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return ret;
  }
  ret = GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->submit_input_buffer
      (trans, unused, input);
  buffer = g_steal_pointer (&trans->queued_buf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (g_atomic_int_get (&priv->failed))
    return GST_FLOW_ERROR;
  if (!priv->convolver)
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_nd_conv_take_volume (self, buffer);
}

/* Everything was pushed by submit_input_buffer (3). */
static GstFlowReturn
gst_nd_conv_generate_output (GstBaseTransform * trans, GstBuffer ** out)
{
  *out = NULL;
  return GST_FLOW_OK;
}

/* Without a transform() the base class would take itself for passthrough. */
static GstFlowReturn
gst_nd_conv_transform (GstBaseTransform * trans, GstBuffer * in,
    GstBuffer * out)
{
  g_return_val_if_reached (GST_FLOW_ERROR);
}

/* Caps */

static GstCaps *
gst_nd_conv_transform_caps_vfunc (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (direction
      == GST_PAD_SINK ? trans->srcpad : trans->sinkpad);
  GstCaps *other, *filtered;
  NdResponses bank;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->active);
  bank = priv->bank;
  GST_OBJECT_UNLOCK (self);
  other = gst_nd_conv_transform_caps (direction, caps, &settings, &bank,
      gst_nd_conv_device (&settings) != NULL, template);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
}

/* Where outputs may lie on a device or not, what is downstream says: if it
 * names that memory, it can use it. */
static GstCaps *
gst_nd_conv_fixate_caps (GstBaseTransform * trans, GstPadDirection direction,
    GstCaps * caps, GstCaps * other)
{
  GstPad *pad = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (pad, NULL);
  gboolean device = FALSE;
  GstCaps *chosen = gst_caps_new_empty ();

  for (guint i = 0; peer && i < gst_caps_get_size (peer); i++)
    device |= gst_nd_cuda_caps (peer, i);
  for (guint i = 0; i < gst_caps_get_size (other); i++) {
    if (gst_nd_cuda_caps (other, i) == device)
      gst_caps_append_structure_full (chosen,
          gst_structure_copy (gst_caps_get_structure (other, i)),
          gst_caps_features_copy (gst_caps_get_features (other, i)));
  }
  if (!gst_caps_is_empty (chosen))
    gst_caps_replace (&other, chosen);
  gst_caps_unref (chosen);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->fixate_caps
      (trans, direction, caps, other);
}

/* Whether a source that does not wait for us is upstream. */
static gboolean
is_live (GstNdConv * self)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (self), query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

static gboolean
gst_nd_conv_set_caps (GstBaseTransform * trans, GstCaps * in, GstCaps * out)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GError) error = NULL;
  GstNdFormat in_format, out_format;
  NdConvolver *convolver;

  if (!gst_nd_format_from_caps (&in_format, in, &error)
      || !gst_nd_format_from_caps (&out_format, out, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  gst_nd_conv_flight_land (self);
  priv->live = is_live (self);
  /* Another spelling or another rate: the history stays. */
  if (priv->convolver && gst_nd_format_is_equal (&in_format, &priv->in)
      && gst_nd_format_is_equal (&out_format, &priv->out)) {
    priv->in = in_format;
    priv->out = out_format;
    gst_nd_conv_set_latency (self);
    return TRUE;
  }
  gst_nd_conv_reset (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  priv->in = in_format;
  priv->out = out_format;
  convolver = gst_nd_conv_build (self, &priv->active, out_format.type, &error);
  if (!convolver) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  gst_nd_conv_use (self, convolver);
  return TRUE;
}

static gboolean
gst_nd_conv_get_unit_size (GstBaseTransform * trans, GstCaps * caps,
    gsize * size)
{
  GstNdFormat format;

  if (!gst_nd_format_from_caps (&format, caps, NULL))
    return FALSE;
  *size = format.size;
  return TRUE;
}

/* States and properties */

/* What is linked before the element has video to give, and that first. */
static gboolean
expects_video (GstNdConv * self)
{
  g_autoptr (GstCaps) caps =
      gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SINK_PAD (self), NULL);

  return caps && !gst_caps_is_any (caps) && !gst_caps_is_empty (caps)
      && gst_structure_has_name (gst_caps_get_structure (caps, 0),
      "video/x-raw");
}

/* What is wrong with the settings whatever the caps will be. */
static gboolean
check_settings (GstNdConv * self, const GstNdConvSettings * settings,
    GError ** error)
{
  gboolean expected = expects_video (self);

  /* Frames and volumes have other axes: one of them must do. Where none does,
   * the error is of those that are expected. */
  for (guint i = 0; i < 2; i++) {
    NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings,
        i == 0 ? !expected : expected);
    g_autoptr (NdBank) bank = NULL;

    g_clear_error (error);
    bank = gst_nd_filter_spec_parse (settings->filter, &axes, settings->origin,
        settings->causal, settings->normalize, error);
    if (bank)
      return nd_convolver_check_time_border (settings->time_border, error)
          && nd_backend_find (gst_nd_conv_settings_backend (settings),
          settings->device_id, error);
  }
  return FALSE;
}

const NdBackend *
gst_nd_conv_device (const GstNdConvSettings * settings)
{
  if (settings->backend == GST_ND_BACKEND_CPU
      || settings->method == ND_METHOD_REFERENCE)
    return NULL;
  return gst_nd_backends_device (settings->device_id);
}

static void
gst_nd_conv_set_context (GstElement * element, GstContext * context)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (GST_ND_CONV (element));

  g_rec_mutex_lock (&priv->context_lock);
  gst_nd_cuda_set_context (element, context, priv->settings.device_id,
      &priv->context);
  g_rec_mutex_unlock (&priv->context_lock);
  GST_ELEMENT_CLASS (gst_nd_conv_parent_class)->set_context (element, context);
}

/* A context stays from NULL to NULL: making one takes longer than a thousand
 * volumes. */
static GstStateChangeReturn
gst_nd_conv_change_state (GstElement * element, GstStateChange transition)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (GST_ND_CONV (element));
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (gst_nd_conv_parent_class)->change_state (element,
      transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    g_rec_mutex_lock (&priv->context_lock);
    gst_clear_object (&priv->context);
    g_rec_mutex_unlock (&priv->context_lock);
  }
  return ret;
}

static gboolean
gst_nd_conv_start (GstBaseTransform * trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;
  const NdBackend *device;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  priv->stats = (GstNdConvStats) {
  0};
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  g_atomic_int_set (&priv->failed, FALSE);
  gst_nd_element_start (GST_ELEMENT (self));
  priv->reverse = FALSE;
  priv->discont = TRUE;
  gst_nd_conv_reset (self);
  if (!check_settings (self, &settings, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  if (settings.backend == GST_ND_BACKEND_AUTO)
    gst_nd_backends_explain_auto (GST_ELEMENT (self), settings.device_id);
  device = gst_nd_conv_device (&settings);
  /* It asks neighbours, so under no lock; an answer comes by set_context(). */
  if (device)
    gst_nd_cuda_ensure_context (GST_ELEMENT (self), device,
        settings.device_id, &priv->context);
  return TRUE;
}

static gboolean
gst_nd_conv_stop (GstBaseTransform * trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  gst_nd_conv_reset (self);
  gst_nd_conv_flight_clear (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  GST_OBJECT_LOCK (self);
  gst_nd_conv_activate (self, &priv->settings);
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
set_range (GstStructure * s, const gchar * name, const GstNdConvRange * range)
{
  g_autofree gchar *min = g_strconcat (name, "-min", NULL);
  g_autofree gchar *mean = g_strconcat (name, "-mean", NULL);
  g_autofree gchar *max = g_strconcat (name, "-max", NULL);

  gst_structure_set (s, min, G_TYPE_DOUBLE, range->min,
      mean, G_TYPE_DOUBLE, range->n ? range->sum / range->n : 0,
      max, G_TYPE_DOUBLE, range->max, NULL);
}

static GstStructure *
make_stats (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstStructure *s;

  GST_OBJECT_LOCK (self);
  s = priv->plan_stats ? gst_structure_copy (priv->plan_stats)
      : gst_structure_new_empty ("ndconv-stats");
  gst_structure_set (s, "volumes-in", G_TYPE_UINT64, priv->stats.in,
      "volumes-out", G_TYPE_UINT64, priv->stats.out,
      "volumes-late", G_TYPE_UINT64, priv->stats.late,
      "volumes-clipped", G_TYPE_UINT64, priv->stats.clipped, NULL);
  set_range (s, "seconds", &priv->stats.all);
  set_range (s, "upload-seconds", &priv->stats.upload);
  set_range (s, "compute-seconds", &priv->stats.compute);
  set_range (s, "download-seconds", &priv->stats.download);
  set_range (s, "wait-seconds", &priv->stats.wait);
  GST_OBJECT_UNLOCK (self);
  return s;
}

static void
gst_nd_conv_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstNdConv *self = GST_ND_CONV (object);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_conv_settings_set (&priv->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  priv->settings_changed = TRUE;
  if (!priv->negotiated)
    gst_nd_conv_activate (self, &priv->settings);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_conv_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdConv *self = GST_ND_CONV (object);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  if (id == GST_ND_PROP_STATS) {
    g_value_take_boxed (value, make_stats (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (!gst_nd_conv_settings_get (&priv->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_conv_finalize (GObject * object)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (GST_ND_CONV (object));

  gst_nd_conv_settings_clear (&priv->settings);
  gst_nd_conv_settings_clear (&priv->active);
  g_clear_pointer (&priv->plan_stats, gst_structure_free);
  gst_clear_object (&priv->context);
  g_rec_mutex_clear (&priv->context_lock);
  g_mutex_clear (&priv->flight.lock);
  g_cond_clear (&priv->flight.changed);
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->finalize (object);
}

static void
gst_nd_conv_init (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  gst_nd_conv_settings_init (&priv->settings);
  /* Its class, which knows the axes, is not there yet. */
  gst_nd_conv_settings_copy (&priv->active, &priv->settings);
  priv->bank.n = 1;
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  g_queue_init (&priv->anchors);
  g_queue_init (&priv->inputs);
  g_rec_mutex_init (&priv->context_lock);
  gst_nd_conv_flight_init (self);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self), TRUE);
}

static void
gst_nd_conv_class_init (GstNdConvClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_nd_conv_debug, "ndconv", 0,
      "filters of ndconv2d, ndconv3d and ndconv4dtemporal");
  gst_nd_backends_open ();

  object_class->set_property = gst_nd_conv_set_property;
  object_class->get_property = gst_nd_conv_get_property;
  object_class->finalize = gst_nd_conv_finalize;
  gst_nd_conv_settings_install (object_class);

  GST_ELEMENT_CLASS (klass)->set_context =
      GST_DEBUG_FUNCPTR (gst_nd_conv_set_context);
  GST_ELEMENT_CLASS (klass)->change_state =
      GST_DEBUG_FUNCPTR (gst_nd_conv_change_state);

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_conv_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_conv_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_conv_transform_caps_vfunc);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_nd_conv_fixate_caps);
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
  gst_type_mark_as_plugin_api (GST_TYPE_ND_CONV, 0);
}

/* A class installs properties with its own functions only. */
void
gst_nd_conv_class_install_axes (GstNdConvClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_nd_conv_set_property;
  object_class->get_property = gst_nd_conv_get_property;
  gst_nd_conv_settings_install_axes (object_class);
}

void
gst_nd_conv_class_set_caps (GstNdConvClass * klass, gboolean video)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (video ? GST_ND_TENSORS_CAPS
      "; " GST_VIDEO_CAPS_MAKE (GST_ND_VIDEO_FORMATS) "; "
      GST_ND_TENSORS_CUDA_CAPS "; "
      GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_ND_FEATURE_CUDA,
          GST_ND_CUDA_VIDEO_FORMATS)
      : GST_ND_TENSORS_CAPS "; " GST_ND_TENSORS_CUDA_CAPS);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}
