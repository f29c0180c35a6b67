/* Text of strangers in messages: what is escaped, and that errors and the log
 * hook escape it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/log.h"
#include "core/printable.h"

#include <string.h>

static const struct
{
  const gchar *text, *shown;
} cases[] = {
  { "", "" },
  { "plain \"text\" C:\\x1b", "plain \"text\" C:\\x1b" },
  { "Größe 大 é", "Größe 大 é" },
  { "\x1b[31mred\a\b\x7f", "\\x1b[31mred\\x07\\x08\\x7f" },
  { "a\nb\r\tc\v", "a\\nb\\r\\tc\\x0b" },
  /* C1 as UTF-8, and as a byte of Latin-1. */
  { "\xc2\x9b"
    "31m",
      "\\u009b31m" },
  { "\x9b"
    "31m",
      "\\x9b31m" },
  /* Marks of direction, a separator of lines and one of paragraphs. */
  { "a\u202egpj.exe\u2066\u200f\u061c",
      "a\\u202egpj.exe\\u2066\\u200f\\u061c" },
  { "a\u2028b\u2029", "a\\u2028b\\u2029" },
  { "\ufeff\U000e0041", "\\ufeff\\U000e0041" },
  /* Cut, overlong, a surrogate, above the last character. */
  { "\xe2\x80", "\\xe2\\x80" },
  { "\xc0\x9b", "\\xc0\\x9b" },
  { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
  { "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80" },
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *once = nd_printable (cases[i].text);
    g_autofree gchar *twice = nd_printable (once);

    g_assert_cmpstr (once, ==, cases[i].shown);
    g_assert_cmpstr (twice, ==, once);
  }
  g_assert_null (nd_printable (NULL));
}

static void
test_lines (void)
{
  g_autofree gchar *text = nd_printable_lines ("a\nb\x1b\n\u2028");

  g_assert_cmpstr (text, ==, "a\nb\\x1b\n\\u2028");
}

/* Random bytes: valid UTF-8 without control characters comes out. */
static void
test_random (void)
{
  for (guint i = 0; i < 20000; i++) {
    gchar bytes[17];
    g_autofree gchar *text = NULL;

    for (guint b = 0; b < 16; b++)
      bytes[b] = g_test_rand_int_range (1, 256);
    bytes[16] = '\0';
    text = nd_printable (bytes);
    g_assert_true (g_utf8_validate (text, -1, NULL));
    for (const gchar *p = text; *p; p = g_utf8_next_char (p))
      g_assert_false (g_unichar_iscntrl (g_utf8_get_char (p)));
  }
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;
  GError *from = NULL;

  g_set_error (&error, ND_ERROR, ND_ERROR_READ, "\"%s\" is bad", "\x1b]0;x\a");
  g_assert_error (error, ND_ERROR, ND_ERROR_READ);
  g_assert_cmpstr (error->message, ==, "\"\\x1b]0;x\\x07\" is bad");
  g_prefix_error (&error, "%s: ", "\u202e");
  g_assert_cmpstr (error->message, ==, "\\u202e: \"\\x1b]0;x\\x07\" is bad");
  g_clear_error (&error);
  g_prefix_error (&error, "nothing");
  g_assert_null (error);
  g_set_error (NULL, ND_ERROR, ND_ERROR_READ, "%s", "nobody wants it");

  g_set_error_literal (&error, ND_ERROR, ND_ERROR_READ, "100 %s\x9b");
  g_assert_cmpstr (error->message, ==, "100 %s\\x9b");
  g_clear_error (&error);
  error = g_error_new (ND_ERROR, ND_ERROR_FORMAT, "%s", "\n");
  g_assert_cmpstr (error->message, ==, "\\n");
  g_clear_error (&error);
  /* An error of another library. */
  from = g_error_new_literal (G_FILE_ERROR, G_FILE_ERROR_IO, "\x1b");
  g_propagate_prefixed_error (&error, from, "%s: ", "x");
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
  g_assert_cmpstr (error->message, ==, "x: \\x1b");
}

static gchar *logged;

static void
keep (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *message)
{
  g_free (logged);
  logged = g_strdup (message);
}

static void
test_log (void)
{
  nd_log_set_handler (keep, ND_LEVEL_INFO);
  ND_INFO ("device %s", "\x1b[2J\u2028");
  nd_log_set_handler (NULL, ND_LEVEL_NONE);
  g_assert_cmpstr (logged, ==, "device \\x1b[2J\\u2028");
  g_clear_pointer (&logged, g_free);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/printable/cases", test_cases);
  g_test_add_func ("/printable/lines", test_lines);
  g_test_add_func ("/printable/random", test_random);
  g_test_add_func ("/printable/errors", test_errors);
  g_test_add_func ("/printable/log", test_log);
  return g_test_run ();
}
