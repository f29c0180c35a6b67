/* Beams in vectors of ND_VECTOR samples of a row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/beamkernels.h"

#include "cpu/vectors.h"

typedef guint16 HMemory
    __attribute__ ((vector_size (2 * ND_VECTOR), aligned (2), may_alias));

/* Scan conversion */

INLINE V
load_share (const guint16 *from)
{
  const I whole = __builtin_convertvector (*(const HMemory *) from, I);

  return __builtin_convertvector (whole, V) * (1.0f / ND_SCAN_SHARE);
}

/* Loads of neighbours are faster than gathers. */
typedef gfloat Four __attribute__ ((vector_size (16)));
typedef gint32 Indices __attribute__ ((vector_size (16)));
typedef gfloat FourMemory
    __attribute__ ((vector_size (16), aligned (4), may_alias));

/* Two neighbours at @a, two at @b. */
INLINE Four
load_pairs (const gfloat *a, const gfloat *b)
{
#ifdef __SSE2__
  const __m128d low = _mm_load_sd ((const double *) a);

  return (Four) _mm_loadh_pd (low, (const double *) b);
#else
  return (Four){ a[0], a[1], b[0], b[1] };
#endif
}

/* Samples of share 0 do not count, because they may be NaN. */
INLINE gfloat
linear_sample (const gfloat *in, const gint32 strides[3], const gfloat *u,
    const gfloat *v, const gfloat *w)
{
  Four at = load_pairs (in, in + strides[1]);

  if (*w != 0) {
    in += strides[2];
    at += *w * (load_pairs (in, in + strides[1]) - at);
  }
  if (*v != 0)
    at += *v * (__builtin_shufflevector (at, at, 2, 3, 2, 3) - at);
  return *u != 0 ? at[0] + *u * (at[1] - at[0]) : at[0];
}

static void
scan_linear (const NdScanRow *row, gfloat *out)
{
  for (gsize i = 0; i < row->n; i += ND_VECTOR) {
    gfloat shares[3][ND_VECTOR];

    for (guint a = 0; a < 3; a++)
      store (shares[a], load_share (row->shares[a] + i));
    for (guint k = 0; k < ND_VECTOR; k++)
      out[i + k] = linear_sample (row->volume + row->at[i + k], row->strides,
          &shares[0][k], &shares[1][k], &shares[2][k]);
  }
}

INLINE void
cubic_weights (V t, gfloat weights[4][ND_VECTOR])
{
  store (weights[0], ((2 - t) * t - 1) * t * 0.5f);
  store (weights[1], ((3 * t - 5) * t * t + 2) * 0.5f);
  store (weights[2], ((4 - 3 * t) * t + 1) * t * 0.5f);
  store (weights[3], (t - 1) * t * t * 0.5f);
}

/* If @some, weights may be 0: their samples do not count, because they may be
 * NaN. */
INLINE gfloat
cubic_sample (const gfloat *in, const gint32 strides[3],
    const gfloat weights[3][4][ND_VECTOR], guint lane, gboolean some)
{
  const gboolean flat = strides[2] == 0;
  const Four x = { weights[0][0][lane], weights[0][1][lane],
    weights[0][2][lane], weights[0][3][lane] };
  Four sum = {};

  for (gint z = 0; z < (flat ? 1 : 4); z++) {
    const gfloat *plane = in - 1 + (flat ? 0 : (z - 1) * strides[2]);
    Four rows = {};

    if (some && !flat && weights[2][z][lane] == 0)
      continue;
    for (gint y = 0; y < 4; y++) {
      if (!some || weights[1][y][lane] != 0)
        rows += weights[1][y][lane]
            * *(const FourMemory *) (plane + (y - 1) * strides[1]);
    }
    sum += (flat ? 1 : weights[2][z][lane]) * rows;
  }
  if (some)
    sum = (Four) ((Indices) sum & (x != 0));
  return x[0] * sum[0] + x[1] * sum[1] + x[2] * sum[2] + x[3] * sum[3];
}

static void
scan_cubic (const NdScanRow *row, gfloat *out)
{
  for (gsize i = 0; i < row->n; i += ND_VECTOR) {
    gfloat weights[3][4][ND_VECTOR];

    for (guint a = 0; a < 3; a++)
      cubic_weights (load_share (row->shares[a] + i), weights[a]);
    for (guint k = 0; k < ND_VECTOR; k++) {
      const gsize s = i + k;
      const gfloat *in = row->volume + row->at[s];

      if (row->shares[0][s] == 0 || row->shares[1][s] == 0
          || (row->shares[2][s] == 0 && row->strides[2] != 0))
        out[s] = cubic_sample (in, row->strides, weights, k, TRUE);
      else
        out[s] = cubic_sample (in, row->strides, weights, k, FALSE);
    }
  }
}

/* Lines */

#define BLOCK 4

static void
fir (const gfloat *in, gsize step, const gfloat *taps, guint n_taps,
    guint stride, gsize n, gfloat *out)
{
  if (step == 1) {
    for (gsize i = 0; i < n; i += BLOCK * ND_VECTOR) {
      V sums[BLOCK] = {};

      for (guint k = 0; k < n_taps; k++)
        for (guint b = 0; b < BLOCK; b++)
          sums[b] += taps[k] * load (in + i + k * stride + b * ND_VECTOR);
      for (guint b = 0; b < BLOCK; b++)
        store (out + i + b * ND_VECTOR, sums[b]);
    }
    return;
  }
  for (gsize i = 0; i < n; i++) {
    V sum = {};
    gfloat total = 0;

    for (guint k = 0; k < n_taps; k += ND_VECTOR)
      sum += load (taps + k) * load (in + i * step + k);
    for (guint lane = 0; lane < ND_VECTOR; lane++)
      total += sum[lane];
    out[i] = total;
  }
}

/* Of numbers above 0: the exponent, and of the rest m, from sqrt (1/2) to
 * sqrt (2), 2 / ln 2 times the series of atanh ((m - 1) / (m + 1)). */
INLINE V
log2_of (V x)
{
  const I bits = (I) x;
  const I exponent = (bits - 0x3f3504f3) >> 23;
  const V m = (V) (bits - (exponent << 23));
  const V s = (m - 1) / (m + 1), t = s * s;
  const V series = 2.88539008f
      + t
          * (0.961796694f
              + t * (0.577078016f + t * (0.412198583f + t * 0.320598898f)));

  return __builtin_convertvector (exponent, V) + s * series;
}

static void
compress (const gfloat *re, const gfloat *im, const gfloat *offset,
    gfloat scale, gfloat white, gsize n, gfloat *out)
{
  for (gsize i = 0; i < n; i += ND_VECTOR) {
    const V a = load (re + i), b = load (im + i), power = a * a + b * b;
    const V grey = load (offset + i) + scale * log2_of (power);
    const I below = grey < white;
    const V high = (V) (((I) grey & below) | ((I) ((V){} + white) & ~below));

    store (out + i, (V) ((I) high & (high > 0) & (power > 0)));
  }
}

extern const NdBeamKernels ND_TARGET_TABLE (nd_beam_kernels);
const NdBeamKernels ND_TARGET_TABLE (nd_beam_kernels) = {
  .scan_linear = scan_linear,
  .scan_cubic = scan_cubic,
  .fir = fir,
  .compress = compress,
};
