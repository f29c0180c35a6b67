/* CUDA contexts. A ring belongs to the context that is current when the ring is
 * made or, if there is none, to the back end's own context for the device. Each
 * call of the back end enters that context and leaves it again.
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
   * device), otherwise the back end's own context on that device. If an error
   * has made the own context unusable, its holders keep it, and a new one is
   * made. */
  static ContextPointer get (int wanted);

  /* Throws Error if a context was lost and the driver gives this process no new
   * one. After an illegal address, driver 580 gives none even if all contexts
   * are destroyed. */
  static void expect_well (int device);

  Context (CUcontext handle, int device, bool own);
  ~Context ();
  Context (const Context &) = delete;

  void enter () const;
  static void leave ();

  /* Whether kernels in this context can access memory at @data. */
  bool reaches (const void *data) const;

  const int device;

private:
  friend class Event;
  static ContextPointer make_own (int device);

  const CUcontext handle;
  const bool own;
  std::mutex lock;
  std::vector<cudaEvent_t> events[2]; /* free ones; [1]: timed */
};

/* An event of a context, which must outlive it. Events are reused, because
 * making one is slow. Only timed events measure elapsed time; recording the
 * others takes less time. */
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
  void before (cudaStream_t stream) const;
  cudaEvent_t get () const { return handle; }

private:
  Context *context;
  bool timed;
  cudaEvent_t handle = nullptr;
};

/* Makes a context current for a scope. */
class Entered
{
public:
  explicit Entered (const Context &context) { context.enter (); }
  ~Entered () { Context::leave (); }
  Entered (const Entered &) = delete;
};

/* The device @wanted, or the first one if @wanted is -1. Throws Error if it
 * does not exist. */
int choose_device (int wanted);

/* Whether a GPU of compute @capability, 80 for 8.0, can run kernels that were
 * built for the capabilities @built, with PTX for the last of these. A GPU runs
 * PTX of its own or an older capability. It runs machine code of its own
 * capability and, except for Tegra, of older ones with the same major number
 * (CUDA Programming Guide, binary and PTX compatibility). */
bool has_code (const std::vector<int> &built, int capability);

/* Throws Error if the module has no code for @device. Makes no context. */
void check_code (int device);

} // namespace nd
