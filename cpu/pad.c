/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/pad.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <string.h>

gboolean
nd_pad_init (NdPad *pad, const NdJob *job, const NdReach *reach, GError **error)
{
  memset (pad, 0, sizeof (*pad));
  pad->kernels = nd_kernels ();
  pad->shape = job->shape;
  pad->type = job->in_type;
  pad->border_value = job->border_value;

  for (guint a = 0; a < 3; a++) {
    gsize n = job->shape.size[a];
    gsize around = reach->high[a] - reach->low[a];

    if (!g_size_checked_add (&pad->size[a], n, around))
      nd_memory_set_error (error, G_MAXSIZE);
    else
      pad->edge[a] = nd_memory_new (around, sizeof (gssize), error);
    if (!pad->edge[a]) {
      nd_pad_clear (pad);
      return FALSE;
    }
    pad->before[a] = -reach->low[a];
    for (gsize i = 0; i < around; i++) {
      gint64 at = (gint64) i + reach->low[a];

      pad->edge[a][i] = nd_border_index (job->border,
          i < pad->before[a] ? at : at + (gint64) n, n);
    }
  }
  return TRUE;
}

void
nd_pad_fold (NdPad *pad, NdBorder border, gsize components)
{
  const gsize width = pad->shape.size[0], around = pad->size[0] - width;

  for (gsize i = 0; i < around; i++) {
    const gint64 at = (gint64) i - (gint64) pad->before[0]
        + (i < pad->before[0] ? 0 : (gint64) width);
    const gint64 component = ((at % (gint64) components) + (gint64) components)
        % (gint64) components;
    const gssize sample = nd_border_index (border,
        (at - component) / (gint64) components, width / components);

    pad->edge[0][i] =
        sample < 0 ? -1 : sample * (gssize) components + component;
  }
}

/* The index of padded sample @i along @axis in the volume, or -1 for the border
 * value. */
static gssize
pad_find (const NdPad *pad, guint axis, gsize i)
{
  gsize n = pad->shape.size[axis];

  if (i < pad->before[axis])
    return pad->edge[axis][i];
  i -= pad->before[axis];
  return i < n ? (gssize) i : pad->edge[axis][i - n + pad->before[axis]];
}

void
nd_pad_clear (NdPad *pad)
{
  for (guint a = 0; a < 3; a++)
    g_clear_pointer (&pad->edge[a], g_free);
}

static void
fill_row (NdReal *row, gsize n, NdReal value)
{
  for (gsize i = 0; i < n; i++)
    row[i] = value;
}

void
nd_pad_row (const NdPad *pad, const NdSamples *volume, gsize c, gsize y,
    gsize z, NdReal *row)
{
  gssize sy = pad_find (pad, ND_AXIS_Y, y);
  gssize sz = pad_find (pad, ND_AXIS_Z, z);
  gsize n = pad->size[ND_AXIS_X];
  gsize width = pad->shape.size[ND_AXIS_X];
  gsize bytes = nd_sample_size (pad->type);
  gsize before = pad->before[ND_AXIS_X];
  NdReal *inner = row + before;

  if (!volume || sy < 0 || sz < 0) {
    fill_row (row, n, pad->border_value);
    return;
  }
  pad->kernels->load (volume->data + c * bytes + sy * volume->row
          + sz * volume->slice,
      volume->sample / bytes, width, pad->type, inner);
  for (gsize i = 0; i < n - width; i++) {
    gssize at = pad->edge[ND_AXIS_X][i];

    row[i < before ? i : i + width] = at < 0 ? pad->border_value : inner[at];
  }
}

/* Padded samples @from to before @to, of which none is in the row, at the same
 * indices of @part. */
static void
pad_part_edge (const NdPad *pad, const guint8 *data, gsize sample, gsize from,
    gsize to, NdReal *part)
{
  for (gsize i = from; i < to; i++) {
    const gssize at = pad_find (pad, ND_AXIS_X, i);

    if (at < 0)
      part[i] = pad->border_value;
    else
      pad->kernels->load (data + at * sample, 1, 1, pad->type, part + i);
  }
}

void
nd_pad_part (const NdPad *pad, const NdSamples *volume, gsize c, gsize x,
    gsize n, NdReal *part)
{
  const gsize width = pad->shape.size[0], before = pad->before[0];
  const gsize bytes = nd_sample_size (pad->type);
  const guint8 *data = volume->data + c * bytes;
  const gsize first = CLAMP (x, before, before + width);
  const gsize last = CLAMP (x + n, before, before + width);

  if (first < last)
    pad->kernels->load (data + (first - before) * volume->sample,
        volume->sample / bytes, last - first, pad->type, part + (first - x));
  pad_part_edge (pad, data, volume->sample, x, MIN (first, x + n), part - x);
  pad_part_edge (pad, data, volume->sample, MAX (last, x), x + n, part - x);
}

NdReal *
nd_floats_new (gsize n, GError **error)
{
  const gsize bytes = nd_size_mul (n, sizeof (NdReal), 1);
  NdReal *floats;

  if (!nd_memory_check (bytes, error))
    return NULL;
  floats = g_try_malloc0 (bytes);
  if (!floats)
    nd_memory_set_error (error, bytes);
  return floats;
}

/* Rows start on cache lines of 64 bytes. */
#define ROW_FLOATS 16

#define ROWS_PER_TASK 16

gboolean
nd_padded_init (NdPadded *padded, const NdJob *job, const NdReach *reach,
    guint n_volumes, GError **error)
{
  NdPad *pad = &padded->pad;
  gsize floats;

  padded->memory = NULL;
  padded->components = job->shape.components;
  padded->n_volumes = n_volumes;
  if (!nd_pad_init (pad, job, reach, error))
    return FALSE;
  padded->strides.row =
      (pad->size[0] + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
  padded->strides.slice = nd_size_mul (padded->strides.row, pad->size[1], 1);
  floats = nd_size_mul (padded->strides.slice, pad->size[2], 1);
  if (!g_size_checked_add (&floats, floats,
          nd_stencil_slack (&padded->strides)))
    floats = G_MAXSIZE;
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
pad_push_task (gsize index, guint worker, gpointer data)
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

  nd_parallel_for ((rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK, pad_push_task,
      &push);
}
