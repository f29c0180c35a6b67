/* Reciprocals and roots without the steps that make all bits right.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

namespace nd
{

/* About 20 bits are right. */
__device__ __forceinline__ double
approximate_reciprocal (double a)
{
  double r;

  asm ("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  return r;
}

/* Two steps of Newton's method make about all bits right. */
__device__ __forceinline__ double
find_reciprocal (double a)
{
  double r = approximate_reciprocal (a);

  r = fma (r, fma (-a, r, 1.), r);
  return fma (r, fma (-a, r, 1.), r);
}

__device__ __forceinline__ float
approximate_reciprocal (float a)
{
  float r;

  asm ("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}

__device__ __forceinline__ double
approximate_root (double a)
{
  double r;

  asm ("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  return a * r;
}

__device__ __forceinline__ float
approximate_root (float a)
{
  float r;

  asm ("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}

/* 1 / sqrt (@a). */
__device__ __forceinline__ float
approximate_inverse_root (float a)
{
  float r;

  asm ("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}

} // namespace nd
