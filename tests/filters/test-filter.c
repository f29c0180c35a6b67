/* Filters and banks: counts, sums, reach, symmetry.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/filters/designs.h"

#include <math.h>
#include <string.h>

static void
test_new (void)
{
  static const gsize size[] = { 3, 2, 4, 5 };
  static const gsize empty[] = { 3, 0, 4, 5 };
  static const gsize large[] = { 1 << 14, 1 << 14, 2, 1 };
  static const gsize overflow[] = { G_MAXSIZE / 2, 4, G_MAXSIZE / 2, 2 };
  g_autoptr (NdFilter) filter = nd_filter_new ("any", size);

  g_assert_cmpstr (filter->name, ==, "any");
  g_assert_cmpuint (nd_filter_count (filter), ==, 120);
  for (guint i = 0; i < 120; i++)
    g_assert_cmpfloat (filter->coefficients[i], ==, 0);
  for (guint a = 0; a < ND_AXES; a++)
    g_assert_cmpint (filter->origin[a], ==, 0);
  g_assert_null (nd_filter_new ("empty", empty));
  g_assert_null (nd_filter_new ("large", large));
  g_assert_null (nd_filter_new ("overflow", overflow));
}

static void
test_product (void)
{
  gdouble x[] = { 1, 2, 3 }, y[] = { 5, -7 }, t[] = { 11, 13, 17, 0.5 };
  gdouble *const factors[] = { x, y, NULL, t };
  static const gsize size[] = { 3, 2, 1, 4 };
  g_autoptr (NdFilter) filter = nd_filter_new_product ("p", size, factors);

  for (gsize i = 0; i < nd_filter_count (filter); i++) {
    gsize at[ND_AXES];

    get_position (filter, i, at);
    g_assert_cmpfloat (filter->coefficients[i], ==,
        x[at[0]] * y[at[1]] * t[at[3]]);
  }
}

static void
test_copy (void)
{
  g_autoptr (NdFilter) filter =
      make_design ("coefficients", &axes_xy, "size=3:2 values=1:2:3:4:5:6");
  g_autoptr (NdFilter) copy = NULL;

  filter->origin[1] = -1;
  copy = nd_filter_copy (filter);
  g_assert_true (copy->name != filter->name);
  g_assert_true (copy->coefficients != filter->coefficients);
  g_assert_cmpstr (copy->name, ==, filter->name);
  g_assert_cmpint (copy->origin[1], ==, -1);
  assert_size (copy, 3, 2, 1, 1);
  g_assert_cmpmem (copy->coefficients, 6 * sizeof (gdouble),
      filter->coefficients, 6 * sizeof (gdouble));
}

static void
test_sum_and_normalize (void)
{
  g_autoptr (NdFilter) filter =
      make_design ("coefficients", &axes_xy, "size=3:1 values=1:2:5");
  g_autoptr (NdFilter) negative =
      make_design ("coefficients", &axes_xy, "size=2:1 values=1:-3");
  g_autoptr (NdFilter) cancelling =
      make_design ("coefficients", &axes_xy, "size=3:1 values=1e18:1:-1e18");
  g_autoptr (GError) error = NULL;

  g_assert_cmpfloat (nd_filter_sum (filter), ==, 8);
  g_assert_true (nd_filter_normalize (filter, NULL));
  g_assert_cmpfloat (filter->coefficients[0], ==, 0.125);
  g_assert_cmpfloat (filter->coefficients[2], ==, 0.625);
  g_assert_cmpfloat (nd_filter_sum (filter), ==, 1);

  g_assert_true (nd_filter_normalize (negative, NULL));
  g_assert_cmpfloat (negative->coefficients[0], ==, -0.5);
  g_assert_cmpfloat (negative->coefficients[1], ==, 1.5);

  /* 1 of 2e18 is a rounding error, not a sum. */
  g_assert_false (nd_filter_normalize (cancelling, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
}

static void
test_normalize_zero_sum (void)
{
  static const gchar *const designs[] = { "laplace", "sobel" };
  static const gsize one[] = { 1, 1, 1, 1 };
  g_autoptr (NdFilter) zeros = nd_filter_new ("zeros", one);

  g_assert_false (nd_filter_normalize (zeros, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (designs); i++) {
    g_autoptr (NdFilter) filter = make_design (designs[i], &axes_xyzt, "");
    g_autoptr (NdFilter) before = nd_filter_copy (filter);
    g_autoptr (GError) error = NULL;

    g_assert_false (nd_filter_normalize (filter, &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, "normalize"));
    g_assert_nonnull (strstr (error->message, designs[i]));
    g_assert_cmpmem (filter->coefficients, 81 * sizeof (gdouble),
        before->coefficients, 81 * sizeof (gdouble));
  }
}

/* Offsets by the definition: m reads k/2 + origin - m. */
static void
test_reach (void)
{
  for (gint k = 1; k <= 9; k++) {
    gsize size[ND_AXES] = { 1, 1, 1, 1 };
    g_autoptr (NdFilter) filter = NULL;

    size[k % ND_AXES] = k;
    filter = nd_filter_new ("any", size);
    for (gint origin = -(k / 2); origin <= (k - 1) / 2; origin++) {
      gint low[ND_AXES], high[ND_AXES];
      gint expected_low = G_MAXINT, expected_high = G_MININT;

      for (gint m = 0; m < k; m++) {
        expected_low = MIN (expected_low, k / 2 + origin - m);
        expected_high = MAX (expected_high, k / 2 + origin - m);
      }
      filter->origin[k % ND_AXES] = origin;
      nd_filter_reach (filter, low, high);
      for (gint a = 0; a < ND_AXES; a++) {
        g_assert_cmpint (low[a], ==, a == k % ND_AXES ? expected_low : 0);
        g_assert_cmpint (high[a], ==, a == k % ND_AXES ? expected_high : 0);
      }
      g_assert_cmpint (low[k % ND_AXES], <=, 0);
      g_assert_cmpint (high[k % ND_AXES], >=, 0);
    }
  }
}

static void
test_causal (void)
{
  for (gsize k = 1; k <= 8; k++) {
    const gsize size[] = { 3, 2, 1, k };
    g_autoptr (NdFilter) filter = nd_filter_new ("any", size);
    gint low[ND_AXES], high[ND_AXES];

    nd_filter_set_causal (filter);
    nd_filter_reach (filter, low, high);
    g_assert_cmpint (high[ND_AXIS_T], ==, 0);
    g_assert_cmpint (low[ND_AXIS_T], ==, 1 - (gint) k);
    g_assert_cmpint (filter->origin[ND_AXIS_X], ==, 0);
  }
}

static void
assert_origin (const gchar *text, const NdAxes *axes, gint x, gint y, gint z,
    gint t)
{
  const gint expected[] = { x, y, z, t };
  g_autoptr (NdFilter) filter = make_design ("box", axes, "size=5");
  g_autoptr (GError) error = NULL;

  g_assert_true (nd_filter_set_origin (filter, text, axes, &error));
  g_assert_no_error (error);
  for (guint a = 0; a < ND_AXES; a++)
    g_assert_cmpint (filter->origin[a], ==, expected[a]);
}

static void
assert_no_origin (const gchar *text, const NdAxes *axes, const gchar *size,
    const gchar *word)
{
  g_autofree gchar *parameter = g_strconcat ("size=", size, NULL);
  g_autoptr (NdFilter) filter = make_design ("box", axes, parameter);
  g_autoptr (GError) error = NULL;

  g_assert_false (nd_filter_set_origin (filter, text, axes, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "origin"));
  g_assert_nonnull (strstr (error->message, word));
  for (guint a = 0; a < ND_AXES; a++)
    g_assert_cmpint (filter->origin[a], ==, 0);
}

static void
test_origin (void)
{
  assert_origin ("0:0:0:0", &axes_xy, 0, 0, 0, 0);
  assert_origin ("-2:2", &axes_xy, -2, 2, 0, 0);
  assert_origin ("1", &axes_xyz, 1, 1, 1, 0);
  assert_origin ("1:-1", &axes_xyzt, 1, -1, 0, 0);
  assert_origin ("0:1:2", &axes_xyt, 0, 1, 0, 2);
  assert_origin ("0:1:0:2", &axes_xyt, 0, 1, 0, 2);
  assert_origin (" 0 : 1 ", &axes_xy, 0, 1, 0, 0);

  assert_no_origin ("3", &axes_xy, "5", "-2 to 2");
  assert_no_origin ("0:2", &axes_xy, "5:4", "-2 to 1 ");
  assert_no_origin ("0:-3", &axes_xy, "5:4", "along y");
  assert_no_origin ("0.5", &axes_xy, "5", "0.5");
  assert_no_origin ("nan", &axes_xy, "5", "nan");
  assert_no_origin ("", &axes_xy, "5", "number");
  assert_no_origin ("0:0:0", &axes_xy, "5", "x, y");
  assert_no_origin ("0:0:1:0", &axes_xyt, "5", "along z");
  assert_no_origin ("0;0", &axes_xy, "5", "0;0");
}

static void
test_symmetry (void)
{
  static const struct
  {
    const gchar *values;
    NdSymmetry symmetry;
  } cases[] = {
    { "1:2:3:3:2:1", ND_SYMMETRY_EVEN },
    { "1:2:3:-3:-2:-1", ND_SYMMETRY_ODD },
    { "1:2:3:1:2:3", ND_SYMMETRY_NONE },
    { "1:2:1:1:2:1", ND_SYMMETRY_EVEN },
    { "1:0:-1:1:0:-1", ND_SYMMETRY_ODD },
    { "0:0:0:0:0:0", ND_SYMMETRY_EVEN },
    { "1:2:3:3:2:1.0000000001", ND_SYMMETRY_NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *two =
        g_strconcat ("size=3:2 values=", cases[i].values, NULL);
    g_autofree gchar *four =
        g_strconcat ("size=1:3:1:2 values=", cases[i].values, NULL);
    g_autoptr (NdFilter) filter = make_design ("coefficients", &axes_xy, two);
    g_autoptr (NdFilter) other = make_design ("coefficients", &axes_xyzt, four);

    g_assert_cmpint (nd_filter_symmetry (filter), ==, cases[i].symmetry);
    g_assert_cmpint (nd_filter_symmetry (other), ==, cases[i].symmetry);
  }
}

/* A filter with an odd number of coefficients has a centre, which must be 0 for
 * odd symmetry. */
static void
test_symmetry_centre (void)
{
  g_autoptr (NdFilter) odd =
      make_design ("coefficients", &axes_xy, "size=3:1 values=-1:0:1");
  g_autoptr (NdFilter) none =
      make_design ("coefficients", &axes_xy, "size=3:1 values=-1:1:1");

  g_assert_cmpint (nd_filter_symmetry (odd), ==, ND_SYMMETRY_ODD);
  g_assert_cmpint (nd_filter_symmetry (none), ==, ND_SYMMETRY_NONE);
}

static void
test_bank (void)
{
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  g_autoptr (NdBank) bank = NULL;
  g_autoptr (NdBank) copy = NULL;
  gint low[ND_AXES], high[ND_AXES];

  g_ptr_array_add (filters, make_design ("box", &axes_xyzt, "size=3:4:1:2"));
  g_ptr_array_add (filters, make_design ("box", &axes_xyzt, "size=1:1:5:7"));
  bank = nd_bank_new (filters);
  g_assert_cmpuint (filters->len, ==, 0);
  g_assert_cmpuint (bank->n_filters, ==, 2);

  nd_filter_set_causal (bank->filters[1]);
  copy = nd_bank_copy (bank);
  g_assert_true (copy->filters[1] != bank->filters[1]);
  g_assert_cmpint (copy->filters[1]->origin[ND_AXIS_T], ==, -3);

  nd_bank_reach (copy, low, high);
  g_assert_cmpint (low[0], ==, -1);
  g_assert_cmpint (high[0], ==, 1);
  g_assert_cmpint (low[1], ==, -1);
  g_assert_cmpint (high[1], ==, 2);
  g_assert_cmpint (low[2], ==, -2);
  g_assert_cmpint (high[2], ==, 2);
  g_assert_cmpint (low[3], ==, -6);
  g_assert_cmpint (high[3], ==, 1);
}

/* In a complex bank the imaginary part of a real filter is a zero filter of
 * size 1, which has fewer coefficients. */
static void
test_parts (void)
{
  static const gsize size[ND_AXES] = { 3, 1, 1, 1 }, one[] = { 1, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  const NdFilter *real, *imaginary;

  g_ptr_array_add (filters, nd_filter_new ("real", size));
  g_ptr_array_add (filters, nd_filter_new ("0", one));
  g_ptr_array_add (filters, nd_filter_new ("complex", size));
  g_ptr_array_add (filters, nd_filter_new ("complex", size));
  bank = nd_bank_new (filters);
  nd_bank_get_filter (bank, 3, &real, &imaginary);
  g_assert_true (real == bank->filters[3] && imaginary == NULL);
  bank->is_complex = TRUE;
  nd_bank_get_filter (bank, 0, &real, &imaginary);
  g_assert_true (real == bank->filters[0] && imaginary == NULL);
  nd_bank_get_filter (bank, 1, &real, &imaginary);
  g_assert_true (real == bank->filters[2] && imaginary == bank->filters[3]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/filter/new", test_new);
  g_test_add_func ("/filter/product", test_product);
  g_test_add_func ("/filter/copy", test_copy);
  g_test_add_func ("/filter/sum-and-normalize", test_sum_and_normalize);
  g_test_add_func ("/filter/normalize-zero-sum", test_normalize_zero_sum);
  g_test_add_func ("/filter/reach", test_reach);
  g_test_add_func ("/filter/causal", test_causal);
  g_test_add_func ("/filter/origin", test_origin);
  g_test_add_func ("/filter/symmetry", test_symmetry);
  g_test_add_func ("/filter/symmetry-centre", test_symmetry_centre);
  g_test_add_func ("/bank", test_bank);
  g_test_add_func ("/bank/parts", test_parts);
  return g_test_run ();
}
