/* Eigenvalues, measures and velocities of tensors that are known.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/structure.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/structure/eigen", test_eigen);
  g_test_add_func ("/structure/degenerate", test_degenerate);
  g_test_add_func ("/structure/anisotropy", test_anisotropy);
  g_test_add_func ("/structure/motion", test_motion);
  return g_test_run ();
}
