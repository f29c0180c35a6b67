/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/stencil.h"

#include "core/memory.h"
#include "core/threads.h"

#include <string.h>

#define ROWS_PER_TASK (4 * ND_BLOCK_ROWS)

/* The columns of outputs that are computed before they are stored: blocks of 2,
 * 3 and 4 vectors fill them. */
#define PIECE 768

/* The taps of a sum; the error of a longer one would be larger. */
#define SUM_TAPS 128

/* The coefficients of a filter at one time and one z offset. */
typedef struct
{
  const gdouble *coefficients;
  gsize nx, ny;
  gsize x0, x1, y0, y1; /* the bounding box of the non-zero ones */
  gsize n_taps;         /* non-zero ones */
} Plane;

/* Flipped: (x, y) is the offset of the sample that the coefficient multiplies.
 */
static gdouble
plane_at (const Plane *p, gsize x, gsize y)
{
  return p->coefficients[(p->ny - 1 - y) * p->nx + p->nx - 1 - x];
}

static void
plane_crop (Plane *p)
{
  p->x0 = p->nx;
  p->y0 = p->ny;
  p->x1 = p->y1 = p->n_taps = 0;
  for (gsize y = 0; y < p->ny; y++) {
    for (gsize x = 0; x < p->nx; x++) {
      if (plane_at (p, x, y) == 0)
        continue;
      p->n_taps++;
      p->x0 = MIN (p->x0, x);
      p->x1 = MAX (p->x1, x + 1);
      p->y0 = MIN (p->y0, y);
      p->y1 = MAX (p->y1, y + 1);
    }
  }
}

static guint
count_taps (const NdPlane *plane)
{
  return plane->nx ? plane->nx * plane->ny : plane->n_taps;
}

/* Rounding errors grow with the length of a sum, so that sums of SUM_TAPS taps
 * are added to the output and started again. What is begun is one number per
 * output: either the only sum so far, which is then continued, or the total of
 * sums that have all ended. */
static void
end_sums (NdStencil *stencil)
{
  gboolean ended = FALSE;
  guint taps = 0;

  for (guint p = 0; p < stencil->n_planes; p++) {
    NdPlane *plane = &stencil->planes[p];

    taps += count_taps (plane);
    plane->ends_sum = taps >= SUM_TAPS || p + 1 == stencil->n_planes
        || (ended && p + 1 == stencil->n_early);
    if (plane->ends_sum) {
      ended = TRUE;
      taps = 0;
    }
  }
}

void
nd_stencil_init (NdStencil *stencil, const NdFilter *filter,
    const gint low[ND_AXES], const NdStrides *strides, gboolean finite)
{
  const gsize *size = filter->size;
  gsize count = nd_filter_count (filter), used = 0;
  gint filter_low[ND_AXES], filter_high[ND_AXES];
  gsize shift[ND_AXES];

  memset (stencil, 0, sizeof (*stencil));
  stencil->strides = *strides;
  stencil->kernels = nd_kernels ();
  stencil->planes = g_new0 (NdPlane, size[2] * size[3]);
  stencil->weights = g_new (NdReal, count);
  stencil->offsets = g_new (gsize, count);

  nd_filter_reach (filter, filter_low, filter_high);
  for (guint a = 0; a < ND_AXES; a++)
    shift[a] = filter_low[a] - low[a];

  for (gsize t = 0; t < size[3]; t++) {
    for (gsize z = 0; z < size[2]; z++) {
      NdPlane *out = stencil->planes + stencil->n_planes;
      Plane p = { .nx = size[0], .ny = size[1] };
      gsize box;

      p.coefficients = filter->coefficients
          + ((size[3] - 1 - t) * size[2] + size[2] - 1 - z) * p.nx * p.ny;
      plane_crop (&p);
      if (p.n_taps == 0)
        continue;
      stencil->n_planes++;
      box = (p.x1 - p.x0) * (p.y1 - p.y0);
      out->slot = shift[3] + t;
      out->offset =
          (shift[2] + z) * strides->slice + shift[1] * strides->row + shift[0];
      out->weights = stencil->weights + used;
      if (p.n_taps == box || (finite && p.n_taps >= ND_DENSE_SHARE * box)) {
        out->nx = p.x1 - p.x0;
        out->ny = p.y1 - p.y0;
        out->offset += p.y0 * strides->row + p.x0;
        for (gsize y = p.y0; y < p.y1; y++)
          for (gsize x = p.x0; x < p.x1; x++)
            stencil->weights[used++] = plane_at (&p, x, y);
        continue;
      }
      out->n_taps = p.n_taps;
      out->offsets = stencil->offsets + used;
      for (gsize y = p.y0; y < p.y1; y++) {
        for (gsize x = p.x0; x < p.x1; x++) {
          if (plane_at (&p, x, y) == 0)
            continue;
          stencil->offsets[used] = y * strides->row + x;
          stencil->weights[used++] = plane_at (&p, x, y);
        }
      }
    }
  }
  end_sums (stencil);
}

void
nd_stencil_clear (NdStencil *stencil)
{
  g_clear_pointer (&stencil->planes, g_free);
  g_clear_pointer (&stencil->weights, g_free);
  g_clear_pointer (&stencil->offsets, g_free);
}

gsize
nd_stencil_slack (const NdStrides *strides)
{
  return ND_BLOCK_ROWS * strides->row + ND_BLOCK_MAX_WIDTH;
}

void
nd_stencil_split (NdStencil *stencil, guint t)
{
  guint n = 0, taps = 0;

  while (n < stencil->n_planes && stencil->planes[n].slot < t)
    taps += count_taps (&stencil->planes[n++]);
  if (taps < ND_EARLY_TAPS)
    return;
  stencil->n_early = n;
  end_sums (stencil);
}

typedef struct
{
  const NdStencil *stencil;
  const NdPlane *planes;
  guint n_planes;
  const NdReal *const *volumes;
  const gsize *size;
  gsize tasks_per_slice;
  gsize row;         /* the floats of a row of whole vectors */
  NdReal *begin;     /* sums to write, or NULL */
  const NdReal *add; /* sums to add, or NULL */
  gsize y, z;        /* of the first output */
  NdRowFunc func;
  gpointer data;
} Run;

/* The sums of a volume are in rows of whole vectors. The rows of a slice are
 * whole groups of ND_BLOCK_ROWS. */
static gsize
begun_at (const Run *run, gsize x, gsize y, gsize z)
{
  const gsize groups = (run->size[1] + ND_BLOCK_ROWS - 1) / ND_BLOCK_ROWS;

  return (z * groups * ND_BLOCK_ROWS + y) * run->row + x;
}

/* Computes @n columns of ND_BLOCK_ROWS rows from column @x on. */
static void
run_piece (const Run *run, gsize x, gsize n, gsize y, gsize z, gsize y_end)
{
  NdReal sums[ND_BLOCK_ROWS * PIECE] __attribute__ ((aligned (64)));
  const NdStrides *strides = &run->stencil->strides;
  const gsize at = begun_at (run, x, y, z);
  NdReal *out = run->begin ? run->begin + at : sums;

  run->stencil->kernels->sum_piece (run->planes, run->n_planes, run->volumes,
      z * strides->slice + y * strides->row + x, strides->row,
      run->add ? run->add + at : NULL, run->row, out,
      run->begin ? run->row : PIECE, n);
  for (gsize r = 0; run->func && r < ND_BLOCK_ROWS && y + r < y_end; r++)
    run->func (sums + r * PIECE, n, x, run->y + y + r, run->z + z, run->data);
}

static void
run_rows (const Run *run, gsize y, gsize y_end, gsize z)
{
  for (; y < y_end; y += ND_BLOCK_ROWS) {
    for (gsize x = 0; x < run->size[0]; x += PIECE)
      run_piece (run, x, MIN (run->size[0] - x, PIECE), y, z, y_end);
  }
}

static void
run_task (gsize index, guint worker, gpointer data)
{
  const Run *run = data;
  gsize z = index / run->tasks_per_slice;
  gsize y = index % run->tasks_per_slice * ROWS_PER_TASK;

  run_rows (run, y, MIN (y + ROWS_PER_TASK, run->size[1]), z);
}

static gsize
vector_row (const NdStencil *stencil, const gsize size[3])
{
  const gsize vector = stencil->kernels->vector;

  return (size[0] + vector - 1) / vector * vector;
}

static void
run_all (Run *run)
{
  run->row = vector_row (run->stencil, run->size);
  run->tasks_per_slice = (run->size[1] + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
  nd_parallel_for (run->tasks_per_slice * run->size[2], run_task, run);
}

gsize
nd_stencil_begun_floats (const NdStencil *stencil, const gsize size[3])
{
  const gsize groups = (size[1] + ND_BLOCK_ROWS - 1) / ND_BLOCK_ROWS;

  return stencil->n_early == 0 ? 0
                               : nd_size_mul (vector_row (stencil, size),
                                     groups * ND_BLOCK_ROWS, size[2]);
}

void
nd_stencil_begin (const NdStencil *stencil, const NdReal *const *volumes,
    const gsize size[3], NdReal *begun)
{
  Run run = { .stencil = stencil,
    .planes = stencil->planes,
    .n_planes = stencil->n_early,
    .volumes = volumes,
    .size = size,
    .begin = begun };

  if (run.n_planes > 0)
    run_all (&run);
}

void
nd_stencil_run (const NdStencil *stencil, const NdReal *const *volumes,
    const gsize size[3], const NdReal *begun, NdRowFunc func, gpointer data)
{
  const guint first = begun ? stencil->n_early : 0;
  Run run = { .stencil = stencil,
    .planes = stencil->planes + first,
    .n_planes = stencil->n_planes - first,
    .volumes = volumes,
    .size = size,
    .add = begun,
    .func = func,
    .data = data };

  run_all (&run);
}

void
nd_stencil_rows (const NdStencil *stencil, const NdReal *rows, gsize width,
    gsize n, gsize y, gsize z, NdRowFunc func, gpointer data)
{
  const gsize size[3] = { width, n, 1 };
  const Run run = { .stencil = stencil,
    .planes = stencil->planes,
    .n_planes = stencil->n_planes,
    .volumes = &rows,
    .size = size,
    .y = y,
    .z = z,
    .func = func,
    .data = data };

  run_rows (&run, 0, n, 0);
}
