/* Denoising of a stream on the device: cpu/denoise.c, with volumes on the
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
  double sigma = 0; /* of the last output */
  NdClipping clipping = {};
  Memory<float> table;
  double table_sigma = 0; /* of the table on the device */
};

/* The bins that differences of integers can be in: 1 to 2^19. */
constexpr unsigned INTEGER_BIN = 127u << (23 - ND_NOISE_SHIFT);
constexpr unsigned INTEGER_BINS = 20u << (23 - ND_NOISE_SHIFT);

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
  double measure_noise (float *volume);
  double noise_level (const DenoisedComponent &component) const;
  float *run_filter (DenoisedComponent &component, bool is_needed);
  Unclipping update_clipping (DenoisedComponent &component, const float *in,
      const float *result);

  NdDenoiseSettings settings;
  const unsigned latency; /* volumes */
  const bool is_speckle;
  const NdShape shape;
  int size[3];
  const NdSampleType type;
  const float low, high;
  const Stream stream;
  std::vector<DenoisedComponent> components;

  Transfer uploads, downloads;
  unsigned first_bin, n_bins, n_parts;
  Memory<unsigned> bins;
  Memory<NoiseCounts> noise_counts;
  Memory<ClippingCounts> clipping_counts;
  Pinned<unsigned> host_bins;
  Pinned<NoiseCounts> host_noise;
  Pinned<ClippingCounts> host_clipping;

  int64_t pushed = 0; /* volumes so far */
  int64_t next = 0;   /* of the next output */
  bool ended = false;
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
      components (shape.components), uploads (shape, type),
      downloads (shape, type), first_bin (has_range (type) ? INTEGER_BIN : 1),
      n_bins (has_range (type) ? INTEGER_BINS + 1 : ND_NOISE_BINS),
      n_parts (has_range (type) ? ND_NOISE_PARTS : 1)
{
  size_t samples = 1;

  for (int a = 0; a < 3; a++) {
    if (shape.size[a] > 1 << 20)
      throw Error (ND_ERROR_SETTINGS,
          "nddenoise on the GPU takes up to 1048576 samples along an axis, "
          "not "
              + std::to_string (shape.size[a]) + ": use backend=cpu");
    size[a] = (int) shape.size[a];
    samples = multiply (samples, shape.size[a]);
  }
  bins.plan (multiply (n_bins, n_parts));
  noise_counts.plan (1);
  clipping_counts.plan (1);
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
  allocate_all (bins, noise_counts, clipping_counts);
  for (DenoisedComponent &component : components) {
    component.filter->allocate ();
    component.table.allocate ();
  }
  host_bins.grow (bins.count ());
  host_noise.grow (1);
  host_clipping.grow (1);
  reset ();
}

size_t
Denoise::bytes () const
{
  size_t sum = total_bytes (bins, noise_counts, clipping_counts);

  for (const DenoisedComponent &component : components)
    sum += component.filter->bytes () + component.table.bytes ();
  return sum;
}

void
Denoise::reset ()
{
  pushed = next = 0;
  ended = false;
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

/* The standard deviation of the noise in @volume; waits for the device. */
double
Denoise::measure_noise (float *volume)
{
  const size_t n = (size_t) n_bins * n_parts;
  NdNoiseHistogram parts[ND_NOISE_PARTS] = {};

  ND_CUDA (cudaMemsetAsync (bins.get (), 0, bins.bytes (), stream));
  ND_CUDA (cudaMemsetAsync (noise_counts.get (), 0, sizeof (NoiseCounts),
      stream));
  if (size[0] > 1 || size[1] > 1 || size[2] > 1)
    count_noise (volume, size, low, high, first_bin, n_bins, bins.get (),
        noise_counts.get (), stream);
  ND_CUDA (cudaMemcpyAsync (host_bins.get (), bins.get (),
      n * sizeof (unsigned), cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaMemcpyAsync (host_noise.get (), noise_counts.get (),
      sizeof (NoiseCounts), cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
  for (unsigned i = 0; i < n_parts; i++) {
    parts[i].bins = host_bins.get () + (size_t) i * n_bins;
    parts[i].first = first_bin;
    parts[i].n_bins = n_bins;
    parts[i].n = host_noise.get ()->n[i];
    parts[i].sum = host_noise.get ()->eighths[i] / 8.0
        + (has_range (type) ? (double) low * parts[i].n : 0);
  }
  return nd_noise_sigma (parts, n_parts, shape.size, low, high);
}

void
Denoise::push (const NdSamples &volume)
{
  g_return_if_fail (!ready ());
  const NdSamples here = uploads.bring_in (*context, volume, stream);

  for (size_t c = 0; c < shape.components; c++) {
    DenoisedComponent &component = components[c];
    float *in = component.filter->input (pushed);

    read_component (here, size, type, c, in, stream);
    if (component.is_kept)
      continue;
    component.filter->push (pushed, stream);
    if (settings.sigma == 0)
      component.estimates[pushed % ND_DENOISE_MAX_ESTIMATES] =
          measure_noise (in);
  }
  ND_CUDA (cudaStreamSynchronize (stream));
  pushed++;
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

/* The denoised volume; nullptr if there is no noise. */
float *
Denoise::run_filter (DenoisedComponent &component, bool is_needed)
{
  const double sigma = settings.strength * (is_speckle ? 1 : component.sigma);
  const bool has_noise = sigma > ND_DENOISE_MIN_SIGMA;
  float *result =
      component.filter->run ({ next, pushed, ended,
                                 std::max (sigma, ND_DENOISE_MIN_SIGMA),
                                 is_needed && has_noise },
          stream);

  return has_noise ? result : nullptr;
}

/* Waits for the device. */
Unclipping
Denoise::update_clipping (DenoisedComponent &component, const float *in,
    const float *result)
{
  NdClipping &clipping = component.clipping;
  const ClippingCounts &counts = *host_clipping.get ();

  if (!component.table.count ())
    return {};
  ND_CUDA (cudaMemsetAsync (clipping_counts.get (), 0, sizeof (ClippingCounts),
      stream));
  count_clipped (in, result, size, (float) component.sigma, low, high,
      clipping_counts.get (), stream);
  ND_CUDA (cudaMemcpyAsync (host_clipping.get (), clipping_counts.get (),
      sizeof (ClippingCounts), cudaMemcpyDeviceToHost, stream));
  ND_CUDA (cudaStreamSynchronize (stream));
  nd_clipping_add (&clipping, (double) counts.seen,
      std::ldexp ((double) counts.expected, -32), component.sigma, low, high);
  if (!clipping.is_active)
    return {};
  if (component.table_sigma != clipping.sigma) {
    component.table.upload (clipping.table, ND_CLIPPING_TABLE + 1);
    component.table_sigma = clipping.sigma;
  }
  return { component.table.get (), clipping.low, clipping.high, clipping.span };
}

void
Denoise::respond (const NdSamples *out)
{
  g_return_if_fail (ready ());
  const NdSamples there = out ? downloads.place (*context, *out) : NdSamples{};

  for (size_t c = 0; c < shape.components; c++) {
    DenoisedComponent &component = components[c];
    float *const in = component.filter->input (next), *result = in;
    Unclipping unclipping = {};

    if (!component.is_kept) {
      component.sigma = noise_level (component);
      result = run_filter (component, out != nullptr);
      if (!result)
        result = in;
      else if (out)
        unclipping = update_clipping (component, in, result);
    }
    if (out)
      write_component (there, size, type, c, result, unclipping, stream);
  }
  if (out)
    downloads.send_out (*context, *out, stream);
  ND_CUDA (cudaStreamSynchronize (stream));
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
