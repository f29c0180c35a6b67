/* Writes filters to files that the design file reads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/design.h"

G_BEGIN_DECLS

/* The extension of @path names the format. .npy has float64 or complex128 and
 * the axes @axes, the slowest first. The formats with a header that
 * nd_writer_open() writes (.nii, .nrrd, .mha, ...) have float32, with complex
 * numbers as two components. @imaginary is NULL for a real filter.
 * ND_ERROR_SETTINGS for other extensions, _OPEN_WRITE, _WRITE, _DISK_FULL. */
gboolean nd_filter_save (const NdFilter *real, const NdFilter *imaginary,
    const NdAxes *axes, const gchar *path, GError **error);

G_END_DECLS
