/* Cholesky's decomposition by rows (Golub and Van Loan, Matrix Computations,
 * 4th ed., 4.2.9), four rows at a time, so that each row above them is read
 * once for all four.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "filters/cholesky.h"

#include "core/error.h"

#include <math.h>

#define ROWS 4
#define LANES 4

/* sums[r] = rows[r] . other, each in LANES partial sums, so that the compiler
 * can use vectors. */
static void
dots (const gdouble *const rows[ROWS], const gdouble *other, gsize n,
    gdouble sums[ROWS])
{
  gdouble partial[ROWS][LANES] = { { 0 } };
  gsize i = 0;

  for (; i + LANES <= n; i += LANES) {
    for (guint r = 0; r < ROWS; r++) {
      for (guint l = 0; l < LANES; l++)
        partial[r][l] += rows[r][i + l] * other[i + l];
    }
  }
  for (guint r = 0; r < ROWS; r++) {
    sums[r] = (partial[r][0] + partial[r][1]) + (partial[r][2] + partial[r][3]);
    for (gsize j = i; j < n; j++)
      sums[r] += rows[r][j] * other[j];
  }
}

static gdouble
dot (const gdouble *a, const gdouble *b, gsize n)
{
  const gdouble *const rows[ROWS] = { a, a, a, a };
  gdouble sums[ROWS];

  dots (rows, b, n, sums);
  return sums[0];
}

gboolean
nd_cholesky_factor (gdouble *matrix, gsize n, const gint *cancelled)
{
  for (gsize first = 0; first < n; first += ROWS) {
    gsize count = MIN (ROWS, n - first);
    gdouble *rows[ROWS];

    if (nd_is_cancelled (cancelled))
      return FALSE;
    for (gsize r = 0; r < ROWS; r++)
      rows[r] = matrix + (first + MIN (r, count - 1)) * n;
    for (gsize j = 0; j < first; j++) {
      const gdouble *above = matrix + j * n;
      gdouble sums[ROWS];

      dots ((const gdouble *const *) rows, above, j, sums);
      for (gsize r = 0; r < count; r++)
        rows[r][j] = (rows[r][j] - sums[r]) / above[j];
    }
    for (gsize r = 0; r < count; r++) {
      gsize i = first + r;

      for (gsize j = first; j < i; j++) {
        const gdouble *above = matrix + j * n;

        rows[r][j] = (rows[r][j] - dot (rows[r], above, j)) / above[j];
      }
      rows[r][i] -= dot (rows[r], rows[r], i);
      if (!(rows[r][i] > 0))
        return FALSE;
      rows[r][i] = sqrt (rows[r][i]);
    }
  }
  return TRUE;
}

void
nd_cholesky_solve (const gdouble *factor, gsize n, gdouble *x)
{
  for (gsize i = 0; i < n; i++)
    x[i] = (x[i] - dot (factor + i * n, x, i)) / factor[i * n + i];
  for (gsize i = n; i-- > 0;) {
    const gdouble *row = factor + i * n;

    x[i] /= row[i];
    for (gsize j = 0; j < i; j++)
      x[j] -= row[j] * x[i];
  }
}
