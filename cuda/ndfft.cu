/* Method `fft`: a ring of spectra. A volume is transformed once, at push; a
 * response is one pass of multiply-adds over the window and one inverse
 * transform.
 *
 * As on the CPU, a level near the mean is taken from the samples before the
 * transform, and samples that are not finite are left out of it and added
 * after. Filters that are symmetric about a sample, volume by volume, have real
 * spectra, of half the bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ndblocks.cuh"
#include "ndcufft.h"
#include "ndfft.cuh"
#include "ndsizes.cuh"
#include "ndsums.cuh"

namespace nd
{

namespace
{

/* The mean of some samples of a volume. One block. */
template <typename T> __global__ void
level_kernel (const unsigned char *in, NdSamples strides, int nx, int ny,
    int nz, float *level)
{
  __shared__ double sums[256];
  __shared__ int counts[256];
  const size_t rows = (size_t) ny * nz;
  double sum = 0;
  int count = 0;

  for (int i = threadIdx.x; i < 4096; i += 256) {
    /* Spread over the volume: a step through rows and one through columns. */
    const size_t row = (size_t) i * rows / 4096;
    const int x = (int) ((i * 2654435761u) % (unsigned) nx);
    const float v = *(const T *) (in + x * strides.sample
        + row % ny * strides.row + row / ny * strides.slice);

    if (isfinite (v)) {
      sum += v;
      count++;
    }
  }
  sums[threadIdx.x] = sum;
  counts[threadIdx.x] = count;
  __syncthreads ();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      sums[threadIdx.x] += sums[threadIdx.x + step];
      counts[threadIdx.x] += counts[threadIdx.x + step];
    }
    __syncthreads ();
  }
  if (threadIdx.x == 0) {
    const float mean = counts[0] ? sums[0] / counts[0] : 0;

    *level = isfinite (mean) ? mean : 0;
  }
}

/* The sum over the window of what was taken from each volume, times the sum
 * of the filter's coefficients for it. */
struct Levels
{
  const float *levels;          /* of slot 0; @stride between slots */
  int stride;
  const double *sums;           /* [t] */
  int n_slots;
  int slots[MAX_SLOTS];
};

/* Each thread takes four responses of a row from the inverse transform. */
__global__ void
take_kernel (const float *samples, size_t row, size_t slice, int nx, int ny,
    int nz, const __grid_constant__ Store store,
    const __grid_constant__ Levels l)
{
  __shared__ float level;
  const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = blockIdx.y * blockDim.y + threadIdx.y;

  if (threadIdx.x == 0 && threadIdx.y == 0) {
    double sum = 0;

    for (int t = 0; t < l.n_slots; t++)
      sum += l.sums[t] * l.levels[l.slots[t] * l.stride];
    level = sum;
  }
  __syncthreads ();
  if (x >= nx || y >= ny)
    return;
  for (int z = blockIdx.z; z < nz; z += gridDim.z) {
    const float *from = samples + z * slice + y * row + x;
    float four[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
      four[i] = x + i < nx ? from[i] + level : 0;
    store_four (store, four, nx - x, x, y, z);
  }
}

/* Makes the padded volume as large as its transform, @size, and returns the
 * numbers of its spectrum, made even. */
size_t
transform_pad (Pad &pad, int size[3], cudaStream_t stream)
{
  memcpy (size, pad.size, sizeof (pad.size));
  choose_sizes (size, stream);
  memcpy (pad.full, size, sizeof (pad.full));
  pad.row = size[0];
  pad.slice = multiply (size[0], size[1]);
  const size_t numbers = multiply (multiply (size[0] / 2 + 1, size[1]),
      size[2]);

  return numbers + (numbers & 1);
}

__global__ void
take_real_kernel (const float2 *numbers, size_t n, float *real)
{
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n;
      i += step)
    real[i] = numbers[i].x;
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

class Fft : public Method
{
public:
  Fft (const NdJob &job, cudaStream_t stream);
  size_t bytes () const override;
  void push (unsigned slot, const NdSamples *volume) override;
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override;

private:
  void add_filters ();
  void add_filter (size_t at);
  void center_of (unsigned k, int center[3]) const;
  void find_level (const NdSamples *volume, size_t c, float *level);
  float2 *make_sum (const int *slots, unsigned k, size_t c);
  float *response_of (unsigned k) const;

  const NdJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const size_t n_slots;         /* with the border volume's */
  Pad pad;
  int size[3];
  const size_t numbers;         /* of a spectrum */
  std::unique_ptr<Transform> transform;
  Memory<float> samples;        /* to transform, and transformed back */
  Memory<float2> ring;          /* [slot][component] */
  Memory<float> levels;
  const bool real;              /* spectra of filters */
  Memory<float> filters;        /* [filter][t], of float2 or float */
  Memory<double> filter_sums;
  WindowSums sums;
  WildSamples wild;
};

Fft::Fft (const NdJob &job, cudaStream_t stream)
  : job (job), reach (nd_job_reach (&job)), stream (stream),
    n_slots (reach.slots + (job.border_volumes ? 1 : 0)),
    pad (make_pad (job, reach)), numbers (transform_pad (pad, size, stream)),
    real (all_symmetric (job.bank)),
    sums (job, reach, numbers, stream),
    wild (job, reach, ComputeStreams { stream, stream })
{
  const size_t components = job.shape.components;
  const size_t n_filters = job.bank->n_filters;

  samples = Memory<float> (multiply (pad.slice, size[2]));
  ring = Memory<float2> (multiply (numbers, multiply (n_slots, components)));
  levels = Memory<float> (n_slots * components);
  filters = Memory<float> (multiply (real ? numbers : 2 * numbers,
          multiply (n_filters, reach.slots)));
  filter_sums = Memory<double> (n_filters * reach.slots);
  transform = std::make_unique<Transform> (size, stream);
  add_filters ();
}

/* Where the sample that a filter with a real spectrum is symmetric about lies
 * among those that it reads; 0 for others. */
void
Fft::center_of (unsigned k, int center[3]) const
{
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (job.bank->filters[k], low, high);
  for (int a = 0; a < 3; a++)
    center[a] = real ? (low[a] + high[a]) / 2 - reach.low[a] : 0;
}

/* Output 0 of filter @k, transformed back. */
float *
Fft::response_of (unsigned k) const
{
  int center[3];

  center_of (k, center);
  return samples.get () + center[2] * pad.slice + center[1] * pad.row
      + center[0];
}

/* The spectrum of the samples. The ring holds nothing yet. */
void
Fft::add_filter (size_t at)
{
  float *const to = filters.get () + at * (real ? numbers : 2 * numbers);

  if (real) {
    transform->forward (samples.get (), ring.get ());
    take_real_kernel<<<256, 256, 0, stream>>> (ring.get (), numbers, to);
    ND_CUDA_LAUNCHED (take_real_kernel);
  } else {
    transform->forward (samples.get (), (float2 *) to);
  }
  ND_CUDA (cudaStreamSynchronize (stream));
}

/* Coefficients as samples to transform: the one that reads offset d stands at
 * low - d, circularly, so that output i comes out at i; that of a real spectrum
 * at center - d, and output i comes out so much later. */
void
Fft::add_filters ()
{
  const double scale = 1.0 / ((double) size[0] * size[1] * size[2]);
  std::vector<float> host (samples.count ());
  std::vector<double> coefficient_sums (filter_sums.count ());

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    int center[3];

    center_of (k, center);
    for (unsigned t = 0; t < reach.slots; t++) {
      const size_t at = k * reach.slots + t;

      std::fill (host.begin (), host.end (), 0.0f);
      for_each_coefficient (job.bank->filters[k], t, reach,
          [&] (int x, int y, int z, double w) {
            const int place[3] = { (center[0] - x + size[0]) % size[0],
              (center[1] - y + size[1]) % size[1],
              (center[2] - z + size[2]) % size[2] };

            host[((size_t) place[2] * size[1] + place[1]) * size[0]
                + place[0]] = w * scale;
            coefficient_sums[at] += w;
          });
      samples.upload (host.data (), host.size ());
      add_filter (at);
    }
  }
  filter_sums.upload (coefficient_sums.data (), coefficient_sums.size ());
}

size_t
Fft::bytes () const
{
  return samples.bytes () + ring.bytes () + levels.bytes ()
      + filters.bytes () + filter_sums.bytes () + sums.bytes ()
      + wild.bytes () + transform->bytes ();
}

void
Fft::find_level (const NdSamples *volume, size_t c, float *level)
{
  const unsigned char *in = volume->data + c * nd_sample_size (job.in_type);
  const int nx = pad.shape[0], ny = pad.shape[1], nz = pad.shape[2];

  switch (job.in_type) {
    case ND_UINT8:
      level_kernel<unsigned char><<<1, 256, 0, stream>>> (in, *volume, nx, ny,
          nz, level);
      break;
    case ND_INT16:
      level_kernel<short><<<1, 256, 0, stream>>> (in, *volume, nx, ny, nz,
          level);
      break;
    case ND_UINT16:
      level_kernel<unsigned short><<<1, 256, 0, stream>>> (in, *volume, nx, ny,
          nz, level);
      break;
    default:
      level_kernel<float><<<1, 256, 0, stream>>> (in, *volume, nx, ny, nz,
          level);
      break;
  }
  ND_CUDA_LAUNCHED (level_kernel);
}

void
Fft::push (unsigned slot, const NdSamples *volume)
{
  for (size_t c = 0; c < job.shape.components; c++) {
    const size_t i = slot * job.shape.components + c;
    Pad p = pad;

    if (volume) {
      find_level (volume, c, levels.get () + i);
      p.level = levels.get () + i;
    }
    pad_volume (p, volume, job.in_type, c, samples.get (),
        wild.list (slot, c), stream);
    transform->forward (samples.get (), ring.get () + i * numbers);
  }
  sums.pushed (slot);
}

/* The product spectrum of filter @k over the window. */
float2 *
Fft::make_sum (const int *slots, unsigned k, size_t c)
{
  const size_t components = job.shape.components;
  const WindowSpectra spectra = { ring.get () + c * numbers,
    components * numbers, filters.get ()
        + k * reach.slots * (real ? numbers : 2 * numbers), numbers, false,
    real };

  return sums.finish (slots, sums.start (slots, k * components + c, spectra),
      spectra);
}

void
Fft::respond (const int *slots, const NdScale &scale, const NdSamples &out)
{
  const dim3 threads (32, 4);
  const dim3 blocks ((pad.shape[0] + 127) / 128, (pad.shape[1] + 3) / 4,
      pad.shape[2] < 65535 ? pad.shape[2] : 65535);

  for (size_t c = 0; c < job.shape.components; c++) {
    for (unsigned k = 0; k < job.bank->n_filters; k++) {
      Levels l = { levels.get () + c, (int) job.shape.components,
        filter_sums.get () + k * reach.slots, (int) reach.slots };

      memcpy (l.slots, slots, reach.slots * sizeof (int));
      float *const response = response_of (k);

      transform->inverse (make_sum (slots, k, c), samples.get ());
      wild.add (slots, k, c, (unsigned char *) response, 4, 4 * pad.row,
          4 * pad.slice, 1);
      take_kernel<<<blocks, threads, 0, stream>>> (response, pad.row,
          pad.slice, pad.shape[0], pad.shape[1], pad.shape[2],
          make_store (out, job.out_type, scale, c, k), l);
      ND_CUDA_LAUNCHED (take_kernel);
    }
  }
}

/* Whether there is memory for what @make makes, and a part of it besides: for
 * code, and for volumes on their way. */
template <typename F> bool
fits (F make)
{
  const size_t free = free_bytes ();
  Count all;

  try {
    make ();
  } catch (const Count::Counted &) {
  } catch (const Error &) {
    return false;
  }
  return all.bytes <= free - free / 16;
}

/* Halves the longest side of @box; not where filters reach further than that:
 * smaller boxes need as much. */
bool
halve (size_t box[3], const NdReach &reach)
{
  int longest = 0;

  for (int a = 1; a < 3; a++) {
    if (box[a] > box[longest])
      longest = a;
  }
  if ((int) box[longest] <= reach.high[longest] - reach.low[longest] + 1)
    return false;
  box[longest] = (box[longest] + 1) / 2;
  return true;
}

/* What @make makes, or nothing where that does not fit, or turns out not to:
 * sizes that are faster may need more than was counted. */
template <typename F> std::unique_ptr<Method>
make_if_it_fits (F make)
{
  if (!fits (make))
    return nullptr;
  try {
    return make ();
  } catch (const Error &e) {
    if (e.code != ND_ERROR_NO_SPACE)
      throw;
  }
  return nullptr;
}

/* The largest boxes that fit, halved @halvings times at least. */
std::unique_ptr<Method>
make_boxes (const NdJob &job, int halvings, cudaStream_t stream)
{
  const NdReach reach = nd_job_reach (&job);
  const auto make = [&] (const size_t box[3]) {
    return make_fft_boxes (job, box, stream);
  };
  size_t box[3];

  memcpy (box, job.shape.size, sizeof (box));
  while (halve (box, reach)) {
    if (--halvings > 0)
      continue;
    if (std::unique_ptr<Method> made = make_if_it_fits ([&] {
          return make (box);
        }))
      return made;
  }
  return make (box);
}

} // namespace

std::unique_ptr<Method>
make_fft_whole (const NdJob &job, cudaStream_t stream)
{
  return std::make_unique<Fft> (job, stream);
}

/* NDCONV_CUDA_FFT, `blocks`, `boxes` or `whole`, decides for tests and
 * benchmarks. */
std::unique_ptr<Method>
make_fft (const NdJob &job, const ComputeStreams &streams)
{
  const char *const wanted = getenv ("NDCONV_CUDA_FFT");
  const std::string way = wanted ? wanted : "";
  const cudaStream_t stream = streams.respond;
  const auto blocks = [&] { return make_fft_blocks (job, streams); };
  const auto whole = [&] { return make_fft_whole (job, stream); };
  std::unique_ptr<Method> made;

  if (way == "blocks" && blocks_possible (job))
    return blocks ();
  if (way == "whole")
    return whole ();
  if (way != "boxes" && blocks_possible (job)
      && blocks_cost (job) < whole_cost (job))
    made = make_if_it_fits (blocks);
  if (way != "boxes" && !made)
    made = make_if_it_fits (whole);
  if (made)
    return made;
  return make_boxes (job, way == "boxes" ? 3 : 1, stream);
}

} // namespace nd
