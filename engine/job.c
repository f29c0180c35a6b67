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

const gchar *
nd_method_name (NdMethod method)
{
  static const gchar *const names[ND_METHOD_END] = {
    [ND_METHOD_DIRECT] = "direct",
    [ND_METHOD_SEPARABLE] = "separable",
    [ND_METHOD_FFT] = "fft",
    [ND_METHOD_TENSOR] = "tensor",
    [ND_METHOD_REFERENCE] = "reference",
    [ND_METHOD_AUTO] = "auto",
  };

  return names[method];
}

const gchar *
nd_accuracy_name (NdAccuracy accuracy)
{
  return accuracy == ND_ACCURACY_SINGLE ? "single" : "fast";
}

const gchar *
nd_border_name (NdBorder border)
{
  static const gchar *const names[ND_BORDER_END] = {
    [ND_BORDER_CONSTANT] = "constant",
    [ND_BORDER_NEAREST] = "nearest",
    [ND_BORDER_REFLECT] = "reflect",
    [ND_BORDER_MIRROR] = "mirror",
    [ND_BORDER_WRAP] = "wrap",
  };

  return names[border];
}

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
