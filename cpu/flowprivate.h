/* Motion compensation of flowmotion.c (levels, and moving) and flowestimate.c
 * (the flow).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/flow.h"
#include "cpu/flowkernels.h"
#include "cpu/flowmotion.h"

G_BEGIN_DECLS

#define ND_FLOW_LEVELS 2

/* The rows of a worker: flow, results, and one of cells. */
#define ND_FLOW_ROWS 10

/* One resolution. The flow is known at cells of 2 x 2 x 2 samples. */
typedef struct
{
  gsize size[3], cells[3], samples, n_cells;
  gsize row, plane, padded; /* floats of a padded row, plane, volume */
  gfloat *target, *other;   /* padded and smoothed */
  gfloat *inverse[6];       /* of the structure tensor: xx xy xz yy yz zz */
  gfloat *sums[6], *windows[6];
  gfloat *flow[3];
} NdFlowLevel;

struct _NdFlow
{
  const NdFlowKernels *kernels;
  NdFlowLevel levels[ND_FLOW_LEVELS];
  guint n_levels;
  gfloat *coarse;    /* a volume of level 1 */
  gfloat *padded[2]; /* volumes to move */
  gfloat *rows;      /* of each worker */
  gsize row;         /* floats of one of them */
  gfloat *memory;    /* all arrays */
};

static inline gfloat *
nd_flow_sample (const NdFlowLevel *level, const gfloat *padded, gsize y,
    gsize z)
{
  return (gfloat *) padded
      + (level->size[2] > 1 ? z + ND_FLOW_PAD : 0) * level->plane
      + (y + ND_FLOW_PAD) * level->row + ND_FLOW_PAD;
}

/* Row @i of @worker. */
static inline gfloat *
nd_flow_row (const NdFlow *self, guint worker, guint i)
{
  return self->rows + (worker * (gsize) ND_FLOW_ROWS + i) * self->row;
}

static inline NdFlowRow
nd_flow_get_row (const NdFlowLevel *level, gsize y, gsize z)
{
  return (NdFlowRow){
    .n = level->size[0],
    .y = y,
    .z = z,
    .end = { level->size[0] - 1, level->size[1] - 1, level->size[2] - 1 },
    .row = level->row,
    .plane = level->size[2] > 1 ? level->plane : 0,
  };
}

/* Repeats the ends of the rows of plane @z, its first and last row, and the
 * plane if it is the first or the last. */
void nd_flow_extend_plane (const NdFlowLevel *level, gfloat *padded, gsize z);

/* Interpolates @cells at a row of samples of @level. */
void nd_flow_interpolate (const NdFlow *self, const NdFlowLevel *level,
    const gfloat *cells, gsize y, gsize z, guint worker, gfloat *out);

/* Interpolates the flow at @row. */
void nd_flow_read_flow (const NdFlow *self, const NdFlowLevel *level,
    guint worker, NdFlowRow *row);

/* The flow from the target to @volume. */
void nd_flow_follow (NdFlow *self, gint offset, const gfloat *volume);

G_END_DECLS
