/* The pass along t of method `separable`: weighted sums of volumes of a ring.
 *
 * Memory limits this pass. For windows of some length, the thread blocks that
 * read a whole window therefore also begin the sums of the next outputs, which
 * are completed later with the few volumes that were pushed since. Each output
 * has a quarter of such thread blocks, in turn, so that all take as long. All
 * sums add the volumes from the oldest to the newest, so that an output has the
 * same bits whenever its sum was begun.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/direct/passes.cuh"
#include "cuda/method.h"

#include <vector>

namespace nd
{

/* Volume s of the ring is at @ring + s * @step. weights[t] multiplies the
 * volume in slot @first + t of the window. @window: counts the sums of an
 * output. */
template <typename R>
struct TimePass
{
  const R *ring;
  size_t step;
  size_t window;
  const R *weights;
  int n, first;
};

/* R is float or double. */
template <typename R>
class TimeSums
{
public:
  /* For @windows sums of each output. */
  TimeSums (const RingJob &job, const SumLayout &layout, size_t windows);
  size_t bytes () const { return sums.bytes (); }
  void allocate () { sums.allocate (); }

  /* Before allocate(): each output reads its whole window. */
  void save_memory () { sums = Memory<R> (); }

  void pushed (unsigned slot) { generations[slot]++; }

  /* Called for each output, before its sums. */
  void move (const int *slots);

  void run (const TimePass<R> &pass, const Store &out, cudaStream_t stream);

private:
  bool goes_on (const int *slots) const;

  const NdReach reach;
  const SumLayout layout;
  const size_t size[3];
  unsigned moves = 0;     /* outputs in succession before this one whose windows
                           * moved on by one volume */
  std::vector<int> slots; /* of this output */
  std::vector<unsigned> in_slots;    /* the generations of these */
  std::vector<unsigned> generations; /* pushes into each slot so far */
  Memory<R> sums;                    /* [window][BEGUN - 1] */
};

} // namespace nd
