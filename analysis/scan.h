/* Scan conversion: samples of beam space (core/beams.h) to a Cartesian grid,
 * and back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/register.h"
#include "core/beams.h"
#include "core/geometry.h"
#include "core/shape.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean inverse; /* Cartesian to beams */
  NdInterpolation interpolation;
  gdouble border_value;
  NdAxis depth_axis; /* of the beams: X, Y or Z; the others are lateral and
                      * elevation, in this order */
  gchar *spacing;    /* of the Cartesian output in mm, "S" or "X:Y:Z"; "":
                      * chosen */
  gchar *size;       /* of the output, "X:Y:Z"; "": chosen */
} NdScanSettings;

/* What output samples are made of: the one at (x, y, z) of the volume is
 * interpolated at nd_scan_index(). */
typedef struct
{
  NdScanSettings settings; /* without texts */
  NdBeamSpace *space;
  NdShape in, out;
  NdGeometry grid;     /* of the Cartesian volume */
  gdouble to_index[9]; /* inverse only: the index of millimetres from the
                        * origin of the grid, row by row */
} NdScan;

/* The conversion of volumes of @in. @geometry: of the input, read for inverse
 * only. A grid that is chosen has about as many samples as the beams, equally
 * spaced, and covers them. Directions of the input count. Refuses
 * outputs that do not fit in memory. Errors: ND_ERROR_SETTINGS,
 * ND_ERROR_FORMAT, ND_ERROR_MEMORY; then @scan needs no clear. Any thread. */
gboolean nd_scan_init (NdScan *scan, const NdBeams *beams,
    const NdScanSettings *settings, const NdShape *in,
    const NdGeometry *geometry, GError **error);
void nd_scan_clear (NdScan *scan);

/* Where output sample @at, indices along x, y, z, lies in the input: an index
 * along the axes of the input. FALSE if it is outside. Any thread. */
gboolean nd_scan_index (const NdScan *scan, const gsize at[3],
    gdouble index[3]);

/* The neighbours of an axis that are read around the sample below an index,
 * from @first to @first + @n - 1. Samples beyond the ends are those at the
 * ends. */
static inline void
nd_scan_reach (NdInterpolation interpolation, gint *first, gint *n)
{
  *first = interpolation == ND_INTERPOLATION_CUBIC ? -1 : 0;
  *n = interpolation == ND_INTERPOLATION_CUBIC ? 4 : 2;
}

/* The reference: dense volumes of @scan->in and @scan->out. */
void nd_scan_reference (const NdScan *scan, const gdouble *in, gdouble *out);

G_END_DECLS
