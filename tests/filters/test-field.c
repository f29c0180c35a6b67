/* Band-pass and optical designs: refused parameters, and no confusion between
 * designs. tests/filters/test-designs.py checks their values.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/filters/designs.h"

/* A design is not confused with an earlier one, and changing a filter does not
 * change the next design. */
static void
test_again (void)
{
  g_autoptr (NdBank) first = make_bank ("quadrature", &axes_xy, "size=5");
  g_autoptr (NdBank) second = make_bank ("quadrature", &axes_xy, "size=5");
  g_autoptr (NdBank) other =
      make_bank ("quadrature", &axes_xy, "size=5 center-frequency=1.2");
  g_autoptr (NdBank) solid = make_bank ("quadrature", &axes_xyz, "size=5");
  g_autoptr (NdBank) third = NULL;
  gdouble value = first->filters[0]->coefficients[7];

  g_assert_cmpfloat (second->filters[0]->coefficients[7], ==, value);
  g_assert_cmpfloat (other->filters[0]->coefficients[7], !=, value);
  g_assert_cmpuint (nd_filter_count (solid->filters[0]), ==, 125);
  second->filters[0]->coefficients[7] = 8;
  third = make_bank ("quadrature", &axes_xy, "size=5");
  g_assert_cmpfloat (third->filters[0]->coefficients[7], ==, value);
}

/* The length of a direction does not matter. */
static void
test_long_direction (void)
{
  static const gchar *const same[] = { "size=5 direction=1e300:1e300",
    "size=5 direction=1e-300:1e-300" };
  g_autoptr (NdBank) bank =
      make_bank ("quadrature", &axes_xy, "size=5 direction=1:1");

  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    g_autoptr (NdBank) other = make_bank ("quadrature", &axes_xy, same[i]);

    for (guint j = 0; j < 25; j++)
      g_assert_cmpfloat (other->filters[0]->coefficients[j], ==,
          bank->filters[0]->coefficients[j]);
  }
}

/* Wrong parameters of fitted and optical designs. */
static const struct
{
  const gchar *design;
  const NdAxes *axes;
  const gchar *text;
  const gchar *words;
} refused[] = {
  { "quadrature", &axes_xy, "size=8", "size is 8 along x|odd" },
  { "quadrature", &axes_xyz, "size=9:9:4", "size is 4 along z|odd" },
  { "quadrature", &axes_xy, "size=1", "1 along every axis" },
  { "quadrature", &axes_xyzt, "size=15", "15:15:15:15|13 in 4D" },
  { "quadrature", &axes_xy, "size=100001", "97 in 2D" },
  { "quadrature", &axes_xy, "bandwidth=0", "bandwidth is 0|above 0" },
  { "quadrature", &axes_xy, "bandwidth=-2", "bandwidth is -2|above 0" },
  { "quadrature", &axes_xy, "bandwidth=9", "bandwidth is 9|8 octaves" },
  { "quadrature", &axes_xy, "bandwidth=1e300", "bandwidth is 1e+300" },
  { "quadrature", &axes_xy, "size=9 bandwidth=1e300", "bandwidth is 1e+300" },
  { "quadrature", &axes_xy, "size=9 bandwidth=0.001", "larger bandwidth" },
  { "quadrature", &axes_xy, "bandwidth=1:2", "bandwidth|single number" },
  { "quadrature", &axes_xy, "center-frequency=0",
      "center-frequency is 0|above" },
  { "quadrature", &axes_xy, "center-frequency=3.2", "below pi" },
  { "quadrature", &axes_xy, "center-frequency=0.001", "97 in 2D" },
  { "quadrature", &axes_xy, "direction=0:0", "direction has length 0" },
  { "quadrature", &axes_xy, "direction=nan", "direction is \"nan\"" },
  { "quadrature", &axes_xy, "direction=-inf:1", "direction has -inf|finite" },
  { "quadrature", &axes_xy, "direction=1:inf", "direction has inf|finite" },
  { "quadrature", &axes_xy, "direction=z", "direction is \"z\"|x, y" },
  { "quadrature", &axes_xy, "direction=1:0:0", "direction has 3 values" },
  { "quadrature", &axes_xyz, "size=9:9:1 direction=0:1:1",
      "direction is 1 along z|size 1" },
  { "quadrature", &axes_xy, "spectrum=-1", "spectrum is -1|0 to 4" },
  { "quadrature", &axes_xy, "snr=0", "snr is 0|0.001 or more" },
  { "quadrature", &axes_xy, "snr=1e-300", "snr is 1e-300|0.001 or more" },
  { "wiener", &axes_xy, "sigma=1 snr=1e-300", "snr is 1e-300" },
  { "quadrature", &axes_xy, "localization=-1", "localization is -1" },
  { "quadrature", &axes_xy, "localization=1e300",
      "localization is 1e+300|0 to" },
  { "quadrature", &axes_xy, "size=9 center-frequency=1.05 localization=1",
      "localization is 1,|cut off at this size|0.0001" },
  { "wiener", &axes_xy, "sigma=1 localization=1",
      "localization is 1,|cut off" },
  { "quadrature", &axes_xy, "sigma=1", "sigma|direction, center-frequency" },
  { "quadrature-bank", &axes_xy, "size=4", "size is 4" },
  { "quadrature-bank", &axes_xy, "direction=x", "not a parameter" },
  { "gabor", &axes_xy, "bandwidth=0", "bandwidth is 0" },
  { "gabor", &axes_xy, "size=1", "size 1:1:1:1|response|is 0" },
  { "gabor", &axes_xy, "size=3 center-frequency=1e-6",
      "response|size 3:3:1:1" },
  { "gabor", &axes_xy, "direction=0:0", "direction has length 0" },
  { "monomial", &axes_xy, "order=4", "order is 4|0, 1, 2 or 3" },
  { "monomial", &axes_xy, "order=1.5", "order is 1.5" },
  { "monomial", &axes_xy, "exponents=2:2", "exponents add up to 4" },
  { "monomial", &axes_xy, "exponents=-1:0", "exponents is -1 along x" },
  { "monomial", &axes_xyz, "size=5:5:1 exponents=0:0:1",
      "exponents is 1 along z" },
  { "monomial", &axes_xy, "exponents=1:0 order=1", "exponents is given with" },
  { "monomial-bank", &axes_xy, "order=1:1", "order has 1 twice" },
  { "monomial-bank", &axes_xy, "order=5", "order is 5" },
  { "riesz", &axes_xy, "size=2", "size is 2" },
  { "motion", &axes_xyz, "velocity=1:0", "needs the time axis" },
  { "motion", &axes_xyt, "size=9:9:1 velocity=1:0", "needs the time axis" },
  { "motion", &axes_xyt, "velocity=0:0", "velocity is 0" },
  { "motion", &axes_xyt, "velocity=0.01:0", "velocity is 0.01|0.19 to 5.27" },
  { "motion", &axes_xyt, "velocity=0:-1e9", "velocity is 1e+09|0.19 to 5.27" },
  { "motion", &axes_xyt, "velocity=1e300", "velocity is 1e+300|0.19 to 5.27" },
  { "motion", &axes_xyt, "velocity=1e-300", "velocity is 1e-300|0.19 to 5.27" },
  { "motion", &axes_xyzt, "velocity=4:4:0",
      "velocity is 5.65|opposite direction" },
  { "motion", &axes_xyt, "velocity=1:0:0", "velocity has 3 values" },
  { "motion", &axes_xyt, "size=9:1:9 velocity=0:1", "velocity is 1 along y" },
  { "motion", &axes_xyt, "", "velocity is missing" },
  { "dog", &axes_xy, "sigma=1 ratio=1", "ratio is 1|above 1" },
  { "dog", &axes_xy, "sigma=0", "size is 1 along every axis" },
  { "dog", &axes_xy, "", "sigma is missing" },
  { "gaussian-derivative", &axes_xy, "order=-1", "order is -1" },
  { "gaussian-derivative", &axes_xy, "sigma=1e-200 size=3",
      "sigma is 1e-200 along x|0.125" },
  { "gaussian-derivative", &axes_xyzt, "sigma=1e6", "8000001|268435456" },
  { "gaussian-derivative", &axes_xy, "order=3:0 size=3 sigma=1",
      "size is 3 along x|above the order" },
  { "scharr", &axes_xy, "size=5", "size is 5 along x|must be 3" },
  { "sphere", &axes_xy, "", "radius is missing" },
  { "sphere", &axes_xy, "radius=-1", "radius is -1" },
  { "sphere", &axes_xy, "radius=0 size=3", "size is 3 along x|radius is 0" },
  { "sphere", &axes_xy, "radius=0.5 size=4", "so small that" },
  { "ellipsoid", &axes_xy, "radius=1:2:3", "radius has 3 values" },
  { "psf", &axes_xy, "aperture=1 sampling=1", "wavelength is missing" },
  { "psf", &axes_xy, "wavelength=0 aperture=1 sampling=1", "wavelength is 0" },
  { "psf", &axes_xy, "wavelength=1 aperture=1.2 sampling=1",
      "aperture is 1.2|index, 1" },
  { "psf", &axes_xy, "wavelength=1 aperture=1 sampling=1:0",
      "sampling is 0 along y" },
  { "psf", &axes_xy, "model=airy wavelength=1 aperture=1 sampling=1e9",
      "sampling is 1e+09 wavelengths|one unit" },
  { "psf", &axes_xy, "model=bessel wavelength=1 aperture=1 sampling=1",
      "bessel|gaussian or airy" },
  { "wiener", &axes_xy, "sigma=0", "sigma is 0 along every axis" },
  { "wiener", &axes_xy, "sigma=1 size=1", "size is 1 along every axis" },
  { "wiener", &axes_xy, "sigma=-1", "sigma is -1" },
  { "wiener", &axes_xy, "sigma=1 size=6", "size is 6 along x|odd" },
};

static void
test_refused (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);

  assert_refused (refused[i].design, refused[i].axes, refused[i].text,
      ND_ERROR_SETTINGS, refused[i].words);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/again", test_again);
  g_test_add_func ("/long-direction", test_long_direction);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/refused/%s/%u", refused[i].design, i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
