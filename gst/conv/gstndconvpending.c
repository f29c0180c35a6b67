/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvpending.h"

#include "gst/base/gstndflush.h"
#include "gst/base/gstndtensormeta.h"
#include "gst/conv/gstndconvlatency.h"
#include "gst/conv/gstndconvstats.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* On each device one output uploads, one computes and one downloads; and one is
 * being pushed. */
static guint
max_pending (GstNdConv *self)
{
  return 3 * nd_convolver_turns (self->priv->convolver) + 1;
}

/* Microseconds between two checks whether the input is still blocked. */
#define BLOCKED_POLL 2000

/* The share of saturated samples above which a warning is posted. */
#define SATURATED_TO_WARN 0.001

/* Samples of one output. */
static guint64
count_samples (const GstNdFormat *format)
{
  guint64 samples = 0;

  for (guint p = 0; p < format->n_planes; p++) {
    const NdShape *shape = &format->planes[p];

    samples += (guint64) shape->components * shape->size[0] * shape->size[1]
        * shape->size[2] * format->responses;
  }
  return samples;
}

/* Warns once if many samples do not fit in their integer type: a derivative,
 * for example, loses its negative values, which is hard to see in a picture. */
static void
warn_if_saturated (GstNdConv *self)
{
  GstNdConvPrivate *priv = self->priv;
  const gdouble saturated =
      __atomic_load_n (&priv->saturated, __ATOMIC_RELAXED);
  gdouble share;
  gboolean warn;

  GST_OBJECT_LOCK (self);
  share = priv->counts_saturation && priv->stats.samples
      ? saturated / priv->stats.samples
      : 0;
  warn = share > SATURATED_TO_WARN && !priv->warned_saturation;
  priv->warned_saturation |= warn;
  GST_OBJECT_UNLOCK (self);
  if (warn)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%.2g %% of the output samples so far do not fit in %s and are "
         "saturated: set output-type=float32 or int16, or gain and offset",
            100 * share, nd_sample_name (priv->out.type)),
        (NULL));
}

static void
count_output (GstNdConv *self, const GstNdPendingOutput *output,
    const NdTimes *times)
{
  GstNdConvStats *stats = &self->priv->stats;
  const gdouble all = times->upload + times->compute + times->download;
  const gdouble elapsed = (g_get_monotonic_time () - output->arrived) * 1e-6;

  GST_OBJECT_LOCK (self);
  gst_nd_conv_range_add (&stats->all, all);
  gst_nd_conv_range_add (&stats->upload, times->upload);
  gst_nd_conv_range_add (&stats->compute, times->compute);
  gst_nd_conv_range_add (&stats->download, times->download);
  gst_nd_conv_range_add (&stats->wait, MAX (elapsed - all, 0));
  stats->out++;
  stats->samples += count_samples (&self->priv->out);
  GST_OBJECT_UNLOCK (self);
  warn_if_saturated (self);
  gst_nd_conv_add_compute_time (self, all);
  GST_LOG_OBJECT (self,
      "output complete: upload %.3f ms, compute %.3f ms, download %.3f ms; "
      "%.3f ms since its last input",
      times->upload * 1e3, times->compute * 1e3, times->download * 1e3,
      elapsed * 1e3);
}

void
gst_nd_conv_discard_event (GstNdConv *self, GstEvent *event)
{
  if (GST_EVENT_IS_STICKY (event))
    gst_pad_store_sticky_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  gst_event_unref (event);
}

void
gst_nd_conv_count_missed (GstNdConv *self, guint n, GstFlowReturn ret)
{
  GstNdConvStats *stats = &self->priv->stats;

  GST_OBJECT_LOCK (self);
  if (ret == GST_FLOW_FLUSHING)
    stats->flushed += n;
  else
    stats->lost += n;
  GST_OBJECT_UNLOCK (self);
}

void
gst_nd_conv_release_input (GstNdMap *map)
{
  GstBuffer *buffer = map->buffer;

  gst_nd_unmap (map);
  gst_buffer_unref (buffer);
  g_free (map);
}

/* Waits for the work of @output. */
static GstFlowReturn
complete (GstNdConv *self, GstNdPendingOutput *output)
{
  NdTimes times = { .compute = output->host_seconds };
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (output->fence && !nd_fence_synchronize (output->fence, &times, &error))
    ret = gst_nd_conv_fail (self, error);
  g_clear_pointer (&output->fence, nd_fence_unref);
  g_queue_clear_full (&output->inputs,
      (GDestroyNotify) gst_nd_conv_release_input);
  if (output->is_mapped)
    gst_nd_unmap (&output->map);
  if (ret == GST_FLOW_OK && output->is_output)
    count_output (self, output, &times);
  return ret;
}

/* Pushes @output, which is complete, unless @before says why the stream has
 * ended, and frees it. */
static GstFlowReturn
push (GstNdConv *self, GstNdPendingOutput *output, GstFlowReturn before)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  const gboolean wanted = !gst_nd_flow_is_final (before);
  GstFlowReturn ret = GST_FLOW_OK;

  while (!g_queue_is_empty (&output->events)) {
    GstEvent *event = g_queue_pop_head (&output->events);

    if (wanted)
      gst_pad_push_event (pad, event);
    else
      gst_nd_conv_discard_event (self, event);
  }
  if (output->buffer && wanted) {
    gst_nd_tensor_meta_attach (output->buffer, &self->priv->out);
    GST_LOG_OBJECT (self, "pushing %" GST_PTR_FORMAT, output->buffer);
    ret = gst_nd_flush_result (GST_ELEMENT (self),
        gst_pad_push (pad, output->buffer));
    if (ret != GST_FLOW_OK)
      GST_DEBUG_OBJECT (self, "downstream returned %s",
          gst_flow_get_name (ret));
    if (ret != GST_FLOW_OK)
      gst_nd_conv_count_missed (self, 1, ret);
  } else if (output->buffer) {
    gst_nd_conv_count_missed (self, 1, before);
    gst_buffer_unref (output->buffer);
  }
  g_free (output);
  return ret;
}

/* Whether an application blocks the sink pad of the element or the pad that is
 * linked to it. */
static gboolean
is_blocked (GstNdConv *self)
{
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);

  return gst_pad_is_blocked (sink) || (peer && gst_pad_is_blocked (peer));
}

static GstFlowReturn
complete_and_push (GstNdConv *self, GstNdPendingOutput *output,
    GstFlowReturn before)
{
  const GstFlowReturn completed = complete (self, output);
  const GstFlowReturn pushed =
      push (self, output, completed == GST_FLOW_OK ? before : completed);

  return completed == GST_FLOW_OK ? pushed : completed;
}

/* Call with the lock held. While the input is blocked, an application may
 * replace elements downstream and expects that nothing leaves the element. An
 * output that brings events, which a new sink lacks, takes the lock of the
 * stream: GstPad forgets events that are on their way when the pad is linked
 * again. Outputs that the streaming thread waits for are pushed all the same,
 * because the block stops that thread only after it has returned. TRUE if the
 * stream is locked. */
static gboolean
wait_while_blocked (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD (self);

  while (!pending->waiting && !pending->dropping && !pending->stopping) {
    if (!is_blocked (self)) {
      if (!GST_PAD_HAS_PENDING_EVENTS (src))
        return FALSE;
      if (GST_PAD_STREAM_TRYLOCK (GST_BASE_TRANSFORM_SINK_PAD (self)))
        return TRUE;
    }
    g_cond_wait_until (&pending->changed, &pending->lock,
        g_get_monotonic_time () + BLOCKED_POLL);
  }
  return FALSE;
}

/* The result of a push to @peer. That of a sink that has been replaced
 * meanwhile does not end the stream. */
static GstFlowReturn
result_of_push (GstNdConv *self, GstPad *peer, GstFlowReturn ret)
{
  g_autoptr (GstPad) now = gst_pad_get_peer (GST_BASE_TRANSFORM_SRC_PAD (self));

  if (now != peer && gst_nd_flow_is_final (ret))
    ret = GST_FLOW_NOT_LINKED;
  /* Somebody is about to link the pad again. */
  return ret == GST_FLOW_NOT_LINKED && is_blocked (self) ? GST_FLOW_OK : ret;
}

/* Call with the lock held. NOT_LINKED is reported once, as it is by a push on
 * this thread, unless the pad has been linked since: upstream would wait for a
 * RECONFIGURE event that has already come. */
static GstFlowReturn
take_ret (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  const GstFlowReturn ret = pending->ret;

  if (gst_nd_flow_is_final (ret))
    return ret;
  pending->ret = GST_FLOW_OK;
  return gst_pad_is_linked (GST_BASE_TRANSFORM_SRC_PAD (self)) ? GST_FLOW_OK
                                                               : ret;
}

/* The function of the thread. */
static void
complete_next (gpointer data)
{
  GstNdConv *self = data;
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstNdPendingOutput *output;
  g_autoptr (GstPad) peer = NULL;
  GstFlowReturn completed, before, ret;
  gboolean locked;

  g_mutex_lock (&pending->lock);
  while (!(output = g_queue_peek_head (&pending->outputs))
      && !pending->stopping)
    g_cond_wait (&pending->changed, &pending->lock);
  g_mutex_unlock (&pending->lock);
  if (!output)
    return;
  completed = complete (self, output);
  g_mutex_lock (&pending->lock);
  locked = wait_while_blocked (self);
  if (completed != GST_FLOW_OK)
    before = completed;
  else
    before = pending->dropping ? GST_FLOW_FLUSHING : pending->ret;
  g_mutex_unlock (&pending->lock);
  peer = gst_pad_get_peer (GST_BASE_TRANSFORM_SRC_PAD (self));
  ret = push (self, output, before);
  if (locked)
    GST_PAD_STREAM_UNLOCK (GST_BASE_TRANSFORM_SINK_PAD (self));
  ret = completed == GST_FLOW_OK ? result_of_push (self, peer, ret) : completed;
  g_mutex_lock (&pending->lock);
  /* An output counts as pending until its push returns. */
  g_queue_pop_head (&pending->outputs);
  if (!gst_nd_flow_is_final (pending->ret) && ret != GST_FLOW_OK)
    pending->ret = ret;
  g_cond_broadcast (&pending->changed);
  g_mutex_unlock (&pending->lock);
}

GstFlowReturn
gst_nd_conv_pending_add (GstNdConv *self, GstNdPendingOutput *output)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  const guint most = max_pending (self);
  GstFlowReturn ret;

  /* If the CPU has replaced a device, outputs of the device go first. */
  if (!output->fence) {
    GstFlowReturn completed;

    ret = gst_nd_conv_pending_complete_all (self);
    completed = complete_and_push (self, output, ret);
    return ret == GST_FLOW_OK ? completed : ret;
  }
  if (self->priv->live && g_queue_is_empty (&pending->outputs))
    return complete_and_push (self, output, GST_FLOW_OK);
  gst_nd_thread_start (&pending->thread, "outputs", complete_next, self);
  g_mutex_lock (&pending->lock);
  g_queue_push_tail (&pending->outputs, output);
  g_cond_broadcast (&pending->changed);
  GST_LOG_OBJECT (self, "%u outputs pending",
      g_queue_get_length (&pending->outputs));
  pending->waiting++;
  while (g_queue_get_length (&pending->outputs) >= most)
    g_cond_wait (&pending->changed, &pending->lock);
  pending->waiting--;
  ret = take_ret (self);
  g_mutex_unlock (&pending->lock);
  return ret;
}

/* Call with the lock held. */
static void
wait_until_empty (GstNdPendingOutputs *pending)
{
  while (!g_queue_is_empty (&pending->outputs))
    g_cond_wait (&pending->changed, &pending->lock);
}

GstFlowReturn
gst_nd_conv_pending_complete_all (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstFlowReturn ret;

  g_mutex_lock (&pending->lock);
  pending->waiting++;
  g_cond_broadcast (&pending->changed);
  wait_until_empty (pending);
  pending->waiting--;
  ret = take_ret (self);
  g_mutex_unlock (&pending->lock);
  return ret;
}

void
gst_nd_conv_pending_drop (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;

  g_mutex_lock (&pending->lock);
  if (!g_queue_is_empty (&pending->outputs))
    GST_DEBUG_OBJECT (self, "dropping %u pending outputs",
        g_queue_get_length (&pending->outputs));
  pending->dropping = TRUE;
  g_cond_broadcast (&pending->changed);
  wait_until_empty (pending);
  pending->dropping = FALSE;
  pending->ret = GST_FLOW_OK;
  g_mutex_unlock (&pending->lock);
}

void
gst_nd_conv_pending_init (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;

  g_mutex_init (&pending->lock);
  g_cond_init (&pending->changed);
  g_queue_init (&pending->outputs);
  gst_nd_thread_init (&pending->thread, GST_ELEMENT (self));
}

void
gst_nd_conv_pending_stop (GstNdConv *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;

  g_mutex_lock (&pending->lock);
  pending->stopping = TRUE;
  gst_nd_thread_stop (&pending->thread);
  g_cond_broadcast (&pending->changed);
  g_mutex_unlock (&pending->lock);
  gst_nd_thread_join (&pending->thread);
  pending->stopping = FALSE;
}

void
gst_nd_conv_pending_clear (GstNdConv *self)
{
  gst_nd_thread_clear (&self->priv->pending.thread);
  g_mutex_clear (&self->priv->pending.lock);
  g_cond_clear (&self->priv->pending.changed);
}
