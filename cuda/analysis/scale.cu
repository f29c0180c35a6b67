/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/scale.h"

#include <algorithm>
#include <cmath>

namespace nd
{

DenoiseScale::DenoiseScale (const size_t sizes[3],
    const NdDenoiseSchedule &schedule, const NdDenoiseBorders &borders)
    : schedule (schedule), borders (borders), n_time (schedule.n_time),
      n_inputs (schedule.n_time + schedule.pilot_latency),
      n_pilots (schedule.n_blocks ? n_inputs : n_time), gain (1)
{
  samples = 1;
  for (int a = 0; a < 3; a++) {
    size[a] = (int) sizes[a];
    samples = multiply (samples, sizes[a]);
    /* A single plane fills blocks, so that its noise is counted 4 times. */
    gain *= nd_denoise_axis_gain (sizes[a], 4);
  }
  grid = make_block_grid (size);
  tiles[0] = choose_block_tiles (grid, n_time,
      schedule.pilot_latency == 0 && !schedule.n_blocks);
  tiles[1] = choose_block_tiles (grid, n_time, false);

  const size_t padded =
      multiply (multiply (grid.width, grid.height), grid.depth);

  inputs.plan (multiply (samples, n_inputs));
  pilots.plan (multiply (samples, n_pilots));
  for (int i = 0; i < 2; i++) {
    const bool is_single = i == 1 && schedule.n_blocks && !schedule.motion;

    if (tiles[i].is_one)
      continue;
    sums[i].plan (multiply (samples, is_single ? 1 : n_time));
    weights[i].plan (multiply (samples, is_single ? 1 : n_time));
  }
  results.plan (multiply (samples, schedule.motion ? n_pilots : 1));
  data.plan (multiply (padded, n_time));
  pilot_data.plan (multiply (padded, n_time));
  tile_sums.plan (std::max (tiles[0].floats (grid), tiles[1].floats (grid)));
  block_weights.plan (multiply (multiply (grid.weight_width,
                                    grid.weight_height),
      grid.positions[2]));
  reset ();
}

size_t
DenoiseScale::bytes () const
{
  return total_bytes (inputs, pilots, sums[0], sums[1], weights[0], weights[1],
      results, data, pilot_data, tile_sums, block_weights);
}

void
DenoiseScale::allocate ()
{
  allocate_all (inputs, pilots, sums[0], sums[1], weights[0], weights[1],
      results, data, pilot_data, tile_sums, block_weights);
}

void
DenoiseScale::reset ()
{
  std::fill (data_from, data_from + MAX_TIME, INT64_MIN);
  begun[0] = begun[1] = 0;
}

float *
DenoiseScale::input (int64_t position)
{
  return inputs.get () + position % n_inputs * samples;
}

float *
DenoiseScale::pilot (int64_t position)
{
  return pilots.get () + position % n_pilots * samples;
}

float *
DenoiseScale::result (int64_t position)
{
  return results.get () + position % n_pilots * samples;
}

/* The volumes of the block at @first, as positions in a stream that has @known
 * volumes. */
void
DenoiseScale::positions_of (int64_t first, int64_t known,
    int64_t positions[MAX_TIME]) const
{
  for (int t = 0; t < n_time; t++)
    positions[t] = nd_border_index (borders.time_border, first + t, known);
}

void
DenoiseScale::transform (bool of_pilots, const int64_t positions[MAX_TIME],
    float *out, cudaStream_t stream)
{
  TimeTransform a = {};

  a.grid = grid;
  a.n_time = n_time;
  a.border = borders.border;
  a.border_value = borders.border_value;
  a.out = out;
  for (int t = 0; t < n_time; t++) {
    if (positions[t] >= 0)
      a.volumes[t] = of_pilots ? pilot (positions[t]) : input (positions[t]);
  }
  transform_time (a, stream);
}

/* If stage 1 has transformed the same volumes, their coefficients are used
 * again. */
void
DenoiseScale::transform_data (const int64_t positions[MAX_TIME],
    cudaStream_t stream)
{
  if (std::equal (positions, positions + n_time, data_from))
    return;
  std::copy (positions, positions + n_time, data_from);
  transform (false, positions, data.get (), stream);
}

/* Computes the sums of tiles. Returns the arguments of the step that adds
 * them. */
FinishBlocks
DenoiseScale::compute (int stage, double sigma, cudaStream_t stream)
{
  const int i = stage - 1;
  DenoiseArguments blocks = {};
  FinishBlocks finish = {};
  double norm = n_time == 4 ? 1 / 16.0 : 1 / 8.0;

  blocks.grid = finish.grid = grid;
  blocks.tiles = finish.tiles = tiles[i];
  blocks.data = data.get ();
  blocks.pilot = stage == 1 ? nullptr : pilot_data.get ();
  blocks.sums = tile_sums.get ();
  blocks.weights = block_weights.get ();
  sigma *= gain;
  for (int odd = 0; odd < 5; odd++) {
    const double noise = sigma / norm;

    blocks.level[odd] =
        (float) (stage == 1 ? ND_DENOISE_THRESHOLD * noise
                            : ND_DENOISE_WIENER * noise * noise);
    norm *= M_SQRT2 * std::cos (M_PI / 8);
  }
  compute_blocks (blocks, stream);
  finish.tile_sums = tile_sums.get ();
  finish.weights = block_weights.get ();
  return finish;
}

/* Adds the blocks at @first to volumes @from to @to, the last volume of the
 * blocks that the stream has. Volume @from is then complete, and its result is
 * written to @out. */
void
DenoiseScale::run (int stage, double sigma, int64_t first, int64_t from,
    int64_t to, float *out, cudaStream_t stream)
{
  const int i = stage - 1;
  FinishBlocks finish = compute (stage, sigma, stream);

  finish.out = from < 0 ? nullptr : out;
  finish.complete = (int) (from - first);
  for (int t = 0; t < n_time && !tiles[i].is_one; t++) {
    const int64_t position = first + t;

    if (position < std::max<int64_t> (from, 0) || position > to)
      continue;
    finish.sums[t] = sums[i].get () + position % n_time * samples;
    finish.sum_weights[t] = weights[i].get () + position % n_time * samples;
  }
  finish_blocks (finish, stream);
}

/* Adds the blocks at @first to the pilots (in stage 2 the results) of their
 * volumes, as far as the stream has them. */
void
DenoiseScale::refine (int stage, double sigma, int64_t first, int64_t known,
    cudaStream_t stream)
{
  const int i = stage - 1;
  FinishBlocks finish = compute (stage, sigma, stream);

  finish.refines = true;
  for (int t = 0; t < n_time; t++) {
    const int64_t position = first + t;

    if (position < 0 || position >= known)
      continue;
    finish.is_new[t] = position >= begun[i];
    finish.sums[t] = sums[i].get () + position % n_time * samples;
    finish.sum_weights[t] = weights[i].get () + position % n_time * samples;
    finish.results[t] = stage == 1 ? pilot (position) : result (position);
  }
  begun[i] = std::max (begun[i], first + n_time);
  finish_blocks (finish, stream);
}

/* Computes the result of volume @position from all its blocks. */
float *
DenoiseScale::compute_result (int64_t position, int64_t known, double sigma,
    cudaStream_t stream)
{
  bool is_new = true;

  for (int i = 0; i < (int) schedule.n_blocks; i++) {
    const int64_t first = position - n_time + 1 + i;
    const int t = n_time - 1 - i; /* of the result in the block */
    int64_t positions[MAX_TIME];

    if (!nd_denoise_block_counts (&schedule, first, known))
      continue;
    positions_of (first, known, positions);
    transform_data (positions, stream);
    transform (true, positions, pilot_data.get (), stream);

    FinishBlocks finish = compute (2, sigma, stream);

    finish.refines = true;
    finish.is_new[t] = is_new;
    finish.sums[t] = sums[1].get ();
    finish.sum_weights[t] = weights[1].get ();
    finish.results[t] = results.get ();
    finish_blocks (finish, stream);
    is_new = false;
  }
  return results.get ();
}

void
DenoiseScale::prepare (int64_t position, cudaStream_t stream)
{
  int64_t positions[MAX_TIME];

  positions_of (position - n_time + 1, position + 1, positions);
  transform_data (positions, stream);
}

void
DenoiseScale::stage1 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t first = step - n_time + 1;
  const int64_t done = step - schedule.pilot_latency;
  int64_t positions[MAX_TIME];

  positions_of (first, known, positions);
  transform_data (positions, stream);
  if (schedule.n_blocks)
    refine (1, sigma, first, known, stream);
  else
    run (1, sigma, first, done, std::min (step, known - 1),
        done >= 0 ? pilot (done) : nullptr, stream);
}

float *
DenoiseScale::stage2 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t last = schedule.motion ? step : step - schedule.pilot_latency;
  const int64_t first = last - n_time + 1;
  const int64_t from = step - schedule.latency;
  int64_t positions[MAX_TIME];

  if (schedule.n_blocks && !schedule.motion)
    return from < 0 ? nullptr : compute_result (from, known, sigma, stream);
  positions_of (first, known, positions);
  transform_data (positions, stream);
  transform (true, positions, pilot_data.get (), stream);
  if (schedule.motion) {
    refine (2, sigma, first, known, stream);
    return nullptr;
  }
  run (2, sigma, first, from, std::min (last, known - 1), results.get (),
      stream);
  return from < 0 ? nullptr : results.get ();
}

} // namespace nd
