/* DICOM files that a test makes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <string.h>

#define IMPLICIT "1.2.840.10008.1.2"
#define EXPLICIT "1.2.840.10008.1.2.1"
#define DEFLATED "1.2.840.10008.1.2.1.99"
#define BIG "1.2.840.10008.1.2.2"
#define RLE "1.2.840.10008.1.2.5"
#define JPEG "1.2.840.10008.1.2.4.50"
#define UNKNOWN_LENGTH 0xffffffff

typedef struct
{
  GByteArray *bytes;
  gboolean implicit, big;
} DicomFile;

static inline void
dicom_append (DicomFile *file, guint64 number, guint n)
{
  for (guint i = 0; i < n; i++) {
    const guint8 byte = number >> (8 * (file->big ? n - 1 - i : i));

    g_byte_array_append (file->bytes, &byte, 1);
  }
}

static inline void
dicom_head (DicomFile *file, guint tag, const gchar *kind, guint length)
{
  dicom_append (file, tag >> 16, 2);
  dicom_append (file, tag & 0xffff, 2);
  if ((file->implicit && tag >> 16 != 2) || tag >> 16 == 0xfffe) {
    dicom_append (file, length, 4);
    return;
  }
  g_byte_array_append (file->bytes, (const guint8 *) kind, 2);
  if (strcmp (kind, "OW") == 0 || strcmp (kind, "OB") == 0
      || strcmp (kind, "OF") == 0 || strcmp (kind, "OD") == 0
      || strcmp (kind, "SQ") == 0 || strcmp (kind, "UN") == 0) {
    dicom_append (file, 0, 2);
    dicom_append (file, length, 4);
  } else {
    dicom_append (file, length, 2);
  }
}

static inline void
dicom_bytes (DicomFile *file, guint tag, const gchar *kind, gconstpointer bytes,
    guint n)
{
  dicom_head (file, tag, kind, n);
  g_byte_array_append (file->bytes, bytes, n);
}

/* An even number of bytes. */
static inline void
dicom_text (DicomFile *file, guint tag, const gchar *kind, const gchar *text)
{
  const guint n = strlen (text);

  dicom_head (file, tag, kind, n + n % 2);
  g_byte_array_append (file->bytes, (const guint8 *) text, n);
  g_byte_array_append (file->bytes,
      (const guint8 *) (strcmp (kind, "UI") == 0 ? "" : " "), n % 2);
}

static inline void
dicom_short (DicomFile *file, guint tag, guint number)
{
  dicom_head (file, tag, "US", 2);
  dicom_append (file, number, 2);
}

static inline void
dicom_double (DicomFile *file, guint tag, gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, 8);
  dicom_head (file, tag, "FD", 8);
  dicom_append (file, bits, 8);
}

static inline void
dicom_begin (DicomFile *file, guint tag)
{
  dicom_head (file, tag, "SQ", UNKNOWN_LENGTH);
}

static inline void
dicom_item (DicomFile *file)
{
  dicom_head (file, 0xfffee000, "", UNKNOWN_LENGTH);
}

static inline void
dicom_end_item (DicomFile *file)
{
  dicom_head (file, 0xfffee00d, "", 0);
}

static inline void
dicom_end (DicomFile *file)
{
  dicom_head (file, 0xfffee0dd, "", 0);
}

/* The preamble and the transfer syntax. */
static inline DicomFile
dicom_new (const gchar *syntax)
{
  DicomFile file = { g_byte_array_new (), FALSE, FALSE };

  g_byte_array_set_size (file.bytes, 128);
  memset (file.bytes->data, 0, 128);
  g_byte_array_append (file.bytes, (const guint8 *) "DICM", 4);
  dicom_text (&file, 0x00020010, "UI", syntax);
  file.implicit = strcmp (syntax, IMPLICIT) == 0;
  file.big = strcmp (syntax, BIG) == 0;
  return file;
}

/* What a picture of 4 x 2 pixels has. */
typedef struct
{
  const gchar *photometric;
  guint samples, planar, bits, stored, high, is_signed;
} DicomPicture;

static inline void
dicom_picture (DicomFile *file, const DicomPicture *picture)
{
  dicom_short (file, 0x00280002, picture->samples);
  dicom_text (file, 0x00280004, "CS", picture->photometric);
  if (picture->samples > 1)
    dicom_short (file, 0x00280006, picture->planar);
  dicom_short (file, 0x00280010, 2);
  dicom_short (file, 0x00280011, 4);
  dicom_short (file, 0x00280100, picture->bits);
  dicom_short (file, 0x00280101,
      picture->stored ? picture->stored : picture->bits);
  dicom_short (file, 0x00280102,
      (picture->high            ? picture->high + 1
              : picture->stored ? picture->stored
                                : picture->bits)
          - 1);
  dicom_short (file, 0x00280103, picture->is_signed);
}
