/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftgrid.h"

#include "core/memory.h"
#include "cpu/cost.h"
#include "cpu/fftsamples.h"

#include <math.h>

/* FALSE if blocks are too small for the filters. Outputs are divided evenly
 * among the blocks, because a block with fewer outputs takes less time to
 * transform back. */
static gboolean
grid_init (NdFftGrid *grid, const NdFftBlock *block, const NdJob *job,
    const NdReach *reach)
{
  grid->block = block;
  grid->blocks = 1;
  for (guint a = 0; a < 3; a++) {
    const gsize n = job->shape.size[a];
    const gsize around = (gsize) reach->high[a] - reach->low[a];

    if (around >= block->size[a])
      return FALSE;
    grid->kept[a] = block->size[a] - around;
    grid->count[a] = n / grid->kept[a] + (n % grid->kept[a] > 0);
    grid->kept[a] = n / grid->count[a] + (n % grid->count[a] > 0);
    grid->blocks = nd_size_mul (grid->blocks, grid->count[a], 1);
  }
  grid->pairs = grid->blocks / 2 + grid->blocks % 2;
  return TRUE;
}

static gdouble
try_block (NdFftGrid *grid, const NdFftBlock *block, const NdJob *job)
{
  const NdReach reach = nd_job_reach (job);

  return grid_init (grid, block, job, &reach)
      ? nd_cost_fft_blocks (job, block, grid->pairs, grid->kept[2],
            nd_fft_count_spectra (job, &reach))
      : INFINITY;
}

gdouble
nd_fft_grid_choose (NdFftGrid *grid, const NdJob *job)
{
  const NdFftKernels *kernels = nd_fft_kernels ();
  const gdouble volume = try_block (grid, &kernels->volume, job);
  NdFftGrid planes;
  const gdouble plane = try_block (&planes, &kernels->plane, job);

  if (plane < volume)
    *grid = planes;
  return MIN (plane, volume);
}

void
nd_fft_grid_origin (const NdFftGrid *grid, gsize i, gsize origin[3])
{
  i = MIN (i, grid->blocks - 1);
  for (guint a = 0; a < 3; a++) {
    origin[a] = i % grid->count[a] * grid->kept[a];
    i /= grid->count[a];
  }
}
