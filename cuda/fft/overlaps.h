/* Which responses may be computed at the same time, by early launches
 * (cuda/launch.cuh): those that do not use each other's memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

#include <vector>

namespace nd
{

/* A part of memory. */
struct Range
{
  const unsigned char *begin, *end;

  bool overlaps (const Range &other) const
  {
    return begin < other.end && other.begin < end;
  }
};

inline Range
range_of (const NdSamples &samples, const NdShape &shape, NdSampleType type)
{
  return Range{ samples.data,
    samples.data + (shape.size[2] - 1) * samples.slice
        + (shape.size[1] - 1) * samples.row
        + (shape.size[0] - 1) * samples.sample
        + shape.components * nd_sample_size (type) };
}

/* Tells which volumes can be filtered before the response to the volume before
 * them is complete: those that do not use the memory of responses that may not
 * be complete, and whose response is not stored in memory that may still be
 * read. */
class Overlaps
{
public:
  /* The response waits for all work before it. */
  void restart (const Range &in, const Range &out)
  {
    running.assign (1, Access{ in, out });
  }

  /* If the result is false, the response must wait for all work before it. */
  bool may_begin_early (const Range &in, const Range &out)
  {
    bool may = !running.empty () && running.size () < MOST;

    for (const Access &a : running)
      may = may && !in.overlaps (a.out) && !out.overlaps (a.out)
          && !out.overlaps (a.in);
    if (may)
      running.push_back (Access{ in, out });
    else
      restart (in, out);
    return may;
  }

private:
  static constexpr size_t MOST = 16;
  struct Access
  {
    Range in, out;
  };
  std::vector<Access> running; /* since a response that waited for all others */
};

} // namespace nd
