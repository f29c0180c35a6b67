/* Properties of the current device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/error.h"

#include <string>

namespace nd
{

/* The value of @attribute; throws Error if there is no device. */
inline int
device_attribute (cudaDeviceAttr attribute)
{
  int device, value;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaDeviceGetAttribute (&value, attribute, device));
  return value;
}

/* The name under which measurements are stored. */
inline std::string
device_name ()
{
  cudaDeviceProp properties;
  int device;

  ND_CUDA (cudaGetDevice (&device));
  ND_CUDA (cudaGetDeviceProperties (&properties, device));
  return properties.name;
}

/* The compute capability: 80 for 8.0. */
inline int
compute_capability ()
{
  return 10 * device_attribute (cudaDevAttrComputeCapabilityMajor)
      + device_attribute (cudaDevAttrComputeCapabilityMinor);
}

/* The most bytes of dynamic shared memory of a thread block whose kernel
 * declares up to 1 KiB of static shared memory. */
inline int
max_dynamic_shared ()
{
  return device_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
}

} // namespace nd
