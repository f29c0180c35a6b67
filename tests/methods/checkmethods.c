/* Compares every method of a back end with the reference on random jobs, like
 * dav1d's checkasm: guard bands around the output, NaN in the output before the
 * call, and awkward sizes and filters. Error bounds: if float32 sums of the
 * integers are exact, results must be equal. Otherwise the bound is 8 *
 * sqrt(taps + 1) * 2^-24 * max(|w| conv |x|). The relative L2 error is at most
 * 1e-6 for fft and 2e-6 for tensor.
 *
 * With --double the jobs are in double precision, and the reference sums in
 * long double: 2^-53 replaces 2^-24, and the relative L2 error of float64 is at
 * most 1e-14 (more for filters of more than 625 taps), for fft 1e-13.
 *
 * Some windows move on by a few volumes, and the last output is compared.
 *
 * A module also filters several volumes in a row, with other scales and into
 * several outputs, because it may begin a volume before the one before it is
 * complete. All outputs are compared.
 *
 * The bound of what is made of the responses is the sum of the bounds of all
 * responses, and labels may differ in one sample of 200. Tensors of monomials
 * are sums of products of responses: the bound of a response is multiplied by
 * 2 (axes + 1) max (|w| conv |x|).
 *
 * If a method begins outputs ahead, the values must be those without it. The
 * sign and the payload of NaN may differ.
 *
 * With --slabs each method also has less memory than it needs, if the back end
 * can do with less (engine/slabs.h). Its results must be as accurate, and those
 * of direct and separable equal to those without a limit.
 *
 * With --spread the work is also divided in every way in which several devices
 * share it (engine/spread.h), all on one device. The same holds for the
 * results.
 *
 * With --combined all jobs have a bank whose responses are combined to one, and
 * a window of one volume.
 *
 *   checkmethods [--seed N] [--jobs N] [--only JOB] [--large] [--double]
 *       [--combined] [--slabs] [--spread] [--method NAME] [--module FILE]
 *
 * --module tests the back end of a module, for example cuda/ndconv-cuda.so. The
 * exit code is 77 if there is no device and 1 if the device cannot be used.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "cpu/cpu.h"
#include "cpu/kernels.h"
#include "engine/spread.h"
#include "tests/methods/outputs.h"
#include "tests/methods/runcase.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The reference takes about a second for so many products. Larger jobs have one
 * output, to save time. */
#define MANY_PRODUCTS 3.2e8

static gint opt_seed = -1;
static gint opt_jobs = 400;
static gint opt_only = -1;
static gboolean opt_large;
static gboolean opt_double;
static gboolean opt_combined;
static gboolean opt_slabs;
static gboolean opt_spread;
static gchar *opt_method, *opt_module;
static const gchar *backend = "cpu";
static guint n_begun; /* runs in which an output was begun ahead */

/* The part of the memory that a plan may have, and the plans that had slabs. */
static gdouble part = 1;
static guint in_slabs;

/* How several plans share the work, their number, and the plans that did. */
static NdSpreadKind kind;
static guint n_devices = 1;
static guint divided[ND_SPREAD_KINDS];

/* Replaces @whole by several plans that share its work, if they can. */
static NdPlan *
divide (NdPlan *whole)
{
  g_autoptr (NdPlan) plan = whole;
  NdPlan *several = g_new0 (NdPlan, 1);
  NdDevices devices = { .n = n_devices };
  g_autoptr (GError) error = NULL;
  NdSpreadCut cut;
  /* Slabs have rows of volumes with an odd number of rows. */
  const NdAxis axis =
      whole->job.shape.size[2] > 1 && whole->job.shape.size[1] % 2 == 0
      ? ND_AXIS_Z
      : ND_AXIS_Y;

  several->backend = plan->backend;
  several->method = plan->method;
  several->turns = 1;
  several->options = plan->options;
  several->options.keep = nd_job_reach (&plan->job).slots > 1;
  several->job = plan->job;
  several->job.bank = several->bank = nd_bank_copy (plan->bank);
  if (nd_spread_cut (plan->backend, &several->job, &several->options,
          plan->method, &devices, kind, axis, &cut))
    several->executor = nd_spread_executor_new (plan->backend, &several->job,
        &several->options, plan->method, 0, &cut, &error);
  if (!several->executor) {
    nd_plan_free (several);
    return g_steal_pointer (&plan);
  }
  divided[kind]++;
  return several;
}

static NdPlan *
new_plan (const NdJob *job, const NdRingOptions *options, NdMethod method,
    GError **error)
{
  const gchar *name = method == ND_METHOD_REFERENCE ? "cpu" : backend;
  NdPlan *whole = nd_plan_new (job, options, name, -1, method, 0, error);
  g_autoptr (GError) why = NULL;
  NdPlan *slabs;
  gsize bytes;

  if (whole && kind != ND_SPREAD_ONE && method != ND_METHOD_REFERENCE)
    return divide (whole);
  if (!whole || part == 1 || !nd_backend_slabs (whole->backend))
    return whole;
  bytes = nd_plan_bytes (whole) * part;
  slabs = nd_plan_new (job, options, name, -1, method, bytes, &why);
  if (!slabs) {
    g_assert_error (why, ND_ERROR, ND_ERROR_MEMORY);
    return whole;
  }
  g_assert_cmpuint (nd_plan_bytes (slabs), <=, bytes);
  in_slabs += slabs->executor->funcs->in_slabs;
  nd_plan_free (whole);
  return slabs;
}

/* Computes all responses by @method. Returns NULL if the method cannot do the
 * job; otherwise the outputs of case_run(). */
static guint8 *
run (const Case *c, const NdJob *job, const guint8 *volumes, NdMethod method,
    gsize *bytes, gboolean *begun)
{
  const NdRingOptions options = { .border_volumes = c->options.border_volumes,
    .keep = c->options.keep,
    .ahead = begun != NULL,
    .in_place = c->options.in_place };
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan = NULL;

  /* The plan would take another method. */
  if (method == ND_METHOD_TENSOR
      && !nd_job_has_bytes (job, options.border_volumes))
    return NULL;
  plan = new_plan (job, &options, method, &error);
  if (!plan) {
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    /* These do any job; the others may refuse one. */
    g_assert_true (method != ND_METHOD_DIRECT && method != ND_METHOD_FFT
        && method != ND_METHOD_REFERENCE);
    return NULL;
  }
  return case_run (c, plan, volumes, kind == ND_SPREAD_ROUND, bytes, begun);
}

/* Returns max (|w| conv |x|) over all filters, computed with the absolute
 * values of coefficients and samples. */
static gdouble
largest_sum (const Case *c)
{
  g_autoptr (NdBank) bank = nd_bank_copy (c->bank);
  g_autofree guint8 *volumes =
      g_memdup2 (c->volumes, c->in_bytes * (c->reach.slots + 1));
  g_autofree guint8 *sums = NULL;
  /* These two are of all volumes, and have the same scale. */
  const Case few = with_outputs (c, 2);
  NdJob job = c->job;
  gdouble largest = 0;
  gsize bytes;

  for (guint k = 0; k < bank->n_filters; k++)
    for (gsize i = 0; i < nd_filter_count (bank->filters[k]); i++)
      bank->filters[k]->coefficients[i] =
          fabs (bank->filters[k]->coefficients[i]);
  for (gsize i = 0; i < c->in_bytes * (c->reach.slots + 1);
       i += nd_sample_size (job.in_type)) {
    if (job.in_type == ND_INT16) {
      gint16 *v = (gint16 *) (volumes + i);
      *v = MIN (ABS ((gint) *v), 32767);
    } else if (job.in_type == ND_FLOAT32) {
      gfloat *v = (gfloat *) (volumes + i);
      *v = isfinite (*v) ? fabsf (*v) : 0;
    } else if (job.in_type == ND_FLOAT64) {
      gdouble *v = (gdouble *) (volumes + i);
      *v = isfinite (*v) ? fabs (*v) : 0;
    }
  }
  bank->is_complex = FALSE;
  job.response = ND_RESPONSE_ALL;
  job.bank = bank;
  job.border_value = fabs (job.border_value);
  job.out_type = ND_FLOAT32;
  sums = run (&few, &job, volumes, ND_METHOD_REFERENCE, &bytes, NULL);
  for (guint k = 0; k < few.outputs; k++)
    for (gsize i = 0; i < bytes; i += sizeof (gfloat))
      largest = MAX (largest,
          *(gfloat *) (sums + output_at (k, bytes) + i) - c->scale.offset);
  return largest / c->scale.gain;
}

/* Whether @method gives the same with less memory. */
static gboolean
check_slabs (guint index, const Case *c, NdMethod method, const guint8 *whole,
    const guint8 *want, gdouble largest)
{
  const guint32 seeds[3] = { opt_seed, index, method };
  g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 3);
  g_autofree guint8 *got = NULL;
  gsize bytes;

  part = g_rand_double_range (r, 0.2, 0.95);
  got = run (c, &c->job, c->volumes, method, &bytes, NULL);
  part = 1;
  if (method == ND_METHOD_DIRECT || method == ND_METHOD_SEPARABLE)
    return outputs_are_equal (c, got, whole, bytes);
  return outputs_compare (c, method, got, want, bytes, largest);
}

/* Whether @method gives the same on several devices. If a bank is divided,
 * `direct` may sum in another order, since a kernel serves several filters. */
static gboolean
check_spread (guint index, const Case *c, NdMethod method, const guint8 *whole,
    const guint8 *want, gdouble largest)
{
  const guint32 seeds[3] = { opt_seed, index, method };
  g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 3);
  gboolean ok = TRUE;

  n_devices = g_rand_int_range (r, 2, 6);
  for (kind = ND_SPREAD_ROUND; ok && kind < ND_SPREAD_KINDS; kind++) {
    gsize bytes;
    g_autofree guint8 *got = run (c, &c->job, c->volumes, method, &bytes, NULL);

    ok = method == ND_METHOD_SEPARABLE
            || (method == ND_METHOD_DIRECT && kind != ND_SPREAD_FILTERS)
        ? outputs_are_equal (c, got, whole, bytes)
        : outputs_compare (c, method, got, want, bytes, largest);
    if (!ok)
      g_printerr ("# %u devices, kind %d\n", n_devices, kind);
  }
  kind = ND_SPREAD_ONE;
  return ok;
}

static gboolean
compare_begun (const Case *c, NdMethod method, const guint8 *want, gsize bytes)
{
  gboolean begun;
  g_autofree guint8 *got = NULL;

  if (!nd_backend_find (backend, -1, NULL)->begin)
    return TRUE;
  got = run (c, &c->job, c->volumes, method, &bytes, &begun);
  n_begun += begun;
  if (outputs_are_equal (c, got, want, bytes))
    return TRUE;
  g_printerr ("# other values if begun ahead\n");
  return FALSE;
}

static gdouble
count_products (const Case *c)
{
  gdouble taps = 0;

  for (guint k = 0; k < c->bank->n_filters; k++)
    taps += nd_filter_count (c->bank->filters[k]);
  return taps * c->samples;
}

static gboolean
check (guint index, const Case *c)
{
  gsize bytes;
  gdouble largest = largest_sum (c);
  const Case few = with_outputs (c, KINDS);
  g_autofree guint8 *want =
      run (&few, &c->job, c->volumes, ND_METHOD_REFERENCE, &bytes, NULL);
  gboolean ok = TRUE;

  for (const NdKernels *const *k = nd_kernels_all (); *k; k++) {
    if (opt_module && k[1])
      continue;
    g_setenv ("NDCONV_SIMD", (*k)->name, TRUE);
    for (guint i = 0; i < ND_N_AUTO_METHODS; i++) {
      const NdMethod m = nd_auto_methods[i];
      g_autofree guint8 *got = NULL;

      if (opt_method && !g_str_equal (opt_method, nd_method_name (m)))
        continue;
      got = run (c, &c->job, c->volumes, m, &bytes, NULL);

      if (got
          && (!outputs_compare (c, m, got, want, bytes, largest)
              || !compare_begun (c, m, got, bytes)
              || (opt_slabs && !check_slabs (index, c, m, got, want, largest))
              || (opt_spread
                  && !check_spread (index, c, m, got, want, largest)))) {
        g_printerr ("# job %u, %s with %s: %" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                    ":%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
                    " components of %s to %s, border %d, %u filters, first "
                    "%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                    ":%" G_GSIZE_FORMAT ", response %s%s%s\n",
            index, nd_method_name (m), (*k)->name, c->job.shape.size[0],
            c->job.shape.size[1], c->job.shape.size[2], c->job.shape.components,
            nd_sample_name (c->job.in_type), nd_sample_name (c->job.out_type),
            c->job.border, c->bank->n_filters, c->bank->filters[0]->size[0],
            c->bank->filters[0]->size[1], c->bank->filters[0]->size[2],
            c->bank->filters[0]->size[3], nd_response_name (c->job.response),
            c->exact ? ", exact" : "", c->nonfinite ? ", NonFinite" : "");
        ok = FALSE;
      }
    }
  }
  return ok;
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = { { "seed", 0, 0, G_OPTION_ARG_INT, &opt_seed,
                                       "seed of the random jobs", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &opt_jobs, "number of jobs", "N" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module,
        "module of the back end", "FILE" },
    { "method", 0, 0, G_OPTION_ARG_STRING, &opt_method,
        "check only this method", "NAME" },
    { "only", 0, 0, G_OPTION_ARG_INT, &opt_only, "run only this job", "JOB" },
    { "double", 0, 0, G_OPTION_ARG_NONE, &opt_double,
        "run jobs in double precision", NULL },
    { "combined", 0, 0, G_OPTION_ARG_NONE, &opt_combined,
        "only banks whose responses are combined", NULL },
    { "slabs", 0, 0, G_OPTION_ARG_NONE, &opt_slabs,
        "also with less memory than a job needs", NULL },
    { "spread", 0, 0, G_OPTION_ARG_NONE, &opt_spread, "also on several devices",
        NULL },
    { "large", 0, 0, G_OPTION_ARG_NONE, &opt_large,
        "run the large jobs instead", NULL },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  /* Set for slow tools, such as the sanitizers. */
  const char *const divisor = g_getenv ("ND_JOBS_DIVISOR");
  gint failed = 0;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;
  if (opt_seed < 0)
    opt_seed = g_random_int_range (0, G_MAXINT);
  nd_backend_register (&nd_cpu_backend);
  if (opt_module) {
    g_autoptr (GError) error = NULL;

    backend = "cuda";
    if (!nd_backend_open (opt_module, &error)
        || !nd_backend_find (backend, -1, &error)) {
      g_print ("1..0 # SKIP %s\n", error->message);
      /* An unusable device is a failure. */
      return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
    }
  }
  if (opt_large)
    opt_jobs = case_larges ();
  else if (divisor)
    opt_jobs = MAX (1, opt_jobs / MAX (1, atoi (divisor)));
  g_print ("1..%d\n# seed %d; one job: --seed %d --only JOB\n", opt_jobs,
      opt_seed, opt_seed);
  for (gint i = 0; i < opt_jobs; i++) {
    guint32 seeds[2] = { opt_seed, i };
    g_autoptr (GRand) r = g_rand_new_with_seed_array (seeds, 2);
    Case c;
    gboolean ok;

    if (opt_only >= 0 && i != opt_only)
      continue;
    case_init (&c, r, opt_large ? i : -1,
        opt_double ? ND_PRECISION_DOUBLE : ND_PRECISION_SINGLE, opt_combined);
    if (opt_module && c.reach.slots == 1 && c.slots[0] == 0
        && count_products (&c) <= MANY_PRODUCTS)
      c.outputs = OUTPUTS;
    ok = check (i, &c);
    failed += !ok;
    g_print ("%sok %d\n", ok ? "" : "not ", i + 1);
    case_clear (&c);
  }
  g_print ("# %u runs began outputs ahead\n", n_begun);
  if (opt_slabs)
    g_print ("# %u plans had slabs\n", in_slabs);
  if (opt_spread)
    g_print ("# %u plans went round, %u had slabs, %u had some filters\n",
        divided[ND_SPREAD_ROUND], divided[ND_SPREAD_SLABS],
        divided[ND_SPREAD_FILTERS]);
  return failed ? 1 : 0;
}
