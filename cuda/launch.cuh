/* Programmatic dependent launch: a kernel begins while the kernels before it in
 * the stream still run (sm_90 and later; CUDA Programming Guide, "Programmatic
 * Dependent Launch"). Such a kernel calls wait_on_dependent_grids ().
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

/* Whether @kernel waits for the kernels before it. Machine code for older
 * devices than sm_90 does not, on any device. The answer is stored, because
 * asking at each launch takes a noticeable share of the time of a small
 * volume. */
inline bool
may_launch_early (const void *kernel)
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
  const bool may = attributes.ptxVersion >= 90 && compute_capability () >= 90;

  known[{ kernel, device }] = may;
  return may;
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
  config.numAttrs = may_launch_early ((const void *) kernel) ? 1 : 0;
  ND_CUDA (cudaLaunchKernelEx (&config, kernel, a));
}

} // namespace nd
