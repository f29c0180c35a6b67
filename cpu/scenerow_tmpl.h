/* The kernels of scenes for samples of the type SAMPLE. NAME() makes the names
 * of functions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/* The value at @at, which is between the first and the last sample. */
static inline gfloat
NAME (value) (const NdSceneSamples *s, const gfloat at[3])
{
  const gint x = at[0], y = at[1], z = at[2];
  const gfloat fx = at[0] - x, fy = at[1] - y, fz = at[2] - z;
  /* A sample of weight 0 may be beyond the last one, or NaN. */
  const gsize dx = fx > 0 ? s->step[0] : 0;
  const gsize dy = fy > 0 ? s->step[1] : 0;
  const gsize dz = fz > 0 ? s->step[2] : 0;
  const SAMPLE *p = (const SAMPLE *) s->data + x * s->step[0] + y * s->step[1]
      + z * s->step[2];
  const SAMPLE *q = p + dz;

  return mix (mix (mix (p[0], p[dx], fx), mix (p[dy], p[dy + dx], fx), fy),
      mix (mix (q[0], q[dx], fx), mix (q[dy], q[dy + dx], fx), fy), fz);
}

static void
NAME (plane) (const NdSceneSamples *s, const NdPanel *panel, gint y, gint from,
    gint to, gfloat *values)
{
  for (gint x = from; x < to; x++) {
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

static gfloat
NAME (project) (const NdSceneSamples *s, NdPanelKind kind, const Ray *ray)
{
  gfloat best = NAN, sum = 0, at[3], v;
  gint n = 0;

  for (gint k = ray->from; k < ray->to;) {
    position (s, ray, k, at);
    if (kind != ND_PANEL_MEAN) {
      const gsize cell = find_cell (s, at);

      if (kind == ND_PANEL_MAX ? s->high[cell] <= best : s->low[cell] >= best) {
        k = leave_cells (s, ray, at, k, 1);
        continue;
      }
    }
    v = NAME (value) (s, at);
    k++;
    if (v == v) {
      sum += v;
      n++;
      best = kind == ND_PANEL_MAX ? v <= best ? best : v : v >= best ? best : v;
    }
  }
  return kind != ND_PANEL_MEAN ? best : n > 0 ? sum / n : NAN;
}

static inline void
NAME (gradient) (const NdSceneSamples *s, const gfloat at[3], gfloat g[3])
{
  for (guint a = 0; a < 3; a++) {
    gfloat before[3] = { at[0], at[1], at[2] };
    gfloat after[3] = { at[0], at[1], at[2] };

    before[a] = limit (at[a] - 1, s->size[a] - 1);
    after[a] = limit (at[a] + 1, s->size[a] - 1);
    g[a] = (NAME (value) (s, after) - NAME (value) (s, before))
        / (gfloat) (2 * s->spacing[a]);
  }
}

static void
NAME (volume) (const NdSceneSamples *s, const NdLook *look, const Ray *ray,
    gfloat rgb[3])
{
  const gfloat scale = (ND_LOOK_COLORS - 1) / look->window;
  const gfloat shift = -look->low * scale, edge = 0.02 * look->window;
  const gboolean lit =
      look->ambient != 1 || look->diffuse != 0 || look->specular != 0;
  gfloat clear = 1, sum[3] = { 0, 0, 0 };

  for (gint k = ray->from; k < ray->to && clear > ALMOST_OPAQUE;) {
    gfloat at[3], g[3], v, part, alpha, factor = 1, white = 0;
    guint8 empty;
    gint i;

    position (s, ray, k, at);
    empty = s->empty[find_cell (s, at)];
    if (empty) {
      k = leave_cells (s, ray, at, k, empty);
      continue;
    }
    k++;
    v = NAME (value) (s, at) * scale + shift;
    if (v != v)
      continue;
    v = limit (v, ND_LOOK_COLORS - 1);
    i = v < ND_LOOK_COLORS - 2 ? (gint) v : ND_LOOK_COLORS - 2;
    part = v - i;
    alpha = mix (look->opacity[i], look->opacity[i + 1], part);
    if (!(alpha > 0))
      continue;
    if (lit) {
      NAME (gradient) (s, at, g);
      shade (look, ray, g, edge, &factor, &white);
    }
    for (guint c = 0; c < 3; c++)
      sum[c] += clear * alpha
          * (mix (look->colors[i][c], look->colors[i + 1][c], part) * factor
              + white);
    clear *= 1 - alpha;
  }
  for (guint c = 0; c < 3; c++)
    rgb[c] = sum[c] + clear * look->background[c];
}

static void
NAME (surface) (const NdSceneSamples *s, const NdLook *look, const Ray *ray,
    gfloat rgb[3])
{
  const gfloat level = look->level;
  gfloat at[3], g[3], v, factor, white;

  for (guint c = 0; c < 3; c++)
    rgb[c] = look->background[c];
  for (gint k = ray->from; k < ray->to;) {
    guint8 empty;

    position (s, ray, k, at);
    empty = s->empty[find_cell (s, at)];
    if (empty) {
      k = leave_cells (s, ray, at, k, empty);
      continue;
    }
    v = NAME (value) (s, at);
    if (!(v >= level)) {
      k++;
      continue;
    }
    if (k > ray->from) {
      gfloat before;

      position (s, ray, k - 1, at);
      before = NAME (value) (s, at);
      if (before < level)
        position (s, ray, k - 1 + (level - before) / (v - before), at);
      else
        position (s, ray, k, at);
    }
    NAME (gradient) (s, at, g);
    shade (look, ray, g, 0, &factor, &white);
    for (guint c = 0; c < 3; c++)
      rgb[c] = look->surface_color[c] * factor + white;
    return;
  }
}

static void
NAME (row) (const NdSceneSamples *s, const NdPanel *panel, const NdLook *look,
    gint y, gint from, gint to, gfloat *values)
{
  Ray ray;

  if (panel->kind == ND_PANEL_PLANE) {
    NAME (plane) (s, panel, y, from, to, values);
    return;
  }
  for (gint x = from; x < to; x++) {
    make_ray (s, panel, look, x, y, &ray);
    if (panel->kind == ND_PANEL_VOLUME)
      NAME (volume) (s, look, &ray, values);
    else if (panel->kind == ND_PANEL_SURFACE)
      NAME (surface) (s, look, &ray, values);
    else
      *values = NAME (project) (s, panel->kind, &ray);
    values += panel->kind >= ND_PANEL_VOLUME ? 3 : 1;
  }
}

static void
NAME (range) (const NdSceneSamples *s, gint y, gint z, gfloat *low,
    gfloat *high)
{
  const gint end_y = MIN ((y + 1) * ND_SCENE_CELL, s->size[1] - 1);
  const gint end_z = MIN ((z + 1) * ND_SCENE_CELL, s->size[2] - 1);

  for (gint k = z * ND_SCENE_CELL; k <= end_z; k++) {
    for (gint j = y * ND_SCENE_CELL; j <= end_y; j++) {
      const SAMPLE *p =
          (const SAMPLE *) s->data + j * s->step[1] + k * s->step[2];

      for (gint cell = 0; cell < s->cells[0]; cell++) {
        const gint begin = cell * ND_SCENE_CELL;
        const gint end = MIN (begin + ND_SCENE_CELL, s->size[0] - 1);
        gfloat least = low[cell], most = high[cell];

        for (gint i = begin; i <= end; i++) {
          const gfloat v = p[i * s->step[0]];

          least = v < least ? v : least;
          most = v > most ? v : most;
        }
        low[cell] = least;
        high[cell] = most;
      }
    }
  }
}
