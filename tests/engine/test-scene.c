/* Scenes on the CPU, pixel by pixel against the reference in double precision;
 * layouts: sizes, positions and directions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"
#include "cpu/cpu.h"
#include "engine/colormap.h"
#include "engine/layout.h"
#include "tests/engine/scenereference.h"

#include <math.h>
#include <string.h>

/* Blobs, so that there are surfaces, on noise; numbers fit in all types. */
static gpointer
make_volume (GRand *rand, const NdSceneJob *job, gboolean holes)
{
  const gsize *size = job->shape.size, components = job->shape.components;
  const gsize n = components * size[0] * size[1] * size[2];
  const gsize bytes = nd_sample_size (job->type);
  guint8 *data = g_malloc (n * bytes);
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
    if (job->type == ND_FLOAT32 && holes && g_rand_int_range (rand, 0, 50) == 0)
      v = NAN;
    switch (job->type) {
      case ND_FLOAT32:
        memcpy (data + i * bytes, &v, 4);
        break;
      case ND_FLOAT16:
        *(guint16 *) (data + i * bytes) = nd_float_to_half (v);
        break;
      default:
        for (gsize k = 0; k < bytes; k++)
          data[i * bytes + k] = k == 0 ? (guint8) v : 0;
        break;
    }
  }
  return data;
}

static void
make_look (GRand *rand, NdLook *look, NdColormap map)
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

/* Draws and compares. At the edges of volumes, surfaces and NaN, a rounding
 * decides which sample a ray meets; such pixels are few. */
static void
compare (const NdSceneJob *job, gconstpointer volume, const NdCamera *camera,
    const NdLook *look, gint width, gint height)
{
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  const gsize stride = 3 * width + 1;
  g_autofree guint8 *want = g_malloc0 (stride * height);
  g_autofree guint8 *have = g_malloc0 (stride * height);
  g_autoptr (GError) error = NULL;
  NdScene *scene = nd_cpu_backend.scenes->create (job, -1, &error);
  gsize bad = 0;

  g_assert_no_error (error);
  nd_layout_init (layout, camera, job, width, height);
  g_assert_true (nd_cpu_backend.scenes->take (scene, volume, &error));
  g_assert_true (nd_cpu_backend.scenes->draw (scene, layout->panels, layout->n,
      look, have, stride, &error));
  nd_reference_draw (job, volume, layout->panels, layout->n, look, want,
      stride);
  for (gsize i = 0; i < stride * height; i++)
    bad += ABS (have[i] - want[i]) > 1;
  if (bad > (camera->mode == ND_VIEW_SURFACE       ? stride * height / 50
              : camera->mode == ND_VIEW_SLICE      ? 0
              : camera->mode == ND_VIEW_ORTHOGONAL ? 0
              : camera->mode == ND_VIEW_MOSAIC     ? 0
                                                   : stride * height / 100))
    g_error ("mode %d axis %d type %d components %" G_GSIZE_FORMAT
             " size %d x %d: %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
             " numbers differ",
        camera->mode, camera->axis, job->type, job->shape.components, width,
        height, bad, stride * height);
  nd_cpu_backend.scenes->destroy (scene);
}

static void
test_reference (void)
{
  static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16,
    ND_FLOAT32, ND_INT8, ND_UINT32, ND_FLOAT16 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());

  for (guint round = 0; round < 42; round++) {
    NdSceneJob job = { types[round % G_N_ELEMENTS (types)],
      { 1 + round / 7 % 4, { 0 } }, { 0 } };
    g_autofree gpointer volume = NULL;

    for (guint a = 0; a < 3; a++) {
      job.shape.size[a] = g_rand_int_range (rand, 1, 26);
      job.spacing[a] = g_rand_double_range (rand, 0.5, 1.5);
    }
    volume = make_volume (rand, &job, round % 2);
    for (guint mode = ND_VIEW_SLICE; mode <= ND_VIEW_SURFACE; mode++) {
      NdCamera camera = { .mode = mode,
        .axis = g_rand_int_range (rand, 0, 3),
        .azimuth = g_rand_double_range (rand, -180, 180),
        .elevation = g_rand_double_range (rand, -90, 90),
        .perspective = round % 3 == 0 ? g_rand_double_range (rand, 5, 60) : 0,
        .zoom = g_rand_double_range (rand, 0.7, 2),
        .pan = { g_rand_double_range (rand, -0.3, 0.3),
            g_rand_double_range (rand, -0.3, 0.3) },
        .projection = round % 3 };
      NdLook look;

      make_look (rand, &look, round % 6);
      for (guint a = 0; a < 3; a++)
        camera.position[a] = g_rand_double (rand);
      compare (&job, volume, &camera, &look, g_rand_int_range (rand, 20, 50),
          g_rand_int_range (rand, 20, 50));
    }
  }
}

/* Quarter turns, of which sines and cosines are almost 0: many rays are almost
 * parallel to the faces of the volume and miss it. */
static void
test_quarter_turns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  const NdSceneJob job = { ND_UINT8, { 1, { 13, 9, 11 } }, { 1, 1.1, 0.9 } };
  g_autofree gpointer volume = make_volume (rand, &job, FALSE);
  NdLook look;

  make_look (rand, &look, ND_COLORMAP_GRAY);
  for (guint i = 0; i < 3 * 5 * 3; i++) {
    const NdCamera camera = { .mode = i % 3 == 0 ? ND_VIEW_PROJECTION
          : i % 3 == 1                           ? ND_VIEW_VOLUME
                                                 : ND_VIEW_SURFACE,
      .azimuth = 90.0 * (i / 3 % 5) - 180,
      .elevation = 90.0 * (i / 15) - 90,
      .zoom = 0.71,
      .pan = { 0.013, 0.017 } };

    compare (&job, volume, &camera, &look, 41, 37);
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
    g_autofree guint8 *volume = make_volume (rand, &job, FALSE);
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
  g_test_add_func ("/scene/quarter-turns", test_quarter_turns);
  g_test_add_func ("/scene/axis-projection", test_axis_projection);
  g_test_add_func ("/scene/layouts", test_layouts);
  g_test_add_func ("/scene/rotation", test_rotation);
  g_test_add_func ("/scene/colormaps", test_colormaps);
  return g_test_run ();
}
