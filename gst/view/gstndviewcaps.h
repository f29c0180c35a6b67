/* Caps of ndview: pictures are video/x-raw, volumes other/tensors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/view/gstndviewsettings.h"

G_BEGIN_DECLS

/* The caps need not be fixed; open fields stay open. Scenes are RGB and have
 * square pixels. Other pictures, if there is a spacing, have its pixel aspect
 * ratio first, then square pixels. @settings are resolved. */
GstCaps *gst_nd_view_caps_of_pictures (GstCaps *volumes,
    const GstNdViewSettings *settings);

/* Volumes of any size with the rate of the pictures. */
GstCaps *gst_nd_view_caps_of_volumes (GstCaps *pictures, gboolean device);

G_END_DECLS
