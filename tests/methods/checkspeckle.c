/* Compares nddenoise noise=speckle of a back end with the references in double
 * precision, and with the CPU, on random streams.
 *
 *   checkspeckle [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *
 * tests/methods/checkjobs.h explains the options.
 *
 * Outputs of float32 differ from the reference by 1e-4 of the noise (root mean
 * square), and single samples by 0.005. A coefficient next to the threshold may
 * be kept by one and set to 0 by the other: if a job exceeds the bounds, its
 * samples are held to the range of several references, whose strengths differ
 * by the rounding errors of the coefficients. Integers, streams with NaN and
 * infinity, and those whose strength changes are compared with the CPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "analysis/speckle.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "tests/methods/checkjobs.h"

#include <math.h>
#include <string.h>

#define RMS 1e-4
#define WORST 5e-3
/* Rounding errors of coefficients. */
#define ROUNDING (1e-6 * 255)

typedef struct
{
  NdShape shape;
  NdSampleType type;
  guint n_volumes;
  NdDenoiseSettings settings;
  NdDenoiseBorders borders;
  guint64 kept;
  gboolean on_device; /* volumes in memory of the device */
  gboolean has_nan;
  guint change;   /* the volume before which the strength changes */
  gsize n, bytes; /* numbers and bytes of a volume */
  gdouble noise;
  guint8 *stream;
} Case;

static void
set_number (NdSampleType type, gpointer numbers, gsize i, gdouble value)
{
  if (type == ND_UINT8)
    ((guint8 *) numbers)[i] = CLAMP (rint (value), 0, 255);
  else if (type == ND_INT16)
    ((gint16 *) numbers)[i] = rint (10 * value);
  else
    ((gfloat *) numbers)[i] = value;
}

static gdouble
get_number (NdSampleType type, gconstpointer numbers, gsize i)
{
  return type == ND_UINT8 ? ((const guint8 *) numbers)[i]
      : type == ND_INT16  ? ((const gint16 *) numbers)[i]
                          : ((const gfloat *) numbers)[i];
}

/* A wall that moves, and noise. A corner is black. */
static void
fill (Case *c, GRand *r)
{
  const gsize *size = c->shape.size;
  const gsize black = g_rand_int_range (r, 0, 12);
  gsize i = 0;

  c->stream = g_malloc (c->bytes * c->n_volumes);
  for (guint t = 0; t < c->n_volumes; t++) {
    for (gsize z = 0; z < size[2]; z++) {
      for (gsize y = 0; y < size[1]; y++) {
        for (gsize x = 0; x < size[0]; x++) {
          for (gsize k = 0; k < c->shape.components; k++) {
            gdouble value = 80 + 40 * sin (.31 * x) * sin (.23 * y - .1 * z)
                + (x + t > size[0] / 2 ? 60 : 0)
                + c->noise * check_random_normal (r);

            if (x + y + z < black)
              value = 0;
            if (c->has_nan && g_rand_int_range (r, 0, 9000) == 0)
              value = g_rand_boolean (r) ? NAN : INFINITY;
            set_number (c->type, c->stream, i++, value);
          }
        }
      }
    }
  }
}

static void
case_init (Case *c, GRand *r)
{
  static const NdBorder borders[] = { ND_BORDER_MIRROR, ND_BORDER_REFLECT,
    ND_BORDER_NEAREST, ND_BORDER_CONSTANT, ND_BORDER_WRAP };
  static const NdSampleType types[] = { ND_FLOAT32, ND_FLOAT32, ND_UINT8,
    ND_INT16 };

  *c = (Case){ .shape.components = 1 };
  for (guint a = 0; a < 3; a++)
    c->shape.size[a] = g_rand_int_range (r, 1, a == 0 ? 50 : 22);
  if (g_rand_int_range (r, 0, 3) == 0) {
    c->shape.size[1] = g_rand_int_range (r, 1, 90);
    c->shape.size[2] = 1;
  }
  if (g_rand_int_range (r, 0, 5) == 0)
    c->shape.components = g_rand_int_range (r, 2, 4);
  c->type = types[g_rand_int_range (r, 0, G_N_ELEMENTS (types))];
  c->n_volumes = g_rand_int_range (r, 1, 6);
  c->noise = g_rand_double_range (r, 3, 20);
  c->has_nan = c->type == ND_FLOAT32 && g_rand_int_range (r, 0, 4) == 0;
  c->kept = g_rand_int_range (r, 0, 8) == 0 ? 2 : 0;
  c->change = g_rand_int_range (r, 0, 6) == 0 ? c->n_volumes / 2 : G_MAXUINT;
  c->settings.noise = ND_NOISE_SPECKLE;
  c->settings.remap = (NdAdaptiveRemap) ND_ADAPTIVE_REMAP;
  c->settings.latency = g_rand_int_range (r, 0, 3);
  c->settings.strength =
      g_rand_boolean (r) ? 1 : g_rand_double_range (r, .3, 2);
  c->borders.border = borders[g_rand_int_range (r, 0, G_N_ELEMENTS (borders))];
  c->borders.time_border = borders[g_rand_int_range (r, 0, 4)];
  c->borders.border_value = 90;
  c->on_device = g_rand_boolean (r);
  c->n = c->shape.components * c->shape.size[0] * c->shape.size[1]
      * c->shape.size[2];
  c->bytes = c->n * nd_sample_size (c->type);
  fill (c, r);
}

/* All outputs. */
static guint8 *
run (const Case *c, const NdBackend *with)
{
  const gboolean there =
      c->on_device && with == check_backend && check_backend->memory;
  guint8 *outputs = g_malloc (c->bytes * c->n_volumes);
  guint8 *in = check_memory_new (c->bytes, there);
  guint8 *out = check_memory_new (c->bytes, there);
  NdDenoiseSettings settings = c->settings;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm = with->algorithms->denoise_new (&settings,
      &c->borders, &c->shape, c->type, c->kept, -1, &error);
  guint made = 0;

  g_assert_no_error (error);
  for (guint t = 0; t <= c->n_volumes; t++) {
    const NdSamples volume = nd_samples_dense (in, &c->shape, c->type);
    const NdSamples to = nd_samples_dense (out, &c->shape, c->type);

    if (t == c->change) {
      settings.strength *= 1.5;
      nd_algorithm_set_strength (algorithm, &settings);
    }
    if (t == c->n_volumes) {
      nd_algorithm_end (algorithm);
    } else {
      check_copy (in, c->stream + t * c->bytes, c->bytes, there);
      nd_algorithm_push (algorithm, &volume, &error);
      g_assert_no_error (error);
    }
    while (nd_algorithm_ready (algorithm)) {
      nd_algorithm_respond (algorithm, &to, &error);
      g_assert_no_error (error);
      check_copy (outputs + made++ * c->bytes, out, c->bytes, there);
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

/* One component of the stream by the definition. */
static void
filter_component (const Case *c, gdouble strength, const gdouble *in,
    gdouble *out)
{
  NdDenoiseBorders rules = c->borders;
  const NdReferenceBorders borders = { border_index, border_index,
    &rules.border, &rules.time_border, rules.border_value };
  const guint latency = nd_denoise_schedule (&c->settings).latency;
  const gsize *size = c->shape.size, samples = size[0] * size[1] * size[2];
  const gsize n = samples * c->n_volumes;
  g_autofree gdouble *median = g_new (gdouble, n);
  g_autofree gdouble *shrunk = g_new (gdouble, samples);
  g_autofree gdouble *sigma = g_new (gdouble, c->n_volumes);
  NdAdaptiveDesign design;

  for (guint t = 0; t < c->n_volumes; t++)
    sigma[t] = strength;
  nd_adaptive_design_init (&design, size[2] == 1 ? 2 : 3, FALSE);
  nd_speckle_reference (latency, &borders, size, c->n_volumes, in, median);
  nd_adaptive_reference (&design, &c->settings.remap, TRUE, latency, &borders,
      size, c->n_volumes, median, sigma, out);
  for (gsize at = 0; at < n; at += samples) {
    if (!nd_shrink_reference (&borders, size, strength, median + at, shrunk))
      continue;
    for (gsize i = 0; i < samples; i++)
      out[at + i] = (out[at + i] + shrunk[i]) / 2;
  }
}

static gdouble *
run_reference (const Case *c, gdouble factor)
{
  const gsize components = c->shape.components;
  const gsize n = c->n * c->n_volumes / components;
  g_autofree gdouble *in = g_new (gdouble, n), *out = g_new (gdouble, n);
  gdouble *result = g_new (gdouble, n * components);

  for (gsize k = 0; k < components; k++) {
    for (gsize i = 0; i < n; i++)
      in[i] = get_number (c->type, c->stream, i * components + k);
    if (!(c->kept >> k & 1))
      filter_component (c, c->settings.strength * factor, in, out);
    for (gsize i = 0; i < n; i++)
      result[i * components + k] = c->kept >> k & 1 ? in[i] : out[i];
  }
  return result;
}

typedef struct
{
  gdouble rms, worst; /* in units of the noise, or of the integers */
} Difference;

/* How far @got is from the range between @low and @high. Only one of the two
 * being finite is infinitely far. */
static Difference
difference (const Case *c, const guint8 *got, const gdouble *low,
    const gdouble *high)
{
  const gsize n = c->n * c->n_volumes;
  const gdouble unit = c->type == ND_FLOAT32 ? c->noise : 1;
  Difference result = { 0, 0 };
  gdouble sum = 0;

  for (gsize i = 0; i < n; i++) {
    const gdouble sample = get_number (c->type, got, i);
    gdouble d = MAX (MAX (low[i] - sample, sample - high[i]), 0) / unit;

    if (!isfinite (sample) || !isfinite (low[i]) || !isfinite (high[i]))
      d = isfinite (sample) == isfinite (low[i]) ? 0 : INFINITY;
    result.worst = MAX (result.worst, d);
    sum += d * d;
  }
  result.rms = sqrt (sum / n);
  return result;
}

static gboolean
within_bounds (const Case *c, Difference d)
{
  return c->type == ND_FLOAT32 ? d.rms <= RMS && d.worst <= WORST
                               : d.worst <= 1;
}

static Difference
difference_near_threshold (const Case *c, const guint8 *got,
    const gdouble *reference)
{
  const gsize n = c->n * c->n_volumes;
  g_autofree gdouble *low = g_memdup2 (reference, n * sizeof (gdouble));
  g_autofree gdouble *high = g_memdup2 (reference, n * sizeof (gdouble));

  for (gint step = -2; step <= 2; step++) {
    g_autofree gdouble *other =
        run_reference (c, 1 + step * ROUNDING / 2 / c->noise);

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
  const gsize n = c->n * c->n_volumes;
  const gboolean with_cpu =
      c->type != ND_FLOAT32 || c->has_nan || c->change != G_MAXUINT;
  g_autofree guint8 *got = run (c, check_backend),
                    *again = run (c, check_backend);
  g_autofree guint8 *cpu = with_cpu ? run (c, &nd_cpu_backend) : NULL;
  g_autofree gdouble *want =
      with_cpu ? g_new (gdouble, n) : run_reference (c, 1);
  const gboolean is_equal = memcmp (got, again, c->bytes * c->n_volumes) == 0;
  Difference d;
  gboolean ok;

  for (gsize i = 0; with_cpu && i < n; i++)
    want[i] = get_number (c->type, cpu, i);
  d = difference (c, got, want, want);
  if (!with_cpu && !within_bounds (c, d))
    d = difference_near_threshold (c, got, want);
  ok = is_equal
      && (within_bounds (c, d)
          /* The thresholds of both have rounding errors. */
          || (with_cpu && c->type == ND_FLOAT32 && d.rms <= .05));
  if (!ok)
    g_printerr ("# job %d: %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                ":%" G_GSIZE_FORMAT " x %u of %" G_GSIZE_FORMAT
                " %s, latency %u, strength %g, borders %d %d%s%s: rms %g, "
                "worst %g%s\n",
        job, c->shape.size[0], c->shape.size[1], c->shape.size[2], c->n_volumes,
        c->shape.components, nd_sample_name (c->type), c->settings.latency,
        c->settings.strength, c->borders.border, c->borders.time_border,
        c->has_nan ? ", NaN" : "", c->change != G_MAXUINT ? ", change" : "",
        d.rms, d.worst, is_equal ? "" : ", not repeatable");
  return ok;
}

static gboolean
check_job (gint job, GRand *r)
{
  gboolean ok;
  Case c;

  case_init (&c, r);
  ok = check (job, &c);
  g_free (c.stream);
  return ok;
}

int
main (int argc, char **argv)
{
  const gint code = check_begin (&argc, &argv, NULL);

  return code >= 0 ? code : check_run (check_job);
}
