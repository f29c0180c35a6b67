/* Log messages of the rooms that do not know GStreamer. The plugin hands them
 * to GStreamer's debug log; a program without GStreamer sets a handler of its
 * own, or none.
 *
 *   ND_INFO ("ring of %u slots takes %" G_GSIZE_FORMAT " bytes", n, bytes);
 *
 * Each room defines ND_LOG_CATEGORY in its meson.build: "ndengine", "ndcpu" and
 * so on. A message that is not wanted costs one load and one branch, and its
 * arguments are not evaluated.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The numbers are those of GstDebugLevel. No message has level ERROR: functions
 * report failures by GError. */
typedef enum
{
  ND_LEVEL_NONE = 0,
  ND_LEVEL_WARNING = 2, /* every user should know of it */
  ND_LEVEL_INFO = 4,    /* once in a stream: decisions and reasons */
  ND_LEVEL_DEBUG = 5,   /* details of the messages at ND_LEVEL_INFO */
  ND_LEVEL_LOG = 6      /* each volume */
} NdLevel;

/* Called from any thread, also from several at a time. @message is printable
 * (core/printable.h). */
typedef void (*NdLogHandler) (NdLevel level, const gchar *category,
    const gchar *file, const gchar *function, gint line, const gchar *message);

/* Passes messages up to @threshold to @handler, from now on. May be called
 * again at any time, for example when the wanted level changes. Without a
 * handler (NULL), messages are discarded. */
void nd_log_set_handler (NdLogHandler handler, NdLevel threshold);

/* A module that is opened at run time has a copy of this room.
 * @set_handler, which is nd_log_set_handler() of that copy, is called now and
 * whenever nd_log_set_handler() is. */
typedef void (*NdLogSetHandler) (NdLogHandler handler, NdLevel threshold);
void nd_log_add_copy (NdLogSetHandler set_handler);

#define ND_WARNING(...) ND_LOG_AT (ND_LEVEL_WARNING, __VA_ARGS__)
#define ND_INFO(...) ND_LOG_AT (ND_LEVEL_INFO, __VA_ARGS__)
#define ND_DEBUG(...) ND_LOG_AT (ND_LEVEL_DEBUG, __VA_ARGS__)
#define ND_LOG(...) ND_LOG_AT (ND_LEVEL_LOG, __VA_ARGS__)

/* For work that only a message needs. */
#define ND_LOG_ENABLED(level)                                        \
  (G_UNLIKELY (__atomic_load_n (&nd_log_threshold, __ATOMIC_RELAXED) \
      >= (level)))

#define ND_LOG_AT(level, ...)                                                \
  G_STMT_START                                                               \
  {                                                                          \
    if (ND_LOG_ENABLED (level))                                              \
      nd_log_message (level, ND_LOG_CATEGORY, __FILE__, G_STRFUNC, __LINE__, \
          __VA_ARGS__);                                                      \
  }                                                                          \
  G_STMT_END

/* Used by the macros only. */
extern gint nd_log_threshold;

/* Any thread. Drops the message without a handler. */
void nd_log_message (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *format, ...)
    G_GNUC_PRINTF (6, 7);

G_END_DECLS
