/* Method `fft` by overlap-save: the padded volume is cut into blocks that
 * overlap by the reach of the filters. Each is convolved circularly, and the
 * outputs that do not reach over its edge are kept. A pair of blocks is
 * transformed, multiplied and transformed back while it is in the cache, for
 * all filters of a bank.
 *
 * If the window is one volume, push pads it and respond does the rest.
 * Otherwise push also transforms its blocks, and the ring keeps their spectra.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/fftsamples.h"
#include "cpu/method.h"
#include "cpu/rowoutput.h"

#include <math.h>
#include <string.h>

#define ALIGN_FLOATS (ND_FFT_ALIGN / sizeof (NdReal))

/* Keeps the spectra of a pair of blocks out of each other's cache sets, which
 * repeat every 4 KiB. */
#define STAGGER 32

#define ROWS_PER_TASK 16

/* Pairs whose spectra are summed together if the window is longer than one
 * volume: more do not fit in the cache. */
#define GROUP 2

/* The memory of a thread. */
typedef struct
{
  guint worker;
  NdReal *work;     /* of GROUP pairs */
  NdReal *spectrum; /* of a pair, for each component of a group */
} Scratch;

typedef struct
{
  NdFftSamples samples;
  NdFftGrid grid;
  NdRowOutput output; /* a tile is a group of pairs */
  gsize plane, block; /* floats of outputs in a layer; see layer_floats() */
  NdReal *memory;
  gsize floats; /* of the memory */

  NdReal *padded; /* [slot][component]; one volume if there is a ring */
  gsize row, slice, volume; /* distances in floats */
  NdReal *ring;     /* spectra, [slot][component][pair]; NULL: window of 1 */
  gsize spectrum;   /* distance of spectra in floats */
  NdReal **filters; /* spectra, [filter][t]; NULL for zeros only */
  NdReal *filter_memory;
  guint n_workers;
  NdReal *scratch_memory;

  /* Of respond, for the components of a group: the sums of levels, and whether
   * the window has samples that are not finite, [component][filter]; and
   * 2 * reach.slots of each thread. */
  NdReal *levels;
  gboolean *non_finite;
  const NdReal **pointers;
} Blocks;

static gdouble
blocks_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  NdFftGrid grid;

  return nd_fft_grid_choose (&grid, job);
}

static void
blocks_destroy (gpointer state)
{
  Blocks *b = state;

  nd_fft_samples_clear (&b->samples);
  nd_output_clear (&b->output);
  g_free (b->memory);
  g_free (b->filters);
  g_free (b->levels);
  g_free (b->non_finite);
  g_free (b->pointers);
  g_free (b);
}

/* Divides the memory: adds @n times @floats, rounded up, to @used. */
static gsize
fft_blocks_take (gsize *used, gsize floats, gsize n, gsize m)
{
  const gsize at = *used;

  if (!g_size_checked_add (&floats, floats, ALIGN_FLOATS - 1))
    floats = G_MAXSIZE;
  floats = nd_size_mul (floats / ALIGN_FLOATS * ALIGN_FLOATS, n, m);
  if (!g_size_checked_add (used, *used, floats))
    *used = G_MAXSIZE;
  return at;
}

static gsize
fft_blocks_scratch_floats (const Blocks *b)
{
  const NdFftBlock *block = b->grid.block;

  return GROUP * block->work + b->output.group * block->numbers;
}

static Scratch
scratch_of (const Blocks *b, guint worker)
{
  const NdFftBlock *block = b->grid.block;
  Scratch s;

  s.worker = worker;
  s.work = b->scratch_memory + worker * fft_blocks_scratch_floats (b);
  s.spectrum = s.work + GROUP * block->work;
  return s;
}

static gboolean
fft_blocks_make_memory (Blocks *b, GError **error)
{
  const NdFftSamples *s = &b->samples;
  const NdFftGrid *grid = &b->grid;
  const gsize components = s->job.shape.components;
  const gboolean has_ring = s->reach.slots > 1;
  gsize size[3], used = ALIGN_FLOATS, padded, ring, filters, scratch;
  guintptr start;

  for (guint a = 0; a < 3; a++)
    size[a] = (grid->count[a] - 1) * grid->kept[a] + grid->block->size[a];
  b->row = (size[0] + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
  b->slice = nd_size_mul (b->row, size[1], 1);
  b->volume = nd_size_mul (b->slice, size[2], 1);
  b->spectrum = grid->block->numbers + STAGGER;
  b->n_workers = nd_threads ();
  padded = fft_blocks_take (&used, b->volume, has_ring ? 1 : s->n_slots,
      has_ring ? 1 : components);
  ring = fft_blocks_take (&used, b->spectrum, has_ring ? s->n_slots : 0,
      nd_size_mul (grid->pairs, components, 1));
  filters = fft_blocks_take (&used, b->spectrum, MAX (s->n_spectra, 1), 1);
  scratch =
      fft_blocks_take (&used, fft_blocks_scratch_floats (b), b->n_workers, 1);
  b->memory = nd_floats_new (used, error);
  if (!b->memory)
    return FALSE;
  b->floats = used;
  nd_memory_use_large_pages (b->memory, used * sizeof (NdReal));
  start =
      ((guintptr) b->memory + ND_FFT_ALIGN - 1) / ND_FFT_ALIGN * ND_FFT_ALIGN;
  b->padded = (NdReal *) start + padded - ALIGN_FLOATS;
  b->ring = has_ring ? (NdReal *) start + ring - ALIGN_FLOATS : NULL;
  b->filter_memory = (NdReal *) start + filters - ALIGN_FLOATS;
  b->scratch_memory = (NdReal *) start + scratch - ALIGN_FLOATS;
  return TRUE;
}

static gboolean
fft_blocks_make_filter_spectra (Blocks *b, GError **error)
{
  const NdFftSamples *s = &b->samples;
  const NdFftBlock *block = b->grid.block;
  const gsize *size = block->size;
  const gsize points = size[0] * size[1] * size[2];
  const Scratch scratch = scratch_of (b, 0);
  g_autofree NdReal *samples = nd_floats_new (2 * points, error);
  gsize used = 0;

  if (!samples)
    return FALSE;
  for (guint k = 0; k < s->job.bank->n_filters; k++) {
    for (guint t = 0; t < s->reach.slots; t++) {
      const guint i = k * s->reach.slots + t;

      if (!s->coefficients[i])
        continue;
      b->filters[i] = b->filter_memory + b->spectrum * used++;
      for (gsize y = 0; y < size[1] * size[2]; y++)
        nd_fft_filter_row (s, k, t, size, 1.0 / points, y % size[1],
            y / size[1], samples + y * size[0]);
      block->forward (samples, samples + points, size[0], size[0] * size[1],
          scratch.work);
      block->spectrum (scratch.work, b->filters[i]);
    }
  }
  return TRUE;
}

/* The tables of respond. */
static gboolean
fft_blocks_make_tables (Blocks *b, GError **error)
{
  const NdFftSamples *s = &b->samples;
  const gsize n = s->job.bank->n_filters, slots = s->reach.slots;
  const gsize responses = nd_size_mul (n, b->output.group, 1);

  b->filters =
      nd_memory_new (nd_size_mul (n, slots, 1), sizeof (NdReal *), error);
  if (!b->filters)
    return FALSE;
  b->levels = nd_memory_new (responses, sizeof (NdReal), error);
  if (!b->levels)
    return FALSE;
  b->non_finite = nd_memory_new (responses, sizeof (gboolean), error);
  if (!b->non_finite)
    return FALSE;
  b->pointers = nd_memory_new (nd_size_mul (2, slots, b->n_workers),
      sizeof (const NdReal *), error);
  return b->pointers != NULL;
}

/* The pairs of blocks of a task. */
static gsize
task_pairs (const Blocks *b)
{
  return b->samples.reach.slots > 1 ? GROUP : 1;
}

static gsize
count_tasks (const Blocks *b)
{
  return (b->grid.pairs + task_pairs (b) - 1) / task_pairs (b);
}

/* If there is one layer, planes of outputs are stored one after the other.
 * Otherwise all outputs of a group of pairs wait for the next response. */
static gsize
init_layer (Blocks *b)
{
  const NdFftGrid *grid = &b->grid;
  const gsize blocks = 2 * task_pairs (b);

  b->plane = grid->block->size[0] * grid->kept[1];
  b->block = b->plane * grid->kept[2];
  if (nd_output_layers (&b->samples.job) > 1)
    return blocks * b->block;
  b->block = b->plane;
  b->plane = 0;
  return 2 * b->block;
}

static gpointer
blocks_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Blocks *b = g_new0 (Blocks, 1);

  if (!isfinite (nd_fft_grid_choose (&b->grid, job))) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The filters are too large for FFT blocks; use smaller filters or "
        "NDCONV_CPU_FFT=whole");
    g_free (b);
    return NULL;
  }
  if (!nd_fft_samples_init (&b->samples, job, options, error)
      || !nd_output_init (&b->output, job, init_layer (b),
          MIN (nd_threads (), count_tasks (b)), error)
      || !fft_blocks_make_memory (b, error)
      || !fft_blocks_make_tables (b, error)
      || !fft_blocks_make_filter_spectra (b, error)) {
    blocks_destroy (b);
    return NULL;
  }
  return b;
}

static gsize
blocks_bytes (gconstpointer state)
{
  const Blocks *b = state;

  return b->floats * sizeof (NdReal) + nd_fft_samples_bytes (&b->samples)
      + nd_output_bytes (&b->output);
}

static void
transform_pair (const Blocks *b, const NdReal *padded, gsize pair, NdReal *work)
{
  const NdReal *in[2];

  for (guint i = 0; i < 2; i++) {
    gsize at[3];

    nd_fft_grid_origin (&b->grid, 2 * pair + i, at);
    in[i] = padded + at[2] * b->slice + at[1] * b->row + at[0];
  }
  b->grid.block->forward (in[0], in[1], b->row, b->slice, work);
}

static NdReal *
padded_volume (const Blocks *b, guint slot, gsize component)
{
  return b->ring ? b->padded
                 : b->padded
          + b->volume * (slot * b->samples.job.shape.components + component);
}

static NdReal *
ring_spectrum (const Blocks *b, guint slot, gsize component, gsize pair)
{
  return b->ring
      + b->spectrum
      * ((slot * b->samples.job.shape.components + component) * b->grid.pairs
          + pair);
}

typedef struct
{
  Blocks *blocks;
  const NdSamples *volume;
  guint slot;
  gsize component;
  NdFftSlot *samples;
} Push;

static void
push_rows (gsize index, guint worker, gpointer data)
{
  const Push *push = data;
  Blocks *b = push->blocks;
  const gsize *size = b->samples.pad.size;
  const gsize end = MIN ((index + 1) * ROWS_PER_TASK, size[1] * size[2]);
  NdReal *padded = padded_volume (b, push->slot, push->component);

  for (gsize i = index * ROWS_PER_TASK; i < end; i++) {
    const gsize y = i % size[1], z = i / size[1];

    nd_fft_samples_row (&b->samples, push->samples, push->volume,
        push->component, y, z, padded + z * b->slice + y * b->row);
  }
}

static void
push_pair (gsize pair, guint worker, gpointer data)
{
  const Push *push = data;
  const Blocks *b = push->blocks;
  const Scratch scratch = scratch_of (b, worker);

  transform_pair (b, b->padded, pair, scratch.work);
  b->grid.block->spectrum (scratch.work,
      ring_spectrum (b, push->slot, push->component, pair));
}

static gboolean
blocks_push (gpointer state, guint slot, const NdSamples *volume,
    GError **error)
{
  Blocks *b = state;
  const gsize rows = b->samples.pad.size[1] * b->samples.pad.size[2];

  for (gsize c = 0; c < b->samples.job.shape.components; c++) {
    Push push = { .blocks = b, .volume = volume, .slot = slot, .component = c };

    push.samples = nd_fft_samples_begin (&b->samples, slot, volume, c);
    nd_parallel_for ((rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, push_rows,
        &push);
    if (!nd_fft_samples_end (&b->samples, error))
      return FALSE;
    if (b->ring)
      nd_parallel_for (b->grid.pairs, push_pair, &push);
  }
  return TRUE;
}

/* A call of respond, for the components of a group (cpu/rowoutput.h). */
typedef struct
{
  Blocks *blocks;
  const gint *slots;
  gsize component; /* the first one */
} Respond;

/* One response of a pair. */
typedef struct
{
  const Respond *respond;
  guint filter;
  gsize component;
  NdReal level;
  gboolean non_finite;
} Response;

static void
take_rows (const Response *response, const gsize origin[3], gsize z,
    NdReal *rows)
{
  const Respond *respond = response->respond;
  const Blocks *b = respond->blocks;
  const gsize *size = b->samples.job.shape.size;
  const gsize width = MIN (b->grid.kept[0], size[0] - origin[0]);
  const gsize end = MIN (origin[1] + b->grid.kept[1], size[1]);

  z += origin[2];
  for (gsize y = origin[1]; y < end; y++, rows += b->grid.block->size[0]) {
    if (response->non_finite)
      nd_fft_add_non_finite (&b->samples, respond->slots, response->component,
          response->filter, rows, width, origin[0], y, z);
    nd_output_row (&b->output, response->filter, response->component, rows,
        width, origin[0], y, z);
  }
}

/* Transforms pair @i of a group in @work back and takes its outputs. */
static void
take_pair (const Response *response, gsize pair, gsize i,
    const Scratch *scratch, NdReal *work)
{
  const Blocks *b = response->respond->blocks;
  const NdFftGrid *grid = &b->grid;
  const gsize depth = b->samples.job.shape.size[2];
  const guint n = 2 * pair + 1 < grid->blocks ? 2 : 1;
  NdReal *rows[2];
  gsize origin[2][3];

  rows[0] = nd_output_layer (&b->output, scratch->worker, response->filter,
      response->component);
  if (b->plane > 0)
    rows[0] += 2 * i * b->block;
  rows[1] = rows[0] + b->block;
  for (guint k = 0; k < 2; k++)
    nd_fft_grid_origin (grid, 2 * pair + k, origin[k]);
  for (gsize z = 0; z < grid->kept[2]; z++) {
    if (z + MIN (origin[0][2], origin[1][2]) >= depth)
      break;
    grid->block->inverse (work, z, grid->kept[0], grid->kept[1],
        response->level, rows[0], rows[1]);
    for (guint k = 0; k < 2; k++) {
      if (k < n && z + origin[k][2] < depth)
        take_rows (response, origin[k], z, rows[k]);
      rows[k] += b->plane;
    }
  }
}

/* Writes the spectra of filter @k and of the volumes of component @c of the
 * group, from @pair on, that it is multiplied by. Returns their number. */
static guint
find_factors (const Respond *respond, guint k, gsize c, gsize pair,
    const Scratch *scratch, const NdReal **spectra, const NdReal **filters)
{
  const Blocks *b = respond->blocks;
  const NdFftSamples *s = &b->samples;
  guint n = 0;

  for (guint t = 0; t < s->reach.slots; t++) {
    const NdReal *w = b->filters[k * s->reach.slots + t];

    if (!w)
      continue;
    filters[n] = w;
    spectra[n++] = b->ring
        ? ring_spectrum (b, nd_fft_slot (s, respond->slots, t),
              respond->component + c, pair)
        : scratch->spectrum + c * b->grid.block->numbers;
  }
  return n;
}

static Response
fft_blocks_response_of (const Respond *respond, guint k, gsize c)
{
  const gsize i = c * respond->blocks->samples.job.bank->n_filters + k;

  return (Response){ .respond = respond,
    .filter = k,
    .component = respond->component + c,
    .level = respond->blocks->levels[i],
    .non_finite = respond->blocks->non_finite[i] };
}

/* Transforms @pair if the window is one volume. Returns FALSE if that was all,
 * because a single filter is applied at once. */
static gboolean
transform_volume (const Respond *respond, gsize pair, const Scratch *scratch)
{
  const Blocks *b = respond->blocks;
  const NdFftBlock *block = b->grid.block;
  const gboolean single =
      b->samples.job.bank->n_filters == 1 && b->filters[0] != NULL;
  const guint slot = nd_fft_slot (&b->samples, respond->slots, 0);

  for (gsize c = 0; c < b->output.group; c++) {
    const Response response = fft_blocks_response_of (respond, 0, c);

    transform_pair (b, padded_volume (b, slot, response.component), pair,
        scratch->work);
    if (single) {
      block->convolve (scratch->work, b->filters[0]);
      take_pair (&response, pair, 0, scratch, scratch->work);
    } else {
      block->spectrum (scratch->work, scratch->spectrum + c * block->numbers);
    }
  }
  return !single;
}

static void
respond_group (gsize index, guint worker, gpointer data)
{
  const Respond *respond = data;
  const Blocks *b = respond->blocks;
  const NdFftBlock *block = b->grid.block;
  const NdFftSamples *s = &b->samples;
  const gsize group = task_pairs (b), pair = index * group;
  const gsize pairs = MIN (group, b->grid.pairs - pair);
  const Scratch scratch = scratch_of (b, worker);
  const NdReal **spectra = b->pointers + 2 * worker * s->reach.slots;
  const NdReal **filters = spectra + s->reach.slots;

  if (!b->ring && !transform_volume (respond, pair, &scratch))
    return;
  for (gsize i = 0; i < s->job.bank->n_filters * b->output.group; i++) {
    const guint k = i / b->output.group;
    const gsize c = i % b->output.group;
    const Response response = fft_blocks_response_of (respond, k, c);
    const guint n =
        find_factors (respond, k, c, pair, &scratch, spectra, filters);

    block->sum (spectra, filters, n, scratch.work, pairs, b->spectrum);
    for (gsize p = 0; p < pairs; p++)
      take_pair (&response, pair + p, p, &scratch,
          scratch.work + p * block->work);
  }
}

static void
blocks_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Blocks *b = state;
  const NdFftSamples *s = &b->samples;
  const guint n_filters = s->job.bank->n_filters;
  const gsize group = b->output.group;

  b->output.scale = scale;
  b->output.out = out;
  for (gsize first = 0; first < s->job.shape.components; first += group) {
    Respond respond = { .blocks = b, .slots = slots, .component = first };

    for (gsize i = 0; i < group * n_filters; i++)
      b->levels[i] = nd_fft_level (s, slots, first + i / n_filters,
          i % n_filters, b->non_finite + i);
    nd_parallel_for (count_tasks (b), respond_group, &respond);
  }
}

const NdCpuMethod nd_cpu_fft_blocks = {
  .file = "cpu/fftblocks.c",
  .cost = blocks_cost,
  .create = blocks_create,
  .destroy = blocks_destroy,
  .bytes = blocks_bytes,
  .push = blocks_push,
  .respond = blocks_respond,
};
