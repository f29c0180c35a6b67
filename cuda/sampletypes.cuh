/* From the sample type of a job, known at run time, to a C++ type.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

namespace nd
{

template <typename T>
struct SampleType
{
  using Type = T;
};

/* The range of an integer type. */
template <typename T>
constexpr bool is_integer = (T) 0.5f == 0;
template <typename T>
constexpr int lowest = (T) -1 < (T) 0 ? -(1 << (8 * sizeof (T) - 1)) : 0;
template <typename T>
constexpr int highest = (1 << 8 * sizeof (T)) - 1 + lowest<T>;

/* Returns visit (SampleType<T> (), arguments...), T being the type of a sample
 * of @type, an NdSampleType. On host and device; @visit is a lambda of either.
 * Kernels that are sensitive to registers pass arguments on and capture none:
 * nvcc 13.0 then makes the code that a switch would make. */
#pragma nv_exec_check_disable
template <typename F, typename... A>
__host__ __device__ __forceinline__ auto
visit_sample_type (int type, F visit, const A &...arguments)
{
  switch (type) {
    case ND_UINT8:
      return visit (SampleType<unsigned char> (), arguments...);
    case ND_INT16:
      return visit (SampleType<short> (), arguments...);
    case ND_UINT16:
      return visit (SampleType<unsigned short> (), arguments...);
    default:
      return visit (SampleType<float> (), arguments...);
  }
}

} // namespace nd
