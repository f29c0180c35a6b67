/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndthread.h"

void
gst_nd_thread_init (GstNdThread *thread, GstElement *element)
{
  thread->element = element;
  thread->task = NULL;
  thread->stopped = FALSE;
  g_rec_mutex_init (&thread->lock);
  g_mutex_init (&thread->joining);
}

static void
post_status (GstTask *task, GstElement *element, GstStreamStatusType type)
{
  GstMessage *message =
      gst_message_new_stream_status (GST_OBJECT (element), type, element);
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_TASK);
  g_value_set_object (&value, task);
  gst_message_set_stream_status_object (message, &value);
  gst_element_post_message (element, message);
}

static void
thread_enter (GstTask *task, GThread *thread, gpointer element)
{
  post_status (task, element, GST_STREAM_STATUS_TYPE_ENTER);
}

static void
thread_leave (GstTask *task, GThread *thread, gpointer element)
{
  post_status (task, element, GST_STREAM_STATUS_TYPE_LEAVE);
}

void
gst_nd_thread_start (GstNdThread *thread, const gchar *name,
    GstTaskFunction function, gpointer data)
{
  /* A GstTask that starts while it stops might do neither. */
  if (thread->stopped)
    gst_nd_thread_join (thread);
  if (!thread->task) {
    g_autofree gchar *full_name =
        g_strdup_printf ("%s:%s", GST_OBJECT_NAME (thread->element), name);

    thread->task = gst_task_new (function, data, NULL);
    gst_object_set_name (GST_OBJECT (thread->task), full_name);
    gst_task_set_lock (thread->task, &thread->lock);
    gst_task_set_enter_callback (thread->task, thread_enter, thread->element,
        NULL);
    gst_task_set_leave_callback (thread->task, thread_leave, thread->element,
        NULL);
    post_status (thread->task, thread->element, GST_STREAM_STATUS_TYPE_CREATE);
  }
  gst_task_start (thread->task);
}

void
gst_nd_thread_stop (GstNdThread *thread)
{
  if (!thread->task)
    return;
  gst_task_stop (thread->task);
  thread->stopped = TRUE;
}

/* Of several threads that wait in gst_task_join(), only one would wake up. */
static void
join_task (GstNdThread *thread, GstTask *task)
{
  g_mutex_lock (&thread->joining);
  gst_task_join (task);
  g_mutex_unlock (&thread->joining);
}

void
gst_nd_thread_join (GstNdThread *thread)
{
  if (thread->task)
    join_task (thread, thread->task);
  gst_clear_object (&thread->task);
  thread->stopped = FALSE;
}

#define THREAD_OF_TASK "nd-thread"

static void
join_later (GstElement *element, gpointer task)
{
  join_task (g_object_get_data (task, THREAD_OF_TASK), task);
}

void
gst_nd_thread_join_later (GstNdThread *thread)
{
  if (!thread->task)
    return;
  g_object_set_data (G_OBJECT (thread->task), THREAD_OF_TASK, thread);
  gst_element_call_async (thread->element, join_later,
      gst_object_ref (thread->task), gst_object_unref);
}

void
gst_nd_thread_clear (GstNdThread *thread)
{
  gst_nd_thread_join (thread);
  g_rec_mutex_clear (&thread->lock);
  g_mutex_clear (&thread->joining);
}
