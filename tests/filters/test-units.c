/* Units of parameters: values, spacings and rates, refused units.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/text.h"
#include "filters/units.h"
#include "tests/filters/designs.h"

/* Spacing 0.3 x 0.3 x 0.5 mm, 20 volumes per second. */
#define STEPS { 0.3, 0.3, 0.5, 0.05 }
static const NdAxes xy = { 2, { ND_AXIS_X, ND_AXIS_Y }, STEPS };
static const NdAxes xyz = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z }, STEPS };
static const NdAxes xyt = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T }, STEPS };
static const NdAxes xyzt = { 4, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T },
  STEPS };

/* One sample along z. */
static const NdAxes frames = { 4,
  { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T }, STEPS,
  { FALSE, FALSE, TRUE, FALSE } };

static NdBank *
parse (const gchar *text, const NdAxes *axes)
{
  g_autoptr (GError) error = NULL;
  NdBank *bank =
      nd_bank_from_text (text, axes, NULL, FALSE, FALSE, NULL, &error);

  g_assert_no_error (error);
  return bank;
}

/* Both texts make the same bank. */
static const struct
{
  const NdAxes *axes;
  const gchar *with_units, *in_samples;
} equal[] = {
  { &xy, "gaussian,sigma=0.6mm", "gaussian,sigma=2" },
  { &xyz, "gaussian,sigma=0.6mm", "gaussian,sigma=2:2:1.2" },
  { &xyz, "gaussian,sigma=600um", "gaussian,sigma=2:2:1.2" },
  { &xyz, "gaussian,sigma=\"600\302\265m\"", "gaussian,sigma=2:2:1.2" },
  { &xyz, "gaussian,sigma=0.06cm", "gaussian,sigma=2:2:1.2" },
  { &xyz, "gaussian,sigma=6e-4m", "gaussian,sigma=2:2:1.2" },
  { &xyz, "gaussian,sigma=600000nm", "gaussian,sigma=2:2:1.2" },
  { &xyzt, "gaussian,sigma=0.6mm", "gaussian,sigma=2:2:1.2:0" },
  { &xyzt, "gaussian,sigma=80ms", "gaussian,sigma=0:0:0:1.6" },
  { &xyzt, "gaussian,sigma=0.6mm:0.6mm:0.6mm:80ms",
      "gaussian,sigma=2:2:1.2:1.6" },
  { &xyzt, "gaussian,sigma=<0.6mm,0.6mm,0.6mm,80000us>",
      "gaussian,sigma=2:2:1.2:1.6" },
  { &xyzt, "gaussian,sigma=0.6mm:1:0.6mm:0.08s", "gaussian,sigma=2:1:1.2:1.6" },
  { &xyt, "gaussian,sigma=0.6mm:0.6mm:80ms", "gaussian,sigma=2:2:1.6" },
  { &xyt, "gaussian,sigma=0.6mm:0.6mm:0:80ms", "gaussian,sigma=2:2:0:1.6" },
  /* the odd size that comes nearest, at least 1 */
  { &xy, "box,size=2.1mm", "box,size=7" },
  { &xy, "box,size=2.3mm", "box,size=7" },
  { &xy, "box,size=2.5mm", "box,size=9" },
  { &xy, "box,size=0.1mm", "box,size=1" },
  { &xyz, "box,size=3.5mm", "box,size=11:11:7" },
  { &xyzt, "box,size=250ms", "box,size=1:1:1:5" },
  { &xyzt, "box,size=2.1mm", "box,size=7:7:5:1" },
  { &xyz, "sphere,radius=2", "sphere,radius=2" },
  { &xyz, "ellipsoid,radius=1.5mm", "ellipsoid,radius=5:5:3" },
  { &xyt, "motion,velocity=<6mm/s,0mm/s>,size=9",
      "motion,velocity=1:0,size=9" },
  { &xyt, "motion,velocity=0.6cm/s:0,size=9", "motion,velocity=1:0,size=9" },
  { &xyt, "motion,velocity=6um/ms:0,size=9", "motion,velocity=1:0,size=9" },
  { &xy, "gabor,center-frequency=0.5cycles/mm",
      "gabor,center-frequency=0.94247779607693793" },
  { &xy, "gabor,center-frequency=0.5/mm",
      "gabor,center-frequency=0.94247779607693793" },
  { &xyt, "exponential,tau=150ms", "exponential,tau=3" },
  { &xyt, "exponential,tau=3,size=250ms", "exponential,tau=3,size=5" },
  { &xyz,
      "psf,wavelength=520nm,aperture=1.2,index=1.33,sampling=80nm:80nm:0.2um",
      "psf,wavelength=0.52,aperture=1.2,index=1.33,sampling=0.08:0.08:0.2" },
  /* sampling is the spacing of the stream */
  { &xy, "psf,wavelength=1mm,aperture=0.8",
      "psf,wavelength=1,aperture=0.8,sampling=0.3:0.3" },
  /* single numbers leave out axes of one sample */
  { &frames, "gaussian,sigma=0.6mm", "gaussian,sigma=2:2:0:0" },
  { &frames, "gaussian,sigma=1", "gaussian,sigma=1:1:0:1" },
  { &frames, "gaussian,sigma=1:1:1:1", "gaussian,sigma=1,size=9:9:9:9" },
  { &frames, "gaussian-derivative", "gaussian-derivative,size=9:9:1:9" },
  { &frames, "gaussian-derivative,order=0:0:1",
      "gaussian-derivative,order=0:0:1,size=9:9:9:9" },
  { &frames, "box,size=3", "box,size=3:3:1:3" },
  { &frames, "box,size=2.1mm", "box,size=7:7:1:1" },
  { &frames, "sphere,radius=2", "ellipsoid,radius=2:2:0:2" },
  { &frames, "laplace", "laplace,size=3:3:1:3" },
  { &frames, "sobel", "sobel,size=3:3:1:3" },
  { &frames, "sobel,direction=z", "sobel,direction=z,size=3:3:3:3" },
  { &frames, "gabor,size=7", "gabor,size=7:7:1:7" },
  { &frames, "quadrature-bank,size=5", "quadrature-bank,size=5:5:1:5" },
  { &frames, "monomial-bank,size=5,order=0:1:2",
      "monomial-bank,size=5:5:1:5,order=0:1:2" },
  { &frames, "motion,velocity=1:0,size=7", "motion,velocity=1:0,size=7:7:1:7" },
  { &frames, "psf,wavelength=1mm,aperture=0.8",
      "psf,wavelength=1,aperture=0.8,sampling=0.3:0.3:0.5:1,size=9:9:1:1" },
  { &frames,
      "coefficients,size=2,values=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16",
      "coefficients,size=2:2:2:2,"
      "values=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16" },
};

static void
test_equal (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (NdBank) with_units = parse (equal[i].with_units, equal[i].axes);
  g_autoptr (NdBank) in_samples = parse (equal[i].in_samples, equal[i].axes);

  g_assert_cmpuint (with_units->n_filters, ==, in_samples->n_filters);
  for (guint f = 0; f < with_units->n_filters; f++) {
    const NdFilter *a = with_units->filters[f], *b = in_samples->filters[f];

    assert_size (a, b->size[0], b->size[1], b->size[2], b->size[3]);
    for (gsize j = 0; j < nd_filter_count (a); j++)
      g_assert_cmpfloat_with_epsilon (a->coefficients[j], b->coefficients[j],
          1e-9);
  }
}

/* The spacing is unknown. */
static const NdAxes bare = { 4,
  { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } };

static const struct
{
  const NdAxes *axes;
  const gchar *text, *words;
} refused[] = {
  { &bare, "gaussian,sigma=0.6mm", "sigma is 0.6mm|spacing|x|unknown|samples" },
  { &bare, "gaussian,sigma=80ms", "sigma is 80ms|rate|unknown|volumes" },
  { &bare, "motion,velocity=<6mm/s,0,0>", "velocity is 6mm/s:0:0|unknown" },
  { &bare, "exponential,tau=80ms", "tau is 80ms|rate" },
  { &xyz, "gaussian,sigma=0.6mm:80ms", "sigma|a length along x" },
  { &xyzt, "gaussian,sigma=1:1:1:2mm", "a time along t" },
  { &xyz, "gaussian,sigma=6mm/s", "sigma is 6mm/s|length" },
  { &xyz, "gaussian,sigma=0.6inch", "0.6inch" },
  { &xyz, "gaussian,sigma=0.6mmm", "0.6mmm" },
  { &xyt, "motion,velocity=6mm", "velocity is 6mm|12mm/s" },
  { &xyt, "exponential,tau=5mm", "tau is 5mm|80ms" },
  { &xyz, "quadrature,center-frequency=0.4cycles/mm",
      "0.3 mm|0.5 mm|radians per sample" },
  { &xy, "quadrature,center-frequency=0.4mm", "0.4cycles/mm" },
  { &xy, "quadrature,bandwidth=2mm", "bandwidth" },
  { &xyz, "psf,wavelength=520nm,aperture=1,sampling=0.1",
      "give both with units" },
  { &xyz, "psf,wavelength=520ms,aperture=1,sampling=1nm", "520nm" },
  { &xyz, "box,size=5m", "units" },
  { &xyz, "gaussian,sigma=1mm:1mm:1mm:1mm:1mm", "at most 4 numbers" },
  { &xyzt, "gaussian,sigma=1:1:1:1:1mm", "at most 4 numbers" },
};

static void
test_refused (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) words = g_strsplit (refused[i].words, "|", -1);

  g_assert_null (nd_bank_from_text (refused[i].text, refused[i].axes, NULL,
      FALSE, FALSE, NULL, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_test_message ("%s", error->message);
  for (guint j = 0; words[j]; j++) {
    if (strstr (error->message, words[j]) == NULL)
      g_error ("\"%s\" not in \"%s\"", words[j], error->message);
  }
}

static void
test_detected (void)
{
  static const gchar *const with[] = { "0.6mm", "1:2:3mm",
    "gaussian,sigma=0.6mm", "motion,velocity=<0,12mm/s>",
    "box,size=3; gabor,center-frequency=0.4cycles/mm",
    "gaussian,sigma=\"1um\"" };
  static const gchar *const without[] = { "0.6", "1:2:3", "",
    "gaussian,sigma=0.6", "file,location=/data/12mm.npy", "sobel,direction=z",
    "coefficients,size=3:1,values=<1,-1e3,1/4>" };

  for (guint i = 0; i < G_N_ELEMENTS (with); i++)
    g_assert_true (nd_units_are_in (with[i]));
  for (guint i = 0; i < G_N_ELEMENTS (without); i++)
    g_assert_false (nd_units_are_in (without[i]));
}

static void
test_spacing (void)
{
  static const gchar *const sound[] = { "0.0003:0.0003:0.001",
    "0.3um:0.3um:1um", "300nm:0.3um:0.001", "0.3um:0.0003:1e-4cm" };
  static const gchar *const wrong[] = { "", "0.3um:", "1:2:3:4", "0", "-1um",
    "1s", "1um/s", "1um:0ms:1um", "x", "1 um", "inf", "nan:1:1" };
  gdouble spacing[3];

  for (guint i = 0; i < G_N_ELEMENTS (sound); i++) {
    g_assert_true (nd_units_parse_spacing (sound[i], spacing));
    g_assert_cmpfloat_with_epsilon (spacing[0], 3e-4, 1e-15);
    g_assert_cmpfloat_with_epsilon (spacing[1], 3e-4, 1e-15);
    g_assert_cmpfloat_with_epsilon (spacing[2], 1e-3, 1e-15);
  }
  g_assert_true (nd_units_parse_spacing ("2um:0.5", spacing));
  g_assert_cmpfloat_with_epsilon (spacing[0], 2e-3, 1e-15);
  g_assert_cmpfloat (spacing[2], ==, 0.5);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (nd_units_parse_spacing (wrong[i], spacing));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/detected", test_detected);
  g_test_add_func ("/spacing", test_spacing);
  for (guint i = 0; i < G_N_ELEMENTS (equal); i++) {
    g_autofree gchar *path = g_strdup_printf ("/equal/%u", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_equal);
  }
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *path = g_strdup_printf ("/refused/%u", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_refused);
  }
  return g_test_run ();
}
