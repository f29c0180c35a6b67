/* The table of designs, and the checks that all designs share.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/design.h"

#include "core/error.h"
#include "core/fork.h"
#include "core/log.h"
#include "filters/band.h"
#include "filters/designs.h"
#include "filters/onesided.h"
#include "filters/units.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Thousands of samples along an axis are rarely meant. */
#define LARGE_SIZE 1000

/* Spacings that differ less count as equal. */
#define EQUAL_SPACING 1e-3

#define BAND "center-frequency", "bandwidth", "size", FIT
#define FIT "spectrum", "snr", "localization"

/* Each row has either design or bank. A bank without info has one complex
 * filter. */
static const struct
{
  const gchar *name;
  NdDesignFunction *design;
  NdBankFunction *bank;
  NdInfoFunction *info;
  const gchar *takes[10]; /* parameters, NULL at the end */
  gboolean fixed;         /* coefficients are given: no axis is left out */
  gboolean in_space;      /* takes derivatives, or has directions */
} designs[] = {
  { "gaussian", nd_design_gaussian, .takes = { "sigma", "size" } },
  { "box", nd_design_box, .takes = { "size" } },
  { "sphere", nd_design_sphere, .takes = { "radius", "size" } },
  { "ellipsoid", nd_design_ellipsoid, .takes = { "radius", "size" } },
  { "psf", nd_design_psf,
      .takes = { "model", "wavelength", "aperture", "sampling", "index", "size",
          "location", "background", "center" } },
  { "wiener", nd_design_wiener,
      .takes = { "sigma", "size", FIT, "location", "background", "center" } },
  { "laplace", nd_design_laplace, .takes = { "size", "connectivity" },
      .in_space = TRUE },
  { "log", nd_design_log, .takes = { "sigma", "size" }, .in_space = TRUE },
  { "dog", nd_design_dog, .takes = { "sigma", "ratio", "size" } },
  { "gaussian-derivative", nd_design_gaussian_derivative,
      .takes = { "order", "sigma", "size" }, .in_space = TRUE },
  { "sobel", nd_design_sobel, .takes = { "direction", "size" },
      .in_space = TRUE },
  { "scharr", nd_design_scharr, .takes = { "direction", "size" },
      .in_space = TRUE },
  { "gabor", .bank = nd_design_gabor,
      .takes = { "direction", "center-frequency", "bandwidth", "size" },
      .in_space = TRUE },
  { "quadrature", .bank = nd_design_quadrature, .takes = { "direction", BAND },
      .in_space = TRUE },
  { "quadrature-bank", .bank = nd_design_quadrature_bank,
      .info = nd_info_quadrature_bank, .takes = { BAND }, .in_space = TRUE },
  { "monomial", nd_design_monomial,
      .takes = { "order", "direction", "exponents", BAND }, .in_space = TRUE },
  { "monomial-bank", .bank = nd_design_monomial_bank,
      .info = nd_info_monomial_bank, .takes = { "order", BAND },
      .in_space = TRUE },
  { "riesz", nd_design_riesz, .takes = { "direction", BAND },
      .in_space = TRUE },
  { "motion", .bank = nd_design_motion, .takes = { "velocity", BAND },
      .in_space = TRUE },
  { "exponential", nd_design_exponential, .takes = { "tau", "size" } },
  { "gamma", nd_design_gamma, .takes = { "order", "tau", "size" } },
  { "causal-derivative", nd_design_causal_derivative,
      .takes = { "tau", "size" } },
  { "coefficients", nd_design_coefficients, .takes = { "size", "values" },
      .fixed = TRUE },
  { "file", .bank = nd_design_file, .info = nd_info_file,
      .takes = { "location", "size" }, .fixed = TRUE },
};

/* Parameters of every design: filters/onesided.h. */
static const gchar *const common[] = { "lag", "lag-snr", NULL };

#define DEFAULT_LAG_SNR 3
#define MAX_LAG_SNR 1e4

static const gchar *names[G_N_ELEMENTS (designs) + 1];

static void
list_names (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (designs); i++)
    names[i] = designs[i].name;
}

const gchar *const *
nd_design_names (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, list_names);
  return names;
}

gboolean
nd_design_check_name (const gchar *design, GError **error)
{
  g_autofree gchar *known = NULL;

  if (g_strv_contains (nd_design_names (), design))
    return TRUE;
  known = g_strjoinv (", ", (gchar **) nd_design_names ());
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "There is no filter design %s; the designs are %s", design, known);
  return FALSE;
}

static gsize
design_count_coefficients (const gsize size[ND_AXES])
{
  gsize count = 1;

  for (guint a = 0; a < ND_AXES; a++) {
    if (!g_size_checked_mul (&count, count, size[a]))
      return G_MAXSIZE;
  }
  return count;
}

gboolean
nd_design_check_size (const gsize size[ND_AXES], GError **error)
{
  if (design_count_coefficients (size) <= ND_FILTER_MAX_COEFFICIENTS)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "size is %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
      ":%" G_GSIZE_FORMAT ", which is more than the %" G_GSIZE_FORMAT
      " coefficients that a filter may have%s",
      size[0], size[1], size[2], size[3], ND_FILTER_MAX_COEFFICIENTS,
      MAX (MAX (size[0], size[1]), MAX (size[2], size[3])) >= LARGE_SIZE
          ? "; are these the units that you mean?"
          : "");
  return FALSE;
}

static NdFilter *
explain_missing (NdFilter *filter, const gsize size[ND_AXES], GError **error)
{
  gsize count = design_count_coefficients (size);

  if (!filter && nd_design_check_size (size, error))
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "not enough memory for %" G_GSIZE_FORMAT
        " coefficients (%" G_GSIZE_FORMAT " bytes); give a smaller size",
        count, count * sizeof (gdouble));
  return filter;
}

NdFilter *
nd_design_new_filter (const gchar *design, const gsize size[ND_AXES],
    GError **error)
{
  return explain_missing (nd_filter_new (design, size), size, error);
}

NdFilter *
nd_design_new_product (const gchar *design, const gsize size[ND_AXES],
    gdouble *const factors[ND_AXES], GError **error)
{
  return explain_missing (nd_filter_new_product (design, size, factors), size,
      error);
}

static gboolean
design_check (const NdFilter *filter, const NdAxes *axes, GError **error)
{
  gsize count = nd_filter_count (filter);

  for (guint a = 0; a < ND_AXES; a++) {
    if (filter->size[a] > 1 && !nd_axes_have (axes, a)) {
      g_autofree gchar *letters = nd_axes_to_string (axes);

      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "The filter has size %" G_GSIZE_FORMAT " along %c, but the element "
          "filters along %s only; it must be 1 there",
          filter->size[a], nd_axis_letter (a), letters);
      return FALSE;
    }
  }
  for (gsize i = 0; i < count; i++) {
    gsize at = i, position[ND_AXES];

    if (isfinite (filter->coefficients[i]))
      continue;
    for (guint a = 0; a < ND_AXES; a++) {
      position[a] = at % filter->size[a];
      at /= filter->size[a];
    }
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The coefficient at x:y:z:t = %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
        ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT " (counted from 0) is %g; it "
        "must be a finite number",
        position[0], position[1], position[2], position[3],
        filter->coefficients[i]);
    return FALSE;
  }
  return TRUE;
}

NdBank *
nd_bank_new_complex (NdFilter *real, NdFilter *imaginary)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdBank *bank;

  g_ptr_array_add (filters, real);
  g_ptr_array_add (filters, imaginary);
  bank = nd_bank_new (filters);
  bank->is_complex = TRUE;
  return bank;
}

static NdBank *
make_bank (guint i, const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (GPtrArray) filters = NULL;
  NdFilter *filter;

  if (designs[i].bank)
    return designs[i].bank (parameters, axes, error);
  filter = designs[i].design (parameters, axes, error);
  if (!filter)
    return NULL;
  filters = g_ptr_array_new ();
  g_ptr_array_add (filters, filter);
  return nd_bank_new (filters);
}

static gboolean
check_bank (const NdBank *bank, const NdAxes *axes, GError **error)
{
  for (guint i = 0; i < bank->n_filters; i++) {
    if (!design_check (bank->filters[i], axes, error))
      return FALSE;
  }
  return TRUE;
}

/* Finds the index of @design in the table. */
static gboolean
design_find (const gchar *design, guint *i, GError **error)
{
  for (*i = 0; *i < G_N_ELEMENTS (designs); (*i)++) {
    if (strcmp (design, designs[*i].name) == 0)
      return TRUE;
  }
  nd_design_check_name (design, error);
  return FALSE;
}

/* Parameters with values per axis; size is 1 along axes that the filter does
 * not use, the others are 0. */
static const gchar *const per_axis[] = { "size", "sigma", "radius", "direction",
  "order", "exponents", "velocity" };

/* Value number @i of @text; 0 if there is none. */
static gdouble
design_read_value (const gchar *text, guint i)
{
  while (i > 0 && (text = strchr (text, ':'))) {
    text++;
    i--;
  }
  return text ? g_ascii_strtod (text, NULL) : 0;
}

/* Whether @text says that a filter extends along @axis: by its letter, or by
 * the value for it of several. */
static gboolean
names_axis (const gchar *text, const NdAxes *axes, NdAxis axis, gboolean size)
{
  guint n = 1, i = 0;
  gdouble value;

  if (text[0] == nd_axis_letter (axis) && text[1] == '\0')
    return TRUE;
  for (const gchar *at = text; *at; at++)
    n += *at == ':';
  while (i < axes->n && axes->axis[i] != axis)
    i++;
  if (n == 1 || (n < ND_AXES && i == axes->n))
    return FALSE;
  value = design_read_value (text, n == ND_AXES ? (guint) axis : i);
  return value != 0 && !(size && value == 1);
}

/* The axes of one sample that design @i leaves out are single. The orders of a
 * bank are not along axes. */
static NdAxes
leave_out (guint i, const NdParameters *parameters, const NdAxes *axes)
{
  NdAxes used = *axes;

  for (guint a = 0; a < ND_AXES; a++)
    used.single[a] = axes->single[a] && !designs[i].fixed;
  for (guint p = 0; p < G_N_ELEMENTS (per_axis); p++) {
    const gchar *text = nd_parameters_get_text (parameters, per_axis[p]);

    if (!text || (designs[i].info && strcmp (per_axis[p], "order") == 0))
      continue;
    for (guint a = 0; a < ND_AXES; a++)
      used.single[a] = used.single[a] && !names_axis (text, axes, a, p == 0);
  }
  return used;
}

/* A cache of the last few fitted banks: a fit in 4D takes seconds, and an
 * element designs the same filter when it starts and when caps are set. */
#define KEPT 4

static GMutex kept_lock;
ND_HOLD_AT_FORK (kept_lock, 1)
static struct
{
  gchar *key;
  NdBank *bank;
} kept[KEPT];
static guint kept_next;

static NdBank *
design_find_kept (const gchar *key)
{
  NdBank *bank = NULL;

  g_mutex_lock (&kept_lock);
  for (guint i = 0; i < KEPT && !bank; i++) {
    if (g_strcmp0 (kept[i].key, key) == 0)
      bank = nd_bank_copy (kept[i].bank);
  }
  g_mutex_unlock (&kept_lock);
  return bank;
}

static void
design_keep (const gchar *key, const NdBank *bank)
{
  NdBank *copy = nd_bank_copy (bank);

  if (!copy)
    return;
  g_mutex_lock (&kept_lock);
  g_free (kept[kept_next].key);
  g_clear_pointer (&kept[kept_next].bank, nd_bank_free);
  kept[kept_next].key = g_strdup (key);
  kept[kept_next].bank = copy;
  kept_next = (kept_next + 1) % KEPT;
  g_mutex_unlock (&kept_lock);
}

/* Makes @bank one-sided if the parameter lag is given. */
static gboolean
minimize_lag (NdBank *bank, const NdParameters *parameters, GError **error)
{
  gdouble lag, snr;

  if (!nd_parameters_get_number (parameters, "lag", -1, &lag, error)
      || !nd_parameters_get_number (parameters, "lag-snr", DEFAULT_LAG_SNR,
          &snr, error))
    return FALSE;
  if (!nd_parameters_has (parameters, "lag")) {
    if (!nd_parameters_has (parameters, "lag-snr"))
      return TRUE;
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "lag-snr is given without lag; give both");
  } else if (!(lag >= 0 && lag <= ND_LAG_MAX_SIZE)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "lag is %g; it must be from 0 to %d volumes", lag, ND_LAG_MAX_SIZE);
  } else if (!(snr > 0 && snr <= MAX_LAG_SNR)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "lag-snr is %g; it must be above 0, and at most %g", snr, MAX_LAG_SNR);
  } else {
    return nd_bank_minimize_lag (bank, lag, snr,
        nd_parameters_get_cancelled (parameters), error);
  }
  return FALSE;
}

static void
log_bank (const gchar *text, const NdBank *bank, gint64 begin)
{
  const gsize *size = bank->filters[0]->size;

  ND_INFO ("%s: %u filters of size %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
           ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT " designed in %.3f ms",
      text, bank->n_filters, size[0], size[1], size[2], size[3],
      (g_get_monotonic_time () - begin) * 1e-3);
}

/* make_bank() with the cache. Only fitted banks are kept, and not those of
 * files, which can change. */
static NdBank *
make_or_copy_bank (guint i, const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autofree gchar *text = nd_parameters_to_string (parameters);
  g_autofree gchar *letters = nd_axes_to_string (axes);
  g_autoptr (GString) key = g_string_new (NULL);
  const gint64 begin = g_get_monotonic_time ();
  NdBank *bank;

  g_string_printf (key, "%s,%s over %s", designs[i].name, text, letters);
  for (guint a = 0; a < ND_AXES; a++) {
    if (axes->single[a])
      g_string_append_printf (key, " without %c", nd_axis_letter (a));
    if (axes->scale[a] != 0)
      g_string_append_printf (key, " %c%a", nd_axis_letter (a), axes->scale[a]);
  }
  bank = design_find_kept (key->str);
  if (bank) {
    ND_DEBUG ("%s: designed before", key->str);
    return bank;
  }
  bank = make_bank (i, parameters, axes, error);
  if (bank && !minimize_lag (bank, parameters, error))
    g_clear_pointer (&bank, nd_bank_free);
  if (bank && !isnan (bank->filters[0]->fit_error.total)
      && !nd_parameters_has (parameters, "location"))
    design_keep (key->str, bank);
  if (bank)
    log_bank (key->str, bank, begin);
  return bank;
}

NdBank *
nd_design (const gchar *design, NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdParameters) resolved = NULL;
  g_autoptr (NdBank) bank = NULL;
  NdAxes used;
  guint i;

  if (!design_find (design, &i, error))
    return NULL;
  used = leave_out (i, parameters, axes);
  nd_units_set_scale (parameters, &used);
  if (!nd_set_error_if_cancelled (nd_parameters_get_cancelled (parameters),
          error)
      && nd_parameters_check (parameters, designs[i].takes, common, error)
      && (resolved = nd_parameters_resolve (parameters, &used, error)))
    bank = make_or_copy_bank (i, resolved, &used, error);
  if (!bank || !check_bank (bank, axes, error)) {
    g_prefix_error (error, "%s: ", bank ? bank->filters[0]->name : design);
    return NULL;
  }
  return g_steal_pointer (&bank);
}

gboolean
nd_design_info (const gchar *design, NdParameters *parameters,
    const NdAxes *axes, NdBankInfo *info, GError **error)
{
  g_autoptr (NdParameters) resolved = NULL;
  NdAxes known;
  guint i;

  if (!design_find (design, &i, error))
    return FALSE;
  known = leave_out (i, parameters, axes);
  *info = (NdBankInfo){ 1, designs[i].bank != NULL };
  /* The number of responses depends on the axes that have a size above 1, so
   * that any step will do if the caps are not known yet. */
  for (guint a = 0; a < ND_AXES; a++) {
    if (!(known.step[a] > 0))
      known.step[a] = 1e-3;
  }
  nd_units_set_scale (parameters, &known);
  if (nd_parameters_check (parameters, designs[i].takes, common, error)
      && (!designs[i].info
          || ((resolved = nd_parameters_resolve (parameters, &known, error))
              && designs[i].info (resolved, &known, info, error))))
    return TRUE;
  g_prefix_error (error, "%s: ", design);
  return FALSE;
}

gchar *
nd_design_find_warning (const gchar *design, const NdParameters *parameters,
    const NdAxes *axes)
{
  const gdouble finest = nd_units_finest_step (axes);
  NdAxes used;
  guint i;

  if (!design_find (design, &i, NULL) || !designs[i].in_space)
    return NULL;
  used = leave_out (i, parameters, axes);
  nd_units_set_scale (parameters, &used);
  for (guint j = 0; j < used.n; j++) {
    const NdAxis axis = used.axis[j];

    if (axis != ND_AXIS_T && !used.single[axis] && used.scale[axis] == 0
        && used.step[axis] > (1 + EQUAL_SPACING) * finest)
      return g_strdup_printf ("%s: the spacing is %g mm along %c and %g mm "
                              "along another axis, but sizes are in samples; "
                              "give them with units, as size=3mm or sigma=1mm, "
                              "for derivatives and directions in space",
          design, used.step[axis], nd_axis_letter (axis), finest);
  }
  return NULL;
}

gboolean
nd_filter_set_origin (NdFilter *filter, const gchar *text, const NdAxes *axes,
    GError **error)
{
  gdouble values[ND_AXES];

  if (!nd_axes_parse (axes, "origin", text, 0, values, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    const gint size = (gint) filter->size[a], own = filter->origin[a];
    const gint lowest = -(size / 2) - own, highest = (size - 1) / 2 - own;

    if (values[a] < lowest || values[a] > highest
        || values[a] != floor (values[a])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "origin is %g along %c; it must be an integer from %d to %d for the "
          "filter %s of size %d",
          values[a], nd_axis_letter (a), lowest, highest, filter->name, size);
      return FALSE;
    }
  }
  for (guint a = 0; a < ND_AXES; a++)
    filter->origin[a] += (gint) values[a];
  return TRUE;
}

void
nd_filter_set_causal (NdFilter *filter)
{
  filter->origin[ND_AXIS_T] = -(gint) (filter->size[ND_AXIS_T] / 2);
}
