/* Separates a filter into the outer product of one factor per axis.
 *
 * If a filter is separable, the line of coefficients along an axis through any
 * coefficient other than 0 is a multiple of the factor of that axis. The line
 * through the largest coefficient has the least rounding error.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/filter.h"

#include <math.h>
#include <string.h>

/* float32 holds integers below this exactly. */
#define INTEGER_LIMIT 16777216.0

/* Rounding to float32 changes a coefficient by at most 2^-24 of its value, and
 * a product of four factors, each a quotient of two, has up to eight such
 * errors. In double precision the error is 2^-53, and a design computed the
 * coefficients themselves from products that were rounded. */
static const gdouble tolerances[ND_PRECISION_END] = {
  [ND_PRECISION_SINGLE] = 0x1p-21, [ND_PRECISION_DOUBLE] = 0x1p-49
};
static const gdouble floors[ND_PRECISION_END] = {
  [ND_PRECISION_SINGLE] = 0x1p-24, [ND_PRECISION_DOUBLE] = 0x1p-53
};

static gsize
find_largest (const NdFilter *filter)
{
  gsize count = nd_filter_count (filter), largest = 0;

  for (gsize i = 1; i < count; i++) {
    if (fabs (filter->coefficients[i]) > fabs (filter->coefficients[largest]))
      largest = i;
  }
  return largest;
}

static gboolean
is_integral (const NdFilter *filter)
{
  gsize count = nd_filter_count (filter);

  for (gsize i = 0; i < count; i++) {
    gdouble w = filter->coefficients[i];

    if (fabs (w) >= INTEGER_LIMIT || w != rint (w))
      return FALSE;
  }
  return TRUE;
}

static gint64
greatest_divisor (const gdouble *values, gsize n)
{
  gint64 divisor = 0;

  for (gsize i = 0; i < n; i++) {
    gint64 value = (gint64) fabs (values[i]);

    while (value != 0) {
      gint64 rest = divisor % value;

      divisor = value;
      value = rest;
    }
  }
  return divisor;
}

/* Compares every product with its coefficient. With @exact, doubles represent
 * the products of integers exactly: the partial products of a product below
 * 2^24 are not larger than it, and a partial product too large to be exact
 * stays large unless it becomes 0. */
static gboolean
check_products (const NdFilter *filter, gdouble *const factors[ND_AXES],
    gdouble largest, gboolean exact, NdPrecision precision)
{
  const gsize *size = filter->size;
  const gdouble *w = filter->coefficients;
  const gdouble tolerance = tolerances[precision];
  gdouble least =
      floors[precision] * fabs (largest) / (gdouble) nd_filter_count (filter);

  for (gsize t = 0; t < size[3]; t++) {
    for (gsize z = 0; z < size[2]; z++) {
      gdouble tz = factors[3][t] * factors[2][z];

      for (gsize y = 0; y < size[1]; y++) {
        gdouble tzy = tz * factors[1][y];

        for (gsize x = 0; x < size[0]; x++, w++) {
          gdouble difference = fabs (tzy * factors[0][x] - *w);

          if (difference > (exact ? 0 : MAX (tolerance * fabs (*w), least)))
            return FALSE;
        }
      }
    }
  }
  return TRUE;
}

gboolean
nd_filter_separate (const NdFilter *filter, gdouble *factors[ND_AXES])
{
  return nd_filter_separate_in (filter, ND_PRECISION_SINGLE, factors);
}

gboolean
nd_filter_separate_in (const NdFilter *filter, NdPrecision precision,
    gdouble *factors[ND_AXES])
{
  gsize peak = find_largest (filter);
  gdouble largest = filter->coefficients[peak];
  gboolean exact = is_integral (filter);
  gdouble scale = largest;
  gsize stride = 1;
  guint first = ND_AXES;

  for (guint a = 0; a < ND_AXES; a++) {
    gsize size = filter->size[a];
    gsize at = peak / stride % size;
    const gdouble *line = filter->coefficients + peak - at * stride;
    gdouble divisor = largest;

    factors[a] = g_try_new (gdouble, size);
    if (!factors[a]) {
      for (guint b = 0; b < a; b++)
        g_free (factors[b]);
      memset (factors, 0, ND_AXES * sizeof (*factors));
      return FALSE;
    }
    for (gsize i = 0; i < size; i++)
      factors[a][i] = line[i * stride];
    if (exact && size > 1)
      divisor = (gdouble) greatest_divisor (factors[a], size);
    if (divisor == 0)
      divisor = 1;
    for (gsize i = 0; i < size; i++)
      factors[a][i] /= divisor;
    if (size == 1)
      factors[a][0] = 1;
    else if (first == ND_AXES)
      first = a;
    if (largest != 0)
      scale /= factors[a][at];
    stride *= size;
  }

  /* The product of integer factors without a common divisor has no common
   * divisor (Gauss's lemma), so that the scale of a filter of rank 1 is an
   * integer. For any other filter the check below fails anyway. */
  if (exact)
    scale = rint (scale);
  if (first == ND_AXES)
    first = 0;
  for (gsize i = 0; i < filter->size[first]; i++)
    factors[first][i] *= scale;

  if (!check_products (filter, factors, largest, exact, precision)) {
    for (guint a = 0; a < ND_AXES; a++)
      g_clear_pointer (&factors[a], g_free);
    return FALSE;
  }
  return TRUE;
}
