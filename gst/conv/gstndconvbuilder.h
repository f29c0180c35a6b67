/* The builder: a thread that runs builds beside the stream. One build is wanted
 * at a time, and a newer one cancels the one before it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvbuild.h"

G_BEGIN_DECLS

void gst_nd_conv_builder_init (GstNdConv *self);

/* After gst_nd_conv_builder_stop() has waited. */
void gst_nd_conv_builder_clear (GstNdConv *self);

/* Starts @build. Takes it. */
void gst_nd_conv_builder_request (GstNdConv *self, GstNdConvBuild *build);

/* The wanted build when it is done, with its result, or NULL if that takes
 * longer than @microseconds (-1: no limit), if no build is wanted, or while the
 * element is flushing. */
GstNdConvBuild *gst_nd_conv_builder_take (GstNdConv *self, gint64 microseconds);

/* The wanted build, to compare its settings, or NULL. Streaming thread only. */
GstNdConvBuild *gst_nd_conv_builder_peek (GstNdConv *self);

/* Cancels the wanted build. Does not wait. */
void gst_nd_conv_builder_cancel (GstNdConv *self);

/* While @flushing, gst_nd_conv_builder_take() does not wait. The wanted build
 * continues, because the settings and the input stay the same. */
void gst_nd_conv_builder_set_flushing (GstNdConv *self, gboolean flushing);

/* Frees @convolver on the thread of the builder, because that takes longer than
 * filtering a volume. */
void gst_nd_conv_builder_dispose (GstNdConv *self, NdConvolver *convolver);

/* Cancels everything and ends the thread. Without @wait it does not wait for a
 * build that does not end at once. */
void gst_nd_conv_builder_stop (GstNdConv *self, gboolean wait);

G_END_DECLS
