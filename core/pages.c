/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/pages.h"

#include "core/threads.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of large pages on most machines. A driver pins one of them in about
 * the time of a small page. */
#define LARGE_PAGE ((gsize) 2 << 20)

/* Gives pages to LARGE_PAGE bytes. */
static void
touch (gsize index, guint worker, gpointer data)
{
  volatile guint8 *bytes = (guint8 *) data + index * LARGE_PAGE;

  for (gsize i = 0; i < LARGE_PAGE; i += 4096)
    bytes[i] = 0;
}

/* The kernel clears the pages of large memory on all cores, because a driver
 * that pins memory would do it on one. */
gpointer
nd_pages_new (gsize *size)
{
  const gsize small = sysconf (_SC_PAGESIZE);
  const gboolean is_large = *size >= 4 * LARGE_PAGE;
  const gsize page = is_large ? MAX (small, LARGE_PAGE) : small;
  gpointer data = NULL;

  if (*size > G_MAXSIZE - page)
    return NULL;
  *size = MAX (*size + page - 1, page) / page * page;
  if (posix_memalign (&data, page, *size) != 0)
    return NULL;
  if (is_large) {
    madvise (data, *size, MADV_HUGEPAGE);
    nd_parallel_for (*size / LARGE_PAGE, touch, data);
  }
  return data;
}
