/* Every design compared with closed formulas and known kernels.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/filters/designs.h"

#include <math.h>
#include <string.h>

static gboolean
has_axis (const NdAxes *axes, guint axis)
{
  for (guint i = 0; i < axes->n; i++) {
    if ((guint) axes->axis[i] == axis)
      return TRUE;
  }
  return FALSE;
}

static gdouble
squared_distance (const NdFilter *filter, gsize i, const gdouble sigma[4])
{
  gsize at[ND_AXES];
  gdouble sum = 0;

  get_position (filter, i, at);
  for (guint a = 0; a < ND_AXES; a++) {
    gdouble x = at[a] - (filter->size[a] - 1.0) / 2;

    if (filter->size[a] > 1)
      sum += x * x / (sigma[a] * sigma[a]);
  }
  return sum;
}

static void
check_gaussian (const NdFilter *filter, const gdouble sigma[4])
{
  gsize count = nd_filter_count (filter);
  gdouble total = 0;

  for (gsize i = 0; i < count; i++)
    total += exp (-squared_distance (filter, i, sigma) / 2);
  for (gsize i = 0; i < count; i++)
    g_assert_cmpfloat_with_epsilon (filter->coefficients[i],
        exp (-squared_distance (filter, i, sigma) / 2) / total, 1e-14);
  g_assert_cmpfloat_with_epsilon (nd_filter_sum (filter), 1, 1e-14);
  g_assert_cmpint (nd_filter_symmetry (filter), ==, ND_SYMMETRY_EVEN);
}

static void
test_gaussian (void)
{
  static const gdouble sigma[] = { 0.8, 0.8, 0.8, 0.8 };

  for (guint i = 0; i < G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i];
    g_autoptr (NdFilter) filter = make_design ("gaussian", axes, "sigma=0.8");

    for (guint a = 0; a < ND_AXES; a++)
      g_assert_cmpuint (filter->size[a], ==, has_axis (axes, a) ? 7 : 1);
    check_gaussian (filter, sigma);
  }
}

static void
test_gaussian_anisotropic (void)
{
  const gdouble sigma[] = { 0.5, 1.25, 1, 2 };
  g_autoptr (NdFilter) four =
      make_design ("gaussian", &axes_xyzt, "sigma=0.5:1.25:1:2");
  g_autoptr (NdFilter) even =
      make_design ("gaussian", &axes_xyzt, "sigma=0.5:1.25:1:2 size=4:3:6:1");
  g_autoptr (NdFilter) flat =
      make_design ("gaussian", &axes_xyzt, "sigma=0.5:0:1");
  g_autoptr (NdFilter) xyt =
      make_design ("gaussian", &axes_xyt, "sigma=0.5:1.25:0:2");

  assert_size (four, 5, 11, 9, 17);
  check_gaussian (four, sigma);
  assert_size (even, 4, 3, 6, 1);
  check_gaussian (even, sigma);
  assert_size (flat, 5, 1, 9, 1);
  check_gaussian (flat, sigma);
  assert_size (xyt, 5, 11, 1, 17);
  check_gaussian (xyt, sigma);
}

static void
test_gaussian_extremes (void)
{
  g_autoptr (NdFilter) identity = make_design ("gaussian", &axes_xy, "sigma=0");
  g_autoptr (NdFilter) narrow =
      make_design ("gaussian", &axes_xy, "sigma=1e-200 size=3:4");
  g_autoptr (NdFilter) wide =
      make_design ("gaussian", &axes_xy, "sigma=1e6 size=3");

  assert_size (identity, 1, 1, 1, 1);
  g_assert_cmpfloat (identity->coefficients[0], ==, 1);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat (narrow->coefficients[i], ==, i == 4 || i == 7 ? 0.5 : 0);
  for (guint i = 0; i < 9; i++)
    g_assert_cmpfloat_with_epsilon (wide->coefficients[i], 1 / 9.0, 1e-12);
}

static void
test_box (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i];
    g_autoptr (NdFilter) filter = make_design ("box", axes, "size=4");
    gsize count = nd_filter_count (filter);

    g_assert_cmpuint (count, ==, 1 << 2 * axes->n);
    for (gsize j = 0; j < count; j++)
      g_assert_cmpfloat (filter->coefficients[j], ==, 1.0 / count);
    g_assert_cmpfloat (nd_filter_sum (filter), ==, 1);
  }
}

/* Sizes follow the rule of NdAxes. */
static void
test_sizes (void)
{
  g_autoptr (NdFilter) xy = make_design ("box", &axes_xy, "size=3:5");
  g_autoptr (NdFilter) fewer = make_design ("box", &axes_xyzt, "size=3:5");
  g_autoptr (NdFilter) xyt = make_design ("box", &axes_xyt, "size=3:5:7");
  g_autoptr (NdFilter) four = make_design ("box", &axes_xyt, "size=3:5:1:7");
  g_autoptr (NdFilter) large = make_design ("box", &axes_xyzt, "size=31");
  g_autoptr (NdParameters) parameters = nd_parameters_new ();
  g_autoptr (NdBank) numbers = NULL;
  static const gdouble three[] = { 2, 3, 4 };

  nd_parameters_set_numbers (parameters, "size", three, 3);
  numbers = nd_design ("box", parameters, &axes_xyz, NULL);
  assert_size (xy, 3, 5, 1, 1);
  assert_size (fewer, 3, 5, 1, 1);
  assert_size (xyt, 3, 5, 1, 7);
  assert_size (four, 3, 5, 1, 7);
  assert_size (large, 31, 31, 31, 31);
  assert_size (numbers->filters[0], 2, 3, 4, 1);
}

static void
assert_values (const NdFilter *filter, const gdouble *values, gsize n)
{
  g_assert_cmpuint (nd_filter_count (filter), ==, n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (filter->coefficients[i], ==, values[i]);
}

static void
test_laplace_known (void)
{
  static const gdouble three[] = { 0, 1, 0, 1, -4, 1, 0, 1, 0 };
  static const gdouble full[] = { 1, 1, 1, 1, -8, 1, 1, 1, 1 };
  static const gdouble five[] = { 0, 0, -1, 0, 0, 0, 0, 16, 0, 0, -1, 16, -60,
    16, -1, 0, 0, 16, 0, 0, 0, 0, -1, 0, 0 };
  g_autoptr (NdFilter) a = make_design ("laplace", &axes_xy, "");
  g_autoptr (NdFilter) b =
      make_design ("laplace", &axes_xy, "connectivity=full");
  g_autoptr (NdFilter) c = make_design ("laplace", &axes_xy, "size=5");
  g_autoptr (NdFilter) d =
      make_design ("laplace", &axes_xyzt, "size=3:3 connectivity=faces");

  assert_values (a, three, 9);
  assert_values (b, full, 9);
  assert_values (c, five, 25);
  assert_values (d, three, 9);
}

/* Compared with the rule itself: the distance of a coefficient from the centre,
 * and the number of axes along which it is off-centre. */
static void
test_laplace (void)
{
  for (guint i = 0; i < 4 * G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i / 4];
    gboolean full = i % 2, five = i / 2 % 2;
    g_autofree gchar *text = g_strdup_printf ("size=%d connectivity=%s",
        five ? 5 : 3, full ? "full" : "faces");
    g_autoptr (NdFilter) filter = make_design ("laplace", axes, text);
    gsize count = nd_filter_count (filter);

    g_assert_cmpuint (count, ==, (gsize) pow (five ? 5 : 3, axes->n));
    g_assert_cmpfloat (nd_filter_sum (filter), ==, 0);
    g_assert_cmpint (nd_filter_symmetry (filter), ==, ND_SYMMETRY_EVEN);
    for (gsize j = 0; j < count; j++) {
      gdouble w = filter->coefficients[j];
      guint apart = 0, off = 0;
      gsize at[ND_AXES];

      get_position (filter, j, at);
      for (guint a = 0; a < ND_AXES; a++) {
        guint distance = ABS ((gint) at[a] - (gint) filter->size[a] / 2);

        apart += distance > 0;
        off += distance;
      }
      if (apart == 0)
        g_assert_cmpfloat (w, ==,
            full ? 1.0 - count : (five ? -30.0 : -2.0) * axes->n);
      else if (full)
        g_assert_cmpfloat (w, ==, 1);
      else if (apart > 1)
        g_assert_cmpfloat (w, ==, 0);
      else
        g_assert_cmpfloat (w, ==, !five ? 1 : off == 1 ? 16 : -1);
    }
  }
}

/* Both sizes give the Laplacian of x^2 + y^2 + ..., which is 2 per axis; size 5
 * gives 12 times as much. Size 5 is exact for x^4 too, the second derivative of
 * which is 0 at 0. */
static void
test_laplace_order (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i];
    g_autoptr (NdFilter) three = make_design ("laplace", axes, "size=3");
    g_autoptr (NdFilter) five = make_design ("laplace", axes, "size=5");
    const NdFilter *filters[] = { three, five };

    for (guint f = 0; f < 2; f++) {
      gdouble second = 0, fourth = 0;

      for (gsize j = 0; j < nd_filter_count (filters[f]); j++) {
        gsize at[ND_AXES];

        get_position (filters[f], j, at);
        for (guint a = 0; a < ND_AXES; a++) {
          gdouble x = at[a] - (filters[f]->size[a] - 1.0) / 2;

          second += filters[f]->coefficients[j] * x * x;
          fourth += filters[f]->coefficients[j] * x * x * x * x;
        }
      }
      g_assert_cmpfloat (second, ==, 2.0 * axes->n * (f == 0 ? 1 : 12));
      g_assert_cmpfloat (fourth, ==, f == 0 ? 2.0 * axes->n : 0);
    }
  }
}

static void
check_log (const NdFilter *filter, const gdouble sigma[4])
{
  gsize count = nd_filter_count (filter);
  g_autofree gdouble *expected = g_new (gdouble, count);
  gdouble total = 0, mean = 0, absolute = 0;

  for (gsize i = 0; i < count; i++)
    total += exp (-squared_distance (filter, i, sigma) / 2);
  for (gsize i = 0; i < count; i++) {
    gsize at[ND_AXES];
    gdouble sum = 0;

    get_position (filter, i, at);
    for (guint a = 0; a < ND_AXES; a++) {
      gdouble x = at[a] - (filter->size[a] - 1.0) / 2;

      if (filter->size[a] > 1)
        sum += (x * x - sigma[a] * sigma[a]) / pow (sigma[a], 4);
    }
    expected[i] = sum * exp (-squared_distance (filter, i, sigma) / 2) / total;
    mean += expected[i] / count;
    absolute += fabs (expected[i]);
  }
  for (gsize i = 0; i < count; i++)
    g_assert_cmpfloat_with_epsilon (filter->coefficients[i], expected[i] - mean,
        1e-13);
  g_assert_cmpfloat_with_epsilon (nd_filter_sum (filter), 0, 1e-15 * absolute);
  g_assert_cmpint (nd_filter_symmetry (filter), ==, ND_SYMMETRY_EVEN);
}

static void
test_log (void)
{
  static const gdouble sigma[] = { 1, 0.75, 0.5, 1.5 };
  static const gdouble ones[] = { 1, 1, 1, 1 };
  g_autoptr (NdFilter) anisotropic =
      make_design ("log", &axes_xyzt, "sigma=1:0.75:0.5:1.5 size=5:6:1:4");

  check_log (anisotropic, sigma);
  for (guint i = 0; i < G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i];
    g_autoptr (NdFilter) filter = make_design ("log", axes, "sigma=1");

    for (guint a = 0; a < ND_AXES; a++)
      g_assert_cmpuint (filter->size[a], ==, has_axis (axes, a) ? 9 : 1);
    check_log (filter, ones);
    g_assert_false (nd_filter_normalize (filter, NULL));
  }
}

static void
test_sobel_known (void)
{
  static const gdouble line[] = { 1, 0, -1 };
  static const gdouble x[] = { 1, 0, -1, 2, 0, -2, 1, 0, -1 };
  static const gdouble y[] = { 1, 2, 1, 0, 0, 0, -1, -2, -1 };
  static const gdouble five[] = { 1, 2, 0, -2, -1, 4, 8, 0, -8, -4, 6, 12, 0,
    -12, -6, 4, 8, 0, -8, -4, 1, 2, 0, -2, -1 };
  g_autoptr (NdFilter) a = make_design ("sobel", &axes_xy, "");
  g_autoptr (NdFilter) b = make_design ("sobel", &axes_xy, "direction=y");
  g_autoptr (NdFilter) c = make_design ("sobel", &axes_xy, "size=5");
  g_autoptr (NdFilter) d =
      make_design ("sobel", &axes_xyzt, "size=3:1:1:1 direction=x");

  assert_values (a, x, 9);
  assert_values (b, y, 9);
  assert_values (c, five, 25);
  assert_values (d, line, 3);
}

/* The response to a ramp along each axis, computed by the definition: positive
 * along direction, 0 along the others. */
static void
test_sobel (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (all_axes); i++) {
    const NdAxes *axes = all_axes[i / 2];
    gint size = i % 2 ? 5 : 3;

    for (guint d = 0; d < axes->n; d++) {
      g_autofree gchar *text =
          g_strdup_printf ("size=%d direction=%c", size, "xyzt"[axes->axis[d]]);
      g_autoptr (NdFilter) filter = make_design ("sobel", axes, text);
      gdouble response[ND_AXES] = { 0 };
      gsize at[ND_AXES];

      for (gsize j = 0; j < nd_filter_count (filter); j++) {
        get_position (filter, j, at);
        for (guint a = 0; a < ND_AXES; a++)
          response[a] += filter->coefficients[j]
              * ((gdouble) (filter->size[a] / 2) - (gdouble) at[a]);
      }
      g_assert_cmpfloat (nd_filter_sum (filter), ==, 0);
      g_assert_cmpint (nd_filter_symmetry (filter), ==, ND_SYMMETRY_ODD);
      for (guint a = 0; a < ND_AXES; a++)
        g_assert_cmpfloat (response[a], ==,
            a != (guint) axes->axis[d]
                ? 0
                : (size == 3 ? 2 : 8) * pow (size == 3 ? 4 : 16, axes->n - 1));
    }
  }
}

static void
test_coefficients (void)
{
  static const gdouble values[] = { 1, -2.5, 300, 4, 5, 0 };
  g_autoptr (NdFilter) filter = make_design ("coefficients", &axes_xyt,
      "size=2:1:3 values=1:-2.5:3e2:4:5:-0");

  assert_size (filter, 2, 1, 1, 3);
  assert_values (filter, values, 6);
  g_assert_cmpstr (filter->name, ==, "coefficients");
}

/* Parameters keep all bits of a number. */
static void
test_exact_numbers (void)
{
  g_autoptr (NdParameters) parameters = nd_parameters_new ();
  g_autoptr (NdBank) bank = NULL;
  static const gdouble size[] = { 31, 1 };
  gdouble values[31];
  guint32 seed = g_test_rand_int ();
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);

  g_test_message ("seed %u", seed);
  for (guint i = 0; i < 31; i++)
    values[i] = g_rand_double_range (random, -1, 1) * pow (10, i - 15.0);
  nd_parameters_set_numbers (parameters, "values", values, 31);
  nd_parameters_set_numbers (parameters, "size", size, 2);
  bank = nd_design ("coefficients", parameters, &axes_xy, NULL);
  assert_values (bank->filters[0], values, 31);
}

static void
test_names (void)
{
  const gchar *const *names = nd_design_names ();
  guint n = 0;

  for (; names[n]; n++)
    g_assert_true (nd_design_check_name (names[n], NULL));
  g_assert_cmpuint (n, ==, 24);
  g_assert_false (nd_design_check_name ("gauss", NULL));
}

static const struct
{
  const gchar *name, *design;
  const NdAxes *axes;
  const gchar *parameters, *words;
} refused[] = {
  { "no-such-design", "gauss", &axes_xy, "", "gaussian|coefficients|file" },
  { "unknown", "gaussian", &axes_xy, "sigma=1 sgma=2", "sgma|sigma, size" },
  { "repeated", "box", &axes_xy, "size=3 size=5", "size|once" },
  { "gaussian/no-sigma", "gaussian", &axes_xy, "", "sigma|missing" },
  { "gaussian/negative", "gaussian", &axes_xy, "sigma=1:-1", "sigma|along y" },
  { "gaussian/nan", "gaussian", &axes_xy, "sigma=nan", "sigma|nan|finite" },
  { "gaussian/infinite", "gaussian", &axes_xy, "sigma=inf", "sigma|finite" },
  { "gaussian/huge", "gaussian", &axes_xy, "sigma=1e30", "sigma|1e+06" },
  { "gaussian/largest", "gaussian", &axes_xyzt, "sigma=1e6",
      "8000001|268435456" },
  { "gaussian/large", "gaussian", &axes_xyzt, "sigma=1000", "8001|268435456" },
  { "gaussian/size-without-sigma", "gaussian", &axes_xy, "sigma=1:0 size=3",
      "size|along y|sigma" },
  { "gaussian/text", "gaussian", &axes_xy, "sigma=wide", "sigma|wide|number" },
  { "gaussian/axis", "gaussian", &axes_xy, "sigma=1:1:1:0", "sigma|along z" },
  { "gaussian/too-many", "gaussian", &axes_xy, "sigma=1:1:1", "3 values|x, y" },
  { "size/missing", "box", &axes_xy, "", "size|missing" },
  { "size/zero", "box", &axes_xy, "size=3:0", "size|along y" },
  { "size/negative", "box", &axes_xy, "size=-3", "size|-3" },
  { "size/fraction", "box", &axes_xy, "size=3.5", "size|3.5|integer" },
  { "size/large", "box", &axes_xyzt, "size=1000", "size|268435456" },
  { "size/overflow", "box", &axes_xyzt, "size=268435456", "size|268435456" },
  { "size/huge", "box", &axes_xyzt, "size=1e300", "size|1e+300" },
  { "size/axis", "box", &axes_xyt, "size=3:3:3:3", "size|along z|x, y, t" },
  { "size/too-many", "box", &axes_xyzt, "size=3:3:3:3:3", "5 values" },
  { "size/empty", "box", &axes_xy, "size=", "size|number" },
  { "size/colon", "box", &axes_xy, "size=3:", "size|number" },
  { "laplace/size", "laplace", &axes_xy, "size=4", "size|3|5" },
  { "laplace/sizes", "laplace", &axes_xy, "size=3:5", "size|3:5" },
  { "laplace/none", "laplace", &axes_xy, "size=1", "size|1:1" },
  { "laplace/connectivity", "laplace", &axes_xy, "connectivity=8",
      "connectivity|faces|full" },
  { "log/no-sigma", "log", &axes_xy, "size=5", "sigma|missing" },
  { "log/zero", "log", &axes_xy, "sigma=0", "size|1" },
  { "log/narrow", "log", &axes_xy, "sigma=1:1e-200 size=3",
      "sigma is 1e-200 along y|0.125" },
  { "log/two", "log", &axes_xy, "sigma=1 size=2", "size|2|3" },
  { "sobel/direction", "sobel", &axes_xy, "direction=z", "direction|x, y" },
  { "sobel/size", "sobel", &axes_xy, "size=7", "size|3 or 5" },
  { "sobel/none", "sobel", &axes_xy, "size=1:3", "size|along x|3 or 5" },
  { "coefficients/no-size", "coefficients", &axes_xy, "values=1",
      "size|missing" },
  { "coefficients/no-values", "coefficients", &axes_xy, "size=1",
      "values|missing" },
  { "coefficients/too-few", "coefficients", &axes_xy, "size=3 values=1:2",
      "values|2 numbers|9" },
  { "coefficients/too-many", "coefficients", &axes_xy, "size=1 values=1:2",
      "values|2 numbers|1 " },
  { "coefficients/nan", "coefficients", &axes_xy, "size=2:1 values=1:NaN",
      "values|index 1|NaN|finite" },
  { "coefficients/infinite", "coefficients", &axes_xy,
      "size=3:1 values=1:2:-inf", "values|index 2|finite" },
};

static void
test_refused (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);

  assert_refused (refused[i].design, refused[i].axes, refused[i].parameters,
      ND_ERROR_SETTINGS, refused[i].words);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gaussian/all-axes", test_gaussian);
  g_test_add_func ("/gaussian/anisotropic", test_gaussian_anisotropic);
  g_test_add_func ("/gaussian/extremes", test_gaussian_extremes);
  g_test_add_func ("/box", test_box);
  g_test_add_func ("/sizes", test_sizes);
  g_test_add_func ("/laplace/known", test_laplace_known);
  g_test_add_func ("/laplace/all-axes", test_laplace);
  g_test_add_func ("/laplace/order", test_laplace_order);
  g_test_add_func ("/log", test_log);
  g_test_add_func ("/sobel/known", test_sobel_known);
  g_test_add_func ("/sobel/all-axes", test_sobel);
  g_test_add_func ("/coefficients", test_coefficients);
  g_test_add_func ("/exact-numbers", test_exact_numbers);
  g_test_add_func ("/names", test_names);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path = g_strconcat ("/refused/", refused[i].name, NULL);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
