/* Coefficients prepared for method tensor keep the error of responses below
 * 2e-6, or are refused. Needs no GPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/mma/pieces.cuh"
#include "filters/design.h"

#include <algorithm>
#include <cmath>
#include <glib.h>

using namespace nd;

/* The errors of the integers, relative: L2, and that of their sum, which
 * applies to volumes of one value. */
static void
check_errors (const NdFilter *f)
{
  const Pieces p = make_pieces (f);
  const int largest = p.bytes == 1 ? 127 : p.bytes == 2 ? 32639 : 8355711;
  double error2 = 0, norm2 = 0, lost = 0, sum = 0;

  for (size_t i = 0; i < nd_filter_count (f); i++) {
    const double w = f->coefficients[i], error = p.values[i] * p.unit - w;

    g_assert_cmpfloat (p.values[i], ==, rint (p.values[i]));
    g_assert_cmpfloat (fabs (p.values[i]), <=, largest);
    error2 += error * error;
    norm2 += w * w;
    lost += error;
    sum += w;
  }
  g_assert_cmpfloat (sqrt (error2 / norm2), <=, 2e-6);
  g_assert_cmpfloat (fabs (lost) / fmax (fabs (sum), sqrt (norm2)), <=, 2e-6);
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

    check_errors (f);
    nd_filter_free (f);
  }
  g_rand_free (r);
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
    const Pieces p = make_pieces (f);

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
      const double is = make_pieces (bank->filters[k]).error;

      g_test_message ("%s in %uD, filter %u: %g", d.design, d.axes, k, is);
      g_assert_cmpfloat (is, <=, MAX_PIECES_ERROR);
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

  g_assert_cmpfloat (make_pieces (small).error, <=, MAX_PIECES_ERROR);
  g_assert_cmpfloat (make_pieces (large).error, >, MAX_PIECES_ERROR);
  nd_filter_free (small);
  nd_filter_free (large);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pieces/random", test_random);
  g_test_add_func ("/pieces/integers", test_integers);
  g_test_add_func ("/pieces/designs", test_designs);
  g_test_add_func ("/pieces/refused", test_refused);
  return g_test_run ();
}
