/* noise=speckle of one component: cpu/specklefilter.h on the device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/adaptive.h"
#include "cuda/analysis/median.cuh"
#include "cuda/analysis/quantile.cuh"
#include "cuda/analysis/shrink.h"
#include "cuda/analysis/volumes.cuh"

#include <algorithm>

namespace nd
{

namespace
{

constexpr int VOLUMES = 3;

class SpeckleFilter : public DenoiseFilter
{
public:
  SpeckleFilter (const NdDenoiseSettings &settings,
      const NdDenoiseBorders &borders, const size_t size[3]);

  size_t bytes () const override;
  void allocate () override;
  float *input (int64_t position) override
  {
    return inputs.get () + position % VOLUMES * samples;
  }
  float *run (const DenoiseOutput &output, cudaStream_t stream) override;

private:
  const float *find_noise (const float *trace, const float *volume,
      cudaStream_t stream);

  const NdDenoiseBorders borders;
  const unsigned latency;
  HalfMedian median = {};
  size_t samples = 1;
  AdaptiveFilter adaptive;
  Shrink shrink;
  Memory<float> inputs, quantile;
  Memory<unsigned> least;
  Memory<QuantileState> state;
};

SpeckleFilter::SpeckleFilter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3])
    : borders (borders), latency (nd_denoise_schedule (&settings).latency),
      adaptive (settings, borders, size,
          [this] (const float *trace, const float *volume,
              cudaStream_t stream) {
            return find_noise (trace, volume, stream);
          }),
      shrink (size, borders)
{
  for (int a = 0; a < 3; a++) {
    median.size[a] = (int) size[a];
    samples = multiply (samples, size[a]);
  }
  if (samples > UINT32_MAX)
    throw Error (ND_ERROR_SETTINGS,
        "noise=speckle on the GPU takes volumes of up to 4294967295 samples: "
        "use backend=cpu");
  median.border = borders.border;
  median.border_value = borders.border_value;
  inputs.plan (multiply (samples, VOLUMES));
  quantile.plan (1);
  least.plan (1);
  state.plan (1);
}

size_t
SpeckleFilter::bytes () const
{
  return total_bytes (adaptive, shrink, inputs, quantile, least, state);
}

void
SpeckleFilter::allocate ()
{
  allocate_all (adaptive, shrink, inputs, quantile, least, state);
}

/* For the adaptive filter. run () has found the least sample of @volume. */
const float *
SpeckleFilter::find_noise (const float *trace, const float *volume,
    cudaStream_t stream)
{
  find_quantile ({ trace, samples, volume, least.get (), ND_SPECKLE_QUANTILE,
                     state.get (), quantile.get () },
      stream);
  return quantile.get ();
}

float *
SpeckleFilter::run (const DenoiseOutput &output, cudaStream_t stream)
{
  const int64_t position = output.position;
  const int64_t known =
      std::min (position + (int64_t) latency + 1, output.pushed);
  float *const volume = adaptive.input (position);

  if (!output.is_needed)
    return volume;
  for (int i = 0; i < VOLUMES; i++) {
    const int64_t from =
        nd_border_index (borders.time_border, position + i - 1, known);

    median.volumes[i] = from < 0 ? nullptr : input (from);
  }
  median.out = volume;
  compute_half_median (median, stream);
  find_least (volume, samples, least.get (), stream);

  shrink.run (volume, least.get (), output.sigma, stream);

  float *const result = adaptive.run (output, stream);

  shrink.add_to (result, stream);
  return result;
}

} // namespace

std::unique_ptr<DenoiseFilter>
make_speckle_filter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3])
{
  return std::make_unique<SpeckleFilter> (settings, borders, size);
}

} // namespace nd
