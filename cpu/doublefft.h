/* Fourier transforms of one axis in float64, in the place of KissFFT, whose
 * library for float64 not every distribution has.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

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
