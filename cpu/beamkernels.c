/* Beams in vectors of ND_VECTOR samples of a row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/beamkernels.h"

#include "cpu/simd.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define ND_VECTOR (ND_VECTOR_BYTES / 4)
#define INLINE static inline __attribute__ ((always_inline))

typedef gfloat V __attribute__ ((vector_size (4 * ND_VECTOR)));
typedef gint32 I __attribute__ ((vector_size (4 * ND_VECTOR)));
typedef gfloat VMemory
    __attribute__ ((vector_size (4 * ND_VECTOR), aligned (4), may_alias));
typedef gint32 IMemory
    __attribute__ ((vector_size (4 * ND_VECTOR), aligned (4), may_alias));
typedef guint16 HMemory
    __attribute__ ((vector_size (2 * ND_VECTOR), aligned (2), may_alias));

INLINE V
load (const gfloat *from)
{
  return *(const VMemory *) from;
}

INLINE void
store (gfloat *to, V value)
{
  *(VMemory *) to = value;
}

INLINE V
gather (const gfloat *from, I at)
{
#if ND_VECTOR == 16
  return (V) _mm512_i32gather_ps ((__m512i) at, from, 4);
#elif ND_VECTOR == 8
  return (V) _mm256_i32gather_ps (from, (__m256i) at, 4);
#else
  V out;

  for (guint i = 0; i < ND_VECTOR; i++)
    out[i] = from[at[i]];
  return out;
#endif
}

/* Scan conversion */

INLINE V
load_share (const guint16 *from)
{
  const I whole = __builtin_convertvector (*(const HMemory *) from, I);

  return __builtin_convertvector (whole, V) * (1.0f / ND_SCAN_SHARE);
}

INLINE V
mix (V a, V b, V share)
{
  return a + share * (b - a);
}

INLINE V
linear_plane (const gfloat *in, const gint32 strides[3], I at, V u, V v)
{
  const V a = mix (gather (in, at), gather (in + strides[0], at), u);

  in += strides[1];
  return mix (a, mix (gather (in, at), gather (in + strides[0], at), u), v);
}

static void
scan_linear (const NdScanRow *row, gfloat *out)
{
  const gint32 *strides = row->strides;

  for (gsize i = 0; i < row->n; i += ND_VECTOR) {
    const I at = *(const IMemory *) (row->at + i);
    const V u = load_share (row->shares[0] + i);
    const V v = load_share (row->shares[1] + i);
    V value = linear_plane (row->volume, strides, at, u, v);

    if (strides[2] != 0)
      value = mix (value,
          linear_plane (row->volume + strides[2], strides, at, u, v),
          load_share (row->shares[2] + i));
    store (out + i, value);
  }
}

INLINE void
cubic_weights (V t, V weights[4])
{
  weights[0] = ((2 - t) * t - 1) * t * 0.5f;
  weights[1] = ((3 * t - 5) * t * t + 2) * 0.5f;
  weights[2] = ((4 - 3 * t) * t + 1) * t * 0.5f;
  weights[3] = (t - 1) * t * t * 0.5f;
}

static void
scan_cubic (const NdScanRow *row, gfloat *out)
{
  const gint32 *strides = row->strides;
  const gint planes = strides[2] == 0 ? 1 : 4;

  for (gsize i = 0; i < row->n; i += ND_VECTOR) {
    const I at = *(const IMemory *) (row->at + i);
    V weights[3][4], sum = {};

    for (guint a = 0; a < 3; a++)
      cubic_weights (load_share (row->shares[a] + i), weights[a]);
    for (gint z = 0; z < planes; z++) {
      V plane = {};

      for (gint y = 0; y < 4; y++) {
        const gfloat *in = row->volume + (y - 1) * strides[1] - strides[0]
            + (planes == 1 ? 0 : (z - 1) * strides[2]);
        V line = {};

        for (gint x = 0; x < 4; x++)
          line += weights[0][x] * gather (in + x * strides[0], at);
        plane += weights[1][y] * line;
      }
      sum += planes == 1 ? plane : weights[2][z] * plane;
    }
    store (out + i, sum);
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
