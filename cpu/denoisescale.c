/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisescaleprivate.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

#define MIN_ROW 16
/* The planes (for frames, the rows) whose blocks one task computes. */
#define SLAB_PLANES 8
#define SLAB_ROWS 32
#define REACH ND_DENOISE_REACH
#define MAX_TIME ND_DENOISE_MAX_TIME

static gboolean
scale_multiply (gsize *product, gsize factor)
{
  return !__builtin_mul_overflow (*product, factor, product);
}

gsize
nd_denoise_scale_bytes (const gsize size[3], const NdDenoiseSchedule *schedule)
{
  gsize floats = 1;
  /* Rings and sums of both stages, padded coefficients, and slabs. */
  const gsize volumes = 12 * schedule->n_time + 16
      + (schedule->n_blocks ? schedule->latency : 0)
      + (schedule->motion ? schedule->n_time + schedule->latency : 0);

  for (guint a = 0; a < 3; a++) {
    if (!scale_multiply (&floats, size[a] + (size[2] == 1 && a == 2 ? 0 : 16)))
      return 0;
  }
  return scale_multiply (&floats, volumes * sizeof (gfloat)) ? floats : 0;
}

static gfloat *
new_floats (gsize n)
{
  gfloat *floats = NULL;

  if (n >= nd_usable_memory () / sizeof (gfloat)
      || posix_memalign ((gpointer *) &floats, 64, n * sizeof (gfloat)) != 0)
    return NULL;
  memset (floats, 0, n * sizeof (gfloat));
  return floats;
}

static gboolean
init_slab (NdDenoiseScale *self, NdDenoiseSlab *slab, guint index)
{
  const gsize n_x = self->size[0] + REACH;
  const gsize n_z = self->is_flat ? 1 : self->size[2] + REACH;
  const gsize n_y = self->size[1] + REACH;
  const gsize planes = self->is_flat ? 1 : SLAB_PLANES + SLAB_PLANES + REACH;

  slab->n_z = n_z;
  slab->n_y = n_y;
  if (self->is_flat) {
    slab->y = n_y * index / self->n_slabs;
    slab->n_y = n_y * (index + 1) / self->n_slabs - slab->y;
  } else {
    slab->z = n_z * index / self->n_slabs;
    slab->n_z = n_z * (index + 1) / self->n_slabs - slab->z;
  }
  slab->n = (slab->n_y * self->row + ND_DENOISE_CHUNK - 1) / ND_DENOISE_CHUNK
      * ND_DENOISE_CHUNK;
  slab->length = slab->n + REACH * self->row + ND_DENOISE_CHUNK;
  slab->sums = new_floats (planes * self->schedule.n_time * slab->length);
  slab->weights = new_floats (planes * slab->length);
  if (!slab->sums || !slab->weights)
    return FALSE;
  slab->mask = g_try_new0 (gint32, slab->n);
  slab->partial = g_try_new0 (guint8, slab->n / 4);
  if (!slab->mask || !slab->partial)
    return FALSE;
  for (gsize i = 0; i < slab->n; i++) {
    if (i / self->row < slab->n_y && i % self->row < n_x)
      slab->mask[i] = -1;
    else
      slab->partial[i / 4] = TRUE;
  }
  return TRUE;
}

static gboolean
scale_init_slabs (NdDenoiseScale *self)
{
  const gsize n = self->is_flat ? (self->size[1] + REACH) / SLAB_ROWS
                                : (self->size[2] + REACH) / SLAB_PLANES;
  /* Rows of finish_plane(). */
  gsize scratch = (3 * self->schedule.n_time + 1) * self->size[0];

  self->n_slabs = MAX (1, n);
  self->slabs = g_try_new0 (NdDenoiseSlab, self->n_slabs);
  if (!self->slabs)
    return FALSE;
  for (guint i = 0; i < self->n_slabs; i++) {
    if (!init_slab (self, &self->slabs[i], i))
      return FALSE;
    scratch = MAX (scratch,
        self->kernels->scratch_floats (&(NdDenoisePlane){
            .n_time = self->schedule.n_time,
            .length = self->slabs[i].length }));
  }
  self->scratch_floats = (scratch + 15) / 16 * 16;
  self->scratch = new_floats (self->scratch_floats * nd_threads ());
  return self->scratch != NULL;
}

static gboolean
init_volumes (NdDenoiseScale *self)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const guint n_time = schedule->n_time;
  const gsize planes = self->size[2] * n_time * self->stride;
  /* Vectors read beyond the last plane. */
  const gsize room = 8 * ND_DENOISE_CHUNK + REACH * self->row;

  self->inputs = new_floats (self->n_inputs * self->samples);
  self->pilots = new_floats (self->n_pilots * self->samples);
  self->result =
      new_floats ((schedule->motion ? self->n_pilots : 1) * self->samples);
  self->data = new_floats (planes + room);
  self->pilot = new_floats (planes + room);
  self->constant = new_floats (n_time * self->stride + room);
  self->constant_row = new_floats (self->size[0]);
  for (guint i = 0; i < 2; i++) {
    const guint n =
        i == 1 && schedule->n_blocks && !schedule->motion ? 1 : n_time;

    self->sums[i] = new_floats (n * self->samples);
    self->weights[i] = new_floats (n * self->samples);
    if (!self->sums[i] || !self->weights[i])
      return FALSE;
  }
  return self->inputs && self->pilots && self->result && self->data
      && self->pilot && self->constant && self->constant_row;
}

NdDenoiseScale *
nd_denoise_scale_new (const NdDenoiseKernels *kernels, const gsize size[3],
    const NdDenoiseSchedule *schedule)
{
  NdDenoiseScale *self;

  if (nd_denoise_scale_bytes (size, schedule) == 0)
    return NULL;
  self = g_new0 (NdDenoiseScale, 1);
  self->kernels = kernels;
  self->schedule = *schedule;
  memcpy (self->size, size, sizeof (self->size));
  self->samples = size[0] * size[1] * size[2];
  self->is_flat = size[2] == 1;
  self->gain =
      nd_denoise_axis_gain (size[0], 4) * nd_denoise_axis_gain (size[1], 4);
  if (!self->is_flat)
    self->gain *= nd_denoise_axis_gain (size[2], 4);
  self->n_inputs = schedule->n_time + schedule->pilot_latency;
  self->n_pilots = schedule->n_blocks ? self->n_inputs : schedule->n_time;
  self->row = MAX (size[0] + 2 * REACH, MIN_ROW);
  self->stride = (size[1] + 2 * REACH) * self->row;
  if (!init_volumes (self) || !scale_init_slabs (self)) {
    nd_denoise_scale_free (self);
    return NULL;
  }
  return self;
}

void
nd_denoise_scale_free (NdDenoiseScale *self)
{
  if (!self)
    return;
  for (guint i = 0; self->slabs && i < self->n_slabs; i++) {
    free (self->slabs[i].sums);
    free (self->slabs[i].weights);
    g_free (self->slabs[i].mask);
    g_free (self->slabs[i].partial);
  }
  g_free (self->slabs);
  for (guint i = 0; i < 2; i++) {
    free (self->sums[i]);
    free (self->weights[i]);
  }
  free (self->inputs);
  free (self->pilots);
  free (self->result);
  free (self->data);
  free (self->pilot);
  free (self->constant);
  free (self->constant_row);
  free (self->scratch);
  g_free (self);
}

void
nd_denoise_scale_reset (NdDenoiseScale *self)
{
  self->data_from[0] = G_MININT64;
  self->begun[0] = self->begun[1] = 0;
}

void
nd_denoise_scale_set_borders (NdDenoiseScale *self,
    const NdDenoiseBorders *borders)
{
  self->borders = *borders;
  nd_denoise_scale_reset (self);
  for (gsize i = 0; i < self->size[0]; i++)
    self->constant_row[i] = borders->border_value;
  for (gsize i = 0; i < self->stride; i++)
    self->constant[i] = borders->border_value * sqrtf (self->schedule.n_time);
}

static gfloat *
scale_volume (const NdDenoiseScale *self, gfloat *ring, guint n,
    gint64 position)
{
  return ring + position % n * self->samples;
}

gfloat *
nd_denoise_scale_input (const NdDenoiseScale *self, gint64 position)
{
  return scale_volume (self, self->inputs, self->n_inputs, position);
}

gfloat *
nd_denoise_scale_pilot (const NdDenoiseScale *self, gint64 position)
{
  return scale_volume (self, self->pilots, self->n_pilots, position);
}

gfloat *
nd_denoise_scale_result (const NdDenoiseScale *self, gint64 position)
{
  return scale_volume (self, self->result, self->n_pilots, position);
}

/* The transform over time */

typedef struct
{
  NdDenoiseScale *scale;
  const gfloat *volumes[MAX_TIME]; /* NULL: volume of the border value */
  gfloat *out;
} TimeJob;

/* Writes the samples beyond both ends of a row. @constant: the border value. */
static void
extend_row (const NdDenoiseScale *self, gfloat *row, gfloat constant)
{
  const gint64 n = self->size[0];

  for (gint64 i = 0; i < REACH; i++) {
    gint64 left = nd_border_index (self->borders.border, i - REACH, n);
    gint64 right = nd_border_index (self->borders.border, n + i, n);

    row[i] = left < 0 ? constant : row[REACH + left];
    row[REACH + n + i] = right < 0 ? constant : row[REACH + right];
  }
}

/* Computes the coefficients over time of plane @z and of the samples beyond its
 * edges. */
static void
transform_plane (gsize z, guint worker, gpointer data)
{
  TimeJob *job = data;
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time;
  const gsize width = self->size[0], height = self->size[1];
  gfloat *plane = job->out + z * n_time * self->stride;

  for (gsize y = 0; y < height; y++) {
    const gfloat *in[MAX_TIME];
    gfloat *out[MAX_TIME];

    for (guint t = 0; t < n_time; t++) {
      in[t] = job->volumes[t] ? job->volumes[t] + (z * height + y) * width
                              : self->constant_row;
      out[t] = plane + t * self->stride + (y + REACH) * self->row + REACH;
    }
    self->kernels->time_forward (n_time, in, out, width);
    for (guint t = 0; t < n_time; t++)
      extend_row (self, out[t] - REACH, self->constant[t * self->stride]);
  }
  for (guint t = 0; t < n_time; t++) {
    gfloat *rows = plane + t * self->stride;

    for (gint64 i = 0; i < 2 * REACH; i++) {
      gint64 y = i < REACH ? i - REACH : (gint64) height + i - REACH;
      gint64 from = nd_border_index (self->borders.border, y, height);

      memcpy (rows + (y + REACH) * self->row,
          from < 0 ? self->constant + t * self->stride
                   : rows + (from + REACH) * self->row,
          self->row * sizeof (gfloat));
    }
  }
}

/* The volumes of the block at @first, as positions in a stream that has @known
 * volumes. */
static void
block_positions (const NdDenoiseScale *self, gint64 first, gint64 known,
    gint64 *positions)
{
  for (guint t = 0; t < self->schedule.n_time; t++)
    positions[t] =
        nd_border_index (self->borders.time_border, first + t, known);
}

static void
scale_transform (NdDenoiseScale *self, gfloat *ring, guint n,
    const gint64 *positions, gfloat *out)
{
  TimeJob job = { .scale = self, .out = out };

  for (guint t = 0; t < self->schedule.n_time; t++) {
    if (positions[t] >= 0)
      job.volumes[t] = scale_volume (self, ring, n, positions[t]);
  }
  nd_parallel_for (self->size[2], transform_plane, &job);
}

/* If stage 1 has transformed the same block, its coefficients are used
 * again. */
static void
transform_data (NdDenoiseScale *self, const gint64 *positions)
{
  const gsize bytes = self->schedule.n_time * sizeof (gint64);

  if (memcmp (self->data_from, positions, bytes) == 0)
    return;
  memcpy (self->data_from, positions, bytes);
  scale_transform (self, self->inputs, self->n_inputs, positions, self->data);
}

void
nd_denoise_scale_set_noise (NdDenoiseScale *self,
    const gfloat noise[ND_SHRINK_COEFFICIENTS])
{
  self->is_coloured = TRUE;
  memcpy (self->noise, noise, sizeof (self->noise));
  for (guint k = 0; k < ND_SHRINK_COEFFICIENTS; k++)
    self->powers[k] = powf (noise[k] / noise[0], 2);
}

/* Sets the levels for coefficients without norms (cpu/denoisekernels.h). */
static void
set_levels (NdDenoiseBlockJob *job, gdouble sigma)
{
  gdouble norm = job->scale->is_flat ? 1 / 4.0 : 1 / 8.0;
  const gdouble wiener =
      job->scale->schedule.n_time == 1 ? ND_SHRINK_WIENER : ND_DENOISE_WIENER;

  for (guint k = 0; k < ND_SHRINK_COEFFICIENTS; k++) {
    const guint odd = (k >> 4 & 1) + (k >> 2 & 1) + (k & 1);
    const gdouble noise =
        sigma * job->scale->noise[k] / (norm * pow (2 * ND_DCT_ODD, odd));

    job->levels[k] =
        job->stage == 1 ? ND_DENOISE_THRESHOLD * noise : wiener * noise * noise;
  }
  sigma *= job->scale->gain;
  for (guint odd = 0; odd < 4; odd++) {
    const gdouble noise = sigma / norm;

    job->level[odd] = job->stage == 1 ? ND_DENOISE_THRESHOLD * noise
                                      : ND_DENOISE_WIENER * noise * noise;
    norm *= 2 * ND_DCT_ODD;
  }
}

/* Adds the block at @first to volumes @from to @to, the last volume of the
 * block that the stream has. Volume @from is then complete, and its result is
 * written to job->out. */
static void
scale_run (NdDenoiseBlockJob *job, gint64 first, gint64 from, gint64 to)
{
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time, i = job->stage - 1;

  for (guint t = 0; t < n_time && !job->one; t++) {
    const gint64 position = first + t;

    if (position < MAX (from, 0) || position > to)
      continue;
    job->sums[t] = scale_volume (self, self->sums[i], n_time, position);
    job->weights[t] = scale_volume (self, self->weights[i], n_time, position);
  }
  if (from < 0) {
    job->out = NULL;
  } else {
    job->complete_sum = scale_volume (self, self->sums[i], n_time, from);
    job->complete_weight = scale_volume (self, self->weights[i], n_time, from);
  }
  nd_denoise_scale_compute_blocks (job);
}

/* Adds the block at @first to the pilots (in stage 2 the results) of its
 * volumes, as far as the stream has them. */
static void
refine_volumes (NdDenoiseBlockJob *job, gint64 first, gint64 known)
{
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time, i = job->stage - 1;

  for (guint t = 0; t < n_time; t++) {
    const gint64 position = first + t;

    if (position < 0 || position >= known)
      continue;
    job->is_new[t] = position >= self->begun[i];
    job->means[t] = scale_volume (self, self->sums[i], n_time, position);
    job->mean_weights[t] =
        scale_volume (self, self->weights[i], n_time, position);
    job->pilots[t] = i == 0 ? nd_denoise_scale_pilot (self, position)
                            : nd_denoise_scale_result (self, position);
  }
  self->begun[i] = MAX (self->begun[i], first + n_time);
  nd_denoise_scale_compute_blocks (job);
}

void
nd_denoise_scale_stage1 (NdDenoiseScale *self, gint64 step, gint64 known,
    gfloat sigma)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 first = step - schedule->n_time + 1;
  const gint64 pilot = step - schedule->pilot_latency;
  gint64 positions[MAX_TIME];
  NdDenoiseBlockJob job = {
    .scale = self,
    .stage = 1,
    .one = schedule->pilot_latency == 0 && !schedule->n_blocks,
    .slice = schedule->n_time - 1,
  };

  block_positions (self, first, known, positions);
  transform_data (self, positions);
  set_levels (&job, sigma);
  if (schedule->n_blocks) {
    refine_volumes (&job, first, known);
    return;
  }
  if (pilot >= 0)
    job.out = nd_denoise_scale_pilot (self, pilot);
  scale_run (&job, first, pilot, MIN (step, known - 1));
}

/* Computes the result of volume @position from all its blocks. */
static gfloat *
compute_result (NdDenoiseScale *self, gint64 position, gint64 known,
    gfloat sigma)
{
  const guint n_time = self->schedule.n_time, n = self->schedule.n_blocks;
  NdDenoiseBlockJob job = {
    .scale = self, .stage = 2, .one = TRUE, .out = self->result
  };

  set_levels (&job, sigma);
  job.is_first = TRUE;
  for (guint i = 0; i < n; i++) {
    const gint64 first = position - n_time + 1 + i;
    gint64 positions[MAX_TIME];

    if (!nd_denoise_block_counts (&self->schedule, first, known))
      continue;
    block_positions (self, first, known, positions);
    transform_data (self, positions);
    scale_transform (self, self->pilots, self->n_pilots, positions,
        self->pilot);
    job.slice = n_time - 1 - i;
    job.is_last = i == n - 1
        || !nd_denoise_block_counts (&self->schedule, first + 1, known);
    nd_denoise_scale_compute_blocks (&job);
    job.is_first = FALSE;
  }
  return self->result;
}

gfloat *
nd_denoise_scale_stage2 (NdDenoiseScale *self, gint64 step, gint64 known,
    gfloat sigma)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 last = schedule->motion ? step : step - schedule->pilot_latency;
  const gint64 first = last - schedule->n_time + 1;
  gint64 positions[MAX_TIME];
  NdDenoiseBlockJob job = {
    .scale = self,
    .stage = 2,
    .one = schedule->latency == schedule->pilot_latency && !schedule->motion,
    .slice = schedule->n_time - 1,
    .out = self->result,
  };

  if (schedule->n_blocks && !schedule->motion)
    return step < schedule->latency
        ? NULL
        : compute_result (self, step - schedule->latency, known, sigma);
  block_positions (self, first, known, positions);
  transform_data (self, positions);
  scale_transform (self, self->pilots, self->n_pilots, positions, self->pilot);
  set_levels (&job, sigma);
  if (schedule->motion) {
    refine_volumes (&job, first, known);
    return NULL;
  }
  scale_run (&job, first, step - schedule->latency, MIN (last, known - 1));
  return job.out;
}
