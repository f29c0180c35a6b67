/* Text about filters, on the standard output.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* Prints size, sum, rank, symmetry, gain, band, sigma and cut-off (of filters
 * without negative coefficients), delay, lag and fit error of every response.
 * If axes->step is known, lengths, times and frequencies are printed in
 * physical units too. */
void nd_bank_describe (const NdBank *bank, const NdAxes *axes);

/* Prints F(u) as comma-separated values: for every response and every axis with
 * a size above 1, frequencies from 0 to pi along the axis. */
void nd_bank_print_response (const NdBank *bank, const NdAxes *axes);

G_END_DECLS
