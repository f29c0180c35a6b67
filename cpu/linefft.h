/* Fourier transforms of lines of 2^a 3^b 5^c numbers, as many lines at a time
 * as a vector has lanes, and sums of boxes.
 *
 * A complex number of each lane is a vector of real parts and then a vector of
 * imaginary parts: a number below stands for these two vectors. Memory is
 * aligned to ND_LINE_ALIGN bytes. Results are not scaled.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/real.h"

G_BEGIN_DECLS

#define ND_LINE_ALIGN 64
#define ND_LINE_MAX_STEPS 32

/* The butterflies of transforms of @radix * @m numbers. */
typedef struct
{
  guint radix;
  gsize m;
  NdReal *twiddles; /* [k][radix - 1][re, im] for number k of m */
} NdLineStep;

/* Decimation in time by 2, 5, 3 and 4. A transform of n = p * m numbers is p
 * transforms of every p-th number, and m butterflies of p numbers.
 *
 * A transform of n real numbers is one of n / 2 complex numbers, the even ones
 * real and the odd ones imaginary, and a step that separates their spectra. */
typedef struct
{
  gsize n; /* complex numbers */
  gboolean inverse;
  guint n_steps;
  NdLineStep steps[ND_LINE_MAX_STEPS];
  NdReal *separate; /* [k][re, im], n of them; NULL: no real numbers */
} NdLineFft;

/* @n complex numbers; @n has no prime factor above 5. NULL with ND_ERROR_MEMORY
 * without memory. Several threads may use it. */
NdLineFft *nd_line_fft_new (gsize n, gboolean inverse, GError **error);

/* @n real numbers, @n even. */
NdLineFft *nd_line_fft_new_real (gsize n, gboolean inverse, GError **error);
void nd_line_fft_free (NdLineFft *fft); /* NULL is allowed */

/* The columns that sum_box() keeps in the L1 cache. */
#define ND_BOX_WIDTH 64

/* See NdLineKernels.sum_box. */
typedef struct
{
  gsize k, n, width;
  NdReal weight;
  const NdReal *const *lines;
  NdReal *const *outs;
  NdReal *base, *out;
  gsize stride;
} NdBoxSum;

typedef struct
{
  gsize lanes;
  gdouble slowness; /* the time of transforms, relative to AVX-512 */

  /* Transforms n numbers. @out is not @in. */
  void (*run) (const NdLineFft *fft, const NdReal *in, NdReal *out);

  /* From 2 n vectors of real numbers to n + 1 numbers of the spectrum, and
   * back. @scratch has room for n numbers. */
  void (*forward) (const NdLineFft *fft, const NdReal *in, NdReal *out,
      NdReal *scratch);
  void (*inverse) (const NdLineFft *fft, const NdReal *in, NdReal *out,
      NdReal *scratch);

  /* Makes vectors of one column each from a row for each lane, and back. @n is
   * rounded up to whole vectors. */
  void (*to_lanes) (const NdReal *rows, gsize row, gsize n, NdReal *columns);
  void (*from_lanes) (const NdReal *columns, gsize n, NdReal *rows, gsize row);

  /* Copies @n numbers, @stride numbers apart, to numbers side by side, and
   * back. */
  void (*gather) (const NdReal *from, gsize stride, gsize n, NdReal *to);
  void (*scatter) (const NdReal *from, gsize n, NdReal *to, gsize stride);

  /* Transposes as many numbers as there are lanes; @in_stride and @out_stride
   * numbers apart. */
  void (*turn) (const NdReal *in, gsize in_stride, NdReal *out,
      gsize out_stride);

  /* sum[i] += a[i] * b[i] for @n numbers. */
  void (*multiply_add) (NdReal *sum, const NdReal *a, const NdReal *b, gsize n);

  /* a[i] *= b[i], or its conjugate, for @n numbers. */
  void (*multiply) (NdReal *a, const NdReal *b, gboolean conjugate, gsize n);

  /* to[i] = a[i] * w[i] for @n numbers; those of @w are the same for all lanes,
   * a real and an imaginary part each. */
  void (*multiply_all) (NdReal *to, const NdReal *a, const NdReal *w, gsize n);

  /* out[i][x] = @weight * sum over j < k of line[i + j][x], for @n <= @k
   * outputs of @width numbers, which is rounded up to whole vectors. Lines are
   * @lines, n + k - 1 of them, or, if that is NULL, at @base, @stride floats
   * apart; outputs are @outs or at @out, which may be @base. @scratch:
   * ND_BOX_WIDTH * k floats. */
  void (*sum_box) (const NdBoxSum *box, NdReal *scratch);
} NdLineKernels;

/* Those of the instruction set of nd_kernels(). */
const NdLineKernels *nd_line_kernels (void);

G_END_DECLS
