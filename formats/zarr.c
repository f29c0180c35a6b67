/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarr.h"

#include "core/error.h"
#include "core/threads.h"
#include "formats/rate.h"
#include "formats/zarrchunks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Decoded volumes that share chunks are kept, if they have no more bytes. */
#define GROUP_BYTES ((gsize) 256 << 20)

/* Chunks of a volume, and in a shard. */
#define CHUNKS_MAX (1 << 20)

/* Shards of a volume that stay open. */
#define OPEN_MAX 64

/* A packed chunk that has more bytes than this and its samples is damaged. */
#define PACKED_SLACK (64 * 1024)

#define NOWHERE G_MAXUINT64

/* A shard, or the file of a chunk. */
typedef struct
{
  gint file;     /* -1: absent, or it has an index and was closed */
  guint64 size;  /* of the file */
  guint8 *index; /* pairs of offset and size; NULL without shards */
  gboolean wanted;
} Shard;

typedef struct
{
  NdSlices base;
  NdZarrArray array;
  gint folder; /* of the array */
  gsize width; /* bytes of a sample */
  gsize volume_size;
  gint time;                    /* the axis of time, or -1 */
  gsize strides[ND_ZARR_AXES];  /* bytes in a volume */
  guint64 counts[ND_ZARR_AXES]; /* chunks along each axis; of time: 1 */
  guint64 chunks;               /* of a volume */
  GHashTable *shards; /* gchar *name: Shard; files of chunks are not kept */

  guint64 group_size, group_first; /* volumes */
  guint8 *group;                   /* NULL: volumes are decoded in place */

  /* Of the volumes that are being decoded. */
  guint64 first, count;
  guint8 *to;
  guint8 *packed[ND_MAX_THREADS], *chunk[ND_MAX_THREADS];
  gsize packed_size[ND_MAX_THREADS];
  const gchar *reason; /* atomic */
} Zarr;

static void
free_shard (gpointer data)
{
  Shard *shard = data;

  if (shard->file >= 0)
    close (shard->file);
  g_free (shard->index);
  g_free (shard);
}

static void
free_zarr (NdSlices *slices)
{
  Zarr *zarr = (Zarr *) slices;

  for (guint i = 0; i < ND_MAX_THREADS; i++) {
    g_free (zarr->packed[i]);
    g_free (zarr->chunk[i]);
  }
  g_hash_table_unref (zarr->shards);
  if (zarr->folder >= 0)
    close (zarr->folder);
  g_free (zarr->group);
  g_free (zarr);
}

/* Checks the sum of the index and converts it to the machine's byte order. */
static gboolean
check_index (const NdZarrArray *array, Shard *shard, gsize n)
{
  guint64 *numbers = (guint64 *) shard->index;
  guint32 sum;

  if (array->index_checked) {
    memcpy (&sum, shard->index + n, sizeof (sum));
    if (GUINT32_FROM_LE (sum) != nd_zarr_sum (shard->index, n))
      return FALSE;
  }
  for (gsize i = 0; array->index_swapped && i < n / 8; i++)
    numbers[i] = GUINT64_SWAP_LE_BE (numbers[i]);
  return TRUE;
}

static const gchar *
read_index (const NdZarrArray *array, Shard *shard)
{
  const gsize n = nd_zarr_shard_chunks (array) * 16;
  const gsize all = n + (array->index_checked ? 4 : 0);

  if (shard->size < all)
    return "a shard is truncated: it has no index";
  shard->index = g_try_malloc (all);
  if (!shard->index)
    return "there is no memory for the index of a shard";
  if (!nd_zarr_read_at (shard->file, shard->index, all,
          array->index_first ? 0 : shard->size - all))
    return "the index of a shard cannot be read";
  return check_index (array, shard, n) ? NULL
                                       : "the index of a shard is damaged";
}

static const gchar *
open_file (Zarr *zarr, Shard *shard, const gchar *name)
{
  struct stat info;

  shard->file = nd_zarr_open_file (zarr->folder, name);
  if (shard->file < 0)
    return errno == ENOENT ? NULL : "a file of chunks cannot be opened";
  if (fstat (shard->file, &info) != 0)
    return "a file of chunks cannot be read";
  shard->size = info.st_size;
  return NULL;
}

/* Reads the index of a shard. Its file stays open, if not too many are. */
static const gchar *
open_shard (Zarr *zarr, gchar *name)
{
  Shard *shard = g_new0 (Shard, 1);
  const gchar *reason = open_file (zarr, shard, name);

  if (!reason && shard->file >= 0)
    reason = read_index (&zarr->array, shard);
  if (reason) {
    g_free (name);
    free_shard (shard);
    return reason;
  }
  if (shard->file >= 0 && g_hash_table_size (zarr->shards) >= OPEN_MAX) {
    close (shard->file);
    shard->file = -1;
  }
  shard->wanted = TRUE;
  g_hash_table_insert (zarr->shards, name, shard);
  return NULL;
}

static gboolean
is_unwanted (gpointer name, gpointer data, gpointer unused)
{
  Shard *shard = data;

  return !shard->wanted;
}

/* Numbers of the chunk @i of the volumes that are being decoded. */
static void
find_chunk (const Zarr *zarr, guint64 i, guint64 *numbers)
{
  for (guint a = zarr->array.rank; a-- > 0;) {
    numbers[a] = i % zarr->counts[a];
    i /= zarr->counts[a];
  }
  if (zarr->time >= 0)
    numbers[zarr->time] = zarr->first / zarr->array.chunk[zarr->time];
}

static void
find_shard (const Zarr *zarr, const guint64 *chunk, guint64 *numbers)
{
  const NdZarrArray *array = &zarr->array;

  for (guint a = 0; a < array->rank; a++)
    numbers[a] = chunk[a] / (array->shard[a] / array->chunk[a]);
}

/* The name of the file of a chunk; the caller frees it. */
static gchar *
name_file (const Zarr *zarr, const guint64 *chunk)
{
  guint64 numbers[ND_ZARR_AXES];

  find_shard (zarr, chunk, numbers);
  return nd_zarr_file_name (&zarr->array, numbers);
}

/* Closes the shards of other volumes. */
static void
close_shards (Zarr *zarr)
{
  guint64 chunk[ND_ZARR_AXES];
  GHashTableIter iter;
  gpointer shard;

  g_hash_table_iter_init (&iter, zarr->shards);
  while (g_hash_table_iter_next (&iter, NULL, &shard))
    ((Shard *) shard)->wanted = FALSE;
  for (guint64 i = 0; i < zarr->chunks; i++) {
    g_autofree gchar *name = NULL;

    find_chunk (zarr, i, chunk);
    name = name_file (zarr, chunk);
    shard = g_hash_table_lookup (zarr->shards, name);
    if (shard)
      ((Shard *) shard)->wanted = TRUE;
  }
  g_hash_table_foreach_remove (zarr->shards, is_unwanted, NULL);
}

/* Opens the shards of the volumes and closes those of others. */
static const gchar *
open_shards (Zarr *zarr)
{
  guint64 chunk[ND_ZARR_AXES];

  if (!zarr->array.sharded)
    return NULL;
  close_shards (zarr);
  for (guint64 i = 0; i < zarr->chunks; i++) {
    g_autofree gchar *name = NULL;
    const gchar *reason;

    find_chunk (zarr, i, chunk);
    name = name_file (zarr, chunk);
    if (g_hash_table_contains (zarr->shards, name))
      continue;
    reason = open_shard (zarr, g_steal_pointer (&name));
    if (reason)
      return reason;
  }
  return NULL;
}

/* The place of a chunk in its file; FALSE if it is absent. */
static gboolean
locate (const Zarr *zarr, const Shard *shard, const guint64 *chunk,
    guint64 *offset, guint64 *n)
{
  const NdZarrArray *array = &zarr->array;
  guint64 at = 0;

  *offset = 0;
  *n = shard->size;
  if (shard->file < 0 || !array->sharded)
    return shard->file >= 0;
  for (guint a = 0; a < array->rank; a++) {
    const guint64 count = array->shard[a] / array->chunk[a];

    at = at * count + chunk[a] % count;
  }
  memcpy (offset, shard->index + 16 * at, 8);
  memcpy (n, shard->index + 16 * at + 8, 8);
  *offset = GUINT64_FROM_LE (*offset);
  *n = GUINT64_FROM_LE (*n);
  return *offset != G_MAXUINT64 || *n != G_MAXUINT64;
}

/* Grows a buffer of a thread. */
static gboolean
grow (guint8 **buffer, gsize *have, gsize n)
{
  if (*buffer && *have >= n)
    return TRUE;
  g_free (*buffer);
  *buffer = g_try_malloc (MAX (n, 1));
  *have = n;
  return *buffer != NULL;
}

/* Decodes a chunk into the buffer of the thread; *@samples is NULL if it is
 * absent. */
static const gchar *
read_chunk (Zarr *zarr, const Shard *shard, const guint64 *chunk, guint worker,
    const guint8 **samples)
{
  const NdZarrArray *array = &zarr->array;
  const gsize size = nd_zarr_chunk_size (array);
  const gsize sum_size = array->checked ? 4 : 0;
  guint64 offset, n;
  guint8 *packed;
  guint32 sum;

  *samples = NULL;
  if (!locate (zarr, shard, chunk, &offset, &n))
    return NULL;
  if (n < sum_size || n > shard->size || offset > shard->size - n
      || n > size + size / 8 + PACKED_SLACK)
    return "a chunk lies outside of its file";
  if (!grow (&zarr->packed[worker], &zarr->packed_size[worker], n))
    return "there is no memory for a chunk";
  packed = zarr->packed[worker];
  if (!nd_zarr_read_at (shard->file, packed, n, offset))
    return "a chunk is truncated";
  n -= sum_size;
  if (sum_size > 0) {
    memcpy (&sum, packed + n, sizeof (sum));
    if (GUINT32_FROM_LE (sum) != nd_zarr_sum (packed, n))
      return "a chunk is damaged (its check sum differs)";
  }
  if (!nd_zarr_can_be (array->packing, packed, n, size))
    return "a chunk is truncated or damaged";
  if (array->packing == ND_ZARR_NONE) {
    *samples = packed;
    return NULL;
  }
  if (!zarr->chunk[worker])
    zarr->chunk[worker] = g_try_malloc (size);
  if (!zarr->chunk[worker])
    return "there is no memory for a chunk";
  *samples = zarr->chunk[worker];
  return nd_zarr_unpack (array->packing, packed, n, zarr->chunk[worker], size);
}

/* Copies @n samples, or the value of absent ones if @from is NULL. */
static void
copy_row (const Zarr *zarr, guint8 *to, gsize stride, const guint8 *from,
    gsize n)
{
  const gsize width = zarr->width;
  const guint8 *fill = zarr->array.fill;

  if (from && stride == width) {
    memcpy (to, from, n * width);
    return;
  }
  for (gsize i = 0; i < n; i++)
    memcpy (to + i * stride, from ? from + i * width : fill, width);
}

/* Copies the part of a chunk that belongs to the volumes. */
static void
place_chunk (const Zarr *zarr, const guint64 *chunk, const guint8 *samples)
{
  const NdZarrArray *array = &zarr->array;
  const guint last = array->rank - 1;
  gsize begin[ND_ZARR_AXES], n[ND_ZARR_AXES], from[ND_ZARR_AXES];
  gsize at[ND_ZARR_AXES] = { 0 }, step = zarr->width;
  guint8 *to = zarr->to;
  guint a;

  for (a = array->rank; a-- > 0;) {
    const guint64 start = chunk[a] * array->chunk[a];
    const guint64 low = (gint) a == zarr->time ? zarr->first : start;
    const guint64 end =
        (gint) a == zarr->time ? zarr->first + zarr->count : array->shape[a];

    begin[a] = low - start;
    n[a] = MIN (end, start + array->chunk[a]) - low;
    from[a] = step;
    step *= array->chunk[a];
    if ((gint) a != zarr->time)
      to += start * zarr->strides[a];
    if (samples)
      samples += begin[a] * from[a];
  }
  do {
    guint8 *row = to;
    const guint8 *source = samples;

    for (a = 0; a < last; a++) {
      row += at[a] * zarr->strides[a];
      if (source)
        source += at[a] * from[a];
    }
    copy_row (zarr, row, zarr->strides[last], source, n[last]);
    for (a = last; a-- > 0;) {
      if (++at[a] < n[a])
        break;
      at[a] = 0;
    }
  } while (a < last);
}

/* Reads a chunk of a file that is open, or that is opened for it. */
static const gchar *
find_and_read_chunk (Zarr *zarr, const guint64 *chunk, guint worker,
    const guint8 **samples)
{
  g_autofree gchar *name = name_file (zarr, chunk);
  const Shard *shard = g_hash_table_lookup (zarr->shards, name);
  Shard file = { -1 };
  const gchar *reason;

  if (shard && (shard->file >= 0 || !shard->index))
    return read_chunk (zarr, shard, chunk, worker, samples);
  if (shard)
    file = *shard;
  reason = open_file (zarr, &file, name);
  if (!reason && shard && file.file < 0)
    reason = "a file of chunks has vanished";
  if (!reason)
    reason = read_chunk (zarr, &file, chunk, worker, samples);
  if (file.file >= 0)
    close (file.file);
  return reason;
}

static void
decode_chunk (gsize i, guint worker, gpointer data)
{
  Zarr *zarr = data;
  guint64 chunk[ND_ZARR_AXES];
  const guint8 *samples;
  const gchar *reason;

  if (g_atomic_pointer_get (&zarr->reason))
    return;
  find_chunk (zarr, i, chunk);
  reason = find_and_read_chunk (zarr, chunk, worker, &samples);
  if (reason)
    g_atomic_pointer_set (&zarr->reason, (gpointer) reason);
  else
    place_chunk (zarr, chunk, samples);
}

/* Decodes @count volumes from @first on, which share chunks. */
static gboolean
decode (Zarr *zarr, guint64 first, guint64 count, guint8 *to,
    const gchar **reason)
{
  zarr->first = first;
  zarr->count = count;
  zarr->to = to;
  zarr->reason = open_shards (zarr);
  if (!zarr->reason)
    nd_parallel_for (zarr->chunks, decode_chunk, zarr);
  *reason = zarr->reason;
  return !zarr->reason;
}

static gboolean
read_volume (NdSlices *slices, guint64 volume, guint8 *samples,
    const gchar **reason)
{
  Zarr *zarr = (Zarr *) slices;
  const guint64 first = volume - volume % zarr->group_size;

  if (zarr->group_size == 1)
    return decode (zarr, volume, 1, samples, reason);
  if (first != zarr->group_first) {
    const guint64 all = zarr->array.shape[zarr->time];

    zarr->group_first = NOWHERE;
    if (!zarr->group)
      zarr->group = g_try_malloc (zarr->group_size * zarr->volume_size);
    if (!zarr->group) {
      *reason = "there is no memory for the volumes of its chunks";
      return FALSE;
    }
    if (!decode (zarr, first, MIN (zarr->group_size, all - first), zarr->group,
            reason))
      return FALSE;
    zarr->group_first = first;
  }
  memcpy (samples, zarr->group + (volume - first) * zarr->volume_size,
      zarr->volume_size);
  return TRUE;
}

/* The text of a file of metadata; NULL without an error if it is absent. */
static gchar *
load (gint folder, const gchar *name, gsize *n, GError **error)
{
  const gint file = nd_zarr_open_file (folder, name);
  g_autofree gchar *text = NULL;
  struct stat info = { 0 };
  gboolean ok;

  if (file < 0 && errno == ENOENT)
    return NULL;
  ok = file >= 0 && fstat (file, &info) == 0
      && (gsize) info.st_size <= ND_ZARR_TEXT_MAX;
  if (ok) {
    *n = info.st_size;
    text = g_malloc (*n + 1);
    ok = nd_zarr_read_at (file, (guint8 *) text, *n, 0);
    text[*n] = '\0';
  }
  if (file >= 0)
    close (file);
  if (ok)
    return g_steal_pointer (&text);
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "Its file %s cannot be read: it must be a regular file of at most "
      "%" G_GSIZE_FORMAT " MiB",
      name, ND_ZARR_TEXT_MAX >> 20);
  return NULL;
}

static gboolean
load_array (Zarr *zarr, GError **error)
{
  gsize n;
  g_autofree gchar *text = load (zarr->folder, "zarr.json", &n, error);
  guint version = 3;

  if (!text && !*error) {
    text = load (zarr->folder, ".zarray", &n, error);
    version = 2;
  }
  if (!text && !*error)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It has no array of Zarr 2 or 3 where its metadata say so");
  return text && nd_zarr_array_parse (&zarr->array, text, n, version, error);
}

/* Goes to a folder in the folder, without links. */
static gboolean
enter (Zarr *zarr, const gchar *path, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = 0; parts[i]; i++) {
    const gint next = openat (zarr->folder, parts[i],
        O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY);
    const gint reason = errno;

    if (next < 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_READ,
          "The folder of its array cannot be opened: %s", g_strerror (reason));
      return FALSE;
    }
    close (zarr->folder);
    zarr->folder = next;
  }
  return TRUE;
}

/* Loads the image of a group, and its array, or the array that the folder is.
 * image->rank is 0 without an image. */
static gboolean
load_image (Zarr *zarr, NdZarrImage *image, GError **error)
{
  gsize n;
  g_autofree gchar *text = load (zarr->folder, "zarr.json", &n, error);
  guint version = 3;

  if (!text && !*error) {
    text = load (zarr->folder, ".zattrs", &n, error);
    version = 2;
    /* An array may have attributes too. */
    if (text && faccessat (zarr->folder, ".zarray", F_OK, 0) == 0)
      g_clear_pointer (&text, g_free);
  }
  if (*error
      || (text && !nd_zarr_image_parse (image, text, n, version, error)
          && *error))
    return FALSE;
  return (image->rank == 0 || enter (zarr, image->path, error))
      && load_array (zarr, error);
}

/* The names of axes: those of the image, of the array, or by their number. */
static gboolean
find_axes (Zarr *zarr, NdZarrImage *image, GError **error)
{
  const NdZarrArray *array = &zarr->array;
  const gboolean has_image = image->rank > 0;

  if (has_image && image->rank != array->rank) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Its array has %u axes, its metadata have %u", array->rank,
        image->rank);
    return FALSE;
  }
  image->rank = array->rank;
  for (guint i = 0; i < array->rank && !has_image; i++) {
    image->axes[i] =
        array->named ? array->axes[i] : "tczyx"[5 - array->rank + i];
    image->scale[i] = 1;
    /* Four axes are t, z, y, x. */
    if (!array->named && array->rank == 4 && i == 0)
      image->axes[i] = 't';
  }
  for (guint i = 0; i < image->rank; i++) {
    if (memchr (image->axes, image->axes[i], i)) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "Two of its axes have the same name");
      return FALSE;
    }
  }
  if (memchr (image->axes, 'x', image->rank)
      && memchr (image->axes, 'y', image->rank))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "It must have the axes x and y");
  return FALSE;
}

static void
set_shape (Zarr *zarr, const NdZarrImage *image, NdRecording *recording)
{
  static const gchar spatial[] = "xyz";

  zarr->time = -1;
  for (guint i = 0; i < image->rank; i++) {
    const guint64 n = zarr->array.shape[i];
    const gchar *axis = strchr (spatial, image->axes[i]);

    if (image->axes[i] == 't') {
      zarr->time = i;
      recording->volumes = n;
    } else if (image->axes[i] == 'c') {
      recording->shape.components = n;
    } else {
      recording->shape.size[axis - spatial] = n;
    }
  }
}

static void
set_geometry (const NdZarrImage *image, NdRecording *recording)
{
  static const gchar spatial[] = "xyz";
  NdGeometry *geometry = &recording->geometry;

  *geometry = (NdGeometry){ FALSE, { 1, 1, 1 }, { 0, 0, 0 },
    { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  for (guint i = 0; i < image->rank; i++) {
    const gchar *axis = strchr (spatial, image->axes[i]);

    if (!axis)
      continue;
    geometry->spacing[axis - spatial] = image->scale[i];
    geometry->origin[axis - spatial] = image->translation[i];
    geometry->known |= image->has_unit[i] || image->scale[i] != 1;
  }
  for (guint a = 0; a < 3; a++) {
    if (!isfinite (geometry->spacing[a]) || geometry->spacing[a] <= 0
        || !isfinite (geometry->origin[a]))
      geometry->known = FALSE;
  }
  if (!geometry->known)
    memset (geometry, 0, sizeof (*geometry));
}

static void
set_rate (const NdZarrImage *image, gint time, NdRecording *recording)
{
  if (time >= 0 && (image->has_unit[time] || image->scale[time] != 1))
    nd_rate_from_seconds (image->scale[time], &recording->rate_n,
        &recording->rate_d);
}

/* The places of the array's samples in a volume, and the number of chunks. */
static gboolean
set_layout (Zarr *zarr, const NdZarrImage *image, const NdRecording *recording,
    GError **error)
{
  const NdZarrArray *array = &zarr->array;
  const gsize *size = recording->shape.size;
  const gsize pixel = zarr->width * recording->shape.components;

  zarr->chunks = 1;
  for (guint i = 0; i < array->rank; i++) {
    const gsize strides[] = { ['x' - 'x'] = pixel,
      ['y' - 'x'] = pixel * size[0],
      ['z' - 'x'] = pixel * size[0] * size[1] };

    zarr->counts[i] = (gint) i == zarr->time
        ? 1
        : (array->shape[i] - 1) / array->chunk[i] + 1;
    zarr->strides[i] = image->axes[i] == 't' ? zarr->volume_size
        : image->axes[i] == 'c'              ? zarr->width
                                             : strides[image->axes[i] - 'x'];
    if (!g_uint64_checked_mul (&zarr->chunks, zarr->chunks, zarr->counts[i])
        || zarr->chunks > CHUNKS_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "A volume has more than %d chunks: store it with larger ones",
          CHUNKS_MAX);
      return FALSE;
    }
  }
  if (array->sharded && nd_zarr_shard_chunks (array) > CHUNKS_MAX) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Its shards have more than %d chunks", CHUNKS_MAX);
    return FALSE;
  }
  /* Chunks that are absent claim samples without bytes. */
  if (zarr->volume_size / sysconf (_SC_PAGESIZE)
      > (gsize) sysconf (_SC_PHYS_PAGES)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "A volume has %" G_GSIZE_FORMAT
        " bytes, more than the memory of this machine",
        zarr->volume_size);
    return FALSE;
  }
  zarr->group_first = NOWHERE;
  zarr->group_size = zarr->time >= 0
      ? MIN (array->chunk[zarr->time], array->shape[zarr->time])
      : 1;
  if (zarr->group_size > GROUP_BYTES / MAX (zarr->volume_size, 1))
    zarr->group_size = 1;
  return TRUE;
}

static gboolean
open_zarr (Zarr *zarr, NdHeader *header, const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  g_auto (NdZarrImage) image = { NULL };
  g_autoptr (GError) reason = NULL;

  zarr->folder = open (path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (zarr->folder < 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_OPEN_READ,
        "\"%s\" cannot be opened: %s", path, g_strerror (errno));
    return FALSE;
  }
  if (load_image (zarr, &image, &reason) && find_axes (zarr, &image, &reason)) {
    header->stored.type = zarr->array.type;
    header->stored.swapped = zarr->array.swapped;
    zarr->width = nd_stored_size (zarr->array.type);
    set_shape (zarr, &image, recording);
    set_geometry (&image, recording);
    set_rate (&image, zarr->time, recording);
    if (!nd_header_settle (header, path, error))
      return FALSE;
    zarr->volume_size = nd_header_volume_bytes (header);
    if (image.several)
      nd_header_warn (header,
          "\"%s\" has several images: the first one is read", path);
    if (set_layout (zarr, &image, recording, &reason))
      return TRUE;
  }
  g_propagate_prefixed_error (error, g_steal_pointer (&reason),
      "\"%s\" cannot be read. ", path);
  return FALSE;
}

gboolean
nd_zarr_open (NdHeader *header, const gchar *path, GError **error)
{
  Zarr *zarr = g_new0 (Zarr, 1);

  nd_header_init (header, "OME-Zarr");
  zarr->base.read_volume = read_volume;
  zarr->base.free = free_zarr;
  zarr->folder = -1;
  zarr->shards =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_shard);
  header->slices = &zarr->base;
  return open_zarr (zarr, header, path, error);
}
