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
 * outlive the result.
 *
 * An output may be written over a volume that was pushed since the last
 * take_used() or finish(). The exception is a volume of a window of one volume
 * in memory of a device, if the devices divide the filters: a device then reads
 * the volume in respond. */
NdExecutor *nd_spread_executor_new (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, gsize memory_limit,
    const NdSpreadCut *cut, GError **error);

/* The plan of part @i of such an executor, or NULL if there are fewer parts. */
const NdPlan *nd_spread_plan (const NdExecutor *executor, guint i);

G_END_DECLS
