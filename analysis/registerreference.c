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

/* The responses to quadrature filters, real and imaginary parts, and the number
 * of samples around each that are not measured. */
typedef struct
{
  gdouble *response[3][2], *invalid;
} Phase;

typedef struct
{
  const NdRegisterPlan *plan;
  Level reference[ND_REGISTER_MAX_LEVELS], volume[ND_REGISTER_MAX_LEVELS];
  Phase phase;    /* of the reference */
  gdouble *input; /* the volume; NAN where it is not measured */
} Pyramids;

static gsize
count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

/* Filters along @axis, and takes every @step-th sample. */
static gdouble *
filter (const gdouble *in, gsize size[3], guint axis, const gdouble *taps,
    gint radius, guint step)
{
  const gsize stride = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
  const gssize n = size[axis];
  gsize to[3] = { size[0], size[1], size[2] };
  gdouble *out;

  to[axis] = (size[axis] + step - 1) / step;
  out = g_new (gdouble, count (to));
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
  gdouble taps[2 * ND_REGISTER_RADIUS + 1];

  nd_register_taps (sigma, radius, taps);
  for (guint a = 0; a < 3; a++) {
    const guint step = factor ? next[a] / factor[a] : 1;
    gdouble *before = out;

    if (factor && step == 1)
      continue;
    out = filter (before, size, a, taps, radius, step);
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

/* The phase */

static gdouble *
filter_phase (const NdRegisterPlan *plan, const gdouble *in,
    const gdouble *const taps[3], gint radius)
{
  gsize size[3] = { plan->levels[0].size[0], plan->levels[0].size[1],
    plan->levels[0].size[2] };
  gdouble *out = g_memdup2 (in, count (size) * sizeof (gdouble));

  for (guint a = 0; a < 3; a++) {
    gdouble *before = out;

    out = filter (before, size, a, taps[a], radius, 1);
    g_free (before);
  }
  return out;
}

/* The responses of @samples, which are NAN where they are not measured. */
static void
respond (const NdRegisterPlan *plan, const gdouble *samples, Phase *out)
{
  const gsize n = count (plan->levels[0].size);
  g_autofree gdouble *clean = g_new (gdouble, n);
  g_autofree gdouble *invalid = g_new (gdouble, n);
  gdouble ones[2 * ND_PHASE_REACH + 1];
  const gdouble *box[3] = { ones, ones, ones };
  NdPhaseFilter design;

  nd_phase_filter_init (&design);
  for (guint k = 0; k < G_N_ELEMENTS (ones); k++)
    ones[k] = 1;
  for (gsize i = 0; i < n; i++) {
    invalid[i] = isnan (samples[i]) != 0;
    clean[i] = isnan (samples[i]) ? 0 : samples[i];
  }
  out->invalid = filter_phase (plan, invalid, box, ND_PHASE_REACH);
  for (guint a = 0; a < 3; a++) {
    for (guint part = 0; part < 2; part++) {
      const gdouble *taps[3] = { design.across, design.across, design.across };

      taps[a] = part ? design.imaginary : design.real;
      out->response[a][part] =
          filter_phase (plan, clean, taps, ND_PHASE_RADIUS);
    }
  }
}

static void
clear_phase (Phase *phase)
{
  g_free (phase->invalid);
  for (guint i = 0; i < 6; i++)
    g_free (phase->response[i / 2][i % 2]);
}

/* Cubic interpolation; NAN where a sample is not measured or outside. */
static gdouble
interpolate_cubic (const gdouble *in, const gsize size[3], const gdouble at[3])
{
  gdouble weights[3][4], sum = 0;
  gssize first[3];

  for (guint a = 0; a < 3; a++) {
    if (!(at[a] >= -2 && at[a] <= size[a] + 1.))
      return NAN;
    first[a] = (gssize) floor (at[a]) - 1;
    nd_cubic_weights (at[a] - floor (at[a]), weights[a]);
  }
  for (guint k = 0; k < 64; k++) {
    const guint tap[3] = { k % 4, k / 4 % 4, k / 16 };
    gboolean inside = TRUE;
    gdouble weight = 1;
    gssize i[3];

    for (guint a = 0; a < 3; a++) {
      i[a] = first[a] + tap[a];
      weight *= weights[a][tap[a]];
      inside = inside && i[a] >= 0 && i[a] < (gssize) size[a];
    }
    if (weight != 0)
      sum += weight
          * (inside ? in[(i[2] * size[1] + i[1]) * size[0] + i[0]] : NAN);
  }
  return sum;
}

/* The gradient of the phase in both volumes, per sample along an axis. */
static gdouble
phase_gradient (gdouble *const p[2], gdouble *const q[2], gsize i, gsize stride)
{
  gdouble real = 0, imaginary = 0;

  for (guint v = 0; v < 2; v++) {
    gdouble *const *r = v ? q : p;

    for (guint k = 0; k < 2; k++) {
      const gsize a = k ? i : i + stride, b = k ? i - stride : i;

      real += r[0][a] * r[0][b] + r[1][a] * r[1][b];
      imaginary += r[1][a] * r[0][b] - r[0][a] * r[1][b];
    }
  }
  return atan2 (imaginary, real);
}

/* Adds sample @i of the filter along @axis. */
static void
add_phase (const Pyramids *self, const Phase *volume, guint axis, gsize i,
    NdRegisterSums *sums)
{
  const NdRegisterLevel *p = &self->plan->levels[0];
  const gsize *size = p->size, strides[3] = { 1, size[0], size[0] * size[1] };
  gdouble *const *a = self->phase.response[axis];
  gdouble *const *b = volume->response[axis];
  const gdouble re = a[0][i] * b[0][i] + a[1][i] * b[1][i];
  const gdouble im = a[0][i] * b[1][i] - a[1][i] * b[0][i];
  const gdouble weight = (hypot (re, im) + re) / 2, e = atan2 (im, re);
  gdouble column[ND_REGISTER_MAX_COLUMNS] = { 0 };

  for (guint c = 0; c < p->n_columns; c++) {
    const guint kind = p->columns[c].kind;
    const guint8 *powers = nd_register_monomials[p->columns[c].monomial];

    if (kind < 3)
      column[c] =
          phase_gradient (a, b, i, strides[kind]) / self->plan->spacing[kind];
    for (guint k = 0; k < 3 && kind < 3; k++) {
      gdouble first, step;

      nd_register_unit (self->plan, 0, k, &first, &step);
      column[c] *= pow (first + step * (i / strides[k] % size[k]), powers[k]);
    }
  }
  sums->a[p->offset_column][p->offset_column] += weight;
  for (guint c = 0; c < p->n_columns; c++) {
    for (guint d = 0; d < p->n_columns; d++)
      sums->a[c][d] += weight * column[c] * column[d];
    sums->b[c] += weight * column[c] * e;
  }
  sums->squares += weight * e * e;
}

static void
measure_phase (gpointer data, guint l, const NdAffine *map,
    NdRegisterSums *sums)
{
  const Pyramids *self = data;
  const gsize *size = self->plan->levels[0].size, n = count (size);
  g_autofree gdouble *moved = g_new (gdouble, n);
  Phase volume;

  for (gsize i = 0; i < n; i++) {
    const gdouble x[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gdouble at[3];

    for (guint a = 0; a < 3; a++) {
      at[a] = map->m[a][3];
      for (guint b = 0; b < 3; b++)
        at[a] += map->m[a][b] * x[b];
    }
    moved[i] = interpolate_cubic (self->input, size, at);
  }
  respond (self->plan, moved, &volume);
  for (gsize i = 0; i < n; i++) {
    const gsize x[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gboolean counts = volume.invalid[i] + self->phase.invalid[i] < .5;

    for (guint a = 0; a < 3; a++) {
      const gsize margin = nd_phase_margin (self->plan, a);

      counts = counts && x[a] >= margin && x[a] + margin < size[a];
    }
    for (guint a = 0; a < 3 && counts; a++) {
      if (size[a] > 1)
        add_phase (self, &volume, a, i, sums);
    }
  }
  clear_phase (&volume);
}

/* @samples, with NAN where they are not measured. */
static gdouble *
copy_measured (const NdRegisterPlan *plan, const gdouble *samples)
{
  const gsize n = count (plan->levels[0].size);
  gdouble *out = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    out[i] =
        isfinite (samples[i]) && !(plan->settings.nonzero && samples[i] == 0)
        ? samples[i]
        : NAN;
  return out;
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
  NdRegisterMeter meter = { measure, &self, 0, measure_phase, &self };
  g_autofree gdouble *still = copy_measured (plan, reference);
  g_autofree gdouble *moving = copy_measured (plan, volume);
  gdouble weight = 0;

  build_pyramid (plan, reference, self.reference);
  build_pyramid (plan, volume, self.volume);
  for (guint l = 0; l < plan->n_levels; l++)
    prepare (plan, l, &self.reference[l]);
  for (gsize i = 0; i < count (plan->levels[0].size); i++)
    weight += self.reference[0].weight[i];
  respond (plan, still, &self.phase);
  self.input = moving;
  meter.weight = weight;
  nd_register_estimate (plan, &meter, start, out);
  for (guint l = 0; l < plan->n_levels; l++) {
    clear_level (&self.reference[l]);
    clear_level (&self.volume[l]);
  }
  clear_phase (&self.phase);
}
