/* Kernels that begin while those before them in the stream still run (from
 * sm_90 on; Programming Guide, programmatic dependent launch).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <map>
#include <mutex>

#include "ndcuda.h"

namespace nd
{

/* 80 and so on, of the current device. */
inline int
compute_capability ()
{
  int device, major, minor;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor,
          device));
  ND_CUDA (cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor,
          device));
  return 10 * major + minor;
}

/* Bytes of shared memory that a block of the current device may ask for, beside
 * up to 1 KiB that its kernel declares. */
inline int
most_shared ()
{
  int device, bytes;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaDeviceGetAttribute (&bytes,
          cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes - 1024;
}

/* In a kernel that launch_early () launches, before it reads or writes what
 * others may write or read: until all before it are done. */
__device__ __forceinline__ void
wait_for_kernels ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile ("griddepcontrol.launch_dependents;\n"
      "griddepcontrol.wait;" : : : "memory");
#endif
}

/* Whether @kernel waits: machine code for less than sm_90 does not, whatever
 * the device. Small volumes would notice if every launch asked. */
inline bool
waits_for_kernels (const void *kernel)
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
  return known[{ kernel, device }] = attributes.ptxVersion >= 90
      && compute_capability () >= 90;
}

template <typename A> void
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
  config.numAttrs = waits_for_kernels ((const void *) kernel) ? 1 : 0;
  ND_CUDA (cudaLaunchKernelEx (&config, kernel, a));
}

} // namespace nd
