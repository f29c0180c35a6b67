/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "lib/private.h"

#include <string.h>

typedef struct
{
  NdVolumes in, out;
  NdPrecision precision;
  NdSampleType computed;
  NdSamples volume; /* dense, of the computed type */
  const NdWatch *watch;
} Run;

static gboolean
check_arrays (const NdVolumes *in, const NdVolumes *out, GError **error)
{
  if (in->on_device || out->on_device)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The array is in memory of a GPU; samples are sorted in memory of the "
        "host: copy it there");
  else if (in->responses != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses, as the output of a bank; sort the samples "
        "before the filters",
        in->responses);
  else if (in->type != out->type || in->volumes != out->volumes
      || out->responses != 1
      || memcmp (&in->shape, &out->shape, sizeof (NdShape)) != 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The output must have the type, components and sizes of the input");
  else if (nd_volumes_overlap (in, out))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The memory of the output overlaps that of the input: use memory of "
        "its own");
  else
    return TRUE;
  return FALSE;
}

static gboolean
run_init (Run *run, const NdArray *in, const NdArray *out, const NdWatch *watch,
    GError **error)
{
  gsize bytes;

  memset (run, 0, sizeof (*run));
  run->watch = watch;
  if (!nd_volumes_init (&run->in, in, "The input", in->size[3] > 0, error)
      || !nd_volumes_init (&run->out, out, "The output", out->size[3] > 0,
          error)
      || !check_arrays (&run->in, &run->out, error))
    return FALSE;
  run->precision = run->in.type == ND_FLOAT64
      ? ND_PRECISION_DOUBLE
      : nd_sample_precision (run->in.type, ND_PRECISION_SINGLE);
  run->computed = nd_sample_computed (run->in.type, run->precision);
  if (!nd_shape_samples (&run->in.shape, &bytes))
    bytes = G_MAXSIZE / sizeof (gdouble);
  bytes *= nd_sample_size (run->computed);
  if (!nd_memory_check (bytes, error))
    return FALSE;
  run->volume =
      nd_samples_dense (g_try_malloc (bytes), &run->in.shape, run->computed);
  if (!run->volume.data)
    nd_memory_set_error (error, bytes);
  return run->volume.data != NULL;
}

static NdAlgorithm *
make_algorithm (const NdSettings *s, const Run *run, GError **error)
{
  const gint *cancelled = run->watch ? run->watch->cancelled : NULL;
  g_autoptr (NdFootprint) footprint = NULL;
  gboolean single[ND_AXES] = { FALSE };
  NdRankOptions options = {
    .operation = s->ranker.operation,
    .percentile = s->ranker.percentile,
    .border = s->conv.border,
    .time_border = s->conv.time_border,
    .border_value = s->conv.border_value,
  };

  if (options.time_border == ND_BORDER_WRAP) {
    g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
        "time-border=wrap would need all volumes at once: use constant, "
        "nearest, reflect or mirror");
    return NULL;
  }
  for (guint a = 0; a < 3; a++)
    single[a] = run->in.shape.size[a] == 1;
  footprint = nd_footprint_from_text (s->ranker.footprint, s->conv.origin,
      s->conv.causal, single, cancelled, error);
  if (!footprint)
    return NULL;
  options.footprint = footprint;
  return nd_cpu_rank_new (&options, &run->in.shape, run->computed, 0, -1,
      error);
}

static gboolean
take_outputs (Run *run, NdAlgorithm *algorithm, gsize *done, GError **error)
{
  while (nd_algorithm_ready (algorithm)) {
    const NdStrided to = nd_volumes_get (&run->out, *done);

    if (nd_set_error_if_cancelled (run->watch ? run->watch->cancelled : NULL,
            error)
        || !nd_algorithm_respond (algorithm, &run->volume, error))
      return FALSE;
    nd_samples_scatter (&run->volume, &run->out.shape, 1, run->out.type,
        run->precision, &to);
    ++*done;
    if (run->watch && run->watch->progress)
      run->watch->progress (*done, run->in.volumes, run->watch->data);
  }
  return TRUE;
}

static gboolean
sort_volumes (Run *run, NdAlgorithm *algorithm, GError **error)
{
  gsize done = 0;

  for (gsize t = 0; t < run->in.volumes; t++) {
    const NdStrided from = nd_volumes_get (&run->in, t);

    nd_samples_gather (&from, &run->in.shape, 1, run->in.type, run->precision,
        &run->volume);
    if (!nd_algorithm_push (algorithm, &run->volume, error)
        || !take_outputs (run, algorithm, &done, error))
      return FALSE;
  }
  nd_algorithm_end (algorithm);
  return take_outputs (run, algorithm, &done, error);
}

gboolean
nd_rank (const NdSettings *settings, const NdArray *in, const NdArray *out,
    const NdWatch *watch, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  g_autoptr (NdAlgorithm) algorithm = NULL;
  gboolean ok = FALSE;
  guint before;
  Run run;

  g_return_val_if_fail (out != NULL, FALSE);
  if (!run_init (&run, in, out, watch, error))
    return FALSE;
  before = nd_threads_enter (nd_threads_start (s->device.n_threads));
  algorithm = make_algorithm (s, &run, error);
  if (algorithm)
    ok = sort_volumes (&run, algorithm, error);
  nd_threads_leave (before);
  g_free (run.volume.data);
  return ok;
}
