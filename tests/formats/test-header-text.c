/* Numbers, times and lines of text headers; rates computed from times.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "formats/headertext.h"
#include "formats/rate.h"

#include <math.h>
#include <string.h>

static void
test_lines (void)
{
  guint8 bytes[] = "one\r\n\ntwo\nlast", with_0[] = "one\r\n\ntwo\nlast\0";
  g_autoptr (GError) error = NULL;
  NdText text;
  static const gchar *const lines[] = { "one", "", "two", "last" };

  nd_text_init (&text, "x", bytes, sizeof (bytes) - 1);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_assert_true (nd_text_next (&text, &error));
    g_assert_cmpstr (text.line, ==, lines[i]);
    g_assert_cmpuint (text.number, ==, i + 1);
  }
  g_assert_false (nd_text_next (&text, &error));
  g_assert_no_error (error);
  nd_text_init (&text, "x", with_0, sizeof (with_0) - 1);
  for (guint i = 0; i < 3; i++)
    g_assert_true (nd_text_next (&text, &error));
  g_assert_false (nd_text_next (&text, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "line 4"));
}

static void
test_numbers (void)
{
  gdouble d[3];
  guint64 n[3];
  gint64 i;

  g_assert_cmpint (nd_text_doubles (" 1 -2.5\t3e2 ", d, 3), ==, 3);
  g_assert_true (d[0] == 1 && d[1] == -2.5 && d[2] == 300);
  g_assert_cmpint (nd_text_doubles ("", d, 3), ==, 0);
  g_assert_cmpint (nd_text_doubles ("1 2 3 4", d, 3), ==, -1);
  g_assert_cmpint (nd_text_doubles ("1,5", d, 3), ==, -1);
  g_assert_cmpint (nd_text_doubles ("0x10", d, 3), ==, -1);
  g_assert_cmpint (nd_text_doubles ("-0x10", d, 3), ==, -1);
  g_assert_cmpint (nd_text_sizes ("820 616 21              ", n, 3), ==, 3);
  g_assert_true (n[0] == 820 && n[1] == 616 && n[2] == 21);
  g_assert_cmpint (nd_text_sizes ("1 0 2", n, 3), ==, -1);
  g_assert_cmpint (nd_text_sizes ("1 -3", n, 3), ==, -1);
  g_assert_cmpint (nd_text_sizes ("1.5", n, 3), ==, -1);
  g_assert_cmpint (nd_text_sizes ("99999999999999999999", n, 3), ==, -1);
  g_assert_true (nd_text_integer (" -12 ", &i) && i == -12);
  g_assert_true (nd_text_integer ("+3", &i) && i == 3);
  g_assert_false (nd_text_integer ("", &i));
  g_assert_false (nd_text_integer ("-", &i));
  g_assert_false (nd_text_integer ("1 2", &i));
  g_assert_false (nd_text_integer ("9223372036854775808", &i));
}

static void
test_times (void)
{
  static const struct
  {
    const gchar *text;
    gint exponent;
    gint64 time, unit;
  } cases[] = { { "0", 0, 0, 1000000000 }, { "000.1", 0, 100000000, 100000000 },
    { "232.542071", 0, 232542071000, 1000 },
    { "1700000000.123456789", 0, 1700000000123456789, 1 },
    { "1700000000.1234567894", 0, 1700000000123456789, 1 },
    { "-2.5", 0, -2500000000, 100000000 }, { "40.5", -3, 40500000, 100000 },
    { " 7 ", -6, 7000, 1000 }, { "1e-3", 0, 1000000, 1 },
    { "1.5E3", -3, 1500000000, 1 } };
  static const gchar *const wrong[] = { "", "x", ".", "1.2.3", "1 2", "nan",
    "inf", "1e", "99999999999999", "1e300", "-", "0x1" };
  gint64 time, unit;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_test_message ("%s", cases[i].text);
    g_assert_true (nd_text_time (cases[i].text, cases[i].exponent, &time,
        &unit));
    g_assert_cmpint (time, ==, cases[i].time);
    g_assert_cmpint (unit, ==, cases[i].unit);
  }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (nd_text_time (wrong[i], 0, &time, &unit));
}

/* Numbers are written as they were read. */
static void
test_written (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 10000; i++) {
    const gint64 time = (g_test_rand_int () * (gint64) g_test_rand_int ())
        / (4 << g_test_rand_int_range (0, 20));
    const gdouble number =
        ldexp (g_test_rand_double (), g_test_rand_int_range (-300, 300));
    gint64 again, unit;
    gdouble found;

    g_string_truncate (text, 0);
    nd_text_append_time (text, time, i % 7);
    g_assert_true (nd_text_time (text->str, 0, &again, &unit));
    g_assert_cmpint (again, ==, time);
    g_string_truncate (text, 0);
    nd_text_append_double (text, number);
    g_assert_cmpint (nd_text_doubles (text->str, &found, 1), ==, 1);
    g_assert_true (found == number);
  }
  g_string_truncate (text, 0);
  nd_text_append_time (text, 1500000000, 0);
  nd_text_append_time (text, 2, 0);
  nd_text_append_time (text, 2000000000, 0);
  nd_text_append_time (text, 2000000000, 6);
  g_assert_cmpstr (text->str, ==, "1.50.00000000222.000000");
}

static void
test_rates (void)
{
  static const gint rates[][2] = { { 25, 1 }, { 1, 1 }, { 1, 3 }, { 30, 1 },
    { 10, 1 }, { 100, 113 }, { 125, 2 }, { 50, 3 }, { 1000, 1 } };
  gint64 times[100];
  gint n, d;

  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    for (gint64 unit = 1; unit <= 10000; unit *= 100) {
      /* Truncated to microseconds, or to hundreds of microseconds. */
      for (guint i = 0; i < 100; i++)
        times[i] = nd_rate_time (rates[r][0], rates[r][1], i) / unit * unit;
      g_assert_true (nd_rate_from_times (times, 100, unit, &n, &d));
      g_assert_cmpint (n, ==, rates[r][0]);
      g_assert_cmpint (d, ==, rates[r][1]);
      times[50] += 2 * unit + 10;
      g_assert_false (nd_rate_from_times (times, 100, unit, &n, &d));
      g_assert_cmpint (n, ==, 0);
      g_assert_cmpint (d, ==, 1);
    }
  }
  /* Every time is found at its place. */
  for (guint i = 0; i < 100; i++)
    times[i] = nd_rate_time (30000, 1001, i) / 1000 * 1000;
  g_assert_true (nd_rate_from_times (times, 100, 1000, &n, &d));
  for (guint i = 0; i < 100; i++)
    g_assert_cmpint (ABS ((gint64) nd_rate_time (n, d, i) - times[i]), <=,
        1002);
  memset (times, 0, sizeof (times));
  g_assert_false (nd_rate_from_times (times, 100, 1000, &n, &d));
  g_assert_false (nd_rate_from_times (times, 1, 1000, &n, &d));
  g_assert_cmpuint (nd_rate_time (30000, 1001, 3), ==, 100100000);
  g_assert_cmpuint (nd_rate_time (0, 1, 3), ==, 3000000000);
  g_assert_cmpuint (nd_rate_time (1, G_MAXINT, 4), ==,
      4 * (guint64) G_MAXINT * 1000000000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/lines", test_lines);
  g_test_add_func ("/text/numbers", test_numbers);
  g_test_add_func ("/text/times", test_times);
  g_test_add_func ("/text/written", test_written);
  g_test_add_func ("/text/rates", test_rates);
  return g_test_run ();
}
