/* Deconvolution on the CPU against the reference in double precision, on random
 * volumes, psfs and borders, and volumes without structure.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/log.h"
#include "cpu/cpu.h"
#include "engine/border.h"
#include "tests/gst/random.h"

#include <math.h>
#include <string.h>

#define GUARD 16
#define POISON 12345.f

static gint64
border_index (gint border, gint64 i, gint64 n)
{
  return nd_border_index (border, i, n);
}

/* A psf with some zeros and any origin, at which it is not 0. */
static NdBank *
random_psf (GRand *rand, const gsize size[ND_AXES])
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *filter = nd_filter_new ("psf", size);
  const gsize n = nd_filter_count (filter);
  gint low[ND_AXES], high[ND_AXES];

  for (gsize i = 0; i < n; i++)
    filter->coefficients[i] =
        g_rand_boolean (rand) ? 0 : g_rand_double (rand) + .1;
  for (guint a = 0; a < 3; a++) {
    const gint k = size[a];

    filter->origin[a] = g_rand_int_range (rand, -(k / 2), (k - 1) / 2 + 1);
  }
  nd_filter_reach (filter, low, high);
  filter->coefficients[(high[2] * size[1] + high[1]) * size[0] + high[0]] = 1;
  g_ptr_array_add (filters, filter);
  return nd_bank_new (filters);
}

/* Deconvolves @in, @components volumes of @size one after the other. */
static gboolean
run (const NdDeconvolveOptions *options, const NdBank *psf, const gsize size[3],
    gsize components, guint64 kept, const gfloat *in, gfloat *out,
    NdDeconvolution *last, GError **error)
{
  const NdShape shape = { .components = components,
    .size = { size[0], size[1], size[2] } };
  g_autoptr (NdAlgorithm) algorithm =
      nd_cpu_deconvolve_new (options, psf, &shape, ND_FLOAT32, kept, -1, error);
  const NdSamples from = nd_samples_dense ((gpointer) in, &shape, ND_FLOAT32);
  const NdSamples to = nd_samples_dense (out, &shape, ND_FLOAT32);

  if (!algorithm)
    return FALSE;
  g_assert_false (nd_algorithm_ready (algorithm));
  g_assert_cmpuint (nd_algorithm_bytes (algorithm), >, 0);
  for (guint i = 0; i < 2; i++) {
    /* The first output is left out. */
    g_assert_true (nd_algorithm_push (algorithm, &from, error));
    g_assert_true (nd_algorithm_ready (algorithm));
    g_assert_true (nd_algorithm_respond (algorithm, i == 0 ? NULL : &to,
        error));
    g_assert_false (nd_algorithm_ready (algorithm));
  }
  *last = *nd_algorithm_deconvolution (algorithm);
  return TRUE;
}

static void
test_reference (void)
{
  GRand *rand = new_rand ();

  for (guint job = 0; job < 40; job++) {
    const gboolean flat = job % 4 == 0;
    const gsize size[3] = { g_rand_int_range (rand, 1, flat ? 40 : 14),
      g_rand_int_range (rand, 1, flat ? 30 : 12),
      flat ? 1 : g_rand_int_range (rand, 1, 10) };
    /* Often larger than the volume. */
    const gsize k[ND_AXES] = { g_rand_int_range (rand, 1, 8),
      g_rand_int_range (rand, 1, 8), flat ? 1 : g_rand_int_range (rand, 1, 6),
      1 };
    const NdDeconvolveOptions options = {
      { g_rand_int_range (rand, 1, 9),
          g_rand_boolean (rand) ? g_rand_double_range (rand, 0, .1) : 0,
          g_rand_int_range (rand, 0, 3) == 0 ? .05 : 0 },
      g_rand_int_range (rand, 0, ND_BORDER_END),
      g_rand_boolean (rand) ? g_rand_double_range (rand, -20, 60) : 0,
    };
    const gsize n = size[0] * size[1] * size[2];
    const gdouble scale = pow (10, g_rand_int_range (rand, -30, 36));
    g_autoptr (NdBank) psf = random_psf (rand, k);
    g_autoptr (NdFilter) h = nd_deconvolve_psf (psf, NULL);
    g_autofree gfloat *in = g_new (gfloat, n);
    g_autofree gfloat *out = g_new (gfloat, n + GUARD);
    g_autofree gdouble *d = g_new (gdouble, n), *e = g_new (gdouble, n);
    g_autoptr (GError) error = NULL;
    NdDeconvolveOptions scaled = options;
    NdDeconvolution found, expected;
    gdouble largest = 0, worst = 0;

    scaled.border_value *= scale;
    for (gsize i = 0; i < n; i++) {
      in[i] = scale * (g_rand_double (rand) * 60 + (i % 7 == 0 ? 200 : -3));
      if (job % 5 == 0 && g_rand_int_range (rand, 0, 12) == 0)
        in[i] = g_rand_boolean (rand) ? NAN : -INFINITY;
      d[i] = in[i];
    }
    for (gsize i = 0; i < GUARD; i++)
      out[n + i] = POISON;
    g_assert_nonnull (h);
    nd_deconvolve_reference (&scaled.settings, h, border_index, scaled.border,
        MAX (scaled.border_value, 0), size, d, e, &expected);
    g_assert_true (run (&scaled, psf, size, 1, 0, in, out, &found, &error));
    g_assert_no_error (error);
    g_assert_cmpuint (found.iterations, ==, expected.iterations);
    g_assert_cmpfloat (fabs (found.residue - expected.residue), <, 1e-4);
    for (gsize i = 0; i < n; i++) {
      g_assert_true (isfinite (out[i]));
      largest = MAX (largest, e[i]);
      worst = MAX (worst, fabs (out[i] - e[i]));
    }
    /* Where bright samples are almost equal, the direction of their gradient is
     * that of rounding errors. */
    if (worst > (1e-4 + .02 * options.settings.tv) * largest)
      g_error ("job %u, tv %g: error %g of %g", job, options.settings.tv, worst,
          largest);
    for (gsize i = 0; i < GUARD; i++)
      g_assert_cmpfloat (out[n + i], ==, POISON);
  }
  g_rand_free (rand);
}

/* Components are computed by themselves, and those that are kept stay. */
static void
test_components (void)
{
  static const gsize size[3] = { 9, 7, 5 }, k[ND_AXES] = { 3, 3, 3, 1 };
  enum
  {
    N = 9 * 7 * 5
  };
  const NdDeconvolveOptions options = { { 4, .01, 0 }, ND_BORDER_MIRROR, 0 };
  GRand *rand = new_rand ();
  g_autoptr (NdBank) psf = random_psf (rand, k);
  g_autoptr (GError) error = NULL;
  gfloat in[3 * N], out[3 * N], plane[N], alone[N];
  NdDeconvolution last;

  for (guint i = 0; i < 3 * N; i++)
    in[i] = g_rand_double (rand);
  g_assert_true (run (&options, psf, size, 3, 2, in, out, &last, &error));
  for (guint c = 0; c < 3; c++) {
    for (guint i = 0; i < N; i++)
      plane[i] = in[3 * i + c];
    g_assert_true (run (&options, psf, size, 1, 0, plane, alone, &last,
        &error));
    for (guint i = 0; i < N; i++)
      g_assert_cmpfloat (out[3 * i + c], ==, c == 1 ? plane[i] : alone[i]);
  }
  g_rand_free (rand);
}

/* A psf that only moves, so that no sample of the estimate reaches one end:
 * what was recorded there is explained by none, and changes none. */
static void
test_unexplained (void)
{
  static const gsize size[3] = { 11, 6, 1 }, k[ND_AXES] = { 5, 1, 1, 1 };
  const NdDeconvolveOptions options = { { 6, 0, 0 }, ND_BORDER_CONSTANT, 0 };
  GRand *rand = new_rand ();
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *filter = nd_filter_new ("psf", k);
  g_autoptr (NdBank) psf = NULL;
  g_autoptr (GError) error = NULL;
  NdDeconvolution last, expected;
  gdouble d[66], e[66], worst = 0;
  gfloat in[66], out[66];

  filter->coefficients[0] = 1;
  g_ptr_array_add (filters, filter);
  psf = nd_bank_new (filters);
  for (guint i = 0; i < 66; i++)
    d[i] = in[i] = 1 + 9 * g_rand_double (rand);
  nd_deconvolve_reference (&options.settings, filter, border_index,
      options.border, 0, size, d, e, &expected);
  g_assert_true (run (&options, psf, size, 1, 0, in, out, &last, &error));
  g_assert_cmpfloat (fabs (last.residue - expected.residue), <, 1e-4);
  for (guint i = 0; i < 66; i++)
    worst = MAX (worst, fabs (out[i] - e[i]));
  g_assert_cmpfloat (worst, <, 1e-3);
  g_rand_free (rand);
}

/* Volumes without light, without samples, and flat ones. */
static void
test_empty (void)
{
  static const gsize size[3] = { 6, 5, 4 }, k[ND_AXES] = { 3, 3, 1, 1 };
  static const gfloat values[][2] = { { 0, 0 }, { -5, 0 }, { NAN, 0 },
    { 7, 7 } };
  enum
  {
    N = 6 * 5 * 4
  };
  const NdDeconvolveOptions options = { { 5, .05, 0 }, ND_BORDER_NEAREST, 0 };
  GRand *rand = new_rand ();
  g_autoptr (NdBank) psf = random_psf (rand, k);
  g_autoptr (GError) error = NULL;
  NdDeconvolution last;
  gfloat in[N], out[N];

  for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
    for (guint i = 0; i < N; i++)
      in[i] = values[v][0];
    g_assert_true (run (&options, psf, size, 1, 0, in, out, &last, &error));
    g_assert_cmpuint (last.iterations, ==, values[v][1] > 0 ? 5 : 0);
    g_assert_cmpfloat (last.residue, <, 1e-5);
    for (guint i = 0; i < N; i++)
      g_assert_cmpfloat (fabsf (out[i] - values[v][1]), <, 1e-4);
  }
  g_rand_free (rand);
}

static void
test_refused (void)
{
  static const gsize size[3] = { 6, 5, 4 }, k[ND_AXES] = { 3, 1, 1, 2 };
  static const gchar *const sentences[] = { "has 2 volumes", "coefficient -1",
    "zeros only", "complex", "bank of 2" };
  const NdDeconvolveOptions options = { { 5, 0, 0 }, ND_BORDER_NEAREST, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (sentences); i++) {
    g_autoptr (GPtrArray) filters = g_ptr_array_new ();
    const gsize own[ND_AXES] = { k[0], 1, 1, i == 0 ? k[3] : 1 };
    g_autoptr (NdBank) psf = NULL;
    g_autoptr (GError) error = NULL;
    NdDeconvolution last;
    gfloat in[6 * 5 * 4] = { 0 };

    for (guint f = 0; f < (i < 3 ? 1 : 2); f++) {
      NdFilter *filter = nd_filter_new ("psf", own);

      filter->coefficients[0] = i == 2 ? 0 : 3;
      filter->coefficients[1] = i == 1 ? -1 : 0;
      g_ptr_array_add (filters, filter);
    }
    psf = nd_bank_new (filters);
    psf->is_complex = i == 3;
    g_assert_false (run (&options, psf, size, 1, 0, in, in, &last, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, sentences[i]));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/deconvolve/reference", test_reference);
  g_test_add_func ("/deconvolve/components", test_components);
  g_test_add_func ("/deconvolve/unexplained", test_unexplained);
  g_test_add_func ("/deconvolve/empty", test_empty);
  g_test_add_func ("/deconvolve/refused", test_refused);
  return g_test_run ();
}
