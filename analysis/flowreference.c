/* The flow by its definition: sample by sample, in double precision.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "analysis/flow.h"

#include "analysis/denoise.h"

#include <math.h>
#include <string.h>

typedef struct
{
  gsize size[3], cells[3];
  gdouble *target, *other; /* smoothed */
} Level;

void
nd_flow_cells (const gsize size[3], gsize cells[3])
{
  for (guint a = 0; a < 3; a++)
    cells[a] = (size[a] + 1) / 2;
}

static gsize
flow_reference_count (const gsize size[3])
{
  return size[0] * size[1] * size[2];
}

/* The sample at a position, or the nearest one if that is outside. */
static gdouble
flow_reference_get (const gsize size[3], const gdouble *volume, gint64 x,
    gint64 y, gint64 z)
{
  const gint64 at[3] = { x, y, z };
  gsize index = 0;

  for (gint a = 2; a >= 0; a--)
    index = index * size[a] + CLAMP (at[a], 0, (gint64) size[a] - 1);
  return volume[index];
}

static void
flow_reference_locate (const gsize size[3], gsize index, gint64 at[3])
{
  for (guint a = 0; a < 3; a++) {
    at[a] = index % size[a];
    index /= size[a];
  }
}

/* The binomial filter 1 2 1 along each axis. */
static gdouble *
flow_reference_smooth (const gsize size[3], const gdouble *in)
{
  static const gdouble weights[3] = { .25, .5, .25 };
  gdouble *out = g_new0 (gdouble, flow_reference_count (size));

  for (gsize i = 0; i < flow_reference_count (size); i++) {
    gint64 at[3];

    flow_reference_locate (size, i, at);
    for (guint k = 0; k < 27; k++)
      out[i] += weights[k % 3] * weights[k / 3 % 3] * weights[k / 9]
          * flow_reference_get (size, in, at[0] + k % 3 - 1,
              at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1);
  }
  return out;
}

static gdouble *
flow_reference_coarsen (const gsize size[3], const gdouble *in)
{
  gsize cells[3];
  gdouble *out;

  nd_flow_cells (size, cells);
  out = g_new0 (gdouble, flow_reference_count (cells));
  for (gsize i = 0; i < flow_reference_count (cells); i++) {
    gint64 at[3];

    flow_reference_locate (cells, i, at);
    for (guint k = 0; k < 8; k++)
      out[i] += flow_reference_get (size, in, 2 * at[0] + k % 2,
                    2 * at[1] + k / 2 % 2, 2 * at[2] + k / 4)
          / 8;
  }
  return out;
}

/* The values of cells at sample @at: along each axis the nearer one counts
 * 3/4, the other one 1/4. */
static gdouble
flow_reference_interpolate (const gsize cells[3], const gdouble *values,
    const gint64 at[3])
{
  gdouble sum = 0;

  for (guint k = 0; k < 8; k++) {
    gint64 cell[3];
    gdouble weight = 1;

    for (guint a = 0; a < 3; a++) {
      const gboolean is_far = k >> a & 1;

      cell[a] = at[a] / 2 + (is_far ? (at[a] % 2 ? 1 : -1) : 0);
      weight *= is_far ? .25 : .75;
    }
    sum +=
        weight * flow_reference_get (cells, values, cell[0], cell[1], cell[2]);
  }
  return sum;
}

/* Catmull and Rom, at the distance @a from the second of 4 samples. */
static gdouble
cubic (gdouble a, guint i)
{
  const gdouble d = fabs (a + 1 - i);

  return d < 1 ? (1.5 * d - 2.5) * d * d + 1
               : ((-.5 * d + 2.5) * d - 4) * d + 2;
}

/* @volume at a sample displaced by the flow: linear interpolation, or cubic. */
static gdouble
displaced (const gsize size[3], const gdouble *volume, const gsize cells[3],
    const gdouble *flow, const gint64 at[3], gboolean is_cubic)
{
  gint64 below[3];
  gdouble distance[3], sum = 0;

  for (guint a = 0; a < 3; a++) {
    const gdouble to = at[a]
        + flow_reference_interpolate (cells,
            flow + a * flow_reference_count (cells), at);
    const gdouble inside = CLAMP (to, 0, size[a] - 1.);

    below[a] = floor (inside);
    distance[a] = inside - below[a];
  }
  for (guint k = 0; k < 64; k++) {
    const guint step[3] = { k % 4, k / 4 % 4, k / 16 };
    gdouble weight = 1;

    for (guint a = 0; a < 3; a++) {
      if (is_cubic)
        weight *= cubic (distance[a], step[a]);
      else
        weight *= step[a] == 1 ? 1 - distance[a]
            : step[a] == 2     ? distance[a]
                               : 0;
    }
    if (weight != 0)
      sum += weight
          * flow_reference_get (size, volume, below[0] + step[0] - 1,
              below[1] + step[1] - 1, below[2] + step[2] - 1);
  }
  return sum;
}

/* The sums of a structure tensor (xx xy xz yy yz zz) and of the products of the
 * gradient and the difference at each cell, and their means over the window. */
static gdouble *
sum_cells (const Level *level, const gdouble *flow)
{
  static const gdouble window[7] = { 1 / 64., 6 / 64., 15 / 64., 20 / 64.,
    15 / 64., 6 / 64., 1 / 64. };
  const gsize *size = level->size, n = flow_reference_count (level->cells);
  g_autofree gdouble *means = g_new0 (gdouble, 9 * n);
  g_autofree guint *numbers = g_new0 (guint, n);
  gdouble *out = g_new0 (gdouble, 9 * n);

  for (gsize i = 0; i < flow_reference_count (size); i++) {
    const gdouble *s = level->target;
    gdouble g[3], d;
    gint64 at[3];
    gsize cell;
    guint k = 0;

    flow_reference_locate (size, i, at);
    cell =
        (at[2] / 2 * level->cells[1] + at[1] / 2) * level->cells[0] + at[0] / 2;
    for (guint a = 0; a < 3; a++)
      g[a] = (flow_reference_get (size, s, at[0] + (a == 0), at[1] + (a == 1),
                  at[2] + (a == 2))
                 - flow_reference_get (size, s, at[0] - (a == 0),
                     at[1] - (a == 1), at[2] - (a == 2)))
          / 2;
    d = displaced (size, level->other, level->cells, flow, at, FALSE) - s[i];
    for (guint a = 0; a < 3; a++) {
      for (guint b = a; b < 3; b++)
        means[k++ * n + cell] += g[a] * g[b];
    }
    for (guint a = 0; a < 3; a++)
      means[k++ * n + cell] += g[a] * d;
    numbers[cell]++;
  }
  for (gsize i = 0; i < 9 * n; i++)
    means[i] /= numbers[i % n];
  for (gsize i = 0; i < 9 * n; i++) {
    gint64 at[3];

    flow_reference_locate (level->cells, i % n, at);
    for (guint k = 0; k < 343; k++)
      out[i] += window[k % 7] * window[k / 7 % 7] * window[k / 49]
          * flow_reference_get (level->cells, means + i / n * n,
              at[0] + k % 7 - 3, at[1] + k / 7 % 7 - 3, at[2] + k / 49 - 3);
  }
  return out;
}

/* One step of Gauss and Newton. */
static void
step (const Level *level, gdouble regular, gdouble limit, gdouble *flow)
{
  const gsize n = flow_reference_count (level->cells);
  g_autofree gdouble *sums = sum_cells (level, flow);

  for (gsize i = 0; i < n; i++) {
    const gdouble xx = sums[i] + regular, xy = sums[n + i];
    const gdouble xz = sums[2 * n + i], yy = sums[3 * n + i] + regular;
    const gdouble yz = sums[4 * n + i], zz = sums[5 * n + i] + regular;
    const gdouble *b = sums + 6 * n + i;
    const gdouble cofactors[3][3] = { { yy * zz - yz * yz, xz * yz - xy * zz,
                                          xy * yz - xz * yy },
      { xz * yz - xy * zz, xx * zz - xz * xz, xy * xz - xx * yz },
      { xy * yz - xz * yy, xy * xz - xx * yz, xx * yy - xy * xy } };
    const gdouble determinant =
        xx * cofactors[0][0] + xy * cofactors[0][1] + xz * cofactors[0][2];

    for (guint a = 0; a < 3 && determinant > 0; a++) {
      const gdouble d = -(cofactors[a][0] * b[0] + cofactors[a][1] * b[n]
                            + cofactors[a][2] * b[2 * n])
          / determinant;

      flow[a * n + i] =
          CLAMP (flow[a * n + i] + CLAMP (d, -1, 1), -limit, limit);
    }
  }
}

static void
flow_reference_estimate (const gsize size[3], const gdouble *target,
    const gdouble *other, guint n_steps, gdouble sigma, gdouble limit,
    gdouble *flow)
{
  Level level = { .target = flow_reference_smooth (size, target),
    .other = flow_reference_smooth (size, other) };

  memcpy (level.size, size, sizeof (level.size));
  nd_flow_cells (size, level.cells);
  for (guint i = 0; i < n_steps; i++)
    step (&level, ND_FLOW_REGULAR * sigma * sigma, limit, flow);
  g_free (level.target);
  g_free (level.other);
}

/* The flow of the coarse level, at its samples. */
static void
estimate_coarse (const gsize size[3], const gdouble *target,
    const gdouble *other, gdouble sigma, gdouble *flow)
{
  g_autofree gdouble *small_target = flow_reference_coarsen (size, target);
  g_autofree gdouble *small_other = flow_reference_coarsen (size, other);
  g_autofree gdouble *small = NULL;
  gsize cells[3], small_cells[3];

  nd_flow_cells (size, cells);
  nd_flow_cells (cells, small_cells);
  small = g_new0 (gdouble, 3 * flow_reference_count (small_cells));
  flow_reference_estimate (cells, small_target, small_other,
      ND_FLOW_COARSE_STEPS, sigma, ND_FLOW_LIMIT / 2, small);
  for (gsize i = 0; i < 3 * flow_reference_count (cells); i++) {
    gint64 at[3];

    flow_reference_locate (cells, i % flow_reference_count (cells), at);
    flow[i] = 2
        * flow_reference_interpolate (small_cells,
            small
                + i / flow_reference_count (cells)
                    * flow_reference_count (small_cells),
            at);
  }
}

void
nd_flow_reference (const gsize size[3], const gdouble *target,
    const gdouble *other, gdouble sigma, gint offset, gdouble *flow)
{
  const gint distance = ABS (offset);
  gsize cells[3];

  nd_flow_cells (size, cells);
  for (gsize i = 0; i < 3 * flow_reference_count (cells); i++)
    flow[i] = distance > 1 ? flow[i] * distance / (distance - 1) : 0;
  if (distance == 1 && nd_denoise_has_coarse_scale (size))
    estimate_coarse (size, target, other, sigma, flow);
  flow_reference_estimate (size, target, other, ND_FLOW_FINE_STEPS, sigma,
      ND_FLOW_LIMIT * distance, flow);
}

void
nd_flow_reference_move (const gsize size[3], const gdouble *flow,
    const gdouble *in, gdouble *out)
{
  gsize cells[3];

  nd_flow_cells (size, cells);
  for (gsize i = 0; i < flow_reference_count (size); i++) {
    gint64 at[3];

    flow_reference_locate (size, i, at);
    out[i] = displaced (size, in, cells, flow, at, TRUE);
  }
}
