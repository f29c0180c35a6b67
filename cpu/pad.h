/* Conversion of samples of any type to padded floats, with the border written.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/kernels.h"
#include "cpu/stencil.h"

G_BEGIN_DECLS

/* One component of a volume and the samples around it that the filters reach.
 * Padded sample (x, y, z) is sample (x + low[0], y + low[1], z + low[2]). */
typedef struct
{
  const NdKernels *kernels;
  NdShape shape;
  NdSampleType type;
  NdReal border_value;
  gsize size[3];   /* padded */
  gsize before[3]; /* padded samples before the volume */
  gssize *edge[3]; /* indices of the samples that the padding copies, those
                      before the volume first; -1 for the border value */
} NdPad;

/* FALSE with ND_ERROR_MEMORY without memory, or if the padded sizes overflow a
 * gsize. @pad is then cleared. */
gboolean nd_pad_init (NdPad *pad, const NdJob *job, const NdReach *reach,
    GError **error);
void nd_pad_clear (NdPad *pad);

/* Lets the rows of @pad, whose job has the border @border, be those of
 * @components that alternate: each is padded with samples of its own. */
void nd_pad_fold (NdPad *pad, NdBorder border, gsize components);

/* Writes padded row (y, z) of component @c, pad->size[0] floats, to @row.
 * @volume NULL is the border volume. */
void nd_pad_row (const NdPad *pad, const NdSamples *volume, gsize c, gsize y,
    gsize z, NdReal *row);

/* Writes padded samples @x to @x + @n - 1 of component @c of a volume of one
 * row, which the filters reach beyond only along x. */
void nd_pad_part (const NdPad *pad, const NdSamples *volume, gsize c, gsize x,
    gsize n, NdReal *part);

/* Zeroed memory for @n floats, to be freed with g_free(). NULL with
 * ND_ERROR_MEMORY if there is not enough memory. Pass G_MAXSIZE if @n
 * overflowed. */
NdReal *nd_floats_new (gsize n, GError **error);

/* A ring of padded volumes, one per slot and component. */

typedef struct
{
  NdPad pad;
  NdStrides strides;
  gsize components;
  gsize floats; /* of one padded volume, with nd_stencil_slack() */
  guint n_volumes;
  NdReal *memory;
} NdPadded;

/* Allocates @n_volumes volumes with room for @reach around them. FALSE and an
 * error if there is no memory; @padded then needs no clear(). */
gboolean nd_padded_init (NdPadded *padded, const NdJob *job,
    const NdReach *reach, guint n_volumes, GError **error);
void nd_padded_clear (NdPadded *padded);
gsize nd_padded_bytes (const NdPadded *padded);
NdReal *nd_padded_volume (const NdPadded *padded, guint slot, gsize component);

/* Converts @volume and adds its border. @volume NULL is the border volume. */
void nd_padded_push (const NdPadded *padded, guint slot,
    const NdSamples *volume);

G_END_DECLS
