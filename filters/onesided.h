/* Filters with less lag than a symmetric one: the one-sided filter along t that
 * comes closest to a given filter whose output is late by a chosen lag.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

G_BEGIN_DECLS

/* The largest size along t. */
#define ND_LAG_MAX_SIZE 1024

/* Replaces each filter of @bank that extends along t by a one-sided one, which
 * reads no later volume. With F the response of the filter around its anchor,
 * the new one has the response G that minimizes, for each line of coefficients
 * along t,
 *
 *   integral W(u)^2 |F(u) exp (-i u lag) - G(u)|^2 du,   G(0) = F(0)
 *
 * W is the amplitude expected of the input along t: signal, correlated over
 * about 20 volumes, and white noise of 1 / @snr.
 *
 *   W(u) = cos (u / 2) / sqrt (u^2 + (pi / 64)^2) + 1 / snr
 *
 * @lag is in volumes and need not be whole. The size along t stays, unless a
 * lag above that of the causal filter needs more. fit_error is relative to F,
 * and truncation_error that of the coefficients that a causal filter keeps,
 * scaled to the same sum.
 *
 * ND_ERROR_SETTINGS if no filter extends along t, or if one is longer than
 * ND_LAG_MAX_SIZE; ND_ERROR_CANCELLED (core/error.h). */
gboolean nd_bank_minimize_lag (NdBank *bank, gdouble lag, gdouble snr,
    const gint *cancelled, GError **error);

G_END_DECLS
