/* Method `fft` by decimation in frequency (Karas and Svoboda 2011), if the
 * spectra of whole volumes do not fit in memory. The ring keeps padded volumes.
 *
 * The transform of a volume of N slices is divided into @parts transforms of
 * M = N / parts slices. Part p holds the frequencies k + 1/2 for
 * k = p, p + parts, ...: it is the transform of
 *
 *   g(m) = exp (-2 pi i m (p + 1/2) / N)
 *          * sum over q < parts of f(m + q M) exp (-2 pi i q (p + 1/2) / parts)
 *
 * The product with the filter needs no other part, and the responses are sums
 * over parts. The half makes part (parts - 1 - p) the conjugate of part p if f
 * is real, so that half of the parts suffice. It also makes the convolution
 * negacyclic; the outputs that are stored do not wrap around.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"
#include "cuda/fft/coefficients.h"
#include "cuda/fft/cufftlibrary.h"
#include "cuda/fft/fft.cuh"
#include "cuda/fft/levels.cuh"
#include "cuda/fft/nonfinite.cuh"
#include "cuda/fft/sizes.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

constexpr int MAX_PARTS = 64;

/* One part of a transform. Axes are x, the other one, and the decimated one,
 * which is z, or y if the volume has one slice. */
struct Part
{
  int number, parts;
  int size[3]; /* of the transform; size[2] = M */
};

/* Real samples inside a volume of zeros. */
template <typename R>
struct Samples
{
  const R *data;
  int first[3], size[3];
  size_t row, slice; /* numbers from one to the next along axes 1 and 2 */
};

__device__ inline void
turn_by (double turns, float2 *to)
{
  double sine, cosine;

  sincospi (2 * turns, &sine, &cosine);
  *to = make_float2 (cosine, sine);
}

__device__ inline void
turn_by (double turns, double2 *to)
{
  sincospi (2 * turns, &to->y, &to->x);
}

template <typename C>
__device__ inline C
times (C a, C b)
{
  return C{ a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x };
}

/* Thread 0 to parts - 1: exp (2 pi i sign q (p + 1/2) / parts). */
template <typename C>
__device__ inline void
make_turns (const Part &part, int sign, C *turns)
{
  const int q = threadIdx.x;

  if (q < part.parts)
    turn_by (sign * q * (part.number + 0.5) / part.parts, turns + q);
}

/* A thread block makes rows of one m. */
template <typename R>
__global__ void
fft_parts_decimate_kernel (const __grid_constant__ Samples<R> s,
    const __grid_constant__ Part part, Number<R> *out)
{
  __shared__ Number<R> turns[MAX_PARTS], turn;
  const int nx = part.size[0], ny = part.size[1], nm = part.size[2];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;

  make_turns (part, -1, turns);
  for (int m = blockIdx.z; m < nm; m += gridDim.z) {
    __syncthreads ();
    if (threadIdx.x == 0)
      turn_by (-m * (part.number + 0.5) / nm / part.parts, &turn);
    __syncthreads ();
    for (int y = blockIdx.y; y < ny && x < nx; y += gridDim.y) {
      const int i = x - s.first[0], j = y - s.first[1];
      Number<R> sum = {};

      if (i >= 0 && i < s.size[0] && j >= 0 && j < s.size[1]) {
        for (int q = 0; q < part.parts; q++) {
          const int k = m + q * nm - s.first[2];

          if (k < 0 || k >= s.size[2])
            continue;
          const R value = s.data[k * s.slice + j * s.row + i];

          sum.x += value * turns[q].x;
          sum.y += value * turns[q].y;
        }
        sum = times (sum, turn);
      }
      out[((size_t) m * ny + y) * nx + x] = sum;
    }
  }
}

template <typename R>
__global__ void
fft_parts_multiply_kernel (Number<R> *sum, const Number<R> *a,
    const Number<R> *b, size_t n, bool add)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    Number<R> product = times (a[i], b[i]);

    if (add) {
      product.x += sum[i].x;
      product.y += sum[i].y;
    }
    sum[i] = product;
  }
}

/* Adds a part of the responses. Its conjugate adds the same again, which the
 * scale of the filter contains. */
template <typename R>
__global__ void
fft_parts_recombine_kernel (const Number<R> *in,
    const __grid_constant__ Part part, const int3 first, const int3 size,
    size_t row, size_t slice, R *out)
{
  __shared__ Number<R> turns[MAX_PARTS], turn;
  const int nx = part.size[0], ny = part.size[1], nm = part.size[2];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;

  make_turns (part, 1, turns);
  for (int m = blockIdx.z; m < nm; m += gridDim.z) {
    __syncthreads ();
    if (threadIdx.x == 0)
      turn_by (m * (part.number + 0.5) / nm / part.parts, &turn);
    __syncthreads ();
    for (int y = blockIdx.y; y < size.y && x < size.x; y += gridDim.y) {
      const Number<R> v =
          times (in[((size_t) m * ny + y + first.y) * nx + x + first.x], turn);

      for (int q = 0; q < part.parts; q++) {
        const int z = m + q * nm - first.z;

        if (z < 0 || z >= size.z)
          continue;
        R *const at = out + z * slice + y * row + x;
        const R response = v.x * turns[q].x - v.y * turns[q].y;

        *at = part.number ? *at + response : response;
      }
    }
  }
}

template <typename R>
class FftDecimated : public Method
{
public:
  FftDecimated (const RingJob &job, int parts, cudaStream_t stream);
  size_t bytes_needed () const override
  {
    return total_bytes (ring, levels, coefficients, spectra, responses,
        non_finite, *transform);
  }
  void allocate () override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  Samples<R> volume_of (int slot, size_t component) const;
  Samples<R> filter_of (unsigned k, unsigned t) const;
  void forward (const Samples<R> &samples, const Part &part, Number<R> *to);
  void respond_one (const int *slots, unsigned k, size_t component);

  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const size_t n_slots; /* including that of the border volume */
  Pad pad;
  const int axis[3]; /* x, the other one, and the decimated one */
  Part part = {};
  size_t numbers; /* of a part */
  size_t volume;  /* numbers of a padded volume */
  Memory<R> ring; /* [slot][component] */
  Levels<R> levels;
  std::vector<size_t> filter_at; /* the first coefficient of each filter */
  Memory<R> coefficients;        /* times the scale of the transforms */
  Memory<Number<R>> spectra; /* of the volume, the filter, and their product */
  Memory<R> responses;
  std::unique_ptr<ComplexTransform<R>> transform;
  NonFiniteSamples non_finite;
};

template <typename R>
FftDecimated<R>::FftDecimated (const RingJob &job, int parts,
    cudaStream_t stream)
    : job (job), reach (nd_job_reach (&job)), stream (stream),
      n_slots (reach.slots + (job.border_volumes ? 1 : 0)),
      pad (make_pad (job, reach)),
      axis{ 0, pad.size[2] > 1 ? 1 : 2, pad.size[2] > 1 ? 2 : 1 },
      levels (job, reach, n_slots, stream),
      non_finite (job, reach, ComputeStreams{ stream, stream })
{
  size_t n = 0;

  memcpy (pad.full, pad.size, sizeof (pad.full));
  pad.row = pad.size[0];
  pad.slice = multiply (pad.row, pad.size[1]);
  volume = multiply (pad.slice, pad.size[2]);
  ring.plan (multiply (volume, multiply (n_slots, job.shape.components)));
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    filter_at.push_back (n);
    n += nd_filter_count (job.bank->filters[k]);
  }
  coefficients.plan (n);
  part.parts = parts;
  for (int a = 0; a < 3; a++)
    part.size[a] = pad.size[axis[a]];
  part.size[2] = (part.size[2] + parts - 1) / parts;
  guess_sizes<R> (part.size);
  numbers = multiply (multiply (part.size[0], part.size[1]), part.size[2]);
  /* The product with the only volume of a window is made in place. */
  spectra.plan (multiply (numbers, reach.slots > 1 ? 3 : 2));
  responses.plan (multiply (multiply (pad.shape[0], pad.shape[1]),
      pad.shape[2]));
  transform = std::make_unique<ComplexTransform<R>> (part.size, stream);
}

/* Uploads the coefficients. */
template <typename R>
void
FftDecimated<R>::allocate ()
{
  const double scale =
      2.0 / part.parts / part.size[0] / part.size[1] / part.size[2];
  std::vector<R> scaled (coefficients.count ());

  ND_INFO ("transforms decimated by %d to %dx%dx%d, because spectra of whole "
           "volumes do not fit",
      part.parts, part.size[0], part.size[1], part.size[2]);
  allocate_all (ring, levels, coefficients, spectra, responses, non_finite,
      *transform);
  ND_DEBUG ("allocated %zu bytes", bytes_needed ());
  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *const f = job.bank->filters[k];

    std::transform (f->coefficients, f->coefficients + nd_filter_count (f),
        scaled.begin () + filter_at[k],
        [scale] (double w) { return scale * w; });
  }
  coefficients.upload (scaled.data (), scaled.size ());
}

template <typename R>
void
FftDecimated<R>::push (unsigned slot, const NdSamples *samples)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    const size_t i = slot * job.shape.components + c;

    levels.push (pad, slot, samples, c, ring.get () + i * volume,
        non_finite.list (slot, c));
  }
}

template <typename R>
Samples<R>
FftDecimated<R>::volume_of (int slot, size_t component) const
{
  const size_t strides[3] = { 1, pad.row, pad.slice };
  Samples<R> s = {};

  s.data = ring.get () + (slot * job.shape.components + component) * volume;
  for (int a = 0; a < 3; a++)
    s.size[a] = pad.size[axis[a]];
  s.row = strides[axis[1]];
  s.slice = strides[axis[2]];
  return s;
}

/* The coefficient that reads offset d is at place high - d, and output i at
 * place high - low + i, both of the reach of the job, so that no place is
 * negative. Has no data if the filter does not read volume @t. */
template <typename R>
Samples<R>
FftDecimated<R>::filter_of (unsigned k, unsigned t) const
{
  const NdFilter *const f = job.bank->filters[k];
  const double *const w = coefficients_of (f, t, reach);
  const size_t strides[3] = { 1, f->size[0], f->size[0] * f->size[1] };
  int low[ND_AXES], high[ND_AXES];
  Samples<R> s = {};

  if (!w)
    return s;
  nd_filter_reach (f, low, high);
  s.data = coefficients.get () + filter_at[k] + (w - f->coefficients);
  for (int a = 0; a < 3; a++) {
    s.first[a] = reach.high[axis[a]] - high[axis[a]];
    s.size[a] = f->size[axis[a]];
  }
  s.row = strides[axis[1]];
  s.slice = strides[axis[2]];
  return s;
}

template <typename R>
void
FftDecimated<R>::forward (const Samples<R> &samples, const Part &p,
    Number<R> *to)
{
  const dim3 blocks ((p.size[0] + 127) / 128, std::min (p.size[1], 65535),
      std::min (p.size[2], 65535));

  fft_parts_decimate_kernel<R><<<blocks, 128, 0, stream>>> (samples, p, to);
  ND_CUDA_LAUNCHED (fft_parts_decimate_kernel);
  transform->forward (to);
}

template <typename R>
void
FftDecimated<R>::respond_one (const int *slots, unsigned k, size_t component)
{
  const size_t strides[3] = { 1, (size_t) pad.shape[0],
    (size_t) pad.shape[0] * pad.shape[1] };
  int first[3], size[3];
  Number<R> *const of_volume = spectra.get ();
  Number<R> *const of_filter = of_volume + numbers;
  Number<R> *const sum = reach.slots > 1 ? of_filter + numbers : of_volume;

  for (int a = 0; a < 3; a++) {
    first[a] = reach.high[axis[a]] - reach.low[axis[a]];
    size[a] = pad.shape[axis[a]];
  }
  for (Part p = part; p.number < p.parts / 2; p.number++) {
    const dim3 blocks ((size[0] + 127) / 128, std::min (size[1], 65535),
        std::min (p.size[2], 65535));
    bool add = false;

    for (unsigned t = 0; t < reach.slots; t++) {
      const Samples<R> filter = filter_of (k, t);

      if (!filter.data)
        continue;
      forward (volume_of (slots[t], component), p, of_volume);
      forward (filter, p, of_filter);
      fft_parts_multiply_kernel<R>
          <<<1024, 256, 0, stream>>> (sum, of_volume, of_filter, numbers, add);
      ND_CUDA_LAUNCHED (fft_parts_multiply_kernel);
      add = true;
    }
    transform->inverse (sum);
    fft_parts_recombine_kernel<R><<<blocks, 128, 0, stream>>> (sum, p,
        make_int3 (first[0], first[1], first[2]),
        make_int3 (size[0], size[1], size[2]), strides[axis[1]],
        strides[axis[2]], responses.get ());
    ND_CUDA_LAUNCHED (fft_parts_recombine_kernel);
  }
}

template <typename R>
void
FftDecimated<R>::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  const size_t row = pad.shape[0], slice = row * pad.shape[1];
  const NdSamples to = { (guint8 *) responses.get (), sizeof (R),
    sizeof (R) * row, sizeof (R) * slice };

  for (size_t c = 0; c < job.shape.components; c++)
    for (unsigned k = 0; k < job.bank->n_filters; k++) {
      respond_one (slots, k, c);
      non_finite.add (slots, k, 1, c, to, 1);
      levels.store (slots, k, c, responses.get (), row, slice, scale, out);
    }
}

} // namespace

std::unique_ptr<Method>
make_fft_decimated (const RingJob &job, int parts, cudaStream_t stream)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return std::make_unique<FftDecimated<double>> (job, parts, stream);
  return std::make_unique<FftDecimated<float>> (job, parts, stream);
}

} // namespace nd
