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
 * 5.27 it would exceed MAX_POWER, and the velocity is refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"

#include <math.h>

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
respond (const gdouble u[ND_AXES], gconstpointer data)
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
    const gsize size[ND_AXES], gdouble velocity[ND_AXES], GError **error)
{
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
    velocity[axis] = numbers[given++];
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
  NdFit fit = { .ideal = respond };
  Motion motion = {
    { { 0 } },
  };
  NdBank *bank;

  if (!nd_parameters_get_band (parameters, axes, &motion.band, error)
      || !read_velocity (parameters, axes, motion.band.size, velocity, error)
      || !set_velocity (&motion, velocity, error))
    return NULL;
  fit.data = &motion;
  nd_band_block_constant (&fit);
  nd_band_condition (&motion.band, &fit, motion.direction);
  block_opposite (&motion, &fit);
  bank = nd_band_fit ("motion", motion.band.size, &motion.band.weights, &fit, 1,
      0, error);
  nd_band_note (bank, motion.band.center, motion.band.bandwidth);
  return bank;
}
