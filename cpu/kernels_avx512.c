/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_KERNELS nd_kernels_avx512
#define ND_KERNELS_NAME "avx512"
#define ND_VECTOR_BYTES 64
#define ND_DENSE_RATE 52e9
#define ND_SPARSE_RATE 20e9
#define ND_SPECTRUM_RATE 1e9
#include "cpu/kernels_tmpl.h"
