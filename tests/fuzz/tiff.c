/* TIFF: directories, descriptions, strips and tiles, plain and compressed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

#include "core/error.h"

#include <glib/gstdio.h>
#include <tiffio.h>
#include <zlib.h>

#define PAGES 6

const gchar *const fuzz_name = "tiff";

static guint64
count_pages (gpointer data, guint file)
{
  return file % PAGES;
}

/* The bytes as a description, because libtiff reads the rest. */
gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  g_autofree gchar *text = g_strndup ((const gchar *) bytes, n);
  g_auto (NdTiffAxes) axes = { 0 };

  axes.count = count_pages;
  nd_tiff_axes_parse (&axes, text, PAGES, 5, 4, 1);
  if (axes.channels == 0 || axes.slices == 0 || axes.volumes == 0
      || (axes.kind == ND_TIFF_PLAIN
          && axes.channels * axes.slices * axes.volumes > PAGES))
    g_error ("axes without pages");
  nd_tiff_axes_place (&axes, axes.channels - 1, axes.slices - 1,
      axes.volumes - 1);
  g_set_error (error, ND_ERROR, ND_ERROR_READ, "only a description");
  return FALSE;
}

static void
append_file (GPtrArray *seeds, const gchar *description, guint16 compression,
    gboolean tiled, guint16 planar, const gchar *mode)
{
  g_autofree gchar *folder = g_dir_make_tmp ("ndconv-seeds-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "seed.tif", NULL);
  TIFF *tiff = TIFFOpen (path, mode);
  guint8 samples[16 * 16 * 2] = { 0 };
  gchar *bytes;
  gsize n;

  for (guint i = 0; i < sizeof (samples); i++)
    samples[i] = i / 7;
  for (guint page = 0; page < PAGES; page++) {
    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, 5);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 4);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 2);
    TIFFSetField (tiff, TIFFTAG_PLANARCONFIG, planar);
    TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField (tiff, TIFFTAG_COMPRESSION, compression);
    if (page == 0 && description)
      TIFFSetField (tiff, TIFFTAG_IMAGEDESCRIPTION, description);
    if (tiled) {
      TIFFSetField (tiff, TIFFTAG_TILEWIDTH, 16);
      TIFFSetField (tiff, TIFFTAG_TILELENGTH, 16);
    } else {
      TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, 2);
    }
    for (guint p = 0; p < (planar == PLANARCONFIG_SEPARATE ? 2 : 1); p++) {
      if (tiled)
        TIFFWriteTile (tiff, samples, 0, 0, 0, p);
      for (guint row = 0; row < 4 && !tiled; row++)
        TIFFWriteScanline (tiff, samples + row, row, p);
    }
    TIFFWriteDirectory (tiff);
  }
  TIFFClose (tiff);
  g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
  g_ptr_array_add (seeds, g_bytes_new_take (bytes, n));
  g_remove (path);
  g_rmdir (folder);
}

static void
append_tag (GByteArray *bytes, guint16 tag, guint32 value)
{
  const guint16 head[2] = { tag, TIFF_LONG };
  const guint32 tail[2] = { 1, value };

  g_byte_array_append (bytes, (const guint8 *) head, sizeof (head));
  g_byte_array_append (bytes, (const guint8 *) tail, sizeof (tail));
}

/* A strip or tile whose deflate data has one stored block that is longer than
 * it: libtiff 4.5 reports it as read and writes nothing. */
static void
append_long_block (GPtrArray *seeds, gboolean tiled)
{
  const guint16 length = 1000, tags = tiled ? 10 : 9;
  const guint16 lengths[2] = { length, ~length };
  const guint32 first = 8, size = 2 + 5 + length + 4;
  const guint32 directory = first + size + size % 2, end = 0;
  g_autofree guint8 *block = g_malloc0 (length);
  const guint32 sum = GUINT32_TO_BE (adler32_z (1, block, length));
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes,
      (const guint8 *) (G_BYTE_ORDER == G_LITTLE_ENDIAN ? "II*\0" : "MM\0*"),
      4);
  g_byte_array_append (bytes, (const guint8 *) &directory, 4);
  g_byte_array_append (bytes, (const guint8 *) "\x78\1\1", 3);
  g_byte_array_append (bytes, (const guint8 *) lengths, sizeof (lengths));
  g_byte_array_append (bytes, block, length);
  g_byte_array_append (bytes, (const guint8 *) &sum, sizeof (sum));
  g_byte_array_set_size (bytes, directory);
  g_byte_array_append (bytes, (const guint8 *) &tags, sizeof (tags));
  append_tag (bytes, TIFFTAG_IMAGEWIDTH, 16);
  append_tag (bytes, TIFFTAG_IMAGELENGTH, 16);
  append_tag (bytes, TIFFTAG_BITSPERSAMPLE, 8);
  append_tag (bytes, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  append_tag (bytes, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  if (!tiled)
    append_tag (bytes, TIFFTAG_STRIPOFFSETS, first);
  append_tag (bytes, TIFFTAG_SAMPLESPERPIXEL, 1);
  append_tag (bytes, tiled ? TIFFTAG_TILEWIDTH : TIFFTAG_ROWSPERSTRIP, 16);
  if (tiled) {
    append_tag (bytes, TIFFTAG_TILELENGTH, 16);
    append_tag (bytes, TIFFTAG_TILEOFFSETS, first);
  }
  append_tag (bytes, tiled ? TIFFTAG_TILEBYTECOUNTS : TIFFTAG_STRIPBYTECOUNTS,
      size);
  g_byte_array_append (bytes, (const guint8 *) &end, sizeof (end));
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (bytes));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  seeds_append_written (seeds, ".tif", FALSE);
  append_file (seeds,
      "ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nunit=um\nspacing=2.0\n"
      "finterval=0.05\n",
      COMPRESSION_LZW, FALSE, PLANARCONFIG_CONTIG, "w");
  append_file (seeds, "{\"shape\": [3, 2, 4, 5, 2], \"axes\": \"TZYXS\"}",
      COMPRESSION_ADOBE_DEFLATE, TRUE, PLANARCONFIG_SEPARATE, "wb");
  append_file (seeds,
      "<?xml version=\"1.0\"?><OME xmlns=\"x\"><Image ID=\"Image:0\">"
      "<Pixels DimensionOrder=\"XYZTC\" SizeX=\"5\" SizeY=\"4\" SizeZ=\"3\" "
      "SizeC=\"2\" SizeT=\"2\" PhysicalSizeX=\"0.3\" PhysicalSizeXUnit=\"nm\" "
      "TimeIncrement=\"50\" TimeIncrementUnit=\"ms\" Type=\"uint8\">"
      "<TiffData IFD=\"0\" PlaneCount=\"3\" FirstT=\"0\"/>"
      "<TiffData IFD=\"3\" PlaneCount=\"3\" FirstT=\"1\">"
      "<UUID FileName=\"a.tif\">urn</UUID></TiffData>"
      "<Plane TheZ=\"0\" TheC=\"0\" TheT=\"0\" DeltaT=\"0.0\"/>"
      "<Plane TheZ=\"0\" TheC=\"0\" TheT=\"1\" DeltaT=\"0.07\"/>"
      "</Pixels></Image></OME>",
      COMPRESSION_PACKBITS, FALSE, PLANARCONFIG_CONTIG, "w8");
  append_file (seeds, NULL, COMPRESSION_NONE, FALSE, PLANARCONFIG_SEPARATE,
      "wb");
  append_long_block (seeds, FALSE);
  append_long_block (seeds, TRUE);
}
