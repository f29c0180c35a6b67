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

/* The kernel for @filter, whose coefficients are @pieces. @shift: the number of
 * zeros before each row of the filter. Throws Error if there is none. */
TensorKernel choose_tensor_kernel (const NdFilter *filter, const Pieces &pieces,
    TensorForm form, NdAccuracy accuracy, int shift,
    FindTensorKernel *find_kernel);

/* The least bytes of shared memory with which a thread block of @kernel can
 * compute responses of @filter. */
size_t least_shared_bytes (const TensorKernel &kernel, const NdFilter *filter);

class TensorFilter
{
public:
  /* The device has at least least_shared_bytes() for a thread block. @reach:
   * that of padded volumes. */
  TensorFilter (const RingJob &job, const NdFilter *filter,
      const NdReach &reach, bool unpadded, TensorForm form, int offset,
      FindTensorKernel *find_kernel);

  /* The number of zeros before each row of @filter in a padded volume. */
  static int padded_shift (const NdFilter *filter, const NdReach &reach);

  void run (TensorArguments a, cudaStream_t stream) const;

  /* Whether each plane is copied once for all outputs of an item. */
  bool is_z_sliding () const { return way == Z_SLIDING; }
  size_t bytes () const { return total_bytes (planes, weights, coefficients); }
  void allocate () { allocate_all (planes, weights, coefficients); }

private:
  int put_coefficient (const Pieces &pieces, int set, int column, size_t at,
      unsigned char *to) const;
  int pack_matrix (const Pieces &pieces, int set, int column, size_t last,
      int nx, int begin, unsigned char *to) const;
  void pack_plane (const NdFilter *filter, const Pieces &pieces, int offset,
      size_t last, unsigned char *to);
  void add_taps (const NdFilter *filter, size_t last,
      std::vector<float> &values) const;
  void pack (const NdFilter *filter, const Pieces &pieces, TensorForm form,
      int offset, int first_z, int first_slot);
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
  int coefficient_row;
  int start[4] = {};
  float scale;
  Memory<TensorPlane> planes;
  Memory<unsigned char> weights;
  Memory<float> coefficients;
};

} // namespace nd
