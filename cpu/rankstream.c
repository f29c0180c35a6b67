/* Operations of one or two sorts of the volumes of a stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/rankpass.h"

#include <string.h>

typedef struct
{
  NdAlgorithm parent;
  NdRankPlan plan;
  NdShape shape;
  NdSampleType type;
  guint64 kept;
  gsize volume_bytes; /* dense */

  NdRankSorter *sorters[2];
  guint8 *between; /* an output of the first one */
  guint8 *inputs;  /* of a difference: the last n_inputs volumes */
  guint n_inputs;
  gint64 pushed, next;
  gboolean ended;
} NdCpuRank;

static void
nd_cpu_rank_free (NdAlgorithm *algorithm)
{
  NdCpuRank *self = (NdCpuRank *) algorithm;

  for (guint i = 0; i < G_N_ELEMENTS (self->sorters); i++)
    nd_rank_sorter_free (self->sorters[i]);
  g_free (self->between);
  g_free (self->inputs);
  g_free (self);
}

static void
nd_cpu_rank_reset (NdAlgorithm *algorithm)
{
  NdCpuRank *self = (NdCpuRank *) algorithm;

  self->pushed = self->next = 0;
  self->ended = FALSE;
  for (guint i = 0; i < self->plan.n_passes; i++)
    nd_window_reset (nd_rank_sorter_window (self->sorters[i]));
}

static NdWindow *
window_of (const NdCpuRank *self, guint i)
{
  return nd_rank_sorter_window (self->sorters[i]);
}

static gboolean
nd_cpu_rank_ready (const NdAlgorithm *algorithm)
{
  const NdCpuRank *self = (const NdCpuRank *) algorithm;
  gboolean ready = nd_window_ready (window_of (self, self->plan.n_passes - 1));

  if (self->plan.n_passes == 2 && !self->plan.chained)
    ready = ready && nd_window_ready (window_of (self, 0));
  return ready;
}

static NdSamples
between (const NdCpuRank *self)
{
  return nd_samples_dense (self->between, &self->shape, self->type);
}

/* Gives outputs of the first sort to the second one, until this can make an
 * output. */
static void
proceed (NdCpuRank *self)
{
  const NdSamples volume = between (self);

  if (!self->plan.chained)
    return;
  while (!nd_window_ready (window_of (self, 1))) {
    if (nd_window_ready (window_of (self, 0))) {
      nd_rank_sorter_respond (self->sorters[0], &volume);
      nd_rank_sorter_push (self->sorters[1], &volume);
    } else if (self->ended && !window_of (self, 1)->ended) {
      nd_window_end (window_of (self, 1));
    } else {
      return;
    }
  }
}

static void
nd_cpu_rank_end (NdAlgorithm *algorithm)
{
  NdCpuRank *self = (NdCpuRank *) algorithm;

  self->ended = TRUE;
  nd_window_end (window_of (self, 0));
  if (self->plan.n_passes == 2 && !self->plan.chained)
    nd_window_end (window_of (self, 1));
  proceed (self);
}

/* Differences */

typedef struct
{
  const NdCpuRank *self;
  NdSamples from, to;
  gboolean minus_from; /* to - from, otherwise from - to */
} RowJob;

static NdSamples
input_volume (const NdCpuRank *self, gint64 position)
{
  return nd_samples_dense (self->inputs
          + position % self->n_inputs * self->volume_bytes,
      &self->shape, self->type);
}

static void
locate_row (const RowJob *job, gsize index, const guint8 **from, guint8 **to)
{
  const gsize height = job->self->shape.size[1];

  *from = job->from.data + index % height * job->from.row
      + index / height * job->from.slice;
  *to = job->to.data + index % height * job->to.row
      + index / height * job->to.slice;
}

static void
copy_row (gsize index, guint worker, gpointer data)
{
  const RowJob *job = data;
  const NdShape *shape = &job->self->shape;
  const gsize bytes = shape->components * nd_sample_size (job->self->type);
  const guint8 *from;
  guint8 *to;

  locate_row (job, index, &from, &to);
  for (gsize x = 0; x < shape->size[0]; x++)
    memcpy (to + x * job->to.sample, from + x * job->from.sample, bytes);
}

#define SUBTRACT(type, Wide, low, high)                                       \
  for (gsize x = 0; x < n; x++) {                                             \
    type a, b;                                                                \
    Wide difference;                                                          \
                                                                              \
    memcpy (&a, to + x * job->to.sample, sizeof (a));                         \
    memcpy (&b, from + x * job->from.sample, sizeof (b));                     \
    difference = job->minus_from ? (Wide) a - (Wide) b : (Wide) b - (Wide) a; \
    a = CLAMP (difference, low, high);                                        \
    memcpy (to + x * job->to.sample, &a, sizeof (a));                         \
  }
#define SUBTRACT_FLOATS(type)                             \
  for (gsize x = 0; x < n; x++) {                         \
    type a, b;                                            \
                                                          \
    memcpy (&a, to + x * job->to.sample, sizeof (a));     \
    memcpy (&b, from + x * job->from.sample, sizeof (b)); \
    a = job->minus_from ? a - b : b - a;                  \
    memcpy (to + x * job->to.sample, &a, sizeof (a));     \
  }

static void
subtract_component (const RowJob *job, const guint8 *from, guint8 *to)
{
  const gsize n = job->self->shape.size[0];

  switch (job->self->type) {
    case ND_UINT8:
      SUBTRACT (guint8, gint, 0, G_MAXUINT8)
      break;
    case ND_INT16:
      SUBTRACT (gint16, gint, G_MININT16, G_MAXINT16)
      break;
    case ND_UINT16:
      SUBTRACT (guint16, gint, 0, G_MAXUINT16)
      break;
    case ND_FLOAT32:
      SUBTRACT_FLOATS (gfloat)
      break;
    default:
      SUBTRACT_FLOATS (gdouble)
  }
}

static void
subtract_row (gsize index, guint worker, gpointer data)
{
  const RowJob *job = data;
  const NdCpuRank *self = job->self;
  const guint8 *from;
  guint8 *to;

  locate_row (job, index, &from, &to);
  for (gsize c = 0; c < self->shape.components; c++) {
    const gsize offset = c * nd_sample_size (self->type);

    if (c >= 64 || !(self->kept >> c & 1))
      subtract_component (job, from + offset, to + offset);
  }
}

static void
for_rows (const RowJob *job, NdTask task)
{
  nd_parallel_for (job->self->shape.size[1] * job->self->shape.size[2], task,
      (gpointer) job);
}

/* Volumes and outputs */

static gboolean
nd_cpu_rank_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuRank *self = (NdCpuRank *) algorithm;

  g_return_val_if_fail (!nd_cpu_rank_ready (algorithm), FALSE);
  if (self->inputs) {
    const RowJob job = { self, *volume, input_volume (self, self->pushed) };

    for_rows (&job, copy_row);
  }
  nd_rank_sorter_push (self->sorters[0], volume);
  if (self->plan.n_passes == 2 && !self->plan.chained)
    nd_rank_sorter_push (self->sorters[1], volume);
  self->pushed++;
  proceed (self);
  return TRUE;
}

static gboolean
nd_cpu_rank_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuRank *self = (NdCpuRank *) algorithm;
  const NdSamples first = between (self);
  const gboolean parallel = self->plan.n_passes == 2 && !self->plan.chained;

  g_return_val_if_fail (nd_cpu_rank_ready (algorithm), FALSE);
  if (parallel)
    nd_rank_sorter_respond (self->sorters[0], out ? &first : NULL);
  nd_rank_sorter_respond (self->sorters[self->plan.n_passes - 1], out);
  if (out && self->plan.result != ND_RANK_LAST) {
    const RowJob job = { self,
      self->inputs ? input_volume (self, self->next) : first, *out,
      self->plan.result != ND_RANK_IN_MINUS };

    for_rows (&job, subtract_row);
  }
  self->next++;
  proceed (self);
  return TRUE;
}

static gsize
nd_cpu_rank_bytes (const NdAlgorithm *algorithm)
{
  const NdCpuRank *self = (const NdCpuRank *) algorithm;
  gsize bytes = (self->between ? 1 + self->n_inputs : self->n_inputs)
      * self->volume_bytes;

  for (guint i = 0; i < self->plan.n_passes; i++)
    bytes += nd_rank_sorter_bytes (self->sorters[i]);
  return bytes;
}

static const NdAlgorithmClass rank_class = {
  .backend = "cpu",
  .push = nd_cpu_rank_push,
  .ready = nd_cpu_rank_ready,
  .respond = nd_cpu_rank_respond,
  .end = nd_cpu_rank_end,
  .reset = nd_cpu_rank_reset,
  .free = nd_cpu_rank_free,
  .bytes = nd_cpu_rank_bytes,
};

static gboolean
rank_allocate (NdCpuRank *self, GError **error)
{
  const gboolean needs_input = self->plan.result == ND_RANK_IN_MINUS
      || self->plan.result == ND_RANK_MINUS_IN;
  gsize n, all = 0;

  if (!nd_shape_samples (&self->shape, &n)) {
    nd_memory_set_error (error, G_MAXSIZE);
    return FALSE;
  }
  self->volume_bytes = n * nd_sample_size (self->type);
  for (guint i = 0; needs_input && i < self->plan.n_passes; i++)
    self->n_inputs += nd_window_delay (window_of (self, i)) + (i == 0);
  n = nd_size_mul (self->volume_bytes, self->n_inputs, 1);
  if (self->plan.n_passes == 2
      && !g_size_checked_add (&all, all, self->volume_bytes))
    all = G_MAXSIZE;
  for (guint i = 0; i < self->plan.n_passes; i++)
    if (!g_size_checked_add (&all, all,
            nd_rank_sorter_bytes (self->sorters[i])))
      all = G_MAXSIZE;
  if (!g_size_checked_add (&all, all, n))
    all = G_MAXSIZE;
  if (!nd_memory_check (all, error))
    return FALSE;
  if (self->plan.n_passes == 2)
    self->between = g_try_malloc (self->volume_bytes);
  if (needs_input)
    self->inputs = g_try_malloc (n);
  if ((self->plan.n_passes == 1 || self->between)
      && (!needs_input || self->inputs))
    return TRUE;
  nd_memory_set_error (error, all);
  return FALSE;
}

static gboolean
make_sorter (NdCpuRank *self, guint i, const NdRankOptions *options,
    GError **error)
{
  const NdRankPass *pass = &self->plan.passes[i];
  const gint *low = options->footprint->low, *high = options->footprint->high;
  /* Two sorts side by side wait for each other. */
  const guint waits = self->plan.n_passes == 2 && !self->plan.chained
      ? high[ND_AXIS_T] - low[ND_AXIS_T]
      : 0;
  const NdRankSorterOptions sorter = { self->shape, self->type, options->border,
    options->time_border, options->border_value, self->kept, waits,
    i > 0 ? nd_rank_sorter_bytes (self->sorters[0]) : 0 };
  g_autoptr (NdFootprint) negated = nd_footprint_negate (options->footprint);
  g_autoptr (NdFootprint) footprint =
      negated && !pass->negated ? nd_footprint_negate (negated) : NULL;

  if (pass->negated)
    footprint = g_steal_pointer (&negated);
  if (!footprint) {
    nd_memory_set_error (error,
        options->footprint->n_runs * sizeof (NdRankRun));
    return FALSE;
  }
  self->sorters[i] = nd_rank_sorter_new (g_steal_pointer (&footprint),
      pass->rank, &sorter, error);
  return self->sorters[i] != NULL;
}

NdAlgorithm *
nd_cpu_rank_new (const NdRankOptions *options, const NdShape *shape,
    NdSampleType type, guint64 kept, gint device_id, GError **error)
{
  NdCpuRank *self = g_new0 (NdCpuRank, 1);

  self->parent.klass = &rank_class;
  self->plan = nd_rank_plan (options->operation, options->percentile,
      options->footprint->n);
  self->shape = *shape;
  self->type = type;
  self->kept = kept;
  for (guint i = 0; i < self->plan.n_passes; i++) {
    if (!make_sorter (self, i, options, error)) {
      nd_cpu_rank_free (&self->parent);
      return NULL;
    }
  }
  if (!rank_allocate (self, error)) {
    nd_cpu_rank_free (&self->parent);
    return NULL;
  }
  return &self->parent;
}
