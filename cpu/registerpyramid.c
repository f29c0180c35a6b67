/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/registerpyramid.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/registerkernels.h"

#include <math.h>
#include <string.h>

/* Rows of an output that a task filters. */
#define ROWS 32

#define MAX_RADIUS MAX (ND_REGISTER_RADIUS, ND_PHASE_REACH)
#define MAX_TAPS (2 * MAX_RADIUS + 1)

static gsize
count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

void
nd_register_pyramid_free (NdRegisterPyramid *self)
{
  if (!self)
    return;
  for (guint l = 0; l < ND_REGISTER_MAX_LEVELS; l++) {
    g_free (self->smooth[l]);
    g_free (self->valid[l]);
    g_free (self->input[0][l]);
    g_free (self->input[1][l]);
  }
  g_free (self->rows);
  g_free (self);
}

/* Of a worker: the rows that a task reads, one padded row, and one output. */
static gsize
count_worker_floats (const NdRegisterPlan *plan)
{
  return (2 * ROWS + 2 * MAX_RADIUS + 3)
      * (plan->levels[0].size[0] + 2 * MAX_RADIUS + ND_REGISTER_ROOM);
}

gsize
nd_register_pyramid_bytes (const NdRegisterPlan *plan)
{
  gsize floats = nd_threads () * count_worker_floats (plan);

  for (guint l = 0; l < plan->n_levels; l++)
    floats += 4 * (count (plan->levels[l].size) + ND_REGISTER_ROOM);
  return floats * sizeof (gfloat);
}

NdRegisterPyramid *
nd_register_pyramid_new (const NdRegisterPlan *plan)
{
  NdRegisterPyramid *self = g_new0 (NdRegisterPyramid, 1);
  gboolean ok;

  self->plan = plan;
  self->worker_floats = count_worker_floats (plan);
  self->rows = g_try_new (gfloat, nd_threads () * self->worker_floats);
  ok = self->rows != NULL;
  for (guint l = 0; l < plan->n_levels && ok; l++) {
    const gsize n = count (plan->levels[l].size) + ND_REGISTER_ROOM;

    self->smooth[l] = g_try_new0 (gfloat, n);
    self->valid[l] = g_try_new0 (gfloat, n);
    self->input[0][l] = g_try_new0 (gfloat, n);
    self->input[1][l] = g_try_new0 (gfloat, n);
    ok = self->smooth[l] && self->valid[l] && self->input[0][l]
        && self->input[1][l];
  }
  if (ok)
    return self;
  nd_register_pyramid_free (self);
  return NULL;
}

/* Filters */

typedef struct
{
  const NdRegisterPyramid *pyramid;
  const gfloat *in;
  gfloat *out;
  const gsize *from, *to; /* sizes */
  guint step[3];
  const gfloat *taps[3]; /* NULL: not filtered along this axis */
  gint radius;
  gsize blocks; /* of rows */
} FilterJob;

/* Combines rows @centre - radius to @centre + radius of @n rows at @in, or
 * copies a row. */
static void
combine_rows (const FilterJob *job, const gfloat *in, gsize stride, gssize n,
    gssize centre, gssize first, guint axis, gfloat *out)
{
  const gsize width = job->from[0];
  const gfloat *rows[MAX_TAPS];

  if (!job->taps[axis]) {
    memcpy (out, in + (centre - first) * stride, width * sizeof (gfloat));
    return;
  }
  for (gint k = -job->radius; k <= job->radius; k++)
    rows[k + job->radius] =
        in + (CLAMP (centre + k, 0, n - 1) - first) * stride;
  nd_register_kernels ()->combine (rows, job->taps[axis], 2 * job->radius + 1,
      width, out);
}

/* Filters a row along x into @out. @padded: a row of scratch, and another. */
static void
combine_samples (const FilterJob *job, const gfloat *row, gfloat *padded,
    gfloat *filtered, gfloat *out)
{
  const gsize width = job->from[0];
  const gint radius = job->radius;
  const gfloat *rows[MAX_TAPS];

  if (!job->taps[0]) {
    memcpy (out, row, width * sizeof (gfloat));
    return;
  }
  for (gint k = 0; k < radius; k++) {
    padded[k] = row[0];
    padded[radius + width + k] = row[width - 1];
  }
  memcpy (padded + radius, row, width * sizeof (gfloat));
  for (gint k = 0; k <= 2 * radius; k++)
    rows[k] = padded + k;
  nd_register_kernels ()->combine (rows, job->taps[0], 2 * radius + 1, width,
      filtered);
  if (job->step[0] == 1) {
    memcpy (out, filtered, width * sizeof (gfloat));
    return;
  }
  for (gsize x = 0; x < job->to[0]; x++)
    out[x] = filtered[x * job->step[0]];
}

/* Filters a block of rows of a plane: along z, y, x. */
static void
filter_block (gsize index, guint worker, gpointer data)
{
  const FilterJob *job = data;
  const gsize width = job->from[0];
  const gsize z = index / job->blocks, block = index % job->blocks;
  const gsize row_floats = width + 2 * MAX_RADIUS + ND_REGISTER_ROOM;
  const gsize end = MIN ((block + 1) * ROWS, job->to[1]);
  const gssize height = job->from[1];
  const gint radius = job->taps[1] ? job->radius : 0;
  const gssize low = MAX ((gssize) (block * ROWS * job->step[1]) - radius, 0);
  const gssize high =
      MIN ((gssize) ((end - 1) * job->step[1]) + radius, height - 1);
  gfloat *rows = job->pyramid->rows + worker * job->pyramid->worker_floats;
  gfloat *row = rows + (2 * ROWS + 2 * MAX_RADIUS) * row_floats;

  for (gssize y = low; y <= high; y++)
    combine_rows (job, job->in + y * width, height * width, job->from[2],
        z * job->step[2], 0, 2, rows + (y - low) * row_floats);
  for (gsize y = block * ROWS; y < end; y++) {
    combine_rows (job, rows, row_floats, height, y * job->step[1], low, 1, row);
    combine_samples (job, row, row + row_floats, row + 2 * row_floats,
        job->out + (z * job->to[1] + y) * job->to[0]);
  }
}

static void
run_filter (FilterJob *job)
{
  job->blocks = (job->to[1] + ROWS - 1) / ROWS;
  nd_parallel_for (job->to[2] * job->blocks, filter_block, job);
}

static void
run_gaussian (FilterJob *job, const gboolean filters[3], gdouble sigma,
    guint radius)
{
  gdouble taps[MAX_TAPS];
  gfloat floats[MAX_TAPS];

  nd_register_taps (sigma, radius, taps);
  for (guint k = 0; k <= 2 * radius; k++)
    floats[k] = taps[k];
  for (guint a = 0; a < 3; a++)
    job->taps[a] = filters[a] ? floats : NULL;
  job->radius = radius;
  run_filter (job);
}

static void
smooth (const NdRegisterPyramid *self, guint l, const gfloat *in, gfloat *out)
{
  const gsize *size = self->plan->levels[l].size;
  const gboolean filters[3] = { size[0] > 1, size[1] > 1, size[2] > 1 };
  FilterJob job = { self, in, out, size, size, { 1, 1, 1 } };

  run_gaussian (&job, filters, ND_REGISTER_SIGMA, ND_REGISTER_RADIUS);
}

/* The input of level @l from that of the level before. */
static void
halve (const NdRegisterPyramid *self, guint l, const gfloat *in, gfloat *out)
{
  const NdRegisterLevel *fine = &self->plan->levels[l - 1], *coarse = fine + 1;
  FilterJob job = { self, in, out, fine->size, coarse->size };
  gboolean filters[3];

  for (guint a = 0; a < 3; a++) {
    job.step[a] = coarse->factor[a] / fine->factor[a];
    filters[a] = job.step[a] > 1;
  }
  run_gaussian (&job, filters, ND_REGISTER_HALF_SIGMA, ND_REGISTER_HALF_RADIUS);
}

void
nd_register_filter (const NdRegisterPyramid *self, const gfloat *in,
    const gfloat *const taps[3], guint radius, gfloat *out)
{
  const gsize *size = self->plan->levels[0].size;
  FilterJob job = { self, in, out, size, size, { 1, 1, 1 },
    { taps[0], taps[1], taps[2] }, radius };

  run_filter (&job);
}

/* Volumes */

typedef struct
{
  const NdRegisterPlan *plan;
  const gfloat *samples;
  gfloat offset, *out, *valid;
  gsize rows;
  gint has_invalid; /* atomic */
  gdouble *sums;    /* of each plane: samples, and their number; or NULL */
} ReadJob;

static gboolean
is_valid (const NdRegisterPlan *plan, gfloat sample)
{
  return isfinite (sample) && !(plan->settings.nonzero && sample == 0);
}

static void
read_plane (gsize z, guint worker, gpointer data)
{
  ReadJob *job = data;
  const gsize *size = job->plan->levels[0].size;
  const gsize n = size[0] * size[1], first = z * n;
  gsize n_valid = 0;

  for (gsize i = first; i < first + n; i++) {
    const gboolean valid = is_valid (job->plan, job->samples[i]);

    job->out[i] = valid ? job->samples[i] - job->offset : 0;
    job->valid[i] = valid;
    n_valid += valid;
  }
  if (n_valid < n)
    g_atomic_int_set (&job->has_invalid, TRUE);
}

static void
sum_plane (gsize z, guint worker, gpointer data)
{
  ReadJob *job = data;
  const gsize *size = job->plan->levels[0].size;
  const gsize n = size[0] * size[1], first = z * n;
  gdouble sum = 0, n_valid = 0;

  for (gsize i = first; i < first + n; i++) {
    if (is_valid (job->plan, job->samples[i])) {
      sum += job->samples[i];
      n_valid++;
    }
  }
  job->sums[2 * z] = sum;
  job->sums[2 * z + 1] = n_valid;
}

gdouble
nd_register_mean (const NdRegisterPlan *plan, const gfloat *samples)
{
  const gsize planes = plan->levels[0].size[2];
  g_autofree gdouble *sums = g_try_new (gdouble, 2 * planes);
  ReadJob job = { .plan = plan, .samples = samples, .sums = sums };
  gdouble sum = 0, n = 0;

  if (!sums)
    return 0;
  nd_parallel_for (planes, sum_plane, &job);
  for (gsize z = 0; z < planes; z++) {
    sum += sums[2 * z];
    n += sums[2 * z + 1];
  }
  return n > 0 ? sum / n : 0;
}

void
nd_register_pyramid_set (NdRegisterPyramid *self, const gfloat *samples,
    gdouble offset)
{
  const NdRegisterPlan *plan = self->plan;
  ReadJob job = { plan, samples, offset, self->input[0][0], self->input[1][0] };

  nd_parallel_for (plan->levels[0].size[2], read_plane, &job);
  self->has_invalid = job.has_invalid;
  for (guint l = 0; l < plan->n_levels; l++) {
    if (l > 0)
      halve (self, l, self->input[0][l - 1], self->input[0][l]);
    smooth (self, l, self->input[0][l], self->smooth[l]);
    if (!self->has_invalid)
      continue;
    if (l > 0)
      halve (self, l, self->input[1][l - 1], self->input[1][l]);
    smooth (self, l, self->input[1][l], self->valid[l]);
  }
}
