/* Random numbers of tests with a seed that is printed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

/* ND_SEED in the environment repeats a run. */
static inline GRand *
new_rand (void)
{
  const gchar *text = g_getenv ("ND_SEED");
  const guint32 seed =
      text ? g_ascii_strtoull (text, NULL, 10) : g_random_int ();

  g_print ("ND_SEED=%u\n", seed);
  return g_rand_new_with_seed (seed);
}
