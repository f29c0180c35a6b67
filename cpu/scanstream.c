/* Scan conversion of a stream. The table of the samples that each output is
 * made of is computed once. A volume is converted to floats when it is pushed;
 * behind them lie border values, which outputs outside of the input read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/beamkernels.h"
#include "cpu/kernels.h"

#include <math.h>
#include <string.h>

/* Outputs of a row from @first on, @n of them, are in the table; the others are
 * outside. */
typedef struct
{
  gsize first, n;
} Run;

typedef struct
{
  NdAlgorithm parent;
  const NdScan *scan; /* while the table is made */
  NdShape in, out;
  NdSampleType type;
  gfloat border_value;
  gboolean is_cubic;

  gsize size[3];  /* of the floats, with a sample around for cubic */
  gsize pitch[3]; /* floats from one to the next along each axis */
  gint32 strides[3];
  gsize floats; /* of a component, with the border values */
  gsize outside;
  gfloat *volume; /* one component after the other */

  gint32 *at;
  guint16 *shares; /* of x, then y, then z */
  Run *runs;
  gsize samples; /* of the table */
  gfloat *rows;  /* one for each thread */
  gsize row_floats;
  gsize bytes;
  gboolean pushed;
} NdCpuScan;

/* Table */

/* Samples before the first one of an axis. */
static gsize
pad_of (const NdCpuScan *self, guint axis)
{
  return self->is_cubic && (axis == 0 || self->in.size[axis] > 1) ? 1 : 0;
}

/* Writes the entry of output sample @to. FALSE if it is outside. */
static gboolean
find_entry (const NdCpuScan *self, const gsize at[3], gsize to)
{
  gdouble index[3];
  gsize offset = 0;

  if (!nd_scan_index (self->scan, at, index)) {
    self->at[to] = self->outside;
    return FALSE;
  }
  for (guint a = 0; a < 3; a++) {
    const gsize size = self->in.size[a];
    gsize below = size > 1 ? MIN ((gsize) index[a], size - 2) : 0;
    guint share = size > 1 ? (index[a] - below) * ND_SCAN_SHARE + 0.5 : 0;

    /* The kernels leave out what has a share of 0. */
    if (share == ND_SCAN_SHARE) {
      below++;
      share = 0;
    }
    self->shares[a * (self->samples + ND_BEAM_ROOM) + to] = share;
    offset += (below + pad_of (self, a)) * self->pitch[a];
  }
  self->at[to] = offset;
  return TRUE;
}

static void
find_row (gsize row, guint worker, gpointer data)
{
  const NdCpuScan *self = data;
  const gsize n = self->out.size[0];
  Run run = { n, 0 };

  for (gsize x = 0; x < n; x++) {
    const gsize at[3] = { x, row % self->out.size[1], row / self->out.size[1] };

    if (!find_entry (self, at, row * n + x))
      continue;
    run.first = MIN (run.first, x);
    run.n = x + 1 - run.first;
  }
  self->runs[row] = run;
}

/* Volumes */

/* Samples that are read from one on, along x. */
#define NEIGHBOURS 3

/* Rows of a task. */
#define ROWS 16

typedef struct ScanJob
{
  NdCpuScan *self;
  const NdSamples *samples;
  const NdKernels *kernels;
  const NdBeamKernels *beam_kernels;
  gsize n_rows;
  void (*row) (const struct ScanJob *job, gsize row, guint worker);
} ScanJob;

static void
push_row (const ScanJob *job, gsize row, guint worker)
{
  NdCpuScan *self = job->self;
  const gsize width = nd_sample_size (self->type), n = self->in.size[0];
  const gsize pad = self->is_cubic ? 1 : 0;
  const guint8 *in = job->samples->data;
  gsize place[2] = { row % self->size[1], row / self->size[1] };

  for (guint a = 0; a < 2; a++) {
    if (self->is_cubic && self->in.size[a + 1] > 1)
      place[a] =
          CLAMP ((gint64) place[a] - 1, 0, (gint64) self->in.size[a + 1] - 1);
  }
  in += place[0] * job->samples->row + place[1] * job->samples->slice;
  for (gsize c = 0; c < self->in.components; c++) {
    gfloat *out = self->volume + c * self->floats
        + row % self->size[1] * self->pitch[1]
        + row / self->size[1] * self->pitch[2];

    job->kernels->load (in + c * width, job->samples->sample / width, n,
        self->type, out + pad);
    if (pad) {
      out[0] = out[1];
      out[n + 1] = out[n];
    }
    for (gsize x = n; n == 1 && x < NEIGHBOURS; x++)
      out[pad + x] = out[pad];
  }
}

static void
respond_row (const ScanJob *job, gsize row, guint worker)
{
  static const NdScale scale = { .gain = 1 };
  const NdCpuScan *self = job->self;
  const Run *run = &self->runs[row];
  const gsize n = self->out.size[0], first = row * n + run->first;
  gfloat *values = self->rows + worker * self->row_floats;
  guint8 *out = job->samples->data + row % self->out.size[1] * job->samples->row
      + row / self->out.size[1] * job->samples->slice;

  for (gsize c = 0; c < self->out.components; c++) {
    NdScanRow part = { .n = run->n,
      .volume = self->volume + c * self->floats,
      .at = self->at + first };

    for (guint a = 0; a < 3; a++) {
      part.shares[a] =
          self->shares + a * (self->samples + ND_BEAM_ROOM) + first;
      part.strides[a] = self->strides[a];
    }
    (self->is_cubic
            ? job->beam_kernels->scan_cubic
            : job->beam_kernels->scan_linear) (&part, values + run->first);
    for (gsize x = 0; x < run->first; x++)
      values[x] = self->border_value;
    for (gsize x = run->first + run->n; x < n; x++)
      values[x] = self->border_value;
    job->kernels->store (values, n, &scale, self->type,
        out + c * nd_sample_size (self->type), job->samples->sample);
  }
}

static void
do_rows (gsize task, guint worker, gpointer data)
{
  const ScanJob *job = data;
  const gsize end = MIN ((task + 1) * ROWS, job->n_rows);

  for (gsize row = task * ROWS; row < end; row++)
    job->row (job, row, worker);
}

static void
do_all_rows (NdCpuScan *self, const NdSamples *samples, gsize n_rows,
    void (*row) (const ScanJob *job, gsize row, guint worker))
{
  ScanJob job = { self, samples, nd_kernels (), nd_beam_kernels (), n_rows,
    row };

  nd_parallel_for ((n_rows + ROWS - 1) / ROWS, do_rows, &job);
}

static gboolean
nd_cpu_scan_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuScan *self = (NdCpuScan *) algorithm;

  do_all_rows (self, volume, self->size[1] * self->size[2], push_row);
  self->pushed = TRUE;
  return TRUE;
}

static gboolean
nd_cpu_scan_ready (const NdAlgorithm *algorithm)
{
  return ((const NdCpuScan *) algorithm)->pushed;
}

static gboolean
nd_cpu_scan_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuScan *self = (NdCpuScan *) algorithm;

  if (out)
    do_all_rows (self, out, self->out.size[1] * self->out.size[2], respond_row);
  self->pushed = FALSE;
  return TRUE;
}

/* No output waits for a later volume. */
static void
nd_cpu_scan_end (NdAlgorithm *algorithm)
{
}

static void
nd_cpu_scan_reset (NdAlgorithm *algorithm)
{
  ((NdCpuScan *) algorithm)->pushed = FALSE;
}

static void
nd_cpu_scan_free (NdAlgorithm *algorithm)
{
  NdCpuScan *self = (NdCpuScan *) algorithm;

  g_free (self->volume);
  g_free (self->at);
  g_free (self->shares);
  g_free (self->runs);
  g_free (self->rows);
  g_free (self);
}

static gsize
nd_cpu_scan_bytes (const NdAlgorithm *algorithm)
{
  return ((const NdCpuScan *) algorithm)->bytes;
}

static const NdAlgorithmClass scan_class = {
  .backend = "cpu",
  .push = nd_cpu_scan_push,
  .ready = nd_cpu_scan_ready,
  .respond = nd_cpu_scan_respond,
  .end = nd_cpu_scan_end,
  .reset = nd_cpu_scan_reset,
  .free = nd_cpu_scan_free,
  .bytes = nd_cpu_scan_bytes,
};

/* Floats of a cache line. */
#define LINE 16

/* An odd number of cache lines, so that neighbours of many rows lie in
 * different sets of a cache. */
static gsize
odd_lines (gsize floats)
{
  return ((floats + LINE - 1) / LINE | 1) * LINE;
}

/* Sets sizes and strides. FALSE if offsets would exceed 31 bits. */
static gboolean
lay_out (NdCpuScan *self)
{
  gsize reach = 0, all;

  for (guint a = 0; a < 3; a++)
    self->size[a] = self->in.size[a] + 2 * pad_of (self, a);
  if (nd_size_mul (self->size[0], self->size[1], self->size[2])
      > G_MAXINT32 / 32)
    return FALSE;
  self->pitch[0] = 1;
  self->pitch[1] = odd_lines (self->size[0]);
  self->pitch[2] = odd_lines (self->pitch[1] * self->size[1]);
  all = self->pitch[2] * self->size[2];
  for (guint a = 0; a < 3; a++) {
    self->strides[a] = a == 0 || self->in.size[a] > 1 ? self->pitch[a] : 0;
    reach += self->strides[a];
  }
  self->outside = all + reach;
  self->floats = self->outside + 2 * reach + ND_BEAM_ROOM;
  return self->floats < G_MAXINT32;
}

static gboolean
scan_allocate (NdCpuScan *self)
{
  const gsize rows = self->out.size[1] * self->out.size[2];
  const gsize volume = nd_size_mul (self->floats, self->in.components, 4);
  const gsize table = self->samples + ND_BEAM_ROOM;

  self->row_floats = self->out.size[0] + ND_BEAM_ROOM;
  self->bytes = volume + table * 10 + rows * sizeof (Run)
      + nd_threads () * self->row_floats * sizeof (gfloat);
  if (volume >= G_MAXSIZE / 2 || !nd_memory_check (self->bytes, NULL))
    return FALSE;
  self->volume = g_try_malloc (volume);
  /* Vectors read entries beyond the end of a run. */
  self->at = g_try_malloc0 (table * sizeof (gint32));
  self->shares = g_try_malloc0 (3 * table * sizeof (guint16));
  self->runs = g_try_new (Run, rows);
  self->rows = g_try_new (gfloat, nd_threads () * self->row_floats);
  return self->volume && self->at && self->shares && self->runs && self->rows;
}

NdAlgorithm *
nd_cpu_scan_new (const NdScan *scan, NdSampleType type, gint device_id,
    GError **error)
{
  NdCpuScan *self = g_new0 (NdCpuScan, 1);

  self->parent.klass = &scan_class;
  self->scan = scan;
  self->in = scan->in;
  self->out = scan->out;
  self->type = type;
  self->border_value = scan->settings.border_value;
  self->is_cubic = scan->settings.interpolation == ND_INTERPOLATION_CUBIC;
  self->samples =
      nd_size_mul (scan->out.size[0], scan->out.size[1], scan->out.size[2]);
  if (!lay_out (self)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The volume has too many samples to be converted, %" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ": use smaller ones",
        self->in.size[0], self->in.size[1], self->in.size[2]);
    nd_cpu_scan_free (&self->parent);
    return NULL;
  }
  if (!scan_allocate (self)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to convert %" G_GSIZE_FORMAT
        " samples: set a larger spacing or a smaller size",
        self->samples);
    nd_cpu_scan_free (&self->parent);
    return NULL;
  }
  for (gsize i = 0; i < ND_BEAM_ROOM; i++)
    self->at[self->samples + i] = self->outside;
  for (gsize c = 0; c < self->in.components; c++)
    for (gsize i = 0; i < self->floats; i++)
      self->volume[c * self->floats + i] = self->border_value;
  nd_parallel_for (self->out.size[1] * self->out.size[2], find_row, self);
  self->scan = NULL;
  return &self->parent;
}
