/* The product spectra of a moving window: the spectrum of each volume times
 * that of the filter, summed over the volumes of the window.
 *
 * A pass over the window reads every spectrum of the ring, and its speed is
 * limited by memory. The pass for one output therefore also begins the sums of
 * the next outputs with the volumes that are in the ring. Each of these sums is
 * completed later with the few volumes that were pushed since. All sums add the
 * volumes from the oldest to the newest, so that an output has the same bits
 * whichever pass began its sum.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

#include <vector>

namespace nd
{

/* The spectra of one filter and of one component of all volumes. */
struct WindowSpectra
{
  const float2 *ring;    /* spectrum of slot 0 */
  size_t ring_stride;    /* numbers from slot to slot */
  const void *filter;    /* [t][filter_numbers] of float2, or float */
  size_t filter_numbers; /* even; the same for each block of a volume */
  bool blocks;           /* BlockSpectrum (cuda/fft/spectrum.cuh) */
  bool real;             /* the filter's spectra are float */
};

class WindowSums
{
public:
  /* Keeps sums for each window: each pair of a filter and a component. The
   * spectrum of a volume has @numbers numbers, an even count. */
  WindowSums (const RingJob &job, const NdReach &reach, size_t numbers,
      cudaStream_t stream);
  size_t bytes () const { return sums.bytes (); }
  void allocate () { sums.allocate (); }

  void pushed (unsigned slot) { generations[slot]++; }

  /* A sum over slots[0] to slots[first - 1]; the other slots are missing. */
  struct Start
  {
    float2 *sum;
    unsigned first;
  };

  /* Returns the sum that an earlier pass began or, if there is none for @slots,
   * enqueues a pass. */
  Start start (const int *slots, size_t window, const WindowSpectra &spectra);

  /* Adds the missing slots to a sum, and returns it. */
  float2 *finish (const int *slots, const Start &start,
      const WindowSpectra &spectra);

private:
  bool goes_on (const int *slots, size_t window, int used) const;
  struct SumArguments arguments_for (const int *slots,
      const WindowSpectra &spectra) const;

  struct Begun
  {
    int used = 0; /* outputs since the sums were begun */
    std::vector<int> slots;
    std::vector<unsigned> generations;
  };
  const NdReach reach;
  const size_t numbers;
  const cudaStream_t stream;
  const int ahead;     /* sums begun at once */
  Memory<float2> sums; /* [window][ahead] */
  std::vector<Begun> begun;
  std::vector<unsigned> generations; /* pushes into each slot so far */
};

} // namespace nd
