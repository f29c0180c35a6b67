/* Denoising of a stream on the device: cpu/denoisestream.c, with volumes on the
 * device. The noise level and the correction of clipping are decided by the
 * host, from counts of the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/adaptive.h"
#include "cuda/analysis/algorithm.h"
#include "cuda/analysis/denoisefilter.h"
#include "cuda/analysis/volumes.cuh"
#include "cuda/pinned.h"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

/* The volumes of a component that is not filtered. */
class KeptVolumes : public DenoiseFilter
{
public:
  KeptVolumes (size_t samples, unsigned n) : samples (samples), n (n)
  {
    volumes.plan (multiply (samples, n));
  }

  size_t bytes () const override { return volumes.bytes (); }
  void allocate () override { volumes.allocate (); }
  float *input (int64_t position) override
  {
    return volumes.get () + position % n * samples;
  }
  float *run (const DenoiseOutput &output, cudaStream_t stream) override
  {
    return input (output.position);
  }

private:
  const size_t samples;
  const unsigned n;
  Memory<float> volumes;
};

struct DenoisedComponent
{
  ~DenoisedComponent () { nd_clipping_clear (&clipping); }

  bool is_kept = false;
  std::unique_ptr<DenoiseFilter> filter;
  double estimates[ND_DENOISE_MAX_ESTIMATES] = {};
  double sigma = 0;        /* of the last output */
  float *result = nullptr; /* the last output */
  bool is_counted = false; /* its clipped samples are counted */
  NdClipping clipping = {};
  Memory<float> table;
  double table_sigma = 0; /* of the table on the device */
};

/* The size of NoiseCounts in words, before the bins. */
constexpr size_t NOISE_COUNTS = sizeof (NoiseCounts) / sizeof (unsigned);

/* Along an axis: the grids of some kernels have a thread block for 8 samples
 * along y, and 65535 thread blocks at most. */
constexpr size_t MAX_SIZE = 8 * 65535;

/* The bins that differences of integers can be in: from 1 on, for 12 or 20
 * powers of 2. */
constexpr unsigned INTEGER_BIN = 127u << (23 - ND_NOISE_SHIFT);

unsigned
count_integer_bins (NdSampleType type)
{
  return (8 * (unsigned) nd_sample_size (type) + 4) << (23 - ND_NOISE_SHIFT);
}

class Denoise : public Algorithm
{
public:
  Denoise (const NdDenoiseSettings &settings, const NdDenoiseBorders &borders,
      const NdShape &shape, NdSampleType type, guint64 kept,
      const ContextPointer &context);

  void push (const NdSamples &volume) override;
  bool ready () const override;
  void respond (const NdSamples *out) override;
  void end () override { ended = true; }
  void reset () override;
  size_t bytes () const override;
  void set_strength (const NdDenoiseSettings &settings) override;
  double sigma () const override;

private:
  void clear_counts ();
  void count_noise_of (size_t c);
  double measured_noise (size_t c) const;
  void collect_noise ();
  double noise_level (const DenoisedComponent &component) const;
  void find_noise ();
  void run_component (size_t c, bool is_needed);
  void update_clipping ();
  bool is_corrected () const;
  void write (const NdSamples &out);

  NdDenoiseSettings settings;
  const unsigned latency; /* volumes */
  const bool is_speckle;
  const NdShape shape;
  int size[3];
  const NdSampleType type;
  const float low, high;
  const Event was_read; /* the last volume */
  const Event counted;  /* counts are on the host */
  std::vector<DenoisedComponent> components;

  Transfer uploads, downloads;
  unsigned first_bin, n_bins, n_parts;
  Memory<unsigned> noise_counts;          /* NoiseCounts, then the bins */
  Pinned<unsigned> host_noise;            /* the same of each component */
  Memory<ClippingCounts> clipping_counts; /* of each component */
  Pinned<ClippingCounts> host_clipping;

  int64_t pushed = 0;       /* volumes so far */
  int64_t next = 0;         /* of the next output */
  bool is_counting = false; /* the noise of the last volume */
  bool ended = false;

  const Stream stream; /* the last, so that its work ends first */
};

std::unique_ptr<DenoiseFilter>
make_filter (const NdDenoiseSettings &settings, const NdDenoiseBorders &borders,
    const size_t size[3], const ContextPointer &context)
{
  if (settings.noise == ND_NOISE_SPECKLE)
    return make_speckle_filter (settings, borders, size);
  if (settings.method == ND_DENOISE_ADAPTIVE)
    return std::make_unique<AdaptiveFilter> (settings, borders, size);
  return make_transform_filter (settings, borders, size, context);
}

bool
has_range (NdSampleType type)
{
  return std::isfinite (nd_sample_low (type));
}

Denoise::Denoise (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const NdShape &shape, NdSampleType type,
    guint64 kept, const ContextPointer &context)
    : Algorithm (context), settings (settings),
      latency (nd_denoise_schedule (&settings).latency),
      is_speckle (settings.noise == ND_NOISE_SPECKLE), shape (shape),
      type (type), low (nd_sample_low (type)), high (nd_sample_high (type)),
      was_read (*context), counted (*context), components (shape.components),
      uploads (shape, type), downloads (shape, type),
      first_bin (has_range (type) ? INTEGER_BIN : 1),
      n_bins (has_range (type) ? count_integer_bins (type) + 1 : ND_NOISE_BINS),
      n_parts (has_range (type) ? ND_NOISE_PARTS : 1)
{
  size_t samples = 1;

  for (int a = 0; a < 3; a++) {
    if (shape.size[a] > MAX_SIZE)
      throw Error (ND_ERROR_SETTINGS,
          "nddenoise on the GPU takes up to " + std::to_string (MAX_SIZE)
              + " samples along an axis, not " + std::to_string (shape.size[a])
              + ": use backend=cpu");
    size[a] = (int) shape.size[a];
    samples = multiply (samples, shape.size[a]);
  }
  noise_counts.plan (NOISE_COUNTS + multiply (n_bins, n_parts));
  clipping_counts.plan (shape.components);
  for (size_t c = 0; c < shape.components; c++) {
    DenoisedComponent &component = components[c];

    component.is_kept = c < 64 && (kept >> c & 1);
    if (component.is_kept) {
      component.filter = std::make_unique<KeptVolumes> (samples, latency + 1);
      continue;
    }
    component.filter = make_filter (settings, borders, shape.size, context);
    if (has_range (type) && !is_speckle)
      component.table.plan (ND_CLIPPING_TABLE + 1);
  }
  expect_free (bytes ());
  allocate_all (noise_counts, clipping_counts);
  for (DenoisedComponent &component : components) {
    component.filter->allocate ();
    component.table.allocate ();
  }
  host_noise.grow (multiply (noise_counts.count (), shape.components));
  host_clipping.grow (clipping_counts.count ());
  reset ();
}

size_t
Denoise::bytes () const
{
  size_t sum = total_bytes (noise_counts, clipping_counts);

  for (const DenoisedComponent &component : components)
    sum += component.filter->bytes () + component.table.bytes ();
  return sum;
}

void
Denoise::reset ()
{
  pushed = next = 0;
  is_counting = ended = false;
  for (DenoisedComponent &component : components) {
    nd_clipping_reset (&component.clipping);
    component.filter->reset ();
  }
}

bool
Denoise::ready () const
{
  return next < pushed && (ended || pushed > next + latency);
}

/* Counts are 0 when a volume is counted: each is cleared when the host has it,
 * which takes no time of the next output. */
void
Denoise::clear_counts ()
{
  ND_CUDA (cudaMemsetAsync (noise_counts.get (), 0, noise_counts.bytes (),
      stream));
  ND_CUDA (cudaMemsetAsync (clipping_counts.get (), 0, clipping_counts.bytes (),
      stream));
}

void
Denoise::count_noise_of (size_t c)
{
  if (size[0] > 1 || size[1] > 1 || size[2] > 1)
    count_noise (components[c].filter->input (pushed), size, low, high,
        first_bin, n_bins, noise_counts.get () + NOISE_COUNTS,
        (NoiseCounts *) noise_counts.get (), stream);
  ND_CUDA (cudaMemcpyAsync (host_noise.get () + c * noise_counts.count (),
      noise_counts.get (), noise_counts.bytes (), cudaMemcpyDeviceToHost,
      stream));
  ND_CUDA (cudaMemsetAsync (noise_counts.get (), 0, noise_counts.bytes (),
      stream));
}

/* The standard deviation of the noise in the volume that was counted last. */
double
Denoise::measured_noise (size_t c) const
{
  unsigned *const from = host_noise.get () + c * noise_counts.count ();
  const NoiseCounts &counts = *(const NoiseCounts *) from;
  NdNoiseHistogram parts[ND_NOISE_PARTS] = {};

  for (unsigned i = 0; i < n_parts; i++) {
    parts[i].bins = from + NOISE_COUNTS + (size_t) i * n_bins;
    parts[i].first = first_bin;
    parts[i].n_bins = n_bins;
    parts[i].n = counts.n[i];
    parts[i].sum = counts.eighths[i] / 8.0
        + (has_range (type) ? (double) low * parts[i].n : 0);
  }
  return nd_noise_sigma (parts, n_parts, shape.size, low, high);
}

/* Waits for the counts of the last volume. */
void
Denoise::collect_noise ()
{
  if (!is_counting)
    return;
  ND_CUDA (cudaEventSynchronize (counted.get ()));
  for (size_t c = 0; c < shape.components; c++) {
    if (!components[c].is_kept)
      components[c].estimates[(pushed - 1) % ND_DENOISE_MAX_ESTIMATES] =
          measured_noise (c);
  }
  is_counting = false;
}

/* Returns when @volume has been read. */
void
Denoise::push (const NdSamples &volume)
{
  g_return_if_fail (!ready ());
  collect_noise ();
  const bool is_measured = settings.sigma == 0;
  const NdSamples here = uploads.bring_in (*context, volume, stream);

  if (pushed == 0)
    clear_counts ();
  for (size_t c = 0; c < shape.components; c++)
    read_component (here, size, type, c, components[c].filter->input (pushed),
        stream);
  was_read.record (stream);
  for (size_t c = 0; c < shape.components && is_measured; c++) {
    if (!components[c].is_kept)
      count_noise_of (c);
  }
  counted.record (stream);
  for (DenoisedComponent &component : components)
    component.filter->push (pushed, stream);
  is_counting = is_measured;
  pushed++;
  if (is_counting && !is_speckle)
    collect_noise ();
  else
    ND_CUDA (cudaEventSynchronize (was_read.get ()));
}

double
Denoise::noise_level (const DenoisedComponent &component) const
{
  const int n = (int) std::min<int64_t> (pushed, ND_DENOISE_MAX_ESTIMATES);

  if (settings.sigma > 0)
    return settings.sigma;
  std::vector<double> sorted (component.estimates, component.estimates + n);

  std::sort (sorted.begin (), sorted.end ());
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

void
Denoise::find_noise ()
{
  collect_noise ();
  for (DenoisedComponent &component : components) {
    if (!component.is_kept)
      component.sigma = noise_level (component);
  }
}

void
Denoise::run_component (size_t c, bool is_needed)
{
  DenoisedComponent &component = components[c];

  component.result = component.filter->input (next);
  component.is_counted = false;
  if (component.is_kept)
    return;
  const double sigma = settings.strength * (is_speckle ? 1 : component.sigma);
  const bool has_noise = sigma > ND_DENOISE_MIN_SIGMA;
  float *const result =
      component.filter->run ({ next, pushed, ended,
                                 std::max (sigma, ND_DENOISE_MIN_SIGMA),
                                 is_needed && has_noise },
          stream);

  if (!has_noise)
    return;
  component.is_counted = is_needed && component.table.count ();
  if (component.is_counted)
    count_clipped (component.result, result, size, (float) component.sigma, low,
        high, clipping_counts.get () + c, stream);
  component.result = result;
}

/* From the counts of the last output, which are on the host. */
void
Denoise::update_clipping ()
{
  for (size_t c = 0; c < shape.components; c++) {
    DenoisedComponent &component = components[c];
    NdClipping &clipping = component.clipping;
    const ClippingCounts &counts = host_clipping.get ()[c];

    if (!component.is_counted)
      continue;
    nd_clipping_add (&clipping, (double) counts.seen,
        std::ldexp ((double) counts.expected, -32), component.sigma, low, high);
    if (!clipping.is_active || component.table_sigma == clipping.sigma)
      continue;
    component.table_sigma = 0; /* if the upload fails */
    component.table.upload (clipping.table, ND_CLIPPING_TABLE + 1);
    component.table_sigma = clipping.sigma;
  }
}

/* Whether a component of the last output is corrected, with the counts that the
 * host has. */
bool
Denoise::is_corrected () const
{
  return std::any_of (components.begin (), components.end (),
      [] (const DenoisedComponent &component) {
        return component.is_counted && component.clipping.is_active;
      });
}

void
Denoise::write (const NdSamples &out)
{
  const NdSamples there = downloads.place (*context, out);

  for (size_t c = 0; c < shape.components; c++) {
    const DenoisedComponent &component = components[c];
    const NdClipping &clipping = component.clipping;
    Unclipping unclipping = {};

    if (component.is_counted && clipping.is_active)
      unclipping = { component.table.get (), clipping.low, clipping.high,
        clipping.span };
    write_component (there, size, type, c, component.result, unclipping,
        stream);
  }
  downloads.send_out (*context, out, stream);
}

void
Denoise::respond (const NdSamples *out)
{
  g_return_if_fail (ready ());

  if (!is_speckle)
    find_noise ();
  for (size_t c = 0; c < shape.components; c++)
    run_component (c, out != nullptr);

  /* Most streams are not corrected: the output is written before its counts are
   * known, and again if they begin a correction. */
  const bool was_corrected = is_corrected ();

  if (out && !was_corrected)
    write (*out);
  /* It is only reported. */
  if (is_speckle)
    find_noise ();
  ND_CUDA (cudaMemcpyAsync (host_clipping.get (), clipping_counts.get (),
      clipping_counts.bytes (), cudaMemcpyDeviceToHost, stream));
  counted.record (stream);
  ND_CUDA (cudaMemsetAsync (clipping_counts.get (), 0, clipping_counts.bytes (),
      stream));
  ND_CUDA (cudaEventSynchronize (counted.get ()));
  update_clipping ();
  if (out && (was_corrected || is_corrected ())) {
    write (*out);
    ND_CUDA (cudaStreamSynchronize (stream));
  }
  next++;
}

void
Denoise::set_strength (const NdDenoiseSettings &wanted)
{
  /* Volumes that were pushed while sigma was set have no estimate. */
  if (settings.sigma > 0 && wanted.sigma == 0) {
    for (DenoisedComponent &component : components)
      std::fill_n (component.estimates, ND_DENOISE_MAX_ESTIMATES,
          settings.sigma);
  }
  settings.sigma = wanted.sigma;
  settings.strength = wanted.strength;
}

double
Denoise::sigma () const
{
  double most = 0;

  for (const DenoisedComponent &component : components)
    most = std::max (most, component.sigma);
  return most;
}

} // namespace

std::unique_ptr<Algorithm>
make_denoise (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const NdShape &shape, NdSampleType type,
    guint64 kept, const ContextPointer &context)
{
  return std::make_unique<Denoise> (settings, borders, shape, type, kept,
      context);
}

} // namespace nd
