/* The product spectra of a moving window: the spectrum of each volume times
 * that of the filter, summed over the volumes of the window.
 *
 * A pass over the window reads every spectrum of the ring, and its speed is
 * limited by memory. The pass for one output therefore also begins the sums of
 * the next outputs with the volumes that are in the ring. Each of these sums is
 * completed later with the few volumes that were pushed since. All sums add the
 * volumes from the oldest to the newest, so that an output has the same bits
 * whichever pass began its sum. The filters of a bank can share a pass, which
 * reads the spectra once for all of them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/fft/spectrum.cuh"
#include "cuda/method.h"

#include <vector>

namespace nd
{

/* The spectra of one filter and of one component of all volumes. R is float or
 * double. */
template <typename R>
struct WindowSpectra
{
  const Number<R> *ring; /* spectrum of slot 0 */
  size_t ring_stride;    /* numbers from slot to slot */
  const void *filter;    /* [t][filter_numbers] of Number<R>, or R */
  size_t filter_numbers; /* even; the same for each block of a volume */
  bool blocks;           /* BlockSpectrum (cuda/fft/spectrum.cuh) */
  bool real;             /* the filter's spectra are R */
};

/* Whether the filters of the job's bank can share passes. */
bool passes_are_shared (const RingJob &job, const NdReach &reach);

template <typename R>
struct SumArguments;

template <typename R>
class WindowSums
{
public:
  /* Keeps sums for each window: each pair of a filter and a component. The
   * spectrum of a volume has @numbers numbers, an even count. @share: if
   * the filters of the bank can share passes, they do, and all calls are of
   * start_bank (). */
  WindowSums (const RingJob &job, const NdReach &reach, size_t numbers,
      bool share, cudaStream_t stream);
  size_t bytes () const { return sums.bytes (); }
  void allocate () { sums.allocate (); }

  void pushed (unsigned slot) { generations[slot]++; }

  /* A sum over slots[0] to slots[first - 1]; the other slots are missing. */
  struct Start
  {
    Number<R> *sum;
    unsigned first;
  };

  /* Returns the sum that an earlier pass began or, if there is none for @slots,
   * enqueues a pass. */
  Start start (const int *slots, size_t window,
      const WindowSpectra<R> &spectra);

  /* Of float only: the same for all filters and one component. The complex
   * @spectra are those of filter 0, after which those of the others follow. The
   * sum of the next filter is at sum + stride (). */
  Start start_bank (const int *slots, size_t component,
      const WindowSpectra<R> &spectra);
  size_t stride () const { return begun.size () / n_filters * ahead * numbers; }

  /* Adds the missing slots to a sum, and returns it. */
  Number<R> *finish (const int *slots, const Start &start,
      const WindowSpectra<R> &spectra);

private:
  bool goes_on (const int *slots, size_t window, int used) const;
  bool use_begun (const int *slots, size_t window);
  SumArguments<R> arguments_for (const int *slots,
      const WindowSpectra<R> &spectra) const;

  struct Begun
  {
    int used = 0; /* outputs since the sums were begun */
    std::vector<int> slots;
    std::vector<unsigned> generations;
  };
  const NdReach reach;
  const unsigned n_filters;
  const size_t numbers;
  const bool share;
  const cudaStream_t stream;
  const int ahead;        /* sums begun at once */
  Memory<Number<R>> sums; /* [window][ahead] */
  std::vector<Begun> begun;
  std::vector<unsigned> generations; /* pushes into each slot so far */
};

template <>
WindowSums<float>::Start WindowSums<float>::start_bank (const int *slots,
    size_t component, const WindowSpectra<float> &spectra);

} // namespace nd
