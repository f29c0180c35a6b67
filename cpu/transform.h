/* Fourier transforms of real volumes: one-dimensional transforms
 * (cpu/linefft.h) in passes over all cores.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "cpu/stencil.h"

G_BEGIN_DECLS

/* The size of @n or more whose transform takes the least time. @even: the size
 * must be even, as along x, because transforms along x are of real numbers. */
gsize nd_transform_size (gsize n, gboolean even);

typedef struct _NdTransform NdTransform;

/* size[0] is even. ND_ERROR_MEMORY if there is not enough memory. */
NdTransform *nd_transform_new (const gsize size[3], GError **error);
void nd_transform_free (NdTransform *transform);
gsize nd_transform_bytes (const NdTransform *transform);

/* Floats of a spectrum, whose memory is aligned to ND_LINE_ALIGN
 * (cpu/linefft.h) and which is in the order in which the last axis makes it. */
gsize nd_transform_floats (const NdTransform *transform);

/* sum += a * b, for @n floats of spectra. */
void nd_transform_multiply_add (const NdTransform *transform, NdReal *sum,
    const NdReal *a, const NdReal *b, gsize n);

/* Writes the first used[0] samples of row (y, z). The others are zero. */
typedef void (*NdLoadRow) (gsize y, gsize z, NdReal *row, gpointer data);

/* Calls @load once for each row with y < used[1] and z < used[2], from several
 * threads. */
void nd_transform_forward (NdTransform *transform, const gsize used[3],
    NdLoadRow load, gpointer data, NdReal *spectrum);

/* Writes floats @first to @first + @n - 1 of the spectrum. */
typedef void (*NdLoadFloats) (gsize first, gsize n, NdReal *floats,
    gpointer data);

/* Receives row (y, z), kept[0] samples long, which it may change. */
typedef void (*NdTakeRow) (gsize y, gsize z, NdReal *row, gpointer data);

/* Calls @take once for each row with y < kept[1] and z < kept[2], from several
 * threads. The result is not scaled: forward and inverse together multiply the
 * samples by size[0] * size[1] * size[2]. */
void nd_transform_inverse (NdTransform *transform, const gsize kept[3],
    NdLoadFloats load, NdTakeRow take, gpointer data);

/* Convolves, circularly in @size, what @load writes with the filter whose
 * spectrum nd_transform_forward() has written, or with that filter mirrored:
 * forward, product and inverse, in fewer passes over memory. Not scaled. The
 * threads of @take are done with all of @load. */
void nd_transform_convolve (NdTransform *transform, const gsize used[3],
    NdLoadRow load, const NdReal *filter, gboolean mirrored,
    const gsize kept[3], NdTakeRow take, gpointer data);

G_END_DECLS
