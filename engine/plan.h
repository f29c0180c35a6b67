/* The plan: the back end and the method for a job, and the ring they use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/backend.h"

G_BEGIN_DECLS

typedef struct
{
  const NdBackend *backend;
  NdMethod method;

  /* Seconds per volume, estimated by the cost model or measured. */
  gdouble estimate;

  /* The reason for the choice of the method. If the fallback is used, also the
   * reason for which the preferred back end refused the job. Elements show it
   * in `stats`. */
  gchar *reason;

  NdJob job;
  NdBank *bank; /* job.bank, a copy that the plan owns */
  NdRingOptions options;
  NdRing *ring;
} NdPlan;

/* If @backend is NULL, the preferred back end is used or, if none of its
 * permitted methods can do the job, the fallback. ND_METHOD_AUTO permits all
 * methods, and the fastest one is used. ND_ERROR_SETTINGS if no permitted
 * method can do the job. */
NdPlan *nd_plan_new (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, gint device_id, NdMethod method, GError **error);
void nd_plan_free (NdPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPlan, nd_plan_free)

/* push and respond of the plan's NdBackend. */
gboolean nd_plan_push (NdPlan *plan, guint slot, const NdSamples *volume,
    GError **error);
gboolean nd_plan_respond (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error);

/* Blocks until all work that is enqueued on the plan's ring is done. */
gboolean nd_plan_synchronize (NdPlan *plan, GError **error);
gsize nd_plan_bytes (const NdPlan *plan);

G_END_DECLS
