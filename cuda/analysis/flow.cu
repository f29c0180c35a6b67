/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/flow.h"

#include "analysis/denoise.h"
#include "analysis/flow.h"
#include "cuda/analysis/volumes.cuh"

#include <cstdlib>

namespace nd
{

static FlowLevel
make_level (const int size[3])
{
  FlowLevel level = {};

  level.samples = level.n_cells = 1;
  for (int a = 0; a < 3; a++) {
    level.size[a] = size[a];
    level.cells[a] = (size[a] + 1) / 2;
    level.samples = multiply (level.samples, size[a]);
    level.n_cells *= level.cells[a];
  }
  return level;
}

Flow::Flow (const int size[3])
{
  const size_t sizes[3] = { (size_t) size[0], (size_t) size[1],
    (size_t) size[2] };

  n_levels = nd_denoise_has_coarse_scale (sizes) ? MAX_LEVELS : 1;
  for (int l = 0; l < n_levels; l++) {
    FlowLevel &level = levels[l];

    level = make_level (l == 0 ? size : levels[0].cells);
    /* target, other; inverse, sums, windows, flow */
    memory[l].plan (multiply (level.samples, 2) + multiply (level.n_cells, 21));
  }
  if (n_levels > 1)
    coarse.plan (levels[1].samples);
}

size_t
Flow::bytes () const
{
  return total_bytes (memory[0], memory[1], coarse);
}

void
Flow::allocate ()
{
  allocate_all (memory[0], memory[1], coarse);
  for (int l = 0; l < n_levels; l++) {
    FlowLevel &level = levels[l];

    level.target = memory[l].get ();
    level.other = level.target + level.samples;
    level.inverse = level.other + level.samples;
    level.sums = level.inverse + 6 * level.n_cells;
    level.windows = level.sums + 6 * level.n_cells;
    level.flow = level.windows + 6 * level.n_cells;
  }
}

void
Flow::set_target (const float *target, double sigma, cudaStream_t stream)
{
  const double regular = ND_FLOW_REGULAR * sigma * sigma;

  smooth_volume (target, levels[0].size, levels[0].target, stream);
  invert_tensors (levels[0], regular, stream);
  if (n_levels == 1)
    return;
  coarsen (target, levels[0].size, nullptr, coarse.get (), stream);
  smooth_volume (coarse.get (), levels[1].size, levels[1].target, stream);
  invert_tensors (levels[1], regular, stream);
}

/* The flow begins with that of the volume before, as if the velocity were
 * constant, or on the coarse level for the first volume. */
void
Flow::follow (int offset, const float *volume, cudaStream_t stream)
{
  const FlowLevel &fine = levels[0], &half = levels[1];
  const int distance = std::abs (offset);
  const float limit = (float) (ND_FLOW_LIMIT * distance);
  const bool is_coarse_first = distance == 1 && n_levels > 1;
  float ratio = 1;

  smooth_volume (volume, fine.size, fine.other, stream);
  if (is_coarse_first) {
    coarsen (volume, fine.size, nullptr, coarse.get (), stream);
    smooth_volume (coarse.get (), half.size, half.other, stream);
  }
  if (distance > 1) {
    ratio = (float) distance / (float) (distance - 1);
  } else {
    const FlowLevel &first = is_coarse_first ? half : fine;

    ND_CUDA (cudaMemsetAsync (first.flow, 0, 3 * first.n_cells * sizeof (float),
        stream));
  }
  if (is_coarse_first) {
    for (int i = 0; i < ND_FLOW_COARSE_STEPS; i++)
      step_flow (half, 1, limit / 2, stream);
    refine_flow (half, fine, stream);
  }
  for (int i = 0; i < ND_FLOW_FINE_STEPS; i++)
    step_flow (fine, i == 0 ? ratio : 1, limit, stream);
}

void
Flow::move (int offset, const float *const volumes[2], float *const moved[2],
    cudaStream_t stream)
{
  follow (offset, volumes[1], stream);
  move_volumes (levels[0], volumes, moved, stream);
}

} // namespace nd
