/* A picture of filters: their coefficients and frequency responses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

G_BEGIN_DECLS

/* Draws one row per filter. For each plane of the first axis with a size above
 * 1 and another one, from left to right: the coefficients in the plane through
 * the middle (red above 0, blue below; real, then imaginary part), and |F(u)|
 * from -pi to pi with the other frequencies at 0. The second axis points down.
 * The last panel is |F| from frequency 0 to pi in the direction of its maximum,
 * with a line at each quarter of pi. Each filter has its own scale. Numbers at
 * the axes are positions of coefficients, radians per sample and the gain. */
gboolean nd_filter_plot (const NdBank *bank, const gchar *path, GError **error);

G_END_DECLS
