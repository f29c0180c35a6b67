/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/rankprogram.h"

#include "core/list.h"
#include "core/memory.h"

#include <string.h>

/* A sample of a node at x + shift. */
typedef struct
{
  gint32 node;
  guint32 shift;
} Value;

typedef enum
{
  INPUT,
  LOWER, /* the next node may be the upper one of the same values */
  UPPER
} NodeKind;

typedef struct
{
  NodeKind kind;
  Value a, b;
  gint64 extra; /* samples that are needed beyond the output; -1: none at all */
  gint64 last;  /* the last node that reads it */
  gint32 row;
} Node;

typedef struct
{
  NdList *nodes, *steps;
} Builder;

static Node *
node_at (const Builder *self, gint32 i)
{
  return &g_array_index (self->nodes, Node, i);
}

static Value
add_node (Builder *self, NodeKind kind, Value a, Value b)
{
  const Node node = { .kind = kind, .a = a, .b = b, .extra = -1, .row = -1 };

  nd_list_add (self->nodes, node);
  return (Value){ (gint32) self->nodes->len - 1, 0 };
}

static Value
shifted (Value value, guint32 by)
{
  value.shift += by;
  return value;
}

/* Sorts two values. */
static void
compare (Builder *self, Value *a, Value *b)
{
  const Value lower = add_node (self, LOWER, *a, *b);

  *b = add_node (self, UPPER, *a, *b);
  *a = lower;
}

/* Merges the sorted values a[0], a[step], ... and b[0], b[step], ... to out. */
static void
merge (Builder *self, const Value *a, gsize n_a, const Value *b, gsize n_b,
    gsize step, Value *out)
{
  const gsize n_even = (n_a + 1) / 2 + (n_b + 1) / 2;
  const gsize n_odd = n_a / 2 + n_b / 2;
  g_autofree Value *even = NULL, *odd = NULL;

  if (n_a == 0 || n_b == 0) {
    for (gsize i = 0; i < n_a + n_b; i++)
      out[i] = n_a ? a[i * step] : b[i * step];
    return;
  }
  if (n_a == 1 && n_b == 1) {
    out[0] = a[0];
    out[1] = b[0];
    compare (self, &out[0], &out[1]);
    return;
  }
  even = g_new (Value, n_even);
  odd = g_new (Value, n_odd);
  merge (self, a, (n_a + 1) / 2, b, (n_b + 1) / 2, 2 * step, even);
  merge (self, a + step, n_a / 2, b + step, n_b / 2, 2 * step, odd);
  out[0] = even[0];
  for (gsize i = 0; i < n_odd; i++) {
    out[2 * i + 1] = odd[i];
    if (i + 1 >= n_even)
      continue;
    out[2 * i + 2] = even[i + 1];
    compare (self, &out[2 * i + 1], &out[2 * i + 2]);
  }
  if (n_even == n_odd + 2)
    out[n_even + n_odd - 1] = even[n_even - 1];
}

static void
sort_values (Builder *self, Value *values, gsize n)
{
  g_autofree Value *sorted = NULL;

  if (n < 2)
    return;
  sorted = g_new (Value, n);
  sort_values (self, values, n / 2);
  sort_values (self, values + n / 2, n - n / 2);
  merge (self, values, n / 2, values + n / 2, n - n / 2, 1, sorted);
  memcpy (values, sorted, n * sizeof (Value));
}

/* The value at @rank of the union of two sorted lists: with i of the rank + 1
 * least values from a, the greatest of these is max (a[i - 1], b[rank - i]),
 * and the right i has the least one. */
static Value
pick (Builder *self, const Value *a, gsize n_a, const Value *b, gsize n_b,
    gsize rank)
{
  Value best = { -1, 0 };

  for (gsize i = rank + 1 > n_b ? rank + 1 - n_b : 0; i <= MIN (n_a, rank + 1);
       i++) {
    const Value greatest = i == 0 ? b[rank]
        : i == rank + 1           ? a[rank]
                        : add_node (self, UPPER, a[i - 1], b[rank - i]);

    best = best.node < 0 ? greatest : add_node (self, LOWER, best, greatest);
  }
  return best;
}

/* Boxes */

/* Sorted values of 2^i columns side by side, @n for each column. */
typedef struct
{
  Value *values;
  gsize n;
} Sorted;

static Sorted
shift_sorted (const Sorted *from, guint32 by)
{
  Sorted to = { g_new (Value, from->n), from->n };

  for (gsize i = 0; i < to.n; i++)
    to.values[i] = shifted (from->values[i], by);
  return to;
}

static Sorted
merge_sorted (Builder *self, const Sorted *a, const Sorted *b)
{
  Sorted to = { g_new (Value, a->n + b->n), a->n + b->n };

  merge (self, a->values, a->n, b->values, b->n, 1, to.values);
  return to;
}

/* The value at @rank of @width sorted columns. */
static Value
pick_of_columns (Builder *self, Sorted columns, guint32 width, gsize rank)
{
  Sorted all = { NULL, 0 };
  guint32 done = 0;
  Value found = { -1, 0 };

  for (guint32 n = 1; n <= width; n *= 2) {
    const Sorted here = shift_sorted (&columns, done);
    const gboolean last = 2 * n > width;
    Sorted next;

    if (width & n) {
      if (last && all.n)
        found = pick (self, all.values, all.n, here.values, here.n, rank);
      else if (last)
        found = here.values[rank];
      next = last ? all : merge_sorted (self, &all, &here);
      if (!last) {
        g_free (all.values);
        all = next;
      }
      done += n;
    }
    g_free (here.values);
    if (!last) {
      const Sorted beside = shift_sorted (&columns, n);

      /* Of a power of 2 only the last merge is not complete. */
      if (4 * n > width && width == 2 * n) {
        found = pick (self, columns.values, columns.n, beside.values, beside.n,
            rank);
        g_free (beside.values);
        break;
      }
      next = merge_sorted (self, &columns, &beside);
      g_free (beside.values);
      g_free (columns.values);
      columns = next;
    }
  }
  g_free (all.values);
  g_free (columns.values);
  return found;
}

/* The least or greatest value of @width samples of @row from @shift on: of
 * powers of 2, the last two of which may overlap. */
static Value
extreme_of_run (Builder *self, NodeKind kind, Value row, guint32 shift,
    guint32 width)
{
  guint32 n = 1;

  for (; 2 * n <= width; n *= 2)
    row = add_node (self, kind, row, shifted (row, n));
  if (n < width)
    row = add_node (self, kind, row, shifted (row, width - n));
  return shifted (row, shift);
}

/* Footprints */

static gboolean
same_row (const NdRankRun *a, const NdRankRun *b)
{
  return a->y == b->y && a->z == b->z && a->t == b->t;
}

/* Adds the rows of the input; runs of one row follow each other. */
static gboolean
add_inputs (Builder *self, NdRankProgram *program, const NdFootprint *footprint)
{
  program->inputs = g_try_malloc (footprint->n_runs * sizeof (gint[3]));
  if (!program->inputs)
    return FALSE;
  for (gsize r = 0; r < footprint->n_runs; r++) {
    const NdRankRun *run = &footprint->runs[r];
    gint *input = program->inputs[program->n_inputs];

    if (r > 0 && same_row (run, run - 1))
      continue;
    input[0] = run->y;
    input[1] = run->z;
    input[2] = run->t;
    program->n_inputs++;
    add_node (self, INPUT, (Value){ -1, 0 }, (Value){ -1, 0 });
  }
  return TRUE;
}

static Value
build_extreme (Builder *self, const NdFootprint *footprint, NodeKind kind,
    guint n_inputs)
{
  const guint32 width = footprint->high[0] - footprint->low[0] + 1;
  Value best = { -1, 0 };
  gint32 input = -1;

  if (footprint->is_box) {
    best.node = 0;
    for (guint i = 1; i < n_inputs; i++)
      best = add_node (self, kind, best, (Value){ i, 0 });
    return extreme_of_run (self, kind, best, 0, width);
  }
  for (gsize r = 0; r < footprint->n_runs; r++) {
    const NdRankRun *run = &footprint->runs[r];
    Value found;

    input += r == 0 || !same_row (run, run - 1);
    found = extreme_of_run (self, kind, (Value){ input, 0 },
        run->first - footprint->low[0], run->last - run->first + 1);
    best = best.node < 0 ? found : add_node (self, kind, best, found);
  }
  return best;
}

static Value
build_sort (Builder *self, const NdFootprint *footprint, gsize rank,
    guint n_inputs)
{
  const guint32 width = footprint->high[0] - footprint->low[0] + 1;
  const gsize n = footprint->is_box ? n_inputs : footprint->n;
  Value *values = g_new (Value, n);
  Value found;
  gint32 input = -1;
  gsize i = 0;

  if (footprint->is_box) {
    for (; i < n; i++)
      values[i] = (Value){ i, 0 };
    if (width > 1) {
      sort_values (self, values, n);
      return pick_of_columns (self, (Sorted){ values, n }, width, rank);
    }
  }
  for (gsize r = 0; i < n && r < footprint->n_runs; r++) {
    const NdRankRun *run = &footprint->runs[r];

    input += r == 0 || !same_row (run, run - 1);
    for (gint x = run->first; x <= run->last; x++)
      values[i++] = (Value){ input, x - footprint->low[0] };
  }
  sort_values (self, values, n / 2);
  sort_values (self, values + n / 2, n - n / 2);
  found = pick (self, values, n / 2, values + n / 2, n - n / 2, rank);
  g_free (values);
  return found;
}

/* Steps */

static void
need (const Builder *self, Value value, gint64 extra, gint64 reader)
{
  Node *node = node_at (self, value.node);

  node->extra = MAX (node->extra, extra + value.shift);
  node->last = MAX (node->last, reader);
}

static NdRankOperand
operand (const Builder *self, Value value)
{
  const Node *node = node_at (self, value.node);

  return (NdRankOperand){ node->kind == INPUT ? ~value.node : node->row,
    value.shift };
}

typedef struct
{
  NdList *unused; /* rows */
  guint n_rows;
} Rows;

static gint32
take_row (Rows *rows)
{
  if (rows->unused->len == 0)
    return rows->n_rows++;
  return g_array_index (rows->unused, gint32, --rows->unused->len);
}

/* Gives the row of @value back if nothing after node @i reads it. */
static void
drop_row (const Builder *self, Rows *rows, Value value, gint64 i)
{
  Node *node = node_at (self, value.node);

  if (node->kind == INPUT || node->last > i || node->last < 0)
    return;
  nd_list_add (rows->unused, node->row);
  node->last = -1;
}

static void
emit_step (Builder *self, Rows *rows, gint32 i)
{
  Node *node = node_at (self, i), *upper = NULL;
  NdRankStep step = { operand (self, node->a), operand (self, node->b), -1, -1,
    node->extra };
  const gsize last = self->nodes->len - 1;

  if (node->kind == LOWER && (gsize) i < last) {
    Node *next = node_at (self, i + 1);

    if (next->kind == UPPER && next->extra >= 0
        && memcmp (&next->a, &node->a, 2 * sizeof (Value)) == 0)
      upper = next;
  }
  drop_row (self, rows, node->a, i + (upper != NULL));
  drop_row (self, rows, node->b, i + (upper != NULL));
  node->row = take_row (rows);
  if (upper) {
    upper->row = take_row (rows);
    step.extra = MAX (node->extra, upper->extra);
    step.high = upper->row;
    step.low = node->row;
  } else if (node->kind == LOWER) {
    step.low = node->row;
  } else {
    step.high = node->row;
  }
  nd_list_add (self->steps, step);
}

/* Turns the nodes that @out depends on into steps. */
static gboolean
emit (Builder *self, NdRankProgram *program, Value out)
{
  Rows rows = { nd_list_new (NULL, sizeof (gint32)), 0 };
  gboolean ok;

  need (self, out, 0, G_MAXINT64);
  for (gint64 i = self->nodes->len - 1; i >= 0; i--) {
    const Node *node = node_at (self, i);

    program->extra = MAX (program->extra, node->extra);
    if (node->kind == INPUT || node->extra < 0)
      continue;
    need (self, node->a, node->extra, i);
    need (self, node->b, node->extra, i);
  }
  for (guint i = 0; i < self->nodes->len; i++) {
    const Node *node = node_at (self, i);

    if (node->kind != INPUT && node->extra >= 0 && node->row < 0)
      emit_step (self, &rows, i);
  }
  program->out = operand (self, out);
  program->n_rows = rows.n_rows;
  ok = !rows.unused->failed;
  nd_list_free (rows.unused);
  return ok;
}

void
nd_rank_program_free (NdRankProgram *program)
{
  if (!program)
    return;
  g_free (program->steps);
  g_free (program->inputs);
  g_free (program);
}

gsize
nd_rank_program_bytes (const NdRankProgram *program)
{
  return program->n_steps * sizeof (NdRankStep)
      + program->n_inputs * sizeof (gint[3]);
}

NdRankProgram *
nd_rank_program_new (const NdFootprint *footprint, gsize rank, GError **error)
{
  NdRankProgram *program = g_new0 (NdRankProgram, 1);
  Builder self = { nd_list_new (NULL, sizeof (Node)),
    nd_list_new (NULL, sizeof (NdRankStep)) };
  const gboolean is_extreme = rank == 0 || rank == footprint->n - 1;
  gboolean ok = add_inputs (&self, program, footprint);

  g_return_val_if_fail (is_extreme || footprint->n <= ND_RANK_MAX_SORTED, NULL);
  if (ok && !self.nodes->failed) {
    const Value out = is_extreme
        ? build_extreme (&self, footprint, rank == 0 ? LOWER : UPPER,
              program->n_inputs)
        : build_sort (&self, footprint, rank, program->n_inputs);

    ok = !self.nodes->failed && emit (&self, program, out)
        && !self.steps->failed;
  }
  program->n_steps = self.steps->len;
  program->steps = g_try_new (NdRankStep, MAX (program->n_steps, 1));
  if (ok && program->steps) {
    /* A footprint of one sample has no step. */
    if (program->n_steps > 0)
      memcpy (program->steps, self.steps->data,
          program->n_steps * sizeof (NdRankStep));
  } else {
    nd_memory_set_error (error, footprint->n * sizeof (NdRankStep));
    g_clear_pointer (&program, nd_rank_program_free);
  }
  nd_list_free (self.nodes);
  nd_list_free (self.steps);
  return program;
}
