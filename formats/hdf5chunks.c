/* Reads samples of an HDF5 array: from the file, or from its chunks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/hdf5chunks.h"

#include "core/written.h"

#include <string.h>
#include <zlib.h>

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
fold (guint32 sum)
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
    first = fold (first);
    second = fold (second);
  }
  if (i < n) {
    first = fold (first + ((guint32) bytes[i] << 8));
    second = fold (second + first);
  }
  return fold (second) << 16 | fold (first);
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
copy_row (const NdHdf5Array *array, const NdHdf5Box *box, guint64 at, gsize n,
    guint8 *to, gsize stride)
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
    if (!copy_row (array, box, from, row, samples + to * stride, stride))
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
