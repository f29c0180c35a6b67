/* Measures a filter on volumes in pinned memory of the host, whole and in slabs
 * (engine/slabs.h), and compares the outputs with those of the first limit.
 *
 *   ndslabs --module FILE --size X:Y:Z --filter X:Y:Z:T [--filters N]
 *           [--type TYPE] [--method NAME] [--limits LIST] [--volumes N]
 *
 * --limits has bytes of the device, or percents of the bytes that the first
 * limit needs, separated by commas; default "0,33%". Prints one JSON object per
 * limit: bytes of the ring, seconds to make it, seconds of one volume alone and
 * of one in a stream of --volumes, samples that differ, the relative L2
 * difference, the plan's reason.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "engine/plan.h"
#include "filters/axes.h"
#include "filters/parameters.h"

#define PART ((gsize) 16 << 20)

static gchar *opt_module, *opt_size, *opt_filter, *opt_type, *opt_method;
static gchar *opt_limits = (gchar *) "0,33%";
static gint opt_filters = 1, opt_volumes = 5;

static gdouble
seconds (void)
{
  return g_get_monotonic_time () * 1e-6;
}

static guint8 *
new_pinned (const NdBackend *backend, gsize bytes)
{
  guint8 *data = nd_pages_new (&bytes);
  g_autoptr (GError) error = NULL;

  if (!data || !backend->memory->pin (-1, data, bytes, &error)) {
    g_printerr ("%s\n", error ? error->message : "no memory");
    exit (1);
  }
  return data;
}

/* Random samples for a start, which are then repeated at odd places. */
static void
fill (guint8 *data, gsize bytes, NdSampleType type)
{
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  const gsize first = MIN (bytes, PART);

  for (gsize i = 0; i < first / nd_sample_size (type); i++) {
    if (type == ND_FLOAT32)
      ((gfloat *) data)[i] = g_rand_double_range (r, 0, 255);
    else if (type == ND_UINT8)
      data[i] = g_rand_int_range (r, 0, 256);
    else
      ((guint16 *) data)[i] = g_rand_int_range (r, 0, 32768);
  }
  for (gsize at = first; at < bytes; at += PART - 4096)
    memcpy (data + at, data, MIN (PART - 4096, bytes - at));
}

static NdBank *
make_bank (const gsize size[ND_AXES])
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (GRand) r = g_rand_new_with_seed (2);

  for (gint k = 0; k < MAX (opt_filters, 1); k++) {
    NdFilter *f = nd_filter_new ("random", size);
    const gsize n = nd_filter_count (f);

    for (gsize i = 0; i < n; i++)
      f->coefficients[i] = g_rand_double_range (r, 0, 2.0 / n);
    g_ptr_array_add (filters, f);
  }
  return nd_bank_new (filters);
}

/* Samples that differ, and the squares of differences and of samples. */
typedef struct
{
  const guint8 *want, *got;
  gsize bytes;
  NdSampleType type;
  gsize differ[ND_MAX_THREADS];
  gdouble error2[ND_MAX_THREADS], norm2[ND_MAX_THREADS];
} Comparison;

static gdouble
sample_at (const guint8 *data, gsize i, NdSampleType type)
{
  switch (type) {
    case ND_UINT8:
      return data[i];
    case ND_INT16:
      return ((const gint16 *) data)[i];
    case ND_UINT16:
      return ((const guint16 *) data)[i];
    default:
      return ((const gfloat *) data)[i];
  }
}

static void
compare_part (gsize index, guint worker, gpointer data)
{
  Comparison *c = data;
  const gsize at = index * PART, n = MIN (PART, c->bytes - at);

  if (memcmp (c->want + at, c->got + at, n) == 0 && c->type != ND_FLOAT32)
    return;
  for (gsize i = 0; i < n / nd_sample_size (c->type); i++) {
    const gdouble x = sample_at (c->want + at, i, c->type);
    const gdouble y = sample_at (c->got + at, i, c->type);

    c->differ[worker] += x != y;
    c->error2[worker] += (x - y) * (x - y);
    c->norm2[worker] += x * x;
  }
}

static void
print_comparison (const guint8 *want, const guint8 *got, gsize bytes,
    NdSampleType type)
{
  g_autofree Comparison *c = g_new0 (Comparison, 1);

  c->want = want;
  c->got = got;
  c->bytes = bytes;
  c->type = type;
  nd_parallel_for ((bytes + PART - 1) / PART, compare_part, c);
  for (guint i = 1; i < ND_MAX_THREADS; i++) {
    c->differ[0] += c->differ[i];
    c->error2[0] += c->error2[i];
    c->norm2[0] += c->norm2[i];
  }
  printf ("\"differ\": %zu, \"l2\": %.3g, ", c->differ[0],
      c->norm2[0] > 0 ? sqrt (c->error2[0] / c->norm2[0]) : 0);
}

/* The seconds of @n volumes. */
static gdouble
run (NdPlan *plan, guint n, const NdSamples *in, const NdSamples *out,
    guint *position)
{
  const guint slots = nd_job_reach (&plan->job).slots;
  g_autofree gint *order = g_new (gint, slots);
  const NdScale scale = { 1, 0 };
  g_autoptr (GError) error = NULL;
  const gdouble begin = seconds ();
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < n; i++, ++*position) {
    for (guint t = 0; t < slots; t++)
      order[t] = (*position + 1 + t) % slots;
    ok = nd_plan_push (plan, *position % slots, in, &error)
        && nd_plan_respond (plan, order, &scale, out, &error);
  }
  if (!ok || !nd_plan_synchronize (plan, &error)) {
    g_printerr ("%s\n", error->message);
    exit (1);
  }
  return seconds () - begin;
}

static gboolean
measure (const NdJob *job, NdMethod method, gsize limit, const NdSamples *in,
    const NdSamples *out, gsize *ring_bytes)
{
  const NdRingOptions options = { FALSE, FALSE };
  const gdouble begin = seconds ();
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan =
      nd_plan_new (job, &options, "cuda", -1, method, limit, &error);
  const gdouble made = seconds () - begin;
  gdouble alone, many;
  guint position = 0;

  if (!plan) {
    printf ("{\"limit\": %zu, \"error\": \"%s\"}\n", limit, error->message);
    return FALSE;
  }
  for (guint t = 0; t < nd_job_reach (job).slots; t++, position++)
    nd_plan_push (plan, t, in, NULL);
  run (plan, 1, in, out, &position);
  alone = run (plan, 1, in, out, &position);
  many = run (plan, opt_volumes, in, out, &position) / opt_volumes;
  *ring_bytes = nd_plan_bytes (plan);
  printf ("{\"limit\": %zu, \"bytes\": %zu, \"method\": \"%s\", "
          "\"setup_s\": %.3f, \"alone_ms\": %.3f, \"stream_ms\": %.3f, "
          "\"reason\": \"%s\", ",
      limit, *ring_bytes, nd_method_name (plan->method), made, alone * 1e3,
      many * 1e3, plan->reason);
  return TRUE;
}

static void
run_limits (const NdJob *job, NdMethod method, const NdBackend *backend)
{
  g_auto (GStrv) limits = g_strsplit (opt_limits, ",", -1);
  const gsize size = nd_sample_size (job->in_type);
  gsize samples, bytes, out_bytes, first_bytes = 0, ring_bytes;
  guint8 *in, *want, *got;
  NdSamples from, to;

  nd_shape_samples (&job->shape, &samples);
  bytes = samples * size;
  out_bytes = bytes * job->bank->n_filters;
  in = new_pinned (backend, bytes);
  want = new_pinned (backend, out_bytes);
  got = new_pinned (backend, out_bytes);
  fill (in, bytes, job->in_type);
  from = nd_samples_dense (in, &job->shape, job->in_type);
  for (guint i = 0; limits[i]; i++) {
    gsize limit = g_ascii_strtoull (limits[i], NULL, 10);

    if (strchr (limits[i], '%'))
      limit = first_bytes / 100 * limit;
    memset (got, 0x55, out_bytes);
    to = nd_samples_dense (i ? got : want, &job->shape, job->out_type);
    if (!measure (job, method, limit, &from, &to, &ring_bytes))
      continue;
    if (i == 0)
      first_bytes = ring_bytes;
    else
      print_comparison (want, got, out_bytes, job->out_type);
    printf ("\"volume_bytes\": %zu, \"output_bytes\": %zu}\n", bytes,
        out_bytes);
    fflush (stdout);
  }
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = { { "module", 0, 0, G_OPTION_ARG_FILENAME,
                                       &opt_module, "of the back end", "FILE" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &opt_size, "of volumes", "X:Y:Z" },
    { "filter", 0, 0, G_OPTION_ARG_STRING, &opt_filter, "size", "X:Y:Z:T" },
    { "filters", 0, 0, G_OPTION_ARG_INT, &opt_filters, "default 1", "N" },
    { "type", 0, 0, G_OPTION_ARG_STRING, &opt_type, "of samples", "TYPE" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &opt_method, "default auto",
        "NAME" },
    { "limits", 0, 0, G_OPTION_ARG_STRING, &opt_limits, "see above", "LIST" },
    { "volumes", 0, 0, G_OPTION_ARG_INT, &opt_volumes, "default 5", "N" },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  gsize size[3] = { 1, 1, 1 }, filter[ND_AXES] = { 1, 1, 1, 1 };
  NdSampleType type = ND_FLOAT32;
  NdMethod method = ND_METHOD_AUTO;
  const NdBackend *backend;
  NdJob job = { .border = ND_BORDER_NEAREST };

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  for (guint m = 0; opt_method && m < ND_METHOD_AUTO; m++) {
    if (strcmp (opt_method, nd_method_name (m)) == 0)
      method = m;
  }
  if (!opt_module || !opt_size || !opt_filter
      || nd_parse_sizes (opt_size, size, 3) == 0
      || nd_parse_sizes (opt_filter, filter, ND_AXES) == 0
      || (opt_type && !nd_sample_from_name (opt_type, &type))) {
    g_printerr ("--module, --size X:Y:Z and --filter X:Y:Z:T are needed\n");
    return 2;
  }
  nd_backend_register (&nd_cpu_backend);
  if (!nd_backend_open (opt_module, &error)
      || !(backend = nd_backend_find ("cuda", -1, &error))) {
    g_printerr ("%s\n", error->message);
    return 77;
  }
  job.shape.components = 1;
  memcpy (job.shape.size, size, sizeof (size));
  job.in_type = job.out_type = type;
  job.bank = make_bank (filter);
  run_limits (&job, method, backend);
  return 0;
}
