/* PSNR of nddenoise beside the best 4D Gaussian, whose sigmas are chosen by the
 * truth, on phantoms with known truth and additive noise. The middle volume,
 * without a margin of 4, on a scale of 255.
 *
 *   ndquality [--latency N] [--quality best] [--method adaptive]
 *             [--motion true] [--noise speckle] [--type uint8]
 *             [--phantom NAME] [--save FOLDER]
 *
 * --noise none prints how far the outputs of volumes without noise are from
 * them.
 *
 * --save writes the noisy middle volume and the truth as raw float32, for
 * tests/bench/quality_peers.py.
 *
 * With --noise speckle the phantom is that of ndtestsrc pattern=heart, and the
 * truth is the mean of 48 others with other speckle, well inside the sector.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "phantom/phantom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 64
#define VOLUMES 15
#define MIDDLE 7
#define MARGIN 4
#define HEARTS 48
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

/* A body with a beating chamber, and vessels; motion of up to 0.6 samples. */
static gdouble
slow (const gdouble at[3], gint t)
{
  const gdouble phase = 2 * G_PI * t / 18, beat = 1 - .1 * (1 - cos (phase));
  const gdouble d =
      ellipsoid (at, 5 + sin (phase), -3, 0, 14 * beat, 12 * beat, 17);
  gdouble value = 60 * inside (ellipsoid (at, 0, 0, 0, 29, 27, 30))
      - 30 * inside (ellipsoid (at, -16, 8, 0, 9, 11, 18)) + 65 * inside (d)
      + 45 * inside (d + 2.5);

  for (guint k = 0; k < 6; k++) {
    const gdouble x = at[0] - 21 * cos (k + .05 * sin (phase)) - .1 * at[2];
    const gdouble y = at[1] - 19 * sin (k + .05 * sin (phase)) + .15 * at[2];

    value += 70 * inside (sqrt (x * x + y * y) - 1.3)
        * inside (ellipsoid (at, 0, 0, 0, 27, 25, 28));
  }
  return CLAMP (value, 0, 255);
}

/* Balls and a shell that move by up to 1.5 samples a volume. */
static gdouble
fast (const gdouble at[3], gint t)
{
  const gdouble s = t - MIDDLE;
  gdouble value = 50 * inside (ellipsoid (at, 0, 0, 0, 30, 30, 28));
  const gdouble shell = ellipsoid (at, 1.2 * s, -.6 * s, 2, 15, 13, 12);

  value += 80 * inside (shell) - 40 * inside (shell + 2.5);
  for (guint k = 0; k < 5; k++) {
    const gdouble angle = 1.3 * k + .07 * s;

    value += 60
        * inside (ellipsoid (at, 20 * cos (angle), 20 * sin (angle),
            4. * k - 8 + .9 * s, 4, 3, 5));
  }
  return CLAMP (value, 0, 255);
}

/* Waves of 6 to 17 samples that move by 0.4 samples. */
static gdouble
texture (const gdouble at[3], gint t)
{
  gdouble value = 128;

  for (guint k = 1; k <= 12; k++) {
    const gdouble wave = 2 * G_PI / (5 + k), a = 2.4 * k, b = 1.1 * k;
    const gdouble along = cos (a) * sin (b) * (at[0] - .4 * t)
        + sin (a) * sin (b) * at[1] + cos (b) * at[2];

    value += 9 * sin (wave * along + k);
  }
  return value;
}

/* A disk with spokes and dents that turns by 0.05 rad and widens by 1 % a
 * volume: motion of up to 1.5 samples, and nothing that other settings were
 * chosen on. */
static gdouble
wheel (const gdouble at[3], gint t)
{
  const gdouble s = t - MIDDLE, turn = .05 * s, wide = 1 + .01 * s;
  const gdouble x = (at[0] * cos (turn) + at[1] * sin (turn)) / wide;
  const gdouble y = (at[1] * cos (turn) - at[0] * sin (turn)) / wide;
  const gdouble r = hypot (x, y), angle = atan2 (y, x);
  const gdouble disk = inside (r - 27) * inside (fabs (at[2]) - 24);

  return 40
      + disk
      * (70 + 45 * inside (fabs (sin (2.5 * angle)) * r * .4 - 1.5)
          - 35 * inside (fabs (r - 15) - 2)
          + 12 * cos (.9 * x + .3 * at[2]) * cos (.8 * y - .2 * at[2]));
}

/* Organs of fine texture that breathe by up to 0.8 samples per volume and are
 * squeezed, with bright and dark spots. It was measured after all settings were
 * chosen. */
static gdouble
tissue (const gdouble at[3], gint t)
{
  const gdouble phase = 2 * G_PI * t / 11, breath = 1.4 * sin (phase);
  const gdouble squeeze = 1 + .04 * cos (phase);
  const gdouble x = at[0] * squeeze, y = at[1] - breath;
  const gdouble z = at[2] - .5 * breath * cos (.06 * at[1]);
  const gdouble here[3] = { x, y, z };
  const gdouble body = inside (ellipsoid (here, 0, 0, 0, 30, 25, 29));
  const gdouble liver = inside (ellipsoid (here, -9, 4, 3, 16, 13, 18));
  const gdouble kidney = inside (ellipsoid (here, 14, -6, -4, 8, 10, 12));
  gdouble fine = 0, value = 35;

  for (guint k = 1; k <= 10; k++) {
    const gdouble wave = 2 * G_PI / (3.5 + .9 * k), a = 3.1 * k, b = 1.7 * k;

    fine += (.5 + .09 * k)
        * sin (wave
                * (cos (a) * sin (b) * x + sin (a) * sin (b) * y + cos (b) * z)
            + 2.3 * k);
  }
  value += body * (45 + 2 * fine) + liver * (50 + 5 * fine)
      + kidney * (70 - 4 * fine);
  for (guint k = 0; k < 12; k++) {
    const gdouble u = x - 22 * sin (2.1 * k), v = y - 17 * cos (3.3 * k);
    const gdouble w = z - 19 * sin (1.3 * k + 1);

    value += (k % 2 ? 80 : -30) * body
        * exp (-(u * u + v * v + w * w) / (2 * (1.2 + .1 * k)));
  }
  return CLAMP (value, 0, 255);
}

typedef gdouble (*Phantom) (const gdouble at[3], gint t);

static void
render (Phantom phantom, gfloat *stream)
{
  for (gsize i = 0; i < (gsize) SAMPLES * VOLUMES; i++) {
    const gdouble at[3] = { i % SIZE - 31.5, i / SIZE % SIZE - 31.5,
      i / SIZE / SIZE % SIZE - 31.5 };

    stream[i] = phantom (at, i / SAMPLES);
  }
}

/* The samples that count; NULL: all without a margin. */
static guint8 *mask;
/* The largest difference among the samples that psnr() compared. */
static gdouble largest;

static gdouble
psnr (const gfloat *volume, const gfloat *truth)
{
  gdouble sum = 0;
  gsize n = 0;

  for (gsize i = 0; i < SAMPLES; i++) {
    const gsize at[3] = { i % SIZE, i / SIZE % SIZE, i / SIZE / SIZE };
    gboolean is_in = !mask || mask[i];

    for (guint a = 0; a < 3 && !mask; a++)
      is_in &= at[a] >= MARGIN && at[a] < SIZE - MARGIN;
    if (!is_in)
      continue;
    sum += (volume[i] - truth[i]) * (volume[i] - truth[i]);
    largest = MAX (largest, fabs (volume[i] - truth[i]));
    n++;
  }
  return 10 * log10 (255. * 255 * n / sum);
}

/* The share of the gradient that @volume keeps at still walls: samples at which
 * the gradient of the truth is above 12 per sample and the volumes next to
 * the truth differ by less than 2. */
static gdouble
kept_gradient (const gfloat *volume, const gfloat *truth)
{
  const gfloat *before = truth - SAMPLES, *after = truth + SAMPLES;
  static const gsize steps[] = { 1, SIZE, SIZE * SIZE };
  gdouble product = 0, square = 0;

  for (gsize i = 0; i < SAMPLES; i++) {
    const gsize at[3] = { i % SIZE, i / SIZE % SIZE, i / SIZE / SIZE };
    gdouble here = 0, both = 0;
    gboolean is_in = fabs (after[i] - before[i]) < 2;

    for (guint a = 0; a < 3; a++)
      is_in &= at[a] >= MARGIN && at[a] < SIZE - MARGIN;
    for (guint a = 0; a < 3 && is_in; a++) {
      const gdouble g = (truth[i + steps[a]] - truth[i - steps[a]]) / 2;

      here += g * g;
      both += g * (volume[i + steps[a]] - volume[i - steps[a]]) / 2;
    }
    if (here <= 12 * 12)
      continue;
    product += both;
    square += here;
  }
  return product / square;
}

/* Along the axis with so many floats between samples; mirrored at the ends. */
static void
smooth_axis (const gfloat *in, gsize step, gdouble sigma, gfloat *out)
{
  const gint radius = ceil (4 * sigma);
  gdouble weights[32], sum = 0;

  for (gint u = -radius; u <= radius; u++)
    sum += exp (-u * u / (2 * sigma * sigma));
  for (gint u = 0; u <= radius; u++)
    weights[u] = exp (-u * u / (2 * sigma * sigma)) / sum;
  for (gsize i = 0; i < SAMPLES; i++) {
    const gint at = i / step % SIZE;
    gdouble value = 0;

    for (gint u = -radius; u <= radius; u++)
      value += weights[ABS (u)]
          * in[i
              + (nd_border_index (ND_BORDER_REFLECT, at + u, SIZE) - at)
                  * (gssize) step];
    out[i] = value;
  }
}

static gdouble
best_gaussian (const gfloat *noisy, const gfloat *truth)
{
  static const gdouble sigmas[] = { .4, .5, .6, .7, .8, .95, 1.1, 1.3 };
  static const gdouble times[] = { .3, .5, .7, .9, 1.2, 1.6 };
  g_autofree gfloat *mean = g_new (gfloat, SAMPLES);
  g_autofree gfloat *a = g_new (gfloat, SAMPLES), *b = g_new (gfloat, SAMPLES);
  gdouble best = 0;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    gdouble sum = 0, before = 0;

    memset (mean, 0, SAMPLES * sizeof (gfloat));
    for (gint u = -MIDDLE; u <= MIDDLE; u++)
      sum += exp (-u * u / (2 * times[i] * times[i]));
    for (gint u = -MIDDLE; u <= MIDDLE; u++) {
      const gdouble w = exp (-u * u / (2 * times[i] * times[i])) / sum;

      for (gsize k = 0; w > 1e-6 && k < SAMPLES; k++)
        mean[k] += w * noisy[(MIDDLE + u) * (gssize) SAMPLES + k];
    }
    for (guint s = 0; s < G_N_ELEMENTS (sigmas); s++) {
      gdouble here;

      smooth_axis (mean, 1, sigmas[s], a);
      smooth_axis (a, SIZE, sigmas[s], b);
      smooth_axis (b, SIZE * SIZE, sigmas[s], a);
      here = psnr (a, truth);
      best = MAX (best, here);
      /* It has one maximum. */
      if (here < before)
        break;
      before = here;
    }
  }
  return best;
}

/* The middle volume; *@ms is the time of one volume, *@kept the share of the
 * gradient. */
static gdouble
denoise (const gfloat *noisy, const gfloat *truth,
    const NdDenoiseSettings *settings, NdSampleType type, gdouble *sigma,
    gdouble *ms, gdouble *kept)
{
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  const NdShape shape = { 1, { SIZE, SIZE, SIZE } };
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      nd_cpu_denoise_new (settings, &borders, &shape, type, 0, -1, &error);
  g_autofree gfloat *out = g_new (gfloat, SAMPLES);
  g_autofree guint8 *bytes = g_new (guint8, SAMPLES);
  gdouble result = 0;
  guint made = 0;

  g_assert_no_error (error);
  *ms = INFINITY;
  for (guint t = 0; t < VOLUMES; t++) {
    const gfloat *volume = noisy + (gsize) t * SAMPLES;
    const gboolean is_float = type == ND_FLOAT32;
    NdSamples in =
        nd_samples_dense (is_float ? (gpointer) volume : bytes, &shape, type);
    NdSamples to =
        nd_samples_dense (is_float ? (gpointer) out : bytes, &shape, type);
    gint64 begin;

    for (gsize i = 0; i < SAMPLES; i++)
      bytes[i] = CLAMP (rint (volume[i]), 0, 255);
    begin = g_get_monotonic_time ();
    nd_algorithm_push (algorithm, &in, &error);
    while (nd_algorithm_ready (algorithm)) {
      nd_algorithm_respond (algorithm, &to, &error);
      if (made > 0)
        *ms = MIN (*ms, (g_get_monotonic_time () - begin) * 1e-3);
      for (gsize i = 0; !is_float && i < SAMPLES; i++)
        out[i] = bytes[i];
      if (made++ != MIDDLE)
        continue;
      result = psnr (out, truth);
      if (kept)
        *kept = kept_gradient (out, truth);
    }
  }
  *sigma = nd_algorithm_sigma (algorithm);
  return result;
}

/* The phase of the beat at volume MIDDLE. */
static void
render_heart (guint64 seed, gdouble noise, gdouble phase, gint from, gint to,
    gfloat *out)
{
  const gsize size[3] = { SIZE, SIZE, SIZE };
  g_autoptr (NdPhantom) heart = nd_phantom_new (size, seed, noise, NULL);

  for (gint t = from; t <= to; t++) {
    nd_phantom_set_time (heart, t, phase + (t - MIDDLE) / 20.);
    for (gsize i = 0; i < SIZE * SIZE; i++, out += SIZE)
      nd_phantom_row (heart, i % SIZE, i / SIZE, out);
  }
}

/* Samples count if those up to 2 samples away vary from one speckle to
 * another. */
static void
find_sector (const gfloat *volumes, guint n)
{
  g_autofree guint8 *varies = g_new (guint8, SAMPLES);

  for (gsize i = 0; i < SAMPLES; i++) {
    gdouble sum = 0, square = 0;

    for (guint k = 0; k < n; k++) {
      sum += volumes[k * SAMPLES + i] / n;
      square += pow (volumes[k * SAMPLES + i], 2) / n;
    }
    varies[i] = square - sum * sum > 1;
  }
  mask = g_new (guint8, SAMPLES);
  for (gint i = 0; i < SAMPLES; i++) {
    mask[i] = TRUE;
    for (gint k = 0; k < 125; k++) {
      const gint x = i % SIZE + k % 5 - 2, y = i / SIZE % SIZE + k / 5 % 5 - 2;
      const gint z = i / SIZE / SIZE + k / 25 - 2;

      mask[i] &= MIN (x, MIN (y, z)) >= 0 && MAX (x, MAX (y, z)) < SIZE
          && varies[(z * SIZE + y) * SIZE + x];
    }
  }
}

/* The largest and the root mean square of the difference of output MIDDLE to
 * its input, without the margin. */
static void
print_unchanged (const gchar *name, const gfloat *clean,
    const NdDenoiseSettings *settings)
{
  static const NdSampleType types[] = { ND_FLOAT32, ND_UINT8 };
  g_autofree gfloat *in = g_new (gfloat, (gsize) SAMPLES * VOLUMES);

  for (guint k = 0; k < G_N_ELEMENTS (types); k++) {
    const gfloat *truth = in + (gsize) MIDDLE * SAMPLES;
    gdouble sigma, ms, ratio;

    for (gsize i = 0; i < (gsize) SAMPLES * VOLUMES; i++)
      in[i] = types[k] == ND_UINT8 ? CLAMP (rint (clean[i]), 0, 255) : clean[i];
    largest = 0;
    ratio = denoise (in, truth, settings, types[k], &sigma, &ms, NULL);
    g_print ("| %s | %s | %.3f | %.4f | %.3f |\n", name,
        nd_sample_name (types[k]), sigma, 255 * pow (10, -ratio / 20), largest);
  }
}

static void
save (const gchar *folder, const gchar *name, gdouble sigma,
    const gfloat *volume)
{
  g_autofree gchar *path =
      g_strdup_printf ("%s/%s-%g.raw", folder, name, sigma);
  g_autoptr (GError) error = NULL;

  if (!g_file_set_contents (path, (const gchar *) volume,
          SAMPLES * sizeof (gfloat), &error))
    g_error ("%s", error->message);
}

static void
print_speckle (const NdDenoiseSettings *settings)
{
  g_autofree gfloat *stream = g_new (gfloat, (gsize) SAMPLES * VOLUMES);
  g_autofree gfloat *others = g_new (gfloat, (gsize) SAMPLES * HEARTS);
  g_autofree gfloat *truth = g_new (gfloat, SAMPLES);

  g_print ("| heart | noise | best Gaussian | nddenoise | gain | ms |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
  for (guint i = 0; i < 4; i++) {
    const gdouble noise = i % 2 ? 6 : 1, phase = i < 2 ? .35 : .2;
    gdouble gaussian, ours, estimate, ms;

    for (guint k = 0; k < HEARTS; k++)
      render_heart (100 + k, noise, phase, MIDDLE, MIDDLE,
          others + (gsize) k * SAMPLES);
    for (gsize n = 0; n < SAMPLES; n++) {
      truth[n] = 0;
      for (guint k = 0; k < HEARTS; k++)
        truth[n] += others[(gsize) k * SAMPLES + n] / HEARTS;
    }
    find_sector (others, HEARTS);
    render_heart (17, noise, phase, 0, VOLUMES - 1, stream);
    gaussian = best_gaussian (stream, truth);
    ours = denoise (stream, truth, settings, ND_FLOAT32, &estimate, &ms, NULL);
    g_print ("| %s | %g | %.2f | %.2f | %+.2f | %.1f |\n",
        i < 2 ? "contracted" : "contracting", noise, gaussian, ours,
        ours - gaussian, ms);
    g_clear_pointer (&mask, g_free);
  }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const gchar *name;
    Phantom phantom;
  } phantoms[] = { { "slow", slow }, { "fast", fast }, { "texture", texture },
    { "wheel", wheel }, { "tissue", tissue } };
  const gchar *only = NULL, *folder = NULL;
  static const gdouble sigmas[] = { 15, 30, 60 };
  NdDenoiseSettings settings = {
    .latency = 3,
    .strength = 1,
    .remap = ND_ADAPTIVE_REMAP,
  };
  NdSampleType type = ND_FLOAT32;
  gboolean noise_free = FALSE;
  g_autofree gfloat *clean = g_new (gfloat, (gsize) SAMPLES * VOLUMES);
  g_autofree gfloat *noisy = g_new (gfloat, (gsize) SAMPLES * VOLUMES);

  for (gint i = 1; i + 1 < argc; i += 2) {
    if (strcmp (argv[i], "--latency") == 0)
      settings.latency = atoi (argv[i + 1]);
    else if (strcmp (argv[i], "--type") == 0)
      type = strcmp (argv[i + 1], "uint8") == 0 ? ND_UINT8 : ND_FLOAT32;
    else if (strcmp (argv[i], "--noise") == 0
        && strcmp (argv[i + 1], "none") == 0)
      noise_free = TRUE;
    else if (strcmp (argv[i], "--noise") == 0)
      settings.noise = strcmp (argv[i + 1], "speckle") == 0 ? ND_NOISE_SPECKLE
                                                            : ND_NOISE_ADDITIVE;
    else if (strcmp (argv[i], "--method") == 0)
      settings.method = strcmp (argv[i + 1], "adaptive") == 0
          ? ND_DENOISE_ADAPTIVE
          : ND_DENOISE_TRANSFORM;
    else if (strcmp (argv[i], "--phantom") == 0)
      only = argv[i + 1];
    else if (strcmp (argv[i], "--save") == 0)
      folder = argv[i + 1];
    else if (strcmp (argv[i], "--motion") == 0)
      settings.motion = strcmp (argv[i + 1], "true") == 0;
    else if (strcmp (argv[i], "--quality") == 0)
      settings.quality =
          strcmp (argv[i + 1], "best") == 0 ? ND_QUALITY_BEST : ND_QUALITY_FAST;
  }
  if (settings.noise == ND_NOISE_SPECKLE) {
    print_speckle (&settings);
    return 0;
  }
  if (noise_free)
    g_print ("| phantom | type | estimated | root mean square | largest |\n"
             "| --- | --- | --- | --- | --- |\n");
  else if (!folder)
    g_print (
        "| phantom | sigma | estimated | best Gaussian | nddenoise | gain | "
        "gradient | ms |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (guint p = 0; p < G_N_ELEMENTS (phantoms); p++) {
    const gfloat *truth = clean + (gsize) MIDDLE * SAMPLES;

    if (only && strcmp (only, phantoms[p].name) != 0)
      continue;
    render (phantoms[p].phantom, clean);
    if (noise_free) {
      print_unchanged (phantoms[p].name, clean, &settings);
      continue;
    }
    for (guint s = 0; s < G_N_ELEMENTS (sigmas); s++) {
      g_autoptr (GRand) rand = g_rand_new_with_seed (1000 * p + s);
      gdouble gaussian, ours, estimate, ms, kept = NAN;

      for (gsize i = 0; i < (gsize) SAMPLES * VOLUMES; i++)
        noisy[i] = clean[i]
            + sigmas[s] * sqrt (-2 * log (1 - g_rand_double (rand)))
                * cos (2 * G_PI * g_rand_double (rand));
      for (gsize i = 0; type == ND_UINT8 && i < (gsize) SAMPLES * VOLUMES; i++)
        noisy[i] = CLAMP (rint (noisy[i]), 0, 255);
      if (folder) {
        save (folder, phantoms[p].name, sigmas[s],
            noisy + (gsize) MIDDLE * SAMPLES);
        save (folder, phantoms[p].name, 0, truth);
        continue;
      }
      gaussian = best_gaussian (noisy, truth);
      ours = denoise (noisy, truth, &settings, type, &estimate, &ms, &kept);
      g_print ("| %s | %g | %.2f | %.2f | %.2f | %+.2f | %.3f | %.1f |\n",
          phantoms[p].name, sigmas[s], estimate, gaussian, ours,
          ours - gaussian, kept, ms);
    }
  }
  return 0;
}
