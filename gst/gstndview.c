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

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <gst/video/video.h>
#include "gstndcaps.h"
#include "gstndelements.h"
#include "gstnderror.h"

GST_DEBUG_CATEGORY_STATIC (nd_view_debug);
#define GST_CAT_DEFAULT nd_view_debug

/* The automatic window: between these percentiles of so many samples, each
 * new volume moving it by this part of the way, so that it does not flicker. */
#define AUTO_LOW 0.005
#define AUTO_HIGH 0.995
#define AUTO_SAMPLES 16384
#define AUTO_STEP 0.2

typedef enum
{
  MODE_SLICE,
  MODE_ORTHOGONAL,
  MODE_PROJECTION
} Mode;

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
  Mode mode;
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
  Mode mode;
  NdAxis axis;

  GstNdVolumeInfo in;
  GstVideoInfo out;
  guint channels;               /* of the picture, 1 or 3 */
  gfloat *values;               /* of the picture, before window and level */
  gfloat *row;                  /* one row of the volume */

  gdouble low, high;            /* automatic window, valid if low <= high */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, RGB }")));

G_DEFINE_TYPE (GstNdView, gst_nd_view, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (ndview, "ndview", GST_RANK_NONE, GST_TYPE_ND_VIEW)

#define GST_TYPE_ND_VIEW_MODE (gst_nd_view_mode_get_type ())
static GType
gst_nd_view_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {MODE_SLICE, "One plane across 'axis' at 'position'", "slice"},
    {MODE_ORTHOGONAL, "Three planes, each at 'position' of its axis: z upper "
          "left, x upper right, y lower left", "orthogonal"},
    {MODE_PROJECTION, "The maximum of all samples along 'axis'", "projection"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstNdViewMode", values));
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
    g_once_init_leave (&type,
        g_enum_register_static ("GstNdViewAxis", values));
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
  if (changed)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static gboolean
gst_nd_view_start (GstBaseTransform * trans)
{
  update_layout (GST_ND_VIEW (trans));
  forget_window (GST_ND_VIEW (trans));
  return TRUE;
}

static gboolean
gst_nd_view_stop (GstBaseTransform * trans)
{
  GstNdView *self = GST_ND_VIEW (trans);

  g_clear_pointer (&self->values, g_free);
  g_clear_pointer (&self->row, g_free);
  return TRUE;
}

/* The axes of the volume that run along the width and height of a plane. */
static NdAxis
width_axis (NdAxis across)
{
  return across == ND_AXIS_X ? ND_AXIS_Z : ND_AXIS_X;
}

static NdAxis
height_axis (NdAxis across)
{
  return across == ND_AXIS_Y ? ND_AXIS_Z : ND_AXIS_Y;
}

/* Pixels of the picture; FALSE where a video cannot be so large. */
static gboolean
picture_size (Mode mode, NdAxis axis, const gsize size[3], gint * width,
    gint * height)
{
  gsize w = size[width_axis (axis)], h = size[height_axis (axis)];

  if (mode == MODE_ORTHOGONAL
      && (!g_size_checked_add (&w, size[ND_AXIS_X], size[ND_AXIS_Z])
          || !g_size_checked_add (&h, size[ND_AXIS_Y], size[ND_AXIS_Z])))
    return FALSE;
  /* GstVideoInfo counts bytes of a picture in int in places. */
  if (w > G_MAXINT / 4 || h > G_MAXINT / 4 || w > G_MAXINT / 4 / h)
    return FALSE;
  *width = w;
  *height = h;
  return TRUE;
}

/* Width : height of a pixel. */
static gboolean
pixel_aspect (Mode mode, NdAxis axis, const NdGeometry * geometry, gint * n,
    gint * d)
{
  gdouble w = geometry->spacing[width_axis (axis)];
  gdouble h = geometry->spacing[height_axis (axis)];

  if (mode == MODE_ORTHOGONAL || !geometry->known || !(w > 0) || !(h > 0)
      || !(w / h < 1000) || !(h / w < 1000))
    return FALSE;
  gst_util_double_to_fraction (w / h, n, d);
  return *n > 0 && *d > 0 && *n != *d;
}

static guint
picture_channels (const NdShape * shape)
{
  return shape->components == 3 ? 3 : 1;
}

/* Caps of pictures for one structure of volumes. */
static void
append_pictures (GstCaps * caps, const GstStructure * s, Mode mode,
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
      || !picture_size (mode, axis, info.shape.size, &width, &height)) {
    gst_structure_free (picture);
    return;
  }
  gst_structure_set (picture,
      "format", G_TYPE_STRING,
      picture_channels (&info.shape) == 3 ? "RGB" : "GRAY8",
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
  gst_caps_append_structure (caps, volume);
}

static GstCaps *
gst_nd_view_transform_caps (GstBaseTransform * trans,
    GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstNdView *self = GST_ND_VIEW (trans);
  GstCaps *result = gst_caps_new_empty ();
  Mode mode;
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
  gsize pixels;

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
  self->channels = picture_channels (&self->in.shape);
  pixels = (gsize) GST_VIDEO_INFO_WIDTH (&self->out)
      * GST_VIDEO_INFO_HEIGHT (&self->out);
  g_free (self->values);
  g_free (self->row);
  self->values = g_try_new (gfloat, pixels * self->channels);
  self->row = g_try_new (gfloat, self->in.shape.size[0] * self->channels);
  if (!self->values || !self->row) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for a "
            "picture of %" G_GSIZE_FORMAT " pixels", pixels), (NULL));
    return FALSE;
  }
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

static inline gfloat
sample (gconstpointer data, NdSampleType type, gsize i)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) data)[i];
    case ND_INT16:
      return ((const gint16 *) data)[i];
    case ND_UINT16:
      return ((const guint16 *) data)[i];
    default:
      return ((const gfloat *) data)[i];
  }
}

/* What is shown of channel @channel of the voxel @i. */
static inline gfloat
shown (gconstpointer data, NdSampleType type, gsize components, gsize i,
    guint channel)
{
  if (components == 2)
    return hypotf (sample (data, type, 2 * i), sample (data, type, 2 * i + 1));
  return sample (data, type, components * i + channel);
}

#define READ(name) \
  case name: \
    for (gsize i = 0; i < n; i++) \
      for (guint c = 0; c < channels; c++) \
        *row++ = shown (data, name, components, first + i, c); \
    break

static void
read_row (const GstNdView * self, gconstpointer data, gsize first, gsize n)
{
  gsize components = self->in.shape.components;
  guint channels = self->channels;
  gfloat *row = self->row;

  /* A case each, so that the compiler makes a loop for each type. */
  switch (self->in.type) {
    READ (ND_UINT8);
    READ (ND_INT16);
    READ (ND_UINT16);
    default:
      READ (ND_FLOAT32);
  }
}

/* Puts the maximum along @across, from index @from up to @to, into the picture
 * with its upper left corner at pixel (@left, @top). */
static void
project (GstNdView * self, gconstpointer data, NdAxis across, gsize from,
    gsize to, gsize left, gsize top)
{
  const gsize *size = self->in.shape.size;
  gsize begin[3] = { 0, 0, 0 }, end[3] = { size[0], size[1], size[2] };
  gsize step[3] = { 0, 0, 0 };
  guint channels = self->channels;
  gfloat *values = self->values + (top * GST_VIDEO_INFO_WIDTH (&self->out)
      + left) * channels;

  begin[across] = from;
  end[across] = to;
  step[width_axis (across)] = channels;
  step[height_axis (across)] = GST_VIDEO_INFO_WIDTH (&self->out) * channels;
  for (gsize z = begin[2]; z < end[2]; z++) {
    for (gsize y = begin[1]; y < end[1]; y++) {
      gfloat *out = values + z * step[2] + y * step[1];
      const gfloat *row = self->row;

      read_row (self, data, (z * size[1] + y) * size[0] + begin[0],
          end[0] - begin[0]);
      for (gsize x = begin[0]; x < end[0]; x++, out += step[0], row += channels)
        for (guint c = 0; c < channels; c++)
          out[c] = row[c] > out[c] || isnan (out[c]) ? row[c] : out[c];
    }
  }
}

static int
compare_floats (const void *a, const void *b)
{
  gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

/* Moves the automatic window towards what this volume needs. */
static void
update_window (GstNdView * self, gconstpointer data)
{
  const NdShape *shape = &self->in.shape;
  gsize voxels = shape->size[0] * shape->size[1] * shape->size[2], n = 0;
  /* Odd, so that it meets all columns where sizes are powers of two. */
  gsize step = (voxels / AUTO_SAMPLES) | 1;
  g_autofree gfloat *found = g_new (gfloat, voxels / step + 1);
  gdouble low, high;

  for (gsize i = 0, k = 0; i < voxels; i += step, k++) {
    gfloat v = shown (data, self->in.type, shape->components, i,
        k % self->channels);

    if (isfinite (v))
      found[n++] = v;
  }
  if (n == 0)
    return;
  qsort (found, n, sizeof (gfloat), compare_floats);
  low = found[(gsize) (AUTO_LOW * (n - 1))];
  high = found[(gsize) (AUTO_HIGH * (n - 1))];
  if (!(low < high)) {
    /* Nearly constant: what sticks out is what there is to see. */
    for (gsize i = 0; i < voxels; i++) {
      for (guint c = 0; c < self->channels; c++) {
        gfloat v = shown (data, self->in.type, shape->components, i, c);

        if (isfinite (v)) {
          low = MIN (low, v);
          high = MAX (high, v);
        }
      }
    }
  }
  if (self->low <= self->high) {
    self->low += AUTO_STEP * (low - self->low);
    self->high += AUTO_STEP * (high - self->high);
  } else {
    self->low = low;
    self->high = high;
  }
}

/* From values to the bytes of the picture. */
static void
write_picture (GstNdView * self, GstVideoFrame * frame, gdouble low,
    gdouble window)
{
  gsize n = (gsize) GST_VIDEO_FRAME_WIDTH (frame) * self->channels;
  const gfloat *values = self->values;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++, values += n) {
    guint8 *out = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0)
        + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

    for (gsize i = 0; i < n; i++) {
      gdouble grey = rint ((values[i] - low) / window * 255);

      /* NaN is not above 0. */
      out[i] = grey > 0 ? grey < 255 ? (guint8) grey : 255 : 0;
    }
  }
}

static void
gst_nd_view_show (GstNdView * self, const guint8 * data,
    GstVideoFrame * frame, const Settings * settings)
{
  const gsize *size = self->in.shape.size;
  gsize pixels = (gsize) GST_VIDEO_FRAME_WIDTH (frame)
      * GST_VIDEO_FRAME_HEIGHT (frame) * self->channels;
  gsize at[3];

  for (guint a = 0; a < 3; a++)
    at[a] = MIN ((gsize) (settings->position * size[a]), size[a] - 1);
  for (gsize i = 0; i < pixels; i++)
    self->values[i] = NAN;
  switch (self->mode) {
    case MODE_SLICE:
      project (self, data, self->axis, at[self->axis], at[self->axis] + 1, 0,
          0);
      break;
    case MODE_ORTHOGONAL:
      project (self, data, ND_AXIS_Z, at[2], at[2] + 1, 0, 0);
      project (self, data, ND_AXIS_X, at[0], at[0] + 1, size[0], 0);
      project (self, data, ND_AXIS_Y, at[1], at[1] + 1, 0, size[1]);
      break;
    case MODE_PROJECTION:
      project (self, data, self->axis, 0, size[self->axis], 0, 0);
      break;
  }
  if (settings->window > 0) {
    write_picture (self, frame, settings->level - settings->window / 2,
        settings->window);
  } else {
    update_window (self, data);
    write_picture (self, frame, self->low,
        self->high > self->low ? self->high - self->low : 1);
  }
}

static GstFlowReturn
gst_nd_view_transform (GstBaseTransform * trans, GstBuffer * input,
    GstBuffer * output)
{
  GstNdView *self = GST_ND_VIEW (trans);
  gsize size = gst_nd_volume_info_size (&self->in);
  GstVideoFrame frame;
  Settings settings;
  GstMapInfo map;

  GST_OBJECT_LOCK (self);
  settings = self->wanted;
  GST_OBJECT_UNLOCK (self);
  if (settings.response >= self->in.responses) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("Property 'response' is %u: "
            "these volumes have %u, counted from 0", settings.response,
            self->in.responses), (NULL));
    return GST_FLOW_ERROR;
  }
  if (!gst_buffer_map (input, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("The memory of a volume cannot "
            "be read: it must be system memory"), (NULL));
    return GST_FLOW_ERROR;
  }
  if (map.size != size) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A volume has %" G_GSIZE_FORMAT
            " bytes: its caps say %" G_GSIZE_FORMAT, map.size, size), (NULL));
    gst_buffer_unmap (input, &map);
    return GST_FLOW_ERROR;
  }
  if (!gst_video_frame_map (&frame, &self->out, output, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("The memory of a picture cannot"
            " be written: it must be system memory"), (NULL));
    gst_buffer_unmap (input, &map);
    return GST_FLOW_ERROR;
  }
  gst_nd_view_show (self, map.data + settings.response * (size
          / self->in.responses), &frame, &settings);
  gst_video_frame_unmap (&frame);
  gst_buffer_unmap (input, &map);
  return GST_FLOW_OK;
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
      | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE;

  GST_DEBUG_CATEGORY_INIT (nd_view_debug, "ndview", 0, "volumes to pictures");

  object_class->set_property = gst_nd_view_set_property;
  object_class->get_property = gst_nd_view_get_property;

  g_object_class_install_property (object_class, PROP_MODE,
      g_param_spec_enum ("mode", "Mode", "What the picture shows",
          GST_TYPE_ND_VIEW_MODE, MODE_SLICE, flags));
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
      "complex samples by their magnitude", "The ndconv authors");

  trans_class->passthrough_on_same_caps = FALSE;
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
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}
