/* Conversion between affine matrix and quaternion in both directions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/niftitransforms.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* A random rotation, mirrored if @mirror. */
static void
random_geometry (NdGeometry *geometry, gboolean mirror)
{
  gdouble q[4], length = 0, origin[3], spacing[3];

  for (guint i = 0; i < 4; i++) {
    q[i] = g_test_rand_double_range (-1, 1);
    length += q[i] * q[i];
  }
  length = q[0] < 0 ? -sqrt (length) : sqrt (length);
  for (guint i = 0; i < 4; i++)
    q[i] /= length;
  for (guint a = 0; a < 3; a++) {
    origin[a] = g_test_rand_double_range (-300, 300);
    spacing[a] = g_test_rand_double_range (0.01, 20);
  }
  g_assert_true (nd_geometry_from_quaternion (geometry, q + 1, mirror ? -1 : 1,
      spacing, origin));
}

static void
test_quaternion (void)
{
  for (guint i = 0; i < 10000; i++) {
    NdGeometry geometry, back;
    gdouble bcd[3], qfac;

    random_geometry (&geometry, i % 2);
    g_assert_true (nd_geometry_to_quaternion (&geometry, bcd, &qfac));
    g_assert_cmpfloat (qfac, ==, i % 2 ? -1 : 1);
    g_assert_true (nd_geometry_from_quaternion (&back, bcd, qfac,
        geometry.spacing, geometry.origin));
    /* a = sqrt (1 - ...) loses half of its digits near 0. */
    for (guint k = 0; k < 9; k++)
      g_assert_cmpfloat_with_epsilon (back.directions[k],
          geometry.directions[k], 1e-7);
  }
}

/* Half turns about the axes, which have a = 0, and other exact cases. */
static void
test_exact_quaternions (void)
{
  static const gdouble diagonals[][3] = { { 1, 1, 1 }, { 1, -1, -1 },
    { -1, 1, -1 }, { -1, -1, 1 }, { 1, 1, -1 }, { -1, 1, 1 }, { 1, -1, 1 },
    { -1, -1, -1 } };
  static const gdouble one[3] = { 1, 1, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (diagonals); i++) {
    NdGeometry geometry, back;
    gdouble bcd[3], qfac;

    nd_geometry_from_spacing (&geometry, one);
    for (guint a = 0; a < 3; a++)
      geometry.directions[4 * a] = diagonals[i][a];
    g_assert_true (nd_geometry_to_quaternion (&geometry, bcd, &qfac));
    g_assert_true (nd_geometry_from_quaternion (&back, bcd, qfac, one,
        geometry.origin));
    for (guint k = 0; k < 9; k++)
      g_assert_cmpfloat (back.directions[k], ==, geometry.directions[k]);
  }
}

/* The float32 numbers of a file are restored bit by bit after division and
 * multiplication by the spacing. */
static void
test_affine (void)
{
  for (guint i = 0; i < 100000; i++) {
    gdouble affine[3][4], back[3][4], spacing[3];
    NdGeometry geometry;

    for (guint row = 0; row < 3; row++) {
      for (guint a = 0; a < 4; a++)
        affine[row][a] = (gfloat) g_test_rand_double_range (-10, 10);
      spacing[row] = (gfloat) g_test_rand_double_range (0.001, 10);
    }
    g_assert_true (nd_geometry_from_affine (&geometry, affine, spacing));
    nd_geometry_to_affine (&geometry, back);
    for (guint row = 0; row < 3; row++) {
      g_assert_cmpfloat (geometry.spacing[row], ==, spacing[row]);
      for (guint a = 0; a < 4; a++)
        g_assert_cmpfloat ((gfloat) back[row][a], ==, affine[row][a]);
    }
  }
}

static void
test_refused (void)
{
  gdouble affine[3][4] = { { 2, 0, 0, 1 }, { 0, 3, 0, 1 }, { 0, 0, 4, 1 } };
  const gdouble none[3] = { 0, NAN, INFINITY };
  const gdouble one[3] = { 1, 1, 1 };
  const gdouble no_quaternion[3] = { NAN, 0, 0 };
  NdGeometry geometry;
  gdouble bcd[3], qfac;

  /* Without usable spacing the lengths of the columns are used. */
  g_assert_true (nd_geometry_from_affine (&geometry, affine, none));
  g_assert_cmpfloat (geometry.spacing[0], ==, 2);
  g_assert_cmpfloat (geometry.spacing[1], ==, 3);
  g_assert_cmpfloat (geometry.spacing[2], ==, 4);
  g_assert_cmpfloat (geometry.directions[8], ==, 1);

  nd_geometry_from_spacing (&geometry, none);
  g_assert_true (geometry.known);
  g_assert_cmpfloat (geometry.spacing[0], ==, 1);
  g_assert_cmpfloat (geometry.spacing[2], ==, 1);

  affine[1][2] = NAN;
  g_assert_false (nd_geometry_from_affine (&geometry, affine, one));
  affine[1][2] = 4;
  g_assert_true (nd_geometry_from_affine (&geometry, affine, none));
  g_assert_false (nd_geometry_to_quaternion (&geometry, bcd, &qfac));
  g_assert_false (nd_geometry_from_quaternion (&geometry, no_quaternion, 1, one,
      one));
}

/* As nifti1_io.c and ITK, which shorten it: half a turn about (1, 1, 0). */
static void
test_long_quaternion (void)
{
  const gdouble one[3] = { 1, 1, 1 };
  const gdouble lengths[] = { M_SQRT1_2, M_SQRT1_2 * (1 + 1e-5), 0.75, 1 };
  NdGeometry geometry;

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    const gdouble bcd[3] = { lengths[i], lengths[i], 0 };

    g_assert_true (nd_geometry_from_quaternion (&geometry, bcd, 1, one, one));
    for (guint k = 0; k < 9; k++)
      g_assert_cmpfloat_with_epsilon (geometry.directions[k],
          k == 1 || k == 3 ? 1
              : k == 8     ? -1
                           : 0,
          1e-12);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/geometry/quaternion", test_quaternion);
  g_test_add_func ("/geometry/long-quaternion", test_long_quaternion);
  g_test_add_func ("/geometry/exact-quaternions", test_exact_quaternions);
  g_test_add_func ("/geometry/affine", test_affine);
  g_test_add_func ("/geometry/refused", test_refused);
  return g_test_run ();
}
