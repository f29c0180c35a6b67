/* How a plan computes: in one ring of whole volumes (ringexecutor.c), in a ring
 * through which volumes go slab by slab (slabs.c), or by the plans of several
 * devices (spread.c). The plan (engine/plan.h) makes an executor and calls it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/devices.h"
#include "engine/fence.h"
#include "engine/slabs.h"

G_BEGIN_DECLS

typedef struct _NdExecutor NdExecutor;

/* An executor is used by one thread at a time. A push that fails leaves its
 * slot undefined, a respond that fails its output; other slots stay. free()
 * waits for work that is enqueued. */
typedef struct
{
  /* Volumes go through the device in slabs, so that calls wait for it. */
  gboolean in_slabs;

  void (*free) (NdExecutor *executor);
  gsize (*bytes) (const NdExecutor *executor);
  gchar *(*kernels) (const NdExecutor *executor); /* may return NULL */

  /* Those of NdBackend. kept: NULL if no memory has whole volumes; begin: FALSE
   * if outputs are not begun. */
  gboolean (*push) (NdExecutor *executor, guint slot, const NdSamples *volume,
      GError **error);
  gboolean (*respond) (NdExecutor *executor, const gint *slots,
      const NdScale *scale, const NdSamples *out, GError **error);
  NdSamples (*kept) (const NdExecutor *executor, guint slot);
  gboolean (*begin) (NdExecutor *executor, const gint *slots);

  /* push and respond for a slab of a volume: volumes of the job are slabs
   * themselves. NULL, or only if the back end has NdSlabFuncs. */
  gboolean (*push_slab) (NdExecutor *executor, guint slot,
      const NdSamples *volume, guint axis, GError **error);
  gboolean (*respond_slab) (NdExecutor *executor, const gint *slots,
      const NdScale *scale, const NdSamples *out, const NdSlab *slab,
      GError **error);

  /* Those of NdPlan. */
  gboolean (*repeat) (NdExecutor *executor, guint from, guint slot,
      GError **error);
  gboolean (*copy_kept) (NdExecutor *executor, guint slot, const NdSamples *to,
      GError **error);
  gboolean (*retain) (NdExecutor *executor, GError **error);
  gboolean (*wait) (NdExecutor *executor, NdFence *fence, GError **error);
  guint (*take_used) (NdExecutor *executor, NdRing *rings[ND_MAX_DEVICES],
      gint devices[ND_MAX_DEVICES]);
  gboolean (*finish) (NdExecutor *executor, GError **error);
} NdExecutorFuncs;

/* The first member of each executor. */
struct _NdExecutor
{
  const NdExecutorFuncs *funcs;
  const NdBackend *backend;
  const NdJob *job;
  NdRing *ring; /* NULL if several devices share the work */
};

/* The constructors return NULL with an error. @backend and @job must outlive
 * the executor. @limit: the most bytes of the device; 0: no limit. */

/* Whole volumes. ND_ERROR_MEMORY if they do not fit. */
NdExecutor *nd_ring_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gint device_id, gsize limit,
    GError **error);

/* Slabs of the height that is expected to be the fastest of those that fit.
 * ND_ERROR_MEMORY names the bytes that the smallest slab needs;
 * ND_ERROR_SETTINGS if the filter needs all samples along the axis.
 *
 * A window of one volume is read by respond, which is called at most once for
 * each push, and may write its output over the volume. Volumes of other windows
 * are copied to memory of the host before push returns.
 *
 * @seconds receives the seconds of the device per volume that the back end's
 * cost model expects, samples that slabs have in common counted for each.
 * @text: for example "12 slabs of 22 slices, because ..."; free it with
 * g_free(). */
NdExecutor *nd_slabs_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gint device_id, gsize limit,
    gdouble *seconds, gchar **text, GError **error);

/* Functions of executors with a ring. */
gsize nd_ring_executor_bytes (const NdExecutor *executor);
gchar *nd_ring_executor_kernels (const NdExecutor *executor);
gboolean nd_ring_executor_repeat (NdExecutor *executor, guint from, guint slot,
    GError **error);
gboolean nd_ring_executor_copy_kept (NdExecutor *executor, guint slot,
    const NdSamples *to, GError **error);
gboolean nd_ring_executor_wait (NdExecutor *executor, NdFence *fence,
    GError **error);
guint nd_ring_executor_take_used (NdExecutor *executor,
    NdRing *rings[ND_MAX_DEVICES], gint devices[ND_MAX_DEVICES]);
gboolean nd_ring_executor_finish (NdExecutor *executor, GError **error);

G_END_DECLS
