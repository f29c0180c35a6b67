/* The axes of the frames of a DICOM file: slices, time, and where they lie.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/dicomelements.h"
#include "formats/header.h"

G_BEGIN_DECLS

/* Sets slices, volumes, times and geometry of @header. @order (guint32) becomes
 * the frame of each slice, unless they are in the order of the file. FALSE
 * without memory. */
gboolean nd_dicom_axes_set (NdHeader *header, const NdDicomElements *elements,
    NdList **order, const gchar *path);

/* Where a frame lies along the normal of the frames, in mm. */
gdouble nd_dicom_axes_place (const NdDicomElements *elements,
    const NdDicomFrame *frame);

/* Sets the geometry of frames that begin with @first. @step: mm from slice to
 * slice along the normal, which may be below 0; 0: it is unknown. */
void nd_dicom_axes_locate (NdHeader *header, const NdDicomElements *elements,
    const NdDicomFrame *first, gdouble step);

G_END_DECLS
