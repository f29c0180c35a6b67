/* Analyze 7.5, from which NIfTI comes, as SPM writes it and nibabel reads it:
 * fields of its header that mean something else there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>
#include <nifti/nifti1.h>
#include <nifti/nifti2.h>

G_BEGIN_DECLS

/* TRUE if the @n bytes begin like Analyze 7.5. */
gboolean nd_nifti_detect_analyze (const guint8 *bytes, gsize n);

/* Replaces what @wide has from @header, in the byte order of the machine, whose
 * bytes in the file are @bytes. The scale is that of SPM (roi_scale and
 * funused2, or else the largest and least values); the transform is an sform
 * whose x points to the left, with the voxel of SPM's field originator, or else
 * the centre, at 0. */
void nd_analyze_settle (nifti_2_header *wide,
    const struct nifti_1_header *header, const guint8 *bytes, gboolean swapped);

G_END_DECLS
