/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftsamples.h"

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cost.h"
#include "engine/backend.h"

#include <math.h>
#include <string.h>

/* A sample that is NaN or infinite. */
typedef struct
{
  gsize x; /* padded; ascending in an array */
  NdReal value;
} NonFinite;

/* See NdFftSamples.coefficients. */
static const gdouble *
filter_volume (const NdFilter *f, const NdReach *reach, guint t)
{
  gint low[ND_AXES], high[ND_AXES];
  gsize n = f->size[0] * f->size[1] * f->size[2];
  const gdouble *w;
  gint m;

  nd_filter_reach (f, low, high);
  m = high[ND_AXIS_T] - reach->low[ND_AXIS_T] - (gint) t;
  if (m < 0 || m >= (gint) f->size[ND_AXIS_T])
    return NULL;
  w = f->coefficients + m * n;
  for (gsize i = 0; i < n; i++) {
    if (w[i] != 0)
      return w;
  }
  return NULL;
}

guint
nd_fft_count_spectra (const NdJob *job, const NdReach *reach)
{
  guint n = 0;

  for (guint k = 0; k < job->bank->n_filters; k++)
    for (guint t = 0; t < reach->slots; t++)
      n += filter_volume (job->bank->filters[k], reach, t) != NULL;
  return n;
}

static gboolean
find_coefficients (NdFftSamples *s, GError **error)
{
  const NdBank *bank = s->job.bank;
  const gsize n = nd_size_mul (bank->n_filters, s->reach.slots, 1);

  s->coefficients = nd_memory_new (n, sizeof (const gdouble *), error);
  if (!s->coefficients)
    return FALSE;
  s->sums = nd_memory_new (n, sizeof (gdouble), error);
  if (!s->sums)
    return FALSE;
  for (guint k = 0; k < bank->n_filters; k++) {
    const NdFilter *f = bank->filters[k];

    for (guint t = 0; t < s->reach.slots; t++) {
      const guint i = k * s->reach.slots + t;
      const gdouble *w = filter_volume (f, &s->reach, t);

      s->coefficients[i] = w;
      s->n_spectra += w != NULL;
      for (gsize j = 0; w && j < f->size[0] * f->size[1] * f->size[2]; j++)
        s->sums[i] += w[j];
    }
  }
  return TRUE;
}

static gsize
count_rows (const NdFftSamples *s)
{
  return nd_sample_is_float (s->job.in_type)
      ? nd_size_mul (nd_size_mul (s->pad.size[1], s->pad.size[2], 1),
            s->n_slots, s->job.shape.components)
      : 0;
}

gboolean
nd_fft_samples_init (NdFftSamples *s, const NdJob *job,
    const NdRingOptions *options, GError **error)
{
  gsize rows, bytes;

  s->job = *job;
  s->reach = nd_job_reach (job);
  s->n_slots = s->reach.slots + (options->border_volumes ? 1 : 0);
  if (!nd_pad_init (&s->pad, job, &s->reach, error))
    return FALSE;
  rows = count_rows (s);
  bytes = nd_size_mul (rows, sizeof (NdList *), 1);
  if (rows > 0 && !nd_memory_check (bytes, error))
    return FALSE;
  if (rows > 0
      && (!(s->rows = g_try_malloc0 (bytes))
          || !(s->planes =
                   g_try_malloc0 (rows / s->pad.size[1] * sizeof (gint))))) {
    nd_memory_set_error (error, bytes);
    return FALSE;
  }
  s->slots = nd_memory_new (nd_size_mul (s->n_slots, job->shape.components, 1),
      sizeof (NdFftSlot), error);
  if (!s->slots)
    return FALSE;
  s->row = nd_floats_new (s->pad.size[0], error);
  if (!s->row || !find_coefficients (s, error))
    return FALSE;
  for (gsize i = 0; rows > 0 && i < s->n_slots * job->shape.components; i++) {
    s->slots[i].non_finite = s->rows + i * s->pad.size[1] * s->pad.size[2];
    s->slots[i].planes = s->planes + i * s->pad.size[2];
  }
  return TRUE;
}

void
nd_fft_samples_clear (NdFftSamples *s)
{
  for (gsize i = 0; s->rows && i < count_rows (s); i++) {
    if (s->rows[i])
      nd_list_free (s->rows[i]);
  }
  g_free (s->row);
  g_free (s->rows);
  g_free (s->planes);
  g_free (s->slots);
  g_free (s->coefficients);
  g_free (s->sums);
  nd_pad_clear (&s->pad);
}

gsize
nd_fft_samples_bytes (const NdFftSamples *s)
{
  const gsize rows = count_rows (s);

  return rows * sizeof (NdList *) + rows / s->pad.size[1] * sizeof (gint);
}

/* The coefficient along @axis that belongs at sample @i of @n, or -1. */
static gssize
coefficient_at (const NdFftSamples *s, const NdFilter *f, guint axis, gsize i,
    gsize n)
{
  gint low[ND_AXES], high[ND_AXES];
  gssize m;

  nd_filter_reach (f, low, high);
  m = high[axis] - s->reach.low[axis] - (gssize) ((n - i) % n);
  return m >= 0 && m < (gssize) f->size[axis] ? m : -1;
}

void
nd_fft_filter_row (const NdFftSamples *s, guint filter, guint t,
    const gsize size[3], gdouble scale, gsize y, gsize z, NdReal *row)
{
  const NdFilter *f = s->job.bank->filters[filter];
  const gdouble *w = s->coefficients[filter * s->reach.slots + t];
  const gssize my = coefficient_at (s, f, 1, y, size[1]);
  const gssize mz = coefficient_at (s, f, 2, z, size[2]);

  memset (row, 0, size[0] * sizeof (NdReal));
  if (my < 0 || mz < 0)
    return;
  w += (mz * f->size[1] + my) * f->size[0];
  for (gsize x = 0; x < size[0]; x++) {
    const gssize mx = coefficient_at (s, f, 0, x, size[0]);

    if (mx >= 0)
      row[x] = w[mx] * scale;
  }
}

/* Any level gives the same result; the nearer it is to the mean, the smaller
 * are the rounding errors. Estimates the mean from up to 64 rows. */
static NdReal
choose_level (NdFftSamples *s, const NdSamples *volume, gsize component)
{
  const NdPad *pad = &s->pad;
  gsize rows = pad->size[1] * pad->size[2], step = rows / 64 + 1, n = 0;
  NdReal *row = s->row;
  gdouble sum = 0;

  for (gsize i = step / 2; i < rows; i += step) {
    nd_pad_row (pad, volume, component, i % pad->size[1], i / pad->size[1],
        row);
    for (gsize x = 0; x < pad->size[0]; x++) {
      if (isfinite (row[x])) {
        sum += row[x];
        n++;
      }
    }
  }
  return n > 0 && isfinite ((NdReal) (sum / n)) ? sum / n : 0;
}

NdFftSlot *
nd_fft_samples_begin (NdFftSamples *s, guint slot, const NdSamples *volume,
    gsize component)
{
  NdFftSlot *begun = s->slots + slot * s->job.shape.components + component;

  begun->level = choose_level (s, volume, component);
  for (gsize i = 0;
       begun->has_non_finite && i < s->pad.size[1] * s->pad.size[2]; i++) {
    if (begun->non_finite[i])
      nd_list_set_size (begun->non_finite[i], 0);
  }
  if (begun->has_non_finite)
    memset (begun->planes, 0, s->pad.size[2] * sizeof (gint));
  begun->has_non_finite = FALSE;
  s->no_memory = FALSE;
  return begun;
}

/* Subtracts @level. Returns whether all samples are finite, which is tested on
 * their bits so that the loop is vectorized. */
static gboolean
fft_samples_subtract (NdReal *row, gsize n, NdReal level)
{
  NdRealBits found = 0;

  for (gsize x = 0; x < n; x++) {
    union
    {
      NdReal value;
      NdRealBits bits;
    } sample = { row[x] - level };

    found |= (sample.bits & ND_REAL_EXPONENT) == ND_REAL_EXPONENT;
    row[x] = sample.value;
  }
  return !found;
}

void
nd_fft_samples_row (NdFftSamples *s, NdFftSlot *slot, const NdSamples *volume,
    gsize component, gsize y, gsize z, NdReal *row)
{
  const gsize n = s->pad.size[0];
  NdList **found;

  nd_pad_row (&s->pad, volume, component, y, z, row);
  if (fft_samples_subtract (row, n, slot->level))
    return;
  found = &slot->non_finite[z * s->pad.size[1] + y];
  if (!*found)
    *found = nd_list_new (NULL, sizeof (NonFinite));
  for (gsize x = 0; x < n; x++) {
    NonFinite sample = { .x = x, .value = row[x] };

    if (isfinite (row[x]))
      continue;
    row[x] = 0;
    if (!nd_list_add (*found, sample))
      g_atomic_int_set (&s->no_memory, TRUE);
  }
  g_atomic_int_set (&slot->planes[z], TRUE);
  g_atomic_int_set (&slot->has_non_finite, TRUE);
}

gboolean
nd_fft_samples_end (NdFftSamples *s, GError **error)
{
  if (!s->no_memory)
    return TRUE;
  nd_memory_set_error (error,
      nd_size_mul (s->pad.size[0], sizeof (NonFinite), 1));
  return FALSE;
}

guint
nd_fft_slot (const NdFftSamples *s, const gint *slots, guint t)
{
  return slots[t] == ND_SLOT_BORDER ? s->reach.slots : (guint) slots[t];
}

static const NdFftSlot *
slot_at (const NdFftSamples *s, const gint *slots, guint t, gsize component)
{
  return s->slots + nd_fft_slot (s, slots, t) * s->job.shape.components
      + component;
}

/* Adds the responses of one row of coefficients to one sample, which are
 * outputs @first to @first + @n - 1. Some of them may be outside the volume. */
static void
add_row (NdReal *restrict out, gssize width, gssize first,
    const gdouble *restrict w, gssize n, NdReal value)
{
  gssize begin = MAX (0, -first), end = MIN (n, width - first);

  for (gssize i = begin; i < end; i++)
    out[first + i] += w[i] != 0 ? (NdReal) w[i] * value : 0;
}

NdReal
nd_fft_level (const NdFftSamples *s, const gint *slots, gsize component,
    guint filter, gboolean *non_finite)
{
  gdouble level = 0;

  *non_finite = FALSE;
  for (guint t = 0; t < s->reach.slots; t++) {
    const guint i = filter * s->reach.slots + t;
    const NdFftSlot *slot = slot_at (s, slots, t, component);

    level += s->sums[i] * slot->level;
    *non_finite |= s->coefficients[i] && slot->has_non_finite;
  }
  return level;
}

/* The number of samples before padded coordinate @x. */
static guint
fft_samples_find_sample (const NdList *samples, gsize x)
{
  guint first = 0, end = samples->len;

  while (first < end) {
    const guint middle = first + (end - first) / 2;

    if (g_array_index (samples, NonFinite, middle).x < x)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* Adds the responses of a row of @taps coefficients to the samples of @found,
 * which may be NULL. @last: padded x that the first coefficient of the first
 * output reads. */
static void
add_listed (const NdList *found, const gdouble *w, gsize taps, NdReal *row,
    gsize n, gsize last)
{
  for (guint i = found ? fft_samples_find_sample (found, last + 1 - taps) : 0;
       found && i < found->len; i++) {
    const NonFinite *sample = &g_array_index (found, NonFinite, i);

    if (sample->x >= last + n)
      break;
    add_row (row, n, (gssize) sample->x - (gssize) last, w, taps,
        sample->value);
  }
}

void
nd_fft_add_non_finite (const NdFftSamples *s, const gint *slots,
    gsize component, guint filter, NdReal *row, gsize n, gsize x, gsize y,
    gsize z)
{
  const NdFilter *f = s->job.bank->filters[filter];
  gint low[ND_AXES], high[ND_AXES];
  gsize last[3]; /* padded: that the first coefficient reads */

  nd_filter_reach (f, low, high);
  for (guint a = 0; a < 3; a++)
    last[a] = (gsize) (high[a] - s->reach.low[a]) + (gsize[]){ x, y, z }[a];
  for (guint t = 0; t < s->reach.slots; t++) {
    const gdouble *w = s->coefficients[filter * s->reach.slots + t];
    const NdFftSlot *slot = slot_at (s, slots, t, component);

    if (!w || !slot->has_non_finite)
      continue;
    for (gsize c = 0; c < f->size[2]; c++, w += f->size[0] * f->size[1]) {
      const gsize plane = last[2] - c;

      for (gsize b = 0; slot->planes[plane] && b < f->size[1]; b++)
        add_listed (slot->non_finite[plane * s->pad.size[1] + last[1] - b],
            w + b * f->size[0], f->size[0], row, n, last[0]);
    }
  }
}

/* FALSE if blocks are too small for the filters. Outputs are divided evenly
 * among the blocks, because a block with fewer outputs takes less time to
 * transform back. */
static gboolean
grid_init (NdFftGrid *grid, const NdFftBlock *block, const NdJob *job,
    const NdReach *reach)
{
  grid->block = block;
  grid->blocks = 1;
  for (guint a = 0; a < 3; a++) {
    const gsize n = job->shape.size[a];
    const gsize around = (gsize) reach->high[a] - reach->low[a];

    if (around >= block->size[a])
      return FALSE;
    grid->kept[a] = block->size[a] - around;
    grid->count[a] = n / grid->kept[a] + (n % grid->kept[a] > 0);
    grid->kept[a] = n / grid->count[a] + (n % grid->count[a] > 0);
    grid->blocks = nd_size_mul (grid->blocks, grid->count[a], 1);
  }
  grid->pairs = grid->blocks / 2 + grid->blocks % 2;
  return TRUE;
}

static gdouble
try_block (NdFftGrid *grid, const NdFftBlock *block, const NdJob *job)
{
  const NdReach reach = nd_job_reach (job);

  return grid_init (grid, block, job, &reach)
      ? nd_cost_fft_blocks (job, block, grid->pairs, grid->kept[2],
            nd_fft_count_spectra (job, &reach))
      : INFINITY;
}

gdouble
nd_fft_grid_choose (NdFftGrid *grid, const NdJob *job)
{
  const NdFftKernels *kernels = nd_fft_kernels ();
  const gdouble volume = try_block (grid, &kernels->volume, job);
  NdFftGrid planes;
  const gdouble plane = try_block (&planes, &kernels->plane, job);

  if (plane < volume)
    *grid = planes;
  return MIN (plane, volume);
}

void
nd_fft_grid_origin (const NdFftGrid *grid, gsize i, gsize origin[3])
{
  i = MIN (i, grid->blocks - 1);
  for (guint a = 0; a < 3; a++) {
    origin[a] = i % grid->count[a] * grid->kept[a];
    i /= grid->count[a];
  }
}
