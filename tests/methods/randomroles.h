/* Roles of random filters whose responses make an orientation tensor
 * (filters/tensor.h), for checkmethods.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/tensor.h"

typedef struct
{
  guint n;
  gboolean is_complex;
  NdTensorRole roles[ND_MAX_TENSOR_RESPONSES];
} Roles;

/* Of quadrature filters if @is_complex, otherwise of all monomials of orders 1
 * and 2. Monomials are in another order if @r is set, and sometimes of one of
 * these orders, or of others as well. */
void roles_init (Roles *roles, GRand *r, guint axes, gboolean is_complex);

/* Gives the filters of @bank these roles. */
void roles_set (const Roles *roles, NdBank *bank);
