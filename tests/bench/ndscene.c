/* Measures the time to draw a scene of the heart.
 *
 *   ndscene [--size N] [--picture N] [--runs N] [--noise F] [--type TYPE]
 *           [--module FILE]
 *
 * N^3 samples, by default 256, and a picture of N^2 pixels, by default 768.
 * Prints one JSON object per scene: scene, size, picture, type, simd, threads,
 * runs, and in ms: first_ms (CPU time of the first picture of a volume),
 * again_ms (CPU time of the next one of the same volume, which finds the cells
 * of the volume known), wall_ms and wall_again_ms (the time that passes). All
 * are the least of all runs; median_ms is the median of wall_ms.
 *
 * --module draws with the back end of a module, for example
 * cuda/ndconv-cuda.so, volumes that lie in the memory of its device. The
 * picture is in host memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/threads.h"
#include "cpu/cpu.h"
#include "cpu/kernels.h"
#include "phantom/pattern.h"
#include "view/layout.h"
#include "view/scene.h"

#include <math.h>

typedef struct
{
  const gchar *name;
  NdViewMode mode;
  gdouble zoom, perspective;
  gdouble grey[2], opacity[2]; /* two points of the curve */
} Case;

static const NdBackend *backend = &nd_cpu_backend;

static const Case cases[] = {
  { "volume-fog", ND_VIEW_VOLUME, 1, 0, { 0.25, 1 }, { 0, 0.25 } },
  { "volume-walls", ND_VIEW_VOLUME, 1.6, 30, { 0.66, 0.8 }, { 0, 0.25 } },
  { "surface", ND_VIEW_SURFACE, 1.6, 30 },
  { "projection-max", ND_VIEW_PROJECTION, 1, 0 },
};

static gdouble
milliseconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void
make_look (const Case *c, NdLook *look)
{
  memset (look, 0, sizeof *look);
  look->low = 0;
  look->window = 200;
  look->level = 138;
  nd_colormap_fill (ND_COLORMAP_BONE, look->colors);
  for (guint i = 0; i < ND_LOOK_COLORS; i++) {
    const gdouble part = (i / 255.0 - c->grey[0]) / (c->grey[1] - c->grey[0]);

    look->opacity[i] =
        c->opacity[0] + CLAMP (part, 0, 1) * (c->opacity[1] - c->opacity[0]);
  }
  look->light[0] = -0.45;
  look->light[1] = -0.64;
  look->light[2] = -0.62;
  look->ambient = 0.3;
  look->diffuse = 0.8;
  look->specular = 0.2;
  for (guint i = 0; i < 3; i++)
    look->surface_color[i] = 200;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static void
draw (NdScene *scene, const NdLayout *layout, const NdLook *look,
    guint8 *pixels, gint picture)
{
  g_autoptr (GError) error = NULL;

  backend->scenes->draw (scene, layout->panels, layout->n, look, pixels,
      3 * picture, &error);
  g_assert_no_error (error);
}

static void
measure (const Case *c, const NdSceneJob *job, gconstpointer volume,
    gint picture, gint runs)
{
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  g_autofree guint8 *pixels = g_malloc (3 * (gsize) picture * picture);
  const NdCamera camera = { .mode = c->mode,
    .axis = ND_AXIS_Z,
    .azimuth = 25,
    .elevation = -15,
    .perspective = c->perspective,
    .zoom = c->zoom };
  g_autofree gdouble *walls = g_new (gdouble, runs);
  NdScene *scene = backend->scenes->create (job, -1, NULL);
  gdouble first = INFINITY, again = INFINITY, wall_again = INFINITY;
  NdLook look;

  make_look (c, &look);
  nd_layout_init (layout, &camera, job, picture, picture);
  for (gint i = 0; i < runs; i++) {
    const gdouble cpu = milliseconds (CLOCK_PROCESS_CPUTIME_ID);
    const gdouble clock = milliseconds (CLOCK_MONOTONIC);
    gdouble middle, clock_middle;

    g_assert_true (backend->scenes->take (scene, volume, NULL));
    draw (scene, layout, &look, pixels, picture);
    middle = milliseconds (CLOCK_PROCESS_CPUTIME_ID);
    clock_middle = milliseconds (CLOCK_MONOTONIC);
    draw (scene, layout, &look, pixels, picture);
    wall_again =
        MIN (wall_again, milliseconds (CLOCK_MONOTONIC) - clock_middle);
    again = MIN (again, milliseconds (CLOCK_PROCESS_CPUTIME_ID) - middle);
    first = MIN (first, middle - cpu);
    walls[i] = clock_middle - clock;
  }
  backend->scenes->destroy (scene);
  qsort (walls, runs, sizeof (gdouble), compare_times);
  printf ("{\"scene\": \"%s\", \"backend\": \"%s\", \"size\": %d, "
          "\"picture\": %d, \"type\": \"%s\", \"simd\": \"%s\", "
          "\"threads\": %u, \"runs\": %d, \"first_ms\": %.1f, "
          "\"again_ms\": %.1f, \"wall_ms\": %.3f, "
          "\"wall_again_ms\": %.3f, \"median_ms\": %.3f}\n",
      c->name, backend->name, (gint) job->shape.size[0], picture,
      nd_sample_name (job->type), nd_kernels ()->name, nd_threads (), runs,
      first, again, walls[0], wall_again, walls[runs / 2]);
}

int
main (int argc, char **argv)
{
  gint size = 256, picture = 768, runs = 5;
  g_autofree gchar *type = NULL, *module = NULL;
  gdouble noise = 1;
  const GOptionEntry entries[] = {
    { "size", 0, 0, G_OPTION_ARG_INT, &size, "Samples along each axis", "N" },
    { "picture", 0, 0, G_OPTION_ARG_INT, &picture, "Width and height", "N" },
    { "runs", 0, 0, G_OPTION_ARG_INT, &runs, "Runs of each scene", "N" },
    { "noise", 0, 0, G_OPTION_ARG_DOUBLE, &noise, "Speckle; 0: none", "F" },
    { "type", 0, 0, G_OPTION_ARG_STRING, &type, "uint8, int16, uint16, float32",
        "TYPE" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &module, "Of the back end",
        "FILE" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  NdPatternSettings settings = { .kind = ND_PATTERN_HEART,
    .type = ND_UINT8,
    .rate_n = 25,
    .rate_d = 1,
    .heart_rate = 75 };
  g_autoptr (NdPattern) pattern = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gpointer volume = NULL;
  gpointer there = NULL;
  NdSceneJob job = { ND_UINT8, { 1, { size, size, size } }, { 1, 1, 1 } };
  gsize samples;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)
      || (type && !nd_sample_from_name (type, &settings.type))) {
    fprintf (stderr, "%s\n", error ? error->message : "no such type");
    return 2;
  }
  if (runs < 1
      || (module
          && (!nd_backend_open (module, &error)
              || !(backend = nd_backend_find ("cuda", -1, &error))))) {
    fprintf (stderr, "%s\n", error ? error->message : "no runs");
    return 1;
  }
  for (guint a = 0; a < 3; a++)
    job.shape.size[a] = size;
  job.type = settings.type;
  settings.shape = job.shape;
  settings.noise = noise;
  if (!nd_shape_samples (&job.shape, &samples)
      || !(pattern = nd_pattern_new (&settings, &error))) {
    fprintf (stderr, "%s\n", error ? error->message : "too large");
    return 1;
  }
  volume = g_malloc_n (samples, nd_sample_size (job.type));
  nd_pattern_volume (pattern, 3, volume);
  if (backend->memory) {
    const gsize bytes = samples * nd_sample_size (job.type);

    there = backend->memory->alloc (-1, bytes, &error);
    g_assert_no_error (error);
    g_assert_true (backend->memory->copy (there, volume, bytes, NULL));
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    measure (&cases[i], &job, there ? there : volume, picture, runs);
  if (there)
    backend->memory->free (there);
  return 0;
}
