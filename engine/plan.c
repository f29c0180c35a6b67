/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/plan.h"

#include "core/cancel.h"
#include "core/log.h"
#include "engine/autotune.h"
#include "engine/spread.h"

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
total (const NdPlan *plan, const Cost *cost)
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
    if (isfinite (costs[i].seconds) && total (plan, &costs[i]) <= limit
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
    limit = MIN (limit, AUTOTUNE_FACTOR * total (plan, &costs[i]));
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++)
    candidates +=
        isfinite (costs[i].seconds) && total (plan, &costs[i]) <= limit;
  if (candidates < 2 || !nd_autotune_possible (plan->backend))
    return ESTIMATED;
  if (!repays_measuring (plan, device_id, costs, limit))
    return ESTIMATED_SHORT;
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    if (isfinite (costs[i].seconds))
      costs[i].seconds = total (plan, &costs[i]) <= limit
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
    if (total (plan, &costs[i]) < least) {
      least = total (plan, &costs[i]);
      plan->estimate = costs[i].seconds;
      plan->method = nd_auto_methods[i];
    }
  }
  return isfinite (least);
}

static gchar *
explain (const NdPlan *plan, const Cost costs[ND_N_AUTO_METHODS], Basis basis)
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
choose_method (NdPlan *plan, NdMethod wanted, gint device_id,
    gsize memory_limit, GError **error)
{
  Cost costs[ND_N_AUTO_METHODS];
  Basis basis;

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
  plan->reason = explain (plan, costs, basis);
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

/* Replaces the preferred back end by the fallback if only the fallback supports
 * the job, or if the preferred one is slow in double precision. @why receives
 * the reason. */
static void
choose_backend (NdPlan *plan, NdMethod method, gint device_id, GError **why)
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

/* If whole volumes do not fit on the device, a ring for slabs. */
static gboolean
make_ring (NdPlan *plan, gint device_id, gsize memory_limit, GError **error)
{
  const NdSlabFuncs *funcs = nd_backend_slabs (plan->backend);
  g_autoptr (GError) why = NULL, why_not = NULL;
  g_autofree gchar *reason = NULL, *slabs = NULL;

  if (!funcs) {
    plan->ring = plan->backend->ring_new (&plan->job, &plan->options,
        plan->method, device_id, error);
    return plan->ring != NULL;
  }
  plan->ring = funcs->ring_new (&plan->job, &plan->options, plan->method,
      device_id, memory_limit, &why);
  if (plan->ring)
    return TRUE;
  if (g_error_matches (why, ND_ERROR, ND_ERROR_MEMORY))
    plan->slabs = nd_slabs_new (plan->backend, &plan->job, &plan->options,
        plan->method, device_id, memory_limit, &why_not);
  if (!plan->slabs) {
    if (why_not && !g_error_matches (why_not, ND_ERROR, ND_ERROR_SETTINGS))
      g_propagate_error (error, g_steal_pointer (&why_not));
    else
      g_propagate_error (error, g_steal_pointer (&why));
    return FALSE;
  }
  plan->ring = nd_slabs_ring (plan->slabs);
  plan->estimate = nd_slabs_estimate (plan->slabs);
  reason = plan->reason;
  slabs = nd_slabs_describe (plan->slabs);
  plan->reason = g_strdup_printf ("%s; %s", reason, slabs);
  return TRUE;
}

static void
append_reason (NdPlan *plan, const gchar *text)
{
  g_autofree gchar *reason = plan->reason;

  plan->reason = g_strdup_printf ("%s; %s", reason, text);
}

/* A ring on one device. */
static gboolean
use_device (NdPlan *plan, gint device_id, NdMethod method, gsize memory_limit,
    GError **error)
{
  return choose_method (plan, method, device_id, memory_limit, error)
      && !nd_set_error_if_cancelled (plan->job.cancelled, error)
      && make_ring (plan, device_id, memory_limit, error);
}

static gboolean
has_slabs (const NdSpread *spread, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (nd_spread_plan (spread, i)->slabs)
      return TRUE;
  }
  return FALSE;
}

/* Divides the work as @cut says. Slabs that are too large for a device are
 * divided again, which is possible along the same axis only. */
static gboolean
make_spread (NdPlan *plan, const NdDevices *devices, NdMethod method,
    gsize memory_limit, NdSpreadCut *cut, gchar **why, GError **error)
{
  plan->spread = nd_spread_new (plan->backend, &plan->job, &plan->options,
      method, memory_limit, cut, error);
  if (!plan->spread || cut->kind != ND_SPREAD_SLABS || cut->axis == ND_AXIS_Z
      || plan->job.shape.size[2] == 1 || !has_slabs (plan->spread, cut->n))
    return plan->spread != NULL;
  g_clear_pointer (&plan->spread, nd_spread_free);
  g_clear_pointer (why, g_free);
  nd_spread_choose (plan->backend, &plan->job, &plan->options, method, devices,
      FALSE, cut, why);
  plan->spread = nd_spread_new (plan->backend, &plan->job, &plan->options,
      method, memory_limit, cut, error);
  return plan->spread != NULL;
}

/* Divides the work among @devices, if that is possible. */
static gboolean
use_devices (NdPlan *plan, const NdDevices *devices, NdMethod method,
    gsize memory_limit, GError **error)
{
  g_autofree gchar *why = NULL;
  const NdPlan *first;
  NdSpreadCut cut;

  if (!supports_job (plan->backend, &plan->job, error))
    return FALSE;
  nd_spread_choose (plan->backend, &plan->job, &plan->options, method, devices,
      TRUE, &cut, &why);
  if (cut.kind == ND_SPREAD_ONE) {
    if (!use_device (plan, devices->ids[0], method, memory_limit, error))
      return FALSE;
    append_reason (plan, why);
    return TRUE;
  }
  if (!make_spread (plan, devices, method, memory_limit, &cut, &why, error))
    return FALSE;
  first = nd_spread_plan (plan->spread, 0);
  plan->method = first->method;
  for (guint i = 0; i < cut.n; i++)
    plan->estimate =
        MAX (plan->estimate, nd_spread_plan (plan->spread, i)->estimate);
  plan->turns = cut.kind == ND_SPREAD_ROUND ? cut.n : 1;
  plan->reason = g_strdup (first->reason);
  append_reason (plan, why);
  return TRUE;
}

/* Earlier versions had method=tensor for all types. A program that asks for it
 * gets the fastest of the other methods, if only the samples are the reason why
 * the back end refuses it. */
static NdMethod
replace_method (const NdPlan *plan, NdMethod method, gint device_id)
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

NdPlan *
nd_plan_new_on (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, const NdDevices *devices, NdMethod method,
    gsize memory_limit, GError **error)
{
  g_autoptr (NdPlan) plan = g_new0 (NdPlan, 1);
  g_autoptr (GError) why = NULL;
  const gint first = devices->ids[0];
  gboolean ok;

  plan->job = *job;
  plan->options = *options;
  plan->bank = nd_bank_copy (job->bank);
  plan->job.bank = plan->bank;
  plan->turns = 1;
  plan->backend = nd_backend_find (backend, first, error);
  if (!plan->backend)
    return NULL;
  method = replace_method (plan, method, first);
  if (!backend)
    choose_backend (plan, method, first, &why);
  if (!backend && !why)
    nd_backend_check_fork (&why);
  if (devices->n > 1 && plan->backend->memory)
    ok = use_devices (plan, devices, method, memory_limit, error);
  else
    ok = use_device (plan, first, method, memory_limit, error);
  if (!ok)
    return NULL;
  if (why) {
    g_autofree gchar *reason = plan->reason;

    plan->reason = g_strdup_printf ("%s; %s", why->message, reason);
  }
  plan->job.cancelled = NULL;
  ND_DEBUG (
      "back end %s, method %s, %.4g ms per volume expected, %" G_GSIZE_FORMAT
      " bytes: %s",
      plan->backend->name, nd_method_name (plan->method), plan->estimate * 1e3,
      nd_plan_bytes (plan), plan->reason);
  return g_steal_pointer (&plan);
}

NdPlan *
nd_plan_new (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, gint device_id, NdMethod method, gsize memory_limit,
    GError **error)
{
  const NdDevices one = { .n = 1, .ids = { device_id } };

  return nd_plan_new_on (job, options, backend, &one, method, memory_limit,
      error);
}

void
nd_plan_free (NdPlan *plan)
{
  if (plan->spread)
    nd_spread_free (plan->spread);
  else if (plan->slabs)
    nd_slabs_free (plan->slabs);
  else if (plan->ring)
    plan->backend->ring_free (plan->ring);
  g_clear_pointer (&plan->bank, nd_bank_free);
  g_free (plan->reason);
  g_free (plan);
}

gboolean
nd_plan_push (NdPlan *plan, guint slot, const NdSamples *volume, GError **error)
{
  if (plan->spread)
    return nd_spread_push (plan->spread, slot, volume, error);
  if (plan->slabs)
    return nd_slabs_push (plan->slabs, slot, volume, error);
  return plan->backend->push (plan->ring, slot, volume, error);
}

gboolean
nd_plan_respond (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  if (plan->spread)
    return nd_spread_respond (plan->spread, slots, scale, out, error);
  if (plan->slabs)
    return nd_slabs_respond (plan->slabs, slots, scale, out, error);
  return plan->backend->respond (plan->ring, slots, scale, out, error);
}

gboolean
nd_plan_push_slab (NdPlan *plan, guint slot, const NdSamples *volume,
    guint axis, GError **error)
{
  const NdSlab slab = { .axis = axis };

  if (plan->slabs)
    return nd_slabs_push (plan->slabs, slot, volume, error);
  return nd_backend_slabs (plan->backend)
      ->push (plan->ring, slot, volume, &slab, error);
}

gboolean
nd_plan_respond_slab (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, const NdSlab *slab, GError **error)
{
  /* A plan for one slice cuts it along y. */
  if (plan->slabs && slab->count == plan->job.shape.size[slab->axis])
    return nd_slabs_respond (plan->slabs, slots, scale, out, error);
  if (plan->slabs)
    return nd_slabs_respond_part (plan->slabs, slots, scale, out, slab, error);
  return nd_backend_slabs (plan->backend)
      ->respond (plan->ring, slots, scale, out, slab, error);
}

gboolean
nd_plan_repeat (NdPlan *plan, guint from, guint slot, GError **error)
{
  NdSamples kept;

  if (plan->spread)
    return nd_spread_repeat (plan->spread, from, slot, error);
  kept = nd_plan_kept (plan, from);
  return nd_plan_push (plan, slot, &kept, error);
}

NdSamples
nd_plan_kept (const NdPlan *plan, guint slot)
{
  return plan->slabs ? nd_slabs_kept (plan->slabs, slot)
                     : plan->backend->kept (plan->ring, slot);
}

gboolean
nd_plan_copy_kept (NdPlan *plan, guint slot, const NdSamples *to,
    GError **error)
{
  const NdShape *shape = &plan->job.shape;
  NdSamples kept;

  if (plan->spread)
    return nd_spread_copy_kept (plan->spread, slot, to, error);
  kept = nd_plan_kept (plan, slot);
  return nd_plan_finish (plan, error)
      && nd_slab_copy (plan->backend->memory, shape, plan->job.in_type,
          ND_AXIS_Z, shape->size[2], to, &kept, error);
}

gboolean
nd_plan_retain (NdPlan *plan, GError **error)
{
  if (plan->spread)
    return nd_spread_retain (plan->spread, error);
  return !plan->slabs || nd_slabs_retain (plan->slabs, error);
}

gboolean
nd_plan_begin (NdPlan *plan, const gint *slots)
{
  if (plan->spread)
    return plan->options.ahead && nd_spread_begin (plan->spread, slots);
  return plan->options.ahead && !plan->slabs && plan->backend->begin
      && plan->backend->begin (plan->ring, slots);
}

gboolean
nd_plan_wait (NdPlan *plan, NdFence *fence, GError **error)
{
  return plan->spread ? nd_spread_wait (plan->spread, fence, error)
                      : nd_fence_wait (fence, plan->backend, plan->ring, error);
}

guint
nd_plan_take_used (NdPlan *plan, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES])
{
  if (plan->spread)
    return nd_spread_take_used (plan->spread, rings, devices);
  rings[0] = plan->ring;
  devices[0] = -1;
  return 1;
}

gboolean
nd_plan_finish (NdPlan *plan, GError **error)
{
  return plan->spread ? nd_spread_finish (plan->spread, error)
                      : nd_ring_synchronize (plan->backend, plan->ring, error);
}

gboolean
nd_plan_synchronize (NdPlan *plan, GError **error)
{
  return nd_plan_retain (plan, error) && nd_plan_finish (plan, error);
}

gsize
nd_plan_bytes (const NdPlan *plan)
{
  return plan->spread ? nd_spread_bytes (plan->spread)
                      : plan->backend->ring_bytes (plan->ring);
}
