/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/engine/randomscene.h"

#include "core/convert.h"
#include "view/scene.h"

#include <math.h>
#include <string.h>

static void
set_sample (gpointer data, gsize i, NdSampleType type, gfloat v)
{
  const gsize bytes = nd_sample_size (type);
  guint8 *to = (guint8 *) data + i * bytes;

  switch (type) {
    case ND_FLOAT64:
      *(gdouble *) to = v;
      break;
    case ND_FLOAT32:
      *(gfloat *) to = v;
      break;
    case ND_FLOAT16:
      *(guint16 *) to = nd_float_to_half (v);
      break;
    default:
      for (gsize k = 0; k < bytes; k++)
        to[k] = k == 0 ? (guint8) v : 0;
      break;
  }
}

gpointer
nd_random_volume (GRand *rand, const NdSceneJob *job, gboolean holes,
    gsize *bytes)
{
  const gsize *size = job->shape.size, components = job->shape.components;
  const gsize n = components * size[0] * size[1] * size[2];
  gpointer data = g_malloc (n * nd_sample_size (job->type));
  gdouble blobs[4][4];

  for (guint b = 0; b < 4; b++) {
    for (guint a = 0; a < 3; a++)
      blobs[b][a] = g_rand_double_range (rand, 0.2, 0.8) * size[a];
    blobs[b][3] = g_rand_double_range (rand, 2, 6);
  }
  for (gsize i = 0; i < n; i++) {
    const gsize s = i / components;
    const gdouble at[3] = { s % size[0], s / size[0] % size[1],
      s / size[0] / size[1] };
    gfloat v = g_rand_double_range (rand, 0, 8);

    for (guint b = 0; b < 4; b++) {
      gdouble d = 0;

      for (guint a = 0; a < 3; a++)
        d += (at[a] - blobs[b][a]) * (at[a] - blobs[b][a]);
      v += 30 * exp (-d / blobs[b][3] / blobs[b][3]);
    }
    v = MIN (v, 120);
    if (nd_sample_is_float (job->type) && holes
        && g_rand_int_range (rand, 0, 50) == 0)
      v = NAN;
    set_sample (data, i, job->type, v);
  }
  if (bytes)
    *bytes = n * nd_sample_size (job->type);
  return data;
}

void
nd_random_look (GRand *rand, NdLook *look, NdColormap map)
{
  gdouble length = 0;

  memset (look, 0, sizeof *look);
  look->low = g_rand_double_range (rand, 0, 10);
  look->window = g_rand_double_range (rand, 20, 40);
  nd_colormap_fill (map, look->colors);
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    look->opacity[i] = i < 80 ? 0 : (i - 80) / 400.0;
  for (guint c = 0; c < 3; c++) {
    look->background[c] = g_rand_int_range (rand, 0, 256);
    look->surface_color[c] = g_rand_int_range (rand, 0, 256);
    look->light[c] = g_rand_double_range (rand, -1, 1);
    length += look->light[c] * look->light[c];
  }
  for (guint c = 0; c < 3; c++)
    look->light[c] /= sqrt (length);
  look->ambient = 0.3;
  look->diffuse = 0.6;
  look->specular = 0.3;
  look->level = 20.3;
}

void
nd_random_scene_init (NdRandomScene *scene, GRand *rand, guint number)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16,
    ND_FLOAT32, ND_INT8, ND_UINT32, ND_FLOAT16, ND_INT32, ND_FLOAT64 };
  const NdViewMode mode = ND_VIEW_SLICE + number % (ND_VIEW_SURFACE + 1);
  const guint round = number / (ND_VIEW_SURFACE + 1);
  NdCamera *camera = &scene->camera;

  memset (scene, 0, sizeof *scene);
  scene->job.type = types[round % G_N_ELEMENTS (types)];
  scene->job.shape.components = 1 + round / 7 % 4;
  for (guint a = 0; a < 3; a++) {
    scene->job.shape.size[a] = g_rand_int_range (rand, 1, 26);
    scene->job.spacing[a] = g_rand_double_range (rand, 0.5, 1.5);
  }
  if (g_rand_int_range (rand, 0, 8) == 0)
    scene->job.shape.size[g_rand_int_range (rand, 0, 3)] = 1;
  scene->volume =
      nd_random_volume (rand, &scene->job, round % 2, &scene->bytes);
  camera->mode = mode;
  camera->axis = g_rand_int_range (rand, 0, 3);
  camera->azimuth = g_rand_double_range (rand, -180, 180);
  camera->elevation = g_rand_double_range (rand, -90, 90);
  camera->perspective = round % 3 == 0 ? g_rand_double_range (rand, 5, 150) : 0;
  camera->zoom = g_rand_double_range (rand, 0.7, round % 5 == 0 ? 20 : 2);
  camera->pan[0] = g_rand_double_range (rand, -0.3, 0.3);
  camera->pan[1] = g_rand_double_range (rand, -0.3, 0.3);
  camera->projection = round % 3;
  for (guint a = 0; a < 3; a++)
    camera->position[a] = g_rand_double (rand);
  nd_random_look (rand, &scene->look, round % 6);
  if (g_rand_int_range (rand, 0, 4) == 0) {
    scene->look.ambient = 1;
    scene->look.diffuse = scene->look.specular = 0;
  }
  for (guint a = 0; a < 3; a++)
    scene->eye[a] = round % 2 ? -1 : g_rand_double (rand);
  scene->width = g_rand_int_range (rand, 20, 50);
  scene->height = g_rand_int_range (rand, 20, 50);
}

void
nd_random_scene_layout (const NdRandomScene *scene, NdLayout *layout)
{
  nd_layout_init (layout, &scene->camera, &scene->job, scene->width,
      scene->height);
  for (guint i = 0; i < layout->n && scene->eye[0] >= 0; i++) {
    for (guint a = 0; a < 3; a++)
      layout->panels[i].eye[a] = scene->eye[a] * scene->job.shape.size[a] - 0.5;
  }
}

void
nd_random_scene_clear (NdRandomScene *scene)
{
  g_clear_pointer (&scene->volume, g_free);
}

gchar *
nd_random_scene_text (const NdRandomScene *scene)
{
  const NdSceneJob *job = &scene->job;
  const NdCamera *c = &scene->camera;

  return g_strdup_printf ("mode %d axis %d, %" G_GSIZE_FORMAT
                          ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                          ":%" G_GSIZE_FORMAT " %s, spacing %g %g %g, %d x %d, "
                          "angles %g %g, perspective %g, zoom %g, eye %g",
      c->mode, c->axis, job->shape.components, job->shape.size[0],
      job->shape.size[1], job->shape.size[2], nd_sample_name (job->type),
      job->spacing[0], job->spacing[1], job->spacing[2], scene->width,
      scene->height, c->azimuth, c->elevation, c->perspective, c->zoom,
      scene->eye[0]);
}

gsize
nd_random_scene_differences (const NdRandomScene *scene, const guint8 *picture,
    const guint8 *other, gsize stride)
{
  gsize bad = 0;

  for (gint y = 0; y < scene->height; y++)
    for (gint i = 0; i < 3 * scene->width; i++)
      bad += ABS (picture[y * stride + i] - other[y * stride + i]) > 1;
  return bad;
}

gsize
nd_random_scene_allowed (const NdRandomScene *scene)
{
  switch (scene->camera.mode) {
    case ND_VIEW_PROJECTION:
    case ND_VIEW_VOLUME:
    case ND_VIEW_SURFACE:
      return 3 * 3;
    default:
      return 0;
  }
}

void
nd_random_scene_check_line (const NdRandomScene *scene, GRand *rand,
    const NdSceneFuncs *funcs, NdScene *drawn)
{
  const NdShape *shape = &scene->job.shape;
  const guint axis = g_rand_int_range (rand, 0, 3);
  const gsize steps[] = { 1, shape->size[0], shape->size[0] * shape->size[1] };
  const gsize n = shape->size[axis], components = shape->components;
  g_autofree gfloat *values = g_new (gfloat, n);
  g_autoptr (GError) error = NULL;
  gsize first = 0;

  for (guint a = 0; a < 3; a++) {
    if (a != axis)
      first += steps[a] * g_rand_int_range (rand, 0, shape->size[a]);
  }
  g_assert_true (funcs->line (drawn, first, steps[axis], values, n, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < n; i++) {
    gdouble v[3] = { 0, 0, 0 }, want;

    for (gsize c = 0; c < MIN (components, 3); c++)
      v[c] = nd_sample_value (scene->volume,
          (first + i * steps[axis]) * components + c, scene->job.type);
    want = components == 2 ? hypot (v[0], v[1])
        : components == 3  ? (v[0] + v[1] + v[2]) / 3
                           : v[0];
    if (isnan (want))
      g_assert_true (isnan (values[i]));
    else
      g_assert_cmpfloat_with_epsilon (values[i], want, 1e-6 * (1 + want));
  }
}
