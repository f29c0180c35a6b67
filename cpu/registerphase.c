/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/registerphase.h"

#include "core/threads.h"
#include "cpu/registerwarp.h"

#include <math.h>
#include <string.h>

struct _NdRegisterPhase
{
  const NdRegisterPlan *plan;
  const NdRegisterPyramid *pyramid;
  gfloat taps[2][ND_PHASE_TAPS], across[ND_PHASE_TAPS];
  gfloat ones[2 * ND_PHASE_REACH + 1];
  gdouble offset;

  gfloat *reference[3][2]; /* responses: real and imaginary parts */
  gfloat *reference_w;     /* 0 near samples that are not measured, else 1 */
  gfloat *input;           /* the volume; NAN where it is not measured */
  gfloat *moved, *invalid; /* of @input moved, 0 instead of NAN; 1 there */
  gfloat *volume[2];       /* responses of @moved to one filter */
  gfloat *w;
  NdRegisterChunk *chunks;
};

/* Volumes that are allocated, two of them for each axis. */
#define N_PLANES 13

static gsize
count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

void
nd_register_phase_free (NdRegisterPhase *self)
{
  if (!self)
    return;
  for (guint i = 0; i < 2; i++) {
    for (guint a = 0; a < 3; a++)
      g_free (self->reference[a][i]);
    g_free (self->volume[i]);
  }
  g_free (self->reference_w);
  g_free (self->input);
  g_free (self->moved);
  g_free (self->invalid);
  g_free (self->w);
  g_free (self->chunks);
  g_free (self);
}

gsize
nd_register_phase_bytes (const NdRegisterPlan *plan)
{
  const gsize *size = plan->levels[0].size;
  gsize n = N_PLANES;

  for (guint a = 0; a < 3; a++)
    n -= size[a] == 1 ? 2 : 0;
  return n * (count (size) + ND_REGISTER_ROOM) * sizeof (gfloat);
}

NdRegisterPhase *
nd_register_phase_new (const NdRegisterPlan *plan,
    const NdRegisterPyramid *pyramid)
{
  NdRegisterPhase *self = g_new0 (NdRegisterPhase, 1);
  const gsize *size = plan->levels[0].size;
  const gsize n = count (size) + ND_REGISTER_ROOM;
  gfloat **planes[N_PLANES] = { &self->reference[0][0], &self->reference[0][1],
    &self->reference[1][0], &self->reference[1][1], &self->reference[2][0],
    &self->reference[2][1], &self->reference_w, &self->input, &self->moved,
    &self->invalid, &self->volume[0], &self->volume[1], &self->w };
  NdPhaseFilter filter;
  gboolean ok;

  self->plan = plan;
  self->pyramid = pyramid;
  nd_phase_filter_init (&filter);
  for (guint k = 0; k < ND_PHASE_TAPS; k++) {
    self->taps[0][k] = filter.real[k];
    self->taps[1][k] = filter.imaginary[k];
    self->across[k] = filter.across[k];
  }
  for (guint k = 0; k < G_N_ELEMENTS (self->ones); k++)
    self->ones[k] = 1;
  self->chunks = nd_register_chunks_new ();
  ok = self->chunks != NULL;
  for (guint p = 0; p < N_PLANES && ok; p++) {
    if (p < 6 && size[p / 2] == 1)
      continue;
    *planes[p] = g_try_new0 (gfloat, n);
    ok = *planes[p] != NULL;
  }
  if (ok)
    return self;
  nd_register_phase_free (self);
  return NULL;
}

/* Samples */

typedef struct
{
  NdRegisterPhase *self;
  const gfloat *samples;
  gfloat offset;
  gboolean moves; /* @samples are those of @self->moved, and only NAN counts */
  gint has_invalid; /* atomic */
} ReadJob;

/* Sets input, or moved and invalid, which are the same for a reference. */
static void
read_plane (gsize z, guint worker, gpointer data)
{
  ReadJob *job = data;
  NdRegisterPhase *self = job->self;
  const gsize *size = self->plan->levels[0].size;
  const gsize n = size[0] * size[1], first = z * n;
  const gboolean nonzero = !job->moves && self->plan->settings.nonzero;
  gsize n_invalid = 0;

  for (gsize i = first; i < first + n; i++) {
    const gfloat sample = job->samples[i];
    const gboolean valid = isfinite (sample) && !(nonzero && sample == 0);

    self->input[i] = job->moves ? self->input[i]
        : valid                 ? sample - job->offset
                                : NAN;
    self->moved[i] = valid ? sample - job->offset : 0;
    self->invalid[i] = !valid;
    n_invalid += !valid;
  }
  if (n_invalid > 0)
    g_atomic_int_set (&job->has_invalid, TRUE);
}

/* TRUE if there are samples that are not measured. */
static gboolean
read_samples (NdRegisterPhase *self, const gfloat *samples, gdouble offset)
{
  ReadJob job = { self, samples, offset, samples == self->moved };

  nd_parallel_for (self->plan->levels[0].size[2], read_plane, &job);
  return job.has_invalid;
}

/* Sets @out to the number of samples around each that are not measured. */
static void
spread_invalid (NdRegisterPhase *self, gboolean has_invalid, gfloat *out)
{
  const gsize *size = self->plan->levels[0].size;
  const gfloat *taps[3];

  if (!has_invalid) {
    memset (out, 0, count (size) * sizeof (gfloat));
    return;
  }
  for (guint a = 0; a < 3; a++)
    taps[a] = size[a] > 1 ? self->ones : NULL;
  nd_register_filter (self->pyramid, self->invalid, taps, ND_PHASE_REACH, out);
}

static void
filter_part (NdRegisterPhase *self, guint axis, guint part, gfloat *out)
{
  const gsize *size = self->plan->levels[0].size;
  const gfloat *taps[3];

  for (guint a = 0; a < 3; a++)
    taps[a] = size[a] == 1 ? NULL : a == axis ? self->taps[part] : self->across;
  nd_register_filter (self->pyramid, self->moved, taps, ND_PHASE_RADIUS, out);
}

void
nd_register_phase_set_reference (NdRegisterPhase *self, const gfloat *samples,
    gdouble offset)
{
  self->offset = offset;
  spread_invalid (self, read_samples (self, samples, offset),
      self->reference_w);
  for (guint a = 0; a < 3; a++) {
    for (guint part = 0; part < 2 && self->reference[a][0]; part++)
      filter_part (self, a, part, self->reference[a][part]);
  }
}

void
nd_register_phase_set_volume (NdRegisterPhase *self, const gfloat *samples)
{
  read_samples (self, samples, self->offset);
}

/* Sums */

typedef struct
{
  NdRegisterPhase *self;
  guint axis;
  gboolean is_first; /* filter */
} SumJob;

static void
sum_row (const SumJob *job, gsize chunk, gsize row)
{
  NdRegisterPhase *self = job->self;
  const NdRegisterPlan *plan = self->plan;
  const gsize *size = plan->levels[0].size;
  const gsize at[3] = { nd_phase_margin (plan, 0), row % size[1],
    row / size[1] };
  const gsize i = row * size[0] + at[0];
  gfloat moments[ND_REGISTER_ROW_MOMENTS] = { 0 };
  gfloat sums[ND_REGISTER_ROW_SUMS] = { 0 };
  gdouble first, step;
  NdPhaseRow in;

  for (guint a = 0; a < 3; a++) {
    const gsize margin = nd_phase_margin (plan, a);

    if (at[a] < margin || at[a] + margin >= size[a])
      return;
    in.strides[a] = size[a] == 1 ? 0
        : a == 0                 ? 1
        : a == 1                 ? size[0]
                                 : size[0] * size[1];
    in.scale[a] = 1 / plan->spacing[a];
  }
  in.n = size[0] - 2 * at[0];
  nd_register_unit (plan, 0, 0, &first, &step);
  in.u = first + step * at[0];
  in.u_step = step;
  in.w = self->w + i;
  for (guint part = 0; part < 2; part++) {
    in.reference[part] = self->reference[job->axis][part] + i;
    in.volume[part] = self->volume[part] + i;
  }
  nd_register_kernels ()->phase (&in, moments, sums);
  nd_register_chunk_add (self->chunks, chunk, plan, 0, row, moments, sums);
}

static void
sum_chunk (gsize index, guint worker, gpointer data)
{
  const SumJob *job = data;
  NdRegisterPhase *self = job->self;
  gsize first, end;

  if (job->is_first)
    nd_register_chunk_clear (self->chunks, index);
  nd_register_chunk_rows (&self->plan->levels[0], index, &first, &end);
  for (gsize row = first; row < end; row++)
    sum_row (job, index, row);
}

static void
weigh_plane (gsize z, guint worker, gpointer data)
{
  NdRegisterPhase *self = data;
  const gsize *size = self->plan->levels[0].size;
  const gsize n = size[0] * size[1];

  for (gsize i = z * n; i < (z + 1) * n; i++)
    self->w[i] = self->w[i] + self->reference_w[i] < .5f;
}

void
nd_register_phase_measure (gpointer data, guint level, const NdAffine *map,
    NdRegisterSums *sums)
{
  NdRegisterPhase *self = data;
  const gsize *size = self->plan->levels[0].size;
  SumJob job = { .self = self, .is_first = TRUE };

  nd_cpu_warp (size, self->input, map, ND_INTERPOLATION_CUBIC,
      ND_BORDER_CONSTANT, NAN, size, self->moved);
  spread_invalid (self, read_samples (self, self->moved, 0), self->w);
  nd_parallel_for (size[2], weigh_plane, self);
  for (job.axis = 0; job.axis < 3; job.axis++) {
    if (!self->reference[job.axis][0])
      continue;
    for (guint part = 0; part < 2; part++)
      filter_part (self, job.axis, part, self->volume[part]);
    nd_parallel_for (ND_REGISTER_CHUNKS, sum_chunk, &job);
    job.is_first = FALSE;
  }
  if (!job.is_first)
    nd_register_chunks_total (self->chunks, &self->plan->levels[0], 0, sums);
}
