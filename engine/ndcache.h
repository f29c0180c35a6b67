/* What measurements on this machine found, remembered across runs in a key
 * file: ndconv/measured.ini in the user's cache directory, or NDCONV_CACHE,
 * where an empty name remembers nothing. A file that cannot be read or written
 * is done without.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Numbers under @key of what was measured on @device; FALSE where there are
 * not @n of them. */
gboolean nd_cache_get (const gchar * device, const gchar * key,
    gdouble * numbers, gsize n);
void nd_cache_set (const gchar * device, const gchar * key,
    const gdouble * numbers, gsize n);

G_END_DECLS
