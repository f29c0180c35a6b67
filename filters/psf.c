/* Design psf: the point spread function of an imaging system in focus, scaled
 * to sum 1. wavelength and sampling (the distance of samples along x:y:z) have
 * the same unit of length; aperture is numerical (index times the sine of half
 * the opening angle), index is that of refraction (default 1). With k = 2 pi /
 * wavelength, r the distance from the z axis and f = aperture:
 *
 * model=airy: |2 integral_0^1 J0 (v p) exp (i w p^2 / 2) p dp|^2, v = k f r, w
 * = k f^2 z / index; in the plane z = 0 the Airy pattern (2 J1 (v) / v)^2 (Born
 * and Wolf, Principles of Optics, 7th ed., 8.8.1).
 *
 * model=gaussian (the default): the Gaussian that approximates it at the peak,
 * sigma = sqrt 2 / (k f) along x and y, 2 sqrt 6 index / (k f^2) along z
 * (Zhang, Zerubia and Olivo-Marin, Applied Optics 46 (10), 2007).
 *
 * location=FILE: a psf that was measured (filters/measured.c).
 *
 * By default, the filter reaches to the third dark ring along x and y and to
 * the second zero along z (airy), or to 4 sigma (gaussian). Along t, size is 1
 * by default; with a larger size all times have the same weight.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/band.h"

#include <math.h>
#include <string.h>

#define THIRD_RING 10.1734681350627
#define SECOND_ZERO (8 * G_PI)
#define MAX_REACH 1e4

/* The largest difference of v and w between neighbouring samples. A point would
 * vanish between samples that are further apart. */
#define MAX_STEP 100

/* Samples between two checks of the flag of cancellation. */
#define SAMPLES_PER_CHECK 256

typedef struct
{
  gboolean airy;
  gdouble lateral, axial; /* v along x and w along z, per sample */
  gdouble lateral_y;
} Psf;

static gboolean
get_positive (const NdParameters *parameters, const gchar *name,
    gdouble fallback, gdouble *value, GError **error)
{
  if (!nd_parameters_get_number (parameters, name, fallback, value, error))
    return FALSE;
  if (*value > 0)
    return TRUE;
  if (nd_parameters_has (parameters, name))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is %g; it must be above 0", name, *value);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is missing; give a number above 0", name);
  return FALSE;
}

static gboolean
read_model (const NdParameters *parameters, Psf *psf, GError **error)
{
  const gchar *text = nd_parameters_get_text (parameters, "model");

  psf->airy = g_strcmp0 (text, "airy") == 0;
  if (!text || psf->airy || g_strcmp0 (text, "gaussian") == 0)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "model is \"%.40s\"; it must be gaussian or airy", text);
  return FALSE;
}

static gboolean
read_psf (const NdParameters *parameters, const NdAxes *axes, Psf *psf,
    GError **error)
{
  gdouble wavelength, aperture, index, sampling[ND_AXES], k;

  if (!read_model (parameters, psf, error)
      || !get_positive (parameters, "wavelength", 0, &wavelength, error)
      || !get_positive (parameters, "aperture", 0, &aperture, error)
      || !get_positive (parameters, "index", 1, &index, error)
      || !nd_parameters_get_axes (parameters, "sampling", axes, 0, sampling,
          error))
    return FALSE;
  if (aperture > index) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "aperture is %g; it must be at most index, %g: set index, for example "
        "1.33 for water",
        aperture, index);
    return FALSE;
  }
  for (guint i = 0; i < axes->n; i++) {
    NdAxis a = axes->axis[i];

    if (a != ND_AXIS_T && !axes->single[a] && !(sampling[a] > 0)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "sampling is %g along %c; it must be above 0", sampling[a],
          nd_axis_letter (a));
      return FALSE;
    }
  }
  k = 2 * G_PI / wavelength;
  psf->lateral = k * aperture * sampling[ND_AXIS_X];
  psf->lateral_y = k * aperture * sampling[ND_AXIS_Y];
  psf->axial = k * aperture * aperture / index * sampling[ND_AXIS_Z];
  if (MAX (MAX (psf->lateral, psf->lateral_y), psf->axial) <= MAX_STEP)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "sampling is %g wavelengths, so that the image of a point falls between "
      "two samples; give wavelength and sampling in one unit",
      MAX (MAX (sampling[ND_AXIS_X], sampling[ND_AXIS_Y]), sampling[ND_AXIS_Z])
          / wavelength);
  return FALSE;
}

static gdouble
reach (const Psf *psf, NdAxis axis)
{
  gdouble samples = 0;

  if (axis == ND_AXIS_X || axis == ND_AXIS_Y)
    samples = (psf->airy ? THIRD_RING : 4 * G_SQRT2)
        / (axis == ND_AXIS_X ? psf->lateral : psf->lateral_y);
  else if (axis == ND_AXIS_Z)
    samples = (psf->airy ? SECOND_ZERO : 8 * sqrt (6)) / psf->axial;
  return MIN (ceil (samples), MAX_REACH);
}

static gboolean
choose_size (const NdParameters *parameters, const NdAxes *axes, const Psf *psf,
    gsize size[ND_AXES], GError **error)
{
  if (nd_parameters_has (parameters, "size"))
    return nd_parameters_get_size (parameters, axes, 0, size, error);
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = nd_axes_have (axes, a) && !axes->single[a]
        ? 2 * (gsize) reach (psf, a) + 1
        : 1;
  return TRUE;
}

/* Simpson's rule, with at least 16 steps per oscillation. */
static gdouble
airy (gdouble v, gdouble w)
{
  guint n = 2 * (16 + (guint) (2 * (fabs (v) + fabs (w) / 2)));
  gdouble re = 0, im = 0;

  for (guint i = 0; i <= n; i++) {
    gdouble p = (gdouble) i / n, weight = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;
    gdouble value = weight * 2 * j0 (v * p) * p / (3 * n);

    re += value * cos (w * p * p / 2);
    im += value * sin (w * p * p / 2);
  }
  return re * re + im * im;
}

static gdouble
intensity (const Psf *psf, const gdouble x[ND_AXES])
{
  gdouble v =
      hypot (psf->lateral * x[ND_AXIS_X], psf->lateral_y * x[ND_AXIS_Y]);
  gdouble w = psf->axial * x[ND_AXIS_Z];

  return psf->airy ? airy (v, w) : exp (-v * v / 4 - w * w / 48);
}

static gboolean
check_location (const NdParameters *parameters, GError **error)
{
  if (nd_parameters_has (parameters, "location")
      || (!nd_parameters_has (parameters, "background")
          && !nd_parameters_has (parameters, "center")))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "location is missing; background and center are those of a file");
  return FALSE;
}

NdFilter *
nd_design_psf (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  gsize size[ND_AXES], count, volume;
  NdFilter *filter;
  Psf psf;

  if (nd_parameters_has (parameters, "location"))
    return nd_design_measured_psf (parameters, axes, error);
  if (!check_location (parameters, error)
      || !read_psf (parameters, axes, &psf, error)
      || !choose_size (parameters, axes, &psf, size, error))
    return NULL;
  filter = nd_design_new_filter ("psf", size, error);
  if (!filter)
    return NULL;
  count = nd_filter_count (filter);
  volume = count / size[ND_AXIS_T];
  for (gsize i = 0; i < count; i++) {
    gsize at = i, mirrored = 0, stride = 1;
    gdouble x[ND_AXES];

    for (guint a = 0; a < ND_AXES; a++) {
      gsize m = at % size[a];

      x[a] = (gdouble) m - (gdouble) (size[a] - 1) / 2;
      mirrored += stride * MIN (m, size[a] - 1 - m);
      stride *= size[a];
      at /= size[a];
    }
    if (i % SAMPLES_PER_CHECK == 0
        && nd_set_error_if_cancelled (nd_parameters_get_cancelled (parameters),
            error)) {
      nd_filter_free (filter);
      return NULL;
    }
    /* Computes one octant at one time; the others are equal by symmetry. */
    mirrored %= volume;
    filter->coefficients[i] =
        mirrored < i ? filter->coefficients[mirrored] : intensity (&psf, x);
  }
  if (!nd_filter_normalize (filter, error))
    g_clear_pointer (&filter, nd_filter_free);
  return filter;
}

/* Design wiener: the Wiener inverse of a Gaussian blur of sigma samples per
 * axis,
 *
 *   H(u) = (1 + 1 / snr^2) G(u) / (G(u)^2 + 1 / snr^2),
 *   G(u) = prod_a exp (-sigma_a^2 u_a^2 / 2)
 *
 * (Gonzalez and Woods, Digital Image Processing, 4th ed., eq. 5-85), scaled to
 * keep constant input, and fitted to size, by default 2 ceil (5 sigma) + 1. snr
 * is the ratio of signal to noise in the recording; a low value sharpens
 * less.
 *
 * With location, G is the transform P of a psf that was measured, and
 * H(u) = (1 + 1 / snr^2) conj P(u) / (|P(u)|^2 + 1 / snr^2). The size is then
 * by default that of the file, made odd. */

#define MAX_SIGMA 8.0
#define DEFAULT_SNR 30

/* Of a psf times exp (i u x). */
typedef struct
{
  gdouble re, im;
} Sum;

/* The last sums along each axis and those after it, for each sign of their
 * frequencies. */
typedef struct
{
  const NdFilter *psf;
  gsize at[ND_AXES];     /* in the memory */
  gsize volume[ND_AXES]; /* samples of the axes before */
  gdouble u[ND_AXES][1 << ND_AXES][ND_AXES];
  gboolean is_made[ND_AXES][1 << ND_AXES];
  Sum *memory;
} Sums;

typedef struct
{
  gdouble sigma[ND_AXES];
  gdouble noise; /* 1 / snr^2 */
  NdFilter *psf; /* or NULL */
  Sums *sums;    /* of the psf */
} Wiener;

/* The sums of so many samples take up to 15 MB. */
#define MAX_MEASURED 65536

static gdouble
psf_respond (const gdouble u[ND_AXES], gconstpointer data)
{
  const Wiener *w = data;
  gdouble exponent = 0, g;

  for (guint a = 0; a < ND_AXES; a++)
    exponent += w->sigma[a] * w->sigma[a] * u[a] * u[a] / 2;
  g = exp (-exponent);
  return (1 + w->noise) * g / (g * g + w->noise);
}

/* Makes @sums, zeroed, ready for @psf. */
static gboolean
sums_init (Sums *sums, const NdFilter *psf, GError **error)
{
  gsize total = 0, volume = 1;

  sums->psf = psf;
  for (guint a = 0; a < ND_AXES; a++) {
    sums->at[a] = total;
    sums->volume[a] = volume;
    total += volume << (ND_AXES - a);
    volume *= psf->size[a];
  }
  sums->memory = nd_memory_new (total, sizeof (Sum), error);
  return sums->memory != NULL;
}

/* The sums along @axis and those after it, sums->volume[axis] of them. The
 * frequencies of a fit come in the order of memory, with all signs: most find
 * the sums along all axes but x. */
static const Sum *
sum_along (Sums *sums, guint axis, const gdouble u[ND_AXES])
{
  const NdFilter *psf = sums->psf;
  const gsize n = sums->volume[axis];
  const gdouble centre = (gint) (psf->size[axis] / 2) + psf->origin[axis];
  guint entry = 0;
  gdouble *found;
  const Sum *before;
  Sum *sum;

  for (guint a = axis; a < ND_AXES; a++)
    entry |= signbit (u[a]) ? 1 << (a - axis) : 0;
  sum = sums->memory + sums->at[axis] + entry * n;
  found = sums->u[axis][entry];
  if (sums->is_made[axis][entry]
      && memcmp (found + axis, u + axis, (ND_AXES - axis) * sizeof (gdouble))
          == 0)
    return sum;
  memcpy (found, u, ND_AXES * sizeof (gdouble));
  sums->is_made[axis][entry] = TRUE;
  before = axis + 1 < ND_AXES ? sum_along (sums, axis + 1, u) : NULL;
  memset (sum, 0, n * sizeof (Sum));
  for (gsize m = 0; m < psf->size[axis]; m++) {
    const gdouble angle = u[axis] * ((gdouble) m - centre);
    const gdouble re = cos (angle), im = sin (angle);
    const gdouble *p = psf->coefficients + m * n;
    const Sum *b = before + m * n;

    for (gsize i = 0; !before && i < n; i++) {
      sum[i].re += p[i] * re;
      sum[i].im += p[i] * im;
    }
    for (gsize i = 0; before && i < n; i++) {
      sum[i].re += b[i].re * re - b[i].im * im;
      sum[i].im += b[i].re * im + b[i].im * re;
    }
  }
  return sum;
}

/* E + O for the response E - i O, which is conj P / (|P|^2 + noise). */
static gdouble
measured_respond (const gdouble u[ND_AXES], gconstpointer data)
{
  const Wiener *w = data;
  const Sum *p = sum_along (w->sums, 0, u);

  return (1 + w->noise) * (p->re - p->im)
      / (p->re * p->re + p->im * p->im + w->noise);
}

static gboolean
read_measured (const NdParameters *parameters, const NdAxes *axes,
    Wiener *wiener, gsize size[ND_AXES], GError **error)
{
  static const gchar *const names[] = { "location", "background", "center" };
  g_autoptr (NdParameters) file = nd_parameters_new ();
  gsize n;

  if (nd_parameters_has (parameters, "sigma")) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "sigma is given with location; the file has the whole psf: give one of "
        "them");
    return FALSE;
  }
  /* size is that of the filter, not that of a raw file. */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *text = nd_parameters_get_text (parameters, names[i]);

    if (text)
      nd_parameters_set_text (file, names[i], text);
  }
  wiener->psf = nd_design_measured_psf (file, axes, error);
  if (!wiener->psf)
    return FALSE;
  n = nd_filter_count (wiener->psf);
  if (n > MAX_MEASURED) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "location: the file has %" G_GSIZE_FORMAT " samples; wiener takes up "
        "to %d: cut it to what is above the background",
        n, MAX_MEASURED);
    return FALSE;
  }
  for (guint a = 0; a < ND_AXES; a++)
    size[a] = wiener->psf->size[a] / 2 * 2 + 1;
  return !nd_parameters_has (parameters, "size")
      || nd_parameters_get_size (parameters, axes, 0, size, error);
}

static gboolean
read_wiener (const NdParameters *parameters, const NdAxes *axes, Wiener *wiener,
    gsize size[ND_AXES], GError **error)
{
  gboolean has_size = nd_parameters_has (parameters, "size"), any = FALSE;

  if (!nd_parameters_get_axes (parameters, "sigma", axes, 0, wiener->sigma,
          error)
      || (has_size
          && !nd_parameters_get_size (parameters, axes, 0, size, error)))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    gdouble sigma = wiener->sigma[a];

    if (sigma < 0 || sigma > MAX_SIGMA) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "sigma is %g along %c; it must be from 0 to %g samples", sigma,
          nd_axis_letter (a), MAX_SIGMA);
      return FALSE;
    }
    if (!has_size)
      size[a] = 2 * (gsize) ceil (5 * sigma) + 1;
    any = any || size[a] > 1;
  }
  if (!any)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        has_size
            ? "size is 1 along every axis; it must be 3 or more along one axis"
            : "sigma is 0 along every axis; give it along one axis at least");
  return any;
}

NdFilter *
nd_design_wiener (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  NdFit fit = { .ideal = psf_respond };
  g_autoptr (NdBank) bank = NULL;
  NdBand band = { .stretch = { 1, 1, 1, 1 } };
  const gboolean measured = nd_parameters_has (parameters, "location");
  g_autoptr (NdFilter) psf = NULL;
  g_autofree Sum *memory = NULL;
  Sums sums = { .psf = NULL };
  Wiener wiener = { .sums = &sums };
  gboolean ok;

  if (!check_location (parameters, error))
    return NULL;
  ok = measured ? read_measured (parameters, axes, &wiener, band.size, error)
                : read_wiener (parameters, axes, &wiener, band.size, error);
  psf = wiener.psf;
  if (!ok
      || !nd_parameters_get_weights (parameters, DEFAULT_SNR, &band.weights,
          error))
    return NULL;
  if (measured) {
    if (!sums_init (&sums, psf, error))
      return NULL;
    memory = sums.memory;
    fit.ideal = measured_respond;
  }
  wiener.noise = 1 / (band.weights.snr * band.weights.snr);
  fit.data = &wiener;
  fit.n_conditions = 1;
  fit.conditions[0].even = 1;
  fit.conditions[0].value = 1;
  bank = nd_band_fit ("wiener", &band, &fit, 1, 1, error);
  return bank ? g_steal_pointer (&bank->filters[0]) : NULL;
}
