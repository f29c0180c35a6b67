/* The kernels of scenes for one instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/scenekernels.h"

#include <math.h>

/* A ray ends if less than this share of the light from beyond passes. */
#define ALMOST_OPAQUE (1 / 1024.0f)
/* The loop visits steps one by one, so that it can skip empty space. */
typedef struct
{
  gfloat start[3], move[3]; /* position of step k: start + k move */
  gint from, to;            /* steps in the volume */
  gfloat half[3];           /* half way between light and eye */
} Ray;

static inline gfloat
limit (gfloat v, gfloat most)
{
  v = v > 0 ? v : 0;
  return v < most ? v : most;
}

static inline gfloat
mix (gfloat a, gfloat b, gfloat part)
{
  return a + part * (b - a);
}

/* The ray of pixel (@x, @y), in double precision: a step that is just inside
 * must not depend on rounding. */
static inline void
make_ray (const NdSceneSamples *s, const NdPanel *panel, const NdLook *look,
    gint x, gint y, Ray *ray)
{
  gdouble start[3], move[3], from = 0, to = panel->steps, length = 0, h = 0;
  gdouble half[3];

  for (guint a = 0; a < 3; a++) {
    start[a] = panel->origin[a] + x * panel->right[a] + y * panel->down[a];
    move[a] = panel->forward[a];
    if (panel->perspective) {
      move[a] = start[a] - panel->eye[a];
      start[a] = panel->eye[a];
    }
    length += move[a] * s->spacing[a] * move[a] * s->spacing[a];
  }
  length = sqrt (length);
  for (guint a = 0; a < 3; a++) {
    if (panel->perspective)
      move[a] *= panel->step / length;
    half[a] = look->light[a]
        - move[a] * s->spacing[a] / (panel->perspective ? panel->step : length);
    h += half[a] * half[a];
    start[a] += move[a] / 2;
    if (move[a] != 0) {
      gdouble enter = (-0.5 - start[a]) / move[a];
      gdouble leave = (s->size[a] - 0.5 - start[a]) / move[a];

      from = fmax (from, ceil (fmin (enter, leave)));
      to = fmin (to, floor (fmax (enter, leave)) + 1);
    } else if (!(start[a] >= -0.5 && start[a] <= s->size[a] - 0.5)) {
      to = 0;
    }
    ray->start[a] = start[a];
    ray->move[a] = move[a];
  }
  for (guint a = 0; a < 3; a++)
    ray->half[a] = h > 0 ? half[a] / sqrt (h) : 0;
  ray->from = from < to ? from : 0;
  ray->to = from < to ? to : 0;
}

static inline void
position (const NdSceneSamples *s, const Ray *ray, gfloat k, gfloat at[3])
{
  for (guint a = 0; a < 3; a++)
    at[a] = limit (ray->start[a] + k * ray->move[a], s->size[a] - 1);
}

/* The number of the cell of the position @at. */
static inline gsize
find_cell (const NdSceneSamples *s, const gfloat at[3])
{
  return ((gsize) ((gint) at[2] / ND_SCENE_CELL) * s->cells[1]
             + (gint) at[1] / ND_SCENE_CELL)
      * s->cells[0]
      + (gint) at[0] / ND_SCENE_CELL;
}

/* The first step after @k that is not within @cells - 1 cells around that of
 * @at. */
static inline gint
leave_cells (const NdSceneSamples *s, const Ray *ray, const gfloat at[3],
    gint k, gint cells)
{
  gfloat best = ray->to;

  for (guint a = 0; a < 3; a++) {
    const gint cell = (gint) at[a] / ND_SCENE_CELL;
    const gint edge =
        (ray->move[a] > 0 ? cell + cells : cell - cells + 1) * ND_SCENE_CELL;
    gfloat leave;

    if (ray->move[a] == 0 || edge <= 0 || edge >= s->size[a])
      continue;
    leave = ceilf ((edge - ray->start[a]) / ray->move[a]);
    best = leave < best ? leave : best;
  }
  return best > k ? (gint) best : k + 1;
}

/* The factor of a colour, and the white that is added to it. */
static inline void
shade (const NdLook *look, const Ray *ray, const gfloat gradient[3],
    gfloat edge, gfloat *factor, gfloat *white)
{
  gfloat length = 0, light = 0, half = 0, weight;

  for (guint a = 0; a < 3; a++) {
    length += gradient[a] * gradient[a];
    light += gradient[a] * (gfloat) look->light[a];
    half += gradient[a] * ray->half[a];
  }
  *factor = 1;
  *white = 0;
  if (!(length > 0) || !(length <= G_MAXFLOAT))
    return;
  weight = length / (length + edge * edge);
  light = fabsf (light) / sqrtf (length);
  half = half * half / length;
  half *= half;
  half *= half;
  *factor = 1
      + weight * ((gfloat) look->ambient + (gfloat) look->diffuse * light - 1);
  *white = 255 * weight * (gfloat) look->specular * half * half;
}

#define NAME(name) name##_uint8
#define SAMPLE guint8
#include "cpu/scenerow_tmpl.h"
#undef NAME
#undef SAMPLE
#define NAME(name) name##_int16
#define SAMPLE gint16
#include "cpu/scenerow_tmpl.h"
#undef NAME
#undef SAMPLE
#define NAME(name) name##_uint16
#define SAMPLE guint16
#include "cpu/scenerow_tmpl.h"
#undef NAME
#undef SAMPLE
#define NAME(name) name##_float32
#define SAMPLE gfloat
#include "cpu/scenerow_tmpl.h"

extern const NdSceneKernels ND_SCENE_KERNELS;
const NdSceneKernels ND_SCENE_KERNELS = {
  .name = ND_KERNELS_NAME,
  .row = { row_uint8, row_int16, row_uint16, row_float32 },
  .range = { range_uint8, range_int16, range_uint16, range_float32 },
};
