/* Conversion of sample types, half precision above all.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"

#include <math.h>

/* By the definition: sign, exponent of base 2, mantissa of 10 bits. */
static gdouble
half_value (guint16 half)
{
  const gdouble sign = half & 0x8000 ? -1 : 1;
  const gint exponent = half >> 10 & 31;
  const gint mantissa = half & 0x3ff;

  if (exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  return exponent ? sign * ldexp (1024 + mantissa, exponent - 25)
                  : sign * ldexp (mantissa, -24);
}

static void
test_every_half (void)
{
  for (guint half = 0; half <= G_MAXUINT16; half++) {
    const gfloat value = nd_half_to_float (half);

    if (isnan (half_value (half))) {
      g_assert_true (isnan (value));
      g_assert_true (isnan (nd_half_to_float (nd_float_to_half (value))));
      continue;
    }
    g_assert_true (value == half_value (half));
    g_assert_cmpuint (nd_float_to_half (value), ==, half);
  }
}

/* Between two halves the nearer one, and the even one in the middle. */
static void
test_rounding_to_half (void)
{
  for (guint half = 0; half < 0x7bff; half++) {
    const gdouble low = half_value (half), high = half_value (half + 1);
    const gfloat middle = (low + high) / 2;

    g_assert_cmpuint (nd_float_to_half (middle), ==, half + half % 2);
    g_assert_cmpuint (nd_float_to_half (nextafterf (middle, 0)), ==, half);
    g_assert_cmpuint (nd_float_to_half (nextafterf (middle, INFINITY)), ==,
        half + 1);
    g_assert_cmpuint (nd_float_to_half (-middle), ==, 0x8000 + half + half % 2);
  }
  g_assert_cmpuint (nd_float_to_half (65519.996f), ==, 0x7bff);
  g_assert_cmpuint (nd_float_to_half (65520), ==, 0x7c00);
  g_assert_cmpuint (nd_float_to_half (-1e30f), ==, 0xfc00);
  g_assert_cmpuint (nd_float_to_half (-INFINITY), ==, 0xfc00);
  g_assert_cmpuint (nd_float_to_half (1e-30f), ==, 0);
}

/* Integers are rounded half to even and stop at the ends of their range. */
static void
test_integers (void)
{
  static const gfloat from[] = { -3e9f, -1.5f, -0.5f, 0.5f, 2.5f, 3e9f, 5e9f,
    NAN, INFINITY };
  static const gint32 signed_32[] = { G_MININT32, -2, 0, 0, 2, G_MAXINT32,
    G_MAXINT32, 0, G_MAXINT32 };
  static const guint32 unsigned_32[] = { 0, 0, 0, 0, 2, 3000000000u,
    G_MAXUINT32, 0, G_MAXUINT32 };
  static const gint16 wide[] = { -300, -128, -1, 127, 128, 4000 };
  static const gint8 narrow[] = { -128, -128, -1, 127, 127, 127 };
  gint32 got[9];
  guint32 got_unsigned[9];
  gint8 got_8[6];
  gint16 back[6];

  /* The number of saturated ones is returned. */
  g_assert_cmpuint (nd_convert_from_computed (ND_INT32, ND_PRECISION_SINGLE,
                        from, 9, got),
      ==, 4);
  g_assert_cmpmem (got, sizeof (got), signed_32, sizeof (signed_32));
  g_assert_cmpuint (nd_convert_from_computed (ND_UINT32, ND_PRECISION_SINGLE,
                        from, 9, got_unsigned),
      ==, 4);
  g_assert_cmpmem (got_unsigned, sizeof (got_unsigned), unsigned_32,
      sizeof (unsigned_32));
  g_assert_cmpuint (nd_convert_from_computed (ND_INT8, ND_PRECISION_SINGLE,
                        wide, 6, got_8),
      ==, 3);
  g_assert_cmpmem (got_8, sizeof (got_8), narrow, sizeof (narrow));
  nd_convert_to_computed (ND_INT8, ND_PRECISION_SINGLE, narrow, 6, back);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpint (back[i], ==, narrow[i]);
}

/* Double precision holds 32 bit integers and float64 exactly, single precision
 * rounds them. */
static void
test_double (void)
{
  static const gint32 whole[] = { G_MAXINT32, G_MININT32, -((1 << 24) + 1) };
  static const gdouble numbers[] = { 1 + 0x1p-52, -1e300, NAN };
  gdouble wide[3], again[3];
  gfloat narrow[3];
  gint32 back[3];

  nd_convert_to_computed (ND_INT32, ND_PRECISION_DOUBLE, whole, 3, wide);
  nd_convert_from_computed (ND_INT32, ND_PRECISION_DOUBLE, wide, 3, back);
  g_assert_cmpmem (back, sizeof (back), whole, sizeof (whole));
  nd_convert_to_computed (ND_FLOAT64, ND_PRECISION_DOUBLE, numbers, 3, wide);
  g_assert_cmpmem (wide, sizeof (wide), numbers, sizeof (numbers));
  nd_convert_from_computed (ND_FLOAT64, ND_PRECISION_DOUBLE, wide, 3, again);
  g_assert_cmpmem (again, sizeof (again), numbers, sizeof (numbers));
  nd_convert_to_computed (ND_FLOAT64, ND_PRECISION_SINGLE, numbers, 3, narrow);
  g_assert_cmpfloat (narrow[0], ==, 1);
  g_assert_cmpfloat (narrow[1], ==, -INFINITY);
  g_assert_true (isnan (narrow[2]));
  narrow[1] = 0.1f;
  nd_convert_from_computed (ND_FLOAT64, ND_PRECISION_SINGLE, narrow, 3, again);
  g_assert_cmpfloat (again[1], ==, 0.1f);
}

/* The types of streams, by their names. */
static void
test_types (void)
{
  guint n = 0;

  for (guint type = 0; type < ND_STREAM_TYPES; type++) {
    const gchar *name = nd_sample_name (type);
    NdSampleType found;

    if (!name)
      continue;
    n++;
    g_assert_true (nd_sample_from_name (name, &found));
    g_assert_cmpint (found, ==, type);
    g_assert_cmpint (nd_sample_computed (type, ND_PRECISION_SINGLE), <,
        ND_SAMPLE_TYPES);
    for (guint precision = 0; precision < ND_PRECISION_END; precision++) {
      if (type < ND_SAMPLE_TYPES)
        g_assert_cmpint (nd_sample_computed (type, precision), ==, type);
    }
  }
  g_assert_cmpuint (n, ==, 9);
  g_assert_cmpint (nd_sample_computed (ND_FLOAT64, ND_PRECISION_DOUBLE), ==,
      ND_FLOAT64);
  g_assert_null (nd_sample_name (ND_SAMPLE_SAME));
  g_assert_cmpint (nd_sample_precision (ND_UINT32, ND_PRECISION_SINGLE), ==,
      ND_PRECISION_DOUBLE);
  g_assert_cmpint (nd_sample_precision (ND_FLOAT64, ND_PRECISION_SINGLE), ==,
      ND_PRECISION_SINGLE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/convert/every-half", test_every_half);
  g_test_add_func ("/convert/rounding-to-half", test_rounding_to_half);
  g_test_add_func ("/convert/integers", test_integers);
  g_test_add_func ("/convert/double", test_double);
  g_test_add_func ("/convert/types", test_types);
  return g_test_run ();
}
