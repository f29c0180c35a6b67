/* Deconvolution in loops that the compiler makes vectors of (cpu/simd.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/deconvolvekernels.h"

#include "cpu/simd.h"

#include <math.h>

#define INLINE static inline __attribute__ ((always_inline))

/* Samples of a block; each has a sum of its own. */
#define BLOCK 32

INLINE void
divide_block (const gfloat *restrict c, const gfloat *restrict d, gsize n,
    gfloat level, gfloat floor, gfloat *restrict r, gfloat *restrict squares)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat value = c[i] + level;
    const gfloat left = d[i] < 0 ? 0 : d[i] - value;
    const gboolean counts = (d[i] >= 0) & (value > floor);

    squares[i] += left * left;
    r[i] = (counts ? d[i] : 1) / (counts ? value : 1);
  }
}

static gdouble
divide (const gfloat *c, const gfloat *d, gsize n, gfloat level, gfloat floor,
    gfloat *r)
{
  gfloat squares[BLOCK] = { 0 };
  gdouble sum = 0;
  gsize x = 0;

  for (; x + BLOCK <= n; x += BLOCK)
    divide_block (c + x, d + x, BLOCK, level, floor, r + x, squares);
  divide_block (c + x, d + x, n - x, level, floor, r + x, squares);
  for (guint i = 0; i < BLOCK; i++)
    sum += squares[i];
  return sum;
}

static void
multiply (const gfloat *u, const gfloat *old, gsize n, gfloat level, gfloat *e)
{
  for (gsize x = 0; x < n; x++) {
    const gfloat factor = u[x] + level;

    e[x] = old[x] * (factor > 0 ? factor : 0);
  }
}

INLINE gfloat
invert (gfloat gx, gfloat gy, gfloat gz, gfloat edge)
{
  return 1 / sqrtf (gx * gx + gy * gy + gz * gz + edge);
}

static void
gradients (const NdDeconvolveRow *row, gfloat edge, gfloat *restrict out)
{
  const gfloat *e = row->at, *y = row->y, *z = row->z;
  const gsize last = row->n - 1;

  for (gsize x = 0; x < last; x++)
    out[x] = invert (e[x + 1] - e[x], y[x] - e[x], z[x] - e[x], edge);
  out[last] = invert (0, y[last] - e[last], z[last] - e[last], edge);
}

/* @right and @left: the differences along x. */
INLINE gfloat
scale_sample (const NdDeconvolveRow *row, gsize x, gfloat tv, const gfloat *own,
    const gfloat *up, const gfloat *back, gfloat right, gfloat left)
{
  const gfloat e = row->at[x];
  const gfloat sum = (right + (row->y[x] - e) + (row->z[x] - e)) * own[x]
      - (e - row->above[x]) * up[x] - (e - row->before[x]) * back[x] - left;

  return e / (1 - tv * sum);
}

static void
scale (const NdDeconvolveRow *row, gfloat tv, const gfloat *own,
    const gfloat *up, const gfloat *back, gfloat *restrict out)
{
  const NdDeconvolveRow r = *row;
  const gfloat *e = r.at;
  const gsize last = r.n - 1;

  out[0] =
      scale_sample (&r, 0, tv, own, up, back, last > 0 ? e[1] - e[0] : 0, 0);
  for (gsize x = 1; x < last; x++)
    out[x] = scale_sample (&r, x, tv, own, up, back, e[x + 1] - e[x],
        (e[x] - e[x - 1]) * own[x - 1]);
  if (last > 0)
    out[last] = scale_sample (&r, last, tv, own, up, back, 0,
        (e[last] - e[last - 1]) * own[last - 1]);
}

extern const NdDeconvolveKernels ND_TARGET_TABLE (nd_deconvolve_kernels);
const NdDeconvolveKernels ND_TARGET_TABLE (nd_deconvolve_kernels) = {
  .divide = divide,
  .multiply = multiply,
  .gradients = gradients,
  .scale = scale,
};
