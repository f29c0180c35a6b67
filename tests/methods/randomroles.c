/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/randomroles.h"

#include <string.h>

/* All monomials of @order. */
static void
add_monomials (Roles *roles, guint axes, gint order)
{
  guint8 e[ND_AXES] = { 0 };

  for (e[0] = 0; e[0] <= order; e[0]++) {
    for (e[1] = 0; e[0] + e[1] <= order; e[1]++) {
      for (e[2] = 0; e[0] + e[1] + e[2] <= order; e[2]++) {
        NdTensorRole *role = &roles->roles[roles->n];

        e[3] = order - e[0] - e[1] - e[2];
        if ((axes < 4 && e[3] > 0) || (axes < 3 && e[2] > 0))
          continue;
        role->kind = ND_TENSOR_MONOMIAL;
        memcpy (role->exponents, e, sizeof (e));
        roles->n++;
      }
    }
  }
}

static void
shuffle (Roles *roles, GRand *r)
{
  for (guint i = 1; i < roles->n; i++) {
    const guint other = g_rand_int_range (r, 0, i + 1);
    const NdTensorRole role = roles->roles[i];

    roles->roles[i] = roles->roles[other];
    roles->roles[other] = role;
  }
}

void
roles_init (Roles *roles, GRand *r, guint axes, gboolean is_complex)
{
  static const NdAxis all[] = { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T };
  /* A bit for each order. */
  guint orders = r ? 2 * g_rand_int_range (r, 1, 4) : 6;
  gdouble directions[ND_MAX_DIRECTIONS][ND_AXES];

  *roles = (Roles){ .is_complex = is_complex };
  if (is_complex) {
    roles->n = 2 * nd_directions (all, axes, directions);
    for (guint i = 0; i < roles->n; i++) {
      roles->roles[i].kind = ND_TENSOR_QUADRATURE;
      memcpy (roles->roles[i].direction, directions[i / 2],
          sizeof (directions[0]));
    }
    return;
  }
  if (r && g_rand_int_range (r, 0, 3) == 0)
    orders |= g_rand_boolean (r) ? 1 : 8;
  for (gint order = 0; order < 4; order++) {
    if (orders >> order & 1)
      add_monomials (roles, axes, order);
  }
  if (r)
    shuffle (roles, r);
}

void
roles_set (const Roles *roles, NdBank *bank)
{
  for (guint i = 0; i < roles->n; i++)
    bank->filters[i]->role = roles->roles[i];
  bank->is_complex = roles->is_complex;
}
