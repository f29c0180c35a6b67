/* Times of a sender's clock on the clock of the receiver.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The offset between both clocks is the least difference between arrival and
 * sending in the last 10 to 20 s: that message met the least delay on its way.
 * The offset that is used follows it slowly, so that the spacing of volumes is
 * the sender's. */
typedef struct
{
  gboolean valid;
  gint64 offset;           /* that is used, ns */
  gint64 least[2];         /* of this period of 10 s and of the one before */
  guint64 period;          /* begin of this period, on the receiver's clock */
  guint64 last, last_sent; /* of the last message */
  guint64 delay;           /* the longest between the result and arrival, ns */
  guint64 resets;          /* how often the sender's clock jumped */
} NdIgtlClock;

void nd_igtl_clock_init (NdIgtlClock *clock);

/* @sent on the sender's clock, 0: not known; @arrival on the receiver's, not
 * descending; ns. Returns when it was sent on the receiver's clock, never after
 * @arrival and never before the last result. A sender's clock that jumps by
 * more than a second is measured anew. */
guint64 nd_igtl_clock_map (NdIgtlClock *clock, guint64 sent, guint64 arrival);

G_END_DECLS
