/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewhistory.h"

#include "core/error.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

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
