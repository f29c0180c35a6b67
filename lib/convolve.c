/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "lib/private.h"

/* Volumes that each device may have in its queue. */
#define QUEUE 8

/* With time-border=wrap, positions of the stream are those of the array, before
 * and after which there is as much of its other end as the filter reaches. */
typedef struct
{
  NdStream *stream;
  const NdVolumes *in, *out;
  const NdWatch *watch;
  gsize before; /* outputs that do not count */
  gsize seen;   /* outputs, counted or not */
  gsize queued; /* outputs since the last wait */
} Run;

static gboolean
respond (Run *run, GError **error)
{
  const NdWatch *watch = run->watch;
  gsize at = run->seen++;
  NdStrided out;

  if (at < run->before || at - run->before >= run->out->volumes) {
    nd_stream_skip (run->stream);
    return TRUE;
  }
  at -= run->before;
  out = nd_volumes_get (run->out, at);
  if (!nd_stream_respond (run->stream, &out, run->out->on_device, error))
    return FALSE;
  if (++run->queued == QUEUE * nd_stream_turns (run->stream)
      || at + 1 == run->out->volumes) {
    run->queued = 0;
    if (!nd_stream_synchronize (run->stream, error))
      return FALSE;
  }
  if (watch && watch->progress)
    watch->progress (at + 1, run->out->volumes, watch->data);
  return TRUE;
}

static gboolean
respond_while_ready (Run *run, GError **error)
{
  while (nd_stream_ready (run->stream)) {
    if (!respond (run, error))
      return FALSE;
  }
  return TRUE;
}

/* @before and @after are volumes of the other end. */
static gboolean
filter (Run *run, gsize before, gsize after, GError **error)
{
  const gsize n = run->in->volumes;
  const gint *cancelled = run->watch ? run->watch->cancelled : NULL;

  run->before = before;
  for (gsize i = 0; i < before + n + after; i++) {
    /* n - before % n + i, without a number below 0 */
    const gsize t = (i + n - before % n) % n;
    const NdStrided volume = nd_volumes_get (run->in, t);

    if (nd_set_error_if_cancelled (cancelled, error)
        || !nd_stream_enqueue (run->stream, &volume, run->in->on_device, error)
        || !respond_while_ready (run, error))
      return FALSE;
  }
  nd_stream_end (run->stream);
  return respond_while_ready (run, error);
}

static gboolean
check_output (const NdVolumes *in, const NdVolumes *out, const NdVolumes *like,
    gboolean wraps, GError **error)
{
  const gsize *n = out->shape.size, *m = like->shape.size;

  if (out->type != like->type)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The output has %s samples; the filter gives %s: set output-type or "
        "use an output of that type",
        nd_sample_name (out->type), nd_sample_name (like->type));
  else if (n[0] != m[0] || n[1] != m[1] || n[2] != m[2]
      || out->volumes != like->volumes
      || out->shape.components != like->shape.components
      || out->responses != like->responses)
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The output has %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT " samples of %" G_GSIZE_FORMAT
        " components and %u responses; it must have %" G_GSIZE_FORMAT
        "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
        " of %" G_GSIZE_FORMAT " and %u",
        n[0], n[1], n[2], out->volumes, out->shape.components, out->responses,
        m[0], m[1], m[2], like->volumes, like->shape.components,
        like->responses);
  else if (nd_volumes_overlap (in, out)
      && (wraps || !nd_volumes_are_same (in, out)))
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The memory of the output overlaps that of the input: use memory of "
        "its own%s",
        wraps ? "" : ", or the input itself");
  else
    return TRUE;
  return FALSE;
}

/* Without volumes there is nothing to do. */
static gboolean
check (const NdFilters *filters, const NdSettings *settings, const NdArray *in,
    const NdArray *out, NdVolumes *from, NdVolumes *to, GError **error)
{
  NdVolumes like;

  return nd_volumes_init (from, in, "The input", in->size[3] > 0, error)
      && nd_volumes_init (to, out, "The output", out->size[3] > 0, error)
      && nd_volumes_init_output (&like, from, filters, settings, error)
      && check_output (from, to, &like,
          settings->conv.time_border == ND_BORDER_WRAP, error);
}

gboolean
nd_convolve (const NdFilters *filters, const NdSettings *settings,
    const NdArray *in, const NdArray *out, const NdWatch *watch, GError **error)
{
  NdSettings s = *nd_settings_or_default (settings);
  g_autoptr (NdStream) stream = NULL;
  NdVolumes from, to;
  gint low[ND_AXES], high[ND_AXES];
  gsize before = 0, after = 0;
  NdKept **kept = &((NdFilters *) filters)->kept; /* not what is computed */
  NdStreamUse use;
  Run run;

  if (watch && watch->saturated)
    *watch->saturated = 0;
  if (!check (filters, &s, in, out, &from, &to, error))
    return FALSE;
  if (from.volumes == 0)
    return TRUE;
  if (s.conv.time_border == ND_BORDER_WRAP) {
    nd_bank_reach (filters->bank, low, high);
    before = -low[ND_AXIS_T];
    after = high[ND_AXIS_T];
    s.conv.time_border = ND_BORDER_NEAREST;
  }
  /* Copies from and to memory of the host that is not pinned are waited for. */
  use = (NdStreamUse){ .volumes = from.volumes,
    .waits = !from.on_device || !to.on_device,
    .in_place = !nd_volumes_overlap (&from, &to) };
  stream = nd_kept_take (kept, &s, &from, &use);
  if (stream)
    nd_stream_restart (stream, watch ? watch->cancelled : NULL);
  else
    stream = nd_stream_new_for (filters, &s, &from, &use,
        watch ? watch->cancelled : NULL, error);
  if (!stream)
    return FALSE;
  run = (Run){ .stream = stream, .in = &from, .out = &to, .watch = watch };
  if (!filter (&run, before, after, error))
    return FALSE;
  if (watch && watch->saturated)
    *watch->saturated = nd_stream_get_saturated (stream);
  nd_kept_give (kept, g_steal_pointer (&stream), &s, &from, &use);
  return TRUE;
}

gboolean
nd_convolve_init_output (const NdFilters *filters, const NdSettings *settings,
    const NdArray *in, NdArray *output, GError **error)
{
  NdVolumes from, to;

  if (!nd_volumes_init (&from, in, "The input", FALSE, error)
      || !nd_volumes_init_output (&to, &from, filters,
          nd_settings_or_default (settings), error))
    return FALSE;
  nd_volumes_to_array (&to, output);
  return TRUE;
}
