/* Denoising of a stream on the device: cpu/denoise.c, with volumes on the
 * device. The noise level and the correction of clipping are decided by the
 * host, from counts of the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/algorithm.h"
#include "cuda/analysis/scale.h"
#include "cuda/pinned.h"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

struct DenoisedComponent
{
  ~DenoisedComponent () { nd_clipping_clear (&clipping); }

  bool is_kept = false;
  std::unique_ptr<DenoiseScale> fine, coarse;
  Memory<float> difference; /* a coarse volume */
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
  void run_stage1 (DenoisedComponent &component, int64_t step, int64_t known,
      double sigma);
  float *run_stage2 (DenoisedComponent &component, int64_t step, int64_t known,
      double sigma);
  void fuse (DenoisedComponent &component, float *fine, const float *coarse);
  float *run_steps (DenoisedComponent &component);
  Unclipping update_clipping (DenoisedComponent &component, const float *in,
      const float *result);

  NdDenoiseSettings settings;
  const NdDenoiseSchedule schedule;
  const NdShape shape;
  const NdSampleType type;
  const float low, high;
  double coarse_gain = 0;    /* of the noise; 0 without a coarse scale */
  const Stream stream, side; /* the coarse scale runs beside the fine one */
  const Event begun, coarse_done;
  std::vector<DenoisedComponent> components;

  Transfer uploads, downloads;
  unsigned first_bin, n_bins, n_parts;
  Memory<unsigned> bins;
  Memory<NoiseCounts> noise_counts;
  Memory<ClippingCounts> clipping_counts;
  Pinned<unsigned> host_bins;
  Pinned<NoiseCounts> host_noise;
  Pinned<ClippingCounts> host_clipping;

  int64_t pushed = 0;           /* volumes so far */
  int64_t next = 0;             /* of the next output */
  int64_t done1 = 0, done2 = 0; /* steps of the two stages so far */
  bool ended = false;
};

/* Throws if only the CPU supports @settings. */
void
check_settings (const NdDenoiseSettings &settings)
{
  const char *what = nullptr;

  if (settings.method != ND_DENOISE_TRANSFORM)
    what = "method=adaptive";
  else if (settings.noise != ND_NOISE_ADDITIVE)
    what = "noise=speckle";
  else if (settings.motion)
    what = "motion=true";
  else if (settings.quality != ND_QUALITY_FAST)
    what = "quality=best";
  if (what)
    throw Error (ND_ERROR_SETTINGS,
        std::string (what) + " runs on the CPU only: use backend=cpu or auto");
}

const NdDenoiseSettings &
checked (const NdDenoiseSettings &settings)
{
  check_settings (settings);
  return settings;
}

bool
has_range (NdSampleType type)
{
  return std::isfinite (nd_sample_low (type));
}

Denoise::Denoise (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const NdShape &shape, NdSampleType type,
    guint64 kept, const ContextPointer &context)
    : Algorithm (context), settings (checked (settings)),
      schedule (nd_denoise_schedule (&settings)), shape (shape), type (type),
      low (nd_sample_low (type)), high (nd_sample_high (type)),
      begun (*context), coarse_done (*context), components (shape.components),
      uploads (shape, type), downloads (shape, type),
      first_bin (has_range (type) ? INTEGER_BIN : 1),
      n_bins (has_range (type) ? INTEGER_BINS + 1 : ND_NOISE_BINS),
      n_parts (has_range (type) ? ND_NOISE_PARTS : 1), bins (n_bins * n_parts),
      noise_counts (1), clipping_counts (1), host_bins (n_bins * n_parts),
      host_noise (1), host_clipping (1)
{
  size_t coarse[3], needed = 0;

  if (nd_denoise_has_coarse_scale (shape.size))
    coarse_gain = 1;
  for (int a = 0; a < 3; a++) {
    coarse[a] = (shape.size[a] + 1) / 2;
    coarse_gain *= shape.size[a] > 1 ? M_SQRT1_2 : 1;
  }
  for (size_t c = 0; c < shape.components; c++) {
    DenoisedComponent &component = components[c];

    component.is_kept = c < 64 && (kept >> c & 1);
    component.fine =
        std::make_unique<DenoiseScale> (shape.size, schedule, borders);
    needed += component.fine->bytes ();
    if (component.is_kept || coarse_gain == 0)
      continue;
    component.coarse =
        std::make_unique<DenoiseScale> (coarse, schedule, borders);
    component.difference.plan (component.coarse->samples);
    needed += component.coarse->bytes () + component.difference.bytes ();
  }
  expect_free (needed);
  for (DenoisedComponent &component : components) {
    component.fine->allocate ();
    if (component.coarse)
      component.coarse->allocate ();
    component.difference.allocate ();
    if (has_range (type)) {
      component.table.plan (ND_CLIPPING_TABLE + 1);
      component.table.allocate ();
    }
  }
  reset ();
}

size_t
Denoise::bytes () const
{
  size_t sum = bins.bytes ();

  for (const DenoisedComponent &component : components)
    sum += component.fine->bytes ()
        + (component.coarse ? component.coarse->bytes () : 0)
        + component.difference.bytes ();
  return sum;
}

void
Denoise::reset ()
{
  pushed = next = done1 = 0;
  done2 = schedule.pilot_latency;
  ended = false;
  for (DenoisedComponent &component : components)
    nd_clipping_reset (&component.clipping);
}

bool
Denoise::ready () const
{
  return next < pushed && (ended || pushed > next + schedule.latency);
}

/* The standard deviation of the noise in @volume; waits for the device. */
double
Denoise::measure_noise (float *volume)
{
  const size_t n = (size_t) n_bins * n_parts;
  const int size[3] = { (int) shape.size[0], (int) shape.size[1],
    (int) shape.size[2] };
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
    DenoiseScale &fine = *component.fine;
    float *in = fine.input (pushed);

    read_component (here, fine.size, type, c, in, stream);
    if (component.is_kept)
      continue;
    if (component.coarse)
      coarsen (in, fine.size, nullptr, component.coarse->input (pushed),
          stream);
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

/* fine += U (coarse - D fine) */
void
Denoise::fuse (DenoisedComponent &component, float *fine, const float *coarse)
{
  coarsen (fine, component.fine->size, coarse, component.difference.get (),
      stream);
  add_refined (fine, component.fine->size, component.difference.get (), stream);
}

void
Denoise::run_stage1 (DenoisedComponent &component, int64_t step, int64_t known,
    double sigma)
{
  const int64_t pilot = step - schedule.pilot_latency;

  if (component.coarse) {
    begun.record (stream);
    begun.make_wait (side);
    component.coarse->stage1 (step, known, sigma * coarse_gain, side);
    coarse_done.record (side);
  }
  component.fine->stage1 (step, known, sigma, stream);
  if (!component.coarse)
    return;
  coarse_done.make_wait (stream);
  if (pilot >= 0 && pilot < known)
    fuse (component, component.fine->pilot (pilot),
        component.coarse->pilot (pilot));
}

float *
Denoise::run_stage2 (DenoisedComponent &component, int64_t step, int64_t known,
    double sigma)
{
  const float *coarse = nullptr;

  if (component.coarse) {
    begun.record (stream);
    begun.make_wait (side);
    coarse = component.coarse->stage2 (step, known, sigma * coarse_gain, side);
    coarse_done.record (side);
  }
  float *fine = component.fine->stage2 (step, known, sigma, stream);

  if (component.coarse)
    coarse_done.make_wait (stream);
  if (component.coarse && fine)
    fuse (component, fine, coarse);
  return fine;
}

/* Runs all steps that the next output needs; at the start of the stream there
 * are several. Returns the denoised volume. */
float *
Denoise::run_steps (DenoisedComponent &component)
{
  const int64_t last = next + schedule.latency;
  const int64_t known = std::min (last + 1, pushed);
  const int64_t known_pilots =
      std::min (last + 1 - (int64_t) schedule.pilot_latency, pushed);
  const double sigma = nd_denoise_time_gain (&schedule, pushed, ended)
      * std::max (component.sigma * settings.strength, ND_DENOISE_MIN_SIGMA);
  float *result = nullptr;

  for (int64_t step = done1; step <= last; step++) {
    if (step - (int64_t) schedule.pilot_latency < pushed)
      run_stage1 (component, step, known, (float) sigma);
  }
  for (int64_t step = done2; step <= last; step++)
    result = run_stage2 (component, step, known_pilots, (float) sigma);
  return result;
}

/* Waits for the device. */
Unclipping
Denoise::update_clipping (DenoisedComponent &component, const float *in,
    const float *result)
{
  NdClipping &clipping = component.clipping;
  const ClippingCounts &counts = *host_clipping.get ();

  if (!has_range (type))
    return {};
  ND_CUDA (cudaMemsetAsync (clipping_counts.get (), 0, sizeof (ClippingCounts),
      stream));
  count_clipped (in, result, component.fine->size, (float) component.sigma, low,
      high, clipping_counts.get (), stream);
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
    float *const in = component.fine->input (next), *result = in;
    Unclipping unclipping = {};

    if (!component.is_kept) {
      component.sigma = noise_level (component);
      result = run_steps (component);
      if (!(component.sigma * settings.strength > ND_DENOISE_MIN_SIGMA))
        result = in;
      else if (out)
        unclipping = update_clipping (component, in, result);
    }
    if (out)
      write_component (there, component.fine->size, type, c, result, unclipping,
          stream);
  }
  if (out)
    downloads.send_out (*context, *out, stream);
  ND_CUDA (cudaStreamSynchronize (stream));
  done1 = done2 = next + schedule.latency + 1;
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
