/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/analysis/scale.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nd
{

DenoiseScale::DenoiseScale (const size_t sizes[3],
    const NdDenoiseSchedule &schedule, const NdDenoiseBorders &borders)
    : schedule (schedule), borders (borders),
      n_inputs (schedule.n_time + schedule.pilot_latency), gain (1)
{
  samples = 1;
  for (int a = 0; a < 3; a++) {
    size[a] = (int) sizes[a];
    samples = multiply (samples, sizes[a]);
    /* A single plane fills blocks, so that its noise is counted 4 times. */
    gain *= nd_denoise_axis_gain (sizes[a], 4);
  }
  grid = make_block_grid (size);
  tiles[0] = choose_block_tiles (grid, schedule.pilot_latency == 0);
  tiles[1] = choose_block_tiles (grid, false);

  const size_t padded =
      multiply (multiply (grid.width, grid.height), grid.depth);

  inputs.plan (multiply (samples, n_inputs));
  pilots.plan (multiply (samples, 4));
  for (int i = 0; i < 2; i++) {
    if (tiles[i].is_one)
      continue;
    sums[i].plan (multiply (samples, 4));
    weights[i].plan (multiply (samples, 4));
  }
  result.plan (samples);
  data.plan (padded);
  pilot_data.plan (padded);
  tile_sums.plan (std::max (tiles[0].floats (grid), tiles[1].floats (grid)));
  block_weights.plan (multiply (multiply (grid.weight_width,
                                    grid.weight_height),
      grid.positions[2]));
  std::fill (data_from, data_from + 4, INT64_MIN);
}

size_t
DenoiseScale::bytes () const
{
  return total_bytes (inputs, pilots, sums[0], sums[1], weights[0], weights[1],
      result, data, pilot_data, tile_sums, block_weights);
}

void
DenoiseScale::allocate ()
{
  allocate_all (inputs, pilots, sums[0], sums[1], weights[0], weights[1],
      result, data, pilot_data, tile_sums, block_weights);
}

float *
DenoiseScale::input (int64_t position)
{
  return inputs.get () + position % n_inputs * samples;
}

float *
DenoiseScale::pilot (int64_t position)
{
  return pilots.get () + position % 4 * samples;
}

void
DenoiseScale::positions_of (int64_t first, int64_t known,
    int64_t positions[4]) const
{
  for (int t = 0; t < 4; t++)
    positions[t] = nd_border_index (borders.time_border, first + t, known);
}

void
DenoiseScale::transform (bool of_pilots, const int64_t positions[4],
    float4 *out, cudaStream_t stream)
{
  TimeTransform a = {};

  a.grid = grid;
  a.border = borders.border;
  a.border_value = borders.border_value;
  a.out = out;
  for (int t = 0; t < 4; t++) {
    if (positions[t] >= 0)
      a.volumes[t] = of_pilots ? pilot (positions[t]) : input (positions[t]);
  }
  transform_time (a, stream);
}

/* Adds the blocks at @first to volumes @from to @to, the last volume of the
 * blocks that the stream has. Volume @from is then complete, and its result is
 * written to @out. */
void
DenoiseScale::run (int stage, double sigma, int64_t first, int64_t from,
    int64_t to, float *out, cudaStream_t stream)
{
  const int i = stage - 1;
  BlockArguments blocks = {};
  FinishBlocks finish = {};
  double norm = 1 / 16.0;

  blocks.grid = finish.grid = grid;
  blocks.tiles = finish.tiles = tiles[i];
  blocks.data = (const float *) data.get ();
  blocks.pilot = stage == 1 ? nullptr : (const float *) pilot_data.get ();
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
  finish.out = from < 0 ? nullptr : out;
  finish.complete = (int) (from - first);
  for (int t = 0; t < 4 && !tiles[i].is_one; t++) {
    const int64_t position = first + t;

    if (position < std::max<int64_t> (from, 0) || position > to)
      continue;
    finish.sums[t] = sums[i].get () + position % 4 * samples;
    finish.sum_weights[t] = weights[i].get () + position % 4 * samples;
  }
  finish_blocks (finish, stream);
}

void
DenoiseScale::stage1 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t first = step - 3, done = step - schedule.pilot_latency;
  int64_t positions[4];

  positions_of (first, known, positions);
  std::copy (positions, positions + 4, data_from);
  transform (false, positions, data.get (), stream);
  run (1, sigma, first, done, std::min (step, known - 1),
      done >= 0 ? pilot (done) : nullptr, stream);
}

float *
DenoiseScale::stage2 (int64_t step, int64_t known, double sigma,
    cudaStream_t stream)
{
  const int64_t last = step - schedule.pilot_latency, first = last - 3;
  const int64_t from = step - schedule.latency;
  int64_t positions[4];

  positions_of (first, known, positions);
  /* If stage 1 has transformed the same volumes, their coefficients are used
   * again. */
  if (!std::equal (positions, positions + 4, data_from)) {
    std::copy (positions, positions + 4, data_from);
    transform (false, positions, data.get (), stream);
  }
  transform (true, positions, pilot_data.get (), stream);
  run (2, sigma, first, from, std::min (last, known - 1), result.get (),
      stream);
  return from < 0 ? nullptr : result.get ();
}

} // namespace nd
