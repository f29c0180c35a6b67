/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnderror.h"

static const struct
{
  GQuark (*domain) (void);
  gint code;
} element_errors[] = {
  [ND_ERROR_SETTINGS] = {gst_library_error_quark, GST_LIBRARY_ERROR_SETTINGS},
  [ND_ERROR_NOT_FOUND] = {gst_resource_error_quark,
      GST_RESOURCE_ERROR_NOT_FOUND},
  [ND_ERROR_OPEN_READ] = {gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_READ},
  [ND_ERROR_READ] = {gst_resource_error_quark, GST_RESOURCE_ERROR_READ},
  [ND_ERROR_OPEN_WRITE] = {gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_WRITE},
  [ND_ERROR_WRITE] = {gst_resource_error_quark, GST_RESOURCE_ERROR_WRITE},
  [ND_ERROR_NO_SPACE] = {gst_resource_error_quark,
      GST_RESOURCE_ERROR_NO_SPACE_LEFT},
  [ND_ERROR_FORMAT] = {gst_stream_error_quark, GST_STREAM_ERROR_FORMAT},
  [ND_ERROR_INIT] = {gst_library_error_quark, GST_LIBRARY_ERROR_INIT},
  [ND_ERROR_FAILED] = {gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED},
};

void
gst_nd_element_error (GstElement * element, const GError * error)
{
  guint i = ND_ERROR_FAILED;

  if (error->domain == ND_ERROR && error->code >= 0
      && error->code < (gint) G_N_ELEMENTS (element_errors))
    i = error->code;
  gst_element_message_full (element, GST_MESSAGE_ERROR,
      element_errors[i].domain (), element_errors[i].code,
      g_strdup (error->message), g_strdup (error->message), __FILE__,
      G_STRFUNC, __LINE__);
}

/* Sets the mark of the outermost bin that @element is in, and returns what it
 * was. */
static gboolean
set_told (GstElement * element, gboolean told)
{
  static GMutex lock;
  GQuark quark = g_quark_from_static_string ("nd-back-end-failed");
  GstObject *top = GST_OBJECT (element);
  gboolean before;

  while (GST_OBJECT_PARENT (top))
    top = GST_OBJECT_PARENT (top);
  g_mutex_lock (&lock);
  before = g_object_get_qdata (G_OBJECT (top), quark) != NULL;
  g_object_set_qdata (G_OBJECT (top), quark, GINT_TO_POINTER (told));
  g_mutex_unlock (&lock);
  return before;
}

void
gst_nd_element_error_once (GstElement * element, const GError * error)
{
  if (!g_error_matches (error, ND_ERROR, ND_ERROR_FAILED)
      || !set_told (element, TRUE))
    gst_nd_element_error (element, error);
}

void
gst_nd_element_start (GstElement * element)
{
  set_told (element, FALSE);
}
