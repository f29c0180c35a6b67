/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewscene.h"

#include "core/convert.h"
#include "gst/view/gstndviewhistory.h"
#include "gst/view/gstndviewkeys.h"

#include <math.h>
#include <string.h>

struct _GstNdViewScene
{
  const NdSceneFuncs *funcs;
  NdScene *scene;
  NdSceneJob job;
  gboolean in_mm;    /* the spacing is known */
  gboolean readable; /* volumes are in host memory */
  NdLayout layout;
  GstNdViewHistory *history; /* of the line of ND_VIEW_MMODE */
};

static const guint8 text_color[3] = { 255, 255, 255 };
static const guint8 axis_colors[3][3] = { { 255, 110, 110 }, { 120, 230, 120 },
  { 120, 170, 255 } };

GstNdViewScene *
gst_nd_view_scene_new (const NdBackend *backend, gint device_id,
    const NdRecording *info, GError **error)
{
  g_autoptr (GstNdViewScene) self = g_new0 (GstNdViewScene, 1);

  self->funcs = backend->scenes;
  self->in_mm = info->geometry.known;
  self->readable = backend->memory == NULL;
  gst_nd_view_settings_job (info, &self->job);
  self->scene = self->funcs->create (&self->job, device_id, error);
  return self->scene ? g_steal_pointer (&self) : NULL;
}

void
gst_nd_view_scene_free (GstNdViewScene *self)
{
  if (self->scene)
    self->funcs->destroy (self->scene);
  g_clear_pointer (&self->history, gst_nd_view_history_free);
  g_free (self);
}

const NdLayout *
gst_nd_view_scene_layout (const GstNdViewScene *self)
{
  return &self->layout;
}

static void
set_light (const GstNdViewSettings *s, const NdCamera *camera, NdLook *look)
{
  const gdouble azimuth = s->light_azimuth * G_PI / 180;
  const gdouble elevation = s->light_elevation * G_PI / 180;
  gdouble right[3], down[3], forward[3];

  nd_camera_axes (camera, right, down, forward);
  for (guint a = 0; a < 3; a++)
    look->light[a] = sin (azimuth) * cos (elevation) * right[a]
        - sin (elevation) * down[a]
        - cos (azimuth) * cos (elevation) * forward[a];
  look->ambient = s->ambient;
  look->diffuse = s->diffuse;
  look->specular = s->specular;
}

static void
set_look (const GstNdViewSettings *s, const NdCamera *camera,
    const GstNdViewMoment *moment, NdLook *look)
{
  memset (look, 0, sizeof *look);
  look->low = moment->low;
  look->window = moment->window;
  nd_colormap_fill (s->colormap, look->colors);
  memcpy (look->opacity, s->curve, sizeof look->opacity);
  for (guint c = 0; c < 3; c++) {
    look->background[c] = s->background >> (16 - 8 * c) & 255;
    look->surface_color[c] = s->surface_color >> (16 - 8 * c) & 255;
  }
  look->level = moment->isovalue;
  set_light (s, camera, look);
}

static gint
text_scale (const NdCanvas *canvas)
{
  return CLAMP (MIN (canvas->width, canvas->height) / 300, 1, 8);
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

/* Position and value at the pointer, or NULL if it is not on a plane. */
static gchar *
describe_pointer (const GstNdViewScene *self, gconstpointer data,
    const GstNdViewSettings *s)
{
  const NdShape *shape = &self->job.shape;
  const gint i = nd_layout_panel_at (&self->layout, s->pointer_x, s->pointer_y);
  const NdPanel *p = i < 0 ? NULL : &self->layout.panels[i];
  GString *text;
  gsize at[3], index;

  if (!p || p->kind != ND_PANEL_PLANE)
    return NULL;
  for (guint a = 0; a < 3; a++) {
    const gdouble v =
        rint (p->origin[a] + (s->pointer_x - p->left) * p->right[a]
            + (s->pointer_y - p->top) * p->down[a]);

    if (!(v >= 0 && v < shape->size[a]))
      return NULL;
    at[a] = v;
  }
  text = g_string_new (NULL);
  g_string_printf (text,
      "x %" G_GSIZE_FORMAT " y %" G_GSIZE_FORMAT " z %" G_GSIZE_FORMAT, at[0],
      at[1], at[2]);
  index = ((at[2] * shape->size[1] + at[1]) * shape->size[0] + at[0])
      * shape->components;
  for (gsize c = 0; self->readable && c < MIN (shape->components, 4); c++)
    g_string_append_printf (text, "%s%.5g", c == 0 ? ": " : " ",
        nd_sample_value (data, index + c, self->job.type));
  return g_string_free (text, FALSE);
}

/* Lines of text at the lower right. */
static void
draw_status (const GstNdViewScene *self, gconstpointer data,
    const GstNdViewSettings *s, const GstNdViewMoment *moment,
    const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas);
  g_autoptr (GString) text = g_string_new (NULL);

  if (s->pointer_x >= 0 && s->pointer_y >= 0) {
    g_autofree gchar *pointer = describe_pointer (self, data, s);

    if (pointer)
      g_string_append_printf (text, "%s\n", pointer);
  }
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

static void
draw_keys (const NdCanvas *canvas)
{
  const gint scale = text_scale (canvas);
  const gint margin = 6 * scale;
  const gchar *text = gst_nd_view_keys_help ();
  const gint width = nd_text_width (text, scale) + 2 * margin;
  const gint height =
      nd_text_lines (text) * ND_TEXT_HEIGHT * scale + 2 * margin;
  const gint left = MAX ((canvas->width - width) / 2, 0);
  const gint top = MAX ((canvas->height - height) / 2, 0);

  nd_canvas_fill (canvas, left, top, width, height, (const guint8[]){ 0, 0, 0 },
      0.7);
  nd_text_draw (canvas, text, left + margin, top + margin, scale, text_color);
}

static gboolean
draw_panels (GstNdViewScene *self, gconstpointer data, const NdLook *look,
    const NdCanvas *canvas, GError **error)
{
  if (self->layout.n != 1)
    nd_canvas_fill (canvas, 0, 0, canvas->width, canvas->height,
        look->background, 1);
  return self->funcs->take (self->scene, data, error)
      && self->funcs->draw (self->scene, self->layout.panels, self->layout.n,
          look, canvas->pixels, canvas->stride, error);
}

/* Adds the line of the volume at @data to the history, and draws it. */
static gboolean
draw_history (GstNdViewScene *self, gconstpointer data, const NdCamera *camera,
    const NdLook *look, const NdCanvas *canvas, GError **error)
{
  gsize at[3];

  for (guint a = 0; a < 3; a++)
    at[a] = nd_layout_index (&self->job, a, camera->position[a]);
  if (!self->history
      || !gst_nd_view_history_is_of (self->history, camera->axis,
          camera->columns)) {
    g_clear_pointer (&self->history, gst_nd_view_history_free);
    self->history = gst_nd_view_history_new (&self->job, camera->axis,
        camera->columns, error);
  }
  if (!self->history)
    return FALSE;
  gst_nd_view_history_add (self->history, data, at);
  return gst_nd_view_history_draw (self->history, look, canvas, error);
}

/* Draws @other with @look into a picture as large as @canvas; free its
 * pixels. */
static gboolean
draw_other (GstNdViewScene *self, const GstNdViewOther *other,
    const NdCamera *camera, const NdLook *look, const NdCanvas *canvas,
    NdCanvas *result, GError **error)
{
  *result = (NdCanvas){ NULL, 3 * (gssize) canvas->width, canvas->width,
    canvas->height };
  result->pixels = g_malloc (result->stride * canvas->height);
  nd_layout_init (&other->scene->layout, camera, &other->scene->job,
      canvas->width, canvas->height);
  if (draw_panels (other->scene, other->data, look, result, error))
    return TRUE;
  g_clear_pointer (&result->pixels, g_free);
  return FALSE;
}

/* The right part of the picture shows the other volume. */
static gboolean
draw_split (GstNdViewScene *self, const GstNdViewOther *other,
    const NdCamera *camera, const NdLook *look, gdouble split,
    const NdCanvas *canvas, GError **error)
{
  const gint line = rint (split * canvas->width);
  NdCanvas right;

  if (!draw_other (self, other, camera, look, canvas, &right, error))
    return FALSE;
  for (gint y = 0; y < canvas->height; y++)
    memcpy (canvas->pixels + y * canvas->stride + 3 * line,
        right.pixels + y * right.stride + 3 * line, 3 * (canvas->width - line));
  g_free (right.pixels);
  nd_canvas_fill (canvas, line, 0, 1, canvas->height, text_color, 0.7);
  return TRUE;
}

static gfloat
overlay_opacity (const GstNdViewSettings *s, guint entry)
{
  const gfloat grey = entry / (gfloat) (ND_LOOK_COLORS - 1);

  return s->overlay_opacity
      * (s->overlay_colormap == ND_COLORMAP_SIGNED     ? fabsf (2 * grey - 1)
              : s->overlay_colormap == ND_COLORMAP_HUE ? 1
                                                       : grey);
}

/* The opacity is drawn as if it were colours, so that it belongs to the same
 * samples. */
static gboolean
draw_overlay (GstNdViewScene *self, const GstNdViewOther *other,
    const NdCamera *camera, const NdLook *look, const GstNdViewSettings *s,
    const NdCanvas *canvas, GError **error)
{
  NdLook over = *look;
  NdCanvas colors, opacity;

  over.low = other->low;
  over.window = other->window;
  nd_colormap_fill (s->overlay_colormap, over.colors);
  if (!draw_other (self, other, camera, &over, canvas, &colors, error))
    return FALSE;
  memset (over.background, 0, sizeof over.background);
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    for (guint c = 0; c < 3; c++)
      over.colors[i][c] = 255 * overlay_opacity (s, i);
  if (!draw_other (self, other, camera, &over, canvas, &opacity, error)) {
    g_free (colors.pixels);
    return FALSE;
  }
  for (gint y = 0; y < canvas->height; y++) {
    guint8 *pixel = canvas->pixels + y * canvas->stride;

    for (gssize i = y * colors.stride; i < (y + 1) * colors.stride; i++) {
      *pixel = rint (*pixel
          + opacity.pixels[i] / 255.0 * (colors.pixels[i] - *pixel));
      pixel++;
    }
  }
  g_free (colors.pixels);
  g_free (opacity.pixels);
  return TRUE;
}

static gboolean
draw_second (GstNdViewScene *self, const GstNdViewOther *other,
    const NdCamera *camera, const NdLook *look, const GstNdViewSettings *s,
    const NdCanvas *canvas, GError **error)
{
  if (s->mode == ND_VIEW_OVERLAY)
    return draw_overlay (self, other, camera, look, s, canvas, error);
  return draw_split (self, other, camera, look, s->split, canvas, error);
}

/* The other volume at the right of the first one. */
static gboolean
draw_beside (const GstNdViewOther *other, const NdCamera *camera,
    const NdLook *look, const NdCanvas *right, GError **error)
{
  nd_layout_init (&other->scene->layout, camera, &other->scene->job,
      right->width, right->height);
  return draw_panels (other->scene, other->data, look, right, error);
}

gboolean
gst_nd_view_scene_draw (GstNdViewScene *self, gconstpointer data,
    const GstNdViewOther *other, const GstNdViewSettings *settings,
    const GstNdViewMoment *moment, const NdCanvas *whole, GError **error)
{
  const gboolean beside = gst_nd_view_settings_are_beside (settings);
  const gint half = whole->width / 2;
  NdCanvas first = *whole;
  const NdCanvas *canvas = &first;
  NdCamera camera;
  NdLook look;

  /* A picture of one column has no room for two. */
  if (beside && half > 0) {
    const NdCanvas right = { whole->pixels + 3 * half, whole->stride,
      whole->width - half, whole->height };

    first.width = half;
    gst_nd_view_settings_camera (settings, &camera);
    set_look (settings, &camera, moment, &look);
    nd_canvas_fill (&right, 0, 0, right.width, right.height, look.background,
        1);
    if (other && !draw_beside (other, &camera, &look, &right, error))
      return FALSE;
  }

  gst_nd_view_settings_camera (settings, &camera);
  set_look (settings, &camera, moment, &look);
  nd_layout_init (&self->layout, &camera, &self->job, canvas->width,
      canvas->height);
  if (settings->mode == ND_VIEW_MMODE) {
    if (!draw_history (self, data, &camera, &look, canvas, error))
      return FALSE;
  } else if (!draw_panels (self, data, &look, canvas, error)) {
    return FALSE;
  }
  if (other && !beside && gst_nd_view_settings_need_second (settings)
      && !draw_second (self, other, &camera, &look, settings, canvas, error))
    return FALSE;
  if (settings->cross_hair && camera.mode == ND_VIEW_ORTHOGONAL)
    draw_cross_hair (self, &camera, canvas);
  if (settings->labels)
    draw_labels (self, canvas);
  if (settings->scale_bar && self->layout.n > 0
      && !(settings->perspective > 0 && self->layout.panels[0].perspective))
    draw_scale_bar (self, canvas);
  draw_status (self, data, settings, moment, canvas);
  if (settings->show_keys)
    draw_keys (canvas);
  return TRUE;
}
