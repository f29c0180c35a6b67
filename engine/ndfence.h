/* A fence: stands behind the work that was enqueued for a volume, and says when
 * it is done. Counted by reference; any thread may wait for it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndbackend.h"

G_BEGIN_DECLS

typedef struct _NdFence NdFence;

/* Takes @marks of @backend, one of each ring. */
NdFence *nd_fence_new (const NdBackend * backend, NdMark * const *marks,
    guint n_marks);
NdFence *nd_fence_ref (NdFence * fence);
void nd_fence_unref (NdFence * fence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFence, nd_fence_unref)

/* Waits until the work is done. @times (or NULL) is the sum over the rings. */
gboolean nd_fence_wait (NdFence * fence, NdTimes * times, GError ** error);

/* What @ring of @backend is given next begins when the work is done; nothing
 * waits here, where @backend is that of the fence. */
gboolean nd_fence_before (NdFence * fence, const NdBackend * backend,
    NdRing * ring, GError ** error);

G_END_DECLS
