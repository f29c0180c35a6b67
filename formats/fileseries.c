/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/fileseries.h"

#include "core/error.h"
#include "formats/filenames.h"
#include "formats/headertext.h"
#include "formats/micromanager.h"
#include "formats/reader.h"

#include <math.h>
#include <string.h>

#define METADATA "metadata.txt"

/* Origins that differ by less than this part of a pixel are the same. */
#define SAME_PLACE 1e-4

typedef struct
{
  NdSlices base;
  NdBudget *budget;
  NdFileNames names;
  NdReader *reader; /* of the file @open, or NULL */
  guint32 open;
  NdRecording file; /* how all files must be */
  guint8 *part;     /* samples of a file, if it has a channel of several */
  gsize part_size;
  gchar *reason;
} FileSeries;

static void
free_series (NdSlices *slices)
{
  FileSeries *series = (FileSeries *) slices;

  g_clear_pointer (&series->reader, nd_reader_close);
  nd_file_names_clear (&series->names);
  nd_budget_free (series->budget, series->part, series->part_size);
  g_free (series->reason);
  g_free (series);
}

static gchar *
path_of (const FileSeries *series, guint32 file)
{
  return g_build_filename (series->names.folder,
      g_array_index (series->names.files, NdFileName, file).name, NULL);
}

static gboolean
is_equal (const NdRecording *a, const NdRecording *b)
{
  return a->type == b->type && a->responses == b->responses
      && a->volumes == b->volumes
      && memcmp (&a->shape, &b->shape, sizeof (a->shape)) == 0;
}

/* Opens @file, unless it is open. Each counts only while it is open. */
static gboolean
open_file (FileSeries *series, guint32 file, GError **error)
{
  g_autofree gchar *path = NULL;

  if (series->reader && series->open == file)
    return TRUE;
  path = path_of (series, file);
  g_clear_pointer (&series->reader, nd_reader_close);
  if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is a folder: a series has files", path);
    return FALSE;
  }
  series->open = file;
  series->reader = nd_reader_open_beside (path,
      MAX (nd_budget_left (series->budget), 1), error);
  if (!series->reader)
    return FALSE;
  if (series->file.volumes == 0)
    series->file = *nd_reader_recording (series->reader);
  if (is_equal (&series->file, nd_reader_recording (series->reader)))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" has another size or type than the first file of its series, "
      "\"%s\": put files of one size into a folder of their own, or name them "
      "by a pattern like img_%%04d.tif",
      path, g_array_index (series->names.files, NdFileName, 0).name);
  g_clear_pointer (&series->reader, nd_reader_close);
  return FALSE;
}

static gboolean
read_file (FileSeries *series, guint32 file, guint64 volume, guint8 *samples,
    GError **error)
{
  if (series->reader && series->open == file
      && !nd_reader_seekable (series->reader) && volume < series->reader->next)
    g_clear_pointer (&series->reader, nd_reader_close);
  return open_file (series, file, error)
      && nd_reader_seek (series->reader, volume, error)
      && nd_reader_read (series->reader, samples, error);
}

/* Reads one channel into every pixel of @samples. */
static gboolean
read_channel (FileSeries *series, guint64 plane, guint64 channel,
    guint64 volume, guint8 *samples, GError **error)
{
  const guint64 channels = series->names.channels;
  const guint32 file =
      g_array_index (series->names.planes, guint32, plane * channels + channel);
  const gsize size = nd_recording_volume_size (&series->file);
  const gsize pixel =
      series->file.shape.components * nd_sample_size (series->file.type);
  guint8 *part = channels == 1 ? samples : series->part;

  if (file == ND_FILE_MISSING)
    memset (part, 0, size);
  else if (!read_file (series, file, volume, part, error))
    return FALSE;
  for (gsize i = 0; i < size / pixel && channels > 1; i++)
    memcpy (samples + (i * channels + channel) * pixel, part + i * pixel,
        pixel);
  return TRUE;
}

/* Reads volume @volume of the files of @plane. */
static gboolean
read_plane (FileSeries *series, guint64 plane, guint64 volume, guint8 *samples,
    const gchar **reason)
{
  const guint64 channels = series->names.channels;
  g_autoptr (GError) error = NULL;

  if (channels > 1
      && !nd_budget_reuse (series->budget, &series->part, &series->part_size,
          nd_recording_volume_size (&series->file))) {
    *reason = "there is no memory for a file";
    return FALSE;
  }
  for (guint64 c = 0; c < channels; c++) {
    if (read_channel (series, plane, c, volume, samples, &error))
      continue;
    g_free (series->reason);
    series->reason = g_strdup (error->message);
    *reason = series->reason;
    return FALSE;
  }
  return TRUE;
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  return read_plane ((FileSeries *) slices, slice, 0, samples, reason);
}

static gboolean
read_volume (NdSlices *slices, guint64 volume, guint8 *samples,
    const gchar **reason)
{
  FileSeries *series = (FileSeries *) slices;
  const guint64 each = series->file.volumes;

  return read_plane (series, volume / each, volume % each, samples, reason);
}

/* Header */

/* The file of Micro-Manager, if it is there and not too large. */
static void
read_metadata (NdMicroManager *found, const gchar *path)
{
  g_autofree gchar *folder = g_file_test (path, G_FILE_TEST_IS_DIR)
      ? g_strdup (path)
      : g_path_get_dirname (path);
  g_autofree gchar *name = g_build_filename (folder, METADATA, NULL);
  g_autoptr (NdInput) input = nd_input_open (name, FALSE, NULL);
  const guint64 size = input ? nd_input_size (input) : 0;
  gchar *text;

  if (size == 0 || size > ND_TEXT_MAX
      || !(text = nd_budget_alloc (found->budget, size)))
    return;
  if (nd_input_read (input, text, size) == (gssize) size)
    nd_micro_manager_parse (found, text, size);
  nd_budget_free (found->budget, text, size);
}

static void
cut_off (FileSeries *series, NdHeader *header, guint64 volumes,
    const gchar *reason)
{
  nd_header_warn (header,
      "%s. The %" G_GUINT64_FORMAT " volumes or slices before it are read",
      reason, volumes);
  series->names.volumes = volumes;
}

/* Opens each file, so that it is known to be one of the series. */
static gboolean
check_files (FileSeries *series, NdHeader *header, GError **error)
{
  NdFileNames *names = &series->names;
  const guint64 each = names->channels * names->slices;

  for (guint64 i = 0; i < names->volumes * each; i++) {
    const guint32 file = g_array_index (names->planes, guint32, i);
    g_autoptr (GError) reason = NULL;

    if (file == ND_FILE_MISSING || open_file (series, file, &reason))
      continue;
    if (!header->keep || i < each
        || g_error_matches (reason, ND_ERROR, ND_ERROR_MEMORY)) {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
    cut_off (series, header, i / each, reason->message);
    break;
  }
  return TRUE;
}

/* The place of the last slice tells the distance of slices and their direction,
 * if files have places. */
static gboolean
set_distance (FileSeries *series, NdGeometry *geometry, guint64 places,
    GError **error)
{
  const guint64 last = (places - 1) * series->names.channels;
  const guint32 file = g_array_index (series->names.planes, guint32, last);
  const NdGeometry *other;
  gdouble step[3], length = 0;

  if (!geometry->known || places < 2 || file == ND_FILE_MISSING)
    return TRUE;
  if (!open_file (series, file, error))
    return FALSE;
  other = &nd_reader_recording (series->reader)->geometry;
  for (guint a = 0; a < 3; a++) {
    step[a] = (other->origin[a] - geometry->origin[a]) / (places - 1);
    length += step[a] * step[a];
  }
  length = sqrt (length);
  if (!other->known || !(length > SAME_PLACE * geometry->spacing[0]))
    return TRUE;
  geometry->spacing[2] = length;
  for (guint a = 0; a < 3; a++)
    geometry->directions[3 * a + 2] = step[a] / length;
  return TRUE;
}

static void
take_fields (NdHeader *header, const NdMetadata *metadata)
{
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    nd_header_add_field (header, field->key, field->value);
  }
}

/* Takes over what the first file says, which is open. */
static gboolean
describe (FileSeries *series, NdHeader *header, GError **error)
{
  const NdFileNames *names = &series->names;
  NdReader *first = series->reader;
  NdRecording *recording = &header->recording;
  const gboolean flat = series->file.shape.size[2] == 1
      && series->file.volumes == 1 && series->file.responses == 1;

  header->format = first->header.format;
  *recording = series->file;
  header->stored.type = nd_stored_of (recording->type);
  recording->shape.components *= names->channels;
  take_fields (header, nd_reader_metadata (first));
  for (const gchar *const *text = nd_reader_warnings (first); *text; text++)
    nd_header_warn (header, "%s", *text);
  if (flat) {
    series->base.read = read_slice;
    header->z_or_time = !names->named;
    recording->shape.size[2] = names->named ? names->slices : names->volumes;
    recording->volumes = names->named ? names->volumes : 1;
  } else if (names->slices > 1 || recording->responses > 1) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has files of volumes or responses, and their names count "
        "slices: only files of one slice are joined to volumes",
        names->folder);
    return FALSE;
  } else {
    series->base.read_volume = read_volume;
    recording->volumes *= names->volumes;
  }
  return nd_header_settle (header, names->folder, error)
      && (!flat
          || set_distance (series, &recording->geometry,
              recording->shape.size[2], error));
}

static gboolean
open_series (FileSeries *series, NdHeader *header, const gchar *path,
    GError **error)
{
  g_auto (NdMicroManager) found = { .budget = &header->budget };
  guint32 first = 0;

  read_metadata (&found, path);
  if (!nd_file_names_find (&series->names, header, path,
          (const gchar *const *) found.channels, error))
    return FALSE;
  while (g_array_index (series->names.planes, guint32, first)
      == ND_FILE_MISSING)
    first++;
  if (!open_file (series, g_array_index (series->names.planes, guint32, first),
          error)
      || !check_files (series, header, error)
      || !open_file (series,
          g_array_index (series->names.planes, guint32, first), error)
      || !describe (series, header, error))
    return FALSE;
  nd_micro_manager_use (&found, header);
  return TRUE;
}

gboolean
nd_file_series_open (NdHeader *header, const gchar *path, GError **error)
{
  FileSeries *series = g_new0 (FileSeries, 1);

  nd_header_init (header, "series");
  series->base.free = free_series;
  series->budget = &header->budget;
  header->slices = &series->base;
  return open_series (series, header, path, error);
}
