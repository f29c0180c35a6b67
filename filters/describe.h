/* Text about filters. The caller frees it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* Size, sum, rank, symmetry, gain, band, sigma and cut-off (of filters
 * without negative coefficients), delay, lag and fit error of every response.
 * If axes->step is known, lengths, times and frequencies are in physical
 * units too. */
gchar *nd_bank_describe (const NdBank *bank, const NdAxes *axes);

/* F(u) as comma-separated values: for every response and every axis with
 * a size above 1, frequencies from 0 to pi along the axis. */
gchar *nd_bank_response (const NdBank *bank, const NdAxes *axes);

G_END_DECLS
