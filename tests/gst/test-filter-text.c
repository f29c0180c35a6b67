/* Filter text (filters/text.h) is read as gst_structure_from_string() reads it,
 * if a value without a type is marked as a string first.
 *
 * Copyright (C) 2026 the ndconv developers
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "core/error.h"
#include "filters/text.h"

#include <gst/check/gstcheck.h>
#include <string.h>

static const NdAxes axes_x = { 1, { ND_AXIS_X } };

/* Values, read as numbers. Integers with leading zeros and those that do not
 * fit their type are left out: GStreamer reads octal numbers and wraps. */
static const gchar *const numbers[] = { "1", "-2.5", "1:2", "1:2:3.5e-3",
  "\"1:2\"", "\"1\\:2\"", "\"\\061:2\"", "(string)1:2", "(string)\"1:2\"",
  "(s)7", "(str)7", " 3 ", "<1>", "<1,2,3>", "{1,2,3}", "< 1 , 2 >", "{ 1 }",
  "<1,>", "< 1 , >", "<>", "{}", "<1,-2.5,1e3,.5,5.,+4>", "<1/4,-1/4,1/-4,3/1>",
  "(int)3", "(i)3", "( int ) 3", "(uint)3", "(float)1.1", "(f)1.1",
  "(double)1.1", "(d)1", "(gdouble)1.1", "(fraction)1/4", "(fraction)3",
  "(gint64)5", "(guint64)5", "(int)<1,2>", "(float)<1.1,2>", "(double){1,2.2}",
  "(string)<1,2.5>", "<(int)1,(float)-2.5,(fraction)1/8>", "<0x10>",
  "(int)0x10",
  /* refused */
  "", "\"", "\"1", "<1", "<1,", "{1>", "<1,,2>", "<,>", "<1 2>", "<1:2>", "1 2",
  "1,2", "<<1>,<2>>", "<{1}>", "[1,2]", "(int)1.5", "(int)", "(int",
  "(int)\"3\"", "(foo)1", "()1", "(uint)1.5", "(boolean)true", "<true>",
  "<one>", "(int)<1,2.5>", "(fraction)1/0", "(fraction)1.5", "<1/0>", "<1/2/3>",
  "1/4", "one", "1>", "\"\\400\"", "\"\\09\"", "(string)", "(float)x", "<1;2>",
  "a\"b\"" };

/* Values of location: strings. */
static const gchar *const strings[] = { "/no/a.npy", "\"/no/a b.npy\"",
  "\"/no/a\\\"b\\\\c\"", "\"/no/\\303\\244\"", "(string)/no/x", "\"/no/a;b\"",
  "\"/no/a,b=c\"", "\"/no/<1>\"", "  /no/x  ", "\"/no/\xc3\xa4\"",
  /* refused */
  "/no/a b", "/no/\xc3\xa4", "\"/no/a", "/no/a\\ b", "a(b", "" };

/* Whole filters, each with the same meaning as coefficients,size=1,values=5,
 * or refused. */
static const gchar *const filters[] = { "coefficients,size=1,values=5",
  "coefficients , size = 1 , values = 5", "coefficients,\\ size=1,values=5",
  "\n coefficients,\n\tsize=1,\n values=5 ;", "coefficients,size=1,values=5;",
  "coefficients,size=1,values=5,", "coefficients,size=1,values=5 , ",
  /* refused */
  "coefficients,,size=1,values=5,,", "coefficients,,size=1,values=5",
  "coefficients size=1,values=5", "coefficients,size=1 values=5",
  "coefficients,size 1,values=5", "coefficients,=1,values=5",
  "\"coefficients\",size=1,values=5", "coefficients,\"size\"=1,values=5",
  "1coefficients,size=1,values=5", "coefficients\\;,size=1,values=5",
  "coefficients,size=1,size=1,values=5", "(string)coefficients",
  "coefficients,size==1,values=5", ",size=1" };

/* @filter with "(string)" before each value that has no type and is no list. */
static gchar *
mark_strings (const gchar *filter, gint *n_values)
{
  GString *marked = g_string_new (NULL);
  gboolean quoted = FALSE;

  *n_values = 0;
  for (const gchar *at = filter; *at; at++) {
    g_string_append_c (marked, *at);
    if (*at == '\\' && at[1]) {
      g_string_append_c (marked, *++at);
    } else if (*at == '"') {
      quoted = !quoted;
    } else if (*at == '=' && !quoted) {
      (*n_values)++;
      while (g_ascii_isspace (at[1]))
        at++;
      if (!at[1] || !strchr ("(<{[", at[1]))
        g_string_append (marked, "(string)");
    }
  }
  return g_strstrip (g_string_free (marked, FALSE));
}

/* NULL if GStreamer cannot read @filter, or finds fewer values than it has. */
static GstStructure *
read_structure (const gchar *filter)
{
  gint n_values;
  g_autofree gchar *marked = mark_strings (filter, &n_values);
  GstStructure *structure = NULL;

  if (g_ascii_isalpha (*marked))
    structure = gst_structure_from_string (marked, NULL);
  if (structure && gst_structure_n_fields (structure) != n_values)
    g_clear_pointer (&structure, gst_structure_free);
  return structure;
}

static gboolean
append_number (const GValue *value, GArray *array)
{
  GValue transformed = G_VALUE_INIT;
  gdouble number;

  if (G_VALUE_HOLDS_STRING (value)) {
    gchar *end;

    number = g_ascii_strtod (g_value_get_string (value), &end);
    if (end == g_value_get_string (value) || *end)
      return FALSE;
  } else if (G_VALUE_HOLDS_BOOLEAN (value) || GST_VALUE_HOLDS_FLAG_SET (value)
      || GST_VALUE_HOLDS_INT_RANGE (value)
      || !g_value_type_transformable (G_VALUE_TYPE (value), G_TYPE_DOUBLE)) {
    return FALSE;
  } else {
    g_value_init (&transformed, G_TYPE_DOUBLE);
    g_value_transform (value, &transformed);
    number = g_value_get_double (&transformed);
  }
  g_array_append_val (array, number);
  return TRUE;
}

static gboolean
append_string (const gchar *text, GArray *array)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);

  for (guint i = 0; parts[i]; i++) {
    GValue value = G_VALUE_INIT;
    gboolean ok;

    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, parts[i]);
    ok = append_number (&value, array);
    g_value_unset (&value);
    if (!ok)
      return FALSE;
  }
  return parts[0] != NULL;
}

/* The numbers of the field values; NULL if it has anything else, or nothing. */
static GArray *
get_numbers (const GstStructure *structure)
{
  const GValue *value = gst_structure_get_value (structure, "values");
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gboolean ok = TRUE;

  if (G_VALUE_HOLDS_STRING (value)) {
    ok = append_string (g_value_get_string (value), array);
  } else if (GST_VALUE_HOLDS_ARRAY (value)) {
    for (guint i = 0; i < gst_value_array_get_size (value) && ok; i++)
      ok = append_number (gst_value_array_get_value (value, i), array);
  } else if (GST_VALUE_HOLDS_LIST (value)) {
    for (guint i = 0; i < gst_value_list_get_size (value) && ok; i++)
      ok = append_number (gst_value_list_get_value (value, i), array);
  } else {
    ok = append_number (value, array);
  }
  return ok && array->len > 0 ? g_steal_pointer (&array) : NULL;
}

GST_START_TEST (test_numbers)
{
  g_autofree gchar *probe =
      g_strdup_printf ("coefficients,size=1,values=%s", numbers[__i__]);
  g_autoptr (GstStructure) structure = read_structure (probe);
  g_autoptr (GArray) expected = structure ? get_numbers (structure) : NULL;
  g_autofree gchar *text = g_strdup_printf ("coefficients,size=%u,values=%s",
      expected ? expected->len : 1, numbers[__i__]);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdBank) bank =
      nd_bank_from_text (text, &axes_x, NULL, FALSE, FALSE, NULL, &error);

  GST_INFO ("%s: %s", text, error ? error->message : "read");
  fail_unless ((bank != NULL) == (expected != NULL), "%s: GStreamer %s it, %s",
      text, expected ? "reads" : "refuses", error ? error->message : "we not");
  for (guint i = 0; bank && i < expected->len; i++)
    assert_equals_float (bank->filters[0]->coefficients[i],
        g_array_index (expected, gdouble, i));
}

GST_END_TEST;

/* No such file exists; the message has its name. */
GST_START_TEST (test_strings)
{
  g_autofree gchar *text = g_strdup_printf ("file,location=%s", strings[__i__]);
  g_autoptr (GstStructure) structure = read_structure (text);
  g_autoptr (GError) error = NULL;

  fail_unless (!nd_bank_from_text (text, &axes_x, NULL, FALSE, FALSE, NULL,
      &error));
  GST_INFO ("%s: %s", text, error->message);
  if (structure) {
    g_autofree gchar *named = g_strdup_printf ("\"%s\" cannot be opened",
        gst_structure_get_string (structure, "location"));

    fail_unless (strstr (error->message, named), "%s: %s", text,
        error->message);
  } else {
    fail_unless (strstr (error->message, "cannot be read"), "%s: %s", text,
        error->message);
  }
}

GST_END_TEST;

GST_START_TEST (test_filters)
{
  g_autofree gchar *without_end = g_strdup (filters[__i__]);
  g_autoptr (GstStructure) structure = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdBank) bank = nd_bank_from_text (filters[__i__], &axes_x, NULL,
      FALSE, FALSE, NULL, &error);

  if (g_str_has_suffix (without_end, ";"))
    without_end[strlen (without_end) - 1] = '\0';
  structure = read_structure (without_end);
  GST_INFO ("%s: %s", filters[__i__], error ? error->message : "read");
  fail_unless ((bank != NULL) == (structure != NULL), "%s: %s", filters[__i__],
      error ? error->message : "GStreamer refuses it");
  if (bank)
    assert_equals_float (bank->filters[0]->coefficients[0], 5);
}

GST_END_TEST;

static Suite *
filter_text_suite (void)
{
  Suite *suite = suite_create ("filter-text");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_numbers, 0, G_N_ELEMENTS (numbers));
  tcase_add_loop_test (tests, test_strings, 0, G_N_ELEMENTS (strings));
  tcase_add_loop_test (tests, test_filters, 0, G_N_ELEMENTS (filters));
  return suite;
}

GST_CHECK_MAIN (filter_text);
