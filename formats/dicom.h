/* DICOM is not read; its header says how its samples can be.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/input.h"

G_BEGIN_DECLS

gboolean nd_dicom_detect (const guint8 *bytes, gsize n);

/* Sets ND_ERROR_FORMAT for the DICOM file @path: the program that unpacks a
 * compressed one, or the size, type and place of the samples. Returns FALSE. */
gboolean nd_dicom_refuse (NdInput *input, const gchar *path, GError **error);

G_END_DECLS
