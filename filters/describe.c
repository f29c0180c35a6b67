/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/describe.h"

#include "filters/characteristics.h"
#include "filters/parameters.h"

#include <math.h>

/* Frequencies from 0 to pi. */
#define FREQUENCIES 129

typedef struct
{
  const NdFilter *real, *imaginary;
} Pair;

static Pair
get_pair (const NdBank *bank, guint response)
{
  Pair pair;

  nd_bank_get_filter (bank, response, &pair.real, &pair.imaginary);
  return pair;
}

static const gchar *
symmetry (const NdFilter *filter)
{
  static const gchar *const names[] = { [ND_SYMMETRY_NONE] = "none",
    [ND_SYMMETRY_EVEN] = "even, f[-x] = f[x]",
    [ND_SYMMETRY_ODD] = "odd, f[-x] = -f[x]" };

  return names[nd_filter_symmetry (filter)];
}

static void
print_sizes (GString *s, const gchar *name, const gsize size[ND_AXES])
{
  g_string_append_printf (s,
      "%s%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
      ":%" G_GSIZE_FORMAT,
      name, size[0], size[1], size[2], size[3]);
}

static void
print_rank (GString *s, Pair pair)
{
  gsize rank[ND_AXES];
  gboolean separable = TRUE;

  if (!nd_filter_rank (pair.real, pair.imaginary, rank)) {
    g_string_append_printf (s,
        "\nrank        not computed: too little memory, or coefficients times "
        "the sum of the sizes above %g\n",
        ND_RANK_MAX_PRODUCTS);
    return;
  }
  print_sizes (s, "\nrank        ", rank);
  for (guint a = 0; a < ND_AXES; a++)
    separable = separable && rank[a] <= 1;
  g_string_append_printf (s, "%s\n",
      separable ? ", separable" : ", not separable");
}

/* Prints the band if the filter is a band-pass filter or was designed as
 * one. */
static void
print_band (GString *s, Pair pair, const gdouble u[ND_AXES], gdouble gain)
{
  gdouble low, high;
  gboolean asked = !isnan (pair.real->center_frequency);

  if (nd_filter_band (pair.real, pair.imaginary, u, gain, &low, &high)) {
    g_string_append_printf (s,
        "band        %.4g to %.4g radians per sample at half the gain: "
        "about %.4g,\n            %.3g octaves",
        low, high, sqrt (low * high), log2 (high / low));
  } else if (asked) {
    g_string_append_printf (s,
        "band        does not fall to half the gain on both sides");
  } else {
    return;
  }
  if (asked)
    g_string_append_printf (s, "; asked for %.4g, %.3g",
        pair.real->center_frequency, pair.real->bandwidth);
  g_string_append_printf (s, "\n");
}

static void
print_errors (GString *s, const NdFilter *filter)
{
  if (isnan (filter->fit_error.total))
    g_string_append_printf (s, "fit error   none: not fitted\n");
  else
    g_string_append_printf (s,
        "fit error   %.4g; of the ideal filter cut off at this size "
        "%.4g;\n            but for the mean of the input %.4g; %.4g\n",
        filter->fit_error.total, filter->truncation_error.total,
        filter->fit_error.varying, filter->truncation_error.varying);
}

/* Prints one number for each axis with a size above 1, as "x 2, y 2". */
static void
print_per_axis (GString *s, const gchar *name, const gsize size[ND_AXES],
    const gdouble numbers[ND_AXES], const gchar *unit)
{
  const gchar *before = "";

  g_string_append_printf (s, "%s", name);
  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1)
      continue;
    g_string_append_printf (s, "%s%c ", before, nd_axis_letter (a));
    if (isnan (numbers[a]))
      g_string_append_printf (s, "none");
    else
      g_string_append_printf (s, "%.4g", numbers[a]);
    before = ", ";
  }
  g_string_append_printf (s, "%s", unit);
}

/* Prints lengths in mm and times in ms, for axes with a known step. */
static void
print_physical (GString *s, const gsize size[ND_AXES],
    const gdouble samples[ND_AXES], const NdAxes *axes)
{
  const gchar *before = "; ";

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1 || !(axes->step[a] > 0) || isnan (samples[a]))
      continue;
    if (a == ND_AXIS_T)
      g_string_append_printf (s, "%st %.4g ms", before,
          samples[a] * axes->step[a] * 1e3);
    else
      g_string_append_printf (s, "%s%c %.4g mm", before, nd_axis_letter (a),
          samples[a] * axes->step[a]);
    before = ", ";
  }
  g_string_append_printf (s, "\n");
}

/* The same for frequencies: cycles per mm, and Hz along t. */
static void
print_physical_frequency (GString *s, const gsize size[ND_AXES],
    const gdouble u[ND_AXES], const NdAxes *axes)
{
  const gchar *before = "; ";

  for (guint a = 0; a < ND_AXES; a++) {
    if (size[a] == 1 || !(axes->step[a] > 0) || isnan (u[a]))
      continue;
    g_string_append_printf (s, "%s%c %.4g %s", before, nd_axis_letter (a),
        u[a] / (2 * G_PI * axes->step[a]), a == ND_AXIS_T ? "Hz" : "cycles/mm");
    before = ", ";
  }
  g_string_append_printf (s, "\n");
}

/* The size, if a step is known. */
static void
print_extent (GString *s, const NdFilter *filter, const NdAxes *axes)
{
  gdouble size[ND_AXES];
  gboolean any = FALSE;

  for (guint a = 0; a < ND_AXES; a++) {
    size[a] = (gdouble) filter->size[a];
    any = any || (filter->size[a] > 1 && axes->step[a] > 0);
  }
  if (!any)
    return;
  print_per_axis (s, "extent      ", filter->size, size, " samples");
  print_physical (s, filter->size, size, axes);
}

/* Standard deviation and cut-off of a low-pass filter, whose coefficients are
 * not below 0. */
static void
print_low_pass (GString *s, Pair pair, const NdAxes *axes)
{
  const gsize *size = pair.real->size;
  gdouble sigma[ND_AXES], cutoff[ND_AXES];

  if (pair.imaginary || nd_filter_count (pair.real) == 1
      || !nd_filter_sigma (pair.real, sigma))
    return;
  print_per_axis (s, "sigma       ", size, sigma, " samples");
  print_physical (s, size, sigma, axes);
  if (!nd_filter_cutoff (pair.real, pair.imaginary, cutoff))
    return;
  print_per_axis (s, "cut-off     ", size, cutoff,
      " radians per sample at half the sum");
  print_physical_frequency (s, size, cutoff, axes);
}

/* The volumes that the filter waits for, and how late a causal one responds. */
static void
print_delay (GString *s, Pair pair, const NdAxes *axes)
{
  const gdouble lag = nd_filter_lag (pair.real, pair.imaginary);
  gdouble lags[ND_AXES] = { 0, 0, 0, lag };
  gint low[ND_AXES], high[ND_AXES];

  if (pair.real->size[ND_AXIS_T] == 1)
    return;
  nd_filter_reach (pair.real, low, high);
  if (high[ND_AXIS_T] > 0)
    g_string_append_printf (s, "delay       %d volumes; 0 if causal\n",
        high[ND_AXIS_T]);
  else
    g_string_append_printf (s, "delay       0 volumes\n");
  g_string_append_printf (s, "lag         %.4g volumes if causal", lag);
  print_physical (s, (const gsize[ND_AXES]){ 1, 1, 1, 2 }, lags, axes);
}

static void
describe_describe (GString *s, Pair pair, const NdAxes *axes)
{
  gdouble u[ND_AXES], gain;

  print_sizes (s, "size        ", pair.real->size);
  g_string_append_printf (s,
      " (x:y:z:t), %" G_GSIZE_FORMAT " %s coefficients\n",
      nd_filter_count (pair.real), pair.imaginary ? "complex" : "real");
  print_extent (s, pair.real, axes);
  g_string_append_printf (s, "sum         %.6g", nd_filter_sum (pair.real));
  if (pair.imaginary)
    g_string_append_printf (s, " %+.6gi", nd_filter_sum (pair.imaginary));
  print_rank (s, pair);
  g_string_append_printf (s, "symmetry    %s%s",
      pair.imaginary ? "real part " : "", symmetry (pair.real));
  if (pair.imaginary)
    g_string_append_printf (s, "; imaginary part %s",
        symmetry (pair.imaginary));
  gain = nd_filter_gain (pair.real, pair.imaginary, u);
  if (isnan (gain)) {
    g_string_append_printf (s,
        "\ngain        not computed: too little memory\n");
  } else {
    g_string_append_printf (s,
        "\ngain        %.4g at (%.3f, %.3f, %.3f, %.3f) radians per sample",
        gain, u[0], u[1], u[2], u[3]);
    print_physical_frequency (s, pair.real->size, u, axes);
    print_band (s, pair, u, gain);
    print_low_pass (s, pair, axes);
  }
  print_delay (s, pair, axes);
  print_errors (s, pair.real);
}

gchar *
nd_bank_describe (const NdBank *bank, const NdAxes *axes)
{
  GString *s = g_string_new (NULL);

  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    Pair pair = get_pair (bank, i);

    if (nd_bank_responses (bank) > 1)
      g_string_append_printf (s, "%sresponse    %u\n", i ? "\n" : "", i);
    g_string_append_printf (s, "filter      %s\n", pair.real->name);
    describe_describe (s, pair, axes);
  }
  return g_string_free (s, FALSE);
}

static void
print_frequency (GString *s, const Pair pair, guint response, NdAxis axis,
    gdouble step, gdouble frequency)
{
  gdouble u[ND_AXES] = { 0 }, re, im;

  u[axis] = frequency;
  nd_filter_response (pair.real, pair.imaginary, u, &re, &im);
  g_string_append_printf (s, "%u,%c,%.6g,", response, nd_axis_letter (axis),
      frequency);
  if (step > 0)
    g_string_append_printf (s, "%.6g", frequency / (2 * G_PI * step));
  g_string_append_printf (s, ",%.6g,%.6g,%.6g\n", re, im, hypot (re, im));
}

gchar *
nd_bank_response (const NdBank *bank, const NdAxes *axes)
{
  GString *s = g_string_new (
      "response,axis,radians per sample,cycles per mm or Hz,real,imaginary,"
      "magnitude\n");
  for (guint i = 0; i < nd_bank_responses (bank); i++) {
    const Pair pair = get_pair (bank, i);

    for (guint a = 0; a < ND_AXES; a++) {
      for (guint f = 0; f < FREQUENCIES && pair.real->size[a] > 1; f++)
        print_frequency (s, pair, i, a, axes->step[a],
            G_PI * f / (FREQUENCIES - 1));
    }
  }
  return g_string_free (s, FALSE);
}
