/* Caps of the output for caps of the input, and the reverse.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "gst/conv/gstndconvsettings.h"
#include <gst/gst.h>

G_BEGIN_DECLS

/* The caps on the other pad that are possible with @caps on the pad of
 * @direction, for @bank. With @device, device memory is possible too.
 * @template: of the other pad. */
GstCaps *gst_nd_conv_transform_caps (GstPadDirection direction,
    const GstCaps *caps, const GstNdConvSettings *settings,
    const NdBankInfo *bank, gboolean device, const GstCaps *template);

/* The samples along x, y and z that @s, of either pad, has; FALSE if they are
 * not fixed. */
gboolean gst_nd_conv_get_shape (const GstStructure *s, NdShape *shape);

G_END_DECLS
