/* The kernels of scenes for one instruction set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/scenekernels.h"

#include <math.h>

#include "cpu/scenelanes_tmpl.h"

/* A packet of rays is a rectangle of pixels. */
#define WIDE (ND_VECTOR == 4 ? 2 : 4)
#define HIGH (ND_VECTOR / WIDE)

#define IS_FLOAT(type) ((type) 0.5f != 0)
#define IS_SIGNED(type) ((type) ~0 < (type) 1)

/* A ray ends if less than this share of the light from beyond passes, which
 * changes a colour by half a level at most. */
#define ALMOST_OPAQUE (1 / 512.0f)

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

INLINE gdouble
less (gdouble a, gdouble b)
{
  return a < b ? a : b;
}

INLINE gdouble
greater (gdouble a, gdouble b)
{
  return a > b ? a : b;
}

/* The rays of the pixels from (@x, @y) to before (@end_x, @end_y), in double
 * precision: a step that is just inside must not depend on rounding. */
static void
make_rays (const NdSceneSamples *s, const NdPanel *panel, const NdLook *look,
    gint x, gint y, const gint end[2], Rays *rays)
{
  const gboolean perspective = panel->perspective;
  D start[3], move[3], half[3], length = { 0 }, h = { 0 };
  D from = { 0 }, to, right, down;
  I meets;

  for (gint l = 0; l < ND_VECTOR; l++) {
    right[l] = x + l % WIDE;
    down[l] = y + l / WIDE;
    to[l] = x + l % WIDE < end[0] && y + l / WIDE < end[1] ? panel->steps : 0;
  }
  for (guint a = 0; a < 3; a++) {
    start[a] =
        panel->origin[a] + right * panel->right[a] + down * panel->down[a];
    move[a] = (D){} + panel->forward[a];
    if (perspective) {
      move[a] = start[a] - panel->eye[a];
      start[a] = (D){} + panel->eye[a];
    }
    length += move[a] * s->spacing[a] * move[a] * s->spacing[a];
  }
  for (gint l = 0; l < ND_VECTOR; l++)
    length[l] = sqrt (length[l]);
  for (guint a = 0; a < 3; a++) {
    const gdouble last = s->size[a] - 0.5;
    D enter, leave;

    if (perspective)
      move[a] *= panel->step / length;
    start[a] += move[a] / 2;
    enter = (-0.5 - start[a]) / move[a];
    leave = (last - start[a]) / move[a];
    for (gint l = 0; l < ND_VECTOR; l++) {
      const gboolean moves = move[a][l] != 0;
      const gboolean in = (start[a][l] >= -0.5) & (start[a][l] <= last);
      const gdouble begin = ceil (less (enter[l], leave[l]));
      const gdouble stop = floor (greater (enter[l], leave[l])) + 1;

      from[l] = greater (moves ? begin : 0, from[l]);
      to[l] = less (moves ? stop : in ? to[l] : 0, to[l]);
    }
    half[a] = look->light[a]
        - move[a] * s->spacing[a]
            / (perspective ? (D){} + panel->step : length);
    h += half[a] * half[a];
    rays->start[a] = __builtin_convertvector (start[a], V);
    rays->move[a] = __builtin_convertvector (move[a], V);
    rays->inverse[a] = choose (rays->move[a] != 0, 1 / rays->move[a], all (0));
  }
  for (guint a = 0; a < 3; a++) {
    const V v = __builtin_convertvector (half[a], V);
    const V squares = __builtin_convertvector (h, V);

    rays->half[a] = choose (squares > 0, v / root (squares), all (0));
  }
  /* A ray that is almost parallel to a face may enter after 10^17 steps. */
  for (gint l = 0; l < ND_VECTOR; l++) {
    to[l] = greater (to[l], 0);
    from[l] = less (from[l], to[l]);
  }
  rays->from = __builtin_convertvector (from, I);
  rays->to = __builtin_convertvector (to, I);
  meets = rays->from < rays->to;
  rays->from &= meets;
  rays->to &= meets;
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

/* The factor of a colour, and the white that is added to it. */
INLINE void
shade (const NdLook *look, const Rays *rays, const V gradient[3], gfloat edge,
    V *factor, V *white)
{
  V length = all (0), light = all (0), half = all (0), weight;
  I known;

  for (guint a = 0; a < 3; a++) {
    length += gradient[a] * gradient[a];
    light += gradient[a] * (gfloat) look->light[a];
    half += gradient[a] * rays->half[a];
  }
  known = (length > 0) & (length <= G_MAXFLOAT);
  length = choose (known, length, all (1));
  weight = choose (known, length / (length + edge * edge), all (0));
  light = magnitude (light) / root (length);
  half = half * half / length;
  half *= half;
  half *= half;
  *factor = 1
      + weight * ((gfloat) look->ambient + (gfloat) look->diffuse * light - 1);
  *white = weight * (255 * (gfloat) look->specular) * half * half;
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

extern const NdSceneKernels ND_SCENE_KERNELS;
const NdSceneKernels ND_SCENE_KERNELS = {
  .name = ND_KERNELS_NAME,
  .values = { values_uint8, values_int16, values_uint16, values_float32 },
  .colors = { colors_uint8, colors_int16, colors_uint16, colors_float32 },
  .range = { range_uint8, range_int16, range_uint16, range_float32 },
};
