/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/axes.h"
#include "filters/describe.h"
#include "filters/filterrecording.h"
#include "filters/text.h"
#include "lib/private.h"

#include <math.h>
#include <string.h>

static gboolean
read_axes (const NdSettings *settings, NdAxes *axes, GError **error)
{
  return nd_axes_from_text (settings->axes, axes, error)
      && nd_axes_set_steps (axes, settings->spacing, settings->rate, error);
}

static NdFilters *
new_filters (NdBank *bank, const NdAxes *axes, gchar *warning)
{
  NdFilters *filters = g_new (NdFilters, 1);

  *filters = (NdFilters){ bank, *axes, warning, NULL };
  return filters;
}

NdFilters *
nd_filters_new (const gchar *text, const NdSettings *settings,
    const gint *cancelled, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  NdBank *bank;
  NdAxes axes;

  if (!read_axes (s, &axes, error))
    return NULL;
  nd_filter_use_recordings ();
  bank = nd_bank_from_text (text, &axes, s->conv.origin, s->conv.causal,
      s->conv.normalize, cancelled, error);
  return bank ? new_filters (bank, &axes, nd_bank_find_warning (text, &axes))
              : NULL;
}

static NdFilter *
new_filter (const gsize size[ND_AXES], const gdouble *coefficients,
    GError **error)
{
  g_autoptr (NdFilter) filter = nd_filter_new ("coefficients", size);
  const gsize n = filter ? nd_filter_count (filter) : 0;

  if (!filter) {
    const gboolean empty = !(size[0] && size[1] && size[2] && size[3]);

    g_set_error (error, ND_ERROR, empty ? ND_ERROR_SETTINGS : ND_ERROR_MEMORY,
        "A filter of %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT " coefficients cannot be made: sizes must be 1 or "
        "more, their product at most %" G_GSIZE_FORMAT,
        size[0], size[1], size[2], size[3], ND_FILTER_MAX_COEFFICIENTS);
    return NULL;
  }
  for (gsize i = 0; i < n; i++) {
    if (!isfinite (coefficients[i])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "Coefficient %" G_GSIZE_FORMAT " of a filter is %g; coefficients "
          "must be finite numbers",
          i, coefficients[i]);
      return NULL;
    }
  }
  memcpy (filter->coefficients, coefficients, n * sizeof (*coefficients));
  return g_steal_pointer (&filter);
}

NdFilters *
nd_filters_new_from_arrays (guint n, const gsize size[4], const gdouble *real,
    const gdouble *imaginary, const NdSettings *settings, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  g_autoptr (NdBank) bank = NULL;
  gsize at = 0;
  NdAxes axes;

  if (!read_axes (s, &axes, error))
    return NULL;
  if (n == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "There is no filter in the array; give one or more");
    return NULL;
  }
  for (guint i = 0; i < n; i++) {
    const gdouble *parts[] = { real + at, imaginary ? imaginary + at : NULL };

    for (guint p = 0; p < 2 && parts[p]; p++) {
      NdFilter *filter = new_filter (size, parts[p], error);

      if (!filter)
        return NULL;
      at += p == 0 ? nd_filter_count (filter) : 0;
      g_ptr_array_add (filters, filter);
    }
  }
  g_ptr_array_set_free_func (filters, NULL);
  bank = nd_bank_new (filters);
  bank->is_complex = imaginary != NULL;
  if (!nd_bank_adjust (bank, &axes, s->conv.origin, s->conv.causal,
          s->conv.normalize, error))
    return NULL;
  return new_filters (g_steal_pointer (&bank), &axes, NULL);
}

void
nd_filters_free (NdFilters *filters)
{
  nd_bank_free (filters->bank);
  g_free (filters->warning);
  nd_kept_free (filters->kept);
  g_free (filters);
}

guint
nd_filters_get_count (const NdFilters *filters)
{
  return nd_bank_responses (filters->bank);
}

gboolean
nd_filters_are_complex (const NdFilters *filters)
{
  return filters->bank->is_complex;
}

void
nd_filters_get (const NdFilters *filters, guint i, gsize size[4],
    gint origin[4], const gdouble **real, const gdouble **imaginary)
{
  const NdFilter *re, *im;

  g_return_if_fail (i < nd_filters_get_count (filters));
  nd_bank_get_filter (filters->bank, i, &re, &im);
  for (guint a = 0; a < ND_AXES; a++) {
    if (size)
      size[a] = re->size[a];
    if (origin)
      origin[a] = re->origin[a];
  }
  if (real)
    *real = re->coefficients;
  /* In a complex bank, a real filter has a single zero as imaginary part. */
  if (imaginary)
    *imaginary = im && nd_filter_count (im) == nd_filter_count (re)
        ? im->coefficients
        : NULL;
}

void
nd_filters_get_reach (const NdFilters *filters, gint low[4], gint high[4])
{
  nd_bank_reach (filters->bank, low, high);
}

const gchar *
nd_filters_get_warning (const NdFilters *filters)
{
  return filters->warning;
}

gchar *
nd_filters_describe (const NdFilters *filters)
{
  return nd_bank_describe (filters->bank, &filters->axes);
}

const gchar *const *
nd_list_designs (void)
{
  return nd_design_names ();
}
