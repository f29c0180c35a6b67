/* Motion compensation: volumes are moved along the flow to a target, so that
 * structures are at the same place in all of them. docs/algorithms.md has the
 * formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/flowkernels.cuh"
#include "cuda/memory.h"

namespace nd
{

class Flow
{
public:
  explicit Flow (const int size[3]);

  /* The bytes of device memory that allocate() takes. */
  size_t bytes () const;
  void allocate ();

  /* Enqueue the work of nd_flow_set_target() and nd_flow_move(). */
  void set_target (const float *target, double sigma, cudaStream_t stream);
  void move (int offset, const float *const volumes[2], float *const moved[2],
      cudaStream_t stream);

private:
  void follow (int offset, const float *volume, cudaStream_t stream);

  static constexpr int MAX_LEVELS = 2;

  int n_levels;
  FlowLevel levels[MAX_LEVELS];
  Memory<float> memory[MAX_LEVELS];
  Memory<float> coarse; /* a volume of level 1 */
};

} // namespace nd
