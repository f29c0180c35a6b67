/* Inner loops of motion compensation, compiled once for each instruction set.
 *
 * Volumes are padded by ND_FLOW_PAD samples at both ends of each axis, by one
 * plane only if they have one plane. Positions are clamped to the volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ND_FLOW_PAD 2

/* Rows are allocated for this many samples more than they have. */
#define ND_FLOW_ROOM 16

/* A row of samples at (0, y, z), each of which is read at a displacement. */
typedef struct
{
  gsize n;         /* samples */
  gfloat y, z;     /* of the row */
  gfloat end[3];   /* the last position of each axis */
  gint row, plane; /* floats between rows and planes; plane 0: one plane */
  const gfloat *flow[3];
} NdFlowRow;

typedef struct
{
  /* out[i] = g[i] (moved - target), with the central differences g of the
   * target and with the linear interpolation of @other. @target and @other
   * point at sample (0, y, z). */
  void (*residual) (const NdFlowRow *row, const gfloat *target,
      const gfloat *other, gfloat *const out[3]);

  /* The products of the central differences: xx xy xz yy yz zz. */
  void (*products) (const NdFlowRow *row, const gfloat *target,
      gfloat *const out[6]);

  /* The cubic interpolation (Catmull and Rom) of two volumes. */
  void (*move) (const NdFlowRow *row, const gfloat *const in[2],
      gfloat *const out[2]);
} NdFlowKernels;

/* The kernels for the instruction set that nd_kernels() chooses. */
const NdFlowKernels *nd_flow_kernels (void);

G_END_DECLS
