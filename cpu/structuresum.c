/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/structuresum.h"

#include "core/threads.h"

#include <string.h>

typedef struct
{
  const NdStructureWindow *window;
  const gfloat *in, *weights; /* weights of u = 0 at [0] */
  gfloat *out;
} AxisJob;

static void
sum_x (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gint64 n = job->window->size[0], radius = job->window->radius;
  const gfloat *in = job->in + row * n, *scale = job->window->scale[0];
  gfloat *out = job->out + row * n;

  memset (out, 0, n * sizeof (gfloat));
  for (gint64 u = -radius; u <= radius; u++) {
    const gfloat weight = job->weights[u];
    const gint64 end = MIN (n, n - u);

    for (gint64 x = MAX (0, -u); x < end; x++)
      out[x] += weight * in[x + u];
  }
  for (gint64 x = 0; x < n; x++)
    out[x] *= scale[x];
}

/* Sums rows that are @step rows apart. @index: the number of the output row
 * among @n. */
static void
sum_rows (const AxisJob *job, gsize first, gsize step, gint64 n, gint64 index,
    const gfloat *scale)
{
  const gsize width = job->window->size[0];
  const gint64 radius = job->window->radius;
  gfloat *out = job->out + (first + index * step) * width;

  memset (out, 0, width * sizeof (gfloat));
  for (gint64 u = MAX (-radius, -index); u <= MIN (radius, n - 1 - index);
       u++) {
    const gfloat weight = job->weights[u] * scale[index];
    const gfloat *in = job->in + (first + (index + u) * step) * width;

    for (gsize x = 0; x < width; x++)
      out[x] += weight * in[x];
  }
}

static void
sum_y (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gsize n = job->window->size[1];

  sum_rows (job, row / n * n, 1, n, row % n, job->window->scale[1]);
}

static void
sum_z (gsize row, guint worker, gpointer data)
{
  const AxisJob *job = data;
  const gsize height = job->window->size[1];

  sum_rows (job, row % height, height, job->window->size[2], row / height,
      job->window->scale[2]);
}

void
nd_cpu_structure_sum (const NdStructureWindow *window, const gfloat *in,
    const guint p[3], gfloat *scratch, gfloat *out)
{
  static const NdTask tasks[3] = { sum_x, sum_y, sum_z };
  const gsize rows = window->size[1] * window->size[2];
  const gsize n = 2 * window->radius + 1;
  const gfloat *from = in;

  for (guint a = 0; a < 3; a++) {
    AxisJob job = {
      .window = window,
      .in = from,
      .weights = window->weights + p[a] * n + window->radius,
      .out = a == 2 ? out : scratch + a * rows * window->size[0],
    };

    nd_parallel_for (rows, tasks[a], &job);
    from = job.out;
  }
}
