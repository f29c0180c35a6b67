/* The processor of a filter: a convolver for settings and an input format.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconv.h"

G_BEGIN_DECLS

/* Designs the filter and makes the convolver. */
GstNdProcessor *gst_nd_conv_build (GstNdTemporal *self,
    GstNdTemporalBuild *build, GError **error);

/* Gives the processor gain and offset. */
void gst_nd_conv_use (GstNdTemporal *self, GstNdProcessor *processor,
    const GstNdTemporalSettings *settings);

/* Adds what `stats` tells about the plan. */
void gst_nd_conv_describe (GstNdTemporal *self, GstNdProcessor *processor,
    GstStructure *stats);

/* The axes of @settings for volumes of @shape, without units. */
NdAxes gst_nd_conv_axes_of_shape (GstNdConv *self,
    const GstNdConvSettings *settings, const NdShape *shape);

/* The axes of @settings, with the units of @format. */
NdAxes gst_nd_conv_axes_of_format (GstNdConv *self,
    const GstNdConvSettings *settings, const GstNdFormat *format);

/* TRUE if the filter means the same in both formats: its text has no units, or
 * spacing and rate are equal. */
gboolean gst_nd_conv_same_units (const GstNdTemporalSettings *settings,
    const GstNdFormat *a, const GstNdFormat *b);

/* Whether @settings can filter @in. See GstNdTemporalClass. */
gboolean gst_nd_conv_check_input (GstNdTemporal *self,
    const GstNdTemporalSettings *settings, const GstNdFormat *in,
    GError **error);

G_END_DECLS
