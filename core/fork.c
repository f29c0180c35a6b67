/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/fork.h"

#include "core/error.h"

static gint count;

static void
count_fork (void)
{
  g_atomic_int_inc (&count);
}

ND_AT_FORK (0, NULL, NULL, count_fork)

guint
nd_fork_count (void)
{
  return g_atomic_int_get (&count);
}

gboolean
nd_fork_check (guint made, const gchar *what, GError **error)
{
  if (made == nd_fork_count ())
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
      "%s belongs to the process that this one was forked from: make another "
      "one in this process",
      what);
  return FALSE;
}
