/* Transforms of one axis for cpu/transform.c: KissFFT in float32,
 * cpu/doublefft.h in float64.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#ifdef ND_DOUBLE

#include "cpu/doublefft.h"

typedef NdNumber kiss_fft_cpx;
typedef NdDoubleFft *kiss_fft_cfg;
typedef NdDoubleFft *kiss_fftr_cfg;
#define kiss_fft_alloc(n, inverse, memory, bytes) nd_double_fft_new (n, inverse)
#define kiss_fftr_alloc(n, inverse, memory, bytes) \
  nd_double_fft_new_real (n, inverse)
#define kiss_fft_free nd_double_fft_free
#define kiss_fftr_free nd_double_fft_free
#define kiss_fft nd_double_fft_run
#define kiss_fftr nd_double_fft_forward
#define kiss_fftri nd_double_fft_inverse

#else

#include <kissfft/kiss_fftr.h>

#endif
