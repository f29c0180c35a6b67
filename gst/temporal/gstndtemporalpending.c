/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalprivate.h"

#include "gst/base/gstndanchor.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndmemory.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* On each device one output uploads, one computes and one downloads; and one is
 * being pushed. */
static guint
max_pending (GstNdTemporal *self)
{
  return 3 * self->priv->processor->turns + 1;
}

/* Microseconds between two checks whether the input is still blocked. */
#define BLOCKED_POLL 2000

static void
count_output (GstNdTemporal *self, const GstNdPendingOutput *output,
    const NdTimes *times)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);
  GstNdTemporalStats *stats = &priv->stats;
  const gdouble all = times->upload + times->compute + times->download;
  const gdouble elapsed = (g_get_monotonic_time () - output->arrived) * 1e-6;

  GST_OBJECT_LOCK (self);
  gst_nd_temporal_range_add (&stats->all, all);
  gst_nd_temporal_range_add (&stats->upload, times->upload);
  gst_nd_temporal_range_add (&stats->compute, times->compute);
  gst_nd_temporal_range_add (&stats->download, times->download);
  gst_nd_temporal_range_add (&stats->wait, MAX (elapsed - all, 0));
  stats->out++;
  if (klass->count_output)
    klass->count_output (self, &priv->out);
  priv->latency.compute_peak = gst_nd_latency_peak (priv->latency.compute_peak,
      output->fence ? all : output->last_seconds);
  nd_thin_add_cost (&priv->thin,
      (all + output->ahead_seconds) * (gdouble) GST_SECOND);
  GST_OBJECT_UNLOCK (self);
  if (klass->warn)
    klass->warn (self, &priv->out);
  GST_LOG_OBJECT (self,
      "output complete: upload %.3f ms, compute %.3f ms, download %.3f ms; "
      "%.3f ms since its last input",
      times->upload * 1e3, times->compute * 1e3, times->download * 1e3,
      elapsed * 1e3);
}

void
gst_nd_temporal_discard_event (GstNdTemporal *self, GstEvent *event)
{
  if (GST_EVENT_IS_STICKY (event))
    gst_pad_store_sticky_event (GST_BASE_TRANSFORM_SRC_PAD (self), event);
  gst_event_unref (event);
}

void
gst_nd_temporal_count_missed (GstNdTemporal *self, guint n, GstFlowReturn ret)
{
  GstNdTemporalStats *stats = &self->priv->stats;

  GST_OBJECT_LOCK (self);
  if (ret == GST_FLOW_FLUSHING)
    stats->flushed += n;
  else
    stats->lost += n;
  GST_OBJECT_UNLOCK (self);
}

void
gst_nd_temporal_release_input (GstNdMap *map)
{
  GstBuffer *buffer = map->buffer;

  gst_nd_unmap (map);
  gst_buffer_unref (buffer);
  g_free (map);
}

/* Waits for the work of @output. */
static GstFlowReturn
temporal_pending_complete (GstNdTemporal *self, GstNdPendingOutput *output)
{
  NdTimes times = { .compute = output->host_seconds };
  g_autoptr (GError) error = NULL;
  GstFlowReturn ret = GST_FLOW_OK;

  if (output->fence && !nd_fence_synchronize (output->fence, &times, &error))
    ret = gst_nd_temporal_fail (self, error);
  g_queue_clear_full (&output->inputs,
      (GDestroyNotify) gst_nd_temporal_release_input);
  if (output->is_mapped)
    gst_nd_unmap (&output->map);
  if (ret == GST_FLOW_OK && output->is_output)
    count_output (self, output, &times);
  g_clear_pointer (&output->fence, nd_fence_unref);
  if (output->buffer)
    gst_nd_tensor_meta_attach (output->buffer, &self->priv->out);
  return ret;
}

/* Pushes the events and the buffer of @output, unless @before says why the
 * stream has ended. */
static GstFlowReturn
temporal_pending_push (GstNdTemporal *self, GstNdPendingOutput *output,
    GstFlowReturn before)
{
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  const gboolean wanted = !gst_nd_flow_is_final (before);
  GstFlowReturn ret = GST_FLOW_OK;

  while (!g_queue_is_empty (&output->events)) {
    GstEvent *event = g_queue_pop_head (&output->events);

    if (wanted)
      gst_pad_push_event (pad, event);
    else
      gst_nd_temporal_discard_event (self, event);
  }
  if (output->buffer && wanted) {
    GST_LOG_OBJECT (self, "pushing %" GST_PTR_FORMAT, output->buffer);
    ret = gst_nd_flush_result (GST_ELEMENT (self),
        gst_pad_push (pad, g_steal_pointer (&output->buffer)));
    if (ret != GST_FLOW_OK)
      GST_DEBUG_OBJECT (self, "downstream returned %s",
          gst_flow_get_name (ret));
    if (ret != GST_FLOW_OK)
      gst_nd_temporal_count_missed (self, 1, ret);
  } else if (output->buffer) {
    gst_nd_temporal_count_missed (self, 1, before);
    gst_clear_buffer (&output->buffer);
  }
  return ret;
}

gboolean
gst_nd_temporal_is_blocked (GstNdTemporal *self)
{
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);

  return gst_pad_is_blocked (sink) || (peer && gst_pad_is_blocked (peer));
}

static GstFlowReturn
complete_and_push (GstNdTemporal *self, GstNdPendingOutput *output,
    GstFlowReturn before)
{
  const GstFlowReturn completed = temporal_pending_complete (self, output);
  const GstFlowReturn pushed = temporal_pending_push (self, output,
      completed == GST_FLOW_OK ? before : completed);

  g_free (output);
  return completed == GST_FLOW_OK ? pushed : completed;
}

/* Call with the lock held: whether a push does not wait, because a thread waits
 * for it or the stream ends. */
static gboolean
is_urgent (const GstNdPendingOutputs *pending)
{
  return pending->waiting || pending->dropping || pending->stopping;
}

/* Call with the lock held. While the input is blocked, an application may
 * replace elements downstream and expects that nothing leaves the element. An
 * output that brings events, which a new sink lacks, takes the lock of the
 * stream: GstPad forgets events that are on their way when the pad is linked
 * again. Outputs that the streaming thread waits for are pushed all the same,
 * because the block stops that thread only after it has returned. TRUE if the
 * stream is locked. */
static gboolean
wait_while_blocked (GstNdTemporal *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);

  while (!is_urgent (pending)) {
    if (!gst_nd_temporal_is_blocked (self)) {
      if (!GST_PAD_HAS_PENDING_EVENTS (src))
        return FALSE;
      if (GST_PAD_STREAM_TRYLOCK (sink)) {
        if (!gst_nd_temporal_is_blocked (self))
          return TRUE;
        GST_PAD_STREAM_UNLOCK (sink);
      }
    }
    g_cond_wait_until (&pending->changed, &pending->lock,
        g_get_monotonic_time () + BLOCKED_POLL);
  }
  return FALSE;
}

/* Waits until an output may be pushed, to @peer. @before says why the stream
 * has ended. A sink that is linked after the wait lacks events, so the pad is
 * looked at again. TRUE if the stream is locked. */
static gboolean
wait_for_push (GstNdTemporal *self, GstPad **peer, GstFlowReturn *before)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD (self);
  gboolean locked, urgent;

  do {
    g_clear_object (peer);
    g_mutex_lock (&pending->lock);
    locked = wait_while_blocked (self);
    urgent = is_urgent (pending);
    *before = pending->ret;
    g_mutex_unlock (&pending->lock);
    *peer = gst_pad_get_peer (src);
  } while (!locked && !urgent && GST_PAD_HAS_PENDING_EVENTS (src));
  return locked;
}

/* The result of a push to @peer. That of a sink that has been replaced
 * meanwhile does not end the stream. */
static GstFlowReturn
result_of_push (GstNdTemporal *self, GstPad *peer, GstFlowReturn ret)
{
  g_autoptr (GstPad) now = gst_pad_get_peer (GST_BASE_TRANSFORM_SRC_PAD (self));

  if (now != peer && gst_nd_flow_is_final (ret))
    ret = GST_FLOW_NOT_LINKED;
  /* Somebody is about to link the pad again. */
  return ret == GST_FLOW_NOT_LINKED && gst_nd_temporal_is_blocked (self)
      ? GST_FLOW_OK
      : ret;
}

/* Call with the lock held. NOT_LINKED is reported once, as it is by a push on
 * this thread, unless the pad has been linked since: upstream would wait for a
 * RECONFIGURE event that has already come. */
static GstFlowReturn
take_ret (GstNdTemporal *self)
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
  GstNdTemporal *self = data;
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
  completed = temporal_pending_complete (self, output);
  locked = wait_for_push (self, &peer, &before);
  if (completed != GST_FLOW_OK)
    before = completed;
  ret = temporal_pending_push (self, output, before);
  if (locked)
    GST_PAD_STREAM_UNLOCK (GST_BASE_TRANSFORM_SINK_PAD (self));
  ret = completed == GST_FLOW_OK ? result_of_push (self, peer, ret) : completed;
  g_mutex_lock (&pending->lock);
  if (output->is_under_way)
    nd_order_left (&self->priv->order);
  /* An output counts as pending until its push returns. */
  g_free (g_queue_pop_head (&pending->outputs));
  if (!gst_nd_flow_is_final (pending->ret) && ret != GST_FLOW_OK)
    pending->ret = ret;
  g_cond_broadcast (&pending->changed);
  g_mutex_unlock (&pending->lock);
}

/* What @output has for downstream leaves before its work is complete, if
 * nothing before it is under way: its buffer, if downstream waits on the device
 * for the fence that its memory carries, and events without a buffer. */
static NdOutputWork
find_work (const GstNdPendingOutput *output)
{
  if (!output->buffer)
    return ND_WORK_NONE;
  return output->map.on_device
          && gst_nd_memory_is_device (gst_buffer_peek_memory (output->buffer,
              0))
      ? ND_WORK_DONE
      : ND_WORK_ENQUEUED;
}

/* Lets downstream wait for the work of @output on the device. */
static void
attach_fence (GstNdTemporal *self, GstNdPendingOutput *output)
{
  gst_nd_memory_set_fence (gst_buffer_peek_memory (output->buffer, 0),
      nd_fence_ref (output->fence));
  gst_nd_unmap (&output->map);
  output->is_mapped = FALSE;
  gst_nd_tensor_meta_attach (output->buffer, &self->priv->out);
}

/* Pushes what may leave now. Afterwards @output has nothing to push, or is
 * under way. */
static GstFlowReturn
push_ahead (GstNdTemporal *self, GstNdPendingOutput *output)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  GstFlowReturn before = GST_FLOW_OK, ret;
  NdLeave leave;

  if (!output->buffer && g_queue_is_empty (&output->events))
    return GST_FLOW_OK;
  g_mutex_lock (&pending->lock);
  leave = nd_order_leave (&self->priv->order, find_work (output));
  g_mutex_unlock (&pending->lock);
  output->is_under_way = leave == ND_LEAVE_LATER;
  if (output->is_under_way)
    return GST_FLOW_OK;
  if (leave == ND_LEAVE_AFTER)
    before = gst_nd_temporal_pending_complete_all (self);
  if (output->buffer)
    attach_fence (self, output);
  ret = temporal_pending_push (self, output, before);
  return ret == GST_FLOW_OK ? before : ret;
}

static GstFlowReturn
temporal_pending_enqueue (GstNdTemporal *self, GstNdPendingOutput *output)
{
  GstNdPendingOutputs *pending = &self->priv->pending;
  const guint most = max_pending (self);
  GstFlowReturn ret;

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

GstFlowReturn
gst_nd_temporal_pending_add (GstNdTemporal *self, GstNdPendingOutput *output)
{
  const gboolean wait =
      self->priv->live && g_queue_is_empty (&self->priv->pending.outputs);
  GstFlowReturn ret = GST_FLOW_OK, last;

  /* If the CPU has replaced a device, outputs of the device go first. */
  if (!output->fence) {
    ret = gst_nd_temporal_pending_complete_all (self);
    last = complete_and_push (self, output, ret);
    return ret == GST_FLOW_OK ? last : ret;
  }
  if (!wait || find_work (output) != ND_WORK_ENQUEUED)
    ret = push_ahead (self, output);
  last = wait ? complete_and_push (self, output, GST_FLOW_OK)
              : temporal_pending_enqueue (self, output);
  return ret == GST_FLOW_OK ? last : ret;
}

/* Call with the lock held. */
static void
wait_until_empty (GstNdPendingOutputs *pending)
{
  while (!g_queue_is_empty (&pending->outputs))
    g_cond_wait (&pending->changed, &pending->lock);
}

GstFlowReturn
gst_nd_temporal_pending_complete_all (GstNdTemporal *self)
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
gst_nd_temporal_pending_drop (GstNdTemporal *self, GstFlowReturn reason)
{
  GstNdPendingOutputs *pending = &self->priv->pending;

  g_mutex_lock (&pending->lock);
  if (!g_queue_is_empty (&pending->outputs))
    GST_DEBUG_OBJECT (self, "dropping %u pending outputs",
        g_queue_get_length (&pending->outputs));
  pending->dropping = TRUE;
  if (!gst_nd_flow_is_final (pending->ret))
    pending->ret = gst_nd_flow_is_final (reason) ? reason : GST_FLOW_FLUSHING;
  g_cond_broadcast (&pending->changed);
  wait_until_empty (pending);
  pending->dropping = FALSE;
  pending->ret = GST_FLOW_OK;
  g_mutex_unlock (&pending->lock);
}

void
gst_nd_temporal_pending_init (GstNdTemporal *self)
{
  GstNdPendingOutputs *pending = &self->priv->pending;

  g_mutex_init (&pending->lock);
  g_cond_init (&pending->changed);
  g_queue_init (&pending->outputs);
  gst_nd_thread_init (&pending->thread, GST_ELEMENT (self));
}

void
gst_nd_temporal_pending_stop (GstNdTemporal *self)
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
gst_nd_temporal_pending_clear (GstNdTemporal *self)
{
  gst_nd_thread_clear (&self->priv->pending.thread);
  g_mutex_clear (&self->priv->pending.lock);
  g_cond_clear (&self->priv->pending.changed);
}
