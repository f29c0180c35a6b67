/* The plan: which back end and which method do a job, and the ring they use.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "ndbackend.h"

G_BEGIN_DECLS

typedef struct
{
  const NdBackend *backend;
  NdMethod method;
  gdouble estimate;             /* seconds per volume, by the cost model or
                                 * measured on the device */
  gchar *reason;                /* why this method, and why not the best back
                                 * end, for `stats` */
  NdJob job;
  NdBank *bank;                 /* job.bank, the plan's own copy */
  NdRing *ring;

  /* Where the back end has combine(): ring and job.out_type are of the
   * responses, which come here first. */
  NdSampleType out_type;
  gfloat *responses;
} NdPlan;

/* @backend NULL and @method ND_METHODS choose the best; where the best back end
 * takes the job by no method that may be, the CPU. ND_ERROR_SETTINGS where the
 * method cannot do the job. */
NdPlan *nd_plan_new (const NdJob * job, const gchar * backend, gint device_id,
    NdMethod method, GError ** error);
void nd_plan_free (NdPlan * plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NdPlan, nd_plan_free)

/* See NdBackend. */
gboolean nd_plan_push (NdPlan * plan, guint slot, const NdSamples * volume,
    GError ** error);
gboolean nd_plan_respond (NdPlan * plan, const gint * slots,
    const NdScale * scale, const NdSamples * out, GError ** error);
/* Waits for all work of the plan's ring. */
gboolean nd_plan_wait (NdPlan * plan, GError ** error);
gsize nd_plan_bytes (const NdPlan * plan);

G_END_DECLS
