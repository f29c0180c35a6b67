/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/register.h"

#include "core/error.h"
#include "filters/fit.h"

#include <math.h>
#include <string.h>

/* The volumes of reference=mean. */
#define MEAN_VOLUMES 10
#define MAX_MEAN_VOLUMES 1000000

/* The least samples of an axis of a coarser level. */
#define MIN_SIZE 8

/* A level is done when no sample moves further, in its samples. */
#define TOLERANCE 2e-3
#define COARSE_TOLERANCE 2e-2

/* The matrix has the energy of the noise in the gradients, too, so that steps
 * are too short by a constant factor. It is estimated from two steps and
 * undone; this is the least. Far from the goal steps vary for other reasons:
 * this needs the finest level and a step of less than so many samples. */
#define MIN_STEP 0.4
#define NEAR 0.5

/* The most iterations on the phase. */
#define PHASE_ITERATIONS 4

/* With method=auto the phase is measured if intensities leave more than this
 * unexplained: noise, or a gain that the model does not have. It counts if it
 * stands still soon. Otherwise noise is most of the gradient of the phase. */
#define EXPLAINED 0.001

/* The filters of the phase: radians a sample, octaves, samples, and the steps
 * of the integral over frequencies. */
#define PHASE_FREQUENCY 1.05
#define PHASE_BANDWIDTH 2.0
#define PHASE_SIGMA 1.2
#define PHASE_STEPS 512

/* Of the diagonal: what is not determined does not move. */
#define RIDGE 1e-7

/* The motion is lost if more is unexplained than the expected share times a
 * factor, and some more; or if the overlap is less than this. */
#define LOST_FACTOR 2
#define LOST_MORE 0.002
#define LOST_OVERLAP 0.3

/* Numbers of a motion, which no volume has. */
#define MAX_MOTION 1e9

/* Nothing was found if more than this is unexplained. */
#define USELESS 0.95

/* New volumes change the expected share by this part of the difference. */
#define EXPECTED_STEP 0.125

/* Other motions that are tried: radians, and shares of the extent. */
#define TRY_ANGLE 0.35
#define TRY_SHIFT 0.25
#define MAX_TRIES 14

const guint nd_register_monomial_count[ND_REGISTER_MAX_DEGREE + 1] = { 1, 4, 10,
  20, 35 };
const guint8 nd_register_monomials[ND_REGISTER_MONOMIALS][3] = { { 0, 0, 0 },
  { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 2, 0, 0 }, { 1, 1, 0 }, { 1, 0, 1 },
  { 0, 2, 0 }, { 0, 1, 1 }, { 0, 0, 2 }, { 3, 0, 0 }, { 2, 1, 0 }, { 2, 0, 1 },
  { 1, 2, 0 }, { 1, 1, 1 }, { 1, 0, 2 }, { 0, 3, 0 }, { 0, 2, 1 }, { 0, 1, 2 },
  { 0, 0, 3 }, { 4, 0, 0 }, { 3, 1, 0 }, { 3, 0, 1 }, { 2, 2, 0 }, { 2, 1, 1 },
  { 2, 0, 2 }, { 1, 3, 0 }, { 1, 2, 1 }, { 1, 1, 2 }, { 1, 0, 3 }, { 0, 4, 0 },
  { 0, 3, 1 }, { 0, 2, 2 }, { 0, 1, 3 }, { 0, 0, 4 } };

gboolean
nd_reference_parse (const gchar *text, NdReference *reference, GError **error)
{
  const gboolean is_mean = g_str_has_prefix (text, "mean:");

  *reference = (NdReference){ ND_REFERENCE_NUMBER, 0 };
  if (strcmp (text, "first") == 0)
    return TRUE;
  if (strcmp (text, "mean") == 0)
    *reference = (NdReference){ ND_REFERENCE_MEAN, MEAN_VOLUMES };
  else if (strcmp (text, "running") == 0)
    reference->kind = ND_REFERENCE_RUNNING;
  else if (strcmp (text, "previous") == 0)
    reference->kind = ND_REFERENCE_PREVIOUS;
  else if (is_mean
      && g_ascii_string_to_unsigned (text + 5, 10, 1, MAX_MEAN_VOLUMES,
          &reference->number, NULL))
    reference->kind = ND_REFERENCE_MEAN;
  else if (is_mean
      || !g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64,
          &reference->number, NULL)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "reference is \"%s\", but it must be first, the number of a volume, "
        "counted from 0, mean, mean:N of the first N volumes, 1 to %d, running "
        "or previous",
        text, MAX_MEAN_VOLUMES);
    return FALSE;
  }
  return TRUE;
}

/* Maps */

NdAffine
nd_affine_identity (void)
{
  return (NdAffine){ { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } };
}

NdAffine
nd_affine_compose (const NdAffine *a, const NdAffine *b)
{
  NdAffine c;

  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 4; j++) {
      c.m[i][j] = j == 3 ? a->m[i][3] : 0;
      for (guint k = 0; k < 3; k++)
        c.m[i][j] += a->m[i][k] * b->m[k][j];
    }
  }
  return c;
}

gboolean
nd_affine_invert (const NdAffine *a, NdAffine *inverse)
{
  gdouble cofactor[3][3], determinant = 0;

  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 3; j++) {
      const guint p = (i + 1) % 3, q = (i + 2) % 3;
      const guint r = (j + 1) % 3, s = (j + 2) % 3;

      cofactor[i][j] = a->m[p][r] * a->m[q][s] - a->m[p][s] * a->m[q][r];
    }
    determinant += a->m[i][0] * cofactor[i][0];
  }
  if (!isnormal (determinant))
    return FALSE;
  for (guint i = 0; i < 3; i++) {
    inverse->m[i][3] = 0;
    for (guint j = 0; j < 3; j++) {
      inverse->m[i][j] = cofactor[j][i] / determinant;
      inverse->m[i][3] -= inverse->m[i][j] * a->m[j][3];
    }
  }
  return TRUE;
}

NdAffine
nd_affine_of_samples (const gdouble spacing[3], const gdouble origin[3])
{
  NdAffine map = { { { 0 } } };

  for (guint a = 0; a < 3; a++) {
    map.m[a][a] = spacing[a];
    map.m[a][3] = origin[a];
  }
  return map;
}

/* From indices of samples of a level to millimetres from the centre. */
static NdAffine
to_mm (const NdRegisterPlan *plan, guint level)
{
  gdouble origin[3];

  for (guint a = 0; a < 3; a++)
    origin[a] = -plan->centre[a] * plan->spacing[a];
  return nd_affine_of_samples (plan->levels[level].spacing, origin);
}

static NdAffine
level_indices (const NdRegisterPlan *plan, guint level, const NdAffine *motion)
{
  const NdAffine from = to_mm (plan, level);
  const NdAffine moved = nd_affine_compose (motion, &from);
  NdAffine back;

  nd_affine_invert (&from, &back);
  return nd_affine_compose (&back, &moved);
}

NdAffine
nd_register_indices (const NdRegisterPlan *plan, const NdAffine *motion)
{
  return level_indices (plan, 0, motion);
}

/* The rotation by the vector @w, by the formula of Rodrigues. */
static NdAffine
rotation (const gdouble w[3])
{
  const gdouble square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  const gdouble angle = sqrt (square);
  const gdouble s = angle < 1e-6 ? 1 - square / 6 : sin (angle) / angle;
  const gdouble c =
      angle < 1e-6 ? .5 - square / 24 : (1 - cos (angle)) / square;
  NdAffine map;

  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 3; j++)
      map.m[i][j] = c * w[i] * w[j] + (i == j ? 1 - c * square : 0);
    map.m[i][(i + 1) % 3] -= s * w[(i + 2) % 3];
    map.m[i][(i + 2) % 3] += s * w[(i + 1) % 3];
    map.m[i][3] = 0;
  }
  return map;
}

/* The plan */

/* The columns of a level: an axis of one sample has no motion. */
static void
add_columns (NdRegisterLevel *level, gboolean is_finest)
{
  for (guint kind = 0; kind < ND_REGISTER_KINDS; kind++) {
    const guint degree = kind < 3 ? 1 : kind == 3 && is_finest ? 2 : 0;

    if (kind < 3 && level->size[kind] == 1)
      continue;
    for (guint m = 0; m < nd_register_monomial_count[degree]; m++) {
      const guint8 *powers = nd_register_monomials[m];

      if ((powers[0] && level->size[0] == 1)
          || (powers[1] && level->size[1] == 1)
          || (powers[2] && level->size[2] == 1))
        continue;
      if (m == 0 && kind == 3)
        level->factor_column = level->n_columns;
      if (m == 0 && kind == 4)
        level->offset_column = level->n_columns;
      level->columns[level->n_columns++] = (NdRegisterColumn){ kind, m };
    }
  }
}

void
nd_register_plan_init (NdRegisterPlan *plan, const NdRegisterSettings *settings,
    const gsize size[3], const gdouble spacing[3])
{
  /* @settings may be those of @plan. */
  const NdRegisterSettings copy = *settings;
  const guint most = MIN (copy.levels, ND_REGISTER_MAX_LEVELS);

  memset (plan, 0, sizeof (*plan));
  plan->settings = copy;
  for (guint a = 0; a < 3; a++) {
    plan->spacing[a] = spacing[a];
    plan->centre[a] = (size[a] - 1) / 2.;
    plan->half[a] = MAX (plan->centre[a], .5) * spacing[a];
    plan->levels[0].size[a] = size[a];
    plan->levels[0].factor[a] = 1;
  }
  do {
    NdRegisterLevel *level = &plan->levels[plan->n_levels++];
    NdRegisterLevel *next = level + 1;
    gboolean halves = FALSE;

    add_columns (level, plan->n_levels == 1);
    for (guint a = 0; a < 3; a++) {
      level->spacing[a] = spacing[a] * level->factor[a];
      level->margin[a] = MIN (2, (level->size[a] - 1) / 4);
      halves |= level->size[a] >= 2 * MIN_SIZE;
    }
    if (!halves || plan->n_levels >= most)
      break;
    for (guint a = 0; a < 3; a++) {
      const guint step = level->size[a] >= 2 * MIN_SIZE ? 2 : 1;

      next->size[a] = (level->size[a] + step - 1) / step;
      next->factor[a] = level->factor[a] * step;
    }
  } while (TRUE);
}

void
nd_register_unit (const NdRegisterPlan *plan, guint level, guint axis,
    gdouble *first, gdouble *step)
{
  *first = -plan->centre[axis] * plan->spacing[axis] / plan->half[axis];
  *step = plan->levels[level].spacing[axis] / plan->half[axis];
}

void
nd_register_taps (gdouble sigma, guint radius, gdouble *taps)
{
  gdouble sum = 0;

  for (guint i = 0; i <= 2 * radius; i++) {
    const gdouble x = (gdouble) i - radius;

    sum += taps[i] = exp (-x * x / (2 * sigma * sigma));
  }
  for (guint i = 0; i <= 2 * radius; i++)
    taps[i] /= sum;
}

/* The phase */

void
nd_phase_filter_init (NdPhaseFilter *filter)
{
  const gint r = ND_PHASE_RADIUS;
  gdouble sum = 0, windows = 0;

  memset (filter, 0, sizeof (*filter));
  nd_register_taps (PHASE_SIGMA, r, filter->across);
  for (gint k = 0; k < ND_PHASE_TAPS; k++) {
    const gdouble window = cos (G_PI * (k - r) / (2 * r + 2));

    for (guint i = 0; i < PHASE_STEPS; i++) {
      const gdouble u = G_PI * (i + .5) / PHASE_STEPS;
      const gdouble octaves = log2 (u / PHASE_FREQUENCY) / PHASE_BANDWIDTH;
      const gdouble response = exp (-4 * G_LN2 * octaves * octaves);

      filter->real[k] += response * cos (u * (k - r)) / PHASE_STEPS;
      filter->imaginary[k] -= response * sin (u * (k - r)) / PHASE_STEPS;
    }
    filter->real[k] *= window;
    filter->imaginary[k] *= window;
    sum += filter->real[k];
    windows += window;
  }
  /* A constant has no response. */
  for (gint k = 0; k < ND_PHASE_TAPS; k++)
    filter->real[k] -= sum / windows * cos (G_PI * (k - r) / (2 * r + 2));
}

gsize
nd_phase_margin (const NdRegisterPlan *plan, guint axis)
{
  const gsize size = plan->levels[0].size[axis];

  return size > 1 ? CLAMP ((size - 1) / 6, 1, ND_PHASE_RADIUS) : 0;
}

/* Steps */

/* Parameters of the motion, as sums of columns. */
typedef struct
{
  guint n;
  gdouble sum[12][ND_REGISTER_MAX_COLUMNS];
  guint row[12], column[12]; /* of the generator; column 3: a translation */
} Parameters;

static gint
find_column (const NdRegisterLevel *level, guint kind, guint monomial)
{
  for (guint c = 0; c < level->n_columns; c++) {
    if (level->columns[c].kind == kind
        && level->columns[c].monomial == monomial)
      return c;
  }
  return -1;
}

/* Adds the generator that moves position p along axis @i by p[@j], or by 1 if
 * @j is 3. A rotation also moves it along @j by -p[@i]. */
static void
add_parameter (Parameters *q, const NdRegisterPlan *plan,
    const NdRegisterLevel *level, guint i, guint j)
{
  const gint c = find_column (level, i, j == 3 ? 0 : 1 + j);
  const gint d = j == 3 ? -1 : find_column (level, j, 1 + i);

  q->row[q->n] = i;
  q->column[q->n] = j;
  q->sum[q->n][c] = j == 3 ? 1 : plan->half[j];
  if (j != 3 && plan->settings.model == ND_REGISTER_RIGID)
    q->sum[q->n][d] = -plan->half[i];
  q->n++;
}

static void
list_parameters (const NdRegisterPlan *plan, const NdRegisterLevel *level,
    Parameters *q)
{
  const NdRegisterModel model = plan->settings.model;

  memset (q, 0, sizeof (*q));
  for (guint i = 0; i < 3; i++) {
    if (level->size[i] > 1)
      add_parameter (q, plan, level, i, 3);
  }
  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 3; j++) {
      if (level->size[i] > 1 && level->size[j] > 1
          && (model == ND_REGISTER_AFFINE
              || (model == ND_REGISTER_RIGID && i < j)))
        add_parameter (q, plan, level, i, j);
    }
  }
}

/* The motion exp (q) of a rigid model; 1 + q of others. */
static NdAffine
make_step (const NdRegisterPlan *plan, const Parameters *q,
    const gdouble *values)
{
  NdAffine step = nd_affine_identity ();
  gdouble w[3] = { 0, 0, 0 };

  for (guint p = 0; p < q->n; p++) {
    const guint i = q->row[p], j = q->column[p];

    if (j < 3 && plan->settings.model == ND_REGISTER_RIGID)
      w[3 - i - j] = j == (i + 1) % 3 ? -values[p] : values[p];
  }
  if (plan->settings.model == ND_REGISTER_RIGID)
    step = rotation (w);
  for (guint p = 0; p < q->n; p++) {
    const guint i = q->row[p], j = q->column[p];

    if (j == 3 || plan->settings.model != ND_REGISTER_RIGID)
      step.m[i][j] += values[p];
  }
  return step;
}

/* The largest motion of a corner of the volume along an axis, in samples of the
 * level. */
static gdouble
measure_step (const NdRegisterPlan *plan, const NdRegisterLevel *level,
    const NdAffine *step)
{
  gdouble largest = 0;

  for (guint i = 0; i < 3; i++) {
    gdouble sum = fabs (step->m[i][3]);

    for (guint j = 0; j < 3; j++)
      sum += fabs (step->m[i][j] - (i == j)) * plan->half[j];
    largest = MAX (largest, sum / level->spacing[i]);
  }
  return largest;
}

/* Solves a x = b, for which the diagonal of a is made 1. FALSE if there are no
 * finite @x. */
static gboolean
solve (guint n, gdouble *a, const gdouble *b, gdouble *x)
{
  gdouble scale[ND_REGISTER_MAX_COLUMNS];

  for (guint i = 0; i < n; i++)
    scale[i] = a[i * n + i] > 0 ? 1 / sqrt (a[i * n + i]) : 0;
  for (guint i = 0; i < n; i++) {
    for (guint j = 0; j < n; j++)
      a[i * n + j] *= scale[i] * scale[j];
    a[i * n + i] = 1 + RIDGE;
    x[i] = b[i] * scale[i];
  }
  if (!nd_cholesky_factor (a, n, NULL))
    return FALSE;
  nd_cholesky_solve (a, n, x);
  for (guint i = 0; i < n; i++) {
    x[i] *= scale[i];
    if (!isfinite (x[i]))
      return FALSE;
  }
  return TRUE;
}

/* Solves the equations of the parameters, and then of the other columns. Sets
 * the residual. */
static gboolean
solve_sums (const NdRegisterLevel *level, const Parameters *q,
    const NdRegisterSums *sums, gdouble *values, NdRegistration *out)
{
  const guint n_columns = level->n_columns;
  gdouble basis[ND_REGISTER_MAX_COLUMNS][ND_REGISTER_MAX_COLUMNS] = { { 0 } };
  gdouble a[ND_REGISTER_MAX_COLUMNS * ND_REGISTER_MAX_COLUMNS];
  gdouble b[ND_REGISTER_MAX_COLUMNS], x[ND_REGISTER_MAX_COLUMNS];
  const guint f = level->factor_column, o = level->offset_column;
  const gdouble weight = sums->a[o][o];
  guint n = q->n;
  gdouble left = sums->squares, mean, variance;

  if (!(weight > 0) || !isfinite (sums->squares))
    return FALSE;
  memcpy (basis, q->sum, q->n * sizeof (basis[0]));
  for (guint c = 0; c < n_columns; c++) {
    if (level->columns[c].kind >= 3)
      basis[n++][c] = 1;
  }
  for (guint i = 0; i < n; i++) {
    gdouble row[ND_REGISTER_MAX_COLUMNS] = { 0 };

    b[i] = 0;
    for (guint c = 0; c < n_columns; c++) {
      if (basis[i][c] == 0)
        continue;
      b[i] += basis[i][c] * sums->b[c];
      for (guint d = 0; d < n_columns; d++)
        row[d] += basis[i][c] * sums->a[c][d];
    }
    for (guint j = 0; j < n; j++) {
      a[i * n + j] = 0;
      for (guint d = 0; d < n_columns; d++)
        a[i * n + j] += row[d] * basis[j][d];
    }
  }
  if (!solve (n, a, b, x))
    return FALSE;
  for (guint i = 0; i < n; i++)
    left -= x[i] * b[i];
  mean = (sums->b[o] + sums->a[f][o]) / weight;
  variance =
      sums->squares + 2 * sums->b[f] + sums->a[f][f] - mean * mean * weight;
  left = MAX (left, 0);
  out->residual = sqrt (left / weight);
  out->unexplained = left < variance ? left / variance : 1;
  memcpy (values, x, q->n * sizeof (gdouble));
  return TRUE;
}

/* The product of two small motions, for lengths and angles between them. */
static gdouble
multiply_steps (const NdRegisterPlan *plan, const NdAffine *a,
    const NdAffine *b)
{
  gdouble sum = 0;

  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < 4; j++) {
      const gdouble scale = j < 3 ? plan->half[j] : 1;

      sum += (a->m[i][j] - (i == j)) * (b->m[i][j] - (i == j)) * scale * scale;
    }
  }
  return sum;
}

/* The share of the way that a step goes: @rest is left of it after a step that
 * was @length times as long. */
static gdouble
find_share (gdouble rest, gdouble length)
{
  return CLAMP ((1 - rest) / length, MIN_STEP, 1);
}

gboolean
nd_affine_is_possible (const NdAffine *motion)
{
  for (guint i = 0; i < 12; i++) {
    if (!(fabs (motion->m[i / 4][i % 4]) < MAX_MOTION))
      return FALSE;
  }
  return TRUE;
}

/* Iterates on the level until the motion stands still, @most times. */
static void
run_level (const NdRegisterPlan *plan, guint l, NdRegisterMeasure measure,
    gpointer data, guint most, NdRegistration *out)
{
  const NdRegisterLevel *level = &plan->levels[l];
  const gdouble tolerance = l > 0 ? COARSE_TOLERANCE : TOLERANCE;
  NdAffine last = nd_affine_identity ();
  gdouble share = 1;
  Parameters q;

  list_parameters (plan, level, &q);
  out->measured = out->converged = FALSE;
  out->overlap = 0;
  out->unexplained = 1;
  out->residual = 0;
  for (guint i = 0; i < most && !out->converged; i++) {
    const NdAffine map = level_indices (plan, l, &out->motion);
    NdRegisterSums sums = { 0 };
    gdouble values[12];
    NdAffine step, back;

    measure (data, l, &map, &sums);
    out->iterations++;
    out->measured = q.n > 0 && solve_sums (level, &q, &sums, values, out);
    if (!out->measured)
      return;
    out->overlap = sums.a[level->offset_column][level->offset_column];
    step = make_step (plan, &q, values);
    if (i > 0 && l == 0 && measure_step (plan, level, &last) < NEAR) {
      const gdouble square = multiply_steps (plan, &last, &last);

      if (square > 0)
        share = find_share (multiply_steps (plan, &step, &last) / square,
            1 / share);
    }
    last = step;
    for (guint p = 0; p < q.n; p++)
      values[p] /= share;
    step = make_step (plan, &q, values);
    if (!nd_affine_invert (&step, &back))
      return;
    out->motion = nd_affine_compose (&out->motion, &back);
    out->measured = nd_affine_is_possible (&out->motion);
    if (!out->measured)
      return;
    out->converged = measure_step (plan, level, &step) < tolerance;
  }
}

static void
run_levels (const NdRegisterPlan *plan, guint first,
    const NdRegisterMeter *meter, NdRegistration *out)
{
  for (guint l = first + 1; l-- > 0;) {
    const NdAffine before = out->motion;

    run_level (plan, l, meter->intensity, meter->data,
        plan->settings.iterations, out);
    if (!out->measured)
      out->motion = before;
  }
  out->overlap = meter->weight > 0 ? out->overlap / meter->weight : 0;
}

/* What @out->motion leaves unexplained. */
static gboolean
evaluate (const NdRegisterPlan *plan, const NdRegisterMeter *meter,
    NdRegistration *out)
{
  const NdRegisterLevel *level = &plan->levels[0];
  const NdAffine map = level_indices (plan, 0, &out->motion);
  NdRegisterSums sums = { 0 };
  gdouble values[12];
  Parameters q;

  list_parameters (plan, level, &q);
  meter->intensity (meter->data, 0, &map, &sums);
  out->overlap =
      sums.a[level->offset_column][level->offset_column] / meter->weight;
  return solve_sums (level, &q, &sums, values, out);
}

/* Goes on with the phase, unless that makes it much worse. */
static void
refine (const NdRegisterPlan *plan, const NdRegisterMeter *meter,
    NdRegistration *out)
{
  const NdRegisterMethod method = plan->settings.method;
  NdRegistration phase = *out;

  if (!meter->phase || !out->measured || method == ND_REGISTER_INTENSITY
      || (method == ND_REGISTER_AUTO && out->unexplained <= EXPLAINED))
    return;
  run_level (plan, 0, meter->phase, meter->phase_data,
      MIN (plan->settings.iterations, PHASE_ITERATIONS), &phase);
  out->iterations = phase.iterations;
  if (phase.measured && (phase.converged || method == ND_REGISTER_PHASE)
      && evaluate (plan, meter, &phase)
      && phase.unexplained <= LOST_FACTOR * out->unexplained + LOST_MORE)
    *out = phase;
}

void
nd_register_estimate (const NdRegisterPlan *plan, const NdRegisterMeter *meter,
    const NdAffine *start, NdRegistration *out)
{
  *out = (NdRegistration){ .motion = *start };
  run_levels (plan, plan->n_levels - 1, meter, out);
  refine (plan, meter, out);
}

/* Streams */

static gboolean
is_lost (const NdRegistration *result, gdouble expected)
{
  const gdouble limit = LOST_FACTOR * expected + LOST_MORE;

  return !result->measured || result->unexplained > MIN (limit, USELESS)
      || result->overlap < LOST_OVERLAP;
}

/* Motions to begin with: none, and others around it. */
static guint
list_tries (const NdRegisterPlan *plan, NdAffine *tries)
{
  guint n = 0;

  tries[n++] = nd_affine_identity ();
  for (guint a = 0; a < 3; a++) {
    const NdRegisterLevel *level = &plan->levels[0];

    for (gint sign = -1; sign <= 1; sign += 2) {
      gdouble w[3] = { 0, 0, 0 };

      if (level->size[a] > 1) {
        tries[n] = nd_affine_identity ();
        tries[n++].m[a][3] = sign * TRY_SHIFT * 2 * plan->half[a];
      }
      if (plan->settings.model == ND_REGISTER_TRANSLATION
          || level->size[(a + 1) % 3] == 1 || level->size[(a + 2) % 3] == 1)
        continue;
      w[a] = sign * TRY_ANGLE;
      tries[n++] = rotation (w);
    }
  }
  return n;
}

/* The best of all tries on the coarsest level, which is then refined. */
static void
search (const NdRegisterPlan *plan, const NdRegisterMeter *meter,
    NdRegistration *out)
{
  const guint last = plan->n_levels - 1;
  NdAffine tries[MAX_TRIES];
  const guint n = list_tries (plan, tries);
  gdouble best = G_MAXDOUBLE;

  *out = (NdRegistration){ .motion = tries[0] };
  for (guint i = 0; i < n; i++) {
    NdRegistration result = { .motion = tries[i] };
    gdouble cost;

    run_level (plan, last, meter->intensity, meter->data,
        plan->settings.iterations, &result);
    out->iterations += result.iterations;
    /* A small overlap is easily explained. */
    cost = result.measured ? result.unexplained / result.overlap : G_MAXDOUBLE;
    if (cost < best) {
      best = cost;
      out->motion = result.motion;
    }
  }
  run_levels (plan, last > 0 ? last - 1 : 0, meter, out);
}

void
nd_register_follow (const NdRegisterPlan *plan, const NdRegisterMeter *meter,
    const NdAffine *last, gdouble *expected, NdRegistration *out)
{
  *out = (NdRegistration){ .motion = *last };
  run_levels (plan, plan->n_levels - 1, meter, out);
  if (meter->weight > 0 && is_lost (out, *expected)) {
    NdRegistration other;
    guint iterations;

    search (plan, meter, &other);
    iterations = out->iterations + other.iterations;
    if (!out->measured
        || (other.measured
            && other.unexplained / other.overlap
                < out->unexplained / out->overlap))
      *out = other;
    out->iterations = iterations;
    out->restarted = TRUE;
  }
  out->measured = out->measured && out->unexplained <= USELESS;
  if (!out->measured) {
    out->motion = nd_affine_identity ();
    return;
  }
  if (*expected == 0 || out->restarted)
    *expected = out->unexplained;
  else
    *expected += EXPECTED_STEP * (out->unexplained - *expected);
  refine (plan, meter, out);
}
