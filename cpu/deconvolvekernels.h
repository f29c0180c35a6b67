/* The steps of deconvolution between the convolutions, for rows of @n samples,
 * compiled once for each instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Instead of a sample of the volume that is not finite. */
#define ND_DECONVOLVE_MISSING (-1.f)

/* A row of the estimate, and the next and the last ones along y and z; at the
 * ends of an axis that is the row itself, so that differences are 0. */
typedef struct
{
  const gfloat *at, *y, *z, *above, *before;
  gsize n;
} NdDeconvolveRow;

typedef struct
{
  /* @r = @d / (@c + @level), or 1 where d is missing or the divisor is at most
   * @floor. Returns the sum of the squared differences. */
  gdouble (*divide) (const gfloat *c, const gfloat *d, gsize n, gfloat level,
      gfloat floor, gfloat *r);

  /* @e = @old * max (@u + @level, 0). @old may be @e. */
  void (*multiply) (const gfloat *u, const gfloat *old, gsize n, gfloat level,
      gfloat *e);

  /* @out = 1 / root (|grad e|^2 + @edge). Reads at, y and z. */
  void (*gradients) (const NdDeconvolveRow *row, gfloat edge, gfloat *out);

  /* @out = e / (1 - @tv div (grad e / |grad e|)). @own, @up and @back: the
   * results of gradients() for this row, above and before. */
  void (*scale) (const NdDeconvolveRow *row, gfloat tv, const gfloat *own,
      const gfloat *up, const gfloat *back, gfloat *out);
} NdDeconvolveKernels;

/* Those of the instruction set of nd_kernels(). */
const NdDeconvolveKernels *nd_deconvolve_kernels (void);

G_END_DECLS
