/* DICOM is refused: a compressed file with the program that unpacks it, another
 * one with the size, type and place of its samples, which are read with these.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/formats/files.h"

#define IMPLICIT "1.2.840.10008.1.2\0"
#define EXPLICIT "1.2.840.10008.1.2.1\0"
#define JPEG "1.2.840.10008.1.2.4.50"

typedef struct
{
  GByteArray *bytes;
  gboolean implicit;
} File;

static void
append (File *file, guint number, guint n)
{
  for (guint i = 0; i < n; i++) {
    const guint8 byte = number >> (8 * i);

    g_byte_array_append (file->bytes, &byte, 1);
  }
}

static void
put_head (File *file, guint tag, const gchar *kind, guint length)
{
  append (file, tag >> 16, 2);
  append (file, tag & 0xffff, 2);
  if ((file->implicit && tag >> 16 != 2) || tag >> 16 == 0xfffe) {
    append (file, length, 4);
    return;
  }
  g_byte_array_append (file->bytes, (const guint8 *) kind, 2);
  if (strcmp (kind, "OW") == 0 || strcmp (kind, "SQ") == 0) {
    append (file, 0, 2);
    append (file, length, 4);
  } else {
    append (file, length, 2);
  }
}

static void
put_value (File *file, guint tag, const gchar *kind, const gchar *text,
    guint length)
{
  put_head (file, tag, kind, length);
  g_byte_array_append (file->bytes, (const guint8 *) text, length);
}

static void
put_short (File *file, guint tag, guint number)
{
  put_head (file, tag, "US", 2);
  append (file, number, 2);
}

/* Two frames of 3 x 2 samples, and a sequence with another picture. */
static GByteArray *
make_file (const gchar *syntax, guint length, guint bits, guint samples)
{
  File file = { g_byte_array_new () };

  g_byte_array_set_size (file.bytes, 128);
  memset (file.bytes->data, 0, 128);
  g_byte_array_append (file.bytes, (const guint8 *) "DICM", 4);
  put_value (&file, 0x00020010, "UI", syntax, length);
  file.implicit = strcmp (syntax, IMPLICIT) == 0;
  put_value (&file, 0x00181063, "DS", "50", 2);
  put_short (&file, 0x00280002, samples);
  put_short (&file, 0x00280010, 2);
  put_short (&file, 0x00280011, 3);
  put_short (&file, 0x00280100, bits);
  put_short (&file, 0x00280103, bits == 16);
  put_head (&file, 0x00880200, "SQ", 0xffffffff);
  put_head (&file, 0xfffee000, "", 0xffffffff);
  put_short (&file, 0x00280010, 77);
  put_value (&file, 0x7fe00010, "OW", "icon", 4);
  put_head (&file, 0xfffee00d, "", 0);
  put_head (&file, 0xfffee0dd, "", 0);
  put_head (&file, 0x7fe00010, "OW", 12 * samples * bits / 8);
  for (guint i = 0; i < 12 * samples * bits / 8; i++)
    append (&file, i, 1);
  return file.bytes;
}

static void
test_plain (void)
{
  static const struct
  {
    const gchar *syntax;
    guint length, bits, samples;
    const gchar *words;
    NdSampleType type;
  } files[] = {
    { EXPLICIT, 20, 8, 1, "components=1 type=uint8", ND_UINT8 },
    { EXPLICIT, 20, 8, 3, "components=3 type=uint8", ND_UINT8 },
    { EXPLICIT, 20, 16, 1, "components=1 type=int16", ND_INT16 },
    { IMPLICIT, 18, 8, 3, "components=3 type=uint8", ND_UINT8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    const gsize size = 12 * files[i].samples * files[i].bits / 8;
    g_autoptr (GByteArray) bytes = make_file (files[i].syntax, files[i].length,
        files[i].bits, files[i].samples);
    g_autofree gchar *path = file_path ("plain.dcm");
    g_autofree gchar *place = g_strdup_printf ("offset=%u framerate=20/1",
        (guint) (bytes->len - size));
    g_autoptr (NdReader) reader = NULL;
    g_autoptr (GError) error = NULL;
    NdRecording hint;

    put_file (path, bytes->data, bytes->len);
    assert_refused (path, ND_ERROR_FORMAT, files[i].words);
    assert_refused (path, ND_ERROR_FORMAT, "volume-size=3:2:1");
    assert_refused (path, ND_ERROR_FORMAT, place);
    g_assert_true (nd_recording_init_raw (&hint, "3:2:1", files[i].samples,
        files[i].type));
    hint.offset = bytes->len - size;
    reader = nd_reader_open (path, &hint, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (nd_reader_recording (reader)->volumes, ==, 2);
    assert_counts (reader, 0, size);
  }
}

static void
test_compressed (void)
{
  g_autoptr (GByteArray) bytes = make_file (JPEG, 22, 8, 3);
  g_autofree gchar *path = file_path ("packed.dcm");
  g_autofree gchar *shared = g_build_filename (g_getenv ("ND_SHARED") ?: "/",
      "data", "pydicom_examples_ybr_color.dcm", NULL);

  put_file (path, bytes->data, bytes->len);
  assert_refused (path, ND_ERROR_FORMAT, "gdcmconv --raw");
  assert_refused (path, ND_ERROR_FORMAT, "DICOM (JPEG, 8 bits)");
  if (file_exists (shared))
    assert_refused (shared, ND_ERROR_FORMAT, "gdcmconv --raw");
}

/* Every beginning of a file is refused in the same way. */
static void
test_damaged (void)
{
  g_autoptr (GByteArray) bytes = make_file (EXPLICIT, 20, 8, 1);
  g_autofree gchar *path = file_path ("cut.dcm");

  for (gsize n = 132; n < bytes->len - 12; n++) {
    put_file (path, bytes->data, n);
    assert_refused (path, ND_ERROR_FORMAT, "is DICOM without a picture");
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
  g_test_add_func ("/plain", test_plain);
  g_test_add_func ("/compressed", test_compressed);
  g_test_add_func ("/damaged", test_damaged);
  g_test_add_func ("/offset", test_offset);
  status = g_test_run ();
  remove_folder ();
  return status;
}
