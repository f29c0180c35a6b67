/* Symmetric positive definite systems of equations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Factors the @n x @n matrix into L L^T. Reads only its lower triangle, and
 * overwrites that with L. FALSE if the matrix is not positive definite, or if
 * @cancelled (core/error.h). */
gboolean nd_cholesky_factor (gdouble *matrix, gsize n, const gint *cancelled);

/* Solves L L^T x = b in place: @x is b before, x after. */
void nd_cholesky_solve (const gdouble *factor, gsize n, gdouble *x);

G_END_DECLS
