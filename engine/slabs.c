/* Volumes that do not fit in the memory of a device, or not within a limit: a
 * ring of the device holds one slab of a volume at a time. Slabs go through the
 * device one after the other; the back end overlaps their uploads, work and
 * downloads. The volumes of a window in time stay in memory of the host.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/executor.h"

#include "core/error.h"
#include "core/fork.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* The choice of a height needs the rate of the bus, in bytes per second each
 * way, only roughly: that of PCIe 5.0 with 16 lanes. */
#define BUS_RATE 49e9

/* Seconds that the host takes to enqueue the work of a slab. */
#define SLAB_SECONDS 50e-6

#define MAX_HEIGHTS 64
#define MAX_BACKENDS 8

/* A height of slabs. */
typedef struct
{
  gsize block;              /* outputs of a slab along the axis */
  gsize height;             /* samples of a slab */
  gsize n;                  /* slabs of a volume */
  gdouble compute, seconds; /* per volume: on the device alone, in all */
} Height;

/* The slab that a slot of the ring holds. */
typedef struct
{
  guint64 volume; /* 0: none */
  gsize index;
} Held;

typedef struct
{
  NdExecutor base;
  const NdSlabFuncs *funcs;
  gint device_id;
  gsize limit;
  NdReach reach;
  guint axis;
  gsize before, after; /* samples that an output reads along the axis */
  Height chosen;

  NdSamples *volumes; /* in each slot */
  guint64 *numbers;   /* of these volumes, from 1 in the order of pushes */
  Held *held;
  guint64 pushed, responded;
  gboolean kept;     /* volumes are copied to memory of the host: those of a
                      * window in time, and those that slabs at both ends read,
                      * because the output may be written over the volume */
  gboolean borrowed; /* the volume is the caller's, and was not read yet */

  guint8 *store; /* dense volumes, one per slot, or NULL */
  gboolean pinned;
  guint8 *wrapped; /* a slab that goes on at the other end, or NULL */
} NdSlabs;

static struct
{
  const NdBackend *backend;
  const NdSlabFuncs *funcs;
} known[MAX_BACKENDS];
static guint n_known;
static GMutex lock;
ND_HOLD_AT_FORK (lock, 1)

void
nd_backend_register_slabs (const NdBackend *backend, const NdSlabFuncs *funcs)
{
  g_mutex_lock (&lock);
  if (n_known < MAX_BACKENDS) {
    known[n_known].backend = backend;
    known[n_known++].funcs = funcs;
  }
  g_mutex_unlock (&lock);
}

const NdSlabFuncs *
nd_backend_slabs (const NdBackend *backend)
{
  const NdSlabFuncs *funcs = NULL;

  g_mutex_lock (&lock);
  for (guint i = 0; i < n_known && !funcs; i++) {
    if (known[i].backend == backend)
      funcs = known[i].funcs;
  }
  g_mutex_unlock (&lock);
  return funcs;
}

static gsize
stride (const NdSlabs *s, const NdSamples *samples)
{
  return s->axis == ND_AXIS_Z ? samples->slice : samples->row;
}

static NdJob
job_of_slab (const NdSlabs *s, gsize height)
{
  NdJob job = *s->base.job;

  job.shape.size[s->axis] = height;
  job.wanted[s->axis] = (NdRange){ 0, 0 };
  return job;
}

/* The seconds that slabs of @h take for a volume, if uploads, work and
 * downloads overlap. Each sample is uploaded once if the window has one volume,
 * because neighbours share samples on the device. */
static void
slabs_estimate (const NdSlabs *s, Height *h, const NdRingOptions *options,
    NdMethod method)
{
  const NdJob job = job_of_slab (s, h->height);
  const gdouble plane = (gdouble) s->base.job->shape.components
      * s->base.job->shape.size[0] * s->base.job->shape.size[1]
      * s->base.job->shape.size[2] / s->base.job->shape.size[s->axis];
  const gdouble compute =
      s->base.backend->cost (&job, options, method, s->device_id, NULL);
  const gdouble up = plane * nd_sample_size (job.in_type) / BUS_RATE
      * (s->reach.slots > 1 ? h->height * s->reach.slots : h->block);
  const gdouble down = plane * nd_sample_size (job.out_type) / BUS_RATE
      * h->block
      * nd_response_count (job.response, nd_bank_responses (job.bank));
  const gdouble slowest = MAX (compute, MAX (up, down));

  h->compute = h->n * compute;
  h->seconds = h->n * (slowest + SLAB_SECONDS) + up + compute + down - slowest;
}

static gint
compare_heights (gconstpointer a, gconstpointer b)
{
  const gdouble x = ((const Height *) a)->seconds;
  const gdouble y = ((const Height *) b)->seconds;

  return (x > y) - (x < y);
}

/* Heights from half of the volume to one output per slab, the fastest first. */
static guint
list_heights (const NdSlabs *s, const NdRingOptions *options, NdMethod method,
    Height heights[MAX_HEIGHTS])
{
  const gsize size = s->base.job->shape.size[s->axis];
  const gsize halo = s->before + s->after;
  guint n = 0;

  for (gsize parts = 2; n < MAX_HEIGHTS; parts += (parts + 1) / 2) {
    const gsize block = parts < size ? (size + parts - 1) / parts : 1;
    Height h = { block, block + halo, (size + block - 1) / block };

    if (h.height < size) {
      slabs_estimate (s, &h, options, method);
      if (isfinite (h.seconds))
        heights[n++] = h;
    }
    if (block == 1)
      break;
  }
  qsort (heights, n, sizeof (*heights), compare_heights);
  return n;
}

/* Makes the ring of the first of @heights that fits. Heights above one that did
 * not fit are not tried. */
static gboolean
make_ring (NdSlabs *s, const NdRingOptions *options, NdMethod method,
    const Height *heights, guint n, GError **error)
{
  g_autoptr (GError) why = NULL;
  gsize too_high = G_MAXSIZE;

  for (guint i = 0; i < n && !s->base.ring; i++) {
    const NdJob job = job_of_slab (s, heights[i].height);

    if (heights[i].height >= too_high)
      continue;
    g_clear_error (&why);
    s->chosen = heights[i];
    s->base.ring = s->funcs->ring_new (&job, options, method, s->device_id,
        s->limit, &why);
    if (!s->base.ring && !g_error_matches (why, ND_ERROR, ND_ERROR_MEMORY)) {
      g_propagate_error (error, g_steal_pointer (&why));
      return FALSE;
    }
    too_high = heights[i].height;
  }
  if (s->base.ring)
    return TRUE;
  /* The last one tried was the smallest. */
  g_propagate_prefixed_error (error, g_steal_pointer (&why),
      "Not even slabs of %" G_GSIZE_FORMAT " %s fit: ", too_high,
      s->axis == ND_AXIS_Z ? "slices" : "rows");
  return FALSE;
}

static gsize
volume_bytes (const NdSlabs *s)
{
  const NdSamples dense =
      nd_samples_dense (NULL, &s->base.job->shape, s->base.job->in_type);

  return nd_size_mul (dense.slice, s->base.job->shape.size[2], 1);
}

static gboolean
make_store (NdSlabs *s, GError **error)
{
  gsize bytes = nd_size_mul (volume_bytes (s), s->reach.slots, 1);
  g_autoptr (GError) why = NULL;

  if (s->store)
    return TRUE;
  if (!nd_memory_check (bytes, error))
    return FALSE;
  s->store = nd_pages_new (&bytes);
  if (!s->store) {
    nd_memory_set_error (error, bytes);
    return FALSE;
  }
  s->pinned =
      s->base.backend->memory->pin (s->device_id, s->store, bytes, &why);
  if (!s->pinned)
    ND_WARNING ("the window in memory of the host is not pinned, so uploads "
                "are slower: %s",
        why->message);
  return TRUE;
}

static gboolean
slabs_init_slabs (NdSlabs *s, const NdRingOptions *options, NdMethod method,
    GError **error)
{
  const NdJob *job = s->base.job;
  NdRingOptions in_slab = *options;
  Height heights[MAX_HEIGHTS];
  guint n;

  s->reach = nd_job_reach (job);
  s->axis = job->shape.size[2] > 1 ? ND_AXIS_Z : ND_AXIS_Y;
  s->before = MAX (0, -s->reach.low[s->axis]);
  s->after = MAX (0, s->reach.high[s->axis]);
  s->volumes = nd_memory_new (s->reach.slots, sizeof (NdSamples), error);
  if (!s->volumes)
    return FALSE;
  s->numbers = nd_memory_new (s->reach.slots, sizeof (guint64), error);
  if (!s->numbers)
    return FALSE;
  s->held = nd_memory_new (s->reach.slots, sizeof (Held), error);
  if (!s->held)
    return FALSE;
  s->kept = s->reach.slots > 1 || job->border == ND_BORDER_WRAP;
  in_slab.keep = in_slab.ahead = FALSE;
  n = list_heights (s, &in_slab, method, heights);
  if (n == 0) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "the filter reads so many %s that the volume cannot be cut into slabs",
        s->axis == ND_AXIS_Z ? "slices" : "rows");
    return FALSE;
  }
  return make_ring (s, &in_slab, method, heights, n, error)
      && (!s->kept || make_store (s, error));
}

static void
slabs_free (NdExecutor *executor)
{
  NdSlabs *s = (NdSlabs *) executor;

  if (s->base.ring)
    s->base.backend->ring_free (s->base.ring);
  if (s->pinned)
    s->base.backend->memory->unpin (s->store);
  free (s->store);
  g_free (s->wrapped);
  g_free (s->volumes);
  g_free (s->numbers);
  g_free (s->held);
  g_free (s);
}

static gchar *
describe_slabs (const NdSlabs *s)
{
  const gchar *unit = s->axis == ND_AXIS_Z ? "slices" : "rows";
  g_autofree gchar *window = s->kept
      ? g_strdup_printf (", %" G_GSIZE_FORMAT
                         " bytes of the window in memory of the host",
            volume_bytes (s) * s->reach.slots)
      : g_strdup ("");
  g_autofree gchar *limit = s->limit > 0
      ? g_strdup_printf ("memory-limit is %" G_GSIZE_FORMAT, s->limit)
      : g_strdup ("whole volumes do not fit on the device");

  return g_strdup_printf ("%" G_GSIZE_FORMAT " slabs of %" G_GSIZE_FORMAT
                          " %s, %" G_GSIZE_FORMAT
                          " of them shared by neighbours%s, because %s",
      s->chosen.n, s->chosen.height, unit, s->before + s->after, window, limit);
}

gboolean
nd_slab_copy (const NdDeviceMemoryFuncs *memory, const NdShape *shape,
    NdSampleType type, guint axis, gsize count, const NdSamples *to,
    const NdSamples *from, GError **error)
{
  const gsize row = shape->components * shape->size[0] * nd_sample_size (type);
  gsize rows = shape->size[1], slices = shape->size[2];
  gsize bytes = row;

  *(axis == ND_AXIS_Z ? &slices : &rows) = count;
  if (from->row == row && to->row == row) {
    bytes *= rows;
    rows = 1;
    if (from->slice == bytes && to->slice == bytes) {
      bytes *= slices;
      slices = 1;
    }
  }
  for (gsize z = 0; z < slices; z++)
    for (gsize y = 0; y < rows; y++) {
      if (!memory->copy (to->data + z * to->slice + y * to->row,
              from->data + z * from->slice + y * from->row, bytes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
copy_samples (const NdSlabs *s, const NdSamples *to, const NdSamples *from,
    gsize count, GError **error)
{
  return nd_slab_copy (s->base.backend->memory, &s->base.job->shape,
      s->base.job->in_type, s->axis, count, to, from, error);
}

/* Copies @volume to its place in the store when the device has written it and
 * reads nothing of the store any more. */
static gboolean
slabs_keep (NdSlabs *s, guint slot, const NdSamples *volume, GError **error)
{
  NdSamples to;

  if (!make_store (s, error)
      || !nd_ring_synchronize (s->base.backend, s->base.ring, error))
    return FALSE;
  to = nd_samples_dense (s->store + slot * volume_bytes (s),
      &s->base.job->shape, s->base.job->in_type);
  if (!copy_samples (s, &to, volume, s->base.job->shape.size[s->axis], error))
    return FALSE;
  s->volumes[slot] = to;
  return TRUE;
}

static gboolean
slabs_push (NdExecutor *executor, guint slot, const NdSamples *volume,
    GError **error)
{
  NdSlabs *s = (NdSlabs *) executor;

  s->numbers[slot] = ++s->pushed;
  if (s->kept)
    return slabs_keep (s, slot, volume, error);
  s->volumes[slot] = *volume;
  s->borrowed = TRUE;
  return TRUE;
}

static gboolean
slabs_retain (NdExecutor *executor, GError **error)
{
  NdSlabs *s = (NdSlabs *) executor;

  if (!s->borrowed)
    return TRUE;
  s->borrowed = FALSE;
  return slabs_keep (s, 0, &s->volumes[0], error);
}

static NdSamples
slabs_kept (const NdExecutor *executor, guint slot)
{
  return ((const NdSlabs *) executor)->volumes[slot];
}

/* The first sample of slab @i. Slabs have the same height; those at the ends
 * end with the volume, or go on at its other end if the border wraps. */
static gint64
slab_start (const NdSlabs *s, gsize i)
{
  const gint64 at = (gint64) (i * s->chosen.block) - (gint64) s->before;
  const gint64 last = s->base.job->shape.size[s->axis] - s->chosen.height;

  return s->base.job->border == ND_BORDER_WRAP ? at : CLAMP (at, 0, last);
}

/* Puts slab @at together from both ends of @volume. */
static gboolean
slabs_wrap (NdSlabs *s, const NdSamples *volume, gint64 at, NdSamples *slab,
    GError **error)
{
  const NdJob job = job_of_slab (s, s->chosen.height);
  const gint64 size = s->base.job->shape.size[s->axis];
  gsize done = 0;

  *slab = nd_samples_dense (s->wrapped, &job.shape, job.in_type);
  if (!s->wrapped) {
    const gsize bytes = slab->slice * job.shape.size[2];

    s->wrapped = slab->data = g_try_malloc (bytes);
    if (!s->wrapped) {
      nd_memory_set_error (error, bytes);
      return FALSE;
    }
  }
  /* The slab before may still be read. */
  if (!nd_ring_synchronize (s->base.backend, s->base.ring, error))
    return FALSE;
  while (done < s->chosen.height) {
    const gint64 first = ((at + (gint64) done) % size + size) % size;
    const gsize count = MIN (s->chosen.height - done, (gsize) (size - first));
    NdSamples from = *volume, to = *slab;

    from.data += first * stride (s, &from);
    to.data += done * stride (s, &to);
    if (!copy_samples (s, &to, &from, count, error))
      return FALSE;
    done += count;
  }
  return TRUE;
}

static gboolean
push_slab (NdSlabs *s, guint slot, gsize i, GError **error)
{
  const gint64 at = slab_start (s, i), height = s->chosen.height;
  const Held before = s->held[slot];
  NdSlab slab = { .axis = s->axis };
  NdSamples from = s->volumes[slot];

  if (before.volume == s->numbers[slot] && before.index == i)
    return TRUE;
  if (s->reach.slots == 1 && before.volume == s->numbers[slot]
      && before.index + 1 == i)
    slab.shared = MAX (0, slab_start (s, before.index) + height - at);
  s->held[slot].volume = 0;
  if (at < 0 || at + height > (gint64) s->base.job->shape.size[s->axis]) {
    if (!slabs_wrap (s, &s->volumes[slot], at, &from, error))
      return FALSE;
  } else {
    from.data += at * stride (s, &from);
  }
  if (!s->funcs->push (s->base.ring, slot, &from, &slab, error))
    return FALSE;
  s->held[slot] = (Held){ s->numbers[slot], i };
  return TRUE;
}

/* Computes the outputs of @part that slab @i has. */
static gboolean
respond_slab (NdSlabs *s, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *part, gsize i, GError **error)
{
  const gsize start = i * s->chosen.block;
  const gsize end =
      MIN (start + s->chosen.block, s->base.job->shape.size[s->axis]);
  const gsize first = MAX (start, part->first);
  const gsize last = MIN (end, part->first + part->count);
  NdSlab slab = { .axis = s->axis };
  NdSamples to = *out;

  if (first >= last)
    return TRUE;
  slab.first = (gint64) first - slab_start (s, i);
  slab.count = last - first;
  for (guint t = 0; t < s->reach.slots; t++) {
    if (slots[t] != ND_SLOT_BORDER && !push_slab (s, slots[t], i, error))
      return FALSE;
  }
  to.data += (first - part->first) * stride (s, &to);
  return s->funcs->respond (s->base.ring, slots, scale, &to, &slab, error);
}

/* A window of several volumes goes through the slabs forwards and backwards in
 * turn: at the slab at which it turns, the ring has all volumes but the new
 * one. */
static gboolean
slabs_respond_part (NdSlabs *s, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *part, GError **error)
{
  const gboolean backwards = s->reach.slots > 1 && s->responded++ % 2 == 1;

  g_return_val_if_fail (part->axis == s->axis, FALSE);
  for (gsize i = 0; i < s->chosen.n; i++) {
    if (!respond_slab (s, slots, scale, out, part,
            backwards ? s->chosen.n - 1 - i : i, error))
      return FALSE;
  }
  s->borrowed = FALSE;
  return TRUE;
}

static gboolean
slabs_respond (NdExecutor *executor, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  NdSlabs *s = (NdSlabs *) executor;
  const NdSlab all = { .axis = s->axis,
    .count = executor->job->shape.size[s->axis] };

  return slabs_respond_part (s, slots, scale, out, &all, error);
}

static gboolean
slabs_begin (NdExecutor *executor, const gint *slots)
{
  return FALSE;
}

static gboolean
slabs_push_slab (NdExecutor *executor, guint slot, const NdSamples *volume,
    guint axis, GError **error)
{
  return slabs_push (executor, slot, volume, error);
}

static gboolean
slabs_respond_slab (NdExecutor *executor, const gint *slots,
    const NdScale *scale, const NdSamples *out, const NdSlab *slab,
    GError **error)
{
  /* A job of one slice is cut along y. */
  if (slab->count == executor->job->shape.size[slab->axis])
    return slabs_respond (executor, slots, scale, out, error);
  return slabs_respond_part ((NdSlabs *) executor, slots, scale, out, slab,
      error);
}

static const NdExecutorFuncs slabs_funcs = {
  .in_slabs = TRUE,
  .free = slabs_free,
  .bytes = nd_ring_executor_bytes,
  .kernels = nd_ring_executor_kernels,
  .push = slabs_push,
  .respond = slabs_respond,
  .kept = slabs_kept,
  .begin = slabs_begin,
  .push_slab = slabs_push_slab,
  .respond_slab = slabs_respond_slab,
  .repeat = nd_ring_executor_repeat,
  .copy_kept = nd_ring_executor_copy_kept,
  .retain = slabs_retain,
  .wait = nd_ring_executor_wait,
  .take_used = nd_ring_executor_take_used,
  .finish = nd_ring_executor_finish,
};

NdExecutor *
nd_slabs_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gint device_id, gsize limit,
    gdouble *seconds, gchar **text, GError **error)
{
  NdSlabs *s = g_new0 (NdSlabs, 1);

  s->base = (NdExecutor){ &slabs_funcs, backend, job, NULL };
  s->funcs = nd_backend_slabs (backend);
  s->device_id = device_id;
  s->limit = limit;
  if (!slabs_init_slabs (s, options, method, error)) {
    slabs_free (&s->base);
    return NULL;
  }
  *seconds = s->chosen.compute;
  *text = describe_slabs (s);
  return &s->base;
}
