/* The sending half of openigtlinksink: units for all peers, and answers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/igtl/gstndigtlhub.h"

G_BEGIN_DECLS

typedef struct _GstNdIgtlOutput GstNdIgtlOutput;

/* Starts to connect or to listen. Posts warnings and errors as messages of
 * @element. */
GstNdIgtlOutput *gst_nd_igtl_output_new (GstElement *element,
    const GstNdIgtlSettings *settings, guint16 version, const gchar *device);
void gst_nd_igtl_output_free (GstNdIgtlOutput *output);

/* FALSE if no peer would receive a volume. */
gboolean gst_nd_igtl_output_has_peers (GstNdIgtlOutput *output);

/* Takes @unit, a volume, and keeps it for peers that ask for the last. Sends
 * it only with @to_peers, because a volume that was counted as without client
 * must not reach a peer that connects later. Does not wait. */
void gst_nd_igtl_output_send (GstNdIgtlOutput *output, GstNdIgtlUnit *unit,
    gboolean to_peers);

/* Waits until everything is sent to all peers, but at most 2 s, or until
 * flushing is set. */
void gst_nd_igtl_output_drain (GstNdIgtlOutput *output);
void gst_nd_igtl_output_set_flushing (GstNdIgtlOutput *output,
    gboolean flushing);

/* TRUE if nothing can be sent any more; the error has been posted. */
gboolean gst_nd_igtl_output_has_failed (GstNdIgtlOutput *output);

/* Sets the fields of `stats` in @stats. Any thread. */
void gst_nd_igtl_output_get_stats (GstNdIgtlOutput *output,
    GstStructure *stats);

G_END_DECLS
