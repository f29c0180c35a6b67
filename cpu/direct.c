/* Method `direct`: sums over all taps on padded volumes, in blocks of outputs
 * that fit in registers. Begun ahead are the sums over all volumes of a window
 * but the last one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cost.h"
#include "cpu/pad.h"
#include "cpu/tiles.h"

#include <string.h>

typedef struct
{
  NdJob job;
  NdBank *folded; /* the bank of the job, if components are folded */
  NdSamples out;  /* of respond */
  NdReach reach;
  gboolean by_tiles; /* has tiles and no ring */
  NdTiles tiles;
  NdPadded ring;
  NdRowOutput output;
  NdStencil *stencils; /* one per filter */

  /* Scratch of respond: see NdStencilBank. */
  const NdReal **volumes;
  const NdReal **begun_sums;

  /* Begun sums: [component], then those of each filter that has some; or
   * NULL. */
  NdReal *begun;
  gsize begun_floats;   /* of one component */
  gint *begun_slots;    /* of the volumes of the sums */
  gboolean begun_valid; /* these volumes are still in their slots */
} Direct;

static gdouble
direct_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  return nd_cost_direct (job, options);
}

static gboolean
make_begun (Direct *d, GError **error)
{
  const gsize components = d->job.shape.components;

  for (guint k = 0; k < d->job.bank->n_filters; k++) {
    if (!g_size_checked_add (&d->begun_floats, d->begun_floats,
            nd_stencil_begun_floats (&d->stencils[k], d->job.shape.size)))
      d->begun_floats = G_MAXSIZE;
  }
  if (d->begun_floats == 0)
    return TRUE;
  d->begun =
      nd_floats_new (nd_size_mul (d->begun_floats, components, 1), error);
  if (!d->begun)
    return FALSE;
  d->begun_slots = nd_memory_new (d->reach.slots, sizeof (gint), error);
  if (!d->begun_slots)
    return FALSE;
  ND_INFO ("sums begun ahead over %u of %u volumes", d->reach.slots - 1,
      d->reach.slots);
  return TRUE;
}

/* Components are filtered together, as samples of one component in longer rows,
 * if the filters have so few taps that to take the components apart takes
 * longer than single taps. */
#define FOLDED_TAPS 32
#define FOLDED_COMPONENTS 16

static gboolean
may_fold (const NdJob *job, const NdRingOptions *options)
{
  gsize taps = 0;

  for (guint k = 0; k < job->bank->n_filters; k++)
    taps = MAX (taps, nd_filter_count (job->bank->filters[k]));
  return options->in_place && job->shape.components > 1
      && job->shape.components <= FOLDED_COMPONENTS && !nd_job_combines (job)
      && taps <= FOLDED_TAPS;
}

static NdFilter *
fold_filter (const NdFilter *f, gsize components)
{
  const gsize nx = f->size[0], rows = nd_filter_count (f) / nx;
  const gsize size[ND_AXES] = { (nx - 1) * components + 1, f->size[1],
    f->size[2], f->size[3] };
  NdFilter *folded = nd_filter_new (f->name, size);
  gint low[ND_AXES], high[ND_AXES];

  nd_filter_reach (f, low, high);
  memcpy (folded->origin, f->origin, sizeof (f->origin));
  folded->origin[0] =
      high[0] * (gint) components - (gint) (folded->size[0] / 2);
  for (gsize r = 0; r < rows; r++)
    for (gsize x = 0; x < nx; x++)
      folded->coefficients[r * size[0] + x * components] =
          f->coefficients[r * nx + x];
  return folded;
}

static void
fold_job (Direct *d)
{
  const gsize components = d->job.shape.components;
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();

  for (guint k = 0; k < d->job.bank->n_filters; k++)
    g_ptr_array_add (filters,
        fold_filter (d->job.bank->filters[k], components));
  d->job.bank = d->folded = nd_bank_new (filters);
  d->job.shape.size[0] *= components;
  d->job.shape.components = 1;
  d->reach = nd_job_reach (&d->job);
}

/* @samples of the job, whose components are folded. */
static NdSamples
folded_samples (const Direct *d, const NdSamples *samples, NdSampleType type)
{
  NdSamples folded = *samples;

  if (d->folded)
    folded.sample = nd_sample_size (type);
  return folded;
}

/* The stencils, and what respond needs. FALSE without memory. */
static gboolean
make_stencils (Direct *d, GError **error)
{
  const NdJob *job = &d->job;
  const NdStrides *strides = d->by_tiles ? &d->tiles.strides : &d->ring.strides;

  d->stencils = nd_memory_new (job->bank->n_filters, sizeof (NdStencil), error);
  if (!d->stencils)
    return FALSE;
  for (guint k = 0; k < job->bank->n_filters; k++) {
    if (!nd_stencil_init (&d->stencils[k], job->bank->filters[k], d->reach.low,
            strides, !nd_sample_is_float (job->in_type), error))
      return FALSE;
    nd_stencil_split (&d->stencils[k], d->reach.slots - 1);
  }
  d->volumes = nd_memory_new (d->output.group * d->reach.slots,
      sizeof (const NdReal *), error);
  if (!d->volumes)
    return FALSE;
  d->begun_sums = nd_memory_new (d->output.group * job->bank->n_filters,
      sizeof (const NdReal *), error);
  return d->begun_sums != NULL;
}

static void direct_destroy (gpointer state);

static gpointer
direct_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  const gsize components = job->shape.components;
  Direct *d = g_new0 (Direct, 1);

  d->job = *job;
  d->reach = nd_job_reach (job);
  d->by_tiles = nd_tiles_fit (job, &d->reach, options);
  if (d->by_tiles && may_fold (job, options)) {
    fold_job (d);
    job = &d->job;
  }
  /* Parts of a line are whole blocks (cpu/tiles.c). */
  if (!nd_output_init (&d->output, job,
          nd_stencil_layer_floats (MAX (job->shape.size[0],
              ND_BLOCK_MAX_WIDTH)),
          nd_threads (), error)) {
    g_clear_pointer (&d->folded, nd_bank_free);
    g_free (d);
    return NULL;
  }
  if (d->by_tiles
          ? !nd_tiles_init (&d->tiles, job, &d->reach, options, d->output.group,
                error)
          : !nd_padded_init (&d->ring, job, &d->reach,
                d->reach.slots + (options->border_volumes ? 1 : 0), error)) {
    nd_output_clear (&d->output);
    g_clear_pointer (&d->folded, nd_bank_free);
    g_free (d);
    return NULL;
  }
  if (d->folded)
    nd_pad_fold (&d->tiles.pad, job->border, components);
  if (!make_stencils (d, error) || (options->ahead && !make_begun (d, error))) {
    direct_destroy (d);
    return NULL;
  }
  return d;
}

static void
direct_destroy (gpointer state)
{
  Direct *d = state;

  for (guint k = 0; d->stencils && k < d->job.bank->n_filters; k++)
    nd_stencil_clear (&d->stencils[k]);
  g_free (d->stencils);
  g_free (d->volumes);
  g_free (d->begun_sums);
  g_free (d->begun);
  g_free (d->begun_slots);
  nd_output_clear (&d->output);
  nd_padded_clear (&d->ring);
  nd_tiles_clear (&d->tiles);
  g_clear_pointer (&d->folded, nd_bank_free);
  g_free (d);
}

static gsize
direct_bytes (gconstpointer state)
{
  const Direct *d = state;

  return nd_output_bytes (&d->output)
      + (d->by_tiles ? nd_tiles_bytes (&d->tiles)
                     : nd_padded_bytes (&d->ring)
                  + d->begun_floats * d->job.shape.components
                      * sizeof (NdReal));
}

static gboolean
direct_push (gpointer state, guint slot, const NdSamples *volume,
    GError **error)
{
  Direct *d = state;

  if (d->by_tiles) {
    const NdSamples folded = folded_samples (d, volume, d->job.in_type);

    nd_tiles_push (&d->tiles, &folded);
    return TRUE;
  }
  for (guint i = 0; d->begun_valid && i + 1 < d->reach.slots; i++)
    d->begun_valid = d->begun_slots[i] != (gint) slot;
  nd_padded_push (&d->ring, slot, volume);
  return TRUE;
}

/* Finds the volumes of component @c in the first @n of @slots. */
static void
direct_find_volumes (const Direct *d, const gint *slots, guint n, gsize c,
    const NdReal **volumes)
{
  for (guint i = 0; i < n; i++)
    volumes[i] = nd_padded_volume (&d->ring,
        slots[i] == ND_SLOT_BORDER ? d->reach.slots : (guint) slots[i], c);
}

static gboolean
direct_begin (gpointer state, const gint *slots)
{
  Direct *d = state;
  const guint n = d->reach.slots - 1;
  NdReal *begun = d->begun;

  if (!d->begun)
    return FALSE;
  for (gsize c = 0; c < d->job.shape.components; c++) {
    direct_find_volumes (d, slots, n, c, d->volumes);
    for (guint k = 0; k < d->job.bank->n_filters; k++) {
      const NdStencil *stencil = &d->stencils[k];

      nd_stencil_begin (stencil, d->volumes, d->job.shape.size, begun);
      begun += nd_stencil_begun_floats (stencil, d->job.shape.size);
    }
  }
  memcpy (d->begun_slots, slots, n * sizeof (gint));
  d->begun_valid = TRUE;
  return TRUE;
}

/* Whether the sums for @slots are begun. */
static gboolean
has_begun (const Direct *d, const gint *slots)
{
  return d->begun_valid
      && memcmp (slots, d->begun_slots, (d->reach.slots - 1) * sizeof (gint))
      == 0;
}

/* Finds the sums of component @c. */
static void
find_begun (const Direct *d, gsize c, const NdReal **sums)
{
  const NdReal *begun = d->begun + c * d->begun_floats;

  for (guint k = 0; k < d->job.bank->n_filters; k++) {
    const gsize floats =
        nd_stencil_begun_floats (&d->stencils[k], d->job.shape.size);

    sums[k] = floats > 0 ? begun : NULL;
    begun += floats;
  }
}

static void
direct_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Direct *d = state;
  const gsize group = d->output.group;
  const gboolean begun = has_begun (d, slots);
  NdStencilBank bank = { .stencils = d->stencils,
    .output = &d->output,
    .volumes = d->volumes,
    .n_volumes = d->reach.slots,
    .begun = begun ? d->begun_sums : NULL };

  d->out = folded_samples (d, out, d->job.out_type);
  d->output.scale = scale;
  d->output.out = &d->out;
  for (gsize first = 0; first < d->job.shape.components; first += group) {
    bank.component = first;
    if (d->by_tiles) {
      nd_tiles_run (&d->tiles, &bank);
      continue;
    }
    for (gsize c = 0; c < group; c++) {
      direct_find_volumes (d, slots, d->reach.slots, first + c,
          d->volumes + c * d->reach.slots);
      if (begun)
        find_begun (d, first + c, d->begun_sums + c * d->job.bank->n_filters);
    }
    nd_stencil_run (&bank, d->job.shape.size);
  }
}

const NdCpuMethod nd_cpu_direct = {
  .file = "cpu/direct.c",
  .cost = direct_cost,
  .create = direct_create,
  .destroy = direct_destroy,
  .bytes = direct_bytes,
  .push = direct_push,
  .respond = direct_respond,
  .begin = direct_begin,
};
