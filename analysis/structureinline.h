/* The functions of analysis/structure.h that compute one sample, for the host
 * and, compiled by nvcc, for a device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "analysis/structure.h"
#include "core/inline.h"

#include <math.h>
#include <string.h>

/* A device keeps arrays in registers if all their indices are constants. */
#ifdef __CUDA_ARCH__
#define ND_UNROLL _Pragma ("unroll")
#else
#define ND_UNROLL
#endif

#define ND_TENSOR_SWEEPS 8
/* Components of an orientation of at least this fraction of the largest one
 * count as equal to it, so that rounding does not choose the sign of a
 * diagonal. */
#define ND_ORIENTATION_LARGE 0.99
/* The equations are degenerate if less than this fraction of the diagonal of
 * one of them remains after elimination. */
#define ND_MOTION_DEGENERATE 1e-7

ND_INLINE guint
nd_inline_tensor_components (guint axes)
{
  return axes * (axes + 1) / 2;
}

/* The place of element (@i, @j) of a symmetric tensor of @axes rows, whose
 * upper triangle is stored row by row. */
ND_INLINE guint
nd_inline_tensor_index (guint axes, guint i, guint j)
{
  const guint row = MIN (i, j), column = MAX (i, j);

  return row * axes - row * (row + 1) / 2 + column;
}

/* Eigenvalues */

/* Rotates axes @p and @q so that a[p][q] becomes 0. */
ND_INLINE void
nd_inline_rotate (guint n, gdouble a[ND_TENSOR_MAX_AXES][ND_TENSOR_MAX_AXES],
    gdouble v[][ND_TENSOR_MAX_AXES], guint p, guint q)
{
  const gdouble apq = a[p][q];
  gdouble theta, t, c, s;

  if (apq == 0)
    return;
  theta = (a[q][q] - a[p][p]) / (2 * apq);
  t = (theta >= 0 ? 1 : -1) / (fabs (theta) + sqrt (theta * theta + 1));
  c = 1 / sqrt (t * t + 1);
  s = t * c;
  ND_UNROLL
  for (guint k = 0; k < n; k++) {
    const gdouble akp = a[k][p], akq = a[k][q];

    a[k][p] = c * akp - s * akq;
    a[k][q] = s * akp + c * akq;
  }
  ND_UNROLL
  for (guint k = 0; k < n; k++) {
    const gdouble apk = a[p][k], aqk = a[q][k];

    a[p][k] = c * apk - s * aqk;
    a[q][k] = s * apk + c * aqk;
  }
  ND_UNROLL
  for (guint k = 0; v && k < n; k++) {
    const gdouble vp = v[p][k], vq = v[q][k];

    v[p][k] = c * vp - s * vq;
    v[q][k] = s * vp + c * vq;
  }
}

/* Sorts the eigenvalues, the largest first. */
ND_INLINE void
nd_inline_sort (guint n, gdouble *values, gdouble v[][ND_TENSOR_MAX_AXES])
{
  ND_UNROLL
  for (guint i = 0; i + 1 < n; i++) {
    guint best = i;
    gdouble value;

    ND_UNROLL
    for (guint j = i + 1; j < n; j++) {
      if (values[j] > values[best])
        best = j;
    }
    if (best == i)
      continue;
    value = values[i];
    values[i] = values[best];
    values[best] = value;
    ND_UNROLL
    for (guint k = 0; v && k < n; k++) {
      value = v[i][k];
      v[i][k] = v[best][k];
      v[best][k] = value;
    }
  }
}

/* Gets the eigenvalues of a symmetric tensor, the largest first, by Jacobi
 * rotations, and its unit eigenvectors if @vectors is not NULL. FALSE, with
 * nothing to use in them, if the tensor is not finite. */
ND_INLINE gboolean
nd_inline_tensor_eigen (guint axes, const gdouble *tensor, gdouble *values,
    gdouble vectors[][ND_TENSOR_MAX_AXES])
{
  gdouble a[ND_TENSOR_MAX_AXES][ND_TENSOR_MAX_AXES], scale = 0;

  ND_UNROLL
  for (guint i = 0; i < nd_inline_tensor_components (axes); i++) {
    if (!isfinite (tensor[i]))
      return FALSE;
    scale = MAX (scale, fabs (tensor[i]));
  }
  ND_UNROLL
  for (guint i = 0; i < axes; i++) {
    ND_UNROLL
    for (guint j = 0; j < axes; j++) {
      a[i][j] =
          scale > 0 ? tensor[nd_inline_tensor_index (axes, i, j)] / scale : 0;
      if (vectors)
        vectors[i][j] = i == j;
    }
  }
  for (guint sweep = 0; sweep < ND_TENSOR_SWEEPS; sweep++) {
    gdouble rest = 0;

    ND_UNROLL
    for (guint p = 0; p < axes; p++) {
      ND_UNROLL
      for (guint q = p + 1; q < axes; q++) {
        rest += fabs (a[p][q]);
        nd_inline_rotate (axes, a, vectors, p, q);
      }
    }
    if (rest < 1e-12)
      break;
  }
  ND_UNROLL
  for (guint i = 0; i < axes; i++)
    values[i] = a[i][i] * scale;
  nd_inline_sort (axes, values, vectors);
  return TRUE;
}

/* Measures */

ND_INLINE guint
nd_inline_structure_components (NdStructure structure, guint axes)
{
  switch (structure) {
    case ND_STRUCTURE_TENSOR:
      return nd_inline_tensor_components (axes);
    case ND_STRUCTURE_CERTAINTY:
      return 1;
    case ND_STRUCTURE_EIGENVALUES:
    case ND_STRUCTURE_ORIENTATION:
    case ND_STRUCTURE_ANISOTROPY:
    case ND_STRUCTURE_VELOCITY:
      return axes;
  }
  return 0;
}

/* Gives a direction, which has no sign, the sign by which its first large
 * component is positive. */
ND_INLINE void
nd_inline_get_orientation (guint axes, const gdouble *vector, gdouble *out)
{
  gdouble largest = 0;
  guint first = 0;

  for (guint i = 0; i < axes; i++)
    largest = MAX (largest, fabs (vector[i]));
  while (first + 1 < axes
      && fabs (vector[first]) < ND_ORIENTATION_LARGE * largest)
    first++;
  for (guint i = 0; i < axes; i++)
    out[i] = vector[first] < 0 ? -vector[i] : vector[i];
}

/* Gets nd_inline_structure_components() numbers of @structure. All are 0 if the
 * tensor is not finite. */
ND_INLINE void
nd_inline_structure_from_tensor (NdStructure structure, guint axes,
    const gdouble *tensor, gdouble *out)
{
  const guint n = nd_inline_structure_components (structure, axes);
  gdouble values[ND_TENSOR_MAX_AXES],
      vectors[ND_TENSOR_MAX_AXES][ND_TENSOR_MAX_AXES], trace = 0;

  if (structure == ND_STRUCTURE_TENSOR) {
    memcpy (out, tensor, n * sizeof (gdouble));
    return;
  }
  memset (out, 0, n * sizeof (gdouble));
  if (!nd_inline_tensor_eigen (axes, tensor, values,
          structure == ND_STRUCTURE_ORIENTATION ? vectors : NULL))
    return;
  for (guint i = 0; i < axes; i++)
    trace += values[i];
  if (!(trace > 0))
    return;
  switch (structure) {
    case ND_STRUCTURE_EIGENVALUES:
      memcpy (out, values, n * sizeof (gdouble));
      break;
    case ND_STRUCTURE_ORIENTATION:
      nd_inline_get_orientation (axes, vectors[0], out);
      break;
    case ND_STRUCTURE_CERTAINTY:
      out[0] = CLAMP ((values[0] - values[axes - 1]) / values[0], 0, 1);
      break;
    case ND_STRUCTURE_ANISOTROPY:
      for (guint d = 1; d < axes; d++)
        out[d - 1] = (values[axes - d - 1] - values[axes - d]) / values[0];
      out[axes - 1] = MAX (values[axes - 1] / values[0], 0);
      break;
    case ND_STRUCTURE_TENSOR:
    case ND_STRUCTURE_VELOCITY:
      break;
  }
}

/* Motion */

/* Solves q x = -r by Cholesky decomposition. FALSE if q is degenerate. */
ND_INLINE gboolean
nd_inline_solve (guint n, gdouble q[ND_MAX_UNKNOWNS][ND_MAX_UNKNOWNS],
    const gdouble r[ND_MAX_UNKNOWNS], gdouble x[ND_MAX_UNKNOWNS])
{
  gdouble diagonal[ND_MAX_UNKNOWNS];

  ND_UNROLL
  for (guint i = 0; i < n; i++)
    diagonal[i] = q[i][i];
  ND_UNROLL
  for (guint i = 0; i < n; i++) {
    ND_UNROLL
    for (guint j = 0; j <= i; j++) {
      gdouble sum = q[i][j];

      ND_UNROLL
      for (guint k = 0; k < j; k++)
        sum -= q[i][k] * q[j][k];
      if (i != j) {
        q[i][j] = sum / q[j][j];
        continue;
      }
      if (!(sum > ND_MOTION_DEGENERATE * diagonal[i]) || !isfinite (sum))
        return FALSE;
      q[i][i] = sqrt (sum);
    }
  }
  ND_UNROLL
  for (guint i = 0; i < n; i++) {
    gdouble sum = -r[i];

    ND_UNROLL
    for (guint k = 0; k < i; k++)
      sum -= q[i][k] * x[k];
    x[i] = sum / q[i][i];
  }
  ND_UNROLL
  for (guint i = n; i-- > 0;) {
    gdouble sum = x[i];

    ND_UNROLL
    for (guint k = i + 1; k < n; k++)
      sum -= q[k][i] * x[k];
    x[i] = sum / q[i][i];
  }
  return TRUE;
}

/* The certainty of the velocity: a measure of how evenly the energy is spread
 * over the directions of space, times the fraction of the energy that a
 * constant velocity explains. */
ND_INLINE gdouble
nd_inline_get_certainty (guint axes, const gdouble *tensor)
{
  const guint dims = axes - 1;
  gdouble space[ND_TENSOR_MAX_COMPONENTS] = { 0 }, values[ND_TENSOR_MAX_AXES],
          all[ND_TENSOR_MAX_AXES];
  gdouble trace = 0, product = 1;

  ND_UNROLL
  for (guint i = 0; i < dims; i++) {
    ND_UNROLL
    for (guint j = i; j < dims; j++)
      space[nd_inline_tensor_index (dims, i, j)] =
          tensor[nd_inline_tensor_index (axes, i, j)];
  }
  /* One axis of space has no tensor: it is its own eigenvalue. */
  if (dims == 1)
    return space[0] > 0 && isfinite (space[0]);
  if (!nd_inline_tensor_eigen (dims, space, values, NULL)
      || !nd_inline_tensor_eigen (axes, tensor, all, NULL))
    return 0;
  ND_UNROLL
  for (guint i = 0; i < dims; i++)
    trace += values[i];
  if (!(trace > 0) || !(all[0] > 0))
    return 0;
  ND_UNROLL
  for (guint i = 0; i < dims; i++)
    product *= MAX (values[i], 0) * dims / trace;
  return CLAMP (pow (product, 1.0 / dims)
          * (1 - CLAMP (all[axes - 1] / MAX (all[axes - 2], 1e-300), 0, 1)),
      0, 1);
}

/* Solves the equations of nd_motion_solve(), for @n unknowns. */
ND_INLINE void
nd_inline_motion_finish (guint axes, guint n,
    gdouble q[ND_MAX_UNKNOWNS][ND_MAX_UNKNOWNS],
    const gdouble r[ND_MAX_UNKNOWNS], const gdouble *tensor, gdouble *out)
{
  const guint dims = axes - 1;
  gdouble x[ND_MAX_UNKNOWNS] = { 0 };
  gboolean finite = TRUE;

  ND_UNROLL
  for (guint a = 0; a < axes; a++)
    out[a] = 0;
  if (!nd_inline_solve (n, q, r, x))
    return;
  ND_UNROLL
  for (guint i = 0; i < n; i++)
    finite = finite && isfinite (x[i]);
  if (!finite)
    return;
  out[dims] = nd_inline_get_certainty (axes, tensor);
  if (!(out[dims] > 0))
    return;
  ND_UNROLL
  for (guint i = 0; i < dims; i++)
    out[i] = x[i * (n / dims)];
}

/* Solves the normal equations of @moments for the motion of one sample. All
 * results are 0 if the equations are degenerate. */
ND_INLINE void
nd_inline_motion_solve (const NdMotionPlan *plan, const gdouble *moments,
    gdouble *out)
{
  const guint n = plan->n_unknowns;
  gdouble q[ND_MAX_UNKNOWNS][ND_MAX_UNKNOWNS], r[ND_MAX_UNKNOWNS];

  for (guint u = 0; u < n; u++) {
    r[u] = moments[plan->right[u]];
    for (guint w = 0; w < n; w++)
      q[u][w] = moments[plan->matrix[u][w]];
  }
  nd_inline_motion_finish (plan->axes, n, q, r, moments, out);
}
