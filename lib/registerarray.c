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

/* Both calls compute with volumes of nd_sample_computed(). */
typedef struct
{
  NdVolumes in, out;
  gboolean has_output;
  NdSampleType computed;
  NdSamples volume, moved; /* dense */
  gdouble spacing[3];
  const NdWatch *watch;
} Run;

static void
clear (Run *run)
{
  g_free (run->volume.data);
  g_free (run->moved.data);
}

static gboolean
check_arrays (const Run *run, GError **error)
{
  const NdVolumes *in = &run->in, *out = &run->out;

  if (in->on_device || (run->has_output && out->on_device))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The array is in memory of a GPU; volumes are registered and moved in "
        "memory of the host: copy it there");
  else if (in->responses != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses, as the output of a bank; register the "
        "volumes before the filters",
        in->responses);
  else if (!run->has_output)
    return TRUE;
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

static gboolean
init (Run *run, const NdSettings *settings, const NdArray *in,
    const NdArray *out, const NdWatch *watch, GError **error)
{
  gsize bytes;

  memset (run, 0, sizeof (*run));
  run->watch = watch;
  run->has_output = out != NULL;
  if (!nd_volumes_init (&run->in, in, "The input", in->size[3] > 0, error)
      || (out
          && !nd_volumes_init (&run->out, out, "The output", out->size[3] > 0,
              error))
      || !check_arrays (run, error)
      || !find_spacing (settings, run->spacing, error))
    return FALSE;
  run->computed = nd_sample_computed (run->in.type, ND_PRECISION_SINGLE);
  if (!nd_shape_samples (&run->in.shape, &bytes))
    return FALSE;
  bytes *= nd_sample_size (run->computed);
  if (!nd_memory_check (nd_size_mul (bytes, 2, 1), error))
    return FALSE;
  run->volume =
      nd_samples_dense (g_try_malloc (bytes), &run->in.shape, run->computed);
  run->moved =
      nd_samples_dense (g_try_malloc (bytes), &run->in.shape, run->computed);
  if (run->volume.data && run->moved.data)
    return TRUE;
  nd_memory_set_error (error, nd_size_mul (bytes, 2, 1));
  clear (run);
  return FALSE;
}

static void
read_volume (const Run *run, gsize t)
{
  const NdStrided from = nd_volumes_get (&run->in, t);

  nd_samples_gather (&from, &run->in.shape, 1, run->in.type,
      ND_PRECISION_SINGLE, &run->volume);
}

static void
write_volume (const Run *run, gsize t)
{
  const NdStrided to = nd_volumes_get (&run->out, t);

  nd_samples_scatter (&run->moved, &run->out.shape, 1, run->out.type,
      ND_PRECISION_SINGLE, &to);
}

static gboolean
is_cancelled (const Run *run, GError **error)
{
  return nd_set_error_if_cancelled (run->watch ? run->watch->cancelled : NULL,
      error);
}

static void
report (const Run *run, gsize t)
{
  if (run->watch && run->watch->progress)
    run->watch->progress (t + 1, run->in.volumes, run->watch->data);
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
copy_motion (const Run *run, const NdRegistration *found,
    NdVolumeMotion *motion)
{
  const gsize *size = run->in.shape.size;
  NdAffine shift = nd_affine_identity (), back, map;

  for (guint a = 0; a < 3; a++)
    shift.m[a][3] = -(size[a] - 1.) / 2 * run->spacing[a];
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
register_volumes (Run *run, NdAlgorithm *algorithm, NdVolumeMotion *motions,
    GError **error)
{
  for (gsize t = 0; t < run->in.volumes; t++) {
    if (is_cancelled (run, error))
      return FALSE;
    read_volume (run, t);
    if (!nd_algorithm_push (algorithm, &run->volume, error)
        || !nd_algorithm_respond (algorithm,
            run->has_output ? &run->moved : NULL, error))
      return FALSE;
    if (run->has_output)
      write_volume (run, t);
    if (motions)
      copy_motion (run, nd_algorithm_registration (algorithm), &motions[t]);
    report (run, t);
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
  gboolean ok = FALSE;
  guint before;
  Run run;

  if (!init (&run, s, in, out, watch, error))
    return FALSE;
  before = nd_threads_enter (nd_threads_start (s->device.n_threads));
  if (make_options (s, &run.in.shape, &options, error))
    algorithm = nd_cpu_register_new (&options, &run.in.shape, 1, run.computed,
        run.spacing, -1, error);
  if (algorithm)
    ok = register_volumes (&run, algorithm, motions, error);
  nd_threads_leave (before);
  clear (&run);
  return ok;
}

/* nd_warp() */

/* The largest numbers of a matrix. */
#define MAX_NUMBER 1e12

/* The map of indices for a matrix of positions. */
static gboolean
read_matrix (const Run *run, const gdouble *matrix, gsize t, NdAffine *map,
    GError **error)
{
  static const gdouble origin[3] = { 0, 0, 0 };
  const NdAffine positions = nd_affine_of_samples (run->spacing, origin);
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
move_volumes (Run *run, const NdSettings *s, const gdouble *matrices,
    gfloat *from, gfloat *to, GError **error)
{
  const NdShape *shape = &run->in.shape;

  for (gsize t = 0; t < run->in.volumes; t++) {
    NdAffine map;

    if (is_cancelled (run, error)
        || !read_matrix (run, matrices + 12 * t, t, &map, error))
      return FALSE;
    read_volume (run, t);
    for (gsize c = 0; c < shape->components; c++) {
      nd_samples_read (&run->volume, shape, run->computed, c, from);
      nd_cpu_warp (shape->size, from, &map, s->registrar.interpolation,
          s->conv.border, s->conv.border_value, shape->size, to);
      nd_samples_write (&run->moved, shape, run->computed, c, to, NULL);
    }
    write_volume (run, t);
    report (run, t);
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
  gsize n;
  Run run;

  g_return_val_if_fail (out != NULL, FALSE);
  if (!init (&run, s, in, out, watch, error))
    return FALSE;
  n = run.in.shape.size[0] * run.in.shape.size[1] * run.in.shape.size[2];
  if (n <= ND_WARP_MAX_SAMPLES) {
    from = g_try_new0 (gfloat, n + ND_REGISTER_ROOM);
    to = g_try_new0 (gfloat, n + ND_REGISTER_ROOM);
  }
  if (from && to) {
    before = nd_threads_enter (nd_threads_start (s->device.n_threads));
    ok = move_volumes (&run, s, matrices, from, to, error);
    nd_threads_leave (before);
  } else {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory to move volumes of %" G_GSIZE_FORMAT
        " samples, or they have 2^31 samples or more: use smaller volumes",
        n);
  }
  clear (&run);
  return ok;
}
