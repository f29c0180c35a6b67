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

/* Columns are gathered in groups of this many: two cache lines of complex
 * numbers. */
#define COLUMNS 16

/* The memory of one worker. */
typedef struct
{
  kiss_fftr_cfg real[2];    /* [forward, inverse]; contain scratch memory, so
                               that each worker has its own */
  NdReal *row;              /* size[0] */
  kiss_fft_cpx *columns[2]; /* COLUMNS * the longest axis */
} Scratch;

struct _NdTransform
{
  gsize size[3];
  gsize width;             /* complex numbers per row */
  kiss_fft_cfg axis[3][2]; /* [axis][inverse], of y and z */
  kiss_fft_cpx *work;      /* the volume with x and y transformed */
  guint n_workers;
  Scratch *scratch;
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
bytes_of (const NdTransform *t, guint n_workers)
{
  const gsize columns = 2 * COLUMNS * MAX (t->size[1], t->size[2]);

  return (nd_transform_numbers (t) + n_workers * columns)
      * sizeof (kiss_fft_cpx)
      + n_workers * t->size[0] * sizeof (NdReal);
}

NdTransform *
nd_transform_new (const gsize size[3], GError **error)
{
  NdTransform *t = g_new0 (NdTransform, 1);
  gsize longest = MAX (size[1], size[2]);

  memcpy (t->size, size, sizeof (t->size));
  t->width = size[0] / 2 + 1;
  t->work = (kiss_fft_cpx *) nd_floats_new (nd_size_mul (2 * t->width, size[1],
                                                size[2]),
      error);
  if (!t->work || !nd_memory_check (bytes_of (t, nd_threads ()), error)) {
    nd_transform_free (t);
    return NULL;
  }
  for (guint inverse = 0; inverse < 2; inverse++) {
    for (guint a = 1; a < 3; a++)
      t->axis[a][inverse] = kiss_fft_alloc (size[a], inverse, NULL, NULL);
  }
  t->n_workers = nd_threads ();
  t->scratch = g_new0 (Scratch, t->n_workers);
  for (guint w = 0; w < t->n_workers; w++) {
    Scratch *s = t->scratch + w;

    for (guint inverse = 0; inverse < 2; inverse++) {
      s->real[inverse] = kiss_fftr_alloc (size[0], inverse, NULL, NULL);
      s->columns[inverse] = g_new (kiss_fft_cpx, COLUMNS * longest);
    }
    s->row = g_new (NdReal, size[0]);
  }
  return t;
}

void
nd_transform_free (NdTransform *t)
{
  for (guint w = 0; w < t->n_workers; w++) {
    Scratch *s = t->scratch + w;

    for (guint i = 0; i < 2; i++) {
      kiss_fftr_free (s->real[i]);
      g_free (s->columns[i]);
    }
    g_free (s->row);
  }
  g_free (t->scratch);
  for (guint a = 1; a < 3; a++) {
    for (guint i = 0; i < 2; i++)
      kiss_fft_free (t->axis[a][i]);
  }
  g_free (t->work);
  g_free (t);
}

gsize
nd_transform_numbers (const NdTransform *t)
{
  return t->width * t->size[1] * t->size[2];
}

gsize
nd_transform_bytes (const NdTransform *t)
{
  return bytes_of (t, t->n_workers);
}

typedef struct
{
  NdTransform *t;
  const gsize *extent; /* used or kept */
  NdLoadRow load_row;
  NdLoadNumbers load_numbers;
  NdTakeRow take_row;
  gpointer data;
  kiss_fft_cpx *spectrum;
} Pass;

/* Row (y, z) of the volume with x and y transformed. Without a z axis this is a
 * row of the spectrum. */
static kiss_fft_cpx *
work_row (const Pass *pass, gsize y, gsize z)
{
  kiss_fft_cpx *work =
      pass->spectrum && pass->t->size[2] == 1 ? pass->spectrum : pass->t->work;

  return work + (z * pass->t->size[1] + y) * pass->t->width;
}

static void
forward_x (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch *s = t->scratch + worker;
  gsize y = index % pass->extent[1], z = index / pass->extent[1];

  pass->load_row (y, z, s->row, pass->data);
  memset (s->row + pass->extent[0], 0,
      (t->size[0] - pass->extent[0]) * sizeof (NdReal));
  kiss_fftr (s->real[0], s->row, work_row (pass, y, z));
}

static void
inverse_x (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  const Scratch *s = t->scratch + worker;
  gsize y = index % pass->extent[1], z = index / pass->extent[1];

  kiss_fftri (s->real[1], work_row (pass, y, z), s->row);
  pass->take_row (y, z, s->row, pass->data);
}

/* Transforms columns x to x + COLUMNS - 1 of one slice along y. Forward reads
 * the rows below the extent (the others are zero) and writes all; inverse reads
 * all and writes the rows below the extent. */
static void
transform_y (const Pass *pass, gsize index, guint worker, gboolean inverse)
{
  const NdTransform *t = pass->t;
  const Scratch *s = t->scratch + worker;
  gsize blocks = (t->width + COLUMNS - 1) / COLUMNS;
  gsize z = index / blocks, x = index % blocks * COLUMNS;
  gsize n = MIN (COLUMNS, t->width - x), size = t->size[1];
  gsize read = inverse ? size : pass->extent[1];
  gsize write = inverse ? pass->extent[1] : size;
  kiss_fft_cpx *in = s->columns[0], *out = s->columns[1];

  for (gsize y = 0; y < read; y++) {
    const kiss_fft_cpx *row = work_row (pass, y, z) + x;

    for (gsize i = 0; i < n; i++)
      in[i * size + y] = row[i];
  }
  for (gsize i = 0; i < n; i++) {
    memset (in + i * size + read, 0, (size - read) * sizeof (*in));
    kiss_fft (t->axis[1][inverse], in + i * size, out + i * size);
  }
  for (gsize y = 0; y < write; y++) {
    kiss_fft_cpx *row = work_row (pass, y, z) + x;

    for (gsize i = 0; i < n; i++)
      row[i] = out[i * size + y];
  }
}

static void
forward_y (gsize index, guint worker, gpointer data)
{
  transform_y (data, index, worker, FALSE);
}

static void
inverse_y (gsize index, guint worker, gpointer data)
{
  transform_y (data, index, worker, TRUE);
}

/* Transforms columns x to x + COLUMNS - 1 of row y along z. In the spectrum
 * these columns are contiguous. */
static void
forward_z (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  gsize blocks = (t->width + COLUMNS - 1) / COLUMNS;
  gsize y = index / blocks, x = index % blocks * COLUMNS;
  gsize n = MIN (COLUMNS, t->width - x), size = t->size[2];
  kiss_fft_cpx *in = t->scratch[worker].columns[0];
  kiss_fft_cpx *out = pass->spectrum + (y * t->width + x) * size;

  for (gsize z = 0; z < pass->extent[2]; z++) {
    const kiss_fft_cpx *row = work_row (pass, y, z) + x;

    for (gsize i = 0; i < n; i++)
      in[i * size + z] = row[i];
  }
  for (gsize i = 0; i < n; i++) {
    memset (in + i * size + pass->extent[2], 0,
        (size - pass->extent[2]) * sizeof (*in));
    kiss_fft (t->axis[2][0], in + i * size, out + i * size);
  }
}

static void
inverse_z (gsize index, guint worker, gpointer data)
{
  const Pass *pass = data;
  const NdTransform *t = pass->t;
  gsize blocks = (t->width + COLUMNS - 1) / COLUMNS;
  gsize y = index / blocks, x = index % blocks * COLUMNS;
  gsize n = MIN (COLUMNS, t->width - x), size = t->size[2];
  kiss_fft_cpx *in = t->scratch[worker].columns[0];
  kiss_fft_cpx *out = t->scratch[worker].columns[1];

  if (size == 1)
    in = work_row (pass, y, 0) + x;
  pass->load_numbers ((y * t->width + x) * size, n * size, (NdReal *) in,
      pass->data);
  if (size == 1)
    return;
  for (gsize i = 0; i < n; i++)
    kiss_fft (t->axis[2][1], in + i * size, out + i * size);
  for (gsize z = 0; z < pass->extent[2]; z++) {
    kiss_fft_cpx *row = work_row (pass, y, z) + x;

    for (gsize i = 0; i < n; i++)
      row[i] = out[i * size + z];
  }
}

void
nd_transform_forward (NdTransform *t, const gsize used[3], NdLoadRow load,
    gpointer data, NdReal *spectrum)
{
  Pass pass = { .t = t,
    .extent = used,
    .load_row = load,
    .data = data,
    .spectrum = (kiss_fft_cpx *) spectrum };
  gsize blocks = (t->width + COLUMNS - 1) / COLUMNS;

  nd_parallel_for (used[1] * used[2], forward_x, &pass);
  if (t->size[1] > 1)
    nd_parallel_for (used[2] * blocks, forward_y, &pass);
  if (t->size[2] > 1)
    nd_parallel_for (t->size[1] * blocks, forward_z, &pass);
}

void
nd_transform_inverse (NdTransform *t, const gsize kept[3], NdLoadNumbers load,
    NdTakeRow take, gpointer data)
{
  Pass pass = {
    .t = t, .extent = kept, .load_numbers = load, .take_row = take, .data = data
  };
  gsize blocks = (t->width + COLUMNS - 1) / COLUMNS;

  nd_parallel_for (t->size[1] * blocks, inverse_z, &pass);
  if (t->size[1] > 1)
    nd_parallel_for (kept[2] * blocks, inverse_y, &pass);
  nd_parallel_for (kept[1] * kept[2], inverse_x, &pass);
}
