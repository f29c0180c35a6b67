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
convolver_check_memory (const NdConvolver *c, GError **error)
{
  return !(c->plans[0]->backend->flags & ND_BACKEND_HOST_MEMORY)
      || nd_memory_check (nd_convolver_bytes (c), error);
}

/* The part of the limit that plane @p gets, in proportion to its samples. */
static gsize
limit_of_plane (const NdConvolverSettings *s, guint p)
{
  gdouble all = 0, own = 0;

  for (guint i = 0; i < s->n_planes; i++) {
    const NdShape *shape = &s->jobs[i].shape;
    const gdouble samples = (gdouble) shape->components * shape->size[0]
        * shape->size[1] * shape->size[2];

    all += samples;
    own += i == p ? samples : 0;
  }
  return s->n_planes == 1 || s->memory_limit == 0
      ? s->memory_limit
      : MAX (1, s->memory_limit * (own / all));
}

/* The devices of the settings. If there is no back end with devices, the CPU is
 * used and @note says that they have no effect. */
static gboolean
find_devices (const NdConvolverSettings *s, NdDevices *devices,
    const gchar **note, GError **error)
{
  const gint first = nd_devices_first (s->devices, s->device_id);
  const NdBackend *backend;

  *devices = (NdDevices){ .n = 1, .ids = { s->device_id } };
  if (!s->devices || *s->devices == '\0')
    return TRUE;
  if (!nd_devices_check (s->devices, error))
    return FALSE;
  backend = nd_backend_find (s->backend, first, NULL);
  if (!backend || !backend->memory)
    backend = nd_backend_find (s->backend, -1, error);
  if (!backend)
    return FALSE;
  if (!backend->memory) {
    *note = "devices has no effect, because this back end has none";
    return TRUE;
  }
  if (!nd_devices_find (s->devices, s->device_id, backend, devices, error))
    return FALSE;
  devices->volumes = s->volumes;
  devices->waits = s->waits;
  return TRUE;
}

static NdPlan *
convolver_make_plan (const NdConvolver *c, guint p, const gchar *backend,
    const NdDevices *devices, const gchar *note, GError **error)
{
  const NdConvolverSettings *s = &c->settings;
  NdPlan *plan = nd_plan_new_on (&s->jobs[p], &c->options, backend, devices,
      s->method, limit_of_plane (s, p), error);

  if (plan && devices->n > 1 && !plan->backend->memory)
    note = "devices has no effect, because this back end has none";
  if (plan && note) {
    g_autofree gchar *reason = plan->reason;

    plan->reason = g_strdup_printf ("%s; %s", reason, note);
  }
  return plan;
}

/* All planes use one back end, so that one fence covers them: the fallback if
 * the preferred one refuses any plane. */
static gboolean
make_plans (NdConvolver *c, GError **error)
{
  const NdConvolverSettings *s = &c->settings;
  const NdBackend *fallback = nd_backend_fallback ();
  const gchar *note = NULL;
  NdDevices devices;
  guint same = 0;

  if (!find_devices (s, &devices, &note, error))
    return FALSE;
  for (guint p = 0; p < s->n_planes; p++) {
    c->plans[p] = convolver_make_plan (c, p, s->backend, &devices, note, error);
    if (!c->plans[p])
      return FALSE;
    same += c->plans[p]->backend == c->plans[0]->backend;
  }
  for (guint p = 0; same < s->n_planes && p < s->n_planes; p++) {
    if (c->plans[p]->backend == fallback)
      continue;
    nd_plan_free (c->plans[p]);
    c->plans[p] =
        convolver_make_plan (c, p, fallback->name, &devices, note, error);
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
  c->options.ahead = settings->ahead && reach.slots > 1;
  c->options.in_place = settings->in_place && reach.slots == 1;
  if (!make_plans (c, error))
    return NULL;
  for (guint p = 0; p < settings->n_planes; p++) {
    c->settings.jobs[p].bank = NULL; /* the caller's; plans own copies */
    c->settings.jobs[p].cancelled = NULL;
  }
  c->settings.devices = c->settings.backend = NULL;
  if (!convolver_check_memory (c, error))
    return NULL;
  c->positions = nd_memory_new (reach.slots, sizeof (gint64), error);
  if (!c->positions)
    return NULL;
  c->slots = nd_memory_new (reach.slots, sizeof (gint), error);
  if (!c->slots)
    return NULL;
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

guint
nd_convolver_turns (const NdConvolver *c)
{
  return c->plans[0]->turns;
}

gsize
nd_convolver_bytes (const NdConvolver *c)
{
  gsize bytes = 0;

  for (guint p = 0; p < c->settings.n_planes; p++)
    bytes += nd_plan_bytes (c->plans[p]);
  return bytes;
}

static guint
next_slot (const NdConvolver *c)
{
  return c->window.pushed % nd_window_size (&c->window);
}

static void
count_push (NdConvolver *c)
{
  ND_LOG ("volume %" G_GINT64_FORMAT " pushed into slot %u", c->window.pushed,
      next_slot (c));
  nd_window_push (&c->window);
}

gboolean
nd_convolver_push (NdConvolver *c, const NdSamples volume[ND_MAX_PLANES],
    GError **error)
{
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_push (c->plans[p], next_slot (c), &volume[p], error))
      return FALSE;
  }
  count_push (c);
  return TRUE;
}

gboolean
nd_convolver_can_repeat (const NdConvolver *c)
{
  return c->options.keep && c->window.pushed > c->first;
}

gboolean
nd_convolver_repeat (NdConvolver *c, GError **error)
{
  const guint from = (c->window.pushed - 1) % nd_window_size (&c->window);

  g_return_val_if_fail (nd_convolver_can_repeat (c), FALSE);
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_repeat (c->plans[p], from, next_slot (c), error))
      return FALSE;
  }
  count_push (c);
  return TRUE;
}

gboolean
nd_convolver_wait (NdConvolver *c, NdFence *fence, GError **error)
{
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_wait (c->plans[p], fence, error))
      return FALSE;
  }
  return TRUE;
}

/* Copies volumes that outputs will read after the caller has freed them. */
static gboolean
retain (NdConvolver *c, GError **error)
{
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (nd_convolver_ready (c) && !nd_plan_retain (c->plans[p], error))
      return FALSE;
  }
  return TRUE;
}

gboolean
nd_convolver_record (NdConvolver *c, NdFence **fence, GError **error)
{
  NdRing *rings[ND_MAX_PLANES * ND_MAX_DEVICES];
  gint devices[ND_MAX_PLANES * ND_MAX_DEVICES];
  guint n = 0;

  *fence = NULL;
  if (!retain (c, error))
    return FALSE;
  for (guint p = 0; p < c->settings.n_planes; p++)
    n += nd_plan_take_used (c->plans[p], rings + n, devices + n);
  return nd_fence_record (c->plans[0]->backend, rings, devices, n, fence,
      error);
}

gboolean
nd_convolver_synchronize (NdConvolver *c, GError **error)
{
  gboolean ok = retain (c, error);

  for (guint p = 0; p < c->settings.n_planes; p++)
    ok = nd_plan_finish (c->plans[p], ok ? error : NULL) && ok;
  return ok;
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

/* Finds the slots of the volumes that the next output of @window reads. */
static void
find_slots (NdConvolver *c, const NdWindow *window)
{
  const guint size = nd_window_size (window);

  nd_window_positions (window, c->positions);
  for (guint i = 0; i < size; i++) {
    gint64 position = c->positions[c->settings.reverse ? size - 1 - i : i];

    c->slots[i] = position == ND_POSITION_BORDER ? ND_SLOT_BORDER
                                                 : (gint) (position % size);
  }
}

gboolean
nd_convolver_respond (NdConvolver *c, const NdScale scale[ND_MAX_PLANES],
    const NdSamples out[ND_MAX_PLANES], GError **error)
{
  find_slots (c, &c->window);
  for (guint p = 0; p < c->settings.n_planes; p++) {
    if (!nd_plan_respond (c->plans[p], c->slots, &scale[p], &out[p], error))
      return FALSE;
  }
  ND_LOG ("output %" G_GINT64_FORMAT " after %" G_GINT64_FORMAT " volumes",
      c->window.anchor, c->window.pushed);
  nd_window_advance (&c->window);
  return TRUE;
}

/* Whether the next output lacks one volume, which is the last of its window and
 * no other one. */
static gboolean
lacks_one (const NdConvolver *c, const NdWindow *with_next)
{
  const gint64 next = c->window.pushed;
  const guint size = nd_window_size (&c->window);

  if (c->window.ended || nd_convolver_ready (c) || !nd_window_ready (with_next))
    return FALSE;
  nd_window_positions (with_next, c->positions);
  for (guint i = 0; i + 1 < size; i++) {
    if (c->positions[i] == next)
      return FALSE;
  }
  return c->positions[size - 1] == next;
}

gboolean
nd_convolver_begin (NdConvolver *c)
{
  NdWindow with_next = c->window;
  gboolean begun = FALSE;

  /* In reverse the last volume is the first of the window. */
  if (!c->options.ahead || c->settings.reverse)
    return FALSE;
  with_next.pushed++;
  if (!lacks_one (c, &with_next))
    return FALSE;
  find_slots (c, &with_next);
  for (guint p = 0; p < c->settings.n_planes; p++)
    begun |= nd_plan_begin (c->plans[p], c->slots);
  return begun;
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
  /* The upload of a kept volume may not be complete. Each device of several
   * would have to wait for all others. */
  if (!nd_plan_has_kept (next->plans[0]) || !nd_plan_has_kept (old->plans[0])) {
    if (!nd_convolver_synchronize (old, NULL))
      return FALSE;
  } else if (!nd_convolver_record (old, &fence, NULL)
      || (fence && !nd_convolver_wait (next, fence, NULL))) {
    return FALSE;
  }
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
convolver_find_kept (const NdConvolver *next, NdConvolver *old, guint p,
    guint slot, NdSamples *samples, gpointer *copy, GError **error)
{
  NdPlan *plan = old->plans[p];
  const NdJob *job = &old->settings.jobs[p];
  gsize bytes;

  *copy = NULL;
  if (nd_plan_has_kept (plan)
      && (!plan->backend->memory || plan->backend == next->plans[p]->backend)) {
    *samples = nd_plan_kept (plan, slot);
    return TRUE;
  }
  *samples = nd_samples_dense (NULL, &job->shape, job->in_type);
  bytes = samples->response;
  *copy = samples->data = g_try_malloc (bytes);
  if (!*copy) {
    nd_memory_set_error (error, bytes);
    return FALSE;
  }
  return nd_plan_copy_kept (plan, slot, samples, error);
}

gboolean
nd_convolver_replay (NdConvolver *next, NdConvolver *old, GError **error)
{
  NdSamples volume[ND_MAX_PLANES];
  gpointer copies[ND_MAX_PLANES] = { NULL };
  guint slot = next->window.pushed % nd_window_size (&old->window);
  gboolean ok = TRUE;

  if (next->window.pushed >= old->window.pushed)
    return FALSE;
  for (guint p = 0; ok && p < next->settings.n_planes; p++)
    ok =
        convolver_find_kept (next, old, p, slot, &volume[p], &copies[p], error);
  ok = ok && nd_convolver_push (next, volume, error);
  for (guint p = 0; p < next->settings.n_planes; p++) {
    if (copies[p])
      ok = nd_plan_synchronize (next->plans[p], ok ? error : NULL) && ok;
    g_free (copies[p]);
  }
  return ok;
}
