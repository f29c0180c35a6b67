/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewchange.h"

#include "gst/base/gstndcaps.h"
#include "gst/view/gstndviewcaps.h"
#include "gst/view/gstndviewdraw.h"

#define GST_CAT_DEFAULT gst_nd_view_debug

/* Whether downstream accepts the pictures of resolved @settings. */
static gboolean
check_layout (GstNdView *self, const GstNdViewSettings *settings,
    GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) volumes = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) pictures = NULL;

  if (!volumes)
    return TRUE;
  pictures = gst_nd_view_caps_of_pictures (volumes, settings);
  return gst_nd_downstream_accepts (trans, pictures, error);
}

/* Sets the properties that changed back to the values in use. */
static void
refuse_settings (GstNdView *self, const GError *error)
{
  g_object_freeze_notify (G_OBJECT (self));
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < gst_nd_view_n_rows; i++) {
    const NdSetting *row = &gst_nd_view_rows[i];

    if (nd_setting_is_equal (row, &self->settings, &self->wanted))
      gst_nd_properties_revert (row, 1, G_OBJECT (self), &self->settings,
          &self->applied);
  }
  GST_OBJECT_UNLOCK (self);
  g_object_thaw_notify (G_OBJECT (self));
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old properties stay in use"));
}

/* Whether both settings give pictures of the same kind and size. */
static gboolean
is_same_layout (const GstNdViewSettings *a, const GstNdViewSettings *b,
    const GstNdVolumeInfo *info)
{
  gint width[2], height[2];

  return a->mode == b->mode && a->axis == b->axis
      && gst_nd_view_settings_are_scene (a, info)
      == gst_nd_view_settings_are_scene (b, info)
      && gst_nd_view_settings_size (a, info, &width[0], &height[0])
      && gst_nd_view_settings_size (b, info, &width[1], &height[1])
      && width[0] == width[1] && height[0] == height[1];
}

gboolean
gst_nd_view_update_settings (GstNdView *self, GError **error)
{
  g_autoptr (GError) reason = NULL;
  GstNdViewSettings resolved;
  gboolean ok, changed;

  GST_OBJECT_LOCK (self);
  nd_settings_assign (gst_nd_view_rows, gst_nd_view_n_rows, &self->wanted,
      &self->settings);
  GST_OBJECT_UNLOCK (self);
  ok = gst_nd_view_settings_resolve (&self->wanted, &resolved, &reason);
  if (!ok && self->shown < 0) {
    g_propagate_error (error, g_steal_pointer (&reason));
    return FALSE;
  }
  changed = ok
      && (self->in.shape.components == 0
          || !is_same_layout (&self->active, &resolved, &self->in));
  if (!ok || (changed && !check_layout (self, &resolved, &reason))) {
    /* A flush answers no questions; the next volume asks again. */
    if (ok && GST_PAD_IS_FLUSHING (GST_BASE_TRANSFORM_SRC_PAD (self)))
      return TRUE;
    refuse_settings (self, reason);
    return TRUE;
  }
  if (resolved.low_percentile != self->active.low_percentile
      || resolved.high_percentile != self->active.high_percentile) {
    gst_nd_view_window_forget (&self->window);
    gst_nd_view_window_forget (&self->other_window);
  }
  nd_settings_assign (gst_nd_view_rows, gst_nd_view_n_rows, &self->applied,
      &self->wanted);
  GST_OBJECT_LOCK (self);
  self->active = resolved;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return TRUE;
  /* Not in set_caps(), which is not called if the caps stay the same: a slice
   * and a projection have the same size. */
  gst_nd_view_drop_pictures (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return TRUE;
}

void
gst_nd_view_check_response (GstNdView *self, GstNdViewSettings *settings)
{
  const guint wanted = settings->response;
  gboolean changed;

  if (wanted < self->in.responses || self->shown < 0
      || self->shown >= (gint) self->in.responses)
    return;
  settings->response = self->shown;
  GST_OBJECT_LOCK (self);
  changed = self->settings.response == wanted;
  if (changed)
    self->settings.response = self->shown;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    g_object_notify (G_OBJECT (self), "response");
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("Property 'response' is %u, but these volumes have %u responses: it "
       "must be less",
          wanted, self->in.responses),
      ("response=%d stays in use", self->shown));
}

void
gst_nd_view_sync_values (GstBaseTransform *trans, GstBuffer *input)
{
  GstClockTime time;

  if (trans->segment.format != GST_FORMAT_TIME)
    return;
  time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (input));
  if (GST_CLOCK_TIME_IS_VALID (time)) {
    gst_nd_view_redraw_ignore (TRUE);
    gst_object_sync_values (GST_OBJECT (trans), time);
    gst_nd_view_redraw_ignore (FALSE);
  }
}

void
gst_nd_view_follow_position (GstNdView *self, const GstNdViewSettings *before,
    const gchar *name)
{
  static const gchar *const names[] = { "position-x", "position-y",
    "position-z" };
  const gdouble old[] = { before->position_x, before->position_y,
    before->position_z };
  gdouble *now[] = { &self->settings.position_x, &self->settings.position_y,
    &self->settings.position_z };

  for (guint a = 0; a < 3; a++) {
    if (g_str_equal (name, "position") && self->moved[a]) {
      *now[a] = -1;
      self->moved[a] = FALSE;
    } else if (g_str_equal (name, names[a])) {
      self->moved[a] = self->navigator == g_thread_self () && *now[a] >= 0
          && (self->moved[a] || old[a] < 0);
    }
  }
}
