/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/schema.h"

#include "core/error.h"
#include "core/json.h"

#include <math.h>
#include <string.h>

const gchar *
nd_enum_name (const NdEnum *names, gint number)
{
  for (const NdChoice *c = names->choices; c->name; c++) {
    if (c->number == number)
      return c->name;
  }
  return NULL;
}

gboolean
nd_enum_from_name (const NdEnum *names, const gchar *name, gint *number)
{
  for (const NdChoice *c = names->choices; c->name; c++) {
    if (g_ascii_strcasecmp (c->name, name) == 0) {
      *number = c->number;
      return TRUE;
    }
  }
  return FALSE;
}

static void
set_string (gchar **string, const gchar *value)
{
  g_free (*string);
  *string = g_strdup (value);
}

void
nd_settings_init (const NdSetting *rows, guint n, gpointer settings)
{
  for (guint i = 0; i < n; i++) {
    const NdSettingField *field = &rows[i].field;
    gpointer at = (guint8 *) settings + field->offset;

    switch (field->kind) {
      case ND_KIND_BOOLEAN:
      case ND_KIND_ENUM:
      case ND_KIND_INT:
        *(gint *) at = field->value;
        break;
      case ND_KIND_UINT:
        *(guint *) at = field->value;
        break;
      case ND_KIND_INT64:
        *(gint64 *) at = field->value;
        break;
      case ND_KIND_DOUBLE:
        *(gdouble *) at = field->real_value;
        break;
      case ND_KIND_STRING:
        set_string (at, field->text);
        break;
      case ND_KIND_FRACTION:
        *(NdFraction *) at = (NdFraction){ field->value, 1 };
        break;
    }
  }
}

void
nd_settings_clear (const NdSetting *rows, guint n, gpointer settings)
{
  for (guint i = 0; i < n; i++) {
    if (rows[i].field.kind == ND_KIND_STRING)
      set_string ((gpointer) ((guint8 *) settings + rows[i].field.offset),
          NULL);
  }
}

/* Bytes of the value, or 0 for a string. */
static gsize
value_size (const NdSetting *row)
{
  switch (row->field.kind) {
    case ND_KIND_INT64:
      return sizeof (gint64);
    case ND_KIND_DOUBLE:
      return sizeof (gdouble);
    case ND_KIND_FRACTION:
      return sizeof (NdFraction);
    case ND_KIND_STRING:
      return 0;
    case ND_KIND_BOOLEAN:
    case ND_KIND_ENUM:
    case ND_KIND_INT:
    case ND_KIND_UINT:
      return sizeof (gint);
  }
  g_return_val_if_reached (0);
}

void
nd_settings_assign (const NdSetting *rows, guint n, gpointer to,
    gconstpointer from)
{
  for (guint i = 0; i < n; i++) {
    gpointer at = (guint8 *) to + rows[i].field.offset;
    gconstpointer value = (const guint8 *) from + rows[i].field.offset;

    if (rows[i].field.kind == ND_KIND_STRING)
      set_string (at, *(gchar *const *) value);
    else
      memcpy (at, value, value_size (&rows[i]));
  }
}

gboolean
nd_setting_is_equal (const NdSetting *row, gconstpointer a, gconstpointer b)
{
  gconstpointer in_a = (const guint8 *) a + row->field.offset;
  gconstpointer in_b = (const guint8 *) b + row->field.offset;

  if (row->field.kind == ND_KIND_STRING)
    return g_strcmp0 (*(gchar *const *) in_a, *(gchar *const *) in_b) == 0;
  return memcmp (in_a, in_b, value_size (row)) == 0;
}

/* Text */

static gboolean
parse_enum (const NdSetting *row, const gchar *text, gint *to, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (const NdChoice *c = row->field.names->choices; c->name; c++) {
    if (strcmp (c->name, text) == 0) {
      *to = c->number;
      return TRUE;
    }
    g_string_append_printf (names, "%s%s", names->len ? ", " : "", c->name);
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be one of %s", row->name, text, names->str);
  return FALSE;
}

static gboolean
parse_boolean (const NdSetting *row, const gchar *text, gboolean *to,
    GError **error)
{
  const gboolean yes = strcmp (text, "true") == 0;

  if (yes || strcmp (text, "false") == 0) {
    *to = yes;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be true or false", row->name, text);
  return FALSE;
}

static gboolean
parse_double (const NdSetting *row, const gchar *text, gdouble *to,
    GError **error)
{
  const gdouble low = row->field.real_minimum, high = row->field.real_maximum;
  gchar *end;
  const gdouble number = g_ascii_strtod (text, &end);

  if (end != text && *end == '\0' && number >= low && number <= high) {
    *to = number;
    return TRUE;
  }
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be a finite number, from %g to %g", row->name, text,
      low, high);
  return FALSE;
}

static gboolean
parse_integer (const NdSetting *row, const gchar *text, gint64 *to,
    GError **error)
{
  const gint64 low = row->field.minimum, high = row->field.maximum;

  if (g_ascii_string_to_signed (text, 10, low, high, to, NULL))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is '%s'; it must be an integer from %" G_GINT64_FORMAT
      " to %" G_GINT64_FORMAT "%s%s",
      row->name, text, low, high, row->unit ? ", in " : "",
      row->unit ? row->unit : "");
  return FALSE;
}

gboolean
nd_setting_parse (const NdSetting *row, const gchar *text, gpointer settings,
    GError **error)
{
  gpointer at = (guint8 *) settings + row->field.offset;
  gint64 number;

  switch (row->field.kind) {
    case ND_KIND_BOOLEAN:
      return parse_boolean (row, text, at, error);
    case ND_KIND_ENUM:
      return parse_enum (row, text, at, error);
    case ND_KIND_DOUBLE:
      return parse_double (row, text, at, error);
    case ND_KIND_STRING:
      set_string (at, text);
      return TRUE;
    case ND_KIND_INT:
    case ND_KIND_UINT:
    case ND_KIND_INT64:
    case ND_KIND_FRACTION:
      break;
  }
  g_return_val_if_fail (row->field.kind != ND_KIND_FRACTION, FALSE);
  if (!parse_integer (row, text, &number, error))
    return FALSE;
  if (row->field.kind == ND_KIND_INT64)
    *(gint64 *) at = number;
  else if (row->field.kind == ND_KIND_INT)
    *(gint *) at = number;
  else
    *(guint *) at = number;
  return TRUE;
}

/* JSON */

static void
describe_choices (const NdChoice *choices, GString *json)
{
  nd_json_name (json, "values");
  g_string_append_c (json, '[');
  for (const NdChoice *c = choices; c->name; c++) {
    g_string_append (json, c == choices ? "{" : ",{");
    nd_json_name (json, "name");
    nd_json_text (json, c->name);
    nd_json_name (json, "sentence");
    nd_json_text (json, c->sentence);
    g_string_append_c (json, '}');
  }
  g_string_append_c (json, ']');
}

static void
describe_range (gdouble low, gdouble high, gdouble value, GString *json)
{
  nd_json_name (json, "default");
  nd_json_number (json, value);
  nd_json_name (json, "low");
  nd_json_number (json, low);
  nd_json_name (json, "high");
  nd_json_number (json, high);
}

/* Its default, and the values that it may have. */
static void
describe_field (const NdSettingField *field, GString *json)
{
  switch (field->kind) {
    case ND_KIND_BOOLEAN:
      nd_json_name (json, "default");
      g_string_append (json, field->value ? "true" : "false");
      break;
    case ND_KIND_ENUM:
      nd_json_name (json, "default");
      nd_json_text (json, nd_enum_name (field->names, field->value));
      describe_choices (field->names->choices, json);
      break;
    case ND_KIND_INT:
    case ND_KIND_UINT:
    case ND_KIND_INT64:
      describe_range (field->minimum, field->maximum, field->value, json);
      break;
    case ND_KIND_DOUBLE:
      describe_range (field->real_minimum, field->real_maximum,
          field->real_value, json);
      break;
    case ND_KIND_STRING:
    case ND_KIND_FRACTION:
      nd_json_name (json, "default");
      if (field->text)
        nd_json_text (json, field->text);
      else
        g_string_append (json, "null");
      break;
  }
}

void
nd_settings_describe (const NdSetting *rows, guint n, GString *json)
{
  static const gchar *const kinds[] = {
    [ND_KIND_BOOLEAN] = "boolean",
    [ND_KIND_ENUM] = "enum",
    [ND_KIND_INT] = "integer",
    [ND_KIND_UINT] = "integer",
    [ND_KIND_INT64] = "integer",
    [ND_KIND_DOUBLE] = "number",
    [ND_KIND_STRING] = "text",
    [ND_KIND_FRACTION] = "text",
  };

  for (guint i = 0; i < n; i++) {
    g_string_append (json, g_str_has_suffix (json->str, "[") ? "{" : ",{");
    nd_json_name (json, "name");
    nd_json_text (json, rows[i].name);
    nd_json_name (json, "title");
    nd_json_text (json, rows[i].title);
    nd_json_name (json, "sentence");
    nd_json_text (json, rows[i].sentence);
    nd_json_name (json, "kind");
    nd_json_text (json, kinds[rows[i].field.kind]);
    nd_json_name (json, "unit");
    nd_json_text (json, rows[i].unit);
    nd_json_name (json, "playing");
    g_string_append (json, rows[i].flags & ND_READY ? "false" : "true");
    describe_field (&rows[i].field, json);
    g_string_append_c (json, '}');
  }
}
