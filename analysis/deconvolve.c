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

NdFilter *
nd_deconvolve_psf (const NdBank *psf, GError **error)
{
  g_autoptr (NdFilter) h = NULL;

  if (!check_psf (psf, error))
    return NULL;
  h = nd_filter_copy (psf->filters[0]);
  if (!h) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for a copy of the psf: use a smaller one");
    return NULL;
  }
  return nd_filter_normalize (h, error) ? g_steal_pointer (&h) : NULL;
}
