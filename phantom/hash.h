/* Random numbers from a counter, so that they can be computed in any order.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* Output number @i of SplitMix64 started at 0: G. L. Steele, D. Lea,
 * C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014. 64 random bits. */
static inline guint64
nd_hash (guint64 i)
{
  i = (i + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  i = (i ^ (i >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  i = (i ^ (i >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return i ^ (i >> 31);
}

/* The first counter for the numbers of volume @n. */
static inline guint64
nd_hash_volume (guint64 seed, guint64 n)
{
  return nd_hash (nd_hash (seed) + n);
}
