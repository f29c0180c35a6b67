/* Outputs that wait for later volumes which do not come. When the clock of the
 * pipeline has reached their deadline, a thread makes them without these
 * volumes, as at the end of a stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporalprivate.h"

G_BEGIN_DECLS

/* Called by init() and finalize() of the element. clear() waits for the
 * thread. */
void gst_nd_temporal_release_init (GstNdTemporal *self);
void gst_nd_temporal_release_clear (GstNdTemporal *self);

/* Sets the deadline of the outputs that wait after a volume. Streaming thread
 * only. */
void gst_nd_temporal_release_arm (GstNdTemporal *self);

/* Nothing waits any more. */
void gst_nd_temporal_release_disarm (GstNdTemporal *self);

/* No volumes come while the element does not play, and no deadline passes. */
void gst_nd_temporal_release_set_playing (GstNdTemporal *self,
    gboolean playing);

/* Ends the thread, and waits for its end. The pads must be flushing. */
void gst_nd_temporal_release_stop (GstNdTemporal *self);

G_END_DECLS
