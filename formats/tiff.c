/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiff.h"

#include "core/error.h"
#include "formats/headertext.h"
#include "formats/rate.h"
#include "formats/tiffaxes.h"
#include "formats/tiffpages.h"

#include <math.h>
#include <string.h>

/* The largest number of bytes that one compressed byte can become, which limits
 * the sizes that a header may claim: for deflate, for 12-bit codes of LZW, for
 * a block of Zstandard. */
#define DEFLATE_RATIO 1032
#define LZW_RATIO 1350
#define PACKBITS_RATIO 64
#define ZSTD_RATIO 32768

#define MAX_SAMPLES 65535
#define NANOSECONDS 1e9

/* The value of the last digit of DeltaT, in nanoseconds. */
#define TIME_DIGIT 1000

typedef struct
{
  NdSlices base;
  NdTiffPages pages;
  NdTiffAxes axes;
  guint64 contiguous; /* the offset of the samples if they are contiguous; 0:
                         they are not */
  gsize slices;       /* of a volume */
} Tiff;

static void
free_tiff (NdSlices *slices)
{
  Tiff *tiff = (Tiff *) slices;

  nd_tiff_pages_clear (&tiff->pages);
  nd_tiff_axes_clear (&tiff->axes);
  g_free (tiff);
}

/* Samples */

static gboolean
parse_type (const NdTiffPage *page, NdStored *stored, gsize *parts)
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

/* The largest number of samples' bytes that one byte of the file can become; 0
 * if the compression is lossy or the library cannot decompress it. */
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
  const NdTiffPage *page = &tiff->pages.page;
  const TIFFCodec *codec = TIFFFindCODEC (page->compression);

  if (get_ratio (page->compression) == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is TIFF compressed by %s (%u); LZW, deflate, PackBits and "
        "Zstandard are read: \"tiffcp -c lzw FILE NEW\" converts it "
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
      || tiff->axes.images <= tiff->pages.offsets->len
      || tiff->pages.offsets->len != 1
      || tiff->pages.page.compression != COMPRESSION_NONE
      || tiff->pages.page.planar != PLANARCONFIG_CONTIG
      || tiff->axes.channels > 1 || TIFFIsTiled (tiff->pages.library)
      || !nd_tiff_pages_go_to (&tiff->pages, 0)
      || !TIFFGetField (tiff->pages.library, TIFFTAG_STRIPOFFSETS, &offsets))
    return FALSE;
  tiff->contiguous = offsets[0];
  return tiff->contiguous > 0;
}

static gboolean
read_slice (NdSlices *slices, guint64 slice, guint8 *samples,
    const gchar **reason)
{
  Tiff *tiff = (Tiff *) slices;
  const gsize bytes = tiff->pages.width * tiff->pages.page.samples;
  const gsize stride = bytes * tiff->axes.channels;

  *reason = tiff->pages.message;
  for (guint64 c = 0; c < tiff->axes.channels; c++) {
    guint64 page = G_MAXUINT64;

    nd_tiff_axes_page (&tiff->axes, c, slice % tiff->slices,
        slice / tiff->slices, &page);
    if (!nd_tiff_pages_read (&tiff->pages, page, samples + c * bytes, stride))
      return FALSE;
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

    if (nd_tiff_pages_go_to (&tiff->pages, 0)
        && TIFFGetField (tiff->pages.library, TIFFTAG_XRESOLUTION, &x) && x > 0)
      spacing[0] = unit / x;
    if (TIFFGetField (tiff->pages.library, TIFFTAG_YRESOLUTION, &y) && y > 0)
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

  if (!parse_type (&tiff->pages.page, &header->stored, &parts)
      || get_ratio (tiff->pages.page.compression) == 0)
    return refuse_page (tiff, path, error);
  if (axes->warning)
    nd_header_warn (header, "\"%s\": %s", path, axes->warning);
  header->z_or_time = !axes->known;
  components = tiff->pages.page.samples * parts * axes->channels;
  if (tiff->pages.page.samples == 0 || axes->channels > MAX_SAMPLES
      || components > MAX_SAMPLES || axes->slices == 0 || axes->volumes == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" has %" G_GUINT64_FORMAT " components; there may be 1 to %u",
        path, components, MAX_SAMPLES);
    return FALSE;
  }
  tiff->pages.width = parts * nd_stored_size (header->stored.type);
  tiff->slices = axes->slices;
  recording->shape = (NdShape){ components,
    { tiff->pages.page.width, tiff->pages.page.height, axes->slices } };
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
  const guint64 size = nd_input_size (tiff->pages.input);
  const guint64 bytes = nd_header_bytes (header);
  const guint64 ratio = get_ratio (tiff->pages.page.compression);

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

static gboolean
read_header (Tiff *tiff, NdHeader *header, NdInput *input, const gchar *path,
    GError **error)
{
  const char *description = NULL;
  guint64 others;

  if (!nd_tiff_pages_open (&tiff->pages, input, path, &others)) {
    g_autofree gchar *quoted =
        nd_text_quote (*tiff->pages.message ? tiff->pages.message
                                            : "there is none");

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
  if (!nd_tiff_pages_go_to (&tiff->pages, 0)
      || !TIFFGetField (tiff->pages.library, TIFFTAG_IMAGEDESCRIPTION,
          &description))
    description = NULL;
  if (!nd_tiff_axes_parse (&tiff->axes, description, tiff->pages.offsets->len,
          tiff->pages.page.width, tiff->pages.page.height,
          tiff->pages.page.samples, error)) {
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
  header->slices = &tiff->base;
  if (!read_header (tiff, header, input, path, error))
    return FALSE;
  if (tiff->contiguous > 0) {
    header->offset = tiff->contiguous;
    header->stored.swapped =
        tiff->pages.page.bits > 8 && TIFFIsByteSwapped (tiff->pages.library);
    g_clear_pointer (&header->slices, nd_slices_free);
  }
  return TRUE;
}
