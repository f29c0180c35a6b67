/* One filter of a bank in the form that the matrix units read, and the launch
 * of its kernel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/mma/pieces.cuh"
#include "cuda/mma/tensor.cuh"

#include <vector>

namespace nd
{

/* The least bytes of shared memory with which a thread block of @kernel can
 * compute responses. All GPUs from compute capability 8.0 on have them. */
size_t least_shared_bytes (const TensorKernel &kernel);

class TensorFilter
{
public:
  /* @reach: that of padded volumes. */
  TensorFilter (const RingJob &job, const NdFilter *filter,
      const NdReach &reach, bool unpadded, FindTensorKernel *find_kernel);

  void run (TensorArguments a, cudaStream_t stream) const;

  /* Whether each plane is copied once for all outputs of an item. */
  bool is_z_sliding () const { return way == Z_SLIDING; }
  size_t bytes () const { return total_bytes (planes, weights); }
  void allocate () { allocate_all (planes, weights); }

private:
  void pack_matrix (const Pieces &pieces, int column, size_t last, int nx,
      int begin, unsigned char *to) const;
  void pack_plane (const NdFilter *filter, const Pieces &pieces, size_t last,
      unsigned char *to) const;
  void pack (const NdFilter *filter, const Pieces &pieces, int first_z,
      int first_slot);
  void choose_way (const RingJob &job, bool unpadded, size_t most, size_t room);
  void choose_length (const RingJob &job, size_t at_once);
  void choose_launch (const RingJob &job, bool unpadded);
  int threads () const
  {
    return way == PAIRS ? 2 * TENSOR_THREADS : TENSOR_THREADS;
  }

  TensorKernel kernel;
  int x, y;  /* as in TensorArguments */
  int shift; /* zeros between x and the first column */
  int end;   /* as in TensorUnpadded */
  enum
  {
    Z_SLIDING, /* planes stay in shared memory for the next output plane */
    PAIRS,     /* each plane is copied once for two output planes */
    STREAM     /* planes and coefficients are copied for each output plane */
  } way = STREAM;
  size_t depth, duration; /* planes in z, and volumes */
  TensorPlane first;
  int kept_bytes = 0;
  int copied, ring_planes;
  size_t shared_bytes;
  int blocks, length;
  float scale;
  Memory<TensorPlane> planes;
  Memory<unsigned char> weights;
};

} // namespace nd
