/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndfence.h"

#include <string.h>

struct _NdFence
{
  gint references;
  const NdBackend *backend;
  guint n_marks;
  NdMark *marks[];
};

NdFence *
nd_fence_new (const NdBackend * backend, NdMark * const *marks, guint n_marks)
{
  NdFence *fence = g_malloc (sizeof (NdFence) + n_marks * sizeof (*marks));

  fence->references = 1;
  fence->backend = backend;
  fence->n_marks = n_marks;
  memcpy (fence->marks, marks, n_marks * sizeof (*marks));
  return fence;
}

NdFence *
nd_fence_ref (NdFence * fence)
{
  g_atomic_int_inc (&fence->references);
  return fence;
}

void
nd_fence_unref (NdFence * fence)
{
  if (!g_atomic_int_dec_and_test (&fence->references))
    return;
  for (guint i = 0; i < fence->n_marks; i++)
    fence->backend->mark_free (fence->marks[i]);
  g_free (fence);
}

gboolean
nd_fence_wait (NdFence * fence, NdTimes * times, GError ** error)
{
  NdTimes sum = { 0, 0, 0 };

  for (guint i = 0; i < fence->n_marks; i++) {
    NdTimes of_ring;

    if (!fence->backend->reach (fence->marks[i], &of_ring, error))
      return FALSE;
    sum.upload += of_ring.upload;
    sum.compute += of_ring.compute;
    sum.download += of_ring.download;
  }
  if (times)
    *times = sum;
  return TRUE;
}

gboolean
nd_fence_before (NdFence * fence, const NdBackend * backend, NdRing * ring,
    GError ** error)
{
  if (fence->backend != backend)
    return nd_fence_wait (fence, NULL, error);
  for (guint i = 0; i < fence->n_marks; i++) {
    if (!backend->after (ring, fence->marks[i], error))
      return FALSE;
  }
  return TRUE;
}
