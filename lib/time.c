/* How long volumes take, measured on volumes of noise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/convert.h"
#include "core/memory.h"
#include "core/threads.h"
#include "engine/algorithm.h"
#include "lib/private.h"

#include <math.h>
#include <string.h>

/* Volumes that are not measured, after the window is full: they load kernels
 * and memory. */
#define WARM 2

#define LEAST_RUNS 3
#define MOST_RUNS 200

/* To fill a window may take this many times as long as to measure. */
#define PATIENCE 10

/* What is measured. */
typedef struct _Work
{
  /* One volume, and the outputs that it gives. */
  gboolean (*step) (struct _Work *work, GError **error);

  NdStream *stream;
  NdAlgorithm *algorithm;
  NdArray in, out;
  NdSamples samples[2]; /* of the algorithm: input and output */
  gpointer memory;      /* of both volumes */
} Work;

static void
work_clear (Work *work)
{
  g_clear_pointer (&work->stream, nd_stream_free);
  g_clear_pointer (&work->algorithm, nd_algorithm_free);
  g_clear_pointer (&work->memory, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Work, work_clear)

static gboolean
step_stream (Work *work, GError **error)
{
  if (!nd_stream_push (work->stream, &work->in, error))
    return FALSE;
  while (nd_stream_ready (work->stream))
    if (!nd_stream_take (work->stream, &work->out, error))
      return FALSE;
  return TRUE;
}

static gboolean
step_algorithm (Work *work, GError **error)
{
  if (!nd_algorithm_push (work->algorithm, &work->samples[0], error))
    return FALSE;
  while (nd_algorithm_ready (work->algorithm))
    if (!nd_algorithm_respond (work->algorithm, &work->samples[1], error))
      return FALSE;
  return TRUE;
}

static gsize
array_bytes (const NdArray *array)
{
  gsize bytes = nd_size_mul (array->strides[0], array->size[0], array->size[1]);

  bytes = nd_size_mul (bytes, array->size[2], array->responses);
  return bytes;
}

/* Noise of 8 bits in @bytes bytes of @type, which are 0. */
static void
fill_noise (guint8 *to, gsize bytes, NdSampleType type)
{
  const gsize size = nd_sample_size (type);
  guint32 state = 1;

  for (gsize i = 0; i < bytes / size; i++) {
    const guint8 value = (state = state * 1664525 + 1013904223) >> 24;

    if (type == ND_FLOAT64)
      ((gdouble *) to)[i] = value;
    else if (type == ND_FLOAT32)
      ((gfloat *) to)[i] = value;
    else if (type == ND_FLOAT16)
      ((guint16 *) to)[i] = nd_float_to_half (value);
    else
      to[i * size] = value; /* the others of a sample are 0 */
  }
}

/* The memory of both volumes, which are dense. */
static gboolean
work_make_memory (Work *work, NdSampleType type, GError **error)
{
  const gsize in = array_bytes (&work->in), out = array_bytes (&work->out);
  const gsize aligned = in < G_MAXSIZE - 64 ? (in + 63) / 64 * 64 : G_MAXSIZE;
  gsize bytes;

  if (!g_size_checked_add (&bytes, aligned, out))
    bytes = G_MAXSIZE;
  if (!nd_memory_check (bytes, error))
    return FALSE;
  work->memory = nd_memory_new (bytes, 1, error);
  if (!work->memory)
    return FALSE;
  work->in.data = work->memory;
  work->out.data = (guint8 *) work->memory + aligned;
  fill_noise (work->in.data, in, type);
  return TRUE;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Sets the times of @timing, whose delay and estimate are set. */
static gboolean
measure (Work *work, gdouble seconds, const gint *cancelled, NdTiming *timing,
    GError **error)
{
  gdouble times[MOST_RUNS];
  const gint64 begun = g_get_monotonic_time ();
  guint n = 0;

  if (timing->seconds * (timing->delay + WARM + LEAST_RUNS)
      > PATIENCE * seconds)
    return TRUE;
  for (guint i = 0; i < timing->delay + WARM; i++) {
    if (nd_set_error_if_cancelled (cancelled, error)
        || !work->step (work, error))
      return FALSE;
    if (g_get_monotonic_time () - begun > PATIENCE * seconds * G_USEC_PER_SEC)
      return TRUE;
  }
  for (gdouble all = 0; n < MOST_RUNS && (n < LEAST_RUNS || all < seconds);
       all += times[n++]) {
    const gint64 start = g_get_monotonic_time ();

    if (nd_set_error_if_cancelled (cancelled, error)
        || !work->step (work, error))
      return FALSE;
    times[n] = 1e-6 * (g_get_monotonic_time () - start);
  }
  qsort (times, n, sizeof (*times), compare_times);
  timing->seconds = times[n / 2];
  timing->slowest = times[n - 1];
  timing->measured = TRUE;
  return TRUE;
}

gboolean
nd_time_filters (const NdFilters *filters, const NdSettings *settings,
    const NdArray *volume, gdouble seconds, const gint *cancelled,
    NdTiming *timing, GError **error)
{
  g_auto (Work) work = { .step = step_stream };
  NdVolumes in;

  memset (timing, 0, sizeof (*timing));
  if (!nd_volumes_init (&in, volume, "The volume", FALSE, error))
    return FALSE;
  in.volumes = 1;
  work.stream = nd_stream_new (filters, settings, volume, cancelled, error);
  if (!work.stream)
    return FALSE;
  nd_volumes_to_array (&in, &work.in);
  nd_stream_init_output (work.stream, &work.out);
  if (!work_make_memory (&work, in.type, error))
    return FALSE;
  g_strlcpy (timing->backend, nd_stream_get_backend (work.stream),
      sizeof (timing->backend));
  g_strlcpy (timing->method, nd_stream_get_method (work.stream),
      sizeof (timing->method));
  timing->delay = nd_stream_get_delay (work.stream);
  timing->bytes = nd_stream_get_bytes (work.stream) + array_bytes (&work.in)
      + array_bytes (&work.out);
  timing->seconds = timing->slowest = nd_stream_get_estimate (work.stream);
  return measure (&work, seconds, cancelled, timing, error);
}

static void
denoiser_clear (NdDenoiserSettings *settings)
{
  nd_settings_clear (nd_denoiser_settings, nd_n_denoiser_settings, settings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NdDenoiserSettings, denoiser_clear)

/* Reads "NAME=VALUE,NAME=VALUE", settings of nddenoise. */
static gboolean
read_denoiser (const gchar *text, NdDenoiserSettings *settings, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);

  for (guint i = 0; parts[i]; i++) {
    gchar *value = strchr (parts[i], '=');
    guint row = 0;

    if (value)
      *value++ = 0;
    while (row < nd_n_denoiser_settings
        && strcmp (nd_denoiser_settings[row].name, parts[i]) != 0)
      row++;
    if (!value || row == nd_n_denoiser_settings) {
      g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
          "nddenoise has no setting \"%s\"; write NAME=VALUE as its properties "
          "have it, as in \"quality=best,latency=0\"",
          parts[i]);
      return FALSE;
    }
    if (!nd_setting_parse (&nd_denoiser_settings[row], value, settings, error))
      return FALSE;
  }
  return TRUE;
}

/* A file is loaded by the element only. */
static gboolean
check_map (const NdDenoiserSettings *settings, GError **error)
{
  if (g_strcmp0 (settings->sigma_map, "none") == 0)
    return TRUE;
  g_set_error_literal (error, ND_ERROR, ND_ERROR_SETTINGS,
      "The time of nddenoise is measured without sigma-map");
  return FALSE;
}

static gboolean
check_type (NdSampleType type, GError **error)
{
  if (nd_sample_computed (type, ND_PRECISION_SINGLE) == type)
    return TRUE;
  g_set_error (error, ND_ERROR, ND_ERROR_FORMAT,
      "nddenoise takes uint8, int16, uint16 and float32, not %s",
      nd_sample_name (type));
  return FALSE;
}

/* The back end that @s wants. */
static const NdBackend *
find_denoiser (const NdSettings *s, GError **error)
{
  const NdBackend *backend =
      nd_backend_find (nd_backend_kind_name (s->device.backend),
          s->device.device_id, error);

  if (backend && !(backend->algorithms && backend->algorithms->denoise_new)) {
    g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS,
        "Back end '%s' does not denoise: use backend=cpu", backend->name);
    return NULL;
  }
  return backend;
}

gboolean
nd_time_denoiser (const gchar *options, const NdSettings *settings,
    const NdArray *volume, gdouble seconds, const gint *cancelled,
    NdTiming *timing, GError **error)
{
  const NdSettings *s = nd_settings_or_default (settings);
  g_auto (NdDenoiserSettings) denoiser = { 0 };
  NdDenoiseBorders borders;
  guint before;
  g_auto (Work) work = { .step = step_algorithm };
  const NdBackend *backend;
  NdVolumes in;

  memset (timing, 0, sizeof (*timing));
  nd_library_init ();
  nd_settings_init (nd_denoiser_settings, nd_n_denoiser_settings, &denoiser);
  if (!nd_volumes_init (&in, volume, "The volume", FALSE, error)
      || !read_denoiser (options, &denoiser, error)
      || !check_map (&denoiser, error) || !nd_denoiser_check (&denoiser, error)
      || !check_type (in.type, error) || !(backend = find_denoiser (s, error)))
    return FALSE;
  in.volumes = 1;
  borders = (NdDenoiseBorders){ denoiser.border, denoiser.time_border,
    denoiser.border_value };
  work.algorithm = backend->algorithms->denoise_new (&denoiser.denoise,
      &borders, &in.shape, in.type, 0, s->device.device_id, error);
  if (!work.algorithm)
    return FALSE;
  nd_volumes_to_array (&in, &work.in);
  work.out = work.in;
  if (!work_make_memory (&work, in.type, error))
    return FALSE;
  work.samples[0] = nd_samples_dense (work.in.data, &in.shape, in.type);
  work.samples[1] = nd_samples_dense (work.out.data, &in.shape, in.type);
  g_strlcpy (timing->backend, backend->name, sizeof (timing->backend));
  g_strlcpy (timing->method,
      denoiser.denoise.method == ND_DENOISE_ADAPTIVE
              || denoiser.denoise.noise == ND_NOISE_SPECKLE
          ? "adaptive"
          : "transform",
      sizeof (timing->method));
  nd_denoise_window (&denoiser.denoise, &before, &timing->delay);
  timing->bytes = nd_algorithm_bytes (work.algorithm) + array_bytes (&work.in)
      + array_bytes (&work.out);
  return measure (&work, seconds, cancelled, timing, error);
}
