/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisescale.h"

#include "engine/threads.h"

#include <math.h>
#include <string.h>

/* The samples of a block beyond an edge. */
#define REACH 3
#define MIN_ROW 16
/* The planes (for frames, the rows) whose blocks one task computes. */
#define SLAB_PLANES 8
#define SLAB_ROWS 32
#define MAX_TIME ND_DENOISE_MAX_TIME

/* The blocks at positions from (z, y) on, and their sums, which extend into the
 * next slab. */
typedef struct
{
  gsize z, n_z, y, n_y;
  gsize n, length; /* as in NdDenoisePlane */
  gint32 *mask;
  guint8 *partial;
  gfloat *sums;    /* planes of n_sums * length */
  gfloat *weights; /* planes of length */
} Slab;

struct _NdDenoiseScale
{
  const NdDenoiseKernels *kernels;
  NdDenoiseSchedule schedule;
  NdDenoiseBorders borders;
  gsize size[3], samples;
  gboolean is_flat; /* one plane */
  gdouble gain;     /* of the noise, because of short axes */

  guint n_inputs, n_pilots;
  gfloat *inputs, *pilots; /* n_inputs, n_pilots volumes */
  /* n_time volumes each, of stages 1 and 2. With n_blocks those of stage 1 are
   * weighted means, and stage 2 has one volume. */
  gfloat *sums[2], *weights[2];
  gfloat *result;

  gsize row, stride;    /* floats of a row, of a padded plane */
  gfloat *data, *pilot; /* coefficients over time, padded planes */
  gfloat *constant;     /* coefficients of a plane of the border value */
  gfloat *constant_row;
  gint64 data_from[MAX_TIME]; /* the volumes that `data` was computed from */

  Slab *slabs;
  guint n_slabs;
  gfloat *scratch; /* of each worker */
  gsize scratch_floats;
};

static gboolean
multiply (gsize *product, gsize factor)
{
  return !__builtin_mul_overflow (*product, factor, product);
}

gsize
nd_denoise_scale_bytes (const gsize size[3], const NdDenoiseSchedule *schedule)
{
  gsize floats = 1;
  /* Rings and sums of both stages, padded coefficients, and slabs. */
  const gsize volumes =
      12 * schedule->n_time + 16 + (schedule->n_blocks ? schedule->latency : 0);

  for (guint a = 0; a < 3; a++) {
    if (!multiply (&floats, size[a] + (size[2] == 1 && a == 2 ? 0 : 16)))
      return 0;
  }
  return multiply (&floats, volumes * sizeof (gfloat)) ? floats : 0;
}

static gfloat *
new_floats (gsize n)
{
  gfloat *floats = NULL;

  if (n > G_MAXSIZE / sizeof (gfloat)
      || posix_memalign ((gpointer *) &floats, 64, n * sizeof (gfloat)) != 0)
    return NULL;
  memset (floats, 0, n * sizeof (gfloat));
  return floats;
}

static gboolean
init_slab (NdDenoiseScale *self, Slab *slab, guint index)
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
  slab->mask = g_new0 (gint32, slab->n);
  slab->partial = g_new0 (guint8, slab->n / 4);
  for (gsize i = 0; i < slab->n; i++) {
    if (i / self->row < slab->n_y && i % self->row < n_x)
      slab->mask[i] = -1;
    else
      slab->partial[i / 4] = TRUE;
  }
  return TRUE;
}

static gboolean
init_slabs (NdDenoiseScale *self)
{
  const gsize n = self->is_flat ? (self->size[1] + REACH) / SLAB_ROWS
                                : (self->size[2] + REACH) / SLAB_PLANES;
  gsize scratch = 0;

  self->n_slabs = MAX (1, n);
  self->slabs = g_new0 (Slab, self->n_slabs);
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
  self->result = new_floats (self->samples);
  self->data = new_floats (planes + room);
  self->pilot = new_floats (planes + room);
  self->constant = new_floats (n_time * self->stride + room);
  self->constant_row = new_floats (self->size[0]);
  for (guint i = 0; i < 2; i++) {
    const guint n = i == 1 && schedule->n_blocks ? 1 : n_time;

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
  if (!init_volumes (self) || !init_slabs (self)) {
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
volume (const NdDenoiseScale *self, gfloat *ring, guint n, gint64 position)
{
  return ring + position % n * self->samples;
}

gfloat *
nd_denoise_scale_input (const NdDenoiseScale *self, gint64 position)
{
  return volume (self, self->inputs, self->n_inputs, position);
}

gfloat *
nd_denoise_scale_pilot (const NdDenoiseScale *self, gint64 position)
{
  return volume (self, self->pilots, self->n_pilots, position);
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
transform (NdDenoiseScale *self, gfloat *ring, guint n, const gint64 *positions,
    gfloat *out)
{
  TimeJob job = { .scale = self, .out = out };

  for (guint t = 0; t < self->schedule.n_time; t++) {
    if (positions[t] >= 0)
      job.volumes[t] = volume (self, ring, n, positions[t]);
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
  transform (self, self->inputs, self->n_inputs, positions, self->data);
}

/* Blocks */

typedef struct
{
  NdDenoiseScale *scale;
  guint stage;
  gboolean one; /* one volume of the blocks: number `slice` */
  guint slice;
  gfloat level[4];

  /* The sums of each volume of the block; NULL if the volume is not needed. */
  gfloat *sums[MAX_TIME], *weights[MAX_TIME];
  /* The sums of the volume that is complete, and its result. */
  const gfloat *complete_sum, *complete_weight;
  gfloat *out; /* or NULL */

  /* With n_blocks: the means and the pilots of stage 1, and whether the blocks
   * are the first or the last of a result in stage 2. */
  gfloat *means[MAX_TIME], *mean_weights[MAX_TIME], *pilots[MAX_TIME];
  gboolean is_first, is_last;
} BlockJob;

static const gfloat *
coefficients_of_plane (const NdDenoiseScale *self, const gfloat *planes,
    gint64 z)
{
  gint64 from = nd_border_index (self->borders.border, z, self->size[2]);

  return from < 0 ? self->constant
                  : planes + from * self->schedule.n_time * self->stride;
}

/* The factors of the coefficients over time in volume @t of a block. */
static void
get_slice (guint n_time, guint t, gfloat *slice)
{
  for (guint k = 0; k < n_time; k++)
    slice[k] = sqrt ((k ? 2.0 : 1.0) / n_time)
        * cos (k * (2 * t + 1) * G_PI / (2 * n_time));
}

static void
compute_slab (gsize index, guint worker, gpointer data)
{
  BlockJob *job = data;
  NdDenoiseScale *self = job->scale;
  const NdDenoiseKernels *kernels = self->kernels;
  const guint n_time = self->schedule.n_time;
  const guint n_sums = job->one ? 1 : n_time;
  const guint n_planes = self->is_flat ? 1 : 4;
  Slab *slab = &self->slabs[index];
  NdDenoisePlane plane = {
    .row = self->row,
    .n = slab->n,
    .length = slab->length,
    .n_z = n_planes,
    .n_time = n_time,
    .mask = slab->mask,
    .partial = slab->partial,
    .stride = self->stride,
    .sum_stride = slab->length,
    .scratch = self->scratch + worker * self->scratch_floats,
  };

  memcpy (plane.level, job->level, sizeof (plane.level));
  get_slice (n_time, job->slice, plane.slice);
  memset (slab->sums, 0,
      (n_planes - 1) * n_sums * slab->length * sizeof (gfloat));
  memset (slab->weights, 0, (n_planes - 1) * slab->length * sizeof (gfloat));
  for (gsize z = 0; z < slab->n_z; z++) {
    for (guint i = 0; i < n_planes; i++) {
      const gint64 from =
          self->is_flat ? 0 : (gint64) (slab->z + z + i) - REACH;

      plane.data[i] =
          coefficients_of_plane (self, self->data, from) + slab->y * self->row;
      plane.pilot[i] =
          coefficients_of_plane (self, self->pilot, from) + slab->y * self->row;
      plane.sum[i] = slab->sums + (z + i) * n_sums * slab->length;
      plane.weights[i] = slab->weights + (z + i) * slab->length;
    }
    if (job->stage == 1)
      (job->one ? kernels->threshold_one : kernels->threshold_all) (&plane);
    else
      (job->one ? kernels->wiener_one : kernels->wiener_all) (&plane);
  }
}

/* Row @y of plane @z of the sums of all slabs for coefficient @c or, if c is
 * n_sums, of the weights. @row is memory for a row to which two slabs
 * contribute. */
static const gfloat *
sum_row (const BlockJob *job, gsize z, gsize y, guint c, gfloat *row)
{
  const NdDenoiseScale *self = job->scale;
  const guint n_sums = job->one ? 1 : self->schedule.n_time;
  const gfloat *parts[2] = { NULL, NULL };
  guint n = 0;

  y += REACH;
  if (!self->is_flat)
    z += REACH;
  for (guint i = 0; i < self->n_slabs && n < 2; i++) {
    const Slab *slab = &self->slabs[i];
    gsize at;

    if (z < slab->z || z >= slab->z + slab->n_z + (self->is_flat ? 0 : REACH)
        || y < slab->y || y >= slab->y + slab->n_y + REACH)
      continue;
    at = (y - slab->y) * self->row + REACH;
    if (c == n_sums)
      parts[n++] = slab->weights + (z - slab->z) * slab->length + at;
    else
      parts[n++] =
          slab->sums + ((z - slab->z) * n_sums + c) * slab->length + at;
  }
  if (n < 2)
    return parts[0];
  self->kernels->add (parts[0], parts[1], row, self->size[0]);
  return row;
}

/* Adds a row of each volume of the blocks, which starts at sample @at, to the
 * means, and copies these to the pilots. */
static void
refine_rows (const BlockJob *job, const gfloat *const *in,
    const gfloat *in_weights, gfloat gain, gsize at, gfloat *rows)
{
  const NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time;
  const gsize width = self->size[0], bytes = width * sizeof (gfloat);
  gfloat *sums[MAX_TIME], *weights[MAX_TIME];

  memset (rows, 0, 2 * n_time * bytes);
  for (guint t = 0; t < n_time; t++) {
    sums[t] = rows + 2 * t * width;
    weights[t] = rows + (2 * t + 1) * width;
  }
  self->kernels->time_inverse (n_time, in, in_weights, gain, sums, weights,
      width);
  for (guint t = 0; t < n_time; t++) {
    if (!job->means[t])
      continue;
    /* The blocks are the first ones of their last volume. */
    if (t == n_time - 1) {
      memset (job->means[t] + at, 0, bytes);
      memset (job->mean_weights[t] + at, 0, bytes);
    }
    self->kernels->refine (sums[t], weights[t], job->means[t] + at,
        job->mean_weights[t] + at, width);
    memcpy (job->pilots[t] + at, job->means[t] + at, bytes);
  }
}

/* Adds a row of one volume of the blocks to its sums. */
static void
accumulate_row (const BlockJob *job, const gfloat *sum, const gfloat *weight,
    gfloat gain, gsize at)
{
  const NdDenoiseScale *self = job->scale;
  const gsize width = self->size[0];
  gfloat *to = self->sums[1] + at, *to_weight = self->weights[1] + at;

  if (job->is_first) {
    memcpy (to, sum, width * sizeof (gfloat));
    memcpy (to_weight, weight, width * sizeof (gfloat));
  } else {
    self->kernels->accumulate (sum, to, width);
    self->kernels->accumulate (weight, to_weight, width);
  }
  if (job->is_last)
    self->kernels->divide (to, to_weight, gain, job->out + at, width);
}

static void
finish_plane (gsize z, guint worker, gpointer data)
{
  BlockJob *job = data;
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time;
  const gfloat gain = self->is_flat ? 1 / 16.f : 1 / 64.f;
  const gsize width = self->size[0];
  g_autofree gfloat *rows = g_new (gfloat, (3 * n_time + 1) * width);

  for (gsize y = 0; y < self->size[1]; y++) {
    const gsize at = (z * self->size[1] + y) * width;
    const gfloat *in[MAX_TIME], *weights;
    gfloat *sums[MAX_TIME] = { NULL }, *sum_weights[MAX_TIME] = { NULL };

    if (job->one) {
      in[0] = sum_row (job, z, y, 0, rows);
      weights = sum_row (job, z, y, 1, rows + width);
      if (self->schedule.n_blocks)
        accumulate_row (job, in[0], weights, gain, at);
      else
        self->kernels->divide (in[0], weights, gain, job->out + at, width);
      continue;
    }
    for (guint t = 0; t < n_time; t++) {
      in[t] = sum_row (job, z, y, t, rows + t * width);
      if (job->sums[t]) {
        sums[t] = job->sums[t] + at;
        sum_weights[t] = job->weights[t] + at;
      }
    }
    weights = sum_row (job, z, y, n_time, rows + n_time * width);
    if (self->schedule.n_blocks) {
      refine_rows (job, in, weights, gain, at, rows + (n_time + 1) * width);
      continue;
    }
    self->kernels->time_inverse (n_time, in, weights, gain, sums, sum_weights,
        width);
    if (job->out)
      self->kernels->divide (job->complete_sum + at, job->complete_weight + at,
          1, job->out + at, width);
  }
}

/* Sets the levels for coefficients without norms (cpu/denoisekernels.h). */
static void
set_levels (BlockJob *job, gdouble sigma)
{
  gdouble norm = job->scale->is_flat ? 1 / 4.0 : 1 / 8.0;

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
run (BlockJob *job, gint64 first, gint64 from, gint64 to)
{
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time, i = job->stage - 1;

  for (guint t = 0; t < n_time && !job->one; t++) {
    const gint64 position = first + t;

    if (position < MAX (from, 0) || position > to)
      continue;
    job->sums[t] = volume (self, self->sums[i], n_time, position);
    job->weights[t] = volume (self, self->weights[i], n_time, position);
  }
  if (from < 0) {
    job->out = NULL;
  } else {
    job->complete_sum = volume (self, self->sums[i], n_time, from);
    job->complete_weight = volume (self, self->weights[i], n_time, from);
  }
  nd_parallel_for (self->n_slabs, compute_slab, job);
  nd_parallel_for (self->size[2], finish_plane, job);
}

/* Adds the block at @first to the pilots of its volumes, as far as the stream
 * has them. */
static void
refine_pilots (BlockJob *job, gint64 first, gint64 known)
{
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time;

  for (guint t = 0; t < n_time; t++) {
    const gint64 position = first + t;

    if (position < 0 || position >= known)
      continue;
    job->means[t] = volume (self, self->sums[0], n_time, position);
    job->mean_weights[t] = volume (self, self->weights[0], n_time, position);
    job->pilots[t] = nd_denoise_scale_pilot (self, position);
  }
  nd_parallel_for (self->n_slabs, compute_slab, job);
  nd_parallel_for (self->size[2], finish_plane, job);
}

void
nd_denoise_scale_stage1 (NdDenoiseScale *self, gint64 step, gint64 known,
    gfloat sigma)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 first = step - schedule->n_time + 1;
  const gint64 pilot = step - schedule->pilot_latency;
  gint64 positions[MAX_TIME];
  BlockJob job = {
    .scale = self,
    .stage = 1,
    .one = schedule->pilot_latency == 0 && !schedule->n_blocks,
    .slice = schedule->n_time - 1,
  };

  block_positions (self, first, known, positions);
  transform_data (self, positions);
  set_levels (&job, sigma);
  if (schedule->n_blocks) {
    refine_pilots (&job, first, known);
    return;
  }
  if (pilot >= 0)
    job.out = nd_denoise_scale_pilot (self, pilot);
  run (&job, first, pilot, MIN (step, known - 1));
}

/* Computes the result of volume @position from all its blocks. */
static gfloat *
compute_result (NdDenoiseScale *self, gint64 position, gint64 known,
    gfloat sigma)
{
  const guint n_time = self->schedule.n_time, n = self->schedule.n_blocks;
  BlockJob job = {
    .scale = self, .stage = 2, .one = TRUE, .out = self->result
  };

  set_levels (&job, sigma);
  for (guint i = 0; i < n; i++) {
    gint64 positions[MAX_TIME];

    block_positions (self, position - n_time + 1 + i, known, positions);
    transform_data (self, positions);
    transform (self, self->pilots, self->n_pilots, positions, self->pilot);
    job.slice = n_time - 1 - i;
    job.is_first = i == 0;
    job.is_last = i == n - 1;
    nd_parallel_for (self->n_slabs, compute_slab, &job);
    nd_parallel_for (self->size[2], finish_plane, &job);
  }
  return self->result;
}

gfloat *
nd_denoise_scale_stage2 (NdDenoiseScale *self, gint64 step, gint64 known,
    gfloat sigma)
{
  const NdDenoiseSchedule *schedule = &self->schedule;
  const gint64 last = step - schedule->pilot_latency;
  const gint64 first = last - schedule->n_time + 1;
  gint64 positions[MAX_TIME];
  BlockJob job = {
    .scale = self,
    .stage = 2,
    .one = schedule->latency == schedule->pilot_latency,
    .slice = schedule->n_time - 1,
    .out = self->result,
  };

  if (schedule->n_blocks)
    return step < schedule->latency
        ? NULL
        : compute_result (self, step - schedule->latency, known, sigma);
  block_positions (self, first, known, positions);
  transform_data (self, positions);
  transform (self, self->pilots, self->n_pilots, positions, self->pilot);
  set_levels (&job, sigma);
  run (&job, first, step - schedule->latency, MIN (last, known - 1));
  return job.out;
}
