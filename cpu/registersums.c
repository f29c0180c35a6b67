/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/registersums.h"

#include "core/threads.h"

#include <math.h>
#include <string.h>

#define CHUNKS ND_REGISTER_CHUNKS

/* Positions that are closer to the edge of a volume, in samples, count as
 * outside, because floats are rounded. */
#define EDGE 1e-4

/* Sums over samples, of the pairs and with the difference, times monomials. */
struct _NdRegisterChunk
{
  gdouble pairs[ND_REGISTER_PAIRS][ND_REGISTER_MONOMIALS];
  gdouble sums[ND_REGISTER_KINDS][10];
  gdouble squares;
};

typedef NdRegisterChunk Chunk;

/* The powers of u of a pair, and where its sums over a row begin. */
static const guint8 pair_degree[ND_REGISTER_PAIRS] = { 2, 2, 2, 2, 2, 2, 3, 3,
  3, 3, 3, 3, 4, 4, 4 };
static const guint8 pair_first[ND_REGISTER_PAIRS] = { 0, 3, 6, 9, 12, 15, 18,
  22, 26, 30, 34, 38, 42, 47, 52 };
static const guint8 pair_of[ND_REGISTER_KINDS][ND_REGISTER_KINDS] = {
  { 0, 1, 2, 6, 9 },
  { 1, 3, 4, 7, 10 },
  { 2, 4, 5, 8, 11 },
  { 6, 7, 8, 12, 13 },
  { 9, 10, 11, 13, 14 },
};
static const guint8 sum_degree[ND_REGISTER_KINDS] = { 1, 1, 1, 2, 2 };
static const guint8 sum_first[ND_REGISTER_KINDS] = { 0, 2, 4, 6, 9 };

static gsize
count_rows (const NdRegisterLevel *level)
{
  return level->size[1] * level->size[2];
}

NdRegisterChunk *
nd_register_chunks_new (void)
{
  return g_try_new (NdRegisterChunk, CHUNKS);
}

void
nd_register_chunk_clear (NdRegisterChunk *chunks, gsize chunk)
{
  memset (&chunks[chunk], 0, sizeof (*chunks));
}

void
nd_register_reference_free (NdRegisterReference *self)
{
  if (!self)
    return;
  for (guint l = 0; l < ND_REGISTER_MAX_LEVELS; l++) {
    NdRegisterReferenceLevel *level = &self->levels[l];

    for (guint a = 0; a < 3; a++)
      g_free (level->g[a]);
    g_free (level->r);
    g_free (level->w);
    g_free (level->rows);
  }
  g_free (self->chunks);
  g_free (self->rows);
  g_free (self);
}

static gsize
count_row_floats (const NdRegisterPlan *plan)
{
  return 5 * nd_threads () * (plan->levels[0].size[0] + ND_REGISTER_ROOM);
}

gsize
nd_register_reference_bytes (const NdRegisterPlan *plan)
{
  gsize bytes =
      CHUNKS * sizeof (Chunk) + count_row_floats (plan) * sizeof (gfloat);

  for (guint l = 0; l < plan->n_levels; l++) {
    const gsize rows = count_rows (&plan->levels[l]);

    bytes += 5 * (rows * plan->levels[l].size[0] + ND_REGISTER_ROOM)
            * sizeof (gfloat)
        + rows * sizeof (NdRegisterSupport);
  }
  return bytes;
}

NdRegisterReference *
nd_register_reference_new (const NdRegisterPlan *plan)
{
  NdRegisterReference *self = g_new0 (NdRegisterReference, 1);
  gboolean ok;

  self->plan = plan;
  self->chunks = nd_register_chunks_new ();
  self->rows = g_try_new0 (gfloat, count_row_floats (plan));
  ok = self->chunks && self->rows;
  for (guint l = 0; l < plan->n_levels && ok; l++) {
    NdRegisterReferenceLevel *level = &self->levels[l];
    const gsize rows = count_rows (&plan->levels[l]);
    const gsize n = rows * plan->levels[l].size[0] + ND_REGISTER_ROOM;

    for (guint a = 0; a < 3; a++)
      level->g[a] = g_try_new0 (gfloat, n);
    level->r = g_try_new0 (gfloat, n);
    level->w = g_try_new0 (gfloat, n);
    level->rows = g_try_new0 (NdRegisterSupport, rows);
    ok = level->g[0] && level->g[1] && level->g[2] && level->r && level->w
        && level->rows;
  }
  if (ok)
    return self;
  nd_register_reference_free (self);
  return NULL;
}

/* The reference */

typedef struct
{
  NdRegisterReference *self;
  const NdRegisterPyramid *pyramid;
  guint l;
  gfloat threshold;
  gdouble squares[CHUNKS], counts[CHUNKS];
} PrepareJob;

void
nd_register_chunk_rows (const NdRegisterLevel *level, gsize chunk, gsize *first,
    gsize *end)
{
  const gsize rows = count_rows (level);

  *first = rows * chunk / CHUNKS;
  *end = rows * (chunk + 1) / CHUNKS;
}

/* Whether samples @i and @low, @high beside it along an axis have no part of a
 * sample that is not measured. */
static gboolean
are_valid (const gfloat *valid, gsize i, gsize low, gsize high)
{
  return !valid
      || (valid[i] >= (gfloat) ND_REGISTER_VALID
          && valid[low] >= (gfloat) ND_REGISTER_VALID
          && valid[high] >= (gfloat) ND_REGISTER_VALID);
}

/* Sets the gradients, and w to their square in samples, or to -1. */
static void
differentiate (gsize chunk, guint worker, gpointer data)
{
  PrepareJob *job = data;
  const NdRegisterLevel *p = &job->self->plan->levels[job->l];
  NdRegisterReferenceLevel *level = &job->self->levels[job->l];
  const gfloat *in = job->pyramid->smooth[job->l];
  const gfloat *valid =
      job->pyramid->has_invalid ? job->pyramid->valid[job->l] : NULL;
  const gsize *size = p->size;
  const gsize strides[3] = { 1, size[0], size[0] * size[1] };
  gdouble squares = 0, n = 0;
  gsize first, end;

  nd_register_chunk_rows (p, chunk, &first, &end);
  for (gsize row = first; row < end; row++) {
    gsize at[3] = { 0, row % size[1], row / size[1] };

    for (at[0] = 0; at[0] < size[0]; at[0]++) {
      const gsize i = row * size[0] + at[0];
      gboolean counts = TRUE;
      gfloat square = 0;

      for (guint a = 0; a < 3; a++) {
        const gsize low = at[a] > 0 ? i - strides[a] : i;
        const gsize high = at[a] + 1 < size[a] ? i + strides[a] : i;
        const gfloat difference = (in[high] - in[low]) / 2;

        level->g[a][i] = difference / (gfloat) p->spacing[a];
        square += difference * difference;
        counts = counts && at[a] >= p->margin[a]
            && at[a] + p->margin[a] < size[a]
            && are_valid (valid, i, low, high);
      }
      level->w[i] = counts ? square : -1;
      if (counts) {
        squares += square;
        n++;
      }
    }
  }
  job->squares[chunk] = squares;
  job->counts[chunk] = n;
}

static void
point_at (const NdRegisterReference *self, guint l, gsize row, gsize x,
    NdRegisterRow *out)
{
  const NdRegisterReferenceLevel *level = &self->levels[l];
  const gsize i = row * self->plan->levels[l].size[0] + x;
  gdouble first, step;

  nd_register_unit (self->plan, l, 0, &first, &step);
  for (guint a = 0; a < 3; a++)
    out->g[a] = level->g[a] + i;
  out->r = level->r + i;
  out->w = level->w + i;
  out->u = first + step * x;
  out->u_step = step;
}

/* Sets the weights and removes what has none. */
static void
weigh (gsize chunk, guint worker, gpointer data)
{
  PrepareJob *job = data;
  const NdRegisterLevel *p = &job->self->plan->levels[job->l];
  NdRegisterReferenceLevel *level = &job->self->levels[job->l];
  const gfloat *in = job->pyramid->smooth[job->l];
  gsize first, end;
  gdouble n = 0;

  nd_register_chunk_rows (p, chunk, &first, &end);
  for (gsize row = first; row < end; row++) {
    NdRegisterSupport *support = &level->rows[row];

    support->first = p->size[0];
    support->end = 0;
    for (gsize x = 0; x < p->size[0]; x++) {
      const gsize i = row * p->size[0] + x;
      const gboolean counts = level->w[i] >= job->threshold && level->w[i] > 0;

      for (guint a = 0; a < 3; a++)
        level->g[a][i] = counts ? level->g[a][i] : 0;
      level->r[i] = counts ? in[i] : 0;
      level->w[i] = counts;
      n += counts;
      if (counts) {
        support->first = MIN (support->first, x);
        support->end = x + 1;
      }
    }
  }
  job->counts[chunk] = n;
}

/* Sums each row. The kernel also reads behind the row, so that all rows must
 * have their weights. */
static void
sum_moments (gsize chunk, guint worker, gpointer data)
{
  PrepareJob *job = data;
  NdRegisterReferenceLevel *level = &job->self->levels[job->l];
  gsize first, end;

  nd_register_chunk_rows (&job->self->plan->levels[job->l], chunk, &first,
      &end);
  for (gsize row = first; row < end; row++) {
    NdRegisterSupport *support = &level->rows[row];
    NdRegisterRow sums;

    if (support->end == 0)
      continue;
    sums.n = support->end - support->first;
    point_at (job->self, job->l, row, support->first, &sums);
    nd_register_kernels ()->moments (&sums, support->moments);
  }
}

void
nd_register_reference_set (NdRegisterReference *self,
    const NdRegisterPyramid *pyramid, gdouble offset)
{
  self->offset = offset;
  for (guint l = 0; l < self->plan->n_levels; l++) {
    PrepareJob job = { .self = self, .pyramid = pyramid, .l = l };
    gdouble squares = 0, n = 0;

    nd_parallel_for (CHUNKS, differentiate, &job);
    for (guint c = 0; c < CHUNKS; c++) {
      squares += job.squares[c];
      n += job.counts[c];
    }
    job.threshold = ND_REGISTER_MIN_GRADIENT * ND_REGISTER_MIN_GRADIENT
        * squares / MAX (n, 1);
    nd_parallel_for (CHUNKS, weigh, &job);
    nd_parallel_for (CHUNKS, sum_moments, &job);
    if (l > 0)
      continue;
    self->weight = 0;
    for (guint c = 0; c < CHUNKS; c++)
      self->weight += job.counts[c];
  }
}

/* Sums */

typedef struct
{
  const NdRegisterReference *self;
  guint l;
  const NdAffine *map;
} SumJob;

/* Narrows @first to @end to the samples of row @y, @z whose positions lie in
 * the volume: a part without gaps, because the map is affine. */
static void
clip (const SumJob *job, const gdouble start[3], gsize *first, gsize *end)
{
  const gsize *size = job->self->plan->levels[job->l].size;
  gdouble low = *first, high = (gdouble) *end - 1;

  for (guint a = 0; a < 3; a++) {
    const gdouble last = (gdouble) size[a] - 1, step = job->map->m[a][0];
    const gdouble least = -EDGE - start[a], most = last + EDGE - start[a];

    if (fabs (step) < 1e-12) {
      if (least > 0 || most < 0)
        high = -1;
    } else {
      low = MAX (low, ceil ((step > 0 ? least : most) / step));
      high = MIN (high, floor ((step > 0 ? most : least) / step));
    }
  }
  *first = MAX (low, 0);
  *end = high >= low ? (gsize) high + 1 : *first;
}

/* Removes the samples whose positions lie between samples of the volume that
 * are not measured. Copies what remains to the rows of @worker. */
static void
mask (const SumJob *job, guint worker, NdRegisterRow *row)
{
  const NdRegisterReference *self = job->self;
  const gsize *size = self->plan->levels[job->l].size;
  const gfloat *valid = self->volume->valid[job->l];
  const gsize width = self->plan->levels[0].size[0] + ND_REGISTER_ROOM;
  gfloat *rows = self->rows + 5 * worker * width;
  const gfloat **planes[5] = { &row->g[0], &row->g[1], &row->g[2], &row->r,
    &row->w };

  for (gsize x = 0; x < row->n; x++) {
    gboolean counts = row->w[x] > 0;
    gsize low[3], i;

    for (guint a = 0; a < 3; a++) {
      const gfloat at = row->at[a] + row->step[a] * x;

      low[a] = CLAMP (at, 0, row->last[a]);
    }
    i = (low[2] * size[1] + low[1]) * size[0] + low[0];
    for (guint k = 0; k < 8 && counts; k++)
      counts =
          valid[i + (k & 1 ? row->strides[0] : 0)
              + (k & 2 ? row->strides[1] : 0) + (k & 4 ? row->strides[2] : 0)]
          >= (gfloat) ND_REGISTER_VALID;
    for (guint p = 0; p < 5; p++)
      rows[p * width + x] = counts ? (*planes[p])[x] : 0;
  }
  for (guint p = 0; p < 5; p++)
    *planes[p] = rows + p * width;
}

void
nd_register_chunk_add (NdRegisterChunk *chunks, gsize index,
    const NdRegisterPlan *plan, guint level, gsize row, const gfloat *moments,
    const gfloat *sums)
{
  const gsize height = plan->levels[level].size[1];
  Chunk *chunk = &chunks[index];
  gdouble factors[ND_REGISTER_MONOMIALS],
      at[3] = { 0, row % height, row / height };

  for (guint a = 1; a < 3; a++) {
    gdouble first, step;

    nd_register_unit (plan, level, a, &first, &step);
    at[a] = first + step * at[a];
  }
  for (guint m = 0; m < ND_REGISTER_MONOMIALS; m++) {
    factors[m] = 1;
    for (guint a = 1; a < 3; a++) {
      for (guint k = 0; k < nd_register_monomials[m][a]; k++)
        factors[m] *= at[a];
    }
  }
  for (guint p = 0; p < ND_REGISTER_PAIRS; p++) {
    for (guint m = 0; m < nd_register_monomial_count[pair_degree[p]]; m++)
      chunk->pairs[p][m] +=
          moments[pair_first[p] + nd_register_monomials[m][0]] * factors[m];
  }
  for (guint k = 0; k < ND_REGISTER_KINDS; k++) {
    for (guint m = 0; m < nd_register_monomial_count[sum_degree[k]]; m++)
      chunk->sums[k][m] +=
          sums[sum_first[k] + nd_register_monomials[m][0]] * factors[m];
  }
  chunk->squares += sums[ND_REGISTER_ROW_SUMS - 1];
}

static void
sum_row (const SumJob *job, gsize index, guint worker, gsize chunk)
{
  const NdRegisterReference *self = job->self;
  const NdRegisterPlan *plan = self->plan;
  const gsize *size = plan->levels[job->l].size;
  const NdRegisterSupport *support = &self->levels[job->l].rows[index];
  const NdRegisterKernels *kernels = nd_register_kernels ();
  const gsize y = index % size[1], z = index / size[1];
  gfloat own[ND_REGISTER_ROW_MOMENTS], sums[ND_REGISTER_ROW_SUMS];
  const gfloat *moments = support->moments;
  gsize first = support->first, end = support->end;
  gdouble start[3];
  NdRegisterRow row;

  if (end == 0)
    return;
  for (guint a = 0; a < 3; a++)
    start[a] =
        job->map->m[a][1] * y + job->map->m[a][2] * z + job->map->m[a][3];
  clip (job, start, &first, &end);
  if (end <= first)
    return;
  row.n = end - first;
  point_at (self, job->l, index, first, &row);
  row.volume = self->volume->smooth[job->l];
  for (guint a = 0; a < 3; a++) {
    row.at[a] = start[a] + job->map->m[a][0] * first;
    row.step[a] = job->map->m[a][0];
    row.last[a] = size[a] > 1 ? size[a] - 2 : 0;
    row.strides[a] = size[a] == 1 ? 0
        : a == 0                  ? 1
        : a == 1                  ? size[0]
                                  : size[0] * size[1];
  }
  if (self->volume->has_invalid)
    mask (job, worker, &row);
  if (self->volume->has_invalid || first > support->first
      || end < support->end) {
    kernels->moments (&row, own);
    moments = own;
  }
  kernels->difference (&row, sums);
  nd_register_chunk_add (self->chunks, chunk, plan, job->l, index, moments,
      sums);
}

static void
sum_chunk (gsize index, guint worker, gpointer data)
{
  const SumJob *job = data;
  gsize first, end;

  nd_register_chunk_clear (job->self->chunks, index);
  nd_register_chunk_rows (&job->self->plan->levels[job->l], index, &first,
      &end);
  for (gsize row = first; row < end; row++)
    sum_row (job, row, worker, index);
}

/* The monomial that is the product of @a and @b. */
static guint
multiply (guint a, guint b)
{
  const guint8 *p = nd_register_monomials[a], *q = nd_register_monomials[b];
  guint m = 0;

  while (nd_register_monomials[m][0] != p[0] + q[0]
      || nd_register_monomials[m][1] != p[1] + q[1]
      || nd_register_monomials[m][2] != p[2] + q[2])
    m++;
  return m;
}

/* Adds the offset to r, which makes it r + offset w in all sums. */
static void
add_offset (Chunk *total, gdouble offset)
{
  const guint8 *rr = &pair_of[3][3], *rw = &pair_of[3][4], *ww = &pair_of[4][4];

  for (guint m = 0; m < ND_REGISTER_MONOMIALS; m++) {
    for (guint a = 0; a < 3; a++)
      total->pairs[pair_of[a][3]][m] += offset * total->pairs[pair_of[a][4]][m];
    total->pairs[*rr][m] +=
        offset * (2 * total->pairs[*rw][m] + offset * total->pairs[*ww][m]);
    total->pairs[*rw][m] += offset * total->pairs[*ww][m];
  }
  for (guint m = 0; m < G_N_ELEMENTS (total->sums[0]); m++)
    total->sums[3][m] += offset * total->sums[4][m];
}

void
nd_register_chunks_total (const NdRegisterChunk *chunks,
    const NdRegisterLevel *level, gdouble offset, NdRegisterSums *sums)
{
  const NdRegisterColumn *columns = level->columns;
  Chunk total = { 0 };
  gdouble *to = (gdouble *) &total;

  for (guint c = 0; c < CHUNKS; c++) {
    const gdouble *from = (const gdouble *) &chunks[c];

    for (gsize i = 0; i < sizeof (Chunk) / sizeof (gdouble); i++)
      to[i] += from[i];
  }
  add_offset (&total, offset);
  for (guint c = 0; c < level->n_columns; c++) {
    for (guint d = 0; d <= c; d++)
      sums->a[c][d] = sums->a[d][c] =
          total.pairs[pair_of[columns[c].kind][columns[d].kind]]
                     [multiply (columns[c].monomial, columns[d].monomial)];
    sums->b[c] = total.sums[columns[c].kind][columns[c].monomial];
  }
  sums->squares = total.squares;
}

void
nd_register_reference_measure (gpointer data, guint l, const NdAffine *map,
    NdRegisterSums *sums)
{
  NdRegisterReference *self = data;
  SumJob job = { self, l, map };

  nd_parallel_for (CHUNKS, sum_chunk, &job);
  nd_register_chunks_total (self->chunks, &self->plan->levels[l], self->offset,
      sums);
}
