/* Inner loops of registration, compiled once for each instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Volumes are allocated for this many floats more than they have, because whole
 * vectors are read. */
#define ND_REGISTER_ROOM 16

/* Sums over a row, of products of two of gx, gy, gz, r, w and powers of u. The
 * pairs are xx xy xz yy yz zz, xr yr zr, xw yw zw, rr rw ww, with u to the
 * power 0 to 2, 3, 3, 4. */
#define ND_REGISTER_PAIRS 15
#define ND_REGISTER_ROW_MOMENTS (6 * 3 + 6 * 4 + 3 * 5)
#define ND_REGISTER_MOMENT_WW (ND_REGISTER_ROW_MOMENTS - 5)

/* Sums of products with the difference e: of gx, gy, gz with u to the power 0
 * and 1, of r and w to the power 0 to 2; and of e^2 w. */
#define ND_REGISTER_ROW_SUMS (3 * 2 + 2 * 3 + 1)

/* Samples of a row of the reference. All but u are 0 where the weight w is. */
typedef struct
{
  gsize n;
  const gfloat *g[3], *r, *w;
  gfloat u, u_step;

  /* The volume, and the positions in it of the samples of the row. */
  const gfloat *volume;
  gint strides[3]; /* 0 for an axis of one sample */
  gfloat at[3], step[3];
  gfloat last[3]; /* the largest index of a sample below a position */
} NdRegisterRow;

/* Samples of a row of the responses to one filter. Neighbours exist along each
 * axis that has a stride. */
typedef struct
{
  gsize n;
  const gfloat *reference[2], *volume[2]; /* real and imaginary parts */
  const gfloat *w;                        /* weights, 0 or 1 */
  gint strides[3];                        /* 0: no gradient along this axis */
  gfloat scale[3];                        /* of gradients */
  gfloat u, u_step;
} NdPhaseRow;

/* Samples of a row of a volume that is moved. All 4 samples around a position
 * exist along each axis that has more than one sample. The x axis has. */
typedef struct
{
  gsize n;
  const gfloat *volume;
  gint strides[3];
  gfloat at[3], step[3];
} NdWarpRow;

typedef struct
{
  /* out[i] = sum of taps[k] rows[k][i]. Writes whole vectors. */
  void (*combine) (const gfloat *const *rows, const gfloat *taps, guint n_taps,
      gsize n, gfloat *out);
  void (*moments) (const NdRegisterRow *row,
      gfloat sums[ND_REGISTER_ROW_MOMENTS]);

  /* The difference to the reference of the linear interpolation. */
  void (*difference) (const NdRegisterRow *row,
      gfloat sums[ND_REGISTER_ROW_SUMS]);

  /* Sums of the phase: gradients are g, weights w, of which the sum is moment
   * ww; what is not summed is not set. */
  void (*phase) (const NdPhaseRow *row, gfloat moments[ND_REGISTER_ROW_MOMENTS],
      gfloat sums[ND_REGISTER_ROW_SUMS]);

  /* Interpolation by nd_cubic_weights(), or linear. Writes n samples. */
  void (*warp_cubic) (const NdWarpRow *row, gfloat *out);
  void (*warp_linear) (const NdWarpRow *row, gfloat *out);
} NdRegisterKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdRegisterKernels *nd_register_kernels (void);

G_END_DECLS
