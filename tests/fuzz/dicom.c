/* DICOM: elements with and without kinds, groups of frames, RLE, deflate,
 * JPEG, JPEG-LS, JPEG 2000.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicom.h"
#include "tests/formats/dicomcoded.h"
#include "tests/fuzz/fuzz.h"

#include "core/error.h"

#include <zlib.h>

#define PIXELS 8

const gchar *const fuzz_name = "dicom";

gboolean
fuzz_parse (NdHeader *header, guint8 *bytes, gsize n, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "DICOM is read from a file: %d", nd_dicom_detect (bytes, n));
  return FALSE;
}

static void
put_groups (DicomFile *file)
{
  dicom_begin (file, 0x52009230);
  for (guint f = 0; f < 4; f++) {
    dicom_item (file);
    dicom_begin (file, 0x00209111);
    dicom_item (file);
    dicom_head (file, 0x00209128, "UL", 4);
    dicom_append (file, 1 + f % 2, 4);
    dicom_end_item (file);
    dicom_end (file);
    dicom_begin (file, 0x00209113);
    dicom_item (file);
    dicom_text (file, 0x00200032, "DS", f < 2 ? "1\\2\\3" : "1\\2\\5.5");
    dicom_end_item (file);
    dicom_end (file);
    dicom_begin (file, 0x00209310);
    dicom_item (file);
    dicom_double (file, 0x0020930d, 0.25 * (f % 2));
    dicom_end_item (file);
    dicom_end (file);
    dicom_begin (file, 0x00289145);
    dicom_item (file);
    dicom_text (file, 0x00281052, "DS", "-1");
    dicom_text (file, 0x00281053, "DS", f < 3 ? "2" : "3");
    dicom_end_item (file);
    dicom_end (file);
    dicom_end_item (file);
  }
  dicom_end (file);
}

static void
put_rle (DicomFile *file, guint segments)
{
  dicom_head (file, 0x7fe00010, "OB", UNKNOWN_LENGTH);
  dicom_head (file, 0xfffee000, "", 16);
  for (guint f = 0; f < 4; f++)
    dicom_append (file, f * (8 + 64 + 4 * segments), 4);
  for (guint f = 0; f < 4; f++) {
    dicom_head (file, 0xfffee000, "", 64 + 4 * segments);
    dicom_append (file, segments, 4);
    for (guint s = 0; s < 15; s++)
      dicom_append (file, s < segments ? 64 + 4 * s : 0, 4);
    for (guint s = 0; s < segments; s++) {
      dicom_append (file, 257 - 5, 1);
      dicom_append (file, s, 1);
      dicom_append (file, 257 - 3, 1);
      dicom_append (file, f, 1);
    }
  }
  dicom_end (file);
}

/* Four frames. */
static void
append_seed (GPtrArray *seeds, const gchar *syntax, const DicomPicture *picture,
    gboolean groups)
{
  DicomFile file = dicom_new (syntax);
  const gsize from = file.bytes->len;

  dicom_text (&file, 0x00080060, "CS", "US");
  dicom_text (&file, 0x00181063, "DS", "50");
  dicom_text (&file, 0x00181065, "DS", "0\\40\\60\\50");
  dicom_begin (&file, 0x00186011);
  dicom_item (&file);
  dicom_short (&file, 0x00186024, 3);
  dicom_double (&file, 0x0018602c, 0.02);
  dicom_end_item (&file);
  dicom_end (&file);
  dicom_text (&file, 0x00200037, "DS", "0\\1\\0\\0\\0\\-1");
  dicom_text (&file, 0x00280008, "IS", "4");
  dicom_picture (&file, picture);
  dicom_text (&file, 0x00280030, "DS", "0.5\\0.25");
  if (groups)
    put_groups (&file);
  if (strcmp (syntax, RLE) == 0) {
    put_rle (&file, picture->samples * picture->bits / 8);
  } else {
    const guint n = 4 * PIXELS * picture->samples * picture->bits / 8;

    dicom_head (&file, 0x7fe00010, "OW", n);
    for (guint i = 0; i < n; i++)
      dicom_append (&file, 7 * i, 1);
  }
  if (strcmp (syntax, DEFLATED) == 0) {
    guint8 packed[4096];
    z_stream z = { .next_in = file.bytes->data + from,
      .avail_in = file.bytes->len - from,
      .next_out = packed,
      .avail_out = sizeof (packed) };

    g_assert_cmpint (deflateInit2 (&z, 9, Z_DEFLATED, -15, 9, 0), ==, Z_OK);
    g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
    g_byte_array_set_size (file.bytes, from);
    g_byte_array_append (file.bytes, packed, sizeof (packed) - z.avail_out);
    deflateEnd (&z);
  }
  g_ptr_array_add (seeds, g_byte_array_free_to_bytes (file.bytes));
}

void
fuzz_seeds (GPtrArray *seeds)
{
  static const DicomPicture pictures[] = {
    { "MONOCHROME2", 1, 0, 16, 12, 0, 1 },
    { "RGB", 3, 1, 8, 0, 0, 0 },
    { "YBR_FULL_422", 3, 0, 8, 0, 0, 0 },
    { "MONOCHROME2", 1, 0, 1, 0, 0, 0 },
  };
  static const gchar *const syntaxes[] = { IMPLICIT, EXPLICIT, DEFLATED, BIG };

  for (guint i = 0; i < G_N_ELEMENTS (syntaxes); i++) {
    append_seed (seeds, syntaxes[i], &pictures[i], FALSE);
    append_seed (seeds, syntaxes[i], &pictures[(i + 1) % 4], TRUE);
  }
  append_seed (seeds, RLE, &pictures[0], TRUE);
  append_seed (seeds, RLE, &pictures[1], FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (dicom_coded); i++) {
    DicomFile file = dicom_coded_file (i, G_MAXSIZE);

    g_ptr_array_add (seeds, g_byte_array_free_to_bytes (file.bytes));
  }
}
