/* The fields of a text header, by their names; each is said once at most. Of
 * NRRD's and MetaImage's parsers only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "formats/ndtext.h"

G_BEGIN_DECLS

/* Formats number their fields from 0; names of this one are passed over. */
#define ND_FIELD_UNUSED 32

typedef struct
{
  NdText text;
  const NdTextWord *names;      /* a field's first one is for errors */
  gchar *values[ND_FIELD_UNUSED];       /* NULL: not said */
  guint lines[ND_FIELD_UNUSED]; /* where they were, for errors */
} NdFields;

void nd_fields_init (NdFields * fields, const NdTextWord * names,
    const gchar * path, const guint8 * bytes, gsize n);
void nd_fields_clear (NdFields * fields);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdFields, nd_fields_clear)

/* The first name of @field. */
const gchar *nd_fields_name (const NdFields * fields, guint field);

/* The value of @field in the line that was read last. ND_ERROR_FORMAT where an
 * earlier one has said it. */
gboolean nd_fields_take (NdFields * fields, guint field, const gchar * value,
    GError ** error);

/* FALSE, and ND_ERROR_FORMAT: what @field must be, at its line, or that it is
 * not there. */
gboolean nd_fields_refuse (NdFields * fields, guint field, const gchar * must,
    GError ** error);

G_END_DECLS
