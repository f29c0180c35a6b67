/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/renderer.h"

#include "cuda/guarded.h"
#include "cuda/sampletypes.cuh"

#include <cmath>
#include <cstring>

using namespace nd;

namespace
{

/* The volume that is drawn. */
struct Shown
{
  const void *volume;
  int type; /* NdSampleType */
  size_t components;
};

/* Component @i of the volume, counted through all samples. */
__device__ float
number_at (const Shown &s, size_t i)
{
  return visit_sample_type (s.type, [&] (auto sample) -> float {
    return ((const typename decltype (sample)::Type *) s.volume)[i];
  });
}

/* The value of channel @channel of sample @i; the magnitude if the volume is
 * complex. */
__device__ float
shown (const Shown &s, size_t i, unsigned channel)
{
  if (s.components == 2)
    return hypotf (number_at (s, 2 * i), number_at (s, 2 * i + 1));
  return number_at (s, s.components * i + channel);
}

__global__ void
picture_fill_kernel (float *values, size_t n)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x)
    values[i] = NAN;
}

/* A plane of the picture. Pixel (x, y) is the maximum of @depth samples: the
 * first is sample first + x * step[0] + y * step[1] of the volume, and the
 * others follow at distances of step[2] samples. */
struct Plane
{
  size_t first, step[3];
  size_t width, height, depth;
  unsigned channels;
  float *out;
  size_t out_row; /* values */
};

/* Neighbouring threads read along x of the volume if x is in the plane. */
__global__ void
picture_project_kernel (const __grid_constant__ Shown s,
    const __grid_constant__ Plane p)
{
  const size_t n = p.width * p.height * p.channels;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x) {
    const unsigned c = i % p.channels;
    const size_t x = i / p.channels % p.width, y = i / p.channels / p.width;
    const size_t first = p.first + x * p.step[0] + y * p.step[1];
    float most = NAN;

    for (size_t k = 0; k < p.depth; k++) {
      const float v = shown (s, first + k * p.step[2], c);

      if (v > most || isnan (most))
        most = v;
    }
    p.out[y * p.out_row + x * p.channels + c] = most;
  }
}

__global__ void
picture_sample_kernel (const __grid_constant__ Shown s, size_t step,
    unsigned channels, float *samples, size_t n)
{
  for (size_t k = (size_t) blockIdx.x * blockDim.x + threadIdx.x; k < n;
       k += (size_t) gridDim.x * blockDim.x)
    samples[k] = shown (s, k * step, k % channels);
}

/* Maps the bits of a float to an integer, so that the integers are in the order
 * of the floats and atomicMin and atomicMax find extremes. */
__host__ __device__ unsigned
ordered (unsigned bits)
{
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void
picture_extremes_kernel (const __grid_constant__ Shown s, unsigned channels,
    size_t samples, unsigned *found)
{
  unsigned low = 0xffffffffu, high = 0;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
       i < samples * channels; i += (size_t) gridDim.x * blockDim.x) {
    const float v = shown (s, i / channels, i % channels);

    if (isfinite (v)) {
      low = min (low, ordered (__float_as_uint (v)));
      high = max (high, ordered (__float_as_uint (v)));
    }
  }
  atomicMin (found, low);
  atomicMax (found + 1, high);
}

__global__ void
picture_write_kernel (const float *values, size_t n, double low, double window,
    unsigned char *greys)
{
  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (size_t) gridDim.x * blockDim.x) {
    const double grey = rint ((values[i] - low) / window * 255);

    /* NaN becomes 0. */
    greys[i] = grey > 0 ? grey < 255 ? (unsigned char) grey : 255 : 0;
  }
}

unsigned
blocks (size_t n)
{
  return n / 256 + 1 < 4096 ? n / 256 + 1 : 4096;
}

double
to_value (unsigned bits)
{
  const unsigned back = bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
  float value;

  memcpy (&value, &back, sizeof (value));
  return value;
}

} // namespace

_NdRenderer::_NdRenderer (const NdPictureJob &job, ContextPointer context)
    : context (std::move (context)), job (job),
      values (multiply (job.width * job.height, job.channels)),
      greys (values.count ()), found (2)
{
}

/* Returns @volume, or a copy in device memory if kernels in this context cannot
 * access @volume. */
const void *
_NdRenderer::on_device (const void *volume)
{
  size_t n;

  if (context->can_access (volume))
    return volume;
  if (!nd_shape_samples (&job.shape, &n))
    throw too_large_volume ();
  if (!copy.count ())
    copy = Memory<unsigned char> (multiply (n, nd_sample_size (job.type)));
  ND_CUDA (cudaMemcpyAsync (copy.get (), volume, copy.count (),
      cudaMemcpyDefault, stream));
  return copy.get ();
}

void
_NdRenderer::project (const void *volume, int across, size_t from, size_t to,
    size_t left, size_t top)
{
  const size_t *size = job.shape.size;
  const size_t steps[3] = { 1, size[0], size[0] * size[1] };
  const int wide = across == ND_AXIS_X ? ND_AXIS_Z : ND_AXIS_X;
  const int high = across == ND_AXIS_Y ? ND_AXIS_Z : ND_AXIS_Y;
  const size_t row = job.width * job.channels;
  const Plane plane = { from * steps[across],
    { steps[wide], steps[high], steps[across] }, size[wide], size[high],
    to - from, job.channels, values.get () + top * row + left * job.channels,
    row };

  picture_project_kernel<<<blocks (plane.width * plane.height * plane.channels),
      256, 0, stream>>> (Shown{ volume, job.type, job.shape.components },
      plane);
  ND_CUDA_LAUNCHED (picture_project_kernel);
}

void
_NdRenderer::take (const void *volume, const size_t at[3])
{
  const size_t *size = job.shape.size;

  volume = on_device (volume);
  picture_fill_kernel<<<blocks (values.count ()), 256, 0,
      stream>>> (values.get (), values.count ());
  ND_CUDA_LAUNCHED (picture_fill_kernel);
  switch (job.mode) {
    case ND_PICTURE_SLICE:
      project (volume, job.axis, at[job.axis], at[job.axis] + 1, 0, 0);
      break;
    case ND_PICTURE_ORTHOGONAL:
      project (volume, ND_AXIS_Z, at[2], at[2] + 1, 0, 0);
      project (volume, ND_AXIS_X, at[0], at[0] + 1, size[0], 0);
      project (volume, ND_AXIS_Y, at[1], at[1] + 1, 0, size[1]);
      break;
    case ND_PICTURE_PROJECTION:
      project (volume, job.axis, 0, size[job.axis], 0, 0);
      break;
  }
}

void
_NdRenderer::sample (const void *volume, size_t step, float *to, size_t n)
{
  if (samples.count () < n)
    samples = Memory<float> (n);
  const Shown s = { on_device (volume), job.type, job.shape.components };

  picture_sample_kernel<<<blocks (n), 256, 0, stream>>> (s, step, job.channels,
      samples.get (), n);
  ND_CUDA_LAUNCHED (picture_sample_kernel);
  ND_CUDA (cudaMemcpyAsync (to, samples.get (), n * sizeof (float),
      cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
}

void
_NdRenderer::extremes (const void *volume, double *low, double *high)
{
  const size_t *size = job.shape.size;
  unsigned bits[2] = { 0xffffffffu, 0 };

  ND_CUDA (cudaMemcpyAsync (found.get (), bits, sizeof (bits),
      cudaMemcpyHostToDevice, stream));
  const Shown s = { on_device (volume), job.type, job.shape.components };

  picture_extremes_kernel<<<256, 256, 0, stream>>> (s, job.channels,
      size[0] * size[1] * size[2], found.get ());
  ND_CUDA_LAUNCHED (picture_extremes_kernel);
  ND_CUDA (cudaMemcpyAsync (bits, found.get (), sizeof (bits),
      cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
  if (bits[0] <= bits[1]) {
    *low = to_value (bits[0]);
    *high = to_value (bits[1]);
  }
}

void
_NdRenderer::write (double low, double window, unsigned char *pixels,
    ptrdiff_t stride)
{
  const size_t row = job.width * job.channels;

  picture_write_kernel<<<blocks (values.count ()), 256, 0,
      stream>>> (values.get (), values.count (), low, window, greys.get ());
  ND_CUDA_LAUNCHED (picture_write_kernel);
  ND_CUDA (cudaMemcpy2DAsync (pixels, stride, greys.get (), row, row,
      job.height, cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
}

static NdRenderer *
renderer_create (const NdPictureJob *job, gint device_id, GError **error)
{
  NdRenderer *renderer = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    renderer = new NdRenderer (*job, context);
  });
  return renderer;
}

static void
renderer_destroy (NdRenderer *renderer)
{
  const ContextPointer context = renderer->context;
  const ScopedContext scope (*context);

  delete renderer;
  cudaGetLastError ();
}

static gboolean
renderer_take (NdRenderer *renderer, gconstpointer volume, const gsize at[3],
    GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*renderer->context);

    renderer->take (volume, at);
  });
}

static gboolean
renderer_sample (NdRenderer *renderer, gconstpointer volume, gsize step,
    gfloat *samples, gsize n, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*renderer->context);

    renderer->sample (volume, step, samples, n);
  });
}

static gboolean
renderer_extremes (NdRenderer *renderer, gconstpointer volume, gdouble *low,
    gdouble *high, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*renderer->context);

    renderer->extremes (volume, low, high);
  });
}

static gboolean
renderer_write (NdRenderer *renderer, gdouble low, gdouble window,
    guint8 *pixels, gssize stride, GError **error)
{
  return guarded (error, [&] {
    const ScopedContext scope (*renderer->context);

    renderer->write (low, window, pixels, stride);
  });
}

static NdRendererFuncs
make_funcs ()
{
  NdRendererFuncs f = {};

  f.create = renderer_create;
  f.destroy = renderer_destroy;
  f.take = renderer_take;
  f.sample = renderer_sample;
  f.extremes = renderer_extremes;
  f.write = renderer_write;
  return f;
}

const NdRendererFuncs nd::renderer_funcs = make_funcs ();
