/* Deconvolution in double precision, sample by sample (analysis/deconvolve.h
 * has the formulas).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/deconvolve.h"

#include <math.h>

typedef struct
{
  const gsize *size;
  gsize n;
  NdDeconvolveBorder index;
  gint border;
} Space;

/* out[i] = sum_m h[m] in[i + k/2 + origin - m], or with @adjoint its transpose
 * without a border, so that sample i reads i - k/2 - origin + m. */
static void
deconvolve_convolve (const Space *space, const NdFilter *h, gboolean adjoint,
    gdouble border_value, const gdouble *in, gdouble *out)
{
  const gsize *size = space->size, *k = h->size;

  for (gsize i = 0; i < space->n; i++) {
    const gsize at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };

    out[i] = 0;
    for (gsize m = 0; m < nd_filter_count (h); m++) {
      const gsize tap[3] = { m % k[0], m / k[0] % k[1], m / k[0] / k[1] };
      gsize from = 0, stride = 1;
      gboolean outside = FALSE;

      for (guint a = 0; a < 3; a++) {
        const gint64 shift =
            (gint64) (k[a] / 2) + h->origin[a] - (gint64) tap[a];
        const gint64 j = space->index (space->border,
            (gint64) at[a] + (adjoint ? -shift : shift), size[a]);

        outside |= j < 0;
        from += stride * MAX (j, 0);
        stride *= size[a];
      }
      out[i] += h->coefficients[m] * (outside ? border_value : in[from]);
    }
  }
}

/* Component @axis of grad e / |grad e| at sample @i. */
static gdouble
direction (const Space *space, const gdouble *e, gdouble edge, guint axis,
    gsize i)
{
  const gsize *size = space->size;
  gdouble gradient[3], squares = edge * edge;
  gsize stride = 1;

  for (guint a = 0; a < 3; a++) {
    gradient[a] = i / stride % size[a] + 1 < size[a] ? e[i + stride] - e[i] : 0;
    squares += gradient[a] * gradient[a];
    stride *= size[a];
  }
  return gradient[axis] / sqrt (squares);
}

static gdouble
divergence (const Space *space, const gdouble *e, gdouble edge, gsize i)
{
  gdouble sum = 0;
  gsize stride = 1;

  for (guint a = 0; a < 3; a++) {
    sum += direction (space, e, edge, a, i);
    if (i / stride % space->size[a] > 0)
      sum -= direction (space, e, edge, a, i - stride);
    stride *= space->size[a];
  }
  return sum;
}

void
nd_deconvolve_reference (const NdDeconvolveSettings *settings,
    const NdFilter *h, NdDeconvolveBorder index, gint border,
    gdouble border_value, const gsize size[3], const gdouble *d, gdouble *e,
    NdDeconvolution *out)
{
  const Space space = { size, size[0] * size[1] * size[2], index, border };
  g_autofree gdouble *c = g_new (gdouble, space.n);
  g_autofree gdouble *u = g_new (gdouble, space.n);
  gdouble sum = 0, squares = 0, mean, before = 0;
  gsize valid = 0;

  for (gsize i = 0; i < space.n; i++) {
    if (!isfinite (d[i]))
      continue;
    sum += MAX (d[i], 0);
    squares += MAX (d[i], 0) * MAX (d[i], 0);
    valid++;
  }
  mean = valid > 0 ? sum / valid : 0;
  for (gsize i = 0; i < space.n; i++)
    e[i] = mean;
  *out = (NdDeconvolution){ 0, 0 };
  for (guint k = 0; k < settings->iterations && mean > 0; k++) {
    gdouble left = 0;

    deconvolve_convolve (&space, h, FALSE, border_value, e, c);
    for (gsize i = 0; i < space.n; i++) {
      const gdouble value = MAX (d[i], 0);

      if (isfinite (d[i]))
        left += (value - c[i]) * (value - c[i]);
      c[i] = isfinite (d[i]) && c[i] > ND_DECONVOLVE_FLOOR * mean ? value / c[i]
                                                                  : 1;
    }
    out->residue = sqrt (left / squares);
    if (nd_deconvolve_is_done (settings, k, before, out->residue))
      break;
    before = out->residue;
    deconvolve_convolve (&space, h, TRUE, border_value > 0, c, u);
    for (gsize i = 0; i < space.n; i++)
      u[i] /= 1
          - settings->tv * divergence (&space, e, ND_DECONVOLVE_EDGE * mean, i);
    for (gsize i = 0; i < space.n; i++)
      e[i] *= u[i];
    out->iterations++;
  }
}
