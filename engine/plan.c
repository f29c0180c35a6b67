/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/plan.h"

#include "core/cancel.h"
#include "core/log.h"
#include "engine/autotune.h"
#include "engine/fence.h"

#include <math.h>

/* Methods whose estimate is up to this factor above the least are measured. */
#define AUTOTUNE_FACTOR 4

/* Replaces the estimated @seconds of the methods that may be the fastest by
 * measured ones, and those of the other methods by INFINITY. FALSE, and nothing
 * is replaced, if fewer than two methods may be the fastest or the back end
 * cannot be measured. */
static gboolean
autotune (const NdPlan *plan, gint device_id,
    gdouble seconds[ND_N_AUTO_METHODS])
{
  gdouble limit = INFINITY;
  guint candidates = 0;

  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    limit = MIN (limit, AUTOTUNE_FACTOR * seconds[i]);
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    candidates += isfinite (seconds[i]) && seconds[i] <= limit;
  if (candidates < 2 || !nd_autotune_possible (plan->backend))
    return FALSE;
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (isfinite (seconds[i]))
      seconds[i] = seconds[i] <= limit && !nd_is_cancelled (plan->job.cancelled)
          ? nd_autotune_seconds (plan->backend, device_id, &plan->job,
                &plan->options, nd_auto_methods[i])
          : INFINITY;
  }
  return TRUE;
}

static void
use_least (NdPlan *plan, const gdouble seconds[ND_N_AUTO_METHODS])
{
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (seconds[i] < plan->estimate) {
      plan->estimate = seconds[i];
      plan->method = nd_auto_methods[i];
    }
  }
}

static gchar *
explain (const gdouble estimates[ND_N_AUTO_METHODS],
    const gdouble seconds[ND_N_AUTO_METHODS], gboolean measured)
{
  GString *reason = g_string_new (measured ? "least measured time: "
                                           : "least estimated time: ");

  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    const gchar *name = nd_method_name (nd_auto_methods[i]);

    if (i > 0)
      g_string_append (reason, ", ");
    if (isfinite (seconds[i]))
      g_string_append_printf (reason, "%s %.3g ms", name, seconds[i] * 1e3);
    else if (isfinite (estimates[i]))
      g_string_append_printf (reason, "%s left out at an estimate of %.3g ms",
          name, estimates[i] * 1e3);
    else
      g_string_append_printf (reason, "%s not possible", name);
  }
  return g_string_free (reason, FALSE);
}

static gboolean
supports_job (const NdBackend *backend, const NdJob *job, GError **error)
{
  if (job->precision == ND_PRECISION_DOUBLE
      && !(backend->flags & ND_BACKEND_DOUBLE))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Back end %s does not compute in double precision: use backend=cpu or "
        "auto, or precision=single",
        backend->name);
  else if (job->response == ND_RESPONSE_TENSOR
      && !(backend->flags & ND_BACKEND_TENSOR_RESPONSE))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Back end %s cannot compute response=tensor: use backend=cpu or auto",
        backend->name);
  else if (job->response == ND_RESPONSE_ARGMAX && job->threshold > 0
      && !(backend->flags & ND_BACKEND_THRESHOLD))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Back end %s does not compare with threshold: use backend=cpu or auto, "
        "or threshold=0",
        backend->name);
  else
    return TRUE;
  return FALSE;
}

static gdouble
find_cost (const NdPlan *plan, const NdBackend *backend, NdMethod method,
    gint device_id, GError **error)
{
  return supports_job (backend, &plan->job, error)
      ? backend->cost (&plan->job, &plan->options, method, device_id, error)
      : INFINITY;
}

static gboolean
choose_method (NdPlan *plan, NdMethod wanted, gint device_id, GError **error)
{
  gdouble estimates[ND_N_AUTO_METHODS], seconds[ND_N_AUTO_METHODS];
  gboolean measured;

  plan->estimate = INFINITY;
  if (!supports_job (plan->backend, &plan->job, error))
    return FALSE;
  if (wanted != ND_METHOD_AUTO) {
    plan->method = wanted;
    plan->estimate = find_cost (plan, plan->backend, wanted, device_id, error);
    plan->reason = g_strdup ("requested");
    return isfinite (plan->estimate);
  }
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    g_autoptr (GError) why_not = NULL;

    estimates[i] = find_cost (plan, plan->backend, nd_auto_methods[i],
        device_id, &why_not);
    seconds[i] = estimates[i];
    if (why_not)
      ND_DEBUG ("%s: %s", plan->backend->name, why_not->message);
  }
  measured = autotune (plan, device_id, seconds);
  use_least (plan, seconds);
  /* If there was not enough memory to measure any method, ring_new() will
   * report it. */
  if (!isfinite (plan->estimate))
    use_least (plan, estimates);
  plan->reason = explain (estimates, seconds, measured);
  return TRUE;
}

/* The reason for which @backend supports the job by no permitted method; NULL
 * if it supports one. NULL also if the device fails, because that error must
 * reach the user. */
static GError *
refusal (const NdPlan *plan, const NdBackend *backend, NdMethod wanted,
    gint device_id)
{
  const NdMethod *methods =
      wanted == ND_METHOD_AUTO ? nd_auto_methods : &wanted;
  const guint n = wanted == ND_METHOD_AUTO ? ND_N_AUTO_METHODS : 1;
  g_autoptr (GError) why_not = NULL;

  for (guint i = 0; i < n; i++) {
    g_clear_error (&why_not);
    if (isfinite (find_cost (plan, backend, methods[i], device_id, &why_not))
        || !g_error_matches (why_not, ND_ERROR, ND_ERROR_SETTINGS))
      return NULL;
  }
  return g_steal_pointer (&why_not);
}

/* Replaces the preferred back end by the fallback if only the fallback supports
 * the job. @why receives the reason of the preferred one. */
static void
choose_backend (NdPlan *plan, NdMethod method, gint device_id, GError **why)
{
  const NdBackend *fallback = nd_backend_fallback ();
  g_autoptr (GError) preferred =
      refusal (plan, plan->backend, method, device_id);
  g_autoptr (GError) other = NULL;

  if (!preferred || !fallback)
    return;
  other = refusal (plan, fallback, method, device_id);
  if (other)
    return;
  plan->backend = fallback;
  *why = g_steal_pointer (&preferred);
}

NdPlan *
nd_plan_new (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, gint device_id, NdMethod method, GError **error)
{
  g_autoptr (NdPlan) plan = g_new0 (NdPlan, 1);
  g_autoptr (GError) why = NULL;

  plan->job = *job;
  plan->options = *options;
  plan->bank = nd_bank_copy (job->bank);
  plan->job.bank = plan->bank;
  plan->backend = nd_backend_find (backend, device_id, error);
  if (!backend && plan->backend)
    choose_backend (plan, method, device_id, &why);
  if (!plan->backend || !choose_method (plan, method, device_id, error))
    return NULL;
  if (why) {
    g_autofree gchar *reason = plan->reason;

    plan->reason = g_strdup_printf ("%s; %s", why->message, reason);
  }
  if (nd_set_error_if_cancelled (job->cancelled, error))
    return NULL;
  plan->ring = plan->backend->ring_new (&plan->job, &plan->options,
      plan->method, device_id, error);
  if (!plan->ring)
    return NULL;
  plan->job.cancelled = NULL;
  ND_DEBUG (
      "back end %s, method %s, %.4g ms per volume expected, %" G_GSIZE_FORMAT
      " bytes: %s",
      plan->backend->name, nd_method_name (plan->method), plan->estimate * 1e3,
      nd_plan_bytes (plan), plan->reason);
  return g_steal_pointer (&plan);
}

void
nd_plan_free (NdPlan *plan)
{
  if (plan->ring)
    plan->backend->ring_free (plan->ring);
  g_clear_pointer (&plan->bank, nd_bank_free);
  g_free (plan->reason);
  g_free (plan);
}

gboolean
nd_plan_push (NdPlan *plan, guint slot, const NdSamples *volume, GError **error)
{
  return plan->backend->push (plan->ring, slot, volume, error);
}

gboolean
nd_plan_respond (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  return plan->backend->respond (plan->ring, slots, scale, out, error);
}

gboolean
nd_plan_synchronize (NdPlan *plan, GError **error)
{
  return nd_ring_synchronize (plan->backend, plan->ring, error);
}

gsize
nd_plan_bytes (const NdPlan *plan)
{
  return plan->backend->ring_bytes (plan->ring);
}
