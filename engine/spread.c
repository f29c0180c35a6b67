/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/spread.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

typedef struct
{
  NdSpreadPart cut;
  NdPlan *plan;
  gboolean used;   /* since spread_take_used() */
  guint64 given;   /* volumes, if they go round */
  guint8 *wrapped; /* a slab that goes on at the other end, or NULL */
  GError *error;   /* of the call in progress */
} Part;

/* The memory of a volume or of an output. */
typedef struct
{
  const guint8 *begin, *end;
} Range;

typedef struct
{
  NdExecutor base;
  NdSpreadCut cut;
  Part parts[ND_MAX_DEVICES];
  guint last;      /* the part that has the last volume, if volumes go round */
  GArray *volumes; /* Range: pushed, and perhaps not read yet */
} NdSpread;

static void
spread_name_device (const Part *part, GError **error)
{
  g_prefix_error (error, "Device %d: ", part->cut.device_id);
}

/* The settings that the plans of all parts share. */
typedef struct
{
  NdSpread *s;
  const NdRingOptions *options;
  NdMethod method;
  gsize memory_limit;
} Making;

static void
spread_make_plan (const Making *making, guint i, NdMethod method)
{
  NdSpread *s = making->s;
  Part *part = &s->parts[i];
  NdBank bank;
  const NdJob own = nd_spread_part_job (&s->cut, i, s->base.job, &bank);

  part->plan = nd_plan_new (&own, making->options, s->base.backend->name,
      part->cut.device_id, method, making->memory_limit, &part->error);
}

/* All parts use the method of the first, so that an output does not depend on
 * the device that made it. A part that has other filters may not support that
 * method, for example if only the filters of the first are separable. */
static void
spread_make_other (gsize i, guint worker, gpointer data)
{
  const Making *making = data;
  const NdSpread *s = making->s;
  const NdMethod method = s->parts[0].plan->method;
  NdBank bank;
  const NdJob own = nd_spread_part_job (&s->cut, i + 1, s->base.job, &bank);
  const gboolean is_supported = isfinite (s->base.backend->cost (&own,
      making->options, method, s->parts[i + 1].cut.device_id, NULL));

  spread_make_plan (making, i + 1, is_supported ? method : making->method);
}

/* The first error of all parts. */
static gboolean
take_errors (NdSpread *s, GError **error)
{
  gboolean ok = TRUE;

  for (guint i = 0; i < s->cut.n; i++) {
    GError *own = g_steal_pointer (&s->parts[i].error);

    if (own && ok) {
      spread_name_device (&s->parts[i], &own);
      g_propagate_error (error, own);
      ok = FALSE;
    } else {
      g_clear_error (&own);
    }
  }
  return ok;
}

static void
spread_free (NdExecutor *executor)
{
  NdSpread *s = (NdSpread *) executor;

  for (guint i = 0; i < s->cut.n; i++) {
    g_clear_pointer (&s->parts[i].plan, nd_plan_free);
    free (s->parts[i].wrapped);
  }
  g_array_unref (s->volumes);
  g_free (s);
}

const NdPlan *
nd_spread_plan (const NdExecutor *executor, guint i)
{
  const NdSpread *s = (const NdSpread *) executor;

  return i < s->cut.n ? s->parts[i].plan : NULL;
}

/* @samples from sample @n along the axis on. */
static NdSamples
spread_skip (const NdSpread *s, NdSamples samples, gsize n)
{
  samples.data += n * (s->cut.axis == ND_AXIS_Z ? samples.slice : samples.row);
  return samples;
}

/* A call of the functions below. */
typedef struct
{
  NdSpread *s;
  guint slot, from;
  const NdSamples *samples;
  const gint *slots;
  const NdScale *scale;
  gboolean (*work) (NdSpread *s, Part *part, gconstpointer call,
      GError **error);
} Call;

static void
run_part (gsize i, guint worker, gpointer data)
{
  const Call *call = data;
  Part *part = &call->s->parts[i];

  part->used = TRUE;
  call->work (call->s, part, data, &part->error);
}

/* Whether the thread that enqueues the work of a part may have to wait. */
static gboolean
may_wait (const Call *call)
{
  const NdSpread *s = call->s;
  const NdDeviceMemoryFuncs *memory = s->base.backend->memory;

  for (guint i = 0; i < s->cut.n; i++) {
    if (s->parts[i].plan->executor->funcs->in_slabs || s->parts[i].wrapped)
      return TRUE;
  }
  return !call->samples || !memory || !memory->is_pageable
      || memory->is_pageable (call->samples->data);
}

/* Threads that wait do so at the same time. Otherwise one thread enqueues the
 * work of all parts earlier than others would wake up. */
static gboolean
run_parts (Call *call, GError **error)
{
  NdSpread *s = call->s;

  if (may_wait (call)) {
    nd_parallel_for (s->cut.n, run_part, call);
  } else {
    for (guint i = 0; i < s->cut.n; i++)
      run_part (i, 0, call);
  }
  return take_errors (s, error);
}

/* The device that has done least for the volumes that it got. */
static guint
next_part (const NdSpread *s)
{
  guint next = 0;

  for (guint i = 1; i < s->cut.n; i++) {
    if ((s->parts[i].given + 1) * s->parts[i].cut.seconds
        < (s->parts[next].given + 1) * s->parts[next].cut.seconds)
      next = i;
  }
  return next;
}

static Range
spread_find_range (const NdSamples *samples, const NdShape *shape,
    NdSampleType type)
{
  const gsize row = shape->components * shape->size[0] * nd_sample_size (type);

  return (Range){ samples->data,
    samples->data + (shape->size[1] - 1) * samples->row
        + (shape->size[2] - 1) * samples->slice + row };
}

/* Puts the slab of @part together from both ends of @volume. */
static gboolean
spread_wrap (const NdSpread *s, Part *part, const NdSamples *volume,
    NdSamples *slab, GError **error)
{
  const NdJob *job = &part->plan->job;
  const gint64 size = s->base.job->shape.size[s->cut.axis];
  gsize done = 0;

  *slab = nd_samples_dense (part->wrapped, &job->shape, job->in_type);
  if (!part->wrapped) {
    part->wrapped = slab->data = malloc (slab->response);
    if (!part->wrapped) {
      nd_memory_set_error (error, slab->response);
      return FALSE;
    }
  }
  /* The slab before may still be read, and the volume may still be written by
   * work that the ring waits for. */
  if (!nd_plan_finish (part->plan, error))
    return FALSE;
  while (done < part->cut.height) {
    const gint64 first =
        ((part->cut.start + (gint64) done) % size + size) % size;
    const gsize count = MIN (part->cut.height - done, (gsize) (size - first));
    const NdSamples to = spread_skip (s, *slab, done);
    const NdSamples from = spread_skip (s, *volume, first);

    if (!nd_slab_copy (s->base.backend->memory, &job->shape, job->in_type,
            s->cut.axis, count, &to, &from, error))
      return FALSE;
    done += count;
  }
  return TRUE;
}

static gboolean
slab_push (Part *part, guint slot, const NdSamples *slab, guint axis,
    GError **error)
{
  NdExecutor *executor = part->plan->executor;

  return executor->funcs->push_slab (executor, slot, slab, axis, error);
}

static gboolean
push_part (NdSpread *s, Part *part, gconstpointer data, GError **error)
{
  const Call *call = data;
  NdSamples slab = *call->samples;

  if (s->cut.kind != ND_SPREAD_SLABS)
    return nd_plan_push (part->plan, call->slot, &slab, error);
  if (part->cut.start < 0
      || part->cut.start + part->cut.height
          > s->base.job->shape.size[s->cut.axis]) {
    if (!spread_wrap (s, part, call->samples, &slab, error))
      return FALSE;
  } else {
    slab = spread_skip (s, slab, part->cut.start);
  }
  return slab_push (part, call->slot, &slab, s->cut.axis, error);
}

static gboolean
spread_push (NdExecutor *executor, guint slot, const NdSamples *volume,
    GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  const Range range =
      spread_find_range (volume, &s->base.job->shape, s->base.job->in_type);
  Call call = { .s = s, .slot = slot, .samples = volume, .work = push_part };
  Part *part;

  if (s->cut.kind != ND_SPREAD_ROUND) {
    g_array_append_val (s->volumes, range);
    return run_parts (&call, error);
  }
  s->last = next_part (s);
  part = &s->parts[s->last];
  part->given++;
  part->used = TRUE;
  if (nd_plan_push (part->plan, slot, volume, error))
    return TRUE;
  spread_name_device (part, error);
  return FALSE;
}

static gboolean
repeat_part (NdSpread *s, Part *part, gconstpointer data, GError **error)
{
  const Call *call = data;
  const NdSamples kept = nd_plan_kept (part->plan, call->from);

  return s->cut.kind == ND_SPREAD_SLABS
      ? slab_push (part, call->slot, &kept, s->cut.axis, error)
      : nd_plan_push (part->plan, call->slot, &kept, error);
}

static gboolean
spread_repeat (NdExecutor *executor, guint from, guint slot, GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  Call call = { .s = s, .slot = slot, .from = from, .work = repeat_part };

  return run_parts (&call, error);
}

static gboolean
spread_respond_part (NdSpread *s, Part *part, gconstpointer data,
    GError **error)
{
  const Call *call = data;
  const NdSpreadPart *cut = &part->cut;
  NdExecutor *executor = part->plan->executor;
  const NdSlab slab = { .axis = s->cut.axis,
    .first = (gint64) cut->first - cut->start,
    .count = cut->count };
  NdSamples out = *call->samples;

  if (s->cut.kind == ND_SPREAD_SLABS) {
    out = spread_skip (s, out, cut->first);
    return executor->funcs->respond_slab (executor, call->slots, call->scale,
        &out, &slab, error);
  }
  out.data += cut->first * out.response;
  return nd_plan_respond (part->plan, call->slots, call->scale, &out, error);
}

static gboolean
spread_begin (NdExecutor *executor, const gint *slots)
{
  NdSpread *s = (NdSpread *) executor;
  gboolean begun = FALSE;

  for (guint i = 0; i < s->cut.n; i++) {
    s->parts[i].used = TRUE;
    begun |= nd_plan_begin (s->parts[i].plan, slots);
  }
  return begun;
}

/* Each sample comes from the device that makes its output. */
static gboolean
spread_copy_kept (NdExecutor *executor, guint slot, const NdSamples *to,
    GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  const gboolean slabs = s->cut.kind == ND_SPREAD_SLABS;

  for (guint i = 0; i < (slabs ? s->cut.n : 1); i++) {
    Part *part = &s->parts[i];
    const NdSpreadPart *cut = &part->cut;
    NdSamples from, into = *to;
    gsize count = s->base.job->shape.size[s->cut.axis];

    if (!nd_plan_finish (part->plan, error)) {
      spread_name_device (part, error);
      return FALSE;
    }
    from = nd_plan_kept (part->plan, slot);
    if (slabs) {
      from = spread_skip (s, from, (gint64) cut->first - cut->start);
      into = spread_skip (s, into, cut->first);
      count = cut->count;
    }
    if (!nd_slab_copy (s->base.backend->memory, &s->base.job->shape,
            s->base.job->in_type, s->cut.axis, count, &into, &from, error)) {
      spread_name_device (part, error);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
spread_retain (NdExecutor *executor, GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  const gboolean round = s->cut.kind == ND_SPREAD_ROUND;

  for (guint i = 0; i < s->cut.n; i++) {
    if (round && i != s->last)
      continue;
    if (!nd_plan_retain (s->parts[i].plan, error)) {
      spread_name_device (&s->parts[i], error);
      return FALSE;
    }
  }
  return TRUE;
}

/* If volumes go round, the next work is that of the next volume. */
static gboolean
spread_wait (NdExecutor *executor, NdFence *fence, GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  const guint next = next_part (s);

  for (guint i = 0; i < s->cut.n; i++) {
    if (s->cut.kind == ND_SPREAD_ROUND && i != next)
      continue;
    if (!nd_plan_wait (s->parts[i].plan, fence, error)) {
      spread_name_device (&s->parts[i], error);
      return FALSE;
    }
  }
  return TRUE;
}

/* Waits for all, also if one fails: the others may still write. */
static gboolean
spread_finish (NdExecutor *executor, GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  gboolean ok = TRUE;

  for (guint i = 0; i < s->cut.n; i++) {
    if (!nd_plan_finish (s->parts[i].plan, ok ? error : NULL) && ok) {
      spread_name_device (&s->parts[i], error);
      ok = FALSE;
    }
  }
  g_array_set_size (s->volumes, 0);
  return ok;
}

/* If @out lies over a volume, waits until all devices have read that, because
 * each reads samples that another one writes. */
static gboolean
protect_volumes (NdSpread *s, const NdSamples *out, GError **error)
{
  const NdJob *job = s->base.job;
  const guint n =
      nd_response_count (job->response, nd_bank_responses (job->bank));
  Range range = spread_find_range (out, &job->shape, job->out_type);
  gboolean overlaps = FALSE;

  range.end += (n - 1) * out->response;
  for (guint i = 0; i < s->volumes->len; i++) {
    const Range *volume = &g_array_index (s->volumes, Range, i);

    overlaps |= range.begin < volume->end && volume->begin < range.end;
  }
  return !overlaps
      || (spread_retain (&s->base, error) && spread_finish (&s->base, error));
}

static gboolean
spread_respond (NdExecutor *executor, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  NdSpread *s = (NdSpread *) executor;
  Call call = { .s = s,
    .samples = out,
    .slots = slots,
    .scale = scale,
    .work = spread_respond_part };
  Part *part = &s->parts[s->last];

  if (s->cut.kind != ND_SPREAD_ROUND)
    return protect_volumes (s, out, error) && run_parts (&call, error);
  part->used = TRUE;
  if (nd_plan_respond (part->plan, slots, scale, out, error))
    return TRUE;
  spread_name_device (part, error);
  return FALSE;
}

static guint
spread_take_used (NdExecutor *executor, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES])
{
  NdSpread *s = (NdSpread *) executor;
  guint n = 0;

  for (guint i = 0; i < s->cut.n; i++) {
    if (!s->parts[i].used)
      continue;
    s->parts[i].used = FALSE;
    rings[n] = s->parts[i].plan->executor->ring;
    devices[n++] = s->parts[i].cut.device_id;
  }
  g_array_set_size (s->volumes, 0);
  return n;
}

static gsize
spread_bytes (const NdExecutor *executor)
{
  const NdSpread *s = (const NdSpread *) executor;
  gsize bytes = 0;

  for (guint i = 0; i < s->cut.n; i++)
    bytes += nd_plan_bytes (s->parts[i].plan);
  return bytes;
}

static gchar *
spread_kernels (const NdExecutor *executor)
{
  return nd_plan_kernels (nd_spread_plan (executor, 0));
}

static const NdExecutorFuncs spread_funcs = {
  .free = spread_free,
  .bytes = spread_bytes,
  .kernels = spread_kernels,
  .push = spread_push,
  .respond = spread_respond,
  .begin = spread_begin,
  .repeat = spread_repeat,
  .copy_kept = spread_copy_kept,
  .retain = spread_retain,
  .wait = spread_wait,
  .take_used = spread_take_used,
  .finish = spread_finish,
};

NdExecutor *
nd_spread_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gsize memory_limit,
    const NdSpreadCut *cut, GError **error)
{
  NdSpread *s = g_new0 (NdSpread, 1);
  Making making = { s, options, method, memory_limit };

  s->base = (NdExecutor){ &spread_funcs, backend, job, NULL };
  s->cut = *cut;
  s->volumes = g_array_new (FALSE, FALSE, sizeof (Range));
  for (guint i = 0; i < cut->n; i++)
    s->parts[i].cut = cut->parts[i];
  spread_make_plan (&making, 0, method);
  /* The devices start at the same time. */
  if (s->parts[0].plan)
    nd_parallel_for (cut->n - 1, spread_make_other, &making);
  if (take_errors (s, error))
    return &s->base;
  spread_free (&s->base);
  return NULL;
}
