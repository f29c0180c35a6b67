/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewnotes.h"

#include "core/convert.h"
#include "gst/view/gstndviewkeys.h"
#include "view/picture.h"

#include <math.h>

#define MOST_NUMBERS 4 /* that are shown of a sample */
#define KEYS_MARGIN 4  /* dots around the list of keys */

static const guint8 text_color[3] = { 255, 255, 255 };
static const guint8 axis_colors[3][3] = { { 255, 110, 110 }, { 120, 230, 120 },
  { 120, 170, 255 } };

static gint
scale_for (gint width, gint height)
{
  return CLAMP (MIN (width, height) / 300, 1, 8);
}

static gint
text_scale (const NdCanvas *canvas)
{
  return scale_for (canvas->width, canvas->height);
}

static void
draw_cross_hair (const GstNdViewScene *self, const NdCamera *camera,
    const NdCanvas *canvas)
{
  for (guint i = 0; i < self->layout.n; i++) {
    const NdPanel *p = &self->layout.panels[i];

    for (guint a = 0; a < 3; a++) {
      const gdouble at = nd_layout_index (&self->job, a, camera->position[a]);
      gint x, y;

      if (a == self->layout.axes[i])
        continue;
      if (p->right[a] != 0) {
        x = rint ((at - p->origin[a]) / p->right[a]);
        if (x >= 0 && x < p->width)
          nd_canvas_fill (canvas, p->left + x, p->top, 1, p->height,
              axis_colors[a], 0.6);
      } else {
        y = rint ((at - p->origin[a]) / p->down[a]);
        if (y >= 0 && y < p->height)
          nd_canvas_fill (canvas, p->left, p->top + y, p->width, 1,
              axis_colors[a], 0.6);
      }
    }
  }
}

/* The axis and the index of each plane, if there is room. */
static void
draw_labels (const GstNdViewScene *self, const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas);

  for (guint i = 0; i < self->layout.n; i++) {
    const NdPanel *p = &self->layout.panels[i];
    const NdAxis axis = self->layout.axes[i];
    g_autofree gchar *text = NULL;

    if (p->kind != ND_PANEL_PLANE)
      continue;
    text = g_strdup_printf ("%c %" G_GSIZE_FORMAT, 'x' + axis,
        self->layout.indices[i]);
    if (nd_text_width (text, scale) + 4 * scale <= p->width
        && ND_TEXT_HEIGHT * scale + 4 * scale <= p->height)
      nd_text_draw (canvas, text, p->left + 2 * scale, p->top + 2 * scale,
          scale, axis_colors[axis]);
  }
}

/* The letters of the side of a patient to which @axis, or its opposite, points:
 * that of the main direction first, and others that are at least half of it. */
static void
name_side (const GstNdViewScene *self, NdAxis axis, gboolean opposite,
    gchar letters[4])
{
  static const gchar names[] = "LRPAIS";
  gdouble parts[3], main = 0;
  guint n = 0;

  for (guint a = 0; a < 3; a++) {
    parts[a] = self->directions[3 * a + axis] * (opposite ? -1 : 1);
    main = MAX (main, fabs (parts[a]));
  }
  while (main > 0 && n < 3) {
    guint best = 0;

    for (guint a = 1; a < 3; a++) {
      if (fabs (parts[a]) > fabs (parts[best]))
        best = a;
    }
    if (!(fabs (parts[best]) >= main / 2))
      break;
    letters[n++] = names[2 * best + (parts[best] > 0)];
    parts[best] = 0;
  }
  letters[n] = '\0';
}

/* R, L, A, P, S and I at the sides of the planes. */
static void
draw_sides (const GstNdViewScene *self, const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas), margin = 2 * scale;

  for (guint i = 0; i < self->layout.n; i++) {
    const NdPanel *p = &self->layout.panels[i];
    const NdAxis right = nd_picture_width_axis (self->layout.axes[i]);
    const NdAxis down = nd_picture_height_axis (self->layout.axes[i]);
    const gint x = p->left + p->width / 2, y = p->top + p->height / 2;
    gchar letters[4];
    gint width;

    /* Two letters and the label above them must have room. */
    if (p->width < 12 * ND_TEXT_WIDTH * scale
        || p->height < 6 * ND_TEXT_HEIGHT * scale)
      continue;
    name_side (self, right, TRUE, letters);
    nd_text_draw (canvas, letters, p->left + margin,
        y - ND_TEXT_HEIGHT * scale / 2, scale, text_color);
    name_side (self, right, FALSE, letters);
    width = nd_text_width (letters, scale);
    nd_text_draw (canvas, letters, p->left + p->width - margin - width,
        y - ND_TEXT_HEIGHT * scale / 2, scale, text_color);
    name_side (self, down, TRUE, letters);
    width = nd_text_width (letters, scale);
    nd_text_draw (canvas, letters, x - width / 2, p->top + margin, scale,
        text_color);
    name_side (self, down, FALSE, letters);
    width = nd_text_width (letters, scale);
    nd_text_draw (canvas, letters, x - width / 2,
        p->top + p->height - margin - ND_TEXT_HEIGHT * scale, scale,
        text_color);
  }
}

/* The longest of 1, 2 or 5 times a power of ten that is at most @most. */
static gdouble
round_length (gdouble most)
{
  const gdouble power = pow (10, floor (log10 (most)));

  return most >= 5 * power ? 5 * power : most >= 2 * power ? 2 * power : power;
}

static void
draw_scale_bar (const GstNdViewScene *self, const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas), margin = 4 * scale;
  const gdouble length =
      round_length (canvas->width * 0.3 * self->layout.pixel);
  const gint width = MAX (rint (length / self->layout.pixel), 1);
  const gint y = canvas->height - margin - 2 * scale;
  g_autofree gchar *text =
      g_strdup_printf ("%g %s", length, self->in_mm ? "mm" : "samples");

  nd_canvas_fill (canvas, margin - 1, y - 1, width + 2, 2 * scale + 2,
      (const guint8[]){ 0, 0, 0 }, 0.4);
  nd_canvas_fill (canvas, margin, y, width, 2 * scale, text_color, 1);
  nd_text_draw (canvas, text, margin, y - (ND_TEXT_HEIGHT + 1) * scale, scale,
      text_color);
}

/* The position in samples at pixel (@x, @y). FALSE if it is not on a plane. */
static gboolean
find_position (const GstNdViewScene *self, gint x, gint y, gdouble at[3])
{
  const gint i = nd_layout_panel_at (&self->layout, x, y);
  const NdPanel *p = i < 0 ? NULL : &self->layout.panels[i];

  if (!p || p->kind != ND_PANEL_PLANE)
    return FALSE;
  for (guint a = 0; a < 3; a++)
    at[a] =
        p->origin[a] + (x - p->left) * p->right[a] + (y - p->top) * p->down[a];
  return TRUE;
}

/* The index of the sample at @at; FALSE if it is not in the volume. */
static gboolean
find_sample (const NdShape *shape, const gdouble at[3], gsize index[3])
{
  for (guint a = 0; a < 3; a++) {
    const gdouble v = rint (at[a]);

    if (!(v >= 0 && v < shape->size[a]))
      return FALSE;
    index[a] = v;
  }
  return TRUE;
}

/* The first @n numbers from number @first of the volume at @data on. */
static gboolean
view_notes_read_numbers (const GstNdViewScene *self, gconstpointer data,
    gsize first, gsize n, gdouble *numbers)
{
  const gsize size = nd_sample_size (self->job.type);
  gdouble copy[MOST_NUMBERS];

  data = (const guint8 *) data + first * size;
  if (self->memory) {
    if (!self->memory->memory->copy (copy, data, n * size, NULL))
      return FALSE;
    data = copy;
  }
  for (gsize i = 0; i < n; i++)
    numbers[i] = nd_sample_value (data, i, self->job.type);
  return TRUE;
}

/* Appends @name and the components of sample @at. */
static void
view_notes_append_value (GString *text, const gchar *name,
    const GstNdViewScene *self, gconstpointer data, const gsize at[3])
{
  static const gchar *const complex[] = { "re", "im" };
  static const gchar *const colors[] = { "red", "green", "blue" };
  const NdShape *shape = &self->job.shape;
  const gsize c = shape->components;
  const gchar *const *names = c == 2 ? complex : c == 3 ? colors : NULL;
  const gsize index =
      ((at[2] * shape->size[1] + at[1]) * shape->size[0] + at[0]) * c;
  gdouble numbers[MOST_NUMBERS];
  gsize n = MIN (c, MOST_NUMBERS);

  if (!view_notes_read_numbers (self, data, index, n, numbers))
    n = 0;
  g_string_append (text, name);
  for (gsize k = 0; k < n; k++)
    g_string_append_printf (text, "%s%s %.5g", k == 0 ? "" : ", ",
        names ? names[k] : "", numbers[k]);
  g_string_append_c (text, '\n');
}

/* Appends the sample at the pointer, and the names and values there of both
 * inputs. */
static void
append_pointer (GString *text, const GstNdViewScene *self, gconstpointer data,
    const GstNdViewOther *other, const GstNdViewSettings *s, gint half)
{
  const gboolean is_right = half > 0 && s->pointer_x >= half;
  const GstNdViewScene *scene = is_right && other ? other->scene : self;
  g_autofree gchar *name =
      s->response > 0 ? g_strdup_printf ("response %u:", s->response) : NULL;
  gdouble at[3], there[3];
  gsize first[3], second[3];
  gboolean has_first, has_second = FALSE;

  if ((is_right && !other)
      || !find_position (scene, s->pointer_x - (is_right ? half : 0),
          s->pointer_y, at))
    return;
  has_first = !is_right && find_sample (&self->job.shape, at, first);
  if (is_right) {
    has_second = find_sample (&scene->job.shape, at, second);
  } else if (other && other->map) {
    nd_scene_map_position (other->map, at, there);
    has_second = find_sample (&other->scene->job.shape, there, second);
  }
  if (has_first || has_second) {
    const gsize *index = has_first ? first : second;

    g_string_append_printf (text,
        "x %" G_GSIZE_FORMAT " y %" G_GSIZE_FORMAT " z %" G_GSIZE_FORMAT "\n",
        index[0], index[1], index[2]);
  }
  if (has_first)
    view_notes_append_value (text,
        name        ? name
            : other ? "first:"
                    : "value:",
        self, data, first);
  if (has_second)
    view_notes_append_value (text, "second:", other->scene, other->data,
        second);
}

void
gst_nd_view_notes_draw_status (const GstNdViewScene *self, gconstpointer data,
    const GstNdViewOther *other, const GstNdViewSettings *s,
    const GstNdViewMoment *moment, gint half, const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas);
  g_autoptr (GString) text = g_string_new (NULL);

  if (s->pointer_x >= 0 && s->pointer_y >= 0)
    append_pointer (text, self, data, other, s, half);
  if (s->show_number)
    g_string_append_printf (text, "volume %" G_GUINT64_FORMAT "\n",
        moment->number);
  if (s->show_time && GST_CLOCK_TIME_IS_VALID (moment->time))
    g_string_append_printf (text, "%.3f s\n",
        moment->time / (gdouble) GST_SECOND);
  if (text->len == 0)
    return;
  g_string_truncate (text, text->len - 1);
  nd_text_draw (canvas, text->str,
      canvas->width - nd_text_width (text->str, scale) - 3 * scale,
      canvas->height - nd_text_lines (text->str) * ND_TEXT_HEIGHT * scale
          - 2 * scale,
      scale, text_color);
}

/* The page @page of the list of keys for a picture of @width x @height. */
static gchar *
keys_page (gint width, gint height, guint page, guint *pages)
{
  const gint scale = scale_for (width, height);

  return gst_nd_view_help_page (width / scale - 2 * KEYS_MARGIN,
      height / scale - 2 * KEYS_MARGIN, page, pages);
}

guint
gst_nd_view_notes_pages (gint width, gint height)
{
  guint pages;

  g_free (keys_page (width, height, 0, &pages));
  return pages;
}

void
gst_nd_view_notes_draw_keys (guint page, const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas);
  const gint margin = KEYS_MARGIN * scale;
  g_autofree gchar *text =
      keys_page (canvas->width, canvas->height, page, NULL);
  const gint width = nd_text_width (text, scale) + 2 * margin;
  const gint height =
      nd_text_lines (text) * ND_TEXT_HEIGHT * scale + 2 * margin;
  const gint left = MAX ((canvas->width - width) / 2, 0);
  const gint top = MAX ((canvas->height - height) / 2, 0);

  nd_canvas_fill (canvas, left, top, width, height, (const guint8[]){ 0, 0, 0 },
      0.7);
  nd_text_draw (canvas, text, left + margin, top + margin, scale, text_color);
}

void
gst_nd_view_notes_draw (const GstNdViewScene *self,
    const GstNdViewSettings *settings, const NdCamera *camera,
    const NdCanvas *canvas)
{
  if (settings->cross_hair && camera->mode == ND_VIEW_ORTHOGONAL)
    draw_cross_hair (self, camera, canvas);
  if (settings->labels)
    draw_labels (self, canvas);
  if (settings->labels && self->oriented && camera->mode == ND_VIEW_ORTHOGONAL)
    draw_sides (self, canvas);
  if (settings->scale_bar && self->layout.n > 0
      && !(settings->perspective > 0 && self->layout.panels[0].perspective))
    draw_scale_bar (self, canvas);
}
