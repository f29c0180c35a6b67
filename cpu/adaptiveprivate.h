/* The filter of adaptive.c (the stream) and adaptivebands.c (one band of
 * frequencies).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"
#include "cpu/adaptivefilter.h"
#include "cpu/adaptivekernels.h"

G_BEGIN_DECLS

#define ND_ADAPTIVE_GAUSSIANS (ND_ADAPTIVE_NODES + 1)

#define ND_ADAPTIVE_BINS (1 << 16)

struct _NdAdaptiveFilter
{
  const NdAdaptiveKernels *kernels;
  NdAdaptiveDesign design;
  NdAdaptiveRemap remap;
  NdDenoiseBorders borders;
  gsize size[3], samples;
  guint n_slots; /* of the rings */
  gboolean has_time, is_speckle;

  gfloat *memory; /* of all that follows */
  gfloat *inputs;
  gfloat *smooth[ND_ADAPTIVE_BANDS][ND_ADAPTIVE_GAUSSIANS]; /* rings */
  gfloat *low[2];
  gfloat *base[3]; /* B, and its derivatives over time */
  gfloat *gradient[ND_TENSOR_MAX_AXES];
  gfloat *h[ND_TENSOR_MAX_COMPONENTS], *tensor[ND_TENSOR_MAX_COMPONENTS];
  gfloat *scratch; /* a volume */
  gfloat *result;
  gfloat *constants; /* rows of the border values of the input, of B in each
                      * band, and of 0 */
  gfloat *rows;      /* of each thread */
  guint32 *bins;     /* ND_ADAPTIVE_BINS counts, if is_speckle */
};

/* The rows of memory of one thread: a plane, and padded rows. */
static inline gsize
nd_adaptive_row_floats (const gsize size[3])
{
  return size[0] * size[1] + 4 * (size[0] + 2 * ND_ADAPTIVE_MAX_RADIUS);
}

static inline const gfloat *
nd_adaptive_constant_row (const NdAdaptiveFilter *self, guint index)
{
  return self->constants + index * self->size[0];
}

/* The memory of one thread: a plane, and padded rows. */
static inline gfloat *
nd_adaptive_thread_rows (const NdAdaptiveFilter *self, guint worker)
{
  return self->rows + worker * nd_adaptive_row_floats (self->size);
}

/* Computes b, H and T of band @index from B and its derivatives over time, in
 * `base`. T is multiplied by @scale. */
void nd_adaptive_make_tensors (NdAdaptiveFilter *filter, guint index,
    gfloat scale);

/* Replaces band @index of `result`, which is @above - @low, by its product with
 * the control tensor. @scale multiplies the eigenvalues of T before they are
 * remapped. */
void nd_adaptive_add_band (NdAdaptiveFilter *filter, guint index, gdouble scale,
    const gfloat *above, const gfloat *low);

/* The mean eigenvalue of speckle in volume @position, from T of band @index. */
gdouble nd_adaptive_measure_speckle (const NdAdaptiveFilter *filter,
    guint index, gint64 position);

G_END_DECLS
