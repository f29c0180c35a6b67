/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "cpu/denoisesamples.h"
#include "cpu/flowprivate.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const NdFlow *flow;
  NdFlowLevel *level;
  const gfloat *in;
  gfloat *out;
  guint n; /* components */
  gfloat limit;
  gdouble regular;
} Job;

static gsize
clamp_index (gint64 i, gsize n)
{
  return CLAMP (i, 0, (gint64) n - 1);
}

/* The binomial filter 1 2 1 along each axis. */
static void
flow_smooth_plane (gsize z, guint worker, gpointer data)
{
  static const gfloat weights[3] = { .25f, .5f, .25f };
  const Job *job = data;
  const gsize *size = job->level->size;
  const gsize n = size[0];
  gfloat *row = nd_flow_row (job->flow, worker, 0);

  for (gsize y = 0; y < size[1]; y++) {
    gfloat *out = nd_flow_sample (job->level, job->out, y, z);

    memset (row, 0, (n + 2) * sizeof (gfloat));
    for (guint i = 0; i < 9; i++) {
      const gsize from_y = clamp_index ((gint64) (y + i % 3) - 1, size[1]);
      const gsize from_z = clamp_index ((gint64) (z + i / 3) - 1, size[2]);
      const gfloat *in = job->in + (from_z * size[1] + from_y) * n;
      const gfloat weight = weights[i % 3] * weights[i / 3];

      for (gsize x = 0; x < n; x++)
        row[x + 1] += weight * in[x];
    }
    row[0] = row[1];
    row[n + 1] = row[n];
    for (gsize x = 0; x < n; x++)
      out[x] = .25f * (row[x] + row[x + 2]) + .5f * row[x + 1];
  }
  nd_flow_extend_plane (job->level, job->out, z);
}

static void
flow_smooth (const NdFlow *self, NdFlowLevel *level, const gfloat *in,
    gfloat *padded)
{
  Job job = { .flow = self, .level = level, .in = in, .out = padded };

  nd_parallel_for (level->size[2], flow_smooth_plane, &job);
}

/* The means of the products of a plane of cells: 6 of the target alone, or 3 of
 * the target and its difference to the other volume. */
static void
flow_sum_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const NdFlowLevel *level = job->level;
  const gsize *size = level->size, *cells = level->cells;
  gfloat *out[6];

  for (guint k = 0; k < 6; k++)
    out[k] = nd_flow_row (job->flow, worker, 3 + k);
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
        NdFlowRow row = nd_flow_get_row (level, row_y, row_z);
        const gfloat *target =
            nd_flow_sample (level, level->target, row_y, row_z);

        if (job->n == 6) {
          job->flow->kernels->products (&row, target, out);
        } else {
          nd_flow_read_flow (job->flow, level, worker, &row);
          job->flow->kernels->residual (&row, target,
              nd_flow_sample (level, level->other, row_y, row_z), out);
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
  const NdFlowLevel *level = job->level;
  const gsize n = level->cells[0], height = level->cells[1];
  gfloat *row = nd_flow_row (job->flow, worker, 0);

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
  const NdFlowLevel *level = job->level;
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
flow_invert (const gdouble m[6], gdouble out[6])
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
  const NdFlowLevel *level = job->level;
  const gsize n = level->cells[0];
  gfloat *tensor[6];

  for (guint k = 0; k < 6; k++)
    tensor[k] = nd_flow_row (job->flow, worker, k);
  for (gsize y = 0; y < level->cells[1]; y++) {
    const gsize at = (z * level->cells[1] + y) * n;

    window_row (job, y, z, tensor);
    for (gsize x = 0; x < n; x++) {
      gdouble m[6], inverse[6];

      for (guint k = 0; k < 6; k++)
        m[k] = tensor[k][x] + (k == 0 || k == 3 || k == 5 ? job->regular : 0);
      flow_invert (m, inverse);
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
  const NdFlowLevel *level = job->level;
  const gsize n = level->cells[0];
  gfloat *b[6];

  for (guint k = 0; k < 6; k++)
    b[k] = nd_flow_row (job->flow, worker, k);
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
flow_estimate (NdFlow *self, NdFlowLevel *level, guint n, gint offset)
{
  Job job = {
    .flow = self,
    .level = level,
    .n = 3,
    .limit = ND_FLOW_LIMIT * ABS (offset) / (level == self->levels ? 1 : 2),
  };

  for (guint i = 0; i < n; i++) {
    nd_parallel_for (level->cells[2], flow_sum_plane, &job);
    nd_parallel_for (level->cells[2], window_plane, &job);
    nd_parallel_for (level->cells[2], step_plane, &job);
  }
}

/* Copies the flow of level 1 to level 0, whose cells are its samples. */
static void
flow_refine_plane (gsize z, guint worker, gpointer data)
{
  const NdFlow *self = ((const Job *) data)->flow;
  const NdFlowLevel *from = &self->levels[1], *to = &self->levels[0];
  gfloat *row = nd_flow_row (self, worker, 0);

  for (guint a = 0; a < 3; a++) {
    for (gsize y = 0; y < to->cells[1]; y++) {
      gfloat *flow = to->flow[a] + (z * to->cells[1] + y) * to->cells[0];

      nd_flow_interpolate (self, from, from->flow[a], y, z, worker, row);
      for (gsize x = 0; x < to->cells[0]; x++)
        flow[x] = 2 * row[x];
    }
  }
}

static void
clear_flow (NdFlowLevel *level)
{
  for (guint a = 0; a < 3; a++)
    memset (level->flow[a], 0, level->n_cells * sizeof (gfloat));
}

/* The flow begins with that of the volume before, as if the velocity were
 * constant, or on the coarse level for the first volume. */
void
nd_flow_follow (NdFlow *self, gint offset, const gfloat *volume)
{
  NdFlowLevel *fine = &self->levels[0], *coarse = &self->levels[1];
  const gint distance = ABS (offset);
  Job job = { .flow = self };

  flow_smooth (self, fine, volume, fine->other);
  if (distance > 1) {
    const gfloat ratio = (gfloat) distance / (distance - 1);

    for (guint a = 0; a < 3; a++) {
      for (gsize i = 0; i < fine->n_cells; i++)
        fine->flow[a][i] *= ratio;
    }
  } else if (self->n_levels > 1) {
    nd_cpu_coarsen (volume, fine->size, self->coarse);
    flow_smooth (self, coarse, self->coarse, coarse->other);
    clear_flow (coarse);
    flow_estimate (self, coarse, ND_FLOW_COARSE_STEPS, offset);
    nd_parallel_for (fine->cells[2], flow_refine_plane, &job);
  } else {
    clear_flow (fine);
  }
  flow_estimate (self, fine, ND_FLOW_FINE_STEPS, offset);
}

static void
set_level_target (NdFlow *self, NdFlowLevel *level, const gfloat *target,
    gdouble sigma)
{
  Job job = {
    .flow = self,
    .level = level,
    .n = 6,
    .regular = ND_FLOW_REGULAR * sigma * sigma,
  };

  flow_smooth (self, level, target, level->target);
  nd_parallel_for (level->cells[2], flow_sum_plane, &job);
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
