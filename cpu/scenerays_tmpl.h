/* Panels of volumes with samples of the type SAMPLE. NAME() makes the names of
 * functions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/scenesamples_tmpl.h"

static void
NAME (plane) (const NdSceneSamples *s, const NdPanel *panel, const gint from[2],
    const gint to[2], gfloat *values)
{
  for (gint y = from[1]; y < to[1]; y++) {
    for (gint x = from[0]; x < to[0]; x++) {
      gboolean inside = TRUE;
      gfloat at[3];

      for (guint a = 0; a < 3; a++) {
        const gdouble p =
            panel->origin[a] + x * panel->right[a] + y * panel->down[a];

        /* Sizes that fit exactly must not lose their edges by rounding. */
        inside &= p >= -0.5 - 1e-6 && p <= s->size[a] - 0.5 + 1e-6;
        at[a] = limit (p, s->size[a] - 1);
      }
      *values++ = inside ? NAME (value) (s, at) : NAN;
    }
  }
}

static V
NAME (project) (const NdSceneSamples *s, NdPanelKind kind, const Rays *rays)
{
  V best = all (NAN), sum = all (0), count = all (0);
  I k = rays->from, active;

  while (any (active = k < rays->to)) {
    NAME (Near) near;
    V at[3], v;

    position (s, rays, floats (k), at);
    if (kind != ND_PANEL_MEAN) {
      I cell[3];
      const I number = find_cells (s, at, cell);
      const I worse = active
          & (kind == ND_PANEL_MAX ? GATHER_FLOATS (s->high, number) <= best
                                  : GATHER_FLOATS (s->low, number) >= best);

      if (any (worse)) {
        k = choose_int (worse, leave_cells (s, rays, cell, k, (I){} + 1), k);
        active &= ~worse;
        if (!any (active))
          continue;
      }
    }
    NAME (find_near) (s, at, active, &near);
    v = NAME (values_at) (s, at, &near);
    k -= active;
    active &= v == v;
    sum += choose (active, v, all (0));
    count -= floats (active);
    best = choose (active & ~(kind == ND_PANEL_MAX ? v <= best : v >= best), v,
        best);
  }
  return kind != ND_PANEL_MEAN ? best : sum / count;
}

static void
NAME (volume) (const NdSceneSamples *s, const NdLook *look,
    const Shading *shading, const NdSceneTables *tables, const Rays *rays,
    V rgb[3])
{
  const gfloat scale = (ND_LOOK_COLORS - 1) / look->window;
  const gfloat shift = -look->low * scale;
  const gboolean lit =
      look->ambient != 1 || look->diffuse != 0 || look->specular != 0;
  V clear = all (1);
  I k = rays->from, active, seen = { 0 };

  for (guint c = 0; c < 3; c++)
    rgb[c] = all (0);
  while (any (active = (k < rays->to) & (clear > ND_SCENE_ALMOST_OPAQUE))) {
    NAME (Near) near;
    V at[3], g[3], v, alpha, factor = all (1), white = all (0);
    I i;
    U bits;

    position (s, rays, floats (k), at);
    /* A ray that sees a sample mostly sees the next one too. */
    if (!any (seen))
      active = skip_empty (s, rays, at, active, &k);
    if (!any (active))
      continue;
    NAME (find_near) (s, at, active, &near);
    v = NAME (values_at) (s, at, &near) * scale + shift;
    k -= active;
    if (IS_FLOAT (SAMPLE))
      active &= v == v;
    v = limited (v, ND_LOOK_COLORS - 1);
    seen = active & (v > tables->dark);
    if (!any (seen))
      continue;
    i = limited_int (__builtin_convertvector (v, I), 0, ND_LOOK_COLORS - 2);
    bits = (U) GATHER (tables->opacity, i, 4);
    alpha = floats ((I) (bits & 65535));
    alpha += (v - floats (i)) * (floats ((I) (bits >> 16)) - alpha);
    alpha *= 1 / 65535.0f;
    seen = active & (alpha > 0);
    if (!any (seen))
      continue;
    if (lit) {
      NAME (gradients_at) (s, at, &near, seen, g);
      shade (shading, rays, g, !IS_FLOAT (SAMPLE), &factor, &white);
    }
    alpha = choose (seen, alpha, all (0));
    i = __builtin_convertvector (v * ND_SCENE_SHADES + 0.5f, I);
    bits = (U) GATHER (tables->colors, i, 4);
    factor *= 0.25f; /* of the numbers of the table */
    for (guint c = 0; c < 3; c++) {
      const V part = floats ((I) (bits >> (10 * c) & 1023));

      rgb[c] += clear * alpha * (part * factor + white);
    }
    clear *= 1 - alpha;
  }
  for (guint c = 0; c < 3; c++)
    rgb[c] += clear * look->background[c];
}

static void
NAME (surface) (const NdSceneSamples *s, const NdLook *look,
    const Shading *shading, const Rays *rays, V rgb[3])
{
  const gfloat level = look->level;
  I k = rays->from, hit = { 0 }, active;
  V at[3], g[3], last = all (0), before, place, factor, white;
  NAME (Near) near;

  while (any (active = (k < rays->to) & ~hit)) {
    I found;
    V v;

    position (s, rays, floats (k), at);
    active = skip_empty (s, rays, at, active, &k);
    if (!any (active))
      continue;
    NAME (find_near) (s, at, active, &near);
    v = NAME (values_at) (s, at, &near);
    found = active & (v >= level);
    last = choose (found, v, last);
    hit |= found;
    k -= active & ~found;
  }
  for (guint c = 0; c < 3; c++)
    rgb[c] = all (look->background[c]);
  if (!any (hit))
    return;

  /* Back to the level. */
  position (s, rays, floats (k - 1), at);
  NAME (find_near) (s, at, hit, &near);
  before = NAME (values_at) (s, at, &near);
  place = choose ((k > rays->from) & (before < level),
      floats (k - 1) + (level - before) / (last - before), floats (k));
  position (s, rays, place, at);
  NAME (find_near) (s, at, hit, &near);
  NAME (values_at) (s, at, &near);
  NAME (gradients_at) (s, at, &near, hit, g);
  shade (shading, rays, g, !IS_FLOAT (SAMPLE), &factor, &white);
  for (guint c = 0; c < 3; c++)
    rgb[c] = choose (hit, look->surface_color[c] * factor + white, rgb[c]);
}

static void
NAME (values) (const NdSceneSamples *s, const NdPanel *panel,
    const NdLook *look, const gint from[2], const gint to[2], gfloat *values)
{
  if (panel->kind == ND_PANEL_PLANE) {
    NAME (plane) (s, panel, from, to, values);
    return;
  }
  for (gint y = from[1]; y < to[1]; y += HIGH) {
    for (gint x = from[0]; x < to[0]; x += WIDE) {
      Rays rays;
      V v;

      make_rays (s, panel, look, x, y, to, &rays);
      v = NAME (project) (s, panel->kind, &rays);
      for (gint l = 0; l < ND_VECTOR; l++) {
        const gint i = x + l % WIDE - from[0], j = y + l / WIDE - from[1];

        if (i < to[0] - from[0] && j < to[1] - from[1])
          values[j * (to[0] - from[0]) + i] = v[l];
      }
    }
  }
}

static void
NAME (colors) (const NdSceneSamples *s, const NdPanel *panel,
    const NdLook *look, const NdSceneTables *tables, const gint from[2],
    const gint to[2], guint8 *pixels, gssize stride)
{
  const gboolean volume = panel->kind == ND_PANEL_VOLUME;
  const Shading shading =
      make_shading (s, look, volume ? ND_SCENE_EDGE * look->window : 0);

  for (gint y = from[1]; y < to[1]; y += HIGH) {
    for (gint x = from[0]; x < to[0]; x += WIDE) {
      Rays rays;
      V rgb[3];

      make_rays (s, panel, look, x, y, to, &rays);
      if (volume)
        NAME (volume) (s, look, &shading, tables, &rays, rgb);
      else
        NAME (surface) (s, look, &shading, &rays, rgb);
      write_pixels (rgb, x, y, to, pixels, stride);
    }
  }
}
