/* How method `fft` cuts a padded volume into blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/fftkernels.h"
#include "engine/job.h"

G_BEGIN_DECLS

typedef struct
{
  const NdFftBlock *block;
  gsize kept[3];  /* outputs of a block */
  gsize count[3]; /* blocks */
  gsize blocks;   /* of a volume */
  gsize pairs;
} NdFftGrid;

/* Chooses volumes or planes. Returns the estimated seconds per volume, or
 * INFINITY if the filters are too large for blocks. */
gdouble nd_fft_grid_choose (NdFftGrid *grid, const NdJob *job);

/* The first output of block @i. If the number of blocks is odd, the last pair
 * is the last block twice. */
void nd_fft_grid_origin (const NdFftGrid *grid, gsize i, gsize origin[3]);

G_END_DECLS
