/* Designs monomial, monomial-bank and riesz. Monomial filters (Knutsson, Westin
 * and Andersson, Representing local structure using tensors II, SCIA 2011)
 * have, with R of filters/band.h and û = u / |u|, the response
 *
 *   M(u) = R(u) û_x^i û_y^j û_z^k û_t^l        of order n = i + j + k + l,
 *
 * times the imaginary unit if n is odd, so that all filters are real and those
 * of order 1 have a positive response to rising samples.
 *
 * monomial takes exponents (i:j:k:l), or order (0 to 3) and direction for R
 * (û.n)^order. monomial-bank takes one or several orders, by default 1:2, and
 * has all monomials of each order, sorted by falling exponents of the first
 * axis: in 3D x y z, xx xy xz yy yz zz, and so on.
 *
 * riesz: the Riesz transform along a direction, limited to the band R: -i (û.n)
 * R(u) (Felsberg and Sommer, The monogenic signal, IEEE Transactions on Signal
 * Processing 49 (12), 2001).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/designs.h"

#include "core/error.h"
#include "core/memory.h"
#include "filters/band.h"
#include "filters/directions.h"

#include <math.h>

#define MAX_ORDER 3

/* One order in 4D has at most 20 monomials; orders 0 to 3 have 35. */
#define MAX_MONOMIALS 35

/* Defaults of the bank of the orders 1 and 2, whose responses make orientation
 * tensors: with them the errors of the fits turn the tensor least.
 * docs/algorithms.md has the errors of velocities. */
#define TENSOR_BANDWIDTH 3.0
#define TENSOR_CENTER 0.95
#define BANDWIDTH 2.0 /* of all others */

typedef struct
{
  const NdBand *band;
  gdouble direction[ND_AXES]; /* of (û.n) */
  guint power;
  guint exponents[ND_AXES];
} Monomial;

static gdouble
integer_power (gdouble base, guint exponent)
{
  gdouble result = 1;

  while (exponent-- > 0)
    result *= base;
  return result;
}

static gdouble
monomial_respond (const gdouble u[ND_AXES], gconstpointer data)
{
  const Monomial *m = data;
  gdouble along = 0, squared = 0, value;

  for (guint a = 0; a < ND_AXES; a++) {
    along += u[a] * m->direction[a];
    squared += u[a] * u[a];
  }
  if (squared == 0)
    return 0;
  value = nd_band_radial (m->band, u)
      * integer_power (along / sqrt (squared), m->power);
  for (guint a = 0; a < ND_AXES; a++)
    value *= integer_power (u[a] / sqrt (squared), m->exponents[a]);
  return value;
}

static NdBank *
monomial_design (const gchar *name, const NdBand *band,
    const Monomial *monomials, guint n, gdouble sign, GError **error)
{
  g_autofree NdFit *fits = nd_memory_new (n, sizeof (NdFit), error);
  NdBank *bank;

  if (!fits)
    return NULL;
  for (guint i = 0; i < n; i++) {
    fits[i].ideal = monomial_respond;
    fits[i].data = &monomials[i];
    nd_band_block_constant (&fits[i]);
  }
  bank = nd_band_fit (name, band, fits, n, sign, error);
  nd_band_note (bank, band->center, band->bandwidth);
  for (guint i = 0; bank && i < n; i++) {
    NdTensorRole *role = &bank->filters[i]->role;

    role->kind = ND_TENSOR_MONOMIAL;
    for (guint a = 0; a < ND_AXES; a++)
      role->exponents[a] = monomials[i].exponents[a];
  }
  return bank;
}

static NdFilter *
design_one (const gchar *name, const Monomial *monomial, gdouble sign,
    GError **error)
{
  g_autoptr (NdBank) bank =
      monomial_design (name, monomial->band, monomial, 1, sign, error);

  return bank ? g_steal_pointer (&bank->filters[0]) : NULL;
}

static gboolean
check_order (gdouble order, GError **error)
{
  if (order >= 0 && order <= MAX_ORDER && order == floor (order))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "order is %g; it must be 0, 1, 2 or %d", order, MAX_ORDER);
  return FALSE;
}

static gboolean
read_exponents (const NdParameters *parameters, const NdAxes *axes,
    Monomial *monomial, GError **error)
{
  gdouble values[ND_AXES], order = 0;

  if (nd_parameters_has (parameters, "order")
      || nd_parameters_has (parameters, "direction")) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "exponents is given with order or direction; give exponents, or order "
        "and direction");
    return FALSE;
  }
  if (!nd_parameters_get_axes (parameters, "exponents", axes, 0, values, error))
    return FALSE;
  for (guint a = 0; a < ND_AXES; a++) {
    if (values[a] < 0 || values[a] > MAX_ORDER || values[a] != floor (values[a])
        || (values[a] > 0 && monomial->band->size[a] == 1)) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "exponents is %g along %c; it must be %s", values[a],
          nd_axis_letter (a),
          monomial->band->size[a] == 1
              ? "0, because the filter has size 1 there"
              : "0, 1, 2 or 3");
      return FALSE;
    }
    monomial->exponents[a] = (guint) values[a];
    order += values[a];
  }
  if (order > MAX_ORDER)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "exponents add up to %g; the highest order is %d", order, MAX_ORDER);
  return order <= MAX_ORDER;
}

NdFilter *
nd_design_monomial (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  Monomial monomial = { NULL };
  gdouble order;
  NdBand band;

  if (!nd_parameters_get_band (parameters, axes, &band, error))
    return NULL;
  monomial.band = &band;
  if (nd_parameters_has (parameters, "exponents")) {
    if (!read_exponents (parameters, axes, &monomial, error))
      return NULL;
  } else if (!nd_parameters_get_number (parameters, "order", 1, &order, error)
      || !check_order (order, error)
      || !nd_parameters_get_direction (parameters, axes, band.size,
          band.axis[0], monomial.direction, error)) {
    return NULL;
  } else {
    monomial.power = (guint) order;
  }
  return design_one ("monomial", &monomial, -1, error);
}

NdFilter *
nd_design_riesz (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  Monomial monomial = { .power = 1 };
  NdBand band;

  if (!nd_parameters_get_band (parameters, axes, &band, error)
      || !nd_parameters_get_direction (parameters, axes, band.size,
          band.axis[0], monomial.direction, error))
    return NULL;
  monomial.band = &band;
  return design_one ("riesz", &monomial, 1, error);
}

/* Appends the monomials of @order to @list, which has @n of them. */
static guint
list_order (const NdBand *band, guint order, Monomial *list, guint n)
{
  guint all = 1;

  for (guint a = 0; a < band->n; a++)
    all *= order + 1;
  /* The exponents are the digits of a number; the first axis has the
   * highest. */
  for (guint number = all; number-- > 0;) {
    Monomial monomial = { .band = band };
    guint rest = number, sum = 0;

    for (guint a = band->n; a-- > 0;) {
      monomial.exponents[band->axis[a]] = rest % (order + 1);
      sum += rest % (order + 1);
      rest /= order + 1;
    }
    if (sum == order)
      list[n++] = monomial;
  }
  return n;
}

typedef struct
{
  guint n;
  guint order[MAX_ORDER + 1];
} Orders;

static gboolean
monomial_read_orders (const NdParameters *parameters, Orders *orders,
    GError **error)
{
  g_autofree gdouble *given = NULL;
  gboolean taken[MAX_ORDER + 1] = {
    FALSE,
  };
  gsize n;

  if (!nd_parameters_has (parameters, "order")) {
    *orders = (Orders){ 2, { 1, 2 } };
    return TRUE;
  }
  given = nd_parameters_get_numbers (parameters, "order", &n, error);
  if (!given)
    return FALSE;
  orders->n = 0;
  for (gsize i = 0; i < n; i++) {
    if (!check_order (given[i], error))
      return FALSE;
    if (taken[(guint) given[i]]) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "order has %g twice; give each order once", given[i]);
      return FALSE;
    }
    taken[(guint) given[i]] = TRUE;
    orders->order[orders->n++] = (guint) given[i];
  }
  return TRUE;
}

/* Reads the band, and lists the monomials. Returns their number, 0 after an
 * error. */
static guint
list_bank (const NdParameters *parameters, const NdAxes *axes, NdBand *band,
    Monomial list[MAX_MONOMIALS], GError **error)
{
  Orders orders;
  gboolean is_tensor;
  guint n = 0;

  if (!monomial_read_orders (parameters, &orders, error))
    return 0;
  is_tensor = orders.n == 2 && orders.order[0] * orders.order[1] == 2;
  if (!nd_parameters_get_wide_band (parameters, axes,
          is_tensor ? TENSOR_BANDWIDTH : BANDWIDTH,
          is_tensor ? TENSOR_CENTER : 0, band, error))
    return 0;
  for (guint i = 0; i < orders.n; i++)
    n = list_order (band, orders.order[i], list, n);
  return n;
}

NdBank *
nd_design_monomial_bank (const NdParameters *parameters, const NdAxes *axes,
    GError **error)
{
  Monomial list[MAX_MONOMIALS];
  NdBand band;
  const guint n = list_bank (parameters, axes, &band, list, error);

  return n > 0 ? monomial_design ("monomial-bank", &band, list, n, -1, error)
               : NULL;
}

gboolean
nd_info_monomial_bank (const NdParameters *parameters, const NdAxes *axes,
    NdBankInfo *info, GError **error)
{
  Monomial list[MAX_MONOMIALS];
  NdBand band;

  *info =
      (NdBankInfo){ list_bank (parameters, axes, &band, list, error), FALSE };
  info->tensor_axes = info->n_responses > 0 ? band.n : 0;
  return info->n_responses > 0;
}
