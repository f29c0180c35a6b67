/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/json.h"

#include <math.h>

void
nd_json_text (GString *json, const gchar *text)
{
  g_autofree gchar *valid = g_utf8_make_valid (text ? text : "", -1);

  g_string_append_c (json, '"');
  for (const gchar *p = valid; *p; p++) {
    guchar c = *p;

    if (c == '"' || c == '\\')
      g_string_append_c (json, '\\');
    if (c < 0x20 || c == 0x7f)
      g_string_append_printf (json, "\\u%04x", c);
    else
      g_string_append_c (json, c);
  }
  g_string_append_c (json, '"');
}

void
nd_json_name (GString *json, const gchar *name)
{
  gchar last = json->len ? json->str[json->len - 1] : '{';

  if (last != '{' && last != '[')
    g_string_append_c (json, ',');
  nd_json_text (json, name);
  g_string_append_c (json, ':');
}

void
nd_json_number (GString *json, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (json,
      isfinite (number) ? g_ascii_dtostr (text, sizeof (text), number)
                        : "null");
}
