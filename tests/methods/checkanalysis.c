/* Compares the algorithms of a back end with the references in double
 * precision, on random streams, and measures their speed.
 *
 *   checkanalysis [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *   checkanalysis --bench [--size N] [--module FILE]
 *
 * tests/methods/checkjobs.h explains the options. --bench prints the
 * milliseconds that a volume takes, instead.
 *
 * Denoised volumes differ from the reference by 2e-5 of the range of the
 * samples (root mean square), and single samples by 0.01 sigma; with
 * method=adaptive by 2e-5 sigma, and single samples by 0.001 sigma (in small
 * streams one such sample adds to the mean). A coefficient next to the
 * threshold may be kept by one and set to 0 by the other: if a job exceeds the
 * bounds, its samples are held to the range of three references, whose sigmas
 * differ by the rounding errors of the coefficients. Measures of structure
 * differ from those of the CPU by 2e-3 of tensors whose trace is about 1;
 * velocities are those of patterns that move.
 * Two runs must give equal bits.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/checkanalysis.h"
#include "analysis/adaptive.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "tests/methods/checkjobs.h"

#include <math.h>
#include <string.h>

#define GUARD 64

typedef struct
{
  NdShape shape;
  NdSampleType type;
  guint n_volumes;
  NdDenoiseSettings settings;
  NdDenoiseBorders borders;
  gboolean on_device;   /* volumes in memory of the device */
  gsize samples, bytes; /* of a volume */
  gdouble noise;
  guint8 *stream;
} Case;

static void
set_sample (Case *c, gsize i, gdouble value)
{
  switch (c->type) {
    case ND_UINT8:
      c->stream[i] = CLAMP (rint (value), 0, 255);
      break;
    case ND_INT16:
      ((gint16 *) c->stream)[i] = CLAMP (rint (value), -32768, 32767);
      break;
    case ND_UINT16:
      ((guint16 *) c->stream)[i] = CLAMP (rint (value), 0, 65535);
      break;
    default:
      ((gfloat *) c->stream)[i] = value;
  }
}

static gdouble
get_sample (NdSampleType type, gconstpointer samples, gsize i)
{
  switch (type) {
    case ND_UINT8:
      return ((const guint8 *) samples)[i];
    case ND_INT16:
      return ((const gint16 *) samples)[i];
    case ND_UINT16:
      return ((const guint16 *) samples)[i];
    default:
      return ((const gfloat *) samples)[i];
  }
}

/* Waves that move, and noise. */
static void
fill (Case *c, GRand *r)
{
  const gsize *size = c->shape.size, components = c->shape.components;
  gsize i = 0;

  c->stream = g_malloc (c->bytes * c->n_volumes);
  for (guint t = 0; t < c->n_volumes; t++) {
    for (gsize z = 0; z < size[2]; z++) {
      for (gsize y = 0; y < size[1]; y++) {
        for (gsize x = 0; x < size[0]; x++) {
          const gdouble wave =
              sin (.31 * x + .2 * t) * sin (.23 * y) * cos (.27 * z - .1 * t)
              + (x + t > size[0] / 2 ? .6 : 0);

          for (gsize k = 0; k < components; k++)
            set_sample (c, i++,
                120 + 50 * wave + c->noise * check_random_normal (r));
        }
      }
    }
  }
}

/* Blocks of 8 volumes, all blocks of an output, or motion. */
static void
choose_stages (Case *c, GRand *r)
{
  NdDenoiseSettings *settings = &c->settings;

  settings->motion = g_rand_boolean (r);
  settings->quality = ND_QUALITY_BEST;
  /* The reference takes long. */
  for (guint a = 0; a < 3; a++)
    c->shape.size[a] = 1 + c->shape.size[a] % 13;
  if (settings->motion)
    return;
  if (g_rand_boolean (r))
    settings->latency = ND_DENOISE_LONG_LATENCY;
  if (settings->latency == ND_DENOISE_LONG_LATENCY)
    c->n_volumes = g_rand_int_range (r, 1, 15);
}

/* With times and parameters of any kind, and more than one thread block. */
static void
make_adaptive (Case *c, GRand *r)
{
  c->settings.method = ND_DENOISE_ADAPTIVE;
  c->settings.axes =
      g_rand_int_range (r, 0, 3) ? ND_AXES_SPACE_TIME : ND_AXES_SPACE;
  c->settings.remap = (NdAdaptiveRemap) ND_ADAPTIVE_REMAP;
  if (g_rand_boolean (r))
    c->settings.remap = (NdAdaptiveRemap){ g_rand_double_range (r, 1, 8),
      g_rand_double_range (r, 0, .5), g_rand_double_range (r, 1, 4),
      g_rand_double_range (r, 1, 3), g_rand_double_range (r, .01, .5),
      g_rand_double_range (r, 1, 4), g_rand_double_range (r, 1, 3) };
  if (g_rand_int_range (r, 0, 3) == 0) {
    c->shape.size[0] = g_rand_int_range (r, 30, 80);
    c->shape.size[1] = g_rand_int_range (r, 1, 50);
    c->shape.size[2] = g_rand_int_range (r, 1, 12);
  }
}

/* @vary chooses further settings, unless it is NULL. */
static void
case_init (Case *c, GRand *r, void (*vary) (Case *c, GRand *r))
{
  static const NdBorder borders[] = { ND_BORDER_MIRROR, ND_BORDER_REFLECT,
    ND_BORDER_NEAREST, ND_BORDER_CONSTANT, ND_BORDER_WRAP };
  static const NdSampleType types[] = { ND_FLOAT32, ND_FLOAT32, ND_UINT8,
    ND_INT16, ND_UINT16 };

  *c = (Case){ .shape.components = 1 };
  for (guint a = 0; a < 3; a++)
    c->shape.size[a] = g_rand_int_range (r, 1, a == 0 ? 26 : 16);
  if (g_rand_int_range (r, 0, 4) == 0)
    c->shape.size[2] = 1;
  c->type = types[g_rand_int_range (r, 0, G_N_ELEMENTS (types))];
  c->n_volumes = g_rand_int_range (r, 1, 8);
  c->noise = g_rand_double_range (r, 3, 30);
  c->settings.latency = g_rand_int_range (r, 0, ND_DENOISE_MAX_LATENCY + 1);
  c->settings.sigma = c->noise;
  c->settings.strength = g_rand_boolean (r) ? 1 : 1.4;
  c->borders.border = borders[g_rand_int_range (r, 0, G_N_ELEMENTS (borders))];
  c->borders.time_border = borders[g_rand_int_range (r, 0, 4)];
  c->borders.border_value = 90;
  c->on_device = g_rand_boolean (r);
  if (vary)
    vary (c, r);
  c->samples = c->shape.size[0] * c->shape.size[1] * c->shape.size[2];
  c->bytes = c->samples * nd_sample_size (c->type);
  fill (c, r);
}

/* All outputs. Bytes next to the outputs must not change. */
static guint8 *
run (const Case *c, const NdBackend *with)
{
  const gboolean there = c->on_device && with == check_backend;
  guint8 *outputs = g_malloc (c->bytes * c->n_volumes);
  guint8 *in = check_memory_new (c->bytes, there);
  guint8 *out = check_memory_new (c->bytes + 2 * GUARD, there);
  g_autofree guint8 *guard = g_malloc (c->bytes + 2 * GUARD);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      with->algorithms->denoise_new (&c->settings, &c->borders, &c->shape,
          c->type, 0, -1, &error);
  guint made = 0;

  g_assert_no_error (error);
  for (guint t = 0; t <= c->n_volumes; t++) {
    NdSamples volume = nd_samples_dense (in, &c->shape, c->type);
    NdSamples to = nd_samples_dense (out + GUARD, &c->shape, c->type);

    if (t == c->n_volumes) {
      nd_algorithm_end (algorithm);
    } else {
      check_copy (in, c->stream + t * c->bytes, c->bytes, there);
      nd_algorithm_push (algorithm, &volume, &error);
      g_assert_no_error (error);
    }
    while (nd_algorithm_ready (algorithm)) {
      memset (guard, 0xa5, c->bytes + 2 * GUARD);
      check_copy (out, guard, c->bytes + 2 * GUARD, there);
      nd_algorithm_respond (algorithm, &to, &error);
      g_assert_no_error (error);
      check_copy (guard, out, c->bytes + 2 * GUARD, there);
      for (guint i = 0; i < GUARD; i++) {
        g_assert_cmpuint (guard[i], ==, 0xa5);
        g_assert_cmpuint (guard[GUARD + c->bytes + i], ==, 0xa5);
      }
      memcpy (outputs + made++ * c->bytes, guard + GUARD, c->bytes);
    }
  }
  g_assert_cmpuint (made, ==, c->n_volumes);
  check_memory_free (in, there);
  check_memory_free (out, there);
  return outputs;
}

static gint64
border_index (gint64 i, gint64 n, gpointer border)
{
  return nd_border_index (*(const NdBorder *) border, i, n);
}

/* For float32; integers are compared with the CPU, which corrects clipping. */
static gdouble *
run_reference (const Case *c, gdouble sigma_offset)
{
  NdDenoiseBorders rules = c->borders;
  const NdDenoiseSchedule schedule = nd_denoise_schedule (&c->settings);
  const NdReferenceBorders borders = { border_index, border_index,
    &rules.border, &rules.time_border, rules.border_value };
  const gsize n = c->samples * c->n_volumes;
  g_autofree gdouble *in = g_new (gdouble, n);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  gdouble *out = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    in[i] = get_sample (c->type, c->stream, i);
  for (guint t = 0; t < c->n_volumes; t++)
    sigma[t] = c->settings.sigma * c->settings.strength + sigma_offset;
  if (c->settings.method == ND_DENOISE_ADAPTIVE) {
    NdAdaptiveDesign design;

    nd_adaptive_design_init (&design, c->shape.size[2] == 1 ? 2 : 3,
        c->settings.axes == ND_AXES_SPACE_TIME);
    nd_adaptive_reference (&design, &c->settings.remap, FALSE, schedule.latency,
        &borders, c->shape.size, c->n_volumes, in, sigma, out);
  } else {
    nd_denoise_reference (&schedule, &borders, c->shape.size, c->n_volumes, in,
        sigma, out);
  }
  return out;
}

typedef struct
{
  gdouble rms, worst;
} Difference;

/* How far @got is from the range between @low and @high. */
static Difference
difference (const Case *c, const guint8 *got, const gdouble *low,
    const gdouble *high)
{
  const gsize n = c->samples * c->n_volumes;
  Difference result = { 0, 0 };
  gdouble sum = 0;

  for (gsize i = 0; i < n; i++) {
    const gdouble sample = get_sample (c->type, got, i);
    const gdouble d = MAX (MAX (low[i] - sample, sample - high[i]), 0);

    result.worst = MAX (result.worst, isfinite (sample) ? d : INFINITY);
    sum += d * d;
  }
  result.rms = sqrt (sum / n);
  return result;
}

static gboolean
within_bounds (const Case *c, Difference d)
{
  if (c->settings.method == ND_DENOISE_ADAPTIVE && c->type == ND_FLOAT32) {
    /* In a small stream, one sample at its bound decides the mean. */
    const gdouble rms = hypot (2e-5, 1e-3 / sqrt (c->samples * c->n_volumes));

    return d.rms <= rms * c->noise && d.worst <= 1e-3 * c->noise;
  }
  return c->type == ND_FLOAT32
      ? d.rms <= 2e-5 * 255 && d.worst <= .01 * c->noise
      : d.worst <= 1;
}

/* The difference from references whose thresholds are up to the rounding error
 * of a coefficient away. */
static Difference
difference_near_threshold (const Case *c, const guint8 *got,
    const gdouble *reference)
{
  const gsize n = c->samples * c->n_volumes;
  g_autofree gdouble *low = g_memdup2 (reference, n * sizeof (gdouble));
  g_autofree gdouble *high = g_memdup2 (reference, n * sizeof (gdouble));

  for (gint sign = -1; sign <= 1; sign += 2) {
    g_autofree gdouble *other = run_reference (c, sign * 1e-6 * 255);

    for (gsize i = 0; i < n; i++) {
      low[i] = MIN (low[i], other[i]);
      high[i] = MAX (high[i], other[i]);
    }
  }
  return difference (c, got, low, high);
}

static gboolean
check (gint job, const Case *c)
{
  const gsize n = c->samples * c->n_volumes;
  const gboolean is_float = c->type == ND_FLOAT32;
  g_autofree guint8 *got = run (c, check_backend),
                    *again = run (c, check_backend);
  g_autofree guint8 *cpu = is_float ? NULL : run (c, &nd_cpu_backend);
  g_autofree gdouble *want =
      is_float ? run_reference (c, 0) : g_new (gdouble, n);
  Difference d;
  gboolean ok;

  for (gsize i = 0; !is_float && i < n; i++)
    want[i] = get_sample (c->type, cpu, i);
  d = difference (c, got, want, want);
  if (is_float && c->settings.method == ND_DENOISE_TRANSFORM
      && !within_bounds (c, d))
    d = difference_near_threshold (c, got, want);
  ok =
      within_bounds (c, d) && memcmp (got, again, c->bytes * c->n_volumes) == 0;
  if (!ok)
    g_printerr (
        "# job %d: method %d, axes %d, %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT
        " x %u of %s, quality %d, motion %d, latency %u, borders %d %d, "
        "noise %g: "
        "rms %g, worst %g%s\n",
        job, c->settings.method, c->settings.axes, c->shape.size[0],
        c->shape.size[1], c->shape.size[2], c->n_volumes,
        nd_sample_name (c->type), c->settings.quality, c->settings.motion,
        c->settings.latency, c->borders.border, c->borders.time_border,
        c->noise, d.rms, d.worst,
        memcmp (got, again, c->bytes * c->n_volumes) ? ", not repeatable" : "");
  return ok;
}

/* NaN reaches as far as docs/algorithms.md says, and no further. */
static gboolean
check_reach (gint job, GRand *r)
{
  const gboolean is_motion = g_rand_boolean (r);
  const gint reach = is_motion ? 40 : 17, time_reach = is_motion ? 9 : 14;
  const gint at_x = 5, at_t = 12;
  Case c = {
    .shape = { 1, { 64, 12, 10 } },
    .type = ND_FLOAT32,
    .n_volumes = 28,
    .settings = { .latency = is_motion ? 3 : ND_DENOISE_LONG_LATENCY,
        .quality = ND_QUALITY_BEST,
        .motion = is_motion,
        .sigma = 20,
        .strength = 1 },
    .borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 },
    .samples = 64 * 12 * 10,
    .bytes = 64 * 12 * 10 * sizeof (gfloat),
    .noise = 20,
  };
  g_autofree guint8 *clean = NULL, *got = NULL;
  gsize n_nan = 0, n_wrong = 0;

  fill (&c, r);
  clean = run (&c, check_backend);
  ((gfloat *) c.stream)[at_t * c.samples + at_x] = NAN;
  got = run (&c, check_backend);
  for (gsize i = 0; i < c.samples * c.n_volumes; i++) {
    const gint x = i % c.shape.size[0], t = i / c.samples;
    const gfloat value = ((const gfloat *) got)[i];

    n_nan += isnan (value);
    if (ABS (t - at_t) > time_reach)
      n_wrong += value != ((const gfloat *) clean)[i];
    else
      n_wrong += x > at_x + reach && !isfinite (value);
  }
  if (n_wrong > 0 || n_nan == 0)
    g_printerr ("# job %d: NaN with %s: %" G_GSIZE_FORMAT
                " samples are NaN, %" G_GSIZE_FORMAT " are too far away\n",
        job, is_motion ? "motion" : "blocks of 8 volumes", n_nan, n_wrong);
  g_free (c.stream);
  return n_wrong == 0 && n_nan > 0;
}

/* Outputs of equal volumes have equal bits. A NaN reaches 12 samples and 3
 * volumes far with method=adaptive, and no further. */
static gboolean
check_adaptive_reach (gint job, GRand *r)
{
  enum
  {
    VOLUMES = 9,
    AT = 4 /* the volume with NaN */
  };
  static const gsize size[] = { 40, 37, 33 };
  const gint at[] = { g_rand_int_range (r, 0, 40), g_rand_int_range (r, 0, 37),
    g_rand_int_range (r, 0, 33) };
  guint8 *clean, *got;
  gsize i = 0, n_wrong = 0, n_nan = 0;
  gfloat *in;
  Case c;

  case_init (&c, r, make_adaptive);
  memcpy (c.shape.size, size, sizeof (size));
  c.type = ND_FLOAT32;
  c.n_volumes = VOLUMES;
  c.samples = size[0] * size[1] * size[2];
  c.bytes = c.samples * sizeof (gfloat);
  c.borders.border = c.borders.time_border = ND_BORDER_MIRROR;
  g_free (c.stream);
  fill (&c, r);
  for (guint t = 1; t < VOLUMES; t++)
    memcpy (c.stream + t * c.bytes, c.stream, c.bytes);
  clean = run (&c, check_backend);
  for (guint t = 1; t < VOLUMES; t++)
    n_wrong += memcmp (clean, clean + t * c.bytes, c.bytes) != 0;
  in = (gfloat *) (c.stream + AT * c.bytes);
  in[(at[2] * size[1] + at[1]) * size[0] + at[0]] =
      g_rand_boolean (r) ? NAN : INFINITY;
  got = run (&c, check_backend);
  for (gint t = 0; t < VOLUMES; t++) {
    for (gint z = 0; z < 33; z++) {
      for (gint y = 0; y < 37; y++) {
        for (gint x = 0; x < 40; x++, i++) {
          const gfloat value = ((gfloat *) got)[i];

          if (ABS (t - AT) > 3 || ABS (z - at[2]) > 12 || ABS (y - at[1]) > 12
              || ABS (x - at[0]) > 12)
            n_wrong += value != ((gfloat *) clean)[i];
          else
            n_nan += isnan (value);
        }
      }
    }
  }
  if (n_wrong > 0 || n_nan == 0)
    g_printerr ("# job %d: %" G_GSIZE_FORMAT
                " samples are wrong, %" G_GSIZE_FORMAT " are NaN\n",
        job, n_wrong, n_nan);
  g_free (clean);
  g_free (got);
  g_free (c.stream);
  return n_wrong == 0 && n_nan > 0;
}

static gboolean opt_structure;

static gboolean
check_job (gint job, GRand *r)
{
  gboolean ok;
  Case c;

  if (job % 15 == 2)
    return check_tensors (job, r);
  if (opt_structure || job % 3 == 2)
    return check_structure (job, r);
  if (job % 30 == 1)
    return check_reach (job, r);
  if (job % 24 == 4)
    return check_adaptive_reach (job, r);
  case_init (&c, r,
      job % 3 == 0       ? NULL
          : job % 6 == 1 ? choose_stages
                         : make_adaptive);
  ok = check (job, &c);
  g_free (c.stream);
  return ok;
}

int
main (int argc, char **argv)
{
  static gboolean opt_bench;
  static gint opt_size = -1;
  const GOptionEntry options[] = { { "bench", 0, 0, G_OPTION_ARG_NONE,
                                       &opt_bench, "measure the speed", NULL },
    { "structure", 0, 0, G_OPTION_ARG_NONE, &opt_structure, "only ndstructure",
        NULL },
    { "size", 0, 0, G_OPTION_ARG_INT, &opt_size,
        "measure only volumes of this size", "N" },
    { NULL } };
  const gint code = check_begin (&argc, &argv, options);

  if (code >= 0)
    return code;
  if (!opt_bench)
    return check_run (check_job);
  bench_analysis (opt_size, opt_structure);
  return 0;
}
