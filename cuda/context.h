/* CUDA contexts. A ring uses the context that is current when the ring is made.
 * If none is current, or one of another device than the ring's, the ring uses
 * the back end's own context of the device. Each function of the back end makes
 * that context current until it returns.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/method.h"

#include <cuda.h>
#include <mutex>
#include <vector>

namespace nd
{

class Context;
using ContextPointer = std::shared_ptr<Context>;

class Context
{
public:
  /* The current context of this thread if it is on device @wanted (-1: any
   * device), otherwise the back end's own context of that device. If an error
   * has made the own context unusable, the back end makes a new one; rings that
   * use the old context keep it. */
  static ContextPointer get (int wanted);

  /* Throws Error if an error has made a context unusable and the driver refuses
   * to make another one for this process. After an access to an illegal
   * address, driver 580 refuses even if all contexts are destroyed. */
  static void check_usable (int device);

  Context (CUcontext handle, int device, bool own);
  ~Context ();
  Context (const Context &) = delete;

  void enter () const;
  static void leave ();

  /* The owner of the memory at @data: this context, whose kernels can access
   * it, another context, or the host. */
  enum Place
  {
    HERE,
    ELSEWHERE,
    HOST
  };
  Place place_of (const void *data) const;
  bool can_access (const void *data) const { return place_of (data) == HERE; }

  /* Whether @data is memory of a device, or pinned memory of the host. */
  static bool knows (const void *data);

  /* Lets copies from @other, of another device, go to this context without the
   * host, if the machine can do that. Otherwise the driver copies through the
   * host. */
  void enable_access (const Context &other) const;

  const int device; /* its number, from 0 */

private:
  friend class Event;
  static ContextPointer make_own (int device);

  const CUcontext handle;
  const bool own;
  std::mutex lock;
  std::vector<cudaEvent_t> events[2]; /* unused ones; [1]: timed */
};

/* An event of a context. The context must outlive the event. A destroyed Event
 * gives its CUDA event back to the context, because creating one is slow. Only
 * timed events measure elapsed time; the others are faster to record. */
class Event
{
public:
  explicit Event (Context &context, bool timed = false);
  ~Event ();
  Event (Event &&other)
      : context (other.context), timed (other.timed), handle (other.handle)
  {
    other.handle = nullptr;
  }
  void record (cudaStream_t stream) const;
  /* Work that is enqueued on @stream from now on waits for the event. */
  void make_wait (cudaStream_t stream) const;
  cudaEvent_t get () const { return handle; }

private:
  Context *context;
  bool timed;
  cudaEvent_t handle = nullptr;
};

/* Makes a context current for a scope. */
class ScopedContext
{
public:
  explicit ScopedContext (const Context &context) { context.enter (); }
  ~ScopedContext () { Context::leave (); }
  ScopedContext (const ScopedContext &) = delete;
};

/* Returns @wanted, or 0, the first device, if @wanted is -1. Throws Error if
 * that device does not exist. */
int choose_device (int wanted);

/* Whether a GPU of compute @capability, 80 for 8.0, can run the kernels of a
 * module. The module has machine code for the capabilities @built, and PTX for
 * the last of them. A GPU runs PTX for its own capability and for older ones.
 * It runs machine code for its own capability and, except on Tegra, for older
 * ones with the same major number (CUDA Programming Guide, binary and PTX
 * compatibility). */
bool has_code (const std::vector<int> &built, int capability);

/* Throws Error if the module has no code for @device. Makes no context. */
void check_code (int device);

} // namespace nd
