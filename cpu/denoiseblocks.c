/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/denoisescaleprivate.h"

#include "core/threads.h"

#include <math.h>
#include <string.h>

#define REACH ND_DENOISE_REACH
#define MAX_TIME ND_DENOISE_MAX_TIME

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
  NdDenoiseBlockJob *job = data;
  NdDenoiseScale *self = job->scale;
  const NdDenoiseKernels *kernels = self->kernels;
  const guint n_time = self->schedule.n_time;
  const guint n_sums = job->one ? 1 : n_time;
  const guint n_planes = self->is_flat ? 1 : 4;
  NdDenoiseSlab *slab = &self->slabs[index];
  NdDenoisePlane plane = {
    .row = self->row,
    .n = slab->n,
    .length = slab->length,
    .n_z = n_planes,
    .n_time = n_time,
    .mask = slab->mask,
    .partial = slab->partial,
    .is_coloured = self->is_coloured,
    .levels = job->levels,
    .powers = self->powers,
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
sum_row (const NdDenoiseBlockJob *job, gsize z, gsize y, guint c, gfloat *row)
{
  const NdDenoiseScale *self = job->scale;
  const guint n_sums = job->one ? 1 : self->schedule.n_time;
  const gfloat *parts[2] = { NULL, NULL };
  guint n = 0;

  y += REACH;
  if (!self->is_flat)
    z += REACH;
  for (guint i = 0; i < self->n_slabs && n < 2; i++) {
    const NdDenoiseSlab *slab = &self->slabs[i];
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
refine_rows (const NdDenoiseBlockJob *job, const gfloat *const *in,
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
    if (job->is_new[t]) {
      memset (job->means[t] + at, 0, bytes);
      memset (job->mean_weights[t] + at, 0, bytes);
    }
    self->kernels->refine (sums[t], weights[t], job->means[t] + at,
        job->mean_weights[t] + at, width);
    memcpy (job->pilots[t] + at, job->means[t] + at, bytes);
  }
}

/* Adds a row of one volume of the blocks to its mean. */
static void
accumulate_row (const NdDenoiseBlockJob *job, const gfloat *sum,
    const gfloat *weight, gfloat gain, gsize at)
{
  const NdDenoiseScale *self = job->scale;
  const gsize width = self->size[0];
  gfloat *to = self->sums[1] + at, *to_weight = self->weights[1] + at;

  if (job->is_first) {
    memset (to, 0, width * sizeof (gfloat));
    memset (to_weight, 0, width * sizeof (gfloat));
  }
  self->kernels->refine (sum, weight, to, to_weight, width);
  for (gsize x = 0; job->is_last && x < width; x++)
    job->out[at + x] = gain * to[x];
}

static void
finish_plane (gsize z, guint worker, gpointer data)
{
  NdDenoiseBlockJob *job = data;
  NdDenoiseScale *self = job->scale;
  const guint n_time = self->schedule.n_time;
  const gfloat gain = self->is_flat ? 1 / 16.f : 1 / 64.f;
  const gsize width = self->size[0];
  gfloat *rows = self->scratch + worker * self->scratch_floats;

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

void
nd_denoise_scale_compute_blocks (NdDenoiseBlockJob *job)
{
  const NdDenoiseScale *self = job->scale;

  nd_parallel_for (self->n_slabs, compute_slab, job);
  nd_parallel_for (self->size[2], finish_plane, job);
}
