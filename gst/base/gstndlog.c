/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "gst/base/gstndlog.h"

#include "core/log.h"
#include "core/printable.h"

static struct
{
  const gchar *name, *description;
  GstDebugCategory *category;
} rooms[] = {
  { "ndcore", "threads" },
  { "ndfilters", "filters, banks and designs" },
  { "ndengine", "plans, autotune, windows, convolvers" },
  { "ndcpu", "the CPU back end" },
  { "ndcuda", "the CUDA back end" },
  { "ndformats", "files of recordings" },
};

static GstDebugCategory *
find_category (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++) {
    if (g_str_equal (rooms[i].name, name))
      return rooms[i].category;
  }
  return rooms[1].category;
}

static void
log_message (NdLevel level, const gchar *category, const gchar *file,
    const gchar *function, gint line, const gchar *message)
{
  gst_debug_log (find_category (category), (GstDebugLevel) level, file,
      function, line, NULL, "%s", message);
}

void
gst_nd_log_init (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++)
    GST_DEBUG_CATEGORY_INIT (rooms[i].category, rooms[i].name, 0,
        rooms[i].description);
  gst_nd_log_update ();
}

void
gst_nd_log_update (void)
{
  GstDebugLevel threshold = GST_LEVEL_NONE;

  for (guint i = 0; i < G_N_ELEMENTS (rooms); i++)
    threshold =
        MAX (threshold, gst_debug_category_get_threshold (rooms[i].category));
  nd_log_set_handler (log_message, (NdLevel) threshold);
}

/* The compiler includes this before each file of the plugin so that no place is
 * forgotten: what elements log and post is printable (core/printable.h). It may
 * quote names of files and devices, and what peers say.
 */

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
