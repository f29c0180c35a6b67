/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporallatency.h"

#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalprivate.h"
#include "gst/temporal/gstndtemporalstream.h"

#include <math.h>

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* Caps may promise more volumes than come, and then the measured interval is
 * the one that outputs wait for. */
GstClockTime
gst_nd_temporal_interval (GstNdTemporal *self)
{
  return gst_nd_timing_expected (&self->priv->timing,
      gst_nd_format_duration (&self->priv->in));
}

GstClockTime
gst_nd_temporal_distance (GstNdTemporal *self)
{
  return MAX (gst_nd_temporal_interval (self), self->priv->thin.distance);
}

/* With stamp=content, outputs have earlier timestamps, and sinks expect them
 * earlier by the same time. */
GstClockTimeDiff
gst_nd_temporal_content_lag (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;

  return priv->active->stamp == GST_ND_STAMP_CONTENT
      ? (GstClockTimeDiff) round (priv->processor->lag
            * gst_nd_temporal_distance (self))
      : 0;
}

/* The computing time that the property compute-latency adds to the latency.
 * Before the first output this is the estimate of the plan. */
static GstClockTime
find_compute_time (GstNdTemporal *self, GstClockTime interval)
{
  GstNdTemporalPrivate *priv = self->priv;
  gdouble seconds;

  GST_OBJECT_LOCK (self);
  seconds = priv->latency.compute_peak;
  if (seconds == 0)
    seconds = priv->processor->estimate;
  /* What takes longer than the time between two volumes is rare. */
  if (priv->thin.distance > 0)
    seconds = MIN (seconds, priv->thin.distance / (gdouble) GST_SECOND);
  GST_OBJECT_UNLOCK (self);
  return gst_nd_latency_compute_time (priv->active->compute_latency, priv->live,
      interval, seconds * GST_SECOND, &priv->latency.counts_compute);
}

/* Tells accurate seeks how many volumes an output reads. In stream time, so
 * that before and after change places in reverse playback. */
static void
set_reach (GstNdTemporal *self, GstClockTime interval)
{
  GstNdTemporalPrivate *priv = self->priv;
  const guint back = priv->processor->back;
  const guint ahead = priv->processor->ahead;

  gst_nd_seek_set_reach (&priv->seek, GST_ELEMENT (self),
      priv->reverse ? ahead : back, priv->reverse ? back : ahead,
      interval > 0 ? interval : GST_CLOCK_TIME_NONE);
}

/* The latency is at most max-latency, or what the window takes at the pace of
 * the input. */
static GstClockTime
temporal_latency_limit (GstNdTemporal *self, GstClockTime latency)
{
  GstNdTemporalPrivate *priv = self->priv;
  const GstClockTime window =
      priv->processor->delay * gst_nd_temporal_interval (self);

  if (!priv->live || priv->active->max_latency == 0)
    return latency;
  return MIN (latency, MAX (window, (GstClockTime) priv->active->max_latency));
}

static void
set_latency (GstNdTemporal *self, gboolean exactly)
{
  GstNdTemporalPrivate *priv = self->priv;
  const guint delay = priv->processor->delay;
  const GstClockTime interval = gst_nd_temporal_distance (self);
  const GstClockTimeDiff lag = gst_nd_temporal_content_lag (self);
  const GstClockTimeDiff due = delay * interval + lag;
  const GstClockTime computing = find_compute_time (self, interval);
  const gint64 now = g_get_monotonic_time ();
  const GstClockTime needed = MAX (due, 0) + computing;
  GstClockTime latency = temporal_latency_limit (self, needed);
  gboolean changed;

  set_reach (self, interval);
  GST_OBJECT_LOCK (self);
  if (!exactly)
    latency = gst_nd_latency_step (priv->latency.answer, latency, interval);
  priv->latency.answer = latency;
  priv->latency.needed = needed;
  /* Outputs that are late do not wait for the message. */
  exactly |= priv->latency.missed && latency > priv->latency.told
      && gst_nd_latency_differs (priv->latency.told, latency);
  priv->latency.missed = FALSE;
  changed = exactly ? latency != priv->latency.told
                    : gst_nd_latency_differs_now (priv->latency.told, latency,
                          (now - priv->latency.told_at) * GST_USECOND);
  if (changed) {
    priv->latency.told = latency;
    priv->latency.told_at = now;
  }
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  GST_INFO_OBJECT (self,
      "latency %" GST_TIME_FORMAT ": %u volumes of %" GST_TIME_FORMAT
      ", lag of the contents %" GST_STIME_FORMAT
      ", computing %" GST_TIME_FORMAT,
      GST_TIME_ARGS (latency), delay, GST_TIME_ARGS (interval),
      GST_STIME_ARGS (lag), GST_TIME_ARGS (computing));
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

void
gst_nd_temporal_set_latency (GstNdTemporal *self)
{
  set_latency (self, TRUE);
}

/* Warns once if nothing says how long a live stream waits for later volumes. */
static void
warn_without_rate (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  const guint delay = priv->processor->delay;

  if (!priv->live || delay == 0 || priv->order.arrived <= delay
      || gst_nd_temporal_interval (self) > 0 || priv->latency.warned_rate)
    return;
  priv->latency.warned_rate = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The element waits for %u later volumes of a live stream, but neither "
       "caps nor timestamps tell how long that takes, so outputs count as "
       "late: set framerate in the caps, or do-timestamp=true on the source",
          delay),
      (NULL));
}

void
gst_nd_temporal_update_latency (GstNdTemporal *self)
{
  warn_without_rate (self);
  set_latency (self, FALSE);
}

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* For release-after=-1. Networks stall for seconds, and the volumes come
 * afterwards. */
#define LIVE_PATIENCE (3500 * GST_MSECOND)

/* For how long after a volume its successor is waited for; NONE: for ever. */
static GstClockTime
find_patience (GstNdTemporal *self)
{
  const GstNdTemporalPrivate *priv = self->priv;
  const gint64 after = priv->active->release_after;

  if (priv->order.remaining == 0 || after == 0 || (after < 0 && !priv->live))
    return GST_CLOCK_TIME_NONE;
  return MAX (after < 0 ? LIVE_PATIENCE : (GstClockTime) after,
      (priv->processor->delay + 1) * gst_nd_temporal_distance (self));
}

/* Call with the lock held. */
static void
set_deadline (GstNdTemporal *self)
{
  GstNdTemporalRelease *release = &self->priv->release;
  g_autoptr (GstClock) clock = gst_element_get_clock (GST_ELEMENT (self));

  release->deadline = GST_CLOCK_TIME_NONE;
  if (!clock || !release->playing
      || !GST_CLOCK_TIME_IS_VALID (release->patience))
    return;
  if (release->id && !gst_clock_id_uses_clock (release->id, clock))
    gst_clock_id_unschedule (release->id);
  release->deadline = gst_clock_get_time (clock) + release->patience;
  g_cond_signal (&release->changed);
}

static void
set_patience (GstNdTemporal *self, GstClockTime patience)
{
  GstNdTemporalRelease *release = &self->priv->release;

  g_mutex_lock (&release->lock);
  release->patience = patience;
  set_deadline (self);
  g_mutex_unlock (&release->lock);
}

/* Makes the outputs, unless a volume has come meanwhile. */
static void
release_outputs (GstNdTemporal *self, GstClockTime waited)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);
  gboolean due;

  GST_PAD_STREAM_LOCK (pad);
  g_mutex_lock (&priv->release.lock);
  due = priv->release.deadline <= waited && !priv->release.stopping;
  /* Downstream is being replaced. */
  if (due && gst_nd_temporal_is_blocked (self)) {
    set_deadline (self);
    due = FALSE;
  }
  /* The next volume sets it again. If the pad flushes, the thread must not find
   * it a second time. */
  if (due)
    priv->release.deadline = GST_CLOCK_TIME_NONE;
  g_mutex_unlock (&priv->release.lock);
  if (due && !GST_PAD_IS_FLUSHING (pad) && priv->processor) {
    GST_OBJECT_LOCK (self);
    priv->stats.released += priv->order.remaining;
    GST_OBJECT_UNLOCK (self);
    gst_nd_temporal_end_stretch (self,
        "no volume came before the deadline of the outputs that wait");
  }
  GST_PAD_STREAM_UNLOCK (pad);
}

/* The function of the thread: waits for a deadline. Volumes that come meanwhile
 * move it. */
static void
wait_for_deadline (gpointer data)
{
  GstNdTemporal *self = data;
  GstNdTemporalRelease *release = &self->priv->release;
  g_autoptr (GstClock) clock = NULL;
  GstClockTime deadline;
  GstClockReturn ret;

  g_mutex_lock (&release->lock);
  while (!release->stopping && !GST_CLOCK_TIME_IS_VALID (release->deadline))
    g_cond_wait (&release->changed, &release->lock);
  clock = gst_element_get_clock (GST_ELEMENT (self));
  if (release->stopping || !clock) {
    release->deadline = GST_CLOCK_TIME_NONE;
    g_mutex_unlock (&release->lock);
    return;
  }
  deadline = release->deadline;
  release->id = gst_clock_new_single_shot_id (clock, deadline);
  g_mutex_unlock (&release->lock);

  ret = gst_clock_id_wait (release->id, NULL);

  g_mutex_lock (&release->lock);
  gst_clock_id_unref (release->id);
  release->id = NULL;
  g_cond_signal (&release->changed);
  g_mutex_unlock (&release->lock);
  if (ret == GST_CLOCK_OK || ret == GST_CLOCK_EARLY)
    release_outputs (self, deadline);
}

void
gst_nd_temporal_release_arm (GstNdTemporal *self)
{
  const GstClockTime patience = find_patience (self);

  set_patience (self, patience);
  if (GST_CLOCK_TIME_IS_VALID (patience))
    gst_nd_thread_start (&self->priv->release.thread, "release",
        wait_for_deadline, self);
}

void
gst_nd_temporal_release_disarm (GstNdTemporal *self)
{
  set_patience (self, GST_CLOCK_TIME_NONE);
}

void
gst_nd_temporal_release_set_playing (GstNdTemporal *self, gboolean playing)
{
  GstNdTemporalRelease *release = &self->priv->release;

  g_mutex_lock (&release->lock);
  release->playing = playing;
  set_deadline (self);
  g_mutex_unlock (&release->lock);
}

void
gst_nd_temporal_release_stop (GstNdTemporal *self)
{
  GstNdTemporalRelease *release = &self->priv->release;

  g_mutex_lock (&release->lock);
  release->stopping = TRUE;
  gst_nd_thread_stop (&release->thread);
  g_cond_signal (&release->changed);
  /* GstTestClock forgets this if the thread does not wait yet. */
  while (release->id) {
    gst_clock_id_unschedule (release->id);
    g_cond_wait_until (&release->changed, &release->lock,
        g_get_monotonic_time () + 10 * G_TIME_SPAN_MILLISECOND);
  }
  g_mutex_unlock (&release->lock);
  gst_nd_thread_join (&release->thread);
  release->stopping = FALSE;
}

void
gst_nd_temporal_release_init (GstNdTemporal *self)
{
  GstNdTemporalRelease *release = &self->priv->release;

  g_mutex_init (&release->lock);
  g_cond_init (&release->changed);
  gst_nd_thread_init (&release->thread, GST_ELEMENT (self));
  release->patience = release->deadline = GST_CLOCK_TIME_NONE;
}

void
gst_nd_temporal_release_clear (GstNdTemporal *self)
{
  gst_nd_thread_clear (&self->priv->release.thread);
  g_mutex_clear (&self->priv->release.lock);
  g_cond_clear (&self->priv->release.changed);
}
