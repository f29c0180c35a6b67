/* The CUDA back end: the table of functions that the engine calls.
 *
 * Volumes may lie in host memory, then they are copied in and out and a call
 * returns when its work is done; or on the device, then a call only enqueues
 * on the ring's stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndcuda.h"

#include <cmath>
#include <cstring>
#include <gmodule.h>

namespace nd
{

void
check (cudaError_t result, const char *what)
{
  if (result == cudaSuccess)
    return;
  cudaGetLastError ();
  throw Error (result == cudaErrorMemoryAllocation ? ND_ERROR_NO_SPACE
      : ND_ERROR_FAILED, std::string ("The GPU failed: ") + what + ": "
      + cudaGetErrorString (result) + " (" + std::to_string (result)
      + "); set the pipeline to NULL and start it again");
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

void *
allocate_zeroed (size_t bytes)
{
  size_t free_bytes, all_bytes;
  void *data = nullptr;

  if (bytes == 0)
    return nullptr;
  ND_CUDA (cudaMemGetInfo (&free_bytes, &all_bytes));
  if (bytes > free_bytes || cudaMalloc (&data, bytes) != cudaSuccess) {
    cudaGetLastError ();
    throw Error (ND_ERROR_NO_SPACE, "Not enough memory on the GPU: "
        + std::to_string (bytes) + " bytes wanted, "
        + std::to_string (free_bytes) + " are free; smaller volumes or a "
        "shorter filter in time need less, backend=cpu needs none");
  }
  ND_CUDA (cudaMemset (data, 0, bytes));
  ND_CUDA (cudaDeviceSynchronize ());
  return data;
}

} // namespace nd

using namespace nd;

struct _NdRing
{
  _NdRing (const NdJob &job, NdMethod method, int device);
  ~_NdRing ();
  const NdSamples *bring_in (const NdSamples *volume);
  void take_out (const NdSamples &out);

  const NdJob job;
  const int device;
  unsigned n_slots;
  cudaStream_t stream = nullptr;
  std::unique_ptr<Method> method;
  Memory<unsigned char> in, out;        /* dense, of volumes in host memory */
  NdSamples in_samples, out_samples;
};

static bool
is_on_device (const void *data)
{
  cudaPointerAttributes attributes;

  ND_CUDA (cudaPointerGetAttributes (&attributes, data));
  return attributes.type == cudaMemoryTypeDevice;
}

static int
choose_device (int wanted)
{
  int count = 0, version = 0;

  cudaDriverGetVersion (&version);
  if (version == 0)
    throw Error (ND_ERROR_INIT, "There is no NVIDIA driver on this machine: "
        "use backend=cpu, or install the driver");
  if (cudaGetDeviceCount (&count) != cudaSuccess || count == 0) {
    cudaGetLastError ();
    throw Error (ND_ERROR_INIT, "There is no NVIDIA GPU that the driver can "
        "use: use backend=cpu");
  }
  if (wanted >= count)
    throw Error (ND_ERROR_NOT_FOUND, "There is no GPU with device-id="
        + std::to_string (wanted) + ": this machine has "
        + std::to_string (count) + ", counted from 0");
  return wanted < 0 ? 0 : wanted;
}

/* A context that an earlier error has spoilt is made anew: whoever used it
 * lost it already. */
static void
enter (int device)
{
  ND_CUDA (cudaSetDevice (device));
  if (cudaFree (nullptr) != cudaSuccess) {
    cudaGetLastError ();
    ND_CUDA (cudaDeviceReset ());
    ND_CUDA (cudaFree (nullptr));
  }
}

_NdRing::_NdRing (const NdJob &job, NdMethod wanted, int device)
  : job (job), device (device), n_slots (nd_job_reach (&job).slots)
{
  size_t n;

  ND_CUDA (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  switch (wanted) {
    case ND_METHOD_DIRECT:
      method = make_direct (job, stream);
      break;
    case ND_METHOD_SEPARABLE:
      method = make_separable (job, stream);
      break;
    case ND_METHOD_FFT:
      method = make_fft (job, stream);
      break;
    case ND_METHOD_TENSOR:
      method = make_tensor (job, stream);
      break;
    default:
      throw Error (ND_ERROR_SETTINGS, "method=reference runs on the CPU only: "
          "use backend=cpu with it");
  }
  if (!nd_shape_samples (&job.shape, &n))
    throw Error (ND_ERROR_NO_SPACE, "A volume so large does not fit in "
        "memory");
  in = Memory<unsigned char> (n * nd_sample_size (job.in_type));
  out = Memory<unsigned char> (multiply (n * nd_sample_size (job.out_type),
          job.bank->n_filters));
  in_samples = nd_samples_dense (in.get (), &job.shape, job.in_type);
  out_samples = nd_samples_dense (out.get (), &job.shape, job.out_type);
  if (job.border_volumes)
    method->push (n_slots, nullptr);
}

_NdRing::~_NdRing ()
{
  cudaSetDevice (device);
  if (stream)
    cudaStreamSynchronize (stream);
  method.reset ();
  if (stream)
    cudaStreamDestroy (stream);
}

/* Copies a volume between dense device memory and host memory of any row and
 * slice stride. */
static void
copy_volume (const NdSamples &to, const NdSamples &from, const NdShape &shape,
    size_t row_bytes, cudaStream_t stream)
{
  if (to.slice == to.row * shape.size[1]
      && from.slice == from.row * shape.size[1]) {
    ND_CUDA (cudaMemcpy2DAsync (to.data, to.row, from.data, from.row,
            row_bytes, shape.size[1] * shape.size[2], cudaMemcpyDefault,
            stream));
    return;
  }
  for (size_t z = 0; z < shape.size[2]; z++)
    ND_CUDA (cudaMemcpy2DAsync (to.data + z * to.slice, to.row,
            from.data + z * from.slice, from.row, row_bytes, shape.size[1],
            cudaMemcpyDefault, stream));
}

const NdSamples *
_NdRing::bring_in (const NdSamples *volume)
{
  if (is_on_device (volume->data))
    return volume;
  copy_volume (in_samples, *volume, job.shape, in_samples.row, stream);
  return &in_samples;
}

void
_NdRing::take_out (const NdSamples &to)
{
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    NdSamples device_k = out_samples, host_k = to;

    device_k.data += k * out_samples.response;
    host_k.data += k * to.response;
    copy_volume (host_k, device_k, job.shape, out_samples.row, stream);
  }
  ND_CUDA (cudaStreamSynchronize (stream));
}

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
    choose_device (device_id);
    open_cufft ();
  });
}

static gdouble
cuda_cost (const NdJob *job, NdMethod method, GError **error)
{
  double cost = INFINITY;

  switch (method) {
    case ND_METHOD_DIRECT:
      return direct_cost (*job);
    case ND_METHOD_FFT:
      return fft_cost (*job);
    case ND_METHOD_TENSOR:
      guarded (error, [&] {
        check_tensor (*job);
        cost = tensor_cost (*job);
      });
      return cost;
    case ND_METHOD_SEPARABLE:
      guarded (error, [&] {
        for (unsigned k = 0; k < job->bank->n_filters; k++) {
          const NdFilter *f = job->bank->filters[k];
          double *factors[ND_AXES];

          if (!nd_filter_separate (f, factors))
            throw Error (ND_ERROR_SETTINGS, std::string ("Filter '") + f->name
                + "' is not separable: use method=auto, direct or fft");
          for (double *factor : factors)
            g_free (factor);
        }
        cost = separable_cost (*job);
      });
      return cost;
    default:
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "method=reference runs "
          "on the CPU only: use backend=cpu with it");
      return cost;
  }
}

static NdRing *
cuda_ring_new (const NdJob *job, NdMethod method, gint device_id,
    GError **error)
{
  NdRing *ring = nullptr;

  guarded (error, [&] {
    const int device = choose_device (device_id);

    enter (device);
    ring = new NdRing (*job, method, device);
  });
  return ring;
}

static void
cuda_ring_free (NdRing *ring)
{
  delete ring;
}

static gsize
cuda_ring_bytes (const NdRing *ring)
{
  return ring->method->bytes () + ring->in.bytes () + ring->out.bytes ();
}

static gboolean
cuda_push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  return guarded (error, [&] {
    ND_CUDA (cudaSetDevice (ring->device));
    const NdSamples *samples = ring->bring_in (volume);

    ring->method->push (slot, samples);
    /* The caller may change a volume in host memory as soon as this returns;
     * pageable memory was copied by then, pinned memory need not be. */
    if (samples != volume)
      ND_CUDA (cudaStreamSynchronize (ring->stream));
  });
}

static gboolean
cuda_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  return guarded (error, [&] {
    int device_slots[MAX_SLOTS];

    ND_CUDA (cudaSetDevice (ring->device));
    for (unsigned i = 0; i < ring->n_slots; i++)
      device_slots[i] = slots[i] == ND_SLOT_BORDER ? (int) ring->n_slots
          : slots[i];
    if (is_on_device (out->data)) {
      ring->method->respond (device_slots, *scale, *out);
    } else {
      ring->method->respond (device_slots, *scale, ring->out_samples);
      ring->take_out (*out);
    }
  });
}

static gpointer
cuda_memory_new (gsize bytes, GError **error)
{
  void *memory = nullptr;

  guarded (error, [&] { memory = allocate_zeroed (bytes); });
  return memory;
}

static void
cuda_memory_free (gpointer memory)
{
  cudaFree (memory);
}

static gboolean
cuda_memory_copy (gpointer to, gconstpointer from, gsize bytes,
    GError **error)
{
  return guarded (error, [&] {
    ND_CUDA (cudaMemcpy (to, from, bytes, cudaMemcpyDefault));
  });
}

static gboolean
cuda_wait (NdRing *ring, GError **error)
{
  return guarded (error, [&] {
    ND_CUDA (cudaStreamSynchronize (ring->stream));
  });
}

static const NdBackend cuda_backend = { "cuda", cuda_available, cuda_cost,
  cuda_ring_new, cuda_ring_free, cuda_ring_bytes, cuda_memory_new,
  cuda_memory_free, cuda_memory_copy, cuda_wait, cuda_push, cuda_respond };

/* What the engine looks up in the module. */
extern "C" G_MODULE_EXPORT const NdBackend *nd_backend_module (void);

extern "C" const NdBackend *
nd_backend_module (void)
{
  return &cuda_backend;
}
