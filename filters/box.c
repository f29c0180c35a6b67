/* Design box: the mean of size samples, with each coefficient 1/count.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

NdFilter *
nd_design_box (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  NdFilter *filter;
  gsize size[ND_AXES], count;

  if (!nd_parameters_get_size (parameters, axes, 0, size, error))
    return NULL;
  filter = nd_design_new_filter ("box", size, error);
  if (!filter)
    return NULL;

  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] = 1.0 / (gdouble) count;
  return filter;
}
