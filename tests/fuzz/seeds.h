/* Valid files.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* Appends files made by NdWriter with @ending, of several types and sizes, with
 * times and fields. */
void seeds_append_written (GPtrArray *seeds, const gchar *ending,
    gboolean compress);

void seeds_append_text (GPtrArray *seeds, const gchar *text, gsize samples);
