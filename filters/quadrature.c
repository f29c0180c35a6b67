/* Designs quadrature and quadrature-bank: direction, and the parameters of
 * filters/band.h.
 *
 * Q(u) = R(u) (û.n)^2 if û.n > 0, otherwise 0, with û = u / |u| and the
 * direction n (Granlund and Knutsson, Signal Processing for Computer Vision,
 * Kluwer 1995, 6.2.1). The even part is a real filter for lines, the odd part
 * an imaginary filter for edges. The response to a sinusoid of amplitude A at
 * the centre frequency along the direction has magnitude A / 2, whatever its
 * phase.
 *
 * The bank has the directions of nd_directions().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"
#include "filters/directions.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const NdBand *band;
  const gdouble *direction;
} Quadrature;

static gdouble
quadrature_response (const gdouble u[ND_AXES], gconstpointer data)
{
  const Quadrature *q = data;
  gdouble along = 0, squared = 0;

  for (guint a = 0; a < ND_AXES; a++) {
    along += u[a] * q->direction[a];
    squared += u[a] * u[a];
  }
  if (along <= 0)
    return 0;
  return nd_band_radial (q->band, u) * along * along / squared;
}

static NdBank *
quadrature_design (const gchar *name, const NdBand *band,
    gdouble directions[][ND_AXES], guint n, GError **error)
{
  NdFit fits[ND_MAX_DIRECTIONS] = { { 0 } };
  Quadrature quadratures[ND_MAX_DIRECTIONS];
  NdBank *bank;

  for (guint i = 0; i < n; i++) {
    quadratures[i] = (Quadrature){ band, directions[i] };
    fits[i].ideal = quadrature_response;
    fits[i].data = &quadratures[i];
    nd_band_block_constant (&fits[i]);
    nd_band_condition (band, &fits[i], directions[i]);
  }
  bank = nd_band_fit (name, band, fits, n, 0, error);
  nd_band_note (bank, band->center, band->bandwidth);
  for (guint i = 0; bank && i < bank->n_filters; i++) {
    NdTensorRole *role = &bank->filters[i]->role;

    role->kind = ND_TENSOR_QUADRATURE;
    memcpy (role->direction, directions[i / 2], sizeof (role->direction));
  }
  return bank;
}

NdBank *
nd_design_quadrature (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble direction[1][ND_AXES];
  NdBand band;

  if (!nd_parameters_get_band (parameters, axes, &band, error)
      || !nd_parameters_get_direction (parameters, axes, band.size,
          band.axis[0], direction[0], error))
    return NULL;
  return quadrature_design ("quadrature", &band, direction, 1, error);
}

NdBank *
nd_design_quadrature_bank (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble directions[ND_MAX_DIRECTIONS][ND_AXES];
  NdBand band;
  guint n;

  if (!nd_parameters_get_band (parameters, axes, &band, error))
    return NULL;
  n = nd_directions (band.axis, band.n, directions);
  return quadrature_design ("quadrature-bank", &band, directions, n, error);
}

gboolean
nd_info_quadrature_bank (const NdParameters *parameters, const NdAxes *axes,
    NdBankInfo *info, GError **error)
{
  gdouble directions[ND_MAX_DIRECTIONS][ND_AXES];
  NdBand band;

  if (!nd_parameters_get_band (parameters, axes, &band, error))
    return FALSE;
  info->n_responses = nd_directions (band.axis, band.n, directions);
  info->tensor_axes = band.n;
  return TRUE;
}

/* Design gabor: center-frequency c (default pi / 3), bandwidth B (default 2),
 * direction n, and size, by default 2 ceil (3 s) + 1 along every axis.
 *
 *   g(x) = G(x) (exp (i c n.x) - k),   G(x) = exp (-|x|^2 / 2 s^2) / sum
 *
 * With s = sqrt (2 ln 2) (2^B + 1) / ((2^B - 1) c), the response is half of its
 * maximum at two frequencies that are B octaves apart (Daugman, JOSA A 2 (7),
 * 1985). k makes the response to constant input 0. If the filter is physical
 * (NdAxes), x is in samples of the finest axis. */

/* The least response at the centre frequency; usually it is about 1. */
#define LEAST_RESPONSE 1e-3

typedef struct
{
  NdBand band; /* size, center, bandwidth and stretch */
  gdouble sigma;
  gdouble direction[ND_AXES];
} Gabor;

static gboolean
read_parameters (const NdParameters *parameters, const NdAxes *axes,
    Gabor *gabor, GError **error)
{
  const gboolean has_size = nd_parameters_has (parameters, "size");
  NdBand *band = &gabor->band;
  NdAxis first = axes->axis[0];

  *gabor = (Gabor){ 0 };
  if (!nd_parameters_get_frequencies (parameters, axes, G_PI / 3, band, error))
    return FALSE;
  gabor->sigma = sqrt (2 * G_LN2) * (exp2 (band->bandwidth) + 1)
      / ((exp2 (band->bandwidth) - 1) * band->center);
  if (!nd_parameters_get_size (parameters, axes, 3, band->size, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (!has_size && band->size[a] > 1)
      band->size[a] =
          2 * (gsize) MIN (ceil (3 * gabor->sigma * band->stretch[a]), 1e6) + 1;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    if (band->size[a] > 1) {
      first = a;
      break;
    }
  }
  return nd_parameters_get_direction (parameters, axes, band->size, first,
      gabor->direction, error);
}

NdBank *
nd_design_gabor (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdFilter) real = NULL, imaginary = NULL;
  gdouble total = 0, constant = 0, response = 0;
  NdBank *bank;
  Gabor gabor;
  gsize count;

  if (!read_parameters (parameters, axes, &gabor, error))
    return NULL;
  real = nd_design_new_filter ("gabor", gabor.band.size, error);
  imaginary =
      real ? nd_design_new_filter ("gabor", gabor.band.size, error) : NULL;
  if (!imaginary)
    return NULL;
  count = nd_filter_count (real);

  for (guint pass = 0; pass < 2; pass++) {
    for (gsize i = 0; i < count; i++) {
      gdouble squared = 0, phase = 0, envelope;
      gsize at = i;

      for (guint a = 0; a < ND_AXES; a++) {
        gdouble x = (gdouble) (at % gabor.band.size[a])
            - (gdouble) (gabor.band.size[a] - 1) / 2;

        x /= gabor.band.stretch[a];
        squared += x * x;
        phase += gabor.band.center * gabor.direction[a] * x;
        at /= gabor.band.size[a];
      }
      envelope = exp (-squared / (2 * gabor.sigma * gabor.sigma));
      if (pass == 0) {
        total += envelope;
        constant += envelope * cos (phase);
      } else {
        real->coefficients[i] =
            envelope * (cos (phase) - constant / total) / total;
        imaginary->coefficients[i] = envelope * sin (phase) / total;
        response += real->coefficients[i] * cos (phase)
            + imaginary->coefficients[i] * sin (phase);
      }
    }
  }
  if (!(response >= LEAST_RESPONSE)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "the response at the "
        "centre frequency is %.3g; it should be about 1: of so low a "
        "frequency, %g, size %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT " holds too little",
        response, gabor.band.center, gabor.band.size[0], gabor.band.size[1],
        gabor.band.size[2], gabor.band.size[3]);
    return NULL;
  }
  bank = nd_bank_new_complex (g_steal_pointer (&real),
      g_steal_pointer (&imaginary));
  nd_band_note (bank, gabor.band.center, gabor.band.bandwidth);
  return bank;
}

/* Design motion: a quadrature filter in space and time, tuned to velocity
 * (samples per volume along x, y, z), with the parameters of filters/band.h.
 *
 * The spectrum of a pattern that moves with velocity v lies at u_t = -v.u_xyz
 * (Adelson and Bergen, Spatiotemporal energy models for the perception of
 * motion, JOSA A 2 (2), 1985; Granlund and Knutsson 1995, chapter 7). The
 * filter is a quadrature filter along n = (v / |v|, -|v|) / sqrt (1 + |v|^2):
 *
 *   Q(u) = R(u) (û.n)^2k if û.n > 0, otherwise 0
 *
 * k is the least power for which the ideal filter passes at most a tenth of a
 * pattern that moves with -v. Such a pattern comes nearest to n at û.n = |1 -
 * |v|^2| / (1 + |v|^2), and a condition of the fit makes the response 0 there.
 * The further |v| is from 1, the higher the power must be; below 0.19 and above
 * 5.27 it would exceed MAX_POWER, and the velocity is refused. If the filter is
 * physical (NdAxes), velocities are in samples of the finest axis. */

#define OPPOSITE 0.1
#define MAX_POWER 16
#define OPPOSITE_SOFTNESS 0.01

typedef struct
{
  NdBand band;
  gdouble direction[ND_AXES]; /* n */
  gdouble opposite[ND_AXES];  /* of a pattern with velocity -v */
  guint power;
} Motion;

static gdouble
motion_response (const gdouble u[ND_AXES], gconstpointer data)
{
  const Motion *m = data;
  gdouble along = 0, squared = 0, value;

  for (guint a = 0; a < ND_AXES; a++) {
    along += u[a] * m->direction[a];
    squared += u[a] * u[a];
  }
  if (along <= 0)
    return 0;
  value = nd_band_radial (&m->band, u);
  for (guint i = 0; i < m->power; i++)
    value *= along * along / squared;
  return value;
}

static gboolean
read_velocity (const NdParameters *parameters, const NdAxes *axes,
    const NdBand *band, gdouble velocity[ND_AXES], GError **error)
{
  const gsize *size = band->size;
  g_autofree gdouble *numbers = NULL;
  gsize n, given = 0;

  numbers = nd_parameters_get_numbers (parameters, "velocity", &n, error);
  if (!numbers)
    return FALSE;
  if (!nd_axes_have (axes, ND_AXIS_T) || size[ND_AXIS_T] == 1 || axes->n < 2) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "motion needs the time axis; use it in ndconv4dtemporal or in ndconv3d "
        "with axes=xyt, with size 3 or more along t");
    return FALSE;
  }
  for (guint i = 0; i < axes->n && given < n; i++) {
    NdAxis axis = axes->axis[i];

    if (axis == ND_AXIS_T)
      continue;
    velocity[axis] = numbers[given++] / band->stretch[axis];
    if (velocity[axis] != 0 && size[axis] == 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "velocity is %g along %c; it must be 0, because the filter has size "
          "1 there",
          velocity[axis], nd_axis_letter (axis));
      return FALSE;
    }
  }
  if (given < n)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "velocity has %" G_GSIZE_FORMAT " values, but the element filters "
        "along %" G_GSIZE_FORMAT " axes in space; give one for each, in "
        "samples per volume",
        n, given);
  return given == n;
}

static gboolean
set_velocity (Motion *motion, const gdouble velocity[ND_AXES], GError **error)
{
  gdouble speed = hypot (hypot (velocity[0], velocity[1]), velocity[2]);
  gdouble norm = sqrt (1 + speed * speed), between, slowest;
  gdouble farthest = pow (OPPOSITE, 0.5 / MAX_POWER);

  if (!(speed > 0) || !isfinite (speed)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "velocity is %g samples per volume long; it must be above 0; use "
        "quadrature for patterns that do not move",
        speed);
    return FALSE;
  }
  slowest = sqrt ((1 - farthest) / (1 + farthest));
  if (speed < slowest || speed > 1 / slowest) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "velocity is %g samples per volume long; it must be from %.2f to "
        "%.2f: slower or faster motion cannot be distinguished from motion "
        "in the opposite direction",
        speed, ceil (100 * slowest) / 100, floor (100 / slowest) / 100);
    return FALSE;
  }
  for (guint a = 0; a < ND_AXIS_T; a++)
    motion->direction[a] = motion->opposite[a] = velocity[a] / speed / norm;
  motion->direction[ND_AXIS_T] = -speed / norm;
  motion->opposite[ND_AXIS_T] = speed / norm;
  between = fabs (1 - speed * speed) / (1 + speed * speed);
  motion->power = 1;
  while (pow (between, 2 * motion->power) > OPPOSITE)
    motion->power++;
  return TRUE;
}

/* Even and odd part are 0 at the centre frequency along the opposite
 * direction. */
static void
block_opposite (const Motion *motion, NdFit *fit)
{
  for (guint odd = 0; odd < 2; odd++) {
    NdFitCondition *condition = &fit->conditions[fit->n_conditions++];

    for (guint a = 0; a < ND_AXES; a++)
      condition->u[a] = motion->band.center * motion->opposite[a];
    condition->even = !odd;
    condition->odd = odd;
    condition->softness = OPPOSITE_SOFTNESS;
  }
}

NdBank *
nd_design_motion (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gdouble velocity[ND_AXES] = { 0 };
  NdFit fit = { .ideal = motion_response };
  Motion motion = {
    { { 0 } },
  };
  NdBank *bank;

  if (!nd_parameters_get_band (parameters, axes, &motion.band, error)
      || !read_velocity (parameters, axes, &motion.band, velocity, error)
      || !set_velocity (&motion, velocity, error))
    return NULL;
  fit.data = &motion;
  nd_band_block_constant (&fit);
  nd_band_condition (&motion.band, &fit, motion.direction);
  block_opposite (&motion, &fit);
  bank = nd_band_fit ("motion", &motion.band, &fit, 1, 0, error);
  nd_band_note (bank, motion.band.center, motion.band.bandwidth);
  return bank;
}
