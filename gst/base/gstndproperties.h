/* Properties as rows of a table. One row describes a property and the field of
 * a settings struct that holds its value:
 *
 *   static const GstNdProperty rows[] = {
 *     { "gain", "Gain", "Factor of the response",
 *         GST_ND_DOUBLE (Settings, gain, 0, G_MAXDOUBLE, 1),
 *         GST_ND_PLAYING },
 *   };
 *
 * Row i has the property ID i + 1. The caller locks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_ND_KIND_BOOLEAN,
  GST_ND_KIND_ENUM,
  GST_ND_KIND_INT,
  GST_ND_KIND_UINT,
  GST_ND_KIND_INT64,
  GST_ND_KIND_DOUBLE,
  GST_ND_KIND_STRING,
  GST_ND_KIND_FRACTION
} GstNdKind;

/* Made by one of the macros below. */
typedef struct
{
  GstNdKind kind;
  gsize offset;
  gint64 minimum, maximum, value;
  gdouble real_minimum, real_maximum, real_value;
  const gchar *text;
  GType (*enum_type) (void);
} GstNdField;

typedef struct
{
  const gchar *name, *nick, *blurb;
  GstNdField field;
  GParamFlags flags;
  gboolean of_stream; /* temporal elements: no processor depends on it */
} GstNdProperty;

/* The value of a fraction. */
typedef struct
{
  gint n, d;
} GstNdFraction;

/* Flags: changeable while playing, or in NULL and READY only. */
#define GST_ND_PLAYING \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define GST_ND_READY \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

/* The offset of a field. Does not compile if the field has another type. */
#define GST_ND_OFFSET(Struct, field, ctype) \
  _Generic (&((Struct *) NULL)->field, ctype *: G_STRUCT_OFFSET (Struct, field))

#define GST_ND_BOOLEAN(Struct, field_, value_)          \
  { .kind = GST_ND_KIND_BOOLEAN,                        \
    .offset = GST_ND_OFFSET (Struct, field_, gboolean), \
    .value = value_ }
#define GST_ND_INT(Struct, field_, minimum_, maximum_, value_) \
  { .kind = GST_ND_KIND_INT,                                   \
    .offset = GST_ND_OFFSET (Struct, field_, gint),            \
    .minimum = minimum_,                                       \
    .maximum = maximum_,                                       \
    .value = value_ }
#define GST_ND_UINT(Struct, field_, minimum_, maximum_, value_) \
  { .kind = GST_ND_KIND_UINT,                                   \
    .offset = GST_ND_OFFSET (Struct, field_, guint),            \
    .minimum = minimum_,                                        \
    .maximum = maximum_,                                        \
    .value = value_ }
#define GST_ND_INT64(Struct, field_, minimum_, maximum_, value_) \
  { .kind = GST_ND_KIND_INT64,                                   \
    .offset = GST_ND_OFFSET (Struct, field_, gint64),            \
    .minimum = minimum_,                                         \
    .maximum = maximum_,                                         \
    .value = value_ }
#define GST_ND_DOUBLE(Struct, field_, minimum_, maximum_, value_) \
  { .kind = GST_ND_KIND_DOUBLE,                                   \
    .offset = GST_ND_OFFSET (Struct, field_, gdouble),            \
    .real_minimum = minimum_,                                     \
    .real_maximum = maximum_,                                     \
    .real_value = value_ }
#define GST_ND_STRING(Struct, field_, text_)           \
  { .kind = GST_ND_KIND_STRING,                        \
    .offset = GST_ND_OFFSET (Struct, field_, gchar *), \
    .text = text_ }
/* @ctype is a C enum, @enum_type_ returns its GType. */
#define GST_ND_ENUM(Struct, field_, ctype, enum_type_, value_) \
  { .kind = GST_ND_KIND_ENUM,                                  \
    .offset = GST_ND_OFFSET (Struct, field_, ctype),           \
    .enum_type = enum_type_,                                   \
    .value = value_ }
/* A rate: from 0/1 (@minimum_ 0) or from 1/G_MAXINT (@minimum_ 1). The default
 * is @value_/1. */
#define GST_ND_FRACTION(Struct, field_, minimum_, value_)    \
  { .kind = GST_ND_KIND_FRACTION,                            \
    .offset = GST_ND_OFFSET (Struct, field_, GstNdFraction), \
    .minimum = minimum_,                                     \
    .value = value_ }

/* For the function of a GST_ND_ENUM: registers @values once. */
GType gst_nd_enum_type (gsize *type, const gchar *name,
    const GEnumValue *values);

void gst_nd_properties_install (GObjectClass *klass, const GstNdProperty *rows,
    guint n);

/* Installs the row of property @id only. */
void gst_nd_property_install (GObjectClass *klass, const GstNdProperty *rows,
    guint id);

/* Fills @settings with the default values. */
void gst_nd_properties_init (const GstNdProperty *rows, guint n,
    gpointer settings);

/* Frees the strings. */
void gst_nd_properties_clear (const GstNdProperty *rows, guint n,
    gpointer settings);

/* Sets or gets property @id. FALSE if it has no row. */
gboolean gst_nd_properties_set (const GstNdProperty *rows, guint n,
    gpointer settings, guint id, const GValue *value);
gboolean gst_nd_properties_get (const GstNdProperty *rows, guint n,
    gconstpointer settings, guint id, GValue *value);

/* Copies the fields of all rows. Both structs must be initialized. */
void gst_nd_properties_copy (const GstNdProperty *rows, guint n, gpointer to,
    gconstpointer from);

/* Sets the fields that differ from @from back to it, but not those of
 * properties that take effect at the next start. Notifies of the properties of
 * @object; the caller has frozen notifications, because it locks. */
void gst_nd_properties_revert (const GstNdProperty *rows, guint n,
    GObject *object, gpointer settings, gconstpointer from);

/* Whether the fields of @row are equal. */
gboolean gst_nd_property_is_equal (const GstNdProperty *row, gconstpointer a,
    gconstpointer b);

G_END_DECLS
