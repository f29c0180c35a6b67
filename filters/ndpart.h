/* One parity (ndparity.h) of one filter that is fitted: what is ideal, the
 * solutions of its equations, and how far they are from the ideal.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndparity.h"

G_BEGIN_DECLS

/* With conditions C c = v, @conditions of them, c = c0 + Z y (ndfit.c). */
typedef struct
{
  gdouble *ideal;               /* of all points; NULL: there is no such part */
  gdouble constant;             /* parity 0: the ideal response at u = 0 */
  gdouble *solution;            /* c0; NULL: all 0 */
  gdouble *relief[ND_FIT_CONDITIONS];   /* Z */
  gdouble *condition[ND_FIT_CONDITIONS];        /* C */
} NdPart;

/* Squares, summed up over all points of the grid. */
typedef struct
{
  gdouble varying;              /* of all that varies */
  gdouble constant;             /* of the input's mean */
} NdPartError;

/* Splits the ideal response of @fit into its parities. */
void nd_parts_init (NdPart parts[ND_PARITIES], const NdGrid * grid,
    const NdFit * fit);
void nd_parts_clear (NdPart parts[ND_PARITIES]);

/* Nothing but rounding. */
gboolean nd_part_is_empty (const NdPart * part, const NdGrid * grid);

/* sum W^2 |ideal|^2 */
gdouble nd_part_energy (const NdPart * part, const NdGrid * grid);

/* c0 + Z y, to be freed; NULL where there is no solution. */
gdouble *nd_part_combine (const NdPart * part, const NdGrid * grid,
    guint parity, const gdouble * y, guint conditions);

/* Of the response with coefficients @c, NULL being 0, and of that of the ideal
 * filter where it is cut off. */
NdPartError nd_part_error (const NdPart * part, const NdGrid * grid,
    guint parity, const gdouble * c);
NdPartError nd_part_truncation_error (const NdPart * part,
    const NdGrid * grid, guint parity);

/* Adds coefficients @c to the filter, mirrored into all orthants. */
void nd_part_spread (const NdGrid * grid, guint parity, const gdouble * c,
    NdFit * fit);

G_END_DECLS
