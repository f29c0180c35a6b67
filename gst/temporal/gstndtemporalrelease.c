/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalrelease.h"

#include "gst/temporal/gstndtemporalpending.h"
#include "gst/temporal/gstndtemporalstream.h"

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
  if (release->id)
    gst_clock_id_unschedule (release->id);
  g_cond_signal (&release->changed);
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
