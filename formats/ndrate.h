/* Rates as fractions, from periods and from times.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The volume rate with the smallest numbers for which rate_d / rate_n, rounded
 * to float32, is @seconds rounded to float32; FALSE and 0/1 where @seconds is
 * not above 0, or beyond what two gint can say. */
gboolean nd_rate_from_seconds (gdouble seconds, gint * rate_n, gint * rate_d);

/* The volume rate with the smallest numbers for which every one of the @n
 * ascending @times, in nanoseconds from 0, lies at most a @unit and 1 ns
 * beside its place; FALSE and 0/1 where there is none. */
gboolean nd_rate_from_times (const gint64 * times, guint n, gint64 unit,
    gint * rate_n, gint * rate_d);

/* Whether every one of @times lies so near to its place at this rate. */
gboolean nd_rate_fits (const gint64 * times, guint n, gint64 unit, gint rate_n,
    gint rate_d);

/* When a volume begins, in nanoseconds from the first, rounded down. At 0/1
 * volumes are a second apart. */
guint64 nd_rate_time (gint rate_n, gint rate_d, guint64 volume);

G_END_DECLS
