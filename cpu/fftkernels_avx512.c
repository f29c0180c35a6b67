/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_FFT_KERNELS nd_fft_kernels_avx512
#define ND_KERNELS_NAME "avx512"
#define ND_VECTOR_BYTES 64
#define ND_VOLUME_TIMES                                                  \
  .forward_time = 26e-6, .convolve_time = 18e-6, .spectrum_time = 10e-6, \
  .sum_time = 12e-6, .product_time = 12e-6, .inverse_time = 18e-6
#define ND_PLANE_TIMES                                                  \
  .forward_time = 3e-6, .convolve_time = 3e-6, .spectrum_time = 1.8e-6, \
  .sum_time = 2e-6, .product_time = 0.6e-6, .inverse_time = 2.4e-6
#include "cpu/fftkernels_tmpl.h"
