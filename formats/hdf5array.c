/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5array.h"

#include "core/written.h"

#include <string.h>
#include <zlib.h>

#define UNDEFINED G_MAXUINT64
#define TREE_BYTES 24

#define REPACK                                                             \
  "\"h5repack -f GZIP=4 -j 0 -k 2 FILE NEW\" (hdf5-tools) makes one that " \
  "is read"

/* Plain chunks of more bytes are read where they lie. */
#define LARGE ((gsize) 1 << 20)

/* Messages */

/* What is said about an array, and what is wrong with it. */
typedef struct
{
  NdHdf5Array *array;
  gboolean has_type, has_sizes, has_layout;
  gsize fill;
  const gchar *reason;
} Description;

static gboolean
is_ieee (const guint8 *bytes, gsize size)
{
  const guint exponent = bytes[13], mantissa = bytes[15];

  return (size == 2 && exponent == 5 && mantissa == 10)
      || (size == 4 && exponent == 8 && mantissa == 23)
      || (size == 8 && exponent == 11 && mantissa == 52);
}

static void
take_type (Description *description, const guint8 *bytes, gsize n)
{
  static const NdStoredType integers[2][4] = {
    { ND_STORED_UINT8, ND_STORED_UINT16, ND_STORED_UINT32, ND_STORED_UINT64 },
    { ND_STORED_INT8, ND_STORED_INT16, ND_STORED_INT32, ND_STORED_INT64 },
  };
  NdHdf5Array *array = description->array;
  const guint kind = n >= 12 ? bytes[0] & 15 : G_MAXUINT;
  const guint64 size = n >= 12 ? nd_hdf5_number (bytes + 4, 4) : 0;

  description->has_type = kind <= 1
      && (size == 1 || size == 2 || size == 4 || size == 8)
      && nd_hdf5_number (bytes + 8, 2) == 0
      && nd_hdf5_number (bytes + 10, 2) == 8 * size
      && (kind == 0
          || (n >= 16 && size > 1 && !(bytes[1] & 0x40)
              && is_ieee (bytes, size)));
  if (!description->has_type)
    return;
  array->swapped = size > 1 && (bytes[1] & 1) != (G_BYTE_ORDER == G_BIG_ENDIAN);
  if (kind == 0)
    array->type = integers[bytes[1] >> 3 & 1][size == 8 ? 3 : size / 2];
  else
    array->type = size == 2 ? ND_STORED_FLOAT16
        : size == 4         ? ND_STORED_FLOAT32
                            : ND_STORED_FLOAT64;
}

static void
take_sizes (Description *description, const guint8 *bytes, gsize n)
{
  NdHdf5Array *array = description->array;
  const gsize head = n >= 4 && bytes[0] == 1 ? 8 : 4;

  if (n < head || bytes[0] < 1 || bytes[0] > 2 || bytes[1] < 1
      || bytes[1] > ND_HDF5_AXES || n - head < 8u * bytes[1])
    return;
  array->axes = bytes[1];
  for (guint a = 0; a < array->axes; a++)
    array->size[a] = nd_hdf5_number (bytes + head + 8 * a, 8);
  description->has_sizes = TRUE;
}

/* Versions 1 and 2 have the number of axes before the class. */
static void
take_layout (Description *description, const guint8 *bytes, gsize n)
{
  NdHdf5Array *array = description->array;
  const gboolean old = n > 8 && bytes[0] < 3;
  const guint kind = n > 2 ? bytes[old ? 2 : 1] : 0;
  const gsize at = old ? 8 : kind == 2 ? 3 : 2;
  guint axes;

  description->reason =
      "its samples are in its header, or in an index of HDF5 1.10: " REPACK;
  if (n < at + 8 || bytes[0] < 1 || bytes[0] > 3 || kind < 1 || kind > 2)
    return;
  array->place = nd_hdf5_number (bytes + at, 8);
  array->is_chunked = kind == 2;
  description->has_layout = TRUE;
  description->reason = NULL;
  if (!array->is_chunked)
    return;
  /* The last size is that of a sample. */
  axes = bytes[old ? 1 : 2];
  if (axes < 2 || axes > ND_HDF5_AXES + 1 || n < at + 8 + 4 * axes) {
    description->has_layout = FALSE;
    return;
  }
  memset (array->chunk, 0, sizeof (array->chunk));
  for (guint a = 0; a + 1 < axes; a++)
    array->chunk[a] = nd_hdf5_number (bytes + at + 8 + 4 * a, 4);
}

static void
take_filters (Description *description, const guint8 *bytes, gsize n)
{
  NdHdf5Array *array = description->array;
  const guint version = n >= 2 ? bytes[0] : 0;
  gsize at = version == 1 ? 8 : 2;

  description->reason =
      "its chunks are packed by another method than deflate: " REPACK;
  if (version < 1 || version > 2 || bytes[1] > G_N_ELEMENTS (array->filters))
    return;
  array->n_filters = bytes[1];
  for (guint i = 0; i < array->n_filters; i++) {
    const gboolean named =
        version == 1 || (n >= at + 2 && nd_hdf5_number (bytes + at, 2) >= 256);
    const gsize head = named ? 8 : 6;
    gsize name, values;

    if (n < at + head)
      return;
    array->filters[i] = nd_hdf5_number (bytes + at, 2);
    name = named ? nd_hdf5_number (bytes + at + 2, 2) : 0;
    values = nd_hdf5_number (bytes + at + head - 2, 2);
    if (version == 1) {
      name = (name + 7) & ~(gsize) 7;
      values = (values + 1) & ~(gsize) 1;
    }
    at += head + name + 4 * values;
    if (!nd_hdf5_has_filter (array->filters[i]))
      return;
  }
  description->reason = NULL;
}

static void
take_fill (Description *description, guint type, const guint8 *bytes, gsize n)
{
  const guint version = type == ND_HDF5_FILL && n >= 4 ? bytes[0] : 0;
  const gsize at = type == ND_HDF5_OLD_FILL ? 0 : version == 3 ? 2 : 4;
  gsize size;

  if (type == ND_HDF5_FILL
      && (version < 1 || version > 3 || (version == 2 && bytes[3] == 0)
          || (version == 3 && !(bytes[1] & 0x20))))
    return;
  size = n >= at + 4 ? nd_hdf5_number (bytes + at, 4) : 0;
  if (size > sizeof (description->array->fill) || n < at + 4 + size)
    return;
  memcpy (description->array->fill, bytes + at + 4, size);
  description->fill = size;
}

static gboolean
hdf5_array_take_message (guint type, const guint8 *bytes, gsize n,
    gpointer data)
{
  Description *description = data;

  if (type == ND_HDF5_DATATYPE)
    take_type (description, bytes, n);
  else if (type == ND_HDF5_DATASPACE)
    take_sizes (description, bytes, n);
  else if (type == ND_HDF5_LAYOUT)
    take_layout (description, bytes, n);
  else if (type == ND_HDF5_FILTERS)
    take_filters (description, bytes, n);
  else if (type == ND_HDF5_FILL || type == ND_HDF5_OLD_FILL)
    take_fill (description, type, bytes, n);
  else if (type == ND_HDF5_EXTERNAL)
    description->reason = "its samples are in another file";
  return description->reason != NULL;
}

/* Whether a chunk has bytes that can be counted, and none of its sizes is 0. */
static gboolean
hdf5_array_check_chunk (const NdHdf5Array *array)
{
  gsize bytes = nd_stored_size (array->type);

  for (guint a = 0; a < ND_HDF5_AXES; a++) {
    if ((a < array->axes) != (array->chunk[a] > 0)
        || (a < array->axes
            && !g_size_checked_mul (&bytes, bytes, (gsize) array->chunk[a])))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_hdf5_array_open (NdHdf5Array *array, NdHdf5File *file, const gchar *path,
    const gchar **reason)
{
  Description description = { .array = array };
  guint64 at;

  array->n_filters = 0;
  array->has_chunk = FALSE;
  memset (array->fill, 0, sizeof (array->fill));
  *reason =
      "an array is absent, damaged, or in a large group of HDF5 1.8: " REPACK;
  if (!nd_hdf5_file_find (file, path, &at)
      || !nd_hdf5_file_messages (file, at, hdf5_array_take_message,
          &description))
    return FALSE;
  *reason = description.reason;
  if (!*reason && !description.has_type)
    *reason = "its samples are not integers or floats of 1 to 8 bytes";
  if (!*reason && !description.has_sizes)
    *reason = "it has more than five axes, or none";
  if (!*reason
      && (!description.has_layout
          || (array->is_chunked && !hdf5_array_check_chunk (array))))
    *reason = "an array is damaged";
  if (description.fill != nd_stored_size (array->type))
    memset (array->fill, 0, sizeof (array->fill));
  g_strlcpy (array->path, path, sizeof (array->path));
  return *reason == NULL;
}

void
nd_hdf5_array_clear (NdHdf5Array *array, NdHdf5File *file)
{
  nd_budget_free (file->budget, array->unpacked, array->unpacked_size);
  nd_budget_free (file->budget, array->packed, array->packed_size);
  *array = (NdHdf5Array){ 0 };
}

/* Chunks */

typedef struct
{
  guint64 place; /* UNDEFINED: it is absent */
  guint64 n;
  guint32 skipped;
} Chunk;

/* A key: bytes, filters that are skipped, the first sample, 0. */
static gint
hdf5_array_compare (const NdHdf5Array *array, const guint8 *key,
    const guint64 *origin)
{
  for (guint a = 0; a < array->axes; a++) {
    const guint64 at = nd_hdf5_number (key + 8 + 8 * a, 8);

    if (at != origin[a])
      return at < origin[a] ? -1 : 1;
  }
  return 0;
}

/* FALSE if the tree is damaged. */
static gboolean
hdf5_array_find_chunk (const NdHdf5Array *array, NdHdf5File *file,
    const guint64 *origin, Chunk *chunk)
{
  const gsize key = 8 + 8 * (array->axes + 1), entry = key + 8;
  guint64 at = array->place;
  guint level = 256;

  chunk->place = UNDEFINED;
  while (at != UNDEFINED) {
    g_auto (NdHdf5Block) block = { 0 };
    const guint8 *last = NULL;
    guint n;

    if (at > G_MAXINT64 || !nd_hdf5_block_load (&block, file, at, TREE_BYTES)
        || memcmp (block.bytes, "TREE", 4) != 0 || block.bytes[4] != 1
        || block.bytes[5] >= level)
      return FALSE;
    level = block.bytes[5];
    n = nd_hdf5_number (block.bytes + 6, 2);
    if (n == 0)
      return TRUE;
    if (!nd_hdf5_look (file, n)
        || !nd_hdf5_block_load (&block, file, at + TREE_BYTES, n * entry))
      return FALSE;
    for (guint i = 0; i < n; i++) {
      if (hdf5_array_compare (array, block.bytes + i * entry, origin) <= 0)
        last = block.bytes + i * entry;
    }
    if (!last || (level == 0 && hdf5_array_compare (array, last, origin) != 0))
      return TRUE;
    at = nd_hdf5_number (last + key, 8);
    if (level == 0) {
      *chunk =
          (Chunk){ at, nd_hdf5_number (last, 4), nd_hdf5_number (last + 4, 4) };
      return TRUE;
    }
  }
  return TRUE;
}

/* Reads and unpacks a chunk. */
static gboolean
load_chunk (NdHdf5Array *array, NdHdf5File *file, const Chunk *chunk,
    gsize wanted, const gchar **reason)
{
  const guint64 size = nd_input_size (file->input);

  *reason = "a chunk is damaged, or the file is truncated";
  if (chunk->n == 0 || chunk->place > size || chunk->n > size - chunk->place
      || !nd_budget_reuse (file->budget, &array->packed, &array->packed_size,
          chunk->n))
    return FALSE;
  nd_input_begin (file->input, chunk->place, FALSE);
  return nd_input_read (file->input, array->packed, chunk->n)
      == (gssize) chunk->n
      && nd_hdf5_unpack (array, file->budget, chunk->n, chunk->skipped, wanted,
          reason);
}

static gboolean
hdf5_array_read_chunk (NdHdf5Array *array, NdHdf5File *file,
    const guint64 *origin, NdHdf5Box *box, const gchar **reason)
{
  gsize wanted = nd_stored_size (array->type);
  Chunk chunk;

  for (guint a = 0; a < array->axes; a++)
    wanted *= array->chunk[a];
  if (array->has_chunk
      && memcmp (array->at, origin, array->axes * sizeof (*origin)) == 0) {
    box->memory = array->unpacked;
    return TRUE;
  }
  *reason = "its tree of chunks is damaged";
  if (!hdf5_array_find_chunk (array, file, origin, &chunk))
    return FALSE;
  if (chunk.place == UNDEFINED)
    return TRUE;
  if (array->n_filters == 0 && wanted > LARGE) {
    box->address = chunk.place;
    return chunk.n == wanted && chunk.place > 0
        && chunk.place <= nd_input_size (file->input);
  }
  array->has_chunk = FALSE;
  if (!load_chunk (array, file, &chunk, wanted, reason))
    return FALSE;
  array->has_chunk = TRUE;
  memcpy (array->at, origin, array->axes * sizeof (*origin));
  box->memory = array->unpacked;
  return TRUE;
}

static gboolean
read_chunks (NdHdf5Array *array, NdHdf5File *file, const guint64 *start,
    const guint64 *count, guint8 *samples, gsize stride, const gchar **reason)
{
  const guint64 *chunk = array->chunk;
  guint64 origin[ND_HDF5_AXES];
  guint a;

  for (a = 0; a < array->axes; a++)
    origin[a] = start[a] / chunk[a] * chunk[a];
  do {
    NdHdf5Box box = { file->input, NULL, 0, origin, chunk };

    if (!hdf5_array_read_chunk (array, file, origin, &box, reason))
      return FALSE;
    *reason = "it is truncated";
    if (!nd_hdf5_copy (array, &box, start, count, samples, stride))
      return FALSE;
    for (a = array->axes; a-- > 0;) {
      origin[a] += chunk[a];
      if (origin[a] < start[a] + count[a])
        break;
      origin[a] = start[a] / chunk[a] * chunk[a];
    }
  } while (a != G_MAXUINT);
  return TRUE;
}

gboolean
nd_hdf5_array_read (NdHdf5Array *array, NdHdf5File *file, const guint64 *start,
    const guint64 *count, guint8 *samples, gsize stride, const gchar **reason)
{
  static const guint64 begin[ND_HDF5_AXES] = { 0 };
  const NdHdf5Box box = { file->input, NULL,
    array->place == UNDEFINED ? 0 : array->place, begin, array->size };

  *reason = "it is truncated";
  if (array->is_chunked)
    return read_chunks (array, file, start, count, samples, stride, reason);
  return array->place == UNDEFINED
          || array->place <= nd_input_size (file->input)
      ? nd_hdf5_copy (array, &box, start, count, samples, stride)
      : FALSE;
}

/* Reads samples of an HDF5 array: from the file, or from its chunks.
 */

/* Filters, as HDF5 counts them. */
#define DEFLATE 1
#define SHUFFLE 2
#define FLETCHER32 3
#define SUM_BYTES 4

/* One byte of deflate data makes at most 1032 bytes. */
#define DEFLATE_RATIO 1032

/* Words whose sums fit in 32 bits. */
#define SUM_WORDS 360

gboolean
nd_hdf5_has_filter (guint filter)
{
  return filter >= DEFLATE && filter <= FLETCHER32;
}

static guint32
hdf5_array_fold (guint32 sum)
{
  return (sum & 0xffff) + (sum >> 16);
}

/* Fletcher's sum over words of 16 bits, the high byte first. */
static guint32
sum_bytes (const guint8 *bytes, gsize n)
{
  guint32 first = 0, second = 0;
  gsize i = 0;

  while (i + 1 < n) {
    for (guint word = 0; word < SUM_WORDS && i + 1 < n; word++, i += 2) {
      first += (guint32) bytes[i] << 8 | bytes[i + 1];
      second += first;
    }
    first = hdf5_array_fold (first);
    second = hdf5_array_fold (second);
  }
  if (i < n) {
    first = hdf5_array_fold (first + ((guint32) bytes[i] << 8));
    second = hdf5_array_fold (second + first);
  }
  return hdf5_array_fold (second) << 16 | hdf5_array_fold (first);
}

static gboolean
check_sum (const guint8 *bytes, gsize *n)
{
  guint32 sum;

  if (*n < SUM_BYTES)
    return FALSE;
  *n -= SUM_BYTES;
  memcpy (&sum, bytes + *n, sizeof (sum));
  return GUINT32_FROM_LE (sum) == sum_bytes (bytes, *n);
}

static gboolean
inflate_bytes (const guint8 *from, gsize n, guint8 *to, gsize *room)
{
  uLongf got = *room;
  const gint status = uncompress (to, &got, from, n);

  nd_written (to, got);

  *room = got;
  return status == Z_OK;
}

/* The first bytes of all samples, then the second ones, and so on. */
static void
unshuffle (const guint8 *from, gsize n, guint8 *to, gsize width)
{
  const gsize samples = n / width;

  for (gsize b = 0; b < width; b++) {
    for (gsize i = 0; i < samples; i++)
      to[i * width + b] = from[b * samples + i];
  }
  memcpy (to + samples * width, from + samples * width, n - samples * width);
}

static void
swap_buffers (NdHdf5Array *array)
{
  guint8 *bytes = array->packed;
  const gsize size = array->packed_size;

  array->packed = array->unpacked;
  array->packed_size = array->unpacked_size;
  array->unpacked = bytes;
  array->unpacked_size = size;
}

gboolean
nd_hdf5_unpack (NdHdf5Array *array, NdBudget *budget, gsize n, guint32 skipped,
    gsize wanted, const gchar **reason)
{
  const gsize width = nd_stored_size (array->type);
  const gsize room = MAX (wanted + SUM_BYTES, n);

  *reason = "a chunk is damaged";
  if (wanted / DEFLATE_RATIO > n)
    return FALSE;
  swap_buffers (array);
  for (guint i = array->n_filters; i-- > 0;) {
    gsize got = room;

    if (skipped >> i & 1)
      continue;
    if (array->filters[i] == FLETCHER32) {
      if (!check_sum (array->unpacked, &n))
        return FALSE;
      continue;
    }
    if (!nd_budget_reuse (budget, &array->packed, &array->packed_size, room))
      return FALSE;
    if (array->filters[i] == SHUFFLE)
      unshuffle (array->unpacked, n, array->packed, width);
    else if (inflate_bytes (array->unpacked, n, array->packed, &got))
      n = got;
    else
      return FALSE;
    swap_buffers (array);
  }
  return n == wanted;
}

/* Copies */

/* Copies @n samples, or fills them. */
static gboolean
hdf5_array_copy_row (const NdHdf5Array *array, const NdHdf5Box *box, guint64 at,
    gsize n, guint8 *to, gsize stride)
{
  const gsize width = nd_stored_size (array->type);
  guint8 row[4096];

  if (box->address && stride == width) {
    nd_input_begin (box->input, box->address + at * width, FALSE);
    return nd_input_read (box->input, to, n * width) == (gssize) (n * width);
  }
  for (gsize done = 0; done < n;) {
    const gsize part = MIN (n - done, sizeof (row) / width);
    const guint8 *from = row;

    if (box->memory) {
      from = box->memory + (at + done) * width;
    } else if (box->address) {
      nd_input_begin (box->input, box->address + (at + done) * width, FALSE);
      if (nd_input_read (box->input, row, part * width)
          != (gssize) (part * width))
        return FALSE;
    }
    for (gsize i = 0; i < part; i++)
      memcpy (to + (done + i) * stride,
          box->memory || box->address ? from + i * width : array->fill, width);
    done += part;
  }
  return TRUE;
}

gboolean
nd_hdf5_copy (const NdHdf5Array *array, const NdHdf5Box *box,
    const guint64 *start, const guint64 *count, guint8 *samples, gsize stride)
{
  const guint axes = array->axes;
  guint64 low[ND_HDF5_AXES], high[ND_HDF5_AXES], at[ND_HDF5_AXES];
  guint64 row;
  guint last = axes - 1;

  for (guint a = 0; a < axes; a++) {
    low[a] = at[a] = MAX (start[a], box->origin[a]);
    high[a] = MIN (start[a] + count[a], box->origin[a] + box->size[a]);
  }
  /* Rows that lie together in both are one. */
  row = high[last] - low[last];
  while (last > 0 && row > 0 && box->size[last] == count[last]
      && high[last] - low[last] == count[last]) {
    last--;
    row *= high[last] - low[last];
  }
  for (;;) {
    guint64 from = 0, to = 0;
    guint a;

    for (a = 0; a < axes; a++) {
      from = from * box->size[a] + at[a] - box->origin[a];
      to = to * count[a] + at[a] - start[a];
    }
    if (!hdf5_array_copy_row (array, box, from, row, samples + to * stride,
            stride))
      return FALSE;
    for (a = last; a-- > 0;) {
      if (++at[a] < high[a])
        break;
      at[a] = low[a];
    }
    if (a == G_MAXUINT)
      return TRUE;
  }
}
