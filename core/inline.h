/* Functions in headers that the host and, compiled by nvcc, devices have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#ifdef __CUDACC__
#define ND_INLINE static __host__ __device__ __forceinline__
#else
#define ND_INLINE static inline
#endif
