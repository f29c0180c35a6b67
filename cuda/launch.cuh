/* Programmatic dependent launch (CUDA Programming Guide; sm_90 and later): a
 * kernel begins while the kernels before it in the stream still run. It calls
 * wait_on_dependent_grids () before it accesses memory that they use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/device.h"
#include "cuda/sync.cuh"

#include <map>
#include <mutex>

namespace nd
{

/* Whether the code of @kernel and the device are of sm_90 or later. Code for
 * older devices does other things on sm_90 too: it does not wait for the
 * kernels before it. The answer is stored, because two queries per launch take
 * a noticeable part of the time of a small volume. */
inline bool
runs_as_sm90 (const void *kernel)
{
  static std::mutex lock;
  static std::map<std::pair<const void *, int>, bool> known;
  const std::lock_guard<std::mutex> guard (lock);
  int device;

  ND_CUDA (cudaGetDevice (&device));
  const auto found = known.find ({ kernel, device });
  if (found != known.end ())
    return found->second;
  cudaFuncAttributes attributes;

  ND_CUDA (cudaFuncGetAttributes (&attributes, kernel));
  const bool runs = attributes.ptxVersion >= 90 && compute_capability () >= 90;

  known[{ kernel, device }] = runs;
  return runs;
}

/* Launches @kernel, which calls wait_on_dependent_grids (), as early as it may
 * begin. @shared: bytes of dynamic shared memory of a thread block. */
template <typename A>
void
launch (void (*kernel) (A), dim3 blocks, dim3 threads, size_t shared,
    cudaStream_t stream, const A &a)
{
  kernel<<<blocks, threads, shared, stream>>> (a);
  check (cudaGetLastError (), "launch of a kernel");
}

template <typename A>
void
launch_early (void (*kernel) (A), dim3 blocks, dim3 threads, size_t shared,
    cudaStream_t stream, const A &a)
{
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t config = {};

  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = runs_as_sm90 ((const void *) kernel) ? 1 : 0;
  ND_CUDA (cudaLaunchKernelEx (&config, kernel, a));
}

} // namespace nd
