/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstnderror.h"

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
post (GstElement *element, GstMessageType type, const GError *error,
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
  post (element, GST_MESSAGE_ERROR, error, file, function, line);
}

void
gst_nd_element_warning (GstElement *element, const GError *error)
{
  post (element, GST_MESSAGE_WARNING, error, __FILE__, GST_FUNCTION, __LINE__);
}

/* Remembers in the outermost bin of @element whether an error was posted, and
 * returns the previous value. */
static gboolean
set_posted (GstElement *element, gboolean posted)
{
  static GMutex lock;
  GQuark quark = g_quark_from_static_string ("nd-back-end-failed");
  GstObject *top = GST_OBJECT (element);
  gboolean before;

  while (GST_OBJECT_PARENT (top))
    top = GST_OBJECT_PARENT (top);
  g_mutex_lock (&lock);
  before = g_object_get_qdata (G_OBJECT (top), quark) != NULL;
  g_object_set_qdata (G_OBJECT (top), quark, GINT_TO_POINTER (posted));
  g_mutex_unlock (&lock);
  return before;
}

void
gst_nd_element_error_once_full (GstElement *element, const GError *error,
    const gchar *file, const gchar *function, gint line)
{
  if (!g_error_matches (error, ND_ERROR, ND_ERROR_FAILED)
      || !set_posted (element, TRUE))
    gst_nd_element_error_full (element, error, file, function, line);
}

void
gst_nd_element_start (GstElement *element)
{
  set_posted (element, FALSE);
  gst_nd_log_update ();
}
