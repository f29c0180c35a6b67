/* Rows of settings: defaults, texts, copies, and what is said about them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/schema.h"

#include <string.h>

typedef enum
{
  RED = 0,
  BLUE = 7
} Color;

typedef struct
{
  gboolean on;
  Color color;
  gint shift;
  guint count;
  gint64 bytes;
  gdouble gain;
  gchar *name;
  NdFraction rate;
} Settings;

static ND_DEFINE_ENUM (colors, "Color", { BLUE, "As the sky", "blue" },
    { RED, "As \"blood\"", "red" });

static const NdSetting rows[] = {
  { "on", "On", "Whether it is on", ND_FIELD_BOOLEAN (Settings, on, TRUE) },
  { "color", "Colour", "Its colour",
      ND_FIELD_ENUM (Settings, color, Color, colors, BLUE), ND_READY },
  { "shift", "Shift", "Its shift", ND_FIELD_INT (Settings, shift, -2, 5, -1) },
  { "count", "Count", "Their number",
      ND_FIELD_UINT (Settings, count, 1, G_MAXUINT, 3) },
  { "bytes", "Bytes", "Memory",
      ND_FIELD_INT64 (Settings, bytes, 0, G_MAXINT64, 1), ND_PLAYING, "bytes" },
  { "gain", "Gain", "Factor", ND_FIELD_DOUBLE (Settings, gain, 0, 2, 0.5) },
  { "name", "Name", "Its name", ND_FIELD_STRING (Settings, name, NULL) },
  { "rate", "Rate", "Per second", ND_FIELD_FRACTION (Settings, rate, 0, 25) },
};
#define N G_N_ELEMENTS (rows)

static const NdSetting *
find (const gchar *name)
{
  guint i = 0;

  while (strcmp (rows[i].name, name) != 0)
    i++;
  return &rows[i];
}

static void
test_texts (void)
{
  static const struct
  {
    const gchar *name, *right, *wrong, *part;
  } texts[] = {
    { "on", "false", "no", "true or false" },
    { "color", "red", "green", "one of blue, red" },
    { "shift", "5", "6", "from -2 to 5" },
    { "shift", "-2", "1.0", "an integer" },
    { "count", "4294967295", "4294967296", "from 1 to 4294967295" },
    { "bytes", "9223372036854775807", "-1", ", in bytes" },
    { "gain", "2", "2.001", "from 0 to 2" },
    { "gain", "1e-3", "nan", "finite" },
    { "gain", "0", "", "finite" },
    { "gain", "1", "1 ", "finite" },
  };
  Settings settings = { 0 }, before = { 0 };

  nd_settings_init (rows, N, &settings);
  nd_settings_init (rows, N, &before);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    const NdSetting *row = find (texts[i].name);
    g_autoptr (GError) error = NULL;

    g_assert_true (nd_setting_parse (row, texts[i].right, &settings, &error));
    g_assert_no_error (error);
    g_assert_false (nd_setting_is_equal (row, &settings, &before));
    nd_settings_assign (row, 1, &before, &settings);
    g_assert_false (nd_setting_parse (row, texts[i].wrong, &settings, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, texts[i].part));
    g_assert_true (nd_setting_is_equal (row, &settings, &before));
  }
  g_assert_cmpint (settings.color, ==, RED);
  g_assert_cmpuint (settings.count, ==, G_MAXUINT);
  g_assert_cmpint (settings.bytes, ==, G_MAXINT64);
}

static void
test_copies (void)
{
  Settings a = { 0 }, b = { 0 };

  nd_settings_init (rows, N, &a);
  nd_settings_init (rows, N, &b);
  g_assert_true (a.on);
  g_assert_cmpint (a.color, ==, BLUE);
  g_assert_cmpint (a.shift, ==, -1);
  g_assert_null (a.name);
  g_assert_cmpint (a.rate.n, ==, 25);
  g_assert_cmpint (a.rate.d, ==, 1);
  g_assert_true (nd_setting_parse (find ("name"), "ann", &a, NULL));
  a.rate.d = 2;
  for (guint i = 0; i < N; i++)
    g_assert_cmpint (nd_setting_is_equal (&rows[i], &a, &b), ==, i + 2 < N);
  nd_settings_assign (rows, N, &b, &a);
  g_assert_cmpstr (b.name, ==, "ann");
  g_assert_true (b.name != a.name);
  g_assert_cmpint (b.rate.d, ==, 2);
  nd_settings_clear (rows, N, &a);
  g_assert_null (a.name);
  nd_settings_init (rows, N, &b);
  g_assert_null (b.name);
}

static void
test_enum (void)
{
  gint number = 5;

  g_assert_cmpstr (nd_enum_name (&colors, 7), ==, "blue");
  g_assert_null (nd_enum_name (&colors, 1));
  g_assert_false (nd_enum_from_name (&colors, "re", &number));
  g_assert_cmpint (number, ==, 5);
  g_assert_true (nd_enum_from_name (&colors, "RED", &number));
  g_assert_cmpint (number, ==, 0);
}

static void
test_json (void)
{
  g_autoptr (GString) json = g_string_new ("[");

  nd_settings_describe (find ("color"), 1, json);
  nd_settings_describe (find ("bytes"), 1, json);
  nd_settings_describe (find ("name"), 1, json);
  g_assert_cmpstr (json->str, ==,
      "[{\"name\":\"color\",\"title\":\"Colour\",\"sentence\":\"Its colour\","
      "\"kind\":\"enum\",\"unit\":\"\",\"playing\":false,\"default\":\"blue\","
      "\"values\":[{\"name\":\"blue\",\"sentence\":\"As the sky\"},"
      "{\"name\":\"red\",\"sentence\":\"As \\\"blood\\\"\"}]},"
      "{\"name\":\"bytes\",\"title\":\"Bytes\",\"sentence\":\"Memory\","
      "\"kind\":\"integer\",\"unit\":\"bytes\",\"playing\":true,"
      "\"default\":1,\"low\":0,\"high\":9.2233720368547758e+18},"
      "{\"name\":\"name\",\"title\":\"Name\",\"sentence\":\"Its name\","
      "\"kind\":\"text\",\"unit\":\"\",\"playing\":true,\"default\":null}");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/schema/texts", test_texts);
  g_test_add_func ("/schema/copies", test_copies);
  g_test_add_func ("/schema/enum", test_enum);
  g_test_add_func ("/schema/json", test_json);
  return g_test_run ();
}
