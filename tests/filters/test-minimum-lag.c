/* The parameters lag and lag-snr: the one-sided filter that comes closest to a
 * filter with a chosen lag. The error is computed here by another integral, and
 * no other one-sided filter of the same sum may have a smaller one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/characteristics.h"
#include "filters/text.h"
#include "tests/filters/designs.h"

#include <math.h>

#define FREQUENCIES 4000

/* The mean over the frequencies along t of the weighted squared difference
 * between a filter with the response of @wanted late by @lag, and @g, whose
 * coefficients have the ages 0, 1, ... Both extend along t only. */
static gdouble
error_of (const NdFilter *wanted, gdouble lag, gdouble snr, const gdouble *g,
    gsize n)
{
  gdouble sum = 0;

  for (guint i = 0; i < FREQUENCIES; i++) {
    const gdouble u = G_PI * (i + 0.5) / FREQUENCIES;
    const gdouble w = cos (u / 2) / sqrt (u * u + pow (G_PI / 64, 2)) + 1 / snr;
    const gsize size = wanted->size[ND_AXIS_T];
    gdouble re = 0, im = 0;

    for (gsize m = 0; m < size; m++) {
      const gdouble age = (gdouble) m - (gdouble) (size - 1) / 2 + lag;

      re += wanted->coefficients[m] * cos (age * u);
      im += wanted->coefficients[m] * sin (age * u);
    }
    for (gsize j = 0; j < n; j++) {
      re -= g[j] * cos (j * u);
      im -= g[j] * sin (j * u);
    }
    sum += w * w * (re * re + im * im);
  }
  return sum / FREQUENCIES;
}

static const struct
{
  const gchar *design, *text;
} symmetric[] = {
  { "gaussian", "sigma=0:0:1.5" },
  { "box", "size=1:1:9" },
  { "gaussian-derivative", "sigma=0:0:1.2 order=0:0:1" },
  { "log", "sigma=0:0:1" },
};

static const gdouble lags[] = { 0, 0.5, 1, 2.25, 3, 7 };

/* Random one-sided filters around the fitted one, with the same sum. */
static void
test_optimal (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (NdFilter) wanted =
      make_design (symmetric[i].design, &axes_xyt, symmetric[i].text);
  gdouble before = INFINITY;

  for (guint l = 0; l < G_N_ELEMENTS (lags); l++) {
    g_autofree gchar *text =
        g_strdup_printf ("%s lag=%g lag-snr=4", symmetric[i].text, lags[l]);
    g_autoptr (NdFilter) fitted =
        make_design (symmetric[i].design, &axes_xyt, text);
    const gsize n = fitted->size[ND_AXIS_T];
    g_autofree gdouble *other = g_new (gdouble, n);
    const gdouble best = error_of (wanted, lags[l], 4, fitted->coefficients, n);
    const gdouble power = error_of (wanted, lags[l], 4, NULL, 0);

    g_test_message ("lag %g: error %g", lags[l], sqrt (best / power));
    g_assert_cmpfloat_with_epsilon (nd_filter_sum (fitted),
        nd_filter_sum (wanted), 1e-9);
    g_assert_cmpfloat_with_epsilon (fitted->fit_error.total,
        sqrt (best / power), 1e-3);
    g_assert_cmpfloat (fitted->fit_error.total, <=,
        fitted->truncation_error.total + 1e-9);
    for (guint trial = 0; trial < 20; trial++) {
      gdouble sum = 0;

      for (gsize j = 0; j < n; j++) {
        other[j] = g_test_rand_double_range (-1, 1);
        sum += other[j];
      }
      for (gsize j = 0; j < n; j++)
        other[j] = fitted->coefficients[j] + 1e-3 * (other[j] - sum / n);
      g_assert_cmpfloat (error_of (wanted, lags[l], 4, other, n), >=, best);
    }
    /* The longer the wait, the better. */
    g_assert_cmpfloat (best, <=, before * (1 + 1e-6) + 1e-9 * power);
    before = best;
  }
}

/* With the lag of the causal filter, or a larger one, nothing has to be given
 * up. */
static void
test_exact (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (symmetric); i++) {
    g_autoptr (NdFilter) wanted =
        make_design (symmetric[i].design, &axes_xyt, symmetric[i].text);
    const gsize n = wanted->size[ND_AXIS_T], half = n / 2;

    for (guint more = 0; more < 3; more++) {
      g_autofree gchar *text = g_strdup_printf ("%s lag=%" G_GSIZE_FORMAT,
          symmetric[i].text, half + more);
      g_autoptr (NdFilter) fitted =
          make_design (symmetric[i].design, &axes_xyt, text);

      assert_size (fitted, 1, 1, 1, n + more);
      for (gsize j = 0; j < n + more; j++)
        g_assert_cmpfloat_with_epsilon (fitted->coefficients[j],
            j < more ? 0 : wanted->coefficients[j - more], 1e-9);
      g_assert_cmpfloat (fitted->fit_error.total, <, 1e-5);
    }
  }
}

/* No coefficient reads a later volume; constant input and motionless volumes
 * are filtered as before; a smoothing filter has the lag asked for. */
static void
test_space_and_time (void)
{
  g_autoptr (NdFilter) wanted =
      make_design ("gaussian", &axes_xyzt, "sigma=1:0.7:0:1.5");
  g_autoptr (NdFilter) fitted =
      make_design ("gaussian", &axes_xyzt, "sigma=1:0.7:0:1.5 lag=2");
  const gsize lines = wanted->size[0] * wanted->size[1];
  gint low[ND_AXES], high[ND_AXES];

  nd_filter_reach (fitted, low, high);
  g_assert_cmpint (high[ND_AXIS_T], ==, 0);
  g_assert_cmpint (high[ND_AXIS_X], ==, (gint) wanted->size[0] / 2);
  for (gsize i = 0; i < lines; i++) {
    gdouble before = 0, after = 0;

    for (gsize m = 0; m < wanted->size[ND_AXIS_T]; m++) {
      before += wanted->coefficients[m * lines + i];
      after += fitted->coefficients[m * lines + i];
    }
    g_assert_cmpfloat_with_epsilon (before, after, 1e-12);
  }
  g_assert_cmpfloat_with_epsilon (nd_filter_lag (fitted, NULL), 2, 0.1);
  g_assert_cmpfloat_with_epsilon (nd_filter_anchor_lag (fitted, NULL), 2, 0.1);
  g_assert_cmpfloat_with_epsilon (nd_filter_anchor_lag (wanted, NULL), 0,
      1e-12);
}

/* Complex filters and banks, and the origin that elements give. */
static void
test_text (void)
{
  static const gchar *const texts[] = { "quadrature,size=7,direction=t,lag=1",
    "gabor,size=1:1:9,direction=t,lag=0",
    "gaussian,sigma=1,lag=1; sobel,direction=t,lag=0",
    "exponential,tau=2; gamma,tau=1; causal-derivative" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (NdBank) bank = nd_bank_from_text (texts[i], &axes_xyt, "0:0:0:0",
        FALSE, FALSE, NULL, &error);
    gint low[ND_AXES], high[ND_AXES];

    g_assert_no_error (error);
    nd_bank_reach (bank, low, high);
    g_assert_cmpint (high[ND_AXIS_T], ==, 0);
  }
}

/* An origin shifts a one-sided filter from its own place. */
static void
test_origin (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (NdBank) bank = nd_bank_from_text ("exponential,tau=2,size=5",
      &axes_xyt, "0:0:1", FALSE, FALSE, NULL, &error);
  gint low[ND_AXES], high[ND_AXES];

  g_assert_no_error (error);
  nd_bank_reach (bank, low, high);
  g_assert_cmpint (high[ND_AXIS_T], ==, 1);
  g_clear_pointer (&bank, nd_bank_free);
  bank = nd_bank_from_text ("exponential,tau=2,size=5", &axes_xyt, "0:0:-1",
      FALSE, FALSE, NULL, &error);
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_assert_nonnull (strstr (error->message, "from 0 to 4"));
}

static void
test_units (void)
{
  NdAxes axes = axes_xyt;
  g_autoptr (NdFilter) plain =
      make_design ("gaussian", &axes_xyt, "sigma=0:0:2 lag=1.5");
  g_autoptr (NdFilter) physical = NULL;

  axes.step[ND_AXIS_T] = 0.04;
  physical = make_design ("gaussian", &axes, "sigma=0:0:2 lag=60ms");
  for (gsize m = 0; m < plain->size[ND_AXIS_T]; m++)
    g_assert_cmpfloat_with_epsilon (plain->coefficients[m],
        physical->coefficients[m], 1e-9);
}

static const struct
{
  const gchar *design;
  const NdAxes *axes;
  const gchar *text, *words;
} refused[] = {
  { "gaussian", &axes_xyz, "sigma=1 lag=1", "size 1 along t" },
  { "gaussian", &axes_xyt, "sigma=1:1:0 lag=1", "size 1 along t" },
  { "gaussian", &axes_xyt, "sigma=1 lag=-1", "lag is -1|0 to 1024" },
  { "gaussian", &axes_xyt, "sigma=1 lag=5000", "lag is 5000" },
  { "gaussian", &axes_xyt, "sigma=1 lag=1000000", "lag is 1e+06" },
  { "gaussian", &axes_xyt, "sigma=1 lag=1 lag-snr=0", "lag-snr is 0" },
  { "gaussian", &axes_xyt, "sigma=1 lag=1 lag-snr=1e6", "lag-snr is 1e+06" },
  { "gaussian", &axes_xyt, "sigma=1 lag-snr=2", "without lag" },
  { "gaussian", &axes_xyt, "sigma=0:0:200 lag=1", "1601 volumes|1024" },
  { "box", &axes_xyt, "size=1:1:1000 lag=600", "1000 volumes|1024" },
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
  for (guint i = 0; i < G_N_ELEMENTS (symmetric); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/optimal/%s", symmetric[i].design);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_optimal);
  }
  g_test_add_func ("/exact", test_exact);
  g_test_add_func ("/space-and-time", test_space_and_time);
  g_test_add_func ("/text", test_text);
  g_test_add_func ("/origin", test_origin);
  g_test_add_func ("/units", test_units);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path = g_strdup_printf ("/refused/%u", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
