/* The inner loops of scenes: one row of pixels of a panel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/scene.h"

G_BEGIN_DECLS

/* Space is skipped in cells of this many samples along each axis. */
#define ND_SCENE_CELL 8

/* Cells have one of these numbers: 0 if the values in them show, otherwise how
 * many cells away the nearest cell is that may show, diagonals included. */
#define ND_SCENE_FAR 31

/* Numbers of one type: sample (x, y, z) is data[x step[0] + y step[1] + z
 * step[2]]. */
typedef struct
{
  gconstpointer data;
  gsize step[3];
  gint size[3];

  /* For each cell the least and the greatest value that is interpolated in it;
   * NaN does not count. NULL if they are not needed. */
  const gfloat *low, *high;
  const guint8 *empty; /* as above; ND_PANEL_VOLUME and ND_PANEL_SURFACE */
  gint cells[3];

  gdouble spacing[3];
} NdSceneSamples;

/* Draws pixels @from to @to - 1 of row @y. For a plane or a projection, @values
 * gets one value per pixel, NaN if there is none; otherwise red, green and blue
 * of each pixel, 0 to 255. */
typedef void (*NdSceneRow) (const NdSceneSamples *samples, const NdPanel *panel,
    const NdLook *look, gint y, gint from, gint to, gfloat *values);

/* Sets @low and @high to the range of cells [*, @y, @z], which must be infinity
 * and -infinity before. */
typedef void (*NdSceneRange) (const NdSceneSamples *samples, gint y, gint z,
    gfloat *low, gfloat *high);

typedef struct
{
  const gchar *name;

  /* For each type that filters compute with. */
  NdSceneRow row[ND_SAMPLE_TYPES];
  NdSceneRange range[ND_SAMPLE_TYPES];
} NdSceneKernels;

const NdSceneKernels *nd_scene_kernels (void);

G_END_DECLS
