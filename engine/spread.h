/* A job that several devices of one back end share. Each has a plan of its own
 * for its part of the work (engine/spreadcut.h): every n-th volume, a slab of
 * each volume with the samples around it that its outputs read, or some
 * filters of a bank. Volumes and outputs may be in memory of the host or of any
 * device. An error names its device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/plan.h"
#include "engine/spreadcut.h"

G_BEGIN_DECLS

/* Makes the plans of @cut, which has two parts or more. @job and @backend must
 * outlive the result. */
NdSpread *nd_spread_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gsize memory_limit,
    const NdSpreadCut *cut, GError **error);
void nd_spread_free (NdSpread *spread);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdSpread, nd_spread_free)

/* The plan of part @i, or NULL if there are fewer parts. */
const NdPlan *nd_spread_plan (const NdSpread *spread, guint i);

/* As the functions of NdPlan. An output may be written over a volume that was
 * pushed since the last nd_spread_take_used() or nd_spread_finish(). The
 * exception is a volume of a window of one volume in memory of a device, if the
 * devices divide the filters: a device then reads the volume in respond. */
gboolean nd_spread_push (NdSpread *spread, guint slot, const NdSamples *volume,
    GError **error);
gboolean nd_spread_repeat (NdSpread *spread, guint from, guint slot,
    GError **error);
gboolean nd_spread_respond (NdSpread *spread, const gint *slots,
    const NdScale *scale, const NdSamples *out, GError **error);
gboolean nd_spread_begin (NdSpread *spread, const gint *slots);
gboolean nd_spread_copy_kept (NdSpread *spread, guint slot, const NdSamples *to,
    GError **error);
gboolean nd_spread_retain (NdSpread *spread, GError **error);
gboolean nd_spread_wait (NdSpread *spread, NdFence *fence, GError **error);
gboolean nd_spread_finish (NdSpread *spread, GError **error);
guint nd_spread_take_used (NdSpread *spread, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES]);
gsize nd_spread_bytes (const NdSpread *spread);

G_END_DECLS
