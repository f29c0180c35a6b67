/* The positions of one volume in another one, for pictures of both.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/geometry.h"
#include "engine/scene.h"

G_BEGIN_DECLS

/* Position p of the first volume is at matrix p + offset of the second one. */
typedef struct
{
  gdouble matrix[9]; /* row by row */
  gdouble offset[3];
  gdouble spacing[3];  /* of the second volume, in mm of the first one */
  gdouble rotation[9]; /* the same for directions in mm */
} NdSceneMap;

/* If both geometries are known, positions are the same ones in space.
 * Otherwise, or if directions lie in a plane, both volumes fill the same box.
 * @job has the shape and the spacing of the first volume. */
void nd_scene_map_init (NdSceneMap *map, const NdSceneJob *job,
    const NdGeometry *first, const NdShape *second_shape,
    const NdGeometry *second);

void nd_scene_map_position (const NdSceneMap *map, const gdouble from[3],
    gdouble to[3]);

/* Makes a panel of the first volume one of the second. */
void nd_scene_map_panel (const NdSceneMap *map, NdPanel *panel);

/* The same for the direction of a light, which has length 1. */
void nd_scene_map_light (const NdSceneMap *map, gdouble light[3]);

G_END_DECLS
