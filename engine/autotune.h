/* Autotuning: measures how long a method takes for a job on a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

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
 * device's memory. Measured now, or found in the cache (engine/cache.h).
 * INFINITY if memory for the measurement is short. */
gdouble nd_autotune_seconds (const NdBackend *backend, gint device_id,
    const NdJob *job, const NdRingOptions *options, NdMethod method);

G_END_DECLS
