/* The inner loops of scenes: a rectangle of pixels of a panel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/sceneinline.h"

G_BEGIN_DECLS

#define ND_SCENE_SLACK 3 /* the numbers of cells are read by 4 bytes */

/* Numbers of one type: sample (x, y, z) is data[x step[0] + y step[1] + z
 * step[2]]. */
typedef struct
{
  gconstpointer data;
  gsize step[3];
  gint size[3];

  /* Whether the indices fit in 32 bits and, if the type is an integer, four
   * neighbours along x lie side by side in memory. */
  gboolean fast;

  /* For each cell the least and the greatest value that is interpolated in it;
   * NaN does not count. NULL if they are not needed. */
  const gfloat *low, *high;
  const guint8 *empty; /* the numbers of view/sceneinline.h, for
                        * ND_PANEL_VOLUME and ND_PANEL_SURFACE; ND_SCENE_SLACK
                        * bytes longer */
  gint cells[3];

  gdouble spacing[3];
} NdSceneSamples;

/* Values of pixels @from to before @to (x, y) of a plane or a projection, row
 * by row; NaN if a pixel has none. */
typedef void (*NdSceneValues) (const NdSceneSamples *samples,
    const NdPanel *panel, const NdLook *look, const gint from[2],
    const gint to[2], gfloat *values);

/* The tables of an NdLook, so that one number has all that belongs together.
 * Between two entries of its colours there are ND_SCENE_SHADES. */
#define ND_SCENE_SHADES 8
typedef struct
{
  /* Opacity times 65535: of an entry in bits 0 to 15, of the next one above. */
  guint32 opacity[ND_LOOK_COLORS - 1];
  gfloat dark; /* up to this entry the opacity is 0; -1: it never is */
  /* Red, green and blue times 4, from bits 0, 10 and 20. */
  guint32 colors[(ND_LOOK_COLORS - 1) * ND_SCENE_SHADES + 1];
} NdSceneTables;

/* Draws these pixels of ND_PANEL_VOLUME or ND_PANEL_SURFACE to @pixels of the
 * panel. */
typedef void (*NdSceneColors) (const NdSceneSamples *samples,
    const NdPanel *panel, const NdLook *look, const NdSceneTables *tables,
    const gint from[2], const gint to[2], guint8 *pixels, gssize stride);

/* Sets @low and @high to the range of cells [*, @y, @z], which must be infinity
 * and -infinity before. */
typedef void (*NdSceneRange) (const NdSceneSamples *samples, gint y, gint z,
    gfloat *low, gfloat *high);

typedef struct
{
  /* For each type that filters compute with. */
  NdSceneValues values[ND_SAMPLE_TYPES];
  NdSceneColors colors[ND_SAMPLE_TYPES];
  NdSceneRange range[ND_SAMPLE_TYPES];
} NdSceneKernels;

/* The kernels of the best instruction set of this processor. Any thread. */
const NdSceneKernels *nd_scene_kernels (void);

G_END_DECLS
