/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndanalysis.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double _Complex Number;

/* Of squares of singular values. */
#define RANK_TOLERANCE 1e-12

/* Frequencies along each axis that the search for the gain begins with. */
#define COARSE 24
#define REFINEMENTS 12

/* Sums up @from over its first axis, of @size, with weights exp (-i u x). */
static void
sum_axis (const Number * from, Number * to, gsize size, gsize n, gdouble u)
{
  g_autofree Number *weights = g_new (Number, size);

  for (gsize i = 0; i < size; i++)
    weights[i] = cexp (-I * u * ((gdouble) i - (gdouble) (size - 1) / 2));
  for (gsize j = 0; j < n; j++) {
    Number sum = 0;

    for (gsize i = 0; i < size; i++)
      sum += weights[i] * from[j * size + i];
    to[j] = sum;
  }
}

static Number *
join (const NdFilter * real, const NdFilter * imaginary)
{
  gsize count = nd_filter_count (real);
  Number *f = g_new (Number, count);

  for (gsize i = 0; i < count; i++)
    f[i] = real->coefficients[i]
        + (imaginary ? I * imaginary->coefficients[i] : 0);
  return f;
}

void
nd_filter_response (const NdFilter * real, const NdFilter * imaginary,
    const gdouble u[ND_AXES], gdouble * re, gdouble * im)
{
  g_autofree Number *f = join (real, imaginary);
  gsize n = nd_filter_count (real);

  for (guint a = 0; a < ND_AXES; a++) {
    n /= real->size[a];
    sum_axis (f, f, real->size[a], n, u[a]);
  }
  *re = creal (f[0]);
  *im = cimag (f[0]);
}

static gdouble
magnitude (const NdFilter * real, const NdFilter * imaginary,
    const gdouble u[ND_AXES])
{
  gdouble re, im;

  nd_filter_response (real, imaginary, u, &re, &im);
  return hypot (re, im);
}

/* The largest magnitude over a grid of the axes from @axis down, t first. */
static void
search (const Number * f, const NdFilter * filter, guint axis,
    gdouble u[ND_AXES], gdouble best[ND_AXES], gdouble * gain)
{
  gsize size = filter->size[axis], n = 1;
  g_autofree Number *rest = NULL;

  for (guint a = 0; a < axis; a++)
    n *= filter->size[a];
  rest = g_new (Number, n);
  for (guint i = 0; i < (size == 1 ? 1 : COARSE); i++) {
    u[axis] = size == 1 ? 0 : G_PI * (2.0 * i / COARSE - 1);
    for (gsize j = 0; j < n; j++) {
      rest[j] = 0;
      for (gsize k = 0; k < size; k++)
        rest[j] += f[k * n + j] * cexp (-I * u[axis]
            * ((gdouble) k - (gdouble) (size - 1) / 2));
    }
    if (axis > 0) {
      search (rest, filter, axis - 1, u, best, gain);
    } else if (cabs (rest[0]) > *gain) {
      *gain = cabs (rest[0]);
      memcpy (best, u, ND_AXES * sizeof (gdouble));
    }
  }
}

gdouble
nd_filter_gain (const NdFilter * real, const NdFilter * imaginary,
    gdouble u[ND_AXES])
{
  g_autofree Number *f = join (real, imaginary);
  gdouble at[ND_AXES] = { 0 }, gain = -1, step = 2 * G_PI / COARSE;

  search (f, real, ND_AXES - 1, at, u, &gain);
  for (guint i = 0; i < REFINEMENTS; i++, step /= 2) {
    for (guint a = 0; a < ND_AXES; a++) {
      for (gint sign = -1; sign <= 1 && real->size[a] > 1; sign += 2) {
        gdouble value;

        memcpy (at, u, sizeof (at));
        at[a] = CLAMP (u[a] + sign * step / 2, -G_PI, G_PI);
        value = magnitude (real, imaginary, at);
        if (value <= gain)
          continue;
        gain = value;
        u[a] = at[a];
      }
    }
  }
  return gain;
}

/* Pivots of Cholesky's decomposition of a Hermitian matrix, which is
 * overwritten, that are not just rounding. */
static gsize
count_pivots (Number * g, gsize n)
{
  gdouble largest = 0;

  for (gsize k = 0; k < n; k++) {
    gsize pivot = k;

    for (gsize i = k + 1; i < n; i++) {
      if (creal (g[i * n + i]) > creal (g[pivot * n + pivot]))
        pivot = i;
    }
    if (k == 0)
      largest = creal (g[pivot * n + pivot]);
    if (creal (g[pivot * n + pivot]) <= RANK_TOLERANCE * largest)
      return k;
    for (gsize i = 0; i < n; i++) {
      Number swap = g[k * n + i];

      g[k * n + i] = g[pivot * n + i];
      g[pivot * n + i] = swap;
    }
    for (gsize i = 0; i < n; i++) {
      Number swap = g[i * n + k];

      g[i * n + k] = g[i * n + pivot];
      g[i * n + pivot] = swap;
    }
    for (gsize i = k + 1; i < n; i++) {
      Number factor = g[i * n + k] / g[k * n + k];

      for (gsize j = k + 1; j < n; j++)
        g[i * n + j] -= factor * g[k * n + j];
    }
  }
  return n;
}

void
nd_filter_rank (const NdFilter * real, const NdFilter * imaginary,
    gsize rank[ND_AXES])
{
  g_autofree Number *f = join (real, imaginary);
  gsize count = nd_filter_count (real), stride = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    gsize n = real->size[a];
    g_autofree Number *gram = g_new0 (Number, n * n);

    for (gsize at = 0; at < count; at++) {
      const Number *line = f + at;

      if (at / stride % n != 0)
        continue;
      for (gsize i = 0; i < n; i++)
        for (gsize j = 0; j < n; j++)
          gram[i * n + j] += line[i * stride] * conj (line[j * stride]);
    }
    rank[a] = count_pivots (gram, n);
    stride *= n;
  }
}
