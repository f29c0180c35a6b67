/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/band.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/designs.h"
#include "filters/units.h"

#include <math.h>

#define DEFAULT_CENTER (G_PI / 3)
#define DEFAULT_BANDWIDTH 2.0
#define MAX_BANDWIDTH 8.0
#define DEFAULT_SNR 10
#define MIN_SNR 1e-3
#define DEFAULT_LOCALIZATION 1e-4
#define MAX_LOCALIZATION 1.0

/* No condition holds at the end of a band above this frequency, because filters
 * that are odd along an axis are 0 at pi. */
#define HIGHEST_END 2.6

/* Half of the smallest default size. High bands would fit into 4, but would
 * miss the centre frequency by 5 percent and the quadrature by 3 percent. */
#define SMALLEST_HALF 5

/* The highest upper end of the band for a default centre frequency. */
#define DEFAULT_END 2.3

/* Softness of the conditions. Each is as soft as its purpose allows, because a
 * firm condition raises the error of the fit and of the other conditions. The
 * more axes a filter has, the fewer of all frequencies lie along its
 * direction. */
#define CENTER_SOFTNESS 1e-9
#define END_SOFTNESS 0.03
#define QUADRATURE_SOFTNESS 4
static const gdouble slope_softness[ND_AXES + 1] = { 0, 10, 15, 22, 45 };

/* Conditions for the quadrature of even and odd part hold at this many
 * frequencies on both sides of the centre, up to half way to the ends of the
 * band. Their firmness is this power of the room that the filter has. */
#define QUADRATURE_POINTS 2
#define QUADRATURE_POWER 20
#define FIRMEST_QUADRATURE 0.04

gboolean
nd_parameters_get_number (const NdParameters *parameters, const gchar *name,
    gdouble fallback, gdouble *value, GError **error)
{
  g_autofree gdouble *numbers = NULL;
  gsize n;

  *value = fallback;
  if (!nd_parameters_has (parameters, name))
    return TRUE;
  numbers = nd_parameters_get_numbers (parameters, name, &n, error);
  if (!numbers)
    return FALSE;
  *value = numbers[0];
  if (n != 1)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has %" G_GSIZE_FORMAT " values; it must be a single number", name,
        n);
  return n == 1;
}

static gboolean
get_bandwidth (const NdParameters *parameters, gdouble fallback,
    gdouble *bandwidth, GError **error)
{
  if (!nd_parameters_get_number (parameters, "bandwidth", fallback, bandwidth,
          error))
    return FALSE;
  if (*bandwidth > 0 && *bandwidth <= MAX_BANDWIDTH)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "bandwidth is %g; it must be above 0 and at most %g octaves", *bandwidth,
      MAX_BANDWIDTH);
  return FALSE;
}

static gboolean
get_center (const NdParameters *parameters, gdouble fallback, gdouble *center,
    GError **error)
{
  if (!nd_parameters_get_number (parameters, "center-frequency", fallback,
          center, error))
    return FALSE;
  if (!(*center > 0 && *center < G_PI)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "center-frequency is %g; it must be above 0 and below pi (3.14159) "
        "radians per sample",
        *center);
    return FALSE;
  }
  return TRUE;
}

/* The coarsest axis has the least stretch. */
static gdouble
find_least_stretch (const NdBand *band)
{
  gdouble least = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (band->size[a] > 1)
      least = MIN (least, band->stretch[a]);
  }
  return least;
}

static gboolean
set_stretch (const NdAxes *axes, NdBand *band, GError **error)
{
  const gdouble finest = nd_units_finest_step (axes);

  for (guint a = 0; a < ND_AXES; a++) {
    gdouble scale = 1;

    band->stretch[a] = 1;
    if (a == ND_AXIS_T || band->size[a] == 1)
      continue;
    if (!nd_units_get_scale (axes, a, &scale, error))
      return FALSE;
    if (axes->scale[a] > 0)
      band->stretch[a] = finest / axes->step[a];
  }
  return TRUE;
}

/* @fallback, and a number without a unit, are per sample of the coarsest
 * axis. */
static gboolean
set_center (const NdParameters *parameters, const NdAxes *axes,
    gdouble fallback, NdBand *band, GError **error)
{
  const gdouble least = find_least_stretch (band);

  if (!get_center (parameters, fallback, &band->center, error))
    return FALSE;
  if (!axes->physical_frequency)
    band->center *= least;
  if (band->center / least < G_PI)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "center-frequency is %g radians per sample of the coarsest axis; it must "
      "be below pi (3.14159): give a lower frequency, or size 1 along that "
      "axis",
      band->center / least);
  return FALSE;
}

gboolean
nd_parameters_get_frequencies (const NdParameters *parameters,
    const NdAxes *axes, gdouble fallback, NdBand *band, GError **error)
{
  for (guint a = 0; a < ND_AXES; a++)
    band->size[a] = nd_axes_have (axes, a) && !axes->single[a] ? 3 : 1;
  return set_stretch (axes, band, error)
      && set_center (parameters, axes, fallback, band, error)
      && get_bandwidth (parameters, DEFAULT_BANDWIDTH, &band->bandwidth, error);
}

gboolean
nd_parameters_get_weights (const NdParameters *parameters, gdouble fallback_snr,
    NdFitWeights *weights, GError **error)
{
  weights->cancelled = nd_parameters_get_cancelled (parameters);
  if (!nd_parameters_get_number (parameters, "spectrum", 0.5,
          &weights->spectrum, error)
      || !nd_parameters_get_number (parameters, "snr", fallback_snr,
          &weights->snr, error)
      || !nd_parameters_get_number (parameters, "localization",
          DEFAULT_LOCALIZATION, &weights->localization, error))
    return FALSE;
  if (weights->spectrum < 0 || weights->spectrum > 4)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "spectrum is %g; it must be from 0 to 4: the input's amplitude falls "
        "with that power of the frequency",
        weights->spectrum);
  else if (!(weights->snr >= MIN_SNR))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "snr is %g; it must be %g or more", weights->snr, MIN_SNR);
  else if (weights->localization < 0
      || weights->localization > MAX_LOCALIZATION)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "localization is %g; it must be from 0 to %g", weights->localization,
        MAX_LOCALIZATION);
  else
    return TRUE;
  return FALSE;
}

/* The width of the band, relative to its centre frequency. */
static gdouble
width (gdouble bandwidth)
{
  return exp2 (bandwidth / 2) - exp2 (-bandwidth / 2);
}

/* Half the size times the width of the band, in units of 2 pi. A window
 * resolves bands of 1. */
static gdouble
get_room (gdouble half, gdouble center, gdouble bandwidth)
{
  return half * center * width (bandwidth) / (2 * G_PI);
}

/* The room that keeps the band within 5 percent along an axis. Wide bands reach
 * lower frequencies and need more. */
static gdouble
get_default_room (gdouble bandwidth)
{
  return 1.25 + 0.2 * MAX (bandwidth - 2, 0);
}

/* The lowest frequency with enough room for the band: near pi the fit gets
 * worse. */
static gdouble
get_default_center (gsize half, gdouble bandwidth)
{
  gdouble tight = 1 / get_room (half, 1, bandwidth);
  gdouble center = MIN (get_default_room (bandwidth) * tight,
      MAX (tight, DEFAULT_END * exp2 (-bandwidth / 2)));

  return MIN (center, G_PI / 2);
}

static gsize
get_default_size (gdouble center, gdouble bandwidth)
{
  /* Tolerates a size that is too small by a fiftieth of a sample, because the
   * next odd size is larger by two. */
  gdouble half =
      ceil (get_default_room (bandwidth) / get_room (1, center, bandwidth)
          - 0.02);

  return 2 * (gsize) CLAMP (half, SMALLEST_HALF, 1e6) + 1;
}

/* The centre frequency for the size of @band, per sample of the coarsest
 * axis. */
static gdouble
find_default_center (const NdBand *band, gdouble bandwidth,
    gdouble least_center)
{
  gdouble center = G_MAXDOUBLE;

  for (guint a = 0; a < ND_AXES; a++) {
    if (band->size[a] > 2)
      center = MIN (center,
          band->stretch[a]
              * MAX (get_default_center (band->size[a] / 2, bandwidth),
                  least_center));
  }
  return center < G_MAXDOUBLE ? center / find_least_stretch (band)
                              : DEFAULT_CENTER;
}

gboolean
nd_parameters_get_wide_band (const NdParameters *parameters, const NdAxes *axes,
    gdouble bandwidth, gdouble least_center, NdBand *band, GError **error)
{
  const gboolean has_size = nd_parameters_has (parameters, "size");

  *band = (NdBand){ { 0 } };
  if (!get_bandwidth (parameters, bandwidth, &band->bandwidth, error)
      || !nd_parameters_get_weights (parameters, DEFAULT_SNR, &band->weights,
          error)
      || !nd_parameters_get_size (parameters, axes, SMALLEST_HALF, band->size,
          error)
      || !set_stretch (axes, band, error)
      || !set_center (parameters, axes,
          has_size ? find_default_center (band, band->bandwidth, least_center)
                   : DEFAULT_CENTER,
          band, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (!has_size && band->size[a] > 1)
      band->size[a] =
          get_default_size (band->center / band->stretch[a], band->bandwidth);
    if (band->size[a] % 2 == 0) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %" G_GSIZE_FORMAT " along %c; it must be odd", band->size[a],
          nd_axis_letter (a));
      return FALSE;
    }
    if (band->size[a] > 1)
      band->axis[band->n++] = a;
  }
  if (band->n == 0)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "size is 1 along every axis; it must be 3 or more along one");
  return band->n > 0;
}

gboolean
nd_parameters_get_band (const NdParameters *parameters, const NdAxes *axes,
    NdBand *band, GError **error)
{
  return nd_parameters_get_wide_band (parameters, axes, DEFAULT_BANDWIDTH, 0,
      band, error);
}

gdouble
nd_band_radial (const NdBand *band, const gdouble u[ND_AXES])
{
  gdouble squared = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
  gdouble octaves, factor = 4 / (band->bandwidth * band->bandwidth * G_LN2);

  if (squared == 0)
    return 0;
  octaves = log (squared) / 2 - log (band->center);
  return exp (-factor * octaves * octaves);
}

static NdFitCondition *
add_condition (NdFit *fit)
{
  g_assert (fit->n_conditions < ND_FIT_CONDITIONS);
  return &fit->conditions[fit->n_conditions++];
}

void
nd_band_block_constant (NdFit *fit)
{
  NdFitCondition *constant = add_condition (fit);

  constant->even = 1;
}

/* Adds a condition for E and O along @direction at @factor times the centre
 * frequency. */
static NdFitCondition *
add_value (const NdBand *band, NdFit *fit, const gdouble direction[ND_AXES],
    gdouble factor, gdouble even, gdouble odd)
{
  NdFitCondition *condition = add_condition (fit);

  for (guint a = 0; a < ND_AXES; a++)
    condition->u[a] = factor * band->center * direction[a];
  condition->even = even;
  condition->odd = odd;
  condition->value = (even + odd) * fit->ideal (condition->u, fit->data) / 2;
  return condition;
}

/* Radians per sample along @direction at the centre frequency. */
static gdouble
find_sampled_center (const NdBand *band, const gdouble direction[ND_AXES])
{
  gdouble squared = 0;

  for (guint a = 0; a < ND_AXES; a++)
    squared += pow (direction[a] / band->stretch[a], 2);
  return band->center * sqrt (squared);
}

/* Blocks the opposite frequencies up to half way to both ends of the band: even
 * and odd part must be equal there. */
static void
add_quadrature (const NdBand *band, NdFit *fit,
    const gdouble direction[ND_AXES])
{
  const gdouble center = find_sampled_center (band, direction);
  gdouble half = 0, softness;

  for (guint a = 0; a < ND_AXES; a++)
    half += fabs (direction[a]) * (band->size[a] / 2) * band->stretch[a];
  softness = QUADRATURE_SOFTNESS
      / pow (MAX (get_room (half, band->center, band->bandwidth), 1),
          QUADRATURE_POWER);
  softness = MAX (softness, FIRMEST_QUADRATURE);
  for (gint i = -QUADRATURE_POINTS; i <= QUADRATURE_POINTS; i++) {
    gdouble factor = exp2 (i * band->bandwidth / (4 * QUADRATURE_POINTS));

    if (i != 0 && factor * center < HIGHEST_END)
      add_value (band, fit, direction, factor, 1, -1)->softness = softness;
  }
}

void
nd_band_condition (const NdBand *band, NdFit *fit,
    const gdouble direction[ND_AXES])
{
  const gdouble center = find_sampled_center (band, direction);
  NdFitCondition *slope;

  /* If both parts are equal, the response is 0 at the opposite frequency. */
  add_value (band, fit, direction, 1, 1, 0)->softness = CENTER_SOFTNESS;
  add_value (band, fit, direction, 1, 0, 1)->softness = CENTER_SOFTNESS;
  for (gint end = -1; end <= 1; end += 2) {
    gdouble factor = exp2 (end * band->bandwidth / 2);

    if (factor * center < HIGHEST_END)
      add_value (band, fit, direction, factor, 1, 1)->softness = END_SOFTNESS;
  }
  add_quadrature (band, fit, direction);
  slope = add_value (band, fit, direction, 1, 1, 1);
  for (guint a = 0; a < ND_AXES; a++)
    slope->slope[a] = band->center * direction[a];
  slope->value = 0;
  /* A wide band is flat, so that a small slope moves its maximum far. */
  slope->softness = slope_softness[band->n] * pow (2 / band->bandwidth, 4);
}

void
nd_band_note (NdBank *bank, gdouble center, gdouble bandwidth)
{
  for (guint i = 0; bank && i < bank->n_filters; i++) {
    bank->filters[i]->center_frequency = center;
    bank->filters[i]->bandwidth = bandwidth;
  }
}

static NdFilter *
band_take (const gchar *design, const gsize size[ND_AXES], const NdFit *fit,
    const gdouble *coefficients, GError **error)
{
  NdFilter *filter = nd_design_new_filter (design, size, error);
  gsize count;

  if (!filter)
    return NULL;
  count = nd_filter_count (filter);
  for (gsize i = 0; i < count; i++)
    filter->coefficients[i] = coefficients[i];
  filter->fit_error = fit->error;
  filter->truncation_error = fit->truncation_error;
  return filter;
}

/* Refuses a localization so strong that cutting off the ideal filter would be
 * more accurate. */
static gboolean
check_localization (const NdFit *fit, const NdFitWeights *weights,
    GError **error)
{
  gdouble own = fit->error.varying, other = fit->truncation_error.varying;

  if (weights->localization <= DEFAULT_LOCALIZATION || own <= other)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "localization is %g, with which the error of the fit, %.3g, is above "
      "that of the ideal filter cut off at this size, %.3g; the default, %g, "
      "is always taken",
      weights->localization, own, other, DEFAULT_LOCALIZATION);
  return FALSE;
}

static gboolean
add_filters (const gchar *design, const gsize size[ND_AXES], NdFit *fit,
    gdouble sign, GPtrArray *filters, GError **error)
{
  gsize count = size[0] * size[1] * size[2] * size[3];
  NdFilter *filter;

  for (gsize i = 0; i < count && sign != 0; i++)
    fit->even[i] += sign * fit->odd[i];
  filter = band_take (design, size, fit, fit->even, error);
  if (!filter)
    return FALSE;
  g_ptr_array_add (filters, filter);
  if (sign != 0)
    return TRUE;
  filter = band_take (design, size, fit, fit->odd, error);
  if (filter)
    g_ptr_array_add (filters, filter);
  return filter != NULL;
}

/* An ideal response whose frequencies are per sample of the finest axis. */
typedef struct
{
  const NdBand *band;
  NdSpectrum ideal;
  gconstpointer data;
} Stretched;

static gdouble
respond_stretched (const gdouble u[ND_AXES], gconstpointer data)
{
  const Stretched *s = data;
  gdouble stretched[ND_AXES];

  for (guint a = 0; a < ND_AXES; a++)
    stretched[a] = u[a] * s->band->stretch[a];
  return s->ideal (stretched, s->data);
}

static void
stretch (const NdBand *band, NdFit *fit, Stretched *stretched)
{
  *stretched = (Stretched){ band, fit->ideal, fit->data };
  fit->ideal = respond_stretched;
  fit->data = stretched;
  for (guint i = 0; i < fit->n_conditions; i++) {
    for (guint a = 0; a < ND_AXES; a++) {
      fit->conditions[i].u[a] /= band->stretch[a];
      fit->conditions[i].slope[a] /= band->stretch[a];
    }
  }
}

NdBank *
nd_band_fit (const gchar *design, const NdBand *band, NdFit *fits, guint n,
    gdouble sign, GError **error)
{
  g_autoptr (GPtrArray) filters =
      g_ptr_array_new_with_free_func ((GDestroyNotify) nd_filter_free);
  g_autofree Stretched *stretched =
      nd_memory_new (n, sizeof (Stretched), error);
  NdBank *bank = NULL;
  gboolean ok;

  if (!stretched)
    return NULL;
  for (guint i = 0; i < n; i++)
    stretch (band, &fits[i], &stretched[i]);
  ok = nd_fit (fits, n, band->size, &band->weights, error);
  for (guint i = 0; i < n && ok; i++)
    ok = check_localization (&fits[i], &band->weights, error)
        && add_filters (design, band->size, &fits[i], sign, filters, error);
  if (ok) {
    bank = nd_bank_new (filters);
    bank->is_complex = sign == 0;
  }
  for (guint i = 0; i < n; i++) {
    g_free (fits[i].even);
    g_free (fits[i].odd);
  }
  return bank;
}
