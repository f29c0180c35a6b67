/* ndview: pictures of its scenes compared with those of the reference, and
 * lines and text on them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/engine/scenereference.h"
#include "tests/gst/viewharness.h"
#include "view/canvas.h"
#include "view/layout.h"
#include "view/scene.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#define COMMON " size=90:70 window=150 level=95 background=0x102030 "

static const struct
{
  const gchar *properties;
  NdCamera camera;
  NdColormap map;
  gdouble level; /* of the surface */
} scenes[] = {
  { "mode=slice axis=y position=0.4 zoom=1.3 pan-x=0.1 pan-y=-0.2 colormap=hot",
      { ND_VIEW_SLICE, ND_AXIS_Y, { 0.4, 0.4, 0.4 }, .zoom = 1.3,
          .pan = { 0.1, -0.2 } },
      ND_COLORMAP_HOT },
  { "mode=orthogonal position-x=0.2 position-y=0.9 colormap=bone",
      { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.2, 0.9, 0.5 }, .zoom = 1 },
      ND_COLORMAP_BONE },
  { "mode=mosaic axis=x slices=7 colormap=viridis",
      { ND_VIEW_MOSAIC, ND_AXIS_X, { 0.5, 0.5, 0.5 }, .slices = 7, .zoom = 1 },
      ND_COLORMAP_VIRIDIS },
  { "mode=projection axis=x projection=mean azimuth=31 elevation=-12 "
    "colormap=signed",
      { ND_VIEW_PROJECTION, ND_AXIS_X, .azimuth = 31, .elevation = -12,
          .zoom = 1, .projection = ND_PROJECTION_MEAN },
      ND_COLORMAP_SIGNED },
  { "mode=projection projection=min azimuth=-131 elevation=52",
      { ND_VIEW_PROJECTION, ND_AXIS_Z, .azimuth = -131, .elevation = 52,
          .zoom = 1, .projection = ND_PROJECTION_MIN },
      ND_COLORMAP_GRAY },
  { "mode=volume azimuth=31 elevation=-12 perspective=40 colormap=hue",
      { ND_VIEW_VOLUME, ND_AXIS_Z, .azimuth = 31, .elevation = -12,
          .perspective = 40, .zoom = 1 },
      ND_COLORMAP_HUE },
  { "mode=surface azimuth=131 elevation=22 isovalue=100 isovalue-auto=false "
    "zoom=0.8",
      { ND_VIEW_SURFACE, ND_AXIS_Z, .azimuth = 131, .elevation = 22,
          .zoom = 0.8 },
      ND_COLORMAP_GRAY, 100 },
};

/* The defaults of the properties, as docs and blurbs state them. */
static void
make_look (const NdCamera *camera, NdColormap map, gdouble level, NdLook *look)
{
  const gdouble azimuth = -35 * G_PI / 180, elevation = 40 * G_PI / 180;
  gdouble right[3], down[3], forward[3];

  *look = (NdLook){ .low = 20,
    .window = 150,
    .ambient = 0.3,
    .diffuse = 0.8,
    .specular = 0.2,
    .level = level,
    .background = { 0x10, 0x20, 0x30 },
    .surface_color = { 0xe8, 0xd0, 0xb0 } };
  nd_colormap_fill (map, look->colors);
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    look->opacity[i] = MAX ((i / 255.0 - 0.25) / 0.75, 0) * 0.25;
  nd_camera_axes (camera, right, down, forward);
  for (guint a = 0; a < 3; a++)
    look->light[a] = cos (elevation) * sin (azimuth) * right[a]
        - sin (elevation) * down[a]
        - cos (elevation) * cos (azimuth) * forward[a];
}

GST_START_TEST (test_reference)
{
  guint8 volume[X * Y * Z];
  g_autofree NdLayout *layout = g_new (NdLayout, 1);

  fill_volume (volume);
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++) {
    g_autofree gchar *line = g_strconcat (scenes[i].properties, COMMON, NULL);
    GstHarness *h = new_harness (line);
    gint width, height, bad = 0;
    g_autofree guint8 *have = show (h, 0, &width, &height);
    guint8 want[3 * WIDTH * HEIGHT];
    NdLook look;

    fail_unless_equals_int (width, WIDTH);
    fail_unless_equals_int (height, HEIGHT);
    make_look (&scenes[i].camera, scenes[i].map, scenes[i].level, &look);
    for (guint k = 0; k < WIDTH * HEIGHT; k++)
      memcpy (want + 3 * k, look.background, 3);
    nd_layout_init (layout, &scenes[i].camera, &job, WIDTH, HEIGHT);
    nd_reference_draw (&job, volume, layout->panels, layout->n, &look, want,
        3 * WIDTH);
    for (guint k = 0; k < sizeof want; k++)
      bad += ABS (have[k] - want[k]) > 1;
    /* Rays that graze an edge. */
    fail_unless (bad <= (scenes[i].camera.mode == ND_VIEW_SURFACE ? 60
                         : scenes[i].camera.mode == ND_VIEW_ORTHOGONAL
                             || scenes[i].camera.mode == ND_VIEW_MOSAIC
                             || scenes[i].camera.mode == ND_VIEW_SLICE
                         ? 0
                         : 12),
        "%s: %d numbers differ", scenes[i].properties, bad);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Without a size, 1 mm is a pixel. With equal spacing and nothing else set, the
 * picture is the plain one. */
GST_START_TEST (test_natural_size)
{
  GstHarness *h = new_harness ("mode=orthogonal");
  g_autoptr (GstCaps) caps = NULL;
  g_autoptr (GstCaps) plain = NULL;
  gint width, height;

  g_free (show (h, 0, &width, &height));
  fail_unless_equals_int (width, X + 2 * Z);
  fail_unless_equals_int (height, Y * 3 / 2 + 2 * Z);
  gst_harness_set_src_caps_str (h,
      "other/tensors,format=static,num_tensors=1,types=uint8,"
      "dimensions=1:20:16:12,framerate=25/1");
  gst_buffer_unref (gst_harness_push_and_pull (h, new_volume (1)));
  caps = gst_pad_get_current_caps (h->sinkpad);
  plain = gst_caps_from_string ("video/x-raw,format=GRAY8,width=32,height=28");
  fail_unless (gst_caps_is_subset (caps, plain));
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Each line of text and each bar is at its place, and nowhere else. */
GST_START_TEST (test_annotations)
{
  static const struct
  {
    const gchar *property;
    gint left, top, right, bottom; /* of 360 x 280 */
  } cases[] = { { "labels", 0, 0, 360, 280 }, { "scale-bar", 0, 250, 130, 280 },
    { "show-time", 270, 260, 360, 280 }, { "show-number", 270, 260, 360, 280 },
    { "show-keys", 60, 40, 320, 230 } };
  GstHarness *h =
      new_harness ("mode=orthogonal size=360:280 window=150 level=95");
  GstElement *view = view_of (h);
  gint width, height;
  g_autofree guint8 *plain = show (h, 3, &width, &height);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree guint8 *have = NULL;
    guint inside;

    g_object_set (view, cases[i].property, TRUE, NULL);
    have = show (h, 3, &width, &height);
    g_object_set (view, cases[i].property, FALSE, NULL);
    inside = count_changes (plain, have, cases[i].left, cases[i].top,
        cases[i].right, cases[i].bottom);
    fail_unless (inside > 20, "%s is not there", cases[i].property);
    fail_unless_equals_int (count_changes (plain, have, 0, 0, 360, 280),
        inside);
  }
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The lines cross at the samples that the planes show. */
GST_START_TEST (test_cross_hair)
{
  const NdCamera camera = { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.2, 0.9, 0.5 },
    .zoom = 1 };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  GstHarness *h = new_harness ("mode=orthogonal size=360:280 position-x=0.2 "
                               "position-y=0.9 window=150 level=95");
  GstElement *view = view_of (h);
  gint width, height;
  g_autofree guint8 *plain = show (h, 0, &width, &height);
  g_autofree guint8 *have = NULL;
  const NdPanel *p;
  gint column, row;

  g_object_set (view, "cross-hair", TRUE, NULL);
  have = show (h, 0, &width, &height);
  nd_layout_init (layout, &camera, &job, 360, 280);
  p = &layout->panels[0];
  column = rint ((4 - p->origin[0]) / p->right[0]);
  row = rint ((14 - p->origin[1]) / p->down[1]);
  fail_unless (column > 10 && row > 10);
  fail_unless_equals_int (count_changes (plain, have, column, 0, column + 1,
                              p->height),
      p->height);
  fail_unless_equals_int (count_changes (plain, have, 0, row, p->width,
                              row + 1),
      p->width);
  fail_unless_equals_int (count_changes (plain, have, 0, 0, p->width,
                              p->height),
      p->width + p->height - 1);
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The text under the pointer differs with the sample, and is not drawn beside
 * the planes. */
GST_START_TEST (test_pointer)
{
  GstHarness *h =
      new_harness ("mode=orthogonal size=360:280 window=150 level=95");
  GstElement *view = view_of (h);
  gint width, height;
  g_autofree guint8 *plain = show (h, 0, &width, &height);
  g_autofree guint8 *first = NULL;
  g_autofree guint8 *second = NULL;
  g_autofree guint8 *none = NULL;

  g_object_set (view, "pointer-x", 60, "pointer-y", 60, NULL);
  first = show (h, 0, &width, &height);
  g_object_set (view, "pointer-x", 80, "pointer-y", 80, NULL);
  second = show (h, 0, &width, &height);
  g_object_set (view, "pointer-x", 359, "pointer-y", 279, NULL);
  none = show (h, 0, &width, &height);
  fail_unless (count_changes (plain, first, 180, 260, 360, 280) > 50);
  fail_unless (count_changes (first, second, 180, 260, 360, 280) > 10);
  fail_unless_equals_int (count_changes (plain, none, 0, 0, 360, 280), 0);
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Column by column: each volume adds its line at the right. */
GST_START_TEST (test_mmode)
{
  GstHarness *h =
      new_harness ("mode=mmode axis=y position-x=0.3 position-z=0.6 "
                   "history=5 size=5:16 window=255 level=127.5 "
                   "background=0x0000ff");
  guint8 volume[X * Y * Z];
  gint width, height;

  fill_volume (volume);
  for (guint64 n = 0; n < 7; n++) {
    g_autofree guint8 *pixels = NULL;
    GstBuffer *buffer = new_volume (n);
    GstMapInfo map;

    /* Volume n is brighter by n. */
    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (gsize i = 0; i < map.size; i++)
      map.data[i] = volume[i] / 2 + n;
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    pixels = pull (h, &width, &height);
    fail_unless_equals_int (width, 5);
    fail_unless_equals_int (height, 16);
    for (gint y = 0; y < 16; y++) {
      for (gint x = 0; x < 5; x++) {
        const guint8 *pixel = pixels + 3 * (5 * y + x);
        const gint shown = (gint) n + x - 4;

        if (shown < 0)
          fail_unless (pixel[0] == 0 && pixel[2] == 255);
        else
          fail_unless (pixel[0] == volume[(7 * Y + y) * X + 6] / 2 + shown);
      }
    }
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The sides of the patient are those of the directions, and nothing is written
 * if the caps have none. */
GST_START_TEST (test_sides)
{
  static const struct
  {
    const gchar *directions;
    const gchar *letters[3][4]; /* planes z, x, y; left, right, top, bottom */
  } cases[] = {
    { "1:0:0:0:1:0:0:0:1",
        { { "L", "R", "P", "A" }, { "I", "S", "P", "A" },
            { "L", "R", "I", "S" } } },
    /* As files of DICOM have it: x to the left, y to the back. */
    { "-1:0:0:0:-1:0:0:0:1",
        { { "R", "L", "A", "P" }, { "I", "S", "A", "P" },
            { "R", "L", "I", "S" } } },
    /* x up, y to the right and a little to the front, z between. */
    { "0:0.8:-0.6:0:0.6:0.8:1:0:0",
        { { "I", "S", "LP", "RA" }, { "PR", "AL", "LP", "RA" },
            { "I", "S", "PR", "AL" } } },
  };
  const NdCamera camera = { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.5, 0.5, 0.5 },
    .zoom = 1 };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);

  nd_layout_init (layout, &camera, &job, 360, 280);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_first (
        "ndview mode=orthogonal size=360:280 labels=true window=255 level=99");
    const gchar *start = strstr (CAPS, ",directions");
    g_autofree gchar *bare = g_strndup (CAPS, start - CAPS);
    g_autofree gchar *caps =
        g_strdup_printf ("%s,directions=(string)%s", bare, cases[i].directions);
    g_autofree guint8 *plain = NULL, *have = NULL;
    NdCanvas canvas;
    gint width, height;

    gst_harness_set_src_caps_str (h, bare);
    plain = show (h, 0, &width, &height);
    gst_harness_set_src_caps_str (h, caps);
    have = show (h, 1, &width, &height);
    canvas = (NdCanvas){ plain, 3 * width, width, height };
    for (guint n = 0; n < layout->n; n++) {
      const NdPanel *p = &layout->panels[n];

      for (guint k = 0; k < 4; k++) {
        const gchar *text = cases[i].letters[n][k];
        const gint w = nd_text_width (text, 1);
        const gint x = k == 0 ? 2
            : k == 1          ? p->width - 2 - w
                              : p->width / 2 - w / 2;
        const gint y = k < 2 ? p->height / 2 - ND_TEXT_HEIGHT / 2
            : k == 2         ? 2
                             : p->height - 2 - ND_TEXT_HEIGHT;

        nd_text_draw (&canvas, text, p->left + x, p->top + y, 1,
            (const guint8[]){ 255, 255, 255 });
      }
    }
    fail_unless_equals_int (count_changes (plain, have, 0, 0, width, height),
        0);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* A surface that nobody chose lies between dark and bright. */
GST_START_TEST (test_isovalue)
{
  GstHarness *h = new_harness ("mode=surface size=60:60 surface-color=0xff0000 "
                               "ambient=1 diffuse=0 specular=0");
  gint width, height, n = 0;
  g_autofree guint8 *pixels = show (h, 0, &width, &height);

  for (gint i = 0; i < width * height; i++) {
    fail_unless (pixels[3 * i + 1] == 0 && pixels[3 * i + 2] == 0);
    fail_unless (pixels[3 * i] == 0 || pixels[3 * i] == 255);
    n += pixels[3 * i] == 255;
  }
  fail_unless (n > 300 && n < 1800, "%d pixels of the surface", n);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Any properties at any time. */
GST_START_TEST (test_changes)
{
  static const gchar *names[] = { "mode", "axis", "projection", "colormap" };
  static const guint counts[] = { 9, 3, 3, 6 };
  static const gchar *switches[] = { "cross-hair", "labels", "scale-bar",
    "show-time", "show-number", "show-keys" };
  static const gchar *sizes[] = { NULL, "1:1", "7:300", "64:48", "33:2" };
  const guint32 seed = g_random_int ();
  GRand *rand = g_rand_new_with_seed (seed);
  GstHarness *h = new_harness ("");
  GstElement *view = view_of (h);

  g_print ("seed %u\n", seed);
  for (guint n = 0; n < 150; n++) {
    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      g_object_set (view, names[i], g_rand_int_range (rand, 0, counts[i]),
          NULL);
    for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
      g_object_set (view, switches[i], g_rand_boolean (rand), NULL);
    g_object_set (view, "size", sizes[g_rand_int_range (rand, 0, 5)], "zoom",
        pow (10, g_rand_double_range (rand, -2, 3)), "azimuth",
        90.0 * g_rand_int_range (rand, -4, 5), "elevation",
        30.0 * g_rand_int_range (rand, -3, 4), "perspective",
        g_rand_boolean (rand) ? 0.0 : 120.0, "pointer-x",
        g_rand_int_range (rand, -1, 100), "pointer-y",
        g_rand_int_range (rand, -1, 100), "slices",
        g_rand_int_range (rand, 0, 30), "position-z",
        g_rand_double_range (rand, -1, 1), "high-percentile",
        g_rand_double_range (rand, 0, 100), NULL);
    gst_buffer_unref (gst_harness_push_and_pull (h, new_volume (n)));
  }
  gst_object_unref (view);
  gst_harness_teardown (h);
  g_rand_free (rand);
}

GST_END_TEST;

/* Wrong from the start, a property is an error; later the old value stays. */
GST_START_TEST (test_errors)
{
  static const gchar *bad[][2] = { { "size", "12" }, { "size", "12:x" },
    { "size", "40000:2" }, { "opacity", "0.5" }, { "opacity", "0.5:2" },
    { "opacity", "0.5:0,0.4:1" }, { "opacity", "0:0,,1:1" } };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (bad); i++) {
    const gboolean late = i % 2;
    const gchar *const *property = bad[i / 2];
    GstHarness *h = new_harness ("mode=volume size=30:20");
    GstElement *view = view_of (h);
    GstBus *bus = gst_bus_new ();
    g_autoptr (GstMessage) message = NULL;
    g_autoptr (GError) error = NULL;
    g_autofree gchar *have = NULL;
    gint width, height;

    if (late)
      g_free (show (h, 0, &width, &height));
    gst_element_set_bus (view, bus);
    g_object_set (view, property[0], property[1], NULL);
    fail_unless_equals_int (gst_harness_push (h, new_volume (1)),
        late ? GST_FLOW_OK : GST_FLOW_ERROR);
    message = gst_bus_pop_filtered (bus,
        late ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    if (late)
      gst_message_parse_warning (message, &error, NULL);
    else
      gst_message_parse_error (message, &error, NULL);
    fail_unless (strstr (error->message, property[0]), "%s", error->message);
    g_object_get (view, property[0], &have, NULL);
    fail_unless (g_str_equal (have, property[1]) != late);
    gst_element_set_bus (view, NULL);
    gst_object_unref (bus);
    gst_object_unref (view);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static Suite *
viewscenes_suite (void)
{
  Suite *suite = suite_create ("viewscenes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_reference);
  tcase_add_test (tc, test_natural_size);
  tcase_add_test (tc, test_annotations);
  tcase_add_test (tc, test_cross_hair);
  tcase_add_test (tc, test_pointer);
  tcase_add_test (tc, test_mmode);
  tcase_add_test (tc, test_sides);
  tcase_add_test (tc, test_isovalue);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_errors);
  return suite;
}

GST_CHECK_MAIN (viewscenes);
