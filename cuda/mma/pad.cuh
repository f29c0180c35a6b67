/* Conversion of volumes to the forms that matrix products read
 * (cuda/mma/tensor.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

enum TensorForm
{
  TENSOR_BYTES, /* u8 */
  TENSOR_WORDS, /* high, low u8 of sample + offset */
  TENSOR_HALVES /* high, low fp16 of sample * scale */
};

/* The largest finite |sample|, as the bits of a float32: that of the volume
 * whose scale is used, and that of the volume that is converted. Successive
 * volumes use elements 0 and 1 in turn. */
struct Ranges
{
  unsigned used[2], found[2];
};

struct TensorPadArguments;

class TensorPad
{
public:
  /* A padded row of one piece has @row bytes, a piece has @piece bytes. */
  TensorPad (const RingJob &job, const NdReach &reach, TensorForm form,
      int pieces, int offset, size_t row, size_t piece);

  /* Writes all pieces of one component of @volume, which is on the device, to
   * @out. If @volume is nullptr, writes the border volume. For halves, *@scale,
   * which is on the device, becomes the factor from stored values to
   * samples. */
  void fill (const NdSamples *volume, size_t component, unsigned char *out,
      float *scale, cudaStream_t stream);

  size_t bytes () const { return total_bytes (maps, ranges); }
  void allocate () { allocate_all (maps, ranges); }

private:
  TensorPadArguments arguments_for (const NdSamples *volume, size_t component,
      unsigned char *out, float *scale) const;
  template <typename T>
  void launch (const TensorPadArguments &arguments, unsigned blocks,
      cudaStream_t stream) const;

  const RingJob job;
  const TensorForm form;
  const int pieces, offset;
  const size_t row, piece;
  int size[3]; /* padded; along x rounded up to whole runs */
  int before;
  unsigned most_blocks;  /* thread blocks that run at the same time */
  Memory<int> maps;      /* per axis, the sample at each padded index */
  Memory<Ranges> ranges; /* of float32 volumes */
  int turn = 0;
};

} // namespace nd
