/* Method `fft`: push computes the spectrum of a volume, which a ring keeps;
 * respond adds the products of T spectra and runs one inverse transform. The
 * volume is padded by the reach of the filters, so that the circular
 * convolution is a linear one.
 *
 * Two measures keep errors as small as float32 allows. Rounding errors grow
 * with the values that are transformed: a constant near the mean (the level) is
 * subtracted from the samples, and its response, which is known, is added to
 * the output. A single sample that is not finite would make the whole spectrum
 * NaN: such samples are replaced by the level, and their responses are added to
 * the outputs that read them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include "core/error.h"
#include "core/memory.h"
#include "cpu/cost.h"
#include "cpu/kernels.h"
#include "cpu/pad.h"
#include "cpu/threads.h"
#include "cpu/transform.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* A sample that is NaN or infinite. */
typedef struct
{
  gsize at[3]; /* padded coordinates */
  gfloat value;
} NonFinite;

/* One component of a volume in the ring. */
typedef struct
{
  gfloat *spectrum;
  gfloat level;       /* subtracted from the samples */
  GArray *non_finite; /* NonFinite samples left out of the spectrum */
} Slot;

typedef struct
{
  NdJob job;
  NdReach reach;
  NdPad pad;
  const NdKernels *kernels;
  NdTransform *transform;
  gsize numbers; /* complex numbers of a spectrum */

  gfloat *ring_memory;
  Slot *ring; /* [slot][component] */
  guint n_slots;

  gfloat *filter_memory;
  gfloat **filters;     /* spectra, [filter][slot]; NULL for zeros only */
  gdouble *filter_sums; /* sums of coefficients, [filter][slot] */

  pthread_mutex_t lock;         /* protects the non_finite array in use */
  gfloat *non_finite_responses; /* one volume, of one component and one
                                   filter */
} Fft;

static void
transform_sizes (const NdJob *job, const NdReach *reach, gsize size[3])
{
  for (guint a = 0; a < 3; a++)
    size[a] =
        nd_transform_size (job->shape.size[a] + reach->high[a] - reach->low[a],
            a == 0);
}

/* The volume of coefficients of @f at time offset low[T] + @t of the bank. NULL
 * if they are all zero or the filter does not reach that far. */
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

static guint
count_spectra (const NdJob *job, const NdReach *reach)
{
  guint n = 0;

  for (guint k = 0; k < job->bank->n_filters; k++)
    for (guint t = 0; t < reach->slots; t++)
      n += filter_volume (job->bank->filters[k], reach, t) != NULL;
  return n;
}

static gdouble
fft_cost (const NdJob *job, GError **error)
{
  NdReach reach = nd_job_reach (job);
  gsize size[3];

  transform_sizes (job, &reach, size);
  return nd_cost_fft (job, size, count_spectra (job, &reach));
}

/* A volume of coefficients as samples to transform. The coefficient that reads
 * offset d is at index low - d, circularly, so that output i is at index i. */
typedef struct
{
  const Fft *fft;
  const NdFilter *filter;
  const gdouble *coefficients;
  gint high[ND_AXES];
  gsize size[3]; /* of the transform */
  gdouble scale;
} FilterLoad;

/* The coefficient along @axis that belongs at sample @i, or -1. */
static gssize
coefficient_at (const FilterLoad *load, guint axis, gsize i)
{
  gssize e = (load->size[axis] - i) % load->size[axis];
  gssize m = load->high[axis] - load->fft->reach.low[axis] - e;

  return m >= 0 && m < (gssize) load->filter->size[axis] ? m : -1;
}

static void
load_filter_row (gsize y, gsize z, gfloat *row, gpointer data)
{
  const FilterLoad *load = data;
  gssize my = coefficient_at (load, 1, y), mz = coefficient_at (load, 2, z);
  const gdouble *w;

  memset (row, 0, load->size[0] * sizeof (gfloat));
  if (my < 0 || mz < 0)
    return;
  w = load->coefficients
      + (mz * load->filter->size[1] + my) * load->filter->size[0];
  for (gsize x = 0; x < load->size[0]; x++) {
    gssize mx = coefficient_at (load, 0, x);

    if (mx >= 0)
      row[x] = w[mx] * load->scale;
  }
}

static void
make_filter_spectra (Fft *fft, const gsize size[3])
{
  gsize used = 0;

  for (guint k = 0; k < fft->job.bank->n_filters; k++) {
    FilterLoad load = { .fft = fft, .filter = fft->job.bank->filters[k] };
    gsize n =
        load.filter->size[0] * load.filter->size[1] * load.filter->size[2];
    gint low[ND_AXES];

    nd_filter_reach (load.filter, low, load.high);
    memcpy (load.size, size, sizeof (load.size));
    load.scale = 1.0 / ((gdouble) size[0] * size[1] * size[2]);
    for (guint t = 0; t < fft->reach.slots; t++) {
      guint i = k * fft->reach.slots + t;

      load.coefficients = filter_volume (load.filter, &fft->reach, t);
      if (!load.coefficients)
        continue;
      fft->filters[i] = fft->filter_memory + 2 * fft->numbers * used++;
      nd_transform_forward (fft->transform, size, load_filter_row, &load,
          fft->filters[i]);
      for (gsize j = 0; j < n; j++)
        fft->filter_sums[i] += load.coefficients[j];
    }
  }
}

static void
fft_destroy (gpointer state)
{
  Fft *fft = state;

  if (fft->ring) {
    for (gsize i = 0; i < fft->n_slots * fft->job.shape.components; i++)
      g_array_unref (fft->ring[i].non_finite);
    pthread_mutex_destroy (&fft->lock);
  }
  g_free (fft->ring);
  g_free (fft->filters);
  g_free (fft->filter_sums);
  g_free (fft->ring_memory);
  g_free (fft->filter_memory);
  g_free (fft->non_finite_responses);
  if (fft->transform)
    nd_transform_free (fft->transform);
  nd_pad_clear (&fft->pad);
  g_free (fft);
}

static gpointer
fft_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Fft *fft = g_new0 (Fft, 1);
  gsize components = job->shape.components;
  guint n_filters = job->bank->n_filters, spectra;
  gsize size[3], outputs;

  fft->job = *job;
  fft->reach = nd_job_reach (job);
  fft->kernels = nd_kernels ();
  fft->n_slots = fft->reach.slots + (options->border_volumes ? 1 : 0);
  spectra = count_spectra (job, &fft->reach);
  transform_sizes (job, &fft->reach, size);
  outputs =
      nd_size_mul (job->shape.size[0], job->shape.size[1], job->shape.size[2]);
  fft->transform = nd_transform_new (size, error);
  if (!fft->transform)
    goto failed;
  if (!nd_pad_init (&fft->pad, job, &fft->reach)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "Not enough memory for transforms of volumes with such long axes: use "
        "smaller volumes or method=direct");
    goto failed;
  }
  fft->numbers = nd_transform_numbers (fft->transform);
  fft->ring_memory =
      nd_floats_new (nd_size_mul (2 * fft->numbers, fft->n_slots, components),
          error);
  fft->filter_memory = fft->ring_memory
      ? nd_floats_new (nd_size_mul (2 * fft->numbers, MAX (spectra, 1), 1),
            error)
      : NULL;
  if (!fft->filter_memory)
    goto failed;
  if (job->in_type == ND_FLOAT32
      && !(fft->non_finite_responses = nd_floats_new (outputs, error)))
    goto failed;

  pthread_mutex_init (&fft->lock, NULL);
  fft->ring = g_new0 (Slot, fft->n_slots * components);
  for (gsize i = 0; i < fft->n_slots * components; i++) {
    fft->ring[i].spectrum = fft->ring_memory + 2 * fft->numbers * i;
    fft->ring[i].non_finite = g_array_new (FALSE, FALSE, sizeof (NonFinite));
  }
  fft->filters = g_new0 (gfloat *, n_filters * fft->reach.slots);
  fft->filter_sums = g_new0 (gdouble, n_filters * fft->reach.slots);
  make_filter_spectra (fft, size);
  return fft;

failed:
  fft_destroy (fft);
  return NULL;
}

static gsize
fft_bytes (gconstpointer state)
{
  const Fft *fft = state;
  gsize spectra = fft->n_slots * fft->job.shape.components
      + count_spectra (&fft->job, &fft->reach);

  gsize responses = fft->non_finite_responses
      ? fft->job.shape.size[0] * fft->job.shape.size[1] * fft->job.shape.size[2]
      : 0;

  return nd_transform_bytes (fft->transform)
      + (2 * fft->numbers * spectra + responses) * sizeof (gfloat);
}

typedef struct
{
  Fft *fft;
  const NdSamples *volume;
  gsize component;
  Slot *slot;
} Push;

/* Any level gives the same result; the nearer it is to the mean, the smaller
 * are the rounding errors. Estimates the mean from up to 64 rows. */
static gfloat
choose_level (const Push *push)
{
  const NdPad *pad = &push->fft->pad;
  gsize rows = pad->size[1] * pad->size[2], step = rows / 64 + 1, n = 0;
  g_autofree gfloat *row = g_new (gfloat, pad->size[0]);
  gdouble sum = 0;

  for (gsize i = step / 2; i < rows; i += step) {
    nd_pad_row (pad, push->volume, push->component, i % pad->size[1],
        i / pad->size[1], row);
    for (gsize x = 0; x < pad->size[0]; x++) {
      if (isfinite (row[x])) {
        sum += row[x];
        n++;
      }
    }
  }
  return n > 0 && isfinite ((gfloat) (sum / n)) ? sum / n : 0;
}

static void
load_row (gsize y, gsize z, gfloat *row, gpointer data)
{
  const Push *push = data;
  Fft *fft = push->fft;
  gfloat level = push->slot->level, check = 0;
  gsize n = fft->pad.size[0];

  nd_pad_row (&fft->pad, push->volume, push->component, y, z, row);
  for (gsize x = 0; x < n; x++) {
    row[x] -= level;
    check += row[x] * 0.0f; /* NaN if the sample is not finite */
  }
  if (check == 0)
    return;
  pthread_mutex_lock (&fft->lock);
  for (gsize x = 0; x < n; x++) {
    NonFinite sample = { .at = { x, y, z }, .value = row[x] };

    if (isfinite (row[x]))
      continue;
    row[x] = 0;
    g_array_append_val (push->slot->non_finite, sample);
  }
  pthread_mutex_unlock (&fft->lock);
}

static void
fft_push (gpointer state, guint slot, const NdSamples *volume)
{
  Fft *fft = state;

  for (gsize c = 0; c < fft->job.shape.components; c++) {
    Push push = { .fft = fft, .volume = volume, .component = c };

    push.slot = &fft->ring[slot * fft->job.shape.components + c];
    push.slot->level = choose_level (&push);
    g_array_set_size (push.slot->non_finite, 0);
    nd_transform_forward (fft->transform, fft->pad.size, load_row, &push,
        push.slot->spectrum);
  }
}

typedef struct
{
  Fft *fft;
  const Slot **slots;
  gfloat **filters;
  gfloat level;
  gboolean non_finite; /* the window has samples that are not finite */
  NdStore store;
} Respond;

static void
load_products (gsize first, gsize n, gfloat *numbers, gpointer data)
{
  const Respond *respond = data;

  memset (numbers, 0, 2 * n * sizeof (gfloat));
  for (guint t = 0; t < respond->fft->reach.slots; t++) {
    if (respond->filters[t])
      respond->fft->kernels->multiply_add (numbers,
          respond->slots[t]->spectrum + 2 * first,
          respond->filters[t] + 2 * first, n);
  }
}

static void
take_row (gsize y, gsize z, gfloat *row, gpointer data)
{
  Respond *respond = data;
  const gsize *size = respond->fft->job.shape.size;
  const gfloat *added =
      respond->fft->non_finite_responses + (z * size[1] + y) * size[0];

  for (gsize x = 0; x < size[0]; x++)
    row[x] += respond->level;
  if (respond->non_finite) {
    for (gsize x = 0; x < size[0]; x++)
      row[x] += added[x];
  }
  nd_store_responses (row, size[0], 0, y, z, &respond->store);
}

typedef struct
{
  Fft *fft;
  const NdFilter *filter;
  const Respond *respond;
} AddNonFinite;

/* Adds the responses of one row of coefficients to one sample, which are
 * outputs @first to @first + @n - 1. Some of them may be outside the volume. */
static void
add_non_finite_row (gfloat *restrict out, gssize width, gssize first,
    const gdouble *restrict w, gssize n, gfloat value)
{
  gssize begin = MAX (0, -first), end = MIN (n, width - first);

  for (gssize i = begin; i < end; i++)
    out[first + i] += w[i] != 0 ? (gfloat) w[i] * value : 0;
}

/* Computes slice @z of the filter's responses to all samples of the window that
 * are not finite. */
static void
add_non_finite_slice (gsize z, guint worker, gpointer data)
{
  const AddNonFinite *add = data;
  Fft *fft = add->fft;
  const NdFilter *f = add->filter;
  const gsize *size = fft->job.shape.size;
  gfloat *slice = fft->non_finite_responses + z * size[1] * size[0];
  gint low[ND_AXES], high[ND_AXES];
  gssize shift[3];

  nd_filter_reach (f, low, high);
  for (guint a = 0; a < 3; a++)
    shift[a] = fft->reach.low[a] - high[a];
  memset (slice, 0, size[0] * size[1] * sizeof (gfloat));
  for (guint t = 0; t < fft->reach.slots; t++) {
    const gdouble *w = filter_volume (f, &fft->reach, t);
    const GArray *samples = add->respond->slots[t]->non_finite;

    for (guint i = 0; w && i < samples->len; i++) {
      const NonFinite *sample = &g_array_index (samples, NonFinite, i);
      gssize mz = (gssize) z - (gssize) sample->at[2] - shift[2];
      gssize y = sample->at[1] + shift[1];

      if (mz < 0 || mz >= (gssize) f->size[2])
        continue;
      for (gsize my = 0; my < f->size[1]; my++, y++) {
        if (y >= 0 && y < (gssize) size[1])
          add_non_finite_row (slice + y * size[0], size[0],
              sample->at[0] + shift[0], w + (mz * f->size[1] + my) * f->size[0],
              f->size[0], sample->value);
      }
    }
  }
}

static void
fft_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Fft *fft = state;
  const NdShape *shape = &fft->job.shape;
  g_autofree const Slot **at = g_new (const Slot *, fft->reach.slots);
  Respond respond = { .fft = fft, .slots = at };

  respond.store = (NdStore){ .kernels = fft->kernels,
    .scale = scale,
    .out = out,
    .type = fft->job.out_type };
  for (gsize c = 0; c < shape->components; c++) {
    for (guint t = 0; t < fft->reach.slots; t++) {
      guint slot =
          slots[t] == ND_SLOT_BORDER ? fft->reach.slots : (guint) slots[t];

      at[t] = &fft->ring[slot * shape->components + c];
    }
    for (guint k = 0; k < fft->job.bank->n_filters; k++) {
      const gdouble *sums = fft->filter_sums + k * fft->reach.slots;
      gdouble level = 0;

      respond.filters = fft->filters + k * fft->reach.slots;
      respond.non_finite = FALSE;
      for (guint t = 0; t < fft->reach.slots; t++) {
        level += sums[t] * at[t]->level;
        respond.non_finite |= respond.filters[t] && at[t]->non_finite->len > 0;
      }
      respond.level = level;
      if (respond.non_finite) {
        AddNonFinite add = {
          .fft = fft, .filter = fft->job.bank->filters[k], .respond = &respond
        };

        nd_parallel_for (shape->size[2], add_non_finite_slice, &add);
      }
      respond.store.plane =
          k * out->response + c * nd_sample_size (fft->job.out_type);
      nd_transform_inverse (fft->transform, shape->size, load_products,
          take_row, &respond);
    }
  }
}

const NdCpuMethod nd_cpu_fft = {
  .cost = fft_cost,
  .create = fft_create,
  .destroy = fft_destroy,
  .bytes = fft_bytes,
  .push = fft_push,
  .respond = fft_respond,
};
