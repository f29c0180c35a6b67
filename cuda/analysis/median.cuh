/* The first step of noise=speckle on the device: less noise over time, and half
 * of a median over space and time (nd_speckle_reference ()).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

struct HalfMedian
{
  const float *volumes[3]; /* nullptr: a volume of the border value */
  int size[3];
  int border; /* NdBorder */
  float border_value;
  float *out;
};

void compute_half_median (const HalfMedian &a, cudaStream_t stream);

} // namespace nd
