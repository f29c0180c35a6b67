/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "cpu/cpu.h"
#include "lib/private.h"

static gboolean
deconvolve_volumes (NdHostRun *run, NdAlgorithm *algorithm,
    NdVolumeResidue *residues, GError **error)
{
  for (gsize t = 0; t < run->in.volumes; t++) {
    const NdDeconvolution *last;

    if (!nd_host_run_read (run, t, error)
        || !nd_algorithm_push (algorithm, &run->volume, error)
        || !nd_algorithm_respond (algorithm, &run->volume, error))
      return FALSE;
    last = nd_algorithm_deconvolution (algorithm);
    if (residues)
      residues[t] = (NdVolumeResidue){ .residue = last->residue,
        .iterations = last->iterations };
    nd_host_run_write (run, t);
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
  const gint *watched;
  gboolean ok = FALSE;
  NdHostRun run;
  guint before;

  g_return_val_if_fail (out != NULL, FALSE);
  if (iterations < 1 || iterations > ND_DECONVOLVE_MAX_ITERATIONS) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "iterations is %u; it must be from 1 to %d", iterations,
        ND_DECONVOLVE_MAX_ITERATIONS);
    return FALSE;
  }
  options.settings.iterations = iterations;
  if (!nd_host_run_init (&run, in, out, watch, "deconvolve", "deconvolved",
          error))
    return FALSE;
  before = nd_threads_enter (nd_threads_start (s->device.n_threads));
  watched = nd_threads_watch (watch ? watch->cancelled : NULL);
  algorithm = nd_cpu_deconvolve_new (&options, psf->bank, &run.in.shape,
      run.computed, 0, -1, error);
  if (algorithm)
    ok = deconvolve_volumes (&run, algorithm, residues, error);
  nd_threads_watch (watched);
  nd_threads_leave (before);
  nd_host_run_clear (&run);
  return ok;
}
