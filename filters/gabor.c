/* Design gabor: center-frequency c (default pi / 3), bandwidth B (default 2),
 * direction n, and size, by default 2 ceil (3 s) + 1 along every axis.
 *
 *   g(x) = G(x) (exp (i c n.x) - k),   G(x) = exp (-|x|^2 / 2 s^2) / sum
 *
 * With s = sqrt (2 ln 2) (2^B + 1) / ((2^B - 1) c), the response is half of its
 * maximum at two frequencies that are B octaves apart (Daugman, JOSA A 2 (7),
 * 1985). k makes the response to constant input 0.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"
#include "filters/directions.h"

#include <math.h>

/* The least response at the centre frequency; usually it is about 1. */
#define LEAST_RESPONSE 1e-3

typedef struct
{
  gdouble center;
  gdouble bandwidth;
  gdouble sigma;
  gdouble direction[ND_AXES];
  gsize size[ND_AXES];
} Gabor;

static gboolean
read_parameters (const NdParameters *parameters, const NdAxes *axes,
    Gabor *gabor, GError **error)
{
  NdAxis first = axes->axis[0];

  if (!nd_parameters_get_frequencies (parameters, G_PI / 3, &gabor->center,
          &gabor->bandwidth, error))
    return FALSE;
  gabor->sigma = sqrt (2 * G_LN2) * (exp2 (gabor->bandwidth) + 1)
      / ((exp2 (gabor->bandwidth) - 1) * gabor->center);
  if (!nd_parameters_get_size (parameters, axes,
          2 * (gsize) MIN (ceil (3 * gabor->sigma), 1e6) + 1, gabor->size,
          error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (gabor->size[a] > 1) {
      first = a;
      break;
    }
  }
  return nd_parameters_get_direction (parameters, axes, gabor->size, first,
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
  real = nd_design_new_filter ("gabor", gabor.size, error);
  imaginary = real ? nd_design_new_filter ("gabor", gabor.size, error) : NULL;
  if (!imaginary)
    return NULL;
  count = nd_filter_count (real);

  for (guint pass = 0; pass < 2; pass++) {
    for (gsize i = 0; i < count; i++) {
      gdouble squared = 0, phase = 0, envelope;
      gsize at = i;

      for (guint a = 0; a < ND_AXES; a++) {
        gdouble x =
            (gdouble) (at % gabor.size[a]) - (gdouble) (gabor.size[a] - 1) / 2;

        squared += x * x;
        phase += gabor.center * gabor.direction[a] * x;
        at /= gabor.size[a];
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
        response, gabor.center, gabor.size[0], gabor.size[1], gabor.size[2],
        gabor.size[3]);
    return NULL;
  }
  bank = nd_bank_new_complex (g_steal_pointer (&real),
      g_steal_pointer (&imaginary));
  nd_band_note (bank, gabor.center, gabor.bandwidth);
  return bank;
}
