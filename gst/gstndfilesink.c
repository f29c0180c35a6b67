/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ndfilesink
 * @title: ndfilesink
 *
 * Writes volumes to a file as they come. The ending of
 * #GstNdFileSink:location names the format:
 *
 * - `.nii` NIfTI-1, or NIfTI-2 where a size or the number of volumes is above
 *   32767; `.nii.gz` the same, compressed with gzip at its fastest
 * - `.nrrd`, `.seq.nrrd` NRRD with the keys of 3D Slicer, `.igs.nrrd` with
 *   those of PLUS; `.nhdr` with the samples in a file beside it
 * - `.mha`, `.igs.mha` MetaImage; `.mhd` with the samples in a file beside it
 * - anything else, best `.raw`: samples alone, in the byte order of the machine
 *
 * #GstNdFileSink:compress packs the samples of NRRD and MetaImage.
 *
 * Rate, spacing, origin and directions that the caps say are written, the
 * timestamps of the volumes, and the key/values of the file that they come
 * from. NIfTI holds scalars of every type, complex64 (2 components of float32),
 * RGB24 and RGBA32 (3 and 4 components of uint8); NRRD and MetaImage any
 * components, NRRD banks of responses too. Frames, other/tensors or
 * video/x-raw, are volumes with one slice; padding of rows is left out.
 *
 * While it is written the file has `.part` behind its name. At the end of the
 * stream the header gets the number of volumes and the file its name, before
 * the EOS message is posted. A stream that stops before (an error, or Ctrl-C
 * without the option -e of gst-launch-1.0) leaves the `.part` file and posts a
 * warning; a stream without a volume is an error and leaves nothing. After a
 * flushing seek the recording begins anew.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndtestsrc pattern=heart num-buffers=40 !
 *     ndfilesink location=heart.nii.gz
 * ]| Records 40 volumes of the phantom.
 * |[
 * gst-launch-1.0 -e v4l2src ! videoconvert ! video/x-raw,format=GRAY8 !
 *     ndfilesink location=camera.nii
 * ]| Records a camera until Ctrl-C.
 */

#include "gstndfilesink.h"

#include <string.h>
#include <gst/video/video.h>

#include "engine/nderror.h"
#include "formats/ndrecording.h"
#include "gstndcaps.h"
#include "gstndelements.h"
#include "gstnderror.h"
#include "gstndmetadata.h"

GST_DEBUG_CATEGORY_STATIC (nd_file_sink_debug);
#define GST_CAT_DEFAULT nd_file_sink_debug

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_COMPRESS
};

struct _GstNdFileSink
{
  GstBaseSink parent;

  /* Properties, under the object lock. */
  gchar *location;
  gboolean compress;

  NdWriter *writer;             /* NULL: not started, or finished */
  gboolean begun;               /* the writer knows what the volumes are */
  NdMetadata *source;           /* of the file volumes come from, or NULL */
  guint64 expected;             /* volumes of it; 0: not known */
  gboolean failed;              /* an error was posted: write no more */
  GstNdVolumeInfo info;         /* valid with caps */
  gsize size;                   /* bytes of one volume; 0: no caps */
  gboolean is_video;
  GstVideoInfo video_info;
  guint8 *packed;               /* a frame without padding, or NULL */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_ND_TENSORS_CAPS "; "
        GST_VIDEO_CAPS_MAKE ("{ GRAY8, " GST_VIDEO_NE (GRAY16)
            ", RGB, RGBA }")));

G_DEFINE_TYPE_WITH_CODE (GstNdFileSink, gst_nd_file_sink, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (nd_file_sink_debug, "ndfilesink", 0,
        "sink that records volumes"));
GST_ELEMENT_REGISTER_DEFINE (ndfilesink, "ndfilesink", GST_RANK_NONE,
    GST_TYPE_ND_FILE_SINK);

/* The one error of this stream; nothing is written after it, and an EOS that
 * follows does not make the file look whole. */
static void
fail (GstNdFileSink * self, const GError * error)
{
  gst_nd_element_error (GST_ELEMENT (self), error);
  self->failed = TRUE;
}

static gboolean
open_writer (GstNdFileSink * self)
{
  g_autofree gchar *location = NULL;
  g_autoptr (GError) error = NULL;
  gboolean compress;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->location);
  compress = self->compress;
  GST_OBJECT_UNLOCK (self);

  self->begun = FALSE;
  if (!location || !*location)
    g_set_error (&error, ND_ERROR, ND_ERROR_NOT_FOUND, "Property 'location' is "
        "not set: it must name the file to write");
  else
    self->writer = nd_writer_open (location, compress, &error);
  if (!self->writer)
    fail (self, error);
  return self->writer != NULL;
}

static gboolean
begin (GstNdFileSink * self)
{
  g_autoptr (GError) error = NULL;

  if (!self->writer && !open_writer (self))
    return FALSE;
  self->begun = nd_writer_begin (self->writer, &self->info, &error);
  if (!self->begun)
    fail (self, error);
  return self->begun;
}

static gboolean
start (GstNdFileSink * self)
{
  self->failed = FALSE;
  self->size = 0;
  return open_writer (self);
}

static void
stop (GstNdFileSink * self)
{
  if (self->writer && nd_writer_volumes (self->writer) > 0 && !self->failed)
    GST_ELEMENT_WARNING (self, RESOURCE, CLOSE, ("\"%s\" is incomplete: the "
            "stream stopped before its end; its %" G_GUINT64_FORMAT
            " volumes are in \"%s\".", self->location,
            nd_writer_volumes (self->writer), nd_writer_part (self->writer)),
        (NULL));
  g_clear_pointer (&self->writer, nd_writer_close);
  g_clear_pointer (&self->source, nd_metadata_unref);
  self->expected = 0;
  g_clear_pointer (&self->packed, g_free);
}

/* Not in GstBaseSink::start and stop: they run on the way from and to NULL,
 * where a pipeline does not pass on messages any more. */
static GstStateChangeReturn
gst_nd_file_sink_change_state (GstElement * element, GstStateChange transition)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (element);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED || start (self))
    ret = GST_ELEMENT_CLASS (gst_nd_file_sink_parent_class)->change_state
        (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    stop (self);
  return ret;
}

static gboolean
info_from_video (GstNdFileSink * self, GstNdVolumeInfo * info,
    const GstCaps * caps)
{
  GstVideoInfo *video = &self->video_info;

  if (!gst_video_info_from_caps (video, caps))
    return FALSE;
  memset (info, 0, sizeof (*info));
  info->type = GST_VIDEO_INFO_COMP_DEPTH (video, 0) > 8 ? ND_UINT16 : ND_UINT8;
  info->shape.components = GST_VIDEO_INFO_N_COMPONENTS (video);
  info->shape.size[0] = GST_VIDEO_INFO_WIDTH (video);
  info->shape.size[1] = GST_VIDEO_INFO_HEIGHT (video);
  info->shape.size[2] = 1;
  info->rate_n = GST_VIDEO_INFO_FPS_N (video);
  info->rate_d = GST_VIDEO_INFO_FPS_D (video);
  info->responses = 1;
  return gst_nd_volume_info_size (info) > 0;
}

static gboolean
same_volumes (const GstNdVolumeInfo * a, const GstNdVolumeInfo * b)
{
  return a->type == b->type && a->responses == b->responses
      && memcmp (&a->shape, &b->shape, sizeof (NdShape)) == 0;
}

static gboolean
gst_nd_file_sink_set_caps (GstBaseSink * sink, GstCaps * caps)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (sink);
  const gboolean is_video = gst_structure_has_name (gst_caps_get_structure
      (caps, 0), "video/x-raw");
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo info;

  if (self->failed)
    return FALSE;
  if (is_video) {
    if (!info_from_video (self, &info, caps))
      g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Caps of the frames "
          "cannot be read: they must say format, width and height");
  } else {
    gst_nd_volume_info_from_caps (&info, caps, &error);
  }
  if (!error && self->begun && nd_writer_volumes (self->writer) > 0) {
    if (same_volumes (&info, &self->info)) {
      self->is_video = is_video;
      return TRUE;
    }
    g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT, "Size or type of the "
        "volumes changed after %" G_GUINT64_FORMAT " of them: \"%s\" holds "
        "volumes of one size and type", nd_writer_volumes (self->writer),
        self->location);
  }
  if (error) {
    fail (self, error);
    return FALSE;
  }
  self->info = info;
  self->size = gst_nd_volume_info_size (&info);
  self->is_video = is_video;
  g_clear_pointer (&self->packed, g_free);
  return begin (self);
}

static GstFlowReturn
write_volume (GstNdFileSink * self, gconstpointer data, GstClockTime time)
{
  g_autoptr (GError) error = NULL;

  if (nd_writer_volumes (self->writer) == 0)
    nd_writer_set_source (self->writer, self->source, self->expected);
  if (nd_writer_write (self->writer, data, GST_CLOCK_TIME_IS_VALID (time)
          && time <= G_MAXINT64 ? (gint64) time : -1, &error))
    return GST_FLOW_OK;
  fail (self, error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
wrong_size (GstNdFileSink * self, GstBuffer * buffer)
{
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE, ("A buffer has %" G_GSIZE_FORMAT
          " bytes, but its caps say volumes of %" G_GSIZE_FORMAT " bytes.",
          gst_buffer_get_size (buffer), self->size), (NULL));
  self->failed = TRUE;
  return GST_FLOW_ERROR;
}

static GstFlowReturn
write_frame (GstNdFileSink * self, GstBuffer * buffer)
{
  const gsize height = self->info.shape.size[1];
  const gsize row = self->size / height;
  GstVideoFrame frame;
  const guint8 *data;
  gsize stride;
  GstFlowReturn ret;

  if (!gst_video_frame_map (&frame, &self->video_info, buffer, GST_MAP_READ))
    return wrong_size (self, buffer);
  data = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
  stride = GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
  if (stride != row) {
    if (!self->packed)
      self->packed = g_malloc (self->size);
    for (gsize y = 0; y < height; y++)
      memcpy (self->packed + y * row, data + y * stride, row);
    data = self->packed;
  }
  ret = write_volume (self, data, GST_BUFFER_PTS (buffer));
  gst_video_frame_unmap (&frame);
  return ret;
}

static GstFlowReturn
gst_nd_file_sink_render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (sink);
  GstMapInfo map;
  GstFlowReturn ret;

  if (self->failed)
    return GST_FLOW_ERROR;
  if (self->size == 0)
    return GST_FLOW_NOT_NEGOTIATED;
  if (!self->begun && !begin (self))
    return GST_FLOW_ERROR;
  if (self->is_video)
    return write_frame (self, buffer);
  if (gst_buffer_get_size (buffer) != self->size)
    return wrong_size (self, buffer);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("A buffer with a volume for "
            "\"%s\" cannot be read.", self->location), (NULL));
    self->failed = TRUE;
    return GST_FLOW_ERROR;
  }
  ret = write_volume (self, map.data, GST_BUFFER_PTS (buffer));
  gst_buffer_unmap (buffer, &map);
  return ret;
}

static gboolean
finish (GstNdFileSink * self)
{
  g_autoptr (GError) error = NULL;

  if (self->failed)
    return FALSE;
  if (!self->writer)
    return TRUE;
  if (!nd_writer_finish (self->writer, &error)) {
    fail (self, error);
    return FALSE;
  }
  if (nd_writer_warning (self->writer))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s.",
            nd_writer_warning (self->writer)), (NULL));
  g_clear_pointer (&self->writer, nd_writer_close);
  self->begun = FALSE;
  return TRUE;
}

static gboolean
gst_nd_file_sink_event (GstBaseSink * sink, GstEvent * event)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (sink);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      /* The file is whole before anyone hears of the end. */
      if (!finish (self)) {
        gst_event_unref (event);
        return FALSE;
      }
      break;
    case GST_EVENT_FLUSH_STOP:
      self->begun = FALSE;
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:{
      guint64 volumes;
      NdMetadata *source = gst_nd_metadata_from_event (event, &volumes);

      if (source) {
        g_clear_pointer (&self->source, nd_metadata_unref);
        self->source = source;
        self->expected = volumes;
      }
      break;
    }
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_nd_file_sink_parent_class)->event (sink,
      event);
}

/* Rows may be padded: they are packed here. */
static gboolean
gst_nd_file_sink_propose_allocation (GstBaseSink * sink, GstQuery * query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static void
gst_nd_file_sink_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_COMPRESS:
      self->compress = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_sink_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_COMPRESS:
      g_value_set_boolean (value, self->compress);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_sink_finalize (GObject * object)
{
  g_free (GST_ND_FILE_SINK (object)->location);
  G_OBJECT_CLASS (gst_nd_file_sink_parent_class)->finalize (object);
}

static void
gst_nd_file_sink_class_init (GstNdFileSinkClass * klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_nd_file_sink_set_property;
  object_class->get_property = gst_nd_file_sink_get_property;
  object_class->finalize = gst_nd_file_sink_finalize;

  g_object_class_install_property (object_class, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "Path of the file to write. Its ending names the format: .nii, "
          ".nii.gz, .nrrd (.seq.nrrd), .nhdr, .mha (.igs.mha), .mhd, otherwise "
          "raw samples (.raw). It has .part behind it until the stream has "
          "ended, and replaces a file of that name then", NULL, flags));
  g_object_class_install_property (object_class, PROP_COMPRESS,
      g_param_spec_boolean ("compress", "Compress",
          "Pack the samples of NRRD (gzip) and MetaImage (zlib); such a file "
          "cannot be seeked. .nii.gz always is, .nii and raw cannot be",
          FALSE, flags));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "Volume recorder", "Sink/File",
      "Writes volumes and frames to a file (NIfTI-1, NIfTI-2, NRRD, MetaImage, "
      "raw) as they come, with their times and geometry",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndtestsrc num-buffers=40 ! ndfilesink "
      "location=heart.nii.gz");

  element_class->change_state = gst_nd_file_sink_change_state;
  sink_class->set_caps = gst_nd_file_sink_set_caps;
  sink_class->render = gst_nd_file_sink_render;
  sink_class->event = gst_nd_file_sink_event;
  sink_class->propose_allocation = gst_nd_file_sink_propose_allocation;
}

static void
gst_nd_file_sink_init (GstNdFileSink * self)
{
  /* A file is written as fast as volumes come, and none is kept back. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
