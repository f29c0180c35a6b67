/* Volumes that do not fit in the memory of a device, or not within a limit: a
 * ring of the device holds one slab of a volume at a time. Slabs are cut along
 * z, or along y if volumes have one slice. They go through the device one after
 * the other; the back end overlaps their uploads, work and downloads. The
 * volumes of a window in time stay in memory of the host.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

typedef struct
{
  guint axis; /* along which slabs are cut */

  /* Of a push: so many samples at the start of the slab along the axis equal
   * those at the end of the slab that was pushed before. */
  gsize shared;

  /* Of a respond: the outputs along the axis that are written. The others
   * depend on samples that are not in the slab. */
  gsize first, count;
} NdSlab;

/* A back end's functions for slabs. The rings are used with its other
 * functions too. */
typedef struct
{
  /* As ring_new(). ND_ERROR_MEMORY also if the ring needs more than @limit
   * bytes of the device; 0: no limit. */
  NdRing *(*ring_new) (const NdJob *job, const NdRingOptions *options,
      NdMethod method, gint device_id, gsize limit, GError **error);

  /* @volume is the whole slab. */
  gboolean (*push) (NdRing *ring, guint slot, const NdSamples *volume,
      const NdSlab *slab, GError **error);

  /* @out is the first output that is written. */
  gboolean (*respond) (NdRing *ring, const gint *slots, const NdScale *scale,
      const NdSamples *out, const NdSlab *slab, GError **error);
} NdSlabFuncs;

/* A module that has such functions exports this function beside
 * ND_BACKEND_MODULE. */
#define ND_SLABS_MODULE "nd_backend_module_slabs"
typedef const NdSlabFuncs *(*NdSlabsModule) (void);

/* Lets nd_backend_slabs() return @funcs for @backend. */
void nd_backend_register_slabs (const NdBackend *backend,
    const NdSlabFuncs *funcs);

/* NULL if @backend has none. */
const NdSlabFuncs *nd_backend_slabs (const NdBackend *backend);

/* Copies @count samples along @axis of volumes of @shape, between memory of the
 * host and of devices. Rows are dense. Returns when they have arrived. */
gboolean nd_slab_copy (const NdDeviceMemoryFuncs *memory, const NdShape *shape,
    NdSampleType type, guint axis, gsize count, const NdSamples *to,
    const NdSamples *from, GError **error);

typedef struct _NdSlabs NdSlabs;

/* Makes a ring for slabs of the height that is expected to be the fastest of
 * those that fit. @job and @backend must outlive the result. ND_ERROR_MEMORY
 * names the bytes that the smallest slab needs; ND_ERROR_SETTINGS if the filter
 * needs all samples along the axis. */
NdSlabs *nd_slabs_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gint device_id, gsize limit,
    GError **error);
void nd_slabs_free (NdSlabs *slabs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdSlabs, nd_slabs_free)

/* The ring on which all work is enqueued. */
NdRing *nd_slabs_ring (const NdSlabs *slabs);

/* Seconds of the device per volume that the back end's cost model expects,
 * samples that slabs have in common counted for each. */
gdouble nd_slabs_estimate (const NdSlabs *slabs);

/* For example "12 slabs of 22 slices, because ...". Free it with g_free(). */
gchar *nd_slabs_describe (const NdSlabs *slabs);

/* Push and respond of whole volumes, as those of NdBackend. A window of one
 * volume is read by respond, which is called at most once for each push, and
 * may write its output over the volume. Volumes of other windows are copied to
 * memory of the host before push returns. */
gboolean nd_slabs_push (NdSlabs *slabs, guint slot, const NdSamples *volume,
    GError **error);
gboolean nd_slabs_respond (NdSlabs *slabs, const gint *slots,
    const NdScale *scale, const NdSamples *out, GError **error);

/* The same for the outputs of @part only, which is a slab itself. */
gboolean nd_slabs_respond_part (NdSlabs *slabs, const gint *slots,
    const NdScale *scale, const NdSamples *out, const NdSlab *part,
    GError **error);

/* The volume that was last pushed into @slot, in memory of the host. Only of
 * windows of more than one volume. */
NdSamples nd_slabs_kept (const NdSlabs *slabs, guint slot);

/* Copies the volume that was pushed and not read yet, if there is one, so that
 * the caller may free it. */
gboolean nd_slabs_retain (NdSlabs *slabs, GError **error);

G_END_DECLS
