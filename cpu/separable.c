/* Method `separable`: filters of rank 1 as one pass per axis. Push runs the
 * passes over x, y and z, and the ring holds their results. Respond runs the
 * pass over time, a weighted sum of the volumes of the ring.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/method.h"

#include "core/memory.h"
#include "cpu/cost.h"
#include "cpu/padded.h"

#include <math.h>
#include <string.h>

/* The memory layout of a volume between two passes, or after the last one. */
typedef struct
{
  gsize size[3];
  NdStrides strides;
  gsize floats;
} Layout;

typedef struct
{
  NdJob job;
  NdReach reach;
  NdPadded padded;    /* the volume that is pushed */
  Layout layout[4];   /* [a]: before the pass over axis a; [3]: in the ring */
  NdReal *between[2]; /* after the pass over x, and over y */
  NdReal *ring;       /* [slot][component][filter] */
  gsize ring_floats;
  NdStencil (*passes)[ND_AXES]; /* for each filter */
  const NdReal **volumes;       /* scratch of respond */
} Separable;

/* The @factor of @f along @axis, as a filter. */
static NdFilter *
pass_filter (const NdFilter *f, guint axis, const gdouble *factor)
{
  gsize size[ND_AXES] = { 1, 1, 1, 1 };
  NdFilter *pass;

  size[axis] = f->size[axis];
  pass = nd_filter_new (f->name, size);
  memcpy (pass->coefficients, factor, size[axis] * sizeof (gdouble));
  pass->origin[axis] = f->origin[axis];
  return pass;
}

static gdouble
separable_cost (const NdJob *job, const NdRingOptions *options, GError **error)
{
  return nd_job_check_separable (job, error) ? nd_cost_separable (job)
                                             : INFINITY;
}

static void
layout_init (Layout *layout, const gsize size[3], gsize row)
{
  memcpy (layout->size, size, 3 * sizeof (gsize));
  layout->strides.row = row;
  layout->strides.slice = nd_size_mul (row, size[1], 1);
  layout->floats = nd_size_mul (layout->strides.slice, size[2], 1);
  if (!g_size_checked_add (&layout->floats, layout->floats,
          nd_stencil_slack (&layout->strides)))
    layout->floats = G_MAXSIZE;
}

static void
separable_destroy (gpointer state)
{
  Separable *s = state;

  if (s->passes) {
    for (guint k = 0; k < s->job.bank->n_filters; k++)
      for (guint a = 0; a < ND_AXES; a++)
        nd_stencil_clear (&s->passes[k][a]);
  }
  g_free (s->passes);
  g_free (s->volumes);
  g_free (s->between[0]);
  g_free (s->between[1]);
  g_free (s->ring);
  nd_padded_clear (&s->padded);
  g_free (s);
}

static gpointer
separable_create (const NdJob *job, const NdRingOptions *options,
    GError **error)
{
  Separable *s = g_new0 (Separable, 1);
  guint n_filters = job->bank->n_filters;
  gsize size[3];

  s->job = *job;
  s->reach = nd_job_reach (job);
  if (!nd_padded_init (&s->padded, job, &s->reach, 1, error)) {
    separable_destroy (s);
    return NULL;
  }
  memcpy (size, s->padded.pad.size, sizeof (size));
  for (guint a = 0; a <= 3; a++) {
    layout_init (&s->layout[a], size, s->padded.strides.row);
    if (a < 3)
      size[a] = job->shape.size[a];
  }
  s->ring_floats = nd_size_mul (s->layout[3].floats,
      nd_size_mul (n_filters,
          s->reach.slots + (options->border_volumes ? 1 : 0), 1),
      job->shape.components);
  s->between[0] = nd_floats_new (s->layout[1].floats, error);
  s->between[1] =
      s->between[0] ? nd_floats_new (s->layout[2].floats, error) : NULL;
  s->ring = s->between[1] ? nd_floats_new (s->ring_floats, error) : NULL;
  if (!s->ring) {
    separable_destroy (s);
    return NULL;
  }
  s->passes = g_malloc0_n (n_filters, sizeof (*s->passes));
  for (guint k = 0; k < n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];
    gdouble *factors[ND_AXES];

    if (!nd_filter_separate_in (f, job->precision, factors))
      g_return_val_if_reached (NULL);
    for (guint a = 0; a < ND_AXES; a++) {
      g_autoptr (NdFilter) pass = pass_filter (f, a, factors[a]);
      gint low[ND_AXES] = { 0 };

      low[a] = s->reach.low[a];
      nd_stencil_init (&s->passes[k][a], pass, low, &s->layout[a].strides,
          !nd_sample_is_float (job->in_type));
      g_free (factors[a]);
    }
  }
  s->volumes = g_new (const NdReal *, s->reach.slots);
  return s;
}

static gsize
separable_bytes (gconstpointer state)
{
  const Separable *s = state;

  return nd_padded_bytes (&s->padded)
      + (s->layout[1].floats + s->layout[2].floats + s->ring_floats)
      * sizeof (NdReal);
}

static NdReal *
ring_volume (const Separable *s, guint slot, gsize component, guint k)
{
  gsize i =
      (slot * s->job.shape.components + component) * s->job.bank->n_filters + k;

  return s->ring + i * s->layout[3].floats;
}

typedef struct
{
  NdReal *out;
  const NdStrides *strides;
} Keep;

static void
keep_row (const NdReal *responses, gsize n, gsize x, gsize y, gsize z,
    gpointer data)
{
  const Keep *keep = data;

  memcpy (keep->out + z * keep->strides->slice + y * keep->strides->row + x,
      responses, n * sizeof (NdReal));
}

static void
separable_push (gpointer state, guint slot, const NdSamples *volume)
{
  Separable *s = state;

  nd_padded_push (&s->padded, 0, volume);
  for (gsize c = 0; c < s->job.shape.components; c++) {
    for (guint k = 0; k < s->job.bank->n_filters; k++) {
      const NdReal *in = nd_padded_volume (&s->padded, 0, c);

      for (guint a = 0; a < 3; a++) {
        Keep keep = { .strides = &s->layout[a + 1].strides };

        keep.out = a < 2 ? s->between[a] : ring_volume (s, slot, c, k);
        nd_stencil_run (&s->passes[k][a], &in, s->layout[a + 1].size, NULL,
            keep_row, &keep);
        in = keep.out;
      }
    }
  }
}

static void
separable_respond (gpointer state, const gint *slots, const NdScale *scale,
    const NdSamples *out)
{
  Separable *s = state;

  for (gsize c = 0; c < s->job.shape.components; c++) {
    for (guint k = 0; k < s->job.bank->n_filters; k++) {
      NdStore store = { .kernels = nd_kernels (),
        .scale = scale,
        .out = out,
        .type = s->job.out_type };

      for (guint i = 0; i < s->reach.slots; i++)
        s->volumes[i] = ring_volume (s,
            slots[i] == ND_SLOT_BORDER ? s->reach.slots : (guint) slots[i], c,
            k);
      store.plane = k * out->response + c * nd_sample_size (s->job.out_type);
      nd_stencil_run (&s->passes[k][ND_AXIS_T], s->volumes, s->job.shape.size,
          NULL, nd_store_responses, &store);
    }
  }
}

const NdCpuMethod nd_cpu_separable = {
  .cost = separable_cost,
  .create = separable_create,
  .destroy = separable_destroy,
  .bytes = separable_bytes,
  .push = separable_push,
  .respond = separable_respond,
};
