/* Conversion of volumes to padded pieces, which matrix products read
 * (cuda/mma/tensor.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

/* The pieces of a sample. */
enum TensorForm
{
  TENSOR_BYTES, /* u8 */
  TENSOR_WORDS, /* high and low u8 of sample + offset */
  TENSOR_HALVES /* high and low fp16 of sample * scale */
};

/* The number of pieces. With accuracy `fast`, halves have only a high one. */
inline int
tensor_pieces (TensorForm form, NdAccuracy accuracy)
{
  return form == TENSOR_WORDS
          || (form == TENSOR_HALVES && accuracy == ND_ACCURACY_SINGLE)
      ? 2
      : 1;
}

/* The largest finite |sample| of float32 volumes, as the bits of a float32.
 * Index: number of the volume modulo 2. */
struct Ranges
{
  unsigned used[2];  /* of the volume whose range set the scale */
  unsigned found[2]; /* of the volume being converted */
};

struct TensorPadArguments;

class TensorPad
{
public:
  /* A padded row of one piece has @row bytes, a piece has @piece bytes. */
  TensorPad (const RingJob &job, const NdReach &reach, TensorForm form,
      int pieces, int offset, size_t row, size_t piece);

  /* Writes all pieces of one component of @volume, which is on the device, to
   * @out. If @volume is nullptr, writes the border volume. For halves, sets
   * *@scale, which is on the device, to the factor from pieces to samples. */
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
