/* The window against its definition: an output is ready if the volumes that it
 * reads no longer depend on how many volumes follow.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/window.h"

/* Finds position @i of a stream of @n volumes by stepping back into the
 * stream. */
static gint64
walk (NdBorder border, gint64 i, gint64 n)
{
  while (i < 0 || i >= n) {
    if (border == ND_BORDER_CONSTANT)
      return ND_POSITION_BORDER;
    if (border == ND_BORDER_NEAREST)
      i += i < 0 ? 1 : -1;
    else if (border == ND_BORDER_WRAP)
      i += i < 0 ? n : -n;
    else if (border == ND_BORDER_REFLECT)
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    else if (n == 1)
      i = 0;
    else
      i = i < 0 ? -i : 2 * n - 2 - i;
  }
  return i;
}

static gboolean
is_settled (const NdWindow *w)
{
  for (gint64 i = -(gint64) w->before; i <= (gint64) w->after; i++) {
    gint64 now = walk (w->border, w->anchor + i, w->pushed);

    for (gint64 n = w->pushed + 1; n < w->pushed + 20; n++)
      if (walk (w->border, w->anchor + i, n) != now)
        return FALSE;
  }
  return TRUE;
}

static void
check_positions (const NdWindow *w)
{
  gint64 positions[32];

  nd_window_positions (w, positions);
  for (guint i = 0; i < nd_window_size (w); i++) {
    gint64 at = w->anchor - w->before + i;

    g_assert_cmpint (positions[i], ==, walk (w->border, at, w->pushed));
    if (positions[i] == ND_POSITION_BORDER)
      continue;
    /* The position is still in the ring and within reach. */
    g_assert_cmpint (positions[i], >=, w->pushed - nd_window_size (w));
    g_assert_cmpint (positions[i], >=, w->anchor - nd_window_back (w));
  }
}

static void
check_stream (NdBorder border, guint before, guint after, gint64 n)
{
  NdWindow w;
  gint64 longest = 0;

  nd_window_init (&w, before, after, border);
  g_assert_cmpuint (nd_window_size (&w), ==, before + 1 + after);
  g_assert_false (nd_window_ready (&w));
  for (gint64 i = 0; i < n; i++) {
    nd_window_push (&w);
    g_assert_cmpint (w.pushed, ==, i + 1);
    while (nd_window_ready (&w)) {
      g_assert_true (is_settled (&w));
      check_positions (&w);
      longest = MAX (longest, w.pushed - 1 - w.anchor);
      nd_window_advance (&w);
    }
    g_assert_false (w.anchor < w.pushed && is_settled (&w));
  }
  g_assert_cmpint (longest, <=, nd_window_delay (&w));
  if (n > nd_window_delay (&w))
    g_assert_cmpint (longest, ==, nd_window_delay (&w));
  nd_window_end (&w);
  while (nd_window_ready (&w)) {
    check_positions (&w);
    nd_window_advance (&w);
  }
  g_assert_cmpint (w.anchor, ==, n);
  nd_window_reset (&w);
  g_assert_false (nd_window_ready (&w));
  nd_window_push (&w);
  g_assert_cmpint (w.pushed, ==, 1);
  g_assert_false (w.ended);
}

static void
test_streams (gconstpointer border)
{
  for (guint before = 0; before < 7; before++)
    for (guint after = 0; after < 7; after++)
      for (gint64 n = 0; n < 24; n++)
        check_stream (GPOINTER_TO_INT (border), before, after, n);
}

/* The borders of the window and of volumes follow the same rule. */
static void
test_index (void)
{
  for (NdBorder b = 0; b < ND_BORDER_END; b++)
    for (gint64 n = 1; n < 9; n++)
      for (gint64 i = -50; i < 50; i++)
        g_assert_cmpint (nd_border_index (b, i, n), ==, walk (b, i, n));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/window/index", test_index);
  for (NdBorder b = 0; b < ND_BORDER_END; b++) {
    g_autofree gchar *path = g_strdup_printf ("/window/%s", nd_border_name (b));

    if (b != ND_BORDER_WRAP)
      g_test_add_data_func (path, GINT_TO_POINTER (b), test_streams);
  }
  return g_test_run ();
}
