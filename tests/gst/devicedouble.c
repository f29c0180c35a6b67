/* A test double of devices: a module that replaces the CUDA back end. A thread
 * of each ring does the work of the CPU back end, late and in order. Code that
 * does not wait reads data that are not there yet, which the thread sanitizer
 * finds. Memory of the devices is host memory, and its blocks are counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/gst/devicedouble.h"
#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/slabs.h"

#include <gmodule.h>
#include <math.h>
#include <string.h>

#define MAX_SLOTS 64
#define MAX_DEVICES 8

struct _NdEvent
{
  gint references; /* atomic */
  gint device;
  GMutex lock;
  GCond changed;
  gboolean done;
};

typedef struct
{
  enum
  {
    PUSH,
    RESPOND,
    RECORD,
    WAIT,
    STOP
  } kind;
  guint slot;
  NdSamples samples;
  gint slots[MAX_SLOTS];
  NdScale scale;
  NdSlab slab; /* of a respond; count 0: all outputs */
  NdEvent *event;
} Work;

struct _NdRing
{
  NdRing *real;
  NdJob job;
  gint device;
  guint n_slots;
  GMutex lock;
  GCond changed;
  GQueue works;
  GThread *thread;
};

gint device_double_n_blocks;
static gint lost;           /* the device is lost and stays so */
static gint lose_at_memory; /* the device is lost at the next allocation */

gboolean
device_double_is_well (GError **error)
{
  if (!g_atomic_int_get (&lost))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
      "The GPU failed: set the "
      "pipeline to NULL and start it again");
  return FALSE;
}

static gint n_devices = MAX_DEVICES;
static gint fails = -1;         /* this device fails, and stays so, */
static gint fails_after;        /* after so many pushes and responses */
static gint works[MAX_DEVICES]; /* that it has done */

static gboolean
device_is_well (gint device, GError **error)
{
  if (device != g_atomic_int_get (&fails)
      || g_atomic_int_get (&works[device]) <= g_atomic_int_get (&fails_after))
    return device_double_is_well (error);
  g_set_error (error, ND_ERROR, ND_ERROR_FAILED,
      "The GPU failed: set the pipeline to NULL and start it again");
  return FALSE;
}

static NdEvent *
event_ref (NdEvent *event)
{
  g_atomic_int_inc (&event->references);
  return event;
}

static void
event_destroy (NdEvent *event)
{
  if (!g_atomic_int_dec_and_test (&event->references))
    return;
  g_mutex_clear (&event->lock);
  g_cond_clear (&event->changed);
  g_free (event);
}

static void
wait_for (NdEvent *event)
{
  g_mutex_lock (&event->lock);
  while (!event->done)
    g_cond_wait (&event->changed, &event->lock);
  g_mutex_unlock (&event->lock);
}

/* Computes whole outputs, of which it writes a part. */
static void
respond_slab (NdRing *ring, Work *work)
{
  const NdJob *job = &ring->job;
  const guint n =
      nd_response_count (job->response, nd_bank_responses (job->bank));
  NdSamples all = nd_samples_dense (NULL, &job->shape, job->out_type);
  g_autofree guint8 *data = g_malloc (all.response * n);

  all.data = data;
  nd_cpu_backend.respond (ring->real, work->slots, &work->scale, &all, NULL);
  for (guint k = 0; k < n; k++) {
    const gboolean along_z = work->slab.axis == ND_AXIS_Z;
    NdSamples from = all, to = work->samples;
    gsize rows = job->shape.size[1], slices = job->shape.size[2];

    *(along_z ? &slices : &rows) = work->slab.count;
    from.data += k * from.response
        + work->slab.first * (along_z ? from.slice : from.row);
    to.data += k * to.response;
    for (gsize z = 0; z < slices; z++)
      for (gsize y = 0; y < rows; y++)
        memcpy (to.data + z * to.slice + y * to.row,
            from.data + z * from.slice + y * from.row, from.row);
  }
}

static gboolean
do_work (NdRing *ring, Work *work)
{
  switch (work->kind) {
    case PUSH:
      g_usleep (g_random_int_range (0, 100));
      nd_cpu_backend.push (ring->real, work->slot, &work->samples, NULL);
      g_atomic_int_inc (&works[ring->device]);
      break;
    case RESPOND:
      g_usleep (g_random_int_range (0, 200));
      if (work->slab.count > 0)
        respond_slab (ring, work);
      else
        nd_cpu_backend.respond (ring->real, work->slots, &work->scale,
            &work->samples, NULL);
      g_atomic_int_inc (&works[ring->device]);
      break;
    case RECORD:
      g_mutex_lock (&work->event->lock);
      work->event->done = TRUE;
      g_cond_broadcast (&work->event->changed);
      g_mutex_unlock (&work->event->lock);
      event_destroy (work->event);
      break;
    case WAIT:
      wait_for (work->event);
      event_destroy (work->event);
      break;
    case STOP:
      return FALSE;
  }
  return TRUE;
}

static gpointer
run (gpointer data)
{
  NdRing *ring = data;
  gboolean more = TRUE;

  while (more) {
    g_autofree Work *work = NULL;

    g_mutex_lock (&ring->lock);
    while (!(work = g_queue_pop_head (&ring->works)))
      g_cond_wait (&ring->changed, &ring->lock);
    g_mutex_unlock (&ring->lock);
    more = do_work (ring, work);
  }
  return NULL;
}

static void
enqueue (NdRing *ring, const Work *work)
{
  g_mutex_lock (&ring->lock);
  g_queue_push_tail (&ring->works, g_memdup2 (work, sizeof (*work)));
  g_cond_broadcast (&ring->changed);
  g_mutex_unlock (&ring->lock);
}

static gint starts; /* calls of available(), each of which may wait */

static gboolean
available (gint device_id, GError **error)
{
  g_atomic_int_inc (&starts);
  if (device_id >= g_atomic_int_get (&n_devices)) {
    g_set_error (error, ND_ERROR, ND_ERROR_NOT_FOUND,
        "There is no GPU with device-id=%d: this machine has %d, counted from "
        "0",
        device_id, g_atomic_int_get (&n_devices));
    return FALSE;
  }
  if (!g_atomic_int_get (&lost))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_INIT,
      "The GPU was lost: restart the program, or use backend=cpu or auto");
  return FALSE;
}

static gdouble
cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  /* Follows the CUDA back end. */
  if (method == ND_METHOD_REFERENCE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "method=reference runs on "
        "the CPU only: use backend=cpu with it");
    return INFINITY;
  }
  return nd_cpu_backend.cost (job, options, method, device_id, error);
}

static NdRing *
ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  NdRing *real =
      nd_cpu_backend.ring_new (job, options, method, device_id, error);
  NdRing *ring;

  if (!real)
    return NULL;
  ring = g_new0 (NdRing, 1);
  ring->real = real;
  ring->job = *job;
  ring->device = MAX (0, device_id);
  ring->n_slots = nd_job_reach (job).slots;
  g_assert_cmpuint (ring->n_slots, <=, MAX_SLOTS);
  g_mutex_init (&ring->lock);
  g_cond_init (&ring->changed);
  g_queue_init (&ring->works);
  ring->thread = g_thread_new ("device", run, ring);
  return ring;
}

static void ring_free (NdRing *ring);

static NdRing *
slab_ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, gsize limit, GError **error)
{
  NdRing *ring = ring_new (job, options, method, device_id, error);
  const gsize bytes = ring ? nd_cpu_backend.ring_bytes (ring->real) : 0;

  if (limit == 0 || bytes <= limit)
    return ring;
  ring_free (ring);
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY,
      "Not enough memory on the GPU: %" G_GSIZE_FORMAT
      " bytes are needed, memory-limit allows %" G_GSIZE_FORMAT,
      bytes, limit);
  return NULL;
}

static void
ring_free (NdRing *ring)
{
  enqueue (ring, &(Work){ STOP });
  g_thread_join (ring->thread);
  nd_cpu_backend.ring_free (ring->real);
  g_mutex_clear (&ring->lock);
  g_cond_clear (&ring->changed);
  g_free (ring);
}

static gsize
ring_bytes (const NdRing *ring)
{
  return nd_cpu_backend.ring_bytes (ring->real);
}

static gboolean
push (NdRing *ring, guint slot, const NdSamples *volume, GError **error)
{
  enqueue (ring, &(Work){ PUSH, .slot = slot, .samples = *volume });
  return device_is_well (ring->device, error);
}

/* Reads the whole slab, also the part that is there already. */
static gboolean
slab_push (NdRing *ring, guint slot, const NdSamples *volume,
    const NdSlab *slab, GError **error)
{
  return push (ring, slot, volume, error);
}

static NdSamples
kept (const NdRing *ring, guint slot)
{
  return nd_cpu_backend.kept (ring->real, slot);
}

static gboolean
slab_respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *slab, GError **error)
{
  Work work = { RESPOND, .samples = *out, .scale = *scale, .slab = *slab };

  memcpy (work.slots, slots, ring->n_slots * sizeof (*slots));
  enqueue (ring, &work);
  return device_is_well (ring->device, error);
}

static gboolean
respond (NdRing *ring, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  const NdSlab all = { .count = 0 };

  return slab_respond (ring, slots, scale, out, &all, error);
}

static NdEvent *
event_record (NdRing *ring, GError **error)
{
  NdEvent *event = g_new0 (NdEvent, 1);

  event->references = 1;
  event->device = ring->device;
  g_mutex_init (&event->lock);
  g_cond_init (&event->changed);
  enqueue (ring, &(Work){ RECORD, .event = event_ref (event) });
  if (device_is_well (ring->device, error))
    return event;
  /* A device that has failed reads and writes nothing any more. */
  wait_for (event);
  event_destroy (event);
  return NULL;
}

static gint compute_ms; /* that each output is said to take */

static gboolean
event_synchronize (NdEvent *event, NdTimes *times, GError **error)
{
  wait_for (event);
  *times =
      (NdTimes){ 1e-6, 1e-6 + g_atomic_int_get (&compute_ms) * 1e-3, 1e-6 };
  return device_is_well (event->device, error);
}

static gboolean
event_wait (NdRing *ring, NdEvent *event, GError **error)
{
  enqueue (ring, &(Work){ WAIT, .event = event_ref (event) });
  return device_is_well (ring->device, error);
}

static gpointer
memory_alloc (gint device_id, gsize bytes, GError **error)
{
  if (g_atomic_int_get (&lose_at_memory))
    g_atomic_int_set (&lost, TRUE);
  if (!device_double_is_well (error))
    return NULL;
  g_atomic_int_inc (&device_double_n_blocks);
  return g_malloc0 (bytes);
}

static void
memory_free (gpointer memory)
{
  g_atomic_int_add (&device_double_n_blocks, -1);
  g_free (memory);
}

static gboolean
memory_copy (gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  memcpy (to, from, bytes);
  return device_double_is_well (error);
}

static gboolean
pin (gint device_id, gpointer memory, gsize bytes, GError **error)
{
  g_atomic_int_inc (&device_double_n_blocks);
  return TRUE;
}

static void
unpin (gpointer memory)
{
  g_atomic_int_add (&device_double_n_blocks, -1);
}

static const NdEventFuncs events = {
  .record = event_record,
  .synchronize = event_synchronize,
  .wait = event_wait,
  .destroy = event_destroy,
};

static const NdDeviceMemoryFuncs memory = {
  .alloc = memory_alloc,
  .free = memory_free,
  .copy = memory_copy,
  .pin = pin,
  .unpin = unpin,
};

static NdBackend backend = {
  .size = ND_BACKEND_SIZE,
  .name = "cuda",
  /* Without ND_BACKEND_THRESHOLD, so that tests see the plan handle it. */
  .flags = ND_BACKEND_TENSOR_RESPONSE | ND_BACKEND_DOUBLE,
  .available = available,
  .cost = cost,
  .ring_new = ring_new,
  .ring_free = ring_free,
  .ring_bytes = ring_bytes,
  .push = push,
  .kept = kept,
  .respond = respond,
  .events = &events,
  .memory = &memory,
  .renderer = &device_double_renderer,
  .algorithms = &device_double_algorithms,
  .set_log_handler = nd_log_set_handler,
};

static const NdSlabFuncs slabs = {
  .ring_new = slab_ring_new,
  .push = slab_push,
  .respond = slab_respond,
};

G_MODULE_EXPORT const NdBackend *nd_backend_module (void);
G_MODULE_EXPORT const NdSlabFuncs *nd_backend_module_slabs (void);
G_MODULE_EXPORT gint device_double_blocks (void);
G_MODULE_EXPORT gint device_double_starts (void);
G_MODULE_EXPORT void device_double_lose_at_memory (void);
G_MODULE_EXPORT void device_double_set_devices (gint n);
G_MODULE_EXPORT void device_double_fail (gint device, gint after);
G_MODULE_EXPORT gint device_double_works (gint device);
G_MODULE_EXPORT void device_double_set_compute (gint ms);

const NdBackend *
nd_backend_module (void)
{
  backend.version = ND_BACKEND_VERSION;
  backend.scenes = device_double_scenes ();
  return &backend;
}

const NdSlabFuncs *
nd_backend_module_slabs (void)
{
  return &slabs;
}

void
device_double_set_devices (gint n)
{
  g_atomic_int_set (&n_devices, n);
}

/* Device -1: none fails. Works count from 0 again. */
void
device_double_fail (gint device, gint after)
{
  g_atomic_int_set (&fails, device);
  g_atomic_int_set (&fails_after, after);
  for (gint i = 0; i < MAX_DEVICES; i++)
    g_atomic_int_set (&works[i], 0);
}

void
device_double_set_compute (gint ms)
{
  g_atomic_int_set (&compute_ms, ms);
}

gint
device_double_works (gint device)
{
  return g_atomic_int_get (&works[device]);
}

gint
device_double_blocks (void)
{
  return g_atomic_int_get (&device_double_n_blocks);
}

gint
device_double_starts (void)
{
  return g_atomic_int_get (&starts);
}

void
device_double_lose (void)
{
  g_atomic_int_set (&lost, TRUE);
}

void
device_double_lose_at_memory (void)
{
  g_atomic_int_set (&lose_at_memory, TRUE);
}
