/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffpages.h"

#include "formats/tiffdirectory.h"

#include <string.h>

/* The library may allocate the size of the file and this many bytes more at
 * once. */
#define LIBRARY_BYTES (1 << 20)

/* A tile may be larger than its page by this much along x and y. */
#define MAX_TILE 1024

/* The file for libtiff. */

static tmsize_t
read_bytes (thandle_t handle, void *data, tmsize_t size)
{
  NdTiffPages *pages = handle;
  gssize got;

  nd_input_begin (pages->input, pages->position, FALSE);
  got = nd_input_read (pages->input, data, size);
  if (got > 0)
    pages->position += got;
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
  NdTiffPages *pages = handle;

  if (whence == SEEK_CUR)
    offset += pages->position;
  else if (whence == SEEK_END)
    offset += nd_input_size (pages->input);
  return pages->position = offset;
}

static int
close_nothing (thandle_t handle)
{
  return 0;
}

static toff_t
get_size (thandle_t handle)
{
  return nd_input_size (((NdTiffPages *) handle)->input);
}

static int
note_error (TIFF *library, void *data, const char *module, const char *format,
    va_list arguments)
{
  NdTiffPages *pages = data;

  /* Only the first message is kept, because it has the cause. */
  if (!*pages->message)
    g_vsnprintf (pages->message, sizeof (pages->message), format, arguments);
  return 1;
}

/* Ignores warnings, for example about unknown tags. */
static int
ignore_warning (TIFF *library, void *data, const char *module,
    const char *format, va_list arguments)
{
  return 1;
}

static TIFF *
open_library (NdTiffPages *pages, const gchar *path)
{
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc ();
  const guint64 most = MIN (MIN (nd_input_size (pages->input), G_MAXINT32),
                           nd_budget_left (pages->budget) / 2)
      + LIBRARY_BYTES;
  TIFF *library;

  TIFFOpenOptionsSetMaxSingleMemAlloc (options, most);
  TIFFOpenOptionsSetErrorHandlerExtR (options, note_error, pages);
  TIFFOpenOptionsSetWarningHandlerExtR (options, ignore_warning, pages);
  /* m: without a memory map: if the file shrank, reading the map would end the
   * process. h: without the first directory. */
  library = TIFFClientOpenExt (path, "rmh", pages, read_bytes, write_bytes,
      seek, close_nothing, get_size, NULL, NULL, options);
  TIFFOpenOptionsFree (options);
  return library;
}

/* Directories */

static gboolean
read_page (TIFF *library, NdTiffPage *page)
{
  guint16 tags[5] = { 1, SAMPLEFORMAT_UINT, 1, PLANARCONFIG_CONTIG,
    COMPRESSION_NONE };

  page->depth = 1;
  if (!TIFFGetField (library, TIFFTAG_IMAGEWIDTH, &page->width)
      || !TIFFGetField (library, TIFFTAG_IMAGELENGTH, &page->height)
      || page->width == 0 || page->height == 0
      || (TIFFGetField (library, TIFFTAG_IMAGEDEPTH, &page->depth)
          && page->depth == 0))
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

gboolean
nd_tiff_pages_are_alike (const NdTiffPage *a, const NdTiffPage *b)
{
  return a->width == b->width && a->height == b->height && a->depth == b->depth
      && a->bits == b->bits && a->format == b->format
      && a->samples == b->samples && a->planar == b->planar;
}

/* Whether the directory is a smaller copy of a page, or a mask. */
static gboolean
is_extra (TIFF *library)
{
  guint32 type = 0;

  return TIFFGetField (library, TIFFTAG_SUBFILETYPE, &type)
      && (type & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

/* Adds the directory to those of pages. @others counts those that have another
 * size or type than the first. */
static gboolean
add_directory (NdTiffPages *pages, guint64 offset, guint64 *others)
{
  NdTiffPage page;

  if (!TIFFSetSubDirectory (pages->library, offset)
      || !read_page (pages->library, &page))
    return FALSE;
  if (pages->offsets->len == 0)
    pages->page = page;
  else if (is_extra (pages->library))
    return TRUE;
  if (nd_tiff_pages_are_alike (&page, &pages->page)
      && page.compression == pages->page.compression)
    return nd_list_add (pages->offsets, offset);
  (*others)++;
  return TRUE;
}

/* Notes the directories of all pages. The offsets that are equal again after
 * ever longer distances show a cycle (Brent). */
static gboolean
read_directories (NdTiffPages *pages, guint64 *others)
{
  NdTiffDirectories directories = { 0 };
  guint64 offset, seen = 0, distance = 0, longest = 1;

  pages->offsets = nd_list_new (pages->budget, sizeof (guint64));
  *others = 0;
  if (!nd_tiff_directories_begin (&directories, pages->input, &offset))
    return FALSE;
  while (offset != 0) {
    const guint64 current = offset;

    if (current == seen) {
      g_strlcpy (pages->message, "they form a cycle", sizeof (pages->message));
      return FALSE;
    }
    if (++distance == longest) {
      seen = current;
      distance = 0;
      longest *= 2;
    }
    if (!nd_tiff_directories_next (&directories, &offset,
            nd_budget_left (pages->budget))) {
      if (pages->keep && pages->offsets->len > 0)
        break;
      g_strlcpy (pages->message,
          "their values have more bytes than the file or max-memory",
          sizeof (pages->message));
      return FALSE;
    }
    if (!add_directory (pages, current, others))
      return FALSE;
  }
  pages->predicted = directories.predicted;
  if (directories.planes > 1 && directories.planes <= G_MAXUINT32
      && pages->offsets->len == 1 && pages->page.depth == 1
      && pages->page.compression == COMPRESSION_NONE) {
    pages->page.depth = directories.planes;
    pages->places = directories.places;
  }
  return (pages->keep || *pages->message == '\0') && pages->offsets->len > 0;
}

static gboolean
set_strip (NdTiffPages *pages, gsize size)
{
  return nd_budget_reuse (pages->budget, &pages->strip, &pages->strip_size,
      size);
}

/* libtiff may leave bytes of a strip that it reports as read. */
static void
clear_strip (NdTiffPages *pages, gsize size)
{
  memset (pages->strip, 0, size);
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

/* Whether samples have some of the bits of a byte, or of two. */
static gboolean
is_packed (const NdTiffPage *page)
{
  return page->bits < 16 && page->bits != 8;
}

/* The bytes of @n pixels of a strip or tile. */
static gsize
row_bytes (const NdTiffPages *pages, gsize samples, gsize n)
{
  return is_packed (&pages->page) ? (n * samples * pages->page.bits + 7) / 8
                                  : n * samples * pages->width;
}

/* The same as copy_row() for samples of some bits, the highest ones first. With
 * predictor 2 they are differences from the pixel before, modulo 2^bits. */
static void
unpack_row (const NdTiffPages *pages, guint8 *to, gsize stride,
    const guint8 *from, gsize samples, gsize n)
{
  const guint bits = pages->page.bits;
  const guint16 mask = (1u << bits) - 1;
  guint32 pending = 0;
  guint have = 0;

  for (gsize i = 0; i < n * samples; i++) {
    guint8 *place = to + i / samples * stride + i % samples * pages->width;
    guint16 sample;

    while (have < bits) {
      pending = pending << 8 | *from++;
      have += 8;
    }
    have -= bits;
    sample = pending >> have & mask;
    if (pages->differences && i >= samples) {
      guint16 before = place[-(gssize) stride];

      if (pages->width == 2)
        memcpy (&before, place - stride, 2);
      sample = (sample + before) & mask;
    }
    if (pages->width == 1)
      *place = sample;
    else
      memcpy (place, &sample, 2);
  }
}

static void
take_row (const NdTiffPages *pages, guint8 *to, gsize stride,
    const guint8 *from, gsize samples, gsize n)
{
  if (is_packed (&pages->page))
    unpack_row (pages, to, stride, from, samples, n);
  else
    copy_row (to, stride, from, samples * pages->width, n);
}

/* Reads the current page into a slice with @stride bytes from pixel to
 * pixel. */
static gboolean
read_strips (NdTiffPages *pages, guint8 *slice, gsize stride)
{
  const NdTiffPage *page = &pages->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize samples = separate ? 1 : page->samples;
  const gsize row = row_bytes (pages, samples, page->width);
  guint32 rows = 0;
  gsize per_plane;

  TIFFGetFieldDefaulted (pages->library, TIFFTAG_ROWSPERSTRIP, &rows);
  rows = CLAMP (rows, 1, page->height);
  per_plane = (page->height + (gsize) rows - 1) / rows;
  if (page->depth > 1 || !set_strip (pages, rows * row))
    return FALSE;
  for (gsize s = 0; s < per_plane * (separate ? page->samples : 1); s++) {
    const gsize first = s % per_plane * rows;
    const gsize n = MIN (rows, page->height - first);

    clear_strip (pages, n * row);
    if (TIFFReadEncodedStrip (pages->library, s, pages->strip, n * row)
        != (tmsize_t) (n * row))
      return FALSE;
    for (gsize i = 0; i < n; i++)
      take_row (pages,
          slice + s / per_plane * pages->width
              + (first + i) * page->width * stride,
          stride, pages->strip + i * row, samples, page->width);
  }
  return TRUE;
}

/* Reads slice @z of the current page. */
static gboolean
read_tiles (NdTiffPages *pages, guint8 *slice, gsize stride, guint32 z)
{
  const NdTiffPage *page = &pages->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize samples = separate ? 1 : page->samples;
  const tmsize_t size = TIFFTileSize (pages->library);
  guint32 width = 0, height = 0;
  gsize row;

  TIFFGetField (pages->library, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField (pages->library, TIFFTAG_TILELENGTH, &height);
  row = row_bytes (pages, samples, width);
  /* A hostile tile may be larger than the page that it belongs to. */
  if (size <= 0 || width > page->width + MAX_TILE
      || height > page->height + MAX_TILE || row * height != (gsize) size
      || !set_strip (pages, size))
    return FALSE;
  for (guint16 plane = 0; plane < (separate ? page->samples : 1); plane++) {
    for (gsize y = 0; y < page->height; y += height) {
      for (gsize x = 0; x < page->width; x += width) {
        clear_strip (pages, size);
        if (TIFFReadTile (pages->library, pages->strip, x, y, z, plane) != size)
          return FALSE;
        for (gsize i = 0; i < MIN (height, page->height - y); i++)
          take_row (pages,
              slice + plane * pages->width
                  + ((y + i) * page->width + x) * stride,
              stride, pages->strip + i * row, samples,
              MIN (width, page->width - x));
      }
    }
  }
  return TRUE;
}

guint64
nd_tiff_pages_count (const NdTiffPages *pages)
{
  return pages->contiguous ? pages->images
                           : pages->offsets->len * (guint64) pages->page.depth;
}

gboolean
nd_tiff_pages_go_to (NdTiffPages *pages, guint64 page)
{
  return TIFFSetSubDirectory (pages->library,
             g_array_index (pages->offsets, guint64, page))
      != 0;
}

/* Reads a page that has no directory of its own. */
static gboolean
read_contiguous (NdTiffPages *pages, guint64 number, guint8 *slice,
    gsize stride)
{
  const NdTiffPage *page = &pages->page;
  const gsize bytes = pages->width * page->samples;
  const gsize row = page->width * bytes;

  if (!set_strip (pages, row))
    return FALSE;
  nd_input_begin (pages->input, pages->contiguous + number * page->height * row,
      FALSE);
  for (gsize y = 0; y < page->height; y++) {
    if (nd_input_read (pages->input, pages->strip, row) != (gssize) row)
      return FALSE;
    copy_row (slice + y * page->width * stride, stride, pages->strip, bytes,
        page->width);
  }
  return TRUE;
}

/* Takes the predictor from libtiff, which refuses it for samples of some
 * bits. */
static void
take_predictor (NdTiffPages *pages)
{
  guint16 predictor = PREDICTOR_NONE;

  pages->differences = is_packed (&pages->page)
      && TIFFGetField (pages->library, TIFFTAG_PREDICTOR, &predictor)
      && predictor == PREDICTOR_HORIZONTAL
      && TIFFSetField (pages->library, TIFFTAG_PREDICTOR, PREDICTOR_NONE);
}

static gboolean
read_directory (NdTiffPages *pages, guint64 page, guint8 *slice, gsize stride)
{
  const guint64 depth = pages->page.depth;
  NdTiffPage found;

  if (!nd_tiff_pages_go_to (pages, page / depth)
      || !read_page (pages->library, &found)
      || !nd_tiff_pages_are_alike (&found, &pages->page))
    return FALSE;
  take_predictor (pages);
  return TIFFIsTiled (pages->library)
      ? read_tiles (pages, slice, stride, page % depth)
      : read_strips (pages, slice, stride);
}

gboolean
nd_tiff_pages_read (NdTiffPages *pages, guint64 page, guint8 *slice,
    gsize stride)
{
  *pages->message = '\0';
  if (page >= nd_tiff_pages_count (pages)) {
    g_strlcpy (pages->message, "the file has no page for it",
        sizeof (pages->message));
    return FALSE;
  }
  if (pages->contiguous ? read_contiguous (pages, page, slice, stride)
                        : read_directory (pages, page, slice, stride))
    return TRUE;
  if (!*pages->message)
    g_strlcpy (pages->message, "its page is truncated or damaged",
        sizeof (pages->message));
  return FALSE;
}

gboolean
nd_tiff_pages_open (NdTiffPages *pages, NdInput *input, const gchar *path,
    guint64 *others)
{
  pages->input = input;
  pages->library = open_library (pages, path);
  return pages->library && read_directories (pages, others);
}

void
nd_tiff_pages_clear (NdTiffPages *pages)
{
  if (pages->library)
    TIFFClose (pages->library);
  g_clear_pointer (&pages->offsets, nd_list_free);
  nd_budget_free (pages->budget, pages->strip, pages->strip_size);
}
