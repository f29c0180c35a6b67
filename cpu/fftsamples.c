/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/fftsamples.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"
#include "engine/backend.h"

#include <math.h>
#include <string.h>

/* A sample that is NaN or infinite. */
typedef struct
{
  gsize at[3]; /* padded coordinates */
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

static void
find_coefficients (NdFftSamples *s)
{
  const NdBank *bank = s->job.bank;

  s->coefficients = g_new (const gdouble *, bank->n_filters * s->reach.slots);
  s->sums = g_new0 (gdouble, bank->n_filters * s->reach.slots);
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
}

gboolean
nd_fft_samples_init (NdFftSamples *s, const NdJob *job,
    const NdRingOptions *options, GError **error)
{
  s->job = *job;
  s->reach = nd_job_reach (job);
  s->n_slots = s->reach.slots + (options->border_volumes ? 1 : 0);
  if (!nd_pad_init (&s->pad, job, &s->reach)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for transforms of volumes with such long axes: use "
        "smaller volumes or method=direct");
    return FALSE;
  }
  if (nd_sample_is_float (job->in_type)
      && !(s->responses =
               nd_floats_new (nd_size_mul (job->shape.size[0],
                                  job->shape.size[1], job->shape.size[2]),
                   error)))
    return FALSE;
  find_coefficients (s);
  pthread_mutex_init (&s->lock, NULL);
  s->slots = g_new0 (NdFftSlot, s->n_slots * job->shape.components);
  for (gsize i = 0; i < s->n_slots * job->shape.components; i++)
    s->slots[i].non_finite = g_array_new (FALSE, FALSE, sizeof (NonFinite));
  return TRUE;
}

void
nd_fft_samples_clear (NdFftSamples *s)
{
  if (s->slots) {
    for (gsize i = 0; i < s->n_slots * s->job.shape.components; i++)
      g_array_unref (s->slots[i].non_finite);
    pthread_mutex_destroy (&s->lock);
  }
  g_free (s->slots);
  g_free (s->coefficients);
  g_free (s->sums);
  g_free (s->responses);
  nd_pad_clear (&s->pad);
}

gsize
nd_fft_samples_bytes (const NdFftSamples *s)
{
  const gsize *size = s->job.shape.size;

  return s->responses ? size[0] * size[1] * size[2] * sizeof (NdReal) : 0;
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
choose_level (const NdPad *pad, const NdSamples *volume, gsize component)
{
  gsize rows = pad->size[1] * pad->size[2], step = rows / 64 + 1, n = 0;
  g_autofree NdReal *row = g_new (NdReal, pad->size[0]);
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

  begun->level = choose_level (&s->pad, volume, component);
  g_array_set_size (begun->non_finite, 0);
  return begun;
}

/* Subtracts @level. Returns whether all samples are finite, which is tested on
 * their bits so that the loop is vectorized. */
static gboolean
subtract (NdReal *row, gsize n, NdReal level)
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

  nd_pad_row (&s->pad, volume, component, y, z, row);
  if (subtract (row, n, slot->level))
    return;
  pthread_mutex_lock (&s->lock);
  for (gsize x = 0; x < n; x++) {
    NonFinite sample = { .at = { x, y, z }, .value = row[x] };

    if (isfinite (row[x]))
      continue;
    row[x] = 0;
    g_array_append_val (slot->non_finite, sample);
  }
  pthread_mutex_unlock (&s->lock);
}

guint
nd_fft_slot (const NdFftSamples *s, const gint *slots, guint t)
{
  return slots[t] == ND_SLOT_BORDER ? s->reach.slots : (guint) slots[t];
}

typedef struct
{
  NdFftSamples *samples;
  const gint *slots;
  gsize component;
  guint filter;
} Add;

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

/* Computes slice @z of the filter's responses to all samples of the window that
 * are not finite. */
static void
add_slice (gsize z, guint worker, gpointer data)
{
  const Add *add = data;
  NdFftSamples *s = add->samples;
  const NdFilter *f = s->job.bank->filters[add->filter];
  const gsize *size = s->job.shape.size;
  NdReal *slice = s->responses + z * size[1] * size[0];
  gint low[ND_AXES], high[ND_AXES];
  gssize shift[3];

  nd_filter_reach (f, low, high);
  for (guint a = 0; a < 3; a++)
    shift[a] = s->reach.low[a] - high[a];
  memset (slice, 0, size[0] * size[1] * sizeof (NdReal));
  for (guint t = 0; t < s->reach.slots; t++) {
    const gdouble *w = s->coefficients[add->filter * s->reach.slots + t];
    const GArray *found =
        slot_at (s, add->slots, t, add->component)->non_finite;

    for (guint i = 0; w && i < found->len; i++) {
      const NonFinite *sample = &g_array_index (found, NonFinite, i);
      gssize mz = (gssize) z - (gssize) sample->at[2] - shift[2];
      gssize y = sample->at[1] + shift[1];

      if (mz < 0 || mz >= (gssize) f->size[2])
        continue;
      for (gsize my = 0; my < f->size[1]; my++, y++) {
        if (y >= 0 && y < (gssize) size[1])
          add_row (slice + y * size[0], size[0], sample->at[0] + shift[0],
              w + (mz * f->size[1] + my) * f->size[0], f->size[0],
              sample->value);
      }
    }
  }
}

NdReal
nd_fft_level (NdFftSamples *s, const gint *slots, gsize component, guint filter,
    gboolean *non_finite)
{
  gdouble level = 0;

  *non_finite = FALSE;
  for (guint t = 0; t < s->reach.slots; t++) {
    const guint i = filter * s->reach.slots + t;
    const NdFftSlot *slot = slot_at (s, slots, t, component);

    level += s->sums[i] * slot->level;
    *non_finite |= s->coefficients[i] && slot->non_finite->len > 0;
  }
  return level;
}

const NdReal *
nd_fft_non_finite (NdFftSamples *s, const gint *slots, gsize component,
    guint filter)
{
  Add add = {
    .samples = s, .slots = slots, .component = component, .filter = filter
  };

  nd_parallel_for (s->job.shape.size[2], add_slice, &add);
  return s->responses;
}
