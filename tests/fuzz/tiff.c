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

#define PAGES 6

const gchar *const fuzz_name = "tiff";

/* The bytes as a description, because libtiff reads the rest. */
gboolean
fuzz_parse (NdHeader *header, const guint8 *bytes, gsize n, GError **error)
{
  g_autofree gchar *text = g_strndup ((const gchar *) bytes, n);
  g_auto (NdTiffAxes) axes = { 0 };
  guint64 page;

  if (nd_tiff_axes_parse (&axes, text, PAGES, 5, 4, 1, error)) {
    if (axes.channels == 0 || axes.slices == 0 || axes.volumes == 0
        || (axes.kind != ND_TIFF_IMAGEJ
            && axes.channels * axes.slices * axes.volumes > PAGES))
      g_error ("axes without pages");
    nd_tiff_axes_page (&axes, axes.channels - 1, axes.slices - 1,
        axes.volumes - 1, &page);
    g_set_error (error, ND_ERROR, ND_ERROR_READ, "only a description");
  }
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
}
