/* The cost model: seconds per volume from what an H100 takes, as
 * docs/performance.md measures it, and the rates of the device at hand; what
 * decides is how methods compare.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <algorithm>
#include <cmath>

#include "ndblocks.cuh"
#include "ndrates.h"

namespace nd
{

namespace
{

constexpr double DIRECT_RATE = 21e12;   /* multiply-adds a second */
constexpr double SPARSE_RATE = 6e12;    /* with a test for zero each */
constexpr double PASS_RATE = 5e12;      /* of one-dimensional filters */
constexpr double BYTE_RATE = 2.1e12;
constexpr double MULTIPROCESSORS = 132;
constexpr double BLOCK_SECONDS = 12.3e-6;       /* of an FFT block */
constexpr double BLOCK_STORES = 10e-6;          /* more, of all its samples */
constexpr double PLANES_SECONDS = 9e-6;         /* of 32 planes of one */
constexpr double RING_RATE = 2.6e12;            /* bytes of spectra */
constexpr double LAUNCH = 3e-6;

double
samples (const NdJob &job)
{
  double n = job.shape.components;

  for (int a = 0; a < 3; a++)
    n *= job.shape.size[a];
  return n;
}

double
padded (const NdJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  double n = job.shape.components;

  for (int a = 0; a < 3; a++)
    n *= job.shape.size[a] + reach.high[a] - reach.low[a];
  return n;
}

double
push_bytes (const NdJob &job)
{
  return padded (job) * (4 + nd_sample_size (job.in_type));
}

} // namespace

double
direct_cost (const NdJob &job)
{
  const Rates rates = device_rates ();
  double taps = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    double zeros = 0;

    for (size_t i = 0; i < nd_filter_count (f); i++)
      zeros += f->coefficients[i] == 0;
    taps += nd_filter_count (f) / (zeros > 0 && job.in_type == ND_FLOAT32
        ? SPARSE_RATE : DIRECT_RATE);
  }
  return samples (job) * taps / rates.multiply_adds
      + push_bytes (job) / BYTE_RATE / rates.bytes + 2 * LAUNCH;
}

double
separable_cost (const NdJob &job)
{
  const Rates rates = device_rates ();
  const double n = job.bank->n_filters;
  double taps = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    for (int a = 0; a < ND_AXES; a++)
      taps += job.bank->filters[k]->size[a];
  return padded (job) * taps / PASS_RATE / rates.multiply_adds
      + (padded (job) * n * 4 * 8 + push_bytes (job)) / BYTE_RATE / rates.bytes
      + (1 + 4 * n) * LAUNCH;
}

double
whole_cost (const NdJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  const double bytes = padded (job) * 4 * 1.15;
  const double n = job.bank->n_filters;
  /* A transform reads and writes once for each axis. */
  const double spectra = reach.slots > 2 ? reach.slots : 2 * reach.slots;

  return (bytes * (2 * 3 * (1 + n) + spectra * n) + push_bytes (job))
      / BYTE_RATE / device_rates ().bytes + (5 + 4 * n) * LAUNCH;
}

/* Blocks go in waves, one to a multiprocessor; what a block takes grows with
 * what it stores. Longer windows wait for memory: push writes a spectrum, and
 * of four responses one reads the window and writes the sums begun. */
double
blocks_cost (const NdJob &job)
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
  wave = b.is_flat () ? blocks / 32 / all * PLANES_SECONDS
      : std::ceil (blocks / all) * (BLOCK_SECONDS + BLOCK_STORES * valid);
  wave *= all / MULTIPROCESSORS / rates.multiply_adds;
  if (n == 1 && t == 1)
    return wave + LAUNCH;
  return wave * 0.6 * (1 + n) + blocks * spectrum * (1 + n * (t < 5 ? t
          : (t + 14) / 4)) / RING_RATE / rates.bytes + (1 + 1.25 * n) * LAUNCH;
}

double
fft_cost (const NdJob &job)
{
  return blocks_possible (job) ? std::min (blocks_cost (job),
      whole_cost (job)) : whole_cost (job);
}

} // namespace nd
