/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/job.h"

#include "core/error.h"

#include <math.h>

const NdMethod nd_auto_methods[ND_N_AUTO_METHODS] = {
  ND_METHOD_DIRECT,
  ND_METHOD_SEPARABLE,
  ND_METHOD_FFT,
  ND_METHOD_TENSOR,
};

NdSamples
nd_samples_dense (gpointer data, const NdShape *shape, NdSampleType type)
{
  NdSamples samples = { .data = data };

  samples.sample = shape->components * nd_sample_size (type);
  samples.row = samples.sample * shape->size[0];
  samples.slice = samples.row * shape->size[1];
  samples.response = samples.slice * shape->size[2];
  return samples;
}

NdReach
nd_job_reach (const NdJob *job)
{
  NdReach reach;

  nd_bank_reach (job->bank, reach.low, reach.high);
  reach.slots = reach.high[ND_AXIS_T] - reach.low[ND_AXIS_T] + 1;
  return reach;
}

gboolean
nd_job_has_bytes (const NdJob *job, gboolean border_volumes)
{
  const gdouble v = job->border_value;

  return job->in_type == ND_UINT8
      && ((job->border != ND_BORDER_CONSTANT && !border_volumes)
          || (v >= 0 && v <= G_MAXUINT8 && v == rint (v)));
}

gboolean
nd_job_combines (const NdJob *job)
{
  return job->bank->is_complex || job->response != ND_RESPONSE_ALL;
}

gboolean
nd_job_check_separable (const NdJob *job, GError **error)
{
  for (guint k = 0; k < job->bank->n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];
    gdouble *factors[ND_AXES];

    if (!nd_filter_separate_in (f, job->precision, factors)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "Filter '%s' is not separable%s: use method=auto, direct or fft",
          f->name,
          job->precision == ND_PRECISION_DOUBLE ? " in double precision" : "");
      return FALSE;
    }
    for (guint a = 0; a < ND_AXES; a++)
      g_free (factors[a]);
  }
  return TRUE;
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
