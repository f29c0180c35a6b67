/* Measures the time that work on a stream takes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

namespace nd
{

class Timer
{
public:
  explicit Timer (cudaStream_t stream) : stream (stream) {}

  /* The seconds per call of @enqueue. Makes one call that is not measured, then
   * @repeats calls that are. */
  template <typename F>
  double seconds (int repeats, F enqueue) const
  {
    float ms;

    enqueue ();
    ND_CUDA (cudaEventRecord (begin.event, stream));
    for (int i = 0; i < repeats; i++)
      enqueue ();
    ND_CUDA (cudaEventRecord (end.event, stream));
    ND_CUDA (cudaEventSynchronize (end.event));
    ND_CUDA (cudaEventElapsedTime (&ms, begin.event, end.event));
    return ms * 1e-3 / repeats;
  }

private:
  struct Moment
  {
    Moment () { ND_CUDA (cudaEventCreate (&event)); }
    ~Moment () { cudaEventDestroy (event); }
    Moment (const Moment &) = delete;

    cudaEvent_t event;
  };
  const cudaStream_t stream;
  const Moment begin, end;
};

} // namespace nd
