/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndjob.h"

const gchar *
nd_method_name (NdMethod method)
{
  static const gchar *const names[ND_METHODS] = {
    [ND_METHOD_DIRECT] = "direct",
    [ND_METHOD_SEPARABLE] = "separable",
    [ND_METHOD_FFT] = "fft",
    [ND_METHOD_TENSOR] = "tensor",
    [ND_METHOD_REFERENCE] = "reference",
  };

  return names[method];
}

NdSamples
nd_samples_dense (gpointer data, const NdShape * shape, NdSampleType type)
{
  NdSamples samples = {.data = data };

  samples.sample = shape->components * nd_sample_size (type);
  samples.row = samples.sample * shape->size[0];
  samples.slice = samples.row * shape->size[1];
  samples.response = samples.slice * shape->size[2];
  return samples;
}

NdReach
nd_job_reach (const NdJob * job)
{
  NdReach reach;

  nd_bank_reach (job->bank, reach.low, reach.high);
  reach.slots = reach.high[ND_AXIS_T] - reach.low[ND_AXIS_T] + 1;
  return reach;
}

gboolean
nd_job_combines (const NdJob * job)
{
  return job->bank->is_complex || job->response != ND_RESPONSE_ALL;
}
