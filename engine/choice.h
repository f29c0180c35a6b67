/* The choice of a plan: back end and method, by estimated or measured time. The
 * functions read the job and the options of @plan, and are for engine/plan.c
 * only.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#pragma once

#include "engine/plan.h"

G_BEGIN_DECLS

/* FALSE with ND_ERROR_SETTINGS if @backend lacks what @job needs with any
 * method. */
gboolean nd_choice_check (const NdBackend *backend, const NdJob *job,
    GError **error);

/* Earlier versions had method=tensor for all types. A program that asks for it
 * gets the fastest of the other methods, if only the samples are the reason why
 * the back end refuses it. */
NdMethod nd_choice_replace (const NdPlan *plan, NdMethod method,
    gint device_id);

/* Replaces the preferred back end of @plan by the fallback if only the fallback
 * supports the job, or if the preferred one is slow in double precision. @why
 * receives the reason, and stays NULL otherwise. */
void nd_choose_backend (NdPlan *plan, NdMethod method, gint device_id,
    GError **why);

/* Sets method, estimate and reason of @plan. ND_METHOD_AUTO: the fastest, which
 * may be measured on the device unless there is a @memory_limit. FALSE with
 * ND_ERROR_SETTINGS if the back end cannot do the job by @wanted. */
gboolean nd_choose_method (NdPlan *plan, NdMethod wanted, gint device_id,
    gsize memory_limit, GError **error);

G_END_DECLS
