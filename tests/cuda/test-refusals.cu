/* Refused jobs, and released resources after an error. Uses the cuFFT of
 * cufftdouble.c and the driver of olddriver.c instead of a GPU.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * Copyright (C) 2026 the ndconv developers
 */
#include "cuda/context.h"
#include "cuda/fft/cufftlibrary.h"
#include "cuda/mma/filter.cuh"
#include "engine/backend.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

using namespace nd;

extern "C" const NdBackend *nd_backend_module (void);

/* Every method refuses the job before it looks for a device. */
static void
check_refused (gsize window, gsize rows, const gchar *why)
{
  const gsize size[ND_AXES] = { 1, 1, 1, window };
  GPtrArray *filters = g_ptr_array_new ();
  NdJob job = {};
  const NdRingOptions options = {};

  g_ptr_array_add (filters, nd_filter_new ("long", size));
  NdBank *const bank = nd_bank_new (filters);
  g_ptr_array_free (filters, TRUE);
  job.shape = { 1, { 4, rows, 4 } };
  job.in_type = job.out_type = ND_FLOAT32;
  job.bank = bank;
  for (const NdMethod m : nd_auto_methods) {
    GError *error = nullptr;

    g_assert_false (std::isfinite (nd_backend_module ()->cost (&job, &options,
        m, -1, &error)));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_assert_nonnull (strstr (error->message, why));
    g_clear_error (&error);
    g_assert_null (nd_backend_module ()->ring_new (&job, &options, m, -1,
        &error));
    g_assert_error (error, ND_ERROR, ND_ERROR_SETTINGS);
    g_clear_error (&error);
  }
  nd_bank_free (bank);
}

static void
test_sizes ()
{
  check_refused (MAX_SLOTS + 1, 4, "256 volumes, not 257");
  check_refused (1, MAX_ROWS + 1, "262140 rows, not 262141");
}

/* The driver of olddriver.c. */
static void
test_old_driver ()
{
  GError *error = nullptr;

  g_assert_false (nd_backend_module ()->available (-1, &error));
  g_assert_error (error, ND_ERROR, ND_ERROR_INIT);
  g_assert_nonnull (strstr (error->message, "supports CUDA 9.2, but CUDA "));
  g_assert_nonnull (strstr (error->message, ".0 is needed: "));
  g_clear_error (&error);
}

/* The GPUs that a module can run on, and those that it cannot. */
static void
test_code ()
{
  const struct
  {
    std::vector<int> built, runs, not_on;
  } modules[] = {
    { { 75, 80, 86, 89, 90, 100, 120 },
        { 75, 80, 86, 89, 90, 103, 120, 121, 130 }, { 35, 70, 72, 87, 110 } },
    { { 90 }, { 90, 100, 120 }, { 75, 80, 87, 89 } },
    { { 90, 75 }, { 75, 80, 86, 87, 90, 120 }, { 70, 72 } },
    { { 75, 87, 90 }, { 75, 87, 90 }, { 80, 86, 89 } },
  };

  for (const auto &m : modules) {
    for (int capability : m.runs)
      g_assert_true (has_code (m.built, capability));
    for (int capability : m.not_on)
      g_assert_false (has_code (m.built, capability));
  }
}

static int *
of_cufft (const char *name)
{
  void *const library = dlopen ("libcufft.so.12", RTLD_NOW | RTLD_LOCAL);

  g_assert_nonnull (library);
  return static_cast<int *> (dlsym (library, name));
}

/* If there is no memory for one of a transform's @all plans, those before it
 * are freed. T is Transform or ComplexTransform. */
template <typename T, int all>
static void
test_plans ()
{
  const int size[3] = { 8, 8, 8 };
  int *const plans = of_cufft ("cufft_double_plans");
  int *const succeed = of_cufft ("cufft_double_succeed");

  g_assert_true (plans && succeed);
  for (int n = 0; n <= all; n++) {
    int code = -1, during = 0;

    *succeed = n;
    try {
      T transform (size, nullptr);

      transform.allocate ();
      during = *plans;
    } catch (const Error &error) {
      code = error.code;
    }
    g_assert_cmpint (code, ==, n < all ? (int) ND_ERROR_MEMORY : -1);
    g_assert_cmpint (during, ==, n < all ? 0 : all);
    g_assert_cmpint (*plans, ==, 0);
  }
}

/* Method tensor computes filters of any size that it takes on all GPUs from
 * compute capability 8.0 on: those of 8.6 have the least shared memory, which
 * the CUDA Programming Guide lists. */
static void
test_shared_memory ()
{
  const size_t sm86 = 99 << 10;

  for (int window : { 16, 32 }) {
    for (int ky = 3; ky <= 17; ky += 2) {
      for (int columns = 1; columns <= 3; columns++) {
        const TensorKernel kernel = find_mma_kernel (window, ky, columns);

        g_assert_true (kernel.function != nullptr);
        g_assert_cmpuint (least_shared_bytes (kernel), <=, sm86);
      }
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/refusals/sizes", test_sizes);
  g_test_add_func ("/refusals/old-driver", test_old_driver);
  g_test_add_func ("/refusals/code", test_code);
  g_test_add_func ("/refusals/plans", test_plans<Transform<float>, 2>);
  g_test_add_func ("/refusals/plans-double", test_plans<Transform<double>, 2>);
  g_test_add_func ("/refusals/plans-complex",
      test_plans<ComplexTransform<float>, 1>);
  g_test_add_func ("/refusals/plans-complex-double",
      test_plans<ComplexTransform<double>, 1>);
  g_test_add_func ("/refusals/shared-memory", test_shared_memory);
  return g_test_run ();
}
