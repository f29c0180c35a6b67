/* The functions of the CUDA back end for slabs of volumes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/guarded.h"
#include "cuda/ring.h"

#include <gmodule.h>

using namespace nd;

static NdRing *
slab_ring_new (const NdJob *request, const NdRingOptions *options,
    NdMethod method, gint device_id, gsize limit, GError **error)
{
  const RingJob job (*request, *options);
  NdRing *ring = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    ring = new NdRing (job, method, context, limit);
    ND_INFO ("%s on device %d: %zux%zux%zu, %u slots, %zu bytes",
        nd_method_name (method), context->device, job.shape.size[0],
        job.shape.size[1], job.shape.size[2], nd_job_reach (&job).slots,
        ring->bytes ());
  });
  return ring;
}

static gboolean
slab_push (NdRing *ring, guint slot, const NdSamples *volume,
    const NdSlab *slab, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    ring->push (slot, *volume, slab);
  });
}

static gboolean
slab_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *slab, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    ring->respond (slots, *scale, *out, slab);
  });
}

/* The engine looks this function up in the module. */
extern "C" G_MODULE_EXPORT const NdSlabFuncs *nd_backend_module_slabs (void);

extern "C" const NdSlabFuncs *
nd_backend_module_slabs (void)
{
  static const NdSlabFuncs funcs = { slab_ring_new, slab_push, slab_respond };

  return &funcs;
}
