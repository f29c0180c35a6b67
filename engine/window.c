/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/window.h"

void
nd_window_init (NdWindow *window, guint before, guint after, NdBorder border)
{
  g_return_if_fail (border != ND_BORDER_WRAP);

  window->before = before;
  window->after = after;
  window->border = border;
  nd_window_reset (window);
}

void
nd_window_reset (NdWindow *window)
{
  window->pushed = 0;
  window->anchor = 0;
  window->ended = FALSE;
}

guint
nd_window_size (const NdWindow *window)
{
  return window->before + 1 + window->after;
}

/* A size that no stream reaches: a border at one end then does not read the
 * other end. */
#define LONG (G_MAXINT64 / 4)

/* The last position that the output at @anchor reads if the stream does not end
 * before: one of its window, or one that replaces a volume before the start, as
 * the border does for the volume farthest away. */
static gint64
last_read (const NdWindow *window, gint64 anchor)
{
  const gint64 first = anchor - window->before;

  return MAX (anchor + window->after,
      first < 0 ? nd_border_near (window->border, first, LONG) : -1);
}

guint
nd_window_delay (const NdWindow *window)
{
  return last_read (window, 0);
}

/* The last volume of a stretch reads farthest back beyond its end. */
guint
nd_window_back (const NdWindow *window)
{
  const gint64 anchor = LONG - 1;
  const gint64 repeated = window->after > 0
      ? nd_border_near (window->border, anchor + window->after, LONG)
      : anchor;

  return MAX (window->before, anchor - repeated);
}

void
nd_window_push (NdWindow *window)
{
  g_return_if_fail (!window->ended);
  window->pushed++;
}

void
nd_window_end (NdWindow *window)
{
  window->ended = TRUE;
}

gboolean
nd_window_ready (const NdWindow *window)
{
  if (window->ended)
    return window->anchor < window->pushed;
  return last_read (window, window->anchor) < window->pushed;
}

void
nd_window_positions (const NdWindow *window, gint64 *positions)
{
  guint size = nd_window_size (window);
  gint64 first = window->anchor - window->before;

  g_return_if_fail (nd_window_ready (window));

  for (guint i = 0; i < size; i++)
    positions[i] = nd_border_index (window->border, first + i, window->pushed);
}

void
nd_window_advance (NdWindow *window)
{
  window->anchor++;
}

static gsize
count_along (gsize size, gsize block)
{
  return size / block + (size % block > 0);
}

gsize
nd_blocks_count (const gsize size[ND_AXES], const gsize block[ND_AXES])
{
  gsize n = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (!g_size_checked_mul (&n, n, count_along (size[a], block[a])))
      return G_MAXSIZE;
  }
  return n;
}

/* The samples @first to @last that a block must have so that the border gives
 * sample @i of an axis of @n. For reflect and mirror these are all samples from
 * the edge to the one that replaces @i, because a box has no gaps. */
static void
include (NdBorder border, gint64 i, gint64 n, gint64 *first, gint64 *last)
{
  const gint64 at = nd_border_index (border, i, n);

  if (at < 0)
    return;
  *first = MIN (*first, at);
  *last = MAX (*last, at);
}

static void
find_box (NdBorder border, gint64 low, gint64 high, gint64 n, gint64 *first,
    gint64 *last)
{
  const gboolean before = low < 0, after = high >= n;

  *first = CLAMP (low, 0, n - 1);
  *last = CLAMP (high, 0, n - 1);
  /* A border that repeats more than once reads all samples. */
  if ((before && (border == ND_BORDER_WRAP || -low >= n))
      || (after && (border == ND_BORDER_WRAP || high - n >= n - 1))) {
    *first = 0;
    *last = n - 1;
    return;
  }
  if (before)
    include (border, low, n, first, last);
  if (after)
    include (border, high, n, first, last);
}

void
nd_blocks_get (gsize index, const gsize size[ND_AXES],
    const gsize block[ND_AXES], const gint low[ND_AXES],
    const gint high[ND_AXES], NdBorder border, NdBorder time_border, NdBox *out,
    NdBox *in)
{
  for (guint a = 0; a < ND_AXES; a++) {
    const gsize n = count_along (size[a], block[a]);
    gint64 first, last;

    out->start[a] = index % n * block[a];
    out->size[a] = MIN (block[a], size[a] - out->start[a]);
    index /= n;
    find_box (a == ND_AXIS_T ? time_border : border,
        (gint64) out->start[a] + low[a],
        (gint64) (out->start[a] + out->size[a]) - 1 + high[a], size[a], &first,
        &last);
    in->start[a] = first;
    in->size[a] = last - first + 1;
  }
}
