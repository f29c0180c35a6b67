/* DICOM: samples of each kind, frames and their times, volumes of ultrasound,
 * slices, and sentences for what is not read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"
#include "tests/formats/dicomcoded.h"
#include "tests/formats/dicomfile.h"
#include "tests/formats/dicomgrey.h"
#include "tests/formats/samples.h"

/* Compares the next volume with @n numbers. */
static void
assert_numbers (NdReader *reader, const gdouble *numbers, gsize n)
{
  gsize found;
  g_autofree gdouble *read = read_numbers (reader, &found);

  g_assert_cmpuint (found, ==, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (read[i], numbers[i], 1e-6);
}

/* Compresses what follows the transfer syntax. */
static void
deflate_file (DicomFile *file, gsize from)
{
  GByteArray *bytes = file->bytes;
  z_stream z = { 0 };
  const gsize most = bytes->len + 1000;
  g_autofree guint8 *packed = g_malloc (most);

  g_assert_cmpint (deflateInit2 (&z, 9, Z_DEFLATED, -15, 9, 0), ==, Z_OK);
  z.next_in = bytes->data + from;
  z.avail_in = bytes->len - from;
  z.next_out = packed;
  z.avail_out = most;
  g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_set_size (bytes, from);
  g_byte_array_append (bytes, packed, most - z.avail_out);
  deflateEnd (&z);
}

/* Two frames of each kind of samples in each transfer syntax. */
static void
test_samples (void)
{
  static const gchar *const syntaxes[] = { IMPLICIT, EXPLICIT, DEFLATED, BIG };
  static const struct
  {
    DicomPicture picture;
    NdSampleType type;
    guint32 stored[2]; /* the first samples of the first frame */
    gdouble values[2];
  } rows[] = {
    { { "MONOCHROME2", 1, 0, 8, 0, 0, 0 }, ND_UINT8, { 200, 7 }, { 200, 7 } },
    { { "MONOCHROME2", 1, 0, 8, 0, 0, 1 }, ND_INT8, { 200, 7 }, { -56, 7 } },
    { { "MONOCHROME1", 1, 0, 16, 0, 0, 0 }, ND_UINT16, { 60000, 7 },
        { 60000, 7 } },
    { { "MONOCHROME2", 1, 0, 16, 0, 0, 1 }, ND_INT16, { 65036, 7 },
        { -500, 7 } },
    /* Other bits beside those of the sample. */
    { { "MONOCHROME2", 1, 0, 16, 12, 0, 0 }, ND_UINT16, { 0xf123, 7 },
        { 0x123, 7 } },
    { { "MONOCHROME2", 1, 0, 16, 12, 0, 1 }, ND_INT16, { 0x0e0c, 7 },
        { -500, 7 } },
    { { "MONOCHROME2", 1, 0, 16, 12, 15, 0 }, ND_UINT16, { 0x1234, 0x70 },
        { 0x123, 7 } },
    { { "MONOCHROME2", 1, 0, 32, 0, 0, 0 }, ND_UINT32, { 4000000000u, 7 },
        { 4000000000.0, 7 } },
    { { "MONOCHROME2", 1, 0, 32, 0, 0, 1 }, ND_INT32, { 0xfffffe0c, 7 },
        { -500, 7 } },
    { { "RGB", 3, 0, 8, 0, 0, 0 }, ND_UINT8, { 200, 7 }, { 200, 7 } },
    { { "RGB", 3, 0, 16, 0, 0, 0 }, ND_UINT16, { 60000, 7 }, { 60000, 7 } },
  };
  g_autofree gchar *path = file_path ("samples.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    for (guint s = 0; s < G_N_ELEMENTS (syntaxes); s++) {
      const DicomPicture *picture = &rows[i].picture;
      const guint width = picture->bits / 8;
      const gsize n = PIXELS * picture->samples;
      DicomFile file = dicom_new (syntaxes[s]);
      const gsize from = file.bytes->len;
      gdouble expected[2][3 * PIXELS] = { { 0 } };
      g_autoptr (NdReader) reader = NULL;
      g_autoptr (GError) error = NULL;

      g_test_message ("%s %s of %u bits", syntaxes[s], picture->photometric,
          picture->bits);
      dicom_text (&file, 0x00181063, "DS", "50");
      dicom_picture (&file, picture);
      dicom_text (&file, 0x00280008, "IS", "2");
      dicom_head (&file, 0x7fe00010, width > 1 ? "OW" : "OB", 2 * n * width);
      for (gsize j = 0; j < 2 * n; j++) {
        const guint shift =
            picture->high ? picture->high + 1 - picture->stored : 0;

        dicom_append (&file, j < 2 ? rows[i].stored[j] : (j % 9) << shift,
            width);
        expected[j / n][j % n] = j < 2 ? rows[i].values[j] : j % 9;
      }
      if (s == 2)
        deflate_file (&file, from);
      put_dicom (&file, path);
      reader = open_file (path);
      assert_size (reader, 2, 1, Y, X, picture->samples);
      g_assert_cmpint (nd_reader_recording (reader)->type, ==, rows[i].type);
      g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==, 20);
      assert_numbers (reader, expected[0], n);
      assert_numbers (reader, expected[1], n);
      g_assert_true (nd_reader_seek (reader, 1, &error));
      assert_numbers (reader, expected[1], n);
    }
  }
}

/* Bytes that were written as words of big endian. */
static void
test_words (void)
{
  const guint8 samples[PIXELS] = { 2, 1, 4, 3, 6, 5, 8, 7 };
  const gdouble expected[PIXELS] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  DicomFile file = dicom_new (BIG);
  g_autofree gchar *path = file_path ("words.dcm");
  g_autoptr (NdReader) reader = NULL;

  dicom_picture (&file, &grey);
  dicom_bytes (&file, 0x7fe00010, "OW", samples, PIXELS);
  put_dicom (&file, path);
  reader = open_file (path);
  assert_numbers (reader, expected, PIXELS);
}

/* Values of pydicom. */
static void
test_colours (void)
{
  static const struct
  {
    DicomPicture picture;
    guint8 stored[3 * PIXELS];
    guint n;
    gdouble rgb[6]; /* of the first two pixels */
  } rows[] = {
    { { "RGB", 3, 1, 8, 0, 0, 0 }, { 1, 2, [PIXELS] = 3, 4, [16] = 5, 6 }, 24,
        { 1, 3, 5, 2, 4, 6 } },
    { { "YBR_FULL", 3, 0, 8, 0, 0, 0 }, { 100, 128, 128, 100, 200, 30 }, 24,
        { 100, 100, 100, 0, 145, 228 } },
    { { "YBR_FULL", 3, 1, 8, 0, 0, 0 },
        { 100, 100, [PIXELS] = 128, 200, [16] = 128, 30 }, 24,
        { 100, 100, 100, 0, 145, 228 } },
    { { "YBR_FULL_422", 3, 0, 8, 0, 0, 0 }, { 100, 200, 200, 30 }, 16,
        { 0, 145, 228, 63, 245, 255 } },
  };
  g_autofree gchar *path = file_path ("colours.dcm");
  g_autofree gchar *shared = shared_file ("dicom-ybr422/ybr422.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    DicomFile file = dicom_new (EXPLICIT);
    g_autoptr (NdReader) reader = NULL;
    g_autofree gdouble *numbers = NULL;
    gsize n;

    dicom_picture (&file, &rows[i].picture);
    dicom_bytes (&file, 0x7fe00010, "OB", rows[i].stored, rows[i].n);
    put_dicom (&file, path);
    reader = open_file (path);
    assert_size (reader, 1, 1, Y, X, 3);
    numbers = read_numbers (reader, &n);
    for (guint c = 0; c < 6; c++)
      g_assert_cmpfloat (numbers[c], ==, rows[i].rgb[c]);
  }
  if (shared) {
    static const gdouble first[] = { 133, 255, 30, 0, 138, 0, 0, 184 };
    g_autoptr (NdReader) reader = open_file (shared);
    g_autofree gdouble *numbers = NULL;
    gsize n;

    assert_size (reader, 6, 1, 24, 32, 3);
    g_assert_cmpint (nd_reader_recording (reader)->rate_n, ==, 25);
    numbers = read_numbers (reader, &n);
    for (guint i = 0; i < 8; i++)
      g_assert_cmpfloat (numbers[i], ==, first[i]);
  }
}

/* One segment of RLE: a run, then a sequence. */
static void
append_segment (GByteArray *bytes, guint8 run, guint8 first)
{
  const guint8 segment[] = { 257 - 3, run, 128, 4, first, first + 1, first + 2,
    first + 3, first + 4, 0 };

  g_byte_array_append (bytes, segment, sizeof (segment));
}

/* Frames of RLE with a table of their places, without one, and damaged. */
static void
test_rle (void)
{
  const DicomPicture picture = { "MONOCHROME2", 1, 0, 16, 0, 0, 0 };
  g_autofree gchar *path = file_path ("rle.dcm");

  for (guint kind = 0; kind < 4; kind++) {
    DicomFile file = dicom_new (RLE);
    g_autoptr (NdReader) reader = NULL;
    g_autoptr (GByteArray) frame = g_byte_array_new ();
    const guint32 head[16] = { GUINT32_TO_LE (2), GUINT32_TO_LE (64),
      GUINT32_TO_LE (kind == 3 ? 1000 : 74) };
    const guint n = kind == 2 ? 1 : 2;

    g_byte_array_append (frame, (const guint8 *) head, sizeof (head));
    append_segment (frame, 1, 2);
    append_segment (frame, 7, 9);
    dicom_picture (&file, &picture);
    dicom_text (&file, 0x00280008, "IS", n == 1 ? "1" : "2");
    dicom_text (&file, 0x00181063, "DS", "50");
    dicom_head (&file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
    dicom_head (&file, 0xfffee000, "", kind == 0 ? 8 : 0);
    if (kind == 0) {
      dicom_append (&file, 0, 4);
      dicom_append (&file, 8 + frame->len, 4);
    }
    for (guint f = 0; f < n; f++)
      dicom_bytes (&file, 0xfffee000, "", frame->data, frame->len);
    dicom_end (&file);
    put_dicom (&file, path);
    reader = open_file (path);
    assert_size (reader, n, 1, Y, X, 1);
    for (guint f = 0; f < n; f++) {
      const gdouble expected[PIXELS] = { 0x107, 0x107, 0x107, 0x209, 0x30a,
        0x40b, 0x50c, 0x60d };
      g_autoptr (GError) error = NULL;
      guint16 samples[PIXELS];

      if (kind < 3) {
        assert_numbers (reader, expected, PIXELS);
        continue;
      }
      g_assert_false (nd_reader_read (reader, samples, &error));
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_assert_nonnull (strstr (error->message, "RLE"));
    }
  }
}

/* Whole frames are read, and every beginning of one is an error. */
static void
test_coded (void)
{
  g_autofree gchar *path = file_path ("coded.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (dicom_coded); i++) {
    const gsize n = PIXELS * dicom_coded[i].picture.samples;
    gsize size;
    g_autofree guchar *bytes = g_base64_decode (dicom_coded[i].base64, &size);
    DicomFile file = dicom_coded_file (i, size);
    g_autoptr (NdReader) reader = NULL;
    g_autoptr (GError) error = NULL;

    put_dicom (&file, path);
    reader = nd_reader_open (path, NULL, &error);
    if (!reader && strstr (error->message, "gdcmconv --raw")) {
      g_test_message ("without a decoder of %s", dicom_coded[i].syntax);
      continue;
    }
    g_assert_no_error (error);
    assert_size (reader, 2, 1, Y, X, dicom_coded[i].picture.samples);
    for (guint f = 0; f < 2; f++) {
      gsize found;
      g_autofree gdouble *numbers = read_numbers (reader, &found);

      g_assert_cmpuint (found, ==, n);
      /* Decoders of lossy JPEG may round otherwise. */
      for (gsize j = 0; j < n; j++)
        g_assert_cmpfloat_with_epsilon (numbers[j], dicom_coded[i].values[j],
            g_str_has_suffix (dicom_coded[i].syntax, ".50") ? 2 : 0.5);
    }
    for (gsize cut = 0; cut < size / 2; cut += 3) {
      g_autoptr (NdReader) damaged = NULL;
      guint8 samples[48];

      file = dicom_coded_file (i, cut);
      put_dicom (&file, path);
      damaged = open_file (path);
      g_assert_false (nd_reader_read (damaged, samples, &error));
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_clear_error (&error);
    }
  }
}

/* Bits of a segmentation, of which frames do not begin at bytes. */
static void
test_bits (void)
{
  const DicomPicture picture = { "MONOCHROME2", 1, 0, 1, 0, 0, 0 };
  const guint8 bits[2] = { 0x35, 0x81 };
  const gdouble expected[2][PIXELS] = { { 1, 0, 1, 0, 1, 1, 0, 0 },
    { 1, 0, 0, 0, 0, 0, 0, 1 } };
  DicomFile file = dicom_new (EXPLICIT);
  g_autofree gchar *path = file_path ("bits.dcm");
  g_autofree gchar *shared = shared_file ("dicom-advice-loop/liver_1frame.dcm");
  g_autoptr (NdReader) reader = NULL;

  dicom_picture (&file, &picture);
  dicom_text (&file, 0x00280008, "IS", "2");
  dicom_text (&file, 0x00181063, "DS", "50");
  dicom_bytes (&file, 0x7fe00010, "OB", bits, 2);
  put_dicom (&file, path);
  reader = open_file (path);
  assert_numbers (reader, expected[0], PIXELS);
  assert_numbers (reader, expected[1], PIXELS);
  if (shared) {
    g_autoptr (NdReader) segments = open_file (shared);

    assert_size (segments, 1, 1, 512, 512, 1);
    g_assert_cmpfloat (nd_reader_recording (segments)->geometry.origin[2], ==,
        -128.69);
  }
}

/* Groups of a frame of Enhanced US Volume. */
static void
put_groups (DicomFile *file, guint time, gdouble z, gdouble seconds,
    const gchar *slope)
{
  g_autofree gchar *position = g_strdup_printf ("1\\2\\%g", z);

  dicom_item (file);
  dicom_begin (file, 0x00209111);
  dicom_item (file);
  if (time > 0) {
    dicom_head (file, 0x00209128, "UL", 4);
    dicom_append (file, time, 4);
  }
  dicom_end_item (file);
  dicom_end (file);
  dicom_begin (file, 0x00209113);
  dicom_item (file);
  dicom_text (file, 0x00200032, "DS", position);
  dicom_end_item (file);
  dicom_end (file);
  if (seconds >= 0) {
    dicom_begin (file, 0x00209310);
    dicom_item (file);
    dicom_double (file, 0x0020930d, seconds);
    dicom_end_item (file);
    dicom_end (file);
  }
  if (slope) {
    dicom_begin (file, 0x00289145);
    dicom_item (file);
    dicom_text (file, 0x00281052, "DS", "-1");
    dicom_text (file, 0x00281053, "DS", slope);
    dicom_end_item (file);
    dicom_end (file);
  }
  dicom_end_item (file);
}

/* Volumes of three slices in several orders, with times of their own. */
static void
test_volumes (void)
{
  static const struct
  {
    guint times[6]; /* 0: without an index */
    gdouble z[6];
    guint frames[6]; /* of each slice, as they are read */
    guint64 volumes, slices;
    gdouble direction;
    gboolean timed;
  } rows[] = {
    { { 1, 1, 1, 2, 2, 2 }, { 0, 2, 4, 0, 2, 4 }, { 0, 1, 2, 3, 4, 5 }, 2, 3, 1,
        TRUE },
    { { 1, 2, 1, 2, 1, 2 }, { 0, 0, 2, 2, 4, 4 }, { 0, 2, 4, 1, 3, 5 }, 2, 3, 1,
        FALSE },
    { { 1, 1, 1, 2, 2, 2 }, { 4, 2, 0, 4, 2, 0 }, { 0, 1, 2, 3, 4, 5 }, 2, 3,
        -1, FALSE },
    { { 2, 2, 2, 1, 1, 1 }, { 2, 0, 4, 4, 0, 2 }, { 4, 5, 3, 1, 0, 2 }, 2, 3, 1,
        FALSE },
    { { 0 }, { 0, 2, 4, 0, 2, 4 }, { 0, 1, 2, 3, 4, 5 }, 2, 3, 1, FALSE },
    { { 0 }, { 0, 2, 4, 6, 8, 10 }, { 0, 1, 2, 3, 4, 5 }, 1, 6, 1, FALSE },
    { { 0 }, { 3, 3, 3, 3, 3, 3 }, { 0, 1, 2, 3, 4, 5 }, 6, 1, 1, TRUE },
    /* Other slices in the second volume. */
    { { 1, 1, 1, 1, 2, 2 }, { 0, 2, 4, 6, 0, 2 }, { 0, 1, 2, 3, 4, 5 }, 1, 6, 1,
        FALSE },
  };
  g_autofree gchar *path = file_path ("volumes.dcm");
  g_autofree gchar *shared =
      shared_file ("dicom-enhanced-us-volume/eusvol.dcm");

  for (guint implicit = 0; implicit < 2; implicit++) {
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      DicomFile file = dicom_new (implicit ? IMPLICIT : EXPLICIT);
      g_autoptr (NdReader) reader = NULL;
      const NdGeometry *geometry;

      dicom_text (&file, 0x00080060, "CS", "US");
      dicom_text (&file, 0x00280008, "IS", "6");
      dicom_picture (&file, &grey);
      dicom_text (&file, 0x00280030, "DS", "0.5\\0.25");
      dicom_begin (&file, 0x52009230);
      for (guint f = 0; f < 6; f++)
        put_groups (&file, rows[i].times[f], rows[i].z[f],
            rows[i].timed ? 0.1 * f * f : -1, NULL);
      dicom_end (&file);
      dicom_head (&file, 0x7fe00010, "OB", 6 * PIXELS);
      for (guint j = 0; j < 6 * PIXELS; j++)
        dicom_append (&file, j, 1);
      put_dicom (&file, path);
      reader = open_file (path);
      assert_size (reader, rows[i].volumes, rows[i].slices, Y, X, 1);
      for (guint v = 0; v < rows[i].volumes; v++) {
        gsize n;
        g_autofree gdouble *numbers = read_numbers (reader, &n);

        for (gsize j = 0; j < n; j++)
          g_assert_cmpfloat (numbers[j], ==,
              rows[i].frames[v * rows[i].slices + j / PIXELS] * PIXELS
                  + j % PIXELS);
      }
      geometry = &nd_reader_recording (reader)->geometry;
      g_assert_cmpfloat (geometry->spacing[0], ==, 0.25);
      g_assert_cmpfloat (geometry->spacing[1], ==, 0.5);
      if (i < 6)
        g_assert_cmpfloat (geometry->spacing[2], ==, 2);
      g_assert_cmpfloat (geometry->directions[0], ==, -1);
      g_assert_cmpfloat (geometry->directions[8], ==, rows[i].direction);
      g_assert_cmpfloat (geometry->origin[0], ==, -1);
      g_assert_cmpfloat (geometry->origin[2], ==, rows[i].z[rows[i].frames[0]]);
      if (rows[i].timed)
        g_assert_cmpint (nd_reader_time (reader, 1), ==,
            (rows[i].slices == 3 ? 900 : 100) * G_GINT64_CONSTANT (1000000));
      g_assert_cmpint (warns_of (reader, "other slices"), ==, i == 7);
    }
  }
  if (shared) {
    g_autoptr (NdReader) reader = open_file (shared);

    assert_size (reader, 2, 3, 24, 32, 1);
    g_assert_cmpfloat (read_number (reader, 1), ==, 127);
    g_assert_cmpint (nd_reader_time (reader, 1), ==, 120000000);
  }
}

/* Slope and intercept of all frames and of each frame. The scale of a dose is a
 * field, as pydicom and ITK have the samples. */
static void
test_scale (void)
{
  g_autofree gchar *path = file_path ("scale.dcm");
  g_autofree gchar *shared = shared_file ("dicom-advice-loop/rtdose.dcm");

  for (guint kind = 0; kind < 4; kind++) {
    static const gdouble first[] = { 3 * 0.5 - 10, 3 * 2 - 1, 3 * 2 - 1, 3 };
    static const gdouble second[] = { 11 * 0.5 - 10, 11 * 2 - 1, 11 * 3 - 1,
      11 };
    DicomFile file = dicom_new (EXPLICIT);
    g_autoptr (NdReader) reader = NULL;
    g_autofree gdouble *numbers = NULL;
    gsize n;

    dicom_picture (&file, &grey);
    dicom_text (&file, 0x00280008, "IS", "2");
    if (kind == 0) {
      dicom_text (&file, 0x00281052, "DS", "-10");
      dicom_text (&file, 0x00281053, "DS", "0.5");
    } else if (kind == 3) {
      dicom_text (&file, 0x3004000c, "DS", "0\\-5");
      dicom_text (&file, 0x3004000e, "DS", "1e-3");
    } else {
      dicom_begin (&file, 0x52009230);
      put_groups (&file, 1, 0, -1, "2");
      put_groups (&file, 1, 3, -1, kind == 1 ? "2" : "3");
      dicom_end (&file);
    }
    dicom_head (&file, 0x7fe00010, "OB", 2 * PIXELS);
    for (guint j = 0; j < 2 * PIXELS; j++)
      dicom_append (&file, j, 1);
    put_dicom (&file, path);
    reader = open_file (path);
    assert_size (reader, 1, 2, Y, X, 1);
    g_assert_cmpint (nd_reader_recording (reader)->type, ==,
        kind == 3 ? ND_UINT8 : ND_FLOAT32);
    g_assert_true (kind < 3 || warns_of (reader, "times 0.001"));
    numbers = read_numbers (reader, &n);
    g_assert_cmpfloat_with_epsilon (numbers[3], first[kind], 1e-6);
    g_assert_cmpfloat_with_epsilon (numbers[PIXELS + 3], second[kind], 1e-6);
  }
  if (shared) {
    g_autoptr (NdReader) reader = open_file (shared);

    assert_size (reader, 1, 15, 10, 10, 1);
    g_assert_cmpfloat (nd_reader_recording (reader)->geometry.spacing[2], ==,
        5);
    g_assert_cmpfloat (read_number (reader, 0), ==, 1249000);
  }
}

/* Spacing and directions of a slice, and of a region of ultrasound; times of
 * frames that are not regular. */
static void
test_places (void)
{
  const guint8 samples[3 * PIXELS] = { 0 };
  DicomFile file = dicom_new (EXPLICIT);
  g_autofree gchar *path = file_path ("places.dcm");
  g_autofree gchar *shared = shared_file ("dicom-tiff-preamble/MR_small.dcm");
  NdReader *reader;
  const NdGeometry *geometry;

  memcpy (file.bytes->data, "II*\0", 4);
  dicom_text (&file, 0x00180088, "DS", "3");
  dicom_text (&file, 0x00200032, "DS", "1\\2\\3");
  dicom_text (&file, 0x00200037, "DS", "0\\1\\0\\0\\0\\-1");
  dicom_picture (&file, &grey);
  dicom_text (&file, 0x00280030, "DS", "0.5\\0.25");
  dicom_bytes (&file, 0x7fe00010, "OB", samples, PIXELS);
  put_dicom (&file, path);
  reader = open_file (path);
  geometry = &nd_reader_recording (reader)->geometry;
  g_assert_cmpfloat (geometry->spacing[2], ==, 3);
  g_assert_cmpfloat (geometry->origin[1], ==, -2);
  /* x is posterior, y inferior, z left. */
  g_assert_cmpfloat (geometry->directions[3], ==, -1);
  g_assert_cmpfloat (geometry->directions[7], ==, -1);
  g_assert_cmpfloat (geometry->directions[2], ==, 1);
  nd_reader_close (reader);

  file = dicom_new (EXPLICIT);
  dicom_text (&file, 0x00181065, "DS", "0\\40\\60");
  dicom_begin (&file, 0x00186011);
  dicom_item (&file);
  dicom_short (&file, 0x00186024, 3);
  dicom_short (&file, 0x00186026, 3);
  dicom_double (&file, 0x0018602c, 0.02);
  dicom_double (&file, 0x0018602e, 0.03);
  dicom_end_item (&file);
  dicom_end (&file);
  dicom_text (&file, 0x00280008, "IS", "3");
  dicom_head (&file, 0x00280009, "AT", 4);
  dicom_append (&file, 0x0018, 2);
  dicom_append (&file, 0x1065, 2);
  dicom_picture (&file, &grey);
  dicom_bytes (&file, 0x7fe00010, "OB", samples, 3 * PIXELS);
  put_dicom (&file, path);
  reader = open_file (path);
  assert_size (reader, 3, 1, Y, X, 1);
  geometry = &nd_reader_recording (reader)->geometry;
  g_assert_cmpfloat_with_epsilon (geometry->spacing[0], 0.2, 1e-12);
  g_assert_cmpfloat_with_epsilon (geometry->spacing[1], 0.3, 1e-12);
  g_assert_cmpint (nd_reader_time (reader, 1), ==, 40000000);
  g_assert_cmpint (nd_reader_time (reader, 2), ==, 100000000);
  nd_reader_close (reader);
  if (shared) {
    reader = open_file (shared);
    assert_size (reader, 1, 1, 64, 64, 1);
    geometry = &nd_reader_recording (reader)->geometry;
    g_assert_cmpfloat (geometry->spacing[0], ==, 0.3125);
    g_assert_cmpfloat (geometry->origin[0], ==, 83.9063);
    g_assert_cmpfloat (read_number (reader, 0), ==, 905);
    nd_reader_close (reader);
  }
}

/* Samples below the first entry have its colour, those above the last one have
 * that. Words of big-endian files are swapped, bytes of 8-bit tables not. */
static void
test_palette (void)
{
  static const gchar *const syntaxes[] = { EXPLICIT, BIG, IMPLICIT };
  static const DicomPicture picture = { "PALETTE COLOR", 1, 0, 8, 0, 0, 0 };
  static const guint places[PIXELS] = { 0, 0, 0, 1, 2, 2, 2, 2 };
  static const guint8 samples[PIXELS] = { 0, 1, 2, 3, 4, 5, 6, 255 };
  g_autofree gchar *path = file_path ("palette.dcm");

  for (guint i = 0; i < 2 * G_N_ELEMENTS (syntaxes); i++) {
    const gboolean wide = i % 2;
    guint16 colours[3 * PIXELS];
    DicomFile file = dicom_new (syntaxes[i / 2]);
    g_autoptr (NdReader) reader = NULL;

    dicom_picture (&file, &picture);
    for (guint c = 0; c < 3; c++) {
      dicom_head (&file, 0x00281101 + c, "US", 6);
      dicom_append (&file, 3, 2);
      dicom_append (&file, 2, 2);
      dicom_append (&file, wide ? 16 : 8, 2);
    }
    for (guint c = 0; c < 3; c++) {
      dicom_head (&file, 0x00281201 + c, wide ? "OW" : "OB", wide ? 6 : 4);
      for (guint n = 0; n < (wide ? 3 : 4); n++)
        dicom_append (&file, (wide ? 1000 : 0) + 100 * n + c, wide ? 2 : 1);
    }
    dicom_bytes (&file, 0x7fe00010, "OB", samples, PIXELS);
    put_dicom (&file, path);
    reader = open_file (path);
    assert_size (reader, 1, 1, 2, 4, 3);
    g_assert_true (nd_reader_read (reader, colours, NULL));
    for (guint n = 0; n < 3 * PIXELS; n++)
      g_assert_cmpuint (wide ? colours[n] : ((guint8 *) colours)[n], ==,
          (wide ? 1000 : 0) + 100 * places[n / 3] + n % 3);
  }
}

/* Advice that leads to a file that is read. */
static void
test_refused (void)
{
  static const struct
  {
    const gchar *syntax;
    DicomPicture picture;
    const gchar *words;
  } rows[] = {
    { "1.2.840.10008.1.2.4.70", { "MONOCHROME2", 1, 0, 8, 0, 0, 0 },
        "lossless JPEG, which is not read: \"gdcmconv --raw" },
    { "1.2.840.10008.1.2.4.103", { "RGB", 3, 0, 8, 0, 0, 0 }, "gdcmraw" },
    { EXPLICIT, { "PALETTE COLOR", 1, 0, 8, 0, 0, 0 }, "--apply-lut" },
    { EXPLICIT, { "MONOCHROME2", 1, 0, 12, 0, 0, 0 }, "pixel_array" },
    { EXPLICIT, { "YBR_PARTIAL_420", 3, 0, 8, 0, 0, 0 }, "pixel_array" },
    { EXPLICIT, { "MONOCHROME2", 0, 0, 8, 0, 0, 0 }, "pixel_array" },
    { EXPLICIT, { "MONOCHROME2", 1, 0, 8, 9, 8, 0 }, "pixel_array" },
  };
  const guint8 samples[3 * PIXELS] = { 0 };
  g_autofree gchar *path = file_path ("refused.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    DicomFile file = dicom_new (rows[i].syntax);

    dicom_picture (&file, &rows[i].picture);
    dicom_bytes (&file, 0x7fe00010, "OB", samples, sizeof (samples));
    put_dicom (&file, path);
    assert_refused (path, ND_ERROR_FORMAT, rows[i].words);
  }
}

/* Frames of an unknown meaning are slices, unless the caller says more. With an
 * offset, the samples are raw. */
static void
test_hint (void)
{
  DicomFile file = dicom_new (EXPLICIT);
  g_autofree gchar *path = file_path ("hint.dcm");
  g_autoptr (GError) error = NULL;
  NdRecording hint;

  dicom_text (&file, 0x00280008, "IS", "4");
  dicom_picture (&file, &grey);
  dicom_head (&file, 0x7fe00010, "OB", 4 * PIXELS);
  for (guint j = 0; j < 4 * PIXELS; j++)
    dicom_append (&file, j, 1);
  g_assert_true (nd_recording_init_raw (&hint, "4:2:2", 1, ND_UINT8));
  for (guint i = 0; i < 3; i++) {
    g_autoptr (NdReader) reader = NULL;

    put_file (path, file.bytes->data, file.bytes->len);
    hint.offset = i == 2 ? file.bytes->len - 2 * PIXELS : 0;
    reader = nd_reader_open (path, i > 0 ? &hint : NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==,
        i == 1 ? 2 : 1);
    g_assert_cmpuint (nd_reader_recording (reader)->shape.size[2], ==,
        i == 0 ? 4 : 2);
    assert_counts (reader, i == 2 ? 2 * PIXELS : 0, 2 * PIXELS);
  }
  g_byte_array_unref (file.bytes);
}

/* Every beginning of a file is refused. */
static void
test_damaged (void)
{
  static const gchar *const syntaxes[] = { EXPLICIT, IMPLICIT, DEFLATED };
  g_autofree gchar *path = file_path ("cut.dcm");

  for (guint s = 0; s < 3; s++) {
    DicomFile file = dicom_new (syntaxes[s]);
    const gsize from = file.bytes->len;
    const guint8 samples[2 * PIXELS] = { 0 };

    dicom_text (&file, 0x00280008, "IS", "2");
    dicom_picture (&file, &grey);
    dicom_begin (&file, 0x52009230);
    put_groups (&file, 1, 0, 0, NULL);
    put_groups (&file, 1, 3, 0, NULL);
    dicom_end (&file);
    dicom_bytes (&file, 0x7fe00010, "OB", samples, 2 * PIXELS);
    if (s == 2)
      deflate_file (&file, from);
    for (gsize n = 132; n + (s == 2 ? 20 : 0) < file.bytes->len; n++) {
      g_autoptr (GError) error = NULL;

      put_file (path, file.bytes->data, n);
      g_assert_null (nd_reader_open (path, NULL, &error));
      g_assert_true (g_error_matches (error, ND_ERROR, ND_ERROR_FORMAT)
          || g_error_matches (error, ND_ERROR, ND_ERROR_READ));
    }
    g_byte_array_unref (file.bytes);
  }
}

/* Samples after the end of the file. */
static void
test_offset (void)
{
  g_autofree gchar *path = file_path ("o.raw");
  g_autoptr (GError) error = NULL;
  NdRecording hint;

  put_file (path, "1234567890", 10);
  g_assert_true (nd_recording_init_raw (&hint, "2:2", 1, ND_UINT8));
  for (hint.offset = 3; hint.offset < 12; hint.offset++) {
    g_autoptr (NdReader) reader = nd_reader_open (path, &hint, &error);

    if (hint.offset == 6) {
      g_assert_no_error (error);
      g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 1);
    } else {
      g_assert_null (reader);
      g_assert_error (error, ND_ERROR, ND_ERROR_READ);
      g_assert_nonnull (strstr (error->message, "after the offset"));
      g_clear_error (&error);
    }
  }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/samples", test_samples);
  g_test_add_func ("/words", test_words);
  g_test_add_func ("/colours", test_colours);
  g_test_add_func ("/rle", test_rle);
  g_test_add_func ("/coded", test_coded);
  g_test_add_func ("/bits", test_bits);
  g_test_add_func ("/volumes", test_volumes);
  g_test_add_func ("/scale", test_scale);
  g_test_add_func ("/places", test_places);
  g_test_add_func ("/palette", test_palette);
  g_test_add_func ("/refused", test_refused);
  g_test_add_func ("/hint", test_hint);
  g_test_add_func ("/damaged", test_damaged);
  g_test_add_func ("/offset", test_offset);
  status = g_test_run ();
  remove_folder ();
  return status;
}
