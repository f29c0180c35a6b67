/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/window.h"

/* The slot of position @t of the window. Without a border volume, those beyond
 * the stream have volumes of the stream, as in a mirror. */
static gint
slot_at (const Window *w, guint t)
{
  const gint last = w->n - 1, i = t + w->after, first = w->before;
  const gboolean is_outside = i < first || i > last;

  if (is_outside && w->c->options.border_volumes)
    return ND_SLOT_BORDER;
  return w->order[CLAMP (i < first ? 2 * first - i
          : i > last               ? 2 * last - i
                                   : i,
      first, last)];
}

static void
set_slots (Window *w)
{
  for (guint t = 0; t < w->n; t++)
    w->slots[t] = slot_at (w, t);
}

void
window_init (Window *w, const Case *c)
{
  *w = (Window){ .c = c,
    .r = g_rand_new_with_seed (c->window_seed),
    .n = c->reach.slots,
    .order = g_new (gint, c->reach.slots),
    .volume = g_new (guint, c->reach.slots),
    .slots = g_memdup2 (c->slots, c->reach.slots * sizeof (gint)) };
  for (guint t = 0; t < w->n; t++)
    w->order[t] = w->volume[t] = t;
  w->pushed = w->n - 1;
  w->replaced = -1;
  if (c->moves > 0)
    w->before = g_rand_int_range (w->r, 0, w->n);
}

void
window_clear (Window *w)
{
  g_rand_free (w->r);
  g_free (w->order);
  g_free (w->volume);
  g_free (w->slots);
}

/* Pushes into the slot of the oldest volume. */
static void
move_on (Window *w, Step *step)
{
  const gint oldest = w->order[0];

  for (guint t = 1; t < w->n; t++)
    w->order[t - 1] = w->order[t];
  w->order[w->n - 1] = step->pushed = oldest;
  step->begins = TRUE;
}

Step
window_step (Window *w)
{
  const gboolean is_steady = w->c->is_steady;
  const guint last = w->n - 1;
  const gint newest = w->order[last];
  const guint kind = is_steady ? 0 : g_rand_int_range (w->r, 0, 14);
  Step step = { .responds = is_steady || g_rand_int_range (w->r, 0, 6) > 0,
    .scale = is_steady ? 0 : g_rand_int_range (w->r, 0, OUTPUTS),
    .pushed = -1,
    .volume = g_rand_int_range (w->r, 0, w->n + 1) };

  if (w->is_quiet)
    step.responds = FALSE;
  w->is_quiet = FALSE;

  if (w->replaced >= 0) { /* again, before a response */
    step.pushed = w->replaced;
    step.responds = FALSE;
    w->replaced = -1;
    w->is_quiet = TRUE;
  } else if (w->after > 0 && kind < 8) {
    w->after = MIN (w->after + 1, last - w->before);
  } else if (kind == 8 || w->after > 0) { /* another stream */
    move_on (w, &step);
    w->before = last;
    w->after = 0;
  } else if (kind == 9) { /* the end of the stream */
    w->after = MIN (1, last - w->before);
  } else if (kind == 10 || kind == 11) { /* another volume in a slot */
    step.pushed =
        w->order[g_rand_int_range (w->r, kind == 10 ? 0 : last, w->n)];
    if (g_rand_boolean (w->r))
      w->replaced = step.pushed;
  } else if (kind < 13) {
    move_on (w, &step);
    w->before -= w->before > 0;
    if (kind == 12 && w->c->options.keep && w->pushed == newest) {
      step.from = newest;
      step.volume = -1;
    }
  }
  if (step.pushed >= 0) {
    w->volume[step.pushed] =
        step.volume >= 0 ? (guint) step.volume : w->volume[step.from];
    w->pushed = step.pushed;
  }
  set_slots (w);
  return step;
}
