/* Method `fft`: a ring of spectra. A volume is transformed once, at push; a
 * response is one pass of multiply-adds over the window and one inverse
 * transform.
 *
 * That pass reads every spectrum of the ring and of the filter, and memory is
 * what it waits for. So the pass for one output also begins the sums of the
 * next ones, as far as the ring holds what they need; each of them is then
 * finished with the few volumes that came since. All sums run from the oldest
 * volume to the newest, so that every output is the same to the last bit
 * whichever way it was made.
 *
 * As on the CPU, a level near the mean is taken from the samples before the
 * transform, and samples that are not finite are left out of it and added
 * after.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <cstring>
#include <vector>

#include "ndcufft.h"
#include "ndsamples.cuh"

namespace nd
{

namespace
{

/* Sums begun together with one output: 4 pass about 10 spectra for each
 * volume of an 11 tap window, instead of 22. */
constexpr int BEGUN = 4;

struct Spectra
{
  const float2 *ring;
  const float2 *filter;         /* filter[t] at t * numbers */
  size_t numbers;               /* of one spectrum, even */
  size_t ring_stride;           /* numbers from slot to slot */
  int n_slots;
  int slots[MAX_SLOTS];
  float2 *sums[BEGUN];
};

__device__ inline float4
multiply_add (float4 sum, float4 a, float4 b)
{
  sum.x = __fmaf_rn (a.x, b.x, sum.x);
  sum.x = __fmaf_rn (-a.y, b.y, sum.x);
  sum.y = __fmaf_rn (a.x, b.y, sum.y);
  sum.y = __fmaf_rn (a.y, b.x, sum.y);
  sum.z = __fmaf_rn (a.z, b.z, sum.z);
  sum.z = __fmaf_rn (-a.w, b.w, sum.z);
  sum.w = __fmaf_rn (a.z, b.w, sum.w);
  sum.w = __fmaf_rn (a.w, b.z, sum.w);
  return sum;
}

/* sums[j] = sum over i >= j of volume i times filter i - j: the output of the
 * anchor, complete, and what is there of the N - 1 next. */
template <int N> __global__ void
begin_kernel (const __grid_constant__ Spectra s)
{
  const size_t n = s.numbers / 2, stride = (size_t) gridDim.x * blockDim.x;
  size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

  for (; i < n; i += stride) {
    float4 sum[N] = {}, w[N] = {};

#pragma unroll 4
    for (int t = 0; t < s.n_slots; t++) {
      const float4 v = ((const float4 *) (s.ring
              + s.slots[t] * s.ring_stride))[i];

#pragma unroll
      for (int j = N - 1; j > 0; j--)
        w[j] = w[j - 1];
      w[0] = ((const float4 *) (s.filter + t * s.numbers))[i];
#pragma unroll
      for (int j = 0; j < N; j++)
        sum[j] = multiply_add (sum[j], v, w[j]);
    }
#pragma unroll
    for (int j = 0; j < N; j++)
      ((float4 *) s.sums[j])[i] = sum[j];
  }
}

/* Adds to sums[0] the volumes from @first on. */
__global__ void
finish_kernel (const __grid_constant__ Spectra s, int first)
{
  const size_t n = s.numbers / 2, stride = (size_t) gridDim.x * blockDim.x;
  size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x;

  for (; i < n; i += stride) {
    float4 sum = ((const float4 *) s.sums[0])[i];

    for (int t = first; t < s.n_slots; t++)
      sum = multiply_add (sum, ((const float4 *) (s.ring
                  + s.slots[t] * s.ring_stride))[i],
          ((const float4 *) (s.filter + t * s.numbers))[i]);
    ((float4 *) s.sums[0])[i] = sum;
  }
}

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

/* What the filter answers to samples that are not finite. */
struct WildWindow
{
  const unsigned *counts;       /* of slot 0; @stride between slots */
  const Wild *lists;
  int stride;
  const float *weights;         /* [t][z][y][x] */
  int taps[3];
  int n_slots;
  int slots[MAX_SLOTS];
};

/* Adds it to the samples of the inverse transform before they are taken. */
__global__ void
wild_kernel (const __grid_constant__ WildWindow w, int nx, int ny, int nz,
    size_t row, size_t slice, float *samples)
{
  const int taps = w.taps[0] * w.taps[1] * w.taps[2];
  const size_t first = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  const size_t step = (size_t) gridDim.x * blockDim.x;

  for (int t = 0; t < w.n_slots; t++) {
    const size_t slot = (size_t) w.slots[t] * w.stride;
    const unsigned n = w.counts[slot];
    const Wild *const list = w.lists + slot * MAX_WILD;

    if (n > MAX_WILD) {
      /* More than the list holds: all of the response is undefined. */
      const size_t all = (size_t) nx * ny * nz;

      for (size_t i = first; i < all; i += step)
        samples[i / nx / ny * slice + i / nx % ny * row + i % nx] = NAN;
      continue;
    }
    for (size_t i = first; i < (size_t) n * taps; i += step) {
      const Wild wild = list[i / taps];
      const int tap = i % taps;
      const int x = wild.x - tap % w.taps[0];
      const int y = wild.y - tap / w.taps[0] % w.taps[1];
      const int z = wild.z - tap / w.taps[0] / w.taps[1];
      const float weight = w.weights[(size_t) t * taps + tap];

      if (weight != 0 && x >= 0 && x < nx && y >= 0 && y < ny && z >= 0
          && z < nz)
        atomicAdd (samples + z * slice + y * row + x, weight * wild.value);
    }
  }
}

/* A smooth size of at least @n; even ones for x. */
int
transform_size (int n, bool even)
{
  for (int m = n < 2 && !even ? 1 : n < 2 ? 2 : n;; m++) {
    int left = m;

    for (int p : { 2, 3, 5, 7 })
      while (left % p == 0)
        left /= p;
    if (left == 1 && (!even || m % 2 == 0))
      return m;
  }
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
  void find_level (const NdSamples *volume, size_t c, float *level);
  bool goes_on (const int *slots, unsigned i, int begun) const;
  float2 *make_sum (const int *slots, unsigned k, size_t c);
  void add_wild (const int *slots, unsigned k, size_t c);

  const NdJob job;
  const NdReach reach;
  const cudaStream_t stream;
  const size_t n_slots;         /* with the border volume's */
  Pad pad;
  int size[3];
  size_t numbers;
  std::unique_ptr<Transform> transform;
  Memory<float> samples;        /* to transform, and transformed back */
  Memory<float2> ring;          /* [slot][component] */
  Memory<float> levels;
  Memory<float2> filters;       /* [filter][t] */
  Memory<double> filter_sums;
  Memory<float2> spectrum;      /* scratch of the inverse */

  /* Of float32 samples only. */
  Memory<unsigned> wild_counts; /* [slot][component] */
  Memory<Wild> wild;
  Memory<float> wild_weights;   /* [filter][t], flipped */

  /* Sums begun, for [filter][component]. */
  struct Begun
  {
    int used = 0;               /* outputs since, this one's included */
    std::vector<int> slots;
    std::vector<unsigned> generations;
  };
  std::vector<Begun> begun;
  Memory<float2> begun_sums;    /* [filter][component][BEGUN - 1] */
  std::vector<unsigned> generations;    /* of each slot: pushes so far */
};

Fft::Fft (const NdJob &job, cudaStream_t stream)
  : job (job), reach (nd_job_reach (&job)), stream (stream),
    n_slots (reach.slots + (job.border_volumes ? 1 : 0)),
    pad (make_pad (job, reach))
{
  const size_t components = job.shape.components;
  const size_t n_filters = job.bank->n_filters;

  if (reach.slots > MAX_SLOTS)
    throw Error (ND_ERROR_SETTINGS, "The FFT method on the GPU takes windows "
        "of up to 256 volumes: use backend=cpu");
  for (int a = 0; a < 3; a++)
    size[a] = pad.full[a] = transform_size (pad.size[a], a == 0);
  pad.row = size[0];
  pad.slice = multiply (size[0], size[1]);
  numbers = multiply (multiply (size[0] / 2 + 1, size[1]), size[2]);
  numbers += numbers & 1;
  samples = Memory<float> (multiply (pad.slice, size[2]));
  ring = Memory<float2> (multiply (numbers, multiply (n_slots, components)));
  levels = Memory<float> (n_slots * components);
  filters = Memory<float2> (multiply (numbers, multiply (n_filters,
              reach.slots)));
  filter_sums = Memory<double> (n_filters * reach.slots);
  spectrum = Memory<float2> (numbers);
  if (job.in_type == ND_FLOAT32) {
    wild_counts = Memory<unsigned> (n_slots * components);
    wild = Memory<Wild> (multiply (n_slots * components, MAX_WILD));
    wild_weights = Memory<float> (multiply (n_filters * reach.slots,
            multiply (pad.size[0] - pad.shape[0] + 1, multiply (pad.size[1]
                    - pad.shape[1] + 1, pad.size[2] - pad.shape[2] + 1))));
  }
  if (reach.slots > 2) {
    begun.resize (n_filters * components);
    begun_sums = Memory<float2> (multiply (numbers, multiply (n_filters
                * components, BEGUN - 1)));
  }
  generations.resize (n_slots);
  transform = std::make_unique<Transform> (size, stream);
  add_filters ();
}

/* Coefficients as samples to transform: the one that reads offset d stands at
 * low - d, circularly, so that output i comes out at i. */
void
Fft::add_filters ()
{
  const double scale = 1.0 / ((double) size[0] * size[1] * size[2]);
  std::vector<float> host (samples.count ());
  std::vector<double> sums (filter_sums.count ());
  const int kx = pad.size[0] - pad.shape[0] + 1;
  const int ky = pad.size[1] - pad.shape[1] + 1;
  const int kz = pad.size[2] - pad.shape[2] + 1;
  std::vector<float> flipped (wild_weights.count ());

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    int low[ND_AXES], high[ND_AXES];

    nd_filter_reach (f, low, high);
    for (unsigned t = 0; t < reach.slots; t++) {
      const int mt = high[3] - reach.low[3] - (int) t;
      const size_t at = k * reach.slots + t;

      if (mt < 0 || mt >= (int) f->size[3])
        continue;               /* zero, as the memory is */
      const double *w = f->coefficients + mt * f->size[2] * f->size[1]
          * f->size[0];

      std::fill (host.begin (), host.end (), 0.0f);
      for (size_t mz = 0; mz < f->size[2]; mz++)
        for (size_t my = 0; my < f->size[1]; my++)
          for (size_t mx = 0; mx < f->size[0]; mx++, w++) {
            const int x = high[0] - (int) mx - reach.low[0];
            const int y = high[1] - (int) my - reach.low[1];
            const int z = high[2] - (int) mz - reach.low[2];

            host[((size_t) ((size[2] - z) % size[2]) * size[1]
                    + (size[1] - y) % size[1]) * size[0]
                + (size[0] - x) % size[0]] = *w * scale;
            sums[at] += *w;
            if (!flipped.empty ())
              flipped[((at * kz + z) * ky + y) * kx + x] = *w;
          }
      samples.upload (host.data (), host.size ());
      transform->forward (samples.get (), filters.get () + at * numbers);
      ND_CUDA (cudaStreamSynchronize (stream));
    }
  }
  filter_sums.upload (sums.data (), sums.size ());
  if (!flipped.empty ())
    wild_weights.upload (flipped.data (), flipped.size ());
}

size_t
Fft::bytes () const
{
  return samples.bytes () + ring.bytes () + levels.bytes ()
      + filters.bytes () + filter_sums.bytes () + spectrum.bytes ()
      + wild_counts.bytes () + wild.bytes () + wild_weights.bytes ()
      + begun_sums.bytes () + transform->bytes ();
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
    WildList list = {};
    Pad p = pad;

    if (volume) {
      find_level (volume, c, levels.get () + i);
      p.level = levels.get () + i;
    }
    if (wild_counts.count ()) {
      list = WildList { wild_counts.get () + i, wild.get () + i * MAX_WILD };
      ND_CUDA (cudaMemsetAsync (list.count, 0, sizeof (unsigned), stream));
    }
    pad_volume (p, volume, job.in_type, c, samples.get (), list, stream);
    transform->forward (samples.get (), ring.get () + i * numbers);
  }
  generations[slot]++;
}

/* Whether the sum begun @begun outputs ago still holds for these slots: all
 * volumes but the newest moved on by so many. */
bool
Fft::goes_on (const int *slots, unsigned i, int used) const
{
  const Begun &b = begun[i];

  for (unsigned t = 0; t + used < reach.slots; t++) {
    if (slots[t] != b.slots[t + used]
        || generations[slots[t]] != b.generations[t + used])
      return false;
  }
  return true;
}

/* The product spectrum of filter @k over the window. */
float2 *
Fft::make_sum (const int *slots, unsigned k, size_t c)
{
  const size_t components = job.shape.components;
  const size_t i = k * components + c;
  Spectra s = {};
  int blocks;

  s.ring = ring.get () + c * numbers;
  s.filter = filters.get () + k * reach.slots * numbers;
  s.numbers = numbers;
  s.ring_stride = components * numbers;
  s.n_slots = reach.slots;
  memcpy (s.slots, slots, reach.slots * sizeof (int));
  blocks = (numbers / 2 + 255) / 256 < 4096 ? (numbers / 2 + 255) / 256 : 4096;

  if (begun.empty ()) {
    s.sums[0] = spectrum.get ();
    begin_kernel<1><<<blocks, 256, 0, stream>>> (s);
    ND_CUDA_LAUNCHED (begin_kernel);
    return s.sums[0];
  }
  float2 *const next = begun_sums.get () + i * (BEGUN - 1) * numbers;
  Begun &b = begun[i];

  b.used++;
  if (!b.slots.empty () && b.used < BEGUN && goes_on (slots, i, b.used)) {
    s.sums[0] = next + (b.used - 1) * numbers;
    finish_kernel<<<blocks, 256, 0, stream>>> (s, reach.slots - b.used);
    ND_CUDA_LAUNCHED (finish_kernel);
    return s.sums[0];
  }
  b.used = 0;
  b.slots.assign (slots, slots + reach.slots);
  b.generations.resize (reach.slots);
  for (unsigned t = 0; t < reach.slots; t++)
    b.generations[t] = generations[slots[t]];
  s.sums[0] = spectrum.get ();
  for (int j = 1; j < BEGUN; j++)
    s.sums[j] = next + (j - 1) * numbers;
  begin_kernel<BEGUN><<<blocks, 256, 0, stream>>> (s);
  ND_CUDA_LAUNCHED (begin_kernel);
  return s.sums[0];
}

void
Fft::add_wild (const int *slots, unsigned k, size_t c)
{
  WildWindow w = { wild_counts.get () + c, wild.get () + c * MAX_WILD,
    (int) job.shape.components };
  size_t taps = 1;

  for (int a = 0; a < 3; a++) {
    w.taps[a] = pad.size[a] - pad.shape[a] + 1;
    taps *= w.taps[a];
  }
  w.weights = wild_weights.get () + k * reach.slots * taps;
  w.n_slots = reach.slots;
  memcpy (w.slots, slots, reach.slots * sizeof (int));
  wild_kernel<<<128, 256, 0, stream>>> (w, pad.shape[0], pad.shape[1],
      pad.shape[2], pad.row, pad.slice, samples.get ());
  ND_CUDA_LAUNCHED (wild_kernel);
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
      transform->inverse (make_sum (slots, k, c), samples.get ());
      if (wild_counts.count ())
        add_wild (slots, k, c);
      take_kernel<<<blocks, threads, 0, stream>>> (samples.get (), pad.row,
          pad.slice, pad.shape[0], pad.shape[1], pad.shape[2],
          make_store (out, job.out_type, scale, c, k), l);
      ND_CUDA_LAUNCHED (take_kernel);
    }
  }
}

} // namespace

std::unique_ptr<Method>
make_fft (const NdJob &job, cudaStream_t stream)
{
  return std::make_unique<Fft> (job, stream);
}

} // namespace nd
