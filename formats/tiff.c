/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiff.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/rate.h"
#include "formats/tiffaxes.h"

#include <math.h>
#include <string.h>
#include <tiffio.h>

/* Bytes that one compressed byte can make, and so the most that a file can
 * claim: of 12-bit codes of LZW, of a block of Zstandard. */
#define DEFLATE_RATIO 1032
#define LZW_RATIO 1350
#define PACKBITS_RATIO 64
#define ZSTD_RATIO 32768

/* libtiff may allocate this much at once, and the size of the file. */
#define LIBRARY_BYTES (1 << 20)

#define MAX_SAMPLES 65535

/* A tile may be larger than its page by this much along x and y. */
#define MAX_TILE 1024
#define NANOSECONDS 1e9

/* The value of the last digit of DeltaT, in nanoseconds. */
#define TIME_DIGIT 1000

/* What all pages of a recording have in common. */
typedef struct
{
  guint32 width, height;
  guint16 bits, format, samples, planar, compression;
} Page;

typedef struct
{
  NdSlices base;
  NdInput *input;
  TIFF *tiff;
  guint64 position; /* of the library in the file */
  gchar message[256];
  Page page;
  NdTiffAxes axes;
  GArray *offsets;    /* guint64: of the directories of the pages */
  guint64 contiguous; /* offset of the samples if they are contiguous, or 0 */
  gsize slices;       /* of a volume */
  gsize width;        /* bytes of a stored sample */
  guint8 *part;       /* a strip or a tile, or NULL */
  gsize part_size;
} Tiff;

/* The file for libtiff. */

static tmsize_t
read_bytes (thandle_t handle, void *data, tmsize_t size)
{
  Tiff *tiff = handle;
  gssize got;

  nd_input_begin (tiff->input, tiff->position, FALSE);
  got = nd_input_read (tiff->input, data, size);
  if (got > 0)
    tiff->position += got;
  return got;
}

static tmsize_t
write_bytes (thandle_t handle, void *data, tmsize_t size)
{
  return -1;
}

static toff_t
seek (thandle_t handle, toff_t offset, int whence)
{
  Tiff *tiff = handle;

  if (whence == SEEK_CUR)
    offset += tiff->position;
  else if (whence == SEEK_END)
    offset += nd_input_size (tiff->input);
  return tiff->position = offset;
}

static int
close_nothing (thandle_t handle)
{
  return 0;
}

static toff_t
get_size (thandle_t handle)
{
  return nd_input_size (((Tiff *) handle)->input);
}

static int
note_error (TIFF *library, void *data, const char *module, const char *format,
    va_list arguments)
{
  Tiff *tiff = data;

  /* The first one tells the cause. */
  if (!*tiff->message)
    g_vsnprintf (tiff->message, sizeof (tiff->message), format, arguments);
  return 1;
}

/* Unknown tags, for example. */
static int
ignore_warning (TIFF *library, void *data, const char *module,
    const char *format, va_list arguments)
{
  return 1;
}

static void
free_tiff (NdSlices *slices)
{
  Tiff *tiff = (Tiff *) slices;

  if (tiff->tiff)
    TIFFClose (tiff->tiff);
  nd_tiff_axes_clear (&tiff->axes);
  g_clear_pointer (&tiff->offsets, g_array_unref);
  g_free (tiff->part);
  g_free (tiff);
}

/* Directories */

static gboolean
read_page (TIFF *library, Page *page)
{
  guint16 tags[5] = { 1, SAMPLEFORMAT_UINT, 1, PLANARCONFIG_CONTIG,
    COMPRESSION_NONE };

  if (!TIFFGetField (library, TIFFTAG_IMAGEWIDTH, &page->width)
      || !TIFFGetField (library, TIFFTAG_IMAGELENGTH, &page->height)
      || page->width == 0 || page->height == 0)
    return FALSE;
  TIFFGetFieldDefaulted (library, TIFFTAG_BITSPERSAMPLE, &tags[0]);
  TIFFGetFieldDefaulted (library, TIFFTAG_SAMPLEFORMAT, &tags[1]);
  TIFFGetFieldDefaulted (library, TIFFTAG_SAMPLESPERPIXEL, &tags[2]);
  TIFFGetFieldDefaulted (library, TIFFTAG_PLANARCONFIG, &tags[3]);
  TIFFGetFieldDefaulted (library, TIFFTAG_COMPRESSION, &tags[4]);
  page->bits = tags[0];
  page->format = tags[1];
  page->samples = tags[2];
  page->planar = tags[3];
  page->compression = tags[4];
  return TRUE;
}

static gboolean
is_equal (const Page *a, const Page *b)
{
  return a->width == b->width && a->height == b->height && a->bits == b->bits
      && a->format == b->format && a->samples == b->samples
      && a->planar == b->planar;
}

/* Whether the directory is a smaller copy of a page, or a mask. */
static gboolean
is_extra (TIFF *library)
{
  guint32 type = 0;

  return TIFFGetField (library, TIFFTAG_SUBFILETYPE, &type)
      && (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/* Notes the directories of all pages. @others is set if some have another size
 * or type than the first. */
static gboolean
read_directories (Tiff *tiff, guint64 *others)
{
  tiff->offsets = g_array_new (FALSE, FALSE, sizeof (guint64));
  *others = 0;
  do {
    const guint64 offset = TIFFCurrentDirOffset (tiff->tiff);
    Page page;

    if (!read_page (tiff->tiff, &page))
      return FALSE;
    if (tiff->offsets->len == 0)
      tiff->page = page;
    else if (is_extra (tiff->tiff))
      continue;
    if (is_equal (&page, &tiff->page)
        && page.compression == tiff->page.compression)
      g_array_append_val (tiff->offsets, offset);
    else
      (*others)++;
  } while (TIFFReadDirectory (tiff->tiff));
  return *tiff->message == '\0';
}

/* Samples */

static gboolean
parse_type (const Page *page, NdStored *stored, gsize *parts)
{
  static const NdStoredType integers[2][4] = {
    { ND_STORED_UINT8, ND_STORED_UINT16, ND_STORED_UINT32, ND_STORED_UINT64 },
    { ND_STORED_INT8, ND_STORED_INT16, ND_STORED_INT32, ND_STORED_INT64 },
  };
  const gboolean is_complex = page->format == SAMPLEFORMAT_COMPLEXIEEEFP;
  const guint bits = is_complex ? page->bits / 2 : page->bits;

  *parts = is_complex ? 2 : 1;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return FALSE;
  if (page->format == SAMPLEFORMAT_IEEEFP || is_complex) {
    stored->type = bits == 16 ? ND_STORED_FLOAT16
        : bits == 32          ? ND_STORED_FLOAT32
                              : ND_STORED_FLOAT64;
    return bits >= 16;
  }
  stored->type = integers[page->format == SAMPLEFORMAT_INT][bits == 64 ? 3
          : bits == 32                                                 ? 2
                       : bits / 16];
  return page->format == SAMPLEFORMAT_UINT || page->format == SAMPLEFORMAT_INT
      || page->format == SAMPLEFORMAT_VOID;
}

/* How many bytes one of the file makes; 0 for a compression that loses, or that
 * the library cannot undo. */
static guint64
get_ratio (guint16 compression)
{
  if (!TIFFIsCODECConfigured (compression))
    return 0;
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_LZW:
      return LZW_RATIO;
    case COMPRESSION_PACKBITS:
      return PACKBITS_RATIO;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return DEFLATE_RATIO;
    case COMPRESSION_ZSTD:
      return ZSTD_RATIO;
    default:
      return 0;
  }
}

static gboolean
refuse_page (const Tiff *tiff, const gchar *path, GError **error)
{
  const Page *page = &tiff->page;
  const TIFFCodec *codec = TIFFFindCODEC (page->compression);

  if (get_ratio (page->compression) == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF compressed by %s (%u); LZW, deflate, PackBits and "
        "Zstandard are read: \"tiffcp -c lzw FILE NEW\" makes one "
        "(libtiff-tools)",
        path, codec ? codec->name : "an unknown method", page->compression);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF with samples of %u bits (format %u); they must be "
        "integers of 8 to 64 bits or floats of 16 to 64 bits: save it with "
        "tifffile.imwrite (name, array.astype ('float32'))",
        path, page->bits, page->format);
  return FALSE;
}

/* The samples lie one after the other if all pages do, or if ImageJ wrote one
 * page for many: it does so above 4 GiB. */
static gboolean
find_contiguous (Tiff *tiff, const NdHeader *header)
{
  uint64_t *offsets = NULL;

  if (tiff->axes.kind != ND_TIFF_IMAGEJ
      || tiff->axes.images <= tiff->offsets->len || tiff->offsets->len != 1
      || tiff->page.compression != COMPRESSION_NONE
      || tiff->page.planar != PLANARCONFIG_CONTIG || tiff->axes.channels > 1
      || TIFFIsTiled (tiff->tiff)
      || !TIFFSetSubDirectory (tiff->tiff,
          g_array_index (tiff->offsets, guint64, 0))
      || !TIFFGetField (tiff->tiff, TIFFTAG_STRIPOFFSETS, &offsets))
    return FALSE;
  tiff->contiguous = offsets[0];
  return tiff->contiguous > 0;
}

static gboolean
set_part (Tiff *tiff, gsize size)
{
  if (size <= tiff->part_size)
    return TRUE;
  g_free (tiff->part);
  tiff->part = g_try_malloc (size);
  tiff->part_size = tiff->part ? size : 0;
  return tiff->part != NULL;
}

/* Copies the rows of a strip or tile, @n samples of @bytes each, to every
 * @stride-th byte of the slice. */
static void
copy_row (guint8 *to, gsize stride, const guint8 *from, gsize bytes, gsize n)
{
  if (stride == bytes) {
    memcpy (to, from, n * bytes);
    return;
  }
  for (gsize i = 0; i < n; i++)
    memcpy (to + i * stride, from + i * bytes, bytes);
}

/* Reads the current page into a slice with @stride bytes from pixel to
 * pixel. */
static gboolean
read_strips (Tiff *tiff, guint8 *slice, gsize stride)
{
  const Page *page = &tiff->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize bytes = tiff->width * (separate ? 1 : page->samples);
  const gsize row = page->width * bytes;
  guint32 rows = 0;
  gsize per_plane;

  TIFFGetFieldDefaulted (tiff->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  rows = CLAMP (rows, 1, page->height);
  per_plane = (page->height + (gsize) rows - 1) / rows;
  if (!set_part (tiff, rows * row))
    return FALSE;
  for (gsize s = 0; s < per_plane * (separate ? page->samples : 1); s++) {
    const gsize first = s % per_plane * rows;
    const gsize n = MIN (rows, page->height - first);

    if (TIFFReadEncodedStrip (tiff->tiff, s, tiff->part, n * row)
        != (tmsize_t) (n * row))
      return FALSE;
    for (gsize i = 0; i < n; i++)
      copy_row (slice + s / per_plane * tiff->width
              + (first + i) * page->width * stride,
          stride, tiff->part + i * row, bytes, page->width);
  }
  return TRUE;
}

static gboolean
read_tiles (Tiff *tiff, guint8 *slice, gsize stride)
{
  const Page *page = &tiff->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize bytes = tiff->width * (separate ? 1 : page->samples);
  const tmsize_t size = TIFFTileSize (tiff->tiff);
  guint32 width = 0, height = 0, depth = 1;

  TIFFGetField (tiff->tiff, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField (tiff->tiff, TIFFTAG_TILELENGTH, &height);
  TIFFGetField (tiff->tiff, TIFFTAG_TILEDEPTH, &depth);
  /* A hostile tile may be larger than the page that it belongs to. */
  if (size <= 0 || depth > 1 || width > page->width + MAX_TILE
      || height > page->height + MAX_TILE
      || (gsize) width * height * bytes != (gsize) size
      || !set_part (tiff, size))
    return FALSE;
  for (guint16 plane = 0; plane < (separate ? page->samples : 1); plane++) {
    for (gsize y = 0; y < page->height; y += height) {
      for (gsize x = 0; x < page->width; x += width) {
        if (TIFFReadTile (tiff->tiff, tiff->part, x, y, 0, plane) != size)
          return FALSE;
        for (gsize i = 0; i < MIN (height, page->height - y); i++)
          copy_row (slice + plane * tiff->width
                  + ((y + i) * page->width + x) * stride,
              stride, tiff->part + i * width * bytes, bytes,
              MIN (width, page->width - x));
      }
    }
  }
  return TRUE;
}

static gboolean
read_page_at (Tiff *tiff, guint64 page, guint8 *slice, gsize stride)
{
  Page found;

  *tiff->message = '\0';
  if (page >= tiff->offsets->len) {
    g_strlcpy (tiff->message, "the file has no page for it",
        sizeof (tiff->message));
    return FALSE;
  }
  if (!TIFFSetSubDirectory (tiff->tiff,
          g_array_index (tiff->offsets, guint64, page))
      || !read_page (tiff->tiff, &found) || !is_equal (&found, &tiff->page))
    return FALSE;
  return TIFFIsTiled (tiff->tiff) ? read_tiles (tiff, slice, stride)
                                  : read_strips (tiff, slice, stride);
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  Tiff *tiff = (Tiff *) slices;
  const gsize bytes = tiff->width * tiff->page.samples;
  const gsize stride = bytes * tiff->axes.channels;

  *reason = tiff->message;
  for (guint64 c = 0; c < tiff->axes.channels; c++) {
    guint64 page = G_MAXUINT64;

    nd_tiff_axes_page (&tiff->axes, c, slice % tiff->slices,
        slice / tiff->slices, &page);
    if (!read_page_at (tiff, page, samples + c * bytes, stride)) {
      if (!*tiff->message)
        g_strlcpy (tiff->message, "its page is truncated or damaged",
            sizeof (tiff->message));
      return FALSE;
    }
  }
  return TRUE;
}

/* Header */

/* Millimetres; right, anterior, superior, with the axes that ITK gives to an
 * image without directions. */
static void
set_geometry (Tiff *tiff, NdGeometry *geometry)
{
  const gdouble unit = tiff->axes.resolution_unit;
  gdouble *spacing = tiff->axes.spacing;

  if (unit > 0) {
    gfloat x = 0, y = 0;

    if (TIFFSetSubDirectory (tiff->tiff,
            g_array_index (tiff->offsets, guint64, 0))
        && TIFFGetField (tiff->tiff, TIFFTAG_XRESOLUTION, &x) && x > 0)
      spacing[0] = unit / x;
    if (TIFFGetField (tiff->tiff, TIFFTAG_YRESOLUTION, &y) && y > 0)
      spacing[1] = unit / y;
  }
  if (!(spacing[0] > 0 && isfinite (spacing[0])))
    return;
  for (guint a = 0; a < 3; a++) {
    geometry->spacing[a] =
        spacing[a] > 0 && isfinite (spacing[a]) ? spacing[a] : spacing[0];
    geometry->directions[4 * a] = a < 2 ? -1 : 1;
  }
  geometry->known = TRUE;
}

static void
set_times (Tiff *tiff, NdHeader *header)
{
  NdRecording *recording = &header->recording;
  const GArray *times = tiff->axes.times;
  g_autoptr (GArray) sorted = NULL;

  nd_rate_from_seconds (tiff->axes.seconds, &recording->rate_n,
      &recording->rate_d);
  if (!times || times->len < recording->volumes || recording->volumes < 2)
    return;
  sorted = g_array_sized_new (FALSE, TRUE, sizeof (gint64), recording->volumes);
  g_array_set_size (sorted, recording->volumes);
  for (guint i = 0; i < sorted->len; i++)
    g_array_index (sorted, gint64, i) = G_MININT64;
  for (guint i = 0; i < times->len; i++) {
    const NdTiffTime *time = &g_array_index (times, NdTiffTime, i);

    if (time->t < sorted->len && fabs (time->seconds) < G_MAXINT32)
      g_array_index (sorted, gint64, time->t) =
          round (time->seconds * NANOSECONDS);
  }
  for (guint i = 0; i < sorted->len; i++) {
    if (g_array_index (sorted, gint64, i) == G_MININT64)
      return;
  }
  nd_header_set_times (header, sorted, TIME_DIGIT);
}

static gboolean
set_recording (Tiff *tiff, NdHeader *header, const gchar *path, GError **error)
{
  NdRecording *recording = &header->recording;
  const NdTiffAxes *axes = &tiff->axes;
  guint64 components;
  gsize parts;

  if (!parse_type (&tiff->page, &header->stored, &parts)
      || get_ratio (tiff->page.compression) == 0)
    return refuse_page (tiff, path, error);
  if (axes->warning)
    nd_header_warn (header, "\"%s\": %s", path, axes->warning);
  header->z_or_time = !axes->known;
  components = tiff->page.samples * parts * axes->channels;
  if (tiff->page.samples == 0 || axes->channels > MAX_SAMPLES
      || components > MAX_SAMPLES || axes->slices == 0 || axes->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has %" G_GUINT64_FORMAT " components; there may be 1 to %u",
        path, components, MAX_SAMPLES);
    return FALSE;
  }
  tiff->width = parts * nd_stored_size (header->stored.type);
  tiff->slices = axes->slices;
  recording->shape = (NdShape){ components,
    { tiff->page.width, tiff->page.height, axes->slices } };
  recording->volumes = axes->volumes;
  set_geometry (tiff, &recording->geometry);
  set_times (tiff, header);
  return nd_header_settle (header, path, error);
}

/* Compares the sizes in the header with the size of the file. */
static gboolean
check_claim (Tiff *tiff, const NdHeader *header, const gchar *path,
    GError **error)
{
  const guint64 size = nd_input_size (tiff->input);
  const guint64 bytes = nd_header_bytes (header);
  const guint64 ratio = get_ratio (tiff->page.compression);

  if (bytes / ratio <= size
      && (tiff->contiguous == 0
          || (tiff->contiguous < size && bytes <= size - tiff->contiguous)))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "\"%s\" is truncated: its pages have %" G_GUINT64_FORMAT
      " bytes of samples, which %" G_GUINT64_FORMAT " bytes cannot hold",
      path, bytes, size);
  return FALSE;
}

static TIFF *
open_library (Tiff *tiff, const gchar *path)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  const guint64 most =
      MIN (nd_input_size (tiff->input), G_MAXINT32) + LIBRARY_BYTES;
  TIFF *library;

  TIFFOpenOptionsSetMaxSingleMemAlloc (options, most);
  TIFFOpenOptionsSetErrorHandlerExtR (options, note_error, tiff);
  TIFFOpenOptionsSetWarningHandlerExtR (options, ignore_warning, tiff);
  /* m: without a memory map, which a file that shrinks would end. */
  library = TIFFClientOpenExt (path, "rm", tiff, read_bytes, write_bytes, seek,
      close_nothing, get_size, NULL, NULL, options);
  TIFFOpenOptionsFree (options);
  return library;
}

static gboolean
read_header (Tiff *tiff, NdHeader *header, const gchar *path, GError **error)
{
  const char *description = NULL;
  guint64 others;

  tiff->tiff = open_library (tiff, path);
  if (!tiff->tiff || !read_directories (tiff, &others)) {
    g_autofree gchar *quoted =
        nd_text_quote (*tiff->message ? tiff->message : "there is none");

    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "\"%s\" is damaged TIFF: its directories cannot be read (%s)", path,
        quoted);
    return FALSE;
  }
  if (others > 0)
    nd_header_warn (header,
        "%" G_GUINT64_FORMAT " pages of \"%s\" have another size or type than "
        "the first and are not read",
        others, path);
  if (!TIFFSetSubDirectory (tiff->tiff,
          g_array_index (tiff->offsets, guint64, 0))
      || !TIFFGetField (tiff->tiff, TIFFTAG_IMAGEDESCRIPTION, &description))
    description = NULL;
  if (!nd_tiff_axes_parse (&tiff->axes, description, tiff->offsets->len,
          tiff->page.width, tiff->page.height, tiff->page.samples, error)) {
    g_prefix_error (error, "\"%s\" cannot be read. ", path);
    return FALSE;
  }
  find_contiguous (tiff, header);
  return set_recording (tiff, header, path, error)
      && check_claim (tiff, header, path, error);
}

gboolean
nd_tiff_open (NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  Tiff *tiff = g_new0 (Tiff, 1);

  nd_header_init (header, "TIFF");
  tiff->base.read = read_slice;
  tiff->base.free = free_tiff;
  tiff->input = input;
  header->slices = &tiff->base;
  if (!read_header (tiff, header, path, error))
    return FALSE;
  if (tiff->contiguous > 0) {
    header->offset = tiff->contiguous;
    header->stored.swapped =
        tiff->page.bits > 8 && TIFFIsByteSwapped (tiff->tiff);
    g_clear_pointer (&header->slices, nd_slices_free);
  }
  return TRUE;
}
