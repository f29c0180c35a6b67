/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/zarrvolumes.h"

#include "core/error.h"
#include "core/threads.h"
#include "formats/zarrchunks.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Decoded volumes that share chunks are kept, if they have no more bytes. */
#define GROUP_BYTES ((gsize) 256 << 20)

/* Chunks of a volume, in a shard, and in all shards of a volume. */
#define CHUNKS_MAX (1 << 20)
#define INDEX_MAX (4 * CHUNKS_MAX)

/* Chunks that have no more bytes may be larger than the volumes that they are
 * for; others, up to this many times. */
#define SMALL_CHUNKS (16 << 20)
#define OVERHANG_MAX 8

/* Shards of a volume that stay open. */
#define OPEN_MAX 64

/* A packed chunk that has more bytes than this and its samples is damaged. */
#define PACKED_SLACK (64 * 1024)

#define NOWHERE G_MAXUINT64

/* A shard, or the file of a chunk. */
typedef struct
{
  gint file;       /* -1: absent or closed */
  gboolean exists; /* its index is sound */
  guint64 size;    /* of the file */
} Shard;

typedef struct
{
  NdSlices base;
  NdBudget *budget; /* of the caller */
  NdZarrArray array;
  gint folder; /* of the array; -1: the caller keeps it */
  gsize width; /* bytes of a sample */
  gsize volume_size;
  gint time;                    /* the axis of time, or -1 */
  gsize strides[ND_ZARR_AXES];  /* bytes in a volume */
  guint64 counts[ND_ZARR_AXES]; /* chunks along each axis; of time: 1 */
  guint64 chunks;               /* of a volume */

  guint64 shard_counts[ND_ZARR_AXES]; /* shards along each axis; of time: 1 */
  guint64 n_shards;                   /* of a volume; 0: no shards */
  Shard *shards;       /* of the volumes with the number below along time */
  guint64 shards_time; /* NOWHERE: none */

  guint64 group_size, group_first; /* volumes */
  guint8 *group;                   /* NULL: volumes are decoded in place */
  gsize group_bytes;

  /* Of the volumes that are being decoded. */
  guint64 first, count;
  guint8 *to;
  guint8 *packed[ND_MAX_THREADS], *chunk[ND_MAX_THREADS];
  gsize packed_size[ND_MAX_THREADS], chunk_size[ND_MAX_THREADS];
  const gchar *reason; /* atomic */
} Zarr;

static void
close_shards (Zarr *zarr)
{
  for (guint64 i = 0; zarr->shards && i < zarr->n_shards; i++) {
    if (zarr->shards[i].file >= 0)
      close (zarr->shards[i].file);
    zarr->shards[i] = (Shard){ -1 };
  }
  zarr->shards_time = NOWHERE;
}

static void
free_zarr (NdSlices *slices)
{
  Zarr *zarr = (Zarr *) slices;

  for (guint i = 0; i < ND_MAX_THREADS; i++) {
    nd_budget_free (zarr->budget, zarr->packed[i], zarr->packed_size[i]);
    nd_budget_free (zarr->budget, zarr->chunk[i], zarr->chunk_size[i]);
  }
  close_shards (zarr);
  nd_budget_free (zarr->budget, zarr->shards, zarr->n_shards * sizeof (Shard));
  if (zarr->folder >= 0)
    close (zarr->folder);
  nd_budget_free (zarr->budget, zarr->group, zarr->group_bytes);
  g_free (zarr);
}

/* The offset of the index in the file of a shard. */
static guint64
index_offset (const NdZarrArray *array, const Shard *shard)
{
  const gsize all =
      nd_zarr_shard_chunks (array) * 16 + (array->index_checked ? 4 : 0);

  return array->index_first ? 0 : shard->size - all;
}

/* The index is not kept: each chunk reads its entry. */
static const gchar *
zarr_check_index (const NdZarrArray *array, const Shard *shard)
{
  const gsize n = nd_zarr_shard_chunks (array) * 16;
  const guint64 offset = index_offset (array, shard);
  guint8 bytes[4096];
  guint32 sum = 0, wanted;

  if (shard->size < n + (array->index_checked ? 4 : 0))
    return "a shard is truncated: it has no index";
  if (!array->index_checked)
    return NULL;
  for (gsize done = 0; done < n; done += sizeof (bytes)) {
    const gsize length = MIN (n - done, sizeof (bytes));

    if (!nd_zarr_read_at (shard->file, bytes, length, offset + done))
      return "the index of a shard cannot be read";
    sum = nd_zarr_add_to_sum (sum, bytes, length);
  }
  if (!nd_zarr_read_at (shard->file, (guint8 *) &wanted, 4, offset + n))
    return "the index of a shard cannot be read";
  return GUINT32_FROM_LE (wanted) == sum ? NULL
                                         : "the index of a shard is damaged";
}

static const gchar *
zarr_open_file (Zarr *zarr, Shard *shard, const gchar *name)
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

/* Numbers of the chunk @i of the volumes that are being decoded. */
static void
zarr_find_chunk (const Zarr *zarr, guint64 i, guint64 *numbers)
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
  guint64 numbers[ND_ZARR_AXES] = { 0 };

  find_shard (zarr, chunk, numbers);
  return nd_zarr_file_name (&zarr->array, numbers);
}

/* The shard of a chunk; NULL without shards. */
static const Shard *
get_shard (const Zarr *zarr, const guint64 *chunk)
{
  guint64 numbers[ND_ZARR_AXES], at = 0;

  if (zarr->n_shards == 0)
    return NULL;
  find_shard (zarr, chunk, numbers);
  for (guint a = 0; a < zarr->array.rank; a++)
    at = at * zarr->shard_counts[a] + ((gint) a == zarr->time ? 0 : numbers[a]);
  return &zarr->shards[at];
}

/* Opens shard @i of the volumes. Its file stays open, if not too many are. */
static const gchar *
open_shard (Zarr *zarr, guint64 i, guint *n_open)
{
  const NdZarrArray *array = &zarr->array;
  Shard *shard = &zarr->shards[i];
  guint64 numbers[ND_ZARR_AXES];
  g_autofree gchar *name = NULL;
  const gchar *reason;

  for (guint a = array->rank; a-- > 0;) {
    numbers[a] = i % zarr->shard_counts[a];
    i /= zarr->shard_counts[a];
  }
  if (zarr->time >= 0)
    numbers[zarr->time] = zarr->shards_time;
  name = nd_zarr_file_name (array, numbers);
  reason = zarr_open_file (zarr, shard, name);
  if (reason || shard->file < 0)
    return reason;
  reason = zarr_check_index (array, shard);
  shard->exists = TRUE;
  if (reason || (*n_open)++ >= OPEN_MAX) {
    close (shard->file);
    shard->file = -1;
  }
  return reason;
}

/* Opens the shards of the volumes and closes those of others. */
static const gchar *
open_shards (Zarr *zarr)
{
  const guint64 time =
      zarr->time < 0 ? 0 : zarr->first / zarr->array.shard[zarr->time];
  guint n_open = 0;

  if (zarr->n_shards == 0 || time == zarr->shards_time)
    return NULL;
  if (!zarr->shards) {
    zarr->shards =
        nd_budget_alloc (zarr->budget, zarr->n_shards * sizeof (Shard));
    if (!zarr->shards)
      return "there is no memory for its shards";
    for (guint64 i = 0; i < zarr->n_shards; i++)
      zarr->shards[i].file = -1;
  }
  close_shards (zarr);
  zarr->shards_time = time;
  for (guint64 i = 0; i < zarr->n_shards; i++) {
    const gchar *reason = open_shard (zarr, i, &n_open);

    if (reason) {
      zarr->shards_time = NOWHERE;
      return reason;
    }
  }
  return NULL;
}

/* The place of a chunk in its file, which is open; FALSE if it is absent. */
static gboolean
zarr_locate (const Zarr *zarr, const Shard *shard, const guint64 *chunk,
    guint64 *offset, guint64 *n, const gchar **reason)
{
  const NdZarrArray *array = &zarr->array;
  guint64 at = 0, entry[2];

  *reason = NULL;
  *offset = 0;
  *n = shard->size;
  if (!array->sharded)
    return TRUE;
  for (guint a = 0; a < array->rank; a++) {
    const guint64 count = array->shard[a] / array->chunk[a];

    at = at * count + chunk[a] % count;
  }
  if (!nd_zarr_read_at (shard->file, (guint8 *) entry, sizeof (entry),
          index_offset (array, shard) + sizeof (entry) * at)) {
    *reason = "the index of a shard cannot be read";
    return FALSE;
  }
  *offset = array->index_swapped ? GUINT64_SWAP_LE_BE (entry[0]) : entry[0];
  *n = array->index_swapped ? GUINT64_SWAP_LE_BE (entry[1]) : entry[1];
  return *offset != G_MAXUINT64 || *n != G_MAXUINT64;
}

/* Decodes a chunk into the buffer of the thread; *@samples is NULL if it is
 * absent. */
static const gchar *
zarr_read_chunk (Zarr *zarr, const Shard *shard, const guint64 *chunk,
    guint worker, const guint8 **samples)
{
  const NdZarrArray *array = &zarr->array;
  const gsize size = nd_zarr_chunk_size (array);
  const gsize sum_size = array->checked ? 4 : 0;
  const gchar *reason;
  guint64 offset, n;
  gpointer probe;
  guint8 *packed;
  gsize work;
  guint32 sum;

  *samples = NULL;
  if (!zarr_locate (zarr, shard, chunk, &offset, &n, &reason))
    return reason;
  if (n < sum_size || n > shard->size || offset > shard->size - n
      || n > size + size / 128 + PACKED_SLACK)
    return "a chunk lies outside of its file";
  if (!nd_budget_reuse (zarr->budget, &zarr->packed[worker],
          &zarr->packed_size[worker], n))
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
  if (!nd_budget_reuse (zarr->budget, &zarr->chunk[worker],
          &zarr->chunk_size[worker], size))
    return "there is no memory for a chunk";
  /* blosc does not notice that it has no memory. */
  work = nd_zarr_work_bytes (array->packing, packed);
  probe = nd_budget_alloc (zarr->budget, work);
  if (!probe)
    return "there is no memory for a chunk";
  nd_budget_free (zarr->budget, probe, work);
  *samples = zarr->chunk[worker];
  return nd_zarr_unpack (array->packing, packed, n, zarr->chunk[worker], size);
}

/* Copies @n samples, or the value of absent ones if @from is NULL. */
static void
zarr_copy_row (const Zarr *zarr, guint8 *to, gsize stride, const guint8 *from,
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
    zarr_copy_row (zarr, row, zarr->strides[last], source, n[last]);
    for (a = last; a-- > 0;) {
      if (++at[a] < n[a])
        break;
      at[a] = 0;
    }
  } while (a < last);
}

/* Reads a chunk of a shard that is open, or of a file that is opened for it. */
static const gchar *
find_and_read_chunk (Zarr *zarr, const guint64 *chunk, guint worker,
    const guint8 **samples)
{
  const Shard *shard = get_shard (zarr, chunk);
  g_autofree gchar *name = NULL;
  Shard file = { -1 };
  const gchar *reason;

  *samples = NULL;
  if (shard && shard->file >= 0)
    return zarr_read_chunk (zarr, shard, chunk, worker, samples);
  if (shard && !shard->exists)
    return NULL;
  name = name_file (zarr, chunk);
  reason = zarr_open_file (zarr, &file, name);
  if (!reason && shard && (file.file < 0 || file.size != shard->size))
    reason = "a file of chunks has changed";
  if (!reason && file.file >= 0)
    reason = zarr_read_chunk (zarr, &file, chunk, worker, samples);
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
  zarr_find_chunk (zarr, i, chunk);
  reason = find_and_read_chunk (zarr, chunk, worker, &samples);
  if (reason)
    g_atomic_pointer_set (&zarr->reason, (gpointer) reason);
  else
    place_chunk (zarr, chunk, samples);
}

/* Decodes @count volumes from @first on, which share chunks. */
static gboolean
zarr_decode (Zarr *zarr, guint64 first, guint64 count, guint8 *to,
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
zarr_read_volume (NdSlices *slices, guint64 volume, guint8 *samples,
    const gchar **reason)
{
  Zarr *zarr = (Zarr *) slices;
  const guint64 first = volume - volume % zarr->group_size;

  if (zarr->group_size == 1)
    return zarr_decode (zarr, volume, 1, samples, reason);
  if (first != zarr->group_first) {
    const guint64 all = zarr->array.shape[zarr->time];

    zarr->group_first = NOWHERE;
    if (!nd_budget_reuse (zarr->budget, &zarr->group, &zarr->group_bytes,
            zarr->group_size * zarr->volume_size)) {
      *reason = "there is no memory for the volumes of its chunks";
      return FALSE;
    }
    if (!zarr_decode (zarr, first, MIN (zarr->group_size, all - first),
            zarr->group, reason))
      return FALSE;
    zarr->group_first = first;
  }
  memcpy (samples, zarr->group + (volume - first) * zarr->volume_size,
      zarr->volume_size);
  return TRUE;
}

/* The places of the array's samples in a volume, and the number of chunks. */
static gboolean
set_layout (Zarr *zarr, const gchar *axes, const NdRecording *recording,
    GError **error)
{
  const NdZarrArray *array = &zarr->array;
  const gsize *size = recording->shape.size;
  const gsize pixel = zarr->width * recording->shape.components;

  zarr->chunks = zarr->n_shards = 1;
  for (guint i = 0; i < array->rank; i++) {
    const gsize strides[] = { ['x' - 'x'] = pixel,
      ['y' - 'x'] = pixel * size[0],
      ['z' - 'x'] = pixel * size[0] * size[1] };

    if (axes[i] == 't')
      zarr->time = i;
    zarr->counts[i] = (gint) i == zarr->time
        ? 1
        : (array->shape[i] - 1) / array->chunk[i] + 1;
    zarr->strides[i] = axes[i] == 't' ? zarr->volume_size
        : axes[i] == 'c'              ? zarr->width
                                      : strides[axes[i] - 'x'];
    zarr->shard_counts[i] = (gint) i == zarr->time
        ? 1
        : (array->shape[i] - 1) / array->shard[i] + 1;
    zarr->n_shards *= zarr->shard_counts[i];
    if (!g_uint64_checked_mul (&zarr->chunks, zarr->chunks, zarr->counts[i])
        || zarr->chunks > CHUNKS_MAX) {
      g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
          "A volume has more than %d chunks: store it with larger ones",
          CHUNKS_MAX);
      return FALSE;
    }
  }
  if (!array->sharded)
    zarr->n_shards = 0;
  if (array->sharded
      && (nd_zarr_shard_chunks (array) > CHUNKS_MAX
          || nd_zarr_shard_chunks (array) * zarr->n_shards > INDEX_MAX)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "A shard has more than %d chunks, or those of a volume more than %d: "
        "store it with larger chunks",
        CHUNKS_MAX, INDEX_MAX);
    return FALSE;
  }
  zarr->group_first = NOWHERE;
  zarr->group_size = zarr->time >= 0
      ? MIN (array->chunk[zarr->time], array->shape[zarr->time])
      : 1;
  if (nd_zarr_chunk_size (array) > SMALL_CHUNKS
      && nd_zarr_chunk_size (array) / OVERHANG_MAX / zarr->volume_size
          > zarr->group_size) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "Its chunks have %" G_GSIZE_FORMAT
        " bytes, far more than its volumes: store it with smaller ones",
        nd_zarr_chunk_size (array));
    return FALSE;
  }
  if (zarr->group_size > MIN (GROUP_BYTES, nd_budget_left (zarr->budget) / 2)
          / zarr->volume_size)
    zarr->group_size = 1;
  return TRUE;
}

NdSlices *
nd_zarr_volumes_new (gint folder, const NdZarrArray *array, const gchar *axes,
    const NdRecording *recording, gsize volume_size, NdBudget *budget,
    GError **error)
{
  Zarr *zarr = g_new0 (Zarr, 1);

  zarr->base.read_volume = zarr_read_volume;
  zarr->base.free = free_zarr;
  zarr->folder = -1;
  zarr->budget = budget;
  zarr->array = *array;
  zarr->width = nd_stored_size (array->type);
  zarr->volume_size = volume_size;
  zarr->time = -1;
  zarr->shards_time = NOWHERE;
  if (set_layout (zarr, axes, recording, error)) {
    zarr->folder = folder;
    return &zarr->base;
  }
  free_zarr (&zarr->base);
  return NULL;
}
