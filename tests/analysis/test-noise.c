/* Noise that depends on the value: the numbers against references in double
 * precision, their inverse without a bias, estimates, and streams.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/stabilise.h"
#include "cpu/cpu.h"
#include "tests/analysis/denoisecase.h"

#include <math.h>
#include <string.h>

static gfloat
forward (const NdStabiliser *stabiliser, gfloat x)
{
  nd_stabilise (stabiliser, &x, 1);
  return x;
}

static gfloat
back (const NdStabiliser *stabiliser, gfloat x)
{
  nd_unstabilise (stabiliser, &x, 1);
  return x;
}

/* The inverse of the mean of the numbers is the value, and their noise is 1. */
static void
test_anscombe (void)
{
  const gdouble gain = 3, offset = 50;

  for (guint r = 0; r < 3; r++) {
    const gdouble read = r * .8;
    NdStabiliser stabiliser;

    nd_stabiliser_init (&stabiliser, ND_NOISE_POISSON, gain,
        pow (read * gain, 2) - gain * offset, 0);
    for (gdouble x = -1; x < 60; x += 2.3)
      g_assert_cmpfloat_with_epsilon (forward (&stabiliser, gain * x + offset),
          nd_anscombe_reference (x, read), 1e-4);
    for (gdouble count = 0; count < 90; count = 1.3 * count + .25) {
      gdouble mean, deviation;

      nd_anscombe_numbers (count, read, &mean, &deviation);
      g_assert_cmpfloat_with_epsilon ((back (&stabiliser, mean) - offset)
              / gain,
          count, read > 0 ? .06 : .025);
      if (count >= 4)
        g_assert_cmpfloat_with_epsilon (deviation, 1, .03);
    }
    g_assert_true (isnan (forward (&stabiliser, NAN)));
    g_assert_true (isnan (back (&stabiliser, NAN)));
  }
}

static void
test_rice (void)
{
  const gdouble sigma = 7;
  NdStabiliser stabiliser;

  nd_stabiliser_init (&stabiliser, ND_NOISE_RICIAN, 0, 0, sigma);
  for (gdouble x = 0; x < 12; x += 1.37)
    g_assert_cmpfloat_with_epsilon (forward (&stabiliser, sigma * x),
        nd_rice_reference (x), 2e-3);
  for (gdouble value = 0; value < 30; value = 1.3 * value + .2) {
    gdouble mean, deviation;

    nd_rice_numbers (value, &mean, &deviation);
    g_assert_cmpfloat_with_epsilon (back (&stabiliser, mean) / sigma, value,
        5e-3);
    g_assert_cmpfloat_with_epsilon (deviation, 1, .12);
  }
  g_assert_cmpfloat (back (&stabiliser, -3), ==, 0);
  g_assert_true (isnan (forward (&stabiliser, NAN)));
  g_assert_true (isnan (back (&stabiliser, NAN)));
}

/* Magnitudes without a value before noise, and large ones. */
static void
test_rice_moments (void)
{
  gdouble mean, deviation, before, unused;

  nd_rice_moments (0, &mean, &deviation);
  g_assert_cmpfloat_with_epsilon (mean, sqrt (G_PI / 2), 1e-12);
  g_assert_cmpfloat_with_epsilon (deviation, sqrt (2 - G_PI / 2), 1e-12);
  nd_rice_moments (39.9999, &before, &unused);
  nd_rice_moments (40.0001, &mean, &deviation);
  g_assert_cmpfloat_with_epsilon (mean - before, 2e-4, 1e-6);
  g_assert_cmpfloat_with_epsilon (deviation, unused, 1e-6);
}

/* Streams */

static const Case plain = {
  .settings = { .latency = 3, .strength = 1 },
  .borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 },
  .size = { 24, 20, 18 },
  .n_volumes = 8,
};

static gdouble
poisson (GRand *rand, gdouble mean)
{
  gdouble product = g_rand_double (rand), n = 0;
  const gdouble least = exp (-mean);

  while (product > least) {
    product *= g_rand_double (rand);
    n++;
  }
  return n;
}

/* A slope with a step. */
static gdouble
value_at (const Case *c, gsize i)
{
  const gsize x = i % c->size[0], y = i / c->size[0] % c->size[1];

  return 5 + 4. * x + (y > c->size[1] / 2 ? 45 : 0);
}

static gfloat *
make_stream (const Case *c, gdouble gain, GRand *rand)
{
  const gsize n = case_samples (c) * c->n_volumes;
  gfloat *stream = g_new (gfloat, n);

  for (gsize i = 0; i < n; i++) {
    const gdouble value = value_at (c, i);

    if (c->settings.noise == ND_NOISE_RICIAN)
      stream[i] =
          hypot (value + gain * case_noise (rand), gain * case_noise (rand));
    else
      stream[i] = gain * poisson (rand, value / gain) + c->settings.offset
          + c->settings.read_noise * case_noise (rand);
  }
  return stream;
}

/* The stream as nd_denoise_reference() denoises its numbers. */
static void
check_reference (const Case *c, const gfloat *stream, const gfloat *out)
{
  const gsize n = case_samples (c) * c->n_volumes;
  const NdDenoiseSettings *s = &c->settings;
  const NdDenoiseSchedule schedule = nd_denoise_schedule (s);
  const NdReferenceBorders borders = case_borders (c);
  g_autofree gdouble *in = g_new (gdouble, n), *expected = g_new (gdouble, n);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  const gdouble read = s->gain > 0 ? s->read_noise / s->gain : 0;
  NdStabiliser stabiliser;
  gdouble square = 0;

  nd_stabiliser_init (&stabiliser, s->noise, s->gain,
      s->read_noise * s->read_noise - s->gain * s->offset, s->sigma);
  for (gsize t = 0; t < c->n_volumes; t++)
    sigma[t] = s->strength;
  for (gsize i = 0; i < n; i++)
    in[i] = s->noise == ND_NOISE_RICIAN
        ? forward (&stabiliser, stream[i])
        : nd_anscombe_reference ((stream[i] - s->offset) / s->gain, read);
  nd_denoise_reference (&schedule, &borders, c->size, c->n_volumes, in, sigma,
      expected);
  for (gsize i = 0; i < n; i++)
    square += pow (out[i] - back (&stabiliser, expected[i]), 2);
  g_test_message ("rms error %g", sqrt (square / n));
  g_assert_cmpfloat (sqrt (square / n), <,
      .01 * (s->noise == ND_NOISE_RICIAN ? s->sigma : s->gain));
}

static void
test_streams (void)
{
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < 4; i++) {
    Case c = plain;
    g_autofree gfloat *stream = NULL, *out = NULL;

    memcpy (c.size, (gsize[]){ 9, 8, i == 2 ? 1 : 5 }, sizeof (c.size));
    c.n_volumes = 5 - i;
    c.settings.noise = i % 2 ? ND_NOISE_RICIAN : ND_NOISE_POISSON;
    c.settings.latency = 3 - i / 2;
    c.settings.motion = i == 2;
    if (i % 2)
      c.settings.sigma = 6;
    else
      c.settings.gain = 4, c.settings.offset = 30, c.settings.read_noise = 3;
    stream = make_stream (&c, i % 2 ? 6 : 4, rand);
    out = case_run (&c, stream);
    check_reference (&c, stream, out);
  }
}

static NdAlgorithm *
new_stream (const Case *c)
{
  const NdShape shape = { 1, { c->size[0], c->size[1], c->size[2] } };
  g_autoptr (GError) error = NULL;
  NdAlgorithm *algorithm = nd_cpu_noise_new (&c->settings, &c->borders, &shape,
      ND_FLOAT32, 0, -1, &error);

  g_assert_no_error (error);
  return algorithm;
}

/* Pushes one volume; TRUE if there was an output. */
static gboolean
run_volume (NdAlgorithm *algorithm, const Case *c, const gfloat *volume,
    gfloat *out)
{
  const NdShape shape = { 1, { c->size[0], c->size[1], c->size[2] } };
  NdSamples in = nd_samples_dense ((gpointer) volume, &shape, ND_FLOAT32);
  NdSamples to = nd_samples_dense (out, &shape, ND_FLOAT32);

  g_assert_true (nd_algorithm_push (algorithm, &in, NULL));
  if (!nd_algorithm_ready (algorithm))
    return FALSE;
  g_assert_true (nd_algorithm_respond (algorithm, &to, NULL));
  g_assert_false (nd_algorithm_ready (algorithm));
  return TRUE;
}

/* What is estimated, and that the result has no bias. */
static void
test_estimates (void)
{
  static const struct
  {
    NdNoise noise;
    gdouble gain, offset, read;
  } rows[] = { { ND_NOISE_POISSON, 4, 0, 0 }, { ND_NOISE_POISSON, 2, 100, 5 },
    { ND_NOISE_POISSON, 9, 0, 0 }, { ND_NOISE_RICIAN, 10, 0, 0 } };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Case c = plain;
    const gsize n = case_samples (&c);
    g_autoptr (NdAlgorithm) algorithm = NULL;
    g_autofree gfloat *stream = NULL, *out = g_new (gfloat, n);
    gdouble before = 0, after = 0, bias = 0, variance;
    NdNoiseFound found;

    c.settings.noise = rows[i].noise;
    c.settings.offset = rows[i].offset;
    c.settings.read_noise = rows[i].read;
    stream = make_stream (&c, rows[i].gain, rand);
    algorithm = new_stream (&c);
    for (gsize t = 0; t < c.n_volumes; t++) {
      if (!run_volume (algorithm, &c, stream + t * n, out))
        continue;
      for (gsize k = 0; k < n; k++) {
        const gdouble truth = value_at (&c, k) + rows[i].offset;

        before += pow (stream[(t - 3) * n + k] - truth, 2);
        after += pow (out[k] - truth, 2);
        /* The mean of counts is kept. */
        bias +=
            (out[k]
                - (rows[i].noise == ND_NOISE_RICIAN ? truth
                                                    : stream[(t - 3) * n + k]))
            / n / (c.n_volumes - 3);
      }
    }
    found = nd_algorithm_found (algorithm);
    g_test_message (
        "gain %g constant %g sigma %g certainty %g bias %g ratio %g",
        found.gain, found.constant, found.sigma, found.certainty, bias,
        after / before);
    g_assert_cmpint (found.noise, ==, rows[i].noise);
    g_assert_cmpfloat (found.certainty, >, .8);
    g_assert_cmpfloat (after, <, before / 12);
    g_assert_cmpfloat_with_epsilon (bias, 0, .03 * rows[i].gain + .1);
    if (rows[i].noise == ND_NOISE_RICIAN) {
      g_assert_cmpfloat_with_epsilon (found.sigma, rows[i].gain,
          .06 * rows[i].gain);
      continue;
    }
    /* Of a sample in the middle. */
    variance = found.gain * (70 + rows[i].offset) + found.constant;
    g_assert_cmpfloat_with_epsilon (variance
            / (rows[i].gain * 70 + rows[i].read * rows[i].read),
        1, .2);
  }
}

/* Equal volumes have equal outputs, and what has no noise or no strength
 * passes unchanged, as NaN does. */
static void
test_unchanged (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;
  const gsize n = case_samples (&c);
  g_autofree gfloat *stream = NULL, *out = NULL, *flat = g_new (gfloat, 8 * n);

  c.settings.noise = ND_NOISE_POISSON;
  stream = make_stream (&c, 3, rand);
  for (gsize t = 1; t < c.n_volumes; t++)
    memcpy (stream + t * n, stream, n * sizeof (gfloat));
  out = case_run (&c, stream);
  for (gsize t = 1; t < c.n_volumes; t++)
    g_assert_cmpmem (out + t * n, n * sizeof (gfloat), out,
        n * sizeof (gfloat));
  g_assert_cmpfloat (out[n / 2], !=, stream[n / 2]);

  for (gsize i = 0; i < 8 * n; i++)
    flat[i] = 17;
  g_free (out);
  out = case_run (&c, flat);
  g_assert_cmpmem (out, 8 * n * sizeof (gfloat), flat, 8 * n * sizeof (gfloat));

  c.settings.strength = 0;
  stream[5] = NAN;
  g_free (out);
  out = case_run (&c, stream);
  g_assert_cmpmem (out, 8 * n * sizeof (gfloat), stream,
      8 * n * sizeof (gfloat));
}

/* If the gain changes, outputs are made with the new one alone, and strength
 * can go to 0 and back. */
static void
test_changes (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain, late = plain;
  const gsize n = case_samples (&c);
  g_autofree gfloat *a = NULL, *b = NULL, *out = g_new (gfloat, n);
  g_autofree gfloat *expected = g_new (gfloat, n);
  g_autoptr (NdAlgorithm) one = NULL, two = NULL;

  c.settings.noise = late.settings.noise = ND_NOISE_RICIAN;
  c.settings.sigma = 3;
  late.settings.sigma = 8;
  a = make_stream (&c, 3, rand);
  b = make_stream (&c, 8, rand);
  one = new_stream (&c);
  two = new_stream (&late);
  for (guint t = 0; t < 16; t++) {
    const gfloat *volume = (t < 4 ? a : b) + t % 8 * n;

    if (t == 8)
      nd_algorithm_set_strength (one, &late.settings);
    if (t == 11) {
      late.settings.strength = 0;
      nd_algorithm_set_strength (one, &late.settings);
    }
    if (t == 13) {
      late.settings.strength = 1;
      nd_algorithm_set_strength (one, &late.settings);
    }
    run_volume (one, &c, volume, out);
    run_volume (two, &late, volume, expected);
    if ((t >= 8 && t < 11) || t >= 13)
      g_assert_cmpmem (out, n * sizeof (gfloat), expected, n * sizeof (gfloat));
    else if (t > 3)
      g_assert_cmpfloat (out[n / 2], !=, expected[n / 2]);
  }
  nd_algorithm_reset (one);
  g_assert_cmpfloat (nd_algorithm_found (one).certainty, ==, 0);
}

/* Noise whose sigma rises along x; *@sigma is that of each sample. */
static gfloat *
make_varying (const Case *c, GRand *rand, gdouble *sigma)
{
  const gsize n = case_samples (c);
  gfloat *stream = g_new (gfloat, n * c->n_volumes);

  for (gsize i = 0; i < n * c->n_volumes; i++) {
    const gsize at = i % n;

    sigma[at] = 5 + at % c->size[0] * 20. / c->size[0];
    stream[i] = value_at (c, at) + sigma[at] * case_noise (rand);
  }
  return stream;
}

/* The sum of the squares of the errors of the last volume. */
static gdouble
error_of (const Case *c, const gfloat *out)
{
  const gsize n = case_samples (c);
  gdouble sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += pow (out[(c->n_volumes - 1) * n + i] - value_at (c, i), 2);
  return sum;
}

/* A map that is given: the reference of the divided samples. */
static void
test_given_map (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;
  const NdReferenceBorders borders = case_borders (&c);
  gsize n;
  g_autofree gdouble *map = NULL, *in = NULL, *expected = NULL, *sigma = NULL;
  g_autofree gfloat *stream = NULL, *out = NULL;
  NdDenoiseSchedule schedule;

  memcpy (c.size, (gsize[]){ 11, 8, 6 }, sizeof (c.size));
  c.n_volumes = 5;
  n = case_samples (&c);
  map = g_new (gdouble, n);
  in = g_new (gdouble, 5 * n);
  expected = g_new (gdouble, 5 * n);
  sigma = g_new (gdouble, 5);
  stream = make_varying (&c, rand, map);
  c.settings.has_map = TRUE;
  c.settings.map = map;
  schedule = nd_denoise_schedule (&c.settings);
  out = case_run (&c, stream);
  for (gsize i = 0; i < 5 * n; i++) {
    in[i] = stream[i] / map[i % n];
    sigma[i % 5] = 1;
  }
  nd_denoise_reference (&schedule, &borders, c.size, 5, in, sigma, expected);
  for (gsize i = 0; i < 5 * n; i++)
    g_assert_cmpfloat_with_epsilon (out[i], expected[i] * map[i % n],
        .02 * map[i % n]);
}

/* A map that is estimated, from few cells, helps nearly as much. */
static void
test_estimated_map (void)
{
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < 2; i++) {
    Case c = plain;
    gsize n;
    g_autofree gdouble *map = NULL;
    g_autofree gfloat *stream = NULL;
    gdouble errors[3];

    if (i == 1)
      memcpy (c.size, (gsize[]){ 70, 60, 1 }, sizeof (c.size));
    n = case_samples (&c);
    map = g_new (gdouble, n);
    stream = make_varying (&c, rand, map);
    for (guint k = 0; k < 3; k++) {
      g_autofree gfloat *result = NULL;

      c.settings.has_map = k > 0;
      c.settings.map = k == 1 ? map : NULL;
      result = case_run (&c, stream);
      errors[k] = error_of (&c, result);
    }
    g_test_message ("additive %g given %g estimated %g", errors[0], errors[1],
        errors[2]);
    g_assert_cmpfloat (errors[2], <, 2.5 * errors[1]);
    g_assert_cmpfloat (errors[2], <, .5 * errors[0]);
  }
}

/* Samples without noise, as around a sector, and NaN. */
static void
test_map_without_noise (void)
{
  g_autoptr (GRand) rand = case_rand ();
  Case c = plain;
  const gsize n = case_samples (&c);
  g_autofree gdouble *map = g_new (gdouble, n);
  g_autofree gfloat *stream = make_varying (&c, rand, map), *out = NULL;

  c.settings.has_map = TRUE;
  for (gsize i = 0; i < n * c.n_volumes; i++) {
    if (i / 24 % 20 < 10)
      stream[i] = 0;
  }
  stream[n - 1] = NAN;
  out = case_run (&c, stream);
  for (gsize i = 0; i < n * c.n_volumes; i++) {
    if (i / 24 % 20 < 5)
      g_assert_cmpfloat_with_epsilon (out[i], 0, 1e-3);
  }
  g_assert_cmpfloat (fabs (out[n * 7 + 300] - stream[n * 7 + 300]), >, 1e-3);
  for (gsize i = 0; i < n * c.n_volumes; i++)
    stream[i] = 3;
  g_free (out);
  out = case_run (&c, stream);
  g_assert_cmpmem (out, 8 * n * sizeof (gfloat), stream,
      8 * n * sizeof (gfloat));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/noise/anscombe", test_anscombe);
  g_test_add_func ("/noise/rice", test_rice);
  g_test_add_func ("/noise/rice-moments", test_rice_moments);
  g_test_add_func ("/noise/streams", test_streams);
  g_test_add_func ("/noise/estimates", test_estimates);
  g_test_add_func ("/noise/unchanged", test_unchanged);
  g_test_add_func ("/noise/changes", test_changes);
  g_test_add_func ("/noise/given-map", test_given_map);
  g_test_add_func ("/noise/estimated-map", test_estimated_map);
  g_test_add_func ("/noise/map-without-noise", test_map_without_noise);
  return g_test_run ();
}
