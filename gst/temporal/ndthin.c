/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/ndthin.h"

/* Fewer times tell nothing. */
#define ENOUGH 4

/* The share of the time between two volumes that computing may take: above MOST
 * fewer volumes are taken, so that it takes WANTED. */
#define MOST 0.9
#define WANTED 0.8

static void
add (NdThinTimes *times, guint64 value)
{
  times->values[times->n % ND_THIN_LAST] = value;
  /* Keeps the place in the array when the count starts again from full. */
  if (++times->n == 2 * ND_THIN_LAST)
    times->n = ND_THIN_LAST;
}

static gdouble
mean (const NdThinTimes *times)
{
  const guint n = MIN (times->n, ND_THIN_LAST);
  gdouble sum = 0;

  for (guint i = 0; i < n; i++)
    sum += times->values[i];
  return sum / n;
}

/* Without the longest one, because one hiccup is no overload. */
static gdouble
mean_cost (const NdThinTimes *costs)
{
  const guint n = MIN (costs->n, ND_THIN_LAST);
  guint64 longest = 0;

  for (guint i = 0; i < n; i++)
    longest = MAX (longest, costs->values[i]);
  return (mean (costs) * n - longest) / (n - 1);
}

/* The distance at which an output may cost @cost, a multiple of the
 * interval. */
static guint64
find_distance (gdouble cost, guint64 interval)
{
  const guint64 distance = cost / WANTED;

  if (interval == 0)
    return distance;
  return (distance + interval - 1) / interval * interval;
}

/* The limits differ, and a distance stays for a while, so that it does not go
 * up and down. */
static void
adapt (NdThin *thin, guint64 interval)
{
  gdouble cost, time;
  guint64 distance;

  if (thin->costs.n < ENOUGH || thin->stamps.n < ENOUGH)
    return;
  cost = mean_cost (&thin->costs);
  /* Not from when volumes arrive: a source that the element holds up lets them
   * arrive slowly. */
  time = mean (&thin->stamps);
  distance = find_distance (cost, interval);
  if (cost <= MOST * time
      && (thin->stamps.n < ND_THIN_LAST || distance >= thin->distance))
    return;
  thin->distance = distance > interval ? distance : 0;
  thin->stamps.n = 0;
}

void
nd_thin_add_cost (NdThin *thin, guint64 cost)
{
  add (&thin->costs, cost);
}

void
nd_thin_forget_costs (NdThin *thin)
{
  thin->costs.n = 0;
}

void
nd_thin_restart (NdThin *thin)
{
  thin->has_last = FALSE;
}

gboolean
nd_thin_take (NdThin *thin, guint64 stamp, guint64 interval)
{
  /* Timestamps may jitter. An interval that is not known yet may be wrong. */
  const guint64 most = thin->distance / 8;
  const guint64 tolerance = interval > 0 ? MIN (interval / 2, most) : most;

  if (thin->has_last && stamp > thin->stamp) {
    const guint64 elapsed = stamp - thin->stamp;

    if (elapsed + tolerance < thin->distance)
      return FALSE;
    add (&thin->stamps, elapsed);
    adapt (thin, interval);
  }
  thin->has_last = TRUE;
  thin->stamp = stamp;
  return TRUE;
}
