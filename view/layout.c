/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "view/layout.h"

#include "view/picture.h"

#include <math.h>
#include <string.h>

#define GAP 1           /* pixels between the planes of a mosaic */
#define MOST_STEPS 8192 /* through a volume with very unequal spacing */
#define MOSAIC 64       /* planes of a mosaic that shows as many as fit */

gsize
nd_layout_index (const NdSceneJob *job, NdAxis axis, gdouble position)
{
  const gsize size = job->shape.size[axis];

  return MIN ((gsize) (position * size), size - 1);
}

guint
nd_layout_slices (const NdCamera *camera, const NdSceneJob *job)
{
  const gsize size = job->shape.size[camera->axis];
  const gsize slices = camera->slices ? camera->slices : MIN (size, MOSAIC);

  return MIN (MIN (slices, size), ND_LAYOUT_PANELS);
}

static gdouble
extent (const NdSceneJob *job, NdAxis axis)
{
  return job->shape.size[axis] * job->spacing[axis];
}

static gdouble
shortest (const NdSceneJob *job)
{
  return MIN (MIN (job->spacing[0], job->spacing[1]), job->spacing[2]);
}

static gdouble
diagonal (const NdSceneJob *job)
{
  return sqrt (extent (job, 0) * extent (job, 0)
      + extent (job, 1) * extent (job, 1) + extent (job, 2) * extent (job, 2));
}

static guint
mosaic_columns (guint slices)
{
  return (guint) ceil (sqrt (slices));
}

/* Pixels for @length mm at @pixel mm per pixel; at least one. */
static gdouble
pixels_of (gdouble length, gdouble pixel)
{
  return MAX (rint (length / pixel), 1);
}

static gboolean
is_rotated (const NdCamera *camera)
{
  return camera->mode == ND_VIEW_VOLUME || camera->mode == ND_VIEW_SURFACE
      || camera->azimuth != 0 || camera->elevation != 0
      || camera->perspective != 0;
}

/* The size of the picture at @pixel mm per pixel. */
static void
size_at (const NdCamera *camera, const NdSceneJob *job, gdouble pixel,
    gdouble *width, gdouble *height)
{
  const NdAxis across = nd_picture_width_axis (camera->axis);
  const NdAxis down = nd_picture_height_axis (camera->axis);
  guint slices, columns;

  *width = pixels_of (extent (job, across), pixel);
  *height = pixels_of (extent (job, down), pixel);
  switch (camera->mode) {
    case ND_VIEW_ORTHOGONAL:
      *width = pixels_of (extent (job, 0), pixel)
          + pixels_of (extent (job, 2), pixel);
      *height = pixels_of (extent (job, 1), pixel)
          + pixels_of (extent (job, 2), pixel);
      break;
    case ND_VIEW_MOSAIC:
      slices = nd_layout_slices (camera, job);
      columns = mosaic_columns (slices);
      *width = columns * (*width + GAP) - GAP;
      *height = ((slices - 1) / columns + 1) * (*height + GAP) - GAP;
      break;
    case ND_VIEW_PROJECTION:
    case ND_VIEW_VOLUME:
    case ND_VIEW_SURFACE:
      if (is_rotated (camera))
        *width = *height = pixels_of (diagonal (job), pixel);
      break;
    case ND_VIEW_MMODE:
      *width = camera->columns;
      *height = pixels_of (extent (job, camera->axis), pixel);
      break;
    case ND_VIEW_SLICE:
    case ND_VIEW_COMPARE:
    case ND_VIEW_OVERLAY:
      break;
  }
}

gboolean
nd_layout_natural_size (const NdCamera *camera, const NdSceneJob *job,
    gint *width, gint *height)
{
  gdouble w, h;

  size_at (camera, job, shortest (job), &w, &h);
  if (!(w * h < G_MAXINT / 4 && w < G_MAXINT / 16 && h < G_MAXINT / 16))
    return FALSE;
  *width = w;
  *height = h;
  return TRUE;
}

/* The length of a pixel at which the picture just fits. */
static gdouble
fitting_pixel (const NdCamera *camera, const NdSceneJob *job, gint width,
    gint height)
{
  gdouble low = shortest (job) * 1e-4, high = diagonal (job) * 2, w, h;

  size_at (camera, job, shortest (job), &w, &h);
  if (w == width && h == height)
    return shortest (job);
  /* The sizes are rounded, so that no formula gives the length. */
  for (guint i = 0; i < 60; i++) {
    const gdouble middle = (low + high) / 2;

    size_at (camera, job, middle, &w, &h);
    if (w <= width && h <= height)
      high = middle;
    else
      low = middle;
  }
  return high;
}

/* A plane across @axis at index @index, in the middle of a rectangle. */
static void
layout_add_plane (NdLayout *layout, const NdSceneJob *job,
    const NdCamera *camera, NdAxis axis, gsize index, gdouble pixel,
    const gint rectangle[4])
{
  NdPanel *panel = &layout->panels[layout->n];
  const NdAxis right = nd_picture_width_axis (axis);
  const NdAxis down = nd_picture_height_axis (axis);
  const gsize *size = job->shape.size;

  memset (panel, 0, sizeof *panel);
  panel->kind = ND_PANEL_PLANE;
  panel->left = rectangle[0];
  panel->top = rectangle[1];
  panel->width = rectangle[2];
  panel->height = rectangle[3];
  if (panel->width < 1 || panel->height < 1)
    return;
  panel->right[right] = pixel / camera->zoom / job->spacing[right];
  panel->down[down] = pixel / camera->zoom / job->spacing[down];
  panel->origin[axis] = index;
  panel->origin[right] = (size[right] - 1) / 2.0
      - panel->right[right]
          * ((panel->width - 1) / 2.0 + camera->pan[0] * panel->width);
  panel->origin[down] = (size[down] - 1) / 2.0
      - panel->down[down]
          * ((panel->height - 1) / 2.0 + camera->pan[1] * panel->height);
  layout->axes[layout->n] = axis;
  layout->indices[layout->n++] = index;
}

/* z upper left, x upper right, y lower left. */
static void
add_orthogonal (NdLayout *layout, const NdCamera *camera, const NdSceneJob *job,
    gint width, gint height, gdouble pixel)
{
  gint w = pixels_of (extent (job, 0), pixel);
  gint h = pixels_of (extent (job, 1), pixel);
  const gint d = pixels_of (extent (job, 2), pixel);
  gsize at[3];

  /* The planes get the remaining pixels, so that the zoom can use them. */
  w += (width - w - d) / 2;
  h += (height - h - d) / 2;
  for (guint a = 0; a < 3; a++)
    at[a] = nd_layout_index (job, a, camera->position[a]);
  layout_add_plane (layout, job, camera, ND_AXIS_Z, at[2], pixel,
      (gint[]){ 0, 0, w, h });
  layout_add_plane (layout, job, camera, ND_AXIS_X, at[0], pixel,
      (gint[]){ w, 0, width - w, h });
  layout_add_plane (layout, job, camera, ND_AXIS_Y, at[1], pixel,
      (gint[]){ 0, h, w, height - h });
}

/* Planes at equal distances from the first to the last, row by row. */
static void
add_mosaic (NdLayout *layout, const NdCamera *camera, const NdSceneJob *job,
    gint width, gint height, gdouble pixel)
{
  const guint slices = nd_layout_slices (camera, job);
  const guint columns = mosaic_columns (slices);
  const guint lines = (slices - 1) / columns + 1;
  const gint w = (width + GAP) / (gint) columns - GAP;
  const gint h = (height + GAP) / (gint) lines - GAP;
  const gsize size = job->shape.size[camera->axis];

  for (guint i = 0; i < slices; i++) {
    const gsize index = slices > 1
        ? (size - 1) * (gsize) i / (slices - 1)
        : nd_layout_index (job, camera->axis, camera->position[camera->axis]);

    layout_add_plane (layout, job, camera, camera->axis, index, pixel,
        (gint[]){ (i % columns) * (w + GAP), (i / columns) * (h + GAP), w, h });
  }
}

/* Rotates the vectors @a and @b in their plane by @degrees. */
static void
rotate (gdouble a[3], gdouble b[3], gdouble degrees)
{
  const gdouble c = cos (degrees * G_PI / 180), s = sin (degrees * G_PI / 180);

  for (guint i = 0; i < 3; i++) {
    const gdouble x = a[i], y = b[i];

    a[i] = c * x + s * y;
    b[i] = c * y - s * x;
  }
}

void
nd_camera_axes (const NdCamera *camera, gdouble right[3], gdouble down[3],
    gdouble forward[3])
{
  memset (right, 0, 3 * sizeof (gdouble));
  memset (down, 0, 3 * sizeof (gdouble));
  memset (forward, 0, 3 * sizeof (gdouble));
  right[nd_picture_width_axis (camera->axis)] = 1;
  down[nd_picture_height_axis (camera->axis)] = 1;
  forward[camera->axis] = 1;
  rotate (forward, right, camera->azimuth);
  rotate (forward, down, camera->elevation);
}

static void
add_rays (NdLayout *layout, const NdCamera *camera, const NdSceneJob *job,
    gint width, gint height, gdouble pixel)
{
  static const NdPanelKind kinds[] = { ND_PANEL_MAX, ND_PANEL_MEAN,
    ND_PANEL_MIN };
  NdPanel *panel = &layout->panels[layout->n++];
  gdouble right[3], down[3], forward[3], depth = 0, near_mm, distance = 0;
  gdouble span;

  memset (panel, 0, sizeof *panel);
  panel->kind = camera->mode == ND_VIEW_VOLUME ? ND_PANEL_VOLUME
      : camera->mode == ND_VIEW_SURFACE        ? ND_PANEL_SURFACE
                                               : kinds[camera->projection];
  panel->width = width;
  panel->height = height;
  nd_camera_axes (camera, right, down, forward);
  panel->step = MAX (shortest (job), diagonal (job) / MOST_STEPS);
  for (guint a = 0; a < 3; a++)
    depth += fabs (forward[a]) * extent (job, a);
  panel->perspective = camera->perspective > 0;
  if (panel->perspective) {
    /* A panel of this span fills the angle of view at this distance. */
    span = MIN (width, height) * pixel;
    distance =
        span / 2 / tan (camera->perspective * G_PI / 360) + diagonal (job) / 2;
    panel->steps = (gsize) ceil ((distance * 2 + diagonal (job)) / panel->step);
  } else {
    panel->steps = MAX ((gsize) ceil (depth / panel->step - 1e-9), 1);
  }
  near_mm = panel->steps * panel->step / 2;
  for (guint a = 0; a < 3; a++) {
    const gdouble scale = pixel / camera->zoom;
    const gdouble x = (width - 1) / 2.0 + camera->pan[0] * width;
    const gdouble y = (height - 1) / 2.0 + camera->pan[1] * height;
    const gdouble middle = (job->shape.size[a] - 1) / 2.0;

    panel->right[a] = right[a] * scale / job->spacing[a];
    panel->down[a] = down[a] * scale / job->spacing[a];
    panel->forward[a] = forward[a] * panel->step / job->spacing[a];
    panel->origin[a] = middle - x * panel->right[a] - y * panel->down[a];
    panel->eye[a] = middle - forward[a] * distance / job->spacing[a];
    if (!panel->perspective)
      panel->origin[a] -= forward[a] * near_mm / job->spacing[a];
  }
}

void
nd_layout_init (NdLayout *layout, const NdCamera *camera, const NdSceneJob *job,
    gint width, gint height)
{
  const gdouble pixel = fitting_pixel (camera, job, width, height);

  layout->n = 0;
  layout->pixel = pixel / camera->zoom;
  switch (camera->mode) {
    case ND_VIEW_SLICE:
      layout_add_plane (layout, job, camera, camera->axis,
          nd_layout_index (job, camera->axis, camera->position[camera->axis]),
          pixel, (gint[]){ 0, 0, width, height });
      break;
    case ND_VIEW_ORTHOGONAL:
      add_orthogonal (layout, camera, job, width, height, pixel);
      break;
    case ND_VIEW_MOSAIC:
      add_mosaic (layout, camera, job, width, height, pixel);
      break;
    case ND_VIEW_PROJECTION:
    case ND_VIEW_VOLUME:
    case ND_VIEW_SURFACE:
      add_rays (layout, camera, job, width, height, pixel);
      break;
    case ND_VIEW_MMODE:
    case ND_VIEW_COMPARE:
    case ND_VIEW_OVERLAY:
      break;
  }
}

gint
nd_layout_panel_at (const NdLayout *layout, gint x, gint y)
{
  for (guint i = 0; i < layout->n; i++) {
    const NdPanel *panel = &layout->panels[i];

    if (x >= panel->left && x - panel->left < panel->width && y >= panel->top
        && y - panel->top < panel->height)
      return i;
  }
  return -1;
}

void
nd_camera_rotate (NdCamera *camera, gdouble right, gdouble down, gint width,
    gint height)
{
  const gdouble turn = 180.0 / MAX (MIN (width, height), 1);

  camera->azimuth = fmod (camera->azimuth + right * turn, 360);
  camera->elevation = CLAMP (camera->elevation + down * turn, -90, 90);
}
