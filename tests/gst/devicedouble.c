/* A test double of devices: a module that replaces the CUDA back end. A thread
 * of each ring does the work of the CPU back end, late and in order. Code that
 * does not wait reads data that are not there yet, which the thread sanitizer
 * finds. Memory of the devices is host memory, and its blocks are counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/picture.h"
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

struct _NdRenderer
{
  NdPicture *picture;
  NdPictureJob job;
};

static gint blocks;         /* blocks of memory, pinned or of the device */
static gint lost;           /* the device is lost and stays so */
static gint lose_at_memory; /* the device is lost at the next allocation */

static gboolean
is_well (GError **error)
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
    return is_well (error);
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

static gboolean
event_synchronize (NdEvent *event, NdTimes *times, GError **error)
{
  wait_for (event);
  *times = (NdTimes){ 1e-6, 1e-6, 1e-6 };
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
  if (!is_well (error))
    return NULL;
  g_atomic_int_inc (&blocks);
  return g_malloc0 (bytes);
}

static void
memory_free (gpointer memory)
{
  g_atomic_int_add (&blocks, -1);
  g_free (memory);
}

static gboolean
memory_copy (gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  memcpy (to, from, bytes);
  return is_well (error);
}

static gboolean
pin (gint device_id, gpointer memory, gsize bytes, GError **error)
{
  g_atomic_int_inc (&blocks);
  return TRUE;
}

static void
unpin (gpointer memory)
{
  g_atomic_int_add (&blocks, -1);
}

static NdRenderer *
renderer_create (const NdPictureJob *job, gint device_id, GError **error)
{
  NdRenderer *renderer;

  if (!is_well (error))
    return NULL;
  renderer = g_new0 (NdRenderer, 1);
  renderer->job = *job;
  renderer->picture = nd_picture_new (job->mode, job->axis, job->type,
      &job->shape, NULL, -1, error);
  return renderer;
}

static void
renderer_destroy (NdRenderer *renderer)
{
  nd_picture_free (renderer->picture);
  g_free (renderer);
}

/* The lowest index that gives all positions @at. */
static gboolean
renderer_take (NdRenderer *renderer, gconstpointer volume, const gsize at[3],
    GError **error)
{
  gdouble position = 0;

  for (guint a = 0; a < 3; a++)
    position = MAX (position, (at[a] + 1e-6) / renderer->job.shape.size[a]);
  return is_well (error)
      && nd_picture_take (renderer->picture, volume, position, error);
}

static gdouble
sample_at (const NdRenderer *renderer, gconstpointer volume, gsize i)
{
  g_assert_cmpuint (renderer->job.shape.components, ==, 1);
  switch (renderer->job.type) {
    case ND_UINT8:
      return ((const guint8 *) volume)[i];
    case ND_INT16:
      return ((const gint16 *) volume)[i];
    case ND_UINT16:
      return ((const guint16 *) volume)[i];
    default:
      return ((const gfloat *) volume)[i];
  }
}

static gboolean
renderer_sample (NdRenderer *renderer, gconstpointer volume, gsize step,
    gfloat *samples, gsize n, GError **error)
{
  for (gsize k = 0; k < n; k++)
    samples[k] = sample_at (renderer, volume, k * step);
  return TRUE;
}

static gboolean
renderer_extremes (NdRenderer *renderer, gconstpointer volume, gdouble *low,
    gdouble *high, GError **error)
{
  const gsize *size = renderer->job.shape.size;

  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    *low = MIN (*low, sample_at (renderer, volume, i));
    *high = MAX (*high, sample_at (renderer, volume, i));
  }
  return TRUE;
}

static gboolean
renderer_write (NdRenderer *renderer, gdouble low, gdouble window,
    guint8 *pixels, gssize stride, GError **error)
{
  return nd_picture_write (renderer->picture, low, window, pixels, stride,
      error);
}

/* Algorithms of the CPU, until the device is lost. */
typedef struct
{
  NdAlgorithm parent;
  NdAlgorithm *real;
} Algorithm;

static NdAlgorithm *
real_algorithm (const NdAlgorithm *algorithm)
{
  return ((const Algorithm *) algorithm)->real;
}

static gboolean
algorithm_push (NdAlgorithm *algorithm, const NdSamples *volume, GError **error)
{
  return is_well (error)
      && nd_algorithm_push (real_algorithm (algorithm), volume, error);
}

static gboolean
algorithm_ready (const NdAlgorithm *algorithm)
{
  return nd_algorithm_ready (real_algorithm (algorithm));
}

static gboolean
algorithm_respond (NdAlgorithm *algorithm, const NdSamples *out, GError **error)
{
  return is_well (error)
      && nd_algorithm_respond (real_algorithm (algorithm), out, error);
}

static void
algorithm_end (NdAlgorithm *algorithm)
{
  nd_algorithm_end (real_algorithm (algorithm));
}

static void
algorithm_reset (NdAlgorithm *algorithm)
{
  nd_algorithm_reset (real_algorithm (algorithm));
}

static void
algorithm_free (NdAlgorithm *algorithm)
{
  nd_algorithm_free (real_algorithm (algorithm));
  g_atomic_int_add (&blocks, -1);
  g_free (algorithm);
}

static gsize
algorithm_bytes (const NdAlgorithm *algorithm)
{
  return nd_algorithm_bytes (real_algorithm (algorithm));
}

static void
algorithm_set_strength (NdAlgorithm *algorithm,
    const NdDenoiseSettings *settings)
{
  nd_algorithm_set_strength (real_algorithm (algorithm), settings);
}

static gdouble
algorithm_sigma (const NdAlgorithm *algorithm)
{
  return nd_algorithm_sigma (real_algorithm (algorithm));
}

static const NdAlgorithmClass algorithm_class = {
  .backend = "cuda",
  .push = algorithm_push,
  .ready = algorithm_ready,
  .respond = algorithm_respond,
  .end = algorithm_end,
  .reset = algorithm_reset,
  .free = algorithm_free,
  .bytes = algorithm_bytes,
  .set_strength = algorithm_set_strength,
  .sigma = algorithm_sigma,
};

static NdAlgorithm *
wrap_algorithm (NdAlgorithm *real)
{
  Algorithm *algorithm;

  if (!real)
    return NULL;
  g_atomic_int_inc (&blocks);
  algorithm = g_new0 (Algorithm, 1);
  algorithm->parent.klass = &algorithm_class;
  algorithm->real = real;
  return &algorithm->parent;
}

static NdAlgorithm *
denoise_new (const NdDenoiseSettings *settings, const NdDenoiseBorders *borders,
    const NdShape *shape, NdSampleType type, guint64 kept, gint device_id,
    GError **error)
{
  if (!is_well (error))
    return NULL;
  return wrap_algorithm (nd_cpu_backend.algorithms->denoise_new (settings,
      borders, shape, type, kept, device_id, error));
}

static NdAlgorithm *
structure_new (const NdStructureSettings *settings, const NdShape *shape,
    gint device_id, GError **error)
{
  if (!is_well (error))
    return NULL;
  return wrap_algorithm (nd_cpu_backend.algorithms->structure_new (settings,
      shape, device_id, error));
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

static const NdRendererFuncs renderer = {
  .create = renderer_create,
  .destroy = renderer_destroy,
  .take = renderer_take,
  .sample = renderer_sample,
  .extremes = renderer_extremes,
  .write = renderer_write,
};

static const NdAlgorithmFuncs algorithms = {
  .denoise_new = denoise_new,
  .structure_new = structure_new,
};

/* Scenes of the CPU, or none. */

static gint refuses_scenes;

static gboolean
scene_draw (NdScene *scene, const NdPanel *panels, guint n, const NdLook *look,
    guint8 *pixels, gssize stride, GError **error)
{
  if (!g_atomic_int_get (&refuses_scenes))
    return nd_cpu_backend.scenes->draw (scene, panels, n, look, pixels, stride,
        error);
  g_set_error (error, ND_ERROR, ND_ERROR_MEMORY, "No memory for a scene");
  return FALSE;
}

static NdSceneFuncs scenes;

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
  .renderer = &renderer,
  .algorithms = &algorithms,
  .scenes = &scenes,
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
G_MODULE_EXPORT void device_double_lose (void);
G_MODULE_EXPORT void device_double_lose_at_memory (void);
G_MODULE_EXPORT void device_double_set_devices (gint n);
G_MODULE_EXPORT void device_double_fail (gint device, gint after);
G_MODULE_EXPORT gint device_double_works (gint device);
G_MODULE_EXPORT void device_double_refuse_scenes (gboolean refuse);

const NdBackend *
nd_backend_module (void)
{
  backend.version = ND_BACKEND_VERSION;
  scenes = *nd_cpu_backend.scenes;
  scenes.draw = scene_draw;
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

gint
device_double_works (gint device)
{
  return g_atomic_int_get (&works[device]);
}

gint
device_double_blocks (void)
{
  return g_atomic_int_get (&blocks);
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

void
device_double_refuse_scenes (gboolean refuse)
{
  g_atomic_int_set (&refuses_scenes, refuse);
}
