/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/error.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* Posts @error (ND_ERROR) on the bus, in the domain and code that GStreamer
 * uses for it. */
#define gst_nd_element_error(element, error) \
  gst_nd_element_error_full (element, error, __FILE__, GST_FUNCTION, __LINE__)
void gst_nd_element_error_full (GstElement *element, const GError *error,
    const gchar *file, const gchar *function, gint line);

/* The same as a warning, after which the stream continues. */
void gst_nd_element_warning (GstElement *element, const GError *error);

/* The first thread that meets an error posts it. The others wait, because
 * upstream posts an error of its own after GST_FLOW_ERROR. @posted is 0 at
 * first. TRUE if the caller posts, and then calls gst_nd_posting_end().
 * Otherwise the error was posted, or another thread needed more than a second
 * for it. */
gboolean gst_nd_posting_begin (gint *posted);
void gst_nd_posting_end (gint *posted);

/* Whether an error was posted. Waits for it as gst_nd_posting_begin() does. */
gboolean gst_nd_was_posted (const gint *posted);

/* An error of a back end. A lost device (ND_ERROR_FAILED) breaks
 * all elements of a pipeline that share it; only the first of them posts the
 * error, until gst_nd_element_start() is called. */
#define gst_nd_element_error_once(element, error)                         \
  gst_nd_element_error_once_full (element, error, __FILE__, GST_FUNCTION, \
      __LINE__)
void gst_nd_element_error_once_full (GstElement *element, const GError *error,
    const gchar *file, const gchar *function, gint line);

/* Call when @element starts: its errors are new, and debug levels may have
 * changed. */
void gst_nd_element_start (GstElement *element);

G_END_DECLS
