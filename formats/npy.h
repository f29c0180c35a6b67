/* NumPy's .npy format: parses and builds the header.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * As a recording, the axis that runs fastest in memory is x: an array in C
 * order has the shape (y, x), (z, y, x) or (t, z, y, x), in Fortran order (x,
 * y), (x, y, z) or (x, y, z, t). A fifth axis, the fastest, is the components;
 * complex numbers have two.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/header.h"

G_BEGIN_DECLS

/* Parses @bytes, which end with the header. ND_ERROR_FORMAT if the array has an
 * unsupported type or number of axes, ND_ERROR_READ if the header is
 * damaged. */
gboolean nd_npy_parse (NdHeader *header, const guint8 *bytes, gsize n,
    const gchar *path, GError **error);

/* ND_ERROR_FORMAT if .npy cannot store @recording. */
gboolean nd_npy_supports (const NdRecording *recording, const gchar *path,
    GError **error);

/* Builds a header of at least @room bytes, below 64 KiB, for an array in C
 * order: (z, y, x) for one volume, (t, z, y, x) for several, and (t, z, y, x,
 * components) if there are several components. Two floats are a complex
 * number. */
void nd_npy_build (GByteArray *bytes, const NdRecording *recording, gsize room);

G_END_DECLS
