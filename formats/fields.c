/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/fields.h"

#include "core/error.h"

/* Bytes of a line. Parsers make words and numbers of its value, which take more
 * memory than the text. */
#define VALUE_MAX (8 * 1024)

void
nd_fields_init (NdFields *fields, const NdTextWord *names, const gchar *path,
    guint8 *bytes, gsize n)
{
  nd_text_init (&fields->text, path, bytes, n);
  fields->names = names;
}

const gchar *
nd_fields_name (const NdFields *fields, guint field)
{
  const NdTextWord *name = fields->names;

  while (name->value != (gint) field)
    name++;
  return name->word;
}

gboolean
nd_fields_take (NdFields *fields, guint field, gchar *value, GError **error)
{
  if (field == ND_FIELD_UNUSED)
    return TRUE;
  if (fields->values[field]) {
    nd_text_error (&fields->text, error,
        "%s is given a second time; line %u has it already",
        nd_fields_name (fields, field), fields->lines[field]);
    return FALSE;
  }
  if (fields->text.length > VALUE_MAX) {
    nd_text_error (&fields->text, error,
        "%s has more than %d bytes: the file is damaged",
        nd_fields_name (fields, field), VALUE_MAX);
    return FALSE;
  }
  fields->values[field] = g_strchomp (value);
  fields->lines[field] = fields->text.number;
  return TRUE;
}

gboolean
nd_fields_refuse (NdFields *fields, guint field, const gchar *must,
    GError **error)
{
  const gchar *name = nd_fields_name (fields, field);
  g_autofree gchar *quoted = NULL;

  if (!fields->values[field]) {
    g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
        "The header of \"%s\" has no field \"%s\": it must %s",
        fields->text.path, name, must);
    return FALSE;
  }
  quoted = nd_text_quote (fields->values[field]);
  fields->text.number = fields->lines[field];
  nd_text_error (&fields->text, error, "%s is %s: it must %s", name, quoted,
      must);
  return FALSE;
}
