/* Adaptive filtering in vectors of ND_VECTOR samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/adaptivekernels.h"

#include "cpu/vectors.h"

#include <math.h>
#include <string.h>

#define MAX_AXES 4
#define MAX_COMPONENTS 10

INLINE V
choose (I mask, V a, V b)
{
  return (V) ((mask & (I) a) | (~mask & (I) b));
}

INLINE V
maximum (V a, V b)
{
  return choose (a > b, a, b);
}

INLINE V
minimum (V a, V b)
{
  return choose (a < b, a, b);
}

INLINE V
magnitude (V a)
{
  return (V) ((I) a & 0x7fffffff);
}

INLINE V
root (V a)
{
#if ND_VECTOR == 16
  return (V) _mm512_sqrt_ps ((__m512) a);
#elif ND_VECTOR == 8
  return (V) _mm256_sqrt_ps ((__m256) a);
#elif defined(__SSE2__)
  return (V) _mm_sqrt_ps ((__m128) a);
#else
  for (guint i = 0; i < ND_VECTOR; i++)
    a[i] = sqrtf (a[i]);
  return a;
#endif
}

/* log (x) / log (2) of normal x > 0, to 1e-7: the series of artanh. */
INLINE V
log2_of (V x)
{
  const I bits = (I) x, exponent = (bits - 0x3f3504f3) >> 23;
  const V m = (V) (bits - (exponent << 23));
  const V s = (m - 1) / (m + 1), q = s * s;
  const V series =
      1 + q * (1 / 3.f + q * (1 / 5.f + q * (1 / 7.f + q * (1 / 9.f))));

  return __builtin_convertvector (exponent, V) + s * series * 2.8853900818f;
}

/* 2^x, at least 2^-126 and at most 2^126. */
INLINE V
exp2_of (V x)
{
  const V y = maximum (minimum (x, all (126)), all (-126)) + 126.5f;
  const I whole = __builtin_convertvector (y, I);
  const V f = (y - .5f - __builtin_convertvector (whole, V)) * .6931471806f;
  const V series = 1
      + f
          * (1
              + f
                  * (1 / 2.f
                      + f
                          * (1 / 6.f
                              + f
                                  * (1 / 24.f
                                      + f * (1 / 120.f + f * (1 / 720.f))))));

  return series * (V) ((whole + 1) << 23);
}

INLINE V
power (V x, gfloat exponent)
{
  return exp2_of (log2_of (x) * exponent);
}

INLINE guint
component (guint axes, guint i, guint j)
{
  const guint row = i < j ? i : j, column = i < j ? j : i;

  return row * axes - row * (row + 1) / 2 + column;
}

/* A Jacobi rotation of axes @p and @q that makes t[p][q] zero, of @t and @h. */
INLINE void
rotate (guint axes, V *t, V *h, guint p, guint q)
{
  const guint pp = component (axes, p, p), qq = component (axes, q, q);
  const guint pq = component (axes, p, q);
  const V d = t[qq] - t[pp], a = t[pq] * 2;
  const V side = magnitude (d) + root (d * d + a * a) + 1e-30f;
  const V tan = (V) ((I) (a / side) ^ ((I) d & (gint32) 0x80000000));
  const V c = 1 / root (tan * tan + 1), s = tan * c;
  const V hpp = h[pp], hqq = h[qq], hpq = h[pq];

  t[pp] -= tan * t[pq];
  t[qq] += tan * t[pq];
  t[pq] = all (0);
  h[pp] = c * c * hpp - 2 * c * s * hpq + s * s * hqq;
  h[qq] = s * s * hpp + 2 * c * s * hpq + c * c * hqq;
  h[pq] = c * s * (hpp - hqq) + (c * c - s * s) * hpq;
  for (guint k = 0; k < axes; k++) {
    const guint kp = component (axes, k, p), kq = component (axes, k, q);
    const V tp = t[kp], tq = t[kq], hp = h[kp], hq = h[kq];

    if (k == p || k == q)
      continue;
    t[kp] = c * tp - s * tq;
    t[kq] = s * tp + c * tq;
    h[kp] = c * hp - s * hq;
    h[kq] = s * hp + c * hq;
  }
}

/* Rotates both to the axes of the eigenvectors of @t. */
INLINE void
diagonalize (guint axes, V *t, V *h)
{
  const guint sweeps = axes == 2 ? 1 : 5;

  for (guint sweep = 0; sweep < sweeps; sweep++) {
#pragma GCC unroll 3
    for (guint p = 0; p + 1 < axes; p++) {
#pragma GCC unroll 3
      for (guint q = p + 1; q < axes; q++)
        rotate (axes, t, h, p, q);
    }
  }
}

INLINE void
order (V *values, V *others, guint i, guint j)
{
  const I swap = values[j] > values[i];
  const V value = values[i], other = others[i];

  values[i] = choose (swap, values[j], value);
  values[j] = choose (swap, value, values[j]);
  others[i] = choose (swap, others[j], other);
  others[j] = choose (swap, other, others[j]);
}

INLINE V
control_vector (const NdAdaptiveControl *c, guint axes, V *t, V *h)
{
  V trace = all (0), values[MAX_AXES], responses[MAX_AXES];
  V scale, before, factor, result;

  for (guint i = 0; i < axes; i++)
    trace += t[component (axes, i, i)];
  scale = 1 / (trace + 1e-30f);
  for (guint i = 0; i < axes * (axes + 1) / 2; i++)
    t[i] *= scale;
  diagonalize (axes, t, h);
  for (guint i = 0; i < axes; i++) {
    values[i] = t[component (axes, i, i)] * trace * c->scale - c->floor;
    values[i] = maximum (values[i], all (c->min_value));
    responses[i] = h[component (axes, i, i)];
  }
  for (guint i = 0; i + 1 < axes; i++) {
    for (guint j = axes - 1; j > i; j--)
      order (values, responses, j - 1, j);
  }
  before = values[0];
  factor =
      power (before, c->m_beta) / (power (before, c->m_power) + c->m_sigma);
  if (c->m_root != 1)
    factor = power (factor + 1e-30f, c->m_root);
  result = factor * responses[0];
  for (guint k = 1; k < axes; k++) {
    const V x = minimum (values[k] / before, all (1));
    const V a = power (x * (1 - c->mu_alpha) + 1e-30f, c->mu_beta);
    const V b = power ((1 - x) * c->mu_alpha + 1e-30f, c->mu_beta);
    V mu = a / (a + b), kept;

    if (c->mu_root != 1)
      mu = power (mu + 1e-30f, c->mu_root);
    kept = power (values[k], c->m_beta);
    factor = maximum (factor * mu, kept / (kept + c->keep));
    result += factor * responses[k];
    before = values[k];
  }
  /* NaN and infinite tensors make NaN. */
  return result + trace * 0;
}

INLINE void
control_axes (const NdAdaptiveControl *c, guint axes,
    const gfloat *const *tensor, const gfloat *const *h, const gfloat *above,
    const gfloat *low, gfloat *out, gsize n)
{
  const guint components = axes * (axes + 1) / 2;

  for (gsize i = 0; i < n; i += ND_VECTOR) {
    const gsize bytes = MIN (ND_VECTOR, n - i) * sizeof (gfloat);
    V t[MAX_COMPONENTS] = { 0 }, r[MAX_COMPONENTS] = { 0 };
    V upper = all (0), lower = all (0), result = all (0), rest;

    for (guint k = 0; k < components; k++) {
      memcpy (&t[k], tensor[k] + i, bytes);
      memcpy (&r[k], h[k] + i, bytes);
    }
    memcpy (&upper, above + i, bytes);
    memcpy (&lower, low + i, bytes);
    memcpy (&result, out + i, bytes);
    rest = upper - lower;
    result -= rest;
    for (guint a = 0; a < axes; a++)
      rest -= r[component (axes, a, a)];
    for (guint a = 0; a < axes; a++)
      r[component (axes, a, a)] += rest * (1.f / axes);
    result += control_vector (c, axes, t, r);
    memcpy (out + i, &result, bytes);
  }
}

static void
control (const NdAdaptiveControl *c, const gfloat *const *tensor,
    const gfloat *const *h, const gfloat *above, const gfloat *low, gfloat *out,
    gsize n)
{
  if (c->axes == 4)
    control_axes (c, 4, tensor, h, above, low, out, n);
  else if (c->axes == 3)
    control_axes (c, 3, tensor, h, above, low, out, n);
  else
    control_axes (c, 2, tensor, h, above, low, out, n);
}

INLINE void
tensor_axes (guint axes, const gfloat *const *h, const gfloat *const *b,
    gfloat scale, gfloat gradient, gfloat *const *out, gsize n)
{
  for (gsize s = 0; s < n; s++) {
    gfloat m[MAX_COMPONENTS] = { 0 }, v[MAX_AXES] = { 0 };

    for (guint i = 0; i < axes * (axes + 1) / 2; i++)
      m[i] = h[i][s] * scale;
    for (guint i = 0; i < axes; i++)
      v[i] = b[i][s] * scale;
    for (guint i = 0; i < axes; i++) {
      for (guint j = i; j < axes; j++) {
        gfloat sum = gradient * v[i] * v[j];

        for (guint k = 0; k < axes; k++)
          sum += m[component (axes, i, k)] * m[component (axes, j, k)];
        out[component (axes, i, j)][s] = sum;
      }
    }
  }
}

static void
tensor (guint axes, const gfloat *const *h, const gfloat *const *b,
    gfloat scale, gfloat gradient, gfloat *const *out, gsize n)
{
  if (axes == 4)
    tensor_axes (4, h, b, scale, gradient, out, n);
  else if (axes == 3)
    tensor_axes (3, h, b, scale, gradient, out, n);
  else
    tensor_axes (2, h, b, scale, gradient, out, n);
}

#define CHUNK 64

static void
sum (guint n_in, const gfloat *const *in, const gfloat *weights, gfloat *out,
    gsize n)
{
  for (gsize from = 0; from < n; from += CHUNK) {
    const gsize here = MIN (CHUNK, n - from);
    gfloat total[CHUNK] = { 0 };

    for (guint k = 0; k < n_in; k++) {
      const gfloat *row = in[k] + from, w = weights[k];

      if (here == CHUNK) {
        for (gsize i = 0; i < CHUNK; i++)
          total[i] += w * row[i];
      } else {
        for (gsize i = 0; i < here; i++)
          total[i] += w * row[i];
      }
    }
    memcpy (out + from, total, here * sizeof (gfloat));
  }
}

/* Floats as integers of the same order, and back. */
INLINE I
ordered (I bits)
{
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/* Finds the median bit by bit: it is at least a number if fewer than half of
 * the keys are less. */
static void
median (guint n_in, const gfloat *const *in, gfloat *out, gsize n)
{
  for (gsize i = 0; i < n; i += ND_VECTOR) {
    const gsize bytes = MIN (ND_VECTOR, n - i) * sizeof (gfloat);
    I keys[ND_MEDIAN_MAX];
    U found = (U){} + 0x80000000u;
    I result;

    for (guint k = 0; k < n_in; k++) {
      I bits = { 0 };

      memcpy (&bits, in[k] + i, bytes);
      keys[k] = ordered (bits);
    }
    for (guint32 bit = 0x80000000u; bit > 0; bit >>= 1) {
      const I least = (I) (found + bit);
      I count = { 0 };

      for (guint k = 0; k < n_in; k++)
        count -= keys[k] < least;
      found += (U) (count <= (gint32) (n_in - 1) / 2) & bit;
    }
    result = ordered ((I) found);
    memcpy (out + i, &result, bytes);
  }
}

extern const NdAdaptiveKernels ND_TARGET_TABLE (nd_adaptive_kernels);
const NdAdaptiveKernels ND_TARGET_TABLE (nd_adaptive_kernels) = {
  .sum = sum,
  .tensor = tensor,
  .control = control,
  .median = median,
};
