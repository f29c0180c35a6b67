/* Frames of integers that are converted tile by tile when they are filtered: a
 * copy of them as they are takes less memory than a padded copy of floats.
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
  guint8 *frame; /* dense */
  NdSamples samples;
  gsize bytes;
  NdStrides strides; /* of a tile */
  gsize tile_floats;
  NdReal *memory; /* a tile for each worker and component of a group */
  guint n_workers;
  gsize group; /* see cpu/rowoutput.h */
} NdTiles;

/* Whether frames of the job can be converted by tiles: integers, and filters
 * without taps along z and time. */
gboolean nd_tiles_fit (const NdJob *job, const NdReach *reach);

gboolean nd_tiles_init (NdTiles *tiles, const NdJob *job, const NdReach *reach,
    gsize group, GError **error);
void nd_tiles_clear (NdTiles *tiles);
gsize nd_tiles_bytes (const NdTiles *tiles);

void nd_tiles_push (const NdTiles *tiles, const NdSamples *volume);

/* nd_stencil_run() for the frame that was pushed. @bank has no volumes. */
void nd_tiles_run (const NdTiles *tiles, const NdStencilBank *bank);

G_END_DECLS
