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

/* The last position that the output at @anchor reads if the stream does not end
 * before: one of its window, or one that replaces a volume before the start. */
static gint64
last_read (const NdWindow *window, gint64 anchor)
{
  gint64 missing = window->before - anchor;
  gint64 reflected = -1;

  if (window->border == ND_BORDER_REFLECT)
    reflected = missing - 1;
  else if (window->border == ND_BORDER_MIRROR)
    reflected = missing;
  return MAX (anchor + window->after, reflected);
}

guint
nd_window_delay (const NdWindow *window)
{
  return last_read (window, 0);
}

guint
nd_window_back (const NdWindow *window)
{
  guint reflected = 0;

  if (window->border == ND_BORDER_MIRROR)
    reflected = window->after;
  else if (window->border == ND_BORDER_REFLECT && window->after > 0)
    reflected = window->after - 1;
  return MAX (window->before, reflected);
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
