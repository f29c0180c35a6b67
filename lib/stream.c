/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/fork.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/threads.h"
#include "lib/private.h"

struct _NdStream
{
  NdVolumes in, out; /* without memory */
  NdConvolver *convolver;
  NdScale scale;
  NdPrecision precision;
  gboolean has_device; /* the back end reads and writes memory of a device */
  gint cancelled;
  const gint *watched; /* that, or the caller's flag */
  guint forks;         /* nd_fork_count() of its process */
  guint64 pushed, taken;
  gsize saturated;

  /* One dense volume of the computed type each, for those that the back end
   * cannot read or write in place. NULL until needed. */
  guint8 *in_copy, *out_copy;
};

/* Products of samples and coefficients that take less time than to wake
 * threads. */
#define SMALL_WORK (1 << 19)

static gboolean
is_small (const NdStream *stream, const NdBank *bank)
{
  gsize samples = G_MAXSIZE, taps = 0;

  nd_shape_samples (&stream->in.shape, &samples);
  for (guint i = 0; i < bank->n_filters; i++)
    taps += nd_filter_count (bank->filters[i]);
  return samples < SMALL_WORK && nd_size_mul (samples, taps, 1) < SMALL_WORK;
}

static NdJob
make_job (const NdStream *stream, const NdFilters *filters, const NdSettings *s,
    const gint *cancelled)
{
  return (NdJob){ .shape = stream->in.shape,
    .in_type = nd_sample_computed (stream->in.type, stream->precision),
    .out_type = nd_sample_computed (stream->out.type, stream->precision),
    .border = s->conv.border,
    .border_value = s->conv.border_value,
    .precision = stream->precision,
    .bank = filters->bank,
    .response = s->conv.response,
    .threshold = s->conv.threshold,
    .n_threads = s->device.n_threads == 0 && is_small (stream, filters->bank)
        ? 1
        : s->device.n_threads,
    .cancelled = cancelled };
}

NdStream *
nd_stream_new_for (const NdFilters *filters, const NdSettings *s,
    const NdVolumes *in, const NdStreamUse *use, const gint *cancelled,
    GError **error)
{
  g_autoptr (NdStream) stream = g_new0 (NdStream, 1);
  NdConvolverSettings wanted = { .n_planes = 1,
    .time_border = s->conv.time_border,
    .backend = nd_backend_kind_name (s->device.backend),
    .device_id = s->device.device_id,
    .devices = s->device.devices,
    .volumes = use->volumes,
    .waits = use->waits,
    .in_place = use->in_place,
    .method = s->conv.method,
    .memory_limit = s->conv.memory_limit };
  const gint *before;

  nd_library_init ();
  if (s->conv.accuracy != ND_ACCURACY_SINGLE)
    ND_WARNING ("accuracy has no effect: all methods compute with "
                "accuracy=single");
  stream->forks = nd_fork_count ();
  stream->in = *in;
  stream->in.volumes = 1;
  stream->precision = nd_sample_precision (in->type, s->device.precision);
  if (!nd_volumes_init_output (&stream->out, &stream->in, filters, s, error))
    return NULL;
  /* Types that are not computed saturate on the way to the output. */
  stream->scale = (NdScale){ s->conv.gain, s->conv.offset,
    nd_sample_computed (stream->out.type, stream->precision) == stream->out.type
        ? &stream->saturated
        : NULL };
  wanted.jobs[0] = make_job (stream, filters, s, cancelled);
  before = nd_threads_watch (cancelled);
  stream->convolver = nd_convolver_new (&wanted, error);
  nd_threads_watch (before);
  if (!stream->convolver || nd_set_error_if_cancelled (cancelled, error))
    return NULL;
  stream->watched = cancelled;
  stream->has_device =
      nd_convolver_plan (stream->convolver, 0)->backend->memory != NULL;
  return g_steal_pointer (&stream);
}

NdStream *
nd_stream_new (const NdFilters *filters, const NdSettings *settings,
    const NdArray *volume, const gint *cancelled, GError **error)
{
  const NdStreamUse use = { .waits = TRUE };
  NdStream *stream;
  NdVolumes in;

  if (!nd_volumes_init (&in, volume, "The volume", FALSE, error))
    return NULL;
  stream = nd_stream_new_for (filters, nd_settings_or_default (settings), &in,
      &use, cancelled, error);
  if (stream)
    stream->watched = &stream->cancelled;
  return stream;
}

void
nd_stream_cancel (NdStream *stream)
{
  g_atomic_int_set (&stream->cancelled, 1);
}

void
nd_stream_free (NdStream *stream)
{
  /* The parent's threads and devices may be in the midst of its work. */
  if (!nd_fork_check (stream->forks, "", NULL))
    return;
  if (stream->convolver) {
    nd_convolver_synchronize (stream->convolver, NULL);
    nd_convolver_free (stream->convolver);
  }
  g_free (stream->in_copy);
  g_free (stream->out_copy);
  g_free (stream);
}

/* Samples that the back end uses: those of @strided in place, or a copy, which
 * @copied tells. */
static gboolean
find_samples (NdStream *stream, const NdVolumes *like, guint8 **copy,
    const NdStrided *strided, gboolean on_device, NdSamples *samples,
    gboolean *copied, GError **error)
{
  const NdSampleType computed =
      nd_sample_computed (like->type, stream->precision);
  gsize bytes;

  if (on_device && !stream->has_device) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The samples are in memory of a GPU, and the filter runs on the CPU: "
        "set backend=cuda, or copy them to memory of the host");
    return FALSE;
  }
  *copied = computed != like->type
      || !nd_strided_has_rows (strided, &like->shape, like->responses,
          like->type, samples);
  if (!*copied)
    return TRUE;
  if (on_device) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Samples in memory of a GPU must be uint8, int16, uint16 or float32, "
        "or float64 with precision=double, with dense rows, slices and volumes "
        "in the order of the axes: copy or convert them there");
    return FALSE;
  }
  *samples = nd_samples_dense (*copy, &like->shape, computed);
  if (*copy)
    return TRUE;
  bytes = nd_size_mul (samples->response, like->responses, 1);
  *copy = samples->data = g_try_malloc (bytes);
  if (!*copy)
    nd_memory_set_error (error, bytes);
  return *copy != NULL;
}

static gboolean
enqueue (NdStream *stream, const NdStrided *volume, gboolean on_device,
    GError **error)
{
  NdSamples planes[ND_MAX_PLANES];
  gboolean copied;

  if (!find_samples (stream, &stream->in, &stream->in_copy, volume, on_device,
          &planes[0], &copied, error))
    return FALSE;
  if (copied)
    nd_samples_gather (volume, &stream->in.shape, 1, stream->in.type,
        stream->precision, &planes[0]);
  if (!nd_convolver_push (stream->convolver, planes, error))
    return FALSE;
  return !copied || nd_convolver_synchronize (stream->convolver, error);
}

static gboolean
respond (NdStream *stream, const NdStrided *out, gboolean on_device,
    GError **error)
{
  const NdScale scale[ND_MAX_PLANES] = { stream->scale };
  NdSamples planes[ND_MAX_PLANES];
  gboolean copied;

  if (!find_samples (stream, &stream->out, &stream->out_copy, out, on_device,
          &planes[0], &copied, error)
      || !nd_convolver_respond (stream->convolver, scale, planes, error))
    return FALSE;
  if (!copied)
    return TRUE;
  if (!nd_convolver_synchronize (stream->convolver, error))
    return FALSE;
  stream->saturated += nd_samples_scatter (&planes[0], &stream->out.shape,
      stream->out.responses, stream->out.type, stream->precision, out);
  return TRUE;
}

static gboolean
is_usable (const NdStream *stream, GError **error)
{
  return nd_fork_check (stream->forks, "The stream", error)
      && !nd_set_error_if_cancelled (stream->watched, error);
}

/* Loops end early when the stream is cancelled. Those that enqueue work of
 * devices do not, because the devices wait for each other. */
static gboolean
run (NdStream *stream,
    gboolean (*part) (NdStream *, const NdStrided *, gboolean, GError **),
    const NdStrided *samples, gboolean on_device, GError **error)
{
  const gint *before;
  gboolean ok;

  if (!is_usable (stream, error))
    return FALSE;
  before = nd_threads_watch (stream->has_device ? NULL : stream->watched);
  ok = part (stream, samples, on_device, error);
  nd_threads_watch (before);
  return ok && !nd_set_error_if_cancelled (stream->watched, error);
}

gboolean
nd_stream_enqueue (NdStream *stream, const NdStrided *volume,
    gboolean on_device, GError **error)
{
  if (!run (stream, enqueue, volume, on_device, error))
    return FALSE;
  stream->pushed++;
  return TRUE;
}

void
nd_stream_restart (NdStream *stream, const gint *cancelled)
{
  nd_convolver_reset (stream->convolver);
  /* nd_stream_get_bytes() does not count them. */
  g_clear_pointer (&stream->in_copy, g_free);
  g_clear_pointer (&stream->out_copy, g_free);
  stream->watched = cancelled;
  stream->pushed = stream->taken = 0;
  stream->saturated = 0;
}

gboolean
nd_stream_respond (NdStream *stream, const NdStrided *out, gboolean on_device,
    GError **error)
{
  if (!run (stream, respond, out, on_device, error))
    return FALSE;
  stream->taken++;
  return TRUE;
}

void
nd_stream_skip (NdStream *stream)
{
  if (nd_stream_ready (stream))
    nd_convolver_skip (stream->convolver);
}

guint
nd_stream_turns (const NdStream *stream)
{
  return nd_convolver_turns (stream->convolver);
}

gboolean
nd_stream_synchronize (NdStream *stream, GError **error)
{
  return nd_convolver_synchronize (stream->convolver, error);
}

static gboolean
check_like (const NdVolumes *got, const NdVolumes *like, const gchar *name,
    GError **error)
{
  if (got->type == like->type && got->responses == like->responses
      && got->volumes == 1 && got->shape.components == like->shape.components
      && got->shape.size[0] == like->shape.size[0]
      && got->shape.size[1] == like->shape.size[1]
      && got->shape.size[2] == like->shape.size[2])
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
      "%s has %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
      " %s samples of %" G_GSIZE_FORMAT
      " components, %u responses, %" G_GSIZE_FORMAT
      " volumes; this stream has %" G_GSIZE_FORMAT "x%" G_GSIZE_FORMAT
      "x%" G_GSIZE_FORMAT " %s samples of %" G_GSIZE_FORMAT
      " components, %u responses, one volume at a time",
      name, got->shape.size[0], got->shape.size[1], got->shape.size[2],
      nd_sample_name (got->type), got->shape.components, got->responses,
      got->volumes, like->shape.size[0], like->shape.size[1],
      like->shape.size[2], nd_sample_name (like->type), like->shape.components,
      like->responses);
  return FALSE;
}

gboolean
nd_stream_push (NdStream *stream, const NdArray *volume, GError **error)
{
  NdVolumes in;

  if (!is_usable (stream, error)
      || !nd_volumes_init (&in, volume, "The volume", TRUE, error)
      || !check_like (&in, &stream->in, "The volume", error))
    return FALSE;
  if (nd_convolver_window (stream->convolver)->ended) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "The stream has ended: flush it before the next volume");
    return FALSE;
  }
  if (nd_stream_ready (stream)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "An output is ready: take it before the next volume");
    return FALSE;
  }
  return nd_stream_enqueue (stream, &in.samples, in.on_device, error)
      && nd_stream_synchronize (stream, error);
}

gboolean
nd_stream_ready (const NdStream *stream)
{
  return nd_convolver_ready (stream->convolver);
}

void
nd_stream_init_output (const NdStream *stream, NdArray *output)
{
  nd_volumes_to_array (&stream->out, output);
}

gboolean
nd_stream_take (NdStream *stream, const NdArray *output, GError **error)
{
  NdVolumes out;

  if (!is_usable (stream, error)
      || !nd_volumes_init (&out, output, "The output", TRUE, error)
      || !check_like (&out, &stream->out, "The output", error))
    return FALSE;
  if (!nd_stream_ready (stream)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "No output is ready: push a volume, or end the stream");
    return FALSE;
  }
  return nd_stream_respond (stream, &out.samples, out.on_device, error)
      && nd_stream_synchronize (stream, error);
}

void
nd_stream_end (NdStream *stream)
{
  nd_convolver_end (stream->convolver);
}

void
nd_stream_flush (NdStream *stream)
{
  g_atomic_int_set (&stream->cancelled, 0);
  nd_convolver_reset (stream->convolver);
}

static const NdPlan *
get_plan (const NdStream *stream)
{
  return nd_convolver_plan (stream->convolver, 0);
}

const gchar *
nd_stream_get_backend (const NdStream *stream)
{
  return get_plan (stream)->backend->name;
}

const gchar *
nd_stream_get_method (const NdStream *stream)
{
  return nd_method_name (get_plan (stream)->method);
}

const gchar *
nd_stream_get_reason (const NdStream *stream)
{
  return get_plan (stream)->reason;
}

gdouble
nd_stream_get_estimate (const NdStream *stream)
{
  return get_plan (stream)->estimate;
}

gsize
nd_stream_get_bytes (const NdStream *stream)
{
  return nd_convolver_bytes (stream->convolver);
}

guint64
nd_stream_get_pushed (const NdStream *stream)
{
  return stream->pushed;
}

guint64
nd_stream_get_taken (const NdStream *stream)
{
  return stream->taken;
}

guint64
nd_stream_get_saturated (const NdStream *stream)
{
  return stream->saturated;
}

guint
nd_stream_get_delay (const NdStream *stream)
{
  return nd_window_delay (nd_convolver_window (stream->convolver));
}
