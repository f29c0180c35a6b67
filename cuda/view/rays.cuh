/* The pixels of a panel: samples of planes, and values along rays through a
 * volume (view/scene.h). The host runs the same functions in tests.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cuda/view/cells.cuh"

#include <cfloat>

namespace nd
{

struct Shot
{
  Words words;
  Cells cells;
  double spacing[3];
};

/* Panels that are drawn alike. */
enum RayKind
{
  RAYS_PROJECT,
  RAYS_VOLUME,
  RAYS_SURFACE
};

__host__ __device__ inline bool
is_of_kind (const NdPanel &panel, RayKind kind)
{
  return panel.kind == ND_PANEL_VOLUME ? kind == RAYS_VOLUME
      : panel.kind == ND_PANEL_SURFACE
      ? kind == RAYS_SURFACE
      : panel.kind != ND_PANEL_PLANE && kind == RAYS_PROJECT;
}

struct Ray
{
  float start[3], move[3]; /* position of step k: start + k move */
  float inverse[3];        /* 1 / move; 0 if move is 0 */
  float half[3];           /* half way between light and eye */
  int from, to;            /* steps in the volume */
};

/* The position of pixel (@x, @y) of a panel of planes. */
__host__ __device__ inline bool
plane_position (const NdPanel &panel, const int size[3], int x, int y,
    float at[3])
{
  bool inside = true;

  for (int a = 0; a < 3; a++) {
    const double p = panel.origin[a] + x * panel.right[a] + y * panel.down[a];
    const double last = size[a] - 1;

    /* Sizes that fit exactly must not lose their edges by rounding. */
    inside = inside && p >= -0.5 - 1e-6 && p <= last + 0.5 + 1e-6;
    at[a] = p > 0 ? p < last ? p : last : 0;
  }
  return inside;
}

__host__ __device__ inline Ray
make_ray (const Shot &s, const NdPanel &panel, const Look &look, int x, int y)
{
  NdSceneRay exact;
  Ray ray;

  nd_scene_ray (&panel, s.words.size, s.spacing, look.light, x, y,
      panel.perspective, &exact);
  for (int a = 0; a < 3; a++) {
    ray.start[a] = exact.start[a];
    ray.move[a] = exact.move[a];
    ray.inverse[a] = ray.move[a] != 0 ? 1 / ray.move[a] : 0;
    ray.half[a] = exact.half[a];
  }
  ray.from = exact.from;
  ray.to = exact.to;
  return ray;
}

/* The position of step @k, or of a place between two steps. */
__host__ __device__ inline void
step_position (const Shot &s, const Ray &ray, float k, float at[3])
{
  for (int a = 0; a < 3; a++) {
    const float p = ray.start[a] + k * ray.move[a];

    at[a] = fminf (fmaxf (p, 0), s.words.size[a] - 1);
  }
}

/* The cell of the position @at: its index, and its number. */
__host__ __device__ inline int
find_cell (const Shot &s, const float at[3], int cell[3])
{
  const int *count = s.cells.count;

  for (int a = 0; a < 3; a++)
    cell[a] = (unsigned) at[a] / ND_SCENE_CELL;
  return (cell[2] * count[1] + cell[1]) * count[0] + cell[0];
}

/* The first step after @k that is not within @far - 1 cells around @cell, or
 * one before. */
__host__ __device__ inline int
leave_cells (const Shot &s, const Ray &ray, const int cell[3], int k, int far)
{
  float best = ray.to;

  for (int a = 0; a < 3; a++) {
    const int edge =
        (ray.move[a] > 0 ? cell[a] + far : cell[a] - far + 1) * ND_SCENE_CELL;

    /* A step too early does no harm. */
    if (ray.move[a] != 0 && edge > 0 && edge < s.words.size[a])
      best = fminf ((edge - ray.start[a]) * ray.inverse[a] - 0.01f, best);
  }
  return ceilf (fmaxf (best, k + 1));
}

/* The value that a panel of ND_PANEL_MAX, MEAN or MIN shows; NaN: none. */
template <typename T>
__host__ __device__ inline float
project (const Shot &s, NdPanelKind kind, const Ray &ray)
{
  float best = NAN, sum = 0;
  int count = 0, leave = 0;

  for (int k = ray.from; k < ray.to; k++) {
    float at[3], v;

    step_position (s, ray, k, at);
    if (kind != ND_PANEL_MEAN && k >= leave) {
      int cell[3];
      const int number = find_cell (s, at, cell);
      const bool worse = kind == ND_PANEL_MAX ? s.cells.high[number] <= best
                                              : s.cells.low[number] >= best;

      leave = leave_cells (s, ray, cell, k, 1);
      if (worse) {
        k = leave - 1;
        continue;
      }
    }
    v = Near<T> (s.words, at).value ();
    if (isnan (v))
      continue;
    sum += v;
    count++;
    if (!(kind == ND_PANEL_MAX ? v <= best : v >= best))
      best = v;
  }
  return kind != ND_PANEL_MEAN ? best : sum / count;
}

/* Light on a colour. */
struct Shade
{
  float factor, white;
};

__host__ __device__ inline Shade
shade (const Shot &s, const Look &look, const Ray &ray, const float g[3],
    float edge)
{
  float squares = 0, light = 0, half = 0, weight;

  for (int a = 0; a < 3; a++) {
    const float slope = g[a] * (float) (0.5 / s.spacing[a]);

    squares += slope * slope;
    light += slope * (float) look.light[a];
    half += slope * ray.half[a];
  }
  if (!(squares > 0 && squares <= FLT_MAX))
    return Shade{ 1, 0 };
  weight = squares / (squares + edge * edge);
  light = fabsf (light) / sqrtf (squares);
  half = half * half / squares;
  half *= half;
  half *= half;
  return Shade{ 1 + weight * (look.ambient + look.diffuse * light - 1),
    weight * (255 * look.specular) * half * half };
}

/* @entries: those of @look, or a copy in faster memory. */
template <typename T>
__host__ __device__ inline void
draw_volume (const Shot &s, const Look &look, const LookEntry *entries,
    const Ray &ray, float rgb[3])
{
  const float scale = (ND_LOOK_COLORS - 1) / look.window;
  const float shift = -look.low * scale;
  const float edge = ND_SCENE_EDGE * look.window;
  const bool lit = look.ambient != 1 || look.diffuse != 0 || look.specular != 0;
  float clear = 1;
  int leave = 0;

  for (int c = 0; c < 3; c++)
    rgb[c] = 0;
  for (int k = ray.from; k < ray.to && clear > ND_SCENE_ALMOST_OPAQUE; k++) {
    float at[3], v;

    step_position (s, ray, k, at);
    if (k >= leave) {
      int cell[3];
      const int number = find_cell (s, at, cell);
      const int empty = s.cells.empty[number];

      leave = leave_cells (s, ray, cell, k, empty > 0 ? empty : 1);
      if (empty > 0) {
        k = leave - 1;
        continue;
      }
    }
    const Near<T> near (s.words, at);

    v = near.value () * scale + shift;
    if (isnan (v))
      continue;
    v = fminf (fmaxf (v, 0), ND_LOOK_COLORS - 1);
    const int i = v < ND_LOOK_COLORS - 2 ? (int) v : ND_LOOK_COLORS - 2;
    const LookEntry a = entries[i], b = entries[i + 1];
    const float alpha = mix (a.opacity, b.opacity, v - i);
    Shade light = { 1, 0 };

    if (!(alpha > 0))
      continue;
    if (lit) {
      float g[3];

      near.gradient (g);
      light = shade (s, look, ray, g, edge);
    }
    for (int c = 0; c < 3; c++)
      rgb[c] += clear * alpha
          * (mix (a.rgb[c], b.rgb[c], v - i) * light.factor + light.white);
    clear *= 1 - alpha;
  }
  for (int c = 0; c < 3; c++)
    rgb[c] += clear * look.background[c];
}

template <typename T>
__host__ __device__ inline void
draw_surface (const Shot &s, const Look &look, const Ray &ray, float rgb[3])
{
  const float level = look.level;
  float at[3], g[3], last = 0, place;
  int k = ray.from, leave = 0;

  for (; k < ray.to; k++) {
    step_position (s, ray, k, at);
    if (k >= leave) {
      int cell[3];
      const int number = find_cell (s, at, cell);
      const int empty = s.cells.empty[number];

      leave = leave_cells (s, ray, cell, k, empty > 0 ? empty : 1);
      if (empty > 0) {
        k = leave - 1;
        continue;
      }
    }
    last = Near<T> (s.words, at).value ();
    if (last >= level)
      break;
  }
  for (int c = 0; c < 3; c++)
    rgb[c] = look.background[c];
  if (k >= ray.to)
    return;

  /* Back to the level. */
  place = k;
  if (k > ray.from) {
    step_position (s, ray, k - 1, at);
    const float before = Near<T> (s.words, at).value ();

    if (before < level)
      place = (k - 1) + (level - before) / (last - before);
  }
  step_position (s, ray, place, at);
  Near<T> (s.words, at).gradient (g);
  const Shade light = shade (s, look, ray, g, 0);

  for (int c = 0; c < 3; c++)
    rgb[c] = look.surface_color[c] * light.factor + light.white;
}

/* Colours */

__host__ __device__ inline unsigned char
level_of (float v)
{
  return rintf (fminf (fmaxf (v, 0), 255));
}

/* Writes the colour of @value, or component @channel of a coloured sample. */
__host__ __device__ inline void
write_value (const Look &look, const LookEntry *entries, int channel,
    float value, unsigned char *pixel)
{
  const double grey = nd_scene_entry (look.low, look.window, value);
  int i;

  if (isnan (value)) {
    for (int c = 0; c < 3; c++) {
      if (channel < 0 || channel == c)
        pixel[c] = look.background[c];
    }
    return;
  }
  if (channel >= 0) {
    pixel[channel] = rint (grey);
    return;
  }
  i = grey < ND_LOOK_COLORS - 2 ? (int) grey : ND_LOOK_COLORS - 2;
  for (int c = 0; c < 3; c++) {
    const double first = entries[i].rgb[c];

    pixel[c] = rint (first + (grey - i) * (entries[i + 1].rgb[c] - first));
  }
}

template <typename T, RayKind kind>
__host__ __device__ inline void
draw_ray (const Shot &s, const NdPanel &panel, const Look &look,
    const LookEntry *entries, int channel, int x, int y, unsigned char *pixel)
{
  const Ray ray = make_ray (s, panel, look, x, y);

  if constexpr (kind == RAYS_PROJECT) {
    write_value (look, entries, channel, project<T> (s, panel.kind, ray),
        pixel);
  } else {
    float rgb[3];

    if constexpr (kind == RAYS_VOLUME)
      draw_volume<T> (s, look, entries, ray, rgb);
    else
      draw_surface<T> (s, look, ray, rgb);
    for (int c = 0; c < 3; c++)
      pixel[c] = level_of (rgb[c]);
  }
}

__host__ __device__ inline void
draw_plane (const Direct &d, const NdPanel &panel, const Look &look,
    const LookEntry *entries, int x, int y, unsigned char *pixel)
{
  float at[3];

  write_value (look, entries, d.channel,
      plane_position (panel, d.size, x, y, at) ? interpolated (d, at)
                                               : (float) NAN,
      pixel);
}

} // namespace nd
