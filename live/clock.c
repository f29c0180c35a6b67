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
#define FOLLOW 16          /* volumes in which the offset follows by 63 % */

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

static void
follow (NdIgtlClock *clock, gint64 difference, guint64 arrival)
{
  if (arrival - clock->period >= (guint64) PERIOD) {
    clock->least[1] = clock->least[0];
    clock->least[0] = difference;
    clock->period = arrival;
  }
  clock->least[0] = MIN (clock->least[0], difference);
  clock->offset +=
      (MIN (clock->least[0], clock->least[1]) - clock->offset) / FOLLOW;
}

/* TRUE if @difference is further than JUMP from the least one, or @sent is BACK
 * before the last one: the clock of the sender was set, or the message was very
 * late. */
static gboolean
has_jumped (const NdIgtlClock *clock, gint64 difference, guint64 sent)
{
  const gint64 least = MIN (clock->least[0], clock->least[1]);

  return difference < least - JUMP || difference > least + JUMP
      || sent + BACK < clock->last_sent;
}

guint64
nd_igtl_clock_map (NdIgtlClock *clock, guint64 sent, guint64 arrival)
{
  gint64 difference, time;

  if (sent == 0 || sent == clock->last_sent || sent > G_MAXINT64
      || arrival > G_MAXINT64) {
    clock->last = MAX (clock->last, arrival);
    return clock->last;
  }
  difference = (gint64) arrival - (gint64) sent;
  if (!clock->valid) {
    measure_anew (clock, difference, arrival);
  } else if (has_jumped (clock, difference, sent)) {
    clock->resets++;
    measure_anew (clock, difference, arrival);
  } else {
    follow (clock, difference, arrival);
  }
  time = (gint64) sent + clock->offset;
  time = CLAMP (time, (gint64) MIN (clock->last, arrival), (gint64) arrival);
  clock->last_sent = sent;
  clock->last = MAX (clock->last, (guint64) time);
  clock->delay = MAX (clock->delay, arrival - (guint64) time);
  return clock->last;
}
