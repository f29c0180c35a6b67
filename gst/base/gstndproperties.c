/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndproperties.h"

/* NdChoice is a GEnumValue. */
G_STATIC_ASSERT (sizeof (NdChoice) == sizeof (GEnumValue)
    && G_STRUCT_OFFSET (NdChoice, sentence)
        == G_STRUCT_OFFSET (GEnumValue, value_name)
    && G_STRUCT_OFFSET (NdChoice, name)
        == G_STRUCT_OFFSET (GEnumValue, value_nick));

GType
gst_nd_enum_type (const NdEnum *names)
{
  static GMutex mutex;
  GType type;

  g_mutex_lock (&mutex);
  type = g_type_from_name (names->type);
  if (!type) {
    type = g_enum_register_static (names->type,
        (const GEnumValue *) names->choices);
    gst_type_mark_as_plugin_api (type, 0);
  }
  g_mutex_unlock (&mutex);
  return type;
}

static GParamFlags
find_flags (const NdSetting *row)
{
  return G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | (row->flags & ND_READY ? GST_PARAM_MUTABLE_READY
                               : GST_PARAM_MUTABLE_PLAYING)
      | (row->flags & ND_CONTROLLED ? GST_PARAM_CONTROLLABLE : 0);
}

static GParamSpec *
make_pspec (const NdSetting *row)
{
  const gchar *name = row->name, *nick = row->title, *blurb = row->sentence;
  const NdSettingField *field = &row->field;
  const GParamFlags flags = find_flags (row);

  switch (field->kind) {
    case ND_KIND_BOOLEAN:
      return g_param_spec_boolean (name, nick, blurb, field->value, flags);
    case ND_KIND_ENUM:
      return g_param_spec_enum (name, nick, blurb,
          gst_nd_enum_type (field->names), field->value, flags);
    case ND_KIND_INT:
      return g_param_spec_int (name, nick, blurb, field->minimum,
          field->maximum, field->value, flags);
    case ND_KIND_UINT:
      return g_param_spec_uint (name, nick, blurb, field->minimum,
          field->maximum, field->value, flags);
    case ND_KIND_INT64:
      return g_param_spec_int64 (name, nick, blurb, field->minimum,
          field->maximum, field->value, flags);
    case ND_KIND_DOUBLE:
      return g_param_spec_double (name, nick, blurb, field->real_minimum,
          field->real_maximum, field->real_value, flags);
    case ND_KIND_STRING:
      return g_param_spec_string (name, nick, blurb, field->text, flags);
    case ND_KIND_FRACTION:
      return gst_param_spec_fraction (name, nick, blurb, field->minimum,
          field->minimum == 0 ? 1 : G_MAXINT, G_MAXINT, 1, field->value, 1,
          flags);
  }
  g_return_val_if_reached (NULL);
}

void
gst_nd_property_install (GObjectClass *klass, const NdSetting *rows, guint id)
{
  g_object_class_install_property (klass, id, make_pspec (&rows[id - 1]));
}

void
gst_nd_properties_install (GObjectClass *klass, const NdSetting *rows, guint n)
{
  for (guint id = 1; id <= n; id++)
    gst_nd_property_install (klass, rows, id);
}

static void
set_string (gchar **string, const gchar *value)
{
  g_free (*string);
  *string = g_strdup (value);
}

gboolean
gst_nd_properties_set (const NdSetting *rows, guint n, gpointer settings,
    guint id, const GValue *value)
{
  gpointer at;

  if (id == 0 || id > n)
    return FALSE;
  at = (guint8 *) settings + rows[id - 1].field.offset;
  switch (rows[id - 1].field.kind) {
    case ND_KIND_BOOLEAN:
      *(gint *) at = g_value_get_boolean (value);
      break;
    case ND_KIND_ENUM:
      *(gint *) at = g_value_get_enum (value);
      break;
    case ND_KIND_INT:
      *(gint *) at = g_value_get_int (value);
      break;
    case ND_KIND_UINT:
      *(guint *) at = g_value_get_uint (value);
      break;
    case ND_KIND_INT64:
      *(gint64 *) at = g_value_get_int64 (value);
      break;
    case ND_KIND_DOUBLE:
      *(gdouble *) at = g_value_get_double (value);
      break;
    case ND_KIND_STRING:
      set_string (at, g_value_get_string (value));
      break;
    case ND_KIND_FRACTION:
      *(NdFraction *) at =
          (NdFraction){ gst_value_get_fraction_numerator (value),
            gst_value_get_fraction_denominator (value) };
      break;
  }
  return TRUE;
}

gboolean
gst_nd_properties_get (const NdSetting *rows, guint n, gconstpointer settings,
    guint id, GValue *value)
{
  gconstpointer at;

  if (id == 0 || id > n)
    return FALSE;
  at = (const guint8 *) settings + rows[id - 1].field.offset;
  switch (rows[id - 1].field.kind) {
    case ND_KIND_BOOLEAN:
      g_value_set_boolean (value, *(const gint *) at);
      break;
    case ND_KIND_ENUM:
      g_value_set_enum (value, *(const gint *) at);
      break;
    case ND_KIND_INT:
      g_value_set_int (value, *(const gint *) at);
      break;
    case ND_KIND_UINT:
      g_value_set_uint (value, *(const guint *) at);
      break;
    case ND_KIND_INT64:
      g_value_set_int64 (value, *(const gint64 *) at);
      break;
    case ND_KIND_DOUBLE:
      g_value_set_double (value, *(const gdouble *) at);
      break;
    case ND_KIND_STRING:
      g_value_set_string (value, *(gchar *const *) at);
      break;
    case ND_KIND_FRACTION:
      gst_value_set_fraction (value, ((const NdFraction *) at)->n,
          ((const NdFraction *) at)->d);
      break;
  }
  return TRUE;
}

void
gst_nd_properties_revert (const NdSetting *rows, guint n, GObject *object,
    gpointer settings, gconstpointer from)
{
  for (guint i = 0; i < n; i++) {
    if ((rows[i].flags & ND_READY)
        || nd_setting_is_equal (&rows[i], settings, from))
      continue;
    nd_settings_assign (&rows[i], 1, settings, from);
    g_object_notify (object, rows[i].name);
  }
}
