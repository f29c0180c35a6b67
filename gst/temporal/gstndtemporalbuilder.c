/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/gstndtemporalbuilder.h"
#include "gst/temporal/gstndtemporalprivate.h"

#define GST_CAT_DEFAULT gst_nd_temporal_debug

/* The volumes of the stream that upstream expects; 0 if it does not know. */
static guint64
count_volumes (GstNdTemporal *self)
{
  gint64 volumes;

  return gst_pad_peer_query_duration (GST_BASE_TRANSFORM_SINK_PAD (self),
             GST_FORMAT_DEFAULT, &volumes)
          && volumes > 0
      ? volumes
      : 0;
}

GstNdTemporalBuild *
gst_nd_temporal_build_new (GstNdTemporal *self,
    const GstNdTemporalSettings *settings)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalBuild *build = g_new0 (GstNdTemporalBuild, 1);

  build->settings = gst_nd_temporal_settings_dup (settings);
  build->in = priv->in;
  build->volumes = count_volumes (self);
  build->live = priv->live;
  build->beside = priv->processor != NULL;
  build->context = gst_nd_context_get (&priv->device.context);
  return build;
}

void
gst_nd_temporal_build_free (GstNdTemporalBuild *build)
{
  gst_nd_temporal_settings_free (build->settings);
  g_clear_pointer (&build->later, gst_nd_temporal_settings_free);
  g_clear_pointer (&build->processor, gst_nd_processor_free);
  g_clear_error (&build->error);
  gst_clear_object (&build->context);
  g_free (build);
}

gboolean
gst_nd_temporal_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b)
{
  return !settings->klass->same_units
      || settings->klass->same_units (settings, a, b);
}

gboolean
gst_nd_temporal_build_fits (GstNdTemporal *self,
    const GstNdTemporalBuild *build, const GstNdTemporalSettings *settings)
{
  return gst_nd_temporal_settings_have_same_processor (build->settings,
             settings)
      && gst_nd_format_is_equal (&build->in, &self->priv->in)
      && gst_nd_temporal_same_units (settings, &build->in, &self->priv->in);
}

static void
build_run (GstNdTemporal *self, GstNdTemporalBuild *build)
{
  const gint64 begin = g_get_monotonic_time ();
  const GstNdProcessor *processor;

  gst_nd_temporal_log_settings (self, build->settings);
  build->processor =
      GST_ND_TEMPORAL_GET_CLASS (self)->build (self, build, &build->error);
  processor = build->processor;
  if (processor)
    GST_INFO_OBJECT (self,
        "processor built in %.3f ms on %s: window of %u volumes (%u before the "
        "anchor, %u after it), %" G_GSIZE_FORMAT " bytes",
        (g_get_monotonic_time () - begin) * 1e-3, processor->backend->name,
        processor->before + 1 + processor->after, processor->before,
        processor->after, processor->klass->bytes (build->processor));
}

/* Call with the lock held. Returns the build that the caller frees without the
 * lock. */
static GstNdTemporalBuild *
forget_wanted (GstNdTemporalBuilder *builder)
{
  GstNdTemporalBuild *wanted = g_steal_pointer (&builder->wanted);

  if (wanted && wanted == builder->running) {
    g_atomic_int_set (&wanted->cancelled, TRUE);
    return NULL; /* the thread frees it */
  }
  return wanted;
}

static void
temporal_builder_run (GstNdTemporal *self, GstNdTemporalBuild *build)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  gboolean unwanted;

  builder->running = build;
  g_mutex_unlock (&builder->lock);
  build_run (self, build);
  g_mutex_lock (&builder->lock);
  builder->running = NULL;
  build->done = TRUE;
  unwanted = builder->wanted != build;
  g_cond_broadcast (&builder->changed);
  if (!unwanted)
    return;
  GST_DEBUG_OBJECT (self, "build cancelled");
  g_mutex_unlock (&builder->lock);
  gst_nd_temporal_build_free (build);
  g_mutex_lock (&builder->lock);
}

static gboolean
has_work (const GstNdTemporalBuilder *builder)
{
  return (builder->wanted && !builder->wanted->done) || builder->disposed;
}

/* The function of the thread. */
static void
temporal_builder_work (gpointer data)
{
  GstNdTemporal *self = data;
  GstNdTemporalBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  while (!has_work (builder) && !builder->stopping)
    g_cond_wait (&builder->changed, &builder->lock);
  /* First, because the build may need the memory. */
  if (builder->disposed) {
    GSList *disposed = g_steal_pointer (&builder->disposed);

    g_mutex_unlock (&builder->lock);
    g_slist_free_full (disposed, (GDestroyNotify) gst_nd_processor_free);
    g_mutex_lock (&builder->lock);
  }
  if (builder->wanted && !builder->wanted->done && !builder->stopping)
    temporal_builder_run (self, builder->wanted);
  g_mutex_unlock (&builder->lock);
}

/* Wakes the thread, which finds something to do. Call with the lock held;
 * releases it. */
static void
temporal_builder_wake (GstNdTemporal *self)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;

  builder->stopping = FALSE;
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  gst_nd_thread_start (&builder->thread, "build", temporal_builder_work, self);
}

void
gst_nd_temporal_builder_request (GstNdTemporal *self, GstNdTemporalBuild *build)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  GstNdTemporalBuild *old;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  builder->wanted = build;
  temporal_builder_wake (self);
  if (old)
    gst_nd_temporal_build_free (old);
}

GstNdTemporalBuild *
gst_nd_temporal_builder_take (GstNdTemporal *self, gint64 microseconds)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  const gint64 end = g_get_monotonic_time () + microseconds;
  GstNdTemporalBuild *build = NULL;
  gboolean waiting = microseconds != 0;

  g_mutex_lock (&builder->lock);
  while (waiting && builder->wanted && !builder->wanted->done
      && !builder->flushing) {
    if (microseconds < 0)
      g_cond_wait (&builder->changed, &builder->lock);
    else
      waiting = g_cond_wait_until (&builder->changed, &builder->lock, end);
  }
  if (builder->wanted && builder->wanted->done)
    build = g_steal_pointer (&builder->wanted);
  g_mutex_unlock (&builder->lock);
  return build;
}

GstNdTemporalBuild *
gst_nd_temporal_builder_peek (GstNdTemporal *self)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  GstNdTemporalBuild *wanted;

  g_mutex_lock (&builder->lock);
  wanted = builder->wanted;
  g_mutex_unlock (&builder->lock);
  return wanted;
}

void
gst_nd_temporal_builder_cancel (GstNdTemporal *self)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  GstNdTemporalBuild *old;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  if (old)
    gst_nd_temporal_build_free (old);
}

void
gst_nd_temporal_builder_set_flushing (GstNdTemporal *self, gboolean flushing)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  builder->flushing = flushing;
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
}

void
gst_nd_temporal_builder_dispose (GstNdTemporal *self, GstNdProcessor *old)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  builder->disposed = g_slist_prepend (builder->disposed, old);
  temporal_builder_wake (self);
}

void
gst_nd_temporal_builder_stop (GstNdTemporal *self, gboolean wait)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;
  GstNdTemporalBuild *old;
  gboolean running;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  running = builder->running != NULL;
  builder->stopping = TRUE;
  gst_nd_thread_stop (&builder->thread);
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  if (old)
    gst_nd_temporal_build_free (old);
  if (wait || !running)
    gst_nd_thread_join (&builder->thread);
  else
    gst_nd_thread_join_later (&builder->thread);
}

void
gst_nd_temporal_builder_init (GstNdTemporal *self)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;

  g_mutex_init (&builder->lock);
  g_cond_init (&builder->changed);
  gst_nd_thread_init (&builder->thread, GST_ELEMENT (self));
}

void
gst_nd_temporal_builder_clear (GstNdTemporal *self)
{
  GstNdTemporalBuilder *builder = &self->priv->builder;

  gst_nd_thread_clear (&builder->thread);
  g_slist_free_full (g_steal_pointer (&builder->disposed),
      (GDestroyNotify) gst_nd_processor_free);
  g_mutex_clear (&builder->lock);
  g_cond_clear (&builder->changed);
}

/* The processor in use */

void
gst_nd_temporal_dispose_processor (GstNdTemporal *self)
{
  GstNdProcessor *processor = g_steal_pointer (&self->priv->processor);

  if (processor)
    gst_nd_temporal_builder_dispose (self, processor);
}

static void
temporal_builder_describe (GstNdTemporal *self)
{
  GstNdTemporalPrivate *priv = self->priv;
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);
  GstNdProcessor *processor = priv->processor;

  g_clear_pointer (&priv->described, gst_structure_free);
  priv->described = gst_structure_new ("ndconv-stats", "backend", G_TYPE_STRING,
      processor->backend->name, "bytes", G_TYPE_UINT64,
      (guint64) processor->klass->bytes (processor), "lag", G_TYPE_DOUBLE,
      processor->lag, NULL);
  if (klass->describe)
    klass->describe (self, processor, priv->described);
}

void
gst_nd_temporal_use_settings (GstNdTemporal *self)
{
  GstNdTemporalClass *klass = GST_ND_TEMPORAL_GET_CLASS (self);

  if (klass->use && self->priv->processor)
    klass->use (self, self->priv->processor, self->priv->active);
}

void
gst_nd_temporal_use (GstNdTemporal *self, GstNdProcessor *processor)
{
  GstNdTemporalPrivate *priv = self->priv;

  gst_nd_temporal_dispose_processor (self);
  priv->processor = processor;
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&priv->proven, gst_nd_temporal_settings_free);
  priv->proven = gst_nd_temporal_settings_dup (priv->active);
  temporal_builder_describe (self);
  nd_thin_forget_costs (&priv->thin);
  GST_OBJECT_UNLOCK (self);
  gst_nd_temporal_use_settings (self);
  gst_nd_temporal_set_latency (self);
}
