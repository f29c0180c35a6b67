/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/log.h"

#include "core/fork.h"
#include "core/printable.h"

#define MAX_COPIES 4

gint nd_log_threshold = ND_LEVEL_NONE;

static GMutex lock; /* protects all variables below; `current_handler` is
                       read without it */
ND_HOLD_AT_FORK (lock, 1)
static NdLogHandler current_handler;
static NdLogSetHandler copies[MAX_COPIES];
static guint n_copies;

void
nd_log_set_handler (NdLogHandler handler, NdLevel threshold)
{
  g_mutex_lock (&lock);
  g_atomic_pointer_set (&current_handler, handler);
  g_atomic_int_set (&nd_log_threshold, handler ? threshold : ND_LEVEL_NONE);
  for (guint i = 0; i < n_copies; i++)
    copies[i](handler, threshold);
  g_mutex_unlock (&lock);
}

void
nd_log_add_copy (NdLogSetHandler set_handler)
{
  g_mutex_lock (&lock);
  if (n_copies < MAX_COPIES) {
    copies[n_copies++] = set_handler;
    set_handler (current_handler, nd_log_threshold);
  }
  g_mutex_unlock (&lock);
}

void
nd_log_message (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *format, ...)
{
  NdLogHandler handler = g_atomic_pointer_get (&current_handler);
  g_autofree gchar *message = NULL;
  va_list arguments;

  if (!handler)
    return;
  va_start (arguments, format);
  message = nd_printable_take (g_strdup_vprintf (format, arguments));
  va_end (arguments);
  handler (level, category, file, function, line, message);
}
