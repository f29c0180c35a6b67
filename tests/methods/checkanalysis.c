/* Compares the algorithms of a back end with the references in double
 * precision, on random streams, and measures their speed.
 *
 *   checkanalysis [--seed N] [--jobs N] [--only JOB] [--module FILE]
 *   checkanalysis --bench [--size N] [--module FILE]
 *
 * --module tests the back end of a module, for example cuda/ndconv-cuda.so. The
 * exit code is 77 if there is no device and 1 if the device cannot be used.
 * --bench prints the milliseconds that a volume takes, instead.
 *
 * Denoised volumes differ from the reference by 2e-5 of the range of the
 * samples (root mean square), and single samples by 0.01 sigma; with
 * method=adaptive by 2e-5 sigma, and single samples by 0.001 sigma. A
 * coefficient next to the threshold may be kept by one and set to 0 by the
 * other: if a job exceeds the bounds, its samples are held to the range of
 * three references, whose sigmas differ by the rounding errors of the
 * coefficients. Measures of structure differ from those of the CPU by 2e-3 of
 * tensors whose trace is about 1; velocities are those of patterns that move.
 * Two runs must give equal bits.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/adaptive.h"
#include "core/error.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "engine/backend.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64

enum
{
  BENCH_VOLUMES = 8,
  BENCH_TIMES = 40
};

static gint opt_seed = -1;
static gint opt_jobs = 60;
static gint opt_only = -1;
static gint opt_size = -1;
static gboolean opt_bench;
static gchar *opt_module;
static const NdBackend *backend = &nd_cpu_backend;

/* Memory for one volume, of the device if that has its own. */
static guint8 *
memory_new (gsize bytes, gboolean on_device)
{
  GError *error = NULL;
  guint8 *memory;

  if (!on_device || !backend->memory)
    return g_malloc0 (bytes);
  memory = backend->memory->alloc (-1, bytes, &error);
  g_assert_no_error (error);
  return memory;
}

static void
memory_free (guint8 *memory, gboolean on_device)
{
  if (!on_device || !backend->memory)
    g_free (memory);
  else
    backend->memory->free (memory);
}

static void
copy (gpointer to, gconstpointer from, gsize bytes, gboolean on_device)
{
  if (!on_device || !backend->memory)
    memcpy (to, from, bytes);
  else
    g_assert_true (backend->memory->copy (to, from, bytes, NULL));
}

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

static gdouble
random_normal (GRand *r)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (r);
  return sum;
}

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
            set_sample (c, i++, 120 + 50 * wave + c->noise * random_normal (r));
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
  const gboolean there = c->on_device && with == backend;
  guint8 *outputs = g_malloc (c->bytes * c->n_volumes);
  guint8 *in = memory_new (c->bytes, there);
  guint8 *out = memory_new (c->bytes + 2 * GUARD, there);
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
      copy (in, c->stream + t * c->bytes, c->bytes, there);
      nd_algorithm_push (algorithm, &volume, &error);
      g_assert_no_error (error);
    }
    while (nd_algorithm_ready (algorithm)) {
      memset (guard, 0xa5, c->bytes + 2 * GUARD);
      copy (out, guard, c->bytes + 2 * GUARD, there);
      nd_algorithm_respond (algorithm, &to, &error);
      g_assert_no_error (error);
      copy (guard, out, c->bytes + 2 * GUARD, there);
      for (guint i = 0; i < GUARD; i++) {
        g_assert_cmpuint (guard[i], ==, 0xa5);
        g_assert_cmpuint (guard[GUARD + c->bytes + i], ==, 0xa5);
      }
      memcpy (outputs + made++ * c->bytes, guard + GUARD, c->bytes);
    }
  }
  g_assert_cmpuint (made, ==, c->n_volumes);
  memory_free (in, there);
  memory_free (out, there);
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
  if (c->settings.method == ND_DENOISE_ADAPTIVE && c->type == ND_FLOAT32)
    return d.rms <= 2e-5 * c->noise && d.worst <= 1e-3 * c->noise;
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
  g_autofree guint8 *got = run (c, backend), *again = run (c, backend);
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
  clean = run (&c, backend);
  ((gfloat *) c.stream)[at_t * c.samples + at_x] = NAN;
  got = run (&c, backend);
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
  clean = run (&c, backend);
  for (guint t = 1; t < VOLUMES; t++)
    n_wrong += memcmp (clean, clean + t * c.bytes, c.bytes) != 0;
  in = (gfloat *) (c.stream + AT * c.bytes);
  in[(at[2] * size[1] + at[1]) * size[0] + at[0]] =
      g_rand_boolean (r) ? NAN : INFINITY;
  got = run (&c, backend);
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

/* Structure */

typedef struct
{
  NdShape in, out;
  guint axes, n_volumes;
  NdStructureSettings settings;
  guint skipped; /* an output that is not written, if it exists */
  gboolean on_device;
  guint pads[2]; /* floats after a row and after a slice, in memory */
  gsize samples;
  gfloat *tensors; /* of all volumes */
} StructureCase;

/* Sums of products of gradients, of a pattern that moves with one velocity. */
static void
structure_case_init (StructureCase *c, GRand *r)
{
  static const gdouble sigmas[] = { 0, .7, 1.5, 2.5, 3.1 };
  const guint axes = g_rand_int_range (r, 2, 5), dims = axes - 1;
  gdouble v[3];
  guint directions = 4;
  gfloat *to;

  *c = (StructureCase){ .axes = axes };
  c->in.components = nd_tensor_components (axes);
  for (guint a = 0; a < 3; a++) {
    c->in.size[a] = axes == 3 && a == 2 ? 1 : g_rand_int_range (r, 1, 19);
    v[a] = g_rand_double_range (r, -1.5, 1.5);
    c->settings.speed[a] = 1 + a;
  }
  if (axes != 3 && g_rand_int_range (r, 0, 4) == 0)
    c->in.size[2] = g_rand_int_range (r, 30, 80);
  /* Several thread blocks along x and y. */
  if (g_rand_int_range (r, 0, 3) == 0) {
    const guint a = g_rand_int_range (r, 0, 2);

    c->in.size[a] = g_rand_int_range (r, 40, 300);
    c->in.size[1 - a] = g_rand_int_range (r, 1, 7);
    c->in.size[2] = axes == 3 ? 1 : g_rand_int_range (r, 1, 7);
  }
  c->samples = c->in.size[0] * c->in.size[1] * c->in.size[2];
  c->n_volumes = g_rand_int_range (r, 1, 16);
  c->skipped = g_rand_int_range (r, 0, 2 * c->n_volumes);
  c->on_device = g_rand_boolean (r);
  c->settings.sigma = sigmas[g_rand_int_range (r, 0, G_N_ELEMENTS (sigmas))];
  c->settings.model = g_rand_boolean (r) && c->settings.sigma > 1
          && c->in.size[0] > 4 && c->in.size[1] > 4
          && (axes == 3 || c->in.size[2] > 4)
      ? ND_MOTION_AFFINE
      : ND_MOTION_CONSTANT;
  if (axes > 2)
    c->settings.structures[c->settings.n_structures++] = ND_STRUCTURE_VELOCITY;
  if (axes == 2 || g_rand_boolean (r)) {
    static const NdStructure others[] = { ND_STRUCTURE_TENSOR,
      ND_STRUCTURE_EIGENVALUES, ND_STRUCTURE_CERTAINTY,
      ND_STRUCTURE_ANISOTROPY };

    for (guint i = 0; i < G_N_ELEMENTS (others); i++)
      c->settings.structures[c->settings.n_structures++] = others[i];
  }
  if (g_rand_boolean (r)) {
    c->pads[0] = g_rand_int_range (r, 0, 9);
    c->pads[1] = g_rand_int_range (r, 0, 9);
  }
  /* Single tensors with clusters of eigenvalues, whose sums have none. */
  if (c->settings.sigma > 1 && c->in.size[0] > 4 && c->in.size[1] > 4)
    directions = g_rand_int_range (r, 1, 5);
  c->out = c->in;
  c->out.components = nd_structure_output_components (&c->settings, axes);
  to = c->tensors =
      g_new0 (gfloat, c->samples * c->in.components * c->n_volumes);
  for (gsize i = 0; i < c->samples * c->n_volumes; i++) {
    for (guint k = 0; k < directions; k++) {
      gdouble g[ND_TENSOR_MAX_AXES] = { 0 };

      for (guint a = 0; a < dims; a++) {
        g[a] = g_rand_double_range (r, -1, 1);
        g[dims] -= g[a] * v[a];
      }
      for (guint a = 0; a < axes; a++) {
        for (guint b = a; b < axes; b++)
          to[nd_tensor_index (axes, a, b)] += .2 * g[a] * g[b];
      }
    }
    to += c->in.components;
  }
}

static NdSamples
padded_samples (gpointer data, const NdShape *shape, const guint pads[2])
{
  NdSamples samples = nd_samples_dense (data, shape, ND_FLOAT32);

  samples.row += pads[0] * sizeof (gfloat);
  samples.slice = samples.row * shape->size[1] + pads[1] * sizeof (gfloat);
  return samples;
}

static void
copy_rows (const NdSamples *to, const NdSamples *from, const NdShape *shape)
{
  const gsize bytes = shape->components * shape->size[0] * sizeof (gfloat);

  for (gsize z = 0; z < shape->size[2]; z++) {
    for (gsize y = 0; y < shape->size[1]; y++)
      memcpy (to->data + z * to->slice + y * to->row,
          from->data + z * from->slice + y * from->row, bytes);
  }
}

/* The outputs of all volumes. Inputs have NaN in their pads, and those of the
 * outputs must stay 0. */
static gfloat *
run_structure (const StructureCase *c, const NdBackend *with)
{
  const gboolean there = c->on_device && with == backend;
  const NdSamples in_samples = padded_samples (NULL, &c->in, c->pads);
  const NdSamples out_samples = padded_samples (NULL, &c->out, c->pads);
  const gsize in_bytes = in_samples.slice * c->in.size[2];
  const gsize out_bytes = out_samples.slice * c->out.size[2];
  const gsize in_floats = c->samples * c->in.components;
  const gsize out_floats = c->samples * c->out.components;
  gfloat *outputs = g_new0 (gfloat, out_floats * c->n_volumes);
  g_autofree guint8 *staging = g_malloc (MAX (in_bytes, out_bytes));
  guint8 *in = memory_new (in_bytes, there);
  guint8 *out = memory_new (out_bytes, there);
  const NdSamples volume = padded_samples (in, &c->in, c->pads);
  const NdSamples to = padded_samples (out, &c->out, c->pads);
  const NdSamples staged_in = padded_samples (staging, &c->in, c->pads);
  const NdSamples staged_out = padded_samples (staging, &c->out, c->pads);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      with->algorithms->structure_new (&c->settings, &c->in, -1, &error);
  guint made = 0;

  g_assert_no_error (error);
  for (guint t = 0; t <= c->n_volumes; t++) {
    if (t == c->n_volumes) {
      nd_algorithm_end (algorithm);
    } else {
      const NdSamples dense =
          nd_samples_dense (c->tensors + t * in_floats, &c->in, ND_FLOAT32);

      memset (staging, 0xff, in_bytes);
      copy_rows (&staged_in, &dense, &c->in);
      copy (in, staging, in_bytes, there);
      nd_algorithm_push (algorithm, &volume, &error);
      g_assert_no_error (error);
    }
    while (nd_algorithm_ready (algorithm)) {
      const gboolean is_skipped = made == c->skipped;
      const NdSamples dense =
          nd_samples_dense (outputs + made * out_floats, &c->out, ND_FLOAT32);

      nd_algorithm_respond (algorithm, is_skipped ? NULL : &to, &error);
      g_assert_no_error (error);
      made++;
      if (is_skipped)
        continue;
      copy (staging, out, out_bytes, there);
      copy_rows (&dense, &staged_out, &c->out);
      for (gsize z = 0; z < c->out.size[2]; z++) {
        for (gsize i = 0; i < to.slice; i++) {
          if (i >= to.row * c->out.size[1]
              || i % to.row >= to.row - c->pads[0] * sizeof (gfloat))
            g_assert_cmpuint (staging[z * to.slice + i], ==, 0);
        }
      }
    }
  }
  g_assert_cmpuint (made, ==, c->n_volumes);
  memory_free (in, there);
  memory_free (out, there);
  return outputs;
}

static gboolean
check_structure (gint job, GRand *r)
{
  StructureCase c;
  gdouble worst = 0;
  gboolean ok;

  structure_case_init (&c, r);

  const gsize n = c.samples * c.out.components * c.n_volumes;
  g_autofree gfloat *got = run_structure (&c, backend);
  g_autofree gfloat *again = run_structure (&c, backend);
  g_autofree gfloat *want = run_structure (&c, &nd_cpu_backend);

  for (gsize i = 0; i < n; i++) {
    const gdouble d = fabs (got[i] - want[i]);

    worst = MAX (worst, isfinite (d) ? d : INFINITY);
  }
  ok = worst <= 2e-3 && memcmp (got, again, n * sizeof (gfloat)) == 0;
  if (!ok)
    g_printerr ("# job %d: structure over %u axes, %" G_GSIZE_FORMAT
                ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                " x %u, sigma %g, model %d, %u measures, pads %u %u: worst "
                "%g%s\n",
        job, c.axes, c.in.size[0], c.in.size[1], c.in.size[2], c.n_volumes,
        c.settings.sigma, c.settings.model, c.settings.n_structures, c.pads[0],
        c.pads[1], worst,
        memcmp (got, again, n * sizeof (gfloat)) ? ", not repeatable" : "");
  g_free (c.tensors);
  return ok;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Prints the ms of pushing one of @volumes, of BENCH_VOLUMES on the device, and
 * of responding. */
static void
measure (NdAlgorithm *algorithm, guint8 **volumes, const NdShape *in_shape,
    const NdShape *out_shape, NdSampleType type, const gchar *name)
{
  guint8 *out = memory_new (out_shape->size[0] * out_shape->size[1]
          * out_shape->size[2] * out_shape->components * nd_sample_size (type),
      TRUE);
  gdouble times[BENCH_TIMES];
  guint n = 0;

  for (guint t = 0; n < BENCH_TIMES; t++) {
    const NdSamples in =
        nd_samples_dense (volumes[t % BENCH_VOLUMES], in_shape, type);
    const NdSamples to = nd_samples_dense (out, out_shape, type);
    const gint64 begin = g_get_monotonic_time ();
    guint made = 0;

    g_assert_true (nd_algorithm_push (algorithm, &in, NULL));
    for (; nd_algorithm_ready (algorithm); made++)
      g_assert_true (nd_algorithm_respond (algorithm, &to, NULL));
    if (t >= 8 && made > 0)
      times[n++] = (g_get_monotonic_time () - begin) * 1e-3;
  }
  qsort (times, BENCH_TIMES, sizeof (gdouble), compare_times);
  g_print ("%s %" G_GSIZE_FORMAT
           "^3 %s on %s: median %.3f ms, least %.3f, most "
           "%.3f; %" G_GSIZE_FORMAT " bytes\n",
      name, in_shape->size[0], nd_sample_name (type), backend->name,
      times[BENCH_TIMES / 2], times[0], times[BENCH_TIMES - 1],
      nd_algorithm_bytes (algorithm));
  memory_free (out, TRUE);
}

static void
bench_structure (gsize size)
{
  const NdShape in = { 10, { size, size, size } },
                out = { 4, { size, size, size } };
  const NdStructureSettings settings = {
    .structures = { ND_STRUCTURE_VELOCITY },
    .n_structures = 1,
    .sigma = 2.5,
    .speed = { 1, 1, 1 }
  };
  const gsize n = 10 * size * size * size;
  g_autofree gfloat *tensors = g_new (gfloat, n);
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) algorithm =
      backend->algorithms->structure_new (&settings, &in, -1, &error);
  guint8 *volumes[BENCH_VOLUMES];

  g_assert_no_error (error);
  for (gsize i = 0; i < n; i++)
    tensors[i] = g_rand_double (r)
        + (i % 10 == 0 || i % 10 == 4 || i % 10 == 7 || i % 10 == 9);
  for (guint i = 0; i < BENCH_VOLUMES; i++) {
    volumes[i] = memory_new (n * sizeof (gfloat), TRUE);
    copy (volumes[i], tensors, n * sizeof (gfloat), TRUE);
  }
  measure (algorithm, volumes, &in, &out, ND_FLOAT32, "ndstructure velocity");
  for (guint i = 0; i < BENCH_VOLUMES; i++)
    memory_free (volumes[i], TRUE);
}

typedef struct
{
  const gchar *name;
  NdDenoiseSettings settings;
} Bench;

static void
bench (gsize size, NdSampleType type, const Bench *benches, guint n)
{
  const NdDenoiseBorders borders = { ND_BORDER_MIRROR, ND_BORDER_MIRROR, 0 };
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  guint8 *volumes[BENCH_VOLUMES];
  Case c = {
    .shape = { 1, { size, size, size } },
    .type = type,
    .n_volumes = 1,
    .samples = size * size * size,
    .bytes = size * size * size * nd_sample_size (type),
    .noise = 15,
  };

  if (opt_size >= 0 && size != (gsize) opt_size)
    return;
  for (guint i = 0; i < BENCH_VOLUMES; i++) {
    fill (&c, r);
    volumes[i] = memory_new (c.bytes, TRUE);
    copy (volumes[i], c.stream, c.bytes, TRUE);
    g_free (c.stream);
  }
  for (guint i = 0; i < n; i++) {
    NdDenoiseSettings settings = benches[i].settings;
    g_autoptr (GError) error = NULL;
    g_autoptr (NdAlgorithm) algorithm = NULL;

    settings.strength = 1;
    settings.remap = (NdAdaptiveRemap) ND_ADAPTIVE_REMAP;
    algorithm = backend->algorithms->denoise_new (&settings, &borders, &c.shape,
        type, 0, -1, &error);
    g_assert_no_error (error);
    measure (algorithm, volumes, &c.shape, &c.shape, type, benches[i].name);
  }
  for (guint i = 0; i < BENCH_VOLUMES; i++)
    memory_free (volumes[i], TRUE);
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = { { "seed", 0, 0, G_OPTION_ARG_INT, &opt_seed,
                                       "seed of the random jobs", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &opt_jobs, "number of jobs", "N" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module,
        "module of the back end", "FILE" },
    { "only", 0, 0, G_OPTION_ARG_INT, &opt_only, "run only this job", "JOB" },
    { "bench", 0, 0, G_OPTION_ARG_NONE, &opt_bench, "measure the speed", NULL },
    { "size", 0, 0, G_OPTION_ARG_INT, &opt_size,
        "measure only volumes of this size", "N" },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  gint failed = 0;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;
  if (opt_seed < 0)
    opt_seed = g_random_int_range (0, G_MAXINT);
  nd_backend_register (&nd_cpu_backend);
  if (opt_module) {
    g_autoptr (GError) error = NULL;

    backend = nd_backend_open (opt_module, &error)
        ? nd_backend_find ("cuda", -1, &error)
        : NULL;
    if (!backend) {
      g_print ("1..0 # SKIP %s\n", error->message);
      /* An unusable device is a failure. */
      return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
    }
  }
  nd_threads_start (0);
  if (opt_bench) {
    static const gsize on_cpu[] = { 64, 96 }, on_device[] = { 64, 128, 256 };
    const gsize *sizes = opt_module ? on_device : on_cpu;
    static const Bench benches[] = {
      { "nddenoise", { .latency = 3 } },
      { "nddenoise quality=best",
          { .latency = 3, .quality = ND_QUALITY_BEST } },
      { "nddenoise quality=best latency=5",
          { .latency = 5, .quality = ND_QUALITY_BEST } },
      { "nddenoise motion=true", { .latency = 3, .motion = TRUE } },
      { "nddenoise adaptive", { .latency = 3, .method = ND_DENOISE_ADAPTIVE } },
      { "nddenoise speckle", { .latency = 3, .noise = ND_NOISE_SPECKLE } },
    };
    const guint n = G_N_ELEMENTS (benches);

    for (guint i = 0; i < (opt_module ? 3 : 2); i++)
      bench (sizes[i], ND_UINT8, benches, i == 0 || opt_module ? n : 1);
    bench (64, ND_FLOAT32, benches, 1);
    for (guint i = 0; i < 2; i++) {
      if (opt_size < 0 || sizes[i] == (gsize) opt_size)
        bench_structure (sizes[i]);
    }
    return 0;
  }
  g_print ("1..%d\n# seed %d; one job: --seed %d --only JOB\n", opt_jobs,
      opt_seed, opt_seed);
  for (gint i = 0; i < opt_jobs; i++) {
    const guint32 seeds[2] = { opt_seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);
    gboolean ok;
    Case c;

    if (opt_only >= 0 && i != opt_only)
      continue;
    if (i % 3 == 2) {
      ok = check_structure (i, r);
    } else if (i % 30 == 1) {
      ok = check_reach (i, r);
    } else if (i % 24 == 4) {
      ok = check_adaptive_reach (i, r);
    } else {
      case_init (&c, r,
          i % 3 == 0       ? NULL
              : i % 6 == 1 ? choose_stages
                           : make_adaptive);
      ok = check (i, &c);
      g_free (c.stream);
    }
    failed += !ok;
    g_print ("%sok %d\n", ok ? "" : "not ", i + 1);
  }
  return failed ? 1 : 0;
}
