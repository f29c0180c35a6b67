/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/denoisesamples.h"
#include "cpu/registerkernels.h"
#include "cpu/registerwarp.h"
#include "filters/axes.h"
#include "lib/private.h"

#include <math.h>
#include <string.h>

static gboolean
find_spacing (const NdSettings *settings, gdouble spacing[3], GError **error)
{
  NdAxes axes;

  if (!nd_axes_from_text ("xyz", &axes, error)
      || !nd_axes_set_steps (&axes, settings->spacing, NULL, error))
    return FALSE;
  for (guint a = 0; a < 3; a++)
    spacing[a] = settings->spacing ? axes.step[a] : 1;
  return TRUE;
}

/* nd_register() */

static gboolean
make_options (const NdSettings *settings, const NdShape *shape,
    NdRegisterOptions *options, GError **error)
{
  *options = (NdRegisterOptions){
    .settings = { settings->registrar.model, settings->registrar.levels,
        settings->registrar.iterations, settings->registrar.mask,
        settings->registrar.method },
    .channel = settings->registrar.channel,
    .interpolation = settings->registrar.interpolation,
    .border = settings->conv.border,
    .border_value = settings->conv.border_value,
  };
  if (options->channel >= 0 && (gsize) options->channel >= shape->components) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "channel is %d, but the volumes have the components 0 to "
        "%" G_GSIZE_FORMAT ": use one of them, or -1 for the mean of all",
        options->channel, shape->components - 1);
    return FALSE;
  }
  return nd_reference_parse (settings->registrar.reference
          ? settings->registrar.reference
          : "first",
      &options->reference, error);
}

/* The motion between positions that are counted from the first sample. */
static void
copy_motion (const NdHostRun *run, const gdouble spacing[3],
    const NdRegistration *found, NdVolumeMotion *motion)
{
  const gsize *size = run->in.shape.size;
  NdAffine shift = nd_affine_identity (), back, map;

  for (guint a = 0; a < 3; a++)
    shift.m[a][3] = -(size[a] - 1.) / 2 * spacing[a];
  nd_affine_invert (&shift, &back);
  map = nd_affine_compose (&found->motion, &shift);
  map = nd_affine_compose (&back, &map);
  if (!found->measured)
    map = nd_affine_identity ();
  memset (motion, 0, sizeof (*motion));
  for (guint i = 0; i < 12; i++)
    motion->matrix[i] = map.m[i / 4][i % 4];
  motion->residual = found->residual;
  motion->unexplained = found->unexplained;
  motion->overlap = found->overlap;
  motion->iterations = found->iterations;
  motion->measured = found->measured;
  motion->restarted = found->restarted;
}

static gboolean
register_volumes (NdHostRun *run, const gdouble spacing[3],
    NdAlgorithm *algorithm, NdVolumeMotion *motions, GError **error)
{
  for (gsize t = 0; t < run->in.volumes; t++) {
    if (!nd_host_run_read (run, t, error)
        || !nd_algorithm_push (algorithm, &run->volume, error)
        || !nd_algorithm_respond (algorithm,
            run->has_output ? &run->volume : NULL, error))
      return FALSE;
    if (motions)
      copy_motion (run, spacing, nd_algorithm_registration (algorithm),
          &motions[t]);
    nd_host_run_write (run, t);
  }
  return TRUE;
}

gboolean
nd_register (const NdSettings *settings, const NdArray *in, const NdArray *out,
    NdVolumeMotion *motions, const NdWatch *watch, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  g_autoptr (NdAlgorithm) algorithm = NULL;
  NdRegisterOptions options;
  gdouble spacing[3];
  gboolean ok = FALSE;
  guint before;
  NdHostRun run;

  if (!find_spacing (s, spacing, error)
      || !nd_host_run_init (&run, in, out, watch, "register",
          "registered and moved", error))
    return FALSE;
  before = nd_threads_enter (nd_threads_start (s->device.n_threads));
  if (make_options (s, &run.in.shape, &options, error))
    algorithm = nd_cpu_register_new (&options, &run.in.shape, 1, run.computed,
        spacing, -1, error);
  if (algorithm)
    ok = register_volumes (&run, spacing, algorithm, motions, error);
  nd_threads_leave (before);
  nd_host_run_clear (&run);
  return ok;
}

/* nd_warp() */

/* The largest numbers of a matrix. */
#define MAX_NUMBER 1e12

/* The map of indices for a matrix of positions. */
static gboolean
read_matrix (const gdouble spacing[3], const gdouble *matrix, gsize t,
    NdAffine *map, GError **error)
{
  static const gdouble origin[3] = { 0, 0, 0 };
  const NdAffine positions = nd_affine_of_samples (spacing, origin);
  NdAffine back;

  gboolean ok = nd_affine_invert (&positions, &back);

  for (guint i = 0; i < 12; i++)
    map->m[i / 4][i % 4] = matrix[i];
  *map = nd_affine_compose (map, &positions);
  if (ok)
    *map = nd_affine_compose (&back, map);
  for (guint i = 0; i < 12; i++)
    ok = ok && fabs (map->m[i / 4][i % 4]) <= MAX_NUMBER;
  if (!ok)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Matrix %" G_GSIZE_FORMAT " is no motion: it must have 12 finite "
        "numbers that move samples by at most %g samples",
        t, MAX_NUMBER);
  return ok;
}

static gboolean
move_volumes (NdHostRun *run, const NdSettings *s, const gdouble spacing[3],
    const gdouble *matrices, gfloat *from, gfloat *to, GError **error)
{
  const NdShape *shape = &run->in.shape;

  for (gsize t = 0; t < run->in.volumes; t++) {
    NdAffine map;

    if (!read_matrix (spacing, matrices + 12 * t, t, &map, error)
        || !nd_host_run_read (run, t, error))
      return FALSE;
    for (gsize c = 0; c < shape->components; c++) {
      nd_samples_read (&run->volume, shape, run->computed, c, from);
      nd_cpu_warp (shape->size, from, &map, s->registrar.interpolation,
          s->conv.border, s->conv.border_value, shape->size, to);
      nd_samples_write (&run->volume, shape, run->computed, c, to, NULL);
    }
    nd_host_run_write (run, t);
  }
  return TRUE;
}

gboolean
nd_warp (const NdSettings *settings, const gdouble *matrices, const NdArray *in,
    const NdArray *out, const NdWatch *watch, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  g_autofree gfloat *from = NULL, *to = NULL;
  gboolean ok = FALSE;
  guint before;
  gdouble spacing[3];
  gsize n;
  NdHostRun run;

  g_return_val_if_fail (out != NULL, FALSE);
  if (!find_spacing (s, spacing, error)
      || !nd_host_run_init (&run, in, out, watch, "register",
          "registered and moved", error))
    return FALSE;
  n = run.in.shape.size[0] * run.in.shape.size[1] * run.in.shape.size[2];
  if (n <= ND_WARP_MAX_SAMPLES) {
    from = g_try_new0 (gfloat, n + ND_REGISTER_ROOM);
    to = g_try_new0 (gfloat, n + ND_REGISTER_ROOM);
  }
  if (from && to) {
    before = nd_threads_enter (nd_threads_start (s->device.n_threads));
    ok = move_volumes (&run, s, spacing, matrices, from, to, error);
    nd_threads_leave (before);
  } else {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to move volumes of %" G_GSIZE_FORMAT
        " samples, or they have 2^31 samples or more: use smaller volumes",
        n);
  }
  nd_host_run_clear (&run);
  return ok;
}
