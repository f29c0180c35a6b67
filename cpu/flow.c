/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/flow.h"

#include "analysis/denoise.h"
#include "analysis/flow.h"
#include "core/threads.h"
#include "cpu/denoisefuse.h"
#include "cpu/flowkernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD ND_FLOW_PAD
#define ROOM ND_FLOW_ROOM
#define N_LEVELS 2

/* One resolution. The flow is known at cells of 2 x 2 x 2 samples. */
typedef struct
{
  gsize size[3], cells[3], samples, n_cells;
  gsize row, plane, padded; /* floats of a padded row, plane, volume */
  gfloat *target, *other;   /* padded and smoothed */
  gfloat *inverse[6];       /* of the structure tensor: xx xy xz yy yz zz */
  gfloat *sums[6], *windows[6];
  gfloat *flow[3];
} Level;

struct _NdFlow
{
  const NdFlowKernels *kernels;
  Level levels[N_LEVELS];
  guint n_levels;
  gfloat *coarse;    /* a volume of level 1 */
  gfloat *padded[2]; /* volumes to move */
  gfloat *memory;    /* all arrays */
};

typedef struct
{
  const NdFlow *motion;
  Level *level;
  const gfloat *in[2];
  gfloat *out[2];
  guint n; /* components */
  gfloat limit;
  gdouble regular;
} Job;

static gsize
clamp_index (gint64 i, gsize n)
{
  return CLAMP (i, 0, (gint64) n - 1);
}

static gfloat *
padded_sample (const Level *level, const gfloat *padded, gsize y, gsize z)
{
  return (gfloat *) padded + (level->size[2] > 1 ? z + PAD : 0) * level->plane
      + (y + PAD) * level->row + PAD;
}

/* Repeats the ends of the rows of plane @z, its first and last row, and the
 * plane if it is the first or the last. */
static void
extend_plane (const Level *level, gfloat *padded, gsize z)
{
  const gsize *size = level->size;
  gfloat *plane = padded_sample (level, padded, 0, z) - PAD * level->row - PAD;

  for (gsize y = 0; y < size[1]; y++) {
    gfloat *row = plane + (y + PAD) * level->row;

    for (guint i = 0; i < PAD; i++) {
      row[i] = row[PAD];
      row[PAD + size[0] + i] = row[PAD + size[0] - 1];
    }
  }
  for (guint i = 0; i < PAD; i++) {
    memcpy (plane + i * level->row, plane + PAD * level->row,
        level->row * sizeof (gfloat));
    memcpy (plane + (PAD + size[1] + i) * level->row,
        plane + (PAD + size[1] - 1) * level->row, level->row * sizeof (gfloat));
  }
  for (gsize i = 1; i <= PAD && size[2] > 1; i++) {
    if (z == 0)
      memcpy (plane - i * level->plane, plane, level->plane * sizeof (gfloat));
    if (z == size[2] - 1)
      memcpy (plane + i * level->plane, plane, level->plane * sizeof (gfloat));
  }
}

static void
pad_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const gsize *size = job->level->size;

  for (guint i = 0; i < 2; i++) {
    for (gsize y = 0; y < size[1]; y++)
      memcpy (padded_sample (job->level, job->out[i], y, z),
          job->in[i] + (z * size[1] + y) * size[0], size[0] * sizeof (gfloat));
    extend_plane (job->level, job->out[i], z);
  }
}

/* The binomial filter 1 2 1 along each axis. */
static void
smooth_plane (gsize z, guint worker, gpointer data)
{
  static const gfloat weights[3] = { .25f, .5f, .25f };
  const Job *job = data;
  const gsize *size = job->level->size;
  const gsize n = size[0];
  g_autofree gfloat *row = g_new (gfloat, n + 2);

  for (gsize y = 0; y < size[1]; y++) {
    gfloat *out = padded_sample (job->level, job->out[0], y, z);

    memset (row, 0, (n + 2) * sizeof (gfloat));
    for (guint i = 0; i < 9; i++) {
      const gsize from_y = clamp_index ((gint64) (y + i % 3) - 1, size[1]);
      const gsize from_z = clamp_index ((gint64) (z + i / 3) - 1, size[2]);
      const gfloat *in = job->in[0] + (from_z * size[1] + from_y) * n;
      const gfloat weight = weights[i % 3] * weights[i / 3];

      for (gsize x = 0; x < n; x++)
        row[x + 1] += weight * in[x];
    }
    row[0] = row[1];
    row[n + 1] = row[n];
    for (gsize x = 0; x < n; x++)
      out[x] = .25f * (row[x] + row[x + 2]) + .5f * row[x + 1];
  }
  extend_plane (job->level, job->out[0], z);
}

static void
smooth (Level *level, const gfloat *in, gfloat *padded)
{
  Job job = { .level = level, .in = { in }, .out = { padded } };

  nd_parallel_for (level->size[2], smooth_plane, &job);
}

/* The cells around sample @at: the nearer one counts 3/4, the other 1/4. */
static void
neighbours (gsize at, gsize n, gsize *near, gsize *far)
{
  *near = at / 2;
  *far = at % 2 ? MIN (*near + 1, n - 1) : *near - (*near > 0);
}

/* Interpolates @cells at a row of samples of @level; @cell_row is memory. */
static void
interpolate_row (const Level *level, const gfloat *cells, gsize y, gsize z,
    gfloat *cell_row, gfloat *out)
{
  const gsize n = level->cells[0], height = level->cells[1];
  gsize y0, y1, z0, z1;
  const gfloat *a, *b, *c, *d;

  neighbours (y, height, &y0, &y1);
  neighbours (z, level->cells[2], &z0, &z1);
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

static NdFlowRow
get_row (const Level *level, gsize y, gsize z)
{
  return (NdFlowRow){
    .n = level->size[0],
    .y = y,
    .z = z,
    .end = { level->size[0] - 1, level->size[1] - 1, level->size[2] - 1 },
    .row = level->row,
    .plane = level->size[2] > 1 ? level->plane : 0,
  };
}

/* The rows of a worker: flow, results, and one of cells. */
#define N_ROWS 10

static gfloat *
new_rows (const Level *level)
{
  return g_new0 (gfloat, N_ROWS * (level->size[0] + 2 + ROOM));
}

static gfloat *
nth_row (const Level *level, gfloat *rows, guint i)
{
  return rows + i * (level->size[0] + 2 + ROOM);
}

static void
interpolate_flow (const Level *level, gsize y, gsize z, gfloat *rows,
    NdFlowRow *row)
{
  for (guint a = 0; a < 3; a++) {
    gfloat *out = nth_row (level, rows, a);

    interpolate_row (level, level->flow[a], y, z,
        nth_row (level, rows, N_ROWS - 1), out);
    row->flow[a] = out;
  }
}

/* The means of the products of a plane of cells: 6 of the target alone, or 3 of
 * the target and its difference to the other volume. */
static void
sum_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const Level *level = job->level;
  const gsize *size = level->size, *cells = level->cells;
  g_autofree gfloat *rows = new_rows (level);
  gfloat *out[6];

  for (guint k = 0; k < 6; k++)
    out[k] = nth_row (level, rows, 3 + k);
  for (gsize y = 0; y < cells[1]; y++) {
    const gsize at = (z * cells[1] + y) * cells[0];
    const gsize last_y = MIN (2 * y + 1, size[1] - 1);
    const gsize last_z = MIN (2 * z + 1, size[2] - 1);
    const guint n_rows = (last_y - 2 * y + 1) * (last_z - 2 * z + 1);
    const gfloat weight = .5f / n_rows;

    for (guint k = 0; k < job->n; k++)
      memset (level->sums[k] + at, 0, cells[0] * sizeof (gfloat));
    for (gsize row_z = 2 * z; row_z <= last_z; row_z++) {
      for (gsize row_y = 2 * y; row_y <= last_y; row_y++) {
        NdFlowRow row = get_row (level, row_y, row_z);
        const gfloat *target =
            padded_sample (level, level->target, row_y, row_z);

        if (job->n == 6) {
          job->motion->kernels->products (&row, target, out);
        } else {
          interpolate_flow (level, row_y, row_z, rows, &row);
          job->motion->kernels->residual (&row, target,
              padded_sample (level, level->other, row_y, row_z), out);
        }
        for (guint k = 0; k < job->n; k++) {
          gfloat *sum = level->sums[k] + at;

          if (size[0] % 2)
            out[k][size[0]] = out[k][size[0] - 1];
          for (gsize x = 0; x < cells[0]; x++)
            sum[x] += weight * (out[k][2 * x] + out[k][2 * x + 1]);
        }
      }
    }
  }
}

/* The window over cells: binomial coefficients of order 6, / 64. */
#define WINDOW 3
static const gfloat window[2 * WINDOW + 1] = { .015625f, .09375f, .234375f,
  .3125f, .234375f, .09375f, .015625f };

/* Along y, then x. */
static void
window_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const Level *level = job->level;
  const gsize n = level->cells[0], height = level->cells[1];
  g_autofree gfloat *row = g_new (gfloat, n + 2 * WINDOW);

  for (guint k = 0; k < job->n; k++) {
    const gfloat *in = level->sums[k] + z * height * n;
    gfloat *out = level->windows[k] + z * height * n;

    for (gsize y = 0; y < height; y++, out += n) {
      memset (row, 0, (n + 2 * WINDOW) * sizeof (gfloat));
      for (gint i = -WINDOW; i <= WINDOW; i++) {
        const gfloat *from = in + clamp_index ((gint64) y + i, height) * n;
        const gfloat weight = window[i + WINDOW];

        for (gsize x = 0; x < n; x++)
          row[x + WINDOW] += weight * from[x];
      }
      for (guint i = 0; i < WINDOW; i++) {
        row[i] = row[WINDOW];
        row[n + WINDOW + i] = row[n + WINDOW - 1];
      }
      memset (out, 0, n * sizeof (gfloat));
      for (guint i = 0; i <= 2 * WINDOW; i++) {
        for (gsize x = 0; x < n; x++)
          out[x] += window[i] * row[x + i];
      }
    }
  }
}

/* Along z: a row of the windows of all components. */
static void
window_row (const Job *job, gsize y, gsize z, gfloat *const out[6])
{
  const Level *level = job->level;
  const gsize n = level->cells[0], height = level->cells[1];

  for (guint k = 0; k < job->n; k++) {
    memset (out[k], 0, n * sizeof (gfloat));
    for (gint i = -WINDOW; i <= WINDOW; i++) {
      const gsize from = clamp_index ((gint64) z + i, level->cells[2]);
      const gfloat *in = level->windows[k] + (from * height + y) * n;
      const gfloat weight = window[i + WINDOW];

      for (gsize x = 0; x < n; x++)
        out[k][x] += weight * in[x];
    }
  }
}

/* The inverse of a symmetric matrix xx xy xz yy yz zz; 0 if it has none. */
static void
invert (const gdouble m[6], gdouble out[6])
{
  const gdouble a = m[3] * m[5] - m[4] * m[4], b = m[2] * m[4] - m[1] * m[5];
  const gdouble c = m[1] * m[4] - m[2] * m[3];
  const gdouble scale = 1 / (m[0] * a + m[1] * b + m[2] * c);
  const gboolean valid = isfinite (scale) && scale > 0;

  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = m[0] * m[5] - m[2] * m[2];
  out[4] = m[1] * m[2] - m[0] * m[4];
  out[5] = m[0] * m[3] - m[1] * m[1];
  for (guint k = 0; k < 6; k++)
    out[k] = valid ? out[k] * scale : 0;
}

static void
invert_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const Level *level = job->level;
  const gsize n = level->cells[0];
  g_autofree gfloat *rows = new_rows (level);
  gfloat *tensor[6];

  for (guint k = 0; k < 6; k++)
    tensor[k] = nth_row (level, rows, k);
  for (gsize y = 0; y < level->cells[1]; y++) {
    const gsize at = (z * level->cells[1] + y) * n;

    window_row (job, y, z, tensor);
    for (gsize x = 0; x < n; x++) {
      gdouble m[6], inverse[6];

      for (guint k = 0; k < 6; k++)
        m[k] = tensor[k][x] + (k == 0 || k == 3 || k == 5 ? job->regular : 0);
      invert (m, inverse);
      for (guint k = 0; k < 6; k++)
        level->inverse[k][at + x] = inverse[k];
    }
  }
}

/* One step of Gauss and Newton, at most one sample far. */
static void
step_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const Level *level = job->level;
  const gsize n = level->cells[0];
  g_autofree gfloat *rows = new_rows (level);
  gfloat *b[6];

  for (guint k = 0; k < 6; k++)
    b[k] = nth_row (level, rows, k);
  for (gsize y = 0; y < level->cells[1]; y++) {
    const gsize at = (z * level->cells[1] + y) * n;

    window_row (job, y, z, b);
    for (guint a = 0; a < 3; a++) {
      static const guint index[3][3] = { { 0, 1, 2 }, { 1, 3, 4 },
        { 2, 4, 5 } };
      const gfloat *p = level->inverse[index[a][0]] + at;
      const gfloat *q = level->inverse[index[a][1]] + at;
      const gfloat *r = level->inverse[index[a][2]] + at;
      gfloat *flow = level->flow[a] + at;

      for (gsize x = 0; x < n; x++) {
        gfloat step = -(p[x] * b[0][x] + q[x] * b[1][x] + r[x] * b[2][x]);

        step = step > -1 ? (step < 1 ? step : 1) : (step <= -1 ? -1 : 0);
        flow[x] = CLAMP (flow[x] + step, -job->limit, job->limit);
      }
    }
  }
}

static void
estimate (NdFlow *self, Level *level, guint n, gint offset)
{
  Job job = {
    .motion = self,
    .level = level,
    .n = 3,
    .limit = ND_FLOW_LIMIT * ABS (offset) / (level == self->levels ? 1 : 2),
  };

  for (guint i = 0; i < n; i++) {
    nd_parallel_for (level->cells[2], sum_plane, &job);
    nd_parallel_for (level->cells[2], window_plane, &job);
    nd_parallel_for (level->cells[2], step_plane, &job);
  }
}

/* Copies the flow of level 1 to level 0, whose cells are its samples. */
static void
refine_flow (NdFlow *self)
{
  const Level *from = &self->levels[1];
  Level *to = &self->levels[0];
  g_autofree gfloat *rows = new_rows (to);
  gfloat *out = nth_row (to, rows, 1);

  for (guint a = 0; a < 3; a++) {
    gfloat *flow = to->flow[a];

    for (gsize z = 0; z < to->cells[2]; z++) {
      for (gsize y = 0; y < to->cells[1]; y++, flow += to->cells[0]) {
        interpolate_row (from, from->flow[a], y, z, rows, out);
        for (gsize x = 0; x < to->cells[0]; x++)
          flow[x] = 2 * out[x];
      }
    }
  }
}

static void
clear_flow (Level *level)
{
  for (guint a = 0; a < 3; a++)
    memset (level->flow[a], 0, level->n_cells * sizeof (gfloat));
}

/* The flow begins with that of the volume before, as if the velocity were
 * constant, or on the coarse level for the first volume. */
static void
follow (NdFlow *self, gint offset, const gfloat *volume)
{
  Level *fine = &self->levels[0], *coarse = &self->levels[1];
  const gint distance = ABS (offset);

  smooth (fine, volume, fine->other);
  if (distance > 1) {
    const gfloat ratio = (gfloat) distance / (distance - 1);

    for (guint a = 0; a < 3; a++) {
      for (gsize i = 0; i < fine->n_cells; i++)
        fine->flow[a][i] *= ratio;
    }
  } else if (self->n_levels > 1) {
    nd_cpu_coarsen (volume, fine->size, self->coarse);
    smooth (coarse, self->coarse, coarse->other);
    clear_flow (coarse);
    estimate (self, coarse, ND_FLOW_COARSE_STEPS, offset);
    refine_flow (self);
  } else {
    clear_flow (fine);
  }
  estimate (self, fine, ND_FLOW_FINE_STEPS, offset);
}

static void
move_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const Level *level = job->level;
  const gsize *size = level->size;
  g_autofree gfloat *rows = new_rows (level);
  gfloat *const out[2] = { nth_row (level, rows, 3), nth_row (level, rows, 4) };

  for (gsize y = 0; y < size[1]; y++) {
    NdFlowRow row = get_row (level, y, z);
    const gfloat *in[2];

    interpolate_flow (level, y, z, rows, &row);
    for (guint i = 0; i < 2; i++)
      in[i] = padded_sample (level, job->motion->padded[i], y, z);
    job->motion->kernels->move (&row, in, out);
    for (guint i = 0; i < 2; i++)
      memcpy (job->out[i] + (z * size[1] + y) * size[0], out[i],
          size[0] * sizeof (gfloat));
  }
}

void
nd_flow_move (NdFlow *self, gint offset, const gfloat *const volumes[2],
    gfloat *const moved[2])
{
  Level *level = &self->levels[0];
  Job pad = { .level = level };
  Job job = { .motion = self, .level = level };

  for (guint i = 0; i < 2; i++) {
    pad.in[i] = volumes[i];
    pad.out[i] = self->padded[i];
    job.out[i] = moved[i];
  }
  nd_parallel_for (level->size[2], pad_plane, &pad);
  follow (self, offset, volumes[1]);
  nd_parallel_for (level->size[2], move_plane, &job);
}

static void
set_level_target (NdFlow *self, Level *level, const gfloat *target,
    gdouble sigma)
{
  Job job = {
    .motion = self,
    .level = level,
    .n = 6,
    .regular = ND_FLOW_REGULAR * sigma * sigma,
  };

  smooth (level, target, level->target);
  nd_parallel_for (level->cells[2], sum_plane, &job);
  nd_parallel_for (level->cells[2], window_plane, &job);
  nd_parallel_for (level->cells[2], invert_plane, &job);
}

void
nd_flow_set_target (NdFlow *self, const gfloat *target, gdouble sigma)
{
  set_level_target (self, &self->levels[0], target, sigma);
  if (self->n_levels == 1)
    return;
  nd_cpu_coarsen (target, self->levels[0].size, self->coarse);
  set_level_target (self, &self->levels[1], self->coarse, sigma);
}

static void
init_level (Level *level, const gsize size[3])
{
  memcpy (level->size, size, sizeof (level->size));
  nd_cpu_coarse_size (size, level->cells);
  level->samples = size[0] * size[1] * size[2];
  level->n_cells = level->cells[0] * level->cells[1] * level->cells[2];
  level->row = size[0] + 2 * PAD;
  level->plane = (size[1] + 2 * PAD) * level->row;
  /* Vectors read beyond the last row. */
  level->padded =
      (size[2] > 1 ? size[2] + 2 * PAD : 1) * level->plane + ROOM + level->row;
}

/* The arrays of all levels; counts their floats if @memory is NULL. */
static gsize
divide_memory (NdFlow *self, gfloat *memory)
{
  gsize n = 0;

#define TAKE(array, floats) \
  ((array) = memory ? memory + n : NULL, n += (floats))
  for (guint l = 0; l < self->n_levels; l++) {
    Level *level = &self->levels[l];

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
            size[a] + (a == 2 && size[a] == 1 ? 0 : 2 * PAD), &bytes))
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
  self->n_levels = nd_denoise_has_coarse_scale (size) ? N_LEVELS : 1;
  init_level (&self->levels[0], size);
  if (self->n_levels > 1)
    init_level (&self->levels[1], self->levels[0].cells);
  self->memory = calloc (divide_memory (self, NULL), sizeof (gfloat));
  if (!self->memory) {
    nd_flow_free (self);
    return NULL;
  }
  divide_memory (self, self->memory);
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
