/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/view/gstndviewhelp.h"

#include "view/canvas.h"

#include <string.h>

#define GAP 3 /* characters between columns */

static const gchar *const rows[] = {
  "h       this list",
  "m M     next, previous mode",
  "x y z   axis of the view",
  "c       next colour map",
  "p       max, mean, min",
  "v       perspective",
  "+ -     zoom",
  "arrows  turn, next slice",
  "l       labels, value",
  "s t     scale, time",
  "w       automatic window",
  "r       reset the view",
  "left    turn, place, or pan",
  "middle  pan",
  "right   window and level",
  "wheel   slices, or zoom",
};

/* For small pictures; it fits in 128 x 128. */
static const gchar *const short_rows[] = {
  "h      this list",
  "m M    mode",
  "x y z  axis",
  "c p    colours, rays",
  "v      perspective",
  "+ -    zoom",
  "arrows turn, slice",
  "l s t  text,bar,time",
  "w r    window, reset",
  "left   turn, pan",
  "middle pan",
  "right  window, level",
  "wheel  slice, zoom",
};

static guint
longest (const gchar *const *lines, guint n)
{
  guint most = 0;

  for (guint i = 0; i < n; i++)
    most = MAX (most, strlen (lines[i]));
  return most;
}

/* @lines in as few columns as @high lines allow; NULL if they are wider than
 * @wide characters. */
static gchar *
lay_out (const gchar *const *lines, guint n, guint wide, guint high)
{
  const guint columns = high > 0 ? (n + high - 1) / high : n;
  const guint used = (n + columns - 1) / columns;
  const guint width = longest (lines, n);
  g_autoptr (GString) text = g_string_new (NULL);

  if (columns * (width + GAP) - GAP > wide || used > high)
    return NULL;
  for (guint i = 0; i < used; i++) {
    for (guint k = i; k < n; k += used)
      g_string_append_printf (text, "%-*s",
          k + used < n ? (gint) (width + GAP) : 0, lines[k]);
    g_string_append_c (text, '\n');
  }
  g_string_truncate (text, text->len - 1);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Appends the words of @line to @lines, of at most @wide characters each. A
 * longer word is broken. */
static void
wrap (const gchar *line, guint wide, GPtrArray *lines)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; words[i]; i++) {
    const gchar *word = words[i];

    if (text->len > 0 && text->len + 1 + strlen (word) > wide) {
      g_ptr_array_add (lines, g_strdup (text->str));
      g_string_truncate (text, 0);
    }
    for (; strlen (word) > wide; word += wide)
      g_ptr_array_add (lines, g_strndup (word, wide));
    if (*word)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", word);
  }
  if (text->len > 0)
    g_ptr_array_add (lines, g_strdup (text->str));
}

/* A page of the short list, and a line that says which. */
static gchar *
make_page (guint wide, guint high, guint page, guint *pages)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) text = g_string_new (NULL);
  const guint each = MAX (high, 2) - 1;

  for (guint i = 0; i < G_N_ELEMENTS (short_rows); i++)
    wrap (short_rows[i], MAX (wide, 1), lines);
  *pages = (lines->len + each - 1) / each;
  for (guint i = page * each; i < MIN ((page + 1) * each, lines->len); i++)
    g_string_append_printf (text, "%s\n", (gchar *) lines->pdata[i]);
  g_string_append_printf (text, "%u/%u", MIN (page, *pages - 1) + 1, *pages);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gchar *
gst_nd_view_help_page (gint width, gint height, guint page, guint *pages)
{
  const guint wide = MAX (width, 0) / ND_TEXT_WIDTH;
  const guint high = MAX (height, 0) / ND_TEXT_HEIGHT;
  gchar *text = lay_out (rows, G_N_ELEMENTS (rows), wide, high);
  guint n = 1;

  if (!text)
    text = lay_out (short_rows, G_N_ELEMENTS (short_rows), wide, high);
  if (!text)
    text = make_page (wide, high, page, &n);
  if (pages)
    *pages = n;
  return text;
}
