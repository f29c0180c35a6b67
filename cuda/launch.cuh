/* How kernels are launched.
 *
 * An early launch is a programmatic dependent launch (CUDA Programming Guide;
 * sm_90 and later): the kernel may begin while the kernels before it in the
 * stream still run. It calls wait_on_dependent_grids () before it accesses
 * memory that they use.
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

/* Launches @kernel, whose only parameter is at @a. @shared: bytes of dynamic
 * shared memory of a thread block. @early: as early as it may begin. */
inline void
launch_kernel (const void *kernel, dim3 blocks, dim3 threads, size_t shared,
    cudaStream_t stream, const void *a, bool early)
{
  void *arguments[] = { const_cast<void *> (a) };
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};

  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && runs_as_sm90 (kernel) ? 1 : 0;
  ND_CUDA (cudaLaunchKernelExC (&config, kernel, arguments));
  record_launch (kernel);
}

template <typename A>
void
launch (void (*kernel) (A), dim3 blocks, dim3 threads, size_t shared,
    cudaStream_t stream, const A &a)
{
  launch_kernel ((const void *) kernel, blocks, threads, shared, stream, &a,
      false);
}

template <typename A>
void
launch_early (void (*kernel) (A), dim3 blocks, dim3 threads, size_t shared,
    cudaStream_t stream, const A &a)
{
  launch_kernel ((const void *) kernel, blocks, threads, shared, stream, &a,
      true);
}

/* Lets @kernel have @shared bytes of dynamic shared memory, which may be more
 * than 48 KiB. Always the same number for a kernel, because other threads may
 * launch it at the same time. */
inline void
allow_shared (const void *kernel, size_t shared)
{
  ND_CUDA (cudaFuncSetAttribute (kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
}

/* Lets @kernel have any shared memory that a thread block can have, and prefers
 * shared memory to the cache of a multiprocessor. */
template <typename A>
void
prepare_shared (void (*kernel) (A))
{
  allow_shared ((const void *) kernel, max_dynamic_shared ());
  ND_CUDA (cudaFuncSetAttribute (kernel,
      cudaFuncAttributePreferredSharedMemoryCarveout,
      cudaSharedmemCarveoutMaxShared));
}

} // namespace nd
