/* CUDA contexts: the one that is current when something is made, or one of our
 * own for each device; entered and left in pairs around all that is done in it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <cuda.h>
#include <mutex>
#include <vector>

#include "ndcuda.h"

namespace nd
{

class Context;
using ContextPointer = std::shared_ptr<Context>;

class Context
{
public:
  /* The current context of this thread, where it is on device @wanted (-1: any
   * device); else our own on that device. A context of our own that an error
   * has spoilt is left to those who hold it, and a new one is made. */
  static ContextPointer get (int wanted);

  /* Throws where a context was lost, and the driver gives this process no new
   * one: after an illegal address, 580 gives none even when all are gone. */
  static void expect_well (int device);

  Context (CUcontext handle, int device, bool own);
  ~Context ();
  Context (const Context &) = delete;

  void enter () const;
  static void leave ();

  /* Whether kernels in this context can use memory at @data. */
  bool reaches (const void *data) const;

  const int device;

private:
  friend class Event;
  static ContextPointer make_own (int device);

  const CUcontext handle;
  const bool own;
  std::mutex lock;
  std::vector<cudaEvent_t> events[2];   /* timed: [1] */
};

/* An event of a context, which must stay. They are made once and used again.
 * Only between timed ones time can be asked for; others take less. */
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

/* Within its scope, the context is current. */
class Entered
{
public:
  explicit Entered (const Context &context) { context.enter (); }
  ~Entered () { Context::leave (); }
  Entered (const Entered &) = delete;
};

/* The device @wanted, or the first for -1; throws where it is not there. */
int choose_device (int wanted);

/* Whether a GPU of @capability, 80 for 8.0, runs kernels that are @built for
 * these, the last one as PTX too: machine code of its own kind or, but for
 * Tegra, of an older one of the same major number, or PTX of an older one
 * (Programming Guide, binary and PTX compatibility). */
bool has_code (const std::vector<int> &built, int capability);

/* Throws where it has none for @device. Makes no context. */
void check_code (int device);

} // namespace nd
