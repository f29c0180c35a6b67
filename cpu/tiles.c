/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/tiles.h"

#include "core/memory.h"
#include "core/threads.h"

#include <string.h>

#define CACHE_LINE 64

/* Rows start on cache lines. */
#define ROW_FLOATS 16

/* The rows of outputs of a tile. Tiles convert the rows between them twice, so
 * that tiles are low only if there are not enough of them for all threads. */
#define TILE_ROWS 32
#define LEAST_ROWS 8

/* Rows that are copied by one task. */
#define COPY_ROWS 64

gboolean
nd_tiles_fit (const NdJob *job, const NdReach *reach)
{
  return !nd_sample_is_float (job->in_type) && reach->slots == 1
      && reach->low[ND_AXIS_Z] == 0 && reach->high[ND_AXIS_Z] == 0;
}

gboolean
nd_tiles_init (NdTiles *tiles, const NdJob *job, const NdReach *reach,
    gsize group, GError **error)
{
  const gsize around = reach->high[ND_AXIS_Y] - reach->low[ND_AXIS_Y];
  gsize n;

  memset (tiles, 0, sizeof (*tiles));
  tiles->n_workers = nd_threads ();
  tiles->group = group;
  if (nd_pad_init (&tiles->pad, job, reach)
      && nd_shape_samples (&job->shape, &n)
      && g_size_checked_mul (&tiles->bytes, n, nd_sample_size (job->in_type))) {
    NdStrides *strides = &tiles->strides;

    strides->row =
        (tiles->pad.size[0] + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
    strides->slice = nd_size_mul (strides->row, TILE_ROWS + around, 1);
    if (!g_size_checked_add (&tiles->tile_floats, strides->slice,
            nd_stencil_slack (strides)))
      tiles->tile_floats = G_MAXSIZE;
    tiles->frame = g_try_malloc (tiles->bytes);
  }
  if (!tiles->frame)
    nd_memory_set_error (error, tiles->bytes > 0 ? tiles->bytes : G_MAXSIZE);
  else
    tiles->memory = nd_floats_new (nd_size_mul (tiles->tile_floats,
                                       tiles->n_workers, group),
        error);
  if (!tiles->memory) {
    nd_tiles_clear (tiles);
    return FALSE;
  }
  tiles->samples = nd_samples_dense (tiles->frame, &job->shape, job->in_type);
  return TRUE;
}

void
nd_tiles_clear (NdTiles *tiles)
{
  nd_pad_clear (&tiles->pad);
  g_clear_pointer (&tiles->frame, g_free);
  g_clear_pointer (&tiles->memory, g_free);
}

gsize
nd_tiles_bytes (const NdTiles *tiles)
{
  return tiles->bytes
      + tiles->tile_floats * tiles->n_workers * tiles->group * sizeof (NdReal);
}

typedef struct
{
  const NdTiles *tiles;
  const NdSamples *volume;
} Copy;

static void
copy_task (gsize index, guint worker, gpointer data)
{
  const Copy *copy = data;
  const NdSamples *in = copy->volume, *out = &copy->tiles->samples;
  const gsize *size = copy->tiles->pad.shape.size;
  const gsize end = MIN ((index + 1) * COPY_ROWS, size[1] * size[2]);

  for (gsize i = index * COPY_ROWS; i < end; i++) {
    const gsize y = i % size[1], z = i / size[1];
    const guint8 *from = in->data + z * in->slice + y * in->row;
    guint8 *to = out->data + z * out->slice + y * out->row;

    if (in->sample == out->sample) {
      memcpy (to, from, out->row);
      continue;
    }
    for (gsize x = 0; x < size[0]; x++)
      memcpy (to + x * out->sample, from + x * in->sample, out->sample);
  }
}

void
nd_tiles_push (const NdTiles *tiles, const NdSamples *volume)
{
  const gsize *size = tiles->pad.shape.size;
  Copy copy = { .tiles = tiles, .volume = volume };

  nd_parallel_for ((size[1] * size[2] + COPY_ROWS - 1) / COPY_ROWS, copy_task,
      &copy);
}

typedef struct
{
  const NdTiles *tiles;
  const NdStencilBank *bank;
  gsize rows; /* of a tile */
  gsize tiles_per_slice;
} Run;

static NdReal *
tile_of (const NdTiles *tiles, guint worker, gsize c)
{
  const NdReal *tile =
      tiles->memory + (worker * tiles->group + c) * tiles->tile_floats;

  return (NdReal *) (((guintptr) tile + CACHE_LINE - 1) / CACHE_LINE
      * CACHE_LINE);
}

/* Rows are converted just before the first outputs that read them. */
static void
tiles_run_task (gsize index, guint worker, gpointer data)
{
  const Run *run = data;
  const NdTiles *tiles = run->tiles;
  const gsize *size = tiles->pad.shape.size, row = tiles->strides.row;
  const gsize around = tiles->pad.size[1] - size[1];
  const gsize z = index / run->tiles_per_slice;
  const gsize first = index % run->tiles_per_slice * run->rows;
  const gsize n = MIN (run->rows, size[1] - first);
  const NdReal *rows[2];
  NdStencilBank bank = *run->bank;
  gsize converted = 0;

  bank.volumes = rows;
  bank.n_volumes = 1;
  for (gsize y = 0; y < n; y += ND_BLOCK_ROWS) {
    const gsize end = MIN (y + ND_BLOCK_ROWS, n);

    for (; converted < end + around; converted++)
      for (gsize c = 0; c < tiles->group; c++)
        nd_pad_row (&tiles->pad, &tiles->samples, bank.component + c,
            first + converted, z, tile_of (tiles, worker, c) + converted * row);
    for (gsize c = 0; c < tiles->group; c++)
      rows[c] = tile_of (tiles, worker, c) + y * row;
    nd_stencil_rows (&bank, worker, size[0], end - y, first + y, z);
  }
}

void
nd_tiles_run (const NdTiles *tiles, const NdStencilBank *bank)
{
  const gsize *size = tiles->pad.shape.size;
  Run run = { .tiles = tiles, .bank = bank, .rows = TILE_ROWS };

  while (run.rows > LEAST_ROWS
      && size[1] * size[2] < 4 * run.rows * nd_threads ())
    run.rows /= 2;
  run.tiles_per_slice = (size[1] + run.rows - 1) / run.rows;
  nd_parallel_for (run.tiles_per_slice * size[2], tiles_run_task, &run);
}
