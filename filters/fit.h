/* Filters of finite support that approximate an ideal frequency response:
 * weighted least squares, after Knutsson, Andersson and Wiklund, Advanced
 * filter design, SCIA 1999.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

#include <glib.h>

G_BEGIN_DECLS

/* The ideal response at @u, in radians per sample from -pi to pi per axis. It
 * is real. Its even part E is approximated by a filter a with a[-x] = a[x], its
 * odd part O by a filter b with b[-x] = -b[x]:
 *
 *   E(u) = sum_x a[x] cos (u.x)     O(u) = sum_x b[x] sin (u.x)
 *
 * The filter a + ib has the response E + O, and -b the response iO. */
typedef gdouble (*NdSpectrum) (const gdouble u[ND_AXES], gconstpointer data);

/* The fit minimizes, with means over all frequencies,
 *
 *   mean (W^2 |ideal - response|^2)
 *     + localization mean (W^2) sum_x |x / h|^2 |filter[x]|^2
 *
 * x / h is 1 at the ends of the axes. W is the amplitude expected of the input:
 * signal, which falls with frequency, and white noise.
 *
 *   W(u) = |u|^-spectrum prod_a cos (u_a / 2) + 1 / snr
 *
 * The mean of the input has ten times the energy of its other frequencies. */
typedef struct
{
  gdouble spectrum;
  gdouble snr;
  gdouble localization;
  const gint *cancelled; /* core/error.h */
} NdFitWeights;

/* The condition that even E(u) + odd O(u) = value. If slope is not 0, the
 * condition holds for the derivative along slope instead. With softness 0 it
 * holds exactly; otherwise its cost is violation^2 / softness, relative to
 * mean (W^2 |ideal|^2). */
typedef struct
{
  gdouble u[ND_AXES];
  gdouble slope[ND_AXES];
  gdouble even, odd;
  gdouble value;
  gdouble softness;
} NdFitCondition;

#define ND_FIT_CONDITIONS 12

typedef struct
{
  NdSpectrum ideal;
  gconstpointer data;
  NdFitCondition conditions[ND_FIT_CONDITIONS];
  guint n_conditions;

  /* The result: a and b, x fastest, which the caller frees. b is 0 if the ideal
   * response is even, a if it is odd. */
  gdouble *even;
  gdouble *odd;

  /* The errors of this filter, and of the ideal filter cut off at the same
   * size. Soft conditions are relaxed until total and varying are at most those
   * of the cut-off filter, and total is at most 1.5 times the value without
   * conditions. If the conditions keep varying above its limit, only total is
   * limited. */
  NdFitError error;
  NdFitError truncation_error;
} NdFit;

/* The most unknowns of one system of equations: sizes 97 x 97, 25^3, 13^4. */
#define ND_FIT_MAX_UNKNOWNS 2401

/* Fits @n filters of one @size, which is odd along every axis. All filters
 * share one factorization. ND_ERROR_SETTINGS if a size is even, if all sizes
 * are 1, or if the filter is too large; ND_ERROR_CANCELLED, ND_ERROR_MEMORY. */
gboolean nd_fit (NdFit *fits, guint n, const gsize size[ND_AXES],
    const NdFitWeights *weights, GError **error);

/* Symmetric positive definite systems of equations. */

/* Factors the @n x @n matrix into L L^T. Reads only its lower triangle, and
 * overwrites that with L. FALSE if the matrix is not positive definite, or if
 * @cancelled (core/error.h). */
gboolean nd_cholesky_factor (gdouble *matrix, gsize n, const gint *cancelled);

/* Solves L L^T x = b in place: @x is b before, x after. */
void nd_cholesky_solve (const gdouble *factor, gsize n, gdouble *x);

G_END_DECLS
