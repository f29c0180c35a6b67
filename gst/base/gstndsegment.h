/* Checks of segments that elements for volumes have in common.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* FALSE with ND_ERROR_FORMAT if the stream before @sink is the bytes of files
 * that nobody has read: a segment in bytes, and no caps. The message names the
 * elements to use. */
gboolean gst_nd_segment_check_decoded (GstPad *sink, GstEvent *segment,
    GError **error);

/* The same, and FALSE with ND_ERROR_FORMAT for every segment that is not in
 * time. */
gboolean gst_nd_segment_check_time (GstPad *sink, GstEvent *segment,
    GError **error);

/* Whether @event repeats the segment @current. Their positions may differ. */
gboolean gst_nd_segment_is_repeated (const GstSegment *current,
    GstEvent *event);

G_END_DECLS
