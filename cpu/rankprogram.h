/* Order statistics as minima and maxima of whole rows: a sorting network whose
 * steps do not depend on the samples, so that all samples of a row take the
 * same ones.
 *
 * Samples of a box are sorted as columns, which the windows along x share:
 * sorted columns side by side are merged to sorted pairs, pairs to fours, and
 * so on, each once for all x (A. Adams, "Fast Median Filters Using Separable
 * Sorting Networks", ACM Trans. Graph. 40(4), 2021). Sorting and merging are
 * K. E. Batcher's odd-even networks (AFIPS 32, 1968) for any number of samples.
 * Of the last merge only the sample at the rank is computed, and all that it
 * does not depend on is left out.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/rank.h"

G_BEGIN_DECLS

/* Sample i of an operand is sample i + @shift of a row: of the scratch memory,
 * or of input ~row if @row is negative. */
typedef struct
{
  gint32 row;
  guint32 shift;
} NdRankOperand;

/* Writes the smaller samples of @a and @b to scratch row @low and the larger
 * ones to row @high; -1: nowhere. Rows are written for @extra samples beyond
 * those of the output. */
typedef struct
{
  NdRankOperand a, b;
  gint32 low, high;
  guint32 extra;
} NdRankStep;

typedef struct
{
  NdRankStep *steps;
  gsize n_steps;
  NdRankOperand out;
  guint n_rows; /* of scratch memory */
  guint extra;  /* the most of all steps and inputs */

  /* The offsets y, z, t of the rows of the input; their sample 0 is that at
   * offset footprint->low[0] along x. */
  gint (*inputs)[3];
  guint n_inputs;
} NdRankProgram;

/* The most samples of a program for another rank than the least and the
 * greatest. */
#define ND_RANK_MAX_SORTED 1024

/* The program for @rank of @footprint. NULL with ND_ERROR_MEMORY. */
NdRankProgram *nd_rank_program_new (const NdFootprint *footprint, gsize rank,
    GError **error);
void nd_rank_program_free (NdRankProgram *program);
gsize nd_rank_program_bytes (const NdRankProgram *program);

G_END_DECLS
