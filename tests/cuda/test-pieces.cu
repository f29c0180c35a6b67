/* Coefficients prepared for method tensor are as accurate as `accuracy`
 * promises, or refused. Needs no GPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/filter.cuh"
#include "filters/design.h"

#include <cmath>
#include <cuda_fp16.h>
#include <glib.h>
#include <vector>

using namespace nd;

/* The value that is multiplied in place of a coefficient: the integer, a high
 * and a low fp16, or one fp16. */
static double
multiplied (const Pieces &p, size_t i, NdAccuracy accuracy)
{
  const double value = p.values[i];
  const double high = __half2float (__float2half_rn ((float) value));

  if (p.bytes > 0)
    return value;
  return accuracy == ND_ACCURACY_FAST
      ? high
      : high + __half2float (__float2half_rn ((float) (value - high)));
}

/* Relative L2 error of the multiplied coefficients. */
static double
error_of (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const Pieces p = make_pieces (f, form, accuracy);
  double error2 = 0, norm2 = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    const double w = f->coefficients[i];
    const double error = multiplied (p, i, accuracy) * p.unit - w;

    error2 += error * error;
    norm2 += w * w;
  }
  return sqrt (error2 / norm2);
}

/* Relative error of their sum, which applies to volumes of one value. */
static double
error_of_sum (const NdFilter *f, TensorForm form, NdAccuracy accuracy)
{
  const Pieces p = make_pieces (f, form, accuracy);
  double lost = 0, sum = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    sum += f->coefficients[i];
    lost += multiplied (p, i, accuracy) * p.unit - f->coefficients[i];
  }
  return fabs (lost / sum);
}

static NdFilter *
random_filter (GRand *r, double low)
{
  size_t size[ND_AXES] = { 1, 1, 1, 1 };

  for (int a = 0; a < 3; a++)
    size[a] = g_rand_int_range (r, 1, 8);
  NdFilter *f = nd_filter_new ("random", size);
  for (size_t i = 0; i < nd_filter_count (f); i++)
    f->coefficients[i] = g_rand_double_range (r, low, 1);
  return f;
}

/* A delta minus a Gaussian of @n samples per axis. */
static NdFilter *
delta_less_gaussian (size_t n)
{
  const size_t size[ND_AXES] = { n, n, n, 1 };
  const double half = (n - 1) / 2, sigma = n / 6.0;
  NdFilter *f = nd_filter_new ("delta less Gaussian", size);
  double sum = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    const double x = i % n - half, y = i / n % n - half, z = i / n / n - half;

    sum += f->coefficients[i] =
        exp (-(x * x + y * y + z * z) / 2 / sigma / sigma);
  }
  for (size_t i = 0; i < nd_filter_count (f); i++)
    f->coefficients[i] /= -sum;
  f->coefficients[nd_filter_count (f) / 2] += 1;
  return f;
}

static void
test_random ()
{
  const guint32 seed = g_random_int ();
  GRand *r = g_rand_new_with_seed (seed);

  g_test_message ("seed %u", seed);
  for (int i = 0; i < 4000; i++) {
    NdFilter *f = random_filter (r, i % 2 ? -0.5 : 0.5);

    for (TensorForm form : { TENSOR_BYTES, TENSOR_WORDS, TENSOR_HALVES }) {
      g_assert_cmpfloat (error_of (f, form, ND_ACCURACY_SINGLE), <=, 2e-6);
      g_assert_cmpfloat (error_of (f, form, ND_ACCURACY_FAST), <=, 4e-4);
    }
    nd_filter_free (f);
  }
  g_rand_free (r);
}

/* In fp16, samples of one value have an error of up to 2^-11. Filters of few
 * positive coefficients add an error that keeps the total below 5e-4. */
static void
test_one_value ()
{
  const guint32 seed = g_random_int ();
  const size_t sizes[][ND_AXES] = { { 2, 1, 1, 1 }, { 3, 1, 1, 1 },
    { 3, 3, 1, 1 }, { 5, 5, 1, 1 }, { 3, 3, 3, 1 }, { 7, 7, 7, 1 } };
  GRand *r = g_rand_new_with_seed (seed);

  g_test_message ("seed %u", seed);
  for (const auto &size : sizes) {
    double worst = 0;

    for (int i = 0; i < 500; i++) {
      NdFilter *f = nd_filter_new ("positive", size);

      for (size_t k = 0; k < nd_filter_count (f); k++)
        f->coefficients[k] = g_rand_double_range (r, 0.01, 1);
      g_assert_cmpfloat (make_pieces (f, TENSOR_HALVES, ND_ACCURACY_FAST).error,
          <=, most_error (ND_ACCURACY_FAST));
      worst = fmax (worst, error_of_sum (f, TENSOR_HALVES, ND_ACCURACY_FAST));
      nd_filter_free (f);
    }
    g_test_message ("%zux%zux%zu: %g", size[0], size[1], size[2], worst);
    g_assert_cmpfloat (ldexp (1, -11) + worst, <=, 5e-4);
  }
  g_rand_free (r);
}

/* The coefficients of a box have no common error. */
static void
test_equal ()
{
  const size_t size[ND_AXES] = { 5, 5, 5, 1 };
  NdFilter *f = nd_filter_new ("box", size);

  for (size_t i = 0; i < nd_filter_count (f); i++)
    f->coefficients[i] = 1 / 125.0;
  g_assert_cmpfloat (error_of (f, TENSOR_HALVES, ND_ACCURACY_FAST), <=, 1e-15);
  nd_filter_free (f);
}

static void
test_integers ()
{
  const size_t size[ND_AXES] = { 3, 1, 1, 1 };
  const double values[][3] = { { 1, 2, 1 }, { -127, 3, 0 }, { 300, -1, 7 },
    { 32639, 1, -32000 }, { 8000000, -3, 77 }, { 0, 0, 0 }, { 4, -6, 254 },
    { 0.375, 0.125, -0.25 } };
  const int bytes[] = { 1, 1, 2, 2, 3, 1, 1, 1 };

  for (size_t k = 0; k < G_N_ELEMENTS (values); k++) {
    NdFilter *f = nd_filter_new ("integers", size);

    std::copy (values[k], values[k] + 3, f->coefficients);
    const Pieces p = make_pieces (f, TENSOR_BYTES, ND_ACCURACY_SINGLE);

    g_assert_cmpint (p.bytes, ==, bytes[k]);
    g_assert_cmpfloat (p.error, ==, 0);
    for (size_t i = 0; i < 3; i++)
      g_assert_cmpfloat (p.values[i] * p.unit, ==, values[k][i]);
    nd_filter_free (f);
  }
}

/* Designs with few large and many small coefficients, with errors from 1.0e-6
 * to 1.78e-6; none is refused. */
static void
test_designs ()
{
  const struct
  {
    const char *design;
    unsigned axes;
    const char *name, *value, *size;
  } designs[] = {
    { "wiener", 3, "sigma", "1.0", "11" },
    { "riesz", 3, NULL, NULL, "17" },
    { "log", 4, "sigma", "0.8", NULL },
    { "log", 4, "sigma", "1.0", NULL },
    { "quadrature", 4, NULL, NULL, "9" },
    { "motion", 4, "velocity", "1:0:0", "9" },
    { "gaussian", 4, "sigma", "1.2", NULL },
    { "box", 4, NULL, NULL, "7" },
  };

  for (const auto &d : designs) {
    NdParameters *const parameters = nd_parameters_new ();
    const NdAxes axes = { d.axes,
      { ND_AXIS_X, ND_AXIS_Y, ND_AXIS_Z, ND_AXIS_T } };
    GError *error = nullptr;

    if (d.name)
      nd_parameters_set_text (parameters, d.name, d.value);
    if (d.size)
      nd_parameters_set_text (parameters, "size", d.size);
    NdBank *const bank = nd_design (d.design, parameters, &axes, &error);

    g_assert_no_error (error);
    for (unsigned k = 0; k < bank->n_filters; k++) {
      const NdFilter *f = bank->filters[k];
      const double is = make_pieces (f, TENSOR_BYTES, ND_ACCURACY_SINGLE).error;

      g_test_message ("%s in %uD, filter %u: %g", d.design, d.axes, k, is);
      g_assert_cmpfloat (is, <=, most_error (ND_ACCURACY_SINGLE));
    }
    nd_bank_free (bank);
    nd_parameters_free (parameters);
  }
}

/* One large coefficient leaves too few bits for the others. */
static void
test_refused ()
{
  NdFilter *small = delta_less_gaussian (7), *large = delta_less_gaussian (17);

  g_assert_cmpfloat (make_pieces (small, TENSOR_BYTES, ND_ACCURACY_SINGLE)
                         .error,
      <=, most_error (ND_ACCURACY_SINGLE));
  g_assert_cmpfloat (make_pieces (large, TENSOR_BYTES, ND_ACCURACY_SINGLE)
                         .error,
      >, most_error (ND_ACCURACY_SINGLE));
  /* If two bytes are too few for fast, a third is used. */
  g_assert_cmpint (make_pieces (small, TENSOR_BYTES, ND_ACCURACY_FAST).bytes,
      ==, 2);
  g_assert_cmpint (make_pieces (large, TENSOR_BYTES, ND_ACCURACY_FAST).bytes,
      ==, 3);
  nd_filter_free (small);
  nd_filter_free (large);

  /* All coefficients but one have equal errors in most units, not in all. */
  const size_t size[ND_AXES] = { 7, 7, 7, 1 };
  NdFilter *alike = nd_filter_new ("alike", size);

  std::fill_n (alike->coefficients, 343, 0.50609998);
  alike->coefficients[171] = 1;
  g_assert_cmpfloat (make_pieces (alike, TENSOR_HALVES, ND_ACCURACY_FAST).error,
      <=, most_error (ND_ACCURACY_FAST));
  nd_filter_free (alike);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pieces/random", test_random);
  g_test_add_func ("/pieces/one-value", test_one_value);
  g_test_add_func ("/pieces/equal", test_equal);
  g_test_add_func ("/pieces/integers", test_integers);
  g_test_add_func ("/pieces/designs", test_designs);
  g_test_add_func ("/pieces/refused", test_refused);
  return g_test_run ();
}
