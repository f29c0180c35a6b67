/* Banks whose responses are combined by the kernel that computes them
 * (cuda/fft/combinekernels.cu).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/blockkernels.cuh"

#include <complex>
#include <functional>

namespace nd
{

/* The most outputs of a block along y, and taps along z. Other banks are not
 * combined. */
constexpr int COMBINED_ROWS = 30, COMBINED_TAPS = 8;

/* The arguments of CombineKernel. BankArguments::n_units are steps, which are
 * divided as the units of a bank, by pairs of filters. */
struct CombineArguments : BlockArguments
{
  int response; /* NdResponse */
  bool is_complex;
  int taps, pairs;       /* taps along z; pairs of filters */
  const float4 *weights; /* [pair][tap][thread] */
  double threshold;      /* of ND_RESPONSE_ARGMAX; 0: none */
  float none;            /* the label below it, which is not scaled */
  /* Of the steps that are divided. */
  float *combined; /* [step][part][CombineKernel::words][thread] */
  unsigned *done;  /* [step]: parts that are complete */
};

struct CombineKernel
{
  const void *kernel; /* takes CombineArguments */
  int threads;
  size_t shared; /* bytes */
  int step;      /* planes */
  int words;     /* of what a thread has combined */
};

/* @is_sum: of the magnitudes; otherwise the largest one or its number. */
CombineKernel combine_kernel_for (NdSampleType type, const Blocks &b,
    bool is_sum);

/* The weights of a thread for a tap of a pair of filters: a filter f + i g, of
 * whose spectrum @number returns that at (kx, ky). */
float4 combine_weights (int thread,
    const std::function<std::complex<double> (int, int)> &number);

/* Divides the responses of the units that do not fill the @places for thread
 * blocks of the device, so that all are complete early. Transforming a unit
 * takes as long as a response. Returns the responses that a place computes in
 * turn, with those transforms. */
int divide_bank (BankArguments &bank, int places);

class CombinedBank
{
public:
  CombinedBank (const RingJob &job, const NdReach &reach, const Blocks &blocks);

  /* Whether the responses are combined. If not, nothing is allocated. */
  bool is_used () const { return weights.count () > 0; }
  size_t bytes () const
  {
    return total_bytes (weights, combined, done, responses, again);
  }
  void allocate () { allocate_all (weights, combined, done, responses, again); }

  /* Writes the values made of the responses to the volume of @a. */
  void respond (const BlockArguments &to, cudaStream_t stream);

  /* If volumes can have samples that are not finite: memory for responses, and
   * whether the last volume has such samples. Otherwise nullptr. */
  float *memory () const { return responses.get (); }
  const unsigned *is_needed () const { return again.get (); }

private:
  bool is_possible () const;
  size_t count_steps () const;
  BankArguments divide () const;
  bool is_worth () const;
  void plan_weights ();

  const RingJob job;
  const NdReach reach;
  const Blocks blocks;
  const CombineKernel kernel;
  Memory<float4> weights; /* [pair][tap][thread] */
  Memory<float> combined;
  Memory<unsigned> done;
  Memory<float> responses;
  Memory<unsigned> again;
};

} // namespace nd
