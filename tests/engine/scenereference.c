/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/engine/scenereference.h"

#include "core/convert.h"

#include <math.h>

typedef struct
{
  const NdSceneJob *job;
  gconstpointer volume;
  const NdPanel *panel;
  const NdLook *look;
  gint channel; /* -1: the one value of a sample */
} Reference;

static gdouble
sample (const Reference *r, gsize x, gsize y, gsize z)
{
  const NdShape *shape = &r->job->shape;
  const gsize i =
      ((z * shape->size[1] + y) * shape->size[0] + x) * shape->components;
  gdouble v[3] = { 0 };

  for (gsize c = 0; c < MIN (shape->components, 3); c++)
    v[c] = nd_sample_value (r->volume, i + c, r->job->type);
  if (shape->components == 2)
    return hypot (v[0], v[1]);
  if (shape->components == 3)
    return r->channel < 0 ? (v[0] + v[1] + v[2]) / 3 : v[r->channel];
  return v[0];
}

static gdouble
value (const Reference *r, const gdouble at[3])
{
  gdouble sum = 0, part[3];
  gsize first[3];

  for (guint a = 0; a < 3; a++) {
    const gdouble p = CLAMP (at[a], 0, r->job->shape.size[a] - 1.0);

    first[a] = floor (p);
    part[a] = p - first[a];
  }
  for (guint i = 0; i < 8; i++) {
    gdouble weight = 1;

    for (guint a = 0; a < 3; a++)
      weight *= i >> a & 1 ? part[a] : 1 - part[a];
    if (weight > 0)
      sum += weight
          * sample (r, first[0] + (i & 1), first[1] + (i >> 1 & 1),
              first[2] + (i >> 2));
  }
  return sum;
}

static gboolean
inside (const Reference *r, const gdouble at[3], gdouble slack)
{
  for (guint a = 0; a < 3; a++) {
    if (at[a] < -0.5 - slack || at[a] > r->job->shape.size[a] - 0.5 + slack)
      return FALSE;
  }
  return TRUE;
}

/* The ray of a pixel: step k is at eye + (k + 0.5) move. */
static void
find_ray (const Reference *r, gint x, gint y, gdouble eye[3], gdouble move[3],
    gdouble towards[3])
{
  const NdPanel *p = r->panel;
  gdouble length = 0;

  for (guint a = 0; a < 3; a++) {
    eye[a] = p->origin[a] + x * p->right[a] + y * p->down[a];
    move[a] = p->forward[a];
    if (p->perspective) {
      move[a] = eye[a] - p->eye[a];
      eye[a] = p->eye[a];
    }
    towards[a] = move[a] * r->job->spacing[a];
    length += towards[a] * towards[a];
  }
  for (guint a = 0; a < 3; a++) {
    towards[a] /= -sqrt (length);
    if (p->perspective)
      move[a] *= p->step / sqrt (length);
  }
}

static void
gradient (const Reference *r, const gdouble at[3], gdouble g[3])
{
  gdouble clamped[3];

  for (guint a = 0; a < 3; a++)
    clamped[a] = CLAMP (at[a], 0, r->job->shape.size[a] - 1.0);
  for (guint a = 0; a < 3; a++) {
    gdouble before[3] = { clamped[0], clamped[1], clamped[2] };
    gdouble after[3] = { clamped[0], clamped[1], clamped[2] };

    before[a]--;
    after[a]++;
    g[a] = (value (r, after) - value (r, before)) / 2 / r->job->spacing[a];
  }
}

static void
shade (const Reference *r, const gdouble at[3], const gdouble towards[3],
    gdouble edge, gdouble rgb[3])
{
  const NdLook *look = r->look;
  gdouble g[3], half[3], gg = 0, gl = 0, gh = 0, hh = 0, w, specular;

  gradient (r, at, g);
  for (guint a = 0; a < 3; a++) {
    half[a] = look->light[a] + towards[a];
    gg += g[a] * g[a];
    gl += g[a] * look->light[a];
    gh += g[a] * half[a];
    hh += half[a] * half[a];
  }
  if (!(gg > 0))
    return;
  w = gg / (gg + edge * edge);
  specular = hh > 0 ? pow (gh * gh / (gg * hh), 8) : 0;
  for (guint c = 0; c < 3; c++)
    rgb[c] = rgb[c]
            * (1
                + w
                    * (look->ambient + look->diffuse * fabs (gl) / sqrt (gg)
                        - 1))
        + 255 * w * look->specular * specular;
}

static gdouble
interpolate (gdouble a, gdouble b, gdouble part)
{
  return a + part * (b - a);
}

/* Grey, 0 to 255, and the table entry before it. */
static gdouble
grey_of (const NdLook *look, gdouble v, guint *entry)
{
  const gdouble grey = CLAMP ((v - look->low) / look->window, 0, 1) * 255;

  *entry = MIN (floor (grey), 254);
  return grey;
}

static void
color_of (const NdLook *look, gdouble v, gdouble rgb[3])
{
  guint i;
  const gdouble grey = grey_of (look, v, &i);

  for (guint c = 0; c < 3; c++)
    rgb[c] = interpolate (look->colors[i][c], look->colors[i + 1][c], grey - i);
}

static gdouble
project (const Reference *r, gint x, gint y)
{
  gdouble most = NAN, least = NAN, sum = 0, eye[3], move[3], towards[3];
  gsize n = 0;

  find_ray (r, x, y, eye, move, towards);
  for (gsize k = 0; k < r->panel->steps; k++) {
    gdouble at[3], v;

    for (guint a = 0; a < 3; a++)
      at[a] = eye[a] + (k + 0.5) * move[a];
    v = inside (r, at, 0) ? value (r, at) : NAN;
    if (isnan (v))
      continue;
    most = fmax (most, v);
    least = fmin (least, v);
    sum += v;
    n++;
  }
  return r->panel->kind == ND_PANEL_MAX ? most
      : r->panel->kind == ND_PANEL_MIN  ? least
      : n > 0                           ? sum / n
                                        : NAN;
}

static void
draw_volume (const Reference *r, gint x, gint y, gdouble rgb[3])
{
  gdouble clear = 1, sum[3] = { 0 }, eye[3], move[3], towards[3];

  find_ray (r, x, y, eye, move, towards);
  for (gsize k = 0; k < r->panel->steps; k++) {
    gdouble at[3], color[3], v, grey, alpha;
    guint i;

    for (guint a = 0; a < 3; a++)
      at[a] = eye[a] + (k + 0.5) * move[a];
    v = inside (r, at, 0) ? value (r, at) : NAN;
    if (isnan (v))
      continue;
    grey = grey_of (r->look, v, &i);
    alpha =
        interpolate (r->look->opacity[i], r->look->opacity[i + 1], grey - i);
    color_of (r->look, v, color);
    if (alpha > 0)
      shade (r, at, towards, 0.02 * r->look->window, color);
    for (guint c = 0; c < 3; c++)
      sum[c] += clear * alpha * color[c];
    clear *= 1 - alpha;
  }
  for (guint c = 0; c < 3; c++)
    rgb[c] = sum[c] + clear * r->look->background[c];
}

static void
draw_surface (const Reference *r, gint x, gint y, gdouble rgb[3])
{
  gdouble eye[3], move[3], towards[3], before = NAN;

  find_ray (r, x, y, eye, move, towards);
  for (gsize k = 0; k < r->panel->steps; k++) {
    gdouble at[3], v;

    for (guint a = 0; a < 3; a++)
      at[a] = eye[a] + (k + 0.5) * move[a];
    v = inside (r, at, 0) ? value (r, at) : NAN;
    if (v >= r->look->level) {
      if (before < r->look->level)
        for (guint a = 0; a < 3; a++)
          at[a] -= move[a] * (v - r->look->level) / (v - before);
      for (guint c = 0; c < 3; c++)
        rgb[c] = r->look->surface_color[c];
      shade (r, at, towards, 0, rgb);
      return;
    }
    before = v;
  }
  for (guint c = 0; c < 3; c++)
    rgb[c] = r->look->background[c];
}

static void
draw_value (const Reference *r, gint x, gint y, gdouble rgb[3])
{
  const NdPanel *p = r->panel;
  gdouble at[3], v, color[3];
  guint i;

  for (guint a = 0; a < 3; a++)
    at[a] = p->origin[a] + x * p->right[a] + y * p->down[a];
  v = p->kind != ND_PANEL_PLANE ? project (r, x, y)
      : inside (r, at, 1e-6)    ? value (r, at)
                                : NAN;
  for (guint c = 0; c < 3; c++)
    color[c] = r->look->background[c];
  if (!isnan (v))
    color_of (r->look, v, color);
  if (!isnan (v) && r->channel >= 0)
    color[r->channel] = grey_of (r->look, v, &i);
  for (guint c = 0; c < 3; c++)
    if (r->channel < 0 || r->channel == (gint) c)
      rgb[c] = color[c];
}

static void
draw_pixel (Reference *r, gint x, gint y, guint8 *pixel)
{
  const gboolean colored =
      r->job->shape.components == 3 && r->panel->kind < ND_PANEL_VOLUME;
  gdouble rgb[3];

  for (r->channel = colored ? 0 : -1; r->channel < (colored ? 3 : 0);
       r->channel++) {
    if (r->panel->kind == ND_PANEL_VOLUME)
      draw_volume (r, x, y, rgb);
    else if (r->panel->kind == ND_PANEL_SURFACE)
      draw_surface (r, x, y, rgb);
    else
      draw_value (r, x, y, rgb);
  }
  for (guint c = 0; c < 3; c++)
    pixel[c] = CLAMP (rint (rgb[c]), 0, 255);
}

void
nd_reference_draw (const NdSceneJob *job, gconstpointer volume,
    const NdPanel *panels, guint n, const NdLook *look, guint8 *pixels,
    gsize stride)
{
  for (guint i = 0; i < n; i++) {
    Reference r = { job, volume, &panels[i], look };

    for (gint y = 0; y < panels[i].height; y++)
      for (gint x = 0; x < panels[i].width; x++)
        draw_pixel (&r, x, y,
            pixels + (panels[i].top + y) * stride + 3 * (panels[i].left + x));
  }
}
