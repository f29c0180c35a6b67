/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/engine/slabdouble.h"

#include "core/error.h"
#include "cpu/cpu.h"

#include <string.h>

#define MAX_SLOTS 16
#define RING_BLOCKS 3

struct _NdEvent
{
  NdRing *ring;
  guint64 mark;
};

typedef struct
{
  enum
  {
    PUSH,
    RESPOND
  } kind;
  guint slot;
  NdSamples samples;
  NdSlab slab; /* count 0: a whole volume */
  gint slots[MAX_SLOTS];
  NdScale scale;
} Work;

struct _NdRing
{
  NdRing *real;
  NdJob job;
  gint device;
  gsize bytes;
  guint n_slots;
  GQueue works;
  guint64 enqueued, done;
  guint8 *last; /* the slab that was pushed before */
};

SlabDouble slab_double = {
  .fail_at = -1, .devices = 1, .fails = -1, .memory_fails_on = -1
};

static gboolean
allocate (gint device, gsize bytes, GError **error)
{
  const gint number = g_atomic_int_add (&slab_double.allocated, 1);

  if ((slab_double.fail_at >= 0
          && (slab_double.fail_on ? number >= slab_double.fail_at
                                  : number == slab_double.fail_at))
      || (device >= 0 && device == slab_double.memory_fails_on)) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "The double has no memory: %" G_GSIZE_FORMAT " bytes are needed",
        bytes);
    return FALSE;
  }
  g_atomic_int_inc (&slab_double.blocks);
  return TRUE;
}

static gboolean
is_well (const NdRing *ring, GError **error)
{
  if (ring->device != slab_double.fails
      || g_atomic_int_get (&slab_double.works[ring->device])
          <= slab_double.fails_after)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FAILED, "The double failed");
  return FALSE;
}

static gboolean
available (gint device_id, GError **error)
{
  if (device_id < slab_double.devices)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
      "There is no double with device-id=%d: this machine has %d", device_id,
      slab_double.devices);
  return FALSE;
}

static gdouble
cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  const gdouble slowness = slab_double.slowness[MAX (0, device_id)];

  return nd_cpu_backend.cost (job, options, method, device_id, error)
      * (slowness > 0 ? slowness : 1);
}

static gsize
row_bytes (const NdShape *shape, NdSampleType type)
{
  return shape->components * shape->size[0] * nd_sample_size (type);
}

static gsize
dense_bytes (const NdShape *shape, NdSampleType type)
{
  return row_bytes (shape, type) * shape->size[1] * shape->size[2];
}

static guint
count_outputs (const NdJob *job)
{
  return nd_response_count (job->response, nd_bank_responses (job->bank));
}

static void
ring_free (NdRing *ring)
{
  nd_cpu_backend.ring_free (ring->real);
  g_queue_clear_full (&ring->works, g_free);
  g_atomic_int_add (&slab_double.blocks, -RING_BLOCKS);
  g_free (ring->last);
  g_free (ring);
}

static NdRing *
slab_ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, gsize limit, GError **error)
{
  const gsize bytes = 3 * dense_bytes (&job->shape, job->in_type)
      + 2 * dense_bytes (&job->shape, job->out_type) * count_outputs (job);
  NdRing *ring, *real;

  if (limit > 0 && bytes > limit) {
    g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
        "%" G_GSIZE_FORMAT " bytes are needed, memory-limit allows "
        "%" G_GSIZE_FORMAT,
        bytes, limit);
    return NULL;
  }
  for (gint i = 0; i < RING_BLOCKS; i++) {
    if (!allocate (MAX (0, device_id), bytes, error)) {
      g_atomic_int_add (&slab_double.blocks, -i);
      return NULL;
    }
  }
  real = nd_cpu_backend.ring_new (job, options, method, device_id, error);
  g_assert_nonnull (real);
  ring = g_new0 (NdRing, 1);
  ring->real = real;
  ring->job = *job;
  ring->device = MAX (0, device_id);
  ring->bytes = bytes;
  ring->n_slots = nd_job_reach (job).slots;
  g_assert_cmpuint (ring->n_slots, <=, MAX_SLOTS);
  g_queue_init (&ring->works);
  return ring;
}

static NdRing *
ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  return slab_ring_new (job, options, method, device_id, 0, error);
}

static gsize
ring_bytes (const NdRing *ring)
{
  return ring->bytes;
}

static void
enqueue (NdRing *ring, const Work *work)
{
  g_queue_push_tail (&ring->works, g_memdup2 (work, sizeof (*work)));
  g_atomic_int_inc (&slab_double.waiting[ring->device]);
  ring->enqueued++;
}

/* Copies @n samples along @axis, from @from of one to @to of the other. */
static void
copy (const NdShape *shape, NdSampleType type, guint axis, gsize n,
    NdSamples to, NdSamples from)
{
  gsize rows = shape->size[1], slices = shape->size[2];

  *(axis == ND_AXIS_Z ? &slices : &rows) = n;
  for (gsize z = 0; z < slices; z++)
    for (gsize y = 0; y < rows; y++)
      memcpy (to.data + z * to.slice + y * to.row,
          from.data + z * from.slice + y * from.row, row_bytes (shape, type));
}

static NdSamples
skip (NdSamples samples, guint axis, gsize n)
{
  samples.data += n * (axis == ND_AXIS_Z ? samples.slice : samples.row);
  return samples;
}

/* Samples that are shared come from the slab before, as in a device that does
 * not upload them again. */
static void
do_push (NdRing *ring, const Work *work)
{
  const NdShape *shape = &ring->job.shape;
  const NdSampleType type = ring->job.in_type;
  const guint axis = work->slab.axis;
  const gsize height = shape->size[axis], shared = work->slab.shared;
  guint8 *data = g_malloc (dense_bytes (shape, type));
  const NdSamples slab = nd_samples_dense (data, shape, type);

  g_assert_cmpuint (shared, <=, height);
  if (shared > 0) {
    g_assert_nonnull (ring->last);
    copy (shape, type, axis, shared, slab,
        skip (nd_samples_dense (ring->last, shape, type), axis,
            height - shared));
  }
  copy (shape, type, axis, height - shared, skip (slab, axis, shared),
      skip (work->samples, axis, shared));
  g_assert_true (nd_cpu_backend.push (ring->real, work->slot, &slab, NULL));
  g_free (ring->last);
  ring->last = data;
}

/* Outputs that are not wanted need not be computed. */
static void
spoil_unwanted (const NdRing *ring, NdSamples out)
{
  const NdShape *shape = &ring->job.shape;
  const gsize bytes = shape->components * nd_sample_size (ring->job.out_type);

  for (gsize i = 0; i < shape->size[0] * shape->size[1] * shape->size[2]; i++) {
    const gsize at[3] = { i % shape->size[0],
      i / shape->size[0] % shape->size[1],
      i / shape->size[0] / shape->size[1] };

    for (guint a = 0; a < 3; a++) {
      const NdRange *wanted = &ring->job.wanted[a];

      if (wanted->n > 0
          && (at[a] < wanted->first || at[a] >= wanted->first + wanted->n))
        memset (out.data + i * bytes, 0xa5, bytes);
    }
  }
}

static void
do_respond (NdRing *ring, const Work *work)
{
  const NdShape *shape = &ring->job.shape;
  const NdSampleType type = ring->job.out_type;
  const guint n = count_outputs (&ring->job);
  g_autofree guint8 *data = g_malloc (dense_bytes (shape, type) * n);
  const NdSamples all = nd_samples_dense (data, shape, type);

  g_assert_true (nd_cpu_backend.respond (ring->real, work->slots, &work->scale,
      &all, NULL));
  for (guint k = 0; k < n; k++) {
    NdSamples from = all, to = work->samples;

    from.data += k * from.response;
    spoil_unwanted (ring, from);
    to.data += k * to.response;
    copy (shape, type, work->slab.axis, work->slab.count, to,
        skip (from, work->slab.axis, work->slab.first));
  }
}

static gboolean
slab_push (NdRing *ring, guint slot, const NdSamples *volume,
    const NdSlab *slab, GError **error)
{
  if (!is_well (ring, error))
    return FALSE;
  enqueue (ring,
      &(Work){ PUSH, .slot = slot, .samples = *volume, .slab = *slab });
  g_atomic_pointer_add (&slab_double.uploaded,
      ring->job.shape.size[slab->axis] - slab->shared);
  return TRUE;
}

static gboolean
slab_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *slab, GError **error)
{
  Work work = { RESPOND, .samples = *out, .scale = *scale, .slab = *slab };

  if (!is_well (ring, error))
    return FALSE;
  memcpy (work.slots, slots, ring->n_slots * sizeof (*slots));
  enqueue (ring, &work);
  return TRUE;
}

static gboolean
push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  const NdSlab all = { .axis = ND_AXIS_Z };

  return slab_push (ring, slot, volume, &all, error);
}

static gboolean
respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  const NdSlab all = { .axis = ND_AXIS_Z, .count = ring->job.shape.size[2] };

  return slab_respond (ring, slots, scale, out, &all, error);
}

static NdSamples
kept (const NdRing *ring, guint slot)
{
  return nd_cpu_backend.kept (ring->real, slot);
}

static NdEvent *
event_record (NdRing *ring, GError **error)
{
  NdEvent *event;

  if (!is_well (ring, error))
    return NULL;
  event = g_new0 (NdEvent, 1);
  event->ring = ring;
  event->mark = ring->enqueued;
  return event;
}

static gboolean
event_synchronize (NdEvent *event, NdTimes *times, GError **error)
{
  NdRing *ring = event->ring;

  *times = (NdTimes){ 0, 0, 0 };
  for (; ring->done < event->mark; ring->done++) {
    g_autofree Work *work = g_queue_pop_head (&ring->works);

    g_atomic_int_inc (&slab_double.works[ring->device]);
    g_atomic_int_add (&slab_double.waiting[ring->device], -1);
    if (!is_well (ring, error))
      return FALSE;
    if (work->kind == PUSH)
      do_push (ring, work);
    else
      do_respond (ring, work);
  }
  return is_well (ring, error);
}

static gboolean
event_wait (NdRing *ring, NdEvent *event, GError **error)
{
  NdTimes times;

  return event_synchronize (event, &times, error);
}

static void
event_destroy (NdEvent *event)
{
  g_free (event);
}

static gpointer
memory_alloc (gint device_id, gsize bytes, GError **error)
{
  return allocate (MAX (0, device_id), bytes, error) ? g_malloc0 (bytes) : NULL;
}

static void
memory_free (gpointer memory)
{
  g_atomic_int_add (&slab_double.blocks, -1);
  g_free (memory);
}

static gboolean
memory_copy (gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  memcpy (to, from, bytes);
  return TRUE;
}

static gboolean
pin (gint device_id, gpointer memory, gsize bytes, GError **error)
{
  return allocate (-1, bytes, error);
}

static void
unpin (gpointer memory)
{
  g_atomic_int_add (&slab_double.blocks, -1);
}

static gboolean
is_pageable (gconstpointer block)
{
  return slab_double.pageable;
}

static const NdEventFuncs events = { event_record, event_synchronize,
  event_wait, event_destroy };
static const NdDeviceMemoryFuncs memory = { memory_alloc, memory_free,
  memory_copy, pin, unpin, is_pageable };
static const NdSlabFuncs slabs = { slab_ring_new, slab_push, slab_respond };

void
slab_double_register (void)
{
  static NdBackend backend;

  backend = (NdBackend){ .version = ND_BACKEND_VERSION,
    .size = ND_BACKEND_SIZE,
    .name = "double",
    .available = available,
    .cost = cost,
    .ring_new = ring_new,
    .ring_free = ring_free,
    .ring_bytes = ring_bytes,
    .push = push,
    .kept = kept,
    .respond = respond,
    .events = &events,
    .memory = &memory };
  nd_backend_register (&backend);
  nd_backend_register_slabs (&backend, &slabs);
}
