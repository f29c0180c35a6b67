/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
/**
 * SECTION:element-ndview
 * @title: ndview
 *
 * Shows a volume as a picture: one slice, three orthogonal planes, or the
 * maximum along an axis. Volumes of one component become GRAY8, and three
 * components RGB. Complex volumes (two components) show their magnitude, and
 * volumes of four or more components the first one. One sample is one pixel:
 *
 * * mode=slice and projection, axis=z: width X, height Y; axis=y: width X,
 *   height Z; axis=x: width Z, height Y;
 * * mode=orthogonal: width X + Z, height Y + Z. The plane of z is at the upper
 *   left, the plane of x to its right (rows share y), the plane of y below it
 *   (columns share x). The rest is black.
 *
 * If the caps have the spacing, pixels of a single plane have its aspect ratio.
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
 *
 * Since: 0.1
 */
#include "gst/view/gstndview.h"

#include "core/error.h"
#include "engine/picture.h"
#include "gst/base/gstndbackends.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnddevice.h"
#include "gst/base/gstnddownstream.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndmemory.h"
#include "gst/base/gstndproperties.h"
#include "gst/base/gstndsegment.h"
#include "gst/conv/gstndconvsettings.h"
#include "gst/gstndelements.h"
#include "gst/view/gstndviewcaps.h"
#include "gst/view/gstndviewwindow.h"
#include <gst/video/video.h>

GST_DEBUG_CATEGORY_STATIC (nd_view_debug);
#define GST_CAT_DEFAULT nd_view_debug

typedef struct
{
  NdPictureMode mode;
  NdAxis axis;
  gdouble position;
  gdouble window, level;
  guint response;
  GstNdBackendKind backend;
  gint device_id;
} Settings;

struct _GstNdView
{
  GstBaseTransform parent;

  Settings settings; /* the properties, protected by the object lock */

  /* Mode and axis in use. The caps depend on them, so that they change between
   * two volumes. Protected by the object lock; only the streaming thread
   * writes. */
  NdPictureMode active_mode;
  NdAxis active_axis;

  gint shown; /* the response of the last picture; -1: there is none */

  GstNdVolumeInfo in;
  GstVideoInfo out;
  NdPicture *picture;
  const NdBackend *backend; /* draws the picture; NULL: the CPU does */

  GstNdDevice device;
  gboolean uses_device;  /* backend was not cpu at start_device() */
  gint active_device_id; /* device-id at start_device() */

  GstNdViewWindow window; /* the automatic one */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CUDA_CAPS "; " GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, RGB }")));

G_DEFINE_TYPE (GstNdView, gst_nd_view, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (ndview, "ndview", GST_RANK_SECONDARY,
    GST_TYPE_ND_VIEW);

static GType
mode_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_PICTURE_SLICE, "The plane across 'axis' at 'position'", "slice" },
    { ND_PICTURE_ORTHOGONAL,
        "Three planes, each at 'position' of its axis: z upper left, x upper "
        "right, y lower left",
        "orthogonal" },
    { ND_PICTURE_PROJECTION, "The maximum of all samples along 'axis'",
        "projection" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdViewMode", values);
}

static GType
axis_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { ND_AXIS_X, "Along x: the picture has z to the right and y down", "x" },
    { ND_AXIS_Y, "Along y: the picture has x to the right and z down", "y" },
    { ND_AXIS_Z, "Along z: the picture has x to the right and y down", "z" },
    { 0, NULL, NULL },
  };

  return gst_nd_enum_type (&type, "GstNdViewAxis", values);
}

#define FIELD(KIND, ...) GST_ND_##KIND (Settings, __VA_ARGS__)

static const GstNdProperty rows[] = {
  /* Since: 0.1 */
  { "mode", "Mode", "Content of the picture",
      FIELD (ENUM, mode, NdPictureMode, mode_type, ND_PICTURE_SLICE),
      GST_ND_PLAYING },
  { "axis", "Axis", "Slice and projection: the direction of the view",
      FIELD (ENUM, axis, NdAxis, axis_type, ND_AXIS_Z), GST_ND_PLAYING },
  { "position", "Position",
      "Slice and orthogonal: the position along the axis, 0 to 1 of its size; "
      "the index is floor(position * size), at most size - 1",
      FIELD (DOUBLE, position, 0, 1, 0.5),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE },
  { "window", "Window",
      "Width of the range of sample values between black and white; 0: "
      "automatic, window and level slowly follow the 0.5 and 99.5 percentiles "
      "of the volumes",
      FIELD (DOUBLE, window, 0, G_MAXDOUBLE, 0),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE },
  { "level", "Level",
      "The sample value that is shown as middle grey; ignored if 'window' is "
      "automatic",
      FIELD (DOUBLE, level, -G_MAXDOUBLE, G_MAXDOUBLE, 0),
      GST_ND_PLAYING | GST_PARAM_CONTROLLABLE },
  { "response", "Response",
      "The response of a bank of filters to show, counted from 0",
      FIELD (UINT, response, 0, G_MAXUINT, 0), GST_ND_PLAYING },
  /* Since: 0.9 */
  { "backend", "Back end",
      "Device to draw on: auto draws on the GPU or the CPU that has the "
      "volumes in its memory, cpu starts no GPU, cuda is an error if there is "
      "none. Set it in NULL",
      FIELD (ENUM, backend, GstNdBackendKind, gst_nd_backend_get_type,
          GST_ND_BACKEND_AUTO),
      GST_ND_READY },
  { "device-id", "Device ID",
      "GPU to draw on, counted from 0; -1: the GPU of the neighbouring "
      "elements, or the first one. Set it in NULL",
      FIELD (INT, device_id, -1, G_MAXINT, -1), GST_ND_READY },
};

static void
gst_nd_view_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_view_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

/* Whether downstream accepts the pictures of @wanted. If not, the old mode and
 * axis go on. */
static gboolean
check_layout (GstNdView *self, const Settings *wanted)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  g_autoptr (GstCaps) volumes = gst_pad_get_current_caps (trans->sinkpad);
  g_autoptr (GstCaps) pictures = NULL;
  g_autoptr (GError) error = NULL;

  if (!volumes)
    return TRUE;
  pictures = gst_nd_view_caps_of_pictures (volumes, wanted->mode, wanted->axis);
  if (gst_nd_downstream_accepts (trans, pictures, &error))
    return TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", error->message),
      ("The old mode and axis stay in use"));
  GST_OBJECT_LOCK (self);
  if (self->settings.mode == wanted->mode
      && self->settings.axis == wanted->axis) {
    self->settings.mode = self->active_mode;
    self->settings.axis = self->active_axis;
  }
  GST_OBJECT_UNLOCK (self);
  return FALSE;
}

/* Applies mode and axis between two volumes. */
static void
update_layout (GstNdView *self)
{
  Settings wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->settings;
  GST_OBJECT_UNLOCK (self);
  if ((wanted.mode == self->active_mode && wanted.axis == self->active_axis)
      || !check_layout (self, &wanted))
    return;
  GST_OBJECT_LOCK (self);
  self->active_mode = wanted.mode;
  self->active_axis = wanted.axis;
  GST_OBJECT_UNLOCK (self);
  /* Not in set_caps(), which is not called if the caps stay the same: a slice
   * and a projection have the same size. */
  g_clear_pointer (&self->picture, nd_picture_free);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static gboolean
gst_nd_view_start (GstBaseTransform *trans)
{
  GstNdView *self = GST_ND_VIEW (trans);

  update_layout (self);
  self->shown = -1;
  gst_nd_view_window_forget (&self->window);
  gst_nd_element_start (GST_ELEMENT (self));
  return TRUE;
}

static gboolean
gst_nd_view_stop (GstBaseTransform *trans)
{
  GstNdView *self = GST_ND_VIEW (trans);

  g_clear_pointer (&self->picture, nd_picture_free);
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
  ret = GST_ELEMENT_CLASS (gst_nd_view_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_nd_device_stop (&self->device);
  return ret;
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

  gst_nd_device_clear (&self->device);
  G_OBJECT_CLASS (gst_nd_view_parent_class)->finalize (object);
}

static GstCaps *
gst_nd_view_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *filter)
{
  GstNdView *self = GST_ND_VIEW (trans);
  GstCaps *result;
  NdPictureMode mode;
  NdAxis axis;

  GST_OBJECT_LOCK (self);
  mode = self->active_mode;
  axis = self->active_axis;
  GST_OBJECT_UNLOCK (self);
  result = direction == GST_PAD_SINK
      ? gst_nd_view_caps_of_pictures (caps, mode, axis)
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

  if (!gst_nd_volume_info_from_caps (&self->in, in, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  if (!gst_video_info_from_caps (&self->out, out)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The picture is too large for video/x-raw: use smaller volumes"),
        ("%" GST_PTR_FORMAT, out));
    return FALSE;
  }
  GST_INFO_OBJECT (self, "shows %" GST_PTR_FORMAT " as %" GST_PTR_FORMAT, in,
      out);
  g_clear_pointer (&self->picture, nd_picture_free);
  gst_nd_view_window_forget (&self->window);
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

/* Writes the picture of the volume at @data to @frame. */
static gboolean
draw (GstNdView *self, gconstpointer data, GstVideoFrame *frame,
    const Settings *settings, GError **error)
{
  gdouble low, window;

  if (!nd_picture_take (self->picture, data, settings->position, error))
    return FALSE;
  if (settings->window > 0) {
    low = settings->level - settings->window / 2;
    window = settings->window;
  } else {
    if (!gst_nd_view_window_follow (&self->window, self->picture, data, error))
      return FALSE;
    low = self->window.low;
    window = gst_nd_view_window_width (&self->window);
  }
  return nd_picture_write (self->picture, low, window,
      GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), error);
}

/* Makes a renderer for volumes in the kind of memory of @input. */
static gboolean
make_picture (GstNdView *self, GstBuffer *input, GError **error)
{
  g_autoptr (GstObject) context = gst_nd_context_get (&self->device.context);
  const NdBackend *backend = NULL;

  if (gst_buffer_n_memory (input) == 1)
    backend = gst_nd_memory_backend (gst_buffer_peek_memory (input, 0));
  if (self->picture && self->backend == backend)
    return TRUE;
  g_clear_pointer (&self->picture, nd_picture_free);
  self->backend = backend;
  gst_nd_cuda_enter (context);
  self->picture = nd_picture_new (self->active_mode, self->active_axis,
      self->in.type, &self->in.shape, backend, self->active_device_id, error);
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
    const Settings *settings, GError **error)
{
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
        map.data + settings->response * (map.size / self->in.responses), &frame,
        settings, error);
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
check_response (GstNdView *self, Settings *settings)
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
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  check_response (self, &settings);
  if (make_frame (self, input, output, &settings, &error)) {
    self->shown = settings.response;
    GST_LOG_OBJECT (self, "drew the volume at %" GST_TIME_FORMAT,
        GST_TIME_ARGS (GST_BUFFER_PTS (input)));
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

  update_layout (self);
  return GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
      ->submit_input_buffer (trans, is_discont, input);
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
  return GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
      ->sink_event (trans, event);
}

/* Updates the properties that the application controls over time. */
static void
gst_nd_view_before_transform (GstBaseTransform *trans, GstBuffer *input)
{
  GstClockTime time;

  if (trans->segment.format != GST_FORMAT_TIME)
    return;
  time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME,
      GST_BUFFER_PTS (input));
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
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

  gst_nd_properties_install (object_class, rows, G_N_ELEMENTS (rows));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Volumes to pictures",
      "Filter/Converter/Decoder/Video",
      "Shows volumes as video: a slice, three orthogonal planes or a maximum "
      "projection, with window and level; complex volumes by their magnitude",
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
  trans_class->before_transform = gst_nd_view_before_transform;
  trans_class->transform = gst_nd_view_transform;
}

static void
gst_nd_view_init (GstNdView *self)
{
  gst_nd_properties_init (rows, G_N_ELEMENTS (rows), &self->settings);
  self->active_axis = self->settings.axis;
  gst_nd_device_init (&self->device);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}
