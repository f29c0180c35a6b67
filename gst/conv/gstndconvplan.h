/* The convolver for the settings and the input in use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvprivate.h"

G_BEGIN_DECLS

/* Copies the values of the properties. For backend, device-id, devices and
 * precision, which take effect in start(), copies the values in use. Call with
 * the object lock held. */
void gst_nd_conv_get_settings (GstNdConv *self, GstNdConvSettings *settings);

/* Copies @settings to the active ones. Call with the object lock held. If the
 * filter is invalid, start() or set_caps() reports it. */
void gst_nd_conv_activate (GstNdConv *self, const GstNdConvSettings *settings);

/* Replaces the convolver in use. Takes @convolver, which must have been built
 * for the active settings. */
void gst_nd_conv_use (GstNdConv *self, NdConvolver *convolver);

/* Ends the use of the convolver. Its memory is freed soon. */
void gst_nd_conv_dispose_convolver (GstNdConv *self);

/* Updates gain and offset of each plane from the active settings. */
void gst_nd_conv_set_scales (GstNdConv *self);

/* FALSE if @settings exclude devices or there is no device. */
gboolean gst_nd_conv_may_use_device (GstNdConv *self,
    const GstNdConvSettings *settings);

/* The back end of the convolver in use if it has a device, otherwise NULL. */
const NdBackend *gst_nd_conv_device_in_use (GstNdConv *self);

G_END_DECLS
