/* ndview: mouse and keys, and the properties that they set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/viewharness.h"
#include "view/canvas.h"
#include "view/layout.h"

#include <gst/video/navigation.h>
#include <math.h>
#include <string.h>

static void
send (GstHarness *h, GstEvent *event)
{
  fail_unless (gst_harness_push_upstream_event (h, event));
}

static gdouble
number_of (GstElement *view, const gchar *property)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_auto (GValue) number = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (view), property, &value);
  g_value_init (&number, G_TYPE_DOUBLE);
  if (G_VALUE_HOLDS_ENUM (&value))
    return g_value_get_enum (&value);
  if (G_VALUE_HOLDS_BOOLEAN (&value))
    return g_value_get_boolean (&value);
  fail_unless (g_value_transform (&value, &number));
  return g_value_get_double (&number);
}

static void
drag (GstHarness *h, gint button, gdouble x, gdouble y, gdouble to_x,
    gdouble to_y)
{
  send (h, gst_navigation_event_new_mouse_button_press (button, x, y, 0));
  send (h, gst_navigation_event_new_mouse_move (to_x, to_y, 0));
  send (h,
      gst_navigation_event_new_mouse_button_release (button, to_x, to_y, 0));
}

static void
key (GstHarness *h, const gchar *name)
{
  send (h, gst_navigation_event_new_key_press (name, 0));
}

GST_START_TEST (test_navigation)
{
  GstHarness *h = new_harness ("mode=volume size=180:180");
  GstElement *view = view_of (h);
  gint width, height;
  gdouble window, level;

  g_free (show (h, 0, &width, &height));
  drag (h, 1, 10, 10, 30, 20);
  fail_unless (fabs (number_of (view, "azimuth") - 20) < 1e-9);
  fail_unless (fabs (number_of (view, "elevation") - 10) < 1e-9);
  drag (h, 2, 10, 10, 28, 1);
  fail_unless (fabs (number_of (view, "pan-x") - 0.1) < 1e-9);
  fail_unless (fabs (number_of (view, "pan-y") + 0.05) < 1e-9);
  send (h, gst_navigation_event_new_mouse_scroll (5, 5, 0, 1, 0));
  fail_unless (number_of (view, "zoom") > 1.1);
  /* From the automatic window on: wider to the right, brighter up. */
  fail_unless (number_of (view, "window") == 0);
  fail_unless (number_of (view, "shown-window") > 50);
  drag (h, 3, 10, 10, 10, 10);
  window = number_of (view, "window");
  level = number_of (view, "level");
  fail_unless (fabs (number_of (view, "shown-window") - window) < 1e-9);
  fail_unless (fabs (number_of (view, "shown-level") - level) < 1e-9);
  fail_unless (window > 50 && window < 250 && level > 50 && level < 200);
  g_free (show (h, 1, &width, &height));
  drag (h, 3, 10, 30, 40, 10);
  fail_unless (number_of (view, "window") > window);
  fail_unless (number_of (view, "level") < level);
  key (h, "w");
  fail_unless (number_of (view, "window") == 0);
  key (h, "h");
  fail_unless (number_of (view, "show-keys") == 1);
  key (h, "r");
  fail_unless (number_of (view, "azimuth") == 0);
  fail_unless (number_of (view, "zoom") == 1);
  key (h, "m");
  fail_unless (number_of (view, "mode") == ND_VIEW_SURFACE);
  for (guint i = ND_VIEW_SURFACE; i <= ND_VIEW_OVERLAY; i++)
    key (h, "m");
  fail_unless (number_of (view, "mode") == ND_VIEW_SLICE);
  key (h, "x");
  fail_unless (number_of (view, "axis") == ND_AXIS_X);
  send (h, gst_navigation_event_new_mouse_scroll (90, 90, 0, 1, 0));
  fail_unless (fabs (number_of (view, "position-x") - 11.5 / X) < 1e-9);
  key (h, "Left");
  fail_unless (fabs (number_of (view, "position-x") - 10.5 / X) < 1e-9);
  /* The last plane is the end. */
  for (guint i = 0; i < 2 * X; i++)
    key (h, "Right");
  fail_unless (fabs (number_of (view, "position-x") - (X - 0.5) / X) < 1e-9);
  g_free (show (h, 2, &width, &height));
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A click puts the cross-hair on the sample there; with navigation=false it
 * does nothing. */
GST_START_TEST (test_place)
{
  const NdCamera camera = { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.5, 0.5, 0.5 },
    .zoom = 1 };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  GstHarness *h = new_harness ("mode=orthogonal size=360:280");
  GstElement *view = view_of (h);
  const NdPanel *p = &layout->panels[1];
  gint width, height;
  gdouble x, y;

  nd_layout_init (layout, &camera, &job, 360, 280);
  /* Sample y 3, z 8 on the plane across x. */
  x = p->left + (8 - p->origin[2]) / p->right[2];
  y = p->top + (3 - p->origin[1]) / p->down[1];
  g_free (show (h, 0, &width, &height));
  g_object_set (view, "navigation", FALSE, NULL);
  gst_harness_push_upstream_event (h,
      gst_navigation_event_new_mouse_button_press (1, x, y, 0));
  fail_unless (number_of (view, "position-y") == -1);
  g_object_set (view, "navigation", TRUE, NULL);
  send (h, gst_navigation_event_new_mouse_button_press (1, x, y, 0));
  fail_unless (fabs (number_of (view, "position-y") - 3.5 / Y) < 1e-9);
  fail_unless (fabs (number_of (view, "position-z") - 8.5 / Z) < 1e-9);
  fail_unless (number_of (view, "position-x") == -1);
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The same with two inputs: in both pictures beside each other, and over each
 * other. The mouse acts as in the mode of each of them. */
GST_START_TEST (test_place_of_two)
{
  static const gchar *const settings[] = {
    "mode=compare split=-1 content=orthogonal size=720:280",
    "mode=compare split=-1 content=orthogonal size=720:280",
    "mode=overlay content=orthogonal size=360:280"
  };
  const NdCamera camera = { ND_VIEW_ORTHOGONAL, ND_AXIS_Z, { 0.5, 0.5, 0.5 },
    .zoom = 1 };
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  GstHarness *h = new_harness (settings[__i__]);
  GstElement *view = view_of (h);
  const NdPanel *p = &layout->panels[1];
  gint width, height;
  gdouble x, y;

  nd_layout_init (layout, &camera, &job, 360, 280);
  x = p->left + (8 - p->origin[2]) / p->right[2] + (__i__ == 1 ? 360 : 0);
  y = p->top + (3 - p->origin[1]) / p->down[1];
  g_free (show (h, 0, &width, &height));
  send (h, gst_navigation_event_new_mouse_button_press (1, x, y, 0));
  fail_unless (fabs (number_of (view, "position-y") - 3.5 / Y) < 1e-9);
  fail_unless (fabs (number_of (view, "position-z") - 8.5 / Z) < 1e-9);
  fail_unless (number_of (view, "position-x") == -1);
  key (h, "r");
  g_object_set (view, "content", ND_VIEW_MOSAIC, NULL);
  g_free (show (h, 1, &width, &height));
  send (h, gst_navigation_event_new_mouse_scroll (5, 5, 0, 1, 0));
  fail_unless (number_of (view, "zoom") > 1.1);
  drag (h, 1, 10, 10, 28, 10);
  fail_unless (number_of (view, "pan-x") > 0);
  fail_unless (number_of (view, "position-x") == -1);
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The wheel and the arrows move the line of the M-mode across its axis. */
GST_START_TEST (test_line)
{
  GstHarness *h =
      new_harness ("mode=mmode axis=y position=0.5 history=5 size=50:40");
  GstElement *view = view_of (h);
  gint width, height;

  g_free (show (h, 0, &width, &height));
  send (h, gst_navigation_event_new_mouse_scroll (5, 5, 0, 1, 0));
  fail_unless (number_of (view, "position-x") > 0.5);
  key (h, "Up");
  fail_unless (number_of (view, "position-z") >= 0
      && number_of (view, "position-z") <= 0.5);
  fail_unless (number_of (view, "position-y") == -1);
  drag (h, 1, 10, 10, 20, 20);
  fail_unless (number_of (view, "position-y") == -1);
  gst_object_unref (view);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* `position` takes back planes that the wheel or a click moved away from it. A
 * plane that an application moved stays. */
GST_START_TEST (test_position)
{
  static const gchar *const names[] = { "position-x", "position-y",
    "position-z" };
  GstHarness *h = new_harness ("mode=slice size=90:70 window=150 level=95");
  GstHarness *other =
      new_harness ("mode=slice size=90:70 window=150 level=95 position=0.1");
  GstElement *view = view_of (h);
  g_autofree guint8 *have = NULL, *want = NULL, *scrolled = NULL;
  gint width, height;

  g_free (show (h, 0, &width, &height));
  for (guint i = 0; i < 3; i++)
    send (h, gst_navigation_event_new_mouse_scroll (45, 35, 0, 1, 0));
  fail_unless (fabs (number_of (view, "position-z") - 9.5 / Z) < 1e-9);
  scrolled = show (h, 1, &width, &height);
  g_object_set (view, "position", 0.1, NULL);
  fail_unless (number_of (view, "position-z") == -1);
  have = show (h, 2, &width, &height);
  want = show (other, 2, &width, &height);
  fail_unless (memcmp (have, want, 3 * width * height) == 0);
  fail_unless (memcmp (have, scrolled, 3 * width * height) != 0);

  g_object_set (view, "position-z", 0.3, "position", 0.9, NULL);
  fail_unless (number_of (view, "position-z") == 0.3);
  send (h, gst_navigation_event_new_mouse_scroll (45, 35, 0, 1, 0));
  g_object_set (view, "position", 0.8, NULL);
  fail_unless (fabs (number_of (view, "position-z") - 4.5 / Z) < 1e-9);
  key (h, "r");
  g_free (show (h, 3, &width, &height));
  send (h, gst_navigation_event_new_mouse_scroll (45, 35, 0, 1, 0));
  g_object_set (view, "position-z", 0.2, "position", 0.1, NULL);
  fail_unless (number_of (view, "position-z") == 0.2);

  key (h, "r");
  g_object_set (view, "mode", ND_VIEW_ORTHOGONAL, "size", "360:280",
      "position-x", 0.6, NULL);
  g_free (show (h, 4, &width, &height));
  send (h, gst_navigation_event_new_mouse_button_press (1, 20, 20, 0));
  for (guint a = 0; a < 2; a++)
    fail_unless (number_of (view, names[a]) >= 0);
  g_object_set (view, "position", 0.5, NULL);
  fail_unless (number_of (view, "position-x") >= 0);
  fail_unless (number_of (view, "position-y") == -1);
  fail_unless (number_of (view, "position-z") == -1);
  gst_object_unref (view);
  gst_harness_teardown (other);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The character whose dots are white in the cell at (@left, @top); 0: none. */
static gchar
read_character (const NdCanvas *picture, gint left, gint top)
{
  static const guint8 white[3] = { 255, 255, 255 };

  for (gchar c = ' '; c <= '~'; c++) {
    guint8 pixels[3 * ND_TEXT_WIDTH * ND_TEXT_HEIGHT] = { 0 };
    const NdCanvas cell = { pixels, 3 * ND_TEXT_WIDTH, ND_TEXT_WIDTH,
      ND_TEXT_HEIGHT };
    gboolean same = TRUE;

    nd_text_draw (&cell, (const gchar[]){ c, '\0' }, 0, 0, 1, white);
    for (gint i = 0; same && i < ND_TEXT_WIDTH * ND_TEXT_HEIGHT; i++) {
      const gint x = left + i % ND_TEXT_WIDTH, y = top + i / ND_TEXT_WIDTH;
      const gboolean dot = x < picture->width && y < picture->height
          && memcmp (picture->pixels + y * picture->stride + 3 * x, white, 3)
              == 0;

      same = dot == (memcmp (pixels + 3 * i, white, 3) == 0);
    }
    if (same)
      return c;
  }
  return 0;
}

/* The text on @picture, in which nothing else is white; NULL if a character is
 * cut off. */
static gchar *
read_text (const NdCanvas *picture)
{
  for (gint at = 0; at < ND_TEXT_WIDTH * ND_TEXT_HEIGHT; at++) {
    g_autoptr (GString) text = g_string_new (NULL);
    gchar c = ' ';

    for (gint y = at / ND_TEXT_WIDTH; c && y < picture->height;
         y += ND_TEXT_HEIGHT) {
      for (gint x = at % ND_TEXT_WIDTH; c && x < picture->width;
           x += ND_TEXT_WIDTH) {
        c = read_character (picture, x, y);
        g_string_append_c (text, c);
      }
      g_string_append_c (text, '\n');
    }
    if (c)
      return g_string_free (g_steal_pointer (&text), FALSE);
  }
  return NULL;
}

/* Each key and button is in the list, which has pages if the picture is too
 * small for it; nothing is cut off. */
GST_START_TEST (test_keys)
{
  static const struct
  {
    gint width, height;
    guint pages; /* 0: several */
  } cases[] = { { 360, 280, 1 }, { 176, 156, 1 }, { 128, 128, 1 },
    { 300, 80, 1 }, { 90, 70, 0 }, { 88, 64, 0 }, { 88, 40, 0 } };
  static const gchar *const words[] = { "h", "m", "M", "x", "y", "z", "c", "p",
    "v", "+", "-", "arrows", "l", "s", "t", "w", "r", "left", "middle", "right",
    "wheel", "list", "mode", "axis", "perspective", "zoom", "turn", "time",
    "window", "reset", "pan" };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    /* All samples are black. */
    g_autofree gchar *line = g_strdup_printf ("mode=slice size=%d:%d window=1 "
                                              "level=1000",
        cases[i].width, cases[i].height);
    GstHarness *h = new_harness (line);
    GstElement *view = view_of (h);
    g_autoptr (GHashTable) found =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    guint pages = 0;
    gint width, height;

    g_free (show (h, 0, &width, &height));
    for (key (h, "h"); number_of (view, "show-keys") == 1; key (h, "h")) {
      g_autofree guint8 *pixels = show (h, ++pages, &width, &height);
      const NdCanvas canvas = { pixels, 3 * width, width, height };
      g_autofree gchar *text = read_text (&canvas);
      g_auto (GStrv) parts = NULL;

      fail_unless (text != NULL, "%dx%d, page %u is cut off", width, height,
          pages);
      parts = g_strsplit_set (text, " \n,", -1);
      for (guint k = 0; parts[k]; k++)
        g_hash_table_add (found, g_strdup (parts[k]));
      fail_unless (pages < 100);
    }
    fail_unless (cases[i].pages > 0 ? pages == cases[i].pages : pages > 1,
        "%dx%d: %u pages", width, height, pages);
    for (guint k = 0; k < G_N_ELEMENTS (words); k++)
      fail_unless (g_hash_table_contains (found, words[k]),
          "%dx%d lacks \"%s\"", width, height, words[k]);
    /* From the beginning. */
    key (h, "h");
    fail_unless (number_of (view, "show-keys") == 1);
    gst_object_unref (view);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static Suite *
viewnavigation_suite (void)
{
  Suite *suite = suite_create ("viewnavigation");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_navigation);
  tcase_add_test (tc, test_place);
  tcase_add_loop_test (tc, test_place_of_two, 0, 3);
  tcase_add_test (tc, test_line);
  tcase_add_test (tc, test_position);
  tcase_add_test (tc, test_keys);
  return suite;
}

GST_CHECK_MAIN (viewnavigation);
