/* Axes and their steps from text.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* "x", "xy", "xyz", "xyt" or "xyzt". Steps are unknown. ND_ERROR_SETTINGS for
 * any other text, with a sentence that begins with "axes". */
gboolean nd_axes_from_text (const gchar *text, NdAxes *axes, GError **error);

/* Sets axes->step from @spacing, see nd_units_parse_spacing(), and @rate,
 * volumes per second as "20" or "30000/1001". NULL leaves a step as it is.
 * ND_ERROR_SETTINGS with a sentence that begins with "spacing" or "rate". */
gboolean nd_axes_set_steps (NdAxes *axes, const gchar *spacing,
    const gchar *rate, GError **error);

G_END_DECLS
