/* Adaptive filtering against the reference in double precision, borders, the
 * ends of a stream, small volumes, NaN, equal volumes, and the remapping.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "analysis/speckle.h"
#include "tests/analysis/denoisecase.h"

#include <math.h>
#include <string.h>

static const Case plain = {
  .settings = { .method = ND_DENOISE_ADAPTIVE,
      .latency = 3,
      .sigma = 20,
      .strength = 1,
      .remap = ND_ADAPTIVE_REMAP },
  .borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 },
  .size = { 13, 11, 9 },
  .n_volumes = 6,
  .ball = 180,
};

/* The mean of the adaptive filter, in @expected, and of the shrinkage. */
static void
add_shrinkage (const NdReferenceBorders *borders, const gsize size[3],
    gdouble strength, const gdouble *in, gdouble *expected)
{
  const gsize n = size[0] * size[1] * size[2];
  g_autofree gdouble *shrunk = g_new (gdouble, n);

  if (!nd_shrink_reference (borders, size, strength, in, shrunk))
    return;
  for (gsize i = 0; i < n; i++)
    expected[i] = (expected[i] + shrunk[i]) / 2;
}

/* Equal eigenvalues have no order, but then their factors differ little. */
static void
check_case (const Case *c, GRand *rand)
{
  const gsize n = case_samples (c) * c->n_volumes;
  g_autofree gfloat *stream = case_stream (c, rand);
  g_autofree gfloat *out = case_run (c, stream);
  g_autofree gdouble *in = g_new (gdouble, n), *expected = g_new (gdouble, n);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  g_autofree gdouble *filtered = g_new (gdouble, n);
  const gboolean is_speckle = c->settings.noise == ND_NOISE_SPECKLE;
  const NdReferenceBorders borders = case_borders (c);
  NdAdaptiveDesign design;
  gdouble worst = 0, change = 0, square = 0;
  gsize off = 0;

  for (gsize i = 0; i < n; i++)
    in[i] = stream[i];
  for (gsize t = 0; t < c->n_volumes; t++)
    sigma[t] = (is_speckle ? 1 : c->settings.sigma) * c->settings.strength;
  nd_adaptive_design_init (&design, c->size[2] == 1 ? 2 : 3,
      c->settings.axes == ND_AXES_SPACE_TIME && !is_speckle);
  if (is_speckle)
    nd_speckle_reference (nd_denoise_schedule (&c->settings).latency, &borders,
        c->size, c->n_volumes, in, expected);
  memcpy (filtered, is_speckle ? expected : in, n * sizeof (gdouble));
  nd_adaptive_reference (&design, &c->settings.remap, is_speckle,
      nd_denoise_schedule (&c->settings).latency, &borders, c->size,
      c->n_volumes, filtered, sigma, expected);
  for (gsize t = 0; is_speckle && t < c->n_volumes; t++)
    add_shrinkage (&borders, c->size, c->settings.strength,
        filtered + t * case_samples (c), expected + t * case_samples (c));
  for (gsize i = 0; i < n; i++) {
    worst = MAX (worst, fabs (out[i] - expected[i]));
    square += pow (out[i] - expected[i], 2);
    off += fabs (out[i] - expected[i]) > 1e-3 * c->settings.sigma;
    change = MAX (change, fabs (expected[i] - in[i]));
  }
  g_test_message ("worst error %g, rms %g, %" G_GSIZE_FORMAT
                  " of %" G_GSIZE_FORMAT " off, largest change %g",
      worst, sqrt (square / n), off, n, change);
  /* A coefficient close to the threshold falls on one side in single precision
   * and on the other in double. */
  g_assert_cmpuint (off, <=, is_speckle ? n / 50 : 0);
  g_assert_cmpfloat (sqrt (square / n), <, 1e-3 * c->settings.sigma);
}

static void
test_reference (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;

  for (guint latency = 0; latency <= ND_DENOISE_MAX_LATENCY; latency++) {
    c.settings.latency = latency;
    check_case (&c, rand);
  }
  c = plain;
  c.settings.axes = ND_AXES_SPACE;
  check_case (&c, rand);
  c.settings.remap = (NdAdaptiveRemap){ 4, .2, 3, 2, .3, 4, 1.5 };
  check_case (&c, rand);
  c.settings.axes = ND_AXES_SPACE_TIME;
  check_case (&c, rand);
}

static void
test_borders (void)
{
  static const NdBorder borders[] = { ND_BORDER_CONSTANT, ND_BORDER_NEAREST,
    ND_BORDER_REFLECT, ND_BORDER_WRAP };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (borders); i++) {
    Case c = plain;

    c.borders.border = borders[i];
    if (borders[i] != ND_BORDER_WRAP)
      c.borders.time_border = borders[i];
    c.borders.border_value = 40;
    c.n_volumes = 4;
    check_case (&c, rand);
  }
}

static void
test_sizes (void)
{
  static const gsize sizes[][4] = { { 1, 1, 1, 1 }, { 2, 3, 1, 2 },
    { 3, 9, 2, 5 }, { 40, 1, 1, 6 }, { 33, 70, 1, 6 }, { 9, 8, 20, 3 },
    { 12, 12, 12, 1 } };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Case c = plain;

    memcpy (c.size, sizes[i], sizeof (c.size));
    c.n_volumes = sizes[i][3];
    g_test_message ("%zu x %zu x %zu, %zu volumes", c.size[0], c.size[1],
        c.size[2], c.n_volumes);
    check_case (&c, rand);
    c.settings.axes = ND_AXES_SPACE;
    check_case (&c, rand);
  }
}

/* The median, and noise that is measured. */
static void
test_speckle (void)
{
  static const NdBorder borders[] = { ND_BORDER_MIRROR, ND_BORDER_CONSTANT,
    ND_BORDER_NEAREST, ND_BORDER_REFLECT };
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;

  c.settings.noise = ND_NOISE_SPECKLE;
  c.settings.method = ND_DENOISE_TRANSFORM;
  for (guint i = 0; i < G_N_ELEMENTS (borders); i++) {
    c.borders.border = c.borders.time_border = borders[i];
    c.borders.border_value = 30;
    c.settings.latency = i % 2;
    c.settings.strength = i % 2 ? 1 : .7;
    check_case (&c, rand);
  }
  /* More blocks than are measured. */
  c.n_volumes = 1;
  memcpy (c.size, (gsize[]){ 530, 520, 1 }, sizeof (c.size));
  check_case (&c, rand);
  c.n_volumes = 6;
  memcpy (c.size, (gsize[]){ 37, 21, 1 }, sizeof (c.size));
  check_case (&c, rand);
  c.n_volumes = 1;
  check_case (&c, rand);
  memcpy (c.size, (gsize[]){ 1, 1, 1 }, sizeof (c.size));
  check_case (&c, rand);
}

/* Samples around a sector of one value, NaN and infinity do not count as
 * noise. */
static void
test_sector (void)
{
  Case c = plain;
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *stream = NULL, *clean = NULL, *out = NULL;
  gdouble before = 0, after = 0, moved = 0;
  gsize i = 0, n_bad = 0, n = 0;

  memcpy (c.size, (gsize[]){ 64, 25, 23 }, sizeof (c.size));
  c.n_volumes = 3;
  c.settings.noise = ND_NOISE_SPECKLE;
  stream = case_stream (&c, rand);
  for (i = 0; i < 3 * case_samples (&c); i++) {
    const gsize x = i % 64;

    stream[i] = x >= 40 ? -300 : 10 * (stream[i] - 60 - 4. * x) / 20 + 100;
  }
  clean = case_run (&c, stream);
  stream[case_samples (&c) + 2] = NAN;
  stream[case_samples (&c) + 5] = -INFINITY;
  out = case_run (&c, stream);
  for (i = 0; i < 3 * case_samples (&c); i++) {
    const gsize x = i % 64;

    n_bad += !isfinite (out[i]);
    if (x < 20)
      continue;
    /* The noise is measured in some blocks less. A coefficient next to the
     * threshold can then fall on its other side. */
    g_assert_cmpfloat_with_epsilon (out[i], clean[i], 3);
    moved += pow (out[i] - clean[i], 2);
    n++;
    if (x > 60)
      g_assert_cmpfloat_with_epsilon (out[i], -300, 1e-3);
    if (x < 34) {
      before += pow (stream[i] - 100, 2);
      after += pow (out[i] - 100, 2);
    }
  }
  g_assert_cmpfloat (after, <, .05 * before);
  /* The noise has a standard deviation of 10. */
  g_assert_cmpfloat (sqrt (moved / n), <, .05);
  g_assert_cmpuint (n_bad, >, 0);
}

/* NaN and infinity reach as far as the filters, and no further. */
static void
test_nan (void)
{
  Case c = plain;
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *stream = NULL, *clean = NULL, *out = NULL;
  gsize i = 0, n_nan = 0;

  memcpy (c.size, (gsize[]){ 40, 37, 33 }, sizeof (c.size));
  c.n_volumes = 9;
  stream = case_stream (&c, rand);
  clean = case_run (&c, stream);
  stream[((4 * c.size[2] + 15) * c.size[1] + 17) * c.size[0] + 18] = NAN;
  stream[((4 * c.size[2] + 15) * c.size[1] + 17) * c.size[0] + 19] = INFINITY;
  out = case_run (&c, stream);
  for (gint t = 0; t < 9; t++) {
    for (gint z = 0; z < 33; z++) {
      for (gint y = 0; y < 37; y++) {
        for (gint x = 0; x < 40; x++, i++) {
          /* Filter, derivative, window. */
          const gboolean near = ABS (t - 4) <= 3 && ABS (z - 15) <= 12
              && ABS (y - 17) <= 12 && ABS (x - 18) <= 13;

          if (!near)
            g_assert_cmpfloat (out[i], ==, clean[i]);
          n_nan += isnan (out[i]);
        }
      }
    }
  }
  g_assert_cmpuint (n_nan, >, 0);
}

/* Each output of equal volumes has the same bits, and without noise it is the
 * input. */
static void
test_equal (void)
{
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i <= 2 * ND_DENOISE_MAX_LATENCY; i++) {
    Case c = plain;
    const gsize n = case_samples (&c);
    g_autofree gfloat *stream = NULL, *out = NULL;

    c.settings.latency = i / 2;
    c.settings.sigma = i % 2 ? 0 : 20;
    c.settings.noise = i % 3 ? ND_NOISE_ADDITIVE : ND_NOISE_SPECKLE;
    c.n_volumes = 12;
    stream = case_stream (&c, rand);
    for (gsize t = 1; t < c.n_volumes; t++)
      memcpy (stream + t * n, stream, n * sizeof (gfloat));
    out = case_run (&c, stream);
    for (gsize t = 1; t < c.n_volumes; t++)
      g_assert_cmpint (memcmp (out, out + t * n, n * sizeof (gfloat)), ==, 0);

    c.settings.sigma = 0;
    c.settings.noise = ND_NOISE_ADDITIVE;
    for (gsize k = 0; k < n * c.n_volumes; k++)
      stream[k] = 17.3f;
    g_free (out);
    out = case_run (&c, stream);
    g_assert_cmpint (memcmp (out, stream, n * sizeof (gfloat)), ==, 0);
  }
}

/* The mean eigenvalue of noise, and the factors of the control tensor. */
static void
test_remap (void)
{
  const NdAdaptiveRemap remap = ND_ADAPTIVE_REMAP;
  const gdouble noise[4] = { 1.5, 1.2, .8, .5 };
  gdouble factors[4], before = 0;
  NdAdaptiveDesign design;
  const NdAdaptiveBand *band = &design.bands[0];

  nd_adaptive_design_init (&design, 3, TRUE);
  nd_adaptive_remap (band, &remap, 4, noise, factors);
  for (guint k = 0; k < 4; k++)
    g_assert_cmpfloat (factors[k], <, .01);
  for (gdouble level = 3; level < 1e6; level *= 3) {
    const gdouble plane[4] = { level, 1, 1, 1 };
    const gdouble point[4] = { level, level, level, level };

    nd_adaptive_remap (band, &remap, 4, plane, factors);
    g_assert_cmpfloat (factors[0], >, before);
    g_assert_cmpfloat (factors[0], <, 1);
    g_assert_cmpfloat (factors[1], <, .1);
    before = factors[0];
    nd_adaptive_remap (band, &remap, 4, point, factors);
    for (guint k = 1; k < 4; k++)
      g_assert_cmpfloat_with_epsilon (factors[k], factors[0], 1e-9);
  }
  g_assert_cmpfloat (before, >, .99);
}

/* If one volume stands before and after another, as at the end of a stream and
 * with a latency of 0, samples do not move towards it: the result is the mean
 * of the sample and of the median. */
static void
test_speckle_ends (void)
{
  Case c = plain;
  const NdReferenceBorders borders = case_borders (&c);
  const gsize n = case_samples (&c);
  g_autofree gdouble *in = g_new (gdouble, 3 * n);
  g_autofree gdouble *out = g_new (gdouble, 3 * n);

  for (gsize i = 0; i < 3 * n; i++)
    in[i] = i < n ? 100 : i < 2 * n ? 150 : 180;
  nd_speckle_reference (0, &borders, c.size, 3, in, out);
  g_assert_cmpfloat (out[0], ==, 100);
  g_assert_cmpfloat (out[n], ==, (150 + 100) / 2.);
  g_assert_cmpfloat (out[2 * n], ==, (180 + 150) / 2.);
  nd_speckle_reference (1, &borders, c.size, 3, in, out);
  g_assert_cmpfloat (out[0], ==, (100 + 150) / 2.);
  g_assert_cmpfloat (out[n], ==, 150);
  g_assert_cmpfloat (out[2 * n], ==, (180 + 150) / 2.);
}

/* An infinite sample does not change the volume before it, if that volume has
 * the same one before and after it. */
static void
test_speckle_infinite (void)
{
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *stream = NULL, *out = NULL;
  Case c = plain;

  c.settings.noise = ND_NOISE_SPECKLE;
  c.n_volumes = 2;
  stream = case_stream (&c, rand);
  stream[case_samples (&c) + 500] = INFINITY;
  out = case_run (&c, stream);
  for (gsize i = 0; i < case_samples (&c); i++)
    g_assert_true (isfinite (out[i]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/adaptive/reference", test_reference);
  g_test_add_func ("/adaptive/borders", test_borders);
  g_test_add_func ("/adaptive/sizes", test_sizes);
  g_test_add_func ("/adaptive/speckle", test_speckle);
  g_test_add_func ("/adaptive/speckle-ends", test_speckle_ends);
  g_test_add_func ("/adaptive/speckle-infinite", test_speckle_infinite);
  g_test_add_func ("/adaptive/sector", test_sector);
  g_test_add_func ("/adaptive/nan", test_nan);
  g_test_add_func ("/adaptive/equal", test_equal);
  g_test_add_func ("/adaptive/remap", test_remap);
  return g_test_run ();
}
