/* Random jobs with volumes, for checkmethods.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

#define GUARD_BYTE 0xa5

typedef struct
{
  NdJob job;
  NdRingOptions options;
  NdBank *bank;
  NdReach reach;
  NdScale scale;
  gboolean exact;
  gboolean nonfinite; /* samples include NaN and Inf */
  gint *slots;
  guint moves;         /* steps of the window before the last output */
  gboolean is_steady;  /* each step moves on by one volume, without a break */
  guint32 window_seed; /* of the steps */
  guint outputs;       /* computed in a row, of different volumes if several */
  gdouble magnitude;   /* max |x| * sum |w| of the largest filter */
  gsize samples;
  /* Strided input, volumes in sequence. There is one volume more than the
   * window, which must not be read. */
  guint8 *volumes;
  gboolean resident; /* in memory of the device, if there is one */
  NdSamples in;
  gsize in_bytes;
  guint pads[2]; /* samples after a row and after a slice of a response, in
                  * memory */
} Case;

/* Each state of @r gives another job. @large is the number of a large job, or
 * -1. @combined: only banks of windows of one volume whose responses are
 * combined. */
void case_init (Case *c, GRand *r, gint large, NdPrecision precision,
    gboolean combined);
void case_clear (Case *c);
guint case_larges (void); /* the number of large jobs */

/* The case with the first @n outputs only. */
Case with_outputs (const Case *c, guint n);

gdouble sample_at (const guint8 *p, NdSampleType type);
