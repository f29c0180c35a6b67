/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "lib/private.h"

#include <string.h>

static gboolean
check_arrays (const NdVolumes *in, const NdVolumes *out, GError **error)
{
  if (in->on_device || out->on_device)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The array is in memory of a GPU; volumes are deconvolved in memory of "
        "the host: copy it there");
  else if (in->responses != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses, as the output of a bank; deconvolve the "
        "volumes before the filters",
        in->responses);
  else if (in->type != out->type || in->volumes != out->volumes
      || out->responses != 1
      || memcmp (&in->shape, &out->shape, sizeof (NdShape)) != 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The output must have the type, components and sizes of the input");
  else if (nd_volumes_overlap (in, out) && !nd_volumes_are_same (in, out))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The memory of the output overlaps that of the input: use memory of "
        "its own, or the input itself");
  else
    return TRUE;
  return FALSE;
}

/* @dense: memory for one volume of @type. */
static gboolean
deconvolve_volumes (NdAlgorithm *algorithm, const NdVolumes *in,
    const NdVolumes *out, const NdSamples *dense, NdVolumeResidue *residues,
    const NdWatch *watch, GError **error)
{
  const gint *cancelled = watch ? watch->cancelled : NULL;

  for (gsize t = 0; t < in->volumes; t++) {
    const NdStrided from = nd_volumes_get (in, t), to = nd_volumes_get (out, t);

    if (nd_set_error_if_cancelled (cancelled, error))
      return FALSE;
    nd_samples_gather (&from, &in->shape, 1, in->type, ND_PRECISION_SINGLE,
        dense);
    if (!nd_algorithm_push (algorithm, dense, error)
        || !nd_algorithm_respond (algorithm, dense, error))
      return FALSE;
    nd_samples_scatter (dense, &out->shape, 1, out->type, ND_PRECISION_SINGLE,
        &to);
    if (residues) {
      const NdDeconvolution *last = nd_algorithm_deconvolution (algorithm);

      residues[t] = (NdVolumeResidue){ .residue = last->residue,
        .iterations = last->iterations };
    }
    if (watch && watch->progress)
      watch->progress (t + 1, in->volumes, watch->data);
  }
  return TRUE;
}

gboolean
nd_deconvolve (const NdFilters *psf, guint iterations,
    const NdSettings *settings, const NdArray *in, const NdArray *out,
    NdVolumeResidue *residues, const NdWatch *watch, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  NdDeconvolveOptions options = { s->deconvolver.deconvolve, s->conv.border,
    s->conv.border_value };
  g_autoptr (NdAlgorithm) algorithm = NULL;
  g_autofree guint8 *memory = NULL;
  const gint *watched;
  gboolean ok = FALSE;
  NdSampleType computed;
  NdVolumes from, to;
  NdSamples dense;
  guint before;

  if (iterations < 1 || iterations > ND_DECONVOLVE_MAX_ITERATIONS) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "iterations is %u; it must be from 1 to %d", iterations,
        ND_DECONVOLVE_MAX_ITERATIONS);
    return FALSE;
  }
  options.settings.iterations = iterations;
  if (!nd_volumes_init (&from, in, "The input", in->size[3] > 0, error)
      || !nd_volumes_init (&to, out, "The output", out->size[3] > 0, error)
      || !check_arrays (&from, &to, error))
    return FALSE;
  nd_library_init ();
  computed = nd_sample_computed (from.type, ND_PRECISION_SINGLE);
  dense = nd_samples_dense (NULL, &from.shape, computed);
  if (!nd_memory_check (dense.response, error))
    return FALSE;
  dense.data = memory = g_try_malloc (dense.response);
  if (!memory) {
    nd_memory_set_error (error, dense.response);
    return FALSE;
  }
  before = nd_threads_enter (nd_threads_start (s->device.n_threads));
  watched = nd_threads_watch (watch ? watch->cancelled : NULL);
  algorithm = nd_cpu_deconvolve_new (&options, psf->bank, &from.shape, computed,
      0, -1, error);
  if (algorithm)
    ok = deconvolve_volumes (algorithm, &from, &to, &dense, residues, watch,
        error);
  nd_threads_watch (watched);
  nd_threads_leave (before);
  return ok;
}
