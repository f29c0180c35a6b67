/* Sums over the window of ndstructure in space: a filter of rank 1 for each
 * channel. x and y are summed in shared memory in one pass, z in another.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"
#include "analysis/structurewindow.h"
#include "cuda/error.h"

namespace nd
{

/* ceil (3 sigma). */
constexpr int MAX_WINDOW_RADIUS = 3 * ND_STRUCTURE_MAX_SIGMA;
constexpr int MAX_CHANNELS = ND_MAX_MOMENTS + 1;

struct WindowSum
{
  int size[3];
  int radius;
  int n_channels;
  /* From the neighbour -radius on, times u^0, u^1 and u^2. */
  float weights[3][2 * MAX_WINDOW_RADIUS + 1];
  const float *scale[3]; /* of each sample of an axis */
  const float *in;       /* volumes of the components */
  float *between;        /* n_channels volumes */
  float *out;            /* n_channels volumes */
  struct
  {
    unsigned char component;
    unsigned char p[3]; /* powers of u along x, y and z */
  } channels[MAX_CHANNELS];
};

/* Enqueues the sums of all channels. */
void sum_window (const WindowSum &a, cudaStream_t stream);

} // namespace nd
