/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/kernels.h"
#include "cpu/method.h"

#include <math.h>
#include <string.h>

struct _NdRing
{
  NdJob job;
  const NdCpuMethod *method;
  gpointer state;
  guint n_threads; /* see nd_threads_start() */
  guint n_slots;

  /* Input volumes, one for each slot, dense. NULL without the option
   * `keep`. */
  guint8 *kept;
  gsize kept_bytes; /* of one volume */
};

static const NdCpuMethod *const methods[ND_PRECISION_END][ND_METHOD_END] = {
  [ND_PRECISION_SINGLE] = {
    [ND_METHOD_DIRECT] = &nd_cpu_direct,
    [ND_METHOD_SEPARABLE] = &nd_cpu_separable,
    [ND_METHOD_FFT] = &nd_cpu_fft,
    [ND_METHOD_REFERENCE] = &nd_cpu_reference,
  },
  [ND_PRECISION_DOUBLE] = {
    [ND_METHOD_DIRECT] = &nd_double_cpu_direct,
    [ND_METHOD_SEPARABLE] = &nd_double_cpu_separable,
    [ND_METHOD_FFT] = &nd_double_cpu_fft,
    [ND_METHOD_REFERENCE] = &nd_double_cpu_reference,
  },
};

static gboolean
cpu_available (gint device_id, GError **error)
{
  if (nd_kernels_all ()[0])
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_INIT,
      "ndconv was built for the processor of another machine; remove the "
      "build folder and build again, with -Dkernels=all for all machines");
  return FALSE;
}

static gdouble
cpu_cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  const NdCpuMethod *wanted = methods[job->precision][method];
  gdouble seconds;
  guint before;

  if (!wanted) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "method=%s needs a GPU: use method=auto, direct or fft, or "
        "backend=cuda on a machine with a GPU",
        nd_method_name (method));
    return INFINITY;
  }
  before = nd_threads_enter (nd_threads_start (job->n_threads));
  seconds = wanted->cost (job, options, error);
  nd_threads_leave (before);
  return seconds;
}

static gboolean
keep_init (NdRing *ring, GError **error)
{
  gsize n, bytes;

  if (nd_shape_samples (&ring->job.shape, &n)) {
    ring->kept_bytes = n * nd_sample_size (ring->job.in_type);
    if (g_size_checked_mul (&bytes, ring->kept_bytes, ring->n_slots)
        && bytes < nd_usable_memory ())
      ring->kept = g_try_malloc (bytes);
  }
  if (!ring->kept)
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to keep %u volumes of %" G_GSIZE_FORMAT
        " bytes: use smaller volumes or a filter that is shorter in time",
        ring->n_slots, ring->kept_bytes);
  return ring->kept != NULL;
}

static void
cpu_ring_free (NdRing *ring)
{
  if (ring->state)
    ring->method->destroy (ring->state);
  g_free (ring->kept);
  g_free (ring);
}

static gsize
cpu_ring_bytes (const NdRing *ring)
{
  return ring->method->bytes (ring->state)
      + (ring->kept ? ring->n_slots * ring->kept_bytes : 0);
}

static gchar *
cpu_ring_kernels (const NdRing *ring)
{
  return g_strdup_printf ("%s, %s", ring->method->file, nd_kernels ()->name);
}

static NdRing *
ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    GError **error)
{
  NdRing *ring = g_new0 (NdRing, 1);

  ring->job = *job;
  ring->n_threads = nd_threads ();
  ring->method = methods[job->precision][method];
  if (ring->method->choose)
    ring->method = ring->method->choose (job, options);
  ring->n_slots = nd_job_reach (job).slots;
  if (!options->keep || keep_init (ring, error))
    ring->state = ring->method->create (job, options, error);
  if (!ring->state) {
    cpu_ring_free (ring);
    return NULL;
  }
  if (options->border_volumes
      && !ring->method->push (ring->state, ring->n_slots, NULL, error)) {
    cpu_ring_free (ring);
    return NULL;
  }
  ND_INFO ("%s in %s precision with %s kernels on %u threads: %u slots, "
           "%" G_GSIZE_FORMAT " bytes",
      nd_method_name (method), nd_precision_name (job->precision),
      nd_kernels ()->name, nd_threads (), ring->n_slots, cpu_ring_bytes (ring));
  return ring;
}

static NdRing *
cpu_ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  const guint before = nd_threads_enter (nd_threads_start (job->n_threads));
  NdRing *ring = ring_new (job, options, method, error);

  nd_threads_leave (before);
  return ring;
}

static NdSamples
cpu_kept (const NdRing *ring, guint slot)
{
  return nd_samples_dense (ring->kept + slot * ring->kept_bytes,
      &ring->job.shape, ring->job.in_type);
}

static void
cpu_keep (NdRing *ring, guint slot, const NdSamples *volume)
{
  NdSamples to = cpu_kept (ring, slot);

  for (gsize z = 0; z < ring->job.shape.size[2]; z++)
    for (gsize y = 0; y < ring->job.shape.size[1] && !nd_threads_cancelled ();
         y++)
      memcpy (to.data + z * to.slice + y * to.row,
          volume->data + z * volume->slice + y * volume->row, to.row);
}

static gboolean
cpu_push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  gboolean pushed;
  guint before;

  g_return_val_if_fail (slot < ring->n_slots, FALSE);
  before = nd_threads_enter (ring->n_threads);
  if (ring->kept)
    cpu_keep (ring, slot, volume);
  pushed = ring->method->push (ring->state, slot, volume, error);
  nd_threads_leave (before);
  return pushed;
}

static gboolean
cpu_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  const guint before = nd_threads_enter (ring->n_threads);

  ring->method->respond (ring->state, slots, scale, out);
  nd_threads_leave (before);
  return TRUE;
}

static gboolean
cpu_begin (NdRing *ring, const gint *slots)
{
  gboolean begun;
  guint before;

  if (!ring->method->begin)
    return FALSE;
  before = nd_threads_enter (ring->n_threads);
  begun = ring->method->begin (ring->state, slots);
  nd_threads_leave (before);
  return begun;
}

static const NdAlgorithmFuncs algorithms = {
  .denoise_new = nd_cpu_noise_new,
  .structure_new = nd_cpu_structure_new,
  .register_new = nd_cpu_register_new,
  .scan_new = nd_cpu_scan_new,
  .bmode_new = nd_cpu_bmode_new,
  .rank_new = nd_cpu_rank_new,
  .deconvolve_new = nd_cpu_deconvolve_new,
};

const NdBackend nd_cpu_backend = {
  .name = "cpu",
  .flags = ND_BACKEND_HOST_MEMORY | ND_BACKEND_FALLBACK
      | ND_BACKEND_TENSOR_RESPONSE | ND_BACKEND_THRESHOLD
      | ND_BACKEND_COUNTS_SATURATION | ND_BACKEND_DOUBLE,
  .available = cpu_available,
  .cost = cpu_cost,
  .ring_new = cpu_ring_new,
  .ring_free = cpu_ring_free,
  .ring_bytes = cpu_ring_bytes,
  .ring_kernels = cpu_ring_kernels,
  .push = cpu_push,
  .kept = cpu_kept,
  .respond = cpu_respond,
  .begin = cpu_begin,
  .algorithms = &algorithms,
  .scenes = &nd_cpu_scenes,
};
