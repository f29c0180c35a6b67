/* A thread of an element. It is a GstTask, and STREAM_STATUS messages announce
 * it, so that an application can choose its pool and set its priority.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *element;
  GRecMutex lock; /* of the task */
  GstTask *task;  /* NULL before start and after join */
  gboolean stopped;
  GMutex joining; /* held by a thread that waits for the end of the task */
} GstNdThread;

/* @element names the thread and must outlive it. No thread runs yet. */
void gst_nd_thread_init (GstNdThread *thread, GstElement *element);

/* Starts the thread if it does not run. It calls @function until somebody stops
 * it. Waits for the end of a thread that was stopped and not joined. */
void gst_nd_thread_start (GstNdThread *thread, const gchar *name,
    GstTaskFunction function, gpointer data);

/* Ends the thread after the current call of its function. Does not wait. */
void gst_nd_thread_stop (GstNdThread *thread);

/* Stops the thread and waits for its end. */
void gst_nd_thread_join (GstNdThread *thread);

/* Keeps the element until a stopped thread has ended, and does not wait. The
 * thread could otherwise drop the last reference and wait for itself. */
void gst_nd_thread_join_later (GstNdThread *thread);

/* Joins the thread. */
void gst_nd_thread_clear (GstNdThread *thread);

G_END_DECLS
