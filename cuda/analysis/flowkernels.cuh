/* The kernels of motion compensation (cuda/analysis/flow.h). cpu/flowmotion.c
 * and flowestimate.c do the same on the CPU. Each thread adds its numbers in a
 * fixed order, so that results are the same in every run.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

/* One resolution. The flow is known at cells of 2 x 2 x 2 samples. Arrays of
 * several components have those of all cells one after another. */
struct FlowLevel
{
  int size[3], cells[3];
  size_t samples, n_cells;
  float *target, *other; /* smoothed */
  float *inverse;        /* of the structure tensor: xx xy xz yy yz zz */
  float *sums, *windows; /* 6 components */
  float *flow;           /* x y z */
};

/* The binomial filter 1 2 1 along each axis. */
void smooth_volume (const float *in, const int size[3], float *out,
    cudaStream_t stream);

/* inverse = the inverse of the mean products of the gradients of `target`,
 * whose diagonal is raised by @regular. */
void invert_tensors (const FlowLevel &level, double regular,
    cudaStream_t stream);

/* One step of Gauss and Newton from `flow` times @ratio, which is the flow from
 * `target` to `other`. Its components are at most @limit. */
void step_flow (const FlowLevel &level, float ratio, float limit,
    cudaStream_t stream);

/* The flow of @fine = that of @coarse, whose samples are the cells of @fine. */
void refine_flow (const FlowLevel &coarse, const FlowLevel &fine,
    cudaStream_t stream);

/* Moves two volumes along `flow`, with cubic interpolation. */
void move_volumes (const FlowLevel &level, const float *const in[2],
    float *const out[2], cudaStream_t stream);

} // namespace nd
