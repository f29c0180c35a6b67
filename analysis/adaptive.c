/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"

#include <math.h>

#define LENGTH (2 * ND_ADAPTIVE_MAX_RADIUS + 3)
#define MIDDLE (ND_ADAPTIVE_MAX_RADIUS + 1)
/* The standard deviations over time, in volumes, divided by those in space, in
 * samples. */
#define TIME_SCALE 1.4

/* Half the variances of the low-pass filters, and the standard deviations of
 * the windows. */
static const gdouble ends[ND_ADAPTIVE_BANDS] = { .2, .6, 1.5 };
static const gdouble windows[ND_ADAPTIVE_BANDS] = { 1.2, 1.5, 1.8 };
static const gdouble floors[ND_ADAPTIVE_BANDS] = { 1.88, 2.28, 3.04 };
static const gdouble speckles[ND_ADAPTIVE_BANDS] = { 1, .45, .15 };
static const gdouble m_sigmas[ND_ADAPTIVE_BANDS] = { 1, .058, .0045 };

/* The discrete Gaussian with variance 2 s, of distances 0 to @radius, with sum
 * 1 (Lindeberg, Scale-space for discrete signals, 1990): the inverse Fourier
 * transform of exp (-2 s (1 - cos u)). The sum over 64 frequencies is exact in
 * double precision. */
static void
discrete_gaussian (gdouble s, guint radius, gdouble *out)
{
  gdouble sum = 0;

  for (guint n = 0; n <= radius; n++) {
    out[n] = 0;
    for (guint i = 0; i < 64; i++) {
      const gdouble u = 2 * G_PI * i / 64;

      out[n] += exp (-2 * s * (1 - cos (u))) * cos (n * u);
    }
    sum += (n ? 2 : 1) * out[n];
  }
  for (guint n = 0; n <= radius; n++)
    out[n] /= sum;
}

static void
init_gaussian (NdAdaptiveGaussian *gaussian, gdouble s, gdouble weight,
    gboolean has_time)
{
  gdouble half[ND_ADAPTIVE_TIME_RADIUS + 1] = { 1 };
  gdouble k[ND_ADAPTIVE_TIMES + 2] = { 0 };

  gaussian->radius =
      CLAMP (ceil (3.2 * sqrt (2 * s)), 1, ND_ADAPTIVE_MAX_RADIUS);
  discrete_gaussian (s, gaussian->radius, gaussian->space);
  if (has_time)
    discrete_gaussian (TIME_SCALE * TIME_SCALE * s, ND_ADAPTIVE_TIME_RADIUS,
        half);
  for (gint i = -ND_ADAPTIVE_TIME_RADIUS; i <= ND_ADAPTIVE_TIME_RADIUS; i++)
    k[ND_ADAPTIVE_TIME_REACH + 1 + i] = weight * half[ABS (i)];
  for (guint i = 0; i < ND_ADAPTIVE_TIMES; i++) {
    gaussian->time[0][i] = k[i + 1];
    /* Weights of the volumes in the order of time: derivatives are above 0 if
     * samples rise. */
    gaussian->time[1][i] = has_time ? TIME_SCALE * (k[i] - k[i + 2]) / 2 : 0;
    gaussian->time[2][i] = has_time
        ? TIME_SCALE * TIME_SCALE * (k[i] - 2 * k[i + 1] + k[i + 2])
        : 0;
  }
}

/* Derivatives of order 0, 1 and 2 along an axis of space. */
static void
derivatives (const NdAdaptiveGaussian *gaussian, gdouble out[3][LENGTH])
{
  gdouble k[LENGTH + 2] = { 0 };

  for (gint i = -(gint) gaussian->radius; i <= (gint) gaussian->radius; i++)
    k[MIDDLE + 1 + i] = gaussian->space[ABS (i)];
  for (guint i = 0; i < LENGTH; i++) {
    out[0][i] = k[i + 1];
    out[1][i] = (k[i] - k[i + 2]) / 2;
    out[2][i] = k[i] - 2 * k[i + 1] + k[i + 2];
  }
}

static gdouble
product (const gdouble *a, const gdouble *b, guint n)
{
  gdouble sum = 0;

  for (guint i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The variance, for white noise of sigma = 1, of the derivative of B that has
 * order @orders[a] along axis a. */
static gdouble
variance (const NdAdaptiveDesign *design, const NdAdaptiveBand *band,
    const guint *orders)
{
  const guint time =
      design->axes > design->space_axes ? orders[design->axes - 1] : 0;
  gdouble sum = 0;

  for (guint m = 0; m < ND_ADAPTIVE_NODES; m++) {
    for (guint n = 0; n < ND_ADAPTIVE_NODES; n++) {
      gdouble a[3][LENGTH], b[3][LENGTH];
      gdouble term = product (band->nodes[m].time[time],
          band->nodes[n].time[time], ND_ADAPTIVE_TIMES);

      derivatives (&band->nodes[m], a);
      derivatives (&band->nodes[n], b);
      for (guint axis = 0; axis < design->space_axes; axis++)
        term *= product (a[orders[axis]], b[orders[axis]], LENGTH);
      sum += term;
    }
  }
  return sum;
}

/* The trace of the expected T, divided by the axes. */
static gdouble
noise_of (const NdAdaptiveDesign *design, const NdAdaptiveBand *band)
{
  const guint n = design->axes;
  gdouble trace = 0;

  for (guint i = 0; i < n; i++) {
    guint orders[4] = { 0 };

    orders[i] = 1;
    trace += band->gradient * variance (design, band, orders);
    for (guint j = 0; j < n; j++) {
      orders[i] = 1;
      orders[j] = j == i ? 2 : 1;
      trace += variance (design, band, orders);
      orders[j] = j == i ? 1 : 0;
    }
  }
  return trace / n;
}

void
nd_adaptive_design_init (NdAdaptiveDesign *design, guint space_axes,
    gboolean has_time)
{
  static const gdouble places[] = { -.7745966692414834, 0, .7745966692414834 };
  static const gdouble weights[] = { 5 / 9., 8 / 9., 5 / 9. };
  gdouble before = 0;

  *design = (NdAdaptiveDesign){ .axes = space_axes + (has_time ? 1 : 0),
    .space_axes = space_axes };
  for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++) {
    NdAdaptiveBand *band = &design->bands[i];
    const gdouble from = sqrt (before), to = sqrt (ends[i]);
    gdouble sum = 0;

    init_gaussian (&band->low, ends[i], 1, has_time);
    /* The Gauss-Legendre rule for the root of s. */
    for (guint k = 0; k < ND_ADAPTIVE_NODES; k++) {
      const gdouble root = (from + to) / 2 + (to - from) / 2 * places[k];
      const gdouble weight = (to - from) / 2 * weights[k] * 2 * root;

      init_gaussian (&band->nodes[k], root * root, weight, has_time);
      band->sum += weight;
    }
    band->gradient = .5 / (before + ends[i]);
    band->floor = floors[i];
    band->speckle = speckles[i];
    band->m_sigma = m_sigmas[i];
    band->noise = noise_of (design, band);
    band->radius = MIN (2.5 * windows[i] + .5, ND_ADAPTIVE_MAX_RADIUS);
    for (guint k = 0; k <= band->radius; k++) {
      band->window[k] = exp (-.5 * k * k / (windows[i] * windows[i]));
      sum += (k ? 2 : 1) * band->window[k];
    }
    for (guint k = 0; k <= band->radius; k++)
      band->window[k] /= sum;
    before = ends[i];
  }
}

void
nd_adaptive_remap (const NdAdaptiveBand *band, const NdAdaptiveRemap *r,
    guint axes, const gdouble *values, gdouble *factors)
{
  const gdouble m_sigma = band->m_sigma * r->m_sigma;
  gdouble before = MAX (values[0] - band->floor, ND_ADAPTIVE_MIN_VALUE);

  factors[0] = pow (pow (before, r->m_beta)
          / (pow (before, r->m_beta + r->m_alpha) + pow (m_sigma, r->m_beta)),
      1 / r->m_j);
  for (guint k = 1; k < axes; k++) {
    const gdouble value = MAX (values[k] - band->floor, ND_ADAPTIVE_MIN_VALUE);
    const gdouble x = MIN (value / before, 1);
    const gdouble a = pow (x * (1 - r->mu_alpha), r->mu_beta);
    const gdouble b = pow (r->mu_alpha * (1 - x), r->mu_beta);
    const gdouble keep = pow (value, r->m_beta)
        / (pow (value, r->m_beta)
            + pow (ND_ADAPTIVE_KEEP * r->m_sigma, r->m_beta));

    factors[k] =
        MAX (factors[k - 1] * pow (a / (a + b + 1e-30), 1 / r->mu_j), keep);
    before = value;
  }
}
