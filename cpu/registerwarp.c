/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/registerwarp.h"

#include "core/threads.h"
#include "cpu/registerkernels.h"

#include <math.h>

/* Rows of a task. */
#define ROWS 16

/* Positions beyond this do not matter: all are far outside. */
#define FAR 1e15

typedef struct
{
  const gsize *in_size, *out_size;
  const gfloat *in;
  gfloat *out;
  const NdAffine *map;
  NdInterpolation interpolation;
  NdBorder border;
  gfloat border_value;
} WarpJob;

static void
tap_weights (NdInterpolation interpolation, gdouble share, gdouble weights[4])
{
  if (interpolation == ND_INTERPOLATION_CUBIC) {
    nd_cubic_weights (share, weights);
    return;
  }
  weights[0] = weights[3] = 0;
  weights[1] = 1 - share;
  weights[2] = share;
}

/* A sample anywhere. Samples of weight 0 are not read, so that they may be NaN.
 */
static gfloat
warp_sample (const WarpJob *job, const gdouble at[3])
{
  const gsize *size = job->in_size;
  gdouble weights[3][4], sum = 0;
  gint64 index[3][4];
  gboolean outside = FALSE;

  for (guint a = 0; a < 3; a++) {
    const gdouble position = CLAMP (at[a], -FAR, FAR);
    const gint64 below = floor (position);
    gboolean is_inside = FALSE;

    tap_weights (job->interpolation, position - below, weights[a]);
    for (guint k = 0; k < 4; k++) {
      index[a][k] =
          nd_border_index (job->border, below - 1 + (gint64) k, size[a]);
      is_inside |= index[a][k] >= 0 && weights[a][k] != 0;
    }
    outside |= !is_inside;
  }
  if (outside)
    return job->border_value;
  for (guint z = 0; z < 4; z++) {
    for (guint y = 0; y < 4; y++) {
      const gdouble weight = weights[2][z] * weights[1][y];

      for (guint x = 0; x < 4; x++) {
        const gboolean is_inside =
            index[0][x] >= 0 && index[1][y] >= 0 && index[2][z] >= 0;
        const gdouble w = weight * weights[0][x];

        if (w != 0)
          sum += w
              * (is_inside
                      ? job->in[(index[2][z] * size[1] + index[1][y]) * size[0]
                            + index[0][x]]
                      : job->border_value);
      }
    }
  }
  return sum;
}

/* The samples from @first to before @end of a row whose 4 neighbours along each
 * axis exist. */
static void
find_inner (const WarpJob *job, const gdouble start[3], gsize *first,
    gsize *end)
{
  gdouble low = 0, high = (gdouble) job->out_size[0] - 1;

  if (job->in_size[0] == 1)
    high = -1;
  for (guint a = 0; a < 3; a++) {
    const gdouble n = job->in_size[a], step = job->map->m[a][0];
    /* The kernels round positions to float. */
    const gdouble edge = 1e-3 + n * 1e-6;
    const gboolean is_flat = n == 1;
    const gdouble least = (is_flat ? -1e-9 : 1 + edge) - start[a];
    const gdouble most = (is_flat ? 1e-9 : n - 2 - edge) - start[a];

    if (fabs (step) < 1e-12) {
      if (least > 0 || most < 0)
        high = -1;
    } else {
      low = MAX (low, ceil ((step > 0 ? least : most) / step));
      high = MIN (high, floor ((step > 0 ? most : least) / step));
    }
  }
  *first = MIN (low, job->out_size[0]);
  *end = high >= low ? (gsize) high + 1 : *first;
}

static void
warp_row (const WarpJob *job, gsize y, gsize z, gfloat *out)
{
  const NdRegisterKernels *kernels = nd_register_kernels ();
  const NdAffine *map = job->map;
  gdouble start[3], at[3];
  NdWarpRow row;
  gsize first, end;

  for (guint a = 0; a < 3; a++)
    start[a] = map->m[a][1] * y + map->m[a][2] * z + map->m[a][3];
  find_inner (job, start, &first, &end);
  for (gsize x = 0; x < job->out_size[0]; x++) {
    if (x == first)
      x = end;
    if (x == job->out_size[0])
      break;
    for (guint a = 0; a < 3; a++)
      at[a] = start[a] + map->m[a][0] * x;
    out[x] = warp_sample (job, at);
  }
  if (end <= first)
    return;
  row.n = end - first;
  row.volume = job->in;
  for (guint a = 0; a < 3; a++) {
    row.at[a] = start[a] + map->m[a][0] * first;
    row.step[a] = map->m[a][0];
    row.strides[a] = job->in_size[a] == 1 ? 0
        : a == 0                          ? 1
        : a == 1                          ? job->in_size[0]
                                          : job->in_size[0] * job->in_size[1];
  }
  if (job->interpolation == ND_INTERPOLATION_CUBIC)
    kernels->warp_cubic (&row, out + first);
  else
    kernels->warp_linear (&row, out + first);
}

static void
warp_rows (gsize index, guint worker, gpointer data)
{
  const WarpJob *job = data;
  const gsize height = job->out_size[1], rows = height * job->out_size[2];

  for (gsize row = index * ROWS; row < MIN (rows, (index + 1) * ROWS); row++)
    warp_row (job, row % height, row / height,
        job->out + row * job->out_size[0]);
}

void
nd_cpu_warp (const gsize in_size[3], const gfloat *in, const NdAffine *map,
    NdInterpolation interpolation, NdBorder border, gfloat border_value,
    const gsize out_size[3], gfloat *out)
{
  WarpJob job = { in_size, out_size, in, out, map, interpolation, border,
    border_value };

  nd_parallel_for ((out_size[1] * out_size[2] + ROWS - 1) / ROWS, warp_rows,
      &job);
}
