/* Registration in vectors of ND_VECTOR samples of a row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/registerkernels.h"

#include "cpu/vectors.h"

#include <math.h>
#include <string.h>

INLINE gfloat
sum_lanes (V value)
{
  gfloat sum = 0;

  for (guint i = 0; i < ND_VECTOR; i++)
    sum += value[i];
  return sum;
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

INLINE V
lanes (void)
{
  V out;

  for (guint i = 0; i < ND_VECTOR; i++)
    out[i] = i;
  return out;
}

/* All bits of the lanes of samples before @n. */
INLINE I
before (V index, gsize n)
{
  return index < (V){} + (gfloat) n;
}

INLINE V
choose (V value, I mask)
{
  return (V) ((I) value & mask);
}

INLINE V
clamp (V at, gfloat last)
{
  const V high = (V){} + last;
  const I below = at < high;

  at = choose (at, at > 0);
  return (V) (((I) at & below) | ((I) high & ~below));
}

/* Filters */

static void
combine (const gfloat *const *rows, const gfloat *taps, guint n_taps, gsize n,
    gfloat *out)
{
  for (gsize x = 0; x < n; x += ND_VECTOR) {
    V sum = load (rows[0] + x) * taps[0];

    for (guint k = 1; k < n_taps; k++)
      sum += load (rows[k] + x) * taps[k];
    store (out + x, sum);
  }
}

/* Moments */

/* Sums of a * b[i] u^k of @n_b rows b, for k up to @degree. */
INLINE void
sum_products (const NdRegisterRow *row, const gfloat *a, guint n_b,
    const gfloat *const *b, guint degree, gfloat *sums)
{
  V total[3][5] = {};

  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    const V index = lanes () + (gfloat) x;
    const V u = row->u + index * row->u_step;
    const V first = choose (load (a + x), before (index, row->n));

#pragma GCC unroll 3
    for (guint i = 0; i < n_b; i++) {
      V product = first * load (b[i] + x);

      total[i][0] += product;
#pragma GCC unroll 4
      for (guint k = 1; k <= degree; k++) {
        product *= u;
        total[i][k] += product;
      }
    }
  }
  for (guint i = 0; i < n_b; i++) {
    for (guint k = 0; k <= degree; k++)
      *sums++ = sum_lanes (total[i][k]);
  }
}

static void
moments (const NdRegisterRow *row, gfloat sums[ND_REGISTER_ROW_MOMENTS])
{
  const gfloat *const *g = row->g;
  const gfloat *const tail[2] = { row->r, row->w };

  sum_products (row, g[0], 3, g, 2, sums);
  sum_products (row, g[1], 2, g + 1, 2, sums + 9);
  sum_products (row, g[2], 1, g + 2, 2, sums + 15);
  sum_products (row, row->r, 3, g, 3, sums + 18);
  sum_products (row, row->w, 3, g, 3, sums + 30);
  sum_products (row, row->r, 2, tail, 4, sums + 42);
  sum_products (row, row->w, 1, tail + 1, 4, sums + 52);
}

/* Differences */

/* @b does not count where @reads is 0. */
INLINE V
mix (V a, V b, V share, I reads)
{
  return a + share * choose (b - a, reads);
}

/* The index of the sample below each position, and the distance from it. */
INLINE I
locate (const gint strides[3], const gfloat *at, const gfloat *step,
    const gfloat *last, V index, V distance[3])
{
  I sample = {};

  for (guint a = 0; a < 3; a++) {
    const V position = at[a] + step[a] * index;
    const I below =
        __builtin_convertvector (last ? clamp (position, last[a]) : position,
            I);

    distance[a] = position - __builtin_convertvector (below, V);
    sample += below * strides[a];
  }
  return sample;
}

INLINE V
linear_plane (const gfloat *in, const gint strides[3], I at, const V *distance,
    const I *reads)
{
  const V a = mix (gather (in, at), gather (in + strides[0], at), distance[0],
      reads[0]);
  const V b = mix (gather (in + strides[1], at),
      gather (in + strides[1] + strides[0], at), distance[0], reads[0]);

  return mix (a, b, distance[1], reads[1]);
}

/* The samples above a position along an axis do not count where @reads is 0. */
INLINE V
linear (const gfloat *in, const gint strides[3], I at, const V *distance,
    const I *reads)
{
  const V a = linear_plane (in, strides, at, distance, reads);

  if (strides[2] == 0)
    return a;
  return mix (a, linear_plane (in + strides[2], strides, at, distance, reads),
      distance[2], reads[2]);
}

static void
difference (const NdRegisterRow *row, gfloat sums[ND_REGISTER_ROW_SUMS])
{
  const I reads[3] = { (I){} - 1, (I){} - 1, (I){} - 1 };
  V total[ND_REGISTER_ROW_SUMS] = {};

  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    const V index = lanes () + (gfloat) x;
    const V u = row->u + index * row->u_step;
    const I mask = before (index, row->n);
    const V r = choose (load (row->r + x), mask);
    const V w = choose (load (row->w + x), mask);
    V distance[3], e, ue;
    const I at =
        locate (row->strides, row->at, row->step, row->last, index, distance);

    e = choose (linear (row->volume, row->strides, at, distance, reads) - r,
        mask);
    ue = u * e;
    for (guint a = 0; a < 3; a++) {
      const V g = load (row->g[a] + x);

      total[2 * a] += g * e;
      total[2 * a + 1] += g * ue;
    }
    total[6] += r * e;
    total[7] += r * ue;
    total[8] += r * ue * u;
    total[9] += w * e;
    total[10] += w * ue;
    total[11] += w * ue * u;
    total[12] += w * e * e;
  }
  for (guint i = 0; i < ND_REGISTER_ROW_SUMS; i++)
    sums[i] = sum_lanes (total[i]);
}

/* Phases */

INLINE V
pick (I mask, V a, V b)
{
  return (V) (((I) a & mask) | ((I) b & ~mask));
}

INLINE V
root (V value)
{
#if ND_VECTOR == 16
  return (V) _mm512_sqrt_ps ((__m512) value);
#elif ND_VECTOR == 8
  return (V) _mm256_sqrt_ps ((__m256) value);
#else
  for (guint i = 0; i < ND_VECTOR; i++)
    value[i] = sqrtf (value[i]);
  return value;
#endif
}

/* The angle of x + i y, to 1e-5; 0 for 0. The polynomial is 4.4.49 of
 * M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 1964. */
INLINE V
angle (V y, V x)
{
  const V ax = pick (x < 0, -x, x), ay = pick (y < 0, -y, y);
  const I steep = ay > ax;
  const V high = pick (steep, ay, ax), low = pick (steep, ax, ay);
  const V t = low / (high + 1e-37f), s = t * t;
  V a = ((((((((.0028662257f * s - .0161657367f) * s + .0429096138f) * s
                 - .0752896400f)
                    * s
                + .1065626393f)
                   * s
               - .1420889944f)
                  * s
              + .1999355085f)
                 * s
             - .3333314528f)
                * s
            + 1)
      * t;

  a = pick (steep, (gfloat) G_PI_2 - a, a);
  a = pick (x < 0, (gfloat) G_PI - a, a);
  return pick (y < 0, -a, a);
}

/* The gradient of the phase in both volumes along an axis. */
INLINE V
phase_gradient (const NdPhaseRow *row, gsize x, gint stride)
{
  V real = {}, imaginary = {};

  for (guint v = 0; v < 2; v++) {
    const gfloat *const *q = v ? row->volume : row->reference;
    const V a = load (q[0] + x), b = load (q[1] + x);
    const V next = load (q[0] + x + stride), last = load (q[0] + x - stride);
    const V after = load (q[1] + x + stride), before = load (q[1] + x - stride);

    real += next * a + after * b + a * last + b * before;
    imaginary += after * a - next * b + b * last - a * before;
  }
  return angle (imaginary, real);
}

static void
phase (const NdPhaseRow *row, gfloat moments[ND_REGISTER_ROW_MOMENTS],
    gfloat sums[ND_REGISTER_ROW_SUMS])
{
  V pairs[6][3] = {}, products[3][2] = {}, squares = {}, weights = {};
  guint n = 0;

  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    const V index = lanes () + (gfloat) x;
    const V u = row->u + index * row->u_step;
    const V ar = load (row->reference[0] + x);
    const V ai = load (row->reference[1] + x);
    const V br = load (row->volume[0] + x), bi = load (row->volume[1] + x);
    const V re = ar * br + ai * bi, im = ar * bi - ai * br;
    const V w = choose (load (row->w + x), before (index, row->n));
    /* |p q| cos^2 of half the angle */
    const V c = w * .5f * (root (re * re + im * im) + re);
    const V e = angle (im, re);
    V g[3];
    guint pair = 0;

    for (guint a = 0; a < 3; a++)
      g[a] = row->strides[a] == 0
          ? (V){}
          : row->scale[a] * phase_gradient (row, x, row->strides[a]);
#pragma GCC unroll 3
    for (guint a = 0; a < 3; a++) {
      const V cg = c * g[a];

#pragma GCC unroll 3
      for (guint b = a; b < 3; b++) {
        const V product = cg * g[b];

        pairs[pair][0] += product;
        pairs[pair][1] += product * u;
        pairs[pair][2] += product * u * u;
        pair++;
      }
      products[a][0] += cg * e;
      products[a][1] += cg * e * u;
    }
    squares += c * e * e;
    weights += c;
  }
  for (guint p = 0; p < 6; p++) {
    for (guint k = 0; k < 3; k++)
      moments[n++] = sum_lanes (pairs[p][k]);
  }
  moments[ND_REGISTER_MOMENT_WW] = sum_lanes (weights);
  for (guint a = 0; a < 3; a++) {
    for (guint k = 0; k < 2; k++)
      sums[2 * a + k] = sum_lanes (products[a][k]);
  }
  sums[ND_REGISTER_ROW_SUMS - 1] = sum_lanes (squares);
}

/* Moving */

typedef gfloat Four __attribute__ ((vector_size (16)));
typedef gint32 Indices __attribute__ ((vector_size (16)));
typedef gfloat FourMemory
    __attribute__ ((vector_size (16), aligned (4), may_alias));

/* One sample from the 4 x 4 rows of 4 samples around it: loads of 4 neighbours
 * are faster than gathers. An axis of one sample has no neighbours. If @some,
 * weights may be 0: their samples do not count, because they may be NaN. */
INLINE gfloat
cubic_sample (const NdWarpRow *row, const gfloat w[3][4][ND_VECTOR], gint at,
    guint lane, gboolean some)
{
  const gboolean flat = row->strides[2] == 0, line = row->strides[1] == 0;
  const Four x = { w[0][0][lane], w[0][1][lane], w[0][2][lane], w[0][3][lane] };
  Four sum = {};

  for (gint z = 0; z < (flat ? 1 : 4); z++) {
    const gfloat wz = flat ? 1 : w[2][z][lane];
    const gfloat *plane =
        row->volume + at + (flat ? 0 : (z - 1) * row->strides[2]);

    for (gint y = 0; y < (line ? 1 : 4); y++) {
      const gfloat weight = wz * (line ? 1 : w[1][y][lane]);
      const gfloat *from = plane + (line ? 0 : (y - 1) * row->strides[1]);

      if (!some || weight != 0)
        sum += *(const FourMemory *) (from - 1) * weight;
    }
  }
  if (some)
    sum = (Four) ((Indices) sum & (x != 0));
  return sum[0] * x[0] + sum[1] * x[1] + sum[2] * x[2] + sum[3] * x[3];
}

INLINE void
cubic_weights (V a, gfloat w[4][ND_VECTOR])
{
  store (w[0], ((2 - a) * a - 1) * a * .5f);
  store (w[1], ((3 * a - 5) * a * a + 2) * .5f);
  store (w[2], ((4 - 3 * a) * a + 1) * a * .5f);
  store (w[3], (a - 1) * a * a * .5f);
}

/* The samples below the positions of a vector that begins at @x. The last one
 * repeats the last sample of the row. */
INLINE I
locate_vector (const NdWarpRow *row, gsize x, V distance[3])
{
  const gfloat end = row->n - 1;

  return locate (row->strides, row->at, row->step, NULL,
      clamp (lanes () + (gfloat) x, end), distance);
}

static void
warp_cubic (const NdWarpRow *row, gfloat *out)
{
  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    V distance[3];
    const I at = locate_vector (row, x, distance);
    gfloat w[3][4][ND_VECTOR];

    for (guint a = 0; a < 3; a++)
      cubic_weights (distance[a], w[a]);
    for (guint i = 0; i < MIN (ND_VECTOR, row->n - x); i++) {
      gboolean some = FALSE;

      /* Weight 1 is that of a sample at the position itself. */
      for (guint a = 0; a < 3; a++)
        some |= row->strides[a] != 0 && w[a][1][i] == 1;
      out[x + i] = some ? cubic_sample (row, w, at[i], i, TRUE)
                        : cubic_sample (row, w, at[i], i, FALSE);
    }
  }
}

static void
warp_linear (const NdWarpRow *row, gfloat *out)
{
  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    V distance[3];
    const I at = locate_vector (row, x, distance);
    const I reads[3] = { distance[0] != 0, distance[1] != 0, distance[2] != 0 };
    const V value = linear (row->volume, row->strides, at, distance, reads);

    if (x + ND_VECTOR <= row->n)
      store (out + x, value);
    else
      memcpy (out + x, &value, (row->n - x) * sizeof (gfloat));
  }
}

extern const NdRegisterKernels ND_TARGET_TABLE (nd_register_kernels);
const NdRegisterKernels ND_TARGET_TABLE (nd_register_kernels) = {
  .combine = combine,
  .moments = moments,
  .difference = difference,
  .phase = phase,
  .warp_cubic = warp_cubic,
  .warp_linear = warp_linear,
};
