/* The streaming side: what a buffer, an event or a query does to the window.
 *
 * All outputs leave through push_ready(), on the streaming thread. Numbers in
 * parentheses are those of the checklist for elements that keep history, which
 * tests/gst/checklist*.c and changes.c go through.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstndconv.h"

#include <string.h>
#include "gstndbackends.h"
#include "gstndconvcaps.h"
#include "gstnderror.h"
#include "gstndfilterspec.h"

GST_DEBUG_CATEGORY_STATIC (gst_nd_conv_debug);
#define GST_CAT_DEFAULT gst_nd_conv_debug

typedef struct
{
  guint64 in, out, late, clipped;
  gdouble min, sum, max;        /* seconds of computing, per output */
} Stats;

typedef struct
{
  /* Under the object lock. */
  GstNdConvSettings settings;   /* as the properties say */
  GstNdConvSettings active;     /* those in use; caps are for these */
  guint n_filters;              /* of active.filter; 1 where unreadable */
  gboolean negotiated;          /* from then on active is the streaming
                                 * thread's, and follows at the next volume */
  gboolean settings_changed;    /* settings, since active was made */
  GstClockTime latency;         /* our own; NONE before caps */
  GstClockTime earliest_time;   /* QoS; NONE: never late */
  Stats stats;
  GstStructure *plan_stats;     /* of the convolver in use */

  /* Of the streaming thread. */
  GstNdFormat in, out;
  NdConvolver *convolver;       /* NULL before caps, and after an error */
  NdScale scale[ND_MAX_PLANES];
  gboolean reverse;
  gboolean failed;              /* an error was posted */
  gboolean discont;             /* to mark on the next output */
  GQueue anchors;               /* memory-less buffers, of volumes that have no
                                 * output yet */
  GstClockTime expected;        /* timestamp of the next input */
  gdouble push_seconds;         /* computing since the last output */
  gint64 last_sample;           /* position of the last one that is no GAP */
} GstNdConvPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstNdConv, gst_nd_conv,
    GST_TYPE_BASE_TRANSFORM)
#define PRIVATE(self) \
    ((GstNdConvPrivate *) gst_nd_conv_get_instance_private (self))
/* Building the convolver */
     static void set_latency (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  GstClockTime duration = gst_nd_format_duration (&priv->in), latency = 0;
  gboolean changed;

  if (GST_CLOCK_TIME_IS_VALID (duration))
    latency = nd_window_delay (nd_convolver_window (priv->convolver))
        * duration;
  GST_OBJECT_LOCK (self);
  changed = latency != priv->latency;
  priv->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_latency (GST_OBJECT (self)));
}

static void
set_plan_stats (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  const NdPlan *plan = nd_convolver_plan (priv->convolver, 0);
  GstStructure *s = gst_structure_new ("ndconv-stats",
      "backend", G_TYPE_STRING, plan->backend->name,
      "method", G_TYPE_STRING, nd_method_name (plan->method),
      "reason", G_TYPE_STRING, plan->reason,
      "seconds-estimate", G_TYPE_DOUBLE, plan->estimate,
      "bytes", G_TYPE_UINT64, (guint64) nd_convolver_bytes (priv->convolver),
      NULL);

  GST_INFO_OBJECT (self, "planned: %" GST_PTR_FORMAT, s);
  GST_OBJECT_LOCK (self);
  if (priv->plan_stats)
    gst_structure_free (priv->plan_stats);
  priv->plan_stats = s;
  GST_OBJECT_UNLOCK (self);
}

/* Chroma is filtered about its zero: a sum of zero gives gray, not green. */
static void
set_scales (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  const NdBank *bank = nd_convolver_plan (priv->convolver, 0)->bank;

  for (guint p = 0; p < priv->in.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&priv->in, p);

    priv->scale[p].gain = priv->active.gain;
    priv->scale[p].offset = zero == 0 ? priv->active.offset
        : zero - priv->active.gain * zero * nd_filter_sum (bank->filters[0]);
  }
}

/* A convolver for @settings and the input in use. */
static NdConvolver *
build_convolver (GstNdConv * self, const GstNdConvSettings * settings,
    NdSampleType out_type, GError ** error)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  NdAxes axes = GST_ND_CONV_GET_CLASS (self)->axes (settings,
      priv->in.is_video);
  g_autoptr (NdBank) bank = gst_nd_filter_spec_parse (settings->filter, &axes,
      settings->origin, settings->causal, settings->normalize, error);
  NdConvolverSettings wanted = {.n_planes = priv->in.n_planes,
    .time_border = settings->time_border,.reverse = priv->reverse,
    .backend = gst_nd_conv_settings_backend (settings),
    .device_id = settings->device_id,.method = settings->method
  };

  if (!bank)
    return NULL;
  for (guint p = 0; p < wanted.n_planes; p++) {
    gdouble zero = gst_nd_format_zero (&priv->in, p);

    wanted.jobs[p] = (NdJob) {
    .shape = priv->in.planes[p],.in_type = priv->in.type,.out_type =
          out_type,.border = settings->border,.border_value =
          zero == 0 ? settings->border_value : zero,.bank = bank};
  }
  return nd_convolver_new (&wanted, error);
}

/* Under the object lock. Where a filter cannot be read, what is negotiated
 * comes to nothing anyway: start() or set_caps() says so. */
static void
activate_settings (GstNdConv * self, const GstNdConvSettings * settings)
{
  GstNdConvPrivate *priv = PRIVATE (self);

  gst_nd_conv_settings_copy (&priv->active, settings);
  priv->n_filters = MAX (1, gst_nd_filter_spec_check (settings->filter, NULL));
}

/* Takes a convolver for the active settings. */
static void
take_convolver (GstNdConv * self, NdConvolver * convolver)
{
  GstNdConvPrivate *priv = PRIVATE (self);

  g_clear_pointer (&priv->convolver, nd_convolver_free);
  priv->convolver = convolver;
  set_scales (self);
  set_plan_stats (self);
  set_latency (self);
}

/* Reports @error, once: what follows fails in silence. */
static GstFlowReturn
fail (GstNdConv * self, const GError * error)
{
  GstNdConvPrivate *priv = PRIVATE (self);

  if (!priv->failed)
    gst_nd_element_error (GST_ELEMENT (self), error);
  priv->failed = TRUE;
  return GST_FLOW_ERROR;
}

/* Outputs */

/* Forgets the stream, and pushes nothing (13). */
static void
reset (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);

  if (priv->convolver)
    nd_convolver_reset (priv->convolver);
  g_queue_clear_full (&priv->anchors, (GDestroyNotify) gst_buffer_unref);
  priv->expected = GST_CLOCK_TIME_NONE;
  priv->push_seconds = 0;
  priv->last_sample = -1;
}

static gboolean
is_clipped (GstNdConv * self, GstBuffer * anchor)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime start = GST_BUFFER_PTS (anchor), stop;

  if (!GST_CLOCK_TIME_IS_VALID (start)
      || segment->format != GST_FORMAT_TIME)
    return FALSE;
  stop = GST_BUFFER_DURATION_IS_VALID (anchor)
      ? start + GST_BUFFER_DURATION (anchor) : GST_CLOCK_TIME_NONE;
  return !gst_segment_clip (segment, GST_FORMAT_TIME, start, stop, NULL, NULL);
}

/* QoS says that @anchor would come too late; then tells it on the bus (21). */
static gboolean
is_late (GstNdConv * self, GstBuffer * anchor)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime earliest, running_time, stream_time;
  guint64 out, late;
  GstMessage *message;

  if (!GST_BUFFER_PTS_IS_VALID (anchor)
      || segment->format != GST_FORMAT_TIME
      || !gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (self)))
    return FALSE;
  running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (anchor));
  GST_OBJECT_LOCK (self);
  earliest = priv->earliest_time;
  if (!GST_CLOCK_TIME_IS_VALID (earliest)
      || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > earliest) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  late = ++priv->stats.late;
  out = priv->stats.out;
  GST_OBJECT_UNLOCK (self);

  stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (anchor));
  message = gst_message_new_qos (GST_OBJECT (self), FALSE, running_time,
      stream_time, GST_BUFFER_PTS (anchor), GST_BUFFER_DURATION (anchor));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, earliest),
      1.0, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, out, late);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

static void
count_output (GstNdConv * self, gdouble seconds)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  Stats *stats = &priv->stats;

  seconds += priv->push_seconds;
  priv->push_seconds = 0;
  GST_OBJECT_LOCK (self);
  stats->min = stats->out == 0 ? seconds : MIN (stats->min, seconds);
  stats->max = MAX (stats->max, seconds);
  stats->sum += seconds;
  stats->out++;
  GST_OBJECT_UNLOCK (self);
}

/* Fills @out with the next response, timed. */
static gboolean
respond (GstNdConv * self, GstBuffer * out, GError ** error)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  gint64 begin = g_get_monotonic_time ();
  GstNdMap map;
  gboolean ok;

  /* Downstream's pool may have larger ones. */
  if (!priv->out.is_video)
    gst_buffer_set_size (out, priv->out.size);
  if (!gst_nd_map (&map, &priv->out, out, GST_MAP_WRITE)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FAILED, "The memory for an output "
        "cannot be written: downstream's buffers do not fit its caps");
    return FALSE;
  }
  ok = nd_convolver_respond (priv->convolver, priv->scale, map.planes, error);
  gst_nd_unmap (&map);
  count_output (self, (g_get_monotonic_time () - begin) * 1e-6);
  return ok;
}

/* What the base class answers a POSITION query with (20). */
static void
set_position (GstNdConv * self, GstBuffer * anchor)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;

  if (!GST_BUFFER_PTS_IS_VALID (anchor))
    return;
  segment->position = GST_BUFFER_PTS (anchor);
  if (segment->rate > 0 && GST_BUFFER_DURATION_IS_VALID (anchor))
    segment->position += GST_BUFFER_DURATION (anchor);
}

/* Makes and pushes the output of the convolver's anchor, or skips it. */
static GstFlowReturn
push_one (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  const NdWindow *window = nd_convolver_window (priv->convolver);
  gboolean gap = priv->last_sample < window->anchor - (gint64) window->behind;
  g_autoptr (GstBuffer) anchor = g_queue_pop_head (&priv->anchors);
  g_autoptr (GError) error = NULL;
  GstBuffer *out = NULL;
  GstFlowReturn ret;

  set_position (self, anchor);
  if (is_clipped (self, anchor)) {
    GST_OBJECT_LOCK (self);
    priv->stats.clipped++;
    GST_OBJECT_UNLOCK (self);
    nd_convolver_skip (priv->convolver);
    return GST_FLOW_OK;
  }
  if (is_late (self, anchor)) {
    nd_convolver_skip (priv->convolver);
    priv->discont = TRUE;
    return GST_FLOW_OK;
  }
  ret = GST_BASE_TRANSFORM_GET_CLASS (self)->prepare_output_buffer (trans,
      anchor, &out);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!respond (self, out, &error)) {
    gst_buffer_unref (out);
    return fail (self, error);
  }
  if (priv->discont)
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (out, GST_BUFFER_FLAG_DISCONT);
  if (gap)
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_GAP);
  priv->discont = FALSE;
  return gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (trans), out);
}

static GstFlowReturn
push_ready (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && nd_convolver_ready (priv->convolver))
    ret = push_one (self);
  return ret;
}

/* What remains comes out with the time border beyond the end; then the stream
 * is forgotten. A push that fails ends it, and the rest is dropped (5). */
static GstFlowReturn
drain (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  GstFlowReturn ret = GST_FLOW_OK;

  if (priv->convolver && !priv->failed) {
    nd_convolver_end (priv->convolver);
    ret = push_ready (self);
  }
  reset (self);
  return ret;
}

/* The same where what follows does not go on from what came before (8). */
static GstFlowReturn
end_stretch (GstNdConv * self)
{
  GstFlowReturn ret = drain (self);

  PRIVATE (self)->discont = TRUE;
  return ret;
}

/* Changes while playing (30) */

/* The type of the output for @settings. */
static NdSampleType
output_type (GstNdConv * self, const GstNdConvSettings * settings)
{
  return settings->output_type == GST_ND_OUTPUT_SAME ? PRIVATE (self)->in.type
      : (NdSampleType) settings->output_type;
}

/* Goes on with what the window holds, where it holds enough. */
static GstFlowReturn
change_convolver (GstNdConv * self, NdConvolver * next)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  NdConvolver *old = priv->convolver;
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (!nd_convolver_continue (next, old)) {
    ret = drain (self);
    take_convolver (self, next);
    return ret;
  }
  priv->convolver = NULL;
  take_convolver (self, next);
  while (ret == GST_FLOW_OK && nd_convolver_replay (next, old, &error))
    ret = push_ready (self);
  nd_convolver_free (old);
  if (error)
    ret = fail (self, error);
  if (ret != GST_FLOW_OK)
    reset (self);
  return ret;
}

/* The bank or type of the output are others, and caps with them: the base class
 * negotiates before the next volume, and set_caps() builds. */
static GstFlowReturn
change_caps (GstNdConv * self)
{
  GstFlowReturn ret = drain (self);

  g_clear_pointer (&PRIVATE (self)->convolver, nd_convolver_free);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return ret;
}

/* Takes the settings that were made since the last volume. */
static GstFlowReturn
apply_settings (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (NdConvolver) next = NULL;
  g_autoptr (GError) error = NULL;
  gboolean keeps_caps;

  GST_OBJECT_LOCK (self);
  if (!priv->settings_changed || !priv->convolver) {
    GST_OBJECT_UNLOCK (self);
    return GST_FLOW_OK;
  }
  priv->settings_changed = FALSE;
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  GST_OBJECT_UNLOCK (self);

  next = build_convolver (self, &settings, output_type (self, &settings),
      &error);
  if (!next) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
        ("the old settings stay in use"));
    return GST_FLOW_OK;
  }
  keeps_caps = output_type (self, &settings) == priv->out.type
      && nd_convolver_plan (next, 0)->bank->n_filters == priv->out.responses;
  GST_OBJECT_LOCK (self);
  activate_settings (self, &settings);
  GST_OBJECT_UNLOCK (self);
  if (keeps_caps)
    return change_convolver (self, g_steal_pointer (&next));
  return change_caps (self);
}

/* Inputs */

/* TRUE where the stream does not go on from the last volume (2, 15). In trick
 * modes timestamps jump, and what comes is taken as evenly spaced (18). */
static gboolean
is_discontinuous (GstNdConv * self, GstBuffer * buffer)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstClockTime duration = gst_nd_format_duration (&priv->in);
  gboolean discont = GST_BUFFER_IS_DISCONT (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (pts) || GST_BASE_TRANSFORM (self)->segment.flags
      & GST_SEGMENT_FLAG_TRICKMODE) {
    priv->expected = GST_CLOCK_TIME_NONE;
  } else if (GST_CLOCK_TIME_IS_VALID (duration)) {
    if (GST_CLOCK_TIME_IS_VALID (priv->expected))
      discont |= ABS (GST_CLOCK_DIFF (priv->expected, pts))
          > (GstClockTimeDiff) duration / 2;
    if (!priv->reverse)
      priv->expected = pts + duration;
    else
      priv->expected = pts > duration ? pts - duration : 0;
  }
  return discont && nd_convolver_window (priv->convolver)->pushed > 0;
}

/* What an output takes from its anchor: all but the memory (6). */
static GstBuffer *
make_anchor (GstNdConv * self, GstBuffer * buffer)
{
  GstBuffer *anchor = gst_buffer_new ();

  gst_buffer_copy_into (anchor, buffer, GST_BUFFER_COPY_FLAGS
      | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  if (!GST_BUFFER_DURATION_IS_VALID (anchor))
    GST_BUFFER_DURATION (anchor) = gst_nd_format_duration (&PRIVATE (self)->in);
  return anchor;
}

static GstFlowReturn
push_volume (GstNdConv * self, GstBuffer * buffer)
{
  GstNdConvPrivate *priv = PRIVATE (self);
  gint64 position = nd_convolver_window (priv->convolver)->pushed, begin;
  g_autoptr (GError) error = NULL;
  GstNdMap map;
  gboolean ok;

  if (!gst_nd_map (&map, &priv->in, buffer, GST_MAP_READ)) {
    if (!priv->failed)
      GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("A buffer of %"
              G_GSIZE_FORMAT " bytes came where the caps ask for %"
              G_GSIZE_FORMAT ": upstream must send one whole volume in each "
              "buffer", gst_buffer_get_size (buffer), priv->in.size), (NULL));
    priv->failed = TRUE;
    return GST_FLOW_ERROR;
  }
  begin = g_get_monotonic_time ();
  ok = nd_convolver_push (priv->convolver, map.planes, &error);
  priv->push_seconds += (g_get_monotonic_time () - begin) * 1e-6;
  gst_nd_unmap (&map);
  if (!ok)
    return fail (self, error);
  if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP))
    priv->last_sample = position;
  g_queue_push_tail (&priv->anchors, make_anchor (self, buffer));
  GST_OBJECT_LOCK (self);
  priv->stats.in++;
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_nd_conv_submit_input_buffer (GstBaseTransform * trans, gboolean unused,
    GstBuffer * input)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = PRIVATE (self);
  g_autoptr (GstBuffer) buffer = NULL;
  GstFlowReturn ret = apply_settings (self);

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
  if (is_discontinuous (self, buffer)) {
    GstClockTime expected = priv->expected;

    ret = end_stretch (self);
    priv->expected = expected;
    if (ret != GST_FLOW_OK)
      return ret;
  }
  ret = push_volume (self, buffer);
  return ret == GST_FLOW_OK ? push_ready (self) : ret;
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
  GstNdConvPrivate *priv = PRIVATE (self);
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
  GstNdConvPrivate *priv = PRIVATE (self);
  g_autoptr (GError) error = NULL;
  GstNdFormat in_format, out_format;
  NdConvolver *convolver;

  if (!gst_nd_format_from_caps (&in_format, in, &error)
      || !gst_nd_format_from_caps (&out_format, out, &error)) {
    fail (self, error);
    return FALSE;
  }
  /* Another spelling or another rate: the history stays. */
  if (priv->convolver && gst_nd_format_is_equal (&in_format, &priv->in)
      && gst_nd_format_is_equal (&out_format, &priv->out)) {
    priv->in = in_format;
    priv->out = out_format;
    set_latency (self);
    return TRUE;
  }
  reset (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  priv->in = in_format;
  priv->out = out_format;
  convolver = build_convolver (self, &priv->active, out_format.type, &error);
  if (!convolver) {
    fail (self, error);
    return FALSE;
  }
  take_convolver (self, convolver);
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
  GstNdConvPrivate *priv = PRIVATE (self);
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

    fail (self, error);
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
  GstNdConvPrivate *priv = PRIVATE (self);
  g_autoptr (GstCaps) current = gst_pad_get_current_caps
      (GST_BASE_TRANSFORM_SINK_PAD (self));
  g_autoptr (GError) error = NULL;
  GstNdFormat format;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (current && gst_caps_is_equal (current, caps))
    return TRUE;
  end_stretch (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  GST_OBJECT_LOCK (self);
  activate_settings (self, &priv->settings);
  priv->negotiated = TRUE;
  priv->settings_changed = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!gst_nd_format_from_caps (&format, caps, &error)) {
    fail (self, error);
    return FALSE;
  }
  if (format.responses > 1) {
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Caps are of a bank of %u "
        "responses: filter the volume that the bank was given, with all "
        "filters in one bank", format.responses);
    fail (self, error);
    return FALSE;
  }
  return TRUE;
}

static gboolean
segment_event (GstNdConv * self, GstEvent * event)
{
  GstNdConvPrivate *priv = PRIVATE (self);
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
  end_stretch (self);
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
  GstNdConvPrivate *priv = PRIVATE (self);
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
      ok = !priv->failed;
      end_stretch (self);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      end_stretch (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      reset (self);
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
  GstNdConvPrivate *priv = PRIVATE (self);
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
  GstNdConvPrivate *priv = PRIVATE (self);
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
  /* Volumes of an unsupported kind are let in as far as the CAPS event, which
   * can say what is wrong with them. */
  if (direction == GST_PAD_SINK
      && GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps *caps;

    gst_query_parse_accept_caps (query, &caps);
    if (gst_caps_is_fixed (caps) && gst_structure_has_name
        (gst_caps_get_structure (caps, 0), GST_ND_TENSORS)) {
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    }
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_conv_parent_class)->query (trans,
      direction, query);
}

/* States and properties */

static gboolean
gst_nd_conv_start (GstBaseTransform * trans)
{
  GstNdConv *self = GST_ND_CONV (trans);
  GstNdConvPrivate *priv = PRIVATE (self);
  g_auto (GstNdConvSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_settings_copy (&settings, &priv->settings);
  priv->stats = (Stats) {
  0};
  priv->earliest_time = GST_CLOCK_TIME_NONE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  priv->failed = FALSE;
  priv->reverse = FALSE;
  priv->discont = TRUE;
  reset (self);
  if (gst_nd_filter_spec_check (settings.filter, &error) == 0
      || !nd_backend_find (gst_nd_conv_settings_backend (&settings),
          settings.device_id, &error)) {
    fail (self, error);
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
  GstNdConvPrivate *priv = PRIVATE (self);

  reset (self);
  g_clear_pointer (&priv->convolver, nd_convolver_free);
  GST_OBJECT_LOCK (self);
  activate_settings (self, &priv->settings);
  priv->negotiated = FALSE;
  priv->latency = GST_CLOCK_TIME_NONE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static GstStructure *
make_stats (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);
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
  GstNdConvPrivate *priv = PRIVATE (self);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_conv_settings_set (&priv->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  priv->settings_changed = TRUE;
  if (!priv->negotiated)
    activate_settings (self, &priv->settings);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_conv_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdConv *self = GST_ND_CONV (object);
  GstNdConvPrivate *priv = PRIVATE (self);

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
  GstNdConvPrivate *priv = PRIVATE (GST_ND_CONV (object));

  gst_nd_conv_settings_clear (&priv->settings);
  gst_nd_conv_settings_clear (&priv->active);
  g_clear_pointer (&priv->plan_stats, gst_structure_free);
  G_OBJECT_CLASS (gst_nd_conv_parent_class)->finalize (object);
}

static void
gst_nd_conv_init (GstNdConv * self)
{
  GstNdConvPrivate *priv = PRIVATE (self);

  gst_nd_conv_settings_init (&priv->settings);
  activate_settings (self, &priv->settings);
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
