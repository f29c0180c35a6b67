/* Adaptive filtering of one component: cpu/adaptivefilter.h on the device. It
 * keeps the volumes of the stream and smooths them anew for each output,
 * because the filter then takes a fifth of the memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/adaptivekernels.cuh"
#include "cuda/analysis/denoisefilter.h"

#include <functional>

namespace nd
{

/* Enqueues the search for the quantile ND_SPECKLE_QUANTILE of @trace, a volume,
 * over samples at which it is finite and the input is larger than its least
 * finite sample. Returns its place on the device; it is 0 if there are no such
 * samples. */
using SpeckleQuantile = std::function<const float *(const float *trace,
    const float *input, cudaStream_t stream)>;

class AdaptiveFilter : public DenoiseFilter
{
public:
  /* @quantile is for speckle, which is filtered in space, and whose noise is
   * measured. `sigma` of the outputs is then the strength. */
  AdaptiveFilter (const NdDenoiseSettings &settings,
      const NdDenoiseBorders &borders, const size_t size[3],
      SpeckleQuantile quantile = nullptr);

  size_t bytes () const override;
  void allocate () override;
  float *input (int64_t position) override;
  float *run (const DenoiseOutput &output, cudaStream_t stream) override;

private:
  AdaptiveSmooth plan_smoothing (int band) const;
  AdaptiveControl plan_control (int band) const;
  void run_band (int band, const DenoiseOutput &output, const float *above,
      cudaStream_t stream);

  const NdAdaptiveRemap remap;
  const NdDenoiseBorders borders;
  const SpeckleQuantile quantile;
  const unsigned latency;
  unsigned n_inputs;
  NdAdaptiveDesign design;
  AdaptiveVolume volume = {};
  AdaptiveSmooth smoothing[ND_ADAPTIVE_BANDS]; /* without pointers */
  AdaptiveControl controls[ND_ADAPTIVE_BANDS];

  Memory<float> inputs, base, low, result;
  /* Sums over time and, when they are no longer needed, tensors. */
  Memory<float> planes;
  Memory<float> trace;
};

} // namespace nd
