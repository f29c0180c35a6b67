/* The back end that a plan chooses if the preferred one refuses the job.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "cpu/cpu.h"
#include "engine/convolver.h"
#include "engine/plan.h"

static guint refused;   /* bit mask of refused methods */
static gsize most_rows; /* jobs with more rows are refused */
static NdError reason;

static gboolean
available (gint device_id, GError **error)
{
  return TRUE;
}

static gdouble
cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  if (!(refused & 1 << method) || job->shape.size[1] <= most_rows)
    return 1 + method;
  g_set_error (error, ND_ERROR, reason, "Not by method %d", method);
  return INFINITY;
}

static NdRing *
ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  if (job->shape.size[1] <= most_rows)
    return nd_cpu_backend.ring_new (job, options, method, device_id, error);
  g_set_error (error, ND_ERROR, reason, "No ring for method %d", method);
  return NULL;
}

static NdBackend
    choosy; /* a back end that refuses some jobs; the CPU is the other one */

/* The name of the back end that is chosen for a box of 3 samples. */
static const gchar *
taken_by (const gchar *backend, NdMethod method, NdPrecision precision,
    GError **error)
{
  const gsize size[ND_AXES] = { 3, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *box = nd_filter_new ("box", size);
  g_autoptr (NdBank) bank = NULL;
  NdJob job = { .shape = { 1, { 4, 3, 2 } },
    .in_type = nd_sample_computed (ND_FLOAT64, precision),
    .out_type = nd_sample_computed (ND_FLOAT64, precision),
    .precision = precision };
  const NdRingOptions options = { FALSE, FALSE };
  const gchar *name = NULL;
  NdPlan *plan;

  for (guint i = 0; i < 3; i++)
    box->coefficients[i] = 1.0 / 3;
  g_ptr_array_add (filters, box);
  job.bank = bank = nd_bank_new (filters);
  plan = nd_plan_new (&job, &options, backend, -1, method, error);
  if (plan) {
    name = plan->backend->name;
    if (precision == ND_PRECISION_DOUBLE)
      g_assert_nonnull (strstr (plan->reason, "in double precision"));
    else
      g_assert_true (g_str_has_prefix (plan->reason, "Not by method "));
    nd_plan_free (plan);
  }
  return name;
}

static void
expect (NdMethod method, guint methods, NdError why, const gchar *name)
{
  g_autoptr (GError) error = NULL;

  refused = methods;
  reason = why;
  g_assert_cmpstr (taken_by (NULL, method, ND_PRECISION_SINGLE, &error), ==,
      name);
  if (!name)
    g_assert_error (error, ND_ERROR, (gint) why);
}

static void
test_auto (void)
{
  const guint all = G_MAXUINT, fft = 1 << ND_METHOD_FFT;

  expect (ND_METHOD_AUTO, all, ND_ERROR_SETTINGS, "cpu");
  expect (ND_METHOD_FFT, fft, ND_ERROR_SETTINGS, "cpu");
  /* One permitted method is enough. The plan returns the error of the ring. */
  expect (ND_METHOD_AUTO, all & ~fft, ND_ERROR_SETTINGS, NULL);
  expect (ND_METHOD_FFT, all & ~fft, ND_ERROR_SETTINGS, NULL);
  /* The device fails. */
  expect (ND_METHOD_AUTO, all, ND_ERROR_FAILED, NULL);
  expect (ND_METHOD_FFT, fft, ND_ERROR_FAILED, NULL);
  /* The CPU cannot do the job either. */
  expect (ND_METHOD_TENSOR, all, ND_ERROR_SETTINGS, NULL);
}

static void
test_named (void)
{
  g_autoptr (GError) error = NULL;

  refused = G_MAXUINT;
  reason = ND_ERROR_SETTINGS;
  g_assert_null (taken_by ("choosy", ND_METHOD_AUTO, ND_PRECISION_SINGLE,
      &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
}

/* Only the CPU computes in double precision. */
static void
test_double (void)
{
  g_autoptr (GError) error = NULL;

  refused = 0;
  g_assert_cmpstr (taken_by (NULL, ND_METHOD_AUTO, ND_PRECISION_DOUBLE, &error),
      ==, "cpu");
  g_assert_no_error (error);
  g_assert_null (taken_by ("choosy", ND_METHOD_DIRECT, ND_PRECISION_DOUBLE,
      &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
  g_assert_nonnull (strstr (error->message,
      "Back end choosy does not compute in double precision: use backend=cpu"));
}

/* Both planes, with the given numbers of rows, are on this back end. */
static void
expect_planes (gsize first, gsize second, const gchar *name)
{
  const gsize size[ND_AXES] = { 1, 1, 1, 1 };
  const gsize rows[] = { first, second };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  g_autoptr (GError) error = NULL;
  NdConvolverSettings settings = {
    .n_planes = 2, .device_id = -1, .method = ND_METHOD_AUTO
  };
  NdConvolver *c;

  g_ptr_array_add (filters, nd_filter_new ("one", size));
  bank = nd_bank_new (filters);
  for (guint p = 0; p < 2; p++)
    settings.jobs[p] = (NdJob){ .shape = { 1, { 4, rows[p], 1 } },
      .in_type = ND_UINT8,
      .out_type = ND_UINT8,
      .bank = bank };
  c = nd_convolver_new (&settings, &error);
  g_assert_no_error (error);
  for (guint p = 0; p < 2; p++)
    g_assert_cmpstr (nd_convolver_plan (c, p)->backend->name, ==, name);
  nd_convolver_free (c);
}

static void
test_planes (void)
{
  refused = G_MAXUINT;
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
  choosy.flags = 0;
  choosy.available = available;
  choosy.cost = cost;
  choosy.ring_new = ring_new;
  nd_backend_register (&choosy);
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/plan/auto", test_auto);
  g_test_add_func ("/plan/named", test_named);
  g_test_add_func ("/plan/double", test_double);
  g_test_add_func ("/plan/planes", test_planes);
  return g_test_run ();
}
