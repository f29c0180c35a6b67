/* The back end that a plan chooses if the preferred one refuses the job, and
 * the method that it chooses by costs, set-up and length of the stream.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "cpu/cpu.h"
#include "cpu/stencil.h"
#include "engine/convolver.h"
#include "engine/plan.h"
#include "filters/text.h"

static guint refused;   /* bit mask of refused methods */
static gsize most_rows; /* jobs with more rows are refused */
static NdError reason;
static gdouble unit = 1; /* of costs */

static gboolean
available (gint device_id, GError **error)
{
  return TRUE;
}

static gdouble
cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  const gboolean bytes = method != ND_METHOD_TENSOR
      || nd_job_has_bytes (job, options->border_volumes);

  if ((bytes && !(refused & 1 << method)) || job->shape.size[1] <= most_rows)
    return (1 + method) * unit;
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

/* A bank of one box of 3 samples. */
static NdBank *
new_box (void)
{
  const gsize size[ND_AXES] = { 3, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  NdFilter *box = nd_filter_new ("box", size);

  for (guint i = 0; i < 3; i++)
    box->coefficients[i] = 1.0 / 3;
  g_ptr_array_add (filters, box);
  return nd_bank_new (filters);
}

/* The name of the back end that is chosen for a box of 3 samples. */
static const gchar *
taken_by (const gchar *backend, NdMethod method, NdPrecision precision,
    GError **error)
{
  g_autoptr (NdBank) bank = new_box ();
  const NdJob job = { .shape = { 1, { 4, 3, 2 } },
    .in_type = nd_sample_computed (ND_FLOAT64, precision),
    .out_type = nd_sample_computed (ND_FLOAT64, precision),
    .precision = precision,
    .bank = bank };
  const NdRingOptions options = { FALSE, FALSE };
  const gchar *name = NULL;
  NdPlan *plan;

  plan = nd_plan_new (&job, &options, backend, -1, method, 0, error);
  if (plan) {
    name = plan->backend->name;
    if (precision == ND_PRECISION_DOUBLE)
      g_assert_true (g_str_equal (name, "choosy")
          || strstr (plan->reason, "in double precision"));
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
}

/* The device has no method but `tensor`, and fails to make its ring. A program
 * of an earlier version that asks for it with samples that it no longer filters
 * gets the fastest method, here on the CPU. If the device does not have
 * `tensor` for any samples, there is an error. */
static void
test_tensor (void)
{
  const NdRingOptions none = { FALSE, FALSE }, border = { TRUE, FALSE };
  const struct
  {
    NdSampleType type;
    NdBorder border;
    gdouble value;
    const NdRingOptions *options;
    gboolean taken;
  } cases[] = {
    { ND_UINT8, ND_BORDER_NEAREST, 0.5, &none, TRUE },
    { ND_UINT8, ND_BORDER_CONSTANT, 0, &none, TRUE },
    { ND_UINT8, ND_BORDER_CONSTANT, 255, &none, TRUE },
    { ND_UINT8, ND_BORDER_CONSTANT, 256, &none, FALSE },
    { ND_UINT8, ND_BORDER_CONSTANT, -1, &none, FALSE },
    { ND_UINT8, ND_BORDER_CONSTANT, 0.5, &none, FALSE },
    { ND_UINT8, ND_BORDER_NEAREST, 0.5, &border, FALSE },
    { ND_INT16, ND_BORDER_NEAREST, 0, &none, FALSE },
    { ND_UINT16, ND_BORDER_NEAREST, 0, &none, FALSE },
    { ND_FLOAT32, ND_BORDER_NEAREST, 0, &none, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (NdBank) bank = new_box ();
    const NdJob job = { .shape = { 1, { 4, 3, 2 } },
      .in_type = cases[i].type,
      .out_type = cases[i].type,
      .border = cases[i].border,
      .border_value = cases[i].value,
      .bank = bank };
    g_autoptr (GError) error = NULL;
    NdPlan *plan;

    refused = G_MAXUINT;
    reason = ND_ERROR_SETTINGS;
    g_assert_null (nd_plan_new (&job, cases[i].options, NULL, -1,
        ND_METHOD_TENSOR, 0, NULL));
    refused = ~(1u << ND_METHOD_TENSOR);
    plan = nd_plan_new (&job, cases[i].options, NULL, -1, ND_METHOD_TENSOR, 0,
        &error);
    if (cases[i].taken) {
      g_assert_null (plan);
      g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    } else {
      g_assert_no_error (error);
      g_assert_cmpint (plan->method, !=, ND_METHOD_TENSOR);
      nd_plan_free (plan);
    }
  }
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

/* A back end that does not compute in double precision, or slowly. */
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

  choosy.flags = ND_BACKEND_DOUBLE;
  most_rows = 3; /* it makes the ring */
  g_assert_cmpstr (taken_by (NULL, ND_METHOD_AUTO, ND_PRECISION_DOUBLE, NULL),
      ==, "cpu");
  g_assert_cmpstr (taken_by ("choosy", ND_METHOD_AUTO, ND_PRECISION_DOUBLE,
                       NULL),
      ==, "choosy");
  unit = 1e-12;
  g_assert_cmpstr (taken_by (NULL, ND_METHOD_AUTO, ND_PRECISION_DOUBLE, NULL),
      ==, "choosy");
  g_assert_cmpstr (taken_by (NULL, ND_METHOD_FFT, ND_PRECISION_DOUBLE, NULL),
      ==, "choosy");
  unit = 1;
  most_rows = 0;
  choosy.flags = 0;
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

/* A back end whose methods can be measured. */
static NdBackend timed;
static gdouble seconds[ND_METHOD_END]; /* estimates; 0: not possible */
static gdouble setup[ND_METHOD_END];
static guint rings; /* made so far */

static gdouble
timed_cost (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  if (seconds[method] > 0)
    return seconds[method];
  g_set_error (error, ND_ERROR, ND_ERROR_SETTINGS, "Not by method %d", method);
  return INFINITY;
}

static gdouble
timed_setup_cost (const NdJob *job, const NdRingOptions *options,
    NdMethod method, gint device_id)
{
  g_assert_cmpfloat (seconds[method], >, 0);
  return setup[method];
}

static NdRing *
timed_ring_new (const NdJob *job, const NdRingOptions *options, NdMethod method,
    gint device_id, GError **error)
{
  rings++;
  return nd_cpu_backend.ring_new (job, options, method, device_id, error);
}

static gchar *
device_name (gint device_id)
{
  return g_strdup ("a device");
}

/* The CPU has done its work when a function returns. */
static NdEvent *
event_record (NdRing *ring, GError **error)
{
  return g_malloc (1);
}

static gboolean
event_synchronize (NdEvent *event, NdTimes *times, GError **error)
{
  *times = (NdTimes){ 0, 0, 0 };
  return TRUE;
}

static void
event_destroy (NdEvent *event)
{
  g_free (event);
}

static gpointer
memory_alloc (gint device_id, gsize bytes, GError **error)
{
  return g_malloc0 (bytes);
}

static const NdEventFuncs events = { .record = event_record,
  .synchronize = event_synchronize,
  .destroy = event_destroy };
static const NdDeviceMemoryFuncs memory = { .alloc = memory_alloc,
  .free = g_free };

/* The method for @volumes of @size samples along x, with the @reason. Returns
 * the rings that the plan made. */
static guint
choose (guint64 volumes, gsize size, NdMethod *method, gchar **reason)
{
  const gsize one[ND_AXES] = { 1, 1, 1, 1 };
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  g_autoptr (NdBank) bank = NULL;
  NdJob job = { .shape = { 1, { size, 3, 2 } },
    .in_type = ND_UINT8,
    .out_type = ND_UINT8,
    .volumes = volumes };
  const NdRingOptions options = { FALSE, FALSE };
  GError *error = NULL;
  NdPlan *plan;

  g_ptr_array_add (filters, nd_filter_new ("one", one));
  job.bank = bank = nd_bank_new (filters);
  rings = 0;
  plan = nd_plan_new (&job, &options, "timed", -1, ND_METHOD_AUTO, 0, &error);
  g_assert_no_error (error);
  *method = plan->method;
  *reason = g_strdup (plan->reason);
  nd_plan_free (plan);
  return rings;
}

static void
expect_method (guint64 volumes, NdMethod expected, const gchar *words)
{
  g_autofree gchar *reason = NULL;
  NdMethod method;

  g_assert_cmpuint (choose (volumes, 4, &method, &reason), ==, 1);
  g_assert_cmpint (method, ==, expected);
  g_assert_true (g_str_has_prefix (reason, words));
}

/* A method with a long set-up gets only streams that repay it. */
static void
test_setup (void)
{
  timed.events = NULL;
  seconds[ND_METHOD_DIRECT] = 5e-3;
  seconds[ND_METHOD_FFT] = 1e-3;
  setup[ND_METHOD_FFT] = 0.4;
  expect_method (0, ND_METHOD_FFT, "least estimated time: direct 5 ms, ");
  expect_method (99, ND_METHOD_DIRECT,
      "least estimated time of 99 volumes: direct 5 ms, separable not "
      "possible, fft 1 ms after 400 ms, tensor not possible");
  expect_method (101, ND_METHOD_FFT, "least estimated time of 101 volumes: ");
  timed.setup_cost = NULL;
  expect_method (1, ND_METHOD_FFT, "least estimated time of 1 volume: ");
  timed.setup_cost = timed_setup_cost;
  timed.events = &events;
}

/* Methods are measured if the stream repays it, or its length is unknown. Of
 * three methods the third is too slow to be measured. */
static void
test_measuring (void)
{
  g_autofree gchar *reason = NULL, *again = NULL, *whole = NULL, *other = NULL;
  NdMethod method, later;

  seconds[ND_METHOD_DIRECT] = 1e-3;
  seconds[ND_METHOD_SEPARABLE] = 5e-3;
  seconds[ND_METHOD_FFT] = 2e-3;
  setup[ND_METHOD_FFT] = 0.1;
  /* Together they take 0.1 s and more; half of the stream is 0.05 s. */
  expect_method (100, ND_METHOD_DIRECT,
      "least estimated time of 100 volumes, too few to measure: direct 1 ms");
  g_assert_cmpuint (choose (1000, 4, &method, &reason), ==, 3);
  g_assert_true (g_str_has_prefix (reason,
      "least measured time of 1000 volumes: direct"));
  g_assert_nonnull (strstr (reason, "separable left out at an estimate of 5"));
  /* Times that were measured before are used for a short stream too. */
  setup[ND_METHOD_FFT] = 0;
  g_assert_cmpuint (choose (10, 4, &later, &again), ==, 1);
  g_assert_true (g_str_has_prefix (again,
      "least measured time of 10 volumes: direct"));
  /* Nothing was measured for another job. */
  g_assert_cmpuint (choose (10, 5, &later, &other), ==, 1);
  g_assert_true (g_str_has_prefix (other, "least estimated time of 10 "));
  g_assert_cmpuint (choose (0, 5, &later, &whole), ==, 3);
  g_assert_true (g_str_has_prefix (whole, "least measured time: direct"));
}

/* The estimated seconds of a Gaussian of @size samples along x, y and z and of
 * @t volumes. */
static gdouble
gaussian_cost (NdMethod method, gsize size, gsize t, gboolean ahead)
{
  const NdAxes axes = { 4, { 0, 1, 2, 3 } };
  const NdRingOptions options = { .ahead = ahead };
  g_autofree gchar *text =
      g_strdup_printf ("gaussian,sigma=0.8,size=%" G_GSIZE_FORMAT
                       ":%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT
                       ":%" G_GSIZE_FORMAT,
          size, size, size, t);
  g_autoptr (NdBank) bank =
      nd_bank_from_text (text, &axes, NULL, FALSE, FALSE, NULL, NULL);
  const NdJob job = { .shape = { 1, { 128, 128, 128 } }, .bank = bank };

  g_assert_nonnull (bank);
  return nd_cpu_backend.cost (&job, &options, method, -1, NULL);
}

/* If outputs are begun ahead, direct is chosen for more filters, but not if the
 * work in all is much more. */
static void
test_ahead (void)
{
  for (gsize size = 3; size <= 5; size += 2) {
    for (gsize t = 1; t <= 5; t++) {
      const gdouble plain = gaussian_cost (ND_METHOD_DIRECT, size, t, FALSE);
      const gdouble ahead = gaussian_cost (ND_METHOD_DIRECT, size, t, TRUE);

      /* Few taps are not begun ahead. */
      if (size * size * size * (t - 1) < ND_EARLY_TAPS)
        g_assert_cmpfloat (ahead, ==, plain);
      else
        g_assert_cmpfloat (ahead, <, plain);
      for (guint m = ND_METHOD_SEPARABLE; m <= ND_METHOD_FFT; m++)
        g_assert_cmpfloat (gaussian_cost (m, size, t, TRUE), ==,
            gaussian_cost (m, size, t, FALSE));
    }
  }
  g_assert_cmpfloat (gaussian_cost (ND_METHOD_DIRECT, 3, 40, TRUE), >,
      gaussian_cost (ND_METHOD_SEPARABLE, 3, 40, TRUE));
}

int
main (int argc, char **argv)
{
  g_autofree gchar *folder = NULL, *cache = NULL;
  gint result;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("nd-plan-XXXXXX", NULL);
  cache = g_build_filename (folder, "measured.ini", NULL);
  g_setenv ("NDCONV_CACHE", cache, TRUE);
  choosy = nd_cpu_backend;
  choosy.name = "choosy";
  choosy.flags = 0;
  choosy.available = available;
  choosy.cost = cost;
  choosy.ring_new = ring_new;
  timed = nd_cpu_backend;
  timed.name = "timed";
  timed.flags = 0;
  timed.available = available;
  timed.cost = timed_cost;
  timed.setup_cost = timed_setup_cost;
  timed.ring_new = timed_ring_new;
  timed.device_name = device_name;
  timed.events = &events;
  timed.memory = &memory;
  nd_backend_register (&choosy);
  nd_backend_register (&nd_cpu_backend);
  nd_backend_register (&timed);
  g_test_add_func ("/plan/auto", test_auto);
  g_test_add_func ("/plan/tensor", test_tensor);
  g_test_add_func ("/plan/named", test_named);
  g_test_add_func ("/plan/double", test_double);
  g_test_add_func ("/plan/planes", test_planes);
  g_test_add_func ("/plan/setup", test_setup);
  g_test_add_func ("/plan/measuring", test_measuring);
  g_test_add_func ("/plan/ahead", test_ahead);
  result = g_test_run ();
  g_unlink (cache);
  g_rmdir (folder);
  return result;
}
