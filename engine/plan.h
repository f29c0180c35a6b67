/* The plan: the back end and the method for a job (engine/choice.h), and the
 * executor that computes with them (engine/executor.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/executor.h"

G_BEGIN_DECLS

typedef struct
{
  const NdBackend *backend;
  NdMethod method;

  /* Seconds for a volume, from its first work to its last, estimated by the
   * cost model or measured. */
  gdouble estimate;

  /* The reason for the choice of the method. If the fallback is used, also the
   * reason for which the preferred back end refused the job. Elements show it
   * in `stats`. */
  gchar *reason;

  NdJob job;
  NdBank *bank; /* job.bank, a copy that the plan owns */
  NdRingOptions options;
  NdExecutor *executor;
  guint turns; /* volumes that are computed at the same time, each on its
                * device */
} NdPlan;

/* If @backend is NULL, the preferred back end is used or, if none of its
 * permitted methods can do the job, the fallback. ND_METHOD_AUTO permits all
 * methods, and the fastest one is used. ND_ERROR_SETTINGS if no permitted
 * method can do the job.
 *
 * @memory_limit: the most bytes of the device; 0: no limit. Volumes that need
 * more go through the device in slabs (engine/slabs.c). Back ends without a
 * device ignore it. */
NdPlan *nd_plan_new (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, gint device_id, NdMethod method, gsize memory_limit,
    GError **error);

/* The same on several devices (engine/spread.h). A back end without devices
 * ignores them, which the reason says. @memory_limit is that of each device. */
NdPlan *nd_plan_new_on (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, const NdDevices *devices, NdMethod method,
    gsize memory_limit, GError **error);

/* Waits for work that is enqueued. */
void nd_plan_free (NdPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPlan, nd_plan_free)

/* push and respond of the plan's NdBackend. A plan is used by one thread at a
 * time. A push that fails leaves its slot undefined, a respond that fails its
 * output; other slots stay. */
gboolean nd_plan_push (NdPlan *plan, guint slot, const NdSamples *volume,
    GError **error);
gboolean nd_plan_respond (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error);

/* Pushes the volume in slot @from again, into @slot. Only with the option
 * `keep`. */
gboolean nd_plan_repeat (NdPlan *plan, guint from, guint slot, GError **error);

/* begin of the plan's NdBackend; FALSE if the plan does not begin outputs. */
gboolean nd_plan_begin (NdPlan *plan, const gint *slots);

/* Whether one memory has whole volumes: not if several devices share the
 * work. */
gboolean nd_plan_has_kept (const NdPlan *plan);

/* kept of the plan's NdBackend. Only if nd_plan_has_kept(). */
NdSamples nd_plan_kept (const NdPlan *plan, guint slot);

/* Copies that volume to @to, in memory of the host. */
gboolean nd_plan_copy_kept (NdPlan *plan, guint slot, const NdSamples *to,
    GError **error);

/* Call it before an event is recorded: copies volumes that were pushed and are
 * read later. */
gboolean nd_plan_retain (NdPlan *plan, GError **error);

/* Work that is enqueued from now on starts after @fence. */
gboolean nd_plan_wait (NdPlan *plan, NdFence *fence, GError **error);

/* The rings on which work was enqueued since the last call, and the devices
 * that errors name, -1 for none. Returns their number. */
guint nd_plan_take_used (NdPlan *plan, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES]);

/* Blocks until all work that is enqueued so far is done, also if a device
 * fails. nd_plan_synchronize() calls nd_plan_retain() first. */
gboolean nd_plan_finish (NdPlan *plan, GError **error);
gboolean nd_plan_synchronize (NdPlan *plan, GError **error);

/* The bytes of all rings. */
gsize nd_plan_bytes (const NdPlan *plan);

/* The kernels that the first ring runs, with their files, or NULL if the back
 * end does not say. Elements show it in `stats`. Free it with g_free(). */
gchar *nd_plan_kernels (const NdPlan *plan);

G_END_DECLS
