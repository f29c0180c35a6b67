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
  guint64 delay;  /* the longest time from the result to the arrival, ns */
  guint64 resets; /* how often the offset jumped: by the sender's
                   * clock, or by a message that was very late */
} NdIgtlClock;

void nd_igtl_clock_init (NdIgtlClock *clock);

/* Returns the time of sending on the clock of the receiver, never after
 * @arrival and never before the last result. @sent is on the clock of the
 * sender; 0 if it is not known. If it is the same as before, it is not known
 * either: the sender's clock stands still. @arrival is on the clock of the
 * receiver and does not descend. All times are in ns. If the difference between
 * arrival and sending changes by more than a second, or if @sent is more than
 * 0.1 s before the last one, the offset is measured again. */
guint64 nd_igtl_clock_map (NdIgtlClock *clock, guint64 sent, guint64 arrival);

G_END_DECLS
