/* Slabs of volumes: what a back end does with them. Slabs are cut along z, or
 * along y if volumes have one slice.
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

G_END_DECLS
