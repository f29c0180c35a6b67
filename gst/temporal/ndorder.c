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
add (NdOrder *order, ItemKind kind, gpointer data)
{
  NdOrderItem *item = g_new (NdOrderItem, 1);

  *item = (NdOrderItem){ kind, data };
  g_queue_push_tail (&order->waiting, item);
}

void
nd_order_add_volume (NdOrder *order, gpointer volume, gboolean gap)
{
  add (order, ITEM_VOLUME, volume);
  order->remaining++;
  if (!gap)
    order->last_sample = order->arrived;
  order->arrived++;
}

void
nd_order_add_held (NdOrder *order)
{
  add (order, ITEM_HELD, NULL);
  order->arrived++;
}

gboolean
nd_order_add_event (NdOrder *order, gpointer event)
{
  if (g_queue_is_empty (&order->waiting))
    return FALSE;
  add (order, ITEM_EVENT, event);
  return TRUE;
}

static NdOrderItem
take (NdOrder *order)
{
  g_autofree NdOrderItem *item = g_queue_pop_head (&order->waiting);

  order->remaining -= item->kind == ITEM_VOLUME;
  return *item;
}

static NdOutputKind
choose (NdOrder *order, const NdOrderItem *item)
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

  for (item = take (order); item.kind == ITEM_EVENT; item = take (order))
    g_queue_push_tail (events, item.data);
  output.kind = choose (order, &item);
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

  return next && next->kind == ITEM_EVENT ? take (order).data : NULL;
}

gpointer
nd_order_drop (NdOrder *order, gboolean *is_event)
{
  while (!g_queue_is_empty (&order->waiting)) {
    const NdOrderItem item = take (order);

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
