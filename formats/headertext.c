/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/headertext.h"

#include "core/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED 60
#define DIGITS 9 /* of a second */

void
nd_text_init (NdText *text, const gchar *path, guint8 *bytes, gsize n)
{
  *text = (NdText){ path, (gchar *) bytes, (gchar *) bytes + n };
}

gboolean
nd_text_next (NdText *text, GError **error)
{
  gchar *stop;

  if (text->at == text->end)
    return FALSE;
  text->number++;
  stop = memchr (text->at, '\n', text->end - text->at);
  text->line = text->at;
  text->at = stop ? stop + 1 : text->end;
  stop = stop ? stop : text->end;
  if (memchr (text->line, '\0', stop - text->line)) {
    nd_text_error (text, error, "it has a byte 0, which is not text");
    return FALSE;
  }
  stop -= stop > text->line && stop[-1] == '\r';
  *stop = '\0';
  text->length = stop - text->line;
  return TRUE;
}

void
nd_text_error (const NdText *text, GError **error, const gchar *format, ...)
{
  g_autofree gchar *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "The header of \"%s\" is wrong in line %u: %s", text->path, text->number,
      what);
}

gchar *
nd_text_quote (const gchar *value)
{
  g_autofree gchar *begin = g_strndup (value, QUOTED);
  g_autofree gchar *escaped = g_strescape (begin, "\"");

  return g_strconcat ("\"", escaped, strlen (value) > QUOTED ? "..." : "", "\"",
      NULL);
}

gint
nd_text_word (const NdTextWord *words, const gchar *word)
{
  for (; word && words->word; words++) {
    if (strcmp (words->word, word) == 0)
      return words->value;
  }
  return -1;
}

gint
nd_text_word_any_case (const NdTextWord *words, const gchar *word)
{
  for (; word && words->word; words++) {
    if (g_ascii_strcasecmp (words->word, word) == 0)
      return words->value;
  }
  return -1;
}

static const gchar *
skip_spaces (const gchar *p)
{
  while (*p == ' ' || *p == '\t')
    p++;
  return p;
}

/* Refuses hexadecimal numbers, which g_ascii_strtod() accepts. */
gint
nd_text_doubles (const gchar *value, gdouble *values, guint max)
{
  const gchar *p = skip_spaces (value);
  guint n;

  for (n = 0; *p; n++) {
    gchar *end;

    if (n == max
        || g_ascii_strncasecmp (p + (*p == '-' || *p == '+'), "0x", 2) == 0)
      return -1;
    values[n] = g_ascii_strtod (p, &end);
    if (end == p || (*end != '\0' && *end != ' ' && *end != '\t'))
      return -1;
    p = skip_spaces (end);
  }
  return n;
}

/* G_MAXINT64 on overflow. */
static guint64
read_digits (const gchar **p)
{
  guint64 number = 0;

  while (g_ascii_isdigit (**p)) {
    if (number > (G_MAXINT64 - 9) / 10)
      number = G_MAXINT64;
    else
      number = 10 * number + (**p - '0');
    (*p)++;
  }
  return number;
}

gint
nd_text_sizes (const gchar *value, guint64 *values, guint max)
{
  const gchar *p = skip_spaces (value);
  guint n;

  for (n = 0; *p; n++) {
    if (n == max || !g_ascii_isdigit (*p))
      return -1;
    values[n] = read_digits (&p);
    if (values[n] == 0 || values[n] == G_MAXINT64
        || (*p != '\0' && *p != ' ' && *p != '\t'))
      return -1;
    p = skip_spaces (p);
  }
  return n;
}

gboolean
nd_text_integer (const gchar *value, gint64 *number)
{
  const gchar *p = skip_spaces (value);
  const gboolean negative = *p == '-';
  guint64 digits;

  p += negative || *p == '+';
  if (!g_ascii_isdigit (*p))
    return FALSE;
  digits = read_digits (&p);
  if (digits == G_MAXINT64 || *skip_spaces (p) != '\0')
    return FALSE;
  *number = negative ? -(gint64) digits : (gint64) digits;
  return TRUE;
}

/* Reads digits rather than a double, so that times are written back unchanged.
 * Only numbers with an exponent are read as a double. */
gboolean
nd_text_time (const gchar *value, gint exponent, gint64 *time, gint64 *unit)
{
  const gchar *p = skip_spaces (value);
  const gboolean negative = *p == '-';
  gint scale = exponent + DIGITS, digits = 0;
  gint64 nanoseconds = 0, last = 1;
  gboolean point = FALSE;

  p += negative || *p == '+';
  for (; g_ascii_isdigit (*p) || (*p == '.' && !point); p++) {
    if (*p == '.') {
      point = TRUE;
      continue;
    }
    digits++;
    if (point && scale == 0)
      continue; /* below a nanosecond */
    if (nanoseconds > (G_MAXINT64 / 4 - 9) / 10)
      return FALSE;
    nanoseconds = 10 * nanoseconds + (*p - '0');
    scale -= point;
  }
  if (digits == 0)
    return FALSE;
  if (*p == 'e' || *p == 'E') {
    gdouble number;

    if (nd_text_doubles (value, &number, 1) != 1)
      return FALSE;
    number *= pow (10, exponent + DIGITS);
    if (!(fabs (number) < 0x1p61))
      return FALSE;
    *time = llrint (number);
    *unit = 1;
    return TRUE;
  }
  if (*skip_spaces (p) != '\0')
    return FALSE;
  for (; scale > 0; scale--) {
    if (nanoseconds > G_MAXINT64 / 40)
      return FALSE;
    nanoseconds *= 10;
    last = last > G_MAXINT64 / 40 ? last : last * 10;
  }
  *time = negative ? -nanoseconds : nanoseconds;
  *unit = last;
  return TRUE;
}

GString *
nd_text_new (gsize room)
{
  const gsize size = room + 2;
  gchar *memory = size > room ? g_try_malloc (size) : NULL;
  GString *text;

  if (!memory)
    return NULL;
  text = g_string_new (NULL);
  g_free (text->str);
  *text = (GString){ memory, 0, size };
  memory[0] = '\0';
  return text;
}

GByteArray *
nd_text_new_bytes (gsize room)
{
  const gsize size = MAX (room, 1);
  guint8 *memory = size <= G_MAXUINT / 2 ? g_try_malloc (size) : NULL;

  if (!memory)
    return NULL;
  return g_byte_array_set_size (g_byte_array_new_take (memory, size), 0);
}

void
nd_text_append_double (GString *string, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint digits = 15; digits <= 17; digits++) {
    gchar format[8];

    g_snprintf (format, sizeof (format), "%%.%ug", digits);
    g_ascii_formatd (text, sizeof (text), format, number);
    if (g_ascii_strtod (text, NULL) == number)
      break;
  }
  g_string_append (string, text);
}

void
nd_text_append_doubles (GString *string, const gchar *before,
    const gdouble *numbers, guint n, const gchar *between, const gchar *after)
{
  g_string_append (string, before);
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append (string, between);
    /* -0 is written as 0. */
    nd_text_append_double (string, numbers[i] == 0 ? 0 : numbers[i]);
  }
  g_string_append (string, after);
}

void
nd_text_append_time (GString *string, gint64 nanoseconds, guint decimals)
{
  const guint64 size =
      nanoseconds < 0 ? -(guint64) nanoseconds : (guint64) nanoseconds;
  gsize length, least;

  g_string_append_printf (string,
      "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
      nanoseconds < 0 ? "-" : "", size / 1000000000, size % 1000000000);
  length = string->len;
  least = length - DIGITS + decimals;
  while (length > least && string->str[length - 1] == '0')
    length--;
  g_string_truncate (string, length - (string->str[length - 1] == '.'));
}

/* The fields of a text header by name, each at most once. Shared by the parsers
 * of NRRD and MetaImage.
 */

/* Bytes of a line. Parsers make words and numbers of its value, which take more
 * memory than the text. */
#define VALUE_MAX (8 * 1024)

void
nd_fields_init (NdFields *fields, const NdTextWord *names, const gchar *path,
    guint8 *bytes, gsize n)
{
  nd_text_init (&fields->text, path, bytes, n);
  fields->names = names;
}

const gchar *
nd_fields_name (const NdFields *fields, guint field)
{
  const NdTextWord *name = fields->names;

  while (name->value != (gint) field)
    name++;
  return name->word;
}

gboolean
nd_fields_take (NdFields *fields, guint field, gchar *value, GError **error)
{
  if (field == ND_FIELD_UNUSED)
    return TRUE;
  if (fields->values[field]) {
    nd_text_error (&fields->text, error,
        "%s is given a second time; line %u has it already",
        nd_fields_name (fields, field), fields->lines[field]);
    return FALSE;
  }
  if (fields->text.length > VALUE_MAX) {
    nd_text_error (&fields->text, error,
        "%s has more than %d bytes: the file is damaged",
        nd_fields_name (fields, field), VALUE_MAX);
    return FALSE;
  }
  fields->values[field] = g_strchomp (value);
  fields->lines[field] = fields->text.number;
  return TRUE;
}

gboolean
nd_fields_refuse (NdFields *fields, guint field, const gchar *must,
    GError **error)
{
  const gchar *name = nd_fields_name (fields, field);
  g_autofree gchar *quoted = NULL;

  if (!fields->values[field]) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The header of \"%s\" has no field \"%s\": it must %s",
        fields->text.path, name, must);
    return FALSE;
  }
  quoted = nd_text_quote (fields->values[field]);
  fields->text.number = fields->lines[field];
  nd_text_error (&fields->text, error, "%s is %s: it must %s", name, quoted,
      must);
  return FALSE;
}
