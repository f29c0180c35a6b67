/* Adaptive filtering by its definition, in double precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "analysis/structure.h"

#include <math.h>
#include <string.h>

#define AXES ND_TENSOR_MAX_AXES
#define COMPONENTS ND_TENSOR_MAX_COMPONENTS

typedef struct
{
  const NdAdaptiveDesign *design;
  const NdReferenceBorders *borders;
  const gsize *size;
  gsize samples;
  gint64 position, known; /* of the output */
  const gdouble *in;
} Reference;

/* Correlates axis @axis with @k of -@radius to @radius. The border value is
 * @constant; if it is NAN, the nearest sample takes its place. */
static void
adaptive_reference_correlate (const Reference *r, guint axis, const gdouble *k,
    gint radius, gdouble constant, const gdouble *in, gdouble *out)
{
  const gint64 n = r->size[axis];
  gint64 step = 1;

  for (guint a = 0; a < axis; a++)
    step *= r->size[a];
  for (gsize i = 0; i < r->samples; i++) {
    const gint64 at = (gint64) i / step % n;

    out[i] = 0;
    for (gint u = -radius; u <= radius; u++) {
      gint64 from = r->borders->space (at + u, n, r->borders->space_data);

      if (from < 0 && isnan (constant))
        from = CLAMP (at + u, 0, n - 1);
      out[i] += k[u + radius]
          * (from < 0 ? constant : in[(gint64) i + (from - at) * step]);
    }
  }
}

/* Along all axes of space, with the coefficients of distances 0 to @radius. */
static void
adaptive_reference_smooth (const Reference *r, const gdouble *half, gint radius,
    gdouble constant, gdouble *volume)
{
  g_autofree gdouble *copy = g_new (gdouble, r->samples);
  gdouble k[2 * ND_ADAPTIVE_MAX_RADIUS + 1];

  for (gint u = -radius; u <= radius; u++)
    k[u + radius] = half[ABS (u)];
  for (guint a = 0; a < r->design->space_axes; a++) {
    memcpy (copy, volume, r->samples * sizeof (gdouble));
    adaptive_reference_correlate (r, a, k, radius, constant, copy, volume);
  }
}

/* Adds the input, filtered with @gaussian and the derivative of @order along
 * time, to @out. */
static void
add_gaussian (const Reference *r, const NdAdaptiveGaussian *gaussian,
    guint order, gdouble *out)
{
  const NdReferenceBorders *b = r->borders;
  g_autofree gdouble *volume = g_new (gdouble, r->samples);

  for (gint u = -ND_ADAPTIVE_TIME_REACH; u <= ND_ADAPTIVE_TIME_REACH; u++) {
    const gint64 from = b->time (r->position + u, r->known, b->time_data);
    const gdouble w = gaussian->time[order][u + ND_ADAPTIVE_TIME_REACH];

    for (gsize i = 0; i < r->samples; i++)
      volume[i] = from < 0 ? b->border_value : r->in[from * r->samples + i];
    adaptive_reference_smooth (r, gaussian->space, gaussian->radius,
        b->border_value, volume);
    for (gsize i = 0; w != 0 && i < r->samples; i++)
      out[i] += w * volume[i];
  }
}

/* The derivatives of B: the gradient b, and H. */
static void
differentiate (const Reference *r, const NdAdaptiveBand *band, gdouble *b[AXES],
    gdouble *h[COMPONENTS])
{
  static const gdouble first[] = { -.5, 0, .5 }, second[] = { 1, -2, 1 };
  const guint n = r->design->axes, space = r->design->space_axes;
  const gdouble edge = band->sum * r->borders->border_value;
  gdouble *base[3];

  for (guint order = 0; order < 3; order++) {
    base[order] = g_new0 (gdouble, r->samples);
    for (guint m = 0; m < ND_ADAPTIVE_NODES; m++)
      add_gaussian (r, &band->nodes[m], order, base[order]);
  }
  for (guint i = 0; i < n; i++) {
    if (i < space)
      adaptive_reference_correlate (r, i, first, 1, edge, base[0], b[i]);
    else
      memcpy (b[i], base[1], r->samples * sizeof (gdouble));
    for (guint j = i; j < n; j++) {
      gdouble *to = h[nd_tensor_index (n, i, j)];

      if (i >= space)
        memcpy (to, base[2], r->samples * sizeof (gdouble));
      else if (j >= space)
        adaptive_reference_correlate (r, i, first, 1, 0, base[1], to);
      else if (i == j)
        adaptive_reference_correlate (r, i, second, 1, edge, base[0], to);
      else
        adaptive_reference_correlate (r, j, first, 1, 0, b[i], to);
    }
  }
  for (guint i = 0; i < nd_tensor_components (n); i++) {
    for (gsize k = 0; k < r->samples; k++)
      h[i][k] = -h[i][k];
  }
  for (guint order = 0; order < 3; order++)
    g_free (base[order]);
}

/* Writes T = H H^T + gradient b b^T, averaged over the window. */
static void
make_tensor (const Reference *r, const NdAdaptiveBand *band,
    gdouble *const b[AXES], gdouble *const h[COMPONENTS],
    gdouble *tensor[COMPONENTS])
{
  const guint n = r->design->axes;

  for (guint i = 0; i < n; i++) {
    for (guint j = i; j < n; j++) {
      gdouble *to = tensor[nd_tensor_index (n, i, j)];

      for (gsize s = 0; s < r->samples; s++) {
        to[s] = band->gradient * b[i][s] * b[j][s];
        for (guint k = 0; k < n; k++)
          to[s] +=
              h[nd_tensor_index (n, i, k)][s] * h[nd_tensor_index (n, j, k)][s];
      }
      adaptive_reference_smooth (r, band->window, band->radius, NAN, to);
    }
  }
}

static gint
adaptive_reference_compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* The mean eigenvalue of speckle. */
static gdouble
measure_speckle (const Reference *r, const NdAdaptiveBand *band,
    gdouble *const tensor[COMPONENTS])
{
  const guint n = r->design->axes;
  const gdouble *volume = r->in + r->position * r->samples;
  g_autofree gdouble *sorted = g_new (gdouble, r->samples);
  gdouble least = INFINITY;
  gsize count = 0;

  for (gsize s = 0; s < r->samples; s++)
    least = isfinite (volume[s]) ? fmin (least, volume[s]) : least;
  for (gsize s = 0; s < r->samples; s++) {
    gdouble trace = 0;

    for (guint i = 0; i < n; i++)
      trace += tensor[nd_tensor_index (n, i, i)][s];
    if (volume[s] > least && isfinite (trace))
      sorted[count++] = trace / n;
  }
  qsort (sorted, count, sizeof (gdouble), adaptive_reference_compare);
  return count ? band->speckle * sorted[(gsize) (ND_SPECKLE_QUANTILE * count)]
               : 0;
}

/* The inner product of the control tensor and @h at sample @s. @noise is the
 * mean eigenvalue of noise. */
static gdouble
controlled (const Reference *r, const NdAdaptiveBand *band,
    const NdAdaptiveRemap *remap, gdouble noise,
    gdouble *const tensor[COMPONENTS], gdouble *const h[COMPONENTS], gsize s)
{
  const guint n = r->design->axes;
  gdouble t[COMPONENTS], values[AXES], e[AXES][AXES], factors[AXES], sum = 0;

  for (guint i = 0; i < nd_tensor_components (n); i++)
    t[i] = tensor[i][s] / noise;
  if (!nd_tensor_eigen (n, t, values, e))
    return NAN;
  nd_adaptive_remap (band, remap, n, values, factors);
  for (guint k = 0; k < n; k++) {
    for (guint i = 0; i < n; i++) {
      for (guint j = 0; j < n; j++)
        sum += factors[k] * e[k][i] * e[k][j] * h[nd_tensor_index (n, i, j)][s];
    }
  }
  return sum;
}

/* Adds a band to @out. @above is the low-pass filter above it; it is replaced
 * by the one below. */
static void
add_band (const Reference *r, const NdAdaptiveBand *band,
    const NdAdaptiveRemap *remap, gboolean is_speckle, gdouble sigma,
    gdouble *above, gdouble *out)
{
  const guint n = r->design->axes, components = nd_tensor_components (n);
  g_autofree gdouble *low = g_new0 (gdouble, r->samples);
  gdouble *b[AXES], *h[COMPONENTS], *tensor[COMPONENTS], noise;

  for (guint i = 0; i < n; i++)
    b[i] = g_new (gdouble, r->samples);
  for (guint i = 0; i < components; i++) {
    h[i] = g_new (gdouble, r->samples);
    tensor[i] = g_new (gdouble, r->samples);
  }
  add_gaussian (r, &band->low, 0, low);
  differentiate (r, band, b, h);
  make_tensor (r, band, b, h, tensor);
  noise = sigma * sigma
      * (is_speckle ? measure_speckle (r, band, tensor) : band->noise);
  noise = MAX (noise, ND_ADAPTIVE_MIN_NOISE);
  for (gsize s = 0; s < r->samples; s++) {
    gdouble rest = above[s] - low[s];

    for (guint i = 0; i < n; i++)
      rest -= h[nd_tensor_index (n, i, i)][s];
    for (guint i = 0; i < n; i++)
      h[nd_tensor_index (n, i, i)][s] += rest / n;
    out[s] +=
        low[s] - above[s] + controlled (r, band, remap, noise, tensor, h, s);
    above[s] = low[s];
  }
  for (guint i = 0; i < n; i++)
    g_free (b[i]);
  for (guint i = 0; i < components; i++) {
    g_free (h[i]);
    g_free (tensor[i]);
  }
}

void
nd_adaptive_reference (const NdAdaptiveDesign *design,
    const NdAdaptiveRemap *remap, gboolean is_speckle, guint latency,
    const NdReferenceBorders *borders, const gsize size[3], gsize n_volumes,
    const gdouble *in, const gdouble *sigma, gdouble *out)
{
  const gsize samples = size[0] * size[1] * size[2];
  g_autofree gdouble *above = g_new (gdouble, samples);

  for (gsize t = 0; t < n_volumes; t++) {
    const Reference r = {
      .design = design,
      .borders = borders,
      .size = size,
      .samples = samples,
      .position = t,
      .known = MIN (t + latency + 1, n_volumes),
      .in = in,
    };

    memcpy (above, in + t * samples, samples * sizeof (gdouble));
    memcpy (out + t * samples, above, samples * sizeof (gdouble));
    for (guint i = 0; i < ND_ADAPTIVE_BANDS; i++)
      add_band (&r, &design->bands[i], remap, is_speckle, sigma[r.known - 1],
          above, out + t * samples);
  }
}

void
nd_speckle_reference (guint latency, const NdReferenceBorders *borders,
    const gsize size[3], gsize n_volumes, const gdouble *in, gdouble *out)
{
  const NdReferenceBorders *b = borders;
  const gsize samples = size[0] * size[1] * size[2];
  const guint count = size[2] == 1 ? 27 : 81, middle = count / 2;

  for (gsize i = 0; i < samples * n_volumes; i++) {
    const gint64 known = MIN (i / samples + latency + 1, n_volumes);
    const gint64 at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] % size[2] };
    gdouble near[81], before, after, change;

    for (guint k = 0; k < count; k++) {
      const gint64 x = b->space (at[0] + k % 3 - 1, size[0], b->space_data);
      const gint64 y = b->space (at[1] + k / 3 % 3 - 1, size[1], b->space_data);
      const gint64 t =
          b->time ((gint64) (i / samples) + k / 9 % 3 - 1, known, b->time_data);
      const gint64 z = count == 27
          ? 0
          : b->space (at[2] + k / 27 - 1, size[2], b->space_data);

      near[k] = MIN (MIN (x, y), MIN (z, t)) < 0
          ? b->border_value
          : in[((t * size[2] + z) * size[1] + y) * size[0] + x];
    }
    /* The same sample in the volumes before and after, if these are not one
     * volume. */
    before = near[middle - 9] - in[i];
    after = near[middle + 9] - in[i];
    change = fabs (before) < fabs (after) ? before : after;
    if (!(before * after > 0)
        || b->time ((gint64) (i / samples) - 1, known, b->time_data)
            == b->time ((gint64) (i / samples) + 1, known, b->time_data))
      change = 0;
    qsort (near, count, sizeof (gdouble), adaptive_reference_compare);
    out[i] = (in[i] + ND_SPECKLE_TIME * change + near[middle]) / 2;
  }
}
