/* Volumes of bytes that method `tensor` reads unpadded, and the samples of the
 * border to the left and to the right of their rows (TensorUnpadded in
 * cuda/mma/tensor.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/mma/tensor.cuh"

#include <vector>

namespace nd
{

class TensorEdges
{
public:
  /* @slots: the number of volumes that are kept. */
  TensorEdges (const RingJob &job, size_t slots);

  /* Keeps @volume in @slot and computes its edges. @volume is on the device and
   * must stay valid until its responses are complete. */
  void fill (unsigned slot, const NdSamples &volume, cudaStream_t stream);

  /* Sets the arguments of the kernel for the volume in @slot. */
  void set (unsigned slot, TensorArguments &a) const;

  size_t bytes () const { return total_bytes (edges, outside, packed); }
  void allocate () { allocate_all (edges, outside, packed); }

private:
  NdSamples pack (unsigned slot, const NdSamples &volume, cudaStream_t stream);
  unsigned char *edges_of (unsigned slot) const
  {
    return edges.get () + slot * (edges.count () / volumes.size ());
  }

  const RingJob job;
  const NdReach reach;
  std::vector<NdSamples> volumes; /* of each slot */
  Memory<unsigned char> edges, outside;
  Memory<unsigned char> packed; /* copies of volumes whose samples are not side
                                 * by side at multiples of four bytes */
};

} // namespace nd
