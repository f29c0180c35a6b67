/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewscene.h"

#include "core/error.h"
#include "core/memory.h"
#include "cpu/cpu.h"
#include "gst/view/gstndviewnotes.h"

#include <math.h>
#include <string.h>

GstNdViewScene *
gst_nd_view_scene_new (const NdBackend *backend, const NdBackend *memory,
    gint device_id, const NdRecording *info, GError **error)
{
  g_autoptr (GstNdViewScene) self = g_new0 (GstNdViewScene, 1);

  self->funcs = backend->scenes;
  self->in_mm = info->geometry.known;
  self->memory = memory;
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

void
gst_nd_view_scene_set_directions (GstNdViewScene *self,
    const gdouble directions[9])
{
  memcpy (self->directions, directions, sizeof self->directions);
  self->oriented = TRUE;
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

/* Draws the volume at @data, or if that is NULL the one taken before. */
static gboolean
draw_panels (GstNdViewScene *self, gconstpointer data, const NdLook *look,
    const NdCanvas *canvas, GError **error)
{
  if (self->layout.n != 1)
    nd_canvas_fill (canvas, 0, 0, canvas->width, canvas->height,
        look->background, 1);
  return (!data || self->funcs->take (self->scene, data, error))
      && self->funcs->draw (self->scene, self->layout.panels, self->layout.n,
          look, canvas->pixels, canvas->stride, error);
}

/* Adds the line of the volume at @data to the history if it is not there, and
 * draws it. The history is in host memory. */
static gboolean
draw_history (GstNdViewScene *self, gconstpointer data, const NdCamera *camera,
    const NdLook *look, gboolean again, const NdCanvas *canvas, GError **error)
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
    again = FALSE;
  }
  if (!self->history)
    return FALSE;
  if (!again
      && (!self->funcs->take (self->scene, data, error)
          || !gst_nd_view_history_add (self->history, self->funcs, self->scene,
              at, error)))
    return FALSE;
  return gst_nd_view_history_draw (self->history, look, canvas, error);
}

/* Draws @other with @look into a picture as large as @canvas, at the positions
 * of the first volume; free its pixels. @taken: it was drawn just before. */
static gboolean
draw_other (GstNdViewScene *self, const GstNdViewOther *other, gboolean taken,
    const NdLook *look, const NdCanvas *canvas, NdCanvas *result,
    GError **error)
{
  NdLook placed = *look;

  *result = (NdCanvas){ NULL, 3 * (gssize) canvas->width, canvas->width,
    canvas->height };
  result->pixels = nd_memory_new (result->stride, canvas->height, error);
  if (!result->pixels)
    return FALSE;
  other->scene->layout = self->layout;
  for (guint i = 0; i < self->layout.n; i++)
    nd_scene_map_panel (other->map, &other->scene->layout.panels[i]);
  nd_scene_map_light (other->map, placed.light);
  if (draw_panels (other->scene, taken ? NULL : other->data, &placed, result,
          error))
    return TRUE;
  g_clear_pointer (&result->pixels, g_free);
  return FALSE;
}

/* The right part of the picture shows the other volume. */
static gboolean
draw_split (GstNdViewScene *self, const GstNdViewOther *other,
    const NdLook *look, gdouble split, const NdCanvas *canvas, GError **error)
{
  const gint line = rint (split * canvas->width);
  NdCanvas right;

  if (!draw_other (self, other, FALSE, look, canvas, &right, error))
    return FALSE;
  for (gint y = 0; y < canvas->height; y++)
    memcpy (canvas->pixels + y * canvas->stride + 3 * line,
        right.pixels + y * right.stride + 3 * line, 3 * (canvas->width - line));
  g_free (right.pixels);
  nd_canvas_fill (canvas, line, 0, 1, canvas->height,
      (const guint8[]){ 255, 255, 255 }, 0.7);
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
    const NdLook *look, const GstNdViewSettings *s, const NdCanvas *canvas,
    GError **error)
{
  NdLook over = *look;
  NdCanvas colors, opacity;

  over.low = other->low;
  over.window = other->window;
  nd_colormap_fill (s->overlay_colormap, over.colors);
  if (!draw_other (self, other, FALSE, &over, canvas, &colors, error))
    return FALSE;
  memset (over.background, 0, sizeof over.background);
  for (guint i = 0; i < ND_LOOK_COLORS; i++)
    for (guint c = 0; c < 3; c++)
      over.colors[i][c] = 255 * overlay_opacity (s, i);
  if (!draw_other (self, other, TRUE, &over, canvas, &opacity, error)) {
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
    const NdLook *look, const GstNdViewSettings *s, const NdCanvas *canvas,
    GError **error)
{
  if (s->mode == ND_VIEW_OVERLAY)
    return draw_overlay (self, other, look, s, canvas, error);
  return draw_split (self, other, look, s->split, canvas, error);
}

/* The other volume at the right of the first one. */
static gboolean
draw_beside (const GstNdViewOther *other, const GstNdViewSettings *settings,
    const NdCamera *camera, const NdLook *look, const NdCanvas *right,
    GError **error)
{
  nd_layout_init (&other->scene->layout, camera, &other->scene->job,
      right->width, right->height);
  if (!draw_panels (other->scene, other->data, look, right, error))
    return FALSE;
  gst_nd_view_notes_draw (other->scene, settings, camera, right);
  return TRUE;
}

gboolean
gst_nd_view_scene_draw (GstNdViewScene *self, gconstpointer data,
    const GstNdViewOther *other, const GstNdViewSettings *settings,
    const GstNdViewMoment *moment, const NdCanvas *whole, GError **error)
{
  const gboolean beside = gst_nd_view_settings_are_beside (settings);
  const gboolean second = other && gst_nd_view_settings_need_second (settings);
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
    if (other && !draw_beside (other, settings, &camera, &look, &right, error))
      return FALSE;
  }

  gst_nd_view_settings_camera (settings, &camera);
  set_look (settings, &camera, moment, &look);
  nd_layout_init (&self->layout, &camera, &self->job, canvas->width,
      canvas->height);
  if (settings->mode == ND_VIEW_MMODE) {
    if (!draw_history (self, data, &camera, &look, moment->again, canvas,
            error))
      return FALSE;
  } else if (!draw_panels (self, data, &look, canvas, error)) {
    return FALSE;
  }
  if (second && !beside
      && !draw_second (self, other, &look, settings, canvas, error))
    return FALSE;
  gst_nd_view_notes_draw (self, settings, &camera, canvas);
  gst_nd_view_notes_draw_status (self, data, second ? other : NULL, settings,
      moment, beside ? half : 0, canvas);
  if (settings->show_keys)
    gst_nd_view_notes_draw_keys (moment->keys_page, whole);
  return TRUE;
}

/* A line of samples over time: mode=mmode of ndview.
 */

struct _GstNdViewHistory
{
  NdSceneJob job; /* of the volumes */
  NdAxis axis;
  guint columns;

  /* A plane of its own: x is time, y the position on the line. */
  gfloat *values;
  gfloat *line; /* the newest one */
  NdScene *plane;
};

GstNdViewHistory *
gst_nd_view_history_new (const NdSceneJob *job, NdAxis axis, guint columns,
    GError **error)
{
  const gsize length = job->shape.size[axis];
  const NdSceneJob plane = { ND_FLOAT32, { 1, { columns, length, 1 } },
    { 1, 1, 1 } };
  GstNdViewHistory *self = g_new0 (GstNdViewHistory, 1);

  self->job = *job;
  self->axis = axis;
  self->columns = columns;
  self->values = g_try_new (gfloat, columns * length);
  self->line = g_try_new (gfloat, length);
  if (!self->values || !self->line) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "No memory for %u lines of %" G_GSIZE_FORMAT
        " samples: set a smaller 'history'",
        columns, length);
  } else {
    for (gsize i = 0; i < columns * length; i++)
      self->values[i] = NAN;
    self->plane = nd_cpu_backend.scenes->create (&plane, -1, error);
  }
  if (!self->plane)
    g_clear_pointer (&self, gst_nd_view_history_free);
  return self;
}

void
gst_nd_view_history_free (GstNdViewHistory *self)
{
  if (self->plane)
    nd_cpu_backend.scenes->destroy (self->plane);
  g_free (self->values);
  g_free (self->line);
  g_free (self);
}

gboolean
gst_nd_view_history_is_of (const GstNdViewHistory *self, NdAxis axis,
    guint columns)
{
  return self->axis == axis && self->columns == columns;
}

gboolean
gst_nd_view_history_add (GstNdViewHistory *self, const NdSceneFuncs *funcs,
    NdScene *scene, const gsize at[3], GError **error)
{
  const gsize *size = self->job.shape.size;
  const gsize steps[3] = { 1, size[0], size[0] * size[1] };
  gsize first = 0;

  for (guint a = 0; a < 3; a++)
    first += a == self->axis ? 0 : at[a] * steps[a];
  if (!funcs->line (scene, first, steps[self->axis], self->line,
          size[self->axis], error))
    return FALSE;
  for (gsize i = 0; i < size[self->axis]; i++) {
    gfloat *row = self->values + i * self->columns;

    memmove (row, row + 1, (self->columns - 1) * sizeof *row);
    row[self->columns - 1] = self->line[i];
  }
  return TRUE;
}

gboolean
gst_nd_view_history_draw (GstNdViewHistory *self, const NdLook *look,
    const NdCanvas *canvas, GError **error)
{
  const gdouble right = self->columns / (gdouble) canvas->width;
  const gdouble down =
      self->job.shape.size[self->axis] / (gdouble) canvas->height;
  const NdPanel panel = { .kind = ND_PANEL_PLANE,
    .width = canvas->width,
    .height = canvas->height,
    .right = { right, 0, 0 },
    .down = { 0, down, 0 },
    .origin = { (right - 1) / 2, (down - 1) / 2, 0 } };

  return nd_cpu_backend.scenes->take (self->plane, self->values, error)
      && nd_cpu_backend.scenes->draw (self->plane, &panel, 1, look,
          canvas->pixels, canvas->stride, error);
}

/* The automatic window of ndview: the range of sample values between black and
 * white, which slowly follows the volumes.
 */

/* The part of the distance to its own range by which each volume moves the
 * window. Small, so that the picture does not flicker. */
#define STEP 0.2

void
gst_nd_view_window_forget (GstNdViewWindow *window)
{
  window->low = 1;
  window->high = 0;
}

gboolean
gst_nd_view_window_is_known (const GstNdViewWindow *window)
{
  return window->low <= window->high;
}

static void
view_scene_follow (GstNdViewWindow *window, gdouble low, gdouble high)
{
  if (gst_nd_view_window_is_known (window)) {
    window->low += STEP * (low - window->low);
    window->high += STEP * (high - window->high);
  } else {
    window->low = low;
    window->high = high;
  }
}

gboolean
gst_nd_view_window_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error)
{
  gdouble low, high;

  if (!nd_picture_range (picture, data, &low, &high, error))
    return FALSE;
  if (low <= high)
    view_scene_follow (window, low, high);
  return TRUE;
}

gboolean
gst_nd_view_threshold_follow (GstNdViewWindow *window, NdPicture *picture,
    gconstpointer data, GError **error)
{
  gdouble level;

  if (!nd_picture_threshold (picture, data, &level, error))
    return FALSE;
  view_scene_follow (window, level, level);
  return TRUE;
}

gdouble
gst_nd_view_window_width (const GstNdViewWindow *window)
{
  return window->high > window->low ? window->high - window->low : 1;
}
