/* Cost models of methods `direct` and `separable`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/cost.h"

namespace nd
{

/* Multiply-adds per second on an H100 (cuda/cost.h). */
constexpr double DIRECT_RATE = 21e12;
constexpr double SPARSE_RATE = 6e12; /* if each coefficient is tested for 0 */
constexpr double PASS_RATE = 5e12;   /* of a pass of method separable */

double
direct_cost (const RingJob &job)
{
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

/* A filter has four passes. Each reads and writes a volume of float32. */
double
separable_cost (const RingJob &job)
{
  const Rates rates = device_rates ();
  const double n = job.bank->n_filters;
  double taps = 0;

  for (unsigned k = 0; k < job.bank->n_filters; k++)
    for (int a = 0; a < ND_AXES; a++)
      taps += job.bank->filters[k]->size[a];
  return count_padded (job) * taps / PASS_RATE / rates.multiply_adds
      + (count_padded (job) * n * 4 * 8 + push_bytes (job)) / BYTE_RATE
      / rates.bytes
      + (1 + 4 * n) * LAUNCH;
}

} // namespace nd
