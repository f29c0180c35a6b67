/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/flowprivate.h"

#include "analysis/denoise.h"
#include "core/threads.h"
#include "cpu/denoisesamples.h"

#include <stdlib.h>
#include <string.h>

/* The largest plane, because the flow reaches less than 16 planes. */
#define MAX_PLANE (G_MAXINT32 / 16)

typedef struct
{
  const NdFlow *flow;
  const gfloat *volumes[2];
  gfloat *moved[2];
} Job;

void
nd_flow_extend_plane (const NdFlowLevel *level, gfloat *padded, gsize z)
{
  const gsize *size = level->size;
  gfloat *plane = nd_flow_sample (level, padded, 0, z)
      - ND_FLOW_PAD * level->row - ND_FLOW_PAD;

  for (gsize y = 0; y < size[1]; y++) {
    gfloat *row = plane + (y + ND_FLOW_PAD) * level->row;

    for (guint i = 0; i < ND_FLOW_PAD; i++) {
      row[i] = row[ND_FLOW_PAD];
      row[ND_FLOW_PAD + size[0] + i] = row[ND_FLOW_PAD + size[0] - 1];
    }
  }
  for (guint i = 0; i < ND_FLOW_PAD; i++) {
    memcpy (plane + i * level->row, plane + ND_FLOW_PAD * level->row,
        level->row * sizeof (gfloat));
    memcpy (plane + (ND_FLOW_PAD + size[1] + i) * level->row,
        plane + (ND_FLOW_PAD + size[1] - 1) * level->row,
        level->row * sizeof (gfloat));
  }
  for (gsize i = 1; i <= ND_FLOW_PAD && size[2] > 1; i++) {
    if (z == 0)
      memcpy (plane - i * level->plane, plane, level->plane * sizeof (gfloat));
    if (z == size[2] - 1)
      memcpy (plane + i * level->plane, plane, level->plane * sizeof (gfloat));
  }
}

/* The cells around sample @at: the nearer one counts 3/4, the other 1/4. */
static void
flow_motion_neighbours (gsize at, gsize n, gsize *near, gsize *far)
{
  *near = at / 2;
  *far = at % 2 ? MIN (*near + 1, n - 1) : *near - (*near > 0);
}

void
nd_flow_interpolate (const NdFlow *self, const NdFlowLevel *level,
    const gfloat *cells, gsize y, gsize z, guint worker, gfloat *out)
{
  gfloat *cell_row = nd_flow_row (self, worker, ND_FLOW_ROWS - 1);
  const gsize n = level->cells[0], height = level->cells[1];
  gsize y0, y1, z0, z1;
  const gfloat *a, *b, *c, *d;

  flow_motion_neighbours (y, height, &y0, &y1);
  flow_motion_neighbours (z, level->cells[2], &z0, &z1);
  a = cells + (z0 * height + y0) * n;
  b = cells + (z0 * height + y1) * n;
  c = cells + (z1 * height + y0) * n;
  d = cells + (z1 * height + y1) * n;
  for (gsize x = 0; x < n; x++)
    cell_row[x + 1] = .5625f * a[x] + .1875f * (b[x] + c[x]) + .0625f * d[x];
  cell_row[0] = cell_row[1];
  cell_row[n + 1] = cell_row[n];
  for (gsize x = 0; x < n; x++) {
    out[2 * x] = .75f * cell_row[x + 1] + .25f * cell_row[x];
    out[2 * x + 1] = .75f * cell_row[x + 1] + .25f * cell_row[x + 2];
  }
}

void
nd_flow_read_flow (const NdFlow *self, const NdFlowLevel *level, guint worker,
    NdFlowRow *row)
{
  for (guint a = 0; a < 3; a++) {
    gfloat *out = nd_flow_row (self, worker, a);

    nd_flow_interpolate (self, level, level->flow[a], row->y, row->z, worker,
        out);
    row->flow[a] = out;
  }
}

/* Moving */

static void
pad_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const NdFlowLevel *level = &job->flow->levels[0];
  const gsize *size = level->size;

  for (guint i = 0; i < 2; i++) {
    gfloat *padded = job->flow->padded[i];

    for (gsize y = 0; y < size[1]; y++)
      memcpy (nd_flow_sample (level, padded, y, z),
          job->volumes[i] + (z * size[1] + y) * size[0],
          size[0] * sizeof (gfloat));
    nd_flow_extend_plane (level, padded, z);
  }
}

static void
move_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const NdFlow *self = job->flow;
  const NdFlowLevel *level = &self->levels[0];
  const gsize *size = level->size;
  gfloat *const out[2] = { nd_flow_row (self, worker, 3),
    nd_flow_row (self, worker, 4) };

  for (gsize y = 0; y < size[1]; y++) {
    NdFlowRow row = nd_flow_get_row (level, y, z);
    const gfloat *in[2];

    nd_flow_read_flow (self, level, worker, &row);
    for (guint i = 0; i < 2; i++)
      in[i] = nd_flow_sample (level, self->padded[i], y, z);
    self->kernels->move (&row, in, out);
    for (guint i = 0; i < 2; i++)
      memcpy (job->moved[i] + (z * size[1] + y) * size[0], out[i],
          size[0] * sizeof (gfloat));
  }
}

void
nd_flow_move (NdFlow *self, gint offset, const gfloat *const volumes[2],
    gfloat *const moved[2])
{
  Job job = { self, { volumes[0], volumes[1] }, { moved[0], moved[1] } };

  nd_parallel_for (self->levels[0].size[2], pad_plane, &job);
  nd_flow_follow (self, offset, volumes[1]);
  nd_parallel_for (self->levels[0].size[2], move_plane, &job);
}

/* Memory */

static void
init_level (NdFlowLevel *level, const gsize size[3])
{
  memcpy (level->size, size, sizeof (level->size));
  nd_cpu_coarse_size (size, level->cells);
  level->samples = size[0] * size[1] * size[2];
  level->n_cells = level->cells[0] * level->cells[1] * level->cells[2];
  level->row = size[0] + 2 * ND_FLOW_PAD;
  level->plane = (size[1] + 2 * ND_FLOW_PAD) * level->row;
  /* Vectors read beyond the last row. */
  level->padded = (size[2] > 1 ? size[2] + 2 * ND_FLOW_PAD : 1) * level->plane
      + ND_FLOW_ROOM + level->row;
}

/* The arrays of all levels; counts their floats if @memory is NULL. */
static gsize
flow_motion_divide_memory (NdFlow *self, gfloat *memory)
{
  gsize n = 0;

#define TAKE(array, floats) \
  ((array) = memory ? memory + n : NULL, n += (floats))
  for (guint l = 0; l < self->n_levels; l++) {
    NdFlowLevel *level = &self->levels[l];

    TAKE (level->target, level->padded);
    TAKE (level->other, level->padded);
    for (guint k = 0; k < 6; k++) {
      TAKE (level->inverse[k], level->n_cells);
      TAKE (level->sums[k], level->n_cells);
      TAKE (level->windows[k], level->n_cells);
    }
    for (guint a = 0; a < 3; a++)
      TAKE (level->flow[a], level->n_cells);
  }
  TAKE (self->coarse, self->levels[0].n_cells);
  TAKE (self->rows, nd_threads () * ND_FLOW_ROWS * self->row);
  for (guint i = 0; i < 2; i++)
    TAKE (self->padded[i], self->levels[0].padded);
#undef TAKE
  return n;
}

gsize
nd_flow_bytes (const gsize size[3])
{
  gsize bytes = 16 * sizeof (gfloat);

  for (guint a = 0; a < 3; a++) {
    if (__builtin_mul_overflow (bytes,
            size[a] + (a == 2 && size[a] == 1 ? 0 : 2 * ND_FLOW_PAD), &bytes))
      return 0;
    /* Offsets of samples along the flow are 32-bit. */
    if (a < 2 && bytes / sizeof (gfloat) / 16 > MAX_PLANE)
      return 0;
  }
  return bytes;
}

NdFlow *
nd_flow_new (const gsize size[3])
{
  NdFlow *self;

  if (nd_flow_bytes (size) == 0)
    return NULL;
  self = g_new0 (NdFlow, 1);
  self->kernels = nd_flow_kernels ();
  self->n_levels = nd_denoise_has_coarse_scale (size) ? ND_FLOW_LEVELS : 1;
  self->row = size[0] + 2 + ND_FLOW_ROOM;
  init_level (&self->levels[0], size);
  if (self->n_levels > 1)
    init_level (&self->levels[1], self->levels[0].cells);
  self->memory =
      calloc (flow_motion_divide_memory (self, NULL), sizeof (gfloat));
  if (!self->memory) {
    nd_flow_free (self);
    return NULL;
  }
  flow_motion_divide_memory (self, self->memory);
  return self;
}

void
nd_flow_free (NdFlow *self)
{
  if (!self)
    return;
  free (self->memory);
  g_free (self);
}
