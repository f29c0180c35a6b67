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

/* A tile of one slice fits in the L1 cache if its filter is low, and one of
 * several slices in a part of the L2 cache. */
#define FLAT_TILE_FLOATS (24 * 1024 / sizeof (NdReal))
#define TILE_FLOATS ((gsize) 1 << 16)

/* The rows between the tiles of two tasks are converted twice, so that tasks
 * are low only if there are not enough of them for all threads. */
#define LEAST_ROWS 8

/* A task goes along z for this many times the slices of a tile, of which it
 * converts the first ones only for itself. */
#define LEAST_DEPTHS 4

/* Columns of a part of a line are whole blocks. */
#define LINE_COLUMNS ND_BLOCK_MAX_WIDTH

/* Rows that are copied by one task. */
#define COPY_ROWS 64

gboolean
nd_tiles_fit (const NdJob *job, const NdReach *reach,
    const NdRingOptions *options)
{
  return reach->slots == 1 && !options->border_volumes
      && (options->in_place
          || (!nd_sample_is_float (job->in_type) && reach->low[ND_AXIS_Z] == 0
              && reach->high[ND_AXIS_Z] == 0));
}

/* Sets the sizes of a tile. FALSE if they overflow. */
static gboolean
tiles_size (NdTiles *t, const NdJob *job)
{
  const gsize *size = job->shape.size, *padded = t->pad.size;
  const gsize around = padded[1] - size[1];
  gsize floats;

  t->depth = padded[2] - size[2] + 1;
  if (padded[1] == 1 && padded[2] == 1) {
    const gsize blocks = (size[0] + LINE_COLUMNS * ND_BLOCK_ROWS - 1)
        / (LINE_COLUMNS * ND_BLOCK_ROWS);

    t->line = MIN (blocks * LINE_COLUMNS, ND_STENCIL_PIECE);
    t->strides.row = t->line;
    floats = t->line * ND_BLOCK_ROWS + padded[0] - size[0];
  } else {
    const gsize row = (padded[0] + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
    const gsize fit =
        (t->depth == 1 ? FLAT_TILE_FLOATS : TILE_FLOATS) / t->depth / row;
    /* Rows that move to the top of a tile are fewer than those that are new. */
    const gsize least = MAX (t->depth == 1 ? around : 0, LEAST_ROWS);
    const gsize rows = MAX (fit, around + least) - around;

    t->strides.row = row;
    t->held = rows - rows % ND_BLOCK_ROWS + around;
    t->rows = t->depth == 1 ? size[1] : MIN (t->held - around, size[1]);
    while (nd_threads () > 1 && t->rows > LEAST_ROWS
        && (size[1] + t->rows - 1) / t->rows * size[2] < 4 * nd_threads ())
      t->rows = (t->rows + 1) / 2;
    t->held = MIN (t->held, t->rows + around);
    floats = nd_size_mul (row, t->held, 1);
  }
  return g_size_checked_add (&t->slice_floats, floats,
      nd_stencil_slack (&t->strides) + ROW_FLOATS);
}

gboolean
nd_tiles_init (NdTiles *tiles, const NdJob *job, const NdReach *reach,
    const NdRingOptions *options, gsize group, GError **error)
{
  gsize n, floats = G_MAXSIZE;

  tiles->n_workers = nd_threads ();
  tiles->group = group;
  if (!nd_pad_init (&tiles->pad, job, reach, error))
    return FALSE;
  if (tiles_size (tiles, job) && nd_shape_samples (&job->shape, &n)
      && g_size_checked_mul (&tiles->bytes, n, nd_sample_size (job->in_type))) {
    floats = nd_size_mul (tiles->slice_floats, tiles->depth,
        tiles->n_workers * group);
    if (options->in_place)
      tiles->bytes = 0;
    else if (tiles->bytes < nd_usable_memory ())
      tiles->volume = g_try_malloc (tiles->bytes);
  }
  if (!tiles->volume && !options->in_place) {
    nd_memory_set_error (error, tiles->bytes > 0 ? tiles->bytes : G_MAXSIZE);
    nd_tiles_clear (tiles);
    return FALSE;
  }
  tiles->memory = nd_floats_new (floats, error);
  if (tiles->memory)
    tiles->tables =
        nd_memory_new (nd_size_mul (tiles->depth, tiles->n_workers, group),
            sizeof (const NdReal *), error);
  if (!tiles->tables) {
    nd_tiles_clear (tiles);
    return FALSE;
  }
  tiles->samples = nd_samples_dense (tiles->volume, &job->shape, job->in_type);
  return TRUE;
}

void
nd_tiles_clear (NdTiles *tiles)
{
  nd_pad_clear (&tiles->pad);
  g_clear_pointer (&tiles->volume, g_free);
  g_clear_pointer (&tiles->memory, g_free);
  g_clear_pointer (&tiles->tables, g_free);
}

gsize
nd_tiles_bytes (const NdTiles *tiles)
{
  return tiles->bytes
      + tiles->slice_floats * tiles->depth * tiles->n_workers * tiles->group
      * sizeof (NdReal);
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
nd_tiles_push (NdTiles *tiles, const NdSamples *volume)
{
  const gsize *size = tiles->pad.shape.size;
  Copy copy = { .tiles = tiles, .volume = volume };

  if (tiles->volume)
    nd_parallel_for ((size[1] * size[2] + COPY_ROWS - 1) / COPY_ROWS, copy_task,
        &copy);
  else
    tiles->samples = *volume;
}

/* A call of nd_tiles_run(). */
typedef struct
{
  const NdTiles *tiles;
  const NdStencilBank *bank;
  gsize tiles_per_slice;
  gsize slices; /* of outputs of a task */
} Run;

/* A task of it. */
typedef struct
{
  const NdTiles *tiles;
  NdStencilBank bank; /* with the table of its slices */
  guint worker;
  gsize y;         /* of the first output, and of padded row 0 */
  gsize top;       /* the padded row in the first row of the tile */
  gsize converted; /* padded rows of the newest slice */
} Tile;

/* Slice @z of the padded volume is in place of that of @depth slices before. */
static NdReal *
tile_slice (const Tile *tile, gsize c, gsize z)
{
  const NdTiles *t = tile->tiles;
  const NdReal *slice = t->memory
      + ((tile->worker * t->group + c) * t->depth + z % t->depth)
          * t->slice_floats;

  return (NdReal *) (((guintptr) slice + CACHE_LINE - 1) / CACHE_LINE
      * CACHE_LINE);
}

/* Converts padded rows up to before @end of slice @z of the tile. */
static void
convert_rows (Tile *tile, gsize end, gsize z)
{
  const NdTiles *t = tile->tiles;

  for (; tile->converted < end; tile->converted++)
    for (gsize c = 0; c < t->group; c++)
      nd_pad_row (&t->pad, &t->samples, tile->bank.component + c,
          tile->y + tile->converted, z,
          tile_slice (tile, c, z)
              + (tile->converted - tile->top) * t->strides.row);
}

/* Moves the rows from @at on to the top of the tile, which has one slice. */
static void
move_rows (Tile *tile, gsize at, gsize z)
{
  const gsize row = tile->tiles->strides.row;

  for (gsize c = 0; c < tile->tiles->group; c++) {
    NdReal *slice = tile_slice (tile, c, z);

    memmove (slice, slice + (at - tile->top) * row,
        (tile->converted - at) * row * sizeof (NdReal));
  }
  tile->top = at;
}

static Tile
tile_begin (const Run *run, guint worker, gsize y)
{
  const NdTiles *t = run->tiles;
  Tile tile = { .tiles = t, .bank = *run->bank, .worker = worker, .y = y };

  tile.bank.volumes = t->tables + worker * t->group * t->depth;
  tile.bank.n_volumes = t->depth;
  return tile;
}

/* Rows @at to before @end of outputs of slice @z. */
static void
tile_respond (const Tile *tile, gsize at, gsize end, gsize z)
{
  const NdTiles *t = tile->tiles;
  const NdReal **rows = (const NdReal **) tile->bank.volumes;

  for (gsize c = 0; c < t->group; c++)
    for (gsize i = 0; i < t->depth; i++)
      rows[c * t->depth + i] =
          tile_slice (tile, c, z + i) + (at - tile->top) * t->strides.row;
  nd_stencil_rows (&tile->bank, tile->worker, t->pad.shape.size[0], end - at,
      tile->y + at, z);
}

/* The last slice of a tile is converted row by row, just before the first
 * outputs that read them. */
static void
tiles_run_task (gsize index, guint worker, gpointer data)
{
  const Run *run = data;
  const NdTiles *t = run->tiles;
  const gsize *size = t->pad.shape.size;
  const gsize around = t->pad.size[1] - size[1];
  const gsize y = index % run->tiles_per_slice * t->rows;
  const gsize n = MIN (t->rows, size[1] - y);
  const gsize first = index / run->tiles_per_slice * run->slices;
  const gsize last = MIN (first + run->slices, size[2]);
  Tile tile = tile_begin (run, worker, y);

  for (gsize z = first; z + 1 < first + t->depth; z++) {
    tile.converted = 0;
    convert_rows (&tile, n + around, z);
  }
  for (gsize z = first; z < last; z++) {
    tile.converted = tile.top = 0;
    for (gsize at = 0; at < n; at += ND_BLOCK_ROWS) {
      const gsize end = MIN (at + ND_BLOCK_ROWS, n);

      if (end + around > tile.top + t->held)
        move_rows (&tile, at, z);
      convert_rows (&tile, end + around, z + t->depth - 1);
      tile_respond (&tile, at, end, z);
    }
  }
}

static void
tiles_line_task (gsize index, guint worker, gpointer data)
{
  const Run *run = data;
  const NdTiles *t = run->tiles;
  const gsize width = t->pad.shape.size[0], around = t->pad.size[0] - width;
  const gsize x = index * t->line * ND_BLOCK_ROWS;
  const gsize n = MIN (t->line * ND_BLOCK_ROWS, width - x);
  Tile tile = tile_begin (run, worker, 0);
  const NdReal **rows = (const NdReal **) tile.bank.volumes;

  for (gsize c = 0; c < t->group; c++) {
    rows[c] = tile_slice (&tile, c, 0);
    nd_pad_part (&t->pad, &t->samples, tile.bank.component + c, x, n + around,
        tile_slice (&tile, c, 0));
  }
  nd_stencil_line (&tile.bank, worker, t->line, n, x);
}

void
nd_tiles_run (const NdTiles *tiles, const NdStencilBank *bank)
{
  const gsize *size = tiles->pad.shape.size;
  Run run = { .tiles = tiles, .bank = bank, .slices = 1 };
  gsize tasks;

  if (tiles->line > 0) {
    const gsize part = tiles->line * ND_BLOCK_ROWS;

    nd_parallel_for ((size[0] + part - 1) / part, tiles_line_task, &run);
    return;
  }
  run.tiles_per_slice = (size[1] + tiles->rows - 1) / tiles->rows;
  if (tiles->depth > 1) {
    tasks = (4 * nd_threads () + run.tiles_per_slice - 1) / run.tiles_per_slice;
    run.slices = nd_threads () == 1
        ? size[2]
        : MAX ((size[2] + tasks - 1) / tasks, LEAST_DEPTHS * tiles->depth);
  }
  nd_parallel_for (run.tiles_per_slice
          * ((size[2] + run.slices - 1) / run.slices),
      tiles_run_task, &run);
}
