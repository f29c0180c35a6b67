/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/fence.h"

/* An event, and the device that errors name, or -1. */
typedef struct
{
  NdEvent *event;
  gint device;
} Point;

struct _NdFence
{
  gint references;
  const NdEventFuncs *funcs;
  guint n_points;
  Point points[];
};

static void
fence_name_device (gint device, GError **error)
{
  if (device >= 0)
    g_prefix_error (error, "Device %d: ", device);
}

gboolean
nd_fence_record (const NdBackend *backend, NdRing *const *rings,
    const gint *devices, guint n_rings, NdFence **fence, GError **error)
{
  g_autoptr (NdFence) made = NULL;

  *fence = NULL;
  if (!backend->events)
    return TRUE;
  made = g_malloc0 (sizeof (NdFence) + n_rings * sizeof (*made->points));
  made->references = 1;
  made->funcs = backend->events;
  for (; made->n_points < n_rings; made->n_points++) {
    const gint device = devices ? devices[made->n_points] : -1;
    NdEvent *event = made->funcs->record (rings[made->n_points], error);

    if (!event) {
      fence_name_device (device, error);
      return FALSE;
    }
    made->points[made->n_points] = (Point){ event, device };
  }
  *fence = g_steal_pointer (&made);
  return TRUE;
}

NdFence *
nd_fence_ref (NdFence *fence)
{
  g_atomic_int_inc (&fence->references);
  return fence;
}

void
nd_fence_unref (NdFence *fence)
{
  if (!g_atomic_int_dec_and_test (&fence->references))
    return;
  for (guint i = 0; i < fence->n_points; i++)
    fence->funcs->destroy (fence->points[i].event);
  g_free (fence);
}

static void
fence_add_times (NdTimes *sum, const NdTimes *times)
{
  sum->upload += times->upload;
  sum->compute += times->compute;
  sum->download += times->download;
}

static gdouble
fence_total (const NdTimes *times)
{
  return times->upload + times->compute + times->download;
}

/* The times of the device that took longest. */
static NdTimes
find_longest (const NdFence *fence, const NdTimes *rings)
{
  NdTimes longest = { 0, 0, 0 };

  for (guint i = 0; i < fence->n_points; i++) {
    NdTimes sum = { 0, 0, 0 };

    for (guint k = i; k < fence->n_points; k++) {
      if (fence->points[k].device == fence->points[i].device)
        fence_add_times (&sum, &rings[k]);
    }
    if (fence_total (&sum) > fence_total (&longest))
      longest = sum;
  }
  return longest;
}

/* If one device fails, the others may still write. */
gboolean
nd_fence_synchronize (NdFence *fence, NdTimes *times, GError **error)
{
  g_autofree NdTimes *rings = g_new0 (NdTimes, fence->n_points);
  gboolean ok = TRUE;

  for (guint i = 0; i < fence->n_points; i++) {
    const Point *point = &fence->points[i];

    if (!fence->funcs->synchronize (point->event, &rings[i], ok ? error : NULL)
        && ok) {
      fence_name_device (point->device, error);
      ok = FALSE;
    }
  }
  if (times)
    *times = find_longest (fence, rings);
  return ok;
}

gboolean
nd_fence_wait (NdFence *fence, const NdBackend *backend, NdRing *ring,
    GError **error)
{
  if (fence->funcs != backend->events)
    return nd_fence_synchronize (fence, NULL, error);
  for (guint i = 0; i < fence->n_points; i++) {
    if (!fence->funcs->wait (ring, fence->points[i].event, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_ring_synchronize (const NdBackend *backend, NdRing *ring, GError **error)
{
  g_autoptr (NdFence) fence = NULL;

  return nd_fence_record (backend, &ring, NULL, 1, &fence, error)
      && (!fence || nd_fence_synchronize (fence, NULL, error));
}
