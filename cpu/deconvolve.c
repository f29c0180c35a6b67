/* Deconvolution on the CPU: two convolvers, and passes over samples
 * (analysis/deconvolve.h has the formulas).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/denoisesamples.h"
#include "engine/convolver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Samples, and rows, of one task. Sums of tasks are added in their order, so
 * that results do not depend on the number of threads. */
#define CHUNK 8192
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
  gsize samples, n_chunks, bytes;

  NdConvolver *blur, *mirrored;
  gfloat *data; /* all components of the volume */
  gfloat *estimate, *ratio, *factor;
  gfloat *rows; /* 3 for each thread */
  Sums *sums;   /* of each chunk */

  gboolean pushed;
  NdDeconvolution last;

  /* Of the component that is computed. */
  const gfloat *d;
  gfloat floor, start;
  gdouble mean;
} NdCpuDeconvolve;

static void
nd_cpu_deconvolve_free (NdAlgorithm *algorithm)
{
  NdCpuDeconvolve *self = (NdCpuDeconvolve *) algorithm;

  g_clear_pointer (&self->blur, nd_convolver_free);
  g_clear_pointer (&self->mirrored, nd_convolver_free);
  g_free (self->data);
  g_free (self->estimate);
  g_free (self->ratio);
  g_free (self->factor);
  g_free (self->rows);
  g_free (self->sums);
  g_free (self);
}

static void
nd_cpu_deconvolve_reset (NdAlgorithm *algorithm)
{
  NdCpuDeconvolve *self = (NdCpuDeconvolve *) algorithm;

  nd_convolver_reset (self->blur);
  nd_convolver_reset (self->mirrored);
  self->pushed = FALSE;
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

/* Passes over the samples */

static gsize
chunk_end (const NdCpuDeconvolve *self, gsize chunk)
{
  return MIN ((chunk + 1) * CHUNK, self->samples);
}

static void
sum_chunk (gsize chunk, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  Sums sums = { 0 };

  for (gsize i = chunk * CHUNK; i < chunk_end (self, chunk); i++) {
    const gdouble value = self->d[i] > 0 ? self->d[i] : 0;

    if (!isfinite (self->d[i]))
      continue;
    sums.sum += value;
    sums.squares += value * value;
    sums.valid++;
  }
  self->sums[chunk] = sums;
}

static void
start_chunk (gsize chunk, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;

  for (gsize i = chunk * CHUNK; i < chunk_end (self, chunk); i++)
    self->estimate[i] = self->start;
}

/* From c to r, and the squares of d - c. */
static void
divide_chunk (gsize chunk, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize from = chunk * CHUNK, n = chunk_end (self, chunk) - from;
  const gfloat *restrict d = self->d + from;
  gfloat *restrict c = self->ratio + from;
  const gfloat floor = self->floor;
  gdouble squares = 0;

  for (gsize i = 0; i < n; i++) {
    const gboolean valid = fabsf (d[i]) <= FLT_MAX;
    const gfloat value = d[i] > 0 ? d[i] : 0;
    const gdouble left = valid ? (gdouble) value - c[i] : 0;

    squares += left * left;
    c[i] = valid ? value / (c[i] > floor ? c[i] : floor) : 1;
  }
  self->sums[chunk].squares = squares;
}

static void
multiply_chunk (gsize chunk, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize from = chunk * CHUNK, n = chunk_end (self, chunk) - from;
  const gfloat *restrict factor = self->factor + from;
  gfloat *restrict estimate = self->estimate + from;

  /* Rounding makes small factors negative. */
  for (gsize i = 0; i < n; i++)
    estimate[i] *= factor[i] > 0 ? factor[i] : 0;
}

/* The row (y, z) of e, and the next ones along y and z; at the end of an axis
 * that is the row itself, so that differences are 0. */
typedef struct
{
  const gfloat *at, *y, *z;
} Row;

static Row
find_row (const NdCpuDeconvolve *self, gsize y, gsize z)
{
  const gsize *size = self->shape.size;
  const gfloat *at = self->estimate + (z * size[1] + y) * size[0];

  return (Row){ at, y + 1 < size[1] ? at + size[0] : at,
    z + 1 < size[2] ? at + size[0] * size[1] : at };
}

/* mean / |grad e| of a row. */
static void
invert_gradients (const NdCpuDeconvolve *self, Row row, gfloat *restrict out)
{
  const gsize n = self->shape.size[0];
  const gfloat scale = 1 / self->mean;
  const gfloat edge = ND_DECONVOLVE_EDGE * ND_DECONVOLVE_EDGE;

  for (gsize x = 0; x + 1 < n; x++) {
    const gfloat e = row.at[x], gx = scale * (row.at[x + 1] - e);
    const gfloat gy = scale * (row.y[x] - e), gz = scale * (row.z[x] - e);

    out[x] = scale / sqrtf (gx * gx + gy * gy + gz * gz + edge);
  }
  if (n > 0) {
    const gfloat e = row.at[n - 1];
    const gfloat gy = scale * (row.y[n - 1] - e);
    const gfloat gz = scale * (row.z[n - 1] - e);

    out[n - 1] = scale / sqrtf (gy * gy + gz * gz + edge);
  }
}

/* Divides the factors of row (y, z) by 1 - tv div (grad e / |grad e|). */
static void
divide_row (const NdCpuDeconvolve *self, gsize y, gsize z, gfloat *scratch)
{
  const gsize n = self->shape.size[0];
  const gfloat tv = self->options.settings.tv;
  const Row row = find_row (self, y, z);
  const Row above = find_row (self, y > 0 ? y - 1 : 0, z);
  const Row before = find_row (self, y, z > 0 ? z - 1 : 0);
  const gfloat *e = row.at;
  gfloat *own = scratch, *up = own + n, *back = up + n;
  gfloat *factor = self->factor + (row.at - self->estimate);

  invert_gradients (self, row, own);
  invert_gradients (self, above, up);
  invert_gradients (self, before, back);
  for (gsize x = 0; x < n; x++) {
    gfloat sum = (row.y[x] - e[x] + row.z[x] - e[x]) * own[x];

    /* In the first row these differences are 0. */
    sum -= (e[x] - above.at[x]) * up[x] + (e[x] - before.at[x]) * back[x];
    if (x + 1 < n)
      sum += (e[x + 1] - e[x]) * own[x];
    if (x > 0)
      sum -= (e[x] - e[x - 1]) * own[x - 1];
    factor[x] /= 1 - tv * sum;
  }
}

static void
divide_rows (gsize task, guint worker, gpointer data)
{
  const NdCpuDeconvolve *self = data;
  const gsize height = self->shape.size[1];
  const gsize end = MIN ((task + 1) * ROWS, height * self->shape.size[2]);

  for (gsize i = task * ROWS; i < end; i++)
    divide_row (self, i % height, i / height,
        self->rows + (gsize) worker * 3 * self->shape.size[0]);
}

/* Iterations */

static Sums
add_sums (const NdCpuDeconvolve *self)
{
  Sums all = { 0 };

  for (gsize i = 0; i < self->n_chunks; i++) {
    all.sum += self->sums[i].sum;
    all.squares += self->sums[i].squares;
    all.valid += self->sums[i].valid;
  }
  return all;
}

static gboolean
deconvolve_filter (const NdCpuDeconvolve *self, NdConvolver *convolver,
    gfloat *from, gfloat *to, GError **error)
{
  const NdShape shape = { .components = 1,
    .size = { self->shape.size[0], self->shape.size[1], self->shape.size[2] } };
  const NdSamples in[ND_MAX_PLANES] = { nd_samples_dense (from, &shape,
      ND_FLOAT32) };
  const NdSamples out[ND_MAX_PLANES] = { nd_samples_dense (to, &shape,
      ND_FLOAT32) };
  const NdScale scale[ND_MAX_PLANES] = { { 1, 0, NULL } };

  if (!nd_convolver_push (convolver, in, error)
      || !nd_convolver_respond (convolver, scale, out, error))
    return FALSE;
  if (!nd_threads_cancelled ())
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_CANCELLED,
      "The computation was cancelled: start it again");
  return FALSE;
}

static gboolean
iterate (NdCpuDeconvolve *self, gdouble all, NdDeconvolution *done,
    GError **error)
{
  const NdDeconvolveSettings *settings = &self->options.settings;
  const gsize rows = self->shape.size[1] * self->shape.size[2];
  gdouble before = 0;

  for (guint i = 0; i < settings->iterations; i++) {
    if (!deconvolve_filter (self, self->blur, self->estimate, self->ratio,
            error))
      return FALSE;
    nd_parallel_for (self->n_chunks, divide_chunk, self);
    done->residue = sqrt (add_sums (self).squares / all);
    if (nd_deconvolve_is_done (settings, i, before, done->residue))
      break;
    before = done->residue;
    if (!deconvolve_filter (self, self->mirrored, self->ratio, self->factor,
            error))
      return FALSE;
    if (settings->tv > 0)
      nd_parallel_for ((rows + ROWS - 1) / ROWS, divide_rows, self);
    nd_parallel_for (self->n_chunks, multiply_chunk, self);
    done->iterations++;
  }
  return TRUE;
}

/* Deconvolves component @c into the estimate. */
static gboolean
deconvolve_component (NdCpuDeconvolve *self, gsize c, GError **error)
{
  NdDeconvolution done = { 0 };
  gboolean ok = TRUE;
  Sums all;

  self->d = self->data + c * self->samples;
  nd_parallel_for (self->n_chunks, sum_chunk, self);
  all = add_sums (self);
  self->mean = all.valid > 0 ? all.sum / all.valid : 0;
  self->start = self->mean;
  self->floor = MAX (ND_DECONVOLVE_FLOOR * self->mean, FLT_MIN);
  nd_parallel_for (self->n_chunks, start_chunk, self);
  if (self->mean >= FLT_MIN)
    ok = iterate (self, all.squares, &done, error);
  self->last.residue = MAX (self->last.residue, done.residue);
  self->last.iterations = MAX (self->last.iterations, done.iterations);
  return ok;
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

  return self->bytes + nd_convolver_bytes (self->blur)
      + nd_convolver_bytes (self->mirrored);
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

/* A convolver of one component with @filter, which it takes. */
static NdConvolver *
make_convolver (const NdCpuDeconvolve *self, NdFilter *filter, gdouble border,
    GError **error)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  NdConvolverSettings settings = {
    .n_planes = 1,
    .time_border = ND_BORDER_NEAREST,
    .backend = "cpu",
    .device_id = -1,
    .in_place = TRUE,
    .waits = TRUE,
    .method = ND_METHOD_AUTO,
  };

  g_ptr_array_add (filters, filter);
  bank = nd_bank_new (filters);
  settings.jobs[0] = (NdJob){
    .shape = self->shape,
    .in_type = ND_FLOAT32,
    .out_type = ND_FLOAT32,
    .border = self->options.border,
    .border_value = border,
    .precision = ND_PRECISION_SINGLE,
    .bank = bank,
    .response = ND_RESPONSE_ALL,
    .n_threads = nd_threads (),
  };
  settings.jobs[0].shape.components = 1;
  return nd_convolver_new (&settings, error);
}

static gboolean
make_convolvers (NdCpuDeconvolve *self, const NdBank *psf, GError **error)
{
  const gdouble value = MAX (self->options.border_value, 0);
  NdFilter *h, *mirrored;

  if (!nd_deconvolve_filters (psf, &h, &mirrored, error))
    return FALSE;
  self->blur = make_convolver (self, h, value, error);
  if (!self->blur) {
    nd_filter_free (mirrored);
    return FALSE;
  }
  self->mirrored = make_convolver (self, mirrored, value > 0, error);
  return self->mirrored != NULL;
}

static gboolean
deconvolve_allocate (NdCpuDeconvolve *self, GError **error)
{
  const gsize volume = self->samples;

  self->n_chunks = volume / CHUNK + (volume % CHUNK > 0);
  self->bytes =
      nd_size_mul (volume, self->shape.components + 3, sizeof (gfloat));
  if (!nd_memory_check (self->bytes, error))
    return FALSE;
  self->data = g_try_new (gfloat, volume * self->shape.components);
  self->estimate = g_try_new (gfloat, volume);
  self->ratio = g_try_new (gfloat, volume);
  self->factor = g_try_new (gfloat, volume);
  self->rows =
      g_try_new (gfloat, (gsize) nd_threads () * 3 * self->shape.size[0]);
  self->sums = g_try_new0 (Sums, self->n_chunks);
  if (self->data && self->estimate && self->ratio && self->factor && self->rows
      && self->sums)
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

  self->parent.klass = &deconvolve_class;
  self->options = *options;
  self->shape = *shape;
  self->type = type;
  self->kept = kept;
  self->samples = shape->size[0] * shape->size[1] * shape->size[2];
  if (make_convolvers (self, psf, error) && deconvolve_allocate (self, error))
    return &self->parent;
  nd_cpu_deconvolve_free (&self->parent);
  return NULL;
}
