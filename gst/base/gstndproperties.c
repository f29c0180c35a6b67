/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndproperties.h"

#include <string.h>

GType
gst_nd_enum_type (gsize *type, const gchar *name, const GEnumValue *values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_enum_register_static (name, values));
  return *type;
}

static GParamSpec *
make_pspec (const GstNdProperty *row)
{
  const gchar *name = row->name, *nick = row->nick, *blurb = row->blurb;
  const GstNdField *field = &row->field;

  switch (field->kind) {
    case GST_ND_KIND_BOOLEAN:
      return g_param_spec_boolean (name, nick, blurb, field->value, row->flags);
    case GST_ND_KIND_ENUM:
      return g_param_spec_enum (name, nick, blurb, field->enum_type (),
          field->value, row->flags);
    case GST_ND_KIND_INT:
      return g_param_spec_int (name, nick, blurb, field->minimum,
          field->maximum, field->value, row->flags);
    case GST_ND_KIND_UINT:
      return g_param_spec_uint (name, nick, blurb, field->minimum,
          field->maximum, field->value, row->flags);
    case GST_ND_KIND_INT64:
      return g_param_spec_int64 (name, nick, blurb, field->minimum,
          field->maximum, field->value, row->flags);
    case GST_ND_KIND_DOUBLE:
      return g_param_spec_double (name, nick, blurb, field->real_minimum,
          field->real_maximum, field->real_value, row->flags);
    case GST_ND_KIND_STRING:
      return g_param_spec_string (name, nick, blurb, field->text, row->flags);
    case GST_ND_KIND_FRACTION:
      return gst_param_spec_fraction (name, nick, blurb, field->minimum,
          field->minimum == 0 ? 1 : G_MAXINT, G_MAXINT, 1, field->value, 1,
          row->flags);
  }
  g_return_val_if_reached (NULL);
}

void
gst_nd_property_install (GObjectClass *klass, const GstNdProperty *rows,
    guint id)
{
  g_object_class_install_property (klass, id, make_pspec (&rows[id - 1]));
}

void
gst_nd_properties_install (GObjectClass *klass, const GstNdProperty *rows,
    guint n)
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

void
gst_nd_properties_init (const GstNdProperty *rows, guint n, gpointer settings)
{
  for (guint i = 0; i < n; i++) {
    const GstNdField *field = &rows[i].field;
    gpointer at = (guint8 *) settings + field->offset;

    switch (field->kind) {
      case GST_ND_KIND_BOOLEAN:
      case GST_ND_KIND_ENUM:
      case GST_ND_KIND_INT:
        *(gint *) at = field->value;
        break;
      case GST_ND_KIND_UINT:
        *(guint *) at = field->value;
        break;
      case GST_ND_KIND_INT64:
        *(gint64 *) at = field->value;
        break;
      case GST_ND_KIND_DOUBLE:
        *(gdouble *) at = field->real_value;
        break;
      case GST_ND_KIND_STRING:
        set_string (at, field->text);
        break;
      case GST_ND_KIND_FRACTION:
        *(GstNdFraction *) at = (GstNdFraction){ field->value, 1 };
        break;
    }
  }
}

void
gst_nd_properties_clear (const GstNdProperty *rows, guint n, gpointer settings)
{
  for (guint i = 0; i < n; i++) {
    if (rows[i].field.kind == GST_ND_KIND_STRING)
      set_string ((gpointer) ((guint8 *) settings + rows[i].field.offset),
          NULL);
  }
}

gboolean
gst_nd_properties_set (const GstNdProperty *rows, guint n, gpointer settings,
    guint id, const GValue *value)
{
  gpointer at;

  if (id == 0 || id > n)
    return FALSE;
  at = (guint8 *) settings + rows[id - 1].field.offset;
  switch (rows[id - 1].field.kind) {
    case GST_ND_KIND_BOOLEAN:
      *(gint *) at = g_value_get_boolean (value);
      break;
    case GST_ND_KIND_ENUM:
      *(gint *) at = g_value_get_enum (value);
      break;
    case GST_ND_KIND_INT:
      *(gint *) at = g_value_get_int (value);
      break;
    case GST_ND_KIND_UINT:
      *(guint *) at = g_value_get_uint (value);
      break;
    case GST_ND_KIND_INT64:
      *(gint64 *) at = g_value_get_int64 (value);
      break;
    case GST_ND_KIND_DOUBLE:
      *(gdouble *) at = g_value_get_double (value);
      break;
    case GST_ND_KIND_STRING:
      set_string (at, g_value_get_string (value));
      break;
    case GST_ND_KIND_FRACTION:
      *(GstNdFraction *) at =
          (GstNdFraction){ gst_value_get_fraction_numerator (value),
            gst_value_get_fraction_denominator (value) };
      break;
  }
  return TRUE;
}

gboolean
gst_nd_properties_get (const GstNdProperty *rows, guint n,
    gconstpointer settings, guint id, GValue *value)
{
  gconstpointer at;

  if (id == 0 || id > n)
    return FALSE;
  at = (const guint8 *) settings + rows[id - 1].field.offset;
  switch (rows[id - 1].field.kind) {
    case GST_ND_KIND_BOOLEAN:
      g_value_set_boolean (value, *(const gint *) at);
      break;
    case GST_ND_KIND_ENUM:
      g_value_set_enum (value, *(const gint *) at);
      break;
    case GST_ND_KIND_INT:
      g_value_set_int (value, *(const gint *) at);
      break;
    case GST_ND_KIND_UINT:
      g_value_set_uint (value, *(const guint *) at);
      break;
    case GST_ND_KIND_INT64:
      g_value_set_int64 (value, *(const gint64 *) at);
      break;
    case GST_ND_KIND_DOUBLE:
      g_value_set_double (value, *(const gdouble *) at);
      break;
    case GST_ND_KIND_STRING:
      g_value_set_string (value, *(gchar *const *) at);
      break;
    case GST_ND_KIND_FRACTION:
      gst_value_set_fraction (value, ((const GstNdFraction *) at)->n,
          ((const GstNdFraction *) at)->d);
      break;
  }
  return TRUE;
}

/* Bytes of the value, or 0 for a string. */
static gsize
value_size (const GstNdProperty *row)
{
  switch (row->field.kind) {
    case GST_ND_KIND_INT64:
      return sizeof (gint64);
    case GST_ND_KIND_DOUBLE:
      return sizeof (gdouble);
    case GST_ND_KIND_FRACTION:
      return sizeof (GstNdFraction);
    case GST_ND_KIND_STRING:
      return 0;
    case GST_ND_KIND_BOOLEAN:
    case GST_ND_KIND_ENUM:
    case GST_ND_KIND_INT:
    case GST_ND_KIND_UINT:
      return sizeof (gint);
  }
  g_return_val_if_reached (0);
}

void
gst_nd_properties_copy (const GstNdProperty *rows, guint n, gpointer to,
    gconstpointer from)
{
  for (guint i = 0; i < n; i++) {
    gpointer at = (guint8 *) to + rows[i].field.offset;
    gconstpointer value = (const guint8 *) from + rows[i].field.offset;

    if (rows[i].field.kind == GST_ND_KIND_STRING)
      set_string (at, *(gchar *const *) value);
    else
      memcpy (at, value, value_size (&rows[i]));
  }
}

gboolean
gst_nd_property_is_equal (const GstNdProperty *row, gconstpointer a,
    gconstpointer b)
{
  gconstpointer in_a = (const guint8 *) a + row->field.offset;
  gconstpointer in_b = (const guint8 *) b + row->field.offset;

  if (row->field.kind == GST_ND_KIND_STRING)
    return g_strcmp0 (*(gchar *const *) in_a, *(gchar *const *) in_b) == 0;
  return memcmp (in_a, in_b, value_size (row)) == 0;
}

void
gst_nd_properties_revert (const GstNdProperty *rows, guint n, GObject *object,
    gpointer settings, gconstpointer from)
{
  for (guint i = 0; i < n; i++) {
    if ((rows[i].flags & GST_PARAM_MUTABLE_READY)
        || gst_nd_property_is_equal (&rows[i], settings, from))
      continue;
    gst_nd_properties_copy (&rows[i], 1, settings, from);
    g_object_notify (object, rows[i].name);
  }
}
