/* Symmetric positive definite systems of equations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Factors the @n x @n matrix, of which the lower triangle is read, into L L^T,
 * and overwrites that triangle with L. FALSE where it is not positive
 * definite. */
gboolean nd_cholesky_factor (gdouble * matrix, gsize n);

/* Solves L L^T x = b in place. */
void nd_cholesky_solve (const gdouble * factor, gsize n, gdouble * x);

G_END_DECLS
