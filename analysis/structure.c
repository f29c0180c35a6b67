/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/structure.h"

#include "analysis/structureinline.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

#define AXES ND_TENSOR_MAX_AXES

guint
nd_tensor_components (guint axes)
{
  return nd_inline_tensor_components (axes);
}

guint
nd_tensor_axes (gsize components)
{
  for (guint axes = 2; axes <= AXES; axes++) {
    if (nd_tensor_components (axes) == components)
      return axes;
  }
  return 0;
}

guint
nd_tensor_index (guint axes, guint i, guint j)
{
  return nd_inline_tensor_index (axes, i, j);
}

gboolean
nd_tensor_eigen (guint axes, const gdouble *tensor, gdouble *values,
    gdouble vectors[][AXES])
{
  return nd_inline_tensor_eigen (axes, tensor, values, vectors);
}

guint
nd_structure_components (NdStructure structure, guint axes)
{
  return nd_inline_structure_components (structure, axes);
}

void
nd_structure_from_tensor (NdStructure structure, guint axes,
    const gdouble *tensor, gdouble *out)
{
  nd_inline_structure_from_tensor (structure, axes, tensor, out);
}

guint
nd_structure_output_components (const NdStructureSettings *settings, guint axes)
{
  guint n = 0;

  for (guint i = 0; i < settings->n_structures; i++)
    n += nd_structure_components (settings->structures[i], axes);
  return n;
}

gboolean
nd_structure_has_velocity (const NdStructureSettings *settings)
{
  for (guint i = 0; i < settings->n_structures; i++) {
    if (settings->structures[i] == ND_STRUCTURE_VELOCITY)
      return TRUE;
  }
  return FALSE;
}

/* Motion */

/* The powers of the functions that a component of the velocity consists of: 1,
 * and x, y, z if the model is affine. */
static guint
list_functions (NdMotion model, guint dims, guint powers[AXES][3])
{
  memset (powers, 0, AXES * sizeof (powers[0]));
  if (model == ND_MOTION_CONSTANT)
    return 1;
  for (guint a = 0; a < dims; a++)
    powers[a + 1][a] = 1;
  return dims + 1;
}

/* Returns the index of the moment of @component with the powers @a + @b. Adds
 * it to the plan if it is new. */
static guint
get_moment (NdMotionPlan *plan, guint component, const guint a[3],
    const guint b[3])
{
  const NdMoment moment = { component,
    { a[0] + b[0], a[1] + b[1], a[2] + b[2] } };
  guint i = 0;

  while (i < plan->n_moments
      && memcmp (&plan->moments[i], &moment, sizeof (moment)) != 0)
    i++;
  if (i == plan->n_moments)
    plan->moments[plan->n_moments++] = moment;
  return i;
}

void
nd_motion_plan_init (NdMotionPlan *plan, NdMotion model, guint axes)
{
  static const guint zero[3] = { 0, 0, 0 };
  const guint dims = axes - 1;
  guint powers[AXES][3];
  const guint n = list_functions (model, dims, powers);

  memset (plan, 0, sizeof (*plan));
  plan->axes = axes;
  plan->n_unknowns = dims * n;
  for (guint c = 0; c < nd_tensor_components (axes); c++)
    get_moment (plan, c, zero, zero);
  for (guint u = 0; u < plan->n_unknowns; u++) {
    const guint i = u / n;

    plan->right[u] =
        get_moment (plan, nd_tensor_index (axes, i, dims), powers[u % n], zero);
    for (guint w = 0; w < plan->n_unknowns; w++)
      plan->matrix[u][w] = get_moment (plan, nd_tensor_index (axes, i, w / n),
          powers[u % n], powers[w % n]);
  }
}

void
nd_motion_solve (const NdMotionPlan *plan, const gdouble *moments, gdouble *out)
{
  nd_inline_motion_solve (plan, moments, out);
}

guint
nd_structure_window_reach (gdouble sigma)
{
  return (guint) rint (2 * sigma);
}

static gdouble
gaussian (gdouble u, gdouble sigma)
{
  return sigma > 0 ? exp (-u * u / (2 * sigma * sigma)) : u == 0;
}

gboolean
nd_structure_window_init (NdStructureWindow *window, gdouble sigma,
    const gsize size[3])
{
  const gint radius = ceil (3 * sigma), n = 2 * radius + 1;
  const gint reach = nd_structure_window_reach (sigma);
  gdouble sum = 0;

  memset (window, 0, sizeof (*window));
  memcpy (window->size, size, sizeof (window->size));
  window->radius = radius;
  window->weights = nd_memory_new (3 * n, sizeof (gfloat), NULL);
  if (!window->weights)
    return FALSE;
  for (gint u = -radius; u <= radius; u++) {
    for (guint p = 0; p < 3; p++)
      window->weights[p * n + u + radius] = gaussian (u, sigma) * pow (u, p);
  }
  for (guint a = 0; a < 3; a++) {
    window->scale[a] = nd_memory_new (size[a], sizeof (gfloat), NULL);
    if (!window->scale[a])
      return FALSE;
    for (gint64 i = 0; i < (gint64) size[a]; i++) {
      gdouble inside = 0;

      for (gint u = -radius; u <= radius; u++)
        inside +=
            i + u >= 0 && i + u < (gint64) size[a] ? gaussian (u, sigma) : 0;
      window->scale[a][i] = 1 / inside;
    }
  }
  for (gint u = -reach; u <= reach; u++)
    sum += gaussian (u, sigma);
  for (gint u = -reach; u <= reach; u++)
    window->time[u + reach] = gaussian (u, sigma) / sum;
  return TRUE;
}

void
nd_structure_window_clear (NdStructureWindow *window)
{
  g_clear_pointer (&window->weights, g_free);
  for (guint a = 0; a < 3; a++)
    g_clear_pointer (&window->scale[a], g_free);
}
