/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/noisespectrum.h"

#include "analysis/denoise.h"
#include "cpu/denoisesamples.h"
#include "engine/border.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COEFFICIENTS ND_SPECTRUM_COEFFICIENTS
/* No coefficient has less of the largest noise. */
#define LEAST 1e-4

static const gfloat basis[4][4] = {
  { .5f, .5f, .5f, .5f },
  { .65328148f, .27059805f, -.27059805f, -.65328148f },
  { .5f, -.5f, -.5f, .5f },
  { .27059805f, -.65328148f, .65328148f, -.27059805f },
};

/* The orthonormal DCT along the axis of this step. */
static void
transform_axis (gfloat *block, guint n, guint step)
{
  for (guint i = 0; i < n; i++) {
    gfloat line[4];

    if (i / step % 4 != 0)
      continue;
    for (guint k = 0; k < 4; k++) {
      line[k] = 0;
      for (guint j = 0; j < 4; j++)
        line[k] += basis[k][j] * block[i + j * step];
    }
    for (guint k = 0; k < 4; k++)
      block[i + k * step] = line[k];
  }
}

/* FALSE if the block has samples that are not finite, or is constant. */
static gboolean
read_block (const gfloat *volume, const gsize size[3], const gsize at[3],
    guint n, gfloat *block)
{
  gboolean is_constant = TRUE;

  for (guint i = 0; i < n; i++) {
    const guint offset[3] = { i % 4, i / 4 % 4, i / 16 };
    gsize from = 0;

    for (gint a = 2; a >= 0; a--)
      from = from * size[a]
          + nd_border_index (ND_BORDER_MIRROR, at[a] + offset[a], size[a]);
    block[i] = volume[from];
    if (!isfinite (block[i]))
      return FALSE;
    is_constant &= block[i] == block[0];
  }
  return !is_constant;
}

static gint
compare_magnitudes (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

/* Sets the medians of the magnitudes. */
static gboolean
measure (const gfloat *volume, const gsize size[3], gdouble *sigma)
{
  const guint n = size[2] > 1 ? COEFFICIENTS : COEFFICIENTS / 4;
  gsize blocks[3], step = 1, room, count = 0;
  g_autofree gfloat *magnitudes = NULL;
  gdouble most = 0;

  do {
    room = 1;
    for (guint a = 0; a < 3; a++) {
      blocks[a] = size[a] > 4 ? (size[a] - 4) / step + 1 : 1;
      room *= blocks[a];
    }
    step++;
  } while (room > ND_SPECTRUM_BLOCKS);
  step--;
  magnitudes = g_try_new (gfloat, room * n);
  if (!magnitudes)
    return FALSE;
  for (gsize i = 0; i < room; i++) {
    const gsize at[3] = { i % blocks[0] * step,
      i / blocks[0] % blocks[1] * step, i / blocks[0] / blocks[1] * step };
    gfloat block[COEFFICIENTS];

    if (!read_block (volume, size, at, n, block))
      continue;
    for (guint s = 1; s < n; s *= 4)
      transform_axis (block, n, s);
    for (guint k = 0; k < n; k++)
      magnitudes[k * room + count] = fabsf (block[k]);
    count++;
  }
  if (count == 0)
    return FALSE;
  for (guint k = 0; k < n; k++) {
    gfloat *m = magnitudes + k * room;

    qsort (m, count, sizeof (gfloat), compare_magnitudes);
    sigma[k] = (m[(count - 1) / 2] + m[count / 2]) / 2 / ND_NOISE_MEDIAN;
    most = MAX (most, sigma[k]);
  }
  for (guint k = 0; k < COEFFICIENTS; k++)
    sigma[k] = k < n ? MAX (sigma[k], LEAST * most) : most;
  return most > ND_DENOISE_MIN_SIGMA;
}

gboolean
nd_noise_spectrum_measure (const gfloat *volume, const gfloat *before,
    const gsize size[3], NdNoiseSpectrum *spectrum)
{
  const gsize samples = size[0] * size[1] * size[2];
  g_autofree gfloat *difference = g_try_new (gfloat, samples);
  g_autofree gfloat *coarse = NULL;
  gsize coarse_size[3];

  if (!difference)
    return FALSE;
  for (gsize i = 0; i < samples; i++)
    difference[i] =
        before ? (volume[i] - before[i]) * (gfloat) (G_SQRT2 / 2) : volume[i];
  if (!measure (difference, size, spectrum->sigma[0]))
    return FALSE;
  if (!nd_cpu_coarse_size (size, coarse_size)) {
    memcpy (spectrum->sigma[1], spectrum->sigma[0],
        sizeof (spectrum->sigma[0]));
    return TRUE;
  }
  coarse = g_try_new (gfloat, coarse_size[0] * coarse_size[1] * coarse_size[2]);
  if (!coarse)
    return FALSE;
  nd_cpu_coarsen (difference, size, coarse);
  return measure (coarse, coarse_size, spectrum->sigma[1]);
}

static gint
compare_sigmas (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

void
nd_noise_spectrum_combine (const NdNoiseSpectrum *spectra, guint n,
    NdNoiseSpectrum *result)
{
  gdouble values[ND_DENOISE_MAX_ESTIMATES];

  n = MIN (n, ND_DENOISE_MAX_ESTIMATES);
  for (guint i = 0; i < 2 * COEFFICIENTS; i++) {
    for (guint t = 0; t < n; t++)
      values[t] = spectra[t].sigma[i / COEFFICIENTS][i % COEFFICIENTS];
    qsort (values, n, sizeof (gdouble), compare_sigmas);
    result->sigma[i / COEFFICIENTS][i % COEFFICIENTS] =
        (values[(n - 1) / 2] + values[n / 2]) / 2;
  }
}

gdouble
nd_noise_spectrum_difference (const NdNoiseSpectrum *a,
    const NdNoiseSpectrum *b)
{
  gdouble sum = 0;

  for (guint i = 0; i < 2 * COEFFICIENTS; i++) {
    const gdouble x = a->sigma[i / COEFFICIENTS][i % COEFFICIENTS];
    const gdouble y = b->sigma[i / COEFFICIENTS][i % COEFFICIENTS];

    sum += pow ((x - y) / (x + y) * 2, 2);
  }
  return sqrt (sum / (2 * COEFFICIENTS));
}

gdouble
nd_noise_spectrum_sigma (const NdNoiseSpectrum *spectrum, gboolean is_flat)
{
  const guint n = is_flat ? COEFFICIENTS / 4 : COEFFICIENTS;
  gdouble sum = 0;

  for (guint k = 0; k < n; k++)
    sum += spectrum->sigma[0][k] * spectrum->sigma[0][k] / n;
  return sqrt (sum);
}
