/* The inner loops, compiled for each instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/real.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* The coefficients of a filter at one time offset and one z offset, flipped, in
 * the order of the samples that they multiply: a dense box of nx * ny, or
 * single taps. Offsets are in floats, from the padded sample at offset 0 of the
 * output. */
typedef struct
{
  guint slot;            /* index into @volumes */
  guint nx, ny;          /* of the box; nx = 0 for single taps */
  guint n_taps;          /* single taps */
  gsize offset;          /* of the box; added to those of single taps */
  const NdReal *weights; /* nx * ny, or n_taps */
  const gsize *offsets;  /* n_taps */
  gboolean ends_sum;     /* the sum so far is added to the output */
} NdPlane;

#define ND_BLOCK_ROWS 4
#define ND_BLOCK_MAX_VECTORS 4
#define ND_BLOCK_MAX_WIDTH 64

typedef struct
{
  const gchar *name;
  guint vector; /* floats of one vector register */

  /* Measured multiply-adds per second of one core: of dense boxes, of single
   * taps, and of multiply_add(). */
  gdouble dense_rate;
  gdouble sparse_rate;
  gdouble spectrum_rate;

  /* block[n] writes the sums over all planes for ND_BLOCK_ROWS rows of n *
   * @vector outputs into @out, dense. @begun has what another call has written
   * for the planes that lie in memory before @planes; NULL if there are none.
   * volumes[slot] + @origin is the padded sample at offset 0 of the first
   * output; @row is the distance of rows in floats. Reads whole blocks, even if
   * they extend beyond the end of the volume. */
  void (*block[ND_BLOCK_MAX_VECTORS + 1]) (const NdPlane *planes,
      guint n_planes, const NdReal *const *volumes, gsize origin, gsize row,
      const NdReal *begun, NdReal *out);

  /* sum[i] += a[i] * b[i] for n complex numbers, re and im interleaved. */
  void (*multiply_add) (NdReal *sum, const NdReal *a, const NdReal *b, gsize n);

  /* Scales and converts n responses to samples that are @stride bytes apart. */
  void (*store) (const NdReal *response, gsize n, const NdScale *scale,
      NdSampleType type, guint8 *out, gsize stride);
} NdKernels;

/* The fastest kernels for this processor or, if the processor supports them,
 * those that the environment variable NDCONV_SIMD names (sse2, avx2,
 * avx512). */
const NdKernels *nd_kernels (void);

/* All kernels that this processor supports, the slowest first, then NULL. */
const NdKernels *const *nd_kernels_all (void);

G_END_DECLS
