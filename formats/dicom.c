/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/dicom.h"

#include "core/error.h"
#include "formats/rate.h"

#include <stdlib.h>
#include <string.h>

#define PREAMBLE 132
#define UNDEFINED 0xffffffff
#define MAX_ELEMENTS 100000
#define MAX_TEXT 64

#define IMPLICIT "1.2.840.10008.1.2"
#define EXPLICIT "1.2.840.10008.1.2.1"

/* The values that describe the samples. */
typedef struct
{
  gchar syntax[MAX_TEXT];
  gchar frame_time[MAX_TEXT]; /* ms */
  guint columns, rows, samples, bits, is_signed, planar;
  guint64 pixels; /* the place of the samples, or 0 */
} Dicom;

gboolean
nd_dicom_detect (const guint8 *bytes, gsize n)
{
  return n >= PREAMBLE && memcmp (bytes + 128, "DICM", 4) == 0;
}

static guint
get (const guint8 *bytes, guint n)
{
  guint number = 0;

  while (n-- > 0)
    number = number << 8 | bytes[n];
  return number;
}

static gboolean
read_at (NdInput *input, guint64 at, gpointer bytes, gsize n)
{
  nd_input_begin (input, at, FALSE);
  return nd_input_read (input, bytes, n) == (gssize) n;
}

static void
read_text (NdInput *input, guint64 at, guint length, gchar text[MAX_TEXT])
{
  memset (text, 0, MAX_TEXT);
  if (length < MAX_TEXT && read_at (input, at, text, length))
    g_strchomp (text);
}

static void
note_value (Dicom *dicom, NdInput *input, guint tag, guint64 at, guint length)
{
  static const struct
  {
    guint tag;
    gsize offset;
  } numbers[] = { { 0x00280002, G_STRUCT_OFFSET (Dicom, samples) },
    { 0x00280006, G_STRUCT_OFFSET (Dicom, planar) },
    { 0x00280010, G_STRUCT_OFFSET (Dicom, rows) },
    { 0x00280011, G_STRUCT_OFFSET (Dicom, columns) },
    { 0x00280100, G_STRUCT_OFFSET (Dicom, bits) },
    { 0x00280103, G_STRUCT_OFFSET (Dicom, is_signed) } };
  guint8 bytes[2];

  if (tag == 0x00020010)
    read_text (input, at, length, dicom->syntax);
  else if (tag == 0x00181063)
    read_text (input, at, length, dicom->frame_time);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (tag == numbers[i].tag && length == 2 && read_at (input, at, bytes, 2))
      G_STRUCT_MEMBER (guint, dicom, numbers[i].offset) = get (bytes, 2);
  }
}

/* Reads the head of an element, with its kind in the file unless @implicit.
 * Returns the bytes of the head; 0 at the end of the file. */
static guint
read_head (NdInput *input, guint64 at, gboolean implicit, guint *tag,
    guint *length)
{
  static const gchar *const wide[] = { "OB", "OD", "OF", "OL", "OV", "OW", "SQ",
    "SV", "UC", "UN", "UR", "UT", "UV" };
  guint8 head[12] = { 0 };

  if (!read_at (input, at, head, 8))
    return 0;
  *tag = get (head, 2) << 16 | get (head + 2, 2);
  *length = get (head + 4, 4);
  /* Items, and the marks of their ends, have no kind. */
  if ((implicit && *tag >> 16 != 2) || *tag >> 16 == 0xfffe)
    return 8;
  *length = get (head + 6, 2);
  for (guint i = 0; i < G_N_ELEMENTS (wide); i++) {
    if (memcmp (head + 4, wide[i], 2) != 0)
      continue;
    if (!read_at (input, at, head, 12))
      return 0;
    *length = get (head + 8, 4);
    return 12;
  }
  return 8;
}

/* Reads the elements up to the samples, but not those of sequences. */
static void
read_elements (Dicom *dicom, NdInput *input)
{
  guint64 at = PREAMBLE;
  guint depth = 0;

  for (guint i = 0; i < MAX_ELEMENTS; i++) {
    guint tag = 0, length = 0;
    const guint head = read_head (input, at,
        strcmp (dicom->syntax, IMPLICIT) == 0, &tag, &length);

    if (head == 0)
      return;
    at += head;
    if (tag == 0x7fe00010 && depth == 0) {
      dicom->pixels = at;
      return;
    }
    if (tag == 0xfffee00d || tag == 0xfffee0dd) {
      depth -= depth > 0;
    } else if (length == UNDEFINED) {
      depth++;
    } else {
      if (depth == 0)
        note_value (dicom, input, tag, at, length);
      at += length;
    }
  }
}

/* The name of a transfer syntax that is not read (DICOM PS3.6, annex A), or
 * its number. */
static const gchar *
syntax_name (const gchar *syntax)
{
  static const struct
  {
    const gchar *syntax, *name;
  } names[] = {
    { "1.2.840.10008.1.2.1.99", "deflate" },
    { "1.2.840.10008.1.2.2", "big endian" },
    { "1.2.840.10008.1.2.4.50", "JPEG" },
    { "1.2.840.10008.1.2.4.51", "JPEG" },
    { "1.2.840.10008.1.2.4.57", "lossless JPEG" },
    { "1.2.840.10008.1.2.4.70", "lossless JPEG" },
    { "1.2.840.10008.1.2.4.80", "JPEG-LS" },
    { "1.2.840.10008.1.2.4.81", "JPEG-LS" },
    { "1.2.840.10008.1.2.4.90", "JPEG 2000" },
    { "1.2.840.10008.1.2.4.91", "JPEG 2000" },
    { "1.2.840.10008.1.2.5", "RLE" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (strcmp (syntax, names[i].syntax) == 0)
      return names[i].name;
  }
  return g_str_is_ascii (syntax) ? syntax : "unknown";
}

gboolean
nd_dicom_refuse (NdInput *input, const gchar *path, GError **error)
{
  Dicom dicom = { .samples = 1 };
  g_autofree gchar *rate = NULL;
  gint rate_n, rate_d;

  read_elements (&dicom, input);
  if (dicom.pixels == 0 || dicom.columns == 0 || dicom.rows == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM without a picture, or damaged: it must be complete "
        "and have samples",
        path);
  else if ((strcmp (dicom.syntax, IMPLICIT) != 0
               && strcmp (dicom.syntax, EXPLICIT) != 0)
      || (dicom.samples > 1 && dicom.planar != 0)
      || (dicom.bits != 8 && dicom.bits != 16))
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM (%s, %u bits), which is not read: \"gdcmconv --raw "
        "FILE NEW.dcm\" (libgdcm-tools) unpacks it, and \"ndconv-file info "
        "NEW.dcm\" then says how to read its samples",
        path, syntax_name (dicom.syntax), dicom.bits);
  else {
    if (nd_rate_from_seconds (g_ascii_strtod (dicom.frame_time, NULL) / 1e3,
            &rate_n, &rate_d))
      rate = g_strdup_printf (" framerate=%d/%d", rate_n, rate_d);
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "\"%s\" is DICOM, whose header is not read; its samples are read with "
        "the properties volume-size=%u:%u:1 components=%u type=%s "
        "offset=%" G_GUINT64_FORMAT "%s",
        path, dicom.columns, dicom.rows, dicom.samples,
        dicom.bits == 8       ? "uint8"
            : dicom.is_signed ? "int16"
                              : "uint16",
        dicom.pixels, rate ? rate : "");
  }
  return FALSE;
}
