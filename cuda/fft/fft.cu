/* Method `fft`: the choice between its ways (cuda/fft/fft.cuh).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/fft/fft.cuh"

#include "core/log.h"
#include "cuda/cost.h"
#include "cuda/fft/combinebank.cuh"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

namespace nd
{

namespace
{

/* Makes the method of one way, which allocates no memory yet. */
using Way = std::function<std::unique_ptr<Method> ()>;

/* A way, and its seconds per volume. */
struct Candidate
{
  double cost;
  Way way;
};

/* Adds transforms in parts. Two parts would need as much memory as whole
 * volumes. */
void
add_decimated (std::vector<Candidate> &candidates, const RingJob &job,
    cudaStream_t stream)
{
  for (int parts = 4; parts <= 32; parts *= 2)
    candidates.push_back ({ decimated_cost (job, parts),
        [=, &job] { return make_fft_decimated (job, parts, stream); } });
}

/* The seconds of a second kernel that combines responses. */
double
separate_cost (const RingJob &job)
{
  return count_samples (job) * real_size (job) * (job.bank->n_filters + 1)
      / BYTE_RATE / device_rates ().bytes
      + LAUNCH;
}

/* FFT blocks of one size, if the job can use them. */
struct Kind
{
  const char *name;
  bool possible;
  Cost *cost;
  Way way;
};

/* The ways to try, the fastest first. For tests and benchmarks, the environment
 * variable NDCONV_CUDA_FFT selects `blocks`, `wide`, `deep`, `decimated` or
 * `whole`. If the job cannot use the selected kind of blocks, it uses another
 * one. */
std::vector<Way>
ways_to_try (const RingJob &job, const ComputeStreams &streams)
{
  const char *const variable = getenv ("NDCONV_CUDA_FFT");
  const std::string wanted = variable ? variable : "";
  const Way whole = [&] { return make_fft_whole (job, streams.respond); };
  const Kind kinds[] = {
    { "blocks", blocks_possible (job), blocks_cost,
        [&] { return make_fft_blocks (job, streams); } },
    { "wide", wide_possible (job), wide_cost,
        [&] { return make_fft_wide (job, streams); } },
    { "deep", deep_possible (job), deep_cost,
        [&] { return make_fft_deep (job, streams); } },
  };
  std::vector<Candidate> fast, small;
  std::vector<Way> ways;
  bool kind_wanted = false;

  if (wanted == "whole")
    return { whole };
  for (const Kind &kind : kinds) {
    if (kind.possible && wanted == kind.name)
      return { kind.way };
    kind_wanted = kind_wanted || wanted == kind.name;
  }
  for (const Kind &kind : kinds) {
    if (kind.possible && kind_wanted)
      return { kind.way };
    if (kind.possible)
      fast.push_back ({ kind.cost (job), kind.way });
  }
  fast.push_back ({ whole_cost (job), whole });
  if (job.combined)
    for (Candidate &candidate : fast)
      candidate.cost += separate_cost (job);
  if (kinds[0].possible)
    fast[0].cost = std::min (fast[0].cost, combined_cost (job));
  add_decimated (small, job, streams.respond);
  for (std::vector<Candidate> *some : { &fast, &small }) {
    if (some == &fast && wanted == "decimated")
      continue;
    std::stable_sort (some->begin (), some->end (),
        [] (const Candidate &a, const Candidate &b) {
          return a.cost < b.cost;
        });
    for (const Candidate &candidate : *some)
      ways.push_back (candidate.way);
  }
  return ways;
}

/* Method `fft` by the first way that fits into memory. */
class Fft : public Method
{
public:
  Fft (const RingJob &job, const ComputeStreams &streams, size_t available);
  size_t bytes_needed () const override { return chosen->bytes_needed (); }
  void allocate () override;
  bool pushes_ahead () const override { return chosen->pushes_ahead (); }
  bool combines () const override { return chosen->combines (); }
  bool stores_wanted_only () const override
  {
    return chosen->stores_wanted_only ();
  }
  void push (unsigned slot, const NdSamples *volume) override
  {
    chosen->push (slot, volume);
  }
  void begin (const int *slots) override { chosen->begin (slots); }
  void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) override
  {
    chosen->respond (slots, scale, out);
  }

private:
  void choose (size_t available);

  const RingJob job;
  const ComputeStreams streams;
  const std::vector<Way> ways;
  size_t next = 0; /* the way to try next */
  std::unique_ptr<Method> chosen;
};

Fft::Fft (const RingJob &job, const ComputeStreams &streams, size_t available)
    : job (job), streams (streams),
      ways (ways_to_try (this->job, this->streams))
{
  choose (available);
}

/* Chooses the next way that leaves a sixteenth of the @available memory for
 * code and for other programs. If there is none, chooses the one that needs
 * least. */
void
Fft::choose (size_t available)
{
  chosen.reset ();
  while (next < ways.size ()) {
    try {
      std::unique_ptr<Method> way = ways[next++]();

      if (way->bytes_needed () <= available - available / 16) {
        chosen = std::move (way);
        return;
      }
      ND_DEBUG ("a way of method fft needs %zu bytes, %zu are available",
          way->bytes_needed (), available);
      if (!chosen || way->bytes_needed () < chosen->bytes_needed ())
        chosen = std::move (way);
    } catch (const Error &e) {
      if (e.code != ND_ERROR_MEMORY)
        throw;
    }
  }
  if (!chosen)
    throw too_large_volume ();
}

/* A way may need more memory than planned, because a larger transform was
 * measured to be faster, or for cuFFT's work areas. Then the next way is
 * tried. */
void
Fft::allocate ()
{
  for (;;) {
    try {
      chosen->allocate ();
      return;
    } catch (const Error &e) {
      if (e.code != ND_ERROR_MEMORY || next == ways.size ())
        throw;
      ND_INFO ("trying another way of method fft: %s", e.what ());
    }
    chosen.reset (); /* gives its memory back */
    choose (free_bytes ());
  }
}

} // namespace

std::unique_ptr<Method>
make_fft (const RingJob &job, const ComputeStreams &streams, size_t available)
{
  return std::make_unique<Fft> (job, streams, available);
}

} // namespace nd
