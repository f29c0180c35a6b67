/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/transform.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cost.h"
#include "cpu/linefft.h"
#include "cpu/pad.h"

#include <math.h>
#include <string.h>

/* The memory of one worker. */
typedef struct
{
  NdReal *rows;     /* one for each lane, row_floats apart */
  NdReal *lines[3]; /* numbers of the longest line */
  NdReal *tile;     /* a number for each lane */
} Scratch;

/* A number is one of linefft.h: of each lane. Lanes are neighbours along x,
 * except while x is transformed, when they are rows. */
struct _NdTransform
{
  gsize size[3];
  const NdLineKernels *kernels;
  gsize number;          /* floats */
  gsize width;           /* complex numbers of a row */
  gsize groups;          /* numbers of a row */
  gsize row;             /* numbers from row to row in @work: odd, to keep the
                          * rows apart in a cache */
  NdLineFft *axis[3][2]; /* [axis][inverse] */
  NdReal *work;          /* the volume with x and y transformed */
  guint n_workers;
  gsize row_floats, line_floats;
  NdReal *memory; /* scratch, and then work, not aligned */
  gsize floats;
};

/* Compares the few dozen sizes 2^a * 3^b * 5^c between @n and the next power of
 * two. */
gsize
nd_transform_size (gsize n, gboolean even)
{
  gdouble least = INFINITY;
  gsize best = n;

  if (n <= 1 && !even)
    return 1;
  n = MAX (n, 2);
  for (gsize fives = 1; fives < 2 * n; fives *= 5) {
    for (gsize threes = fives; threes < 2 * n; threes *= 3) {
      gsize m = even ? 2 * threes : threes;
      gdouble cost;

      while (m < n)
        m *= 2;
      cost = nd_cost_transform (m);
      if (cost < least) {
        least = cost;
        best = m;
      }
    }
  }
  return best;
}

static gsize
scratch_floats (const NdTransform *t)
{
  const gsize lines = nd_size_mul (t->line_floats, 3, 1);
  gsize floats = nd_size_mul (t->row_floats, t->kernels->lanes, 1);

  if (!g_size_checked_add (&floats, floats, lines)
      || !g_size_checked_add (&floats, floats, t->kernels->lanes * t->number))
    return G_MAXSIZE;
  return floats;
}

static Scratch
transform_scratch (const NdTransform *t, guint worker)
{
  const guintptr start = ((guintptr) t->memory + ND_LINE_ALIGN - 1)
      / ND_LINE_ALIGN * ND_LINE_ALIGN;
  Scratch s = { .rows = (NdReal *) start + worker * scratch_floats (t) };

  s.lines[0] = s.rows + t->row_floats * t->kernels->lanes;
  s.lines[1] = s.lines[0] + t->line_floats;
  s.lines[2] = s.lines[1] + t->line_floats;
  s.tile = s.lines[2] + t->line_floats;
  return s;
}

static gboolean
make_axes (NdTransform *t, GError **error)
{
  for (guint i = 0; i < 2; i++) {
    t->axis[0][i] = nd_line_fft_new_real (t->size[0], i, error);
    for (guint a = 1; a < 3 && t->axis[a - 1][i]; a++)
      t->axis[a][i] = nd_line_fft_new (t->size[a], i, error);
    if (!t->axis[2][i])
      return FALSE;
  }
  return TRUE;
}

NdTransform *
nd_transform_new (const gsize size[3], GError **error)
{
  NdTransform *t = g_new0 (NdTransform, 1);
  const gsize lanes = nd_line_kernels ()->lanes;
  gsize work, all;

  memcpy (t->size, size, sizeof (t->size));
  t->kernels = nd_line_kernels ();
  t->number = 2 * lanes;
  t->width = size[0] / 2 + 1;
  t->groups = (t->width + lanes - 1) / lanes;
  t->row = t->groups | 1;
  t->n_workers = nd_threads ();
  t->row_floats = nd_size_mul (t->groups, 2 * lanes, 1) + ND_LINE_ALIGN;
  t->line_floats = nd_size_mul (MAX (MAX (t->groups * lanes, size[1]), size[2]),
      t->number, 1);
  work = nd_size_mul (nd_size_mul (t->row, size[1], size[2]), t->number, 1);
  all = nd_size_mul (scratch_floats (t), t->n_workers, 1);
  if (!g_size_checked_add (&t->floats, work, all)
      || !g_size_checked_add (&t->floats, t->floats, ND_LINE_ALIGN))
    t->floats = G_MAXSIZE;
  t->memory = nd_floats_new (t->floats, error);
  if (t->memory)
    nd_memory_use_large_pages (t->memory, t->floats * sizeof (NdReal));
  if (!t->memory || !make_axes (t, error)) {
    nd_transform_free (t);
    return NULL;
  }
  t->work = transform_scratch (t, t->n_workers).rows;
  return t;
}

void
nd_transform_free (NdTransform *t)
{
  for (guint a = 0; a < 3; a++) {
    for (guint i = 0; i < 2; i++)
      nd_line_fft_free (t->axis[a][i]);
  }
  g_free (t->memory);
  g_free (t);
}

gsize
nd_transform_floats (const NdTransform *t)
{
  return t->groups * t->size[1] * t->size[2] * t->number;
}

gsize
nd_transform_bytes (const NdTransform *t)
{
  return t->floats * sizeof (NdReal);
}

void
nd_transform_multiply_add (const NdTransform *t, NdReal *sum, const NdReal *a,
    const NdReal *b, gsize n)
{
  t->kernels->multiply_add (sum, a, b, n / t->number);
}

typedef struct
{
  NdTransform *t;
  const gsize *extent; /* used or kept */
  const gsize *kept;   /* of a convolution */
  const NdReal *filter;
  gboolean mirrored;
  NdLoadRow load_row;
  NdLoadFloats load_floats;
  NdTakeRow take_row;
  gpointer data;
  NdReal *spectrum;
} Pass;

/* Number @g of row (y, z). */
static NdReal *
work_at (const NdTransform *t, gsize g, gsize y, gsize z)
{
  return t->work + ((z * t->size[1] + y) * t->row + g) * t->number;
}

static void
copy_number (NdReal *to, const NdReal *from, gsize floats)
{
  memcpy (__builtin_assume_aligned (to, 16),
      __builtin_assume_aligned (from, 16), floats * sizeof (NdReal));
}

/* Transforms rows @first to @first + @n - 1, at most one for each lane. */
static void
forward_rows (const Pass *pass, gsize first, gsize n, const Scratch s)
{
  const NdTransform *t = pass->t;
  const gsize lanes = t->kernels->lanes;

  for (gsize r = 0; r < lanes; r++) {
    NdReal *row = s.rows + r * t->row_floats;
    gsize used = 0;

    if (r < n) {
      pass->load_row ((first + r) % pass->extent[1],
          (first + r) / pass->extent[1], row, pass->data);
      used = pass->extent[0];
    }
    memset (row + used, 0, (t->row_floats - used) * sizeof (NdReal));
  }
  t->kernels->to_lanes (s.rows, t->row_floats, t->size[0], s.lines[0]);
  t->kernels->forward (t->axis[0][0], s.lines[0], s.lines[1], s.lines[2]);
  memset (s.lines[1] + t->width * t->number, 0,
      (t->groups * lanes - t->width) * t->number * sizeof (NdReal));
  for (gsize g = 0; g < t->groups; g++) {
    t->kernels->turn (s.lines[1] + g * lanes * t->number, 1, s.tile, 1);
    for (gsize r = 0; r < n; r++)
      copy_number (work_at (t, g, (first + r) % pass->extent[1],
                       (first + r) / pass->extent[1]),
          s.tile + r * t->number, t->number);
  }
}

static void
forward_x (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const gsize lanes = pass->t->kernels->lanes, first = index * lanes;
  const gsize rows = pass->extent[1] * pass->extent[2];

  forward_rows (pass, first, MIN (lanes, rows - first),
      transform_scratch (pass->t, worker));
}

static void
inverse_rows (const Pass *pass, gsize first, gsize n, const Scratch s)
{
  const NdTransform *t = pass->t;
  const gsize lanes = t->kernels->lanes;

  for (gsize g = 0; g < t->groups; g++) {
    for (gsize r = 0; r < n; r++)
      copy_number (s.tile + r * t->number,
          work_at (t, g, (first + r) % pass->extent[1],
              (first + r) / pass->extent[1]),
          t->number);
    t->kernels->turn (s.tile, 1, s.lines[0] + g * lanes * t->number, 1);
  }
  t->kernels->inverse (t->axis[0][1], s.lines[0], s.lines[1], s.lines[2]);
  t->kernels->from_lanes (s.lines[1], pass->extent[0], s.rows, t->row_floats);
  for (gsize r = 0; r < n; r++)
    pass->take_row ((first + r) % pass->extent[1],
        (first + r) / pass->extent[1], s.rows + r * t->row_floats, pass->data);
}

static void
inverse_x (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const gsize lanes = pass->t->kernels->lanes, first = index * lanes;
  const gsize rows = pass->extent[1] * pass->extent[2];

  inverse_rows (pass, first, MIN (lanes, rows - first),
      transform_scratch (pass->t, worker));
}

/* Transforms a line along @axis, of which @used numbers at @from, @stride
 * apart, are not zero. */
static void
forward_line (const NdTransform *t, guint axis, const Scratch *s,
    const NdReal *from, gsize stride, gsize used, NdReal *to)
{
  t->kernels->gather (from, stride, used, s->lines[0]);
  memset (s->lines[0] + used * t->number, 0,
      (t->size[axis] - used) * t->number * sizeof (NdReal));
  t->kernels->run (t->axis[axis][0], s->lines[0], to);
}

static void
forward_y (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch s = transform_scratch (t, worker);
  const gsize g = index % t->groups, z = index / t->groups;
  const gboolean is_last = t->size[2] == 1;
  NdReal *at = work_at (t, g, 0, z);
  NdReal *to =
      is_last ? pass->spectrum + g * t->size[1] * t->number : s.lines[1];

  forward_line (t, 1, &s, at, t->row, pass->extent[1], to);
  if (!is_last)
    t->kernels->scatter (to, t->size[1], at, t->row);
}

static void
forward_z (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch s = transform_scratch (t, worker);

  forward_line (t, 2, &s, work_at (t, index % t->groups, index / t->groups, 0),
      t->row * t->size[1], pass->extent[2],
      pass->spectrum + index * t->size[2] * t->number);
}

/* Line @index of the last axis. */
static void
inverse_line (const Pass *pass, guint axis, const Scratch *s, gsize index,
    NdReal *to, gsize stride)
{
  const NdTransform *t = pass->t;
  const gsize floats = t->size[axis] * t->number;

  pass->load_floats (index * floats, floats, s->lines[0], pass->data);
  t->kernels->run (t->axis[axis][1], s->lines[0], s->lines[1]);
  t->kernels->scatter (s->lines[1], pass->extent[axis], to, stride);
}

static void
inverse_z (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch s = transform_scratch (t, worker);

  inverse_line (pass, 2, &s, index,
      work_at (t, index % t->groups, index / t->groups, 0),
      t->row * t->size[1]);
}

static void
inverse_y (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch s = transform_scratch (t, worker);
  NdReal *at = work_at (t, index % t->groups, 0, index / t->groups);

  if (t->size[2] == 1) {
    inverse_line (pass, 1, &s, index, at, t->row);
    return;
  }
  t->kernels->gather (at, t->row, t->size[1], s.lines[0]);
  t->kernels->run (t->axis[1][1], s.lines[0], s.lines[1]);
  t->kernels->scatter (s.lines[1], pass->extent[1], at, t->row);
}

void
nd_transform_forward (NdTransform *t, const gsize used[3], NdLoadRow load,
    gpointer data, NdReal *spectrum)
{
  const gsize lanes = t->kernels->lanes;
  Pass pass = {
    .t = t, .extent = used, .load_row = load, .data = data, .spectrum = spectrum
  };

  nd_parallel_for ((used[1] * used[2] + lanes - 1) / lanes, forward_x, &pass);
  nd_parallel_for (used[2] * t->groups, forward_y, &pass);
  if (t->size[2] > 1)
    nd_parallel_for (t->size[1] * t->groups, forward_z, &pass);
}

void
nd_transform_inverse (NdTransform *t, const gsize kept[3], NdLoadFloats load,
    NdTakeRow take, gpointer data)
{
  const gsize lanes = t->kernels->lanes;
  Pass pass = {
    .t = t, .extent = kept, .load_floats = load, .take_row = take, .data = data
  };

  if (t->size[2] > 1)
    nd_parallel_for (t->size[1] * t->groups, inverse_z, &pass);
  nd_parallel_for (kept[2] * t->groups, inverse_y, &pass);
  nd_parallel_for ((kept[1] * kept[2] + lanes - 1) / lanes, inverse_x, &pass);
}

/* Convolution: the passes along x and y are one over planes, which stay in the
 * cache, and the last axis is transformed there and back in place. */

static void
forward_plane (gsize z, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const gsize lanes = t->kernels->lanes, height = pass->extent[1];
  const Scratch s = transform_scratch (t, worker);

  for (gsize y = 0; y < height; y += lanes)
    forward_rows (pass, z * height + y, MIN (lanes, height - y), s);
  for (gsize g = 0; g < t->groups; g++) {
    forward_line (t, 1, &s, work_at (t, g, 0, z), t->row, height, s.lines[1]);
    t->kernels->scatter (s.lines[1], t->size[1], work_at (t, g, 0, z), t->row);
  }
}

static void
inverse_plane (gsize z, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const gsize lanes = t->kernels->lanes, height = pass->kept[1];
  const Scratch s = transform_scratch (t, worker);
  Pass rows = *pass;

  rows.extent = pass->kept;
  for (gsize g = 0; g < t->groups; g++) {
    NdReal *at = work_at (t, g, 0, z);

    t->kernels->gather (at, t->row, t->size[1], s.lines[0]);
    t->kernels->run (t->axis[1][1], s.lines[0], s.lines[1]);
    t->kernels->scatter (s.lines[1], height, at, t->row);
  }
  for (gsize y = 0; y < height; y += lanes)
    inverse_rows (&rows, z * height + y, MIN (lanes, height - y), s);
}

/* The product on line @index of the last axis, whose numbers are at @at. */
static void
convolve_line (const Pass *pass, guint axis, const Scratch *s, gsize index,
    NdReal *at, gsize stride)
{
  const NdTransform *t = pass->t;
  const gsize n = t->size[axis];

  forward_line (t, axis, s, at, stride, pass->extent[axis], s->lines[1]);
  t->kernels->multiply (s->lines[1], pass->filter + index * n * t->number,
      pass->mirrored, n);
  t->kernels->run (t->axis[axis][1], s->lines[1], s->lines[2]);
  t->kernels->scatter (s->lines[2], pass->kept[axis], at, stride);
}

/* Along z at row @y of all planes. */
static void
convolve_z (gsize y, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch s = transform_scratch (t, worker);

  for (gsize g = 0; g < t->groups; g++)
    convolve_line (pass, 2, &s, y * t->groups + g, work_at (t, g, y, 0),
        t->row * t->size[1]);
}

static void
convolve_y (gsize g, guint worker, gpointer data)
{
  const Pass *pass = data;
  const Scratch s = transform_scratch (pass->t, worker);

  convolve_line (pass, 1, &s, g, work_at (pass->t, g, 0, 0), pass->t->row);
}

void
nd_transform_convolve (NdTransform *t, const gsize used[3], NdLoadRow load,
    const NdReal *filter, gboolean mirrored, const gsize kept[3],
    NdTakeRow take, gpointer data)
{
  const gsize lanes = t->kernels->lanes;
  Pass pass = { .t = t,
    .extent = used,
    .kept = kept,
    .load_row = load,
    .take_row = take,
    .filter = filter,
    .mirrored = mirrored,
    .data = data };

  if (t->size[2] > 1) {
    nd_parallel_for (used[2], forward_plane, &pass);
    nd_parallel_for (t->size[1], convolve_z, &pass);
    nd_parallel_for (kept[2], inverse_plane, &pass);
    return;
  }
  nd_parallel_for ((used[1] + lanes - 1) / lanes, forward_x, &pass);
  nd_parallel_for (t->groups, convolve_y, &pass);
  pass.extent = kept;
  nd_parallel_for ((kept[1] + lanes - 1) / lanes, inverse_x, &pass);
}
