/* A channel is a component of the tensor, or a moment of one. It is summed over
 * the window in space when a volume is pushed, and over the window in time when
 * an output is computed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const NdStructureWindow *window;
  const gfloat *in, *weights; /* weights of u = 0 at [0] */
  gfloat *out;
} AxisJob;

static void
sum_x (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gint64 n = job->window->size[0], radius = job->window->radius;
  const gfloat *in = job->in + row * n, *scale = job->window->scale[0];
  gfloat *out = job->out + row * n;

  memset (out, 0, n * sizeof (gfloat));
  for (gint64 u = -radius; u <= radius; u++) {
    const gfloat weight = job->weights[u];
    const gint64 end = MIN (n, n - u);

    for (gint64 x = MAX (0, -u); x < end; x++)
      out[x] += weight * in[x + u];
  }
  for (gint64 x = 0; x < n; x++)
    out[x] *= scale[x];
}

/* Sums rows that are @step rows apart. @index: the number of the output row
 * among @n. */
static void
structure_sum_rows (const AxisJob *job, gsize first, gsize step, gint64 n,
    gint64 index, const gfloat *scale)
{
  const gsize width = job->window->size[0];
  const gint64 radius = job->window->radius;
  gfloat *out = job->out + (first + index * step) * width;

  memset (out, 0, width * sizeof (gfloat));
  for (gint64 u = MAX (-radius, -index); u <= MIN (radius, n - 1 - index);
       u++) {
    const gfloat weight = job->weights[u] * scale[index];
    const gfloat *in = job->in + (first + (index + u) * step) * width;

    for (gsize x = 0; x < width; x++)
      out[x] += weight * in[x];
  }
}

static void
sum_y (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gsize n = job->window->size[1];

  structure_sum_rows (job, row / n * n, 1, n, row % n, job->window->scale[1]);
}

static void
sum_z (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gsize height = job->window->size[1];

  structure_sum_rows (job, row % height, height, job->window->size[2],
      row / height, job->window->scale[2]);
}

/* out[i] = sum over u of w(u) in[i + u] u_x^p[0] u_y^p[1] u_z^p[2], divided by
 * the sum of the weights inside the volume. @scratch is memory for two
 * volumes. */
static void
sum_window (const NdStructureWindow *window, const gfloat *in, const guint p[3],
    gfloat *scratch, gfloat *out)
{
  static const NdTask tasks[3] = { sum_x, sum_y, sum_z };
  const gsize rows = window->size[1] * window->size[2];
  const gsize n = 2 * window->radius + 1;
  const gfloat *from = in;

  for (guint a = 0; a < 3; a++) {
    AxisJob job = {
      .window = window,
      .in = from,
      .weights = window->weights + p[a] * n + window->radius,
      .out = a == 2 ? out : scratch + a * rows * window->size[0],
    };

    nd_parallel_for (rows, tasks[a], &job);
    from = job.out;
  }
}

#define MAX_CHANNELS (ND_MAX_MOMENTS + 1)

typedef struct
{
  NdAlgorithm parent;
  NdStructureSettings settings;
  NdShape shape;
  gsize samples;
  guint axes, components;
  gboolean has_velocity;
  NdMotionPlan plan;

  NdStructureWindow window;
  guint reach, n_slots;
  guint n_channels; /* components or moments, and the isotropic part */
  gfloat *ring;     /* n_slots volumes of n_channels planes */
  gfloat *input;    /* components, and the isotropic part, of one volume */
  gfloat *scratch;  /* memory for two volumes */
  gfloat *sums;     /* n_channels rows for each thread */
  gsize bytes;

  gint64 pushed, next;
  gboolean ended;
} NdCpuStructure;

static void
nd_cpu_structure_free (NdAlgorithm *algorithm)
{
  NdCpuStructure *self = (NdCpuStructure *) algorithm;

  nd_structure_window_clear (&self->window);
  g_free (self->ring);
  g_free (self->input);
  g_free (self->scratch);
  g_free (self->sums);
  g_free (self);
}

static void
nd_cpu_structure_reset (NdAlgorithm *algorithm)
{
  NdCpuStructure *self = (NdCpuStructure *) algorithm;

  self->pushed = self->next = 0;
  self->ended = FALSE;
}

static void
nd_cpu_structure_end (NdAlgorithm *algorithm)
{
  ((NdCpuStructure *) algorithm)->ended = TRUE;
}

static gboolean
nd_cpu_structure_ready (const NdAlgorithm *algorithm)
{
  const NdCpuStructure *self = (const NdCpuStructure *) algorithm;

  return self->next < self->pushed
      && (self->ended || self->pushed > self->next + self->reach);
}

/* Volumes in */

typedef struct
{
  NdCpuStructure *self;
  const NdSamples *volume;
} PushJob;

/* Separates the components of a plane, and finds the least eigenvalue if the
 * velocity needs it. */
static void
structure_read_plane (gsize z, guint worker, gpointer data)
{
  const PushJob *job = data;
  NdCpuStructure *self = job->self;
  const gsize *size = self->shape.size;

  for (gsize y = 0; y < size[1]; y++) {
    const guint8 *row =
        job->volume->data + y * job->volume->row + z * job->volume->slice;
    const gsize at = (z * size[1] + y) * size[0];

    for (gsize x = 0; x < size[0]; x++) {
      const gfloat *sample = (const gfloat *) (row + x * job->volume->sample);
      gdouble tensor[ND_TENSOR_MAX_COMPONENTS];
      gdouble values[ND_TENSOR_MAX_AXES];

      for (guint c = 0; c < self->components; c++) {
        tensor[c] = sample[c];
        self->input[c * self->samples + at + x] = sample[c];
      }
      if (!self->has_velocity)
        continue;
      if (!nd_tensor_eigen (self->axes, tensor, values, NULL))
        values[self->axes - 1] = NAN;
      self->input[self->components * self->samples + at + x] =
          values[self->axes - 1];
    }
  }
}

/* Subtracts the isotropic part from the tensors, for moments of higher
 * order. */
static void
remove_isotropic (NdCpuStructure *self)
{
  const gfloat *least = self->input + self->components * self->samples;

  for (guint a = 0; a < self->axes; a++) {
    gfloat *diagonal =
        self->input + nd_tensor_index (self->axes, a, a) * self->samples;

    for (gsize i = 0; i < self->samples; i++)
      diagonal[i] -= least[i];
  }
}

static gboolean
nd_cpu_structure_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuStructure *self = (NdCpuStructure *) algorithm;
  PushJob job = { self, volume };
  gfloat *slot = self->ring
      + self->pushed % self->n_slots * self->n_channels * self->samples;
  static const guint zero[3] = { 0, 0, 0 };

  g_return_val_if_fail (!nd_cpu_structure_ready (algorithm), FALSE);
  nd_parallel_for (self->shape.size[2], structure_read_plane, &job);
  if (self->has_velocity) {
    remove_isotropic (self);
    sum_window (&self->window, self->input + self->components * self->samples,
        zero, self->scratch, slot + (self->n_channels - 1) * self->samples);
  }
  for (guint m = 0; m < self->plan.n_moments; m++) {
    const NdMoment *moment = &self->plan.moments[m];

    sum_window (&self->window, self->input + moment->component * self->samples,
        moment->p, self->scratch, slot + m * self->samples);
  }
  self->pushed++;
  return TRUE;
}

/* Outputs */

typedef struct
{
  NdCpuStructure *self;
  const NdSamples *out;
  gint slots[2 * ND_STRUCTURE_MAX_TIME_REACH + 1];
} RespondJob;

/* Writes the output of one sample from its sums over the window. */
static void
write_sample (const NdCpuStructure *self, const gdouble *sums, gfloat *out)
{
  gdouble tensor[ND_TENSOR_MAX_COMPONENTS], values[ND_TENSOR_MAX_COMPONENTS];

  memcpy (tensor, sums, self->components * sizeof (gdouble));
  for (guint a = 0; self->has_velocity && a < self->axes; a++)
    tensor[nd_tensor_index (self->axes, a, a)] += sums[self->n_channels - 1];
  for (guint s = 0; s < self->settings.n_structures; s++) {
    const NdStructure structure = self->settings.structures[s];
    const guint n = nd_structure_components (structure, self->axes);

    if (structure == ND_STRUCTURE_VELOCITY) {
      nd_motion_solve (&self->plan, sums, values);
      for (guint a = 0; a + 1 < self->axes; a++)
        values[a] *= self->settings.speed[a];
    } else {
      nd_structure_from_tensor (structure, self->axes, tensor, values);
    }
    for (guint c = 0; c < n; c++)
      *out++ = values[c];
  }
}

static void
structure_write_row (gsize index, guint worker, gpointer data)
{
  const RespondJob *job = data;
  const NdCpuStructure *self = job->self;
  const gsize width = self->shape.size[0], height = self->shape.size[1];
  const gsize at = index * width;
  gfloat *rows = self->sums + worker * self->n_channels * width;
  guint8 *out = job->out->data + index % height * job->out->row
      + index / height * job->out->slice;

  for (guint c = 0; c < self->n_channels; c++) {
    gfloat *row = rows + c * width;

    memset (row, 0, width * sizeof (gfloat));
    for (guint i = 0; i <= 2 * self->reach; i++) {
      const gfloat weight = self->window.time[i];
      const gfloat *from = self->ring
          + ((gsize) job->slots[i] * self->n_channels + c) * self->samples + at;

      for (gsize x = 0; x < width; x++)
        row[x] += weight * from[x];
    }
  }
  for (gsize x = 0; x < width; x++) {
    gdouble sums[MAX_CHANNELS];

    for (guint c = 0; c < self->n_channels; c++)
      sums[c] = rows[c * width + x];
    write_sample (self, sums, (gfloat *) (out + x * job->out->sample));
  }
}

static gboolean
nd_cpu_structure_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuStructure *self = (NdCpuStructure *) algorithm;
  RespondJob job = { .self = self, .out = out };

  g_return_val_if_fail (nd_cpu_structure_ready (algorithm), FALSE);
  /* The first and the last volume replace those beyond the ends. */
  for (guint i = 0; i <= 2 * self->reach; i++)
    job.slots[i] =
        CLAMP (self->next + (gint64) i - self->reach, 0, self->pushed - 1)
        % self->n_slots;
  if (out)
    nd_parallel_for (self->shape.size[1] * self->shape.size[2],
        structure_write_row, &job);
  self->next++;
  return TRUE;
}

static gsize
nd_cpu_structure_bytes (const NdAlgorithm *algorithm)
{
  return ((const NdCpuStructure *) algorithm)->bytes;
}

static const NdAlgorithmClass structure_class = {
  .backend = "cpu",
  .push = nd_cpu_structure_push,
  .ready = nd_cpu_structure_ready,
  .respond = nd_cpu_structure_respond,
  .end = nd_cpu_structure_end,
  .reset = nd_cpu_structure_reset,
  .free = nd_cpu_structure_free,
  .bytes = nd_cpu_structure_bytes,
};

static gboolean
allocate (NdCpuStructure *self)
{
  const gsize volume = self->samples;
  const gsize more =
      nd_size_mul (volume, self->components + 3, sizeof (gfloat));
  gsize all;

  self->bytes = nd_size_mul (volume, (gsize) self->n_slots * self->n_channels,
      sizeof (gfloat));
  if (!g_size_checked_add (&all, self->bytes, more)
      || !nd_memory_check (all, NULL))
    return FALSE;
  self->ring = g_try_malloc (self->bytes);
  self->input = g_try_new (gfloat, (self->components + 1) * volume);
  self->scratch = g_try_new (gfloat, 2 * volume);
  self->sums = g_try_new (gfloat,
      (gsize) nd_threads () * self->n_channels * self->shape.size[0]);
  return self->ring && self->input && self->scratch && self->sums;
}

NdAlgorithm *
nd_cpu_structure_new (const NdStructureSettings *settings, const NdShape *shape,
    gint device_id, GError **error)
{
  NdCpuStructure *self = g_new0 (NdCpuStructure, 1);

  self->parent.klass = &structure_class;
  self->settings = *settings;
  self->shape = *shape;
  self->samples = shape->size[0] * shape->size[1] * shape->size[2];
  self->components = shape->components;
  self->axes = nd_tensor_axes (shape->components);
  self->has_velocity = nd_structure_has_velocity (settings);
  nd_motion_plan_init (&self->plan,
      self->has_velocity ? settings->model : ND_MOTION_CONSTANT, self->axes);
  self->n_channels = self->plan.n_moments + (self->has_velocity ? 1 : 0);
  self->reach = nd_structure_window_reach (settings->sigma);
  self->n_slots = 2 * self->reach + 1;
  if (!allocate (self)
      || !nd_structure_window_init (&self->window, settings->sigma,
          shape->size)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for %u volumes of tensors, about %" G_GSIZE_FORMAT
        " bytes: use a smaller sigma or smaller volumes",
        self->n_slots, self->bytes);
    nd_cpu_structure_free (&self->parent);
    return NULL;
  }
  return &self->parent;
}
