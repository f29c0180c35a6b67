/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/analyze.h"

#include "formats/niftistruct.h"

#include <math.h>
#include <string.h>

/* The voxel at 0, counted from 1, which NIfTI has no field for. */
#define ORIGINATOR 253

/* Some programs leave out the mark, so that the sizes tell. */
gboolean
nd_nifti_detect_analyze (const guint8 *bytes, gsize n)
{
  const gsize regular = offsetof (struct nifti_1_header, regular);
  const guint8 *magic = bytes + offsetof (struct nifti_1_header, magic);
  gint16 dim[4];
  gboolean swapped;

  if (nd_nifti_struct_size (bytes, n, &swapped) != ND_NIFTI_1_SIZE
      || (magic[0] == 'n' && (magic[1] == '+' || magic[1] == 'i')))
    return FALSE;
  memcpy (dim, bytes + offsetof (struct nifti_1_header, dim), sizeof (dim));
  for (guint i = 0; i < G_N_ELEMENTS (dim) && swapped; i++)
    dim[i] = GUINT16_SWAP_LE_BE (dim[i]);
  return bytes[regular] == 'r'
      || (dim[0] >= 1 && dim[0] <= 7 && dim[1] > 0 && dim[2] > 0 && dim[3] > 0);
}

/* Spm2AnalyzeHeader.get_slope_inter() of nibabel. */
static void
set_scale (nifti_2_header *wide, const struct nifti_1_header *header)
{
  const gdouble stored = (gdouble) header->glmax - header->glmin;
  const gdouble shown = header->cal_max - header->cal_min;

  if (isfinite (wide->scl_slope) && wide->scl_slope != 0)
    return;
  wide->scl_slope = wide->scl_inter = 0;
  if (stored == 0 || shown == 0 || !isfinite (shown))
    return;
  wide->scl_slope = shown / stored;
  wide->scl_inter = header->cal_min - wide->scl_slope * header->glmin;
}

void
nd_analyze_settle (nifti_2_header *wide, const struct nifti_1_header *header,
    const guint8 *bytes, gboolean swapped)
{
  gdouble *rows[3] = { wide->srow_x, wide->srow_y, wide->srow_z };
  gboolean any = FALSE, sensible = TRUE;
  gint16 voxel[3];

  memcpy (voxel, bytes + ORIGINATOR, sizeof (voxel));
  for (guint a = 0; a < 3; a++) {
    if (swapped)
      voxel[a] = GUINT16_SWAP_LE_BE (voxel[a]);
    any |= voxel[a] != 0;
    sensible &= voxel[a] > -wide->dim[a + 1] && voxel[a] < 2 * wide->dim[a + 1];
  }
  for (guint a = 0; a < 3; a++) {
    const gdouble step = a == 0 ? -wide->pixdim[1] : wide->pixdim[a + 1];
    const gdouble at =
        any && sensible ? voxel[a] - 1 : (wide->dim[a + 1] - 1) / 2.0;

    memset (rows[a], 0, 4 * sizeof (gdouble));
    rows[a][a] = step;
    rows[a][3] = -at * step;
  }
  set_scale (wide, header);
  wide->sform_code = NIFTI_XFORM_SCANNER_ANAT;
  wide->qform_code = 0;
  wide->xyzt_units = 0;
  wide->toffset = 0;
}
