/* Transforms of one axis for cpu/transform.c: KissFFT in float32,
 * cpu/linefft.c in float64.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#ifdef ND_DOUBLE

#include <glib.h>

G_BEGIN_DECLS

/* KissFFT's library for float64 is not in every distribution. */
typedef struct
{
  gdouble re, im;
} NdNumber;

typedef struct _NdDoubleFft NdDoubleFft;

/* @n complex numbers; @n has no prime factor above 5. */
NdDoubleFft *nd_double_fft_new (gsize n, gboolean inverse);

/* @n real numbers, @n even. It contains scratch memory: each thread needs its
 * own. */
NdDoubleFft *nd_double_fft_new_real (gsize n, gboolean inverse);
void nd_double_fft_free (NdDoubleFft *fft);

/* Several threads may run one transform of complex numbers. @out is not @in.
 * Results are not scaled. */
void nd_double_fft_run (const NdDoubleFft *fft, const NdNumber *in,
    NdNumber *out);

/* From n real numbers to n / 2 + 1 numbers of the spectrum, and back. */
void nd_double_fft_forward (const NdDoubleFft *fft, const gdouble *in,
    NdNumber *out);
void nd_double_fft_inverse (const NdDoubleFft *fft, const NdNumber *in,
    gdouble *out);

G_END_DECLS

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
