/* A picture of filters: their coefficients and frequency responses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "filters/ndfilter.h"

G_BEGIN_DECLS

/* One row for each filter, and from left to right, for the planes of the first
 * axis with each of the others of size above 1: the coefficients in the plane
 * through the middle (red above 0, blue below; of a complex filter the real
 * part, then the imaginary one), and |F(u)| where the other frequencies are 0,
 * from -pi to pi, brighter for more, 0 in the middle. The second axis points
 * down. Last |F| from frequency 0 to pi in the direction of its maximum, with a
 * line at each quarter of pi. Each filter has its own scale. */
gboolean nd_filter_plot (const NdBank * bank, const gchar * path,
    GError ** error);

G_END_DECLS
