/* One sort over a footprint, of the volumes of a stream: a ring of padded
 * volumes of keys, and the way that their order is found.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/rank.h"
#include "engine/border.h"
#include "engine/job.h"
#include "engine/window.h"

G_BEGIN_DECLS

typedef struct _NdRankSorter NdRankSorter;

typedef struct
{
  NdShape shape;
  NdSampleType type; /* of nd_sample_computed() */
  NdBorder border, time_border;
  gdouble border_value; /* rounded half to even, and saturated, to the type */
  guint64 kept;         /* bits of components that pass as they are */
  guint waits;  /* volumes that may be pushed while an output is ready */
  gsize beside; /* bytes that the algorithm takes besides, for the check */
} NdRankSorterOptions;

/* Takes @footprint. NULL with ND_ERROR_MEMORY. Later calls use at most the
 * nd_threads() of this call. */
NdRankSorter *nd_rank_sorter_new (NdFootprint *footprint, gsize rank,
    const NdRankSorterOptions *options, GError **error);
void nd_rank_sorter_free (NdRankSorter *self);

/* As those of NdAlgorithmClass; @out NULL skips an output. */
void nd_rank_sorter_push (NdRankSorter *self, const NdSamples *volume);
void nd_rank_sorter_respond (NdRankSorter *self, const NdSamples *out);

/* To end and reset it, and to ask whether it is ready. */
NdWindow *nd_rank_sorter_window (NdRankSorter *self);

/* Volumes of the ring, and all else. */
gsize nd_rank_sorter_bytes (const NdRankSorter *self);

G_END_DECLS
