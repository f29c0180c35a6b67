/* Volumes of bytes that method `tensor` reads as they are, and what it reads
 * beside their rows (ndtensor.cuh, TensorBare).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndtensor.cuh"

namespace nd
{

class TensorEdges
{
public:
  explicit TensorEdges (const NdJob &job);

  /* @volume (device) must stay until its responses are there. */
  void fill (const NdSamples &volume, cudaStream_t stream);

  /* What the kernel reads. */
  void set (TensorArguments &a) const;

  size_t
  bytes () const
  {
    return edges.bytes () + outside.bytes () + packed.bytes ();
  }

private:
  NdSamples pack (const NdSamples &volume, cudaStream_t stream);

  const NdJob job;
  const NdReach reach;
  NdSamples last;
  Memory<unsigned char> edges, outside;
  Memory<unsigned char> packed; /* of volumes whose samples do not lie side by
                                 * side, at multiples of four bytes */
};

} // namespace nd
