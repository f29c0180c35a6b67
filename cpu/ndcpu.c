/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndcpu.h"

#include <math.h>
#include "engine/nderror.h"
#include "ndmethod.h"

struct _NdRing
{
  const NdCpuMethod *method;
  gpointer state;
  guint n_slots;
};

static const NdCpuMethod *const methods[ND_METHODS] = {
  [ND_METHOD_DIRECT] = &nd_cpu_direct,
  [ND_METHOD_SEPARABLE] = &nd_cpu_separable,
  [ND_METHOD_FFT] = &nd_cpu_fft,
  [ND_METHOD_REFERENCE] = &nd_cpu_reference,
};

static gboolean
cpu_available (gint device_id, GError ** error)
{
  return TRUE;
}

static gdouble
cpu_cost (const NdJob * job, NdMethod method, GError ** error)
{
  if (!methods[method]) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "method=%s needs a GPU: "
        "use backend=cuda, or method=auto, direct or fft",
        nd_method_name (method));
    return INFINITY;
  }
  return methods[method]->cost (job, error);
}

static NdRing *
cpu_ring_new (const NdJob * job, NdMethod method, gint device_id,
    GError ** error)
{
  gpointer state = methods[method]->create (job, error);
  NdRing *ring;

  if (!state)
    return NULL;
  ring = g_new (NdRing, 1);
  ring->method = methods[method];
  ring->state = state;
  ring->n_slots = nd_job_reach (job).slots;
  if (job->border_volumes)
    ring->method->push (ring->state, ring->n_slots, NULL);
  return ring;
}

static void
cpu_ring_free (NdRing * ring)
{
  ring->method->destroy (ring->state);
  g_free (ring);
}

static gsize
cpu_ring_bytes (const NdRing * ring)
{
  return ring->method->bytes (ring->state);
}

static gboolean
cpu_push (NdRing * ring, guint slot, const NdSamples * volume, GError ** error)
{
  g_return_val_if_fail (slot < ring->n_slots, FALSE);
  ring->method->push (ring->state, slot, volume);
  return TRUE;
}

static gboolean
cpu_respond (NdRing * ring, const gint * slots, const NdScale * scale,
    const NdSamples * out, GError ** error)
{
  ring->method->respond (ring->state, slots, scale, out);
  return TRUE;
}

const NdBackend nd_cpu_backend = {
  .name = "cpu",
  .available = cpu_available,
  .cost = cpu_cost,
  .ring_new = cpu_ring_new,
  .ring_free = cpu_ring_free,
  .ring_bytes = cpu_ring_bytes,
  .push = cpu_push,
  .respond = cpu_respond,
};
