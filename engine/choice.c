/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/choice.h"

#include "core/error.h"
#include "core/log.h"
#include "engine/autotune.h"

#include <math.h>

/* Methods whose estimate is up to this factor above the least are measured. */
#define AUTOTUNE_FACTOR 4

/* The part of the time of a stream that measurements save at most: the
 * estimates of most jobs are right within a factor of two. */
#define AUTOTUNE_SAVES 0.5

/* A back end that is preferred is left in double precision if it takes this
 * factor longer than the fallback. */
#define SLOW_DOUBLE_FACTOR 2

/* The costs of a method in seconds. INFINITY: not possible, or left out. */
typedef struct
{
  gdouble estimate; /* per volume */
  gdouble setup;    /* before the first volume, estimated */
  gdouble seconds;  /* per volume: the estimate, or measured */
} Cost;

/* The seconds for the whole stream if its length is known, otherwise for one
 * volume. */
static gdouble
choice_total (const NdPlan *plan, const Cost *cost)
{
  return plan->job.volumes > 0 ? cost->setup + plan->job.volumes * cost->seconds
                               : cost->seconds;
}

/* Whether the stream is long enough to measure the methods up to @limit that
 * were not measured before. */
static gboolean
repays_measuring (const NdPlan *plan, gint device_id,
    const Cost costs[ND_N_AUTO_METHODS], gdouble limit)
{
  gdouble measuring = 0;

  if (plan->job.volumes == 0)
    return TRUE;
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (isfinite (costs[i].seconds) && choice_total (plan, &costs[i]) <= limit
        && nd_autotune_recall (plan->backend, device_id, &plan->job,
               &plan->options, nd_auto_methods[i])
            == 0)
      measuring +=
          costs[i].setup + nd_autotune_cost (&plan->job, costs[i].estimate);
  }
  return measuring <= AUTOTUNE_SAVES * limit / AUTOTUNE_FACTOR;
}

typedef enum
{
  ESTIMATED,
  ESTIMATED_SHORT, /* the stream is too short to measure */
  MEASURED
} Basis;

/* Replaces the estimated seconds of the methods that may be the fastest by
 * measured ones, and those of the other methods by INFINITY. Replaces nothing
 * if fewer than two methods may be the fastest, the back end cannot be
 * measured, or the stream is too short. */
static Basis
autotune (const NdPlan *plan, gint device_id, Cost costs[ND_N_AUTO_METHODS])
{
  gdouble limit = INFINITY;
  guint candidates = 0;

  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    limit = MIN (limit, AUTOTUNE_FACTOR * choice_total (plan, &costs[i]));
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    candidates +=
        isfinite (costs[i].seconds) && choice_total (plan, &costs[i]) <= limit;
  if (candidates < 2 || !nd_autotune_possible (plan->backend))
    return ESTIMATED;
  if (!repays_measuring (plan, device_id, costs, limit))
    return ESTIMATED_SHORT;
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (isfinite (costs[i].seconds))
      costs[i].seconds = choice_total (plan, &costs[i]) <= limit
              && !nd_is_cancelled (plan->job.cancelled)
          ? nd_autotune_seconds (plan->backend, device_id, &plan->job,
                &plan->options, nd_auto_methods[i])
          : INFINITY;
  }
  return MEASURED;
}

/* FALSE if no method is possible. */
static gboolean
use_least (NdPlan *plan, const Cost costs[ND_N_AUTO_METHODS])
{
  gdouble least = INFINITY;

  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (choice_total (plan, &costs[i]) < least) {
      least = choice_total (plan, &costs[i]);
      plan->estimate = costs[i].seconds;
      plan->method = nd_auto_methods[i];
    }
  }
  return isfinite (least);
}

static gchar *
choice_explain (const NdPlan *plan, const Cost costs[ND_N_AUTO_METHODS],
    Basis basis)
{
  GString *reason = g_string_new (basis == MEASURED ? "least measured time"
                                                    : "least estimated time");

  if (plan->job.volumes > 0)
    g_string_append_printf (reason, " of %" G_GUINT64_FORMAT " %s%s",
        plan->job.volumes, plan->job.volumes == 1 ? "volume" : "volumes",
        basis == ESTIMATED_SHORT ? ", too few to measure" : "");
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    const gchar *name = nd_method_name (nd_auto_methods[i]);

    g_string_append (reason, i > 0 ? ", " : ": ");
    if (isfinite (costs[i].seconds))
      g_string_append_printf (reason, "%s %.3g ms", name,
          costs[i].seconds * 1e3);
    else if (isfinite (costs[i].estimate))
      g_string_append_printf (reason, "%s left out at an estimate of %.3g ms",
          name, costs[i].estimate * 1e3);
    else
      g_string_append_printf (reason, "%s not possible", name);
    if (plan->job.volumes > 0 && costs[i].setup > 0)
      g_string_append_printf (reason, " after %.3g ms", costs[i].setup * 1e3);
  }
  return g_string_free (reason, FALSE);
}

gboolean
nd_choice_check (const NdBackend *backend, const NdJob *job, GError **error)
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
  return nd_choice_check (backend, &plan->job, error)
      ? backend->cost (&plan->job, &plan->options, method, device_id, error)
      : INFINITY;
}

gboolean
nd_choose_method (NdPlan *plan, NdMethod wanted, gint device_id,
    gsize memory_limit, GError **error)
{
  Cost costs[ND_N_AUTO_METHODS];
  Basis basis;

  plan->estimate = INFINITY;
  if (!nd_choice_check (plan->backend, &plan->job, error))
    return FALSE;
  if (wanted != ND_METHOD_AUTO) {
    plan->method = wanted;
    plan->estimate = find_cost (plan, plan->backend, wanted, device_id, error);
    plan->reason = g_strdup ("requested");
    return isfinite (plan->estimate);
  }
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    g_autoptr (GError) why_not = NULL;

    costs[i].estimate = costs[i].seconds = find_cost (plan, plan->backend,
        nd_auto_methods[i], device_id, &why_not);
    costs[i].setup = isfinite (costs[i].estimate) && plan->backend->setup_cost
        ? plan->backend->setup_cost (&plan->job, &plan->options,
              nd_auto_methods[i], device_id)
        : 0;
    if (why_not)
      ND_DEBUG ("%s: %s", plan->backend->name, why_not->message);
  }
  /* A measurement needs memory for whole volumes. */
  basis = memory_limit > 0 ? ESTIMATED : autotune (plan, device_id, costs);
  plan->reason = choice_explain (plan, costs, basis);
  if (use_least (plan, costs))
    return TRUE;
  /* There was not enough memory to measure any method; ring_new() will report
   * it. */
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    costs[i].seconds = costs[i].estimate;
  use_least (plan, costs);
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

/* The least estimate of the permitted methods. */
static gdouble
least_estimate (const NdPlan *plan, const NdBackend *backend, NdMethod wanted,
    gint device_id)
{
  gdouble least = INFINITY;

  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (wanted == ND_METHOD_AUTO || wanted == nd_auto_methods[i])
      least = MIN (least,
          find_cost (plan, backend, nd_auto_methods[i], device_id, NULL));
  }
  return least;
}

/* Many GPUs compute float64 at a small part of their rate of float32. Replaces
 * a back end that needs more than twice the time of the fallback. */
static void
avoid_slow_double (NdPlan *plan, const NdBackend *fallback, NdMethod method,
    gint device_id, GError **why)
{
  const gdouble slow = least_estimate (plan, plan->backend, method, device_id);
  const gdouble quick = least_estimate (plan, fallback, method, device_id);

  if (!isfinite (slow) || slow <= SLOW_DOUBLE_FACTOR * quick)
    return;
  g_set_error (why, ND_ERROR, ND_ERROR_SETTINGS,
      "Back end %s would take %.3g ms per volume in double precision, %s "
      "%.3g ms",
      plan->backend->name, slow * 1e3, fallback->name, quick * 1e3);
  plan->backend = fallback;
}

void
nd_choose_backend (NdPlan *plan, NdMethod method, gint device_id, GError **why)
{
  const NdBackend *fallback = nd_backend_fallback ();
  g_autoptr (GError) preferred =
      refusal (plan, plan->backend, method, device_id);
  g_autoptr (GError) other = NULL;

  if (!fallback || plan->backend == fallback)
    return;
  if (!preferred) {
    if (plan->job.precision == ND_PRECISION_DOUBLE)
      avoid_slow_double (plan, fallback, method, device_id, why);
    return;
  }
  other = refusal (plan, fallback, method, device_id);
  if (other)
    return;
  plan->backend = fallback;
  *why = g_steal_pointer (&preferred);
}

NdMethod
nd_choice_replace (const NdPlan *plan, NdMethod method, gint device_id)
{
  NdPlan bytes = *plan;

  if (method != ND_METHOD_TENSOR
      || nd_job_has_bytes (&plan->job, plan->options.border_volumes))
    return method;
  bytes.job.in_type = ND_UINT8;
  bytes.job.border_value = 0;
  if (!isfinite (find_cost (&bytes, plan->backend, method, device_id, NULL)))
    return method;
  ND_WARNING ("method=tensor filters uint8 samples, with a border-value from 0 "
              "to 255; method=auto is used instead");
  return ND_METHOD_AUTO;
}
