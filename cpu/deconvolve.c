/* Deconvolution on the CPU: convolutions by transforms, whose first and last
 * passes do the steps between them (analysis/deconvolve.h has the formulas).
 * Samples are divided by their mean, so that no sum is beyond the range of
 * floats.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/deconvolvekernels.h"
#include "cpu/denoisesamples.h"
#include "cpu/linefft.h"
#include "cpu/pad.h"
#include "cpu/transform.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rows of one task. Sums of rows are added in their order, so that results do
 * not depend on the number of threads. */
#define ROWS 16

typedef struct
{
  gdouble sum, squares;
  gsize valid;
} Sums;

typedef struct
{
  NdAlgorithm parent;
  NdDeconvolveOptions options;
  NdShape shape;
  NdSampleType type;
  guint64 kept;
  const NdDeconvolveKernels *kernels;
  gsize samples, n_rows, bytes;

  /* Sample i of an axis is number i modulo the size of the transform: samples
   * beyond the edges are after the last one. With zeros beyond the edges only
   * the samples are loaded. */
  NdTransform *transform;
  gsize used[3];    /* numbers that are loaded */
  gssize *index[3]; /* the sample of each; -1: the border value */
  gfloat *memory, *spectrum;

  gfloat *data; /* all components of the volume */
  gfloat *estimate, *scaled, *ratio;
  gfloat *scratch; /* 3 rows for each thread */
  Sums *sums;      /* of each row */

  gboolean pushed;
  NdDeconvolution last;

  /* Of the component that is computed. */
  gfloat *d;
  gdouble mean, squares;

  /* Of the convolution that is computed. */
  const gfloat *from;
  gfloat level, outside; /* @level is subtracted from what is loaded */
} NdCpuDeconvolve;

static void
nd_cpu_deconvolve_free (NdAlgorithm *algorithm)
{
  NdCpuDeconvolve *self = (NdCpuDeconvolve *) algorithm;

  g_clear_pointer (&self->transform, nd_transform_free);
  for (guint a = 0; a < 3; a++)
    g_free (self->index[a]);
  g_free (self->memory);
  g_free (self->data);
  g_free (self->estimate);
  g_free (self->scaled);
  g_free (self->ratio);
  g_free (self->scratch);
  g_free (self->sums);
  g_free (self);
}

static void
nd_cpu_deconvolve_reset (NdAlgorithm *algorithm)
{
  ((NdCpuDeconvolve *) algorithm)->pushed = FALSE;
}

static void
nd_cpu_deconvolve_end (NdAlgorithm *algorithm)
{
}

static gboolean
nd_cpu_deconvolve_ready (const NdAlgorithm *algorithm)
{
  return ((const NdCpuDeconvolve *) algorithm)->pushed;
}

static gboolean
nd_cpu_deconvolve_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuDeconvolve *self = (NdCpuDeconvolve *) algorithm;

  g_return_val_if_fail (!self->pushed, FALSE);
  for (gsize c = 0; c < self->shape.components; c++)
    nd_samples_read (volume, &self->shape, self->type, c,
        self->data + c * self->samples);
  self->pushed = TRUE;
  return TRUE;
}

/* Samples before the first iteration and after the last one */

static Sums
add_sums (const NdCpuDeconvolve *self)
{
  Sums all = { 0 };

  for (gsize i = 0; i < self->n_rows; i++) {
    all.sum += self->sums[i].sum;
    all.squares += self->sums[i].squares;
    all.valid += self->sums[i].valid;
  }
  return all;
}

static void
clean_row (gsize row, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0];
  gfloat *d = self->d + row * n;
  Sums sums = { 0 };

  for (gsize x = 0; x < n; x++) {
    if (!isfinite (d[x])) {
      d[x] = ND_DECONVOLVE_MISSING;
      continue;
    }
    d[x] = MAX (d[x], 0);
    sums.sum += d[x];
    sums.squares += (gdouble) d[x] * d[x];
    sums.valid++;
  }
  self->sums[row] = sums;
}

static void
start_row (gsize row, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0];
  gfloat *d = self->d + row * n, *e = self->estimate + row * n;

  for (gsize x = 0; x < n; x++) {
    d[x] = d[x] < 0 ? ND_DECONVOLVE_MISSING : d[x] / self->mean;
    e[x] = 1;
  }
}

static void
finish_row (gsize row, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0];
  gfloat *e = self->estimate + row * n;

  for (gsize x = 0; x < n; x++)
    e[x] = MIN (e[x] * self->mean, G_MAXFLOAT);
}

/* Convolutions */

static void
load_row (gsize y, gsize z, gfloat *row, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0];
  const gssize j = self->index[1][y], k = self->index[2][z];
  const gfloat level = self->level, beyond = self->outside - level;
  const gfloat *from;

  if (j < 0 || k < 0) {
    for (gsize x = 0; x < self->used[0]; x++)
      row[x] = beyond;
    return;
  }
  from = self->from + (k * self->shape.size[1] + j) * n;
  for (gsize x = 0; x < n; x++)
    row[x] = from[x] - level;
  for (gsize x = n; x < self->used[0]; x++) {
    const gssize i = self->index[0][x];

    row[x] = i < 0 ? beyond : from[i] - level;
  }
}

/* From c to r, and the squares of d - c. */
static void
take_ratio (gsize y, gsize z, gfloat *c, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0], row = z * self->shape.size[1] + y;

  self->sums[row] = (Sums){
    .squares = self->kernels->divide (c, self->d + row * n, n, self->level,
        ND_DECONVOLVE_FLOOR, self->ratio + row * n),
  };
}

/* Rounding makes small factors negative. */
static void
take_factor (gsize y, gsize z, gfloat *u, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0];
  const gsize at = (z * self->shape.size[1] + y) * n;
  const gfloat *old =
      self->options.settings.tv > 0 ? self->scaled : self->estimate;

  self->kernels->multiply (u, old + at, n, self->level, self->estimate + at);
}

static gboolean
deconvolve_filter (NdCpuDeconvolve *self, const gfloat *from, gfloat outside,
    gboolean mirrored, NdTakeRow take, GError **error)
{
  self->from = from;
  self->outside = outside;
  /* Both are near 1. Zeros beyond the edges are not loaded. */
  self->level = self->used[0] > self->shape.size[0] ? 1 : 0;
  nd_transform_convolve (self->transform, self->used, load_row, self->spectrum,
      mirrored, self->shape.size, take, self);
  if (!nd_threads_cancelled ())
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_CANCELLED,
      "The computation was cancelled: start it again");
  return FALSE;
}

/* Total variation */

static NdDeconvolveRow
find_row (const NdCpuDeconvolve *self, gsize y, gsize z)
{
  const gsize *size = self->shape.size;
  const gsize plane = size[0] * size[1];
  const gfloat *at = self->estimate + z * plane + y * size[0];

  return (NdDeconvolveRow){ at, y + 1 < size[1] ? at + size[0] : at,
    z + 1 < size[2] ? at + plane : at, y > 0 ? at - size[0] : at,
    z > 0 ? at - plane : at, size[0] };
}

static void
invert_gradients (const NdCpuDeconvolve *self, gsize y, gsize z, gfloat *out)
{
  const NdDeconvolveRow row = find_row (self, y, z);

  self->kernels->gradients (&row, ND_DECONVOLVE_EDGE * ND_DECONVOLVE_EDGE, out);
}

/* e / (1 - tv div (grad e / |grad e|)). */
static void
scale_rows (gsize task, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize n = self->shape.size[0], height = self->shape.size[1];
  const gsize first = task * ROWS, end = MIN (first + ROWS, self->n_rows);
  gfloat *own = self->scratch + (gsize) worker * 3 * n;
  gfloat *up = own + n, *back = up + n;

  for (gsize i = first; i < end; i++) {
    const gsize y = i % height, z = i / height;
    const NdDeconvolveRow row = find_row (self, y, z);
    gfloat *above = own;

    own = up;
    up = above;
    /* In the first row and plane the differences are 0. */
    if (i == first || y == 0)
      invert_gradients (self, y > 0 ? y - 1 : 0, z, up);
    invert_gradients (self, y, z, own);
    invert_gradients (self, y, z > 0 ? z - 1 : 0, back);
    self->kernels->scale (&row, self->options.settings.tv, own, up, back,
        self->scaled + i * n);
  }
}

/* Iterations */

static gboolean
iterate (NdCpuDeconvolve *self, NdDeconvolution *done, GError **error)
{
  const NdDeconvolveSettings *settings = &self->options.settings;
  const gdouble border = MAX (self->options.border_value, 0) / self->mean;
  gdouble before = 0;

  for (guint i = 0; i < settings->iterations; i++) {
    if (!deconvolve_filter (self, self->estimate, MIN (border, G_MAXFLOAT),
            FALSE, take_ratio, error))
      return FALSE;
    done->residue = sqrt (add_sums (self).squares / self->squares);
    if (nd_deconvolve_is_done (settings, i, before, done->residue))
      break;
    before = done->residue;
    if (settings->tv > 0)
      nd_parallel_for ((self->n_rows + ROWS - 1) / ROWS, scale_rows, self);
    if (!deconvolve_filter (self, self->ratio, border > 0, TRUE, take_factor,
            error))
      return FALSE;
    done->iterations++;
  }
  return TRUE;
}

/* Deconvolves component @c into the estimate. */
static gboolean
deconvolve_component (NdCpuDeconvolve *self, gsize c, GError **error)
{
  NdDeconvolution done = { 0 };
  Sums all;

  self->d = self->data + c * self->samples;
  nd_parallel_for (self->n_rows, clean_row, self);
  all = add_sums (self);
  self->mean = all.valid > 0 ? all.sum / all.valid : 0;
  if (!(self->mean > 0)) {
    memset (self->estimate, 0, self->samples * sizeof (gfloat));
    return TRUE;
  }
  self->squares = all.squares / (self->mean * self->mean);
  nd_parallel_for (self->n_rows, start_row, self);
  if (!iterate (self, &done, error))
    return FALSE;
  nd_parallel_for (self->n_rows, finish_row, self);
  self->last.residue = MAX (self->last.residue, done.residue);
  self->last.iterations = MAX (self->last.iterations, done.iterations);
  return TRUE;
}

static gboolean
nd_cpu_deconvolve_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuDeconvolve *self = (NdCpuDeconvolve *) algorithm;

  g_return_val_if_fail (self->pushed, FALSE);
  self->last = (NdDeconvolution){ 0 };
  for (gsize c = 0; out && c < self->shape.components; c++) {
    const gboolean kept = c < 64 && (self->kept >> c & 1);

    if (!kept && !deconvolve_component (self, c, error))
      return FALSE;
    nd_samples_write (out, &self->shape, self->type, c,
        kept ? self->data + c * self->samples : self->estimate, NULL);
  }
  self->pushed = FALSE;
  return TRUE;
}

static gsize
nd_cpu_deconvolve_bytes (const NdAlgorithm *algorithm)
{
  const NdCpuDeconvolve *self = (const NdCpuDeconvolve *) algorithm;

  return self->bytes + nd_transform_bytes (self->transform)
      + nd_transform_floats (self->transform) * sizeof (gfloat);
}

static void
nd_cpu_deconvolve_set (NdAlgorithm *algorithm,
    const NdDeconvolveSettings *settings)
{
  ((NdCpuDeconvolve *) algorithm)->options.settings = *settings;
}

static const NdDeconvolution *
nd_cpu_deconvolve_get (const NdAlgorithm *algorithm)
{
  return &((const NdCpuDeconvolve *) algorithm)->last;
}

static const NdAlgorithmClass deconvolve_class = {
  .backend = "cpu",
  .push = nd_cpu_deconvolve_push,
  .ready = nd_cpu_deconvolve_ready,
  .respond = nd_cpu_deconvolve_respond,
  .end = nd_cpu_deconvolve_end,
  .reset = nd_cpu_deconvolve_reset,
  .free = nd_cpu_deconvolve_free,
  .bytes = nd_cpu_deconvolve_bytes,
  .set_deconvolve = nd_cpu_deconvolve_set,
  .deconvolution = nd_cpu_deconvolve_get,
};

/* Set-up */

/* Output i reads samples i + @low to i + @high, with the mirrored filter
 * i - @high to i - @low. With zeros beyond the edges, those before the first
 * sample and those after the last one are the same numbers. */
static gboolean
init_axis (NdCpuDeconvolve *self, guint axis, gint low, gint high,
    gsize size[3], GError **error)
{
  const gboolean zeros = self->options.border == ND_BORDER_CONSTANT
      && !(self->options.border_value > 0);
  const gsize n = self->shape.size[axis], most = MAX (-low, high);

  size[axis] = nd_transform_size (n + most * (zeros ? 1 : 2), axis == 0);
  self->used[axis] = zeros ? n : size[axis];
  self->index[axis] =
      nd_memory_new (size[axis], sizeof (*self->index[axis]), error);
  if (!self->index[axis])
    return FALSE;
  for (gsize i = 0; i < size[axis]; i++)
    self->index[axis][i] = nd_border_index (self->options.border,
        i < n + most ? (gint64) i : (gint64) i - (gint64) size[axis], n);
  return TRUE;
}

typedef struct
{
  const NdFilter *psf;
  const gsize *size; /* of the transform */
  gdouble scale;
} PsfLoad;

/* The first coefficient of @axis that is number @i, and its number if it were
 * the last one: coefficient m reads sample k / 2 + origin - m. */
static gsize
first_coefficient (const PsfLoad *load, guint axis, gsize i)
{
  const gint64 n = load->size[axis];
  const gint64 shift =
      (gint64) (load->psf->size[axis] / 2) + load->psf->origin[axis];

  return (((gint64) i + shift) % n + n) % n;
}

/* Coefficients of a psf that is larger than the transform add up. */
static void
load_psf_row (gsize y, gsize z, gfloat *row, gpointer data)
{
  const PsfLoad *load = data;
  const gsize *size = load->size, *k = load->psf->size;

  for (gsize x = 0; x < size[0]; x++) {
    gdouble sum = 0;

    for (gsize c = first_coefficient (load, 2, z); c < k[2]; c += size[2])
      for (gsize b = first_coefficient (load, 1, y); b < k[1]; b += size[1])
        for (gsize a = first_coefficient (load, 0, x); a < k[0]; a += size[0])
          sum += load->psf->coefficients[(c * k[1] + b) * k[0] + a];
    row[x] = sum * load->scale;
  }
}

static gboolean
init_transform (NdCpuDeconvolve *self, const NdFilter *psf, GError **error)
{
  PsfLoad load = { .psf = psf };
  gint low[ND_AXES], high[ND_AXES];
  gsize size[3], floats;

  nd_filter_reach (psf, low, high);
  for (guint a = 0; a < 3; a++) {
    if (!init_axis (self, a, low[a], high[a], size, error))
      return FALSE;
  }
  self->transform = nd_transform_new (size, error);
  if (!self->transform)
    return FALSE;
  floats = nd_transform_floats (self->transform);
  self->memory = nd_floats_new (floats + ND_LINE_ALIGN, error);
  if (!self->memory)
    return FALSE;
  self->spectrum = (gfloat *) (((guintptr) self->memory + ND_LINE_ALIGN - 1)
      / ND_LINE_ALIGN * ND_LINE_ALIGN);
  load.size = size;
  load.scale = 1. / ((gdouble) size[0] * size[1] * size[2]);
  nd_transform_forward (self->transform, size, load_psf_row, &load,
      self->spectrum);
  return TRUE;
}

static gboolean
deconvolve_allocate (NdCpuDeconvolve *self, GError **error)
{
  const gsize volume = self->samples;

  self->bytes =
      nd_size_mul (volume, self->shape.components + 3, sizeof (gfloat));
  if (!nd_memory_check (self->bytes, error))
    return FALSE;
  self->data = g_try_new (gfloat, volume * self->shape.components);
  self->estimate = g_try_new (gfloat, volume);
  self->scaled = g_try_new (gfloat, volume);
  self->ratio = g_try_new (gfloat, volume);
  self->scratch =
      g_try_new (gfloat, (gsize) nd_threads () * 3 * self->shape.size[0]);
  self->sums = g_try_new0 (Sums, self->n_rows);
  if (self->data && self->estimate && self->scaled && self->ratio
      && self->scratch && self->sums)
    return TRUE;
  nd_memory_set_error (error, self->bytes);
  return FALSE;
}

NdAlgorithm *
nd_cpu_deconvolve_new (const NdDeconvolveOptions *options, const NdBank *psf,
    const NdShape *shape, NdSampleType type, guint64 kept, gint device_id,
    GError **error)
{
  NdCpuDeconvolve *self = g_new0 (NdCpuDeconvolve, 1);
  g_autoptr (NdFilter) h = NULL;

  self->parent.klass = &deconvolve_class;
  self->options = *options;
  self->shape = *shape;
  self->type = type;
  self->kept = kept;
  self->kernels = nd_deconvolve_kernels ();
  self->samples = shape->size[0] * shape->size[1] * shape->size[2];
  self->n_rows = shape->size[1] * shape->size[2];
  h = nd_deconvolve_psf (psf, error);
  if (h && deconvolve_allocate (self, error) && init_transform (self, h, error))
    return &self->parent;
  nd_cpu_deconvolve_free (&self->parent);
  return NULL;
}
