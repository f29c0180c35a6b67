/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/temporal/ndorder.h"

typedef enum
{
  ITEM_VOLUME,
  ITEM_HELD,
  ITEM_EVENT
} ItemKind;

typedef struct
{
  ItemKind kind;
  gpointer data;
} NdOrderItem;

void
nd_order_init (NdOrder *order, const NdOrderClock *clock, gpointer data)
{
  *order = (NdOrder){
    .clock = clock,
    .data = data,
    .last_sample = G_MININT64,
    .discont = TRUE,
  };
  g_queue_init (&order->waiting);
}

static void
order_add (NdOrder *order, ItemKind kind, gpointer data)
{
  NdOrderItem *item = g_new (NdOrderItem, 1);

  *item = (NdOrderItem){ kind, data };
  g_queue_push_tail (&order->waiting, item);
}

void
nd_order_add_volume (NdOrder *order, gpointer volume, gboolean gap)
{
  order_add (order, ITEM_VOLUME, volume);
  order->remaining++;
  if (!gap)
    order->last_sample = order->arrived;
  order->arrived++;
}

void
nd_order_add_held (NdOrder *order)
{
  order_add (order, ITEM_HELD, NULL);
  order->arrived++;
}

gboolean
nd_order_add_event (NdOrder *order, gpointer event)
{
  if (g_queue_is_empty (&order->waiting))
    return FALSE;
  order_add (order, ITEM_EVENT, event);
  return TRUE;
}

static NdOrderItem
order_take (NdOrder *order)
{
  g_autofree NdOrderItem *item = g_queue_pop_head (&order->waiting);

  order->remaining -= item->kind == ITEM_VOLUME;
  return *item;
}

static NdOutputKind
order_choose (NdOrder *order, const NdOrderItem *item)
{
  if (item->kind == ITEM_HELD)
    return ND_OUTPUT_HELD;
  if (order->clock->is_outside (order->data, item->data))
    return ND_OUTPUT_OUTSIDE;
  return order->clock->is_late (order->data, item->data) ? ND_OUTPUT_LATE
                                                         : ND_OUTPUT_COMPUTED;
}

NdOrderOutput
nd_order_take (NdOrder *order, guint before, GQueue *events)
{
  NdOrderOutput output;
  NdOrderItem item;

  for (item = order_take (order); item.kind == ITEM_EVENT;
       item = order_take (order))
    g_queue_push_tail (events, item.data);
  output.kind = order_choose (order, &item);
  output.volume = item.data;
  output.gap = order->last_sample < order->taken - (gint64) before;
  order->taken++;
  order->discont |= output.kind == ND_OUTPUT_LATE;
  output.discont = order->discont;
  return output;
}

void
nd_order_computed (NdOrder *order)
{
  order->discont = FALSE;
}

gpointer
nd_order_take_event (NdOrder *order)
{
  const NdOrderItem *next = g_queue_peek_head (&order->waiting);

  return next && next->kind == ITEM_EVENT ? order_take (order).data : NULL;
}

gpointer
nd_order_drop (NdOrder *order, gboolean *is_event)
{
  while (!g_queue_is_empty (&order->waiting)) {
    const NdOrderItem item = order_take (order);

    *is_event = item.kind == ITEM_EVENT;
    if (item.data)
      return item.data;
  }
  return NULL;
}

void
nd_order_reset (NdOrder *order)
{
  order->arrived = order->taken = 0;
  order->last_sample = G_MININT64;
}

NdLeave
nd_order_leave (NdOrder *order, NdOutputWork work)
{
  if (work != ND_WORK_ENQUEUED && order->under_way == 0)
    return ND_LEAVE_NOW;
  if (work == ND_WORK_DONE)
    return ND_LEAVE_AFTER;
  order->under_way++;
  return ND_LEAVE_LATER;
}

void
nd_order_left (NdOrder *order)
{
  order->under_way--;
}

/* Which volumes an element leaves out because it cannot compute as many as
 * arrive. Without GStreamer: the caller tells the times.
 *
 * Volumes that are taken have equal distances in time, so that a window over
 * time is whole and spans a longer time: every second volume, and so on. The
 * distance follows from the time that an output costs.
 *
 * Times are nanoseconds.
 */

/* Fewer times tell nothing. */
#define ENOUGH 4

/* The share of the time between two volumes that computing may take: above MOST
 * fewer volumes are taken, so that it takes WANTED. */
#define MOST 0.9
#define WANTED 0.8

static void
thin_add_time (NdThinTimes *times, guint64 value)
{
  times->values[times->n % ND_THIN_LAST] = value;
  /* Keeps the place in the array when the count starts again from full. */
  if (++times->n == 2 * ND_THIN_LAST)
    times->n = ND_THIN_LAST;
}

static gdouble
thin_mean (const NdThinTimes *times)
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
  return (thin_mean (costs) * n - longest) / (n - 1);
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
order_adapt (NdThin *thin, guint64 interval)
{
  gdouble cost, time;
  guint64 distance;

  if (thin->costs.n < ENOUGH || thin->stamps.n < ENOUGH)
    return;
  cost = mean_cost (&thin->costs);
  /* Not from when volumes arrive: a source that the element holds up lets them
   * arrive slowly. */
  time = thin_mean (&thin->stamps);
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
  thin_add_time (&thin->costs, cost);
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
    thin_add_time (&thin->stamps, elapsed);
    order_adapt (thin, interval);
  }
  thin->has_last = TRUE;
  thin->stamp = stamp;
  return TRUE;
}
