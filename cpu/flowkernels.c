/* Motion compensation in vectors of ND_VECTOR samples of a row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/flowkernels.h"

#include "cpu/vectors.h"

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

/* The sample below @at, which is clamped to 0 .. @end, and the distance from
 * it. */
INLINE I
split (V at, gfloat end, V *distance)
{
  const V last = (V){} + end;
  I inside = at > 0, below;

  at = (V) ((I) at & inside);
  inside = at < last;
  at = (V) (((I) at & inside) | ((I) last & ~inside));
  below = __builtin_convertvector (at, I);
  *distance = at - __builtin_convertvector (below, V);
  return below;
}

/* The index of the sample below, relative to sample (0, y, z). */
INLINE I
locate (const NdFlowRow *row, gsize x, V distance[3])
{
  V position;
  I at;

  for (guint i = 0; i < ND_VECTOR; i++)
    position[i] = x + i;
  at = split (position + load (row->flow[0] + x), row->end[0], &distance[0]);
  at += (split (load (row->flow[1] + x) + row->y, row->end[1], &distance[1])
            - (gint) row->y)
      * row->row;
  return at
      + (split (load (row->flow[2] + x) + row->z, row->end[2], &distance[2])
            - (gint) row->z)
      * row->plane;
}

INLINE V
mix (V a, V b, V share)
{
  return a + share * (b - a);
}

INLINE V
linear_plane (const gfloat *in, gint row, I at, const V *distance)
{
  const V a = mix (gather (in, at), gather (in + 1, at), distance[0]);
  const V b =
      mix (gather (in + row, at), gather (in + row + 1, at), distance[0]);

  return mix (a, b, distance[1]);
}

INLINE void
differences (const NdFlowRow *row, const gfloat *target, V g[3])
{
  const gssize steps[3] = { 1, row->row, row->plane };

  for (guint a = 0; a < 3; a++)
    g[a] = (load (target + steps[a]) - load (target - steps[a])) * .5f;
}

static void
residual (const NdFlowRow *row, const gfloat *target, const gfloat *other,
    gfloat *const out[3])
{
  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    V distance[3], g[3], moved;
    const I at = locate (row, x, distance);

    moved = linear_plane (other, row->row, at, distance);
    if (row->plane)
      moved =
          mix (moved, linear_plane (other + row->plane, row->row, at, distance),
              distance[2]);
    moved -= load (target + x);
    differences (row, target + x, g);
    for (guint a = 0; a < 3; a++)
      store (out[a] + x, g[a] * moved);
  }
}

static void
products (const NdFlowRow *row, const gfloat *target, gfloat *const out[6])
{
  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    V g[3];
    guint k = 0;

    differences (row, target + x, g);
    for (guint a = 0; a < 3; a++) {
      for (guint b = a; b < 3; b++)
        store (out[k++] + x, g[a] * g[b]);
    }
  }
}

/* The weights of the 4 samples around a position. At distance 0 they are 0, 1,
 * 0, 0. */
INLINE void
cubic_weights (V a, V *w)
{
  w[0] = ((2 - a) * a - 1) * a * .5f;
  w[1] = ((3 * a - 5) * a * a + 2) * .5f;
  w[2] = ((4 - 3 * a) * a + 1) * a * .5f;
  w[3] = (a - 1) * a * a * .5f;
}

INLINE V
cubic_plane (const gfloat *in, gint row, I at, V w[3][4])
{
  V sum = {};

#pragma GCC unroll 4
  for (gint y = 0; y < 4; y++) {
    const gfloat *from = in + (y - 1) * row;
    V line = gather (from - 1, at) * w[0][0];

#pragma GCC unroll 4
    for (gint x = 1; x < 4; x++)
      line += gather (from + x - 1, at) * w[0][x];
    sum += line * w[1][y];
  }
  return sum;
}

static void
move (const NdFlowRow *row, const gfloat *const in[2], gfloat *const out[2])
{
  for (gsize x = 0; x < row->n; x += ND_VECTOR) {
    V distance[3], w[3][4];
    const I at = locate (row, x, distance);

    for (guint a = 0; a < 3; a++)
      cubic_weights (distance[a], w[a]);
    for (guint i = 0; i < 2; i++) {
      V sum = {};

      if (!row->plane) {
        store (out[i] + x, cubic_plane (in[i], row->row, at, w));
        continue;
      }
      for (gint z = 0; z < 4; z++)
        sum += cubic_plane (in[i] + (z - 1) * row->plane, row->row, at, w)
            * w[2][z];
      store (out[i] + x, sum);
    }
  }
}

extern const NdFlowKernels ND_TARGET_TABLE (nd_flow_kernels);
const NdFlowKernels ND_TARGET_TABLE (nd_flow_kernels) = {
  .residual = residual,
  .products = products,
  .move = move,
};
