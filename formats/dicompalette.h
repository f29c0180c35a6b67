/* The palette of a DICOM file: a table of colours for its samples (DICOM PS3.3,
 * C.7.6.3.1.5 and .6).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/dicomelements.h"

G_BEGIN_DECLS

typedef struct
{
  NdBudget *budget;
  guint8 *colours; /* red, green and blue of each sample */
  gsize size;
  gsize width;    /* bytes of a red, 1 or 2 */
  guint n, first; /* samples from @first on have @n colours */
} NdDicomPalette;

/* FALSE if there is none, it is damaged or in segments, or without memory. */
gboolean nd_dicom_palette_load (NdDicomPalette *palette,
    const NdDicomElements *elements, NdDicomBytes *bytes);
void nd_dicom_palette_clear (NdDicomPalette *palette);

/* The colours of @n samples of @bytes each. */
void nd_dicom_palette_apply (const NdDicomPalette *palette,
    const guint8 *samples, gsize bytes, gsize n, guint8 *colours);

G_END_DECLS
