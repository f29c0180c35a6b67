/* Fourier transforms of blocks in registers and cache, compiled for each
 * instruction set. Method `fft` uses them for filters that are small compared
 * with a block.
 *
 * Two real blocks are the real and the imaginary part of one complex block: the
 * filter is real, so that their responses are the real and the imaginary part
 * of the result. A complex block of vectors has the real parts of one vector,
 * then the imaginary parts. A spectrum is stored in the order in which the last
 * axis of the transform makes and needs it, one line of that axis after the
 * other.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/real.h"

G_BEGIN_DECLS

/* Bytes that the memory of the functions below is aligned to. */
#define ND_FFT_ALIGN 64

/* One size of blocks: 32 x 32 x 32, or 64 x 64 for planes. */
typedef struct
{
  gsize size[3];
  gsize numbers; /* floats of the spectrum of a pair of blocks */
  gsize work;    /* floats of the scratch memory of a thread */

  /* Measured seconds of one core for a pair of blocks. */
  gdouble forward_time;  /* forward() */
  gdouble convolve_time; /* convolve() */
  gdouble spectrum_time; /* spectrum() */
  gdouble sum_time;      /* sum(), without products */
  gdouble product_time;  /* sum(), for each product, from the cache */
  gdouble inverse_time;  /* inverse() of all planes */

  /* Transforms all axes but the last of blocks @a and @b. @row and @slice are
   * distances in floats. */
  void (*forward) (const NdReal *a, const NdReal *b, gsize row, gsize slice,
      NdReal *work);

  /* Transforms the last axis, and writes the spectrum. */
  void (*spectrum) (const NdReal *work, NdReal *spectrum);

  /* Transforms the last axis, multiplies by a spectrum and transforms back. */
  void (*convolve) (NdReal *work, const NdReal *filter);

  /* Sums spectra[i] * filters[i] over @n, and transforms the last axis back.
   * Does so for @pairs in a row, so that filters stay in the cache: spectra of
   * the next pair are @next floats on, and its memory is @work floats on. */
  void (*sum) (const NdReal *const *spectra, const NdReal *const *filters,
      guint n, NdReal *work, guint pairs, gsize next);

  /* Transforms the other axes of plane @z back, and writes @height rows of at
   * least @width samples of both blocks, each sample plus @level. The rows are
   * size[0] floats apart. forward() and inverse() together multiply the samples
   * by the points of a block. */
  void (*inverse) (NdReal *work, gsize z, gsize width, gsize height,
      NdReal level, NdReal *a, NdReal *b);
} NdFftBlock;

typedef struct
{
  NdFftBlock volume;
  NdFftBlock plane;
} NdFftKernels;

/* Those of the instruction set of nd_kernels(). */
const NdFftKernels *nd_fft_kernels (void);

G_END_DECLS
