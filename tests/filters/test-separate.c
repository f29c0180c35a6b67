/* Separability, found by analysis of the coefficients.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/filters/designs.h"

#include <math.h>
#include <string.h>

/* As coefficients a filter carries no trace of its design. */
static NdFilter *
as_coefficients (const gchar *design, const NdAxes *axes,
    const gchar *parameters)
{
  g_autoptr (NdFilter) filter = make_design (design, axes, parameters);
  NdFilter *plain = nd_filter_new ("coefficients", filter->size);

  memcpy (plain->coefficients, filter->coefficients,
      nd_filter_count (filter) * sizeof (gdouble));
  return plain;
}

static void
assert_separable (const NdFilter *filter, gdouble tolerance)
{
  g_auto (Factors) factors = { {
      NULL,
  } };
  gdouble largest = 0;

  g_assert_true (nd_filter_separate (filter, factors.a));
  for (gsize i = 0; i < nd_filter_count (filter); i++)
    largest = MAX (largest, fabs (filter->coefficients[i]));
  for (gsize i = 0; i < nd_filter_count (filter); i++) {
    gdouble w = filter->coefficients[i];
    gdouble floor = largest / (1 << 24) / nd_filter_count (filter);
    gdouble difference;
    gsize at[ND_AXES];

    get_position (filter, i, at);
    difference = fabs (factors.a[0][at[0]] * factors.a[1][at[1]]
            * factors.a[2][at[2]] * factors.a[3][at[3]]
        - w);
    g_assert_cmpfloat (difference, <=,
        tolerance == 0 ? 0 : MAX (tolerance * fabs (w), floor));
  }
  for (guint a = 0; a < ND_AXES; a++) {
    if (filter->size[a] == 1 && nd_filter_count (filter) > 1)
      g_assert_cmpfloat (factors.a[a][0], ==, 1);
  }
}

static void
assert_not_separable (const NdFilter *filter)
{
  gdouble *factors[ND_AXES];

  g_assert_false (nd_filter_separate (filter, factors));
  for (guint a = 0; a < ND_AXES; a++)
    g_assert_null (factors[a]);
}

static void
test_designs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (all_axes); i++) {
    g_autoptr (NdFilter) gaussian =
        as_coefficients ("gaussian", all_axes[i], "sigma=1.2");
    g_autoptr (NdFilter) even =
        as_coefficients ("gaussian", all_axes[i], "sigma=1.2 size=4");
    g_autoptr (NdFilter) box = as_coefficients ("box", all_axes[i], "size=3");
    g_autoptr (NdFilter) sobel = as_coefficients ("sobel", all_axes[i], "");
    g_autoptr (NdFilter) laplace = as_coefficients ("laplace", all_axes[i], "");
    g_autoptr (NdFilter) full =
        as_coefficients ("laplace", all_axes[i], "connectivity=full");
    g_autoptr (NdFilter) log = as_coefficients ("log", all_axes[i], "sigma=1");

    assert_separable (gaussian, 1e-14);
    assert_separable (even, 1e-14);
    assert_separable (box, 1e-14);
    assert_separable (sobel, 0);
    assert_not_separable (laplace);
    assert_not_separable (full);
    assert_not_separable (log);
  }
}

/* A Gaussian that was saved as float32. */
static void
test_float32 (void)
{
  static const gchar *const sigmas[] = { "sigma=0.3", "sigma=1.2",
    "sigma=0.5:2.5:1:0.7" };

  for (guint i = 0; i < G_N_ELEMENTS (sigmas); i++) {
    g_autoptr (NdFilter) filter =
        as_coefficients ("gaussian", &axes_xyzt, sigmas[i]);

    for (gsize j = 0; j < nd_filter_count (filter); j++)
      filter->coefficients[j] = (gfloat) filter->coefficients[j];
    assert_separable (filter, 8.0 / (1 << 24));
  }
}

static GRand *
new_random (void)
{
  guint32 seed = g_test_rand_int ();

  g_test_message ("seed %u", seed);
  return g_rand_new_with_seed (seed);
}

static void
random_size (GRand *random, gsize size[ND_AXES])
{
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = g_rand_int_range (random, 1, 7);
}

static void
test_float32_random (void)
{
  g_autoptr (GRand) random = new_random ();

  for (guint n = 0; n < 200; n++) {
    gdouble values[ND_AXES][8];
    gdouble *const pointers[] = { values[0], values[1], values[2], values[3] };
    g_autoptr (NdFilter) filter = NULL;
    gsize size[ND_AXES];

    random_size (random, size);
    for (guint i = 0; i < ND_AXES * 8; i++)
      values[i / 8][i % 8] = g_rand_double_range (random, -1, 1);
    filter = nd_filter_new_product ("random", size, pointers);
    for (gsize i = 0; i < nd_filter_count (filter); i++)
      filter->coefficients[i] = (gfloat) filter->coefficients[i];
    assert_separable (filter, 8.0 / (1 << 24));
  }
}

/* Factors of integer filters are integers, and their products are exact. */
static void
test_integers (void)
{
  g_autoptr (GRand) random = new_random ();

  for (guint n = 0; n < 500; n++) {
    gdouble values[ND_AXES][8];
    gdouble *const pointers[] = { values[0], values[1], values[2], values[3] };
    g_autoptr (NdFilter) filter = NULL;
    g_auto (Factors) factors = { {
        NULL,
    } };
    gsize size[ND_AXES];

    random_size (random, size);
    for (guint i = 0; i < ND_AXES * 8; i++)
      values[i / 8][i % 8] = g_rand_int_range (random, -20, 21);
    filter = nd_filter_new_product ("random", size, pointers);
    assert_separable (filter, 0);
    g_assert_true (nd_filter_separate (filter, factors.a));
    for (guint a = 0; a < ND_AXES; a++) {
      for (gsize i = 0; i < size[a]; i++)
        g_assert_cmpfloat (factors.a[a][i], ==, rint (factors.a[a][i]));
    }
  }
}

/* An integer filter that differs by 1 from a separable one is not separable. A
 * float filter is not separable if it differs by more than rounding. */
static void
test_nearly (void)
{
  g_autoptr (NdFilter) integers = make_design ("coefficients", &axes_xy,
      "size=2 values=4000000:6000000:6000000:9000000");
  g_autoptr (NdFilter) floats =
      make_design ("coefficients", &axes_xy, "size=2 values=0.4:0.6:0.6:0.9");

  assert_separable (integers, 0);
  integers->coefficients[3] += 1;
  assert_not_separable (integers);

  assert_separable (floats, 1e-14);
  floats->coefficients[3] *= 1 + 1.0 / (1 << 20);
  assert_not_separable (floats);
}

static void
test_random (void)
{
  g_autoptr (GRand) random = new_random ();

  for (guint n = 0; n < 100; n++) {
    static const gsize size[] = { 3, 2, 4, 2 };
    g_autoptr (NdFilter) filter = nd_filter_new ("random", size);

    for (gsize i = 0; i < nd_filter_count (filter); i++)
      filter->coefficients[i] = n % 2 ? g_rand_double_range (random, -1, 1)
                                      : g_rand_int_range (random, -1000, 1000);
    assert_not_separable (filter);
  }
}

/* The products of large integers overflow 64 bits. */
static void
test_large_integers (void)
{
  g_autoptr (GRand) random = new_random ();
  static const gsize size[] = { 5, 4, 3, 5 };
  g_autoptr (NdFilter) filter = nd_filter_new ("random", size);

  for (guint n = 0; n < 20; n++) {
    for (gsize i = 0; i < nd_filter_count (filter); i++)
      filter->coefficients[i] = g_rand_int_range (random, -16777215, 16777216);
    assert_not_separable (filter);
  }
}

/* 16 = 4 x 4 stays in integers: the factors are primitive, and the first one
 * contains the scale. */
static void
test_scale (void)
{
  g_autoptr (NdFilter) filter = make_design ("coefficients", &axes_xyzt,
      "size=1:2:1:3 values=-12:-24:-24:-48:-36:-72");
  g_auto (Factors) factors = { {
      NULL,
  } };

  g_assert_true (nd_filter_separate (filter, factors.a));
  g_assert_cmpfloat (factors.a[0][0], ==, 1);
  g_assert_cmpfloat (fabs (factors.a[1][0]), ==, 12);
  g_assert_cmpfloat (fabs (factors.a[1][1]), ==, 24);
  g_assert_cmpfloat (factors.a[2][0], ==, 1);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (fabs (factors.a[3][i]), ==, i + 1);
  assert_separable (filter, 0);
}

static void
test_special (void)
{
  g_autoptr (NdFilter) zeros =
      make_design ("coefficients", &axes_xyz, "size=2:1:2 values=0:0:0:0");
  g_autoptr (NdFilter) zero =
      make_design ("coefficients", &axes_xyz, "size=1 values=0");
  g_autoptr (NdFilter) one =
      make_design ("coefficients", &axes_xyz, "size=1 values=-2.5");
  g_autoptr (NdFilter) line =
      make_design ("coefficients", &axes_xyz, "size=1:1:3 values=1:0:-0.3");
  g_autoptr (NdFilter) corner = make_design ("coefficients", &axes_xyz,
      "size=2:2:2 values=0:0:0:0:0:0:0:7");
  g_autoptr (NdFilter) diagonal =
      make_design ("coefficients", &axes_xy, "size=2 values=1:0:0:1");

  assert_separable (zeros, 0);
  assert_separable (zero, 0);
  assert_separable (one, 0);
  assert_separable (line, 1e-15);
  assert_separable (corner, 0);
  assert_not_separable (diagonal);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/separate/designs", test_designs);
  g_test_add_func ("/separate/float32", test_float32);
  g_test_add_func ("/separate/float32-random", test_float32_random);
  g_test_add_func ("/separate/integers", test_integers);
  g_test_add_func ("/separate/nearly", test_nearly);
  g_test_add_func ("/separate/random", test_random);
  g_test_add_func ("/separate/large-integers", test_large_integers);
  g_test_add_func ("/separate/scale", test_scale);
  g_test_add_func ("/separate/special", test_special);
  return g_test_run ();
}
