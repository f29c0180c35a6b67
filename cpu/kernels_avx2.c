/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_KERNELS nd_kernels_avx2
#define ND_KERNELS_NAME "avx2"
#define ND_VECTOR_BYTES 32
#define ND_DENSE_RATE 33e9
#define ND_SPARSE_RATE 18e9
#define ND_SPECTRUM_RATE 1e9
#include "cpu/kernels_tmpl.h"
