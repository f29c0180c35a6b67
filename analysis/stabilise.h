/* Values whose noise depends on them, as numbers whose noise does not: the
 * generalized Anscombe transform of counts with read noise, and a transform of
 * magnitudes (Rice). The inverse is unbiased: it leads from the mean of the
 * numbers to the value.
 *
 * Poisson: x = gain n + offset + read noise has the variance
 * gain x + constant, with constant = read^2 - gain offset. The inverse is the
 * closed form of M. Makitalo, A. Foi, "Optimal inversion of the generalized
 * Anscombe transformation for Poisson-Gaussian noise", IEEE Trans. Image
 * Process. 22, 2013, equation 9.
 *
 * Rice: f = integral of 1 / deviation (mean) over the mean, in units of sigma
 * (A. Foi, "Noise estimation and removal in MR imaging: the variance-
 * stabilization approach", ISBI 2011, has the idea). f and its inverse are
 * tables.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/denoise.h"

G_BEGIN_DECLS

#define ND_RICE_STEPS 512 /* of tables */
#define ND_RICE_END 8.0   /* f (x) is x - 1 / (4 x) from here on */

/* Tables in units of sigma: f of the values i / ND_RICE_STEPS * ND_RICE_END,
 * and the square of the value before noise whose mean of f is
 * least + i / ND_RICE_STEPS * (most - least). */
typedef struct
{
  gfloat forward[ND_RICE_STEPS + 1], squares[ND_RICE_STEPS + 1];
  gfloat least, most;
} NdRiceTables;

/* Made once; they stay. Any thread. */
const NdRiceTables *nd_rice_tables (void);

typedef struct
{
  NdNoise noise;            /* ND_NOISE_POISSON, ND_NOISE_RICIAN */
  gfloat gain, constant;    /* Poisson */
  gfloat sigma;             /* Rice */
  const NdRiceTables *rice; /* Rice */
} NdStabiliser;

/* The standard deviation of the noise of the numbers is about 1. */
void nd_stabiliser_init (NdStabiliser *self, NdNoise noise, gdouble gain,
    gdouble constant, gdouble sigma);

/* @n samples, in place. NaN stays. */
void nd_stabilise (const NdStabiliser *self, gfloat *samples, gsize n);
void nd_unstabilise (const NdStabiliser *self, gfloat *samples, gsize n);

/* References in double precision. */

/* The mean and the standard deviation of magnitudes of @value with noise of
 * 1. */
void nd_rice_moments (gdouble value, gdouble *mean, gdouble *deviation);

/* The number of @x in units of gain and without an offset, or in units of
 * sigma. */
gdouble nd_anscombe_reference (gdouble x, gdouble read);
gdouble nd_rice_reference (gdouble x);

/* The mean and the standard deviation of the numbers of all samples of one
 * value: of a mean @count with @read noise; of magnitudes of @value, whose
 * numbers the tables give. */
void nd_anscombe_numbers (gdouble count, gdouble read, gdouble *mean,
    gdouble *deviation);
void nd_rice_numbers (gdouble value, gdouble *mean, gdouble *deviation);

G_END_DECLS
