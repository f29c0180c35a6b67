/* Filters along x by transforms of pieces of rows, beside the reference in
 * double precision: random sizes, borders, types, banks, components and kinds
 * of output, NaN and infinite samples. Long filters of long rows are filtered
 * that way without being told to.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "core/threads.h"
#include "cpu/cpu.h"
#include "engine/plan.h"

#include <math.h>
#include <string.h>

#define RUNS 100
#define ROW 30011

static const NdScale scale = { 1, 0, NULL };

static NdBank *
random_bank (guint n, gsize taps)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();

  for (guint k = 0; k < n; k++) {
    const gsize size[ND_AXES] = {
      k == 0 ? taps : (gsize) g_test_rand_int_range (1, taps + 1), 1, 1, 1
    };
    NdFilter *f = nd_filter_new ("random", size);
    const gint half = size[0] / 2;

    f->origin[0] = g_test_rand_int_range (-half, ((gint) size[0] - 1) / 2 + 1);
    for (gsize i = 0; i < size[0]; i++)
      f->coefficients[i] = g_test_rand_double_range (-1, 1);
    g_ptr_array_add (filters, f);
  }
  return nd_bank_new (filters);
}

static gdouble
random_sample (gboolean non_finite)
{
  const gdouble special[] = { NAN, INFINITY, -INFINITY };

  if (non_finite && g_test_rand_int_range (0, 300) == 0)
    return special[g_test_rand_int_range (0, 3)];
  return g_test_rand_double_range (0, 100);
}

static gpointer
random_volume (const NdJob *job, gsize n, gboolean non_finite)
{
  gpointer memory = g_malloc (n * nd_sample_size (job->in_type));

  for (gsize i = 0; i < n; i++) {
    if (job->in_type == ND_UINT8)
      ((guint8 *) memory)[i] = g_test_rand_int_range (0, 256);
    else if (job->in_type == ND_FLOAT64)
      ((gdouble *) memory)[i] = random_sample (non_finite);
    else
      ((gfloat *) memory)[i] = random_sample (non_finite);
  }
  return memory;
}

/* The outputs of @n numbers. */
static gdouble *
run (const NdJob *job, NdMethod method, gpointer volume, gsize n,
    const gchar *file)
{
  const NdRingOptions options = { 0 };
  const gint slot = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan =
      nd_plan_new (job, &options, "cpu", -1, method, 0, &error);
  g_autofree gchar *kernels = NULL;
  NdSamples in = nd_samples_dense (volume, &job->shape, job->in_type);
  NdSamples out = nd_samples_dense (NULL, &job->shape, job->out_type);
  gdouble *numbers = g_new (gdouble, n);

  g_assert_no_error (error);
  kernels = nd_plan_kernels (plan);
  g_assert_true (!file || g_str_has_prefix (kernels, file));
  out.data = g_malloc (n * sizeof (gdouble));
  /* Twice: nothing of a volume may stay for the next one. */
  for (guint i = 0; i < 2; i++) {
    g_assert_true (nd_plan_push (plan, 0, &in, &error));
    g_assert_true (nd_plan_respond (plan, &slot, &scale, &out, &error));
  }
  for (gsize i = 0; i < n; i++)
    numbers[i] = job->out_type == ND_FLOAT64 ? ((gdouble *) out.data)[i]
                                             : ((gfloat *) out.data)[i];
  g_free (out.data);
  return numbers;
}

static gdouble
largest_weights (const NdBank *bank)
{
  gdouble largest = 0;

  for (guint k = 0; k < bank->n_filters; k++) {
    gdouble sum = 0;

    for (gsize i = 0; i < nd_filter_count (bank->filters[k]); i++)
      sum += fabs (bank->filters[k]->coefficients[i]);
    largest = MAX (largest, sum);
  }
  return largest;
}

static void
compare (const NdJob *job, gpointer volume, gsize n, gsize taps)
{
  const gdouble epsilon =
      job->precision == ND_PRECISION_DOUBLE ? 0x1p-53 : 0x1p-24;
  const gdouble terms =
      job->response == ND_RESPONSE_SUM ? job->bank->n_filters : 1;
  const gdouble bound =
      8 * sqrt (taps + 1) * epsilon * terms * largest_weights (job->bank) * 255;
  g_autofree gdouble *want = run (job, ND_METHOD_REFERENCE, volume, n, NULL);
  g_autofree gdouble *got =
      run (job, ND_METHOD_FFT, volume, n, "cpu/fftlines.c");

  for (gsize i = 0; i < n; i++) {
    if (isnan (want[i]))
      g_assert_true (isnan (got[i]));
    else if (isinf (want[i]))
      g_assert_true (got[i] == want[i]);
    else
      g_assert_cmpfloat_with_epsilon (got[i], want[i], bound);
  }
}

static void
test_values (void)
{
  static const NdResponse responses[] = { ND_RESPONSE_ALL,
    ND_RESPONSE_MAGNITUDE, ND_RESPONSE_MAX, ND_RESPONSE_SUM };
  static const NdSampleType types[] = { ND_UINT8, ND_FLOAT32 };

  g_setenv ("NDCONV_CPU_FFT", "lines", TRUE);
  for (guint i = 0; i < RUNS; i++) {
    const gsize taps = g_test_rand_int_range (1, i % 8 == 0 ? 900 : 90);
    const guint n_filters = g_test_rand_int_range (1, 4);
    g_autoptr (NdBank) bank = random_bank (n_filters, taps);
    g_autofree gpointer volume = NULL;
    NdJob job = { .in_type = types[g_test_rand_int_range (0, 2)],
      .out_type = ND_FLOAT32,
      .border = g_test_rand_int_range (0, ND_BORDER_END),
      .border_value = g_test_rand_int_range (0, 256),
      .precision = g_test_rand_int_range (0, 2),
      .bank = bank,
      .response = responses[g_test_rand_int_range (0, 4)],
      .n_threads = g_test_rand_int_range (1, 4),
      .shape = { .size = { g_test_rand_int_range (1, i % 2 ? 1500 : 100),
                     g_test_rand_int_range (1, i % 4 ? 12 : 2),
                     g_test_rand_int_range (1, 4) },
          .components = g_test_rand_int_range (1, 4) } };
    const gsize samples = job.shape.size[0] * job.shape.size[1]
        * job.shape.size[2] * job.shape.components;

    if (job.precision == ND_PRECISION_DOUBLE) {
      job.out_type = ND_FLOAT64;
      if (job.in_type == ND_FLOAT32)
        job.in_type = ND_FLOAT64;
    }
    /* Complex numbers make fewer outputs. */
    if (job.response != ND_RESPONSE_ALL && job.shape.components == 2)
      job.shape.components = 1;
    volume = random_volume (&job, samples, g_test_rand_bit ());
    compare (&job, volume,
        job.shape.size[0] * job.shape.size[1] * job.shape.size[2]
            * job.shape.components
            * nd_response_count (job.response, n_filters),
        taps);
  }
  g_unsetenv ("NDCONV_CPU_FFT");
}

/* The plan chooses them, and pieces of a row do not fill all lanes. */
static void
test_choice (void)
{
  for (guint border = 0; border < ND_BORDER_END; border++) {
    g_autoptr (NdBank) bank = random_bank (1, 2001 + border);
    NdJob job = { .in_type = ND_FLOAT32,
      .out_type = ND_FLOAT32,
      .border = border,
      .bank = bank,
      .n_threads = 1,
      .shape = { .size = { ROW, 1, 1 }, .components = 1 } };
    g_autofree gpointer volume = random_volume (&job, ROW, FALSE);
    g_autofree gdouble *got =
        run (&job, ND_METHOD_AUTO, volume, ROW, "cpu/fftlines.c");

    g_assert_true (isfinite (got[0]));
    compare (&job, volume, ROW, 2001 + border);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/lines/values", test_values);
  g_test_add_func ("/lines/choice", test_choice);
  return g_test_run ();
}
