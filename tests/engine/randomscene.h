/* Random scenes, for tests of all back ends.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "view/layout.h"
#include "view/scene.h"

G_BEGIN_DECLS

typedef struct
{
  NdSceneJob job;
  NdCamera camera;
  NdLook look;
  gint width, height;
  gdouble eye[3]; /* in perspective: 0 to 1 of each axis; below 0: outside */
  gpointer volume;
  gsize bytes; /* of the volume */
} NdRandomScene;

/* Blobs, so that there are surfaces, on noise; numbers fit in all types. With
 * @holes, some floats are NaN. Sets @bytes, which may be NULL. Free the result
 * with g_free(). */
gpointer nd_random_volume (GRand *rand, const NdSceneJob *job, gboolean holes,
    gsize *bytes);

void nd_random_look (GRand *rand, NdLook *look, NdColormap map);

/* Scene @number of a series: all modes, types, components and projections take
 * turns; volumes of one sample along an axis, NaN, unequal spacing, rays in
 * parallel and in perspective, some from inside the volume. */
void nd_random_scene_init (NdRandomScene *scene, GRand *rand, guint number);
void nd_random_scene_clear (NdRandomScene *scene);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdRandomScene, nd_random_scene_clear)

void nd_random_scene_layout (const NdRandomScene *scene, NdLayout *layout);

/* What to print if @scene fails; free it with g_free(). */
gchar *nd_random_scene_text (const NdRandomScene *scene);

/* The numbers of two pictures of @scene that differ by more than 1. */
gsize nd_random_scene_differences (const NdRandomScene *scene,
    const guint8 *picture, const guint8 *other, gsize stride);

/* How many of them may: those of three pixels if there are rays, because at the
 * edges of volumes, surfaces and NaN a rounding decides which sample a ray
 * meets. One number in a million differs. */
gsize nd_random_scene_allowed (const NdRandomScene *scene);

/* Compares the values of a random line of the volume, which @drawn of @funcs
 * has taken, with those of its samples. */
void nd_random_scene_check_line (const NdRandomScene *scene, GRand *rand,
    const NdSceneFuncs *funcs, NdScene *drawn);

G_END_DECLS
