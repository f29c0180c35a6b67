/* Which back end a plan is for, where the best one does not take the job.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <math.h>

#include "cpu/ndcpu.h"
#include "engine/ndconvolver.h"
#include "engine/nderror.h"
#include "engine/ndplan.h"

static guint refused;           /* methods, a bit each */
static gsize most_rows;         /* of what is taken by all methods */
static NdError reason;

static gboolean
available (gint device_id, GError ** error)
{
  return TRUE;
}

static gdouble
cost (const NdJob * job, NdMethod method, gint device_id, GError ** error)
{
  if (!(refused & 1 << method) || job->shape.size[1] <= most_rows)
    return 1 + method;
  g_set_error (error, ND_ERROR, reason, "Not by method %d", method);
  return INFINITY;
}

static NdRing *
ring_new (const NdJob * job, NdMethod method, gint device_id, GError ** error)
{
  if (job->shape.size[1] <= most_rows)
    return nd_cpu_backend.ring_new (job, method, device_id, error);
  g_set_error (error, ND_ERROR, reason, "No ring for method %d", method);
  return NULL;
}

static NdBackend choosy;        /* beside these, the CPU's */

/* The name of the back end that takes a box of 3 samples. */
static const gchar *
taken_by (const gchar * backend, NdMethod method, GError ** error)
{
  const gsize size[ND_AXES] = { 3, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *box = nd_filter_new ("box", size);
  g_autoptr (NdBank) bank = NULL;
  NdJob job = {.shape = {1, {4, 3, 2}},.in_type = ND_FLOAT32,
  .out_type = ND_FLOAT32
  };
  const gchar *name = NULL;
  NdPlan *plan;

  for (guint i = 0; i < 3; i++)
    box->coefficients[i] = 1.0 / 3;
  g_ptr_array_add (filters, box);
  job.bank = bank = nd_bank_new (filters);
  plan = nd_plan_new (&job, backend, -1, method, error);
  if (plan) {
    name = plan->backend->name;
    g_assert_true (g_str_has_prefix (plan->reason, "Not by method "));
    nd_plan_free (plan);
  }
  return name;
}

static void
expect (NdMethod method, guint methods, NdError why, const gchar * name)
{
  g_autoptr (GError) error = NULL;

  refused = methods;
  reason = why;
  g_assert_cmpstr (taken_by (NULL, method, &error), ==, name);
  if (!name)
    g_assert_error (error, ND_ERROR, (gint) why);
}

static void
test_auto (void)
{
  const guint all = (1 << ND_METHODS) - 1, fft = 1 << ND_METHOD_FFT;

  expect (ND_METHODS, all, ND_ERROR_SETTINGS, "cpu");
  expect (ND_METHOD_FFT, fft, ND_ERROR_SETTINGS, "cpu");
  /* One method is enough, and the ring's error is the plan's. */
  expect (ND_METHODS, all & ~fft, ND_ERROR_SETTINGS, NULL);
  expect (ND_METHOD_FFT, all & ~fft, ND_ERROR_SETTINGS, NULL);
  /* A device that fails. */
  expect (ND_METHODS, all, ND_ERROR_FAILED, NULL);
  expect (ND_METHOD_FFT, fft, ND_ERROR_FAILED, NULL);
  /* What the CPU cannot do either. */
  expect (ND_METHOD_TENSOR, all, ND_ERROR_SETTINGS, NULL);
}

static void
test_named (void)
{
  g_autoptr (GError) error = NULL;

  refused = (1 << ND_METHODS) - 1;
  reason = ND_ERROR_SETTINGS;
  g_assert_null (taken_by ("choosy", ND_METHODS, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
}

/* Two planes of so many rows are on this back end, both. */
static void
expect_planes (gsize first, gsize second, const gchar * name)
{
  const gsize size[ND_AXES] = { 1, 1, 1, 1 };
  const gsize rows[] = { first, second };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  g_autoptr (GError) error = NULL;
  NdConvolverSettings settings = {.n_planes = 2,.device_id = -1,
    .method = ND_METHODS
  };
  NdConvolver *c;

  g_ptr_array_add (filters, nd_filter_new ("one", size));
  bank = nd_bank_new (filters);
  for (guint p = 0; p < 2; p++)
    settings.jobs[p] = (NdJob) {
    .shape = { 1, {4, rows[p], 1}
    },.in_type = ND_UINT8,.out_type = ND_UINT8,.bank = bank};
  c = nd_convolver_new (&settings, &error);
  g_assert_no_error (error);
  for (guint p = 0; p < 2; p++)
    g_assert_cmpstr (nd_convolver_plan (c, p)->backend->name, ==, name);
  nd_convolver_free (c);
}

static void
test_planes (void)
{
  refused = (1 << ND_METHODS) - 1;
  reason = ND_ERROR_SETTINGS;
  most_rows = 3;
  expect_planes (3, 2, "choosy");
  expect_planes (4, 2, "cpu");
  expect_planes (3, 4, "cpu");
  most_rows = 0;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  choosy = nd_cpu_backend;
  choosy.name = "choosy";
  choosy.available = available;
  choosy.cost = cost;
  choosy.ring_new = ring_new;
  nd_backend_register (&choosy);
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/plan/auto", test_auto);
  g_test_add_func ("/plan/named", test_named);
  g_test_add_func ("/plan/planes", test_planes);
  return g_test_run ();
}
