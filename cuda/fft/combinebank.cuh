/* Banks of windows of one volume whose responses are combined by the kernel
 * that computes them: the sum of their magnitudes, the largest one, or its
 * number (cuda/fft/combinekernels.cu, cuda/fft/combineplanes.cu), or of flat
 * filters an orientation tensor (cuda/fft/tensorplanes.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"
#include "filters/tensor.h"

#include <complex>
#include <functional>
#include <vector>

namespace nd
{

/* The most outputs of a block along y. Other banks are not combined. */
constexpr int COMBINED_ROWS = 30;

/* Short filters have so many taps along z at most. */
constexpr int COMBINED_TAPS = 8;

/* A float4 has two numbers of a filter's spectrum. */
constexpr int COMBINED_WEIGHTS = BLOCK * BLOCK / 2;

/* The arguments of CombineKernel. */
struct CombineArguments : BlockArguments
{
  int response; /* NdResponse */
  bool is_complex;
  int taps, pairs;       /* taps along z; pairs of filters */
  const float4 *weights; /* [pair][tap][COMBINED_WEIGHTS]; of long filters BLOCK
                          * in place of the taps */
  int responses;         /* complex ones are half as many as filters */
  unsigned mask;   /* bits of a magnitude; for ND_RESPONSE_ARGMAX the others
                          * are the number of the response */
  float threshold; /* the least magnitude, or for complex responses its
                          * square, that has a label; 0: any */
  float none;      /* the label below it, which is not scaled */
  /* For volumes, the pairs of all steps are divided among thread blocks, of
   * which each has those from @begins[i] to @begins[i + 1]. */
  const int *begins;
  float *combined; /* [thread block][2][CombineKernel::words][thread], or values
                    * for tensors */
  unsigned *done;  /* [thread block]: complete parts of its last step */
  float2 *numbers; /* [thread block][CombineKernel::numbers] */
  unsigned *later; /* BankArguments::again of the next volume; or nullptr */
};

/* The same of kernels for ND_RESPONSE_TENSOR. A value is the response of a
 * monomial or the magnitude of a complex filter. */
struct TensorPlaneArguments : CombineArguments
{
  int n_values, n_last;       /* of all pairs, of the last pair */
  int missing;                /* 1 if the first pair lacks its first filter */
  bool has_first, has_second; /* monomials of these orders */
  bool is_plain;              /* float32 without a scale, side by side */
  size_t value_bytes;         /* from one component of a tensor to the next */
  float dual[ND_MAX_DIRECTIONS][ND_TENSOR_COMPONENTS (2)];
};

/* A pair of filters is one filter f + i g. Returns number (kx, ky) of tap z;
 * for long filters number (kx, ky, z). */
typedef std::function<std::complex<double> (int kx, int ky, int z)>
    CombineNumber;

struct CombineKernel
{
  const void *kernel; /* takes CombineArguments or TensorPlaneArguments */
  int threads;
  size_t shared; /* bytes */
  float4 (*weight) (int i,
      const CombineNumber &number); /* weight i of a pair */
  int step;       /* planes of a volume, or flat blocks of a thread block */
  int words;      /* floats of the combined values of a thread, for volumes */
  size_t numbers; /* of the spectrum of a block, in memory */
  int resident;   /* the most thread blocks of flat blocks, for each
                   * multiprocessor; 0: any number */
};

/* @is_sum: of the magnitudes; otherwise the largest one or its number. */
CombineKernel combine_volumes_kernel (NdSampleType type, bool is_sum, int taps);
CombineKernel combine_planes_kernel (NdSampleType type, bool is_sum);
CombineKernel tensor_planes_kernel (NdSampleType type);

/* The seconds of a volume whose responses these kernels combine; INFINITY if
 * they cannot. */
double combined_cost (const RingJob &job);

/* The filters of a bank whose responses are combined, in the order of pairs; -1
 * if a pair lacks one. */
struct CombinedFilters
{
  NdTensorRecipe recipe; /* of ND_RESPONSE_TENSOR; otherwise zeros */
  std::vector<int> order;

  explicit CombinedFilters (const RingJob &job);
  int count () const { return order.size () - (order[0] < 0); }
  int count_pairs () const { return order.size () / 2; }
};

class CombinedBank
{
public:
  CombinedBank (const RingJob &job, const NdReach &reach, const Blocks &blocks);

  /* Whether the responses are combined. If not, nothing is allocated. */
  bool is_used () const { return weights.count () > 0; }
  size_t bytes () const
  {
    return total_bytes (weights, begins, combined, done, numbers, responses,
        again);
  }
  void allocate ()
  {
    allocate_all (weights, begins, combined, done, numbers, responses, again);
  }

  /* Writes the values made of the responses to the volume of @a. */
  void respond (const BlockArguments &to, cudaStream_t stream);

  const NdTensorRecipe &recipe () const { return filters.recipe; }

  /* If volumes can have samples that are not finite: memory for responses, and
   * whether the last volume has such samples. Otherwise nullptr. */
  float *memory () const { return responses.get (); }
  const unsigned *is_needed () const { return again.get () + turn; }

private:
  int count_thread_blocks () const;
  void plan_weights ();
  void plan_parts ();
  void plan_values ();
  void set_recipe (TensorPlaneArguments &a) const;

  const RingJob job;
  const NdReach reach;
  const Blocks blocks;
  const CombineKernel kernel;
  const CombinedFilters filters;
  const int taps, pairs; /* taps along z; pairs of filters */
  /* CombineArguments */
  Memory<float4> weights;
  Memory<int> begins;
  Memory<float> combined;
  Memory<unsigned> done;
  Memory<float2> numbers;
  Memory<float> responses;
  Memory<unsigned> again; /* of two volumes in turn */
  int turn = 0;
};

} // namespace nd
