/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/metrics.h"

#include "core/json.h"

#include <gst/base/gstbasesink.h>
#include <math.h>

/* The property stats of an element, or NULL. That of every sink has the counts
 * of its own end of the pipeline only. */
static GstStructure *
get_stats (GstElement *element)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");
  GstStructure *stats = NULL;

  if (pspec && pspec->value_type == GST_TYPE_STRUCTURE
      && pspec->owner_type != GST_TYPE_BASE_SINK
      && pspec->flags & G_PARAM_READABLE)
    g_object_get (element, "stats", &stats, NULL);
  return stats;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (GST_OBJECT_NAME (*(GstElement *const *) a),
      GST_OBJECT_NAME (*(GstElement *const *) b));
}

/* The elements of @pipeline by their names, also those in bins. */
static GPtrArray *
list_elements (GstBin *pipeline)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstIterator *iterator = gst_bin_iterate_recurse (pipeline);
  GValue item = G_VALUE_INIT;
  GstIteratorResult result;

  while ((result = gst_iterator_next (iterator, &item)) != GST_ITERATOR_DONE
      && result != GST_ITERATOR_ERROR) {
    if (result == GST_ITERATOR_RESYNC) {
      gst_iterator_resync (iterator);
      g_ptr_array_set_size (elements, 0);
      continue;
    }
    g_ptr_array_add (elements, g_value_dup_object (&item));
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (iterator);
  g_ptr_array_sort (elements, compare_names);
  return elements;
}

/* Whether a field is a number, and which. */
static gboolean
read_number (const GValue *field, gdouble *number)
{
  GValue value = G_VALUE_INIT;

  if (G_VALUE_HOLDS_STRING (field)
      || !g_value_type_transformable (G_VALUE_TYPE (field), G_TYPE_DOUBLE))
    return FALSE;
  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_transform (field, &value);
  *number = g_value_get_double (&value);
  g_value_unset (&value);
  return TRUE;
}

static gboolean
field_to_json (GQuark id, const GValue *field, gpointer data)
{
  GString *json = data;
  gdouble number;

  if (read_number (field, &number)) {
    nd_json_name (json, g_quark_to_string (id));
    nd_json_number (json, number);
  } else if (G_VALUE_HOLDS_STRING (field)) {
    nd_json_name (json, g_quark_to_string (id));
    nd_json_text (json, g_value_get_string (field));
  }
  return TRUE;
}

void
web_stats_json (GstBin *pipeline, GString *json)
{
  g_autoptr (GPtrArray) elements = list_elements (pipeline);

  g_string_append_c (json, '{');
  for (guint i = 0; i < elements->len; i++) {
    g_autoptr (GstStructure) stats = get_stats (elements->pdata[i]);

    if (!stats)
      continue;
    nd_json_name (json, GST_OBJECT_NAME (elements->pdata[i]));
    g_string_append_c (json, '{');
    gst_structure_foreach (stats, field_to_json, json);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, '}');
}

static void
append_number (GString *text, gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value))
    g_string_append (text, "NaN");
  else if (isinf (value))
    g_string_append (text, value > 0 ? "+Inf" : "-Inf");
  else
    g_string_append (text, g_ascii_dtostr (digits, sizeof (digits), value));
}

/* name="value", with the characters escaped that the format does not allow */
static void
append_label (GString *text, const gchar *name, const gchar *value)
{
  g_autofree gchar *valid = g_utf8_make_valid (value, -1);

  g_string_append_printf (text, "%s=\"", name);
  for (const gchar *p = valid; *p; p++) {
    if (*p == '\n')
      g_string_append (text, "\\n");
    else if (*p == '"' || *p == '\\')
      g_string_append_printf (text, "\\%c", *p);
    else
      g_string_append_c (text, *p);
  }
  g_string_append_c (text, '"');
}

/* The lines of each metric, which must not be mixed with those of others. */
typedef struct
{
  GTree *lines; /* name to GString */
  const gchar *element;
  GString *plan; /* labels */
} Families;

static gchar *
metric_name (const gchar *field, gboolean count)
{
  GString *name = g_string_new ("ndconv_");

  for (const gchar *p = field; *p; p++)
    g_string_append_c (name, g_ascii_isalnum (*p) ? *p : '_');
  if (count)
    g_string_append (name, "_total");
  return g_string_free (name, FALSE);
}

static gboolean
field_to_metric (GQuark id, const GValue *field, gpointer data)
{
  Families *families = data;
  const gchar *name = g_quark_to_string (id);
  const gboolean count =
      G_VALUE_HOLDS_UINT64 (field) && g_strcmp0 (name, "bytes") != 0;
  g_autofree gchar *metric = NULL;
  GString *lines;
  gdouble number;

  if (!read_number (field, &number)) {
    if (G_VALUE_HOLDS_STRING (field) && g_value_get_string (field)) {
      g_autofree gchar *label = metric_name (name, FALSE);

      g_string_append_c (families->plan, ',');
      append_label (families->plan, label + strlen ("ndconv_"),
          g_value_get_string (field));
    }
    return TRUE;
  }
  metric = metric_name (name, count);
  lines = g_tree_lookup (families->lines, metric);
  if (!lines) {
    lines = g_string_new (NULL);
    g_string_append_printf (lines, "# HELP %s The field %s of stats\n", metric,
        name);
    g_string_append_printf (lines, "# TYPE %s %s\n", metric,
        count ? "counter" : "gauge");
    g_tree_insert (families->lines, g_strdup (metric), lines);
  }
  g_string_append_printf (lines, "%s{", metric);
  append_label (lines, "element", families->element);
  g_string_append (lines, "} ");
  append_number (lines, number);
  g_string_append_c (lines, '\n');
  return TRUE;
}

static gboolean
append_family (gpointer name, gpointer lines, gpointer text)
{
  g_string_append (text, ((GString *) lines)->str);
  return FALSE;
}

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (a, b);
}

static void
free_string (gpointer string)
{
  g_string_free (string, TRUE);
}

void
web_stats_metrics (GstBin *pipeline, GString *text)
{
  g_autoptr (GPtrArray) elements = list_elements (pipeline);
  g_autoptr (GString) plans = g_string_new (NULL);
  Families families = {
    .lines = g_tree_new_full (compare_keys, NULL, g_free, free_string),
  };

  for (guint i = 0; i < elements->len; i++) {
    g_autoptr (GstStructure) stats = get_stats (elements->pdata[i]);

    if (!stats)
      continue;
    families.element = GST_OBJECT_NAME (elements->pdata[i]);
    families.plan = g_string_new (NULL);
    gst_structure_foreach (stats, field_to_metric, &families);
    if (families.plan->len > 0) {
      g_string_append (plans, "ndconv_plan_info{");
      append_label (plans, "element", families.element);
      g_string_append_printf (plans, "%s} 1\n", families.plan->str);
    }
    g_string_free (families.plan, TRUE);
  }
  g_tree_foreach (families.lines, append_family, text);
  g_tree_unref (families.lines);
  if (plans->len > 0)
    g_string_append_printf (text,
        "# HELP ndconv_plan_info Back end, method and reason\n"
        "# TYPE ndconv_plan_info gauge\n%s",
        plans->str);
}

void
web_metric (GString *text, const gchar *name, const gchar *type,
    const gchar *help, gdouble value)
{
  g_string_append_printf (text, "# HELP %s %s\n# TYPE %s %s\n%s ", name, help,
      name, type, name);
  append_number (text, value);
  g_string_append_c (text, '\n');
}
