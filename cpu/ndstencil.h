/* A filter made ready for padded volumes: planes of coefficients with zeros
 * dropped, run over blocks of rows on all cores.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "filters/ndfilter.h"
#include "ndkernels.h"

G_BEGIN_DECLS

/* How padded samples lie in memory, in floats. */
typedef struct
{
  gsize row;
  gsize slice;
} NdStrides;

typedef struct
{
  NdPlane *planes;
  guint n_planes;
  gfloat *weights;
  gsize *offsets;
  NdStrides strides;
  const NdKernels *kernels;
} NdStencil;

/* @low is the least offset of the padded volumes (a bank's, say). Only where
 * all samples are @finite may a zero inside a plane be multiplied. */
void nd_stencil_init (NdStencil * stencil, const NdFilter * filter,
    const gint low[ND_AXES], const NdStrides * strides, gboolean finite);
void nd_stencil_clear (NdStencil * stencil);

/* Floats that blocks may read behind the last padded one. */
gsize nd_stencil_slack (const NdStrides * strides);

/* Takes n responses from (x, y, z) on. */
typedef void (*NdRowFunc) (const gfloat * responses, gsize n, gsize x, gsize y,
    gsize z, gpointer data);

/* All responses for outputs (0, 0, 0) to @size. volumes[t] is the padded volume
 * at time offset low[T] + t. @func is called from several threads. */
void nd_stencil_run (const NdStencil * stencil, const gfloat * const *volumes,
    const gsize size[3], NdRowFunc func, gpointer data);

G_END_DECLS
