/* B-mode of a stream: lines are converted when a volume is pushed.
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

typedef struct
{
  NdAlgorithm parent;
  NdShape in, out;
  NdSampleType type, out_type;
  NdBmodeOutput output;
  gsize decimation;
  gboolean mixes, filters, hilbert;
  gfloat middle, white, scale; /* greys for a doubled power */

  gfloat taps[ND_BMODE_TAPS + ND_BEAM_ROOM];
  gfloat hilbert_taps[ND_BMODE_REACH];
  gfloat
      *tables;   /* for each sample: the mixer's re and im, offset and factor */
  gsize stride;  /* floats of one of them, and of a line of a thread */
  gfloat *lines; /* of each thread: input re, im, output re, im */
  gfloat *result; /* dense */
  gsize bytes;
  gboolean pushed;
} NdCpuBmode;

#define TABLES 4
#define LINES 4

/* Reads component @c of a line of the volume to @line, which has 0 at both
 * ends. */
static void
read_line (const NdCpuBmode *self, const guint8 *in, gsize sample, gsize c,
    gfloat *line)
{
  const gsize n = self->in.size[0], width = nd_sample_size (self->type);
  gfloat *out = line + ND_BMODE_REACH;

  memset (line, 0, self->stride * sizeof (gfloat));
  nd_kernels ()->load (in + c * width, sample / width, n, self->type, out);
  for (gsize i = 0; self->middle != 0 && i < n; i++)
    out[i] -= self->middle;
}

static void
mix_line (const NdCpuBmode *self, gfloat *re, gfloat *im)
{
  const gfloat *a = self->tables, *b = self->tables + self->stride;

  for (gsize i = 0; i < self->in.size[0]; i++) {
    const gfloat x = re[i], y = im[i];

    re[i] = x * a[i] - y * b[i];
    im[i] = x * b[i] + y * a[i];
  }
}

/* The complex signal of a line, from @in to @out. */
static void
find_signal (const NdCpuBmode *self, gfloat *const in[2], gfloat *out[2])
{
  const NdBeamKernels *kernels = nd_beam_kernels ();
  const gsize n = self->out.size[0];

  if (self->mixes)
    mix_line (self, in[0] + ND_BMODE_REACH, in[1] + ND_BMODE_REACH);
  if (!self->filters) {
    out[0] = in[0] + ND_BMODE_REACH;
    out[1] = in[1] + ND_BMODE_REACH;
  } else if (self->hilbert) {
    out[0] = in[0] + ND_BMODE_REACH;
    kernels->fir (in[0] + 1, 1, self->hilbert_taps, ND_BMODE_REACH, 2, n,
        out[1]);
  } else {
    for (guint i = 0; i < 2; i++)
      kernels->fir (in[i], self->decimation, self->taps, ND_BMODE_TAPS, 1, n,
          out[i]);
  }
}

static void
write_line (const NdCpuBmode *self, gfloat *const signal[2], gfloat *grey,
    gfloat *to)
{
  const gfloat *offset = self->tables + 2 * self->stride;
  const gfloat *factor = self->tables + 3 * self->stride;
  const gsize n = self->out.size[0];

  switch (self->output) {
    case ND_BMODE_GREY:
      nd_beam_kernels ()->compress (signal[0], signal[1], offset, self->scale,
          self->white, n, grey);
      memcpy (to, grey, n * sizeof (gfloat));
      break;
    case ND_BMODE_ENVELOPE:
      for (gsize i = 0; i < n; i++)
        to[i] = factor[i]
            * sqrtf (signal[0][i] * signal[0][i] + signal[1][i] * signal[1][i]);
      break;
    case ND_BMODE_IQ:
      for (gsize i = 0; i < n; i++) {
        to[2 * i] = factor[i] * signal[0][i];
        to[2 * i + 1] = factor[i] * signal[1][i];
      }
      break;
  }
}

typedef struct
{
  NdCpuBmode *self;
  const NdSamples *samples;
} BmodeJob;

static const guint8 *
line_of (const BmodeJob *job, gsize line)
{
  const gsize height = job->self->in.size[1];

  return job->samples->data + line % height * job->samples->row
      + line / height * job->samples->slice;
}

static void
push_line (gsize line, guint worker, gpointer data)
{
  const BmodeJob *job = data;
  NdCpuBmode *self = job->self;
  const guint8 *from = line_of (job, line);
  gfloat *scratch = self->lines + worker * LINES * self->stride;
  gfloat *in[2] = { scratch, scratch + self->stride };
  gfloat *out[2] = { in[1] + self->stride, in[1] + 2 * self->stride };
  gfloat *const grey = out[0];

  read_line (self, from, job->samples->sample, 0, in[0]);
  if (self->in.components == 2)
    read_line (self, from, job->samples->sample, 1, in[1]);
  else
    memset (in[1], 0, self->stride * sizeof (gfloat));
  find_signal (self, in, out);
  write_line (self, out, grey,
      self->result + line * self->out.size[0] * self->out.components);
}

static void
respond_line (gsize line, guint worker, gpointer data)
{
  static const NdScale scale = { .gain = 1 };
  const BmodeJob *job = data;
  const NdCpuBmode *self = job->self;
  const gsize n = self->out.size[0] * self->out.components;

  nd_kernels ()->store (self->result + line * n, n, &scale, self->out_type,
      (guint8 *) line_of (job, line), nd_sample_size (self->out_type));
}

static gboolean
nd_cpu_bmode_push (NdAlgorithm *algorithm, const NdSamples *volume,
    GError **error)
{
  NdCpuBmode *self = (NdCpuBmode *) algorithm;
  BmodeJob job = { self, volume };

  nd_parallel_for (self->in.size[1] * self->in.size[2], push_line, &job);
  self->pushed = TRUE;
  return TRUE;
}

static gboolean
nd_cpu_bmode_ready (const NdAlgorithm *algorithm)
{
  return ((const NdCpuBmode *) algorithm)->pushed;
}

static gboolean
nd_cpu_bmode_respond (NdAlgorithm *algorithm, const NdSamples *out,
    GError **error)
{
  NdCpuBmode *self = (NdCpuBmode *) algorithm;
  BmodeJob job = { self, out };

  if (out)
    nd_parallel_for (self->in.size[1] * self->in.size[2], respond_line, &job);
  self->pushed = FALSE;
  return TRUE;
}

/* No output waits for a later volume. */
static void
nd_cpu_bmode_end (NdAlgorithm *algorithm)
{
}

static void
nd_cpu_bmode_reset (NdAlgorithm *algorithm)
{
  ((NdCpuBmode *) algorithm)->pushed = FALSE;
}

static void
nd_cpu_bmode_free (NdAlgorithm *algorithm)
{
  NdCpuBmode *self = (NdCpuBmode *) algorithm;

  g_free (self->tables);
  g_free (self->lines);
  g_free (self->result);
  g_free (self);
}

static gsize
nd_cpu_bmode_bytes (const NdAlgorithm *algorithm)
{
  return ((const NdCpuBmode *) algorithm)->bytes;
}

static const NdAlgorithmClass bmode_class = {
  .backend = "cpu",
  .push = nd_cpu_bmode_push,
  .ready = nd_cpu_bmode_ready,
  .respond = nd_cpu_bmode_respond,
  .end = nd_cpu_bmode_end,
  .reset = nd_cpu_bmode_reset,
  .free = nd_cpu_bmode_free,
  .bytes = nd_cpu_bmode_bytes,
};

static gboolean
bmode_allocate (NdCpuBmode *self)
{
  const gsize lines = self->out.size[1] * self->out.size[2];
  const gsize n = self->out.size[0] * self->out.components;
  const gsize result = nd_size_mul (lines, n, sizeof (gfloat));

  const gsize threads = nd_threads ();
  gsize lines_bytes;

  self->stride = self->in.size[0] + 2 * ND_BMODE_REACH + 2 * ND_BEAM_ROOM;
  lines_bytes =
      nd_size_mul (self->stride, TABLES + threads * LINES, sizeof (gfloat));
  if (!g_size_checked_add (&self->bytes, result, lines_bytes)
      || !nd_memory_check (self->bytes, NULL))
    return FALSE;
  self->tables = g_try_malloc0_n (self->stride, TABLES * sizeof (gfloat));
  self->lines =
      g_try_malloc0_n (self->stride, threads * LINES * sizeof (gfloat));
  self->result = g_try_malloc (result);
  return self->tables && self->lines && self->result;
}

static void
fill_tables (NdCpuBmode *self, const NdBmode *bmode)
{
  gfloat *tables = self->tables;

  for (gsize i = 0; i < self->in.size[0]; i++) {
    tables[i] = bmode->mixer[2 * i];
    tables[self->stride + i] = bmode->mixer[2 * i + 1];
  }
  for (gsize i = 0; i < self->out.size[0]; i++) {
    tables[2 * self->stride + i] =
        bmode->white * (1 + bmode->gain[i] / bmode->dynamic_range);
    tables[3 * self->stride + i] = pow (10, bmode->gain[i] / 20);
  }
  for (guint k = 0; k < ND_BMODE_TAPS; k++)
    self->taps[k] = bmode->taps[k];
  for (guint k = 0; k < ND_BMODE_REACH; k++)
    self->hilbert_taps[k] = bmode->taps[2 * k + 1];
}

NdAlgorithm *
nd_cpu_bmode_new (const NdBmode *bmode, NdSampleType type,
    NdSampleType out_type, gint device_id, GError **error)
{
  NdCpuBmode *self = g_new0 (NdCpuBmode, 1);

  self->parent.klass = &bmode_class;
  self->in = bmode->in;
  self->out = bmode->out;
  self->type = type;
  self->out_type = out_type;
  self->output = bmode->output;
  self->decimation = bmode->decimation;
  self->mixes = bmode->mixes;
  self->filters = bmode->filters;
  self->hilbert = bmode->hilbert;
  self->middle = bmode->middle;
  self->white = bmode->white;
  self->scale = bmode->white * 10 * log10 (2) / bmode->dynamic_range;
  if (!bmode_allocate (self)) {
    g_set_error_literal (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for the result of ndbmode: use smaller volumes");
    nd_cpu_bmode_free (&self->parent);
    return NULL;
  }
  fill_tables (self, bmode);
  return &self->parent;
}
