/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndcpu.h"

#include <math.h>
#include <string.h>

#include "engine/nderror.h"
#include "ndcombine.h"
#include "ndmethod.h"

struct _NdRing
{
  const NdCpuMethod *method;
  gpointer state;
  guint n_slots;
  NdShape shape;
  NdSampleType in_type;
  guint8 *kept;                 /* [slot] dense; NULL: not asked for */
  gsize kept_bytes;             /* of one */
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
cpu_cost (const NdJob * job, NdMethod method, gint device_id, GError ** error)
{
  if (!methods[method]) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "method=%s needs a GPU: "
        "use method=auto, direct or fft, or backend=cuda where there is one",
        nd_method_name (method));
    return INFINITY;
  }
  return methods[method]->cost (job, error);
}

static gboolean
keep_init (NdRing * ring, GError ** error)
{
  gsize n, bytes;

  if (nd_shape_samples (&ring->shape, &n)) {
    ring->kept_bytes = n * nd_sample_size (ring->in_type);
    if (g_size_checked_mul (&bytes, ring->kept_bytes, ring->n_slots))
      ring->kept = g_try_malloc (bytes);
  }
  if (!ring->kept)
    g_set_error (error, ND_ERROR, ND_ERROR_NO_SPACE, "Not enough memory to "
        "keep %u volumes of %" G_GSIZE_FORMAT " bytes: smaller volumes or a "
        "shorter filter in time need less", ring->n_slots, ring->kept_bytes);
  return ring->kept != NULL;
}

static void
cpu_ring_free (NdRing * ring)
{
  if (ring->state)
    ring->method->destroy (ring->state);
  g_free (ring->kept);
  g_free (ring);
}

static NdRing *
cpu_ring_new (const NdJob * job, NdMethod method, gint device_id,
    GError ** error)
{
  NdRing *ring = g_new0 (NdRing, 1);

  ring->method = methods[method];
  ring->n_slots = nd_job_reach (job).slots;
  ring->shape = job->shape;
  ring->in_type = job->in_type;
  if (!job->keep || keep_init (ring, error))
    ring->state = ring->method->create (job, error);
  if (!ring->state) {
    cpu_ring_free (ring);
    return NULL;
  }
  if (job->border_volumes)
    ring->method->push (ring->state, ring->n_slots, NULL);
  return ring;
}

static gsize
cpu_ring_bytes (const NdRing * ring)
{
  return ring->method->bytes (ring->state)
      + (ring->kept ? ring->n_slots * ring->kept_bytes : 0);
}

static NdSamples
cpu_kept (const NdRing * ring, guint slot)
{
  return nd_samples_dense (ring->kept + slot * ring->kept_bytes, &ring->shape,
      ring->in_type);
}

static void
keep (NdRing * ring, guint slot, const NdSamples * volume)
{
  NdSamples to = cpu_kept (ring, slot);

  for (gsize z = 0; z < ring->shape.size[2]; z++)
    for (gsize y = 0; y < ring->shape.size[1]; y++)
      memcpy (to.data + z * to.slice + y * to.row, volume->data
          + z * volume->slice + y * volume->row, to.row);
}

static gboolean
cpu_push (NdRing * ring, guint slot, const NdSamples * volume, GError ** error)
{
  g_return_val_if_fail (slot < ring->n_slots, FALSE);
  if (ring->kept)
    keep (ring, slot, volume);
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
  .kept = cpu_kept,
  .respond = cpu_respond,
  .combine = nd_cpu_combine,
};
