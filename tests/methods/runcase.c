/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "tests/methods/runcase.h"

#include "tests/methods/outputs.h"
#include "tests/methods/window.h"

#include <string.h>

/* Volumes and responses in host memory, or copies of them on the device. */
typedef struct
{
  const NdBackend *backend; /* NULL if in host memory */
  guint8 *host, *memory;
  gsize bytes;
} Place;

/* The error of a step that must not fail. */
static GError *failure;

static void
succeeded (gboolean ok)
{
  g_assert_no_error (failure);
  g_assert_true (ok);
}

static Place
place_new (const Case *c, const NdPlan *plan, guint8 *host, gsize bytes)
{
  Place place = { .host = host, .memory = host, .bytes = bytes };

  if (!c->resident || !plan->backend->memory)
    return place;
  place.backend = plan->backend;
  place.memory = place.backend->memory->alloc (-1, bytes, &failure);
  succeeded (place.memory != NULL);
  succeeded (place.backend->memory->copy (place.memory, host, bytes, &failure));
  return place;
}

static void
place_free (Place *place, gboolean fetch)
{
  if (!place->backend)
    return;
  if (fetch)
    succeeded (place->backend->memory->copy (place->host, place->memory,
        place->bytes, &failure));
  place->backend->memory->free (place->memory);
}

static void
push (NdPlan *plan, const Case *c, guint slot, const Place *volumes,
    guint which)
{
  NdSamples in = c->in;

  in.data = volumes->memory + which * c->in_bytes;
  succeeded (nd_plan_push (plan, slot, &in, &failure));
}

/* Slot @slot of @plan keeps volume @which. */
static void
check_kept (const Case *c, NdPlan *plan, guint slot, const guint8 *volumes,
    guint which)
{
  const NdShape *shape = &plan->job.shape;
  NdSamples kept = nd_samples_dense (NULL, shape, plan->job.in_type);
  g_autofree guint8 *memory = g_malloc (kept.response);

  kept.data = memory;
  succeeded (nd_plan_copy_kept (plan, slot, &kept, &failure));
  for (gsize z = 0; z < shape->size[2]; z++)
    for (gsize y = 0; y < shape->size[1]; y++)
      g_assert_true (memcmp (memory + z * kept.slice + y * kept.row,
                         volumes + which * c->in_bytes + z * c->in.slice
                             + y * c->in.row,
                         kept.row)
          == 0);
}

/* Filters the volumes of all outputs in a row. @out: the first output. */
static void
respond_in_turn (NdPlan *plan, const Case *c, const Place *volumes,
    NdSamples out, gsize bytes, gboolean apart)
{
  /* An output is written twice, and first with responses of another kind: the
   * second time must come last. Devices that take volumes in turn do not wait
   * for each other, so that no two of their outputs may be in the same
   * memory. */
  const gboolean twice = plan->backend->memory != NULL && !apart;
  const gint slot = 0;

  for (guint n = twice ? 0 : c->outputs; n < 2 * c->outputs; n++) {
    const guint i = n % c->outputs;
    const guint like = n < c->outputs ? (i + 2) % OUTPUTS : i;
    const NdScale scale = output_scale (c, like);
    NdSamples to = out;

    to.data += output_at (i, bytes) - output_at (0, bytes);
    push (plan, c, slot, volumes, output_volume (c, like));
    succeeded (nd_plan_respond (plan, &slot, &scale, &to, &failure));
  }
}

/* Begins outputs that are not completed: nothing of them may remain. Returns
 * whether @plan begins outputs. */
static gboolean
begin_in_vain (NdPlan *plan, const Case *c, const Place *volumes)
{
  const gint last = c->slots[c->reach.slots - 1];
  gboolean begun;

  nd_plan_begin (plan, c->slots);
  push (plan, c, 0, volumes, c->reach.slots);
  begun = nd_plan_begin (plan, c->slots);
  push (plan, c, 0, volumes, 0);
  if (last == 0)
    return begun;
  if (last != ND_SLOT_BORDER)
    push (plan, c, last, volumes, c->reach.slots);
  nd_plan_begin (plan, c->slots);
  if (last != ND_SLOT_BORDER)
    push (plan, c, last, volumes, last);
  return begun;
}

/* Moves the window to that of the last output. */
static void
move (NdPlan *plan, const Case *c, const Place *volumes, Window *window,
    const NdSamples *out)
{
  g_autofree gint *slots = g_new (gint, window->n);

  for (guint i = 0; i < c->moves; i++) {
    memcpy (slots, window->slots, window->n * sizeof (gint));

    const Step step = window_step (window);
    const NdScale scale = output_scale (c, step.scale);

    if (step.responds)
      succeeded (nd_plan_respond (plan, slots, &scale, out, &failure));
    if (step.begins)
      nd_plan_begin (plan, window->slots);
    if (step.pushed >= 0 && step.volume >= 0)
      push (plan, c, step.pushed, volumes, step.volume);
    else if (step.pushed >= 0)
      succeeded (nd_plan_repeat (plan, step.from, step.pushed, &failure));
  }
}

/* The reference computes the last output only. */
static void
skip_moves (NdPlan *plan, const Case *c, const Place *volumes, Window *window)
{
  for (guint i = 0; i < c->moves; i++)
    window_step (window);
  for (guint t = 0; t < window->n; t++)
    push (plan, c, t, volumes, window->volume[t]);
}

guint8 *
case_run (const Case *c, NdPlan *plan, const guint8 *volumes, gboolean apart,
    gsize *bytes, gboolean *begun)
{
  const NdSamples in_memory = outputs_place (c, &plan->job);
  const gsize each = outputs_bytes (&in_memory, &plan->job);
  guint8 *memory = outputs_new (c, &plan->job);
  NdSamples out = in_memory;
  Window window;
  Place from, to;

  from = place_new (c, plan, (guint8 *) volumes,
      c->in_bytes * (c->reach.slots + 1));
  to = place_new (c, plan, memory, output_at (c->outputs, each));
  out.data = to.memory + GUARD;
  /* Push twice: nothing of the first volume may remain. */
  for (guint t = 0; t < c->reach.slots; t++) {
    push (plan, c, t, &from, c->reach.slots);
    push (plan, c, t, &from, t);
  }
  if (begun)
    *begun = begin_in_vain (plan, c, &from);
  window_init (&window, c);
  if (plan->method == ND_METHOD_REFERENCE)
    skip_moves (plan, c, &from, &window);
  else
    move (plan, c, &from, &window, &out);
  if (c->outputs > 1)
    respond_in_turn (plan, c, &from, out, each, apart);
  else
    succeeded (nd_plan_respond (plan, window.slots, &c->scale, &out, &failure));
  window_clear (&window);
  /* The device may still be reading: later writes must not reach it. */
  for (guint t = 0; t < c->reach.slots; t++)
    push (plan, c, t, &from, c->reach.slots);
  succeeded (nd_plan_synchronize (plan, &failure));
  if (plan->options.keep && plan->backend->memory)
    check_kept (c, plan, 0, volumes, c->reach.slots);
  place_free (&from, FALSE);
  place_free (&to, TRUE);
  g_assert_cmpuint (nd_plan_bytes (plan), >, 0);
  return outputs_pack (c, &plan->job, memory, bytes);
}
