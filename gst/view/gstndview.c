/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
/**
 * SECTION:element-ndview
 * @title: ndview
 *
 * Shows a volume as a picture: a plane, three orthogonal planes, a mosaic of
 * planes, a projection, the volume itself or a surface in it, see the property
 * mode. Complex volumes (two components) show their magnitude, and volumes of
 * four or more components the first one. Three components are red, green and
 * blue.
 *
 * Plain pictures, of mode=slice, orthogonal and projection without other
 * properties than axis, position, window and level, have one pixel per sample,
 * GRAY8, or RGB for three components:
 *
 * * mode=slice and projection, axis=z: width X, height Y; axis=y: width X,
 *   height Z; axis=x: width Z, height Y;
 * * mode=orthogonal: width X + Z, height Y + Z. The plane of z is at the upper
 *   left, the plane of x to its right (rows share y), the plane of y below it
 *   (columns share x). The rest is black.
 *
 * All other pictures are RGB and to scale: 1 mm is as long in every direction
 * and on every plane, and values between samples are interpolated. So is
 * mode=orthogonal if the spacing of the axes differs. They have the given size,
 * or the shortest spacing is a pixel. A back end that does not draw them leaves
 * them to the CPU.
 *
 * The request pad second takes the second input of mode=compare and overlay.
 * The volume that it shows is that of the same running time, or else the last
 * one before. The first input waits for it, so that each branch after a tee
 * needs a queue. The second input follows no seeks.
 *
 * Navigation events, which windows send for mouse and keys, change the
 * properties; key h lists them.
 *
 * If the caps have the spacing, pixels of a plain plane have its aspect ratio.
 * The grey of a value v is 255 (v - (level - window / 2)) / window, rounded
 * half to even, from 0 to 255; NaN is black.
 *
 * The properties position, window and level can be controlled over time
 * (gst_object_add_control_binding()), for example to move through a volume.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc is-live=true ! ndview mode=orthogonal ! videoconvert ! autovideosink
 * ]| Three planes of a beating heart.
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndview mode=projection axis=y window=255 level=127.5 ! videoconvert ! pngenc ! multifilesink location=heart-%03d.png
 * ]| Writes pictures of a recording seen along y, with a fixed window.
 * |[
 * gst-launch-1.0 ndtestsrc is-live=true ! ndview mode=volume size=640:640 opacity="0.6:0,0.9:0.3" ! videoconvert ! autovideosink
 * ]| A heart to turn with the mouse.
 * |[
 * gst-launch-1.0 ndtestsrc is-live=true ! tee name=t ! queue ! ndview name=view mode=compare size=640:640 ! videoconvert ! autovideosink t. ! queue ! ndconv3d filter="gaussian,sigma=1.5" ! view.second
 * ]| Before and after a filter, with a line to move.
 *
 * Since: 0.1
 */
#include "gst/view/gstndview.h"

#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/picture.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnddevice.h"
#include "gst/base/gstnddownstream.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndsegment.h"
#include "gst/gstndelements.h"
#include "gst/view/gstndviewcaps.h"
#include "gst/view/gstndviewkeys.h"
#include "gst/view/gstndviewscene.h"
#include "gst/view/gstndviewsecond.h"
#include "gst/view/gstndviewwindow.h"
#include <gst/video/video.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (nd_view_debug);
#define GST_CAT_DEFAULT nd_view_debug

struct _GstNdView
{
  GstBaseTransform parent;

  GstNdViewSettings settings; /* the properties, protected by the object lock */

  /* Those in use, resolved. The caps depend on some of them, which change
   * between two volumes. Protected by the object lock; only the streaming
   * thread writes. */
  GstNdViewSettings active;

  /* Used by the streaming thread only: the properties of the next volume, and
   * those in use. */
  GstNdViewSettings wanted, applied;

  gint shown; /* the response of the last picture; -1: there is none */

  /* Protected by the object lock; only the streaming thread writes. */
  GstNdVolumeInfo in;
  GstVideoInfo out;
  gdouble low, width; /* the window in use; 0, 0 before the first volume */

  NdPicture *picture;
  const NdBackend *backend; /* draws the picture; NULL: the CPU does */
  GstNdViewScene *scene;    /* NULL if the picture is a plain one */
  guint64 volumes;          /* drawn since the start */

  /* The second input, with its renderer, which is of `other_info`. */
  GstNdViewSecond second;
  GstNdVolumeInfo other_info;
  GstNdViewScene *other;
  NdPicture *other_picture;
  GstNdViewWindow other_window;

  GstNdViewDrag drag; /* of the thread that sends events */

  GstNdDevice device;
  gboolean uses_device;  /* backend was not cpu at start_device() */
  gint active_device_id; /* device-id at start_device() */

  GstNdViewWindow window;    /* the automatic one */
  GstNdViewWindow threshold; /* the automatic isovalue, twice */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CUDA_CAPS "; " GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate second_template = GST_STATIC_PAD_TEMPLATE ("second",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, RGB }")));

G_DEFINE_TYPE (GstNdView, gst_nd_view, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (ndview, "ndview", GST_RANK_SECONDARY,
    GST_TYPE_ND_VIEW);

static void
gst_nd_view_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (gst_nd_view_rows, gst_nd_view_n_rows,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_view_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (gst_nd_view_rows, gst_nd_view_n_rows,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

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
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < gst_nd_view_n_rows; i++) {
    const GstNdProperty *row = &gst_nd_view_rows[i];

    if (gst_nd_property_is_equal (row, &self->settings, &self->wanted))
      gst_nd_properties_copy (row, 1, &self->settings, &self->applied);
  }
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old properties stay in use"));
}

static void
drop_other (GstNdView *self)
{
  g_clear_pointer (&self->other, gst_nd_view_scene_free);
  g_clear_pointer (&self->other_picture, nd_picture_free);
}

static void
drop_pictures (GstNdView *self)
{
  drop_other (self);
  g_clear_pointer (&self->picture, nd_picture_free);
  g_clear_pointer (&self->scene, gst_nd_view_scene_free);
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

/* Applies the properties between two volumes. FALSE if they are wrong from the
 * start. */
static gboolean
update_settings (GstNdView *self, GError **error)
{
  g_autoptr (GError) reason = NULL;
  GstNdViewSettings resolved;
  gboolean ok, changed;

  GST_OBJECT_LOCK (self);
  gst_nd_properties_copy (gst_nd_view_rows, gst_nd_view_n_rows, &self->wanted,
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
    refuse_settings (self, reason);
    return TRUE;
  }
  gst_nd_properties_copy (gst_nd_view_rows, gst_nd_view_n_rows, &self->applied,
      &self->wanted);
  GST_OBJECT_LOCK (self);
  self->active = resolved;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return TRUE;
  /* Not in set_caps(), which is not called if the caps stay the same: a slice
   * and a projection have the same size. */
  drop_pictures (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  return TRUE;
}

static gboolean
gst_nd_view_start (GstBaseTransform *trans)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  self->shown = -1;
  if (!update_settings (self, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  gst_nd_view_window_forget (&self->window);
  gst_nd_view_window_forget (&self->threshold);
  self->volumes = 0;
  gst_nd_element_start (GST_ELEMENT (self));
  return TRUE;
}

static gboolean
gst_nd_view_stop (GstBaseTransform *trans)
{
  drop_pictures (GST_ND_VIEW (trans));
  return TRUE;
}

static void
gst_nd_view_set_context (GstElement *element, GstContext *context)
{
  GstNdView *self = GST_ND_VIEW (element);
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->settings.device_id;
  GST_OBJECT_UNLOCK (self);
  gst_nd_device_set_context (&self->device, element, context, device_id);
  GST_ELEMENT_CLASS (gst_nd_view_parent_class)->set_context (element, context);
}

/* FALSE, with an error message, if backend=cuda and there is no GPU. */
static gboolean
start_device (GstNdView *self)
{
  g_autoptr (GError) error = NULL;
  GstNdBackendKind backend;

  GST_OBJECT_LOCK (self);
  backend = self->settings.backend;
  self->active_device_id = self->settings.device_id;
  self->uses_device = backend != GST_ND_BACKEND_CPU;
  GST_OBJECT_UNLOCK (self);
  if (backend != GST_ND_BACKEND_CPU)
    gst_nd_device_start (&self->device, GST_ELEMENT (self),
        self->active_device_id);
  if (backend != GST_ND_BACKEND_CUDA
      || gst_nd_device_backend (&self->device, &error))
    return TRUE;
  gst_nd_element_error (GST_ELEMENT (self), error);
  return FALSE;
}

static gboolean
may_use_device (GstNdView *self)
{
  gboolean uses;

  GST_OBJECT_LOCK (self);
  uses = GST_STATE (self) == GST_STATE_NULL
      ? self->settings.backend != GST_ND_BACKEND_CPU
      : self->uses_device;
  GST_OBJECT_UNLOCK (self);
  return uses && gst_nd_device_is_possible (&self->device);
}

static GstStateChangeReturn
gst_nd_view_change_state (GstElement *element, GstStateChange transition)
{
  GstNdView *self = GST_ND_VIEW (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !start_device (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_nd_view_second_stop (&self->second, FALSE);
  /* A thread that waits must not hinder the pads from stopping. */
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_nd_view_second_stop (&self->second, TRUE);
  ret = GST_ELEMENT_CLASS (gst_nd_view_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nd_device_stop (&self->device);
  return ret;
}

static GstPad *
gst_nd_view_request_new_pad (GstElement *element, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps)
{
  return gst_nd_view_second_request (&GST_ND_VIEW (element)->second, element,
      template);
}

static void
gst_nd_view_release_pad (GstElement *element, GstPad *pad)
{
  gst_nd_view_second_release (&GST_ND_VIEW (element)->second, element, pad);
}

static gboolean
gst_nd_view_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query)
{
  GstNdView *self = GST_ND_VIEW (trans);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_nd_device_answer (&self->device, GST_ELEMENT (self), query))
    return TRUE;
  if (!GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
           ->query (trans, direction, query))
    return FALSE;
  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    gst_nd_view_second_latency (&self->second, query);
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    gst_nd_cuda_prefer (query);
  return TRUE;
}

static gboolean
gst_nd_view_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
    GstQuery *query)
{
  GstCaps *caps;

  /* The upstream filter allocates device memory itself. */
  gst_query_parse_allocation (query, &caps, NULL);
  return (caps && gst_nd_cuda_caps (caps, 0))
      || GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
             ->propose_allocation (trans, decide_query, query);
}

static void
gst_nd_view_finalize (GObject *object)
{
  GstNdView *self = GST_ND_VIEW (object);
  GstNdViewSettings *all[] = { &self->settings, &self->wanted, &self->applied };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    gst_nd_properties_clear (gst_nd_view_rows, gst_nd_view_n_rows, all[i]);
  gst_nd_device_clear (&self->device);
  gst_nd_view_second_clear (&self->second);
  G_OBJECT_CLASS (gst_nd_view_parent_class)->finalize (object);
}

static GstCaps *
gst_nd_view_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *filter)
{
  GstNdView *self = GST_ND_VIEW (trans);
  GstNdViewSettings settings;
  GstCaps *result;

  GST_OBJECT_LOCK (self);
  settings = self->active;
  GST_OBJECT_UNLOCK (self);
  result = direction == GST_PAD_SINK
      ? gst_nd_view_caps_of_pictures (caps, &settings)
      : gst_nd_view_caps_of_volumes (caps, may_use_device (self));
  if (filter) {
    GstCaps *filtered =
        gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (result);
    result = filtered;
  }
  return result;
}

static gboolean
gst_nd_view_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo volumes;
  GstVideoInfo pictures;

  if (!gst_nd_volume_info_from_caps (&volumes, in, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  if (!gst_video_info_from_caps (&pictures, out)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The picture is too large for video/x-raw: use smaller volumes"),
        ("%" GST_PTR_FORMAT, out));
    return FALSE;
  }
  GST_INFO_OBJECT (self, "shows %" GST_PTR_FORMAT " as %" GST_PTR_FORMAT, in,
      out);
  GST_OBJECT_LOCK (self);
  self->in = volumes;
  self->out = pictures;
  GST_OBJECT_UNLOCK (self);
  drop_pictures (self);
  gst_nd_view_window_forget (&self->window);
  gst_nd_view_window_forget (&self->threshold);
  return TRUE;
}

static gboolean
gst_nd_view_transform_size (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, gsize size, GstCaps *othercaps, gsize *othersize)
{
  GstVideoInfo info;

  if (direction != GST_PAD_SINK || !gst_video_info_from_caps (&info, othercaps))
    return FALSE;
  *othersize = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

/* The window of the volume at @data. */
static gboolean
find_window (GstNdView *self, gconstpointer data, gdouble *low, gdouble *width,
    GError **error)
{
  const GstNdViewSettings *settings = &self->active;

  if (settings->window > 0) {
    *low = settings->level - settings->window / 2;
    *width = settings->window;
  } else {
    nd_picture_set_percentiles (self->picture, settings->low_percentile,
        settings->high_percentile);
    if (!gst_nd_view_window_follow (&self->window, self->picture, data, error))
      return FALSE;
    *low = self->window.low;
    *width = gst_nd_view_window_width (&self->window);
  }
  GST_OBJECT_LOCK (self);
  self->low = *low;
  self->width = *width;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* Makes a renderer for volumes of @info of the second input. */
static gboolean
make_other (GstNdView *self, const GstNdVolumeInfo *info, GError **error)
{
  const gsize *size = self->in.shape.size, *other = info->shape.size;

  if (self->other && self->other_info.type == info->type
      && memcmp (&self->other_info.shape, &info->shape, sizeof info->shape) == 0
      && memcmp (&self->other_info.geometry, &info->geometry,
             sizeof info->geometry)
          == 0)
    return TRUE;
  if (self->active.mode == ND_VIEW_OVERLAY
      && memcmp (size, other, sizeof info->shape.size) != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The volumes of the second input have %" G_GSIZE_FORMAT
        " x %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
        " samples, those of the first one %" G_GSIZE_FORMAT
        " x %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
        ": for mode=overlay they must be equal",
        other[0], other[1], other[2], size[0], size[1], size[2]);
    return FALSE;
  }
  drop_other (self);
  gst_nd_view_window_forget (&self->other_window);
  self->other_info = *info;
  self->other = gst_nd_view_scene_new (&nd_cpu_backend, -1, info, error);
  if (self->other)
    self->other_picture = nd_picture_new (ND_PICTURE_SLICE, ND_AXIS_Z,
        info->type, &info->shape, NULL, -1, error);
  return self->other_picture != NULL;
}

/* Sets @other to the volume at @map, with its window. */
static gboolean
use_other (GstNdView *self, const GstNdViewInput *input, const GstMapInfo *map,
    GstNdViewOther *other, GError **error)
{
  const GstNdViewSettings *settings = &self->active;

  if (map->size != gst_nd_volume_info_size (&input->info)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A buffer of the second input has %" G_GSIZE_FORMAT
        " bytes, but a volume of its caps has %" G_GSIZE_FORMAT
        " bytes: upstream must send one whole volume in each buffer",
        map->size, gst_nd_volume_info_size (&input->info));
    return FALSE;
  }
  if (!make_other (self, &input->info, error))
    return FALSE;
  *other = (GstNdViewOther){ self->other, map->data,
    settings->overlay_level - settings->overlay_window / 2,
    settings->overlay_window };
  if (settings->mode != ND_VIEW_OVERLAY || settings->overlay_window > 0)
    return TRUE;
  nd_picture_set_percentiles (self->other_picture, settings->low_percentile,
      settings->high_percentile);
  if (!gst_nd_view_window_follow (&self->other_window, self->other_picture,
          map->data, error))
    return FALSE;
  other->low = self->other_window.low;
  other->window = gst_nd_view_window_width (&self->other_window);
  return TRUE;
}

/* Draws the volume at @data with that of the second input, if there is one. */
static gboolean
draw_both (GstNdView *self, gconstpointer data, GstBuffer *input,
    const GstNdViewMoment *moment, const NdCanvas *canvas, GError **error)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstNdViewInput second;
  GstNdViewOther other;
  GstMapInfo map;
  gboolean ok;

  if (!gst_nd_view_settings_need_second (&self->active)
      || !gst_nd_view_second_take (&self->second,
          segment->format == GST_FORMAT_TIME
              ? gst_segment_to_running_time (segment, GST_FORMAT_TIME,
                    GST_BUFFER_PTS (input))
              : GST_CLOCK_TIME_NONE,
          &second))
    return gst_nd_view_scene_draw (self->scene, data, NULL, &self->active,
        moment, canvas, error);
  if (!gst_buffer_map (second.buffer, &map, GST_MAP_READ)) {
    gst_buffer_unref (second.buffer);
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "A buffer of the second input cannot be mapped for reading");
    return FALSE;
  }
  ok = use_other (self, &second, &map, &other, error)
      && gst_nd_view_scene_draw (self->scene, data, &other, &self->active,
          moment, canvas, error);
  gst_buffer_unmap (second.buffer, &map);
  gst_buffer_unref (second.buffer);
  return ok;
}

static gboolean
draw_scene (GstNdView *self, gconstpointer data, GstBuffer *input,
    GstVideoFrame *frame, GError **error)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  const NdCanvas canvas = { GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
    GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), GST_VIDEO_FRAME_WIDTH (frame),
    GST_VIDEO_FRAME_HEIGHT (frame) };
  GstNdViewMoment moment = { .isovalue = self->active.isovalue,
    .time = GST_CLOCK_TIME_NONE,
    .number = self->volumes };

  if (segment->format == GST_FORMAT_TIME)
    moment.time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME,
        GST_BUFFER_PTS (input));
  if (GST_BUFFER_OFFSET_IS_VALID (input))
    moment.number = GST_BUFFER_OFFSET (input);
  if (!find_window (self, data, &moment.low, &moment.window, error))
    return FALSE;
  if ((self->active.mode == ND_VIEW_SURFACE
          || (gst_nd_view_settings_need_second (&self->active)
              && self->active.content == ND_VIEW_SURFACE))
      && self->active.isovalue_auto) {
    if (!gst_nd_view_threshold_follow (&self->threshold, self->picture, data,
            error))
      return FALSE;
    moment.isovalue = self->threshold.low;
  }
  return draw_both (self, data, input, &moment, &canvas, error);
}

/* Writes the picture of the volume at @data to @frame. */
static gboolean
draw (GstNdView *self, gconstpointer data, GstBuffer *input,
    GstVideoFrame *frame, GError **error)
{
  gdouble low, width;

  if (self->scene)
    return draw_scene (self, data, input, frame, error);
  return nd_picture_take (self->picture, data, self->active.position, error)
      && find_window (self, data, &low, &width, error)
      && nd_picture_write (self->picture, low, width,
          GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
          GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), error);
}

/* Makes a renderer for volumes in the kind of memory of @input. */
static gboolean
make_picture (GstNdView *self, GstBuffer *input, GError **error)
{
  const GstNdViewSettings *settings = &self->active;
  const gboolean is_scene =
      gst_nd_view_settings_are_scene (settings, &self->in);
  g_autoptr (GstObject) context = gst_nd_context_get (&self->device.context);
  const NdBackend *backend = NULL;

  if (gst_buffer_n_memory (input) == 1)
    backend = gst_nd_memory_backend (gst_buffer_peek_memory (input, 0));
  /* The samples of a line are read here; a second volume is in host memory. */
  if (is_scene && backend
      && (!backend->scenes || settings->mode == ND_VIEW_MMODE
          || gst_nd_view_settings_need_second (settings))) {
    if (!self->scene)
      GST_INFO_OBJECT (self, "%s does not draw this picture; the CPU does",
          backend->name);
    backend = NULL;
  }
  if (self->picture && self->backend == backend)
    return TRUE;
  drop_pictures (self);
  self->backend = backend;
  gst_nd_cuda_enter (context);
  if (is_scene)
    self->scene = gst_nd_view_scene_new (backend ? backend : &nd_cpu_backend,
        self->active_device_id, &self->in, error);
  /* That of a scene finds its window. */
  if (!is_scene || self->scene)
    self->picture = nd_picture_new (is_scene ? ND_PICTURE_SLICE
                                             : (NdPictureMode) settings->mode,
        is_scene ? ND_AXIS_Z : settings->axis, self->in.type, &self->in.shape,
        backend, self->active_device_id, error);
  gst_nd_cuda_leave (context);
  if (self->picture)
    GST_INFO_OBJECT (self, "draws on %s", backend ? backend->name : "the CPU");
  return self->picture != NULL;
}

/* Maps @input in the memory that the renderer reads, and waits for the work
 * that writes it. */
static gboolean
map_volume (GstNdView *self, GstBuffer *input, GstMapInfo *map, GError **error)
{
  const gsize size = gst_nd_volume_info_size (&self->in);
  g_autoptr (NdFence) fence = NULL;

  if (!gst_buffer_map (input, map,
          self->backend ? GST_MAP_READ | GST_ND_MAP_CUDA : GST_MAP_READ)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "A buffer with a volume cannot be mapped for reading: upstream must "
        "send system memory or memory of the device");
    return FALSE;
  }
  if (map->size != size) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A buffer has %" G_GSIZE_FORMAT
        " bytes, but a volume of its caps has %" G_GSIZE_FORMAT
        " bytes: upstream must send one whole volume in each buffer",
        map->size, size);
    gst_buffer_unmap (input, map);
    return FALSE;
  }
  if (self->backend)
    fence = gst_nd_memory_get_fence (gst_buffer_peek_memory (input, 0));
  if (!fence || nd_fence_synchronize (fence, NULL, error))
    return TRUE;
  gst_buffer_unmap (input, map);
  return FALSE;
}

/* Draws @input to @output. */
static gboolean
make_frame (GstNdView *self, GstBuffer *input, GstBuffer *output,
    GError **error)
{
  const GstNdViewSettings *settings = &self->active;
  GstVideoFrame frame;
  GstMapInfo map;
  gboolean ok;

  if (settings->response >= self->in.responses) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Property 'response' is %u, but these volumes have %u responses: it "
        "must be less",
        settings->response, self->in.responses);
    return FALSE;
  }
  if (!make_picture (self, input, error)
      || !map_volume (self, input, &map, error))
    return FALSE;
  ok = gst_video_frame_map (&frame, &self->out, output, GST_MAP_WRITE);
  if (ok) {
    ok = draw (self,
        map.data + settings->response * (map.size / self->in.responses), input,
        &frame, error);
    gst_video_frame_unmap (&frame);
  } else {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE,
        "A buffer cannot be mapped for writing: the pool from downstream must "
        "have system memory");
  }
  gst_buffer_unmap (input, &map);
  return ok;
}

/* Refuses a response that the volumes do not have if there is one to go on
 * with. */
static void
check_response (GstNdView *self, GstNdViewSettings *settings)
{
  const guint wanted = settings->response;

  if (wanted < self->in.responses || self->shown < 0
      || self->shown >= (gint) self->in.responses)
    return;
  settings->response = self->shown;
  GST_OBJECT_LOCK (self);
  if (self->settings.response == wanted)
    self->settings.response = self->shown;
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("Property 'response' is %u, but these volumes have %u responses: it "
       "must be less",
          wanted, self->in.responses),
      ("response=%d stays in use", self->shown));
}

static GstFlowReturn
gst_nd_view_transform (GstBaseTransform *trans, GstBuffer *input,
    GstBuffer *output)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  check_response (self, &self->active);
  if (make_frame (self, input, output, &error)) {
    self->shown = self->active.response;
    GST_LOG_OBJECT (self, "drew the volume at %" GST_TIME_FORMAT,
        GST_TIME_ARGS (GST_BUFFER_PTS (input)));
    self->volumes++;
    return GST_FLOW_OK;
  }
  gst_nd_element_error_once (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

/* Updates the properties that the application controls over time. */
static void
sync_values (GstBaseTransform *trans, GstBuffer *input)
{
  GstClockTime time;

  if (trans->segment.format != GST_FORMAT_TIME)
    return;
  time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (input));
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

static GstFlowReturn
gst_nd_view_submit_input (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *input)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  sync_values (trans, input);
  if (update_settings (self, &error))
    return GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
        ->submit_input_buffer (trans, is_discont, input);
  gst_buffer_unref (input);
  gst_nd_element_error_once (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

/* The automatic window restarts after a seek and in a new stream, which may
 * have other sample values. It does not restart after a break, for example of
 * an output that was late. */
static gboolean
gst_nd_view_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  g_autoptr (GError) error = NULL;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT
      && !gst_nd_segment_check_decoded (trans->sinkpad, event, &error))
    gst_nd_element_error (GST_ELEMENT (trans), error);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_nd_view_window_forget (&GST_ND_VIEW (trans)->window);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_nd_view_window_forget (&GST_ND_VIEW (trans)->threshold);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START
      || GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_nd_view_second_stop (&GST_ND_VIEW (trans)->second, TRUE);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_nd_view_second_stop (&GST_ND_VIEW (trans)->second, FALSE);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
      ->sink_event (trans, event);
}

/* The picture that the user sees; FALSE if there is none yet, or if mouse and
 * keys must not change it. */
static gboolean
get_seen (GstNdView *self, GstNdViewSeen *seen)
{
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = self->settings.navigation && self->width > 0
      && gst_nd_view_settings_resolve (&self->settings, &seen->settings, NULL);
  if (ok) {
    gst_nd_view_settings_job (&self->in, &seen->job);
    /* A plain picture has one pixel per sample. */
    for (guint a = 0; a < 3; a++) {
      if (!gst_nd_view_settings_are_scene (&self->active, &self->in))
        seen->job.spacing[a] = 1;
    }
    seen->width = GST_VIDEO_INFO_WIDTH (&self->out);
    seen->height = GST_VIDEO_INFO_HEIGHT (&self->out);
    seen->low = self->low;
    seen->window = self->width;
  }
  GST_OBJECT_UNLOCK (self);
  return ok;
}

static gboolean
gst_nd_view_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdView *self = GST_ND_VIEW (trans);
  GstNdViewSeen seen;

  if (GST_EVENT_TYPE (event) == GST_EVENT_NAVIGATION && get_seen (self, &seen)
      && gst_nd_view_keys_handle (G_OBJECT (self), &seen, &self->drag, event)) {
    gst_event_unref (event);
    return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
      ->src_event (trans, event);
}

static void
gst_nd_view_class_init (GstNdViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (nd_view_debug, "ndview", 0, "volumes to pictures");

  object_class->set_property = gst_nd_view_set_property;
  object_class->get_property = gst_nd_view_get_property;
  object_class->finalize = gst_nd_view_finalize;
  element_class->set_context = gst_nd_view_set_context;
  element_class->change_state = gst_nd_view_change_state;
  element_class->request_new_pad = gst_nd_view_request_new_pad;
  element_class->release_pad = gst_nd_view_release_pad;

  gst_nd_properties_install (object_class, gst_nd_view_rows,
      gst_nd_view_n_rows);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &second_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Volumes to pictures",
      "Filter/Converter/Decoder/Video",
      "Shows volumes as video: planes, projections, volumes and surfaces from "
      "any side, with colours, window and level; complex volumes by their "
      "magnitude",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc is-live=true ! ndview mode=projection "
      "axis=y ! videoconvert ! autovideosink");

  trans_class->passthrough_on_same_caps = FALSE;
  trans_class->query = gst_nd_view_query;
  trans_class->propose_allocation = gst_nd_view_propose_allocation;
  trans_class->start = gst_nd_view_start;
  trans_class->stop = gst_nd_view_stop;
  trans_class->transform_caps = gst_nd_view_transform_caps;
  trans_class->set_caps = gst_nd_view_set_caps;
  trans_class->transform_size = gst_nd_view_transform_size;
  trans_class->submit_input_buffer = gst_nd_view_submit_input;
  trans_class->sink_event = gst_nd_view_sink_event;
  trans_class->src_event = gst_nd_view_src_event;
  trans_class->transform = gst_nd_view_transform;
}

static void
gst_nd_view_init (GstNdView *self)
{
  GstNdViewSettings *all[] = { &self->settings, &self->wanted, &self->applied };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    gst_nd_properties_init (gst_nd_view_rows, gst_nd_view_n_rows, all[i]);
  gst_nd_view_settings_resolve (&self->settings, &self->active, NULL);
  gst_nd_device_init (&self->device);
  gst_nd_view_second_init (&self->second);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}
