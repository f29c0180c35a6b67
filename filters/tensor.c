/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/tensor.h"

#include "core/error.h"

#include <math.h>
#include <string.h>

#define MAX_COMPONENTS ND_TENSOR_COMPONENTS (ND_AXES)

/* The axes that appear in the role of any filter of the bank. */
static guint
tensor_find_axes (const NdBank *bank, guint axes[ND_AXES])
{
  guint n = 0;

  for (guint a = 0; a < ND_AXES; a++) {
    gboolean has = FALSE;

    for (guint i = 0; i < bank->n_filters; i++)
      has |= bank->filters[i]->role.exponents[a] > 0
          || bank->filters[i]->role.direction[a] != 0;
    if (has)
      axes[n++] = a;
  }
  return n;
}

static gboolean
tensor_refuse (GError **error, const gchar *why)
{
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "response=tensor needs a bank that makes a tensor, such as "
      "monomial-bank,size=9 or quadrature-bank,size=9: %s",
      why);
  return FALSE;
}

/* All of an order, or none. */
static gboolean
read_monomials (const NdBank *bank, const guint axes[ND_AXES],
    NdTensorRecipe *recipe, GError **error)
{
  const guint n = recipe->axes;
  guint n_first = 0, n_second = 0;

  memset (recipe->first, -1, sizeof (recipe->first));
  memset (recipe->second, -1, sizeof (recipe->second));
  for (guint k = 0; k < bank->n_filters; k++) {
    const guint8 *exponents = bank->filters[k]->role.exponents;
    guint order = 0, found[2] = { 0 };

    for (guint a = 0; a < n; a++) {
      for (guint i = 0; i < exponents[axes[a]]; i++, order++)
        found[MIN (order, 1)] = a;
    }
    if (order == 1) {
      recipe->first[found[0]] = k;
      n_first++;
    } else if (order == 2) {
      recipe->second[found[0]][found[1]] = k;
      recipe->second[found[1]][found[0]] = k;
      n_second++;
    }
  }
  if ((n_first != 0 && n_first != n)
      || (n_second != 0 && n_second != ND_TENSOR_COMPONENTS (n))
      || n_first + n_second == 0)
    return tensor_refuse (error,
        "it must have all monomials of order 1, of order 2, "
        "or of both");
  recipe->is_quadratic = TRUE;
  return TRUE;
}

/* The inverse of the @n x @n matrix @a, by Gauss and Jordan. FALSE if there is
 * none. */
static gboolean
tensor_invert (guint n, gdouble a[MAX_COMPONENTS][2 * MAX_COMPONENTS])
{
  for (guint i = 0; i < n; i++) {
    guint best = i;

    for (guint r = i + 1; r < n; r++)
      best = fabs (a[r][i]) > fabs (a[best][i]) ? r : best;
    if (fabs (a[best][i]) < 1e-9)
      return FALSE;
    for (guint c = 0; c < 2 * n; c++) {
      const gdouble value = a[best][c];

      a[best][c] = a[i][c];
      a[i][c] = value;
    }
    for (guint c = 2 * n; c-- > i;)
      a[i][c] /= a[i][i];
    for (guint r = 0; r < n; r++) {
      const gdouble factor = a[r][i];

      for (guint c = 0; r != i && c < 2 * n; c++)
        a[r][c] -= factor * a[i][c];
    }
  }
  return TRUE;
}

/* n n^T as a vector whose inner product is that of the matrices. */
static void
outer_product (const gdouble *direction, const guint *axes, guint n,
    gdouble *vector)
{
  for (guint i = 0; i < n; i++) {
    for (guint j = i; j < n; j++)
      *vector++ =
          direction[axes[i]] * direction[axes[j]] * (i == j ? 1 : G_SQRT2);
  }
}

static gboolean
read_directions (const NdBank *bank, const guint axes[ND_AXES],
    NdTensorRecipe *recipe, GError **error)
{
  const guint n = recipe->axes, components = ND_TENSOR_COMPONENTS (n);
  const guint n_directions = nd_bank_responses (bank);
  gdouble vectors[ND_MAX_DIRECTIONS][MAX_COMPONENTS];
  gdouble frame[MAX_COMPONENTS][2 * MAX_COMPONENTS] = { { 0 } };

  if (n_directions > ND_MAX_DIRECTIONS)
    return tensor_refuse (error,
        "it has more directions than a quadrature-bank");
  for (guint k = 0; k < n_directions; k++) {
    outer_product (bank->filters[2 * k]->role.direction, axes, n, vectors[k]);
    for (guint i = 0; i < components; i++) {
      for (guint j = 0; j < components; j++)
        frame[i][j] += vectors[k][i] * vectors[k][j];
    }
  }
  for (guint i = 0; i < components; i++)
    frame[i][components + i] = 1;
  if (!tensor_invert (components, frame))
    return tensor_refuse (error, "its directions do not span all tensors");
  for (guint k = 0; k < n_directions; k++) {
    guint c = 0;

    for (guint i = 0; i < n; i++) {
      for (guint j = i; j < n; j++, c++) {
        gdouble sum = 0;

        for (guint l = 0; l < components; l++)
          sum += frame[c][components + l] * vectors[k][l];
        recipe->dual[k][c] = i == j ? sum : sum / G_SQRT2;
      }
    }
  }
  return TRUE;
}

gboolean
nd_tensor_recipe (const NdBank *bank, NdTensorRecipe *recipe, GError **error)
{
  const NdTensorKind kind = bank->filters[0]->role.kind;
  guint axes[ND_AXES];

  memset (recipe, 0, sizeof (*recipe));
  if (nd_bank_responses (bank) > ND_MAX_TENSOR_RESPONSES)
    return tensor_refuse (error, "it has too many filters");
  for (guint i = 0; i < bank->n_filters; i++) {
    if (kind == ND_TENSOR_NO_ROLE || bank->filters[i]->role.kind != kind)
      return tensor_refuse (error, "the filters are of other designs");
  }
  recipe->axes = tensor_find_axes (bank, axes);
  if (recipe->axes < 2)
    return tensor_refuse (error, "it must span two axes or more");
  if (kind == ND_TENSOR_MONOMIAL)
    return read_monomials (bank, axes, recipe, error);
  return read_directions (bank, axes, recipe, error);
}
