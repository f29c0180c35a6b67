/* Units in filter text (filters/units.h), converted by the spacing and the rate
 * of the caps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"
#include "gst/base/gstndformat.h"

G_BEGIN_DECLS

/* Sets axes->step from @format: 0 along axes without a spacing, and along t if
 * the rate is unknown or variable. */
void gst_nd_units_set_steps (NdAxes *axes, const GstNdFormat *format);

/* TRUE if @filter means the same filter in both formats: it has no units, or
 * spacing and rate are equal. */
gboolean gst_nd_units_same_filter (const gchar *filter, const GstNdFormat *a,
    const GstNdFormat *b);

G_END_DECLS
