/* gst-inspect-1.0 is the manual: every element and every property of the plugin
 * has to be described.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/gst.h>
#include <string.h>

static const gchar *const plugins[] = { "ndconv", "ndfile", "ndview",
  "openigtlink" };

static guint n_messages;

static void
count_message (const gchar *domain, GLogLevelFlags level, const gchar *text,
    gpointer unused)
{
  n_messages++;
  g_printerr ("%s: %s\n", domain, text);
}

static GList *
element_factories (void)
{
  GstRegistry *registry = gst_registry_get ();
  GList *elements = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    GList *features =
        gst_registry_get_feature_list_by_plugin (registry, plugins[i]);

    for (GList *l = features; l; l = l->next) {
      if (GST_IS_ELEMENT_FACTORY (l->data))
        elements = g_list_append (elements, gst_object_ref (l->data));
    }
    gst_plugin_feature_list_free (features);
  }
  g_assert_cmpuint (g_list_length (elements), >=, 14);
  return elements;
}

static void
check_metadata (GstElementFactory *factory, const gchar *key, gsize least)
{
  const gchar *text = gst_element_factory_get_metadata (factory, key);

  if (!text || strlen (text) < least)
    g_error ("%s: %s is \"%s\", which is too little to read",
        GST_OBJECT_NAME (factory), key, text ? text : "");
}

static void
test_elements (void)
{
  GList *features = element_factories ();

  for (GList *l = features; l; l = l->next) {
    GstElementFactory *factory = GST_ELEMENT_FACTORY (l->data);

    check_metadata (factory, GST_ELEMENT_METADATA_LONGNAME, 8);
    check_metadata (factory, GST_ELEMENT_METADATA_KLASS, 4);
    check_metadata (factory, GST_ELEMENT_METADATA_DESCRIPTION, 40);
    check_metadata (factory, GST_ELEMENT_METADATA_AUTHOR, 4);
    /* gst-inspect-1.0 prints any key. "example" is a command line to copy. */
    check_metadata (factory, "example", 30);
    if (!strstr (gst_element_factory_get_metadata (factory, "example"),
            GST_OBJECT_NAME (factory)))
      g_error ("%s: its example does not use it", GST_OBJECT_NAME (factory));
  }
  gst_plugin_feature_list_free (features);
}

/* Whether the class of the element, or an abstract class of this plugin,
 * installed @pspec. Properties of GStreamer's base classes are not checked. */
static gboolean
is_ours (const GParamSpec *pspec)
{
  const gchar *owner = g_type_name (pspec->owner_type);

  return g_str_has_prefix (owner, "GstNd")
      || g_str_has_prefix (owner, "GstOpenIGTLink");
}

/* Applications store the numbers of enums, so a number that was released never
 * gets another meaning. Add new enums and values here. */
static const struct
{
  const gchar *type;
  const gchar *nicks; /* in the order of their numbers, from 0 */
} enum_numbers[] = {
  { "GstNdAccuracy", "single fast" },
  { "GstNdAxes", "auto xyz xyt" },
  { "GstNdBackend", "auto cpu cuda" },
  { "GstNdBeams", "auto linear phased curvilinear matrix wobbler" },
  { "GstNdBmodeOutput", "bmode envelope iq" },
  { "GstNdBorder", "constant nearest reflect mirror wrap" },
  { "GstNdComputeLatency", "auto never always" },
  { "GstNdDenoiseAxes", "space-time space" },
  { "GstNdDenoiseMethod", "transform adaptive" },
  { "GstNdDenoiseQuality", "fast best" },
  { "GstNdGap", "leave-out hold restart" },
  { "GstNdIgtlMode", "client server" },
  { "GstNdInterpolation", "linear cubic" },
  { "GstNdMethod", "direct separable fft tensor reference auto" },
  { "GstNdMotion", "constant affine" },
  { "GstNdNoise", "additive speckle poisson rician correlated" },
  { "GstNdOutputType",
      "uint8 int16 uint16 float32 same int8 int32 uint32 float16 "
      "float64" },
  { "GstNdPlanes", "all luma" },
  { "GstNdPrecision", "single double" },
  { "GstNdRankOperation",
      "median percentile minimum maximum erode dilate open close tophat "
      "blackhat gradient" },
  { "GstNdRegisterMask", "none nonzero" },
  { "GstNdRegisterMethod", "auto phase intensity" },
  { "GstNdRegisterModel", "translation rigid affine" },
  { "GstNdRegisterOutput", "volume none" },
  { "GstNdResponse",
      "all magnitude phase real imaginary energy max argmax sum "
      "tensor" },
  { "GstNdSampleType",
      "uint8 int16 uint16 float32 - int8 int32 uint32 float16 float64" },
  { "GstNdScanConvertAxis", "x y z" },
  { "GstNdStamp", "anchor content" },
  { "GstNdTestSrcPattern",
      "heart noise ramp impulse constant vessels "
      "heart-velocity beams rf iq" },
  { "GstNdTruncated", "refuse keep" },
  { "GstNdUnits", "samples physical" },
  { "GstNdViewAxis", "x y z" },
  { "GstNdViewColormap", "gray hot bone viridis signed hue" },
  { "GstNdViewContent", "slice orthogonal projection mosaic volume surface" },
  { "GstNdViewMode",
      "slice orthogonal projection mosaic volume surface mmode "
      "compare overlay" },
  { "GstNdViewProjection", "max mean min" },
  { "GstOpenIGTLinkSrcPolicy", "newest every" },
  { "GstOpenIGTLinkSrcTimestamps", "sender arrival" },
};

static void
check_enum (const gchar *element, GParamSpec *pspec)
{
  const GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;
  const gchar *type = g_type_name (pspec->value_type);
  gboolean known = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (enum_numbers); i++)
    known |= g_str_equal (enum_numbers[i].type, type);
  if (!known)
    g_error ("%s: the numbers of %s are not in this test", element, type);

  for (guint i = 0; i < klass->n_values; i++) {
    if (strlen (klass->values[i].value_name) < 5
        || g_str_equal (klass->values[i].value_name,
            klass->values[i].value_nick))
      g_error ("%s: %s=%s is not explained", element, pspec->name,
          klass->values[i].value_nick);
  }
}

/* "mm. 0: none" has two. */
static guint
count_sentences (const gchar *text)
{
  guint n = 1;

  while ((text = strstr (text, ". ")))
    n += !g_ascii_islower (*(text += 2));
  return n;
}

static void
test_properties (void)
{
  GList *features = element_factories ();
  guint n_checked = 0;

  for (GList *l = features; l; l = l->next) {
    const gchar *name = GST_OBJECT_NAME (l->data);
    g_autoptr (GstElement) element = gst_object_ref_sink (
        gst_element_factory_create (GST_ELEMENT_FACTORY (l->data), NULL));
    g_autofree GParamSpec **pspecs = NULL;
    guint n;

    pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    for (guint i = 0; i < n; i++) {
      const gchar *blurb = g_param_spec_get_blurb (pspecs[i]);

      if (!is_ours (pspecs[i]))
        continue;
      n_checked++;
      if (!blurb || strlen (blurb) < 12
          || g_str_equal (blurb, g_param_spec_get_nick (pspecs[i])))
        g_error ("%s: the property %s is not explained", name, pspecs[i]->name);
      if (count_sentences (blurb) > 2)
        g_error ("%s: the blurb of %s has more than two sentences; a page has "
                 "room for more",
            name, pspecs[i]->name);
      if (!(pspecs[i]->flags & G_PARAM_WRITABLE))
        continue;
      if (!(pspecs[i]->flags
              & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED
                  | GST_PARAM_MUTABLE_PLAYING)))
        g_error ("%s: when may the property %s change?", name, pspecs[i]->name);
      if (G_IS_PARAM_SPEC_ENUM (pspecs[i]))
        check_enum (name, pspecs[i]);
    }
  }
  gst_plugin_feature_list_free (features);
  g_assert_cmpuint (n_checked, >=, 50);
}

static void
test_enum_numbers (void)
{
  GList *features = element_factories ();

  /* The classes register their enums. */
  for (GList *l = features; l; l = l->next)
    gst_object_unref (gst_object_ref_sink (
        gst_element_factory_create (GST_ELEMENT_FACTORY (l->data), NULL)));
  for (guint i = 0; i < G_N_ELEMENTS (enum_numbers); i++) {
    GEnumClass *klass =
        g_type_class_ref (g_type_from_name (enum_numbers[i].type));
    g_auto (GStrv) nicks = g_strsplit (enum_numbers[i].nicks, " ", -1);

    guint n = 0;

    g_assert_nonnull (klass);
    for (guint k = 0; nicks[k]; k++) {
      const GEnumValue *value = g_enum_get_value_by_nick (klass, nicks[k]);

      /* A number that belongs to another enum of the same kind. */
      if (g_str_equal (nicks[k], "-"))
        continue;
      n++;
      if (!value || value->value != (gint) k)
        g_error ("%s: %s must be %u", enum_numbers[i].type, nicks[k], k);
    }
    if (klass->n_values != n)
      g_error ("%s has a value that this test does not know",
          enum_numbers[i].type);
    g_type_class_unref (klass);
  }
  gst_plugin_feature_list_free (features);
}

/* Whether @text of README says the default of @pspec: the value of an enum, a
 * number, which may have the unit s, or in words that there is none. */
static gboolean
is_default (GParamSpec *pspec, const gchar *text)
{
  const GValue *value = g_param_spec_get_default_value (pspec);
  g_autofree gchar *ours = NULL;
  gchar *end;
  gdouble number;

  if (!(pspec->flags & G_PARAM_WRITABLE))
    return g_str_equal (text, "read-only");
  if (G_VALUE_HOLDS_BOXED (value)
      || (G_VALUE_HOLDS_STRING (value)
          && (!g_value_get_string (value) || !*g_value_get_string (value))))
    return g_str_equal (text, "none") || g_str_equal (text, "dense");
  if (G_VALUE_HOLDS_STRING (value))
    return g_str_equal (text, g_value_get_string (value));
  ours = gst_value_serialize (value);
  number = g_ascii_strtod (text, &end);
  if (end == text)
    return g_str_equal (text, ours);
  return number * (g_str_equal (end, " s") ? 1e9 : 1)
      == g_ascii_strtod (ours, NULL);
}

/* A row "| `border`, `border-value` | `nearest`, 0 | ..." of the table. */
static void
check_row (GstElement *element, gchar **cells)
{
  g_auto (GStrv) names = g_strsplit (g_strstrip (cells[1]), ", ", -1);
  g_auto (GStrv) defaults = g_strsplit (g_strstrip (cells[2]), ", ", -1);

  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *name = NULL;
    g_autofree gchar *text = NULL;
    GParamSpec *pspec;

    g_assert_cmpuint (g_strv_length (names), ==, g_strv_length (defaults));
    name = g_strdelimit (g_strdup (names[i]), "`", ' ');
    text = g_strdelimit (g_strdup (defaults[i]), "`", ' ');
    if (g_str_has_prefix (text, "\u2212")) { /* minus */
      text[0] = '-';
      memmove (text + 1, text + 3, strlen (text + 3) + 1);
    }
    pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element),
        g_strstrip (name));
    if (!pspec)
      g_error ("README.md: there is no property %s", name);
    if (!is_default (pspec, g_strstrip (text)))
      g_error ("README.md: %s is not the default of %s", text, name);
  }
}

/* The table of properties in README has all of them, with their defaults. */
static void
test_readme (gconstpointer path)
{
  const gchar *head = "| property | default | meaning |\n| --- | --- | --- |\n";
  g_autoptr (GstElement) element =
      gst_object_ref_sink (gst_element_factory_make ("ndconv3d", NULL));
  g_autofree gchar *text = NULL;
  g_autofree GParamSpec **pspecs = NULL;
  g_auto (GStrv) lines = NULL;
  gchar *table;
  guint n;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  table = strstr (text, head);
  g_assert_nonnull (table);
  table += strlen (head);
  *strstr (table, "\n\n") = '\0';
  pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("`%s`", pspecs[i]->name);

    if (is_ours (pspecs[i]) && !strstr (table, name))
      g_error ("README.md: the table of properties lacks %s", name);
  }
  lines = g_strsplit (table, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    g_auto (GStrv) cells = g_strsplit (lines[i], "|", -1);

    check_row (element, cells);
  }
}

static void
check_tool (const gchar *name)
{
  const gchar *argv[] = { "gst-inspect-1.0", name, NULL };
  g_autofree gchar *out = NULL;
  g_autofree gchar *err = NULL;
  g_autoptr (GError) error = NULL;
  gint status;

  g_assert_true (g_spawn_sync (NULL, (gchar **) argv, NULL, G_SPAWN_SEARCH_PATH,
      NULL, NULL, &out, &err, &status, &error));
  g_assert_cmpint (status, ==, 0);
  g_assert_cmpstr (err, ==, "");
  g_assert_nonnull (strstr (out, name));
  g_assert_null (strstr (out, "CRITICAL"));
  g_assert_null (strstr (out, "WARNING"));
  /* GStreamer's project did not publish this plugin. */
  g_assert_null (strstr (out, "freedesktop.org"));
}

/* The output of the tool for every plugin and every element. */
static void
test_tool (void)
{
  GList *features = element_factories ();

  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++)
    check_tool (plugins[i]);
  for (GList *l = features; l; l = l->next)
    check_tool (GST_OBJECT_NAME (l->data));
  gst_plugin_feature_list_free (features);
}

static void
test_silence (void)
{
  g_assert_cmpuint (n_messages, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_log_set_handler ("GStreamer", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL,
      count_message, NULL);
  g_test_add_func ("/manual/elements", test_elements);
  g_test_add_func ("/manual/properties", test_properties);
  g_test_add_data_func ("/manual/readme", argv[1], test_readme);
  g_test_add_func ("/manual/enum-numbers", test_enum_numbers);
  g_test_add_func ("/manual/tool", test_tool);
  g_test_add_func ("/manual/silence", test_silence);
  return g_test_run ();
}
