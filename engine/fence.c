/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/fence.h"

struct _NdFence
{
  gint references;
  const NdEventFuncs *funcs;
  guint n_events;
  NdEvent *events[];
};

gboolean
nd_fence_record (const NdBackend *backend, NdRing *const *rings, guint n_rings,
    NdFence **fence, GError **error)
{
  g_autoptr (NdFence) made = NULL;

  *fence = NULL;
  if (!backend->events)
    return TRUE;
  made = g_malloc0 (sizeof (NdFence) + n_rings * sizeof (*made->events));
  made->references = 1;
  made->funcs = backend->events;
  for (; made->n_events < n_rings; made->n_events++) {
    NdEvent *event = made->funcs->record (rings[made->n_events], error);

    if (!event)
      return FALSE;
    made->events[made->n_events] = event;
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
  for (guint i = 0; i < fence->n_events; i++)
    fence->funcs->destroy (fence->events[i]);
  g_free (fence);
}

gboolean
nd_fence_synchronize (NdFence *fence, NdTimes *times, GError **error)
{
  NdTimes sum = { 0, 0, 0 };

  for (guint i = 0; i < fence->n_events; i++) {
    NdTimes ring;

    if (!fence->funcs->synchronize (fence->events[i], &ring, error))
      return FALSE;
    sum.upload += ring.upload;
    sum.compute += ring.compute;
    sum.download += ring.download;
  }
  if (times)
    *times = sum;
  return TRUE;
}

gboolean
nd_fence_wait (NdFence *fence, const NdBackend *backend, NdRing *ring,
    GError **error)
{
  if (fence->funcs != backend->events)
    return nd_fence_synchronize (fence, NULL, error);
  for (guint i = 0; i < fence->n_events; i++) {
    if (!fence->funcs->wait (ring, fence->events[i], error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_ring_synchronize (const NdBackend *backend, NdRing *ring, GError **error)
{
  g_autoptr (NdFence) fence = NULL;

  return nd_fence_record (backend, &ring, 1, &fence, error)
      && (!fence || nd_fence_synchronize (fence, NULL, error));
}
