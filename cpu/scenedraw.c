/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/convert.h"
#include "core/error.h"
#include "core/threads.h"
#include "cpu/scenekernels.h"

#include <math.h>
#include <string.h>

#define TILE 32    /* pixels, in x and in y */
#define PART 65536 /* samples that a task converts */

struct _NdScene
{
  NdSceneJob job;
  gsize n;           /* samples of a volume */
  NdSampleType type; /* computed with */

  gconstpointer volume; /* as taken, or `converted` */
  gpointer converted;   /* to `type`; NULL if that is the type of the volume */
  gfloat *values;       /* one number per sample of two or three components */
  gboolean valued;      /* values are those of the volume */

  /* Cells are those of NdSceneSamples. */
  gint cells[3];
  gfloat *low, *high;
  guint8 *empty;
  guint8 *least;   /* room for a row of cells */
  gboolean ranged; /* low and high are those of the volume */
  guint channel;   /* of low and high */
};

static gsize
cell_count (const NdScene *self)
{
  return (gsize) self->cells[0] * self->cells[1] * self->cells[2];
}

static void
scene_free (NdScene *self)
{
  g_free (self->converted);
  g_free (self->values);
  g_free (self->low);
  g_free (self->high);
  g_free (self->empty);
  g_free (self->least);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdScene, scene_free)

static NdScene *
scene_new (const NdSceneJob *job, gint device_id, GError **error)
{
  g_autoptr (NdScene) self = g_new0 (NdScene, 1);
  const gsize components = job->shape.components;
  gboolean ok = TRUE;
  gsize numbers;

  self->job = *job;
  self->type = nd_sample_computed (job->type, ND_PRECISION_SINGLE);
  for (guint a = 0; a < 3; a++) {
    ok &= job->shape.size[a] <= G_MAXINT - ND_SCENE_CELL;
    self->cells[a] = (job->shape.size[a] - 1) / ND_SCENE_CELL + 1;
  }
  ok = ok && nd_shape_samples (&job->shape, &numbers);
  if (ok) {
    self->n = numbers / components;
    self->low = g_try_new (gfloat, cell_count (self));
    self->high = g_try_new (gfloat, cell_count (self));
    self->empty = g_try_malloc0 (cell_count (self) + ND_SCENE_SLACK);
    self->least = g_try_malloc (self->cells[0]);
    ok = self->low && self->high && self->empty && self->least;
    if (self->type != job->type)
      ok &= (self->converted =
                    g_try_malloc_n (numbers, nd_sample_size (self->type)))
          != NULL;
    if (components == 2 || components == 3)
      ok &= (self->values = g_try_new (gfloat, self->n)) != NULL;
  }
  if (ok)
    return g_steal_pointer (&self);
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "No memory to draw volumes of %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
      " x %" G_GSIZE_FORMAT " samples: use smaller volumes",
      job->shape.size[0], job->shape.size[1], job->shape.size[2]);
  return NULL;
}

static void
convert_part (gsize part, guint worker, gpointer data)
{
  NdScene *self = data;
  const gsize first = part * PART, n = MIN (PART, self->n - first);
  const gsize components = self->job.shape.components;

  nd_convert_to_computed (self->job.type, ND_PRECISION_SINGLE,
      (const guint8 *) self->volume
          + first * components * nd_sample_size (self->job.type),
      n * components,
      (guint8 *) self->converted
          + first * components * nd_sample_size (self->type));
}

static gboolean
scene_take (NdScene *self, gconstpointer volume, GError **error)
{
  self->volume = volume;
  if (self->converted) {
    nd_parallel_for ((self->n - 1) / PART + 1, convert_part, self);
    self->volume = self->converted;
  }
  self->valued = FALSE;
  self->ranged = FALSE;
  return TRUE;
}

/* The value of sample @i. */
static gfloat
value_of (const NdScene *self, gsize i)
{
  const gsize c = self->job.shape.components;
  gdouble v[3] = { 0, 0, 0 };

  for (gsize k = 0; k < MIN (c, 3); k++)
    v[k] = nd_sample_value (self->volume, i * c + k, self->type);
  return c == 2 ? hypotf (v[0], v[1])
      : c == 3  ? (v[0] + v[1] + v[2]) / 3
                : v[0];
}

/* Magnitudes of complex samples, means of three components. */
static void
value_part (gsize part, guint worker, gpointer data)
{
  NdScene *self = data;
  const gsize end = MIN (self->n, (part + 1) * PART);

  for (gsize i = part * PART; i < end; i++)
    self->values[i] = value_of (self, i);
}

/* Sets @samples to the values of @channel, -1 for one value per sample. Returns
 * their type. */
static NdSampleType
set_samples (NdScene *self, NdSceneSamples *samples, gint channel)
{
  const gsize components = self->job.shape.components;
  NdSampleType type = self->type;
  gsize step = components;

  *samples = (NdSceneSamples){
    .low = self->low, .high = self->high, .empty = self->empty
  };
  samples->data =
      (const guint8 *) self->volume + MAX (channel, 0) * nd_sample_size (type);
  if (self->values && channel < 0) {
    if (!self->valued)
      nd_parallel_for ((self->n - 1) / PART + 1, value_part, self);
    self->valued = TRUE;
    samples->data = self->values;
    type = ND_FLOAT32;
    step = 1;
  }
  for (guint a = 0; a < 3; a++) {
    samples->step[a] = step;
    samples->size[a] = self->job.shape.size[a];
    step *= samples->size[a];
    samples->spacing[a] = self->job.spacing[a];
    samples->cells[a] = self->cells[a];
  }
  samples->fast = step <= G_MAXINT32
      && (type == ND_FLOAT32
          || (samples->step[0] == 1 && samples->size[0] >= 4));
  return type;
}

typedef struct
{
  NdScene *scene;
  const NdSceneSamples *samples;
  NdSceneRange range;
} Ranges;

static void
find_ranges (gsize line, guint worker, gpointer data)
{
  Ranges *r = data;
  const gint *cells = r->samples->cells;
  gfloat *low = r->scene->low + line * cells[0];
  gfloat *high = r->scene->high + line * cells[0];

  for (gint i = 0; i < cells[0]; i++) {
    low[i] = INFINITY;
    high[i] = -INFINITY;
  }
  r->range (r->samples, line % cells[1], line / cells[1], low, high);
}

/* Sets each of @n cells of @least to the least of it and of the up to three
 * cells of @row next to it. */
static void
take_least (const guint8 *row, gint n, guint8 *least)
{
  for (gint x = 0; x < n; x++)
    least[x] = MIN (least[x], row[x]);
  for (gint x = 1; x < n; x++)
    least[x] = MIN (least[x], row[x - 1]);
  for (gint x = 1; x < n; x++)
    least[x - 1] = MIN (least[x - 1], row[x]);
}

/* The distances of NdSceneSamples.empty: each pass goes through all rows of
 * cells, from one end to the other, and looks at the 13 of 26 neighbours that
 * it has passed. */
static void
find_distances (NdScene *self)
{
  static const gint passed[4][2] = { { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };
  const gint *cells = self->cells;
  guint8 *least = self->least;

  for (gint pass = 0; pass < 2; pass++) {
    const gint way = pass == 0 ? 1 : -1;

    for (gsize n = 0; n < (gsize) cells[1] * cells[2]; n++) {
      const gsize at = pass == 0 ? n : (gsize) cells[1] * cells[2] - 1 - n;
      guint8 *row = self->empty + at * cells[0];
      guint before = ND_SCENE_FAR;

      memset (least, ND_SCENE_FAR, cells[0]);
      for (guint i = 0; i < G_N_ELEMENTS (passed); i++) {
        const gint y = (gint) (at % cells[1]) - way * passed[i][0];
        const gint z = (gint) (at / cells[1]) - way * passed[i][1];

        if (y >= 0 && y < cells[1] && z >= 0 && z < cells[2])
          take_least (self->empty + ((gsize) z * cells[1] + y) * cells[0],
              cells[0], least);
      }
      for (gint i = 0; i < cells[0]; i++) {
        const gint x = pass == 0 ? i : cells[0] - 1 - i;

        before = MIN (row[x], MIN (least[x], before) + 1);
        row[x] = before;
      }
    }
  }
}

static void
find_empty (NdScene *self, const NdLook *look, gboolean surface)
{
  guint16 opaque[ND_LOOK_COLORS + 1];

  nd_scene_count_opaque (look, opaque);
  for (gsize i = 0; i < cell_count (self); i++) {
    const gfloat low = self->low[i], high = self->high[i];
    const gboolean shows = surface
        ? nd_scene_may_reach (look->level, low, high)
        : nd_scene_may_show (look->low, look->window, opaque, low, high);

    self->empty[i] = shows ? 0 : ND_SCENE_FAR;
  }
  find_distances (self);
}

typedef struct
{
  NdSceneSamples samples;
  NdSceneValues values;
  NdSceneColors colors;
  const NdPanel *panel;
  const NdLook *look;
  const NdSceneTables *tables;
  gint tiles;     /* in a row of tiles */
  gint channel;   /* of red, green and blue; -1: all */
  guint8 *pixels; /* of the panel */
  gssize stride;
} Drawing;

/* The colour of @value, or component @channel of a coloured sample. */
static void
color (const NdLook *look, gint channel, gfloat value, guint8 *pixel)
{
  const gdouble grey = nd_scene_entry (look->low, look->window, value);
  gint i;

  if (isnan (value)) {
    if (channel < 0)
      memcpy (pixel, look->background, 3);
    else
      pixel[channel] = look->background[channel];
    return;
  }
  i = MIN ((gint) grey, ND_LOOK_COLORS - 2);
  if (channel >= 0) {
    pixel[channel] = rint (grey);
    return;
  }
  for (guint c = 0; c < 3; c++) {
    const gdouble first = look->colors[i][c];

    pixel[c] = rint (first + (grey - i) * (look->colors[i + 1][c] - first));
  }
}

static void
draw_tile (gsize tile, guint worker, gpointer data)
{
  const Drawing *d = data;
  const gint from[] = { tile % d->tiles * TILE, tile / d->tiles * TILE };
  const gint to[] = { MIN (from[0] + TILE, d->panel->width),
    MIN (from[1] + TILE, d->panel->height) };
  gfloat values[TILE * TILE], *value = values;

  if (d->panel->kind >= ND_PANEL_VOLUME) {
    d->colors (&d->samples, d->panel, d->look, d->tables, from, to, d->pixels,
        d->stride);
    return;
  }
  d->values (&d->samples, d->panel, d->look, from, to, values);
  for (gint y = from[1]; y < to[1]; y++) {
    for (gint x = from[0]; x < to[0]; x++)
      color (d->look, d->channel, *value++, d->pixels + y * d->stride + 3 * x);
  }
}

static void
fill_tables (const NdLook *look, NdSceneTables *tables)
{
  guint first = 0;

  while (first < ND_LOOK_COLORS && !(look->opacity[first] > 0))
    first++;
  tables->dark = (gint) first - 1;
  for (guint i = 0; i < G_N_ELEMENTS (tables->opacity); i++)
    tables->opacity[i] = (guint32) rint (65535 * look->opacity[i])
        | (guint32) rint (65535 * look->opacity[i + 1]) << 16;
  for (guint i = 0; i < G_N_ELEMENTS (tables->colors); i++) {
    const guint entry = MIN (i / ND_SCENE_SHADES, ND_LOOK_COLORS - 2);
    const gfloat part = i / (gfloat) ND_SCENE_SHADES - entry;

    tables->colors[i] = 0;
    for (guint c = 0; c < 3; c++) {
      const gfloat first = look->colors[entry][c];
      const gfloat v = first + part * (look->colors[entry + 1][c] - first);

      tables->colors[i] |= (guint32) rint (4 * CLAMP (v, 0, 255)) << 10 * c;
    }
  }
}

static void
draw_channel (NdScene *self, const NdPanel *panel, const NdLook *look,
    gint channel, guint8 *pixels, gssize stride)
{
  const gint tiles = (panel->width - 1) / TILE + 1;
  Drawing d = { .panel = panel,
    .look = look,
    .tiles = tiles,
    .channel = channel,
    .stride = stride,
    .pixels = pixels + panel->top * stride + 3 * panel->left };
  const NdSampleType type = set_samples (self, &d.samples, channel);
  NdSceneTables tables;

  if (panel->kind != ND_PANEL_PLANE && panel->kind != ND_PANEL_MEAN) {
    if (!self->ranged || self->channel != (guint) (channel + 1)) {
      Ranges r = { self, &d.samples, nd_scene_kernels ()->range[type] };

      nd_parallel_for ((gsize) self->cells[1] * self->cells[2], find_ranges,
          &r);
      self->ranged = TRUE;
      self->channel = channel + 1;
    }
    if (panel->kind >= ND_PANEL_VOLUME)
      find_empty (self, look, panel->kind == ND_PANEL_SURFACE);
  }
  d.values = nd_scene_kernels ()->values[type];
  d.colors = nd_scene_kernels ()->colors[type];
  if (panel->kind == ND_PANEL_VOLUME)
    fill_tables (look, &tables);
  d.tables = &tables;
  nd_parallel_for ((gsize) tiles * ((panel->height - 1) / TILE + 1), draw_tile,
      &d);
}

static gboolean
scene_draw (NdScene *self, const NdPanel *panels, guint n, const NdLook *look,
    guint8 *pixels, gssize stride, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (self->job.shape.components == 3 && panels[i].kind < ND_PANEL_VOLUME) {
      for (gint channel = 0; channel < 3; channel++)
        draw_channel (self, &panels[i], look, channel, pixels, stride);
    } else {
      draw_channel (self, &panels[i], look, -1, pixels, stride);
    }
  }
  return TRUE;
}

static gboolean
scene_line (NdScene *self, gsize first, gsize step, gfloat *values, gsize n,
    GError **error)
{
  for (gsize i = 0; i < n; i++)
    values[i] = value_of (self, first + i * step);
  return TRUE;
}

const NdSceneFuncs nd_cpu_scenes = {
  .create = scene_new,
  .destroy = scene_free,
  .take = scene_take,
  .draw = scene_draw,
  .line = scene_line,
};
