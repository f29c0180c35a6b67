/* ndview: mouse and keys, and the properties that they set.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/layout.h"
#include "tests/gst/viewharness.h"

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
  drag (h, 3, 10, 10, 10, 10);
  window = number_of (view, "window");
  level = number_of (view, "level");
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
  return suite;
}

GST_CHECK_MAIN (viewnavigation);
