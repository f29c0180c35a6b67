/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ndfilesrc
 * @title: ndfilesrc
 *
 * Reads recorded volumes from a file, one buffer a volume. Only the volume
 * that is being read is in memory, however long the recording is.
 *
 * NIfTI (also compressed as a whole), NRRD and MetaImage are known by their
 * content; the name of the file does not count. A header may name other files
 * with the samples, in its own folder. uint8, int16, uint16 and float32 come as
 * they are, int8 as int16, wider types and what NIfTI scales as float32; where
 * that rounds samples, or anything else is not as the file has it, a warning
 * says so. Anything else is read as raw samples in the byte order of the
 * machine, innermost axis first, with the size and type that the properties
 * #GstNdFileSrc:volume-size, #GstNdFileSrc:components and #GstNdFileSrc:type
 * say. docs/formats.md has the details of each format.
 *
 * Times of the file become timestamps, irregular ones too, counted from the
 * first volume that is read; otherwise volume n has the timestamp
 * n / framerate. Where neither the file nor #GstNdFileSrc:framerate says a
 * rate, or times are irregular, the caps say 0/1; volumes without times are one
 * second apart.
 * Spacing, origin and directions travel in the caps, key/values of the
 * recording and of its volumes in an event, so that ndfilesink writes them
 * again.
 *
 * #GstNdFileSrc:start, #GstNdFileSrc:stop and #GstNdFileSrc:step choose
 * volumes.
 *
 * Uncompressed files can be seeked, in time and in volumes
 * (#GST_FORMAT_DEFAULT); the volume that is on at the asked time comes first.
 * Compressed files can only be read from the beginning, and say so to the
 * seeking query. Duration and position are answered in both formats. Only
 * positive rates are played.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.nii.gz !
 *     ndconv4dtemporal filter="gaussian,sigma=1" !
 *     ndfilesink location=smooth.nii.gz
 * ]| Filters a recording from file to file.
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.raw volume-size=128:128:64
 *     type=int16 framerate=20/1 ! progressreport !
 *     ndfilesink location=heart.nii
 * ]| Gives raw samples a NIfTI header, and shows progress.
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.seq.nrrd start=100 stop=200 !
 *     ndfilesink location=part.igs.mha
 * ]| A part of a sequence of 3D Slicer, for PLUS.
 */

#include "gstndfilesrc.h"

#include "engine/nderror.h"
#include "formats/ndrecording.h"
#include "gstndcaps.h"
#include "gstndelements.h"
#include "gstnderror.h"
#include "gstndmetadata.h"
#include "gstndpart.h"
#include "gstndsampletype.h"

GST_DEBUG_CATEGORY_STATIC (nd_file_src_debug);
#define GST_CAT_DEFAULT nd_file_src_debug

#define DEFAULT_COMPONENTS 1
#define DEFAULT_TYPE ND_UINT8
#define MAX_COMPONENTS 65535
#define DEFAULT_START 0
#define DEFAULT_STOP -1
#define DEFAULT_STEP 1

enum
{
  PROP_0,
  PROP_LOCATION,
  PROP_VOLUME_SIZE,
  PROP_COMPONENTS,
  PROP_TYPE,
  PROP_FRAMERATE,
  PROP_START,
  PROP_STOP,
  PROP_STEP
};

struct _GstNdFileSrc
{
  GstPushSrc parent;

  /* Properties, under the object lock. */
  gchar *location;
  gchar *volume_size;
  guint components;
  NdSampleType type;
  gint rate_n, rate_d;
  gint64 start, stop, step;

  /* What is read of the file, and its next volume, under the object lock. No
   * volumes: not started. */
  GstNdPart part;
  guint64 next;
  gboolean key_unit;            /* of the seek that is being done */
  NdMetadata *metadata;         /* to be sent before the first volume */
  gsize size;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_ND_TENSORS_CAPS));

G_DEFINE_TYPE_WITH_CODE (GstNdFileSrc, gst_nd_file_src, GST_TYPE_PUSH_SRC,
    GST_DEBUG_CATEGORY_INIT (nd_file_src_debug, "ndfilesrc", 0,
        "source of recorded volumes"));
GST_ELEMENT_REGISTER_DEFINE (ndfilesrc, "ndfilesrc", GST_RANK_NONE,
    GST_TYPE_ND_FILE_SRC);

static gboolean
get_hint (GstNdFileSrc * self, NdRecording * hint, GError ** error)
{
  if (nd_recording_init_raw (hint, self->volume_size, self->components,
          self->type))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Property 'volume-size' "
      "reads \"%s\": it must be X:Y:Z (or X:Y, or X:Y:Z:K with K responses), "
      "each 1 or more", self->volume_size);
  return FALSE;
}

/* GLib ends the process where memory cannot be had: ask first. */
static gboolean
check_memory (GstNdFileSrc * self, GError ** error)
{
  gpointer memory = g_try_malloc (self->size);

  if (!memory)
    g_set_error (error, ND_ERROR, ND_ERROR_NO_SPACE, "No memory for a volume "
        "of %" G_GSIZE_FORMAT " bytes of \"%s\"", self->size, self->location);
  g_free (memory);
  return memory != NULL;
}

static gboolean
open_part (GstNdFileSrc * self, GError ** error)
{
  NdReader *reader;
  NdRecording hint;

  if (!self->location || !*self->location) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND, "Property 'location' is "
        "not set: it must name the file to read");
    return FALSE;
  }
  if (self->volume_size && !get_hint (self, &hint, error))
    return FALSE;
  reader = nd_reader_open (self->location, self->volume_size ? &hint : NULL,
      error);
  if (g_error_matches (*error, ND_ERROR, ND_ERROR_SETTINGS)
      && !self->volume_size) {
    g_clear_error (error);
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" has no header "
        "of NIfTI, NRRD or MetaImage: to read it as raw samples, set the "
        "properties 'volume-size' (X:Y:Z) and 'type'", self->location);
  }
  if (!reader || !gst_nd_part_init (&self->part, reader, self->location,
          self->start, self->stop, self->step, self->rate_n, self->rate_d,
          error))
    return FALSE;
  self->size = gst_nd_volume_info_size (&self->part.info);
  self->next = 0;
  self->metadata = gst_nd_part_metadata (&self->part);
  return check_memory (self, error);
}

static gboolean
start (GstNdFileSrc * self)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  ok = open_part (self, &error);
  GST_OBJECT_UNLOCK (self);
  if (!ok) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  for (const gchar * const *warning = nd_reader_warnings (self->part.reader);
      *warning; warning++)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s.", *warning), (NULL));
  GST_DEBUG_OBJECT (self, "%" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes", self->part.info.volumes, self->size);
  return TRUE;
}

static void
stop (GstNdFileSrc * self)
{
  GST_OBJECT_LOCK (self);
  gst_nd_part_clear (&self->part);
  g_clear_pointer (&self->metadata, nd_metadata_unref);
  GST_OBJECT_UNLOCK (self);
}

/* The file is opened here and not in GstBaseSrc::start, where the base class
 * would post a second error. */
static GstStateChangeReturn
gst_nd_file_src_change_state (GstElement * element, GstStateChange transition)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (element);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED || start (self))
    ret = GST_ELEMENT_CLASS (gst_nd_file_src_parent_class)->change_state
        (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    stop (self);
  return ret;
}

static GstCaps *
gst_nd_file_src_get_caps (GstBaseSrc * src, GstCaps * filter)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  GstCaps *caps = NULL;

  GST_OBJECT_LOCK (self);
  if (self->part.info.volumes > 0)
    caps = gst_nd_volume_info_to_caps (&self->part.info);
  GST_OBJECT_UNLOCK (self);
  if (!caps)
    caps = gst_pad_get_pad_template_caps (GST_BASE_SRC_PAD (src));
  if (filter) {
    GstCaps *all = caps;

    caps = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
  }
  return caps;
}

/* The pool of the peer or one of our own: fresh memory for each volume would
 * cost a page fault every 4 KiB. Its sizes end at 4 GiB; larger volumes are
 * allocated one by one. */
static gboolean
gst_nd_file_src_decide_allocation (GstBaseSrc * src, GstQuery * query)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  g_autoptr (GstBufferPool) pool = NULL;
  g_autoptr (GstAllocator) allocator = NULL;
  GstAllocationParams params;
  guint min = 0, max = 0, size;
  GstStructure *config;
  GstCaps *caps;
  gboolean has_pool = gst_query_get_n_allocation_pools (query) > 0;

  if (self->size > G_MAXUINT) {
    while (gst_query_get_n_allocation_pools (query) > 0)
      gst_query_remove_nth_allocation_pool (query, 0);
    return TRUE;
  }
  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  else
    gst_allocation_params_init (&params);
  if (has_pool) {
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
    if (size != self->size)
      gst_clear_object (&pool);
  }
  if (!pool) {
    pool = gst_buffer_pool_new ();
    min = max = 0;
  }
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, self->size, min, max);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  if (!gst_buffer_pool_set_config (pool, config))
    return FALSE;
  if (has_pool)
    gst_query_set_nth_allocation_pool (query, 0, pool, self->size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, self->size, min, max);
  return TRUE;
}

static GstFlowReturn
new_buffer (GstNdFileSrc * self, GstBuffer ** buffer)
{
  g_autoptr (GstBufferPool) pool =
      gst_base_src_get_buffer_pool (GST_BASE_SRC (self));
  g_autoptr (GError) error = NULL;

  if (pool)
    return gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (!check_memory (self, &error)) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return GST_FLOW_FLUSHING;
  }
  *buffer = gst_buffer_new_allocate (NULL, self->size, NULL);
  return GST_FLOW_OK;
}

/* After an error of our own the stream ends with FLUSHING: for ERROR the base
 * class would post a second error, and send an EOS that makes a sink take what
 * it has for the whole. */
static GstFlowReturn
gst_nd_file_src_create (GstPushSrc * src, GstBuffer ** out)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  const guint64 n = self->next;
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GError) error = NULL;
  GstMapInfo map;
  GstFlowReturn ret;
  gboolean ok;

  if (n >= self->part.info.volumes)
    return GST_FLOW_EOS;
  if (self->metadata)
    gst_pad_push_event (GST_BASE_SRC_PAD (src), gst_nd_metadata_to_event
        (self->metadata, self->part.info.volumes));
  g_clear_pointer (&self->metadata, nd_metadata_unref);
  ret = new_buffer (self, &buffer);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("Memory for a volume of \"%s\" "
            "cannot be written.", self->location), (NULL));
    return GST_FLOW_FLUSHING;
  }
  ok = gst_nd_part_seek (&self->part, n, &error)
      && nd_reader_read (self->part.reader, map.data, &error);
  gst_buffer_unmap (buffer, &map);
  if (!ok) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return GST_FLOW_FLUSHING;
  }

  GST_BUFFER_PTS (buffer) = gst_nd_part_time (&self->part, n);
  GST_BUFFER_DURATION (buffer) =
      gst_nd_part_time (&self->part, n + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = n;
  GST_BUFFER_OFFSET_END (buffer) = n + 1;
  GST_OBJECT_LOCK (self);
  self->next++;
  GST_OBJECT_UNLOCK (self);
  *out = g_steal_pointer (&buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_nd_file_src_is_seekable (GstBaseSrc * src)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  gboolean seekable;

  GST_OBJECT_LOCK (self);
  seekable = self->part.reader && nd_reader_seekable (self->part.reader);
  GST_OBJECT_UNLOCK (self);
  return seekable;
}

static gboolean
gst_nd_file_src_do_seek (GstBaseSrc * src, GstSegment * segment)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  g_autoptr (GError) error = NULL;
  const guint64 volumes = self->part.info.volumes;
  const guint64 volume = MIN (gst_nd_part_volume_at (&self->part,
          segment->position), volumes);

  if (!gst_nd_part_seek (&self->part, MIN (volume, volumes - 1), &error)) {
    GST_WARNING_OBJECT (self, "%s", error->message);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->next = volume;
  GST_OBJECT_UNLOCK (self);
  if (self->key_unit)
    segment->start = segment->position = gst_nd_part_time (&self->part, volume);
  segment->time = segment->start;
  segment->duration = gst_nd_part_time (&self->part, self->part.info.volumes);
  return TRUE;
}

/* Backwards is refused before anything is flushed. Segments have no flag for
 * KEY_UNIT. */
static gboolean
gst_nd_file_src_event (GstBaseSrc * src, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK) {
    gdouble rate;
    GstSeekFlags flags;

    gst_event_parse_seek (event, &rate, NULL, &flags, NULL, NULL, NULL, NULL);
    if (rate <= 0) {
      GST_WARNING_OBJECT (src, "cannot play at rate %g, only forwards", rate);
      return FALSE;
    }
    GST_ND_FILE_SRC (src)->key_unit = (flags & GST_SEEK_FLAG_KEY_UNIT) != 0;
  }
  return GST_BASE_SRC_CLASS (gst_nd_file_src_parent_class)->event (src, event);
}

/* TIME and DEFAULT, that is volumes. */
static gboolean
convert (GstNdFileSrc * self, GstFormat from, gint64 value, GstFormat to,
    gint64 * result)
{
  if (value < 0 || self->part.info.volumes == 0)
    return FALSE;
  if (from == to)
    *result = value;
  else if (from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME)
    *result = gst_nd_part_time (&self->part, value);
  else if (from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT)
    *result = gst_nd_part_volume_at (&self->part, value);
  else
    return FALSE;
  return TRUE;
}

/* Duration and position: FALSE where the base class knows them, or nobody. */
static gboolean
answer (GstNdFileSrc * self, GstQuery * query)
{
  GstFormat format, to;
  gint64 value, result;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (!convert (self, GST_FORMAT_DEFAULT, self->part.info.volumes, format,
              &result))
        return FALSE;
      gst_query_set_duration (query, format, result);
      return TRUE;
    case GST_QUERY_POSITION:
      gst_query_parse_position (query, &format, NULL);
      if (self->part.info.volumes == 0 || format != GST_FORMAT_DEFAULT)
        return FALSE;
      gst_query_set_position (query, format, self->next);
      return TRUE;
    case GST_QUERY_CONVERT:
      gst_query_parse_convert (query, &format, &value, &to, NULL);
      if (!convert (self, format, value, to, &result))
        return FALSE;
      gst_query_set_convert (query, format, value, to, result);
      return TRUE;
    default:
      return FALSE;
  }
}

static gboolean
gst_nd_file_src_query (GstBaseSrc * src, GstQuery * query)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  gboolean answered, started;

  GST_OBJECT_LOCK (self);
  answered = answer (self, query);
  started = self->part.info.volumes > 0;
  GST_OBJECT_UNLOCK (self);
  /* The base class would guess a duration. */
  if (answered || (!started && GST_QUERY_TYPE (query) == GST_QUERY_DURATION))
    return answered;
  return GST_BASE_SRC_CLASS (gst_nd_file_src_parent_class)->query (src, query);
}

static void
gst_nd_file_src_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_free (self->location);
      self->location = g_value_dup_string (value);
      break;
    case PROP_VOLUME_SIZE:
      g_free (self->volume_size);
      self->volume_size = g_value_dup_string (value);
      break;
    case PROP_COMPONENTS:
      self->components = g_value_get_uint (value);
      break;
    case PROP_TYPE:
      self->type = g_value_get_enum (value);
      break;
    case PROP_FRAMERATE:
      self->rate_n = gst_value_get_fraction_numerator (value);
      self->rate_d = gst_value_get_fraction_denominator (value);
      break;
    case PROP_START:
      self->start = g_value_get_int64 (value);
      break;
    case PROP_STOP:
      self->stop = g_value_get_int64 (value);
      break;
    case PROP_STEP:
      self->step = g_value_get_int64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_src_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LOCATION:
      g_value_set_string (value, self->location);
      break;
    case PROP_VOLUME_SIZE:
      g_value_set_string (value, self->volume_size);
      break;
    case PROP_COMPONENTS:
      g_value_set_uint (value, self->components);
      break;
    case PROP_TYPE:
      g_value_set_enum (value, self->type);
      break;
    case PROP_FRAMERATE:
      gst_value_set_fraction (value, self->rate_n, self->rate_d);
      break;
    case PROP_START:
      g_value_set_int64 (value, self->start);
      break;
    case PROP_STOP:
      g_value_set_int64 (value, self->stop);
      break;
    case PROP_STEP:
      g_value_set_int64 (value, self->step);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_src_finalize (GObject * object)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  g_free (self->location);
  g_free (self->volume_size);
  G_OBJECT_CLASS (gst_nd_file_src_parent_class)->finalize (object);
}

static void
gst_nd_file_src_class_init (GstNdFileSrcClass * klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstPushSrcClass *push_class = GST_PUSH_SRC_CLASS (klass);

  object_class->set_property = gst_nd_file_src_set_property;
  object_class->get_property = gst_nd_file_src_get_property;
  object_class->finalize = gst_nd_file_src_finalize;

  g_object_class_install_property (object_class, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "Path of the file to read: NIfTI-1 or NIfTI-2 (also .nii.gz), NRRD, "
          "MetaImage (known by their content), or raw samples", NULL, flags));
  g_object_class_install_property (object_class, PROP_VOLUME_SIZE,
      g_param_spec_string ("volume-size", "Volume size",
          "For a raw file: samples of one volume along x, y and z, as X:Y:Z "
          "(X:Y for frames, X:Y:Z:K for the K responses of a bank). Not read "
          "where the file has a header", NULL, flags));
  g_object_class_install_property (object_class, PROP_COMPONENTS,
      g_param_spec_uint ("components", "Components",
          "For a raw file: components of a sample, interleaved: 1 scalar, "
          "2 complex (re, im), 3 RGB. Not read where the file has a header",
          1, MAX_COMPONENTS, DEFAULT_COMPONENTS, flags));
  g_object_class_install_property (object_class, PROP_TYPE,
      g_param_spec_enum ("type", "Type",
          "For a raw file: type of each component, in the byte order of the "
          "machine. Not read where the file has a header",
          GST_TYPE_ND_SAMPLE_TYPE, DEFAULT_TYPE, flags));
  g_object_class_install_property (object_class, PROP_FRAMERATE,
      gst_param_spec_fraction ("framerate", "Frame rate",
          "Volumes per second, for timestamps and caps, in place of what the "
          "file says; 0/1 = as the file says (where it says nothing, caps say "
          "0/1 and timestamps are 1 s apart)", 0, 1, G_MAXINT, 1, 0, 1, flags));

  g_object_class_install_property (object_class, PROP_START,
      g_param_spec_int64 ("start", "Start",
          "The first volume to read, counted from 0. It has the timestamp 0",
          0, G_MAXINT64, DEFAULT_START, flags));
  g_object_class_install_property (object_class, PROP_STOP,
      g_param_spec_int64 ("stop", "Stop",
          "The volume before which to stop, counted from 0; -1, and any behind "
          "the last = read to the end. To split a recording that is filtered "
          "in time, let parts overlap by the volumes of the filter less one",
          -1, G_MAXINT64, DEFAULT_STOP, flags));
  g_object_class_install_property (object_class, PROP_STEP,
      g_param_spec_int64 ("step", "Step",
          "Read every so many-th volume; the rate is so many times lower",
          1, G_MAXINT, DEFAULT_STEP, flags));

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Recorded volume source", "Source/File",
      "Reads recorded volumes (NIfTI-1, NIfTI-2, NRRD, MetaImage, raw) one at "
      "a time, with their times and geometry", "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndview "
      "mode=orthogonal ! videoconvert ! autovideosink");

  element_class->change_state = gst_nd_file_src_change_state;
  src_class->get_caps = gst_nd_file_src_get_caps;
  src_class->decide_allocation = gst_nd_file_src_decide_allocation;
  src_class->is_seekable = gst_nd_file_src_is_seekable;
  src_class->do_seek = gst_nd_file_src_do_seek;
  src_class->event = gst_nd_file_src_event;
  src_class->query = gst_nd_file_src_query;
  push_class->create = gst_nd_file_src_create;
}

static void
gst_nd_file_src_init (GstNdFileSrc * self)
{
  self->components = DEFAULT_COMPONENTS;
  self->type = DEFAULT_TYPE;
  self->rate_d = 1;
  self->start = DEFAULT_START;
  self->stop = DEFAULT_STOP;
  self->step = DEFAULT_STEP;
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
