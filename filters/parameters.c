/* The parameters of a design, stored as text and parsed when they are read.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/parameters.h"

#include "core/error.h"
#include "filters/units.h"

#include <math.h>
#include <string.h>

typedef struct
{
  gchar *name;
  gchar *text; /* numbers are separated by ':' */
} Parameter;

struct _NdParameters
{
  GPtrArray *list;
  const gint *cancelled;
};

static void
parameter_free (gpointer data)
{
  Parameter *parameter = data;

  g_free (parameter->name);
  g_free (parameter->text);
  g_free (parameter);
}

NdParameters *
nd_parameters_new (void)
{
  NdParameters *parameters = g_new0 (NdParameters, 1);

  parameters->list = g_ptr_array_new_with_free_func (parameter_free);
  return parameters;
}

void
nd_parameters_free (NdParameters *parameters)
{
  if (!parameters)
    return;
  g_ptr_array_unref (parameters->list);
  g_free (parameters);
}

void
nd_parameters_set_cancelled (NdParameters *parameters, const gint *cancelled)
{
  parameters->cancelled = cancelled;
}

const gint *
nd_parameters_get_cancelled (const NdParameters *parameters)
{
  return parameters->cancelled;
}

void
nd_parameters_set_text (NdParameters *parameters, const gchar *name,
    const gchar *text)
{
  Parameter *parameter = g_new0 (Parameter, 1);

  parameter->name = g_strdup (name);
  parameter->text = g_strdup (text);
  g_ptr_array_add (parameters->list, parameter);
}

void
nd_parameters_set_numbers (NdParameters *parameters, const gchar *name,
    const gdouble *numbers, gsize n)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (gsize i = 0; i < n; i++) {
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];

    if (i > 0)
      g_string_append_c (text, ':');
    g_string_append (text,
        g_ascii_dtostr (number, sizeof (number), numbers[i]));
  }
  nd_parameters_set_text (parameters, name, text->str);
}

static const Parameter *
parameters_find (const NdParameters *parameters, const gchar *name)
{
  for (guint i = 0; i < parameters->list->len; i++) {
    const Parameter *parameter = parameters->list->pdata[i];

    if (strcmp (parameter->name, name) == 0)
      return parameter;
  }
  return NULL;
}

gboolean
nd_parameters_has (const NdParameters *parameters, const gchar *name)
{
  return parameters_find (parameters, name) != NULL;
}

gboolean
nd_parameters_check (const NdParameters *parameters, const gchar *const *names,
    const gchar *const *common, GError **error)
{
  for (guint i = 0; i < parameters->list->len; i++) {
    const Parameter *parameter = parameters->list->pdata[i];

    if (!g_strv_contains (names, parameter->name)
        && !g_strv_contains (common, parameter->name)) {
      g_autofree gchar *known = g_strjoinv (", ", (gchar **) names);

      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "%s is not a parameter of this design; its parameters are %s",
          parameter->name, known);
      return FALSE;
    }
    if (parameters_find (parameters, parameter->name) != parameter) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "%s is given more than once; give it once", parameter->name);
      return FALSE;
    }
  }
  return TRUE;
}

/* Both lengths of psf have units, or neither has. */
static gboolean
check_psf (const NdParameters *parameters, GError **error)
{
  const gchar *wavelength = nd_parameters_get_text (parameters, "wavelength");
  const gchar *sampling = nd_parameters_get_text (parameters, "sampling");

  if (!wavelength || !sampling
      || nd_units_are_in (wavelength) == nd_units_are_in (sampling))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "wavelength is %.40s and sampling %.40s; give both with units, or both "
      "without",
      wavelength, sampling);
  return FALSE;
}

static void
add_sampling (NdParameters *parameters, const NdAxes *axes)
{
  gdouble sampling[ND_AXES];
  guint n = 0;

  for (guint i = 0; i < axes->n; i++) {
    if (axes->axis[i] != ND_AXIS_T && axes->step[axes->axis[i]] > 0)
      sampling[n++] = axes->step[axes->axis[i]];
  }
  if (n > 0)
    nd_parameters_set_numbers (parameters, "sampling", sampling, n);
}

NdParameters *
nd_parameters_resolve (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  g_autoptr (NdParameters) resolved = nd_parameters_new ();
  const gchar *wavelength = nd_parameters_get_text (parameters, "wavelength");

  if (!check_psf (parameters, error))
    return NULL;
  resolved->cancelled = parameters->cancelled;
  for (guint i = 0; i < parameters->list->len; i++) {
    const Parameter *parameter = parameters->list->pdata[i];
    g_autofree gchar *text =
        nd_units_resolve (parameter->name, parameter->text, axes, error);

    if (!text)
      return NULL;
    nd_parameters_set_text (resolved, parameter->name, text);
  }
  if (wavelength && nd_units_are_in (wavelength)
      && !nd_parameters_has (parameters, "sampling"))
    add_sampling (resolved, axes);
  return g_steal_pointer (&resolved);
}

gchar *
nd_parameters_to_string (const NdParameters *parameters)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < parameters->list->len; i++) {
    const Parameter *parameter = parameters->list->pdata[i];

    g_string_append_printf (text, "%s%s=%s", i > 0 ? "," : "", parameter->name,
        parameter->text);
  }
  return g_string_free (text, FALSE);
}

const gchar *
nd_parameters_get_text (const NdParameters *parameters, const gchar *name)
{
  const Parameter *parameter = parameters_find (parameters, name);

  return parameter ? parameter->text : NULL;
}

/* Numbers separated by ':', with optional spaces around them. */
static gdouble *
parameters_parse_numbers (const gchar *name, const gchar *text, gsize *n,
    GError **error)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (const gchar *rest = text;; rest++) {
    gchar *end;
    gdouble number = g_ascii_strtod (rest, &end);
    gboolean empty = end == rest;

    while (g_ascii_isspace (*end))
      end++;
    if (empty || (*end != ':' && *end != '\0')) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "%s=\"%.40s\" is not a number; it must be a number, or several "
          "numbers separated by ':'",
          name, text);
      return NULL;
    }
    if (!isfinite (number)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "%s has %.*s at index %u (counted from 0), but it must be a finite "
          "number",
          name, (int) MIN (end - rest, 40), rest, numbers->len);
      return NULL;
    }
    g_array_append_val (numbers, number);
    if (*end == '\0')
      break;
    rest = end;
  }
  *n = numbers->len;
  return (gdouble *) g_array_free (g_steal_pointer (&numbers), FALSE);
}

gdouble *
nd_parameters_get_numbers (const NdParameters *parameters, const gchar *name,
    gsize *n, GError **error)
{
  const gchar *text = nd_parameters_get_text (parameters, name);

  if (!text) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is missing; give a number, or several numbers separated by ':'",
        name);
    return NULL;
  }
  return parameters_parse_numbers (name, text, n, error);
}

gchar
nd_axis_letter (guint axis)
{
  return "xyzt"[axis];
}

gboolean
nd_axes_have (const NdAxes *axes, NdAxis axis)
{
  for (guint i = 0; i < axes->n; i++) {
    if (axes->axis[i] == axis)
      return TRUE;
  }
  return FALSE;
}

gchar *
nd_axes_to_string (const NdAxes *axes)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < axes->n; i++)
    g_string_append_printf (text, "%s%c", i > 0 ? ", " : "",
        nd_axis_letter (axes->axis[i]));
  return g_string_free (text, FALSE);
}

static gboolean
parameters_spread (const NdAxes *axes, const gchar *name,
    const gdouble *numbers, gsize n, gdouble rest, gdouble values[ND_AXES],
    GError **error)
{
  for (guint a = 0; a < ND_AXES; a++)
    values[a] = rest;

  if (n == ND_AXES) {
    for (guint a = 0; a < ND_AXES; a++) {
      if (numbers[a] != rest && !nd_axes_have (axes, a)) {
        g_autofree gchar *letters = nd_axes_to_string (axes);

        g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
            "%s is %g along %c, but the element filters along %s only; it must "
            "be %g there",
            name, numbers[a], nd_axis_letter (a), letters, rest);
        return FALSE;
      }
      values[a] = numbers[a];
    }
    return TRUE;
  }

  if (n > axes->n) {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s has %" G_GSIZE_FORMAT " values, but the element filters along %s; "
        "give one per axis, or a single one for all of them",
        name, n, letters);
    return FALSE;
  }
  for (guint i = 0; i < axes->n; i++)
    values[axes->axis[i]] = n == 1 ? numbers[0] : i < n ? numbers[i] : rest;
  for (guint a = 0; a < ND_AXES && n == 1; a++) {
    if (axes->single[a])
      values[a] = rest;
  }
  return TRUE;
}

gboolean
nd_axes_parse (const NdAxes *axes, const gchar *name, const gchar *text,
    gdouble rest, gdouble values[ND_AXES], GError **error)
{
  g_autofree gdouble *numbers = NULL;
  gsize n;

  numbers = parameters_parse_numbers (name, text, &n, error);
  return numbers
      && parameters_spread (axes, name, numbers, n, rest, values, error);
}

gboolean
nd_parameters_get_axes (const NdParameters *parameters, const gchar *name,
    const NdAxes *axes, gdouble rest, gdouble values[ND_AXES], GError **error)
{
  g_autofree gdouble *numbers = NULL;
  gsize n;

  numbers = nd_parameters_get_numbers (parameters, name, &n, error);
  return numbers
      && parameters_spread (axes, name, numbers, n, rest, values, error);
}

gboolean
nd_parameters_get_size (const NdParameters *parameters, const NdAxes *axes,
    gsize fallback, gsize size[ND_AXES], GError **error)
{
  gdouble values[ND_AXES];

  if (fallback > 0 && !nd_parameters_has (parameters, "size")) {
    for (guint a = 0; a < ND_AXES; a++)
      size[a] = nd_axes_have (axes, a) && !axes->single[a] ? fallback : 1;
    return TRUE;
  }
  if (!nd_parameters_get_axes (parameters, "size", axes, 1, values, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (values[a] < 1 || values[a] > ND_FILTER_MAX_COEFFICIENTS
        || values[a] != floor (values[a])) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "size is %g along %c, but it must be an integer from 1 to "
          "%" G_GSIZE_FORMAT "",
          values[a], nd_axis_letter (a), ND_FILTER_MAX_COEFFICIENTS);
      return FALSE;
    }
    size[a] = (gsize) values[a];
  }
  return TRUE;
}
