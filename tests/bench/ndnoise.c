/* PSNR of nddenoise on noise that is not white and additive: with
 * noise=additive beside the kind that it is. The middle volume of 13 of 64 x 64
 * x 64, on a scale of 255, and what was estimated.
 *
 *   ndnoise [KIND [PHANTOM]] [seed N]
 *
 * Settings were chosen on the phantoms nuclei, shell and head; balls, wheel and
 * fibres are others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64
#define VOLUMES 13
#define MIDDLE 6
#define SAMPLES (SIZE * SIZE * SIZE)

/* 1 inside, 0 outside, over about two samples; @distance in samples. */
static gdouble
inside (gdouble distance)
{
  return 1 / (1 + exp (CLAMP (distance / .5, -40, 40)));
}

static gdouble
ellipsoid (const gdouble at[3], gdouble x, gdouble y, gdouble z, gdouble a,
    gdouble b, gdouble c)
{
  const gdouble u = (at[0] - x) / a, v = (at[1] - y) / b, w = (at[2] - z) / c;

  return (sqrt (u * u + v * v + w * w) - 1) * MIN (MIN (a, b), c);
}

/* Nuclei that move by up to a sample a volume. */
static gdouble
nuclei (const gdouble at[3], gint t)
{
  gdouble value = 16;

  for (guint k = 0; k < 24; k++) {
    const gdouble s = t - MIDDLE, a = 1.1 * k, r = 4 + k % 4;
    const gdouble x = 25 * sin (2.4 * k) + s * .7 * cos (a);
    const gdouble y = 25 * sin (1.7 * k + 1) + s * .7 * sin (a);
    const gdouble z = 25 * cos (3.1 * k) + s * .4 * cos (3 * a);
    const gdouble d = ellipsoid (at, x, y, z, r, r + 1, r);

    if (d < 8)
      value += (60 + 5 * (k % 13)) * inside (d)
          * (1 + .2 * cos (.9 * (at[0] - x)) * cos (.8 * (at[1] - y)));
  }
  return MIN (value, 215);
}

/* A beating shell with fibres; its wall moves by up to 1.5 samples. */
static gdouble
shell (const gdouble at[3], gint t)
{
  const gdouble phase = 2 * G_PI * t / 11, beat = 1 + .13 * sin (phase);
  const gdouble outer = ellipsoid (at, 1, -1, 0, 24 * beat, 22 * beat, 26);
  const gdouble r = outer + 6 + 1.5 * sin (phase);
  const gdouble angle = atan2 (at[1], at[0]) + .06 * at[2] + .1 * sin (phase);

  return 60 + 75 * (inside (outer) - inside (r))
      + 18 * inside (fabs (outer + 3) - 3) * cos (9 * angle)
      + 20 * inside (ellipsoid (at, -5 + sin (phase), 4, 3, 6, 5, 7));
}

/* Tissues of a head in air, which moves little. */
static gdouble
head (const gdouble at[3], gint t)
{
  const gdouble here[3] = { at[0] + .2 * sin (1.3 * t),
    at[1] + .15 * cos (2.1 * t), at[2] };
  const gdouble brain = ellipsoid (here, 0, 0, 0, 24, 28, 25);
  const gdouble fold = 3 * sin (.45 * here[0] + 1) * sin (.4 * here[1])
      + 2 * sin (.5 * here[2] + .3 * here[0]);
  const gdouble ventricle = ellipsoid (here, 4, -2, 0, 5, 9, 7);

  return 130
      * (inside (ellipsoid (here, 0, 0, 0, 29, 31, 29))
          - inside (ellipsoid (here, 0, 0, 0, 26.5, 29, 27)))
      + inside (brain) * (95 + 55 * inside (brain + 7 + fold))
      - 110 * inside (ventricle);
}

static gdouble
balls (const gdouble at[3], gint t)
{
  const gdouble s = t - MIDDLE;
  gdouble value = 22 + 40 * inside (ellipsoid (at, 0, 0, 0, 30, 30, 28));
  const gdouble d = ellipsoid (at, 1.2 * s, -.6 * s, 2, 15, 13, 12);

  value += 80 * inside (d) - 40 * inside (d + 2.5);
  for (guint k = 0; k < 5; k++) {
    const gdouble angle = 1.3 * k + .07 * s;

    value += 60
        * inside (ellipsoid (at, 20 * cos (angle), 20 * sin (angle),
            4. * k - 8 + .9 * s, 4, 3, 5));
  }
  return value;
}

static gdouble
wheel (const gdouble at[3], gint t)
{
  const gdouble s = t - MIDDLE, turn = .05 * s, wide = 1 + .01 * s;
  const gdouble x = (at[0] * cos (turn) + at[1] * sin (turn)) / wide;
  const gdouble y = (at[1] * cos (turn) - at[0] * sin (turn)) / wide;
  const gdouble r = hypot (x, y), angle = atan2 (y, x);
  const gdouble disk = inside (r - 27) * inside (fabs (at[2]) - 24);

  return 30
      + disk
      * (70 + 45 * inside (fabs (sin (2.5 * angle)) * r * .4 - 1.5)
          - 35 * inside (fabs (r - 15) - 2)
          + 12 * cos (.9 * x + .3 * at[2]) * cos (.8 * y - .2 * at[2]));
}

/* Thin and thick fibres in the dark, which sway. */
static gdouble
fibres (const gdouble at[3], gint t)
{
  const gdouble sway = .9 * sin (2 * G_PI * t / 9);
  gdouble value = 0;

  for (guint k = 0; k < 12; k++) {
    const gdouble x = at[0] - 22 * cos (2.2 * k) - .2 * at[2] - sway;
    const gdouble y = at[1] - 20 * sin (3.7 * k) + .3 * at[2] * cos (k);

    value += (50 + 9 * k) * inside (hypot (x, y) - 1.3 - .35 * (k % 6));
  }
  return MIN (value, 190);
}

static const struct
{
  const gchar *name;
  gdouble (*value) (const gdouble at[3], gint t);
} phantoms[] = { { "nuclei", nuclei }, { "shell", shell }, { "head", head },
  { "balls", balls }, { "wheel", wheel }, { "fibres", fibres } };

static gdouble
normal (GRand *rand)
{
  return sqrt (-2 * log (1 - g_rand_double (rand)))
      * cos (2 * G_PI * g_rand_double (rand));
}

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

/* Smooths a volume of noise by [a 1 a] along each axis, circular, to a standard
 * deviation of 1. */
static void
correlate (gfloat *volume, gdouble a)
{
  static const gsize steps[] = { 1, SIZE, SIZE * SIZE };
  g_autofree gfloat *copy = g_new (gfloat, SAMPLES);

  for (guint axis = 0; axis < 3; axis++) {
    const gsize step = steps[axis], turn = step * SIZE;

    memcpy (copy, volume, SAMPLES * sizeof (gfloat));
    for (gsize i = 0; i < SAMPLES; i++) {
      const gsize base = i / turn * turn, off = i % turn;

      volume[i] = (copy[i]
                      + a
                          * (copy[base + (off + step) % turn]
                              + copy[base + (off + turn - step) % turn]))
          / sqrt (1 + 2 * a * a);
    }
  }
}

static void
add_noise (const gchar *kind, const gfloat *clean, gfloat *noisy, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (gsize i = 0; i < (gsize) SAMPLES * VOLUMES; i++) {
    const gdouble v = clean[i], x = i % SIZE / (SIZE - 1.);

    if (g_str_has_prefix (kind, "poisson")) {
      const gdouble gain = strstr (kind, "12") ? 12 : 4;

      noisy[i] = gain * poisson (rand, v / gain);
    } else if (g_str_equal (kind, "camera")) {
      noisy[i] = 100 + 3 * poisson (rand, v / 3) + 5 * normal (rand);
    } else if (g_str_equal (kind, "rician")) {
      noisy[i] = hypot (v + 10 * normal (rand), 10 * normal (rand));
    } else if (g_str_equal (kind, "varying")) {
      noisy[i] = v + (8 + 28 * x) * normal (rand);
    } else {
      noisy[i] = normal (rand);
    }
  }
  for (gsize i = 0; g_str_equal (kind, "best") && i < (gsize) SAMPLES * VOLUMES;
       i++)
    noisy[i] = clean[i] + 20 * noisy[i];
  if (!g_str_equal (kind, "correlated"))
    return;
  for (guint t = 0; t < VOLUMES; t++)
    correlate (noisy + (gsize) t * SAMPLES, .25);
  for (gsize i = 0; i < (gsize) SAMPLES * VOLUMES; i++)
    noisy[i] = clean[i] + 20 * noisy[i];
}

static gdouble
psnr (const gfloat *volume, const gfloat *truth, gdouble offset)
{
  gdouble sum = 0;

  for (gsize i = 0; i < SAMPLES; i++)
    sum += pow (volume[i] - offset - truth[i], 2);
  return 10 * log10 (255. * 255 * SAMPLES / sum);
}

static gdouble
denoise (const gfloat *noisy, const gfloat *truth, gdouble offset,
    const NdDenoiseSettings *settings, NdNoiseFound *found)
{
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  const NdShape shape = { 1, { SIZE, SIZE, SIZE } };
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      nd_cpu_noise_new (settings, &borders, &shape, ND_FLOAT32, 0, -1, &error);
  g_autofree gfloat *out = g_new (gfloat, SAMPLES);
  const NdSamples to = nd_samples_dense (out, &shape, ND_FLOAT32);
  gdouble result = 0;
  guint made = 0;

  g_assert_no_error (error);
  for (guint t = 0; t < VOLUMES && made <= MIDDLE; t++) {
    const NdSamples in =
        nd_samples_dense ((gpointer) (noisy + (gsize) t * SAMPLES), &shape,
            ND_FLOAT32);

    nd_algorithm_push (algorithm, &in, &error);
    while (nd_algorithm_ready (algorithm)) {
      nd_algorithm_respond (algorithm, &to, &error);
      if (made++ == MIDDLE)
        result = psnr (out, truth, offset);
    }
  }
  *found = (NdNoiseFound){ .sigma = nd_algorithm_sigma (algorithm) };
  if (algorithm->klass->found)
    *found = algorithm->klass->found (algorithm);
  return result;
}

static const struct
{
  const gchar *name;
  NdNoise noise;
  gboolean has_map;
} kinds[] = {
  { "poisson4", ND_NOISE_POISSON },
  { "poisson12", ND_NOISE_POISSON },
  { "camera", ND_NOISE_POISSON },
  { "rician", ND_NOISE_RICIAN },
  { "varying", ND_NOISE_ADDITIVE, TRUE },
  { "correlated", ND_NOISE_CORRELATED },
  { "best", ND_NOISE_ADDITIVE },
};

int
main (int argc, char **argv)
{
  const gchar *kind = argc > 1 ? argv[1] : "all";
  const gchar *only = argc > 2 ? argv[2] : "all";
  const guint32 seed = argc > 3 ? atoi (argv[3]) : 1;
  const gsize n = (gsize) SAMPLES * VOLUMES;
  g_autofree gfloat *clean = g_new (gfloat, n), *noisy = g_new (gfloat, n);

  g_print ("%-10s %-8s noisy  additive (motion)  kind (motion)\n", "kind",
      "phantom");
  for (guint p = 0; p < G_N_ELEMENTS (phantoms); p++) {
    if (!g_str_equal (only, "all") && !g_str_equal (only, phantoms[p].name))
      continue;
    for (gsize i = 0; i < n; i++) {
      const gdouble at[3] = { i % SIZE - 31.5, i / SIZE % SIZE - 31.5,
        i / SIZE / SIZE % SIZE - 31.5 };

      clean[i] = phantoms[p].value (at, i / SAMPLES);
    }
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      const gfloat *truth = clean + (gsize) MIDDLE * SAMPLES;
      const gdouble offset = g_str_equal (kinds[k].name, "camera") ? 100 : 0;
      NdDenoiseSettings settings = { .latency = 3, .strength = 1 };
      NdNoiseFound found;
      const gboolean is_best = g_str_equal (kinds[k].name, "best");

      if (!g_str_equal (kind, "all") && !g_str_equal (kind, kinds[k].name))
        continue;
      add_noise (kinds[k].name, clean, noisy, seed + 100 * p + k);
      g_print ("%-10s %-8s %.2f ", kinds[k].name, phantoms[p].name,
          psnr (noisy + (gsize) MIDDLE * SAMPLES, truth, offset));
      for (guint own = 0; own < 2; own++) {
        settings.noise = own ? kinds[k].noise : ND_NOISE_ADDITIVE;
        settings.has_map = own && kinds[k].has_map;
        for (guint motion = 0; motion < 2; motion++) {
          /* White noise: fast and motion, best with latency 3 and 5. */
          settings.motion = motion && !(own && is_best);
          settings.quality = own && is_best;
          settings.latency = own && is_best && motion ? 5 : 3;
          g_print (" %.2f", denoise (noisy, truth, offset, &settings, &found));
        }
      }
      g_print ("  gain %.3f constant %.2f sigma %.3f certainty %.3f\n",
          found.gain, found.constant, found.sigma, found.certainty);
    }
  }
  return 0;
}
