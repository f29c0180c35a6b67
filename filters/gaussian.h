/* Parameters and factors that the Gaussian and its derivatives share.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/parameters.h"

G_BEGIN_DECLS

/* Reads sigma (samples, per axis) and size, by default
 * 2 floor (@reach sigma + 0.5) + 1. An axis with sigma 0 must have size 1. */
gboolean nd_parameters_get_gaussian (const NdParameters *parameters,
    const NdAxes *axes, gdouble reach, gdouble sigma[ND_AXES],
    gsize size[ND_AXES], GError **error);

/* ND_ERROR_SETTINGS if @sigma is too small for a sampled derivative. */
gboolean nd_gaussian_check_derivative (gdouble sigma, NdAxis axis,
    GError **error);

/* exp (-x^2 / 2 sigma^2), scaled to sum 1. The caller frees it. */
gdouble *nd_gaussian_factor (gdouble sigma, gsize size);

G_END_DECLS
