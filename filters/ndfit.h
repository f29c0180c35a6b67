/* Filters of finite support whose frequency response comes as near as it can
 * to an ideal one: weighted least squares, after Knutsson, Andersson and
 * Wiklund, Advanced filter design, SCIA 1999.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndfilter.h"

G_BEGIN_DECLS

/* The ideal response at @u, radians per sample, from -pi to pi per axis. It is
 * real. Its even part becomes a filter a with a[-x] = a[x], its odd part a
 * filter b with b[-x] = -b[x]:
 *
 *   E(u) = sum_x a[x] cos (u.x)     O(u) = sum_x b[x] sin (u.x)
 *
 * so that a + ib has the response E + O, and -b the response iO. */
typedef gdouble (*NdSpectrum) (const gdouble u[ND_AXES], gconstpointer data);

/* What is minimized is, with means over all frequencies,
 *
 *   mean (W^2 |ideal - response|^2)
 *     + localization mean (W^2) sum_x |x / h|^2 |filter[x]|^2
 *
 * where x / h is 1 at the ends of the axes, and W is the amplitude that is
 * expected of the input: signal, which falls with frequency, and white noise.
 * Its mean has ten times the energy of all that varies.
 *
 *   W(u) = |u|^-spectrum prod_a cos (u_a / 2) + 1 / snr */
typedef struct
{
  gdouble spectrum;
  gdouble snr;
  gdouble localization;
} NdFitWeights;

/* even E(u) + odd O(u) is to be value; with a slope that is not 0, the
 * derivative of that along slope. Softness 0 makes it hold exactly; otherwise
 * violation^2 / softness is what it costs, relative to mean (W^2 |ideal|^2). */
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

  /* Filled: a and b, x fastest, to be freed. A part that the ideal has not is
   * 0. */
  gdouble *even;
  gdouble *odd;

  /* Of this filter, and of the ideal one cut off at the same size. Soft
   * conditions give way until the first is not above the second, neither of
   * them, nor above 1.5 times what it is without conditions; where varying
   * cannot be, until total is. */
  NdFitError error;
  NdFitError truncation_error;
} NdFit;

/* Unknowns of one system of equations: sizes 97 x 97, 25^3, 13^4. */
#define ND_FIT_MAX_UNKNOWNS 2401

/* Fits @n filters of one @size, odd along every axis. One after the other would
 * give the same and take longer. ND_ERROR_SETTINGS for an even size, one of 1
 * along all axes, or too large a one. */
gboolean nd_fit (NdFit * fits, guint n, const gsize size[ND_AXES],
    const NdFitWeights * weights, GError ** error);

G_END_DECLS
