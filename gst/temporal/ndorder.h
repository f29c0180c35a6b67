/* The order in which an element with a window over time sends its outputs and
 * the events between its inputs. Without GStreamer: volumes and events are
 * pointers, and a clock says which outputs nobody needs.
 *
 * An item waits from its arrival until nd_order_take() takes the output of its
 * position, or that of a later one. Outputs whose work is not complete are then
 * under way; nd_order_leave() says when the next one may be sent.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What becomes of the output of a position. */
typedef enum
{
  ND_OUTPUT_COMPUTED,
  ND_OUTPUT_HELD,    /* skipped: the position repeats the volume before it */
  ND_OUTPUT_OUTSIDE, /* skipped: outside the segment */
  ND_OUTPUT_LATE     /* skipped: downstream would get it too late */
} NdOutputKind;

/* The work of an output that has something to send, a buffer or events. */
typedef enum
{
  ND_WORK_DONE, /* or downstream waits for it */
  ND_WORK_NONE, /* events only */
  ND_WORK_ENQUEUED
} NdOutputWork;

/* When an output and the events before it may be sent. */
typedef enum
{
  ND_LEAVE_NOW,   /* by this thread, at once */
  ND_LEAVE_AFTER, /* by this thread, after all outputs under way */
  ND_LEAVE_LATER  /* by the thread that completes outputs, in turn */
} NdLeave;

/* Both functions are called by the streaming thread, with the data of
 * nd_order_init(), for volumes only. */
typedef struct
{
  gboolean (*is_outside) (gpointer data, gpointer volume);
  gboolean (*is_late) (gpointer data, gpointer volume);
} NdOrderClock;

/* The streaming thread owns all fields but under_way. */
typedef struct
{
  const NdOrderClock *clock;
  gpointer data;
  GQueue waiting;     /* NdOrderItem */
  guint remaining;    /* volumes among them */
  gint64 arrived;     /* positions of the stretch: volumes and held ones */
  gint64 taken;       /* positions whose output was taken */
  gint64 last_sample; /* position of the last volume with samples */
  gboolean discont;   /* the next computed output has DISCONT */
  guint under_way;    /* outputs that are sent later, and were not yet */
} NdOrder;

typedef struct
{
  NdOutputKind kind;
  gpointer volume; /* the caller owns it; NULL for ND_OUTPUT_HELD */
  gboolean discont;
  gboolean gap; /* no volume of the window has samples */
} NdOrderOutput;

/* Begins a stream. @clock and @data must outlive @order, which one thread uses
 * at a time. */
void nd_order_init (NdOrder *order, const NdOrderClock *clock, gpointer data);

/* Takes a volume, which has no samples if @gap. */
void nd_order_add_volume (NdOrder *order, gpointer volume, gboolean gap);

/* Takes a position that repeats the volume before it. */
void nd_order_add_held (NdOrder *order);

/* Takes @event if a position waits for its output. Otherwise FALSE: the caller
 * sends the event when nd_order_leave() lets it. */
gboolean nd_order_add_event (NdOrder *order, gpointer event);

/* Takes the output of the next position, whose window begins @before positions
 * before it. There must be one. Appends the events before it to @events. */
NdOrderOutput nd_order_take (NdOrder *order, guint before, GQueue *events);

/* The output that was taken last was computed: the next one continues it. */
void nd_order_computed (NdOrder *order);

/* Takes the event after the last output, or the first item when nothing is
 * computed any more. NULL if a volume is next (nd_order_take_event()), or if
 * none is left (nd_order_drop()). */
gpointer nd_order_take_event (NdOrder *order);
gpointer nd_order_drop (NdOrder *order, gboolean *is_event);

/* Begins a new stretch after nd_order_drop() has returned NULL. */
void nd_order_reset (NdOrder *order);

/* When an output may be sent. After ND_LEAVE_LATER it is under way until
 * nd_order_left(), which the caller calls after it was sent. The caller locks,
 * because two threads call these. */
NdLeave nd_order_leave (NdOrder *order, NdOutputWork work);
void nd_order_left (NdOrder *order);

/* Which volumes an element leaves out because it cannot compute as many as
 * arrive. Without GStreamer: the caller tells the times.
 *
 * Volumes that are taken have equal distances in time, so that a window over
 * time is whole and spans a longer time: every second volume, and so on. The
 * distance follows from the time that an output costs.
 *
 * Times are nanoseconds.
 */

/* The outputs and the volumes that count. */
#define ND_THIN_LAST 8

typedef struct
{
  guint64 values[ND_THIN_LAST];
  guint n; /* added since the last reset */
} NdThinTimes;

/* All zero: all volumes are taken. */
typedef struct
{
  guint64 distance;   /* between volumes that are taken; 0: all are */
  NdThinTimes costs;  /* of the last outputs */
  NdThinTimes stamps; /* between the last volumes that were taken */
  gboolean has_last;  /* the next one is valid */
  guint64 stamp;      /* of the last volume that was taken */
} NdThin;

/* An output took @cost to compute. */
void nd_thin_add_cost (NdThin *thin, guint64 cost);

/* Forgets the costs, because other settings are in use. */
void nd_thin_forget_costs (NdThin *thin);

/* The next volume begins a stretch: it is taken. */
void nd_thin_restart (NdThin *thin);

/* Whether to take the volume with timestamp @stamp. @interval: between two
 * inputs; 0 if unknown. */
gboolean nd_thin_take (NdThin *thin, guint64 stamp, guint64 interval);

G_END_DECLS
