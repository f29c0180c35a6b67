/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndrate.h"

#include <math.h>

#define SECOND G_GINT64_CONSTANT (1000000000)

typedef gboolean (*Fits) (gdouble period, gpointer data);

/* The convergents of the continued fraction, from the simplest. */
static gboolean
find_rate (gdouble seconds, Fits fits, gpointer data, gint * rate_n,
    gint * rate_d)
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
    if (d_next > 0 && fits ((gdouble) d_next / n_next, data)) {
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

static gboolean
same_float (gdouble period, gpointer seconds)
{
  return (gfloat) period == (gfloat) * (const gdouble *) seconds;
}

gboolean
nd_rate_from_seconds (gdouble seconds, gint * rate_n, gint * rate_d)
{
  return find_rate (seconds, same_float, &seconds, rate_n, rate_d);
}

typedef struct
{
  const gint64 *times;
  guint n;
  gdouble slack;
} Times;

static gboolean
near_all (gdouble period, gpointer data)
{
  const Times *times = data;

  for (guint i = 0; i < times->n; i++) {
    if (fabs (i * period * SECOND - times->times[i]) > times->slack)
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_rate_from_times (const gint64 * times, guint n, gint64 unit, gint * rate_n,
    gint * rate_d)
{
  Times all = { times, n, unit / 2. + 1 };

  *rate_n = 0;
  *rate_d = 1;
  return n > 1 && find_rate ((gdouble) times[n - 1] / (n - 1) / SECOND,
      near_all, &all, rate_n, rate_d);
}

guint64
nd_rate_time (gint rate_n, gint rate_d, guint64 volume)
{
  if (rate_n <= 0)
    return volume * SECOND;
  return (guint64) ((unsigned __int128) volume * rate_d * SECOND / rate_n);
}
