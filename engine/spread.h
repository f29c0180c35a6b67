/* A job that several devices of one back end share. Each has a plan of its own
 * for its part of the work: every n-th volume, a slab of
 * each volume with the samples around it that its outputs read, or some
 * filters of a bank. Volumes and outputs may be in memory of the host or of any
 * device. An error names its device.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/plan.h"

G_BEGIN_DECLS

/* How a job is divided among several devices, chosen by a cost model. */

typedef enum
{
  ND_SPREAD_ONE,    /* one device does all */
  ND_SPREAD_ROUND,  /* volumes go round; only of windows of one volume */
  ND_SPREAD_SLABS,  /* each device makes a slab of each output */
  ND_SPREAD_FILTERS /* each device makes some responses of each output */
} NdSpreadKind;

#define ND_SPREAD_KINDS 4

typedef struct
{
  gint device_id;
  gsize first, count; /* samples along the axis, or responses, of the output */
  gint64 start;       /* of a slab: its first sample in the volume; below 0, it
                       * begins at the other end */
  gsize height;       /* of a slab: its samples along the axis */
  gdouble seconds;    /* of the device for its part of a volume */
} NdSpreadPart;

typedef struct
{
  NdSpreadKind kind;
  guint axis; /* of slabs */
  guint n;    /* parts; devices without outputs have none */
  NdSpreadPart parts[ND_MAX_DEVICES];
} NdSpreadCut;

/* Chooses the cut for @devices. ND_METHOD_AUTO: the method with the least
 * estimate. @cut_rows: slabs of volumes may have some rows of all slices, which
 * a plan cannot divide again if they do not fit in the memory of a device. @why
 * receives a text for people; free it with g_free(). */
void nd_spread_choose (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, const NdDevices *devices,
    gboolean cut_rows, NdSpreadCut *cut, gchar **why);

/* The cut of @kind, of slabs along @axis. FALSE if it is not possible, or
 * leaves all work to one device. A device may be named several times, to test
 * one as several. */
gboolean nd_spread_cut (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method, const NdDevices *devices,
    NdSpreadKind kind, NdAxis axis, NdSpreadCut *cut);

/* The job of the device of @part. @bank is scratch that must outlive the
 * result. */
NdJob nd_spread_part_job (const NdSpreadCut *cut, guint part, const NdJob *job,
    NdBank *bank);

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
