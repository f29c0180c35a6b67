/* Scenes on the CPU, pixel by pixel against the reference in double precision;
 * layouts: sizes, positions and directions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "tests/engine/randomscene.h"
#include "tests/engine/scenereference.h"
#include "view/layout.h"
#include "view/scene.h"

#include <math.h>
#include <string.h>

/* The picture of the CPU with the rows @stride bytes apart. */
static guint8 *
draw (const NdRandomScene *scene, const NdLayout *layout, gsize stride)
{
  guint8 *pixels = g_malloc0 (stride * scene->height);
  const NdSceneFuncs *funcs = nd_cpu_backend.scenes;
  g_autoptr (GError) error = NULL;
  NdScene *drawn = funcs->create (&scene->job, -1, &error);

  g_assert_no_error (error);
  g_assert_true (funcs->take (drawn, scene->volume, &error));
  g_assert_true (funcs->draw (drawn, layout->panels, layout->n, &scene->look,
      pixels, stride, &error));
  funcs->destroy (drawn);
  return pixels;
}

static void
compare (const NdRandomScene *scene)
{
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  const gsize stride = 3 * scene->width + 1;
  g_autofree guint8 *want = g_malloc0 (stride * scene->height);
  g_autofree guint8 *have = NULL;
  g_autofree gchar *text = nd_random_scene_text (scene);
  gsize bad;

  nd_random_scene_layout (scene, layout);
  have = draw (scene, layout, stride);
  nd_reference_draw (&scene->job, scene->volume, layout->panels, layout->n,
      &scene->look, want, stride);
  bad = nd_random_scene_differences (scene, have, want, stride);
  if (bad > nd_random_scene_allowed (scene))
    g_error ("%s: %" G_GSIZE_FORMAT " numbers differ, %" G_GSIZE_FORMAT " may",
        text, bad, nd_random_scene_allowed (scene));
}

static void
test_reference (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint i = 0; i < 42 * (ND_VIEW_SURFACE + 1); i++) {
    g_auto (NdRandomScene) scene;

    nd_random_scene_init (&scene, rand, i);
    compare (&scene);
  }
}

/* Values along lines of all directions, of all types and components. */
static void
test_lines (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  const NdSceneFuncs *funcs = nd_cpu_backend.scenes;

  for (guint i = 0; i < 100; i++) {
    g_auto (NdRandomScene) scene;
    NdScene *drawn;

    nd_random_scene_init (&scene, rand, 6 * i);
    drawn = funcs->create (&scene.job, -1, NULL);
    g_assert_true (funcs->take (drawn, scene.volume, NULL));
    nd_random_scene_check_line (&scene, rand, funcs, drawn);
    funcs->destroy (drawn);
  }
}

/* Quarter turns, of which sines and cosines are almost 0: many rays are almost
 * parallel to the faces of the volume and miss it. */
static void
test_quarter_turns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  g_auto (NdRandomScene)
      scene = { .job = { ND_UINT8, { 1, { 13, 9, 11 } }, { 1, 1.1, 0.9 } },
        .eye = { -1 },
        .width = 41,
        .height = 37 };

  scene.volume = nd_random_volume (rand, &scene.job, FALSE, NULL);
  nd_random_look (rand, &scene.look, ND_COLORMAP_GRAY);
  for (guint i = 0; i < 3 * 5 * 3; i++) {
    scene.camera = (NdCamera){ .mode = i % 3 == 0 ? ND_VIEW_PROJECTION
          : i % 3 == 1                            ? ND_VIEW_VOLUME
                                                  : ND_VIEW_SURFACE,
      .azimuth = 90.0 * (i / 3 % 5) - 180,
      .elevation = 90.0 * (i / 15) - 90,
      .zoom = 0.71,
      .pan = { 0.013, 0.017 } };

    compare (&scene);
  }
}

/* A projection that is not rotated shows each sample on its own. */
static void
test_axis_projection (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint axis = 0; axis < 3; axis++) {
    const NdSceneJob job = { ND_UINT8, { 1, { 7, 10, 13 } }, { 1, 1, 1 } };
    const gsize *size = job.shape.size;
    const NdCamera camera = {
      .mode = ND_VIEW_PROJECTION, .axis = axis, .zoom = 1
    };
    const guint across = axis == 0 ? 2 : 0, down = axis == 1 ? 2 : 1;
    g_autofree guint8 *volume = nd_random_volume (rand, &job, FALSE, NULL);
    g_autofree NdLayout *layout = g_new (NdLayout, 1);
    guint8 pixels[13 * 13 * 3];
    NdScene *scene = nd_cpu_backend.scenes->create (&job, -1, NULL);
    NdLook look = { .low = 0, .window = 255 };
    gint width, height;

    nd_colormap_fill (ND_COLORMAP_GRAY, look.colors);
    g_assert_true (nd_layout_natural_size (&camera, &job, &width, &height));
    g_assert_cmpint (width, ==, size[across]);
    g_assert_cmpint (height, ==, size[down]);
    nd_layout_init (layout, &camera, &job, width, height);
    nd_cpu_backend.scenes->take (scene, volume, NULL);
    nd_cpu_backend.scenes->draw (scene, layout->panels, layout->n, &look,
        pixels, 3 * width, NULL);
    for (gint y = 0; y < height; y++) {
      for (gint x = 0; x < width; x++) {
        guint8 most = 0;

        for (gsize i = 0; i < size[axis]; i++) {
          gsize at[3];

          at[axis] = i;
          at[across] = x;
          at[down] = y;
          most =
              MAX (most, volume[(at[2] * size[1] + at[1]) * size[0] + at[0]]);
        }
        g_assert_cmpint (pixels[3 * (y * width + x)], ==, most);
      }
    }
    nd_cpu_backend.scenes->destroy (scene);
  }
}

/* 1 mm is as long in every plane and in both directions, the planes share the
 * rows and columns that belong together, and all panels are in the picture. */
static void
test_layouts (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  g_autofree NdLayout *layout = g_new (NdLayout, 1);

  for (guint round = 0; round < 500; round++) {
    NdSceneJob job = { ND_UINT8, { 1, { 0 } }, { 0 } };
    NdCamera camera = { .mode = round % 2 ? ND_VIEW_ORTHOGONAL : ND_VIEW_MOSAIC,
      .axis = round / 2 % 3,
      .slices = g_rand_int_range (rand, 0, 30),
      .zoom = 1 };
    const gint width = g_rand_int_range (rand, 20, 900);
    const gint height = g_rand_int_range (rand, 20, 900);

    for (guint a = 0; a < 3; a++) {
      job.shape.size[a] = g_rand_int_range (rand, 1, 60);
      job.spacing[a] = g_rand_double_range (rand, 0.2, 3);
      camera.position[a] = g_rand_double (rand);
    }
    nd_layout_init (layout, &camera, &job, width, height);
    for (guint i = 0; i < layout->n; i++) {
      const NdPanel *p = &layout->panels[i];
      gdouble right = 0, down = 0;

      g_assert_true (p->left >= 0 && p->top >= 0 && p->width > 0
          && p->height > 0 && p->left + p->width <= width
          && p->top + p->height <= height);
      for (guint a = 0; a < 3; a++) {
        right += p->right[a] * job.spacing[a];
        down += p->down[a] * job.spacing[a];
      }
      g_assert_cmpfloat_with_epsilon (right, layout->pixel, 1e-9);
      g_assert_cmpfloat_with_epsilon (down, layout->pixel, 1e-9);
      g_assert_cmpint (nd_layout_panel_at (layout, p->left, p->top), ==, i);
    }
    if (camera.mode == ND_VIEW_ORTHOGONAL && layout->n == 3) {
      /* Row y of the planes across z and x; column x of those across z, y. */
      g_assert_cmpfloat_with_epsilon (layout->panels[0].origin[1],
          layout->panels[1].origin[1], 1e-9);
      g_assert_cmpfloat_with_epsilon (layout->panels[0].origin[0],
          layout->panels[2].origin[0], 1e-9);
    } else if (camera.mode == ND_VIEW_MOSAIC && layout->n > 1) {
      g_assert_cmpuint (layout->indices[0], ==, 0);
      g_assert_cmpuint (layout->indices[layout->n - 1], ==,
          job.shape.size[camera.axis] - 1);
    }
  }
}

/* The front moves as the drag does. */
static void
test_rotation (void)
{
  const NdSceneJob job = { ND_UINT8, { 1, { 50, 50, 50 } }, { 1, 1, 1 } };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);

  for (guint down = 0; down < 2; down++) {
    NdCamera camera = { .mode = ND_VIEW_VOLUME, .axis = ND_AXIS_Z, .zoom = 1 };
    gdouble x = 0, y = 0;

    nd_camera_rotate (&camera, !down * 10, down * 10, 100, 100);
    nd_layout_init (layout, &camera, &job, 100, 100);
    /* The position of (0, 0, -1) from the middle in the picture. */
    x -= layout->panels[0].right[2];
    y -= layout->panels[0].down[2];
    g_assert_true (down ? y > 0 && fabs (x) < 1e-9 : x > 0 && fabs (y) < 1e-9);
  }
}

static void
test_colormaps (void)
{
  gfloat colors[ND_LOOK_COLORS][3];

  nd_colormap_fill (ND_COLORMAP_GRAY, colors);
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    g_assert_cmpfloat_with_epsilon (colors[i][1], i, 1e-4);
  for (NdColormap map = ND_COLORMAP_GRAY; map <= ND_COLORMAP_HUE; map++) {
    gdouble before = -1;

    nd_colormap_fill (map, colors);
    for (guint i = 0; i < ND_LOOK_COLORS; i++) {
      const gdouble luma =
          0.299 * colors[i][0] + 0.587 * colors[i][1] + 0.114 * colors[i][2];

      for (guint c = 0; c < 3; c++)
        g_assert_true (colors[i][c] >= 0 && colors[i][c] <= 255);
      /* Maps for one quantity become brighter all the way. */
      if (map <= ND_COLORMAP_VIRIDIS)
        g_assert_cmpfloat (luma, >, before - 1e-3);
      before = luma;
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene/reference", test_reference);
  g_test_add_func ("/scene/lines", test_lines);
  g_test_add_func ("/scene/quarter-turns", test_quarter_turns);
  g_test_add_func ("/scene/axis-projection", test_axis_projection);
  g_test_add_func ("/scene/layouts", test_layouts);
  g_test_add_func ("/scene/rotation", test_rotation);
  g_test_add_func ("/scene/colormaps", test_colormaps);
  return g_test_run ();
}
