/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnderror.h"

#include "core/fork.h"
#include "gst/base/gstndlog.h"

static const struct
{
  GQuark (*domain) (void);
  gint code;
} element_errors[] = {
  [ND_ERROR_SETTINGS] = { gst_library_error_quark, GST_LIBRARY_ERROR_SETTINGS },
  [ND_ERROR_NOT_FOUND] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NOT_FOUND },
  [ND_ERROR_OPEN_READ] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_READ },
  [ND_ERROR_READ] = { gst_resource_error_quark, GST_RESOURCE_ERROR_READ },
  [ND_ERROR_OPEN_WRITE] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_WRITE },
  [ND_ERROR_WRITE] = { gst_resource_error_quark, GST_RESOURCE_ERROR_WRITE },
  /* GStreamer has no code for memory. */
  [ND_ERROR_MEMORY] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED },
  [ND_ERROR_DISK_FULL] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NO_SPACE_LEFT },
  [ND_ERROR_FORMAT] = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT },
  [ND_ERROR_INIT] = { gst_library_error_quark, GST_LIBRARY_ERROR_INIT },
  [ND_ERROR_CANCELLED] = { gst_library_error_quark, GST_LIBRARY_ERROR_FAILED },
  [ND_ERROR_FAILED] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED },
};

static void
error_post (GstElement *element, GstMessageType type, const GError *error,
    const gchar *file, const gchar *function, gint line)
{
  guint i = ND_ERROR_FAILED;

  if (error->domain == ND_ERROR && error->code >= 0
      && error->code < (gint) G_N_ELEMENTS (element_errors)
      && element_errors[error->code].domain)
    i = error->code;
  gst_element_message_full (element, type, element_errors[i].domain (),
      element_errors[i].code, g_strdup (error->message), NULL, file, function,
      line);
}

void
gst_nd_element_error_full (GstElement *element, const GError *error,
    const gchar *file, const gchar *function, gint line)
{
  error_post (element, GST_MESSAGE_ERROR, error, file, function, line);
}

void
gst_nd_element_warning (GstElement *element, const GError *error)
{
  error_post (element, GST_MESSAGE_WARNING, error, __FILE__, GST_FUNCTION,
      __LINE__);
}

/* The outermost bin of @element, or @element. */
static GstObject *
get_top (GstElement *element)
{
  GstObject *top = gst_object_ref (element), *parent;

  while ((parent = gst_object_get_parent (top))) {
    gst_object_unref (top);
    top = parent;
  }
  return top;
}

/* A handler on the bus that stops the pipeline must not wait for a thread that
 * waits for the handler. */
#define POSTING_WAIT G_TIME_SPAN_SECOND

enum
{
  NOT_POSTED,
  POSTING,
  POSTED
};

static GMutex lock;
ND_HOLD_AT_FORK (lock, 1)
static GCond changed;

/* Call with the lock held. */
static gint
wait_until_posted (const gint *posted)
{
  const gint64 end = g_get_monotonic_time () + POSTING_WAIT;

  while (g_atomic_int_get (posted) == POSTING
      && g_cond_wait_until (&changed, &lock, end))
    ;
  return g_atomic_int_get (posted);
}

gboolean
gst_nd_posting_begin (gint *posted)
{
  gboolean first;

  g_mutex_lock (&lock);
  first = wait_until_posted (posted) == NOT_POSTED;
  if (first)
    g_atomic_int_set (posted, POSTING);
  g_mutex_unlock (&lock);
  return first;
}

void
gst_nd_posting_end (gint *posted)
{
  g_mutex_lock (&lock);
  g_atomic_int_set (posted, POSTED);
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

gboolean
gst_nd_was_posted (const gint *posted)
{
  gboolean was;

  if (g_atomic_int_get (posted) == NOT_POSTED)
    return FALSE;
  g_mutex_lock (&lock);
  was = wait_until_posted (posted) != NOT_POSTED;
  g_mutex_unlock (&lock);
  return was;
}

/* Whether the elements of @top posted the error of a device. */
static gint *
posted_by (GstObject *top)
{
  const gchar *name = "nd-back-end-failed";
  gint *posted;

  g_mutex_lock (&lock);
  posted = g_object_get_data (G_OBJECT (top), name);
  if (!posted) {
    posted = g_new0 (gint, 1);
    g_object_set_data_full (G_OBJECT (top), name, posted, g_free);
  }
  g_mutex_unlock (&lock);
  return posted;
}

void
gst_nd_element_error_once_full (GstElement *element, const GError *error,
    const gchar *file, const gchar *function, gint line)
{
  g_autoptr (GstObject) top = get_top (element);
  gint *posted = posted_by (top);

  if (!g_error_matches (error, ND_ERROR, ND_ERROR_FAILED)) {
    gst_nd_element_error_full (element, error, file, function, line);
  } else if (gst_nd_posting_begin (posted)) {
    gst_nd_element_error_full (element, error, file, function, line);
    gst_nd_posting_end (posted);
  }
}

void
gst_nd_element_start (GstElement *element)
{
  g_autoptr (GstObject) top = get_top (element);

  g_atomic_int_set (posted_by (top), NOT_POSTED);
  gst_nd_log_update ();
}
