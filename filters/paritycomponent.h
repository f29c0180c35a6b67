/* The component of one parity (filters/parity.h) of a filter that is fitted:
 * its ideal response, the solution of its equations, and the error of the
 * solution.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/parity.h"

G_BEGIN_DECLS

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

/* Splits the ideal response of @fit into its parities. */
void nd_parity_components_init (NdParityComponent components[ND_PARITIES],
    const NdGrid *grid, const NdFit *fit);
void nd_parity_components_clear (NdParityComponent components[ND_PARITIES]);

/* TRUE if the ideal response is 0 but for rounding. */
gboolean nd_parity_component_is_empty (const NdParityComponent *component,
    const NdGrid *grid);

/* sum W^2 |ideal|^2 */
gdouble nd_parity_component_energy (const NdParityComponent *component,
    const NdGrid *grid);

/* c0 + Z y, which the caller frees; NULL if there is no solution. */
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
