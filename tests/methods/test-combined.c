/* Combined responses of each method beside values that are computed here from
 * the same responses, stored one by one: all kinds of output, complex input and
 * complex filters, several components, windows in time, NaN and infinite
 * samples. The memory of a ring does not hold all responses.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cpu/cpu.h"
#include "engine/plan.h"
#include "filters/axes.h"
#include "filters/tensor.h"
#include "filters/text.h"

#include <math.h>
#include <stdlib.h>

#define RUNS 100

typedef struct
{
  NdMethod method;
  const gchar *fft; /* NDCONV_CPU_FFT */
} Way;

static const Way ways[] = { { ND_METHOD_DIRECT, "" },
  { ND_METHOD_SEPARABLE, "" }, { ND_METHOD_FFT, "blocks" },
  { ND_METHOD_FFT, "whole" }, { ND_METHOD_REFERENCE, "" } };

/* Responses, and the places of their parts. */
typedef struct
{
  const NdJob *job;
  const gdouble *numbers; /* [filter][sample][component] */
  gsize samples;
} Responses;

static gdouble
number_at (const guint8 *memory, gsize i, NdSampleType type)
{
  return type == ND_FLOAT64 ? ((const gdouble *) memory)[i]
      : type == ND_UINT8    ? memory[i]
                            : ((const gfloat *) memory)[i];
}

/* The output for volumes of random bytes or numbers, as numbers. */
static gdouble *
run (const NdJob *job, const Way *way, const guint8 *volumes, gsize components)
{
  const NdRingOptions options = { .ahead = TRUE };
  const NdScale scale = { 1, 0, NULL };
  const guint slots = nd_job_reach (job).slots;
  const guint n = nd_response_count (job->response,
      nd_job_combines (job) ? nd_bank_responses (job->bank)
                            : job->bank->n_filters);
  g_autofree gint *window = g_new (gint, slots);
  g_autofree guint8 *memory = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (NdPlan) plan = NULL;
  NdShape made = job->shape;
  NdSamples in, out;
  gdouble *numbers;
  gsize count;

  g_setenv ("NDCONV_CPU_FFT", way->fft, TRUE);
  plan = nd_plan_new (job, &options, "cpu", -1, way->method, 0, &error);
  if (!plan)
    return NULL; /* not separable */
  made.components = components;
  in = nd_samples_dense ((gpointer) volumes, &job->shape, job->in_type);
  out = nd_samples_dense (NULL, &made, job->out_type);
  memory = g_malloc (n * out.response);
  out.data = memory;
  for (guint t = 0; t < slots; t++) {
    window[t] = t;
    if (t + 1 == slots)
      nd_plan_begin (plan, window);
    g_assert_true (nd_plan_push (plan, t, &in, &error));
    in.data += in.response;
  }
  g_assert_true (nd_plan_respond (plan, window, &scale, &out, &error));
  count = n * out.response / nd_sample_size (job->out_type);
  numbers = g_new (gdouble, count);
  for (gsize i = 0; i < count; i++)
    numbers[i] = number_at (memory, i, job->out_type);
  return numbers;
}

/* Part @part of response @k, for component @c of sample @i. */
static gdouble
part_of (const Responses *r, guint k, guint part, gsize i, gsize c)
{
  const gsize components = r->job->shape.components;
  const gboolean is_complex = r->job->bank->is_complex;
  const guint filter = is_complex ? 2 * k + part : k;

  if (part > 0 && !is_complex && components != 2)
    return 0;
  return r->numbers[(filter * r->samples + i) * components
      + (components == 2 ? part : c)];
}

static gdouble
magnitude_of (const Responses *r, guint k, gsize i, gsize c)
{
  const gdouble re = part_of (r, k, 0, i, c), im = part_of (r, k, 1, i, c);

  return sqrt (re * re + im * im);
}

static gdouble
tensor_of (const Responses *r, const NdTensorRecipe *recipe, guint a, guint b,
    guint component, gsize i)
{
  gdouble sum = 0;

  if (!recipe->is_quadratic) {
    for (guint k = 0; k < nd_bank_responses (r->job->bank); k++)
      sum += magnitude_of (r, k, i, 0) * recipe->dual[k][component];
    return sum;
  }
  if (recipe->first[0] >= 0)
    sum = part_of (r, recipe->first[a], 0, i, 0)
        * part_of (r, recipe->first[b], 0, i, 0);
  for (guint k = 0; k < recipe->axes && recipe->second[0][0] >= 0; k++)
    sum += part_of (r, recipe->second[a][k], 0, i, 0)
        * part_of (r, recipe->second[b][k], 0, i, 0);
  return sum;
}

/* The value of response @k, or of all, for component @c of sample @i. */
static gdouble
value_of (const Responses *r, guint k, gsize i, gsize c)
{
  const gdouble re = part_of (r, k, 0, i, c), im = part_of (r, k, 1, i, c);
  gdouble value = 0, largest = 0;

  switch (r->job->response) {
    case ND_RESPONSE_MAGNITUDE:
      return magnitude_of (r, k, i, c);
    case ND_RESPONSE_PHASE:
      return atan2 (im, re);
    case ND_RESPONSE_REAL:
      return re;
    case ND_RESPONSE_IMAGINARY:
      return im;
    case ND_RESPONSE_ENERGY:
      return re * re + im * im;
    default:
      break;
  }
  for (guint n = 0; n < nd_bank_responses (r->job->bank); n++) {
    const gdouble magnitude = magnitude_of (r, n, i, c);

    if (r->job->response == ND_RESPONSE_SUM)
      value += magnitude;
    else if (magnitude > largest)
      value = r->job->response == ND_RESPONSE_MAX ? magnitude : n;
    largest = magnitude > largest ? magnitude : largest; /* not NaN */
  }
  if (r->job->response == ND_RESPONSE_ARGMAX && largest < r->job->threshold)
    value = ND_LABEL_NONE (r->job->out_type);
  return value;
}

/* Errors of sums of numbers of both signs grow with the terms, @size. */
static void
compare (gdouble got, gdouble want, gdouble size)
{
  if (isnan (want) || isinf (want))
    g_assert_true (isnan (want) ? isnan (got) : got == want);
  else if (!(fabs (got - want) <= 1e-5 * (size + fabs (want))))
    g_assert_cmpfloat (got, ==, want);
}

/* Either of two magnitudes may be the largest if they differ by rounding. */
static void
compare_value (const Responses *r, gdouble got, guint k, gsize i, gsize c)
{
  const gdouble want = value_of (r, k, i, c);

  if (r->job->response != ND_RESPONSE_ARGMAX || got < 0 || want < 0)
    compare (got, want, 0);
  else
    compare (magnitude_of (r, got, i, c), magnitude_of (r, want, i, c), 0);
}

static void
check_values (const Responses *r, const gdouble *got, gsize components)
{
  const NdJob *job = r->job;
  const guint n_responses = nd_bank_responses (job->bank);

  for (gsize i = 0; i < r->samples; i++) {
    if (job->response == ND_RESPONSE_ALL) {
      for (guint k = 0; k < n_responses; k++)
        for (guint part = 0; part < 2; part++)
          compare (got[(k * r->samples + i) * 2 + part],
              part_of (r, k, part, i, 0), 0);
      continue;
    }
    for (guint k = 0; k < nd_response_count (job->response, n_responses); k++)
      for (gsize c = 0; c < components; c++)
        compare_value (r, got[(k * r->samples + i) * components + c], k, i, c);
  }
}

static void
check_tensors (const Responses *r, const gdouble *got)
{
  NdTensorRecipe recipe;

  g_assert_true (nd_tensor_recipe (r->job->bank, &recipe, NULL));
  for (gsize i = 0; i < r->samples; i++) {
    gdouble size = 0;
    guint component = 0;

    for (guint a = 0; a < recipe.axes; a++)
      size += fabs (tensor_of (r, &recipe, a, a, 0, i));
    for (guint k = 0; k < nd_bank_responses (r->job->bank); k++)
      size += magnitude_of (r, k, i, 0);
    for (guint a = 0; a < recipe.axes; a++)
      for (guint b = a; b < recipe.axes; b++, component++)
        compare (*got++, tensor_of (r, &recipe, a, b, component, i), size);
  }
}

/* Coefficients are such that sums are exact, and hardly any magnitudes equal.
 */
static NdBank *
random_bank (gboolean is_separable)
{
  g_autoptr (GPtrArray) filters = g_ptr_array_new ();
  const guint n = 2 * g_test_rand_int_range (1, 8) - g_test_rand_bit ();
  gsize size[ND_AXES];
  NdBank *bank;

  for (guint a = 0; a < ND_AXES; a++)
    size[a] = g_test_rand_int_range (1, a == ND_AXIS_T ? 4 : 5);
  if (g_test_rand_bit ())
    size[ND_AXIS_Z] = size[ND_AXIS_T] = 1;
  for (guint k = 0; k < n; k++) {
    NdFilter *f = nd_filter_new ("random", size);

    for (gsize i = 0; i < nd_filter_count (f); i++)
      f->coefficients[i] =
          is_separable ? (gint) k : g_test_rand_int_range (-9, 9);
    g_ptr_array_add (filters, f);
  }
  bank = nd_bank_new (filters);
  bank->is_complex = n % 2 == 0 && g_test_rand_bit ();
  return bank;
}

static NdBank *
tensor_bank (void)
{
  static const gchar *const texts[] = { "monomial-bank,size=5",
    "quadrature-bank,size=5" };
  static const gchar *const all_axes[] = { "xy", "xyz", "xyzt" };
  const guint which = g_test_rand_bit ();
  g_autoptr (GError) error = NULL;
  NdAxes axes = { 0 };
  NdBank *bank;

  nd_axes_from_text (all_axes[g_test_rand_int_range (0, which ? 2 : 3)], &axes,
      &error);
  bank =
      nd_bank_from_text (texts[which], &axes, NULL, FALSE, FALSE, NULL, &error);
  g_assert_no_error (error);
  return bank;
}

static guint8 *
random_volumes (const NdJob *job, gsize samples)
{
  const gsize n = samples * job->shape.components * nd_job_reach (job).slots;
  guint8 *volumes = g_malloc (n * nd_sample_size (job->in_type));
  const gboolean is_finite = g_test_rand_bit ();

  for (gsize i = 0; i < n; i++) {
    const gint number = g_test_rand_int_range (0, 256);
    const gdouble sample = is_finite || g_test_rand_int_range (0, 500) > 0
        ? number
        : number % 2 ? NAN
                     : INFINITY;

    if (job->in_type == ND_UINT8)
      volumes[i] = number;
    else if (job->in_type == ND_FLOAT32)
      ((gfloat *) volumes)[i] = sample;
    else
      ((gdouble *) volumes)[i] = sample;
  }
  return volumes;
}

static void
check (NdJob *job)
{
  const gsize samples =
      job->shape.size[0] * job->shape.size[1] * job->shape.size[2];
  const gsize axes =
      job->response == ND_RESPONSE_TENSOR ? job->bank->n_filters : 0;
  g_autofree guint8 *volumes = random_volumes (job, samples);
  g_autoptr (NdBank) bank = nd_bank_copy (job->bank);
  NdTensorRecipe recipe = { 0 };
  NdJob single = *job;
  gsize components;

  if (axes > 0)
    g_assert_true (nd_tensor_recipe (job->bank, &recipe, NULL));
  components = nd_output_components (job->response, job->bank->is_complex,
      recipe.axes, job->shape.components);
  bank->is_complex = FALSE;
  single.bank = bank;
  single.response = ND_RESPONSE_ALL;
  single.threshold = 0;
  single.out_type = nd_sample_computed (ND_FLOAT64, job->precision);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_autofree gdouble *numbers =
        run (&single, &ways[i], volumes, job->shape.components);
    g_autofree gdouble *got = run (job, &ways[i], volumes, components);
    const Responses responses = { job, numbers, samples };

    g_assert_true ((numbers != NULL) == (got != NULL));
    if (got && axes > 0)
      check_tensors (&responses, got);
    else if (got)
      check_values (&responses, got, components);
  }
}

static void
test_values (void)
{
  /* Set for slow tools, such as the sanitizers. */
  const gchar *divisor = g_getenv ("ND_JOBS_DIVISOR");
  const guint runs = RUNS / (divisor ? atoi (divisor) : 1);

  for (guint i = 0; i < runs; i++) {
    const NdPrecision precision = g_test_rand_int_range (0, 4) == 0
        ? ND_PRECISION_DOUBLE
        : ND_PRECISION_SINGLE;
    NdJob job = { .precision = precision,
      .in_type = g_test_rand_bit ()
          ? ND_UINT8
          : nd_sample_computed (ND_FLOAT64, precision),
      .out_type = nd_sample_computed (ND_FLOAT64, precision),
      .border = g_test_rand_int_range (0, ND_BORDER_END),
      .n_threads = g_test_rand_int_range (1, 4) };
    g_autoptr (NdBank) bank = NULL;

    job.shape.components = g_test_rand_int_range (1, 4);
    job.shape.size[0] = g_test_rand_int_range (0, 8) == 0
        ? g_test_rand_int_range (700, 900)
        : g_test_rand_int_range (1, 80);
    job.shape.size[1] = g_test_rand_int_range (1, 10);
    job.shape.size[2] = g_test_rand_int_range (1, 5);
    if (g_test_rand_int_range (0, 4) == 0) {
      job.shape.size[0] = job.shape.size[1] = job.shape.size[2] = 30;
      job.shape.components = 1;
    }
    if (i % 8 == 0) {
      bank = tensor_bank ();
      job.response = ND_RESPONSE_TENSOR;
      job.shape.components = 1;
    } else {
      bank = random_bank (i % 8 == 1);
      if (bank->is_complex)
        job.shape.components = 1;
      job.response =
          g_test_rand_int_range (bank->is_complex ? ND_RESPONSE_ALL : 1,
              ND_RESPONSE_TENSOR);
      if (job.response == ND_RESPONSE_ARGMAX && g_test_rand_bit ())
        job.threshold = g_test_rand_double_range (0, 2000);
    }
    job.bank = bank;
    check (&job);
  }
}

/* The rings of banks whose responses are combined and stored one by one. */
static void
test_memory (void)
{
  static const gsize sizes[][ND_AXES] = { { 64, 64, 64, 1 },
    { 512, 512, 1, 1 } };
  const NdRingOptions options = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gsize taps[ND_AXES] = { 3, 3, i == 0 ? 3 : 1, 1 };
    g_autoptr (GPtrArray) filters = g_ptr_array_new ();
    g_autoptr (NdBank) bank = NULL;
    NdJob job = { .in_type = ND_FLOAT32,
      .out_type = ND_FLOAT32,
      .n_threads = 1,
      .shape = { .size = { sizes[i][0], sizes[i][1], sizes[i][2] },
          .components = 1 } };

    for (guint k = 0; k < 12; k++) {
      NdFilter *f = nd_filter_new ("box", taps);

      for (gsize n = 0; n < nd_filter_count (f); n++)
        f->coefficients[n] = k;
      g_ptr_array_add (filters, f);
    }
    bank = nd_bank_new (filters);
    job.bank = bank;
    for (guint w = 0; w < 3; w++) {
      const gsize response =
          sizes[i][0] * sizes[i][1] * sizes[i][2] * sizeof (gfloat);
      gsize bytes[2];

      g_setenv ("NDCONV_CPU_FFT", ways[w].fft, TRUE);
      for (guint combined = 0; combined < 2; combined++) {
        g_autoptr (NdPlan) plan = NULL;

        job.response = combined ? ND_RESPONSE_SUM : ND_RESPONSE_ALL;
        plan = nd_plan_new (&job, &options, "cpu", -1, ways[w].method, 0, NULL);
        g_assert_nonnull (plan);
        bytes[combined] = nd_plan_bytes (plan);
      }
      g_assert_cmpuint (bytes[1], <, bytes[0] + response);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  nd_backend_register (&nd_cpu_backend);
  g_test_add_func ("/combined/values", test_values);
  g_test_add_func ("/combined/memory", test_memory);
  return g_test_run ();
}
