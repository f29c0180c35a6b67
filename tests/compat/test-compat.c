/* A program that was written for an earlier version relies on the names, types
 * and defaults of that version. Each of them still holds. Each release adds its
 * table.
 *
 *   test-compat TABLE    compares the plugin with a table
 *   test-compat          prints the table of the plugin
 *
 * Each line of a table begins with a kind, an owner and a name; the facts that
 * follow depend on the kind. Columns are separated by tabs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <gst/gst.h>
#include <string.h>

/* Version 0.9 and earlier had one plugin. */
static const gchar *const plugins[] = { "ndconv", "ndfile", "ndview",
  "openigtlink" };

#define KEY_COLUMNS 3

static GPtrArray *lines;

G_GNUC_PRINTF (1, 2)
static void
add (const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (lines, g_strdup_vprintf (format, args));
  va_end (args);
}

static void
get_range (GParamSpec *pspec, gdouble *min, gdouble *max)
{
  *min = *max = 0;
  if (G_IS_PARAM_SPEC_INT (pspec)) {
    *min = G_PARAM_SPEC_INT (pspec)->minimum;
    *max = G_PARAM_SPEC_INT (pspec)->maximum;
  } else if (G_IS_PARAM_SPEC_UINT (pspec)) {
    *min = G_PARAM_SPEC_UINT (pspec)->minimum;
    *max = G_PARAM_SPEC_UINT (pspec)->maximum;
  } else if (G_IS_PARAM_SPEC_INT64 (pspec)) {
    *min = G_PARAM_SPEC_INT64 (pspec)->minimum;
    *max = G_PARAM_SPEC_INT64 (pspec)->maximum;
  } else if (G_IS_PARAM_SPEC_UINT64 (pspec)) {
    *min = G_PARAM_SPEC_UINT64 (pspec)->minimum;
    *max = G_PARAM_SPEC_UINT64 (pspec)->maximum;
  } else if (G_IS_PARAM_SPEC_DOUBLE (pspec)) {
    *min = G_PARAM_SPEC_DOUBLE (pspec)->minimum;
    *max = G_PARAM_SPEC_DOUBLE (pspec)->maximum;
  }
}

/* The highest state in which the property may be set. */
static GstState
mutable_until (const GParamSpec *pspec)
{
  if (pspec->flags & GST_PARAM_MUTABLE_PLAYING)
    return GST_STATE_PLAYING;
  if (pspec->flags & GST_PARAM_MUTABLE_PAUSED)
    return GST_STATE_PAUSED;
  return pspec->flags & GST_PARAM_MUTABLE_READY ? GST_STATE_READY
                                                : GST_STATE_NULL;
}

static void
add_fields (GstElement *element, GParamSpec *pspec)
{
  const gchar *owner = GST_OBJECT_NAME (gst_element_get_factory (element));
  g_autoptr (GstStructure) structure = NULL;

  g_object_get (element, pspec->name, &structure, NULL);
  for (gint i = 0; structure && i < gst_structure_n_fields (structure); i++) {
    const gchar *name = gst_structure_nth_field_name (structure, i);

    add ("field\t%s\t%s.%s\t%s", owner, pspec->name, name,
        g_type_name (gst_structure_get_field_type (structure, name)));
  }
}

static void
add_property (GstElement *element, GParamSpec *pspec)
{
  const gchar *owner = GST_OBJECT_NAME (gst_element_get_factory (element));
  const GValue *value = g_param_spec_get_default_value (pspec);
  g_autofree gchar *text =
      G_VALUE_HOLDS_BOXED (value) ? NULL : gst_value_serialize (value);
  gdouble min, max;

  get_range (pspec, &min, &max);
  add ("property\t%s\t%s\t%s\t%s%s\t%d\t%s\t%.17g\t%.17g", owner, pspec->name,
      g_type_name (pspec->value_type),
      pspec->flags & G_PARAM_READABLE ? "r" : "",
      pspec->flags & G_PARAM_WRITABLE ? "w" : "", mutable_until (pspec),
      text ? text : "NULL", min, max);
  if (G_IS_PARAM_SPEC_ENUM (pspec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;

    for (guint i = 0; i < klass->n_values; i++)
      add ("value\t%s\t%s=%s\t%d", owner, pspec->name,
          klass->values[i].value_nick, klass->values[i].value);
  }
  if (pspec->value_type == GST_TYPE_STRUCTURE)
    add_fields (element, pspec);
}

static void
add_element (GstElementFactory *factory)
{
  const gchar *name = GST_OBJECT_NAME (factory);
  g_autoptr (GstElement) element =
      gst_object_ref_sink (gst_element_factory_create (factory, NULL));
  g_autofree GParamSpec **specs = NULL;
  guint n;

  add ("element\t%s\t%s", name, G_OBJECT_TYPE_NAME (element));
  for (const GList *l = gst_element_factory_get_static_pad_templates (factory);
       l; l = l->next) {
    GstStaticPadTemplate *pad = l->data;
    g_autoptr (GstCaps) caps = gst_static_pad_template_get_caps (pad);
    g_autofree gchar *text = gst_caps_to_string (caps);

    add ("pad\t%s\t%s\t%d\t%d\t%s", name, pad->name_template, pad->direction,
        pad->presence, text);
  }
  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type != GST_TYPE_OBJECT)
      add_property (element, specs[i]);
  }
  if (GST_IS_PRESET (element)) {
    g_auto (GStrv) presets = gst_preset_get_preset_names (GST_PRESET (element));

    for (guint i = 0; presets && presets[i]; i++)
      add ("preset\t%s\t%s", name, presets[i]);
  }
}

static void
add_type_finder (GstTypeFindFactory *factory)
{
  const gchar *const *extensions =
      gst_type_find_factory_get_extensions (factory);
  g_autofree gchar *caps =
      gst_caps_to_string (gst_type_find_factory_get_caps (factory));

  for (; extensions && *extensions; extensions++)
    add ("extension\t%s\t%s\t%s", GST_OBJECT_NAME (factory), *extensions, caps);
}

static void
describe_plugin (const gchar *name)
{
  GList *features =
      gst_registry_get_feature_list_by_plugin (gst_registry_get (), name);

  for (GList *l = features; l; l = l->next) {
    g_autoptr (GstPluginFeature) feature =
        gst_plugin_feature_load (GST_PLUGIN_FEATURE (l->data));

    g_assert_nonnull (feature);
    if (GST_IS_ELEMENT_FACTORY (feature))
      add_element (GST_ELEMENT_FACTORY (feature));
    else if (GST_IS_TYPE_FIND_FACTORY (feature))
      add_type_finder (GST_TYPE_FIND_FACTORY (feature));
  }
  gst_plugin_feature_list_free (features);
}

/* Type and default are the same; access, states and range may be wider. */
static gboolean
is_property_kept (gchar **then, gchar **now)
{
  for (const gchar *c = then[1]; *c; c++) {
    if (!strchr (now[1], *c))
      return FALSE;
  }
  return g_str_equal (then[0], now[0])
      && g_ascii_strtoll (now[2], NULL, 10)
      >= g_ascii_strtoll (then[2], NULL, 10)
      && g_str_equal (then[3], now[3])
      && g_ascii_strtod (now[4], NULL) <= g_ascii_strtod (then[4], NULL)
      && g_ascii_strtod (now[5], NULL) >= g_ascii_strtod (then[5], NULL);
}

/* One structure for each combination of values, because today's caps may divide
 * the values among structures in another way. */
static gboolean
is_pad_kept (gchar **then, gchar **now)
{
  g_autoptr (GstCaps) caps_then =
      gst_caps_normalize (gst_caps_from_string (then[2]));
  g_autoptr (GstCaps) caps_now = gst_caps_from_string (now[2]);

  return g_str_equal (then[0], now[0]) && g_str_equal (then[1], now[1])
      && gst_caps_is_subset (caps_then, caps_now);
}

static gboolean
is_kept (const gchar *kind, gchar **then, gchar **now)
{
  if (g_str_equal (kind, "property"))
    return is_property_kept (then, now);
  if (g_str_equal (kind, "pad"))
    return is_pad_kept (then, now);
  return g_strv_equal ((const gchar *const *) then, (const gchar *const *) now);
}

static gboolean
have_same_key (gchar **a, gchar **b)
{
  for (guint i = 0; i < KEY_COLUMNS; i++) {
    if (g_strcmp0 (a[i], b[i]) != 0)
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_line (const gchar *line)
{
  g_auto (GStrv) then = g_strsplit (line, "\t", -1);

  g_assert_cmpuint (g_strv_length (then), >=, KEY_COLUMNS);
  for (guint i = 0; i < lines->len; i++) {
    g_auto (GStrv) now = g_strsplit (lines->pdata[i], "\t", -1);

    if (!have_same_key (then, now))
      continue;
    if (is_kept (then[0], then + KEY_COLUMNS, now + KEY_COLUMNS))
      return TRUE;
    g_printerr ("then: %s\nnow:  %s\n", line, (gchar *) lines->pdata[i]);
    return FALSE;
  }
  g_printerr ("missing: %s\n", line);
  return FALSE;
}

static gint
check_table (const gchar *path)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) table = NULL;
  guint checked = 0, failed = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  table = g_strsplit (text, "\n", -1);
  for (guint i = 0; table[i]; i++) {
    if (*table[i] == '\0' || *table[i] == '#')
      continue;
    checked++;
    failed += !check_line (table[i]);
  }
  g_print ("%u of %u lines hold\n", checked - failed, checked);
  return checked == 0 || failed > 0 ? 1 : 0;
}

int
main (int argc, char **argv)
{
  gint result = 0;

  gst_init (&argc, &argv);
  lines = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++)
    describe_plugin (plugins[i]);
  if (argc > 1)
    result = check_table (argv[1]);
  else {
    for (guint i = 0; i < lines->len; i++)
      g_print ("%s\n", (gchar *) lines->pdata[i]);
  }
  g_ptr_array_unref (lines);
  return result;
}
