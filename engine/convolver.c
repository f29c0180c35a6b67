/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/convolver.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

struct _NdConvolver
{
  NdConvolverSettings settings;
  NdRingOptions options;
  NdPlan *plans[ND_MAX_PLANES];
  NdWindow window;
  gint64 first;      /* position of the first volume that was pushed here */
  gint64 *positions; /* scratch of respond */
  gint *slots;
};

gboolean
nd_convolver_check_time_border (NdBorder border, GError **error)
{
  if (border != ND_BORDER_WRAP)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "time-border=wrap needs the whole stream before the first output and is "
      "not possible: use nearest, reflect, mirror or constant");
  return FALSE;
}

/* Each plan checked its own ring; checks the total. */
static gboolean
check_memory (const NdConvolver *c, GError **error)
{
  return !(c->plans[0]->backend->flags & ND_BACKEND_HOST_MEMORY)
      || nd_memory_check (nd_convolver_bytes (c), error);
}

/* All planes use one back end, so that one fence covers them: the fallback if
 * the preferred one refuses any plane. */
static gboolean
make_plans (NdConvolver *c, GError **error)
{
  const NdConvolverSettings *s = &c->settings;
  const NdBackend *fallback = nd_backend_fallback ();
  guint same = 0;

  for (guint p = 0; p < s->n_planes; p++) {
    c->plans[p] = nd_plan_new (&s->jobs[p], &c->options, s->backend,
        s->device_id, s->method, error);
    if (!c->plans[p])
      return FALSE;
    same += c->plans[p]->backend == c->plans[0]->backend;
  }
  for (guint p = 0; same < s->n_planes && p < s->n_planes; p++) {
    if (c->plans[p]->backend == fallback)
      continue;
    nd_plan_free (c->plans[p]);
    c->plans[p] = nd_plan_new (&s->jobs[p], &c->options, fallback->name,
        s->device_id, s->method, error);
    if (!c->plans[p])
      return FALSE;
  }
  return TRUE;
}

NdConvolver *
nd_convolver_new (const NdConvolverSettings *settings, GError **error)
{
  g_autoptr (NdConvolver) c = g_new0 (NdConvolver, 1);
  const NdReach reach = nd_job_reach (&settings->jobs[0]);

  c->settings = *settings;
  if (!nd_convolver_check_time_border (settings->time_border, error))
    return NULL;
  nd_window_init (&c->window, -reach.low[ND_AXIS_T], reach.high[ND_AXIS_T],
      settings->time_border);
  c->settings.reverse = FALSE;
  nd_convolver_set_reverse (c, settings->reverse);
  c->options.border_volumes =
      settings->time_border == ND_BORDER_CONSTANT && reach.slots > 1;
  c->options.keep = reach.slots > 1;
  if (!make_plans (c, error))
    return NULL;
  for (guint p = 0; p < settings->n_planes; p++) {
    c->settings.jobs[p].bank = NULL; /* the caller's; plans own copies */
    c->settings.jobs[p].cancelled = NULL;
  }
  if (!check_memory (c, error))
    return NULL;
  c->positions = g_new (gint64, reach.slots);
  c->slots = g_new (gint, reach.slots);
  ND_DEBUG ("window of %u volumes before and %u after the anchor, %u planes, "
            "%" G_GSIZE_FORMAT " bytes",
      c->window.before, c->window.after, settings->n_planes,
      nd_convolver_bytes (c));
  return g_steal_pointer (&c);
}

void
nd_convolver_free (NdConvolver *c)
{
  for (guint p = 0; p < ND_MAX_PLANES; p++)
    g_clear_pointer (&c->plans[p], nd_plan_free);
  g_free (c->positions);
  g_free (c->slots);
  g_free (c);
}

const NdWindow *
nd_convolver_window (const NdConvolver *c)
{
  return &c->window;
}

const NdPlan *
nd_convolver_plan (const NdConvolver *c, guint plane)
{
  return c->plans[plane];
}

gsize
nd_convolver_bytes (const NdConvolver *c)
{
  gsize bytes = 0;

  for (guint p = 0; p < c->settings.n_planes; p++)
    bytes += nd_plan_bytes (c->plans[p]);
  return bytes;
}

gboolean
nd_convolver_push (NdConvolver *c, const NdSamples volume[ND_MAX_PLANES],
    GError **error)
{
  guint slot = c->window.pushed % nd_window_size (&c->window);

  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_push (c->plans[p], slot, &volume[p], error))
      return FALSE;
  }
  ND_LOG ("volume %" G_GINT64_FORMAT " pushed into slot %u", c->window.pushed,
      slot);
  nd_window_push (&c->window);
  return TRUE;
}

gboolean
nd_convolver_repeat (NdConvolver *c, GError **error)
{
  const guint slot = (c->window.pushed - 1) % nd_window_size (&c->window);
  NdSamples volume[ND_MAX_PLANES];

  g_return_val_if_fail (nd_window_size (&c->window) > 1, FALSE);
  g_return_val_if_fail (c->window.pushed > 0, FALSE);
  for (guint p = 0; p < c->settings.n_planes; p++)
    volume[p] = c->plans[p]->backend->kept (c->plans[p]->ring, slot);
  return nd_convolver_push (c, volume, error);
}

gboolean
nd_convolver_wait (NdConvolver *c, NdFence *fence, GError **error)
{
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_fence_wait (fence, c->plans[p]->backend, c->plans[p]->ring, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_convolver_record (NdConvolver *c, NdFence **fence, GError **error)
{
  NdRing *rings[ND_MAX_PLANES];

  for (guint p = 0; p < c->settings.n_planes; p++)
    rings[p] = c->plans[p]->ring;
  return nd_fence_record (c->plans[0]->backend, rings, c->settings.n_planes,
      fence, error);
}

gboolean
nd_convolver_synchronize (NdConvolver *c, GError **error)
{
  g_autoptr (NdFence) fence = NULL;

  return nd_convolver_record (c, &fence, error)
      && (!fence || nd_fence_synchronize (fence, NULL, error));
}

void
nd_convolver_end (NdConvolver *c)
{
  nd_window_end (&c->window);
}

gboolean
nd_convolver_ready (const NdConvolver *c)
{
  return nd_window_ready (&c->window);
}

gboolean
nd_convolver_respond (NdConvolver *c, const NdScale scale[ND_MAX_PLANES],
    const NdSamples out[ND_MAX_PLANES], GError **error)
{
  guint size = nd_window_size (&c->window);

  nd_window_positions (&c->window, c->positions);
  for (guint i = 0; i < size; i++) {
    gint64 position = c->positions[c->settings.reverse ? size - 1 - i : i];

    c->slots[i] = position == ND_POSITION_BORDER ? ND_SLOT_BORDER
                                                 : (gint) (position % size);
  }
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_respond (c->plans[p], c->slots, &scale[p], &out[p], error))
      return FALSE;
  }
  ND_LOG ("output %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT " volumes",
      c->window.anchor, c->window.pushed);
  nd_window_advance (&c->window);
  return TRUE;
}

void
nd_convolver_skip (NdConvolver *c)
{
  ND_LOG ("output %" G_GINT64_FORMAT " skipped", c->window.anchor);
  nd_window_advance (&c->window);
}

void
nd_convolver_reset (NdConvolver *c)
{
  if (c->window.pushed > 0)
    ND_DEBUG ("window restarts after %" G_GINT64_FORMAT " volumes and "
              "%" G_GINT64_FORMAT " outputs",
        c->window.pushed, c->window.anchor);
  nd_window_reset (&c->window);
  c->first = 0;
}

void
nd_convolver_set_reverse (NdConvolver *c, gboolean reverse)
{
  if (c->settings.reverse != reverse)
    nd_window_init (&c->window, c->window.after, c->window.before,
        c->window.border);
  c->settings.reverse = reverse;
  nd_convolver_reset (c);
}

gboolean
nd_convolver_continue (NdConvolver *next, NdConvolver *old)
{
  g_autoptr (NdFence) fence = NULL;
  const NdWindow *from = &old->window;
  gint64 held = MAX (old->first, from->pushed - nd_window_size (from));
  gint64 needed = MAX (0, from->anchor - nd_window_back (&next->window));

  if (!old->options.keep)
    held = from->pushed;
  if (needed < held || from->ended
      || old->settings.reverse != next->settings.reverse) {
    ND_INFO ("window not kept: output %" G_GINT64_FORMAT " needs volumes from "
             "%" G_GINT64_FORMAT ", kept are those from %" G_GINT64_FORMAT
             "%s%s",
        from->anchor, needed, held, from->ended ? "; the stream ended" : "",
        old->settings.reverse != next->settings.reverse ? "; other direction"
                                                        : "");
    return FALSE;
  }
  /* The upload of a kept volume may not be complete. */
  if (!nd_convolver_record (old, &fence, NULL)
      || (fence && !nd_convolver_wait (next, fence, NULL)))
    return FALSE;
  ND_INFO ("window kept: volumes %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
           " are pushed again",
      needed, from->pushed - 1);
  next->first = needed;
  next->window.pushed = needed;
  next->window.anchor = from->anchor;
  return TRUE;
}

/* Plane @p of the volume that @old keeps in @slot, as @next can read it. @copy
 * is to be freed. */
static gboolean
find_kept (const NdConvolver *next, const NdConvolver *old, guint p, guint slot,
    NdSamples *samples, gpointer *copy, GError **error)
{
  const NdBackend *backend = old->plans[p]->backend;
  const NdJob *job = &old->settings.jobs[p];
  gsize bytes;

  *samples = backend->kept (old->plans[p]->ring, slot);
  *copy = NULL;
  if (!backend->memory || backend == next->plans[p]->backend)
    return TRUE;
  bytes = job->shape.size[2] * samples->slice;
  *copy = g_malloc (bytes);
  if (!backend->memory->copy (*copy, samples->data, bytes, error))
    return FALSE;
  *samples = nd_samples_dense (*copy, &job->shape, job->in_type);
  return TRUE;
}

gboolean
nd_convolver_replay (NdConvolver *next, const NdConvolver *old, GError **error)
{
  NdSamples volume[ND_MAX_PLANES];
  gpointer copies[ND_MAX_PLANES] = { NULL };
  guint slot = next->window.pushed % nd_window_size (&old->window);
  gboolean ok = TRUE;

  if (next->window.pushed >= old->window.pushed)
    return FALSE;
  for (guint p = 0; ok && p < next->settings.n_planes; p++)
    ok = find_kept (next, old, p, slot, &volume[p], &copies[p], error);
  ok = ok && nd_convolver_push (next, volume, error);
  for (guint p = 0; p < next->settings.n_planes; p++)
    g_free (copies[p]);
  return ok;
}
