/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_FFT_KERNELS nd_fft_kernels_avx2
#define ND_KERNELS_NAME "avx2"
#define ND_VECTOR_BYTES 32
#define ND_VOLUME_TIMES                                                  \
  .forward_time = 27e-6, .convolve_time = 21e-6, .spectrum_time = 10e-6, \
  .sum_time = 14e-6, .product_time = 12e-6, .inverse_time = 20e-6
#define ND_PLANE_TIMES                                                    \
  .forward_time = 3.5e-6, .convolve_time = 3.8e-6, .spectrum_time = 2e-6, \
  .sum_time = 2.6e-6, .product_time = 0.8e-6, .inverse_time = 3e-6
#include "cpu/fftkernels_tmpl.h"
