/* What the files of the CUDA back end share: errors, device memory, and what a
 * method must do.
 *
 * Errors are exceptions inside the module; the table of functions in ndcuda.cu
 * turns each into one GError.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <atomic>
#include <cuda_runtime.h>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "engine/ndbackend.h"
#include "engine/nderror.h"

namespace nd
{

class Error : public std::exception
{
public:
  Error (NdError code, std::string message)
    : code (code), message (std::move (message))
  {
  }
  const char *what () const noexcept override { return message.c_str (); }

  const NdError code;

private:
  const std::string message;
};

/* Throws where @result is an error; @what names the call. An error that the
 * context then answers every call with is remembered: drivers may refuse this
 * process another context. */
void check (cudaError_t result, const char *what);

/* The error that a context was lost to, or cudaSuccess. */
extern std::atomic<cudaError_t> lost_to;

#define ND_CUDA(call) ::nd::check (call, #call)
/* After a launch. */
#define ND_CUDA_LAUNCHED(kernel) \
  ::nd::check (cudaGetLastError (), "launch of " #kernel)

/* For which measurements hold. */
std::string current_device_name ();

/* a * b, or Error where that overflows. */
size_t multiply (size_t a, size_t b);

/* Memory on the device, zeroed: tiles read beyond what is ever written. */
template <typename T> class Memory
{
public:
  Memory () = default;
  explicit Memory (size_t n);
  ~Memory () { cudaFree (data); }
  Memory (Memory &&other) { swap (other); }
  Memory &operator= (Memory &&other)
  {
    swap (other);
    return *this;
  }
  T *get () const { return data; }
  size_t count () const { return n; }
  size_t bytes () const { return n * sizeof (T); }
  void upload (const T *from, size_t count);

private:
  void swap (Memory &other)
  {
    std::swap (data, other.data);
    std::swap (n, other.n);
  }
  T *data = nullptr;
  size_t n = 0;
};

void *allocate_zeroed (size_t bytes);

/* Bytes of the device that are free, and not counted. */
size_t free_bytes ();

/* Within its scope, in this thread, Memory is counted and not taken, and
 * uploads to it do nothing; what else needs it ends the count, by Counted.
 * expect_free() throws Error where so many bytes are not there. */
class Count
{
public:
  struct Counted
  {
  };
  Count () : before (current) { current = this; }
  ~Count () { current = before; }
  Count (const Count &) = delete;
  void add (size_t more);
  void expect_free () const;

  size_t bytes = 0;
  static thread_local Count *current;

private:
  Count *const before;
};

/* Within its scope Memory is taken, whatever counts around it. */
class Uncounted
{
public:
  Uncounted () : before (Count::current) { Count::current = nullptr; }
  ~Uncounted () { Count::current = before; }
  Uncounted (const Uncounted &) = delete;

private:
  Count *const before;
};

template <typename T> Memory<T>::Memory (size_t n)
  : data (static_cast<T *> (allocate_zeroed (multiply (n, sizeof (T))))), n (n)
{
}

/* A ring's stream does not wait for it: it has arrived when this returns. */
template <typename T> void
Memory<T>::upload (const T *from, size_t count)
{
  if (Count::current)
    return;
  ND_CUDA (cudaMemcpyAsync (data, from, count * sizeof (T),
      cudaMemcpyHostToDevice, cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
}

/* What a method enqueues on. */
struct ComputeStreams
{
  cudaStream_t push, respond;
};

/* One method's ring. Both functions only enqueue. */
class Method
{
public:
  virtual ~Method () = default;
  virtual size_t bytes () const = 0;

  /* Whether a volume may be pushed while a response reads those before it:
   * then the ring has one slot more than a window. Methods that must not do
   * that enqueue all on the stream of responses. */
  virtual bool pushes_ahead () const { return false; }

  /* @volume lies on the device; nullptr is the border volume, for the slot
   * behind all others. */
  virtual void push (unsigned slot, const NdSamples *volume) = 0;

  /* The window's volumes, the oldest first, by the slots that they were pushed
   * into. @out lies on the device. */
  virtual void respond (const int *slots, const NdScale &scale,
      const NdSamples &out) = 0;
};

/* Largest window in time, and rows of a volume: a grid's blocks, of four. */
constexpr unsigned MAX_SLOTS = 256;
constexpr size_t MAX_ROWS = 4 * 65535;

/* Volumes of a ring that is pushed ahead: a window's, one more, and the border
 * volume where the job has one. */
inline size_t
ahead_slots (const NdJob &job)
{
  return nd_job_reach (&job).slots + 1 + (job.border_volumes ? 1 : 0);
}

typedef std::unique_ptr<Method> MakeMethod (const NdJob &job,
    const ComputeStreams &streams);
MakeMethod make_direct, make_separable, make_fft, make_tensor;

/* Seconds of a volume on the current device, push and one respond. */
typedef double Cost (const NdJob &job);
Cost direct_cost, separable_cost, fft_cost, tensor_cost;
Cost whole_cost;                /* by transforms of whole volumes */

/* Throws where method tensor cannot do the job. */
void check_tensor (const NdJob &job);

/* Throws where cuFFT cannot be opened. */
void open_cufft ();

} // namespace nd
