/* Functions that are even along some axes and odd along the others. A fit
 * splits into one independent system of equations for each parity, over one
 * orthant of frequency.
 *
 * A parity is a set of bits, one per axis, set if the function is odd along the
 * axis. Its unknowns are the coefficients c[x] with x_a >= 0, or x_a > 0 along
 * odd axes; its response is sum_x c[x] prod_a phi(u_a, x_a).
 *
 * The first axis of an array runs fastest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/fit.h"

#include <stdatomic.h>

G_BEGIN_DECLS

#define ND_PARITIES (1 << ND_AXES)

/* The frequencies u = pi (j + 1/2) / M of one orthant. M is three times the
 * degrees of freedom along the axis, and at least 128 in 1D, 48 in 2D, 24 in 3D
 * and 16 in 4D. */
typedef struct
{
  gsize h[ND_AXES]; /* (size - 1) / 2 */
  gsize m[ND_AXES]; /* frequencies of the orthant */
  gsize points;     /* their product */
  gdouble *u[ND_AXES];
  gdouble *w2;            /* W^2, of all points */
  gdouble total;          /* its sum */
  gdouble *lags;          /* sum_u W^2 prod_a cos (u_a l_a) */
  const gint *cancelled;  /* core/error.h: results are undefined then */
  atomic_size_t *missing; /* bytes that could not be allocated: the same */
} NdGrid;

/* Allocates the arrays of @grid, which nd_grid_clear() frees, and fills them
 * for a filter of @size. FALSE without memory. */
gboolean nd_grid_init (NdGrid *grid, const gsize size[ND_AXES],
    const NdFitWeights *weights, atomic_size_t *missing);
void nd_grid_clear (NdGrid *grid);

/* @n zeros, which the caller frees. Without memory: NULL, and the grid is
 * stopped. Any thread. */
gdouble *nd_grid_allocate (const NdGrid *grid, gsize n);

/* Whether the design is cancelled or has no memory. */
gboolean nd_grid_is_stopped (const NdGrid *grid);

/* The product of all @n. */
gsize nd_sizes_product (const gsize n[ND_AXES]);

/* The position of @index in an array of sizes @n. */
void nd_sizes_split (gsize index, const gsize n[ND_AXES], gsize at[ND_AXES]);

/* Multiplies an array of sizes @n by table[a] along each axis; the result has
 * sizes @to. table[a] has to[a] rows of n[a] numbers; if @transposed, n[a] rows
 * of to[a] numbers. NULL without memory, also that of @in or a table. */
gdouble *nd_grid_transform (const NdGrid *grid, const gdouble *in,
    const gsize n[ND_AXES], const gsize to[ND_AXES],
    gdouble *const table[ND_AXES], gboolean transposed);

/* Whether the functions of @parity are odd along @axis. */
gboolean nd_parity_is_odd (guint parity, guint axis);

/* Counts the unknowns along each axis; FALSE if there are none. */
gboolean nd_parity_unknowns (const NdGrid *grid, guint parity,
    gsize n[ND_AXES]);

/* The x of the @k-th unknown along an axis. */
gsize nd_parity_position (guint parity, guint axis, gsize k);

/* The number of filter coefficients that are equal to one unknown but for their
 * sign. */
gdouble nd_parity_multiplicity (guint parity, const gsize at[ND_AXES]);

/* phi of the @k-th unknown, and its derivative in u. */
gdouble nd_parity_phi (guint parity, guint axis, gsize k, gdouble u);
gdouble nd_parity_phi_slope (guint parity, guint axis, gsize k, gdouble u);

/* Tables of phi for nd_grid_transform(), from frequencies to unknowns; with
 * @transposed, from unknowns to frequencies. @n comes from
 * nd_parity_unknowns(). */
void nd_parity_make_tables (const NdGrid *grid, guint parity,
    const gsize n[ND_AXES], gdouble *table[ND_AXES]);
void nd_parity_free_tables (gdouble *table[ND_AXES]);

/* The lower triangle of the matrix of the equations: sum_u W^2 phi_i phi_j,
 * plus the spatial weights on the diagonal. NULL without memory. */
gdouble *nd_parity_matrix (const NdGrid *grid, guint parity,
    const gsize n[ND_AXES], gdouble localization);

/* The component of one parity (filters/parity.h) of a filter that is fitted:
 * its ideal response, the solution of its equations, and the error of the
 * solution. */

/* The coefficients that minimize the error under the conditions C c = v are
 * c = c0 + Z y (filters/fit.c). */
typedef struct
{
  gdouble *ideal;    /* of all points; NULL: the filter has no component */
  gdouble constant;  /* parity 0: the ideal response at u = 0 */
  gdouble *solution; /* c0; NULL: all 0 */
  gdouble *relief[ND_FIT_CONDITIONS];    /* Z */
  gdouble *condition[ND_FIT_CONDITIONS]; /* C */
} NdParityComponent;

/* Squared errors, summed over all points of the grid. */
typedef struct
{
  gdouble varying;  /* for input without its mean */
  gdouble constant; /* for the mean of the input */
} NdComponentError;

/* Splits the ideal response of @fit into its parities. FALSE without memory. */
gboolean nd_parity_components_init (NdParityComponent components[ND_PARITIES],
    const NdGrid *grid, const NdFit *fit);
void nd_parity_components_clear (NdParityComponent components[ND_PARITIES]);

/* TRUE if the ideal response is 0 but for rounding. */
gboolean nd_parity_component_is_empty (const NdParityComponent *component,
    const NdGrid *grid);

/* sum W^2 |ideal|^2 */
gdouble nd_parity_component_energy (const NdParityComponent *component,
    const NdGrid *grid);

/* c0 + Z y, which the caller frees; NULL if there is no solution, or without
 * memory. */
gdouble *nd_parity_component_combine (const NdParityComponent *component,
    const NdGrid *grid, guint parity, const gdouble *y, guint conditions);

/* The error of the response of coefficients @c (NULL: all 0), and of the ideal
 * filter cut off at the size of the filter. */
NdComponentError nd_parity_component_error (const NdParityComponent *component,
    const NdGrid *grid, guint parity, const gdouble *c);
NdComponentError
nd_parity_component_truncation_error (const NdParityComponent *component,
    const NdGrid *grid, guint parity);

/* Adds the coefficients @c, mirrored into all orthants, to the filter. */
void nd_parity_component_spread (const NdGrid *grid, guint parity,
    const gdouble *c, NdFit *fit);

G_END_DECLS
