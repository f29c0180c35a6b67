/* SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "engine/autotune.h"

#include "core/buildid.h"
#include "core/error.h"
#include "core/fork.h"
#include "core/log.h"
#include "core/part.h"
#include "engine/fence.h"
#include "filters/tensor.h"

#include <math.h>

/* A measurement doubles its volumes until it takes at least this long. Four
 * volumes are the least in which each method does all kinds of its work. */
#define FIRST_VOLUMES 4
#define MIN_SECONDS 2e-3
/* A stream stores responses in the buffers of a pool in turn, so that a device
 * may compute several small responses at the same time. The buffers of a
 * measurement, which together have at most this many bytes unless one has more,
 * do the same. */
#define MAX_OUTPUTS 4
#define OUTPUTS_BYTES (64 << 20)
#define OUTPUT_ALIGN 256

gboolean
nd_autotune_possible (const NdBackend *backend)
{
  return backend->events && backend->memory && backend->device_name;
}

/* Filters with at most this many distinct magnitudes are keyed by their exact
 * coefficients, because some kernels exploit repeated values. The key of other
 * filters contains only the places of the zeros, the largest coefficient if all
 * are integers, and whether each volume is symmetric. Other values do not
 * change the time, so that a change of them needs no new measurement. */
#define FEW 16

static void
add_coefficients (GChecksum *sum, const NdFilter *f)
{
  gsize n = nd_filter_count (f);
  const gsize volume = f->size[0] * f->size[1] * f->size[2];
  gboolean integers = TRUE, symmetric = TRUE;
  g_autofree gchar *text = NULL;
  gdouble largest = 0;
  gdouble values[FEW];
  guint found = 0;

  for (gsize i = 0; i < n && found <= FEW; i++) {
    guint at = 0;

    while (at < found && values[at] != fabs (f->coefficients[i]))
      at++;
    if (at == found && found++ < FEW)
      values[at] = fabs (f->coefficients[i]);
  }
  if (found <= FEW) {
    g_checksum_update (sum, (const guchar *) f->coefficients,
        n * sizeof (gdouble));
    return;
  }
  for (gsize i = 0; i < n; i++) {
    gdouble w = f->coefficients[i];
    gsize at = i % volume;

    g_checksum_update (sum, (const guchar *) (w == 0 ? "0" : "1"), 1);
    largest = MAX (largest, fabs (w));
    integers = integers && w == rint (w);
    symmetric = symmetric && w == f->coefficients[i - at + volume - 1 - at];
  }
  text = g_strdup_printf ("%d %d", integers ? ilogb (largest) : 0, symmetric);
  g_checksum_update (sum, (const guchar *) text, -1);
}

/* The cache key: everything that the time of a method depends on, except the
 * values of the samples. */
static gchar *
autotune_describe (const NdBackend *backend, const NdJob *job,
    const NdRingOptions *options, NdMethod method)
{
  g_autoptr (GChecksum) filters = g_checksum_new (G_CHECKSUM_MD5);
  const NdReach reach = nd_job_reach (job);

  for (guint k = 0; k < job->bank->n_filters; k++) {
    const NdFilter *f = job->bank->filters[k];

    g_checksum_update (filters, (const guchar *) f->size, sizeof (f->size));
    g_checksum_update (filters, (const guchar *) f->origin, sizeof (f->origin));
    add_coefficients (filters, f);
  }
  return g_strdup_printf (
      "%s %s %zux%zux%zux%zu wanted %zu+%zu %zu+%zu %zu+%zu %s-%s "
      "border %d %d %.17g "
      "response %d filters %u reach %d:%d %d:%d %d:%d %d:%d %s",
      backend->name, nd_method_name (method), job->shape.size[0],
      job->shape.size[1], job->shape.size[2], job->shape.components,
      job->wanted[0].first, job->wanted[0].n, job->wanted[1].first,
      job->wanted[1].n, job->wanted[2].first, job->wanted[2].n,
      nd_sample_name (job->in_type), nd_sample_name (job->out_type),
      job->border, options->border_volumes, job->border_value, job->response,
      job->bank->n_filters, reach.low[0], reach.high[0], reach.low[1],
      reach.high[1], reach.low[2], reach.high[2], reach.low[3], reach.high[3],
      g_checksum_get_string (filters));
}

static gdouble
autotune_measure (const NdBackend *backend, NdRing *ring, const NdJob *job,
    const NdSamples *in, const NdSamples *outputs, guint n_outputs)
{
  const guint n_slots = nd_job_reach (job).slots;
  const NdScale scale = { 1, 0 };
  g_autofree gint *slots = g_try_new (gint, n_slots);
  guint position = 0;

  if (!slots)
    return INFINITY;
  for (; position < n_slots; position++) {
    if (!backend->push (ring, position, in, NULL))
      return INFINITY;
  }
  /* The first round is not measured: it loads kernels and memory. */
  for (guint volumes = FIRST_VOLUMES, round = 0;; round++) {
    gint64 begin = g_get_monotonic_time ();
    gdouble seconds;

    for (guint i = 0; i < volumes; i++, position++) {
      for (guint t = 0; t < n_slots; t++)
        slots[t] = (position + 1 + t) % n_slots;
      if (!backend->push (ring, position % n_slots, in, NULL)
          || !backend->respond (ring, slots, &scale,
              &outputs[position % n_outputs], NULL))
        return INFINITY;
    }
    if (!nd_ring_synchronize (backend, ring, NULL)
        || nd_is_cancelled (job->cancelled))
      return INFINITY;
    seconds = (g_get_monotonic_time () - begin) * 1e-6;
    if (round > 0 && seconds >= MIN_SECONDS)
      return seconds / volumes;
    if (round > 0)
      volumes *= 2;
  }
}

gdouble
nd_autotune_recall (const NdBackend *backend, gint device_id, const NdJob *job,
    const NdRingOptions *options, NdMethod method)
{
  g_autofree gchar *device = backend->device_name (device_id);
  g_autofree gchar *key = autotune_describe (backend, job, options, method);
  gdouble seconds;

  if (!nd_cache_get (device, key, &seconds, 1) || !(seconds > 0))
    return 0;
  ND_DEBUG ("%s on %s takes %.4g ms per volume, as measured before",
      nd_method_name (method), device, seconds * 1e3);
  return seconds;
}

gdouble
nd_autotune_cost (const NdJob *job, gdouble seconds)
{
  return seconds * (nd_job_reach (job).slots + 2 * FIRST_VOLUMES)
      + 2 * MIN_SECONDS;
}

gdouble
nd_autotune_seconds (const NdBackend *backend, gint device_id, const NdJob *job,
    const NdRingOptions *options, NdMethod method)
{
  g_autofree gchar *device = backend->device_name (device_id);
  g_autofree gchar *key = autotune_describe (backend, job, options, method);
  guint8 *in = NULL, *out = NULL;
  gdouble seconds =
      nd_autotune_recall (backend, device_id, job, options, method);
  NdRingOptions measured = *options;
  NdShape made = job->shape;
  guint n_outputs = MAX_OUTPUTS;
  gsize n, out_bytes = 0;
  NdRing *ring;

  if (seconds > 0)
    return seconds;
  seconds = INFINITY;
  measured.keep = FALSE;
  if (nd_job_combines (job)) {
    NdTensorRecipe recipe = { 0 };

    nd_tensor_recipe (job->bank, &recipe, NULL);
    made.components = nd_output_components (job->response,
        job->bank->is_complex, recipe.axes, made.components);
  }
  if (!nd_shape_samples (&job->shape, &n))
    return seconds;
  ring = backend->ring_new (job, &measured, method, device_id, NULL);
  if (ring) {
    in = backend->memory->alloc (device_id, n * nd_sample_size (job->in_type),
        NULL);
    /* A tensor of two monomials has three components. */
    out_bytes = n * nd_sample_size (job->out_type)
        * MAX (job->bank->n_filters, made.components);
    out_bytes += -out_bytes % OUTPUT_ALIGN;
    while (n_outputs > 1 && out_bytes > OUTPUTS_BYTES / n_outputs)
      n_outputs--;
    out = backend->memory->alloc (device_id, n_outputs * out_bytes, NULL);
    if (!out && n_outputs > 1) {
      n_outputs = 1;
      out = backend->memory->alloc (device_id, out_bytes, NULL);
    }
  }
  if (in && out) {
    const NdSamples from = nd_samples_dense (in, &job->shape, job->in_type);
    NdSamples to[MAX_OUTPUTS];

    for (guint i = 0; i < n_outputs; i++)
      to[i] = nd_samples_dense (out + i * out_bytes, &made, job->out_type);
    seconds = autotune_measure (backend, ring, job, &from, to, n_outputs);
    if (isfinite (seconds))
      nd_cache_set (device, key, &seconds, 1);
  }
  ND_DEBUG ("%s on %s takes %.4g ms per volume, measured now",
      nd_method_name (method), device, seconds * 1e3);
  if (in)
    backend->memory->free (in);
  if (out)
    backend->memory->free (out);
  if (ring)
    backend->ring_free (ring);
  return seconds;
}

/* Each build and device has a group. The file keeps the newest groups. */
#define MAX_GROUPS 32
#define MAX_BYTES ((gsize) 4 << 20)

/* Protects the file from the threads of this process. If several processes save
 * at a time, the file is complete and the last one wins. */
static GMutex lock;
ND_HOLD_AT_FORK (lock, 1)

static gchar *
file_name (void)
{
  const gchar *name = g_getenv ("NDCONV_CACHE");

  if (name)
    return *name ? g_strdup (name) : NULL;
  return g_build_filename (g_get_user_cache_dir (), "ndconv", "measured.ini",
      NULL);
}

/* Times of other kernels would mislead the plan. */
static gchar *
group_name (const gchar *device)
{
  return g_strdup_printf ("build %s, %s", nd_build_id (), device);
}

/* What another user wrote is not believed. */
static gboolean
autotune_load (GKeyFile *file, const gchar *name, GKeyFileFlags flags)
{
  gsize size;
  g_autofree gchar *text = nd_file_load_own (name, MAX_BYTES, &size);

  return text && g_key_file_load_from_data (file, text, size, flags, NULL);
}

static void
remove_oldest (GKeyFile *file)
{
  gsize n;
  g_auto (GStrv) groups = g_key_file_get_groups (file, &n);

  for (gsize i = 0; i + MAX_GROUPS < n; i++)
    g_key_file_remove_group (file, groups[i], NULL);
}

gboolean
nd_cache_get (const gchar *device, const gchar *key, gdouble *numbers, gsize n)
{
  g_autofree gchar *name = file_name ();
  g_autofree gchar *group = group_name (device);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gdouble *list = NULL;
  gsize length = 0;

  if (name && autotune_load (file, name, G_KEY_FILE_NONE))
    list = g_key_file_get_double_list (file, group, key, &length, NULL);
  if (!list || length != n)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    numbers[i] = list[i];
  return TRUE;
}

void
nd_cache_set (const gchar *device, const gchar *key, const gdouble *numbers,
    gsize n)
{
  g_autofree gchar *name = file_name ();
  g_autofree gchar *group = group_name (device);
  g_autofree gchar *directory = name ? g_path_get_dirname (name) : NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gchar *text = NULL;
  gsize size;

  if (!name || g_mkdir_with_parents (directory, 0700) != 0)
    return;
  g_mutex_lock (&lock);
  autotune_load (file, name, G_KEY_FILE_KEEP_COMMENTS);
  g_key_file_set_double_list (file, group, key, (gdouble *) numbers, n);
  remove_oldest (file);
  text = g_key_file_to_data (file, &size, NULL);
  nd_file_replace (name, text, size);
  g_mutex_unlock (&lock);
}
