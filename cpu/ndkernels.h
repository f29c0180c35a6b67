/* The inner loops, compiled once for each instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Coefficients of one plane (time offset, z offset) of a filter, in the order
 * that they meet the samples (not flipped any more). Either a dense box of
 * nx * ny, or n_taps single ones. Offsets are in floats, from the output's
 * place in the padded volume. */
typedef struct
{
  guint slot;                   /* index into @volumes */
  guint nx, ny;                 /* dense; nx = 0 where not */
  guint n_taps;
  gsize offset;                 /* of the box */
  const gfloat *weights;        /* nx * ny, or n_taps */
  const gsize *offsets;         /* n_taps */
} NdPlane;

#define ND_BLOCK_ROWS 4
#define ND_BLOCK_MAX_VECTORS 4
#define ND_BLOCK_MAX_WIDTH 64

typedef struct
{
  const gchar *name;
  guint vector;                 /* floats of one vector register */
  gdouble dense_rate;           /* multiply-adds a second of one core: see */
  gdouble sparse_rate;          /* docs/performance.md */
  gdouble spectrum_rate;

  /* block[n]: the sum over all planes for ND_BLOCK_ROWS rows of n * @vector
   * outputs each, into @out, dense. volumes[slot] + @origin is the padded
   * sample at offset 0 of the block's first output; @row floats lie between
   * rows. Reads whole blocks, also where the volume ends before. */
  void (*block[ND_BLOCK_MAX_VECTORS + 1]) (const NdPlane * planes,
      guint n_planes, const gfloat * const *volumes, gsize origin, gsize row,
      gfloat * out);

  /* sum[i] += a[i] * b[i] for n complex numbers (re, im interleaved). */
  void (*multiply_add) (gfloat * sum, const gfloat * a, const gfloat * b,
      gsize n);
} NdKernels;

/* The best for this processor, or the one that environment variable
 * NDCONV_SIMD names (sse2, avx2, avx512) if the processor has it. */
const NdKernels *nd_kernels (void);

/* Those that this processor can run, the plainest first, NULL at the end. */
const NdKernels *const *nd_kernels_all (void);

G_END_DECLS
