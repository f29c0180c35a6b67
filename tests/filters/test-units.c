/* Units of parameters: values, spacings and rates, refused units.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/text.h"
#include "filters/units.h"
#include "tests/filters/designs.h"

#include <math.h>

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

static const NdAxes no_rate = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T },
  { 0.3, 0.3, 0.5 } };

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
  { &xyz, "quadrature,center-frequency=1.1cycles/mm",
      "radians per sample of the coarsest axis|below pi" },
  { &bare, "quadrature,center-frequency=0.4cycles/mm", "spacing|x|unknown" },
  { &no_rate, "gaussian-derivative,order=0:0:1,sigma=0.6mm:0.6mm:1.6",
      "a parameter has a unit|rate of the volumes is unknown" },
  { &xyz, "laplace,size=0.9mm:0.9mm:1.5mm,connectivity=full",
      "spacing differs|connectivity=faces" },
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

/* Spacing 0.3 x 0.3 x 1.0 um. */
static const NdAxes cells = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z },
  { 0.3e-3, 0.3e-3, 1e-3, 0.05 } };
static const gdouble um[3] = { 0.3, 0.3, 1.0 };

/* The position of coefficient @i in um. */
static void
find_position (const NdFilter *f, gsize i, gdouble position[3])
{
  for (guint a = 0; a < 3; a++) {
    position[a] = ((gdouble) (i % f->size[a]) - (f->size[a] - 1) / 2.) * um[a];
    i /= f->size[a];
  }
}

/* A Laplacian of a Gaussian in um: the formula, and the change of sign at the
 * same distance along x and z. */
static void
test_log (void)
{
  g_autoptr (NdBank) bank = parse ("log,sigma=1.2um", &cells);
  const NdFilter *f = bank->filters[0];
  const gsize n = nd_filter_count (f);
  const gdouble squared = 1.2 * 1.2;
  g_autofree gdouble *expected = g_new (gdouble, n);
  gdouble sum = 0, mean = 0;

  for (gsize i = 0; i < n; i++) {
    gdouble p[3], r2;

    find_position (f, i, p);
    r2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    expected[i] = exp (-r2 / 2 / squared);
    sum += expected[i];
    expected[i] *= (r2 - 3 * squared) / squared / squared;
    mean += expected[i] / n;
  }
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (f->coefficients[i],
        (expected[i] - mean) / sum, 1e-12);
}

/* The response to a polynomial of positions in um, at the centre. */
static gdouble
respond_to (const NdFilter *f, gdouble (*value) (const gdouble p[3]))
{
  gdouble sum = 0;

  for (gsize i = 0; i < nd_filter_count (f); i++) {
    gdouble p[3];

    find_position (f, i, p);
    for (guint a = 0; a < 3; a++)
      p[a] = -p[a]; /* a convolution */
    sum += f->coefficients[i] * value (p);
  }
  return sum;
}

static gdouble
ramp_x (const gdouble p[3])
{
  return p[0];
}

static gdouble
ramp_z (const gdouble p[3])
{
  return p[2];
}

static gdouble
square (const gdouble p[3])
{
  return p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
}

static gdouble
square_z (const gdouble p[3])
{
  return p[2] * p[2];
}

/* Derivatives of polynomials, whatever the spacing is. A convolution with sobel
 * has the gain of its smoothing, 16, times the 2 samples of the difference. */
static const struct
{
  const gchar *text;
  gdouble (*value) (const gdouble p[3]);
  gdouble expected, epsilon;
} derivatives[] = {
  { "sobel,size=0.9um:0.9um:3um", ramp_x, 2 * 16, 1e-9 },
  { "sobel,size=0.9um:0.9um:3um,direction=z", ramp_z, 2 * 16, 1e-9 },
  { "scharr,size=0.9um:0.9um:3um", ramp_x, 2 * 256, 1e-9 },
  { "scharr,size=0.9um:0.9um:3um,direction=z", ramp_z, 2 * 256, 1e-9 },
  { "laplace,size=0.9um:0.9um:3um", square, 6, 1e-9 },
  { "laplace,size=1.5um:1.5um:5um", square, 12 * 6, 1e-9 },
  { "gaussian-derivative,sigma=1.2um", ramp_x, 1, 2e-3 },
  { "gaussian-derivative,order=0:0:1,sigma=1.2um", ramp_z, 1, 2e-3 },
  { "gaussian-derivative,order=0:0:2,sigma=1.2um", square_z, 2, 2e-2 },
};

static void
test_derivatives (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (derivatives); i++) {
    g_autoptr (NdBank) bank = parse (derivatives[i].text, &cells);

    g_test_message ("%s", derivatives[i].text);
    g_assert_cmpfloat_with_epsilon (respond_to (bank->filters[0],
                                        derivatives[i].value),
        derivatives[i].expected, derivatives[i].epsilon);
  }
}

/* Along t: per second or in the unit that is given. */
static void
test_time (void)
{
  g_autoptr (NdBank) per_ms = parse ("causal-derivative,tau=0ms", &xyt);
  g_autoptr (NdBank) per_s = parse ("causal-derivative,tau=0s", &xyt);
  g_autoptr (NdBank) per_volume = parse ("causal-derivative", &xyt);

  g_assert_cmpfloat_with_epsilon (per_volume->filters[0]->coefficients[0], 1,
      1e-12);
  g_assert_cmpfloat_with_epsilon (per_ms->filters[0]->coefficients[0], 1 / 50.,
      1e-12);
  g_assert_cmpfloat_with_epsilon (per_s->filters[0]->coefficients[0], 20, 1e-9);
}

/* The response of filter @i to a wave of @frequency cycles/um along
 * @direction; the steps of @axes are in mm and s. */
static gdouble
respond_to_wave (const NdBank *bank, guint i, const NdAxes *axes,
    const gdouble direction[4], gdouble frequency)
{
  const gdouble unit[4] = { 1e3, 1e3, 1e3, 1 };
  const NdFilter *re = bank->filters[i];
  const NdFilter *im = bank->is_complex ? bank->filters[i + 1] : NULL;
  gdouble sum[2] = { 0, 0 };

  for (gsize j = 0; j < nd_filter_count (re); j++) {
    gdouble phase = 0, c, s;
    gsize at = j;

    for (guint a = 0; a < 4; a++) {
      const gdouble x = (gdouble) (at % re->size[a]) - (re->size[a] - 1) / 2.;

      phase += 2 * G_PI * frequency * direction[a] * x
          * (axes->step[a] > 0 ? axes->step[a] * unit[a] : 1);
      at /= re->size[a];
    }
    c = re->coefficients[j];
    s = im ? im->coefficients[j] : 0;
    sum[0] += c * cos (phase) + s * sin (phase);
    sum[1] += s * cos (phase) - c * sin (phase);
  }
  return hypot (sum[0], sum[1]);
}

/* Directions of band-pass filters are those of space: the response to waves of
 * the centre frequency is that of the formula along every direction. In samples
 * the directions would be 0.3:1 off. */
static void
test_directions (void)
{
  static const gdouble waves[][4] = { { 1, 0, 0 }, { 0, 0, 1 },
    { G_SQRT2 / 2, 0, G_SQRT2 / 2 }, { -G_SQRT2 / 2, 0, G_SQRT2 / 2 },
    { 0.6, 0, 0.8 } };
  g_autoptr (NdBank) quadrature =
      parse ("quadrature,center-frequency=0.22cycles/um,bandwidth=2,"
             "size=8.7um:0.3um:9um,direction=<1,0,1>",
          &cells);
  g_autoptr (NdBank) monomials =
      parse ("monomial-bank,order=2,center-frequency=0.22cycles/um,bandwidth=2,"
             "size=8.7um:0.3um:9um",
          &cells);

  assert_size (quadrature->filters[0], 29, 1, 9, 1);
  for (guint i = 0; i < G_N_ELEMENTS (waves); i++) {
    const gdouble *w = waves[i];
    const gdouble along = MAX ((w[0] + w[2]) * G_SQRT2 / 2, 0);

    g_test_message ("direction %g:%g", w[0], w[2]);
    g_assert_cmpfloat_with_epsilon (respond_to_wave (quadrature, 0, &cells, w,
                                        0.22),
        along * along, 0.12);
    /* xx, xz, zz */
    g_assert_cmpfloat_with_epsilon (respond_to_wave (monomials, 0, &cells, w,
                                        0.22),
        w[0] * w[0], 0.12);
    g_assert_cmpfloat_with_epsilon (respond_to_wave (monomials, 1, &cells, w,
                                        0.22),
        fabs (w[0] * w[2]), 0.12);
    g_assert_cmpfloat_with_epsilon (respond_to_wave (monomials, 2, &cells, w,
                                        0.22),
        w[2] * w[2], 0.12);
  }
}

/* A pattern that moves obliquely in space: the waves along its velocity move
 * with it, those across stand still. */
static void
test_motion (void)
{
  static const NdAxes film = { 3, { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_T },
    { 0.3e-3, 0.6e-3, 0, 0.05 } };
  /* 6 um/s along 45 degrees: 1 and 0.5 samples per volume. */
  g_autoptr (NdBank) bank =
      parse ("motion,velocity=<6um/s,6um/s>,center-frequency=0.3cycles/um,"
             "size=2.7um:5.4um:450ms",
          &film);
  const gdouble speed = 6 * G_SQRT2, f = 0.3 / G_SQRT2;
  /* Cycles per um along space and per second along t. */
  const gdouble with[4] = { G_SQRT2 / 2, G_SQRT2 / 2, 0, -speed };
  const gdouble against[4] = { G_SQRT2 / 2, G_SQRT2 / 2, 0, speed };
  const gdouble across[4] = { G_SQRT2 / 2, -G_SQRT2 / 2, 0, 0 };

  g_assert_cmpfloat (respond_to_wave (bank, 0, &film, with, f), >, 0.8);
  g_assert_cmpfloat (respond_to_wave (bank, 0, &film, against, f), <, 0.15);
  g_assert_cmpfloat (respond_to_wave (bank, 0, &film, across, f), <, 0.15);
}

/* A sentence if sizes in samples meet a spacing that differs. */
static void
test_warnings (void)
{
  static const gchar *const warned[] = { "log,sigma=1.2", "sobel",
    "gaussian; monomial-bank,size=5", "quadrature,size=5", "laplace" };
  static const gchar *const silent[] = { "log,sigma=1.2um", "gaussian,sigma=2",
    "sobel,size=0.9um:0.9um:3um", "box,size=3" };

  for (guint i = 0; i < G_N_ELEMENTS (warned); i++) {
    g_autofree gchar *of_cells = nd_bank_find_warning (warned[i], &cells);
    g_autofree gchar *of_xy = nd_bank_find_warning (warned[i], &xy);

    g_assert_nonnull (of_cells);
    g_assert_nonnull (strstr (of_cells, "0.001 mm along z"));
    g_assert_null (of_xy);
  }
  for (guint i = 0; i < G_N_ELEMENTS (silent); i++) {
    g_autofree gchar *of_cells = nd_bank_find_warning (silent[i], &cells);

    g_assert_null (of_cells);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/detected", test_detected);
  g_test_add_func ("/spacing", test_spacing);
  g_test_add_func ("/physical/log", test_log);
  g_test_add_func ("/physical/derivatives", test_derivatives);
  g_test_add_func ("/physical/time", test_time);
  g_test_add_func ("/physical/directions", test_directions);
  g_test_add_func ("/physical/motion", test_motion);
  g_test_add_func ("/physical/warnings", test_warnings);
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
