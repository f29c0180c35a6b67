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

/* Measured on an H100 80GB HBM3 (cuda/cost.h), which has so many
 * multiprocessors. The seconds are those of one multiprocessor for one FFT
 * block, from samples to responses: without and, in addition, with storing all
 * 32 x 32 x 32 samples. A flat block takes 1/32 of PLANES_SECONDS. */
constexpr double MULTIPROCESSORS = 132;
constexpr double BLOCK_SECONDS = 12.3e-6;
constexpr double BLOCK_STORES = 10e-6;
constexpr double PLANES_SECONDS = 9e-6;

/* Bytes of spectra per second that a pass over the ring reads and writes on
 * that device. */
constexpr double RING_RATE = 2.6e12;

/* The part of the seconds above that a push or a response alone takes. */
constexpr double ONE_WAY = 0.6;

/* The bytes of a spectrum, compared with those of the padded volume: the size
 * of a transform is rounded up. */
constexpr double SPECTRUM_BYTES = 1.15;

double
whole_cost (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  const double bytes = count_padded (job) * 4 * SPECTRUM_BYTES;
  const double n = job.bank->n_filters;
  /* A transform reads and writes all numbers once for each axis. */
  const double spectra = reach.slots > 2 ? reach.slots : 2 * reach.slots;

  return (bytes * (2 * 3 * (1 + n) + spectra * n) + push_bytes (job))
      / BYTE_RATE / device_rates ().bytes
      + (5 + 4 * n) * LAUNCH;
}

/* Blocks are computed in waves, one block on each multiprocessor. The time of a
 * block grows with the samples that it stores. With a ring, memory is the
 * limit. A push writes a spectrum. A response to fewer than 5 volumes reads all
 * t spectra. In longer windows, sums are begun ahead (cuda/fft/sums.cuh): for
 * four responses together, a pass reads t spectra and writes four sums, and the
 * responses read the sums and 6 spectra of volumes that were pushed since. */
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
  return wave * ONE_WAY * (1 + n)
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
