/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndfilesink
 * @title: ndfilesink
 *
 * Writes a stream of volumes to a file. The extension of
 * #GstNdFileSink:location selects the format:
 *
 * - `.nii` NIfTI-1, or NIfTI-2 if a size or the number of volumes is above
 *   32767; `.nii.gz` the same, compressed by the fastest level of gzip
 * - `.nrrd`, `.seq.nrrd` NRRD with the keys of 3D Slicer, `.igs.nrrd` with
 *   those of PLUS; `.nhdr` with the samples in a second file
 * - `.mha`, `.igs.mha` MetaImage; `.mhd` with the samples in a second file
 * - `.npy` NumPy, without spacing, times and fields
 * - `.tif`, `.tiff` TIFF with the description of ImageJ: spacing and rate
 * - any other, preferably `.raw`: samples only, in the byte order of the
 *   machine
 *
 * #GstNdFileSink:compress compresses the samples of NRRD and MetaImage.
 *
 * The file gets the rate, spacing, origin and directions in the caps, the
 * timestamps of the volumes, and the key/values of the file that they were read
 * from. NIfTI supports scalars of all types, complex64 (2 components of
 * float32), RGB24 and RGBA32 (3 and 4 components of uint8). NRRD and MetaImage
 * support any number of components, and NRRD the responses of a bank. Frames,
 * other/tensors or video/x-raw, are volumes with one slice. Padding of rows is
 * not written.
 *
 * The file is written as `NAME.part`. At the end of the stream, before the EOS
 * message, the header gets the number of volumes, and the file is renamed. If
 * the stream stops earlier (an error, or Ctrl-C without the option -e of
 * gst-launch-1.0), the `.part` file stays and a warning is posted. A stream
 * without a volume is an error and leaves no file. After a flushing seek the
 * recording starts again.
 *
 * With #GstNdFileSink:max-volumes or #GstNdFileSink:max-time the stream goes to
 * numbered files, each complete as soon as it is full. New caps begin a new
 * file too. For each file an element message `ndfilesink-file` has its
 * location, number, volumes and the timestamp of the first of them.
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
 *
 * Since: 0.1
 */

#include "core/error.h"
#include "formats/recording.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndflush.h"
#include "gst/base/gstndproperties.h"
#include "gst/base/gstndseek.h"
#include "gst/base/gstndvideolayout.h"
#include "gst/files/gstndnumbered.h"
#include "gst/gstndelements.h"

#include <gst/base/gstbasesink.h>
#include <string.h>

#define GST_TYPE_ND_FILE_SINK (gst_nd_file_sink_get_type ())
G_DECLARE_FINAL_TYPE (GstNdFileSink, gst_nd_file_sink, GST, ND_FILE_SINK,
    GstBaseSink)

GST_DEBUG_CATEGORY_STATIC (nd_file_sink_debug);
#define GST_CAT_DEFAULT nd_file_sink_debug

typedef struct
{
  gchar *location;
  gboolean compress;
  gint64 max_volumes, max_time;
} Settings;

struct _GstNdFileSink
{
  GstBaseSink parent;

  Settings settings; /* protected by the object lock */

  NdWriter *writer;     /* NULL before start() and after the last volume */
  guint number;         /* of the file, if there are several */
  GstClockTime first;   /* timestamp of its first volume */
  gboolean begun;       /* the writer has the format of the volumes */
  NdMetadata *source;   /* of the file that the volumes come from, or NULL */
  guint64 expected;     /* volumes of that file; 0: unknown */
  gboolean failed;      /* an error was posted: nothing is written any more */
  GstNdVolumeInfo info; /* valid with caps */
  gsize size;           /* bytes of one volume; 0: no caps */
  gboolean is_video;
  GstVideoInfo video_info;
  guint8 *packed; /* memory for a frame without padding, or NULL */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_ND_TENSORS_CAPS
            "; " GST_VIDEO_CAPS_MAKE (GST_ND_FRAME_FORMATS)));

G_DEFINE_TYPE_WITH_CODE (GstNdFileSink, gst_nd_file_sink, GST_TYPE_BASE_SINK,
    GST_DEBUG_CATEGORY_INIT (nd_file_sink_debug, "ndfilesink", 0,
        "sink that records volumes"));
GST_ELEMENT_REGISTER_DEFINE (ndfilesink, "ndfilesink", GST_RANK_NONE,
    GST_TYPE_ND_FILE_SINK);

#define FIELD(KIND, ...) ND_FIELD_##KIND (Settings, __VA_ARGS__)

static const NdSetting rows[] = {
  /* Since: 0.1 */
  { "location", "Location",
      "Path of the file to write, which has the name NAME.part until it is "
      "complete. Its extension selects the format: .nii, .nii.gz (NIfTI), "
      ".nrrd, .seq.nrrd, .nhdr (NRRD), .mha, .igs.mha, .mhd (MetaImage), .npy "
      "(NumPy), .tif (TIFF), otherwise raw samples (.raw)",
      FIELD (STRING, location, NULL), ND_READY },
  { "compress", "Compress",
      "Compress the samples of NRRD (gzip) and MetaImage (zlib); a compressed "
      "file does not support seeking. .nii.gz is always compressed; .nii, "
      ".npy, .tif and raw files never",
      FIELD (BOOLEAN, compress, FALSE), ND_READY },
  /* Since: 0.9 */
  { "max-volumes", "Maximum number of volumes",
      "Volumes of one file, after which the next file begins; 0: all. "
      "'location' must then have a place for the number of the file, counted "
      "from 0, for example heart-%05d.nii.gz",
      FIELD (INT64, max_volumes, 0, G_MAXINT64, 0), ND_READY },
  { "max-time", "Maximum time",
      "Nanoseconds from the first volume of a file to the first one of the "
      "next file; 0: no limit. 'location' must have a place for the number, as "
      "with max-volumes",
      FIELD (INT64, max_time, 0, G_MAXINT64, 0), ND_READY },
};

/* Posts the only error of this stream. Nothing is written after it, and EOS
 * does not complete the file. */
static void
fail (GstNdFileSink *self, const GError *error)
{
  gst_nd_element_error (GST_ELEMENT (self), error);
  self->failed = TRUE;
}

/* Whether the stream is split into numbered files. The properties change in
 * NULL and READY only. */
static gboolean
is_split (const GstNdFileSink *self)
{
  return self->settings.max_volumes > 0 || self->settings.max_time > 0;
}

/* The path of the file that is next. */
static gchar *
make_location (GstNdFileSink *self, GError **error)
{
  const gchar *location = self->settings.location;
  gchar *name = NULL;

  GST_OBJECT_LOCK (self);
  if (!location || !*location)
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "Property 'location' is not set: it must name the file to write");
  else if (is_split (self))
    name = gst_nd_numbered_name (location, self->number, error);
  else
    name = g_strdup (location);
  GST_OBJECT_UNLOCK (self);
  return name;
}

static gboolean
open_writer (GstNdFileSink *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *location = make_location (self, &error);

  self->begun = FALSE;
  if (location)
    self->writer = nd_writer_open (location, self->settings.compress, &error);
  if (!self->writer)
    fail (self, error);
  return self->writer != NULL;
}

static gboolean
begin (GstNdFileSink *self)
{
  g_autoptr (GError) error = NULL;

  if (!self->writer && !open_writer (self))
    return FALSE;
  self->begun = nd_writer_begin (self->writer, &self->info, &error);
  if (self->begun)
    GST_INFO_OBJECT (self,
        "writing volumes of %" G_GSIZE_FORMAT " bytes to "
        "\"%s\"",
        self->size, nd_writer_partial_path (self->writer));
  else
    fail (self, error);
  return self->begun;
}

static gboolean
start (GstNdFileSink *self)
{
  self->failed = FALSE;
  self->number = 0;
  self->size = 0;
  return open_writer (self);
}

static void
stop (GstNdFileSink *self)
{
  if (self->writer && nd_writer_volumes (self->writer) > 0 && !self->failed)
    GST_ELEMENT_WARNING (self, RESOURCE, CLOSE,
        ("The recording \"%s\" is incomplete because the stream stopped before "
         "EOS: its %" G_GUINT64_FORMAT
         " volumes are in \"%s\", which ndfilesrc reads. To complete a file, "
         "end the stream with EOS (gst-launch-1.0 -e)",
            self->settings.location, nd_writer_volumes (self->writer),
            nd_writer_partial_path (self->writer)),
        (NULL));
  g_clear_pointer (&self->writer, nd_writer_close);
  g_clear_pointer (&self->source, nd_metadata_unref);
  self->expected = 0;
  g_clear_pointer (&self->packed, g_free);
}

/* Not in GstBaseSink::start and stop, which run between NULL and READY, when a
 * pipeline does not forward messages. */
static GstStateChangeReturn
gst_nd_file_sink_change_state (GstElement *element, GstStateChange transition)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (element);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED || start (self))
    ret = GST_ELEMENT_CLASS (gst_nd_file_sink_parent_class)
              ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    stop (self);
  return ret;
}

static gboolean
info_from_video (GstNdFileSink *self, GstNdVolumeInfo *info,
    const GstCaps *caps)
{
  GstVideoInfo *video = &self->video_info;

  if (!gst_video_info_from_caps (video, caps))
    return FALSE;
  gst_nd_frame_get_info (video, info);
  return gst_nd_volume_info_size (info) > 0;
}

static gboolean
same_volumes (const GstNdVolumeInfo *a, const GstNdVolumeInfo *b)
{
  return a->type == b->type && a->responses == b->responses
      && memcmp (&a->shape, &b->shape, sizeof (NdShape)) == 0;
}

/* Tells the application that one of several files is complete. */
static void
announce_file (GstNdFileSink *self, const gchar *path)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("ndfilesink-file", "location", G_TYPE_STRING, path,
              "number", G_TYPE_UINT, self->number, "volumes", G_TYPE_UINT64,
              nd_writer_volumes (self->writer), "timestamp", G_TYPE_UINT64,
              self->first, NULL)));
}

/* Completes the file. The next volume begins another one. */
static gboolean
finish_file (GstNdFileSink *self)
{
  g_autofree gchar *path = make_location (self, NULL);
  g_autoptr (GError) error = NULL;

  if (!nd_writer_finish (self->writer, &error)) {
    fail (self, error);
    return FALSE;
  }
  if (nd_writer_warning (self->writer))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("%s", nd_writer_warning (self->writer)), (NULL));
  GST_INFO_OBJECT (self, "finished \"%s\": %" G_GUINT64_FORMAT " volumes", path,
      nd_writer_volumes (self->writer));
  if (is_split (self))
    announce_file (self, path);
  g_clear_pointer (&self->writer, nd_writer_close);
  self->begun = FALSE;
  self->number++;
  return TRUE;
}

static gboolean
gst_nd_file_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (sink);
  const gboolean is_video =
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw");
  g_autoptr (GError) error = NULL;
  GstNdVolumeInfo info;

  if (self->failed)
    return FALSE;
  if (is_video) {
    if (!info_from_video (self, &info, caps))
      g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
          "The caps of the frames are incomplete: they must have format, width "
          "and height");
  } else {
    gst_nd_volume_info_from_caps (&info, caps, &error);
  }
  if (!error && self->begun && nd_writer_volumes (self->writer) > 0) {
    if (same_volumes (&info, &self->info)) {
      self->is_video = is_video;
      return TRUE;
    }
    if (is_split (self) && !finish_file (self))
      return FALSE;
    if (!is_split (self))
      g_set_error (&error, ND_ERROR, ND_ERROR_FORMAT,
          "The size or type of the volumes changed after %" G_GUINT64_FORMAT
          " of them: all volumes of \"%s\" must have one size and type",
          nd_writer_volumes (self->writer), self->settings.location);
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

static gboolean
has_all_volumes (const GstNdFileSink *self)
{
  const guint64 max = self->settings.max_volumes;

  return max > 0 && nd_writer_volumes (self->writer) >= max;
}

/* Whether a volume at @time belongs to the next file. */
static gboolean
is_full (const GstNdFileSink *self, GstClockTime time)
{
  const guint64 max = self->settings.max_time;

  return max > 0 && nd_writer_volumes (self->writer) > 0
      && GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (self->first)
      && time >= self->first && time - self->first >= max;
}

static GstFlowReturn
write_volume (GstNdFileSink *self, gconstpointer data, GstClockTime time)
{
  g_autoptr (GError) error = NULL;

  if (is_full (self, time) && (!finish_file (self) || !begin (self)))
    return GST_FLOW_ERROR;
  if (nd_writer_volumes (self->writer) == 0) {
    nd_writer_set_source (self->writer, self->source,
        is_split (self) ? 0 : self->expected);
    self->first = time;
  }
  if (nd_writer_write (self->writer, data,
          GST_CLOCK_TIME_IS_VALID (time) && time <= G_MAXINT64 ? (gint64) time
                                                               : -1,
          &error)) {
    GST_LOG_OBJECT (self,
        "wrote volume %" G_GUINT64_FORMAT " at %" GST_TIME_FORMAT,
        nd_writer_volumes (self->writer) - 1, GST_TIME_ARGS (time));
    /* At once, so that a complete file does not wait for the next volume. */
    return !has_all_volumes (self) || finish_file (self) ? GST_FLOW_OK
                                                         : GST_FLOW_ERROR;
  }
  fail (self, error);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
wrong_size (GstNdFileSink *self, GstBuffer *buffer)
{
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("A buffer has %" G_GSIZE_FORMAT
       " bytes, but a volume of its caps has %" G_GSIZE_FORMAT
       " bytes: upstream must send one whole volume in each buffer",
          gst_buffer_get_size (buffer), self->size),
      (NULL));
  self->failed = TRUE;
  return GST_FLOW_ERROR;
}

static GstFlowReturn
write_frame (GstNdFileSink *self, GstBuffer *buffer)
{
  GstVideoFrame frame;
  const guint8 *data;
  GstFlowReturn ret;

  if (!gst_video_frame_map (&frame, &self->video_info, buffer, GST_MAP_READ))
    return wrong_size (self, buffer);
  data = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
  if (GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0)
      != (gint64) gst_nd_frame_row (&self->video_info)) {
    if (!self->packed)
      self->packed = g_try_malloc (self->size);
    if (!self->packed) {
      gst_video_frame_unmap (&frame);
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Not enough memory for the rows of a frame without padding, "
           "%" G_GSIZE_FORMAT " bytes: send smaller frames",
              self->size),
          (NULL));
      self->failed = TRUE;
      return GST_FLOW_ERROR;
    }
    gst_nd_frame_copy (&frame, self->packed);
    data = self->packed;
  }
  ret = write_volume (self, data, GST_BUFFER_PTS (buffer));
  gst_video_frame_unmap (&frame);
  return ret;
}

static GstFlowReturn
gst_nd_file_sink_render (GstBaseSink *sink, GstBuffer *buffer)
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
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("A buffer with a volume for \"%s\" cannot be mapped for reading: "
         "upstream must send system memory",
            self->settings.location),
        (NULL));
    self->failed = TRUE;
    return GST_FLOW_ERROR;
  }
  ret = write_volume (self, map.data, GST_BUFFER_PTS (buffer));
  gst_buffer_unmap (buffer, &map);
  return ret;
}

static gboolean
finish (GstNdFileSink *self)
{
  if (self->failed)
    return FALSE;
  return !self->writer || finish_file (self);
}

static gboolean
gst_nd_file_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (sink);
  g_autoptr (GError) error = NULL;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      if (!gst_nd_segment_check_decoded (sink->sinkpad, event, &error))
        gst_nd_element_error (GST_ELEMENT (sink), error);
      break;
    case GST_EVENT_EOS:
      /* The file is complete before the EOS message. */
      if (!finish (self)) {
        gst_event_unref (event);
        return FALSE;
      }
      break;
    case GST_EVENT_FLUSH_STOP:
      self->begun = FALSE;
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY: {
      guint64 volumes;
      NdMetadata *source = gst_nd_metadata_from_event (event, &volumes);

      if (source && self->source && gst_nd_metadata_is_live (event)) {
        nd_metadata_append (self->source, source);
        nd_metadata_unref (source);
      } else if (source) {
        g_clear_pointer (&self->source, nd_metadata_unref);
        self->source = source;
        self->expected = volumes;
      }
      break;
    }
    default:
      break;
  }
  return GST_BASE_SINK_CLASS (gst_nd_file_sink_parent_class)
      ->event (sink, event);
}

/* Rows may be padded, because write_frame() packs them. */
static gboolean
gst_nd_file_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static void
gst_nd_file_sink_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_sink_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdFileSink *self = GST_ND_FILE_SINK (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (rows, G_N_ELEMENTS (rows), &self->settings, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_sink_finalize (GObject *object)
{
  nd_settings_clear (rows, G_N_ELEMENTS (rows),
      &GST_ND_FILE_SINK (object)->settings);
  G_OBJECT_CLASS (gst_nd_file_sink_parent_class)->finalize (object);
}

static void
gst_nd_file_sink_class_init (GstNdFileSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_nd_file_sink_set_property;
  object_class->get_property = gst_nd_file_sink_get_property;
  object_class->finalize = gst_nd_file_sink_finalize;

  gst_nd_properties_install (object_class, rows, G_N_ELEMENTS (rows));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Volume recorder",
      "Sink/File",
      "Writes volumes and frames to a file (NIfTI-1, NIfTI-2, NRRD, MetaImage, "
      "NumPy, TIFF, raw), with their times and geometry",
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
gst_nd_file_sink_init (GstNdFileSink *self)
{
  nd_settings_init (rows, G_N_ELEMENTS (rows), &self->settings);
  /* Write as fast as volumes arrive, and keep none back. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
  gst_nd_flush_install (GST_BASE_SINK_PAD (self));
}
