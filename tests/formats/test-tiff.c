/* TIFF files: written and read again, descriptions, unfinished and refused
 * files, sizes from 4 GiB on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/tiffaxes.h"
#include "formats/tiffbuild.h"
#include "tests/formats/hostile.h"

#include <glib/gstdio.h>
#include <tiffio.h>

static NdRecording
make_recording (NdSampleType type, gsize components, gsize z)
{
  NdRecording recording = { .type = type,
    .shape = { components, { 5, 4, z } },
    .responses = 1,
    .rate_n = 25,
    .rate_d = 2,
    .geometry = {
        TRUE, { 0.3, 0.25, 2 }, { 0 }, { -1, 0, 0, 0, -1, 0, 0, 0, 1 } } };

  return recording;
}

static void
write_file (const gchar *path, const NdRecording *recording, guint volumes,
    gboolean finish)
{
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdWriter) writer = nd_writer_open (path, FALSE, &error);

  g_assert_no_error (error);
  g_assert_true (nd_writer_begin (writer, recording, &error));
  for (guint v = 0; v < volumes; v++) {
    for (gsize i = 0; i < size; i++)
      data[i] = 5 * v + i;
    g_assert_true (nd_writer_write (writer, data, v, &error));
  }
  g_assert_true (!finish || nd_writer_finish (writer, &error));
  g_assert_no_error (error);
}

static void
check_file (const gchar *path, const NdRecording *recording, guint volumes)
{
  const gsize size = nd_recording_volume_size (recording);
  g_autofree guint8 *data = g_malloc (size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = nd_reader_open (path, NULL, &error);
  const NdRecording *found;

  g_assert_no_error (error);
  found = nd_reader_recording (reader);
  g_assert_cmpuint (found->volumes, ==, volumes);
  g_assert_cmpint (found->type, ==, recording->type);
  g_assert_cmpmem (&found->shape, sizeof (NdShape), &recording->shape,
      sizeof (NdShape));
  for (guint a = 0; a < 3; a++)
    g_assert_cmpfloat_with_epsilon (found->geometry.spacing[a],
        recording->geometry.spacing[a], 1e-6);
  if (volumes > 1) {
    g_assert_cmpint (found->rate_n, ==, 25);
    g_assert_cmpint (found->rate_d, ==, 2);
  }
  for (guint n = 2 * volumes; n > 0; n--) {
    const guint v = n * 7 % volumes;

    g_assert_true (nd_reader_seek (reader, v, &error));
    g_assert_true (nd_reader_read (reader, data, &error));
    for (gsize i = 0; i < size; i++)
      g_assert_cmpuint (data[i], ==, (guint8) (5 * v + i));
  }
}

static void
test_round_trip (void)
{
  static const gsize components[] = { 1, 2, 3, 4, 7, 300 };

  for (guint type = 0; type < ND_SAMPLE_TYPES; type++) {
    for (guint c = 0; c < G_N_ELEMENTS (components); c++) {
      for (guint z = 1; z <= 3; z += 2) {
        const NdRecording recording = make_recording (type, components[c], z);
        g_autofree gchar *path = file_path ("t.tif");
        g_autofree gchar *ome = file_path ("t.ome.tif");

        write_file (path, &recording, 1 + c, TRUE);
        check_file (path, &recording, 1 + c);
        g_remove (path);
        write_file (ome, &recording, 1 + c, TRUE);
        check_file (ome, &recording, 1 + c);
        g_remove (ome);
      }
    }
  }
}

/* An incomplete recording can be read, because the first directory lies before
 * the samples. */
static void
test_unfinished (void)
{
  static const gchar *const names[] = { "u.tif", "u.ome.tif" };

  for (guint i = 0; i < 6; i++) {
    const NdRecording recording = make_recording (ND_UINT16, 1 + i / 2, 3);
    g_autofree gchar *path = file_path (names[i % 2]);
    g_autofree gchar *part = g_strconcat (path, ".part", NULL);

    write_file (path, &recording, 4, FALSE);
    check_file (part, &recording, 4);
    g_remove (part);
  }
}

/* Offsets of BigTIFF from 4 GiB on. */
static void
test_large (void)
{
  NdRecording recording = make_recording (ND_UINT16, 1, 1);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (NdMetadata) metadata = nd_metadata_new (NULL);
  gsize room;

  recording.shape.size[0] = recording.shape.size[1] = 1024;
  recording.volumes = 2000;
  nd_tiff_build (bytes, &recording, metadata, TRUE, FALSE);
  room = bytes->len;
  g_assert_cmpmem (bytes->data + 2, 2, "\x2a", 2);
  recording.volumes = 2048;
  g_byte_array_set_size (bytes, 0);
  nd_tiff_build (bytes, &recording, metadata, TRUE, FALSE);
  g_assert_cmpuint (bytes->len, ==, room);
  g_assert_cmpmem (bytes->data + 2, 2, "\x2b", 2);
  g_byte_array_set_size (bytes, 0);
  g_assert_cmpuint (nd_tiff_build_pages (bytes, &recording, metadata, FALSE, 1,
                        5000),
      ==, 2047);
  g_assert_cmpuint (nd_tiff_build_pages (bytes, &recording, metadata, FALSE,
                        2048, 5),
      ==, 0);
}

static const struct
{
  const gchar *text;
  guint64 pages, channels, slices, volumes;
  gboolean known;
  const gchar *order;
  gdouble spacing_x, spacing_z, seconds;
} descriptions[] = {
  { NULL, 6, 1, 6, 1, FALSE, "czt" },
  { "a picture", 6, 1, 6, 1, FALSE, "czt" },
  { "ImageJ=1\nimages=6\nslices=3\nframes=2\nunit=micron\nspacing=2\nfps=4\n",
      6, 1, 3, 2, TRUE, "czt", 0, 2e-3, 0.25 },
  { "ImageJ=1\nimages=6\n", 6, 1, 6, 1, TRUE, "czt" },
  { "ImageJ=1\nimages=60\nframes=60\n", 1, 1, 1, 60, TRUE, "czt" },
  { "ImageJ=1\nimages=6\nslices=4\n", 6, 1, 6, 1, FALSE, "czt" },
  { "ImageJ=1\nimages=6\nslices=4294967296\nframes=4294967296\n", 6, 1, 6, 1,
      FALSE, "czt" },
  { "{\"shape\": [6, 4, 5]}", 6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [6, 4, 5], \"axes\": \"TYX\"}", 6, 1, 1, 6, TRUE, "tcz" },
  { "{\"axes\": \"ZTYX\", \"shape\": [2, 3, 4, 5]}", 6, 1, 2, 3, TRUE, "tzc" },
  { "{\"shape\": [2, 3, 4, 5]}", 6, 1, 3, 2, TRUE, "ztc" },
  { "{\"shape\": [2, 3, 4, 6]}", 6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [6, 4, 5], \"axes\": \"QYX\"}", 6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [6, 4, 5], \"axes\": \"QQYX\"}", 6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [2, 3, 4, 5], \"axes\": \"TQYX\"}", 6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [1, 1, 6, 4, 5], \"axes\": \"TTTYX\"}", 6, 1, 6, 1, FALSE,
      "czt" },
  { "<OME><Image><Pixels DimensionOrder=\"XYQQQ\" SizeZ=\"6\"/></Image></OME>",
      6, 1, 6, 1, FALSE, "czt" },
  { "{\"shape\": [", 6, 1, 6, 1, FALSE, "czt" },
  { "<OME><Image><Pixels DimensionOrder=\"XYZTC\" SizeX=\"5\" SizeY=\"4\" "
    "SizeZ=\"3\" SizeC=\"1\" SizeT=\"2\" PhysicalSizeX=\"0.5\" "
    "PhysicalSizeZ=\"2\" PhysicalSizeZUnit=\"nm\" TimeIncrement=\"2\" "
    "TimeIncrementUnit=\"min\"/></Image></OME>",
      6, 1, 3, 2, TRUE, "ztc", 0.5e-3, 2e-6, 120 },
  /* stopped after two of ten volumes: the others are missing */
  { "<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeZ=\"3\" SizeC=\"1\" "
    "SizeT=\"10\"/></Image></OME>",
      6, 1, 3, 10, TRUE, "czt" },
  { "<OME><Image><Pixels DimensionOrder=\"XYCZT\" SizeZ=\"7\" SizeC=\"1\" "
    "SizeT=\"1\"/></Image></OME>",
      6, 1, 6, 1, FALSE, "czt" },
  { "<OME><Image><Pixels SizeZ=\"3\"", 6, 1, 6, 1, FALSE, "czt" },
};

static void
test_descriptions (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (descriptions); i++) {
    g_auto (NdTiffAxes) axes = { 0 };

    g_test_message ("%s", descriptions[i].text);
    nd_tiff_axes_parse (&axes, descriptions[i].text, descriptions[i].pages, 5,
        4, 1);
    g_assert_cmpuint (axes.channels, ==, descriptions[i].channels);
    g_assert_cmpuint (axes.slices, ==, descriptions[i].slices);
    g_assert_cmpuint (axes.volumes, ==, descriptions[i].volumes);
    g_assert_cmpint (axes.known, ==, descriptions[i].known);
    g_assert_cmpstr (axes.order, ==, descriptions[i].order);
    g_assert_cmpfloat (axes.spacing[0], ==, descriptions[i].spacing_x);
    g_assert_cmpfloat_with_epsilon (axes.spacing[2], descriptions[i].spacing_z,
        1e-12);
    g_assert_cmpfloat (axes.seconds, ==, descriptions[i].seconds);
  }
}

/* The page of plane (0, z, t) in the file that has the description. */
static guint
own_page (const NdTiffAxes *axes, guint64 z, guint64 t)
{
  const NdTiffPlace place = nd_tiff_axes_place (axes, 0, z, t);

  g_assert_cmpuint (place.file, ==, ND_TIFF_OWN);
  return place.page;
}

/* Planes of OME-TIFF that are in other pages than their order says. */
static void
test_planes (void)
{
  g_auto (NdTiffAxes) axes = { 0 };

  nd_tiff_axes_parse (&axes,
      "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeZ=\"2\" SizeC=\"1\" "
      "SizeT=\"3\"><TiffData IFD=\"4\" FirstT=\"0\" PlaneCount=\"2\"/>"
      "<TiffData IFD=\"1\" FirstT=\"1\" FirstZ=\"0\"/>"
      "<TiffData IFD=\"0\" FirstT=\"1\" FirstZ=\"1\"/></Pixels></Image></OME>",
      6, 5, 4, 1);
  g_assert_cmpuint (own_page (&axes, 1, 0), ==, 5);
  g_assert_cmpuint (own_page (&axes, 0, 1), ==, 1);
  g_assert_cmpuint (own_page (&axes, 1, 1), ==, 0);
  g_assert_cmpuint (nd_tiff_axes_place (&axes, 0, 0, 2).page, ==, ND_TIFF_NONE);
}

static void
put_page (TIFF *tiff, guint32 width, guint16 bits, guint16 compression)
{
  guint8 row[64] = { 0 };

  TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, 4);
  TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField (tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField (tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField (tiff, TIFFTAG_COMPRESSION, compression);
  for (guint y = 0; y < 4; y++) {
    row[0] = y;
    TIFFWriteScanline (tiff, row, y, 0);
  }
  TIFFWriteDirectory (tiff);
}

static void
test_refused (void)
{
  const NdRecording recording = make_recording (ND_UINT8, 1, 3);
  g_autofree gchar *path = file_path ("r.tif");
  g_autofree gchar *bytes = NULL;
  TIFF *tiff;
  gsize n;

  tiff = TIFFOpen (path, "w");
  put_page (tiff, 8, 24, COMPRESSION_NONE);
  TIFFClose (tiff);
  assert_refused (path, ND_ERROR_FORMAT, "24 bits");
  tiff = TIFFOpen (path, "w");
  put_page (tiff, 8, 1, COMPRESSION_CCITTFAX4);
  TIFFClose (tiff);
  assert_refused (path, ND_ERROR_FORMAT, "tiffcp -c lzw");
  write_file (path, &recording, 4, TRUE);
  g_assert_true (g_file_get_contents (path, &bytes, &n, NULL));
  put_file (path, bytes, 100);
  assert_refused (path, ND_ERROR_READ, "damaged");
  put_file (path, "II*\0\0\0\0\0", 8);
  assert_refused (path, ND_ERROR_READ, "damaged");
  /* The width of the first page. */
  bytes[16 + 2 + 8 + 2] = 0x7f;
  put_file (path, bytes, n);
  assert_refused (path, ND_ERROR_READ, "truncated");
  g_remove (path);
}

/* Pages of another size are left out, with a warning; LZW is read. */
static void
test_others (void)
{
  g_autofree gchar *path = file_path ("o.tif");
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = NULL;
  guint8 volume[2 * 4 * 8];
  TIFF *tiff = TIFFOpen (path, "w");

  put_page (tiff, 8, 8, COMPRESSION_LZW);
  put_page (tiff, 9, 8, COMPRESSION_LZW);
  put_page (tiff, 8, 8, COMPRESSION_LZW);
  TIFFClose (tiff);
  reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (nd_reader_warnings (reader)[0], "1 pages"));
  g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==, 2);
  g_assert_true (nd_reader_read (reader, volume, &error));
  for (guint i = 0; i < 8; i++)
    g_assert_cmpuint (volume[8 * i], ==, i % 4);
  g_remove (path);
}

/* Samples of two pages that one directory has, with others after them. */
static void
test_rest (void)
{
  g_autofree gchar *path = file_path ("rest.tif");
  g_autoptr (GByteArray) text = g_byte_array_new (), bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdReader) reader = NULL;
  guint8 volume[2 * 16];

  add_text (text, "ImageJ=1.53t\nimages=2\nslices=2\n");
  add_zeros (text, 100);
  bytes = make_tiff (text, 0);
  put_bytes (path, bytes);
  reader = nd_reader_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (nd_reader_warnings (reader)[0]);
  g_assert_true (nd_reader_read (reader, volume, &error));
  g_assert_cmpmem (volume + 16, 12, "ImageJ=1.53t", 12);
  g_remove (path);
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/round-trip", test_round_trip);
  g_test_add_func ("/unfinished", test_unfinished);
  g_test_add_func ("/large", test_large);
  g_test_add_func ("/descriptions", test_descriptions);
  g_test_add_func ("/planes", test_planes);
  g_test_add_func ("/refused", test_refused);
  g_test_add_func ("/others", test_others);
  g_test_add_func ("/rest", test_rest);
  status = g_test_run ();
  remove_folder ();
  return status;
}
