/* Method `direct`: sums over all taps on padded volumes, in blocks of outputs
 * that fit in registers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include "cpu/cost.h"
#include "cpu/padded.h"

typedef struct
{
  NdJob job;
  NdReach reach;
  NdPadded ring;
  NdStencil *stencils;    /* one per filter */
  const NdReal **volumes; /* scratch of respond */
} Direct;

static gdouble
direct_cost (const NdJob *job, GError **error)
{
  return nd_cost_direct (job);
}

static gpointer
direct_create (const NdJob *job, const NdRingOptions *options, GError **error)
{
  Direct *d = g_new0 (Direct, 1);

  d->job = *job;
  d->reach = nd_job_reach (job);
  if (!nd_padded_init (&d->ring, job, &d->reach,
          d->reach.slots + (options->border_volumes ? 1 : 0), error)) {
    g_free (d);
    return NULL;
  }
  d->stencils = g_new (NdStencil, job->bank->n_filters);
  for (guint k = 0; k < job->bank->n_filters; k++)
    nd_stencil_init (&d->stencils[k], job->bank->filters[k], d->reach.low,
        &d->ring.strides, !nd_sample_is_float (job->in_type));
  d->volumes = g_new (const NdReal *, d->reach.slots);
  return d;
}

static void
direct_destroy (gpointer state)
{
  Direct *d = state;

  for (guint k = 0; k < d->job.bank->n_filters; k++)
    nd_stencil_clear (&d->stencils[k]);
  g_free (d->stencils);
  g_free (d->volumes);
  nd_padded_clear (&d->ring);
  g_free (d);
}

static gsize
direct_bytes (gconstpointer state)
{
  const Direct *d = state;

  return nd_padded_bytes (&d->ring);
}

static void
direct_push (gpointer state, guint slot, const NdSamples *volume)
{
  Direct *d = state;

  nd_padded_push (&d->ring, slot, volume);
}

static void
direct_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Direct *d = state;
  NdStore store = { .kernels = nd_kernels (),
    .scale = scale,
    .out = out,
    .type = d->job.out_type };

  for (gsize c = 0; c < d->job.shape.components; c++) {
    for (guint i = 0; i < d->reach.slots; i++)
      d->volumes[i] = nd_padded_volume (&d->ring,
          slots[i] == ND_SLOT_BORDER ? d->reach.slots : (guint) slots[i], c);
    for (guint k = 0; k < d->job.bank->n_filters; k++) {
      store.plane = k * out->response + c * nd_sample_size (d->job.out_type);
      nd_stencil_run (&d->stencils[k], d->volumes, d->job.shape.size,
          nd_store_responses, &store);
    }
  }
}

const NdCpuMethod nd_cpu_direct = {
  .cost = direct_cost,
  .create = direct_create,
  .destroy = direct_destroy,
  .bytes = direct_bytes,
  .push = direct_push,
  .respond = direct_respond,
};
