/* The CUDA back end: the table of functions that the engine calls.
 *
 * All calls are made in the context of what they are about, which is left again
 * whatever happens.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndcanvas.h"

#include <algorithm>
#include <cmath>
#include <gmodule.h>
#include <map>

namespace nd
{

std::atomic<cudaError_t> lost_to { cudaSuccess };

void
check (cudaError_t result, const char *what)
{
  size_t unused, all;

  if (result == cudaSuccess)
    return;
  cudaGetLastError ();
  if (result != cudaErrorMemoryAllocation
      && cudaMemGetInfo (&unused, &all) == result)
    lost_to = result;
  cudaGetLastError ();
  if (result == cudaErrorMemoryAllocation)
    throw Error (ND_ERROR_NO_SPACE, std::string ("Not enough memory on the "
            "GPU: ") + what + "; smaller volumes or a shorter filter in time "
        "need less, backend=cpu needs none");
  throw Error (ND_ERROR_FAILED, std::string ("The GPU failed: ") + what + ": "
      + cudaGetErrorString (result) + " (" + std::to_string (result)
      + "); set the pipeline to NULL and start it again; where the driver "
      "gives this program no GPU any more, backend=auto goes on on the CPU");
}

size_t
multiply (size_t a, size_t b)
{
  size_t product;

  if (!g_size_checked_mul (&product, a, b))
    throw Error (ND_ERROR_NO_SPACE, "Not enough memory on the GPU: the bytes "
        "wanted exceed any device's");
  return product;
}

thread_local Count *Count::current;

/* Of the device, whatever is counted. */
static size_t
unused_bytes ()
{
  size_t unused, all;

  ND_CUDA (cudaMemGetInfo (&unused, &all));
  return unused;
}

std::string
current_device_name ()
{
  cudaDeviceProp properties;
  int device;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaGetDeviceProperties (&properties, device));
  return properties.name;
}

size_t
free_bytes ()
{
  const size_t unused = unused_bytes ();

  return Count::current ? unused - std::min (unused, Count::current->bytes)
      : unused;
}

static void
expect_free (size_t bytes)
{
  const size_t free = unused_bytes ();

  if (bytes > free)
    throw Error (ND_ERROR_NO_SPACE, "Not enough memory on the GPU: "
        + std::to_string (bytes) + " bytes wanted, " + std::to_string (free)
        + " are free; smaller volumes or a shorter filter in time need less, "
        "backend=cpu needs none");
}

void
Count::expect_free () const
{
  nd::expect_free (bytes);
}

void
Count::add (size_t more)
{
  if (!g_size_checked_add (&bytes, bytes, more))
    multiply (G_MAXSIZE, 2);
}

void *
allocate_zeroed (size_t bytes)
{
  void *data = nullptr;

  if (bytes == 0)
    return nullptr;
  if (Count::current) {
    Count::current->add (bytes);
    return nullptr;
  }
  expect_free (bytes);
  check (cudaMalloc (&data, bytes), ("cudaMalloc of " + std::to_string (bytes)
          + " bytes").c_str ());
  ND_CUDA (cudaMemsetAsync (data, 0, bytes, cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
  return data;
}

} // namespace nd

using namespace nd;

/* Runs @function; what it throws becomes @error. */
template <typename F> static bool
guarded (GError **error, F function)
{
  try {
    function ();
    return true;
  } catch (const Error &e) {
    g_set_error_literal (error, ND_ERROR, e.code, e.what ());
  } catch (const std::exception &e) {
    g_set_error (error, ND_ERROR, ND_ERROR_FAILED, "The CUDA back end failed: "
        "%s", e.what ());
  }
  return false;
}

static gboolean
cuda_available (gint device_id, GError **error)
{
  return guarded (error, [&] {
    const int device = choose_device (device_id);

    Context::expect_well (device);
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
check_separable (const NdJob &job)
{
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    double *factors[ND_AXES];

    if (!nd_filter_separate (f, factors))
      throw Error (ND_ERROR_SETTINGS, std::string ("Filter '") + f->name
          + "' is not separable: use method=auto, direct or fft");
    for (double *factor : factors)
      g_free (factor);
  }
}

/* What not every kernel takes. */
static void
check_sizes (const NdJob &job)
{
  const size_t slots = nd_job_reach (&job).slots;

  if (slots > MAX_SLOTS)
    throw Error (ND_ERROR_SETTINGS, "Filters on the GPU have windows of up to "
        + std::to_string (MAX_SLOTS) + " volumes, not "
        + std::to_string (slots) + ": use backend=cpu");
  if (job.shape.size[1] > MAX_ROWS)
    throw Error (ND_ERROR_SETTINGS, "Volumes on the GPU have up to "
        + std::to_string (MAX_ROWS) + " rows, not "
        + std::to_string (job.shape.size[1]) + ": use backend=cpu");
}

static gdouble
cuda_cost (const NdJob *job, NdMethod method, gint device_id, GError **error)
{
  double cost = INFINITY;

  guarded (error, [&] {
    if (method == ND_METHOD_REFERENCE)
      throw Error (ND_ERROR_SETTINGS, "method=reference runs on the CPU only: "
          "use backend=cpu with it");
    check_sizes (*job);
    if (method == ND_METHOD_SEPARABLE)
      check_separable (*job);
    const ContextPointer context = Context::get (device_id);
    const Entered entered (*context);

    switch (method) {
      case ND_METHOD_DIRECT:
        cost = direct_cost (*job);
        break;
      case ND_METHOD_SEPARABLE:
        cost = separable_cost (*job);
        break;
      case ND_METHOD_FFT:
        cost = fft_cost (*job);
        break;
      default:
        check_tensor (*job);
        cost = tensor_cost (*job);
        break;
    }
  });
  return cost;
}

static NdRing *
cuda_ring_new (const NdJob *job, NdMethod method, gint device_id,
    GError **error)
{
  NdRing *ring = nullptr;

  guarded (error, [&] {
    check_sizes (*job);
    const ContextPointer context = Context::get (device_id);
    const Entered entered (*context);

    ring = new NdRing (*job, method, context);
  });
  return ring;
}

static void
cuda_ring_free (NdRing *ring)
{
  const ContextPointer context = ring->context;
  const Entered entered (*context);

  delete ring;
  cudaGetLastError ();
}

static gsize
cuda_ring_bytes (const NdRing *ring)
{
  return ring->bytes ();
}

static gboolean
cuda_push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*ring->context);

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
    const Entered entered (*ring->context);

    ring->respond (slots, *scale, *out);
  });
}

static NdMark *
cuda_mark (NdRing *ring, GError **error)
{
  NdMark *mark = nullptr;

  guarded (error, [&] {
    const Entered entered (*ring->context);

    mark = ring->mark ();
  });
  return mark;
}

static gboolean
cuda_reach (NdMark *mark, NdTimes *times, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*mark->context);
    float sums[KINDS] = {};

    ND_CUDA (cudaEventSynchronize (mark->done.get ()));
    for (const Span &span : mark->spans) {
      float ms;

      ND_CUDA (cudaEventElapsedTime (&ms, span.begin.get (),
              span.end.get ()));
      sums[span.kind] += ms;
    }
    *times = NdTimes { sums[UPLOAD] * 1e-3, sums[COMPUTE] * 1e-3,
      sums[DOWNLOAD] * 1e-3 };
  });
}

static gboolean
cuda_after (NdRing *ring, NdMark *mark, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*ring->context);

    ring->after (*mark);
  });
}

static void
cuda_mark_free (NdMark *mark)
{
  delete mark;
}

/* The context of memory that was handed out. */
struct Owners
{
  std::mutex lock;
  std::map<void *, ContextPointer> contexts;
};

static Owners &
owners ()
{
  static Owners *all = new Owners;

  return *all;
}

static void
own (void *memory, const ContextPointer &context)
{
  const std::lock_guard<std::mutex> guard (owners ().lock);

  owners ().contexts[memory] = context;
}

static ContextPointer
disown (void *memory)
{
  const std::lock_guard<std::mutex> guard (owners ().lock);
  const ContextPointer context = owners ().contexts[memory];

  owners ().contexts.erase (memory);
  return context;
}

static gpointer
cuda_memory_new (gint device_id, gsize bytes, GError **error)
{
  void *memory = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const Entered entered (*context);

    memory = allocate_zeroed (bytes);
    own (memory, context);
  });
  return memory;
}

static void
cuda_memory_free (gpointer memory)
{
  const ContextPointer context = disown (memory);
  const Entered entered (*context);

  cudaFree (memory);
  cudaGetLastError ();
}

static gboolean
cuda_memory_copy (gpointer to, gconstpointer from, gsize bytes,
    GError **error)
{
  return guarded (error, [&] {
    const ContextPointer context = Context::get (-1);
    const Entered entered (*context);

    ND_CUDA (cudaMemcpyAsync (to, from, bytes, cudaMemcpyDefault,
            cudaStreamPerThread));
    ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
  });
}

static gboolean
cuda_pin (gint device_id, gpointer memory, gsize bytes, GError **error)
{
  return guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const Entered entered (*context);

    ND_CUDA (cudaHostRegister (memory, bytes, cudaHostRegisterPortable));
    own (memory, context);
  });
}

static void
cuda_unpin (gpointer memory)
{
  const ContextPointer context = disown (memory);
  const Entered entered (*context);

  cudaHostUnregister (memory);
  cudaGetLastError ();
}

static NdCanvas *
cuda_canvas_new (const NdPictureJob *job, gint device_id, GError **error)
{
  NdCanvas *canvas = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const Entered entered (*context);

    canvas = new NdCanvas (*job, context);
  });
  return canvas;
}

static void
cuda_canvas_free (NdCanvas *canvas)
{
  const ContextPointer context = canvas->context;
  const Entered entered (*context);

  delete canvas;
  cudaGetLastError ();
}

static gboolean
cuda_canvas_take (NdCanvas *canvas, gconstpointer volume, const gsize at[3],
    GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*canvas->context);

    canvas->take (volume, at);
  });
}

static gboolean
cuda_canvas_sample (NdCanvas *canvas, gconstpointer volume, gsize step,
    gfloat *samples, gsize n, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*canvas->context);

    canvas->sample (volume, step, samples, n);
  });
}

static gboolean
cuda_canvas_extremes (NdCanvas *canvas, gconstpointer volume, gdouble *low,
    gdouble *high, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*canvas->context);

    canvas->extremes (volume, low, high);
  });
}

static gboolean
cuda_canvas_write (NdCanvas *canvas, gdouble low, gdouble window,
    guint8 *pixels, gssize stride, GError **error)
{
  return guarded (error, [&] {
    const Entered entered (*canvas->context);

    canvas->write (low, window, pixels, stride);
  });
}

static const NdBackend cuda_backend = { "cuda", cuda_available,
  cuda_device_name, cuda_cost,
  cuda_ring_new, cuda_ring_free, cuda_ring_bytes, cuda_push, cuda_kept,
  cuda_respond, cuda_mark, cuda_reach, cuda_after, cuda_mark_free,
  cuda_memory_new, cuda_memory_free, cuda_memory_copy, cuda_pin, cuda_unpin,
  cuda_canvas_new, cuda_canvas_free, cuda_canvas_take, cuda_canvas_sample,
  cuda_canvas_extremes, cuda_canvas_write };

/* What the engine looks up in the module. */
extern "C" G_MODULE_EXPORT const NdBackend *nd_backend_module (void);

extern "C" const NdBackend *
nd_backend_module (void)
{
  return &cuda_backend;
}
