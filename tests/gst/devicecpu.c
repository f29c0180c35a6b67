/* The parts of the test double of devices that need no ring: algorithms,
 * pictures and scenes of the CPU, until the device is lost.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/devicedouble.h"

#include "core/error.h"
#include "cpu/cpu.h"
#include "view/picture.h"
#include "view/scene.h"

#include <gmodule.h>

/* Algorithms */

typedef struct
{
  NdAlgorithm parent;
  NdAlgorithm *real;
} Algorithm;

static NdAlgorithm *
real_algorithm (const NdAlgorithm *algorithm)
{
  return ((const Algorithm *) algorithm)->real;
}

static gboolean
algorithm_push (NdAlgorithm *algorithm, const NdSamples *volume, GError **error)
{
  return device_double_is_well (error)
      && nd_algorithm_push (real_algorithm (algorithm), volume, error);
}

static gboolean
algorithm_ready (const NdAlgorithm *algorithm)
{
  return nd_algorithm_ready (real_algorithm (algorithm));
}

static gboolean
algorithm_respond (NdAlgorithm *algorithm, const NdSamples *out, GError **error)
{
  return device_double_is_well (error)
      && nd_algorithm_respond (real_algorithm (algorithm), out, error);
}

static void
algorithm_end (NdAlgorithm *algorithm)
{
  nd_algorithm_end (real_algorithm (algorithm));
}

static void
algorithm_reset (NdAlgorithm *algorithm)
{
  nd_algorithm_reset (real_algorithm (algorithm));
}

static gint n_algorithms;               /* that exist */
static gint most_algorithms = G_MAXINT; /* for which there is memory */
static gint refused_algorithms;         /* the next ones */
static gboolean loses_at_algorithm;     /* the next one */

G_MODULE_EXPORT void device_double_limit_algorithms (gint most);
G_MODULE_EXPORT void device_double_refuse_algorithms (gint n);
G_MODULE_EXPORT void device_double_lose_at_algorithm (void);

void
device_double_limit_algorithms (gint most)
{
  g_atomic_int_set (&most_algorithms, most);
}

void
device_double_refuse_algorithms (gint n)
{
  g_atomic_int_set (&refused_algorithms, n);
}

void
device_double_lose_at_algorithm (void)
{
  g_atomic_int_set (&loses_at_algorithm, TRUE);
}

static gboolean
have_memory (GError **error)
{
  if (g_atomic_int_get (&loses_at_algorithm))
    device_double_lose ();
  if (!device_double_is_well (error))
    return FALSE;
  if (g_atomic_int_get (&refused_algorithms) > 0)
    g_atomic_int_add (&refused_algorithms, -1);
  else if (g_atomic_int_get (&n_algorithms)
      < g_atomic_int_get (&most_algorithms))
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_MEMORY,
      "Not enough memory on the GPU");
  return FALSE;
}

static void
algorithm_free (NdAlgorithm *algorithm)
{
  g_atomic_int_add (&n_algorithms, -1);
  nd_algorithm_free (real_algorithm (algorithm));
  g_atomic_int_add (&device_double_n_blocks, -1);
  g_free (algorithm);
}

static gsize
algorithm_bytes (const NdAlgorithm *algorithm)
{
  return nd_algorithm_bytes (real_algorithm (algorithm));
}

static void
algorithm_set_strength (NdAlgorithm *algorithm,
    const NdDenoiseSettings *settings)
{
  nd_algorithm_set_strength (real_algorithm (algorithm), settings);
}

static gdouble
algorithm_sigma (const NdAlgorithm *algorithm)
{
  return nd_algorithm_sigma (real_algorithm (algorithm));
}

static NdNoiseFound
algorithm_found (const NdAlgorithm *algorithm)
{
  return nd_algorithm_found (real_algorithm (algorithm));
}

static const NdAlgorithmClass algorithm_class = {
  .backend = "cuda",
  .push = algorithm_push,
  .ready = algorithm_ready,
  .respond = algorithm_respond,
  .end = algorithm_end,
  .reset = algorithm_reset,
  .free = algorithm_free,
  .bytes = algorithm_bytes,
  .set_strength = algorithm_set_strength,
  .sigma = algorithm_sigma,
  .found = algorithm_found,
};

static NdAlgorithm *
wrap_algorithm (NdAlgorithm *real)
{
  Algorithm *algorithm;

  if (!real)
    return NULL;
  g_atomic_int_inc (&device_double_n_blocks);
  g_atomic_int_inc (&n_algorithms);
  algorithm = g_new0 (Algorithm, 1);
  algorithm->parent.klass = &algorithm_class;
  algorithm->real = real;
  return &algorithm->parent;
}

static NdAlgorithm *
denoise_new (const NdDenoiseSettings *settings, const NdDenoiseBorders *borders,
    const NdShape *shape, NdSampleType type, guint64 kept, gint device_id,
    GError **error)
{
  if (!have_memory (error))
    return NULL;
  return wrap_algorithm (nd_cpu_backend.algorithms->denoise_new (settings,
      borders, shape, type, kept, device_id, error));
}

static NdAlgorithm *
structure_new (const NdStructureSettings *settings, const NdShape *shape,
    gint device_id, GError **error)
{
  if (!have_memory (error))
    return NULL;
  return wrap_algorithm (nd_cpu_backend.algorithms->structure_new (settings,
      shape, device_id, error));
}

const NdAlgorithmFuncs device_double_algorithms = {
  .denoise_new = denoise_new,
  .structure_new = structure_new,
};

/* Pictures */

struct _NdRenderer
{
  NdPicture *picture;
  NdPictureJob job;
};

static NdRenderer *
renderer_create (const NdPictureJob *job, gint device_id, GError **error)
{
  NdRenderer *renderer;

  if (!device_double_is_well (error))
    return NULL;
  renderer = g_new0 (NdRenderer, 1);
  renderer->job = *job;
  renderer->picture = nd_picture_new (job->mode, job->axis, job->type,
      &job->shape, NULL, -1, error);
  return renderer;
}

static void
renderer_destroy (NdRenderer *renderer)
{
  nd_picture_free (renderer->picture);
  g_free (renderer);
}

/* The lowest index that gives all positions @at. */
static gboolean
renderer_take (NdRenderer *renderer, gconstpointer volume, const gsize at[3],
    GError **error)
{
  gdouble position = 0;

  for (guint a = 0; a < 3; a++)
    position = MAX (position, (at[a] + 1e-6) / renderer->job.shape.size[a]);
  return device_double_is_well (error)
      && nd_picture_take (renderer->picture, volume, position, error);
}

static gdouble
sample_at (const NdRenderer *renderer, gconstpointer volume, gsize i)
{
  g_assert_cmpuint (renderer->job.shape.components, ==, 1);
  switch (renderer->job.type) {
    case ND_UINT8:
      return ((const guint8 *) volume)[i];
    case ND_INT16:
      return ((const gint16 *) volume)[i];
    case ND_UINT16:
      return ((const guint16 *) volume)[i];
    default:
      return ((const gfloat *) volume)[i];
  }
}

static gboolean
renderer_sample (NdRenderer *renderer, gconstpointer volume, gsize step,
    gfloat *samples, gsize n, GError **error)
{
  for (gsize k = 0; k < n; k++)
    samples[k] = sample_at (renderer, volume, k * step);
  return TRUE;
}

static gboolean
renderer_extremes (NdRenderer *renderer, gconstpointer volume, gdouble *low,
    gdouble *high, GError **error)
{
  const gsize *size = renderer->job.shape.size;

  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    *low = MIN (*low, sample_at (renderer, volume, i));
    *high = MAX (*high, sample_at (renderer, volume, i));
  }
  return TRUE;
}

static gboolean
renderer_write (NdRenderer *renderer, gdouble low, gdouble window,
    guint8 *pixels, gssize stride, GError **error)
{
  return nd_picture_write (renderer->picture, low, window, pixels, stride,
      error);
}

const NdRendererFuncs device_double_renderer = {
  .create = renderer_create,
  .destroy = renderer_destroy,
  .take = renderer_take,
  .sample = renderer_sample,
  .extremes = renderer_extremes,
  .write = renderer_write,
};

/* Scenes */

static gint refuses_scenes;

static gboolean
scene_draw (NdScene *scene, const NdPanel *panels, guint n, const NdLook *look,
    guint8 *pixels, gssize stride, GError **error)
{
  if (!g_atomic_int_get (&refuses_scenes))
    return nd_cpu_backend.scenes->draw (scene, panels, n, look, pixels, stride,
        error);
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY, "No memory for a scene");
  return FALSE;
}

const NdSceneFuncs *
device_double_scenes (void)
{
  static NdSceneFuncs scenes;

  scenes = *nd_cpu_backend.scenes;
  scenes.draw = scene_draw;
  return &scenes;
}

G_MODULE_EXPORT void device_double_refuse_scenes (gboolean refuse);

/* Makes drawing fail. */
void
device_double_refuse_scenes (gboolean refuse)
{
  g_atomic_int_set (&refuses_scenes, refuse);
}
