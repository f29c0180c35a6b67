/* Method `fft`: transforms blocks, pieces of rows or whole volumes, whichever
 * is estimated to be fastest. For tests, the variable NDCONV_CPU_FFT of the
 * environment chooses `blocks`, `lines` or `whole`, if that can do the job.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include <math.h>

static const struct
{
  const gchar *name;
  const NdCpuMethod *method;
} ways[] = { { "blocks", &nd_cpu_fft_blocks }, { "lines", &nd_cpu_fft_lines },
  { "whole", &nd_cpu_fft_whole } };

/* @error is that of whole volumes, if no way is possible. */
static const NdCpuMethod *
fft_cheapest (const NdJob *job, const NdRingOptions *options, gdouble *seconds,
    GError **error)
{
  const gchar *wanted = g_getenv ("NDCONV_CPU_FFT");
  const NdCpuMethod *best = &nd_cpu_fft_whole;

  *seconds = INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    const NdCpuMethod *method = ways[i].method;
    const gdouble cost = method->cost (job, options,
        method == &nd_cpu_fft_whole && !isfinite (*seconds) ? error : NULL);
    const gboolean is_wanted =
        isfinite (cost) && g_strcmp0 (wanted, ways[i].name) == 0;

    if (cost < *seconds || is_wanted) {
      *seconds = cost;
      best = method;
    }
    if (is_wanted)
      break;
  }
  return best;
}

static gdouble
fft_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  gdouble seconds;

  fft_cheapest (job, options, &seconds, error);
  return seconds;
}

static const NdCpuMethod *
fft_choose (const NdJob *job, const NdRingOptions *options)
{
  gdouble seconds;

  return fft_cheapest (job, options, &seconds, NULL);
}

const NdCpuMethod nd_cpu_fft = {
  .cost = fft_cost,
  .choose = fft_choose,
};
