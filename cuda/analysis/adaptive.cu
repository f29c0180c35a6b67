/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/adaptive.h"

#include "analysis/structure.h"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

constexpr int REACH = ND_ADAPTIVE_TIME_REACH;
constexpr int LOW = ND_ADAPTIVE_NODES;

/* Time gains nothing on speckle, because it moves with the tissue. */
bool
filters_time (const NdDenoiseSettings &settings)
{
  return settings.axes != ND_AXES_SPACE && settings.noise != ND_NOISE_SPECKLE;
}

const NdAdaptiveGaussian &
get_gaussian (const NdAdaptiveBand &band, int i)
{
  return i == LOW ? band.low : band.nodes[i];
}

/* The weights of one sum over time, and the sum of a volume of border_value. */
void
set_sum (AdaptiveSmooth &a, int sum, const NdAdaptiveGaussian &gaussian,
    int order)
{
  double total = 0;

  for (double weight : gaussian.time[order])
    total += weight;
  a.edges[sum] = order == 1 ? 0 : (float) (total * a.border_value);
  for (int u = 0; u <= REACH; u++)
    a.time[sum][u] = (float) gaussian.time[order][REACH + u];
}

} // namespace

AdaptiveFilter::AdaptiveFilter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3],
    SpeckleQuantile find_quantile)
    : remap (settings.remap), borders (borders),
      quantile (std::move (find_quantile)),
      latency (nd_denoise_schedule (&settings).latency)
{
  const bool has_time = filters_time (settings);

  nd_adaptive_design_init (&design, size[2] == 1 ? 2 : 3, has_time);
  n_inputs = has_time ? REACH + 1 + latency : 1;
  volume.samples = 1;
  for (int a = 0; a < 3; a++) {
    volume.size[a] = (int) size[a];
    volume.samples = multiply (volume.samples, size[a]);
  }
  volume.border = borders.border;
  volume.is_deep = design.space_axes == 3;
  volume.has_time = has_time;
  for (int i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    smoothing[i] = plan_smoothing (i);
    controls[i] = plan_control (i);
  }
  inputs.plan (multiply (volume.samples, n_inputs));
  base.plan (multiply (volume.samples, has_time ? 3 : 1));
  low.plan (multiply (volume.samples, 2));
  result.plan (volume.samples);
  planes.plan (multiply (volume.samples,
      std::max (has_time ? ADAPTIVE_SUMS : ADAPTIVE_GAUSSIANS,
          (int) nd_tensor_components (design.axes))));
  trace.plan (quantile ? volume.samples : 0);
}

AdaptiveSmooth
AdaptiveFilter::plan_smoothing (int i) const
{
  const NdAdaptiveBand &band = design.bands[i];
  AdaptiveSmooth a = {};

  a.volume = volume;
  a.border_value = borders.border_value;
  for (int k = 0; k <= LOW; k++) {
    const NdAdaptiveGaussian &gaussian = get_gaussian (band, k);

    a.radius = std::max (a.radius, (int) gaussian.radius);
    std::copy_n (gaussian.space, gaussian.radius + 1, a.space[k]);
    if (!volume.has_time || k == LOW)
      set_sum (a, volume.has_time ? 3 * k : k, gaussian, 0);
    for (int order = 0; volume.has_time && k < LOW && order < 3; order++)
      set_sum (a, 3 * k + order, gaussian, order);
  }
  return a;
}

AdaptiveControl
AdaptiveFilter::plan_control (int i) const
{
  const NdAdaptiveBand &band = design.bands[i];
  AdaptiveControl a = {};

  a.band.volume = volume;
  a.band.edge = (float) (band.sum * borders.border_value);
  a.band.scale = a.scale = 1;
  a.band.gradient = (float) band.gradient;
  a.band.radius = band.radius;
  std::copy_n (band.window, band.radius + 1, a.band.window);
  a.floor = (float) band.floor;
  a.min_value = (float) ND_ADAPTIVE_MIN_VALUE;
  a.m_beta = (float) remap.m_beta;
  a.m_power = (float) (remap.m_beta + remap.m_alpha);
  a.m_root = (float) (1 / remap.m_j);
  a.m_sigma = (float) std::pow (band.m_sigma * remap.m_sigma, remap.m_beta);
  a.keep = (float) std::pow (ND_ADAPTIVE_KEEP * remap.m_sigma, remap.m_beta);
  a.mu_alpha = (float) remap.mu_alpha;
  a.mu_beta = (float) remap.mu_beta;
  a.mu_root = (float) (1 / remap.mu_j);
  a.is_first = i == 0;
  a.is_last = i == ND_ADAPTIVE_BANDS - 1;
  return a;
}

size_t
AdaptiveFilter::bytes () const
{
  return total_bytes (inputs, base, low, result, planes, trace);
}

void
AdaptiveFilter::allocate ()
{
  allocate_all (inputs, base, low, result, planes, trace);
}

float *
AdaptiveFilter::input (int64_t position)
{
  return inputs.get () + position % n_inputs * volume.samples;
}

void
AdaptiveFilter::run_band (int i, const DenoiseOutput &output,
    const float *above, cudaStream_t stream)
{
  const NdAdaptiveBand &band = design.bands[i];
  const int64_t known =
      std::min (output.position + (int64_t) latency + 1, output.pushed);
  AdaptiveSmooth smooth = smoothing[i];
  AdaptiveControl control = controls[i];

  smooth.sums = control.band.tensor = planes.get ();
  smooth.low = low.get () + i % 2 * volume.samples;
  for (int order = 0; order < (volume.has_time ? 3 : 1); order++) {
    smooth.base[order] = base.get () + order * volume.samples;
    control.band.base[order] = smooth.base[order];
  }
  if (!volume.has_time)
    smooth.in[0] = input (output.position);
  for (int u = -REACH; volume.has_time && u <= REACH; u++) {
    const int64_t from =
        nd_border_index (borders.time_border, output.position + u, known);

    smooth.in[REACH + u] = from < 0 ? nullptr : input (from);
  }
  smooth_adaptive_planes (smooth, stream);
  smooth_adaptive_depth (smooth, stream);

  if (!quantile)
    control.band.scale = (float) (1 / (output.sigma * std::sqrt (band.noise)));
  make_adaptive_tensors (control.band, stream);
  if (quantile) {
    trace_adaptive_tensors (control.band, trace.get (), stream);
    control.trace = quantile (trace.get (), input (output.position), stream);
    control.speckle =
        (float) (band.speckle / design.axes * output.sigma * output.sigma);
  }
  control.above = above;
  control.low = smooth.low;
  control.out = result.get ();
  add_adaptive_band (control, stream);
}

float *
AdaptiveFilter::run (const DenoiseOutput &output, cudaStream_t stream)
{
  const float *above = input (output.position);

  for (int i = 0; output.is_needed && i < ND_ADAPTIVE_BANDS; i++) {
    run_band (i, output, above, stream);
    above = low.get () + i % 2 * volume.samples;
  }
  return result.get ();
}

} // namespace nd
