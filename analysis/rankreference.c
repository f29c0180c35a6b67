/* The definition of order statistics and of morphology: sorts all samples of
 * each output.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/rank.h"

#include <math.h>
#include <stdlib.h>

typedef struct
{
  NdRankBorder border, time_border;
  gdouble border_value;
  const gsize *size;
  gsize n_volumes;
} Stream;

static int
compare_samples (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  if (isnan (x) || isnan (y))
    return isnan (x) - isnan (y);
  return (x > y) - (x < y);
}

static gdouble
sample_at (const Stream *stream, const gdouble *in, const gint64 at[ND_AXES])
{
  gint64 index[ND_AXES];

  for (guint a = 0; a < ND_AXES; a++) {
    index[a] = a == ND_AXIS_T ? stream->time_border (at[a], stream->n_volumes)
                              : stream->border (at[a], stream->size[a]);
    if (index[a] < 0)
      return stream->border_value;
  }
  return in[((index[3] * stream->size[2] + index[2]) * stream->size[1]
                + index[1])
          * stream->size[0]
      + index[0]];
}

static gboolean
reference_pass (const Stream *stream, const NdRankPass *pass,
    const NdFootprint *given, const gdouble *in, gdouble *out)
{
  g_autoptr (NdFootprint) negated =
      pass->negated ? nd_footprint_negate (given) : NULL;
  const NdFootprint *footprint = pass->negated ? negated : given;
  g_autofree gdouble *sorted = g_try_new (gdouble, given->n);
  const gsize *size = stream->size;
  const gsize all = size[0] * size[1] * size[2] * stream->n_volumes;

  if (!footprint || !sorted)
    return FALSE;
  for (gsize i = 0; i < all; i++) {
    const gint64 x = i % size[0], y = i / size[0] % size[1];
    const gint64 z = i / size[0] / size[1] % size[2];
    const gint64 t = i / size[0] / size[1] / size[2];
    gsize n = 0;

    for (gsize r = 0; r < footprint->n_runs; r++) {
      const NdRankRun *run = &footprint->runs[r];

      for (gint u = run->first; u <= run->last; u++) {
        const gint64 at[ND_AXES] = { x + u, y + run->y, z + run->z,
          t + run->t };

        sorted[n++] = sample_at (stream, in, at);
      }
    }
    qsort (sorted, n, sizeof (gdouble), compare_samples);
    out[i] = sorted[pass->rank];
  }
  return TRUE;
}

gboolean
nd_rank_reference (const NdRankPlan *plan, const NdFootprint *footprint,
    NdRankBorder border, NdRankBorder time_border, gdouble border_value,
    const gsize size[3], gsize n_volumes, const gdouble *in, gdouble *out)
{
  const Stream stream = { border, time_border, border_value, size, n_volumes };
  const gsize all = size[0] * size[1] * size[2] * n_volumes;
  g_autofree gdouble *first = NULL;

  if (plan->n_passes == 1)
    return reference_pass (&stream, &plan->passes[0], footprint, in, out);
  first = g_try_new (gdouble, all);
  if (!first
      || !reference_pass (&stream, &plan->passes[0], footprint, in, first)
      || !reference_pass (&stream, &plan->passes[1], footprint,
          plan->chained ? first : in, out))
    return FALSE;
  for (gsize i = 0; i < all; i++) {
    if (plan->result == ND_RANK_IN_MINUS)
      out[i] = in[i] - out[i];
    else if (plan->result == ND_RANK_MINUS_IN)
      out[i] -= in[i];
    else if (plan->result == ND_RANK_DIFFERENCE)
      out[i] -= first[i];
  }
  return TRUE;
}
