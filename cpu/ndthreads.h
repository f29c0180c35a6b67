/* Fork and join over the cores of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Threads that share one nd_parallel_for(), the caller included: the cores that
 * this process may use, or environment variable NDCONV_THREADS, 1 to 256. */
guint nd_threads (void);

/* @worker is below nd_threads() and different for threads that run at the same
 * time, so that it can name scratch memory. */
typedef void (*NdTask) (gsize index, guint worker, gpointer data);

/* Calls @task for 0 to @n - 1, in any order, and returns when all are done. May
 * be called from several threads at once. */
void nd_parallel_for (gsize n, NdTask task, gpointer data);

G_END_DECLS
