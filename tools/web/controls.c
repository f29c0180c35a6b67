/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tools/web/controls.h"

#include "core/error.h"
#include "core/json.h"
#include "core/shape.h"

#include <errno.h>
#include <gst/base/gstbasetransform.h>
#include <math.h>
#include <string.h>

#define MOST_PIXELS (2048 * 2048) /* that a page can ask for */

typedef enum
{
  KIND_NONE,
  KIND_BOOLEAN,
  KIND_INTEGER,
  KIND_NUMBER,
  KIND_ENUM,
  KIND_TEXT,
} Kind;

static const gchar *const kind_names[] = { "none", "boolean", "integer",
  "number", "enum", "text" };

static Kind
kind_of (GParamSpec *pspec)
{
  const GParamFlags both = G_PARAM_READABLE | G_PARAM_WRITABLE;

  if ((pspec->flags & both) != both || pspec->flags & G_PARAM_CONSTRUCT_ONLY
      || pspec->owner_type == GST_TYPE_OBJECT
      || pspec->owner_type == GST_TYPE_BASE_TRANSFORM
      || strstr (pspec->name, "location") || strstr (pspec->name, "uri"))
    return KIND_NONE;
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    return KIND_ENUM;
  switch (pspec->value_type) {
    case G_TYPE_BOOLEAN:
      return KIND_BOOLEAN;
    case G_TYPE_INT:
    case G_TYPE_UINT:
    case G_TYPE_INT64:
    case G_TYPE_UINT64:
      return KIND_INTEGER;
    case G_TYPE_FLOAT:
    case G_TYPE_DOUBLE:
      return KIND_NUMBER;
    case G_TYPE_STRING:
      return KIND_TEXT;
    default:
      return KIND_NONE;
  }
}

static gboolean
changes_while_playing (GParamSpec *pspec)
{
  /* Without any of these flags, an element says nothing about it. */
  return pspec->flags & GST_PARAM_MUTABLE_PLAYING
      || !(pspec->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED));
}

/* The least and the greatest number of a property. */
static void
get_range (GParamSpec *pspec, gdouble *low, gdouble *high)
{
#define RANGE(TYPE)                             \
  (*low = G_PARAM_SPEC_##TYPE (pspec)->minimum, \
      *high = G_PARAM_SPEC_##TYPE (pspec)->maximum)
  switch (pspec->value_type) {
    case G_TYPE_INT:
      RANGE (INT);
      break;
    case G_TYPE_UINT:
      RANGE (UINT);
      break;
    case G_TYPE_INT64:
      RANGE (INT64);
      break;
    case G_TYPE_UINT64:
      RANGE (UINT64);
      break;
    case G_TYPE_FLOAT:
      RANGE (FLOAT);
      break;
    default:
      RANGE (DOUBLE);
  }
#undef RANGE
}

static gchar *
value_as_text (const GValue *value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  GValue other = G_VALUE_INIT;
  gchar *result;

  if (G_VALUE_HOLDS_ENUM (value)) {
    g_autoptr (GTypeClass) type = g_type_class_ref (G_VALUE_TYPE (value));
    const GEnumValue *entry =
        g_enum_get_value ((GEnumClass *) type, g_value_get_enum (value));

    return g_strdup (entry ? entry->value_nick : "");
  }
  if (G_VALUE_HOLDS_STRING (value))
    return g_strdup (g_value_get_string (value) ? g_value_get_string (value)
                                                : "");
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  if (G_VALUE_HOLDS_FLOAT (value) || G_VALUE_HOLDS_DOUBLE (value)) {
    gboolean single = G_VALUE_HOLDS_FLOAT (value);

    /* The shortest text of the number: 0.1, not 0.10000000000000001. */
    for (gint digits = 6; digits <= 17; digits++) {
      gdouble number =
          single ? g_value_get_float (value) : g_value_get_double (value);
      g_autofree gchar *format = g_strdup_printf ("%%.%dg", digits);
      gdouble read;

      g_ascii_formatd (text, sizeof (text), format, number);
      read = g_ascii_strtod (text, NULL);
      if (read == number || (single && (gfloat) read == (gfloat) number))
        break;
    }
    return g_strdup (text);
  }
  g_value_init (&other, G_TYPE_STRING);
  g_value_transform (value, &other);
  result = g_value_dup_string (&other);
  g_value_unset (&other);
  return result;
}

static void
describe_enum (GParamSpec *pspec, GString *json)
{
  const GEnumClass *values = G_PARAM_SPEC_ENUM (pspec)->enum_class;

  nd_json_name (json, "values");
  g_string_append_c (json, '[');
  for (guint i = 0; i < values->n_values; i++) {
    g_string_append (json, i > 0 ? ",{" : "{");
    nd_json_name (json, "nick");
    nd_json_text (json, values->values[i].value_nick);
    nd_json_name (json, "blurb");
    nd_json_text (json, values->values[i].value_name);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
describe_property (GParamSpec *pspec, GString *json)
{
  const Kind kind = kind_of (pspec);
  g_autofree gchar *value =
      value_as_text (g_param_spec_get_default_value (pspec));
  gdouble low, high;

  g_string_append (json, g_str_has_suffix (json->str, "[") ? "{" : ",{");
  nd_json_name (json, "name");
  nd_json_text (json, pspec->name);
  nd_json_name (json, "title");
  nd_json_text (json, g_param_spec_get_nick (pspec));
  nd_json_name (json, "blurb");
  nd_json_text (json, g_param_spec_get_blurb (pspec));
  nd_json_name (json, "kind");
  nd_json_text (json, kind_names[kind]);
  nd_json_name (json, "default");
  nd_json_text (json, value);
  nd_json_name (json, "playing");
  g_string_append (json, changes_while_playing (pspec) ? "true" : "false");
  if (kind == KIND_ENUM)
    describe_enum (pspec, json);
  if (kind == KIND_INTEGER || kind == KIND_NUMBER) {
    get_range (pspec, &low, &high);
    nd_json_name (json, "low");
    nd_json_number (json, low);
    nd_json_name (json, "high");
    nd_json_number (json, high);
  }
  g_string_append_c (json, '}');
}

void
web_controls_describe (GstElement *element, GString *json)
{
  g_autofree GParamSpec **all = NULL;
  guint n;

  all = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  g_string_append_c (json, '{');
  nd_json_name (json, "name");
  nd_json_text (json, GST_ELEMENT_NAME (element));
  nd_json_name (json, "title");
  nd_json_text (json, G_OBJECT_TYPE_NAME (element));
  nd_json_name (json, "factory");
  nd_json_text (json,
      gst_element_get_factory (element)
          ? GST_OBJECT_NAME (gst_element_get_factory (element))
          : "");
  nd_json_name (json, "properties");
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++)
    if (kind_of (all[i]) != KIND_NONE)
      describe_property (all[i], json);
  g_string_append (json, "]}");
}

void
web_controls_values (GstElement *element, GString *json)
{
  g_autofree GParamSpec **all = NULL;
  guint n;

  all = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  g_string_append_c (json, '{');
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;
    g_autofree gchar *text = NULL;

    if (kind_of (all[i]) == KIND_NONE)
      continue;
    g_value_init (&value, all[i]->value_type);
    g_object_get_property (G_OBJECT (element), all[i]->name, &value);
    text = value_as_text (&value);
    g_value_unset (&value);
    nd_json_name (json, all[i]->name);
    nd_json_text (json, text);
  }
  g_string_append_c (json, '}');
}

static gboolean
read_enum (GParamSpec *pspec, const gchar *text, GValue *value, GError **error)
{
  GEnumClass *values = G_PARAM_SPEC_ENUM (pspec)->enum_class;
  const GEnumValue *entry = g_enum_get_value_by_nick (values, text);
  g_autoptr (GString) names = g_string_new (NULL);

  if (entry) {
    g_value_set_enum (value, entry->value);
    return TRUE;
  }
  for (guint i = 0; i < values->n_values; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
        values->values[i].value_nick);
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s has no value \"%.40s\"; the values are %s", pspec->name, text,
      names->str);
  return FALSE;
}

static gboolean
read_number (GParamSpec *pspec, const gchar *text, GValue *value,
    GError **error)
{
  const gboolean whole = kind_of (pspec) == KIND_INTEGER;
  gdouble low, high, number;
  gchar *end;

  errno = 0;
  number = g_ascii_strtod (text, &end);
  if (end == text || *g_strchug (end) || !isfinite (number)
      || (whole && number != floor (number))) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s must be %s, but it is \"%.40s\"", pspec->name,
        whole ? "a whole number" : "a number", text);
    return FALSE;
  }
  get_range (pspec, &low, &high);
  if (number < low || number > high) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s must be from %g to %g, but it is %g", pspec->name, low, high,
        number);
    return FALSE;
  }
  switch (pspec->value_type) {
    case G_TYPE_INT:
      g_value_set_int (value, number);
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, number);
      break;
    case G_TYPE_INT64:
      g_value_set_int64 (value, g_ascii_strtoll (text, NULL, 10));
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, g_ascii_strtoull (text, NULL, 10));
      break;
    case G_TYPE_FLOAT:
      g_value_set_float (value, number);
      break;
    default:
      g_value_set_double (value, number);
  }
  return TRUE;
}

static gboolean
read_text (GParamSpec *pspec, const gchar *text, GValue *value, GError **error)
{
  gsize size[2];

  /* The element refuses what is malformed. */
  if (strcmp (pspec->name, "size") == 0 && nd_parse_sizes (text, size, 2) == 2
      && size[1] > MOST_PIXELS / size[0]) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "A page can ask for pictures of at most %d pixels, for example "
        "2048:2048, but size is %.40s: give a larger size in the pipeline",
        MOST_PIXELS, text);
    return FALSE;
  }
  /* The parameter of filter designs that read files. */
  if (strstr (text, "location")) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "A page cannot name files: give %s with a location in the pipeline",
        pspec->name);
    return FALSE;
  }
  g_value_set_string (value, text);
  return TRUE;
}

static gboolean
read_boolean (GParamSpec *pspec, const gchar *text, GValue *value,
    GError **error)
{
  if (strcmp (text, "true") != 0 && strcmp (text, "false") != 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s must be true or false, but it is \"%.40s\"", pspec->name, text);
    return FALSE;
  }
  g_value_set_boolean (value, *text == 't');
  return TRUE;
}

gboolean
web_controls_set (GstElement *element, const gchar *name, const gchar *text,
    GError **error)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  const Kind kind = pspec ? kind_of (pspec) : KIND_NONE;
  GValue value = G_VALUE_INIT;
  gboolean ok;

  if (kind == KIND_NONE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has no property \"%.40s\" that a page can change",
        GST_ELEMENT_NAME (element), name);
    return FALSE;
  }
  if (!changes_while_playing (pspec)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s does not change while the pipeline plays: give it in the pipeline",
        name);
    return FALSE;
  }
  g_value_init (&value, pspec->value_type);
  if (kind == KIND_ENUM)
    ok = read_enum (pspec, text, &value, error);
  else if (kind == KIND_TEXT)
    ok = read_text (pspec, text, &value, error);
  else if (kind == KIND_BOOLEAN)
    ok = read_boolean (pspec, text, &value, error);
  else
    ok = read_number (pspec, text, &value, error);
  if (ok)
    g_object_set_property (G_OBJECT (element), name, &value);
  g_value_unset (&value);
  return ok;
}

void
web_controls_copy (GstElement *from, GstElement *to)
{
  const gboolean playing = GST_STATE (to) > GST_STATE_READY;
  g_autofree GParamSpec **all = NULL;
  guint n;

  all = g_object_class_list_properties (G_OBJECT_GET_CLASS (from), &n);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT, old = G_VALUE_INIT;

    /* The input of a bank has one response. */
    if (kind_of (all[i]) == KIND_NONE || strcmp (all[i]->name, "response") == 0
        || (playing && !changes_while_playing (all[i])))
      continue;
    g_value_init (&value, all[i]->value_type);
    g_value_init (&old, all[i]->value_type);
    g_object_get_property (G_OBJECT (from), all[i]->name, &value);
    g_object_get_property (G_OBJECT (to), all[i]->name, &old);
    if (g_param_values_cmp (all[i], &value, &old) != 0)
      g_object_set_property (G_OBJECT (to), all[i]->name, &value);
    g_value_unset (&value);
    g_value_unset (&old);
  }
}
