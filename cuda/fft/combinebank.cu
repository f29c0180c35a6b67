/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combinebank.cuh"

#include "cuda/device.h"
#include "cuda/fft/coefficients.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

typedef std::complex<double> Complex;

/* Times in microseconds, of one multiprocessor of an H200. */
struct Times
{
  double pair;            /* of filters, for a step; or of its samples */
  double block, response; /* of a block: its samples; and a response that is
                           * stored, and combined by a second kernel */
};
constexpr Times DEEP = { 8.5, 6.7, 11.5 };
constexpr Times FLAT = { 6, 5.6, 8.8 };
constexpr int FLAT_BLOCKS = 32; /* of a multiprocessor, in @block */

int
taps_along_z (const NdReach &reach)
{
  return reach.high[2] - reach.low[2] + 1;
}

/* The spectrum of a plane of BLOCK x BLOCK samples whose first samples are
 * @rows, such that sample i of the product's inverse transform is that of a
 * filter that reads sample i first. */
std::vector<Complex>
spectrum_of (const std::vector<std::vector<Complex>> &rows)
{
  std::vector<Complex> power (BLOCK), half (rows.size () * BLOCK),
      spectrum (BLOCK * BLOCK);

  for (int i = 0; i < BLOCK; i++)
    power[i] = std::polar (1.0, 2 * M_PI * i / BLOCK);
  for (size_t y = 0; y < rows.size (); y++)
    for (int k = 0; k < BLOCK; k++)
      for (size_t x = 0; x < rows[y].size (); x++)
        half[y * BLOCK + k] += rows[y][x] * power[k * x % BLOCK];
  for (int ky = 0; ky < BLOCK; ky++)
    for (size_t y = 0; y < rows.size (); y++)
      for (int k = 0; k < BLOCK; k++)
        spectrum[ky * BLOCK + k] += half[y * BLOCK + k] * power[ky * y % BLOCK];
  return spectrum;
}

} // namespace

int
divide_bank (BankArguments &bank, int places)
{
  const int rest = bank.n_units % places, n = bank.n_filters;
  int best = 0;

  bank.whole = bank.n_units - rest;
  bank.parts = 1;
  bank.filters_of_part = n;
  for (int filters = n; filters > 0 && rest > 0; filters--) {
    const int parts = (n + filters - 1) / filters;
    const int time = (1 + filters) * ((rest * parts + places - 1) / places);

    if (best == 0 || time < best) {
      best = time;
      bank.parts = parts;
      bank.filters_of_part = filters;
    }
  }
  return bank.whole / places * (1 + n) + best;
}

CombinedBank::CombinedBank (const RingJob &job, const NdReach &reach,
    const Blocks &blocks)
    : job (job), reach (reach), blocks (blocks),
      kernel (combine_kernel_for (job.in_type, blocks,
          job.combined && job.combined->response == ND_RESPONSE_SUM))
{
  if (!job.combined || !is_possible () || !is_worth ())
    return;
  const BankArguments divided = divide ();
  const size_t rest = divided.parts > 1 ? divided.n_units - divided.whole : 0;

  plan_weights ();
  combined.plan (multiply (rest * divided.parts,
      (size_t) kernel.words * kernel.threads));
  done.plan (rest);
  if (job.in_type == ND_FLOAT32) {
    size_t samples = job.bank->n_filters;

    for (int axis = 0; axis < 3; axis++)
      samples = multiply (samples, job.shape.size[axis]);
    responses.plan (samples);
    again.plan (1);
  }
}

/* Responses to samples that are not finite are corrected in memory, for one
 * component. Numbers of responses are bytes. */
bool
CombinedBank::is_possible () const
{
  const NdResponse response = job.combined->response;

  return job.bank->n_filters > 1 && reads_in_place (job)
      && blocks.valid[1] <= COMBINED_ROWS
      && taps_along_z (reach) <= COMBINED_TAPS && job.shape.components != 2
      && (job.in_type != ND_FLOAT32 || job.shape.components == 1)
      && (response == ND_RESPONSE_SUM || response == ND_RESPONSE_MAX
          || response == ND_RESPONSE_ARGMAX)
      && nd_bank_responses (job.bank) <= 256
      && kernel.shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

size_t
CombinedBank::count_steps () const
{
  const size_t tiles = (size_t) blocks.count[0] * blocks.count[1];
  const size_t planes =
      blocks.is_flat () ? tiles * blocks.count[2] : (size_t) blocks.outputs[2];
  const size_t steps = (planes + kernel.step - 1) / kernel.step;

  return blocks.is_flat () ? steps : tiles * steps;
}

BankArguments
CombinedBank::divide () const
{
  BankArguments bank = {};

  bank.n_units = count_steps ();
  bank.n_filters = (job.bank->n_filters + 1) / 2;
  divide_bank (bank, device_attribute (cudaDevAttrMultiProcessorCount));
  return bank;
}

/* Whether the kernel takes less time than one that divides the last blocks, and
 * a second kernel. Tests of blocks use it for small volumes, too. */
bool
CombinedBank::is_worth () const
{
  const char *const variable = getenv ("NDCONV_CUDA_FFT");
  const size_t all = device_attribute (cudaDevAttrMultiProcessorCount);
  const unsigned n = job.bank->n_filters;
  const Times times = blocks.is_flat () ? FLAT : DEEP;
  double units = (double) blocks.count[0] * blocks.count[1] * blocks.count[2];
  BankArguments divided = divide ();
  const int turns = divide_bank (divided, all);

  if (blocks.is_flat ())
    units /= FLAT_BLOCKS;
  if (variable && strcmp (variable, "blocks") == 0)
    return true;
  return turns * times.pair
      <= units / all * (times.block + n * times.response) + times.response;
}

void
CombinedBank::plan_weights ()
{
  const unsigned n = job.bank->n_filters;
  const int taps[2] = { reach.high[0] - reach.low[0] + 1,
    reach.high[1] - reach.low[1] + 1 };
  const int planes = taps_along_z (reach);
  /* Transforms are not scaled, and the kernel doubles the volume's. */
  const double scale = 1.0 / (2 * BLOCK * BLOCK);
  const std::vector<std::vector<Complex>> zeros (taps[1],
      std::vector<Complex> (taps[0]));
  std::vector<float4> host;

  for (unsigned k = 0; k < n; k += 2) {
    std::vector<std::vector<std::vector<Complex>>> pair (planes, zeros);

    for (unsigned i = k; i < std::min (k + 2, n); i++) {
      for_each_coefficient (job.bank->filters[i], 0, reach,
          [&] (int x, int y, int z, double w) {
            pair[z][y][x] +=
                scale * w * (i == k ? Complex (1) : Complex (0, 1));
          });
    }
    for (const auto &rows : pair) {
      const std::vector<Complex> spectrum = spectrum_of (rows);

      for (int thread = 0; thread < kernel.threads; thread++)
        host.push_back (combine_weights (thread,
            [&] (int kx, int ky) { return spectrum[ky * BLOCK + kx]; }));
    }
  }
  weights.plan (std::move (host));
}

void
CombinedBank::respond (const BlockArguments &to, cudaStream_t stream)
{
  const int places = device_attribute (cudaDevAttrMultiProcessorCount);
  CombineArguments a = { to };

  a.bank = divide ();
  a.bank.n_filters = job.bank->n_filters;
  a.bank.again = again.get ();
  a.response = job.combined->response;
  a.is_complex = job.bank->is_complex;
  a.taps = taps_along_z (reach);
  a.pairs = (job.bank->n_filters + 1) / 2;
  a.weights = weights.get ();
  a.threshold = job.combined->threshold;
  a.none = ND_LABEL_NONE (job.combined->out_type);
  a.combined = combined.get ();
  a.done = done.get ();
  if (again.get ())
    ND_CUDA (cudaMemsetAsync (again.get (), 0, again.bytes (), stream));
  allow_shared (kernel.kernel, kernel.shared);
  launch_kernel (kernel.kernel, dim3 (places), dim3 (kernel.threads),
      kernel.shared, stream, &a, false);
}

} // namespace nd
