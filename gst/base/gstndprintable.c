/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndprintable.h"

#include "core/printable.h"

#undef gst_debug_log
#undef gst_element_message_full

void
gst_nd_debug_log (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    const gchar *format, ...)
{
  g_autofree gchar *message = NULL;
  va_list arguments;

  /* GStreamer asks for its own threshold, of all categories. */
  if (level > gst_debug_category_get_threshold (category))
    return;
  va_start (arguments, format);
  message = nd_printable_take (gst_info_strdup_vprintf (format, arguments));
  va_end (arguments);
  gst_debug_log (category, level, file, function, line, object, "%s", message);
}

void
gst_nd_element_message_full (GstElement *element, GstMessageType type,
    GQuark domain, gint code, gchar *text, gchar *debug, const gchar *file,
    const gchar *function, gint line)
{
  gst_element_message_full (element, type, domain, code,
      nd_printable_take (text), nd_printable_take (debug), file, function,
      line);
}
