/* Parallel loops over the cores of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_MAX_THREADS 256

/* The threads of one nd_parallel_for() of the calling thread, which is one of
 * them: the number of nd_threads_enter(), or else the default. */
guint nd_threads (void);

/* @n threads if that many could be started, otherwise fewer; 0: the default,
 * which is the environment variable NDCONV_THREADS, 1 to ND_MAX_THREADS, or the
 * cores that this process may use. The answer stays valid. */
guint nd_threads_start (guint n);

/* Until nd_threads_leave(), the loops of the calling thread run on @n
 * threads, an answer of nd_threads_start(). Returns the argument of
 * nd_threads_leave(). */
guint nd_threads_enter (guint n);
void nd_threads_leave (guint before);

/* @worker is less than nd_threads() of the caller of nd_parallel_for(). It
 * differs between threads that run at the same time, so that it can index
 * scratch memory. */
typedef void (*NdTask) (gsize index, guint worker, gpointer data);

/* Calls @task for each index from 0 to @n - 1, in any order, and returns when
 * all calls are done. Several threads may call it at the same time. */
void nd_parallel_for (gsize n, NdTask task, gpointer data);

G_END_DECLS
