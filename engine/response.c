/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/response.h"

guint
nd_response_count (NdResponse response, guint n)
{
  return response >= ND_RESPONSE_MAX ? 1 : n;
}

gsize
nd_response_components (NdResponse response, gboolean is_complex,
    gsize components)
{
  if (response == ND_RESPONSE_ALL)
    return is_complex ? 2 * components : components;
  return components == 2 ? 1 : components;
}

gsize
nd_output_components (NdResponse response, gboolean is_complex,
    guint tensor_axes, gsize components)
{
  if (response == ND_RESPONSE_TENSOR && tensor_axes > 0)
    return tensor_axes * (tensor_axes + 1) / 2;
  return nd_response_components (response, is_complex, components);
}
