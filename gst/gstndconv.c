/* The element side of the base class: caps, memory, events, queries, states and
 * properties. Numbers in parentheses are those of the checklist for elements
 * that keep history, which tests/gst/checklist*.c and changes.c go through.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconvprivate.h"

#include <string.h>
#include "gstndbackends.h"
#include "gstndconvcaps.h"
#include "gstnderror.h"
#include "gstndfilterspec.h"

GST_DEBUG_CATEGORY (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstNdConv, gst_nd_conv,
    GST_TYPE_BASE_TRANSFORM);

GstNdConvPrivate *
gst_nd_conv_private (GstNdConv * self)
{
  return gst_nd_conv_get_instance_private (self);
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
  if (priv->failed)
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
  guint n_filters;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->active);
  n_filters = priv->n_filters;
  GST_OBJECT_UNLOCK (self);
  other = gst_nd_conv_transform_caps (direction, caps, &settings, n_filters,
      template);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
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

/* Memory */

/* Always ends with a pool: the base class would size outputs by the anchors,
 * which have no memory (22). */
static gboolean
gst_nd_conv_decide_allocation (GstBaseTransform * trans, GstQuery * query)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstBufferPool) pool = NULL;
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
  size = MAX (size, priv->out.size);
  if (!pool) {
    GstStructure *config;

    pool = priv->out.is_video ? gst_video_buffer_pool_new ()
        : gst_buffer_pool_new ();
    config = gst_buffer_pool_get_config (pool);
    gst_buffer_pool_config_set_params (config, caps, size, min, max);
    gst_buffer_pool_set_config (pool, config);
  }
  if (update)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->decide_allocation
      (trans, query);
}

/* Inputs are copied at once: upstream may use any memory, with any strides. */
static gboolean
gst_nd_conv_propose_allocation (GstBaseTransform * trans,
    GstQuery * decide_query, GstQuery * query)
{
  if (!GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->propose_allocation
      (trans, decide_query, query))
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* Events and queries */

/* Drains in the old caps, whose pool and pad are still there (11). */
static gboolean
caps_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_autoptr (GstCaps) current = gst_pad_get_current_caps
      (GST_BASE_TRANSFORM_SINK_PAD (self));
  g_autoptr (GError) error = NULL;
  GstNdFormat format;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (current && gst_caps_is_equal (current, caps))
    return TRUE;
  gst_nd_conv_end_stretch (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  GST_OBJECT_LOCK (self);
  gst_nd_conv_activate (self, &priv->settings);
  priv->negotiated = TRUE;
  priv->settings_changed = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!gst_nd_format_from_caps (&format, caps, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  if (format.responses > 1) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Caps are of a bank of %u "
        "responses: filter the volume that the bank was given, with all "
        "filters in one bank", format.responses);
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  if (format.is_video && format.n_planes > 1 && (priv->n_filters > 1
          || (priv->active.output_type != GST_ND_OUTPUT_SAME
              && priv->active.output_type != (gint) format.type))) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Video in %s has planes of "
        "several sizes, and comes out of one filter as the type it is: for a "
        "bank or another output-type convert it before, to GRAY8 or RGB",
        GST_VIDEO_INFO_NAME (&format.video));
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  return TRUE;
}

static gboolean
segment_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstSegment current = GST_BASE_TRANSFORM (self)->segment;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (segment->format != GST_FORMAT_TIME) {
    if (!priv->failed)
      GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("The segment is in %s, not in "
              "time: a source with do-timestamp or format=time is needed",
              gst_format_get_name (segment->format)), (NULL));
    priv->failed = TRUE;
    return FALSE;
  }
  current.position = segment->position;
  if (gst_segment_is_equal (segment, &current))
    return TRUE;
  gst_nd_conv_end_stretch (self);
  if (priv->reverse != (segment->rate < 0)) {
    priv->reverse = segment->rate < 0;
    if (priv->convolver)
      nd_convolver_set_reverse (priv->convolver, priv->reverse);
  }
  return TRUE;
}

static gboolean
gst_nd_conv_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  gboolean ok = TRUE;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      ok = caps_event (self, event);
      break;
    case GST_EVENT_SEGMENT:
      ok = segment_event (self, event);
      break;
    case GST_EVENT_EOS:
      /* After an error the stream is not whole: a sink that finishes its file
       * at EOS must not take it for that. */
      gst_nd_conv_end_stretch (self);
      if (priv->failed) {
        gst_event_unref (event);
        return TRUE;
      }
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      gst_nd_conv_end_stretch (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_nd_conv_reset (self);
      priv->discont = TRUE;
      GST_OBJECT_LOCK (self);
      priv->earliest_time = GST_CLOCK_TIME_NONE;
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      break;
  }
  if (!ok) {
    gst_event_unref (event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->sink_event (trans,
      event);
}

/* The base class, told of QoS, would drop volumes before they enter the
 * window (21). */
static gboolean
gst_nd_conv_src_event (GstBaseTransform * trans, GstEvent * event)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTimeDiff diff;
  GstClockTime timestamp;

  if (GST_EVENT_TYPE (event) != GST_EVENT_QOS)
    return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->src_event
        (trans, event);
  gst_event_parse_qos (event, NULL, NULL, &diff, &timestamp);
  GST_OBJECT_LOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    priv->earliest_time = GST_CLOCK_TIME_NONE;
  else if (diff > 0)
    priv->earliest_time = timestamp + 2 * diff;
  else
    priv->earliest_time = timestamp + MAX (diff, -(gint64) timestamp);
  GST_OBJECT_UNLOCK (self);
  return gst_pad_push_event (GST_BASE_TRANSFORM_SINK_PAD (trans), event);
}

static gboolean
latency_query (GstNdConv * self, GstQuery * query)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  GstClockTime own, min, max;
  gboolean live;

  GST_OBJECT_LOCK (self);
  own = priv->latency;
  GST_OBJECT_UNLOCK (self);
  if (!GST_CLOCK_TIME_IS_VALID (own)
      || !gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (self), query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
  return TRUE;
}

static gboolean
gst_nd_conv_query (GstBaseTransform * trans, GstPadDirection direction,
    GstQuery * query)
{
  GstNdConv *self = GST_ND_CONV (trans);

  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return latency_query (self, query);
  /* What cannot be filtered is let in as far as the CAPS event, which can say
   * what is wrong with it. */
  if (direction == GST_PAD_SINK
      && GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    g_autoptr (GstCaps) template =
        gst_pad_get_pad_template_caps (trans->sinkpad);
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_caps_is_fixed (caps) && (gst_caps_is_subset (caps, template)
            || gst_structure_has_name (gst_caps_get_structure (caps, 0),
                GST_ND_TENSORS))) {
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    }
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->query (trans,
      direction, query);
}

/* States and properties */

/* What is wrong with the settings whatever the caps will be. */
static gboolean
check_settings (GstNdConv * self, const GstNdConvSettings * settings,
    GError ** error)
{
  /* Frames and volumes have other axes: one of them must do. */
  for (gint video = 0; video < 2; video++) {
    NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings, video);
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

static gboolean
gst_nd_conv_start (GstBaseTransform * trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  priv->stats = (GstNdConvStats) {
  0};
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  priv->failed = FALSE;
  priv->reverse = FALSE;
  priv->discont = TRUE;
  gst_nd_conv_reset (self);
  if (!check_settings (self, &settings, &error)) {
    gst_nd_conv_fail (self, error);
    return FALSE;
  }
  if (settings.backend == GST_ND_BACKEND_AUTO)
    gst_nd_backends_explain_auto (GST_ELEMENT (self), settings.device_id);
  return TRUE;
}

static gboolean
gst_nd_conv_stop (GstBaseTransform * trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  gst_nd_conv_reset (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  GST_OBJECT_LOCK (self);
  gst_nd_conv_activate (self, &priv->settings);
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
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
      "volumes-clipped", G_TYPE_UINT64, priv->stats.clipped,
      "seconds-min", G_TYPE_DOUBLE, priv->stats.min,
      "seconds-mean", G_TYPE_DOUBLE,
      priv->stats.out ? priv->stats.sum / priv->stats.out : 0,
      "seconds-max", G_TYPE_DOUBLE, priv->stats.max, NULL);
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
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->finalize (object);
}

static void
gst_nd_conv_init (GstNdConv * self)
{
  GstNdConvPrivate *priv = gst_nd_conv_private (self);

  gst_nd_conv_settings_init (&priv->settings);
  gst_nd_conv_activate (self, &priv->settings);
  priv->latency = GST_CLOCK_TIME_NONE;
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  g_queue_init (&priv->anchors);
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

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_nd_conv_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_nd_conv_stop);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_nd_conv_transform_caps_vfunc);
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
gst_nd_conv_class_set_caps (GstNdConvClass * klass, const gchar * text)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
}
