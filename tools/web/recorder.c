/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/recorder.h"

#include "core/error.h"
#include "core/printable.h"

#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>

/* Volumes that wait for the disk. */
#define MAX_WAITING_BYTES (256u << 20)
#define MAX_END_SECONDS 20

struct _WebRecorder
{
  GstPad *pad;
  gulong probe;
  GstElement *pipeline;
  GstAppSrc *source;
  gchar *path;
  guint64 limit;
  gboolean stopping, complete; /* of the main context */

  GMutex lock;
  guint64 volumes, missing, bytes;
  gboolean full;
};

/* In the thread of the stream. */
static GstPadProbeReturn
web_recorder_take (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  WebRecorder *self = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const gsize size = gst_buffer_get_size (buffer);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autoptr (GstSample) sample = NULL;

  g_mutex_lock (&self->lock);
  if (self->bytes + size > self->limit)
    self->full = TRUE;
  if (self->full || !caps) {
    g_mutex_unlock (&self->lock);
    return GST_PAD_PROBE_OK;
  }
  if (gst_app_src_get_current_level_bytes (self->source) > MAX_WAITING_BYTES) {
    self->missing++;
    g_mutex_unlock (&self->lock);
    return GST_PAD_PROBE_OK;
  }
  self->volumes++;
  self->bytes += size;
  g_mutex_unlock (&self->lock);
  /* Memory of a device is read by mapping it. */
  caps = gst_caps_make_writable (caps);
  gst_caps_set_features (caps, 0, NULL);
  sample = gst_sample_new (buffer, caps, NULL, NULL);
  gst_app_src_push_sample (self->source, sample);
  return GST_PAD_PROBE_OK;
}

gboolean
web_recorder_has_ended (WebRecorder *self, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);
  g_autoptr (GstMessage) message = NULL;
  gboolean full;

  g_mutex_lock (&self->lock);
  full = self->full;
  g_mutex_unlock (&self->lock);
  if (full)
    web_recorder_stop (self);
  if (self->complete)
    return TRUE;
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (!message)
    return FALSE;
  self->complete = TRUE;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, error, NULL);
  return TRUE;
}

/* Also a link that leads to nothing, which somebody may have planted. */
static gboolean
web_recorder_is_taken (const gchar *path)
{
  return g_file_test (path, G_FILE_TEST_EXISTS)
      || g_file_test (path, G_FILE_TEST_IS_SYMLINK);
}

static gchar *
make_path (const gchar *folder)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree gchar *time = g_date_time_format (now, "%Y%m%d-%H%M%S");

  for (guint i = 0;; i++) {
    g_autofree gchar *name = i
        ? g_strdup_printf ("ndconv-%s-%u.seq.nrrd", time, i)
        : g_strdup_printf ("ndconv-%s.seq.nrrd", time);
    g_autofree gchar *part = g_strconcat (name, ".part", NULL);
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_autofree gchar *part_path = g_build_filename (folder, part, NULL);

    if (!web_recorder_is_taken (path) && !web_recorder_is_taken (part_path))
      return g_steal_pointer (&path);
  }
}

/* The bytes that a recording may have now, or 0: the recordings of earlier runs
 * count, too, and those that were cut off. */
static guint64
find_room (const gchar *folder, const WebRecorderLimits *limits, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, error);
  const gchar *name;
  guint64 bytes = 0;
  guint files = 0;

  if (!dir)
    return 0;
  while ((name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    GStatBuf found;

    if (!g_str_has_prefix (name, "ndconv-") || !strstr (name, ".seq.nrrd")
        || g_lstat (path, &found) != 0)
      continue;
    bytes += found.st_size;
    files++;
  }
  if (files >= limits->files)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The folder has %u recordings, and --record-files is %u: remove some",
        files, limits->files);
  else if (bytes >= limits->total)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The recordings in the folder have reached --record-total: remove "
        "some");
  else
    return MIN (limits->bytes, limits->total - bytes);
  return 0;
}

WebRecorder *
web_recorder_new (GstPad *pad, const gchar *folder,
    const WebRecorderLimits *limits, GError **error)
{
  const guint64 limit = find_room (folder, limits, error);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  GstElement *pipeline;
  WebRecorder *self;

  if (limit == 0)
    return NULL;
  pipeline = gst_parse_launch (
      "appsrc name=in format=time block=false ! ndfilesink name=out", error);
  if (!pipeline)
    return NULL;
  self = g_new0 (WebRecorder, 1);
  self->pipeline = gst_object_ref_sink (pipeline);
  self->source = GST_APP_SRC (gst_bin_get_by_name (GST_BIN (pipeline), "in"));
  self->path = make_path (folder);
  self->limit = limit;
  self->pad = gst_object_ref (pad);
  g_mutex_init (&self->lock);
  gst_app_src_set_max_bytes (self->source, 0);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (sink, "location", self->path, "sync", FALSE, "async", FALSE,
      NULL);
  bus = gst_element_get_bus (pipeline);
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE) {
    g_autoptr (GstMessage) message =
        gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

    if (message)
      gst_message_parse_error (message, error, NULL);
    else
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "%s cannot be written",
          self->path);
    self->complete = TRUE;
    web_recorder_free (self);
    return NULL;
  }
  self->probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER,
      web_recorder_take, self, NULL);
  return self;
}

void
web_recorder_stop (WebRecorder *self)
{
  if (self->stopping)
    return;
  self->stopping = TRUE;
  if (self->probe)
    gst_pad_remove_probe (self->pad, self->probe);
  gst_app_src_end_of_stream (self->source);
}

static void
report_incomplete (const gchar *path)
{
  g_autofree gchar *shown = nd_printable (path);

  g_printerr ("%s is not complete\n", shown);
}

void
web_recorder_free (WebRecorder *self)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (self->pipeline);

  web_recorder_stop (self);
  if (!self->complete) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus,
        MAX_END_SECONDS * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

    if (!message || GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      report_incomplete (self->path);
  }
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->source);
  gst_object_unref (self->pipeline);
  gst_object_unref (self->pad);
  g_mutex_clear (&self->lock);
  g_free (self->path);
  g_free (self);
}

const gchar *
web_recorder_path (WebRecorder *self)
{
  return self->path;
}

static guint64
read_count (WebRecorder *self, guint64 *count)
{
  guint64 value;

  g_mutex_lock (&self->lock);
  value = *count;
  g_mutex_unlock (&self->lock);
  return value;
}

guint64
web_recorder_volumes (WebRecorder *self)
{
  return read_count (self, &self->volumes);
}

guint64
web_recorder_missing (WebRecorder *self)
{
  return read_count (self, &self->missing);
}
