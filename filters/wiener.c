/* Design wiener: the Wiener inverse of a Gaussian blur of sigma samples per
 * axis,
 *
 *   H(u) = (1 + 1 / snr^2) G(u) / (G(u)^2 + 1 / snr^2),
 *   G(u) = prod_a exp (-sigma_a^2 u_a^2 / 2)
 *
 * (Gonzalez and Woods, Digital Image Processing, 4th ed., eq. 5-85), scaled to
 * keep constant input, and fitted to size, by default 2 ceil (5 sigma) + 1. snr
 * is the ratio of signal to noise in the recording; a low value sharpens
 * less.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "filters/band.h"

#include <math.h>

#define MAX_SIGMA 8.0
#define DEFAULT_SNR 30

typedef struct
{
  gdouble sigma[ND_AXES];
  gdouble noise; /* 1 / snr^2 */
} Wiener;

static gdouble
respond (const gdouble u[ND_AXES], gconstpointer data)
{
  const Wiener *w = data;
  gdouble exponent = 0, g;

  for (guint a = 0; a < ND_AXES; a++)
    exponent += w->sigma[a] * w->sigma[a] * u[a] * u[a] / 2;
  g = exp (-exponent);
  return (1 + w->noise) * g / (g * g + w->noise);
}

static gboolean
read_parameters (const NdParameters *parameters, const NdAxes *axes,
    Wiener *wiener, gsize size[ND_AXES], GError **error)
{
  gboolean has_size = nd_parameters_has (parameters, "size"), any = FALSE;

  if (!nd_parameters_get_axes (parameters, "sigma", axes, 0, wiener->sigma,
          error)
      || (has_size
          && !nd_parameters_get_size (parameters, axes, 0, size, error)))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    gdouble sigma = wiener->sigma[a];

    if (sigma < 0 || sigma > MAX_SIGMA) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "sigma is %g along %c; it must be from 0 to %g samples", sigma,
          nd_axis_letter (a), MAX_SIGMA);
      return FALSE;
    }
    if (!has_size)
      size[a] = 2 * (gsize) ceil (5 * sigma) + 1;
    any = any || size[a] > 1;
  }
  if (!any)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        has_size
            ? "size is 1 along every axis; it must be 3 or more along one axis"
            : "sigma is 0 along every axis; give it along one axis at least");
  return any;
}

NdFilter *
nd_design_wiener (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  NdFit fit = { .ideal = respond };
  g_autoptr (NdBank) bank = NULL;
  NdFitWeights weights;
  gsize size[ND_AXES];
  Wiener wiener;

  if (!read_parameters (parameters, axes, &wiener, size, error)
      || !nd_parameters_get_weights (parameters, DEFAULT_SNR, &weights, error))
    return NULL;
  wiener.noise = 1 / (weights.snr * weights.snr);
  fit.data = &wiener;
  fit.n_conditions = 1;
  fit.conditions[0].even = 1;
  fit.conditions[0].value = 1;
  bank = nd_band_fit ("wiener", size, &weights, &fit, 1, 1, error);
  return bank ? nd_filter_copy (bank->filters[0]) : NULL;
}
