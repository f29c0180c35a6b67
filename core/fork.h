/* fork(). A child has a copy of the memory of its parent, and only the thread
 * that forked: locks that other threads held stay locked for ever, and work of
 * theirs never ends.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <pthread.h>

G_BEGIN_DECLS

/* The number of forks between the process that loaded this code and this
 * process. An object whose threads, device or files a child must not use
 * remembers it. Any thread. */
guint nd_fork_count (void);

/* FALSE with ND_ERROR_FAILED if nd_fork_count() is not @made any more: "@what
 * belongs to the process that this one was forked from". */
gboolean nd_fork_check (guint made, const gchar *what, GError **error);

/* At the top of a file: the thread that forks holds the static GMutex @lock
 * meanwhile, so that what the lock protects is whole in the child. While a lock
 * of one @level is held, only locks of lower levels may be taken. */
#define ND_HOLD_AT_FORK(lock, level) \
  static void hold_##lock (void)     \
  {                                  \
    g_mutex_lock (&lock);            \
  }                                  \
  static void release_##lock (void)  \
  {                                  \
    g_mutex_unlock (&lock);          \
  }                                  \
  ND_AT_FORK (level, hold_##lock, release_##lock, release_##lock)

/* The functions of pthread_atfork(). What is registered last is held first. */
#define ND_AT_FORK(level, prepare, parent, child)            \
  __attribute__ ((constructor (1000 + (level)))) static void \
  watch_forks (void)                                         \
  {                                                          \
    pthread_atfork (prepare, parent, child);                 \
  }

G_END_DECLS
