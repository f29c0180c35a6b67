/* The interface of the methods of the CUDA back end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"
#include "cuda/job.h"
#include "cuda/memory.h"
#include "engine/backend.h"

#include <memory>

namespace nd
{

/* The streams that a method enqueues on. */
struct ComputeStreams
{
  cudaStream_t push, respond;
};

/* One method's ring. Its constructor decides and computes all on the host, and
 * allocates nothing. */
class Method
{
public:
  virtual ~Method () = default;

  /* Bytes of device memory that allocate() will take or, after it, has
   * taken. */
  virtual size_t bytes_needed () const = 0;

  /* Called once, before push() and respond(), which only enqueue. */
  virtual void allocate () = 0;

  /* Whether a volume may be pushed while a response reads those before it. The
   * ring then has one slot more than a window. Other methods enqueue all on the
   * stream of responses. Valid after allocate(). */
  virtual bool pushes_ahead () const { return false; }

  /* Stores @volume, which lies on the device, in @slot. nullptr is the border
   * volume, for the last slot. */
  virtual void push (unsigned slot, const NdSamples *volume) = 0;

  /* Writes all responses to @out, on the device. @slots are those that the
   * window's volumes were pushed into, the oldest first. */
  virtual void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) = 0;
};

/* The longest window in time. */
constexpr unsigned MAX_SLOTS = 256;

/* Rows of a volume: the thread blocks of a grid, of four rows each. */
constexpr size_t MAX_ROWS = 4 * 65535;

/* Slots of a ring that is pushed ahead: the window's, one more, and one for the
 * border volume if the job has one. */
inline size_t
ahead_slots (const RingJob &job)
{
  return nd_job_reach (&job).slots + 1 + (job.border_volumes ? 1 : 0);
}

/* @available: bytes of device memory. A method that has a choice takes no
 * more. */
typedef std::unique_ptr<Method> MakeMethod (const RingJob &job,
    const ComputeStreams &streams, size_t available);
MakeMethod make_direct, make_separable, make_fft, make_tensor;

/* Seconds of a volume on the current device: one push and one respond. */
typedef double Cost (const RingJob &job);
Cost direct_cost, separable_cost, fft_cost, tensor_cost;

/* Throws Error if method tensor cannot do the job. */
void check_tensor (const RingJob &job);

/* Throws Error if cuFFT cannot be opened. */
void open_cufft ();

} // namespace nd
