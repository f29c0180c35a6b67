/* Random jobs for checkmethods, with volumes to filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "engine/ndbackend.h"

#define GUARD_BYTE 0xa5

typedef struct
{
  NdJob job;
  NdBank *bank;
  NdReach reach;
  NdScale scale;
  gboolean exact;
  gboolean wild;                /* NaN and Inf among the samples */
  gint *slots;
  gdouble magnitude;            /* max |x| * sum |w|, of the largest filter */
  gsize samples;
  guint8 *volumes;              /* strided input, one behind the other; one
                                 * more than the window has, not to be seen */
  gboolean resident;            /* in memory of the device, if there is one */
  NdSamples in;
  gsize in_bytes;
} Case;

/* A job of its own for each state of @r; @large: number of a large
 * one, or -1. */
void case_init (Case * c, GRand * r, gint large);
void case_clear (Case * c);
guint case_larges (void);       /* how many there are */

gdouble sample_at (const guint8 * p, NdSampleType type);
