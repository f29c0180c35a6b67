/* The samples assumed beyond the edges of a volume, and the volumes before and
 * after a stretch.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* SciPy's modes of the same names, for samples a b c d. The numbers are public,
 * as values of a property, and never change. */
typedef enum
{
  ND_BORDER_CONSTANT = 0, /* v v v | a b c d | v v v */
  ND_BORDER_NEAREST = 1,  /* a a a | a b c d | d d d */
  ND_BORDER_REFLECT = 2,  /* c b a | a b c d | d c b */
  ND_BORDER_MIRROR = 3,   /* d c b | a b c d | c b a */
  ND_BORDER_WRAP = 4      /* b c d | a b c d | a b c */
} NdBorder;

/* Borders are 0 to ND_BORDER_END - 1. */
#define ND_BORDER_END 5

/* The value of the property, for example "nearest". */
const gchar *nd_border_name (NdBorder border);

/* The index, 0 to n-1, of the sample that replaces sample @i of an axis of @n
 * >= 1 samples, or -1 for the border value. The patterns repeat, so that @i may
 * be any distance outside. */
static inline gint64
nd_border_index (NdBorder border, gint64 i, gint64 n)
{
  gint64 period, j;

  if (i >= 0 && i < n)
    return i;
  switch (border) {
    case ND_BORDER_CONSTANT:
      return -1;
    case ND_BORDER_NEAREST:
      return i < 0 ? 0 : n - 1;
    case ND_BORDER_REFLECT:
      period = 2 * n;
      j = ((i % period) + period) % period;
      return j < n ? j : period - 1 - j;
    case ND_BORDER_MIRROR:
      if (n == 1)
        return 0;
      period = 2 * n - 2;
      j = ((i % period) + period) % period;
      return j < n ? j : period - j;
    case ND_BORDER_WRAP:
      return ((i % n) + n) % n;
  }
  g_return_val_if_reached (-1);
}

G_END_DECLS
