/* What comes out for what goes in, and the other way round.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>
#include "gstndconvsettings.h"

G_BEGIN_DECLS

/* All caps that @caps on the pad of @direction allow on the other pad, for
 * @bank; with @device, in memory of a device as well. @template: that of the
 * other pad. */
GstCaps *gst_nd_conv_transform_caps (GstPadDirection direction,
    const GstCaps * caps, const GstNdConvSettings * settings,
    const NdResponses * bank, gboolean device, const GstCaps * template);

G_END_DECLS
