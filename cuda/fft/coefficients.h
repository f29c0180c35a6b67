/* The coefficients of a filter by the offsets that they read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

namespace nd
{

/* The coefficients of @f that read volume @t of the window: size[0] x size[1] x
 * size[2] of them; nullptr if @f reads other volumes only. */
inline const double *
coefficients_of (const NdFilter *f, unsigned t, const NdReach &reach)
{
  int low[ND_AXES], high[ND_AXES];

  nd_filter_reach (f, low, high);
  const int mt = high[3] - reach.low[3] - (int) t;

  return mt < 0 || mt >= (int) f->size[3]
      ? nullptr
      : f->coefficients + mt * f->size[2] * f->size[1] * f->size[0];
}

/* Calls @visit (x, y, z, w) for each coefficient w of coefficients_of(). For an
 * output at position p, the coefficient multiplies the sample at p +
 * @reach.low + (x, y, z). */
template <typename F>
void
for_each_coefficient (const NdFilter *f, unsigned t, const NdReach &reach,
    F visit)
{
  const double *w = coefficients_of (f, t, reach);
  int low[ND_AXES], high[ND_AXES];

  if (!w)
    return;
  nd_filter_reach (f, low, high);
  for (size_t mz = 0; mz < f->size[2]; mz++)
    for (size_t my = 0; my < f->size[1]; my++)
      for (size_t mx = 0; mx < f->size[0]; mx++)
        visit (high[0] - (int) mx - reach.low[0],
            high[1] - (int) my - reach.low[1],
            high[2] - (int) mz - reach.low[2], *w++);
}

} // namespace nd
