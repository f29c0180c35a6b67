/* One scale of the streaming 4D DCT on the device, for volumes of one
 * component: cpu/denoisescale.h explains steps and stages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"
#include "cuda/analysis/blockvolumes.cuh"
#include "cuda/memory.h"
#include "engine/algorithm.h"

namespace nd
{

class DenoiseScale
{
public:
  DenoiseScale (const size_t size[3], const NdDenoiseSchedule &schedule,
      const NdDenoiseBorders &borders);

  /* The bytes of device memory that allocate() takes. */
  size_t bytes () const;
  void allocate ();

  /* Begins a new stream, whose volumes count from 0 again. */
  void reset ();

  /* The places of volume @position in the rings of inputs, pilots and, with
   * motion, results. */
  float *input (int64_t position);
  float *pilot (int64_t position);
  float *result (int64_t position);

  /* Enqueues the part of stage 1 that needs no noise level, of step @position
   * if the stream ends with volume @position for now. */
  void prepare (int64_t position, cudaStream_t stream);

  /* Enqueue the work of a step; see nd_denoise_scale_stage1() and 2(). */
  void stage1 (int64_t step, int64_t known, double sigma, cudaStream_t stream);
  float *stage2 (int64_t step, int64_t known, double sigma,
      cudaStream_t stream);

  int size[3];
  size_t samples;

private:
  void positions_of (int64_t first, int64_t known,
      int64_t positions[MAX_TIME]) const;
  void transform (bool pilots, const int64_t positions[MAX_TIME], float *out,
      cudaStream_t stream);
  void transform_data (const int64_t positions[MAX_TIME], cudaStream_t stream);
  FinishBlocks compute (int stage, double sigma, cudaStream_t stream);
  void run (int stage, double sigma, int64_t first, int64_t from, int64_t to,
      float *out, cudaStream_t stream);
  void refine (int stage, double sigma, int64_t first, int64_t known,
      cudaStream_t stream);
  float *compute_result (int64_t position, int64_t known, double sigma,
      cudaStream_t stream);

  const NdDenoiseSchedule schedule;
  const NdDenoiseBorders borders;
  const int n_time;
  const unsigned n_inputs, n_pilots;
  double gain; /* of the noise, because of short axes */
  BlockGrid grid;
  BlockTiles tiles[2]; /* of stages 1 and 2 */

  Memory<float> inputs, pilots; /* n_inputs and n_pilots volumes */
  /* The sums of n_time volumes for both stages. With n_blocks they are means,
   * and stage 2 has those of one volume unless there is motion. */
  Memory<float> sums[2], weights[2];
  Memory<float> results;          /* with motion n_pilots volumes */
  Memory<float> data, pilot_data; /* coefficients over time */
  Memory<float> tile_sums, block_weights;
  int64_t data_from[MAX_TIME]; /* the volumes that `data` was computed from */
  int64_t begun[2]; /* with n_blocks: the volumes before it have means */
};

} // namespace nd
