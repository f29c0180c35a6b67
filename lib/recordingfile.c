/* Recordings in files, by the code that the elements read and write them with.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/fork.h"
#include "formats/recording.h"
#include "lib/private.h"

#include <string.h>

struct _NdRecordingReader
{
  NdReader *reader;
  gchar *path;
  NdRecording hint; /* of raw samples */
  gboolean has_hint;
  guint forks; /* nd_fork_count() of its process, with which children share
                   the place in the file */
  gsize max_memory;
  gboolean keep_truncated;
  guint64 next; /* volume */
};

struct _NdRecordingWriter
{
  NdWriter *writer;
  const NdRecordingReader *like; /* or NULL */
  guint forks;                   /* nd_fork_count() of its process */
  guint64 next;
};

static NdReader *
open_reader (const NdRecordingReader *self, GError **error)
{
  return nd_reader_open_within (self->path, self->has_hint ? &self->hint : NULL,
      self->max_memory,
      self->keep_truncated ? ND_TRUNCATED_KEEP : ND_TRUNCATED_REFUSE, error);
}

NdRecordingReader *
nd_recording_reader_new (const gchar *path, const NdArray *raw, gsize offset,
    gsize max_memory, gboolean keep_truncated, GError **error)
{
  g_autoptr (NdRecordingReader) self = g_new0 (NdRecordingReader, 1);

  self->forks = nd_fork_count ();
  if (raw) {
    NdVolumes volumes;

    if (!nd_volumes_init (&volumes, raw, "raw", FALSE, error))
      return NULL;
    self->has_hint = TRUE;
    self->hint = (NdRecording){ .type = volumes.type,
      .shape = volumes.shape,
      .responses = volumes.responses,
      .rate_d = 1,
      .offset = offset };
  }
  self->path = g_strdup (path);
  self->max_memory = max_memory;
  self->keep_truncated = keep_truncated;
  self->reader = open_reader (self, error);
  return self->reader ? g_steal_pointer (&self) : NULL;
}

void
nd_recording_reader_free (NdRecordingReader *self)
{
  /* To close the file would move its place for the parent. */
  if (!self || !nd_fork_check (self->forks, "", NULL))
    return;
  g_clear_pointer (&self->reader, nd_reader_close);
  g_free (self->path);
  g_free (self);
}

void
nd_recording_reader_init_array (const NdRecordingReader *self, NdArray *volumes)
{
  const NdRecording *recording = nd_reader_recording (self->reader);
  const NdVolumes v = { .type = recording->type,
    .shape = recording->shape,
    .responses = recording->responses,
    .volumes = recording->volumes };

  nd_volumes_to_array (&v, volumes);
}

const gchar *
nd_recording_reader_get_format (const NdRecordingReader *self)
{
  return nd_reader_format (self->reader);
}

const gchar *const *
nd_recording_reader_get_warnings (const NdRecordingReader *self)
{
  return nd_reader_warnings (self->reader);
}

gboolean
nd_recording_reader_is_seekable (const NdRecordingReader *self)
{
  return nd_reader_seekable (self->reader);
}

gboolean
nd_recording_reader_get_rate (const NdRecordingReader *self, gint *n, gint *d)
{
  const NdRecording *recording = nd_reader_recording (self->reader);

  *n = recording->rate_n;
  *d = recording->rate_d;
  return recording->rate_n > 0;
}

gboolean
nd_recording_reader_get_geometry (const NdRecordingReader *self,
    gdouble spacing[3], gdouble origin[3], gdouble directions[9])
{
  const NdGeometry *geometry = &nd_reader_recording (self->reader)->geometry;

  if (!geometry->known)
    return FALSE;
  if (spacing)
    memcpy (spacing, geometry->spacing, sizeof (geometry->spacing));
  if (origin)
    memcpy (origin, geometry->origin, sizeof (geometry->origin));
  if (directions)
    memcpy (directions, geometry->directions, sizeof (geometry->directions));
  return TRUE;
}

gboolean
nd_recording_reader_read (NdRecordingReader *self, gsize volume, gpointer data,
    GError **error)
{
  const guint64 volumes = nd_reader_recording (self->reader)->volumes;

  if (!nd_fork_check (self->forks, "The open recording", error))
    return FALSE;
  if (volume >= volumes) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Volume %" G_GSIZE_FORMAT
        " of \"%s\" cannot be read: it has %" G_GUINT64_FORMAT
        " volumes, counted from 0",
        volume, self->path, volumes);
    return FALSE;
  }
  /* A compressed file can be read forwards only. */
  if (volume < self->next && !nd_reader_seekable (self->reader)) {
    g_autoptr (NdReader) again = open_reader (self, error);

    if (!again)
      return FALSE;
    if (nd_reader_recording (again)->volumes != volumes
        || nd_recording_volume_size (nd_reader_recording (again))
            != nd_recording_volume_size (nd_reader_recording (self->reader))) {
      g_set_error (error, ND_ERROR, ND_ERROR_READ,
          "\"%s\" has changed since it was opened", self->path);
      return FALSE;
    }
    nd_reader_close (self->reader);
    self->reader = g_steal_pointer (&again);
    self->next = 0;
  }
  if (volume != self->next && !nd_reader_seek (self->reader, volume, error))
    return FALSE;
  /* After an error nothing is known of the place in the file. */
  self->next = G_MAXUINT64;
  if (!nd_reader_read (self->reader, data, error))
    return FALSE;
  self->next = volume + 1;
  return TRUE;
}

NdRecordingWriter *
nd_recording_writer_new (const gchar *path, const NdArray *volumes,
    const NdRecordingReader *like, gboolean compress, GError **error)
{
  g_autoptr (NdRecordingWriter) self = g_new0 (NdRecordingWriter, 1);
  NdRecording recording = { .rate_d = 1 };
  NdVolumes v;

  self->forks = nd_fork_count ();
  if (!nd_volumes_init (&v, volumes, "volumes", FALSE, error))
    return NULL;
  if (like)
    recording = *nd_reader_recording (like->reader);
  recording.type = v.type;
  recording.shape = v.shape;
  recording.responses = v.responses;
  recording.volumes = v.volumes;
  recording.offset = 0;
  self->like = like;
  self->writer = nd_writer_open (path, compress, error);
  if (!self->writer || !nd_writer_begin (self->writer, &recording, error))
    return NULL;
  /* The writer only takes a reference. */
  nd_writer_set_source (self->writer,
      like ? (NdMetadata *) nd_reader_metadata (like->reader) : NULL,
      v.volumes);
  return g_steal_pointer (&self);
}

void
nd_recording_writer_free (NdRecordingWriter *self)
{
  /* To close it would remove or rename the file of the parent. */
  if (!self || !nd_fork_check (self->forks, "", NULL))
    return;
  g_clear_pointer (&self->writer, nd_writer_close);
  g_free (self);
}

/* The time of the next volume, or -1: that of the same volume of `like`. */
static gint64
next_time (const NdRecordingWriter *self)
{
  const NdRecording *recording;

  if (!self->like)
    return -1;
  recording = nd_reader_recording (self->like->reader);
  if (self->next > recording->volumes
      || (recording->rate_n == 0
          && nd_reader_metadata (self->like->reader)->times->len == 0))
    return -1;
  return nd_reader_time (self->like->reader, self->next);
}

gboolean
nd_recording_writer_write (NdRecordingWriter *self, gconstpointer data,
    GError **error)
{
  if (!nd_fork_check (self->forks, "The recording that is written", error)
      || !nd_writer_write (self->writer, data, next_time (self), error))
    return FALSE;
  self->next++;
  return TRUE;
}

gboolean
nd_recording_writer_finish (NdRecordingWriter *self, GError **error)
{
  return nd_fork_check (self->forks, "The recording that is written", error)
      && nd_writer_finish (self->writer, error);
}

const gchar *
nd_recording_writer_get_warning (const NdRecordingWriter *self)
{
  return nd_writer_warning (self->writer);
}
