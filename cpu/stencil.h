/* A filter prepared for padded volumes: planes of coefficients without zeros,
 * run over blocks of rows on all cores.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/rowoutput.h"
#include "filters/filter.h"

G_BEGIN_DECLS

/* Distances in padded memory, in floats. If @slice is 0, the window is one
 * volume, and each slice that an output reads has a pointer of its own in place
 * of a volume. */
typedef struct
{
  gsize row;
  gsize slice;
} NdStrides;

/* A plane with at least this share of non-zero coefficients in its bounding box
 * runs as a dense box, others tap by tap: about sparse_rate / dense_rate of the
 * kernels. */
#define ND_DENSE_SHARE 0.6

/* The least taps that are begun ahead. Writing and reading the sums takes as
 * long as about 23 taps of AVX-512, and a quarter of the work ahead counts. */
#define ND_EARLY_TAPS 32

/* The columns of outputs that are computed before they are stored: blocks of 2,
 * 3 and 4 vectors fill them. */
#define ND_STENCIL_PIECE 768

typedef struct
{
  NdPlane *planes; /* in the order of time */
  guint n_planes;
  guint n_early; /* see nd_stencil_split() */
  gsize piece;   /* columns between two looks at the flag of cancellation */
  NdReal *weights;
  gsize *offsets;
  NdStrides strides;
  const NdKernels *kernels;
} NdStencil;

/* @low: the offset of the first padded sample of each axis, for example that of
 * the bank. @finite: all samples are finite, so that zero coefficients inside a
 * dense box may be multiplied; otherwise 0 * Inf would give NaN. FALSE with
 * ND_ERROR_MEMORY without memory: clear @stencil then, too. */
gboolean nd_stencil_init (NdStencil *stencil, const NdFilter *filter,
    const gint low[ND_AXES], const NdStrides *strides, gboolean finite,
    GError **error);
void nd_stencil_clear (NdStencil *stencil);

/* The number of floats after the last padded sample that blocks may read. */
gsize nd_stencil_slack (const NdStrides *strides);

/* Lets nd_stencil_begin() compute the sums over the volumes before volumes[@t],
 * if these have enough taps. The bits of responses then do not depend on
 * whether they are begun. */
void nd_stencil_split (NdStencil *stencil, guint t);

/* The floats that nd_stencil_begin() writes: 0 if there is nothing to begin. */
gsize nd_stencil_begun_floats (const NdStencil *stencil, const gsize size[3]);
void nd_stencil_begin (const NdStencil *stencil, const NdReal *const *volumes,
    const gsize size[3], NdReal *begun);

/* The responses that are computed together: of all filters, for the components
 * of a group from @component on (cpu/rowoutput.h). */
typedef struct
{
  const NdStencil *stencils; /* of the filters */
  const NdRowOutput *output;
  gsize component;

  /* [component][t]: the padded volumes at time offset low[T] + t, or slices
   * (NdStrides). */
  const NdReal *const *volumes;
  guint n_volumes;

  /* [component][filter]: the sums of nd_stencil_begin(), or NULL. */
  const NdReal *const *begun;
} NdStencilBank;

/* The floats of a layer of the output, for rows of @width responses. */
gsize nd_stencil_layer_floats (gsize width);

/* Computes the output of a volume of @size. */
void nd_stencil_run (const NdStencilBank *bank, const gsize size[3]);

/* The same for @n rows of @width responses, from row @y of slice @z on, on this
 * thread. @volumes: the padded samples at offset 0 of the first one. */
void nd_stencil_rows (const NdStencilBank *bank, guint worker, gsize width,
    gsize n, gsize y, gsize z);

/* The same for @n responses of a volume of one row, from column @x on, by
 * ND_BLOCK_ROWS parts of @width, at most ND_STENCIL_PIECE: the filters have
 * strides of that many floats from row to row. */
void nd_stencil_line (const NdStencilBank *bank, guint worker, gsize width,
    gsize n, gsize x);

G_END_DECLS
