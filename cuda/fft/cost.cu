/* Cost models of method `fft`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/cost.h"
#include "cuda/fft/blockkernels.cuh"
#include "cuda/fft/fft.cuh"

#include <algorithm>
#include <cmath>

namespace nd
{

constexpr double MULTIPROCESSORS = 132;
constexpr double BLOCK_SECONDS = 12.3e-6; /* of an FFT block */
constexpr double BLOCK_STORES = 10e-6;    /* more if all samples are stored */
constexpr double PLANES_SECONDS = 9e-6;   /* of 32 flat blocks */
constexpr double RING_RATE = 2.6e12;      /* bytes of spectra per second */

double
whole_cost (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  const double bytes = count_padded (job) * 4 * 1.15;
  const double n = job.bank->n_filters;
  /* A transform reads and writes all numbers once for each axis. */
  const double spectra = reach.slots > 2 ? reach.slots : 2 * reach.slots;

  return (bytes * (2 * 3 * (1 + n) + spectra * n) + push_bytes (job))
      / BYTE_RATE / device_rates ().bytes
      + (5 + 4 * n) * LAUNCH;
}

/* Blocks are computed in waves, one block on each multiprocessor. The time of a
 * block grows with the samples that it stores. With longer windows, memory is
 * the limit: push writes a spectrum, and one response in four reads the whole
 * window and writes the sums that it begins. */
double
blocks_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const NdReach reach = nd_job_reach (&job);
  const double n = job.bank->n_filters, t = reach.slots;
  const double all = rates.multiprocessors;
  const Blocks b = make_blocks (job, reach);
  const double spectrum = b.is_flat () ? 4096 : 131072;
  double blocks = job.shape.components, valid = 1, wave;

  for (int a = 0; a < 3; a++) {
    blocks *= b.count[a];
    valid *= b.valid[a] / 32.0;
  }
  wave = b.is_flat ()
      ? blocks / 32 / all * PLANES_SECONDS
      : std::ceil (blocks / all) * (BLOCK_SECONDS + BLOCK_STORES * valid);
  wave *= all / MULTIPROCESSORS / rates.multiply_adds;
  if (n == 1 && t == 1)
    return wave + LAUNCH;
  return wave * 0.6 * (1 + n)
      + blocks * spectrum * (1 + n * (t < 5 ? t : (t + 14) / 4)) / RING_RATE
      / rates.bytes
      + (1 + 1.25 * n) * LAUNCH;
}

double
fft_cost (const RingJob &job)
{
  return blocks_possible (job) ? std::min (blocks_cost (job), whole_cost (job))
                               : whole_cost (job);
}

} // namespace nd
