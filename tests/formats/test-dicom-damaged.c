/* DICOM files that are damaged, hostile, or odd: those that are refused, and
 * what remains of others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/stored.h"
#include "tests/formats/dicomcoded.h"
#include "tests/formats/dicomgrey.h"
#include "tests/formats/samples.h"

/* The samples 0, 1, 2, … */
static void
put_samples (DicomFile *file, guint n, const gchar *path)
{
  dicom_head (file, 0x7fe00010, "OB", n);
  for (guint i = 0; i < n; i++)
    dicom_append (file, i, 1);
  put_dicom (file, path);
}

/* A file with @bytes as its frame, of the kind of the row of dicom_coded. */
static void
put_coded (guint row, const GByteArray *bytes, const gchar *path)
{
  DicomFile file = dicom_new (dicom_coded[row].syntax);

  dicom_picture (&file, &dicom_coded[row].picture);
  dicom_head (&file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
  dicom_head (&file, 0xfffee000, "", 0);
  dicom_head (&file, 0xfffee000, "", bytes->len + bytes->len % 2);
  g_byte_array_append (file.bytes, bytes->data, bytes->len);
  g_byte_array_append (file.bytes, (const guint8 *) "", bytes->len % 2);
  dicom_end (&file);
  put_dicom (&file, path);
}

static GByteArray *
decode_coded (guint row)
{
  gsize n;
  guchar *bytes = g_base64_decode (dicom_coded[row].base64, &n);

  return g_byte_array_new_take (bytes, n);
}

/* The row of dicom_coded, or a skipped test without its decoder. */
static gboolean
find_coded (const gchar *syntax, guint *row)
{
  g_autofree gchar *path = file_path ("coded.dcm");
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (NdReader) reader = NULL;

  for (*row = 0; strcmp (dicom_coded[*row].syntax, syntax) != 0; (*row)++)
    continue;
  bytes = decode_coded (*row);
  put_coded (*row, bytes, path);
  reader = nd_reader_open (path, NULL, NULL);
  if (!reader)
    g_test_skip ("this build has no decoder");
  return reader != NULL;
}

/* Opened, but not read. */
static void
assert_unread (const gchar *path, const gchar *words)
{
  g_autoptr (NdReader) reader = open_file (path);
  g_autoptr (GError) error = NULL;
  guint8 samples[64];

  g_assert_false (nd_reader_read (reader, samples, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, words));
}

static guint
find_marker (const GByteArray *bytes, guint8 marker)
{
  guint at = 0;

  while (bytes->data[at] != 0xff || bytes->data[at + 1] != marker)
    at++;
  return at;
}

/* A tile that is shorter than its header, and markers of which the library
 * looks for the next one, which would not be checked. */
static void
test_jpeg2000 (void)
{
  static const guint8 unknown[] = { 0xff, 0x30 };
  static const guint8 segment[] = { 0xff, 0x70, 0, 2 };
  g_autofree gchar *path = file_path ("jpeg2000.dcm");
  guint row;

  if (!find_coded ("1.2.840.10008.1.2.4.90", &row))
    return;
  for (guint kind = 0; kind < 3; kind++) {
    g_autoptr (GByteArray) bytes = decode_coded (row);
    g_autoptr (GByteArray) changed = g_byte_array_new ();
    const guint at = find_marker (bytes, kind == 0 ? 0x90 : 0x52);

    if (kind == 0)
      bytes->data[at + 9] = 12;
    g_byte_array_append (changed, bytes->data, at);
    if (kind > 0)
      g_byte_array_append (changed, kind == 1 ? unknown : segment,
          kind == 1 ? sizeof (unknown) : sizeof (segment));
    g_byte_array_append (changed, bytes->data + at, bytes->len - at);
    put_coded (row, changed, path);
    assert_unread (path, "JPEG 2000 data are damaged");
  }
}

/* A scan of the first coefficients. */
static void
test_progressive (void)
{
  g_autofree gchar *path = file_path ("progressive.dcm");
  g_autoptr (GByteArray) bytes = NULL;
  guint row;

  if (!find_coded (JPEG, &row))
    return;
  bytes = decode_coded (row);
  bytes->data[find_marker (bytes, 0xc0) + 1] = 0xc2;
  bytes->data[find_marker (bytes, 0xda) + 8] = 0;
  put_coded (row, bytes, path);
  assert_unread (path, "progressive");
}

/* Floats of another width than their element has. */
static void
test_float_width (void)
{
  static const struct
  {
    guint tag, bits;
  } rows[] = { { 0x7fe00009, 8 }, { 0x7fe00009, 16 }, { 0x7fe00009, 32 },
    { 0x7fe00008, 8 }, { 0x7fe00008, 16 }, { 0x7fe00008, 64 },
    { 0x7fe00010, 64 } };
  const guint8 samples[8 * PIXELS] = { 0 };
  g_autofree gchar *path = file_path ("float.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const DicomPicture picture = { "MONOCHROME2", 1, 0, rows[i].bits, 0, 0, 0 };
    DicomFile file = dicom_new (EXPLICIT);

    dicom_picture (&file, &picture);
    dicom_bytes (&file, rows[i].tag, "OD", samples, sizeof (samples));
    put_dicom (&file, path);
    assert_refused (path, ND_ERROR_FORMAT, "which is not read");
  }
}

/* Deflated data that end early, after megabytes. */
static void
test_deflated (void)
{
  const guint n = 400000 * PIXELS, most = n + n / 8;
  DicomFile file = dicom_new (DEFLATED);
  const gsize from = file.bytes->len;
  g_autofree gchar *path = file_path ("deflated.dcm");
  g_autofree guint8 *packed = g_malloc (most);
  z_stream z = { 0 };
  guint32 number = 1;

  dicom_picture (&file, &grey);
  dicom_text (&file, 0x00280008, "IS", "400000");
  dicom_head (&file, 0x7fe00010, "OB", n);
  for (guint i = 0; i < n; i++) {
    number = number * 1103515245 + 12345;
    dicom_append (&file, number >> 16, 1);
  }
  g_assert_cmpint (deflateInit2 (&z, 9, Z_DEFLATED, -15, 9, 0), ==, Z_OK);
  z.next_in = file.bytes->data + from;
  z.avail_in = file.bytes->len - from;
  z.next_out = packed;
  z.avail_out = most;
  g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
  deflateEnd (&z);
  g_byte_array_set_size (file.bytes, from);
  g_byte_array_append (file.bytes, packed, most - z.avail_out - 200);
  put_dicom (&file, path);
  assert_refused (path, ND_ERROR_READ, "truncated");
}

static void
put_frame (DicomFile *file, const gchar *position)
{
  dicom_item (file);
  dicom_begin (file, 0x00209113);
  dicom_item (file);
  dicom_text (file, 0x00200032, "DS", position);
  dicom_end_item (file);
  dicom_end (file);
  dicom_end_item (file);
}

/* Places of which each is the same as the next one, and numbers that
 * overflow. */
static void
test_order (void)
{
  static const struct
  {
    const gchar *positions[3], *orientation;
    guint64 volumes, slices;
  } rows[] = {
    { { "0\\0\\0.00016", "0\\0\\0.00008", "0\\0\\0" }, "1\\0\\0\\0\\1\\0", 3,
        1 },
    { { "0\\0\\0.00016", "0\\0\\2", "0\\0\\0.00008" }, "1\\0\\0\\0\\1\\0", 1,
        3 },
    { { "0\\0\\0", "0\\0\\2", "0\\0\\4" }, "1\\0\\0\\0\\1\\0", 1, 3 },
    { { "1e300\\1e300\\0", "0\\0\\2", "0\\0\\4" },
        "1e300\\0\\0\\0\\1e300\\1e300", 3, 1 },
  };
  g_autofree gchar *path = file_path ("order.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    DicomFile file = dicom_new (EXPLICIT);
    g_autoptr (NdReader) reader = NULL;

    dicom_text (&file, 0x00200037, "DS", rows[i].orientation);
    dicom_text (&file, 0x00280008, "IS", "3");
    dicom_picture (&file, &grey);
    dicom_begin (&file, 0x52009230);
    for (guint f = 0; f < 3; f++)
      put_frame (&file, rows[i].positions[f]);
    dicom_end (&file);
    put_samples (&file, 3 * PIXELS, path);
    reader = open_file (path);
    if (i == 1) {
      g_assert_true (warns_of (reader, "other slices"));
      continue;
    }
    assert_size (reader, rows[i].volumes, rows[i].slices, Y, X, 1);
    g_assert_false (warns_of (reader, "other slices"));
  }
}

/* Directions that are none, and spacing that overflows. */
static void
test_geometry (void)
{
  static const struct
  {
    const gchar *orientation;
    gdouble delta; /* centimetres */
    gboolean known;
  } rows[] = {
    { "1\\0\\0\\0\\1\\0", 0.02, TRUE },
    { "0.999\\0\\0\\0\\1.001\\0", 0.02, TRUE },
    { "0\\0\\0\\0\\0\\0", 0.02, FALSE },
    { "1\\0\\0\\1\\0\\0", 0.02, FALSE },
    { "2\\0\\0\\0\\1\\0", 0.02, FALSE },
    { "1e200\\0\\0\\0\\1e200\\0", 0.02, FALSE },
    { "1\\0\\0\\0\\1\\0", 1e308, FALSE },
  };
  g_autofree gchar *path = file_path ("geometry.dcm");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    DicomFile file = dicom_new (EXPLICIT);
    g_autoptr (NdReader) reader = NULL;

    dicom_begin (&file, 0x00186011);
    dicom_item (&file);
    dicom_short (&file, 0x00186024, 3);
    dicom_short (&file, 0x00186026, 3);
    dicom_double (&file, 0x0018602c, rows[i].delta);
    dicom_double (&file, 0x0018602e, rows[i].delta);
    dicom_end_item (&file);
    dicom_end (&file);
    dicom_text (&file, 0x00200037, "DS", rows[i].orientation);
    dicom_picture (&file, &grey);
    put_samples (&file, PIXELS, path);
    reader = open_file (path);
    g_assert_cmpint (nd_reader_recording (reader)->geometry.known, ==,
        rows[i].known);
  }
}

/* What follows the samples are other elements, and a byte to make their number
 * even. */
static void
test_rest (void)
{
  const guint8 rest[100] = { 0 };
  g_autofree gchar *path = file_path ("rest.dcm");

  for (guint n = 0; n <= sizeof (rest); n += sizeof (rest)) {
    DicomFile file = dicom_new (EXPLICIT);
    g_autoptr (NdReader) reader = NULL;

    dicom_picture (&file, &grey);
    dicom_short (&file, 0x00280010, 1);
    dicom_short (&file, 0x00280011, 3);
    dicom_bytes (&file, 0x7fe00010, "OB", "abc", 4);
    if (n > 0)
      dicom_bytes (&file, 0xfffcfffc, "OB", rest, n);
    put_dicom (&file, path);
    reader = open_file (path);
    assert_size (reader, 1, 1, 1, 3, 1);
    g_assert_null (nd_reader_warnings (reader)[0]);
    assert_counts (reader, 'a', 3);
  }
}

/* An icon with compressed samples of its own. */
static void
test_icon (void)
{
  DicomFile file = dicom_new (EXPLICIT);
  g_autofree gchar *path = file_path ("icon.dcm");
  g_autoptr (NdReader) reader = NULL;

  dicom_begin (&file, 0x00880200);
  dicom_item (&file);
  dicom_picture (&file, &grey);
  dicom_head (&file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
  dicom_head (&file, 0xfffee000, "", 0);
  dicom_bytes (&file, 0xfffee000, "", "\xff\xd8\xff\xe0 a JPEG file ", 18);
  dicom_end (&file);
  dicom_end_item (&file);
  dicom_end (&file);
  dicom_picture (&file, &grey);
  put_samples (&file, PIXELS, path);
  reader = open_file (path);
  assert_size (reader, 1, 1, Y, X, 1);
  assert_counts (reader, 0, PIXELS);
}

/* Eight frames of seven bits in one byte. */
static void
test_bits (void)
{
  const DicomPicture picture = { "MONOCHROME2", 1, 0, 1, 0, 0, 0 };
  g_autofree gchar *path = file_path ("bits.dcm");

  for (guint n = 1; n < 10; n += 6) {
    DicomFile file = dicom_new (EXPLICIT);

    dicom_picture (&file, &picture);
    dicom_short (&file, 0x00280010, 1);
    dicom_short (&file, 0x00280011, 7);
    dicom_text (&file, 0x00280008, "IS", "8");
    put_samples (&file, n, path);
    if (n < 7)
      assert_refused (path, ND_ERROR_READ, "fewer samples");
    else
      nd_reader_close (open_file (path));
  }
}

int
main (int argc, char **argv)
{
  gint status;

  g_test_init (&argc, &argv, NULL);
  make_folder ();
  g_test_add_func ("/jpeg2000", test_jpeg2000);
  g_test_add_func ("/progressive", test_progressive);
  g_test_add_func ("/float-width", test_float_width);
  g_test_add_func ("/deflated", test_deflated);
  g_test_add_func ("/order", test_order);
  g_test_add_func ("/geometry", test_geometry);
  g_test_add_func ("/rest", test_rest);
  g_test_add_func ("/icon", test_icon);
  g_test_add_func ("/bits", test_bits);
  status = g_test_run ();
  remove_folder ();
  return status;
}
