/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/units.h"

#include "core/error.h"
#include "filters/parameters.h"

#include <math.h>
#include <string.h>

static const struct
{
  const gchar *name;
  NdDimension dimension;
  gdouble factor; /* to mm or s */
} units[] = {
  { "mm", { 1, 0 }, 1 },
  { "cm", { 1, 0 }, 10 },
  { "um", { 1, 0 }, 1e-3 },
  { "\302\265m", { 1, 0 }, 1e-3 }, /* micro sign */
  { "\316\274m", { 1, 0 }, 1e-3 }, /* Greek mu */
  { "nm", { 1, 0 }, 1e-6 },
  { "ms", { 0, 1 }, 1e-3 },
  { "us", { 0, 1 }, 1e-6 },
  { "\302\265s", { 0, 1 }, 1e-6 },
  { "\316\274s", { 0, 1 }, 1e-6 },
  { "ns", { 0, 1 }, 1e-9 },
  { "m", { 1, 0 }, 1e3 },
  { "s", { 0, 1 }, 1 },
};

static gboolean
ends_word (gchar c)
{
  return !g_ascii_isalnum (c) && !((guchar) c & 0x80);
}

/* Reads the name of a unit; @sign is -1 after a '/'. */
static gboolean
read_unit (const gchar **at, gint sign, gdouble *value, NdDimension *dimension)
{
  for (guint i = 0; i < G_N_ELEMENTS (units); i++) {
    const gsize length = strlen (units[i].name);

    if (strncmp (*at, units[i].name, length) != 0 || !ends_word ((*at)[length]))
      continue;
    *value *= sign > 0 ? units[i].factor : 1 / units[i].factor;
    dimension->length += sign * units[i].dimension.length;
    dimension->time += sign * units[i].dimension.time;
    *at += length;
    return TRUE;
  }
  return FALSE;
}

gboolean
nd_units_parse (const gchar *text, gdouble *value, NdDimension *dimension,
    const gchar **end)
{
  gchar *after;
  const gchar *at;

  *dimension = (NdDimension){ 0, 0 };
  *value = g_ascii_strtod (text, &after);
  if (after == text)
    return FALSE;
  *end = at = after;
  if (g_str_has_prefix (at, "cycles/"))
    at += strlen ("cycles");
  else
    read_unit (&at, 1, value, dimension);
  if (*at != '/' || (at++, read_unit (&at, -1, value, dimension)))
    *end = at;
  return TRUE;
}

static gboolean
has_unit (NdDimension dimension)
{
  return dimension.length != 0 || dimension.time != 0;
}

gboolean
nd_units_parse_spacing (const gchar *text, gdouble spacing[3])
{
  for (guint a = 0; a < 3; a++) {
    NdDimension dimension;

    if (!nd_units_parse (text, &spacing[a], &dimension, &text)
        || dimension.time != 0
        || (dimension.length != 1 && has_unit (dimension)) || !(spacing[a] > 0)
        || !isfinite (spacing[a]))
      return FALSE;
    if (*text == '\0') {
      while (++a < 3)
        spacing[a] = spacing[a - 1];
      return TRUE;
    }
    if (*text++ != ':')
      return FALSE;
  }
  return FALSE;
}

gboolean
nd_units_are_in (const gchar *text)
{
  for (const gchar *at = text; at && *at; at++) {
    const gchar *end;
    NdDimension dimension;
    gdouble value;

    /* A number begins a value, not a word as in a file's name. */
    if (at > text && !strchr ("=:<{,\"() ", at[-1]))
      continue;
    if ((g_ascii_isdigit (*at) || strchr ("+-.", *at))
        && nd_units_parse (at, &value, &dimension, &end) && has_unit (dimension)
        && (*end == '\0' || strchr (":>},;\" ", *end)))
      return TRUE;
  }
  return FALSE;
}

typedef enum
{
  QUANTITY_EXTENT, /* per axis: a length, along t a time */
  QUANTITY_SIZE,
  QUANTITY_TIME,
  QUANTITY_VELOCITY,
  QUANTITY_FREQUENCY,
  QUANTITY_LENGTH /* in mm, not in samples */
} Quantity;

static const struct
{
  const gchar *name;
  Quantity quantity;
} quantities[] = {
  { "sigma", QUANTITY_EXTENT },
  { "radius", QUANTITY_EXTENT },
  { "size", QUANTITY_SIZE },
  { "tau", QUANTITY_TIME },
  { "lag", QUANTITY_TIME },
  { "velocity", QUANTITY_VELOCITY },
  { "center-frequency", QUANTITY_FREQUENCY },
  { "wavelength", QUANTITY_LENGTH },
  { "sampling", QUANTITY_LENGTH },
};

/* The state of one conversion, for messages. */
typedef struct
{
  const gchar *name;
  const gchar *text;
  const NdAxes *axes;
} Value;

static gboolean
refuse_unit (const Value *value, const gchar *must, GError **error)
{
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s is %.60s; it must be %s, or a number without a unit", value->name,
      value->text, must);
  return FALSE;
}

static gboolean
get_step (const Value *value, NdAxis axis, gdouble *step, GError **error)
{
  *step = value->axes->step[axis];
  if (*step > 0 && isfinite (*step))
    return TRUE;
  if (axis == ND_AXIS_T)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is %.60s, but the rate of the volumes is unknown; give it without "
        "a unit, in volumes",
        value->name, value->text);
  else
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is %.60s, but the spacing of the samples along %c is unknown; give "
        "it without a unit, in samples",
        value->name, value->text, nd_axis_letter (axis));
  return FALSE;
}

gdouble
nd_units_finest_step (const NdAxes *axes)
{
  gdouble finest = 0;

  for (guint i = 0; i < axes->n; i++) {
    const NdAxis axis = axes->axis[i];
    const gdouble step = axes->step[axis];

    if (axis != ND_AXIS_T && !axes->single[axis] && step > 0
        && (finest == 0 || step < finest))
      finest = step;
  }
  return finest;
}

/* The step of the finest axis in space; that of all axes must be known. */
static gboolean
get_finest_step (const Value *value, gdouble *step, GError **error)
{
  for (guint i = 0; i < value->axes->n; i++) {
    const NdAxis axis = value->axes->axis[i];

    if (axis != ND_AXIS_T && !value->axes->single[axis]
        && !get_step (value, axis, step, error))
      return FALSE;
  }
  *step = nd_units_finest_step (value->axes);
  return TRUE;
}

static gdouble
odd_size (gdouble samples)
{
  return 2 * MAX (floor (samples / 2), 0) + 1;
}

/* A value along @axis: a length, or a time along t. */
static gboolean
convert_extent (const Value *value, Quantity quantity, NdAxis axis,
    NdDimension dimension, gdouble *number, GError **error)
{
  gdouble step;

  if (!has_unit (dimension))
    return TRUE;
  if (dimension.length != (axis != ND_AXIS_T)
      || dimension.time != (axis == ND_AXIS_T))
    return refuse_unit (value,
        "a length along x, y and z, as 0.6mm, and a time along t, as 80ms",
        error);
  if (!get_step (value, axis, &step, error))
    return FALSE;
  *number /= step;
  if (quantity == QUANTITY_SIZE)
    *number = odd_size (*number);
  return TRUE;
}

/* The axis of value @i of @n, by the rule of NdAxes; velocities skip t. */
static NdAxis
axis_of (const Value *value, Quantity quantity, guint i, guint n)
{
  guint at = 0;

  if (quantity != QUANTITY_VELOCITY)
    return n == ND_AXES || i >= value->axes->n ? (NdAxis) i
                                               : value->axes->axis[i];
  for (guint a = 0; a < value->axes->n; a++) {
    if (value->axes->axis[a] != ND_AXIS_T && at++ == i)
      return value->axes->axis[a];
  }
  return ND_AXIS_X;
}

static gboolean
convert_velocity (const Value *value, NdAxis axis, NdDimension dimension,
    gdouble *number, GError **error)
{
  gdouble step, period;

  if (!has_unit (dimension))
    return TRUE;
  if (dimension.length != 1 || dimension.time != -1)
    return refuse_unit (value, "lengths per time, as 12mm/s", error);
  if (!get_step (value, axis, &step, error)
      || !get_step (value, ND_AXIS_T, &period, error))
    return FALSE;
  *number *= period / step;
  return TRUE;
}

static gboolean
units_convert (const Value *value, Quantity quantity, NdAxis axis,
    NdDimension dimension, gdouble *number, GError **error)
{
  gdouble step;

  switch (quantity) {
    case QUANTITY_EXTENT:
    case QUANTITY_SIZE:
      return convert_extent (value, quantity, axis, dimension, number, error);
    case QUANTITY_VELOCITY:
      return convert_velocity (value, axis, dimension, number, error);
    case QUANTITY_TIME:
      if (!has_unit (dimension))
        return TRUE;
      if (dimension.length != 0 || dimension.time != 1)
        return refuse_unit (value, "a time, as 80ms", error);
      if (!get_step (value, ND_AXIS_T, &step, error))
        return FALSE;
      *number /= step;
      return TRUE;
    case QUANTITY_FREQUENCY:
      if (!has_unit (dimension))
        return TRUE;
      if (dimension.length != -1 || dimension.time != 0)
        return refuse_unit (value, "cycles per length, as 0.4cycles/mm", error);
      if (!get_finest_step (value, &step, error))
        return FALSE;
      *number *= 2 * G_PI * step;
      return TRUE;
    case QUANTITY_LENGTH:
      return !has_unit (dimension)
          || (dimension.length == 1 && dimension.time == 0)
          || refuse_unit (value, "a length, as 520nm", error);
  }
  g_return_val_if_reached (FALSE);
}

/* The units that @text names first, if *@length and *@time are not known. */
static void
find_units (const gchar *text, gdouble *length, gdouble *time)
{
  for (const gchar *at = text; *at; at++) {
    const gboolean begins = at > text
        && (g_ascii_isdigit (at[-1]) || at[-1] == '.' || at[-1] == '/');

    for (guint i = 0; i < G_N_ELEMENTS (units) && begins; i++) {
      const gsize n = strlen (units[i].name);
      gdouble *unit = units[i].dimension.length ? length : time;

      if (strncmp (at, units[i].name, n) == 0 && ends_word (at[n])
          && *unit == 0)
        *unit = units[i].factor;
    }
  }
}

void
nd_units_set_scale (const NdParameters *parameters, NdAxes *axes)
{
  gdouble length = 0, time = 0;
  const gchar *frequency;
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (quantities); i++) {
    const gchar *text = nd_parameters_get_text (parameters, quantities[i].name);

    /* wavelength and sampling are no sizes of the filter, nor is lag. */
    if (!text || quantities[i].quantity == QUANTITY_LENGTH
        || strcmp (quantities[i].name, "lag") == 0 || !nd_units_are_in (text))
      continue;
    any = TRUE;
    find_units (text, &length, &time);
  }
  frequency = nd_parameters_get_text (parameters, "center-frequency");
  axes->physical_frequency = frequency && nd_units_are_in (frequency);
  for (guint a = 0; a < ND_AXES; a++) {
    const gdouble unit = a == ND_AXIS_T ? time : length;

    axes->scale[a] = any ? NAN : 0;
    if (any && axes->step[a] > 0)
      axes->scale[a] = axes->step[a] / (unit > 0 ? unit : 1);
  }
}

gboolean
nd_units_get_scale (const NdAxes *axes, NdAxis axis, gdouble *scale,
    GError **error)
{
  *scale = axes->scale[axis] == 0 ? 1 : axes->scale[axis];
  if (!isnan (*scale))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "a parameter has a unit, but the %s is unknown; give all parameters "
      "without units, in samples",
      axis == ND_AXIS_T ? "rate of the volumes" : "spacing of the samples");
  return FALSE;
}

static void
units_append_number (GString *text, gdouble number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (text->len > 0)
    g_string_append_c (text, ':');
  g_string_append (text, g_ascii_dtostr (digits, sizeof (digits), number));
}

/* One length for all axes in space, or one time for t; axes of one sample are
 * left out. */
static gchar *
spread_extent (const Value *value, Quantity quantity, NdDimension dimension,
    gdouble number, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < value->axes->n; i++) {
    const NdAxis axis = value->axes->axis[i];
    gdouble converted = number;

    if ((axis == ND_AXIS_T) != (dimension.time != 0)
        || value->axes->single[axis])
      converted = quantity == QUANTITY_SIZE ? 1 : 0;
    else if (!convert_extent (value, quantity, axis, dimension, &converted,
                 error))
      return NULL;
    units_append_number (text, converted);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gchar *
nd_units_resolve (const gchar *name, const gchar *text, const NdAxes *axes,
    GError **error)
{
  const Value value = { name, text, axes };
  g_autoptr (GString) resolved = g_string_new (NULL);
  guint q = 0, n = 1;

  while (q < G_N_ELEMENTS (quantities)
      && strcmp (quantities[q].name, name) != 0)
    q++;
  if (q == G_N_ELEMENTS (quantities) || !nd_units_are_in (text))
    return g_strdup (text);
  for (const gchar *at = text; *at; at++)
    n += *at == ':';
  if (n > ND_AXES) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "%s is %.60s; it must be at most %d numbers, one for each axis", name,
        text, ND_AXES);
    return NULL;
  }
  for (guint i = 0; i < n; i++) {
    const Quantity quantity = quantities[q].quantity;
    NdDimension dimension;
    const gchar *end = text;
    gdouble number;

    while (g_ascii_isspace (*text))
      text++;
    if (nd_units_parse (text, &number, &dimension, &end))
      while (g_ascii_isspace (*end))
        end++;
    if (end == text || (*end != ':' && *end != '\0') || !isfinite (number)) {
      refuse_unit (&value, "numbers with units as 0.6mm, 80ms or 12mm/s",
          error);
      return NULL;
    }
    if (n == 1 && quantity <= QUANTITY_SIZE && has_unit (dimension)
        && ABS (dimension.length) + ABS (dimension.time) == 1
        && dimension.length >= 0 && dimension.time >= 0)
      return spread_extent (&value, quantity, dimension, number, error);
    if (!units_convert (&value, quantity, axis_of (&value, quantity, i, n),
            dimension, &number, error))
      return NULL;
    units_append_number (resolved, number);
    text = end + 1;
  }
  return g_string_free (g_steal_pointer (&resolved), FALSE);
}
