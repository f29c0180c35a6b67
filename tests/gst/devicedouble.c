/* A device that is none: a module in the place of the CUDA back end's, which
 * does in a thread of each ring what the CPU back end does, late and in order.
 * What must wait and does not, reads what is not there yet; thread sanitizer
 * sees it. Memory of this device is host memory, counted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gmodule.h>
#include <math.h>
#include <string.h>

#include "cpu/ndcombine.h"
#include "cpu/ndcpu.h"
#include "engine/nderror.h"
#include "engine/ndpicture.h"

#define MAX_SLOTS 64

struct _NdMark
{
  gint references;              /* atomic */
  GMutex lock;
  GCond changed;
  gboolean reached;
};

typedef struct
{
  enum
  { PUSH, RESPOND, MARK, AFTER, STOP } kind;
  guint slot;
  NdSamples samples;
  gint slots[MAX_SLOTS];
  NdScale scale;
  NdMark *mark;
} Work;

struct _NdRing
{
  NdRing *real;
  guint n_slots;
  GMutex lock;
  GCond changed;
  GQueue works;
  GThread *thread;
};

struct _NdCanvas
{
  NdPicture *picture;
  NdPictureJob job;
};

static gint blocks;             /* of memory, pinned or of the device */
static gint lost;               /* the device, for good */
static gint lose_at_memory;     /* it is lost when memory is wanted */

static gboolean
is_well (GError ** error)
{
  if (!g_atomic_int_get (&lost))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FAILED, "The GPU failed: set the "
      "pipeline to NULL and start it again");
  return FALSE;
}

static NdMark *
mark_ref (NdMark * mark)
{
  g_atomic_int_inc (&mark->references);
  return mark;
}

static void
mark_free (NdMark * mark)
{
  if (!g_atomic_int_dec_and_test (&mark->references))
    return;
  g_mutex_clear (&mark->lock);
  g_cond_clear (&mark->changed);
  g_free (mark);
}

static void
wait_for (NdMark * mark)
{
  g_mutex_lock (&mark->lock);
  while (!mark->reached)
    g_cond_wait (&mark->changed, &mark->lock);
  g_mutex_unlock (&mark->lock);
}

static gboolean
do_work (NdRing * ring, Work * work)
{
  switch (work->kind) {
    case PUSH:
      g_usleep (g_random_int_range (0, 100));
      nd_cpu_backend.push (ring->real, work->slot, &work->samples, NULL);
      break;
    case RESPOND:
      g_usleep (g_random_int_range (0, 200));
      nd_cpu_backend.respond (ring->real, work->slots, &work->scale,
          &work->samples, NULL);
      break;
    case MARK:
      g_mutex_lock (&work->mark->lock);
      work->mark->reached = TRUE;
      g_cond_broadcast (&work->mark->changed);
      g_mutex_unlock (&work->mark->lock);
      mark_free (work->mark);
      break;
    case AFTER:
      wait_for (work->mark);
      mark_free (work->mark);
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
enqueue (NdRing * ring, const Work * work)
{
  g_mutex_lock (&ring->lock);
  g_queue_push_tail (&ring->works, g_memdup2 (work, sizeof (*work)));
  g_cond_broadcast (&ring->changed);
  g_mutex_unlock (&ring->lock);
}

static gboolean
available (gint device_id, GError ** error)
{
  if (!g_atomic_int_get (&lost))
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_INIT, "The GPU was lost: start the "
      "program again");
  return FALSE;
}

static gdouble
cost (const NdJob * job, NdMethod method, gint device_id, GError ** error)
{
  /* As the CUDA back end has it. */
  if (method == ND_METHOD_REFERENCE) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "method=reference runs on "
        "the CPU only: use backend=cpu with it");
    return INFINITY;
  }
  return nd_cpu_backend.cost (job, method, device_id, error);
}

static NdRing *
ring_new (const NdJob * job, NdMethod method, gint device_id, GError ** error)
{
  NdRing *real = nd_cpu_backend.ring_new (job, method, device_id, error);
  NdRing *ring;

  if (!real)
    return NULL;
  ring = g_new0 (NdRing, 1);
  ring->real = real;
  ring->n_slots = nd_job_reach (job).slots;
  g_assert_cmpuint (ring->n_slots, <=, MAX_SLOTS);
  g_mutex_init (&ring->lock);
  g_cond_init (&ring->changed);
  g_queue_init (&ring->works);
  ring->thread = g_thread_new ("device", run, ring);
  return ring;
}

static void
ring_free (NdRing * ring)
{
  enqueue (ring, &(Work) {
      STOP});
  g_thread_join (ring->thread);
  nd_cpu_backend.ring_free (ring->real);
  g_mutex_clear (&ring->lock);
  g_cond_clear (&ring->changed);
  g_free (ring);
}

static gsize
ring_bytes (const NdRing * ring)
{
  return nd_cpu_backend.ring_bytes (ring->real);
}

static gboolean
push (NdRing * ring, guint slot, const NdSamples * volume, GError ** error)
{
  enqueue (ring, &(Work) {
      PUSH,.slot = slot,.samples = *volume});
  return is_well (error);
}

static NdSamples
kept (const NdRing * ring, guint slot)
{
  return nd_cpu_backend.kept (ring->real, slot);
}

static gboolean
respond (NdRing * ring, const gint * slots, const NdScale * scale,
    const NdSamples * out, GError ** error)
{
  Work work = { RESPOND,.samples = *out,.scale = *scale };

  memcpy (work.slots, slots, ring->n_slots * sizeof (*slots));
  enqueue (ring, &work);
  return is_well (error);
}

static NdMark *
mark (NdRing * ring, GError ** error)
{
  NdMark *m;

  if (!is_well (error))
    return NULL;
  m = g_new0 (NdMark, 1);
  m->references = 1;
  g_mutex_init (&m->lock);
  g_cond_init (&m->changed);
  enqueue (ring, &(Work) {
      MARK,.mark = mark_ref (m)}
  );
  return m;
}

static gboolean
reach (NdMark * m, NdTimes * times, GError ** error)
{
  wait_for (m);
  *times = (NdTimes) {
  1e-6, 1e-6, 1e-6};
  return is_well (error);
}

static gboolean
after (NdRing * ring, NdMark * m, GError ** error)
{
  enqueue (ring, &(Work) {
      AFTER,.mark = mark_ref (m)});
  return is_well (error);
}

static gpointer
memory_new (gint device_id, gsize bytes, GError ** error)
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
memory_copy (gpointer to, gconstpointer from, gsize bytes, GError ** error)
{
  memcpy (to, from, bytes);
  return is_well (error);
}

static gboolean
pin (gint device_id, gpointer memory, gsize bytes, GError ** error)
{
  g_atomic_int_inc (&blocks);
  return TRUE;
}

static void
unpin (gpointer memory)
{
  g_atomic_int_add (&blocks, -1);
}

static NdCanvas *
canvas_new (const NdPictureJob * job, gint device_id, GError ** error)
{
  NdCanvas *canvas;

  if (!is_well (error))
    return NULL;
  canvas = g_new0 (NdCanvas, 1);
  canvas->job = *job;
  canvas->picture = nd_picture_new (job->mode, job->axis, job->type,
      &job->shape, NULL, -1, error);
  return canvas;
}

static void
canvas_free (NdCanvas * canvas)
{
  nd_picture_free (canvas->picture);
  g_free (canvas);
}

/* The least position that gives all of @at. */
static gboolean
canvas_take (NdCanvas * canvas, gconstpointer volume, const gsize at[3],
    GError ** error)
{
  gdouble position = 0;

  for (guint a = 0; a < 3; a++)
    position = MAX (position, (at[a] + 1e-6) / canvas->job.shape.size[a]);
  return is_well (error)
      && nd_picture_take (canvas->picture, volume, position, error);
}

static gdouble
sample_at (const NdCanvas * canvas, gconstpointer volume, gsize i)
{
  g_assert_cmpuint (canvas->job.shape.components, ==, 1);
  switch (canvas->job.type) {
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
canvas_sample (NdCanvas * canvas, gconstpointer volume, gsize step,
    gfloat * samples, gsize n, GError ** error)
{
  for (gsize k = 0; k < n; k++)
    samples[k] = sample_at (canvas, volume, k * step);
  return TRUE;
}

static gboolean
canvas_extremes (NdCanvas * canvas, gconstpointer volume, gdouble * low,
    gdouble * high, GError ** error)
{
  const gsize *size = canvas->job.shape.size;

  for (gsize i = 0; i < size[0] * size[1] * size[2]; i++) {
    *low = MIN (*low, sample_at (canvas, volume, i));
    *high = MAX (*high, sample_at (canvas, volume, i));
  }
  return TRUE;
}

static gboolean
canvas_write (NdCanvas * canvas, gdouble low, gdouble window, guint8 * pixels,
    gssize stride, GError ** error)
{
  return nd_picture_write (canvas->picture, low, window, pixels, stride, error);
}

static const NdBackend backend = {
  .name = "cuda",
  .available = available,
  .cost = cost,
  .ring_new = ring_new,
  .ring_free = ring_free,
  .ring_bytes = ring_bytes,
  .push = push,
  .kept = kept,
  .respond = respond,
  .combine = nd_cpu_combine,
  .mark = mark,
  .reach = reach,
  .after = after,
  .mark_free = mark_free,
  .memory_new = memory_new,
  .memory_free = memory_free,
  .memory_copy = memory_copy,
  .pin = pin,
  .unpin = unpin,
  .canvas_new = canvas_new,
  .canvas_free = canvas_free,
  .canvas_take = canvas_take,
  .canvas_sample = canvas_sample,
  .canvas_extremes = canvas_extremes,
  .canvas_write = canvas_write,
};

G_MODULE_EXPORT const NdBackend *nd_backend_module (void);
G_MODULE_EXPORT gint device_double_blocks (void);
G_MODULE_EXPORT void device_double_lose (void);
G_MODULE_EXPORT void device_double_lose_at_memory (void);

const NdBackend *
nd_backend_module (void)
{
  return &backend;
}

gint
device_double_blocks (void)
{
  return g_atomic_int_get (&blocks);
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
