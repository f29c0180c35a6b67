/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/padded.h"

#include "core/memory.h"
#include "core/threads.h"

/* Rows start on cache lines of 64 bytes. */
#define ROW_FLOATS 16

#define ROWS_PER_TASK 16

gboolean
nd_padded_init (NdPadded *padded, const NdJob *job, const NdReach *reach,
    guint n_volumes, GError **error)
{
  NdPad *pad = &padded->pad;
  gsize floats = G_MAXSIZE;

  padded->memory = NULL;
  padded->components = job->shape.components;
  padded->n_volumes = n_volumes;
  if (nd_pad_init (pad, job, reach)) {
    padded->strides.row =
        (pad->size[0] + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
    padded->strides.slice = nd_size_mul (padded->strides.row, pad->size[1], 1);
    floats = nd_size_mul (padded->strides.slice, pad->size[2], 1);
    if (!g_size_checked_add (&floats, floats,
            nd_stencil_slack (&padded->strides)))
      floats = G_MAXSIZE;
  }
  padded->floats = floats;
  padded->memory =
      nd_floats_new (nd_size_mul (floats, n_volumes, padded->components),
          error);
  if (!padded->memory) {
    nd_padded_clear (padded);
    return FALSE;
  }
  return TRUE;
}

void
nd_padded_clear (NdPadded *padded)
{
  nd_pad_clear (&padded->pad);
  g_clear_pointer (&padded->memory, g_free);
}

gsize
nd_padded_bytes (const NdPadded *padded)
{
  return padded->floats * padded->n_volumes * padded->components
      * sizeof (NdReal);
}

NdReal *
nd_padded_volume (const NdPadded *padded, guint slot, gsize component)
{
  return padded->memory
      + padded->floats * (slot * padded->components + component);
}

typedef struct
{
  const NdPadded *padded;
  guint slot;
  const NdSamples *volume;
} Push;

static void
push_task (gsize index, guint worker, gpointer data)
{
  const Push *push = data;
  const NdPadded *padded = push->padded;
  const gsize *size = padded->pad.size;
  gsize rows = size[1] * size[2];
  gsize end = MIN ((index + 1) * ROWS_PER_TASK, rows);

  for (gsize i = index * ROWS_PER_TASK; i < end; i++) {
    gsize y = i % size[1], z = i / size[1];

    for (gsize c = 0; c < padded->components; c++)
      nd_pad_row (&padded->pad, push->volume, c, y, z,
          nd_padded_volume (padded, push->slot, c) + z * padded->strides.slice
              + y * padded->strides.row);
  }
}

void
nd_padded_push (const NdPadded *padded, guint slot, const NdSamples *volume)
{
  Push push = { .padded = padded, .slot = slot, .volume = volume };
  gsize rows = padded->pad.size[1] * padded->pad.size[2];

  nd_parallel_for ((rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, push_task,
      &push);
}
