/* Rates as fractions, computed from periods and from times.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/list.h"

G_BEGIN_DECLS

/* The fraction with the smallest numbers whose period rate_d / rate_n equals
 * @seconds after both are rounded to float32. FALSE and 0/1 if @seconds is not
 * above 0 or if two gint cannot represent the rate. */
gboolean nd_rate_from_seconds (gdouble seconds, gint *rate_n, gint *rate_d);

/* The fraction with the smallest numbers at which each of the @n ascending
 * @times, in nanoseconds from 0, differs from its time by at most @unit + 1 ns.
 * FALSE and 0/1 if no rate fits. */
gboolean nd_rate_from_times (const gint64 *times, guint n, gint64 unit,
    gint *rate_n, gint *rate_d);

/* TRUE if all @times fit this rate, with the tolerance of
 * nd_rate_from_times(). */
gboolean nd_rate_fits (const gint64 *times, guint n, gint64 unit, gint rate_n,
    gint rate_d);

/* The time of a volume in nanoseconds from the first one, rounded down. At 0/1
 * volumes are a second apart. */
guint64 nd_rate_time (gint rate_n, gint rate_d, guint64 volume);

/* The mean time from volume to volume in seconds: by the rate, otherwise by
 * @times, which are gint64; 0 if it is unknown. */
gdouble nd_rate_interval (gint rate_n, gint rate_d, const NdList *times);

G_END_DECLS
