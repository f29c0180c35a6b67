/* Processors: the one in use, and the builder, a thread that makes the next one
 * beside the stream. One build is wanted at a time, and a newer one cancels the
 * one before it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/temporal/gstndtemporalprivate.h"

G_BEGIN_DECLS

/* For @settings and the input in use. */
GstNdTemporalBuild *gst_nd_temporal_build_new (GstNdTemporal *self,
    const GstNdTemporalSettings *settings);
void gst_nd_temporal_build_free (GstNdTemporalBuild *build);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNdTemporalBuild, gst_nd_temporal_build_free)

/* Whether the processor of @build suits @settings and the input in use. */
gboolean gst_nd_temporal_build_fits (GstNdTemporal *self,
    const GstNdTemporalBuild *build, const GstNdTemporalSettings *settings);

/* See GstNdTemporalClass. */
gboolean gst_nd_temporal_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b);

/* Replaces the processor in use. Takes @processor, which must have been built
 * for the active settings. */
void gst_nd_temporal_use (GstNdTemporal *self, GstNdProcessor *processor);

/* Gives the processor in use the active settings of the stream. */
void gst_nd_temporal_use_settings (GstNdTemporal *self);

/* Ends the use of the processor. Its memory is freed soon. */
void gst_nd_temporal_dispose_processor (GstNdTemporal *self);

/* Called by init() of the element. */
void gst_nd_temporal_builder_init (GstNdTemporal *self);

/* After gst_nd_temporal_builder_stop() has waited. */
void gst_nd_temporal_builder_clear (GstNdTemporal *self);

/* Starts @build. Takes it. */
void gst_nd_temporal_builder_request (GstNdTemporal *self,
    GstNdTemporalBuild *build);

/* The wanted build when it is done, with its result, or NULL if that takes
 * longer than @microseconds (-1: no limit), if no build is wanted, or while the
 * element is flushing. */
GstNdTemporalBuild *gst_nd_temporal_builder_take (GstNdTemporal *self,
    gint64 microseconds);

/* The wanted build, to compare its settings, or NULL. Streaming thread only. */
GstNdTemporalBuild *gst_nd_temporal_builder_peek (GstNdTemporal *self);

/* Cancels the wanted build. Does not wait. */
void gst_nd_temporal_builder_cancel (GstNdTemporal *self);

/* While @flushing, gst_nd_temporal_builder_take() does not wait. The wanted
 * build continues, because the settings and the input stay the same. */
void gst_nd_temporal_builder_set_flushing (GstNdTemporal *self,
    gboolean flushing);

/* Frees @old on the thread of the builder, because that takes longer than
 * filtering a volume. */
void gst_nd_temporal_builder_dispose (GstNdTemporal *self, GstNdProcessor *old);

/* Cancels everything and ends the thread. Without @wait it does not wait for a
 * build that does not end at once. */
void gst_nd_temporal_builder_stop (GstNdTemporal *self, gboolean wait);

G_END_DECLS
