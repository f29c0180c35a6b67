/* Parallel loops over the cores of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The threads of one nd_parallel_for(), including the caller: the cores that
 * this process may use, or the environment variable NDCONV_THREADS, 1 to 256.
 */
guint nd_threads (void);

/* @worker is less than nd_threads(). It differs between threads that run at the
 * same time, so that it can index scratch memory. */
typedef void (*NdTask) (gsize index, guint worker, gpointer data);

/* Calls @task for each index from 0 to @n - 1, in any order, and returns when
 * all calls are done. Several threads may call it at the same time. */
void nd_parallel_for (gsize n, NdTask task, gpointer data);

G_END_DECLS
