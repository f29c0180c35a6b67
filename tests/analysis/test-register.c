/* Registration: motions that are known, the CPU against the reference, and
 * streams.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "registercase.h"

#include "core/error.h"
#include "core/memory.h"
#include "cpu/cpu.h"
#include "cpu/kernels.h"
#include "cpu/registerkernels.h"
#include "cpu/registerwarp.h"

#include <math.h>
#include <string.h>

#define N 24

/* Limits of errors do not hold for each random head. */
#define SEED 1

static const gsize cube[3] = { N, N + 3, N - 1 };
static const gdouble spacing[3] = { 2.5, 2.5, 3 };
static const gsize frame_size[3] = { 64, 50, 1 };

static NdRegisterOptions
default_options (void)
{
  return (NdRegisterOptions){
    .settings = { ND_REGISTER_RIGID, 3, 12, FALSE },
    .reference = { ND_REFERENCE_NUMBER, 0 },
    .channel = -1,
    .interpolation = ND_INTERPOLATION_CUBIC,
    .border = ND_BORDER_CONSTANT,
  };
}

static NdShape
shape_of (const gsize size[3])
{
  return (NdShape){ 1, { size[0], size[1], size[2] } };
}

static gsize
count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

static NdAlgorithm *
new_algorithm (const NdRegisterOptions *options, const RegisterCase *c)
{
  const NdShape shape = shape_of (c->size);
  GError *error = NULL;
  NdAlgorithm *algorithm = nd_cpu_register_new (options, &shape, 1, ND_FLOAT32,
      c->spacing, -1, &error);

  g_assert_no_error (error);
  return algorithm;
}

/* Pushes a volume and takes the output, which is freed unless @out is NULL. */
static NdRegistration
run (NdAlgorithm *algorithm, const gsize size[3], gfloat *volume, gfloat *out)
{
  const NdShape shape = shape_of (size);
  const NdSamples in = nd_samples_dense (volume, &shape, ND_FLOAT32);
  const NdSamples to = nd_samples_dense (out, &shape, ND_FLOAT32);
  GError *error = NULL;

  g_assert_false (nd_algorithm_ready (algorithm));
  g_assert_true (nd_algorithm_push (algorithm, &in, &error));
  g_assert_true (nd_algorithm_ready (algorithm));
  g_assert_true (nd_algorithm_respond (algorithm, out ? &to : NULL, &error));
  g_assert_no_error (error);
  return *nd_algorithm_registration (algorithm);
}

/* Motions are found to @mm for changes of gain, bias and noise. */
static void
check_motions (const gsize size[3], gdouble shift, gdouble degrees,
    const RegisterCaseChange *change, gdouble mm)
{
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  const NdRegisterOptions options = default_options ();
  RegisterCase c;

  register_case_init (&c, size, spacing, rand);
  for (guint i = 0; i < 3; i++) {
    const NdAffine motion = register_case_motion (&c, shift, degrees, rand);
    g_autofree gfloat *reference =
        register_case_volume (&c, &none, NULL, rand, 0);
    g_autofree gfloat *volume =
        register_case_volume (&c, &motion, change, rand, 0);
    NdAlgorithm *algorithm = new_algorithm (&options, &c);
    NdRegistration found;
    gdouble error;

    found = run (algorithm, size, reference, NULL);
    g_assert_true (found.measured);
    found = run (algorithm, size, volume, NULL);
    error = register_case_error (&c, &motion, &found.motion);
    g_test_message ("%g mm, %g degrees: error %.4f mm, %u iterations, "
                    "unexplained %.4f, overlap %.2f",
        shift, degrees, error, found.iterations, found.unexplained,
        found.overlap);
    g_assert_true (found.measured);
    g_assert_cmpfloat (error, <, mm);
    nd_algorithm_free (algorithm);
  }
  g_rand_free (rand);
}

static void
test_small (void)
{
  check_motions (cube, 1, 1, NULL, .3);
}

static void
test_large (void)
{
  check_motions (cube, 8, 10, NULL, .6);
}

static void
test_changed (void)
{
  const RegisterCaseChange change = { 4, 1.15, .1 };

  check_motions (cube, 5, 5, &change, 1);
}

/* No motion within 15 mm and 15 degrees is lost at noise 16. ND_MOTIONS=1000
 * tries more. */
static void
test_random (void)
{
  static const gsize size[3] = { 32, 36, 34 };
  static const gdouble wide[3] = { 5.5, 5.5, 5.5 };
  const RegisterCaseChange change = { 16, 1.15, .15 }, noise = { 16, 1, 0 };
  const gchar *text = g_getenv ("ND_MOTIONS");
  const guint n = text ? g_ascii_strtoull (text, NULL, 10) : 3;
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  gdouble sum = 0, worst = 0;
  guint lost = 0;

  for (guint i = 0; i < n; i++) {
    const NdRegisterOptions options = default_options ();
    g_autofree gfloat *reference = NULL, *volume = NULL;
    NdAlgorithm *algorithm;
    NdRegistration found;
    NdAffine motion;
    RegisterCase c;
    gdouble error;

    register_case_init (&c, size, wide, rand);
    motion = register_case_motion (&c, 15, 15, rand);
    reference = register_case_volume (&c, &none, &noise, rand, 0);
    volume = register_case_volume (&c, &motion, &change, rand, 0);
    algorithm = new_algorithm (&options, &c);
    run (algorithm, size, reference, NULL);
    found = run (algorithm, size, volume, NULL);
    error = register_case_error (&c, &motion, &found.motion);
    sum += error;
    worst = MAX (worst, error);
    lost += !found.measured || error > wide[0];
    nd_algorithm_free (algorithm);
  }
  g_test_message ("%u motions: %u lost, mean error %.3f mm, worst %.3f mm", n,
      lost, sum / n, worst);
  g_assert_cmpuint (lost, ==, 0);
  g_rand_free (rand);
}

static void
test_frames (void)
{
  check_motions (frame_size, 6, 5, NULL, .15);
}

/* The fast version finds what the reference finds. */
static void
check_reference (NdRegisterModel model, NdRegisterMethod method,
    const gsize size[3], gfloat offset, gboolean holes)
{
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  NdRegisterOptions options = default_options ();
  gdouble *doubles[2];
  NdRegisterPlan plan;
  NdRegistration expected, found;
  NdAlgorithm *algorithm;
  gfloat *volumes[2];
  NdAffine motion;
  RegisterCase c;
  gdouble error;

  options.settings.model = model;
  options.settings.method = method;
  register_case_init (&c, size, spacing, rand);
  motion = register_case_motion (&c, 4,
      model == ND_REGISTER_TRANSLATION ? 0 : 5, rand);
  if (model == ND_REGISTER_AFFINE)
    motion.m[0][1] += .05;
  volumes[0] = register_case_volume (&c, &none, NULL, rand, 0);
  volumes[1] = register_case_volume (&c, &motion, NULL, rand, 0);
  for (guint v = 0; v < 2; v++) {
    doubles[v] = g_new (gdouble, count (size));
    for (gsize i = 0; i < count (size); i++) {
      volumes[v][i] += offset;
      if (holes && (v ? i >= count (size) * 6 / 7 : i % N < 3))
        volumes[v][i] = v ? INFINITY : NAN;
      doubles[v][i] = volumes[v][i];
    }
  }
  algorithm = new_algorithm (&options, &c);
  run (algorithm, size, volumes[0], NULL);
  found = run (algorithm, size, volumes[1], NULL);
  nd_register_plan_init (&plan, &options.settings, size, spacing);
  nd_register_reference (&plan, doubles[0], doubles[1], &none, &expected);
  error = register_case_error (&c, &expected.motion, &found.motion);
  g_test_message ("from the reference %g mm, from the truth %g mm; overlap "
                  "%g %g; residual %g %g; iterations %u %u",
      error, register_case_error (&c, &motion, &found.motion), found.overlap,
      expected.overlap, found.residual, expected.residual, found.iterations,
      expected.iterations);
  g_assert_true (found.measured && expected.measured);
  /* A step of just the tolerance is the last one in one of them. */
  g_assert_cmpint (ABS ((gint) found.iterations - (gint) expected.iterations),
      <=, 2);
  g_assert_cmpfloat (error, <, 2e-3);
  g_assert_cmpfloat_with_epsilon (found.overlap, expected.overlap, 5e-3);
  g_assert_cmpfloat_with_epsilon (found.residual, expected.residual,
      .02 * expected.residual + 1e-3);
  nd_algorithm_free (algorithm);
  for (guint v = 0; v < 2; v++) {
    g_free (volumes[v]);
    g_free (doubles[v]);
  }
  g_rand_free (rand);
}

static void
test_reference (void)
{
  check_reference (ND_REGISTER_TRANSLATION, ND_REGISTER_INTENSITY, cube, 0,
      FALSE);
  check_reference (ND_REGISTER_RIGID, ND_REGISTER_INTENSITY, cube, 0, FALSE);
  check_reference (ND_REGISTER_AFFINE, ND_REGISTER_INTENSITY, cube, 0, FALSE);
  check_reference (ND_REGISTER_RIGID, ND_REGISTER_INTENSITY, frame_size, 0,
      FALSE);
}

static void
test_reference_offset (void)
{
  check_reference (ND_REGISTER_RIGID, ND_REGISTER_INTENSITY, cube, 3000, FALSE);
}

static void
test_reference_holes (void)
{
  check_reference (ND_REGISTER_RIGID, ND_REGISTER_INTENSITY, cube, 0, TRUE);
}

static void
test_reference_phase (void)
{
  const NdRegisterMethod phase = ND_REGISTER_PHASE;

  check_reference (ND_REGISTER_TRANSLATION, phase, cube, 0, FALSE);
  check_reference (ND_REGISTER_RIGID, phase, cube, 3000, FALSE);
  check_reference (ND_REGISTER_AFFINE, phase, cube, 0, FALSE);
  check_reference (ND_REGISTER_RIGID, phase, frame_size, 0, FALSE);
  check_reference (ND_REGISTER_RIGID, phase, cube, 0, TRUE);
}

/* Each kernel gives what the one for any processor gives. */
static void
test_kernels (void)
{
  const NdRegisterKernels *fast = nd_register_kernels (), *base;
  GRand *rand = register_case_rand (SEED);
  gfloat planes[5][64], volume[40 * 6 * 6 + ND_REGISTER_ROOM];
  gfloat sums[2][ND_REGISTER_ROW_MOMENTS], out[2][64];
  gfloat products[2][ND_REGISTER_ROW_SUMS] = { 0 }, ones[64];
  NdRegisterRow row = { .n = 37,
    .u = -.9,
    .u_step = .05,
    .volume = volume,
    .strides = { 1, 40, 240 },
    .at = { .3, 1.2, 2.7 },
    .step = { .99, .02, -.03 },
    .last = { 38, 4, 4 } };
  NdWarpRow warp = { .n = 35,
    .volume = volume,
    .strides = { 1, 40, 240 },
    .at = { 1.3, 1.2, 2.7 },
    .step = { .99, .02, -.03 } };

  g_setenv ("NDCONV_SIMD", nd_kernels_all ()[0]->name, TRUE);
  base = nd_register_kernels ();
  g_unsetenv ("NDCONV_SIMD");
  for (guint i = 0; i < 64; i++)
    ones[i] = i % 5 > 0;
  for (guint p = 0; p < 5; p++) {
    for (guint i = 0; i < 64; i++)
      planes[p][i] = g_rand_double (rand);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (volume); i++)
    volume[i] = g_rand_double (rand);
  for (guint a = 0; a < 3; a++)
    row.g[a] = planes[a];
  row.r = planes[3];
  row.w = planes[4];
  for (guint k = 0; k < 2; k++)
    (k ? fast : base)->moments (&row, sums[k]);
  for (guint i = 0; i < ND_REGISTER_ROW_MOMENTS; i++)
    g_assert_cmpfloat_with_epsilon (sums[0][i], sums[1][i], 1e-4);
  for (guint k = 0; k < 2; k++)
    (k ? fast : base)->difference (&row, sums[k]);
  for (guint i = 0; i < ND_REGISTER_ROW_SUMS; i++)
    g_assert_cmpfloat_with_epsilon (sums[0][i], sums[1][i], 1e-4);
  for (guint k = 0; k < 2; k++) {
    const NdPhaseRow phase = { .n = 37,
      .reference = { volume + 240, volume + 245 },
      .volume = { volume + 300, volume + 310 },
      .w = ones,
      .strides = { 1, 40, 240 },
      .scale = { 1, .5, .3 },
      .u = -.9,
      .u_step = .05 };

    memset (sums[k], 0, sizeof (sums[k]));
    (k ? fast : base)->phase (&phase, sums[k], products[k]);
  }
  for (guint i = 0; i < ND_REGISTER_ROW_MOMENTS; i++)
    g_assert_cmpfloat_with_epsilon (sums[0][i], sums[1][i], 1e-3);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat_with_epsilon (products[0][i], products[1][i], 1e-3);
  g_assert_cmpfloat (sums[1][ND_REGISTER_MOMENT_WW], >, 1);
  for (guint kind = 0; kind < 2; kind++) {
    memset (out, 0, sizeof (out));
    for (guint k = 0; k < 2; k++) {
      const NdRegisterKernels *kernels = k ? fast : base;

      (kind ? kernels->warp_cubic : kernels->warp_linear) (&warp, out[k]);
    }
    for (guint i = 0; i < 64; i++)
      g_assert_cmpfloat_with_epsilon (out[0][i], out[1][i], 1e-4);
    g_assert_cmpfloat (out[1][35], ==, 0);
  }
  g_rand_free (rand);
}

/* Moved by whole samples, samples are those of another place, or of the border.
 */
static void
test_warp (void)
{
  static const gsize size[3] = { 9, 7, 5 };
  gfloat in[9 * 7 * 5 + ND_REGISTER_ROOM] = { 0 }, out[9 * 7 * 5];
  NdAffine map = nd_affine_identity ();

  for (guint i = 0; i < 9 * 7 * 5; i++)
    in[i] = i;
  map.m[0][3] = 2;
  map.m[1][3] = -1;
  for (NdBorder border = 0; border < ND_BORDER_END; border++) {
    for (guint kind = 0; kind < 2; kind++) {
      nd_cpu_warp (size, in, &map,
          kind ? ND_INTERPOLATION_CUBIC : ND_INTERPOLATION_LINEAR, border, -5,
          size, out);
      for (gint i = 0; i < 9 * 7 * 5; i++) {
        const gint64 x = nd_border_index (border, i % 9 + 2, 9);
        const gint64 y = nd_border_index (border, i / 9 % 7 - 1, 7);
        const gint z = i / 63;

        g_assert_cmpfloat_with_epsilon (out[i],
            x < 0 || y < 0 ? -5 : in[(z * 7 + y) * 9 + x], 1e-4);
      }
    }
  }
}

/* A sample of weight 0 does not count: half of the samples are not finite, and
 * moved by whole samples, or by half of one along x, the others stay. */
static void
test_warp_nan (void)
{
  static const gsize size[3] = { 37, 9, 8 };
  const gsize n = 37 * 9 * 8;
  GRand *rand = register_case_rand (SEED);
  g_autofree gfloat *in = g_new0 (gfloat, n + ND_REGISTER_ROOM);
  g_autofree gfloat *out = g_new0 (gfloat, n);

  for (gsize i = 0; i < n; i++)
    in[i] = g_rand_boolean (rand) ? g_rand_double (rand)
        : g_rand_boolean (rand)   ? NAN
                                  : INFINITY;
  for (guint k = 0; k < 4; k++) {
    NdAffine map = nd_affine_identity ();

    map.m[1][3] = 1;
    map.m[0][3] = k < 2 ? 2 : .5;
    nd_cpu_warp (size, in, &map,
        k % 2 ? ND_INTERPOLATION_CUBIC : ND_INTERPOLATION_LINEAR,
        ND_BORDER_NEAREST, 0, size, out);
    for (gsize i = 0; i < n; i++) {
      const gsize x = i % 37, y = i / 37 % 9;
      const gfloat *row = in + i - x + (y < 8 ? 37 : 0);
      const gfloat wanted = k < 2 ? row[MIN (x + 2, 36)]
          : k == 2                ? .5f * (row[x] + row[MIN (x + 1, 36)])
                                  : .5625f * (row[x] + row[MIN (x + 1, 36)])
              - .0625f * (row[x - (x > 0)] + row[MIN (x + 2, 36)]);

      g_assert_cmpint (isfinite (out[i]), ==, isfinite (wanted));
      if (isfinite (wanted))
        g_assert_cmpfloat_with_epsilon (out[i], wanted, 1e-5);
    }
  }
  g_rand_free (rand);
}

/* All volumes that registration takes are counted before it takes one: 22 and
 * more here, of which each fits in memory, but not all. */
static void
test_memory (void)
{
  const gsize planes = nd_usable_memory () / (12 * sizeof (gfloat)) >> 20;
  const NdShape shape = { 1, { 1024, 1024, planes } };
  const gdouble spacing[3] = { 1, 1, 1 };
  const NdShape small = { 1, { 32, 16, 8 } };
  NdRegisterOptions options = default_options ();
  g_autoptr (GError) error = NULL;
  NdAlgorithm *algorithms[2];

  for (guint i = 0; i < 2; i++) {
    options.settings.method = i ? ND_REGISTER_AUTO : ND_REGISTER_INTENSITY;
    algorithms[i] = nd_cpu_register_new (&options, &small, 1, ND_FLOAT32,
        spacing, -1, NULL);
    g_assert_nonnull (algorithms[i]);
  }
  g_assert_cmpuint (nd_algorithm_bytes (algorithms[1])
          - nd_algorithm_bytes (algorithms[0]),
      >=, 13 * 32 * 16 * 8 * sizeof (gfloat));
  for (guint i = 0; i < 2; i++)
    nd_algorithm_free (algorithms[i]);
  if (planes < 1 || planes > 2047)
    return;
  g_assert_null (nd_cpu_register_new (&options, &shape, 1, ND_FLOAT32, spacing,
      -1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_MEMORY);
}

/* A sine that is moved by a part of a sample. */
static void
test_interpolation (void)
{
  static const gsize size[3] = { 32, 8, 8 };
  gfloat in[32 * 64 + ND_REGISTER_ROOM] = { 0 }, out[32 * 64];
  NdAffine map = nd_affine_identity ();

  for (guint i = 0; i < 32 * 64; i++)
    in[i] = sin (.4 * (i % 32));
  map.m[0][3] = .37;
  map.m[1][3] = .21;
  for (guint kind = 0; kind < 2; kind++) {
    nd_cpu_warp (size, in, &map,
        kind ? ND_INTERPOLATION_CUBIC : ND_INTERPOLATION_LINEAR,
        ND_BORDER_NEAREST, 0, size, out);
    for (guint x = 2; x < 28; x++)
      g_assert_cmpfloat_with_epsilon (out[4 * 256 + 4 * 32 + x],
          sin (.4 * (x + .37)), kind ? 2e-3 : 2.5e-2);
  }
}

/* A gain that varies more than its polynomial follows: only the phase does not
 * see it. auto takes the phase there, and intensities where they
 * explain all. */
static void
test_methods (void)
{
  static const gsize size[3] = { 40, 40, 40 };
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  g_autofree gfloat *still = NULL, *moved = NULL, *uneven = NULL;
  gdouble errors[2][3];
  NdAffine motion;
  RegisterCase c;

  register_case_init (&c, size, spacing, rand);
  motion = register_case_motion (&c, 2, 3, rand);
  still = register_case_volume (&c, &none, NULL, rand, 0);
  moved = register_case_volume (&c, &motion, NULL, rand, 0);
  uneven = g_memdup2 (moved, count (size) * sizeof (gfloat));
  for (gsize i = 0; i < count (size); i++)
    uneven[i] *= 1 + .1 * sin (.2 * (i % 40)) * cos (.2 * (i / 40 % 40));
  for (guint v = 0; v < 2; v++) {
    for (guint method = 0; method < 3; method++) {
      NdRegisterOptions options = default_options ();
      NdAlgorithm *algorithm;
      NdRegistration found;

      options.settings.method = method;
      algorithm = new_algorithm (&options, &c);
      run (algorithm, size, still, NULL);
      found = run (algorithm, size, v ? uneven : moved, NULL);
      errors[v][method] = register_case_error (&c, &motion, &found.motion);
      g_test_message ("%s gain, method %u: error %.4f mm, unexplained %.4f",
          v ? "uneven" : "even", method, errors[v][method], found.unexplained);
      nd_algorithm_free (algorithm);
    }
  }
  g_assert_cmpfloat (errors[1][ND_REGISTER_PHASE], <,
      errors[1][ND_REGISTER_INTENSITY] / 2);
  g_assert_cmpfloat (errors[1][ND_REGISTER_AUTO], ==,
      errors[1][ND_REGISTER_PHASE]);
  g_assert_cmpfloat (errors[0][ND_REGISTER_AUTO], ==,
      errors[0][ND_REGISTER_INTENSITY]);
  g_rand_free (rand);
}

typedef struct
{
  const gchar *text;
  NdReferenceKind kind;
  guint64 number;
} ReferenceText;

static void
test_reference_text (void)
{
  static const ReferenceText good[] = { { "first", ND_REFERENCE_NUMBER, 0 },
    { "7", ND_REFERENCE_NUMBER, 7 }, { "mean", ND_REFERENCE_MEAN, 10 },
    { "mean:3", ND_REFERENCE_MEAN, 3 }, { "running", ND_REFERENCE_RUNNING, 0 },
    { "previous", ND_REFERENCE_PREVIOUS, 0 } };
  static const gchar *const bad[] = { "", "last", "-1", "mean:", "mean:0",
    "mean:x", "1.5", "first " };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    NdReference reference;
    GError *error = NULL;

    g_assert_true (nd_reference_parse (good[i].text, &reference, &error));
    g_assert_no_error (error);
    g_assert_cmpint (reference.kind, ==, good[i].kind);
    g_assert_cmpuint (reference.number, ==, good[i].number);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    NdReference reference;

    g_assert_false (nd_reference_parse (bad[i], &reference, &error));
    g_assert_nonnull (error);
    g_assert_nonnull (strstr (error->message, "must be first"));
  }
}

/* Streams: every reference moves volumes to about the same place. */
static void
test_streams (void)
{
  static const NdReference references[] = { { ND_REFERENCE_NUMBER, 0 },
    { ND_REFERENCE_NUMBER, 2 }, { ND_REFERENCE_MEAN, 3 },
    { ND_REFERENCE_RUNNING, 0 }, { ND_REFERENCE_PREVIOUS, 0 } };
  const RegisterCaseChange change = { 2, 1, 0 };
  GRand *rand = register_case_rand (SEED);
  NdRegisterOptions options = default_options ();
  NdAffine motions[8];
  gfloat *volumes[8];
  RegisterCase c;

  register_case_init (&c, cube, spacing, rand);
  for (guint i = 0; i < 8; i++) {
    motions[i] = register_case_motion (&c, 2, 2, rand);
    volumes[i] = register_case_volume (&c, &motions[i], &change, rand, 0);
  }
  for (guint r = 0; r < G_N_ELEMENTS (references); r++) {
    const guint first =
        references[r].kind == ND_REFERENCE_NUMBER ? references[r].number : 0;
    NdAlgorithm *algorithm;
    NdAffine back;

    options.reference = references[r];
    algorithm = new_algorithm (&options, &c);
    g_assert_true (nd_affine_invert (&motions[first], &back));
    for (guint i = 0; i < 8; i++) {
      const NdRegistration found = run (algorithm, cube, volumes[i], NULL);
      const NdAffine truth = nd_affine_compose (&motions[i], &back);

      g_assert_cmpint (found.measured, ==, i >= first);
      if (i < first)
        continue;
      g_assert_cmpfloat (register_case_error (&c, &truth, &found.motion), <, 1);
      /* What a gap or a seek does. */
      nd_algorithm_reset (algorithm);
    }
    nd_algorithm_free (algorithm);
  }
  for (guint i = 0; i < 8; i++)
    g_free (volumes[i]);
  g_rand_free (rand);
}

/* A jump that the last motion is no start for, empty and equal volumes, and
 * volumes of which half is missing. */
static void
check_bad_volumes (NdRegisterMethod method)
{
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  const gsize n = count (cube);
  NdRegisterOptions options = default_options ();
  g_autofree gfloat *flat = g_new0 (gfloat, n);
  g_autofree gfloat *out = g_new (gfloat, n);
  gfloat *still, *moved, *half;
  NdAffine motion, far;
  NdAlgorithm *algorithm;
  NdRegistration found;
  RegisterCase c;

  options.settings.method = method;
  register_case_init (&c, cube, spacing, rand);
  motion = register_case_motion (&c, 3, 3, rand);
  far = register_case_motion (&c, 0, 0, rand);
  far.m[0][3] = 20;
  still = register_case_volume (&c, &none, NULL, rand, 0);
  moved = register_case_volume (&c, &motion, NULL, rand, 0);
  half = register_case_volume (&c, &far, NULL, rand, 0);
  algorithm = new_algorithm (&options, &c);

  /* Without structure no reference, and volumes pass. */
  found = run (algorithm, cube, flat, out);
  g_assert_false (found.measured);
  g_assert_cmpmem (out, n * sizeof (gfloat), flat, n * sizeof (gfloat));
  found = run (algorithm, cube, still, out);
  g_assert_true (found.measured);
  g_assert_cmpmem (out, n * sizeof (gfloat), still, n * sizeof (gfloat));

  /* A jump by 20 mm, a third of the volume, and back. */
  found = run (algorithm, cube, half, NULL);
  g_test_message ("20 mm: error %.3f mm, restarted %d, unexplained %.4f, "
                  "overlap %.2f",
      register_case_error (&c, &far, &found.motion), found.restarted,
      found.unexplained, found.overlap);
  g_assert_cmpfloat (register_case_error (&c, &far, &found.motion), <, 1);
  found = run (algorithm, cube, moved, NULL);
  g_assert_cmpfloat (register_case_error (&c, &motion, &found.motion), <, .2);

  /* Equal samples, then no numbers at all. */
  for (gsize i = 0; i < n; i++)
    flat[i] = 7;
  found = run (algorithm, cube, flat, out);
  g_assert_false (found.measured);
  g_assert_cmpmem (out, n * sizeof (gfloat), flat, n * sizeof (gfloat));
  for (gsize i = 0; i < n; i++)
    flat[i] = NAN;
  found = run (algorithm, cube, flat, out);
  g_assert_false (found.measured);
  g_assert_true (isnan (out[0]));

  /* Half of the volume is missing. */
  for (gsize i = n / 2; i < n; i++)
    moved[i] = NAN;
  found = run (algorithm, cube, moved, NULL);
  g_assert_true (found.measured);
  g_assert_cmpfloat (found.overlap, <, .6);
  g_assert_cmpfloat (register_case_error (&c, &motion, &found.motion), <, 2.5);
  nd_algorithm_free (algorithm);
  g_free (still);
  g_free (moved);
  g_free (half);
  g_rand_free (rand);
}

static void
test_bad_volumes (void)
{
  for (guint method = 0; method < 3; method++)
    check_bad_volumes (method);
}

/* A sector of zeros that does not move: only with a mask it does not hold the
 * volume. */
static void
test_mask (void)
{
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  NdRegisterOptions options = default_options ();
  NdAffine motion = none;
  gfloat *volumes[2];
  gdouble errors[2];
  RegisterCase c;

  register_case_init (&c, cube, spacing, rand);
  motion.m[0][3] = 3;
  motion.m[1][3] = -2;
  volumes[0] = register_case_volume (&c, &none, NULL, rand, 0);
  volumes[1] = register_case_volume (&c, &motion, NULL, rand, 0);
  for (guint v = 0; v < 2; v++) {
    for (gsize i = 0; i < count (cube); i++) {
      volumes[v][i] += 400;
      if (i % N < 5 || i % N > N - 6)
        volumes[v][i] = 0;
    }
  }
  options.settings.model = ND_REGISTER_TRANSLATION;
  for (guint mask = 0; mask < 2; mask++) {
    NdAlgorithm *algorithm;
    NdRegistration found;

    options.settings.nonzero = mask;
    algorithm = new_algorithm (&options, &c);
    run (algorithm, cube, volumes[0], NULL);
    found = run (algorithm, cube, volumes[1], NULL);
    errors[mask] = register_case_error (&c, &motion, &found.motion);
    nd_algorithm_free (algorithm);
  }
  g_test_message ("without a mask %.3f mm, with one %.3f mm", errors[0],
      errors[1]);
  g_assert_cmpfloat (errors[1], <, .3);
  g_assert_cmpfloat (errors[0], >, 3 * errors[1]);
  g_free (volumes[0]);
  g_free (volumes[1]);
  g_rand_free (rand);
}

/* Settings that change from volume to volume. */
static void
test_changes (void)
{
  GRand *rand = register_case_rand (SEED);
  const NdAffine none = nd_affine_identity ();
  NdRegisterOptions options = default_options ();
  NdAlgorithm *algorithm;
  gfloat *still, *moved;
  NdAffine motion;
  RegisterCase c;

  register_case_init (&c, cube, spacing, rand);
  motion = register_case_motion (&c, 3, 3, rand);
  still = register_case_volume (&c, &none, NULL, rand, 0);
  moved = register_case_volume (&c, &motion, NULL, rand, 0);
  algorithm = new_algorithm (&options, &c);
  run (algorithm, cube, still, NULL);
  for (guint i = 0; i < 20; i++) {
    NdRegistration found;

    options.settings.model = g_rand_int_range (rand, 1, 3);
    options.settings.levels = g_rand_int_range (rand, 1, 6);
    options.settings.nonzero = g_rand_boolean (rand);
    nd_algorithm_set_register (algorithm, &options);
    found = run (algorithm, cube, moved, NULL);
    g_assert_true (found.measured);
    g_assert_cmpfloat (register_case_error (&c, &motion, &found.motion), <, 1);
  }
  nd_algorithm_free (algorithm);
  g_free (still);
  g_free (moved);
  g_rand_free (rand);
}

/* Outputs for noisy volumes of @size are finite. */
static void
check_size (const gsize size[3], NdRegisterModel model, GRand *rand)
{
  const NdAffine none = nd_affine_identity ();
  NdRegisterOptions options = default_options ();
  NdAlgorithm *algorithm;
  RegisterCase c;

  options.settings.model = model;
  options.settings.method = ND_REGISTER_PHASE;
  register_case_init (&c, size, spacing, rand);
  algorithm = new_algorithm (&options, &c);
  for (guint v = 0; v < 3; v++) {
    g_autofree gfloat *volume = register_case_volume (&c, &none, NULL, rand, 0);
    g_autofree gfloat *out = g_new (gfloat, count (size));

    for (gsize k = 0; k < count (size); k++)
      volume[k] += g_rand_double (rand) * 100;
    run (algorithm, size, volume, out);
    for (gsize k = 0; k < count (size); k++)
      g_assert_true (isfinite (out[k]));
  }
  nd_algorithm_free (algorithm);
}

/* Sizes of a few samples, and those that have more levels than are used. */
static void
test_sizes (void)
{
  static const gsize large[][3] = { { 320, 240, 1 }, { 260, 9, 9 },
    { 1, 1, 700 } };
  GRand *rand = register_case_rand (g_random_int ());

  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    check_size (large[i], ND_REGISTER_RIGID, rand);
  for (guint i = 0; i < 30; i++) {
    const NdRegisterModel model = g_rand_int_range (rand, 0, 3);
    gsize size[3];

    for (guint a = 0; a < 3; a++)
      size[a] = g_rand_int_range (rand, 1, i < 15 ? 5 : 20);
    check_size (size, model, rand);
  }
  g_rand_free (rand);
}

/* The levels are bounded whatever the settings are, also those of the plan. */
static void
test_levels (void)
{
  static const gsize size[3] = { 4000, 300, 1 };
  NdRegisterPlan plan = { 0 };

  for (guint levels = 1; levels <= 9; levels++) {
    plan.settings.levels = levels;
    nd_register_plan_init (&plan, &plan.settings, size, spacing);
    g_assert_cmpuint (plan.n_levels, ==, MIN (levels, ND_REGISTER_MAX_LEVELS));
    g_assert_cmpuint (plan.settings.levels, ==, levels);
  }
}

/* A volume that was measured, but no sample of which can be the reference:
 * the next one is. */
static void
test_lost_reference (void)
{
  GRand *rand = register_case_rand (SEED);
  const gsize plane = cube[0] * cube[1];
  const NdAffine none = nd_affine_identity ();
  NdRegisterOptions options = default_options ();
  g_autofree gfloat *still = NULL, *thin = NULL;
  NdAlgorithm *algorithm;
  NdRegistration found;
  NdAffine motion = none;
  RegisterCase c;

  options.settings.model = ND_REGISTER_TRANSLATION;
  options.reference.kind = ND_REFERENCE_PREVIOUS;
  motion.m[2][3] = spacing[2] / 2;
  register_case_init (&c, cube, spacing, rand);
  still = register_case_volume (&c, &none, NULL, rand, 0);
  thin = register_case_volume (&c, &motion, NULL, rand, 0);
  /* Smoothed, two planes remain, and a gradient needs three. */
  for (gsize i = 0; i < count (cube); i++) {
    if (i / plane < 8 || i / plane > 15)
      thin[i] = NAN;
  }
  algorithm = new_algorithm (&options, &c);
  run (algorithm, cube, still, NULL);
  found = run (algorithm, cube, thin, NULL);
  g_assert_true (found.measured);
  for (guint i = 0; i < 2; i++) {
    found = run (algorithm, cube, still, NULL);
    g_assert_true (found.measured);
    g_assert_cmpfloat (register_case_error (&c, &none, &found.motion), <, .01);
  }
  nd_algorithm_free (algorithm);
  g_rand_free (rand);
}

/* Frames of waves that move on and on: before the sum of their motions is too
 * large for a number of a motion, it begins anew. */
static void
test_drift (void)
{
  static const gsize size[3] = { 40, 40, 1 };
  RegisterCase c = { .size = { 40, 40, 1 }, .spacing = { 1e6, 1e6, 1e6 } };
  NdRegisterOptions options = default_options ();
  g_autofree gfloat *frame = g_new (gfloat, count (size));
  guint unmeasured = 0, i;
  NdAlgorithm *algorithm;

  options.settings.model = ND_REGISTER_TRANSLATION;
  options.reference.kind = ND_REFERENCE_PREVIOUS;
  algorithm = new_algorithm (&options, &c);
  for (i = 0; i < 1000 && unmeasured == 0; i++) {
    NdRegistration found;

    for (guint k = 0; k < count (size); k++)
      frame[k] =
          sin (G_PI / 10 * (k % 40 + 3. * i)) + sin (G_PI / 10 * (k / 40));
    found = run (algorithm, size, frame, NULL);
    unmeasured += !found.measured;
    g_assert_cmpfloat (fabs (found.motion.m[0][3]), <, 1e9);
  }
  g_test_message ("began anew after %u frames", i);
  g_assert_cmpuint (unmeasured, ==, 1);
  g_assert_cmpuint (i, >, 300);
  g_assert_true (run (algorithm, size, frame, NULL).measured);
  nd_algorithm_free (algorithm);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/register/reference-text", test_reference_text);
  g_test_add_func ("/register/kernels", test_kernels);
  g_test_add_func ("/register/warp", test_warp);
  g_test_add_func ("/register/warp-nan", test_warp_nan);
  g_test_add_func ("/register/memory", test_memory);
  g_test_add_func ("/register/interpolation", test_interpolation);
  g_test_add_func ("/register/small", test_small);
  g_test_add_func ("/register/large", test_large);
  g_test_add_func ("/register/changed", test_changed);
  g_test_add_func ("/register/random", test_random);
  g_test_add_func ("/register/frames", test_frames);
  g_test_add_func ("/register/reference", test_reference);
  g_test_add_func ("/register/reference-offset", test_reference_offset);
  g_test_add_func ("/register/reference-holes", test_reference_holes);
  g_test_add_func ("/register/reference-phase", test_reference_phase);
  g_test_add_func ("/register/methods", test_methods);
  g_test_add_func ("/register/streams", test_streams);
  g_test_add_func ("/register/bad-volumes", test_bad_volumes);
  g_test_add_func ("/register/mask", test_mask);
  g_test_add_func ("/register/changes", test_changes);
  g_test_add_func ("/register/sizes", test_sizes);
  g_test_add_func ("/register/levels", test_levels);
  g_test_add_func ("/register/lost-reference", test_lost_reference);
  g_test_add_func ("/register/drift", test_drift);
  return g_test_run ();
}
