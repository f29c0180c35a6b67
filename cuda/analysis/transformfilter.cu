/* The 4D DCT of two scales, as a filter of one component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/denoisefilter.h"
#include "cuda/analysis/scale.h"

#include <algorithm>
#include <cmath>

namespace nd
{

namespace
{

class TransformFilter : public DenoiseFilter
{
public:
  TransformFilter (const NdDenoiseSettings &settings,
      const NdDenoiseBorders &borders, const size_t size[3],
      const ContextPointer &context);

  size_t bytes () const override;
  void allocate () override;
  void reset () override;
  float *input (int64_t position) override { return fine.input (position); }
  void push (int64_t position, cudaStream_t stream) override;
  float *run (const DenoiseOutput &output, cudaStream_t stream) override;

private:
  void run_stage1 (int64_t step, int64_t known, double sigma,
      cudaStream_t stream);
  float *run_stage2 (int64_t step, int64_t known, double sigma,
      cudaStream_t stream);
  void fuse (float *result, const float *coarse, cudaStream_t stream);

  const NdDenoiseSchedule schedule;
  DenoiseScale fine;
  std::unique_ptr<DenoiseScale> coarse; /* or nullptr */
  double coarse_gain = 1;               /* of the noise */
  Memory<float> difference;             /* a coarse volume */

  const Stream side; /* the coarse scale runs beside the fine one */
  const Event begun, coarse_done;
  int64_t done1 = 0, done2 = 0; /* steps of the two stages so far */
};

TransformFilter::TransformFilter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3],
    const ContextPointer &context)
    : schedule (nd_denoise_schedule (&settings)),
      fine (size, schedule, borders), begun (*context), coarse_done (*context)
{
  size_t coarse_size[3];

  if (!nd_denoise_has_coarse_scale (size))
    return;
  for (int a = 0; a < 3; a++) {
    coarse_size[a] = (size[a] + 1) / 2;
    coarse_gain *= size[a] > 1 ? M_SQRT1_2 : 1;
  }
  coarse = std::make_unique<DenoiseScale> (coarse_size, schedule, borders);
  difference.plan (coarse->samples);
}

size_t
TransformFilter::bytes () const
{
  return fine.bytes () + (coarse ? coarse->bytes () : 0) + difference.bytes ();
}

void
TransformFilter::allocate ()
{
  fine.allocate ();
  if (coarse)
    coarse->allocate ();
  difference.allocate ();
}

void
TransformFilter::reset ()
{
  done1 = 0;
  done2 = schedule.pilot_latency;
}

void
TransformFilter::push (int64_t position, cudaStream_t stream)
{
  if (coarse)
    coarsen (fine.input (position), fine.size, nullptr,
        coarse->input (position), stream);
}

/* result += U (coarse - D result) */
void
TransformFilter::fuse (float *result, const float *coarse_result,
    cudaStream_t stream)
{
  coarsen (result, fine.size, coarse_result, difference.get (), stream);
  add_refined (result, fine.size, difference.get (), stream);
}

void
TransformFilter::run_stage1 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t pilot = step - schedule.pilot_latency;

  if (coarse) {
    begun.record (stream);
    begun.make_wait (side);
    coarse->stage1 (step, known, sigma * coarse_gain, side);
    coarse_done.record (side);
  }
  fine.stage1 (step, known, sigma, stream);
  if (!coarse)
    return;
  coarse_done.make_wait (stream);
  if (pilot >= 0 && pilot < known)
    fuse (fine.pilot (pilot), coarse->pilot (pilot), stream);
}

float *
TransformFilter::run_stage2 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const float *coarse_result = nullptr;

  if (coarse) {
    begun.record (stream);
    begun.make_wait (side);
    coarse_result = coarse->stage2 (step, known, sigma * coarse_gain, side);
    coarse_done.record (side);
  }
  float *result = fine.stage2 (step, known, sigma, stream);

  if (coarse)
    coarse_done.make_wait (stream);
  if (coarse && result)
    fuse (result, coarse_result, stream);
  return result;
}

/* Runs all steps that the output needs; at the start of the stream there are
 * several. */
float *
TransformFilter::run (const DenoiseOutput &output, cudaStream_t stream)
{
  const int64_t last = output.position + schedule.latency;
  const int64_t known = std::min (last + 1, output.pushed);
  const int64_t known_pilots =
      std::min (last + 1 - (int64_t) schedule.pilot_latency, output.pushed);
  const float sigma = (float) (output.sigma
      * nd_denoise_time_gain (&schedule, output.pushed, output.ended));
  float *result = nullptr;

  for (int64_t step = done1; step <= last; step++) {
    if (step - (int64_t) schedule.pilot_latency < output.pushed)
      run_stage1 (step, known, sigma, stream);
  }
  for (int64_t step = done2; step <= last; step++)
    result = run_stage2 (step, known_pilots, sigma, stream);
  done1 = done2 = last + 1;
  return result;
}

} // namespace

std::unique_ptr<DenoiseFilter>
make_transform_filter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3],
    const ContextPointer &context)
{
  return std::make_unique<TransformFilter> (settings, borders, size, context);
}

} // namespace nd
