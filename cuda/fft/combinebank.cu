/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/combinebank.cuh"

#include "cuda/cost.h"
#include "cuda/device.h"
#include "cuda/fft/coefficients.h"
#include "cuda/launch.cuh"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nd
{

namespace
{

typedef std::complex<double> Complex;

/* Times in microseconds, of one of the multiprocessors of an H200. */
constexpr double MULTIPROCESSORS = 132;
struct Times
{
  double pair;            /* one pair of filters for a step or for 16 flat
                           * blocks, or the transforms of their samples */
  double block, response; /* for a block or 32 flat ones: the transforms of
                           * samples; one response that is stored, and combined
                           * by a second kernel */
};
constexpr Times SHORT = { 9, 6.7, 11.5 };
constexpr Times LONG = { 10.5, 6.7, 8.5 };
constexpr Times FLAT = { 3.4, 5.6, 8.8 };

/* The least work of a multiprocessor, in 16 flat blocks: fewer blocks take as
 * long. */
constexpr double FEWEST = 0.4;

int
taps_along_z (const NdReach &reach)
{
  return reach.high[2] - reach.low[2] + 1;
}

typedef std::vector<std::vector<Complex>> Planes; /* [y][x], or [z][number] */

/* The spectrum of a plane of BLOCK x BLOCK samples whose first samples are
 * @rows, such that sample i of the product's inverse transform is that of a
 * filter that reads sample i first. */
std::vector<Complex>
spectrum_of (const Planes &rows)
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

/* The same along z, of the spectra of planes. */
Planes
spectra_along_z (const Planes &planes)
{
  Planes spectra (BLOCK, std::vector<Complex> (BLOCK * BLOCK));

  for (int k = 0; k < BLOCK; k++) {
    for (size_t z = 0; z < planes.size (); z++) {
      const Complex turn = std::polar (1.0, 2 * M_PI * (k * z % BLOCK) / BLOCK);

      for (int i = 0; i < BLOCK * BLOCK; i++)
        spectra[k][i] += planes[z][i] * turn;
    }
  }
  return spectra;
}

/* Divides the pairs of filters of all steps among @places thread blocks, whose
 * work is @begins, if it is not nullptr. Each begins with the last pairs of a
 * step that the one before it began. A step takes as long as a pair of it, to
 * transform its samples. Returns the time of the longest work, in pairs. */
int
divide_pairs (int steps, int pairs, int places, std::vector<int> *begins)
{
  const int all = steps * pairs;
  int time = std::max (2, (all + steps) / places), at;

  do {
    std::vector<int> found = { 0 };

    at = 0;
    for (int i = 0; i < places; i++) {
      const int rest = std::min ((pairs - at % pairs) % pairs, time - 1);
      const int left = rest > 0 ? time - 1 - rest : time;

      at += rest;
      if (at % pairs == 0)
        at += left / (1 + pairs) * pairs + std::max (left % (1 + pairs) - 1, 0);
      at = std::min (at, all);
      found.push_back (at);
    }
    if (begins)
      *begins = std::move (found);
  } while (at < all && time++ < INT_MAX);
  return time;
}

bool
makes_tensor (const RingJob &job)
{
  return job.combined && job.combined->response == ND_RESPONSE_TENSOR;
}

CombineKernel
kernel_for (const RingJob &job, const NdReach &reach, const Blocks &blocks)
{
  if (makes_tensor (job))
    return tensor_planes_kernel (job.in_type);
  const bool is_sum = job.combined && job.combined->response == ND_RESPONSE_SUM;

  return blocks.is_flat ()
      ? combine_planes_kernel (job.in_type, is_sum)
      : combine_volumes_kernel (job.in_type, is_sum, taps_along_z (reach));
}

/* Responses to samples that are not finite are corrected in memory, for one
 * component. Numbers of responses have 8 bits at most, since a magnitude has 15
 * others. */
bool
is_possible (const RingJob &job, const Blocks &blocks,
    const CombineKernel &kernel, const CombinedFilters &filters)
{
  const NdResponse response =
      job.combined ? job.combined->response : ND_RESPONSE_ALL;

  return job.bank->n_filters > 1 && reads_in_place (job)
      && blocks.valid[1] <= COMBINED_ROWS && job.shape.components != 2
      && (job.in_type != ND_FLOAT32 || job.shape.components == 1)
      && (response == ND_RESPONSE_SUM || response == ND_RESPONSE_MAX
          || response == ND_RESPONSE_ARGMAX
          || (response == ND_RESPONSE_TENSOR && blocks.is_flat ()
              && job.shape.components == 1 && filters.recipe.axes == 2
              && filters.recipe.is_quadratic != job.bank->is_complex))
      && nd_bank_responses (job.bank) <= 256
      && kernel.shared
      <= (size_t) device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

/* The steps of a volume, or the thread blocks of flat blocks. */
int
count_steps (const Blocks &blocks, const CombineKernel &kernel)
{
  const int tiles = blocks.count[0] * blocks.count[1];

  return blocks.is_flat ()
      ? (tiles * blocks.count[2] + kernel.step - 1) / kernel.step
      : tiles * ((blocks.outputs[2] + kernel.step - 1) / kernel.step);
}

Times
times_for (const Blocks &blocks, int taps)
{
  return blocks.is_flat () ? FLAT : taps > COMBINED_TAPS ? LONG : SHORT;
}

/* Microseconds of a component on an H200. */
double
combined_time (const Blocks &blocks, const CombineKernel &kernel, int taps,
    int pairs)
{
  const int all = device_attribute (cudaDevAttrMultiProcessorCount);
  const double units =
      (double) blocks.count[0] * blocks.count[1] * blocks.count[2];
  const double turns = blocks.is_flat ()
      ? std::max (units / 16 / all, FEWEST) * (1 + pairs)
      : divide_pairs (count_steps (blocks, kernel), pairs, all, nullptr);

  return turns * times_for (blocks, taps).pair;
}

bool
is_forced ()
{
  const char *const variable = getenv ("NDCONV_CUDA_FFT");

  return variable && strcmp (variable, "blocks") == 0;
}

/* Whether the kernel takes less time than one that stores the responses, and a
 * second kernel. Tests of blocks use it for small volumes, too. */
bool
is_worth (const RingJob &job, const Blocks &blocks, int taps, double time)
{
  const Times times = times_for (blocks, taps);
  const double units = (double) blocks.count[0] * blocks.count[1]
      * blocks.count[2] / (blocks.is_flat () ? 32 : 1);

  return is_forced ()
      || time <= units / device_attribute (cudaDevAttrMultiProcessorCount)
              * (times.block + job.bank->n_filters * times.response)
          + times.response;
}

/* Seconds of an H100 for tensors, of a flat block: one of the transforms of its
 * samples and pairs, or one response that is stored; and the bytes per second
 * of samples, stored responses and tensors. */
constexpr double TENSOR_TURN = 2.6e-9;
constexpr double TENSOR_RESPONSE = 0.53e-9;
constexpr double TENSOR_BYTES = 2.7e12;
/* Frames of fewer blocks for each multiprocessor gain nothing. */
constexpr double TENSOR_BLOCKS = 8;

/* The same for tensors. Long filters have few outputs in a block. */
bool
is_worth_tensor (const RingJob &job, const Blocks &blocks, int pairs)
{
  const double n = job.bank->n_filters;
  double outputs = 1, units = 1;

  for (int axis = 0; axis < 3; axis++) {
    outputs *= blocks.outputs[axis];
    units *= blocks.count[axis];
  }
  /* A response is written and read as float32. */
  return is_forced ()
      || (units >= TENSOR_BLOCKS
                  * device_attribute (cudaDevAttrMultiProcessorCount)
          && units * (1 + pairs) * TENSOR_TURN
              <= units * n * TENSOR_RESPONSE + outputs * 8 * n / TENSOR_BYTES);
}

/* CombineArguments::threshold: magnitudes in float32 from @threshold on are not
 * below it without the bits beyond @mask. */
float
lowest_rank (double threshold, bool is_complex, uint32_t mask)
{
  const double exact = std::max (threshold, 0.0);
  const double rank = is_complex ? exact * exact : exact;
  float lowest = rank;
  uint32_t bits;

  if (lowest < rank)
    lowest = std::nextafter (lowest, INFINITY);
  memcpy (&bits, &lowest, sizeof (bits));
  bits &= mask;
  memcpy (&lowest, &bits, sizeof (bits));
  return lowest;
}

} // namespace

double
combined_cost (const RingJob &job)
{
  const NdReach reach = nd_job_reach (&job);
  const Blocks blocks = make_blocks (job, reach);
  const CombineKernel kernel = kernel_for (job, reach, blocks);
  const CombinedFilters filters (job);
  const Rates rates = device_rates ();

  if (!is_possible (job, blocks, kernel, filters))
    return INFINITY;
  if (makes_tensor (job)
      && !is_worth_tensor (job, blocks, filters.count_pairs ()))
    return INFINITY;
  const int pairs = filters.count_pairs ();
  const double units =
      (double) blocks.count[0] * blocks.count[1] * blocks.count[2];
  const double seconds = makes_tensor (job)
      ? units * (1 + pairs) * TENSOR_TURN
      : 1e-6 * combined_time (blocks, kernel, taps_along_z (reach), pairs);

  return job.shape.components * MULTIPROCESSORS / rates.multiprocessors
      / rates.multiply_adds * (seconds + LAUNCH);
}

/* Each response of a tensor's recipe comes in turn. If their number is odd, the
 * first pair has one filter, so that the last pair has two. */
CombinedFilters::CombinedFilters (const RingJob &job) : recipe ()
{
  for (unsigned i = 0; i < job.bank->n_filters; i++)
    order.push_back (i);
  if (makes_tensor (job) && nd_tensor_recipe (job.bank, &recipe, nullptr)
      && recipe.is_quadratic) {
    order.clear ();
    for (unsigned i = 0; i < recipe.axes && recipe.first[0] >= 0; i++)
      order.push_back (recipe.first[i]);
    for (unsigned i = 0; i < recipe.axes && recipe.second[0][0] >= 0; i++)
      for (unsigned j = i; j < recipe.axes; j++)
        order.push_back (recipe.second[i][j]);
    if (order.size () % 2 != 0)
      order.insert (order.begin (), -1);
  }
  if (order.size () % 2 != 0)
    order.push_back (-1);
}

CombinedBank::CombinedBank (const RingJob &job, const NdReach &reach,
    const Blocks &blocks)
    : job (job), reach (reach), blocks (blocks),
      kernel (kernel_for (job, reach, blocks)), filters (job),
      taps (taps_along_z (reach)), pairs (filters.count_pairs ())
{
  if (!is_possible (job, blocks, kernel, filters)
      || !(makes_tensor (job)
              ? is_worth_tensor (job, blocks, pairs)
              : is_worth (job, blocks, taps,
                    combined_time (blocks, kernel, taps, pairs))))
    return;
  plan_weights ();
  if (!blocks.is_flat ())
    plan_parts ();
  else if (makes_tensor (job))
    plan_values ();
  if (job.in_type == ND_FLOAT32) {
    size_t samples = job.bank->n_filters;

    for (int axis = 0; axis < 3; axis++)
      samples = multiply (samples, job.shape.size[axis]);
    responses.plan (samples);
    again.plan (2);
  }
}

void
CombinedBank::plan_parts ()
{
  const size_t all = device_attribute (cudaDevAttrMultiProcessorCount);
  std::vector<int> parts;

  divide_pairs (count_steps (blocks, kernel), pairs, all, &parts);
  begins.plan (std::move (parts));
  combined.plan (multiply (2 * all, (size_t) kernel.words * kernel.threads));
  done.plan (all);
  numbers.plan (multiply (all, kernel.numbers));
}

/* Warps keep the values of their block but for those of the last pair. */
void
CombinedBank::plan_values ()
{
  const size_t block = (size_t) blocks.valid[0] * blocks.valid[1];
  const size_t kept = job.bank->is_complex ? pairs - 1 : filters.count () - 2;

  combined.plan (multiply ((size_t) count_thread_blocks () * kernel.step,
      block * kept));
}

/* The thread blocks of the kernel. */
int
CombinedBank::count_thread_blocks () const
{
  const int all = device_attribute (cudaDevAttrMultiProcessorCount);
  const int steps = count_steps (blocks, kernel);

  if (!blocks.is_flat ())
    return all;
  return kernel.resident > 0 ? std::min (steps, kernel.resident * all) : steps;
}

void
CombinedBank::plan_weights ()
{
  const int rows = reach.high[1] - reach.low[1] + 1;
  const int row = reach.high[0] - reach.low[0] + 1;
  const bool is_long = taps > COMBINED_TAPS;
  /* Transforms are not scaled, and the kernel doubles the volume's. */
  const double scale = 1.0 / (2 * BLOCK * BLOCK) / (is_long ? BLOCK : 1);
  std::vector<float4> host;

  for (int k = 0; k < 2 * pairs; k += 2) {
    std::vector<Planes> pair (taps, Planes (rows, std::vector<Complex> (row)));
    Planes spectra;

    for (int i = k; i < k + 2; i++) {
      if (filters.order[i] < 0)
        continue;
      for_each_coefficient (job.bank->filters[filters.order[i]], 0, reach,
          [&] (int x, int y, int z, double w) {
            pair[z][y][x] +=
                scale * w * (i == k ? Complex (1) : Complex (0, 1));
          });
    }
    for (const Planes &plane : pair)
      spectra.push_back (spectrum_of (plane));
    if (is_long)
      spectra = spectra_along_z (spectra);
    for (size_t i = 0; i < spectra.size () * COMBINED_WEIGHTS; i++)
      host.push_back (kernel.weight (i,
          [&] (int kx, int ky, int z) { return spectra[z][ky * BLOCK + kx]; }));
  }
  weights.plan (std::move (host));
}

void
CombinedBank::set_recipe (TensorPlaneArguments &a) const
{
  const NdTensorRecipe &recipe = filters.recipe;

  a.n_values = a.is_complex ? pairs : filters.count ();
  a.n_last = a.is_complex ? 1 : 2;
  a.missing = filters.order[0] < 0;
  a.has_first = recipe.is_quadratic && recipe.first[0] >= 0;
  a.has_second = recipe.is_quadratic && recipe.second[0][0] >= 0;
  a.value_bytes = nd_sample_size (job.combined->out_type);
  a.is_plain = a.store.type == ND_FLOAT32 && !a.store.scaled
      && a.store.sample == a.value_bytes * ND_TENSOR_COMPONENTS (recipe.axes);
  for (int k = 0; a.is_complex && k < pairs; k++) {
    for (unsigned c = 0; c < ND_TENSOR_COMPONENTS (recipe.axes); c++)
      a.dual[k][c] = recipe.dual[k][c];
  }
}

void
CombinedBank::respond (const BlockArguments &to, cudaStream_t stream)
{
  TensorPlaneArguments a = {};

  static_cast<BlockArguments &> (a) = to;
  a.bank.n_filters = job.bank->n_filters;
  if (again.get ()) {
    a.later = again.get () + turn;
    turn = 1 - turn;
    a.bank.again = again.get () + turn;
  }
  a.response = job.combined->response;
  a.is_complex = job.bank->is_complex;
  a.responses = nd_bank_responses (job.bank);
  a.mask = ~0u;
  while (a.response == ND_RESPONSE_ARGMAX
      && ~a.mask + 1 < (unsigned) a.responses)
    a.mask <<= 1;
  a.taps = taps;
  a.pairs = pairs;
  a.weights = weights.get ();
  a.threshold = lowest_rank (job.combined->threshold, a.is_complex, a.mask);
  a.none = ND_LABEL_NONE (job.combined->out_type);
  a.begins = begins.get ();
  a.combined = combined.get ();
  a.done = done.get ();
  a.numbers = numbers.get ();
  if (makes_tensor (job))
    set_recipe (a);
  allow_shared (kernel.kernel, kernel.shared);
  launch_kernel (kernel.kernel, dim3 (count_thread_blocks ()),
      dim3 (kernel.threads), kernel.shared, stream, &a, true);
}

} // namespace nd
