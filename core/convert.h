/* Conversion between the sample types of streams and those that filters compute
 * with.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "core/shape.h"

G_BEGIN_DECLS

/* IEEE 754 binary16. Floats are rounded half to even; too large ones become
 * infinite. Any thread. */
gfloat nd_half_to_float (guint16 half);
guint16 nd_float_to_half (gfloat value);

/* Sample @i of samples of @type. */
gdouble nd_sample_value (gconstpointer samples, gsize i, NdSampleType type);

/* Converts @n samples of @type that are side by side to samples of
 * nd_sample_computed() of @type and @precision, and back. On the way back
 * integers are rounded half to even and saturated, and NaN becomes 0; the
 * number of saturated ones is returned. Copies samples of types that filters
 * compute with as they are. */
void nd_convert_to_computed (NdSampleType type, NdPrecision precision,
    gconstpointer from, gsize n, gpointer to);
gsize nd_convert_from_computed (NdSampleType type, NdPrecision precision,
    gconstpointer from, gsize n, gpointer to);

G_END_DECLS
