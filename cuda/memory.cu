/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/memory.h"

#include "cuda/context.h"
#include "cuda/guarded.h"

#include <map>
#include <mutex>

namespace nd
{

size_t
free_bytes ()
{
  size_t unused, all;

  ND_CUDA (cudaMemGetInfo (&unused, &all));
  return unused;
}

void
expect_free (size_t bytes)
{
  const size_t unused = free_bytes ();

  if (bytes > unused)
    throw Error (ND_ERROR_MEMORY,
        "Not enough memory on the GPU: " + std::to_string (bytes)
            + " bytes are needed, " + std::to_string (unused)
            + " are free; smaller volumes or a shorter filter in time need "
              "less, and backend=cpu needs none");
}

void *
allocate_zeroed (size_t bytes)
{
  void *data = nullptr;

  if (bytes == 0)
    return nullptr;
  expect_free (bytes);
  check (cudaMalloc (&data, bytes),
      ("cudaMalloc of " + std::to_string (bytes) + " bytes").c_str ());
  ND_CUDA (cudaMemsetAsync (data, 0, bytes, cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
  return data;
}

void
upload (void *to, const void *from, size_t bytes)
{
  ND_CUDA (cudaMemcpyAsync (to, from, bytes, cudaMemcpyHostToDevice,
      cudaStreamPerThread));
  ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
}

} // namespace nd

using namespace nd;

/* The context of each piece of memory that the engine holds. */
struct Owners
{
  std::mutex lock;
  std::map<void *, ContextPointer> contexts;
};

static Owners &
owners ()
{
  static Owners *all = new Owners;

  return *all;
}

static void
own (void *memory, const ContextPointer &context)
{
  const std::lock_guard<std::mutex> guard (owners ().lock);

  owners ().contexts[memory] = context;
}

static ContextPointer
disown (void *memory)
{
  const std::lock_guard<std::mutex> guard (owners ().lock);
  const ContextPointer context = owners ().contexts[memory];

  owners ().contexts.erase (memory);
  return context;
}

static gpointer
cuda_alloc (gint device_id, gsize bytes, GError **error)
{
  void *memory = nullptr;

  guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    memory = allocate_zeroed (bytes);
    own (memory, context);
  });
  return memory;
}

static void
cuda_free (gpointer memory)
{
  const ContextPointer context = disown (memory);
  const ScopedContext scope (*context);

  cudaFree (memory);
  cudaGetLastError ();
}

static gboolean
cuda_copy (gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  return guarded (error, [&] {
    const ContextPointer context = Context::get (-1);
    const ScopedContext scope (*context);

    ND_CUDA (cudaMemcpyAsync (to, from, bytes, cudaMemcpyDefault,
        cudaStreamPerThread));
    ND_CUDA (cudaStreamSynchronize (cudaStreamPerThread));
  });
}

static gboolean
cuda_pin (gint device_id, gpointer memory, gsize bytes, GError **error)
{
  return guarded (error, [&] {
    const ContextPointer context = Context::get (device_id);
    const ScopedContext scope (*context);

    ND_CUDA (cudaHostRegister (memory, bytes, cudaHostRegisterPortable));
    own (memory, context);
  });
}

static void
cuda_unpin (gpointer memory)
{
  const ContextPointer context = disown (memory);
  const ScopedContext scope (*context);

  cudaHostUnregister (memory);
  cudaGetLastError ();
}

static gboolean
cuda_is_pageable (gconstpointer memory)
{
  gboolean pageable = TRUE;

  guarded (nullptr, [&] { pageable = !Context::knows (memory); });
  return pageable;
}

static NdDeviceMemoryFuncs
make_funcs ()
{
  NdDeviceMemoryFuncs f = {};

  f.alloc = cuda_alloc;
  f.free = cuda_free;
  f.copy = cuda_copy;
  f.pin = cuda_pin;
  f.unpin = cuda_unpin;
  f.is_pageable = cuda_is_pageable;
  return f;
}

const NdDeviceMemoryFuncs nd::memory_funcs = make_funcs ();
