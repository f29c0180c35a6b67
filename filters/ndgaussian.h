/* What the designs around the Gaussian share.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndparameters.h"

G_BEGIN_DECLS

/* The parameters sigma, and size, by default 2 floor (@reach sigma + 0.5) + 1
 * per axis. Where sigma is 0, size is 1. */
gboolean nd_parameters_get_gaussian (const NdParameters * parameters,
    const NdAxes * axes, gdouble reach, gdouble sigma[ND_AXES],
    gsize size[ND_AXES], GError ** error);

/* What is narrower has no derivative between samples. */
gboolean nd_gaussian_check_derivative (gdouble sigma, NdAxis axis,
    GError ** error);

/* exp (-x^2 / 2 sigma^2), scaled to sum 1; to be freed. */
gdouble *nd_gaussian_factor (gdouble sigma, gsize size);

G_END_DECLS
