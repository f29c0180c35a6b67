/* Method `fft`: transforms blocks or whole volumes, whichever is estimated to
 * be faster. For tests, the environment variable NDCONV_CPU_FFT chooses
 * `blocks` or `whole`. If the filters are too large for blocks, whole volumes
 * are transformed in any case.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include <math.h>

/* @error is that of whole volumes, if neither way is possible. */
static const NdCpuMethod *
fft_cheapest (const NdJob *job, const NdRingOptions *options, gdouble *seconds,
    GError **error)
{
  const gchar *wanted = g_getenv ("NDCONV_CPU_FFT");
  const gdouble blocks = nd_cpu_fft_blocks.cost (job, options, NULL);
  const gdouble whole =
      nd_cpu_fft_whole.cost (job, options, isfinite (blocks) ? NULL : error);
  gboolean use_blocks = blocks < whole;

  if (g_strcmp0 (wanted, "whole") == 0)
    use_blocks = !isfinite (whole);
  else if (g_strcmp0 (wanted, "blocks") == 0)
    use_blocks = isfinite (blocks);
  *seconds = use_blocks ? blocks : whole;
  return use_blocks ? &nd_cpu_fft_blocks : &nd_cpu_fft_whole;
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
