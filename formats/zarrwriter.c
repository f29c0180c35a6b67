/* Writes OME-Zarr: one shard for each volume in Zarr 3, one file for each chunk
 * in Zarr 2.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/threads.h"
#include "formats/axes.h"
#include "formats/zarr.h"
#include "formats/zarrchunks.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Samples of a chunk along an axis, of volumes and of frames. */
#define CHUNK 64
#define CHUNK_OF_FRAME 1024

struct _NdZarrWriter
{
  NdPart part;
  gboolean old, compress;

  NdRecording recording;
  gdouble begin;     /* time of the first volume */
  NdZarrArray array; /* its axes are t, c, z, y, x; c may be absent */
  guint64 counts[ND_ZARR_AXES];
  guint64 chunks; /* of a volume */

  /* Of the volume that is being written. */
  const guint8 *samples;
  guint8 **packed;
  gsize *sizes;
};

/* What this writer makes in its folder. */
static const gchar *const own_names[] = { "0", "zarr.json", ".zgroup",
  ".zattrs", NULL };

NdZarrWriter *
nd_zarr_writer_new (const gchar *path, gboolean old, gboolean compress,
    gint *reason)
{
  NdZarrWriter *writer;
  NdPart part;

  *reason = nd_part_create_folder (&part, path, own_names);
  if (*reason)
    return NULL;
  writer = g_new0 (NdZarrWriter, 1);
  writer->part = part;
  writer->old = old;
  writer->compress = compress;
  return writer;
}

const NdPart *
nd_zarr_writer_part (NdZarrWriter *writer)
{
  return &writer->part;
}

static void
clear_volume (NdZarrWriter *writer)
{
  for (guint64 i = 0; writer->packed && i < writer->chunks; i++)
    g_free (writer->packed[i]);
  g_clear_pointer (&writer->packed, g_free);
  g_clear_pointer (&writer->sizes, g_free);
}

void
nd_zarr_writer_free (NdZarrWriter *writer, gboolean remove)
{
  clear_volume (writer);
  if (remove)
    nd_part_remove (&writer->part);
  nd_part_close (&writer->part);
  g_free (writer);
}

gboolean
nd_zarr_supports (const NdRecording *recording, const gchar *path,
    GError **error)
{
  if (recording->responses == 1)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "\"%s\" cannot store the %u responses of a bank: the axes of OME-Zarr "
      "are t, c, z, y and x; write NRRD (.nrrd) or raw (.raw)",
      path, recording->responses);
  return FALSE;
}

gint
nd_zarr_writer_begin (NdZarrWriter *writer, const NdRecording *recording)
{
  const gsize *size = recording->shape.size;
  const guint64 most = size[2] > 1 ? CHUNK : CHUNK_OF_FRAME;
  NdZarrArray *array = &writer->array;

  clear_volume (writer);
  for (guint i = 0; own_names[i]; i++)
    nd_remove_below (writer->part.fd, own_names[i]);
  writer->recording = *recording;
  memset (array, 0, sizeof (*array));
  array->type = nd_stored_of (recording->type);
  array->packing = !writer->compress ? ND_ZARR_NONE
      : writer->old                  ? ND_ZARR_BLOSC
                                     : ND_ZARR_ZSTD;
  array->sharded = array->prefixed = !writer->old;
  array->separator = '/';
  array->shape[array->rank] = array->chunk[array->rank] = 1;
  array->axes[array->rank++] = 't';
  if (recording->shape.components > 1) {
    array->shape[array->rank] = recording->shape.components;
    array->chunk[array->rank] = 1;
    array->axes[array->rank++] = 'c';
  }
  for (guint a = 3; a-- > 0;) {
    array->shape[array->rank] = size[a];
    array->chunk[array->rank] = MIN (size[a], most);
    array->axes[array->rank++] = "xyz"[a];
  }
  writer->chunks = 1;
  for (guint i = 0; i < array->rank; i++) {
    writer->counts[i] = (array->shape[i] - 1) / array->chunk[i] + 1;
    array->shard[i] = array->chunk[i] * (writer->old ? 1 : writer->counts[i]);
    writer->chunks *= writer->counts[i];
  }
  writer->packed = g_try_new0 (guint8 *, writer->chunks);
  writer->sizes = g_try_new0 (gsize, writer->chunks);
  if (!writer->packed || !writer->sizes)
    return ENOMEM;
  return mkdirat (writer->part.fd, "0", 0777) == 0 ? 0 : errno;
}

static void
zarr_writer_find_chunk (const NdZarrWriter *writer, guint64 i, guint64 *numbers)
{
  for (guint a = writer->array.rank; a-- > 0;) {
    numbers[a] = i % writer->counts[a];
    i /= writer->counts[a];
  }
}

/* Copies the samples of a chunk; those beyond the volume remain 0. */
static void
zarr_writer_gather (const NdZarrWriter *writer, const guint64 *numbers,
    guint8 *chunk)
{
  const NdZarrArray *array = &writer->array;
  const gsize *size = writer->recording.shape.size;
  const gsize components = writer->recording.shape.components;
  const gsize width = nd_stored_size (array->type);
  const guint64 *c = array->chunk + array->rank - 3;
  const guint64 *number = numbers + array->rank - 3;
  const gsize component = array->rank == 5 ? numbers[1] : 0;
  const gsize start[3] = { number[2] * c[2], number[1] * c[1],
    number[0] * c[0] };
  const gsize n[3] = { MIN (c[2], size[0] - start[0]),
    MIN (c[1], size[1] - start[1]), MIN (c[0], size[2] - start[2]) };

  for (gsize z = 0; z < n[2]; z++) {
    for (gsize y = 0; y < n[1]; y++) {
      const guint8 *from = writer->samples
          + ((((start[2] + z) * size[1] + start[1] + y) * size[0] + start[0])
                    * components
                + component)
              * width;
      guint8 *to = chunk + (z * c[1] + y) * c[2] * width;

      if (components == 1) {
        memcpy (to, from, n[0] * width);
        continue;
      }
      nd_stored_pick (to, from, components * width, n[0], width);
    }
  }
}

/* Packs a chunk; its size remains 0 if there is no memory. */
static void
pack_chunk (gsize i, guint worker, gpointer data)
{
  NdZarrWriter *writer = data;
  const NdZarrArray *array = &writer->array;
  const gsize size = nd_zarr_chunk_size (array);
  const gsize most = nd_zarr_pack_most (array->packing, size);
  g_autofree guint8 *chunk = g_try_malloc0 (size);
  guint64 numbers[ND_ZARR_AXES];

  if (!writer->packed[i])
    writer->packed[i] = g_try_malloc (most);
  writer->sizes[i] = 0;
  if (!chunk || !writer->packed[i])
    return;
  zarr_writer_find_chunk (writer, i, numbers);
  zarr_writer_gather (writer, numbers, chunk);
  writer->sizes[i] = nd_zarr_pack (array->packing, chunk, size,
      nd_stored_size (array->type), writer->packed[i], most);
}

static gint
zarr_writer_write_bytes (gint file, gconstpointer bytes, gsize n)
{
  const guint8 *from = bytes;

  while (n > 0) {
    const gssize done = write (file, from, n);

    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return done < 0 ? errno : EIO;
    from += done;
    n -= done;
  }
  return 0;
}

/* Some file systems report a full disk only when a file is closed. */
static gint
close_file (gint file, gint reason)
{
  const gint closed = close (file) != 0 ? errno : 0;

  return reason ? reason : closed;
}

static gint
write_file (NdZarrWriter *writer, const gchar *name, gconstpointer bytes,
    gsize n)
{
  gint file;
  const gint reason = nd_create_below (writer->part.fd, name, &file);

  return reason ? reason
                : close_file (file, zarr_writer_write_bytes (file, bytes, n));
}

static gchar *
chunk_name (const NdZarrWriter *writer, const guint64 *numbers)
{
  g_autofree gchar *name = nd_zarr_file_name (&writer->array, numbers);

  return g_strconcat ("0/", name, NULL);
}

/* All chunks of a volume, and their places. */
static gint
write_shard (NdZarrWriter *writer, guint64 volume)
{
  const guint64 numbers[ND_ZARR_AXES] = { volume };
  g_autofree gchar *name = chunk_name (writer, numbers);
  g_autofree guint64 *index = g_try_new (guint64, 2 * writer->chunks);
  const gsize n = 16 * writer->chunks;
  guint64 at = 0;
  guint32 sum;
  gint file;
  gint reason = index ? nd_create_below (writer->part.fd, name, &file) : ENOMEM;

  if (reason)
    return reason;
  for (guint64 i = 0; i < writer->chunks && !reason; i++) {
    index[2 * i] = GUINT64_TO_LE (at);
    index[2 * i + 1] = GUINT64_TO_LE (writer->sizes[i]);
    at += writer->sizes[i];
    reason =
        zarr_writer_write_bytes (file, writer->packed[i], writer->sizes[i]);
  }
  if (!reason)
    reason = zarr_writer_write_bytes (file, index, n);
  sum = reason ? 0 : GUINT32_TO_LE (nd_zarr_sum ((guint8 *) index, n));
  if (!reason)
    reason = zarr_writer_write_bytes (file, &sum, sizeof (sum));
  return close_file (file, reason);
}

static gint
write_chunks (NdZarrWriter *writer, guint64 volume)
{
  guint64 numbers[ND_ZARR_AXES];
  gint reason = 0;

  for (guint64 i = 0; i < writer->chunks && !reason; i++) {
    g_autofree gchar *name = NULL;

    zarr_writer_find_chunk (writer, i, numbers);
    numbers[0] = volume;
    name = chunk_name (writer, numbers);
    reason = write_file (writer, name, writer->packed[i], writer->sizes[i]);
  }
  return reason;
}

gint
nd_zarr_writer_write (NdZarrWriter *writer, guint64 volume, gconstpointer data)
{
  writer->samples = data;
  nd_parallel_for (writer->chunks, pack_chunk, writer);
  for (guint64 i = 0; i < writer->chunks; i++) {
    if (writer->sizes[i] == 0)
      return ENOMEM;
  }
  return writer->old ? write_chunks (writer, volume)
                     : write_shard (writer, volume);
}

static void
zarr_writer_append_number (GString *text, gdouble number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_dtostr (digits, sizeof (digits), number));
}

static void
append_sizes (GString *text, const gchar *name, const guint64 *sizes, guint n)
{
  g_string_append_printf (text, "\"%s\": [", name);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "",
        sizes[i]);
  g_string_append_c (text, ']');
}

/* The scale of an axis, or the position of its first sample. */
static gdouble
axis_number (const NdZarrWriter *writer, gchar axis, gdouble seconds,
    gboolean position)
{
  const NdGeometry *geometry = &writer->recording.geometry;
  gdouble origin[3];

  if (axis == 't' && !position)
    return seconds > 0 ? seconds : 1;
  if (axis == 't')
    return writer->begin;
  if (axis == 'c' || !geometry->known)
    return position ? 0 : 1;
  nd_axes_get_origin (geometry, origin);
  return (position ? origin : geometry->spacing)[axis - 'x'];
}

static void
append_transformation (GString *text, const NdZarrWriter *writer,
    gdouble seconds, gboolean position)
{
  const gchar *name = position ? "translation" : "scale";

  g_string_append_printf (text, "{\"type\": \"%s\", \"%s\": [", name, name);
  for (guint i = 0; i < writer->array.rank; i++) {
    if (i > 0)
      g_string_append (text, ", ");
    zarr_writer_append_number (text,
        axis_number (writer, writer->array.axes[i], seconds, position));
  }
  g_string_append (text, "]}");
}

static void
append_axes (GString *text, const NdZarrWriter *writer, gdouble seconds)
{
  g_string_append (text, "\"axes\": [");
  for (guint i = 0; i < writer->array.rank; i++) {
    const gchar axis = writer->array.axes[i];
    const gboolean timed = seconds > 0 || writer->begin != 0;
    const gchar *unit = axis == 't' && timed              ? "second"
        : axis >= 'x' && writer->recording.geometry.known ? "millimeter"
                                                          : NULL;

    g_string_append_printf (text, "%s{\"name\": \"%c\", \"type\": \"%s\"",
        i > 0 ? ", " : "", axis,
        axis == 't'       ? "time"
            : axis == 'c' ? "channel"
                          : "space");
    if (unit)
      g_string_append_printf (text, ", \"unit\": \"%s\"", unit);
    g_string_append_c (text, '}');
  }
  g_string_append_c (text, ']');
}

static GString *
build_group (const NdZarrWriter *writer, gdouble seconds)
{
  GString *text = g_string_new (NULL);

  g_string_append (text,
      writer->old ? "{\"multiscales\": [{\"version\": \"0.4\", "
                  : "{\"zarr_format\": 3, \"node_type\": \"group\", "
                    "\"attributes\": {\"ome\": {\"version\": \"0.5\", "
                    "\"multiscales\": [{");
  append_axes (text, writer, seconds);
  g_string_append (text,
      ", \"datasets\": [{\"path\": \"0\", \"coordinateTransformations\": [");
  append_transformation (text, writer, seconds, FALSE);
  if (writer->recording.geometry.known || writer->begin != 0) {
    g_string_append (text, ", ");
    append_transformation (text, writer, seconds, TRUE);
  }
  g_string_append (text, writer->old ? "]}]}]}\n" : "]}]}]}}}\n");
  return text;
}

static GString *
build_old_array (const NdZarrWriter *writer)
{
  const NdZarrArray *array = &writer->array;
  const gchar *type = nd_stored_name (array->type);
  const gsize width = nd_stored_size (array->type);
  GString *text = g_string_new ("{\"zarr_format\": 2, ");

  append_sizes (text, "shape", array->shape, array->rank);
  g_string_append (text, ", ");
  append_sizes (text, "chunks", array->chunk, array->rank);
  g_string_append_printf (text,
      ", \"dtype\": \"%c%c%" G_GSIZE_FORMAT "\", \"compressor\": %s, "
      "\"fill_value\": 0, \"order\": \"C\", \"filters\": null, "
      "\"dimension_separator\": \"/\"}\n",
      width == 1                            ? '|'
          : G_BYTE_ORDER == G_LITTLE_ENDIAN ? '<'
                                            : '>',
      *type, width,
      array->packing == ND_ZARR_BLOSC
          ? "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, "
            "\"shuffle\": 1, \"blocksize\": 0}"
          : "null");
  return text;
}

static GString *
build_new_array (const NdZarrWriter *writer)
{
  static const gchar bytes[] = "{\"name\": \"bytes\", \"configuration\": "
                               "{\"endian\": \"%s\"}}";
  const NdZarrArray *array = &writer->array;
  GString *text =
      g_string_new ("{\"zarr_format\": 3, \"node_type\": \"array\", ");

  append_sizes (text, "shape", array->shape, array->rank);
  g_string_append_printf (text,
      ", \"data_type\": \"%s\", \"chunk_grid\": {\"name\": \"regular\", "
      "\"configuration\": {",
      nd_stored_name (array->type));
  append_sizes (text, "chunk_shape", array->shard, array->rank);
  g_string_append (text,
      "}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": "
      "{\"separator\": \"/\"}}, \"fill_value\": 0, \"attributes\": {}, "
      "\"codecs\": [{\"name\": \"sharding_indexed\", \"configuration\": {");
  append_sizes (text, "chunk_shape", array->chunk, array->rank);
  g_string_append (text, ", \"codecs\": [");
  g_string_append_printf (text, bytes,
      G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little" : "big");
  if (array->packing == ND_ZARR_ZSTD)
    g_string_append (text,
        ", {\"name\": \"zstd\", \"configuration\": {\"level\": 1, "
        "\"checksum\": false}}");
  g_string_append (text, "], \"index_codecs\": [");
  g_string_append_printf (text, bytes, "little");
  g_string_append (text,
      ", {\"name\": \"crc32c\"}], \"index_location\": \"end\"}}], "
      "\"dimension_names\": [");
  for (guint i = 0; i < array->rank; i++)
    g_string_append_printf (text, "%s\"%c\"", i > 0 ? ", " : "",
        array->axes[i]);
  g_string_append (text, "]}\n");
  return text;
}

gint
nd_zarr_writer_describe (NdZarrWriter *writer, guint64 volumes, gdouble begin,
    gdouble seconds)
{
  static const gchar group[] = "{\"zarr_format\": 2}\n";
  g_autoptr (GString) image = NULL, array = NULL;
  gint reason;

  writer->array.shape[0] = volumes;
  writer->begin = begin;
  image = build_group (writer, seconds);
  array = writer->old ? build_old_array (writer) : build_new_array (writer);
  reason = write_file (writer, writer->old ? "0/.zarray" : "0/zarr.json",
      array->str, array->len);
  if (!reason)
    reason = write_file (writer, writer->old ? ".zattrs" : "zarr.json",
        image->str, image->len);
  if (!reason && writer->old)
    reason = write_file (writer, ".zgroup", group, strlen (group));
  return reason;
}
