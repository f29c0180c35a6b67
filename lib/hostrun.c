/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"
#include "lib/private.h"

#include <string.h>

static gboolean
check_arrays (const NdHostRun *run, const gchar *verb, const gchar *done,
    GError **error)
{
  const NdVolumes *in = &run->in, *out = &run->out;

  if (in->on_device || (run->has_output && out->on_device))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The array is in memory of a GPU; volumes are %s in memory of the "
        "host: copy it there",
        done);
  else if (in->responses != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The input has %u responses, as the output of a bank; %s the volumes "
        "before the filters",
        in->responses, verb);
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

gboolean
nd_host_run_init (NdHostRun *run, const NdArray *in, const NdArray *out,
    const NdWatch *watch, const gchar *verb, const gchar *done, GError **error)
{
  gsize bytes;

  memset (run, 0, sizeof (*run));
  run->watch = watch;
  run->has_output = out != NULL;
  if (!nd_volumes_init (&run->in, in, "The input", in->size[3] > 0, error)
      || (out
          && !nd_volumes_init (&run->out, out, "The output", out->size[3] > 0,
              error))
      || !check_arrays (run, verb, done, error))
    return FALSE;
  run->computed = nd_sample_computed (run->in.type, ND_PRECISION_SINGLE);
  if (!nd_shape_samples (&run->in.shape, &bytes))
    bytes = G_MAXSIZE;
  bytes = nd_size_mul (bytes, nd_sample_size (run->computed), 1);
  if (!nd_memory_check (bytes, error))
    return FALSE;
  run->volume =
      nd_samples_dense (g_try_malloc (bytes), &run->in.shape, run->computed);
  if (!run->volume.data)
    nd_memory_set_error (error, bytes);
  return run->volume.data != NULL;
}

void
nd_host_run_clear (NdHostRun *run)
{
  g_clear_pointer (&run->volume.data, g_free);
}

gboolean
nd_host_run_read (const NdHostRun *run, gsize t, GError **error)
{
  const NdStrided from = nd_volumes_get (&run->in, t);

  if (nd_set_error_if_cancelled (run->watch ? run->watch->cancelled : NULL,
          error))
    return FALSE;
  nd_samples_gather (&from, &run->in.shape, 1, run->in.type,
      ND_PRECISION_SINGLE, &run->volume);
  return TRUE;
}

void
nd_host_run_write (const NdHostRun *run, gsize t)
{
  if (run->has_output) {
    const NdStrided to = nd_volumes_get (&run->out, t);

    nd_samples_scatter (&run->volume, &run->out.shape, 1, run->out.type,
        ND_PRECISION_SINGLE, &to);
  }
  if (run->watch && run->watch->progress)
    run->watch->progress (t + 1, run->in.volumes, run->watch->data);
}
