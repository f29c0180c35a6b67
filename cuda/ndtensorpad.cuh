/* Volumes in the forms that matrix products read (ndtensor.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndsamples.cuh"

namespace nd
{

enum TensorForm
{
  TENSOR_BYTES,                 /* u8 */
  TENSOR_WORDS,                 /* high, low u8 of sample + offset */
  TENSOR_HALVES                 /* high, low fp16 of sample * scale */
};

/* Largest finite |sample|, as bits of a float32: of the volume whose scale is
 * in use, and of the one that is converted. Of two, volumes in turn. */
struct Ranges
{
  unsigned used[2], found[2];
};

class TensorPad
{
public:
  /* Padded rows are @row bytes of one piece, pieces @piece bytes. */
  TensorPad (const NdJob &job, const NdReach &reach, TensorForm form,
      int pieces, int offset, size_t row, size_t piece);

  /* Fills @out, all pieces of one component. @volume (device) nullptr: the
   * border volume. Of halves, *@scale (device) becomes the factor from what is
   * stored to samples. */
  void fill (const NdSamples *volume, size_t component, unsigned char *out,
      float *scale, cudaStream_t stream);

  size_t bytes () const { return maps.bytes () + ranges.bytes (); }

private:
  template <typename T> void fill_from (const NdSamples *volume,
      size_t component, unsigned char *out, float *scale, cudaStream_t stream);

  const NdJob job;
  const TensorForm form;
  const int pieces, offset;
  const size_t row, piece;
  int size[3];                  /* padded; in x whole rows */
  int before;
  unsigned most_blocks;         /* that the device has room for at once */
  Memory<int> maps;             /* for each axis, the sample found there */
  Memory<Ranges> ranges;        /* of float32 */
  int turn = 0;
};

} // namespace nd
