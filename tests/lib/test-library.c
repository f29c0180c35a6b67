/* The library by its public header alone: arrays of every layout, streams,
 * blocks and errors. Results are compared with sums in double precision. With
 * the environment variable ND_DEVICES, the random cases run on these devices.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <ndconv/ndconv.h>
#include <sched.h>
#include <string.h>

#include "tests/sanitizers.h"

#define CASES 120

static const gchar *const borders[] = { "constant", "nearest", "reflect",
  "mirror", "wrap" };
static const gchar *const types[] = { "uint8", "int16", "uint16", "float32",
  "int8", "int32", "uint32" };
static const gsize type_sizes[] = { 1, 2, 2, 4, 1, 4, 4 };
extern const gint nd_test_codes[];

static void
set (NdSettings *settings, const gchar *name, const gchar *value)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (nd_settings_set (settings, name, value, &error));
  g_assert_no_error (error);
}

static NdFilters *
new_filters (const gchar *text, const NdSettings *settings)
{
  g_autoptr (GError) error = NULL;
  NdFilters *filters = nd_filters_new (text, settings, NULL, &error);

  g_assert_no_error (error);
  return filters;
}

/* --- a random case ---------------------------------------------------------*/

typedef struct
{
  gsize n[4], k[4]; /* of the array, of the filters */
  gint origin[4];
  guint border, time_border, type;
  guint filters;
  gdouble border_value;
  gdouble *w;
  NdArray in, out;
  guint8 *in_memory, *out_memory;
  NdSettings *settings;
  NdFilters *bank;
} Case;

/* A layout in which axes, components and responses are in any order, some of
 * them backwards, with gaps. Returns the memory. */
static guint8 *
lay_out (NdArray *array, gsize sample, GRand *r)
{
  gssize *strides[6] = { &array->strides[0], &array->strides[1],
    &array->strides[2], &array->strides[3], &array->component_stride,
    &array->response_stride };
  const gsize sizes[6] = { array->size[0], array->size[1], array->size[2],
    array->size[3], array->components, array->responses };
  guint order[6] = { 4, 0, 1, 2, 5, 3 };
  gsize bytes = sample, start = 0;
  guint8 *memory;

  for (guint i = 0; i < 6 && g_rand_int_range (r, 0, 2); i++) {
    const guint j = g_rand_int_range (r, 0, 6), swap = order[i];

    order[i] = order[j];
    order[j] = swap;
  }
  for (guint i = 0; i < 6; i++) {
    const guint a = order[i];
    const gboolean backwards = g_rand_int_range (r, 0, 4) == 0;

    *strides[a] = backwards ? -(gssize) bytes : (gssize) bytes;
    if (backwards)
      start += (sizes[a] - 1) * bytes;
    bytes = bytes * sizes[a] + g_rand_int_range (r, 0, 3) / 2 * sample;
  }
  memory = g_malloc0 (bytes);
  array->data = memory + start;
  return memory;
}

static guint8 *
at (const NdArray *a, const gsize i[4], gsize c, gsize k)
{
  guint8 *p = a->data;

  for (guint j = 0; j < 4; j++)
    p += (gssize) i[j] * a->strides[j];
  return p + (gssize) c * a->component_stride + (gssize) k * a->response_stride;
}

static gdouble
load (const guint8 *p, guint type)
{
  switch (type) {
    case 0:
      return *p;
    case 1:
      return *(const gint16 *) p;
    case 2:
      return *(const guint16 *) p;
    case 3:
      return *(const gfloat *) p;
    case 4:
      return *(const gint8 *) p;
    case 5:
      return *(const gint32 *) p;
  }
  return *(const guint32 *) p;
}

static void
store (guint8 *p, guint type, gint value)
{
  switch (type) {
    case 0:
      *p = value;
      break;
    case 1:
      *(gint16 *) p = value;
      break;
    case 2:
      *(guint16 *) p = value;
      break;
    case 3:
      *(gfloat *) p = value;
      break;
    case 4:
      *(gint8 *) p = value;
      break;
    case 5:
      *(gint32 *) p = value;
      break;
    default:
      *(guint32 *) p = value;
  }
}

#define EACH_SAMPLE(i, size)                   \
  for (i[3] = 0; i[3] < (size)[3]; i[3]++)     \
    for (i[2] = 0; i[2] < (size)[2]; i[2]++)   \
      for (i[1] = 0; i[1] < (size)[1]; i[1]++) \
        for (i[0] = 0; i[0] < (size)[0]; i[0]++)

static void
make_filters (Case *c, GRand *r)
{
  const gsize count = c->k[0] * c->k[1] * c->k[2] * c->k[3] * c->filters;
  g_autofree gchar *origin = g_strdup_printf ("%d:%d:%d:%d", c->origin[0],
      c->origin[1], c->origin[2], c->origin[3]);
  g_autoptr (GError) error = NULL;

  c->w = g_new (gdouble, count);
  for (gsize i = 0; i < count; i++)
    c->w[i] = g_rand_int_range (r, -4, 5);
  set (c->settings, "axes", "xyzt");
  set (c->settings, "origin", origin);
  c->bank = nd_filters_new_from_arrays (c->filters, c->k, c->w, NULL,
      c->settings, &error);
  g_assert_no_error (error);
}

static void
case_init (Case *c, GRand *r)
{
  static const gsize most[] = { 9, 7, 5, 6 };
  const gint range[] = { 0, 20 };
  g_autofree gchar *value = NULL;
  g_autoptr (GError) error = NULL;
  gsize i[4];

  *c = (Case){ .settings = nd_settings_new () };
  for (guint a = 0; a < 4; a++) {
    c->n[a] = g_rand_int_range (r, 1, most[a] + 1);
    c->k[a] = g_rand_int_range (r, 1, 5);
    c->origin[a] =
        g_rand_int_range (r, -(gint) (c->k[a] / 2), (c->k[a] - 1) / 2 + 1);
  }
  c->border = g_rand_int_range (r, 0, 5);
  c->time_border = g_rand_int_range (r, 0, 5);
  c->type = g_rand_int_range (r, 0, G_N_ELEMENTS (types));
  c->filters = g_rand_int_range (r, 1, 3);
  c->border_value = g_rand_int_range (r, 0, 9);
  make_filters (c, r);
  value = g_strdup_printf ("%g", c->border_value);
  set (c->settings, "border", borders[c->border]);
  set (c->settings, "time-border", borders[c->time_border]);
  set (c->settings, "border-value", value);
  set (c->settings, "output-type", "float32");
  set (c->settings, "backend", g_getenv ("ND_DEVICES") ? "cuda" : "cpu");
  set (c->settings, "devices", g_getenv ("ND_DEVICES"));
  set (c->settings, "method", g_rand_int_range (r, 0, 4) ? "direct" : "auto");

  nd_array_init (&c->in, NULL, types[c->type],
      g_rand_int_range (r, 0, 3) ? 1 : 2, c->n);
  c->in_memory = lay_out (&c->in, type_sizes[c->type], r);
  EACH_SAMPLE (i, c->n)
  for (gsize x = 0; x < c->in.components; x++)
    store (at (&c->in, i, x, 0), c->type,
        g_rand_int_range (r, range[0], range[1]));
  g_assert_true (nd_convolve_init_output (c->bank, c->settings, &c->in, &c->out,
      &error));
  g_assert_no_error (error);
  g_assert_cmpstr (c->out.type, ==, "float32");
  g_assert_cmpuint (c->out.responses, ==, c->filters);
  c->out_memory = lay_out (&c->out, 4, r);
}

static void
case_clear (Case *c)
{
  g_free (c->w);
  g_free (c->in_memory);
  g_free (c->out_memory);
  nd_filters_free (c->bank);
  nd_settings_free (c->settings);
}

/* The index of the sample that replaces sample @i of an axis of @n, found step
 * by step; -1: the border value. */
static gssize
walk (guint border, gssize i, gssize n)
{
  while (i < 0 || i >= n) {
    switch (border) {
      case 0:
        return -1;
      case 1:
        i = i < 0 ? 0 : n - 1;
        break;
      case 2:
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
        break;
      case 3:
        i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
        break;
      default:
        i += i < 0 ? n : -n;
    }
  }
  return i;
}

static gdouble
expected (const Case *c, const gsize i[4], gsize component, gsize filter)
{
  const gdouble *w = c->w + filter * c->k[0] * c->k[1] * c->k[2] * c->k[3];
  gdouble sum = 0;
  gsize m[4];

  EACH_SAMPLE (m, c->k)
  {
    gsize from[4];
    gboolean outside = FALSE;

    for (guint a = 0; a < 4; a++) {
      const gssize offset =
          (gssize) (c->k[a] / 2) + c->origin[a] - (gssize) m[a];
      const gssize found = walk (a == 3 ? c->time_border : c->border,
          (gssize) i[a] + offset, c->n[a]);

      outside = outside || found < 0;
      from[a] = found;
    }
    sum += *w++
        * (outside ? c->border_value
                   : load (at (&c->in, from, component, 0), c->type));
  }
  return sum;
}

static void
check_array (const Case *c, gdouble tolerance)
{
  gsize i[4];

  EACH_SAMPLE (i, c->n)
  for (gsize x = 0; x < c->in.components; x++)
    for (gsize k = 0; k < c->filters; k++)
      g_assert_cmpfloat_with_epsilon (*(const gfloat *) at (&c->out, i, x, k),
          expected (c, i, x, k), tolerance);
}

static void
count_progress (gsize done, gsize total, gpointer data)
{
  gsize *last = data;

  g_assert_cmpuint (done, ==, *last + 1);
  g_assert_cmpuint (done, <=, total);
  *last = done;
}

/* Volume @t of @array. */
static NdArray
volume_of (const NdArray *array, gsize t)
{
  NdArray volume = *array;

  volume.data = (guint8 *) array->data + (gssize) t * array->strides[3];
  volume.size[3] = 1;
  return volume;
}

static void
take_ready (NdStream *stream, const Case *c, gsize *taken)
{
  g_autoptr (GError) error = NULL;

  while (nd_stream_ready (stream)) {
    const NdArray out = volume_of (&c->out, (*taken)++);

    g_assert_true (nd_stream_take (stream, &out, &error));
    g_assert_no_error (error);
  }
}

/* The same outputs from a stream, twice, as after a flush nothing is left. */
static void
check_stream (Case *c, gdouble tolerance)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdStream) stream =
      nd_stream_new (c->bank, c->settings, &c->in, NULL, &error);
  gint low[4], high[4];

  if (c->time_border == 4) {
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, "time-border=wrap"));
    return;
  }
  g_assert_no_error (error);
  nd_filters_get_reach (c->bank, low, high);
  g_assert_cmpint (nd_stream_get_delay (stream), >=, high[3]);
  for (guint round = 0; round < 2; round++) {
    gsize taken = 0;

    for (gsize t = 0; t < c->n[3]; t++) {
      const NdArray volume = volume_of (&c->in, t);

      g_assert_true (nd_stream_push (stream, &volume, &error));
      g_assert_no_error (error);
      take_ready (stream, c, &taken);
    }
    if (round == 0) {
      nd_stream_flush (stream);
      continue;
    }
    nd_stream_end (stream);
    take_ready (stream, c, &taken);
    g_assert_cmpuint (taken, ==, c->n[3]);
  }
  g_assert_cmpuint (nd_stream_get_pushed (stream), ==, 2 * c->n[3]);
  check_array (c, tolerance);
}

/* The blocks cover the array once, and each alone gives its part. */
static void
check_blocks (Case *c, GRand *r, gdouble tolerance)
{
  g_autofree guint8 *seen = g_malloc0 (c->n[0] * c->n[1] * c->n[2] * c->n[3]);
  g_autofree NdBlock *blocks = NULL;
  g_autoptr (GError) error = NULL;
  gsize block[4], chunk[4], n, i[4];

  for (guint a = 0; a < 4; a++) {
    block[a] = g_rand_int_range (r, 1, 5);
    chunk[a] = g_rand_int_range (r, 1, 4);
  }
  blocks =
      nd_plan_blocks (c->bank, c->settings, c->n, block, chunk, &n, &error);
  g_assert_no_error (error);
  for (gsize b = 0; b < n; b++) {
    const NdBlock *p = &blocks[b];
    NdArray in = c->in, out;
    g_autofree guint8 *memory = NULL;
    gsize bytes;

    for (guint a = 0; a < 4; a++) {
      g_assert_cmpuint (p->out_start[a] % chunk[a], ==, 0);
      g_assert_cmpuint (p->out_size[a], >, 0);
      g_assert_cmpuint (p->out_size[a], >=,
          MIN (block[a], c->n[a] - p->out_start[a]));
      g_assert_cmpuint (p->in_start[a], <=, p->out_start[a]);
      g_assert_cmpuint (p->in_start[a] + p->in_size[a], <=, c->n[a]);
      in.data = (guint8 *) in.data + (gssize) p->in_start[a] * in.strides[a];
      in.size[a] = p->in_size[a];
    }
    nd_convolve_init_output (c->bank, c->settings, &in, &out, NULL);
    bytes = out.strides[3] * out.size[3];
    out.data = memory = g_malloc (bytes);
    g_assert_true (nd_convolve (c->bank, c->settings, &in, &out, NULL, &error));
    EACH_SAMPLE (i, p->out_size)
    {
      gsize from[4], to[4];

      for (guint a = 0; a < 4; a++) {
        to[a] = p->out_start[a] + i[a];
        from[a] = to[a] - p->in_start[a];
      }
      seen[((to[3] * c->n[2] + to[2]) * c->n[1] + to[1]) * c->n[0] + to[0]]++;
      for (gsize x = 0; x < c->in.components; x++)
        for (gsize k = 0; k < c->filters; k++)
          g_assert_cmpfloat_with_epsilon (*(const gfloat *) at (&out, from, x,
                                              k),
              expected (c, to, x, k), tolerance);
    }
  }
  for (gsize j = 0; j < c->n[0] * c->n[1] * c->n[2] * c->n[3]; j++)
    g_assert_cmpuint (seen[j], ==, 1);
}

static void
test_random (void)
{
  const gchar *given = g_getenv ("ND_SEED");
  const guint32 seed =
      given ? g_ascii_strtoull (given, NULL, 10) : g_random_int ();
  g_autoptr (GRand) r = g_rand_new_with_seed (seed);

  g_test_message ("seed %u; ND_SEED=%u repeats it", seed, seed);
  for (guint i = 0; i < CASES; i++) {
    g_autoptr (GError) error = NULL;
    gsize done = 0;
    const NdWatch watch = { .progress = count_progress, .data = &done };
    /* fft, which auto may choose, is not exact. */
    const gdouble tolerance = 2e-2;
    Case c;

    case_init (&c, r);
    g_assert_true (nd_convolve (c.bank, c.settings, &c.in, &c.out, &watch,
        &error));
    g_assert_no_error (error);
    g_assert_cmpuint (done, ==, c.n[3]);
    check_array (&c, tolerance);
    memset (c.out_memory, 0, 1);
    check_stream (&c, tolerance);
    check_blocks (&c, r, tolerance);
    case_clear (&c);
  }
}

/* --- arrays ----------------------------------------------------------------*/

static void
test_in_place (void)
{
  static const gchar *const time_borders[] = { "reflect", "wrap" };
  gsize size[4] = { 8, 7, 6, 5 };
  gfloat samples[8 * 7 * 6 * 5], copy[8 * 7 * 6 * 5], out[8 * 7 * 6 * 5];
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) filters = NULL;
  NdArray a, b;

  set (settings, "axes", "xyzt");
  filters = new_filters ("box,size=3", settings);
  for (guint t = 0; t < 2; t++) {
    g_autoptr (GError) error = NULL;
    gboolean ok;

    set (settings, "time-border", time_borders[t]);
    for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
      samples[i] = copy[i] = i * 7 % 31;
    nd_array_init (&a, copy, "float32", 1, size);
    nd_array_init (&b, out, "float32", 1, size);
    g_assert_true (nd_convolve (filters, settings, &a, &b, NULL, &error));
    nd_array_init (&a, samples, "float32", 1, size);
    ok = nd_convolve (filters, settings, &a, &a, NULL, &error);
    if (t == 1) {
      g_assert_false (ok);
      g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
      continue;
    }
    g_assert_no_error (error);
    g_assert_cmpmem (samples, sizeof (samples), out, sizeof (out));
  }
}

/* A half that is 2 is 0x4000. */
static void
test_half (void)
{
  const gsize size[4] = { 3, 1, 1, 1 };
  guint16 in[3] = { 0x3c00, 0x4000, 0x4200 }, out[3];
  g_autoptr (NdFilters) filters =
      new_filters ("coefficients,size=1,values=2", NULL);
  g_autoptr (GError) error = NULL;
  NdArray a, b;

  nd_array_init (&a, in, "float16", 1, size);
  nd_array_init (&b, out, "float16", 1, size);
  g_assert_true (nd_convolve (filters, NULL, &a, &b, NULL, &error));
  g_assert_cmphex (out[0], ==, 0x4000);
  g_assert_cmphex (out[1], ==, 0x4400);
  g_assert_cmphex (out[2], ==, 0x4600);
}

/* A third, of which float32 holds 24 bits, and its sums. */
static void
test_double (void)
{
  static const gchar *const methods[] = { "direct", "separable", "fft",
    "reference" };
  const gsize size[4] = { 4, 1, 1, 1 };
  gdouble in[4] = { 1, 0x1p-40, -3, 1e9 }, out[4];
  g_autoptr (NdFilters) filters =
      new_filters ("coefficients,size=1,values=0.3333333333333333", NULL);
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (GError) error = NULL;
  NdArray a, b;

  nd_array_init (&a, in, "float64", 1, size);
  nd_array_init (&b, out, "float64", 1, size);
  g_assert_true (nd_settings_set (settings, "precision", "double", &error));
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    g_assert_true (nd_settings_set (settings, "method", methods[m], &error));
    g_assert_true (nd_convolve (filters, settings, &a, &b, NULL, &error));
    g_assert_no_error (error);
    for (guint i = 0; i < 4; i++)
      g_assert_cmpfloat_with_epsilon (out[i], in[i] * 0.3333333333333333,
          1e-14 * (strcmp (methods[m], "fft") == 0 ? 1e9 : fabs (in[i])));
  }
  /* Rounded to float32 in single precision. */
  g_assert_true (nd_settings_set (settings, "precision", "single", &error));
  g_assert_true (nd_settings_set (settings, "method", "direct", &error));
  g_assert_true (nd_convolve (filters, settings, &a, &b, NULL, &error));
  g_assert_cmpfloat (out[0], ==, 1.0f * (gfloat) 0.3333333333333333);
}

static void
test_no_volumes (void)
{
  const gsize size[4] = { 3, 2, 1, 0 };
  g_autoptr (NdFilters) filters = new_filters ("box,size=3", NULL);
  g_autoptr (GError) error = NULL;
  NdArray a;

  nd_array_init (&a, NULL, "float32", 1, size);
  g_assert_true (nd_convolve (filters, NULL, &a, &a, NULL, &error));
  g_assert_no_error (error);
}

static void
test_cores (void)
{
  cpu_set_t all, one;

  g_assert_cmpuint (nd_count_cores (), >=, 1);
  g_assert_cmpint (sched_getaffinity (0, sizeof (all), &all), ==, 0);
  g_assert_cmpuint (nd_count_cores (), <=, CPU_COUNT (&all));
  CPU_ZERO (&one);
  CPU_SET (sched_getcpu (), &one);
  g_assert_cmpint (sched_setaffinity (0, sizeof (one), &one), ==, 0);
  g_assert_cmpuint (nd_count_cores (), ==, 1);
  g_assert_cmpint (sched_setaffinity (0, sizeof (all), &all), ==, 0);
}

static void
cancel (gsize done, gsize total, gpointer data)
{
  g_assert_cmpuint (done, ==, 1);
  g_atomic_int_set ((gint *) data, 1);
}

static void
test_cancel (void)
{
  const gsize size[4] = { 4, 4, 1, 9 };
  gfloat in[16 * 9] = { 0 }, out[16 * 9];
  g_autoptr (NdFilters) filters = new_filters ("box,size=3", NULL);
  g_autoptr (GError) error = NULL;
  gint cancelled = 0;
  const NdWatch watch = { &cancelled, cancel, &cancelled };
  NdArray a, b;

  nd_array_init (&a, in, "float32", 1, size);
  nd_array_init (&b, out, "float32", 1, size);
  g_assert_false (nd_convolve (filters, NULL, &a, &b, &watch, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (nd_filters_new ("quadrature,size=9", NULL, &cancelled,
      &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_CANCELLED);
}

typedef struct
{
  NdStream *stream; /* or */
  gint *cancelled;
  const volatile gfloat *out;
} Waiting;

/* Cancels when the first output was written. The thread sanitizer would report
 * that this looks at an output before it is complete. */
__attribute__ ((no_sanitize ("thread"))) static gpointer
cancel_when_begun (gpointer data)
{
  const Waiting *waiting = data;

  while (isnan (*waiting->out))
    g_usleep (100);
  if (waiting->stream)
    nd_stream_cancel (waiting->stream);
  else
    g_atomic_int_set (waiting->cancelled, 1);
  return NULL;
}

#define LONG 96 /* samples along an axis of a volume that takes minutes */

static void
fill_nan (gfloat *out)
{
  for (gsize i = 0; i < LONG * LONG * LONG; i++)
    out[i] = NAN;
}

static void
expect_cancelled (gboolean ok, GError **error, const gfloat *out)
{
  g_assert_false (ok);
  g_assert_error (*error, ND_ERROR, ND_ERROR_CANCELLED);
  g_clear_error (error);
  g_assert_true (isnan (out[LONG * LONG * LONG - 1]));
}

/* In the midst of a volume: the last outputs are not computed. */
static void
test_cancel_volume (void)
{
  static const gchar *const methods[] = { "direct", "reference" };
  const gsize size[4] = { LONG, LONG, LONG, 1 };
  g_autofree gfloat *in = g_new0 (gfloat, LONG * LONG * LONG);
  g_autofree gfloat *out = g_new (gfloat, LONG * LONG * LONG);
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) filters = new_filters ("box,size=61", settings);
  NdArray a, b;

  nd_array_init (&a, in, "float32", 1, size);
  nd_array_init (&b, out, "float32", 1, size);
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    gint cancelled = 0;
    const NdWatch watch = { &cancelled };
    Waiting waiting = { NULL, &cancelled, out };
    g_autoptr (NdStream) stream = NULL;
    g_autoptr (GError) error = NULL;
    GThread *thread;

    set (settings, "method", methods[i]);
    fill_nan (out);
    thread = g_thread_new ("cancel", cancel_when_begun, &waiting);
    expect_cancelled (nd_convolve (filters, settings, &a, &b, &watch, &error),
        &error, out);
    g_thread_join (thread);

    stream = nd_stream_new (filters, settings, &a, NULL, &error);
    g_assert_no_error (error);
    g_assert_true (nd_stream_push (stream, &a, &error));
    waiting.stream = stream;
    fill_nan (out);
    thread = g_thread_new ("cancel", cancel_when_begun, &waiting);
    expect_cancelled (nd_stream_take (stream, &b, &error), &error, out);
    g_thread_join (thread);
    expect_cancelled (nd_stream_push (stream, &a, &error), &error, out);
    g_assert_cmpuint (nd_stream_get_taken (stream), ==, 0);
    nd_stream_flush (stream);
    g_assert_true (nd_stream_push (stream, &a, &error));
  }
}

/* --- filters ---------------------------------------------------------------*/

static void
test_filters (void)
{
  const gsize size[4] = { 3, 1, 1, 1 };
  const gdouble real[] = { 1, 2, 3, 4, 5, 6 },
                imaginary[] = { -1, 0, 1, 0, 0, 2 };
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) bank = NULL, text = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *said = NULL;
  const gdouble *re, *im;
  gsize got[4];
  gint origin[4], low[4], high[4];

  set (settings, "origin", "1");
  bank =
      nd_filters_new_from_arrays (2, size, real, imaginary, settings, &error);
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS); /* size 1 along y, z */
  g_clear_error (&error);
  set (settings, "origin", "1:0:0");
  bank =
      nd_filters_new_from_arrays (2, size, real, imaginary, settings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (nd_filters_get_count (bank), ==, 2);
  g_assert_true (nd_filters_are_complex (bank));
  nd_filters_get (bank, 1, got, origin, &re, &im);
  g_assert_cmpuint (got[0], ==, 3);
  g_assert_cmpint (origin[0], ==, 1);
  g_assert_cmpmem (re, 24, real + 3, 24);
  g_assert_cmpmem (im, 24, imaginary + 3, 24);
  nd_filters_get_reach (bank, low, high);
  g_assert_cmpint (low[0], ==, 0);
  g_assert_cmpint (high[0], ==, 2);

  set (settings, "origin", NULL);
  set (settings, "axes", "xyzt");
  set (settings, "causal", "true");
  text = new_filters ("gaussian,sigma=1; box,size=3", settings);
  g_assert_cmpuint (nd_filters_get_count (text), ==, 2);
  nd_filters_get_reach (text, low, high);
  g_assert_cmpint (high[3], ==, 0);
  nd_filters_get (text, 1, got, NULL, NULL, &im);
  g_assert_null (im);
  said = nd_filters_describe (text);
  g_assert_nonnull (strstr (said, "9:9:9:9"));
  g_assert_true (g_strv_contains (nd_list_designs (), "gaussian"));
}

/* --- errors ----------------------------------------------------------------*/

static void
expect (GError **error, gint code, const gchar *part)
{
  g_assert_error (*error, ND_ERROR, code);
  if (!strstr ((*error)->message, part))
    g_error ("no '%s' in: %s", part, (*error)->message);
  g_clear_error (error);
}

static void
test_setting_errors (void)
{
  static const struct
  {
    const gchar *name, *value, *part;
  } wrong[] = { { "bordr", "wrap", "There is no setting 'bordr'" },
    { "border", "zero", "one of constant, nearest" },
    { "method", "fastest", "one of auto, direct, separable" },
    { "output-type", "int64", "one of same, uint8" },
    { "gain", "much", "finite number" }, { "gain", "nan", "finite number" },
    { "gain", "", "finite number" },
    { "border-value", "1e39", "to 3.40282e+38" },
    { "n-threads", "-1", "from 0 to 256" },
    { "memory-limit", "-1", "an integer from 0" },
    { "memory-limit", "4G", "in bytes" }, { "threshold", "-1", "from 0" },
    { "backend", "gpu", "one of auto, cpu, cuda" },
    { "devices", "0,,1", "has an empty part" },
    { "devices", "1,1", "names device 1 twice" },
    { "devices", "first", "is not the number of a device" },
    { "causal", "yes", "true or false" }, { "axes", "zyx", "xyzt" },
    { "accuracy", "double", "one of single, fast" },
    { "precision", "half", "one of single, double" } };
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_assert_false (nd_settings_set (settings, wrong[i].name, wrong[i].value,
        &error));
    expect (&error, ND_ERROR_SETTINGS, wrong[i].part);
  }
}

static void
test_border_indices (void)
{
  g_autoptr (GError) error = NULL;
  gssize at[31];

  for (guint b = 0; b < G_N_ELEMENTS (borders); b++)
    for (gssize size = 1; size < 7; size++) {
      g_assert_true (nd_border_get_indices (borders[b], size, -12,
          G_N_ELEMENTS (at), at, &error));
      g_assert_no_error (error);
      for (guint i = 0; i < G_N_ELEMENTS (at); i++)
        g_assert_cmpint (at[i], ==, walk (b, (gssize) i - 12, size));
    }
  g_assert_false (nd_border_get_indices ("none", 1, 0, 1, at, &error));
  expect (&error, ND_ERROR_SETTINGS, "one of constant");
}

static void
test_filter_errors (void)
{
  const gsize none[4] = { 3, 0, 1, 1 }, many[4] = { 1 << 20, 1 << 20, 1, 1 },
              one[4] = { 1, 1, 1, 1 };
  const gdouble nan = NAN;
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_filters_new ("gausian,sigma=1", NULL, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "gausian");
  g_assert_null (nd_filters_new ("", NULL, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "missing");
  g_assert_null (nd_filters_new_from_arrays (1, none, &nan, NULL, NULL,
      &error));
  expect (&error, ND_ERROR_SETTINGS, "3x0x1x1");
  g_assert_null (nd_filters_new_from_arrays (1, many, &nan, NULL, NULL,
      &error));
  expect (&error, ND_ERROR_MEMORY, "at most");
  g_assert_null (nd_filters_new_from_arrays (1, one, &nan, NULL, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "finite");
  g_assert_null (nd_filters_new_from_arrays (0, one, &nan, NULL, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "no filter");
  set (settings, "spacing", "0:1");
  g_assert_null (nd_filters_new ("box,size=3", settings, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "spacing");
}

static void
test_array_errors (void)
{
  const gsize size[4] = { 4, 4, 4, 2 }, other[4] = { 4, 4, 5, 2 };
  gfloat in[128] = { 0 }, out[192] = { 0 };
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) filters = new_filters ("box,size=3", NULL);
  g_autoptr (GError) error = NULL;
  NdArray a, b;

  nd_array_init (&a, in, "int64", 1, size);
  nd_array_init (&b, out, "float32", 1, size);
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "type int64");
  a.type = "float32";
  a.data = NULL;
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "data is NULL");
  nd_array_init (&a, (guint8 *) in + 2, "float32", 1, size);
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "not aligned");
  nd_array_init (&a, in, "float32", 1, size);
  nd_array_init (&b, out, "float32", 1, other);
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "4x4x5x2");
  nd_array_init (&b, out, "uint8", 1, size);
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "gives float32");
  nd_array_init (&a, out + 1, "float32", 1, size);
  nd_array_init (&b, out, "float32", 1, size);
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "overlaps");
  nd_array_init (&a, in, "float32", 1, size);
  a.size[1] = 0;
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "1 or more");
  a.size[1] = 4;
  a.on_device = TRUE;
  set (settings, "backend", "cpu");
  g_assert_false (nd_convolve (filters, settings, &a, &b, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "memory of a GPU");
}

static void
test_stream_errors (void)
{
  const gsize size[4] = { 4, 4, 1, 1 };
  gfloat in[16] = { 0 }, out[16];
  g_autoptr (NdFilters) filters = new_filters ("box,size=3", NULL);
  g_autoptr (NdFilters) complex_filter = NULL;
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdStream) stream = NULL;
  g_autoptr (GError) error = NULL;
  NdArray a, b;

  nd_array_init (&a, in, "float32", 1, size);
  nd_array_init (&b, out, "float32", 1, size);
  stream = nd_stream_new (filters, NULL, &a, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (nd_stream_get_bytes (stream), >, 0);
  g_assert_false (nd_stream_take (stream, &b, &error));
  expect (&error, ND_ERROR_SETTINGS, "No output is ready");
  g_assert_true (nd_stream_push (stream, &a, &error));
  g_assert_false (nd_stream_push (stream, &a, &error));
  expect (&error, ND_ERROR_SETTINGS, "take it");
  b.size[0] = 3;
  g_assert_false (nd_stream_take (stream, &b, &error));
  expect (&error, ND_ERROR_SETTINGS, "one volume at a time");
  b.size[0] = 4;
  g_assert_true (nd_stream_take (stream, &b, &error));
  g_assert_cmpuint (nd_stream_get_taken (stream), ==, 1);
  /* Without an output nothing is skipped; with one, it is gone. */
  nd_stream_skip (stream);
  g_assert_true (nd_stream_push (stream, &a, &error));
  nd_stream_skip (stream);
  g_assert_false (nd_stream_ready (stream));
  g_assert_cmpuint (nd_stream_get_taken (stream), ==, 1);
  nd_stream_end (stream);
  g_assert_false (nd_stream_push (stream, &a, &error));
  expect (&error, ND_ERROR_SETTINGS, "has ended");

  complex_filter = new_filters ("gabor,center-frequency=1.0,size=5", NULL);
  a.components = 2;
  g_assert_null (nd_stream_new (complex_filter, NULL, &a, NULL, &error));
  expect (&error, ND_ERROR_FORMAT, "complex");
  a.components = 1;
  set (settings, "response", "tensor");
  g_assert_null (nd_stream_new (filters, settings, &a, NULL, &error));
  expect (&error, ND_ERROR_SETTINGS, "tensor");
  set (settings, "response", NULL);
  a.responses = 2;
  g_assert_null (nd_stream_new (filters, settings, &a, NULL, &error));
  expect (&error, ND_ERROR_FORMAT, "2 responses");
}

static void
test_block_errors (void)
{
  const gsize size[4] = { 4, 4, 4, 4 }, none[4] = { 1, 0, 1, 1 },
              ones[4] = { 1, 1, 1, 1 };
  const gsize huge[4] = { 1 << 20, 1 << 20, 1 << 20, 1 << 20 };
  g_autoptr (NdFilters) filters = new_filters ("box,size=3", NULL);
  g_autoptr (GError) error = NULL;
  gsize n;

  g_assert_null (nd_plan_blocks (filters, NULL, size, none, NULL, &n, &error));
  expect (&error, ND_ERROR_SETTINGS, "Along y");
  g_assert_null (nd_plan_blocks (filters, NULL, huge, ones, NULL, &n, &error));
  expect (&error, ND_ERROR_MEMORY, "memory");
  g_assert_cmpuint (n, ==, 0);
}

static void
test_lists (void)
{
  const gint codes[] = { ND_ERROR_SETTINGS, ND_ERROR_NOT_FOUND,
    ND_ERROR_OPEN_READ, ND_ERROR_READ, ND_ERROR_OPEN_WRITE, ND_ERROR_WRITE,
    ND_ERROR_MEMORY, ND_ERROR_FORMAT, ND_ERROR_INIT, ND_ERROR_CANCELLED,
    ND_ERROR_FAILED, ND_ERROR_DISK_FULL };
  g_auto (GStrv) backends = nd_list_backends ();
  g_auto (GStrv) devices = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    g_assert_cmpint (codes[i], ==, nd_test_codes[i]);
  g_assert_cmpstr (nd_version (), ==, ND_VERSION);
  g_assert_true (g_strv_contains ((const gchar *const *) backends, "cpu"));
  devices = nd_list_devices ("cpu", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (devices), ==, 0);
  g_assert_null (nd_list_devices ("tpu", &error));
  expect (&error, ND_ERROR_INIT, "tpu");
}

/* The number of saturated samples, whatever their type; without a bit lost of
 * those that fit. */
static void
test_saturated (void)
{
  static const gsize size[4] = { 2, 2, 1, 1 }, one[4] = { 1, 1, 1, 1 };
  static const gdouble twice = 2;
  g_autoptr (NdFilters) filters =
      nd_filters_new_from_arrays (1, one, &twice, NULL, NULL, NULL);
  gint8 bytes[4] = { 3, -64, -65, 64 }, bytes_out[4];
  guint8 small[4] = { 3, 127, 128, 255 }, small_out[4];
  gint32 words[4] = { 123456789, -16777217, G_MAXINT32, G_MININT32 };
  gint32 words_out[4];
  const struct
  {
    const gchar *type;
    gpointer in, out;
    guint64 saturated;
  } cases[] = { { "int8", bytes, bytes_out, 2 },
    { "uint8", small, small_out, 2 }, { "int32", words, words_out, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint64 saturated = 9;
    const NdWatch watch = { .saturated = &saturated };
    g_autoptr (GError) error = NULL;
    NdArray in, out;

    nd_array_init (&in, cases[i].in, cases[i].type, 1, size);
    nd_array_init (&out, cases[i].out, cases[i].type, 1, size);
    nd_convolve (filters, NULL, &in, &out, &watch, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (saturated, ==, cases[i].saturated);
  }
  g_assert_cmpint (words_out[0], ==, 246913578);
  g_assert_cmpint (words_out[1], ==, -33554434);
  g_assert_cmpint (bytes_out[3], ==, 127);
}

/* Filters that were used before, with settings, sizes and flags that change. */
static void
test_again (void)
{
  static const gsize three[4] = { 3, 1, 1, 1 };
  static const gdouble w[3] = { 1, 1, 1 };
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) filters = NULL;
  guint8 in[6] = { 200, 1, 2, 3, 4, 5 }, out[6];
  const struct
  {
    const gchar *name, *value;
    gsize n;
    guint8 first, last;
    guint64 saturated;
  } steps[] = { { "border", "nearest", 6, 255, 14, 1 },
    { "border", "nearest", 6, 255, 14, 1 },
    { "border", "constant", 6, 201, 9, 0 },
    { "border", "constant", 4, 201, 5, 0 },
    { "border-value", "7", 4, 208, 12, 0 }, { "gain", "0.5", 4, 104, 6, 0 } };

  nd_settings_set (settings, "axes", "x", NULL);
  filters = nd_filters_new_from_arrays (1, three, w, NULL, settings, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const gsize size[4] = { steps[i].n, 1, 1, 1 };
    gint flag = 0;
    guint64 saturated;
    const NdWatch watch = { &flag, .saturated = &saturated };
    g_autoptr (GError) error = NULL;
    NdArray from, to;

    nd_settings_set (settings, steps[i].name, steps[i].value, NULL);
    nd_array_init (&from, in, "uint8", 1, size);
    nd_array_init (&to, out, "uint8", 1, size);
    nd_convolve (filters, settings, &from, &to, &watch, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (out[0], ==, steps[i].first);
    g_assert_cmpuint (out[steps[i].n - 1], ==, steps[i].last);
    g_assert_cmpuint (saturated, ==, steps[i].saturated);
    flag = 1;
    g_assert_false (nd_convolve (filters, settings, &from, &to, &watch,
        &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_CANCELLED);
  }
}

/* Sizes in samples on spacing that differs. */
static void
test_warning (void)
{
  g_autoptr (NdSettings) settings = nd_settings_new ();
  g_autoptr (NdFilters) silent = NULL, warned = NULL;

  nd_settings_set (settings, "spacing", "0.3:0.3:1", NULL);
  silent = nd_filters_new ("log,sigma=1.2mm", settings, NULL, NULL);
  g_assert_null (nd_filters_get_warning (silent));
  warned = nd_filters_new ("log,sigma=1.2", settings, NULL, NULL);
  g_assert_nonnull (strstr (nd_filters_get_warning (warned), "in samples"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/library/random", test_random);
  g_test_add_func ("/library/in-place", test_in_place);
  g_test_add_func ("/library/half", test_half);
  g_test_add_func ("/library/double", test_double);
  g_test_add_func ("/library/no-volumes", test_no_volumes);
  g_test_add_func ("/library/saturated", test_saturated);
  g_test_add_func ("/library/again", test_again);
  g_test_add_func ("/library/warning", test_warning);
  g_test_add_func ("/library/cores", test_cores);
  g_test_add_func ("/library/cancel", test_cancel);
  g_test_add_func ("/library/cancel-volume", test_cancel_volume);
  g_test_add_func ("/library/filters", test_filters);
  g_test_add_func ("/library/border-indices", test_border_indices);
  g_test_add_func ("/library/errors/settings", test_setting_errors);
  g_test_add_func ("/library/errors/filters", test_filter_errors);
  g_test_add_func ("/library/errors/arrays", test_array_errors);
  g_test_add_func ("/library/errors/streams", test_stream_errors);
  g_test_add_func ("/library/errors/blocks", test_block_errors);
  g_test_add_func ("/library/lists", test_lists);
  return g_test_run ();
}
