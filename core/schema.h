/* Settings as rows of a table: name, sentence, range and default of a setting,
 * and the field of a struct that holds its value. From the rows are made the
 * properties of the elements, the settings of the library, the parameters of
 * the Python package, the forms of the page and the tables of the manual.
 *
 *   const NdSetting rows[] = {
 *     { "gain", "Gain", "Factor of the response",
 *         ND_FIELD_DOUBLE (Settings, gain, -G_MAXDOUBLE, G_MAXDOUBLE, 1),
 *         ND_PLAYING },
 *   };
 *
 * Functions neither lock nor keep what they are given. They run in any thread.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A value of an enum, as GEnumValue. Numbers are public and never change; a new
 * value gets the next free one. */
typedef struct
{
  gint number;
  const gchar *sentence;
  const gchar *name;
} NdChoice;

typedef struct
{
  const gchar *type;       /* of GObject, "GstNdBorder" */
  const NdChoice *choices; /* the last one has no name */
} NdEnum;

/* Defines the NdEnum @enum_ of the GObject type @type_. */
#define ND_DEFINE_ENUM(enum_, type_, ...) \
  const NdEnum enum_ = { type_,           \
    (const NdChoice[]){ __VA_ARGS__, { 0, NULL, NULL } } }

/* The name of @number, or NULL. */
const gchar *nd_enum_name (const NdEnum *names, gint number);

/* Sets @number to the value with the name @name, in upper or lower case. FALSE
 * if there is none. */
gboolean nd_enum_from_name (const NdEnum *names, const gchar *name,
    gint *number);

typedef enum
{
  ND_KIND_BOOLEAN,
  ND_KIND_ENUM,
  ND_KIND_INT,
  ND_KIND_UINT,
  ND_KIND_INT64,
  ND_KIND_DOUBLE,
  ND_KIND_STRING,
  ND_KIND_FRACTION
} NdKind;

/* Made by one of the macros below. */
typedef struct
{
  NdKind kind;
  gsize offset;
  gint64 minimum, maximum, value;
  gdouble real_minimum, real_maximum, real_value;
  const gchar *text;
  const NdEnum *names;
} NdSettingField;

/* When a setting of an element may change: while it plays, or in NULL and READY
 * only. */
typedef enum
{
  ND_PLAYING = 0,
  ND_READY = 1 << 0,
  ND_CONTROLLED = 1 << 1, /* from volume to volume, by a GstController */
  ND_OF_STREAM = 1 << 2   /* temporal elements: no processor depends on it */
} NdSettingFlags;

typedef struct
{
  const gchar *name, *title, *sentence; /* two sentences at most */
  NdSettingField field;
  guint flags;       /* NdSettingFlags */
  const gchar *unit; /* of numbers, or NULL */
} NdSetting;

/* The value of a fraction. */
typedef struct
{
  gint n, d;
} NdFraction;

/* The offset of a field. Does not compile if the field has another type. */
#define ND_FIELD_OFFSET(Struct, field, ctype) \
  _Generic (&((Struct *) NULL)->field, ctype *: G_STRUCT_OFFSET (Struct, field))

#define ND_FIELD_NUMBER(KIND, Struct, field_, ctype, minimum_, maximum_, \
    value_)                                                              \
  { .kind = KIND,                                                        \
    .offset = ND_FIELD_OFFSET (Struct, field_, ctype),                   \
    .minimum = minimum_,                                                 \
    .maximum = maximum_,                                                 \
    .value = value_ }
#define ND_FIELD_BOOLEAN(Struct, field_, value_) \
  ND_FIELD_NUMBER (ND_KIND_BOOLEAN, Struct, field_, gboolean, 0, 1, value_)
#define ND_FIELD_INT(Struct, field_, minimum_, maximum_, value_)          \
  ND_FIELD_NUMBER (ND_KIND_INT, Struct, field_, gint, minimum_, maximum_, \
      value_)
#define ND_FIELD_UINT(Struct, field_, minimum_, maximum_, value_)           \
  ND_FIELD_NUMBER (ND_KIND_UINT, Struct, field_, guint, minimum_, maximum_, \
      value_)
#define ND_FIELD_INT64(Struct, field_, minimum_, maximum_, value_)            \
  ND_FIELD_NUMBER (ND_KIND_INT64, Struct, field_, gint64, minimum_, maximum_, \
      value_)
#define ND_FIELD_DOUBLE(Struct, field_, minimum_, maximum_, value_) \
  { .kind = ND_KIND_DOUBLE,                                         \
    .offset = ND_FIELD_OFFSET (Struct, field_, gdouble),            \
    .real_minimum = minimum_,                                       \
    .real_maximum = maximum_,                                       \
    .real_value = value_ }
#define ND_FIELD_STRING(Struct, field_, text_)           \
  { .kind = ND_KIND_STRING,                              \
    .offset = ND_FIELD_OFFSET (Struct, field_, gchar *), \
    .text = text_ }
/* @ctype is a C enum, @names_ the NdEnum of its values. */
#define ND_FIELD_ENUM(Struct, field_, ctype, names_, value_) \
  { .kind = ND_KIND_ENUM,                                    \
    .offset = ND_FIELD_OFFSET (Struct, field_, ctype),       \
    .names = &names_,                                        \
    .value = value_ }
/* A rate: from 0/1 (@minimum_ 0) or from 1/G_MAXINT (@minimum_ 1). The default
 * is @value_/1. */
#define ND_FIELD_FRACTION(Struct, field_, minimum_, value_) \
  { .kind = ND_KIND_FRACTION,                               \
    .offset = ND_FIELD_OFFSET (Struct, field_, NdFraction), \
    .minimum = minimum_,                                    \
    .value = value_ }

/* Fills the fields of @n @rows in @settings with the defaults. Strings must be
 * NULL or belong to @settings. */
void nd_settings_init (const NdSetting *rows, guint n, gpointer settings);

/* Frees the strings. */
void nd_settings_clear (const NdSetting *rows, guint n, gpointer settings);

/* Copies the fields of all rows. Both structs must be initialized. */
void nd_settings_assign (const NdSetting *rows, guint n, gpointer to,
    gconstpointer from);

/* Whether the fields of @row are equal. */
gboolean nd_setting_is_equal (const NdSetting *row, gconstpointer a,
    gconstpointer b);

/* Reads @text, a value of @row as people write it, into @settings; fractions
 * are not read. ND_ERROR_SETTINGS with a sentence that names the setting; the
 * field then keeps its value. */
gboolean nd_setting_parse (const NdSetting *row, const gchar *text,
    gpointer settings, GError **error);

/* Appends an object of JSON for each of @n @rows: name, title, sentence, kind
 * (boolean, enum, integer, number, text), default, low and high of numbers,
 * values (name and sentence) of enums, unit ("": none) and playing. */
void nd_settings_describe (const NdSetting *rows, guint n, GString *json);

G_END_DECLS
