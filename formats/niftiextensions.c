/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/niftiextensions.h"

#include "core/written.h"
#include "formats/headertext.h"
#include "formats/niftistruct.h"
#include "formats/rate.h"
#include "formats/sequence.h"

#include <math.h>
#include <string.h>

/* The metadata keys of fields that only NIfTI has. */
#define KEY_TOFFSET "NIfTI.toffset"      /* if its field would round it */
#define KEY_EXTENSION "NIfTI.extension." /* then its code; base64 */
#define KEPT "NIfTI."                    /* keys that the comment leaves out */

/* ndconv's extension: a comment (code 6) with a line "key:=value" for each
 * field that NIfTI does not have. */
#define COMMENT 6
#define COMMENT_BEGIN "ndconv recording\n"
#define EXTENSION_HEAD 8
#define EXTENSION_ALIGN 16
#define TEXT_ROOM 1024 /* of the comment, without fields */

/* FALSE if @text is not such a comment, which a byte 0 follows. */
static gboolean
parse_comment (NdHeader *header, NdSequence *sequence, guint8 *text, gsize n,
    const gchar *path)
{
  const gsize length = strnlen ((const gchar *) text, n);
  NdText lines;
  gint64 unit;

  if (length == n || length < strlen (COMMENT_BEGIN)
      || memcmp (text, COMMENT_BEGIN, strlen (COMMENT_BEGIN)) != 0)
    return length == 0;
  nd_text_init (&lines, path, text + strlen (COMMENT_BEGIN),
      length - strlen (COMMENT_BEGIN));
  while (nd_text_next (&lines, NULL)) {
    gchar *value = strstr (lines.line, ":=");

    if (!value)
      continue;
    *value = '\0';
    value += 2;
    nd_sequence_unescape (value);
    if (strcmp (lines.line, KEY_TOFFSET) == 0)
      nd_text_time (value, 0, &header->metadata->origin, &unit);
    else if (!nd_sequence_take (sequence, lines.line, value))
      nd_header_add_field (header, lines.line, value);
  }
  return TRUE;
}

/* Keeps the bytes of an extension, in base64. */
static void
keep_extension (NdHeader *header, gint32 code, const guint8 *bytes, gsize n)
{
  /* As g_base64_encode_step() asks for, without lines. */
  const gsize most = (n / 3 + 1) * 4 + 4;
  g_autofree gchar *key = g_strdup_printf (KEY_EXTENSION "%d", code);
  gchar *text = nd_budget_alloc (&header->budget, most);
  gint state = 0, save = 0;
  gsize length;

  if (!text) {
    header->metadata->failed = TRUE;
    return;
  }
  length = g_base64_encode_step (bytes, n, FALSE, text, &state, &save);
  length += g_base64_encode_close (FALSE, text + length, &state, &save);
  text[length] = '\0';
  nd_written (text, length + 1);
  nd_header_add_field (header, key, text);
  nd_budget_free (&header->budget, text, most);
}

void
nd_nifti_parse_extensions (NdHeader *header, guint8 *bytes, gsize at, gsize n,
    const gchar *path)
{
  g_auto (NdSequence) sequence = { 0 };

  nd_sequence_init (&sequence, header);
  if (n >= at && bytes[at - 4] != 0) {
    while (n - at >= EXTENSION_HEAD) {
      gint32 head[2]; /* size with the head, and code */
      gsize size;

      memcpy (head, bytes + at, sizeof (head));
      if (header->stored.swapped) {
        head[0] = GUINT32_SWAP_LE_BE (head[0]);
        head[1] = GUINT32_SWAP_LE_BE (head[1]);
      }
      if (head[0] < EXTENSION_HEAD || (gsize) head[0] > n - at) {
        nd_header_warn (header,
            "An extension of \"%s\" is damaged: it and "
            "those after it are not kept",
            path);
        break;
      }
      size = head[0] - EXTENSION_HEAD;
      if (head[1] != COMMENT
          || !parse_comment (header, &sequence, bytes + at + EXTENSION_HEAD,
              size, path))
        keep_extension (header, head[1], bytes + at + EXTENSION_HEAD, size);
      at += head[0];
    }
  }
  nd_sequence_settle (&sequence, TRUE, 0);
}

/* TRUE if times differ from those of the rate. */
static gboolean
nifti_extensions_has_times (const NdRecording *recording,
    const NdMetadata *metadata)
{
  const NdList *times = metadata->times;

  for (guint i = 1; i < times->len; i++) {
    const gint64 beside = g_array_index (times, gint64, i)
        - (gint64) nd_rate_time (recording->rate_n, recording->rate_d, i);

    if (recording->rate_n == 0 || ABS (beside) > 1)
      return TRUE;
  }
  return FALSE;
}

/* Builds the last extension, padded to @room. */
static gboolean
build_comment (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gboolean wide, gsize room)
{
  g_autoptr (GString) text =
      nd_text_new (nd_metadata_header_size (metadata) + TEXT_ROOM);
  const gsize begin = strlen (COMMENT_BEGIN);
  gsize needed = EXTENSION_HEAD;

  if (!text)
    return FALSE;
  g_string_append (text, COMMENT_BEGIN);
  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);

    if (!g_str_has_prefix (field->key, KEPT))
      nd_sequence_write_field (text, ND_SEQUENCE_SLICER, field->key,
          field->value);
  }
  if (!wide
      && llrint ((gfloat) (metadata->origin / 1e9) * 1e9) != metadata->origin) {
    g_string_append (text, KEY_TOFFSET ":=");
    nd_text_append_time (text, metadata->origin, 0);
    g_string_append_c (text, '\n');
  }
  if (metadata->volume_fields->len > 0
      || nifti_extensions_has_times (recording, metadata))
    nd_sequence_write (text, ND_SEQUENCE_SLICER, metadata);
  if (text->len > begin)
    needed += text->len + 1;
  else
    g_string_truncate (text, 0);
  needed = (needed + EXTENSION_ALIGN - 1) / EXTENSION_ALIGN * EXTENSION_ALIGN;
  if (text->len > 0 || bytes->len < room) {
    const guint at = bytes->len;
    const gint32 head[2] = { MAX (needed, room > at ? room - at : 0), COMMENT };

    g_byte_array_set_size (bytes, at + head[0]);
    memset (bytes->data + at, 0, head[0]);
    memcpy (bytes->data + at, head, sizeof (head));
    memcpy (bytes->data + at + EXTENSION_HEAD, text->str, text->len);
  }
  return TRUE;
}

/* Appends the bytes that @text has in base64. */
static void
build_kept (GByteArray *bytes, gint32 code, const gchar *text)
{
  const gsize length = strlen (text);
  const guint at = bytes->len;
  gint32 head[2] = { 0, code };
  guint save = 0;
  gint state = 0;
  gsize n;

  g_byte_array_set_size (bytes, at + EXTENSION_HEAD + length + EXTENSION_ALIGN);
  n = g_base64_decode_step (text, length, bytes->data + at + EXTENSION_HEAD,
      &state, &save);
  head[0] = (EXTENSION_HEAD + n + EXTENSION_ALIGN - 1) / EXTENSION_ALIGN
      * EXTENSION_ALIGN;
  memcpy (bytes->data + at, head, sizeof (head));
  memset (bytes->data + at + EXTENSION_HEAD + n, 0,
      head[0] - EXTENSION_HEAD - n);
  g_byte_array_set_size (bytes, at + head[0]);
}

gboolean
nd_nifti_build_extensions (GByteArray *bytes, const NdRecording *recording,
    const NdMetadata *metadata, gsize room)
{
  const guint begin = bytes->len;
  const gboolean wide = begin > ND_NIFTI_2_SIZE;

  for (guint i = 0; i < metadata->fields->len; i++) {
    const NdField *field = &g_array_index (metadata->fields, NdField, i);
    gint64 code;

    if (g_str_has_prefix (field->key, KEY_EXTENSION)
        && nd_text_integer (field->key + strlen (KEY_EXTENSION), &code)
        && code == (gint32) code)
      build_kept (bytes, code, field->value);
  }
  /* Without extensions the bytes up to the samples are padding. */
  if (!build_comment (bytes, recording, metadata, wide,
          bytes->len > begin || room > ND_NIFTI_ROOM ? room : 0))
    return FALSE;
  if (bytes->len > begin)
    bytes->data[begin - 4] = 1;
  return TRUE;
}
