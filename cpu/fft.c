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

typedef struct
{
  const NdCpuMethod *method;
  gpointer state;
} Fft;

/* @error is that of whole volumes, if neither way is possible. */
static const NdCpuMethod *
fft_choose (const NdJob *job, const NdRingOptions *options, gdouble *seconds,
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

  fft_choose (job, options, &seconds, error);
  return seconds;
}

static void
fft_destroy (gpointer state)
{
  Fft *fft = state;

  if (fft->state)
    fft->method->destroy (fft->state);
  g_free (fft);
}

static gpointer
fft_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Fft *fft = g_new0 (Fft, 1);
  gdouble seconds;

  fft->method = fft_choose (job, options, &seconds, NULL);
  fft->state = fft->method->create (job, options, error);
  if (!fft->state)
    g_clear_pointer (&fft, fft_destroy);
  return fft;
}

static gsize
fft_bytes (gconstpointer state)
{
  const Fft *fft = state;

  return fft->method->bytes (fft->state);
}

static void
fft_push (gpointer state, guint slot, const NdSamples *volume)
{
  const Fft *fft = state;

  fft->method->push (fft->state, slot, volume);
}

static void
fft_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  const Fft *fft = state;

  fft->method->respond (fft->state, slots, scale, out);
}

const NdCpuMethod nd_cpu_fft = {
  .cost = fft_cost,
  .create = fft_create,
  .destroy = fft_destroy,
  .bytes = fft_bytes,
  .push = fft_push,
  .respond = fft_respond,
};
