/* Is a filter the outer product of one factor per axis?
 *
 * If it is, the line of coefficients along an axis through any non-zero
 * coefficient is that axis' factor but for a scale. The line through the
 * largest coefficient is the one that rounding has harmed least.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "ndfilter.h"

#include <math.h>

/* Integers below this are exact in float32 too. */
#define INTEGER_LIMIT 16777216.0

/* A coefficient rounded to float32 is off by 2^-24 at most, and a product of
 * four factors (each a quotient of two) meets up to eight such errors. */
#define TOLERANCE (8.0 / (1 << 24))
#define FLOOR (1.0 / (1 << 24))

static gsize
find_largest (const NdFilter * filter)
{
  gsize count = nd_filter_count (filter), largest = 0;

  for (gsize i = 1; i < count; i++) {
    if (fabs (filter->coefficients[i]) > fabs (filter->coefficients[largest]))
      largest = i;
  }
  return largest;
}

static gboolean
is_integral (const NdFilter * filter)
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
greatest_divisor (const gdouble * values, gsize n)
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

/* Compares every product with its coefficient. With @exact, products of
 * integers are compared in double precision without loss: one that equals a
 * coefficient below 2^24 has no larger partial product, and a partial product
 * too large to be exact never becomes small again, unless it becomes 0. */
static gboolean
check_products (const NdFilter * filter, gdouble * const factors[ND_AXES],
    gdouble largest, gboolean exact)
{
  const gsize *size = filter->size;
  const gdouble *w = filter->coefficients;
  gdouble least = FLOOR * fabs (largest) / (gdouble) nd_filter_count (filter);

  for (gsize t = 0; t < size[3]; t++) {
    for (gsize z = 0; z < size[2]; z++) {
      gdouble tz = factors[3][t] * factors[2][z];

      for (gsize y = 0; y < size[1]; y++) {
        gdouble tzy = tz * factors[1][y];

        for (gsize x = 0; x < size[0]; x++, w++) {
          gdouble difference = fabs (tzy * factors[0][x] - *w);

          if (difference > (exact ? 0 : MAX (TOLERANCE * fabs (*w), least)))
            return FALSE;
        }
      }
    }
  }
  return TRUE;
}

gboolean
nd_filter_separate (const NdFilter * filter, gdouble * factors[ND_AXES])
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

    factors[a] = g_new (gdouble, size);
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

  /* Integer factors without common divisor have a product without common
   * divisor (Gauss's lemma), so that the scale of a rank 1 filter is an integer
   * too. For any other filter, rounding it does no harm: the check fails. */
  if (exact)
    scale = rint (scale);
  if (first == ND_AXES)
    first = 0;
  for (gsize i = 0; i < filter->size[first]; i++)
    factors[first][i] *= scale;

  if (!check_products (filter, factors, largest, exact)) {
    for (guint a = 0; a < ND_AXES; a++)
      g_clear_pointer (&factors[a], g_free);
    return FALSE;
  }
  return TRUE;
}
