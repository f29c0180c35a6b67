/* Cost models of methods `direct` and `separable`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/cost.h"
#include "cuda/direct/double.h"

namespace nd
{

/* Multiply-adds per second on an H100 (cuda/cost.h). */
constexpr double DIRECT_RATE = 21e12;
constexpr double SPARSE_RATE = 6e12; /* if each coefficient is tested for 0 */
constexpr double PASS_RATE = 24e12;  /* of a pass of method separable */

/* The same in double precision. The rates of other devices are relative to the
 * float32 rate of an H100, which is twice its float64 rate. */
constexpr double DOUBLE_RATE = 17e12;
constexpr double DOUBLE_SPARSE_RATE = 12e12;

/* Without a ring, volumes of float64 are read in place. */
static double
double_direct_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const double pushed =
      reads_double_in_place (job) ? count_samples (job) * 8 : push_bytes (job);
  double taps = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    double zeros = 0;

    for (size_t i = 0; i < nd_filter_count (f); i++)
      zeros += f->coefficients[i] == 0;
    taps += nd_filter_count (f)
        / (zeros > 0 && nd_sample_is_float (job.in_type) ? DOUBLE_SPARSE_RATE
                                                         : DOUBLE_RATE);
  }
  return count_samples (job) * taps / rates.double_multiply_adds
      + pushed / BYTE_RATE / rates.bytes + 2 * LAUNCH;
}

/* Each pass reads and writes a volume of float64, and that along t reads the
 * window. */
static double
double_separable_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  double volumes = job.in_type == ND_FLOAT64 ? 0 : 2, passes = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const size_t *size = job.bank->filters[k]->size;
    const double n = 1 + (size[1] > 1) + (size[2] > 1);

    passes += n;
    volumes += 2.5 * n; /* lines are also read by their neighbours */
    if (size[3] > 1) {
      volumes += size[3] + 1;
      passes++;
    }
  }
  return count_samples (job) * volumes * sizeof (double) / BYTE_RATE
      / rates.bytes
      + passes * LAUNCH;
}

double
direct_cost (const RingJob &job)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return double_direct_cost (job);
  const Rates rates = device_rates ();
  double taps = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const NdFilter *f = job.bank->filters[k];
    double zeros = 0;

    for (size_t i = 0; i < nd_filter_count (f); i++)
      zeros += f->coefficients[i] == 0;
    taps += nd_filter_count (f)
        / (zeros > 0 && job.in_type == ND_FLOAT32 ? SPARSE_RATE : DIRECT_RATE);
  }
  return count_samples (job) * taps / rates.multiply_adds
      + push_bytes (job) / BYTE_RATE / rates.bytes + 2 * LAUNCH;
}

/* A filter has up to three passes: x and y together, z, and t. Each reads and
 * writes a volume of float32, and that along t reads the window. */
double
separable_cost (const RingJob &job)
{
  if (job.precision == ND_PRECISION_DOUBLE)
    return double_separable_cost (job);
  const Rates rates = device_rates ();
  double taps = 0, volumes = 0, passes = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++) {
    const size_t *size = job.bank->filters[k]->size;

    for (int a = 0; a < ND_AXES; a++)
      taps += size[a];
    volumes += size[2] > 1 ? 4 : 2;
    passes += size[2] > 1 ? 2 : 1;
    if (size[3] > 1) {
      volumes += size[3] + 1;
      passes++;
    }
  }
  return count_samples (job) * taps / PASS_RATE / rates.multiply_adds
      + count_samples (job) * volumes * sizeof (float) / BYTE_RATE / rates.bytes
      + passes * LAUNCH;
}

} // namespace nd
