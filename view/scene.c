/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "view/scene.h"

#include <math.h>
#include <string.h>

/* A colour at a grey. Colours between are interpolated linearly. */
typedef struct
{
  gfloat grey;
  guint8 color[3];
} Stop;

static const Stop gray[] = { { 0, { 0, 0, 0 } }, { 1, { 255, 255, 255 } } };

static const Stop hot[] = { { 0, { 0, 0, 0 } }, { 0.375, { 255, 0, 0 } },
  { 0.75, { 255, 255, 0 } }, { 1, { 255, 255, 255 } } };

static const Stop bone[] = { { 0, { 0, 0, 0 } }, { 0.375, { 84, 84, 116 } },
  { 0.75, { 167, 199, 199 } }, { 1, { 255, 255, 255 } } };

static const Stop viridis[] = { { 0, { 68, 1, 84 } },
  { 0.125, { 71, 45, 123 } }, { 0.25, { 59, 82, 139 } },
  { 0.375, { 44, 114, 142 } }, { 0.5, { 33, 145, 140 } },
  { 0.625, { 40, 174, 128 } }, { 0.75, { 94, 201, 98 } },
  { 0.875, { 173, 220, 48 } }, { 1, { 253, 231, 37 } } };

static const Stop with_sign[] = { { 0, { 5, 48, 97 } },
  { 0.25, { 67, 147, 195 } }, { 0.5, { 255, 255, 255 } },
  { 0.75, { 214, 96, 77 } }, { 1, { 103, 0, 31 } } };

static const Stop hue[] = { { 0, { 255, 0, 0 } }, { 1 / 6.0, { 255, 255, 0 } },
  { 2 / 6.0, { 0, 255, 0 } }, { 3 / 6.0, { 0, 255, 255 } },
  { 4 / 6.0, { 0, 0, 255 } }, { 5 / 6.0, { 255, 0, 255 } },
  { 1, { 255, 0, 0 } } };

static const Stop *const maps[] = { gray, hot, bone, viridis, with_sign, hue };

void
nd_colormap_fill (NdColormap map, gfloat colors[ND_LOOK_COLORS][3])
{
  const Stop *stop = maps[map];

  for (guint i = 0; i < ND_LOOK_COLORS; i++) {
    const gfloat grey = i / (gfloat) (ND_LOOK_COLORS - 1);
    gfloat part;

    while (stop[1].grey < grey)
      stop++;
    part = (grey - stop[0].grey) / (stop[1].grey - stop[0].grey);
    for (guint c = 0; c < 3; c++)
      colors[i][c] =
          stop[0].color[c] + part * (stop[1].color[c] - stop[0].color[c]);
  }
}

/* Columns of directions that span less of a cube lie in a plane. */
#define LEAST_DETERMINANT 1e-3

/* FALSE if the matrix @m, row by row, has no inverse worth the name. */
static gboolean
scene_invert (const gdouble m[9], gdouble inverse[9])
{
  gdouble determinant = 0;

  for (guint r = 0; r < 3; r++) {
    for (guint c = 0; c < 3; c++) {
      const guint r1 = (r + 1) % 3, r2 = (r + 2) % 3;
      const guint c1 = (c + 1) % 3, c2 = (c + 2) % 3;

      inverse[3 * c + r] =
          m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
    }
  }
  for (guint c = 0; c < 3; c++)
    determinant += m[c] * inverse[3 * c];
  if (!(fabs (determinant) > LEAST_DETERMINANT) || !isfinite (determinant))
    return FALSE;
  for (guint i = 0; i < 9; i++)
    inverse[i] /= determinant;
  return TRUE;
}

static void
scene_multiply (const gdouble m[9], const gdouble v[3], gdouble result[3])
{
  for (guint r = 0; r < 3; r++)
    result[r] = m[3 * r] * v[0] + m[3 * r + 1] * v[1] + m[3 * r + 2] * v[2];
}

static gboolean
map_space (NdSceneMap *map, const NdGeometry *first, const NdGeometry *second)
{
  gdouble inverse[9], shift[3];

  if (!first->known || !second->known
      || !scene_invert (second->directions, inverse))
    return FALSE;
  for (guint a = 0; a < 3; a++)
    shift[a] = first->origin[a] - second->origin[a];
  scene_multiply (inverse, shift, map->offset);
  for (guint r = 0; r < 3; r++) {
    map->spacing[r] = second->spacing[r];
    map->offset[r] /= second->spacing[r];
    for (guint c = 0; c < 3; c++) {
      gdouble sum = 0;

      for (guint k = 0; k < 3; k++)
        sum += inverse[3 * r + k] * first->directions[3 * k + c];
      map->rotation[3 * r + c] = sum;
      map->matrix[3 * r + c] = sum * first->spacing[c] / second->spacing[r];
    }
  }
  return TRUE;
}

void
nd_scene_map_init (NdSceneMap *map, const NdSceneJob *job,
    const NdGeometry *first, const NdShape *second_shape,
    const NdGeometry *second)
{
  const gboolean is_same =
      memcmp (job->shape.size, second_shape->size, sizeof job->shape.size) == 0
      && memcmp (first, second, sizeof *first) == 0;

  /* Rounding must not move equal volumes. */
  if (!is_same && map_space (map, first, second))
    return;
  memset (map, 0, sizeof *map);
  for (guint a = 0; a < 3; a++) {
    const gdouble scale = second_shape->size[a] / (gdouble) job->shape.size[a];

    map->matrix[4 * a] = scale;
    map->offset[a] = scale / 2 - 0.5;
    map->spacing[a] = job->spacing[a] / scale;
    map->rotation[4 * a] = 1;
  }
}

static void
scene_turn (const NdSceneMap *map, gdouble v[3])
{
  const gdouble from[3] = { v[0], v[1], v[2] };

  scene_multiply (map->matrix, from, v);
}

void
nd_scene_map_position (const NdSceneMap *map, const gdouble from[3],
    gdouble to[3])
{
  scene_multiply (map->matrix, from, to);
  for (guint a = 0; a < 3; a++)
    to[a] += map->offset[a];
}

void
nd_scene_map_panel (const NdSceneMap *map, NdPanel *panel)
{
  scene_turn (map, panel->origin);
  scene_turn (map, panel->right);
  scene_turn (map, panel->down);
  scene_turn (map, panel->forward);
  scene_turn (map, panel->eye);
  for (guint a = 0; a < 3; a++) {
    panel->origin[a] += map->offset[a];
    panel->eye[a] += map->offset[a];
  }
}

void
nd_scene_map_light (const NdSceneMap *map, gdouble light[3])
{
  const gdouble from[3] = { light[0], light[1], light[2] };
  gdouble length;

  scene_multiply (map->rotation, from, light);
  length =
      sqrt (light[0] * light[0] + light[1] * light[1] + light[2] * light[2]);
  for (guint a = 0; a < 3 && length > 0; a++)
    light[a] /= length;
}
