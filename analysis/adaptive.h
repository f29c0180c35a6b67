/* Adaptive filtering with a control tensor: the filters, the remapping of
 * eigenvalues, and the reference in double precision. docs/algorithms.md has
 * the formulas.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"

G_BEGIN_DECLS

#define ND_ADAPTIVE_BANDS 3
#define ND_ADAPTIVE_NODES 3
/* Eigenvalues minus the floor are at least this. */
#define ND_ADAPTIVE_MIN_VALUE 1e-4
/* An eigenvalue this many times m_sigma above the floor is kept by half,
 * whatever the other eigenvalues are. */
#define ND_ADAPTIVE_KEEP 10
/* The least mean eigenvalue of noise that is measured. */
#define ND_ADAPTIVE_MIN_NOISE 1e-20
#define ND_ADAPTIVE_MAX_RADIUS 6
/* Volumes before, and after, an output that the low-pass filters read, and that
 * the derivatives of band-pass filters read. */
#define ND_ADAPTIVE_TIME_RADIUS 2
#define ND_ADAPTIVE_TIME_REACH (ND_ADAPTIVE_TIME_RADIUS + 1)
#define ND_ADAPTIVE_TIMES (2 * ND_ADAPTIVE_TIME_REACH + 1)

/* A discrete Gaussian: the same along all axes of space, another one along
 * time. */
typedef struct
{
  guint radius;
  gdouble space[ND_ADAPTIVE_MAX_RADIUS + 1]; /* of distances 0 to radius */
  /* The derivatives of order 0, 1 and 2, times the weight of the Gaussian. */
  gdouble time[3][ND_ADAPTIVE_TIMES];
} NdAdaptiveGaussian;

/* The frequencies between two low-pass filters. */
typedef struct
{
  NdAdaptiveGaussian low;                      /* the lower one */
  NdAdaptiveGaussian nodes[ND_ADAPTIVE_NODES]; /* their sum is B */
  gdouble sum;                                 /* of the coefficients of B */
  gdouble gradient;                            /* factor of b b^T */
  gdouble floor;   /* eigenvalues up to it, divided by `noise`, are noise */
  gdouble m_sigma; /* factor of NdAdaptiveRemap's */
  gdouble noise;   /* the mean eigenvalue of T for white noise of sigma = 1 */
  gdouble speckle;
  guint radius;
  gdouble window[ND_ADAPTIVE_MAX_RADIUS + 1]; /* that T is averaged over */
} NdAdaptiveBand;

/* The axes are x, y, z if there is one, and time if it counts. Time is scaled,
 * so that a filter reaches further along it. */
typedef struct
{
  guint axes, space_axes; /* 2 to 4, 2 or 3 */
  NdAdaptiveBand bands[ND_ADAPTIVE_BANDS];
} NdAdaptiveDesign;

/* Computes the design: @space_axes is 2 or 3. */
void nd_adaptive_design_init (NdAdaptiveDesign *design, guint space_axes,
    gboolean has_time);

/* Speckle is correlated in space, so that the noise of a band is measured: this
 * quantile of the mean eigenvalue of T, times `speckle` of the band. Samples
 * that are equal to the least one of the volume do not count, as they are
 * outside of the sector of an ultrasound image. */
#define ND_SPECKLE_QUANTILE .25

/* The eigenvalues of the control tensor. @values are @axes eigenvalues of the
 * structure tensor, the largest first, divided by those of the noise. */
void nd_adaptive_remap (const NdAdaptiveBand *band,
    const NdAdaptiveRemap *remap, guint axes, const gdouble *values,
    gdouble *factors);

/* Filters all volumes of a stream at once in double precision. The arguments
 * are those of nd_denoise_reference(); an output reads at most @latency later
 * volumes. If @is_speckle, the noise of each band is that of speckle, times
 * @sigma^2, and @in has been through nd_speckle_reference(). */
void nd_adaptive_reference (const NdAdaptiveDesign *design,
    const NdAdaptiveRemap *remap, gboolean is_speckle, guint latency,
    const NdReferenceBorders *borders, const gsize size[3], gsize n_volumes,
    const gdouble *in, const gdouble *sigma, gdouble *out);

/* The noise of a receiver is new in each volume, and speckle is not: if the
 * samples before and after are both above or both below a sample, it moves this
 * part of the way to the nearer one. At an edge that moves, one of them is
 * close to the sample or on its other side. */
#define ND_SPECKLE_TIME .3

/* The mean of each sample, moved like this, and of the median of the
 * 3 x 3 x 3 x 3 samples around it (3 x 3 x 3 in frames), with at most @latency
 * later volumes. */
void nd_speckle_reference (guint latency, const NdReferenceBorders *borders,
    const gsize size[3], gsize n_volumes, const gdouble *in, gdouble *out);

G_END_DECLS
