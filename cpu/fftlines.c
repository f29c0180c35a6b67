/* Method `fft` for filters along x, by overlap-save: rows are cut into pieces
 * that overlap by the reach of the filters. Pieces are transformed, multiplied
 * and transformed back as many at a time as a vector has lanes, while they are
 * in the cache. The outputs that do not reach over the end of a piece are kept.
 *
 * Push pads the rows, respond does the rest. The window is one volume.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cost.h"
#include "cpu/fftsamples.h"
#include "cpu/linefft.h"
#include "cpu/method.h"
#include "cpu/rowoutput.h"

#include <math.h>
#include <string.h>

/* Longer pieces, of which a vector has up to 16, leave all caches. */
#define MAX_PIECE 65536

#define ROWS_PER_TASK 16

/* How rows are cut. */
typedef struct
{
  gsize n;      /* samples of a piece */
  gsize kept;   /* outputs of a piece */
  gsize count;  /* pieces of a row */
  gsize pieces; /* of a volume */
  gsize tasks;
} Cut;

typedef struct
{
  NdFftSamples samples;
  NdRowOutput output; /* a tile is the pieces of a task */
  const NdLineKernels *kernels;
  Cut cut;
  NdLineFft *forward, *inverse;
  gsize number;    /* floats of one number of all lanes */
  gsize row;       /* floats of a padded row */
  gsize kept_row;  /* floats of the outputs of a piece */
  gsize line;      /* floats of a spectrum of all lanes */
  gsize piece_row; /* floats of a copied piece */
  guint n_workers;
  NdReal *memory;
  gsize floats;
  NdReal *padded;  /* [component][z][y] */
  NdReal *spectra; /* of the filters, [filter][number][re, im] */
  NdReal *scratch;
  NdReal *levels;       /* [component of a group][filter] */
  gboolean *non_finite; /* likewise */
} Lines;

/* The memory of a worker. */
typedef struct
{
  NdReal *pieces; /* one for each lane */
  NdReal *columns, *product, *spare;
  NdReal *spectra; /* of the components of a group */
} Scratch;

static gboolean
lines_fit (const NdJob *job, const NdReach *reach, const NdRingOptions *options)
{
  gboolean along_x = TRUE;

  for (guint a = 1; a < 3; a++)
    along_x &= reach->low[a] == 0 && reach->high[a] == 0;
  return along_x && reach->slots == 1 && !options->border_volumes;
}

static gdouble
cut_into (const NdJob *job, gsize around, gsize n, Cut *cut)
{
  const gsize width = job->shape.size[0];
  const gsize lanes = nd_line_kernels ()->lanes;

  cut->n = n;
  cut->count = (width - 1) / (n - around) + 1;
  cut->kept = (width - 1) / cut->count + 1;
  cut->count = (width - 1) / cut->kept + 1;
  cut->pieces =
      nd_size_mul (cut->count, job->shape.size[1], job->shape.size[2]);
  cut->tasks = cut->pieces / lanes + (cut->pieces % lanes > 0);
  return nd_cost_fft_lines (job, n, cut->tasks);
}

/* Returns the estimated seconds per volume, or INFINITY if rows cannot be cut.
 * Of each product of threes and fives, pieces that hold a whole row are the
 * longest that are compared. */
static gdouble
choose_cut (const NdJob *job, const NdRingOptions *options, Cut *best)
{
  static const gsize odd[] = { 1, 3, 5, 9, 15 };
  const NdReach reach = nd_job_reach (job);
  const gsize around = (gsize) reach.high[0] - reach.low[0];
  gdouble least = INFINITY;

  if (!lines_fit (job, &reach, options))
    return INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (odd); i++) {
    gboolean is_whole = FALSE;

    for (gsize n = 4 * odd[i]; n <= MAX_PIECE && !is_whole; n *= 2) {
      gdouble seconds;
      Cut cut;

      if (n <= around)
        continue;
      seconds = cut_into (job, around, n, &cut);
      is_whole = cut.count == 1;
      if (seconds < least) {
        least = seconds;
        *best = cut;
      }
    }
  }
  return least;
}

static gdouble
lines_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Cut cut;

  return choose_cut (job, options, &cut);
}

static void
lines_destroy (gpointer state)
{
  Lines *l = state;

  nd_fft_samples_clear (&l->samples);
  nd_output_clear (&l->output);
  nd_line_fft_free (l->forward);
  nd_line_fft_free (l->inverse);
  g_free (l->memory);
  g_free (l->levels);
  g_free (l->non_finite);
  g_free (l);
}

/* @n floats, rounded up to whole lines of memory. */
static gsize
whole_lines (gsize n)
{
  const gsize align = ND_LINE_ALIGN / sizeof (NdReal);

  return nd_size_mul (n / align + (n % align > 0), align, 1);
}

/* Divides the memory: adds @n times @floats to @used. */
static gsize
fft_lines_take (gsize *used, gsize floats, gsize n)
{
  const gsize at = *used;

  if (!g_size_checked_add (used, *used,
          nd_size_mul (whole_lines (floats), n, 1)))
    *used = G_MAXSIZE;
  return at;
}

static gsize
fft_lines_scratch_floats (const Lines *l)
{
  return l->piece_row * l->kernels->lanes + (3 + l->output.group) * l->line;
}

static Scratch
fft_lines_scratch (const Lines *l, guint worker)
{
  Scratch s = { .pieces = l->scratch + worker * fft_lines_scratch_floats (l) };

  s.columns = s.pieces + l->piece_row * l->kernels->lanes;
  s.product = s.columns + l->line;
  s.spare = s.product + l->line;
  s.spectra = s.spare + l->line;
  return s;
}

static gboolean
fft_lines_make_memory (Lines *l, GError **error)
{
  const NdJob *job = &l->samples.job;
  const gsize rows = nd_size_mul (job->shape.size[1], job->shape.size[2], 1);
  gsize used = ND_LINE_ALIGN / sizeof (NdReal), padded, spectra, scratch;
  NdReal *start;

  padded = fft_lines_take (&used, l->row,
      nd_size_mul (rows, job->shape.components, 1));
  spectra = fft_lines_take (&used, l->cut.n + 2, job->bank->n_filters);
  scratch = fft_lines_take (&used, fft_lines_scratch_floats (l), l->n_workers);
  l->memory = nd_floats_new (used, error);
  if (!l->memory)
    return FALSE;
  l->floats = used;
  nd_memory_use_large_pages (l->memory, used * sizeof (NdReal));
  start = (NdReal *) ((guintptr) l->memory / ND_LINE_ALIGN * ND_LINE_ALIGN);
  l->padded = start + padded;
  l->spectra = start + spectra;
  l->scratch = start + scratch;
  return TRUE;
}

static gboolean
fft_lines_make_tables (Lines *l, GError **error)
{
  const gsize responses =
      nd_size_mul (l->samples.job.bank->n_filters, l->output.group, 1);

  l->forward = nd_line_fft_new_real (l->cut.n, FALSE, error);
  if (!l->forward)
    return FALSE;
  l->inverse = nd_line_fft_new_real (l->cut.n, TRUE, error);
  if (!l->inverse)
    return FALSE;
  l->levels = nd_memory_new (responses, sizeof (NdReal), error);
  if (!l->levels)
    return FALSE;
  l->non_finite = nd_memory_new (responses, sizeof (gboolean), error);
  return l->non_finite != NULL;
}

static NdReal *
filter_spectrum (const Lines *l, guint filter)
{
  return l->spectra + filter * whole_lines (l->cut.n + 2);
}

/* Filters are transformed in the first lane. */
static void
fft_lines_make_spectra (Lines *l)
{
  const gsize n = l->cut.n, lanes = l->kernels->lanes;
  const gsize size[3] = { n, 1, 1 };
  const Scratch s = fft_lines_scratch (l, 0);

  for (guint k = 0; k < l->samples.job.bank->n_filters; k++) {
    NdReal *to = filter_spectrum (l, k);

    if (!l->samples.coefficients[k])
      continue;
    nd_fft_filter_row (&l->samples, k, 0, size, 1.0 / n, 0, 0, s.pieces);
    l->kernels->to_lanes (s.pieces, l->piece_row, n, s.columns);
    l->kernels->forward (l->forward, s.columns, s.product, s.spare);
    for (gsize i = 0; i < n + 2; i++)
      to[i] = s.product[i * lanes];
  }
}

static gpointer
lines_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Lines *l = g_new0 (Lines, 1);
  const NdReach reach = nd_job_reach (job);
  const gsize around = (gsize) reach.high[0] - reach.low[0];
  const gsize align = ND_LINE_ALIGN / sizeof (NdReal);

  l->kernels = nd_line_kernels ();
  l->number = 2 * l->kernels->lanes;
  choose_cut (job, options, &l->cut);
  l->n_workers = MIN (nd_threads (), l->cut.tasks);
  l->row = whole_lines (nd_size_mul (l->cut.count - 1, l->cut.kept, 1)
      + l->cut.kept + around);
  /* Transposes read and write whole vectors. Rows at multiples of a page share
   * the sets of a cache. */
  l->piece_row = whole_lines (l->cut.n) + 2 * align;
  l->kept_row = whole_lines (l->cut.kept) + 2 * align;
  l->row += l->piece_row - (l->cut.kept + around);
  l->row = whole_lines (l->row);
  l->line = (l->cut.n / 2 + 1 + l->kernels->lanes) * l->number;
  if (!nd_fft_samples_init (&l->samples, job, options, error)
      || !nd_output_init (&l->output, job, l->kept_row * l->kernels->lanes,
          l->n_workers, error)
      || !fft_lines_make_memory (l, error)
      || !fft_lines_make_tables (l, error)) {
    lines_destroy (l);
    return NULL;
  }
  fft_lines_make_spectra (l);
  return l;
}

static gsize
lines_bytes (gconstpointer state)
{
  const Lines *l = state;

  return l->floats * sizeof (NdReal) + nd_fft_samples_bytes (&l->samples)
      + nd_output_bytes (&l->output);
}

static NdReal *
padded_row (const Lines *l, gsize component, gsize row)
{
  const gsize *size = l->samples.job.shape.size;

  return l->padded + (component * size[1] * size[2] + row) * l->row;
}

typedef struct
{
  Lines *lines;
  const NdSamples *volume;
  gsize component;
  NdFftSlot *slot;
} Push;

static void
fft_lines_push_rows (gsize index, guint worker, gpointer data)
{
  const Push *push = data;
  Lines *l = push->lines;
  const gsize *size = l->samples.job.shape.size;
  const gsize end = MIN ((index + 1) * ROWS_PER_TASK, size[1] * size[2]);

  for (gsize i = index * ROWS_PER_TASK; i < end; i++)
    nd_fft_samples_row (&l->samples, push->slot, push->volume, push->component,
        i % size[1], i / size[1], padded_row (l, push->component, i));
}

static gboolean
lines_push (gpointer state, guint slot, const NdSamples *volume, GError **error)
{
  Lines *l = state;
  const gsize *size = l->samples.job.shape.size;
  const gsize rows = size[1] * size[2];

  for (gsize c = 0; c < l->samples.job.shape.components; c++) {
    Push push = { .lines = l, .volume = volume, .component = c };

    push.slot = nd_fft_samples_begin (&l->samples, slot, volume, c);
    nd_parallel_for ((rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK,
        fft_lines_push_rows, &push);
    if (!nd_fft_samples_end (&l->samples, error))
      return FALSE;
  }
  return TRUE;
}

typedef struct
{
  Lines *lines;
  const gint *slots;
  gsize component; /* the first one of a group */
} Respond;

static NdReal *
piece_at (const Lines *l, gsize component, gsize piece)
{
  return padded_row (l, component, piece / l->cut.count)
      + piece % l->cut.count * l->cut.kept;
}

/* The spectra of @n pieces from @first on. Those of one row are read where
 * they are, others are copied to be as far from each other. */
static void
transform_pieces (const Lines *l, gsize component, gsize first, gsize n,
    const Scratch *s, NdReal *spectrum)
{
  const gsize lanes = l->kernels->lanes;
  const NdReal *pieces = piece_at (l, component, first);
  gsize row = l->cut.kept;

  if (n < lanes || first % l->cut.count + lanes > l->cut.count) {
    for (gsize i = 0; i < n; i++)
      memcpy (s->pieces + i * l->piece_row, piece_at (l, component, first + i),
          l->cut.n * sizeof (NdReal));
    pieces = s->pieces;
    row = l->piece_row;
  }
  l->kernels->to_lanes (pieces, row, l->cut.n, s->columns);
  l->kernels->forward (l->forward, s->columns, spectrum, s->spare);
}

/* Transforms the product in @s back and takes its outputs. */
static void
take_pieces (const Respond *respond, guint filter, gsize c, gsize first,
    gsize n, guint worker, const Scratch *s)
{
  const Lines *l = respond->lines;
  const gsize *size = l->samples.job.shape.size;
  const gsize component = respond->component + c;
  const gsize i = c * l->samples.job.bank->n_filters + filter;
  NdReal *row = nd_output_layer (&l->output, worker, filter, component);

  l->kernels->inverse (l->inverse, s->product, s->columns, s->spare);
  l->kernels->from_lanes (s->columns, l->cut.kept, row, l->kept_row);
  for (gsize p = first; p < first + n; p++, row += l->kept_row) {
    const gsize x = p % l->cut.count * l->cut.kept, at = p / l->cut.count;
    const gsize y = at % size[1], z = at / size[1];
    const gsize width = MIN (l->cut.kept, size[0] - x);

    for (gsize j = 0; j < width; j++)
      row[j] += l->levels[i];
    if (l->non_finite[i])
      nd_fft_add_non_finite (&l->samples, respond->slots, component, filter,
          row, width, x, y, z);
    nd_output_row (&l->output, filter, component, row, width, x, y, z);
  }
}

static void
respond_pieces (gsize index, guint worker, gpointer data)
{
  const Respond *respond = data;
  const Lines *l = respond->lines;
  const gsize lanes = l->kernels->lanes, first = index * lanes;
  const gsize n = MIN (lanes, l->cut.pieces - first);
  const gsize group = l->output.group;
  const Scratch s = fft_lines_scratch (l, worker);

  for (gsize c = 0; c < group; c++)
    transform_pieces (l, respond->component + c, first, n, &s,
        s.spectra + c * l->line);
  for (guint k = 0; k < l->samples.job.bank->n_filters; k++) {
    for (gsize c = 0; c < group; c++) {
      l->kernels->multiply_all (s.product, s.spectra + c * l->line,
          filter_spectrum (l, k), l->cut.n / 2 + 1);
      take_pieces (respond, k, c, first, n, worker, &s);
    }
  }
}

static void
lines_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Lines *l = state;
  const guint n_filters = l->samples.job.bank->n_filters;
  const gsize group = l->output.group;

  l->output.scale = scale;
  l->output.out = out;
  for (gsize first = 0; first < l->samples.job.shape.components;
       first += group) {
    Respond respond = { .lines = l, .slots = slots, .component = first };

    for (gsize i = 0; i < group * n_filters; i++)
      l->levels[i] = nd_fft_level (&l->samples, slots, first + i / n_filters,
          i % n_filters, l->non_finite + i);
    nd_parallel_for (l->cut.tasks, respond_pieces, &respond);
  }
}

const NdCpuMethod nd_cpu_fft_lines = {
  .file = "cpu/fftlines.c",
  .cost = lines_cost,
  .create = lines_create,
  .destroy = lines_destroy,
  .bytes = lines_bytes,
  .push = lines_push,
  .respond = lines_respond,
};
