/* One scale of the streaming 4D DCT on the device, for volumes of one
 * component: cpu/denoisescale.h explains steps and stages.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/analysis/volumes.cuh"
#include "cuda/memory.h"

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

  /* The places of volume @position in the rings of inputs and pilots. */
  float *input (int64_t position);
  float *pilot (int64_t position);

  /* Enqueue the work of a step; see nd_denoise_scale_stage1() and 2(). */
  void stage1 (int64_t step, int64_t known, double sigma, cudaStream_t stream);
  float *stage2 (int64_t step, int64_t known, double sigma,
      cudaStream_t stream);

  int size[3];
  size_t samples;

private:
  void transform (bool pilots, const int64_t positions[4], float4 *out,
      cudaStream_t stream);
  void positions_of (int64_t first, int64_t known, int64_t positions[4]) const;
  void run (int stage, double sigma, int64_t first, int64_t from, int64_t to,
      float *out, cudaStream_t stream);

  const NdDenoiseSchedule schedule;
  const NdDenoiseBorders borders;
  const unsigned n_inputs;
  double gain; /* of the noise, because of short axes */
  BlockGrid grid;
  BlockTiles tiles[2]; /* of stages 1 and 2 */

  Memory<float> inputs, pilots;      /* n_inputs and 4 volumes */
  Memory<float> sums[2], weights[2]; /* of 4 volumes, of both stages */
  Memory<float> result;
  Memory<float4> data, pilot_data; /* coefficients over time */
  Memory<float> tile_sums, block_weights;
  int64_t data_from[4]; /* the volumes that `data` was computed from */
};

} // namespace nd
