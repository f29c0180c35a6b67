/* ndview: pictures of two inputs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/viewharness.h"
#include "view/canvas.h"
#include "view/layout.h"

#include <math.h>
#include <string.h>

/* A volume of one value at @time. */
static GstBuffer *
constant_volume (guint8 value, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, X * Y * Z, NULL);

  gst_buffer_memset (buffer, 0, value, X * Y * Z);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

/* The harness of the pad `second` of the element of @h. */
static GstHarness *
new_second (GstHarness *h)
{
  GstElement *view = view_of (h);
  GstHarness *second = gst_harness_new_with_element (view, "second", NULL);

  gst_harness_set_src_caps_str (second, CAPS);
  gst_object_unref (view);
  return second;
}

/* Left of the line the first volume, right of it the second one; or side by
 * side. */
GST_START_TEST (test_compare)
{
  static const gchar *splits[] = { "0.5", "-1" };
  static const gint lines[] = { 20, 20 };

  for (guint i = 0; i < G_N_ELEMENTS (splits); i++) {
    g_autofree gchar *line =
        g_strdup_printf ("ndview mode=compare size=40:24 window=255 "
                         "level=127.5 background=0x808080 split=%s",
            splits[i]);
    GstHarness *h = new_first (line), *second = new_second (h);
    g_autofree guint8 *pixels = NULL;
    gint width, height;

    gst_harness_push (second, constant_volume (200, 0));
    gst_harness_push (h, constant_volume (50, 0));
    pixels = pull (h, &width, &height);
    fail_unless (width == 40 && height == 24);
    for (gint x = 0; x < 40; x++) {
      const gint have = pixels[3 * (12 * 40 + x) + 1];

      if (x != lines[i] || i == 1)
        fail_unless (have == 0x80 || have == (x < lines[i] ? 50 : 200),
            "pixel %d is %d", x, have);
    }
    fail_unless (pixels[3 * (12 * 40 + lines[i] - 1) + 1] == 50);
    fail_unless (pixels[3 * (12 * 40 + lines[i] + 1) + 1] == 200);
    gst_harness_teardown (second);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Side by side, both pictures have the same lines and text: of equal volumes
 * they are equal. */
GST_START_TEST (test_annotations_of_both)
{
  static const gchar *const properties[] = { "labels", "cross-hair",
    "scale-bar" };
  GstHarness *h = new_first ("ndview mode=compare split=-1 size=720:280 "
                             "content=orthogonal window=150 level=95"),
             *second = new_second (h);
  GstElement *view = view_of (h);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    g_autofree guint8 *plain = NULL, *have = NULL;
    gint width, height, changed = 0;

    for (guint on = 0; on < 2; on++) {
      g_object_set (view, properties[i], on > 0, NULL);
      gst_harness_push (second, new_volume (2 * i + on));
      *(on ? &have : &plain) = show (h, 2 * i + on, &width, &height);
    }
    g_object_set (view, properties[i], FALSE, NULL);
    for (gint y = 0; y < height; y++) {
      const gsize row = 3 * (gsize) width * y, half = 3 * (gsize) width / 2;

      fail_unless (memcmp (have + row, have + row + half, half) == 0,
          "%s: the halves differ in row %d", properties[i], y);
      changed += memcmp (have + row, plain + row, half) != 0;
    }
    fail_unless (changed > 3, "%s is not there", properties[i]);
  }
  gst_object_unref (view);
  gst_harness_teardown (second);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The second volume is that of the same time, or else the last one before; the
 * last one stays after the end. */
GST_START_TEST (test_second_times)
{
  GstHarness *h = new_first ("ndview mode=compare size=20:24 window=255 "
                             "level=127.5 split=0"),
             *second = new_second (h);
  static const guint8 wanted[] = { 10, 10, 30, 40, 40 };

  gst_harness_push (second, constant_volume (10, 0));
  for (guint n = 0; n < G_N_ELEMENTS (wanted); n++) {
    g_autofree guint8 *pixels = NULL;
    gint width, height;

    /* None at 40 ms; the one of 120 ms is the last. */
    if (n == 1)
      gst_harness_push (second, constant_volume (30, 80 * GST_MSECOND));
    if (n == 3) {
      gst_harness_push (second, constant_volume (40, 120 * GST_MSECOND));
      gst_harness_push_event (second, gst_event_new_eos ());
    }
    gst_harness_push (h, constant_volume (99, n * 40 * GST_MSECOND));
    pixels = pull (h, &width, &height);
    fail_unless_equals_int (pixels[3 * (12 * 20 + 10)], wanted[n]);
  }
  gst_harness_teardown (second);
  gst_harness_teardown (h);
}

GST_END_TEST;

static gpointer
push_alone (gpointer data)
{
  return GINT_TO_POINTER (gst_harness_push (data,
      constant_volume (50, 40 * GST_MSECOND)));
}

/* A volume that waits for the second input goes on if that ends, or if the
 * first one flushes. */
GST_START_TEST (test_second_missing)
{
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_first ("ndview mode=overlay size=20:24"),
               *second = new_second (h);
    GThread *thread;

    gst_harness_push (second, constant_volume (10, 0));
    gst_harness_push (h, constant_volume (50, 0));
    thread = g_thread_new ("first", push_alone, h);
    if (i == 0)
      gst_harness_push_event (second, gst_event_new_eos ());
    else
      gst_harness_push_event (h, gst_event_new_flush_start ());
    g_thread_join (thread);
    gst_harness_teardown (second);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* The opacity is proportional to the grey of the second volume. */
GST_START_TEST (test_overlay)
{
  static const guint8 values[] = { 0, 60, 255 };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    GstHarness *h = new_first ("ndview mode=overlay size=20:24 window=255 "
                               "level=127.5 overlay-window=255 "
                               "overlay-level=127.5 overlay-colormap=gray "
                               "overlay-opacity=0.6"),
               *second = new_second (h);
    const gdouble alpha = 0.6 * values[i] / 255;
    g_autofree guint8 *pixels = NULL;
    gint width, height;

    gst_harness_push (second, constant_volume (values[i], 0));
    gst_harness_push (h, constant_volume (100, 0));
    pixels = pull (h, &width, &height);
    fail_unless (fabs (pixels[3 * (12 * 20 + 10)]
                     - (100 + alpha * (values[i] - 100.0)))
        <= 1);
    gst_harness_teardown (second);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Volumes of the second input that have other samples. */
static const struct
{
  const gchar *caps; /* without type */
  gsize size[3];
  gdouble spacing[3], origin[3];
  gdouble directions[9]; /* orthonormal */
} others[] = {
  /* The same box, by its size alone. */
  { "dimensions=1:9:30:5", { 9, 30, 5 }, { 20 / 9.0, 24 / 30.0, 24 / 5.0 },
      { (20 / 9.0 - 1) / 2, (24 / 30.0 - 1.5) / 2, (24 / 5.0 - 2) / 2 },
      { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  /* A part in another place. */
  { "dimensions=1:7:6:5,spacing=(string)2:1.25:3,origin=(string)4:-1.5:2,"
    "directions=(string)1:0:0:0:1:0:0:0:1",
      { 7, 6, 5 }, { 2, 1.25, 3 }, { 4, -1.5, 2 },
      { 1, 0, 0, 0, 1, 0, 0, 0, 1 } },
  /* Axes that are exchanged and turned by 36.87 degrees. */
  { "dimensions=1:8:9:10,spacing=(string)2:2.5:2,origin=(string)12:1:20,"
    "directions=(string)0:0.6:0.8:0:0.8:-0.6:-1:0:0",
      { 8, 9, 10 }, { 2, 2.5, 2 }, { 12, 1, 20 },
      { 0, 0.6, 0.8, 0, 0.8, -0.6, -1, 0, 0 } },
};

static gdouble
ramp (const gdouble at[3])
{
  return 20 + 3 * at[0] + 5 * at[1] + 6 * at[2];
}

static GstBuffer *
ramp_volume (const gsize size[3])
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, size[0] * size[1] * size[2], NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = ramp ((gdouble[]){
        i % size[0], i / size[0] % size[1], i / size[0] / size[1] });
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* Each pixel shows the value that the second volume has at the place of the
 * first one in space. A linear function is interpolated exactly. */
GST_START_TEST (test_places)
{
  const NdCamera camera = { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.5, 0.5, 0.5 },
    .zoom = 1 };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);

  nd_layout_init (layout, &camera, &job, 180, 140);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (others); i++) {
    const gboolean overlaid = i % 2;
    const gsize *size = others[i / 2].size;
    g_autofree gchar *caps = g_strdup_printf (
        "other/tensors,format=static,num_tensors=1,types=uint8,framerate=25/1,"
        "%s",
        others[i / 2].caps);
    GstHarness
        *h = new_first (overlaid
                ? "ndview mode=overlay content=orthogonal size=180:140 "
                  "window=255 level=127.5 overlay-window=255 "
                  "overlay-level=127.5 "
                  "overlay-colormap=gray overlay-opacity=1"
                : "ndview mode=compare content=orthogonal split=0 size=180:140 "
                  "window=255 level=127.5"),
        *second = new_second (h);
    g_autofree guint8 *pixels = NULL;
    guint inside = 0, outside = 0;
    gint width, height;

    gst_harness_set_src_caps_str (second, caps);
    gst_harness_push (second, ramp_volume (size));
    gst_harness_push (h, constant_volume (100, 0));
    pixels = pull (h, &width, &height);
    for (guint n = 0; n < layout->n; n++) {
      const NdPanel *p = &layout->panels[n];

      for (gint y = 0; y < p->height; y++) {
        for (gint x = n == 1 ? 0 : 1; x < p->width; x++) {
          const gint have = pixels[3 * ((p->top + y) * 180 + p->left + x)];
          gdouble at[3], limited[3], want;
          gboolean in_first = TRUE, in = TRUE, near = FALSE;

          for (guint a = 0; a < 3; a++) {
            at[a] = p->origin[a] + x * p->right[a] + y * p->down[a];
            in_first &= at[a] > -0.5 && at[a] < job.shape.size[a] - 0.5;
            near |= fabs (at[a] + 0.5) < 1e-3
                || fabs (at[a] - job.shape.size[a] + 0.5) < 1e-3;
          }
          for (guint a = 0; a < 3; a++) {
            gdouble v = 0;

            for (guint k = 0; k < 3; k++)
              v += others[i / 2].directions[3 * k + a]
                  * (at[k] * job.spacing[k] - others[i / 2].origin[k]);
            v /= others[i / 2].spacing[a];
            in &= v > -0.5 && v < size[a] - 0.5;
            near |= fabs (v + 0.5) < 1e-3 || fabs (v - size[a] + 0.5) < 1e-3;
            limited[a] = CLAMP (v, 0, size[a] - 1.0);
          }
          if (near)
            continue;
          want = in ? ramp (limited) : 0;
          /* The opacity of a value is its part of the window. */
          if (overlaid)
            want = (in_first ? 100 : 0)
                + want / 255 * (want - (in_first ? 100 : 0));
          fail_unless (fabs (have - want) <= 1.01,
              "case %u, pixel %d, %d of plane %u: %d, not %g", i, x, y, n, have,
              want);
          inside += in;
          outside += !in;
        }
      }
    }
    fail_unless (inside > 1500 && outside > 300, "%u and %u pixels", inside,
        outside);
    gst_harness_teardown (second);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* The names and values of both inputs under the pointer. */
GST_START_TEST (test_pointer_of_both)
{
  for (guint i = 0; i < 3; i++) {
    static const gchar *texts[] = { "x 10 y 8 z 6\nfirst: 50\nsecond: 77",
      "x 10 y 8 z 6\nfirst: 50", "x 10 y 8 z 6\nsecond: 77" };
    static const gint columns[] = { 180, 90, 270 };
    const gboolean beside = i > 0;
    GstHarness
        *h = new_first (beside
                ? "ndview mode=compare split=-1 size=360:160 window=255 "
                  "level=100"
                : "ndview mode=overlay size=360:160 window=255 level=100"),
        *second = new_second (h);
    GstElement *view = view_of (h);
    g_autofree guint8 *plain = NULL, *have = NULL;
    const gint canvas_width = beside ? 180 : 360;
    gint width, height;
    NdCanvas canvas;

    gst_harness_push (second, constant_volume (77, 0));
    gst_harness_push (h, constant_volume (50, 0));
    plain = pull (h, &width, &height);
    g_object_set (view, "pointer-x", columns[i], "pointer-y", 82, NULL);
    gst_harness_push (h, constant_volume (50, 0));
    have = pull (h, &width, &height);
    canvas = (NdCanvas){ plain, 3 * width, canvas_width, height };
    nd_text_draw (&canvas, texts[i],
        canvas_width - nd_text_width (texts[i], 1) - 3,
        height - nd_text_lines (texts[i]) * ND_TEXT_HEIGHT - 2, 1,
        (const guint8[]){ 255, 255, 255 });
    fail_unless_equals_int (count_changes (plain, have, 0, 0, width, height),
        0);
    gst_object_unref (view);
    gst_harness_teardown (second);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static Suite *
viewsecond_suite (void)
{
  Suite *suite = suite_create ("viewsecond");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_compare);
  tcase_add_test (tc, test_annotations_of_both);
  tcase_add_test (tc, test_second_times);
  tcase_add_test (tc, test_second_missing);
  tcase_add_test (tc, test_overlay);
  tcase_add_test (tc, test_places);
  tcase_add_test (tc, test_pointer_of_both);
  return suite;
}

GST_CHECK_MAIN (viewsecond);
