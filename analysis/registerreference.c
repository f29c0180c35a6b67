/* Registration in double precision, sample by sample (analysis/register.h has
 * the formulas).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/register.h"

#include <math.h>
#include <string.h>

/* A volume, and 1 where its samples are measured, otherwise 0. */
typedef struct
{
  gdouble *samples, *valid;
} Measured;

typedef struct
{
  Measured smooth;
  gdouble *gradient[3], *weight; /* of the reference */
} Level;

typedef struct
{
  const NdRegisterPlan *plan;
  Level reference[ND_REGISTER_MAX_LEVELS], volume[ND_REGISTER_MAX_LEVELS];
} Pyramids;

static gsize
count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

/* Filters along @axis, and takes every @step-th sample. */
static gdouble *
filter (const gdouble *in, gsize size[3], guint axis, gdouble sigma,
    gint radius, guint step)
{
  const gsize stride = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
  const gssize n = size[axis];
  gdouble taps[2 * ND_REGISTER_RADIUS + 1];
  gsize to[3] = { size[0], size[1], size[2] };
  gdouble *out;

  to[axis] = (size[axis] + step - 1) / step;
  out = g_new (gdouble, count (to));
  nd_register_taps (sigma, radius, taps);
  for (gsize i = 0; i < count (to); i++) {
    gsize at[3] = { i % to[0], i / to[0] % to[1], i / to[0] / to[1] };
    const gssize centre = at[axis] * step;
    gdouble sum = 0;

    at[axis] = 0;
    for (gint k = -radius; k <= radius; k++) {
      const gssize from = CLAMP (centre + k, 0, n - 1);

      sum += taps[k + radius]
          * in[(at[2] * size[1] + at[1]) * size[0] + at[0] + from * stride];
    }
    out[i] = n == 1 ? in[i] : sum;
  }
  memcpy (size, to, sizeof (to));
  return out;
}

/* Along all axes; @steps NULL: every sample is kept. */
static gdouble *
filter_all (const gdouble *in, const gsize from[3], gdouble sigma, gint radius,
    const guint *factor, const guint *next)
{
  gsize size[3] = { from[0], from[1], from[2] };
  gdouble *out = g_memdup2 (in, count (size) * sizeof (gdouble));

  for (guint a = 0; a < 3; a++) {
    const guint step = factor ? next[a] / factor[a] : 1;
    gdouble *before = out;

    if (factor && step == 1)
      continue;
    out = filter (before, size, a, sigma, radius, step);
    g_free (before);
  }
  return out;
}

static void
build_pyramid (const NdRegisterPlan *plan, const gdouble *samples,
    Level levels[ND_REGISTER_MAX_LEVELS])
{
  const gsize n = count (plan->levels[0].size);
  Measured now = { g_new (gdouble, n), g_new (gdouble, n) };

  for (gsize i = 0; i < n; i++) {
    now.valid[i] =
        isfinite (samples[i]) && !(plan->settings.nonzero && samples[i] == 0);
    now.samples[i] = now.valid[i] ? samples[i] : 0;
  }
  for (guint l = 0; l < plan->n_levels; l++) {
    const NdRegisterLevel *level = &plan->levels[l];
    gdouble *const from[2] = { now.samples, now.valid };
    gdouble *smooth[2], *half[2] = { NULL, NULL };

    for (guint i = 0; i < 2; i++) {
      smooth[i] = filter_all (from[i], level->size, ND_REGISTER_SIGMA,
          ND_REGISTER_RADIUS, NULL, NULL);
      if (l + 1 < plan->n_levels)
        half[i] = filter_all (from[i], level->size, ND_REGISTER_HALF_SIGMA,
            ND_REGISTER_HALF_RADIUS, level->factor, level[1].factor);
      g_free (from[i]);
    }
    levels[l].smooth = (Measured){ smooth[0], smooth[1] };
    now = (Measured){ half[0], half[1] };
  }
}

/* Central differences; at an edge the sample beyond it is that at the edge. */
static void
prepare (const NdRegisterPlan *plan, guint l, Level *level)
{
  const NdRegisterLevel *p = &plan->levels[l];
  const gsize *size = p->size, n = count (size);
  const gsize strides[3] = { 1, size[0], size[0] * size[1] };
  gdouble squares = 0, threshold, n_valid = 0;

  level->weight = g_new (gdouble, n);
  for (guint a = 0; a < 3; a++)
    level->gradient[a] = g_new0 (gdouble, n);
  for (gsize i = 0; i < n; i++) {
    const gsize at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gboolean counts = level->smooth.valid[i] >= ND_REGISTER_VALID;
    gdouble square = 0;

    for (guint a = 0; a < 3; a++) {
      const gsize low = at[a] > 0 ? i - strides[a] : i;
      const gsize high = at[a] + 1 < size[a] ? i + strides[a] : i;
      const gdouble difference =
          (level->smooth.samples[high] - level->smooth.samples[low]) / 2;

      level->gradient[a][i] = difference / p->spacing[a];
      square += difference * difference;
      counts &= at[a] >= p->margin[a] && at[a] + p->margin[a] < size[a]
          && level->smooth.valid[low] >= ND_REGISTER_VALID
          && level->smooth.valid[high] >= ND_REGISTER_VALID;
    }
    level->weight[i] = counts ? square : -1;
    if (counts) {
      squares += square;
      n_valid++;
    }
  }
  threshold = ND_REGISTER_MIN_GRADIENT * ND_REGISTER_MIN_GRADIENT * squares
      / MAX (n_valid, 1);
  for (gsize i = 0; i < n; i++)
    level->weight[i] = level->weight[i] >= threshold && level->weight[i] > 0;
}

/* The linear interpolation at @at. FALSE outside of the volume, or between
 * samples of which one is not valid. */
static gboolean
interpolate (const Level *level, const gsize size[3], const gdouble at[3],
    gdouble *value)
{
  gsize low[3];
  gdouble share[3];

  *value = 0;
  for (guint a = 0; a < 3; a++) {
    if (!(at[a] >= 0 && at[a] <= size[a] - 1))
      return FALSE;
    low[a] = MIN ((gsize) at[a], size[a] > 1 ? size[a] - 2 : 0);
    share[a] = at[a] - low[a];
  }
  for (guint k = 0; k < 8; k++) {
    gdouble weight = 1;
    gsize i[3];

    for (guint a = 0; a < 3; a++) {
      const guint up = size[a] > 1 ? k >> a & 1 : 0;

      i[a] = low[a] + up;
      weight *= k >> a & 1 ? share[a] : 1 - share[a];
    }
    if (level->smooth.valid[(i[2] * size[1] + i[1]) * size[0] + i[0]]
        < ND_REGISTER_VALID)
      return FALSE;
    *value += weight
        * level->smooth.samples[(i[2] * size[1] + i[1]) * size[0] + i[0]];
  }
  return TRUE;
}

static void
measure (gpointer data, guint l, const NdAffine *map, NdRegisterSums *sums)
{
  const Pyramids *self = data;
  const NdRegisterLevel *p = &self->plan->levels[l];
  const Level *reference = &self->reference[l];
  const gsize *size = p->size;
  gdouble first[3], step[3];

  for (guint a = 0; a < 3; a++)
    nd_register_unit (self->plan, l, a, &first[a], &step[a]);
  for (gsize i = 0; i < count (size); i++) {
    const gdouble x[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gdouble at[3], u[3], column[ND_REGISTER_MAX_COLUMNS], e;

    if (reference->weight[i] == 0)
      continue;
    for (guint a = 0; a < 3; a++) {
      at[a] = map->m[a][3];
      for (guint b = 0; b < 3; b++)
        at[a] += map->m[a][b] * x[b];
      u[a] = first[a] + step[a] * x[a];
    }
    if (!interpolate (&self->volume[l], size, at, &e))
      continue;
    e -= reference->smooth.samples[i];
    for (guint c = 0; c < p->n_columns; c++) {
      const NdRegisterColumn *k = &p->columns[c];
      const guint8 *powers = nd_register_monomials[k->monomial];

      column[c] = k->kind < 3 ? reference->gradient[k->kind][i]
          : k->kind == 3      ? reference->smooth.samples[i]
                              : 1;
      for (guint a = 0; a < 3; a++)
        column[c] *= pow (u[a], powers[a]);
    }
    for (guint c = 0; c < p->n_columns; c++) {
      for (guint d = 0; d < p->n_columns; d++)
        sums->a[c][d] += column[c] * column[d];
      sums->b[c] += column[c] * e;
    }
    sums->squares += e * e;
  }
}

static void
clear_level (Level *level)
{
  g_free (level->smooth.samples);
  g_free (level->smooth.valid);
  g_free (level->weight);
  for (guint a = 0; a < 3; a++)
    g_free (level->gradient[a]);
}

void
nd_register_reference (const NdRegisterPlan *plan, const gdouble *reference,
    const gdouble *volume, const NdAffine *start, NdRegistration *out)
{
  Pyramids self = { .plan = plan };
  gdouble weight = 0;

  build_pyramid (plan, reference, self.reference);
  build_pyramid (plan, volume, self.volume);
  for (guint l = 0; l < plan->n_levels; l++)
    prepare (plan, l, &self.reference[l]);
  for (gsize i = 0; i < count (plan->levels[0].size); i++)
    weight += self.reference[0].weight[i];
  nd_register_estimate (plan, measure, &self, weight, start, out);
  for (guint l = 0; l < plan->n_levels; l++) {
    clear_level (&self.reference[l]);
    clear_level (&self.volume[l]);
  }
}
