/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/directions.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

/* Directions before they are scaled to length 1. Those of the icosahedron are
 * (2, 0, 1 + sqrt 5) and its permutations; those of the 24-cell are all sums
 * and differences of two axes. */
#define LONG 3.23606797749978969641

static const gdouble line[1][ND_AXES] = { { 1 } };
static const gdouble plane[4][ND_AXES] = { { 1, 0 }, { 1, 1 }, { 0, 1 },
  { -1, 1 } };

static const gdouble icosahedron[6][ND_AXES] = { { 2, 0, LONG },
  { -2, 0, LONG }, { LONG, 2, 0 }, { LONG, -2, 0 }, { 0, LONG, 2 },
  { 0, LONG, -2 } };

static const gdouble cell_24[12][ND_AXES] = { { 1, 1, 0, 0 }, { 1, -1, 0, 0 },
  { 1, 0, 1, 0 }, { 1, 0, -1, 0 }, { 1, 0, 0, 1 }, { 1, 0, 0, -1 },
  { 0, 1, 1, 0 }, { 0, 1, -1, 0 }, { 0, 1, 0, 1 }, { 0, 1, 0, -1 },
  { 0, 0, 1, 1 }, { 0, 0, 1, -1 } };

static const struct
{
  guint n;
  const gdouble (*vectors)[ND_AXES];
} sets[] = { { 1, line }, { 4, plane }, { 6, icosahedron }, { 12, cell_24 } };

static gdouble
length (const gdouble vector[ND_AXES])
{
  return sqrt (vector[0] * vector[0] + vector[1] * vector[1]
      + vector[2] * vector[2] + vector[3] * vector[3]);
}

guint
nd_directions (const NdAxis *axis, guint n,
    gdouble directions[ND_MAX_DIRECTIONS][ND_AXES])
{
  g_return_val_if_fail (n >= 1 && n <= ND_AXES, 0);

  memset (directions, 0, ND_MAX_DIRECTIONS * sizeof (*directions));
  for (guint i = 0; i < sets[n - 1].n; i++) {
    const gdouble *vector = sets[n - 1].vectors[i];

    for (guint a = 0; a < n; a++)
      directions[i][axis[a]] = vector[a] / length (vector);
  }
  return sets[n - 1].n;
}

/* The name of an axis. */
static gboolean
read_letter (const gchar *text, const NdAxes *axes, gdouble direction[ND_AXES])
{
  for (guint i = 0; i < axes->n; i++) {
    if (text[0] != nd_axis_letter (axes->axis[i]) || text[1] != '\0')
      continue;
    direction[axes->axis[i]] = 1;
    return TRUE;
  }
  return FALSE;
}

static gboolean
read_vector (const NdParameters *parameters, const NdAxes *axes,
    gdouble direction[ND_AXES], GError **error)
{
  g_autofree gdouble *numbers = NULL;
  gsize n;

  numbers = nd_parameters_get_numbers (parameters, "direction", &n, error);
  if (!numbers)
    return FALSE;
  if (n > 1)
    return nd_parameters_get_axes (parameters, "direction", axes, 0, direction,
        error);
  /* A single number is the first component, not a value for all axes. */
  direction[axes->axis[0]] = numbers[0];
  return TRUE;
}

gboolean
nd_parameters_get_direction (const NdParameters *parameters, const NdAxes *axes,
    const gsize size[ND_AXES], NdAxis fallback, gdouble direction[ND_AXES],
    GError **error)
{
  const gchar *text = nd_parameters_get_text (parameters, "direction");
  gdouble norm, largest = 0;

  memset (direction, 0, ND_AXES * sizeof (gdouble));
  if (!text) {
    direction[fallback] = 1;
    return TRUE;
  }
  if (g_ascii_isalpha (*text) && !read_letter (text, axes, direction)) {
    g_autofree gchar *letters = nd_axes_to_string (axes);

    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "direction is \"%.40s\"; it must be one of %s, or a vector, as in "
        "direction=<1.0,0.0>",
        text, letters);
    return FALSE;
  }
  if (!g_ascii_isalpha (*text)
      && !read_vector (parameters, axes, direction, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++)
    largest = MAX (largest, fabs (direction[a]));
  if (!(largest > 0)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "direction has length 0; it must point somewhere");
    return FALSE;
  }
  for (guint a = 0; a < ND_AXES; a++) {
    if (direction[a] != 0 && size[a] == 1) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "direction is %g along %c; it must be 0, because the filter has size "
          "1 there",
          direction[a], nd_axis_letter (a));
      return FALSE;
    }
    /* Squares of scaled components neither overflow nor underflow. */
    direction[a] /= largest;
  }
  norm = length (direction);
  for (guint a = 0; a < ND_AXES; a++)
    direction[a] /= norm;
  return TRUE;
}
