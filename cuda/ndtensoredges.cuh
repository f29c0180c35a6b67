/* Volumes of bytes that method `tensor` reads as they are, and what it reads
 * beside their rows (ndtensor.cuh, TensorBare).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <vector>

#include "ndtensor.cuh"

namespace nd
{

class TensorEdges
{
public:
  /* For volumes in so many slots. */
  TensorEdges (const NdJob &job, size_t slots);

  /* @volume (device) must stay until its responses are there. */
  void fill (unsigned slot, const NdSamples &volume, cudaStream_t stream);

  /* What the kernel reads. */
  void set (unsigned slot, TensorArguments &a) const;

  size_t
  bytes () const
  {
    return edges.bytes () + outside.bytes () + packed.bytes ();
  }

private:
  NdSamples pack (unsigned slot, const NdSamples &volume, cudaStream_t stream);
  unsigned char *
  edges_of (unsigned slot) const
  {
    return edges.get () + slot * (edges.count () / volumes.size ());
  }

  const NdJob job;
  const NdReach reach;
  std::vector<NdSamples> volumes;       /* of each slot */
  Memory<unsigned char> edges, outside;
  Memory<unsigned char> packed; /* of volumes whose samples do not lie side by
                                 * side, at multiples of four bytes */
};

} // namespace nd
