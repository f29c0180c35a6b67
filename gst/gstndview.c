/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ndview
 * @title: ndview
 *
 * Shows a volume as a picture: one slice, the three orthogonal planes, or the
 * maximum along an axis. Volumes of one component become GRAY8, complex ones
 * (two components) are shown by their magnitude, three components become RGB,
 * and of four or more the first is shown. One sample is one pixel:
 *
 * * mode=slice and projection, axis=z: width X, height Y; axis=y: width X,
 *   height Z; axis=x: width Z, height Y;
 * * mode=orthogonal: width X + Z, height Y + Z. The plane of z is at the upper
 *   left, that of x to its right (so that rows share y), that of y below it (so
 *   that columns share x). The rest is black.
 *
 * Where the caps say the spacing, pixels of a single plane have its aspect
 * ratio. The grey of a value v is 255 (v - (level - window / 2)) / window,
 * rounded half to even, from 0 to 255; NaN is black.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc is-live=true ! ndview mode=orthogonal ! videoconvert ! autovideosink
 * ]| Three planes of a beating heart.
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndview mode=projection axis=y window=255 level=127.5 ! videoconvert ! pngenc ! multifilesink location=heart-%03d.png
 * ]| Pictures of a recording seen along y, without automatic window.
 */
#include "gstndview.h"

#include <gst/video/video.h>
#include "engine/nderror.h"
#include "engine/ndpicture.h"
#include "gstndbackends.h"
#include "gstndcaps.h"
#include "gstndcuda.h"
#include "gstndelements.h"
#include "gstnderror.h"
#include "gstndmemory.h"

GST_DEBUG_CATEGORY_STATIC (nd_view_debug);
#define GST_CAT_DEFAULT nd_view_debug

/* How far each volume moves the automatic window: so that it does not flicker.
 */
#define AUTO_STEP 0.2

enum
{
  PROP_0,
  PROP_MODE,
  PROP_AXIS,
  PROP_POSITION,
  PROP_WINDOW,
  PROP_LEVEL,
  PROP_RESPONSE
};

typedef struct
{
  NdPictureMode mode;
  NdAxis axis;
  gdouble position;
  gdouble window, level;
  guint response;
} Settings;

struct _GstNdView
{
  GstBaseTransform parent;

  Settings wanted;              /* properties, under the object lock */

  /* Mode and axis decide the caps: they change between two volumes. Written in
   * the streaming thread, under the object lock. */
  NdPictureMode mode;
  NdAxis axis;

  GstNdVolumeInfo in;
  GstVideoInfo out;
  NdPicture *picture;
  const NdBackend *device;      /* of the picture; NULL: in host memory */
  GRecMutex context_lock;
  GstObject *context;           /* see gstndcuda.h */

  gdouble low, high;            /* automatic window, valid if low <= high */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CUDA_CAPS
        "; " GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, RGB }")));

G_DEFINE_TYPE (GstNdView, gst_nd_view, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (ndview, "ndview", GST_RANK_NONE, GST_TYPE_ND_VIEW);

#define GST_TYPE_ND_VIEW_MODE (gst_nd_view_mode_get_type ())
static GType
gst_nd_view_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {ND_PICTURE_SLICE, "One plane across 'axis' at 'position'", "slice"},
    {ND_PICTURE_ORTHOGONAL, "Three planes, each at 'position' of its axis: z"
          " upper left, x upper right, y lower left", "orthogonal"},
    {ND_PICTURE_PROJECTION, "The maximum of all samples along 'axis'",
        "projection"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstNdViewMode", values));
  return type;
}

#define GST_TYPE_ND_VIEW_AXIS (gst_nd_view_axis_get_type ())
static GType
gst_nd_view_axis_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {ND_AXIS_X, "Along x: the picture has z to the right and y down", "x"},
    {ND_AXIS_Y, "Along y: the picture has x to the right and z down", "y"},
    {ND_AXIS_Z, "Along z: the picture has x to the right and y down", "z"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstNdViewAxis", values));
  return type;
}

static void
gst_nd_view_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      self->wanted.mode = g_value_get_enum (value);
      break;
    case PROP_AXIS:
      self->wanted.axis = g_value_get_enum (value);
      break;
    case PROP_POSITION:
      self->wanted.position = g_value_get_double (value);
      break;
    case PROP_WINDOW:
      self->wanted.window = g_value_get_double (value);
      break;
    case PROP_LEVEL:
      self->wanted.level = g_value_get_double (value);
      break;
    case PROP_RESPONSE:
      self->wanted.response = g_value_get_uint (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_view_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdView *self = GST_ND_VIEW (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      g_value_set_enum (value, self->wanted.mode);
      break;
    case PROP_AXIS:
      g_value_set_enum (value, self->wanted.axis);
      break;
    case PROP_POSITION:
      g_value_set_double (value, self->wanted.position);
      break;
    case PROP_WINDOW:
      g_value_set_double (value, self->wanted.window);
      break;
    case PROP_LEVEL:
      g_value_set_double (value, self->wanted.level);
      break;
    case PROP_RESPONSE:
      g_value_set_uint (value, self->wanted.response);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
forget_window (GstNdView * self)
{
  self->low = 1;
  self->high = 0;
}

/* Takes over mode and axis between two volumes. */
static void
update_layout (GstNdView * self)
{
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->mode != self->wanted.mode || self->axis != self->wanted.axis;
  self->mode = self->wanted.mode;
  self->axis = self->wanted.axis;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  /* The caps may stay the same: a slice and a projection are equally large. */
  g_clear_pointer (&self->picture, nd_picture_free);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static gboolean
gst_nd_view_start (GstBaseTransform * trans)
{
  GstNdView *self = GST_ND_VIEW (trans);
  const NdBackend *device = gst_nd_backends_device (-1);

  update_layout (self);
  forget_window (self);
  gst_nd_element_start (GST_ELEMENT (self));
  if (device)
    gst_nd_cuda_ensure_context (GST_ELEMENT (self), device, -1, &self->context);
  return TRUE;
}

static gboolean
gst_nd_view_stop (GstBaseTransform * trans)
{
  GstNdView *self = GST_ND_VIEW (trans);

  g_clear_pointer (&self->picture, nd_picture_free);
  return TRUE;
}

static void
gst_nd_view_set_context (GstElement * element, GstContext * context)
{
  GstNdView *self = GST_ND_VIEW (element);

  g_rec_mutex_lock (&self->context_lock);
  gst_nd_cuda_set_context (element, context, -1, &self->context);
  g_rec_mutex_unlock (&self->context_lock);
  GST_ELEMENT_CLASS (gst_nd_view_parent_class)->set_context (element, context);
}

static GstStateChangeReturn
gst_nd_view_change_state (GstElement * element, GstStateChange transition)
{
  GstNdView *self = GST_ND_VIEW (element);
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (gst_nd_view_parent_class)->change_state (element,
      transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    g_rec_mutex_lock (&self->context_lock);
    gst_clear_object (&self->context);
    g_rec_mutex_unlock (&self->context_lock);
  }
  return ret;
}

static gboolean
gst_nd_view_query (GstBaseTransform * trans, GstPadDirection direction,
    GstQuery * query)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GstObject) context = NULL;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT) {
    g_rec_mutex_lock (&self->context_lock);
    if (self->context)
      context = gst_object_ref (self->context);
    g_rec_mutex_unlock (&self->context_lock);
    if (gst_nd_cuda_answer (GST_ELEMENT (self), query, context))
      return TRUE;
  }
  if (!GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)->query (trans,
          direction, query))
    return FALSE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    gst_nd_cuda_prefer (query);
  return TRUE;
}

static gboolean
gst_nd_view_propose_allocation (GstBaseTransform * trans,
    GstQuery * decide_query, GstQuery * query)
{
  GstCaps *caps;

  /* Memory of a device is the upstream filter's own. */
  gst_query_parse_allocation (query, &caps, NULL);
  return (caps && gst_nd_cuda_caps (caps, 0))
      || GST_BASE_TRANSFORM_CLASS (gst_nd_view_parent_class)
      ->propose_allocation (trans, decide_query, query);
}

static void
gst_nd_view_finalize (GObject * object)
{
  GstNdView *self = GST_ND_VIEW (object);

  gst_clear_object (&self->context);
  g_rec_mutex_clear (&self->context_lock);
  G_OBJECT_CLASS (gst_nd_view_parent_class)->finalize (object);
}

/* Width : height of a pixel. */
static gboolean
pixel_aspect (NdPictureMode mode, NdAxis axis, const NdGeometry * geometry,
    gint * n, gint * d)
{
  gdouble w = geometry->spacing[nd_picture_width_axis (axis)];
  gdouble h = geometry->spacing[nd_picture_height_axis (axis)];

  if (mode == ND_PICTURE_ORTHOGONAL || !geometry->known || !(w > 0) || !(h > 0)
      || !(w / h < 1000) || !(h / w < 1000))
    return FALSE;
  gst_util_double_to_fraction (w / h, n, d);
  return *n > 0 && *d > 0 && *n != *d;
}

/* Caps of pictures for one structure of volumes. */
static void
append_pictures (GstCaps * caps, const GstStructure * s, NdPictureMode mode,
    NdAxis axis)
{
  GstStructure *picture = gst_structure_new_empty ("video/x-raw");
  const GValue *rate = gst_structure_get_value (s, "framerate");
  g_autoptr (GstCaps) volumes = NULL;
  GstNdVolumeInfo info;
  gint width, height, n, d;

  if (rate)
    gst_structure_set_value (picture, "framerate", rate);
  if (!gst_structure_has_field (s, "dimensions")) {
    gst_caps_append_structure (caps, picture);
    return;
  }
  /* Both spellings of the dimensions mean the same. */
  volumes = gst_caps_fixate (gst_caps_new_full (gst_structure_copy (s), NULL));
  if (!gst_nd_volume_info_from_caps (&info, volumes, NULL)
      || !nd_picture_size (mode, axis, info.shape.size, &width, &height)) {
    gst_structure_free (picture);
    return;
  }
  gst_structure_set (picture,
      "format", G_TYPE_STRING,
      nd_picture_channels (&info.shape) == 3 ? "RGB" : "GRAY8",
      "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  /* Not all sinks can stretch pixels, so it is a wish. */
  if (pixel_aspect (mode, axis, &info.geometry, &n, &d)) {
    GstStructure *stretched = gst_structure_copy (picture);

    gst_structure_set (stretched, "pixel-aspect-ratio", GST_TYPE_FRACTION, n, d,
        NULL);
    gst_caps_append_structure (caps, stretched);
  }
  gst_structure_set (picture, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1,
      NULL);
  gst_caps_append_structure (caps, picture);
}

/* Any volume may lie behind a picture. */
static void
append_volumes (GstCaps * caps, const GstStructure * s)
{
  const GValue *rate = gst_structure_get_value (s, "framerate");
  GstStructure *volume = gst_structure_new (GST_ND_TENSORS,
      "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1, NULL);

  if (rate)
    gst_structure_set_value (volume, "framerate", rate);
  if (gst_nd_backends_device (-1))
    gst_caps_append_structure_full (caps, gst_structure_copy (volume),
        gst_caps_features_new_single (GST_ND_FEATURE_CUDA));
  gst_caps_append_structure (caps, volume);
}

static GstCaps *
gst_nd_view_transform_caps (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstNdView *self = GST_ND_VIEW (trans);
  GstCaps *result = gst_caps_new_empty ();
  NdPictureMode mode;
  NdAxis axis;

  GST_OBJECT_LOCK (self);
  mode = self->mode;
  axis = self->axis;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);

    if (direction == GST_PAD_SINK)
      append_pictures (result, s, mode, axis);
    else
      append_volumes (result, s);
  }
  if (filter) {
    GstCaps *filtered = gst_caps_intersect_full (filter, result,
        GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (result);
    result = filtered;
  }
  return result;
}

static gboolean
gst_nd_view_set_caps (GstBaseTransform * trans, GstCaps * in, GstCaps * out)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;

  if (!gst_nd_volume_info_from_caps (&self->in, in, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  if (!gst_video_info_from_caps (&self->out, out)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A picture of these volumes "
            "cannot be described: they are too large"), ("%" GST_PTR_FORMAT,
            out));
    return FALSE;
  }
  g_clear_pointer (&self->picture, nd_picture_free);
  forget_window (self);
  return TRUE;
}

static gboolean
gst_nd_view_transform_size (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, gsize size, GstCaps * othercaps,
    gsize * othersize)
{
  GstVideoInfo info;

  if (direction != GST_PAD_SINK || !gst_video_info_from_caps (&info, othercaps))
    return FALSE;
  *othersize = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

/* Moves the automatic window towards what this volume needs. */
static gboolean
update_window (GstNdView * self, gconstpointer data, GError ** error)
{
  gdouble low, high;

  if (!nd_picture_range (self->picture, data, &low, &high, error))
    return FALSE;
  if (low > high)
    return TRUE;
  if (self->low <= self->high) {
    self->low += AUTO_STEP * (low - self->low);
    self->high += AUTO_STEP * (high - self->high);
  } else {
    self->low = low;
    self->high = high;
  }
  return TRUE;
}

static gboolean
show (GstNdView * self, gconstpointer data, GstVideoFrame * frame,
    const Settings * settings, GError ** error)
{
  gdouble low, window;

  if (!nd_picture_take (self->picture, data, settings->position, error))
    return FALSE;
  if (settings->window > 0) {
    low = settings->level - settings->window / 2;
    window = settings->window;
  } else {
    if (!update_window (self, data, error))
      return FALSE;
    low = self->low;
    window = self->high > self->low ? self->high - self->low : 1;
  }
  return nd_picture_write (self->picture, low, window,
      GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0), error);
}

/* A picture for volumes in the memory that @input has. */
static gboolean
make_picture (GstNdView * self, GstBuffer * input, GError ** error)
{
  const NdBackend *device = NULL;

  if (gst_buffer_n_memory (input) == 1)
    device = gst_nd_memory_backend (gst_buffer_peek_memory (input, 0));
  if (self->picture && self->device == device)
    return TRUE;
  g_clear_pointer (&self->picture, nd_picture_free);
  self->device = device;
  gst_nd_cuda_enter (self->context);
  self->picture = nd_picture_new (self->mode, self->axis, self->in.type,
      &self->in.shape, device, -1, error);
  gst_nd_cuda_leave (self->context);
  return self->picture != NULL;
}

/* Maps @input where the picture reads it, and waits until it is written. */
static gboolean
map_volume (GstNdView * self, GstBuffer * input, GstMapInfo * map,
    GError ** error)
{
  const gsize size = gst_nd_volume_info_size (&self->in);
  g_autoptr (NdFence) fence = NULL;

  if (!gst_buffer_map (input, map, self->device ? GST_MAP_READ
          | GST_ND_MAP_CUDA : GST_MAP_READ)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "The memory of a volume "
        "cannot be read");
    return FALSE;
  }
  if (map->size != size) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT, "A volume has %"
        G_GSIZE_FORMAT " bytes: its caps say %" G_GSIZE_FORMAT, map->size,
        size);
    gst_buffer_unmap (input, map);
    return FALSE;
  }
  if (self->device)
    fence = gst_nd_memory_get_fence (gst_buffer_peek_memory (input, 0));
  if (!fence || nd_fence_wait (fence, NULL, error))
    return TRUE;
  gst_buffer_unmap (input, map);
  return FALSE;
}

/* Shows @input in @output. */
static gboolean
make_frame (GstNdView * self, GstBuffer * input, GstBuffer * output,
    const Settings * settings, GError ** error)
{
  GstVideoFrame frame;
  GstMapInfo map;
  gboolean ok;

  if (settings->response >= self->in.responses) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Property 'response' is "
        "%u: these volumes have %u, counted from 0", settings->response,
        self->in.responses);
    return FALSE;
  }
  if (!make_picture (self, input, error)
      || !map_volume (self, input, &map, error))
    return FALSE;
  ok = gst_video_frame_map (&frame, &self->out, output, GST_MAP_WRITE);
  if (ok) {
    ok = show (self, map.data + settings->response * (map.size
            / self->in.responses), &frame, settings, error);
    gst_video_frame_unmap (&frame);
  } else {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "The memory of a picture "
        "cannot be written: it must be system memory");
  }
  gst_buffer_unmap (input, &map);
  return ok;
}

static GstFlowReturn
gst_nd_view_transform (GstBaseTransform * trans, GstBuffer * input,
    GstBuffer * output)
{
  GstNdView *self = GST_ND_VIEW (trans);
  g_autoptr (GError) error = NULL;
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->wanted;
  GST_OBJECT_UNLOCK (self);
  if (make_frame (self, input, output, &settings, &error))
    return GST_FLOW_OK;
  gst_nd_element_error_once (GST_ELEMENT (self), error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_nd_view_submit_input (GstBaseTransform * trans, gboolean is_discont,
    GstBuffer * input)
{
  GstNdView *self = GST_ND_VIEW (trans);

  update_layout (self);
  if (GST_BUFFER_IS_DISCONT (input))
    forget_window (self);
  return GST_BASE_TRANSFORM_CLASS
      (gst_nd_view_parent_class)->submit_input_buffer (trans, is_discont,
      input);
}

static void
gst_nd_view_class_init (GstNdViewClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  GST_DEBUG_CATEGORY_INIT (nd_view_debug, "ndview", 0, "volumes to pictures");

  object_class->set_property = gst_nd_view_set_property;
  object_class->get_property = gst_nd_view_get_property;
  object_class->finalize = gst_nd_view_finalize;
  element_class->set_context = gst_nd_view_set_context;
  element_class->change_state = gst_nd_view_change_state;

  g_object_class_install_property (object_class, PROP_MODE,
      g_param_spec_enum ("mode", "Mode", "What the picture shows",
          GST_TYPE_ND_VIEW_MODE, ND_PICTURE_SLICE, flags));
  g_object_class_install_property (object_class, PROP_AXIS,
      g_param_spec_enum ("axis", "Axis", "Slice and projection: the direction "
          "of the view", GST_TYPE_ND_VIEW_AXIS, ND_AXIS_Z, flags));
  g_object_class_install_property (object_class, PROP_POSITION,
      g_param_spec_double ("position", "Position", "Slice and orthogonal: where"
          " along the axis, 0 to 1 of its size; index floor(position * size), "
          "at most the last", 0, 1, 0.5, flags));
  g_object_class_install_property (object_class, PROP_WINDOW,
      g_param_spec_double ("window", "Window", "Width of the range of sample "
          "values between black and white; 0: automatic, window and level "
          "follow the 0.5 and 99.5 percentiles of the volumes, slowly",
          0, G_MAXDOUBLE, 0, flags));
  g_object_class_install_property (object_class, PROP_LEVEL,
      g_param_spec_double ("level", "Level", "The sample value shown as middle "
          "grey; without effect where 'window' is automatic", -G_MAXDOUBLE,
          G_MAXDOUBLE, 0, flags));
  g_object_class_install_property (object_class, PROP_RESPONSE,
      g_param_spec_uint ("response", "Response", "Which response of a bank of "
          "filters is shown, counted from 0", 0, G_MAXUINT, 0, flags));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Volumes to pictures",
      "Filter/Converter/Video", "Shows volumes as video: a slice, three "
      "orthogonal planes or a maximum projection, with window and level; "
      "complex samples by their magnitude", "The ndconv developers");
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
  trans_class->transform = gst_nd_view_transform;
}

static void
gst_nd_view_init (GstNdView * self)
{
  self->wanted.axis = self->axis = ND_AXIS_Z;
  self->wanted.position = 0.5;
  g_rec_mutex_init (&self->context_lock);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}
