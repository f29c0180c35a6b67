/* How long work on a stream takes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndcuda.h"

namespace nd
{

class Timer
{
public:
  explicit Timer (cudaStream_t stream) : stream (stream)
  {
    for (cudaEvent_t &event : events)
      ND_CUDA (cudaEventCreate (&event));
  }
  ~Timer ()
  {
    for (cudaEvent_t event : events)
      cudaEventDestroy (event);
  }
  Timer (const Timer &) = delete;

  /* Seconds for each of @repeats calls of @enqueue, after one that warms up. */
  template <typename F> double seconds (int repeats, F enqueue) const
  {
    float ms;

    enqueue ();
    ND_CUDA (cudaEventRecord (events[0], stream));
    for (int i = 0; i < repeats; i++)
      enqueue ();
    ND_CUDA (cudaEventRecord (events[1], stream));
    ND_CUDA (cudaEventSynchronize (events[1]));
    ND_CUDA (cudaEventElapsedTime (&ms, events[0], events[1]));
    return ms * 1e-3 / repeats;
  }

private:
  const cudaStream_t stream;
  cudaEvent_t events[2] = {};
};

} // namespace nd
