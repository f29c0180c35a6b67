/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/denoise.h"

#include "analysis/adaptive.h"

#include <math.h>

gboolean
nd_denoise_has_step (const NdDenoiseSettings *settings)
{
  return settings->noise == ND_NOISE_POISSON
      || settings->noise == ND_NOISE_RICIAN
      || settings->noise == ND_NOISE_CORRELATED || settings->has_map;
}

NdDenoiseSchedule
nd_denoise_schedule (const NdDenoiseSettings *settings)
{
  const guint latency = MIN (settings->latency, ND_DENOISE_MAX_LATENCY);

  if (settings->noise == ND_NOISE_SPECKLE)
    return (NdDenoiseSchedule){ .latency = MIN (latency, 1) };
  if (settings->method == ND_DENOISE_ADAPTIVE)
    return (NdDenoiseSchedule){
      .latency = settings->axes == ND_AXES_SPACE
          ? 0
          : MIN (latency, ND_ADAPTIVE_TIME_REACH),
    };
  /* Blocks of 8 volumes are worse than those of 4 if few later volumes are
   * known, because then most of them begin long before the result. */
  if (settings->quality == ND_QUALITY_BEST || settings->motion) {
    const gboolean is_long = latency >= ND_DENOISE_LONG_LATENCY
        && !settings->motion && settings->noise != ND_NOISE_CORRELATED;
    const guint n_time = is_long ? 8 : 4;

    return (NdDenoiseSchedule){
      .n_time = n_time,
      .pilot_latency = latency,
      .latency = latency,
      .n_blocks = MIN (latency + 1, n_time),
      .motion = settings->motion,
    };
  }
  /* A later block goes to stage 2 first, because it improves the result more
   * than the pilot. */
  return (NdDenoiseSchedule){
    .n_time = 4,
    .pilot_latency = latency > 3 ? latency - 3 : 0,
    .latency = latency,
  };
}

gboolean
nd_denoise_block_counts (const NdDenoiseSchedule *schedule, gint64 first,
    gint64 known)
{
  const gint64 end = first + schedule->n_time;

  return end <= known && (first >= 0 || end == known);
}

void
nd_denoise_window (const NdDenoiseSettings *settings, guint *before,
    guint *after)
{
  const NdDenoiseSchedule schedule = nd_denoise_schedule (settings);

  *after = schedule.latency;
  if (settings->noise == ND_NOISE_SPECKLE)
    *before = 1;
  else if (settings->method == ND_DENOISE_TRANSFORM)
    *before = (schedule.motion ? 3 : 2) * (schedule.n_time - 1);
  else
    *before = settings->axes == ND_AXES_SPACE ? 0 : ND_ADAPTIVE_TIME_REACH;
}

gdouble
nd_denoise_axis_gain (gsize n, guint block)
{
  gdouble sum = 0;

  if (n >= block)
    return 1;
  /* A block that extends beyond the axis contains mirrored samples twice. */
  for (gsize i = 0; i < n; i++) {
    const gdouble count = block / n + (i < block % n ? 1 : 0);

    sum += count * count;
  }
  return sqrt (sum / block);
}

gdouble
nd_denoise_time_gain (const NdDenoiseSchedule *schedule, gsize n_volumes,
    gboolean ended)
{
  if (!ended || n_volumes > schedule->latency || schedule->n_time == 0)
    return 1;
  return nd_denoise_axis_gain (n_volumes, schedule->n_time);
}

gdouble
nd_normal_density (gdouble x)
{
  return exp (-.5 * x * x) / sqrt (2 * G_PI);
}

gdouble
nd_normal_probability (gdouble x)
{
  return .5 * erfc (-x / G_SQRT2);
}

gdouble
nd_clipped_mean (gdouble value, gdouble sigma, gdouble low, gdouble high)
{
  gdouble a = (low - value) / sigma, b = (high - value) / sigma;
  gdouble below = nd_normal_probability (a), above = nd_normal_probability (-b);

  return low * below + high * above + value * (1 - below - above)
      + sigma * (nd_normal_density (a) - nd_normal_density (b));
}

/* The share of samples that are not clipped: the slope of the clipped mean. */
static gdouble
share_inside (gdouble value, gdouble sigma, gdouble low, gdouble high)
{
  return nd_normal_probability ((high - value) / sigma)
      - nd_normal_probability ((low - value) / sigma);
}

/* Newton's method, or bisection if that leaves the interval of the result,
 * because the clipped mean rises with the value. */
gdouble
nd_unclipped_mean (gdouble mean, gdouble sigma, gdouble low, gdouble high)
{
  gdouble from = low, to = high, value = CLAMP (mean, low, high);

  for (guint i = 0; i < 60 && to - from > 1e-13 * (high - low); i++) {
    const gdouble error = nd_clipped_mean (value, sigma, low, high) - mean;
    const gdouble slope = share_inside (value, sigma, low, high);
    gdouble next = value - error / slope;

    if (error < 0)
      from = value;
    else
      to = value;
    if (fabs (next - value) <= 1e-13 * (high - low))
      return value;
    if (!(next > from && next < to))
      next = (from + to) / 2;
    value = next;
  }
  return value;
}

/* Newton's method, starting at the previous entry. */
void
nd_unclip_table (gdouble sigma, gdouble low, gdouble high, gdouble span,
    guint n, gfloat *table)
{
  const gdouble least = nd_clipped_mean (low, sigma, low, high);
  gdouble value = low;

  for (guint i = 0; i <= n; i++) {
    const gdouble mean = low + span * i / n;

    for (guint k = 0; k < 4 && mean > least; k++) {
      const gdouble slope = share_inside (value, sigma, low, high);

      value +=
          (mean - nd_clipped_mean (value, sigma, low, high)) / MAX (slope, .1);
    }
    table[i] = value - low;
  }
}
