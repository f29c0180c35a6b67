/* Small grey frames of DICOM, which tests put into their folder.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "tests/folder.h"
#include "tests/formats/dicomfile.h"

#define X 4
#define Y 2
#define PIXELS (X * Y)

static const DicomPicture grey = { "MONOCHROME2", 1, 0, 8, 0, 0, 0 };

static inline void
put_dicom (DicomFile *file, const gchar *path)
{
  put_file (path, file->bytes->data, file->bytes->len);
  g_clear_pointer (&file->bytes, g_byte_array_unref);
}
