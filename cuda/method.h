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

/* A method with its ring. The constructor prepares coefficients on the host and
 * decides the size of all device memory, but allocates none. */
class Method
{
public:
  virtual ~Method () = default;

  /* The bytes of device memory: those that allocate() will take, or, after
   * allocate(), those that it took. */
  virtual size_t bytes_needed () const = 0;

  /* Allocates device memory and uploads coefficients. Called once, before
   * push() and respond(), which only enqueue work. */
  virtual void allocate () = 0;

  /* Called after allocate(). If true, push() enqueues on the stream for pushes,
   * and volumes may be pushed while a response reads earlier volumes; the ring
   * therefore has spare_slots () more than the window. If false, all work is
   * enqueued on the stream for responses. */
  virtual bool pushes_ahead () const { return false; }

  /* Called after allocate(). If true, respond() writes the output of
   * job.combined, not the responses. */
  virtual bool combines () const { return false; }

  /* Called after allocate(). If true, respond() writes no output that the job
   * does not want. */
  virtual bool stores_wanted_only () const { return false; }

  /* Stores @volume, which is on the device, in @slot. If @volume is nullptr,
   * stores the border volume, whose slot is the last one. */
  virtual void push (unsigned slot, const NdSamples *volume) = 0;

  /* Enqueues the work of the next respond(), which is for the same @slots, that
   * needs no memory for an output. */
  virtual void begin (const int *slots) {}

  /* Writes the responses of all filters to @out, which is on the device.
   * @slots: the slots of the window's volumes, the oldest first. */
  virtual void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) = 0;
};

/* The most volumes of a window. */
constexpr unsigned MAX_SLOTS = 256;

/* The most rows of a volume: a grid has up to 65535 thread blocks along y, each
 * of four rows. */
constexpr size_t MAX_ROWS = 4 * 65535;

/* The most samples of a row, and the most slices: kernels count the bytes of a
 * row, with the reach of a filter, in int. */
constexpr size_t MAX_LENGTH = (size_t) 1 << 28;

/* The volumes that are pushed ahead. With two, a response does not wait for the
 * push of its volume, which runs on the multiprocessors that are idle at the
 * end of the response before. Only parts of volumes, which are short, are worth
 * the memory of a second one. Windows of one volume gain nothing: most have no
 * ring. */
inline size_t
spare_slots (const RingJob &job)
{
  const NdRange *const wanted = job.wanted;
  const bool is_part = wanted[0].n > 0 || wanted[1].n > 0 || wanted[2].n > 0;

  return is_part && nd_job_reach (&job).slots > 1 ? 2 : 1;
}

/* The slots of a ring whose method pushes ahead: those of the window, the spare
 * ones, and one for the border volume if the job has one. */
inline size_t
ahead_slots (const RingJob &job)
{
  return nd_job_reach (&job).slots + spare_slots (job)
      + (job.border_volumes ? 1 : 0);
}

/* Makes a method. @available: the bytes of device memory that it may take. Only
 * `fft` reads it: it has a way that needs less memory and more time. */
typedef std::unique_ptr<Method> MakeMethod (const RingJob &job,
    const ComputeStreams &streams, size_t available);
MakeMethod make_direct, make_separable, make_fft, make_tensor;

/* The estimated seconds per volume, one push and one respond, on the current
 * device. Throws Error if the method cannot do the job. */
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

/* The error for a volume whose count of samples overflows. */
inline Error
too_large_volume ()
{
  return Error (ND_ERROR_MEMORY,
      "Not enough memory on the GPU: the volume has more samples than any "
      "device can hold; use smaller volumes");
}

/* Throws Error if cuFFT cannot be opened. */
void open_cufft ();

} // namespace nd
