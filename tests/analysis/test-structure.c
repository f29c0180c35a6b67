/* Eigenvalues, measures and velocities of tensors that are known.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"

#include <math.h>
#include <string.h>

static GRand *
new_rand (void)
{
  const gchar *text = g_getenv ("ND_SEED");
  const guint32 seed =
      text ? g_ascii_strtoull (text, NULL, 10) : g_random_int ();

  g_test_message ("ND_SEED=%u", seed);
  return g_rand_new_with_seed (seed);
}

static gdouble
get (guint axes, const gdouble *tensor, guint i, guint j)
{
  return tensor[nd_tensor_index (axes, i, j)];
}

/* A v = l v, v orthonormal, l in order: to 1e-12 of the trace. */
static void
check_eigen (guint axes, const gdouble *tensor)
{
  gdouble values[4], vectors[4][4], scale = 1e-300;

  for (guint i = 0; i < axes; i++)
    scale = MAX (scale, fabs (get (axes, tensor, i, i)));
  for (guint i = 0; i < axes; i++) {
    for (guint j = 0; j < axes; j++)
      scale = MAX (scale, fabs (get (axes, tensor, i, j)));
  }
  g_assert_true (nd_tensor_eigen (axes, tensor, values, vectors));
  for (guint k = 0; k < axes; k++) {
    if (k > 0)
      g_assert_cmpfloat (values[k - 1], >=, values[k]);
    for (guint i = 0; i < axes; i++) {
      gdouble sum = 0, product = 0;

      for (guint j = 0; j < axes; j++) {
        sum += get (axes, tensor, i, j) * vectors[k][j];
        product += vectors[k][j] * vectors[i][j];
      }
      g_assert_cmpfloat_with_epsilon (sum, values[k] * vectors[k][i],
          1e-12 * scale);
      g_assert_cmpfloat_with_epsilon (product, i == k, 1e-12);
    }
  }
}

static void
test_eigen (void)
{
  static const gdouble scales[] = { 1e-20, 1, 1e20 };
  g_autoptr (GRand) rand = new_rand ();

  for (guint round = 0; round < 3000; round++) {
    const guint axes = 2 + round % 3;
    gdouble tensor[10];

    for (guint i = 0; i < 10; i++)
      tensor[i] = scales[round / 3 % 3] * (g_rand_double (rand) - .5);
    /* Degenerate ones: few directions, equal eigenvalues, zeros. */
    if (round % 5 == 1)
      for (guint i = 0; i < 10; i++)
        tensor[i] = rint (tensor[i] / scales[round / 3 % 3]);
    if (round % 5 == 2)
      memset (tensor, 0, sizeof (tensor));
    check_eigen (axes, tensor);
  }
}

static void
test_degenerate (void)
{
  static const NdStructure structures[] = { ND_STRUCTURE_EIGENVALUES,
    ND_STRUCTURE_ORIENTATION, ND_STRUCTURE_CERTAINTY, ND_STRUCTURE_ANISOTROPY };

  for (guint axes = 2; axes <= 4; axes++) {
    gdouble bad[3][10] = { { 0 }, { 0 }, { 0 } };
    gdouble out[10], moments[ND_MAX_MOMENTS] = { 0 };
    NdMotionPlan plan;

    bad[1][1] = NAN;
    bad[2][0] = INFINITY;
    for (guint b = 0; b < 3; b++) {
      for (guint s = 0; s < G_N_ELEMENTS (structures); s++) {
        nd_structure_from_tensor (structures[s], axes, bad[b], out);
        for (guint i = 0; i < nd_structure_components (structures[s], axes);
             i++)
          g_assert_cmpfloat (out[i], ==, 0);
      }
    }
    for (NdMotion model = ND_MOTION_CONSTANT; model <= ND_MOTION_AFFINE;
         model++) {
      nd_motion_plan_init (&plan, model, axes);
      for (guint round = 0; round < 2; round++) {
        nd_motion_solve (&plan, moments, out);
        for (guint i = 0; i < axes; i++)
          g_assert_cmpfloat (out[i], ==, 0);
        moments[0] = NAN;
      }
      moments[0] = 0;
    }
  }
}

/* Lines, planes and points in 3D. */
static void
test_anisotropy (void)
{
  const gdouble plane[6] = { 3, 0, 0, 0, 0, 0 };
  const gdouble line[6] = { 2, 0, 0, 2, 0, 0 };
  const gdouble point[6] = { 1, 0, 0, 1, 0, 1 };
  gdouble out[3];

  nd_structure_from_tensor (ND_STRUCTURE_ANISOTROPY, 3, line, out);
  g_assert_true (out[0] == 1 && out[1] == 0 && out[2] == 0);
  nd_structure_from_tensor (ND_STRUCTURE_ANISOTROPY, 3, plane, out);
  g_assert_true (out[0] == 0 && out[1] == 1 && out[2] == 0);
  nd_structure_from_tensor (ND_STRUCTURE_ANISOTROPY, 3, point, out);
  g_assert_true (out[0] == 0 && out[1] == 0 && out[2] == 1);
}

/* Adds g g^T, g the gradient of a pattern that moves with @v. */
static void
add_gradient (guint axes, const gdouble *g, const gdouble *v, gdouble *tensor)
{
  gdouble full[4] = { 0 };

  for (guint i = 0; i + 1 < axes; i++) {
    full[i] = g[i];
    full[axes - 1] -= g[i] * v[i];
  }
  for (guint i = 0; i < axes; i++) {
    for (guint j = i; j < axes; j++)
      tensor[nd_tensor_index (axes, i, j)] += full[i] * full[j];
  }
}

/* A stream of tensors of a pattern that moves with v + A x comes out with that
 * velocity; with model=constant if A is 0. */
static void
check_motion (guint axes, NdMotion model, GRand *rand)
{
  const guint dims = axes - 1;
  const gsize size[3] = { 12, 11, dims == 3 ? 10 : 1 };
  const guint components = nd_tensor_components (axes);
  const NdShape in_shape = { components, { size[0], size[1], size[2] } };
  const NdShape out_shape = { axes, { size[0], size[1], size[2] } };
  const gsize samples = size[0] * size[1] * size[2];
  NdStructureSettings settings = { .structures = { ND_STRUCTURE_VELOCITY },
    .n_structures = 1,
    .model = model,
    .sigma = 1.5,
    .speed = { 1, 1, 1 } };
  g_autofree gfloat *in = g_new (gfloat, samples * components);
  g_autofree gfloat *out = g_new (gfloat, samples * axes);
  g_autofree gdouble *truth = g_new0 (gdouble, samples * dims);
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) structure =
      nd_cpu_structure_new (&settings, &in_shape, -1, &error);
  gdouble v[3], a[3][3];
  guint received = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < 3; i++) {
    v[i] = 3 * g_rand_double (rand) - 1.5;
    for (guint j = 0; j < 3; j++)
      a[i][j] = model == ND_MOTION_AFFINE ? .2 * g_rand_double (rand) - .1 : 0;
  }
  for (gsize s = 0; s < samples; s++) {
    const gdouble x[3] = { s % size[0], s / size[0] % size[1],
      s / size[0] / size[1] };
    gdouble tensor[10] = { 0 };

    for (guint i = 0; i < dims; i++) {
      truth[s * dims + i] = v[i];
      for (guint j = 0; j < dims; j++)
        truth[s * dims + i] += a[i][j] * x[j];
    }
    for (guint k = 0; k < dims; k++) {
      gdouble g[3];

      for (guint i = 0; i < 3; i++)
        g[i] = g_rand_double (rand) - .5;
      add_gradient (axes, g, truth + s * dims, tensor);
    }
    for (guint c = 0; c < components; c++)
      in[s * components + c] = tensor[c];
  }
  for (guint t = 0; t < 6; t++) {
    NdSamples volume = nd_samples_dense (in, &in_shape, ND_FLOAT32);
    NdSamples to = nd_samples_dense (out, &out_shape, ND_FLOAT32);

    if (t < 5)
      g_assert_true (nd_algorithm_push (structure, &volume, &error));
    else
      nd_algorithm_end (structure);
    while (nd_algorithm_ready (structure)) {
      g_assert_true (nd_algorithm_respond (structure, &to, &error));
      received++;
      for (gsize s = 0; s < samples; s++) {
        for (guint i = 0; i < dims; i++)
          g_assert_cmpfloat_with_epsilon (out[s * axes + i],
              truth[s * dims + i], 2e-3);
        g_assert_cmpfloat (out[s * axes + dims], >, 0);
        g_assert_cmpfloat (out[s * axes + dims], <=, 1);
      }
    }
  }
  g_assert_cmpuint (received, ==, 5);
}

static void
test_motion (void)
{
  g_autoptr (GRand) rand = new_rand ();

  for (guint axes = 3; axes <= 4; axes++) {
    check_motion (axes, ND_MOTION_CONSTANT, rand);
    check_motion (axes, ND_MOTION_AFFINE, rand);
  }
}

/* The outputs of @n volumes. */
static gfloat *
run_structure (const gfloat *in, const NdShape *shape, guint n, NdMotion model)
{
  const gsize samples = shape->size[0] * shape->size[1] * shape->size[2];
  const NdStructureSettings settings = { .structures = { ND_STRUCTURE_VELOCITY,
                                             ND_STRUCTURE_CERTAINTY },
    .n_structures = 2,
    .model = model,
    .sigma = 1,
    .speed = { 1, 1, 1 } };
  NdShape out_shape = *shape;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdAlgorithm) structure =
      nd_cpu_structure_new (&settings, shape, -1, &error);
  gfloat *out;
  guint made = 0;

  g_assert_no_error (error);
  out_shape.components = nd_structure_output_components (&settings,
      nd_tensor_axes (shape->components));
  out = g_new (gfloat, n * samples * out_shape.components);
  for (guint t = 0; t <= n; t++) {
    NdSamples volume =
        nd_samples_dense ((gpointer) (in + t * samples * shape->components),
            shape, ND_FLOAT32);

    if (t < n)
      g_assert_true (nd_algorithm_push (structure, &volume, &error));
    else
      nd_algorithm_end (structure);
    while (nd_algorithm_ready (structure)) {
      NdSamples to =
          nd_samples_dense (out + made++ * samples * out_shape.components,
              &out_shape, ND_FLOAT32);

      g_assert_true (nd_algorithm_respond (structure, &to, &error));
    }
  }
  g_assert_cmpuint (made, ==, n);
  return out;
}

static gfloat *
random_tensors (const NdShape *shape, guint n, GRand *rand)
{
  const guint axes = nd_tensor_axes (shape->components);
  const gsize samples = n * shape->size[0] * shape->size[1] * shape->size[2];
  gfloat *in = g_new (gfloat, samples * shape->components);

  for (gsize s = 0; s < samples; s++) {
    gdouble tensor[10] = { 0 };

    for (guint k = 0; k < axes; k++) {
      const gdouble g[3] = { g_rand_double (rand) - .5,
        g_rand_double (rand) - .5, g_rand_double (rand) - .5 };
      const gdouble v[3] = { .3, -.2, .1 };

      add_gradient (axes, g, v, tensor);
    }
    for (guint c = 0; c < shape->components; c++)
      in[s * shape->components + c] = tensor[c];
  }
  return in;
}

/* NaN and infinite components make the outputs 0 whose window they are in: 3
 * samples and 2 volumes with sigma=1. All others stay as they are. */
static void
test_nan (void)
{
  const NdShape shape = { 10, { 13, 12, 11 } };
  const gsize *size = shape.size, samples = size[0] * size[1] * size[2];
  const gsize at[3] = { 6, 4, 5 };
  g_autoptr (GRand) rand = new_rand ();
  g_autofree gfloat *in = random_tensors (&shape, 9, rand);

  for (NdMotion model = ND_MOTION_CONSTANT; model <= ND_MOTION_AFFINE;
       model++) {
    g_autofree gfloat *want = run_structure (in, &shape, 9, model);

    for (guint k = 0; k < 2; k++) {
      gfloat *bad = in
          + ((4 * samples + (at[2] * size[1] + at[1]) * size[0] + at[0]) * 10
              + 3 * k);
      const gfloat old = *bad;
      g_autofree gfloat *got = NULL;

      *bad = k == 0 ? NAN : -INFINITY;
      got = run_structure (in, &shape, 9, model);
      *bad = old;
      for (gsize i = 0; i < 9 * samples; i++) {
        const gsize here[3] = { i % size[0], i / size[0] % size[1],
          i / size[0] / size[1] % size[2] };
        gboolean reached = ABS ((gint) (i / samples) - 4) <= 2;

        for (guint a = 0; a < 3; a++)
          reached &= ABS ((gint) here[a] - (gint) at[a]) <= 3;
        for (guint c = 0; c < 5; c++)
          g_assert_true (got[i * 5 + c] == (reached ? 0 : want[i * 5 + c]));
      }
    }
  }
}

/* Equal volumes have equal outputs, bit by bit, also at the ends of a stream,
 * and in streams shorter than the window. */
static void
test_equal (void)
{
  static const gsize sizes[][3] = { { 9, 8, 7 }, { 1, 1, 1 }, { 2, 7, 1 } };
  static const guint lengths[] = { 1, 2, 300 };
  g_autoptr (GRand) rand = new_rand ();

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    const guint axes = sizes[s][2] > 1 || sizes[s][0] == 1 ? 4 : 3;
    const NdShape shape = { nd_tensor_components (axes),
      { sizes[s][0], sizes[s][1], sizes[s][2] } };
    const gsize samples = sizes[s][0] * sizes[s][1] * sizes[s][2];
    const gsize n = samples * shape.components;
    g_autofree gfloat *one = random_tensors (&shape, 1, rand);
    g_autofree gfloat *in = g_new (gfloat, 300 * n);

    for (guint t = 0; t < 300; t++)
      memcpy (in + t * n, one, n * sizeof (gfloat));
    for (guint l = 0; l < G_N_ELEMENTS (lengths); l++) {
      g_autofree gfloat *out =
          run_structure (in, &shape, lengths[l], ND_MOTION_CONSTANT);
      const gsize bytes = samples * (axes + 1) * sizeof (gfloat);

      for (guint t = 1; t < lengths[l]; t++)
        g_assert_cmpmem (out, bytes, (guint8 *) out + t * bytes, bytes);
      for (gsize i = 0; i < samples * (axes + 1); i++)
        g_assert_true (isfinite (out[i]));
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/structure/eigen", test_eigen);
  g_test_add_func ("/structure/degenerate", test_degenerate);
  g_test_add_func ("/structure/anisotropy", test_anisotropy);
  g_test_add_func ("/structure/motion", test_motion);
  g_test_add_func ("/structure/nan", test_nan);
  g_test_add_func ("/structure/equal", test_equal);
  return g_test_run ();
}
