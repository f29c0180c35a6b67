/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomframes.h"

#include "formats/dicomcodecs.h"

#include <math.h>
#include <string.h>

#define RLE "1.2.840.10008.1.2.5"
#define RLE_HEADER 64
#define RLE_SEGMENTS 15
#define FRAGMENTS_MAX (1 << 21)

/* Codecs make samples at most so much larger. */
#define PACKED_RATIO 2
#define PACKED_MORE ((gsize) 16 << 20)

/* Fragments */

/* The places at which frames begin, of the table before the fragments. */
static gboolean
use_table (NdDicomFrames *frames, guint64 table, guint32 n, guint64 first)
{
  guint32 fragment = 0;

  if (n / 4 != frames->n)
    return FALSE;
  for (guint64 i = 0; i < frames->n; i++) {
    guint8 bytes[4];
    guint64 place;

    if (!nd_dicom_bytes_read (frames->bytes, table + 4 * i, bytes, 4))
      return FALSE;
    place = first + 8
        + ((guint32) bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8
            | bytes[0]);
    while (fragment < frames->fragments->len
        && g_array_index (frames->fragments, NdDicomFragment, fragment).place
            < place)
      fragment++;
    if (fragment == frames->fragments->len
        || g_array_index (frames->fragments, NdDicomFragment, fragment).place
            != place)
      return FALSE;
    g_array_index (frames->firsts, guint32, i) = fragment;
  }
  return TRUE;
}

static gboolean
find_fragments (NdDicomFrames *frames)
{
  guint64 at = frames->elements->pixels, table, first;
  NdDicomFragment fragment;
  guint32 n_table;
  NdList *firsts;

  frames->reason = "its fragments are damaged";
  if (!nd_dicom_next_fragment (frames->bytes, &at, &table, &n_table))
    return FALSE;
  first = at;
  frames->fragments =
      nd_list_new (frames->bytes->budget, sizeof (NdDicomFragment));
  firsts = frames->firsts =
      nd_list_new (frames->bytes->budget, sizeof (guint32));
  while (nd_dicom_next_fragment (frames->bytes, &at, &fragment.place,
      &fragment.n)) {
    if (frames->fragments->len >= FRAGMENTS_MAX
        || !nd_list_add (frames->fragments, fragment))
      return FALSE;
  }
  if ((frames->fragments->len < frames->n && !frames->keep)
      || !nd_list_set_size (firsts, frames->n + 1))
    return FALSE;
  g_array_index (firsts, guint32, frames->n) = frames->fragments->len;
  if (frames->fragments->len < frames->n) {
    for (guint32 i = 0; i < frames->n; i++)
      g_array_index (firsts, guint32, i) = MIN (i, frames->fragments->len);
    return TRUE;
  }
  /* One frame has all fragments; of several, each has one without a table. */
  if (frames->n > 1 && !use_table (frames, table, n_table, first)) {
    if (frames->fragments->len != frames->n)
      return FALSE;
    for (guint32 i = 0; i < frames->n; i++)
      g_array_index (firsts, guint32, i) = i;
  }
  return TRUE;
}

gboolean
nd_dicom_frames_find (NdDicomFrames *frames)
{
  const NdDicomElements *elements = frames->elements;
  const guint64 size = nd_dicom_bytes_size (frames->bytes);
  const guint64 pixels = (guint64) elements->columns * elements->rows;
  guint64 bits, all;

  if (elements->pixel_bytes == G_MAXUINT64)
    return find_fragments (frames);
  frames->reason = "it has fewer samples than its header says";
  /* Two pixels share their colours. */
  bits = elements->bits
      * (strcmp (elements->photometric, "YBR_FULL_422") == 0
              ? 2
              : elements->samples);
  if (pixels * bits % 8 != 0 && elements->bits != 1)
    return FALSE;
  frames->stored = (pixels * bits + 7) / 8;
  return g_uint64_checked_mul (&all, pixels * bits, frames->n)
      && elements->pixels <= size
      && (frames->keep || all / 8 + (all % 8 > 0) <= size - elements->pixels);
}

void
nd_dicom_frames_clear (NdDicomFrames *frames)
{
  g_clear_pointer (&frames->fragments, nd_list_free);
  g_clear_pointer (&frames->firsts, nd_list_free);
  nd_budget_free (frames->bytes->budget, frames->packed, frames->packed_size);
  frames->packed = NULL;
}

/* RLE (DICOM PS3.5, annex G): the bytes of samples, the highest first, apart
 * and in the coding of PackBits. */

static gboolean
unpack_segment (const guint8 *from, gsize n, guint8 *to, gsize stride,
    gsize wanted)
{
  gsize at = 0, done = 0;

  while (done < wanted) {
    gsize count;

    if (at >= n)
      return FALSE;
    count = from[at++];
    if (count == 128)
      continue;
    if (count < 128) {
      count++;
      if (count > n - at)
        return FALSE;
      for (gsize i = 0; i < count && done < wanted; i++)
        to[stride * done++] = from[at + i];
      at += count;
    } else {
      count = 257 - count;
      if (at >= n)
        return FALSE;
      for (gsize i = 0; i < count && done < wanted; i++)
        to[stride * done++] = from[at];
      at++;
    }
  }
  return TRUE;
}

static guint32
dicom_frames_little (const guint8 *bytes)
{
  return (guint32) bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0];
}

static gboolean
unpack_rle (NdDicomFrames *frames, gsize n, guint8 *samples)
{
  const guint8 *packed = frames->packed;
  const gsize components = frames->elements->samples;
  const gsize segments = components * frames->width;
  const gsize pixels = frames->samples / components;

  frames->reason = "its RLE data are damaged";
  if (n < RLE_HEADER || segments > RLE_SEGMENTS
      || dicom_frames_little (packed) != segments)
    return FALSE;
  for (gsize s = 0; s < segments; s++) {
    const gsize byte = s % frames->width;
    const gsize begin = dicom_frames_little (packed + 4 + 4 * s);
    const gsize end =
        s + 1 < segments ? dicom_frames_little (packed + 8 + 4 * s) : n;
    const gsize place = s / frames->width * frames->width
        + (G_BYTE_ORDER == G_LITTLE_ENDIAN ? frames->width - 1 - byte : byte);

    if (begin < RLE_HEADER || begin > end || end > n
        || !unpack_segment (packed + begin, end - begin, samples + place,
            segments, pixels))
      return FALSE;
  }
  return TRUE;
}

/* Joins the fragments of a frame. */
static gboolean
read_fragments (NdDicomFrames *frames, guint64 number, gsize *n)
{
  const guint32 *firsts = (const guint32 *) frames->firsts->data;
  gsize size = 0, done = 0;

  if (firsts[number] == firsts[number + 1]) {
    frames->reason = "it is truncated";
    return FALSE;
  }
  for (guint32 i = firsts[number]; i < firsts[number + 1]; i++)
    size += g_array_index (frames->fragments, NdDicomFragment, i).n;
  if (size / PACKED_RATIO
      > frames->samples * frames->width + PACKED_MORE / PACKED_RATIO) {
    frames->reason = "a frame has far more compressed bytes than samples";
    return FALSE;
  }
  if (size > nd_dicom_bytes_size (frames->bytes)
      || !nd_budget_reuse (frames->bytes->budget, &frames->packed,
          &frames->packed_size, MAX (size, 1)))
    return FALSE;
  for (guint32 i = firsts[number]; i < firsts[number + 1]; i++) {
    const NdDicomFragment *fragment =
        &g_array_index (frames->fragments, NdDicomFragment, i);

    if (!nd_dicom_bytes_read (frames->bytes, fragment->place,
            frames->packed + done, fragment->n))
      return FALSE;
    done += fragment->n;
  }
  *n = size;
  return TRUE;
}

static gboolean
dicom_frames_decode (NdDicomFrames *frames, gsize n, guint8 *samples,
    gboolean *is_rgb)
{
  const NdDicomElements *elements = frames->elements;
  const NdDicomPacked frame = { .packed = frames->packed,
    .n = n,
    .columns = elements->columns,
    .rows = elements->rows,
    .components = elements->samples,
    .width = frames->width,
    .is_ybr = g_str_has_prefix (elements->photometric, "YBR_FULL"),
    .budget = frames->bytes->budget };

  return nd_dicom_codec_read (elements->syntax, &frame, samples, is_rgb,
      &frames->reason);
}

/* Uncompressed */

/* Samples of one bit, the lowest bit first, do not begin at a byte. */
static gboolean
read_bits (NdDicomFrames *frames, guint64 number, guint8 *samples)
{
  const guint64 first = number * frames->samples;
  const gsize bytes = (first % 8 + frames->samples + 7) / 8;

  if (!nd_budget_reuse (frames->bytes->budget, &frames->packed,
          &frames->packed_size, bytes)
      || !nd_dicom_bytes_read (frames->bytes,
          frames->elements->pixels + first / 8, frames->packed, bytes))
    return FALSE;
  for (gsize i = 0; i < frames->samples; i++) {
    const gsize bit = first % 8 + i;

    samples[i] = frames->packed[bit / 8] >> (bit % 8) & 1;
  }
  return TRUE;
}

/* Bytes that were written as words of the other byte order. */
static gboolean
read_swapped_words (NdDicomFrames *frames, guint64 at, gsize n)
{
  const guint64 from = at & ~(guint64) 1, pixels = frames->elements->pixels;
  const gsize odd = at % 2, bytes = (odd + n + 1) & ~(gsize) 1;
  guint8 *packed;

  if (!nd_budget_reuse (frames->bytes->budget, &frames->packed,
          &frames->packed_size, bytes)
      || !nd_dicom_bytes_read (frames->bytes, pixels + from, frames->packed,
          bytes))
    return FALSE;
  packed = frames->packed;
  for (gsize i = 0; i < bytes; i += 2) {
    const guint8 first = packed[i];

    packed[i] = packed[i + 1];
    packed[i + 1] = first;
  }
  memmove (packed, packed + odd, n);
  return TRUE;
}

/* Reads the bytes of a frame into @frames->packed. */
static gboolean
read_plain (NdDicomFrames *frames, guint64 number)
{
  const NdDicomElements *elements = frames->elements;
  const guint64 at = number * frames->stored;

  if (elements->big_endian && elements->words && frames->width == 1)
    return read_swapped_words (frames, at, frames->stored);
  return nd_budget_reuse (frames->bytes->budget, &frames->packed,
             &frames->packed_size, frames->stored)
      && nd_dicom_bytes_read (frames->bytes, elements->pixels + at,
          frames->packed, frames->stored);
}

static void
swap_bytes (guint8 *samples, gsize width, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    for (gsize b = 0; b < width / 2; b++) {
      const guint8 byte = samples[i * width + b];

      samples[i * width + b] = samples[i * width + width - 1 - b];
      samples[i * width + width - 1 - b] = byte;
    }
  }
}

/* Two pixels have two brightnesses and one pair of colour differences. */
static void
spread_422 (const NdDicomFrames *frames, guint8 *samples)
{
  const guint8 *from = frames->packed;

  for (gsize i = 0; i + 6 <= frames->samples; i += 6, from += 4) {
    const guint8 pixels[6] = { from[0], from[2], from[3], from[1], from[2],
      from[3] };

    memcpy (samples + i, pixels, 6);
  }
}

static void
take_plain (const NdDicomFrames *frames, guint8 *samples)
{
  const NdDicomElements *elements = frames->elements;
  const gsize components = elements->samples, width = frames->width;
  const gsize pixels = frames->samples / components;

  if (strcmp (elements->photometric, "YBR_FULL_422") == 0) {
    spread_422 (frames, samples);
  } else if (components == 1 || elements->planar == 0) {
    memcpy (samples, frames->packed, frames->samples * width);
  } else {
    for (gsize c = 0; c < components; c++) {
      for (gsize i = 0; i < pixels; i++)
        memcpy (samples + (i * components + c) * width,
            frames->packed + (c * pixels + i) * width, width);
    }
  }
  if (elements->big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN))
    swap_bytes (samples, width, frames->samples);
}

/* Values */

/* DICOM PS3.3, C.7.6.3.1.2, solved for RGB. */
static void
convert_ybr (guint8 *samples, gsize n)
{
  for (gsize i = 0; i + 3 <= n; i += 3) {
    const gdouble y = samples[i];
    const gdouble b = samples[i + 1] - 128.0, r = samples[i + 2] - 128.0;
    const gdouble rgb[3] = { y + 1.402 * r,
      y - 0.114 * 1.772 / 0.587 * b - 0.299 * 1.402 / 0.587 * r,
      y + 1.772 * b };

    for (guint c = 0; c < 3; c++)
      samples[i + c] = CLAMP (floor (rgb[c] + 0.5), 0, 255);
  }
}

/* Samples may have fewer bits than they take, with others beside them. */
static void
mask_samples (const NdDicomFrames *frames, guint8 *samples)
{
  const NdDicomElements *elements = frames->elements;
  const guint bits = elements->stored, shift = elements->high + 1 - bits;
  const guint32 mask = bits < 32 ? (1u << bits) - 1 : G_MAXUINT32;
  const guint32 sign = elements->is_signed ? 1u << (bits - 1) : 0;

  for (gsize i = 0; i < frames->samples; i++) {
    guint8 *at = samples + i * frames->width;
    guint16 half;
    guint32 value;

    if (frames->width == 1) {
      value = *at;
    } else if (frames->width == 2) {
      memcpy (&half, at, 2);
      value = half;
    } else {
      memcpy (&value, at, 4);
    }
    value = value >> shift & mask;
    if (value & sign)
      value |= ~mask;
    half = value;
    if (frames->width == 1)
      *at = value;
    else
      memcpy (at, frames->width == 2 ? (gconstpointer) &half : &value,
          frames->width);
  }
}

gboolean
nd_dicom_frames_read (NdDicomFrames *frames, guint64 number, guint8 *samples)
{
  const NdDicomElements *elements = frames->elements;
  gboolean is_rgb = FALSE;
  gsize n;

  frames->reason = "it is truncated";
  if (elements->bits == 1)
    return read_bits (frames, number, samples);
  if (frames->fragments) {
    if (!read_fragments (frames, number, &n)
        || !(strcmp (elements->syntax, RLE) == 0
                ? unpack_rle (frames, n, samples)
                : dicom_frames_decode (frames, n, samples, &is_rgb)))
      return FALSE;
  } else {
    if (!read_plain (frames, number))
      return FALSE;
    take_plain (frames, samples);
  }
  if (elements->pixel_tag == 0x7fe00010 && elements->stored < 8 * frames->width
      && frames->width <= 4)
    mask_samples (frames, samples);
  if (!is_rgb && g_str_has_prefix (elements->photometric, "YBR_FULL"))
    convert_ybr (samples, frames->samples);
  return TRUE;
}

/* The palette of a DICOM file: a table of colours for its samples (DICOM PS3.3,
 * C.7.6.3.1.5 and .6).
 */

/* Reads a table into every third place. Bytes of a file of big-endian words
 * change places. */
static gboolean
load_table (NdDicomPalette *palette, const NdDicomElements *elements,
    NdDicomBytes *bytes, guint colour)
{
  const NdDicomTable *table = &elements->tables[colour];
  const gsize n = palette->n * palette->width, have = n + n % 2;
  const gboolean swapped = elements->big_endian && table->words;
  guint8 *from = nd_budget_alloc (palette->budget, have);
  gboolean ok = from
      && nd_dicom_bytes_read (bytes, table->at, from, MIN (have, table->n));

  for (guint i = 0; i < palette->n && ok; i++) {
    guint8 *to = palette->colours + (3 * i + colour) * palette->width;
    guint16 word;

    if (palette->width == 1) {
      *to = from[swapped ? i ^ 1 : i];
      continue;
    }
    memcpy (&word, from + 2 * i, 2);
    word =
        elements->big_endian ? GUINT16_FROM_BE (word) : GUINT16_FROM_LE (word);
    memcpy (to, &word, 2);
  }
  nd_budget_free (palette->budget, from, have);
  return ok;
}

gboolean
nd_dicom_palette_load (NdDicomPalette *palette, const NdDicomElements *elements,
    NdDicomBytes *bytes)
{
  const NdDicomTable *red = elements->tables;

  palette->budget = bytes->budget;
  palette->n = red->entries;
  palette->first = red->first;
  palette->width = red->n < 2 * (guint64) red->entries ? 1 : 2;
  for (guint c = 0; c < 3; c++) {
    const NdDicomTable *table = &elements->tables[c];

    if (table->entries == 0 || table->entries != red->entries
        || table->first != red->first || table->n < palette->n * palette->width)
      return FALSE;
  }
  palette->size = 3 * palette->n * palette->width;
  palette->colours = nd_budget_alloc (palette->budget, palette->size);
  return palette->colours && load_table (palette, elements, bytes, 0)
      && load_table (palette, elements, bytes, 1)
      && load_table (palette, elements, bytes, 2);
}

void
nd_dicom_palette_clear (NdDicomPalette *palette)
{
  nd_budget_free (palette->budget, palette->colours, palette->size);
  *palette = (NdDicomPalette){ 0 };
}

void
nd_dicom_palette_apply (const NdDicomPalette *palette, const guint8 *samples,
    gsize bytes, gsize n, guint8 *colours)
{
  const gsize size = 3 * palette->width;

  for (gsize i = 0; i < n; i++) {
    guint16 sample = samples[i];
    guint place;

    if (bytes == 2)
      memcpy (&sample, samples + 2 * i, 2);
    place = sample < palette->first
        ? 0
        : MIN (sample - palette->first, palette->n - 1);
    memcpy (colours + i * size, palette->colours + place * size, size);
  }
}
