/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */

/**
 * SECTION:element-ndfilesrc
 * @title: ndfilesrc
 *
 * Reads recorded volumes from a file, one volume per buffer. Memory holds only
 * the volume that is read, however long the recording is.
 *
 * The content of the file identifies its format; its name does not matter. A
 * header may name other files with the samples, in its own folder. Samples keep
 * their type; only int64, uint64 and samples that NIfTI scales become float32.
 * If that rounds samples, or the element ignores a part of the file, it posts a
 * warning. Any other file is read as raw samples in the byte order of the
 * machine, innermost axis first, with the size and type in
 * #GstNdFileSrc:volume-size, #GstNdFileSrc:components and #GstNdFileSrc:type.
 * #GstNdFileSrc:location may also be a folder or a pattern of files.
 * docs/formats.md describes the formats.
 *
 * Times in the file, also irregular ones, become timestamps, counted from the
 * first volume that is read. Without times, volume n has the timestamp
 * n / framerate. If neither the file nor #GstNdFileSrc:framerate has a rate, or
 * the times are irregular, the framerate in the caps is 0/1; volumes without
 * times are then one second apart. The caps carry spacing, origin and
 * directions. An event carries the key/values of the recording and of its
 * volumes, so that ndfilesink can write them.
 *
 * #GstNdFileSrc:start, #GstNdFileSrc:stop and #GstNdFileSrc:step select
 * volumes.
 *
 * Uncompressed files are seekable in time and in volumes (#GST_FORMAT_DEFAULT).
 * A seek starts with the volume that is shown at the requested time. Compressed
 * files can only be read from the beginning, and are not seekable. With a
 * negative rate volumes come from last to first. Duration and position queries
 * work in both formats.
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
 * ]| Adds a NIfTI header to raw samples, and shows progress.
 * |[
 * gst-launch-1.0 ndfilesrc location=heart.seq.nrrd start=100 stop=200 !
 *     ndfilesink location=excerpt.igs.mha
 * ]| Converts an excerpt of a sequence of 3D Slicer for PLUS.
 *
 * Since: 0.1
 */

#include "core/error.h"
#include "gst/base/gstndcaps.h"
#include "gst/base/gstnderror.h"
#include "gst/base/gstndpool.h"
#include "gst/files/gstndfilesrcsettings.h"
#include "gst/gstndelements.h"

#include <gst/base/gstpushsrc.h>

#define GST_TYPE_ND_FILE_SRC (gst_nd_file_src_get_type ())
G_DECLARE_FINAL_TYPE (GstNdFileSrc, gst_nd_file_src, GST, ND_FILE_SRC,
    GstPushSrc)

GST_DEBUG_CATEGORY_STATIC (nd_file_src_debug);
#define GST_CAT_DEFAULT nd_file_src_debug

struct _GstNdFileSrc
{
  GstPushSrc parent;

  /* Protected by the object lock: the properties, the excerpt of the file that
   * is read, and its next volume. Before start() the excerpt has no volumes. */
  GstNdFileSrcSettings settings;
  GstNdExcerpt excerpt;
  guint64 next;     /* not below excerpt.info.volumes: the end */
  gboolean reverse; /* volumes come from last to first */
  gint unlocked;    /* create() must return; atomic */

  gboolean key_unit;    /* of the current seek */
  NdMetadata *metadata; /* sent before the first volume */
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
start (GstNdFileSrc *self)
{
  g_autoptr (GError) error = NULL;
  GstNdExcerpt excerpt = { NULL };
  GstNdFileSrcSettings settings = { NULL };
  gboolean ok;

  GST_OBJECT_LOCK (self);
  nd_settings_assign (gst_nd_file_src_rows, gst_nd_file_src_n_rows, &settings,
      &self->settings);
  GST_OBJECT_UNLOCK (self);
  ok = gst_nd_file_src_settings_open (&settings, &excerpt, &error);
  nd_settings_clear (gst_nd_file_src_rows, gst_nd_file_src_n_rows, &settings);
  GST_OBJECT_LOCK (self);
  self->excerpt = excerpt;
  self->size = ok ? gst_nd_volume_info_size (&excerpt.info) : 0;
  self->next = 0;
  self->reverse = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (!ok) {
    gst_nd_element_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  self->metadata = gst_nd_excerpt_metadata (&self->excerpt);
  for (const gchar *const *warning = nd_reader_warnings (self->excerpt.reader);
       *warning; warning++)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s", *warning), (NULL));
  GST_INFO_OBJECT (self,
      "opened \"%s\": %" G_GUINT64_FORMAT " volumes of %" G_GSIZE_FORMAT
      " bytes",
      self->settings.location, self->excerpt.info.volumes, self->size);
  return TRUE;
}

static void
stop (GstNdFileSrc *self)
{
  GST_OBJECT_LOCK (self);
  gst_nd_excerpt_clear (&self->excerpt);
  g_clear_pointer (&self->metadata, nd_metadata_unref);
  GST_OBJECT_UNLOCK (self);
}

/* Opens the file here rather than in GstBaseSrc::start: if that fails, the base
 * class posts a second error. */
static GstStateChangeReturn
gst_nd_file_src_change_state (GstElement *element, GstStateChange transition)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (element);
  GstStateChangeReturn ret = GST_STATE_CHANGE_FAILURE;

  if (transition != GST_STATE_CHANGE_READY_TO_PAUSED || start (self))
    ret = GST_ELEMENT_CLASS (gst_nd_file_src_parent_class)
              ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    stop (self);
  return ret;
}

static GstCaps *
gst_nd_file_src_get_caps (GstBaseSrc *src, GstCaps *filter)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  GstCaps *caps = NULL;

  GST_OBJECT_LOCK (self);
  if (self->excerpt.info.volumes > 0)
    caps = gst_nd_volume_info_to_caps (&self->excerpt.info);
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

static gboolean
gst_nd_file_src_decide_allocation (GstBaseSrc *src, GstQuery *query)
{
  return gst_nd_query_set_pool (query, GST_ND_FILE_SRC (src)->size);
}

static GstBuffer *
new_buffer (GstNdFileSrc *self, GError **error)
{
  g_autoptr (GstBufferPool) pool =
      gst_base_src_get_buffer_pool (GST_BASE_SRC (self));

  return gst_nd_excerpt_new_buffer (&self->excerpt, pool, error);
}

/* Interrupts create(), which may skip through a compressed file. */
static gboolean
gst_nd_file_src_unlock (GstBaseSrc *src)
{
  g_atomic_int_set (&GST_ND_FILE_SRC (src)->unlocked, TRUE);
  return TRUE;
}

static gboolean
gst_nd_file_src_unlock_stop (GstBaseSrc *src)
{
  g_atomic_int_set (&GST_ND_FILE_SRC (src)->unlocked, FALSE);
  return TRUE;
}

/* After an error the stream ends with FLUSHING: with ERROR the base class would
 * post a second error and send EOS, and a sink would finish an incomplete
 * file. */
static GstFlowReturn
gst_nd_file_src_create (GstPushSrc *src, GstBuffer **out)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  const guint64 n = self->next;
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GError) error = NULL;
  GstMapInfo map;
  gboolean ok;

  if (n >= self->excerpt.info.volumes)
    return GST_FLOW_EOS;
  if (!self->metadata
      || gst_nd_excerpt_push_metadata (&self->excerpt, GST_BASE_SRC_PAD (src),
          self->metadata, &error))
    buffer = new_buffer (self, &error);
  g_clear_pointer (&self->metadata, nd_metadata_unref);
  if (error)
    gst_nd_element_error (GST_ELEMENT (self), error);
  if (!buffer)
    return GST_FLOW_FLUSHING;
  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("A buffer for a volume of \"%s\" cannot be mapped for writing: the "
         "pool from downstream must have system memory",
            self->settings.location),
        (NULL));
    return GST_FLOW_FLUSHING;
  }
  ok = gst_nd_excerpt_seek (&self->excerpt, n, &self->unlocked, &error)
      && nd_reader_read (self->excerpt.reader, map.data, &error);
  gst_buffer_unmap (buffer, &map);
  if (!ok) {
    if (!g_error_matches (error, ND_ERROR, ND_ERROR_CANCELLED))
      gst_nd_element_error (GST_ELEMENT (self), error);
    return GST_FLOW_FLUSHING;
  }

  GST_BUFFER_PTS (buffer) = gst_nd_excerpt_time (&self->excerpt, n);
  GST_BUFFER_DURATION (buffer) =
      gst_nd_excerpt_time (&self->excerpt, n + 1) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = n;
  GST_BUFFER_OFFSET_END (buffer) = n + 1;
  GST_OBJECT_LOCK (self);
  /* Below 0 the number wraps to the largest, which also ends the stream. */
  self->next += self->reverse ? -1 : 1;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "read volume %" G_GUINT64_FORMAT ": %" GST_PTR_FORMAT,
      n, buffer);
  *out = g_steal_pointer (&buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_nd_file_src_is_seekable (GstBaseSrc *src)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  gboolean seekable;

  GST_OBJECT_LOCK (self);
  seekable = self->excerpt.reader && nd_reader_seekable (self->excerpt.reader);
  GST_OBJECT_UNLOCK (self);
  return seekable;
}

/* Runs backwards from the last volume before segment->stop. */
static guint64
seek_backwards (GstNdFileSrc *self, GstSegment *segment)
{
  const GstClockTime end =
      gst_nd_excerpt_time (&self->excerpt, self->excerpt.info.volumes);

  segment->stop = MIN (segment->stop, end);
  segment->position = segment->stop;
  return gst_nd_excerpt_volume_before (&self->excerpt, segment->stop);
}

static guint64
seek_forwards (GstNdFileSrc *self, GstSegment *segment)
{
  const guint64 volume =
      MIN (gst_nd_excerpt_volume_at (&self->excerpt, segment->position),
          self->excerpt.info.volumes);

  if (self->key_unit)
    segment->start = segment->position =
        gst_nd_excerpt_time (&self->excerpt, volume);
  return volume;
}

static gboolean
gst_nd_file_src_do_seek (GstBaseSrc *src, GstSegment *segment)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  g_autoptr (GError) error = NULL;
  const guint64 volumes = self->excerpt.info.volumes;
  const guint64 volume = segment->rate < 0 ? seek_backwards (self, segment)
                                           : seek_forwards (self, segment);

  /* create() skips through a file that is not seekable, because this may be a
   * change of the state. */
  if (nd_reader_seekable (self->excerpt.reader)
      && !gst_nd_excerpt_seek (&self->excerpt, MIN (volume, volumes - 1), NULL,
          &error)) {
    GST_WARNING_OBJECT (self, "seek failed: %s", error->message);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "starts at volume %" G_GUINT64_FORMAT ", rate %g",
      volume, segment->rate);
  GST_OBJECT_LOCK (self);
  self->next = volume;
  self->reverse = segment->rate < 0;
  GST_OBJECT_UNLOCK (self);
  segment->time = segment->start;
  segment->duration =
      gst_nd_excerpt_time (&self->excerpt, self->excerpt.info.volumes);
  return TRUE;
}

/* Remembers the flag KEY_UNIT of a seek, because segments do not have it. */
static void
remember_flags (GstNdFileSrc *self, GstEvent *event)
{
  GstSeekFlags flags;

  if (GST_EVENT_TYPE (event) != GST_EVENT_SEEK)
    return;
  gst_event_parse_seek (event, NULL, NULL, &flags, NULL, NULL, NULL, NULL);
  self->key_unit = (flags & GST_SEEK_FLAG_KEY_UNIT) != 0;
}

/* Events from downstream. */
static gboolean
gst_nd_file_src_event (GstBaseSrc *src, GstEvent *event)
{
  remember_flags (GST_ND_FILE_SRC (src), event);
  return GST_BASE_SRC_CLASS (gst_nd_file_src_parent_class)->event (src, event);
}

/* Events from the application. */
static gboolean
gst_nd_file_src_send_event (GstElement *element, GstEvent *event)
{
  remember_flags (GST_ND_FILE_SRC (element), event);
  return GST_ELEMENT_CLASS (gst_nd_file_src_parent_class)
      ->send_event (element, event);
}

/* Converts between TIME and DEFAULT, which counts volumes. */
static gboolean
convert (GstNdFileSrc *self, GstFormat from, gint64 value, GstFormat to,
    gint64 *result)
{
  if (value < 0 || self->excerpt.info.volumes == 0)
    return FALSE;
  if (from == to)
    *result = value;
  else if (from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME)
    *result = gst_nd_excerpt_time (&self->excerpt, value);
  else if (from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT)
    *result = gst_nd_excerpt_volume_at (&self->excerpt, value);
  else
    return FALSE;
  return TRUE;
}

/* FALSE if the base class must answer, or nobody can. */
static gboolean
answer (GstNdFileSrc *self, GstQuery *query)
{
  GstFormat format, to;
  gint64 value, result;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (!convert (self, GST_FORMAT_DEFAULT, self->excerpt.info.volumes,
              format, &result))
        return FALSE;
      gst_query_set_duration (query, format, result);
      return TRUE;
    case GST_QUERY_POSITION:
      gst_query_parse_position (query, &format, NULL);
      if (self->excerpt.info.volumes == 0 || format != GST_FORMAT_DEFAULT)
        return FALSE;
      gst_query_set_position (query, format, self->next + self->reverse);
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
gst_nd_file_src_query (GstBaseSrc *src, GstQuery *query)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (src);
  gboolean answered, started;

  GST_OBJECT_LOCK (self);
  answered = answer (self, query);
  started = self->excerpt.info.volumes > 0;
  GST_OBJECT_UNLOCK (self);
  /* Before start() the base class would report a wrong duration. */
  if (answered || (!started && GST_QUERY_TYPE (query) == GST_QUERY_DURATION))
    return answered;
  return GST_BASE_SRC_CLASS (gst_nd_file_src_parent_class)->query (src, query);
}

static void
gst_nd_file_src_set_property (GObject *object, guint id, const GValue *value,
    GParamSpec *pspec)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_set (gst_nd_file_src_rows, gst_nd_file_src_n_rows,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_src_get_property (GObject *object, guint id, GValue *value,
    GParamSpec *pspec)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  GST_OBJECT_LOCK (self);
  if (!gst_nd_properties_get (gst_nd_file_src_rows, gst_nd_file_src_n_rows,
          &self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nd_file_src_finalize (GObject *object)
{
  GstNdFileSrc *self = GST_ND_FILE_SRC (object);

  nd_settings_clear (gst_nd_file_src_rows, gst_nd_file_src_n_rows,
      &self->settings);
  G_OBJECT_CLASS (gst_nd_file_src_parent_class)->finalize (object);
}

static void
gst_nd_file_src_class_init (GstNdFileSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);
  GstPushSrcClass *push_class = GST_PUSH_SRC_CLASS (klass);

  object_class->set_property = gst_nd_file_src_set_property;
  object_class->get_property = gst_nd_file_src_get_property;
  object_class->finalize = gst_nd_file_src_finalize;

  gst_nd_properties_install (object_class, gst_nd_file_src_rows,
      gst_nd_file_src_n_rows);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Recorded volume source", "Source/File",
      "Reads recorded volumes (" ND_RECORDING_FORMATS
      ", raw) one at a time, with "
      "their times and geometry",
      "The ndconv developers");
  gst_element_class_add_static_metadata (element_class, "example",
      "gst-launch-1.0 ndfilesrc location=heart.nii.gz ! ndview "
      "mode=orthogonal ! videoconvert ! autovideosink");

  element_class->change_state = gst_nd_file_src_change_state;
  element_class->send_event = gst_nd_file_src_send_event;
  src_class->get_caps = gst_nd_file_src_get_caps;
  src_class->decide_allocation = gst_nd_file_src_decide_allocation;
  src_class->is_seekable = gst_nd_file_src_is_seekable;
  src_class->do_seek = gst_nd_file_src_do_seek;
  src_class->event = gst_nd_file_src_event;
  src_class->unlock = gst_nd_file_src_unlock;
  src_class->unlock_stop = gst_nd_file_src_unlock_stop;
  src_class->query = gst_nd_file_src_query;
  push_class->create = gst_nd_file_src_create;
}

static void
gst_nd_file_src_init (GstNdFileSrc *self)
{
  nd_settings_init (gst_nd_file_src_rows, gst_nd_file_src_n_rows,
      &self->settings);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
