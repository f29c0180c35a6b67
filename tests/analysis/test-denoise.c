/* Denoising against the reference in double precision, the ends of a stream,
 * short streams and small volumes, NaN, equal volumes, noise levels.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "cpu/denoisesamples.h"
#include "tests/analysis/denoisecase.h"

#include <math.h>
#include <string.h>

static const Case plain = {
  .settings = { .latency = 3, .sigma = 20, .strength = 1 },
  .borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 },
  .size = { 13, 11, 9 },
  .n_volumes = 9,
  .ball = 80,
};

/* A coefficient close to the threshold falls on one side in single precision
 * and on the other in double: a few samples may differ by more. */
static void
check_case (const Case *c, GRand *rand)
{
  const gsize n = case_samples (c) * c->n_volumes;
  g_autofree gfloat *stream = case_stream (c, rand);
  g_autofree gfloat *out = case_run (c, stream);
  g_autofree gdouble *in = g_new (gdouble, n), *expected = g_new (gdouble, n);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  const NdReferenceBorders borders = case_borders (c);
  const NdDenoiseSchedule schedule = nd_denoise_schedule (&c->settings);
  gdouble square = 0;
  gsize off = 0;

  for (gsize i = 0; i < n; i++)
    in[i] = stream[i];
  for (gsize t = 0; t < c->n_volumes; t++)
    sigma[t] = c->settings.sigma * c->settings.strength;
  nd_denoise_reference (&schedule, &borders, c->size, c->n_volumes, in, sigma,
      expected);
  for (gsize i = 0; i < n; i++) {
    const gdouble d = fabs (out[i] - expected[i]);

    off += d > 2e-3 * c->settings.sigma;
    square += d * d;
  }
  g_test_message ("rms error %g, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                  " samples off",
      sqrt (square / n), off, n);
  g_assert_cmpfloat (sqrt (square / n), <, 5e-3 * c->settings.sigma);
  g_assert_cmpuint (off, <=, n / 50);
}

static void
test_reference (void)
{
  g_autoptr (GRand) rand = case_rand ();

  check_case (&plain, rand);
  for (guint latency = 0; latency <= ND_DENOISE_MAX_LATENCY; latency++) {
    Case c = plain;

    c.settings.latency = latency;
    c.size[2] = 8;
    check_case (&c, rand);
  }
  for (guint latency = 0; latency <= ND_DENOISE_MAX_LATENCY; latency++) {
    Case c = plain;

    c.settings.latency = latency;
    c.settings.quality = ND_QUALITY_BEST;
    memcpy (c.size, (gsize[]){ 6, 5, 5 }, sizeof (c.size));
    c.n_volumes = latency < ND_DENOISE_LONG_LATENCY ? 6 : 12;
    /* With a coarse scale. */
    if (latency == 3)
      memcpy (c.size, (gsize[]){ 9, 8, 8 }, sizeof (c.size));
    check_case (&c, rand);
  }
}

/* The ends of the stream, streams shorter than a block, frames, each latency,
 * a volume without a coarse scale, and each border. */
static void
test_motion (void)
{
  static const gsize sizes[][4] = { { 9, 8, 8, 7 }, { 11, 6, 5, 5 },
    { 12, 11, 1, 7 }, { 5, 1, 1, 4 }, { 9, 10, 2, 3 }, { 10, 9, 1, 1 },
    { 8, 9, 1, 2 }, { 1, 1, 1, 2 } };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Case c = plain;

    memcpy (c.size, sizes[i], sizeof (c.size));
    c.n_volumes = sizes[i][3];
    c.settings.motion = TRUE;
    c.settings.latency = i == 0 ? 3 : i % (ND_DENOISE_MAX_LATENCY + 1);
    c.borders.border = i % ND_BORDER_END;
    c.borders.time_border = (i + 3) % ND_BORDER_WRAP;
    c.borders.border_value = 70;
    g_test_message ("%zu x %zu x %zu, %zu volumes, latency %u", c.size[0],
        c.size[1], c.size[2], c.n_volumes, c.settings.latency);
    check_case (&c, rand);
  }
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
    c.n_volumes = 6;
    check_case (&c, rand);
  }
}

/* Shorter than a block along each axis, frames, and more than one slab. */
static void
test_sizes (void)
{
  static const gsize sizes[][4] = { { 1, 1, 1, 1 }, { 2, 3, 1, 2 },
    { 3, 9, 2, 5 }, { 40, 1, 1, 6 }, { 33, 70, 1, 6 }, { 9, 8, 30, 5 },
    { 12, 12, 12, 1 }, { 12, 12, 12, 2 }, { 12, 12, 12, 3 } };
  g_autoptr (GRand) rand = case_rand ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Case c = plain;

    memcpy (c.size, sizes[i], sizeof (c.size));
    c.n_volumes = sizes[i][3];
    g_test_message ("%zu x %zu x %zu, %zu volumes", c.size[0], c.size[1],
        c.size[2], c.n_volumes);
    check_case (&c, rand);
    if (sizes[i][2] == 1) {
      c.settings.quality = ND_QUALITY_BEST;
      check_case (&c, rand);
    }
  }
}

/* NaN and infinity reach twice as far as a block, and no further. */
static void
test_nan (void)
{
  Case c = plain;
  const gsize size[3] = { 40, 37, 33 };
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *stream = NULL, *clean = NULL, *out = NULL;
  gsize i = 0, n_nan = 0;

  memcpy (c.size, size, sizeof (size));
  c.n_volumes = 12;
  stream = case_stream (&c, rand);
  clean = case_run (&c, stream);
  stream[((4 * size[2] + 15) * size[1] + 17) * size[0] + 18] = NAN;
  stream[((4 * size[2] + 15) * size[1] + 17) * size[0] + 19] = INFINITY;
  out = case_run (&c, stream);
  for (gint t = 0; t < 12; t++) {
    for (gint z = 0; z < 33; z++) {
      for (gint y = 0; y < 37; y++) {
        for (gint x = 0; x < 40; x++, i++) {
          /* The coarse scale reaches 2 * 6 + 3 samples. */
          const gboolean near = ABS (t - 4) <= 6 && ABS (z - 15) <= 16
              && ABS (y - 17) <= 16 && ABS (x - 18) <= 17;

          if (!near)
            g_assert_cmpfloat (out[i], ==, clean[i]);
          n_nan += isnan (out[i]);
        }
      }
    }
  }
  g_assert_cmpuint (n_nan, >, 0);
}

/* With motion NaN reach further, by the largest flow, and no further. */
static void
test_motion_nan (void)
{
  Case c = plain;
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *stream = NULL, *clean = NULL, *out = NULL;
  gsize i = 0, n_nan = 0;

  memcpy (c.size, (gsize[]){ 64, 12, 10 }, sizeof (c.size));
  c.settings.motion = TRUE;
  c.n_volumes = 22;
  stream = case_stream (&c, rand);
  clean = case_run (&c, stream);
  stream[10 * case_samples (&c) + 5] = NAN;
  out = case_run (&c, stream);
  for (gint t = 0; t < 22; t++) {
    for (gint k = 0; k < 12 * 10; k++) {
      for (gint x = 0; x < 64; x++, i++) {
        if (ABS (t - 10) > 9)
          g_assert_cmpfloat (out[i], ==, clean[i]);
        else if (x > 5 + 40)
          g_assert_true (isfinite (out[i]));
        n_nan += isnan (out[i]);
      }
    }
  }
  g_assert_cmpuint (n_nan, >, 0);
}

/* Each output of equal volumes has the same bits, and without noise it is the
 * input. Slow tools run every seventh case, with and without each setting. */
static void
test_equal (void)
{
  static const NdBorder borders[] = { ND_BORDER_NEAREST, ND_BORDER_REFLECT,
    ND_BORDER_MIRROR };
  g_autoptr (GRand) rand = case_rand ();
  const guint step = case_divisor () > 1 ? 7 : 1;

  for (guint i = 0; i < 3 * (ND_DENOISE_MAX_LATENCY + 1); i += step) {
    Case c = plain;
    const gsize n = case_samples (&c);
    g_autofree gfloat *stream = NULL, *out = NULL;

    c.borders.time_border = borders[i % 3];
    c.settings.latency = i / 3;
    c.settings.sigma = i % 2 ? 0 : 20;
    c.settings.quality = i / 2 % 2 ? ND_QUALITY_BEST : ND_QUALITY_FAST;
    c.settings.motion = i % 5 < 2;
    c.n_volumes = 20;
    stream = case_stream (&c, rand);
    for (gsize t = 1; t < c.n_volumes; t++)
      memcpy (stream + t * n, stream, n * sizeof (gfloat));
    out = case_run (&c, stream);
    for (gsize t = 1; t < c.n_volumes; t++)
      g_assert_cmpint (memcmp (out, out + t * n, n * sizeof (gfloat)), ==, 0);

    c.settings.sigma = 0;
    for (gsize k = 0; k < n * c.n_volumes; k++)
      stream[k] = 17.3f;
    g_free (out);
    out = case_run (&c, stream);
    g_assert_cmpint (memcmp (out, stream, n * sizeof (gfloat)), ==, 0);
  }
}

/* A chamber with a wall in a body, on a slope, that moves by up to 0.6 samples
 * per volume. Edges are 1 sample wide. */
static gfloat *
clean_stream (const Case *c, gboolean is_integer)
{
  gfloat *stream = g_new (gfloat, case_samples (c) * c->n_volumes), *s = stream;

  for (gsize t = 0; t < c->n_volumes; t++) {
    const gdouble shift = 2 * sin (.3 * t);

    for (gsize z = 0; z < c->size[2]; z++) {
      for (gsize y = 0; y < c->size[1]; y++) {
        for (gsize x = 0; x < c->size[0]; x++) {
          const gdouble r = sqrt ((x - 12 - shift) * (x - 12 - shift)
              + (y - 11.) * (y - 11.) + (z - 10.) * (z - 10.));
          const gdouble value = 40 + .7 * x - .3 * z
              + 90 / (1 + exp ((r - 8) * 2)) - 60 / (1 + exp ((r - 5) * 2));

          *s++ = is_integer ? rint (value) : value;
        }
      }
    }
  }
  return stream;
}

/* Volumes without noise stay as they are: the root mean square of the
 * difference is at most 0.1, of a range of 255, although sigma is estimated.
 * Integers are rounded, as the element does it. */
static void
test_noise_free (void)
{
  static const NdAdaptiveRemap remap = ND_ADAPTIVE_REMAP;

  for (guint i = 0; i < 8; i++) {
    Case c = plain;
    const gboolean is_integer = i % 2;
    g_autofree gfloat *stream = NULL, *out = NULL;
    gdouble square = 0;
    gsize n;

    memcpy (c.size, (gsize[]){ 26, 24, 22 }, sizeof (c.size));
    c.settings = (NdDenoiseSettings){ .latency = 3,
      .strength = 1,
      .remap = remap,
      .method = i / 2 == 1 ? ND_DENOISE_ADAPTIVE : ND_DENOISE_TRANSFORM,
      .quality = i / 2 == 2 ? ND_QUALITY_BEST : ND_QUALITY_FAST,
      .motion = i / 2 == 3 };
    n = case_samples (&c) * c.n_volumes;
    stream = clean_stream (&c, is_integer);
    out = case_run_type (&c, stream, is_integer ? ND_UINT8 : ND_FLOAT32);
    for (gsize k = 0; k < n; k++)
      square += (out[k] - stream[k]) * (out[k] - stream[k]);
    g_test_message ("case %u: %.4f", i, sqrt (square / n));
    g_assert_cmpfloat (sqrt (square / n), <, .1);
  }
}

/* Volumes of zeros come out as zeros, by each method and for each noise. */
static void
test_zeros (void)
{
  static const NdAdaptiveRemap remap = ND_ADAPTIVE_REMAP;

  for (guint i = 0; i < 12; i++) {
    Case c = plain;
    g_autofree gfloat *stream = NULL, *out = NULL;
    gsize n;

    c.settings = (NdDenoiseSettings){ .latency = i % 3,
      .strength = 1,
      .remap = remap,
      .noise = i / 3 == 2 ? ND_NOISE_SPECKLE : ND_NOISE_ADDITIVE,
      .method = i / 3 == 1 ? ND_DENOISE_ADAPTIVE : ND_DENOISE_TRANSFORM,
      .motion = i / 3 == 3 };
    n = case_samples (&c) * c.n_volumes;
    stream = g_new0 (gfloat, n);
    out = case_run (&c, stream);
    for (gsize k = 0; k < n; k++)
      g_assert_cmpfloat (out[k], ==, 0);
  }
}

static void
test_sigma (void)
{
  static const gdouble sigmas[] = { .01, 5, 20, 80, 3000 };
  const gsize size[3] = { 40, 40, 40 };
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *volume = g_new (gfloat, 40 * 40 * 40);

  for (guint s = 0; s < G_N_ELEMENTS (sigmas); s++) {
    for (gsize i = 0; i < 40 * 40 * 40; i++) {
      volume[i] = i % 40 + sigmas[s] * case_noise (rand);
    }
    volume[1234] = NAN;
    g_assert_cmpfloat_with_epsilon (nd_cpu_noise_sigma (volume, size, -INFINITY,
                                        INFINITY),
        sigmas[s], .03 * sigmas[s]);
  }
}

/* Noise of 8-bit samples at the ends of the range. If more than a third of the
 * samples are cut off in all areas, estimates are too low, by 3 % in the mean
 * and by 9 % in the worst of 62 volumes. */
static void
test_clipped_sigma (void)
{
  static const gdouble sigmas[] = { 5, 15, 30, 60, 80 };
  /* Two areas of a volume. */
  static const gdouble values[][2] = { { 20, 20 }, { 0, 70 }, { 30, 120 },
    { 128, 128 }, { 220, 100 } };
  const gsize size[3] = { 64, 64, 64 };
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *volume = g_new (gfloat, 64 * 64 * 64);

  for (guint s = 0; s < G_N_ELEMENTS (sigmas); s++) {
    for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
      const gdouble most = MAX (values[v][0], values[v][1]);
      const gdouble tolerance = most < .4 * sigmas[s] ? .15 : .05;
      gdouble sigma;

      /* Slow tools: each level and each pair once. */
      if (case_divisor () > 1 && v != s)
        continue;
      for (gsize i = 0; i < 64 * 64 * 64; i++) {
        const gdouble sample =
            rint (values[v][i % 64 < 32] + sigmas[s] * case_noise (rand));

        volume[i] = CLAMP (sample, 0, 255);
      }
      sigma = nd_cpu_noise_sigma (volume, size, 0, 255);
      g_test_message ("%g and %g, noise of %g: %g", values[v][0], values[v][1],
          sigmas[s], sigma);
      g_assert_cmpfloat_with_epsilon (sigma, sigmas[s], tolerance * sigmas[s]);
    }
  }
}

/* Most samples are 0, as around a sector of ultrasound. The others have noise,
 * rounded in every second volume. */
static void
test_sigma_of_sector (void)
{
  const gsize size[3] = { 60, 60, 60 };
  g_autoptr (GRand) rand = case_rand ();
  g_autofree gfloat *volume = g_new (gfloat, 60 * 60 * 60);

  for (guint s = 1; s < 9; s++) {
    for (gsize i = 0; i < 60 * 60 * 60; i++) {
      const gdouble value = 100 + s * case_noise (rand);

      volume[i] = i % 60 < 40 ? 0 : s % 2 ? rint (value) : value;
    }
    g_assert_cmpfloat_with_epsilon (nd_cpu_noise_sigma (volume, size, -INFINITY,
                                        INFINITY),
        s, .15 * s);
  }
}

/* The table is the inverse of the mean. */
static void
test_clipping (void)
{
  gfloat table[513];

  for (gdouble sigma = 5; sigma < 100; sigma *= 2) {
    const gdouble span = MIN (127.5, 6 * sigma);

    nd_unclip_table (sigma, 0, 255, span, 512, table);
    for (guint i = 0; i <= 512; i++)
      g_assert_cmpfloat_with_epsilon (table[i],
          nd_unclipped_mean (span * i / 512, sigma, 0, 255), .01);
  }
}

/* A stretch of one volume, into @out. */
static void
run_one (NdAlgorithm *denoise, gfloat *volume, gfloat *out)
{
  const NdShape shape = { 1, { 9, 9, 9 } };
  const NdSamples in = nd_samples_dense (volume, &shape, ND_FLOAT32);
  const NdSamples to = nd_samples_dense (out, &shape, ND_FLOAT32);

  g_assert_true (nd_algorithm_push (denoise, &in, NULL));
  nd_algorithm_end (denoise);
  g_assert_true (nd_algorithm_ready (denoise));
  g_assert_true (nd_algorithm_respond (denoise, &to, NULL));
  g_assert_false (nd_algorithm_ready (denoise));
  nd_algorithm_reset (denoise);
}

/* Nothing of a stretch is left in the next one, whose volumes have the same
 * numbers. */
static void
test_stretches (void)
{
  const NdDenoiseSettings settings = {
    .latency = 3, .sigma = 9, .strength = 1
  };
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  const NdShape shape = { 1, { 9, 9, 9 } };
  g_autoptr (NdAlgorithm) denoise =
      nd_cpu_denoise_new (&settings, &borders, &shape, ND_FLOAT32, 0, -1, NULL);
  g_autoptr (NdAlgorithm) fresh =
      nd_cpu_denoise_new (&settings, &borders, &shape, ND_FLOAT32, 0, -1, NULL);
  gfloat volumes[2][9 * 9 * 9], after[9 * 9 * 9], alone[9 * 9 * 9];

  for (guint i = 0; i < G_N_ELEMENTS (alone); i++) {
    volumes[0][i] = i % 7 * 20;
    volumes[1][i] = 100 + i % 5 * 3;
  }
  run_one (fresh, volumes[1], alone);
  run_one (denoise, volumes[0], after);
  run_one (denoise, volumes[1], after);
  g_assert_cmpmem (after, sizeof (after), alone, sizeof (alone));
}

/* Caps may say so many components. */
static void
test_components (void)
{
  static const NdNoise models[] = { ND_NOISE_ADDITIVE, ND_NOISE_POISSON,
    ND_NOISE_CORRELATED };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    const NdDenoiseSettings settings = {
      .noise = models[i], .latency = 1, .strength = 1
    };
    const NdDenoiseBorders borders = { ND_BORDER_NEAREST, ND_BORDER_NEAREST,
      0 };
    const NdShape shape = { (gsize) 1 << 40, { 8, 8, 8 } };
    g_autoptr (GError) error = NULL;

    g_assert_null (nd_cpu_noise_new (&settings, &borders, &shape, ND_UINT8, 0,
        -1, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/denoise/reference", test_reference);
  g_test_add_func ("/denoise/motion", test_motion);
  g_test_add_func ("/denoise/borders", test_borders);
  g_test_add_func ("/denoise/components", test_components);
  g_test_add_func ("/denoise/sizes", test_sizes);
  g_test_add_func ("/denoise/nan", test_nan);
  g_test_add_func ("/denoise/motion-nan", test_motion_nan);
  g_test_add_func ("/denoise/equal", test_equal);
  g_test_add_func ("/denoise/noise-free", test_noise_free);
  g_test_add_func ("/denoise/zeros", test_zeros);
  g_test_add_func ("/denoise/sigma", test_sigma);
  g_test_add_func ("/denoise/clipped-sigma", test_clipped_sigma);
  g_test_add_func ("/denoise/sigma-of-sector", test_sigma_of_sector);
  g_test_add_func ("/denoise/clipping", test_clipping);
  g_test_add_func ("/denoise/stretches", test_stretches);
  return g_test_run ();
}
