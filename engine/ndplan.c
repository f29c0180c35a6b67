/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ndplan.h"

#include <math.h>
#include "nderror.h"

#include "ndtrial.h"

/* How much longer than the best a method may be estimated to take and still
 * be tried. */
#define WORTH_A_TRIAL 4

/* Measured seconds in place of those estimated ones that may turn out best;
 * FALSE where one is alone. */
static gboolean
try_methods (const NdPlan * plan, gint device_id,
    gdouble seconds[ND_METHOD_REFERENCE])
{
  gdouble best = INFINITY;
  guint candidates = 0;

  for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++)
    best = MIN (best, seconds[m]);
  for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++)
    candidates += isfinite (seconds[m]) && seconds[m] <= WORTH_A_TRIAL * best;
  if (candidates < 2 || !nd_trial_possible (plan->backend))
    return FALSE;
  for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++) {
    if (isfinite (seconds[m]))
      seconds[m] = seconds[m] <= WORTH_A_TRIAL * best
          ? nd_trial_seconds (plan->backend, device_id, &plan->job, m)
          : INFINITY;
  }
  return TRUE;
}

/* The reference is slower than any other by design: it is there on request. */
static gboolean
choose_method (NdPlan * plan, NdMethod wanted, gint device_id, GError ** error)
{
  g_autoptr (GString) reason = g_string_new (NULL);
  gdouble estimates[ND_METHOD_REFERENCE], seconds[ND_METHOD_REFERENCE];
  gboolean tried;

  plan->estimate = INFINITY;
  if (wanted != ND_METHODS) {
    plan->method = wanted;
    plan->estimate = plan->backend->cost (&plan->job, wanted, device_id, error);
    plan->reason = g_strdup ("asked for");
    return isfinite (plan->estimate);
  }
  for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++) {
    g_autoptr (GError) why_not = NULL;

    estimates[m] = plan->backend->cost (&plan->job, m, device_id, &why_not);
    seconds[m] = estimates[m];
  }
  tried = try_methods (plan, device_id, seconds);
  for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++) {
    if (seconds[m] < plan->estimate) {
      plan->estimate = seconds[m];
      plan->method = m;
    }
    g_string_append (reason, reason->len ? ", " : tried
        ? "least measured time: " : "least estimated time: ");
    if (isfinite (seconds[m]))
      g_string_append_printf (reason, "%s %.3g ms", nd_method_name (m),
          seconds[m] * 1e3);
    else if (isfinite (estimates[m]))
      g_string_append_printf (reason, "%s left out at an estimate of %.3g ms",
          nd_method_name (m), estimates[m] * 1e3);
    else
      g_string_append_printf (reason, "%s not possible", nd_method_name (m));
  }
  /* Where no trial was possible for want of memory, its error is to come. */
  if (!isfinite (plan->estimate)) {
    for (NdMethod m = 0; m < ND_METHOD_REFERENCE; m++) {
      if (estimates[m] < plan->estimate) {
        plan->estimate = estimates[m];
        plan->method = m;
      }
    }
  }
  plan->reason = g_string_free (g_steal_pointer (&reason), FALSE);
  return TRUE;
}

/* Whether the plan has the ring's responses combined. */
static gboolean
combines (const NdPlan * plan)
{
  return nd_job_combines (&plan->job) && plan->backend->combine;
}

/* Bytes of the responses that are combined, or 0. */
static gsize
response_bytes (const NdPlan * plan)
{
  gsize samples;

  if (!combines (plan)
      || !nd_shape_samples (&plan->job.shape, &samples)
      || !g_size_checked_mul (&samples, samples, plan->bank->n_filters)
      || !g_size_checked_mul (&samples, samples, sizeof (gfloat)))
    return 0;
  return samples;
}

static gboolean
prepare_combining (NdPlan * plan, GError ** error)
{
  gsize bytes = response_bytes (plan);

  if (!combines (plan))
    return TRUE;
  plan->responses = bytes > 0 ? g_try_malloc (bytes) : NULL;
  if (!plan->responses)
    g_set_error (error, ND_ERROR, ND_ERROR_NO_SPACE, "Not enough memory: %"
        G_GSIZE_FORMAT " bytes wanted for the responses of %u filters; smaller "
        "volumes or fewer filters need less", bytes, plan->bank->n_filters);
  return plan->responses != NULL;
}

/* Why @backend takes @job by no method that may be chosen; NULL where it does.
 * A device that fails is not asked for less, and its error is told. */
static GError *
refusal (const NdBackend * backend, const NdJob * job, NdMethod wanted,
    gint device_id)
{
  const NdMethod first = wanted == ND_METHODS ? 0 : wanted;
  const NdMethod last = wanted == ND_METHODS ? ND_METHOD_REFERENCE - 1 : wanted;
  g_autoptr (GError) why_not = NULL;

  for (NdMethod m = first; m <= last; m++) {
    g_clear_error (&why_not);
    if (isfinite (backend->cost (job, m, device_id, &why_not))
        || !g_error_matches (why_not, ND_ERROR, ND_ERROR_SETTINGS))
      return NULL;
  }
  return g_steal_pointer (&why_not);
}

/* The best back end need not have every method for every job: then the CPU,
 * where that has, and @why. */
static void
choose_backend (NdPlan * plan, NdMethod method, gint device_id, GError ** why)
{
  const NdBackend *cpu = nd_backend_find ("cpu", device_id, NULL);
  g_autoptr (GError) here = refusal (plan->backend, &plan->job, method,
      device_id);
  g_autoptr (GError) there = NULL;

  if (here && cpu)
    there = refusal (cpu, &plan->job, method, device_id);
  if (here && cpu && !there) {
    plan->backend = cpu;
    *why = g_steal_pointer (&here);
  }
}

NdPlan *
nd_plan_new (const NdJob * job, const gchar * backend, gint device_id,
    NdMethod method, GError ** error)
{
  g_autoptr (NdPlan) plan = g_new0 (NdPlan, 1);
  g_autoptr (GError) why = NULL;

  plan->job = *job;
  plan->bank = nd_bank_copy (job->bank);
  plan->job.bank = plan->bank;
  plan->out_type = job->out_type;
  plan->backend = nd_backend_find (backend, device_id, error);
  if (!backend && plan->backend)
    choose_backend (plan, method, device_id, &why);
  if (plan->backend && combines (plan))
    plan->job.out_type = ND_FLOAT32;
  if (!plan->backend || !choose_method (plan, method, device_id, error))
    return NULL;
  if (why) {
    g_autofree gchar *reason = plan->reason;

    plan->reason = g_strdup_printf ("%s; %s", why->message, reason);
  }
  plan->ring = plan->backend->ring_new (&plan->job, plan->method, device_id,
      error);
  if (!plan->ring || !prepare_combining (plan, error))
    return NULL;
  return g_steal_pointer (&plan);
}

void
nd_plan_free (NdPlan * plan)
{
  if (plan->ring)
    plan->backend->ring_free (plan->ring);
  g_clear_pointer (&plan->bank, nd_bank_free);
  g_free (plan->responses);
  g_free (plan->reason);
  g_free (plan);
}

gboolean
nd_plan_push (NdPlan * plan, guint slot, const NdSamples * volume,
    GError ** error)
{
  return plan->backend->push (plan->ring, slot, volume, error);
}

gboolean
nd_plan_respond (NdPlan * plan, const gint * slots, const NdScale * scale,
    const NdSamples * out, GError ** error)
{
  static const NdScale unscaled = { 1, 0 };
  NdSamples responses;

  if (!plan->responses)
    return plan->backend->respond (plan->ring, slots, scale, out, error);
  responses = nd_samples_dense (plan->responses, &plan->job.shape, ND_FLOAT32);
  if (!plan->backend->respond (plan->ring, slots, &unscaled, &responses, error)
      || !nd_plan_wait (plan, error))
    return FALSE;
  plan->backend->combine (&plan->job, plan->responses, plan->out_type, scale,
      out);
  return TRUE;
}

gsize
nd_plan_bytes (const NdPlan * plan)
{
  return plan->backend->ring_bytes (plan->ring) + response_bytes (plan);
}

gboolean
nd_plan_wait (NdPlan * plan, GError ** error)
{
  NdTimes times;
  NdMark *mark;
  gboolean ok;

  if (!plan->backend->mark)
    return TRUE;
  mark = plan->backend->mark (plan->ring, error);
  if (!mark)
    return FALSE;
  ok = plan->backend->reach (mark, &times, error);
  plan->backend->mark_free (mark);
  return ok;
}
