/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/randomcase.h"

#include "tests/methods/largecases.h"
#include "tests/methods/randomroles.h"

#include <math.h>
#include <string.h>

static gdouble
random_normal (GRand *r)
{
  gdouble sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (r);
  return sum - 6;
}

/* Makes each volume of the filter point-symmetric. */
static void
make_symmetric (NdFilter *f)
{
  gsize n = f->size[0] * f->size[1] * f->size[2];

  for (gsize t = 0; t < f->size[3]; t++)
    for (gsize i = 0; i < n / 2; i++)
      f->coefficients[t * n + n - 1 - i] = f->coefficients[t * n + i];
}

/* Makes a filter of size @wanted, or of a random size of up to @taps along the
 * first @axes axes if that is NULL. If @like is set, the filter has the origin
 * of @like and no zeros. If it is @separable it has no zeros and is centred in
 * x. */
static NdFilter *
random_filter (GRand *r, gboolean exact, gboolean symmetric,
    const gsize *wanted, guint axes, gsize taps, const NdFilter *like,
    gboolean separable)
{
  static const gsize sizes[] = { 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 9, 11, 13, 17,
    31, 33 };
  gboolean rank_1 = g_rand_boolean (r);
  gboolean holes = !like && g_rand_int_range (r, 0, 3) == 0;
  /* A GPU sums few taps along three axes in one kernel, and floats only without
   * zeros. */
  const gsize cube = !wanted && axes > 2 && taps >= 9 * 9 * 9
          && g_rand_int_range (r, 0, 8) == 0
      ? 5 + 2 * g_rand_int_range (r, 0, 3)
      : 0;
  gboolean full = g_rand_boolean (r);
  /* Sums of boxes. */
  gboolean flat = g_rand_int_range (r, 0, 6) == 0;
  gsize size[ND_AXES];
  gdouble *factor[ND_AXES];
  NdFilter *f;
  gsize i = 0;

  do {
    for (guint a = 0; a < ND_AXES; a++) {
      size[a] = wanted ? wanted[a]
          : a < axes   ? sizes[g_rand_int_range (r, 0, G_N_ELEMENTS (sizes))]
                       : 1;
      if (symmetric && a < ND_AXIS_T)
        size[a] |= 1;
      if (cube > 0 && a < ND_AXIS_T)
        size[a] = cube;
    }
    /* More rows than fit in the shared memory of a GPU; 211 is prime. */
    if (!wanted && cube == 0 && g_rand_int_range (r, 0, 12) == 0)
      size[1] = g_rand_boolean (r) ? 206 : 211;
  } while (!wanted && size[0] * size[1] * size[2] * size[3] > taps);
  rank_1 |= separable || cube > 0;
  f = nd_filter_new ("random", size);
  for (guint a = 0; a < ND_AXES; a++) {
    gint half = size[a] / 2;

    f->origin[a] = like
        ? like->origin[a]
        : g_rand_int_range (r, -half, ((gint) size[a] - 1) / 2 + 1);
    if (a == 0 && (separable || (cube > 0 && g_rand_boolean (r))))
      f->origin[a] = 0;
    factor[a] = g_new (gdouble, size[a]);
    for (gsize m = 0; m < size[a]; m++) {
      factor[a][m] = exact ? g_rand_int_range (r, -2, 3) : random_normal (r);
      if ((separable || (cube > 0 && full)) && factor[a][m] == 0)
        factor[a][m] = 1;
      if (flat && m > 0)
        factor[a][m] = factor[a][0];
      else if (flat && factor[a][m] == 0)
        factor[a][m] = 1;
    }
  }
  for (gsize t = 0; t < size[3]; t++)
    for (gsize z = 0; z < size[2]; z++)
      for (gsize y = 0; y < size[1]; y++)
        for (gsize x = 0; x < size[0]; x++, i++) {
          if (rank_1)
            f->coefficients[i] =
                factor[0][x] * factor[1][y] * factor[2][z] * factor[3][t];
          else
            f->coefficients[i] =
                exact ? g_rand_int_range (r, -3, 4) : random_normal (r);
          if (holes && !rank_1 && g_rand_boolean (r))
            f->coefficients[i] = 0;
        }
  for (guint a = 0; a < ND_AXES; a++)
    g_free (factor[a]);
  if (symmetric)
    make_symmetric (f);
  return f;
}

static void
set_sample (guint8 *p, NdSampleType type, GRand *r, gboolean exact,
    gboolean nonfinite)
{
  gint kind = g_rand_int_range (r, 0, 16);

  switch (type) {
    case ND_UINT8:
      *p = kind == 0 ? 255 : g_rand_int_range (r, 0, 256);
      break;
    case ND_INT16:
      *(gint16 *) p = exact ? g_rand_int_range (r, -200, 200)
                            : g_rand_int_range (r, -32768, 32768);
      break;
    case ND_UINT16:
      *(guint16 *) p =
          exact ? g_rand_int_range (r, 0, 300) : g_rand_int_range (r, 0, 65536);
      break;
    case ND_FLOAT64:
      *(gdouble *) p =
          exact ? g_rand_int_range (r, -100, 100) : 50 * random_normal (r);
      if (nonfinite && g_rand_int_range (r, 0, 400) == 0)
        *(gdouble *) p = kind < 5 ? NAN : kind < 10 ? INFINITY : -INFINITY;
      break;
    default:
      *(gfloat *) p =
          exact ? g_rand_int_range (r, -100, 100) : 50 * random_normal (r);
      if (nonfinite && g_rand_int_range (r, 0, 400) == 0)
        *(gfloat *) p = kind < 5 ? NAN : kind < 10 ? INFINITY : -INFINITY;
      break;
  }
}

/* The sign of an infinite element of a tensor depends on a response that may be
 * nearly 0. */
static void
replace_infinite (guint8 *p, NdSampleType type)
{
  if (type == ND_FLOAT32 && isinf (*(gfloat *) p))
    *(gfloat *) p = NAN;
  else if (type == ND_FLOAT64 && isinf (*(gdouble *) p))
    *(gdouble *) p = NAN;
}

/* NonFinite samples in every second quarter of a volume along x, alternating
 * from volume to volume. */
static gfloat
mask (gfloat sample, guint t, gsize x, gsize nx)
{
  const gfloat masks[] = { NAN, INFINITY, -INFINITY };

  return (4 * x / nx + t) % 2 ? masks[t % 3] : sample;
}

gdouble
sample_at (const guint8 *p, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return *p;
    case ND_INT16:
      return *(const gint16 *) p;
    case ND_UINT16:
      return *(const guint16 *) p;
    case ND_FLOAT64:
      return *(const gdouble *) p;
    default:
      return *(const gfloat *) p;
  }
}

static gdouble
largest_sample (const Case *c)
{
  gdouble largest = fabs (c->job.border_value);

  for (gsize t = 0; t <= c->reach.slots; t++)
    for (gsize z = 0; z < c->job.shape.size[2]; z++)
      for (gsize y = 0; y < c->job.shape.size[1]; y++)
        for (gsize i = 0; i < c->in.sample * c->job.shape.size[0];
             i += nd_sample_size (c->job.in_type)) {
          gdouble v = sample_at (c->volumes + t * c->in_bytes + z * c->in.slice
                  + y * c->in.row + i,
              c->job.in_type);

          largest = isfinite (v) ? MAX (largest, fabs (v)) : largest;
        }
  return largest;
}

static gdouble
largest_weights (const Case *c)
{
  gdouble largest = 0;

  for (guint k = 0; k < c->bank->n_filters; k++) {
    gdouble sum = 0;

    for (gsize i = 0; i < nd_filter_count (c->bank->filters[k]); i++)
      sum += fabs (c->bank->filters[k]->coefficients[i]);
    largest = MAX (largest, sum);
  }
  return largest;
}

/* One that filters compute with. */
static NdSampleType
random_type (GRand *r, NdPrecision precision)
{
  const gint n =
      precision == ND_PRECISION_DOUBLE ? ND_SAMPLE_TYPES + 1 : ND_SAMPLE_TYPES;
  const gint i = g_rand_int_range (r, 0, n);

  return i < ND_SAMPLE_TYPES ? (NdSampleType) i : ND_FLOAT64;
}

/* What is made of the responses. Small jobs have no labels, because responses
 * to a border of zeros are equal. Complex banks filter one component. */
static void
init_response (Case *c, GRand *r, const Large *large, gboolean combined,
    const Roles *roles)
{
  static const NdResponse kinds[] = { ND_RESPONSE_MAGNITUDE, ND_RESPONSE_MAX,
    ND_RESPONSE_SUM };

  if (roles->n > 0) {
    c->job.response = ND_RESPONSE_TENSOR;
    roles_set (roles, c->bank);
  } else if (large) {
    c->job.response = large->response;
    c->bank->is_complex = large->is_complex;
  } else if (combined || g_rand_int_range (r, 0, 6) == 0) {
    c->job.response =
        kinds[g_rand_int_range (r, combined, G_N_ELEMENTS (kinds))];
    c->bank->is_complex = c->bank->n_filters % 2 == 0
        && c->job.shape.components == 1 && g_rand_boolean (r);
  }
}

static void
scale_coefficients (Case *c, gdouble gain)
{
  for (guint k = 0; k < c->bank->n_filters; k++)
    for (gsize i = 0; i < nd_filter_count (c->bank->filters[k]); i++)
      c->bank->filters[k]->coefficients[i] *= gain;
}

/* Integers are also stored without a scale: the coefficients have it. */
static void
init_scale (Case *c, GRand *r)
{
  const gboolean scaled = g_rand_boolean (r);

  c->scale = (NdScale){ .gain = 1 };
  if (nd_sample_is_float (c->job.out_type))
    return;
  c->scale.gain = c->exact ? 0.5 : 0.01;
  c->scale.offset = 17;
  if (scaled)
    return;
  scale_coefficients (c, c->scale.gain);
  c->scale = (NdScale){ .gain = 1 };
}

/* The same for tensors of monomials, which are squares of responses: most are
 * in the range of a byte. */
static void
init_tensor_scale (Case *c)
{
  const gboolean scaled = c->scale.gain != 1;
  const gdouble gain = 100 / (largest_sample (c) * largest_weights (c));

  if (nd_sample_is_float (c->job.out_type) || c->bank->is_complex)
    return;
  if (scaled)
    c->scale.gain = gain * gain;
  else
    scale_coefficients (c, gain);
}

/* Samples after rows and slices: a few, none, so many that rows begin at
 * multiples of four samples, or of 16 bytes. */
static void
init_strides (Case *c, GRand *r, const Large *large)
{
  const gsize bytes = nd_sample_size (c->job.in_type);
  const gsize components = c->job.shape.components;
  gsize *size = c->job.shape.size, pads[2];
  guint kind = g_rand_int_range (r, 0, 6);

  c->in.sample = components * bytes;
  /* The copy engine of a GPU copies rows of multiples of 16 bytes. */
  if (large ? size[0] % 16 == 0 : kind < 3) {
    if (!large)
      size[0] = (size[0] + 15) / 16 * 16;
    pads[0] = 16 / bytes * g_rand_int_range (r, 0, 2);
    pads[1] = 16 / bytes * g_rand_int_range (r, 0, 2);
  } else if (large ? large->row > 0 : kind == 3) {
    pads[0] = large
        ? large->row - size[0]
        : 3 - (components * size[0] + 3) % 4 + 4 * g_rand_int_range (r, 0, 2);
    pads[1] = 4 * g_rand_int_range (r, 0, 2);
    c->pads[0] = pads[0];
    c->pads[1] = pads[1];
  } else {
    pads[0] = g_rand_int_range (r, 0, 8);
    pads[1] = g_rand_int_range (r, 0, 8);
  }
  if (!(large && large->row > 0) && g_rand_int_range (r, 0, 4) == 0) {
    c->pads[0] = g_rand_int_range (r, 0, 8);
    c->pads[1] = g_rand_int_range (r, 0, 8);
  }
  nd_shape_samples (&c->job.shape, &c->samples);
  c->in.row = c->in.sample * size[0] + bytes * pads[0];
  c->in.slice = c->in.row * size[1] + bytes * pads[1];
}

/* Sums that were begun ahead are used in windows that move on, most of them in
 * long ones. Half of these are those of a stream without a break. */
static void
init_window (Case *c, GRand *r, gboolean is_long)
{
  if (!is_long && g_rand_boolean (r))
    return;
  c->moves = !is_long && g_rand_int_range (r, 0, 3) > 0
      ? g_rand_int_range (r, 1, 4)
      : g_rand_int_range (r, 4, 13);
  c->is_steady = g_rand_boolean (r);
  c->window_seed = g_rand_int (r);
  c->options.keep = g_rand_int_range (r, 0, 3) == 0;
  for (guint t = 0; t < c->reach.slots; t++)
    c->slots[t] = t;
}

void
case_init (Case *c, GRand *r, gint number, NdPrecision precision,
    gboolean combined)
{
  const Large *large = number < 0 ? NULL : &large_cases[number];
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  static const guint banks[] = { 2, 3, 4, 7, 13, 40 };
  guint n_filters = large ? MAX (large->n_filters, 1)
      : combined || g_rand_int_range (r, 0, 4) == 0
      ? banks[g_rand_int_range (r, 0, G_N_ELEMENTS (banks))]
      : 1;
  const gboolean tensor = large ? large->response == ND_RESPONSE_TENSOR
                                : combined && g_rand_int_range (r, 0, 3) == 0;
  /* All filters have one size, or all but the first, or each its own. */
  guint model = g_rand_int_range (r, 0, 3);
  /* Banks of windows of one volume, and flat ones, have kernels of their own on
   * a GPU. */
  const gboolean line =
      !large && !combined && !tensor && g_rand_int_range (r, 0, 10) == 0;
  guint axes = line ? 1
      : n_filters > 1 || g_rand_int_range (r, 0, 3) == 0
      ? g_rand_int_range (r, 2, 5)
      : ND_AXES;
  Roles roles = { 0 };
  gboolean symmetric = g_rand_int_range (r, 0, 4) == 0;
  const gboolean long_window =
      !large && !line && g_rand_int_range (r, 0, 10) == 0;
  const gsize long_size[ND_AXES] = { 1 + 2 * (gsize) g_rand_int_range (r, 0, 3),
    3, 1 + 2 * (gsize) g_rand_int_range (r, 0, 2),
    g_rand_int_range (r, 6, 12) };
  gsize bytes;

  memset (c, 0, sizeof (*c));
  c->outputs = 1;
  c->exact = g_rand_boolean (r);
  c->job.precision = precision;
  c->job.in_type = random_type (r, precision);
  c->job.out_type = g_rand_boolean (r)
      ? nd_sample_computed (ND_FLOAT64, precision)
      : random_type (r, precision);
  c->nonfinite =
      nd_sample_is_float (c->job.in_type) && g_rand_int_range (r, 0, 3) == 0;
  c->job.border = g_rand_int_range (r, 0, ND_BORDER_END);
  c->job.border_value = g_rand_int_range (r, -3, 10);
  if (precision == ND_PRECISION_DOUBLE && !c->exact)
    c->job.border_value /= 3;
  c->options.border_volumes = g_rand_boolean (r);
  c->job.shape.components = g_rand_int_range (r, 0, 5) == 0 ? 3 : 1;
  c->job.shape.size[0] = g_rand_int_range (r, 1, 80);
  c->job.shape.size[1] = g_rand_int_range (r, 1, 20);
  c->job.shape.size[2] = g_rand_int_range (r, 1, 8);
  /* Several blocks of a transform. */
  if (g_rand_int_range (r, 0, 4) == 0) {
    c->job.shape.size[0] = g_rand_int_range (r, 128, 300);
    c->job.shape.size[1] = g_rand_int_range (r, 1, 100);
    c->job.shape.size[2] = g_rand_int_range (r, 1, 3);
  } else if (combined && axes > 2) {
    c->job.shape.size[2] = g_rand_int_range (r, 1, 40);
  }
  if (line) {
    c->job.shape.size[0] = g_rand_int_range (r, 1, 7000);
    c->job.shape.size[1] = c->job.shape.size[2] = 1;
    c->options.border_volumes = FALSE;
  }
  if (large) {
    c->job.in_type = c->job.out_type = large->type;
    c->job.shape.components = 1;
    memcpy (c->job.shape.size, large->size, sizeof (large->size));
    if (large->filter[ND_AXIS_T] == 1)
      c->options.border_volumes = FALSE;
    c->nonfinite = large->masked;
    if (large->side)
      c->job.border = ND_BORDER_MIRROR;
    if (large->is_zero)
      c->job.border_value = 0;
    /* Kernels that load several samples need a border value of the type. */
    if (large->row > 0)
      c->job.border_value = fabs (c->job.border_value);
  }
  if (tensor) {
    roles_init (&roles, large ? NULL : r,
        large ? (large->filter[ND_AXIS_T] > 1          ? 4
                        : large->filter[ND_AXIS_Z] > 1 ? 3
                                                       : 2)
              : axes,
        large ? large->is_complex : g_rand_boolean (r));
    n_filters = roles.n;
    c->options.border_volumes = FALSE;
    c->job.shape.components = 1;
  }
  for (guint k = 0; k < n_filters; k++) {
    const NdFilter *like =
        k > model && model < 2 ? filters->pdata[model] : NULL;

    g_ptr_array_add (filters,
        random_filter (r, c->exact, symmetric,
            large             ? large->filter
                : long_window ? long_size
                : like        ? like->size
                              : NULL,
            axes, 2500 / n_filters, like,
            long_window || (large && large->is_separable)));
  }
  for (guint k = 2; large && large->are_alike && k < n_filters; k++) {
    const NdFilter *like = filters->pdata[k % 2];
    NdFilter *f = filters->pdata[k];

    memcpy (f->origin, like->origin, sizeof (f->origin));
    memcpy (f->coefficients, like->coefficients,
        nd_filter_count (like) * sizeof (*like->coefficients));
  }
  for (guint k = 0; large && large->side && k < n_filters; k++) {
    NdFilter *f = filters->pdata[k];

    for (guint a = 0; a < ND_AXES; a++)
      f->origin[a] = large->side * (gint) (f->size[a] / 2);
  }
  c->bank = nd_bank_new (filters);
  c->job.bank = c->bank;
  init_response (c, r, large, combined, &roles);
  c->reach = nd_job_reach (&c->job);
  init_scale (c, r);
  init_strides (c, r, large);
  bytes = nd_sample_size (c->job.in_type);
  c->in_bytes = c->in.slice * c->job.shape.size[2];
  c->volumes = g_malloc (c->in_bytes * (c->reach.slots + 1));
  memset (c->volumes, large && large->is_zero ? 0 : GUARD_BYTE,
      c->in_bytes * (c->reach.slots + 1));
  for (guint t = 0; t <= c->reach.slots; t++)
    for (gsize z = 0; z < c->job.shape.size[2]; z++)
      for (gsize y = 0; y < c->job.shape.size[1]; y++)
        for (gsize i = 0; i < c->in.sample * c->job.shape.size[0]; i += bytes) {
          guint8 *p = c->volumes + t * c->in_bytes + z * c->in.slice
              + y * c->in.row + i;

          if (!(large && large->is_zero))
            set_sample (p, c->job.in_type, r, c->exact, c->nonfinite);
          if (large && large->masked)
            *(gfloat *) p =
                mask (*(gfloat *) p, t, i / bytes, c->job.shape.size[0]);
          if (tensor)
            replace_infinite (p, c->job.in_type);
        }
  if (tensor)
    init_tensor_scale (c);
  c->magnitude = largest_sample (c) * largest_weights (c);
  c->job.threshold = large ? large->threshold * c->magnitude : 0;
  c->slots = g_new (gint, c->reach.slots);
  for (guint t = 0; t < c->reach.slots; t++)
    c->slots[t] = c->options.border_volumes && g_rand_int_range (r, 0, 4) == 0
        ? ND_SLOT_BORDER
        : g_rand_int_range (r, 0, c->reach.slots);
  if (!large && c->reach.slots > 1)
    init_window (c, r, long_window);
  c->resident = g_rand_boolean (r) || (large && large->is_resident);
  c->options.in_place =
      c->reach.slots == 1 && !c->options.border_volumes && g_rand_boolean (r);
}

Case
with_outputs (const Case *c, guint n)
{
  Case few = *c;

  few.outputs = MIN (c->outputs, n);
  return few;
}

void
case_clear (Case *c)
{
  nd_bank_free (c->bank);
  g_free (c->volumes);
  g_free (c->slots);
}
