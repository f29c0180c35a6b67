/* Padded copies of volumes of uint8, which matrix products read
 * (cuda/mma/tensor.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/samples.cuh"

namespace nd
{

struct TensorPadArguments;

class TensorPad
{
public:
  /* A padded row has @row bytes. */
  TensorPad (const RingJob &job, const NdReach &reach, size_t row);

  /* Writes one component of @volume, which is on the device, to @out. If
   * @volume is nullptr, writes the border volume. */
  void fill (const NdSamples *volume, size_t component, unsigned char *out,
      cudaStream_t stream);

  size_t bytes () const { return maps.bytes (); }
  void allocate () { maps.allocate (); }

private:
  TensorPadArguments arguments_for (const NdSamples *volume, size_t component,
      unsigned char *out) const;

  const RingJob job;
  const size_t row;
  int size[3]; /* padded; along x rounded up to whole runs */
  int before;
  unsigned most_blocks; /* thread blocks that run at the same time */
  Memory<int> maps;     /* per axis, the sample at each padded index */
};

} // namespace nd
