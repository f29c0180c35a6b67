/* The kernels of scenes for one instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/scenekernels.h"

#include "cpu/scenelanes_tmpl.h"

#include <math.h>

/* A packet of rays is a rectangle of pixels. */
#define WIDE (ND_VECTOR == 4 ? 2 : 4)
#define HIGH (ND_VECTOR / WIDE)

#define IS_FLOAT(type) ((type) 0.5f != 0)
#define IS_SIGNED(type) ((type) ~0 < (type) 1)

#define RANGE_CELLS 64 /* in a row, of which ranges are found at a time */

typedef struct
{
  V start[3], move[3]; /* position of step k: start + k move */
  V inverse[3];        /* 1 / move; 0 if move is 0 */
  I from, to;          /* steps in the volume */
  V half[3];           /* half way between light and eye */
} Rays;

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

INLINE void
make_lanes (const NdSceneSamples *s, const NdPanel *panel, const NdLook *look,
    gint x, gint y, const gint end[2], gboolean perspective, Rays *rays)
{
  gfloat start[3][ND_VECTOR], move[3][ND_VECTOR], half[3][ND_VECTOR];
  gint32 from[ND_VECTOR], to[ND_VECTOR];
  const gint width = end[0] - x, height = end[1] - y;
  I meets;

  for (gint l = 0; l < ND_VECTOR; l++) {
    NdSceneRay ray;

    nd_scene_ray (panel, s->size, s->spacing, look->light, x + l % WIDE,
        y + l / WIDE, perspective, &ray);
    for (guint a = 0; a < 3; a++) {
      start[a][l] = ray.start[a];
      move[a][l] = ray.move[a];
      half[a][l] = ray.half[a];
    }
    from[l] = ray.from;
    to[l] = ((l % WIDE < width) & (l / WIDE < height)) ? (gint) ray.to : 0;
  }
  for (guint a = 0; a < 3; a++) {
    memcpy (&rays->start[a], start[a], sizeof (V));
    memcpy (&rays->move[a], move[a], sizeof (V));
    memcpy (&rays->half[a], half[a], sizeof (V));
    rays->inverse[a] = choose (rays->move[a] != 0, 1 / rays->move[a], all (0));
  }
  memcpy (&rays->from, from, sizeof (I));
  memcpy (&rays->to, to, sizeof (I));
  meets = rays->from < rays->to;
  rays->from &= meets;
  rays->to &= meets;
}

/* The rays of the pixels from (@x, @y) to before @end. */
static void
make_rays (const NdSceneSamples *s, const NdPanel *panel, const NdLook *look,
    gint x, gint y, const gint end[2], Rays *rays)
{
  if (panel->perspective)
    make_lanes (s, panel, look, x, y, end, TRUE, rays);
  else
    make_lanes (s, panel, look, x, y, end, FALSE, rays);
}

INLINE void
position (const NdSceneSamples *s, const Rays *rays, V k, V at[3])
{
  for (guint a = 0; a < 3; a++)
    at[a] = limited (rays->start[a] + k * rays->move[a], s->size[a] - 1);
}

INLINE V
floats (I v)
{
  return __builtin_convertvector (v, V);
}

/* The cells of the positions @at: along each axis, and their numbers. */
INLINE I
find_cells (const NdSceneSamples *s, const V at[3], I cell[3])
{
  for (guint a = 0; a < 3; a++)
    cell[a] = __builtin_convertvector (at[a], I) / ND_SCENE_CELL;
  return (cell[2] * s->cells[1] + cell[1]) * s->cells[0] + cell[0];
}

/* The first steps after @k that are not within @far - 1 cells around @cell. */
INLINE I
leave_cells (const NdSceneSamples *s, const Rays *rays, const I cell[3], I k,
    I far)
{
  V best = floats (rays->to);

  for (guint a = 0; a < 3; a++) {
    const I ahead = rays->move[a] > 0;
    const I edge =
        choose_int (ahead, cell[a] + far, cell[a] - far + 1) * ND_SCENE_CELL;
    /* A step too early does no harm. */
    const V leave = (floats (edge) - rays->start[a]) * rays->inverse[a] - 0.01f;

    best = choose ((rays->move[a] != 0) & (edge > 0) & (edge < s->size[a]),
        least (leave, best), best);
  }
  return limited_int (ceiling (most (best, floats (k + 1))), 0, G_MAXINT);
}

/* Moves rays that are in empty cells to the next step that is not known to be
 * empty, and returns the others of @active. */
INLINE I
skip_empty (const NdSceneSamples *s, const Rays *rays, const V at[3], I active,
    I *k)
{
  I cell[3];
  const I number = find_cells (s, at, cell);
  const I empty = GATHER (s->empty, number, 1) & 255;
  const I skipped = active & (empty != 0);

  if (!any (skipped))
    return active;
  *k = choose_int (skipped, leave_cells (s, rays, cell, *k, empty), *k);
  return active & ~skipped;
}

/* Of NdLook in single precision, so that loops convert nothing. */
typedef struct
{
  gfloat scale[3]; /* of the gradient along each axis */
  gfloat light[3];
  gfloat ambient, diffuse, specular;
  gfloat edge; /* square of the gradient of half the weight */
} Shading;

static Shading
make_shading (const NdSceneSamples *s, const NdLook *look, gfloat edge)
{
  Shading shading = { .ambient = look->ambient,
    .diffuse = look->diffuse,
    .specular = 255 * look->specular,
    .edge = edge * edge };

  for (guint a = 0; a < 3; a++) {
    shading.scale[a] = 0.5 / s->spacing[a];
    shading.light[a] = look->light[a];
  }
  return shading;
}

/* The factor of a colour, and the white that is added to it. @finite: all
 * differences of samples are numbers. */
INLINE void
shade (const Shading *shading, const Rays *rays, const V differences[3],
    gboolean finite, V *factor, V *white)
{
  V length = all (0), light = all (0), half = all (0), weight;
  I known;

  for (guint a = 0; a < 3; a++) {
    const V gradient = differences[a] * shading->scale[a];

    length += gradient * gradient;
    light += gradient * shading->light[a];
    half += gradient * rays->half[a];
  }
  known = length > 0;
  if (!finite)
    known &= length <= G_MAXFLOAT;
  length = choose (known, length, all (1));
  weight = choose (known, length / (length + shading->edge), all (0));
  light = magnitude (light) / root (length);
  half = half * half / length;
  half *= half;
  half *= half;
  *factor = 1 + weight * (shading->ambient + shading->diffuse * light - 1);
  *white = weight * shading->specular * half * half;
  if (finite)
    return;
  *factor = choose (known, *factor, all (1));
  *white = choose (known, *white, all (0));
}

/* Writes the pixels of a packet at (@x, @y) that are before @end. */
INLINE void
write_pixels (const V rgb[3], gint x, gint y, const gint end[2], guint8 *pixels,
    gssize stride)
{
  U packed = { 0 };

  /* 1.5 * 2^23, of which the last bit is 1: rounds half to even. */
  for (guint c = 0; c < 3; c++) {
    const V v = limited (rgb[c], 255) + 12582912;

    packed |= ((U) v & 255) << (8 * c);
  }
  for (gint l = 0; l < ND_VECTOR; l++) {
    guint8 *pixel = pixels + (y + l / WIDE) * stride + 3 * (x + l % WIDE);

    if (x + l % WIDE < end[0] && y + l / WIDE < end[1]) {
      pixel[0] = packed[l];
      pixel[1] = packed[l] >> 8;
      pixel[2] = packed[l] >> 16;
    }
  }
}

#define NAME(name) name##_uint8
#define SAMPLE guint8
#define LOWEST 0
#define HIGHEST G_MAXUINT8
#include "cpu/scenerays_tmpl.h"
#undef NAME
#undef SAMPLE
#undef LOWEST
#undef HIGHEST
#define NAME(name) name##_int16
#define SAMPLE gint16
#define LOWEST G_MININT16
#define HIGHEST G_MAXINT16
#include "cpu/scenerays_tmpl.h"
#undef NAME
#undef SAMPLE
#undef LOWEST
#undef HIGHEST
#define NAME(name) name##_uint16
#define SAMPLE guint16
#define LOWEST 0
#define HIGHEST G_MAXUINT16
#include "cpu/scenerays_tmpl.h"
#undef NAME
#undef SAMPLE
#undef LOWEST
#undef HIGHEST
#define NAME(name) name##_float32
#define SAMPLE gfloat
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "cpu/scenerays_tmpl.h"

extern const NdSceneKernels ND_TARGET_TABLE (nd_scene_kernels);
const NdSceneKernels ND_TARGET_TABLE (nd_scene_kernels) = {
  .values = { values_uint8, values_int16, values_uint16, values_float32 },
  .colors = { colors_uint8, colors_int16, colors_uint16, colors_float32 },
  .range = { range_uint8, range_int16, range_uint16, range_float32 },
};
