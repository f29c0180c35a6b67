/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicomcodecs.h"

#include <openjpeg.h>
#include <string.h>

/* What the library takes for a sample: an integer, and as much for its
 * wavelets. */
#define LIBRARY_BYTES 16

/* And for a tile, and each component of it. */
#define TILE_BYTES 8192
#define TILE_PART_BYTES 2048

/* Markers of a code stream (ISO 15444-1, annex A). */
#define COD 0xff52
#define COC 0xff53
#define SOT 0xff90
#define SOD 0xff93
#define EOC 0xffd9

/* Of a tile: SOT and SOD. */
#define TILE_LEAST 14

/* Of a code stream up to the number of components. */
#define SIZE_LEAST 42
#define COMPONENTS_MAX 4

/* The library takes hundreds of bytes for each precinct (this is a power of 2)
 * and thousands for each tile, and a header may ask for one for each sample. */
#define SMALLEST_PRECINCT 5
#define SMALLEST_TILE 64

typedef struct
{
  const guint8 *bytes;
  gsize n, at;
} Source;

static guint
dicom_jpeg2000_get (const guint8 *bytes, guint n)
{
  guint number = 0;

  for (guint i = 0; i < n; i++)
    number = number << 8 | bytes[i];
  return number;
}

/* Finds the code stream, which may be in boxes of JP2. FALSE if there is
 * none. */
static gboolean
find_stream (const NdDicomPacked *frame, Source *source)
{
  static const guint8 begin[] = { 0xff, 0x4f, 0xff, 0x51 };

  for (gsize at = 0; at + sizeof (begin) <= frame->n; at++) {
    if (memcmp (frame->packed + at, begin, sizeof (begin)) != 0)
      continue;
    *source = (Source){ frame->packed + at, frame->n - at, 0 };
    return TRUE;
  }
  return FALSE;
}

/* @n bytes of a segment, after its marker, say how components are coded. */
static gboolean
check_precincts (const guint8 *segment, gsize n, guint marker, guint components)
{
  const gsize style = marker == COD ? 2 : components < 257 ? 3 : 4;
  const gsize first = style + (marker == COD ? 10 : 6);

  if (n <= style || (segment[style] & 1) == 0)
    return TRUE;
  for (gsize i = first; i < n; i++) {
    if (segment[i] % 16 < SMALLEST_PRECINCT
        || segment[i] / 16 < SMALLEST_PRECINCT)
      return FALSE;
  }
  return TRUE;
}

/* The tiles along an axis, of which @size has the numbers. */
static guint64
count_tiles (const guint8 *size)
{
  const guint64 end = dicom_jpeg2000_get (size, 4),
                tile = dicom_jpeg2000_get (size + 16, 4);
  const guint64 first = dicom_jpeg2000_get (size + 24, 4);

  return first < end && tile > 0 ? (end - first + tile - 1) / tile : 0;
}

/* Checks the size of the picture and of its tiles, before the library has
 * memory for them. */
static gboolean
check_size (const Source *source, const NdDicomPacked *frame)
{
  const guint8 *size = source->bytes + 8;
  guint64 tiles;

  if (source->n < SIZE_LEAST || frame->components > COMPONENTS_MAX
      || dicom_jpeg2000_get (size + 32, 2) != frame->components
      || dicom_jpeg2000_get (size, 4) - dicom_jpeg2000_get (size + 8, 4)
          != frame->columns
      || dicom_jpeg2000_get (size + 4, 4) - dicom_jpeg2000_get (size + 12, 4)
          != frame->rows
      || dicom_jpeg2000_get (size + 16, 4) < MIN (frame->columns, SMALLEST_TILE)
      || dicom_jpeg2000_get (size + 20, 4) < MIN (frame->rows, SMALLEST_TILE))
    return FALSE;
  return g_uint64_checked_mul (&tiles, count_tiles (size),
             count_tiles (size + 4))
      && tiles <= source->n / TILE_LEAST
      && tiles * (TILE_BYTES + TILE_PART_BYTES * frame->components)
      <= nd_budget_left (frame->budget);
}

/* Markers of segments that the library knows. Before others it looks for the
 * next one that it knows. */
static gboolean
dicom_jpeg2000_is_known (guint marker)
{
  static const guint8 markers[] = { 0x50, 0x51, 0x52, 0x53, 0x55, 0x57, 0x58,
    0x59, 0x5c, 0x5d, 0x5e, 0x5f, 0x60, 0x61, 0x63, 0x64, 0x74, 0x75, 0x77,
    0x78, 0x90 };

  return marker >> 8 == 0xff
      && memchr (markers, marker & 0xff, sizeof (markers));
}

/* Checks the headers of the picture and of its tiles. */
static gboolean
check_headers (const Source *source, guint components)
{
  const guint8 *bytes = source->bytes;
  gsize at = 2, tile = 0, tile_bytes = 0;

  while (at + 4 <= source->n) {
    const guint marker = dicom_jpeg2000_get (bytes + at, 2),
                n = dicom_jpeg2000_get (bytes + at + 2, 2);

    if (marker == SOD) {
      /* A tile without a length is the last one. */
      if (tile_bytes == 0 || tile_bytes > source->n - tile)
        return TRUE;
      if (tile_bytes < at + 2 - tile)
        return FALSE;
      at = tile + tile_bytes;
      continue;
    }
    if (marker == EOC)
      return TRUE;
    if (!dicom_jpeg2000_is_known (marker) || n < 2 || n > source->n - at - 2)
      return FALSE;
    if (marker == SOT && n >= 10) {
      tile = at;
      tile_bytes = dicom_jpeg2000_get (bytes + at + 6, 4);
    }
    if ((marker == COD || marker == COC)
        && !check_precincts (bytes + at + 2, n, marker, components))
      return FALSE;
    at += 2 + n;
  }
  return TRUE;
}

static OPJ_SIZE_T
dicom_jpeg2000_read_bytes (void *to, OPJ_SIZE_T n, void *data)
{
  Source *source = data;
  const gsize got = MIN (n, source->n - source->at);

  if (got == 0)
    return (OPJ_SIZE_T) -1;
  memcpy (to, source->bytes + source->at, got);
  source->at += got;
  return got;
}

static OPJ_OFF_T
dicom_jpeg2000_skip (OPJ_OFF_T n, void *data)
{
  Source *source = data;

  if (n < 0 || (guint64) n > source->n - source->at)
    return -1;
  source->at += n;
  return n;
}

static OPJ_BOOL
dicom_jpeg2000_seek (OPJ_OFF_T to, void *data)
{
  Source *source = data;

  if (to < 0 || (guint64) to > source->n)
    return OPJ_FALSE;
  source->at = to;
  return OPJ_TRUE;
}

static gboolean
is_expected (const NdDicomPacked *frame, const opj_image_t *image)
{
  if (image->numcomps != frame->components)
    return FALSE;
  for (guint c = 0; c < image->numcomps; c++) {
    const opj_image_comp_t *part = &image->comps[c];

    if (part->w != frame->columns || part->h != frame->rows
        || part->prec > 8 * frame->width)
      return FALSE;
  }
  return image->x1 - image->x0 == frame->columns
      && image->y1 - image->y0 == frame->rows;
}

static gboolean
dicom_jpeg2000_take_samples (const NdDicomPacked *frame,
    const opj_image_t *image, guint8 *samples)
{
  const gsize pixels = (gsize) frame->columns * frame->rows;

  if (!is_expected (frame, image))
    return FALSE;
  for (guint c = 0; c < image->numcomps; c++) {
    const OPJ_INT32 *from = image->comps[c].data;
    guint8 *to = samples + c * frame->width;

    if (!from)
      return FALSE;
    for (gsize i = 0; i < pixels; i++) {
      const guint32 word = from[i];
      const guint16 half = word;
      const guint8 byte = word;

      memcpy (to + i * image->numcomps * frame->width,
          frame->width == 1       ? (gconstpointer) &byte
              : frame->width == 2 ? (gconstpointer) &half
                                  : &word,
          frame->width);
    }
  }
  return TRUE;
}

static gboolean
dicom_jpeg2000_decode (opj_codec_t *codec, opj_stream_t *stream,
    const NdDicomPacked *frame, guint8 *samples)
{
  opj_dparameters_t parameters;
  opj_image_t *image = NULL;
  gboolean ok;

  opj_set_default_decoder_parameters (&parameters);
  ok = opj_setup_decoder (codec, &parameters)
      && opj_decoder_set_strict_mode (codec, OPJ_TRUE)
      && opj_read_header (stream, codec, &image) && is_expected (frame, image)
      && opj_decode (codec, stream, image)
      && dicom_jpeg2000_take_samples (frame, image, samples);
  if (image)
    opj_image_destroy (image);
  return ok;
}

gboolean
nd_dicom_jpeg2000_read (const NdDicomPacked *frame, guint8 *samples,
    const gchar **reason)
{
  const guint64 n = (guint64) frame->columns * frame->rows * frame->components;
  Source source;
  opj_stream_t *stream;
  opj_codec_t *codec;
  gboolean ok;

  *reason = "there is no memory to decode its JPEG 2000 data";
  if (n > nd_budget_left (frame->budget) / LIBRARY_BYTES)
    return FALSE;
  *reason = "its JPEG 2000 data are damaged, or have another size than its "
            "header says";
  if (!find_stream (frame, &source) || !check_size (&source, frame)
      || !check_headers (&source, frame->components))
    return FALSE;
  stream = opj_stream_default_create (OPJ_TRUE);
  codec = opj_create_decompress (OPJ_CODEC_J2K);
  opj_stream_set_read_function (stream, dicom_jpeg2000_read_bytes);
  opj_stream_set_skip_function (stream, dicom_jpeg2000_skip);
  opj_stream_set_seek_function (stream, dicom_jpeg2000_seek);
  opj_stream_set_user_data (stream, &source, NULL);
  opj_stream_set_user_data_length (stream, source.n);
  ok = dicom_jpeg2000_decode (codec, stream, frame, samples);
  opj_destroy_codec (codec);
  opj_stream_destroy (stream);
  return ok;
}
