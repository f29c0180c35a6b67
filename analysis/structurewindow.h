/* The window that tensors are averaged over: a Gaussian, cut off at 3 sigma in
 * space and at 2 sigma in time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_STRUCTURE_MAX_SIGMA 10
#define ND_STRUCTURE_MAX_TIME_REACH (2 * ND_STRUCTURE_MAX_SIGMA)

typedef struct
{
  gsize size[3];
  gint radius;
  gfloat *weights;  /* of -radius to radius, times u^0, u^1 and u^2 */
  gfloat *scale[3]; /* of each sample of an axis: 1 / the sum of the weights
                     * inside the volume */
  gfloat time[2 * ND_STRUCTURE_MAX_TIME_REACH + 1];
} NdStructureWindow;

/* The volumes of the window before, and after, the anchor. */
guint nd_structure_window_reach (gdouble sigma);

void nd_structure_window_init (NdStructureWindow *window, gdouble sigma,
    const gsize size[3]);
void nd_structure_window_clear (NdStructureWindow *window);

G_END_DECLS
