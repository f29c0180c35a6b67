/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/sigmamap.h"

#include "analysis/denoise.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL 8
#define FLAT_CELL 16
/* A cell with texture has no more than this ratio to the median of its
 * neighbourhood. */
#define MOST_RATIO 1.5
/* Cells without noise, for example outside of a sector, have this fraction of
 * the median of all. */
#define LEAST_RATIO 0.02

struct _NdSigmaMap
{
  gsize size[3], samples;
  gsize cell, cells[3], n_cells;
  gboolean is_given;
  gfloat *values;  /* a volume */
  gfloat *volumes; /* cells of each of the last volumes */
  gfloat *used;    /* the cells that the values come from */
  gfloat *fresh, *copy;
  gfloat *memory; /* for each thread */
  gsize memory_floats;
  gdouble level, spread;
};

static gsize
count_cells (const gsize size[3], gsize *cell, gsize cells[3])
{
  gsize n = 1;

  *cell = size[2] > 1 ? CELL : FLAT_CELL;
  for (guint a = 0; a < 3; a++) {
    /* The rest of an axis belongs to the last cell. */
    cells[a] = MAX (size[a] / *cell, 1);
    n *= cells[a];
  }
  return n;
}

/* The most differences of a cell, and a row of them. */
static gsize
cell_memory (gsize cell, const gsize size[3])
{
  gsize n = 1;

  for (guint a = 0; a < 3; a++)
    n *= MIN (2 * cell - 1, size[a]);
  return n;
}

gsize
nd_sigma_map_bytes (const gsize size[3])
{
  gsize cell, cells[3];
  const gsize n = count_cells (size, &cell, cells);

  return sizeof (gfloat)
      * (size[0] * size[1] * size[2] + n * (ND_DENOISE_MAX_ESTIMATES + 3)
          + nd_threads () * cell_memory (cell, size));
}

NdSigmaMap *
nd_sigma_map_new (const gsize size[3], const gdouble *given)
{
  NdSigmaMap *self = g_new0 (NdSigmaMap, 1);
  gdouble sum = 0;

  memcpy (self->size, size, sizeof (self->size));
  self->samples = size[0] * size[1] * size[2];
  self->n_cells = count_cells (size, &self->cell, self->cells);
  self->memory_floats = cell_memory (self->cell, size);
  self->is_given = given != NULL;
  self->values = g_try_new0 (gfloat, self->samples);
  self->volumes = g_try_new0 (gfloat, ND_DENOISE_MAX_ESTIMATES * self->n_cells);
  self->used = g_try_new0 (gfloat, self->n_cells);
  self->fresh = g_try_new0 (gfloat, self->n_cells);
  self->copy = g_try_new0 (gfloat, self->n_cells);
  self->memory = g_try_new (gfloat, nd_threads () * self->memory_floats);
  if (!self->values || !self->volumes || !self->used || !self->fresh
      || !self->copy || !self->memory) {
    nd_sigma_map_free (self);
    return NULL;
  }
  for (gsize i = 0; given && i < self->samples; i++) {
    self->values[i] = given[i];
    sum += given[i] * given[i];
  }
  self->level = sqrt (sum / self->samples);
  return self;
}

void
nd_sigma_map_free (NdSigmaMap *self)
{
  if (!self)
    return;
  g_free (self->values);
  g_free (self->volumes);
  g_free (self->used);
  g_free (self->fresh);
  g_free (self->copy);
  g_free (self->memory);
  g_free (self);
}

void
nd_sigma_map_reset (NdSigmaMap *self)
{
  if (self->is_given)
    return;
  memset (self->used, 0, self->n_cells * sizeof (gfloat));
  self->level = 0;
}

static gint
compare_floats (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

static gfloat
sorted_median (gfloat *values, gsize n)
{
  qsort (values, n, sizeof (gfloat), compare_floats);
  return n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

/* Cells */

typedef struct
{
  NdSigmaMap *map;
  const gfloat *volume;
  gfloat *cells;
} MeasureJob;

/* The first sample of a cell, and how many of its differences the axis has. */
static gsize
cell_range (const NdSigmaMap *map, guint axis, gsize i, gsize *n)
{
  const gsize from = i * map->cell;
  const gsize end =
      i + 1 < map->cells[axis] ? from + map->cell : map->size[axis];

  *n = MIN (end, MAX (map->size[axis], 2) - 1) - from;
  return from;
}

static gfloat
measure_cell (const NdSigmaMap *map, const gfloat *volume, const gsize at[3],
    gfloat *memory)
{
  const gsize steps[3] = { 1, map->size[0], map->size[0] * map->size[1] };
  gsize from[3], n[3], step[3], count = 0;
  gfloat scale = 1, sign[3];

  for (guint a = 0; a < 3; a++) {
    const gboolean is_long = map->size[a] > 1;

    from[a] = cell_range (map, a, at[a], &n[a]);
    step[a] = is_long ? steps[a] : 0;
    sign[a] = is_long ? 1 : 0;
    scale *= is_long ? 2 : 1;
  }
  for (gsize i = 0; i < n[0] * n[1] * n[2]; i++) {
    const gfloat *v = volume + (from[0] + i % n[0])
        + (from[1] + i / n[0] % n[1]) * steps[1]
        + (from[2] + i / n[0] / n[1]) * steps[2];
    gfloat d[4], difference;

    for (guint k = 0; k < 4; k++) {
      const gfloat *w = v + (k & 1) * step[1] + (k >> 1) * step[2];

      d[k] = w[0] - sign[0] * w[step[0]];
    }
    difference = (d[0] - sign[1] * d[1]) - sign[2] * (d[2] - sign[1] * d[3]);
    if (isfinite (difference))
      memory[count++] = fabsf (difference);
  }
  return sorted_median (memory, count) / (ND_NOISE_MEDIAN * sqrtf (scale));
}

static void
measure_cells (gsize row, guint worker, gpointer data)
{
  const MeasureJob *job = data;
  const NdSigmaMap *map = job->map;
  gsize at[3] = { 0, row % map->cells[1], row / map->cells[1] };

  for (; at[0] < map->cells[0]; at[0]++)
    job->cells[row * map->cells[0] + at[0]] = measure_cell (map, job->volume,
        at, map->memory + worker * map->memory_floats);
}

void
nd_sigma_map_add (NdSigmaMap *self, const gfloat *volume, gint64 position)
{
  MeasureJob job = { self, volume,
    self->volumes + position % ND_DENOISE_MAX_ESTIMATES * self->n_cells };

  if (!self->is_given)
    nd_parallel_for (self->cells[1] * self->cells[2], measure_cells, &job);
}

/* The map */

/* The medians over time. */
static void
combine_volumes (NdSigmaMap *self, guint n)
{
  gdouble spread = 0, sum = 0;

  for (gsize i = 0; i < self->n_cells; i++) {
    gfloat values[ND_DENOISE_MAX_ESTIMATES];

    for (guint t = 0; t < n; t++)
      values[t] = self->volumes[t * self->n_cells + i];
    self->fresh[i] = sorted_median (values, n);
    for (guint t = 0; t < n; t++)
      spread += pow (values[t] - self->fresh[i], 2) / n;
    sum += pow (self->fresh[i], 2);
  }
  self->spread = sum > 0 ? sqrt (spread / sum / n) : 1;
}

/* The median of the cells around each, as a limit of it. */
static void
limit_cells (NdSigmaMap *self)
{
  memcpy (self->copy, self->fresh, self->n_cells * sizeof (gfloat));
  for (gsize i = 0; i < self->n_cells; i++) {
    const gsize *n = self->cells;
    const gsize at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
    gfloat values[27];
    guint count = 0;

    for (guint k = 0; k < 27; k++) {
      const gsize x = at[0] + k % 3 - 1, y = at[1] + k / 3 % 3 - 1;
      const gsize z = at[2] + k / 9 - 1;

      if (x < n[0] && y < n[1] && z < n[2])
        values[count++] = self->copy[(z * n[1] + y) * n[0] + x];
    }
    self->fresh[i] =
        MIN (self->copy[i], MOST_RATIO * sorted_median (values, count));
  }
}

/* log (cells), smoothed by [1 2 1] / 4 along each axis and extended along a
 * straight line, so that a slope stays. FALSE if there is no noise. */
static gboolean
smooth_cells (NdSigmaMap *self)
{
  const gsize *n = self->cells;
  const gsize steps[3] = { 1, n[0], n[0] * n[1] };
  gfloat least;

  memcpy (self->copy, self->fresh, self->n_cells * sizeof (gfloat));
  least = LEAST_RATIO * sorted_median (self->copy, self->n_cells);
  if (!(least > 0))
    return FALSE;
  for (gsize i = 0; i < self->n_cells; i++)
    self->fresh[i] = logf (MAX (self->fresh[i], least));
  for (guint a = 0; a < 3; a++) {
    memcpy (self->copy, self->fresh, self->n_cells * sizeof (gfloat));
    for (gsize i = 0; i < self->n_cells; i++) {
      const gsize at = i / steps[a] % n[a];

      if (at > 0 && at + 1 < n[a])
        self->fresh[i] = (self->copy[i - steps[a]] + 2 * self->copy[i]
                             + self->copy[i + steps[a]])
            / 4;
    }
  }
  return TRUE;
}

static void
interpolate_plane (gsize z, guint worker, gpointer data)
{
  const NdSigmaMap *map = data;
  const gsize *size = map->size, *n = map->cells;
  const gsize steps[3] = { 1, n[0], n[0] * n[1] };

  for (gsize i = 0; i < size[0] * size[1]; i++) {
    const gsize at[3] = { i % size[0], i / size[0], z };
    gsize base = 0;
    gfloat part[3], sum = 0;

    for (guint a = 0; a < 3; a++) {
      const gfloat u = (at[a] - map->cell / 2.f) / map->cell;
      const gfloat k = n[a] > 1 ? CLAMP (floorf (u), 0, n[a] - 2.f) : 0;

      part[a] = n[a] > 1 ? CLAMP (u - k, -.5f, 1.5f) : 0;
      base += (gsize) k * steps[a];
    }
    for (guint k = 0; k < 8; k++) {
      gfloat weight = 1;
      gsize from = base;

      for (guint a = 0; a < 3; a++) {
        weight *= k >> a & 1 ? part[a] : 1 - part[a];
        from += (k >> a & 1) && n[a] > 1 ? steps[a] : 0;
      }
      if (weight != 0)
        sum += weight * map->used[from];
    }
    map->values[z * size[0] * size[1] + i] = expf (sum);
  }
}

gboolean
nd_sigma_map_update (NdSigmaMap *self, gint64 n, gdouble tolerance)
{
  gdouble off = 0, sum = 0;

  if (self->is_given)
    return FALSE;
  combine_volumes (self, MIN (n, ND_DENOISE_MAX_ESTIMATES));
  limit_cells (self);
  if (!smooth_cells (self)) {
    const gboolean had = self->level > 0;

    self->level = 0;
    return had;
  }
  for (gsize i = 0; i < self->n_cells; i++)
    off += pow (self->fresh[i] - self->used[i], 2);
  if (self->level > 0 && off <= tolerance * tolerance * self->n_cells)
    return FALSE;
  memcpy (self->used, self->fresh, self->n_cells * sizeof (gfloat));
  nd_parallel_for (self->size[2], interpolate_plane, self);
  for (gsize i = 0; i < self->samples; i++)
    sum += (gdouble) self->values[i] * self->values[i];
  self->level = sqrt (sum / self->samples);
  return TRUE;
}

gdouble
nd_sigma_map_level (const NdSigmaMap *self)
{
  return self->level;
}

gdouble
nd_sigma_map_certainty (const NdSigmaMap *self)
{
  if (self->is_given)
    return 1;
  return self->level > 0 ? CLAMP (1 - self->spread, 0, 1) : 0;
}

const gfloat *
nd_sigma_map_values (const NdSigmaMap *self)
{
  return self->values;
}
