/* Files that are as they should be.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

/* Appends what NdWriter makes with @ending, of several types and sizes, with
 * times and fields. */
void seeds_append_written (GPtrArray * seeds, const gchar * ending,
    gboolean compress);

void seeds_append_text (GPtrArray * seeds, const gchar * text, gsize samples);
