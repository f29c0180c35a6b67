/* Order statistics and morphology of the CPU back end, against the definition:
 * each operation, footprint, border and type, NaN, components, streams that are
 * shorter than the window, and what is refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/rank.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

#define MAX_VOLUMES 7

typedef struct
{
  NdRankOptions options;
  NdShape shape;
  NdSampleType type;
  guint64 kept;
  gsize n_volumes;
  gboolean with_nan;
} Case;

static NdBorder reference_border, reference_time_border;

static gint64
space_index (gint64 i, gint64 n)
{
  return nd_border_index (reference_border, i, n);
}

static gint64
time_index (gint64 i, gint64 n)
{
  return nd_border_index (reference_time_border, i, n);
}

static gdouble
get_sample (const guint8 *at, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return *at;
    case ND_INT16:
      return *(const gint16 *) at;
    case ND_UINT16:
      return *(const guint16 *) at;
    case ND_FLOAT32:
      return *(const gfloat *) at;
    default:
      return *(const gdouble *) at;
  }
}

static void
set_sample (guint8 *at, NdSampleType type, gdouble value)
{
  switch (type) {
    case ND_UINT8:
      *at = value;
      break;
    case ND_INT16:
      *(gint16 *) at = value;
      break;
    case ND_UINT16:
      *(guint16 *) at = value;
      break;
    case ND_FLOAT32:
      *(gfloat *) at = value;
      break;
    default:
      *(gdouble *) at = value;
  }
}

static gdouble
saturate (gdouble value, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return CLAMP (value, 0, 255);
    case ND_INT16:
      return CLAMP (value, -32768, 32767);
    case ND_UINT16:
      return CLAMP (value, 0, 65535);
    case ND_FLOAT32:
      return (gfloat) value;
    default:
      return value;
  }
}

static gdouble
random_sample (const Case *test)
{
  static const gdouble special[] = { NAN, INFINITY, -INFINITY, -0., 0. };

  if (test->with_nan && g_test_rand_int_range (0, 8) == 0)
    return special[g_test_rand_int_range (0, G_N_ELEMENTS (special))];
  switch (test->type) {
    case ND_UINT8:
      return g_test_rand_int_range (0, 256);
    case ND_INT16:
      return g_test_rand_int_range (-32768, 32768);
    case ND_UINT16:
      return g_test_rand_int_range (0, 65536);
    default:
      /* With ties. */
      return g_test_rand_int_range (0, 2) ? g_test_rand_int_range (-9, 9)
                                          : (gfloat) g_test_rand_double ();
  }
}

static gsize
samples_of (const Case *test)
{
  return test->shape.size[0] * test->shape.size[1] * test->shape.size[2];
}

/* Streams the volumes of @in through the algorithm. */
static void
stream_volumes (const Case *test, NdAlgorithm *algorithm, guint8 *in,
    guint8 *out)
{
  const gsize bytes =
      samples_of (test) * test->shape.components * nd_sample_size (test->type);
  gsize done = 0;

  for (gsize t = 0; t <= test->n_volumes; t++) {
    if (t == test->n_volumes) {
      nd_algorithm_end (algorithm);
    } else {
      NdSamples volume =
          nd_samples_dense (in + t * bytes, &test->shape, test->type);

      g_assert_true (nd_algorithm_push (algorithm, &volume, NULL));
    }
    while (nd_algorithm_ready (algorithm)) {
      NdSamples volume =
          nd_samples_dense (out + done * bytes, &test->shape, test->type);

      g_assert_cmpuint (done, <, test->n_volumes);
      /* One output is skipped. */
      g_assert_true (nd_algorithm_respond (algorithm,
          done == 1 ? NULL : &volume, NULL));
      done++;
    }
  }
  g_assert_cmpuint (done, ==, test->n_volumes);
}

static void
compare_component (const Case *test, gsize c, const guint8 *in,
    const guint8 *out)
{
  const gsize n = samples_of (test), size = nd_sample_size (test->type);
  const NdRankPlan plan = nd_rank_plan (test->options.operation,
      test->options.percentile, test->options.footprint->n);
  g_autofree gdouble *values = g_new (gdouble, n * test->n_volumes);
  g_autofree gdouble *expected = g_new (gdouble, n * test->n_volumes);

  for (gsize i = 0; i < n * test->n_volumes; i++)
    values[i] =
        get_sample (in + (i * test->shape.components + c) * size, test->type);
  g_assert_true (nd_rank_reference (&plan, test->options.footprint, space_index,
      time_index, test->options.border_value, test->shape.size, test->n_volumes,
      values, expected));
  for (gsize i = 0; i < n * test->n_volumes; i++) {
    const gdouble found =
        get_sample (out + (i * test->shape.components + c) * size, test->type);
    const gdouble wanted =
        test->kept >> c & 1 ? values[i] : saturate (expected[i], test->type);

    if (i / n == 1 || (isnan (found) && isnan (wanted)) || found == wanted)
      continue;
    g_error ("operation %d, type %d, borders %d %d, component %" G_GSIZE_FORMAT
             ", sample %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
             ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ": %g, not %g",
        test->options.operation, test->type, test->options.border,
        test->options.time_border, c, i, test->shape.size[0],
        test->shape.size[1], test->shape.size[2], found, wanted);
  }
}

static void
check (const Case *test)
{
  const gsize n = samples_of (test) * test->shape.components * test->n_volumes;
  const gsize size = nd_sample_size (test->type);
  g_autofree guint8 *in = g_malloc (n * size);
  g_autofree guint8 *out = g_malloc (n * size);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm = nd_cpu_rank_new (&test->options,
      &test->shape, test->type, test->kept, -1, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (nd_algorithm_bytes (algorithm), >, n / test->n_volumes);
  reference_border = test->options.border;
  reference_time_border = test->options.time_border;
  for (gsize i = 0; i < n; i++)
    set_sample (in + i * size, test->type, random_sample (test));
  /* The second stretch must not see the first one. */
  for (guint i = 0; i < 2; i++) {
    memset (out, 0x5a, n * size);
    stream_volumes (test, algorithm, in, out);
    nd_algorithm_reset (algorithm);
  }
  for (gsize c = 0; c < test->shape.components; c++)
    compare_component (test, c, in, out);
}

static NdFootprint *
parse (const gchar *text, const gchar *origin, gboolean causal)
{
  g_autoptr (GError) error = NULL;
  NdFootprint *footprint =
      nd_footprint_from_text (text, origin, causal, NULL, NULL, &error);

  g_assert_no_error (error);
  return footprint;
}

static const NdSampleType types[] = { ND_UINT8, ND_INT16, ND_UINT16, ND_FLOAT32,
  ND_FLOAT64 };

/* Random footprints, sizes, borders, types and operations. */
static void
test_random (void)
{
  for (guint round = 0; round < 200; round++) {
    g_autoptr (NdFootprint) footprint = NULL;
    gsize size[ND_AXES];
    gint origin[ND_AXES];
    guint8 mask[6 * 6 * 6 * 4];
    Case test = { .options = { .percentile = g_test_rand_int_range (0, 101),
                      .border = g_test_rand_int_range (0, ND_BORDER_END),
                      .time_border = g_test_rand_int_range (0, ND_BORDER_WRAP),
                      .border_value = g_test_rand_int_range (0, 200) },
      .type = types[g_test_rand_int_range (0, G_N_ELEMENTS (types))],
      .n_volumes = g_test_rand_int_range (1, MAX_VOLUMES) };
    gsize n = 1;

    test.options.operation = g_test_rand_int_range (0, ND_RANK_GRADIENT + 1);
    test.with_nan = nd_sample_is_float (test.type) && round % 2;
    for (guint a = 0; a < ND_AXES; a++) {
      size[a] = g_test_rand_int_range (1, a == ND_AXIS_T ? 4 : 6);
      if (n * size[a] > 60)
        size[a] = 1;
      n *= size[a];
      origin[a] = g_test_rand_int_range (-(gint) (size[a] / 2),
          (gint) (size[a] - 1) / 2 + 1);
    }
    for (gsize i = 0; i < n; i++)
      mask[i] = i == n / 2 || g_test_rand_int_range (0, 3) > 0;
    footprint = nd_footprint_new (size, round % 3 ? NULL : mask, origin, NULL);
    g_assert_nonnull (footprint);
    test.options.footprint = footprint;
    test.shape.components = round % 7 == 0 ? 3 : 1;
    test.kept = test.shape.components == 3 ? 4 : 0;
    for (guint a = 0; a < 3; a++)
      test.shape.size[a] = g_test_rand_int_range (1, a == 0 ? 20 : 6);
    check (&test);
  }
}

/* Networks of rows that are longer than a part, and the other methods. */
static void
test_large (void)
{
  static const struct
  {
    const gchar *footprint;
    gsize size[3];
  } cases[] = { { "5:5:5", { 40, 6, 6 } }, { "9:9:9", { 12, 9, 5 } },
    { "ball,radius=4.6", { 12, 5, 9 } }, { "25:3", { 700, 3, 1 } },
    { "7:7:1:5", { 30, 3, 1 } }, { "33:33", { 34, 3, 1 } },
    { "13:15", { 40, 60, 1 } }, { "1:101", { 9, 33, 1 } },
    { "5:9:3:3", { 9, 20, 2 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdFootprint) footprint = parse (cases[i].footprint, "0", FALSE);

    for (guint k = 0; k < G_N_ELEMENTS (types); k++) {
      Case test = { .options = { .footprint = footprint,
                        .operation = ND_RANK_PERCENTILE,
                        .percentile = g_test_rand_double_range (1, 99),
                        .border = ND_BORDER_MIRROR,
                        .time_border = ND_BORDER_REFLECT },
        .shape = { 1,
            { cases[i].size[0], cases[i].size[1], cases[i].size[2] } },
        .type = types[k],
        .n_volumes = 3,
        .with_nan = nd_sample_is_float (types[k]) };

      check (&test);
      test.options.operation = ND_RANK_TOPHAT;
      if (i < 3 && k % 2 == 0)
        check (&test);
    }
  }
}

static void
test_footprints (void)
{
  static const struct
  {
    const gchar *text, *origin;
    gboolean causal;
    gsize n;
    gint low[ND_AXES], high[ND_AXES];
  } cases[] = {
    { "3", "0", FALSE, 27, { -1, -1, -1, 0 }, { 1, 1, 1, 0 } },
    { "3:3:1:5", "0", FALSE, 45, { -1, -1, 0, -2 }, { 1, 1, 0, 2 } },
    { "1:1:1:5", "0", TRUE, 5, { 0, 0, 0, -4 }, { 0, 0, 0, 0 } },
    { "box,size=4:1:1:2", "0", FALSE, 8, { -2, 0, 0, -1 }, { 1, 0, 0, 0 } },
    { "box,size=3:1:1", "-1:0:0", FALSE, 3, { 0, 0, 0, 0 }, { 2, 0, 0, 0 } },
    { "ball,radius=1", "0", FALSE, 7, { -1, -1, -1, 0 }, { 1, 1, 1, 0 } },
    { "sphere, radius=2", "0", FALSE, 33, { -2, -2, -2, 0 }, { 2, 2, 2, 0 } },
    { "cross,size=5:3:1:3", "0", FALSE, 9, { -2, -1, 0, -1 }, { 2, 1, 0, 1 } },
    { "ellipsoid,radius=2:1:0", "0", FALSE, 7, { -2, -1, 0, 0 },
        { 2, 1, 0, 0 } },
    { "coefficients,size=3:2:1,values=<0,1,0,1,0,-1>", "0", FALSE, 3,
        { -1, -1, 0, 0 }, { 1, 0, 0, 0 } },
  };
  const gboolean frames[ND_AXES] = { FALSE, FALSE, TRUE, FALSE };
  g_autoptr (NdFootprint) flat =
      nd_footprint_from_text ("3", "0", FALSE, frames, NULL, NULL);

  g_assert_cmpuint (flat->n, ==, 9);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdFootprint) footprint =
        parse (cases[i].text, cases[i].origin, cases[i].causal);

    g_test_message ("%s", cases[i].text);
    g_assert_cmpuint (footprint->n, ==, cases[i].n);
    for (guint a = 0; a < ND_AXES; a++) {
      g_assert_cmpint (footprint->low[a], ==, cases[i].low[a]);
      g_assert_cmpint (footprint->high[a], ==, cases[i].high[a]);
    }
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const gchar *text, *origin;
    gint code; /* 0: any */
  } cases[] = {
    { "", "0", ND_ERROR_SETTINGS },
    { "box", "0", ND_ERROR_SETTINGS },
    { "nonsense,size=3", "0", ND_ERROR_SETTINGS },
    { "3:x", "0", ND_ERROR_SETTINGS },
    { "box,size=3; box,size=5", "0", ND_ERROR_SETTINGS },
    { "coefficients,size=1,values=0", "0", ND_ERROR_SETTINGS },
    { "gabor,center-frequency=1,size=5", "0", ND_ERROR_SETTINGS },
    { "file,location=/nowhere/f.npy", "0", ND_ERROR_NOT_FOUND },
    { "3", "2", ND_ERROR_SETTINGS },
    { "2000:2000", "0", ND_ERROR_SETTINGS },
    { "100000:100000:100000", "0", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdFootprint) footprint = nd_footprint_from_text (cases[i].text,
        cases[i].origin, FALSE, NULL, NULL, &error);

    g_test_message ("%s: %s", cases[i].text, error ? error->message : "taken");
    g_assert_null (footprint);
    g_assert_true (error && error->domain == ND_ERROR);
    if (cases[i].code)
      g_assert_cmpint (error->code, ==, cases[i].code);
  }
}

/* Volumes that no memory holds. */
static void
test_memory (void)
{
  g_autoptr (NdFootprint) footprint = parse ("3:3:3:3", "0", FALSE);
  const NdShape shapes[] = { { 1, { 1 << 20, 1 << 20, 1 << 10 } },
    { 1, { G_MAXSIZE / 4, 2, 1 } } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    for (guint operation = 0; operation <= ND_RANK_GRADIENT; operation++) {
      const NdRankOptions options = { .operation = operation,
        .footprint = footprint };
      g_autoptr (GError) error = NULL;

      g_assert_null (nd_cpu_rank_new (&options, &shapes[i], ND_UINT8, 0, -1,
          &error));
      g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
    }
  }
}

/* Each sort of a gradient takes 5 volumes here, which fit in memory; the 10 of
 * both do not. */
static void
test_memory_of_both (void)
{
  g_autoptr (NdFootprint) footprint = parse ("3:3:3:3", "0", FALSE);
  const NdShape shape = { 1, { 1024, 1024, nd_usable_memory () / 8 >> 20 } };
  const NdRankOptions options = { .operation = ND_RANK_GRADIENT,
    .footprint = footprint };
  g_autoptr (GError) error = NULL;

  g_assert_null (nd_cpu_rank_new (&options, &shape, ND_UINT8, 0, -1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
}

/* SciPy's ranks. */
static void
test_ranks (void)
{
  static const struct
  {
    gdouble percentile;
    gsize n, rank;
  } cases[] = { { 0, 9, 0 }, { 50, 9, 4 }, { 100, 9, 8 }, { 99.9, 9, 8 },
    { 25, 8, 2 }, { 11, 9, 0 }, { 12, 9, 1 }, { 100, 1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const NdRankPlan plan =
        nd_rank_plan (ND_RANK_PERCENTILE, cases[i].percentile, cases[i].n);

    g_assert_cmpuint (plan.passes[0].rank, ==, cases[i].rank);
  }
  g_assert_cmpuint (nd_rank_plan (ND_RANK_MEDIAN, 0, 8).passes[0].rank, ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_threads_start (0);
  g_test_add_func ("/rank/random", test_random);
  g_test_add_func ("/rank/large", test_large);
  g_test_add_func ("/rank/footprints", test_footprints);
  g_test_add_func ("/rank/refused", test_refused);
  g_test_add_func ("/rank/memory", test_memory);
  g_test_add_func ("/rank/memory-of-both", test_memory_of_both);
  g_test_add_func ("/rank/ranks", test_ranks);
  return g_test_run ();
}
