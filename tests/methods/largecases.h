/* Jobs that are large enough for cases that small jobs do not reach on a GPU:
 * thread blocks with several items of work, runs of several planes, pushes
 * beside a response, more NonFinite samples than the list holds, and banks with
 * more blocks of a transform than the device computes at once. Those in memory
 * of the device are small, so that `fft` computes several at the same time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/job.h"

typedef struct
{
  NdSampleType type;
  gsize size[3];
  gsize filter[ND_AXES];
  gboolean masked; /* half of each volume is NaN or infinite */
  guint n_filters; /* 0: one */
  NdResponse response;
  gboolean is_complex;
  gboolean is_separable;
  gboolean is_resident; /* in memory of the device */
  gsize row;            /* samples from row to row in memory; 0: any */
  gdouble threshold;    /* of labels, as a part of Case.magnitude */
  gboolean are_alike;   /* all filters are those of the first response */
  gboolean is_zero;     /* all samples */
  gint
      side; /* -1, 1: filters reach to this side of samples only, and the border
              * is MIRROR, whose samples are farthest from an edge */
} Large;

extern const Large large_cases[];
