/* Errors of ndstructure on streams whose velocity or orientation is known:
 * moving textures, textured planes that come closer and turn, the heart of
 * ndtestsrc, and planes, lines and moving points with noise.
 *
 *   ndvelocity [--check | textures | planes | orientation | heart]
 *
 * Prints all tables or one. With --check there are fewer cases, and the exit
 * status is 1 if an error is above the limit of the table.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/structure.h"
#include "phantom/phantom.h"

#include <gst/check/gstharness.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAVES 24
#define DEGREES (180 / G_PI)
#define DURATION (100 * GST_MSECOND)
#define BANK "monomial-bank,size=9"

static gboolean is_check, has_failed;

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
quantile (GArray *values, gdouble q)
{
  g_array_sort (values, compare);
  return values->len > 0
      ? g_array_index (values, gdouble, (guint) (q * (values->len - 1)))
      : NAN;
}

static gdouble
normal (GRand *rand)
{
  return sqrt (-2 * log (1 - g_rand_double (rand)))
      * cos (2 * G_PI * g_rand_double (rand));
}

static const gchar *
judge (gdouble error, gdouble limit)
{
  if (error <= limit)
    return "";
  has_failed = TRUE;
  return " (above the limit)";
}

/* Streams */

typedef void (*Fill) (gpointer data, guint t, gfloat *out);
typedef void (*Take) (gpointer data, guint t, const gfloat *output);

/* Pushes @n volumes of @size into @launch, and takes the outputs. */
static void
run (const gchar *launch, const gsize size[3], guint n, Fill fill, Take take,
    gpointer data)
{
  const gsize samples = size[0] * size[1] * size[2];
  GstHarness *h = gst_harness_new_parse (launch);
  g_autofree gchar *caps = g_strdup_printf (
      "other/tensors,format=static,num_tensors=1,types=float32,"
      "dimensions=1:%zu:%zu:%zu,framerate=10/1",
      size[0], size[1], size[2]);
  guint taken = 0;

  gst_harness_set_src_caps_str (h, caps);
  for (guint t = 0; t <= n; t++) {
    GstBuffer *buffer;
    GstMapInfo map;

    if (t < n) {
      buffer = gst_buffer_new_allocate (NULL, samples * sizeof (gfloat), NULL);
      gst_buffer_map (buffer, &map, GST_MAP_WRITE);
      fill (data, t, (gfloat *) map.data);
      gst_buffer_unmap (buffer, &map);
      GST_BUFFER_PTS (buffer) = t * DURATION;
      GST_BUFFER_DURATION (buffer) = DURATION;
      if (gst_harness_push (h, buffer) != GST_FLOW_OK)
        g_error ("'%s' refuses a volume", launch);
    } else {
      gst_harness_push_event (h, gst_event_new_eos ());
    }
    while ((buffer = gst_harness_try_pull (h))) {
      gst_buffer_map (buffer, &map, GST_MAP_READ);
      take (data, taken++, (const gfloat *) map.data);
      gst_buffer_unmap (buffer, &map);
      gst_buffer_unref (buffer);
    }
  }
  if (taken != n)
    g_error ("'%s' gave %u outputs of %u volumes", launch, taken, n);
  gst_harness_teardown (h);
}

/* Textures */

/* A sum of waves of wavelengths 6 to 14, which moves by @velocity, or comes
 * closer by @growth and turns by @turn around @centre. */
typedef struct
{
  gsize size[3];
  gdouble k[WAVES][3], phase[WAVES];
  gdouble velocity[3];
  gdouble growth, turn, centre[2];
  gdouble sum[4]; /* of the output over the middle */
  gdouble angle;  /* mean angular error */
} Texture;

static void
texture_init (Texture *texture, GRand *rand, const gsize size[3], gdouble speed)
{
  const guint dims = size[2] > 1 ? 3 : 2;
  gdouble norm = 0;

  memset (texture, 0, sizeof (*texture));
  memcpy (texture->size, size, sizeof (texture->size));
  for (guint a = 0; a < dims; a++) {
    texture->velocity[a] = normal (rand);
    norm += texture->velocity[a] * texture->velocity[a];
  }
  for (guint a = 0; a < dims; a++)
    texture->velocity[a] *= speed / sqrt (norm);
  for (guint w = 0; w < WAVES; w++) {
    const gdouble wave = 2 * G_PI / (6 + 8 * g_rand_double (rand));

    norm = 0;
    for (guint a = 0; a < dims; a++) {
      texture->k[w][a] = normal (rand);
      norm += texture->k[w][a] * texture->k[w][a];
    }
    for (guint a = 0; a < dims; a++)
      texture->k[w][a] *= wave / sqrt (norm);
    texture->phase[w] = 2 * G_PI * g_rand_double (rand);
  }
}

static void
fill_texture (gpointer data, guint t, gfloat *out)
{
  const Texture *texture = data;
  const gsize *size = texture->size;
  const gdouble s = t - 7., scale = exp (-texture->growth * s);
  const gdouble c = scale * cos (texture->turn * s);
  const gdouble d = scale * sin (texture->turn * s);

  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    const gdouble x =
        i % size[0] - texture->centre[0] - texture->velocity[0] * s;
    const gdouble y =
        i / size[0] % size[1] - texture->centre[1] - texture->velocity[1] * s;
    const gdouble z = i / size[0] / size[1] - texture->velocity[2] * s;
    const gdouble u = c * x + d * y, v = c * y - d * x;
    gdouble sum = 128;

    for (guint w = 0; w < WAVES; w++)
      sum += 10
          * sin (texture->k[w][0] * u + texture->k[w][1] * v
              + texture->k[w][2] * z + texture->phase[w]);
    out[i] = sum;
  }
}

/* Of the middle one of 15 volumes: the sum of the velocity without a quarter at
 * each side, and the mean angle between (v, 1) and the truth over all
 * samples. */
static void
take_velocity (gpointer data, guint t, const gfloat *output)
{
  Texture *texture = data;
  const gsize *size = texture->size, n = size[0] * size[1] * size[2];
  const guint dims = size[2] > 1 ? 3 : 2;

  if (t != 7)
    return;
  for (gsize i = 0; i < n; i++) {
    const gsize at[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    const gdouble x = at[0] - texture->centre[0],
                  y = at[1] - texture->centre[1];
    const gdouble truth[3] = { texture->velocity[0] + texture->growth * x
          - texture->turn * y,
      texture->velocity[1] + texture->growth * y + texture->turn * x,
      texture->velocity[2] };
    gdouble product = 1, a2 = 1, b2 = 1;
    gboolean inside = TRUE;

    for (guint a = 0; a < dims; a++) {
      const gdouble v = output[i * (dims + 1) + a];

      inside &= at[a] >= size[a] / 4 && at[a] < size[a] - size[a] / 4;
      product += v * truth[a];
      a2 += v * v;
      b2 += truth[a] * truth[a];
    }
    texture->angle += DEGREES * acos (MIN (product / sqrt (a2 * b2), 1)) / n;
    for (guint a = 0; inside && a < dims; a++)
      texture->sum[a] += output[i * (dims + 1) + a];
  }
}

static void
measure_textures (GRand *rand, const gchar *bank)
{
  static const gdouble speeds[] = { .1, .2, .5, 1, 1.5 };

  g_print ("\nTextures that move, `%s`: the largest errors of the mean "
           "velocity.\n\n"
           "| samples per volume | 2D + t: speed, %% | direction, degrees | "
           "3D + t: speed, %% | direction, degrees |\n"
           "| --- | --- | --- | --- | --- |\n",
      bank);
  for (guint s = 0; s < G_N_ELEMENTS (speeds); s += is_check ? 2 : 1) {
    g_print ("| %g |", speeds[s]);
    for (guint dims = 2; dims <= 3; dims++) {
      const gsize size[3] = { dims == 2 ? 48 : 24, dims == 2 ? 40 : 22,
        dims == 2 ? 1 : 20 };
      const guint rounds = is_check ? 1 : dims == 2 ? 8 : 3;
      g_autofree gchar *launch = g_strdup_printf (
          "%s filter=\"%s\" response=tensor backend=cpu ! ndstructure "
          "backend=cpu",
          dims == 2 ? "ndconv3d axes=xyt" : "ndconv4dtemporal", bank);
      gdouble percent = 0, degrees = 0;

      for (guint r = 0; r < rounds; r++) {
        gdouble product = 0, speed = 0, cosine;
        Texture texture;

        texture_init (&texture, rand, size, speeds[s]);
        run (launch, size, 15, fill_texture, take_velocity, &texture);
        for (guint a = 0; a < dims; a++) {
          product += texture.sum[a] * texture.velocity[a];
          speed += texture.sum[a] * texture.sum[a];
        }
        cosine = product / (sqrt (speed) * speeds[s]);
        degrees = MAX (degrees, DEGREES * acos (MIN (cosine, 1)));
        /* The samples that count. */
        speed = sqrt (speed)
            / ((size[0] - size[0] / 4 * 2) * (size[1] - size[1] / 4 * 2)
                * (size[2] - size[2] / 4 * 2));
        percent = MAX (percent, 100 * fabs (speed / speeds[s] - 1));
      }
      g_print (" %.1f%s | %.2f%s |", percent, judge (percent, 3), degrees,
          judge (degrees, 2));
    }
    g_print ("\n");
  }
}

static void
measure_planes (GRand *rand)
{
  static const Texture planes[] = {
    { .growth = .02, .centre = { 48, 40 } },
    { .growth = .03, .centre = { 38, 33 } },
    { .growth = .02, .turn = .015, .centre = { 30, 60 } },
    { .growth = .015, .velocity = { .8, -.5 }, .centre = { 48, 40 } },
    { .velocity = { 1.2, .4 } },
  };
  const gsize size[3] = { 96, 80, 1 };
  const guint rounds = is_check ? 1 : 4;

  g_print ("\nTextured planes of 96 x 80 samples, `" BANK "`, `sigma=3`: mean "
           "angular error in degrees.\n\n"
           "| growth and turn per frame, velocity | constant | affine |\n"
           "| --- | --- | --- |\n");
  for (guint p = 0; p < G_N_ELEMENTS (planes); p++) {
    gdouble errors[2] = { 0 };

    for (guint r = 0; r < rounds; r++) {
      Texture texture;

      texture_init (&texture, rand, size, 0);
      for (guint model = 0; model < 2; model++) {
        g_autofree gchar *launch =
            g_strdup_printf ("ndconv3d axes=xyt filter=\"" BANK
                             "\" response=tensor backend=cpu "
                             "! ndstructure backend=cpu sigma=3 model=%s",
                model == 0 ? "constant" : "affine");

        texture.growth = planes[p].growth;
        texture.turn = planes[p].turn;
        memcpy (texture.centre, planes[p].centre, sizeof (texture.centre));
        memcpy (texture.velocity, planes[p].velocity,
            sizeof (texture.velocity));
        texture.angle = 0;
        run (launch, size, 15, fill_texture, take_velocity, &texture);
        errors[model] += texture.angle / rounds;
      }
    }
    g_print ("| %g, %g, (%g, %g) | %.2f%s | %.2f%s |\n", planes[p].growth,
        planes[p].turn, planes[p].velocity[0], planes[p].velocity[1], errors[0],
        judge (errors[0], 1.94), errors[1], judge (errors[1], 1.40));
  }
}

/* The heart */

/* Volumes at 100 per second. Volume HEART_VOLUME is measured, the later ones
 * are those that its filters and window reach. */
#define HEART_RATE 100
#define HEART_VOLUME 10
#define HEART_VOLUMES 21

/* The recipe of docs/algorithms.md. */
#define HEART_SMOOTH "gaussian,sigma=0.6:0.6:0.6:1.0"
#define HEART_BANK "monomial-bank,size=7,order=2.0,bandwidth=1.5"

/* Part of the volume is filtered, in sixteenths of its length: the left
 * ventricle with its surroundings, of which both halves along z are alike.
 * Samples at most HEART_MARGIN from the sides of the part do not count. */
#define HEART_MARGIN 5
static const guint heart_from[3] = { 3, 1, 7 }, heart_to[3] = { 15, 14, 13 };

typedef struct
{
  gsize volume_size, from[3], size[3]; /* of the part */
  gdouble beats;                       /* per volume */
  gdouble phase;                       /* of HEART_VOLUME */
  NdPhantom *phantom;
  GArray *errors, *certain, *inner; /* % of the speed */
} Heart;

static void
fill_heart (gpointer data, guint t, gfloat *out)
{
  const Heart *heart = data;
  const gdouble phase =
      heart->phase + heart->beats * ((gdouble) t - HEART_VOLUME);
  g_autofree gfloat *row = g_new (gfloat, heart->volume_size);

  nd_phantom_set_time (heart->phantom, t, phase);
  for (gsize z = 0; z < heart->size[2]; z++) {
    for (gsize y = 0; y < heart->size[1]; y++, out += heart->size[0]) {
      nd_phantom_row (heart->phantom, heart->from[1] + y, heart->from[2] + z,
          row);
      memcpy (out, row + heart->from[0], heart->size[0] * sizeof (gfloat));
    }
  }
}

/* The true velocity of the volume: 4 components, the last one is 0 outside of
 * the sector. */
static gfloat *
get_truth (const Heart *heart)
{
  const gsize n = heart->volume_size;
  gfloat *truth = g_new (gfloat, 4 * n * n * n);

  nd_phantom_set_time (heart->phantom, HEART_VOLUME, heart->phase);
  for (gsize i = 0; i < n * n; i++)
    nd_phantom_velocity_row (heart->phantom, heart->beats, i % n, i / n,
        truth + 4 * n * i);
  return truth;
}

/* Whether the samples HEART_MARGIN away along all axes and diagonals are in the
 * sector. */
static gboolean
is_inner (const gfloat *truth, gint n, const gint at[3])
{
  for (gint k = 0; k < 27; k++) {
    const gint x = at[0] + (k % 3 - 1) * HEART_MARGIN;
    const gint y = at[1] + (k / 3 % 3 - 1) * HEART_MARGIN;
    const gint z = at[2] + (k / 9 - 1) * HEART_MARGIN;

    if (MIN (x, MIN (y, z)) < 0 || MAX (x, MAX (y, z)) >= n
        || truth[4 * (((gsize) z * n + y) * n + x) + 3] == 0)
      return FALSE;
  }
  return TRUE;
}

/* Samples count that move by more than 0.1 samples per volume. */
static void
take_heart (gpointer data, guint t, const gfloat *output)
{
  Heart *heart = data;
  const gsize n = heart->volume_size, *size = heart->size;
  g_autofree gfloat *truths = NULL;

  if (t != HEART_VOLUME)
    return;
  truths = get_truth (heart);
  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++, output += 4) {
    const gsize place[3] = { i % size[0], i / size[0] % size[1],
      i / size[0] / size[1] };
    gdouble speed = 0, error = 0;
    gboolean counts = TRUE;
    const gfloat *truth;
    gint at[3];

    for (guint a = 0; a < 3; a++) {
      at[a] = heart->from[a] + place[a];
      counts &= place[a] >= HEART_MARGIN && place[a] < size[a] - HEART_MARGIN;
    }
    truth = truths + 4 * ((at[2] * n + at[1]) * n + at[0]);
    for (guint a = 0; a < 3; a++) {
      speed += truth[a] * truth[a];
      error += (output[a] - truth[a]) * (output[a] - truth[a]);
    }
    if (!counts || truth[3] == 0 || speed < .01)
      continue;
    error = 100 * sqrt (error / speed);
    g_array_append_val (heart->errors, error);
    if (output[3] >= .5)
      g_array_append_val (heart->certain, error);
    if (is_inner (truths, n, at))
      g_array_append_val (heart->inner, error);
  }
}

static void
measure_heart (void)
{
  static const struct
  {
    gsize size;
    guint seed;
    gdouble noise, rate, phase; /* beats per minute */
    const gchar *structure;
  } cases[] = { { 96, 0, 1, 72, .2, "sigma=1.75 model=affine" },
    { 96, 5, 1, 72, .2, "sigma=1.75 model=affine" },
    { 96, 0, 0, 72, .2, "sigma=1.75 model=affine" },
    { 96, 0, 1, 72, .2, "sigma=1.75" },
    { 96, 2, 1, 72, .52, "sigma=1.75 model=affine" },
    { 96, 2, 1, 72, .52, "sigma=1.5 model=affine" },
    { 96, 7, 1, 110, .19, "sigma=1.75 model=affine" },
    { 96, 7, 1, 110, .19, "sigma=1.5 model=affine" },
    { 128, 0, 1, 72, .2, "sigma=1.75 model=affine" },
    { 64, 3, 1, 72, .2, "sigma=1.75 model=affine" } };

  g_print ("\nThe heart of `ndtestsrc framerate=100/1`, `" HEART_SMOOTH
           "`, `" HEART_BANK "`: median error of the velocity in %% of the "
           "speed.\n\n"
           "| size, seed, noise, beats per minute, phase, `ndstructure` | all "
           "that moves | certainty >= 0.5 | away from the edge |\n"
           "| --- | --- | --- | --- |\n");
  for (guint i = 0; i < (is_check ? 1 : G_N_ELEMENTS (cases)); i++) {
    Heart heart = {
      .volume_size = cases[i].size,
      .beats = cases[i].rate / 60 / HEART_RATE,
      .phase = cases[i].phase,
    };
    const gsize full[3] = { cases[i].size, cases[i].size, cases[i].size };
    g_autofree gchar *launch =
        g_strdup_printf ("ndconv4dtemporal filter=\"" HEART_SMOOTH
                         "\" backend=cpu ! "
                         "ndconv4dtemporal filter=\"" HEART_BANK
                         "\" response=tensor "
                         "backend=cpu ! ndstructure %s backend=cpu",
            cases[i].structure);
    gdouble all, certain;

    for (guint a = 0; a < 3; a++) {
      heart.from[a] = heart_from[a] * cases[i].size / 16;
      heart.size[a] = heart_to[a] * cases[i].size / 16 - heart.from[a];
    }
    heart.phantom = nd_phantom_new (full, cases[i].seed, cases[i].noise, NULL);
    heart.errors = g_array_new (FALSE, FALSE, sizeof (gdouble));
    heart.certain = g_array_new (FALSE, FALSE, sizeof (gdouble));
    heart.inner = g_array_new (FALSE, FALSE, sizeof (gdouble));
    run (launch, heart.size, HEART_VOLUMES, fill_heart, take_heart, &heart);
    all = quantile (heart.errors, .5);
    certain = quantile (heart.certain, .5);
    g_print ("| %zu, %u, %g, %g, %g, `%s` | %.1f%s | %.1f%s of %.0f %% | "
             "%.1f of %.0f %% |\n",
        cases[i].size, cases[i].seed, cases[i].noise, cases[i].rate,
        cases[i].phase, cases[i].structure, all,
        is_check ? judge (all, 10) : "", certain,
        is_check ? judge (certain, 9.5) : "",
        100. * heart.certain->len / heart.errors->len,
        quantile (heart.inner, .5),
        100. * heart.inner->len / heart.errors->len);
    g_array_unref (heart.errors);
    g_array_unref (heart.certain);
    g_array_unref (heart.inner);
    nd_phantom_free (heart.phantom);
  }
}

/* Orientation */

/* A wave along, or a line along, a direction through the middle; over time if
 * the last axis is time, so that the line is the way of a point. @axes: 2 to
 * 4. */
typedef struct
{
  guint axes, volumes, directions;
  gboolean is_line;
  gsize size[3];
  gdouble noise;
  gdouble direction[4], phase;
  GRand *rand;
  GArray *errors;
  GArray *truths; /* of all directions */
} Neighbourhood;

#define RADIUS 1.5 /* of a line: the sigma of a Gaussian */
#define WAVE 0.9   /* radians per sample */

static void
fill_neighbourhood (gpointer data, guint t, gfloat *out)
{
  Neighbourhood *n = data;
  const gsize samples = n->size[0] * n->size[1] * n->size[2];
  gdouble *d = n->direction;

  if (t % n->volumes == 0) {
    gdouble norm = 0;

    for (guint a = 0; a < 4; a++) {
      d[a] = a < n->axes ? normal (n->rand) : 0;
      norm += d[a] * d[a];
    }
    for (guint a = 0; a < n->axes; a++)
      d[a] /= sqrt (norm);
    n->phase = 2 * G_PI * g_rand_double (n->rand);
    g_array_append_vals (n->truths, d, 4);
  }
  for (gsize i = 0; i < samples; i++) {
    const gdouble at[4] = { i % n->size[0] - (n->size[0] - 1) / 2.,
      i / n->size[0] % n->size[1] - (n->size[1] - 1) / 2.,
      i / n->size[0] / n->size[1] - (n->size[2] - 1) / 2.,
      n->axes == 4 ? t % n->volumes - (n->volumes - 1) / 2. : 0 };
    gdouble along = 0, square = 0;

    for (guint a = 0; a < n->axes; a++) {
      along += at[a] * d[a];
      square += at[a] * at[a];
    }
    /* Both have a standard deviation or a height of about 100. */
    out[i] = n->is_line
        ? 100 * exp (-(square - along * along) / (2 * RADIUS * RADIUS))
        : 100 * M_SQRT2 * sin (WAVE * along + n->phase);
    out[i] += n->noise * normal (n->rand);
  }
}

/* The angle at the sample in the middle. The direction of a line is that of
 * the least eigenvalue. */
static void
take_orientation (gpointer data, guint t, const gfloat *output)
{
  Neighbourhood *n = data;
  const guint components = nd_tensor_components (n->axes);
  const gsize middle =
      (n->size[2] / 2 * n->size[1] + n->size[1] / 2) * n->size[0]
      + n->size[0] / 2;
  gdouble tensor[ND_TENSOR_MAX_COMPONENTS], values[4], vectors[4][4];
  gdouble product = 0, degrees;

  if (t % n->volumes != n->volumes / 2)
    return;
  for (guint c = 0; c < components; c++)
    tensor[c] = output[middle * components + c];
  nd_tensor_eigen (n->axes, tensor, values, vectors);
  for (guint a = 0; a < n->axes; a++)
    product += vectors[n->is_line ? n->axes - 1 : 0][a]
        * g_array_index (n->truths, gdouble, t / n->volumes * 4 + a);
  degrees = DEGREES * acos (MIN (fabs (product), 1));
  g_array_append_val (n->errors, degrees);
}

static void
measure_orientation (GRand *rand)
{
  static const struct
  {
    const gchar *name;
    guint axes;
    gboolean is_line;
  } kinds[] = { { "2D: lines and edges", 2, FALSE }, { "3D: planes", 3, FALSE },
    { "3D: lines", 3, TRUE }, { "4D: moving planes", 4, FALSE },
    { "4D: moving points", 4, TRUE } };

  g_print (
      "\nOrientation of 200 directions with noise, `monomial-bank,size=7`, "
      "`sigma=1.5`: errors in degrees.\n\n"
      "| | SNR 10 (20 dB): median | 95 %% | SNR 3.2 (10 dB): median | 95 %% "
      "|\n"
      "| --- | --- | --- | --- | --- |\n");
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
    g_print ("| %s |", kinds[k].name);
    for (guint s = 0; s < 2; s++) {
      Neighbourhood n = { .axes = kinds[k].axes,
        .is_line = kinds[k].is_line,
        .noise = s == 0 ? 10 : 100 / sqrt (10),
        .directions = is_check && kinds[k].axes == 4 ? 20 : 200,
        .rand = rand };
      g_autofree gchar *launch = g_strdup_printf (
          "%s filter=\"monomial-bank,size=7\" response=tensor backend=cpu ! "
          "ndstructure backend=cpu sigma=1.5 output=tensor",
          n.axes == 2       ? "ndconv2d"
              : n.axes == 3 ? "ndconv3d"
                            : "ndconv4dtemporal");

      for (guint a = 0; a < 3; a++)
        n.size[a] = a < n.axes ? (n.axes == 4 ? 17 : 21) : 1;
      /* The window has 7 volumes, the bank 7. */
      n.volumes = n.axes == 4 ? 13 : 7;
      n.errors = g_array_new (FALSE, FALSE, sizeof (gdouble));
      n.truths = g_array_new (FALSE, FALSE, sizeof (gdouble));
      run (launch, n.size, n.directions * n.volumes, fill_neighbourhood,
          take_orientation, &n);
      g_print (" %.2f%s | %.2f |", quantile (n.errors, .5),
          judge (s == 0 ? quantile (n.errors, .95) : 0, 2),
          quantile (n.errors, .95));
      g_array_unref (n.errors);
      g_array_unref (n.truths);
    }
    g_print ("\n");
  }
}

int
main (int argc, char **argv)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  const gchar *only = argc > 1 ? argv[1] : NULL;

  gst_init (&argc, &argv);
  is_check = g_strcmp0 (only, "--check") == 0;
  if (is_check || !only || g_str_equal (only, "textures"))
    measure_textures (rand, BANK);
  if (!is_check && (!only || g_str_equal (only, "textures"))) {
    measure_textures (rand, "monomial-bank,size=7");
    measure_textures (rand, BANK ",order=2.0");
  }
  if (is_check || !only || g_str_equal (only, "planes"))
    measure_planes (rand);
  if (is_check || !only || g_str_equal (only, "orientation"))
    measure_orientation (rand);
  if (is_check || !only || g_str_equal (only, "heart"))
    measure_heart ();
  if (!is_check && (!only || g_str_equal (only, "textures")))
    measure_textures (rand, HEART_BANK);
  return has_failed && is_check ? 1 : 0;
}
