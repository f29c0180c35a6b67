/* Numbers about the difference of two recordings.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "formats/recording.h"

G_BEGIN_DECLS

/* Sums over the samples of two volumes, or of all volumes. */
typedef struct
{
  guint64 samples;
  guint64 not_finite; /* pairs with a NaN or an infinity, otherwise ignored */
  gdouble maximum;    /* |a - b| */
  gdouble squares;    /* sum of (a - b)^2 */
  gdouble low, high;  /* range of a */
  guint64 windows;
  gdouble similarity; /* sum of SSIM over all windows */
} NdDifference;

/* Compares @b with the reference @a volume by volume and prints one line per
 * volume and one for all: maximum and root mean square of the difference, PSNR
 * with the range of @a as its peak, and SSIM in windows of 7 x 7 samples of
 * each slice (Wang et al., IEEE Transactions on Image Processing 13 (4), 2004),
 * with the range of the volume. ND_ERROR_FORMAT if shapes differ; if only the
 * numbers of volumes differ, the common ones are compared and @equal is
 * FALSE. */
gboolean nd_recordings_compare (NdReader *a, NdReader *b, gboolean *equal,
    GError **error);

G_END_DECLS
