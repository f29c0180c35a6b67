/* Text in JSON.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends @text in quotes, with the characters escaped that JSON does not
 * allow. NULL is "". Bytes that are not UTF-8 are replaced. */
void nd_json_text (GString *json, const gchar *text);

/* Appends a comma unless @json ends with an opening bracket, then "@name":. */
void nd_json_name (GString *json, const gchar *name);

/* Appends a number; one that JSON cannot have becomes null. */
void nd_json_number (GString *json, gdouble number);

G_END_DECLS
