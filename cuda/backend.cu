/* The CUDA back end: the table of the functions that the engine calls.
 *
 * Each function enters the CUDA context of its object and leaves it when it
 * returns, also after an error.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/algorithm.h"
#include "cuda/cost.h"
#include "cuda/device.h"
#include "cuda/guarded.h"
#include "cuda/renderer.h"
#include "cuda/view/scene.h"

#include <algorithm>
#include <cmath>
#include <gmodule.h>

using namespace nd;

static gboolean
cuda_available (gint device_id, GError **error)
{
  return guarded (error, [&] {
    const int device = choose_device (device_id);

    Context::check_usable (device);
    check_code (device);
    open_cufft ();
  });
}

static gchar *
cuda_device_name (gint device_id)
{
  cudaDeviceProp properties;
  const char *name = "unknown GPU";

  guarded (nullptr, [&] {
    ND_CUDA (cudaGetDeviceProperties (&properties, choose_device (device_id)));
    name = properties.name;
  });
  return g_strdup (name);
}

static void
check_separable (const RingJob &job)
{
  GError *error = nullptr;

  if (nd_job_check_separable (&job, &error))
    return;
  const std::string message = error->message;

  g_error_free (error);
  throw Error (ND_ERROR_SETTINGS, message);
}

/* Throws Error if the job exceeds the limits of the kernels. */
static void
check_sizes (const RingJob &job)
{
  const size_t slots = nd_job_reach (&job).slots;

  if (slots > MAX_SLOTS)
    throw Error (ND_ERROR_SETTINGS,
        "Filters on the GPU have windows of up to " + std::to_string (MAX_SLOTS)
            + " volumes, not " + std::to_string (slots) + ": use backend=cpu");
  const size_t most[] = { MAX_LENGTH, MAX_ROWS, MAX_LENGTH };
  const char *const names[] = { " columns", " rows", " slices" };

  for (int a = 0; a < 3; a++) {
    if (job.shape.size[a] > most[a])
      throw Error (ND_ERROR_SETTINGS,
          "Volumes on the GPU have up to " + std::to_string (most[a]) + names[a]
              + ", not " + std::to_string (job.shape.size[a])
              + ": use backend=cpu");
  }
}

/* The cost model of @method; throws Error if the back end has no such
 * method. */
static Cost *
cost_of (NdMethod method)
{
  switch (method) {
    case ND_METHOD_DIRECT:
      return direct_cost;
    case ND_METHOD_SEPARABLE:
      return separable_cost;
    case ND_METHOD_FFT:
      return fft_cost;
    case ND_METHOD_TENSOR:
      return tensor_cost;
    case ND_METHOD_REFERENCE:
    case ND_METHOD_AUTO:
      break;
  }
  throw no_method (method);
}

static gdouble
cuda_cost (const NdJob *request, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  const RingJob job (*request, *options);
  double cost = INFINITY;

  guarded (error, [&] {
    Cost *const estimate = cost_of (method);

    check_sizes (job);
    if (method == ND_METHOD_SEPARABLE)
      check_separable (job);
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    cost = estimate (job);
  });
  return cost;
}

/* Seconds to make a ring, without the 22 ms that the first ring of a process
 * takes with any method; measured on an H100. */
constexpr double TENSOR_SETUP = 60e-3; /* to cut the coefficients into pieces */
constexpr double SEPARABLE_SETUP = 16e-3;
constexpr double COEFFICIENT_SETUP = 1.8e-6; /* of direct */

static gdouble
cuda_setup_cost (const NdJob *request, const NdRingOptions *options,
    NdMethod method, gint device_id)
{
  const RingJob job (*request, *options);
  double seconds = 0;

  switch (method) {
    case ND_METHOD_DIRECT:
      for (unsigned k = 0; k < job.bank->n_filters; k++)
        seconds += COEFFICIENT_SETUP * nd_filter_count (job.bank->filters[k]);
      break;
    case ND_METHOD_SEPARABLE:
      return SEPARABLE_SETUP;
    case ND_METHOD_TENSOR:
      return TENSOR_SETUP;
    case ND_METHOD_FFT:
      guarded (nullptr, [&] {
        const ContextPointer context = Context::get (device_id);
        const ScopedContext scope (*context);

        seconds = fft_setup (job);
      });
      break;
    case ND_METHOD_REFERENCE:
    case ND_METHOD_AUTO:
      break;
  }
  return seconds;
}

static NdRing *
cuda_ring_new (const NdJob *request, const NdRingOptions *options,
    NdMethod method, gint device_id, GError **error)
{
  const RingJob job (*request, *options);
  NdRing *ring = nullptr;

  guarded (error, [&] {
    check_sizes (job);
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    ring = new NdRing (job, method, context);
    ND_INFO ("%s on device %d, %s: %u slots, %" G_GSIZE_FORMAT " bytes",
        nd_method_name (method), context->device, device_name ().c_str (),
        nd_job_reach (&job).slots, ring->bytes ());
  });
  return ring;
}

static void
cuda_ring_free (NdRing *ring)
{
  const ContextPointer context = ring->context;
  const ScopedContext scope (*context);

  delete ring;
  cudaGetLastError ();
}

static gsize
cuda_ring_bytes (const NdRing *ring)
{
  return ring->bytes ();
}

static gchar *
cuda_ring_kernels (const NdRing *ring)
{
  return g_strdup (ring->kernels ().c_str ());
}

static gboolean
cuda_push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    ring->push (slot, *volume);
  });
}

static NdSamples
cuda_kept (const NdRing *ring, guint slot)
{
  return ring->kept (slot);
}

static gboolean
cuda_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    ring->respond (slots, *scale, *out);
  });
}

static NdEvent *
cuda_record (NdRing *ring, GError **error)
{
  NdEvent *event = nullptr;

  guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    event = ring->record ();
  });
  return event;
}

static gboolean
cuda_synchronize (NdEvent *event, NdTimes *times, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*event->context);
    float sums[KINDS] = {};

    ND_CUDA (cudaEventSynchronize (event->done.get ()));
    for (const Span &span : event->spans) {
      float ms;

      ND_CUDA (cudaEventElapsedTime (&ms, span.begin.get (), span.end.get ()));
      sums[span.kind] += ms;
    }
    *times = NdTimes{ sums[UPLOAD] * 1e-3, sums[COMPUTE] * 1e-3,
      sums[DOWNLOAD] * 1e-3 };
  });
}

static gboolean
cuda_wait (NdRing *ring, NdEvent *event, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*ring->context);

    ring->wait (*event);
  });
}

static void
cuda_destroy (NdEvent *event)
{
  delete event;
}

/* C++17 has no designated initialisers: tables are filled by assignment. */
static NdEventFuncs
event_funcs ()
{
  NdEventFuncs f = {};

  f.record = cuda_record;
  f.synchronize = cuda_synchronize;
  f.wait = cuda_wait;
  f.destroy = cuda_destroy;
  return f;
}

static NdBackend
make_backend ()
{
  static const NdEventFuncs events = event_funcs ();
  NdBackend b = {};

  b.version = ND_BACKEND_VERSION;
  b.size = ND_BACKEND_SIZE;
  b.name = "cuda";
  b.flags = (NdBackendFlags) (ND_BACKEND_TENSOR_RESPONSE | ND_BACKEND_THRESHOLD
      | ND_BACKEND_DOUBLE);
  b.available = cuda_available;
  b.cost = cuda_cost;
  b.setup_cost = cuda_setup_cost;
  b.ring_new = cuda_ring_new;
  b.ring_free = cuda_ring_free;
  b.ring_bytes = cuda_ring_bytes;
  b.ring_kernels = cuda_ring_kernels;
  b.push = cuda_push;
  b.kept = cuda_kept;
  b.respond = cuda_respond;
  b.device_name = cuda_device_name;
  b.events = &events;
  b.memory = &memory_funcs;
  b.renderer = &renderer_funcs;
  b.algorithms = &algorithm_funcs;
  b.scenes = &scene_funcs;
  b.set_log_handler = nd_log_set_handler;
  return b;
}

/* The engine looks this function up in the module. */
extern "C" G_MODULE_EXPORT const NdBackend *nd_backend_module (void);

extern "C" const NdBackend *
nd_backend_module (void)
{
  static const NdBackend backend = make_backend ();

  return &backend;
}
