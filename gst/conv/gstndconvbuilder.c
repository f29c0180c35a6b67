/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/conv/gstndconvbuilder.h"

#define GST_CAT_DEFAULT gst_nd_conv_debug

/* Call with the lock held. Returns the build that the caller frees without the
 * lock. */
static GstNdConvBuild *
forget_wanted (GstNdConvBuilder *builder)
{
  GstNdConvBuild *wanted = g_steal_pointer (&builder->wanted);

  if (wanted && wanted == builder->running) {
    g_atomic_int_set (&wanted->cancelled, TRUE);
    return NULL; /* the thread frees it */
  }
  return wanted;
}

static void
run (GstNdConv *self, GstNdConvBuild *build)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  gboolean unwanted;

  builder->running = build;
  g_mutex_unlock (&builder->lock);
  gst_nd_conv_build_run (self, build);
  g_mutex_lock (&builder->lock);
  builder->running = NULL;
  build->done = TRUE;
  unwanted = builder->wanted != build;
  g_cond_broadcast (&builder->changed);
  if (!unwanted)
    return;
  GST_DEBUG_OBJECT (self, "build cancelled: filter \"%s\"",
      build->settings.filter);
  g_mutex_unlock (&builder->lock);
  gst_nd_conv_build_free (build);
  g_mutex_lock (&builder->lock);
}

static gboolean
has_work (const GstNdConvBuilder *builder)
{
  return (builder->wanted && !builder->wanted->done) || builder->disposed;
}

/* The function of the thread. */
static void
work (gpointer data)
{
  GstNdConv *self = data;
  GstNdConvBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  while (!has_work (builder) && !builder->stopping)
    g_cond_wait (&builder->changed, &builder->lock);
  /* First, because the build may need the memory. */
  if (builder->disposed) {
    GSList *disposed = g_steal_pointer (&builder->disposed);

    g_mutex_unlock (&builder->lock);
    g_slist_free_full (disposed, (GDestroyNotify) nd_convolver_free);
    g_mutex_lock (&builder->lock);
  }
  if (builder->wanted && !builder->wanted->done && !builder->stopping)
    run (self, builder->wanted);
  g_mutex_unlock (&builder->lock);
}

/* Wakes the thread, which finds something to do. Call with the lock held;
 * releases it. */
static void
wake (GstNdConv *self)
{
  GstNdConvBuilder *builder = &self->priv->builder;

  builder->stopping = FALSE;
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  gst_nd_thread_start (&builder->thread, "build", work, self);
}

void
gst_nd_conv_builder_request (GstNdConv *self, GstNdConvBuild *build)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  GstNdConvBuild *old;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  builder->wanted = build;
  wake (self);
  if (old)
    gst_nd_conv_build_free (old);
}

GstNdConvBuild *
gst_nd_conv_builder_take (GstNdConv *self, gint64 microseconds)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  const gint64 end = g_get_monotonic_time () + microseconds;
  GstNdConvBuild *build = NULL;
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

GstNdConvBuild *
gst_nd_conv_builder_peek (GstNdConv *self)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  GstNdConvBuild *wanted;

  g_mutex_lock (&builder->lock);
  wanted = builder->wanted;
  g_mutex_unlock (&builder->lock);
  return wanted;
}

void
gst_nd_conv_builder_cancel (GstNdConv *self)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  GstNdConvBuild *old;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  if (old)
    gst_nd_conv_build_free (old);
}

void
gst_nd_conv_builder_set_flushing (GstNdConv *self, gboolean flushing)
{
  GstNdConvBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  builder->flushing = flushing;
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
}

void
gst_nd_conv_builder_dispose (GstNdConv *self, NdConvolver *convolver)
{
  GstNdConvBuilder *builder = &self->priv->builder;

  g_mutex_lock (&builder->lock);
  builder->disposed = g_slist_prepend (builder->disposed, convolver);
  wake (self);
}

void
gst_nd_conv_builder_stop (GstNdConv *self, gboolean wait)
{
  GstNdConvBuilder *builder = &self->priv->builder;
  GstNdConvBuild *old;
  gboolean running;

  g_mutex_lock (&builder->lock);
  old = forget_wanted (builder);
  running = builder->running != NULL;
  builder->stopping = TRUE;
  gst_nd_thread_stop (&builder->thread);
  g_cond_broadcast (&builder->changed);
  g_mutex_unlock (&builder->lock);
  if (old)
    gst_nd_conv_build_free (old);
  if (wait || !running)
    gst_nd_thread_join (&builder->thread);
}

void
gst_nd_conv_builder_init (GstNdConv *self)
{
  GstNdConvBuilder *builder = &self->priv->builder;

  g_mutex_init (&builder->lock);
  g_cond_init (&builder->changed);
  gst_nd_thread_init (&builder->thread, GST_ELEMENT (self));
}

void
gst_nd_conv_builder_clear (GstNdConv *self)
{
  GstNdConvBuilder *builder = &self->priv->builder;

  gst_nd_thread_clear (&builder->thread);
  g_slist_free_full (g_steal_pointer (&builder->disposed),
      (GDestroyNotify) nd_convolver_free);
  g_mutex_clear (&builder->lock);
  g_cond_clear (&builder->changed);
}
