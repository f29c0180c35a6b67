/* The smoothed volumes of registration on all levels.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/register.h"

G_BEGIN_DECLS

typedef struct
{
  const NdRegisterPlan *plan;
  gfloat *smooth[ND_REGISTER_MAX_LEVELS];
  gfloat *valid[ND_REGISTER_MAX_LEVELS]; /* smoothed, too */
  gboolean has_invalid; /* otherwise all samples are valid, and valid is not
                         * set */

  /* Volumes before they are smoothed, and rows of each worker. */
  gfloat *input[2][ND_REGISTER_MAX_LEVELS];
  gfloat *rows;
  gsize worker_floats;
} NdRegisterPyramid;

/* NULL if there is not enough memory. @plan must outlive it. Later calls run on
 * no more threads than this one. */
/* The bytes that it will take. */
gsize nd_register_pyramid_bytes (const NdRegisterPlan *plan);

/* NULL without memory. @plan has to outlive it. */
NdRegisterPyramid *nd_register_pyramid_new (const NdRegisterPlan *plan);
void nd_register_pyramid_free (NdRegisterPyramid *pyramid);

/* The mean of the samples that are measured; 0 if there are none. */
gdouble nd_register_mean (const NdRegisterPlan *plan, const gfloat *samples);

/* Filters a volume of the finest level along the axes whose @taps, 2 @radius
 * + 1 of them, are not NULL; @radius is up to ND_PHASE_REACH. Samples beyond an
 * edge are those at the edge. @out has ND_REGISTER_ROOM more floats. */
void nd_register_filter (const NdRegisterPyramid *pyramid, const gfloat *in,
    const gfloat *const taps[3], guint radius, gfloat *out);

/* Sets all levels from a volume minus @offset, which keeps sums of floats
 * accurate. */
void nd_register_pyramid_set (NdRegisterPyramid *pyramid, const gfloat *samples,
    gdouble offset);

G_END_DECLS
