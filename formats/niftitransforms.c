/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "formats/niftitransforms.h"

#include <math.h>
#include <string.h>

/* From here on nifti1_io.c takes a for 0 and shortens b, c and d. */
#define QUATERNION_LEAST 1e-7
#define ORTHONORMAL_SLACK 1e-4

void
nd_geometry_from_spacing (NdGeometry *geometry, const gdouble spacing[3])
{
  memset (geometry, 0, sizeof (*geometry));
  geometry->known = TRUE;
  for (guint a = 0; a < 3; a++) {
    geometry->spacing[a] =
        isfinite (spacing[a]) && spacing[a] != 0 ? fabs (spacing[a]) : 1;
    geometry->directions[4 * a] = 1;
  }
}

static gboolean
all_finite (const NdGeometry *geometry)
{
  gboolean ok = TRUE;

  for (guint a = 0; a < 3; a++)
    ok &= isfinite (geometry->spacing[a]) && isfinite (geometry->origin[a]);
  for (guint i = 0; i < 9; i++)
    ok &= isfinite (geometry->directions[i]);
  return ok;
}

gboolean
nd_geometry_from_affine (NdGeometry *geometry, const gdouble affine[3][4],
    const gdouble spacing[3])
{
  NdGeometry found = { .known = TRUE };

  for (guint a = 0; a < 3; a++) {
    gdouble length = sqrt (affine[0][a] * affine[0][a]
        + affine[1][a] * affine[1][a] + affine[2][a] * affine[2][a]);
    gdouble step = fabs (spacing[a]);

    if (!isfinite (step) || step == 0)
      step = length > 0 ? length : 1;
    found.spacing[a] = step;
    found.origin[a] = affine[a][3];
    for (guint row = 0; row < 3; row++)
      found.directions[3 * row + a] = affine[row][a] / step;
  }
  if (!all_finite (&found))
    return FALSE;
  *geometry = found;
  return TRUE;
}

void
nd_geometry_to_affine (const NdGeometry *geometry, gdouble affine[3][4])
{
  for (guint row = 0; row < 3; row++) {
    for (guint a = 0; a < 3; a++)
      affine[row][a] = geometry->directions[3 * row + a] * geometry->spacing[a];
    affine[row][3] = geometry->origin[row];
  }
}

gboolean
nd_geometry_from_quaternion (NdGeometry *geometry, const gdouble bcd[3],
    gdouble qfac, const gdouble spacing[3], const gdouble origin[3])
{
  const gdouble square = bcd[0] * bcd[0] + bcd[1] * bcd[1] + bcd[2] * bcd[2];
  const gboolean half = 1 - square < QUATERNION_LEAST;
  const gdouble scale = half ? 1 / sqrt (square) : 1;
  const gdouble a = half ? 0 : sqrt (1 - square);
  const gdouble b = bcd[0] * scale, c = bcd[1] * scale, d = bcd[2] * scale;
  const gdouble sign = qfac < 0 ? -1 : 1;
  NdGeometry found;

  if (!isfinite (square))
    return FALSE;
  nd_geometry_from_spacing (&found, spacing);
  memcpy (found.origin, origin, sizeof (found.origin));
  found.directions[0] = a * a + b * b - c * c - d * d;
  found.directions[1] = 2 * (b * c - a * d);
  found.directions[2] = 2 * (b * d + a * c) * sign;
  found.directions[3] = 2 * (b * c + a * d);
  found.directions[4] = a * a + c * c - b * b - d * d;
  found.directions[5] = 2 * (c * d - a * b) * sign;
  found.directions[6] = 2 * (b * d - a * c);
  found.directions[7] = 2 * (c * d + a * b);
  found.directions[8] = (a * a + d * d - b * b - c * c) * sign;
  if (!all_finite (&found))
    return FALSE;
  *geometry = found;
  return TRUE;
}

static gboolean
orthonormal (const gdouble m[9])
{
  for (guint p = 0; p < 3; p++) {
    for (guint q = p; q < 3; q++) {
      gdouble dot = m[p] * m[q] + m[3 + p] * m[3 + q] + m[6 + p] * m[6 + q];

      if (!(fabs (dot - (p == q)) <= ORTHONORMAL_SLACK))
        return FALSE;
    }
  }
  return TRUE;
}

/* Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1
 * (1978): the largest of a², b², c², d² comes from the diagonal, the others
 * from divisions by it, so that nothing cancels. */
gboolean
nd_geometry_to_quaternion (const NdGeometry *geometry, gdouble bcd[3],
    gdouble *qfac)
{
  gdouble m[9], q[4], squares[4], length = 0;
  guint largest = 0;

  if (!orthonormal (geometry->directions))
    return FALSE;
  memcpy (m, geometry->directions, sizeof (m));
  *qfac = m[0] * (m[4] * m[8] - m[5] * m[7])
              - m[1] * (m[3] * m[8] - m[5] * m[6])
              + m[2] * (m[3] * m[7] - m[4] * m[6])
          < 0
      ? -1
      : 1;
  for (guint row = 0; row < 3; row++)
    m[3 * row + 2] *= *qfac;

  squares[0] = 1 + m[0] + m[4] + m[8];
  squares[1] = 1 + m[0] - m[4] - m[8];
  squares[2] = 1 - m[0] + m[4] - m[8];
  squares[3] = 1 - m[0] - m[4] + m[8];
  for (guint i = 1; i < 4; i++) {
    if (squares[i] > squares[largest])
      largest = i;
  }
  /* 4 times the product of each component with the largest one. */
  switch (largest) {
    case 0:
      q[0] = squares[0];
      q[1] = m[7] - m[5];
      q[2] = m[2] - m[6];
      q[3] = m[3] - m[1];
      break;
    case 1:
      q[0] = m[7] - m[5];
      q[1] = squares[1];
      q[2] = m[1] + m[3];
      q[3] = m[2] + m[6];
      break;
    case 2:
      q[0] = m[2] - m[6];
      q[1] = m[1] + m[3];
      q[2] = squares[2];
      q[3] = m[5] + m[7];
      break;
    default:
      q[0] = m[3] - m[1];
      q[1] = m[2] + m[6];
      q[2] = m[5] + m[7];
      q[3] = squares[3];
      break;
  }
  for (guint i = 0; i < 4; i++)
    length += q[i] * q[i];
  length = q[0] < 0 ? -sqrt (length) : sqrt (length);
  for (guint i = 0; i < 3; i++)
    bcd[i] = q[i + 1] / length;
  return TRUE;
}
