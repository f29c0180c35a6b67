/* Measures the time and error of the methods of a back end on data in memory.
 *
 *   ndbench [--work TEXT] [--method NAME] [--size X:Y:Z] [--filter X:Y:Z:T]
 *           [--filters N] [--separable] [--type TYPE] [--masked PERCENT]
 *           [--response NAME] [--backend NAME] [--devices LIST] [--parts N]
 *           [--host] [--outputs N] [--runs N] [--crossing]
 *
 * Prints one JSON object per case and method: work, size, filter, type,
 * backend, method, device, simd, threads, runs, median_ms and min_ms of one
 * push and one respond, estimate_ms of the cost model, outputs_per_s,
 * macs_per_s (coefficients * outputs), error (relative L2 of 1000 outputs
 * against sums in long double; cases of float64 are in double precision),
 * bytes, setup_ms (of the plan and its ring,
 * after the device has started). --masked sets the given percentage of the
 * samples of a float32 case to NaN, in one region. --response makes complex
 * filters of pairs, and measures for example the sum of their magnitudes, or
 * the tensor of monomials, or with --filters above 1 of quadrature filters; the
 * error is then null. --devices shares the work
 * among several devices; volumes are in memory of the first one (if they go
 * round, each is in memory of the device that filters it) or, with --host, in
 * pinned memory of the host; devices, host and reason are printed too. --parts
 * divides the work as among so many devices, but all on one: the time that its
 * parts take together.
 * --outputs stores responses in so many buffers in turn, as a stream does.
 * Without --method, it leaves out methods that are expected to take more than
 * 30 times as long as auto.
 * --crossing measures filters from small to large, for float32 or --type, to
 * show at which size `auto` should change the method.
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
#include "cpu/kernels.h"
#include "engine/plan.h"
#include "filters/design.h"
#include "filters/tensor.h"
#include "tests/bench/works.h"

#define ERROR_SAMPLES 1000
#define TOO_SLOW 30 /* times as long as auto */
#define TYPES "--type is uint8, int16, uint16, float32 or float64\n"

static gchar *opt_work, *opt_method, *opt_size, *opt_filter, *opt_type;
static gchar *opt_backend, *opt_module, *opt_devices, *opt_response;
static gint opt_runs = 15, opt_outputs = 1, opt_filters = 1, opt_masked,
            opt_parts;
static gboolean opt_crossing, opt_list, opt_separable, opt_host;
static NdDevices devices = { .n = 1, .ids = { -1 } };

static gdouble
seconds (void)
{
  return g_get_monotonic_time () * 1e-6;
}

static const gchar *
device (const NdBackend *backend)
{
  static gchar name[128] = "unknown processor";
  gchar line[256];
  FILE *f;

  if (backend->device_name) {
    g_autofree gchar *gpu = backend->device_name (-1);

    g_strlcpy (name, gpu, sizeof (name));
    return name;
  }
  f = fopen ("/proc/cpuinfo", "r");
  while (f && fgets (line, sizeof (line), f)) {
    if (sscanf (line, "model name : %127[^\n]", name) == 1)
      break;
  }
  if (f)
    fclose (f);
  return name;
}

/* Coefficient @m of a Gaussian of @n taps that ends at four times its sigma. */
static gdouble
gauss (gsize m, gsize n)
{
  const gdouble d = (m - 0.5 * (n - 1)) / (n / 8.0);

  return exp (-0.5 * d * d);
}

static NdFilter *
make_filter (const Work *work, GRand *r)
{
  NdFilter *f = nd_filter_new (work->work, work->filter);
  gsize i = 0;

  for (gsize t = 0; t < work->filter[3]; t++)
    for (gsize z = 0; z < work->filter[2]; z++)
      for (gsize y = 0; y < work->filter[1]; y++)
        for (gsize x = 0; x < work->filter[0]; x++) {
          gsize m[ND_AXES] = { x, y, z, t };
          gdouble w = work->separable ? 1 : g_rand_double_range (r, -1, 1);

          for (guint a = 0; a < ND_AXES && work->separable; a++)
            w *= gauss (m[a], work->filter[a]);
          f->coefficients[i++] = w;
        }
  return f;
}

/* Monomials of order 1 and 2, or if there are several filters the quadrature
 * filters of several directions, which make an orientation tensor. */
static NdBank *
make_tensor_bank (const Work *work)
{
  g_autoptr (NdParameters) parameters = nd_parameters_new ();
  g_autofree gchar *size = g_strdup_printf ("%zu", work->filter[0]);
  NdAxes axes = { 0 };

  while (axes.n < ND_AXES && work->filter[axes.n] > 1) {
    axes.axis[axes.n] = axes.n;
    axes.n++;
  }
  nd_parameters_set_text (parameters, "size", size);
  return nd_design (work->n_filters > 1 ? "quadrature-bank" : "monomial-bank",
      parameters, &axes, NULL);
}

static NdBank *
make_bank (const Work *work, GRand *r, const gchar *response)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();

  if (g_strcmp0 (response, "tensor") == 0)
    return make_tensor_bank (work);
  for (guint k = 0; k < MAX (work->n_filters, 1); k++)
    g_ptr_array_add (filters, make_filter (work, r));
  return nd_bank_new (filters);
}

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
    case ND_FLOAT64:
      return ((const gdouble *) data)[i];
    default:
      return ((const gfloat *) data)[i];
  }
}

/* The definition at one sample, if every volume of the window is @in. */
static long double
exact_at (const NdJob *job, const NdFilter *f, const guint8 *in,
    const gsize at[3])
{
  const gdouble *w = f->coefficients;
  gint low[ND_AXES], high[ND_AXES];
  long double sum = 0;

  nd_filter_reach (f, low, high);
  for (gsize t = 0; t < f->size[3]; t++)
    for (gsize z = 0; z < f->size[2]; z++)
      for (gsize y = 0; y < f->size[1]; y++)
        for (gsize x = 0; x < f->size[0]; x++) {
          gsize m[3] = { x, y, z }, i = 0;

          for (gint a = 2; a >= 0; a--)
            i = i * job->shape.size[a]
                + nd_border_index (job->border,
                    (gint64) at[a] + high[a] - (gint64) m[a],
                    job->shape.size[a]);
          sum += (long double) *w++ * sample_at (in, i, job->in_type);
        }
  return sum;
}

static const NdRingOptions no_options = { FALSE, FALSE };

static NdPlan *
new_plan (const NdJob *job, NdMethod method, GError **error)
{
  return nd_plan_new_on (job, &no_options, opt_backend, &devices, method, 0,
      error);
}

/* The error of the responses of all filters as float32 or float64, before they
 * are rounded to the type of the job. */
static gdouble
measure_error (const NdJob *work, NdMethod method, const guint8 *in, GRand *r)
{
  NdJob job[1] = { *work };
  g_autoptr (NdPlan) plan = NULL;
  g_autofree guint8 *out = NULL;
  g_autofree gint *order = NULL;
  const NdScale scale = { 1, 0 };
  NdSamples from, to;
  guint slots = nd_job_reach (work).slots;
  gdouble error2 = 0, norm2 = 0;
  gsize samples;

  job->out_type = nd_sample_computed (ND_FLOAT64, job->precision);
  nd_shape_samples (&job->shape, &samples);
  out = g_malloc0 (samples * nd_sample_size (job->out_type)
      * job->bank->n_filters);
  order = g_new (gint, slots);
  from = nd_samples_dense ((guint8 *) in, &job->shape, job->in_type);
  to = nd_samples_dense (out, &job->shape, job->out_type);
  plan = new_plan (job, method, NULL);
  if (!plan)
    return NAN;
  for (guint t = 0; t < slots; t++) {
    order[t] = t;
    nd_plan_push (plan, t, &from, NULL);
  }
  nd_plan_respond (plan, order, &scale, &to, NULL);
  nd_plan_synchronize (plan, NULL);

  for (guint n = 0; n < ERROR_SAMPLES; n++) {
    gsize at[3], i = 0;
    long double exact, difference;

    for (gint a = 2; a >= 0; a--) {
      at[a] = g_rand_int_range (r, 0, job->shape.size[a]);
      i = i * job->shape.size[a] + at[a];
    }
    i += n % job->bank->n_filters * samples;
    exact =
        exact_at (job, job->bank->filters[n % job->bank->n_filters], in, at);
    difference = sample_at (out, i, job->out_type) - exact;
    error2 += difference * difference;
    norm2 += exact * exact;
  }
  return sqrt (error2 / norm2);
}

static gint
compare_doubles (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

/* On devices calls only enqueue work, so a batch of so many volumes for each
 * device is measured. */
#define DEVICE_BATCH 24

/* The memory of volumes that a device filters and of their responses, in
 * @outputs buffers that are used in turn. */
typedef struct
{
  NdSamples in, out;
  gsize bytes, out_bytes;
  guint outputs;
} Place;

/* One push and one respond, repeatedly, as in a stream. Volumes are at the
 * places of plan->turns in turn. */
static gdouble
time_plan (NdPlan *plan, const Place *places, gdouble *least)
{
  guint batch = plan->backend->events ? DEVICE_BATCH * devices.n : 1;
  guint position = 0;
  guint slots = nd_job_reach (&plan->job).slots;
  g_autofree gint *order = g_new (gint, slots);
  g_autofree gdouble *times = g_new (gdouble, opt_runs);
  const NdScale scale = { 1, 0 };

  /* As many as turns, so that the measured volumes begin at the first place. */
  for (guint turn = 0; turn < plan->turns; turn++) {
    for (guint t = 0; t < slots; t++) {
      order[t] = t;
      nd_plan_push (plan, t, &places[turn].in, NULL);
    }
    nd_plan_respond (plan, order, &scale, &places[turn].out, NULL);
  }
  for (gint i = -1; i < opt_runs; i++) {
    gdouble begin = seconds ();

    for (guint b = 0; b < batch; b++, position++) {
      const Place *place = &places[position % plan->turns];
      NdSamples to = place->out;

      nd_plan_push (plan, position % slots, &place->in, NULL);
      for (guint t = 0; t < slots; t++)
        order[t] = (position + 1 + t) % slots;
      to.data += position / plan->turns % place->outputs * place->out_bytes;
      nd_plan_respond (plan, order, &scale, &to, NULL);
    }
    nd_plan_synchronize (plan, NULL);
    if (i >= 0) /* the first one warms up */
      times[i] = (seconds () - begin) / batch;
  }
  qsort (times, opt_runs, sizeof (gdouble), compare_doubles);
  *least = times[0];
  return times[opt_runs / 2];
}

static void
print_sizes (const gchar *name, const gsize *size, guint n)
{
  printf ("\"%s\": [", name);
  for (guint i = 0; i < n; i++)
    printf (i ? ", %zu" : "%zu", size[i]);
  printf ("], ");
}

/* Lets the device start before a time is measured. */
static void
start_device (void)
{
  const NdBackend *backend = nd_backend_find (opt_backend, -1, NULL);

  for (guint i = 0; i < devices.n && backend && backend->memory; i++) {
    gpointer memory = backend->memory->alloc (devices.ids[i], 1, NULL);

    if (memory)
      backend->memory->free (memory);
  }
}

/* Memory of device @id, or pinned memory of the host. */
static gpointer
alloc_volume (const NdBackend *backend, gint id, gsize bytes)
{
  gpointer memory;

  if (!opt_host)
    return backend->memory->alloc (id, bytes, NULL);
  memory = nd_pages_new (&bytes);
  if (memory && !backend->memory->pin (devices.ids[0], memory, bytes, NULL)) {
    free (memory);
    return NULL;
  }
  return memory;
}

static void
free_volume (const NdBackend *backend, gpointer memory)
{
  if (!opt_host) {
    backend->memory->free (memory);
    return;
  }
  backend->memory->unpin (memory);
  free (memory);
}

/* Memory of the device of @place with a copy of the volume at @in, or of the
 * host for the CPU. */
static gboolean
make_place (const NdPlan *plan, Place *place, gint id, const guint8 *in)
{
  const NdDeviceMemoryFuncs *memory = plan->backend->memory;
  const NdJob *job = &plan->job;
  NdShape shape = job->shape;
  const gsize out_bytes = place->out_bytes * place->outputs;
  gpointer from = memory ? alloc_volume (plan->backend, id, place->bytes)
                         : g_malloc (place->bytes);
  gpointer to = memory ? alloc_volume (plan->backend, id, out_bytes)
                       : g_malloc0 (out_bytes);

  if (!from || !to)
    return FALSE;
  if (!memory)
    memcpy (from, in, place->bytes);
  else if (!memory->copy (from, in, place->bytes, NULL))
    return FALSE;
  place->in = nd_samples_dense (from, &job->shape, job->in_type);
  if (job->response == ND_RESPONSE_TENSOR)
    shape.components = place->out_bytes / place->bytes
        * nd_sample_size (job->in_type) / sizeof (gfloat);
  place->out = nd_samples_dense (to, &shape, job->out_type);
  return TRUE;
}

static void
free_place (const NdPlan *plan, Place *place)
{
  if (plan->backend->memory) {
    free_volume (plan->backend, place->in.data);
    free_volume (plan->backend, place->out.data);
  } else {
    g_free (place->in.data);
    g_free (place->out.data);
  }
}

/* Sets the response of this name. Returns FALSE if the bank cannot give it. */
static gboolean
set_response (NdJob *job, NdBank *bank, const gchar *name)
{
  guint i = ND_RESPONSE_MAGNITUDE;

  if (!name)
    return TRUE;
  while (i < ND_RESPONSE_TENSOR && !g_str_equal (name, nd_response_name (i)))
    i++;
  if (i == ND_RESPONSE_TENSOR ? !g_str_equal (name, "tensor")
                              : bank->n_filters % 2 != 0) {
    g_printerr ("--response is magnitude, phase, real, imaginary, energy, "
                "max, argmax or sum, and needs an even number of filters; or "
                "tensor\n");
    return FALSE;
  }
  job->response = i;
  if (i == ND_RESPONSE_TENSOR)
    job->out_type = ND_FLOAT32;
  else
    bank->is_complex = TRUE;
  return TRUE;
}

/* The bytes of the responses to a volume of @bytes. */
static gsize
made_bytes (const NdJob *job, gsize bytes)
{
  NdTensorRecipe recipe;

  if (job->response == ND_RESPONSE_TENSOR
      && nd_tensor_recipe (job->bank, &recipe, NULL))
    return bytes / nd_sample_size (job->in_type) * sizeof (gfloat)
        * ND_TENSOR_COMPONENTS (recipe.axes);
  return bytes * job->bank->n_filters;
}

/* The time of auto is stored at @fastest, unless it is NULL. */
static gboolean
run (const Work *work, NdMethod method, gboolean is_auto, gdouble *fastest)
{
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  const gchar *response = opt_response ? opt_response : work->response;
  g_autoptr (NdBank) bank = make_bank (work, r, response);
  NdJob job = { .in_type = work->type,
    .out_type = work->type,
    .border = ND_BORDER_NEAREST,
    .bank = bank,
    .precision =
        work->type == ND_FLOAT64 ? ND_PRECISION_DOUBLE : ND_PRECISION_SINGLE };
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan = NULL;
  g_autofree guint8 *in = NULL;
  Place places[ND_MAX_DEVICES];
  gdouble begin, setup, median, least, l2 = NAN;
  const guint outputs = MAX (work->outputs, (guint) opt_outputs);
  gsize n, bytes, out_bytes;

  job.shape.components = 1;
  memcpy (job.shape.size, work->size, sizeof (job.shape.size));
  if (!nd_shape_samples (&job.shape, &n)
      || !set_response (&job, bank, response))
    return FALSE;
  bytes = n * nd_sample_size (work->type);
  out_bytes = made_bytes (&job, bytes);
  in = g_malloc (bytes);
  for (gsize i = 0; i < n; i++) {
    if (nd_sample_is_float (work->type)) {
      const gdouble value =
          i < n * opt_masked / 100 ? NAN : g_rand_double_range (r, 0, 255);

      if (work->type == ND_FLOAT64)
        ((gdouble *) in)[i] = value;
      else
        ((gfloat *) in)[i] = value;
    } else if (work->type == ND_UINT8) {
      in[i] = g_rand_int_range (r, 0, 256);
    } else {
      ((guint16 *) in)[i] = g_rand_int_range (r, 0, 32768);
    }
  }
  start_device ();
  begin = seconds ();
  plan = new_plan (&job, is_auto ? ND_METHOD_AUTO : method, &error);
  setup = seconds () - begin;
  if (!plan) {
    if (work->separable || method != ND_METHOD_SEPARABLE)
      g_printerr ("%s, %s: %s\n", work->work, nd_method_name (method),
          error->message);
    return FALSE;
  }
  if (!is_auto && fastest && plan->estimate > TOO_SLOW * *fastest) {
    g_printerr ("%s, %s: not measured, as the estimate is %.0f ms\n",
        work->work, nd_method_name (method), plan->estimate * 1e3);
    return FALSE;
  }
  for (guint i = 0; i < plan->turns; i++) {
    places[i] =
        (Place){ .bytes = bytes, .out_bytes = out_bytes, .outputs = outputs };
    if (!make_place (plan, &places[i], devices.ids[i], in))
      return FALSE;
  }
  median = time_plan (plan, places, &least);
  if (is_auto && fastest)
    *fastest = median;
  for (guint i = 0; i < plan->turns; i++)
    free_place (plan, &places[i]);
  if (!response)
    l2 = measure_error (&job, plan->method, in, r);

  printf ("{\"work\": \"%s\", ", work->work);
  print_sizes ("size", work->size, 3);
  print_sizes ("filter", work->filter, ND_AXES);
  printf (
      "\"filters\": %u, \"separable\": %s, \"response\": \"%s\", "
      "\"type\": \"%s\", "
      "\"backend\": \"%s\", "
      "\"method\": \"%s\", \"auto\": %s, \"device\": \"%s\", \"simd\": \"%s\", "
      "\"threads\": %u, \"runs\": %d, \"median_ms\": %.4f, \"min_ms\": %.4f, "
      "\"estimate_ms\": %.4f, \"outputs_per_s\": %.4g, \"macs_per_s\": %.4g, ",
      bank->n_filters, work->separable ? "true" : "false",
      response ? response : "each", nd_sample_name (work->type),
      plan->backend->name, nd_method_name (plan->method),
      is_auto ? "true" : "false", device (plan->backend), nd_kernels ()->name,
      nd_threads (), opt_runs, median * 1e3, least * 1e3, plan->estimate * 1e3,
      n / median,
      n * (gdouble) nd_filter_count (bank->filters[0]) * bank->n_filters
          / median);
  if (isnan (l2))
    printf ("\"error\": null, ");
  else
    printf ("\"error\": %.2e, ", l2);
  if (opt_devices) {
    g_autofree gchar *reason = g_strescape (plan->reason, NULL);

    printf ("\"devices\": \"%s\", \"host\": %s, \"reason\": \"%s\", ",
        opt_devices, opt_host ? "true" : "false", reason);
  }
  printf ("\"bytes\": %zu, \"setup_ms\": %.3f}\n", nd_plan_bytes (plan),
      setup * 1e3);
  fflush (stdout);
  return TRUE;
}

static gboolean
run_methods (const Work *work)
{
  gdouble fastest = INFINITY;
  gboolean any = FALSE;

  if (!opt_method || strstr (opt_method, "auto"))
    any |= run (work, ND_METHOD_AUTO, TRUE, &fastest);
  for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
    const NdMethod method = nd_auto_methods[i];

    if (!opt_method || strstr (opt_method, nd_method_name (method)))
      any |= run (work, method, FALSE, &fastest);
  }
  return any;
}

/* Filters from 3 to 31 per axis in 2D, to 15 in 3D, to 9 in 4D. */
static gboolean
run_crossing (void)
{
  static const struct
  {
    guint axes;
    gsize size[3];
    gsize last;
  } walks[] = { { 2, { 1024, 1024, 1 }, 31 }, { 3, { 96, 96, 96 }, 15 },
    { 4, { 64, 64, 64 }, 9 } };
  NdSampleType type = ND_FLOAT32;
  gboolean any = FALSE;

  if (opt_type && !nd_sample_from_name (opt_type, &type)) {
    g_printerr (TYPES);
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
    for (gsize k = 3; k <= walks[i].last; k += walks[i].axes == 2 ? 4 : 2) {
      for (guint separable = 0; separable < 2; separable++) {
        g_autofree gchar *name = g_strdup_printf ("%ud-%s%zu-crossing",
            walks[i].axes, separable ? "gauss-" : "", k);
        Work work = { .work = name,
          .separable = separable,
          .type = type,
          .filter = { 1, 1, 1, 1 } };

        memcpy (work.size, walks[i].size, sizeof (work.size));
        for (guint a = 0; a < walks[i].axes; a++)
          work.filter[a] = k;
        any |= run_methods (&work);
      }
    }
  }
  return any;
}

static gboolean
run_own (void)
{
  Work work = { .work = "own",
    .size = { 1, 1, 1 },
    .filter = { 1, 1, 1, 1 },
    .separable = opt_separable,
    .type = ND_FLOAT32,
    .n_filters = MAX (opt_filters, 1) };

  if (nd_parse_sizes (opt_size, work.size, 3) == 0
      || nd_parse_sizes (opt_filter, work.filter, 4) == 0
      || (opt_type && !nd_sample_from_name (opt_type, &work.type))) {
    g_printerr (
        "--size X:Y:Z needs --filter X:Y:Z:T and the other way round; " TYPES);
    return FALSE;
  }
  return run_methods (&work);
}

static gboolean
find_devices (void)
{
  g_autoptr (GError) error = NULL;
  const NdBackend *backend;

  if (opt_parts > 0) {
    devices = (NdDevices){ .n = MIN (opt_parts, ND_MAX_DEVICES) };
    opt_devices = "0";
  }
  if (!opt_devices || opt_parts > 0)
    return TRUE;
  backend = nd_backend_find (opt_backend, -1, &error);
  if (!backend
      || !nd_devices_find (opt_devices, -1, backend, &devices, &error)) {
    g_printerr ("%s\n", error->message);
    return FALSE;
  }
  return TRUE;
}

static gboolean
is_default (const Work *work)
{
  if (opt_devices)
    return work->where == ON_SEVERAL;
  return work->where == (opt_module ? ON_GPU : ON_CPU)
      || work->where == ON_BOTH;
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = { { "work", 0, 0, G_OPTION_ARG_STRING,
                                       &opt_work, "works whose name holds it",
                                       "TEXT" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &opt_method,
        "auto, direct, separable, fft or tensor; several with ','", "NAMES" },
    { "size", 0, 0, G_OPTION_ARG_STRING, &opt_size, "of a work of your own",
        "X:Y:Z" },
    { "filter", 0, 0, G_OPTION_ARG_STRING, &opt_filter, "of it", "X:Y:Z:T" },
    { "filters", 0, 0, G_OPTION_ARG_INT, &opt_filters, "of it, default 1",
        "N" },
    { "separable", 0, 0, G_OPTION_ARG_NONE, &opt_separable, "of it: Gaussians",
        NULL },
    { "type", 0, 0, G_OPTION_ARG_STRING, &opt_type, "of it", "TYPE" },
    { "masked", 0, 0, G_OPTION_ARG_INT, &opt_masked,
        "of a float32 work's samples, NaN; default 0", "PERCENT" },
    { "response", 0, 0, G_OPTION_ARG_STRING, &opt_response,
        "of complex filters, pairs of those of the work", "NAME" },
    { "backend", 0, 0, G_OPTION_ARG_STRING, &opt_backend, "default: the best",
        "NAME" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module, "of a back end",
        "FILE" },
    { "devices", 0, 0, G_OPTION_ARG_STRING, &opt_devices,
        "that share the work: 0,1, all or auto", "LIST" },
    { "parts", 0, 0, G_OPTION_ARG_INT, &opt_parts, "of the work of one device",
        "N" },
    { "host", 0, 0, G_OPTION_ARG_NONE, &opt_host,
        "volumes in pinned memory of the host", NULL },
    { "runs", 0, 0, G_OPTION_ARG_INT, &opt_runs, "timed, default 15", "N" },
    { "outputs", 0, 0, G_OPTION_ARG_INT, &opt_outputs,
        "buffers of responses, default 1", "N" },
    { "crossing", 0, 0, G_OPTION_ARG_NONE, &opt_crossing,
        "small to large filters", NULL },
    { "list", 0, 0, G_OPTION_ARG_NONE, &opt_list, "names of the works", NULL },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  gboolean any = FALSE;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  opt_runs = MAX (opt_runs, 1);
  opt_outputs = MAX (opt_outputs, 1);
  opt_masked = CLAMP (opt_masked, 0, 100);
  nd_backend_register (&nd_cpu_backend);
  if (opt_module && !nd_backend_open (opt_module, &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  if (!find_devices ())
    return 1;
  if (opt_size || opt_filter)
    return run_own () ? 0 : 1;
  if (opt_crossing)
    return run_crossing () ? 0 : 1;
  for (guint i = 0; i < n_works; i++) {
    if (opt_work ? !strstr (works[i].work, opt_work) : !is_default (&works[i]))
      continue;
    if (opt_list)
      any |= printf ("%s\n", works[i].work) > 0;
    else
      any |= run_methods (&works[i]);
  }
  if (!any)
    g_printerr ("No case has this name: --list shows the names\n");
  return any ? 0 : 1;
}
