/* For any processor: vectors of 16 bytes, SSE2 on x86-64, NEON on ARM64.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_KERNELS nd_kernels_base
#ifdef __SSE2__
#define ND_KERNELS_NAME "sse2"
#else
#define ND_KERNELS_NAME "generic"
#endif
#define ND_VECTOR_BYTES 16
#define ND_DENSE_RATE 16.5e9
#define ND_SPARSE_RATE 8e9
#define ND_SPECTRUM_RATE 0.8e9
#include "cpu/kernels_tmpl.h"
