/* The 4D DCT of two scales, as a filter of one component.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/denoisefilter.h"
#include "cuda/analysis/flow.h"
#include "cuda/analysis/scale.h"
#include "cuda/analysis/volumes.cuh"

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
  float *run_stage3 (int64_t position, int64_t known, double sigma,
      cudaStream_t stream);
  void move_volume (int64_t from, int offset, int64_t to, cudaStream_t stream);
  void fuse (float *result, const float *coarse, cudaStream_t stream);

  const NdDenoiseSchedule schedule;
  DenoiseScale fine;
  std::unique_ptr<DenoiseScale> coarse; /* or nullptr */
  double coarse_gain = 1;               /* of the noise */
  Memory<float> difference;             /* a coarse volume */

  /* With motion: the flow, and scales of the moved volumes. */
  std::unique_ptr<Flow> flow;
  std::unique_ptr<DenoiseScale> moved, moved_coarse;

  /* The coarse scale runs beside the fine one, whose work is enqueued first
   * because it takes longest. */
  const Stream side;
  const Event begun, coarse_done;
  int64_t done1 = 0, done2 = 0; /* steps of the two stages so far */
};

/* The schedule of stage 3: the blocks of one output. */
NdDenoiseSchedule
moved_schedule (const NdDenoiseSchedule &schedule)
{
  NdDenoiseSchedule moved = {};

  moved.n_time = schedule.n_time;
  moved.pilot_latency = moved.latency = schedule.n_blocks - 1;
  moved.n_blocks = schedule.n_blocks;
  return moved;
}

TransformFilter::TransformFilter (const NdDenoiseSettings &settings,
    const NdDenoiseBorders &borders, const size_t size[3],
    const ContextPointer &context)
    : schedule (nd_denoise_schedule (&settings)),
      fine (size, schedule, borders), begun (*context), coarse_done (*context)
{
  const NdDenoiseSchedule third = moved_schedule (schedule);
  size_t coarse_size[3];

  if (schedule.motion) {
    flow = std::make_unique<Flow> (fine.size);
    moved = std::make_unique<DenoiseScale> (size, third, borders);
  }
  if (!nd_denoise_has_coarse_scale (size))
    return;
  for (int a = 0; a < 3; a++) {
    coarse_size[a] = (size[a] + 1) / 2;
    coarse_gain *= size[a] > 1 ? M_SQRT1_2 : 1;
  }
  coarse = std::make_unique<DenoiseScale> (coarse_size, schedule, borders);
  if (schedule.motion)
    moved_coarse = std::make_unique<DenoiseScale> (coarse_size, third, borders);
  difference.plan (coarse->samples);
}

size_t
TransformFilter::bytes () const
{
  return fine.bytes () + difference.bytes () + (flow ? flow->bytes () : 0)
      + (coarse ? coarse->bytes () : 0) + (moved ? moved->bytes () : 0)
      + (moved_coarse ? moved_coarse->bytes () : 0);
}

void
TransformFilter::allocate ()
{
  fine.allocate ();
  difference.allocate ();
  if (flow)
    flow->allocate ();
  for (DenoiseScale *scale :
      { coarse.get (), moved.get (), moved_coarse.get () }) {
    if (scale)
      scale->allocate ();
  }
}

void
TransformFilter::reset ()
{
  done1 = 0;
  done2 = schedule.motion ? 0 : schedule.pilot_latency;
  fine.reset ();
  if (coarse)
    coarse->reset ();
}

void
TransformFilter::push (int64_t position, cudaStream_t stream)
{
  fine.prepare (position, stream);
  if (!coarse)
    return;
  coarsen (fine.input (position), fine.size, nullptr, coarse->input (position),
      stream);
  coarse->prepare (position, stream);
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
  const bool refines = schedule.n_blocks > 0;
  const int64_t last = refines ? step : step - schedule.pilot_latency;
  const int64_t first = refines ? step - schedule.n_time + 1 : last;

  if (refines && !nd_denoise_block_counts (&schedule, first, known))
    return;
  begun.record (stream);
  fine.stage1 (step, known, sigma, stream);
  if (!coarse)
    return;
  begun.make_wait (side);
  coarse->stage1 (step, known, sigma * coarse_gain, side);
  coarse_done.record (side);
  coarse_done.make_wait (stream);
  for (int64_t pilot = std::max<int64_t> (first, 0);
       pilot <= std::min (last, known - 1); pilot++)
    fuse (fine.pilot (pilot), coarse->pilot (pilot), stream);
}

float *
TransformFilter::run_stage2 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t first = step - schedule.n_time + 1;

  if (schedule.motion && !nd_denoise_block_counts (&schedule, first, known))
    return nullptr;
  begun.record (stream);
  float *const result = fine.stage2 (step, known, sigma, stream);

  if (!coarse)
    return result;
  begun.make_wait (side);
  const float *const coarse_result =
      coarse->stage2 (step, known, sigma * coarse_gain, side);

  coarse_done.record (side);
  coarse_done.make_wait (stream);
  if (schedule.motion) {
    for (int64_t i = std::max<int64_t> (first, 0);
         i <= std::min (step, known - 1); i++)
      fuse (fine.result (i), coarse->result (i), stream);
  } else if (result) {
    fuse (result, coarse_result, stream);
  }
  return result;
}

/* Moves volume @from, with noise and denoised, to volume from - @offset.
 * @to: its position among the moved volumes. */
void
TransformFilter::move_volume (int64_t from, int offset, int64_t to,
    cudaStream_t stream)
{
  const float *const in[2] = { fine.input (from), fine.result (from) };
  float *const out[2] = { moved->input (to), moved->pilot (to) };

  if (offset != 0)
    flow->move (offset, in, out, stream);
  for (int i = 0; i < 2; i++) {
    if (offset == 0)
      ND_CUDA (cudaMemcpyAsync (out[i], in[i], fine.samples * sizeof (float),
          cudaMemcpyDeviceToDevice, stream));
    if (moved_coarse)
      coarsen (out[i], fine.size, nullptr,
          i == 0 ? moved_coarse->input (to) : moved_coarse->pilot (to), stream);
  }
}

/* Stage 3: the blocks of volumes that are moved to @position. It leaves nothing
 * for later outputs. */
float *
TransformFilter::run_stage3 (int64_t position, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t first = std::max<int64_t> (position - schedule.n_time + 1, 0);
  const int64_t target = position - first; /* among the moved volumes */
  const int64_t n = std::min (target + schedule.n_blocks, known - first);
  const int64_t step = target + schedule.n_blocks - 1;

  flow->set_target (fine.result (position), sigma, stream);
  for (int64_t i = target; i < n; i++)
    move_volume (first + i, (int) (i - target), i, stream);
  for (int64_t i = target - 1; i >= 0; i--)
    move_volume (first + i, (int) (i - target), i, stream);
  /* The volumes are others than before. */
  moved->reset ();
  if (!moved_coarse)
    return moved->stage2 (step, n, sigma, stream);
  moved_coarse->reset ();
  begun.record (stream);
  float *const result = moved->stage2 (step, n, sigma, stream);

  begun.make_wait (side);
  const float *const coarse_result =
      moved_coarse->stage2 (step, n, sigma * coarse_gain, side);

  coarse_done.record (side);
  coarse_done.make_wait (stream);
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
  const int64_t known_pilots = schedule.n_blocks
      ? known
      : std::min (last + 1 - (int64_t) schedule.pilot_latency, output.pushed);
  const float sigma = (float) (output.sigma
      * nd_denoise_time_gain (&schedule, output.pushed, output.ended));
  float *result = nullptr;

  for (int64_t step = done1; step <= last; step++) {
    if (step - (int64_t) schedule.pilot_latency < output.pushed)
      run_stage1 (step, known, sigma, stream);
  }
  for (int64_t step = done2; step <= last; step++)
    result = run_stage2 (step, known_pilots, sigma, stream);
  if (schedule.motion && output.is_needed)
    result = run_stage3 (output.position, known, sigma, stream);
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
