/* TIFF as programs write it: ImageJ's calibration and units, OME-TIFF with
 * missing planes or without metadata, several slices in a directory, samples of
 * 12 bits, compressions that are not read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"
#include "tests/formats/hostile.h"
#include "tests/formats/samples.h"

#include <glib/gstdio.h>
#include <tiffio.h>
#include <zlib.h>

#define X 4
#define Y 3
#define PIXELS (X * Y)

/* What a page has; 0: the usual. */
typedef struct
{
  guint bits, format, pages;
  const gchar *mode, *description;
} Kind;

/* Writes pages whose bytes are those of @samples. */
static void
put_tiff (const gchar *path, Kind kind, gconstpointer samples)
{
  const guint bits = kind.bits ? kind.bits : 16;
  const gsize row = (X * bits + 7) / 8;
  TIFF *tiff = TIFFOpen (path, kind.mode ? kind.mode : "w");

  for (guint page = 0; page < MAX (kind.pages, 1); page++) {
    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, X);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, Y);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField (tiff, TIFFTAG_SAMPLEFORMAT,
        kind.format ? kind.format : SAMPLEFORMAT_UINT);
    TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, Y);
    TIFFSetField (tiff, TIFFTAG_XRESOLUTION, 4.0);
    TIFFSetField (tiff, TIFFTAG_YRESOLUTION, 5.0);
    if (page == 0 && kind.description)
      TIFFSetField (tiff, TIFFTAG_IMAGEDESCRIPTION, kind.description);
    for (guint y = 0; y < Y; y++) {
      g_autofree guint8 *copy =
          g_memdup2 ((const guint8 *) samples + (page * Y + y) * row, row);

      TIFFWriteScanline (tiff, copy, y, 0);
    }
    TIFFWriteDirectory (tiff);
  }
  TIFFClose (tiff);
}

static void
test_calibration (void)
{
  static const struct
  {
    const gchar *lines;
    guint bits, format;
    NdSampleType type;
    gdouble value; /* of the second sample, which is stored as 32268 or 12 */
    const gchar *warning;
  } rows[] = {
    { "cf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n", 16, 1, ND_INT16, -500 },
    { "cf=0\nc0=-32768.0\nc1=1.0\nvunit=Gray Value\n", 16, 2, ND_INT16, 32268 },
    { "cf=0\nc0=10\nc1=0.5\nvunit=mm\n", 16, 1, ND_FLOAT32, 16144 },
    { "cf=0\nc0=10\nc1=0.5\nvunit=mm\n", 16, 2, ND_FLOAT32, 32528 },
    { "cf=0\nc0=10\nc1=0.5\nvunit=mm\n", 8, 1, ND_FLOAT32, 16 },
    /* As ImageJ, which needs a unit of the values. */
    { "cf=0\nc0=10\nc1=0.5\n", 16, 1, ND_UINT16, 32268 },
    { "cf=1\nc0=1\nc1=2\nc2=3\nvunit=mm\n", 16, 1, ND_UINT16, 32268,
        "not a straight line" },
    { "cf=21\nvunit=OD\n", 8, 1, ND_UINT8, 12, "not a straight line" },
    { "cf=20\nvunit=OD\n", 8, 1, ND_UINT8, 12 },
    { "cf=0\nc0=-5\nc1=0.25\nvunit=a\nzeroclip=true\n", 8, 1, ND_FLOAT32, -2,
        "below 0" },
    { "cf=0\nc0=nan\nc1=0.25\nvunit=a\n", 8, 1, ND_UINT8, 12 },
  };
  g_autofree gchar *path = file_path ("calibrated.tif");
  g_autofree gchar *shared = shared_file ("imagej-signed16/ijs16.tif");

  for (guint order = 0; order < 2; order++) {
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      const guint16 wide[PIXELS] = { 0, 32268 };
      const guint8 narrow[PIXELS] = { 0, 12 };
      g_autofree gchar *text =
          g_strconcat ("ImageJ=1.53t\nimages=1\n", rows[i].lines, NULL);
      g_autoptr (NdReader) reader = NULL;

      g_test_message ("%s", text);
      put_tiff (path,
          (Kind){ rows[i].bits, rows[i].format, 1, order ? "wb" : "wl", text },
          rows[i].bits == 16 ? (gconstpointer) wide : narrow);
      reader = open_file (path);
      g_assert_cmpint (nd_reader_recording (reader)->type, ==, rows[i].type);
      g_assert_cmpfloat (read_number (reader, 1), ==, rows[i].value);
      g_assert_true (!rows[i].warning || warns_of (reader, rows[i].warning));
      g_assert_true (rows[i].warning || !*nd_reader_warnings (reader));
    }
  }
  if (shared) {
    g_autoptr (NdReader) reader = open_file (shared);

    assert_size (reader, 1, 4, 8, 8, 1);
    g_assert_cmpint (nd_reader_recording (reader)->type, ==, ND_INT16);
    g_assert_cmpfloat (read_number (reader, 1), ==, -500);
  }
}

static void
test_units (void)
{
  static const struct
  {
    const gchar *lines;
    gdouble x, y, z, interval;
    const gchar *warning;
  } rows[] = {
    { "unit=mm\nspacing=2\nfinterval=50\ntunit=ms\n", 0.25, 0.2, 2, 0.05 },
    { "unit=mm\nspacing=2\nfinterval=0.5\ntunit=min\n", 0.25, 0.2, 2, 30 },
    { "unit=mm\nspacing=2\nfinterval=50\ntunit=\\u00B5s\n", 0.25, 0.2, 2,
        5e-5 },
    { "unit=mm\nspacing=2\nfinterval=2\n", 0.25, 0.2, 2, 2 },
    { "unit=mm\nyunit=cm\nzunit=\\u00B5m\nspacing=2\nfinterval=2\ntunit=sec\n",
        0.25, 2, 2e-3, 2 },
    { "unit=mm\nspacing=2\nfinterval=2\ntunit=frame\n", 0.25, 0.2, 2, 0,
        "tunit" },
    { "unit=mm\nspacing=-2\nfinterval=2\nfps=7\n", 0.25, 0.2, 2, 2 },
    { "unit=mm\nspacing=2\nfps=4\ntunit=ms\n", 0.25, 0.2, 2, 0.25 },
  };
  const guint16 samples[2 * PIXELS] = { 0 };
  g_autofree gchar *path = file_path ("units.tif");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *text =
        g_strconcat ("ImageJ=1.53t\nimages=2\nframes=2\n", rows[i].lines, NULL);
    g_autoptr (NdReader) reader = NULL;
    const NdRecording *found;

    g_test_message ("%s", text);
    put_tiff (path, (Kind){ .pages = 2, .description = text }, samples);
    reader = open_file (path);
    found = nd_reader_recording (reader);
    assert_size (reader, 2, 1, Y, X, 1);
    g_assert_cmpfloat_with_epsilon (found->geometry.spacing[0], rows[i].x,
        1e-6);
    g_assert_cmpfloat_with_epsilon (found->geometry.spacing[1], rows[i].y,
        1e-6);
    g_assert_cmpfloat_with_epsilon (found->geometry.spacing[2], rows[i].z,
        1e-6);
    g_assert_cmpfloat_with_epsilon (found->rate_n > 0
            ? (gdouble) found->rate_d / found->rate_n
            : 0,
        rows[i].interval, 1e-9);
    g_assert_true (!rows[i].warning || warns_of (reader, rows[i].warning));
  }
}

/* Each plane has its number, from 1, in all samples. */
static void
put_planes (const gchar *path, const gchar *description, guint pages)
{
  guint16 samples[8 * PIXELS];

  for (guint i = 0; i < pages * PIXELS; i++)
    samples[i] = i / PIXELS + 1;
  put_tiff (path, (Kind){ .pages = pages, .description = description },
      samples);
}

#define OME(sizes, planes)                                                     \
  "<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeC=\"1\" " sizes ">" planes \
  "</Pixels></Image></OME>"

/* Frames of a run that was stopped remain frames. */
static void
test_missing_planes (void)
{
  static const struct
  {
    const gchar *text;
    guint64 volumes, slices;
    guint8 planes[6];
    const gchar *warning;
  } rows[] = {
    { OME ("SizeZ=\"1\" SizeT=\"6\"",
          "<TiffData IFD=\"0\" FirstT=\"0\" PlaneCount=\"1\"/>"
          "<TiffData IFD=\"1\" FirstT=\"1\" PlaneCount=\"1\"/>"
          "<TiffData IFD=\"2\" FirstT=\"2\" PlaneCount=\"1\"/>"
          "<TiffData IFD=\"3\" FirstT=\"4\" PlaneCount=\"1\"/>"),
        6, 1, { 1, 2, 3, 0, 4, 0 }, "lacks 2 of the 6 planes" },
    { OME ("SizeZ=\"2\" SizeT=\"3\"", "<TiffData/>"), 3, 2,
        { 1, 2, 3, 4, 0, 0 }, "lacks 2 of the 6 planes" },
    { OME ("SizeZ=\"2\" SizeT=\"2\"", ""), 2, 2, { 1, 2, 3, 4 } },
    /* Pages that the file has not. */
    { OME ("SizeZ=\"1\" SizeT=\"3\"",
          "<TiffData IFD=\"9\" FirstT=\"0\"/><TiffData IFD=\"3\" "
          "FirstT=\"1\" PlaneCount=\"2\"/>"),
        3, 1, { 0, 4, 0 }, "lacks 2 of the 3 planes" },
    { OME ("SizeZ=\"9\" SizeT=\"3\"", "<TiffData/>"), 1, 4, { 1, 2, 3, 4 },
        "other counts" },
    { OME ("SizeZ=\"1\" SizeT=\"4294967296\"", "<TiffData/>"), 1, 4,
        { 1, 2, 3, 4 }, "other counts" },
  };
  g_autofree gchar *path = file_path ("planes.ome.tif");
  g_autofree gchar *shared = shared_file ("ome-missing-planes/mm3.ome.tif");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (NdReader) reader = NULL;

    put_planes (path, rows[i].text, 4);
    reader = open_file (path);
    assert_size (reader, rows[i].volumes, rows[i].slices, Y, X, 1);
    g_assert_true (!rows[i].warning || warns_of (reader, rows[i].warning));
    for (guint v = 0; v < rows[i].volumes; v++) {
      gsize n;
      g_autofree gdouble *numbers = read_numbers (reader, &n);

      for (gsize p = 0; p < n; p++)
        g_assert_cmpfloat (numbers[p], ==,
            rows[i].planes[v * rows[i].slices + p / PIXELS]);
    }
  }
  if (shared) {
    g_autoptr (NdReader) reader = open_file (shared);

    assert_size (reader, 6, 1, 24, 32, 1);
    g_assert_true (warns_of (reader, "lacks 2 of the 6 planes"));
    g_assert_cmpfloat (read_number (reader, 0), ==, 2905);
  }
}

/* Slices of one directory, of which the second one is the first of the
 * planes. */
static void
test_slices_of_page (void)
{
  static const gchar *const texts[] = {
    OME ("SizeZ=\"2\" SizeT=\"1\"",
        "<TiffData IFD=\"1\" FirstZ=\"0\"/><TiffData IFD=\"0\" "
        "FirstZ=\"1\"/>"),
    OME ("SizeZ=\"2\" SizeT=\"1\"", "<TiffData IFD=\"1\" FirstZ=\"0\"/>"),
  };
  static const guint16 expected[2][2] = { { 2, 1 }, { 2, 0 } };
  g_autofree gchar *path = file_path ("depth.ome.tif");
  guint16 samples[2 * PIXELS];

  for (guint i = 0; i < 2 * PIXELS; i++)
    samples[i] = i / PIXELS + 1;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (NdReader) reader = NULL;
    g_autofree gdouble *numbers = NULL;
    TIFF *tiff = TIFFOpen (path, "w");
    gsize n;

    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, X);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, Y);
    TIFFSetField (tiff, TIFFTAG_IMAGEDEPTH, 2);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField (tiff, TIFFTAG_IMAGEDESCRIPTION, texts[i]);
    g_assert_cmpint (TIFFWriteRawStrip (tiff, 0, samples, sizeof (samples)), ==,
        sizeof (samples));
    TIFFClose (tiff);
    reader = open_file (path);
    assert_size (reader, 1, 2, Y, X, 1);
    numbers = read_numbers (reader, &n);
    for (gsize p = 0; p < n; p++)
      g_assert_cmpfloat (numbers[p], ==, expected[i][p / PIXELS]);
  }
}

/* Refused with the file that has the metadata, or with a command. */
static void
test_advice (void)
{
  static const guint16 compressions[] = { 34712, 50002 };
  g_autofree gchar *path = file_path ("advice.tif");
  g_autofree gchar *binary = shared_file ("ome-binary-only/bo.ome.tif");
  g_autofree gchar *packed = shared_file ("tiff-jpegxl/cmp_jpegxl.tif");

  put_planes (path,
      "<OME UUID=\"urn:uuid:22\"><BinaryOnly MetadataFile=\"a_0.ome.tif\" "
      "UUID=\"urn:uuid:11\"/></OME>",
      3);
  assert_refused (path, ND_ERROR_FORMAT, "the file \"a_0.ome.tif\"");
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *bytes = NULL;
    gsize n, at;

    put_planes (path, NULL, 1);
    g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
    for (at = 0; at + 4 < n; at++) {
      const guint16 head[] = { TIFFTAG_COMPRESSION, TIFF_SHORT };

      if (memcmp (bytes + at, head, 4) == 0)
        memcpy (bytes + at + 8, &compressions[i], 2);
    }
    put_file (path, bytes, n);
    assert_refused (path, ND_ERROR_FORMAT, i ? "JPEG XL" : "JPEG 2000");
    assert_refused (path, ND_ERROR_FORMAT, "tifffile.imread");
  }
  if (binary)
    assert_refused (binary, ND_ERROR_FORMAT, "the file \"mf_0.ome.tif\"");
  if (packed)
    assert_refused (packed, ND_ERROR_FORMAT, "JPEG XL");
}

/* Samples of 1 to 15 bits, the highest bits first. */
static void
test_bits (void)
{
  g_autofree gchar *path = file_path ("bits.tif");

  for (guint bits = 1; bits < 16; bits++) {
    const gsize row = (X * bits + 7) / 8;
    g_autofree guint8 *packed = g_malloc0 (row * Y);
    g_autoptr (NdReader) reader = NULL;
    g_autofree gdouble *numbers = NULL;
    gsize n;

    for (guint i = 0; i < PIXELS; i++) {
      const guint sample = i * 2654435761u >> 16 & ((1u << bits) - 1);

      for (guint bit = 0; bit < bits; bit++) {
        const gsize at = i % X * bits + bit;

        if (sample >> (bits - 1 - bit) & 1)
          packed[i / X * row + at / 8] |= 0x80 >> at % 8;
      }
    }
    put_tiff (path, (Kind){ .bits = bits }, packed);
    reader = open_file (path);
    assert_size (reader, 1, 1, Y, X, 1);
    g_assert_cmpint (nd_reader_recording (reader)->type, ==,
        bits <= 8 ? ND_UINT8 : ND_UINT16);
    numbers = read_numbers (reader, &n);
    for (guint i = 0; i < PIXELS && bits != 8; i++)
      g_assert_cmpfloat (numbers[i], ==,
          i * 2654435761u >> 16 & ((1u << bits) - 1));
  }
}

/* Such samples with predictor 2: differences modulo 2^bits of neighbours. */
static void
test_differences (void)
{
  g_autofree gchar *path = file_path ("differences.tif");

  for (guint bits = 1; bits < 16; bits++) {
    const guint samples = bits % 2 ? 1 : 3, mask = (1u << bits) - 1;
    const guint n = PIXELS * samples;
    const gsize row = (X * samples * bits + 7) / 8;
    g_autofree guint8 *packed = g_malloc0 (row * Y);
    g_autofree gdouble *numbers = NULL;
    g_autoptr (NdReader) reader = NULL;
    guint8 strip[1024];
    uLongf size = sizeof (strip);
    gsize found;
    TIFF *tiff;

    if (bits == 8)
      continue;
    for (guint i = 0; i < n; i++) {
      const gboolean first = i % (X * samples) < samples;
      const guint sample = i * 2654435761u >> 16;
      const guint before = first ? 0 : (i - samples) * 2654435761u >> 16;

      for (guint bit = 0; bit < bits; bit++) {
        const gsize at = i % (X * samples) * bits + bit;

        if (((sample - before) & mask) >> (bits - 1 - bit) & 1)
          packed[i / (X * samples) * row + at / 8] |= 0x80 >> at % 8;
      }
    }
    g_assert_cmpint (compress (strip, &size, packed, row * Y), ==, Z_OK);
    tiff = TIFFOpen (path, "w");
    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, X);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, Y);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, Y);
    TIFFSetField (tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField (tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    g_assert_cmpint (TIFFWriteRawStrip (tiff, 0, strip, size), ==, size);
    TIFFClose (tiff);
    reader = open_file (path);
    assert_size (reader, 1, 1, Y, X, samples);
    numbers = read_numbers (reader, &found);
    g_assert_cmpuint (found, ==, n);
    for (guint i = 0; i < n; i++)
      g_assert_cmpfloat (numbers[i], ==, (i * 2654435761u >> 16) & mask);
  }
}

/* libtiff and ImageJ ignore the predictor of samples that are not compressed;
 * tifffile and Bio-Formats do not. */
static void
test_stray_predictor (void)
{
  const guint16 samples[PIXELS] = { 100, 100 };
  g_autofree gchar *path = file_path ("stray.tif");

  for (guint wide = 0; wide < 2; wide++) {
    for (guint predictor = 1; predictor < 3; predictor++) {
      g_autofree gchar *bytes = NULL;
      g_autoptr (NdReader) reader = NULL;
      gsize n;

      put_tiff (path, (Kind){ .mode = wide ? "w8" : "w" }, samples);
      g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
      for (gsize at = 0; at + 14 < n; at++) {
        const guint16 head[] = { TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT };
        const guint16 tag = TIFFTAG_PREDICTOR, value = predictor;

        if (memcmp (bytes + at, head, 4) == 0) {
          memcpy (bytes + at, &tag, 2);
          memcpy (bytes + at + (wide ? 12 : 8), &value, 2);
        }
      }
      put_file (path, bytes, n);
      reader = open_file (path);
      g_assert_cmpfloat (read_number (reader, 1), ==, 100);
      g_assert_cmpint (warns_of (reader, "has a predictor"), ==,
          predictor == 2);
    }
  }
}

/* Several slices in the tiles of a directory, and in one tile. */
static void
test_depth (void)
{
  g_autofree gchar *path = file_path ("depth.tif");
  g_autoptr (NdReader) reader = NULL;
  g_autofree gdouble *numbers = NULL;
  gsize n;

  for (guint deep = 2; deep > 0; deep--) {
    guint8 tile[16 * 16];
    TIFF *tiff = TIFFOpen (path, "w");

    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, 20);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 10);
    TIFFSetField (tiff, TIFFTAG_IMAGEDEPTH, 3);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField (tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField (tiff, TIFFTAG_TILELENGTH, 16);
    TIFFSetField (tiff, TIFFTAG_TILEDEPTH, deep);
    for (guint z = 0; z < 3; z += deep) {
      for (guint x = 0; x < 20; x += 16) {
        for (guint i = 0; i < sizeof (tile); i++)
          tile[i] = 50 * z + i / 16 + x;
        g_assert_cmpint (TIFFWriteTile (tiff, tile, x, 0, z, 0), >, 0);
      }
    }
    TIFFClose (tiff);
    if (deep > 1)
      assert_refused (path, ND_ERROR_FORMAT, "tifffile.imread");
  }
  reader = open_file (path);
  assert_size (reader, 1, 3, 10, 20, 1);
  numbers = read_numbers (reader, &n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (numbers[i], ==,
        50 * (i / 200) + i % 200 / 20 + (i % 20 < 16 ? 0 : 16));
}

/* A stack of MetaMorph has all planes in one directory: slices if they have
 * distances, otherwise frames with times of their own, here past midnight. */
static void
test_stack (void)
{
  static const guint32 planes = 3, width = 4, bytes_of_plane = 16;
  g_autofree gchar *path = file_path ("stack.stk");

  for (guint distant = 0; distant < 2; distant++) {
    g_autoptr (GByteArray) bytes = g_byte_array_new ();
    const guint32 places = 8 + planes * bytes_of_plane;
    const guint32 directory = places + planes * 24, end = 0;
    const guint16 tags = 9;
    g_autoptr (NdReader) reader = NULL;

    add_text (bytes, G_BYTE_ORDER == G_LITTLE_ENDIAN ? "II*" : "MM");
    add_zeros (bytes, 4 - bytes->len);
    if (G_BYTE_ORDER == G_BIG_ENDIAN)
      bytes->data[3] = '*';
    g_byte_array_append (bytes, (const guint8 *) &directory, 4);
    for (guint8 i = 0; i < planes * bytes_of_plane; i++)
      g_byte_array_append (bytes, &i, 1);
    for (guint32 i = 0; i < planes; i++) {
      const guint32 plane[6] = { distant ? 5 : 0, 1, 2459000 + (i > 0),
        i == 0 ? 86399900 : 150 * i, 0, 0 };

      g_byte_array_append (bytes, (const guint8 *) plane, sizeof (plane));
    }
    g_byte_array_append (bytes, (const guint8 *) &tags, 2);
    add_tag (bytes, 256, 4, 1, width);
    add_tag (bytes, 257, 4, 1, width);
    add_tag (bytes, 258, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 8 : 8 << 16);
    add_tag (bytes, 259, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 1 << 16);
    add_tag (bytes, 262, 3, 1, G_BYTE_ORDER == G_LITTLE_ENDIAN ? 1 : 1 << 16);
    add_tag (bytes, 273, 4, 1, 8);
    add_tag (bytes, 278, 4, 1, width);
    add_tag (bytes, 279, 4, 1, bytes_of_plane);
    add_tag (bytes, 33629, 5, planes, places);
    g_byte_array_append (bytes, (const guint8 *) &end, 4);
    put_bytes (path, bytes);
    reader = open_file (path);
    assert_size (reader, distant ? 1 : planes, distant ? planes : 1, width,
        width, 1);
    assert_counts (reader, 0, planes * bytes_of_plane);
    if (!distant)
      g_assert_cmpint (nd_reader_time (reader, 1), ==, 250000000);
    if (!distant)
      g_assert_cmpint (nd_reader_time (reader, 2), ==, 400000000);
  }
}

#define PLANE(T, FILE, IFD)                                             \
  "<TiffData FirstT=\"" #T "\" IFD=\"" #IFD "\"><UUID FileName=\"" FILE \
  "\">urn:uuid:1</UUID></TiffData>"

/* Planes in several files, of which one may be missing; the description is in
 * each of them, or in a file of its own. */
static void
test_ome_files (void)
{
  static const gchar text[] =
      "<?xml version=\"1.0\"?><OME xmlns=\"x\"><Image><Pixels "
      "DimensionOrder=\"XYZCT\" Type=\"uint16\" SizeX=\"4\" SizeY=\"3\" "
      "SizeZ=\"1\" SizeC=\"1\" SizeT=\"4\">" PLANE (0, "b.tif", 1)
          PLANE (1, "a.tif", 0) PLANE (2, "b.tif", 0)
              PLANE (3, "c.tif", 0) "</Pixels></Image></OME>";
  static const gchar only[] =
      "<?xml version=\"1.0\"?><OME xmlns=\"x\"><BinaryOnly "
      "MetadataFile=\"all.companion.ome\" UUID=\"urn:uuid:1\"/></OME>";
  g_autofree gchar *companion = file_path ("all.companion.ome");
  g_autofree gchar *a = file_path ("a.tif"), *b = file_path ("b.tif");
  g_autofree gchar *c = file_path ("c.tif");
  const gchar *const paths[] = { a, b };

  for (guint apart = 0; apart < 2; apart++) {
    const Kind one = { 16, 0, 1, NULL, apart ? only : text };
    const Kind two = { 16, 0, 2, NULL, apart ? only : text };
    const guint16 of_a[PIXELS] = { 1 }, of_c[PIXELS] = { 3 };
    const guint16 of_b[2 * PIXELS] = { 2, [PIXELS] = 5 };

    put_tiff (a, one, of_a);
    put_tiff (b, two, of_b);
    put_tiff (c, one, of_c);
    if (apart) {
      assert_refused (a, ND_ERROR_FORMAT, "all.companion.ome");
      put_file (companion, text, strlen (text));
    }
    for (guint i = 0; i < 4; i++) {
      g_autoptr (NdReader) reader = NULL;
      const guint values[] = { 5, 1, 2, i < 2 ? 3 : 0 };

      if (i == 2)
        g_remove (c);
      reader = open_file (paths[i % 2]);
      assert_size (reader, 4, 1, 3, 4, 1);
      for (guint t = 0; t < 4; t++) {
        g_assert_true (nd_reader_seek (reader, t, NULL));
        g_assert_cmpfloat (read_number (reader, 0), ==, values[t]);
      }
      g_assert_true (i < 2 || warns_of (reader, "c.tif"));
      g_assert_true (i < 2 || warns_of (reader, "lacks 1 of the 4 planes"));
    }
    put_tiff (c, two, of_b);
    put_file (c, "II*", 3);
    {
      g_autoptr (NdReader) reader = open_file (a);

      g_assert_true (warns_of (reader, "damaged TIFF"));
    }
  }
  g_remove (companion);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/calibration", test_calibration);
  g_test_add_func ("/tiff-programs/ome-files", test_ome_files);
  g_test_add_func ("/units", test_units);
  g_test_add_func ("/missing-planes", test_missing_planes);
  g_test_add_func ("/slices-of-page", test_slices_of_page);
  g_test_add_func ("/advice", test_advice);
  g_test_add_func ("/bits", test_bits);
  g_test_add_func ("/differences", test_differences);
  g_test_add_func ("/stray-predictor", test_stray_predictor);
  g_test_add_func ("/depth", test_depth);
  g_test_add_func ("/stack", test_stack);
  status = g_test_run ();
  remove_folder ();
  return status;
}
