/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/printable.h"

#include <string.h>

/* The longest escape: \U and 8 digits. */
#define ESCAPE_MAX 10

static gboolean
is_shown (gunichar c)
{
  switch (g_unichar_type (c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return FALSE;
    default:
      return TRUE;
  }
}

/* Writes the escape of @c, or of the byte @c if @is_byte. */
static gsize
escape (gchar *to, gunichar c, gboolean is_byte)
{
  const gchar *letter = strchr ("\tt\nn\rr", (gint) c);
  const gchar *format = is_byte || c < 0x80 ? "\\x%02x"
      : c <= 0xffff                         ? "\\u%04x"
                                            : "\\U%08x";

  if (!is_byte && c != 0 && c < 0x20 && letter)
    return g_snprintf (to, ESCAPE_MAX + 1, "\\%c", letter[1]);
  return g_snprintf (to, ESCAPE_MAX + 1, format, c);
}

/* Writes the printable form of @text to @to, unless that is NULL. Returns its
 * length. */
static gsize
write_printable (gchar *to, const gchar *text, gboolean keeps_lines)
{
  gsize length = 0;

  while (*text) {
    const gunichar c = g_utf8_get_char_validated (text, -1);
    const gboolean is_byte = c == (gunichar) -1 || c == (gunichar) -2;
    const gsize n = is_byte ? 1 : g_utf8_next_char (text) - text;
    gchar escaped[ESCAPE_MAX + 1];
    const gchar *from = text;
    gsize written = n;

    if (is_byte || (!is_shown (c) && !(keeps_lines && c == '\n'))) {
      written = escape (escaped, is_byte ? (guchar) *text : c, is_byte);
      from = escaped;
    }
    if (to)
      memcpy (to + length, from, written);
    length += written;
    text += n;
  }
  return length;
}

static gchar *
make_printable (const gchar *text, gboolean keeps_lines)
{
  gsize length;
  gchar *made;

  if (!text)
    return NULL;
  length = write_printable (NULL, text, keeps_lines);
  made = g_try_malloc (length + 1);
  if (!made)
    return g_strdup ("(no memory for this text)");
  write_printable (made, text, keeps_lines);
  made[length] = '\0';
  return made;
}

gchar *
nd_printable (const gchar *text)
{
  return make_printable (text, FALSE);
}

gchar *
nd_printable_take (gchar *text)
{
  gchar *made = make_printable (text, FALSE);

  g_free (text);
  return made;
}

gchar *
nd_printable_lines (const gchar *text)
{
  return make_printable (text, TRUE);
}
