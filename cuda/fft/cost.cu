/* Cost models of method `fft`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/cost.h"
#include "cuda/fft/blockkernels.cuh"
#include "cuda/fft/deep.cuh"
#include "cuda/fft/fft.cuh"
#include "cuda/fft/wide.cuh"

#include <algorithm>
#include <cmath>

namespace nd
{

/* Measured on an H100 80GB HBM3 (cuda/cost.h), which has so many
 * multiprocessors. The seconds are those of one multiprocessor for one FFT
 * block, from samples to responses: without and, in addition, with storing all
 * 32 x 32 x 32 samples. A flat block takes 1/32 of PLANES_SECONDS and
 * PLANES_STORES. */
constexpr double MULTIPROCESSORS = 132;
constexpr double BLOCK_SECONDS = 12.3e-6;
constexpr double BLOCK_STORES = 10e-6;
constexpr double PLANES_SECONDS = 6.3e-6;
constexpr double PLANES_STORES = 9.3e-6;

/* The same for one filter and windows of one volume. The first blocks of a
 * volume take the place of the last ones of the volume before it. */
constexpr double LEAN_SECONDS = 10.2e-6;
constexpr double LEAN_STORES = 7.5e-6;

/* The same for one response of a bank that is filtered in place, with stores of
 * float32, and for 32 flat blocks. The forward transform takes as long. */
constexpr double BANK_SECONDS = 4.75e-6;
constexpr double BANK_STORES = 8.3e-6;
constexpr double BANK_PLANES_SECONDS = 3.84e-6;
constexpr double BANK_PLANES_STORES = 3.18e-6;

/* The same for a pair of wide blocks, measured on an H200, if a multiprocessor
 * computes as many at a time as it can; and the time between launches in which
 * it computes fewer. */
constexpr double WIDE_SECONDS = 1.7e-6;
constexpr double WIDE_STORES = 0.8e-6;
constexpr double WIDE_BETWEEN = 5e-6;
/* A pair of planes of deep blocks, forward, on the whole device. A thread block
 * that computes responses: without the products, and those with a slice of the
 * filter. */
constexpr double DEEP_FORWARD = 21e-9;
constexpr double DEEP_BACKWARD = 19e-6;
constexpr double DEEP_PRODUCTS = 0.45e-6;
/* The part of these times that memory takes: an H200, whose memory is 1.43
 * times as fast, needs 0.88 of them. */
constexpr double DEEP_MEMORY = 0.4;

/* Bytes of spectra per second that a pass over the ring reads and writes on
 * that device. */
constexpr double RING_RATE = 2.6e12;

/* Seconds to make a ring. cuFFT reads its library and makes its plans. */
constexpr double BLOCKS_SETUP = 4e-3;
constexpr double WHOLE_SETUP = 75e-3;

/* The part of the seconds above that a push or a response alone takes. */
constexpr double ONE_WAY = 0.6;

/* The bytes of a spectrum, compared with those of the padded volume: the size
 * of a transform is rounded up. */
constexpr double SPECTRUM_BYTES = 1.15;

/* Multiply-adds of float64 per second that transforms do at most, on a device
 * whose rate is that of float32 of an H100 (cuda/rates.h). */
constexpr double DOUBLE_RATE = 12e12;

/* The seconds that the arithmetic of one transform takes. In single precision
 * memory always takes longer. Many GPUs do float64 at 1/64 of the rate. */
static double
arithmetic_cost (const RingJob &job)
{
  const double n = count_padded (job) * SPECTRUM_BYTES;

  return job.precision == ND_PRECISION_DOUBLE ? 1.25 * n * std::log2 (n)
          / DOUBLE_RATE / device_rates ().double_multiply_adds
                                              : 0;
}

double
whole_cost (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  const double bytes = count_padded (job) * real_size (job) * SPECTRUM_BYTES;
  const double n = job.bank->n_filters;
  /* A transform reads and writes all numbers once for each axis. */
  const double spectra = reach.slots > 2 ? reach.slots : 2 * reach.slots;

  const double bytes_rate = BYTE_RATE * device_rates ().bytes;
  const double transform =
      std::max (bytes * 2 * 3 / bytes_rate, arithmetic_cost (job));

  return transform * (1 + n)
      + (bytes * spectra * n + push_bytes (job)) / bytes_rate
      + (5 + 4 * n) * LAUNCH;
}

/* The bytes that a transform and its inverse read and write for each byte of
 * real samples, and those of padding, products and storing. */
constexpr double TRANSFORM_BYTES = 2 * 3, COPY_BYTES = 2;

/* All parts together transform as many numbers as whole volumes, and the
 * filters too. Each part reads the volumes, and reads and writes the
 * responses. */
double
decimated_cost (const RingJob &job, int parts)
{
  const NdReach reach = nd_job_reach (&job);
  const double t = reach.slots, n = job.bank->n_filters;
  const double numbers = count_padded (job) * SPECTRUM_BYTES;
  const double part =
      t * (2 * (TRANSFORM_BYTES + COPY_BYTES) + 3) + TRANSFORM_BYTES + 1;

  return numbers * real_size (job) * n * (part + parts / 2 * (t + 2))
      / BYTE_RATE / device_rates ().bytes;
}

/* The spectra of a block that are read and written for one volume. A push
 * writes a spectrum. A response to fewer than 5 volumes reads all t spectra,
 * once for all filters. In longer windows, sums are begun ahead
 * (cuda/fft/sums.cuh): for four responses together, a pass reads t spectra and
 * writes four sums, and the responses read the sums and 6 spectra of volumes
 * that were pushed since. A pass that the filters of a bank share serves two
 * responses of each. */
static double
ring_spectra (const RingJob &job, const NdReach &reach)
{
  const double n = job.bank->n_filters, t = reach.slots;

  if (t < 5)
    return 1 + t;
  if (passes_are_shared (job, reach) && n > 2)
    return 1 + (t + 1) / 2 + 2 * n;
  return 1 + n * (t + 14) / 4;
}

/* The seconds of a bank that is filtered in place, for @blocks blocks or 32
 * times as many flat ones on each multiprocessor. The last ones are divided, so
 * that they take about one response. @valid: the part of the samples of a block
 * that is stored. */
static double
bank_seconds (const RingJob &job, bool flat, double blocks, double valid)
{
  const double bytes =
      nd_job_combines (&job) ? 4 : nd_sample_size (job.out_type);
  const double stores = valid * (bytes + 1) / 5; /* as measured for 1 and 4 */
  const double response = flat
      ? BANK_PLANES_SECONDS + BANK_PLANES_STORES * stores
      : BANK_SECONDS + BANK_STORES * stores;

  return (blocks * (1 + job.bank->n_filters) + 1) * response;
}

/* Blocks are computed in waves, one block on each multiprocessor. The time of a
 * block grows with the samples that it stores. With a ring, memory is the
 * limit. */
double
blocks_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const NdReach reach = nd_job_reach (&job);
  const double n = job.bank->n_filters;
  const double all = rates.multiprocessors;
  const Blocks b = make_blocks (job, reach);
  const double spectrum = b.is_flat () ? 4096 : 131072;
  const double speed = MULTIPROCESSORS / all * rates.multiply_adds;
  double blocks = job.shape.components, valid = 1, wave;

  for (int a = 0; a < 3; a++) {
    blocks *= b.count[a];
    valid *= b.valid[a] / (a == 2 && b.is_flat () ? 1.0 : 32.0);
  }
  if (n > 1 && reads_in_place (job))
    return bank_seconds (job, b.is_flat (),
               blocks / all / (b.is_flat () ? 32 : 1), valid)
        / speed
        + (job.in_type == ND_FLOAT32 ? 3 : 1) * LAUNCH;
  const bool lean = n == 1 && reach.slots == 1;
  const double block = lean ? LEAN_SECONDS + LEAN_STORES * valid
                            : BLOCK_SECONDS + BLOCK_STORES * valid;

  wave = b.is_flat ()
      ? blocks / 32 / all * (PLANES_SECONDS + PLANES_STORES * valid)
      : (lean ? std::max (blocks / all, 1.0) : std::ceil (blocks / all))
          * block;
  wave /= speed;
  if (lean)
    return wave + LAUNCH;
  return wave * ONE_WAY * (1 + n)
      + blocks * spectrum * ring_spectra (job, reach) / RING_RATE / rates.bytes
      + 2.25 * LAUNCH;
}

/* Each filter is a launch that transforms all blocks. A few pairs take as long
 * as two on each multiprocessor. */
double
wide_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const Blocks b = make_wide_blocks (job, nd_job_reach (&job));
  const double speed =
      MULTIPROCESSORS / rates.multiprocessors * rates.multiply_adds;
  const double pairs =
      (double) ((b.count[0] + 1) / 2) * b.count[1] * b.count[2];
  const double waves = std::max (pairs / rates.multiprocessors, 2.0);
  const double stored = (double) b.valid[0] * b.valid[1] / WIDE / WIDE;

  const double launches = job.shape.components * job.bank->n_filters;

  return (launches * waves * (WIDE_SECONDS + WIDE_STORES * stored)
             + (launches - 1) * WIDE_BETWEEN)
      / speed
      + launches * LAUNCH;
}

double
deep_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const NdReach reach = nd_job_reach (&job);
  const Blocks b = make_blocks (job, reach, DEEP);
  const DeepKernels k =
      deep_kernels (job.in_type, reach.high[2] - reach.low[2] + 1);
  const double all = rates.multiprocessors;
  const double speed = MULTIPROCESSORS / all * rates.multiply_adds
      / (1 - DEEP_MEMORY + DEEP_MEMORY / rates.bytes);
  const double pairs = std::ceil (0.5 * b.count[0] * b.count[1]);
  const double parts = std::ceil ((double) b.outputs[2] / k.depth);
  const double forward =
      pairs * b.padded[2] * DEEP_FORWARD * MULTIPROCESSORS / all;
  const double response = std::ceil (pairs * parts / all)
      * (DEEP_BACKWARD + DEEP_PRODUCTS * k.slices);

  return job.shape.components
      * ((forward + job.bank->n_filters * response) / speed + 4 * LAUNCH);
}

/* The least cost of blocks. */
static double
any_blocks_cost (const RingJob &job)
{
  return std::min ({ blocks_possible (job) ? blocks_cost (job) : INFINITY,
      wide_possible (job) ? wide_cost (job) : INFINITY,
      deep_possible (job) ? deep_cost (job) : INFINITY });
}

double
fft_cost (const RingJob &job)
{
  return std::min (any_blocks_cost (job), whole_cost (job));
}

double
fft_setup (const RingJob &job)
{
  return any_blocks_cost (job) <= whole_cost (job) ? BLOCKS_SETUP : WHOLE_SETUP;
}

} // namespace nd
