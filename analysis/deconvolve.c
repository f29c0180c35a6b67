/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/deconvolve.h"

#include "core/error.h"

static gboolean
check_psf (const NdBank *psf, GError **error)
{
  const NdFilter *filter = psf->filters[0];
  gdouble least = 0;

  for (gsize i = 0; i < nd_filter_count (filter); i++)
    least = MIN (least, filter->coefficients[i]);
  if (psf->is_complex)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf is complex; it must be one real filter");
  else if (psf->n_filters > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf is a bank of %u filters; it must be one filter",
        psf->n_filters);
  else if (filter->size[ND_AXIS_T] > 1)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf has %" G_GSIZE_FORMAT " volumes; it must have one: volumes "
        "are deconvolved by themselves",
        filter->size[ND_AXIS_T]);
  else if (least < 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf has the coefficient %g; all must be 0 or more. From a "
        "measured file, psf,location=FILE subtracts the background",
        least);
  else if (!(nd_filter_sum (filter) > 0))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The psf has zeros only; it must have the sum of a point, above 0");
  else
    return TRUE;
  return FALSE;
}

static void
mirror (NdFilter *filter)
{
  const gsize n = nd_filter_count (filter);

  for (gsize i = 0; i < n / 2; i++) {
    const gdouble value = filter->coefficients[i];

    filter->coefficients[i] = filter->coefficients[n - 1 - i];
    filter->coefficients[n - 1 - i] = value;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    const gint size = (gint) filter->size[a];

    filter->origin[a] = size - 1 - 2 * (size / 2) - filter->origin[a];
  }
}

gboolean
nd_deconvolve_filters (const NdBank *psf, NdFilter **h, NdFilter **mirrored,
    GError **error)
{
  g_autoptr (NdFilter) forward = NULL, backward = NULL;

  if (!check_psf (psf, error))
    return FALSE;
  forward = nd_filter_copy (psf->filters[0]);
  backward = nd_filter_copy (psf->filters[0]);
  if (!forward || !backward) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for two copies of the psf: use a smaller one");
    return FALSE;
  }
  if (!nd_filter_normalize (forward, error)
      || !nd_filter_normalize (backward, error))
    return FALSE;
  mirror (backward);
  *h = g_steal_pointer (&forward);
  *mirrored = g_steal_pointer (&backward);
  return TRUE;
}
