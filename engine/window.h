/* The input that outputs need: the window over time, and the blocks of a
 * recording that are filtered one by one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/border.h"
#include "engine/job.h"

G_BEGIN_DECLS

/* The window over time: the positions that each output is computed from. It
 * holds no data: a volume is known by its position in its stretch, 0 for the
 * first one since the last reset. */

/* In place of a position: a volume of the border value. */
#define ND_POSITION_BORDER (-1)

typedef struct
{
  guint before;    /* volumes that an output reads before its anchor */
  guint after;     /* volumes that it reads after its anchor */
  NdBorder border; /* at both ends of the stretch; never wrap */

  gint64 pushed; /* volumes so far */
  gint64 anchor; /* position of the next output */
  gboolean ended;
} NdWindow;

/* An empty window. Its functions do not lock. */
void nd_window_init (NdWindow *window, guint before, guint after,
    NdBorder border);

/* Begins a new stretch. The next volume has position 0. */
void nd_window_reset (NdWindow *window);

/* The volumes that one output reads: before + 1 + after. A ring of that many
 * slots, with position p in slot p % size, holds all volumes that the next
 * output can read. */
guint nd_window_size (const NdWindow *window);

/* The most volumes after its anchor that an output waits for: `after`, or more
 * if reflect or mirror read later volumes in place of those before the
 * start. */
guint nd_window_delay (const NdWindow *window);

/* The most volumes before its anchor that an output may read: `before`, or more
 * if reflect or mirror read earlier volumes in place of those after the end. */
guint nd_window_back (const NdWindow *window);

/* Adds a volume, whose position is window->pushed - 1 afterwards. */
void nd_window_push (NdWindow *window);

/* Ends the stretch. The remaining outputs read volumes of the border beyond its
 * end. */
void nd_window_end (NdWindow *window);

/* Whether all volumes that output window->anchor reads have been pushed. */
gboolean nd_window_ready (const NdWindow *window);

/* Writes the positions that output window->anchor reads, from offset -before to
 * after, to @positions[nd_window_size ()]. Only while nd_window_ready(). */
void nd_window_positions (const NdWindow *window, gint64 *positions);

/* Proceeds to the next output. */
void nd_window_advance (NdWindow *window);

/* Blocks: parts of a recording that are filtered one by one, each with the
 * input samples that its outputs need. */

/* Samples @start to @start + @size - 1 along x, y, z, t. */
typedef struct
{
  gsize start[ND_AXES];
  gsize size[ND_AXES];
} NdBox;

/* The number of blocks of @block outputs each, or fewer at the ends, that cover
 * @size; G_MAXSIZE if there are too many to count. */
gsize nd_blocks_count (const gsize size[ND_AXES], const gsize block[ND_AXES]);

/* Block @index, counted along x first: its outputs, and the box of the input
 * that they need. If that box is filtered with the same borders, its samples
 * at the place of @out are those of the whole recording.
 *
 * @low and @high are those of NdReach. At an edge, the box also has the samples
 * that the border repeats; with ND_BORDER_WRAP these are at the other end, so
 * that the box has the whole axis. */
void nd_blocks_get (gsize index, const gsize size[ND_AXES],
    const gsize block[ND_AXES], const gint low[ND_AXES],
    const gint high[ND_AXES], NdBorder border, NdBorder time_border, NdBox *out,
    NdBox *in);

G_END_DECLS
