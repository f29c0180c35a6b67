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

/* The CUDA streams that a method enqueues work on. */
struct ComputeStreams
{
  cudaStream_t push, respond;
};

/* The ring of one method. The constructor does all work of the host and
 * allocates no device memory. */
class Method
{
public:
  virtual ~Method () = default;

  /* The bytes of device memory that allocate() will take or, once it was
   * called, has taken. */
  virtual size_t bytes_needed () const = 0;

  /* Called once, before push() and respond(), which only enqueue. */
  virtual void allocate () = 0;

  /* Whether a volume may be pushed while a response reads earlier volumes. The
   * ring then has one slot more than the window. Other methods enqueue all work
   * on the stream of responses. Valid after allocate(). */
  virtual bool pushes_ahead () const { return false; }

  /* Stores @volume, which is on the device, in @slot. If @volume is nullptr,
   * stores the border volume, which has the last slot. */
  virtual void push (unsigned slot, const NdSamples *volume) = 0;

  /* Writes all responses to @out, which is on the device. @slots: the slots of
   * the window's volumes, the oldest first. */
  virtual void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) = 0;
};

/* The longest window in time. */
constexpr unsigned MAX_SLOTS = 256;

/* The most rows of a volume: a grid has up to 65535 thread blocks along y, each
 * of four rows. */
constexpr size_t MAX_ROWS = 4 * 65535;

/* The slots of a ring whose method pushes ahead: those of the window, one more,
 * and one for the border volume if the job has one. */
inline size_t
ahead_slots (const RingJob &job)
{
  return nd_job_reach (&job).slots + 1 + (job.border_volumes ? 1 : 0);
}

/* Makes a method. @available: free bytes of device memory. A method that can
 * choose how much it takes, takes no more. */
typedef std::unique_ptr<Method> MakeMethod (const RingJob &job,
    const ComputeStreams &streams, size_t available);
MakeMethod make_direct, make_separable, make_fft, make_tensor;

/* The seconds that a volume takes on the current device, for one push and one
 * respond. Throws Error if the method cannot do the job. */
typedef double Cost (const RingJob &job);
Cost direct_cost, separable_cost, fft_cost, tensor_cost;

/* The error for a method that this back end does not have. */
inline Error
no_method (NdMethod method)
{
  return Error (ND_ERROR_SETTINGS,
      std::string ("method=") + nd_method_name (method)
          + " runs on the CPU only: use backend=cpu with it");
}

/* Throws Error if cuFFT cannot be opened. */
void open_cufft ();

} // namespace nd
