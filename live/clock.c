/* The running estimate of the offset between two clocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "live/clock.h"

#define SECOND G_GINT64_CONSTANT (1000000000)
#define PERIOD (10 * SECOND)
#define JUMP SECOND        /* more than clocks drift apart in two periods */
#define BACK (SECOND / 10) /* more than volumes of one sender change places */
#define AHEAD (10 * SECOND)
#define FOLLOW 16 /* volumes in which the offset follows by 63 % */
#define SLOPE 16  /* part of an interval by which the offset may change */

/* Two of these and a message end within 2 s. */
#define DELAY_PERIOD (SECOND / 4 * 3)
#define DELAYS_MIN 4

void
nd_igtl_clock_init (NdIgtlClock *clock)
{
  *clock = (NdIgtlClock){ 0 };
}

static void
measure_anew (NdIgtlClock *clock, gint64 difference, guint64 arrival)
{
  clock->valid = TRUE;
  clock->offset = clock->least[0] = clock->least[1] = difference;
  clock->period = arrival;
}

static gint64
least_difference (const NdIgtlClock *clock)
{
  return MIN (clock->least[0], clock->least[1]);
}

static void
follow (NdIgtlClock *clock, gint64 difference, guint64 arrival, gint64 step)
{
  const gint64 most = ABS (step) / SLOPE;

  if (arrival - clock->period >= (guint64) PERIOD) {
    clock->least[1] = clock->least[0];
    clock->least[0] = difference;
    clock->period = arrival;
  }
  clock->least[0] = MIN (clock->least[0], difference);
  clock->offset +=
      CLAMP ((least_difference (clock) - clock->offset) / FOLLOW, -most, most);
}

/* Whether a message @step ns after the last one, by the sender's clock, comes
 * at the pace of those before. */
static gboolean
is_regular (const NdIgtlClock *clock, gint64 step)
{
  const gint64 interval = clock->interval;

  return step > 0 && interval > 0 && ABS (step - interval) <= interval / 2;
}

/* TRUE if the clock of the sender was set: @sent is BACK before the last one,
 * or not at the pace of those before, and its difference is further from the
 * least one than messages are delayed. */
static gboolean
has_jumped (const NdIgtlClock *clock, gint64 difference, guint64 sent,
    gboolean regular)
{
  if (sent + BACK < clock->last_sent)
    return TRUE;
  if (regular)
    return difference < clock->offset - AHEAD;
  return difference < least_difference (clock) - BACK
      || difference > least_difference (clock) + JUMP;
}

static void
take_delay (NdIgtlClock *clock, guint64 delay, guint64 arrival)
{
  if (clock->n_delays >= DELAYS_MIN
      && arrival - clock->delay_period >= (guint64) DELAY_PERIOD) {
    clock->longest[1] = clock->longest[0];
    clock->longest[0] = 0;
    clock->n_delays = 0;
  }
  if (clock->n_delays == 0)
    clock->delay_period = arrival;
  clock->n_delays++;
  clock->longest[0] = MAX (clock->longest[0], delay);
}

guint64
nd_igtl_clock_delay (const NdIgtlClock *clock)
{
  return MAX (clock->longest[0], clock->longest[1]);
}

guint64
nd_igtl_clock_map (NdIgtlClock *clock, guint64 sent, guint64 arrival)
{
  gint64 difference, time, step;
  gboolean regular;

  if (sent == 0 || sent == clock->last_sent || sent > G_MAXINT64
      || arrival > G_MAXINT64) {
    clock->last = MAX (clock->last, arrival);
    return clock->last;
  }
  difference = (gint64) arrival - (gint64) sent;
  step = (gint64) sent - (gint64) clock->last_sent;
  /* The first two messages tell the pace. */
  if (clock->valid && clock->interval == 0 && step > 0 && step <= SECOND)
    clock->interval = step;
  regular = is_regular (clock, step);
  if (!clock->valid) {
    measure_anew (clock, difference, arrival);
  } else if (has_jumped (clock, difference, sent, regular)) {
    clock->resets++;
    measure_anew (clock, difference, arrival);
  } else {
    follow (clock, difference, arrival, step);
    if (step > 0)
      clock->interval += (step - (gint64) clock->interval) / FOLLOW;
  }
  time = (gint64) sent + clock->offset;
  if (!regular)
    time = CLAMP (time, (gint64) MIN (clock->last, arrival), (gint64) arrival);
  clock->last_sent = sent;
  clock->last = MAX ((gint64) clock->last, time);
  take_delay (clock, arrival - MIN (clock->last, arrival), arrival);
  return clock->last;
}
