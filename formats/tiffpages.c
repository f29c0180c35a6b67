/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffpages.h"

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
  const guint64 most =
      MIN (nd_input_size (pages->input), G_MAXINT32) + LIBRARY_BYTES;
  TIFF *library;

  TIFFOpenOptionsSetMaxSingleMemAlloc (options, most);
  TIFFOpenOptionsSetErrorHandlerExtR (options, note_error, pages);
  TIFFOpenOptionsSetWarningHandlerExtR (options, ignore_warning, pages);
  /* m: without a memory map: if the file shrank, reading the map would end the
   * process. */
  library = TIFFClientOpenExt (path, "rm", pages, read_bytes, write_bytes, seek,
      close_nothing, get_size, NULL, NULL, options);
  TIFFOpenOptionsFree (options);
  return library;
}

/* Directories */

static gboolean
read_page (TIFF *library, NdTiffPage *page)
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
is_equal (const NdTiffPage *a, const NdTiffPage *b)
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
read_directories (NdTiffPages *pages, guint64 *others)
{
  pages->offsets = g_array_new (FALSE, FALSE, sizeof (guint64));
  *others = 0;
  do {
    const guint64 offset = TIFFCurrentDirOffset (pages->library);
    NdTiffPage page;

    if (!read_page (pages->library, &page))
      return FALSE;
    if (pages->offsets->len == 0)
      pages->page = page;
    else if (is_extra (pages->library))
      continue;
    if (is_equal (&page, &pages->page)
        && page.compression == pages->page.compression)
      g_array_append_val (pages->offsets, offset);
    else
      (*others)++;
  } while (TIFFReadDirectory (pages->library));
  return *pages->message == '\0';
}

static gboolean
set_strip (NdTiffPages *pages, gsize size)
{
  if (size <= pages->strip_size)
    return TRUE;
  g_free (pages->strip);
  pages->strip = g_try_malloc (size);
  pages->strip_size = pages->strip ? size : 0;
  return pages->strip != NULL;
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
read_strips (NdTiffPages *pages, guint8 *slice, gsize stride)
{
  const NdTiffPage *page = &pages->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize bytes = pages->width * (separate ? 1 : page->samples);
  const gsize row = page->width * bytes;
  guint32 rows = 0;
  gsize per_plane;

  TIFFGetFieldDefaulted (pages->library, TIFFTAG_ROWSPERSTRIP, &rows);
  rows = CLAMP (rows, 1, page->height);
  per_plane = (page->height + (gsize) rows - 1) / rows;
  if (!set_strip (pages, rows * row))
    return FALSE;
  for (gsize s = 0; s < per_plane * (separate ? page->samples : 1); s++) {
    const gsize first = s % per_plane * rows;
    const gsize n = MIN (rows, page->height - first);

    if (TIFFReadEncodedStrip (pages->library, s, pages->strip, n * row)
        != (tmsize_t) (n * row))
      return FALSE;
    for (gsize i = 0; i < n; i++)
      copy_row (slice + s / per_plane * pages->width
              + (first + i) * page->width * stride,
          stride, pages->strip + i * row, bytes, page->width);
  }
  return TRUE;
}

static gboolean
read_tiles (NdTiffPages *pages, guint8 *slice, gsize stride)
{
  const NdTiffPage *page = &pages->page;
  const gboolean separate =
      page->planar == PLANARCONFIG_SEPARATE && page->samples > 1;
  const gsize bytes = pages->width * (separate ? 1 : page->samples);
  const tmsize_t size = TIFFTileSize (pages->library);
  guint32 width = 0, height = 0, depth = 1;

  TIFFGetField (pages->library, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField (pages->library, TIFFTAG_TILELENGTH, &height);
  TIFFGetField (pages->library, TIFFTAG_TILEDEPTH, &depth);
  /* A hostile tile may be larger than the page that it belongs to. */
  if (size <= 0 || depth > 1 || width > page->width + MAX_TILE
      || height > page->height + MAX_TILE
      || (gsize) width * height * bytes != (gsize) size
      || !set_strip (pages, size))
    return FALSE;
  for (guint16 plane = 0; plane < (separate ? page->samples : 1); plane++) {
    for (gsize y = 0; y < page->height; y += height) {
      for (gsize x = 0; x < page->width; x += width) {
        if (TIFFReadTile (pages->library, pages->strip, x, y, 0, plane) != size)
          return FALSE;
        for (gsize i = 0; i < MIN (height, page->height - y); i++)
          copy_row (slice + plane * pages->width
                  + ((y + i) * page->width + x) * stride,
              stride, pages->strip + i * width * bytes, bytes,
              MIN (width, page->width - x));
      }
    }
  }
  return TRUE;
}

gboolean
nd_tiff_pages_go_to (NdTiffPages *pages, guint64 page)
{
  return TIFFSetSubDirectory (pages->library,
             g_array_index (pages->offsets, guint64, page))
      != 0;
}

gboolean
nd_tiff_pages_read (NdTiffPages *pages, guint64 page, guint8 *slice,
    gsize stride)
{
  NdTiffPage found;

  *pages->message = '\0';
  if (page >= pages->offsets->len) {
    g_strlcpy (pages->message, "the file has no page for it",
        sizeof (pages->message));
    return FALSE;
  }
  if (nd_tiff_pages_go_to (pages, page) && read_page (pages->library, &found)
      && is_equal (&found, &pages->page)
      && (TIFFIsTiled (pages->library) ? read_tiles (pages, slice, stride)
                                       : read_strips (pages, slice, stride)))
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
  g_clear_pointer (&pages->offsets, g_array_unref);
  g_clear_pointer (&pages->strip, g_free);
}
