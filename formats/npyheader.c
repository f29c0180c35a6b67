/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/npyheader.h"

#include "core/error.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

/* NumPy itself refuses headers from 10,000 bytes on. */
#define HEADER_MAX (64 * 1024)

gboolean
nd_npy_detect (const guint8 *data, gsize length)
{
  return length >= MAGIC_LENGTH && memcmp (data, MAGIC, MAGIC_LENGTH) == 0;
}

static void
skip_space (const gchar **text)
{
  while (g_ascii_isspace (**text))
    (*text)++;
}

/* Skips spaces and @token; FALSE if @token is not next. */
static gboolean
npy_header_accept (const gchar **text, const gchar *token)
{
  skip_space (text);
  if (!g_str_has_prefix (*text, token))
    return FALSE;
  *text += strlen (token);
  return TRUE;
}

static gchar *
parse_string (const gchar **text)
{
  const gchar *start, *end;

  skip_space (text);
  if (**text != '\'' && **text != '"')
    return NULL;
  start = *text + 1;
  end = strchr (start, **text);
  if (end == NULL)
    return NULL;
  *text = end + 1;
  return g_strndup (start, end - start);
}

static gboolean
npy_header_parse_shape (const gchar **text, NdNpyHeader *header)
{
  header->has_shape = TRUE;
  if (!npy_header_accept (text, "("))
    return FALSE;
  while (!npy_header_accept (text, ")")) {
    gchar *end;
    guint64 n;

    skip_space (text);
    n = g_ascii_strtoull (*text, &end, 10);
    if (!g_ascii_isdigit (**text) || n > G_MAXSSIZE
        || header->rank == ND_NPY_MAX_RANK)
      return FALSE;
    header->shape[header->rank++] = (gsize) n;
    *text = end;
    if (!npy_header_accept (text, ",")) {
      skip_space (text);
      if (**text != ')')
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean
npy_header_parse_order (const gchar **text, NdNpyHeader *header)
{
  header->has_order = TRUE;
  header->fortran_order = npy_header_accept (text, "True");
  return header->fortran_order || npy_header_accept (text, "False");
}

/* A structured type is a list of fields, which is skipped. */
static gboolean
parse_descr (const gchar **text, NdNpyHeader *header)
{
  g_free (header->descr);
  skip_space (text);
  if (**text == '[') {
    header->descr = g_strdup ("a structured type");
    *text += strcspn (*text, "]");
    return npy_header_accept (text, "]");
  }
  header->descr = parse_string (text);
  return header->descr != NULL;
}

static gboolean
parse_header (const gchar *text, NdNpyHeader *header)
{
  if (!npy_header_accept (&text, "{"))
    return FALSE;
  while (!npy_header_accept (&text, "}")) {
    g_autofree gchar *key = parse_string (&text);
    gboolean ok = key != NULL && npy_header_accept (&text, ":");

    if (ok && strcmp (key, "descr") == 0)
      ok = parse_descr (&text, header);
    else if (ok && strcmp (key, "fortran_order") == 0)
      ok = npy_header_parse_order (&text, header);
    else if (ok && strcmp (key, "shape") == 0)
      ok = !header->has_shape && npy_header_parse_shape (&text, header);
    else
      ok = FALSE;
    if (!ok)
      return FALSE;
    if (!npy_header_accept (&text, ",")) {
      skip_space (&text);
      if (*text != '}')
        return FALSE;
    }
  }
  return header->descr != NULL && header->has_order && header->has_shape;
}

/* Finds the begin and the end of the header; FALSE if the file ends before. */
static gboolean
find_header (const guint8 *data, gsize length, gsize *start, gsize *end)
{
  guint32 header_length;

  if (length < 12)
    return FALSE;
  if (data[MAGIC_LENGTH] == 1) {
    header_length = data[8] | data[9] << 8;
    *start = 10;
  } else {
    memcpy (&header_length, data + 8, 4);
    header_length = GUINT32_FROM_LE (header_length);
    *start = 12;
  }
  *end = *start + header_length;
  return header_length <= HEADER_MAX && header_length <= length - *start;
}

gboolean
nd_npy_parse_type (const gchar *descr, gchar *kind, gsize *bytes,
    gboolean *swapped)
{
  const gchar *text = descr;

  *swapped = FALSE;
  if (*text != '\0' && strchr ("<>=|", *text)) {
    *swapped = *text == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<');
    text++;
  }
  *kind = text[0];
  if (strcmp (text, "c8") == 0 || strcmp (text, "c16") == 0) {
    *bytes = text[1] == '8' ? 4 : 8;
    return TRUE;
  }
  if (*kind == '\0' || text[1] == '\0' || text[2] != '\0'
      || !g_ascii_isdigit (text[1]))
    return FALSE;
  *bytes = text[1] - '0';
  if (*kind == 'f')
    return *bytes == 2 || *bytes == 4 || *bytes == 8;
  return (*kind == 'i' || *kind == 'u')
      && (*bytes == 1 || *bytes == 2 || *bytes == 4 || *bytes == 8);
}

gboolean
nd_npy_header_parse (NdNpyHeader *header, const guint8 *data, gsize length,
    gsize *end, GError **error)
{
  gchar text[HEADER_MAX + 1];
  gsize start;

  if (length > MAGIC_LENGTH
      && (data[MAGIC_LENGTH] < 1 || data[MAGIC_LENGTH] > 3)) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "It is .npy version %u; it must be 1, 2 or 3", data[MAGIC_LENGTH]);
    return FALSE;
  }
  if (!find_header (data, length, &start, end)) {
    g_set_error (error, ND_ERROR, ND_ERROR_READ,
        "It is truncated or damaged: its .npy header does not end within the "
        "file and 64 KiB");
    return FALSE;
  }
  memcpy (text, data + start, *end - start);
  text[*end - start] = '\0';
  g_strchomp (text);
  if (parse_header (text, header))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_READ,
      "Its .npy header is damaged: \"%.80s\"", text);
  return FALSE;
}

gsize
nd_npy_samples_offset (const guint8 *data, gsize length)
{
  gsize start, end = 0;

  find_header (data, length, &start, &end);
  return MIN (end, HEADER_MAX + 12);
}
