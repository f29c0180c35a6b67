/* Volumes of more than 2^31 samples, in all and along one axis: compares
 * outputs at random places, at both ends and around multiples of 2^31 with sums
 * in double precision.
 *
 *   checkhuge [--method NAME] [--only JOB] [--module FILE]
 *
 * --module tests the back end of a module, as in checkmethods. A method that
 * refuses a job must say why. One job needs up to 14 GB of memory, so that this
 * program is no part of the ordinary tests.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/error.h"
#include "core/threads.h"
#include "cpu/cpu.h"
#include "engine/plan.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#define RANDOM_PLACES 20000
#define AROUND 40 /* outputs before and after a place of interest */

typedef struct
{
  gsize size[3];
  gsize filter[3];
  NdBorder border;
} Job;

/* Along x, along y and in all; and more slices than 65535 thread blocks
 * compute. */
static const Job jobs[] = {
  { { ((gsize) 1 << 31) + 13, 1, 1 }, { 5, 1, 1 }, ND_BORDER_REFLECT },
  { { 3, ((gsize) 1 << 31) / 3 + 20, 1 }, { 3, 3, 1 }, ND_BORDER_WRAP },
  { { 46350, 46350, 1 }, { 5, 3, 1 }, ND_BORDER_NEAREST },
  { { 1291, 1291, 1291 }, { 3, 3, 3 }, ND_BORDER_MIRROR },
  { { 1, 1, 17000000 }, { 1, 1, 5 }, ND_BORDER_MIRROR },
};

static gchar *opt_method, *opt_module;
static gint opt_only = -1;
static const gchar *backend = "cpu";

typedef struct
{
  guint8 *data;
  gsize bytes;
} Volume;

/* A sample depends on all bits of its index. */
static guint8
sample_of (gsize i)
{
  return (i * 0x9E3779B97F4A7C15u) >> 56;
}

#define FILL_TASKS 64

static void
fill (gsize index, guint worker, gpointer data)
{
  Volume *v = data;
  const gsize n = v->bytes / FILL_TASKS + 1, begin = index * n;

  for (gsize i = begin; i < MIN (begin + n, v->bytes); i++)
    v->data[i] = sample_of (i);
}

/* The definition at one sample. */
static gdouble
exact_at (const NdJob *job, const gsize at[3])
{
  const NdFilter *f = job->bank->filters[0];
  const gdouble *w = f->coefficients;
  gint low[ND_AXES], high[ND_AXES];
  gdouble sum = 0;

  nd_filter_reach (f, low, high);
  for (gsize z = 0; z < f->size[2]; z++)
    for (gsize y = 0; y < f->size[1]; y++)
      for (gsize x = 0; x < f->size[0]; x++) {
        const gsize m[3] = { x, y, z };
        gsize i = 0;

        for (gint a = 2; a >= 0; a--)
          i = i * job->shape.size[a]
              + nd_border_index (job->border,
                  (gint64) at[a] + high[a] - (gint64) m[a], job->shape.size[a]);
        sum += *w++ * sample_of (i);
      }
  return sum;
}

static gboolean
check_at (const NdJob *job, const guint8 *out, gsize i)
{
  const gsize *size = job->shape.size;
  const gsize at[3] = { i % size[0], i / size[0] % size[1],
    i / size[0] / size[1] };
  const gdouble want = exact_at (job, at);

  /* The filter has sum 1 and no negative coefficient. */
  if (fabs (out[i] - want) <= 0.502)
    return TRUE;
  g_print ("# output %zu (%zu, %zu, %zu) is %d, expected %.3f\n", i, at[0],
      at[1], at[2], out[i], want);
  return FALSE;
}

static gboolean
check_around (const NdJob *job, const guint8 *out, gsize n, gsize i)
{
  gboolean ok = TRUE;

  for (gsize k = i < AROUND ? 0 : i - AROUND; k < MIN (n, i + AROUND) && ok;
       k++)
    ok = check_at (job, out, k);
  return ok;
}

/* Multiples of 2^29 are those of 2^31 bytes of float32. */
static gboolean
check_outputs (const NdJob *job, const guint8 *out, gsize n)
{
  g_autoptr (GRand) r = g_rand_new_with_seed (1);
  gboolean ok = check_around (job, out, n, n);

  for (gsize i = 0; i < n && ok; i += (gsize) 1 << 29)
    ok = check_around (job, out, n, i);
  for (guint i = 0; i < RANDOM_PLACES && ok; i++)
    ok = check_at (job, out, g_rand_double (r) * n);
  return ok;
}

static NdBank *
make_bank (const gsize size[3])
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (GRand) r = g_rand_new_with_seed (2);
  const gsize sizes[ND_AXES] = { size[0], size[1], size[2], 1 };
  NdFilter *f = nd_filter_new ("huge", sizes);
  gdouble sum = 0;

  for (gsize i = 0; i < nd_filter_count (f); i++)
    sum += f->coefficients[i] = g_rand_double_range (r, .1, 1);
  for (gsize i = 0; i < nd_filter_count (f); i++)
    f->coefficients[i] /= sum;
  g_ptr_array_add (filters, f);
  return nd_bank_new (filters);
}

/* A volume in host memory, through the device if the back end has one. */
static gboolean
run (NdPlan *plan, const Volume *in, const Volume *out, GError **error)
{
  const NdBackend *b = plan->backend;
  const NdScale scale = { 1, 0 };
  const gint slot = 0;
  const NdSamples from =
      nd_samples_dense (in->data, &plan->job.shape, ND_UINT8);
  const NdSamples to = nd_samples_dense (out->data, &plan->job.shape, ND_UINT8);

  if (!nd_plan_push (plan, 0, &from, error)
      || !nd_plan_respond (plan, &slot, &scale, &to, error))
    return FALSE;
  return !b->events || nd_plan_synchronize (plan, error);
}

static gboolean
check (const Job *j, NdMethod method)
{
  g_autoptr (NdBank) bank = make_bank (j->filter);
  NdJob job = {
    .in_type = ND_UINT8, .out_type = ND_UINT8, .border = j->border, .bank = bank
  };
  const NdRingOptions options = { FALSE, FALSE };
  g_autoptr (NdPlan) plan = NULL;
  g_autoptr (GError) error = NULL;
  const gchar *name = nd_method_name (method);
  Volume in = { 0 }, out = { 0 };
  gboolean ok;
  gsize n;

  job.shape.components = 1;
  memcpy (job.shape.size, j->size, sizeof (job.shape.size));
  g_assert_true (nd_shape_samples (&job.shape, &n));
  g_print ("# %s, %zu x %zu x %zu\n", name, j->size[0], j->size[1], j->size[2]);
  plan = nd_plan_new (&job, &options, backend, -1, method, 0, &error);
  if (!plan) {
    g_print ("# refused: %s\n", error->message);
    return g_error_matches (error, ND_ERROR, ND_ERROR_SETTINGS)
        || g_error_matches (error, ND_ERROR, ND_ERROR_MEMORY);
  }
  in.bytes = out.bytes = n;
  in.data = g_try_malloc (n);
  out.data = g_try_malloc (n);
  if (!in.data || !out.data)
    g_error ("This test needs two volumes of %zu bytes", n);
  nd_parallel_for (FILL_TASKS, fill, &in);
  memset (out.data, 0, n);
  ok = run (plan, &in, &out, &error) && check_outputs (&job, out.data, n);
  if (error)
    g_print ("# failed: %s\n", error->message);
  g_clear_pointer (&plan, nd_plan_free);
  g_free (in.data);
  g_free (out.data);
  return ok;
}

int
main (int argc, char **argv)
{
  const GOptionEntry options[] = { { "method", 0, 0, G_OPTION_ARG_STRING,
                                       &opt_method, "only this method",
                                       "NAME" },
    { "only", 0, 0, G_OPTION_ARG_INT, &opt_only, "only this job", "JOB" },
    { "module", 0, 0, G_OPTION_ARG_FILENAME, &opt_module,
        "module of the back end", "FILE" },
    { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  gint failed = 0, done = 0;

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL))
    return 2;
  nd_backend_register (&nd_cpu_backend);
  if (opt_module) {
    g_autoptr (GError) error = NULL;

    backend = "cuda";
    if (!nd_backend_open (opt_module, &error)
        || !nd_backend_find (backend, -1, &error)) {
      g_print ("1..0 # SKIP %s\n", error->message);
      return open ("/dev/nvidiactl", O_RDONLY) >= 0 ? 1 : 77;
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    for (guint m = 0; m < ND_N_AUTO_METHODS; m++) {
      gboolean ok;

      if ((opt_only >= 0 && (gint) i != opt_only)
          || (opt_method
              && strcmp (opt_method, nd_method_name (nd_auto_methods[m])) != 0))
        continue;
      ok = check (&jobs[i], nd_auto_methods[m]);
      failed += !ok;
      g_print ("%sok %d\n", ok ? "" : "not ", ++done);
    }
  }
  g_print ("1..%d\n", done);
  return failed ? 1 : 0;
}
