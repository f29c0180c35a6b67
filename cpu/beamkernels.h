/* Inner loops of beams, compiled once for each instruction set: scan
 * conversion, and B-mode of lines.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Arrays have this many elements more, because whole vectors are read and
 * written. */
#define ND_BEAM_ROOM 64

/* A share of 1 between two samples. */
#define ND_SCAN_SHARE 65535

/* Output samples of a row: the sample below each one, and the shares of the
 * next one along each axis. */
typedef struct
{
  gsize n;
  const gfloat *volume;
  const gint32 *at;
  const guint16 *shares[3];
  gint32 strides[3]; /* 0 for y or z of one sample; x has neighbours */
} NdScanRow;

/* All write whole vectors. */
typedef struct
{
  /* Interpolation from 2 samples along each axis, or by nd_cubic_weights()
   * from 4, of which the first lies before `at`. */
  void (*scan_linear) (const NdScanRow *row, gfloat *out);
  void (*scan_cubic) (const NdScanRow *row, gfloat *out);

  /* out[i] = sum over k of taps[k] in[i step + k stride], for @n_taps taps. If
   * @step is not 1, @stride is 1, and taps beyond them are 0. */
  void (*fir) (const gfloat *in, gsize step, const gfloat *taps, guint n_taps,
      guint stride, gsize n, gfloat *out);

  /* out[i] = offset[i] + scale log2 (re[i]^2 + im[i]^2), from 0 to @white; 0 if
   * it is not a number. */
  void (*compress) (const gfloat *re, const gfloat *im, const gfloat *offset,
      gfloat scale, gfloat white, gsize n, gfloat *out);
} NdBeamKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdBeamKernels *nd_beam_kernels (void);

G_END_DECLS
