/* Volumes that are converted and padded tile by tile when they are filtered, in
 * windows of one volume: a padded copy of them is not needed.
 *
 * A tile is some rows of as many slices as an output reads. A tile of one slice
 * goes along y, others go along z, so that each row is converted once. A volume
 * of one row is converted in parts (nd_stencil_line()).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/pad.h"
#include "cpu/stencil.h"

G_BEGIN_DECLS

typedef struct
{
  NdPad pad;
  guint8 *volume; /* a dense copy of it; NULL if it stays in place */
  NdSamples samples;
  gsize bytes;       /* of the copy */
  NdStrides strides; /* of a tile */
  gsize depth;       /* slices of a tile */
  gsize line;        /* columns of a part; 0: volumes of several rows */
  gsize rows;        /* of outputs of a task */
  gsize held;        /* padded rows in a tile */
  gsize slice_floats;
  NdReal *memory;        /* a tile for each worker and component of a group */
  const NdReal **tables; /* of the slices, for the same */
  guint n_workers;
  gsize group; /* see cpu/rowoutput.h */
} NdTiles;

/* Whether volumes of the job are converted by tiles: those that stay in place,
 * and frames of integers, of which a copy as they are takes less memory than
 * padded floats. */
gboolean nd_tiles_fit (const NdJob *job, const NdReach *reach,
    const NdRingOptions *options);

/* @tiles is zeroed. */
gboolean nd_tiles_init (NdTiles *tiles, const NdJob *job, const NdReach *reach,
    const NdRingOptions *options, gsize group, GError **error);
void nd_tiles_clear (NdTiles *tiles);
gsize nd_tiles_bytes (const NdTiles *tiles);

/* Copies @volume, unless it stays in place. */
void nd_tiles_push (NdTiles *tiles, const NdSamples *volume);

/* nd_stencil_run() for the volume that was pushed. @bank has no volumes. */
void nd_tiles_run (const NdTiles *tiles, const NdStencilBank *bank);

G_END_DECLS
