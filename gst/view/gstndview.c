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
 * or the shortest spacing is a pixel. The GPU draws them if the volumes lie in
 * its memory, or with backend=cuda, so that only the picture leaves it. If it
 * has too little memory, the CPU draws and the log says so. Lines and text, and
 * the lines of mode=mmode, are drawn by the CPU.
 *
 * The request pad second takes the second input of mode=compare and overlay.
 * The volume that it shows is that of the same running time, or else the last
 * one before. The first input waits for it, so that each branch after a tee
 * needs a queue. The second input follows no seeks.
 *
 * Navigation events, which windows send for mouse and keys, change the
 * properties; key h lists them. While the pipeline is paused, each change draws
 * the last volume again, if all sinks after the element show pictures (windows,
 * appsink, fakesink): a flush downstream makes them take it, and drops pictures
 * that wait in a queue.
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

#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndpool.h"
#include "gst/base/gstndseek.h"
#include "gst/gstndelements.h"
#include "gst/view/gstndviewcaps.h"
#include "gst/view/gstndviewchange.h"
#include "gst/view/gstndviewdraw.h"

GST_DEBUG_CATEGORY (gst_nd_view_debug);
#define GST_CAT_DEFAULT gst_nd_view_debug

/* After those of the table. */
#define PROP_SHOWN_WINDOW (gst_nd_view_n_rows + 1)
#define PROP_SHOWN_LEVEL (gst_nd_view_n_rows + 2)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CUDA_CAPS "; " GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate second_template =
    GST_STATIC_PAD_TEMPLATE ("second", GST_PAD_SINK, GST_PAD_REQUEST,
        GST_STATIC_CAPS (GST_ND_TENSORS_CUDA_CAPS "; " GST_ND_TENSORS_CAPS));
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
  GstNdViewSettings before;

  GST_OBJECT_LOCK (self);
  before = self->settings;
  if (!gst_nd_properties_set (gst_nd_view_rows, gst_nd_view_n_rows,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_nd_view_follow_position (self, &before, pspec->name);
  if (!self->settings.show_keys)
    g_atomic_int_set (&self->drag.page, 0);
  GST_OBJECT_UNLOCK (self);
  gst_nd_view_redraw_request (&self->redraw, GST_BASE_TRANSFORM (self));
}

static void
gst_nd_view_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_SHOWN_WINDOW)
    g_value_set_double (value, self->width);
  else if (id == PROP_SHOWN_LEVEL)
    g_value_set_double (value, self->low + self->width / 2);
  else if (!gst_nd_properties_get (gst_nd_view_rows, gst_nd_view_n_rows,
               &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_nd_view_start (GstBaseTransform *trans)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  self->shown = -1;
  if (!gst_nd_view_update_settings (self, &error)) {
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
  gst_nd_view_drop_pictures (GST_ND_VIEW (trans));
  gst_nd_view_redraw_reset (&GST_ND_VIEW (trans)->redraw, trans);
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
  NdBackendKind backend;

  GST_OBJECT_LOCK (self);
  backend = self->settings.backend;
  self->active_device_id = self->settings.device_id;
  self->uses_device = backend != ND_BACKEND_CPU;
  GST_OBJECT_UNLOCK (self);
  if (backend != ND_BACKEND_CPU)
    gst_nd_device_start (&self->device, GST_ELEMENT (self),
        self->active_device_id);
  if (backend != ND_BACKEND_GPU
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
      ? self->settings.backend != ND_BACKEND_CPU
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

/* Answers a query at the pad `second` as the first input does. */
static gboolean
query_second (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstNdView *self = GST_ND_VIEW (parent);
  g_autoptr (GstCaps) all = NULL, result = NULL;
  GstCaps *caps;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CONTEXT:
      return gst_nd_device_answer (&self->device, GST_ELEMENT (self), query)
          || gst_pad_query_default (pad, parent, query);
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &caps);
      all = gst_caps_make_writable (gst_pad_get_pad_template_caps (pad));
      if (!may_use_device (self))
        gst_nd_cuda_remove_caps (all);
      result = caps
          ? gst_caps_intersect_full (caps, all, GST_CAPS_INTERSECT_FIRST)
          : gst_caps_ref (all);
      gst_query_set_caps_result (query, result);
      gst_nd_cuda_prefer (query);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      /* The upstream filter allocates device memory itself. */
      gst_query_parse_allocation (query, &caps, NULL);
      return (caps && gst_nd_cuda_caps (caps, 0))
          || gst_pad_query_default (pad, parent, query);
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static GstPad *
gst_nd_view_request_new_pad (GstElement *element, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps)
{
  return gst_nd_view_second_request (&GST_ND_VIEW (element)->second, element,
      template, query_second);
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
gst_nd_view_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  const GstBaseTransformClass *parent =
      GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class);
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps && gst_video_info_from_caps (&info, caps))
    gst_nd_query_fill_pool (query, GST_VIDEO_INFO_SIZE (&info));
  return parent->decide_allocation (trans, query);
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
    nd_settings_clear (gst_nd_view_rows, gst_nd_view_n_rows, all[i]);
  gst_nd_device_clear (&self->device);
  gst_nd_view_second_clear (&self->second);
  gst_nd_view_redraw_clear (&self->redraw);
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
  self->oriented =
      gst_structure_has_field (gst_caps_get_structure (in, 0), "directions");
  GST_OBJECT_UNLOCK (self);
  gst_nd_view_drop_pictures (self);
  self->on_cpu = FALSE;
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

static GstFlowReturn
gst_nd_view_transform (GstBaseTransform *trans, GstBuffer *input,
    GstBuffer *output)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  gst_nd_view_check_response (self, &self->active);
  if (gst_nd_view_make_frame (self, input, output, &error)) {
    self->shown = self->active.response;
    GST_LOG_OBJECT (self, "drew the volume at %" GST_TIME_FORMAT,
        GST_TIME_ARGS (GST_BUFFER_PTS (input)));
    if (!self->redraw.again)
      self->volumes++;
    gst_nd_view_redraw_take (&self->redraw, trans, input);
    return GST_FLOW_OK;
  }
  gst_nd_element_error_once (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_nd_view_submit_input (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *input)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  gst_nd_view_sync_values (trans, input);
  if (gst_nd_view_update_settings (self, &error))
    return gst_nd_flush_submit (trans, is_discont, input);
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
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    gst_nd_view_second_stop (&GST_ND_VIEW (trans)->second, TRUE);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_nd_view_second_end (&GST_ND_VIEW (trans)->second);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_nd_view_second_stop (&GST_ND_VIEW (trans)->second, FALSE);
  return gst_nd_view_redraw_event (&GST_ND_VIEW (trans)->redraw, trans, event,
      GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)->sink_event);
}

static void
set_navigator (GstNdView *self, GThread *thread)
{
  GST_OBJECT_LOCK (self);
  self->navigator = thread;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_nd_view_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstNdView *self = GST_ND_VIEW (trans);
  gboolean handled = FALSE;
  GstNdViewSeen seen;

  if (GST_EVENT_TYPE (event) == GST_EVENT_NAVIGATION
      && gst_nd_view_get_seen (self, &seen)) {
    set_navigator (self, g_thread_self ());
    handled =
        gst_nd_view_keys_handle (G_OBJECT (self), &seen, &self->drag, event);
    set_navigator (self, NULL);
  }
  if (handled) {
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

  GST_DEBUG_CATEGORY_INIT (gst_nd_view_debug, "ndview", 0,
      "volumes to pictures");

  object_class->set_property = gst_nd_view_set_property;
  object_class->get_property = gst_nd_view_get_property;
  object_class->finalize = gst_nd_view_finalize;
  element_class->post_message = gst_nd_flush_post_message;
  element_class->set_context = gst_nd_view_set_context;
  element_class->change_state = gst_nd_view_change_state;
  element_class->request_new_pad = gst_nd_view_request_new_pad;
  element_class->release_pad = gst_nd_view_release_pad;

  gst_nd_properties_install (object_class, gst_nd_view_rows,
      gst_nd_view_n_rows);
  g_object_class_install_property (object_class, PROP_SHOWN_WINDOW,
      g_param_spec_double ("shown-window", "Shown window",
          "Width of the range of sample values of the last picture, also if "
          "'window' is automatic; 0: there was none",
          0, G_MAXDOUBLE, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (object_class, PROP_SHOWN_LEVEL,
      g_param_spec_double ("shown-level", "Shown level",
          "The middle of that range", -G_MAXDOUBLE, G_MAXDOUBLE, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

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
  trans_class->decide_allocation = gst_nd_view_decide_allocation;
  trans_class->propose_allocation = gst_nd_view_propose_allocation;
  trans_class->start = gst_nd_view_start;
  trans_class->stop = gst_nd_view_stop;
  trans_class->transform_caps = gst_nd_view_transform_caps;
  trans_class->fixate_caps = gst_nd_downstream_fixate;
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
    nd_settings_init (gst_nd_view_rows, gst_nd_view_n_rows, all[i]);
  gst_nd_view_settings_resolve (&self->settings, &self->active, NULL);
  gst_nd_device_init (&self->device);
  gst_nd_view_second_init (&self->second);
  gst_nd_view_redraw_init (&self->redraw, GST_BASE_TRANSFORM (self));
  gst_nd_flush_install (GST_BASE_TRANSFORM_SINK_PAD (self));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  if (!gst_nd_backends_init (plugin))
    return FALSE;
  return GST_ELEMENT_REGISTER (ndview, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ndview,
    "Pictures of volumes", plugin_init, PACKAGE_VERSION, "LGPL", "ndconv",
    PACKAGE_ORIGIN)
