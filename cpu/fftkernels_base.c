/* For any processor: vectors of 16 bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#define ND_FFT_KERNELS nd_fft_kernels_base
#define ND_KERNELS_NAME "base"
#define ND_VECTOR_BYTES 16
#define ND_VOLUME_TIMES                                                  \
  .forward_time = 46e-6, .convolve_time = 42e-6, .spectrum_time = 20e-6, \
  .sum_time = 25e-6, .product_time = 18e-6, .inverse_time = 36e-6
#define ND_PLANE_TIMES                                                    \
  .forward_time = 5.5e-6, .convolve_time = 8e-6, .spectrum_time = 3.5e-6, \
  .sum_time = 4e-6, .product_time = 1.2e-6, .inverse_time = 5e-6
#include "cpu/fftkernels_tmpl.h"
