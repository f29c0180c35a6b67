/* Method `fft` by transforms of whole volumes, for filters that are large
 * compared with a block: push computes the spectrum of a volume, which a ring
 * keeps; respond adds the products of T spectra and runs one inverse transform.
 * The volume is padded by the reach of the filters, so that the circular
 * convolution is a linear one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/memory.h"
#include "cpu/cost.h"
#include "cpu/fftsamples.h"
#include "cpu/linefft.h"
#include "cpu/method.h"
#include "cpu/rowoutput.h"
#include "cpu/transform.h"

#include <math.h>
#include <string.h>

typedef struct
{
  NdFftSamples samples;
  NdRowOutput output; /* a tile is the whole volume */
  NdTransform *transform;
  gsize floats; /* of a spectrum */
  NdReal *memory;
  NdReal *ring; /* spectra, [slot][component] */
  NdReal *filter_memory;
  NdReal **filters; /* spectra, [filter][t]; NULL for zeros only */
} Whole;

static void
transform_sizes (const NdJob *job, const NdReach *reach, gsize size[3])
{
  for (guint a = 0; a < 3; a++)
    size[a] =
        nd_transform_size (job->shape.size[a] + reach->high[a] - reach->low[a],
            a == 0);
}

static gdouble
whole_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  NdReach reach = nd_job_reach (job);
  gsize size[3];

  transform_sizes (job, &reach, size);
  for (guint a = 0; a < 3; a++) {
    if (size[a] > G_MAXINT) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "fft transforms up to %d samples along an axis, not %" G_GSIZE_FORMAT
          ": use method=direct",
          G_MAXINT, size[a]);
      return INFINITY;
    }
  }
  return nd_cost_fft_whole (job, size, nd_fft_count_spectra (job, &reach));
}

typedef struct
{
  const NdFftSamples *samples;
  guint filter, t;
  const gsize *size; /* of the transform */
} FilterLoad;

static void
load_filter_row (gsize y, gsize z, NdReal *row, gpointer data)
{
  const FilterLoad *load = data;
  const gsize *size = load->size;

  nd_fft_filter_row (load->samples, load->filter, load->t, size,
      1.0 / ((gdouble) size[0] * size[1] * size[2]), y, z, row);
}

static void
fft_whole_make_filter_spectra (Whole *whole, const gsize size[3])
{
  const NdFftSamples *s = &whole->samples;
  FilterLoad load = { .samples = s, .size = size };
  gsize used = 0;

  for (load.filter = 0; load.filter < s->job.bank->n_filters; load.filter++) {
    for (load.t = 0; load.t < s->reach.slots; load.t++) {
      guint i = load.filter * s->reach.slots + load.t;

      if (!s->coefficients[i])
        continue;
      whole->filters[i] = whole->filter_memory + whole->floats * used++;
      nd_transform_forward (whole->transform, size, load_filter_row, &load,
          whole->filters[i]);
    }
  }
}

static void
whole_destroy (gpointer state)
{
  Whole *whole = state;

  nd_fft_samples_clear (&whole->samples);
  nd_output_clear (&whole->output);
  g_free (whole->memory);
  g_free (whole->filters);
  if (whole->transform)
    nd_transform_free (whole->transform);
  g_free (whole);
}

/* If there is one layer, rows are stored as they come. */
static gsize
layer_floats (const NdJob *job)
{
  const gsize *size = job->shape.size;

  return nd_output_layers (job) > 1 ? nd_size_mul (size[0], size[1], size[2])
                                    : 0;
}

static gboolean
fft_whole_make_memory (Whole *whole, GError **error)
{
  const NdFftSamples *s = &whole->samples;
  const gsize ring =
      nd_size_mul (whole->floats, s->n_slots, s->job.shape.components);
  gsize all = nd_size_mul (whole->floats, MAX (s->n_spectra, 1), 1);

  if (!g_size_checked_add (&all, all, ring)
      || !g_size_checked_add (&all, all, ND_LINE_ALIGN))
    all = G_MAXSIZE;
  whole->memory = nd_floats_new (all, error);
  if (!whole->memory)
    return FALSE;
  whole->ring = (NdReal *) (((guintptr) whole->memory + ND_LINE_ALIGN - 1)
      / ND_LINE_ALIGN * ND_LINE_ALIGN);
  whole->filter_memory = whole->ring + ring;
  return TRUE;
}

static gpointer
whole_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Whole *whole = g_new0 (Whole, 1);
  NdFftSamples *s = &whole->samples;
  gsize size[3];

  if (!nd_fft_samples_init (s, job, options, error)
      || !nd_output_init (&whole->output, job, layer_floats (job), 1, error))
    goto failed;
  transform_sizes (job, &s->reach, size);
  whole->transform = nd_transform_new (size, error);
  if (!whole->transform)
    goto failed;
  whole->floats = nd_transform_floats (whole->transform);
  if (!fft_whole_make_memory (whole, error))
    goto failed;
  whole->filters =
      nd_memory_new (nd_size_mul (job->bank->n_filters, s->reach.slots, 1),
          sizeof (NdReal *), error);
  if (!whole->filters)
    goto failed;
  fft_whole_make_filter_spectra (whole, size);
  return whole;

failed:
  whole_destroy (whole);
  return NULL;
}

static gsize
whole_bytes (gconstpointer state)
{
  const Whole *whole = state;
  const NdFftSamples *s = &whole->samples;
  gsize spectra = s->n_slots * s->job.shape.components + s->n_spectra;

  return nd_transform_bytes (whole->transform) + nd_fft_samples_bytes (s)
      + nd_output_bytes (&whole->output)
      + whole->floats * spectra * sizeof (NdReal);
}

static NdReal *
spectrum (const Whole *whole, guint slot, gsize component)
{
  return whole->ring
      + whole->floats
      * (slot * whole->samples.job.shape.components + component);
}

typedef struct
{
  Whole *whole;
  const NdSamples *volume;
  gsize component;
  NdFftSlot *slot;
} Push;

static void
load_row (gsize y, gsize z, NdReal *row, gpointer data)
{
  const Push *push = data;

  nd_fft_samples_row (&push->whole->samples, push->slot, push->volume,
      push->component, y, z, row);
}

static gboolean
whole_push (gpointer state, guint slot, const NdSamples *volume, GError **error)
{
  Whole *whole = state;
  NdFftSamples *s = &whole->samples;

  for (gsize c = 0; c < s->job.shape.components; c++) {
    Push push = { .whole = whole, .volume = volume, .component = c };

    push.slot = nd_fft_samples_begin (s, slot, volume, c);
    nd_transform_forward (whole->transform, s->pad.size, load_row, &push,
        spectrum (whole, slot, c));
    if (!nd_fft_samples_end (s, error))
      return FALSE;
  }
  return TRUE;
}

typedef struct
{
  Whole *whole;
  const gint *slots;
  gsize component;
  guint filter;
  NdReal **filters; /* of that filter */
  NdReal level;
  gboolean non_finite; /* the window has such samples */
} Respond;

static void
load_products (gsize first, gsize n, NdReal *floats, gpointer data)
{
  const Respond *respond = data;
  const Whole *whole = respond->whole;

  memset (floats, 0, n * sizeof (NdReal));
  for (guint t = 0; t < whole->samples.reach.slots; t++) {
    guint slot = nd_fft_slot (&whole->samples, respond->slots, t);

    if (respond->filters[t])
      nd_transform_multiply_add (whole->transform, floats,
          spectrum (whole, slot, respond->component) + first,
          respond->filters[t] + first, n);
  }
}

static void
fft_whole_take_row (gsize y, gsize z, NdReal *row, gpointer data)
{
  const Respond *respond = data;
  const Whole *whole = respond->whole;
  const gsize *size = whole->samples.job.shape.size;

  for (gsize x = 0; x < size[0]; x++)
    row[x] += respond->level;
  if (respond->non_finite)
    nd_fft_add_non_finite (&whole->samples, respond->slots, respond->component,
        respond->filter, row, size[0], 0, y, z);
  if (whole->output.floats > 0)
    row = memcpy (nd_output_layer (&whole->output, 0, respond->filter,
                      respond->component)
            + (z * size[1] + y) * size[0],
        row, size[0] * sizeof (NdReal));
  nd_output_row (&whole->output, respond->filter, respond->component, row,
      size[0], 0, y, z);
}

static void
whole_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Whole *whole = state;
  const NdFftSamples *s = &whole->samples;
  const gsize group = whole->output.group;
  Respond respond = { .whole = whole, .slots = slots };

  whole->output.scale = scale;
  whole->output.out = out;
  for (gsize first = 0; first < s->job.shape.components; first += group) {
    for (gsize i = 0; i < s->job.bank->n_filters * group; i++) {
      respond.component = first + i % group;
      respond.filter = i / group;
      respond.filters = whole->filters + respond.filter * s->reach.slots;
      respond.level = nd_fft_level (s, slots, respond.component, respond.filter,
          &respond.non_finite);
      nd_transform_inverse (whole->transform, s->job.shape.size, load_products,
          fft_whole_take_row, &respond);
    }
  }
}

const NdCpuMethod nd_cpu_fft_whole = {
  .file = "cpu/fftwhole.c",
  .cost = whole_cost,
  .create = whole_create,
  .destroy = whole_destroy,
  .bytes = whole_bytes,
  .push = whole_push,
  .respond = whole_respond,
};
