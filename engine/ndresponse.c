/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndresponse.h"

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
