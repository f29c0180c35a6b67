/* Deconvolution of Poisson data by the method of Richardson and Lucy, with
 * total variation. Volume d was recorded through the point spread function h,
 * whose coefficients are 0 or more and have the sum 1. With e = mean (d) at the
 * start, each iteration computes
 *
 *   c = h * e,  r = d / c (1 if c <= f),
 *   e <- e (h~ * r) / (1 - tv div (grad e / |grad e|))
 *
 * where h~ is h mirrored: W. H. Richardson, "Bayesian-Based Iterative Method of
 * Image Restoration", J. Opt. Soc. Am. 62(1), 1972, and L. B. Lucy, "An
 * Iterative Technique for the Rectification of Observed Distributions", Astron.
 * J. 79(6), 1974, eq. 15; total variation: N. Dey et al., "Richardson-Lucy
 * Algorithm with Total Variation Regularization for 3D Confocal Microscope
 * Deconvolution", Microsc. Res. Tech. 69(4), 2006, eq. 13.
 *
 * The gradient has forward differences in samples, 0 at the last sample of an
 * axis; the divergence is its negative adjoint. |grad e| is the root of
 * |grad e|^2 + (ND_DECONVOLVE_EDGE m)^2, and f is ND_DECONVOLVE_FLOOR m, with m
 * = mean (d). If no sample of e reaches a sample, c is 0 there but for rounding
 * errors, and d / c would spread them over the volume. Samples of d below 0
 * count as 0. Samples of d that are not finite are missing: r is 1 there, and
 * m leaves them out. If m is 0, e is 0.
 *
 * Beyond the edges, e and r follow the border. With a constant border, e is the
 * border value; r is 1 if that is above 0, otherwise 0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/filter.h"

G_BEGIN_DECLS

#define ND_DECONVOLVE_MAX_ITERATIONS 1000

/* The divergence is at most 6, so that the denominator is above 0. */
#define ND_DECONVOLVE_MAX_TV 0.1

#define ND_DECONVOLVE_FLOOR 1e-5
#define ND_DECONVOLVE_EDGE 1e-3

/* Smaller residues are rounding errors of float32. */
#define ND_DECONVOLVE_EXACT 1e-6

typedef struct
{
  guint iterations; /* the most, 1 to ND_DECONVOLVE_MAX_ITERATIONS */
  gdouble tv;       /* 0 to ND_DECONVOLVE_MAX_TV */

  /* Ends once an iteration has changed the residue by at most this share of
   * it, or with one of at most ND_DECONVOLVE_EXACT; 0: never. */
  gdouble tolerance;
} NdDeconvolveSettings;

/* What was computed for one volume. */
typedef struct
{
  guint iterations;
  gdouble residue; /* sqrt (sum (d - c)^2 / sum d^2) with the last c, that is
                    * before the last change of e; 0 if d is 0 */
} NdDeconvolution;

/* Whether iteration @i, from 0 on, ends before it changes e, for its residue
 * and that of the iteration @before. */
static inline gboolean
nd_deconvolve_is_done (const NdDeconvolveSettings *settings, guint i,
    gdouble before, gdouble residue)
{
  const gdouble change = before > residue ? before - residue : residue - before;

  return settings->tolerance > 0
      && (residue <= ND_DECONVOLVE_EXACT
          || (i > 0 && change <= settings->tolerance * before));
}

/* h of the filter of @psf, scaled to sum 1. NULL with ND_ERROR_SETTINGS, with a
 * sentence that begins with "The psf", if it has several filters, is complex,
 * extends in time, has a coefficient below 0 or the sum 0; ND_ERROR_MEMORY. */
NdFilter *nd_deconvolve_psf (const NdBank *psf, GError **error);

/* The reference in double precision */

/* The sample that replaces sample @i of an axis of @n; -1: the border value. */
typedef gint64 (*NdDeconvolveBorder) (gint border, gint64 i, gint64 n);

/* Deconvolves @d of @size samples into @e. */
void nd_deconvolve_reference (const NdDeconvolveSettings *settings,
    const NdFilter *h, NdDeconvolveBorder index, gint border,
    gdouble border_value, const gsize size[3], const gdouble *d, gdouble *e,
    NdDeconvolution *out);

G_END_DECLS
