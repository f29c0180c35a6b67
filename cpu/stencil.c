/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/stencil.h"

#include "core/memory.h"
#include "core/threads.h"

#include <string.h>

#define ROWS_PER_TASK (4 * ND_BLOCK_ROWS)

/* Between pieces of so many columns, filters of so many taps look whether they
 * are cancelled. Vectors of a row begin at the same columns either way. */
#define SHORT_PIECE ND_BLOCK_MAX_WIDTH
#define MANY_TAPS 4096

/* Rows of a piece start on cache lines. */
#define ROW_FLOATS 16

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

gboolean
nd_stencil_init (NdStencil *stencil, const NdFilter *filter,
    const gint low[ND_AXES], const NdStrides *strides, gboolean finite,
    GError **error)
{
  const gsize *size = filter->size;
  gsize count = nd_filter_count (filter), used = 0;
  gint filter_low[ND_AXES], filter_high[ND_AXES];
  gsize shift[ND_AXES];

  memset (stencil, 0, sizeof (*stencil));
  stencil->strides = *strides;
  stencil->kernels = nd_kernels ();
  stencil->planes = nd_memory_new (size[2] * size[3], sizeof (NdPlane), error);
  if (!stencil->planes)
    return FALSE;
  stencil->weights = nd_memory_new (count, sizeof (NdReal), error);
  if (!stencil->weights)
    return FALSE;
  stencil->offsets = nd_memory_new (count, sizeof (gsize), error);
  if (!stencil->offsets)
    return FALSE;

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
      out->slot = strides->slice > 0 ? shift[3] + t : shift[2] + z;
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
  stencil->piece = used < MANY_TAPS ? ND_STENCIL_PIECE : SHORT_PIECE;
  return TRUE;
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

/* The sums of a volume are in rows of whole vectors. The rows of a slice are
 * whole groups of ND_BLOCK_ROWS. */
static gsize
begun_row (const NdStencil *stencil, const gsize size[3])
{
  const gsize vector = stencil->kernels->vector;

  return (size[0] + vector - 1) / vector * vector;
}

static gsize
begun_at (const gsize size[3], gsize row, gsize x, gsize y, gsize z)
{
  const gsize groups = (size[1] + ND_BLOCK_ROWS - 1) / ND_BLOCK_ROWS;

  return (z * groups * ND_BLOCK_ROWS + y) * row + x;
}

gsize
nd_stencil_begun_floats (const NdStencil *stencil, const gsize size[3])
{
  const gsize groups = (size[1] + ND_BLOCK_ROWS - 1) / ND_BLOCK_ROWS;

  return stencil->n_early == 0 ? 0
                               : nd_size_mul (begun_row (stencil, size),
                                     groups * ND_BLOCK_ROWS, size[2]);
}

typedef struct
{
  const NdStencil *stencil;
  const NdReal *const *volumes;
  const gsize *size;
  gsize tasks_per_slice;
  NdReal *begun;
} Begin;

static void
begin_task (gsize index, guint worker, gpointer data)
{
  const Begin *begin = data;
  const NdStencil *stencil = begin->stencil;
  const NdStrides *strides = &stencil->strides;
  const gsize *size = begin->size, row = begun_row (stencil, size);
  const gsize z = index / begin->tasks_per_slice;
  const gsize first = index % begin->tasks_per_slice * ROWS_PER_TASK;
  const gsize end = MIN (first + ROWS_PER_TASK, size[1]);

  for (gsize y = first; y < end; y += ND_BLOCK_ROWS)
    stencil->kernels->sum_piece (stencil->planes, stencil->n_early,
        begin->volumes, z * strides->slice + y * strides->row, strides->row,
        NULL, 0, begin->begun + begun_at (size, row, 0, y, z), row, size[0]);
}

void
nd_stencil_begin (const NdStencil *stencil, const NdReal *const *volumes,
    const gsize size[3], NdReal *begun)
{
  Begin begin = { .stencil = stencil,
    .volumes = volumes,
    .size = size,
    .tasks_per_slice = (size[1] + ROWS_PER_TASK - 1) / ROWS_PER_TASK,
    .begun = begun };

  if (stencil->n_early > 0)
    nd_parallel_for (begin.tasks_per_slice * size[2], begin_task, &begin);
}

typedef struct
{
  const NdStencilBank *bank;
  const gsize *size;
  gsize tasks_per_slice;
  gsize x, y, z; /* of the first output */
  gsize line;    /* the outputs of a volume of one row; 0: other volumes */
} Run;

/* Takes @n sums of row @y, from column @x on. */
static void
stencil_take_row (const Run *run, guint k, gsize component, NdReal *sums,
    gsize n, gsize x, gsize y, gsize z)
{
  const NdRowOutput *output = run->bank->output;
  const gsize at = y * run->size[0] + x;

  if (run->line == 0)
    nd_output_row (output, k, component, sums, n, x, run->y + y, run->z + z);
  else if (at < run->line)
    nd_output_row (output, k, component, sums, MIN (n, run->line - at),
        run->x + at, 0, 0);
}

static gsize
layer_row (gsize width)
{
  return (MIN (width, ND_STENCIL_PIECE) + ROW_FLOATS - 1) / ROW_FLOATS
      * ROW_FLOATS;
}

gsize
nd_stencil_layer_floats (gsize width)
{
  return ND_BLOCK_ROWS * layer_row (width);
}

/* The columns, of @n from @x on, of a block of rows whose sums are the output
 * itself, at @out: whole vectors, so that nothing is written beyond them. */
static gsize
stencil_in_place (const Run *run, guint k, gsize x, gsize n, gsize y, gsize z,
    gsize y_end, NdReal **out)
{
  const NdStencilBank *bank = run->bank;

  *out = NULL;
  if (run->line > 0 || y + ND_BLOCK_ROWS > y_end)
    return 0;
  *out = nd_output_in_place (bank->output, k, x, run->y + y, run->z + z);
  return *out ? n - n % bank->stencils[k].kernels->vector : 0;
}

/* Computes @n columns of ND_BLOCK_ROWS rows from column @x on, for one filter
 * and component @c of the group. */
static void
stencil_run_filter (const Run *run, guint worker, guint k, gsize c, gsize x,
    gsize n, gsize y, gsize z, gsize y_end)
{
  const NdStencilBank *bank = run->bank;
  const NdRowOutput *output = bank->output;
  const NdStencil *stencil = bank->stencils + k;
  const NdStrides *strides = &stencil->strides;
  const NdReal *begun =
      bank->begun ? bank->begun[c * output->job.bank->n_filters + k] : NULL;
  const guint first = begun ? stencil->n_early : 0;
  const gsize row = layer_row (run->size[0]);
  const gsize early_row = begun_row (stencil, run->size);
  NdReal *sums = nd_output_layer (output, worker, k, bank->component + c), *out;
  const gsize direct = stencil_in_place (run, k, x, n, y, z, y_end, &out);

  for (gsize i = 0, end; i < n && !nd_threads_cancelled (); i = end) {
    end = MIN (i + stencil->piece, i < direct ? direct : n);
    stencil->kernels->sum_piece (stencil->planes + first,
        stencil->n_planes - first, bank->volumes + c * bank->n_volumes,
        z * strides->slice + y * strides->row + x + i, strides->row,
        begun ? begun + begun_at (run->size, early_row, x + i, y, z) : NULL,
        early_row, i < direct ? out + i : sums + i,
        i < direct ? output->out->row / sizeof (NdReal) : row, end - i);
  }
  for (gsize r = 0; direct < n && r < ND_BLOCK_ROWS && y + r < y_end; r++)
    stencil_take_row (run, k, bank->component + c, sums + r * row + direct,
        n - direct, x + direct, y + r, z);
}

static void
run_rows (const Run *run, guint worker, gsize y, gsize y_end, gsize z)
{
  const NdRowOutput *output = run->bank->output;

  for (; y < y_end; y += ND_BLOCK_ROWS) {
    for (gsize x = 0; x < run->size[0]; x += ND_STENCIL_PIECE) {
      const gsize n = MIN (run->size[0] - x, ND_STENCIL_PIECE);

      for (guint k = 0; k < output->job.bank->n_filters; k++)
        for (gsize c = 0; c < output->group; c++)
          stencil_run_filter (run, worker, k, c, x, n, y, z, y_end);
    }
  }
}

static void
stencil_run_task (gsize index, guint worker, gpointer data)
{
  const Run *run = data;
  const gsize z = index / run->tasks_per_slice;
  const gsize y = index % run->tasks_per_slice * ROWS_PER_TASK;

  run_rows (run, worker, y, MIN (y + ROWS_PER_TASK, run->size[1]), z);
}

void
nd_stencil_run (const NdStencilBank *bank, const gsize size[3])
{
  Run run = { .bank = bank,
    .size = size,
    .tasks_per_slice = (size[1] + ROWS_PER_TASK - 1) / ROWS_PER_TASK };

  nd_parallel_for (run.tasks_per_slice * size[2], stencil_run_task, &run);
}

void
nd_stencil_rows (const NdStencilBank *bank, guint worker, gsize width, gsize n,
    gsize y, gsize z)
{
  const gsize size[3] = { width, n, 1 };
  const Run run = { .bank = bank, .size = size, .y = y, .z = z };

  run_rows (&run, worker, 0, n, 0);
}

void
nd_stencil_line (const NdStencilBank *bank, guint worker, gsize width, gsize n,
    gsize x)
{
  const gsize size[3] = { width, ND_BLOCK_ROWS, 1 };
  const Run run = { .bank = bank, .size = size, .x = x, .line = n };

  run_rows (&run, worker, 0, ND_BLOCK_ROWS, 0);
}
