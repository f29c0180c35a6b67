/* Filters to files, which the design `file` reads again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "nddesign.h"

G_BEGIN_DECLS

/* The ending of @path names the format: .npy, with float64 or complex128 and as
 * many axes as @axes, the slowest first, or one that nd_writer_open() writes
 * with a header (.nii, .nrrd, .mha, …), with float32, where complex numbers are
 * two components. @imaginary is NULL for a real filter. ND_ERROR_SETTINGS for
 * other endings, _OPEN_WRITE, _WRITE, _NO_SPACE. */
gboolean nd_filter_save (const NdFilter * real, const NdFilter * imaginary,
    const NdAxes * axes, const gchar * path, GError ** error);

G_END_DECLS
