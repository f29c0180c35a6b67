/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/stabilise.h"

#include "analysis/stabiliseinline.h"

/* Points of the integrals of Bessel functions, whose integrand is periodic, so
 * that the error is below rounding, and of the noise. */
#define BESSEL_POINTS 96
#define NOISE_STEP 0.25
#define NOISE_REACH 28
/* The least slope of f, at values of noise alone. */
#define RICE_LEAST_DEVIATION 0.6551363775620336

/* exp (-x) I0 (x) and exp (-x) I1 (x). */
static void
bessel (gdouble x, gdouble *i0, gdouble *i1)
{
  *i0 = *i1 = 0;
  for (guint i = 0; i < BESSEL_POINTS; i++) {
    const gdouble c = cos (G_PI * (i + .5) / BESSEL_POINTS);
    const gdouble e = exp (x * (c - 1)) / BESSEL_POINTS;

    *i0 += e;
    *i1 += c * e;
  }
}

void
nd_rice_moments (gdouble value, gdouble *mean, gdouble *deviation)
{
  const gdouble square = value * value;
  gdouble i0, i1;

  /* The next terms of both series are below 1e-8. */
  if (value > 40) {
    *mean = value + .5 / value + .125 / (square * value);
    *deviation = sqrt (1 - .5 / square);
    return;
  }
  bessel (square / 4, &i0, &i1);
  *mean = sqrt (G_PI / 2) * ((1 + square / 2) * i0 + square / 2 * i1);
  *deviation = sqrt (MAX (2 + square - *mean * *mean, 0));
}

/* 1 / deviation of the magnitudes whose mean is @mean, which is @value's. */
static gdouble
rice_slope (gdouble mean, gdouble *value)
{
  gdouble here, deviation;

  for (guint i = 0; i < 50; i++) {
    gdouble step;

    nd_rice_moments (*value, &here, &deviation);
    /* The slope of the mean is at least value / mean / 1.3. */
    step = (mean - here) * here / *value;
    *value = MAX (*value + step, 1e-6);
    if (fabs (step) < 1e-9)
      break;
  }
  return 1 / deviation;
}

gdouble
nd_rice_reference (gdouble x)
{
  const gdouble least = sqrt (G_PI / 2), end = ND_RICE_END;
  const guint n = 1000;
  gdouble value = end, sum = 0, from;

  if (x >= end)
    return x - .25 / x;
  from = MAX (x, least);
  /* The midpoint rule, from the end down. */
  for (guint i = 0; i < n; i++)
    sum += rice_slope (end - (end - from) * (i + .5) / n, &value);
  return end - .25 / end - sum * (end - from) / n
      + MIN (x - least, 0) / RICE_LEAST_DEVIATION;
}

/* The mean and the standard deviation of @f over magnitudes of @value. */
static void
rice_average (gdouble (*f) (gdouble x, gconstpointer data), gconstpointer data,
    gdouble value, gdouble *mean, gdouble *deviation)
{
  gdouble sum = 0, square = 0, weights = 0;

  for (gint i = -NOISE_REACH; i <= NOISE_REACH; i++) {
    for (gint k = 0; k <= NOISE_REACH; k++) {
      const gdouble a = i * NOISE_STEP, b = k * NOISE_STEP;
      const gdouble w = exp (-(a * a + b * b) / 2) * (k == 0 ? 1 : 2);
      const gdouble y = f (hypot (value + a, b), data);

      weights += w;
      sum += w * y;
      square += w * y * y;
    }
  }
  *mean = sum / weights;
  *deviation = sqrt (MAX (square / weights - *mean * *mean, 0));
}

static gdouble
table_forward (gdouble x, gconstpointer rice)
{
  return nd_inline_rice (rice, x, 1);
}

void
nd_rice_numbers (gdouble value, gdouble *mean, gdouble *deviation)
{
  rice_average (table_forward, nd_rice_tables (), value, mean, deviation);
}

static void
fill_forward (NdRiceTables *rice)
{
  const gdouble step = ND_RICE_END / ND_RICE_STEPS, least = sqrt (G_PI / 2);
  gdouble at = ND_RICE_END - .25 / ND_RICE_END, value = ND_RICE_END;

  for (gint i = ND_RICE_STEPS; i >= 0; i--) {
    const gdouble middle = (i - .5) * step;

    rice->forward[i] = at;
    at -= step
        * (middle > least ? rice_slope (middle, &value)
                          : 1 / RICE_LEAST_DEVIATION);
  }
}

/* The means of f rise with the value. */
static void
fill_squares (NdRiceTables *rice)
{
  gdouble means[ND_RICE_STEPS + 1], deviation;
  guint k = 0;

  for (guint i = 0; i <= ND_RICE_STEPS; i++)
    rice_average (table_forward, rice,
        sqrt ((gdouble) i / ND_RICE_STEPS) * ND_RICE_END, &means[i],
        &deviation);
  rice->least = means[0];
  rice->most = means[ND_RICE_STEPS];
  for (guint i = 0; i <= ND_RICE_STEPS; i++) {
    const gdouble mean =
        means[0] + (means[ND_RICE_STEPS] - means[0]) * i / ND_RICE_STEPS;

    while (k + 2 <= ND_RICE_STEPS && means[k + 1] < mean)
      k++;
    rice->squares[i] = (k + (mean - means[k]) / (means[k + 1] - means[k]))
        / ND_RICE_STEPS * ND_RICE_END * ND_RICE_END;
  }
}

const NdRiceTables *
nd_rice_tables (void)
{
  static NdRiceTables tables;
  static gsize made;

  if (g_once_init_enter (&made)) {
    fill_forward (&tables);
    fill_squares (&tables);
    g_once_init_leave (&made, 1);
  }
  return &tables;
}

void
nd_stabiliser_init (NdStabiliser *self, NdNoise noise, gdouble gain,
    gdouble constant, gdouble sigma)
{
  self->noise = noise;
  self->gain = gain;
  self->constant = constant;
  self->sigma = sigma;
  self->rice = noise == ND_NOISE_RICIAN ? nd_rice_tables () : NULL;
}

void
nd_stabilise (const NdStabiliser *self, gfloat *samples, gsize n)
{
  if (self->noise == ND_NOISE_RICIAN) {
    for (gsize i = 0; i < n; i++)
      samples[i] = nd_inline_rice (self->rice, samples[i], self->sigma);
  } else {
    for (gsize i = 0; i < n; i++)
      samples[i] = nd_inline_anscombe (samples[i], self->gain, self->constant);
  }
}

void
nd_unstabilise (const NdStabiliser *self, gfloat *samples, gsize n)
{
  if (self->noise == ND_NOISE_RICIAN) {
    for (gsize i = 0; i < n; i++)
      samples[i] = nd_inline_unrice (self->rice, samples[i], self->sigma);
  } else {
    for (gsize i = 0; i < n; i++)
      samples[i] =
          nd_inline_unanscombe (samples[i], self->gain, self->constant);
  }
}

gdouble
nd_anscombe_reference (gdouble x, gdouble read)
{
  return 2 * sqrt (MAX (x + .375 + read * read, 0));
}

void
nd_anscombe_numbers (gdouble count, gdouble read, gdouble *mean,
    gdouble *deviation)
{
  const gint most = count + 12 * sqrt (count) + 20;
  gdouble sum = 0, square = 0, weights = 0;

  for (gint k = 0; k <= most; k++) {
    const gdouble p = exp ((count > 0  ? k * log (count)
                                   : k ? -INFINITY
                                       : 0)
        - count - lgamma (k + 1.));

    for (gint i = -NOISE_REACH; i <= NOISE_REACH; i++) {
      const gdouble u = i * NOISE_STEP, w = p * exp (-u * u / 2);
      const gdouble y = nd_anscombe_reference (k + read * u, read);

      weights += w;
      sum += w * y;
      square += w * y * y;
    }
  }
  *mean = sum / weights;
  *deviation = sqrt (MAX (square / weights - *mean * *mean, 0));
}
