/* Parallel loops over the cores of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_MAX_THREADS 256

/* The number of threads that run an nd_parallel_for() of the calling thread,
 * itself included: the number of nd_threads_enter(), or else the default. */
guint nd_threads (void);

/* Starts threads so that @n can run; returns @n, or fewer if not all could be
 * started. @n = 0 stands for the default: the environment variable
 * NDCONV_THREADS, 1 to ND_MAX_THREADS, or else nd_usable_cores(). Threads are
 * never stopped. */
guint nd_threads_start (guint n);

/* Until nd_threads_leave(), the loops of the calling thread run on @n threads,
 * which is a result of nd_threads_start(). Returns the number to pass to
 * nd_threads_leave(). */
guint nd_threads_enter (guint n);
void nd_threads_leave (guint before);

/* Until it is called again, the loops of the calling thread look at @cancelled
 * (core/error.h) before each task, and leave out the tasks that have not begun
 * when it is set. What they compute is undefined then. Returns the flag that it
 * replaces. */
const gint *nd_threads_watch (const gint *cancelled);

/* Whether the flag of the calling thread is set, which in a task is that of the
 * caller of its loop. */
gboolean nd_threads_cancelled (void);

/* @worker is less than nd_threads() of the caller of nd_parallel_for(). It
 * differs between threads that run at the same time, so that it can index
 * scratch memory. */
typedef void (*NdTask) (gsize index, guint worker, gpointer data);

/* Calls @task for each index from 0 to @n - 1, in any order, and returns when
 * all calls are done. Several threads may call it at the same time. In a child
 * that was forked the first loop starts threads of its own. */
void nd_parallel_for (gsize n, NdTask task, gpointer data);

G_END_DECLS
