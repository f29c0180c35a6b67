/* Text headers: their lines, words and numbers, and numbers written so that
 * they are read back unchanged.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The largest size of a header. */
#define ND_TEXT_MAX (64 * 1024 * 1024)

typedef struct
{
  const gchar *path; /* of the file, for errors */
  gchar *at, *end;
  guint number; /* of the last line, from 1 */
  gchar *line;  /* the last line, without its end */
  gsize length;
} NdText;

/* The lines are used where they lie: @bytes are changed, must live as long as
 * the lines, and have room for one byte after the last. */
void nd_text_init (NdText *text, const gchar *path, guint8 *bytes, gsize n);

/* Goes to the next line; it ends with LF or CR LF. FALSE without an error at
 * the end, FALSE with ND_ERROR_FORMAT if the line has a byte 0. */
gboolean nd_text_next (NdText *text, GError **error);

/* Sets ND_ERROR_FORMAT with the path, the number of the line, and @format. */
void nd_text_error (const NdText *text, GError **error, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4);

/* A word and its value, 0 or more. Tables are terminated by a NULL word. */
typedef struct
{
  const gchar *word;
  gint value;
} NdTextWord;

/* The value of @word; -1 if it is NULL or not in @words. */
gint nd_text_word (const NdTextWord *words, const gchar *word);
gint nd_text_word_any_case (const NdTextWord *words, const gchar *word);

/* Quotes @value for an error message, escaped and shortened. */
gchar *nd_text_quote (const gchar *value);

/* Reads up to @max numbers, separated by spaces. Returns their number, or -1 if
 * there are more or anything else. */
gint nd_text_doubles (const gchar *value, gdouble *values, guint max);

/* The same for integers of 1 or more. */
gint nd_text_sizes (const gchar *value, guint64 *values, guint max);
gboolean nd_text_integer (const gchar *value, gint64 *number);

/* Reads a decimal number in units of 10^@exponent seconds. @time and @unit, the
 * value of the last digit, are in nanoseconds. FALSE if it is not a number or
 * exceeds 64 bits. */
gboolean nd_text_time (const gchar *value, gint exponent, gint64 *time,
    gint64 *unit);

/* Empty, with memory for @room bytes, or NULL: texts that a file or a peer
 * decides go into these, because GLib's own end the process when they grow. */
GString *nd_text_new (gsize room);
GByteArray *nd_text_new_bytes (gsize room);

/* Appends the shortest decimal number that is read as @number. */
void nd_text_append_double (GString *string, gdouble number);
void nd_text_append_doubles (GString *string, const gchar *before,
    const gdouble *numbers, guint n, const gchar *between, const gchar *after);

/* Appends seconds with @decimals, or more if needed. */
void nd_text_append_time (GString *string, gint64 nanoseconds, guint decimals);

/* The fields of a text header by name, each at most once. Shared by the parsers
 * of NRRD and MetaImage.
 */

/* Formats number their fields from 0. Names with this number are ignored. */
#define ND_FIELD_UNUSED 32

typedef struct
{
  NdText text;
  const NdTextWord *names;        /* errors use the first name of a field */
  gchar *values[ND_FIELD_UNUSED]; /* in the text; NULL: absent */
  guint lines[ND_FIELD_UNUSED];   /* line numbers, for errors */
} NdFields;

/* Begins to read the @n bytes of the header of the file @path, which must
 * outlive @fields. */
void nd_fields_init (NdFields *fields, const NdTextWord *names,
    const gchar *path, guint8 *bytes, gsize n);

/* The first name of @field. */
const gchar *nd_fields_name (const NdFields *fields, guint field);

/* Stores @value of @field from the current line. ND_ERROR_FORMAT if the field
 * has a value already. */
gboolean nd_fields_take (NdFields *fields, guint field, gchar *value,
    GError **error);

/* Sets ND_ERROR_FORMAT and returns FALSE. The message has the line of @field,
 * or says that the field is absent, and ends with "it must" and @must. */
gboolean nd_fields_refuse (NdFields *fields, guint field, const gchar *must,
    GError **error);

G_END_DECLS
