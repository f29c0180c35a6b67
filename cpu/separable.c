/* Method `separable`: filters of rank 1 as one pass per axis. The last pass
 * over a volume is that along z or, if no filter has taps there, along y. The
 * passes before it are computed together for a tile of rows: the sums along x
 * stay in the cache for those along y. If the window has one volume, respond
 * computes the last pass and stores its sums as samples. Otherwise push
 * computes it, and the ring holds its results; respond computes the weighted
 * sum of the volumes of the ring.
 *
 * No pass reads a padded volume. Rows are padded one by one when they are
 * converted, and the border along the last axis is a table of lines.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/separableprivate.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cost.h"

#include <math.h>
#include <string.h>

/* Rows in memory are whole vectors of any kernel. */
#define ROW_FLOATS 16

/* The least rows of a tile, so that it is not mostly rows that its neighbours
 * compute, too, and the floats of a tile, which fit in half of a small L2
 * cache. */
#define TILE_ROWS 16
#define TILE_FLOATS (128 * 1024 / sizeof (NdReal))

static gdouble
separable_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  return nd_job_check_separable (job, error) ? nd_cost_separable (job)
                                             : INFINITY;
}

/* Lines at this distance, in floats, share few sets of an L1 cache, whose sets
 * repeat after 64 cache lines. */
static gsize
separable_spread (gsize floats)
{
  gsize lines =
      (floats + ND_SEPARABLE_LINE_FLOATS - 1) / ND_SEPARABLE_LINE_FLOATS;
  const gsize set = lines % 64;

  if (lines >= 32 && (set < 9 || set > 55))
    lines += (64 + 9 - set) % 64;
  return nd_size_mul (lines, ND_SEPARABLE_LINE_FLOATS, 1);
}

static void
separable_destroy (gpointer state)
{
  NdSeparable *s = state;

  for (guint k = 0; s->filters && k < s->job.bank->n_filters; k++) {
    for (guint a = 0; a < ND_AXES; a++)
      nd_pass_clear (&s->filters[k].pass[a]);
    g_free (s->filters[k].lines);
    g_free (s->filters[k].border);
  }
  g_free (s->filters);
  g_free (s->volumes);
  g_free (s->table);
  g_free (s->memory);
  g_free (s->box_memory);
  nd_output_clear (&s->output);
  nd_pad_clear (&s->pad);
  g_free (s);
}

/* Takes @count times @n floats of the memory; @n becomes whole cache lines. */
static gsize
separable_take (NdSeparable *s, gsize *n, gsize count)
{
  const gsize at = s->total;

  *n = nd_size_mul (*n / ND_SEPARABLE_LINE_FLOATS
          + (*n % ND_SEPARABLE_LINE_FLOATS != 0),
      ND_SEPARABLE_LINE_FLOATS, 1);
  if (!g_size_checked_add (&s->total, at, nd_size_mul (*n, count, 1)))
    s->total = G_MAXSIZE;
  return at;
}

/* The rows around a tile that its sums along y need. */
static gsize
rows_around (const NdSeparable *s)
{
  return s->last == ND_AXIS_Y
      ? 0
      : s->reach.high[ND_AXIS_Y] - s->reach.low[ND_AXIS_Y];
}

/* Tiles are as large as their memory allows, but there are enough of them for
 * all threads. */
static gsize
choose_tile (const NdSeparable *s)
{
  const gsize *size = s->job.shape.size;
  const gsize fit = TILE_FLOATS / s->row, around = rows_around (s);
  gsize tile = MIN (fit > around ? fit - around : 0, size[1]);

  while (tile > TILE_ROWS
      && size[2] * ((size[1] + tile - 1) / tile) < 4 * nd_threads ())
    tile /= 2;
  return MIN (MAX (tile, TILE_ROWS), size[1]);
}

static gboolean
separable_make_memory (NdSeparable *s, gboolean border_volumes, GError **error)
{
  const gsize *size = s->job.shape.size;
  const gsize responses =
      nd_size_mul (s->job.bank->n_filters, s->job.shape.components, 1);
  const guint slots = s->reach.slots + (border_volumes ? 1 : 0);
  gsize slack = ND_SEPARABLE_LINE_FLOATS, between, ring, scratch;
  NdReal *start;

  s->row = (size[0] + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
  if (s->last == ND_AXIS_Y && size[0] > ND_SEPARABLE_COLUMNS)
    s->row = separable_spread (s->row);
  s->slice = separable_spread (nd_size_mul (s->row, size[1], 1));
  s->floats = nd_size_mul (s->slice, size[2], 1);
  /* Sums of whole vectors read beyond the end of a row. */
  s->padded_row = s->pad.size[0] + ND_BLOCK_MAX_WIDTH;
  s->padded_row += ROW_FLOATS - s->padded_row % ROW_FLOATS;
  s->tile = choose_tile (s);
  s->scratch_floats =
      nd_size_mul (s->row, s->tile + rows_around (s) + 2 * ND_BLOCK_ROWS, 1);
  if (!g_size_checked_add (&s->scratch_floats, s->scratch_floats,
          s->padded_row))
    s->scratch_floats = G_MAXSIZE;

  between = separable_take (s, &s->floats, s->has_ring ? 1 : responses);
  ring = separable_take (s, &s->floats,
      s->has_ring ? nd_size_mul (responses, slots, 1) : 0);
  scratch = separable_take (s, &s->scratch_floats, nd_threads ());
  separable_take (s, &slack, 1);
  s->memory = nd_floats_new (s->total, error);
  if (!s->memory)
    return FALSE;
  start = (NdReal *) (((guintptr) s->memory + ND_SEPARABLE_LINE - 1)
      / ND_SEPARABLE_LINE * ND_SEPARABLE_LINE);
  s->between = start + between;
  s->ring = start + ring;
  s->scratch = start + scratch;
  return TRUE;
}

static gboolean
separable_make_box_memory (NdSeparable *s, GError **error)
{
  const gsize rows = nd_size_mul (s->padded_row, nd_line_kernels ()->lanes, 2);
  gsize floats = nd_size_mul (s->box, ND_BOX_WIDTH, 1);

  if (s->box == 0)
    return TRUE;
  if (!g_size_checked_add (&floats, floats, rows))
    floats = G_MAXSIZE;
  s->box_floats = nd_size_mul (floats / ND_LINE_ALIGN + 1, ND_LINE_ALIGN, 1);
  s->box_memory =
      nd_floats_new (nd_size_mul (s->box_floats, nd_threads () + 1, 1), error);
  return s->box_memory != NULL;
}

/* The line of constants that the passes before the last one make of a row
 * beyond the volume. */
static gboolean
make_border (NdSeparable *s, NdSeparableFilter *f, GError **error)
{
  const gsize n = s->job.shape.size[0];
  NdReal *row = nd_separable_scratch (s, 0), *spare = row + s->padded_row;
  const NdReal **lines = nd_separable_table (s, 0);
  NdReal *out[ND_BLOCK_ROWS] = { NULL, spare, spare, spare };

  out[0] = f->border = nd_memory_new (s->row, sizeof (NdReal), error);
  if (!f->border)
    return FALSE;
  for (gsize i = 0; i < s->padded_row; i++)
    row[i] = s->job.border_value;
  for (guint i = 0; i < s->n_lines; i++)
    lines[i] = row;
  s->kernels->sum_rows (&f->pass[ND_AXIS_X].taps, lines, n, f->border);
  if (s->last == ND_AXIS_Y)
    return TRUE;
  memcpy (row, f->border, s->row * sizeof (NdReal));
  s->kernels->sum_lines (&f->pass[ND_AXIS_Y].taps, lines, n, out);
  return TRUE;
}

static gboolean
separable_make_filter (NdSeparable *s, guint k, GError **error)
{
  NdSeparableFilter *filter = &s->filters[k];
  const NdFilter *f = s->job.bank->filters[k];
  const gboolean finite = !nd_sample_is_float (s->job.in_type);
  gdouble *factors[ND_AXES];
  gint low[ND_AXES], high[ND_AXES];
  gboolean made = TRUE;

  /* The plan has found that it is of rank 1, so that only memory can lack. */
  if (!nd_filter_separate_in (f, s->job.precision, factors)) {
    nd_memory_set_error (error, nd_filter_count (f) * sizeof (gdouble));
    return FALSE;
  }
  nd_filter_reach (f, low, high);
  for (guint a = 0; a < ND_AXES; a++) {
    made = made
        && nd_pass_init (&filter->pass[a], factors[a], f->size[a], low[a],
            finite, error);
    s->n_lines =
        MAX (s->n_lines, filter->pass[a].taps.span + ND_BLOCK_ROWS - 1);
    if (filter->pass[a].is_box) {
      s->box = MAX (s->box, f->size[a]);
      s->n_lines = MAX (s->n_lines, 3 * f->size[a]);
    }
    g_free (factors[a]);
  }
  return made;
}

static gboolean
make_lines (const NdSeparable *s, NdSeparableFilter *f, GError **error)
{
  const gsize n = s->job.shape.size[s->last];
  const NdPass *pass = &f->pass[s->last];
  const gsize count = n + pass->taps.span + 2 * ND_BLOCK_ROWS;

  f->lines = nd_memory_new (count, sizeof (gssize), error);
  for (gsize i = 0; f->lines && i < count; i++)
    f->lines[i] = nd_border_index (s->job.border, (gint64) i + pass->low, n);
  return f->lines != NULL;
}

/* The tables of rows and volumes, and what belongs to each filter. */
static gboolean
make_tables (NdSeparable *s, GError **error)
{
  const guint n_filters = s->job.bank->n_filters;

  s->table = nd_memory_new (nd_size_mul (s->n_lines, nd_threads (), 1),
      sizeof (const NdReal *), error);
  if (!s->table)
    return FALSE;
  for (guint k = 0; k < n_filters; k++) {
    if (!make_border (s, &s->filters[k], error)
        || !make_lines (s, &s->filters[k], error))
      return FALSE;
  }
  s->volumes =
      nd_memory_new (nd_size_mul (s->output.group, n_filters, s->reach.slots),
          sizeof (const NdReal *), error);
  return s->volumes != NULL;
}

static gpointer
separable_create (const NdJob *job, const NdRingOptions *options,
    GError **error)
{
  NdSeparable *s = g_new0 (NdSeparable, 1);
  const guint n_filters = job->bank->n_filters;

  s->job = *job;
  s->reach = nd_job_reach (job);
  s->kernels = nd_kernels ();
  s->has_ring = s->reach.slots > 1 || options->border_volumes;
  s->last = s->reach.low[ND_AXIS_Z] != 0 || s->reach.high[ND_AXIS_Z] != 0
      ? ND_AXIS_Z
      : ND_AXIS_Y;
  s->filters = nd_memory_new (n_filters, sizeof (NdSeparableFilter), error);
  if (!s->filters || !nd_pad_init (&s->pad, job, &s->reach, error))
    goto failed;
  for (guint k = 0; k < n_filters; k++) {
    if (!separable_make_filter (s, k, error))
      goto failed;
  }
  if (!nd_output_init (&s->output, job,
          MAX (ND_BLOCK_ROWS * ND_SEPARABLE_COLUMNS,
              nd_size_mul (s->box, ND_SEPARABLE_BOX_COLUMNS, 1)),
          nd_threads (), error)
      || !separable_make_memory (s, options->border_volumes, error)
      || !separable_make_box_memory (s, error) || !make_tables (s, error))
    goto failed;
  return s;

failed:
  separable_destroy (s);
  return NULL;
}

static gsize
separable_bytes (gconstpointer state)
{
  const NdSeparable *s = state;

  return (s->total + s->box_floats * (s->box_memory ? nd_threads () : 0))
      * sizeof (NdReal)
      + nd_output_bytes (&s->output);
}

static NdReal *
between_of (const NdSeparable *s, gsize c, guint k)
{
  return s->between
      + (s->has_ring ? 0 : c * s->job.bank->n_filters + k) * s->floats;
}

static NdReal *
ring_volume (const NdSeparable *s, guint slot, gsize c, guint k)
{
  const gsize i =
      (slot * s->job.shape.components + c) * s->job.bank->n_filters + k;

  return s->ring + i * s->floats;
}

static gboolean
separable_push (gpointer state, guint slot, const NdSamples *volume,
    GError **error)
{
  const NdSeparable *s = state;

  for (gsize c = 0; c < s->job.shape.components; c++) {
    for (guint k = 0; k < s->job.bank->n_filters; k++) {
      NdReal *between = between_of (s, c, k);

      nd_separable_first (s, &s->filters[k], volume, c, between);
      if (s->has_ring)
        nd_separable_last (s, &s->filters[k], between,
            ring_volume (s, slot, c, k));
    }
  }
  return TRUE;
}

/* Finds the volumes that the response of filter @k for component @c of the
 * group from @first on is summed from. */
static void
separable_find_volumes (const NdSeparable *s, const gint *slots, gsize first,
    gsize c, guint k)
{
  const NdPass *pass = &s->filters[k].pass[ND_AXIS_T];
  const NdReal **volumes = nd_separable_volumes (s, k, c);

  if (!s->has_ring) {
    volumes[0] = between_of (s, first + c, k);
    return;
  }
  for (guint t = 0; t < pass->taps.n; t++) {
    const guint at = pass->offsets ? pass->offsets[t] : t;
    const gint slot = slots[pass->low - s->reach.low[ND_AXIS_T] + (gint) at];

    volumes[t] = ring_volume (s,
        slot == ND_SLOT_BORDER ? s->reach.slots : (guint) slot, first + c, k);
  }
}

/* Responses that are not combined are computed one by one, so that the lines
 * that the last pass reads again stay in the L1 cache. */
static void
separable_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  NdSeparable *s = state;
  const gsize group = s->output.group;
  const guint n_filters = s->job.bank->n_filters;

  s->output.scale = scale;
  s->output.out = out;
  for (gsize first = 0; first < s->job.shape.components; first += group) {
    NdSeparableRange range = { .component = first,
      .n = s->output.layers > 1 ? n_filters : 1 };

    for (guint k = 0; k < n_filters; k++)
      for (gsize c = 0; c < group; c++)
        separable_find_volumes (s, slots, first, c, k);
    for (; range.filter < n_filters; range.filter += range.n) {
      if (s->has_ring)
        nd_separable_weigh (s, &range);
      else
        nd_separable_respond (s, &range);
    }
  }
}

const NdCpuMethod nd_cpu_separable = {
  .file = "cpu/separable.c",
  .cost = separable_cost,
  .create = separable_create,
  .destroy = separable_destroy,
  .bytes = separable_bytes,
  .push = separable_push,
  .respond = separable_respond,
};
