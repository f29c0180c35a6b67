/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/randomcase.h"

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

/* Jobs that are large enough for cases that small jobs do not reach on a GPU:
 * thread blocks with several items of work, runs of several planes, pushes
 * beside a response, more NonFinite samples than the list holds, and banks with
 * more blocks of a transform than the device computes at once. Those in memory
 * of the device are small, so that `fft` computes several at the same time. */
typedef struct
{
  NdSampleType type;
  gsize size[3];
  gsize filter[ND_AXES];
  gboolean masked; /* half of each volume is NaN or infinite */
  guint n_filters; /* 0: one */
  NdResponse response;
  gboolean is_complex;
  gboolean is_separable;
  gboolean is_resident; /* in memory of the device */
  gsize row;            /* samples from row to row in memory; 0: any */
  gdouble threshold;    /* of labels, as a part of Case.magnitude */
  gboolean are_alike;   /* all filters are those of the first response */
  gboolean is_zero;     /* all samples */
  gint
      side; /* -1, 1: filters reach to this side of samples only, and the border
              * is MIRROR, whose samples are farthest from an edge */
} Large;

static const Large larges[] = {
  { ND_UINT8, { 1024, 1024, 5 }, { 3, 3, 3, 3 } },
  { ND_UINT8, { 130, 70, 41 }, { 5, 5, 5, 5 } },
  { ND_UINT8, { 4096, 1024, 1 }, { 5, 5, 1, 1 } },
  { ND_UINT8, { 300, 200, 90 }, { 7, 5, 3, 1 } },
  { ND_FLOAT32, { 100, 90, 80 }, { 7, 7, 7, 5 } },
  { ND_FLOAT32, { 200, 150, 40 }, { 5, 3, 7, 1 } },
  { ND_UINT16, { 150, 140, 30 }, { 3, 5, 3, 3 } },
  { ND_FLOAT32, { 90, 80, 40 }, { 5, 3, 3, 3 }, TRUE },
  { ND_FLOAT32, { 600, 500, 1 }, { 7, 5, 1, 1 }, TRUE },
  { ND_FLOAT32, { 100, 60, 50 }, { 20, 19, 1, 1 }, TRUE },
  { ND_FLOAT32, { 96, 90, 70 }, { 7, 8, 9, 1 } },
  { ND_FLOAT32, { 208, 100, 40 }, { 3, 5, 7, 1 }, TRUE },
  { ND_UINT8, { 336, 130, 90 }, { 5, 3, 5, 1 } },
  { ND_FLOAT32, { 130, 70, 20 }, { 33, 3, 18, 1 }, TRUE },
  { ND_UINT8, { 150, 90, 16 }, { 21, 3, 19, 1 }, FALSE, 2 },
  { ND_UINT8, { 130, 33, 130 }, { 17, 1, 17, 1 }, FALSE, 3 },
  { ND_FLOAT32, { 130, 33, 120 }, { 17, 1, 16, 1 }, TRUE, 2 },
  { ND_UINT16, { 1100, 1000, 1 }, { 17, 15, 1, 1 }, FALSE, 2 },
  { ND_FLOAT32, { 70, 60, 40 }, { 2, 2, 2, 14 }, TRUE, 20 },
  { ND_UINT8, { 130, 33, 100 }, { 17, 3, 17, 1 }, FALSE, 4, ND_RESPONSE_SUM,
      TRUE },
  { ND_UINT8, { 130, 33, 220 }, { 17, 1, 17, 1 }, FALSE, 3,
      ND_RESPONSE_ARGMAX },
  { ND_UINT16, { 130, 33, 100 }, { 17, 4, 9, 1 }, FALSE, 6, ND_RESPONSE_MAX,
      TRUE },
  { ND_FLOAT32, { 150, 110, 96 }, { 3, 3, 4, 1 }, FALSE, 12, ND_RESPONSE_SUM,
      TRUE },
  { ND_FLOAT32, { 150, 110, 96 }, { 3, 4, 3, 1 }, TRUE, 12, ND_RESPONSE_MAX,
      TRUE },
  { ND_UINT8, { 150, 100, 95 }, { 3, 5, 3, 1 }, FALSE, 11, ND_RESPONSE_ARGMAX },
  { ND_UINT8, { 130, 60, 100 }, { 5, 3, 8, 1 }, FALSE, 4, ND_RESPONSE_SUM,
      TRUE },
  { ND_UINT8, { 130, 60, 100 }, { 5, 3, 9, 1 }, FALSE, 4, ND_RESPONSE_SUM,
      TRUE },
  { ND_FLOAT32, { 600, 500, 1 }, { 5, 7, 1, 1 }, TRUE, 4, ND_RESPONSE_SUM,
      TRUE },
  { ND_UINT8, { 600, 500, 1 }, { 5, 7, 1, 1 }, FALSE, 7, ND_RESPONSE_ARGMAX },
  { ND_FLOAT32, { 100, 70, 40 }, { 3, 4, 3, 1 }, TRUE, 11, ND_RESPONSE_ARGMAX,
      .threshold = 0.05 },
  { ND_UINT16, { 70, 50, 40 }, { 5, 3, 7, 1 }, FALSE, 34, ND_RESPONSE_ARGMAX,
      TRUE, .threshold = 0.1 },
  { ND_UINT8, { 70, 33, 40 }, { 3, 3, 9, 1 }, FALSE, 40, ND_RESPONSE_ARGMAX },
  { ND_UINT8, { 70, 33, 40 }, { 3, 3, 3, 1 }, FALSE, 10, ND_RESPONSE_ARGMAX,
      TRUE, .are_alike = TRUE },
  { ND_FLOAT32, { 150, 100, 1 }, { 5, 7, 1, 1 }, FALSE, 34, ND_RESPONSE_ARGMAX,
      TRUE, .are_alike = TRUE },
  { ND_FLOAT32, { 70, 33, 40 }, { 3, 3, 3, 1 }, FALSE, 17, ND_RESPONSE_ARGMAX,
      .is_zero = TRUE },
  { ND_FLOAT32, { 170, 60, 150 }, { 7, 7, 7, 1 }, .is_separable = TRUE },
  { ND_UINT8, { 300, 70, 90 }, { 5, 7, 6, 1 }, .is_separable = TRUE },
  { ND_FLOAT32, { 200, 150, 1 }, { 65, 5, 1, 1 } },
  { ND_UINT8, { 150, 200, 1 }, { 4, 65, 1, 1 }, FALSE, 2 },
  { ND_FLOAT32, { 528, 300, 1 }, { 33, 20, 1, 1 }, TRUE },
  { ND_FLOAT32, { 1008, 1100, 3 }, { 33, 3, 1, 1 } },
  { ND_UINT8, { 1008, 600, 3 }, { 3, 33, 1, 1 } },
  { ND_UINT16, { 500, 300, 1 }, { 21, 29, 1, 1 }, FALSE, 2 },
  { ND_FLOAT32, { 64, 50, 40 }, { 5, 3, 7, 1 }, TRUE, .is_resident = TRUE },
  { ND_UINT8, { 96, 40, 30 }, { 3, 7, 5, 1 }, .is_resident = TRUE },
  { ND_UINT8, { 144, 130, 2 }, { 3, 33, 1, 1 }, .side = -1 },
  { ND_FLOAT32, { 144, 130, 2 }, { 33, 33, 1, 1 }, .side = 1 },
  { ND_FLOAT32, { 160, 280, 2 }, { 39, 18, 3, 1 }, TRUE, .is_separable = TRUE },
  { ND_UINT8, { 256, 300, 1 }, { 17, 13, 1, 1 }, .is_separable = TRUE },
  { ND_INT16, { 304, 270, 3 }, { 21, 9, 5, 1 }, .is_separable = TRUE },
  /* Rows that begin at multiples of four samples and end in between. */
  { ND_FLOAT32, { 35, 600, 24 }, { 5, 5, 1, 1 }, .is_separable = TRUE,
      .is_resident = TRUE, .row = 36 },
  { ND_UINT8, { 39, 700, 10 }, { 13, 9, 1, 1 }, .is_separable = TRUE,
      .is_resident = TRUE, .row = 40 },
  { ND_UINT16, { 43, 400, 8 }, { 21, 5, 1, 2 }, .is_separable = TRUE,
      .is_resident = TRUE, .row = 48 },
  { ND_FLOAT32, { 34, 500, 9 }, { 5, 7, 11, 1 }, .is_separable = TRUE,
      .is_resident = TRUE, .row = 40 },
  { ND_UINT8, { 38, 300, 30 }, { 13, 3, 12, 1 }, .is_separable = TRUE,
      .is_resident = TRUE, .row = 44 },
};

guint
case_larges (void)
{
  return G_N_ELEMENTS (larges);
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
init_response (Case *c, GRand *r, const Large *large, gboolean combined)
{
  static const NdResponse kinds[] = { ND_RESPONSE_MAGNITUDE, ND_RESPONSE_MAX,
    ND_RESPONSE_SUM };

  if (large) {
    c->job.response = large->response;
    c->bank->is_complex = large->is_complex;
  } else if (combined || g_rand_int_range (r, 0, 6) == 0) {
    c->job.response =
        kinds[g_rand_int_range (r, combined, G_N_ELEMENTS (kinds))];
    c->bank->is_complex = c->bank->n_filters % 2 == 0
        && c->job.shape.components == 1 && g_rand_boolean (r);
  }
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
  const Large *large = number < 0 ? NULL : &larges[number];
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  static const guint banks[] = { 2, 3, 4, 7, 13, 40 };
  guint n_filters = large ? MAX (large->n_filters, 1)
      : combined || g_rand_int_range (r, 0, 4) == 0
      ? banks[g_rand_int_range (r, 0, G_N_ELEMENTS (banks))]
      : 1;
  /* All filters have one size, or all but the first, or each its own. */
  guint model = g_rand_int_range (r, 0, 3);
  /* Banks of windows of one volume, and flat ones, have kernels of their own on
   * a GPU. */
  guint axes = n_filters > 1 || g_rand_int_range (r, 0, 3) == 0
      ? g_rand_int_range (r, 2, combined ? 4 : 5)
      : ND_AXES;
  gboolean symmetric = g_rand_int_range (r, 0, 4) == 0;
  const gboolean long_window = !large && g_rand_int_range (r, 0, 10) == 0;
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
  c->job.accuracy = g_rand_boolean (r) ? ND_ACCURACY_SINGLE : ND_ACCURACY_FAST;
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
  init_response (c, r, large, combined);
  c->reach = nd_job_reach (&c->job);
  c->scale.gain = nd_sample_is_float (c->job.out_type) ? 1
      : c->exact                                       ? 0.5
                                                       : 0.01;
  c->scale.offset = nd_sample_is_float (c->job.out_type) ? 0 : 17;
  /* Integers are also stored without a scale: the coefficients have it. */
  if (!nd_sample_is_float (c->job.out_type) && g_rand_boolean (r)) {
    for (guint k = 0; k < n_filters; k++)
      for (gsize i = 0; i < nd_filter_count (c->bank->filters[k]); i++)
        c->bank->filters[k]->coefficients[i] *= c->scale.gain;
    c->scale.gain = 1;
    c->scale.offset = 0;
  }

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
        }
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
