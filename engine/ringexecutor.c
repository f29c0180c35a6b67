/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/executor.h"

gsize
nd_ring_executor_bytes (const NdExecutor *executor)
{
  return executor->backend->ring_bytes (executor->ring);
}

gchar *
nd_ring_executor_kernels (const NdExecutor *executor)
{
  return executor->backend->ring_kernels
      ? executor->backend->ring_kernels (executor->ring)
      : NULL;
}

gboolean
nd_ring_executor_repeat (NdExecutor *executor, guint from, guint slot,
    GError **error)
{
  const NdSamples kept = executor->funcs->kept (executor, from);

  return executor->funcs->push (executor, slot, &kept, error);
}

gboolean
nd_ring_executor_copy_kept (NdExecutor *executor, guint slot,
    const NdSamples *to, GError **error)
{
  const NdJob *job = executor->job;
  const NdSamples kept = executor->funcs->kept (executor, slot);

  return executor->funcs->finish (executor, error)
      && nd_slab_copy (executor->backend->memory, &job->shape, job->in_type,
          ND_AXIS_Z, job->shape.size[2], to, &kept, error);
}

gboolean
nd_ring_executor_wait (NdExecutor *executor, NdFence *fence, GError **error)
{
  return nd_fence_wait (fence, executor->backend, executor->ring, error);
}

guint
nd_ring_executor_take_used (NdExecutor *executor, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES])
{
  rings[0] = executor->ring;
  devices[0] = -1;
  return 1;
}

gboolean
nd_ring_executor_finish (NdExecutor *executor, GError **error)
{
  return nd_ring_synchronize (executor->backend, executor->ring, error);
}

static void
ring_free (NdExecutor *executor)
{
  executor->backend->ring_free (executor->ring);
  g_free (executor);
}

static gboolean
ring_push (NdExecutor *executor, guint slot, const NdSamples *volume,
    GError **error)
{
  return executor->backend->push (executor->ring, slot, volume, error);
}

static gboolean
ring_respond (NdExecutor *executor, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  return executor->backend->respond (executor->ring, slots, scale, out, error);
}

static NdSamples
ring_kept (const NdExecutor *executor, guint slot)
{
  return executor->backend->kept (executor->ring, slot);
}

static gboolean
ring_begin (NdExecutor *executor, const gint *slots)
{
  return executor->backend->begin
      && executor->backend->begin (executor->ring, slots);
}

static gboolean
ring_push_slab (NdExecutor *executor, guint slot, const NdSamples *volume,
    guint axis, GError **error)
{
  const NdSlab slab = { .axis = axis };

  return nd_backend_slabs (executor->backend)
      ->push (executor->ring, slot, volume, &slab, error);
}

static gboolean
ring_respond_slab (NdExecutor *executor, const gint *slots,
    const NdScale *scale, const NdSamples *out, const NdSlab *slab,
    GError **error)
{
  return nd_backend_slabs (executor->backend)
      ->respond (executor->ring, slots, scale, out, slab, error);
}

/* The ring has read a volume when its event is done. */
static gboolean
ring_retain (NdExecutor *executor, GError **error)
{
  return TRUE;
}

static const NdExecutorFuncs ring_funcs = {
  .free = ring_free,
  .bytes = nd_ring_executor_bytes,
  .kernels = nd_ring_executor_kernels,
  .push = ring_push,
  .respond = ring_respond,
  .kept = ring_kept,
  .begin = ring_begin,
  .push_slab = ring_push_slab,
  .respond_slab = ring_respond_slab,
  .repeat = nd_ring_executor_repeat,
  .copy_kept = nd_ring_executor_copy_kept,
  .retain = ring_retain,
  .wait = nd_ring_executor_wait,
  .take_used = nd_ring_executor_take_used,
  .finish = nd_ring_executor_finish,
};

NdExecutor *
nd_ring_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gint device_id, gsize limit,
    GError **error)
{
  const NdSlabFuncs *slabs = nd_backend_slabs (backend);
  NdRing *ring = slabs
      ? slabs->ring_new (job, options, method, device_id, limit, error)
      : backend->ring_new (job, options, method, device_id, error);
  NdExecutor *executor;

  if (!ring)
    return NULL;
  executor = g_new (NdExecutor, 1);
  *executor = (NdExecutor){ &ring_funcs, backend, job, ring };
  return executor;
}
