/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/memory.h"

#include "core/error.h"
#include "core/limits.h"

gboolean
nd_memory_check (gsize bytes, GError **error)
{
  if (bytes < nd_usable_memory ())
    return TRUE;
  nd_memory_set_error (error, bytes);
  return FALSE;
}

void
nd_memory_set_error (GError **error, gsize bytes)
{
  if (bytes == G_MAXSIZE)
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory: the number of bytes is too large for any machine; "
        "use smaller volumes or a filter that is shorter in time");
  else
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory: %" G_GSIZE_FORMAT
        " bytes are needed, this process may use %" G_GSIZE_FORMAT
        ": use smaller volumes or a filter that is shorter in time",
        bytes, nd_usable_memory ());
}

gsize
nd_size_mul (gsize a, gsize b, gsize c)
{
  gsize n;

  if (!g_size_checked_mul (&n, a, b) || !g_size_checked_mul (&n, n, c))
    return G_MAXSIZE;
  return n;
}
