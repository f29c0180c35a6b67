/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/rate.h"

#include <math.h>

#define SECOND G_GINT64_CONSTANT (1000000000)

/* Tries the convergents of the continued fraction, beginning with the
 * simplest. */
gboolean
nd_rate_from_seconds (gdouble seconds, gint *rate_n, gint *rate_d)
{
  gint64 d = 1, d_before = 0, n = 0, n_before = 1;
  gdouble x = seconds;

  *rate_n = 0;
  *rate_d = 1;
  if (!(seconds > 0))
    return FALSE;
  while (x <= G_MAXINT) {
    const gint64 whole = x;
    const gint64 d_next = whole * d + d_before, n_next = whole * n + n_before;

    if (d_next > G_MAXINT || n_next > G_MAXINT)
      return FALSE;
    if (d_next > 0
        && (gfloat) ((gdouble) d_next / n_next) == (gfloat) seconds) {
      *rate_n = n_next;
      *rate_d = d_next;
      return TRUE;
    }
    d_before = d, d = d_next;
    n_before = n, n = n_next;
    x = 1 / (x - whole);
  }
  return FALSE;
}

/* The fraction with the smallest numbers between @low and @high, both above 0:
 * the common begin of their continued fractions, then the least whole number
 * between the rests. */
static gboolean
simplest (gdouble low, gdouble high, gint64 *d, gint64 *n)
{
  gint64 d_before = 0, n_before = 1;

  *d = 1;
  *n = 0;
  while (low <= high && low <= G_MAXINT) {
    const gint64 whole = ceil (low) <= high ? ceil (low) : floor (low);
    const gint64 d_next = whole * *d + d_before, n_next = whole * *n + n_before;
    const gdouble rest = low - whole;

    if (d_next > G_MAXINT || n_next > G_MAXINT)
      return FALSE;
    d_before = *d, *d = d_next;
    n_before = *n, *n = n_next;
    if (rest <= 0)
      return TRUE;
    low = 1 / (high - whole);
    high = 1 / rest;
  }
  return FALSE;
}

gboolean
nd_rate_from_times (const gint64 *times, guint n, gint64 unit, gint *rate_n,
    gint *rate_d)
{
  /* The first and the other times may be rounded down. */
  const gdouble slack = unit + 1.;
  gdouble low = 0, high = INFINITY;
  gint64 found_d, found_n;

  *rate_n = 0;
  *rate_d = 1;
  for (guint i = 1; i < n; i++) {
    low = MAX (low, (times[i] - slack) / i / SECOND);
    high = MIN (high, (times[i] + slack) / i / SECOND);
  }
  if (n < 2 || !(low > 0) || !simplest (low, high, &found_d, &found_n)
      || found_d == 0)
    return FALSE;
  *rate_n = found_n;
  *rate_d = found_d;
  return TRUE;
}

gboolean
nd_rate_fits (const gint64 *times, guint n, gint64 unit, gint rate_n,
    gint rate_d)
{
  for (guint i = 1; i < n; i++) {
    const gdouble place = (gdouble) i * rate_d / rate_n * SECOND;

    if (!(fabs (times[i] - place) <= unit + 1.))
      return FALSE;
  }
  return rate_n > 0;
}

guint64
nd_rate_time (gint rate_n, gint rate_d, guint64 volume)
{
  if (rate_n <= 0)
    return volume * SECOND;
  return (guint64) ((unsigned __int128) volume * rate_d * SECOND / rate_n);
}

gdouble
nd_rate_interval (gint rate_n, gint rate_d, const NdList *times)
{
  if (rate_n > 0)
    return (gdouble) rate_d / rate_n;
  if (times->len < 2)
    return 0;
  return (g_array_index (times, gint64, times->len - 1)
             - g_array_index (times, gint64, 0))
      * 1e-9 / (times->len - 1);
}
