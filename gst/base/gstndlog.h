/* Messages of the rooms below gst/ (core/log.h) in GStreamer's debug log. Each
 * room has a category: ndengine, ndcpu, …
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes the categories and connects them. */
void gst_nd_log_init (void);

/* Takes over debug levels that changed after that. Elements call it when they
 * start. */
void gst_nd_log_update (void);

/* The compiler includes this before each file of the plugin so that no place is
 * forgotten: what elements log and post is printable (core/printable.h). It may
 * quote names of files and devices, and what peers say.
 */

/* As GStreamer's functions. */
void gst_nd_debug_log (GstDebugCategory *category, GstDebugLevel level,
    const gchar *file, const gchar *function, gint line, GObject *object,
    const gchar *format, ...) G_GNUC_PRINTF (7, 8) G_GNUC_NO_INSTRUMENT;
void gst_nd_element_message_full (GstElement *element, GstMessageType type,
    GQuark domain, gint code, gchar *text, gchar *debug, const gchar *file,
    const gchar *function, gint line);

/* The macros of GStreamer, as GST_INFO_OBJECT() and GST_ELEMENT_ERROR(), call
 * these. */
#define gst_debug_log gst_nd_debug_log
#define gst_element_message_full gst_nd_element_message_full

G_END_DECLS
