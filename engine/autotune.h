/* Autotuning: measures how long a method takes for a job on a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

#include <glib.h>

G_BEGIN_DECLS

/* Whether the methods of a back end can be measured: it needs events, memory of
 * a device, and a name under which the results are stored. */
gboolean nd_autotune_possible (const NdBackend *backend);

/* Seconds per volume that were measured before, or 0. */
gdouble nd_autotune_recall (const NdBackend *backend, gint device_id,
    const NdJob *job, const NdRingOptions *options, NdMethod method);

/* The estimated seconds that a measurement takes, without ring_new(), of a
 * method that takes @seconds per volume. */
gdouble nd_autotune_cost (const NdJob *job, gdouble seconds);

/* Seconds per volume for one push and one respond, on volumes of zeros in the
 * device's memory. Measured now, or found in the cache (engine/autotune.h).
 * INFINITY if memory for the measurement is short. */
gdouble nd_autotune_seconds (const NdBackend *backend, gint device_id,
    const NdJob *job, const NdRingOptions *options, NdMethod method);

/* Results of measurements on this machine, remembered across runs in a key
 * file: ndconv/measured.ini in the user's cache directory, or the file that the
 * environment variable NDCONV_CACHE names. If NDCONV_CACHE is empty, nothing is
 * remembered. A file that cannot be read or written is ignored.
 *
 * Entries belong to one build of the kernels (core/buildid.h). Those of other
 * builds are not used; the oldest are removed from the file. */

/* Reads the numbers that nd_cache_set() stored under @key for @device, the name
 * of a device. FALSE if this build stored none, or not @n of them. */
gboolean nd_cache_get (const gchar *device, const gchar *key, gdouble *numbers,
    gsize n);

/* Stores @n numbers under @key. Any thread; so may
 * nd_cache_get() be called. */
void nd_cache_set (const gchar *device, const gchar *key,
    const gdouble *numbers, gsize n);

G_END_DECLS
