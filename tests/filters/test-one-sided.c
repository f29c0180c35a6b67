/* The designs exponential, gamma and causal-derivative, and lag, sigma and
 * cut-off of filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/characteristics.h"
#include "tests/filters/designs.h"

#include <math.h>

static const gchar *const one_sided[] = { "exponential", "gamma",
  "causal-derivative" };

/* No coefficient reads a later volume, for odd and even sizes. */
static void
test_reach (void)
{
  static const gchar *const texts[] = { "tau=2", "tau=2 size=5", "tau=2 size=6",
    "tau=0.1", "tau=40 size=2" };

  for (guint d = 0; d < G_N_ELEMENTS (one_sided); d++) {
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
      g_autoptr (NdFilter) filter =
          make_design (one_sided[d], &axes_xyt, texts[i]);
      gint low[ND_AXES], high[ND_AXES];

      nd_filter_reach (filter, low, high);
      g_assert_cmpint (high[ND_AXIS_T], ==, 0);
      g_assert_cmpint (low[ND_AXIS_T], ==, 1 - (gint) filter->size[ND_AXIS_T]);
      assert_size (filter, 1, 1, 1, filter->size[3]);
    }
  }
}

static void
test_exponential (void)
{
  g_autoptr (NdFilter) filter =
      make_design ("exponential", &axes_xyt, "tau=3 size=40");
  gdouble a = exp (-1 / 3.0);

  for (guint m = 0; m < 40; m++)
    g_assert_cmpfloat_with_epsilon (filter->coefficients[m],
        (1 - a) * pow (a, m) / (1 - pow (a, 40)), 1e-15);
  g_assert_cmpfloat_with_epsilon (nd_filter_sum (filter), 1, 1e-14);
  g_assert_cmpfloat_with_epsilon (nd_filter_lag (filter, NULL), a / (1 - a),
      1e-3);
}

/* order filters in series: the convolution of exponentials. */
static void
test_gamma (void)
{
  for (guint order = 1; order <= 4; order++) {
    g_autofree gchar *text = g_strdup_printf ("tau=2 size=200 order=%u", order);
    g_autoptr (NdFilter) filter = make_design ("gamma", &axes_xyzt, text);
    gdouble series[200] = { 1 }, a = exp (-0.5);

    for (guint pass = 0; pass < order; pass++) {
      gdouble state = 0;

      for (guint m = 0; m < 200; m++) {
        state = a * state + (1 - a) * series[m];
        series[m] = state;
      }
    }
    for (guint m = 0; m < 200; m++)
      g_assert_cmpfloat_with_epsilon (filter->coefficients[m], series[m],
          1e-12);
  }
}

static void
test_derivative (void)
{
  g_autoptr (NdFilter) plain = make_design ("causal-derivative", &axes_xyt, "");
  g_autoptr (NdFilter) smooth =
      make_design ("causal-derivative", &axes_xyt, "tau=2 size=30");
  gdouble slope = 0;

  assert_size (plain, 1, 1, 1, 2);
  g_assert_cmpfloat (plain->coefficients[0], ==, 1);
  g_assert_cmpfloat (plain->coefficients[1], ==, -1);
  /* The response to samples that rise by 1 per volume. */
  for (guint m = 0; m < 30; m++)
    slope -= m * smooth->coefficients[m];
  g_assert_cmpfloat_with_epsilon (slope, 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (nd_filter_sum (smooth), 0, 1e-15);
}

/* By default less than 0.1 % of the weights is left out. */
static void
test_default_size (void)
{
  g_autoptr (NdFilter) fitting =
      make_design ("exponential", &axes_xyt, "tau=5");
  gdouble a = exp (-0.2);
  gsize size = fitting->size[ND_AXIS_T];

  g_assert_cmpfloat (pow (a, (gdouble) size), <=, 1e-3);
  g_assert_cmpfloat (pow (a, (gdouble) size - 1), >, 1e-3);
}

/* Closed forms: a box of 5 has variance (25 - 1) / 12; a Gaussian falls to half
 * at sqrt (2 ln 2) / sigma. */
static void
test_characteristics (void)
{
  g_autoptr (NdFilter) box = make_design ("box", &axes_xyzt, "size=5:1:1:7");
  g_autoptr (NdFilter) gaussian =
      make_design ("gaussian", &axes_xy, "sigma=3:1.5");
  g_autoptr (NdFilter) laplace = make_design ("laplace", &axes_xy, "");
  gdouble sigma[ND_AXES], cutoff[ND_AXES];

  g_assert_true (nd_filter_sigma (box, sigma));
  g_assert_cmpfloat_with_epsilon (sigma[0], sqrt (2), 1e-12);
  g_assert_cmpfloat_with_epsilon (sigma[3], 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (nd_filter_lag (box, NULL), 3, 1e-12);
  g_assert_true (nd_filter_sigma (gaussian, sigma));
  g_assert_cmpfloat_with_epsilon (sigma[0], 3, 0.01);
  g_assert_cmpfloat_with_epsilon (sigma[1], 1.5, 0.01);
  nd_filter_cutoff (gaussian, NULL, cutoff);
  g_assert_cmpfloat_with_epsilon (cutoff[0], sqrt (2 * log (2)) / 3, 0.01);
  g_assert_cmpfloat_with_epsilon (cutoff[1], sqrt (2 * log (2)) / 1.5, 0.01);
  g_assert_true (isnan (cutoff[2]));
  g_assert_false (nd_filter_sigma (laplace, sigma));
}

static const struct
{
  const gchar *design;
  const NdAxes *axes;
  const gchar *text, *words;
} refused[] = {
  { "exponential", &axes_xyz, "tau=2", "along t|ndconv4dtemporal" },
  { "exponential", &axes_xyt, "", "tau is missing|80ms" },
  { "exponential", &axes_xyt, "tau=0", "tau is 0|above 0" },
  { "exponential", &axes_xyt, "tau=-1", "tau is -1" },
  { "exponential", &axes_xyt, "tau=1e9", "tau is 1e+09" },
  { "exponential", &axes_xyt, "tau=2 size=0", "size is 0" },
  { "exponential", &axes_xyt, "tau=2 size=2.5", "size is 2.5" },
  { "exponential", &axes_xyt, "tau=2 size=3:1:5", "size is 3 along x" },
  { "gamma", &axes_xyt, "tau=2 order=0", "order is 0" },
  { "gamma", &axes_xyt, "tau=2 order=11", "order is 11" },
  { "gamma", &axes_xyt, "tau=2 order=1.5", "order is 1.5" },
  { "causal-derivative", &axes_xyt, "size=1", "size is 1" },
  { "causal-derivative", &axes_xyt, "tau=-1", "0 or more" },
};

static void
test_refused (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);

  assert_refused (refused[i].design, refused[i].axes, refused[i].text,
      ND_ERROR_SETTINGS, refused[i].words);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reach", test_reach);
  g_test_add_func ("/exponential", test_exponential);
  g_test_add_func ("/gamma", test_gamma);
  g_test_add_func ("/derivative", test_derivative);
  g_test_add_func ("/default-size", test_default_size);
  g_test_add_func ("/characteristics", test_characteristics);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path = g_strdup_printf ("/refused/%u", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
