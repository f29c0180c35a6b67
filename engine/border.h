/* The samples assumed beyond the edges of a volume, and the volumes before and
 * after a stretch.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/inline.h"
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

/* Defines, for integers of the type @Int, on host and device:
 *
 * @near (border, i, n): the index that the pattern gives to index @i outside of
 * an axis of @n >= 1 samples. Outside again if @i is farther away than the
 * pattern reaches once; at the edge for ND_BORDER_CONSTANT. No divisions.
 *
 * @index (border, i, n): the index, 0 to n - 1, of the sample that replaces
 * sample @i, or -1 for the border value. The patterns repeat, so that @i may be
 * any distance outside. */
#define ND_DEFINE_BORDER(Int, near, index)            \
  ND_INLINE Int near (NdBorder border, Int i, Int n)  \
  {                                                   \
    switch (border) {                                 \
      case ND_BORDER_REFLECT:                         \
        return (i < 0 ? 0 : 2 * n) - 1 - i;           \
      case ND_BORDER_MIRROR:                          \
        return (i < 0 ? 0 : 2 * n - 2) - i;           \
      case ND_BORDER_WRAP:                            \
        return i < 0 ? i + n : i - n;                 \
      case ND_BORDER_CONSTANT:                        \
      case ND_BORDER_NEAREST:                         \
        break;                                        \
    }                                                 \
    return i < 0 ? 0 : n - 1;                         \
  }                                                   \
  ND_INLINE Int index (NdBorder border, Int i, Int n) \
  {                                                   \
    Int period, j;                                    \
    if (i >= 0 && i < n)                              \
      return i;                                       \
    if (border == ND_BORDER_CONSTANT)                 \
      return -1;                                      \
    j = near (border, i, n);                          \
    if (j >= 0 && j < n)                              \
      return j;                                       \
    period = border == ND_BORDER_REFLECT ? 2 * n      \
        : border == ND_BORDER_MIRROR     ? 2 * n - 2  \
                                         : n;             \
    if (period == 0)                                  \
      return 0;                                       \
    j = (i % period + period) % period;               \
    return j < n ? j : near (border, j, n);           \
  }

ND_DEFINE_BORDER (gint64, nd_border_near, nd_border_index)
ND_DEFINE_BORDER (gint, nd_border_near_int, nd_border_index_int)

G_END_DECLS
