/* A fence holds an event of each ring on which work for a volume was enqueued.
 * It is counted by reference, and any thread may synchronize with it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

typedef struct _NdFence NdFence;

/* Records a fence after all work that is enqueued on @rings of @backend so far.
 * @fence is NULL if the back end has no events, because the work is done.
 * Errors name the device of @devices whose ring fails, if that is not -1; NULL:
 * none is named. */
gboolean nd_fence_record (const NdBackend *backend, NdRing *const *rings,
    const gint *devices, guint n_rings, NdFence **fence, GError **error);

/* Any thread. */
NdFence *nd_fence_ref (NdFence *fence);
void nd_fence_unref (NdFence *fence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdFence, nd_fence_unref)

/* Blocks until the work is done, or has ended because a device failed. @times
 * (or NULL) receives the sum over the rings, or that of the device that took
 * longest if rings have devices. */
gboolean nd_fence_synchronize (NdFence *fence, NdTimes *times, GError **error);

/* Work that is enqueued on @ring of @backend from now on starts after @fence.
 * Blocks only if the fence is of another back end. */
gboolean nd_fence_wait (NdFence *fence, const NdBackend *backend, NdRing *ring,
    GError **error);

/* Blocks until all work that is enqueued on @ring so far is done. */
gboolean nd_ring_synchronize (const NdBackend *backend, NdRing *ring,
    GError **error);

G_END_DECLS
