/* The window over time: which positions of the stream make which output.
 * History without data: volumes are known by their position, 0 for the first
 * since the last reset.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndborder.h"

G_BEGIN_DECLS

/* A position that stands for a volume of the border value. */
#define ND_POSITION_BORDER (-1)

typedef struct
{
  guint behind;                 /* volumes before the anchor that are read */
  guint ahead;                  /* volumes after it */
  NdBorder border;              /* at both ends of the stream; never wrap */

  gint64 pushed;                /* volumes seen */
  gint64 anchor;                /* of the next output */
  gboolean ended;
} NdWindow;

void nd_window_init (NdWindow * window, guint behind, guint ahead,
    NdBorder border);

/* Forgets the stream; what comes next is position 0. */
void nd_window_reset (NdWindow * window);

/* Volumes that one output reads: behind + 1 + ahead. A ring of as many slots,
 * position p in slot p % size, holds all that any output can ask for. */
guint nd_window_size (const NdWindow * window);

/* The most volumes after its anchor that an output waits for: `ahead`, or more
 * where reflect and mirror must first see what the beginning reflects. */
guint nd_window_delay (const NdWindow * window);

/* The most volumes before its anchor that an output may read: `behind`, or more
 * where reflect and mirror go back from the end of the stream. */
guint nd_window_back (const NdWindow * window);

/* One more volume came; it has position window->pushed - 1 then. */
void nd_window_push (NdWindow * window);

/* No more come: the outputs that remain reach across the end. */
void nd_window_end (NdWindow * window);

/* TRUE where output window->anchor can be made now. */
gboolean nd_window_ready (const NdWindow * window);

/* The positions that output window->anchor reads, from -behind to ahead, into
 * @positions[nd_window_size ()]. Only while nd_window_ready(). */
void nd_window_positions (const NdWindow * window, gint64 * positions);

/* Goes on to the next output. */
void nd_window_advance (NdWindow * window);

G_END_DECLS
