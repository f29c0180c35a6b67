/* Correlated noise: its spectrum, denoising with one against the reference in
 * double precision, and streams.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "cpu/noisespectrum.h"
#include "tests/analysis/denoisecase.h"

#include <math.h>
#include <string.h>

static const Case plain = {
  .settings = { .noise = ND_NOISE_CORRELATED, .latency = 3, .strength = 1 },
  .borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 },
  .size = { 24, 22, 20 },
  .n_volumes = 7,
};

/* White noise of 5, or its sums over 2 neighbours along x. */
static gfloat *
make_noise (const gsize size[3], GRand *rand, gboolean is_white)
{
  const gsize n = size[0] * size[1] * size[2];
  gfloat *noise = g_new (gfloat, n);

  for (gsize i = 0; i < n; i++)
    noise[i] = 5 * case_noise (rand);
  for (gsize i = 0; !is_white && i + 1 < n; i++)
    noise[i] = (noise[i] + noise[i + 1]) * (gfloat) (G_SQRT2 / 2);
  return noise;
}

static void
test_measure (void)
{
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < 4; i++) {
    const gsize size[3] = { 40, 36, i % 2 ? 1 : 32 };
    const gboolean is_white = i < 2;
    g_autofree gfloat *a = make_noise (size, rand, is_white);
    g_autofree gfloat *b = make_noise (size, rand, is_white);
    NdNoiseSpectrum s;

    for (gsize k = 0; k < size[0] * size[1] * size[2]; k++) {
      /* Contents that do not move. */
      const gdouble content = 3. * (k % 7);

      a[k] += content;
      b[k] += content;
    }
    b[100] = NAN;
    g_assert_true (nd_noise_spectrum_measure (a, b, size, &s));
    g_assert_cmpfloat_with_epsilon (nd_noise_spectrum_sigma (&s, i % 2), 5, .4);
    for (guint k = 0; k < (i % 2 ? 16 : 64); k++) {
      if (is_white)
        g_assert_cmpfloat_with_epsilon (s.sigma[0][k], 5, i % 2 ? 1.1 : .7);
    }
    /* The mean of 2 x 2 x 2 samples; along x it grows, along y it falls. */
    if (is_white)
      g_assert_cmpfloat_with_epsilon (s.sigma[1][i % 2 ? 5 : 21],
          5 / sqrt (i % 2 ? 4 : 8), i % 2 ? .9 : .5);
    else
      g_assert_cmpfloat (s.sigma[0][0], >, 2 * s.sigma[0][3]);
  }
}

static void
test_nothing (void)
{
  const gsize size[3] = { 6, 5, 4 };
  gfloat volume[120] = { 0 };
  NdNoiseSpectrum s;

  g_assert_false (nd_noise_spectrum_measure (volume, NULL, size, &s));
  g_assert_false (nd_noise_spectrum_measure (volume, volume, size, &s));
  for (guint i = 0; i < 120; i++)
    volume[i] = NAN;
  g_assert_false (nd_noise_spectrum_measure (volume, NULL, size, &s));
}

/* The CPU back end and the reference with a spectrum that is given. */
static void
check_reference (Case *c, GRand *rand)
{
  const NdShape shape = { 1, { c->size[0], c->size[1], c->size[2] } };
  const gsize n = case_samples (c), all = n * c->n_volumes;
  const NdDenoiseSchedule schedule = nd_denoise_schedule (&c->settings);
  g_autofree gfloat *stream = NULL, *out = g_new (gfloat, all);
  g_autofree gdouble *in = g_new (gdouble, all),
                     *expected = g_new (gdouble, all);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  g_autoptr (NdAlgorithm) denoise = NULL;
  NdReferenceBorders borders = case_borders (c);
  NdNoiseSpectrum spectrum;
  gdouble square = 0;
  gsize made = 0;

  for (guint k = 0; k < 64; k++) {
    spectrum.sigma[0][k] = g_rand_double_range (rand, .3, 2);
    spectrum.sigma[1][k] = g_rand_double_range (rand, .1, 1);
  }
  c->ball = 80;
  c->settings.sigma = 20;
  stream = case_stream (c, rand);
  denoise = nd_cpu_denoise_new (&c->settings, &c->borders, &shape, ND_FLOAT32,
      0, -1, NULL);
  nd_cpu_denoise_set_spectrum (denoise, &spectrum);
  for (gsize t = 0; t < c->n_volumes; t++) {
    const NdSamples volume =
        nd_samples_dense (stream + t * n, &shape, ND_FLOAT32);

    sigma[t] = 20;
    g_assert_true (nd_algorithm_push (denoise, &volume, NULL));
    if (t + 1 == c->n_volumes)
      nd_algorithm_end (denoise);
    while (nd_algorithm_ready (denoise)) {
      const NdSamples to =
          nd_samples_dense (out + made++ * n, &shape, ND_FLOAT32);

      g_assert_true (nd_algorithm_respond (denoise, &to, NULL));
    }
  }
  for (gsize i = 0; i < all; i++)
    in[i] = stream[i];
  borders.spectrum = &spectrum;
  nd_denoise_reference (&schedule, &borders, c->size, c->n_volumes, in, sigma,
      expected);
  for (gsize i = 0; i < all; i++)
    square += pow (out[i] - expected[i], 2);
  g_test_message ("rms error %g", sqrt (square / all));
  g_assert_cmpfloat (sqrt (square / all), <, .1);
}

static void
test_reference (void)
{
  static const gsize sizes[][3] = { { 9, 8, 8 }, { 12, 9, 1 }, { 7, 6, 5 } };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < 4; i++) {
    Case c = plain;

    memcpy (c.size, sizes[i % 3], sizeof (c.size));
    c.n_volumes = 5;
    c.settings.motion = i == 1;
    c.settings.quality = i == 3;
    c.settings.latency = i == 2 ? 5 : 3;
    check_reference (&c, rand);
  }
}

/* Noise that a stream tells: less remains than with noise=additive, and a
 * stream without noise, or of one volume, passes. */
static void
test_streams (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;
  const gsize n = case_samples (&c);
  g_autofree gfloat *stream = g_new (gfloat, n * c.n_volumes);
  g_autofree gfloat *one = NULL, *flat = NULL;
  gdouble errors[2] = { 0 };

  for (gsize t = 0; t < c.n_volumes; t++) {
    g_autofree gfloat *noise = make_noise (c.size, rand, FALSE);

    for (gsize i = 0; i < n; i++)
      stream[t * n + i] = 50 + (i % 24 > 11 ? 60 : 0) + 3 * noise[i];
  }
  for (guint k = 0; k < 2; k++) {
    g_autofree gfloat *out = NULL;

    c.settings.noise = k ? ND_NOISE_CORRELATED : ND_NOISE_ADDITIVE;
    out = case_run (&c, stream);
    for (gsize i = 0; i < n; i++)
      errors[k] += pow (out[3 * n + i] - 50 - (i % 24 > 11 ? 60 : 0), 2);
  }
  g_test_message ("additive %g, correlated %g", errors[0], errors[1]);
  g_assert_cmpfloat (errors[1], <, .7 * errors[0]);

  for (gsize t = 1; t < c.n_volumes; t++)
    memcpy (stream + t * n, stream, n * sizeof (gfloat));
  flat = case_run (&c, stream);
  for (gsize t = 1; t < c.n_volumes; t++)
    g_assert_cmpmem (flat + t * n, n * sizeof (gfloat), stream,
        n * sizeof (gfloat));
  c.n_volumes = 1;
  one = case_run (&c, stream);
  g_assert_true (isfinite (one[n / 2]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/spectrum/measure", test_measure);
  g_test_add_func ("/spectrum/nothing", test_nothing);
  g_test_add_func ("/spectrum/reference", test_reference);
  g_test_add_func ("/spectrum/streams", test_streams);
  return g_test_run ();
}
