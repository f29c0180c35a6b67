/* Results of measurements on this machine, remembered across runs in a key
 * file: ndconv/measured.ini in the user's cache directory, or the file that the
 * environment variable NDCONV_CACHE names. If NDCONV_CACHE is empty, nothing is
 * remembered. A file that cannot be read or written is ignored.
 *
 * Entries belong to one build of the kernels (core/buildid.h). Those of other
 * builds are not used; the oldest are removed from the file.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads the numbers that nd_cache_set() stored under @key for @device, the name
 * of a device. FALSE if this build stored none, or not @n of them. */
gboolean nd_cache_get (const gchar *device, const gchar *key, gdouble *numbers,
    gsize n);
void nd_cache_set (const gchar *device, const gchar *key,
    const gdouble *numbers, gsize n);

G_END_DECLS
