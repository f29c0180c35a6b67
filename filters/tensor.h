/* How a bank's responses make an orientation tensor.
 *
 * Monomials of order 1 (a vector b) and order 2 (a matrix A), after Knutsson,
 * Westin and Andersson, Representing local structure using tensors II, SCIA
 * 2011, and Farnebäck's orientation tensors:
 *
 *   T = A A^T + b b^T
 *
 * Quadrature filters of directions n_k, after Granlund and Knutsson, Signal
 * Processing for Computer Vision, 1995:
 *
 *   T = sum over k of |q_k| M_k
 *
 * M_k being the dual frame of n_k n_k^T, so that a simple signal of direction n
 * gives a multiple of n n^T.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "filters/directions.h"
#include "filters/filter.h"

G_BEGIN_DECLS

/* The number of monomials of orders 0 to 3 in 4D. */
#define ND_MAX_TENSOR_RESPONSES 35

#define ND_TENSOR_COMPONENTS(axes) ((axes) * ((axes) + 1) / 2)

typedef struct
{
  guint axes;                    /* 2 to 4, in the order of NdAxis */
  gboolean is_quadratic;         /* monomials */
  gint first[ND_AXES];           /* the response of order 1, or -1 */
  gint second[ND_AXES][ND_AXES]; /* the response of order 2, or -1 */
  gdouble dual[ND_MAX_DIRECTIONS][ND_TENSOR_COMPONENTS (ND_AXES)];
} NdTensorRecipe;

/* ND_ERROR_SETTINGS if the bank makes no tensor. Components are in the order
 * xx xy xz xt yy yz yt zz zt tt, of the axes that the bank has. */
gboolean nd_tensor_recipe (const NdBank *bank, NdTensorRecipe *recipe,
    GError **error);

G_END_DECLS
