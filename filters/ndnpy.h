/* NumPy's .npy arrays.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndparameters.h"

G_BEGIN_DECLS

gboolean nd_npy_is (const guint8 * data, gsize length);

/* A filter from the @length bytes of the .npy file at @location, version 1 to
 * 3, with samples in C order that are integers of 1, 2, 4 or 8 bytes, floats of
 * 4 or 8, or complex numbers of these, in either byte order. NumPy names the
 * slowest axis first, so that its shape is turned round: (t, z, y, x) is our
 * x:y:z:t, and an array of fewer axes gets the first of @axes. Errors:
 * ND_ERROR_READ (truncated, damaged), _FORMAT (of another kind). */
NdBank *nd_npy_load (const gchar * location, const guint8 * data,
    gsize length, const NdAxes * axes, GError ** error);

/* Whether its samples are complex; FALSE where it cannot be loaded either. */
gboolean nd_npy_is_complex (const guint8 * data, gsize length);

G_END_DECLS
