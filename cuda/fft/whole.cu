/* Method `fft` by whole volumes: a ring of spectra. A push transforms a volume
 * once. A response is one pass of multiply-adds over the window and one inverse
 * transform.
 *
 * As on the CPU, a level near the mean is subtracted from the samples before
 * the transform, because errors of transforms grow with the samples. Samples
 * that are not finite are left out of the transform and added afterwards. If
 * each volume of all filters is symmetric about its centre, spectra of filters
 * are real and take half the bytes.
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
#include "cuda/fft/sums.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

template <typename R>
__global__ void
fft_take_real_kernel (const Number<R> *numbers, size_t n, R *real)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step)
    real[i] = numbers[i].x;
}

/* The places of the coefficients of a filter in a volume of zeros. */
struct Placement
{
  int size[3];  /* of the filter */
  int first[3]; /* the place of its first coefficient */
  int full[3];  /* the size of the volume; places are modulo it */
};

template <typename R>
__global__ void
fft_place_filter_kernel (const double *coefficients,
    const __grid_constant__ Placement p, double scale, R *samples)
{
  const size_t rows = (size_t) p.size[1] * p.size[2];
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
       i < rows * p.size[0]; i += step) {
    const size_t row = i / p.size[0];
    const int x = (p.first[0] + (int) (i % p.size[0])) % p.full[0];
    const int y = (p.first[1] + (int) (row % p.size[1])) % p.full[1];
    const int z = (p.first[2] + (int) (row / p.size[1])) % p.full[2];

    samples[((size_t) z * p.full[1] + y) * p.full[0] + x] =
        coefficients[i] * scale;
  }
}

bool
is_symmetric (const NdFilter *f)
{
  const size_t n = f->size[0] * f->size[1] * f->size[2];

  for (int a = 0; a < 3; a++) {
    if (f->size[a] % 2 == 0)
      return false;
  }
  for (size_t t = 0; t < f->size[3]; t++) {
    const double *const w = f->coefficients + t * n;

    for (size_t i = 0; i < n / 2; i++) {
      if (w[i] != w[n - 1 - i])
        return false;
    }
  }
  return true;
}

bool
all_symmetric (const NdBank *bank)
{
  for (unsigned k = 0; k < bank->n_filters; k++) {
    if (!is_symmetric (bank->filters[k]))
      return false;
  }
  return true;
}

template <typename R>
class FftWhole : public Method
{
public:
  FftWhole (const RingJob &job, cudaStream_t stream);
  size_t bytes_needed () const override;
  void allocate () override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void plan_for (const int size[3]);
  void add_filters ();
  Placement placement_of (unsigned k) const;
  void add_spectrum (size_t at);
  void center_of (unsigned k, int center[3]) const;
  Number<R> *make_sum (const int *slots, unsigned k, size_t c);
  R *response_of (unsigned k) const;

  const RingJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const size_t n_slots; /* including that of the border volume */
  Pad pad;              /* full: the size of the transform */
  size_t numbers = 0;   /* of a spectrum; even */
  std::unique_ptr<Transform<R>> transform;
  Memory<R> samples;      /* before the transform, and after its inverse */
  Memory<Number<R>> ring; /* [slot][component] */
  Levels<R> levels;
  const bool real;   /* spectra of filters are real */
  Memory<R> filters; /* [filter][t], of Number<R> or R */
  std::unique_ptr<WindowSums<R>> sums;
  NonFiniteSamples non_finite;
};

template <typename R>
FftWhole<R>::FftWhole (const RingJob &job, cudaStream_t stream)
    : job (job), reach (nd_job_reach (&job)), stream (stream),
      n_slots (reach.slots + (job.border_volumes ? 1 : 0)),
      pad (make_pad (job, reach)), levels (job, reach, n_slots, stream),
      real (all_symmetric (job.bank)),
      non_finite (job, reach, ComputeStreams{ stream, stream })
{
  int size[3];

  memcpy (size, pad.size, sizeof (size));
  guess_sizes<R> (size);
  plan_for (size);
}

/* Plans the memory that depends on the @size of the transform. */
template <typename R>
void
FftWhole<R>::plan_for (const int size[3])
{
  memcpy (pad.full, size, sizeof (pad.full));
  pad.row = size[0];
  pad.slice = multiply (size[0], size[1]);
  numbers = multiply (multiply (size[0] / 2 + 1, size[1]), size[2]);
  numbers += numbers & 1;
  samples.plan (multiply (pad.slice, size[2]));
  ring.plan (multiply (numbers, multiply (n_slots, job.shape.components)));
  filters.plan (multiply (real ? numbers : 2 * numbers,
      multiply (job.bank->n_filters, reach.slots)));
  sums = std::make_unique<WindowSums<R>> (job, reach, numbers, false, stream);
  transform = std::make_unique<Transform<R>> (size, stream);
}

template <typename R>
size_t
FftWhole<R>::bytes_needed () const
{
  return total_bytes (samples, ring, levels, filters, *sums, non_finite,
      *transform);
}

template <typename R>
void
FftWhole<R>::allocate ()
{
  int size[3];

  memcpy (size, pad.size, sizeof (size));
  choose_sizes<R> (size, stream);
  if (memcmp (size, pad.full, sizeof (size)) != 0)
    plan_for (size);
  ND_INFO ("transforms of %dx%dx%d for padded volumes of %dx%dx%d, %s spectra "
           "of filters",
      size[0], size[1], size[2], pad.size[0], pad.size[1], pad.size[2],
      real ? "real" : "complex");
  allocate_all (samples, ring, levels, filters, *sums, non_finite, *transform);
  ND_DEBUG ("allocated %zu bytes", bytes_needed ());
  add_filters ();
}

/* The sample about which a filter with a real spectrum is symmetric, relative
 * to the first sample that the job reads; 0 for other filters. */
template <typename R>
void
FftWhole<R>::center_of (unsigned k, int center[3]) const
{
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (job.bank->filters[k], low, high);
  for (int a = 0; a < 3; a++)
    center[a] = real ? (low[a] + high[a]) / 2 - reach.low[a] : 0;
}

/* The place of output 0 of filter @k in the inverse transform. */
template <typename R>
R *
FftWhole<R>::response_of (unsigned k) const
{
  int center[3];

  center_of (k, center);
  return samples.get () + center[2] * pad.slice + center[1] * pad.row
      + center[0];
}

/* The coefficient that reads offset d is stored at index center - d, modulo the
 * size. Output i is then number center + i of the inverse transform. Offsets
 * count from the first sample that the job reads. */
template <typename R>
Placement
FftWhole<R>::placement_of (unsigned k) const
{
  const NdFilter *const f = job.bank->filters[k];
  int low[ND_AXES], high[ND_AXES], center[3];
  Placement p = {};

  nd_filter_reach (f, low, high);
  center_of (k, center);
  for (int a = 0; a < 3; a++) {
    p.size[a] = f->size[a];
    p.full[a] = pad.full[a];
    p.first[a] =
        (center[a] - high[a] + reach.low[a] + pad.full[a]) % pad.full[a];
  }
  return p;
}

/* Stores the spectrum of the samples as number @at. Uses the ring, which is
 * still empty. */
template <typename R>
void
FftWhole<R>::add_spectrum (size_t at)
{
  R *const to = filters.get () + at * (real ? numbers : 2 * numbers);

  if (!real) {
    transform->forward (samples.get (), (Number<R> *) to);
    return;
  }
  transform->forward (samples.get (), ring.get ());
  fft_take_real_kernel<R><<<256, 256, 0, stream>>> (ring.get (), numbers, to);
  ND_CUDA_LAUNCHED (fft_take_real_kernel);
}

/* Uploads the coefficients and transforms them on the device. The spectra of
 * volumes that a filter does not read remain zeros. */
template <typename R>
void
FftWhole<R>::add_filters ()
{
  const double scale = 1.0 / ((double) pad.full[0] * pad.full[1] * pad.full[2]);
  size_t largest = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    largest = std::max (largest, nd_filter_count (job.bank->filters[k]));
  Memory<double> coefficients (largest);

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *const f = job.bank->filters[k];
    const size_t n = f->size[0] * f->size[1] * f->size[2];
    const Placement placement = placement_of (k);

    /* The kernels for the filter before still read its coefficients. */
    ND_CUDA (cudaStreamSynchronize (stream));
    coefficients.upload (f->coefficients, nd_filter_count (f));
    for (unsigned t = 0; t < reach.slots; t++) {
      const double *const w = coefficients_of (f, t, reach);
      const size_t at = k * reach.slots + t;

      if (!w)
        continue;
      ND_CUDA (cudaMemsetAsync (samples.get (), 0, samples.bytes (), stream));
      fft_place_filter_kernel<R>
          <<<(n + 255) / 256 < 1024 ? (n + 255) / 256 : 1024, 256, 0,
              stream>>> (coefficients.get () + (w - f->coefficients), placement,
              scale, samples.get ());
      ND_CUDA_LAUNCHED (fft_place_filter_kernel);
      add_spectrum (at);
    }
  }
  ND_CUDA (cudaStreamSynchronize (stream));
  ND_DEBUG ("made the spectra of %u filters", job.bank->n_filters);
}

template <typename R>
void
FftWhole<R>::push (unsigned slot, const NdSamples *volume)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    const size_t i = slot * job.shape.components + c;

    levels.push (pad, slot, volume, c, samples.get (),
        non_finite.list (slot, c));
    transform->forward (samples.get (), ring.get () + i * numbers);
  }
  sums->pushed (slot);
}

/* The product spectrum of filter @k over the window. */
template <typename R>
Number<R> *
FftWhole<R>::make_sum (const int *slots, unsigned k, size_t c)
{
  const size_t components = job.shape.components;
  const WindowSpectra<R> spectra = { ring.get () + c * numbers,
    components * numbers,
    filters.get () + k * reach.slots * (real ? numbers : 2 * numbers), numbers,
    false, real };

  return sums->finish (slots, sums->start (slots, k * components + c, spectra),
      spectra);
}

template <typename R>
void
FftWhole<R>::respond (const int *slots, const NdScale &scale,
    const NdSamples &out)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    for (unsigned k = 0; k < job.bank->n_filters; k++) {
      R *const response = response_of (k);
      const NdSamples to = { (guint8 *) response, sizeof (R),
        sizeof (R) * pad.row, sizeof (R) * pad.slice };

      transform->inverse (make_sum (slots, k, c), samples.get ());
      non_finite.add (slots, k, 1, c, to, 1);
      levels.store (slots, k, c, response, pad.row, pad.slice, scale, out);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_fft_whole (const RingJob &job, cudaStream_t stream)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return std::make_unique<FftWhole<double>> (job, stream);
  return std::make_unique<FftWhole<float>> (job, stream);
}

} // namespace nd
