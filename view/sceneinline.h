/* The rays of scenes, and the rules by which back ends skip the parts of a
 * volume that a scene does not show, in C and CUDA.
 *
 * Space is divided into cells of ND_SCENE_CELL samples along each axis. The
 * range of a cell is that of the values that are interpolated in it: of its own
 * samples and the first ones of the next cells.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/scene.h"

#include <math.h>

#ifdef __CUDACC__
#define ND_SCENE_INLINE static __host__ __device__ __forceinline__
#else
#define ND_SCENE_INLINE static inline __attribute__ ((always_inline))
#endif
#ifdef __CUDACC__
#define ND_SCENE_AXES for (guint a = 0; a < 3; a++)
#else
#define ND_SCENE_AXES _Pragma ("GCC unroll 3") for (guint a = 0; a < 3; a++)
#endif

G_BEGIN_DECLS

#define ND_SCENE_CELL 8

/* Cells have one of these numbers: 0 if the values in them may show, otherwise
 * how many cells away the nearest cell is that may show, diagonals included. */
#define ND_SCENE_FAR 31

/* A ray ends if no more than this share of the light from beyond passes, which
 * changes a colour by half a level at most. */
#define ND_SCENE_ALMOST_OPAQUE (1 / 512.0f)

/* A gradient of this part of the window per mm is shaded by half. */
#define ND_SCENE_EDGE 0.02f

/* Sets @opaque[i] to how many of the first i entries of the opacity are above
 * 0. */
ND_SCENE_INLINE void
nd_scene_count_opaque (const NdLook *look, guint16 opaque[ND_LOOK_COLORS + 1])
{
  opaque[0] = 0;
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    opaque[i + 1] = (guint16) (opaque[i] + (look->opacity[i] > 0));
}

/* The entry of a table that belongs to @value, from 0 to the last one. */
ND_SCENE_INLINE gdouble
nd_scene_entry (gdouble low, gdouble window, gdouble value)
{
  const gdouble entry = (value - low) / window * (ND_LOOK_COLORS - 1);

  return CLAMP (entry, 0, ND_LOOK_COLORS - 1);
}

/* Whether ND_PANEL_VOLUME may show values from @low to @high, as the range of a
 * cell without values is infinity to -infinity. */
ND_SCENE_INLINE gboolean
nd_scene_may_show (gdouble window_low, gdouble window, const guint16 *opaque,
    gfloat low, gfloat high)
{
  gint first, last;

  if (!(low <= high))
    return FALSE;
  /* Entries that values between are interpolated from, and one more because of
   * rounding. */
  first = (gint) floor (nd_scene_entry (window_low, window, low) - 0.01);
  last = (gint) ceil (nd_scene_entry (window_low, window, high) + 0.01);
  return opaque[MIN (last, ND_LOOK_COLORS - 1) + 1] > opaque[MAX (first, 0)];
}

/* The same for ND_PANEL_SURFACE. */
ND_SCENE_INLINE gboolean
nd_scene_may_reach (gdouble level, gfloat low, gfloat high)
{
  return low <= high && high >= (gfloat) level;
}

ND_SCENE_INLINE gdouble
nd_scene_least (gdouble a, gdouble b)
{
  return a < b ? a : b;
}

ND_SCENE_INLINE gdouble
nd_scene_most (gdouble a, gdouble b)
{
  return a > b ? a : b;
}

typedef struct
{
  gdouble start[3], move[3]; /* position of step k: start + k move */
  gdouble half[3];           /* half way between light and eye; length 1 */
  gdouble from, to;          /* integers: the steps in the volume */
} NdSceneRay;

/* Sets @ray to that of the pixel (@x, @y) of @panel, whose `perspective` is
 * @perspective. In double precision: a step that is just inside must not depend
 * on rounding. If @perspective is a constant, there are no branches, so that
 * compilers make vectors of loops over pixels. */
ND_SCENE_INLINE void
nd_scene_ray (const NdPanel *panel, const gint size[3],
    const gdouble spacing[3], const gdouble light[3], gdouble x, gdouble y,
    gboolean perspective, NdSceneRay *ray)
{
  gdouble length = 0, squares = 0, scale;
  gdouble from = 0, to = (gdouble) panel->steps;

  ND_SCENE_AXES
  {
    ray->start[a] = panel->origin[a] + x * panel->right[a] + y * panel->down[a];
    ray->move[a] = panel->forward[a];
    if (perspective) {
      ray->move[a] = ray->start[a] - panel->eye[a];
      ray->start[a] = panel->eye[a];
    }
    length += ray->move[a] * spacing[a] * ray->move[a] * spacing[a];
  }
  length = sqrt (length);
  ND_SCENE_AXES
  {
    const gdouble last = size[a] - 0.5;
    gdouble enter, leave, begin, end;
    gboolean moves, inside;

    if (perspective)
      ray->move[a] *= panel->step / length;
    ray->start[a] += ray->move[a] / 2;
    enter = (-0.5 - ray->start[a]) / ray->move[a];
    leave = (last - ray->start[a]) / ray->move[a];
    begin = ceil (nd_scene_least (enter, leave));
    end = floor (nd_scene_most (enter, leave)) + 1;
    moves = ray->move[a] != 0;
    inside = (ray->start[a] >= -0.5) & (ray->start[a] <= last);
    from = nd_scene_most (moves ? begin : 0, from);
    to = nd_scene_least (moves ? end : inside ? to : 0, to);
    ray->half[a] = light[a]
        - ray->move[a] * spacing[a] / (perspective ? panel->step : length);
    squares += ray->half[a] * ray->half[a];
  }
  scale = squares > 0 ? 1 / sqrt (squares) : 0;
  ND_SCENE_AXES
  ray->half[a] *= scale;
  /* A ray that is almost parallel to a face may enter after 10^17 steps. */
  ray->to = nd_scene_most (to, 0);
  ray->from = nd_scene_least (from, ray->to);
}

G_END_DECLS
