/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "phantom/beams.h"

#include "phantom/phantom.h"

#include <math.h>

#define DEPTH 120
#define ANGLE 72
#define BACKGROUND 100
#define RANGE 60 /* dB from grey 0 to 255 */

const NdBeamTarget nd_beam_targets[ND_BEAM_TARGETS] = {
  { { 0, 60, 0 }, 9, -90 },
  { { -15, 40, 0 }, 2.5, 110 },
  { { 15, 40, 0 }, 2.5, 110 },
  { { -22, 85, 4 }, 6, 100 },
  { { 24, 90, -4 }, 8, -80 },
  { { 0, 100, 0 }, 3, 120 },
  { { 0, 25, 0 }, 2.5, 110 },
};

gdouble
nd_beams_grey (const gdouble place[3])
{
  gdouble grey = BACKGROUND;

  for (guint i = 0; i < ND_BEAM_TARGETS; i++) {
    const NdBeamTarget *target = &nd_beam_targets[i];
    gdouble square = 0;

    for (guint a = 0; a < 3; a++)
      square += (place[a] - target->place[a]) * (place[a] - target->place[a]);
    grey += target->a * exp (-square / (2 * target->s * target->s));
  }
  return grey;
}

void
nd_beams_geometry (const gsize size[3], NdBeams *beams)
{
  beams->kind = size[2] > 1 ? ND_BEAMS_MATRIX : ND_BEAMS_PHASED;
  beams->start_depth = 0;
  beams->depth = DEPTH;
  beams->angle = beams->elevation_angle = ANGLE;
}

void
nd_beams_row (const NdBeamSpace *space, gsize n, gsize y, gsize z, gfloat *row)
{
  for (gsize x = 0; x < n; x++) {
    const gdouble index[3] = { x, y, z };
    gdouble place[3];

    nd_beam_space_position (space, index, place);
    row[x] = nd_beams_grey (place);
  }
}

/* From -1 to 1. */
static gdouble
uniform (guint64 counter)
{
  return (nd_hash (counter) >> 11) * 0x1p-52 - 1;
}

/* Scatterers of three beams, weighted along depth and across. */
#define DEPTH_TAPS 5
static const gdouble along[DEPTH_TAPS] = { 0.25, 0.75, 1, 0.75, 0.25 };
static const gdouble across[3] = { 0.6, 1, 0.6 };

static void
speckle (guint64 key, gsize x, gsize n, gdouble u[2])
{
  gdouble power = 0;

  u[0] = u[1] = 0;
  for (guint j = 0; j < 3; j++) {
    for (guint i = 0; i < DEPTH_TAPS; i++) {
      const guint64 counter = key + (j * (n + DEPTH_TAPS) + x + i) * 2;
      const gdouble weight = along[i] * across[j];

      u[0] += weight * uniform (counter);
      u[1] += weight * uniform (counter + 1);
      power += weight * weight * 2 / 3;
    }
  }
  u[0] /= sqrt (power);
  u[1] /= sqrt (power);
}

void
nd_beams_iq (gsize n, gsize y, gsize z, gsize height, gdouble noise,
    guint64 key, gfloat *row)
{
  const gdouble k = MIN (noise, 1);

  key += (z * (height + 2) + y) * (n + DEPTH_TAPS) * 2;
  /* From the end, because pairs are longer than greys. */
  for (gsize x = n; x-- > 0;) {
    const gdouble amplitude = pow (10, RANGE / 20. * (row[x] / 255 - 1));
    gdouble u[2] = { 0, 0 };

    if (k > 0)
      speckle (key, x, n, u);
    row[2 * x] = amplitude * (1 - k + k * u[0]);
    row[2 * x + 1] = amplitude * k * u[1];
  }
}
