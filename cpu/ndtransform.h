/* Fourier transforms of real volumes: KissFFT's one-dimensional transforms in
 * passes over all cores.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndstencil.h"

G_BEGIN_DECLS

/* The size of at least @n whose transform takes the least time; even for the
 * x axis, whose transforms are real. */
gsize nd_transform_size (gsize n, gboolean even);

typedef struct _NdTransform NdTransform;

/* ND_ERROR_NO_SPACE where memory is short. size[0] is even. */
NdTransform *nd_transform_new (const gsize size[3], GError ** error);
void nd_transform_free (NdTransform * transform);
gsize nd_transform_bytes (const NdTransform * transform);

/* Complex numbers of a spectrum: (size[0] / 2 + 1) * size[1] * size[2], with
 * z fastest, then x, then y. */
gsize nd_transform_numbers (const NdTransform * transform);

/* Writes the first used[0] samples of row (y, z); the rest is zero. */
typedef void (*NdLoadRow) (gsize y, gsize z, gfloat * row, gpointer data);

/* @load is called once for each row below @used, from several threads. */
void nd_transform_forward (NdTransform * transform, const gsize used[3],
    NdLoadRow load, gpointer data, gfloat * spectrum);

/* Writes @n numbers of the spectrum from @first on. */
typedef void (*NdLoadNumbers) (gsize first, gsize n, gfloat * numbers,
    gpointer data);

/* Not scaled: the inverse of the forward is size[0] * size[1] * size[2] times
 * the samples. @take gets each row below @kept, kept[0] samples long, and may
 * change it. */
typedef void (*NdTakeRow) (gsize y, gsize z, gfloat * row, gpointer data);
void nd_transform_inverse (NdTransform * transform, const gsize kept[3],
    NdLoadNumbers load, NdTakeRow take, gpointer data);

G_END_DECLS
