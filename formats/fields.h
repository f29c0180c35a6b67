/* The fields of a text header by name, each at most once. Shared by the parsers
 * of NRRD and MetaImage.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/headertext.h"

G_BEGIN_DECLS

/* Formats number their fields from 0. Names with this number are ignored. */
#define ND_FIELD_UNUSED 32

typedef struct
{
  NdText text;
  const NdTextWord *names;        /* errors use the first name of a field */
  gchar *values[ND_FIELD_UNUSED]; /* in the text; NULL: absent */
  guint lines[ND_FIELD_UNUSED];   /* line numbers, for errors */
} NdFields;

void nd_fields_init (NdFields *fields, const NdTextWord *names,
    const gchar *path, guint8 *bytes, gsize n);

/* The first name of @field. */
const gchar *nd_fields_name (const NdFields *fields, guint field);

/* Stores @value of @field from the current line. ND_ERROR_FORMAT if the field
 * has a value already. */
gboolean nd_fields_take (NdFields *fields, guint field, gchar *value,
    GError **error);

/* Sets ND_ERROR_FORMAT and returns FALSE. The message has the line of @field,
 * or says that the field is absent, and ends with "it must" and @must. */
gboolean nd_fields_refuse (NdFields *fields, guint field, const gchar *must,
    GError **error);

G_END_DECLS
