/* Compares the pictures of a back end with those of the reference in double
 * precision, on random scenes.
 *
 *   checkscenes [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *
 * tests/methods/checkjobs.h explains the options. The back end of a module is
 * also compared with the CPU.
 *
 * Numbers of a picture differ by 1 at most, but for few at the edges of
 * volumes, surfaces and NaN, where a rounding decides which sample a ray meets.
 * The bytes between rows and around the picture must not change, and a picture
 * that is drawn again, with or without the volume taken again, must be equal.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "tests/engine/randomscene.h"
#include "tests/engine/scenereference.h"
#include "tests/methods/checkjobs.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 61

/* The volume of a scene in memory of the device, at an address that is no
 * better aligned than a sample, or in host memory. */
typedef struct
{
  gpointer memory; /* NULL: in host memory */
  gconstpointer volume;
} Place;

static void
place_init (Place *place, const NdRandomScene *scene, GRand *rand)
{
  const gsize offset =
      g_rand_int_range (rand, 0, 4) * nd_sample_size (scene->job.type);
  g_autoptr (GError) error = NULL;
  guint8 *memory;

  place->memory = NULL;
  place->volume = scene->volume;
  if (!check_backend->memory || g_rand_boolean (rand))
    return;
  memory = check_backend->memory->alloc (-1, scene->bytes + offset, &error);
  g_assert_no_error (error);
  g_assert_true (check_backend->memory->copy (memory + offset, scene->volume,
      scene->bytes, &error));
  place->memory = memory;
  place->volume = memory + offset;
}

static void
place_clear (Place *place)
{
  if (place->memory)
    check_backend->memory->free (place->memory);
}

typedef struct
{
  gsize stride, size;
  guint8 *memory, *pixels;
} Picture;

static void
picture_init (Picture *p, const NdRandomScene *scene)
{
  p->stride = 3 * scene->width + 5;
  p->size = p->stride * scene->height + 2 * GUARD;
  p->memory = g_malloc (p->size);
  p->pixels = p->memory + GUARD;
}

static void
draw (const NdSceneFuncs *funcs, NdScene *drawn, const NdRandomScene *scene,
    const NdLayout *layout, Picture *p)
{
  g_autoptr (GError) error = NULL;

  memset (p->memory, 0xa5, p->size);
  funcs->draw (drawn, layout->panels, layout->n, &scene->look, p->pixels,
      p->stride, &error);
  g_assert_no_error (error);
}

/* Whether bytes that belong to no panel are as they were. */
static gboolean
is_kept (const NdRandomScene *scene, const NdLayout *layout, const Picture *p)
{
  for (gsize i = 0; i < p->size; i++) {
    const gsize at = i - GUARD;
    const gint x = at % p->stride / 3, y = at / p->stride;

    if (p->memory[i] != 0xa5
        && (i < GUARD || x >= scene->width || y >= scene->height
            || nd_layout_panel_at (layout, x, y) < 0))
      return FALSE;
  }
  return TRUE;
}

/* The picture of the CPU. */
static void
draw_on_cpu (const NdRandomScene *scene, const NdLayout *layout, Picture *p)
{
  const NdSceneFuncs *funcs = nd_cpu_backend.scenes;
  NdScene *drawn = funcs->create (&scene->job, -1, NULL);

  g_assert_true (funcs->take (drawn, scene->volume, NULL));
  draw (funcs, drawn, scene, layout, p);
  funcs->destroy (drawn);
}

static gsize total_reference, total_cpu, total_numbers;

static gboolean
check (gint number, GRand *rand)
{
  const NdSceneFuncs *funcs = check_backend->scenes;
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  g_autoptr (GError) error = NULL;
  Picture have, again, want, cpu;
  NdRandomScene scene;
  NdScene *drawn;
  Place place;
  gsize bad, differ = 0;
  gboolean kept, equal, ok;

  nd_random_scene_init (&scene, rand, number);
  nd_random_scene_layout (&scene, layout);
  place_init (&place, &scene, rand);
  picture_init (&have, &scene);
  picture_init (&again, &scene);
  picture_init (&want, &scene);
  picture_init (&cpu, &scene);
  drawn = funcs->create (&scene.job, -1, &error);
  g_assert_no_error (error);
  g_assert_true (funcs->take (drawn, place.volume, &error));
  draw (funcs, drawn, &scene, layout, &have);
  draw (funcs, drawn, &scene, layout, &again);
  equal = memcmp (have.memory, again.memory, have.size) == 0;
  g_assert_true (funcs->take (drawn, place.volume, &error));
  nd_random_scene_check_line (&scene, rand, funcs, drawn);
  draw (funcs, drawn, &scene, layout, &again);
  equal &= memcmp (have.memory, again.memory, have.size) == 0;
  funcs->destroy (drawn);

  kept = is_kept (&scene, layout, &have);
  nd_reference_draw (&scene.job, scene.volume, layout->panels, layout->n,
      &scene.look, memset (want.pixels, 0xa5, want.size - GUARD), want.stride);
  bad = nd_random_scene_differences (&scene, have.pixels, want.pixels,
      have.stride);
  if (check_has_module) {
    draw_on_cpu (&scene, layout, &cpu);
    differ = nd_random_scene_differences (&scene, have.pixels, cpu.pixels,
        have.stride);
  }
  total_reference += bad;
  total_cpu += differ;
  total_numbers += 3 * (gsize) scene.width * scene.height;
  ok = kept && equal && bad <= nd_random_scene_allowed (&scene)
      && differ <= nd_random_scene_allowed (&scene);
  if (!ok) {
    g_autofree gchar *text = nd_random_scene_text (&scene);

    g_printerr ("# job %d: %s: %" G_GSIZE_FORMAT
                " numbers differ from the reference, %" G_GSIZE_FORMAT
                " from the CPU%s%s\n",
        number, text, bad, differ, kept ? "" : ", writes beside the panels",
        equal ? "" : ", not repeatable");
  }
  g_free (have.memory);
  g_free (again.memory);
  g_free (want.memory);
  g_free (cpu.memory);
  place_clear (&place);
  nd_random_scene_clear (&scene);
  return ok;
}

int
main (int argc, char **argv)
{
  gint code = check_begin (&argc, &argv, NULL);

  if (code >= 0)
    return code;
  code = check_run (check);
  g_print ("# of %" G_GSIZE_FORMAT " numbers, %" G_GSIZE_FORMAT
           " differ from the reference by more than 1 and %" G_GSIZE_FORMAT
           " from the CPU\n",
      total_numbers, total_reference, total_cpu);
  return code;
}
