/* One filter of a bank, made ready for the matrix units.
 *
 * Coefficients of integer samples become integers of up to 23 bits and sign,
 * times a power of two, in one to three signed bytes: as few as are exact, or
 * three (accuracy fast: as few as it asks). Those of float32 samples become a
 * high and a low fp16 (accuracy fast: one). What rounding loses is given to
 * some, so that the sum of the filter stays what it was: the error does not
 * grow with the mean of the samples.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <vector>

#include "ndtensor.cuh"
#include "ndtensorpad.cuh"

namespace nd
{

/* A filter's coefficients as the products take them. */
struct Pieces
{
  double unit;                  /* coefficient = value * unit */
  int bytes;                    /* 0: halves */
  double error;                 /* relative, of the values (L2) or of their sum,
                                 * which counts more where samples err too */
  std::vector<double> values;   /* in the order of NdFilter; integers, or not */
};

Pieces make_pieces (const NdFilter *f, TensorForm form, NdAccuracy accuracy);

/* What Pieces::error may be: an error of the responses to noise. */
double most_error (NdAccuracy accuracy);

/* What a filter's coefficients are below, as a power of two. */
int filter_exponent (const NdFilter *f);

class TensorFilter
{
public:
  TensorFilter (const NdJob &job, const NdFilter *filter,
      const NdReach &reach, bool bare, TensorForm form, int offset,
      FindTensorKernel *find_kernel);

  void run (TensorArguments a, cudaStream_t stream) const;

  /* Whether a plane is copied once for all outputs of a run. */
  bool marches () const { return way == MARCH; }
  size_t
  bytes () const
  {
    return planes.bytes () + weights.bytes () + coefficients.bytes ();
  }

private:
  int coefficient (const Pieces &pieces, int set, int column, size_t at,
      unsigned char *to) const;
  void pack (const NdFilter *filter, const Pieces &pieces, TensorForm form,
      int offset, int first_z, int first_slot);
  void choose_launch (const NdJob &job, bool bare);
  int
  threads () const
  {
    return way == PAIRS ? 2 * TENSOR_THREADS : TENSOR_THREADS;
  }

  TensorKernel kernel;
  int x, y, shift;              /* of its box, as TensorArguments has it; of
                                 * its first column behind x */
  int end;                      /* behind what it reads of a row */
  enum
  {
    MARCH,                      /* planes stay for the next output plane */
    PAIRS,                      /* they are copied for two of them */
    STREAM                      /* for each, and coefficients as well */
  } way = STREAM;
  size_t depth, duration;       /* planes in z, and volumes */
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
