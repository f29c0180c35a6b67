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
#include "cpu/fft.h"
#include "cpu/fftgrid.h"
#include "cpu/fftsamples.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
  NdReal *work;      /* of GROUP pairs */
  NdReal *spectrum;  /* of a pair */
  NdReal *planes[2]; /* outputs of a pair */
} Scratch;

typedef struct
{
  NdFftSamples samples;
  const NdKernels *kernels;
  NdFftGrid grid;
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
  g_free (b->memory);
  g_free (b->filters);
  g_free (b);
}

/* Divides the memory: adds @n times @floats, rounded up, to @used. */
static gsize
take (gsize *used, gsize floats, gsize n, gsize m)
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
scratch_floats (const Blocks *b)
{
  const NdFftBlock *block = b->grid.block;

  return GROUP * block->work + block->numbers
      + 2 * block->size[0] * block->size[1];
}

static Scratch
scratch_of (const Blocks *b, guint worker)
{
  const NdFftBlock *block = b->grid.block;
  Scratch s;

  s.work = b->scratch_memory + worker * scratch_floats (b);
  s.spectrum = s.work + GROUP * block->work;
  s.planes[0] = s.spectrum + block->numbers;
  s.planes[1] = s.planes[0] + block->size[0] * block->size[1];
  return s;
}

/* Asks for huge pages: the rows of a block are in different pages, and each
 * page needs a look-up. */
static void
advise (gpointer memory, gsize bytes)
{
#ifdef MADV_HUGEPAGE
  const gsize page = sysconf (_SC_PAGESIZE);
  const guintptr start = ((guintptr) memory + page - 1) / page * page;
  const guintptr end = ((guintptr) memory + bytes) / page * page;

  if (end > start)
    madvise ((gpointer) start, end - start, MADV_HUGEPAGE);
#endif
}

static gboolean
make_memory (Blocks *b, GError **error)
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
  padded = take (&used, b->volume, has_ring ? 1 : s->n_slots,
      has_ring ? 1 : components);
  ring = take (&used, b->spectrum, has_ring ? s->n_slots : 0,
      nd_size_mul (grid->pairs, components, 1));
  filters = take (&used, b->spectrum, MAX (s->n_spectra, 1), 1);
  scratch = take (&used, scratch_floats (b), b->n_workers, 1);
  b->memory = nd_floats_new (used, error);
  if (!b->memory)
    return FALSE;
  b->floats = used;
  advise (b->memory, used * sizeof (NdReal));
  start =
      ((guintptr) b->memory + ND_FFT_ALIGN - 1) / ND_FFT_ALIGN * ND_FFT_ALIGN;
  b->padded = (NdReal *) start + padded - ALIGN_FLOATS;
  b->ring = has_ring ? (NdReal *) start + ring - ALIGN_FLOATS : NULL;
  b->filter_memory = (NdReal *) start + filters - ALIGN_FLOATS;
  b->scratch_memory = (NdReal *) start + scratch - ALIGN_FLOATS;
  return TRUE;
}

static void
make_filter_spectra (Blocks *b)
{
  const NdFftSamples *s = &b->samples;
  const NdFftBlock *block = b->grid.block;
  const gsize *size = block->size;
  const gsize points = size[0] * size[1] * size[2];
  const Scratch scratch = scratch_of (b, 0);
  g_autofree NdReal *samples = g_new0 (NdReal, 2 * points);
  gsize used = 0;

  b->filters = g_new0 (NdReal *, s->job.bank->n_filters * s->reach.slots);
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
      || !make_memory (b, error)) {
    blocks_destroy (b);
    return NULL;
  }
  b->kernels = nd_kernels ();
  make_filter_spectra (b);
  return b;
}

static gsize
blocks_bytes (gconstpointer state)
{
  const Blocks *b = state;

  return b->floats * sizeof (NdReal) + nd_fft_samples_bytes (&b->samples);
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

static void
blocks_push (gpointer state, guint slot, const NdSamples *volume)
{
  Blocks *b = state;
  const gsize rows = b->samples.pad.size[1] * b->samples.pad.size[2];

  for (gsize c = 0; c < b->samples.job.shape.components; c++) {
    Push push = { .blocks = b, .volume = volume, .slot = slot, .component = c };

    push.samples = nd_fft_samples_begin (&b->samples, slot, volume, c);
    nd_parallel_for ((rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, push_rows,
        &push);
    if (b->ring)
      nd_parallel_for (b->grid.pairs, push_pair, &push);
  }
}

typedef struct
{
  Blocks *blocks;
  const gint *slots;
  gsize component;
  guint first, n;          /* filters */
  const NdReal *levels;    /* of these filters */
  const NdReal *added;     /* responses to add; NULL if there are none */
  const NdReal **pointers; /* 2 * reach.slots of each thread */
  const NdSamples *out;
  NdStore store; /* of the first filter */
} Respond;

static void
store_block (const Respond *respond, guint filter, const gsize origin[3],
    gsize z, NdReal *rows)
{
  const Blocks *b = respond->blocks;
  const gsize *size = b->samples.job.shape.size;
  const gsize width = MIN (b->grid.kept[0], size[0] - origin[0]);
  const gsize height = MIN (b->grid.kept[1], size[1] - origin[1]);
  NdStore store = respond->store;

  z += origin[2];
  store.plane += filter * respond->out->response;
  for (gsize i = 0; i < height; i++, rows += b->grid.block->size[0]) {
    const gsize y = origin[1] + i;
    const NdReal *added =
        respond->added + (z * size[1] + y) * size[0] + origin[0];

    for (gsize x = 0; respond->added && x < width; x++)
      rows[x] += added[x];
    nd_store_responses (rows, width, origin[0], y, z, &store);
  }
}

/* Transforms the pair in @work back and stores its outputs. */
static void
store_pair (const Respond *respond, gsize pair, guint filter,
    const Scratch *scratch, NdReal *work)
{
  const NdFftGrid *grid = &respond->blocks->grid;
  const gsize depth = respond->blocks->samples.job.shape.size[2];
  const guint n = 2 * pair + 1 < grid->blocks ? 2 : 1;
  gsize origin[2][3];

  for (guint i = 0; i < 2; i++)
    nd_fft_grid_origin (grid, 2 * pair + i, origin[i]);
  for (gsize z = 0; z < grid->kept[2]; z++) {
    if (z + MIN (origin[0][2], origin[1][2]) >= depth)
      break;
    grid->block->inverse (work, z, grid->kept[0], grid->kept[1],
        respond->levels[filter], scratch->planes[0], scratch->planes[1]);
    for (guint i = 0; i < n; i++) {
      if (z + origin[i][2] < depth)
        store_block (respond, filter, origin[i], z, scratch->planes[i]);
    }
  }
}

/* Writes the spectra of filter @k and of the volumes, from @pair on, that it is
 * multiplied by. Returns their number. */
static guint
find_factors (const Respond *respond, guint k, gsize pair,
    const Scratch *scratch, const NdReal **spectra, const NdReal **filters)
{
  const Blocks *b = respond->blocks;
  const NdFftSamples *s = &b->samples;
  guint n = 0;

  for (guint t = 0; t < s->reach.slots; t++) {
    const NdReal *w = b->filters[(respond->first + k) * s->reach.slots + t];

    if (!w)
      continue;
    filters[n] = w;
    spectra[n++] = b->ring
        ? ring_spectrum (b, nd_fft_slot (s, respond->slots, t),
              respond->component, pair)
        : scratch->spectrum;
  }
  return n;
}

static void
respond_group (gsize index, guint worker, gpointer data)
{
  const Respond *respond = data;
  const Blocks *b = respond->blocks;
  const NdFftBlock *block = b->grid.block;
  const NdFftSamples *s = &b->samples;
  const gsize group = b->ring ? GROUP : 1, pair = index * group;
  const gsize pairs = MIN (group, b->grid.pairs - pair);
  const Scratch scratch = scratch_of (b, worker);
  const NdReal **spectra = respond->pointers + 2 * worker * s->reach.slots;
  const NdReal **filters = spectra + s->reach.slots;

  if (!b->ring) {
    transform_pair (b,
        padded_volume (b, nd_fft_slot (s, respond->slots, 0),
            respond->component),
        pair, scratch.work);
    if (respond->n == 1 && b->filters[respond->first]) {
      block->convolve (scratch.work, b->filters[respond->first]);
      store_pair (respond, pair, 0, &scratch, scratch.work);
      return;
    }
    block->spectrum (scratch.work, scratch.spectrum);
  }
  for (guint k = 0; k < respond->n; k++) {
    const guint n = find_factors (respond, k, pair, &scratch, spectra, filters);

    block->sum (spectra, filters, n, scratch.work, pairs, b->spectrum);
    for (gsize i = 0; i < pairs; i++)
      store_pair (respond, pair + i, k, &scratch,
          scratch.work + i * block->work);
  }
}

/* All filters run in one pass. If samples are not finite they run one by one,
 * because the responses to such samples are those of one filter. */
static void
blocks_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Blocks *b = state;
  NdFftSamples *s = &b->samples;
  const guint n_filters = s->job.bank->n_filters;
  g_autofree NdReal *levels = g_new (NdReal, n_filters);
  g_autofree gboolean *non_finite = g_new (gboolean, n_filters);
  g_autofree const NdReal **pointers =
      g_new (const NdReal *, 2 * s->reach.slots * b->n_workers);

  for (gsize c = 0; c < s->job.shape.components; c++) {
    Respond respond = {
      .blocks = b, .slots = slots, .component = c, .pointers = pointers
    };
    gboolean any = FALSE;

    for (guint k = 0; k < n_filters; k++) {
      levels[k] = nd_fft_level (s, slots, c, k, non_finite + k);
      any |= non_finite[k];
    }
    respond.n = any ? 1 : n_filters;
    respond.out = out;
    for (; respond.first < n_filters; respond.first += respond.n) {
      const guint k = respond.first;

      respond.levels = levels + k;
      respond.added = non_finite[k] ? nd_fft_non_finite (s, slots, c, k) : NULL;
      respond.store = (NdStore){ .kernels = b->kernels,
        .scale = scale,
        .out = out,
        .type = s->job.out_type,
        .plane = k * out->response + c * nd_sample_size (s->job.out_type) };
      nd_parallel_for (b->ring ? (b->grid.pairs + GROUP - 1) / GROUP
                               : b->grid.pairs,
          respond_group, &respond);
    }
  }
}

const NdCpuMethod nd_cpu_fft_blocks = {
  .cost = blocks_cost,
  .create = blocks_create,
  .destroy = blocks_destroy,
  .bytes = blocks_bytes,
  .push = blocks_push,
  .respond = blocks_respond,
};
