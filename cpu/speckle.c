/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/speckle.h"

#include "core/threads.h"
#include "cpu/adaptivekernels.h"

#include <string.h>

#define ROWS 27

typedef struct
{
  const gfloat *const *volumes;
  const gsize *size;
  const NdDenoiseBorders *borders;
  gfloat *out;
  gfloat *rows; /* ROWS padded rows for each thread */
} Job;

/* Copies row (y, z) of @volume with one sample of the border at each end. */
static void
read_row (const Job *job, const gfloat *volume, gint64 y, gint64 z, gfloat *out)
{
  const NdBorder border = job->borders->border;
  const gint64 n = job->size[0];

  y = nd_border_index (border, y, job->size[1]);
  z = nd_border_index (border, z, job->size[2]);
  for (gint64 x = -1; x <= n; x++) {
    const gint64 from = nd_border_index (border, x, n);

    out[x + 1] = !volume || y < 0 || z < 0 || from < 0
        ? job->borders->border_value
        : volume[(z * (gint64) job->size[1] + y) * n + from];
  }
}

static void
filter_plane (gsize z, guint worker, gpointer data)
{
  const Job *job = data;
  const gsize width = job->size[0], height = job->size[1];
  const gint64 depth = job->size[2] > 1 ? 1 : 0;
  const gfloat *in[ND_MEDIAN_MAX];
  gfloat *rows = job->rows + worker * ROWS * (width + 2);

  for (gsize y = 0; y < height; y++) {
    const gsize at = (z * height + y) * width;
    guint n = 0;

    for (guint t = 0; t < 3; t++) {
      for (gint64 dz = -depth; dz <= depth; dz++) {
        for (gint64 dy = -1; dy <= 1; dy++) {
          gfloat *row = rows + n / 3 * (width + 2);

          read_row (job, job->volumes[t], (gint64) y + dy, (gint64) z + dz,
              row);
          for (guint dx = 0; dx < 3; dx++)
            in[n++] = row + dx;
        }
      }
    }
    nd_adaptive_kernels ()->median (n, in, job->out + at, width);
    for (gsize x = 0; x < width; x++)
      job->out[at + x] = (job->out[at + x] + job->volumes[1][at + x]) / 2;
  }
}

void
nd_speckle_half_median (const gfloat *const volumes[3], const gsize size[3],
    const NdDenoiseBorders *borders, gfloat *out)
{
  g_autofree gfloat *rows =
      g_new (gfloat, nd_threads () * ROWS * (size[0] + 2));
  Job job = { volumes, size, borders, out, rows };

  nd_parallel_for (size[2], filter_plane, &job);
}
