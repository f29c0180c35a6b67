/* Filters and banks: creation, sum, range, symmetry.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filter.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

static gboolean
filter_count_coefficients (const gsize size[ND_AXES], gsize *count)
{
  *count = 1;
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 0 || !g_size_checked_mul (count, *count, size[a]))
      return FALSE;
  }
  return *count <= ND_FILTER_MAX_COEFFICIENTS;
}

NdFilter *
nd_filter_new (const gchar *name, const gsize size[ND_AXES])
{
  NdFilter *filter;
  gdouble *coefficients;
  gsize count;

  if (!filter_count_coefficients (size, &count))
    return NULL;
  coefficients = g_try_new0 (gdouble, count);
  if (!coefficients)
    return NULL;

  filter = g_new0 (NdFilter, 1);
  filter->name = g_strdup (name);
  memcpy (filter->size, size, sizeof (filter->size));
  filter->coefficients = coefficients;
  filter->fit_error = filter->truncation_error = (NdFitError){ NAN, NAN };
  filter->center_frequency = filter->bandwidth = NAN;
  return filter;
}

NdFilter *
nd_filter_new_product (const gchar *name, const gsize size[ND_AXES],
    gdouble *const factors[ND_AXES])
{
  NdFilter *filter = nd_filter_new (name, size);
  gsize done = 1;

  if (!filter)
    return NULL;

  /* Each axis repeats the coefficients so far, scaled by its factor. The last
   * copy is made first, because the first one overwrites the source. */
  filter->coefficients[0] = 1;
  for (guint a = 0; a < ND_AXES; a++) {
    for (gsize i = size[a]; i-- > 0;) {
      gdouble factor = factors[a] ? factors[a][i] : 1;

      for (gsize j = 0; j < done; j++)
        filter->coefficients[i * done + j] = factor * filter->coefficients[j];
    }
    done *= size[a];
  }
  return filter;
}

NdFilter *
nd_filter_copy (const NdFilter *filter)
{
  const gsize bytes = nd_filter_count (filter) * sizeof (gdouble);
  gdouble *coefficients = g_try_malloc (bytes);
  NdFilter *copy;

  if (!coefficients)
    return NULL;
  copy = g_new0 (NdFilter, 1);
  *copy = *filter;
  copy->name = g_strdup (filter->name);
  copy->coefficients = memcpy (coefficients, filter->coefficients, bytes);
  return copy;
}

void
nd_filter_free (NdFilter *filter)
{
  if (!filter)
    return;
  g_free (filter->name);
  g_free (filter->coefficients);
  g_free (filter);
}

gsize
nd_filter_count (const NdFilter *filter)
{
  return filter->size[0] * filter->size[1] * filter->size[2] * filter->size[3];
}

gdouble
nd_filter_sum (const NdFilter *filter)
{
  gsize count = nd_filter_count (filter);
  long double sum = 0;

  for (gsize i = 0; i < count; i++)
    sum += filter->coefficients[i];
  return (gdouble) sum;
}

gboolean
nd_filter_normalize (NdFilter *filter, GError **error)
{
  gsize count = nd_filter_count (filter);
  gdouble sum = nd_filter_sum (filter);
  long double absolute = 0;

  for (gsize i = 0; i < count; i++)
    absolute += fabs (filter->coefficients[i]);
  if (!(fabsl (sum) > 1e-12L * absolute)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The filter %s cannot be normalized, because its coefficients sum to "
        "zero; set normalize=false, or use a filter with another sum",
        filter->name);
    return FALSE;
  }
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] /= sum;
  return TRUE;
}

void
nd_filter_reach (const NdFilter *filter, gint low[ND_AXES], gint high[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++) {
    gint size = (gint) filter->size[a];

    high[a] = size / 2 + filter->origin[a];
    low[a] = high[a] - (size - 1);
  }
}

NdSymmetry
nd_filter_symmetry (const NdFilter *filter)
{
  gsize count = nd_filter_count (filter);
  gboolean even = TRUE, odd = TRUE;

  /* An array that is mirrored in all axes at once is its memory read
   * backwards. */
  for (gsize i = 0; i < (count + 1) / 2 && (even || odd); i++) {
    gdouble a = filter->coefficients[i];
    gdouble b = filter->coefficients[count - 1 - i];

    even = even && a == b;
    odd = odd && a == -b;
  }
  return even ? ND_SYMMETRY_EVEN : odd ? ND_SYMMETRY_ODD : ND_SYMMETRY_NONE;
}

NdBank *
nd_bank_new (GPtrArray *filters)
{
  NdBank *bank;
  gsize n;

  g_return_val_if_fail (filters->len > 0, NULL);

  bank = g_new0 (NdBank, 1);
  bank->filters = (NdFilter **) g_ptr_array_steal (filters, &n);
  bank->n_filters = (guint) n;
  return bank;
}

guint
nd_bank_responses (const NdBank *bank)
{
  return bank->is_complex ? bank->n_filters / 2 : bank->n_filters;
}

void
nd_bank_get_filter (const NdBank *bank, guint response, const NdFilter **real,
    const NdFilter **imaginary)
{
  *real = bank->filters[bank->is_complex ? 2 * response : response];
  *imaginary = bank->is_complex ? bank->filters[2 * response + 1] : NULL;
  if (*imaginary && nd_filter_count (*imaginary) == 1
      && (*imaginary)->coefficients[0] == 0)
    *imaginary = NULL;
}

NdBank *
nd_bank_copy (const NdBank *bank)
{
  g_autoptr (NdBank) copy = g_new0 (NdBank, 1);

  copy->n_filters = bank->n_filters;
  copy->is_complex = bank->is_complex;
  copy->filters = g_new0 (NdFilter *, bank->n_filters);
  for (guint i = 0; i < bank->n_filters; i++) {
    copy->filters[i] = nd_filter_copy (bank->filters[i]);
    if (!copy->filters[i])
      return NULL;
  }
  return g_steal_pointer (&copy);
}

void
nd_bank_free (NdBank *bank)
{
  if (!bank)
    return;
  for (guint i = 0; i < bank->n_filters; i++)
    nd_filter_free (bank->filters[i]);
  g_free (bank->filters);
  g_free (bank);
}

void
nd_bank_reach (const NdBank *bank, gint low[ND_AXES], gint high[ND_AXES])
{
  nd_filter_reach (bank->filters[0], low, high);
  for (guint i = 1; i < bank->n_filters; i++) {
    gint filter_low[ND_AXES], filter_high[ND_AXES];

    nd_filter_reach (bank->filters[i], filter_low, filter_high);
    for (guint a = 0; a < ND_AXES; a++) {
      low[a] = MIN (low[a], filter_low[a]);
      high[a] = MAX (high[a], filter_high[a]);
    }
  }
}
