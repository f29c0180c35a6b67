/* Random numbers by counter: any of them in any order.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
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

/* Where the numbers of volume @n begin. */
static inline guint64
nd_hash_volume (guint64 seed, guint64 n)
{
  return nd_hash (nd_hash (seed) + n);
}
