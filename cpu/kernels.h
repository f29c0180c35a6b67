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

/* The taps of a pass over one axis, in the order of the samples. */
typedef struct
{
  guint n;
  guint span; /* the last offset and 1; 0 without taps */
  const NdReal *weights;
  const gsize *offsets; /* NULL: from 0 to n - 1 */
} NdTaps;

#define ND_BLOCK_ROWS 4
#define ND_BLOCK_MAX_VECTORS 4
#define ND_BLOCK_MAX_WIDTH 64

typedef struct
{
  const gchar *name;
  guint vector; /* floats of one vector register */

  /* Measured multiply-adds per second of one core: of dense boxes, and of
   * single taps. */
  gdouble dense_rate;
  gdouble sparse_rate;

  /* Writes the sums over all planes for ND_BLOCK_ROWS rows of @n outputs to
   * @out, whose rows are @out_row apart. @begun has the sums that another
   * call has written for the planes that lie in memory before @planes; NULL if
   * there are none. volumes[slot] + @origin is the padded sample at offset 0 of
   * the first output; @row is the distance of rows in floats. Reads and writes
   * whole vectors, even if they extend beyond the end of the volume. */
  void (*sum_piece) (const NdPlane *planes, guint n_planes,
      const NdReal *const *volumes, gsize origin, gsize row,
      const NdReal *begun, gsize begun_row, NdReal *out, gsize out_row,
      gsize n);

  /* out[i] = sum over t of weights[t] * rows[t][i], for n numbers. Reads and
   * writes whole vectors. */
  void (*sum_rows) (const NdTaps *taps, const NdReal *const *rows, gsize n,
      NdReal *out);

  /* out[r][i] = sum over t of weights[t] * lines[offsets[t] + r][i], for
   * ND_BLOCK_ROWS outputs of n numbers. @lines has span + ND_BLOCK_ROWS - 1
   * lines. Reads and writes whole vectors. */
  void (*sum_lines) (const NdTaps *taps, const NdReal *const *lines, gsize n,
      NdReal *const out[ND_BLOCK_ROWS]);

  /* Converts n samples that are @step samples apart. */
  void (*load) (const guint8 *in, gsize step, gsize n, NdSampleType type,
      NdReal *out);

  /* Scales and converts n responses to samples that are @stride bytes apart. */
  void (*store) (const NdReal *response, gsize n, const NdScale *scale,
      NdSampleType type, guint8 *out, gsize stride);
} NdKernels;

/* The fastest kernels for this processor or, if they were built and the
 * processor supports them, those that the environment variable NDCONV_SIMD
 * names (sse2, avx2, avx512). */
const NdKernels *nd_kernels (void);

/* All kernels that this processor supports, the slowest first, then NULL. None
 * if they were built for another processor (-Dkernels=host). */
const NdKernels *const *nd_kernels_all (void);

G_END_DECLS
