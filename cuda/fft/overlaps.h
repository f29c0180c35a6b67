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

/* When kernels of a response wait until all work before it in the stream is
 * complete. Wide blocks are always stored after that. */
enum Begin
{
  BEGIN_AFTER_ALL, /* before they load samples */
  LOAD_EARLY,      /* before they store responses */
  BEGIN_EARLY,     /* before they end */
};

/* Tells which volumes can be loaded before the response to the volume before
 * them is complete: those that do not use the memory of responses that may not
 * be complete. Responses can be stored early, too, in memory that may not be
 * used any more. */
class Overlaps
{
public:
  /* The response waits for all work before it. */
  void restart (const Range &in, const Range &out)
  {
    running.assign (1, Access{ in, out });
  }

  Begin begin (const Range &in, const Range &out)
  {
    bool loads = !running.empty () && running.size () < MOST;
    bool stores = loads;

    for (const Access &a : running) {
      loads = loads && !in.overlaps (a.out);
      stores = stores && !out.overlaps (a.out) && !out.overlaps (a.in);
    }
    if (!loads) {
      restart (in, out);
      return BEGIN_AFTER_ALL;
    }
    running.push_back (Access{ in, out });
    return stores ? BEGIN_EARLY : LOAD_EARLY;
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
