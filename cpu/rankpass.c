/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/rankpass.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/rankhistogram.h"
#include "cpu/rankkernels.h"

#include <math.h>
#include <string.h>

typedef enum
{
  NETWORK,
  COLUMNS,   /* boxes of uint8 */
  HISTOGRAM, /* keys of 8 and 16 bits */
  BITS       /* keys of 32 and 64 bits */
} Method;

/* Scratch rows of a network stay in the first cache, unless they would be so
 * short that the steps take longer to begin than to run. */
#define CACHE_BYTES 32768
#define MIN_CHUNK_BYTES 512

/* Padded rows that a network takes as one. */
#define BLOCK_BYTES 4096

/* Networks of more samples take longer than the other methods, as measured.
 * Those of boxes share columns. */
#define MAX_SORTED 250
#define MAX_SORTED_BOX 650

struct _NdRankSorter
{
  NdFootprint *footprint;
  gsize rank;
  NdRankSorterOptions options;
  Method method;
  NdRankProgram *program; /* of NETWORK */
  gsize n_inputs;         /* rows of the input of one output row */

  const NdRankKernels *kernels;
  NdKey key;
  gsize key_size;
  NdWindow window;

  gsize size[3];      /* of padded volumes */
  gsize volume_bytes; /* of one component, padded */
  gsize n_slots;
  guint8 *ring;       /* slots x components volumes */
  guint8 *border_row; /* border keys, as a padded row */
  gint64 *positions;  /* of the window */

  gsize block_rows;   /* of the output, computed together */
  gsize plane_blocks; /* of a plane */
  gsize chunk, pitch; /* keys of a part of a block, bytes of a scratch row */
  gsize worker_bytes, rows_bytes, histogram_bytes, scratch_bytes;
  guint8 *workers;
  gsize bytes;
};

NdKey
nd_rank_key (NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return ND_KEY_UINT8;
    case ND_INT16:
    case ND_UINT16:
      return ND_KEY_INT16;
    case ND_FLOAT32:
      return ND_KEY_INT32;
    default:
      return ND_KEY_INT64;
  }
}

gsize
nd_rank_key_size (NdKey key)
{
  return (gsize) 1 << key;
}

void
nd_rank_sorter_free (NdRankSorter *self)
{
  if (!self)
    return;
  nd_rank_program_free (self->program);
  nd_footprint_free (self->footprint);
  g_free (self->ring);
  g_free (self->border_row);
  g_free (self->positions);
  g_free (self->workers);
  g_free (self);
}

NdWindow *
nd_rank_sorter_window (NdRankSorter *self)
{
  return &self->window;
}

gsize
nd_rank_sorter_bytes (const NdRankSorter *self)
{
  return self->bytes;
}

/* Volumes in */

static guint8 *
ring_volume (const NdRankSorter *self, gint64 position, gsize component)
{
  const gsize slot = position % self->n_slots;

  return self->ring
      + (slot * self->options.shape.components + component)
      * self->volume_bytes;
}

typedef struct
{
  const NdRankSorter *self;
  const NdSamples *volume; /* or output */
} SorterJob;

/* Writes key @x of a padded row, which is beyond the edge. */
static void
pad_key (const NdRankSorter *self, guint8 *row, gsize x)
{
  const gint64 before = -self->footprint->low[0];
  const gint64 at = nd_border_index (self->options.border, (gint64) x - before,
      self->options.shape.size[0]);
  const guint8 *from =
      at < 0 ? self->border_row : row + (before + at) * self->key_size;

  memcpy (row + x * self->key_size, from, self->key_size);
}

static void
push_row (gsize index, guint worker, gpointer data)
{
  const SorterJob *job = data;
  const NdRankSorter *self = job->self;
  const NdRankSorterOptions *options = &self->options;
  const gint *low = self->footprint->low;
  const gsize rows = self->size[1] * self->size[2], c = index / rows;
  const gsize row = index % rows, before = -low[0];
  const gsize n = options->shape.size[0],
              row_bytes = self->size[0] * self->key_size;
  const gint64 y = nd_border_index (options->border,
      (gint64) (row % self->size[1]) + low[1], options->shape.size[1]);
  const gint64 z = nd_border_index (options->border,
      (gint64) (row / self->size[1]) + low[2], options->shape.size[2]);
  guint8 *to = ring_volume (self, self->window.pushed, c) + row * row_bytes;

  if (y < 0 || z < 0) {
    memcpy (to, self->border_row, row_bytes);
    return;
  }
  self->kernels->load (job->volume->data + c * nd_sample_size (options->type)
          + y * job->volume->row + z * job->volume->slice,
      job->volume->sample, n, options->type, to + before * self->key_size);
  for (gsize x = 0; x < before; x++)
    pad_key (self, to, x);
  for (gsize x = before + n; x < self->size[0]; x++)
    pad_key (self, to, x);
}

void
nd_rank_sorter_push (NdRankSorter *self, const NdSamples *volume)
{
  SorterJob job = { self, volume };

  nd_parallel_for (self->options.shape.components * self->size[1]
          * self->size[2],
      push_row, &job);
  nd_window_push (&self->window);
}

/* Outputs */

/* The first key of the padded row at offset @y, @z, @t of output row @at. */
static const guint8 *
input_row (const NdRankSorter *self, gsize c, gsize at, gint y, gint z, gint t)
{
  const gint *low = self->footprint->low;
  const gint64 position = self->positions[t - low[ND_AXIS_T]];
  const gsize height = self->options.shape.size[1];
  const gsize row =
      (at / height + z - low[2]) * self->size[1] + at % height + y - low[1];

  if (position == ND_POSITION_BORDER)
    return self->border_row;
  return ring_volume (self, position, c) + row * self->size[0] * self->key_size;
}

static void
find_rows (const NdRankSorter *self, gsize c, gsize at, gconstpointer *rows)
{
  const NdFootprint *footprint = self->footprint;
  gsize n = 0;

  if (self->method == NETWORK) {
    for (gsize i = 0; i < self->n_inputs; i++) {
      const gint *input = self->program->inputs[i];

      rows[i] = input_row (self, c, at, input[0], input[1], input[2]);
    }
    return;
  }
  for (gsize r = 0; r < footprint->n_runs; r++) {
    const NdRankRun *run = &footprint->runs[r];
    const guint8 *row = input_row (self, c, at, run->y, run->z, run->t);

    if (self->method != BITS)
      rows[n++] = row;
    else
      for (gint x = run->first; x <= run->last; x++)
        rows[n++] = row + (x - footprint->low[0]) * self->key_size;
  }
}

/* The keys of samples @x to @x + @n - 1 of the output; those of a histogram are
 * a whole row. */
static gconstpointer
sort_part (const NdRankSorter *self, gconstpointer *rows, guint8 *scratch,
    gsize n)
{
  const NdRankKernel *kernel = &self->kernels->keys[self->key];

  if (self->method == NETWORK)
    return kernel->run (self->program, rows, n, scratch, self->pitch);
  if (self->method == HISTOGRAM)
    nd_rank_histogram_row (self->key, self->footprint, rows, self->rank, n,
        (guint32 *) (scratch + self->pitch), scratch);
  else
    kernel->select (rows, self->n_inputs, self->rank, n, scratch);
  return scratch;
}

/* Writes @keys of positions @i to @i + @n - 1 of a block of padded rows to rows
 * of the output from @out on. Positions between two rows have no meaning. */
static void
store_part (const NdRankSorter *self, gconstpointer keys, gsize i, gsize n,
    guint8 *out, const NdSamples *strides)
{
  const gsize padded = self->size[0], width = self->options.shape.size[0];

  for (gsize row = i / padded; row * padded < i + n; row++) {
    const gsize first = MAX (row * padded, i);
    const gsize end = MIN (row * padded + width, i + n);

    if (first < end)
      self->kernels->store ((const guint8 *) keys
              + (first - i) * self->key_size,
          end - first, self->options.type,
          out + row * strides->row + (first - row * padded) * strides->sample,
          strides->sample);
  }
}

/* Computes @n_rows rows from row @at on by histograms of columns. From row to
 * row, the columns lose the rows at the top of the footprint and win those at
 * its bottom. */
static void
respond_columns (const NdRankSorter *self, gsize c, gsize at, gsize n_rows,
    gconstpointer *rows, guint8 *scratch, guint8 *out, const NdSamples *strides)
{
  const NdFootprint *footprint = self->footprint;
  const gsize height = footprint->high[1] - footprint->low[1] + 1;
  const gsize width = footprint->high[0] - footprint->low[0] + 1;
  const gsize n = self->options.shape.size[0];
  guint16 *columns = (guint16 *) (scratch + self->pitch);
  const NdRankKernels *kernels = self->kernels;

  memset (columns, 0, self->size[0] * ND_RANK_COLUMN * sizeof (guint16));
  for (gsize y = 0; y < n_rows; y++) {
    for (gsize r = 0; y > 0 && r < self->n_inputs; r += height)
      kernels->count_columns (columns, rows[r], self->size[0], FALSE);
    find_rows (self, c, at + y, rows);
    for (gsize r = y > 0 ? height - 1 : 0; r < self->n_inputs;
         r += y > 0 ? height : 1)
      kernels->count_columns (columns, rows[r], self->size[0], TRUE);
    kernels->sort_columns (columns, width, self->rank, n, scratch);
    kernels->store (scratch, n, self->options.type, out + y * strides->row,
        strides->sample);
  }
}

/* Computes a block of rows of one plane. Padded rows follow each other, so that
 * a network takes a block as one row. */
static void
respond_block (gsize index, guint worker, gpointer data)
{
  const SorterJob *job = data;
  const NdRankSorter *self = job->self;
  const NdRankSorterOptions *options = &self->options;
  const gsize *size = options->shape.size;
  const gsize plane = index / self->plane_blocks;
  const gsize c = plane / size[2], z = plane % size[2];
  const gsize y = index % self->plane_blocks * self->block_rows;
  const gsize n_rows = MIN (self->block_rows, size[1] - y);
  const gsize at = z * size[1] + y;
  const gsize all = (n_rows - 1) * self->size[0] + size[0];
  guint8 *scratch = self->workers + worker * self->worker_bytes;
  gconstpointer *rows = (gconstpointer *) scratch;
  guint8 *out = job->volume->data + c * nd_sample_size (options->type)
      + y * job->volume->row + z * job->volume->slice;

  scratch += self->rows_bytes;
  if (c < 64 && options->kept >> c & 1) {
    store_part (self,
        input_row (self, c, at, 0, 0, 0)
            - self->footprint->low[0] * (gssize) self->key_size,
        0, all, out, job->volume);
    return;
  }
  if (self->method == COLUMNS) {
    respond_columns (self, c, at, n_rows, rows, scratch, out, job->volume);
    return;
  }
  find_rows (self, c, at, rows);
  for (gsize i = 0; i < all; i += self->chunk) {
    const gsize n = MIN (self->chunk, all - i);

    store_part (self, sort_part (self, rows, scratch, n), i, n, out,
        job->volume);
    for (gsize k = 0; k < self->n_inputs; k++)
      rows[k] = (const guint8 *) rows[k] + n * self->key_size;
  }
}

void
nd_rank_sorter_respond (NdRankSorter *self, const NdSamples *out)
{
  const NdShape *shape = &self->options.shape;
  SorterJob job = { self, out };

  nd_window_positions (&self->window, self->positions);
  if (out)
    nd_parallel_for (shape->components * shape->size[2] * self->plane_blocks,
        respond_block, &job);
  nd_window_advance (&self->window);
}

/* Creation */

static gsize
round_up (gsize n, gsize to)
{
  return (n + to - 1) / to * to;
}

/* Whether histograms of columns take less time than a network or than a
 * histogram of the footprint, in cycles per sample, as measured. */
static gboolean
columns_are_faster (const NdRankSorter *self)
{
  const NdFootprint *footprint = self->footprint;
  const gdouble n = footprint->n, runs = footprint->n_runs;
  const gdouble rows = runs / (footprint->high[1] - footprint->low[1] + 1);
  const gdouble other = n <= MAX_SORTED_BOX ? n * sqrt (n) / 32 : 6 * runs;

  return self->key == ND_KEY_UINT8 && footprint->is_box
      && n <= ND_RANK_MAX_COUNT && 40 + 10 * rows < other;
}

static gboolean
choose_method (NdRankSorter *self, GError **error)
{
  const NdFootprint *footprint = self->footprint;
  const gboolean is_extreme = self->rank == 0 || self->rank == footprint->n - 1;

  if (!is_extreme && columns_are_faster (self)) {
    self->method = COLUMNS;
    self->n_inputs = footprint->n_runs;
    return TRUE;
  }

  if (is_extreme
      || footprint->n <= (footprint->is_box ? MAX_SORTED_BOX : MAX_SORTED)) {
    self->method = NETWORK;
    self->program = nd_rank_program_new (footprint, self->rank, error);
    if (!self->program)
      return FALSE;
    self->n_inputs = self->program->n_inputs;
    self->bytes = nd_rank_program_bytes (self->program);
    return TRUE;
  }
  self->method = nd_rank_histogram_bytes (self->key) > 0 ? HISTOGRAM : BITS;
  self->n_inputs = self->method == HISTOGRAM ? footprint->n_runs : footprint->n;
  return TRUE;
}

/* The memory of one worker: pointers to rows, then scratch rows. */
static void
plan_scratch (NdRankSorter *self)
{
  const gsize *size = self->options.shape.size;
  const gsize row_bytes = self->size[0] * self->key_size;
  gsize width = size[0];

  self->block_rows = 1;
  if (self->method == NETWORK) {
    self->block_rows = CLAMP (BLOCK_BYTES / row_bytes, 1, size[1]);
    width = self->block_rows * self->size[0];
  }
  if (self->method == COLUMNS) {
    const gsize height = self->footprint->high[1] - self->footprint->low[1] + 1;

    self->block_rows = CLAMP (3 * height, MIN (16, size[1]), size[1]);
  }
  self->plane_blocks = (size[1] + self->block_rows - 1) / self->block_rows;
  self->rows_bytes =
      round_up (self->n_inputs * sizeof (gpointer), ND_RANK_ROOM);
  self->chunk = width;
  if (self->method == NETWORK) {
    const gsize extra = self->program->extra * self->key_size + ND_RANK_ROOM;
    const gsize rows = MAX (self->program->n_rows, 1);
    const gsize share = CACHE_BYTES / rows;
    gsize bytes = round_up (width * self->key_size, ND_RANK_ROOM);

    bytes = MIN (bytes,
        MAX (share > extra ? share - extra : 0, MIN_CHUNK_BYTES) / ND_RANK_ROOM
            * ND_RANK_ROOM);
    self->chunk = bytes / self->key_size;
    self->pitch = round_up (bytes + extra, ND_RANK_ROOM);
    /* Rows must not all lie in the same lines of the cache. */
    if (self->pitch / ND_RANK_ROOM % 4 == 0)
      self->pitch += ND_RANK_ROOM;
    self->scratch_bytes = rows * self->pitch;
  } else {
    if (self->method == BITS)
      self->chunk = MIN (width, 256);
    self->pitch =
        round_up (self->chunk * self->key_size, ND_RANK_ROOM) + ND_RANK_ROOM;
    self->scratch_bytes = self->pitch
        + round_up (self->method == COLUMNS
                ? self->size[0] * ND_RANK_COLUMN * sizeof (guint16)
                : nd_rank_histogram_bytes (self->key),
            ND_RANK_ROOM);
  }
  self->worker_bytes = self->rows_bytes + self->scratch_bytes;
}

/* The border value as a key. */
static void
write_border_row (NdRankSorter *self)
{
  const gdouble value = self->options.border_value;
  const gdouble whole = rint (value);
  union
  {
    guint8 bytes[1];
    guint8 uint8;
    gint16 int16;
    guint16 uint16;
    gfloat float32;
    gdouble float64;
  } sample;

  switch (self->options.type) {
    case ND_UINT8:
      sample.uint8 = CLAMP (whole, 0, G_MAXUINT8);
      break;
    case ND_INT16:
      sample.int16 = CLAMP (whole, G_MININT16, G_MAXINT16);
      break;
    case ND_UINT16:
      sample.uint16 = CLAMP (whole, 0, G_MAXUINT16);
      break;
    case ND_FLOAT32:
      sample.float32 = value;
      break;
    default:
      sample.float64 = value;
  }
  self->kernels->load (sample.bytes, 0, self->block_rows * self->size[0],
      self->options.type, self->border_row);
}

static gboolean
sorter_allocate (NdRankSorter *self, GError **error)
{
  const NdRankSorterOptions *options = &self->options;
  const NdShape *shape = &options->shape;
  gsize ring, workers, border, positions, all;

  for (guint a = 0; a < 3; a++)
    self->size[a] = shape->size[a]
        + (gsize) (self->footprint->high[a] - self->footprint->low[a]);
  plan_scratch (self);
  self->volume_bytes =
      nd_size_mul (nd_size_mul (self->size[0], self->size[1], self->size[2]),
          self->key_size, 1);
  if (self->volume_bytes < G_MAXSIZE / 2)
    self->volume_bytes = round_up (self->volume_bytes, 64) + 2 * ND_RANK_ROOM;
  self->n_slots = (gsize) nd_window_size (&self->window) + options->waits;
  ring = nd_size_mul (self->volume_bytes, shape->components, self->n_slots);
  workers = nd_size_mul (self->worker_bytes, nd_threads (), 1);
  border = nd_size_mul (nd_size_mul (self->block_rows, self->size[0], 1),
      self->key_size, 1);
  positions = nd_size_mul (nd_window_size (&self->window), sizeof (gint64), 1);
  all = self->bytes + self->footprint->n_runs * sizeof (NdRankRun)
      + 2 * ND_RANK_ROOM;
  if (!g_size_checked_add (&all, all, ring)
      || !g_size_checked_add (&all, all, workers)
      || !g_size_checked_add (&all, all, border)
      || !g_size_checked_add (&all, all, positions)
      || !g_size_checked_add (&all, all, options->beside))
    all = G_MAXSIZE;
  if (!nd_memory_check (all, error))
    return FALSE;
  self->bytes = all - options->beside;
  self->ring = g_try_malloc0 (ring);
  self->border_row = g_try_malloc0 (border + 2 * ND_RANK_ROOM);
  self->positions = g_try_new (gint64, nd_window_size (&self->window));
  self->workers = g_try_malloc0 (workers);
  if (self->ring && self->border_row && self->positions && self->workers)
    return TRUE;
  nd_memory_set_error (error, all);
  return FALSE;
}

NdRankSorter *
nd_rank_sorter_new (NdFootprint *footprint, gsize rank,
    const NdRankSorterOptions *options, GError **error)
{
  NdRankSorter *self = g_new0 (NdRankSorter, 1);

  self->footprint = footprint;
  self->rank = rank;
  self->options = *options;
  self->kernels = nd_rank_kernels ();
  self->key = nd_rank_key (options->type);
  self->key_size = nd_rank_key_size (self->key);
  nd_window_init (&self->window, -footprint->low[ND_AXIS_T],
      footprint->high[ND_AXIS_T], options->time_border);
  if (!choose_method (self, error) || !sorter_allocate (self, error)) {
    nd_rank_sorter_free (self);
    return NULL;
  }
  write_border_row (self);
  return self;
}
