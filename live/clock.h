/* Times of a sender's clock on the clock of the receiver.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The offset between the clocks is the least difference between the times of
 * arrival and of sending in the last 10 to 20 s, because that message had the
 * least delay. The offset in use follows this value slowly, so that the
 * intervals between volumes stay those of the sender. */
typedef struct
{
  gboolean valid;
  gint64 offset;           /* receiver's clock - sender's clock, in use, ns */
  gint64 least[2];         /* differences, of this period and the one before */
  guint64 period;          /* start of this period of 10 s; receiver's clock */
  guint64 last, last_sent; /* of the last message */
  guint64 interval;        /* between messages, by the sender's clock, ns */
  guint64 longest[2];      /* delays, of this period and the one before, ns */
  guint64 delay_period;    /* start of this period of 0.75 s or more */
  guint n_delays;          /* in this period */
  guint64 resets;          /* how often the sender's clock was set */
} NdIgtlClock;

/* The first message that has a time starts the clock. */
void nd_igtl_clock_init (NdIgtlClock *clock);

/* Returns the time of sending on the clock of the receiver, never before the
 * last result. @sent is on the clock of the sender; 0 if it is not known. If it
 * is the same as before, it is not known either: the sender's clock stands
 * still. @arrival is on the clock of the receiver and does not descend. All
 * times are in ns.
 *
 * As long as the times of sending are regular, the results are as well,
 * whenever the messages arrive: after a stall of the network, and if a
 * recording is sent faster than in real time. Then results may be after
 * @arrival, by at most 10 s. Otherwise the offset is measured again if the
 * difference between arrival and sending grows by more than a second, if it
 * falls by more than 0.1 s, or if @sent is more than 0.1 s before the last
 * one. */
guint64 nd_igtl_clock_map (NdIgtlClock *clock, guint64 sent, guint64 arrival);

/* The longest time from a result to the arrival, in the last 0.75 to 1.5 s and
 * at least four messages. */
guint64 nd_igtl_clock_delay (const NdIgtlClock *clock);

G_END_DECLS
