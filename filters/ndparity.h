/* Functions that are even along some axes and odd along the others, over one
 * orthant of frequency: what a fit falls apart into.
 *
 * A parity has one bit per axis, set where it is odd. Its unknowns are the
 * coefficients c[x], x_a >= 0, or above 0 along odd axes; its response is
 * sum_x c[x] prod_a phi(u_a, x_a).
 *
 * Arrays of several axes have the first run fastest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndfit.h"

G_BEGIN_DECLS

#define ND_PARITIES (1 << ND_AXES)

/* Frequencies u = pi (j + 1/2) / M, as many along each axis as give the
 * response three samples where the filter has one degree of freedom, and at
 * least 128 in 1D, 48 in 2D, 24 in 3D, 16 in 4D. */
typedef struct
{
  gsize h[ND_AXES];             /* (size - 1) / 2 */
  gsize m[ND_AXES];             /* frequencies of the orthant */
  gsize points;                 /* their product */
  gdouble *u[ND_AXES];
  gdouble *w2;                  /* W^2, of all points */
  gdouble total;                /* its sum */
  gdouble *lags;                /* sum_u W^2 prod_a cos (u_a l_a) */
} NdGrid;

void nd_grid_init (NdGrid * grid, const gsize size[ND_AXES],
    const NdFitWeights * weights);
void nd_grid_clear (NdGrid * grid);

gsize nd_sizes_product (const gsize n[ND_AXES]);

/* What stands at @index of an array of sizes @n. */
void nd_sizes_split (gsize index, const gsize n[ND_AXES], gsize at[ND_AXES]);

/* Replaces sizes @n by @to, along each axis by table[a], to[a] rows of n[a]
 * numbers, or, @transposed, n[a] rows of to[a]. */
gdouble *nd_sizes_transform (const gdouble * in, const gsize n[ND_AXES],
    const gsize to[ND_AXES], gdouble * const table[ND_AXES],
    gboolean transposed);

gboolean nd_parity_is_odd (guint parity, guint axis);

/* Unknowns along each axis; FALSE where there are none. */
gboolean nd_parity_unknowns (const NdGrid * grid, guint parity,
    gsize n[ND_AXES]);

/* The @k-th unknown along an axis stands at this x. */
gsize nd_parity_position (guint parity, guint axis, gsize k);

/* Filter coefficients that one unknown stands for, by mirroring. */
gdouble nd_parity_multiplicity (guint parity, const gsize at[ND_AXES]);

/* phi of the @k-th unknown, and its derivative in u. */
gdouble nd_parity_phi (guint parity, guint axis, gsize k, gdouble u);
gdouble nd_parity_phi_slope (guint parity, guint axis, gsize k, gdouble u);

/* phi for nd_sizes_transform(): from frequencies to unknowns, or back,
 * transposed. @n as nd_parity_unknowns() has it. */
void nd_parity_make_tables (const NdGrid * grid, guint parity,
    const gsize n[ND_AXES], gdouble * table[ND_AXES]);
void nd_parity_free_tables (gdouble * table[ND_AXES]);

/* The lower triangle of the equations: sum_u W^2 phi_i phi_j, and the spatial
 * weights. */
gdouble *nd_parity_matrix (const NdGrid * grid, guint parity,
    const gsize n[ND_AXES], gdouble localization);

G_END_DECLS
