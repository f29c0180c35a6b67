/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/speckle.h"

void
nd_shrink_grid (const gsize size[3], gsize blocks[3], gsize *step)
{
  gdouble n;

  *step = 1;
  do {
    ++*step;
    n = 1;
    for (guint a = 0; a < 3; a++) {
      blocks[a] = (size[a] > 4 ? size[a] - 4 : 0) / *step + 1;
      n *= blocks[a];
    }
  } while (n > ND_SHRINK_BLOCKS);
}

gboolean
nd_shrink_complete (gdouble noise[ND_SHRINK_COEFFICIENTS])
{
  noise[0] = 0;
  for (guint k = 1; k < ND_SHRINK_COEFFICIENTS; k++)
    noise[0] = MAX (noise[0], noise[k]);
  for (guint k = 1; k < ND_SHRINK_COEFFICIENTS; k++)
    noise[k] = MAX (noise[k], ND_SHRINK_LEAST * noise[0]);
  return noise[0] > ND_DENOISE_MIN_SIGMA;
}
