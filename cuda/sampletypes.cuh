/* Calls code with the C++ type of a sample type that is known at run time.
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

static_assert (ND_SAMPLE_TYPES == ND_FLOAT32 + 1,
    "visit_sample_type() lacks a type");

/* Returns visit (SampleType<T> (), arguments...) with the type T of a sample of
 * @type, an NdSampleType. Works on the host and on the device. Kernels that are
 * sensitive to registers pass @arguments instead of capturing variables: nvcc
 * 13.0 then generates the same code as for a switch. */
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
    case ND_FLOAT32:
    default:
      return visit (SampleType<float> (), arguments...);
  }
}

/* Jobs compute with R: float or, in double precision, double. */
template <typename R>
constexpr bool is_double = sizeof (R) == sizeof (double);

/* The type of samples that are such numbers. */
template <typename R>
constexpr NdSampleType real_type = is_double<R> ? ND_FLOAT64 : ND_FLOAT32;

/* visit_sample_type() with the types that samples of such a job can have. */
#pragma nv_exec_check_disable
template <typename R, typename F, typename... A>
__host__ __device__ __forceinline__ auto
visit_sample_type_of (int type, F visit, const A &...arguments)
{
  if constexpr (is_double<R>) {
    if (type == ND_FLOAT64)
      return visit (SampleType<double> (), arguments...);
  }
  return visit_sample_type (type, visit, arguments...);
}

} // namespace nd
