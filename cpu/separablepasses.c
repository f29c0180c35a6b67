/* The passes of separable filters.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/separableprivate.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/stencil.h"

/* The outputs along the axis, and the rows across it, of a task of the last
 * pass. */
#define TASK_OUTPUTS 32
#define TASK_ROWS 8
typedef struct
{
  const NdSeparable *s;
  const NdSamples *volume;
  const NdSeparableFilter *filter;
  gsize component;
  gsize tiles; /* of a slice */
  NdReal *out;
} Push;

/* Asks for the row after the next one, while the sums of this one are
 * computed. */
static void
prefetch_row (const Push *push, gssize y, gsize z)
{
  const NdSamples *volume = push->volume;
  const gsize *size = push->s->job.shape.size;

  if (!volume || y < 0 || y >= (gssize) size[1])
    return;
  for (gsize i = 0; i < size[0] * volume->sample; i += ND_SEPARABLE_LINE)
    __builtin_prefetch (volume->data + z * volume->slice + y * volume->row + i);
}

/* The sums along x for @n rows from row @y of slice @z on, which may lie beyond
 * the volume. */
static void
sum_along_x (const Push *push, guint worker, gssize y, gsize z, gsize n,
    NdReal *out)
{
  const NdSeparable *s = push->s;
  const gint *low = s->reach.low;
  const NdPass *pass = &push->filter->pass[ND_AXIS_X];
  NdReal *padded = nd_separable_scratch (s, worker);
  const NdReal **rows = nd_separable_table (s, worker);

  for (guint t = 0; t < pass->taps.n; t++)
    rows[t] = padded + (pass->low - low[ND_AXIS_X])
        + (pass->offsets ? pass->offsets[t] : t);
  for (gsize i = 0; i < n; i++) {
    prefetch_row (push, y + (gssize) i + 2, z);
    nd_pad_row (&s->pad, push->volume, push->component,
        y + (gssize) i - low[ND_AXIS_Y], z - low[ND_AXIS_Z], padded);
    s->kernels->sum_rows (&pass->taps, rows, s->job.shape.size[0],
        out + i * s->row);
  }
}

/* The same for a box: by as many rows at a time as a vector has lanes. */
static void
sum_box_along_x (const Push *push, guint worker, gssize y, gsize z, gsize n,
    NdReal *out)
{
  const NdSeparable *s = push->s;
  const NdLineKernels *kernels = nd_line_kernels ();
  const NdPass *pass = &push->filter->pass[ND_AXIS_X];
  const gint *low = s->reach.low;
  const gsize width = s->job.shape.size[0], k = pass->taps.n;
  const gsize lanes = kernels->lanes, row = s->padded_row;
  NdReal *scratch = nd_separable_box_memory (s, worker);
  NdReal *rows = scratch + s->box * ND_BOX_WIDTH, *columns = rows + lanes * row;

  for (gsize i = 0; i < n; i += lanes) {
    const gsize m = MIN (lanes, n - i);
    NdBoxSum box = {
      .k = k, .width = lanes, .weight = pass->weights[0], .stride = lanes
    };

    for (gsize r = 0; r < m; r++)
      nd_pad_row (&s->pad, push->volume, push->component,
          y + (gssize) (i + r) - low[ND_AXIS_Y], z - low[ND_AXIS_Z],
          rows + r * row);
    kernels->to_lanes (rows + (pass->low - low[ND_AXIS_X]), row, width + k - 1,
        columns);
    for (gsize x = 0; x < width; x += k) {
      box.base = box.out = columns + x * lanes;
      box.n = MIN (k, width - x);
      kernels->sum_box (&box, scratch);
    }
    if (m == lanes) {
      kernels->from_lanes (columns, width, out + i * s->row, s->row);
      continue;
    }
    kernels->from_lanes (columns, width, rows, row);
    for (gsize r = 0; r < m; r++)
      memcpy (out + (i + r) * s->row, rows + r * row, width * sizeof (NdReal));
  }
}

static void
passes_sum_along_x (const Push *push, guint worker, gssize y, gsize z, gsize n,
    NdReal *out)
{
  (push->filter->pass[ND_AXIS_X].is_box ? sum_box_along_x : sum_along_x) (push,
      worker, y, z, n, out);
}

/* The sums along y of @n outputs from @rows on. */
static void
sum_box_along_y (const Push *push, guint worker, NdReal *rows, gsize n,
    NdReal *out)
{
  const NdSeparable *s = push->s;
  const NdPass *pass = &push->filter->pass[ND_AXIS_Y];

  for (gsize i = 0; i < n; i += pass->taps.n) {
    const NdBoxSum box = { .k = pass->taps.n,
      .n = MIN (pass->taps.n, n - i),
      .width = s->job.shape.size[0],
      .weight = pass->weights[0],
      .base = rows + i * s->row,
      .out = out + i * s->row,
      .stride = s->row };

    nd_line_kernels ()->sum_box (&box, nd_separable_box_memory (s, worker));
  }
}

static void
passes_push_task (gsize index, guint worker, gpointer data)
{
  const Push *push = data;
  const NdSeparable *s = push->s;
  const NdPass *pass = &push->filter->pass[ND_AXIS_Y];
  const gsize z = index / push->tiles, row = s->row;
  const gsize y = index % push->tiles * s->tile;
  const gsize n = MIN (s->tile, s->job.shape.size[1] - y);
  NdReal *rows = nd_separable_scratch (s, worker) + s->padded_row;
  NdReal *out = push->out + z * s->slice + y * row;
  const NdReal **lines = nd_separable_table (s, worker);

  if (s->last == ND_AXIS_Y) {
    passes_sum_along_x (push, worker, y, z, n, out);
    return;
  }
  /* Sums of whole blocks read lines after those of the tile. The last row of
   * the scratch memory takes their results. */
  passes_sum_along_x (push, worker, (gssize) y + pass->low, z,
      n + MAX (pass->taps.span, 1) - 1, rows);
  if (pass->is_box) {
    sum_box_along_y (push, worker, rows, n, out);
    return;
  }
  for (gsize i = 0; i < n; i += ND_BLOCK_ROWS) {
    NdReal *spare = rows + (n + pass->taps.span + ND_BLOCK_ROWS) * row;
    NdReal *to[ND_BLOCK_ROWS];

    for (guint j = 0; j < pass->taps.span + ND_BLOCK_ROWS - 1; j++)
      lines[j] = rows + (i + j) * row;
    for (guint r = 0; r < ND_BLOCK_ROWS; r++)
      to[r] = i + r < n ? out + (i + r) * row : spare;
    s->kernels->sum_lines (&pass->taps, lines, s->job.shape.size[0], to);
  }
}

void
nd_separable_first (const NdSeparable *s, const NdSeparableFilter *filter,
    const NdSamples *volume, gsize c, NdReal *out)
{
  Push push = { .s = s,
    .volume = volume,
    .filter = filter,
    .component = c,
    .tiles = (s->job.shape.size[1] + s->tile - 1) / s->tile,
    .out = out };

  nd_parallel_for (push.tiles * s->job.shape.size[2], passes_push_task, &push);
}

/* The last pass, to @sums or to the output. */
typedef struct
{
  const NdSeparable *s;
  const NdSeparableFilter *filter; /* of @sums */
  const NdReal *in;
  NdReal *sums;
  const NdSeparableRange *range;
  gsize n, across;         /* outputs along the axis, and rows across it */
  gsize stride, next;      /* of the lines along the axis, and across it */
  gsize n_outputs, n_rows; /* of a task */
  gsize tasks;             /* along the axis */
} Last;

/* Sums ND_BLOCK_ROWS lines of @n columns of @in. */
static void
sum_block (const Last *last, const NdSeparableFilter *f, const NdReal *in,
    guint worker, gsize at, gsize row, gsize x, gsize n,
    NdReal *const out[ND_BLOCK_ROWS])
{
  const NdSeparable *s = last->s;
  const NdTaps *taps = &f->pass[s->last].taps;
  const NdReal **lines = nd_separable_table (s, worker);

  in += row * last->next + x;
  for (guint i = 0; i < taps->span + ND_BLOCK_ROWS - 1; i++) {
    const gssize line = f->lines[at + i];

    lines[i] = line < 0 ? f->border : in + line * last->stride;
  }
  for (guint r = 0; r < ND_BLOCK_ROWS; r++) {
    const gssize line = f->lines[at + taps->span + ND_BLOCK_ROWS - 1 + r];
    const NdReal *p = in + line * last->stride;

    for (gsize i = 0; line >= 0 && i < n; i += ND_SEPARABLE_LINE_FLOATS)
      __builtin_prefetch (p + i);
  }
  s->kernels->sum_lines (taps, lines, n, out);
}

static void
last_block (const Last *last, guint worker, gsize at, gsize row, gsize x,
    gsize n)
{
  NdReal spare[ND_SEPARABLE_COLUMNS]
      __attribute__ ((aligned (ND_SEPARABLE_LINE)));
  NdReal *out[ND_BLOCK_ROWS];

  for (guint r = 0; r < ND_BLOCK_ROWS; r++)
    out[r] = at + r < last->n
        ? last->sums + (at + r) * last->stride + row * last->next + x
        : spare;
  sum_block (last, last->filter, last->in, worker, at, row, x, n, out);
}

/* One response, for component @c of the group. */
static void
respond_filter (const Last *last, guint worker, guint k, gsize c, gsize at,
    gsize row, gsize x, gsize n)
{
  const NdSeparable *s = last->s;
  const gboolean is_y = s->last == ND_AXIS_Y;
  const gsize component = last->range->component + c;
  NdReal *sums = nd_output_layer (&s->output, worker, k, component);
  NdReal *out[ND_BLOCK_ROWS];

  for (guint r = 0; r < ND_BLOCK_ROWS; r++)
    out[r] = sums + r * ND_SEPARABLE_COLUMNS;
  sum_block (last, &s->filters[k], nd_separable_volumes (s, k, c)[0], worker,
      at, row, x, n, out);
  for (guint r = 0; r < ND_BLOCK_ROWS && at + r < last->n; r++)
    nd_output_row (&s->output, k, component, out[r], n, x, is_y ? at + r : row,
        is_y ? row : at + r);
}

static void
respond_block (const Last *last, guint worker, gsize at, gsize row, gsize x,
    gsize n)
{
  const NdSeparableRange *range = last->range;

  for (guint k = range->filter; k < range->filter + range->n; k++)
    for (gsize c = 0; c < last->s->output.group; c++)
      respond_filter (last, worker, k, c, at, row, x, n);
}

/* One response, or sums, of @count outputs of a filter that is a box along the
 * axis. */
static void
last_box (const Last *last, guint worker, gsize at, gsize count, gsize row,
    gsize x, gsize n)
{
  const NdSeparable *s = last->s;
  const gboolean is_y = s->last == ND_AXIS_Y;
  const guint k = last->sums ? 0 : last->range->filter;
  const gsize component = last->sums ? 0 : last->range->component;
  const NdSeparableFilter *f = last->sums ? last->filter : &s->filters[k];
  const NdReal *in = last->sums ? last->in : nd_separable_volumes (s, k, 0)[0];
  const NdPass *pass = &f->pass[s->last];
  const NdReal **lines = nd_separable_table (s, worker);
  NdReal **outs = (NdReal **) lines + 2 * pass->taps.n;
  NdReal *sums = nd_output_layer (&s->output, worker, k, component);
  const NdBoxSum box = { .k = pass->taps.n,
    .n = count,
    .width = n,
    .weight = pass->weights[0],
    .lines = lines,
    .outs = outs };

  for (gsize i = 0; i < count + pass->taps.n - 1; i++) {
    const gssize line = f->lines[at + i];

    lines[i] =
        line < 0 ? f->border : in + row * last->next + x + line * last->stride;
  }
  for (gsize r = 0; r < count; r++)
    outs[r] = last->sums
        ? last->sums + (at + r) * last->stride + row * last->next + x
        : sums + r * ND_SEPARABLE_BOX_COLUMNS;
  nd_line_kernels ()->sum_box (&box, nd_separable_box_memory (s, worker));
  for (gsize r = 0; !last->sums && r < count; r++)
    nd_output_row (&s->output, k, component, outs[r], n, x, is_y ? at + r : row,
        is_y ? row : at + r);
}

/* The taps of a box along the last axis, or 0. Responses that are combined are
 * summed together. */
static gsize
find_box (const Last *last)
{
  const NdSeparable *s = last->s;
  const NdSeparableFilter *f =
      last->sums ? last->filter : &s->filters[last->range->filter];

  if (!last->sums && s->output.layers > 1)
    return 0;
  return f->pass[s->last].is_box ? f->pass[s->last].taps.n : 0;
}

static void
last_box_task (gsize index, guint worker, gpointer data)
{
  const Last *last = data;
  const gsize width = last->s->job.shape.size[0], k = find_box (last);
  const gsize first = index % last->tasks * last->n_outputs;
  const gsize end = MIN (first + last->n_outputs, last->n);
  const gsize row = index / last->tasks * last->n_rows;
  const gsize row_end = MIN (row + last->n_rows, last->across);

  for (gsize r = row; r < row_end; r++)
    for (gsize at = first; at < end; at += k)
      for (gsize x = 0; x < width; x += ND_SEPARABLE_BOX_COLUMNS)
        last_box (last, worker, at, MIN (k, end - at), r, x,
            MIN (width - x, ND_SEPARABLE_BOX_COLUMNS));
}

static void
last_task (gsize index, guint worker, gpointer data)
{
  const Last *last = data;
  const gsize width = last->s->job.shape.size[0];
  const gsize first = index % last->tasks * last->n_outputs;
  const gsize end = MIN (first + last->n_outputs, last->n);
  const gsize row = index / last->tasks * last->n_rows;
  const gsize row_end = MIN (row + last->n_rows, last->across);

  for (gsize x = 0; x < width; x += ND_SEPARABLE_COLUMNS)
    for (gsize r = row; r < row_end; r++)
      for (gsize at = first; at < end; at += ND_BLOCK_ROWS)
        (last->sums ? last_block : respond_block) (last, worker, at, r, x,
            MIN (width - x, ND_SEPARABLE_COLUMNS));
}

static void
run_last (Last *last)
{
  const NdSeparable *s = last->s;
  const gboolean is_y = s->last == ND_AXIS_Y;
  const gsize *size = s->job.shape.size;
  gsize rows;

  last->n = size[s->last];
  last->across = size[is_y ? ND_AXIS_Z : ND_AXIS_Y];
  last->stride = is_y ? s->row : s->slice;
  last->next = is_y ? s->slice : s->row;
  last->n_outputs = MAX (TASK_OUTPUTS, find_box (last));
  last->n_rows = is_y ? 1 : TASK_ROWS;
  rows = (last->across + last->n_rows - 1) / last->n_rows;
  if (rows >= 4 * nd_threads ())
    last->n_outputs = last->n;
  last->tasks = (last->n + last->n_outputs - 1) / last->n_outputs;
  nd_parallel_for (rows * last->tasks,
      find_box (last) > 0 ? last_box_task : last_task, last);
}

void
nd_separable_last (const NdSeparable *s, const NdSeparableFilter *filter,
    const NdReal *in, NdReal *sums)
{
  Last last = { .s = s, .filter = filter, .in = in, .sums = sums };

  run_last (&last);
}

void
nd_separable_respond (const NdSeparable *s, const NdSeparableRange *range)
{
  Last last = { .s = s, .range = range };

  run_last (&last);
}

/* The weighted sum of the volumes of the ring. */
typedef struct
{
  const NdSeparable *s;
  const NdSeparableRange *range;
} Weigh;

/* One response, for component @c of the group. */
static void
weigh_filter (const Weigh *weigh, guint worker, guint k, gsize c, gsize x,
    gsize y, gsize z)
{
  const NdSeparable *s = weigh->s;
  const gsize component = weigh->range->component + c;
  const gsize n = MIN (s->job.shape.size[0] - x, ND_SEPARABLE_COLUMNS);
  const NdTaps *taps = &s->filters[k].pass[ND_AXIS_T].taps;
  const NdReal **volumes = nd_separable_volumes (s, k, c);
  const NdReal **rows = nd_separable_table (s, worker);
  NdReal *sums = nd_output_layer (&s->output, worker, k, component);

  for (guint t = 0; t < taps->n; t++)
    rows[t] = volumes[t] + z * s->slice + y * s->row + x;
  s->kernels->sum_rows (taps, rows, n, sums);
  nd_output_row (&s->output, k, component, sums, n, x, y, z);
}

static void
weigh_task (gsize index, guint worker, gpointer data)
{
  const Weigh *weigh = data;
  const NdSeparableRange *range = weigh->range;
  const gsize *size = weigh->s->job.shape.size;
  const gsize end = MIN ((index + 1) * TASK_ROWS, size[1] * size[2]);

  for (gsize i = index * TASK_ROWS; i < end; i++)
    for (gsize x = 0; x < size[0]; x += ND_SEPARABLE_COLUMNS)
      for (guint k = range->filter; k < range->filter + range->n; k++)
        for (gsize c = 0; c < weigh->s->output.group; c++)
          weigh_filter (weigh, worker, k, c, x, i % size[1], i / size[1]);
}

void
nd_separable_weigh (const NdSeparable *s, const NdSeparableRange *range)
{
  const gsize rows = s->job.shape.size[1] * s->job.shape.size[2];
  Weigh weigh = { .s = s, .range = range };

  nd_parallel_for ((rows + TASK_ROWS - 1) / TASK_ROWS, weigh_task, &weigh);
}

/* The taps are flipped and have no zeros at their ends. Zeros between them stay
 * only if samples are finite, because 0 * Inf is NaN. */
gboolean
nd_pass_init (NdPass *pass, const gdouble *factor, gsize size, gint low,
    gboolean finite, GError **error)
{
  gsize first = 0, end = size, n = 0;
  gboolean dense;

  while (end > 0 && factor[size - end] == 0)
    end--;
  while (first < end && factor[size - 1 - first] == 0)
    first++;
  for (gsize i = first; i < end; i++)
    n += factor[size - 1 - i] != 0;
  dense = n == end - first || (finite && n >= ND_DENSE_SHARE * (end - first));
  pass->low = low + (gint) first;
  pass->weights = nd_memory_new (end - first, sizeof (NdReal), error);
  if (!pass->weights)
    return FALSE;
  pass->offsets = dense ? NULL : nd_memory_new (n, sizeof (gsize), error);
  if (!dense && !pass->offsets)
    return FALSE;
  pass->taps.span = end - first;
  pass->taps.weights = pass->weights;
  pass->taps.offsets = pass->offsets;
  for (gsize i = first; i < end; i++) {
    const gdouble w = factor[size - 1 - i];

    if (!dense && w == 0)
      continue;
    if (!dense)
      pass->offsets[pass->taps.n] = i - first;
    pass->weights[pass->taps.n++] = w;
  }
  pass->is_box = dense && pass->taps.n >= ND_SEPARABLE_BOX;
  for (guint i = 1; i < pass->taps.n; i++)
    pass->is_box &= pass->weights[i] == pass->weights[0];
  return TRUE;
}

void
nd_pass_clear (NdPass *pass)
{
  g_clear_pointer (&pass->weights, g_free);
  g_clear_pointer (&pass->offsets, g_free);
}
