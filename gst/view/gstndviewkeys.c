/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewkeys.h"

#include "gst/view/gstndviewnotes.h"
#include "view/canvas.h"

#include <gst/video/navigation.h>
#include <math.h>
#include <string.h>

#define ZOOM_STEP 1.15
#define TURN_STEP 10 /* degrees */

/* That of each of two inputs if there are two. */
static NdViewMode
shown_mode (const GstNdViewSettings *s)
{
  return gst_nd_view_settings_need_second (s) ? s->content : s->mode;
}

static gboolean
has_rays (const GstNdViewSettings *s)
{
  const NdViewMode mode = shown_mode (s);

  return mode == ND_VIEW_PROJECTION || mode == ND_VIEW_VOLUME
      || mode == ND_VIEW_SURFACE;
}

static void
view_keys_set_position (GObject *view, const NdSceneJob *job, NdAxis axis,
    gdouble index)
{
  static const gchar *names[] = { "position-x", "position-y", "position-z" };
  const gdouble size = job->shape.size[axis];

  g_object_set (view, names[axis], (CLAMP (index, 0, size - 1) + 0.5) / size,
      NULL);
}

/* Moves the plane across @axis by @steps. */
static void
view_keys_scroll (GObject *view, const GstNdViewSeen *seen, NdAxis axis,
    gint steps)
{
  NdCamera camera;

  gst_nd_view_settings_camera (&seen->settings, &camera);
  view_keys_set_position (view, &seen->job, axis,
      (gdouble) nd_layout_index (&seen->job, axis, camera.position[axis])
          + steps);
}

static void
view_keys_zoom (GObject *view, const GstNdViewSeen *seen, gdouble factor)
{
  g_object_set (view, "zoom", CLAMP (seen->settings.zoom * factor, 0.01, 1000),
      NULL);
}

static void
view_keys_pan (GObject *view, const GstNdViewSeen *seen, gdouble right,
    gdouble down)
{
  gdouble width = seen->width, height = seen->height;

  if (gst_nd_view_settings_are_beside (&seen->settings))
    width /= 2;
  /* A plane is about half of the picture. */
  if (shown_mode (&seen->settings) == ND_VIEW_ORTHOGONAL) {
    width /= 2;
    height /= 2;
  }
  g_object_set (view, "pan-x",
      CLAMP (seen->settings.pan_x + right / width, -1000, 1000), "pan-y",
      CLAMP (seen->settings.pan_y + down / height, -1000, 1000), NULL);
}

static void
view_keys_turn (GObject *view, const GstNdViewSeen *seen, gdouble right,
    gdouble down)
{
  NdCamera camera;

  gst_nd_view_settings_camera (&seen->settings, &camera);
  nd_camera_rotate (&camera, right, down, seen->width, seen->height);
  g_object_set (view, "azimuth", camera.azimuth, "elevation", camera.elevation,
      NULL);
}

/* Wider to the right, brighter up. */
static void
change_window (GObject *view, const GstNdViewSeen *seen, gdouble right,
    gdouble down)
{
  const gdouble window = seen->window * exp (right / 200);
  const gdouble level =
      seen->low + seen->window / 2 + seen->window * down / 400;

  if (window > 0 && isfinite (window) && isfinite (level))
    g_object_set (view, "window", window, "level", level, NULL);
}

/* The panel at (*@x, @y), or -1. If two pictures are beside each other, *@x is
 * then that of its own picture. */
static gint
find_panel (const GstNdViewSeen *seen, NdLayout *layout, gdouble *x, gdouble y)
{
  const gint half = seen->width / 2;
  gint width = seen->width;
  NdCamera camera;

  if (gst_nd_view_settings_are_beside (&seen->settings) && half > 0) {
    width = *x < half ? half : width - half;
    *x -= *x < half ? 0 : half;
  }
  gst_nd_view_settings_camera (&seen->settings, &camera);
  nd_layout_init (layout, &camera, &seen->job, width, seen->height);
  return nd_layout_panel_at (layout, floor (*x), floor (y));
}

/* Moves the cross-hair to (@x, @y). */
static void
view_keys_place (GObject *view, const GstNdViewSeen *seen, gdouble x, gdouble y)
{
  g_autofree NdLayout *layout = g_new (NdLayout, 1);
  const gint i = find_panel (seen, layout, &x, y);
  const NdPanel *p = &layout->panels[MAX (i, 0)];

  for (guint a = 0; i >= 0 && a < 3; a++) {
    if (a != layout->axes[i])
      view_keys_set_position (view, &seen->job, a,
          rint (p->origin[a] + (x - p->left) * p->right[a]
              + (y - p->top) * p->down[a]));
  }
}

/* The axes across that of the line of the M-mode. */
static NdAxis
first_across (NdAxis line)
{
  return line == ND_AXIS_X ? ND_AXIS_Y : ND_AXIS_X;
}

static NdAxis
second_across (NdAxis line)
{
  return line == ND_AXIS_Z ? ND_AXIS_Y : ND_AXIS_Z;
}

static void
view_keys_wheel (GObject *view, const GstNdViewSeen *seen, gdouble x, gdouble y,
    gint steps, gboolean zooms)
{
  g_autofree NdLayout *layout = NULL;
  NdAxis axis = seen->settings.axis;
  gint i;

  if (steps == 0)
    return;
  if (zooms || has_rays (&seen->settings)
      || shown_mode (&seen->settings) == ND_VIEW_MOSAIC) {
    view_keys_zoom (view, seen, pow (ZOOM_STEP, steps));
    return;
  }
  if (seen->settings.mode == ND_VIEW_MMODE) {
    view_keys_scroll (view, seen, first_across (axis), steps);
    return;
  }
  layout = g_new (NdLayout, 1);
  i = find_panel (seen, layout, &x, y);
  if (i >= 0)
    axis = layout->axes[i];
  view_keys_scroll (view, seen, axis, steps);
}

static void
view_keys_move (GObject *view, const GstNdViewSeen *seen, GstNdViewDrag *drag,
    gdouble x, gdouble y, gboolean shift)
{
  const gdouble right = x - drag->x, down = y - drag->y;
  const NdViewMode mode = shown_mode (&seen->settings);

  switch (drag->button) {
    case 1:
      if (seen->settings.mode == ND_VIEW_COMPARE && seen->settings.split >= 0)
        g_object_set (view, "split", CLAMP (x / seen->width, 0, 1), NULL);
      else if (shift || mode == ND_VIEW_SLICE || mode == ND_VIEW_MOSAIC)
        view_keys_pan (view, seen, right, down);
      else if (has_rays (&seen->settings))
        view_keys_turn (view, seen, right, down);
      else if (mode == ND_VIEW_ORTHOGONAL)
        view_keys_place (view, seen, x, y);
      break;
    case 2:
      view_keys_pan (view, seen, right, down);
      break;
    case 3:
      change_window (view, seen, right, down);
      break;
    default:
      /* A mouse that crosses a plain picture changes nothing. */
      if (seen->settings.pointer_x >= 0 || seen->settings.cross_hair
          || seen->settings.labels)
        g_object_set (view, "pointer-x", (gint) CLAMP (x, 0, seen->width - 1),
            "pointer-y", (gint) CLAMP (y, 0, seen->height - 1), NULL);
      break;
  }
  drag->x = x;
  drag->y = y;
}

static void
view_keys_press (GObject *view, const GstNdViewSeen *seen, GstNdViewDrag *drag,
    gint button, gdouble x, gdouble y)
{
  /* Some sinks send the wheel as buttons. */
  if (button == 4 || button == 5) {
    view_keys_wheel (view, seen, x, y, button == 4 ? 1 : -1, FALSE);
    return;
  }
  drag->button = button;
  drag->x = x;
  drag->y = y;
  if (button == 1 && shown_mode (&seen->settings) == ND_VIEW_ORTHOGONAL
      && !(seen->settings.mode == ND_VIEW_COMPARE && seen->settings.split >= 0))
    view_keys_place (view, seen, x, y);
}

static void
view_keys_reset (GObject *view)
{
  g_object_set (view, "azimuth", 0.0, "elevation", 0.0, "perspective", 0.0,
      "zoom", 1.0, "pan-x", 0.0, "pan-y", 0.0, "position-x", -1.0, "position-y",
      -1.0, "position-z", -1.0, "pointer-x", -1, "pointer-y", -1, NULL);
}

/* The arrows: right and down are 1, left and up are -1. */
static void
view_keys_arrow (GObject *view, const GstNdViewSeen *seen, gint right,
    gint down)
{
  const GstNdViewSettings *s = &seen->settings;

  if (s->mode == ND_VIEW_MMODE)
    view_keys_scroll (view, seen,
        right != 0 ? first_across (s->axis) : second_across (s->axis),
        right + down);
  else if (!has_rays (s))
    view_keys_scroll (view, seen, s->axis, right - down);
  else
    g_object_set (view, "azimuth", fmod (s->azimuth + right * TURN_STEP, 360),
        "elevation", CLAMP (s->elevation + down * TURN_STEP, -90.0, 90.0),
        NULL);
}

/* Shows the next page of the list of keys, or ends it. */
static void
turn_page (GObject *view, const GstNdViewSeen *seen, GstNdViewDrag *drag)
{
  const gint next = g_atomic_int_get (&drag->page) + 1;
  const gboolean more = seen->settings.show_keys
      && next < (gint) gst_nd_view_notes_pages (seen->width, seen->height);

  g_atomic_int_set (&drag->page, more ? next : 0);
  g_object_set (view, "show-keys", more || !seen->settings.show_keys, NULL);
}

static gboolean
press_key (GObject *view, const GstNdViewSeen *seen, GstNdViewDrag *drag,
    const gchar *key)
{
  const GstNdViewSettings *s = &seen->settings;
  const gint modes = ND_VIEW_OVERLAY + 1;

  if (g_str_equal (key, "h"))
    turn_page (view, seen, drag);
  else if (g_str_equal (key, "m"))
    g_object_set (view, "mode", (s->mode + 1) % modes, NULL);
  else if (g_str_equal (key, "M"))
    g_object_set (view, "mode", (s->mode + modes - 1) % modes, NULL);
  else if (key[0] >= 'x' && key[0] <= 'z' && key[1] == '\0')
    g_object_set (view, "axis", key[0] - 'x', NULL);
  else if (g_str_equal (key, "c"))
    g_object_set (view, "colormap", (s->colormap + 1) % (ND_COLORMAP_HUE + 1),
        NULL);
  else if (g_str_equal (key, "p"))
    g_object_set (view, "projection",
        (s->projection + 1) % (ND_PROJECTION_MIN + 1), NULL);
  else if (g_str_equal (key, "v"))
    g_object_set (view, "perspective", s->perspective > 0 ? 0.0 : 30.0, NULL);
  else if (g_str_equal (key, "plus") || g_str_equal (key, "+"))
    view_keys_zoom (view, seen, ZOOM_STEP);
  else if (g_str_equal (key, "minus") || g_str_equal (key, "-"))
    view_keys_zoom (view, seen, 1 / ZOOM_STEP);
  else if (g_str_equal (key, "Right"))
    view_keys_arrow (view, seen, 1, 0);
  else if (g_str_equal (key, "Left"))
    view_keys_arrow (view, seen, -1, 0);
  else if (g_str_equal (key, "Down"))
    view_keys_arrow (view, seen, 0, 1);
  else if (g_str_equal (key, "Up"))
    view_keys_arrow (view, seen, 0, -1);
  else if (g_str_equal (key, "l"))
    g_object_set (view, "labels", !s->labels, "cross-hair", !s->labels, NULL);
  else if (g_str_equal (key, "s"))
    g_object_set (view, "scale-bar", !s->scale_bar, NULL);
  else if (g_str_equal (key, "t"))
    g_object_set (view, "show-time", !s->show_time, "show-number",
        !s->show_time, NULL);
  else if (g_str_equal (key, "w"))
    g_object_set (view, "window", 0.0, NULL);
  else if (g_str_equal (key, "r"))
    view_keys_reset (view);
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_nd_view_keys_handle (GObject *view, const GstNdViewSeen *seen,
    GstNdViewDrag *drag, GstEvent *event)
{
  GstNavigationModifierType modifiers = 0;
  const gchar *key;
  gdouble x, y, right, down;
  gint button;

  gst_navigation_event_parse_modifier_state (event, &modifiers);
  switch (gst_navigation_event_get_type (event)) {
    case GST_NAVIGATION_EVENT_KEY_PRESS:
      return gst_navigation_event_parse_key_event (event, &key)
          && press_key (view, seen, drag, key);
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS:
      if (!gst_navigation_event_parse_mouse_button_event (event, &button, &x,
              &y))
        return FALSE;
      view_keys_press (view, seen, drag, button, x, y);
      return TRUE;
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
      drag->button = 0;
      return TRUE;
    case GST_NAVIGATION_EVENT_MOUSE_MOVE:
      if (!gst_navigation_event_parse_mouse_move_event (event, &x, &y))
        return FALSE;
      view_keys_move (view, seen, drag, x, y,
          (modifiers & GST_NAVIGATION_MODIFIER_SHIFT_MASK) != 0);
      return TRUE;
    case GST_NAVIGATION_EVENT_MOUSE_SCROLL:
      if (!gst_navigation_event_parse_mouse_scroll_event (event, &x, &y, &right,
              &down))
        return FALSE;
      view_keys_wheel (view, seen, x, y,
          down > 0       ? 1
              : down < 0 ? -1
                         : 0,
          (modifiers & GST_NAVIGATION_MODIFIER_CONTROL_MASK) != 0);
      return TRUE;
    default:
      return FALSE;
  }
}

/* The list of keys and buttons of ndview, as text that fits in a picture.
 */

#define GAP 3 /* characters between columns */

static const gchar *const rows[] = {
  "h       this list",
  "m M     next, previous mode",
  "x y z   axis of the view",
  "c       next colour map",
  "p       max, mean, min",
  "v       perspective",
  "+ -     zoom",
  "arrows  turn, next slice",
  "l       labels, value",
  "s t     scale, time",
  "w       automatic window",
  "r       reset the view",
  "left    turn, place, or pan",
  "middle  pan",
  "right   window and level",
  "wheel   slices, or zoom",
};

/* For small pictures; it fits in 128 x 128. */
static const gchar *const short_rows[] = {
  "h      this list",
  "m M    mode",
  "x y z  axis",
  "c p    colours, rays",
  "v      perspective",
  "+ -    zoom",
  "arrows turn, slice",
  "l s t  text,bar,time",
  "w r    window, reset",
  "left   turn, pan",
  "middle pan",
  "right  window, level",
  "wheel  slice, zoom",
};

static guint
view_keys_longest (const gchar *const *lines, guint n)
{
  guint most = 0;

  for (guint i = 0; i < n; i++)
    most = MAX (most, strlen (lines[i]));
  return most;
}

/* @lines in as few columns as @high lines allow; NULL if they are wider than
 * @wide characters. */
static gchar *
lay_out (const gchar *const *lines, guint n, guint wide, guint high)
{
  const guint columns = high > 0 ? (n + high - 1) / high : n;
  const guint used = (n + columns - 1) / columns;
  const guint width = view_keys_longest (lines, n);
  g_autoptr (GString) text = g_string_new (NULL);

  if (columns * (width + GAP) - GAP > wide || used > high)
    return NULL;
  for (guint i = 0; i < used; i++) {
    for (guint k = i; k < n; k += used)
      g_string_append_printf (text, "%-*s",
          k + used < n ? (gint) (width + GAP) : 0, lines[k]);
    g_string_append_c (text, '\n');
  }
  g_string_truncate (text, text->len - 1);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Appends the words of @line to @lines, of at most @wide characters each. A
 * longer word is broken. */
static void
view_keys_wrap (const gchar *line, guint wide, GPtrArray *lines)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; words[i]; i++) {
    const gchar *word = words[i];

    if (text->len > 0 && text->len + 1 + strlen (word) > wide) {
      g_ptr_array_add (lines, g_strdup (text->str));
      g_string_truncate (text, 0);
    }
    for (; strlen (word) > wide; word += wide)
      g_ptr_array_add (lines, g_strndup (word, wide));
    if (*word)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", word);
  }
  if (text->len > 0)
    g_ptr_array_add (lines, g_strdup (text->str));
}

/* A page of the short list, and a line that says which. */
static gchar *
make_page (guint wide, guint high, guint page, guint *pages)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) text = g_string_new (NULL);
  const guint each = MAX (high, 2) - 1;

  for (guint i = 0; i < G_N_ELEMENTS (short_rows); i++)
    view_keys_wrap (short_rows[i], MAX (wide, 1), lines);
  *pages = (lines->len + each - 1) / each;
  for (guint i = page * each; i < MIN ((page + 1) * each, lines->len); i++)
    g_string_append_printf (text, "%s\n", (gchar *) lines->pdata[i]);
  g_string_append_printf (text, "%u/%u", MIN (page, *pages - 1) + 1, *pages);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gchar *
gst_nd_view_help_page (gint width, gint height, guint page, guint *pages)
{
  const guint wide = MAX (width, 0) / ND_TEXT_WIDTH;
  const guint high = MAX (height, 0) / ND_TEXT_HEIGHT;
  gchar *text = lay_out (rows, G_N_ELEMENTS (rows), wide, high);
  guint n = 1;

  if (!text)
    text = lay_out (short_rows, G_N_ELEMENTS (short_rows), wide, high);
  if (!text)
    text = make_page (wide, high, page, &n);
  if (pages)
    *pages = n;
  return text;
}
