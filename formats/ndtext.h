/* Headers made of lines of text: lines, words, numbers, and numbers written
 * so that they come back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A header ends here at the latest, however long its file is. */
#define ND_TEXT_MAX (64 * 1024 * 1024)

typedef struct
{
  const gchar *path;            /* of the file, for errors */
  const gchar *at, *end;
  guint number;                 /* of the last line, from 1 */
  GString *line;                /* the last line, without its end */
} NdText;

void nd_text_init (NdText * text, const gchar * path, const guint8 * bytes,
    gsize n);
void nd_text_clear (NdText * text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdText, nd_text_clear)

/* The next line into text->line. FALSE without an error at the end;
 * ND_ERROR_FORMAT where it holds a byte 0. Ends are LF or CR LF. */
gboolean nd_text_next (NdText * text, GError ** error);

/* ND_ERROR_FORMAT: the path, the number of the line, and what is wrong. */
void nd_text_error (const NdText * text, GError ** error, const gchar * format,
    ...) G_GNUC_PRINTF (3, 4);

/* A word, and what it stands for: 0 or more. Tables of them end with NULL. */
typedef struct
{
  const gchar *word;
  gint value;
} NdTextWord;

/* -1 where @word, which may be NULL, is none of @words. */
gint nd_text_word (const NdTextWord * words, const gchar * word);
gint nd_text_word_any_case (const NdTextWord * words, const gchar * word);

/* @value for an error message: printable, and not long. */
gchar *nd_text_quote (const gchar * value);

/* Up to @max numbers with spaces between them into @values; their number, or
 * -1 where something else stands there, or more of them. */
gint nd_text_doubles (const gchar * value, gdouble * values, guint max);

/* The same with whole numbers of 1 or more. */
gint nd_text_sizes (const gchar * value, guint64 * values, guint max);
gboolean nd_text_integer (const gchar * value, gint64 * number);

/* A decimal number of seconds times 10^@exponent, in nanoseconds, and the
 * nanoseconds that its last digit stands for. FALSE where it is something else
 * or beyond what 64 bits hold. */
gboolean nd_text_time (const gchar * value, gint exponent, gint64 * time,
    gint64 * unit);

/* The shortest decimals that are read as @number again. */
void nd_text_append_double (GString * string, gdouble number);
void nd_text_append_doubles (GString * string, const gchar * before,
    const gdouble * numbers, guint n, const gchar * between,
    const gchar * after);

/* Seconds, with @decimals or as many more as it takes. */
void nd_text_append_time (GString * string, gint64 nanoseconds,
    guint decimals);

G_END_DECLS
