/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/plan.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "engine/choice.h"
#include "engine/spread.h"

static void
clear_executor (NdPlan *plan)
{
  if (plan->executor)
    plan->executor->funcs->free (plan->executor);
  plan->executor = NULL;
}

static void
append_reason (NdPlan *plan, const gchar *text)
{
  g_autofree gchar *reason = plan->reason;

  plan->reason = g_strdup_printf ("%s; %s", reason, text);
}

/* If whole volumes do not fit on the device, they go through it in slabs. */
static gboolean
make_executor (NdPlan *plan, gint device_id, gsize memory_limit, GError **error)
{
  g_autoptr (GError) why = NULL, why_not = NULL;
  g_autofree gchar *text = NULL;

  plan->executor = nd_ring_executor_new (plan->backend, &plan->job,
      &plan->options, plan->method, device_id, memory_limit, &why);
  if (plan->executor)
    return TRUE;
  if (nd_backend_slabs (plan->backend)
      && g_error_matches (why, ND_ERROR, ND_ERROR_MEMORY))
    plan->executor = nd_slabs_executor_new (plan->backend, &plan->job,
        &plan->options, plan->method, device_id, memory_limit, &plan->estimate,
        &text, &why_not);
  if (plan->executor) {
    append_reason (plan, text);
    return TRUE;
  }
  if (why_not && !g_error_matches (why_not, ND_ERROR, ND_ERROR_SETTINGS))
    g_propagate_error (error, g_steal_pointer (&why_not));
  else
    g_propagate_error (error, g_steal_pointer (&why));
  return FALSE;
}

/* All work on one device. */
static gboolean
use_device (NdPlan *plan, gint device_id, NdMethod method, gsize memory_limit,
    GError **error)
{
  return nd_choose_method (plan, method, device_id, memory_limit, error)
      && !nd_set_error_if_cancelled (plan->job.cancelled, error)
      && make_executor (plan, device_id, memory_limit, error);
}

static gboolean
has_slabs (const NdExecutor *spread, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (nd_spread_plan (spread, i)->executor->funcs->in_slabs)
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
  plan->executor = nd_spread_executor_new (plan->backend, &plan->job,
      &plan->options, method, memory_limit, cut, error);
  if (!plan->executor || cut->kind != ND_SPREAD_SLABS || cut->axis == ND_AXIS_Z
      || plan->job.shape.size[2] == 1 || !has_slabs (plan->executor, cut->n))
    return plan->executor != NULL;
  clear_executor (plan);
  g_clear_pointer (why, g_free);
  nd_spread_choose (plan->backend, &plan->job, &plan->options, method, devices,
      FALSE, cut, why);
  plan->executor = nd_spread_executor_new (plan->backend, &plan->job,
      &plan->options, method, memory_limit, cut, error);
  return plan->executor != NULL;
}

/* Divides the work among @devices, if that is possible. */
static gboolean
use_devices (NdPlan *plan, const NdDevices *devices, NdMethod method,
    gsize memory_limit, GError **error)
{
  g_autofree gchar *why = NULL;
  const NdPlan *first;
  NdSpreadCut cut;

  if (!nd_choice_check (plan->backend, &plan->job, error))
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
  first = nd_spread_plan (plan->executor, 0);
  plan->method = first->method;
  for (guint i = 0; i < cut.n; i++)
    plan->estimate =
        MAX (plan->estimate, nd_spread_plan (plan->executor, i)->estimate);
  plan->turns = cut.kind == ND_SPREAD_ROUND ? cut.n : 1;
  plan->reason = g_strdup (first->reason);
  append_reason (plan, why);
  return TRUE;
}

NdPlan *
nd_plan_new_on (const NdJob *job, const NdRingOptions *options,
    const gchar *backend, const NdDevices *devices, NdMethod method,
    gsize memory_limit, GError **error)
{
  g_autoptr (NdPlan) plan = g_new0 (NdPlan, 1);
  g_autoptr (GError) why = NULL;
  const gint first = devices->ids[0];
  g_autofree gchar *kernels = NULL;
  gboolean ok;

  plan->job = *job;
  plan->options = *options;
  plan->bank = nd_bank_copy (job->bank);
  if (!plan->bank) {
    nd_memory_set_error (error,
        nd_size_mul (nd_filter_count (job->bank->filters[0]),
            job->bank->n_filters, sizeof (gdouble)));
    return NULL;
  }
  plan->job.bank = plan->bank;
  plan->turns = 1;
  plan->backend = nd_backend_find (backend, first, error);
  if (!plan->backend)
    return NULL;
  method = nd_choice_replace (plan, method, first);
  if (!backend)
    nd_choose_backend (plan, method, first, &why);
  if (!backend && !why)
    nd_backend_check_fork (&why);
  /* Devices read their own copies of volumes, which do not stay. */
  if (!(plan->backend->flags & ND_BACKEND_HOST_MEMORY))
    plan->options.in_place = FALSE;
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
  kernels = nd_plan_kernels (plan);
  ND_DEBUG (
      "back end %s, method %s, %.4g ms per volume expected, %" G_GSIZE_FORMAT
      " bytes: %s; kernels: %s",
      plan->backend->name, nd_method_name (plan->method), plan->estimate * 1e3,
      nd_plan_bytes (plan), plan->reason, kernels ? kernels : "not said");
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
  clear_executor (plan);
  g_clear_pointer (&plan->bank, nd_bank_free);
  g_free (plan->reason);
  g_free (plan);
}

gboolean
nd_plan_push (NdPlan *plan, guint slot, const NdSamples *volume, GError **error)
{
  return plan->executor->funcs->push (plan->executor, slot, volume, error);
}

gboolean
nd_plan_respond (NdPlan *plan, const gint *slots, const NdScale *scale,
    const NdSamples *out, GError **error)
{
  return plan->executor->funcs->respond (plan->executor, slots, scale, out,
      error);
}

gboolean
nd_plan_repeat (NdPlan *plan, guint from, guint slot, GError **error)
{
  return plan->executor->funcs->repeat (plan->executor, from, slot, error);
}

gboolean
nd_plan_begin (NdPlan *plan, const gint *slots)
{
  return plan->options.ahead
      && plan->executor->funcs->begin (plan->executor, slots);
}

gboolean
nd_plan_has_kept (const NdPlan *plan)
{
  return plan->executor->funcs->kept != NULL;
}

NdSamples
nd_plan_kept (const NdPlan *plan, guint slot)
{
  return plan->executor->funcs->kept (plan->executor, slot);
}

gboolean
nd_plan_copy_kept (NdPlan *plan, guint slot, const NdSamples *to,
    GError **error)
{
  return plan->executor->funcs->copy_kept (plan->executor, slot, to, error);
}

gboolean
nd_plan_retain (NdPlan *plan, GError **error)
{
  return plan->executor->funcs->retain (plan->executor, error);
}

gboolean
nd_plan_wait (NdPlan *plan, NdFence *fence, GError **error)
{
  return plan->executor->funcs->wait (plan->executor, fence, error);
}

guint
nd_plan_take_used (NdPlan *plan, NdRing *rings[ND_MAX_DEVICES],
    gint devices[ND_MAX_DEVICES])
{
  return plan->executor->funcs->take_used (plan->executor, rings, devices);
}

gboolean
nd_plan_finish (NdPlan *plan, GError **error)
{
  return plan->executor->funcs->finish (plan->executor, error);
}

gboolean
nd_plan_synchronize (NdPlan *plan, GError **error)
{
  return nd_plan_retain (plan, error) && nd_plan_finish (plan, error);
}

gsize
nd_plan_bytes (const NdPlan *plan)
{
  return plan->executor->funcs->bytes (plan->executor);
}

gchar *
nd_plan_kernels (const NdPlan *plan)
{
  return plan->executor->funcs->kernels (plan->executor);
}
