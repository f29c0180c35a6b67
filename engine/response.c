/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/response.h"

#include "core/error.h"

const gchar *
nd_response_name (NdResponse response)
{
  static const gchar *const names[ND_RESPONSE_END] = {
    [ND_RESPONSE_ALL] = "all",
    [ND_RESPONSE_MAGNITUDE] = "magnitude",
    [ND_RESPONSE_PHASE] = "phase",
    [ND_RESPONSE_REAL] = "real",
    [ND_RESPONSE_IMAGINARY] = "imaginary",
    [ND_RESPONSE_ENERGY] = "energy",
    [ND_RESPONSE_MAX] = "max",
    [ND_RESPONSE_ARGMAX] = "argmax",
    [ND_RESPONSE_SUM] = "sum",
    [ND_RESPONSE_TENSOR] = "tensor",
  };

  return names[response];
}

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

static gboolean
check_tensor (guint tensor_axes, gsize components, NdSampleType out_type,
    GError **error)
{
  if (components != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "response=tensor needs input of one component, as GRAY8 or dimensions "
        "1:x:y:z; the input has %" G_GSIZE_FORMAT,
        components);
  else if (tensor_axes < 2)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "response=tensor needs one bank that makes a tensor: monomial-bank or "
        "quadrature-bank");
  else if (out_type != ND_FLOAT32 && out_type != ND_FLOAT64)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "response=tensor gives float32 or float64: set output-type=float32, "
        "float64 or same");
  else
    return TRUE;
  return FALSE;
}

gboolean
nd_response_check (NdResponse response, gboolean is_complex, guint tensor_axes,
    gsize components, NdSampleType out_type, gdouble threshold, GError **error)
{
  if (is_complex && components != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The filter is complex and the input has %" G_GSIZE_FORMAT
        " components%s: a complex filter needs real input of one component "
        "(GRAY8, or dimensions 1:x:y:z)",
        components, components == 2 ? ", real and imaginary part" : "");
  else if (response == ND_RESPONSE_ARGMAX && threshold > 0
      && out_type == ND_UINT32)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "threshold marks samples by -1, which uint32 cannot hold: set "
        "output-type=uint8, uint16 or int32");
  else if (response == ND_RESPONSE_TENSOR)
    return check_tensor (tensor_axes, components, out_type, error);
  else
    return TRUE;
  return FALSE;
}
