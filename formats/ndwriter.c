/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrecording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/nderror.h"
#include "formats/ndmetaimage.h"
#include "formats/ndnifti.h"
#include "formats/ndnrrd.h"
#include "formats/ndoutput.h"

/* Room in the header for the time of one volume at least, in bytes, and for so
 * many volumes where their number is not known before. */
#define TIME_BYTES 52
#define VOLUMES_EXPECTED 1024
#define ROOM_SLACK 256

#define PADDED_LINE 80
#define NRRD_COMMENT "NRRD0004\n# Complete NRRD file format specification at:"

typedef enum
{
  FORMAT_RAW,
  FORMAT_NIFTI,
  FORMAT_NRRD,
  FORMAT_METAIMAGE
} Format;

struct _NdWriter
{
  gchar *path, *part;
  /* Where the samples have a file of their own; NULL otherwise. */
  gchar *data_path, *data_part;
  Format format;
  NdPacking packing;
  gboolean list;                /* of a single volume too */
  gboolean plus;                /* names of PLUS in NRRD */
  NdOutput *output;             /* of the samples */

  NdRecording recording;
  gsize volume_size;            /* 0: not begun */
  guint64 volumes, expected;
  NdMetadata *source;           /* or NULL */
  guint64 source_next;          /* the volume of the source after the last */
  NdMetadata *metadata;         /* of what was written */
  gboolean times_known;
  gint64 last_time;
  gchar *warning;
  gboolean roomed;              /* the first volume is about to come */
  gboolean finishing;           /* every volume has come */
  gboolean finished;
  gboolean failed;              /* the last volume may be there in part */
};

static const struct
{
  const gchar *ending;
  Format format;
  NdPacking packing;
  const gchar *data[2];         /* endings of the samples, plain and packed */
} formats[] = {
  {".nii.gz", FORMAT_NIFTI, ND_PACKING_GZIP, {NULL, NULL}},
  {".nii", FORMAT_NIFTI, ND_PACKING_NONE, {NULL, NULL}},
  {".nrrd", FORMAT_NRRD, ND_PACKING_NONE, {NULL, NULL}},
  {".nhdr", FORMAT_NRRD, ND_PACKING_NONE, {".raw", ".raw.gz"}},
  {".mha", FORMAT_METAIMAGE, ND_PACKING_NONE, {NULL, NULL}},
  {".mhd", FORMAT_METAIMAGE, ND_PACKING_NONE, {".raw", ".zraw"}},
};

#define ENDINGS ".nii, .nii.gz, .nrrd, .nhdr, .mha, .mhd, .raw"

static const gchar *const unsupported_endings[] = {
  ".gz", ".hdr", ".img", ".npy", ".dcm", ".tif", ".tiff", ".png", ".zraw"
};

static gboolean
has_ending (const gchar * path, const gchar * ending)
{
  gsize length = strlen (path), n = strlen (ending);

  return length > n && g_ascii_strcasecmp (path + length - n, ending) == 0;
}

static gboolean
choose_format (NdWriter * writer, gboolean compress, GError ** error)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (formats)
      && !has_ending (writer->path, formats[i].ending))
    i++;
  if (i < G_N_ELEMENTS (formats)) {
    const gchar *data = formats[i].data[compress];

    writer->format = formats[i].format;
    writer->packing = formats[i].packing;
    if (compress && writer->format == FORMAT_NRRD)
      writer->packing = ND_PACKING_GZIP;
    if (compress && writer->format == FORMAT_METAIMAGE)
      writer->packing = ND_PACKING_ZLIB;
    if (data) {
      g_autofree gchar *stem = g_strndup (writer->path, strlen (writer->path)
          - strlen (formats[i].ending));

      writer->data_path = g_strconcat (stem, data, NULL);
      writer->data_part = g_strconcat (writer->data_path, ".part", NULL);
    }
  }
  for (guint u = 0; i == G_N_ELEMENTS (formats)
      && u < G_N_ELEMENTS (unsupported_endings); u++) {
    if (has_ending (writer->path, unsupported_endings[u])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" cannot be "
          "written: the ending %s is none of " ENDINGS, writer->path,
          unsupported_endings[u]);
      return FALSE;
    }
  }
  if (compress && writer->packing == ND_PACKING_NONE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "\"%s\" cannot be "
        "compressed: of a format with this ending only .nii.gz, .nrrd, .nhdr, "
        ".mha and .mhd can", writer->path);
    return FALSE;
  }
  writer->list = has_ending (writer->path, ".seq.nrrd")
      || has_ending (writer->path, ".seq.nhdr");
  writer->plus = has_ending (writer->path, ".igs.nrrd")
      || has_ending (writer->path, ".igs.nhdr");
  return TRUE;
}

/* Whether the header at @path is there and names the file @data, in a field
 * ("=" or ":") or in a line of a list. */
static gboolean
names_data (const gchar * path, const gchar * data)
{
  g_autofree gchar *name = g_path_get_basename (data);
  g_autofree gchar *header = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &header, NULL, NULL))
    return FALSE;
  lines = g_strsplit (header, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    gchar *sign = strpbrk (lines[i], "=:");
    gchar *value = g_strstrip (sign ? sign + 1 : lines[i]);
    const gchar *folder = strrchr (value, '/');

    if (strcmp (folder ? folder + 1 : value, name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* It is replaced in the end: a device must not be, nor another's samples. */
static gboolean
check_replaced (NdWriter * writer, GError ** error)
{
  const gchar *const paths[] = { writer->path, writer->data_path };
  struct stat info;

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    if (!paths[i] || stat (paths[i], &info) != 0)
      continue;
    if (!S_ISREG (info.st_mode)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
          "written: it is a folder or a device, it must be a file", paths[i]);
      return FALSE;
    }
    if (i == 1 && !names_data (writer->path, writer->data_path)) {
      g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
          "written: its samples would replace \"%s\", which is not its own; "
          "choose another name", writer->path, paths[i]);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
set_open_error (const gchar * path, gint reason, GError ** error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  if (reason == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "opened for writing: there is no folder \"%s\"", path, folder);
  else if (reason == EBUSY)
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_WRITE, "\"%s\" cannot be "
        "opened for writing: another sink or program is writing it; choose "
        "another name", path);
  else
    g_set_error (error, ND_ERROR, reason == ENOSPC || reason == EDQUOT ?
        ND_ERROR_NO_SPACE : ND_ERROR_OPEN_WRITE, "\"%s\" cannot be opened for "
        "writing: %s", path, g_strerror (reason));
  return FALSE;
}

NdWriter *
nd_writer_open (const gchar * path, gboolean compress, GError ** error)
{
  g_autoptr (NdWriter) writer = g_new0 (NdWriter, 1);
  const gchar *part;
  gint reason;

  writer->path = g_strdup (path);
  writer->part = g_strconcat (path, ".part", NULL);
  if (!choose_format (writer, compress, error)
      || !check_replaced (writer, error))
    return NULL;
  part = writer->data_part ? writer->data_part : writer->part;
  reason = nd_output_open (&writer->output, part, writer->packing);
  if (reason) {
    set_open_error (part, reason, error);
    return NULL;
  }
  return g_steal_pointer (&writer);
}

/* @wanted bytes could not be written, for @reason (an errno). */
static gboolean
set_write_error (NdWriter * writer, gint reason, gsize wanted, GError ** error)
{
  const gboolean full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;

  g_set_error (error, ND_ERROR, full ? ND_ERROR_NO_SPACE : ND_ERROR_WRITE,
      "%s %" G_GSIZE_FORMAT " bytes of \"%s\" after %" G_GUINT64_FORMAT
      " volumes (%s); what was written is in \"%s\"", full ?
      "No space left for" : "Cannot write", wanted, writer->path,
      writer->volumes, g_strerror (reason), nd_writer_part (writer));
  writer->failed = TRUE;
  return FALSE;
}

/* Comments, or empty lines: what readers of the format pass over. */
static void
pad_text (NdWriter * writer, GString * text, gsize n)
{
  const gboolean nrrd = writer->format == FORMAT_NRRD;

  if (nrrd && n == 1) {
    g_string_insert_c (text, strlen (NRRD_COMMENT), ' ');
    return;
  }
  while (n > 0) {
    gsize line = n > PADDED_LINE + 1 ? PADDED_LINE : n;

    n -= line;
    if (nrrd) {
      g_string_append_c (text, '#');
      line--;
    }
    for (gsize i = 0; i + 1 < line; i++)
      g_string_append_c (text, ' ');
    g_string_append_c (text, '\n');
  }
}

static void
build_text (NdWriter * writer, GByteArray * bytes, gsize room)
{
  g_autoptr (GString) text = g_string_new (NULL), end = g_string_new (NULL);
  g_autofree gchar *data = !writer->data_path ? NULL :
      g_path_get_basename (writer->finishing ? writer->data_path :
      writer->data_part);
  const gboolean packed = writer->packing != ND_PACKING_NONE;
  guint too_long = 0;

  if (writer->format == FORMAT_NRRD) {
    nd_nrrd_build (text, &writer->recording, writer->metadata, packed, data,
        writer->list, writer->plus);
    if (!data)
      g_string_append_c (end, '\n');
  } else {
    too_long = nd_metaimage_build (text, &writer->recording, writer->metadata,
        packed ? (gint64) nd_output_size (writer->output) : -1);
    nd_metaimage_end (end, data);
  }
  if (text->len + end->len < room)
    pad_text (writer, text, room - text->len - end->len);
  g_string_append (text, end->str);
  g_byte_array_append (bytes, (const guint8 *) text->str, text->len);
  g_clear_pointer (&writer->warning, g_free);
  if (too_long > 0)
    writer->warning = g_strdup_printf ("%u fields are too long for MetaImage "
        "and are not in \"%s\"", too_long, writer->path);
}

/* The bytes before the samples, @room of them or more. */
static GByteArray *
build_header (NdWriter * writer, gsize room)
{
  GByteArray *bytes = g_byte_array_new ();

  writer->recording.volumes = writer->volumes;
  if (writer->format == FORMAT_NRRD || writer->format == FORMAT_METAIMAGE) {
    build_text (writer, bytes, room);
  } else if (writer->format == FORMAT_NIFTI
      && writer->packing == ND_PACKING_NONE) {
    nd_nifti_build (bytes, &writer->recording, writer->metadata, room);
  } else if (writer->format == FORMAT_NIFTI) {
    g_autoptr (GByteArray) header = g_byte_array_new ();
    g_autoptr (GByteArray) least = g_byte_array_new ();

    nd_output_store (least, (const guint8 *) "", 0);
    for (gsize within = room < least->len ? 0 : (room - least->len) & ~15;;
        within -= 16) {
      nd_nifti_build (header, &writer->recording, writer->metadata, within);
      g_byte_array_set_size (bytes, 0);
      nd_output_store (bytes, header->data, header->len);
      /* Blocks of 64 KiB have heads of their own. */
      if (bytes->len <= room || header->len > within || within == 0)
        break;
    }
  }
  return bytes;
}

/* NIfTI has a rate; times are more than that where the stream has none, or
 * where they come from a file that says them. */
static gboolean
wants_times (NdWriter * writer)
{
  return writer->format != FORMAT_NIFTI || writer->recording.rate_n == 0
      || (writer->source && writer->source->times->len > 0);
}

/* What the header may need in the end. */
static gsize
estimate_room (NdWriter * writer)
{
  const guint64 volumes = writer->expected ? writer->expected :
      VOLUMES_EXPECTED;
  const NdMetadata *source = writer->source;
  g_autoptr (GByteArray) header = NULL;
  NdMetadata *metadata = writer->metadata;
  gsize room;

  if (writer->format == FORMAT_RAW)
    return 0;
  /* As if the fields of all volumes of the source were there already. */
  if (source)
    writer->metadata = (NdMetadata *) source;
  header = build_header (writer, 0);
  writer->metadata = metadata;
  room = header->len;
  if (wants_times (writer))
    room += MIN (volumes, G_MAXINT / TIME_BYTES) * TIME_BYTES + ROOM_SLACK;
  return (room + 15) & ~(gsize) 15;
}

/* The header as a file of its own. */
static gint
write_apart (NdWriter * writer, const GByteArray * header)
{
  NdOutput *output;
  gint reason, closed;

  reason = nd_output_open (&output, writer->part, ND_PACKING_NONE);
  if (reason)
    return reason;
  reason = nd_output_write_header (output, header->data, header->len);
  closed = nd_output_close (output);
  return reason ? reason : closed;
}

static gint
make_room (NdWriter * writer)
{
  g_autoptr (GByteArray) header = build_header (writer, estimate_room (writer));
  gint reason;

  writer->roomed = TRUE;
  writer->times_known = wants_times (writer);
  /* A header of its own takes its place on the disk now, too. */
  if (writer->data_path) {
    reason = nd_output_begin (writer->output, 0);
    return reason ? reason : write_apart (writer, header);
  }
  reason = nd_output_begin (writer->output, header->len);
  return reason ? reason : nd_output_write_header (writer->output,
      header->data, header->len);
}

gboolean
nd_writer_begin (NdWriter * writer, const NdRecording * recording,
    GError ** error)
{
  gint reason;

  if ((writer->format == FORMAT_NIFTI
          && !nd_nifti_supports (recording, writer->path, error))
      || (writer->format == FORMAT_METAIMAGE
          && !nd_metaimage_supports (recording, writer->path, error)))
    return FALSE;
  writer->failed = FALSE;
  writer->roomed = FALSE;
  writer->volumes = 0;
  writer->times_known = TRUE;
  writer->recording = *recording;
  writer->volume_size = nd_recording_volume_size (recording);
  g_clear_pointer (&writer->metadata, nd_metadata_unref);
  writer->metadata = nd_metadata_new ();
  nd_writer_set_source (writer, NULL, 0);
  reason = nd_output_begin (writer->output, 0);
  if (reason)
    return set_write_error (writer, reason, writer->volume_size, error);
  return TRUE;
}

void
nd_writer_set_source (NdWriter * writer, NdMetadata * source, guint64 volumes)
{
  g_return_if_fail (writer->metadata && writer->volumes == 0);

  g_clear_pointer (&writer->source, nd_metadata_unref);
  writer->expected = volumes;
  writer->source_next = 0;
  g_array_set_size (writer->metadata->fields, 0);
  if (!source)
    return;
  writer->source = nd_metadata_ref (source);
  for (guint i = 0; i < source->fields->len; i++) {
    const NdField *field = &g_array_index (source->fields, NdField, i);

    nd_metadata_add (writer->metadata, field->key, field->value);
  }
}

/* The volume of the source that has this time; FALSE where none has. */
static gboolean
find_source (NdWriter * writer, gint64 time, guint64 * volume)
{
  const GArray *times = writer->source->times;
  guint64 low = 0, high = times->len;

  /* The next one mostly; where two have the same time, one after the other. */
  if (writer->source_next >= times->len
      || g_array_index (times, gint64, writer->source_next) != time) {
    while (low < high) {
      const guint64 middle = low + (high - low) / 2;

      if (g_array_index (times, gint64, middle) < time)
        low = middle + 1;
      else
        high = middle;
    }
    writer->source_next = low;
  }
  *volume = writer->source_next;
  if (*volume >= times->len || g_array_index (times, gint64, *volume) != time)
    return FALSE;
  writer->source_next++;
  return TRUE;
}

static void
note_volume (NdWriter * writer, gint64 time)
{
  NdMetadata *metadata = writer->metadata;
  const NdField *fields;
  guint64 volume;
  guint n;

  if (writer->volumes == 0)
    metadata->origin = (writer->source ? writer->source->origin : 0)
        + MAX (time, 0);
  if (time < 0 || (writer->volumes > 0 && time < writer->last_time))
    writer->times_known = FALSE;
  if (writer->times_known) {
    const gint64 relative = time - (metadata->origin
        - (writer->source ? writer->source->origin : 0));

    g_array_append_val (metadata->times, relative);
  } else {
    g_array_set_size (metadata->times, 0);
  }
  writer->last_time = time;
  if (!writer->source || writer->source->volume_fields->len == 0
      || !find_source (writer, time, &volume))
    return;
  fields = nd_metadata_of_volume (writer->source, volume, &n);
  for (guint i = 0; i < n; i++)
    nd_metadata_add_to_volume (metadata, writer->volumes, fields[i].key,
        fields[i].value);
}

gboolean
nd_writer_write (NdWriter * writer, gconstpointer data, gint64 time,
    GError ** error)
{
  const gsize size = writer->volume_size;
  gint reason = 0;

  g_return_val_if_fail (size > 0 && !writer->finished, FALSE);

  if (!writer->roomed)
    reason = make_room (writer);
  if (!reason)
    reason = nd_output_write (writer->output, data, size);
  if (reason)
    return set_write_error (writer, reason, size, error);
  note_volume (writer, time);
  writer->volumes++;
  return TRUE;
}

guint64
nd_writer_volumes (NdWriter * writer)
{
  return writer->volumes;
}

const gchar *
nd_writer_part (NdWriter * writer)
{
  return writer->data_part ? writer->data_part : writer->part;
}

const gchar *
nd_writer_warning (NdWriter * writer)
{
  return writer->warning;
}

/* 0, or an errno. */
static gint
write_header (NdWriter * writer)
{
  const gboolean exactly = writer->format == FORMAT_NIFTI
      && writer->packing != ND_PACKING_NONE;
  gsize room = nd_output_room (writer->output);
  g_autoptr (GByteArray) header = NULL;
  gint reason = 0;

  if (writer->format == FORMAT_RAW)
    return 0;
  header = build_header (writer, writer->data_path ? 0 : room);
  if (writer->data_path)
    return write_apart (writer, header);
  if (header->len > room) {
    reason = nd_output_grow (writer->output, header->len, exactly);
    room = nd_output_room (writer->output);
    if (!reason && header->len < room) {
      g_byte_array_unref (header);
      header = build_header (writer, room);
    }
  }
  return reason ? reason : nd_output_write_header (writer->output,
      header->data, header->len);
}

static gboolean
give_name (const gchar * part, const gchar * path, GError ** error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);

  if (rename (part, path) == 0)
    return TRUE;
  if (errno == ENOENT)
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" is lost: the folder "
        "\"%s\" or \"%s\" vanished while it was written", path, folder, part);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" is complete but "
        "cannot be named \"%s\": %s", part, path, g_strerror (errno));
  return FALSE;
}

gboolean
nd_writer_finish (NdWriter * writer, GError ** error)
{
  gint reason;

  g_return_val_if_fail (!writer->finished, FALSE);

  if (writer->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" was not written: no "
        "volume came before the end of the stream", writer->path);
    return FALSE;
  }
  if (writer->failed) {
    g_set_error (error, ND_ERROR, ND_ERROR_WRITE, "\"%s\" cannot be "
        "completed: writing failed before; what was written is in \"%s\"",
        writer->path, nd_writer_part (writer));
    return FALSE;
  }
  writer->finishing = TRUE;
  reason = nd_output_end (writer->output);
  if (!reason)
    reason = write_header (writer);
  if (reason) {
    /* nd_writer_close() makes the part readable. */
    writer->finishing = FALSE;
    return set_write_error (writer, reason, writer->volume_size, error);
  }
  reason = nd_output_close (writer->output);
  writer->output = NULL;
  if (reason)
    return set_write_error (writer, reason, writer->volume_size, error);
  if ((writer->data_path
          && !give_name (writer->data_part, writer->data_path, error))
      || !give_name (writer->part, writer->path, error))
    return FALSE;
  writer->finished = TRUE;
  return TRUE;
}

void
nd_writer_close (NdWriter * writer)
{
  if (writer->output) {
    if (writer->volumes == 0) {
      unlink (nd_writer_part (writer));
      unlink (writer->part);
    } else {
      /* So that the part can be read, as far as it goes. */
      if (!writer->failed)
        nd_output_end (writer->output);
      /* Where a full disk has no room for more: their number at least. */
      if (write_header (writer) != 0) {
        g_array_set_size (writer->metadata->times, 0);
        g_array_set_size (writer->metadata->volume_fields, 0);
        write_header (writer);
      }
    }
    nd_output_close (writer->output);
  }
  g_clear_pointer (&writer->source, nd_metadata_unref);
  g_clear_pointer (&writer->metadata, nd_metadata_unref);
  g_free (writer->warning);
  g_free (writer->path);
  g_free (writer->part);
  g_free (writer->data_path);
  g_free (writer->data_part);
  g_free (writer);
}
