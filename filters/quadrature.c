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

#include "filters/band.h"
#include "filters/directions.h"

#include <string.h>

typedef struct
{
  const NdBand *band;
  const gdouble *direction;
} Quadrature;

static gdouble
respond (const gdouble u[ND_AXES], gconstpointer data)
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
design (const gchar *name, const NdBand *band, gdouble directions[][ND_AXES],
    guint n, GError **error)
{
  NdFit fits[ND_MAX_DIRECTIONS] = { { 0 } };
  Quadrature quadratures[ND_MAX_DIRECTIONS];
  NdBank *bank;

  for (guint i = 0; i < n; i++) {
    quadratures[i] = (Quadrature){ band, directions[i] };
    fits[i].ideal = respond;
    fits[i].data = &quadratures[i];
    nd_band_block_constant (&fits[i]);
    nd_band_condition (band, &fits[i], directions[i]);
  }
  bank = nd_band_fit (name, band->size, &band->weights, fits, n, 0, error);
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
  return design ("quadrature", &band, direction, 1, error);
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
  return design ("quadrature-bank", &band, directions, n, error);
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
